"""Perceptrons that follow a moving target, and `horizon=`, against slow oracles.

All problems, forms of tables and scikit-learn's checks as plain Python, in another process (see
`tests.uncompiled`); two classes in arrays also compiled.
"""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from river import checks
from sklearn.utils import estimator_checks

import onmargin as om
from onmargin.errors import BadInput

from ..soaking import either, soaked
from ..students import plain
from ..uncompiled import Comparisons
from .refusals import refuses
from .test_paired_conformance import answers, judge

COMPARISONS = Comparisons("tests.estimators.test_tracking")
BROKEN = Comparisons("tests.estimators.test_tracking")  # by bugs
each = COMPARISONS.each
ROWS = 110
draw = np.random.default_rng(21)
X = draw.normal(size=(ROWS, 4)) * (draw.random((ROWS, 4)) < 0.8)
MARKS = X @ draw.normal(size=(4, 3)) + draw.normal(size=(ROWS, 3))
TARGETS = {
    "two": np.where(MARKS[:, 0] > 0, 1, -1), "three": MARKS.argmax(axis=1), "sets": (MARKS > 0).astype(int),
    "number": MARKS[:, 0],
}  # fmt: skip
WEIGHT = draw.uniform(0.2, 2.0, ROWS) * (draw.random(ROWS) < 0.8)
LEARNERS = {
    "shifting": (om.ShiftingPerceptron, {"lam": 2.5}),
    "projected": (om.ProjectedPerceptron, {"radius": 1.7, "rate": 0.8}),
    "forgets": (om.Perceptron, {"horizon": 6.0, "rate": 0.7}),
    "pa1": (om.PassiveAggressiveClassifier, {"horizon": 15.0, "C": 0.4}),
    "ftrl": (om.FTRLClassifier, {"horizon": 9.0, "loss": "hinge", "rate": 0.3}),
    "regressor": (om.PassiveAggressiveRegressor, {"horizon": 12.0, "C": 0.5, "epsilon": 0.2}),
}
TRACKERS = ("shifting", "projected", "forgets")
each_tracker = pytest.mark.parametrize("name", TRACKERS)


def made(name, **more):
    cls, told = LEARNERS[name]
    return plain(cls, **told | more)


def demand(scores, y):
    """What is pulled, and the margin: two classes, several, a set of labels."""
    pull = np.zeros(len(scores))
    if len(scores) == 1:
        pull[0] = y
    elif np.ndim(y) == 0:
        rivals = np.where(np.arange(len(scores)) == y, -np.inf, scores)
        pull[y], pull[rivals.argmax()] = 1.0, -1.0
    elif 0 < y.sum() < len(y):
        pull[np.where(y == 1, scores, np.inf).argmin()] = 1.0
        pull[np.where(y == 0, scores, -np.inf).argmax()] = -1.0
    else:
        return pull, np.inf
    return pull, pull @ scores


def oracle(name, rows, y, weight=None, start=None, moved=0, **more):
    """Weights (outputs, columns and constant), w spelled out in every round; the scores before each."""
    told = LEARNERS[name][1] | more
    outputs = 3 if name != "regressor" and (y.ndim == 2 or y.max() > 1) else 1
    W = np.zeros((outputs, rows.shape[1] + 1)) if start is None else start.copy()
    keep, scores = 1 - 1 / told.get("horizon", np.inf), []
    for t, x in enumerate(np.c_[rows, np.ones(len(rows))]):
        h = 1.0 if weight is None else weight[t]
        scores.append(W @ x)
        if name == "regressor":
            gap = y[t] - scores[t][0]
            pull, loss = np.array([1.0 if gap >= 0 else -1.0]), max(0.0, abs(gap) - told["epsilon"])
            margin = -1.0
        else:
            pull, margin = demand(scores[t], y[t])
            loss = max(0.0, 1 - margin)
        if h == 0:
            continue
        size = pull @ pull * (x @ x)
        steps = {
            "pa1": min(h * told.get("C", 0), loss / max(size, 1e-300)),
            "ftrl": h * told.get("rate", 1) * (loss > 0),
            "forgets": h * told.get("rate", 1) * (margin <= 0),
        }  # fmt: skip
        steps["regressor"] = steps["pa1"]
        if name in steps:
            W = keep * W + steps[name] * np.outer(pull, x)
        elif margin <= 0 and name == "shifting":
            share = told["lam"] / (told["lam"] + moved)
            W, moved = (1 - share) * W + share * h * np.outer(pull, x), moved + 1
        elif margin <= 0:
            W = W + h * told["rate"] * np.outer(pull, x)
            W *= min(1.0, told["radius"] / np.linalg.norm(W))
    return W, np.array(scores)


