"""A run, from the client: epochs in which partitions are learned apart by workers, then mixed."""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from ..errors import ClusterError, OnmarginError
from ..interface.apart import Known, begun, kind_of, predict_alike
from ..interface.learner import Learner
from ..interface.parameters.draws import seed_of
from .checkpoint import Checkpoint, Keeper
from .classes import Link, fitted, learn_classes, lines_of, of_groups
from .knowing import Whole
from .library import Client, Future, Value, dask
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
from .report import Epoch, Line, Moment, Report, Sample, Sum, Tell, whole
from .summary import asked, summarise
from .tasks import Ended, Unreadable, as_done, computed_of, let_go, refuse, result_of, sent, tried
from .workers import GONE, Workers, theirs

Some = TypeVar("Some")
FORGETS = 5  # seconds that a run which is over waits for workers to let go of what they have open


class Engine:
    """A run: the mixed model, the partitions that are left, and what happened so far."""

    model: Learner
    known: Known
    job: Job
    report: Report

    def __init__(
        self, client: Client, estimator: Learner, partitions: list[Partition], on_error: str,
        tell: Tell | None, epochs: int, skip_by: str,
    ) -> None:  # fmt: skip
        self.client, self.estimator, self.partitions = client, estimator, partitions
        self.count = len(partitions)
        self.skips, self.tell, self.epochs, self.skip_by = on_error == "skip", tell, epochs, skip_by
        self.workers = Workers(client)
        self.name, self.steps = uuid.uuid4().hex[:8], 0
        self.converged = False
        self.settings: dict[str, Value] = {}
        self.computed: dict[Partition, list[Future]] = {}  # of partitions that are read on within this epoch

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
        whole = Whole()
        for part, summary in self._every(summarise, wanted):
            whole.add(part, summary)
        if self.report.skipped and not whole.seen:
            why = next(iter(self.report.skipped.values()))
            raise ClusterError(f"no partition is left that can be read; of the first: {why}")
        self.known = whole.known(self.estimator, classes)

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
        if not self.report.epochs:
            self.save(keeper)
        try:
            while len(self.report.epochs) < self.epochs and not self.converged:
                before, number = self.model, len(self.report.epochs) + 1
                line = self._epoch(number)
                self.report.epochs.append(line)
                self.converged = not line.sums.updates and predict_alike(before, self.model)
                self.save(keeper)
                self._say(number, len(self.partitions), line)
        finally:
            self._forget()

    def save(self, keeper: Keeper | None) -> None:
        """Keep what was learned so far, where it is kept."""
        if keeper is not None:
            with theirs():
                keeper.save(self.checkpoint())

    def _forget(self) -> None:
        """However a run ends, workers let go of what they have open; who is gone has let go of it."""
        if self.every and self.client.status == "running":
            with suppress(*GONE, OSError):
                self.client.sync(
                    self.client.run, forget, self.name, on_error="ignore", callback_timeout=FORGETS
                )

    def _epoch(self, number: int) -> Epoch:
        """All blocks of all partitions, mixed once, or after every so many of them."""
        began, lines, moved, first = time.perf_counter(), list[Value](), 0, 0
        left = self.partitions
        try:
            while left:
                learned = self._stretch(Stretch(number, first, self.every), left)
                lines += learned.lines
                moved += learned.moved
                ended = {line.partition for line in learned.lines if line.ended}
                left = [part for part in left if part.number not in ended and part in self.partitions]
                let_go(self.computed, self.computed.keys() - set(left))
                first += self.every or 0
        finally:
            let_go(self.computed, self.computed)
        return Epoch(number, tuple(whole(lines)), time.perf_counter() - began, moved)

    def _stretch(self, stretch: Stretch, partitions: Sequence[Partition]) -> Learned:
        """Learn and mix, unless these can no longer be read, though others were."""
        base = packed(self.model)
        learned = self._without_bad(lambda some: self._mixed(base, stretch, some), partitions)
        if learned is None:
            return Learned(None, 0.0, ())
        if learned.parcel is not None:
            self.model = unpacked(learned.parcel, base)
        return learned

    def _without_bad(
        self, call: Callable[[list[Partition]], Some], partitions: Sequence[Partition]
    ) -> Some | None:
        """What some partitions come to; where one cannot be read, once more without it. None: none can."""
        ended: dict[Partition | None, int] = {}
        while some := [part for part in partitions if part in self.partitions]:
            try:
                return call(some)
            except Ended as error:
                if error.partition in ended:
                    self._skip(error.partition, error.after(ended[error.partition]).why)
                ended[error.partition] = error.workers
            except Unreadable as error:
                self._skip(error.partition, error.why)
        if not self.partitions:
            raise ClusterError("no partition is left that can be read")
        return None

    def _mixed(self, base: Parcel, stretch: Stretch, partitions: Sequence[Partition]) -> Learned:
        """One tree on the workers: leaves learn, branches mix."""
        self.workers.check()
        if self.every:  # (each is then read on, not once)
            new = [part for part in partitions if part not in self.computed]
            self.computed |= computed_of(self.client, new)
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

    def _await(
        self, futures: list[Future], partitions: Sequence[Partition], epoch: int, each: int = 1
    ) -> None:
        """Wait for the tasks (each: of a partition), and let go of each: what is lost is made again.

        Where one has failed that is the first in their order which has: later ones may have waited for it.
        """
        of_each = [part for part in partitions for _ in range(each)]
        owners = {future.key: part for future, part in zip(futures, of_each, strict=True)}
        for done, future in enumerate(as_done(self.client, futures), 1):
            failed = [one for one in futures if one.status == "error"] if future.status == "error" else []
            one = [*failed, future][0]
            self._refuse(one, owners[one.key])
            futures.remove(one)
            if not done % each:
                self._say(epoch, done // each, None)

    def _every(self, function: Value, *arguments: Value) -> Iterator[tuple[Partition, Value]]:
        """The answers of all partitions, in their order, without those that are skipped.

        Each is fetched, and let go of, once those before it were: until then it stays on its worker. Who has
        ended workers is tried once more, alone: perhaps it was only there when another did.
        """
        found, waiting = dict[Partition, Future](), deque(self.partitions)
        turns, ended = deque([list(self.partitions)]), dict[Partition, int]()
        while turns:
            self.workers.check()
            left = turns.popleft()
            with self._computing([self._call(function, part, *arguments) for part in left]) as futures:
                owners = {future.key: part for future, part in zip(futures, left, strict=True)}
                for future in as_done(self.client, futures):
                    part = owners[future.key]
                    if not self._failed(future, part, turns, ended):
                        found[part] = future
                    while waiting and (waiting[0] in found or str(waiting[0]) in self.report.skipped):
                        part = waiting.popleft()
                        if part not in found:
                            continue
                        kept = found.pop(part)
                        try:
                            answer = result_of(kept, str(part))
                        except (
                            ClusterError
                        ):  # (it was lost with its worker since, and could not be made again)
                            if not self._failed(kept, part, turns, ended):
                                raise
                            if str(part) not in self.report.skipped:
                                waiting.appendleft(part)
                            continue
                        kept.release()
                        yield part, answer

    def _failed(
        self, future: Future, part: Partition, turns: deque[list[Partition]], ended: dict[Partition, int]
    ) -> bool:
        """Has a partition no answer? Who ended workers the first time has another turn; others are out."""
        try:
            self._refuse(future, part)
            return False
        except Ended as error:
            if part in ended:
                self._skip(part, error.after(ended[part]).why)
            else:
                ended[part] = error.workers
                turns.append([part])
        except Unreadable as error:
            self._skip(part, error.why)
        future.release()  # (what has failed is otherwise kept, and not made anew)
        return True

    def _refuse(self, future: Future, part: Partition) -> None:
        """A future that has no result; no partition is to blame for workers that joined and are others."""
        if future.status == "error":
            let_go(self.computed, [part])
            self.workers.check()
        refuse(future, part)

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
        alone = (
            step is None or part.waits
        )  # (Dask forgets one that waits for nobody but a worker that is gone)
        place = {} if alone else self.workers.near(part.number, self.count)
        waits = self.computed.get(part) or part.waits or []
        with dask.annotate(**place):
            return dask.delayed(function, pure=False)(part.alone(), waits, *arguments, dask_key_name=name)

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
            with theirs():
                self.tell(Moment(epoch, self.epochs, done, len(self.partitions), line))

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

        def found_once() -> list[Sum]:
            self.workers.check()
            with self._computing([call]) as (future,):
                found: list[Sum] = result_of(future, "the sample")
                return found

        found = tried(found_once)
        errors = tuple(sums.error(self.report.kind) for sums in found)
        self.report.sample = Sample(found[0].rounds, errors)

    # ---- classes apart

    def of_classes(self, estimator: Value) -> Value:
        """Each class against all others: chains of tasks over the partitions, a few classes to each."""
        groups = max(1, sum(self.client.nthreads().values()))
        some = of_groups(self.known, self.estimator, groups)
        self.job.seed = seed_of(self.estimator)
        links = [self._held(Link(group), f"{self.name}-{number}") for number, group in enumerate(some)]
        for epoch in range(1, self.epochs + 1):
            links = self._classes_on(links, epoch)
        learners: dict[Value, Parcel] = {}
        for link in links:
            learners |= result_of(link, "learning").learners
        return fitted(estimator, self.known, learners, self.epochs)

    def _classes_on(self, links: list[Future], epoch: int) -> list[Future]:
        """One epoch more of all chains; the links at their ends stay on the workers."""
        began = time.perf_counter()
        found = self._without_bad(lambda some: self._chained(links, some, epoch), self.partitions)
        assert found is not None, "somebody is left, or that was told"
        lines = list[Line]()
        for link in found:
            lines += result_of(self.client.submit(lines_of, link, pure=False), "learning")
        line = Epoch(epoch, tuple(whole(lines)), time.perf_counter() - began, 0)
        self.report.epochs.append(line)
        self._say(epoch, len(self.partitions), line)
        return found

    def _chained(self, links: list[Future], partitions: Sequence[Partition], epoch: int) -> list[Future]:
        """Every chain through all partitions, each as the one before it has left it."""
        self.workers.check()
        ends, calls = list[Value](links), list[Value]()
        for part in partitions:
            ends = [
                dask.delayed(learn_classes, pure=False)(part.alone(), part.waits or [], end, self.job, epoch)
                for end in ends
            ]
            calls += ends
        with self._computing(calls) as futures:
            found = futures[-len(links) :]
            self._await(futures, partitions, epoch, len(links))
            return found
