"""BBQ against direct inverses: what is asked for, estimates, half-widths; tables, dicts, kernels, answers."""

from __future__ import annotations

import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import onmargin as om
from onmargin.estimators import ridge

from ..uncompiled import Comparisons


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def stream(count, width, seed=0, radius=1.0):
    """Rows of the unit ball, u of length at most 1, labels with E[y | x] = <u, x>."""
    draw = np.random.default_rng(seed)
    rows = unit(draw.normal(size=(count, width))) * draw.uniform(0.2, 1.0, (count, 1)) ** (1 / radius)
    u = unit(draw.normal(size=(1, width)))[0]
    return rows, np.where(draw.random(count) < (1 + rows @ u) / 2, 1, -1), u


def width_of(r, s, q, t, delta=0.1, confidence="hoeffding"):
    """r + s + |q| sqrt(2 ln ...)"""
    odds = 2 * t * (t + 1) / delta if confidence == "hoeffding" else t * (t + 1) / (2 * delta)
    return r + s + q * np.sqrt(2 * np.log(odds))


def direct(gram, y, epsilon=0.5, delta=0.1, confidence="hoeffding", kappa=None, kappa_factor=1.0):
    """From the definition, by Gram matrices: A = I + S S' + x x', nothing kept from round to round."""
    asked, estimates, widths = np.zeros(len(y), bool), np.zeros(len(y)), np.zeros(len(y))
    for t in range(len(y)):
        seen = np.flatnonzero(asked)
        k, own = gram[t, seen], gram[t, t]
        c = np.linalg.solve(np.eye(len(seen)) + gram[np.ix_(seen, seen)], k)
        v = own - k @ c
        r, q = v / (1 + v), np.linalg.norm(c) / (1 + v)
        s = np.sqrt(max(v - c @ c, 0.0)) / (1 + v)
        estimates[t] = y[seen] @ c / (1 + v)
        widths[t] = width_of(r, s, q, t + 1, delta, confidence)
        asked[t] = widths[t] > epsilon if kappa is None else r >= kappa_factor * (t + 1.0) ** -kappa
    return asked, estimates, widths


X, Y, TRUE = stream(250, 4)
CASES = [
    {"epsilon": 0.9},
    {"epsilon": 0.95, "delta": 0.3},
    {"epsilon": 0.9, "confidence": "seed"},
    {"kappa": 0.61},
    {"kappa": 0.37, "kappa_factor": 0.47},
]
each_case = pytest.mark.parametrize("told", CASES, ids=str)


@each_case
def test_a_stream_is_the_definition(told):
    """The kernel form of the oracle, the weights of the learner: two ways to the same numbers."""
    model = om.BBQ(**told)
    run = om.progressive(model, X, Y)
    asked, estimates, _ = direct(X @ X.T, Y, **told)
    assert_array_equal(run.queried, asked)
    assert 4 < asked.sum() < 250 and model.n_queries_ == asked.sum() and model.t_ == 250
    assert_allclose(run.scores, estimates, rtol=1e-9, atol=1e-12)
    assert_array_equal(run.predictions, np.where(estimates >= 0, 1, -1))
    assert run.mistakes == (run.predictions != Y).sum()


@pytest.mark.parametrize("told", [{"epsilon": 0.25}, {"kappa": 0.8}], ids=str)
def test_ten_thousand_rounds_do_not_drift(told):
    """P against inv(I + S S') to 1e-8, decisions and estimates all along by inverses of A_t."""
    rows, y, _ = stream(10_000, 5, seed=3)
    model = om.BBQ(**told)
    run = om.progressive(model, rows, y)
    asked = run.queried.astype(bool)
    gram, b, late = np.eye(5), np.zeros(5), 0
    inverse = np.linalg.inv(gram)
    for t, x in enumerate(rows):
        A = np.linalg.inv(gram + np.outer(x, x)) if t % 10 == 0 or asked[t] else None
        if A is not None:
            r, s = x @ A @ x, np.linalg.norm(A @ x)
            q = np.sqrt(max(r - r * r - s * s, 0.0))
            wide = width_of(r, s, q, t + 1)
            left, right = (r, (t + 1.0) ** -0.8) if "kappa" in told else (wide, told["epsilon"])
            assert abs(left - right) < 1e-10 or asked[t] == (left > right), t
            assert abs(run.scores[t] - b @ A @ x) < 1e-8
        if asked[t]:
            gram, b, late = gram + np.outer(x, x), b + y[t] * x, t
    inverse = np.linalg.inv(gram)
    assert np.abs(model.estimator_._model.space.sigma[0][:5, :5] - inverse).max() < 1e-8
    assert_allclose(model.coef_[0], inverse @ b, rtol=1e-8, atol=1e-8)
    assert asked.sum() > 300 and late > 1000


