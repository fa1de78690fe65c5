"""Learners that ask: the checks of scikit-learn and of River, files, bad parameters, and mistakes found."""

from __future__ import annotations

import itertools
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from river import base, checks

import onmargin as om
from tests.once import as_plain_python
from tests.students import PLAIN

from . import refusals
from .test_kernel_conformance import failures
from .test_paired_conformance import answers, judge
from .test_sampler import DICTS, GRAM, LUCK, ROWS, TWO, X, selective

MADE = [
    om.SelectiveSampler(om.Perceptron(), random_state=0),
    om.BBQ(random_state=0),
    om.BBQRegressor(random_state=0),
]
SHORT = X / (1 + np.linalg.norm(X, axis=1, keepdims=True))  # rows within 1
CLASSES = {"classes": (0, 1)}


def in_rivers_words(model: Any) -> list[str]:
    """Names of River's checks that do not pass, on the beginnings of its sets; or what was said instead."""
    whole = checks._yield_datasets

    def cut(model: Any, scale: int = 1) -> Any:
        sets = list(whole(model, scale))
        for examples in sets[1:] or sets:
            yield list(itertools.islice(examples, 20))

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(norm above 1|beyond)")
        patch.setattr(checks, "_yield_datasets", cut)
        try:
            return sorted(failures(model))
        except ValueError as error:
            return [str(error)]


@pytest.fixture(scope="module")
def found(tmp_path_factory: Any) -> Any:
    """What both say, as plain Python, in another process."""
    path = tmp_path_factory.mktemp("plain") / "answers"
    said = as_plain_python("tests.estimators.test_asking_conformance", path, "default")
    return json.loads(said.read_text())


@pytest.mark.parametrize("number", [0, 1, 2])
def test_scikit_learn(number: int, found: Any) -> None:
    judge(MADE[number], found[number][0])


@pytest.mark.parametrize("number", [0, 1, 2])
def test_river(number: int, found: Any) -> None:
    kind = base.Regressor if number == 2 else base.Classifier
    assert isinstance(MADE[number], kind) and om.conformance.river(MADE[number]) == {}
    assert found[number][1] == []


# ---- files


MODELS = [
    selective(delta=0.3), selective(rule="adaptive", delta=0.1),
    selective(budget=4, window=15, target_rate=0.5),
    selective(om.Perceptron(kernel="rbf", gamma=0.2, dtype="float64", **CLASSES)),
    om.BBQ(epsilon=0.9, **CLASSES),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_a_file_goes_on_where_the_model_was(number: int, tmp_path: Any) -> None:
    """Questions before the first label, in mid-stream; the coins too, though nobody named a seed."""
    rows = SHORT if isinstance(MODELS[number], om.BBQ) else X
    model = MODELS[number].clone()
    model.query(rows[:7])
    for part in (slice(0, 40), slice(40, 80), slice(80, ROWS)):
        om.save(model, tmp_path / "model.onm")
        twin = om.load(tmp_path / "model.onm")
        assert repr(twin) == repr(model) and twin.n_queries_ == model.n_queries_
        runs = [om.progressive(m, rows[part], TWO[part]) for m in (model, twin)]
        assert_array_equal(runs[1].queried, runs[0].queried)
        assert_array_equal(runs[1].scores, runs[0].scores)
        assert_array_equal(twin.query(rows), model.query(rows))
        assert_array_equal(twin.decision_function(rows), model.decision_function(rows))


# ---- bad parameters: one line, and nothing changed


def unmoved(model: Any, rows: Any, call: Any, *words: str) -> None:
    """Refused in one line with these words; weights and counts as they were."""
    before = vars(model).get("estimator_") and model.estimator_._model.memory.copy()
    line = str(refusals.refuses(model, call))
    assert all(word in line for word in words), line
    if before is not None:
        assert_array_equal(model.estimator_._model.memory, before)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"delta": -1.0}, "delta=-1.0"), ({"delta": np.nan}, "delta=nan"), ({"delta": "1"}, "delta='1'"),
        ({"budget": -1}, "budget=-1"), ({"budget": 2.5}, "budget=2.5"), ({"budget": True}, "budget=True"),
        ({"window": 5}, "window=5"), ({"window": 0, "budget": 3}, "window=0"),
        ({"rule": "all"}, "rule='all'"),
        ({"window": 1.5, "budget": 3}, "window=1.5"), ({"target_rate": 0.0}, "target_rate=0.0"),
        ({"target_rate": 1.5}, "target_rate=1.5"), ({"target_rate": np.nan}, "target_rate=nan"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)  # fmt: skip
