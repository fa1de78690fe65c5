"""Pipelines of known steps are saved whole, without pickle; all else, and every forgery, is refused."""

from __future__ import annotations

import copy
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

import onmargin as om
from onmargin.errors import BadFile, BadInput
from onmargin.protocols.saving import container

WORDS = ["ball", "goal", "vote", "law", "Über", "naïve", "team", "court", "match", "tax"]
draw = np.random.default_rng(5)
TEXTS = [" ".join(draw.choice(WORDS, 6).tolist()) for _ in range(80)]
LABELS = ["sport" if ("ball" in text) + ("goal" in text) + ("team" in text) > 1 else "law" for text in TEXTS]
TABLE = draw.normal(size=(80, 4)) * [1.0, 50.0, 1e-3, 7.0] + [3.0, -20.0, 0.0, 1.0]
CLASSES = (TABLE[:, 1] > -20).astype(int)


def learner(**more):
    return om.PassiveAggressiveClassifier(**({"random_state": 0, "tol": None, "max_iter": 2} | more))


TEXT = {
    "counts": lambda: [CountVectorizer()],
    "counts, limited": lambda: [CountVectorizer(max_features=5, ngram_range=(1, 2), min_df=2, max_df=0.9)],
    "counts, scaled": lambda: [CountVectorizer(dtype=np.float32, binary=True), MaxAbsScaler()],
    "characters": lambda: [CountVectorizer(analyzer="char_wb", ngram_range=(2, 3), strip_accents="unicode")],
    "stop words": lambda: [CountVectorizer(stop_words=["ball"]), Normalizer("l1")],
    "a set of words": lambda: [CountVectorizer(vocabulary=frozenset({"tax", "law", "ball"}))],
    "own words": lambda: [CountVectorizer(vocabulary=["goal", "ball", "law"])],
    "own columns": lambda: [TfidfVectorizer(vocabulary={"goal": 1, "ball": 0}, token_pattern=r"\w+")],
    "tf-idf": lambda: [TfidfVectorizer(sublinear_tf=True, lowercase=False)],
    "tf": lambda: [TfidfVectorizer(use_idf=False, norm="l1")],
    "counts and tf-idf": lambda: [CountVectorizer(), TfidfTransformer(smooth_idf=False)],
    "hashes": lambda: [HashingVectorizer(n_features=64, alternate_sign=False)],
    "hashes and tf-idf": lambda: [HashingVectorizer(n_features=64), TfidfTransformer(), "passthrough"],
}  # fmt: skip
NUMBERS = {
    "standard": lambda: [StandardScaler()],
    "standard, no mean": lambda: [StandardScaler(with_mean=False)],
    "standard, nothing": lambda: [StandardScaler(with_mean=False, with_std=False)],
    "standard, float32": lambda: [StandardScaler()],
    "largest": lambda: [MaxAbsScaler()],
    "range": lambda: [MinMaxScaler(feature_range=(-1, 2), clip=True)],
    "all": lambda: [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), Normalizer("max")],
}


def of(name):
    """A fitted pipeline, and what it is asked."""
    steps = (TEXT | NUMBERS)[name]()
    X = np.array(TEXTS, object) if name in TEXT else TABLE
    if "float32" in name:
        X = TABLE.astype(np.float32)
    y = LABELS if name in TEXT else CLASSES
    return make_pipeline(*steps, learner()).fit(X[:50], y[:50]), X[50:], y[50:]


def saved(model, path):
    om.save(model, path / "m.onm")
    return om.load(path / "m.onm")


def step_parameters(step):
    return {name: (type(value), value) for name, value in step.get_params(deep=False).items()}


def transformed(model, X):
    for _, step in model.steps[:-1]:
        X = X if isinstance(step, str) else step.transform(X)
    return X


