"""What test-then-train came to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import BadInput, extra, require_whole, shown
from ..features.matrices import canonical
from .begun import Begun


class Totals(NamedTuple):
    """Sums over all rounds seen."""

    rounds: int
    mistakes: int
    errors: int
    updates: int
    loss: float


class Progress:
    """Every round was answered before its label was used.

    `scores` (what `decision_function` would have said), `predictions`, `losses`, `steps` and
    `queried` have one entry per round (`trace="sums"`: they are None); `mistakes` counts emitted
    answers that were wrong, also where the label was not asked for (and is there to judge by);
    `errors_theory` the rounds with margin <= 0; `model` is the learner after the last round.
    """

    def __init__(
        self, model: Any, totals: Totals, y: Any, X: Any = None, lines: dict[str, Any] | None = None,
        curve: list[tuple[int, int, float]] | None = None, kind: str = "labels",
        every: int | None = None,
    ) -> None:  # fmt: skip
        lines = lines or {}
        self.model, self.totals, self.y, self.X, self.kind = model, totals, y, X, kind
        self.scores, self.predictions = lines.get("scores"), lines.get("predictions")
        self.losses, self.steps = lines.get("losses"), lines.get("steps")
        self.queried = lines.get("queried")
        self.counted = lines.get("counted", self.queried)  # rounds that are judged: all that have a label
        self.groups: np.ndarray | None = None  # the group of each row, of learners of groups
        self.drifts: list[int] = []  # rounds at which a detector raised its alarm
        self.begun: Begun | None = None  # how the run began; see `om.certificate`
        self._curve, self._every = curve or [], every

    def __repr__(self) -> str:
        if self.kind == "labels":
            what = f"{self.mistakes:,} mistakes ({self.error_rate:.4f})"
        else:
            what = f"mean loss {self.totals.loss / max(self.rounds, 1):.4g}"
        return (
            f"Progress({type(self.model).__name__}: {self.rounds:,} rounds, {what}, {self.updates:,} updates)"
        )

    @property
    def rounds(self) -> int:
        """Rounds seen."""
        return self.totals.rounds

    @property
    def mistakes(self) -> int:
        """Rounds whose emitted answer was wrong."""
        return self.totals.mistakes

    @property
    def errors_theory(self) -> int:
        """Rounds with margin <= 0: M of the papers. Numbers and balls have none."""
        return self.totals.errors if self.kind == "labels" else 0

    @property
    def updates(self) -> int:
        """Rounds that moved the model."""
        return self.totals.updates

    @property
    def error_rate(self) -> float:
        """Mistakes over rounds; NaN for numbers, which have none."""
        return self.mistakes / max(self.rounds, 1) if self.kind == "labels" else float("nan")

    def wrong(self) -> np.ndarray:
        """Per round: was the answer wrong? (Numbers: the loss.)"""
        if self.losses is None or self.predictions is None:
            raise BadInput("only sums were kept; run with trace='full'")
        if self.kind != "labels":
            return np.asarray(self.losses, float)
        wrong = np.asarray(self.predictions) != np.asarray(self.y)
        return np.asarray(wrong.any(axis=1) if wrong.ndim == 2 else wrong, float)

    def curve(self, every: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(rounds, error rate so far); for numbers, the mean loss so far."""
        if self.losses is None:
            at = np.array([point[0] for point in self._curve])
            value = [p[1] if self.kind == "labels" else p[2] for p in self._curve]
            return at, np.array(value, float) / np.maximum(at, 1)
        seen = np.asarray(self.counted, bool)
        wrong = np.cumsum(np.where(seen, self.wrong(), 0.0))
        count = np.maximum(np.cumsum(seen), 1)
        step = every or self._every or max(1, len(wrong) // 500)
        at = np.unique(np.r_[np.arange(step - 1, len(wrong), step), len(wrong) - 1])
        return count[at], wrong[at] / count[at]

    def metrics(self, *names: str) -> dict[str, float]:
        """Measures of the emitted answers, or of the scores, over the rounds seen, by name.

        Labels: accuracy, error_rate, balanced_accuracy, f1; auc (two classes), auc_all_pairs and
        auc_one_vs_all (several), ranking_loss, one_error, coverage and lrap (sets). Numbers: mae, rmse, r2.
        Groups: ndcg (ranks), one_error, mean_average_precision, auc.
        An answer of None (before any label) counts as wrong, and is left out of all but the first two.
        """
        from .scoring import measures

        known = measures(self)
        for name in names:
            if name not in known:
                raise BadInput(f"no metric {shown(name)} for this run; there are {', '.join(known)}")
        wanted = names or (("accuracy", "f1") if self.kind == "labels" else tuple(known))
        return {name: float(known[name]()) for name in wanted}

    def auc_curve(self, window: int | None = None, every: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(rounds, AUC of the last `window` rounds); None: of all rounds so far. Two classes.

        Scores are those given before each update. NaN where a window has one class only.
        """
        from .metrics import auc

        if self.scores is None or self.y is None or self.kind != "labels":
            raise BadInput("auc_curve needs scores and labels; run with trace='full' and y")
        if np.ndim(self.scores) != 1 or len(np.unique(np.asarray(self.y))) > 2:
            raise BadInput("auc_curve is for two classes; see metrics('auc_all_pairs')")
        for name, value in (("window", window), ("every", every)):
            if value is not None:
                require_whole(name, value)
        seen = np.asarray(self.counted, bool)
        y, scores = np.asarray(self.y)[seen], np.asarray(self.scores)[seen]
        y = (y == np.unique(np.asarray(self.y))[-1]).astype(int)
        step = every or self._every or max(1, len(y) // 100)
        at = np.unique(np.r_[np.arange(step, len(y), step), len(y)])
        first = np.maximum(at - (window or len(y)), 0)
        areas = [auc(y[a:b], scores[a:b]) for a, b in zip(first, at, strict=True)]
        return at, np.array(areas)

    def regret(self, comparator: object) -> float:
        """sum_t loss_t(w_t) - loss_t(u) for u = coefficients, or (coefficients, intercept).

        Kernel learners: u = sum_i c_i k(x_i, .) over the rows of X, given as c (one line per output).
        """
        if self.X is None or self.losses is None:
            raise BadInput("regret needs the data and the full trace; run on arrays, trace='full'")
        theirs = self.model.comparator_losses(canonical(self.X), self.y, comparator)
        return float(np.sum(self.losses) - np.sum(theirs[np.asarray(self.queried, bool)]))

    def to_frame(self) -> object:
        """One row per round."""
        if self.losses is None or self.scores is None:
            raise BadInput("only sums were kept; run with trace='full'")
        try:
            import pandas as pd
        except ImportError:
            raise extra("pandas", "frames") from None
        columns: dict[str, object] = {}
        for name in ("scores", "predictions"):
            values = np.asarray(getattr(self, name))
            one = name[:-1]
            if values.ndim == 1:
                columns[one] = values
            else:
                columns |= {f"{one}_{k}": values[:, k] for k in range(values.shape[1])}
        if self.y is not None and np.ndim(self.y) == 1:
            columns["y"] = np.asarray(self.y)
        columns |= {"loss": self.losses, "step": self.steps, "queried": self.queried}
        return pd.DataFrame(columns)

    def plot(self, ax: object = None) -> object:
        """The learning curve; returns the figure."""
        from .plots import learning_curves

        return learning_curves({type(self.model).__name__: self}, ax=ax)
