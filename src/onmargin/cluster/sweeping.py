"""A sweep whose configurations are spread over workers, each of which reads all of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, ClusterError, OnmarginError
from ..interface.learner import Learner
from ..protocols.sweep import configurations, judge_of
from ..protocols.sweep import sweep as sweep_here
from ..results.sweep_result import SweepResult
from ..sources.blocks import ROWS, Block, height, joined
from .checkpoint import behind
from .knowing import refuse_other
from .library import Client, Future, Value, dask
from .mixing import after, named
from .partitions import Examples, Partition, Reader, features_of, partitions_of
from .summary import Summary, outlined
from .tasks import computed_of, let_go, refuse, result_of, sent, tried
from .workers import Workers, client_of, scheduler_lost

NUMBER = re.compile(r"\brow (\d+)\b")  # what an error of a row calls it
TOGETHER = 8  # configurations that share one reading; not as many as there are workers: sums keep their order

Config = dict[str, Value]


def sweep(
    model: Value, grid: Value, data: Value, *, client: Value = None, target: Value = None,
    scored_by: str = "running", scoring: Value = None, **options: Value,
) -> SweepResult:  # fmt: skip
    """`om.sweep` on workers: every configuration learns all of the data, in the order of its partitions.

    data and options are those of `om.cluster.run`. What is spread is the grid, a few configurations to a
    task, which reads all of the data into memory. The learners stay on the workers until they are asked
    for (`SweepResult.model`, `best_model`); those of raw files come behind their features, as from `run`.
    """
    configs = configurations(model, grid)
    judge = judge_of(scoring, getattr(getattr(model, "steps", [[model]])[-1][-1], "kind", "labels"), configs)
    client = client_of(client)
    with scheduler_lost("sweep anew", client):
        parts = partitions_of(data, target, options)
        how = {"scored_by": scored_by, "scoring": scoring}
        done, found = tried(lambda: _spread(client, parts, model, configs, target, how))

    def make(number: int) -> Value:
        if client.status in ("closing", "closed"):
            raise ClusterError(
                "the client that holds this sweep's learners is closed; sweep anew, and ask for them before"
            )
        with scheduler_lost("sweep anew", client):
            asked = client.submit(_model, done[number // TOGETHER], number % TOGETHER, pure=False)
            found = result_of(asked, "the sweep")
        return behind(features_of(parts), found)

    lines = [line for rows, _, _ in found for line in rows]
    return SweepResult(configs, lines, make, found[0][1], sum(lanes for *_, lanes in found), judge)


def _spread(
    client: Client, parts: Sequence[Partition], model: Value, configs: list[Config], target: Value,
    how: Config,
) -> tuple[list[Future], list[tuple[Value, ...]]]:  # fmt: skip
    """A task for every few configurations, and what each came to; partitions are computed once for all."""
    Workers(client).check()  # (a round trip: what a try before this one has released is gone then)
    data = computed_of(client, parts)
    alone = [part.alone() for part in parts]
    kept = dask.delayed(model, pure=False, traverse=False)
    groups = [configs[at : at + TOGETHER] for at in range(0, len(configs), TOGETHER)]
    computed = [data.get(part, []) for part in parts]
    calls = [dask.delayed(_swept, pure=False)(alone, computed, kept, group, target, how) for group in groups]
    done: list[Future] = []
    asked: list[Future] = []
    try:
        done += sent(client, calls)
        asked += [client.submit(_lines, one, pure=False) for one in done]
        return done, [result_of(one, "the sweep") for one in asked]
    except BaseException as error:
        for future in (*asked, *done):  # (or Dask would keep what has failed, and not try it again)
            future.release()
        if isinstance(error, OnmarginError):
            for part, futures in data.items():  # (a sweep waits for all of them at once)
                for future in futures:
                    refuse(future, part)
        raise
    finally:
        let_go(data, data)


def _swept(
    parts: Sequence[Partition],
    computed: Sequence[Value],
    model: Value,
    configs: list[Config],
    target: Value,
    how: Config,
) -> tuple[Value, str, int, list[Value]]:
    """On a worker: some configurations on all of the data."""
    blocks: list[Value] = []
    kind = model.kind if isinstance(model, Learner) else ""  # (a Pipeline takes what its first step does)
    first: tuple[Partition, Summary] | None = None
    ends: dict[int, Partition] = {}  # rows up to the end of each
    for part, found in zip(parts, computed, strict=True):
        with named(part):
            read = [block for block in map(_told, Reader(part, found, ROWS, target)) if _size(block)]
            seen = [summary for summary in _outlines(read, kind) if summary.rows]
        for summary in seen:
            first = first or (part, summary)
            refuse_other(part, summary, *first)
        blocks += read
        if read:
            ends[max(ends, default=0) + sum(map(_size, read))] = part
    if not blocks:
        raise BadInput("no partition holds an example")
    if len({block.weights is None for block in blocks if not isinstance(block, list)}) > 1:
        blocks = [block if block.weights is not None else _weighed(block) for block in blocks]
    if len({sp.issparse(block.rows) for block in blocks if not isinstance(block, list)}) > 1:
        blocks = [block._replace(rows=sp.csr_matrix(block.rows)) for block in blocks]
    grids = [{name: [value] for name, value in config.items()} for config in configs]
    if blocks and isinstance(blocks[0], list):
        done = sweep_here(model, grids, [pair for some in blocks for pair in some], threads=1, **how)
    else:
        whole = joined(blocks)
        with _named_by_row(ends):
            done = sweep_here(
                model, grids, whole.rows, whole.targets, sample_weight=whole.weights, threads=1, **how
            )
    return done.rows, done.kind, done.in_lanes, [done.model(number) for number in range(len(done.rows))]


def _outlines(blocks: Sequence[Examples], kind: str) -> Iterator[Summary]:
    """Of each block of a partition."""
    for place, block in enumerate(blocks):
        with after(place * ROWS):
            yield outlined(block, kind)


@contextmanager
def _named_by_row(ends: dict[int, Partition]) -> Iterator[None]:
    """An error of a row of all says of which partition it is, and calls it by its number there."""
    try:
        yield
    except OnmarginError as error:
        said, begin = str(error), 0
        found = NUMBER.search(said)
        for end, part in ends.items():
            if found is not None and int(found[1]) < end:
                own = f"{said[: found.start(1)]}{int(found[1]) - begin}{said[found.end(1) :]}"
                raise ClusterError(f"{part}: {own}") from None
            begin = end
        raise


def _size(block: Examples) -> int:
    return len(block) if isinstance(block, list) else height(block.rows)


def _weighed(block: Block) -> Block:
    """A block beside others that have weights: its rows weigh 1."""
    return block._replace(weights=np.ones(height(block.rows)))


def _told(block: Examples) -> Examples:
    """A block that has labels."""
    if not isinstance(block, list) and block.targets is None:
        raise BadInput("it has no labels; wanted one a row")
    return block


def _lines(done: tuple[Value, ...]) -> tuple[Value, ...]:
    return done[:3]


def _model(done: tuple[Value, ...], number: int) -> Value:
    return done[3][number]