def weights_of(model):
    return np.c_[np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)]


# ---- as plain Python: all problems, dense, CSR and dicts


PROBLEMS = [(name, kind) for name in LEARNERS if name != "regressor" for kind in ("two", "three", "sets")]


@each(*PROBLEMS, ("regressor", "number"))
def every_problem_is_the_oracle(name, kind):
    y = TARGETS[kind]
    for weight in (None, WEIGHT):
        model = made(name)
        run = om.progressive(model, X, y, sample_weight=weight)
        W, scores = oracle(name, X, y, weight)
        found = run.scores.reshape(ROWS, -1)
        if kind == "sets":  # a running bar is taken off
            W[:, -1] -= model.threshold_
            found, scores = found - found[:, :1], scores - scores[:, :1]
        yield weights_of(model), W
        yield found, scores
        said = model.predict(X) if kind == "number" else model.decision_function(X)
        yield said.reshape(ROWS, -1), np.c_[X, np.ones(ROWS)] @ W.T


@each(*itertools.product(TRACKERS, ("two", "three")), ("pa1", "three"), ("regressor", "number"))
def dense_csr_and_dicts_are_one(name, kind):
    y = TARGETS[kind]
    told = {} if kind == "number" else {"classes": np.unique(y).tolist()}
    dense, loop = made(name, **told).partial_fit(X, y), made(name, **told)
    turns = made(name, **told).partial_fit(sp.csr_matrix(X[:70]), y[:70])
    for x, label in zip(X, y.tolist(), strict=True):
        loop.learn_one(dict(enumerate(x.tolist())), label)
    for x, label in zip(X[70:90], y[70:90].tolist(), strict=True):
        turns.learn_one(dict(enumerate(x.tolist())), label)
    turns.partial_fit(X[90:], y[90:])
    for other in (loop, turns):
        yield weights_of(other), weights_of(dense)
    asked = [loop.predict_one(dict(enumerate(x.tolist()))) for x in X]
    yield asked, dense.predict(X)


@BROKEN.each("projected")
@each("shifting", "forgets")
def two_classes_become_three(name):
    """Decisions are unchanged, and go on as the oracle does from there."""
    y, first = TARGETS["three"], TARGETS["three"] < 2
    new = int(np.argmax(y == 2))  # until it comes there is one row of weights
    y, rows = np.r_[y[first][:40], y[new:]], np.r_[X[first][:40], X[new:]]
    model = made(name, growing=True).partial_fit(rows[:40], y[:40])
    before, moved = weights_of(model), 0
    if name == "shifting":
        moved = int(om.progressive(made(name), rows[:40], y[:40]).updates)
    start = np.vstack([-before / 2, before / 2, 0 * before])
    model.partial_fit(rows[40:], y[40:])
    W, _ = oracle(name, rows[40:], y[40:], start=start, moved=moved)
    yield weights_of(model), W


@each(*((name, kind) for name in TRACKERS for kind in ("files", "pickles")))
def saved_learners_go_on(name, kind):
    y, path = TARGETS["three"], str(Path(sys.argv[1]).with_suffix(".onm"))
    model = made(name).partial_fit(X[:90], y[:90], classes=(0, 1, 2))
    om.save(model, path)
    twin = om.load(path) if kind == "files" else pickle.loads(pickle.dumps(model))
    yield weights_of(twin.partial_fit(X[90:], y[90:])), weights_of(model.partial_fit(X[90:], y[90:]))


