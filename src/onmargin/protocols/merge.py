"""Models learned apart, made one: iterative parameter mixing's second half."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import BadInput, shown
from ..interface.learner import Learner
from ..interface.mixing import mixed


def merge(models: Any, weights: object = None) -> Any:
    """One model with the (weighted) mean of the weights of fitted linear models of one kind.

    Second-order models are averaged by their precision, w = P^-1 sum_s share_s P_s w_s with
    P = sum_s share_s P_s: whoever is surer of a weight has more say in it.
    Same class, same features, same labels. The merged model predicts; of `t_` it has the sum. It
    learns on from the mean where its class can start from given weights (Perceptron, Passive-Aggressive,
    l2 FTRL, the second-order learners; PairedClassifier with the reservoirs of the first).

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(400, seed=0)
    >>> halves = [om.Perceptron().partial_fit(X[i::2], y[i::2], classes=[-1, 1]) for i in range(2)]
    >>> bool(om.merge(halves).score(X, y) > 0.9)
    True
    """
    learners: list[Learner] = list(models) if isinstance(models, list | tuple) else []
    if not learners or not all(isinstance(model, Learner) for model in learners):
        raise BadInput("got no linear learners of this library; wanted a list of fitted ones")
    return mixed(learners, _shares(weights, len(learners)))


def _shares(weights: object, count: int) -> np.ndarray:
    """Weights of the models, summing to 1."""
    try:
        share = np.ones(count) if weights is None else np.asarray(weights, float).ravel()
    except (TypeError, ValueError):
        share = np.zeros(0)
    if share.shape != (count,) or not np.isfinite(share).all() or (share < 0).any() or not share.any():
        raise BadInput(f"weights={shown(weights)}; wanted one number of at least 0 per model, not all 0")
    return np.asarray(share / share.sum())
