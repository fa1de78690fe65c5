"""Iterative parameter mixing of a linear learner: `fit`, and `run`, which reports as well."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import BadInput, require_whole, shown
from ..interface.apart import finished, is_told, refuse_apart, shuffles
from ..interface.learner import Learner
from ..interface.targets.labels import listed
from ..protocols.saving.files import described
from ..sources.blocks import require_on_error
from .checkpoint import SKIP, Keeper, Path, behind, kept_in, require_of, resumed
from .classes import is_one_vs_rest
from .engine import Engine
from .knowing import announced
from .library import Value
from .mixing import require_mixing
from .partitions import features_of, outline, partitions_of
from .report import Report, Tell
from .workers import client_of, scheduler_lost, theirs


class Run(NamedTuple):
    """A fitted estimator (behind its features, where files hold raw rows), and what happened on the way."""

    model: Value
    report: Report


def run(
    estimator: Value, data: Value, *, client: Value = None, epochs: int = 5, mixing: str = "uniform",
    mix_every: int | None = None, target: Value = None, classes: Value = None, rows: int = 8192,
    shuffle: bool | None = None, sample: int = 20_000, checkpoint: Path | Keeper | None = None,
    resume: bool = False, on_error: str = "stop", tell: Tell | None = None, **options: Value,
) -> Run:  # fmt: skip
    """Learn the partitions of a set apart and mix the models after every epoch; the model, and a report.

    estimator : a linear learner of this library; it stays as it is. Or scikit-learn's OneVsRestClassifier of
        one: then classes are spread over workers, each learned in sequence, and nothing is mixed. The report
        counts every example once for each of these learners, and has no sample: that would be the same.
    data : Dask arrays (X, y) or (X, y, weights), dataframes, a dataframe with target=, a bag of (x, y) or of
        dicts with target=, a list of delayed blocks, or paths and globs, which workers read (`options` are
        those of `om.sources.split`, and target= names their column). Where a format's features make the rows
        (columns of CSV are scaled, texts hashed), the model is a Pipeline of these and the learner; with
        features=None columns of numbers are learned as they are, by the learner alone. What is not persisted
        is computed anew in every epoch (with mix_every, it stays on the workers until the epoch is over).
    epochs : at most so many; it ends earlier when an epoch changed nothing.
    mixing : shares of the partitions: "uniform", by their "updates", or by their "examples".
    mix_every : also mix within an epoch, after so many blocks of every partition.
    classes : all labels, where the first pass need not look for them.
    rows : in a block. shuffle : the rows of each block, by `random_state`, epoch, partition and block (None:
        where the estimator's `fit` would).
    sample : rows that one learner learns in sequence, for the report (0: none).
    checkpoint, resume : a file that is replaced after every epoch; go on from it, bit for bit.
    on_error : of a partition that cannot be read: "stop", or "skip": as if it were not there (from then on,
        where that shows in an epoch only), but that the others keep the numbers they are shuffled by.
    tell : called with a `Moment` when a partition or an epoch is done.

    The same partitions and the same seed give the same model, bit for bit, whatever workers do: the tree in
    which models become one has the order of the partitions. The price of going parallel is in the report.
    """
    alone = estimator.estimator if is_one_vs_rest(estimator) else estimator
    if not isinstance(alone, Learner):
        raise BadInput(f"got {shown(type(estimator).__name__)}; wanted a linear learner of this library")
    refuse_apart(alone)
    require_mixing(mixing)
    require_on_error(on_error)
    for name, value in (
        ("epochs", epochs),
        ("rows", rows),
        ("mix_every", 1 if mix_every is None else mix_every),
    ):
        require_whole(name, value)
    require_whole("sample", sample, 0)
    shuffle = shuffles(alone) if shuffle is None else shuffle
    for name, value in (("shuffle", shuffle), ("resume", resume)):
        if not isinstance(value, bool | np.bool_):
            raise BadInput(f"{name}={shown(value)}; wanted True or False")
    if classes is not None and alone is estimator:
        classes = announced(alone, classes)
        alone = alone.clone().set_params(classes=classes)  # (`finished` puts its own back)
    elif classes is not None:
        classes = listed(classes)
    if resume and checkpoint is None:
        raise BadInput("resume=True goes on from a file; give checkpoint=FILE.onm")
    if tell is not None and not callable(tell):
        raise BadInput(f"tell={shown(tell)}; wanted a function of a Moment")
    client = client_of(client)
    partitions = partitions_of(data, target, options, strict=on_error != "skip", labelled=is_told(alone))
    features = features_of(partitions)
    keeper = kept_in(checkpoint, features)
    hint = "begin anew" if keeper is None else keeper.hint
    with scheduler_lost(hint, client):
        settings = {
            "mixing": mixing, "mix_every": mix_every, "rows": rows, "shuffle": bool(shuffle),
            "target": None if target is None else str(target),
            "partitions": [partition.name for partition in partitions], "data": outline(data, partitions),
            "options": {name: shown(value, 300) for name, value in sorted(options.items())},
            "classes": None if classes is None else shown(classes, 300),
            "estimator": described(alone),
        }  # fmt: skip
        skip_by = SKIP if keeper is None else keeper.skip_by
        engine = Engine(client, alone, partitions, on_error, tell, int(epochs), skip_by)
        if is_one_vs_rest(estimator):
            if keeper is not None:
                raise BadInput("a learner for each class keeps no checkpoint; leave checkpoint= out")
            engine.look(settings, target, classes)
            return Run(behind(features, engine.of_classes(estimator)), engine.report)
        if resume and keeper is not None:
            with theirs():
                point = resumed(keeper, settings)
            require_of(point, alone, len(partitions), str(keeper))
            engine.take(point, settings, target)
        else:
            engine.begin(settings, target, classes)
        engine.run(keeper)
        if sample and engine.report.lacks_sample:
            engine.compare(int(sample))
        engine.save(keeper)
    done = finished(engine.model, estimator, len(engine.report.epochs))
    return Run(behind(features, done), engine.report)


def fit(
    estimator: Value,
    data: Value,
    client: Value = None,
    epochs: int = 5,
    mixing: str = "uniform",
    **more: Value,
) -> Value:
    """A fitted estimator like the one given; see `run`, which returns a report as well."""
    return run(estimator, data, client=client, epochs=epochs, mixing=mixing, **{"sample": 0, **more}).model
