"""The mean of linear learners of one kind, in given shares."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from ..errors import BadInput
from ..models.merging import Merging
from .learner import Learner
from .parameters.fixed import is_unfixed

FOUND = ("objective_", "dual_gap_")  # what a fit found out about its own weights


def mixed(learners: Sequence[Learner], shares: np.ndarray, summed: bool = True) -> Learner:
    """A learner with the mean of the weights; what cannot be averaged is refused with the reason."""
    first = learners[0]
    refuse(first)
    models = [learner._fitted() for learner in learners]
    for other in learners:
        refuse(other)
    for other, model in zip(learners, models, strict=True):
        shape = (type(other), model.start.outputs, other.n_features_in_)
        if shape != (type(first), models[0].start.outputs, first.n_features_in_):
            raise BadInput("the models differ in class or shape; wanted linear models of one kind")
        other._check_lasting()
        if _known(other) != _known(first):
            raise BadInput("the models know other labels or features; wanted the same in the same order")
        if bool(other.fit_intercept) != bool(first.fit_intercept):
            raise BadInput("some of the models have an intercept and some have none; wanted one kind")
    value = next((other._bias for other in learners if other._bias), 0.0)
    scales = [other._bias / value if value else 1.0 for other in learners]
    merged = copy.deepcopy(first)
    _fix(merged, learners, value)
    merged._fitted().merge(models, shares, Merging(scales, first.n_features_in_, summed))
    for name in FOUND:
        merged.__dict__.pop(name, None)
    return merged


def refuse(learner: Learner) -> None:
    """Say why models like this one cannot be averaged."""
    why = learner._fitted().not_merged_because
    if why:
        raise BadInput(f"{type(learner).__name__} cannot be averaged: {why}")


def _fix(merged: Learner, learners: Sequence[Learner], constant: float) -> None:
    """What no row of the first has fixed yet is as the first of the others has it."""
    known = next((other._fixed for other in learners if other._fixed), {})
    found = {name: known[name] for name in merged._by_length if name in known}
    if constant and "intercept_scaling" in merged._by_length:
        found["intercept_scaling"] = constant
    if found and is_unfixed(merged):
        merged._fixed = found
        merged._form().fix_numbers(merged._fitted())


def _known(learner: Learner) -> tuple[object, object]:
    """Labels and features, in order."""
    slots = learner._columns.slots
    return learner.known_labels(), None if slots is None else list(slots)
