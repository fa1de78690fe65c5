"""Ranking by query (E10c): MAP and NDCG on LETOR's MQ2008, its own five folds.

Three parts to learn from, one to choose C (by MAP), one to test. Paired rules, Pegasos and scikit-learn's
LinearSVC (the batch reference) on differences of pairs of one query. Queries without a relevant document
count 0, as in LETOR's own script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.svm import LinearSVC

from ..estimators.pegasos import Pegasos
from ..estimators.ranker import PairedRanker
from ..results.metrics import mean_average_precision, ndcg
from ..sources.real import mq2008
from .drawing import dots, lines, panels
from .outcome import Claim, Outcome, summed_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S1, experiments: LETOR 3 data for ranking with algorithms 1 and 2"
PROTOCOL = (
    "Five folds (quick: two) as LETOR makes them: three parts to learn from, one to choose C (by MAP), "
    "one to test. Paired rules, and Pegasos and scikit-learn's LinearSVC (the batch reference) on "
    "differences of pairs of one query. Queries without a relevant document count 0, as in LETOR's own "
    "script."
)
DATA = ("mq2008",)
STAND_IN = "MQ2008 of LETOR 4.0 stands in for LETOR 3.0, of which no copy was found"
SEEDS, QUICK, SECONDS = 3, 1, 100
Part = tuple[np.ndarray, np.ndarray, np.ndarray]
FOLDS, FEWER = 5, 2  # of them in the quick form
GRID = (0.001, 0.01, 0.1)  # C of the paired rules
PENALTIES = (0.01, 0.1, 1.0)  # C of LinearSVC; Pegasos' lam is 1 / (pairs C)


def differences(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of one query with different relevance as differences, every other one turned round."""
    X, y, qid = part
    found = []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        better, worse = np.nonzero(y[rows][:, None] > y[rows][None, :])
        found.append(X[rows[better]] - X[rows[worse]])
    pairs = np.concatenate(found)
    signs = np.where(np.arange(len(pairs)) % 2, -1, 1)
    return pairs * signs[:, None], signs


def paired(rule: str) -> Callable[[Part, int], Iterator[Callable[[np.ndarray], np.ndarray]]]:
    """Paired rounds, for every C."""

    def learn(part: Part, seed: int) -> Iterator[Callable[[np.ndarray], np.ndarray]]:
        for C in GRID:
            model = PairedRanker(rule=rule, C=C, average=True, tol=None, max_iter=20, random_state=seed)
            yield model.fit(*part).predict

    return learn


def by_differences(kind: str) -> Callable[[Part, int], Iterator[Callable[[np.ndarray], np.ndarray]]]:
    """A linear classifier of differences, for every penalty."""

    def learn(part: Part, seed: int) -> Iterator[Callable[[np.ndarray], np.ndarray]]:
        X, y = differences(part)
        for C in PENALTIES:
            model: Any = LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-3, random_state=seed)
            if kind == "Pegasos":
                lam = 1.0 / (len(y) * C)
                model = Pegasos(
                    lam=lam, fit_intercept=False, average=True, tol=None, max_iter=5, random_state=seed
                )
            yield model.fit(X, y).decision_function

    return learn


LEARNERS = {
    "auc": paired("auc"), "max_violators": paired("max_violators"),
    "ranking Pegasos": by_differences("Pegasos"), "LinearSVC on pairs": by_differences("LinearSVC"),
}  # fmt: skip


def one_run(seed: int, name: str, parts: list[Part], count: int = FOLDS) -> dict[str, float]:
    """The folds: mean measures of the test parts."""
    folds = []
    for fold in range(count):
        chosen = [parts[(fold + step) % 5] for step in range(5)]
        train = tuple(np.concatenate(columns) for columns in zip(*chosen[:3], strict=True))
        (held, truth, queries), (X, y, qid) = chosen[3], chosen[4]
        best, score = -1.0, None
        for answer in LEARNERS[name](train, seed):  # type: ignore[arg-type]
            value = mean_average_precision(truth, answer(held), qid=queries)
            if value > best:
                best, score = value, answer(X)
        found = {"MAP": mean_average_precision(y, score, qid=qid)}
        folds.append(found | {f"NDCG@{k}": ndcg(y, score, qid=qid, k=k) for k in range(1, 11)})
    return {key: float(np.mean([fold[key] for fold in folds])) for key in folds[0]}


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All rankers, over the seeds of their draws; `quick`: those that the claims are about, and two folds."""
    parts, seeds = mq2008(), list(seeds)
    names = [name for name in LEARNERS if not quick or name != "ranking Pegasos"]
    count = FEWER if quick else FOLDS
    rows = [
        summed_up({"learner": name}, [one_run(seed, name, parts, count) for seed in seeds]) for name in names
    ]
    outcome = Outcome(f"E10c: MQ2008, {'two' if quick else 'five'} folds", rows, [])
    reference = {key: outcome.value(key, learner="LinearSVC on pairs") for key in ("MAP", "NDCG@10")}
    claims = [
        Claim(f"{name}: {key} {outcome.value(key, learner=name):.4f}, LinearSVC's {value:.4f}: within 0.02",
              outcome.value(key, learner=name) >= value - 0.02)
        for name in ("auc", "max_violators") for key, value in reference.items()
    ]  # fmt: skip
    return outcome._replace(claims=claims)


def figure(outcome: Outcome) -> Figure:
    """NDCG at 1 to 10, and MAP."""
    drawn, (left, right) = panels("NDCG@k, mean of the folds", "MAP")
    places = list(range(1, 11))
    curves = {
        row["learner"]: (list(map(float, places)), [row[f"NDCG@{k}"][0] for k in places])
        for row in outcome.rows
    }
    lines(left, curves)
    left.set(xlabel="k", ylabel="NDCG@k", xticks=places)
    dots(right, outcome, "MAP", list(curves), "learner")
    return drawn
