"""Choosing among candidates: against ten lines of NumPy, and learners of several classes and of sets."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onmargin as om

from ..soaking import mostly_uncompiled

ONE_PASS = {"max_iter": 1, "tol": None, "shuffle": False}
LAST = {**ONE_PASS, "average": False}
STEPS = ("pa", "pa1", "pa2", "perceptron")
every_step = pytest.mark.parametrize("step", mostly_uncompiled(STEPS, "pa1"))


def drawn(seed=0, groups=30, width=5, noise=0.3):
    """Groups of 1 to 6 candidates, one of them chosen."""
    draw = np.random.default_rng(seed)
    qid = np.repeat(draw.permutation(groups), draw.integers(1, 7, groups))
    X = draw.normal(size=(len(qid), width)) * (draw.random((len(qid), width)) < 0.7)
    scores = X @ draw.normal(size=width) + noise * draw.normal(size=len(qid))
    best = np.full(groups, -np.inf)
    np.maximum.at(best, qid, scores)
    chosen = scores == best[qid]
    return X, chosen, qid


def groups_in_order(qid):
    """The rows of each group, in order of appearance."""
    return [np.flatnonzero(qid == name) for name in dict.fromkeys(qid.tolist())]


def oracle(X, chosen, qid, step, C):
    """The weights before every round, and after the last."""
    weights = [np.zeros(X.shape[1])]
    for rows in groups_in_order(qid):
        w = weights[-1]
        r, others = rows[chosen[rows]][0], rows[~chosen[rows]]
        if len(others):
            d = X[r] - X[others[np.argmax(X[others] @ w)]]
            loss, size = max(0.0, 1 - w @ d), d @ d
            hard = loss / size if size else 0.0
            tau = {"pa": hard, "pa1": min(C, hard), "pa2": loss / (size + 0.5 / C), "perceptron": w @ d <= 0}
            w = w + tau[step] * d
        weights.append(w)
    return np.array(weights)


@every_step
@pytest.mark.parametrize("table", [np.asarray, sp.csr_matrix], ids=["dense", "CSR"])
def test_the_weights_are_those_of_the_formulas(step, table):
    """With averages too: those of the weights that predicted, groups of one candidate counting as rounds."""
    for seed, C in enumerate((1.0, 0.05, 3.0)):
        X, chosen, qid = drawn(seed)
        weights = oracle(X, chosen, qid, step, C)
        last = om.CandidateClassifier(step=step, C=C, **LAST).fit(table(X), chosen, qid)
        mean = om.CandidateClassifier(step=step, C=C, average=True, **ONE_PASS).fit(table(X), chosen, qid)
        assert last.t_ == mean.t_ == 30
        assert_allclose(last.coef_[0], weights[-1], rtol=1e-9, atol=1e-10)
        assert_allclose(mean.coef_[0], weights[:-1].mean(axis=0), rtol=1e-9, atol=1e-10)
        assert_allclose(mean.decision_function(table(X)), X @ weights[:-1].mean(axis=0), atol=1e-9)
        assert not last.intercept_.any()


def in_blocks(X, y, K):
    """Phi(x, k): x in block k of a K times longer vector, one candidate per class."""
    table = np.kron(X[:, None, :], np.eye(K)[:, :, None]).reshape(len(X) * K, -1)
    return table, np.eye(K, dtype=bool)[y].ravel(), np.repeat(np.arange(len(X)), K)


@every_step
@pytest.mark.parametrize("average", [False, True])
def test_classes_are_candidates_in_blocks(step, average):
    """The learners of several classes are this one with x placed in block y."""
    draw, K = np.random.default_rng(1), 4
    X = draw.normal(size=(80, 3))
    y = (X @ draw.normal(size=(3, K)) + 0.5 * draw.normal(size=(80, K))).argmax(axis=1)
    if step == "perceptron":
        rows = om.Perceptron(fit_intercept=False, average=average, classes=range(K))
    else:
        rows = om.PassiveAggressiveClassifier(
            step=step, C=0.3, fit_intercept=False, average=average, classes=range(K)
        )
    rows.partial_fit(sp.csr_matrix(X), y)  # compiled for other tests too
    table, chosen, qid = in_blocks(X, y, K)
    assert_array_equal(table.reshape(80, K, K, 3)[5, 2], np.outer(np.arange(K) == 2, X[5]))
    model = om.CandidateClassifier(step=step, C=0.3, average=average, **ONE_PASS).fit(table, chosen, qid)
    assert_allclose(model.coef_.reshape(K, 3), rows.coef_, rtol=1e-9, atol=1e-9)
    assert_allclose(model.decision_function(table).reshape(80, K), rows.decision_function(X), atol=1e-9)
    assert_array_equal(model.predict(table, qid).reshape(80, K).argmax(axis=1), rows.predict(X))


@every_step
def test_of_equal_rivals_the_first_is_moved(step):
    """From zero all scores are 0; the right one does not rank first, so the Perceptron moves as well."""
    X, chosen = np.eye(3), [False, True, False]
    model = om.CandidateClassifier(step=step, C=10.0, **LAST).fit(X, chosen)
    tau = {"pa2": 1 / (2 + 0.05), "perceptron": 1.0}.get(step, 0.5)
    assert_allclose(model.coef_[0], [-tau, tau, 0.0])
    answers = om.CandidateClassifier(**ONE_PASS).fit(X[:1], [True]).predict(X)
    assert answers.tolist() == [True, False, False]


@every_step
def test_candidates_that_are_alike_leave_the_weights_finite(step):
    """|Phi_r - Phi_s| = 0: no step can tell them apart."""
    X = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]])
    model = om.CandidateClassifier(step=step, **ONE_PASS).fit(X[:2], [True, False])
    assert not model.coef_.any() and model.t_ == 1
    model.partial_fit(X, [False, False, True], [0, 0, 0])
    assert model.coef_ @ [1.0, 2.0] < 0


def test_a_group_of_one_candidate_teaches_nothing():
    X, chosen, qid = drawn(2)
    sizes = np.bincount(qid)[qid]
    assert (sizes == 1).any()
    all_of_them = om.CandidateClassifier(**LAST).fit(X, chosen, qid)
    several = om.CandidateClassifier(**LAST).fit(X[sizes > 1], chosen[sizes > 1], qid[sizes > 1])
    assert_array_equal(several.coef_, all_of_them.coef_)
    assert all_of_them.predict(X, qid)[sizes == 1].all()
    alone = om.CandidateClassifier(**ONE_PASS).fit(X[:4], np.ones(4, bool), range(4))
    assert not alone.coef_.any() and alone.t_ == 4


def test_rows_of_a_group_need_not_lie_together():
    """Dealt out in turns, which keeps the order of groups and of the rows in each; names do not matter."""
    X, chosen, qid = drawn(3)
    turn = np.concatenate([np.arange(len(rows)) for rows in groups_in_order(qid)])
    dealt = np.argsort(turn, kind="stable")
    model = om.CandidateClassifier(average=True, random_state=1, max_iter=3, tol=None)
    together = clone(model).fit(X, chosen, qid)
    for names in (qid, qid.astype(str), qid - 0.5):
        apart = clone(model).fit(X[dealt], chosen[dealt], names[dealt])
        assert_array_equal(apart.coef_, together.coef_)
        assert_array_equal(apart.predict(X[dealt], names[dealt]), together.predict(X, qid)[dealt])


@settings(deadline=None, max_examples=15, derandomize=True, database=None)
@given(seed=st.integers(0, 10**6), step=st.sampled_from(STEPS))
def test_any_split_between_groups_is_one_pass(seed, step):
    X, chosen, qid = drawn(seed)
    draw = np.random.default_rng(seed)
    model = om.CandidateClassifier(step=step, average=bool(seed % 2), **ONE_PASS)
    whole = clone(model).fit(X, chosen, qid)
    ends = np.flatnonzero(np.diff(qid)) + 1
    cuts = [0, *np.sort(draw.choice(ends, draw.integers(0, len(ends)), replace=False)), len(qid)]
    for start, stop in pairwise(cuts):
        model.partial_fit(X[start:stop], chosen[start:stop], qid[start:stop])
    assert_array_equal(model.coef_, whole.coef_)
    assert model.t_ == whole.t_ == 30


def test_a_pass_of_many_rounds_is_not_seen_to_be_cut():
    """More rounds than are played at a time: as two calls of fewer."""
    X, chosen, qid = drawn(8, groups=5000)
    half = np.flatnonzero(np.diff(qid))[2500] + 1
    whole = om.CandidateClassifier(average=True, **ONE_PASS).fit(X, chosen, qid)
    parts = om.CandidateClassifier(average=True).partial_fit(X[:half], chosen[:half], qid[:half])
    parts.partial_fit(X[half:], chosen[half:], qid[half:])
    assert_array_equal(parts.coef_, whole.coef_)
    assert whole.t_ == 5000


@pytest.mark.parametrize("average", [False, True])
def test_a_stream_goes_on_from_a_file(average, tmp_path):
    X, chosen, qid = drawn(4)
    half = np.flatnonzero(np.diff(qid))[12] + 1
    model = om.CandidateClassifier(step="pa2", C=0.4, average=average)
    model.partial_fit(X[:half], chosen[:half], qid[:half])
    om.save(model, tmp_path / "chooser.onm")
    twins = [om.load(tmp_path / "chooser.onm"), pickle.loads(pickle.dumps(model))]
    for learner in (model, *twins):
        learner.partial_fit(X[half:], chosen[half:], qid[half:])
    for twin in twins:
        assert type(twin) is om.CandidateClassifier and twin.get_params() == model.get_params()
        assert_array_equal(twin.coef_, model.coef_)


def test_one_row_of_every_group_is_chosen_and_scored():
    X, chosen, qid = drawn(5)
    model = om.CandidateClassifier(random_state=0, average=True).fit(X, chosen, qid)
    scores, answers = model.decision_function(X), model.predict(X, qid)
    assert answers.dtype == bool
    right = []
    for rows in groups_in_order(qid):
        assert answers[rows].sum() == 1 and answers[rows[np.argmax(scores[rows])]]
        right.append(chosen[rows][answers[rows]].item())
    assert_allclose(model.score(X, chosen, qid), np.mean(right))
    assert np.mean(right) > 0.8
    assert model.predict(X).sum() == 1  # without groups: one
    assert model.score(X, chosen.astype(int), qid.astype(str)) == model.score(X, chosen.astype(float), qid)


def test_a_constant_is_the_same_for_all_candidates():
    """An intercept cancels in Phi_r - Phi_s: it stays 0 and changes nothing."""
    X, chosen, qid = drawn(6)
    with_one = om.CandidateClassifier(fit_intercept=True, intercept_scaling=3.0, **ONE_PASS)
    with_one.fit(X, chosen, qid)
    assert_allclose(with_one.intercept_, 0.0, atol=1e-12)
    assert_allclose(with_one.coef_, om.CandidateClassifier(**ONE_PASS).fit(X, chosen, qid).coef_, atol=1e-9)


def test_several_passes_in_orders_of_their_own():
    """`shuffle` is by group, from `random_state`; `warm_start` goes on with another."""
    X, chosen, qid = drawn(7)
    make = om.CandidateClassifier
    two = make(random_state=3, max_iter=2, tol=None).fit(X, chosen, qid)
    assert_array_equal(two.coef_, make(random_state=3, max_iter=2, tol=None).fit(X, chosen, qid).coef_)
    assert not np.array_equal(two.coef_, make(random_state=4, max_iter=2, tol=None).fit(X, chosen, qid).coef_)
    plain = make(**LAST, warm_start=True).fit(X, chosen, qid).fit(X, chosen, qid)
    passes = make(**LAST | {"max_iter": 2}).fit(X, chosen, qid)
    assert_array_equal(plain.coef_, passes.coef_)
    assert plain.t_ == passes.t_ == 60


def test_a_pipeline_scores_its_groups_under_metadata_routing():
    X, chosen, qid = drawn(8)
    with sklearn.config_context(enable_metadata_routing=True):
        chooser = om.CandidateClassifier(**ONE_PASS).set_fit_request(qid=True, chosen=False)
        pipe = make_pipeline(StandardScaler(), chooser.set_score_request(qid=True, chosen=False))
        pipe.fit(X, chosen, qid=qid)
        alone = chooser.fit(StandardScaler().fit_transform(X), chosen, qid)
        scaled = pipe[0].transform(X)
        assert pipe.score(X, chosen, qid=qid) == alone.score(scaled, chosen, qid)
        heavy = np.where(alone.predict(scaled, qid) == chosen, 1.0, 0.0)
        assert alone.score(scaled, chosen, qid, sample_weight=heavy) > alone.score(scaled, chosen, qid)


# ---- several right ones


def drawn_sets(seed=0, groups=30, width=5):
    """Groups of 1 to 6 candidates, at least one of them right, in some all."""
    X, chosen, qid = drawn(seed, groups, width)
    return X, chosen | (np.random.default_rng(seed + 100).random(len(qid)) < 0.3), qid


def oracle_of_sets(X, chosen, qid, step, C):
    """Crammer et al. 2006, section 7, any Phi: r the lowest right one, q the highest other."""
    weights = [np.zeros(X.shape[1])]
    for rows in groups_in_order(qid):
        w = weights[-1]
        right, others = rows[chosen[rows]], rows[~chosen[rows]]
        if len(others):
            d = X[right[np.argmin(X[right] @ w)]] - X[others[np.argmax(X[others] @ w)]]
            loss, size = max(0.0, 1 - w @ d), d @ d
            tau = {"pa": loss / size, "pa1": min(C, loss / size), "pa2": loss / (size + 0.5 / C)}
            w = w + (tau | {"perceptron": w @ d <= 0})[step] * d
        weights.append(w)
    return np.array(weights)


@every_step
def test_of_several_right_ones_the_lowest_is_moved_against_the_highest_other(step):
    for seed, C in enumerate((1.0, 0.05)):
        X, chosen, qid = drawn_sets(seed)
        assert {0, 1} < {
            int(chosen[rows].sum()) - (len(rows) == chosen[rows].sum()) for rows in groups_in_order(qid)
        }  # sets, and groups that are right altogether
        weights = oracle_of_sets(X, chosen, qid, step, C)
        last = om.CandidateClassifier(step=step, C=C, **LAST).fit(X, chosen, qid)
        mean = om.CandidateClassifier(step=step, C=C, average=True, **ONE_PASS).fit(
            sp.csr_matrix(X), chosen, qid
        )
        assert last.t_ == 30
        assert_allclose(last.coef_[0], weights[-1], rtol=1e-9, atol=1e-10)
        assert_allclose(mean.coef_[0], weights[:-1].mean(axis=0), rtol=1e-9, atol=1e-10)


@every_step
def test_label_sets_are_candidates_in_blocks(step):
    """The learners of label sets are this one with x placed in block y, all of a row's labels being right."""
    draw, K = np.random.default_rng(2), 4
    X = draw.normal(size=(80, 3))
    Y = X @ draw.normal(size=(3, K)) + 0.5 * draw.normal(size=(80, K)) > 0
    X, Y = X[Y.any(axis=1)], Y[Y.any(axis=1)]
    if step == "perceptron":
        rows = om.Perceptron(fit_intercept=False, average=False)
    else:
        rows = om.PassiveAggressiveClassifier(
            step=step, C=0.3, fit_intercept=False, average=False, multilabel="ranking"
        )
    rows.partial_fit(X, Y.astype(int), classes=range(K))
    table, _, qid = in_blocks(X, np.zeros(len(X), int), K)
    model = om.CandidateClassifier(step=step, C=0.3, **LAST).fit(table, Y.ravel(), qid)
    assert_allclose(model.coef_.reshape(K, 3), rows.coef_, rtol=1e-9, atol=1e-9)