def test_a_sampler_with_bad_parameters(told: Any, words: str) -> None:
    for model in (selective(**told), selective().partial_fit(X, TWO)):
        good = model.get_params(deep=False)
        for call in (
            lambda m: m.fit(X, TWO), lambda m: om.progressive(m, X, TWO), lambda m: m.query(X),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=words) as caught:
                call(model.set_params(**told))
            assert "\n" not in str(caught.value)
        if model.__sklearn_is_fitted__():
            model.set_params(**{name: good[name] for name in told})
            plain = om.Perceptron(**CLASSES, **PLAIN).partial_fit(X, TWO)
            assert_array_equal(model.coef_, plain.coef_)
            assert model.n_queries_ == 0


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"epsilon": 0.0}, "epsilon=0.0"), ({"epsilon": -1}, "epsilon=-1"),
        ({"epsilon": np.nan}, "epsilon=nan"),
        ({"epsilon": np.inf}, "epsilon=inf"), ({"delta": 0.0}, "delta=0.0"), ({"delta": 1.0}, "delta=1.0"),
        ({"kappa": 0.0}, "kappa=0.0"), ({"kappa": 1.0}, "kappa=1.0"), ({"kappa": "a"}, "kappa='a'"),
        ({"confidence": "sure"}, "confidence='sure'"), ({"kernel": "none"}, "kernel='none'"),
        ({"kernel": "rbf", "fit_intercept": True}, "fit_intercept"),
    ],
)  # fmt: skip
def test_a_bbq_with_bad_parameters(told: Any, words: str) -> None:
    for call in (lambda m: m.fit(SHORT, TWO), lambda m: m.partial_fit(SHORT, TWO)):
        unmoved(om.BBQ(**CLASSES, **told), SHORT, call, words)


def test_learners_that_cannot_be_asked_for() -> None:
    for given in (
        om.PassiveAggressiveRegressor(), om.RandomBudgetPerceptron(), om.PairedClassifier(), om.Banditron(),
        om.PassiveAggressiveUniclass(), om.CandidateClassifier(), om.Perceptron, None, "Perceptron", om.BBQ(),
    ):  # fmt: skip
        for call in (lambda m: m.fit(X, TWO), lambda m: m.query(X), lambda m: m.learn_one({"a": 1.0}, 1)):
            with pytest.raises(ValueError, match=r"wanted a (classifier|learner)") as caught:
                call(om.SelectiveSampler(given))
            assert "\n" not in str(caught.value)
    sets = np.c_[TWO, 1 - TWO]
    for call in (
        lambda m: m.fit(X, sets),
        lambda m: m.partial_fit(X, sets),
        lambda m: om.progressive(m, X, sets),
    ):
        unmoved(selective().partial_fit(X, TWO), X, call, "one a row")


def test_rows_and_options_that_make_no_sense() -> None:
    bad = X.copy()
    bad[9, 1] = np.nan
    for call in (
        lambda m: m.query(bad), lambda m: om.progressive(m, bad, TWO), lambda m: m.query_one({0: np.inf}),
        lambda m: m.query(X[:, :2]), lambda m: m.query_one([1.0]),
        lambda m: om.progressive(m, X, TWO, delay=3), lambda m: om.progressive(m, X, TWO, chance=LUCK + 1),
        lambda m: om.progressive(m, X, TWO, chance=LUCK[1:]),
        lambda m: m.partial_fit(X, np.where(TWO == 1, 7, np.nan)),
    ):  # fmt: skip
        unmoved(selective(random_state=0).partial_fit(X, TWO), X, call)


@pytest.mark.parametrize("rule", ["bernoulli", "adaptive"])
def test_an_infinite_delta_asks_for_all(rule: str) -> None:
    assert om.progressive(selective(delta=np.inf, rule=rule), X, TWO, chance=LUCK).queried.all()


def test_a_rate_that_a_window_forbids_does_not_end_all_questions() -> None:
    """delta grows beyond all numbers."""
    model = selective(target_rate=0.9, budget=1, window=50, random_state=0)
    run = om.progressive(model, np.tile(X, (150, 1)), np.tile(TWO, 150))
    assert run.queried[-4000:].sum() > 40


# ---- mistakes found: each is to be mended, and its mark taken away


