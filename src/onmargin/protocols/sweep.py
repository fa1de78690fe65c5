"""One pass, many models."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator
from sklearn.base import clone as copy_of
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from ..errors import BadInput, Diverged, plain_number, require_whole, shown
from ..interface.feedback.asks import AsksForLabels
from ..interface.groups import Grouped
from ..interface.learner import Learner
from ..interface.runs.lanes import Place, sweep_in_lanes
from ..interface.tables import refuse_dask
from ..results.progress import Progress
from ..results.scoring import Scoring, scoring_of
from ..results.sweep_result import COLUMNS, DIVERGED, Line, SweepResult
from ..sources.blocks import Source
from .progressive import average_of, judged_by_average, progressive, require_scored_by

Config = dict[str, object]
Tell = Callable[[float], None]
Sweepable = Learner | AsksForLabels


def sweep(
    model: object, grid: object, X: object, y: object = None, *, qid: object = None,
    sample_weight: object = None, scored_by: str = "running", scoring: object = None,
    threads: int | None = None, verbose: int = 0,
) -> SweepResult:  # fmt: skip
    """Learn every configuration of a grid side by side in one pass; the given model is left as it is.

    model : a learner, one around another (`estimator__C`), or a scikit-learn Pipeline that ends in one
        (`step__C`; the steps before it are fitted on X first, once for each of their own configurations).
    grid : {parameter: values}, or a list of such dicts.
    X, y : a table and its targets; or X alone, an iterable of (x, y) or (x, y, weight) with dicts x, which
        is read once and kept, as is a source (`om.sources`). Rankers: `qid`, too; each query is answered,
        then learned.
    scored_by : "running" (the weights of the round) or "model" (the average, where one is kept). Where the
        grid varies `average`, every configuration is scored as it answers: "model".
    scoring : None (error_rate; numbers: mae; ranks: ndcg), a measure of `Progress.metrics` ("auc", "f1",
        ...), or a function of the truths and the predictions of all rounds (of the scores, where its second
        parameter is called so: y_score), of which more is better. Ranks: of each query, the mean.
    threads : how many at once (None: one per core).
    verbose : 1 shows how far it is.

    Linear learners of two classes or of numbers (Perceptron, Passive-Aggressive, l2 FTRL, Pegasos)
    share the reading of each row: weights lie [feature][model], up to 32 models to a stretch of
    memory. All others, and runs judged by more than their errors, run one by one. Both use threads.
    Either way the result equals separate runs of `om.progressive` on fresh models, to rounding (1e-12; with
    dtype="float32", 1e-5, and the same predictions but where a score is within 1e-5 of the threshold).

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(2000, label_noise=0.1, seed=0)
    >>> result = om.sweep(om.PassiveAggressiveClassifier(), {"C": [0.001, 0.01, 0.1, 1, 10]}, X, y)
    >>> bool(result.best_params["C"] < 1), len(result.rows)
    (True, 5)
    >>> asking = om.SelectiveSampler(om.PassiveAggressiveClassifier(), random_state=0)
    >>> om.sweep(asking, {"estimator__C": [0.01, 1.0]}, X, y, scoring="auc").criterion
    'auc'
    """
    learner = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not isinstance(learner, Sweepable):
        raise BadInput(
            f"got {shown(model)}; wanted a learner of this library, or a Pipeline that ends in one"
        )
    require_scored_by(scored_by)
    if threads is not None:
        require_whole("threads", threads)
    configs = configurations(model, grid)
    judge = judge_of(scoring, learner.kind, configs)
    data = _data(learner, X, y, qid, sample_weight, piped=model is not learner)
    tell = progress_bar(len(configs)) if verbose else _say_nothing
    if isinstance(model, Pipeline):
        done = _through_steps(model, configs, data, _How(scored_by, judge, threads), tell)
    else:
        done = _side_by_side(learner, configs, data, _How(scored_by, judge, threads), tell)
    return SweepResult(configs, done.lines, done.make, learner.kind, done.in_lanes, judge)


class _Data(NamedTuple):
    """What is learned from: a table, its groups, or a list of examples (y is None)."""

    X: Any
    y: object
    qid: object
    sample_weight: object
    listed: bool  # examples, one by one


class _How(NamedTuple):
    """How runs are played and judged."""

    scored_by: str
    judge: Scoring
    threads: int | None

    def for_all(self, learners: Sequence[Sweepable]) -> _How:
        """Where averages differ, each configuration is scored as it answers."""
        differ = len({repr(average_of(learner)) for learner in learners}) > 1
        return self._replace(scored_by="model") if differ else self


class _Done(NamedTuple):
    """What configurations came to, their learners, and how many shared lanes."""

    lines: list[Line]
    make: Callable[[int], object]
    in_lanes: int


# ---- what is asked for


def configurations(model: Any, grid: Any) -> list[Config]:
    """The grid spelled out; unknown names and empty lists are refused."""
    grids = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(grids, list | tuple) or not grids or not all(isinstance(g, Mapping) for g in grids):
        raise BadInput(
            f"grid={shown(grid)}; wanted a dict of parameters and their values, or a list of such dicts"
        )
    if not any(grids):
        raise BadInput(f"grid={shown(grid)} is empty; wanted at least one parameter with its values")
    known = sorted(model.get_params(deep=True))
    if isinstance(model, Pipeline):  # of its steps; not the steps themselves
        known = [name for name in known if "__" in name]
    for name, values in (pair for g in grids for pair in g.items()):
        if name not in known and not _is_of_a_value(name, grids):
            raise BadInput(
                f"{type(model).__name__} has no parameter {shown(name)}; the grid may have {', '.join(known)}"
            )
        if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
            raise BadInput(f"grid[{shown(name)}]={shown(values)}; wanted a list of at least one value")
    spelled = [{name: list(map(plain_number, values)) for name, values in g.items()} for g in grids]
    return [dict(config) for config in ParameterGrid(spelled)]


def _is_of_a_value(name: str, grids: Sequence[Mapping[str, Iterable[object]]]) -> bool:
    """A parameter of an estimator that the grid itself puts into the outer one."""
    outer, _, inner = str(name).partition("__")
    values = (value for grid in grids if outer in grid and inner for value in grid[outer])
    return any(isinstance(value, BaseEstimator) and inner in value.get_params() for value in values)


def judge_of(scoring: object, kind: str, configs: list[Config]) -> Scoring:
    """The measure, under a name that no other column has."""
    judge = scoring_of(scoring, kind)
    taken = {name for config in configs for name in config} | {*COLUMNS[kind]}
    return judge._replace(name="score") if judge.function is not None and judge.name in taken else judge


def _data(learner: Sweepable, X: Any, y: object, qid: object, sample_weight: object, piped: bool) -> _Data:
    """A table, groups or examples; what cannot be read as such is refused."""
    refuse_dask(X)
    if isinstance(X, Source):
        if y is not None or qid is not None or sample_weight is not None:
            raise BadInput("a source carries its own targets, groups and weights; leave the others out")
        block = X.whole()
        X, y, sample_weight = block.rows, block.targets, block.weights
        qid = block.groups if isinstance(learner, Grouped) else None
    if isinstance(learner, Grouped):
        if getattr(learner, "decode", None) is not None:
            raise BadInput(f"{type(learner).__name__}(decode=...) is not swept; use GridSearchCV")
        if qid is None or sample_weight is not None:
            raise BadInput(f"{type(learner).__name__} wants X, y and qid=, the group of each row; no weights")
        return _Data(X, y, qid, None, False)
    if qid is not None:
        raise BadInput(f"qid= is for rankers; {type(learner).__name__} learns row by row; leave it out")
    if isinstance(X, list) and X and isinstance(X[0], dict) and not piped:
        raise BadInput("got a list of dicts and y; give pairs instead: zip(dicts, y)")
    if hasattr(X, "shape") or y is not None:
        return _Data(X, y, None, sample_weight, False)
    if piped or not isinstance(X, Iterable) or isinstance(X, str | Mapping):
        wanted = "" if piped else ", or an iterable of pairs (x, y) with dicts x"
        raise BadInput(f"got {type(X).__name__}; wanted a table X (array, CSR matrix, frame) and y{wanted}")
    if sample_weight is not None:
        raise BadInput("an iterable carries its own weights, (x, y, weight); sample_weight= is for arrays")
    return _Data(_examples(X), None, None, None, True)


def _examples(given: Iterable[Any]) -> list[tuple[object, ...]]:
    """Examples to be read once for each configuration; a dict that its maker uses again is copied."""
    kept: list[tuple[object, ...]] = []
    for number, example in enumerate(given):
        some = isinstance(example, tuple | list) and len(example) in (2, 3)
        if not some or not isinstance(example[0], Mapping):
            wanted = "wanted (x, y) or (x, y, weight) with a dict x"
            raise BadInput(f"example {number} is {shown(example)}; {wanted}")
        kept.append(tuple(dict(part) if isinstance(part, Mapping) else part for part in example))
    if not kept:
        raise BadInput("the iterable is empty; wanted pairs (x, y)")
    return kept


# ---- runs


def _fresh(model: Sweepable, config: Config) -> Sweepable:
    """A learner of this configuration, with the others' entropy; the grid's own objects stay as they are."""
    chosen = {
        name: copy_of(value) if isinstance(value, BaseEstimator) else value for name, value in config.items()
    }
    return model.clone().set_params(**chosen)


def _side_by_side(model: Sweepable, configs: list[Config], data: _Data, how: _How, tell: Tell) -> _Done:
    """In lanes those that can be, the others one by one."""
    learners = [_fresh(model, config) for config in configs]
    how = how.for_all(learners)
    places = _in_lanes(learners, configs, data, how, tell)
    alone = {number: _fresh(model, config) for number, config in enumerate(configs) if number not in places}
    runs = _in_threads(alone, data, how, tell)
    lines = [
        places[number].group.line(places[number].lane) if number in places else runs[number]
        for number in range(len(configs))
    ]

    def make(number: int) -> object:
        if number in places:
            return places[number].group.model(places[number].lane, configs[number])
        return alone[number]

    return _Done(lines, make, len(places))


def _in_lanes(
    learners: list[Sweepable], configs: list[Config], data: _Data, how: _How, tell: Tell
) -> dict[int, Place]:
    """Where each configuration that can be was learned in a lane: here it is decided which may.

    A lane keeps sums of the running weights' answers: a table, a measure known by sums, no average to judge.
    """
    by_sums = how.judge.function is None and how.judge.name in ("error_rate", "mae")
    if data.listed or data.qid is not None or not by_sums:
        return {}
    numbers = [
        number
        for number, learner in enumerate(learners)
        if isinstance(learner, Learner) and not judged_by_average(learner, how.scored_by)
    ]
    some = [learner for number in numbers if isinstance(learner := learners[number], Learner)]
    if len(some) < 2:
        return {}
    params = [learner.get_params(deep=False) for learner in some]
    threads = how.threads or os.cpu_count() or 1
    places, _ = sweep_in_lanes(some, params, data.X, data.y, data.sample_weight, threads, tell)
    return {numbers[place]: where for place, where in places.items()}


def _in_threads(alone: dict[int, Sweepable], data: _Data, how: _How, tell: Tell) -> dict[int, Line]:
    """One run after the other for each thread; compiled loops leave the interpreter free."""
    if not alone:
        return {}
    lines: dict[int, Line] = {}
    numbers = list(alone)
    lines[numbers[0]] = _line(alone[numbers[0]], data, how)  # the first compiles for all
    with ThreadPoolExecutor(how.threads or os.cpu_count()) as pool:
        rest = pool.map(lambda number: _line(alone[number], data, how), numbers[1:])
        for number, line in zip(numbers[1:], rest, strict=True):
            lines[number] = line
            tell(len(lines) / len(numbers))
    return lines


def _line(model: Sweepable, data: _Data, how: _How) -> Line:
    """What one configuration came to by itself."""
    try:
        done = _run(model, data, how)
    except Diverged:  # out of the race
        return dict(DIVERGED)
    loss = done.totals.loss / max(done.rounds, 1)
    line = {"rounds": done.rounds, "mistakes": done.mistakes, "updates": done.updates, "mean_loss": loss}
    measured = {judge.name: judge.of(done) for judge in (scoring_of(None, done.kind), how.judge)}
    return line | measured


def _run(model: Sweepable, data: _Data, how: _How) -> Progress:
    if isinstance(model, Grouped):
        judged = judged_by_average(model, how.scored_by)
        return model.watch_groups(data.X, data.y, data.qid, judged)
    trace = "sums" if how.judge.from_sums else "full"
    return progressive(
        model, data.X, data.y, sample_weight=data.sample_weight, scored_by=how.scored_by, trace=trace
    )


# ---- pipelines


def _through_steps(pipeline: Pipeline, configs: list[Config], data: _Data, how: _How, tell: Tell) -> _Done:
    """The steps before the learner are fitted on X, once for each of their own configurations."""
    name, learner = pipeline.steps[-1]
    outer = [{key: config[key] for key in config if not key.startswith(f"{name}__")} for config in configs]
    inner = [
        {key[len(name) + 2 :]: config[key] for key in config if key.startswith(f"{name}__")}
        for config in configs
    ]
    how = how.for_all([_fresh(learner, config) for config in inner])
    together: dict[str, list[int]] = {}
    for number, config in enumerate(outer):
        together.setdefault(repr(sorted(config.items(), key=lambda item: item[0])), []).append(number)
    lines: list[Line] = [{} for _ in configs]
    makers: dict[int, Callable[[], object]] = {}
    in_lanes = learned = 0
    for members in together.values():
        said = partial(_tell_part, tell, learned / len(configs), len(members) / len(configs))
        learned += len(members)
        steps = copy_of(pipeline).set_params(**copy_of(outer[members[0]], safe=False))[:-1]
        table = steps.fit_transform(data.X, data.y) if len(pipeline) > 1 else data.X
        mine = [inner[number] for number in members]
        done = _side_by_side(learner, mine, data._replace(X=table), how, said)
        in_lanes += done.in_lanes
        for place, number in enumerate(members):
            lines[number] = done.lines[place]
            makers[number] = _ending(steps, name, done.make, place)
    return _Done(lines, lambda number: makers[number](), in_lanes)


def _ending(steps: Pipeline, name: str, make: Callable[[int], object], place: int) -> Callable[[], object]:
    """The steps with a learner at their end."""
    return lambda: Pipeline([*steps.steps, (name, make(place))])


# ---- how far it is


def _tell_part(tell: Tell, before: float, part: float, share: float) -> None:
    """A share of a part of the whole."""
    tell(before + part * share)


def _say_nothing(share: float) -> None:
    """Nobody looks."""


def progress_bar(count: int) -> Tell:
    """A bar on the standard error, as a function of the share that is done."""

    def tell(share: float) -> None:
        done = round(30 * share)
        end = "\n" if share >= 1 else ""
        sys.stderr.write(f"\r{count} models  [{'#' * done}{'.' * (30 - done)}] {share:4.0%}{end}")
        sys.stderr.flush()

    return tell
