"""Labels: what is known when, sets of them, their weights, and the names of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import onmargin as om

from ..soaking import uncompiled
from ..students import as_fixed, plain

pytestmark = uncompiled

CLASSIFIERS = [
    om.Perceptron, om.PassiveAggressiveClassifier, om.MIRA, om.AROW, om.SoftConfidenceWeighted,
    om.SecondOrderPerceptron, om.FTRLClassifier,
]  # fmt: skip
every_classifier = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
PA = om.PassiveAggressiveClassifier

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(40, 3))
TWO = np.where(X @ [1.0, -1.0, 0.5] + 0.3 * RANDOM.normal(size=40) > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])]
SETS = (np.c_[X[:, 0] > 0, X[:, 1] > 0.3, X[:, 0] + X[:, 2] > 0, X[:, 2] < 0.1]).astype(int)


def dicts(table: np.ndarray = X) -> list[dict[Any, float]]:
    return [dict(enumerate(row)) for row in table.tolist()]


def streamed(model: Any, labels: Any, rows: Any = None) -> Any:
    """The model after a round per label, from dicts."""
    for x, label in zip(dicts() if rows is None else rows, labels, strict=False):
        model.learn_one(x, label)
    return model


def assert_same(first: Any, second: Any, within: float = 0.0) -> None:
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=0, atol=within)
    np.testing.assert_allclose(first.intercept_, second.intercept_, rtol=0, atol=within)


# ---- classes that were not announced


@every_classifier
def test_before_any_label_the_answer_is_none(cls: Any) -> None:
    model = cls()
    assert model.predict_one({"a": 1.0}) is None
    model.learn_one({"a": 1.0}, "first")
    assert model.predict_one({"a": 1.0}) == "first" and model.predict_one({"a": -1.0}) == "first"


@every_classifier
@pytest.mark.parametrize("begin", ["yes", "no"])
@pytest.mark.parametrize("average", [False, True])
def test_a_stream_of_two_classes_equals_both_known(cls: Any, begin: str, average: bool) -> None:
    first = int(np.argmax(TWO == begin))  # the first label sorts second, or first
    rows, labels = X[first:], TWO[first:]
    stream = streamed(cls(average=average), labels.tolist(), dicts(rows))
    announced = streamed(cls(average=average, classes=("no", "yes")), labels.tolist(), dicts(rows))
    growing = cls(average=average, growing=True).partial_fit(rows, labels)
    known = cls(average=average).partial_fit(rows, labels, classes=["yes", "no"])
    fitted = cls(average=average, max_iter=1, shuffle=False, **as_fixed(known)).fit(
        rows, labels
    )  # (by all rows)
    assert_same(stream, announced)
    assert_same(growing, known)
    assert_same(fitted, known)
    assert_same(stream, known, 1e-9)
    assert stream.classes_.tolist() == growing.classes_.tolist() == known.classes_.tolist() == ["no", "yes"]


@every_classifier
@pytest.mark.parametrize("late", ["a", "nz", "z"])  # sorts first, between, last
def test_a_third_class_splits_the_row_and_keeps_the_decisions(cls: Any, late: str) -> None:
    model = cls(growing=True, fit_intercept=False).partial_fit(X[:20], TWO[:20])
    row, decisions = model.coef_[0], model.predict(X)
    model.partial_fit(np.zeros((1, 3)), [late])  # a zero row moves nothing, but the class is known now
    no, yes, new = (model.classes_.tolist().index(label) for label in ("no", "yes", late))
    assert np.array_equal(model.coef_[[no, yes, new]], [-row / 2, row / 2, 0 * row])
    assert np.array_equal(model.predict(X), decisions)


@pytest.mark.parametrize("cls", [om.Perceptron, PA, om.MIRA])
@pytest.mark.parametrize("face", ["dicts", "arrays"])
def test_a_late_third_class_equals_a_start_from_the_split_row(cls: Any, face: str) -> None:
    late = np.r_[TWO[:20], ["z"], TWO[21:30], ["z"] * 3]
    before = streamed(plain(cls), late[:20].tolist())
    split = np.stack([-before.coef_[0] / 2, before.coef_[0] / 2, 0 * before.coef_[0]])
    bias = np.array([-0.5, 0.5, 0.0]) * before.intercept_[0]
    expected = plain(cls, max_iter=1, shuffle=False, classes=("no", "yes", "z"))
    expected.fit(X[20:33], late[20:], coef_init=split, intercept_init=bias)
    model = plain(cls, growing=True)
    model = streamed(model, late.tolist()) if face == "dicts" else model.partial_fit(X[:33], late)
    assert model.classes_.tolist() == ["no", "yes", "z"]
    assert_same(model, expected, 1e-9)


@pytest.mark.parametrize("cls", [om.Perceptron, PA, om.MIRA, om.AROW])
def test_the_average_is_split_like_the_row(cls: Any) -> None:
    labels = [*TWO[:20].tolist(), "z"]
    before = streamed(cls(average=True), labels[:20])
    running = streamed(cls(), labels[:20])
    after = streamed(cls(average=True), labels)
    mean = (20 * before.coef_[0] + running.coef_[0]) / 21  # w_21 is the row that met the third class
    np.testing.assert_allclose(after.coef_, [-mean / 2, mean / 2, 0 * mean], rtol=0, atol=1e-12)


@pytest.mark.parametrize("face", ["dicts", "arrays"])
def test_the_first_round_of_a_class_is_a_mistake(face: str) -> None:
    labels = ["c", "a", "b", "d", "c", "e"]
    rows = np.eye(6)  # no row says anything about another
    if face == "dicts":
        run = om.progressive(PA(), list(zip(dicts(rows), labels, strict=True)))
    else:
        run = om.progressive(PA(growing=True), rows, labels)
    assert run.rounds == 6 and run.mistakes >= 5
    wrong = [answer != label for answer, label in zip(run.predictions, labels, strict=True)]
    assert [wrong[t] for t in (0, 1, 2, 3, 5)] == [True] * 5 and sum(wrong) == run.mistakes
    assert run.predictions[0] is None
    assert run.model.classes_.tolist() == ["a", "b", "c", "d", "e"]


def test_a_class_that_comes_later_starts_from_a_zero_row() -> None:
    model = streamed(PA(fit_intercept=False), ["c", "a", "b"], dicts(np.eye(4)))
    rows = dict(zip(model.classes_.tolist(), model.coef_, strict=True))
    model.learn_one({3: 1.0}, "aa")
    assert model.classes_.tolist() == ["a", "aa", "b", "c"]
    for label, row in zip(model.classes_.tolist(), model.coef_, strict=True):
        if label != "aa":
            assert np.array_equal(row[:3], np.pad(rows[label], (0, 3))[:3])
    assert model.coef_[1, :3].tolist() == [0, 0, 0] and model.coef_[1, 3] > 0


@pytest.mark.parametrize(
    "labels, order",
    [(["b", "c", "a"], ["a", "b", "c"]), ([3, 1, 2], [1, 2, 3]), ([True, False], [False, True]),
     ([(2, "x"), (1, "y"), (1, "x")], [(1, "x"), (1, "y"), (2, "x")]), (["b", 1, "a"], ["b", 1, "a"]),
     ([("b",), 2, False], [("b",), 2, False]), ([2.0, 1.0], [1.0, 2.0])],
    ids=repr,
)  # fmt: skip
def test_labels_are_in_order_and_keep_their_type(labels: list[Any], order: list[Any]) -> None:
    model = streamed(PA(), labels * 3, dicts(np.tile(4 * np.eye(3)[: len(labels)], (3, 1))))
    answers = [model.predict_one(x) for x in dicts(np.eye(3)[: len(labels)])]
    assert answers == labels and [type(a) for a in answers] == [type(label) for label in labels]
    assert model.classes_.tolist() == order
    assert [type(label) for label in model.classes_.tolist()] == [type(label) for label in order]


@every_classifier
def test_announced_classes_equal_those_of_partial_fit(cls: Any) -> None:
    announced = cls(classes=("c", "b", "a", "never")).partial_fit(X, THREE)
    passed = cls().partial_fit(X, THREE, classes=["a", "b", "c", "never"])
    stream = streamed(cls(classes=("a", "b", "c", "never")), THREE.tolist())
    assert_same(announced, passed)
    assert_same(stream, announced, 1e-9)
    assert announced.classes_.tolist() == ["a", "b", "c", "never"] and announced.coef_.shape == (4, 3)
    with pytest.raises(ValueError, match="classes"):
        cls().partial_fit(X, THREE)


@every_classifier
def test_growing_takes_new_columns_and_classes_like_dicts(cls: Any) -> None:
    wide = np.c_[X, RANDOM.normal(size=(40, 2))]
    model = cls(growing=True).partial_fit(X[:20], TWO[:20]).partial_fit(wide[20:], THREE[20:])
    stream = streamed(cls(), [*TWO[:20].tolist(), *THREE[20:].tolist()], dicts(X[:20]) + dicts(wide[20:]))
    assert model.coef_.shape == (5, 5) and model.n_features_in_ == 5
    assert_same(stream, model, 1e-9)
    again = sp.csr_matrix(wide)
    assert np.array_equal(model.predict(again), model.predict(wide))


# ---- sets of labels


@pytest.mark.parametrize("options", [{}, {"multilabel": "calibrated"}, {"step": "pa2"}], ids=repr)
def test_sets_from_dicts_equal_the_indicator_matrix(options: dict[str, Any]) -> None:
    dense = PA(**options).partial_fit(X, SETS)
    sparse = PA(**options).partial_fit(sp.csr_matrix(X), sp.csr_matrix(SETS))
    stream = streamed(PA(**options), [{k: bool(v) for k, v in enumerate(row)} for row in SETS.tolist()])
    assert_same(sparse, dense, 1e-9)
    assert_same(stream, dense, 1e-9)
    assert stream.classes_.tolist() == [0, 1, 2, 3]
    answers = np.array([list(stream.predict_one(x).values()) for x in dicts()])
    assert np.array_equal(answers, dense.predict(X))


def test_announced_sets_from_dicts_equal_the_indicator_matrix() -> None:
    announced = PA(classes=("p", "q", "r", "s"))
    sets = [dict(zip("pqrs", map(bool, row), strict=True)) for row in SETS.tolist()]
    streamed(announced, [{k: v for k, v in one.items() if v or k == "p"} for one in sets])  # absent: False
    assert_same(announced, PA().partial_fit(X, SETS), 1e-9)
    assert announced.classes_.tolist() == ["p", "q", "r", "s"]
    with pytest.raises(ValueError):
        announced.learn_one({0: 1.0}, {"t": True})
    with pytest.raises((ValueError, TypeError)):
        announced.learn_one({0: 1.0}, "p")


@pytest.mark.parametrize("cls", [om.Perceptron, PA, om.AROW, om.SoftConfidenceWeighted])
def test_the_set_is_what_scores_above_zero(cls: Any) -> None:
    model = cls(max_iter=5, tol=None, random_state=0).fit(X, SETS)
    decisions = model.decision_function(X)
    assert np.array_equal(model.predict(X), (decisions > 0).astype(int)) and model.predict(X).any()
    np.testing.assert_allclose(decisions, X @ model.coef_.T + model.intercept_, atol=1e-9)


def test_the_threshold_is_the_running_mean_of_the_midpoints() -> None:
    model, middles = PA(multilabel="ranking"), []
    for row, wanted in zip(X, SETS, strict=True):
        if 0 < wanted.sum() < 4:
            scores = np.zeros(4) if not model.__sklearn_is_fitted__() else (
                model.decision_function(row[None])[0] + model.threshold_
            )  # fmt: skip
            middles.append((scores[wanted == 1].min() + scores[wanted == 0].max()) / 2)
        model.partial_fit(row[None], wanted[None])
        assert model.threshold_ == pytest.approx(np.mean(middles) if middles else 0.0, abs=1e-12)
    assert model.threshold_ != 0


# ---- weights


@every_classifier
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two classes", "three classes"])
def test_class_weights_equal_sample_weights(cls: Any, labels: np.ndarray) -> None:
    known, numbers = np.unique(labels, return_inverse=True)
    once: dict[str, Any] = {"max_iter": 1, "shuffle": False}
    named = dict(zip(known.tolist(), [0.5, 2.0, 0.25], strict=False))
    by_class = np.array([named[label] for label in labels.tolist()])
    whole = 40 / (len(known) * np.bincount(numbers)[numbers])
    counts = np.cumsum(np.eye(len(known))[numbers], axis=0)  # with the current example
    running = np.arange(1, 41) / (len(known) * counts[np.arange(40), numbers])
    for weighting, fit_weights, stream_weights in [(named, by_class, by_class), ("balanced", whole, running)]:
        assert_same(
            cls(class_weight=weighting, **once).fit(X, labels),
            cls(**once).fit(X, labels, sample_weight=fit_weights), 1e-12,
        )  # fmt: skip
        expected = cls().partial_fit(X, labels, classes=known, sample_weight=stream_weights)
        split = cls(class_weight=weighting).partial_fit(X[:15], labels[:15], classes=known)
        assert_same(split.partial_fit(X[15:], labels[15:]), expected, 1e-12)
        stream = cls(class_weight=weighting, classes=tuple(known.tolist()))
        assert_same(streamed(stream, labels.tolist()), expected, 1e-9)


@every_classifier
def test_rows_of_weight_zero_are_not_seen(cls: Any) -> None:
    seen = np.arange(40) % 3 != 0
    model = cls(class_weight="balanced").partial_fit(X, TWO, classes=["no", "yes"], sample_weight=seen * 2.0)
    only = cls(class_weight="balanced").partial_fit(
        X[seen], TWO[seen], classes=["no", "yes"], sample_weight=np.full(seen.sum(), 2.0)
    )
    assert model.t_ == only.t_ == seen.sum()
    assert_same(model, only)
    model.learn_one({0: 1.0}, "yes", w=0.0)
    assert model.t_ == seen.sum()
    assert_same(model, only)


# ---- names


@every_classifier
def test_a_model_learned_from_dicts_predicts_frames_by_name(cls: Any) -> None:
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    model = streamed(cls(), TWO.tolist(), frame.to_dict("records"))
    one_by_one = [model.predict_one(x) for x in frame.to_dict("records")]
    assert model.predict(frame).tolist() == one_by_one
    assert model.predict(frame[["z", "x", "y"]].assign(other=1.0)).tolist() == one_by_one
    with pytest.raises(ValueError) as caught:
        model.predict(X)
    assert "\n" not in str(caught.value) and "dicts" in str(caught.value)


@every_classifier
def test_a_model_fitted_on_a_frame_takes_dicts(cls: Any) -> None:
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    model = plain(cls, max_iter=1, shuffle=False).fit(frame[:20], TWO[:20])
    assert [model.predict_one(x) for x in frame.to_dict("records")] == model.predict(frame).tolist()
    streamed(model, TWO[20:].tolist(), frame[20:].to_dict("records"))
    assert_same(model, plain(cls, max_iter=1, shuffle=False).fit(X, TWO), 1e-9)
    model.learn_one({"x": 1.0, "new": 2.0}, "yes")
    assert model.feature_names_in_.tolist() == ["x", "y", "z", "new"] and model.n_features_in_ == 4
