"""How sure a learner is of rows, and the numbers of an asking rule."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.rows import Sparse
from ..errors import BadInput, require_whole
from ..learn.queries import ADAPTIVE, RULES
from ..models.kernel import KernelModel
from ..models.weights import Model
from .parameters import require_positive


def asking_choices(sampler: Any) -> dict[str, Any]:
    """The parameters of a sampler, checked, as numbers of the loop."""
    if sampler.rule not in RULES:
        raise BadInput(f"rule={sampler.rule!r}; wanted one of {', '.join(map(repr, RULES))}")
    require_positive("delta", sampler.delta, True, True)
    budget, window, rate = sampler.budget, sampler.window, sampler.target_rate
    whole = isinstance(budget, int | np.integer) and not isinstance(budget, bool)
    if budget is not None and (not whole or budget < 0):
        raise BadInput(f"budget={budget!r}; wanted a whole number of labels of at least 0, or None")
    if window is not None:
        require_whole("window", window)
        if not budget:
            raise BadInput(f"window={window!r} wants budget=, how many labels there may be within it")
    if rate is not None:
        require_positive("target_rate", rate, False, False)
        if rate > 1:
            raise BadInput(f"target_rate={rate!r}; wanted a share of the rows, at most 1")
    random = sampler.rule == "random"
    chance = min(float(sampler.delta), 1.0) if rate is None else float(rate)
    return {
        "ask_rule": float(RULES.index(sampler.rule)), "ask_delta": float(sampler.delta), "ask_chance": chance,
        "ask_most": math.inf if budget is None else float(budget),
        "ask_within": math.inf if window is None else float(window),
        "ask_share": 0.0 if rate is None or random else float(rate),
    }  # fmt: skip


def sureness(scores: np.ndarray) -> np.ndarray:
    """|p|; of several classes, the gap between the two best scores."""
    if scores.shape[1] == 1:
        return np.asarray(np.abs(scores[:, 0]))
    best = np.partition(scores, scores.shape[1] - 2, axis=1)
    return np.asarray(best[:, -1] - best[:, -2])


def lengths_of(model: Model, rows: Any, count: int) -> np.ndarray:
    """|x|^2 (or k(x, x)) of rows, where the rule asks for it."""
    if model.numbers["ask_rule"] != ADAPTIVE:
        return np.zeros(count)
    if isinstance(model, KernelModel):
        return model.own_lengths(rows, count)
    if isinstance(rows, Sparse):
        used = np.square(rows.values[: rows.starts[count]], dtype=float)
        sums = np.add.reduceat(np.r_[used, 0.0], rows.starts[:count])
        return np.where(np.diff(rows.starts[: count + 1]) > 0, sums, 0.0) + rows.bias**2
    return np.asarray(np.square(rows.values[:count], dtype=float).sum(axis=1) + rows.bias**2)
