"""The exact SVM, to measure others against; and models averaged."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_X_y

from ..errors import BadInput, require_whole
from ..features.tables import to_rows
from ..learn.sdca import solve
from ..learn.svm import Problem
from .labels import Labels, distinct
from .linear import LinearWeights
from .parameters import require_positive
from .priors import Prior
from .tables import DTYPES, _checked_weights, in_one_line


class Optimum(NamedTuple):
    """Where the SVM objective is least (within `gap`)."""

    coef: np.ndarray  # (d,)
    intercept: float
    objective: float
    gap: float
    passes: int


def svm_optimum(
    X: Any, y: Any, *, lam: float, prior: Any = None, sample_weight: Any = None, fit_intercept: bool = True,
    intercept_scaling: float = 1.0, tol: float = 1e-10, max_iter: int = 1000, random_state: int = 0,
) -> Optimum:  # fmt: skip
    """min lam/2 |w - prior|^2 + 1/N sum c_i [1 - y_i <w, x_i>]_+ for two classes, by dual ascent.

    The intercept is a coordinate of value `intercept_scaling` inside the norm. Stops when the duality
    gap is at most `tol` (times the objective where that is above 1), or after `max_iter` passes.

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(200, seed=0)
    >>> best = om.svm_optimum(X, y, lam=0.1)
    >>> best.gap < 1e-8
    True
    """
    require_positive("lam", lam, False, False)
    require_whole("max_iter", max_iter)
    with in_one_line():
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=DTYPES)
    labels = Labels(distinct(y))
    if len(labels.known) != 2:
        raise BadInput(f"y has the classes {labels.known}; wanted two")
    bias = float(intercept_scaling) if fit_intercept else 0.0
    weights = _checked_weights(sample_weight, X.shape[0])
    sides = labels.targets(labels.codes(y)).astype(np.int8)[:, None]
    problem = Problem(to_rows(X, bias), sides, weights if weights.size else np.ones(len(y)), False)
    start = np.zeros(X.shape[1] + 1)
    if prior is not None:
        coef, intercept = Prior(prior).rows(labels)
        if coef.shape != (1, X.shape[1]):
            raise BadInput(f"prior= has coefficients of shape {coef.shape}; wanted (1, {X.shape[1]})")
        if intercept.any() and not bias:
            raise BadInput("prior= has an intercept, but fit_intercept=False; set it to True")
        start[:-1], start[-1] = coef[0], intercept[0] / bias if bias else 0.0
    found = solve(problem, float(lam), start, tol, max_iter, random_state)
    return Optimum(
        found.weights[:-1], float(found.weights[-1] * bias), found.objective, found.gap, found.passes
    )


def merge(models: Any, weights: Any = None) -> Any:
    """One model with the (weighted) mean of the weights of fitted linear models of one kind.

    Same class, same features, same labels. The merged model predicts; of `t_` it has the sum. It
    learns on from the mean where its class can start from given weights (Perceptron,
    Passive-Aggressive, l2 FTRL).

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
    if type(model.space).__name__ != "Linear":
        raise BadInput(f"{type(first).__name__} keeps more than weights; its models cannot be averaged")
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
    model.bar[0] = sum(part * each._fitted().bar[0] for part, each in zip(share, models, strict=True))
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
