"""What a PairedClassifier refuses: one clear line, and nothing changed, the reservoirs neither."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.errors import BadInput

from . import refusals
from .test_paired_classifier import SETS, SPARSE, THREE, TWO, X, paired

LABELS = ("common", "rare")
PAIR = [[0, int(np.flatnonzero(TWO != TWO[0])[0])]]


def reservoirs(model):
    """What rounds to come are drawn from."""
    if model._model is None:
        return {}
    return {name: np.array(array) for name, array in model._model.pairing.state()[1].items()}


def refuses(model, call, *said, kind=(ValueError, TypeError)):
    """One line with these words; weights, rounds and reservoirs as they were."""
    before = reservoirs(model)
    line = str(refusals.refuses(model, call, kind))
    after = reservoirs(model)
    assert before.keys() == after.keys()
    for name, array in before.items():
        assert np.array_equal(array, after[name], equal_nan=True), name
    for words in said:
        assert words in line, f"{words!r} is not in {line!r}"


def taught(**more):
    """After one block of good rows."""
    return paired(**({"classes": LABELS, "random_state": 0} | more)).partial_fit(X[:80], TWO[:80])


def spoiled(value, row=7):
    table = X.copy()
    table[row, 1] = value
    return table


# ---- labels


@pytest.mark.parametrize("more", [{}, {"sampler": "pairs"}, {"kernel": "rbf"}], ids=str)
@pytest.mark.parametrize("rounds", [None, "all", PAIR], ids=str)
def test_one_class_alone_cannot_be_fitted(more, rounds):
    for model in (paired(**more), taught(**more, classes=None, growing=True)):
        refuses(model, lambda m: m.fit(X, np.full(len(X), "rare"), rounds), "one class", "['rare']")


def test_labels_that_nobody_announced():
    odd = np.where(np.arange(len(X)) == 30, "odd", TWO)
    refuses(taught(), lambda m: m.partial_fit(X, odd), "row 30", "'odd'")
    refuses(taught(), lambda m: m.learn_one({0: 1.0}, "odd"), "'odd'")
    refuses(paired(classes=LABELS), lambda m: m.fit(X, odd), "'odd'")
    refuses(paired(), lambda m: m.partial_fit(X, TWO), "classes")
    refuses(taught(), lambda m: m.partial_fit(X, TWO, classes=("common", "odd")), "classes")
    refuses(paired(), lambda m: om.progressive(m, X, np.where(THREE > 0, np.nan, 1.0)), "NaN")


def test_sets_without_any_label():
    refuses(paired(sampler="pairs"), lambda m: m.fit(X, 0 * SETS), "no row has a label")
    refuses(paired(), lambda m: m.fit(X, 0.5 + SETS))


# ---- rows


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_bad_rows_of_a_table(value):
    """The last row, so that many rounds were played; arrays, CSR and dicts."""
    table, here = spoiled(value, len(X) - 1), f"row {len(X) - 1}"
    refuses(taught(), lambda m: m.partial_fit(table, TWO), here)
    refuses(taught(), lambda m: m.partial_fit(table[-1:], TWO[-1:]), "row 0")
    refuses(taught(), lambda m: om.progressive(m, table, TWO), here)
    refuses(taught(), lambda m: m.fit(table, TWO), here)
    refuses(taught(), lambda m: m.predict(table), here)
    model = paired(classes=(0, 1, 2), random_state=0).partial_fit(SPARSE, THREE)
    refuses(model, lambda m: m.partial_fit(sp.csr_matrix(table), THREE), here)
    refuses(taught(), lambda m: m.learn_one({0: 1.0, 3: value}, "rare"))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("more", [{}, {"kernel": "rbf"}], ids=str)
def test_bad_rows_that_no_round_has(value, more):
    """A reservoir for a stream to come would have them."""
    table = spoiled(value, len(X) - 1)
    refuses(paired(**more), lambda m: m.fit(table, TWO, rounds=PAIR), f"row {len(X) - 1}")
    refuses(paired(**more, sampler="pairs"), lambda m: m.fit(table, TWO), f"row {len(X) - 1}")
    weight = np.where(np.arange(len(X)) == len(X) - 1, 0.0, 1.0)
    refuses(paired(**more), lambda m: m.fit(table, TWO, sample_weight=weight), f"row {len(X) - 1}")


def test_a_stream_goes_on_after_a_refusal():
    """As if nothing had been: the bad row was never kept."""
    model, twin = taught(), taught()
    for bad in (np.nan, 1e200):
        with pytest.raises(BadInput):
            model.learn_one({0: bad}, "rare")
        with pytest.raises(BadInput):
            model.partial_fit(spoiled(bad), TWO)
    for one in (model, twin):
        one.partial_fit(X[80:], TWO[80:])
        one.learn_one({0: 0.5}, "rare")
    assert np.array_equal(model.coef_, twin.coef_)


def test_wrong_shapes():
    refuses(taught(), lambda m: m.partial_fit(X[:, :4], TWO), "4")
    refuses(taught(), lambda m: m.partial_fit(X[0], TWO[:1]))
    refuses(taught(), lambda m: m.partial_fit(X, TWO[:-1]))
    refuses(taught(), lambda m: m.partial_fit(X[:0], TWO[:0]))
    refuses(taught(), lambda m: m.partial_fit(X, SETS))
    refuses(taught(), lambda m: m.decision_function(X[:, :2]), "2")


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_are_none(weight):
    weights = np.where(np.arange(len(X)) == 3, weight, 1.0)
    for more in ({}, {"sampler": "pairs"}):
        refuses(paired(**more), lambda m: m.fit(X, TWO, sample_weight=weights), "sample_weight[3]")
    refuses(taught(), lambda m: m.partial_fit(X, TWO, sample_weight=weights), "sample_weight[3]")
    refuses(taught(), lambda m: m.learn_one({0: 1.0}, "rare", weight))
    refuses(paired(), lambda m: m.fit(X, TWO, rounds="all", sample_weight=weights[4:]), "shape")
    refuses(paired(), lambda m: m.fit(X, TWO, rounds="all", sample_weight=np.zeros(len(X))), "zero")


@pytest.mark.parametrize("chance", [1.0, np.nan, -0.1, "luck"])
def test_uniforms_that_are_none(chance):
    many = "luck" if chance == "luck" else np.full(len(X), chance)
    refuses(taught(), lambda m: om.progressive(m, X, TWO, chance=many), "chance")
    refuses(taught(), lambda m: om.progressive(m, X, TWO, chance=many[:9]), "chance")


# ---- parameters


@pytest.mark.parametrize(
    "given",
    [{"rule": "best"}, {"rule": None}, {"sampler": "lucky"}, {"sampler": None}, {"reservoir": 0},
     {"reservoir": -3}, {"reservoir": 2.5}, {"reservoir": "many"}, {"reservoir": None}, {"reservoir": True},
     {"C": 0.0}, {"C": -1.0}, {"C": np.nan}, {"C": "much"}, {"margin": -1.0}, {"margin": np.nan},
     {"margin": np.inf}, {"margin": "wide"}, {"margin": 0.0}, {"kernel": "magic"}, {"max_iter": 0},
     {"random_state": -1}],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_named(given):
    (name,) = given
    refuses(paired(**given), lambda m: m.fit(X, TWO), name)
    refuses(paired(**given), lambda m: m.learn_one({"a": 1.0}, "rare"), name)


@pytest.mark.parametrize(
    "given",
    [{"reservoir": 5}, {"sampler": "recent"}, {"sampler": "pairs"},
     {"kernel": "rbf"}],
)  # fmt: skip
def test_what_shapes_the_state_stays(given):
    (name,) = given
    model = taught().set_params(**given)
    refuses(model, lambda m: m.partial_fit(X, TWO), f"{name}= was")
    refuses(model, lambda m: m.learn_one({0: 1.0}, "rare"), f"{name}= was")
    refuses(model, lambda m: m.predict(X), f"{name}= was")
    model.fit(X, TWO)  # anew is well


@pytest.mark.parametrize("given", [{"rule": "auc"}, {"C": 0.01}, {"margin": 3.0}], ids=str)
def test_what_belongs_to_a_round_may_change(given):
    assert taught().set_params(**given).partial_fit(X, TWO).t_ == 80 + len(X)


@pytest.mark.parametrize(
    "name, said",
    [("loss", "loss"), ("class_weight", "balance"),
     ("budget", "all vectors are kept")],
)  # fmt: skip
def test_a_parameter_of_others_is_answered_with_what_there_is(name, said):
    with pytest.raises(TypeError) as caught:
        om.PairedClassifier(**{name: "balanced"})
    line = str(caught.value)
    assert "\n" not in line and f"no parameter {name!r}" in line and said in line.split(";")[1]
    assert "known are" not in line


# ---- rounds


@pytest.mark.parametrize(
    "rounds, said",
    [([[0, 160]], "160"), ([[-1, 3]], "-1"), ([[0, 2**40]], str(2**40)), ([[4, 5, 4]], "twice"),
     ([], "empty"),
     ([[0, 1], []], "at least one"), (np.zeros((0, 2), int), "empty"), ([[0.0, 1.0]], "row numbers"),
     (np.array([[True, False]]), "row numbers"), ([["a", "b"]], "row numbers"), ([[0, None]], "row numbers"),
     ("some", "'some'"), ("", "''"), (7, "row numbers"), ({"a": 1}, "row numbers"),
     (np.zeros((2, 2, 2), int), "row numbers"),
     ([[[0], [1, 2]]], "row numbers")],
    ids=str,
)  # fmt: skip
def test_bad_rounds(rounds, said):
    refuses(paired(), lambda m: m.fit(X, TWO, rounds=rounds), said, kind=ValueError)
    model = taught()
    refuses(model, lambda m: m.fit(X, TWO, rounds=rounds), said, kind=ValueError)
    assert (
        "_asked" not in vars(model) and "_planned" not in vars(model) and model._model.pairing.given is None
    )


def test_all_pairs_are_for_two_classes():
    refuses(paired(), lambda m: m.fit(X, THREE, rounds="all"), "two classes", "sampler='pairs'")
    refuses(paired(), lambda m: m.fit(X, SETS, rounds="all"), "two classes")
    refuses(paired(classes=("common", "odd")), lambda m: m.fit(X, np.full(len(X), "odd"), "all"), "rounds")


# ---- answers about a run


def test_the_regret_of_a_run_has_the_margin_of_its_rule():
    comparator = np.ones(5)
    found, wanted = (
        om.progressive(paired(random_state=0, margin=margin), X, TWO).regret(comparator)
        for margin in (None, 1.0)
    )
    assert_allclose(found, wanted)


def test_pairs_have_no_regret_against_scores():
    run = om.progressive(paired("auc", random_state=0), X, TWO)
    refuses(run.model, lambda m: run.regret(np.ones(5)), "rule='auc'")


def test_merged_models_answer_with_the_mean_of_their_scores():
    models = [paired("auc", random_state=k, max_iter=2, tol=None).fit(X, TWO) for k in (0, 1)]
    mean = np.mean([model.decision_function(X) for model in models], axis=0)
    assert_allclose(om.merge(models).decision_function(X), mean, rtol=1e-9)


@pytest.mark.parametrize("more", [{}, {"kernel": "rbf", "dtype": "float64"}], ids=str)
def test_an_explanation_adds_up_to_the_score(more):
    model = paired("auc", random_state=0, **more).partial_fit(X, TWO, classes=LABELS)
    assert_allclose(model.explain(X[0])["contribution"].sum(), model.decision_function(X[:1])[0], rtol=1e-9)
