"""A run of `onmargin learn` on a cluster: files in parts, fixed features, a file after every epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

from ..errors import BadInput, OnmarginError, shown
from ..features.piped import piped
from ..interface.learner import Learner
from ..protocols.requested.reading import Reading
from ..protocols.requested.record import Record, first_column, now
from ..protocols.requested.requests import Request
from ..protocols.requested.training import FARTHEST_INDEX, Training, told_rows
from ..protocols.requested.training import Moment as Shown
from ..protocols.saving.files import built, notes_of, save
from ..results.tally import WORDS, Tally
from ..sources.blocks import ROWS, Block, height
from ..sources.datasets.apart import SetPart
from ..sources.parts import BYTES, Part
from .checkpoint import NOTE, Checkpoint
from .epochs import run
from .library import Client, Value
from .report import Epoch, Moment, Report
from .tasks import result_of, tried
from .workers import scheduler_lost

AUTO = "auto"  # an average that is kept by `fit`, and not along a stream


@dataclass(frozen=True)
class ToldPart:
    """A part without the rows that have no label, as learners take it.

    indices_from : where the indices of svmlight begin, where nobody has told how many there are.
    """

    part: Part | SetPart
    task: str
    indices_from: int | None = None

    def __str__(self) -> str:
        return str(self.part)

    def blocks(self, rows: int = ROWS) -> Iterator[Block]:
        """Its examples, in blocks of so many at most."""
        for block in self.part.blocks(rows):
            made, targets, weights, _ = told_rows(block, self.task)
            if self.indices_from is not None and block.rows.shape[1] > FARTHEST_INDEX:  # (as on one machine)
                index = block.rows.shape[1] - 1 + self.indices_from
                raise BadInput(
                    f"it has an index {index}, and a model of so many columns takes {index >> 27} GiB "
                    f"(--columns {index} says that it is meant)"
                )
            if made is not None and height(made):
                yield Block(made, targets, weights)


def left_out(part: Part, task: str) -> tuple[int, int]:
    """Bad lines of a part that are skipped, and rows without a label; a part that cannot be read has none."""
    source, untold = part.source(), 0
    try:
        for block in source:
            rows = told_rows(block, task)[0]
            untold += height(block.rows) - (0 if rows is None else height(rows))
    except OnmarginError:
        return 0, 0
    return source.skipped, untold


class ClusterTraining:
    """What a `Request` asks for, learned on the workers of a client; everything is opened and checked here.

    parts : into about so many the files are cut; None: one for every 64 MiB. The same parts give the same
        model, whatever the workers. mixing, mix_every : see `run`.
    tell : called with a `Moment` of a training whenever a part or an epoch is done.

    Features that learn (means of columns, idf) learn from the first block alone, and are the same in all
    parts. The file of the request is replaced after every epoch, and holds all that `resume` needs.
    """

    def __init__(
        self,
        request: Request,
        client: Client,
        *,
        parts: int | None = None,
        bytes_per_part: int = BYTES,
        mixing: str = "uniform",
        mix_every: int | None = None,
        sample: int = 20_000,
        tell: Callable[[Shown], None] | None = None,
    ) -> None:
        _refuse(request)
        self.request, self.client, self.mixing, self.sample = request, client, mixing, sample
        self.mix_every = mix_every
        self.training: Training = request.training(apart=True)
        self.record: Record = self.training.record
        self.reading: Reading = self.training.reading
        self.report: Report | None = None
        self.runs = 0  # stretches of rows with one label
        self.tell = tell
        self._resumes = bool(self.record.ended)
        if self._resumes and self.load()[1] is None:
            raise BadInput(f"{request.save} was learned without --cluster; go on without it, or begin anew")
        if not self._resumes:
            self._learn_features()
        self.parts = self.reading.split(self.training.features, parts=parts, bytes_per_part=bytes_per_part)
        if not self.parts:
            raise BadInput(f"{', '.join(self.record.data)}: no example in it")

    @property
    def model(self) -> Learner:
        """What was learned so far."""
        return cast("Learner", self.training.model)

    @property
    def whole(self) -> object:
        """What is saved: the model, behind its features where rows are raw."""
        features = self.training.features
        return self.model if features is None else piped(features, self.model)

    def run(self) -> Record:
        """Learn what is left; the record says how far it got, and the file is saved."""
        self._began = time.monotonic() - self.record.seconds
        told = self.record.format != "svmlight" or self.record.options.get("columns") is not None
        begins = None if told else first_column(self.record.options)
        found = run(
            self._asked(), [ToldPart(part, self.record.task, begins) for part in self.parts],
            client=self.client, epochs=self.record.passes, mixing=self.mixing, mix_every=self.mix_every,
            sample=self.sample, checkpoint=self, shuffle=False, resume=self._resumes,
            on_error=self.request.on_error, tell=self._told,
        )  # fmt: skip
        self.report = found.report
        leaves_out = self.request.on_error == "skip" or self.record.format == "vw"
        if leaves_out and self.record.format != "set":
            self._count_left_out()
        return self.record

    def _count_left_out(self) -> None:
        """What was left out in a pass: the parts are read once more, by the workers."""

        def found_once() -> list[tuple[int, int]]:
            tasks = self.client.map(left_out, self.parts, task=self.record.task, pure=False)
            return [result_of(task, "counting what was left out") for task in tasks]

        with scheduler_lost(self.hint, self.client):
            found = tried(found_once)
        self.record.skipped = sum(skipped for skipped, _ in found)
        self.record.unlabelled = self.record.finished * sum(untold for _, untold in found)
        if self.request.save is not None:
            notes = notes_of(self.request.save) or {}
            save(self.whole, self.request.save, notes=notes | self.record.facts())

    def _asked(self) -> Learner:
        """The learner as it was asked for: a run that is resumed has begun with the same."""
        note = self.load()[1] if self._resumes else None
        if note is not None:
            return cast("Learner", built(note["facts"]["estimator"], None))
        if self.model.get_params(deep=False).get("average") == AUTO:  # (as where one machine learns a stream)
            return self.model.clone().set_params(average=False)
        return self.model

    # ---- a Keeper of checkpoints

    skip_by = "--on-error skip"

    @property
    def hint(self) -> str:
        """How to go on."""
        save = self.request.save
        return (
            "begin anew (--save FILE.onm keeps every epoch)"
            if save is None
            else f"--resume goes on from the last epoch in {save}, or begins anew where it has none"
        )

    def __str__(self) -> str:
        return str(self.request.save)

    def save(self, point: Checkpoint) -> None:
        """A run before its first epoch and after each: into the record, and into the file if there is one."""
        known = point.model.known_labels()
        if self.training.two and len(known) > 2:
            raise BadInput(
                f"{self.record.algorithm} is for two classes, and there is {shown(known[2])} beside "
                f"{shown(known[0])} and {shown(known[1])}; take {self.record.algorithm.partition('.')[0]}"
            )
        self.training.model, self.report, self.runs = point.model, point.report, point.known.runs
        for epoch in point.report.epochs[self.record.finished :]:
            self._count(epoch, point.report)
        if point.converged:
            self.record.passes = self.record.finished
        self.record.ended, self.record.seconds = now(), time.monotonic() - self._began
        if self.request.save is not None:
            notes = self.record.facts() | {NOTE: point.note()}
            save(self.whole, self.request.save, notes=notes)

    def load(self) -> tuple[Value, Value]:
        """The model of the file that is resumed, and what was noted beside it for a cluster."""
        return self.model, (notes_of(str(self.request.save)) or {}).get(NOTE)

    def _count(self, epoch: Epoch, report: Report) -> None:
        """One epoch more in the record."""
        record, sums = self.record, epoch.sums
        tally = Tally(record.rows)
        tally.kind = report.kind if report.kind in WORDS else "losses"
        for line in epoch.lines:
            tally.count += line.rounds
            tally.mistakes += line.mistakes
            tally.loss += line.loss
            if line.rounds:
                tally.curve.append((tally.count, tally.mistakes, tally.loss))
        tally.updates = sums.updates
        tally.total = sums.total(report.kind)
        tally.idle, tally.level = sums.idle, sums.level
        record.tally = tally
        record.rows += sums.rounds
        record.end_pass()

    def _told(self, moment: Moment) -> None:
        if self.tell is not None:
            self.record.seconds = time.monotonic() - self._began
            over = moment.line is not None
            self.tell(Shown(self.record, 0 if over else moment.done, moment.partitions, []))

    def _learn_features(self) -> None:
        """From the first block."""
        learn = getattr(self.training.features, "partial_fit", None)
        first = self.reading.peeked.first
        if learn is not None and first is not None:
            learn(first.rows)


def _refuse(request: Request) -> None:
    """What makes no sense on a cluster."""
    for given, said in (
        (request.follow, "a file that grows is followed by one machine; leave --follow out"),
        (request.cache, "workers read the files themselves; leave --cache out"),
        (request.every is not None, "a cluster saves after every epoch; leave --checkpoint-every out"),
        (request.start is not None, "a cluster begins anew, or goes on with --resume; leave --start out"),
    ):
        if given:
            raise BadInput(said)
