"""average="after": the mean of the weights after each round, against their plain sum; every way to learn."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import onmargin as om
from onmargin.errors import BadInput

from ..uncompiled import Comparisons

DRAW = np.random.default_rng(6)
X = DRAW.normal(size=(60, 4))
Y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * DRAW.normal(size=60) > 0, 1, -1)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
TOLD = {"intercept_scaling": 1.0}
LINEAR = {"kernel": "linear", "dtype": "float64"}
FTRL = partial(om.FTRLClassifier, rate=0.3)
MADE = {
    "perceptron": om.Perceptron, "random": partial(om.Perceptron, init="random", random_state=3),
    "pa": partial(om.PassiveAggressiveClassifier, C=0.3), "mira": partial(om.MIRA, C=0.3),
    "arow": partial(om.AROW, r=1.0), "arow_full": partial(om.AROW, r=1.0, covariance="full"),
    "scw": om.SoftConfidenceWeighted, "sop": om.SecondOrderPerceptron,
    "sop_full": partial(om.SecondOrderPerceptron, covariance="full"),
    "l2": partial(FTRL, regularizer="l2", loss="logistic"),
    "adagrad": partial(FTRL, regularizer="adagrad", adagrad_delta=0.5),
    "kernel": partial(om.Perceptron, **LINEAR),
    "budget": partial(om.PassiveAggressiveClassifier, budget=3, **LINEAR),
}  # fmt: skip
COMPARISONS = Comparisons("tests.interface.test_average_after")


def weights_of(model):
    """Of the kernel form: by its scores of the axes."""
    if hasattr(model, "kernel") and model.kernel is not None:
        return model.decision_function(np.r_[np.zeros((1, 4)), np.eye(4)]).reshape(5, -1)
    return np.c_[model.coef_, model.intercept_]


@COMPARISONS.each(*[(name, outputs) for name in MADE for outputs in (1, 3)])
def it_is_the_mean_after_each_round(name, outputs):
    """1/T sum of w_t+1: rows one by one and their weights summed up; in one call, in blocks, in dicts."""
    y, classes = (Y, [-1, 1]) if outputs == 1 else (THREE, [0, 1, 2])
    make = partial(MADE[name], classes=classes, **TOLD)
    last, total = make(average=False), 0.0
    for t in range(60):
        total = total + weights_of(last.partial_fit(X[t : t + 1], y[t : t + 1]))
    whole = make(average="after").partial_fit(X, y)
    yield weights_of(whole), total / 60
    blocks = make(average="after").partial_fit(X[:23], y[:23]).partial_fit(X[23:], y[23:])
    yield weights_of(blocks), weights_of(whole)
    if name != "random":  # (drawn slot by slot)
        dicts = make(average="after")
        for x, label in zip(X, y.tolist(), strict=True):
            dicts.learn_one(dict(enumerate(x)), label)
        yield dicts.decision_function(pd.DataFrame(X)), whole.decision_function(X)
    run = om.progressive(make(average="after"), X, y, scored_by="model")
    step, scores = make(average="after").partial_fit(X[:1], y[:1]), [np.ravel(run.scores[0])]
    for t in range(1, 60):
        scores.append(np.ravel(step.decision_function(X[t : t + 1])))
        step.partial_fit(X[t : t + 1], y[t : t + 1])
    yield run.scores.reshape(60, -1), np.array(scores)
    before = make(average=True).partial_fit(X, y)
    assert np.abs(weights_of(before) - weights_of(whole)).max() > 1e-6


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return COMPARISONS.run(tmp_path_factory.mktemp("after") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_every_learner_whose_rounds_add(name, written):
    COMPARISONS.compare(name, written)


@pytest.fixture(scope="module")
def model():
    return om.PassiveAggressiveClassifier(average="after", **TOLD).partial_fit(X, Y, classes=[-1, 1])


def test_compiled_a_file_goes_on_and_blocks_agree_to_the_last_bit(model, tmp_path):
    blocks = om.PassiveAggressiveClassifier(average="after", **TOLD)
    for some in (slice(0, 1), slice(1, 40), slice(40, 60)):
        blocks.partial_fit(X[some], Y[some], classes=[-1, 1])
    assert_array_equal(blocks.coef_, model.coef_)
    om.save(blocks, tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm")
    assert twin.average == "after"
    assert_array_equal(twin.partial_fit(X, Y).coef_, blocks.partial_fit(X, Y).coef_)


def test_given_weights_are_where_it_starts():
    """w_1 is not in the mean, whatever it was."""
    told = {"max_iter": 1, "tol": None, "shuffle": False, **TOLD}
    start = np.array([1.0, 2.0, 3.0, 4.0, 0.5])
    found = om.Perceptron(average="after", **told).fit(X, Y, coef_init=[start[:4]], intercept_init=start[4:])
    w, total = start, 0.0
    for x, y in zip(np.c_[X, np.ones(60)], Y, strict=True):
        w = w + y * x if y * (w @ x) <= 0 else w
        total = total + w
    assert_allclose(np.r_[found.coef_[0], found.intercept_], total / 60, rtol=1e-9)


def test_a_third_class_splits_it():
    """A stream that meets its classes one by one: the row is split, and its average alike."""
    make = partial(om.Perceptron, growing=True, **TOLD)
    model, last, total = make(average="after"), make(average=False), np.zeros((3, 4))
    order = np.r_[np.flatnonzero(THREE < 2), np.flatnonzero(THREE == 2)]
    for t in order:
        for each in (model, last):
            each.learn_one(dict(enumerate(X[t])), int(THREE[t]))
        w = last.coef_
        total = total + (w if len(w) == 3 else np.r_[-w / 2, w / 2, 0 * w])
    assert_allclose(model.coef_, total / 60, rtol=1e-9, atol=1e-12)


def test_sweeps_and_merges_answer_by_it(model):
    result = om.sweep(om.PassiveAggressiveClassifier(average="after", **TOLD), {"C": [0.1, 1.0]}, X, Y)
    assert_array_equal(result.model(1).coef_, model.coef_)
    other = om.PassiveAggressiveClassifier(average="after", **TOLD).partial_fit(
        X[:30], Y[:30], classes=[-1, 1]
    )
    merged = om.merge([model, other])
    assert_allclose(merged.coef_, (model.coef_ + other.coef_) / 2, atol=1e-12)
    w = np.r_[merged.coef_[0], merged.intercept_]
    total = 90 * w
    for x, y in zip(np.c_[X, np.ones(60)], Y, strict=True):
        w = w + y * x * min(1.0, max(0.0, 1 - y * (w @ x)) / (x @ x))
        total = total + w
    assert_allclose(np.r_[merged.partial_fit(X, Y).coef_[0], merged.intercept_], total / 150, rtol=1e-9)


REFUSED = {
    "another word": (om.Perceptron(average="later"), "wanted True, False, 'after' or 'auto'"),
    "coins": (FTRL(regularizer="coin", average="after"), "FTRLClassifier keeps others here (coin)"),
    "norms": (FTRL(regularizer="pnorm", average="after"), "use average=True"),
    "pairs": (om.PairedClassifier(average="after"), "PairedClassifier keeps others"),
    "a ball": (om.PassiveAggressiveUniclass(average="after"), "keeps others here (center)"),
    "a horizon": (om.Perceptron(average="after", horizon=9.0), "horizon= is to forget"),
    "a share": (om.Pegasos(average="after"), "average='after'"),
}  # fmt: skip


@pytest.mark.parametrize(("model", "said"), REFUSED.values(), ids=REFUSED)
def test_where_there_is_none_it_is_refused(model, said):
    with pytest.raises(BadInput) as caught:
        model.fit(X, Y)
    assert said in str(caught.value) and "\n" not in str(caught.value)


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
