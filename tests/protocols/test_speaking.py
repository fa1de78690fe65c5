"""Features by their names: given, or found through a Pipeline."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import onmargin as om
from onmargin.errors import BadInput

TEXTS = ["cheap pills now", "meeting at noon", "cheap offer now", "lunch at noon"] * 5
LABELS = ["spam", "ham"] * 10


def learner(**given):
    return om.PassiveAggressiveClassifier(tol=None, random_state=0, **given)


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(CountVectorizer(), learner()).fit(TEXTS, LABELS)


def test_names_may_be_given_as_a_list_or_by_what_made_the_columns(pipeline):
    words, model = pipeline[0], pipeline[-1]
    numbered = model.top_features(4)
    names = words.get_feature_names_out()
    wanted = numbered.assign(feature=[names[int(str(name).lstrip("x"))] for name in numbered["feature"]])
    for given in (names, list(names), words, pipeline[:-1], pd.Index(names)):
        pd.testing.assert_frame_equal(model.top_features(4, feature_names=given), wanted)
    assert {type(name) for name in model.top_features(4, names)["feature"]} == {str}
    told = model.explain(words.transform(["cheap lunch"]), feature_names=names)
    assert set(told["feature"]) == {"cheap", "lunch", "(intercept)"}
    assert told["contribution"].sum() == pytest.approx(pipeline.decision_function(["cheap lunch"])[0])
    said = model.explain({"cheap": 1.0, "lunch": 1.0, "never met": 1.0}, feature_names=names)
    pd.testing.assert_frame_equal(said, told)


def test_a_pipeline_names_its_words_and_explains_a_text(pipeline):
    wanted = pipeline[-1].top_features(3, pipeline[:-1])
    pd.testing.assert_frame_equal(om.top_features(pipeline, 3), wanted)
    told = om.explain(pipeline, "cheap lunch")
    pd.testing.assert_frame_equal(told, om.explain(pipeline, ["cheap lunch"]))
    assert told["contribution"].sum() == pytest.approx(pipeline.decision_function(["cheap lunch"])[0])
    assert len(om.explain(pipeline, "cheap lunch", k=1)) == 1
    other = [f"word {k}" for k in range(len(pipeline[0].vocabulary_))]
    assert om.top_features(pipeline, 1, feature_names=other)["feature"][0].startswith("word ")


def test_numbers_frames_searches_and_samplers():
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target
    plain = make_pipeline(StandardScaler(), learner()).fit(X, y)
    assert om.top_features(plain, 5)["feature"].isin(X.columns).all()
    framed = make_pipeline(StandardScaler().set_output(transform="pandas"), learner()).fit(X, y)
    pd.testing.assert_frame_equal(om.top_features(plain, 5), om.top_features(framed, 5))
    for one in (X.iloc[[3]], X.iloc[3:4]):
        told = om.explain(plain, one)
        assert told["contribution"].sum() == pytest.approx(plain.decision_function(X.iloc[[3]])[0])
    bare = make_pipeline(StandardScaler(), learner()).fit(X.to_numpy(), y)
    for one in (X.to_numpy()[3], X.to_numpy()[3].tolist(), X.to_numpy()[[3]]):
        pd.testing.assert_frame_equal(
            om.explain(bare, one, feature_names=list(X.columns)), om.explain(plain, X.iloc[[3]])
        )
    search = GridSearchCV(plain, {"passiveaggressiveclassifier__C": [0.01, 1.0]}, cv=2).fit(X, y)
    pd.testing.assert_frame_equal(om.top_features(search, 5), om.top_features(search.best_estimator_, 5))
    asking = make_pipeline(StandardScaler(), om.SelectiveSampler(learner(), random_state=0)).fit(X, y)
    assert om.top_features(asking, 5)["feature"].isin(X.columns).all()


def test_steps_without_names_leave_numbers_and_a_model_of_dicts_its_own():
    hashed = make_pipeline(HashingVectorizer(n_features=32), learner()).fit(TEXTS, LABELS)
    pd.testing.assert_frame_equal(om.top_features(hashed, 3), hashed[-1].top_features(3))
    model = learner()
    model.learn_one({"cheap": 1.0}, "spam")
    model.learn_one({"noon": 1.0}, "ham")
    assert set(om.top_features(model, 2)["feature"]) == {"cheap", "noon"}
    assert om.explain(model, {"cheap": 2.0})["feature"].tolist()[0] in ("cheap", "(intercept)")


def test_kernels_speak_by_their_vectors():
    model = make_pipeline(TfidfVectorizer(), om.Perceptron(kernel="rbf", random_state=0)).fit(TEXTS, LABELS)
    assert "support" in om.explain(model, "cheap lunch").columns


REFUSED = {
    "too few": (["a", "b"], "feature_names has 2 names; wanted one name for each of the 8"),
    "a text": ("abcdefgh", "feature_names='abcdefgh'; wanted one name"),
    "a number": (8, "feature_names=8; wanted one name"),
    "one twice": (list("abcdefga"), "feature_names has 'a' more than once"),
}


@pytest.mark.parametrize("names, said", REFUSED.values(), ids=REFUSED)
def test_names_that_do_not_fit_are_refused(pipeline, names, said):
    for call in (
        lambda: pipeline[-1].top_features(3, names),
        lambda: om.top_features(pipeline, feature_names=names),
        lambda: om.explain(pipeline, "cheap", feature_names=names),
    ):
        with pytest.raises(BadInput, match=said) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [None, LinearSVC(), make_pipeline(StandardScaler()), om.Perceptron], ids=str
)
def test_what_is_no_learner_is_refused(wrong):
    with pytest.raises(BadInput, match="wanted a learner of this library, or a Pipeline"):
        om.top_features(wrong)


def test_before_learning_there_is_nothing_to_say():
    with pytest.raises(NotFittedError):
        om.top_features(make_pipeline(CountVectorizer(), learner()))
    with pytest.raises(NotFittedError):
        om.explain(om.Perceptron(), np.ones(3))
