"""The exact SVM, to measure others against."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_X_y

from ..errors import BadInput, require_whole
from ..features.matrices import canonical
from ..features.tables import to_rows
from ..interface.parameters.fields import require_positive
from ..interface.parameters.priors import Prior
from ..interface.tables import DTYPES, checked_weights, in_one_line
from ..interface.targets.labels import Labels, distinct, shortened
from ..models.svm import Problem, solve


class Optimum(NamedTuple):
    """Where the SVM objective is least (within `gap`)."""

    coef: np.ndarray  # (d,)
    intercept: float
    objective: float
    gap: float
    passes: int

    def __repr__(self) -> str:
        return (
            f"Optimum({len(self.coef)} coefficients, intercept={self.intercept:.6g}, "
            f"objective={self.objective:.6g}, gap={self.gap:.2g}, passes={self.passes})"
        )


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
        X, y = check_X_y(canonical(X), y, accept_sparse="csr", dtype=DTYPES)
    labels = Labels(distinct(y))
    if len(labels.known) != 2:
        raise BadInput(f"y has the {len(labels.known)} classes {shortened(labels.known)}; wanted two")
    bias = float(intercept_scaling) if fit_intercept else 0.0
    weights = checked_weights(sample_weight, X.shape[0])
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
