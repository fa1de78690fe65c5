"""Every paired row of the table, through its public class, against NumPy; as plain Python in one process.

Run as a program this file writes what was found and what was wanted:
`NUMBA_DISABLE_JIT=1 python -m tests.learn.test_paired_oracles FILE`.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import onmargin as om
from onmargin.learn.paired.rules import RULES
from onmargin.models.table import ROWS

from ..kernel_students import gram
from ..oracles_paired import PAIRED_ORACLES, PairedOracle, candidates, linear, ranking, weights_of
from ..students import luck, stream
from ..uncompiled import Comparisons

comparisons = Comparisons(__name__ if __name__ != "__main__" else "tests.learn.test_paired_oracles")
FAMILIES = {"paired": [], "ranking": [], "candidates": []}
for _name in PAIRED_ORACLES:
    FAMILIES[_name.removeprefix("kernel_").split("_")[0]].append(_name)


def split(name):
    """rule (or step), and problem."""
    family, problem = name.removeprefix("kernel_").split(".")
    return family.split("_", 1)[1], problem


@comparisons.each(*FAMILIES["paired"])
def classes(name):
    """Two classes, several, label sets; weights, and averages where they are linear."""
    rule, problem = split(name)
    X, y, h = stream(f"pa1.{problem}", rows=50)
    marks = {"binary": lambda: (y == "yes")[:, None], "top": lambda: y[:, None] == np.arange(3)}
    marks = marks.get(problem, lambda: y)().astype(int)
    told = {"rule": rule, "C": 0.3, "reservoir": 5}
    more = told | {"weight": h, "sets": problem == "labels"}
    if name.startswith("kernel_"):
        model = om.PairedClassifier(**told, kernel="rbf", gamma=0.4, fit_intercept=False, dtype="float64")
        run = om.progressive(model, X, y, sample_weight=h, chance=luck(50))
        oracle = PairedOracle(gram("rbf", X), marks, luck(50), **more)
        dual = np.zeros_like(oracle.coefficients.T)
        dual[:, model.support_] = model.dual_coef_
        yield dual, oracle.coefficients.T
    else:
        model = om.PairedClassifier(**told, average=True)
        run = om.progressive(model, X, y, sample_weight=h, chance=luck(50))
        oracle = PairedOracle(linear(X), marks, luck(50), **more)
        yield from zip((model.coef_, model.intercept_), weights_of(oracle, X, averaged=True), strict=True)
    yield run.scores.reshape(oracle.scores.shape), oracle.scores
    yield run.losses, oracle.losses
    yield run.steps, oracle.steps


@comparisons.each(*FAMILIES["ranking"])
def queries(name):
    """Queries of one better row among others (of one pair, where pairs are drawn), in order."""
    rule, _ = split(name)
    size = 2 if rule == "auc" else 3
    X, _, _ = stream("pa1.regression", rows=20 * size)
    better = np.arange(len(X)) % size == size - 1
    model = om.PairedRanker(rule=rule, C=0.3, fit_intercept=False, random_state=0)
    model.partial_fit(X, better.astype(int), np.arange(len(X)) // size)
    each = np.arange(len(X)).reshape(-1, size)
    rounds = np.repeat(each, 2, axis=0) if rule == "auc" else each  # as many pairs as rows
    yield model.coef_.ravel(), ranking(X, better, rounds, rule, 0.3)


@comparisons.each(*FAMILIES["candidates"])
def groups(name):
    """Groups of four candidates, in order."""
    step, _ = split(name)
    X, y, _ = stream("pa1.regression", rows=80)
    chosen = (y.reshape(20, 4) == y.reshape(20, 4).max(axis=1, keepdims=True)).ravel()
    qid = np.arange(80) // 4
    model = om.CandidateClassifier(step=step, C=0.3, fit_intercept=False, random_state=0).partial_fit(
        X, chosen, qid
    )
    yield model.coef_.ravel(), candidates(X, chosen, qid, step, 0.3)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return comparisons.run(tmp_path_factory.mktemp("paired") / "pairs.npz")


@pytest.mark.parametrize("name", comparisons.entries)
def test_learner_equals_its_oracle(name, written):
    comparisons.compare(name, written)


def test_every_paired_oracle_is_played():
    assert {name.split()[1] for name in comparisons.entries} == set(PAIRED_ORACLES)


def test_a_rule_brings_every_role_and_every_row_names_a_rule():
    assert len({frozenset(rule) for rule in RULES.values()}) == 1
    assert {ROWS[name].rule for name in PAIRED_ORACLES} == set(RULES)


if __name__ == "__main__":
    comparisons.write(sys.argv[1])
