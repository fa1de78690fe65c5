"""What workers do: learn a partition from the mixed model, and make one model of several."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

import numpy as np

from .. import __version__
from ..errors import BadInput, ClusterError, NoFile, OnmarginError
from ..interface.apart import kind_of
from ..interface.learner import Learner
from ..protocols.merge import merge
from ..protocols.progressive import progressive
from ..results.progress import Progress
from ..results.tally import Tally
from ..sources.blocks import Block, height
from .library import Value, distributed
from .parcel import Parcel, packed, unpacked
from .partitions import Examples, Partition, Reader, widened
from .report import Line, Sum
from .workers import require_version

FAN = 4  # models that become one in a step of the tree


class Job:
    """What is the same for all partitions of a run."""

    def __init__(self, name: str, mixing: str, rows: int, target: Value, shuffle: bool, seed: int) -> None:
        self.name, self.mixing, self.rows, self.target = name, mixing, rows, target
        self.shuffle, self.seed = shuffle, seed
        self.version = __version__

    def check(self) -> None:
        """On a worker, which may have joined after all were asked: has it the version of the client?"""
        require_version("worker", _address(), __version__, self.version)


class Stretch(NamedTuple):
    """Which blocks of every partition are learned before the next mixing; None: all there are."""

    epoch: int
    first: int = 0
    blocks: int | None = None


class Learned(NamedTuple):
    """A model as it differs from the one all began with (None: nothing was seen), and how it came about."""

    parcel: Parcel | None
    share: float
    lines: tuple[Line, ...]
    moved: int = 0  # bytes of models that went into it


@contextmanager
def named(partition: Partition) -> Iterator[None]:
    """Whatever goes wrong with a partition names it, in one line that any client can read."""
    try:
        yield
    except NoFile as error:  # (another may have it)
        raise ClusterError(f"{partition}, on worker {name_of_worker()}: {error}") from None
    except OnmarginError as error:
        raise ClusterError(f"{partition}: {error}") from None
    except Exception as error:
        raise ClusterError(f"{partition}: {type(error).__name__}: {one_line(error)}") from None


@contextmanager
def after(rows: int) -> Iterator[None]:
    """Around a block of a partition: its rows count from 0, so an error says how many come before them."""
    try:
        yield
    except OnmarginError as error:
        if not rows:
            raise
        raise BadInput(f"after {rows:,} rows: {error}") from None


# Partitions that are read on, block by block, in the process of a worker; one that is not here (another
# worker had it, or it was killed) is read from its beginning again.
_OPEN: dict[tuple[str, int, int], Reader] = {}
_OVER: deque[str] = deque(maxlen=1000)  # runs whose last tasks may still be at work, and leave nothing open
FILES = distributed.utils.get_fileno_limit()  # (-1: as many as you like)
MOST_OPEN = (FILES if FILES > 0 else 2**20) // 2  # that a worker keeps: each may hold a file


def hold(parcel: Parcel) -> Parcel:
    """The mixed model where workers can fetch it; the scheduler keeps how to make it again."""
    return parcel


def learn(
    partition: Partition, computed: Sequence[Value], base: Parcel, job: Job, stretch: Stretch
) -> Learned:
    """One partition's blocks, each answered before it is learned, from the model that all begin with."""
    began = time.perf_counter()
    job.check()
    with named(partition):
        reader = _reader(partition, computed, job, stretch)
        learner = unpacked(base)
        sums = learn_blocks(learner, islice(reader, stretch.blocks), job, stretch, partition.number)
    read = reader.blocks_read - stretch.first
    ended = stretch.blocks is None or read < stretch.blocks
    if not ended:
        _leave_open((job.name, stretch.epoch, partition.number), reader)
    line = Line(
        partition.number, partition.name, name_of_worker(), sums.rounds, sums.mistakes, sums.updates,
        sums.loss, time.perf_counter() - began, read, ended, sums.gap, sums.idle, sums.level,
    )  # fmt: skip
    if not sums.rounds:
        return Learned(None, 0.0, (line,))
    share = {"uniform": 1.0, "updates": float(sums.updates), "examples": float(sums.rounds)}[job.mixing]
    return Learned(packed(learner, base), share, (line,))


def learn_blocks(
    learner: Learner, blocks: Iterable[Examples], job: Job, stretch: Stretch, number: int
) -> Sum:
    """Answer and learn blocks; rows of a block are shuffled by seed, epoch, partition and block alone."""
    sums, numbers = Sum(), kind_of(learner) == "numbers"
    tally = Tally()
    for place, block in enumerate(blocks, stretch.first):
        with after(place * job.rows):
            try:
                some = shuffled(block, job, stretch.epoch, number, place) if job.shuffle else block
                run = _learn_block(learner, some, numbers)
            except OnmarginError:
                if job.shuffle:  # (in its order, so that a bad row has its own number)
                    _learn_block(learner, block, numbers)
                raise
        if run is None:
            continue
        sums = sums.plus(Sum(run.rounds, run.mistakes, run.updates, run.totals.loss))
        if numbers:
            tally.add(run)
    return sums._replace(gap=tally.total, idle=tally.idle, level=tally.level)


