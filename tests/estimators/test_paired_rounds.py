"""PairedClassifier: rounds that are given or drawn from a table, and classes that come later."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from onmargin.interface.runs.rounds import random_rounds
from onmargin.learn.paired.rounds import PairedRounds

from ..oracles_paired import PairedOracle, linear, weights_of
from .test_paired_classifier import (
    FULL,
    RULES,
    SETS,
    SPARSE,
    THREE,
    THREE_MARKS,
    TWO,
    TWO_MARKS,
    WEIGHT,
    X,
    paired,
)

LISTS = [[3, 17, 5], [9], [8, 2, 40, 41, 6], [60, 61], [7, 90, 3]]
ONCE = {"max_iter": 1, "tol": None}


def dicts(rows):
    """Rows with their column numbers for names."""
    return [dict(enumerate(row)) for row in rows.tolist()]


# ---- rounds


@pytest.mark.parametrize("rule", RULES)
def test_given_rounds_are_played_in_their_order(rule):
    """Lists of any lengths, twice over; several classes, for two see below."""
    model = paired(rule, average=True, max_iter=2, tol=None).fit(SPARSE, THREE, rounds=LISTS)
    oracle = PairedOracle(linear(FULL), THREE_MARKS, None, rule=rule, C=0.3, rounds=LISTS * 2)
    coef, intercept = weights_of(oracle, FULL, averaged=True)
    assert_allclose(model.coef_, coef, rtol=1e-9, atol=1e-9)
    assert_allclose(model.intercept_, intercept, rtol=1e-9, atol=1e-9)
    assert model.t_ == 10


@pytest.mark.parametrize("rule", [*RULES[:4], pytest.param("auc")])
def test_given_rounds_of_two_classes_may_have_many_members(rule):
    model = paired(rule, **ONCE).fit(X, TWO, rounds=LISTS)
    oracle = PairedOracle(linear(X), TWO_MARKS, None, rule=rule, C=0.3, rounds=LISTS)
    coef, intercept = weights_of(oracle, X)
    assert_allclose(model.coef_, coef, rtol=1e-9, atol=1e-9)
    assert_allclose(model.intercept_, intercept, rtol=1e-9, atol=1e-9)


def test_there_is_room_for_all_members_that_auc_moves():
    model = paired("auc", classes=("common", "rare")).partial_fit(X[:9], TWO[:9])._model
    nothing = dict.fromkeys(PairedRounds._fields)
    block = PairedRounds(**nothing | {"starts": np.array([0, 5]), "arrivals": np.zeros(1, np.int64)})
    assert len(model._room(block).pulls) >= 5


def test_given_rounds_with_weights_and_as_arrays():
    """c_j times the weight; a row of weight 0 is not seen, in whatever place of its round."""
    weight = np.where(np.arange(len(X)) == 60, 0.0, 0.5 + WEIGHT)
    pairs = np.array([[3, 17], [60, 61], [8, 2], [40, 60]], np.uint16)
    for rule in RULES:
        model = paired(rule, **ONCE).fit(X, TWO, rounds=pairs, sample_weight=weight)
        seen = [[3, 17], [61], [8, 2], [40]]
        oracle = PairedOracle(linear(X), TWO_MARKS, None, rule=rule, C=0.3, rounds=seen, weight=weight)
        assert_allclose(model.coef_, weights_of(oracle, X)[0], rtol=1e-9, atol=1e-9)
        assert model.t_ == 4


@pytest.mark.parametrize(
    "rule",
    [*(rule for rule in RULES if rule not in ("dca", "auc")),
     "dca"],
)  # fmt: skip
def test_a_later_member_of_weight_0_is_as_if_it_were_not_there(rule):
    weight = np.where(np.arange(len(X)) == 17, 0.0, 1.0)
    found = paired(rule, **ONCE).fit(X, TWO, rounds=[[3, 17]], sample_weight=weight)
    assert_allclose(found.coef_, paired(rule, **ONCE).fit(X, TWO, rounds=[[3]]).coef_, rtol=1e-12)


def test_all_pairs_are_every_positive_with_every_negative():
    rows, y = X[:40], TWO[:40]
    positive, negative = np.flatnonzero(y == "rare"), np.flatnonzero(y == "common")
    pairs = [[p, n] for p in positive for n in negative]
    for more in ({}, {"kernel": "linear", "dtype": "float64"}):
        both = [paired("auc", **ONCE, **more).fit(rows, y, rounds=given) for given in ("all", pairs)]
        assert_array_equal(*(model.decision_function(X) for model in both))
        assert both[0].t_ == len(pairs) == len(positive) * len(negative)
    oracle = PairedOracle(linear(rows), TWO_MARKS[:40], None, rule="auc", C=0.3, rounds=pairs)
    assert_allclose(
        both[0].decision_function(rows), linear(rows) @ oracle.coefficients[:, 0] - oracle.threshold
    )


def test_pairs_of_a_table_are_drawn_from_every_class_alike():
    """As many rounds as rows; one row of each class, each as likely; rows of weight 0 never."""
    marks, weight = TWO_MARKS.astype(np.int8), np.where(np.arange(len(X)) % 10 == 3, 0.0, 1.0)
    members, starts = random_rounds(np.random.default_rng(1), marks, weight, False)
    pairs = members.reshape(-1, 2)
    assert_array_equal(starts, 2 * np.arange(len(X) + 1))
    assert marks[pairs[:, 0], 0].all() and not marks[pairs[:, 1], 0].any() and weight[members].all()
    drawn = [random_rounds(np.random.default_rng(k), marks, weight, False)[0][::2] for k in range(60)]
    some = np.concatenate(drawn)
    counts = np.bincount(some, minlength=len(X))[(marks[:, 0] == 1) & (weight > 0)]
    assert np.sum((counts - counts.mean()) ** 2 / counts.mean()) < 2.0 * len(counts)
    members, starts = random_rounds(np.random.default_rng(1), SETS.astype(np.int8), np.ones(0), True)
    for begin, end in zip(starts[:-1], starts[1:], strict=True):
        line = members[begin:end]
        assert len(set(line)) == len(line) and SETS[line].any(axis=0).all()


def test_pairs_follow_the_seed_and_leave_reservoirs_behind():
    """As many as the table has seen rows of weight above 0, kept from it."""
    told = {"sampler": "pairs", "max_iter": 2, "tol": None}
    first, again, other = (
        paired(**told, random_state=k).fit(X, TWO, sample_weight=WEIGHT) for k in (0, 0, 1)
    )
    assert_array_equal(first.coef_, again.coef_)
    assert (first.coef_ != other.coef_).any() and first.t_ == 2 * len(X)
    pairing = first._model.pairing
    seen = [np.sum((TWO == name) & (WEIGHT > 0)) for name in ("common", "rare")]
    assert pairing.seen.tolist() == seen and (pairing.slots >= 0).all()
    for side, name in enumerate(("common", "rare")):
        rows = pairing.pool.ids.view[pairing.slots[side]]
        assert (TWO[rows] == name).all() and (WEIGHT[rows] > 0).all()
        assert_array_equal(pairing.pool.lines.view[pairing.slots[side]], X[rows])


def test_a_stream_goes_on_from_any_fit():
    """The next round has a partner, whichever way the table was learned."""
    for more, rounds in (({}, None), ({"sampler": "pairs"}, None), ({}, LISTS), ({}, [[1, 4]])):
        model = paired("sequential", random_state=0, **ONCE, **more).fit(X, TWO, rounds=rounds)
        before, row = model.coef_.copy(), 1e-9 * X[:1]  # it has no length to speak of itself
        model.set_params(C=1e3, margin=50.0).partial_fit(row, ["rare"])
        moved = (model.coef_ - before)[0]
        cosines = X @ moved / np.linalg.norm(X, axis=1) / np.linalg.norm(moved)
        assert TWO[np.argmax(np.abs(cosines))] == "common" and np.abs(cosines).max() > 1 - 1e-6


# ---- labels that come later


@pytest.mark.parametrize("more", [{}, {"kernel": "rbf", "gamma": 0.3}], ids=str)
def test_a_third_class_changes_no_decision_and_no_reservoir(more):
    """Its first round is given a step of no length."""
    model, names = paired(random_state=0, reservoir=5, **more), np.array(["zebra", "ant"])
    asked = dicts(X)
    for x, label in zip(asked[:60], names[(TWO[:60] == "rare").astype(int)].tolist(), strict=True):
        model.learn_one(x, label)
    before = [model.predict_one(x) for x in asked]
    kept = [set(line) for line in model._model.pairing.slots]
    model.set_params(C=1e-300).learn_one({0: 0.1, 2: 0.3}, "bee")
    assert model.classes_.tolist() == ["ant", "bee", "zebra"]
    assert [model.predict_one(x) for x in asked] == before
    pairing = model._model.pairing
    assert [set(line) for line in pairing.slots[[0, 2]]] == kept
    assert pairing.seen.tolist() == [np.sum(TWO[:60] == "rare"), 1, np.sum(TWO[:60] == "common")]
    for group in (0, 1, 2):
        held = pairing.slots[group][pairing.slots[group] >= 0]
        assert (pairing.pool.marks.view[held].argmax(axis=1) == group).all()
    model.set_params(C=0.3)
    for x, label in zip(asked[60:], THREE[60:], strict=True):
        model.learn_one(x, ("ant", "bee", "zebra")[label])
    assert {model.predict_one(x) for x in asked} == {"ant", "bee", "zebra"}


@pytest.mark.parametrize("rule", ["correct_mistakes", "auc"])
def test_a_first_label_that_sorts_last_is_turned_to_the_positive_side(rule):
    """The same model as where both labels were announced."""
    turned, known = paired(rule, random_state=1), paired(rule, random_state=1, classes=("common", "rare"))
    order = np.r_[np.flatnonzero(TWO == "rare")[:3], np.arange(40)]
    for model in (turned, known):
        for x, label in zip(dicts(X[order]), TWO[order].tolist(), strict=True):
            model.learn_one(x, label)
    assert_allclose(turned.coef_, known.coef_, rtol=1e-12)
    assert_allclose(turned.intercept_, known.intercept_, rtol=1e-12, atol=1e-15)
    assert turned._model.pairing.seen.tolist() == known._model.pairing.seen.tolist()
