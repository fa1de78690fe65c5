"""Asking only for labels that matter, around any classifier."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone

from ..errors import LARGEST, BadInput, require_whole, shown
from ..interface.asks import AsksForLabels
from ..interface.classifier import Classifier
from ..interface.fields import (
    check_limits,
    from_zero,
    learner,
    one_of,
    plain,
    require_positive,
    required,
)
from ..interface.guard import answers
from ..learn.queries import RULES
from ..models.asking import Chosen
from ..results.label_plan import Outlook

SETTLED = 0.05  # of the remaining rows' chances to be asked: below it a sampler's outlook says stop


@learner
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

    estimator: Any = required(kw_only=False)
    delta: float = from_zero(default=1.0, inf=True)
    rule: str = one_of(*RULES, default=RULES[0], listed=True)
    budget: int | None = plain(default=None)
    target_rate: float | None = plain(default=None)
    window: int | None = plain(default=None)
    random_state: Any = plain(default=None)

    variants = ()

    @classmethod
    def _unit_test_params(cls) -> Any:
        from .perceptron import Perceptron

        yield {"estimator": Perceptron(), "random_state": 0}

    def _made_inner(self) -> Classifier:
        given = self.estimator
        if not isinstance(given, Classifier):
            wanted = "wanted a classifier of this library, such as om.Perceptron()"
            raise BadInput(f"estimator={shown(given)}; {wanted}")
        if given._draws:
            raise BadInput(f"{type(given).__name__} draws by itself; wanted a learner of single examples")
        made: Classifier = clone(given)
        return made

    def _rule_numbers(self) -> Chosen:
        check_rule(self)
        rate = self.target_rate
        return {
            "ask_rule": float(RULES.index(self.rule)), "ask_delta": float(self.delta),
            "ask_chance": min(float(self.delta), 1.0) if rate is None else float(rate),
            "ask_most": math.inf if self.budget is None else float(self.budget),
            "ask_within": math.inf if self.window is None else float(self.window),
            "ask_share": 0.0 if rate is None or self.rule == "random" else float(rate),
        }  # fmt: skip

    @answers
    def chances(self, sure: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The probability that a row of such |p| and |x|^2 is asked for, limits apart."""
        return self._rule(self.inside()).chances(sure, lengths)

    @answers
    def outlook(self, X: object) -> Outlook:
        """How many labels the coin would still ask for; it says stop where that is next to nothing."""
        inner = self._answering()
        table = inner._table(X, reset=False)
        model, rows, count = inner._fitted(), inner._rows(table), table.shape[0]
        doubts = self._doubts(inner, model, rows, count, table, "nothing was looked at")
        chances = self.chances(*doubts)
        left = np.inf if self.budget is None or self.window is not None else self.budget - self.n_queries_
        expected = float(min(chances.sum(), left))
        share = expected / max(len(chances), 1)
        text = (
            f"of {len(chances):,} rows {expected:,.0f} labels would still be asked for ({share:.1%}); "
            f"{'that is little: stop' if share < SETTLED else 'go on'} "
            "(a heuristic: no bound stands behind it)"
        )
        return Outlook(len(chances), expected, 1.0 - share, share < SETTLED, text)


def check_rule(sampler: SelectiveSampler) -> None:
    """Refuse parameters that make no sense, each in one line."""
    check_limits(sampler)
    budget, window, rate = sampler.budget, sampler.window, sampler.target_rate
    whole = isinstance(budget, int | np.integer) and not isinstance(budget, bool)
    if budget is not None and (not whole or not 0 <= budget <= LARGEST):
        raise BadInput(f"budget={shown(budget)}; wanted a whole number of labels of at least 0, or None")
    if window is not None:
        require_whole("window", window)
        if not budget:
            raise BadInput(f"window={shown(window)} wants budget=, how many labels there may be within it")
    if rate is not None and require_positive("target_rate", rate, False, False) > 1:
        raise BadInput(f"target_rate={shown(rate)}; wanted a share of the rows, at most 1")
