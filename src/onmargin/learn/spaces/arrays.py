"""The arrays of a Space: how they start, grow with new features, and take on new classes.

Slots lie first (one per feature, the constant coordinate last), outputs second and padded to
eights; one output has no second axis. Square fields are (outputs, slots, slots).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...compiled.outputs import add_scores
from ...compiled.parts import Part, part
from ..vocabulary import MEAN_AFTER

SLOT, SQUARE, REACH, NOTE = "slot", "square", "reach", "note"
MARK, LEDGER, LINE, ROWS, LINES = "mark", "ledger", "line", "rows", "lines"

MOST_LINES = 256  # moves that may wait
MOST_PULLS = 2**18  # numbers that say where to


class Field(NamedTuple):
    """How one array of a Space is laid out, and what a new entry holds.

    `signed`: the field turns over with the sign of its row; `average`: kept only where an average
    is wanted; `prior`: a new entry is 1 / `Start.prior`; `exact`: float64 whatever the user chose;
    `scratch`: nothing of it outlives a round; `wanted`: kept only where `Start.wants` names it;
    `names_slots`: its entries are numbers of slots; `least`: no entry lies below; `follows`: it is
    made again of the others where it is wanted, and is not in files.

    Kinds: a number per slot and output; a square per output; scratch of that size; two notes; one
    number per slot; a few numbers of the whole (their starts in `begins`); a line of one number per
    output; one such line per row of the table being fitted (empty but then); a line for each of some
    moves that wait, as long as `begins` or a number per output.
    """

    kind: str
    fill: float = 0.0
    signed: bool = True
    average: bool = False
    prior: bool = False
    exact: bool = True
    scratch: bool = False
    wanted: str = ""
    begins: tuple[float, ...] = ()
    names_slots: bool = False
    least: float = -math.inf
    follows: bool = False


class Start(NamedTuple):
    """The size and kind of a fresh Space."""

    slots: int
    outputs: int
    many: bool  # a second axis even for one output (label sets)
    average: bool
    dtype: str
    prior: float
    wants: tuple[str, ...] = ()


def never(arrays, hyper, clock, count):
    """Rounds write anywhere."""
    return False


def always(arrays, hyper, clock, count):
    """Rounds write to their own slots only."""
    return True


def without_average(arrays, hyper, clock, count):
    """Only an average is written everywhere."""
    return not arrays.drift.size


def as_they_lie(arrays, clock, hyper):
    """The weights that would predict the next round."""
    return np.asarray(arrays.weights)


# The average of the weights that predicted is w - drift / T, drift the sum of t d_t; that of w_2 .. w_T+1,
# after each round, is w - (sum of (t - 1) d_t) / T = (1 + 1 / T) w - drift / T, w_1 being in the drift.


def less_drift(arrays, clock, hyper, weights):
    """The average of the weights that predicted, w_1 .. w_T: w - drift / T; after: of w_2 .. w_T+1."""
    mean = weights - arrays.drift / max(clock, 1)
    return np.asarray(mean + weights / max(clock, 1) if hyper.numbers[MEAN_AFTER] else mean)


@part
def nothing_waits(space, rows, hyper, clock):
    """All that rounds moved has been moved."""


@part
def share_after(scores, now, hyper):
    """scores by w times 1 + 1 / T, where the average is that after each round."""
    if hyper.numbers[MEAN_AFTER] > 0.0:
        for k in range(hyper.outputs):
            scores[k] *= 1.0 + 1.0 / max(now.clock - 1, 1)


@part
def score_less_drift(space, rows, now, hyper, scores):
    """<w - drift / T, x>: scores by the average, `scores` holding those by w."""
    share_after(scores, now, hyper)
    add_scores(rows, now.row, space.drift, scores, -1.0 / max(now.clock - 1, 1))


class Space(NamedTuple):
    """The arrays and the parts of one Space, as a recipe names them.

    `mean` turns the scores just given into those of the average (None: it must be spelled out);
    `weights` and `average` spell out the weights that predict the next round, and their average;
    `finish` makes the moves that a block of rounds left waiting, while its rows are at hand;
    `settle` puts sums right after the arrays took on another shape; `flat`: a score is <w, x>;
    `mergeable`: weights (and their drift) are all that is kept, so that models may be averaged;
    `starts_anywhere`: any weights may be gone on from (elsewhere they follow from other sums);
    `local(arrays, hyper, clock, count)`: do the next `count` rounds write to their own slots only (and to
    ledgers, scratch, and what follows)?
    `either_way`: may outputs lie one after the other too (`compiled.outputs`)?
    `older(arrays)`: those of a file, which an earlier version may have written, as they are now;
    `written(arrays, clock, hyper)`: the arrays as a file has them.
    """

    name: str
    arrays: Any  # the NamedTuple
    fields: dict[str, Field]
    score: Part
    size: Part
    move: Part
    mean: Part | None = score_less_drift
    weights: Callable[..., np.ndarray] = as_they_lie
    average: Callable[..., np.ndarray] = less_drift
    settle: Callable[..., None] | None = None
    flat: bool = True
    mergeable: bool = False
    starts_anywhere: bool = False
    local: Callable[..., bool] = never
    either_way: bool = False
    older: Callable[..., Any] | None = None
    written: Callable[..., Any] | None = None
    finish: Part = nothing_waits


def padded(outputs: int, many: bool) -> int:
    """Outputs as they lie in memory."""
    return -(-outputs // 8) * 8 if many else 1


def aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Zeros whose first byte starts a cache line (unaligned lanes cost 20 %)."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    offset = -raw.__array_interface__["data"][0] % 64
    return np.ndarray(shape, dtype, raw, offset)


def build(space: Space, start: Start) -> Any:
    """A Space's arrays as they are before the first round."""
    return space.arrays(**{name: _fresh(field, start) for name, field in space.fields.items()})


