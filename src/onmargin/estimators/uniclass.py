"""Passive-Aggressive uniclass prediction: one ball around the data."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from ..errors import BadInput, shown
from ..interface.dicts.streams import Example, learn_many, learn_one, open_stream, predict_many
from ..interface.guard import alone, answers, changes, in_place
from ..interface.parameters.fields import (
    Averaged,
    Budget,
    Growing,
    KernelParameters,
    Passes,
    Shuffled,
    above_zero,
    from_zero,
    learner,
    one_of,
    precision,
)
from ..interface.runs.comparing import Compared
from ..interface.support import KernelForm
from ..interface.tables import Table
from ..interface.targets.target import PointTargets
from ..learn.vocabulary import TRACED
from ..models.weights import Model, Numbers


class BallTargets(PointTargets):
    """Points to be enclosed: the trace knows the radius before each round."""

    def __init__(self, owner: PassiveAggressiveUniclass) -> None:
        super().__init__(owner)
        self.ball = owner

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        """Radius minus distance."""
        return np.asarray(self.ball._distances(scores[:, 0]) - self.ball.offset_)

    def trace_start(self, model: Model) -> float:
        """The learned radius' coordinate."""
        return model.radius_coordinate(False)

    def traced(self, whole: np.ndarray, start: Any) -> tuple[np.ndarray, np.ndarray]:
        """Radius minus distance before each round; omega shrinks by 1 - step / distance a round."""
        most = self.ball.max_radius
        scores, steps = whole[:, TRACED], whole[:, 2]
        omega = np.zeros(len(scores))
        radius = np.full(len(scores), float(self.ball.epsilon))
        if most is not None:
            begin = most if start is None else float(start)
            factors = 1.0 + np.divide(steps, scores, out=np.zeros_like(scores), where=scores != 0)
            omega = begin * np.r_[1.0, np.cumprod(factors)[:-1]]
            radius = np.sqrt(np.maximum(most**2 - omega**2, 0.0))
        decisions = radius - np.sqrt(np.maximum(scores**2 - omega**2, 0.0))
        return decisions, np.where(decisions >= 0, 1, -1)


