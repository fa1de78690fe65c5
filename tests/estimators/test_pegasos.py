"""Pegasos against its loop in plain NumPy: steps, averages, mini-batches, the ball, classes, weights."""

from __future__ import annotations

import numpy as np
import pytest

import onmargin as om

from ..oracles_pegasos import (
    crammer_singer,
    each_label,
    hypotheses,
    objective,
    one_vs_all,
    ranking,
)
from ..students import PLAIN

DRAW = np.random.default_rng(7)
X = DRAW.normal(size=(60, 4))
Y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 + 0.7 * DRAW.normal(size=60) > 0, 1, -1)
THREE = (X @ DRAW.normal(size=(4, 3)) + 0.5 * DRAW.normal(size=(60, 3))).argmax(axis=1)
SETS = (X @ DRAW.normal(size=(4, 3)) > 0).astype(int)  # some are empty, some are full
ONES = np.c_[X, np.ones(60)]
LAM, PASSES = 0.1, 3
ROUNDS = np.tile(np.arange(60), PASSES)  # the rows of all passes, in order


def learner(**parameters):
    fixed = {"lam": LAM, "order": "cyclic", "max_iter": PASSES, "tol": None} | PLAIN
    return om.Pegasos(**fixed | parameters)


def weights(model):
    """(outputs, d + 1), the constant coordinate last."""
    return np.c_[model.coef_, model.intercept_]


def close(found, expected, **loose):
    np.testing.assert_allclose(found, expected, **{"rtol": 1e-9, "atol": 1e-9} | loose)


def test_algorithm_1_of_the_note():
    """Its printed loop: 20 epochs in row order, t running on, no intercept, no projection."""
    w, t = np.zeros(4), 0
    for _ in range(20):
        for x, y in zip(X, Y, strict=True):
            t += 1
            if y * (w @ x) < 1:
                w = (1 - 1 / t) * w + y * x / (LAM * t)
            else:
                w = (1 - 1 / t) * w
    model = learner(max_iter=20, fit_intercept=False).fit(X, Y)
    close(model.coef_[0], w)
    assert model.t_ == t == 1200 and model.n_iter_ == 20 and not model.intercept_.any()


def test_appendix_b():
    """x = 1, y = 1 four times: w_2 .. w_5 = 10, 5, 3.33, 2.5, and w_1 .. w_4 have the mean 4.58333."""
    last, mean = (om.Pegasos(lam=0.1, fit_intercept=False, average=average) for average in (False, True))
    found = []
    for _ in range(4):
        for model in (last, mean):
            model.partial_fit([[1.0]], [1], classes=[-1, 1])
        found.append(last.coef_.item())
    close(found, [10, 5, 10 / 3, 2.5])
    assert mean.coef_.item() == pytest.approx(55 / 12) == pytest.approx(4.58333, abs=1e-5)


