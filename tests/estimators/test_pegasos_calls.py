"""Every way to call Pegasos gives the same model: blocks, dicts, files; and what it says of itself."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import onmargin as om
from onmargin.errors import BadInput
from onmargin.learn.spaces.arrays import MOST_LINES

from ..oracles_pegasos import crammer_singer, hypotheses, objective
from ..soaking import either
from ..students import PLAIN

DRAW = np.random.default_rng(3)
X = DRAW.normal(size=(60, 4)) * (DRAW.random((60, 4)) < 0.8)
Y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 + 0.7 * DRAW.normal(size=60) > 0, 1, -1)
THREE = (X @ DRAW.normal(size=(4, 3)) + 0.5 * DRAW.normal(size=(60, 3))).argmax(axis=1)
ONES = np.c_[X, np.ones(60)]
KINDS = {
    "plain": {},
    "last": {"average": False},
    "share": {"average": 0.4},
    "batches": {"batch_size": 7},
    "share of batches": {"batch_size": 4, "average": 0.4},
    "ball": {"project": True, "lam": 0.003},
    "ball, batches, share": {"project": True, "lam": 0.003, "batch_size": 4, "average": 0.3},
    "prior": {"prior": ([1.0, 2.0, 0.0, -1.0], 0.5), "batch_size": 3},
    "free": {"fit_intercept": "free", "batch_size": 3},
    "balanced": {"class_weight": {-1: 0.5, 1: 2.0}, "batch_size": 3},
}
every_kind = pytest.mark.parametrize("kind", sorted(KINDS))


def learner(kind="plain", **parameters):
    fixed = {"lam": 0.1, "order": "cyclic", "max_iter": 1, "tol": None, "classes": (-1, 1), "average": True}
    return om.Pegasos(**fixed | KINDS[kind] | parameters)


def weights(model):
    return np.c_[model.coef_, model.intercept_]


def same(first, second, exact=True):
    check = np.testing.assert_array_equal if exact else np.testing.assert_allclose
    check(weights(first), weights(second), **({} if exact else {"atol": 1e-9, "rtol": 1e-9}))
    assert first.t_ == second.t_


def learn_dicts(model, rows):
    for i in rows:
        model.learn_one({j: value for j, value in enumerate(X[i].tolist())}, int(Y[i]))


# ---- the same model, however it is called


@every_kind
@settings(deadline=None, max_examples=10, database=None)
@given(cuts=st.lists(st.integers(0, 60), max_size=6), sparse=st.booleans())
def test_one_pass_is_any_split_into_blocks_bit_for_bit(kind, cuts, sparse):
    table = sp.csr_matrix(X) if sparse else X
    whole, split = learner(kind).partial_fit(table, Y), learner(kind)
    edges = [0, *sorted(cuts), 60]
    for start, stop in zip(edges, edges[1:], strict=False):
        if stop > start:
            split.partial_fit(table[start:stop], Y[start:stop])
    same(whole, split)
    np.testing.assert_array_equal(whole.decision_function(table), split.decision_function(table))


@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
@pytest.mark.parametrize("labels", ["two", "three"])
@pytest.mark.parametrize("project", [False, True], ids=["", "ball"])
def test_batches_of_more_moves_than_may_wait_bit_for_bit(labels, sparse, project):
    """All the rounds at once, in which moves wait while there is room, and one by one, in which none does."""
    rounds, batch = 2 * MOST_LINES + 90, MOST_LINES + 40
    rows, y = np.resize(X, (rounds, 4)), np.resize({"two": Y, "three": THREE}[labels], rounds)
    table, known = sp.csr_matrix(rows) if sparse else rows, np.unique(y)
    whole = learner(batch_size=batch, project=project, classes=None).partial_fit(table, y, classes=known)
    split = learner(batch_size=batch, project=project, classes=None)
    for t in range(rounds):
        split.partial_fit(table[t : t + 1], y[t : t + 1], classes=known)
    same(whole, split)
    assert whole.t_ == rounds and weights(whole).any()


@every_kind
def test_fit_blocks_csr_dicts_and_their_mixtures_agree(kind):
    whole = learner(kind).partial_fit(X, Y)
    if "share" not in kind:  # fit knows how many rounds will come: exactly the share, streams about it
        value = whole.intercept_scaling_  # (it looks at all rows to fix its own)
        same(learner(kind, intercept_scaling=value).fit(X, Y), whole, exact=False)
    same(learner(kind).partial_fit(sp.csr_matrix(X), Y), whole, exact=False)
    dicts, mixed = learner(kind), learner(kind).partial_fit(X[:5], Y[:5])
    learn_dicts(dicts, range(60))
    learn_dicts(mixed, range(5, 19))
    mixed.partial_fit(X[19:30], Y[19:30])
    learn_dicts(mixed, range(30, 60))
    for model in (dicts, mixed):
        same(model, whole, exact=False)
        answers = [model.predict_one(dict(enumerate(x))) for x in X.tolist()]
        np.testing.assert_array_equal(answers, whole.predict(X))


@every_kind
def test_files_and_pickles_in_mid_batch_go_on_bit_for_bit(kind, tmp_path):
    model = learner(kind).partial_fit(X[:25], Y[:25])
    om.save(model, tmp_path / "m.onm")
    twins = [
        om.load(tmp_path / "m.onm"),
        pickle.loads(pickle.dumps(model)),
        model.clone(include_attributes=True),
    ]
    model.partial_fit(X[25:], Y[25:])
    for twin in twins:
        same(twin.partial_fit(X[25:], Y[25:]), model)
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("kind", ["plain", "share", "batches", "ball, batches, share", "prior", "free"])
def test_scored_by_the_model_is_averaging_by_hand(kind):
    judged = om.progressive(learner(kind), X, Y, scored_by="model")
    by_hand = learner(kind)
    for i in range(60):
        if i:
            assert judged.scores[i] == pytest.approx(by_hand.decision_function(X[[i]])[0], abs=1e-9)
        by_hand.partial_fit(X[[i]], Y[[i]])
    same(judged.model, by_hand, exact=False)
    examples = [(dict(enumerate(x)), int(y)) for x, y in zip(X.tolist(), Y, strict=True)]
    dicts = om.progressive(learner(kind), examples, scored_by="model")
    np.testing.assert_allclose(dicts.scores, judged.scores, atol=1e-9)
    running = om.progressive(learner(kind), X, Y)
    np.testing.assert_array_equal(running.scores, om.progressive(learner(kind, average=False), X, Y).scores)


def test_warm_start_goes_on_counting():
    warm = learner(warm_start=True, average=False)
    for _ in range(3):
        warm.fit(X, Y)
    same(warm, learner(average=False, max_iter=3).fit(X, Y))
    assert 0 <= warm.dual_gap_ < np.inf


# ---- what it says of itself


def test_lam_is_one_over_n_in_fit_and_small_in_streams():
    def default():
        return om.Pegasos(classes=(-1, 1), order="cyclic", max_iter=1, tol=None)

    fit = default().fit(X, Y)
    assert fit.lam_ == 1 / 60
    same(fit, default().set_params(lam=1 / 60).fit(X, Y))
    assert default().partial_fit(X, Y).lam_ == 1e-4
    dicts = default()
    learn_dicts(dicts, range(5))
    assert dicts.lam_ == 1e-4
    assert fit.partial_fit(X, Y).lam_ == 1 / 60 and fit.fit(X[:30], Y[:30]).lam_ == 1 / 30
    assert fit.lam is None


@pytest.mark.parametrize("average", [True, False])
def test_objective(average):
    own = DRAW.uniform(0.0, 2.0, 60).round()
    model = learner(average=average, max_iter=3, intercept_scaling=1.0).fit(X, Y, sample_weight=own)
    w, seen = weights(model)[0], own > 0
    expected = objective(w, ONES[seen], Y[seen], 0.1, c=own[seen])
    assert model.objective_ == pytest.approx(expected, rel=1e-12)
    assert model.objective(X, Y, sample_weight=own) == pytest.approx(expected, rel=1e-12)
    assert model.objective(X[:9], Y[:9]) == pytest.approx(objective(w, ONES[:9], Y[:9], 0.1), rel=1e-12)
    assert model.objective(sp.csr_matrix(X), Y, own) == pytest.approx(expected, rel=1e-12)
    stream = learner(average=average, intercept_scaling=1.0).partial_fit(X, Y)
    assert stream.objective(X, Y) == pytest.approx(objective(weights(stream)[0], ONES, Y, 0.1), rel=1e-12)
    assert not hasattr(stream, "objective_")
    with pytest.raises(BadInput, match="label"):
        model.objective(X, Y + 5)


@pytest.mark.parametrize("multiclass", ["crammer_singer", "one_vs_all"])
def test_objective_and_gap_of_several_classes(multiclass):
    short, long = (
        learner(
            multiclass=multiclass, max_iter=most, order="shuffle", random_state=0, intercept_scaling=1.0,
            classes=None,
        ).fit(X, THREE)
        for most in (5, 400)
    )  # fmt: skip
    W = weights(short)
    s, mine = ONES @ W.T, np.eye(3)[THREE] > 0
    if multiclass == "crammer_singer":
        losses = (s + ~mine).max(axis=1) - s[mine]
    else:
        losses = np.maximum(0, 1 - np.where(mine, 1, -1) * s).sum(axis=1)
    assert short.objective_ == pytest.approx(0.05 * (W**2).sum() + losses.mean(), rel=1e-12)
    assert short.dual_gap_ >= short.objective_ - long.objective_ >= 0  # long is near the best
    assert 0 <= long.dual_gap_ < 0.05 * long.objective_ and long.dual_gap_ < short.dual_gap_


def test_regret_of_one_against_all_compares_like_with_like():
    run = om.progressive(om.Pegasos(lam=0.1, multiclass="one_vs_all"), X, THREE)
    u = DRAW.normal(size=(3, 4))
    margins = np.where(np.eye(3)[THREE] > 0, 1, -1) * (X @ u.T)
    theirs = np.maximum(0, 1 - margins.min(axis=1)).sum()
    assert run.regret(u) == pytest.approx(run.losses.sum() - theirs)


# ---- refusals


@pytest.mark.parametrize(
    "wrong",
    [{"lam": 0.0}, {"lam": -1}, {"lam": np.nan}, {"lam": "x"}, {"batch_size": 0}, {"batch_size": 2.5},
     {"batch_size": 61}, {"order": "sorted"}, {"multiclass": "ovo"}, {"fit_intercept": "loose"},
     {"average": 1.5}, {"average": 0.0}, {"average": "no"}, {"project": True, "fit_intercept": "free"}],
    ids=str,
)  # fmt: skip
def test_wrong_parameters_are_one_line(wrong):
    with pytest.raises(BadInput) as caught:
        learner(**wrong).fit(X, Y)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_is_refused_and_changes_nothing():
    with pytest.raises(BadInput, match="one ball for all classes"):
        om.Pegasos(project=True, multiclass="one_vs_all").fit(X, THREE)
    with pytest.raises(BadInput, match="use prior="):
        learner().fit(X, Y, coef_init=np.ones((1, 4)))
    model = learner().fit(X, Y)
    before = weights(model)
    for name, value in (("lam", 0.5), ("batch_size", 2), ("average", False), ("project", True)):
        with pytest.raises(BadInput, match=f"{name}="):
            model.clone(include_attributes=True).set_params(**{name: value}).partial_fit(X, Y)
    broken = X.copy()
    broken[33, 1] = np.nan
    with pytest.raises(BadInput, match="row 33"):
        model.fit(broken, Y)
    np.testing.assert_array_equal(weights(model), before)


def test_the_warning_points_at_the_call():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        om.Pegasos(lam=1e-3, max_iter=3, tol=1e-6, random_state=0).fit(X, Y)
    assert [w.filename for w in caught] == [__file__]


def test_weights_before_the_first_step():
    """A round that demands nothing comes first."""
    model = learner(prior=([5.0, 0.0, 0.0, 0.0], 0.0)).partial_fit([[1.0, 0.0, 0.0, 0.0]], [1])
    np.testing.assert_array_equal(weights(model), [[5.0, 0.0, 0.0, 0.0, 0.0]])


def test_a_prior_without_an_intercept_needs_no_constant():
    """0 / 0 is not asked for: lam -> infinity gives the prior back."""
    before = om.Pegasos(lam=0.1, fit_intercept=False, tol=None, max_iter=3, random_state=0).fit(X, Y)
    model = om.Pegasos(lam=1e9, fit_intercept=False, prior=before, tol=None, max_iter=3, random_state=0)
    np.testing.assert_allclose(model.fit(X, Y).coef_, before.coef_, atol=1e-6)


def test_the_ball_after_a_third_class_came():
    """From two classes to three the row w becomes -w/2 and w/2; the steps then go on as ever."""
    lam, labels = 0.003, [2, 0, 1, 2, 2, 0, 1, 0, 2, 1]
    model = learner("ball", **PLAIN, classes=None, growing=True)
    half = weights(model.partial_fit(X[:50], (Y[:50] + 1) // 2))[0] / 2
    W = np.array([-half, half, 0 * half])
    for t, y in enumerate(labels, 51):
        pull = crammer_singer(W @ ONES[t - 1], y)
        W = (1 - 1 / t) * W + np.outer(pull, ONES[t - 1]) / (lam * t)
        W *= min(1, 1 / np.sqrt(lam) / np.linalg.norm(W))
    np.testing.assert_allclose(weights(model.partial_fit(X[50:], labels)), W, atol=1e-7)


def test_loop_of_the_text_with_a_scaled_constant_coordinate():
    model = learner(average=False, intercept_scaling=2.0, batch_size=4).partial_fit(X, Y)
    w = hypotheses(np.c_[X, np.full(60, 2.0)], Y, 0.1, batch=4)[-1, 0]
    np.testing.assert_allclose(weights(model)[0], w * [1, 1, 1, 1, 2], atol=1e-9)


def test_what_a_batch_adds_is_held_back_to_the_last_bit_from_sparse_rows_too():
    """Classes that only the batch at hand has touched score 0, as those do that nobody has: ties are many."""
    for seed in range(either(40, 400)):
        draw = np.random.default_rng(seed)
        rows = draw.normal(size=(120, 20)) * (draw.random((120, 20)) < 0.15)
        y = draw.integers(0, 10, 120)
        expected = hypotheses(rows, y, 0.1, crammer_singer, 10, batch=20)[-1]
        for table in (rows, sp.csr_matrix(rows)):
            model = learner(batch_size=20, average=False, fit_intercept=False, classes=None)
            model.partial_fit(table, y, classes=np.arange(10))
            np.testing.assert_allclose(model.coef_, expected, rtol=1e-9, atol=1e-12)


def test_a_class_that_only_the_batch_at_hand_has_touched_scores_nothing():
    """However many entries a row has: what was added is taken off in the order in which it is summed."""
    draw = np.random.default_rng(0)
    rows, y = draw.normal(size=(40, 20)), draw.integers(0, 60, 40)
    model = learner(batch_size=20, average=False, fit_intercept=False, classes=None)
    scores = om.progressive(model, sp.csr_matrix(rows), y, classes=np.arange(60)).scores
    touched = [0, 1, *y[:20]]  # (by the first batch, whose rivals are the lowest classes)
    others = np.setdiff1d(y[20:], touched)
    assert len(others) > 5 and not scores[20:, others].any() and scores[20:, touched].any()
    assert np.abs(model.coef_[others]).max() > 0.01
