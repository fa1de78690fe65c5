"""BBQ for numbers against direct inverses: what is asked for, estimates, widths; bad numbers; files."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from river import base
from sklearn.base import clone, is_regressor

import onmargin as om
from onmargin.errors import BadInput
from onmargin.estimators.ridge import RidgeRegressor

from .refusals import refuses
from .test_bbq import CASES, direct, stream, unit, width_of

X, _, TRUE = stream(250, 4)
DRAW = np.random.default_rng(11)
Y = np.clip(X @ TRUE + DRAW.uniform(-0.3, 0.3, 250), -1.0, 1.0)
Y[5:8] = 0.0, 1.0, -1.0  # a number that pulls nowhere is seen as well
NUMBERS = {"random_state": 0}


@pytest.mark.parametrize("told", CASES, ids=str)
def test_a_stream_is_the_definition(told):
    """Questions, estimates and losses (y - estimate)^2 / 2 of the rounds that asked."""
    model = om.BBQRegressor(**told, **NUMBERS)
    run = om.progressive(model, X, Y)
    asked, estimates, _ = direct(X @ X.T, Y, **told)
    assert_array_equal(run.queried, asked)
    assert 4 < asked.sum() < 250 and model.n_queries_ == asked.sum() and model.t_ == 250
    assert_allclose(run.scores, estimates, rtol=1e-9, atol=1e-12)
    assert_array_equal(run.predictions, run.scores)
    assert_allclose(run.losses, np.where(asked, (Y - estimates) ** 2 / 2, 0.0), rtol=1e-9, atol=1e-12)
    assert run.mistakes == 0 and run.rounds == 250 and run.kind == "numbers"
    assert_array_equal(model.queried_, np.flatnonzero(asked))


def test_classes_as_numbers_are_bbq():
    """The same questions and estimates as of -1 and +1 by their names."""
    signs = np.where(Y >= 0, 1.0, -1.0)
    for told in ({}, {"kernel": "rbf", "gamma": 0.4}):
        one = om.progressive(om.BBQRegressor(epsilon=0.9, **told), X, signs)
        other = om.progressive(om.BBQ(epsilon=0.9, **told), X, signs.astype(int))
        assert_array_equal(one.queried, other.queried)
        assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize("table", [np.asarray, sp.csr_matrix], ids=["dense", "CSR"])
def test_estimates_and_half_widths_are_by_inverses_with_weights_too(table):
    """ridge.regression: weights count as repetitions, A = I + sum of h x x', b = sum of h y x."""
    h = DRAW.uniform(0.2, 2.0, 60)
    h[::7] = 0.0
    model = om.BBQRegressor(epsilon=0.9, **NUMBERS).partial_fit(table(X[:60]), Y[:60], sample_weight=h)
    inverse, b = np.linalg.inv(np.eye(4) + (X[:60].T * h) @ X[:60]), (h * Y[:60]) @ X[:60]
    assert_allclose(model.coef_[0], inverse @ b, rtol=1e-9, atol=1e-12)
    clock, halves = 1 + int((h > 0).sum()), model.certainty(table(X[60:]))
    for x, estimate, half in zip(X[60:], model.predict(table(X[60:])), halves, strict=True):
        A = np.linalg.inv(np.linalg.inv(inverse) + np.outer(x, x))
        assert_allclose(estimate, b @ A @ x, rtol=1e-9, atol=1e-12)
        r, s = x @ A @ x, np.linalg.norm(A @ x)
        assert_allclose(half, width_of(r, s, math.sqrt(max(r - r * r - s * s, 0.0)), clock), rtol=1e-8)


