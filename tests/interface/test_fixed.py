"""Numbers left to the data: fixed once, the same however a stream comes, kept, and put back."""

from __future__ import annotations

import math
import pickle
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import estimator_checks

import onmargin as om

draw = np.random.default_rng(4)
X = draw.normal(size=(40, 3)) * (draw.random((40, 3)) < 0.8) + 0.5
Y = (X[:, 0] + 0.3 * draw.normal(size=40) > 0.4).astype(int)
MEDIAN = math.sqrt(np.median((X**2).sum(axis=1)))
LATE = X.copy()
LATE[:3] = 0.0  # the first row with a length is the fourth
WEIGHTS = np.where(np.arange(40) == 3, 0.0, 1.0)  # and the first that counts the fifth
PA = om.PassiveAggressiveClassifier
MODELS = {
    "PA": PA(classes=(0, 1)),
    "Perceptron": om.Perceptron(classes=(0, 1), init="random", random_state=3),
    "AROW": om.AROW(classes=(0, 1)),
    "FTRL": om.FTRLClassifier(classes=(0, 1)),
    "Pegasos": om.Pegasos(classes=(0, 1), lam=0.1),
    "kernel": om.Perceptron(classes=(0, 1), kernel="poly", gamma=1.0, coef0=0.0, degree=2, dtype="float64"),
    "regressor": om.PassiveAggressiveRegressor(),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def of_row(length: float) -> float:
    """What the first row of a stream says."""
    return min(0.3 * length, math.sqrt(0.3 * length))


def dicts(table: np.ndarray) -> list[dict[str, float]]:
    return [dict(zip("abc", row, strict=True)) for row in table.tolist()]


def scores(model: Any, table: Any = X) -> np.ndarray:
    return np.asarray(getattr(model, "decision_function", model.predict)(table))


# ---- the rules


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_classifiers_take_a_share_of_the_length(size: float) -> None:
    """One first row that is very long makes it no longer than the square root."""
    lengths = size * np.linalg.norm(X, axis=1)
    assert PA().partial_fit(size * X, Y, classes=[0, 1]).intercept_scaling_ == pytest.approx(
        of_row(lengths[0]), rel=1e-12
    )
    fitted = PA(tol=None).fit(size * X, Y)
    assert fitted.intercept_scaling_ == pytest.approx(0.3 * size * MEDIAN, rel=1e-12)


def test_regressors_take_one_in_streams_and_the_median_length_in_fit() -> None:
    stream = om.PassiveAggressiveRegressor().partial_fit(50 * X, Y)
    assert stream.intercept_scaling_ == 1.0
    one = om.PassiveAggressiveRegressor()
    one.learn_one({"a": 50.0}, 1.0)
    assert one.intercept_scaling_ == 1.0
    fitted = om.PassiveAggressiveRegressor(tol=None).fit(50 * X, Y)
    assert fitted.intercept_scaling_ == pytest.approx(50 * MEDIAN, rel=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_kernels_are_measured_by_k_of_x_and_itself(kernel: str) -> None:
    own = {"rbf": np.ones(40), "poly": (X**2).sum(1) ** 3, "linear": (X**2).sum(1)}[kernel]
    given = {"kernel": kernel, "gamma": 1.0, "coef0": 0.0, "dtype": "float64"}
    stream = om.Perceptron(**given).partial_fit(X, Y, classes=[0, 1])
    assert stream.intercept_scaling_ == pytest.approx(of_row(math.sqrt(own[0])))
    fitted = om.Perceptron(**given, tol=None).fit(X, Y)
    assert fitted.intercept_scaling_ == pytest.approx(0.3 * math.sqrt(np.median(own)))
    table = om.Perceptron(kernel="precomputed", tol=None, random_state=0, dtype="float64").fit(X @ X.T, Y)
    if kernel == "linear":
        assert table.intercept_scaling_ == pytest.approx(fitted.intercept_scaling_)


def test_the_median_is_of_rows_that_count_and_have_a_length() -> None:
    table, weights = np.r_[np.zeros((9, 3)), X, 1e6 * X[:9]], np.ones(58)
    weights[49:] = 0.0
    model = PA(tol=None).fit(table, np.r_[np.zeros(9, int), Y, Y[:9]], sample_weight=weights)
    assert model.intercept_scaling_ == pytest.approx(0.3 * MEDIAN, rel=1e-12)
    empty = PA(tol=None).fit(np.zeros((4, 3)), [0, 1, 0, 1])
    assert empty.intercept_scaling_ == pytest.approx(0.3)  # as for rows of length 1


def test_without_an_intercept_or_with_a_given_value_nothing_is_fixed() -> None:
    assert PA(fit_intercept=False).partial_fit(X, Y, classes=[0, 1]).intercept_scaling_ == 0.0
    assert PA(intercept_scaling=0.25).partial_fit(X, Y, classes=[0, 1]).intercept_scaling_ == 0.25
    with pytest.raises(ValueError, match="intercept_scaling='big'; wanted a number above 0, or 'auto'"):
        PA(intercept_scaling="big").fit(X, Y)
    model = PA().partial_fit(X, Y, classes=[0, 1]).set_params(intercept_scaling=1.0)
    with pytest.raises(ValueError, match="intercept_scaling"):
        model.partial_fit(X, Y)


# ---- one stream, however it comes


@every_model
def test_arrays_blocks_sparse_rows_and_dicts_fix_the_same(model: Any) -> None:
    """Rows without a length and of weight 0 fix nothing, and before the first the coordinate is 0."""
    whole = clone(model).partial_fit(LATE, Y, sample_weight=WEIGHTS)
    sparse = clone(model).partial_fit(sp.csr_matrix(LATE), Y, sample_weight=WEIGHTS)
    ways = [whole, sparse]
    for cuts in ([1, 2, 3, 4, 5, 6], [2, 20], [4]):
        parts = clone(model)
        for rows in np.split(np.arange(40), cuts):
            parts.partial_fit(LATE[rows], Y[rows], sample_weight=WEIGHTS[rows])
        ways.append(parts)
    one = clone(model)
    for x, y, w in zip(dicts(LATE), Y.tolist(), WEIGHTS, strict=True):
        one.learn_one(x, y, w=w)
    named = om.progressive(clone(model), LATE, Y, sample_weight=WEIGHTS).model
    for other in [*ways[1:], one, named]:
        assert other.intercept_scaling_ == pytest.approx(whole.intercept_scaling_, rel=1e-12)
        assert other.t_ == whole.t_ == 39
        table = pd.DataFrame(X, columns=list("abc")) if other is one else X
        np.testing.assert_allclose(scores(other, table), scores(whole), rtol=1e-9, atol=1e-9)
    if model is MODELS["PA"]:
        assert whole.intercept_scaling_ == pytest.approx(of_row(np.linalg.norm(LATE[4])))
        many = clone(model)
        many.learn_many(pd.DataFrame(LATE, columns=list("abc")), pd.Series(Y))
        assert many.intercept_scaling_ == pytest.approx(of_row(np.linalg.norm(LATE[3])))


@pytest.mark.parametrize("model", [PA(classes=(0, 1)), om.AROW(classes=(0, 1))], ids=["PA", "AROW"])
def test_empty_rows_move_nothing_before_it_is_fixed(model: Any) -> None:
    arrays = clone(model).partial_fit(np.zeros((3, 3)), [1, 1, 0])
    one = clone(model)
    for label in (1, 1, 0):
        one.learn_one({}, label)
    for begun in (arrays, one):
        assert begun.intercept_scaling_ == 0.0 and begun.t_ == 3
        assert not begun.intercept_.any()
    arrays.partial_fit(X[:1], [1])
    one.learn_one(dict(enumerate(X[0].tolist())), 1)
    for begun in (arrays, one):
        assert begun.intercept_scaling_ == pytest.approx(of_row(np.linalg.norm(X[0])))
        assert begun.intercept_[0] > 0


def test_it_is_fixed_once() -> None:
    model = PA().partial_fit(X[:1], Y[:1], classes=[0, 1])
    value = model.intercept_scaling_
    model.partial_fit(1000 * X, Y)
    model.learn_one({0: 1e4}, 1)
    assert model.intercept_scaling_ == value
    assert model.fit(10 * X, Y).intercept_scaling_ != value  # (a fit begins anew)


# ---- kept


@every_model
@pytest.mark.parametrize("rows", [0, 2, 20])
def test_files_pickles_and_copies_go_on_with_it(model: Any, rows: int, tmp_path: Any) -> None:
    """Before anything has come, before it is fixed, and after."""
    begun = clone(model)
    if rows:
        begun.partial_fit(LATE[:rows], Y[:rows])
        om.save(begun, tmp_path / "m.onm")
        others = [om.load(tmp_path / "m.onm"), pickle.loads(pickle.dumps(begun))]
        assert others[0].intercept_scaling_ == others[1].intercept_scaling_ == begun.intercept_scaling_
    else:
        others = [pickle.loads(pickle.dumps(begun))]
    begun.partial_fit(LATE[rows:], Y[rows:])
    for other in others:
        other.partial_fit(LATE[rows:], Y[rows:])
        assert other.intercept_scaling_ == begun.intercept_scaling_ > 0
        np.testing.assert_array_equal(scores(other), scores(begun))


def test_a_warm_start_keeps_it_and_a_clone_does_not() -> None:
    model = PA(warm_start=True, tol=None, max_iter=2).fit(X, Y)
    value = model.intercept_scaling_
    assert model.fit(100 * X, Y).intercept_scaling_ == value
    assert clone(model).fit(100 * X, Y).intercept_scaling_ == pytest.approx(100 * value)


def test_merged_models_keep_their_decisions() -> None:
    """Each with a value of its own; one of them has seen empty rows only."""
    parts = [PA(classes=(0, 1)).partial_fit(size * X[i::2], Y[i::2]) for i, size in ((0, 1.0), (1, 7.0))]
    merged = om.merge(parts)
    mean = (scores(parts[0]) + scores(parts[1])) / 2
    np.testing.assert_allclose(scores(merged), mean, atol=1e-12)
    blank = PA(classes=(0, 1)).partial_fit(np.zeros((2, 3)), [0, 1])
    assert om.merge([blank, parts[0]]).intercept_scaling_ == parts[0].intercept_scaling_


def test_a_sweep_has_the_value_of_separate_runs() -> None:
    result = om.sweep(PA(), {"C": [0.01, 0.1, 1.0]}, LATE, Y)
    assert result.in_lanes == 3
    alone = om.progressive(PA(**result.best_params), LATE, Y).model
    assert result.best_model.intercept_scaling_ == alone.intercept_scaling_ > 0
    np.testing.assert_allclose(scores(result.best_model), scores(alone), atol=1e-12)


# ---- put back


def spoiled(row: int) -> np.ndarray:
    table = 100 * X
    table[row, 1] = np.nan
    return table


@every_model
def test_a_refused_table_leaves_it_unfixed(model: Any) -> None:
    for begin in (0, 2):
        clean, tried = clone(model), clone(model)
        for each in (clean, tried):
            if begin:
                each.partial_fit(LATE[:begin], Y[:begin])
        for call in (
            lambda m: m.partial_fit(spoiled(7), Y),
            lambda m: m.partial_fit(spoiled(0), Y),
            lambda m: m.partial_fit(100 * X, Y, sample_weight=np.full(40, -1.0)),
            lambda m: m.learn_one({0: 5.0, 1: math.nan}, 1),
            lambda m: m.learn_one({0: 5.0}, 1, w=-1.0),
        ):
            with pytest.raises(ValueError):
                call(tried)
        assert tried.partial_fit(X, Y).intercept_scaling_ == clean.partial_fit(X, Y).intercept_scaling_
        np.testing.assert_array_equal(scores(tried), scores(clean))


def test_a_refused_fit_leaves_the_old_value() -> None:
    model = PA(tol=None).fit(X, Y)
    value, before = model.intercept_scaling_, scores(model)
    for bad in (lambda: model.fit(spoiled(7), Y), lambda: model.fit(100 * X, Y, coef_init=np.ones(9))):
        with pytest.raises(ValueError):
            bad()
    assert model.intercept_scaling_ == value
    np.testing.assert_array_equal(scores(model), before)


@pytest.mark.parametrize("bad", [{"a": 1e200}, {"a": math.inf}])
def test_a_refused_dict_leaves_it_unfixed(bad: dict[str, float]) -> None:
    model = PA(classes=(0, 1))
    with pytest.raises(ValueError):
        model.learn_one(bad, 1)
    with pytest.raises(ValueError):
        model.learn_one({"a": 50.0}, 2)  # no such class
    model.learn_one({"a": 2.0}, 1)
    assert model.intercept_scaling_ == pytest.approx(of_row(2.0))


def test_a_question_fixes_nothing() -> None:
    model = PA(classes=(0, 1))
    model.learn_one({}, 1)
    assert model.predict_one({"a": 100.0}) in (0, 1)
    assert model.intercept_scaling_ == 0.0


# ---- weights to start from


def test_an_intercept_to_start_from_is_the_intercept() -> None:
    start = {"coef_init": np.array([[1e6, 0.0, 0.0]]), "intercept_init": [12.5]}
    model = om.Perceptron(tol=None, max_iter=1).fit(np.abs(X) + 1.0, np.r_[np.ones(39), 0], **start)
    quiet = om.Perceptron(tol=None, max_iter=1, classes=(0, 1)).fit(np.abs(X) + 1.0, np.ones(40), **start)
    assert quiet.intercept_[0] == pytest.approx(12.5, rel=1e-12)
    assert model.intercept_scaling_ > 0


@pytest.mark.parametrize("call", ["fit", "partial_fit", "learn_one"])
def test_a_prior_keeps_its_intercept(call: str) -> None:
    """A heavy regulariser leaves nothing but the prior."""
    model = om.Pegasos(lam=1e9, prior=([1.0, -2.0, 0.5], -0.75), classes=(0, 1), tol=None, max_iter=2)
    if call == "learn_one":
        for row, label in zip(X.tolist(), Y.tolist(), strict=True):
            model.learn_one(dict(enumerate(row)), label)
    else:
        getattr(model, call)(X, Y)
    np.testing.assert_allclose(model.intercept_, [-0.75], atol=1e-6)
    np.testing.assert_allclose(model.coef_, [[1.0, -2.0, 0.5]], atol=1e-6)


def test_the_first_round_of_a_prior_is_the_priors() -> None:
    run = om.progressive(om.Pegasos(lam=0.1, prior=([1.0, -2.0, 0.5], -0.75), classes=(0, 1)), X, Y)
    assert run.scores[0] == pytest.approx(X[0] @ [1.0, -2.0, 0.5] - 0.75)


# ---- scikit-learn


@pytest.mark.parametrize(
    "model",
    [PA(), om.AROW(), om.SecondOrderPerceptron(), om.SoftConfidenceWeighted(), om.FTRLClassifier()],
    ids=lambda model: type(model).__name__,
)
def test_class_weights_hold_for_any_seed(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check_class_weight_classifiers` (1000 to 0.0001): by the rule, not by the seed of scikit-learn.

    (A Perceptron of three classes is where its last heavy mistake left it: it holds for nine seeds of ten,
    whatever share of the length is taken.)
    """
    for seed in range(5):
        monkeypatch.setattr(
            estimator_checks, "set_random_state", lambda m, s=0, seed=seed: m.set_params(random_state=seed)
        )
        estimator_checks.check_class_weight_classifiers(type(model).__name__, clone(model))


@pytest.mark.parametrize("model", [om.AROW(classes=(0, 1)), om.PairedClassifier(classes=(0, 1))])
def test_a_first_row_that_is_next_to_empty_fixes_numbers_as_one_of_length_1(
    model: Any, tmp_path: Any
) -> None:
    """Its squared length is hardly above 0: r = 0.1 |x|^2 would be 0, and C = 0.1 / |x|^2 infinite."""
    first = [2.3e-162, 0.0, 0.0]
    as_of_one = clone(model).partial_fit([[1.0, 0.0, 0.0]], [1])
    one = clone(model)
    one.learn_one({"a": first[0]}, 1)
    for begun in (clone(model).partial_fit([first], [1]), one):
        assert {name: value for name, value in begun._fixed.items() if name != "intercept_scaling"} == {
            name: value for name, value in as_of_one._fixed.items() if name != "intercept_scaling"
        }
        om.save(begun, tmp_path / "short.onm")
        assert om.load(tmp_path / "short.onm")._fixed == begun._fixed


@pytest.mark.parametrize("turn", [1, -1])
def test_merged_models_have_what_one_of_them_has_fixed(turn: int, tmp_path: Any) -> None:
    """And nothing else: a PairedClassifier's C, not a constant coordinate that has no rule there."""
    made = om.PairedClassifier(classes=(0, 1), random_state=0)
    empty, other = clone(made).partial_fit(0 * X, Y), clone(made).partial_fit(50 * X, Y)
    merged = om.merge([empty, other][::turn])
    assert merged._fixed == other._fixed and merged.C_ == other.C_
    om.save(merged, tmp_path / "merged.onm")
    read = om.load(tmp_path / "merged.onm").partial_fit(X, Y)
    np.testing.assert_array_equal(scores(read), scores(merged.partial_fit(X, Y)))


@pytest.mark.parametrize(
    "make",
    [
        om.PairedClassifier,
        partial(om.AROW, intercept_scaling=1.0),
        partial(om.FTRLClassifier, intercept_scaling=1.0),
    ],
    ids=["paired", "AROW", "FTRL"],
)
def test_a_given_constant_is_no_part_of_a_dicts_length(make):
    """Neither is an empty dict a row of its length."""
    rows, labels = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 1.0]]), [1, 0, 1]
    stream = make(classes=[0, 1])
    for row, label in zip(rows, labels, strict=True):
        stream.learn_one(dict(enumerate(row.tolist())), label)
    table = make(classes=[0, 1]).partial_fit(rows, labels)
    assert stream._fixed == table._fixed
    np.testing.assert_allclose(stream.coef_, table.coef_, rtol=1e-12)