@pytest.mark.parametrize("weight", ["balanced", {1: 0.0}], ids=str)
def test_class_weights_that_read_labels_not_asked_for_are_refused(weight: Any) -> None:
    model = selective(om.Perceptron(class_weight=weight, **CLASSES), delta=0.1)
    with pytest.raises(ValueError, match="not asked for"):
        om.progressive(model, X, TWO, chance=LUCK)
    model = selective(om.Perceptron(class_weight={1: 2.0}, **CLASSES), delta=0.1)
    run = om.progressive(model, X, TWO, chance=LUCK)
    twin = om.progressive(model.clone(), X, np.where(run.queried, TWO, 1 - TWO), chance=LUCK)
    assert_array_equal(twin.scores, run.scores)


def test_a_growing_learner_wants_its_classes_announced() -> None:
    """It would learn of classes that it did not ask for."""
    model = selective(om.Perceptron(growing=True), delta=0.1)
    with pytest.raises(ValueError, match="give classes="):
        om.progressive(model, X, TWO, chance=LUCK)
    run = om.progressive(model, X, TWO, chance=LUCK, classes=(0, 1))
    twin = selective(om.Perceptron(growing=True), delta=0.1)
    om.progressive(twin, X, np.where(run.queried, TWO, 7), chance=LUCK, classes=(0, 1))
    assert_array_equal(twin.classes_, model.classes_)


def test_a_precomputed_kernel_is_not_shuffled() -> None:
    """Its rows are its columns too."""
    told = {"dtype": "float64", "fit_intercept": False, **CLASSES}
    one = selective(om.Perceptron(kernel="precomputed", **told), random_state=0).fit(GRAM, TWO)
    other = selective(om.Perceptron(kernel="linear", shuffle=False, **told), random_state=0)
    rows = np.c_[X, np.ones(ROWS)]
    assert_allclose(one.decision_function(GRAM), other.fit(rows, TWO).decision_function(rows), atol=1e-9)


def test_a_dict_is_as_long_as_its_values() -> None:
    """A long row was answered before: beta X^2 sqrt(1 + K) is .003 of the next one all the same."""
    model = selective(rule="adaptive", delta=1e-3, random_state=0)
    model.partial_fit(pd.DataFrame([{f"f{i}": 0.1 for i in range(20)}]), [0])
    model.predict_one({f"f{i}": 1000.0 for i in range(20)})
    assert sum(model.query_one({"f3": 1.0}) for _ in range(60)) < 10


@pytest.mark.filterwarnings("ignore:invalid value")
def test_an_outlook_with_an_infinite_delta() -> None:
    model = selective(delta=np.inf).partial_fit(X, TWO)
    assert om.label_plan(model, X).expected == ROWS


def test_a_rule_may_be_changed_before_the_first_label() -> None:
    model = selective(rule="random", delta=0.0, random_state=0)
    assert not model.query(X).any()
    assert model.set_params(delta=1.0).query(X).all()


@pytest.mark.parametrize("budget", [6, 60])
def test_a_window_may_be_set_before_the_first_label(budget: int) -> None:
    model = selective(random_state=0)
    model.query(X[:3])
    model.set_params(budget=budget, window=100).partial_fit(X, TWO)
    recent = model.estimator_._model.asking.recent
    assert len(recent) == budget and np.isin(recent, np.arange(4)).all()


def test_a_refused_first_run_changes_nothing() -> None:
    model, y = (
        om.SelectiveSampler(om.Perceptron(), random_state=0),
        np.where(np.arange(ROWS) > 90, np.nan, TWO),
    )
    asked = model.query(X[:5]).sum()
    with pytest.raises(ValueError, match="has no label"):
        om.progressive(model, X, y)
    assert model.n_queries_ == asked
    om.progressive(model, X[:, :3], np.where(TWO == 1, "yes", "no"))


def test_a_missing_label_may_be_pandas_na_in_a_run() -> None:
    asked = om.progressive(selective(delta=0.1), X, TWO, chance=LUCK).queried.astype(bool)
    y = TWO.astype(object)
    y[~asked] = pd.NA
    assert om.progressive(selective(delta=0.1), X, y, chance=LUCK).rounds == asked.sum()


def test_metrics_of_labels_that_came_with_none() -> None:
    asked = om.progressive(selective(delta=0.1), X, TWO, chance=LUCK).queried.astype(bool)
    run = om.progressive(selective(delta=0.1), X, np.where(asked, TWO, None), chance=LUCK)
    assert 0 <= run.metrics("f1")["f1"] <= 1


@pytest.mark.parametrize("model", [selective(random_state=0), om.BBQ(**CLASSES)], ids=["sampler", "bbq"])
@pytest.mark.filterwarnings("ignore:.*norm above 1")
def test_an_iterable_of_dicts_is_played_or_refused_in_words(model: Any) -> None:
    try:
        assert om.progressive(model.clone(), zip(DICTS, TWO, strict=True)).rounds == ROWS
    except ValueError as error:
        assert "\n" not in str(error) and "array" in str(error)


