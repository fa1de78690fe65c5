"""PA, active PA, their kernel forms and LIBSVM's SVM on small sets: the last seed's table.

Features scaled to mean 0 and deviation 1; two thirds to learn from, one third to test; RBF, gamma = 1 / d.
PA-I, averaged: C = 0.1 and one pass, with a kernel C = 1 and five; the active ones ask on the first pass with
delta = 1, and then go on with the labels they have. SVC with its defaults.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..estimators.sampler import SelectiveSampler
from ..protocols.progressive import progressive
from ..sources.real import SMALL, small
from .drawing import colour, panels, percent
from .outcome import Claim, Outcome, summed_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S4, section 4: PA, active PA, kernel PA, kernel active PA and SVM on LIBSVM's sets of two classes"
PROTOCOL = (
    "Features scaled to mean 0 and deviation 1; two thirds to learn from, one third to test, cut by the "
    "seed; RBF kernel with gamma = 1 / d. PA-I, averaged: C = 0.1 and one pass, with a kernel C = 1 and "
    "five; the active ones ask on the first pass with delta = 1 and go on with the labels they have. "
    "SVC with its defaults."
)
DATA = tuple(SMALL)
STAND_IN = "the paper's section on data is empty; these seven small sets are our choice"
SEEDS, QUICK, SECONDS = 5, 2, 5
LEARNERS = ("PA", "active PA", "kernel PA", "kernel active PA", "SVM")


def made(name: str, columns: int, seed: int) -> Any:
    """A learner by its name."""
    form: dict[str, Any] = {"kernel": "rbf", "gamma": 1.0 / columns} if "kernel" in name else {}
    if name == "SVM":
        return SVC(gamma=1.0 / columns)
    form |= {"C": 1.0, "max_iter": 5} if "kernel" in name else {"C": 0.1, "max_iter": 1}
    learner = PassiveAggressiveClassifier(
        average=True, intercept_scaling=1.0, tol=None, random_state=seed, **form
    )
    if "active" not in name:
        return learner
    return SelectiveSampler(learner, rule="bernoulli", delta=1.0, random_state=seed)


def one_run(seed: int, name: str, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Learn and test on one cut of a set."""
    order = np.random.default_rng([9, seed]).permutation(len(y))
    cut = 2 * len(y) // 3
    scaler = StandardScaler().fit(X[order[:cut]])
    rows, rest = scaler.transform(X[order[:cut]]), scaler.transform(X[order[cut:]])
    model = made(name, X.shape[1], seed)
    start = time.perf_counter()
    asked = cut
    if isinstance(model, SelectiveSampler):
        trace = progressive(model, rows, y[order[:cut]])
        known = np.flatnonzero(np.asarray(trace.queried))
        asked = len(known)
        for _ in range(model.estimator.max_iter - 1):  # labels that are known are known
            model.partial_fit(rows[known], y[order[:cut]][known])
    else:
        model.fit(rows, y[order[:cut]])
    spent = time.perf_counter() - start
    return {
        "accuracy": float(np.mean(model.predict(rest) == y[order[cut:]])), "labels": asked / cut,
        "milliseconds": 1000 * spent,
    }  # fmt: skip


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All learners on all sets."""
    seeds = list(seeds)
    rows = []
    for name in SMALL:
        X, y = small(name)
        one_run(0, "kernel active PA", X, y), one_run(0, "active PA", X, y)  # compiled off the clock
        for learner in LEARNERS:
            runs = [one_run(seed, learner, X, y) for seed in seeds]
            rows.append(summed_up({"set": name, "learner": learner}, runs))
    outcome = Outcome("S4: active PA on small sets", rows, [])
    claims = []
    for active, whole in (("active PA", "PA"), ("kernel active PA", "kernel PA")):
        losses = [
            outcome.value("accuracy", set=name, learner=whole)
            - outcome.value("accuracy", set=name, learner=active)
            for name in SMALL
        ]
        shares = [outcome.value("labels", set=name, learner=active) for name in SMALL]
        lost, share = 100 * np.mean(losses), np.mean(shares)
        text = f"{active}: {lost:+.1f} % accuracy lost on average with {share:.0%} of the labels"
        claims.append(Claim(text, bool(np.mean(losses) < 0.02 and np.mean(shares) < 0.9)))
    return outcome._replace(claims=claims)


def figure(outcome: Outcome) -> Figure:
    """Accuracy on every set, and the share of labels that the active ones asked for."""
    drawn, (left, right) = panels("test accuracy", "labels asked for", width=6.0)
    for number, learner in enumerate(LEARNERS):
        mine = [row for row in outcome.rows if row["learner"] == learner]
        places = np.arange(len(mine)) + 0.14 * (number - 2)
        means, bands = zip(*(row["accuracy"] for row in mine), strict=True)
        left.errorbar(places, means, bands, fmt="o", ms=5, lw=1, color=colour(number), label=learner)
        if "active" in learner:
            shares = [row["labels"][0] for row in mine]
            right.bar(places, shares, 0.25, color=colour(number), label=learner)
    for ax in (left, right):
        ax.set_xticks(range(len(SMALL)), list(SMALL), rotation=25, ha="right", fontsize=8)
        ax.legend(frameon=False, fontsize=8, ncols=2, loc="lower left" if ax is left else "best")
        percent(ax)
    left.set_ylim(0.6)
    right.set_ylim(0, 1)
    return drawn
