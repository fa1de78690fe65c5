"""Has the target moved? A signal on the losses of a run, and what to do about it."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, require_whole, shown
from ..features.matrices import canonical
from ..interface.feedback.asks import AsksForLabels
from ..interface.learner import Learner
from ..interface.runs.watch import Wanted
from ..interface.targets.target import as_column
from ..results.progress import Progress, Totals

Watched = Learner | AsksForLabels
"""Whatever can be watched while it learns."""

ACTIONS = ("none", "reset")
PIECE = 1024  # rounds between two looks at the losses


class PageHinkley:
    """An alarm when losses have risen: m_t - min m > threshold, m_t = sum_i (x_i - mean_i - delta).

    delta : a rise of the mean that is tolerated.
    threshold : how much more loss than usual makes an alarm; larger is later and surer.
    action : "none" (the round is noted in `Progress.drifts`), or "reset" (the learner starts anew).
    patience : rounds before the first alarm.

    Reference: Page 1954; Hinkley 1971.

    >>> alarm = PageHinkley(threshold=5.0)
    >>> seen = [alarm.update(x).drift_detected for x in [0.0] * 50 + [1.0] * 20]
    >>> seen.index(True)
    55
    """

    def __init__(
        self, delta: float = 0.005, threshold: float = 50.0, action: str = "none", patience: int = 30
    ) -> None:
        for name, value in (("delta", delta), ("threshold", threshold)):
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value >= 0:
                raise BadInput(f"{name}={shown(value)}; wanted a number of at least 0")
        if action not in ACTIONS:
            raise BadInput(f"action={shown(action)}; wanted 'none' or 'reset'")
        require_whole("patience", patience)
        self.delta, self.threshold, self.action, self.patience = delta, threshold, action, patience
        self.reset()

    def reset(self) -> None:
        """As if nothing had been seen."""
        self.rounds, self.mean, self.total, self.least = 0, 0.0, 0.0, 0.0
        self.drift_detected = False

    def update(self, loss: float) -> PageHinkley:
        """Take in one loss; `drift_detected`: it raised the alarm, after which all starts anew."""
        if not math.isfinite(loss):
            raise BadInput(f"the loss is {shown(loss)}; wanted a finite number")
        if self.drift_detected:
            self.reset()
        self.rounds += 1
        self.mean += (loss - self.mean) / self.rounds
        self.total += loss - self.mean - self.delta
        self.least = min(self.least, self.total)
        self.drift_detected = self.rounds >= self.patience and self.total - self.least > self.threshold
        return self


def detector_of(drift: Any) -> tuple[Any, str]:
    """A detector and its action: ours, River's, or (River's, "reset")."""
    action = None
    if isinstance(drift, tuple) and len(drift) == 2:
        drift, action = drift
    made = not isinstance(drift, type) and hasattr(drift, "update") and hasattr(drift, "drift_detected")
    if not made:
        name = drift.__name__ if isinstance(drift, type) else type(drift).__name__
        raise BadInput(
            f"drift= got {name}; wanted om.PageHinkley(...), a detector of River's, or (detector, 'reset')"
        )
    action = action or getattr(drift, "action", "none")  # one given beside it wins
    if action not in ACTIONS:
        raise BadInput(f"the action is {shown(action)}; wanted 'none' or 'reset'")
    return drift, action


def play_with_drift(model: Watched, X: object, y: object, drift: Any, wanted: Wanted) -> Progress:
    """`progressive`, its losses shown to a detector; all or nothing.

    Without a reset it is the plain run, looked at afterwards. With one, a piece at a time: where an alarm is
    raised in the middle, the piece is played again up to that round.
    """
    detector, action = detector_of(drift)
    if wanted.delay:
        raise BadInput("delay= and drift= do not go together; leave one out")
    before, state = copy.deepcopy(model), copy.deepcopy(detector.__dict__)
    try:
        if action == "none":
            whole = model.watch(X, y, wanted._replace(full=True))
            whole.drifts = _alarms(detector, whole, False)
        else:
            whole = _with_resets(model, X, y, detector, wanted._replace(full=True))
        return whole if wanted.full else _sums_of(whole)
    except BaseException:
        model.take_over(before)
        detector.__dict__.clear()
        detector.__dict__.update(state)
        raise


def _with_resets(model: Watched, X: Any, y: Any, detector: Any, wanted: Wanted) -> Progress:
    if getattr(model, "budget", None) is not None and isinstance(model, AsksForLabels):
        raise BadInput("a budget of labels does not outlive a reset; use action='none', or leave budget= out")
    if y is None or sp.issparse(y):
        raise BadInput("action='reset' wants y as an array: one label or number a row")
    X = canonical(X) if sp.issparse(X) or hasattr(X, "iloc") else np.asarray(X)
    y, classes, count = as_column(y), wanted.classes, X.shape[0]
    given = {"sample_weight": wanted.sample_weight, "chance": wanted.chance}
    given = {name: None if value is None else np.asarray(value) for name, value in given.items()}
    for name, values in (("y", y), *given.items()):
        if values is not None and (values.ndim == 0 or len(values) != count):
            raise BadInput(f"{name} has shape {values.shape}; wanted one entry for each of {count} rows")
    if not count:
        raise BadInput("there are no rows; wanted at least one")
    model.settle_entropy()
    if model.kind == "labels" and classes is None and not model.known_labels():
        classes = list(dict.fromkeys(y.tolist())) if y.ndim == 1 else None
    wanted = wanted._replace(**given)
    runs: list[Progress] = []
    drifts: list[int] = []
    first = 0
    while first < count:
        stop = min(first + PIECE, count)
        before = copy.deepcopy(model)
        run = _piece(model, X, y, slice(first, stop), wanted._replace(classes=classes))
        alarms = _alarms(detector, run, True)
        if alarms:
            stop = first + alarms[0] + 1
            model.take_over(before)
            run = _piece(model, X, y, slice(first, stop), wanted._replace(classes=classes))
            drifts.append(stop - 1)
            if stop < count:  # a model that has just ended its run stays as it is
                classes = model.known_labels() or classes
                model.start_anew()
        else:
            classes = None
        runs.append(run)
        first = stop
    whole = _joined(model, runs, X, y, wanted.every)
    whole.drifts = drifts
    return whole


def _piece(model: Watched, X: Any, y: Any, some: slice, wanted: Wanted) -> Progress:
    weights, chance = wanted.sample_weight, wanted.chance
    cut = wanted._replace(
        sample_weight=None if weights is None else weights[some],
        chance=None if chance is None else chance[some],
    )
    rows = X.iloc[some] if hasattr(X, "iloc") else X[some]
    try:
        return model.watch(rows, y[some], cut)
    except BadInput as error:
        where = f" (rows counted from {some.start})" if some.start else ""
        raise type(error)(f"{error}{where}") from None


def _alarms(detector: Any, run: Progress, first_only: bool) -> list[int]:
    """Rows of a piece at which the detector raised its alarm."""
    found = []
    losses, seen = run.wrong(), np.asarray(run.counted, bool)
    for row in np.flatnonzero(seen).tolist():
        detector.update(float(losses[row]))
        if detector.drift_detected:
            found.append(row)
            if first_only:
                return found
    return found


def _joined(model: Watched, runs: list[Progress], X: object, y: object, every: int | None) -> Progress:
    names = ("scores", "predictions", "losses", "steps", "queried", "counted")
    lines = {name: np.concatenate([np.asarray(getattr(run, name)) for run in runs]) for name in names}
    totals = Totals(*(sum(parts) for parts in zip(*(run.totals for run in runs), strict=True)))
    return Progress(model, totals, y, X, lines, [], runs[0].kind, every)


def _sums_of(run: Progress) -> Progress:
    """A run without its lines."""
    points = [(int(n), round(float(v * n)), float(v * n)) for n, v in zip(*run.curve(), strict=True)]
    less = Progress(run.model, run.totals, run.y, run.X, curve=points, kind=run.kind)
    less.drifts = run.drifts
    return less
