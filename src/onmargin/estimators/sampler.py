"""Asking only for labels that matter, around any classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone

from ..errors import BadInput
from ..learn.vocabulary import ASK_CHANCE, ASK_DELTA, DRIFTED, LONGEST, MOVES
from .asking import asking_choices
from .asks import AsksForLabels
from .classifier import LinearClassifier
from .gambling import Gambler


class SelectiveSampler(MetaEstimatorMixin, AsksForLabels):  # type: ignore[misc]
    """Ask for a label only where the learner is unsure: a coin with probability delta / (delta + |p|).

    p is the learner's score (of several classes: the gap between the two best). `fit` and `om.progressive`
    play the whole protocol in the compiled loop and read no label that was not asked for; `partial_fit` and
    `learn_one` take labels as a person's answers: every label that is there is learned, missing ones (NaN,
    None) are skipped. `query` and `query_one` say which rows to ask for. `predict` is the learner's.

    Parameters
    ----------
    estimator : a classifier of this library, linear or with a kernel.
    delta : how far from 0 a score is still doubtful; in the units of p. For the Passive-Aggressive family
        the bounds hold from 1 on.
    rule : "bernoulli"; "adaptive" (delta grows as delta X^2 sqrt(1 + moves), X the longest row; made for the
        Perceptron); "margin" (|p| <= delta, no coin); "random" (target_rate, or delta, of all rows).
    budget : how many labels there may be in all; with `window`, within so many rows.
    target_rate : the share of rows to ask for; delta follows it (a heuristic: no bounds).
    random_state : the coins; one uniform a row.

    References: Cesa-Bianchi, Gentile & Zaniboni 2006 (Perceptron); Lu, Zhao & Hoi 2016 (Passive-Aggressive).

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(4000, seed=0)
    >>> model = SelectiveSampler(om.PassiveAggressiveClassifier(C=0.1), delta=0.1, random_state=0).fit(X, y)
    >>> model.n_queries_ < 1500, model.score(X, y) > 0.95
    (True, True)
    """

    def __init__(
        self, estimator: Any, *, delta: float = 1.0, rule: str = "bernoulli", budget: int | None = None,
        target_rate: float | None = None, window: int | None = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimator, self.delta, self.rule, self.budget = estimator, delta, rule, budget
        self.target_rate, self.window, self.random_state = target_rate, window, random_state

    @classmethod
    def _unit_test_params(cls) -> Any:
        from .perceptron import Perceptron

        yield {"estimator": Perceptron(), "random_state": 0}

    def _made_inner(self) -> Any:
        given = self.estimator
        if not isinstance(given, LinearClassifier):
            raise BadInput(f"estimator={given!r}; wanted a classifier of this library, made")
        if isinstance(given, Gambler):
            raise BadInput(f"{type(given).__name__} draws by itself; wanted a learner of single examples")
        return clone(given)

    def _rule_numbers(self) -> dict[str, Any]:
        return asking_choices(self)

    def chances(self, sure: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The probability that a row of such |p| and |x|^2 is asked for, limits apart."""
        numbers = self._numbers()
        spread = numbers[ASK_DELTA] * np.exp(numbers[DRIFTED])
        if self.rule == "random":
            return np.full(len(sure), float(numbers[ASK_CHANCE]))
        if self.rule == "margin":
            return np.asarray(sure <= spread, float)
        if self.rule == "adaptive":
            spread = spread * np.maximum(numbers[LONGEST], lengths) * np.sqrt(1.0 + numbers[MOVES])
        spread = np.minimum(spread, 1e300)
        return np.asarray(np.where(sure > 0, spread / np.maximum(spread + sure, 1e-300), 1.0))
