"""Paired rounds of single sparse rows, in place: reservoirs, pool and weights bound to compiled code."""

from __future__ import annotations

import numpy as np

from ...compiled.parts import Part, bound
from ...compiled.rows import Sparse
from ...features.matrices import read_only
from ...learn.paired.alone import CLOCK_AFTER, ENTRIES_KEPT, ROWS_KEPT, Alone, player_alone
from ...learn.spaces.arrays import padded
from ...learn.vocabulary import NO_ORDER, NO_TRACE, NONE
from .model import WORST_TWO, PairedModel, scratch_for
from .pool import SLACK

FIRST_ROOM = 64  # entries of all members of a round together, at first


def can_play(model: object) -> bool:
    """Are its rounds those of a stream of single labels, its rows kept sparse, and none to be let go of?"""
    if not isinstance(model, PairedModel) or model.asking is not None:
        return False
    pairing = model.pairing
    return (
        pairing.given is None and not pairing.sets and pairing.pool.kind == "sparse" and not _is_full(model)
    )


def _is_full(model: PairedModel) -> bool:
    """Are there rows to let go of? (The long way does it.)"""
    return len(model.pairing.pool) > 2 * model.pairing.slots.size + SLACK


class BoundPairs:
    """A paired model with weights, for one row at a time; made anew whenever its arrays are."""

    def __init__(self, model: PairedModel) -> None:
        pool = model.pairing.pool
        self.model, self.pool, self.notes = model, pool, np.zeros(3, np.int64)
        self.hyper, self.recent = model._hyper(False), model._recent
        self.lines = pool.marks, pool.weights, pool.ids
        self.starts = np.zeros(0, np.int32)
        self.longest = int(np.diff(pool.starts.view).max(initial=0))
        self.most = len(model.pairing.slots)
        self.wide = model.steps_together
        self.alone: Alone | None = None
        self.entry: Part | None = None
        self._make_scratch(FIRST_ROOM)

    def _make_scratch(self, entries: int) -> None:
        """Room for the members of a round, which have so many entries together."""
        model, most = self.model, self.most
        few = min(most, 2) if model.rule in WORST_TWO and model.start.outputs == 1 else most
        width, slots = padded(model.start.outputs, model.start.many), model.start.slots
        self.entries = entries
        self.scratch = scratch_for(most, few, width, slots, entries if self.wide else 0)

    def _bind(self, rows: Sparse) -> Alone:
        """The arrays as they are now, with room for this row."""
        pool, pairing, stop = self.pool, self.model.pairing, int(rows.starts[1])
        for grown in (*self.lines, pool.starts):
            grown.reserve(1)
        for grown in (pool.values, pool.indices):
            grown.reserve(stop)
        count, wide = len(pool), pool.starts.buffer
        self.room = min(len(grown.buffer) for grown in self.lines), len(wide) - 1, len(pool.values.buffer)
        self.starts = np.zeros(len(wide), np.int32)
        self.starts[: count + 1] = wide[: count + 1]
        values, indices = pool.values.buffer, pool.indices.buffer
        marks, weights, ids = (grown.buffer for grown in self.lines)
        groups, outputs = self.most, self.model.start.outputs
        members, bounds, arrivals, entering = (np.zeros(n, np.int64) for n in (groups + 1, 2, 1, 1))
        classes = np.zeros(groups + 1 if self.hyper.rivals else 0, np.int32)
        return Alone(
            rows, Sparse(read_only(values), read_only(indices), read_only(self.starts), rows.bias),
            np.zeros((1, outputs), np.int8), pairing.slots, pairing.seen, values, indices, self.starts, wide,
            marks, weights, ids, weights if pool.weighted else NONE, NONE, NO_ORDER, members, bounds,
            arrivals, entering, classes, self.notes,
        )  # fmt: skip

    def _room_for(self, rows: Sparse) -> Alone:
        """What the round is played with."""
        alone, stop, count = self.alone, int(rows.starts[1]), len(self.pool)
        lines, starts, entries = self.room if alone is not None else (0, 0, 0)
        full = count >= min(lines, starts) or len(self.pool.values) + stop > entries
        if alone is None or alone.rows is not rows or full:
            alone = self.alone = self._bind(rows)
        if stop > self.longest:
            self.longest = stop
        if self.most * (self.longest + 1) > self.entries:
            self._make_scratch(2 * self.most * (self.longest + 1))
        return alone

    def play(self, rows: Sparse, target: float, luck: np.ndarray, known: int) -> bool:
        """A round of weight 1, so many features being known; False, and nothing changed: the long way."""
        model = self.model
        if _is_full(model):
            return False
        given = self._given(self._room_for(rows), target, luck)
        self.known, self.notes[CLOCK_AFTER] = known, model.clock
        if self.entry is None:
            self.entry = bound(player_alone(model.rule), given)
        try:
            played = bool(self.entry(*given))
            self._take_on()
        except BaseException:
            self._take_on()  # (Ctrl-C may come right after the round)
            raise
        return played

    def _given(self, alone: Alone, target: float, luck: np.ndarray) -> tuple[object, ...]:
        model = self.model
        middle, count = model.pairing.middle, len(self.pool)
        state = (model.space, self.hyper, model.clock, self.scratch, middle, NO_TRACE)
        return (alone, target, luck, self.recent, count, *state)

    def _take_on(self) -> None:
        """What a round that was played has left behind; as often as one likes."""
        model, pool, notes = self.model, self.pool, self.notes
        if notes[CLOCK_AFTER] > model.clock:
            rows, entries = int(notes[ROWS_KEPT]), int(notes[ENTRIES_KEPT])
            for grown in self.lines:
                grown.count = rows
            pool.starts.count, pool.values.count, pool.indices.count = rows + 1, entries, entries
            model.features, model.clock = self.known, int(notes[CLOCK_AFTER])