def test_the_passive_aggressive_bound_holds_for_sets_of_general_features():
    """Lemma 1 with |Phi_r - Phi_q|^2: sum tau (2 l - tau n^2 - 2 l(u)) <= |u|^2, for any u."""
    X, chosen, qid = drawn_sets(4, groups=60)
    weights = oracle_of_sets(X, chosen, qid, "pa1", 0.5)
    played = om.CandidateClassifier(C=0.5, **LAST).fit(X, chosen, qid)
    assert_allclose(played.coef_[0], weights[-1], atol=1e-10)
    for u in np.random.default_rng(0).normal(size=(20, X.shape[1])):
        total = 0.0
        for w, after, rows in zip(weights, weights[1:], groups_in_order(qid), strict=False):
            others = rows[~chosen[rows]]
            if len(others):
                right = rows[chosen[rows]]
                d = X[right[np.argmin(X[right] @ w)]] - X[others[np.argmax(X[others] @ w)]]
                tau = (after - w) @ d / (d @ d)
                total += tau * (2 * max(0.0, 1 - w @ d) - tau * (d @ d) - 2 * max(0.0, 1 - u @ d))
        assert total <= u @ u + 1e-9


def test_the_right_ones_are_ranked_above_the_others():
    draw = np.random.default_rng(9)
    X, qid = draw.normal(size=(600, 4)), np.repeat(np.arange(100), 6)
    chosen = X @ [1.0, -2.0, 0.5, 0.0] > 0.4
    some = np.isin(qid, np.flatnonzero(np.bincount(qid, chosen)))
    X, chosen, qid = X[some], chosen[some], qid[some]
    model = om.CandidateClassifier(random_state=0).fit(X, chosen, qid)
    scores = model.decision_function(X)
    assert om.metrics.ranking_loss(*(in_lists(part, qid) for part in (chosen, scores))) < 0.05
    assert model.score(X, chosen, qid) == 1.0 - om.metrics.one_error(chosen, scores, qid=qid)
    two = model.predict(X, qid, top=2)
    for rows in groups_in_order(qid):
        assert set(np.flatnonzero(two[rows])) == set(np.argsort(-scores[rows], kind="stable")[:2])
    assert model.predict(X, qid, top=10).all()
    assert_array_equal(model.predict(X, qid, top=1), model.predict(X, qid))


def in_lists(values, qid):
    """A row for every group of six."""
    return np.asarray(values, float).reshape(-1, 6)
