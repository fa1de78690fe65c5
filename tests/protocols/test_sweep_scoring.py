"""Sweeps judged by averages, AUC, F1 or the user's own; nested names, pipelines, dicts and rankers."""

from __future__ import annotations

import functools
import io
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as m
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onmargin as om
from onmargin.errors import BadInput
from onmargin.results.scoring import MEASURES, measures

DRAW = np.random.default_rng(4)
X = DRAW.normal(size=(150, 6))
SCORES = X @ DRAW.normal(size=6) + 0.3 + 1.5 * DRAW.normal(size=150)
Y, THREE = (SCORES > 0.8).astype(int), np.digitize(SCORES, [-1.0, 1.0])
QID = np.repeat(np.arange(15), 10)
GRADES = np.digitize(SCORES, [0.0, 2.0])
PA = om.PassiveAggressiveClassifier(average=False, intercept_scaling=1.0)
CS = [0.01, 0.1, 1.0]


def separate(model, result, X, y, **options):
    return [om.progressive(model.clone().set_params(**config), X, y, **options) for config in result.configs]


# ---- averages


@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three"])
def test_scored_by_the_model_is_separate_runs_scored_so(y):
    model = om.PassiveAggressiveClassifier(average=True)
    result = om.sweep(model, {"C": CS}, X, y, scored_by="model")
    runs = separate(model, result, X, y, scored_by="model")
    assert [row["mistakes"] for row in result.rows] == [run.mistakes for run in runs]
    assert [row["mistakes"] for row in om.sweep(model, {"C": CS}, X, y).rows] != [
        run.mistakes for run in runs
    ]
    for number, run in enumerate(runs):
        np.testing.assert_array_equal(result.model(number).coef_, run.model.coef_)


def test_scored_by_the_model_shares_lanes_where_there_is_no_average():
    result = om.sweep(PA, {"C": CS}, X, Y, scored_by="model")
    assert result.in_lanes == 3 and result.rows == om.sweep(PA, {"C": CS}, X, Y).rows
    assert om.sweep(PA.clone({"average": True}), {"C": CS}, X, Y, scored_by="model").in_lanes == 0


@pytest.mark.parametrize("scored_by", ["running", "model"])
def test_a_grid_of_averages_is_scored_as_each_answers(scored_by):
    grid = {"average": [False, True], "C": [0.5, 1.0, 10.0]}  # steps too long for one vector to answer well
    result = om.sweep(PA, grid, X, Y, scored_by=scored_by)
    runs = separate(PA, result, X, Y, scored_by="model")
    assert [row["error_rate"] for row in result.rows] == [run.error_rate for run in runs]
    by_average = {
        average: [row["error_rate"] for row in result.rows if row["average"] is average]
        for average in (False, True)
    }
    assert by_average[False] != by_average[True]
    assert result.best_params["average"] is True and result.in_lanes == 3


def test_shares_of_an_average_differ_too():
    result = om.sweep(om.Pegasos(lam=0.01), {"average": [True, 0.1]}, X, Y)
    runs = separate(om.Pegasos(lam=0.01), result, X, Y, scored_by="model")
    assert [row["error_rate"] for row in result.rows] == [run.error_rate for run in runs]
    assert runs[0].mistakes != runs[1].mistakes


# ---- measures


def own_f1(y_true, y_pred):
    return m.f1_score(y_true, y_pred)


def own_area(y_true, y_score):
    return m.roc_auc_score(y_true, y_score)


@pytest.mark.parametrize("name", ["auc", "f1", "accuracy", "balanced_accuracy"])
def test_a_measure_by_name_is_that_of_separate_runs(name):
    result = om.sweep(PA, {"C": CS, "class_weight": [None, "balanced"]}, X, Y, scoring=name)
    wanted = [run.metrics(name)[name] for run in separate(PA, result, X, Y)]
    assert [row[name] for row in result.rows] == wanted and result.criterion == name
    assert wanted[result.best_index] == max(wanted) and result.greater_is_better
    assert result.table[name].tolist() == wanted and "error_rate" in result.table
    assert f"{name} {max(wanted):.4f}" in repr(result)


