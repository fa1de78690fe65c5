"""The mean of models learned apart: of weights in shares, of uncertain ones by their precision.

What else a Space keeps is made such that its weights, and their average, are the mean, and that the rounds to
come are those of a learner that has been there for as many rounds as all of them together (see `FOLLOWS`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..learn.series import grid_after
from ..learn.spaces import norms
from ..learn.spaces.adagrad import threshold_at
from ..learn.spaces.arrays import SQUARE
from ..learn.spaces.pegasos import turn
from ..learn.vocabulary import (
    ANCHOR,
    BAR,
    BATCH,
    COIN_LARGEST,
    COIN_LAST,
    COIN_SPREAD,
    COIN_WEALTH,
    DELTA,
    FADED,
    FADING_MOVES,
    FADING_SCALE,
    FREE_BIAS,
    LAM,
    LINK_SCALE,
    MEAN_AFTER,
    NORM_LAST,
    PEGASOS_LAST,
    PEGASOS_LENGTH,
    PEGASOS_MOVES,
    PEGASOS_SIGMA,
    PEGASOS_SPREAD,
    SUFFIX,
    SUFFIX_EARLY,
    SUFFIX_LATER,
    SUFFIX_NEXT,
    Q,
)

if TYPE_CHECKING:
    from .weights import Model


living: Callable[..., np.ndarray] = norms.living

Scales = Sequence[float]
"""What the weight of each model's constant coordinate is multiplied by."""


def is_uncertain(model: Model) -> bool:
    """Does it keep a covariance beside its weights?"""
    return "sigma" in model.row.space.fields


def why_not(model: Model) -> str:
    """The reason why models of this kind cannot be averaged; empty where they can."""
    space = model.row.space
    if model.kind == "kernel":
        return "it keeps vectors, and those of several models are no mean of anything; leave kernel= out"
    if space.mergeable or is_uncertain(model) or space.name in FOLLOWS:
        return ""
    return (
        f"its weights follow from sums by your function {space.name!r}, which gives none back; use space='l2'"
    )


class Merging(NamedTuple):
    """How models are merged.

    scales : of their constant coordinates. width : features known.
    summed : the mean goes on as one that has been there for all of their rounds. Otherwise as one of them,
        which has seen the mean number: weights that predict the next round and their average are means each.
    """

    scales: Scales
    width: int
    summed: bool


def merge(model: Model, others: Sequence[Model], shares: np.ndarray, how: Merging) -> None:
    """The mean of models (itself among them) in these shares."""
    scales, width, summed = how
    parts = Parts(others, shares, scales, width, np.ones(len(others)) if summed else shares)
    clocks = [other.clock for other in others]
    model.clock = sum(clocks) if summed else round(float(shares @ clocks))
    averages = [other.mean_weights() for other in others]
    mean = _mean(model, parts, averages)
    if not summed and model.space.drift.size:
        answers, mean = mean, _mean(model, parts, [other.weights() for other in others])
    _put(model.space.weights, mean, width)
    after = model.space.drift.size and model.hyper.numbers[MEAN_AFTER]
    model.space.drift[...] = model.space.weights if after else 0.0  # (as if they had always been these)
    if model.row.space.name in FOLLOWS:
        FOLLOWS[model.row.space.name](model, parts)
    if not summed and model.space.drift.size:
        _answer_by(model, answers, width)
    model.memory[BAR] = sum(s * other.memory[BAR] for s, other in zip(shares, others, strict=True))


def _answer_by(model: Model, answers: np.ndarray, width: int) -> None:
    """Choose the drift such that this is the average, which is the drift times something, and more."""
    if not model.clock:
        return
    drift, wanted, weights = model.space.drift, np.zeros(model.space.drift.shape), model.weights()
    _put(wanted, answers, width)
    drift[...] = 0.0
    without = np.array(model.row.space.average(model.space, model.clock, model.hyper, weights), float)
    drift[...] = model.clock  # (so that what it adds is not lost in rounding)
    added = model.row.space.average(model.space, model.clock, model.hyper, weights) - without
    share = np.divide(wanted - without, added, out=np.zeros(drift.shape), where=added != 0.0)
    drift[...] = model.clock * share


