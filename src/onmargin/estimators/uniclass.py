"""Passive-Aggressive uniclass prediction: one ball around the data."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from ..errors import BadInput
from ..learn.vocabulary import TRACED
from ..models.kernel import KernelModel
from ..models.weights import Model
from .linear import LinearWeights
from .numbers import NumberLearner
from .passive_aggressive import check_step
from .support import Support


class PassiveAggressiveUniclass(Support, OutlierMixin, LinearWeights, NumberLearner):  # type: ignore[misc]
    """A centre that moves just far enough to have each point within its radius.

    loss = [|c - y| - epsilon]_+ and c += step (y - c) / |y - c|, with a step of min(C, loss) (PA-I).
    With `max_radius` = B the radius is learned: it starts at 0 and never decreases, up to B.

    Parameters
    ----------
    C : the longest step (PA-I) or the price of squared slack (PA-II).
    step : "pa", "pa1" or "pa2".
    epsilon : the radius, where it is not learned.
    max_radius : None, or the largest admissible radius: it is then learned.
    kernel, gamma, degree, coef0, budget : a ball in the kernel's space; see `om.kernels`. No `center_` then.
        With an RBF all points lie at distance 1 from where the centre starts: set epsilon below 1.

    `center_`, `radius_`; `score_samples` is minus the distance, `offset_` minus the radius, and
    `predict` says +1 inside and -1 outside. `sample_weight` multiplies C. O(d) a round.

    Reference: Crammer et al. 2006, section 6.

    >>> import numpy as np
    >>> model = PassiveAggressiveUniclass(step="pa", shuffle=False, max_iter=1)
    >>> model.fit(np.array([[3.0, 4.0]])).center_
    array([2.4, 3.2])
    """

    _river_base = "AnomalyDetector"

    _may_overflow = True
    _may_diverge = False  # a ball only moves towards its points; its distances may overflow

    def __init__(
        self, *, C: float = 1.0, step: str = "pa1", epsilon: float = 1.0, max_radius: float | None = None,
        average: bool = False, max_iter: int = 20, tol: float | None = 1e-3, n_iter_no_change: int = 2,
        shuffle: bool = True, random_state: Any = None, warm_start: bool = False, verbose: int = 0,
        dtype: str | None = None, growing: bool = False,
        kernel: Any = None, gamma: Any = "scale", degree: int = 3, coef0: float = 0.0, budget: Any = None,
    ) -> None:  # fmt: skip
        self.C, self.step, self.epsilon, self.max_radius = C, step, epsilon, max_radius
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.warm_start, self.verbose, self.dtype, self.growing = warm_start, verbose, dtype, growing
        self.kernel, self.gamma, self.degree, self.coef0, self.budget = kernel, gamma, degree, coef0, budget

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_step(self.step)
        if self._is_precomputed():
            raise BadInput("a ball needs k(x, x) of every row asked; kernel='precomputed' does not give it")

    def _recipe_name(self) -> str:
        return f"{self.step}.uniclass"

    def _choices(self) -> dict[str, Any]:
        return {"C": self.C, "epsilon": self.epsilon if self.max_radius is None else self.max_radius}

    def _begin(self, model: Model, known: int) -> None:
        if known or self.max_radius is None:
            return
        if isinstance(model, KernelModel):
            model.start_omega(float(self.max_radius))
        else:
            model.space.weights[-1] = self.max_radius

    def _omega(self) -> float:
        """The coordinate of the learned radius; 0 where it is given."""
        model = self._fitted()
        if isinstance(model, KernelModel):
            return model.omega(model.start.average)
        return float(self._table_of_weights()[0, -1]) if self.max_radius is not None else 0.0

    def _trace_start(self, model: Model) -> Any:
        return model.omega(False) if isinstance(model, KernelModel) else model.space.weights[-1].copy()

    def _read_y(self, y: Any, count: int) -> None:
        return None

    def fit(
        self, X: Any, y: Any = None, coef_init: Any = None, intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Any:  # fmt: skip
        """Learn from scratch in at most `max_iter` passes; `coef_init` is the centre to start from."""
        return self._fit(X, None, coef_init, intercept_init, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from these points, in order, each once."""
        return self._partial_fit(X, None, None, sample_weight)

    @property
    def center_(self) -> np.ndarray:
        """The centre of the ball."""
        return np.asarray(self.coef_[0])

    @property
    def radius_(self) -> float:
        """epsilon, or sqrt(B^2 - omega^2) where it is learned."""
        if self.max_radius is None:
            return float(self.epsilon)
        return math.sqrt(max(self.max_radius**2 - self._omega() ** 2, 0.0))

    @property
    def offset_(self) -> float:
        """Minus the radius."""
        return -self.radius_

    def score_samples(self, X: Any) -> np.ndarray:
        """Minus the distance from the centre."""
        return self._distances(self._scores(X)[:, 0])

    def _distances(self, scores: np.ndarray) -> np.ndarray:
        """Scores of the loop measure (c, omega) to (y, 0); take omega out again."""
        if self.max_radius is None:
            return scores
        return np.asarray(-np.sqrt(np.maximum(scores**2 - self._omega() ** 2, 0.0)))

    def decision_function(self, X: Any) -> np.ndarray:
        """Radius minus distance: positive inside the ball."""
        return np.asarray(self.score_samples(X) - self.offset_)

    def _decisions(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(self._distances(scores[:, 0]) - self.offset_)

    def predict(self, X: Any) -> np.ndarray:
        """+1 inside, -1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _traced(self, whole: np.ndarray, start: Any) -> tuple[np.ndarray, np.ndarray]:
        """Radius minus distance before each round; omega shrinks by 1 - step / distance a round."""
        scores, steps = whole[:, TRACED], whole[:, 2]
        omega = np.zeros(len(scores))
        radius = np.full(len(scores), float(self.epsilon))
        if self.max_radius is not None:
            begin = self.max_radius if start is None else float(start)
            factors = 1.0 + np.divide(steps, scores, out=np.zeros_like(scores), where=scores != 0)
            omega = begin * np.r_[1.0, np.cumprod(factors)[:-1]]
            radius = np.sqrt(np.maximum(self.max_radius**2 - omega**2, 0.0))
        decisions = radius - np.sqrt(np.maximum(scores**2 - omega**2, 0.0))
        return decisions, np.where(decisions >= 0, 1, -1)

    # ---- dicts

    @property
    def _supervised(self) -> bool:
        return False

    def learn_one(self, x: Mapping[Hashable, Any], w: float = 1.0) -> None:
        """One point: a dict of numbers."""
        if self._is_unseen(x, 0.0, w):
            return
        stream, weight = self._ready_round(x, 0.0, w)
        stream.learn(x, weight)

    def score_one(self, x: Mapping[Hashable, Any]) -> float:
        """The distance from the centre: the higher, the stranger (River's way round)."""
        if self._model is None:
            return 0.0
        stream = self._stream or self._open()
        stream.packer.check(x)
        if self._in_kernel:
            return -float(self._distances(stream.scores(x)[0])[0])
        new = [value for name, value in x.items() if name not in stream.slots]
        known = {name: value for name, value in x.items() if name in stream.slots}
        near = float(self._distances(stream.scores(known)[0])[0])
        return math.sqrt(near**2 + sum(float(value) ** 2 for value in new))

    def predict_one(self, x: Mapping[Hashable, Any]) -> int:
        """+1 inside, -1 outside."""
        distance = self.score_one(x)
        return 1 if self._model is not None and distance <= self.radius_ else -1

    def _miss_columns(self, names: list[Any]) -> None:
        if names and not self._in_kernel:
            raise BadInput(f"column {names[0]!r} was never met; a distance needs all columns; leave it out")

    def _set_weights(self, model: Model, coef: Any, intercept: Any) -> None:
        if intercept is not None:
            raise BadInput("a ball has no intercept; leave intercept_init out")
        super()._set_weights(model, coef, None)
