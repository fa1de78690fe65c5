"""The mean of models learned apart: of plain weights in shares, of uncertain ones by their precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..learn.spaces.arrays import SQUARE
from ..learn.vocabulary import BAR

if TYPE_CHECKING:
    from .weights import Model


def is_uncertain(model: Model) -> bool:
    """Does it keep a covariance beside its weights?"""
    return "sigma" in model.row.space.fields


def merge(
    model: Model, others: Sequence[Model], shares: np.ndarray, scales: Sequence[float], width: int
) -> None:
    """The mean of models (itself among them) in these shares; `scales`: of their constant coordinates."""
    tables = []
    for other, scale in zip(others, scales, strict=True):
        table = _kept(other.mean_weights(), width)
        table[-1] *= scale
        tables.append(table)
    if is_uncertain(model):
        _by_precision(model, others, tables, shares, scales, width)
    else:
        mean = sum(share * table for share, table in zip(shares, tables, strict=True))
        _put(model.space.weights, np.asarray(mean), width)
    model.space.drift[...] = 0.0
    model.memory[BAR] = sum(s * other.memory[BAR] for s, other in zip(shares, others, strict=True))
    model.clock = sum(other.clock for other in others)


def _kept(array: np.ndarray, width: int) -> np.ndarray:
    """Lines of the features that are known, and of the constant coordinate."""
    return np.concatenate([array[:width], array[-1:]]).astype(float)


def _put(array: np.ndarray, lines: np.ndarray, width: int) -> None:
    array[...] = 0.0
    array[:width], array[-1] = lines[:-1], lines[-1]


def _by_precision(
    model: Model,
    others: Sequence[Model],
    tables: Sequence[np.ndarray],
    shares: np.ndarray,
    scales: Sequence[float],
    width: int,
) -> None:
    """w = (sum_s share_s Sigma_s^-1)^-1 sum_s share_s Sigma_s^-1 w_s: the surer has more say."""
    spread = np.array([scale or 1.0 for scale in scales])
    if model.row.space.fields["sigma"].kind == SQUARE:
        _by_matrices(model, others, tables, shares, spread, width)
        return
    total, sums = np.zeros_like(tables[0]), np.zeros_like(tables[0])
    for other, table, share, scale in zip(others, tables, shares, spread, strict=True):
        sigma = _kept(other.space.sigma, width)
        sigma[-1] *= scale**2
        total += share / sigma
        sums += share * table / sigma
    _put(model.space.weights, sums / total, width)
    model.space.sigma[:width], model.space.sigma[-1] = 1.0 / total[:-1], 1.0 / total[-1]
    if "theta" in model.row.space.fields:  # w = Sigma theta
        _put(model.space.theta, sums, width)


def _by_matrices(
    model: Model,
    others: Sequence[Model],
    tables: Sequence[np.ndarray],
    shares: np.ndarray,
    spread: np.ndarray,
    width: int,
) -> None:
    """The same with a full covariance per output."""
    outputs, many = model.start.outputs, model.start.many
    mean = np.zeros_like(tables[0])
    for k in range(outputs):
        total, sums = np.zeros((width + 1, width + 1)), np.zeros(width + 1)
        for other, table, share, scale in zip(others, tables, shares, spread, strict=True):
            stretch = np.ones(width + 1)
            stretch[-1] = scale
            places = np.r_[:width, len(other.space.sigma[k]) - 1]
            precision = np.linalg.inv(
                other.space.sigma[k][np.ix_(places, places)] * np.outer(stretch, stretch)
            )
            total += share * precision
            sums += share * precision @ (table[:, k] if many else table)
        found = np.linalg.inv(total)
        places = np.r_[:width, len(model.space.sigma[k]) - 1]
        model.space.sigma[k][np.ix_(places, places)] = 0.5 * (found + found.T)
        if many:
            mean[:, k] = found @ sums
        else:
            mean[:] = found @ sums
    _put(model.space.weights, mean, width)