@BROKEN.each(*TRACKERS, near=1e-3)
def single_precision(name):
    """Where the scale falls fast."""
    told = {"forgets": {"horizon": 2.0}, "projected": {"radius": 0.05}, "shifting": {"lam": 50.0}}[name]
    y, rows = np.tile(TARGETS["two"], 5), np.tile(X, (5, 1)).astype(np.float32)
    try:
        found = weights_of(made(name, classes=(-1, 1), dtype="float32", **told).partial_fit(rows, y))
    except BadInput:
        found = np.full((1, 5), np.nan)
    yield found, oracle(name, rows.astype(float), y, **told)[0]


@BROKEN.each()
def a_small_ball_is_good_enough_for_scikit_learn():
    """Or om.conformance says that it is not."""
    failed = 0
    for check in (estimator_checks.check_classifiers_train, estimator_checks.check_class_weight_classifiers):
        try:
            check("ProjectedPerceptron", om.ProjectedPerceptron())
        except AssertionError:
            failed += 1
    yield failed, 0


def test_all_agree(tmp_path):
    """In one test, so that one worker runs the program."""
    written = COMPARISONS.run(tmp_path / "pairs.npz")
    for name in COMPARISONS.entries:
        COMPARISONS.compare(name, written)
    conformance = json.loads(COMPARISONS.path.with_suffix(".json").read_text())
    for model in CONFORMING:
        judge(model, {name: said for name, said in conformance[repr(model)][0].items() if name not in A_BALL})
        assert conformance[repr(model)][1] == sorted(om.conformance.river(model)) == []


def test_all_others_agree(tmp_path):
    written = BROKEN.run(tmp_path / "broken.npz")
    for name in BROKEN.entries:
        BROKEN.compare(name, written)


# ---- compiled: two classes in arrays


def two(name, **more):
    return made(name, classes=(-1, 1), **more)


@each_tracker
def test_a_stream_is_the_oracle_in_any_blocks(name):
    """Bit for bit however it is cut, and after a file."""
    y, blocks = TARGETS["two"], two(name)
    whole = two(name).partial_fit(X, y, sample_weight=WEIGHT)
    assert_allclose(weights_of(whole), oracle(name, X, y, WEIGHT)[0], rtol=1e-9, atol=1e-9)
    for first, stop in itertools.pairwise((0, 1, 60, 61, ROWS)):
        blocks = copy.deepcopy(blocks).partial_fit(
            X[first:stop], y[first:stop], sample_weight=WEIGHT[first:stop]
        )
    once = two(name, max_iter=1, shuffle=False, tol=None).fit(X, y, sample_weight=WEIGHT)
    assert_array_equal(weights_of(blocks), weights_of(whole))
    assert_array_equal(weights_of(once), weights_of(whole))


@soaked
@each_tracker
def test_a_very_long_stream(name):
    """The scale becomes smaller than any number many times over."""
    count = either(20_000, 300_000)
    rows, signs = draw.normal(size=(count, 2)), draw.choice([-1, 1], count)
    told = {"forgets": {"horizon": 2.0}, "shifting": {"lam": 300.0}, "projected": {"radius": 0.01}}[name]
    model = two(name, **told).partial_fit(rows, signs)
    W = oracle(name, rows, signs, **told)[0]
    assert np.isfinite(W).all() and W.any()
    assert_allclose(weights_of(model), W, rtol=1e-6, atol=1e-12)


def test_calm_rounds_fade_too():
    """Nothing is touched meanwhile; the next move finds nearly nothing left."""
    model = two("forgets", horizon=3.0, rate=1.0, fit_intercept=False)
    model.partial_fit(np.tile([[1.0, 0.0]], (1001, 1)), np.ones(1001))
    assert_allclose(model.coef_, [[(2 / 3) ** 1000, 0.0]], rtol=1e-9)
    model.partial_fit([[0.0, 1.0]], [-1])
    assert_allclose(model.coef_, [[(2 / 3) ** 1001, -1.0]], rtol=1e-9)


