"""One pass, many models."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from ..errors import BadInput, Diverged, plain_number, require_whole, shown
from ..interface.asks import AsksForLabels
from ..interface.groups import Grouped
from ..interface.lanes import Place, sweep_in_lanes
from ..interface.learner import Learner
from ..results.sweep_result import DIVERGED, SweepResult
from .progressive import progressive


def sweep(
    model: Any, grid: Any, X: object, y: object = None, *, sample_weight: object = None,
    threads: int | None = None, verbose: int = 0,
) -> SweepResult:  # fmt: skip
    """Learn every configuration of a grid side by side in one pass; the given model is left as it is.

    grid : {parameter: values}, or a list of such dicts.
    threads : how many at once (None: one per core).
    verbose : 1 shows how far it is.

    Linear learners of two classes or of numbers (Perceptron, Passive-Aggressive, l2 FTRL, Pegasos)
    share the reading of each row: weights lie [feature][model], sixteen models to a stretch of
    memory. All others run one by one. Both use threads. Either way the result equals separate runs
    of `om.progressive` on fresh models, to rounding (1e-12; with dtype="float32", 1e-5, and the same
    predictions but where a score is within 1e-5 of the threshold).

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(2000, label_noise=0.1, seed=0)
    >>> result = om.sweep(om.PassiveAggressiveClassifier(), {"C": [0.001, 0.01, 0.1, 1, 10]}, X, y)
    >>> bool(result.best_params["C"] < 1), len(result.rows)
    (True, 5)
    """
    if not isinstance(model, Learner | AsksForLabels) or isinstance(model, Grouped):
        raise BadInput(f"got {shown(model)}; wanted a learner of this library")
    if not hasattr(X, "shape") and (y is None or (isinstance(X, list) and X and isinstance(X[0], dict))):
        raise BadInput(f"got {type(X).__name__}; wanted a table X (array, CSR matrix, frame) and y")
    if threads is not None:
        require_whole("threads", threads)
    configs = _configurations(model, grid)
    fixed = model.get_params(deep=False)
    params = [fixed | config for config in configs]
    models = [model.clone(config) for config in configs]  # (all share one entropy)
    tell = progress_bar(len(configs)) if verbose else lambda share: None
    places: dict[int, Place] = {}
    alone = list(range(len(models)))
    if isinstance(model, Learner) and len(models) > 1:
        places, alone = sweep_in_lanes(
            models, params, X, y, sample_weight, threads or os.cpu_count() or 1, tell
        )
    fresh = {number: model.clone().set_params(**configs[number]) for number in alone}
    runs = _in_threads(fresh, X, y, sample_weight, threads, tell)
    kind = model.kind
    lines = [
        places[number][0].line(places[number][1]) if number in places else runs[number]
        for number in range(len(models))
    ]

    def make(number: int) -> Any:
        if number in places:
            group, lane = places[number]
            return group.model(lane, configs[number])
        return fresh[number]

    return SweepResult(configs, lines, make, kind, len(places))


def _configurations(model: Any, grid: Any) -> list[dict[str, Any]]:
    """The grid spelled out; unknown names and empty lists are refused."""
    grids = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(grids, list | tuple) or not grids or not all(isinstance(g, Mapping) for g in grids):
        raise BadInput(
            f"grid={shown(grid)}; wanted a dict of parameters and their values, or a list of such dicts"
        )
    known = sorted(model.get_params(deep=False))
    for name, values in (pair for g in grids for pair in g.items()):
        if name not in known:
            raise BadInput(
                f"{type(model).__name__} has no parameter {shown(name)}; the grid may have {', '.join(known)}"
            )
        if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
            raise BadInput(f"grid[{shown(name)}]={shown(values)}; wanted a list of at least one value")
    spelled = [{name: list(map(plain_number, values)) for name, values in g.items()} for g in grids]
    return [dict(config) for config in ParameterGrid(spelled)]


def _in_threads(
    fresh: dict[int, Any],
    X: object,
    y: object,
    sample_weight: object,
    threads: int | None,
    tell: Callable[[float], None],
) -> dict[int, dict[str, Any]]:
    """One run after the other for each thread; compiled loops leave the interpreter free."""
    if not fresh:
        return {}
    labels = next(iter(fresh.values())).kind == "labels"

    def run(number: int) -> dict[str, Any]:
        trace = "sums" if labels else "full"
        try:
            done = progressive(fresh[number], X, y, sample_weight=sample_weight, trace=trace)
        except Diverged:  # out of the race
            return dict(DIVERGED)
        gap = np.nan
        if not labels and y is not None:
            seen = np.asarray(done.counted, bool)
            gap = float(np.mean(np.abs(np.asarray(y, float).ravel() - done.predictions)[seen]))
        return {
            "rounds": done.rounds, "mistakes": done.mistakes, "updates": done.updates,
            "error_rate": done.error_rate, "mean_loss": done.totals.loss / max(done.rounds, 1), "mae": gap,
        }  # fmt: skip

    lines: dict[int, dict[str, Any]] = {}
    numbers = list(fresh)
    lines[numbers[0]] = run(numbers[0])  # the first compiles for all
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for number, line in zip(numbers[1:], pool.map(run, numbers[1:]), strict=True):
            lines[number] = line
            tell(len(lines) / len(numbers))
    return lines


def progress_bar(count: int) -> Callable[[float], None]:
    """A bar on the standard error, as a function of the share that is done."""

    def tell(share: float) -> None:
        done = round(30 * share)
        end = "\n" if share >= 1 else ""
        sys.stderr.write(f"\r{count} models  [{'#' * done}{'.' * (30 - done)}] {share:4.0%}{end}")
        sys.stderr.flush()

    return tell
