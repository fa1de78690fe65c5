"""The Spaces of `normed`, put together: p-norm, group norm, entropy with signs and on the simplex.

Beside the compiled parts each has its map in plain NumPy, for whoever wants all weights at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...compiled.parts import Part, compose
from ..vocabulary import BIASED, KNOWN, LINK_SCALE, NORM_COUNT, NORM_LAST, NORM_SUM, NORM_TOP, NORM_WORK, Q
from . import links, normed
from .arrays import Space
from .normed import FIELDS, Normed


def gauges(arrays: Any, grouped: bool) -> np.ndarray:
    """What each coordinate of theta is measured by."""
    if not grouped:
        return np.asarray(np.abs(arrays.weights))
    place = arrays.group.astype(int) if arrays.group.size else slice(None)
    each = np.sqrt(arrays.norms)[place]
    return np.asarray(each if arrays.weights.ndim == 1 else each[:, None])


def read_norm(arrays: Any, clock: int, hyper: Any, grouped: bool = False) -> np.ndarray:
    """a theta_i (gauge / |theta|_q)^(q-2)"""
    said = links.norm_reading(arrays.ledger[NORM_TOP], arrays.ledger[NORM_SUM], 0.0, hyper.numbers[Q])
    ratio = gauges(arrays, grouped) / said if said > 0 else np.zeros(1)
    return np.asarray(hyper.numbers[LINK_SCALE] * arrays.weights * ratio ** (hyper.numbers[Q] - 2.0))


def read_groups(arrays: Any, clock: int, hyper: Any) -> np.ndarray:
    """The same, measured by groups."""
    return read_norm(arrays, clock, hyper, grouped=True)


def living(arrays: Any, hyper: Any) -> np.ndarray:
    """Which coordinates exist."""
    mask = np.zeros(arrays.weights.shape, bool)
    mask[: int(hyper.numbers[KNOWN]), ...] = True
    mask[-1, ...] = hyper.numbers[BIASED] > 0
    if mask.ndim == 2:
        mask[:, hyper.outputs :] = False
    return mask


def _entropic(arrays: Any, hyper: Any, signed: bool) -> np.ndarray:
    theta, mask = arrays.weights.astype(np.float64), living(arrays, hyper)
    top = float(np.abs(theta[mask]).max() if signed else theta[mask].max()) if mask.any() else 0.0
    up, down = np.exp(theta - top), np.exp(-theta - top) if signed else np.zeros(theta.shape)
    return np.asarray(hyper.numbers[LINK_SCALE] * np.where(mask, up - down, 0.0) / (up + down)[mask].sum())


def read_signed(arrays: Any, clock: int, hyper: Any) -> np.ndarray:
    """B sinh(theta_i) / sum cosh"""
    return _entropic(arrays, hyper, True)


def read_simplex(arrays: Any, clock: int, hyper: Any) -> np.ndarray:
    """B softmax(theta)"""
    return _entropic(arrays, hyper, False)


def averaged(arrays: Any, clock: int, hyper: Any, weights: np.ndarray) -> np.ndarray:
    """The average of the weights that predicted."""
    since = clock - arrays.ledger[NORM_LAST]
    return np.asarray((arrays.drift + since * weights) / max(clock, 1)) if clock else weights


def _settle(grouped: bool, signed: bool | None) -> Callable[[Any, Any, int], None]:
    """The sums after the arrays took on another shape; `signed` is None for norms."""

    def settle(arrays: Any, hyper: Any, clock: int) -> None:
        ledger, mask = arrays.ledger, living(arrays, hyper)
        if grouped:
            squares = (arrays.weights.astype(np.float64) ** 2).reshape(len(arrays.weights), -1).sum(axis=1)
            place = arrays.group.astype(int) if arrays.group.size else np.arange(len(squares))
            arrays.norms[:] = np.bincount(place, squares, len(squares))
            values = np.sqrt(arrays.norms)
        else:
            theta = arrays.weights.astype(np.float64)[mask]
            values = theta if signed is False else np.abs(theta)
        top = float(values.max()) if values.size else 0.0
        terms = {None: links.power_term, True: links.cosh_term, False: links.exp_term}[signed]
        ledger[NORM_TOP], ledger[NORM_SUM] = (
            top,
            sum(terms(float(value), top, hyper.numbers[Q]) for value in values),
        )
        ledger[NORM_COUNT], ledger[NORM_WORK] = mask.sum(), 0.0

    return settle


def _space(name: str, read: Any, measure: Part, settle: Any, **roles: Any) -> Space:
    """One Space of this family, from its parts."""
    total = roles.pop("total_terms", normed.total_of_coordinates)
    roles["total_terms"] = compose(total, f"{total.__name__}_{name}", **roles)
    for helper in (normed.lift, normed.shift_theta, normed.sum_anew, normed.remember):
        roles[helper.__name__] = compose(helper, f"{helper.__name__}_{name}", **roles)
    made = [compose(part, f"{part.__name__}_{name}", **roles) for part in (normed.score, normed.move)]
    return Space(name, Normed, FIELDS, made[0], measure, made[1], normed.mean, read, averaged, settle)


_POWERS: dict[str, Any] = {
    "term": links.power_term, "rescale": links.power_rescale, "reading": links.norm_reading,
    "weigh": links.power_weigh,
}  # fmt: skip
_EXPS: dict[str, Any] = {"rescale": links.exp_rescale, "reading": links.cosh_reading}
PNORM = _space("pnorm", read_norm, links.size_q, _settle(False, None), gauge=links.own_gauge, **_POWERS)
GROUP = _space(
    "group", read_groups, links.size_groups, _settle(True, None), gauge=links.group_gauge,
    regroup=links.regroup_norms, measure_groups=links.sum_groups,
    total_terms=normed.total_of_groups, **_POWERS,
)  # fmt: skip
SIGNED = _space(
    "entropic", read_signed, links.size_largest, _settle(False, True),
    gauge=links.own_gauge, term=links.cosh_term, weigh=links.sinh_weigh, **_EXPS,
)  # fmt: skip
SIMPLEX = _space(
    "simplex", read_simplex, links.size_largest, _settle(False, False),
    gauge=links.plain_gauge, term=links.exp_term, weigh=links.exp_weigh, **_EXPS,
)  # fmt: skip