@pytest.mark.parametrize("name", [*TEXT, *NUMBERS])
def test_a_loaded_pipeline_answers_and_goes_on_bit_for_bit(name, tmp_path):
    model, X, y = of(name)
    twin = saved(model, tmp_path)
    assert type(twin) is Pipeline and list(twin.named_steps) == list(model.named_steps)
    for one, other in zip(model.named_steps.values(), twin.named_steps.values(), strict=True):
        assert type(one) is type(other)
        if not isinstance(one, str):
            assert step_parameters(one) == step_parameters(other)
    np.testing.assert_array_equal(model.decision_function(X), twin.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    for one in (model, twin):
        one[-1].partial_fit(transformed(one, X), y)
    np.testing.assert_array_equal(model[-1].coef_, twin[-1].coef_)
    for one, other in zip(model[:-1], twin[:-1], strict=True):
        if hasattr(one, "partial_fit") and name in NUMBERS:  # scalers go on too
            np.testing.assert_array_equal(one.partial_fit(X).transform(X), other.partial_fit(X).transform(X))
        if hasattr(one, "vocabulary_"):
            assert one.vocabulary_ == other.vocabulary_ and list(one.vocabulary_) == list(other.vocabulary_)
            assert one.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()


def test_the_same_pipeline_is_the_same_bytes_and_pickle_is_not_there(tmp_path):
    model, *_ = of("tf-idf")
    om.save(model, tmp_path / "a.onm"), om.save(copy.deepcopy(model), tmp_path / "b.onm")
    data = (tmp_path / "a.onm").read_bytes()
    assert data == (tmp_path / "b.onm").read_bytes() and b"sklearn" not in data


def test_frames_names_and_outputs_are_kept(tmp_path):
    frame = pd.DataFrame(TABLE, columns=list("abcd"))
    model = make_pipeline(StandardScaler(), learner()).set_output(transform="pandas").fit(frame, CLASSES)
    twin = saved(model, tmp_path)
    assert twin[0].feature_names_in_.tolist() == list("abcd")
    assert isinstance(twin[0].transform(frame), pd.DataFrame)
    np.testing.assert_array_equal(twin.decision_function(frame), model.decision_function(frame))


@pytest.mark.parametrize("last", [
    lambda: om.SelectiveSampler(om.PassiveAggressiveClassifier(), random_state=0),
    lambda: om.Perceptron(kernel="rbf", gamma=0.5, random_state=0),
], ids=["sampler", "kernel"])  # fmt: skip
def test_any_learner_of_ours_may_be_the_last(last, tmp_path):
    model = make_pipeline(StandardScaler(), last()).fit(TABLE, CLASSES)
    twin = saved(model, tmp_path)
    np.testing.assert_array_equal(model.predict(TABLE), twin.predict(TABLE))


def test_what_was_not_fitted_may_be_kept(tmp_path):
    model = make_pipeline(TfidfVectorizer(min_df=2), MaxAbsScaler(), learner(C=0.5))
    twin = saved(model, tmp_path)
    assert twin[0].min_df == 2 and twin[-1].C == 0.5
    for one in (model, twin):
        one.fit(TEXTS, LABELS)
    np.testing.assert_array_equal(twin[-1].coef_, model[-1].coef_)


def test_a_users_own_functions_in_the_last_come_back_through_parts(tmp_path):
    def cubed(margin, required):
        gap = max(required - margin, 0.0)
        return gap**3, 3.0 * gap**2

    recipe = om.Recipe(loss=cubed, step="sqrt")
    om.save(make_pipeline(StandardScaler(), om.OnlineClassifier(recipe)), tmp_path / "m.onm")
    assert om.load(tmp_path / "m.onm", parts={"cubed": cubed})[-1].recipe == recipe
    with pytest.raises(BadInput, match="parts="):
        om.load(tmp_path / "m.onm")


# ---- what is refused


class MyScaler(StandardScaler):
    """Might do anything."""


class MyPipeline(Pipeline):
    """Might do anything."""


def strange():
    model, *_ = of("counts")
    model[0].build_analyzer = lambda: str.split
    return model


def widths():
    model, *_ = of("counts")
    model[0].fit(["other words here"])
    return model


REFUSED = {
    "another step": (lambda: make_pipeline(PCA(), learner()), "PCA"),
    "a selection": (lambda: make_pipeline(StandardScaler(), SelectKBest(), learner()), "SelectKBest"),
    "a function": (lambda: make_pipeline(FunctionTransformer(np.log), learner()), "FunctionTransformer"),
    "a subclass": (lambda: make_pipeline(MyScaler(), learner()), "MyScaler"),
    "another pipeline": (lambda: make_pipeline(make_pipeline(StandardScaler()), learner()), "Pipeline"),
    "a subclass of a pipeline": (lambda: MyPipeline([("a", learner())]), "MyPipeline"),
    "an analyzer": (lambda: make_pipeline(CountVectorizer(analyzer=str.split), learner()), "analyzer"),
    "a tokenizer": (lambda: make_pipeline(TfidfVectorizer(tokenizer=str.split), learner()), "tokenizer"),
    "a preprocessor": (lambda: make_pipeline(HashingVectorizer(preprocessor=str), learner()), "preprocessor"),
    "no pattern": (lambda: make_pipeline(CountVectorizer(token_pattern="("), learner()), "token_pattern"),
    "objects": (lambda: make_pipeline(CountVectorizer(dtype=object), learner()), "dtype"),
    "a cache of pickles": (lambda: make_pipeline(StandardScaler(), learner(), memory="cache"), "memory"),
    "an attribute of the user's": (strange, "build_analyzer"),
    "steps that do not fit": (widths, "fit them together"),
    "another learner": (lambda: make_pipeline(StandardScaler(), TheirPerceptron()), "Perceptron"),
    "no learner": (lambda: make_pipeline(StandardScaler()), "StandardScaler"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_everything_else_is_refused_by_name(what, tmp_path):
    made, said = REFUSED[what]
    with pytest.raises(BadInput) as error:
        om.save(made(), tmp_path / "m.onm")
    assert said in str(error.value) and "\n" not in str(error.value) and not any(tmp_path.iterdir())


def step(number, *place, to):
    def change(facts, arrays):
        inner = facts["around"]["steps"][number]
        for name in place[:-1]:
            inner = inner[name]
        inner[place[-1]] = to

    return change


def around(name, to):
    def change(facts, arrays):
        facts["around"][name] = to

    return change


def array(name, change):
    def forge(facts, arrays):
        arrays[name] = change(arrays[name].copy())

    return forge


def at(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def without_mean(facts, arrays):
    facts["around"]["steps"][0]["found"].pop("mean_"), arrays.pop("step.0.mean_")


FORGERIES = {
    "a column beyond": ("tf-idf", array("step.0.vocabulary_", at(0, 10**6))),
    "a column below 0": ("tf-idf", array("step.0.vocabulary_", at(0, -1))),
    "a column twice": ("tf-idf", array("step.0.vocabulary_", at(0, 1))),
    "columns of another type": ("tf-idf", array("step.0.vocabulary_", lambda a: a.astype(np.int32))),
    "fewer columns": ("tf-idf", array("step.0.vocabulary_", lambda a: a[:-1])),
    "other words": ("tf-idf", step(0, "found", "vocabulary_", to=[1, 2, 3])),
    "a word twice": ("tf-idf", step(0, "found", "vocabulary_", to=["a"] * 10)),
    "no words": ("tf-idf", step(0, "found", "vocabulary_", to=None)),
    "a flag that is none": ("tf-idf", step(0, "found", "fixed_vocabulary_", to=1)),
    "shorter weights": ("tf-idf", array("step.0._tfidf.idf_", lambda a: a[:-1])),
    "NaN weights": ("tf-idf", array("step.0._tfidf.idf_", at(0, np.nan))),
    "weights of whole numbers": ("tf-idf", array("step.0._tfidf.idf_", lambda a: a.astype(np.int64))),
    "no weights": ("tf-idf", lambda facts, arrays: arrays.pop("step.0._tfidf.idf_")),
    "weights of another norm": ("tf-idf", step(0, "found", "_tfidf", "parameters", "norm", to="l1")),
    "weights by another step": ("tf-idf", step(0, "found", "_tfidf", "class", to="Normalizer")),
    "weights that were not fitted": ("tf-idf", step(0, "found", "_tfidf", "found", to={})),
    "another width of weights": ("tf-idf", step(0, "found", "_tfidf", "found", "n_features_in_", to=3)),
    "an analyzer": ("tf-idf", step(0, "parameters", "analyzer", to={"function": "f", "mark": "x"})),
    "a pattern that is none": ("tf-idf", step(0, "parameters", "token_pattern", to="(")),
    "an encoding that is none": ("tf-idf", step(0, "parameters", "encoding", to="../x")),
    "a dtype that is none": ("tf-idf", step(0, "parameters", "dtype", to={"dtype": "O", "type": True})),
    "a parameter of another name": ("tf-idf", step(0, "parameters", "x", to=1)),
    "n-grams in no order": ("tf-idf", step(0, "parameters", "ngram_range", to=(3, 1))),
    "a class of another name": ("tf-idf", step(0, "class", to="FunctionTransformer")),
    "a class that is a list": ("tf-idf", step(0, "class", to=["a"])),
    "an attribute of any name": ("tf-idf", step(0, "found", "build_analyzer", to="x")),
    "another array": ("tf-idf", lambda facts, arrays: arrays.update({"step.0.x": np.zeros(3)})),
    "an array of another step": ("tf-idf", lambda facts, arrays: arrays.update({"step.7.idf_": np.zeros(3)})),
    "more hashes than the learner has": ("hashes", step(0, "parameters", "n_features", to=2**31 - 2)),
    "hashes without end": ("hashes", step(0, "parameters", "n_features", to=2**40)),
    "shorter means": ("standard", array("step.0.mean_", lambda a: a[:-1])),
    "means of two dimensions": ("standard", array("step.0.mean_", lambda a: a[None])),
    "infinite means": ("standard", array("step.0.mean_", at(0, np.inf))),
    "a scale of 0": ("standard", array("step.0.scale_", at(0, 0.0))),
    "a negative variance": ("standard", array("step.0.var_", at(0, -1.0))),
    "an absent mean": ("standard", step(0, "found", "mean_", to="x")),
    "a missing mean": ("standard", without_mean),
    "a number that is none": ("standard", step(0, "found", "n_samples_seen_", to="many")),
    "a negative number": ("standard", step(0, "found", "n_samples_seen_", to=-1)),
    "a width that is none": ("standard", step(0, "found", "n_features_in_", to=2.5)),
    "another width": ("standard", step(0, "found", "n_features_in_", to=10**9)),
    "a width of the next": ("all", step(1, "found", "n_features_in_", to=5)),
    "names that are none": ("standard", step(0, "found", "feature_names_in_", to=["a", "b"])),
    "an output that is none": ("standard", step(0, "output", to="pickle")),
    "a range that is none": ("range", step(0, "parameters", "feature_range", to=(2, 1))),
    "no steps": ("standard", around("steps", None)),
    "a step that is none": ("standard", around("steps", [7])),
    "a name that is none": ("standard", step(0, "name", to="a__b")),
    "a name twice": ("all", step(1, "name", to="standardscaler")),
    "a last name that is none": ("standard", around("last", 5)),
    "verbose as a function": ("standard", around("verbose", "print")),
    "no steps at all": ("standard", lambda facts, arrays: facts.pop("around")),
    "a learner that is none": ("standard", lambda facts, arrays: facts.update(learner={"class": "PCA"})),
    "a pipeline within": ("standard", lambda facts, arrays: facts["learner"].update({"class": "Pipeline"})),
    "weights of the learner": ("standard", array("weights", lambda a: a[:-1])),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file of each pipeline that is forged."""
    folder = tmp_path_factory.mktemp("pipelines")
    for name in {name for name, _ in FORGERIES.values()}:
        om.save(of(name)[0], folder / f"{name}.onm")
    return folder


@pytest.mark.parametrize("what", FORGERIES)
def test_forged_pipelines_are_refused_in_one_line(what, files, tmp_path):
    name, change = FORGERIES[what]
    facts, arrays = container.read(files / f"{name}.onm")
    change(facts, arrays)
    container.write(tmp_path / "m.onm", facts, arrays)
    tracemalloc.start()
    try:
        with pytest.raises(BadFile) as error:
            om.load(tmp_path / "m.onm")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["tf-idf", "all"])
def test_every_byte_of_a_pipeline_counts(name, files, tmp_path):
    """Cut off, or a bit turned: refused, or nothing but padding was touched."""
    data, path = (files / f"{name}.onm").read_bytes(), tmp_path / "m.onm"
    for place in range(0, len(data), 97):
        turned = data[:place] + bytes([data[place] ^ (1 << place % 8)]) + data[place + 1 :]
        for changed in (data[:place], turned):
            path.write_bytes(changed)
            try:
                om.save(om.load(path), path)
            except BadFile as error:
                assert "\n" not in str(error)
            else:
                assert path.read_bytes() == data


def test_a_pipeline_of_river_is_told_that_scikit_learns_are_taken(tmp_path):
    preprocessing = pytest.importorskip("river.preprocessing")
    with pytest.raises(
        BadInput, match=r"got Pipeline of river; .* scikit-learn's Pipelines .*save the learner"
    ):
        om.save(preprocessing.StandardScaler() | om.AROW(), tmp_path / "m.onm")