@pytest.mark.parametrize("own, name", [(own_f1, "f1"), (own_area, "auc")], ids=["predictions", "scores"])
def test_a_function_is_given_what_its_second_parameter_is_called(own, name):
    result, known = (om.sweep(PA, {"C": CS}, X, Y, scoring=scoring) for scoring in (own, name))
    assert result.criterion == own.__name__
    np.testing.assert_allclose([row[own.__name__] for row in result.rows], [row[name] for row in known.rows])
    assert result.best_params == known.best_params


def test_functions_of_scikit_learns_partials_and_lambdas():
    kappa = om.sweep(PA, {"C": CS}, X, THREE, scoring=m.cohen_kappa_score)
    runs = separate(PA, kappa, X, THREE)
    wanted = [m.cohen_kappa_score(THREE, run.predictions) for run in runs]
    assert [row["cohen_kappa_score"] for row in kappa.rows] == pytest.approx(wanted)
    second = om.sweep(PA, {"C": CS}, X, Y, scoring=functools.partial(m.fbeta_score, beta=2))
    assert second.criterion == "fbeta_score"
    assert om.sweep(PA, {"C": CS}, X, Y, scoring=lambda y, p: np.mean(y == p)).criterion == "score"
    clash = om.sweep(PA, {"C": CS}, X, Y, scoring=make_named("mistakes"))
    assert clash.criterion == "score" and clash.rows[0]["mistakes"] > 1


def make_named(name):
    def function(y_true, y_pred):
        return 1.0

    function.__name__ = name
    return function


def test_measures_of_numbers_and_sets_and_those_that_are_better_small():
    number = om.sweep(om.PassiveAggressiveRegressor(), {"C": CS}, X, SCORES, scoring="rmse")
    assert not number.greater_is_better and number.in_lanes == 0 and "mae" in number.rows[0]
    assert number.best_index == int(np.argmin([row["rmse"] for row in number.rows]))
    marks = np.c_[Y, 1 - Y, X[:, 0] > 0].astype(int)
    sets = om.sweep(PA, {"C": CS}, X, marks, scoring="ranking_loss")
    assert sets.best_index == int(np.argmin([row["ranking_loss"] for row in sets.rows]))
    figure = om.sweep(PA, {"C": CS, "step": ["pa1", "pa2"]}, X, Y, scoring="auc").plot()
    assert figure.axes[0].get_ylabel() == "auc, online"


def test_the_names_known_are_those_of_progress():
    """One table says which measures there are; every run has some of them, and no other."""
    marks, found = np.c_[Y, 1 - Y, X[:, 0] > 0].astype(int), set()
    for y in (Y, THREE, marks):
        found |= set(measures(om.progressive(PA.clone(), X, y)))
    assert found == set(MEASURES["labels"])
    numbers = om.progressive(om.PassiveAggressiveRegressor(), X, SCORES)
    assert list(measures(numbers)) == list(MEASURES["numbers"])


REFUSED = {
    "unknown": ("roc", "scoring='roc'; wanted one of error_rate, accuracy, balanced_accuracy, f1, auc"),
    "a number": (3, "scoring=3; wanted one of"),
    "not of classes": ("mae", "scoring='mae'; wanted one of error_rate"),
    "a function of three": (lambda model, X, y: 0.0, r"score\(model, X, y\); wanted a function of two"),
    "a scorer": (m.make_scorer(m.f1_score), "wanted a function of two"),
    "not of this run": ("auc_all_pairs", "no metric 'auc_all_pairs' for this run; there are accuracy"),
    "no number": (lambda y, p: "good", "returned 'good'; wanted one number"),
    "many numbers": (lambda y, p: np.zeros(3), "wanted one number"),
}


