"""What a label budget buys, and whether more labels are worth asking for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import extra

NAMES = ("rule", "budget", "labels", "error", "error_spread", "f1", "f1_spread")


class LabelPlan:
    """Error and F1 against labels used, for every rule and budget, with the spread over seeds.

    `rows` are dicts with the columns of `table`; the spreads are standard deviations.
    """

    def __init__(self, rows: list[dict[str, Any]], seeds: int, learned: int, tested: int) -> None:
        self.rows, self.seeds, self.learned, self.tested = rows, seeds, learned, tested

    def __repr__(self) -> str:
        best = min(self.rows, key=lambda row: row["error"])
        return (
            f"LabelPlan({len(self.rows)} lines over {self.seeds} seeds; best {best['rule']} with "
            f"{best['labels']:.0f} labels: error {best['error']:.4f})"
        )

    @property
    def table(self) -> Any:
        """A frame: rule, budget, labels, error, error_spread, f1, f1_spread."""
        try:
            import pandas as pd
        except ImportError:
            raise extra("pandas", "frames") from None
        return pd.DataFrame(self.rows, columns=list(NAMES))

    def plot(self, ax: object = None, measure: str = "error") -> Any:
        """The measure against labels used, a line a rule with its spread; returns the figure."""
        from .plots import label_curves

        return label_curves(self.rows, measure, ax)


class Outlook(NamedTuple):
    """What asking further would bring on rows without labels.

    `stop`: nothing would be asked any more (BBQ), or next to nothing (samplers; a heuristic).
    """

    rows: int
    expected: float  # labels that would be asked for
    sure: float  # share of rows that are settled
    stop: bool
    text: str

    def __str__(self) -> str:
        return self.text


class Advice(NamedTuple):
    """Of a pool: stop labelling, or go on? `number`: how far the last models' answers agree, at most 1."""

    stop: bool
    number: float
    reason: str

    def __str__(self) -> str:
        return self.reason

    def __call__(self) -> Advice:
        """Itself: `pool.advice()` is `pool.advice`."""
        return self


def spread_over(runs: list[dict[str, float]]) -> dict[str, float]:
    """Means, and standard deviations of error and F1."""
    found = {name: float(np.mean([run[name] for run in runs])) for name in ("labels", "error", "f1")}
    for name in ("error", "f1"):
        values = [run[name] for run in runs]
        found[f"{name}_spread"] = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return found
