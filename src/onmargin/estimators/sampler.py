"""Asking only for labels that matter, around any classifier."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone

from ..compiled.parts import Part
from ..errors import LARGEST, BadInput, require_whole, shown, warn
from ..interface.classifier import Classifier
from ..interface.feedback.asking_classifier import AskingClassifier
from ..interface.guard import answers
from ..interface.parameters.draws import seed_of
from ..interface.parameters.fields import (
    check_limits,
    flag,
    from_zero,
    is_auto,
    learner,
    optional,
    plain,
    require_positive,
)
from ..interface.tables import Table
from ..interface.targets.labels import items
from ..interface.targets.missing import numbered, one_kind, rows_of
from ..learn.queries import OWN, RULES
from ..models.asking import Chosen
from ..models.layout import Facts, count
from ..models.recipe import QUERIES, Recipe
from ..models.user_parts import own_rule
from ..results.label_plan import Outlook
from .passive_aggressive import PassiveAggressiveClassifier
from .second_order import AROW

IN_MARGINS = (AROW, PassiveAggressiveClassifier)  # (MIRA is one)
NAMED = [name for name in QUERIES if name != "always"]
SETTLED = 0.05  # of the remaining rows' chances to be asked: below it a sampler's outlook says stop


@learner
class SelectiveSampler(MetaEstimatorMixin, AskingClassifier):  # type: ignore[misc]
    """Ask for a label only where the learner is unsure: where its score p is at most delta.

    p is the learner's score (of several classes: the gap between the two best). `fit` and `om.progressive`
    play the whole protocol in the compiled loop and read no label that was not asked for; `partial_fit` and
    `learn_one` take labels as a person's answers: every label that is there is learned, missing ones (NaN,
    None) are skipped. `query` and `query_one` say which rows to ask for. `predict` is the learner's.

    Parameters
    ----------
    estimator : a classifier of this library, linear or with a kernel; "auto" is AROW().
    delta : how far from 0 a score is still doubtful; in the units of p. For the Passive-Aggressive family
        the bounds of "bernoulli" hold from 1 on.
    rule : "margin" (|p| <= delta: a row whose margin a hinge might want larger; no coin, no bound; the best
        on real data, see `docs/few_labels.md`); "bernoulli" (a coin with probability delta / (delta + |p|);
        the papers' bounds hold for it); "adaptive" (the same, delta growing as delta X^2 sqrt(1 + moves), X
        the longest row; made for the Perceptron); "random" (target_rate, or delta, of all rows). "auto" is
        "margin" around AROW, Passive-Aggressive and MIRA, whose scores are in the units of the margin they
        ask for, and around all learners that aim at a rate; otherwise "bernoulli": after a first step too
        long no score would ever be below delta again. Or your function of any of scores, now (`now.luck`: the
        coin) and hyper, which says whether to ask, as in `om.Recipe(query=)`: compiled, within `budget` and
        `window`; delta and target_rate are not for it.
    budget : how many labels there may be in all (`fit` spreads them over its rows, as a target rate would);
        with `window`, within so many rows.
    target_rate : the share of rows to ask for; delta follows it (a heuristic: no bounds).
    refit : after its pass over the rows `fit` learns once more, by the learner's own `fit`, from all labels
        that were bought (rows `queried_`), in several passes; False: the stream's model stays. Where one
        class was bought, and with precomputed kernels, the stream's stays too.
    random_state : the coins; one uniform a row.

    References: Cesa-Bianchi, Gentile & Zaniboni 2006 (Perceptron); Lu, Zhao & Hoi 2016 (Passive-Aggressive).

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(4000, seed=0)
    >>> model = SelectiveSampler(budget=100, random_state=0).fit(X, y)
    >>> len(model.queried_), model.score(X, y) > 0.95
    (100, True)
    """

    estimator: Any = optional(default="auto", kw_only=False)
    delta: float = from_zero(default=1.0, inf=True)
    rule: object = plain(default="auto")
    budget: int | None = plain(default=None)
    target_rate: float | None = plain(default=None)
    window: int | None = plain(default=None)
    refit: bool = flag(default=True)
    random_state: Any = plain(default=None)

    variants = ()

    @classmethod
    def _unit_test_params(cls) -> Any:
        from .perceptron import Perceptron

        yield {"estimator": Perceptron(), "random_state": 0}

    def _made_inner(self) -> Classifier:
        given = chosen_estimator(self.estimator)
        if not isinstance(given, Classifier):
            wanted = "wanted a classifier of this library, such as om.Perceptron()"
            raise BadInput(f"estimator={shown(given)}; {wanted}")
        if given._draws:
            raise BadInput(f"{type(given).__name__} draws by itself; wanted a learner of single examples")
        recipe = getattr(given, "recipe", None)
        if isinstance(recipe, Recipe) and recipe.given["query"] in NAMED:
            raise BadInput(f"{shown(recipe)} asks by itself; wanted a recipe with query='always'")
        made: Classifier = clone(given)
        return made

    def _rule_numbers(self) -> Chosen:
        check_rule(self)
        rate, rule = self._rate(), self._named_rule()
        return {
            "ask_rule": float(RULES.index(rule) if isinstance(rule, str) else OWN),
            "ask_delta": float(self.delta),
            "ask_chance": min(float(self.delta), 1.0) if rate is None else float(rate),
            "ask_most": math.inf if self.budget is None else float(self.budget),
            "ask_within": math.inf if self.window is None else float(self.window),
            "ask_share": 0.0 if rate is None or rule == "random" else float(rate),
        }  # fmt: skip

    def _rate(self) -> float | None:
        """The share of rows to aim at: a budget for so many rows is one, or the first rows would take it."""
        budget = None if self.target_rate is not None or self.window is not None else self.budget
        plainly = callable(self.rule) or self.rule == "random"  # (to "random" all rows are as good)
        if not budget or plainly or not self._to_come:
            return self.target_rate
        return min(1.0, budget / self._to_come)

    def _own_rule(self) -> Part | None:
        return own_rule(self.rule) if callable(self.rule) else None

    def _named_rule(self) -> object:
        """What "auto" stands for; a user's function as it is."""
        if not is_auto(self.rule):
            return self.rule
        fits = isinstance(chosen_estimator(self.estimator), IN_MARGINS)
        return "margin" if fits or self._rate() is not None else "bernoulli"

    def asking_state(self) -> dict[str, object]:
        """What a file must hold beside the learner inside."""
        return super().asking_state() | {"to_come": self._to_come}

    def restore_asking(self, inner: Classifier, kept: Facts) -> None:
        """Take it on again, around the learner that was inside."""
        self._to_come = count("rows to come", kept.get("to_come", 0))  # (not said in files of before)
        super().restore_asking(inner, kept)

    def _learn_again(self, X: Table, labels: np.ndarray, weights: np.ndarray | None) -> None:
        """By the learner's own `fit`; the rule goes on counting where it was."""
        inner, bought = self.estimator_, one_kind(labels[self.queried_])
        pairwise = inner.__sklearn_tags__().input_tags.pairwise
        told = self._named_rule() == "margin" and self._rate() is None  # delta is as it was given
        if told and len(inner.known_labels()) > 1 >= len(set(items(bought))):
            warn(
                f"rule='margin' bought {len(bought)} labels of one class, and then was sure of all rows; "
                f"raise delta={self.delta:g}, or set target_rate= or rule='bernoulli'",
                UserWarning,
            )
        if not self.refit or pairwise or len(set(items(bought))) < 2:
            return
        fresh, rule = self._made_inner(), self._rule(inner).copy()
        given, fresh.classes = (
            (fresh.classes, fresh.tol),
            inner.known_labels(),
        )  # some may not have been bought
        fresh.tol, fresh._entropy = None, seed_of(self)  # (few rows: all passes, and no warning)
        mine = None if weights is None else weights[self.queried_]
        with numbered(self.queried_):
            fresh._fit(rows_of(X, self.queried_), bought, None, None, mine)
        (fresh.classes, fresh.tol), rule.active = given, False
        self.estimator_, self._asking = fresh, rule
        self._rule(fresh)

    @answers
    def chances(self, sure: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The probability that a row of such |p| and |x|^2 is asked for, limits apart; of rules by name."""
        if callable(self.rule):
            raise BadInput("chances are known of the rules by name; yours is a function")
        return self._rule(self.inside()).chances(sure, lengths)

    @answers
    def outlook(self, X: object) -> Outlook:
        """How many labels the coin would still ask for; it says stop where that is next to nothing."""
        inner = self._answering()
        if callable(self.rule):
            raise BadInput("an outlook is for the rules by name; a function of yours tells no chances")
        table = inner._table(X, reset=False)
        model, rows, count = inner._fitted(), inner._rows(table), table.shape[0]
        doubts = self._doubts(inner, model, rows, count, table, "nothing was looked at")
        chances = self._rule(self.inside()).as_told().chances(*doubts)
        left = np.inf if self.budget is None or self.window is not None else self.budget - self.n_queries_
        wished = float(chances.sum())
        expected, share = min(wished, max(float(left), 0.0)), wished / max(len(chances), 1)
        stop = share < SETTLED
        advice = "that is little: stop" if stop else "go on"
        if expected < wished and not stop:  # what the money allows says nothing of what is settled
            rest = "is spent" if left <= 0 else f"leaves {expected:,.0f}"
            advice = f"budget={self.budget} {rest}: raise it to go on"
        text = (
            f"of {len(chances):,} rows {wished:,.0f} labels would still be asked for ({share:.1%}); {advice} "
            "(a heuristic: no bound stands behind it)"
        )
        return Outlook(len(chances), expected, 1.0 - share, stop, text)


def chosen_estimator(given: object) -> object:
    """The learner that a user means: "auto" is the one that wins on real data."""
    return AROW() if isinstance(given, str) and given == "auto" else given


def check_rule(sampler: SelectiveSampler) -> None:
    """Refuse parameters that make no sense, each in one line."""
    check_limits(sampler)
    known = ("auto", *RULES)
    if not callable(sampler.rule) and (not isinstance(sampler.rule, str) or sampler.rule not in known):
        names = ", ".join(map(repr, known))
        raise BadInput(
            f"rule={shown(sampler.rule)}; wanted one of {names}, or a function of (scores, now, hyper)"
        )
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
    if rate is not None and callable(sampler.rule):
        raise BadInput(
            "target_rate= moves delta, which a function of yours does not read; use budget=, or a rule"
        )
