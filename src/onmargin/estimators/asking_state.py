"""A learner inside another: its rule's numbers, what was counted so far, and the coins."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ..errors import BadInput
from .online import drawn_seed
from .river_face import RiverFace

DRAWS = 6  # the purpose of a generator


class AskingState(RiverFace, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner inside, `estimator_`, and a rule that says which of its rounds ask for their label.

    A subclass makes the learner and names the rule's numbers.
    """

    _river_base = "Classifier"
    estimator_: Any
    random_state: Any
    _entropy: int | None = None
    _kind = "labels"

    def _made_inner(self) -> Any:
        """A fresh learner."""
        raise NotImplementedError

    def _rule_numbers(self) -> dict[str, Any]:
        """The rule as numbers of the loop, checked."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self._inner_model() is not None

    @property
    def _is_stochastic(self) -> bool:
        return True

    # ---- the learner inside

    def _inner_model(self) -> Any:
        inner = self.__dict__.get("estimator_")
        return None if inner is None else inner._model

    def _inner(self, fresh: bool = False) -> Any:
        """The learner, with this sampler's numbers; a fresh one where asked for."""
        choices = self._rule_numbers()
        if fresh or "estimator_" not in self.__dict__:
            self.estimator_ = self._made_inner()
        inner = self.estimator_
        if inner._asking is not None and inner._asking != choices:
            inner._stream = None
        inner._asking = choices
        if inner._model is not None and inner._model.numbers != inner._all_choices():
            inner._refresh(inner._model)
        return inner

    def _numbers(self) -> np.ndarray:
        """Where rows and labels are counted: in the model, or before there is one."""
        inner = self._inner()
        if inner._model is not None:
            return np.asarray(inner._model.hyper.numbers)
        inner._carry_questions()
        return np.asarray(inner._asked_before)

    def _coins(self, first: int, count: int) -> np.ndarray:
        """The uniforms of rows first, first + 1, ... of the stream."""
        bits = np.random.PCG64(self._generator(DRAWS).integers(2**63))
        bits.advance(int(first))
        return np.random.Generator(bits).random(count)

    def _generator(self, purpose: int) -> np.random.Generator:
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            if self._entropy is None:
                self._entropy = drawn_seed(seed)
            seed = self._entropy
        if seed < 0:
            raise BadInput(f"random_state={seed!r}; wanted a whole number of at least 0")
        return np.random.default_rng([int(seed), purpose])