def _learn_block(learner: Learner, block: Examples, numbers: bool) -> Progress | None:
    """Answer and learn its examples; None: there is none."""
    trace = "full" if numbers else "sums"
    if isinstance(block, list):
        some = [example for example in block if len(example) < 3 or example[2] > 0]  # others are no round
        return progressive(learner, some, trace=trace) if some else None
    if not height(block.rows):
        return None
    block = widened(block, learner.n_features_in_)
    return progressive(learner, block.rows, block.targets, sample_weight=block.weights, trace=trace)


def shuffled(block: Examples, job: Job, epoch: int, number: int, place: int) -> Examples:
    """The examples of a block in another order, which nothing but these numbers decides."""
    count = len(block) if isinstance(block, list) else height(block.rows)
    order = np.random.default_rng([job.seed, epoch, number, place]).permutation(count)
    if isinstance(block, list):
        return [block[i] for i in order]
    return Block(*(None if part is None else _taken(part, order) for part in block))


def _taken(part: Value, order: np.ndarray) -> Value:
    if isinstance(part, list):
        return [part[i] for i in order]
    return part.iloc[order] if hasattr(part, "iloc") else part[order]


def mix(base: Parcel, several: Sequence[Learned]) -> Learned:
    """Models as one, in the order given; those that have seen nothing have no say.

    Where nobody has a share (no partition was updated) all have the same.
    """
    lines = tuple(line for learned in several for line in learned.lines)
    moved = sum(learned.moved for learned in several)
    some = [learned for learned in several if learned.parcel is not None]
    if not some:
        return Learned(None, 0.0, lines, moved)
    shares = [learned.share for learned in some]
    total = sum(shares)
    models = [unpacked(learned.parcel, base) for learned in some if learned.parcel is not None]
    mixed = merge(models, shares if total else None, rounds="mean")
    moved += sum(learned.parcel.size for learned in some if learned.parcel is not None)
    return Learned(packed(mixed, base), total, lines, moved)


def in_tree(count: int) -> Iterator[list[list[int]]]:
    """The steps of a reduction of so many: which of the last step's become one. The count alone decides.

    >>> list(in_tree(6))
    [[[0, 1, 2, 3], [4, 5]], [[0, 1]]]
    """
    while count > 1:
        step = [list(range(at, min(at + FAN, count))) for at in range(0, count, FAN)]
        yield step
        count = len(step)


def head(partition: Partition, computed: Sequence[Value], job: Job, rows: int) -> list[Examples]:
    """The first rows of a partition."""
    with named(partition):
        reader = Reader(partition, computed, min(job.rows, rows), job.target)
        return list(islice(reader, -(-rows // min(job.rows, rows))))


def in_sequence(base: Parcel, heads: Sequence[list[Examples]], job: Job, epochs: int) -> list[Sum]:
    """What one learner comes to on some rows of all partitions, epoch by epoch."""
    learner, found = unpacked(base), []
    for epoch in range(1, epochs + 1):
        sums = Sum()
        for number, blocks in enumerate(heads):
            sums = sums.plus(learn_blocks(learner, blocks, job, Stretch(epoch), number))
        found.append(sums)
    return found


def _leave_open(key: tuple[str, int, int], reader: Reader) -> None:
    """For the next stretch; what another worker went on with meanwhile, or nobody, is let go of.

    Where there is no room, other runs make it, and then this one is not kept: all take their turn, and to let
    go of who was first would be to begin each of them anew.
    """
    job, epoch, _ = key
    for other in list(_OPEN):
        if (other[0] == job and other[1] < epoch) or (other[0] != job and len(_OPEN) >= MOST_OPEN):
            _OPEN.pop(other, None)
    if len(_OPEN) < MOST_OPEN:
        _OPEN[key] = reader
    if job in _OVER:
        _OPEN.pop(key, None)


def forget(job: str) -> None:
    """On a worker: this run is over."""
    _OVER.append(job)
    for key in [key for key in list(_OPEN) if key[0] == job]:
        _OPEN.pop(key, None)


def _reader(partition: Partition, computed: Sequence[Value], job: Job, stretch: Stretch) -> Reader:
    """The partition at the first block of the stretch."""
    reader = _OPEN.pop((job.name, stretch.epoch, partition.number), None)
    if reader is None or reader.blocks_read != stretch.first:
        reader = Reader(partition, computed, job.rows, job.target).skip(stretch.first)
    return reader


def name_of_worker() -> str:
    """Of this process, where it is one."""
    try:
        return str(distributed.get_worker().name)
    except ValueError:
        return ""


def _address() -> str:
    try:
        return str(distributed.get_worker().address)
    except ValueError:
        return "here"


def one_line(error: object) -> str:
    """What an error says, on one line."""
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else f"{text[:300]} ..."


def require_mixing(mixing: str) -> None:
    """Refuse all but the three there are."""
    if mixing not in ("uniform", "updates", "examples"):
        raise BadInput(f"mixing={mixing!r}; wanted 'uniform', 'updates' or 'examples'")
