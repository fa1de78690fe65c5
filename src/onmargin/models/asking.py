"""A rule that asks for labels: its numbers, what it has counted, its window; held by whoever asks.

The compiled loop counts in the array of numbers it is handed, so an `Asking` is bound to one: the model's,
or its own before there is a model.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.parts import Part, specialise
from ..learn.queries import COUNTING, RULES, ask_own_rows, ask_rows, limited, odds
from ..learn.spaces.linear import Linear
from ..learn.vocabulary import (
    ASKED,
    DRIFTED,
    FADED,
    REMEMBERED,
    SHOWN,
    Hyper,
    hyper_of,
)
from .layout import Wanted, check_arrays, check_counts

NO_SPACE = Linear(np.zeros(1), np.zeros(0), np.zeros(2))  # a user's rule does not look at one

Chosen = dict[str, float]
"""The rule as numbers of the loop: ask_rule, ask_delta, ..."""


def room_for(chosen: Chosen) -> int:
    """How many of the last labels a rule remembers."""
    return int(chosen["ask_most"]) if chosen.get("ask_within", math.inf) < math.inf else 0


class Asking:
    """Which rounds ask for their label. `active`: those to come do; otherwise labels are simply there.

    `own` is a user's rule; it is not kept in pickles: whoever holds the function gives it anew.
    """

    def __init__(self, chosen: Chosen, own: Part | None = None) -> None:
        self.chosen, self.active, self.own = chosen, False, own
        self.place = hyper_of(chosen, 1, np.zeros(REMEMBERED), np.zeros(self.room)).numbers

    @property
    def room(self) -> int:
        """How many of the last labels are remembered: those that count within a window."""
        return room_for(self.chosen)

    @classmethod
    def restored(
        cls, chosen: Chosen, counts: np.ndarray, recent: np.ndarray, own: Part | None = None
    ) -> Asking:
        """A rule and what a file says that it has counted."""
        wanted = {"counts": Wanted((FADED - SHOWN,)), "recent": Wanted((room_for(chosen),), least=0.0)}
        check_arrays(wanted, {"counts": counts, "recent": recent})
        check_counts(counts)
        rule = cls(chosen, own)
        rule.counts[...], rule.recent[...] = counts, recent
        return rule

    @property
    def recent(self) -> np.ndarray:
        """Rows of the last labels asked for."""
        return self.place[len(self.place) - self.room :]

    @property
    def counts(self) -> np.ndarray:
        """Rows shown, labels asked for, the logarithm of delta's factor, moves, the longest row moved by."""
        return self.place[SHOWN:FADED]

    @property
    def shown(self) -> int:
        """Rows seen so far."""
        return int(self.place[SHOWN])

    @property
    def asked(self) -> int:
        """Labels asked for so far."""
        return int(self.place[ASKED])

    @property
    def adaptive(self) -> bool:
        """Does the rule want to know of every move?"""
        rule = int(self.chosen["ask_rule"])
        return rule >= 0 and RULES[rule] in COUNTING

    def choose(self, chosen: Chosen) -> None:
        """Go on with another rule; of the last labels as many are remembered as it has room for."""
        memory, recent = self.place[:REMEMBERED].copy(), self.recent.copy()
        self.chosen = chosen
        kept = np.zeros(self.room)
        both = min(len(kept), len(recent))
        kept[:both] = recent[:both]
        self.place = hyper_of(chosen, 1, memory, kept).numbers

    def bind(self, place: np.ndarray) -> None:
        """Count in this array of a model's numbers from now on."""
        self.place = place

    def count(self, shown: int, asked: int) -> None:
        """Rows that were decided outside of the loop."""
        self.place[SHOWN] += shown
        self.place[ASKED] += asked

    def ask(self, sure: np.ndarray, lengths: np.ndarray, luck: np.ndarray) -> np.ndarray:
        """The rule about rows of these |p| and |x|^2, one after the other; they are counted."""
        asks = np.zeros(len(sure), bool)
        ask_rows(self.place, sure, lengths, luck, asks)
        return asks

    def ask_own(
        self, scores: np.ndarray, luck: np.ndarray, clock: int = 0, hyper: Hyper | None = None
    ) -> np.ndarray:
        """A user's rule about rows of these scores, one after the other; they are counted.

        hyper : of the model (None: there is none yet).
        """
        assert self.own is not None
        if hyper is None:
            hyper = hyper_of(self.chosen, 1, np.zeros(REMEMBERED))._replace(numbers=self.place)
        asks = np.zeros(len(scores), bool)
        play = specialise(ask_own_rows, own_asking=limited(self.own))
        play(NO_SPACE, np.ascontiguousarray(scores, float), luck, clock, hyper, asks)
        return asks

    def chances(self, sure: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The probability that a row of such |p| and |x|^2 is asked for, limits apart."""
        pairs = (odds(self.place, *pair) for pair in zip(sure.tolist(), lengths.tolist(), strict=True))
        return np.array([chance / whole for chance, whole in pairs])

    def as_told(self) -> Asking:
        """The same with delta as it was given, whatever a share of labels has made of it."""
        twin = self.copy()
        twin.place[DRIFTED] = 0.0
        return twin

    def copy(self) -> Asking:
        """The same, counting in an array of its own."""
        twin = object.__new__(Asking)
        twin.chosen, twin.active, twin.own = self.chosen, self.active, self.own
        twin.place = self.place.copy()
        return twin

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"own": None}


def sureness(scores: np.ndarray) -> np.ndarray:
    """|p|; of several classes, the gap between the two best scores."""
    if scores.shape[1] == 1:
        return np.asarray(np.abs(scores[:, 0]))
    best = np.partition(scores, scores.shape[1] - 2, axis=1)
    return np.asarray(best[:, -1] - best[:, -2])
