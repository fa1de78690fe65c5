"""Every kernel learner, through its public class, against NumPy with the whole Gram matrix.

Run as a program this file plays the stream of every row of the table as plain Python (compiling them
all would take minutes): `NUMBA_DISABLE_JIT=1 python -m tests.learn.test_kernel_oracles FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.estimators.ridge import RidgeClassifier
from tests.once import as_plain_python

from ..kernel_students import (
    KERNEL_NAMES,
    can_average,
    expected,
    gram,
    grams,
    luck,
    oracle_of,
    stream,
    student,
)
from ..oracles_kernels import KERNEL_ORACLES
from ..oracles_tracking import evidence
from ..students import SCALING, problem_of

ROOT = Path(__file__).parents[2]
WAYS = ("dense rbf", "sparse poly")
COMPILED = (
    "kernel_perceptron.binary", "kernel_pa1.top", "kernel_pa1.uniclass", "kernel_pegasos.binary",
    "budget_pa1.binary", "projectron_plus.binary", "rbp.binary", "forgetron.binary", "om2.top",
)  # fmt: skip
MANY_KERNELS = ("om2.binary", "om2.top", "om2.labels")
MORE = {  # with other parameters: the row of the table, and what student and oracle are told
    **{f"{row} q={q}": (row, {"q": q}) for row in MANY_KERNELS for q in (2, 4, 101)},
    **{f"{step} ball": (f"kernel_{step}.uniclass", {"max_radius": 2.0}) for step in ("pa", "pa1", "pa2")},
    **{f"{step} budget ball": (f"budget_{step}.uniclass", {"max_radius": 2.0}) for step in ("pa", "pa1")},
    **{
        f"batches {problem}": (f"kernel_pegasos.{problem}", {"batch_size": 4})
        for problem in ("binary", "top", "labels", "apart", "apart_labels")
    },
    "projectron spans": ("projectron.binary", {"tolerance": 0.0}),
    "projectron_plus spans": ("projectron_plus.top", {"tolerance": 0.0}),
    "projectron budget": ("projectron.top", {"budget": 6}),
    "projectron_plus budget": ("projectron_plus.labels", {"budget": 6}),
    "pegasos lam": ("kernel_pegasos.binary", {"lam": 1.0}),
    "hard margin": ("kernel_pa1.top", {"C": np.inf}),
}  # fmt: skip
EVERY = {name: (name, {}) for name in sorted(KERNEL_NAMES)} | MORE
NEW = np.random.default_rng(5).normal(size=(11, 4))  # rows to be answered afterwards


def played(name, way, **more):
    """What became of a learner: dense, RBF, bias, weights, averaged; or CSR, polynomial, the last.

    In two calls: the first ends in the middle of a mini-batch.
    """
    given, dense = stream(name), way == "dense rbf"
    if can_average(name):
        more["average"] = dense
    model = student(name, "rbf" if dense else "poly", dense, **more)
    h, chance = given.h if dense else np.ones(len(given.h)), luck()
    lines = []
    for some in (slice(0, 41), slice(41, None)):
        X, y = given.X[some], None if given.y is None else given.y[some]
        run = om.progressive(
            model, X if dense else sp.csr_matrix(X), y, sample_weight=h[some] if dense else None,
            chance=chance[some] if name.startswith("rbp") else None,
        )  # fmt: skip
        lines.append(np.c_[run.scores.reshape(len(X), -1), run.losses, run.steps])
    found = {"rounds": np.concatenate(lines), "dual": model.dual_coef_, "support": model.support_}
    answer = model.predict if problem_of(name) == "numbers" else model.decision_function
    found |= {"count": model.n_support_, "answers": answer(NEW)}
    if problem_of(name) == "labels":
        found["bar"] = model.threshold_
    if name.startswith("om2"):
        found["kernels"] = model.kernel_weights_
    if name.endswith("uniclass"):
        found["radius"] = model.radius_
    return found


def less_dummy(name, table):
    """Scores and coefficients of labels that a dummy label calibrates are differences from its own."""
    return table[:-1] - table[-1:] if name.endswith("calibrated") else table


def decisions(name, run, told):
    """(outputs, T) what `decision_function` would have said before each round."""
    scores = less_dummy(name, run.scores.T)
    if name.endswith("uniclass"):
        omega, radius = 0.0, told["epsilon"]
        if "max_radius" in told:
            omega = told["max_radius"] * np.r_[1.0, np.cumprod(1 + run.steps / scores[0])[:-1]]
            radius = np.sqrt(told["max_radius"] ** 2 - omega**2)
        return radius - np.sqrt(scores**2 - omega**2)
    if name == "om2.binary":  # one row: of the second class against the first
        return scores[1:] - scores[:1]
    return scores - run.bars


def answers(name, way, run, dual, radius):
    """(outputs, rows) what `decision_function` should say of NEW, from these coefficients."""
    X, dense = stream(name).X, way == "dense rbf"
    if name.startswith("om2"):
        return np.tensordot(run.weights, dual @ grams(X, NEW), 1) * (1 + (name == "om2.binary")) - run.bar
    kind, bias = "rbf" if dense else "poly", SCALING * dense * (problem_of(name) != "points")
    scores = dual @ gram(kind, X, NEW, bias)
    if name.endswith("uniclass"):
        own = np.diag(gram(kind, NEW))
        return radius - np.sqrt(dual @ gram(kind, X) @ dual.T - 2 * scores + own)
    return scores - run.bar


def compare(name, way, found, near=1e-9, **more):
    """Rounds, coefficients by row number, support by slot, thresholds, radius, weights of kernels."""

    def equal(value, wanted):
        assert_allclose(value, wanted, rtol=near, atol=near)

    dense = way == "dense rbf"
    kind, averaged = "rbf" if dense else "poly", dense and can_average(name)
    run = expected(name, stream(name), kind, dense, weighted=dense, **more)
    told = {"epsilon": 0.5 if dense else 2.5} | more
    rounds = np.c_[decisions(name, run, told).T, run.losses, run.steps]
    equal(found["rounds"], rounds)
    assert ((found["rounds"][:, -1] != 0) == (run.steps != 0)).all()
    support = found["support"].tolist()
    assert len(support) == len(set(support)) == found["count"]
    if name.startswith("forgetron"):  # slots go round; the oracle has them by age
        assert set(support) == set(run.support)
    else:
        assert support == run.support
    dual = less_dummy(name, run.mean if averaged else run.last)
    dual = dual[1:] if name == "om2.binary" else dual
    spread = np.zeros_like(dual)
    spread[:, support] = found["dual"]
    equal(spread, dual)
    radius = told["epsilon"]
    if "max_radius" in told:
        radius = np.sqrt(told["max_radius"] ** 2 - run.omega[averaged] ** 2)
    said = answers(name, way, run, dual, radius)
    equal(found["answers"].reshape(len(NEW), -1).T, said)
    if name.endswith("uniclass"):
        equal(found["radius"], radius)
    if "bar" in found:
        equal(found["bar"], run.bar)
    if "kernels" in found:
        equal(found["kernels"], run.weights)
    assert 0 < np.count_nonzero(run.steps)
    return run


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory):
    """What plain Python makes of every row of the table, in one process."""
    path = tmp_path_factory.mktemp("kernels") / "numbers.npz"
    with np.load(as_plain_python("tests.learn.test_kernel_oracles", path)) as file:
        return dict(file)


def test_every_row_of_the_table_has_an_oracle_and_every_oracle_a_row():
    """`oracle_of` knows no other names: a new row of the table needs an oracle first."""
    assert {oracle_of(name)[0] for name in KERNEL_NAMES} == set(KERNEL_ORACLES)


@pytest.mark.parametrize("title", EVERY)
def test_learner_equals_its_oracle(title, uncompiled):
    """In both ways, as plain Python."""
    name, more = EVERY[title]
    for way in WAYS:
        marks = f"{title}/{way}/"
        found = {key.removeprefix(marks): uncompiled[key] for key in uncompiled if key.startswith(marks)}
        run = compare(name, way, found, **more)
    if "ball" not in title:
        assert np.count_nonzero(run.steps) < len(run.steps)  # it was passive sometimes


@pytest.mark.parametrize("sparse", [False, True])
def test_evidence_equals_its_oracle(sparse):
    """BBQ's learner with a kernel, every label known: estimates before each round, support, later answers."""
    X, labels, h = stream("evidence.binary")
    y, seen = np.where(labels == "yes", 1, -1), h > 0
    model = RidgeClassifier(kernel="rbf", gamma=0.4)
    run = om.progressive(model, sp.csr_matrix(X) if sparse else X, labels, sample_weight=seen.astype(float))
    K = gram("rbf", np.r_[X, NEW])
    everything = evidence(K, np.r_[y, np.ones(len(NEW))], np.r_[seen, np.zeros(len(NEW), bool)])
    scores, support = everything[0][: len(X)], everything[1]
    assert_allclose(run.scores, scores, rtol=1e-9, atol=1e-9)
    assert_allclose(run.losses, seen * (y * scores <= 0))
    assert_allclose(run.steps, seen)
    assert model.support_.tolist() == support
    assert_allclose(model.decision_function(NEW), everything[0][len(X) :], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_learner_equals_its_oracle(name):
    for way in WAYS:
        compare(name, way, played(name, way))


@pytest.mark.parametrize("name", ["kernel_perceptron.binary", "kernel_pa1.top"])
def test_single_precision_is_near(name):
    """The default: kernel values in float32. The same rounds update."""
    for way in WAYS:
        compare(name, way, played(name, way, dtype=None), near=1e-5)


def main(path):
    """Write what became of every row of the table, in both ways."""
    numbers = {
        f"{title}/{way}/{what}": value
        for title, (name, more) in EVERY.items()
        for way in WAYS
        for what, value in played(name, way, **more).items()
    }
    np.savez(path, **numbers)


if __name__ == "__main__":
    main(sys.argv[1])