@pytest.mark.parametrize("scoring, said", REFUSED.values(), ids=REFUSED)
def test_a_scoring_that_cannot_be_is_refused_in_one_line(scoring, said):
    model = PA.clone().partial_fit(X, Y, classes=[0, 1])
    before = model.coef_.copy()
    with pytest.raises(BadInput, match=said) as caught:
        om.sweep(model, {"C": CS}, X, Y, scoring=scoring)
    assert "\n" not in str(caught.value)
    assert (model.coef_ == before).all() and model.t_ == 150


def test_scored_by_what_there_is_not():
    with pytest.raises(BadInput, match="scored_by='median'; wanted 'running' or 'model'"):
        om.sweep(PA, {"C": CS}, X, Y, scored_by="median")


def test_a_run_that_diverges_is_out_whatever_the_measure():
    model = om.FTRLClassifier(loss="exponential")
    with np.errstate(all="ignore"):
        result = om.sweep(model, {"rate": [1e300, 1e-3]}, X, Y, scoring="auc", threads=1)
    assert np.isnan(result.rows[0]["auc"]) and result.best_params == {"rate": 1e-3}


# ---- learners inside others


def test_nested_names_reach_the_learner_inside():
    sampler = om.SelectiveSampler(om.PassiveAggressiveClassifier(), random_state=0)
    grid = {"estimator__C": CS, "delta": [0.1, 10.0]}
    result = om.sweep(sampler, grid, X, Y, scoring="f1")
    for number, config in enumerate(result.configs):
        run = om.progressive(sampler.clone().set_params(**config), X, Y)
        assert result.rows[number]["f1"] == run.metrics("f1")["f1"]
        assert result.model(number).estimator.C == config["estimator__C"]
        np.testing.assert_array_equal(result.model(number).coef_, run.model.coef_)
    assert sampler.estimator.C == 1.0  # the given one is as it was
    averages = om.sweep(sampler, {"estimator__average": [False, True]}, X, Y)
    assert averages.rows[0]["mistakes"] != averages.rows[1]["mistakes"]


def test_a_sampler_of_dicts_keeps_no_scores_and_is_judged_by_its_answers():
    sampler = om.SelectiveSampler(om.PassiveAggressiveClassifier(), random_state=0)
    stream = list(zip(ROWS, Y.tolist(), strict=True))
    result = om.sweep(sampler, {"estimator__C": CS}, stream, scoring="f1")
    run = om.progressive(sampler.clone().set_params(estimator__C=CS[0]), stream)
    assert result.rows[0]["f1"] == run.metrics("f1")["f1"]
    with pytest.raises(BadInput, match="no metric 'auc' for this run; there are accuracy"):
        om.sweep(sampler, {"estimator__C": CS}, stream, scoring="auc")


def test_learners_in_a_grid_stay_as_they_are():
    given = [om.Perceptron(average=False), om.PassiveAggressiveClassifier(average=False)]
    sampler = om.SelectiveSampler(om.Perceptron(), random_state=0)
    result = om.sweep(sampler, {"estimator": given, "estimator__average": [True]}, X, Y)
    assert len(result.rows) == 2 and not any(learner.average for learner in given)
    assert type(result.model(1).estimator) is om.PassiveAggressiveClassifier
    each = [{"estimator": given[1:], "estimator__C": CS}, {"estimator": [om.AROW()], "estimator__r": [0.1]}]
    assert [type(om.sweep(sampler, each, X, Y).model(k).estimator) for k in (2, 3)] == [
        type(given[1]),
        om.AROW,
    ]
    for wrong, said in (
        ([given[1], om.AROW()], "AROW has no parameter 'C'"),
        ([om.AROW()], "'estimator__C'"),
    ):
        with pytest.raises(BadInput, match=said) as caught:
            om.sweep(sampler, {"estimator": wrong, "estimator__C": [1.0]}, X, Y)
        assert "\n" not in str(caught.value)


TEXTS = ["cheap pills now", "meeting at noon", "cheap offer", "lunch at noon", "now or never", "noon"] * 8
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"] * 8


