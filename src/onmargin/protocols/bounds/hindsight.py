"""Comparators that are good in hindsight: what a batch solver makes of the rows of a run.

Two classes: the SVM by dual ascent; several: ridge regression of each class and Crammer & Singer's SVM;
numbers: ridge regression and a support vector machine; kernels: the dual of the SVM, one class against the
others. Each at several strengths; how far to scale one is left to whoever knows the bound.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC, LinearSVR

from ..optimum import svm_optimum
from .evidence import Evidence

STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # C of an SVM with a sum of losses, times mean |x|^2
SCALES = tuple(2.0**power for power in range(-8, 7))
PASSES = 30
MANY = 20  # outputs beyond which Crammer & Singer's problem is left out


def candidates(run: Evidence) -> Iterator[object]:
    """Comparators as `om.certificate` takes them, the best of each solver."""
    if run.words["task"] == "enclose":
        yield from _centres(run)
    elif run.begun.form == "kernel":
        yield from _by_kernel(run)
    else:
        yield from _by_weights(run)


def scales(run: Evidence) -> list[float]:
    """How far to scale a comparator: a grid, and as far as a bound allows."""
    limit, size = _limit(run), math.sqrt(run.square)
    if not size:
        return [1.0]
    found = list(SCALES) if run.words["task"] != "enclose" else [1.0]
    if limit < math.inf:
        found = [scale for scale in found if scale * size < limit]
        found += [share * limit / size for share in (0.1, 0.3, 0.6, 0.9, 1.0)]
    return found


def _limit(run: Evidence) -> float:
    """The largest |u| that the bound of the run's Space allows."""
    space = run.words["space"]
    if space == "ball":
        return run.number("radius")
    if space in ("projection", "projection_plus"):
        tolerance = run.number("tolerance", 0.0)
        return (0.5 if space == "projection_plus" else 0.9) / tolerance if tolerance else math.inf
    if space == "fade":
        room = run.number("room")
        return math.sqrt((room + 1) / math.log(room + 1)) / 4
    if space == "shrunk":
        return run.number("radius", math.inf)
    if space in ("entropic", "simplex") and run.u.weights is not None:
        alive = float(np.abs(run.u.weights).sum())
        return run.number("scale") * math.sqrt(run.square) / alive if alive else math.inf
    if run.begun.rule is not None and run.begun.rule["ask_rule"] < 0:
        return 1.0
    return math.inf


# ---- weights


def _rows(run: Evidence) -> tuple[object, np.ndarray]:
    """Rows that were seen and have a label, and their numbers."""
    which = np.flatnonzero(run.counted)
    return run.X[which], which


