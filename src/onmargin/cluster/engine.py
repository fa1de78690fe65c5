"""A run, from the client: epochs in which partitions are learned apart by workers, then mixed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import NamedTuple

from ..errors import BadInput, ClusterError, OnmarginError
from ..interface.apart import Known, begun, kind_of, predict_alike
from ..interface.learner import Learner
from ..interface.parameters.draws import seed_of
from .checkpoint import Checkpoint, Keeper
from .classes import fitted, learn_classes, of_groups
from .knowing import known_of
from .library import Client, Future, Value, dask, distributed
from .mixing import (
    Job,
    Learned,
    Stretch,
    forget,
    head,
    hold,
    in_sequence,
    in_tree,
    learn,
    mix,
    one_line,
)
from .parcel import Parcel, packed, unpacked
from .partitions import Partition
from .report import Epoch, Line, Report, Sample
from .summary import asked, summarise
from .workers import GONE, Workers


class Moment(NamedTuple):
    """How far a run is: partitions done of those of this epoch; `line` once an epoch is over."""

    epoch: int
    epochs: int
    done: int
    partitions: int
    line: Epoch | None = None


Tell = Callable[[Moment], None]


class Engine:
    """A run: the mixed model, the partitions that are left, and what happened so far."""

    model: Learner
    known: Known
    job: Job
    report: Report

    def __init__(
        self, client: Client, estimator: Learner, partitions: list[Partition], on_error: str,
        tell: Tell | None, epochs: int, hint: str, skip_by: str,
    ) -> None:  # fmt: skip
        self.client, self.estimator, self.partitions = client, estimator, partitions
        self.count = len(partitions)
        self.skips, self.tell, self.epochs, self.hint = on_error == "skip", tell, epochs, hint
        self.skip_by = skip_by
        self.workers = Workers(client)
        self.name, self.steps = uuid.uuid4().hex[:8], 0
        self.converged = False
        self.settings: dict[str, Value] = {}

    # ---- before the first epoch

    def begin(self, settings: dict[str, Value], target: Value, classes: Value) -> None:
        """Look at all partitions, and begin with what is the same for all."""
        self.look(settings, target, classes)
        self.model = begun(self.estimator, self.known)
        self.job.seed = seed_of(self.model)

    def look(self, settings: dict[str, Value], target: Value, classes: Value) -> None:
        """A first pass: what is known of all partitions."""
        self.report = Report(
            kind_of(self.estimator), [str(part) for part in self.partitions], settings["mixing"]
        )
        self._set(settings, target)
        wanted = asked(self.estimator, classes, settings["rows"], target)
        found = self._every(summarise, wanted)
        if self.report.skipped and not any(summary.rows for _, summary in found):
            why = next(iter(self.report.skipped.values()))
            raise ClusterError(f"no partition is left that can be read; of the first: {why}")
        self.known = known_of(found, self.estimator, classes)

    def take(self, point: Checkpoint, settings: dict[str, Value], target: Value) -> None:
        """Go on from a file."""
        self.report, self.model, self.converged = point.report, point.model, point.converged
        self.known = point.known
        self._set(settings, target)
        self.job.seed = seed_of(self.model)
        self.partitions = [part for part in self.partitions if str(part) not in self.report.skipped]
        if not self.partitions:
            raise ClusterError("no partition is left that can be read")

    def _set(self, settings: dict[str, Value], target: Value) -> None:
        self.settings, self.every = settings, settings["mix_every"]
        self.job = Job(self.name, settings["mixing"], settings["rows"], target, settings["shuffle"], 0)
        self.workers.check()

    def checkpoint(self) -> Checkpoint:
        """All that a file must hold."""
        return Checkpoint(self.model, self.known, self.settings, self.report, self.converged)

    # ---- epochs

    def run(self, keeper: Keeper | None) -> None:
        """Epochs until there were enough, or one changed nothing; each ends with a file."""
        if keeper is not None and not self.report.epochs:
            keeper.save(self.checkpoint())
        while len(self.report.epochs) < self.epochs and not self.converged:
            before, number = self.model, len(self.report.epochs) + 1
            line = self._epoch(number)
            self.report.epochs.append(line)
            self.converged = not line.sums.updates and predict_alike(before, self.model)
            if keeper is not None:
                keeper.save(self.checkpoint())
            self._say(number, len(self.partitions), line)
        if self.every:
            self.client.run(forget, self.name, on_error="ignore")

    def _epoch(self, number: int) -> Epoch:
        """All blocks of all partitions, mixed once, or after every so many of them."""
        began, lines, moved, first = time.perf_counter(), list[Value](), 0, 0
        left = self.partitions
        while left:
            learned = self._stretch(Stretch(number, first, self.every), left)
            lines += learned.lines
            moved += learned.moved
            ended = {line.partition for line in learned.lines if line.ended}
            left = [part for part in left if part.number not in ended and part in self.partitions]
            first += self.every or 0
        return Epoch(number, tuple(_whole(lines)), time.perf_counter() - began, moved)

    def _stretch(self, stretch: Stretch, partitions: Sequence[Partition]) -> Learned:
        """Learn and mix; where a partition cannot be read, once more without it."""
        base, again = packed(self.model), list[Partition | None]()
        while True:
            some = [part for part in partitions if part in self.partitions]
            if not some:
                raise ClusterError("no partition is left that can be read")
            try:
                learned = self._mixed(base, stretch, some)
                break
            except Ended as error:
                if error.partition in again:
                    self._skip(error.partition, error.why)
                again.append(error.partition)
            except Unreadable as error:
                self._skip(error.partition, error.why)
        if learned.parcel is not None:
            self.model = unpacked(learned.parcel, base)
        return learned

    def _mixed(self, base: Parcel, stretch: Stretch, partitions: Sequence[Partition]) -> Learned:
        """One tree on the workers: leaves learn, branches mix."""
        self.workers.check()
        self.steps += 1
        step = f"{self.name}-{self.steps}"
        held = self._held(base, step)
        leaves = [self._call(learn, part, held, self.job, stretch, step=step) for part in partitions]
        layer = leaves
        for depth, groups in enumerate(in_tree(len(leaves))):
            layer = [
                dask.delayed(mix, pure=False)(
                    held, [layer[i] for i in group], dask_key_name=f"onmargin-mix-{step}-{depth}-{place}"
                )
                for place, group in enumerate(groups)
            ]
        with self._computing([layer[0], *leaves]) as futures:
            root = futures.pop(0)
            self._await(futures, partitions, stretch.epoch)
            found: Learned = result_of(root, "mixing")
            return found

    def _await(self, futures: list[Future], partitions: Sequence[Partition], epoch: int) -> None:
        """Wait for all leaves, and let go of each: what is lost with a worker is learned again by another."""
        owners = {future.key: part for future, part in zip(futures, partitions, strict=True)}
        waiting, done = distributed.as_completed(futures, loop=self.client.loop, raise_errors=False), 0
        for future in waiting:
            self._refuse(future, owners[future.key])
            futures.remove(future)
            done += 1
            self._say(epoch, done, None)

    def _every(self, function: Value, *arguments: Value) -> list[tuple[Partition, Value]]:
        """The answers of all partitions, in their order, without those that are skipped."""
        found: dict[int, Value] = {}
        left, ended = self.partitions, list[Partition]()
        while left:
            again: list[Partition] = []
            with self._computing([self._call(function, part, *arguments) for part in left]) as futures:
                owners = {future.key: part for future, part in zip(futures, left, strict=True)}
                for future in distributed.as_completed(futures, loop=self.client.loop, raise_errors=False):
                    part = owners[future.key]
                    try:
                        self._refuse(future, part)
                        found[part.number] = future.result()
                    except Unreadable as error:
                        if isinstance(error, Ended) and part not in ended:
                            again.append(part)
                        else:
                            self._skip(part, error.why)
            left = again
            ended += again
        return [(part, found[part.number]) for part in self.partitions if part.number in found]

    def _refuse(self, future: Future, part: Partition) -> None:
        """A future that has no result: the scheduler is gone, or the partition cannot be read."""
        if future.status == "cancelled":  # ("lost" is what went with a worker: it is made again)
            raise self.workers.cancelled(self.hint)
        if future.status == "error":
            error = future.exception()
            said = str(error) if isinstance(error, ClusterError) else f"{part}: {_reason(error)}"
            kind = Ended if isinstance(error, distributed.KilledWorker) else Unreadable
            raise kind(part, one_line(said))

    def _skip(self, part: Partition | None, why: str) -> None:
        if part is None:
            raise ClusterError(why) from None
        if not self.skips:
            raise ClusterError(f"{why}; mend it, or leave it out with {self.skip_by}") from None
        self.partitions = [other for other in self.partitions if other is not part]
        names, found = self.report.partitions, {**self.report.skipped, str(part): why}
        self.report.skipped = {name: found[name] for name in names if name in found}  # (in their order)

    def _call(self, function: Value, part: Partition, *arguments: Value, step: str | None = None) -> Value:
        """A task on a partition, which waits for what is computed for it."""
        self.steps += step is None
        name = f"onmargin-{function.__name__}-{step or f'{self.name}-{self.steps}'}-{part.number}"
        place = {} if part.waits else self.workers.near(part.number, self.count)
        with dask.annotate(**place):
            return dask.delayed(function, pure=False)(
                part.alone(), part.waits or [], *arguments, dask_key_name=name
            )

    def _held(self, model: Value, step: str) -> Future:
        """What all begin with, on the workers; where it is lost with one, the scheduler has it made again."""
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
            return self.client.submit(hold, model, key=f"onmargin-model-{step}", pure=False)

    @contextmanager
    def _computing(self, calls: Sequence[Value]) -> Iterator[list[Future]]:
        """Futures of tasks; whatever stops the client (Ctrl-C, too) lets the workers stop as well."""
        futures = sent(self.client, calls)
        kept = list(futures)[:1]
        try:
            yield futures
        except BaseException:
            # (To cancel a task that others wait for, which nobody asked for, ends Dask's connection.)
            for future in kept + futures:
                future.release()
            raise

    def _say(self, epoch: int, done: int, line: Epoch | None) -> None:
        if self.tell is not None:
            self.tell(Moment(epoch, self.epochs, done, len(self.partitions), line))

    def _tried(self, calls: list[Value], what: str) -> list[Value]:
        """Their results; once more where Dask gave one up."""
        try:
            with self._computing(calls) as futures:
                return [result_of(future, what) for future in futures]
        except Ended:
            pass
        try:
            with self._computing(calls) as futures:
                return [result_of(future, what) for future in futures]
        except Ended as error:
            raise ClusterError(error.why) from None

    # ---- the price

    def compare(self, rows: int) -> None:
        """What one learner reaches on a sample, in as many epochs; no error undoes the run, which is over."""
        try:
            self._compare(rows)
        except (OnmarginError, *GONE) as error:
            self.report.unsampled = one_line(error)

    def _compare(self, rows: int) -> None:
        """It is begun as this run was."""
        each = max(1, -(-rows // len(self.partitions)))
        fresh = self._held(packed(begun(self.estimator, self.known)), f"{self.name}-0")
        heads = [self._call(head, part, self.job, each) for part in self.partitions]
        call = dask.delayed(in_sequence, pure=False)(
            fresh, heads, self.job, len(self.report.epochs), dask_key_name=f"onmargin-sequence-{self.name}"
        )
        (found,) = self._tried([call], "the sample")
        errors = tuple(sums.error(self.report.kind) for sums in found)
        self.report.sample = Sample(found[0].rounds, errors)

    # ---- classes apart

    def of_classes(self, estimator: Value) -> Value:
        """Each class against all others: chains of tasks over the partitions, a few classes to each."""
        groups = max(1, sum(self.client.nthreads().values()))
        some = of_groups(self.known, self.estimator, groups)
        self.job.seed = seed_of(self.estimator)
        links: list[Value] = [self._held(group, f"{self.name}-{number}") for number, group in enumerate(some)]
        for epoch in range(1, self.epochs + 1):
            for part in self.partitions:
                links = [
                    dask.delayed(learn_classes, pure=False)(
                        part.alone(), part.waits or [], link, self.job, epoch
                    )
                    for link in links
                ]
        learners: dict[Value, Parcel] = {}
        for some_of_them in self._tried(links, "learning"):
            learners |= some_of_them
        return fitted(estimator, self.known, learners, self.epochs)


class Unreadable(Exception):
    """A partition without a result; None: none of them, but the mixing."""

    def __init__(self, partition: Partition | None, why: str) -> None:
        super().__init__(why)
        self.partition, self.why = partition, why


class Ended(Unreadable):
    """As many workers ended while they had it as Dask allows (3, unless told), perhaps not by its fault.

    So it is tried once more: a row of kills in one epoch costs time; what ends every worker is told.
    """


def sent(client: Client, calls: Sequence[Value]) -> list[Future]:
    """Futures of tasks; what no other process can be given is refused in one line."""
    try:
        return list(client.compute(list(calls)))
    except TypeError as error:
        why: BaseException | None = error
        while why is not None and "pickle" not in str(why):  # (Dask raises others around it)
            why = why.__cause__ or why.__context__
        raise BadInput(
            f"the data cannot be sent to workers ({one_line(why or error)}); wanted what can be pickled: "
            "make it in the task that needs it"
        ) from None


def _whole(lines: Sequence[Line]) -> list[Line]:
    """A line for each partition and worker, in the order of partitions: those of stretches added up."""
    found: dict[tuple[int, str], Line] = {}
    for line in sorted(lines, key=lambda line: line.partition):
        key = line.partition, line.worker
        found[key] = found[key].plus(line) if key in found else line
    return list(found.values())


def result_of(future: Future, what: str) -> Value:
    """What a task came to; an error of ours is as it was, any other is one line that says of what it is."""
    try:
        return future.result()
    except (OnmarginError, CancelledError):
        raise
    except distributed.KilledWorker as error:
        raise Ended(None, f"{what} failed: {_reason(error)}") from None
    except Exception as error:
        raise ClusterError(f"{what} failed: {_reason(error)}") from None


def _reason(error: BaseException | None) -> str:
    if isinstance(error, distributed.KilledWorker):
        times = 2 * (error.allowed_failures + 1)  # (it was tried again)
        return f"it has ended {times} workers, one after the other (out of memory?)"
    return f"{type(error).__name__}: {one_line(error)}"