@learner
class PassiveAggressiveUniclass(
    OutlierMixin,  # type: ignore[misc]
    KernelForm, Passes, Shuffled, Growing, Averaged, KernelParameters, Budget,
):  # fmt: skip
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
    >>> model = PassiveAggressiveUniclass(step="pa", shuffle=False, max_iter=1, average=False)
    >>> model.fit(np.array([[3.0, 4.0]])).center_
    array([2.4, 3.2])
    """

    C: float = above_zero(default=1.0, inf=True)
    step: str = one_of("pa", "pa1", "pa2", default="pa1")
    epsilon: float = from_zero(default=1.0)
    max_radius: float | None = above_zero(default=None, none=True, lasting=True)
    dtype: str | None = precision(default=None)

    river_base = "AnomalyDetector"
    _may_diverge = False  # a ball only moves towards its points; its distances may overflow
    _counts_mistakes = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._is_precomputed():
            raise BadInput("a ball needs k(x, x) of every row asked; kernel='precomputed' does not give it")

    def _targets(self) -> BallTargets:
        return BallTargets(self)

    def _problem(self) -> str:
        return "uniclass"

    def row(self, problem: str) -> str:
        """pa1.uniclass, ..."""
        return f"{self.step}.uniclass"

    def numbers(self) -> Numbers:
        """C, and the (largest) radius."""
        return {"C": self.C, "epsilon": self.epsilon if self.max_radius is None else self.max_radius}

    def _begin(self, model: Model, known: int) -> None:
        if not known and self.max_radius is not None:
            model.set_radius(float(self.max_radius))

    def _start_from(self, model: Model, coef: object, intercept: object) -> None:
        if intercept is not None:
            raise BadInput("a ball has no intercept; leave intercept_init out")
        super()._start_from(model, coef, None)

    def _miss_columns(self, names: list[Any]) -> None:
        if names and not self._in_kernel:
            raise BadInput(
                f"column {shown(names[0])} was never met; a distance needs all columns; leave it out"
            )

    # ---- learning

    def fit(
        self, X: object, y: object = None, coef_init: object = None, intercept_init: object = None,
        sample_weight: object = None,
    ) -> Self:  # fmt: skip
        """Learn from scratch in at most `max_iter` passes; `coef_init` is the centre to start from."""
        return self._fit(X, None, coef_init, intercept_init, sample_weight)

    def partial_fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Learn from these points, in order, each once."""
        return self._partial_fit(X, None, None, sample_weight)

    @property
    def _supervised(self) -> bool:
        return False

    def learn_one(self, x: Example, w: float = 1.0) -> None:
        """One point: a dict of numbers."""
        self._learn_one(x, w)

    @in_place
    def _learn_one(self, x: Example, w: float) -> None:
        learn_one(self, x, 0.0, w)

    @changes
    def learn_many(self, X: object, y: object = None, w: object = None) -> None:
        """Learn a frame's rows in order: equal to the loop of `learn_one`."""
        learn_many(self, X, y, w)

    # ---- beside another ball

    @answers
    def comparator_losses(self, X: Table, y: object, comparator: object) -> np.ndarray:
        """[|u - x| - epsilon]_+ of another centre; with `max_radius` of (centre, radius)."""
        return self._compared(X, y, comparator).losses

    def _compared(self, X: Table, y: object, comparator: object) -> Compared:
        """Another ball beside a run's points: `weights` are its centre, the radius' coordinate last."""
        largest = self.max_radius
        centre, radius = comparator if isinstance(comparator, tuple) else (comparator, largest or 0.0)
        if largest is None and isinstance(comparator, tuple):
            raise BadInput("the radius is epsilon=, and not learned; give the comparator's centre alone")
        if largest is not None and not 0.0 <= float(radius) <= largest:
            raise BadInput(f"the comparator's radius is {shown(radius)}; wanted 0 to max_radius={largest:g}")
        omega = 0.0 if largest is None else math.sqrt(largest**2 - float(radius) ** 2)
        reach = float(self.epsilon if largest is None else largest)
        found = self._form().compared(X, centre, lambda scores: np.zeros(len(scores)))
        gaps = found.lengths + found.square + omega**2

        def judge(scores: np.ndarray) -> np.ndarray:
            return np.asarray(np.maximum(np.sqrt(np.maximum(gaps - 2 * scores[:, 0], 0.0)) - reach, 0.0))

        if found.weights is not None:
            found.weights[:, -1] = omega
        return found._replace(losses=judge(found.scores), judge=judge)

    # ---- answers

    @property
    def center_(self) -> np.ndarray:
        """The centre of the ball."""
        return np.asarray(self.coef_[0])

    @property
    @answers
    def radius_(self) -> float:
        """epsilon, or sqrt(B^2 - omega^2) where it is learned."""
        if self.max_radius is None:
            return float(self.epsilon)
        return math.sqrt(max(self.max_radius**2 - self._omega() ** 2, 0.0))

    @property
    def offset_(self) -> float:
        """Minus the radius."""
        return -self.radius_

    def _omega(self) -> float:
        """The coordinate of the learned radius."""
        model = self._fitted()
        return model.radius_coordinate(model.start.average)

    def _distances(self, scores: np.ndarray) -> np.ndarray:
        """Scores of the loop measure (c, omega) to (y, 0); take omega out again."""
        if self.max_radius is None:
            return scores
        return np.asarray(-np.sqrt(np.maximum(scores**2 - self._omega() ** 2, 0.0)))

    @answers
    def score_samples(self, X: object) -> np.ndarray:
        """Minus the distance from the centre."""
        return self._distances(self._scores(X)[:, 0])

    @answers
    def decision_function(self, X: object) -> np.ndarray:
        """Radius minus distance: positive inside the ball."""
        return np.asarray(self.score_samples(X) - self.offset_)

    @answers
    def predict(self, X: object) -> np.ndarray:
        """+1 inside, -1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    @alone
    def score_one(self, x: Example) -> float:
        """The distance from the centre: the higher, the stranger (River's way round)."""
        if self._model is None:
            return 0.0
        stream = self._stream or open_stream(self)
        stream.check(x)
        if self._in_kernel:
            return -float(self._distances(stream.scores(x)[0])[0])
        new = [value for name, value in x.items() if name not in stream.slots]
        known = {name: value for name, value in x.items() if name in stream.slots}
        near = float(self._distances(stream.scores(known)[0])[0])
        return math.sqrt(near**2 + sum(float(value) ** 2 for value in new))

    @alone
    def predict_one(self, x: Example) -> int:
        """+1 inside, -1 outside."""
        distance = self.score_one(x)
        return 1 if self._model is not None and distance <= self.radius_ else -1

    @answers
    def predict_many(self, X: object) -> Any:
        """A frame's answers as a series."""
        return predict_many(self, X, self.predict_one, self.predict)

    def top_features(self, k: int = 10, feature_names: object = None) -> Any:
        """Not for a ball."""
        raise BadInput("a ball has a distance, not a sum to explain; see center_ and radius_")

    def explain(self, x: object, k: int | None = None, feature_names: object = None) -> Any:
        """Not for a ball."""
        raise BadInput("a ball has a distance, not a sum to explain; see score_samples and radius_")