def fresh_drift(space: Space, start: Start) -> np.ndarray:
    """The array of an average's sum before the first round; empty where none is wanted."""
    return _fresh(space.fields["drift"], start)


def shape_of(field: Field, start: Start) -> tuple[tuple[int, ...], str]:
    """The shape and the type of one array."""
    lines = (padded(start.outputs, start.many),) if start.many else ()
    empty = (field.wanted != "" and field.wanted not in start.wants) or (field.average and not start.average)
    width = padded(start.outputs, start.many)
    waiting = 0 if empty else max(1, min(MOST_LINES, MOST_PULLS // max(width, 1)))
    shapes = {
        NOTE: (2,), LEDGER: (len(field.begins),), MARK: (0 if empty else start.slots,), ROWS: (0, *lines),
        LINE: (width,),
        SQUARE: (start.outputs, start.slots, start.slots), REACH: (start.outputs, start.slots),
        SLOT: (0 if empty else start.slots, *lines), LINES: (waiting, len(field.begins) or width),
    }  # fmt: skip
    return shapes[field.kind], "float64" if field.exact or empty else start.dtype


def is_scratch(field: Field) -> bool:
    """Does nothing of it outlive a round?"""
    return field.scratch or field.kind in (NOTE, REACH)


def _fresh(field: Field, start: Start) -> np.ndarray:
    array = aligned(*shape_of(field, start))
    if field.kind == LEDGER:
        array[:] = field.begins
    elif field.kind == SQUARE:
        array[:] = np.eye(start.slots) * _fill(field, start)
    elif field.kind in (SLOT, MARK):
        array[:] = _fill(field, start)
    return array


def _fill(field: Field, start: Start) -> float:
    return 1.0 / start.prior if field.prior else field.fill


def copied(arrays: Any) -> Any:
    """The same numbers in arrays of their own."""
    copies = []
    for array in arrays:
        copy = aligned(array.shape, array.dtype)
        copy[...] = array
        copies.append(copy)
    return type(arrays)(*copies)


def with_own_scratch(space: Space, arrays: Any) -> Any:
    """The same state with notes of its own, so that two calls do not write to one place."""
    scratch = {
        name: aligned(getattr(arrays, name).shape, getattr(arrays, name).dtype)
        for name, field in space.fields.items()
        if is_scratch(field)
    }
    return arrays._replace(**scratch)


def widened(space: Space, arrays: Any, start: Start) -> Any:
    """More slots; the constant coordinate stays last."""
    wide = build(space, start)
    for field, old, new in zip(space.fields.values(), arrays, wide, strict=True):
        if field.kind in (SLOT, MARK) and old.shape[0]:
            new[: old.shape[0] - 1] = old[:-1]
            new[old.shape[0] - 1 : -1] = _fill(field, start)
            new[-1] = old[-1]
        elif field.kind == LEDGER:
            new[...] = old
        elif field.kind == SQUARE:
            kept = np.r_[: old.shape[1] - 1, new.shape[1] - 1]
            new[np.ix_(range(old.shape[0]), kept, kept)] = old
    return wide


def turned(space: Space, arrays: Any) -> Any:
    """The row of a two-class model seen from the other class: every signed field times -1."""
    other = copied(arrays)
    for field, array in zip(space.fields.values(), other, strict=True):
        if field.kind == SLOT and field.signed:
            np.negative(array, out=array)
    return other


def rearranged(space: Space, arrays: Any, start: Start, sources: list[int]) -> Any:
    """More outputs: output k continues `sources[k]`, or starts anew where that is -1."""
    more = build(space, start)
    into = [k for k, source in enumerate(sources) if source >= 0]
    out_of = [source for source in sources if source >= 0]
    for field, old, new in zip(space.fields.values(), arrays, more, strict=True):
        if field.kind == SLOT and old.shape[0]:
            new[:, into] = old[:, out_of]
        elif field.kind == SQUARE:
            new[into] = old[out_of]
        elif field.kind in (MARK, LEDGER):
            new[...] = old
    return more


def split(space: Space, arrays: Any, start: Start, halves: tuple[int, int]) -> Any:
    """A two-class row as two of several rows: (-w/2, +w/2), the same decisions.

    Fields without a sign (variances) are copied to both.
    """
    more = build(space, start)
    for field, old, new in zip(space.fields.values(), arrays, more, strict=True):
        if field.kind in (MARK, LEDGER):
            new[...] = old
        for k, side in zip(halves, (-0.5, 0.5), strict=True):
            if field.kind == SLOT and old.shape[0]:
                new[:, k] = side * old if field.signed else old
            elif field.kind == SQUARE:
                new[k] = old[0]
    return more
