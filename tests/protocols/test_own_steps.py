"""Pipelines with om.features: saved without pickle, loaded bit for bit, features said by their names."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks as checks

import onmargin as om
from onmargin.errors import BadFile, BadInput
from onmargin.features import Table, Text
from onmargin.protocols.saving import container

TEXTS = ["cheap pills Größe", "lunch at noon", "cheap offer today", "noon meeting, lunch"] * 5
ROWS = [
    {"age": float(k), "colour": ["blue", "red"][k % 2], "size": 2 * k if k % 3 else None, "body": TEXTS[k]}
    for k in range(20)
]  # fmt: skip
LABELS = ["spam", "ham"] * 10
STEPS = {
    "text": lambda: Text(bits=8),
    "text, all": lambda: Text(bits=8, idf=True, names=True, ngram_range=(1, 2), weighting="log"),
    "characters": lambda: Text(analyzer="char_wb", ngram_range=(2, 3), bits=8, norm=None),
    "table": lambda: Table(bits=6, text=Text(bits=5, idf=True, names=True), interactions=[("age", "colour")]),
    "vocabulary": lambda: Table(bits=None, kinds={"body": "category"}, scale=False),
    "numbers": lambda: Table(kinds={"body": "drop", "colour": "drop"}, interactions=(("age", "size"),)),
}


def of(name):
    X = ROWS if name in ("table", "vocabulary", "numbers") else TEXTS
    return make_pipeline(STEPS[name](), om.PassiveAggressiveClassifier(random_state=0)).fit(X, LABELS), X


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("name", STEPS)
def test_loaded_bit_for_bit(name, tmp_path):
    model, X = of(name)
    om.save(model, tmp_path / "a.onm")
    om.save(model, tmp_path / "b.onm")
    again = om.load(tmp_path / "a.onm")
    assert (tmp_path / "a.onm").read_bytes() == (tmp_path / "b.onm").read_bytes()
    assert b"pickle" not in (tmp_path / "a.onm").read_bytes()
    assert repr(again[0].get_params()) == repr(model[0].get_params()) and type(again[0]) is type(model[0])
    np.testing.assert_array_equal(dense(again[0].transform(X)), dense(model[0].transform(X)))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    for one in (model, again):  # both go on
        one[0].partial_fit(X[:7])
    np.testing.assert_array_equal(dense(again[0].transform(X)), dense(model[0].transform(X)))
    om.save(again, tmp_path / "a.onm")
    om.save(model, tmp_path / "b.onm")
    assert (tmp_path / "a.onm").read_bytes() == (tmp_path / "b.onm").read_bytes()


def test_what_was_not_fitted_may_be_kept(tmp_path):
    om.save(make_pipeline(Table(), om.Perceptron()), tmp_path / "m.onm")
    assert vars(om.load(tmp_path / "m.onm")[0]) == vars(Table())


def test_names_of_text_are_said(tmp_path):
    model, _ = of("text, all")
    om.save(model, tmp_path / "m.onm")
    for one in (model, om.load(tmp_path / "m.onm")):
        said = om.top_features(one, 4)["feature"].tolist()
        assert {"cheap", "noon"} <= set(" | ".join(said).split(" | "))
        shown = om.explain(one, "cheap lunch")["feature"].tolist()
        assert {"cheap", "lunch"} <= set(" | ".join(shown).split(" | "))
    plain, _ = of("text")  # names were not kept: columns are numbered
    assert len(om.top_features(plain, 2)) > 0


def test_names_of_tables_are_said():
    model, _ = of("table")
    explained = om.explain(model, ROWS[1])
    assert {"age", "size", "colour=red"} <= set(" | ".join(map(str, explained["feature"])).split(" | "))
    assert any(str(name).startswith("body: ") for name in explained["feature"])
    assert om.top_features(of("vocabulary")[0], 3)["feature"].map(type).eq(str).all()


def test_parameters_are_searched():
    model = make_pipeline(Text(bits=4), om.PassiveAggressiveClassifier(random_state=0))
    search = GridSearchCV(model, {"text__bits": [1, 8], "text__weighting": ["tf", "binary"]}, cv=2)
    assert search.fit(TEXTS, LABELS).best_params_["text__bits"] == 8


@pytest.mark.parametrize("step", [Text(), Table()])
@pytest.mark.parametrize(
    "check",
    ["no_attributes_set_in_init", "get_params_invariance", "set_params", "estimator_cloneable",
     "estimator_repr", "estimator_tags_renamed", "parameters_default_constructible"],
)  # fmt: skip
def test_the_checks_of_scikit_learn_that_ask_for_no_numbers(step, check):
    getattr(checks, f"check_{check}")(type(step).__name__, step)


@pytest.mark.parametrize(
    "check", ["transformer_general", "estimators_dtypes", "fit2d_1sample", "estimators_pickle",
              "f_contiguous_array_estimator", "dict_unchanged",
              "estimators_overwrite_params", "fit_idempotent", "transformer_preserve_dtypes",
              "readonly_memmap_input", "methods_sample_order_invariance", "methods_subset_invariance"],
)  # fmt: skip
def test_the_checks_of_scikit_learn_for_tables_of_numbers(check):
    getattr(checks, f"check_{check}")("Table", Table())


def found(place, to):
    def change(facts, arrays):
        state = facts["around"]["steps"][0]["own"]
        for name in place[:-1]:
            state = state[name]
        state[place[-1]] = to

    return change


def array(name, to):
    return lambda facts, arrays: arrays.update({f"step.0.own.{name}": to(arrays[f"step.0.own.{name}"])})


FORGERIES = {
    "other bits": ("text, all", found(["parameters", "bits"], 9)),
    "bits that are none": ("text, all", found(["parameters", "bits"], 99)),
    "a function": ("text, all", found(["parameters", "analyzer"], print.__name__)),
    "no parameters": ("text", found(["parameters"], {})),
    "one more": ("text", found(["more"], 3)),
    "too few met": ("text, all", array("met", lambda a: a[:-1])),
    "met below 0": ("text, all", array("met", lambda a: a - 1)),
    "met of another type": ("text, all", array("met", lambda a: a.astype(float))),
    "fewer rows": ("text, all", found(["rows_met"], 1)),
    "letters cut off": ("text, all", array("names.letters", lambda a: a[:-1])),
    "letters of no text": ("text, all", array("names.letters", lambda a: a | 0x80)),
    "bounds that fall": ("text, all", array("names.stops", lambda a: a[::-1].copy())),
    "one name less": ("text, all", array("names.stops", lambda a: a[:-1])),
    "names of other bits": ("text, all", found(["names", "bits"], 9)),
    "a kind that is none": ("table", found(["kinds"], ["number"] * 3 + ["code"])),
    "kinds of other columns": ("table", found(["kinds"], ["number", "category", "category", "text"])),
    "a deviation below 0": ("table", array("moments.spread", lambda a: -a)),
    "a mean that is none": ("table", array("moments.mean", lambda a: a * np.nan)),
    "texts gone": ("table", found(["texts"], {})),
    "a text of other bits": ("table", found(["texts", "0", "parameters", "bits"], 6)),
    "interactions with nobody": ("table", found(["parameters", "interactions"], [["age", "nobody"]])),
    "a word twice": ("vocabulary", found(["vocabulary"], ["colour=red"] * 9)),
    "fewer words": ("vocabulary", found(["vocabulary"], ["colour=red"])),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_forged_steps_are_refused_in_one_line(what, tmp_path):
    name, change = FORGERIES[what]
    om.save(of(name)[0], tmp_path / "m.onm")
    facts, arrays = container.read(tmp_path / "m.onm")
    change(facts, arrays)
    container.write(tmp_path / "m.onm", facts, {name: np.ascontiguousarray(a) for name, a in arrays.items()})
    with pytest.raises(BadFile) as error:
        om.load(tmp_path / "m.onm")
    assert "\n" not in str(error.value)


def test_a_child_of_ours_is_not_taken_for_it(tmp_path):
    class Mine(Text):
        pass

    with pytest.raises(BadInput, match="is a Mine"):
        om.save(make_pipeline(Mine(bits=4), om.Perceptron()), tmp_path / "m.onm")
