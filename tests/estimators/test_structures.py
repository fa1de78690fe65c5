"""CandidateClassifier with a user's argmax: chains by Viterbi, against oracles; functions that fail."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import onmargin as om
from onmargin.errors import BadInput

LABELS, COLUMNS = 3, 4
draw = np.random.default_rng(4)
CENTRES, FOLLOWS = (
    draw.normal(size=(LABELS, COLUMNS)),
    np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.5, 0.4, 0.1]]),
)


def chain(length):
    """Labels that follow each other, and what is seen of them."""
    y = [int(draw.integers(LABELS))]
    while len(y) < length:
        y.append(int(draw.choice(LABELS, p=FOLLOWS[y[-1]])))
    return CENTRES[y] + draw.normal(size=(length, COLUMNS)), y


X, Y = map(list, zip(*(chain(5) for _ in range(60)), strict=True))


def features(x, y):
    """Sums of what was seen of each label, and how often one followed another."""
    seen, after = np.zeros((LABELS, x.shape[1])), np.zeros((LABELS, LABELS))
    np.add.at(seen, y, x)
    np.add.at(after, (y[:-1], y[1:]), 1.0)
    return np.r_[seen.ravel(), after.ravel()]


def sparse_features(x, y):
    return sp.csr_matrix(features(x, y))


def viterbi(weights, x, y=None):
    """The chain of the highest score; with y, plus one for every label that differs."""
    size = LABELS * x.shape[1]
    scores, after = x @ weights[:size].reshape(LABELS, -1).T, weights[size:].reshape(LABELS, LABELS)
    if y is not None:
        scores = scores + 1.0
        scores[np.arange(len(y)), y] -= 1.0
    best, back = scores[0], []
    for row in scores[1:]:
        table = best[:, None] + after
        back.append(table.argmax(axis=0))
        best = table.max(axis=0) + row
    path = [int(best.argmax())]
    for come in reversed(back):
        path.append(int(come[path[-1]]))
    return path[::-1]


def plain_viterbi(weights, x):
    return viterbi(weights, x)


def hamming(y, other):
    return sum(one != another for one, another in zip(y, other, strict=True))


def learner(**more):
    given = {
        "decode": viterbi,
        "features": features,
        "cost": hamming,
        "C": 0.3,
        "random_state": 0,
        "tol": None,
    }
    return om.CandidateClassifier(**(given | {"average": False} | more))


def oracle(C, step, cost, adds, rounds=X, right=Y):
    """All 3^5 chains, one after the other: last weights, and the mean of those that predicted."""
    every = [list(y) for y in itertools.product(range(LABELS), repeat=5)]
    w, total = np.zeros(LABELS * COLUMNS + LABELS * LABELS), 0.0
    for x, y in zip(rounds, right, strict=True):
        total = total + w
        rows = np.array([features(x, q) for q in every])
        costs = np.array([float(cost(y, q)) for q in every])
        q = int((rows @ w + (costs if adds else 0.0)).argmax())
        z = features(x, y) - rows[q]
        loss, size = max(costs[q] - w @ z, 0.0), z @ z
        if every[q] == y or size == 0:
            continue
        tau = {"pa": loss / size, "pa1": min(C, loss / size), "pa2": loss / (size + 1 / (2 * C))}.get(
            step, 1.0
        )
        if step != "perceptron" or w @ z <= 0:
            w = w + tau * z
    return w, total / len(rounds)


def zero_one(y, other):
    return float(y != other)


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
@pytest.mark.parametrize("adds", [True, False], ids=["max_loss", "prediction"])
def test_a_pass_is_the_oracle_over_all_chains(step, adds):
    for average in (False, True):
        model = learner(step=step, decode=viterbi if adds else plain_viterbi, average=average)
        model.partial_fit(X, Y)
        assert_allclose(model.coef_[0], oracle(0.3, step, hamming, adds)[average], rtol=1e-9, atol=1e-9)
        assert model.t_ == 60 and model.n_features_in_ == 21


def test_without_a_cost_the_margin_is_one():
    model = learner(decode=plain_viterbi, cost=None).partial_fit(X, Y)
    assert_allclose(model.coef_[0], oracle(0.3, "pa1", zero_one, False)[0], rtol=1e-9, atol=1e-9)


def test_listed_candidates_and_an_argmax_over_them_are_one_learner():
    """A structure is the number of a row; the rival is the best other one."""
    table, qid = draw.normal(size=(200, 5)), np.repeat(np.arange(50), 4)
    scores = (table @ draw.normal(size=5)).reshape(50, 4)
    chosen = np.zeros((50, 4), bool)
    chosen[np.arange(50), scores.argmax(axis=1)] = True

    def best_row(weights, x, y=None):
        return int((x @ weights + (0.0 if y is None else np.arange(4) != y)).argmax())

    def row(x, y):
        return x[y]

    listed = om.CandidateClassifier(C=0.1).partial_fit(table, chosen.ravel(), qid)
    groups = list(table.reshape(50, 4, 5))
    free = om.CandidateClassifier(C=0.1, decode=best_row, features=row).partial_fit(
        groups, scores.argmax(axis=1)
    )
    assert_allclose(free.coef_, listed.coef_, rtol=1e-9, atol=1e-9)
    assert free.predict(groups) == listed.predict(table, qid).reshape(50, 4).argmax(axis=1).tolist()
    assert free.score(groups, scores.argmax(axis=1)) == listed.score(table, chosen.ravel(), qid)


def test_splits_sparse_rows_and_passes():
    whole, parts = learner(average=True).partial_fit(X, Y), learner(average=True)
    for first in (0, 1, 30):
        parts.partial_fit(X[first : {0: 1, 1: 30}.get(first)], Y[first : {0: 1, 1: 30}.get(first)])
    assert_array_equal(parts.coef_, whole.coef_)
    once = learner(average=True, max_iter=1, shuffle=False).fit(X, Y)
    assert_array_equal(once.coef_, whole.coef_)
    assert_allclose(
        learner(features=sparse_features, average=True).partial_fit(X, Y).coef_, whole.coef_, rtol=1e-12
    )
    many = learner(max_iter=5).fit(X, Y)
    assert many.n_iter_ == 5 and many.t_ == 300 and many.score(X, Y) > whole.score(X[:5], Y[:5]) - 1
    assert many.predict(X[:3]) == [viterbi(many.coef_[0], x) for x in X[:3]]
    assert learner(max_iter=2, warm_start=True).fit(X, Y).fit(X, Y).t_ == 240


def test_chains_beat_tokens_on_noisy_digits():
    """Images of digits that mostly count upwards, 12 in a row: Viterbi against one token at a time."""
    images, digits = load_digits(return_X_y=True)

    def counted(count, seed, known):
        rng = np.random.default_rng(seed)
        rows = [np.flatnonzero((digits == k) & known) for k in range(10)]
        xs, ys = [], []
        for _ in range(count):
            y = [int(rng.integers(10))]
            while len(y) < 12:
                y.append((y[-1] + 1) % 10 if rng.random() < 0.8 else int(rng.integers(10)))
            shown = images[[rng.choice(rows[k]) for k in y]] / 16
            xs.append(shown + 0.375 * rng.normal(size=shown.shape))
            ys.append(y)
        return xs, ys

    def of_ten(x, y):
        seen, after = np.zeros((10, 64)), np.zeros((10, 10))
        np.add.at(seen, y, x)
        np.add.at(after, (y[:-1], y[1:]), 1.0)
        return np.r_[seen.ravel(), after.ravel()]

    def best_of_ten(weights, x, y=None):
        scores, after = x @ weights[:640].reshape(10, 64).T, weights[640:].reshape(10, 10)
        if y is not None:
            scores = scores + (np.arange(10) != np.asarray(y)[:, None])
        best, back = scores[0], []
        for row in scores[1:]:
            back.append((best[:, None] + after).argmax(axis=0))
            best = (best[:, None] + after).max(axis=0) + row
        path = [int(best.argmax())]
        for come in reversed(back):
            path.append(int(come[path[-1]]))
        return path[::-1]

    first = np.arange(len(digits)) < 900
    (xs, ys), (xt, yt) = counted(100, 0, first), counted(100, 1, ~first)
    model = om.CandidateClassifier(
        decode=best_of_ten, features=of_ten, cost=hamming, C=0.1, average=True, max_iter=5, tol=None,
        random_state=0,
    ).fit(xs, ys)  # fmt: skip
    tokens = LogisticRegression(max_iter=1000).fit(np.concatenate(xs), np.concatenate(ys))
    wrong = np.mean(np.concatenate(model.predict(xt)) != np.concatenate(yt))
    apart = 1 - tokens.score(np.concatenate(xt), np.concatenate(yt))
    assert wrong < 0.09 < 0.22 < apart


# ---- kept


def test_functions_come_back_through_parts(tmp_path):
    model = learner(average=True).partial_fit(X[:30], Y[:30])
    om.save(model, tmp_path / "m.onm")
    parts = {"viterbi": viterbi, "features": features, "hamming": hamming}
    twin = om.load(tmp_path / "m.onm", parts=parts)
    for one in (model, twin, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        one.partial_fit(X[30:], Y[30:])
        assert_array_equal(one.coef_, model.coef_)
        assert one.predict(X[:5]) == model.predict(X[:5])
    assert clone(model).decode is viterbi
    with pytest.raises(BadInput, match="parts="):
        om.load(tmp_path / "m.onm")


# ---- what is refused


def nonsense(said):
    return lambda weights, x: said


def fails(*given):
    raise KeyError("not\ntoday")


FUNCTIONS = {
    "decode is no function": {"decode": 3},
    "no features": {"features": None},
    "features are no function": {"features": 7},
    "cost is no function": {"cost": [1]},
    "an intercept": {"fit_intercept": True},
    "decode gives None": {"decode": nonsense(None)},
    "decode gives a text": {"decode": nonsense("x")},
    "decode gives labels beyond": {"decode": nonsense([0, 1, 99, 1, 0])},
    "decode gives too few": {"decode": nonsense([0, 1])},
    "decode fails": {"decode": lambda weights, x: fails()},
    "decode writes to the weights": {"decode": lambda weights, x: weights.fill(0.0)},
    "features fail": {"features": fails},
    "features are a table": {"features": lambda x, y: x},
    "features are words": {"features": lambda x, y: ["a", "b"]},
    "features are nothing": {"features": lambda x, y: None},
    "features are NaN": {"features": lambda x, y: features(x, y) * np.nan},
    "features of several lengths": {"features": lambda x, y: features(x, y)[: 21 - (y != Y[0])]},
    "a sparse table": {"features": lambda x, y: sp.csr_matrix(np.ones((2, 3)))},
    "cost is a text": {"decode": plain_viterbi, "cost": lambda y, q: "x"},
    "cost is NaN": {"decode": plain_viterbi, "cost": lambda y, q: np.nan},
    "cost is negative": {"decode": plain_viterbi, "cost": lambda y, q: -1.0},
    "cost fails": {"decode": plain_viterbi, "cost": fails},
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_functions_that_give_nonsense_are_refused_in_one_line(what):
    """From the first example on, and in mid-stream, where nothing changes."""
    rounds, right = X[:20], Y[:20]
    with pytest.raises(BadInput) as error:
        learner(**FUNCTIONS[what]).fit(rounds, right)
    assert "\n" not in str(error.value)
    model = learner().partial_fit(X, Y)
    before, rounds = model.coef_.copy(), model.t_
    if "fit_intercept" not in FUNCTIONS[what] and "features" not in FUNCTIONS[what]:
        model.set_params(**FUNCTIONS[what])
        with pytest.raises(BadInput):
            model.partial_fit(X[:20], [[0, 0, 0, 0, 0]] * 20)
        assert_array_equal(model.coef_, before)
        assert model.t_ == rounds


def test_data_that_is_none():
    model = learner().partial_fit(X, Y)
    for call in (
        lambda: model.partial_fit(X, Y[:3]), lambda: model.partial_fit([], []),
        lambda: model.partial_fit(5, Y), lambda: model.partial_fit(X, None),
        lambda: model.partial_fit("abc", Y[:3]), lambda: model.partial_fit(X, Y, qid=[1] * 60),
        lambda: model.predict(X, qid=[1] * 60), lambda: model.score(X, Y[:3]),
        lambda: om.CandidateClassifier(features=features).fit(X, Y),
        lambda: learner(features=sparse_features).set_params(decode=None).fit(X, Y),
        lambda: model.set_params(features=sparse_features).partial_fit(X, Y),
    ):  # fmt: skip
        with pytest.raises(BadInput) as error:
            call()
        assert "\n" not in str(error.value) and model.t_ == 60
    with pytest.raises(ValueError, match="has seen no example"):
        learner().predict(X)


def test_an_argmin_is_spoken_of():
    with pytest.warns(UserWarning, match="is it an argmax"):
        learner(decode=lambda weights, x: viterbi(-weights, x), max_iter=3).fit(X, Y)


def test_an_interrupt_in_decode_changes_nothing():
    model, calls = learner().partial_fit(X, Y), iter(range(100))

    def interrupted(weights, x):
        if next(calls) > 7:
            raise KeyboardInterrupt
        return viterbi(weights, x)

    before = model.coef_.copy()
    model.set_params(decode=interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, Y)
    assert_array_equal(model.coef_, before)
    assert model.t_ == 60


@pytest.mark.parametrize("nothing", [np.zeros(0), sp.csr_matrix((1, 0))], ids=["numbers", "sparse"])
def test_a_map_without_features_is_refused(nothing):
    model = om.CandidateClassifier(decode=lambda weights, x: [0], features=lambda x, y: nothing)
    with pytest.raises(
        BadInput, match="^features gave .* for the right structure of example 0; wanted numbers"
    ):
        model.fit(X, Y)


def test_what_does_not_take_structures_says_what_does():
    with pytest.raises(BadInput, match=r"CandidateClassifier\(decode=...\) is not swept; use GridSearchCV"):
        om.sweep(learner(), {"C": [0.1, 1.0]}, X, Y)
    with pytest.raises(BadInput, match="learns from whole groups, not row by row; use its fit"):
        om.progressive(learner(), X, Y)
    search = GridSearchCV(learner(), {"C": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert search.best_score_ > 0.0