def test_the_kernel_form_is_its_gram_matrix():
    """evidence.regression: c = (I + K_SS)^-1 k, v = k(x, x) - k'c, estimate Y'c / (1 + v)."""
    gram = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    for told in ({"epsilon": 0.9}, {"kappa": 0.43}):
        model = om.BBQRegressor(kernel="rbf", gamma=0.5, **told)
        run = om.progressive(model, X, Y)
        asked, estimates, _ = direct(gram, Y, **told)
        assert_array_equal(run.queried, asked)
        assert_allclose(run.scores, estimates, rtol=1e-9, atol=1e-9)
        S = np.flatnonzero(asked)
        assert model.support_.tolist() == S.tolist()
        assert_allclose(model.dual_coef_.ravel(), Y[S])
        c = np.linalg.solve(np.eye(len(S)) + gram[np.ix_(S, S)], gram[S])
        wanted = Y[S] @ c / (2.0 - (gram[S] * c).sum(axis=0))
        assert_allclose(model.predict(X), wanted, rtol=1e-9, atol=1e-9)


def test_all_estimates_it_did_not_ask_for_are_near_the_truth_theorem_bbq_a():
    """Y in [-1, 1] with E[Y | x] = <u, x>: in 20 runs none is further off than epsilon."""
    for seed in range(20):
        draw = np.random.default_rng(seed)
        rows = unit(draw.normal(size=(400, 2)))
        truth = 0.8 * rows @ unit(draw.normal(size=(1, 2)))[0]
        run = om.progressive(om.BBQRegressor(epsilon=0.6), rows, truth + draw.uniform(-0.2, 0.2, 400))
        quiet = run.queried == 0
        assert quiet.any() and np.abs(run.scores - truth)[quiet].max() <= 0.6


def test_the_questions_depend_on_the_rows_alone():
    one, other = (om.BBQRegressor(epsilon=0.9, **NUMBERS).fit(X, y) for y in (Y, np.zeros(250)))
    assert_array_equal(one.queried_, other.queried_)
    assert np.abs(other.predict(X)).max() == 0.0 and one.score(X, Y) > 0.5


def test_labels_that_nobody_asked_for_may_be_missing():
    whole = om.BBQRegressor(epsilon=0.9, shuffle=False, **NUMBERS).fit(X, Y)
    holes = np.full(250, np.nan)
    holes[whole.queried_] = Y[whole.queried_]
    for y in (holes, [None if math.isnan(v) else v for v in holes], pd.Series(holes)):
        some = om.BBQRegressor(epsilon=0.9, shuffle=False, **NUMBERS).fit(X, y)
        assert_array_equal(some.predict(X), whole.predict(X))
    holes[whole.queried_[3]] = np.nan
    model = om.BBQRegressor(epsilon=0.9, shuffle=False)
    said = str(refuses(model, lambda m: m.fit(X, holes)))
    assert f"row {whole.queried_[3]} was asked for and has no label" in said


