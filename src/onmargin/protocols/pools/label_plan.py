"""How many labels, asked for by which rule? A replay before labelling, an outlook while it goes on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import f1_score

from ...errors import BadInput, require_whole, shown
from ...estimators.sampler import SelectiveSampler, chosen_estimator
from ...interface.classifier import Classifier
from ...interface.feedback.asks import AsksForLabels
from ...interface.tables import Table
from ...interface.targets.missing import indexable, labels_of, rows_of
from ...learn.queries import RULES
from ...results.label_plan import LabelPlan, spread_over
from ..sweep import progress_bar


def label_plan(
    model: object, X: object, y: object = None, *, budgets: object = (25, 50, 100, 200, 400),
    rules: str | Iterable[str] = ("margin", "bernoulli", "random"), seeds: int = 5, test: float = 1 / 3,
    threads: int | None = None, verbose: int = 0,
) -> object:  # fmt: skip
    """Before labelling: what budgets of labels buy. While labelling: is it worth going on?

    With y (labelled rows; those without a label are left out) a replay: for every seed the rows are shuffled
    and cut, a sampler of every rule `fit`s the first part with every budget (which it spreads over the rows,
    to learn once more from what it bought), and the model is tested on the rest. The rule "random" is the
    honest baseline: no stream, but the learner's own `fit` on as many labels, drawn at random. Returns a
    `LabelPlan`: `.table`, `.plot()`.

    Without y, for a `SelectiveSampler` or `BBQ` that has learned: an `Outlook` on the rows of X. BBQ says how
    many rows are within epsilon of the truth with probability 1 - delta, and stops where all are; a sampler
    says how many labels its rule would still ask for, and stops where that is next to nothing (a heuristic);
    that its budget is spent is no reason to stop.

    Parameters
    ----------
    model : a classifier (a sampler: its learner, delta and refit are used), or without y one that asks.
    budgets : numbers of labels.
    rules : of "margin", "bernoulli", "adaptive" and "random".
    seeds : how many shuffles.
    test : the share of rows to test on.
    threads : None is as many as there are processors.
    verbose : 1 shows a bar on the standard error.

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(1500, label_noise=0.05, seed=0)
    >>> plan = om.label_plan(om.PassiveAggressiveClassifier(C=0.1), X, y, budgets=(20, 200), seeds=3)
    >>> len(plan.rows), all(row["labels"] <= row["budget"] for row in plan.rows)
    (6, True)
    """
    if y is None:
        if not isinstance(model, AsksForLabels):
            raise BadInput("without y an outlook is given for a SelectiveSampler or BBQ that has learned")
        return model.outlook(X)
    asker = model if isinstance(model, SelectiveSampler) else SelectiveSampler(model)
    learner = chosen_estimator(asker.estimator)
    if not isinstance(learner, Classifier):
        raise BadInput(f"model={shown(model)}; wanted a classifier of this library, or a SelectiveSampler")
    wanted = [_whole(budget) for budget in np.atleast_1d(np.asarray(budgets, object)).tolist()]
    names = [rules] if isinstance(rules, str) else list(rules)
    for name in names:
        if name not in RULES:
            raise BadInput(f"rules has {shown(name)}; wanted some of {', '.join(map(repr, RULES))}")
    require_whole("seeds", seeds)
    if threads is not None:
        require_whole("threads", threads)
    if not wanted or not names:
        raise BadInput("budgets or rules is empty; wanted at least one of each")
    if isinstance(test, bool) or not isinstance(test, int | float) or not 0.0 < test < 1.0:
        raise BadInput(f"test={shown(test)}; wanted a share above 0 and below 1")
    X = indexable(X)
    labels, there = labels_of(y, X)
    kept = np.flatnonzero(there)
    if labels.dtype == object and len({type(label) for label in labels[kept]}) == 1:
        typed = np.array(labels[kept].tolist())
        labels = np.full(len(labels), typed[0])
        labels[kept] = typed
    learned = len(kept) - int(round(test * len(kept)))
    if learned < 1 or learned == len(kept):
        raise BadInput(f"{len(kept)} rows have a label; wanted enough to learn from and to test on")
    classes = sorted(set(labels[kept].tolist()))
    jobs = [(name, budget, seed) for name in names for budget in wanted for seed in range(seeds)]

    replay = Replay(learner, asker, X, labels, kept, learned, classes)
    first = replay.play(jobs[0])  # compiles for all
    found, tell = [first], progress_bar(len(jobs)) if verbose else None
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for done in pool.map(replay.play, jobs[1:]):
            found.append(done)
            if tell is not None:
                tell(len(found) / len(jobs))
    rows = []
    for at in range(0, len(jobs), seeds):
        name, budget, _ = jobs[at]
        rows.append({"rule": name, "budget": budget, **spread_over(found[at : at + seeds])})
    return LabelPlan(rows, seeds, learned, len(kept) - learned)


Job = tuple[str, int, int]
"""A rule, a budget, a seed."""


class Replay(NamedTuple):
    """Labelled rows, and who is to ask for their labels."""

    learner: Classifier
    asker: SelectiveSampler
    X: Table
    labels: np.ndarray
    kept: np.ndarray
    learned: int  # of the rows kept; the others are for the test
    classes: list[object]

    def play(self, job: Job) -> dict[str, float]:
        """Labels used, error and F1 on the test."""
        order = np.random.default_rng([21, job[2]]).permutation(self.kept)
        first, rest = order[: self.learned], order[self.learned :]
        buy = self._at_random if job[0] == "random" else self._by_rule
        used, answers = buy(job, first, rest)
        truth = self.labels[rest]
        averaged = {"average": "macro"} if len(self.classes) > 2 else {"pos_label": self.classes[-1]}
        measured = f1_score(truth, answers, zero_division=0, **averaged)
        return {"labels": float(used), "error": float(np.mean(answers != truth)), "f1": float(measured)}

    def _fresh(self, seed: int) -> Classifier:
        """The learner, told of all classes: of some no label may be bought."""
        fresh: Classifier = clone(self.learner)
        told = fresh.get_params(deep=False)
        chosen: dict[str, object] = {"classes": self.classes, "random_state": seed}
        fresh.set_params(**{name: v for name, v in chosen.items() if name in told and told[name] is None})
        return fresh

    def _by_rule(self, job: Job, first: np.ndarray, rest: np.ndarray) -> tuple[int, np.ndarray]:
        rule, budget, seed = job
        sampler = SelectiveSampler(
            self._fresh(seed), rule=rule, budget=budget, random_state=seed, delta=self.asker.delta,
            refit=self.asker.refit,
        )  # fmt: skip
        sampler.fit(rows_of(self.X, first), self.labels[first])
        return sampler.n_queries_, sampler.predict(rows_of(self.X, rest))

    def _at_random(self, job: Job, first: np.ndarray, rest: np.ndarray) -> tuple[int, np.ndarray]:
        """`fit` on so many labels; as many passes as a sampler's refit has."""
        _, budget, seed = job
        some = first[:budget]
        if len(set(self.labels[some].tolist())) < 2:
            return len(some), np.full(len(rest), self.labels[some[0]])
        fresh = self._fresh(seed)
        if "tol" in fresh.get_params(deep=False):
            fresh.set_params(tol=None)
        fresh.fit(rows_of(self.X, some), self.labels[some])
        return len(some), fresh.predict(rows_of(self.X, rest))


def _whole(budget: object) -> int:
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 1:
        raise BadInput(f"budgets has {shown(budget)}; wanted whole numbers of labels of at least 1")
    return int(budget)
