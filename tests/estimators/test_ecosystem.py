"""At home in scikit-learn's and River's machinery."""

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import compose, datasets, evaluate, metrics, preprocessing
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onmargin as om

CLASSIFIERS = [
    om.Perceptron,
    om.PassiveAggressiveClassifier,
    om.MIRA,
    om.AROW,
    om.SoftConfidenceWeighted,
    om.SecondOrderPerceptron,
    om.FTRLClassifier,
    om.Pegasos,
]
by_name = {"ids": lambda cls: cls.__name__}


@pytest.mark.parametrize("learner", CLASSIFIERS, **by_name)
def test_pipeline_and_cross_validation(learner):
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), learner(average=True, tol=None, max_iter=3, random_state=0))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.93


def test_pipeline_after_set_output():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for kind in ("pandas", "polars", "default"):
        scaler = StandardScaler().set_output(transform=kind)
        model = make_pipeline(scaler, om.PassiveAggressiveClassifier(tol=None, random_state=0))
        assert model.fit(X, y).score(X, y) > 0.8
        if kind != "default":
            assert model[-1].feature_names_in_.tolist() == X.columns.tolist()


def test_grid_search():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), om.PassiveAggressiveClassifier(tol=None, random_state=0))
    grid = {
        "passiveaggressiveclassifier__C": [1e-4, 1e-2, 1.0],
        "passiveaggressiveclassifier__step": ["pa1", "pa2"],
    }
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert set(search.best_params_) == set(grid)


def test_calibration_gives_probabilities():
    X, y = load_breast_cancer(return_X_y=True)
    model = CalibratedClassifierCV(om.PassiveAggressiveClassifier(C=0.01, tol=None, random_state=0), cv=3)
    chance = model.fit(StandardScaler().fit_transform(X), y).predict_proba(StandardScaler().fit_transform(X))
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert np.mean(chance.argmax(axis=1) == y) > 0.95


def test_clone_and_joblib(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = om.AROW(random_state=0).fit(X, y)
    assert clone(model).get_params() == model.get_params()
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)


def test_text_pipeline_names_its_words():
    texts = ["cheap pills now", "meeting at noon", "cheap offer now", "lunch at noon"] * 5
    labels = ["spam", "ham"] * 10
    words = CountVectorizer()
    model = om.PassiveAggressiveClassifier(tol=None, random_state=0).fit(words.fit_transform(texts), labels)
    assert model.predict(words.transform(["cheap pills"])).tolist() == ["spam"]


def test_frames_of_both_kinds_give_one_model():
    X, y = load_iris(return_X_y=True)
    names = ["a", "b", "c", "d"]
    models = [
        om.MIRA(random_state=0).fit(table, y)
        for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names))
    ]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert models[0].feature_names_in_.tolist() == names
    assert (
        models[1].predict(pd.DataFrame(X, columns=names)).tolist()
        == models[0].predict(pl.DataFrame(X, schema=names)).tolist()
    )


def test_river_pipeline_and_progressive_validation():
    model = preprocessing.StandardScaler() | om.PassiveAggressiveClassifier(C=0.1)
    assert isinstance(model, compose.Pipeline)
    accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert accuracy.get() > 0.85
    assert isinstance(model.clone(), compose.Pipeline)
    number = preprocessing.StandardScaler() | om.PassiveAggressiveRegressor()
    assert evaluate.progressive_val_score(datasets.TrumpApproval(), number, metrics.MAE()).get() < 2


def test_river_clone_fixes_the_entropy():
    first = om.Perceptron(init="random")
    second = first.clone()
    for model in (first, second):
        model.learn_one({"a": 1.0, "b": -2.0}, "x")
    np.testing.assert_array_equal(first.coef_, second.coef_)


def test_top_features_and_explain_name_what_speaks():
    data = load_diabetes(as_frame=True)
    model = om.PassiveAggressiveRegressor(tol=None, random_state=0).fit(data.data, data.target)
    top = model.top_features(3)
    assert top["feature"].isin(data.data.columns).all() and len(top) == 3
    assert (top["weight"].abs().diff().dropna() <= 0).all()
    told = model.explain(data.data.iloc[[0]])
    np.testing.assert_allclose(told["contribution"].sum(), model.predict(data.data.iloc[[0]])[0])

    stream = om.PassiveAggressiveClassifier()
    for word, label in (("good", "yes"), ("bad", "no"), ("fine", "maybe"), ("good", "yes")):
        stream.learn_one({word: 1.0, "the": 1.0}, label)
    told = stream.explain({"good": 1.0, "the": 2.0, "unknown": 5.0})
    scores = told.groupby("class")["contribution"].sum()
    expected = stream.decision_function(pd.DataFrame([{"good": 1.0, "the": 2.0}]))[0]
    np.testing.assert_allclose(scores[stream.classes_].to_numpy(), expected)
    assert set(stream.top_features(1)["class"]) == {"yes", "no", "maybe"}