def _mean(model: Model, parts: Parts, tables: Sequence[np.ndarray]) -> np.ndarray:
    """The mean of weights, by precision where that is kept (which is then the mean too).

    Steps are averaged, from the first: what all agree on stays as it is to the last bit, which a sum of
    shares would not.
    """
    kept = []
    for table, scale in zip(tables, parts.scales, strict=True):
        lines = _kept(table, parts.width)
        lines[-1] *= scale
        kept.append(lines)
    if is_uncertain(model):
        return _by_precision(model, kept, parts)
    first = kept[0]
    return np.asarray(first + sum(s * (lines - first) for s, lines in zip(parts.shares, kept, strict=True)))


def _kept(array: np.ndarray, width: int) -> np.ndarray:
    """Lines of the features that are known, and of the constant coordinate."""
    return np.concatenate([array[:width], array[-1:]]).astype(float)


def _put(array: np.ndarray, lines: np.ndarray, width: int) -> None:
    array[...] = 0.0
    array[:width], array[-1] = lines[:-1], lines[-1]


def _by_precision(model: Model, tables: Sequence[np.ndarray], parts: Parts) -> np.ndarray:
    """w = (sum_s share_s Sigma_s^-1)^-1 sum_s share_s Sigma_s^-1 w_s: the surer has more say."""
    spread, width = np.array([scale or 1.0 for scale in parts.scales]), parts.width
    if model.row.space.fields["sigma"].kind == SQUARE:
        return _by_matrices(model, tables, parts, spread)
    total, steps = np.zeros_like(tables[0]), np.zeros_like(tables[0])
    for other, table, share, scale in zip(parts.models, tables, parts.shares, spread, strict=True):
        sigma = _kept(other.space.sigma, width)
        sigma[-1] *= scale**2
        total += share / sigma
        steps += share * (table - tables[0]) / sigma
    mean = np.asarray(tables[0] + steps / total)
    model.space.sigma[:width], model.space.sigma[-1] = 1.0 / total[:-1], 1.0 / total[-1]
    if "theta" in model.row.space.fields:  # w = Sigma theta
        _put(model.space.theta, mean * total, width)
    return mean


def _by_matrices(model: Model, tables: Sequence[np.ndarray], parts: Parts, spread: np.ndarray) -> np.ndarray:
    """The same with a full covariance per output."""
    outputs, many, width = model.start.outputs, model.start.many, parts.width
    mean = np.zeros_like(tables[0])
    for k in range(outputs):
        total, steps = np.zeros((width + 1, width + 1)), np.zeros(width + 1)
        first = tables[0][:, k] if many else tables[0]
        for other, table, share, scale in zip(parts.models, tables, parts.shares, spread, strict=True):
            stretch = np.ones(width + 1)
            stretch[-1] = scale
            places = np.r_[:width, len(other.space.sigma[k]) - 1]
            precision = np.linalg.inv(
                other.space.sigma[k][np.ix_(places, places)] * np.outer(stretch, stretch)
            )
            total += share * precision
            steps += share * precision @ ((table[:, k] if many else table) - first)
        found = np.linalg.inv(total)
        places = np.r_[:width, len(model.space.sigma[k]) - 1]
        model.space.sigma[k][np.ix_(places, places)] = 0.5 * (found + found.T)
        if many:
            mean[:, k] = first + found @ steps
        else:
            mean[:] = first + found @ steps
    return mean


# ---- what follows from weights that are a mean: `model.space.weights` holds them, the clock is all rounds


