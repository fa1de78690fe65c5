"""Watches a run: one line of the trace per round, while labels may still be joining."""

from __future__ import annotations

import numpy as np

from ..learn.vocabulary import NO_TRACE, TRACED

GUESS = 0


class Watcher:
    """The trace of `count` rounds (or more: it grows); `full=False` keeps sums only.

    `sets`: the guess is a bar, and scores beyond the labels (a dummy's) come last.
    """

    def __init__(self, count: int, full: bool, sets: bool = False, labels: bool = True) -> None:
        self.count, self.full, self.sets, self.labels = count, full, sets, labels
        self.whole = np.zeros((0, TRACED))
        self.known: list[object] = []  # labels the table's columns stand for
        self.surprises: list[tuple[int, list[object]]] = []  # rounds that brought a new label
        self.curve: list[tuple[int, int, float]] = []  # rounds, mistakes, loss so far
        self.base = 0  # rounds before the table at hand

    def table(self, first: int, count: int, outputs: int, known: list[object]) -> np.ndarray:
        """The lines of a stretch of rounds, for the loop to write."""
        if not self.full:
            return NO_TRACE
        first += self.base
        if self.whole.shape[1] != TRACED + outputs or self.known != known:
            self.settle(first)
            self._relabel(outputs, known)
        if first + count > len(self.whole):
            self.count = max(first + count, 2 * self.count)
            more = np.full((self.count - len(self.whole), self.whole.shape[1]), np.nan)
            self.whole = np.r_[self.whole, more]
        return self.whole[first : first + count]

    def meet(self, position: int, known: list[object]) -> None:
        """The round at `position` brings a label that is not among the `known`."""
        self.surprises.append((self.base + position, list(known)))

    def _relabel(self, outputs: int, known: list[object]) -> None:
        """The same lines in the columns of a larger set of labels."""
        old, before = self.whole, self.known
        self.whole = np.full((self.count, TRACED + outputs), np.nan)
        self.known = list(known)
        if len(old):
            self.whole[:, :TRACED] = old[:, :TRACED]
            scores = old[:, TRACED:]
            if self.sets:
                into = [known.index(label) for label in before]
                extras = scores.shape[1] - len(before)
                into += list(range(outputs - extras, outputs))
                self.whole[:, TRACED:][:, into] = scores
            else:
                self.whole[:, TRACED:] = _scores_for(scores, before, known, outputs)
                self.whole[:, GUESS] = _guesses_for(old[:, GUESS], before, known)

    def settle(self, played: int) -> None:
        """A round that brought a label was answered without it: the best of those known before."""
        done = [surprise for surprise in self.surprises if surprise[0] < played]
        self.surprises = self.surprises[len(done) :]
        for position, known in done if self.full and not self.sets else ():
            line = self.whole[position]
            if not known:
                line[GUESS] = np.nan
            elif len(self.known) <= 2:
                line[GUESS] = 2.0 * self.known.index(known[0]) - 1.0
            else:
                own = [self.known.index(label) for label in known]
                line[GUESS] = own[int(np.argmax(line[TRACED:][own]))]


def _scores_for(scores: np.ndarray, before: list[object], known: list[object], outputs: int) -> np.ndarray:
    moved = np.full((len(scores), outputs), np.nan)
    if len(before) == 1 and len(known) == 2:
        moved[:, 0] = scores[:, 0] if known[1] == before[0] else -scores[:, 0]
    elif len(before) == 2 and scores.shape[1] == 1:
        moved[:, known.index(before[0])] = -0.5 * scores[:, 0]
        moved[:, known.index(before[1])] = 0.5 * scores[:, 0]
    elif len(before) > 1:
        moved[:, [known.index(label) for label in before]] = scores[:, : len(before)]
    elif before == known[:1] and len(known) == 1:
        moved[:, 0] = scores[:, 0]
    return moved


def _guesses_for(guesses: np.ndarray, before: list[object], known: list[object]) -> np.ndarray:
    if not before:
        return guesses
    codes = guesses if len(before) > 2 else np.where(guesses > 0, len(before) - 1.0, 0.0)
    number = np.array([known.index(label) for label in before], float)
    fine = np.isfinite(guesses)
    codes = np.where(fine, number[np.where(fine, codes, 0).astype(int)], np.nan)
    return codes if len(known) > 2 else 2.0 * codes - 1.0
