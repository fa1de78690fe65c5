"""A learner for each class (scikit-learn's OneVsRestClassifier), the classes spread over workers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer

from ..errors import BadInput, shown
from ..interface.apart import Known, begun, finished
from ..interface.learner import Learner
from ..sources.blocks import Block
from .library import Value
from .mixing import Job, Stretch, learn_blocks, name_of_worker, named
from .parcel import Parcel, packed, unpacked
from .partitions import Examples, Partition, Reader
from .report import Line, Sum


def is_one_vs_rest(estimator: Value) -> bool:
    """Is it a learner of this library for each class?"""
    return isinstance(estimator, OneVsRestClassifier) and isinstance(estimator.estimator, Learner)


def of_one_class(known: Known, label: Value) -> Known:
    """What is known of the whole set, as one class against all others."""
    count = known.counts[known.labels.index(label)]
    return known._replace(labels=(0, 1), counts=(sum(known.counts) - count, count))


class Link(NamedTuple):
    """Of a chain: learners of some classes, and what the partitions of an epoch came to for them so far."""

    learners: dict[Value, Parcel]
    epoch: int = 0
    lines: tuple[Line, ...] = ()


def learn_classes(partition: Partition, computed: Sequence[Value], link: Link, job: Job, epoch: int) -> Link:
    """On a worker: one partition, for some classes; each goes on where the partition before left it."""
    began, sums, blocks = time.perf_counter(), Sum(), 0
    job.check()
    with named(partition):
        going = {label: unpacked(parcel) for label, parcel in link.learners.items()}
        for place, block in enumerate(Reader(partition, computed, job.rows, job.target)):
            for label, learner in going.items():
                some = [_against(block, label)]
                sums = sums.plus(learn_blocks(learner, some, job, Stretch(epoch, place), partition.number))
            blocks += 1
        line = Line(
            partition.number, partition.name, name_of_worker(), sums.rounds, sums.mistakes, sums.updates,
            sums.loss, time.perf_counter() - began, blocks,
        )  # fmt: skip
        lines = (*(link.lines if link.epoch == epoch else ()), line)
        return Link({label: packed(learner) for label, learner in going.items()}, epoch, lines)


def lines_of(link: Link) -> tuple[Line, ...]:
    """On a worker: without the learners."""
    return link.lines


def _against(block: Examples, label: Value) -> Examples:
    """The same rows, labelled 1 where they are of this class, else 0."""
    if isinstance(block, list):
        return [(x, int(y == label), *weight) for x, y, *weight in block]
    y: Value = block.targets
    if y is None or np.ndim(y) != 1:
        raise BadInput("one learner for each class wants one label a row")
    return Block(
        block.rows, np.fromiter((one == label for one in np.asarray(y).tolist()), int, len(y)), block.weights
    )


def raised(known: Known) -> tuple[Value, ...]:
    """The labels that have a learner of their own: of two the second, as scikit-learn has it."""
    return known.labels[1:] if len(known.labels) == 2 else known.labels


def fitted(
    estimator: OneVsRestClassifier, known: Known, learners: dict[Value, Parcel], epochs: int
) -> OneVsRestClassifier:
    """Learners of all classes as scikit-learn would have left them."""
    made = clone(estimator)
    made.label_binarizer_ = _binarizer(known.labels)
    made.estimators_ = [
        finished(unpacked(learners[label]), estimator.estimator, epochs) for label in raised(known)
    ]
    made.classes_, made.n_features_in_ = made.label_binarizer_.classes_, known.width
    if hasattr(made.estimators_[0], "feature_names_in_"):
        made.feature_names_in_ = made.estimators_[0].feature_names_in_
    return made


def _binarizer(labels: tuple[Value, ...]) -> LabelBinarizer:
    """scikit-learn's, of labels that an array holds as what they are (beside texts, numbers become texts)."""
    try:
        array = np.array(labels)
        if array.dtype.kind not in "US" or all(isinstance(label, str) for label in labels):
            return LabelBinarizer(sparse_output=True).fit(array)
    except (TypeError, ValueError):  # (fractions, and what has no order)
        pass
    raise BadInput(
        f"the labels are {shown(list(labels))}; one learner for each class wants them all of one kind, texts "
        "or whole numbers; give them so"
    )


def of_groups(known: Known, estimator: Learner, groups: int) -> list[dict[Value, Parcel]]:
    """A fresh learner for each class, in at most so many groups."""
    if len(known.labels) < 2 or known.sets:
        raise BadInput("one learner for each class wants one label a row, of at least two classes")
    _binarizer(known.labels)  # (refused before anything is learned)
    estimator.settle_entropy()
    alone = raised(known)
    every = {label: packed(begun(estimator, of_one_class(known, label))) for label in alone}
    some = [alone[number::groups] for number in range(min(groups, len(alone)))]
    return [{label: every[label] for label in labels} for labels in some]