def _by_weights(run: Evidence) -> Iterator[object]:
    X, which = _rows(run)
    bias, outputs = run.begun.bias, run.begun.outputs
    weigh = max(float(run.u.lengths[which].mean()), 1e-12) if len(which) else 1.0
    goals = _goals(run)[which]
    for strength in STRENGTHS:
        yield _ridge(X, goals, weigh / strength, bias)
    options = {"fit_intercept": bool(bias), "intercept_scaling": bias or 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # (nearly the best will do)
        if run.progress.kind != "labels":
            epsilon = run.number("epsilon", 0.0)
            for strength in STRENGTHS:
                found = LinearSVR(epsilon=epsilon, C=strength / weigh, random_state=0, **options)
                found.fit(X, goals[:, 0])
                yield found.coef_[None], found.intercept_ if bias else 0.0
        elif outputs == 1:
            balanced = _balanced(goals[:, 0]) if "rule" in run.begun.numbers else None
            for strength in STRENGTHS:
                best = svm_optimum(
                    X, goals[:, 0], lam=weigh / (strength * max(len(which), 1)), sample_weight=balanced,
                    fit_intercept=bool(bias), intercept_scaling=bias or 1.0, tol=1e-5, max_iter=PASSES,
                )  # fmt: skip
                yield best.coef[None], best.intercept
        elif np.ndim(run.y) == 1 and outputs <= MANY:
            codes = run.codes[which]
            if len(np.unique(codes)) == outputs > 2:
                for strength in STRENGTHS:
                    several = LinearSVC(
                        multi_class="crammer_singer",
                        C=strength / weigh,
                        random_state=0,
                        max_iter=200,
                        **options,
                    )
                    several.fit(X, codes)
                    yield several.coef_, several.intercept_ if bias else 0.0


def _balanced(signs: np.ndarray) -> np.ndarray:
    """Each side weighs as much."""
    return np.asarray(len(signs) / (2.0 * np.where(signs > 0, (signs > 0).sum(), (signs <= 0).sum())))


def _goals(run: Evidence) -> np.ndarray:
    """(rounds, outputs): numbers, +1 and -1, or that for every class."""
    if run.progress.kind != "labels":
        return np.asarray(run.y, float)[:, None]
    if np.ndim(run.y) == 2:
        return 2.0 * np.asarray(run.y, float) - 1.0
    if run.begun.outputs == 1:
        return np.asarray(run.signs[:, None])
    return np.asarray(2.0 * np.eye(run.begun.outputs)[run.codes] - 1.0)


def _ridge(X: object, goals: np.ndarray, alpha: float, bias: float) -> tuple[np.ndarray, np.ndarray | float]:
    """Ridge regression, the constant coordinate inside the norm."""
    wide = X
    if bias:
        last = np.full((len(goals), 1), bias)
        wide = sp.hstack([X, last], "csr") if sp.issparse(X) else np.c_[np.asarray(X, float), last]
    found = Ridge(alpha=alpha, fit_intercept=False, solver="sparse_cg" if sp.issparse(X) else "cholesky")
    table = np.atleast_2d(found.fit(wide, goals).coef_)
    return (table[:, :-1], table[:, -1] * bias) if bias else (table, 0.0)


# ---- kernels


def _by_kernel(run: Evidence) -> Iterator[object]:
    assert run.u.grams is not None
    gram, goals = run.u.grams.sum(axis=0), np.where(run.counted[:, None], _goals(run), 0.0)
    weigh = max(float(np.diag(gram).mean()), 1e-12)
    kernels = len(run.u.grams)
    for strength in STRENGTHS:
        if run.progress.kind == "labels":
            table = np.array([dual_ascent(gram, own, strength / weigh) for own in goals.T])
        else:
            table = np.linalg.solve(gram + weigh / strength * np.eye(len(gram)), goals).T
        yield table
        for only in range(kernels if kernels > 1 else 0):
            alone = np.zeros((kernels, *table.shape))
            alone[only] = table
            yield alone


def dual_ascent(gram: np.ndarray, signs: np.ndarray, C: float, passes: int = PASSES) -> np.ndarray:
    """Coefficients c of f = sum_i c_i k(x_i, .) near the least of |f|^2 / 2 + C sum [1 - y f(x)]_+.

    a_i = clip(a_i + (1 - y_i f(x_i)) / k(x_i, x_i), 0, C), c = a y; rows whose sign is 0 are left out.
    """
    duals, scores = np.zeros(len(signs)), np.zeros(len(signs))
    draw, which = np.random.default_rng(0), np.flatnonzero((signs != 0) & (np.diag(gram) > 0))
    for _ in range(passes):
        before = duals.copy()
        for i in draw.permutation(which).tolist():
            new = min(max(duals[i] + (1 - signs[i] * scores[i]) / gram[i, i], 0.0), C)
            if new != duals[i]:
                scores += (new - duals[i]) * signs[i] * gram[i]
                duals[i] = new
        if np.abs(duals - before).max(initial=0.0) <= 1e-3 * C:
            break
    return np.asarray(duals * signs)


# ---- balls


def _centres(run: Evidence) -> Iterator[object]:
    """The mean and the median; with a radius that is learned, several radii."""
    largest = getattr(run.progress.model, "max_radius", None)
    if run.begun.form == "kernel":
        centres = [np.full((1, len(run.losses)), 1.0 / max(len(run.losses), 1))]
    else:
        X = run.X.toarray() if sp.issparse(run.X) else np.asarray(run.X, float)
        centres = [X.mean(axis=0)[None], np.median(X, axis=0)[None]]
    for centre in centres:
        if largest is None:
            yield centre
        else:
            yield from ((centre, share * largest) for share in (0.0, 0.25, 0.5, 0.75, 1.0))
