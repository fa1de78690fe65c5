"""Learning from a source that may be stopped at any moment and gone on with, bit for bit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import numpy as np

from ...errors import BadInput, require_whole, shown
from ...features.piped import is_pipeline, piped
from ...interface.feedback.asks import AsksForLabels
from ...interface.groups import Grouped
from ...interface.learner import Learner
from ...interface.tables import Table
from ...results.progress import Progress
from ...results.tally import Line, Tally
from ...sources.blocks import Block, cut, height, joined
from ..progressive import progressive
from ..saving.files import save
from .naming import NUMBERS, POINTS
from .reading import Reading, wide_enough
from .record import Record, first_column, now

Model = Learner | AsksForLabels
FARTHEST_INDEX = 1 << 28  # a model of so many columns takes 2 GiB


class Moment(NamedTuple):
    """How far it is, after each block; `read` of `total` bytes (None: nobody knows)."""

    record: Record
    read: int
    total: int | None
    lines: list[Line]


class Interrupted(Exception):
    """Learning was told to stop while it waited for data; what was learned is whole."""


class Training:
    """A model, the data it learns from, and how far it is.

    model : fresh, or from a file; whole : the Pipeline that it is the end of, if it came with one.
    record : new, or that of a run to go on with. two : refuse a third class.
    path, every : where to save, and after how many rows (at the end of a block; None: when it ends).
    traced : keep a line per round of each block, for `Moment.lines` and for `seen`.
    seen, tell : called after every block, with its run and with how far it is.

    Every row is answered before it is learned (`record.tally`). A run that was stopped and gone on with is,
    bit for bit, the run that was not: blocks are cut alike, and what features have learned is saved as well.
    """

    def __init__(
        self,
        model: Model,
        reading: Reading,
        record: Record,
        *,
        path: str | os.PathLike[str] | None = None,
        every: int | None = None,
        whole: object = None,
        two: bool = False,
        traced: bool = False,
        seen: Callable[[Progress], None] | None = None,
        tell: Callable[[Moment], None] | None = None,
    ) -> None:
        if every is not None:
            require_whole("checkpoint_every", every)
            if path is None:
                raise BadInput("checkpoints need a file; give --save FILE.onm")
        if record.passes > 1 and not reading.source.again:
            raise BadInput(f"{', '.join(reading.data)} can be read only once; one pass, or keep it in a file")
        self.model, self.reading, self.record = model, reading, record
        self.features = reading.features
        if is_pipeline(whole):
            self.features = whole.steps[0][1] if len(whole) == 2 else whole[:-1]
        self._whole = whole
        self.path, self.every, self.two, self.traced = path, every, two, traced
        self.seen, self.tell = seen, tell
        self.stopped = False
        self._waits, self._since = False, 0
        self.runs = 0  # rows one after the other with the same label, in the first pass
        self._label: object = None

    @property
    def whole(self) -> object:
        """What is saved: the model, behind its features where rows are raw."""
        if self._whole is not None or self.features is None:
            return self.model if self._whole is None else self._whole
        return piped(self.features, self.model)

    def interrupt(self) -> None:
        """Stop after the block at hand; for a handler of signals: while it waits for data, at once."""
        self.stopped = True
        if self._waits:
            raise Interrupted

    def run(self) -> Record:
        """Learn what is left; the record says how far it got (`is_whole`), and the file is saved."""
        record, began = self.record, time.monotonic() - self.record.seconds
        try:
            while not record.is_whole and not self.stopped:
                self._pass(began)
        except Interrupted:
            pass
        record.ended, record.seconds = now(), time.monotonic() - began
        if self.path is not None:
            self.save()
        return record

    def _pass(self, began: float) -> None:
        record = self.record
        if not record.row:
            record.tally = Tally(record.tally.before + record.tally.count)
        blocks = self.reading.peeked.blocks(record.row)
        if isinstance(self.model, Grouped):
            blocks = whole_groups(blocks)
        while (block := self._next(blocks)) is not None:
            lines = self._learn(block)
            size = height(block.rows)
            record.row, record.rows, self._since = record.row + size, record.rows + size, self._since + size
            record.skipped = self.reading.source.skipped
            record.seconds = time.monotonic() - began
            if self.every is not None and self._since >= self.every:
                self.save()
            if self.tell is not None:
                source = self.reading.source
                self.tell(Moment(record, source.bytes_read, source.bytes_total, lines))
            if self.stopped:
                return
        record.skipped = self.reading.source.skipped
        record.end_pass()

    def _next(self, blocks: Iterator[Block]) -> Block | None:
        """The next block; nothing is half done while it is waited for."""
        self._waits = True
        try:
            return next(blocks, None)
        finally:
            self._waits = False

    def again(self) -> Iterator[tuple[Table, object, object]]:
        """Rows, targets and weights of one more pass, block by block, as the learner would have them."""
        for block in self.reading.peeked.blocks():
            rows, targets, weights, _ = self._ready(block, learns=False)
            if rows is not None:
                yield rows, targets, weights

    def _ready(self, block: Block, learns: bool) -> tuple[Table, Table, Table, Table]:
        """Rows of numbers, targets, weights and groups of a block."""
        rows = block.rows
        if self.features is not None and not self.reading.made:
            both = getattr(self.features, "partial_fit_transform", None)
            rows = both(rows) if learns and both is not None else self.features.transform(rows)
        return told_rows(block._replace(rows=rows), self.record.task)

    def _learn(self, block: Block) -> list[Line]:
        """Answer and learn one block, all of it."""
        rows, targets, weights, groups = self._ready(block, learns=not self.record.finished)
        self.record.unlabelled += height(block.rows) - (0 if rows is None else height(rows))
        if rows is None:
            return []
        self._look_at(rows, targets)
        run = self._played(rows, targets, weights, groups)
        known = self.model.known_labels() if self.two and isinstance(self.model, Learner) else []
        if len(known) > 2:
            raise BadInput(
                f"{self.record.algorithm} is for two classes, and there is {shown(known[2])} beside "
                f"{shown(known[0])} and {shown(known[1])}; take {self.record.algorithm.partition('.')[0]}"
            )
        if self.seen is not None:
            self.seen(run)
        return self.record.tally.add(run, rows)

    def _look_at(self, rows: Table, targets: object) -> None:
        """Count runs of labels; refuse an index that would make the model larger than anyone means."""
        if (
            not self.record.finished
            and isinstance(targets, np.ndarray)
            and targets.ndim == 1
            and len(targets)
        ):
            self.runs += int(np.count_nonzero(targets[1:] != targets[:-1])) + int(targets[0] != self._label)
            self._label = targets[-1]
        if self.record.format == "svmlight" and self.record.options.get("columns") is None:
            if rows.shape[1] > FARTHEST_INDEX:
                at = int(np.argmax(rows.indices))
                row = self.record.row + int(np.searchsorted(rows.indptr, at, side="right"))
                index = int(rows.indices[at]) + first_column(self.record.options)
                raise BadInput(
                    f"row {row} has index {index}: a model of so many columns takes {index >> 27} GiB; mend "
                    f"the line (--columns N --on-error skip leaves such lines out), or give --columns {index}"
                )

    def _played(self, rows: object, targets: object, weights: object, groups: object) -> Progress:
        if isinstance(self.model, Grouped):
            if groups is None:
                raise BadInput("the data have no queries (qid:...); give --group COLUMN, or another --task")
            return self.model.watch_groups(rows, targets, groups, False)
        if targets is None:
            raise BadInput(f"the data have no labels; for {self.record.task} there must be one a row")
        trace = "full" if self.traced or self.record.task == NUMBERS else "sums"
        run = progressive(self.model, rows, targets, sample_weight=weights, trace=trace)
        if self.record.task == POINTS:
            run.kind = POINTS  # (no number was wanted of them)
        return run

    def save(self) -> None:
        """Model and record into the file, in one step."""
        self.record.ended = now()
        save(self.whole, cast("str", self.path), notes=self.record.facts())
        self._since = 0


def told_rows(block: Block, task: str) -> tuple[Table, Table, Table, Table]:
    """Rows, targets, weights and groups of a block of numbers; rows without a label are left out."""
    rows = wide_enough(block.rows)
    targets, weights, groups = block.targets, block.weights, block.groups
    if targets is not None and weights is not None and (weights == 1.0).all():
        weights = None
    if task == POINTS:  # (lines without a label are what it is for)
        targets = np.zeros(height(rows))
    if isinstance(targets, np.ndarray) and targets.ndim == 1 and targets.dtype.kind == "f":
        told = np.isfinite(targets)
        if not told.all():  # (Vowpal Wabbit's lines may have no label)
            kept = np.flatnonzero(told)
            rows, targets = rows[kept] if len(kept) else None, targets[kept]
            weights, groups = (None if part is None else part[kept] for part in (weights, groups))
    return rows, targets, weights, groups


def whole_groups(blocks: Iterator[Block]) -> Iterator[Block]:
    """The same rows, cut between groups: the rows of one are in one block."""
    rest: Block | None = None
    for block in blocks:
        if block.groups is None:
            yield block
            continue
        if rest is not None:
            block = joined([rest, block])
        groups = np.asarray(block.groups)
        size = len(groups)
        last = np.flatnonzero(groups[1:] != groups[:-1])
        end = int(last[-1]) + 1 if len(last) else 0
        rest = cut(block, end, size)
        if end:
            yield cut(block, 0, end)
    if rest is not None and height(rest.rows):
        yield rest


def answers_of(run: Progress) -> tuple[list[object], list[object]]:
    """Truths and answers of a run with full lines, where both are single labels; else nothing."""
    truths, said = run.y, run.predictions
    if run.kind != "labels" or truths is None or said is None or np.ndim(truths) != 1 or np.ndim(said) != 1:
        return [], []
    seen = np.asarray(run.counted, bool)
    return np.asarray(truths, object)[seen].tolist(), np.asarray(said, object)[seen].tolist()
