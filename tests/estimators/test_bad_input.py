"""What cannot be learned is refused in one line, and the model is as it was before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.errors import OnmarginError

CLASSIFIERS = [
    om.Perceptron, om.PassiveAggressiveClassifier, om.MIRA, om.AROW, om.SoftConfidenceWeighted,
    om.SecondOrderPerceptron,
]  # fmt: skip
LEARNERS = [*CLASSIFIERS, om.PassiveAggressiveRegressor, om.PassiveAggressiveUniclass]
SCALE = {om.Perceptron: "rate", om.AROW: "r", om.SecondOrderPerceptron: "a"}  # the others have C
X = np.random.default_rng(5).normal(size=(12, 3))
Y = (X[:, 0] > 0).astype(int)

every_learner = pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.__name__)
every_classifier = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)


def fresh(cls: Any, **parameters: Any) -> Any:
    """A learner that has seen nothing; classifiers know that 0 and 1 are all the labels."""
    return cls(**({"classes": (0, 1)} if cls in CLASSIFIERS else {}), **parameters)


def taught(cls: Any, **parameters: Any) -> Any:
    """The same after one pass over good rows."""
    return fresh(cls, **parameters).partial_fit(X, Y)


def learn_one(model: Any, x: Any, y: Any = 1, **weight: Any) -> None:
    """A round from a dict; balls take no label."""
    model.learn_one(x, *([] if isinstance(model, om.PassiveAggressiveUniclass) else [y]), **weight)


def state(model: Any) -> dict[str, Any]:
    """What a user can see; None where the model is not fitted."""
    seen: dict[str, Any] = {}
    for name in ("coef_", "intercept_", "t_", "classes_", "n_features_in_", "feature_names_in_"):
        try:
            seen[name] = np.array(getattr(model, name))
        except (AttributeError, ValueError):
            seen[name] = None
    return seen


def refuses(model: Any, call: Callable[[Any], Any], kind: Any = (ValueError, TypeError)) -> BaseException:
    """`call` raises one line of the fitting type, and nothing has changed."""
    before = state(model)
    with pytest.raises(kind) as caught:
        call(model)
    after = state(model)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) > 5
    for name, value in before.items():
        assert (value is None) == (after[name] is None), f"{name} was {value}, is {after[name]}"
        assert value is None or np.array_equal(value, after[name]), f"{name} was {value}, is {after[name]}"
    return caught.value


def spoiled(value: float) -> np.ndarray:
    table = X.copy()
    table[7, 1] = value
    return table


BAD_TABLES = {
    "a NaN": spoiled(np.nan),
    "an infinity": spoiled(-np.inf),
    "a NaN in a CSR matrix": sp.csr_matrix(spoiled(np.nan)),
    "a square that overflows": spoiled(1e200),
    "a sum of squares that overflows": np.full((12, 3), 1e154),
    "complex numbers": X.astype(complex),
    "objects that are no numbers": np.full((12, 3), {}, object),
    "a None among objects": np.where(np.isfinite(spoiled(np.nan)), X, None),
    "text": np.full((12, 3), "a"),
    "one dimension": X[:, 0],
    "three dimensions": X[:, :, None],
    "no rows": X[:0],
    "no columns": X[:, :0],
    "a single number": 3.0,
    "nothing": None,
}


@every_learner
@pytest.mark.parametrize("table", BAD_TABLES.values(), ids=BAD_TABLES.keys())
def test_a_bad_table_is_refused_and_changes_nothing(cls: Any, table: Any) -> None:
    labels = Y[: table.shape[0]] if hasattr(table, "shape") else Y
    for make in (fresh, taught):
        refuses(make(cls), lambda model: model.fit(table, labels))
        refuses(make(cls), lambda model: model.partial_fit(table, labels))
    refuses(taught(cls), lambda model: model.predict(table))


@every_learner
def test_another_width_is_refused_and_a_bad_row_is_named(cls: Any) -> None:
    error = refuses(taught(cls), lambda model: model.partial_fit(spoiled(np.nan), Y))
    assert isinstance(error, OnmarginError) and "row 7" in str(error) and "column 1" in str(error)
    for table in (X[:, :2], np.c_[X, X], sp.csr_matrix(X[:, :2])):
        refuses(taught(cls), lambda model, table=table: model.partial_fit(table, Y), ValueError)
        refuses(taught(cls), lambda model, table=table: model.predict(table), ValueError)


@pytest.mark.parametrize("cls", LEARNERS[:-1], ids=lambda cls: cls.__name__)
def test_the_wrong_number_of_targets_is_refused(cls: Any) -> None:
    for targets in (Y[:-1], Y[:0], None):
        refuses(taught(cls), lambda model, y=targets: model.partial_fit(X, y), ValueError)
        refuses(fresh(cls), lambda model, y=targets: model.fit(X, y), ValueError)


@every_classifier
@pytest.mark.parametrize(
    "labels",
    [Y + 0.5, np.where(Y, np.nan, 0.0), Y * 1j, np.array([None, "a"] * 6, object), np.c_[Y, Y + 1]],
    ids=["fractions", "NaN", "complex", "None", "no indicator matrix"],
)
def test_what_is_no_label_is_refused(cls: Any, labels: Any) -> None:
    refuses(cls(), lambda model: model.fit(X, labels), ValueError)
    refuses(cls(growing=True), lambda model: model.partial_fit(X, labels), ValueError)
    refuses(taught(cls), lambda model: model.partial_fit(X, labels), ValueError)


@pytest.mark.parametrize("target", [float("nan"), float("inf"), "a", None, 1j], ids=repr)
def test_what_is_no_number_is_refused_as_a_target(target: Any) -> None:
    for make in (fresh, taught):
        model = make(om.PassiveAggressiveRegressor)
        refuses(model, lambda model: model.fit(X, [target] * 12), ValueError)
        refuses(model, lambda model: model.partial_fit(X, [target] * 12), ValueError)
        refuses(model, lambda model: model.learn_one({0: 1.0}, target), ValueError)


@every_classifier
def test_a_closed_set_refuses_other_labels(cls: Any) -> None:
    for make in (fresh, taught):
        refuses(make(cls), lambda model: model.partial_fit(X, Y + 1), ValueError)
        refuses(make(cls), lambda model: model.learn_one({0: 1.0}, 2), ValueError)
        refuses(make(cls), lambda model: model.learn_one({0: 1.0}, "1"), ValueError)
    refuses(fresh(cls), lambda model: model.learn_one({"new": 1.0}, 2), ValueError)
    refuses(cls(), lambda model: model.partial_fit(X, Y + 1, classes=[0, 1]), ValueError)
    refuses(taught(cls), lambda model: model.partial_fit(X, Y, classes=[0, 1, 2]), ValueError)


@every_classifier
@pytest.mark.parametrize("label", [None, float("nan"), [1], {1, 2}, np.array([1, 2])], ids=repr)
def test_what_is_no_label_is_refused_from_dicts(cls: Any, label: Any) -> None:
    open_set = cls()
    open_set.learn_one({"a": 1.0}, "yes")
    for model in (cls(), open_set, taught(cls)):
        for x in ({0: 1.0}, {"a": 1.0}, {"b": 1.0}):
            refuses(model, lambda model, x=x: model.learn_one(x, label))


@every_learner
@pytest.mark.parametrize(
    "x",
    [{"a": "x"}, {"a": "1"}, {"a": None}, {"a": np.nan}, {"a": -np.inf}, {"a": 1e200}, {"a": 1j}, {"a": [1]},
     {"a": 1.0, "b": np.nan}, {"b": 1.0, "c": "x"}, [1.0], 3, None, "text", {1}],
    ids=repr,
)  # fmt: skip
def test_a_bad_dict_is_refused(cls: Any, x: Any) -> None:
    named = fresh(cls)
    learn_one(named, {"a": 1.0, "z": 2.0})
    for model in (fresh(cls), named):
        error = refuses(model, lambda model: learn_one(model, x))
        assert isinstance(error, OnmarginError)
    if not isinstance(x, dict) or set(x) == {"a"}:  # (names it does not know count as 0)
        refuses(named, lambda model: model.predict_one(x))


@every_learner
@pytest.mark.parametrize("value", [0, -1, float("nan"), "x"])
def test_a_scale_that_is_not_positive_is_refused(cls: Any, value: Any) -> None:
    bad = {SCALE.get(cls, "C"): value}
    for call in (lambda m: m.fit(X, Y), lambda m: m.partial_fit(X, Y), lambda m: learn_one(m, {0: 1.0})):
        refuses(fresh(cls, **bad), call)
        refuses(taught(cls).set_params(**bad), call)
    again = fresh(cls, **bad)
    refuses(again, lambda model: learn_one(model, {"a": 1.0}))
    again.set_params(**{SCALE.get(cls, "C"): 1.0}).partial_fit(X, Y)
    assert np.array_equal(again.coef_, taught(cls).coef_)


@pytest.mark.parametrize(
    "parameters",
    [{"step": "pa3"}, {"margin": -1}, {"update": "none"}, {"multilabel": "x"}, {"dtype": "float16"},
     {"max_iter": 0}, {"intercept_scaling": 0}, {"C": None}, {"class_weight": "equal"},
     {"class_weight": {0: -1.0}}, {"cost": [[0.0, 1.0]]}, {"cost": [[1.0, 1.0], [1.0, 1.0]]}],
    ids=repr,
)  # fmt: skip
def test_parameters_without_meaning_are_refused(parameters: Any) -> None:
    model = fresh(om.PassiveAggressiveClassifier, **parameters)
    refuses(model, lambda model: model.fit(X, Y))


@every_learner
@pytest.mark.parametrize(
    "weights",
    [-np.ones(12), np.full(12, np.nan), np.full(12, np.inf), np.ones(11), np.ones((12, 1)), ["a"] * 12],
    ids=["negative", "NaN", "infinite", "too few", "a column", "text"],
)
def test_bad_weights_are_refused(cls: Any, weights: Any) -> None:
    for make in (fresh, taught):
        refuses(make(cls), lambda model: model.fit(X, Y, sample_weight=weights), ValueError)
        refuses(make(cls), lambda model: model.partial_fit(X, Y, sample_weight=weights), ValueError)


@every_learner
def test_weights_that_are_all_zero_teach_nothing(cls: Any) -> None:
    refuses(fresh(cls), lambda model: model.fit(X, Y, sample_weight=np.zeros(12)), ValueError)
    model = taught(cls)
    before = state(model)
    model.partial_fit(X, Y, sample_weight=np.zeros(12))
    assert model.t_ == 12 and np.array_equal(model.coef_, before["coef_"])


@every_learner
@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), "x", None], ids=repr)
def test_a_bad_weight_of_a_dict_is_refused(cls: Any, weight: Any) -> None:
    known = fresh(cls)
    learn_one(known, {"a": 1.0})
    for model in (fresh(cls), known, taught(cls)):
        for x in ({"a": 1.0}, {"b": 1.0}, {0: 1.0}):
            refuses(model, lambda model, x=x: learn_one(model, x, w=weight))


@every_learner
def test_a_zero_row_moves_nothing_but_the_bias(cls: Any) -> None:
    zero = np.zeros((1, 3))
    if cls is om.PassiveAggressiveUniclass:  # a zero row is a point; here it is the centre itself
        model = cls().partial_fit(zero)
        assert model.t_ == 1 and not model.center_.any()
        return
    for fit_intercept in (False, True):
        model = taught(cls, fit_intercept=fit_intercept)
        before = state(model)
        wrong = 1 - model.predict(zero) if cls in CLASSIFIERS else model.predict(zero) + 5.0
        run = om.progressive(model, zero, wrong)
        np.testing.assert_allclose(model.coef_, before["coef_"], rtol=1e-14 if fit_intercept else 0)
        assert model.t_ == 13
        assert (model.intercept_ != before["intercept_"]) == fit_intercept
        assert run.losses[0] > 0 or not fit_intercept or cls in (om.Perceptron, om.SecondOrderPerceptron)
        assert run.rounds == 1 and run.updates in (0, 1) and run.queried[0]


def test_a_zero_row_has_the_full_loss_and_no_step() -> None:
    model = om.PassiveAggressiveClassifier(fit_intercept=False, classes=(0, 1))
    run = om.progressive(model, np.zeros((2, 3)), [0, 1])
    assert run.losses.tolist() == [1.0, 1.0] and run.steps.tolist() == [0.0, 0.0] and run.errors_theory == 2


@every_classifier
def test_one_class_alone_is_refused_by_fit_and_learned_by_streams(cls: Any) -> None:
    refuses(cls(), lambda model: model.fit(X, np.ones(12)), ValueError)
    assert set(fresh(cls).partial_fit(X, np.ones(12)).predict(X)) <= {0, 1}
    stream = cls()
    for row in X.tolist():
        stream.learn_one(dict(enumerate(row)), "only")
    assert stream.classes_.tolist() == ["only"] and stream.predict_one({0: -9.0}) == "only"


@every_learner
@pytest.mark.parametrize("number", [np.int32, np.int64])
def test_duplicate_and_unsorted_entries_are_summed_in_a_copy(cls: Any, number: Any) -> None:
    indices = np.tile([2, 0, 1, 0], 12).astype(number)  # column 0 in two halves, the rest unsorted
    data = np.c_[X[:, 2], X[:, 0] / 2, X[:, 1], X[:, 0] / 2].ravel()
    table = sp.csr_matrix((data, indices, np.arange(0, 49, 4).astype(number)), shape=(12, 3))
    kept = [np.array(part) for part in (table.data, table.indices, table.indptr)]
    model = fresh(cls).partial_fit(table, Y)
    np.testing.assert_allclose(model.coef_, taught(cls).coef_, rtol=0, atol=1e-9)
    once = {"max_iter": 1, "shuffle": False}
    np.testing.assert_allclose(fresh(cls, **once).fit(table, Y).coef_, model.coef_, rtol=0, atol=1e-9)
    assert np.array_equal(model.predict(table), model.predict(X))
    for before, after in zip(kept, (table.data, table.indices, table.indptr), strict=True):
        assert np.array_equal(before, after)


BROKEN = {
    "a column too large": ("indices", lambda a: np.r_[a[:4], 99, a[5:]]),
    "a column below 0": ("indices", lambda a: np.r_[a[:4], -1, a[5:]]),
    "falling bounds": ("indptr", lambda a: np.r_[a[:3], 30, a[4:]]),
    "bounds beyond the end": ("indptr", lambda a: np.r_[a[:-1], 40]),
    "bounds that begin late": ("indptr", lambda a: np.r_[1, a[1:]]),
}


@pytest.mark.parametrize("part, spoil", BROKEN.values(), ids=BROKEN.keys())
def test_a_malformed_csr_matrix_is_refused(part: str, spoil: Any) -> None:
    table = sp.csr_matrix(X)
    setattr(table, part, spoil(getattr(table, part)).astype(getattr(table, part).dtype))
    model = taught(om.PassiveAggressiveClassifier)
    refuses(model, lambda model: model.fit(table, Y), ValueError)
    refuses(model, lambda model: model.partial_fit(table, Y), ValueError)
    refuses(model, lambda model: model.predict(table), ValueError)


@pytest.mark.parametrize("part, kept", [("indptr", 9), ("data", 20)], ids=["bounds", "values"])
def test_a_csr_matrix_with_too_few_entries_is_refused_not_read_beyond_its_end(part: str, kept: int) -> None:
    script = f"""if True:
        import numpy as np, onmargin as om, scipy.sparse as sp
        table = sp.csr_matrix(np.ones((12, 3)))
        table.{part} = table.{part}[:{kept}].copy()
        try:
            om.PassiveAggressiveClassifier().fit(table, [0, 1] * 6)
        except ValueError:
            print("refused")
    """  # in a process of its own: reading beyond the end may take the process down
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout.strip()) == (0, "refused")


THEIRS = {"loss": "step=", "mode": "step=", "learn_intercept": "fit_intercept=", "seed": "random_state=",
          "eta0": "C=", "n_iter": "max_iter=", "eps": "epsilon=", "n_jobs": "leave it out"}  # fmt: skip


@every_learner
@pytest.mark.parametrize("name", THEIRS)
def test_names_of_other_libraries_are_answered_with_ours(cls: Any, name: str) -> None:
    with pytest.raises(TypeError) as caught:
        cls(**{name: 1})
    assert isinstance(caught.value, OnmarginError) and THEIRS[name] in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", THEIRS)
def test_set_params_answers_them_too(name: str) -> None:
    error = refuses(taught(om.PassiveAggressiveClassifier), lambda model: model.set_params(**{name: 1}))
    assert THEIRS[name] in str(error)


@every_learner
def test_an_unknown_parameter_is_refused(cls: Any) -> None:
    model = taught(cls)
    parameters = model.get_params()
    assert "nonsense" in str(refuses(model, lambda model: model.set_params(nonsense=1)))
    assert model.get_params() == parameters
    with pytest.raises(TypeError, match="nonsense"):
        cls(nonsense=1)