def test_estimates_and_half_widths_of_rows_are_by_inverses():
    for confidence in ("hoeffding", "seed"):
        model = om.BBQ(epsilon=0.9, confidence=confidence, classes=(-1, 1)).partial_fit(X[:60], Y[:60])
        P, b = np.linalg.inv(np.eye(4) + X[:60].T @ X[:60]), Y[:60] @ X[:60]
        for x, estimate, half in zip(X[60:], model.regress(X[60:]), model.certainty(X[60:]), strict=True):
            A = np.linalg.inv(np.linalg.inv(P) + np.outer(x, x))
            assert_allclose(estimate, b @ A @ x, rtol=1e-9)
            r, s, q = x @ A @ x, np.linalg.norm(A @ x), np.linalg.norm(X[:60] @ A @ x)
            assert_allclose(half, width_of(r, s, q, 61, confidence=confidence), rtol=1e-9)
        assert_array_equal(model.predict(X), np.where(model.regress(X) >= 0, 1, -1))
        wide = model.certainty(X[60:]) > 0.9
        assert_array_equal(model.query(X[60:]), wide)


def test_the_values_of_the_table():
    """The first unit row: r = s = 1/2, |q| = 0; then x = (.6, .8) after ((1, 0), +1)."""
    rows, y = np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([1, -1])
    for epsilon, asks in ((0.999, 1), (1.001, 0)):
        assert om.progressive(om.BBQ(epsilon=epsilon), rows, y).queried[0] == asks
    for kernel in (None, "linear"):
        model = om.BBQ(classes=(-1, 1), kernel=kernel).partial_fit(rows[:1], y[:1])
        assert_allclose(model.regress(rows[1:]), 0.1648352, atol=5e-8)
        wide = 0.4505495 + 0.4694508 + 0.1648352 * np.sqrt(2 * np.log(2 * 2 * 3 / 0.1))
        assert_allclose(model.certainty(rows[1:]), wide, atol=2e-7)


@each_case
def test_the_linear_kernel_is_the_linear_learner(told):
    rows = unit(X)
    plain, spelled = om.BBQ(**told), om.BBQ(kernel="linear", **told)
    one, other = om.progressive(plain, rows, Y), om.progressive(spelled, rows, Y)
    assert_array_equal(one.queried, other.queried)
    assert_allclose(other.scores, one.scores, rtol=1e-9, atol=1e-9)
    assert_allclose(spelled.regress(rows), plain.regress(rows), rtol=1e-9, atol=1e-9)
    assert_allclose(spelled.certainty(rows), plain.certainty(rows), rtol=1e-7, atol=1e-7)


def test_rbf_is_the_definition_of_its_gram_matrix():
    gram = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    for told in ({"epsilon": 0.9}, {"kappa": 0.43}):
        model = om.BBQ(kernel="rbf", gamma=0.5, **told)
        run = om.progressive(model, X, Y)
        asked, estimates, _ = direct(gram, Y, **told)
        assert_array_equal(run.queried, asked)
        assert 4 < asked.sum() < 250
        assert_allclose(run.scores, estimates, rtol=1e-9, atol=1e-9)
        assert_array_equal(np.sort(model.support_), np.flatnonzero(asked))
        seen = np.flatnonzero(asked)
        c = np.linalg.solve(np.eye(len(seen)) + gram[np.ix_(seen, seen)], gram[seen])
        v = 1.0 - (gram[seen] * c).sum(axis=0)
        assert_allclose(model.regress(X), Y[seen] @ c / (1 + v), rtol=1e-9, atol=1e-9)