@each_tracker
def test_weights_to_start_from_are_the_weights(name):
    """A row that they answer rightly moves nothing (and fades a learner that forgets)."""
    model = two(name, warm_start=True, max_iter=1, tol=None).fit(X, TARGETS["two"])
    model.fit([[1.0, 0, 0, 0]], [1], coef_init=[[0.5, 0.0, 0.0, 0.0]], intercept_init=[0.0])
    left = 1 - 1 / LEARNERS[name][1].get("horizon", np.inf)
    assert_allclose(model.coef_, [[0.5 * left, 0.0, 0.0, 0.0]], rtol=1e-6)


def test_weights_to_start_from_are_in_the_ball():
    model = two("projected", max_iter=1, tol=None, fit_intercept=False)
    model.fit([[1.0, 0.0]], [-1], coef_init=[[1.6, 0.0]])
    assert_allclose(model.coef_, [[0.8, 0.0]])
    model.fit([[1.0, 0.0]], [-1], coef_init=[[9.0, 0.0]])
    assert np.linalg.norm(model.coef_) <= 1.7 + 1e-12


@pytest.mark.parametrize(
    "name, given, said",
    [("forgets", {"average": True}, "average"), ("shifting", {"budget": 0, "kernel": "rbf"}, "budget"),
     *(("forgets", {"horizon": bad}, "horizon") for bad in (1, 0, -2.0, 0.5, np.nan, np.inf, "long", True)),
     *(("ftrl", {"regularizer": bad}, "horizon") for bad in ("pnorm", "adagrad", "coin", "entropic")),
     ("ftrl", {"l1": 0.1}, "horizon"), ("pa1", {"average": True}, "average"),
     *(("shifting", {"lam": bad}, "lam") for bad in (0, -1, np.nan, np.inf, "x", None)),
     *(("projected", {"radius": bad}, "radius") for bad in (0, -1, np.nan, np.inf, "x", None)),
     *(("projected", {"rate": bad}, "rate") for bad in (0, -1, np.nan, "x", None))],
    ids=str,
)  # fmt: skip
def test_refusals(name, given, said):
    for call in (lambda m: m.fit(X, TARGETS["two"]), lambda m: m.learn_one({"a": 1.0}, 1)):
        assert said in str(refuses(made(name, **given), call, BadInput))


@pytest.mark.parametrize("name, given", [("forgets", {"horizon": 7.0}), ("shifting", {"lam": 1.0}),
                                         ("projected", {"radius": 2.0})])  # fmt: skip
def test_what_shapes_the_weights_stays(name, given):
    model = two(name).partial_fit(X, TARGETS["two"]).set_params(**given)
    assert f"{next(iter(given))}= was" in str(
        refuses(model, lambda m: m.partial_fit(X, TARGETS["two"]), BadInput)
    )


A_BALL = ("check_classifiers_train", "check_class_weight_classifiers")
CONFORMING = [om.ShiftingPerceptron(), om.ProjectedPerceptron()]


def failing(model):
    """Names of River's checks that do not pass, on short sets."""
    whole, names = checks._yield_datasets, set()
    checks._yield_datasets = lambda model, scale=1: (
        list(itertools.islice(s, 20)) for s in whole(model, scale)
    )
    for check in checks.yield_checks(model):
        try:
            check(model.clone())
        except Exception:
            names.add(check.__name__)
    checks._yield_datasets = whole
    return sorted(names)


if __name__ == "__main__":
    if "broken" in sys.argv[1]:
        np.seterr(over="ignore", invalid="ignore")  # (of float32)
        warnings.simplefilter("ignore")
        BROKEN.write(sys.argv[1])
    else:
        found = {repr(model): (answers(model), failing(model)) for model in CONFORMING}
        Path(sys.argv[1]).with_suffix(".json").write_text(json.dumps(found))
        COMPARISONS.write(sys.argv[1])
