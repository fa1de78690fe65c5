"""Models learned apart, made one: iterative parameter mixing's second half."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import BadInput, shown
from ..interface.learner import Learner
from ..interface.mixing import mixed


def merge(models: Any, weights: object = None, rounds: str = "sum") -> Any:
    """One model with the (weighted) mean of the weights of fitted linear models of one kind.

    Second-order models are averaged by their precision, w = P^-1 sum_s share_s P_s w_s with
    P = sum_s share_s P_s: whoever is surer of a weight has more say in it.
    Same class, same features, same labels; parameters may differ, and are then the first's. Each model comes
    with the weights it answers by. The merged model answers by their mean, and learns on from there as one
    that has been there for all rounds together (`t_` is the sum): Pegasos' next step is 1 / (lam (T + 1)),
    AdaGrad and the shifting Perceptron have the squares and the moves of all, coin betting the mean wealth,
    p-norms and entropies the theta that belongs to the mean; PairedClassifier has the reservoirs of the
    first. What an unfinished mini-batch of Pegasos has added is left out. Kernel learners keep vectors, your
    own regularisers give no theta back: those are refused.

    rounds : "sum", or "mean": it goes on as one of them, which has seen the mean of their rounds (squares,
        moves), from the mean of the weights that would have predicted next; it answers as with "sum".
        Models that are mixed again and again want this: of equal ones it makes the same once more.

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(400, seed=0)
    >>> halves = [om.Perceptron().partial_fit(X[i::2], y[i::2], classes=[-1, 1]) for i in range(2)]
    >>> bool(om.merge(halves).score(X, y) > 0.9)
    True
    """
    learners: list[Learner] = list(models) if isinstance(models, list | tuple) else []
    if not learners or not all(isinstance(model, Learner) for model in learners):
        raise BadInput(
            "got no linear learners of this library; wanted a list of fitted ones (of those that ask: "
            "estimator_)"
        )
    if rounds not in ("sum", "mean"):
        raise BadInput(f"rounds={shown(rounds)}; wanted 'sum' or 'mean'")
    return mixed(learners, _shares(weights, len(learners)), rounds == "sum")


def _shares(weights: object, count: int) -> np.ndarray:
    """Weights of the models, summing to 1."""
    try:
        share = np.ones(count) if weights is None else np.asarray(weights, float).ravel()
    except (TypeError, ValueError):
        share = np.zeros(0)
    if share.shape != (count,) or not np.isfinite(share).all() or (share < 0).any() or not share.any():
        raise BadInput(f"weights={shown(weights)}; wanted one number of at least 0 per model, not all 0")
    return np.asarray(share / share.sum())