def test_a_constant_coordinate_shrinks_all_rows():
    """(x, 1) / sqrt(2), so that rows stay within 1."""
    rows = np.c_[X, np.ones(250)] / np.sqrt(2)
    told = {"epsilon": 0.9}
    model = om.BBQ(fit_intercept=True, **told)
    run = om.progressive(model, X, Y)
    asked, estimates, _ = direct(rows @ rows.T, Y, **told)
    assert_array_equal(run.queried, asked)
    assert_allclose(run.scores, estimates, rtol=1e-9, atol=1e-9)
    w = np.linalg.solve(np.eye(5) + rows[asked].T @ rows[asked], Y[asked] @ rows[asked])
    assert_allclose(model.coef_[0] @ X[3] + model.intercept_[0], w @ rows[3], rtol=1e-9)


def test_long_rows_are_scaled_with_one_warning_or_refused():
    long = X * 3.0
    for call in (
        lambda m: om.progressive(m, long, Y), lambda m: m.fit(long, Y), lambda m: m.partial_fit(long, Y),
        lambda m: m.partial_fit(X, Y).query(long), lambda m: m.partial_fit(X, Y).regress(long),
    ):  # fmt: skip
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(om.BBQ(classes=(-1, 1), random_state=0))
        assert len(caught) == 1 and "norm above 1" in str(caught[0].message)
        model = om.BBQ(classes=(-1, 1), scale=False)
        with pytest.raises(ValueError, match=r"norm .* above 1") as refused:
            call(model)
        assert "\n" not in str(refused.value) and model.n_queries_ == 0
    with pytest.warns(UserWarning, match="scaled"):
        run = om.progressive(om.BBQ(epsilon=0.9), long, Y)
    clipped = X * (3 / np.maximum(1, 3 * np.linalg.norm(X, axis=1)))[:, None]
    assert_array_equal(run.queried, direct(clipped @ clipped.T, Y, epsilon=0.9)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        om.BBQ(scale=False).fit(unit(X) * (1 + 5e-10), Y)


comparisons = Comparisons("tests.estimators.test_bbq")


@comparisons.each()
def a_person_answers_some_questions():
    """partial_fit and learn_one skip what is missing; dicts, frames, CSR and arrays agree."""
    there = np.arange(250) % 3 > 0
    y = np.where(there, Y, np.nan)
    P, b = np.linalg.inv(np.eye(4) + X[there].T @ X[there]), Y[there] @ X[there]
    wanted = X @ P @ b / (1 + np.einsum("ij,jk,ik->i", X, P, X))
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = om.BBQ(epsilon=0.6, classes=(-1, 1))
    for x, label in zip(frame.to_dict("records"), y, strict=True):
        named.learn_one(x, label if label == label else None)
    yield named.regress(frame), wanted
    for table in (X, frame, sp.csr_matrix(X)):
        model = om.BBQ(epsilon=0.6, classes=(-1, 1)).partial_fit(table, y)
        yield model.regress(table), wanted
        yield model.certainty(table), named.certainty(frame)
        yield np.array([model.t_, model.n_queries_]), np.array([there.sum(), 0])
    wide, asked = [], []
    for x in frame.to_dict("records"):
        wide.append(named.certainty(pd.DataFrame([x]))[0] > 0.6)
        asked.append(named.query_one(x))
    asked = np.array(asked)
    yield asked, np.array(wide)
    yield np.array(named.n_queries_), asked.sum()
    yield np.array([named.predict_one(x) for x in frame.to_dict("records")]), np.where(wanted >= 0, 1, -1)


@comparisons.each()
def long_dicts_are_scaled_with_one_warning():
    long, short = om.BBQ(classes=(-1, 1)), om.BBQ(classes=(-1, 1))
    short.learn_one({"a": 0.6, "b": 0.8}, 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        long.learn_one({"a": 3.0, "b": 4.0}, 1)
    yield np.array(len(caught)), np.array(1)
    yield long.coef_, short.coef_


@comparisons.each()
def csr_is_dense():
    table = sp.csr_matrix(X * (np.abs(X) > 0.2))
    one, other = (om.progressive(om.BBQ(epsilon=0.9), rows, Y) for rows in (table, table.toarray()))
    yield one.queried, other.queried
    yield one.scores, other.scores


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What the plain-Python runs found."""
    return comparisons.run(tmp_path_factory.mktemp("plain") / "pairs.npz")


def test_plain_python(written):
    for name in comparisons.entries:
        comparisons.compare(name, written)


def test_labels_do_not_say_what_is_asked_for():
    """All but the estimates: BBQ's questions depend on rows alone; labels not asked for may be missing."""
    one = om.progressive(om.BBQ(epsilon=0.9, classes=(-1, 1)), X, Y)
    other = om.progressive(om.BBQ(epsilon=0.9, classes=(-1, 1)), X, -Y)
    assert_array_equal(one.queried, other.queried)
    assert_allclose(one.scores, -other.scores)
    part = om.progressive(om.BBQ(epsilon=0.9, classes=(-1, 1)), X, np.where(one.queried, Y, np.nan))
    assert_array_equal(part.scores, one.scores)


def test_three_classes_are_refused():
    three = np.arange(250) % 3
    for call in (
        lambda m: m.fit(X, three), lambda m: m.partial_fit(X, three, classes=(0, 1, 2)),
        lambda m: om.progressive(m, X, three),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="Only binary") as caught:
            call(om.BBQ())
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("told", [{}, {"kernel": "rbf", "gamma": 1.0}], ids=str)
def test_copies_go_on_alike(told, tmp_path):
    model = om.BBQ(epsilon=0.9, **told)
    om.progressive(model, X[:120], Y[:120])
    om.save(model, tmp_path / "bbq.onm")
    copies = [
        pickle.loads(pickle.dumps(model)),
        om.load(tmp_path / "bbq.onm"),
        model.clone(include_attributes=True),
    ]
    run = om.progressive(model, X[120:], Y[120:])
    for copy in copies:
        again = om.progressive(copy, X[120:], Y[120:])
        assert_array_equal(again.queried, run.queried)
        assert_array_equal(again.scores, run.scores)
        assert copy.n_queries_ == model.n_queries_ and copy.get_params() == model.get_params()
    fresh = clone(model)
    assert fresh.n_queries_ == 0 and fresh.get_params() == model.get_params()


# ---- guarantees


def test_questions_are_bounded_q1():
    """N <= d (2 + sqrt(2 ln(2 T (T + 1) / delta)))^2 / eps^2 ln(1 + N / d), for any rows and labels."""
    worst = 0.0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        width, count = int(draw.integers(1, 7)), int(draw.integers(1, 600))
        rows = unit(draw.normal(size=(count, width)))
        if seed % 3 == 0:  # rows that stay at right angles to each other
            rows = np.eye(width)[draw.integers(width, size=count)]
        epsilon, delta = draw.uniform(0.2, 1.5), draw.uniform(0.01, 0.9)
        model = om.BBQ(epsilon=epsilon, delta=delta, classes=(-1, 1))
        asked = om.progressive(model, rows, draw.choice([-1, 1], count)).queried.sum()
        factor = 2 + np.sqrt(2 * np.log(2 * count * (count + 1) / delta))
        bound = width * (factor / epsilon) ** 2 * np.log1p(asked / width)
        assert asked <= bound * (1 + 1e-9)
        worst = max(worst, asked / max(bound, 1e-300))
    assert worst > 0.02


def test_estimates_not_asked_for_are_near_the_truth_q2():
    """With probability 1 - delta all of them; of 30 runs none had one that was not."""
    nearest = 0.0
    for seed in range(30):
        rows, y, u = stream(4000, 2, seed=100 + seed)
        run = om.progressive(om.BBQ(epsilon=0.5), rows, y)
        free = ~run.queried.astype(bool)
        off = np.abs(run.scores - rows @ u)[free]
        assert len(off) > 500 and off.max() <= 0.5
        nearest = max(nearest, off.max())
    assert nearest > 0.1


if __name__ == "__main__":
    comparisons.write(sys.argv[1])


# ---- many columns


@pytest.mark.parametrize("told", [{}, {"fit_intercept": True}, {"kappa": 0.5}], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_many_columns_are_the_same_estimates_spelled_in_rows(told, form, monkeypatch, tmp_path):
    """What a learner with weights says, to rounding: tables, dicts, weights, files."""
    found = []
    table = form(np.where(np.abs(X) > 0.1, X, 0.0))
    for wide in (2048, 3):
        monkeypatch.setattr(ridge, "WIDE", wide)
        model = om.BBQ(epsilon=0.9, random_state=0, **told)
        run = om.progressive(model, table, Y)
        model.learn_one({0: 0.5, 3: -0.2}, 1)
        assert (model.estimator_._model.kind == "kernel") == (wide == 3)
        om.save(model, tmp_path / "m.onm")
        for one in (model, om.load(tmp_path / "m.onm")):
            found.append(
                [
                    run.queried, run.scores, one.regress(table), one.certainty(table), one.coef_,
                    one.intercept_, one.query_one({1: 0.1}), one.predict(table), one.query(table),
                    one.n_queries_,
                ]
            )  # fmt: skip
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            assert_allclose(np.asarray(same, float), np.asarray(one, float), rtol=1e-7, atol=1e-9)


def test_dicts_with_more_names_than_a_square_can_hold_are_refused(monkeypatch):
    monkeypatch.setattr(ridge, "WIDEST", 20)
    model = om.BBQ(classes=(0, 1))
    model.learn_one({"a": 0.5}, 1)
    before = model.regress(pd.DataFrame({"a": [1.0]}))
    with pytest.raises(ValueError, match="set kernel='linear'") as refused:
        model.learn_one({f"x{i}": 0.1 for i in range(30)}, 0)
    assert "\n" not in str(refused.value) and model.n_features_in_ == 1
    assert_array_equal(model.regress(pd.DataFrame({"a": [1.0]})), before)
    model.learn_one({"b": 0.5}, 0)


def test_weights_of_rows_in_many_columns_are_those_in_few(monkeypatch):
    weights = np.random.default_rng(5).choice([0.25, 0.5, 1.0, 2.0], len(Y))
    few = om.BBQ(classes=(-1, 1)).partial_fit(X, Y, sample_weight=weights)
    monkeypatch.setattr(ridge, "WIDE", 3)
    many = om.BBQ(classes=(-1, 1)).partial_fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(many.regress(X), few.regress(X), atol=1e-9)


# ---- what it says


def test_it_says_once_when_it_begins_to_ask():
    rows, y, _ = stream(60, 3)
    rows = unit(rows)
    model = om.BBQ(kappa=0.2)
    for expected in (1, 0):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run = om.progressive(model, rows, y)
        said = [str(one.message) for one in caught]
        assert len(said) == expected and all("before round 32 = 2^(1/kappa)" in text for text in said)
        if expected:
            assert np.flatnonzero(run.queried)[0] in (31, 32)  # from round 1; to rounding
    early = om.progressive(om.BBQ(kappa=0.2, kappa_factor=0.5), rows, y)  # DOGMA's: no word
    assert np.flatnonzero(early.queried)[0] in (0, 1)  # from the start; to rounding
    om.BBQ(kappa=0.3).fit(rows, y)  # 11 rounds are not worth a word: a warning is an error here
    with pytest.warns(UserWarning, match=r"before round 1\.27e\+30"):
        om.BBQ(kappa=0.01).fit(rows, y)


def test_it_says_once_that_it_asks_for_nearly_all():
    rows, y, _ = stream(1200, 4)
    model = om.BBQ(epsilon=0.1, random_state=0)
    with pytest.warns(UserWarning, match=r"1,200 of 1,200 labels.*raise epsilon=0\.1") as caught:
        model.fit(rows, y)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(rows, y)
        om.BBQ(epsilon=0.9, random_state=0).fit(rows, y)


def test_a_dict_of_nothing_teaches_nothing():
    """So its label is not wanted; of a name never met it is."""
    model = om.BBQ()
    for number in range(5):
        model.learn_one({"a": 0.3 + 0.1 * number, "b": 0.2}, number % 2)
    assert not model.query_one({}) and model.query_one({"never met": 1.0})
