"""What the theorems say of a run: every bound that applies to what was learned, beside one comparator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np

from ..errors import BadInput, shown
from ..features.matrices import canonical
from ..interface.feedback.asks import AsksForLabels
from ..interface.learner import Learner
from ..interface.runs.comparing import Compared, beside
from ..interface.tables import Table
from ..interface.targets.missing import told
from ..results.begun import Begun
from ..results.certificate import Certificate, Course, Row
from ..results.progress import Progress
from .bounds.evidence import Bound, Evidence, last
from .bounds.hindsight import candidates, scales
from .bounds.kernels import kernel_bounds
from .bounds.margins import margin_bounds
from .bounds.mixing import mixing_bounds
from .bounds.pairs import pair_bounds
from .bounds.queries import query_bounds
from .bounds.regret import regret_bounds

BEST = "best"
PREFERRED = (
    "P1", "A4", "A6", "A2", "A3", "A5", "A7", "T1", "B1", "K1", "K2", "K3", "O1", "F1", "F2", "F3", "G1",
    "L1", "L2", "L3", "P2", "A1",
)  # fmt: skip  # the first of these that applies says which comparator is the best


def certificate(progress: object, comparator: object, X: object = None, y: object = None) -> Certificate:
    """Rows `(id, left, right, holds, conditions)`: bounds on what a run of `om.progressive` has suffered.

    progress : a run with lines (trace="full"). Or, for mixed Perceptrons, a list of epochs, each a list of
        the runs of its shards, begun from the common weights (row I1).
    comparator : u, what the run is measured against: coefficients; (coefficients, intercept); a fitted linear
        model; in kernel form a number per row of X (a line for each output); of a ball its centre, or
        (centre, radius). "best": one that a batch solver finds in hindsight, scaled so that the bound is
        tightest.
    X, y : the rows, where the run did not keep them (sources; runs of arrays did).

    Each row has both sides of left <= right, whether it holds, and its conditions in words. A row whose
    conditions are not met says which, and holds is None. Rows L4 and B1 hold in expectation only, Q2 with
    probability. |u| and R count the constant coordinate. What does not hold wants attention: the learner did
    not do what its theorem is about.

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(400, seed=0)
    >>> run = om.progressive(om.Perceptron(fit_intercept=False), X, y)
    >>> for row in om.certificate(run, "best"):
    ...     print(row.id, row.left <= row.right, row.holds)
    P1 True True
    P2 True True
    """
    if isinstance(progress, Sequence) and not isinstance(progress, str | Progress):
        return _of_mixing(progress, comparator)
    if not isinstance(progress, Progress):
        raise BadInput(f"got {shown(progress)}; wanted a Progress, as om.progressive returns it")
    begun, rows, truths = _what_was_run(progress, X, y)
    best = isinstance(comparator, str)
    if best and comparator != BEST:
        raise BadInput(f"comparator={shown(comparator)}; wanted {BEST!r}, or coefficients")
    if best:
        run, used = _best(progress, begun, rows, truths)
    else:
        used = spelled_out(comparator)
        run = Evidence(progress, begun, rows, truths, beside(learner_of(progress), rows, truths, used))
    name = f"{type(progress.model).__name__}, {progress.rounds:,} rounds"
    return drawn_up(name, bounds_of(run, not best), run, used, BEST if best else "given")


def bounds_of(run: Evidence, given: bool = True) -> Iterator[Bound]:
    """Every bound of what was run, by its parts; `given`: u may be the true one."""
    if run.begun.rule is not None:
        yield from query_bounds(run, run.begun.rule, given)
    elif "rule" in run.begun.numbers:
        yield from pair_bounds(run)
    else:
        yield from margin_bounds(run)
        yield from kernel_bounds(run)
        yield from regret_bounds(run)


def drawn_up(name: str, bounds: Iterator[Bound], run: Evidence, used: object, found: str) -> Certificate:
    """Bounds as rows; sides are compared with what rounding may add."""
    rows, courses = [], {}
    for bound in bounds:
        row = row_of(bound, run.begun.slack)
        rows.append(row)
        if bound.applies and np.ndim(bound.left) == np.ndim(bound.right) == 1:
            courses[row.id] = Course(np.asarray(bound.left), np.asarray(bound.right), bound.counts)
    return Certificate(name, rows, courses, used, float(np.sqrt(run.square)), found)


def row_of(bound: Bound, slack: float) -> Row:
    """A bound as a row: what is unmet in words, or both sides and whether they hold."""
    if not bound.applies:
        return Row(bound.id, float("nan"), float("nan"), None, f"{bound.unmet} (wants: {bound.wants})")
    left, right = last(bound.left), last(bound.right)
    holds = bool(left <= right + slack * max(1.0, abs(right)))
    return Row(bound.id, left, right, holds, bound.wants)


# ---- what was run


def _what_was_run(progress: Progress, X: object, y: object) -> tuple[Begun, Table, np.ndarray]:
    if progress.losses is None or progress.steps is None:
        raise BadInput("only sums were kept; run with trace='full'")
    if progress.begun is None:
        raise BadInput(
            "this run does not say how it began (an iterable of dicts, groups, or drift= with resets); play "
            "arrays with om.progressive"
        )
    rows = progress.X if X is None else canonical(X)
    truths: Table = progress.y if y is None else y
    if rows is None:
        raise BadInput("the run did not keep its rows (a source); give X= and y=")
    rows = rows if hasattr(rows, "tocsr") else np.asarray(rows, float)
    count = len(progress.losses)
    if rows.ndim != 2 or rows.shape[0] != count:
        raise BadInput(f"X has shape {rows.shape}; wanted the {count:,} rows of the run")
    if truths is not None and np.shape(truths)[:1] != (count,):
        raise BadInput(f"y has shape {np.shape(truths)}; wanted one entry for each of the {count:,} rounds")
    if isinstance(progress.model, AsksForLabels):
        truths, _ = told(truths, rows, progress.model.known_labels())
    return progress.begun, rows, np.zeros(count) if truths is None else np.asarray(truths)


def learner_of(progress: Progress) -> Learner:
    """The one that learned; of a learner that asks, the one inside."""
    model: Learner = getattr(progress.model, "estimator_", progress.model)
    return model


def spelled_out(comparator: object) -> object:
    """A fitted linear model as (coefficients, intercept); all else as it is."""
    coef = getattr(comparator, "coef_", None)
    if coef is None:
        if hasattr(comparator, "fit"):
            raise BadInput(f"{type(comparator).__name__} has no coefficients; wanted a fitted linear model")
        return comparator
    return np.atleast_2d(coef), np.asarray(getattr(comparator, "intercept_", 0.0), float)


# ---- the best comparator


def _best(progress: Progress, begun: Begun, rows: Table, truths: np.ndarray) -> tuple[Evidence, object]:
    """The candidate and the scale whose bound is nearest to what happened."""
    learner = learner_of(progress)
    nothing = beside(learner, rows, truths, _nothing(progress, begun, rows))
    at_rest = Evidence(progress, begun, rows, truths, nothing)
    best: tuple[tuple[float, float], Compared, object, float] | None = None
    for candidate in candidates(at_rest) if not begun.grew else ():  # (no bound applies where it grew)
        compared = beside(learner, rows, truths, candidate)
        for scale in scales(at_rest.beside(compared)):
            other = compared.scaled(scale) if scale != 1.0 else compared
            rank = _rank(at_rest.beside(other))
            if best is None or rank < best[0]:
                best = rank, other, candidate, scale
    if best is None:
        return at_rest, _nothing(progress, begun, rows)
    _, compared, candidate, scale = best
    return at_rest.beside(compared), _scaled(candidate, scale)


def _nothing(progress: Progress, begun: Begun, rows: Table) -> object:
    """u = 0, in the form that the learner's comparators have."""
    if begun.form == "kernel":
        return np.zeros((begun.outputs, rows.shape[0]))
    outputs = np.shape(progress.model.coef_)[0] if begun.words["task"] != "enclose" else 1
    return np.zeros((outputs, rows.shape[1]))