def test_a_pipeline_of_texts():
    pipeline = make_pipeline(TfidfVectorizer(), om.PassiveAggressiveClassifier())
    grid = {"passiveaggressiveclassifier__C": CS, "tfidfvectorizer__sublinear_tf": [False, True]}
    result = om.sweep(pipeline, grid, TEXTS, LABELS)
    assert result.in_lanes == 6 and len(result.rows) == 6
    for number, config in enumerate(result.configs):
        words = TfidfVectorizer(sublinear_tf=config["tfidfvectorizer__sublinear_tf"])
        model = om.PassiveAggressiveClassifier(C=config["passiveaggressiveclassifier__C"])
        run = om.progressive(model, words.fit_transform(TEXTS), LABELS)
        assert result.rows[number]["mistakes"] == run.mistakes
        made = result.model(number)
        np.testing.assert_allclose(made[-1].coef_, model.coef_, rtol=1e-12, atol=1e-15)
        assert made.get_params()["tfidfvectorizer__sublinear_tf"] is words.sublinear_tf
    best = result.best_model
    assert best.predict(["cheap pills"]).tolist() == ["spam"] and set(best[0].vocabulary_) == set(
        words.vocabulary_
    )
    assert not hasattr(pipeline[0], "vocabulary_") and not hasattr(pipeline[-1], "classes_")


def test_pipelines_of_numbers_of_one_step_and_around_a_sampler():
    scaled = StandardScaler().fit_transform(X)
    result = om.sweep(make_pipeline(StandardScaler(), PA), {"passiveaggressiveclassifier__C": CS}, X, Y)
    assert [row["mistakes"] for row in result.rows] == [
        row["mistakes"] for row in om.sweep(PA, {"C": CS}, scaled, Y).rows
    ]
    alone = om.sweep(make_pipeline(PA), {"passiveaggressiveclassifier__C": CS}, X, Y, scoring="auc")
    assert [row["auc"] for row in alone.rows] == [
        row["auc"] for row in om.sweep(PA, {"C": CS}, X, Y, scoring="auc").rows
    ]
    assert alone.best_model.predict(X[:2]).shape == (2,)
    sampler = om.SelectiveSampler(om.PassiveAggressiveClassifier(), random_state=0)
    nested = om.sweep(make_pipeline(StandardScaler(), sampler), {"selectivesampler__estimator__C": CS}, X, Y)
    assert [row["mistakes"] for row in nested.rows] == [
        row["mistakes"] for row in om.sweep(sampler, {"estimator__C": CS}, scaled, Y).rows
    ]


def test_a_bar_over_a_pipeline_ends_once(monkeypatch):
    monkeypatch.setattr(sys, "stderr", shown := io.StringIO())
    grid = {"passiveaggressiveclassifier__C": CS, "standardscaler__with_mean": [False, True]}
    om.sweep(make_pipeline(StandardScaler(), PA), grid, X, Y, verbose=1)
    assert shown.getvalue().count("\n") == 1 and shown.getvalue().endswith("100%\n")


PIPELINE = make_pipeline(CountVectorizer(), PA)


@pytest.mark.parametrize(
    "grid, given, said",
    [({"C": CS}, (TEXTS, LABELS), "Pipeline has no parameter 'C'; the grid may have countvectorizer__"),
     ({"passiveaggressiveclassifier": [PA]}, (TEXTS, LABELS), "has no parameter 'passiveaggressive"),
     ({"passiveaggressiveclassifier__C": [-1.0, 1.0]}, (TEXTS, LABELS), "C=-1.0"),
     ({"passiveaggressiveclassifier__C": CS}, (TEXTS,), "got list; wanted a table X"),
     ({}, (TEXTS, LABELS), "is empty; wanted at least one parameter")],
    ids=["not nested", "the step itself", "a bad value", "no y", "empty"],
)  # fmt: skip
def test_grids_of_pipelines_that_cannot_be(grid, given, said):
    with pytest.raises(BadInput, match=said) as caught:
        om.sweep(PIPELINE, grid, *given)
    assert "\n" not in str(caught.value) and not hasattr(PIPELINE[0], "vocabulary_")


