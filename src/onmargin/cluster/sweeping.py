"""A sweep whose configurations are spread over workers, each of which reads all of the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, ClusterError
from ..protocols.sweep import configurations, judge_of
from ..protocols.sweep import sweep as sweep_here
from ..results.sweep_result import SweepResult
from ..sources.blocks import Block, height, joined
from .checkpoint import behind
from .engine import result_of, sent
from .library import Client, Value, dask
from .mixing import named
from .partitions import Examples, Partition, Reader, features_of, partitions_of
from .workers import Workers, client_of, scheduler_lost

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
    with scheduler_lost("sweep anew"):
        parts = partitions_of(data, target, options)
        Workers(client).check()
        done = _spread(client, parts, model, configs, target, {"scored_by": scored_by, "scoring": scoring})
        lines: list[Value] = []
        kind, in_lanes = "labels", 0
        try:
            for future in done:
                rows, kind, lanes = result_of(client.submit(_lines, future, pure=False), "the sweep")
                lines, in_lanes = lines + rows, in_lanes + lanes
        except ClusterError:
            _blame(client, parts)
            raise

    def make(number: int) -> Value:
        with scheduler_lost("sweep anew"):
            asked = client.submit(_model, done[number // TOGETHER], number % TOGETHER, pure=False)
            found = result_of(asked, "the sweep")
        return behind(features_of(parts), found)

    return SweepResult(configs, lines, make, kind, in_lanes, judge)


def _spread(
    client: Client,
    parts: Sequence[Partition],
    model: Value,
    configs: list[Config],
    target: Value,
    how: Config,
) -> list[Value]:
    """A task for every few configurations; a computed partition is computed once for all of them."""
    computed = [part.waits or [] for part in parts]
    alone = [part.alone() for part in parts]
    kept = dask.delayed(model, pure=False, traverse=False)
    groups = [configs[at : at + TOGETHER] for at in range(0, len(configs), TOGETHER)]
    calls = [dask.delayed(_swept, pure=False)(alone, computed, kept, group, target, how) for group in groups]
    return sent(client, calls)


def _blame(client: Client, parts: Sequence[Partition]) -> None:
    """Name the partition that cannot be computed, if it is that: a sweep waits for all of them at once."""
    for part in parts:
        for future in client.compute(part.waits or []):
            with named(part):
                future.result()


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
    for part, found in zip(parts, computed, strict=True):
        with named(part):
            blocks += map(_told, Reader(part, found, 8192, target))
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
        done = sweep_here(
            model, grids, whole.rows, whole.targets, sample_weight=whole.weights, threads=1, **how
        )
    return done.rows, done.kind, done.in_lanes, [done.model(number) for number in range(len(done.rows))]


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
