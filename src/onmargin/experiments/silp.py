"""SILP: kernels weighed in batch, by column generation over the duals of SVMs (a baseline of E5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from sklearn.svm import SVC


class Weighed(NamedTuple):
    """One binary problem solved: the kernels' weights, and the machine on their sum."""

    weights: np.ndarray  # (F,), at least 0, sum 1
    machine: SVC
    rounds: int
    gap: float


def silp(kernels: np.ndarray, signs: np.ndarray, C: float, near: float = 1e-2, most: int = 40) -> Weighed:
    """max theta over d on the simplex  s.t.  sum_j d_j S_j(a) >= theta for every dual point a of the SVM.

    S_j(a) = 1/2 (a y)' K_j (a y) - 1'a. Each round solves the SVM with kernel sum_j d_j K_j (its dual point
    is the most violated constraint) and the linear program over the constraints so far; it stops when the
    new constraint is within `near` of theta, relatively. Sonnenburg, Raetsch, Schaefer & Schoelkopf 2006.
    """
    count = len(kernels)
    weights, theta, lines = np.full(count, 1.0 / count), -np.inf, []
    for number in range(1, most + 1):
        machine = SVC(C=C, kernel="precomputed").fit(np.tensordot(weights, kernels, 1), signs)
        signed, at = machine.dual_coef_[0], machine.support_
        values = (
            0.5 * np.einsum("i,jik,k->j", signed, kernels[:, at[:, None], at], signed) - np.abs(signed).sum()
        )
        gap = abs(1.0 - float(weights @ values) / theta) if np.isfinite(theta) else np.inf
        if gap < near or number == most:
            break
        lines.append(values)
        # over (d, theta): minimise -theta where theta - d'S <= 0 for every line
        program = linprog(
            np.r_[np.zeros(count), -1.0], A_ub=np.c_[-np.array(lines), np.ones(len(lines))],
            b_ub=np.zeros(len(lines)), A_eq=np.r_[np.ones(count), 0.0][None, :], b_eq=[1.0],
            bounds=[(0.0, None)] * count + [(None, None)],
        )  # fmt: skip
        weights, theta = program.x[:count], float(program.x[count])
    return Weighed(weights, machine, number, gap)
