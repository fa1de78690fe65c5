"""One person labels a pool, a row at a time: keys, words, undo, skip; whoever asks stands above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import BadInput, shown
from ...interface.tables import Table
from ...interface.targets.labels import items
from ...interface.targets.missing import rows_of
from .ledger import Label, Row
from .pool import Pool

UNDO, SKIP, QUIT, NEW = "u", "s", "q", "+"
COMMANDS = {"undo": UNDO, "skip": SKIP, "quit": QUIT, "new": NEW}
KEYS = [key for key in "1234567890abcdefghijklmnopqrstuvwxyz" if key not in COMMANDS.values()]


def keys_of(labels: Sequence[Label]) -> dict[str, Label]:
    """A key for each label, as long as there are keys; of one that is a key (a digit) its own."""
    words = [str(label) for label in labels]
    own = {word for word in words if word in KEYS and words.count(word) == 1}
    free = (key for key in KEYS if key not in own)
    keys = [word if word in own else next(free, "") for word in words]
    found = {key: label for key, label in zip(keys, labels, strict=True) if key}
    return dict(sorted(found.items())) if len(own) == len(words) else found


class Said(NamedTuple):
    """What came of a word: answered, skipped, undone or quit; of which row, with which label."""

    what: str
    row: Row | None = None
    label: Label = None


class Labelling:
    """A pool asks, a person answers with a key, the label itself, or `u` (undo), `s` (skip), `q` (quit).

    row : the row that waits for its answer; None: all are answered or skipped.

    >>> import onmargin as om
    >>> from onmargin.protocols.pools.labelling import Labelling
    >>> X, y, _ = om.datasets.ellipses(50, seed=0)
    >>> asked = Labelling(om.Pool("auto", X, classes=["no", "yes"], random_state=0), X)
    >>> asked.keys()
    {'1': 'no', '2': 'yes'}
    >>> asked.take("2").label, asked.take("s").what, asked.take("u").what, asked.take("u").what
    ('yes', 'skipped', 'undone', 'undone')
    >>> len(asked.pool.labels)
    0
    """

    def __init__(self, pool: Pool, X: Table) -> None:
        self.pool, self._X = pool, X
        waiting = pool.pending
        self.row: Row | None = int(waiting[0]) if len(waiting) else self._next()

    def labels(self) -> list[Label]:
        """Those announced, or those given so far, in the order they came."""
        if self.pool.classes is not None:
            return list(self.pool.classes)
        return list(dict.fromkeys(items(self.pool.labels)))

    def keys(self) -> dict[str, Label]:
        """A key for each label, as long as there are keys."""
        return keys_of(self.labels())

    def guess(self) -> tuple[Label, float] | None:
        """What the model would say of the row, and by what margin of its scores; None: there is none yet."""
        model = self.pool.model
        if model is None or self.row is None:
            return None
        x = rows_of(self._X, np.array([self.row]))
        scores = np.atleast_1d(np.asarray(model.decision_function(x), float)[0])
        best = np.sort(scores)
        sure = abs(best[0]) if len(best) == 1 else best[-1] - best[-2]
        return items(model.predict(x))[0], float(sure)

    def take(self, word: str) -> Said:
        """Do as the word says. A word that is none is refused, and nothing has happened."""
        word = word.strip()
        if word in (QUIT, "quit"):
            return Said("quit", self.row)
        if word in (UNDO, "undo"):
            return self._undone()
        if self.row is None:
            raise BadInput("every row is answered or skipped; u takes the last answer back, q ends")
        row = self.row
        if word in (SKIP, "skip"):
            self.pool.skip(row)
            self.row = self._next()
            return Said("skipped", row)
        label = self._meant(word)
        self.pool.answer(row, label)
        self.row = self._next()
        return Said("answered", row, label)

    def _meant(self, word: str) -> Label:
        keys = self.keys()
        if word in keys:
            return keys[word]
        for label in self.labels():
            if str(label) == word:
                return label
        if not word or word == "?" or self.pool.classes is not None:
            known = ", ".join(f"{key} {label}" for key, label in keys.items())
            raise BadInput(f"{shown(word)} is no answer; wanted {known}; u undo, s skip, q quit")
        return word

    def _undone(self) -> Said:
        rows = self.pool.undo()
        if self.row is not None:
            self.pool.release(self.row)
        self.row = int(rows[0])
        return Said("undone", self.row)

    def _next(self) -> Row | None:
        rows = self.pool.next(1)
        return int(rows[0]) if len(rows) else None
