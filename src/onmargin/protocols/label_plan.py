"""How many labels, asked for by which rule? A replay before labelling, an outlook while it goes on."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import f1_score

from ..errors import BadInput, require_whole, shown
from ..estimators.sampler import SelectiveSampler
from ..interface.asks import AsksForLabels
from ..interface.classifier import Classifier
from ..interface.missing import indexable, labels_of, rows_of
from ..interface.watch import Wanted
from ..learn.queries import RULES
from ..results.label_plan import LabelPlan, spread_over
from .sweep import progress_bar


def label_plan(
    model: Any, X: object, y: object = None, *, budgets: Any = (25, 50, 100, 200, 400),
    rules: Any = ("bernoulli", "margin", "random"), seeds: int = 5, test: float = 1 / 3,
    threads: int | None = None, verbose: int = 0,
) -> Any:  # fmt: skip
    """Before labelling: what budgets of labels buy. While labelling: is it worth going on?

    With y (labelled rows; those without a label are left out) a replay: for every seed the rows are shuffled
    and cut, a sampler of every rule goes once over the first part with every budget (aiming to spread it
    over the stream), and the model is tested on the rest. Returns a `LabelPlan`: `.table`, `.plot()`.

    Without y, for a `SelectiveSampler` or `BBQ` that has learned: an `Outlook` on the rows of X. BBQ says how
    many rows are within epsilon of the truth with probability 1 - delta, and stops where all are; a sampler
    says how many labels its coin would still ask for, and stops where that is next to nothing (a heuristic).

    Parameters
    ----------
    model : a classifier (a sampler: its learner is used), or without y one that asks.
    budgets : numbers of labels.
    rules : of "bernoulli", "adaptive", "margin" and "random".
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
    learner = model.estimator if isinstance(model, SelectiveSampler) else model
    if not isinstance(learner, Classifier):
        raise BadInput(f"model={shown(model)}; wanted a classifier of this library, or a SelectiveSampler")
    delta = model.delta if isinstance(model, SelectiveSampler) else 1.0
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
    jobs = [(name, budget, seed) for name in names for budget in wanted for seed in range(seeds)]

    def play(job: tuple[str, int, int]) -> dict[str, float]:
        name, budget, seed = job
        order = np.random.default_rng([21, seed]).permutation(kept)
        sampler = SelectiveSampler(
            clone(learner), delta=delta, rule=name, budget=budget,
            target_rate=min(1.0, max(budget, 1) / learned), random_state=seed,
        )  # fmt: skip
        classes = sorted(set(labels[kept].tolist()))
        wanted = Wanted(classes=classes, full=False)
        sampler.watch(rows_of(X, order[:learned]), labels[order[:learned]], wanted)
        truth, answers = labels[order[learned:]], sampler.predict(rows_of(X, order[learned:]))
        averaged = {"average": "macro"} if len(classes) > 2 else {"pos_label": classes[-1]}
        measured = f1_score(truth, answers, zero_division=0, **averaged)
        error = float(np.mean(answers != truth))
        return {"labels": float(sampler.n_queries_), "error": error, "f1": float(measured)}

    first = play(jobs[0])  # compiles for all
    found, tell = [first], progress_bar(len(jobs)) if verbose else None
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for done in pool.map(play, jobs[1:]):
            found.append(done)
            if tell is not None:
                tell(len(found) / len(jobs))
    rows = []
    for at in range(0, len(jobs), seeds):
        name, budget, _ = jobs[at]
        rows.append({"rule": name, "budget": budget, **spread_over(found[at : at + seeds])})
    return LabelPlan(rows, seeds, learned, len(kept) - learned)


def _whole(budget: Any) -> int:
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 1:
        raise BadInput(f"budgets has {shown(budget)}; wanted whole numbers of labels of at least 1")
    return int(budget)
