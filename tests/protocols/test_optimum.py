"""om.svm_optimum and om.merge: what they refuse, and how a merged model goes on."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import onmargin as om
from onmargin.errors import BadInput

DRAW = np.random.default_rng(8)
X = DRAW.normal(size=(60, 4))
Y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 + 0.5 * DRAW.normal(size=60) > 0, 1, -1)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])


def perceptron(rows=slice(None), **parameters):
    return om.Perceptron(**parameters).partial_fit(X[rows], Y[rows], classes=[-1, 1])


# ---- the optimum


def test_the_gap_of_the_optimum_closes_with_an_empty_row():
    best = om.svm_optimum(
        np.where(np.arange(60) == 4, 0.0, X.T).T, Y, lam=0.1, fit_intercept=False, max_iter=200
    )
    assert best.gap < 1e-8


def test_what_has_no_optimum_is_refused():
    for lam in (0, -1.0, np.nan):
        with pytest.raises(BadInput, match="lam="):
            om.svm_optimum(X, Y, lam=lam)
    for labels in (np.ones(60), np.arange(60) % 3):
        with pytest.raises(BadInput, match="wanted two"):
            om.svm_optimum(X, labels, lam=0.1)


@pytest.mark.parametrize("prior", [(np.ones(3), 0.0), (np.ones(1), 0.0), (np.ones(4), 1.0)])
def test_a_prior_that_does_not_fit_the_optimum_is_refused(prior):
    with pytest.raises(BadInput, match="prior="):
        om.svm_optimum(X, Y, lam=0.1, prior=prior, fit_intercept=False)


# ---- merging


def test_a_mixture_goes_on_from_given_weights():
    """`fit` from the merged coefficients is the merged model's own next pass."""
    options = {"shuffle": False, "max_iter": 1, "tol": None, "intercept_scaling": 1.0}
    halves = [om.Perceptron(average=False, **options).fit(X[i::2], Y[i::2]) for i in range(2)]
    mixed = om.merge(halves)
    assert mixed.t_ == 60
    on = om.Perceptron(average=False, **options).fit(
        X, Y, coef_init=mixed.coef_, intercept_init=mixed.intercept_
    )
    np.testing.assert_allclose(mixed.partial_fit(X, Y).coef_, on.coef_, atol=1e-12)
    averaged = [om.Perceptron(average=True, **options).fit(X[i::2], Y[i::2]) for i in range(2)]
    mean = (averaged[0].coef_ + 3 * averaged[1].coef_) / 4
    np.testing.assert_allclose(om.merge(averaged, weights=[1, 3]).coef_, mean, atol=1e-12)


def test_every_kind_of_linear_learner_without_more_than_weights_can_be_merged():
    for make in (
        om.Perceptron,
        om.PassiveAggressiveClassifier,
        om.MIRA,
        partial(om.FTRLClassifier, regularizer="l2"),
        lambda: om.PassiveAggressiveClassifier(average=True),
    ):
        first, second = (make().partial_fit(X[i::2], THREE[i::2], classes=[0, 1, 2]) for i in range(2))
        before = first.coef_.copy()
        merged = om.merge([first, second])
        np.testing.assert_allclose(merged.coef_, (first.coef_ + second.coef_) / 2, atol=1e-12)
        np.testing.assert_allclose(merged.intercept_, (first.intercept_ + second.intercept_) / 2, atol=1e-12)
        np.testing.assert_array_equal(first.coef_, before)
        assert merged.t_ == 60 and merged.partial_fit(X, THREE).t_ == 120
        np.testing.assert_array_equal(first.coef_, before)
    numbers = [om.PassiveAggressiveRegressor().partial_fit(X[i::2], X[i::2, 0]) for i in range(2)]
    np.testing.assert_allclose(om.merge(numbers).coef_, (numbers[0].coef_ + numbers[1].coef_) / 2, atol=1e-12)
    alone = om.merge([numbers[0]], weights=[0.2])
    np.testing.assert_allclose(alone.coef_, numbers[0].coef_, atol=1e-12)


SECOND_ORDER = [
    partial(om.AROW, r=1.0), partial(om.SoftConfidenceWeighted), partial(om.SecondOrderPerceptron),
]  # fmt: skip


@pytest.mark.parametrize("covariance", ["diag", "full"])
@pytest.mark.parametrize("make", SECOND_ORDER, ids=["arow", "scw", "sop"])
@pytest.mark.parametrize("classes", [2, 3])
def test_second_order_models_are_merged_by_their_precision(make, covariance, classes):
    labels = THREE if classes == 3 else Y
    options = {"covariance": covariance, "average": False, "intercept_scaling": 1.0}
    parts = [make(**options).partial_fit(X[i::2], labels[i::2], classes=np.unique(labels)) for i in range(2)]
    merged, shares = om.merge(parts, weights=[1, 3]), (0.25, 0.75)
    for k in range(len(merged.coef_)):
        total = sums = 0.0
        for part, share in zip(parts, shares, strict=True):
            sigma = part._fitted().space.sigma
            if covariance == "full":
                precision = np.linalg.inv(sigma[k])
            else:
                precision = np.diag(1.0 / (sigma[:, k] if classes == 3 else sigma))
            weights = np.r_[part.coef_[k], part.intercept_[k]]
            total, sums = total + share * precision, sums + share * precision @ weights
        wanted = np.linalg.solve(total, sums)
        np.testing.assert_allclose(np.r_[merged.coef_[k], merged.intercept_[k]], wanted, atol=1e-9)
    same = om.merge([parts[0], parts[0]])
    np.testing.assert_allclose(same.coef_, parts[0].coef_, atol=1e-9)
    on, alone = same.partial_fit(X, labels), parts[0].partial_fit(X, labels)
    np.testing.assert_allclose(on.coef_, alone.coef_, atol=1e-7)  # it goes on as the one would have


