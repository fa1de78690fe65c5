"""Learners that begin with what is known of a whole set, so that its parts can be learned apart.

What `fit` reads off all rows (labels, columns, the constant coordinate's value, lam, "balanced" weights) is
given here as a `Known`; every part then begins alike, and `interface.mixing` makes one of what they became.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..errors import BadInput
from ..features.slots import Slots
from ..models.means import take_mean
from .classifier import Classifier
from .groups import Grouped
from .learner import Learner
from .mixing import refuse
from .parameters.fields import lasting
from .parameters.fixed import fix, is_unfixed
from .tables import Columns
from .targets.labels import Labels

Some = TypeVar("Some", bound=Learner)


class Known(NamedTuple):
    """What is known of a whole set.

    rows : how many, those of weight 0 too, as `fit` counts them. square : the median of |x|^2 of the others.
    width, names : columns, and what they are called, where they have names; by_name : rows are dicts.
    labels, counts : all labels in order, and rows of each (of numbers: none); sets: a row may have several.
    runs : stretches of rows with one label, in the order they lie in (0: not counted).
    """

    rows: int
    square: float
    width: int
    names: tuple[Hashable, ...] | None = None
    by_name: bool = False
    labels: tuple[Any, ...] = ()
    counts: tuple[int, ...] = ()
    sets: bool = False
    runs: int = 0

    def balanced(self) -> dict[Any, float]:
        """n / (K n_k) for each label."""
        number, total = len(self.labels), sum(self.counts)
        each = zip(self.labels, self.counts, strict=True)
        return {label: total / (number * max(count, 1)) for label, count in each}


def is_told(estimator: Learner) -> bool:
    """Does it learn from labels or numbers? (One that encloses points has none.)"""
    return bool(getattr(estimator, "_supervised", True))


def kind_of(estimator: Learner) -> str:
    """ "labels", "numbers", or "points", which have neither."""
    return estimator.kind if is_told(estimator) else "points"


def shuffles(estimator: Learner) -> bool:
    """Does `fit` take the rows in another order? (Pegasos has a name for each.)"""
    return bool(getattr(estimator, "shuffle", getattr(estimator, "order", "shuffle") != "cyclic"))


def refuse_apart(estimator: Learner) -> None:
    """Say why parts cannot be learned apart, where that is known before anything is learned."""
    name = type(estimator).__name__
    if estimator.warm_start and estimator._model is not None:
        raise BadInput(
            f"this {name} has warm_start=True and has learned already, but a cluster begins anew; give its "
            "clone(), or warm_start=False"
        )
    if isinstance(estimator, Grouped):
        raise BadInput(f"{name} learns from whole groups, not row by row: it learns on one machine, by fit")
    if estimator._form().kind == "kernel":
        raise BadInput(
            f"{name} keeps support vectors, whose mean is none: it learns on one machine, by fit; "
            "om.cluster.predict spreads its answers"
        )


def begun(estimator: Some, known: Known) -> Some:
    """A learner like this one that has learned nothing yet, and from which parts may be learned apart.

    What `fit` would only do at its end or over all rows is spelled out: an average that is left to `fit`
    ("auto") is kept, "balanced" weights are numbers. `finished` puts the parameters back.
    """
    learner = estimator.clone()
    learner.settle_entropy()
    if learner._averages_fits:
        learner.set_params(average=True)
    if isinstance(learner, Classifier) and isinstance(learner.class_weight, str) and known.labels:
        learner.set_params(class_weight=known.balanced())
    slots = None if known.names is None else Slots(known.names)
    learner._columns = Columns(slots, known.by_name, 0 if known.by_name else known.width)
    targets = learner._targets()
    if targets.kind == "labels" and known.sets and known.by_name:
        announced = isinstance(learner, Classifier) and learner.classes is not None
        learner._labels = Labels(known.labels, closed=announced, sets=True)
    elif targets.kind == "labels":
        y = (
            np.zeros((1, len(known.labels)), int)
            if known.sets
            else targets.read(_array(known.labels), len(known.labels))
        )
        targets.adopt(y, False)
    if isinstance(learner, Classifier):
        learner._targets().weighting()  # (refused for sets)
    learner._check_parameters()  # (costs have a row for each label)
    learner._expect(known.rows)
    model = learner._new_model(known.width)
    learner._expect(0)
    learner._form().check_start(model)
    learner._model, model.features = model, known.width
    refuse(learner)
    if is_unfixed(learner):
        fix(learner, model, known.square, fitting=True)
    return learner


def predict_alike(before: Learner, after: Learner) -> bool:
    """Have both the same weights for the round to come? (An average goes on to change for many rounds.)"""
    return bool(np.array_equal(before._fitted().weights(), after._fitted().weights()))


def finished(learner: Some, estimator: Some, passes: int) -> Some:
    """The learner as `fit` would leave it: with the parameters of the one it was begun like."""
    found = learner.clone(include_attributes=True)
    model = found._fitted()
    names = [name for name in ("average", "class_weight", "classes") if name in found.get_params(deep=False)]
    found.set_params(**{name: getattr(estimator, name) for name in names})
    found._begun = lasting(found)
    if found._averages_fits:
        take_mean(model)
    found.n_iter_ = passes
    return found


def _array(labels: tuple[Any, ...]) -> np.ndarray:
    """Labels as an array in which each is what it was."""
    if not labels:
        raise BadInput("the data have no label; wanted one a row")
    if len({type(label) for label in labels}) == 1 and not isinstance(labels[0], tuple):
        return np.array(labels)
    array = np.empty(len(labels), object)
    array[:] = labels
    return array
