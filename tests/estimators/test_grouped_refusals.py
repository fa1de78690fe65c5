"""Bad queries, grades, groups and parameters: one line each, and the model is as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import onmargin as om

from ..soaking import uncompiled
from .refusals import refuses, spoiled

X = np.random.default_rng(5).normal(size=(12, 3))  # as `spoiled` has it
QID = np.repeat([7, 3, 5], 4)
GRADES = np.tile([0, 1, 2, 0], 3)
CHOSEN = np.tile([False, True, False, False], 3)
TRUTH = {om.PairedRanker: GRADES, om.CandidateClassifier: CHOSEN}

both = pytest.mark.parametrize("cls", TRUTH, ids=lambda cls: cls.__name__)


def taught(cls: Any, **parameters: Any) -> Any:
    return cls(random_state=0, **parameters).partial_fit(X, TRUTH[cls], QID)


def refused(cls: Any, table: Any, truth: Any, qid: Any, said: str) -> None:
    """By `fit`, `partial_fit` and `score`, of a learner that knows nothing and of one that has learned."""
    for make in (lambda: cls(random_state=0), lambda: taught(cls)):
        for call in ("fit", "partial_fit"):
            model = make()
            before = model.__dict__.get("n_skipped_")
            error = refuses(model, lambda m, call=call: getattr(m, call)(table, truth, qid))
            assert said in str(error) and model.__dict__.get("n_skipped_") == before
            if model.__sklearn_is_fitted__():  # and it goes on as if nothing had been
                assert_array_equal(
                    model.partial_fit(X, TRUTH[cls], QID).coef_,
                    taught(cls).partial_fit(X, TRUTH[cls], QID).coef_,
                )
    refuses(taught(cls), lambda m: m.score(table, truth, qid))


@both
@pytest.mark.parametrize(
    ("table", "said"),
    [(spoiled(np.nan), "row 7 has a NaN in column 1"), (spoiled(-np.inf), "row 7 has a"),
     (sp.csr_matrix(spoiled(np.nan)), "row 7 has a NaN in column 1"), (spoiled(1e200), "row 7 is too large"),
     (np.full((12, 3), "a"), ""), (X.astype(complex), "omplex"), (X[:, :, None], ""), (X[0], ""),
     (X[:, :0], "0 feature")],
    ids=["NaN", "infinity", "NaN in CSR", "1e200", "text", "complex", "3 axes", "1 axis", "no columns"],
)  # fmt: skip
def test_a_bad_table_is_refused(cls: Any, table: Any, said: str) -> None:
    refused(cls, table, TRUTH[cls], QID, said)


@both
def test_an_empty_table_is_refused(cls: Any) -> None:
    refused(cls, X[:0], TRUTH[cls][:0], QID[:0], "0 sample")


@both
def test_a_bad_row_of_a_query_without_a_round_is_refused_too(cls: Any) -> None:
    """All grades alike, or groups of one candidate: nothing would be learned from it."""
    alone = (np.ones(12), np.arange(12)) if cls is om.CandidateClassifier else (np.ones(12), QID)
    refused(cls, spoiled(np.nan), *alone, "row 7 has a NaN in column 1")


@both
@pytest.mark.parametrize(
    ("qid", "said"),
    [(QID[:5], "(5,)"), (np.tile(QID, 2), "(24,)"), (QID[:, None], "(12, 1)"), (3, "()"), ("abc", "()"),
     (np.where(QID == 3, np.nan, QID), "row 4 is nan"), (np.where(QID == 5, np.inf, QID), "row 8 is inf"),
     (np.array([1, "a"] * 6, object), "mixes kinds"), (np.array([1, None] * 6, object), "mixes kinds"),
     (pd.array([1, None] * 6, dtype="Int64"), "row 1 is nan")],
    ids=["short", "long", "column", "number", "text", "NaN", "infinity", "mixed", "None", "pandas NA"],
)  # fmt: skip
def test_bad_queries_are_refused(cls: Any, qid: Any, said: str) -> None:
    for call in ("fit", "partial_fit"):
        for model in (cls(), taught(cls)):
            error = refuses(model, lambda m, call=call: getattr(m, call)(X, TRUTH[cls], qid))
            assert said in str(error) and "qid" in str(error)
    if cls is om.CandidateClassifier:
        assert said in str(refuses(taught(cls), lambda m: m.predict(X, qid)))


@both
@pytest.mark.parametrize(
    "qid",
    [
        np.array([1.0, np.nan] * 6, object),
        np.where(QID == 3, np.datetime64("NaT"), np.datetime64("2020-01-01")),
    ],
    ids=["objects", "dates"],
)
def test_a_missing_query_is_refused_whatever_its_type(cls: Any, qid: Any) -> None:
    assert "qid" in str(refuses(cls(), lambda m: m.fit(X, TRUTH[cls], qid)))


@pytest.mark.parametrize(
    ("grades", "said"),
    [(np.where(GRADES > 1, np.nan, GRADES), "row 2 is nan"), (GRADES - 1, "row 0 is -1.0"),
     (np.where(GRADES > 1, np.inf, GRADES), "row 2 is inf"), (["good"] * 12, "cannot be read as numbers"),
     (GRADES[:5], "(5,)"), (np.c_[GRADES, GRADES], "(12, 2)"), (None, "y is None"), ([{}] * 12, "as numbers"),
     (3, "()")],
    ids=["NaN", "negative", "infinity", "text", "short", "two columns", "None", "dicts", "number"],
)  # fmt: skip
def test_bad_grades_are_refused(grades: Any, said: str) -> None:
    refused(om.PairedRanker, X, grades, QID, said)


def test_complex_grades_are_refused() -> None:
    refuses(om.PairedRanker(), lambda m: m.fit(X, GRADES * 1j, QID), ValueError)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [(np.zeros(12, bool), "[0, 1, 2] ... has 0 chosen"), (CHOSEN & (QID != 3), "[4, 5, 6] ... has 0 chosen"),
     (2 * CHOSEN, "other entries"),
     (2 * CHOSEN - 1, "other entries"), (np.where(CHOSEN, 1, np.nan), "other entries"),
     (0.5 * CHOSEN, "other entries"), (np.where(CHOSEN, "yes", "no"), "other entries"), (CHOSEN[:5], "(5,)"),
     (None, "y is None"), (1, "()")],
    ids=["none", "none of one", "2", "-1", "NaN", "half", "text", "short", "None", "number"],
)  # fmt: skip
def test_bad_choices_are_refused(chosen: Any, said: str) -> None:
    refused(om.CandidateClassifier, X, chosen, QID, said)


def test_choices_without_groups_are_one_group() -> None:
    assert om.CandidateClassifier(max_iter=1, tol=None).fit(X, CHOSEN).t_ == 1
    assert "has 0 chosen rows" in str(refuses(om.CandidateClassifier(), lambda m: m.fit(X, ~CHOSEN & CHOSEN)))


@pytest.mark.parametrize("top", [0, -1, 1.5, "2", None, True])
def test_how_many_are_marked_is_a_whole_number(top: Any) -> None:
    said = str(refuses(taught(om.CandidateClassifier), lambda m: m.predict(X, QID, top=top)))
    assert "top=" in said and "whole number" in said


def test_structures_are_decoded_one_at_a_time() -> None:
    model = om.CandidateClassifier(decode=lambda w, x: 0, features=lambda x, y: [1.0, y])
    model.partial_fit([0, 1], [1, 0])
    assert "top=2 goes with listed candidates" in str(refuses(model, lambda m: m.predict([0, 1], top=2)))


@both
@pytest.mark.parametrize(
    "parameters",
    [{"C": 0}, {"C": -1.0}, {"C": np.nan}, {"C": "1"}, {"C": None}, {"average": 3}, {"max_iter": 0},
     {"max_iter": 2.5}, {"tol": -1.0}, {"n_iter_no_change": 0}, {"dtype": "int8"}, {"intercept_scaling": 0}],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_refused(cls: Any, parameters: Any) -> None:
    (name,) = parameters
    for call in ("fit", "partial_fit"):
        error = refuses(cls(**parameters), lambda m, call=call: getattr(m, call)(X, TRUTH[cls], QID))
        assert f"{name}=" in str(error)
    if name == "C":  # in the middle of a stream
        model = taught(cls).set_params(**parameters)
        refuses(model, lambda m: m.partial_fit(X, TRUTH[cls], QID))


@pytest.mark.parametrize(
    ("cls", "parameters"),
    [(om.PairedRanker, {"rule": "dca"}), (om.PairedRanker, {"rule": None}),
     (om.PairedRanker, {"rule": ["auc"]}), (om.PairedRanker, {"margin": -1.0}),
     (om.PairedRanker, {"margin": np.inf}), (om.PairedRanker, {"margin": "2"}),
     (om.CandidateClassifier, {"step": "pa3"}), (om.CandidateClassifier, {"step": None}),
     (om.CandidateClassifier, {"step": ["pa"]})],
    ids=str,
)  # fmt: skip
def test_rules_steps_and_margins_that_are_not_known(cls: Any, parameters: Any) -> None:
    (name,) = parameters
    error = refuses(cls(**parameters), lambda m: m.fit(X, TRUTH[cls], QID))
    assert str(error).startswith(f"{name}=")
    refuses(taught(cls).set_params(**parameters), lambda m: m.partial_fit(X, TRUTH[cls], QID))


def test_a_margin_of_0_from_zero_weights_is_refused() -> None:
    refuses(om.PairedRanker(margin=0), lambda m: m.fit(X, GRADES, QID))


def test_a_score_with_weights_of_0_only_is_refused() -> None:
    refuses(taught(om.PairedRanker), lambda m: m.score(X, GRADES, QID, sample_weight=np.zeros(12)))


@both
def test_parameters_of_other_learners_are_answered(cls: Any) -> None:
    for parameters in ({"kernel": "rbf"}, {"loss": "hinge"}, {"classes": (0, 1)}):
        with pytest.raises(TypeError) as caught:
            cls(**parameters)
        assert "\n" not in str(caught.value) and next(iter(parameters)) in str(caught.value)


@both
def test_nothing_is_predicted_before_anything_is_learned(cls: Any) -> None:
    for call in ("predict", "decision_function"):
        refuses(cls(), lambda m, call=call: getattr(m, call)(X), NotFittedError)
    refuses(cls(), lambda m: m.score(X, TRUTH[cls], QID), NotFittedError)


@both
def test_another_number_of_columns_is_refused(cls: Any) -> None:
    for table in (X[:, :2], np.c_[X, X], sp.csr_matrix(X[:, :2])):
        for call in (lambda m, t=table: m.predict(t), lambda m, t=table: m.partial_fit(t, TRUTH[cls], QID)):
            assert "3 features" in str(refuses(taught(cls), call))
    assert taught(cls).fit(X[:, :2], TRUTH[cls], QID).n_features_in_ == 2  # `fit` begins anew


@pytest.mark.parametrize("rule", ["auc", "max_violators"])
@uncompiled
def test_queries_of_one_level_only_teach_nothing(rule: str) -> None:
    """Defined: no round, all counted as skipped, scores of 0; and the next queries are learned from."""
    model = om.PairedRanker(rule=rule, random_state=0)
    for grades, qid in ((np.ones(12), QID), (np.zeros(12), None), (GRADES, np.arange(12))):
        model.fit(X, grades, qid)
        assert model.n_skipped_ == len(np.unique(qid)) and model.t_ == 0
        assert not model.coef_.any() and not model.predict(X).any()
        model.partial_fit(X, GRADES, QID)
        assert model.n_skipped_ == 0 and model.coef_.any()


def test_candidates_without_rivals_teach_nothing() -> None:
    model = om.CandidateClassifier().fit(X, np.ones(12), np.arange(12))
    assert not model.coef_.any() and model.predict(X, np.arange(12)).all()


def test_the_warning_of_a_loss_that_still_falls_names_the_call() -> None:
    rows = np.random.default_rng(0).normal(size=(400, 3))
    grades, qid = (rows[:, 0] > 0).astype(int), np.repeat(np.arange(40), 10)
    with pytest.warns(ConvergenceWarning, match="still falling") as caught:
        om.PairedRanker(random_state=0, max_iter=2, C=0.01).fit(rows, grades, qid)
    assert caught[0].filename == __file__