def test_the_average_answers_where_it_is_asked_to() -> None:
    def scores(how: str) -> Any:
        model = selective(om.Perceptron(average=True, **CLASSES))
        return om.progressive(model, X, TWO, chance=LUCK, scored_by=how).scores

    assert not np.array_equal(scores("model"), scores("running"))


@pytest.mark.parametrize("count", [5, 400])
def test_too_few_or_too_many_weights_beside_missing_labels(count: int) -> None:
    with pytest.raises(ValueError, match="sample_weight"):
        selective().partial_fit(X, np.where(TWO == 1, 1, np.nan), sample_weight=np.ones(count))


def test_too_many_uniforms() -> None:
    with pytest.raises(ValueError, match="chance"):
        om.progressive(selective(), X, TWO, chance=np.r_[LUCK, LUCK])


@pytest.mark.parametrize("rows", [X[0], X * np.nan], ids=["one row", "NaN"])
def test_bad_rows_before_the_first_label(rows: Any) -> None:
    model = selective(random_state=0)
    with pytest.raises(ValueError):  # noqa: PT011 (scikit-learn's words)
        model.query(rows)


def test_classes_are_known_from_a_first_call_without_labels() -> None:
    model = om.SelectiveSampler(om.Perceptron()).partial_fit(X, np.full(ROWS, np.nan), classes=(0, 1))
    assert model.partial_fit(X, TWO).t_ == ROWS


def test_weights_in_bbqs_kernel_form_are_row_and_label_times_their_root() -> None:
    """The same estimates and widths as with weights of the features; whole weights are repetitions."""
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    h = np.where(np.arange(ROWS) % 5 == 0, 0.0, np.linspace(0.3, 2.5, ROWS))
    plain, spelled = (
        om.BBQ(kernel=kernel, **CLASSES).partial_fit(rows, TWO, sample_weight=h)
        for kernel in (None, "linear")
    )
    assert_allclose(spelled.regress(rows), plain.regress(rows), rtol=1e-9, atol=1e-10)
    assert_allclose(spelled.certainty(rows), plain.certainty(rows), rtol=1e-7)
    runs = [
        om.progressive(om.BBQ(epsilon=0.8, kernel=kernel, **CLASSES), rows, TWO, sample_weight=h)
        for kernel in (None, "linear")
    ]
    assert_array_equal(runs[1].queried, runs[0].queried)
    assert_allclose(runs[1].scores, runs[0].scores, rtol=1e-9, atol=1e-10)
    times = np.arange(ROWS) % 3
    told = {"kernel": "rbf", "gamma": 0.5, **CLASSES}
    weighed = om.BBQ(**told).partial_fit(rows, TWO, sample_weight=times)
    repeated = om.BBQ(**told).partial_fit(np.repeat(rows, times, axis=0), np.repeat(TWO, times))
    assert_allclose(weighed.regress(rows), repeated.regress(rows), rtol=1e-9, atol=1e-10)


def test_weights_in_bbqs_kernel_form_are_kept_in_files(tmp_path: Any) -> None:
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    for h in (np.ones(ROWS), np.linspace(0.3, 2.5, ROWS)):
        model = om.BBQ(kernel="rbf", gamma=0.5, **CLASSES).partial_fit(rows, TWO, sample_weight=h)
        om.save(model, tmp_path / "m.onm")
        twin = om.load(tmp_path / "m.onm")
        for each in (model, twin):
            each.partial_fit(rows[:20], TWO[:20], sample_weight=h[:20])
        assert_array_equal(twin.regress(rows), model.regress(rows))
        assert_array_equal(twin.certainty(rows), model.certainty(rows))


def test_bbqs_questions_and_answers_are_the_run_round_by_round() -> None:
    angles = 2.4 * np.arange(400)
    rows = np.c_[np.cos(angles), np.sin(angles)]
    y = (rows[:, 0] > 0).astype(int)
    run, step = om.progressive(om.BBQ(epsilon=0.8, **CLASSES), rows, y), om.BBQ(epsilon=0.8, **CLASSES)
    for i in range(400):
        assert step.query(rows[i : i + 1])[0] == run.queried[i]
        step.partial_fit(rows[i : i + 1], [y[i] if run.queried[i] else None])


if __name__ == "__main__":
    said = [[answers(model), in_rivers_words(model)] for model in MADE]
    Path(sys.argv[1]).write_text(json.dumps(said))