def test_a_pipeline_that_ends_in_anothers_learner_is_refused():
    with pytest.raises(BadInput, match="wanted a learner of this library, or a Pipeline that ends in one"):
        om.sweep(make_pipeline(PA, StandardScaler()), {"standardscaler__with_mean": [True]}, X, Y)


# ---- dicts

ROWS = [{f"f{k}": value for k, value in enumerate(row)} for row in X.tolist()]


@pytest.mark.parametrize(
    "model, y", [(PA, Y), (PA, THREE), (om.PassiveAggressiveRegressor(), SCORES)], ids=str
)
def test_an_iterable_of_dicts_is_separate_runs(model, y):
    y = y.tolist()
    result = om.sweep(model, {"C": CS}, zip(ROWS, y, strict=True))  # read once
    runs = [om.progressive(model.clone().set_params(**c), zip(ROWS, y, strict=True)) for c in result.configs]
    assert result.in_lanes == 0
    for number, run in enumerate(runs):
        row = result.rows[number]
        assert (row["rounds"], row["mistakes"], row["updates"]) == (run.rounds, run.mistakes, run.updates)
        if run.kind == "numbers":
            assert row["mae"] == run.metrics("mae")["mae"]
        np.testing.assert_array_equal(result.model(number).coef_, run.model.coef_)
        assert result.model(number).predict_one(ROWS[0]) == run.model.predict_one(ROWS[0])


def test_weights_averages_and_measures_of_dicts():
    weights = (np.arange(150) % 3).tolist()
    examples = list(zip(ROWS, Y.tolist(), weights, strict=True))
    result = om.sweep(PA, {"average": [False, True], "C": CS}, iter(examples), scoring="auc")
    for number, config in enumerate(result.configs):
        run = om.progressive(PA.clone().set_params(**config), examples, scored_by="model")
        assert result.rows[number]["auc"] == run.metrics("auc")["auc"]


def test_a_dict_that_its_maker_fills_again_and_again():
    def stream():
        one = {}
        for row, label in zip(ROWS, Y.tolist(), strict=True):
            one.update(row)
            yield one, label

    result = om.sweep(PA, {"C": CS}, stream())
    assert result.rows == om.sweep(PA, {"C": CS}, zip(ROWS, Y.tolist(), strict=True)).rows


BAD_STREAMS = {
    "empty": ([], {}, "the iterable is empty"),
    "no pairs": ([1, 2], {}, "example 0 is 1; wanted"),
    "no dict": ([([1.0], 1)], {}, "example 0 is"),
    "four": ([({"a": 1.0}, 1, 1.0, 2)], {}, "example 0 is"),
    "dicts alone": ([{"a": 1.0}], {}, "give pairs instead"),
    "a text": ("abc", {}, "got str; wanted a table X"),
    "nothing": (None, {}, "got NoneType; wanted a table X"),
    "weights": ([({"a": 1.0}, 1)], {"sample_weight": [1.0]}, "carries its own weights"),
    "a bad value": ([({"a": np.nan}, 1)], {}, "a"),
    "qid": ([({"a": 1.0}, 1)], {"qid": [1]}, "qid= is for rankers"),
}


@pytest.mark.parametrize("examples, given, said", BAD_STREAMS.values(), ids=BAD_STREAMS)
def test_streams_that_cannot_be_read_are_refused_in_one_line(examples, given, said):
    with pytest.raises(BadInput, match=said) as caught:
        om.sweep(PA, {"C": CS}, examples, **given)
    assert "\n" not in str(caught.value)


# ---- groups


