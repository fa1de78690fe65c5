"""A task of the user's own: as exact as ours, kept like other functions, refused where it is none."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

import onmargin as om
from onmargin.errors import BadInput

from ..soaking import uncompiled

draw = np.random.default_rng(2)
X = draw.normal(size=(120, 4))
Y = (X @ draw.normal(size=(4, 3)) + 0.3 * draw.normal(size=(120, 3))).argmax(axis=1)
NUMBERS = X @ [1.0, -2.0, 0.5, 0.0] + 0.1 * draw.normal(size=120)
DICTS = [dict(enumerate(row)) for row in X.tolist()]


def best(scores):
    top = 0
    for k in range(1, scores.shape[0]):
        if scores[k] > scores[top]:
            top = k
    return top


def over_rivals(scores, target, hyper, pull):
    rival = 1 if target == 0 else 0
    for k in range(scores.shape[0]):
        if k != target and scores[k] > scores[rival]:
            rival = k
    pull[target], pull[rival] = 1.0, -1.0
    return scores[target] - scores[rival], hyper.margin


def grade(scores):
    """Output k asks: is it at least grade k?"""
    steps = 0
    for k in range(1, scores.shape[0]):
        if scores[k] >= 0.0:
            steps += 1
    return steps


def steps_of_grades(scores, target, hyper, pull):
    least = math.inf
    for k in range(1, scores.shape[0]):
        side = 1.0 if target >= k else -1.0
        least = min(least, side * scores[k])
        if side * scores[k] < hyper.margin:
            pull[k] = side
    return least, hyper.margin


def far_off(target, guess):
    return abs(target - guess) > 1


def above(scores, target, hyper, pull):
    """A quantile: what lies above weighs hyper.own[0], what lies below the rest."""
    gap = target - scores[0]
    share = hyper.own[0] if gap > 0 else 1.0 - hyper.own[0]
    pull[0] = share if gap > 0 else -share
    return -share * abs(gap), 0.0


OWN = om.Recipe(task=(best, over_rivals), step="pa1")
GRADES = om.Recipe(task=(grade, steps_of_grades, far_off), step="pa1")


def own(recipe=OWN, **more):
    given = {"classes": [0, 1, 2], "random_state": 0, "tol": None, "average": False, "intercept_scaling": 1.0}
    return om.OnlineClassifier(recipe, **(given | more))


def refused(call, *said):
    with pytest.raises(BadInput) as error:
        call()
    line = str(error.value)
    assert "\n" not in line and all(words in line for words in said), line


# ---- as exact as ours


def test_our_own_task_written_by_a_user_is_ours_bit_for_bit():
    ours = own(om.Recipe(step="pa1"), classes=None)
    runs = [om.progressive(model, X, Y, classes=[0, 1, 2]) for model in (own(), ours)]
    assert_array_equal(runs[0].scores, runs[1].scores)
    assert_array_equal(runs[0].predictions, runs[1].predictions)
    assert_array_equal(runs[0].model.coef_, runs[1].model.coef_)
    assert runs[0].mistakes == runs[1].mistakes > 0
    comparator = draw.normal(size=(3, 4))
    assert runs[0].regret(comparator) == pytest.approx(runs[1].regret(comparator), rel=1e-12)


@uncompiled
@pytest.mark.parametrize("task", [("highest", over_rivals), (best, "top"), ("highest", "top", "differs")])
def test_each_word_may_be_ours_by_name(task):
    model = own(om.Recipe(task=task, step="pa1")).partial_fit(X, Y)
    assert_array_equal(model.coef_, own().partial_fit(X, Y).coef_)


@uncompiled
def test_numbers_too():
    def gap(scores, target, hyper, pull):
        pull[0] = 1.0 if target >= scores[0] else -1.0
        return -abs(target - scores[0]), -hyper.epsilon

    theirs = om.Recipe(task=("value", gap), loss="epsilon_insensitive", step="pa1")
    ours = om.Recipe("regression", loss="epsilon_insensitive", step="pa1")
    models = [om.OnlineRegressor(recipe, epsilon=0.2).partial_fit(X, NUMBERS) for recipe in (theirs, ours)]
    assert_array_equal(models[0].coef_, models[1].coef_)
    late = [
        om.progressive(om.OnlineRegressor(recipe), X, NUMBERS, delay=2).losses for recipe in (theirs, ours)
    ]
    assert_allclose(late[0], late[1], rtol=1e-12)
    refused(lambda: own(theirs).partial_fit(X, Y), "OnlineRegressor")


@uncompiled
def test_a_quantile_is_what_it_says():
    y = X[:, 0] + draw.exponential(size=120)
    for share in (0.2, 0.8):
        recipe = om.Recipe(task=("value", above), loss="hinge", step="sqrt", own=(share,))
        model = om.OnlineRegressor(recipe, rate=0.5, average=True, max_iter=60, tol=None, random_state=0)
        assert abs((y < model.fit(X, y).predict(X)).mean() - share) < 0.06


def test_blocks_dicts_and_answers_agree():
    for recipe in (OWN, GRADES):
        whole, parts, dicts = own(recipe).partial_fit(X, Y), own(recipe), own(recipe)
        for first in range(0, 120, 37):
            parts.partial_fit(X[first : first + 37], Y[first : first + 37])
        for x, y in zip(DICTS, Y.tolist(), strict=True):
            dicts.learn_one(x, y)
        assert_array_equal(parts.coef_, whole.coef_)
        assert_allclose(dicts.coef_, whole.coef_, rtol=1e-9, atol=1e-9)
        wanted = [(grade if recipe is GRADES else best)(row) for row in whole.decision_function(X)]
        assert whole.predict(X).tolist() == wanted == [whole.predict_one(x) for x in DICTS]
        each = om.progressive(own(recipe), zip(DICTS, Y.tolist(), strict=True))
        run = om.progressive(own(recipe), X, Y)
        assert each.mistakes == run.mistakes and each.predictions.tolist() == run.predictions.tolist()


@uncompiled
def test_wrong_says_what_is_a_mistake():
    y = np.digitize(NUMBERS, np.quantile(NUMBERS, [0.2, 0.4, 0.6, 0.8]))
    run = om.progressive(own(GRADES, classes=range(5)), X, y)
    assert run.mistakes == (np.abs(run.predictions - y) > 1).sum() < (run.predictions != y).sum()
    for more in ({"delay": 3}, {"scored_by": "model"}):
        run = om.progressive(own(GRADES, classes=range(5), average=True), X, y, **more)
        assert run.mistakes == (np.abs(run.predictions - y) > 1).sum()


@uncompiled
def test_two_classes_have_an_output_each():
    y = (Y > 0).astype(int)
    for recipe in (OWN, GRADES):
        model = own(recipe, classes=["a", "b"], average=True).fit(X, np.array(["a", "b"])[y])
        assert model.coef_.shape == (2, 4) and model.decision_function(X).shape == (120, 2)
        assert model.score(X, np.array(["a", "b"])[y]) > 0.8


@uncompiled
def test_grades_are_nearer_than_classes():
    """442 patients in five grades: how far off is the answer? (The example of the docs.)"""
    table, y = load_diabetes(return_X_y=True)
    table, grades = scale(table), np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))
    off = {}
    for name, recipe in {"own": GRADES, "classes": om.Recipe(step="pa1")}.items():
        given = {"C": 0.01, "average": True, "intercept_scaling": 1.0, "max_iter": 20, "tol": None}
        model = om.OnlineClassifier(recipe, random_state=0, **given)
        answers = model.fit(table[:300], grades[:300]).predict(table[300:])
        off[name] = np.abs(answers - grades[300:]).mean()
    assert off["own"] < 0.82 < 0.87 < off["classes"]


# ---- kept


@uncompiled
def test_functions_come_back_through_parts(tmp_path):
    model = own(GRADES).partial_fit(X[:60], Y[:60])
    om.save(model, tmp_path / "m.onm")
    parts = {"grade": grade, "steps_of_grades": steps_of_grades, "far_off": far_off}
    twin = om.load(tmp_path / "m.onm", parts=parts)
    assert twin.recipe == model.recipe and repr(twin) == repr(model)
    for one in (model, twin):
        one.partial_fit(X[60:], Y[60:])
    assert_array_equal(twin.coef_, model.coef_)
    assert_array_equal(twin.predict(X), model.predict(X))
    refused(lambda: om.load(tmp_path / "m.onm"), "parts=")
    refused(lambda: om.load(tmp_path / "m.onm", parts | {"grade": best}), "not the function")
    om.save(own(om.Recipe(task=("highest", over_rivals))), tmp_path / "m.onm")
    assert om.load(tmp_path / "m.onm", {"over_rivals": over_rivals}).recipe.given["task"][0] == "highest"
    decide, judge = lambda scores: 0, lambda target, guess: target != guess  # noqa: E731
    namesakes = om.Recipe(task=(decide, over_rivals, judge))
    refused(lambda: om.save(own(namesakes), tmp_path / "n.onm"), "rename one")


@uncompiled
def test_copies_are_the_same():
    model = own(GRADES).partial_fit(X, Y)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_array_equal(twin.predict(X), model.predict(X))
    assert clone(model).recipe == GRADES and "grade" in repr(GRADES)


# ---- what is refused, when it is made


def pulls_down(scores, target, hyper, pull):
    pull[target] = -1.0
    return scores[target], hyper.margin


def changes_scores(scores):
    scores[0] = 0.0
    return 0


def beyond(scores, target, pull):
    pull[7] = 1.0
    return 0.0, 1.0


def makes_an_array(scores):
    return np.argsort(scores)[-1]


TASKS = {
    "a number": 3,
    "one function": (best,),
    "four": (best, over_rivals, far_off, far_off),
    "a name that is none": ("lowest", over_rivals),
    "a demand of numbers": ("highest", "regression"),
    "a demand of classes": ("value", "top"),
    "no function": (best, 5),
    "other arguments": (lambda s: 0, over_rivals),
    "a class beyond": (lambda scores: scores.shape[0], over_rivals),
    "a class below": (lambda scores: -1, over_rivals),
    "half a class": (lambda scores: 0.5, over_rivals),
    "NaN for a class": (lambda scores: math.nan, over_rivals),
    "None for a class": (lambda scores: None, over_rivals),
    "a pair for a class": (lambda scores: (0, 1), over_rivals),
    "an array for a class": (lambda scores: scores, over_rivals),
    "a text for a class": (lambda scores: "a", over_rivals),
    "no demand": (best, lambda scores: None),
    "one number": (best, lambda scores: 1.0),
    "three numbers": (best, lambda scores: (1.0, 1.0, 1.0)),
    "a NaN margin": (best, lambda scores: (math.nan, 1.0)),
    "a margin below all": (best, lambda scores: (-math.inf, 1.0)),
    "an endless demand": (best, lambda scores: (0.0, math.inf)),
    "a pull down": (best, pulls_down),
    "a pull beyond": (best, beyond),
    "a number for wrong": (best, over_rivals, lambda target, guess: 0.5),
    "scores written to": (changes_scores, over_rivals),
    "an array made": (makes_an_array, over_rivals),
    "a fault": (lambda scores: 1 // 0, over_rivals),
}


@pytest.mark.parametrize("what", TASKS)
def test_tasks_that_are_none_are_refused_in_one_line(what):
    refused(lambda: om.Recipe(task=TASKS[what]))


def test_labels_that_a_task_cannot_have():
    refused(lambda: own(classes=None).learn_one({0: 1.0}, 1), "classes=")
    refused(lambda: own(classes=None, growing=True).partial_fit(X, Y), "classes=")
    refused(lambda: own(classes=None).fit(X, np.eye(3, dtype=int)[Y]), "sets of labels")
    model = own(classes=None, growing=True).partial_fit(X, Y, classes=[0, 1, 2])
    refused(lambda: model.learn_one({0: 1.0}, 7), "classes")


# ---- and when it goes mad in mid-stream


def mad(scores):
    return 99 if scores[0] > 50.0 else best(scores)


def mad_demand(scores, target, hyper, pull):
    margin, required = over_rivals(scores, target, hyper, pull)
    if scores[0] > 50.0:
        pull[target] = math.nan
    return margin, required


def mad_margin(scores, target, hyper, pull):
    margin, required = over_rivals(scores, target, hyper, pull)
    return (math.nan if scores[0] > 50.0 else margin), required


@pytest.mark.parametrize(
    "task, said",
    [((mad, over_rivals), "class"), ((best, mad_demand), "pulled"), ((best, mad_margin), "margin")],
    ids=["decide", "pull", "margin"],
)  # fmt: skip
@uncompiled
def test_a_task_that_goes_mad_changes_nothing(task, said):
    """Numba sees helpers that are compiled; here they are plain functions, which it compiles too."""
    import numba

    scope = {"best": numba.njit(best), "over_rivals": numba.njit(over_rivals), "math": math}
    task = tuple(type(f)(f.__code__, scope, f.__name__) if f.__name__.startswith("mad") else f for f in task)
    model = own(om.Recipe(task=task, step="pa1")).partial_fit(X, Y)
    model.learn_one(DICTS[0], int(Y[0]))
    big = X[:3].copy()
    big[2] = 1e4 * model.coef_[0]
    whole = dict(enumerate(big[2].tolist()))
    before, rounds = model.coef_.copy(), model.t_
    calls = [
        lambda: model.partial_fit(big, Y[:3]), lambda: model.learn_one(whole, 1),
        lambda: model.learn_one(whole | {4: 1.0}, 1), lambda: om.progressive(model, big, Y[:3]),
        lambda: om.progressive(model, [(DICTS[0], 1), (whole, 1)]),
    ]  # fmt: skip
    if said.startswith("class"):
        calls += [lambda: model.predict(big), lambda: model.predict_one(whole)]
    for call in calls:
        refused(call, said, "mend it")
        assert model.t_ == rounds
        assert_array_equal(model.coef_, before)
    model.learn_one(DICTS[1], int(Y[1]))
    assert model.t_ == rounds + 1 and model.n_features_in_ == 4


@uncompiled
@pytest.mark.parametrize("task", [("highest", "top"), ("highest", over_rivals), ("highest", "top", "never")])
def test_our_names_in_a_task_of_ones_own_are_shown_and_kept(task, tmp_path):
    recipe = om.Recipe(task, step="pa1")
    names = tuple(one if isinstance(one, str) else one.__name__ for one in task)
    assert repr(recipe) == f"Recipe(task={names!r}, loss='hinge', step='pa1', space='l2')"
    assert hash(recipe) == hash(pickle.loads(pickle.dumps(recipe)))
    model = om.OnlineClassifier(recipe, classes=[0, 1, 2]).partial_fit(X, Y)
    om.save(model, tmp_path / "own.onm")
    read = om.load(tmp_path / "own.onm", parts={"over_rivals": over_rivals})
    assert_array_equal(read.decision_function(X), model.decision_function(X))


def test_a_demand_that_pulls_its_margin_down_is_called_by_its_name():
    def lowers(scores, target, pull):
        pull[target] = -1.0
        return scores[target], 1.0

    with pytest.raises(BadInput, match="^the demand 'lowers' pulls its margin down; "):
        om.Recipe(("highest", lowers))