@pytest.mark.parametrize("batch", [1, 4, 7])
@pytest.mark.parametrize("average", [False, True, 0.5, 0.3, 0.01])
def test_last_mean_and_exactly_the_last_share(average, batch):
    """Of T = ceil(180 / b) hypotheses that predicted; 7 leaves a batch unfinished at the end."""
    model = learner(average=average, batch_size=batch).fit(X, Y)
    w = hypotheses(ONES, Y, LAM, order=ROUNDS, batch=batch)
    predicted = w[: -(-180 // batch)]
    if average is False:
        expected = w[-1]
    else:
        expected = predicted[-int(np.ceil(average * len(predicted))) :].mean(axis=0)
    close(weights(model), expected)
    close(model.decision_function(X), ONES @ expected[0])


@pytest.mark.parametrize("share", [0.5, 0.3, 0.1])
@pytest.mark.parametrize("batch", [1, 4])
def test_in_a_stream_between_the_share_and_what_two_of_them_leave(share, batch):
    """After every round the last k of T hypotheses are averaged, share <= k / T <= 1 - (1 - share)^2."""
    w = hypotheses(ONES, Y, LAM, batch=batch)
    model, counts = learner(average=share, batch_size=batch, classes=(-1, 1)), []
    for rounds in range(1, 61):
        model.partial_fit(X[rounds - 1 : rounds], Y[rounds - 1 : rounds])
        predicted = w[: -(-rounds // batch), 0]
        means = np.cumsum(predicted[::-1], axis=0) / np.arange(1, len(predicted) + 1)[:, None]
        fits = np.flatnonzero(np.abs(means - weights(model)[0]).max(axis=1) < 1e-9)
        assert fits.size, f"no suffix of {len(predicted)} hypotheses has this mean"
        counts.append((fits[0] + 1, fits[-1] + 1, len(predicted)))
    for least, most, total in counts:
        assert most >= share * total - 1 and least <= (1 - (1 - share) ** 2) * total + 1  # whole rounds


def test_a_batch_of_one_is_the_plain_step_and_of_all_rows_the_gradient():
    plain = learner(average=True).fit(X, Y)
    np.testing.assert_array_equal(weights(learner(average=True, batch_size=1).fit(X, Y)), weights(plain))
    whole = learner(batch_size=60).fit(X, Y)
    w = np.zeros(5)
    for t in (1, 2, 3):
        hit = Y * (ONES @ w) < 1
        w = (1 - 1 / t) * w + (Y[hit] @ ONES[hit]) / (60 * LAM * t)
    close(weights(whole)[0], w)


def test_an_unfinished_batch_predicts_nothing_yet():
    model = learner(batch_size=4, classes=(-1, 1)).partial_fit(X[:3], Y[:3])
    assert not model.coef_.any()
    assert model.partial_fit(X[3:4], Y[3:4]).coef_.all()


@pytest.mark.parametrize("lam", [0.003, 0.1])
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("with_prior", [False, True])
def test_projection_keeps_the_weights_in_the_ball(lam, batch, with_prior):
    """|w - prior| <= sqrt(f(prior) / lam)."""
    prior = np.array([0.5, 0.0, -1.0, 2.0, 0.3]) if with_prior else np.zeros(5)
    given = (prior[:4], prior[4]) if with_prior else None
    radius = np.sqrt(objective(prior, ONES, Y, lam, prior) / lam)
    options = {"project": True, "prior": given, "batch_size": batch, "lam": lam}
    w = hypotheses(ONES, Y, lam, order=ROUNDS, batch=batch, radius=radius, prior=prior)[:, 0]
    lengths = np.linalg.norm(w - prior, axis=1)
    assert np.isclose(lengths, radius).sum() > 2 or lam > 0.01  # it does project
    close(weights(learner(**options).fit(X, Y))[0], w[-1], atol=1e-7)
    mean = learner(average=True, **options).fit(X, Y)
    close(weights(mean)[0], w[: -(-180 // batch)].mean(axis=0), atol=1e-7)
    for passes in (1, 2, 3):
        found = weights(learner(max_iter=passes, **options).fit(X, Y))[0]
        assert np.linalg.norm(found - prior) <= radius * (1 + 1e-9)


def test_in_streams_the_radius_is_one_over_the_root_of_lam():
    lam = 0.003
    w = hypotheses(ONES, Y, lam, radius=1 / np.sqrt(lam))[:, 0]
    model = learner(project=True, lam=lam, classes=(-1, 1))
    for rounds in range(60):
        model.partial_fit(X[rounds : rounds + 1], Y[rounds : rounds + 1])
        close(weights(model)[0], w[rounds + 1], atol=1e-7)
        assert np.linalg.norm(weights(model)) <= (1 + 1e-9) / np.sqrt(lam)


def test_the_mean_in_the_ball_keeps_its_digits():
    """Hundreds of projections, each a factor below 1."""
    lam, rows = 1e-4, np.tile(np.arange(60), 5)
    w = hypotheses(ONES, Y, lam, order=rows, radius=1 / np.sqrt(lam))[:, 0]
    last, mean = (learner(project=True, lam=lam, max_iter=5, average=a).fit(X, Y) for a in (False, True))
    close(weights(last)[0], w[-1])
    close(weights(mean)[0], w[:-1].mean(axis=0))


@pytest.mark.parametrize("average", [False, True, 0.5, 0.3], ids=["last", "mean", "half", "share"])
@pytest.mark.parametrize("batch", [1, 4])
def test_a_free_intercept_is_not_shrunk(average, batch):
    model = learner(fit_intercept="free", average=average, batch_size=batch).fit(X, Y)
    w = hypotheses(ONES, Y, LAM, order=ROUNDS, batch=batch, free=True)[:, 0]
    total = -(-180 // batch)
    kept = w[total - int(np.ceil(average * total)) : total].mean(axis=0) if average else w[-1]
    close(weights(model)[0], kept)
    close(model.objective(X, Y), objective(kept, ONES, Y, LAM, free=True))
    assert np.isnan(model.dual_gap_)
    dicts = learner(fit_intercept="free", average=average, batch_size=batch, classes=(-1, 1))
    stream = learner(fit_intercept="free", average=average, batch_size=batch, classes=(-1, 1))
    stream.partial_fit(X, Y)
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        dicts.learn_one(dict(enumerate(x)), y)
    close(weights(dicts), weights(stream))
    answers = [dicts.predict_one(dict(enumerate(x))) for x in X.tolist()]
    np.testing.assert_array_equal(answers, stream.predict(X))


def test_class_weights_multiply_the_step():
    fixed = {-1: 0.5, 1: 3.0}
    balanced = {side: 60 / (2 * np.sum(side == Y)) for side in (-1, 1)}
    for given, by_class in ((fixed, fixed), ("balanced", balanced)):
        c = np.array([by_class[side] for side in Y])
        model = learner(class_weight=given).fit(X, Y)
        expected = hypotheses(ONES, Y, LAM, order=ROUNDS, c=c)[-1]
        close(weights(model), expected)
        assert model.objective_ == pytest.approx(objective(expected[0], ONES, Y, LAM, c=c))
        own = DRAW.uniform(0.5, 2.0, 60)
        model = learner(class_weight=given).fit(X, Y, sample_weight=own)
        close(weights(model), hypotheses(ONES, Y, LAM, order=ROUNDS, c=c * own)[-1])


def test_in_streams_balanced_counts_as_it_goes():
    """c_t = n / (K n_y) with the current example counted; a row of weight 0 is not seen at all."""
    seen = np.arange(60) % 5 > 0
    counts = {-1: 0, 1: 0}
    c = np.zeros(60)
    for i in np.flatnonzero(seen):
        counts[Y[i]] += 1
        c[i] = sum(counts.values()) / (2 * counts[Y[i]])
    model = learner(class_weight="balanced", classes=(-1, 1))
    for part in (slice(0, 17), slice(17, 40), slice(40, 60)):
        model.partial_fit(X[part], Y[part], sample_weight=seen[part].astype(float))
    close(weights(model), hypotheses(ONES[seen], Y[seen], LAM, c=c[seen])[-1])
    assert model.t_ == seen.sum()


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("multiclass, task", [("crammer_singer", crammer_singer), ("one_vs_all", one_vs_all)])
def test_several_classes(multiclass, task, batch):
    w = hypotheses(ONES, THREE, LAM, task, 3, order=ROUNDS, batch=batch)
    last = learner(multiclass=multiclass, batch_size=batch).fit(X, THREE)
    close(weights(last), w[-1])
    mean = learner(multiclass=multiclass, batch_size=batch, average=True).fit(X, THREE)
    expected = w[: 180 // batch].mean(axis=0)
    close(weights(mean), expected)
    np.testing.assert_array_equal(mean.predict(X), (ONES @ expected.T).argmax(axis=1))
    if multiclass == "one_vs_all":  # K problems that know nothing of each other
        for label in range(3):
            alone = learner(batch_size=batch).fit(X, np.where(label == THREE, 1, -1))
            close(weights(last)[label], weights(alone)[0])


@pytest.mark.parametrize("multiclass, task", [("crammer_singer", ranking), ("one_vs_all", each_label)])
def test_label_sets(multiclass, task):
    w = hypotheses(ONES, SETS, LAM, task, 3)
    model = learner(multiclass=multiclass).partial_fit(X, SETS)
    close(model.coef_, w[-1][:, :4])
    bar = 0.0
    if multiclass == "crammer_singer":  # the mean midpoint of the two extremes, before each update
        scores = np.array([w[t] @ ONES[t] for t in range(60)])
        demands = SETS.any(axis=1) & ~SETS.all(axis=1)
        low = np.where(SETS, scores, np.inf).min(axis=1)[demands]
        bar = np.mean((low + np.where(SETS, -np.inf, scores).max(axis=1)[demands]) / 2)
    close(model.threshold_, bar)
    np.testing.assert_array_equal(model.predict(X), ONES @ w[-1].T > bar)


def test_the_ball_of_several_classes_holds_all_of_them():
    lam = 0.003
    model = learner(lam=lam, project=True, max_iter=1).fit(X, THREE)
    expected = hypotheses(ONES, THREE, lam, crammer_singer, 3, radius=1 / np.sqrt(lam))
    close(weights(model), expected[-1], atol=1e-7)
    assert not np.allclose(expected, hypotheses(ONES, THREE, lam, crammer_singer, 3))