def by_hand(model, X, y, qid):
    """Each query scored by its model, then learned, in order of appearance."""
    scores = np.zeros(len(y))
    for query in dict.fromkeys(np.asarray(qid).tolist()):
        rows = np.flatnonzero(np.asarray(qid) == query)
        if hasattr(model, "coef_"):
            scores[rows] = model.decision_function(X[rows])
        model.partial_fit(X[rows], y[rows], qid[rows])
    return scores


@pytest.mark.parametrize("rule", ["auc", "max_violators"])
def test_rankers_answer_each_query_and_then_learn_it(rule):
    model = om.PairedRanker(rule=rule, random_state=0)
    mixed = np.random.default_rng(0).permutation(150)  # the rows of a query need not lie together
    table, grades, qid = X[mixed], GRADES[mixed], QID[mixed]
    result = om.sweep(model, {"C": CS, "average": [False, True]}, table, grades, qid=qid)
    assert result.criterion == "ndcg" and result.greater_is_better
    assert list(result.table)[2:] == ["rounds", "updates", "mean_loss", "ndcg"]
    for number, config in enumerate(result.configs):
        other = model.clone().set_params(**config)
        scores = by_hand(other, table, grades, qid)
        assert result.rows[number]["ndcg"] == pytest.approx(
            om.metrics.ndcg(grades, scores, qid=qid), rel=1e-12
        )
        np.testing.assert_array_equal(result.model(number).coef_, other.coef_)
        assert result.model(number).t_ == other.t_ == result.rows[number]["rounds"]
    running = om.sweep(model.clone({"average": True}), {"C": CS}, table, grades, qid=qid)
    plain = [row["ndcg"] for row in result.rows if not row["average"]]
    assert [row["ndcg"] for row in running.rows] == pytest.approx(plain)  # by the weights of the round


def test_measures_of_ranks_and_a_function_of_each_query():
    model, two = om.PairedRanker(random_state=0), (GRADES > 0).astype(int)
    result = om.sweep(model, {"C": CS}, X, two, qid=QID, scoring="auc")

    def area(y_true, y_score):
        return m.roc_auc_score(y_true, y_score)

    own = om.sweep(model, {"C": CS}, X, two, qid=QID, scoring=area)
    np.testing.assert_allclose([row["area"] for row in own.rows], [row["auc"] for row in result.rows])
    bored = om.sweep(model, {"C": CS}, X, np.where(QID < 4, 1, two), qid=QID).best_model
    assert bored.n_skipped_ == 4


def test_candidates_are_judged_by_those_missed():
    chosen = np.zeros(150)
    chosen[SCORES.reshape(15, 10).argmax(axis=1) + 10 * np.arange(15)] = 1
    model = om.CandidateClassifier(random_state=0)
    result = om.sweep(model, {"C": CS}, X, chosen, qid=QID)
    assert result.criterion == "one_error"
    for number, config in enumerate(result.configs):
        scores = by_hand(other := model.clone().set_params(**config), X, chosen, QID)
        assert result.rows[number]["one_error"] == om.metrics.one_error(chosen, scores, qid=QID)
        np.testing.assert_array_equal(result.model(number).coef_, other.coef_)


def test_groups_that_cannot_be():
    model = om.PairedRanker(random_state=0)
    for given, said in (
        ({}, "PairedRanker wants X, y and qid="),
        ({"qid": QID, "sample_weight": np.ones(150)}, "no weights"),
        ({"qid": QID[:5]}, "qid has shape"),
        ({"qid": QID, "scoring": "f1"}, "scoring='f1'; wanted one of ndcg"),
    ):
        with pytest.raises(BadInput, match=said) as caught:
            om.sweep(model, {"C": CS}, X, GRADES, **given)
        assert "\n" not in str(caught.value)
    broken = X.copy()
    broken[77, 2] = np.nan
    with pytest.raises(BadInput, match="row 77 has a NaN"):
        om.sweep(model, {"C": CS}, broken, GRADES, qid=QID)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    best = om.sweep(model, {"C": CS}, frame, GRADES, qid=QID).best_model
    assert best.feature_names_in_.tolist() == list("abcdef")