def test_a_persons_answers():
    """`partial_fit` and `learn_one` take what is there; both, and `fit` on exactly those, are one model."""
    some = np.where(np.arange(250) % 3 == 0, Y, np.nan)
    table = om.BBQRegressor(epsilon=0.9, **NUMBERS).partial_fit(X, some)
    dicts = om.BBQRegressor(epsilon=0.9, **NUMBERS)
    assert dicts.predict_one({0: 1.0}) == 0.0 and dicts.query_one({0: 0.5})
    for x, y in zip(X, some, strict=True):
        dicts.learn_one(dict(enumerate(x)), None if math.isnan(y) else y)
    kept = ~np.isnan(some)
    P = np.linalg.inv(np.eye(4) + X[kept].T @ X[kept])
    assert_allclose(table.coef_[0], P @ X[kept].T @ Y[kept], rtol=1e-9)
    assert_allclose(dicts.coef_, table.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(dicts.predict_one(dict(enumerate(X[7]))), table.predict(X[7:8])[0], rtol=1e-9)
    run = om.progressive(om.BBQRegressor(epsilon=0.9), zip(map(dict, map(enumerate, X)), Y, strict=True))
    assert_array_equal(run.queried, direct(X @ X.T, Y, epsilon=0.9)[0])
    assert om.BBQRegressor().partial_fit(X[:3], [None] * 3).predict(X[:3]).tolist() == [0.0] * 3


def test_a_constant_coordinate_and_long_rows():
    with pytest.warns(UserWarning, match="norm above 1"):
        model = om.BBQRegressor(fit_intercept=True, epsilon=0.9, **NUMBERS).partial_fit(5 * X, Y)
    rows = np.c_[unit(X), np.ones(250)] / math.sqrt(2) if (np.linalg.norm(5 * X, axis=1) > 1).all() else None
    assert rows is not None
    w = np.linalg.solve(np.eye(5) + rows.T @ rows, rows.T @ Y)
    assert_allclose(model.coef_[0], w[:4] / math.sqrt(2), rtol=1e-9)
    assert_allclose(model.intercept_, w[4] / math.sqrt(2), rtol=1e-9)


@pytest.mark.parametrize("told", [{}, {"kernel": "rbf", "gamma": 0.4}], ids=["weights", "kernel"])
def test_a_stream_goes_on_from_a_file(told, tmp_path):
    model = om.BBQRegressor(epsilon=0.9, **told)
    om.progressive(model, X[:100], Y[:100])
    om.save(model, tmp_path / "m.onm")
    twins = [om.load(tmp_path / "m.onm"), pickle.loads(pickle.dumps(model))]
    runs = [om.progressive(each, X[100:], Y[100:]) for each in (model, *twins)]
    for twin, run in zip(twins, runs[1:], strict=True):
        assert type(twin) is om.BBQRegressor and twin.n_queries_ == model.n_queries_
        assert_array_equal(run.queried, runs[0].queried)
        assert_array_equal(twin.predict(X), model.predict(X))


def test_what_it_is_to_others():
    model = om.BBQRegressor()
    assert (
        is_regressor(model) and isinstance(model, base.Regressor) and not isinstance(model, base.Classifier)
    )
    assert not hasattr(model, "classes_") and not hasattr(model, "predict_proba_one")
    assert clone(model).get_params() == model.get_params() and "classes" not in model.get_params()
    assert isinstance(model.fit(X, Y).estimator_, RidgeRegressor)
    assert "1 - delta" not in repr(model) and om.label_plan(model, X).rows == 250


BAD = [
    (np.r_[2.5, Y[1:]], "row 0 has the target 2.5; wanted a number from -1 to 1"),
    (np.r_[Y[:9], -1.01, Y[10:]], "row 9 has the target -1.01"),
    (np.r_[np.inf, Y[1:]], "row 0 is NaN or infinity"),
    (["a"] * 250, "y cannot be read as numbers"), (None, "y is None"), (Y[:5], "(5,)"), (1j * Y, "omplex"),
]  # fmt: skip


@pytest.mark.parametrize(("y", "said"), BAD, ids=[said[:24] for _, said in BAD])
def test_bad_numbers_are_refused_in_one_line(y, said):
    told = {"shuffle": False, "scale": False}
    for model in (om.BBQRegressor(**told), om.BBQRegressor(**told).partial_fit(X, Y)):
        for call in (lambda m: m.fit(X, y), lambda m: m.partial_fit(X, y), lambda m: om.progressive(m, X, y)):
            before = model.predict(X) if model.__sklearn_is_fitted__() else None
            assert said in str(refuses(model, call))
            if before is not None:
                assert_array_equal(model.predict(X), before)


def test_targets_beyond_are_cut_and_said_once():
    with pytest.warns(UserWarning, match=r"^2 targets lie beyond \[-1, 1\] and were cut") as told:
        model = om.BBQRegressor(**NUMBERS).partial_fit(X[:9], np.r_[5.0, -1.5, Y[2:9]])
    assert len(told) == 1
    cut = om.BBQRegressor(**NUMBERS).partial_fit(X[:9], np.r_[1.0, -1.0, Y[2:9]])
    assert_array_equal(model.coef_, cut.coef_)


def test_bad_numbers_of_dicts_are_refused_too():
    model = om.BBQRegressor(scale=False)
    model.learn_one({"a": 0.5}, 0.25)
    for y, said in ((1.5, "the target is 1.5; wanted a number from -1 to 1"), ("x", "wanted a number")):
        assert said in str(refuses(model, lambda m, y=y: m.learn_one({"a": 0.5}, y)))
    assert model.t_ == 1
    with pytest.raises(BadInput, match="classes= are for labels"):
        om.progressive(model, X, Y, classes=[-1, 1])
