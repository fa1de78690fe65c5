"""What has become of the rows of a pool: asked for, answered, skipped; and the way back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ...errors import BadInput, shown
from ...models.layout import Misfit, row_numbers

Row = int
Label = Hashable


class Step(NamedTuple):
    """One call that can be taken back: rows that were answered or skipped, and which of them were pending."""

    rows: tuple[Row, ...]
    pending: tuple[Row, ...]


class Ledger(NamedTuple):
    """Never changed: what happens to rows makes a new one, so that a call is seen whole or not at all.

    The rows of `labels` and `pending` are in the order of their answers and questions.
    """

    labels: Mapping[Row, Label]
    skipped: frozenset[Row]
    pending: tuple[Row, ...]
    steps: tuple[Step, ...] = ()

    @property
    def rows(self) -> np.ndarray:
        """Those that have a label."""
        return np.fromiter(self.labels, np.int64, len(self.labels))

    @property
    def touched(self) -> np.ndarray:
        """Those that are not to be asked for (again)."""
        return np.array([*self.labels, *self.skipped, *self.pending], np.int64)

    def asked(self, rows: Iterable[Row]) -> Ledger:
        """They were handed out."""
        return self._replace(pending=(*self.pending, *rows))

    def answered(self, rows: tuple[Row, ...], labels: Iterable[Label]) -> Ledger:
        """They have these labels now; each must be pending."""
        waiting = set(self.pending)
        for row in rows:
            if row not in waiting:
                raise BadInput(f"row {row} {self._said(row)}; nothing was learned")
        known = {**self.labels, **dict(zip(rows, labels, strict=True))}
        return self._taken(rows)._replace(labels=known)

    def left_out(self, rows: tuple[Row, ...]) -> Ledger:
        """They are not to be asked for; each without a label."""
        for row in rows:
            if row in self.labels or row in self.skipped:
                raise BadInput(f"row {row} {self._said(row)}; nothing was skipped")
        return self._taken(rows)._replace(skipped=self.skipped | set(rows))

    def released(self, rows: tuple[Row, ...] | None) -> Ledger:
        """Pending rows (None: all) may be asked for again."""
        if rows is None:
            return self._replace(pending=())
        for row in rows:
            if row not in self.pending:
                raise BadInput(f"row {row} {self._said(row)}; nothing was released")
        return self._replace(pending=tuple(row for row in self.pending if row not in rows))

    def undone(self) -> tuple[Ledger, Step]:
        """Before the last answer or skip: its rows wait for their answer again, as far as they did."""
        if not self.steps:
            raise BadInput("nothing was answered or skipped yet; there is nothing to undo")
        *before, step = self.steps
        labels = {row: label for row, label in self.labels.items() if row not in step.rows}
        skipped, pending = self.skipped - set(step.rows), (*step.pending, *self.pending)
        return Ledger(labels, skipped, pending, tuple(before)), step

    def forgotten(self, rows: tuple[Row, ...]) -> Ledger:
        """What was said of these rows, whenever that was, is taken back: they wait for their answer again."""
        for row in rows:
            if row not in self.labels and row not in self.skipped:
                raise BadInput(f"row {row} {self._said(row)}; nothing was taken back")
        gone = set(rows)
        labels = {row: label for row, label in self.labels.items() if row not in gone}
        left = [Step(_without(gone, step.rows), _without(gone, step.pending)) for step in self.steps]
        steps = tuple(step for step in left if step.rows)
        return Ledger(labels, self.skipped - gone, (*self.pending, *rows), steps)

    def _taken(self, rows: tuple[Row, ...]) -> Ledger:
        """No longer pending, in a step that can be taken back (none, where there are no rows)."""
        if not rows:
            return self
        gone = set(rows)
        step = Step(rows, tuple(row for row in self.pending if row in gone))
        left = tuple(row for row in self.pending if row not in gone)
        return self._replace(pending=left, steps=(*self.steps, step))

    def _said(self, row: Row) -> str:
        if row in self.labels:
            return f"was answered already, with {shown(self.labels[row])}; undo() takes the last answer back"
        if row in self.skipped:
            return "was skipped already; undo() takes the last call back"
        if row in self.pending:
            return "is waiting for its answer"
        return "was not asked for; next() gives the rows to label"

    # ---- files

    def state(self) -> dict[str, object]:
        """What a file must hold."""
        return {
            "rows": self.rows, "labels": list(self.labels.values()),
            "skipped": np.array(sorted(self.skipped), np.int64), "pending": np.array(self.pending, np.int64),
            "steps": [tuple(np.array(rows, np.int64) for rows in step) for step in self.steps],
        }  # fmt: skip

    @classmethod
    def restored(cls, kept: Mapping[str, object], count: int) -> Ledger:
        """From a file, for a pool of so many rows; raises where it does not fit."""
        rows, skipped, pending = (_rows(name, kept[name], count) for name in ("rows", "skipped", "pending"))
        labels, steps = kept["labels"], kept["steps"]
        if not isinstance(labels, list) or len(labels) != len(rows) or not isinstance(steps, list):
            raise Misfit("its labels are not one a row")
        if len({*rows, *skipped, *pending}) != len(rows) + len(skipped) + len(pending):
            raise Misfit("a row is answered, skipped or pending twice")
        made = tuple(Step(_rows("steps", step[0], count), _rows("steps", step[1], count)) for step in steps)
        if sorted(row for step in made for row in step.rows) != sorted((*rows, *skipped)):
            raise Misfit("its steps are not its answers and skips")
        return cls(dict(zip(rows, labels, strict=True)), frozenset(skipped), pending, made)


def _without(gone: set[Row], rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(row for row in rows if row not in gone)


def _rows(name: str, value: object, count: int) -> tuple[Row, ...]:
    found = row_numbers(name, value)
    if found.size and found.max() >= count:
        raise Misfit(f"its {name} lie beyond the {count} rows of the pool")
    return tuple(found.tolist())