def dicts(names, model=None):
    model = model or om.Perceptron()
    for name, label in zip(names, "ab" * 9, strict=False):
        model.learn_one({name: 1.0}, label)
    return model


REFUSED = {
    "nothing": (lambda: om.merge([]), "list of fitted ones"),
    "something else": (lambda: om.merge([1, 2]), "list of fitted ones"),
    "two classes of learner": (
        lambda: om.merge([perceptron(), om.AROW().partial_fit(X, Y, classes=[-1, 1])]),
        "class or shape",
    ),
    "other columns": (
        lambda: om.merge([perceptron(), om.Perceptron().partial_fit(X[:, :3], Y, classes=[-1, 1])]),
        "class or shape",
    ),
    "other labels": (
        lambda: om.merge([perceptron(), om.Perceptron().partial_fit(X, Y + 1, classes=[0, 2])]),
        "other labels",
    ),
    "other names": (lambda: om.merge([dicts("xy"), dicts("yx")]), "other labels or features"),
    "vectors": (
        lambda: om.merge([om.Pegasos(kernel="linear", tol=None, max_iter=1).fit(X, Y)] * 2),
        "keeps vectors",
    ),
    "those that ask": (lambda: om.merge([om.BBQ().fit(X / 9, Y)] * 2), "of those that ask: estimator_"),
    "too few weights": (lambda: om.merge([perceptron()] * 2, weights=[1.0]), "one number"),
    "negative weights": (lambda: om.merge([perceptron()] * 2, weights=[2.0, -1.0]), "at least 0"),
    "no weight at all": (lambda: om.merge([perceptron()] * 2, weights=[0.0, 0.0]), "not all 0"),
    "NaN": (lambda: om.merge([perceptron()] * 2, weights=[np.nan, 1.0]), "one number"),
}


@pytest.mark.parametrize("call, said", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_merged_is_refused_in_one_line(call, said):
    with pytest.raises(BadInput, match=said) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_what_was_never_fitted_is_refused():
    for models in ([om.Perceptron()], [perceptron(), om.Perceptron()]):
        with pytest.raises(NotFittedError):
            om.merge(models)


@pytest.mark.parametrize("other", [{"intercept_scaling": 10.0}, {"fit_intercept": False}], ids=str)
def test_other_intercepts_are_averaged_or_refused(other):
    make = om.PassiveAggressiveClassifier
    first, second = (make(**o).partial_fit(X, Y, classes=[-1, 1]) for o in (other, {}))
    try:
        merged = om.merge([first, second])
    except BadInput:
        return
    np.testing.assert_allclose(merged.intercept_, (first.intercept_ + second.intercept_) / 2)


def test_streams_that_met_the_same_names_at_another_pace_are_merged():
    names = [f"word {number}" for number in range(20)]
    slow, fast = om.Perceptron(), om.Perceptron()
    fast.learn_one(dict.fromkeys(names, 1.0), "a")
    for name in names:
        slow.learn_one({name: 1.0}, "a")
    for model in (slow, fast):
        model.learn_one({names[3]: 1.0}, "b")
    assert list(slow._columns.slots) == list(fast._columns.slots)
    np.testing.assert_allclose(om.merge([slow, fast]).coef_, (slow.coef_ + fast.coef_) / 2)


def test_the_objective_is_summed_over_more_rows_than_a_stretch():
    draw = np.random.default_rng(8)
    X = draw.normal(size=(9000, 3))
    y = np.digitize(X[:, 0] + 0.3 * draw.normal(size=9000), [-0.5, 0.5])
    for kind in ("crammer_singer", "one_vs_all"):
        model = om.Pegasos(
            lam=0.01, max_iter=2, tol=None, multiclass=kind, random_state=0, intercept_scaling=1.0
        ).fit(X, y)
        scores, own = model.decision_function(X), np.eye(3)[y] > 0
        if kind == "one_vs_all":
            losses = np.maximum(0, 1 - np.where(own, scores, -scores)).sum(axis=1)
        else:
            rival = np.where(own, -np.inf, scores).max(axis=1)
            losses = np.maximum(0, 1 - scores[own] + rival)
        squares = (model.coef_**2).sum() + (model.intercept_**2).sum()
        expected = 0.005 * squares + losses.mean()
        assert model.objective_ == pytest.approx(expected, rel=1e-9)
        assert model.objective(X, y) == pytest.approx(expected, rel=1e-9)
        assert 0 <= model.dual_gap_ < 0.2 * expected


def test_many_classes_are_not_all_named():
    with pytest.raises(BadInput, match="300 classes") as caught:
        om.svm_optimum(np.random.default_rng(0).normal(size=(300, 2)), np.arange(300), lam=1.0)
    assert len(str(caught.value)) < 100