class Parts:
    """The models that are merged; `counts`: how often each is in a sum (1, or its share)."""

    def __init__(
        self, models: Sequence[Model], shares: np.ndarray, scales: Scales, width: int, counts: np.ndarray
    ) -> None:
        self.models, self.shares, self.scales, self.width, self.counts = models, shares, scales, width, counts

    def summed(self, name: str, like: np.ndarray, power: int) -> np.ndarray:
        """The sum of an array over all of them; of the constant coordinate in its unit, to this power."""
        total = np.zeros(like.shape)
        for model, scale, count in zip(self.models, self.scales, self.counts, strict=True):
            lines = count * _kept(getattr(model.space, name), self.width)
            lines[-1] *= scale**-power if scale else 0.0
            total[: self.width] += lines[:-1]
            total[-1] += lines[-1]
        return total


def _stays(model: Model, parts: Parts) -> None:
    """Weights are all there is (a ball's centre)."""


def _fading(model: Model, parts: Parts) -> None:
    """w = v from here on; the shifting Perceptron counts the moves of all."""
    ledger = model.space.ledger
    ledger[FADING_SCALE] = 1.0
    moves = [other.space.ledger[FADING_MOVES] for other in parts.models]
    ledger[FADING_MOVES] = float(parts.counts @ moves)
    model.hyper.numbers[FADED] = model.clock
    _settle(model)


def _adagrad(model: Model, parts: Parts) -> None:
    """theta = w (delta + s), s^2 being the squares of all."""
    space = model.space
    space.squares[...] = parts.summed("squares", space.squares, 2)
    space.theta[...] = space.weights * (model.hyper.numbers[DELTA] + np.sqrt(space.squares))


def _soft(model: Model, parts: Parts) -> None:
    """|theta| = |w| (delta + s) + the threshold of all rounds; where w is 0, the thetas' sum within it."""
    space, mean = model.space, model.space.weights.astype(float)
    threshold, divisor = threshold_at(model.clock + 1, model.hyper), np.ones(mean.shape)
    if space.squares.size:
        space.squares[...] = parts.summed("squares", space.squares, 2)
        divisor = model.hyper.numbers[DELTA] + np.sqrt(space.squares)
    below = np.clip(parts.summed("weights", mean, 1), -threshold, threshold)
    space.weights[...] = np.where(mean != 0.0, mean * divisor + np.sign(mean) * threshold, below)


def _coin(model: Model, parts: Parts) -> None:
    """The mean wealth, and theta = w (T + 1) / Omega.

    There is more wealth where |theta| would be above T: the next bet would be more than all of it.
    """
    space, ledger, rounds = model.space, model.space.ledger, model.clock
    mean = space.weights.astype(float)
    each = [other.hyper.numbers[DELTA] * other.space.ledger[COIN_WEALTH] for other in parts.models]
    least = float(np.linalg.norm(mean)) * (rounds + 1) / max(rounds, 1)
    wealth = max(float(parts.shares @ each), least)
    space.weights[...] = mean * (rounds + 1) / wealth
    ledger[COIN_WEALTH] = wealth / model.hyper.numbers[DELTA]
    ledger[COIN_LARGEST] = max(other.space.ledger[COIN_LARGEST] for other in parts.models)
    ledger[COIN_SPREAD], ledger[COIN_LAST] = rounds * wealth / (rounds + 1), rounds


def _pegasos(model: Model, parts: Parts) -> None:
    """z = lam T (w - prior), as if all T batches so far had predicted with w: so has every average."""
    space, ledger, numbers = model.space, model.space.ledger, model.hyper.numbers
    batches = turn(model.clock + 1, numbers[BATCH]) - 1.0
    mean = space.weights.astype(float)
    z = numbers[LAM] * batches * (mean - (space.prior if space.prior.size else 0.0))
    sums = z / max(batches, 1.0)  # of z_t / (t - 1), for each batch
    if numbers[FREE_BIAS]:
        z[-1] = sums[-1] = mean[-1]
    space.weights[...] = z
    space.before[...], space.stamp[...] = 0.0, 0.0
    ledger[PEGASOS_SIGMA], ledger[PEGASOS_SPREAD], ledger[PEGASOS_LAST] = 1.0, 1.0, batches
    ledger[PEGASOS_LENGTH], ledger[PEGASOS_MOVES] = float(np.square(z).sum()), 0.0
    if space.early.size:
        grid, marks = grid_after(0.0, numbers[SUFFIX], numbers[ANCHOR]), [0.0, 0.0]
        while np.floor(grid + 1e-6) <= batches:
            marks.append(float(np.floor(grid + 1e-6)))
            grid = grid_after(grid, numbers[SUFFIX], numbers[ANCHOR])
        ledger[SUFFIX_EARLY], ledger[SUFFIX_LATER], ledger[SUFFIX_NEXT] = marks[-2], marks[-1], grid
        space.early[...], space.later[...] = marks[-2] * sums, marks[-1] * sums


