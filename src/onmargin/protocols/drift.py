"""Has the target moved? A signal on the losses of a run, and what to do about it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, require_whole
from ..results.progress import Progress, Totals

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
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
                raise BadInput(f"{name}={value!r}; wanted a number of at least 0")
        if action not in ACTIONS:
            raise BadInput(f"action={action!r}; wanted 'none' or 'reset'")
        require_whole("patience", patience)
        self.delta, self.threshold, self.action, self.patience = delta, threshold, action, patience
        self.reset()

    def reset(self) -> None:
        """As if nothing had been seen."""
        self.rounds, self.mean, self.total, self.least = 0, 0.0, 0.0, 0.0
        self.drift_detected = False

    def update(self, loss: float) -> PageHinkley:
        """Take in one loss; `drift_detected`: it raised the alarm, after which all starts anew."""
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
    action = "none"
    if isinstance(drift, tuple) and len(drift) == 2:
        drift, action = drift
    if isinstance(drift, str) and drift == "page_hinkley":
        drift = PageHinkley()
    if not hasattr(drift, "update") or not hasattr(drift, "drift_detected"):
        raise BadInput(
            f"drift={drift!r}; wanted om.PageHinkley(...), a detector of River's, or (detector, 'reset')"
        )
    action = getattr(drift, "action", action)
    if action not in ACTIONS:
        raise BadInput(f"the action is {action!r}; wanted 'none' or 'reset'")
    return drift, action


def play_with_drift(
    model: Any, X: Any, y: Any, drift: Any, options: dict[str, Any], watched: dict[str, Any]
) -> Progress:
    """`progressive` a piece at a time, its losses shown to the detector.

    Where a reset is due in the middle of a piece, the piece is played again up to that round.
    """
    detector, action = detector_of(drift)
    if watched["delay"]:
        raise BadInput("delay= and drift= do not go together; leave one out")
    X = X.tocsr() if sp.issparse(X) else X if hasattr(X, "iloc") else np.asarray(X)
    y, classes = np.asarray(y), options["classes"]
    if model._kind == "labels" and classes is None and not model._known_labels():
        classes = sorted(set(y.tolist())) if y.ndim == 1 else None
    runs: list[Progress] = []
    drifts: list[int] = []
    first = 0
    while first < X.shape[0]:
        stop = min(first + PIECE, X.shape[0])
        before = copy.deepcopy(model) if action == "reset" else None
        run = _piece(model, X, y, slice(first, stop), classes, options, watched)
        alarms = _alarms(detector, run, action == "reset")
        drifts += [first + alarm for alarm in alarms]
        if alarms and before is not None:
            stop = first + alarms[0] + 1
            model.__dict__.clear()
            model.__dict__.update(before.__dict__)
            run = _piece(model, X, y, slice(first, stop), classes, options, watched)
            classes = model._known_labels() or classes
            _start_anew(model)
        else:
            classes = None
        runs.append(run)
        first = stop
    whole = _joined(model, runs, X, y, watched["every"])
    whole.drifts = drifts
    return whole


def _piece(
    model: Any, X: Any, y: Any, some: slice, classes: Any, options: dict[str, Any], watched: dict[str, Any]
) -> Progress:
    cut = {
        name: None if options[name] is None else np.asarray(options[name])[some]
        for name in ("sample_weight", "chance")
    }
    rows = X.iloc[some] if hasattr(X, "iloc") else X[some]
    run: Progress = model._progress(rows, y[some], **cut, classes=classes, **watched | {"full": True})
    return run


def _alarms(detector: Any, run: Progress, first_only: bool) -> list[int]:
    """Rows of a piece at which the detector raised its alarm."""
    found = []
    losses, seen = run._wrong(), np.asarray(run.counted, bool)
    for row in np.flatnonzero(seen).tolist():
        detector.update(float(losses[row]))
        if detector.drift_detected:
            found.append(row)
            if first_only:
                return found
    return found


def _start_anew(model: Any) -> None:
    """Forget everything but the parameters and the generator's place."""
    for name in ("_model", "_stream", "_slots", "_labels", "estimator_"):
        model.__dict__.pop(name, None)


def _joined(model: Any, runs: list[Progress], X: Any, y: Any, every: int | None) -> Progress:
    names = ("scores", "predictions", "losses", "steps", "queried", "counted")
    lines = {name: np.concatenate([np.asarray(getattr(run, name)) for run in runs]) for name in names}
    totals = Totals(*(sum(parts) for parts in zip(*(run.totals for run in runs), strict=True)))
    return Progress(model, totals, y, X, lines, [], runs[0].kind, every)
