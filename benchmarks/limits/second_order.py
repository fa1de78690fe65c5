"""A scale for every coordinate by hand: AROW, FTRL with AdaGrad. Targets are +1 and -1, the bias is 1."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from onmargin.compiled import lanes

from . import LOOP, SUMS
from .classes import best_rival, score_dense
from .sparse import dot


@njit(forceinline=True, **LOOP)
def _pair(values, columns, start, stop, weights, sigma):
    """<w, x> and x' Sigma x in four partial sums each, one read of the row."""
    a = b = c = d = 0.0
    e = f = g = h = 0.0
    j = start
    while j + 4 <= stop:
        v, at = values[j], columns[j]
        a += weights[at] * v
        e += sigma[at] * v * v
        v, at = values[j + 1], columns[j + 1]
        b += weights[at] * v
        f += sigma[at] * v * v
        v, at = values[j + 2], columns[j + 2]
        c += weights[at] * v
        g += sigma[at] * v * v
        v, at = values[j + 3], columns[j + 3]
        d += weights[at] * v
        h += sigma[at] * v * v
        j += 4
    while j < stop:
        v, at = values[j], columns[j]
        a += weights[at] * v
        e += sigma[at] * v * v
        j += 1
    last = weights.shape[0] - 1
    return (a + b) + (c + d) + weights[last], (e + f) + (g + h) + sigma[last]


@njit(**LOOP)
def arow(values, columns, starts, targets, weights, sigma, r):
    """A pass of AROW over CSR rows; the mistakes."""
    mistakes, last = 0, weights.shape[0] - 1
    for t in range(targets.shape[0]):
        start, stop = np.int64(starts[t]), np.int64(starts[t + 1])
        score, spread = _pair(values, columns, start, stop, weights, sigma)
        margin = targets[t] * score
        mistakes += margin <= 0.0
        if margin < 1.0:
            beta = 1.0 / (spread + r)
            step = targets[t] * (1.0 - margin) * beta
            for j in range(start, stop):
                _shift(weights, sigma, columns[j], values[j], step, beta)
            _shift(weights, sigma, last, 1.0, step, beta)
    return mistakes


@njit(forceinline=True, **LOOP)
def _shift(weights, sigma, at, value, step, beta):
    """mu += step Sigma x, Sigma -= beta (Sigma x)^2, of one coordinate."""
    wide, weight = sigma[at], weights[at]  # (both read before anything is written)
    along = wide * value
    weights[at] = weight + step * along
    sigma[at] = wide - beta * along * along


@njit(**LOOP)
def adagrad(values, columns, starts, targets, weights, theta, squares, rate, delta):
    """A pass of FTRL with AdaGrad's rates and the hinge over CSR rows; the mistakes."""
    mistakes, last = 0, weights.shape[0] - 1
    for t in range(targets.shape[0]):
        start, stop = np.int64(starts[t]), np.int64(starts[t + 1])
        score, _ = dot(values, columns, start, stop, weights)
        margin = targets[t] * score
        mistakes += margin <= 0.0
        if margin < 1.0:
            for j in range(start, stop):
                _lead(weights, theta, squares, columns[j], targets[t] * values[j], rate, delta)
            _lead(weights, theta, squares, last, targets[t], rate, delta)
    return mistakes


@njit(forceinline=True, **LOOP)
def _lead(weights, theta, squares, at, z, rate, delta):
    """theta += eta z, s^2 += z^2, w = theta / (delta + s), of one coordinate."""
    led, square = theta[at] + rate * z, squares[at] + z * z  # (both read before anything is written)
    theta[at], squares[at] = led, square
    weights[at] = led / (delta + math.sqrt(square))


@njit(**LOOP)
def arow_dense(X, targets, weights, sigma, scores, r):
    """AROW against the top rival, weights and Sigma as `classes.top_dense` has them. The updates."""
    columns, last, updates = X.shape[1], weights.shape[1] - 1, 0
    values, flat = lanes.flattened(X), lanes.flattened(weights)
    for t in range(targets.shape[0]):
        own = targets[t]
        score_dense(values, t * columns, columns, flat, weights, scores)
        rival = best_rival(scores, own, weights.shape[0])
        loss = 1.0 - scores[own] + scores[rival]
        if loss > 0.0:
            updates += 1
            spread = _spread(X[t], sigma[own], sigma[rival])
            beta = 1.0 / (spread + r)
            for k, way in ((own, loss * beta), (rival, -loss * beta)):
                for j in range(columns):
                    _shift(weights[k], sigma[k], j, X[t, j], way, beta)
                _shift(weights[k], sigma[k], last, 1.0, way, beta)
    return updates


@njit(forceinline=True, **SUMS)
def _spread(x, own, rival):
    """x' (Sigma_own + Sigma_rival) x"""
    total = own[own.shape[0] - 1] + rival[rival.shape[0] - 1]
    for j in range(x.shape[0]):
        total += (own[j] + rival[j]) * x[j] * x[j]
    return total