def _scaled(candidate: object, scale: float) -> object:
    if isinstance(candidate, tuple):
        return tuple(scale * np.asarray(part) for part in candidate) if scale != 1.0 else candidate
    return scale * np.asarray(candidate)


def _rank(run: Evidence) -> tuple[float, float]:
    """How good a comparator is: the first bound in the order of preference that applies, and its slack."""
    if "rule" in run.begun.numbers and run.begun.rule is None:  # pairs are played again but once
        return 0.0, run.square + 2 * min(run.number("C"), 1e6) * float(run.theirs.sum())
    return preference(bounds_of(run), float(run.theirs.sum()))


def preference(bounds: Iterable[Bound], otherwise: float) -> tuple[float, float]:
    """The place of the first preferred bound that applies, and how far its sides are apart."""
    found = {bound.id: bound.distance for bound in bounds if bound.applies}
    for place, id in enumerate(PREFERRED):
        if id in found and np.isfinite(found[id]):
            return float(place), found[id]
    return float(len(PREFERRED)), otherwise


# ---- mixed Perceptrons


def _of_mixing(epochs: Sequence[object], comparator: object) -> Certificate:
    """I1 of epochs of shards."""
    whole: list[list[Progress]] = []
    for epoch in epochs:
        whole.append(
            [run for run in epoch if isinstance(run, Progress)] if isinstance(epoch, Sequence) else []
        )
        if not whole[-1] or len(whole[-1]) < len(cast(Sequence[object], epoch)):
            raise BadInput("wanted a Progress, or a list of epochs, each a list of the runs of its shards")
    if not whole:
        raise BadInput("the list is empty; wanted epochs, each a list of the runs of its shards")
    if isinstance(comparator, str):
        raise BadInput(
            f"comparator={shown(comparator)}; mixed runs want coefficients, or (coefficients, intercept)"
        )
    used = spelled_out(comparator)
    seen = []
    for run in (run for epoch in whole for run in epoch):
        begun, rows, truths = _what_was_run(run, None, None)
        seen.append(Evidence(run, begun, rows, truths, beside(learner_of(run), rows, truths, used)))
    rounds = sum(run.progress.rounds for run in seen)
    name = f"{len(whole)} epochs of {max(map(len, whole))} shards, {rounds:,} rounds"
    return drawn_up(name, mixing_bounds([len(epoch) for epoch in whole], seen), seen[0], used, "given")