def _norm(model: Model, parts: Parts) -> None:
    """theta = grad g(w), g = |w|_p^2 / (2a): |w_i|^(p-1) |w|_p^(2-p) / a, by groups where there are some."""
    space, q, scale = model.space, model.hyper.numbers[Q], model.hyper.numbers[LINK_SCALE]
    mean, p = space.weights.astype(float), q / (q - 1.0)
    gauge = np.abs(mean)
    if model.row.space.name == "group":
        squares = np.square(mean).reshape(len(mean), -1).sum(axis=1)
        place = space.group.astype(int) if space.group.size else np.arange(len(squares))
        each = np.sqrt(np.bincount(place, squares, len(squares)))
        norm, gauge = float((each**p).sum() ** (1.0 / p)), each[place].reshape((-1,) + (1,) * (mean.ndim - 1))
    else:
        norm = float((gauge**p).sum() ** (1.0 / p))
    ratio = np.divide(norm, gauge, out=np.zeros(gauge.shape), where=gauge > 0.0)
    _link(model, mean, mean * ratio ** (2.0 - p) / scale)


def _signed(model: Model, parts: Parts) -> None:
    """sinh(theta_i) = Z w_i / B with Z = sum of cosh(theta_j) = sum of sqrt(1 + (Z w_j / B)^2)."""
    from scipy.optimize import brentq  # (which takes long to load)

    mean, mask = model.space.weights.astype(float), living(model.space, model.hyper)
    share = mean / model.hyper.numbers[LINK_SCALE]
    share *= min(1.0, (1.0 - 1e-12) / max(float(np.abs(share).sum()), 1e-300))
    count = float(mask.sum())

    def excess(total: float) -> float:
        return float(np.sqrt(1.0 + np.square(total * share[mask])).sum()) - total

    most = count / (1.0 - float(np.abs(share).sum()))
    total = brentq(excess, 0.0, 2.0 * most, xtol=1e-14 * most, rtol=1e-15) if count else 0.0
    _link(model, mean, np.arcsinh(total * share))


def _simplex(model: Model, parts: Parts) -> None:
    """theta_i = ln(w_i / B); their sum is B again, also where constant coordinates differ in value."""
    mean, mask = model.space.weights.astype(float), living(model.space, model.hyper)
    share = np.maximum(mean / model.hyper.numbers[LINK_SCALE], 1e-300)
    _link(model, mean, np.where(mask, np.log(share), 0.0))


def _link(model: Model, mean: np.ndarray, theta: np.ndarray) -> None:
    """theta and the sums over it; the average has been w all along."""
    space = model.space
    space.weights[...] = theta
    if space.drift.size:
        space.drift[...] = model.clock * mean
    space.ledger[NORM_LAST] = model.clock
    _settle(model)


def _settle(model: Model) -> None:
    """Sums that the Space keeps."""
    if model.row.space.settle is not None:
        model.row.space.settle(model.space, model.hyper, model.clock)


FOLLOWS: dict[str, Callable[[Model, Parts], None]] = {
    "center": _stays, "shifting": _fading, "ball": _fading, "forgetful": _fading, "adagrad": _adagrad,
    "soft": _soft, "coin": _coin, "shrunk": _pegasos, "pnorm": _norm, "group": _norm, "entropic": _signed,
    "simplex": _simplex,
}  # fmt: skip
"""By the name of a Space: how what it keeps beside weights follows from their mean."""
