"""What a grid came to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..errors import BadInput, extra, plain_number
from .scoring import Scoring, scoring_of

Line = dict[str, Any]
"""What one configuration came to, by name."""

# What a configuration came to whose steps feed on themselves: it is out of the race.
DIVERGED: Line = {
    "rounds": 0, "mistakes": 0, "updates": 0, "error_rate": math.nan, "mean_loss": math.inf, "mae": math.nan,
}  # fmt: skip


# What is said of a configuration, by what is learned; then what it is judged by, where that is another.
COLUMNS = {
    "labels": ("rounds", "mistakes", "updates", "error_rate", "mean_loss"),
    "numbers": ("rounds", "mistakes", "updates", "mean_loss", "mae"),
    "ranks": ("rounds", "updates", "mean_loss", "ndcg"),
    "choices": ("rounds", "updates", "mean_loss", "one_error"),
}


class SweepResult:
    """Progressive error of every configuration, and its learner.

    `rows` has a dict for each: its parameters, error_rate (numbers: mae; ranks: ndcg), mean_loss,
    mistakes, updates, rounds, and what `scoring` asked for. `table` is the same as a frame. `criterion` is
    the column they are judged by, `greater_is_better` which way round; ties go by the mean loss and then
    by the order of the grid.
    """

    def __init__(
        self, configs: list[dict[str, object]], lines: list[Line], make: Callable[[int], Any],
        kind: str, in_lanes: int, scoring: Scoring | None = None,
    ) -> None:  # fmt: skip
        self.configs, self.kind, self.in_lanes = configs, kind, in_lanes
        scoring = scoring or scoring_of(None, kind)
        self.criterion, self.greater_is_better = scoring.name, scoring.greater
        columns = dict.fromkeys((*COLUMNS[kind], scoring.name))
        self.rows = [
            {**config, **{name: plain_number(line.get(name, math.nan)) for name in columns}}
            for config, line in zip(configs, lines, strict=True)
        ]
        self._make = make
        self.best_index = min(range(len(self.rows)), key=self._rank)

    def _rank(self, number: int) -> tuple[float, float, int]:
        row = self.rows[number]
        judged = -float(row[self.criterion]) if self.greater_is_better else float(row[self.criterion])
        return (math.inf if math.isnan(judged) else judged), float(row["mean_loss"]), number

    def __repr__(self) -> str:
        row = self.rows[self.best_index]
        return (
            f"SweepResult({len(self.rows)} configurations, best {self.best_params} with "
            f"{self.criterion} {row[self.criterion]:.4f})"
        )

    @property
    def table(self) -> object:
        """One line per configuration, in the order of the grid."""
        try:
            import pandas as pd
        except ImportError:
            raise extra("pandas", "frames") from None
        return pd.DataFrame(self.rows)

    @property
    def best_params(self) -> dict[str, object]:
        """The parameters of the grid that did best."""
        return dict(self.configs[self.best_index])

    @property
    def best_model(self) -> object:
        """The learner that did best, after its pass; it goes on like any other."""
        return self.model(self.best_index)

    def model(self, number: int) -> object:
        """The learner of one configuration, after its pass."""
        if not 0 <= number < len(self.rows):
            raise BadInput(f"there is no configuration {number}; wanted 0 to {len(self.rows) - 1}")
        return self._make(number)

    def plot(self, ax: object = None) -> Any:
        """The error against the parameter with the most values, a line for each of the others."""
        from .plots import sweep_lines

        if not any(self.configs):
            raise BadInput("nothing was varied; there is nothing to draw")

        best = max if self.greater_is_better else min
        return sweep_lines(self.rows, self.configs, self.criterion, self.best_index, best, ax=ax)
