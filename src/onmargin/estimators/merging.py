"""Models learned apart, made one: iterative parameter mixing's second half."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..errors import BadInput
from ..learn.spaces.linear import Linear
from ..learn.vocabulary import BAR
from ..models.kernel import KernelModel
from ..models.paired import Paired
from .linear import LinearWeights


def merge(models: Any, weights: Any = None) -> Any:
    """One model with the (weighted) mean of the weights of fitted linear models of one kind.

    Same class, same features, same labels. The merged model predicts; of `t_` it has the sum. It
    learns on from the mean where its class can start from given weights (Perceptron,
    Passive-Aggressive, l2 FTRL; PairedClassifier with the reservoirs of the first).

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(400, seed=0)
    >>> halves = [om.Perceptron().partial_fit(X[i::2], y[i::2], classes=[-1, 1]) for i in range(2)]
    >>> bool(om.merge(halves).score(X, y) > 0.9)
    True
    """
    models = list(models) if isinstance(models, list | tuple) else []
    if not models or not all(isinstance(model, LinearWeights) for model in models):
        raise BadInput("got no linear learners of this library; wanted a list of fitted ones")
    share = _shares(weights, len(models))
    first: Any = models[0]
    merged = copy.deepcopy(first)
    model = merged._fitted()
    if not isinstance(getattr(model, "space", None), Linear):
        raise BadInput(f"{type(first).__name__} keeps more than weights; its models cannot be averaged")
    if any(isinstance(other._fitted(), KernelModel) for other in models):
        raise BadInput("got a kernel learner, which keeps vectors; wanted linear models of one kind")
    for other in models[1:]:
        if type(other) is not type(first) or other.coef_.shape != first.coef_.shape:
            raise BadInput("the models differ in class or shape; wanted linear models of one kind")
        if _facts(other) != _facts(first):
            raise BadInput("the models know other labels or features; wanted the same in the same order")
        if bool(other._bias) != bool(first._bias):
            raise BadInput("some of the models have an intercept and some have none; wanted one kind")
    model.space.weights[...] = 0.0
    model.space.drift[...] = 0.0
    width = first.n_features_in_
    for part, each in zip(share, models, strict=True):
        table = each._fitted().mean_weights()
        model.space.weights[:width] += part * table[:width]
        model.space.weights[-1] += part * table[-1] * (each._bias / first._bias if first._bias else 0.0)
    model.memory[BAR] = sum(
        part * each._fitted().memory[BAR] for part, each in zip(share, models, strict=True)
    )
    if isinstance(model, Paired):
        middles = [each._fitted().pairing.middle for each in models]
        model.pairing.middle[...] = np.average(middles, axis=0, weights=share)
    model.clock = sum(each.t_ for each in models)
    return merged


def _shares(weights: Any, count: int) -> np.ndarray:
    """Weights of the models, summing to 1."""
    try:
        share = np.ones(count) if weights is None else np.asarray(weights, float).ravel()
    except (TypeError, ValueError):
        share = np.zeros(0)
    if share.shape != (count,) or not np.isfinite(share).all() or (share < 0).any() or not share.any():
        raise BadInput(f"weights={weights!r}; wanted one number of at least 0 per model, not all 0")
    return np.asarray(share / share.sum())


def _facts(model: Any) -> Any:
    labels = getattr(model, "_labels", None)
    return None if labels is None else labels.known, None if model._slots is None else list(model._slots)
