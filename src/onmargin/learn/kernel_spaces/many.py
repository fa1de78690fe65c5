"""OM-2: many kernels with one coefficient matrix, weighed by the (2, q) group norm.

theta^j = sum_i beta_i phi_j(x_i); the scores are sum_j omega_j pi_j with pi_jk = sum_i beta_ik k_j(x_i, x)
and omega_j = 1/q (|theta^j| / |theta|_{2,q})^{q-2}. Two classes in one row stand for two rows of
opposite signs. Jie, Orabona, Fornoni, Caputo & Cesa-Bianchi 2010.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled.outputs import squared
from ...compiled.parts import part
from ..vocabulary import Q


class Many(NamedTuple):
    """A block of rows as the loop sees it, kernel by kernel."""

    frozen: np.ndarray  # (kernels, outputs, rows)
    gram: np.ndarray  # (kernels, rows, rows)
    own: np.ndarray  # (kernels, rows)


class MultiKernel(NamedTuple):
    """What the block has added; the kernels' norms and weights."""

    weights: np.ndarray  # (rows, outputs)
    drift: np.ndarray  # always empty
    norms: np.ndarray  # (kernels,) |theta^j|^2
    omega: np.ndarray  # (kernels,)
    notes: np.ndarray


@part
def sides(outputs):
    """Rows that one output stands for."""
    return 2.0 if outputs == 1 else 1.0


@part
def score(space, rows, now, hyper, scores):
    """s_k = sum_j omega_j pi_jk (one output: the difference of the two rows)"""
    for k in range(rows.frozen.shape[1]):
        total = 0.0
        for j in range(rows.frozen.shape[0]):
            total += space.omega[j] * rows.frozen[j, k, now.row]
        scores[k] = sides(hyper.outputs) * total
    space.notes[0] = 0.0  # finite, where all of k_j(x, x) are
    for j in range(rows.own.shape[0]):
        space.notes[0] += rows.own[j, now.row]


@part
def size(space, rows, now, pull, hyper):
    """|z|_{2,q}^2 = |pull|^2 (sum_j k_j(x, x)^{q/2})^{2/q}, the largest taken out first"""
    length, most = squared(pull), 0.0
    for j in range(rows.own.shape[0]):
        most = max(most, rows.own[j, now.row])
    if most <= 0.0:
        return 0.0
    total = 0.0
    for j in range(rows.own.shape[0]):
        total += (max(rows.own[j, now.row], 0.0) / most) ** (0.5 * hyper.numbers[Q])
    return sides(hyper.outputs) * length * most * total ** (2.0 / hyper.numbers[Q])


@part
def weigh(norms, omega, q):
    """omega_j = 1/q (|theta^j| / |theta|_{2,q})^{q-2}"""
    most = 0.0
    for j in range(norms.shape[0]):
        most = max(most, norms[j])
    total = 0.0
    for j in range(norms.shape[0]):
        total += (norms[j] / most) ** (0.5 * q) if most > 0.0 else 0.0
    for j in range(norms.shape[0]):
        if q == 2.0:
            omega[j] = 0.5 if most > 0.0 else 0.0
        elif norms[j] > 0.0:
            omega[j] = (norms[j] / most) ** (0.5 * q - 1.0) / (q * total ** ((q - 2.0) / q))
        else:
            omega[j] = 0.0


@part
def move(space, rows, now, pull, step, margin, hyper):
    """beta_k of x += step pull[k]; the kernels are weighed anew"""
    both, length = sides(hyper.outputs), squared(pull)
    for j in range(space.norms.shape[0]):
        inner = 0.0
        for k in range(pull.shape[0]):
            inner += pull[k] * rows.frozen[j, k, now.row]
        grown = space.norms[j] + both * step * (2.0 * inner + step * length * rows.own[j, now.row])
        space.norms[j] = max(grown, 0.0)
        for k in range(pull.shape[0]):
            if pull[k] != 0.0:
                for i in range(now.row + 1, rows.gram.shape[1]):
                    rows.frozen[j, k, i] += step * pull[k] * rows.gram[j, now.row, i]
    for k in range(pull.shape[0]):
        space.weights[now.row, k] += step * pull[k]
    weigh(space.norms, space.omega, hyper.numbers[Q])
    return step
