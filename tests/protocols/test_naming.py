"""Learners by the names of the papers."""

import numpy as np
import pytest

from onmargin.errors import BadInput, OnmarginError
from onmargin.models.table import ROWS
from onmargin.protocols.requested.naming import FAMILIES, PROBLEMS, USUAL, named, task_of, typed

COSTLY = ("max_loss", "prediction", "binary_max_loss", "binary_prediction")
SAME_PROBLEM = {
    "uniform": "top", "all": "top", "calibrated": "labels", "apart": "top", "apart_labels": "labels",
    "max_loss": "top", "prediction": "top", "binary_max_loss": "binary", "binary_prediction": "binary",
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_every_row_of_the_table_names_the_learner_that_plays_it(name):
    family, _, problem = name.partition(".")
    cost = {"cost": [[0, 1], [1, 0]]} if problem in COSTLY else {}
    made = named(name, PROBLEMS[problem][0], cost)
    model = made.model
    if "paired" in family:
        assert f"_{model.rule}" in f"_{family}" and (model.kernel is not None) == family.startswith("kernel")
    elif family.startswith(("ranking", "candidates")):
        assert family.endswith(model.rule if family.startswith("ranking") else model.step)
    elif name == "ridge.regression":
        assert model._made_inner().row("regression") == name and model.kernel is None
    elif family in ("ridge", "pnorm_aggressive"):
        assert model.recipe.row("binary").words() == ROWS[name].words()
    elif family == "evidence":
        assert model.kernel == "rbf"
    else:
        keeping = family.split("_")[0] if family.startswith(("kernel_", "budget_")) else ""
        row = model.row(SAME_PROBLEM.get(problem, problem)).partition(":")[0]
        assert name == (f"{keeping}_{row}" if keeping else row)
        assert (getattr(model, "kernel", None) is not None) >= bool(keeping)


def test_families_take_their_task_from_the_labels():
    assert type(named("pa1", "classes").model).__name__ == "PassiveAggressiveClassifier"
    assert type(named("pa1", "numbers").model).__name__ == "PassiveAggressiveRegressor"
    assert type(named("pa1", "points").model).__name__ == "PassiveAggressiveUniclass"
    assert type(named(None, "queries").model).__name__ == "PairedRanker"
    assert all(task in FAMILIES[name] for task, names in USUAL.items() for name in names)
    assert named("pa1.binary", "classes").two and not named("pa1.top", "classes").two


@pytest.mark.parametrize(
    ("algorithm", "task", "parameters", "said"),
    [
        ("pa4", "classes", {}, "algorithm 'pa4' is not known; did you mean pa"),
        ("pa1.topp", "classes", {}, "did you mean pa1.top?"),
        ("ftrl_l2.binary:logistic:sqrt", "classes", {}, "is not known"),
        ("arow", "numbers", {}, "arow learns classes or sets, and the data have numbers; for these: pa"),
        ("pa1.regression", "classes", {}, "pa1.regression learns numbers (a number a row)"),
        ("pa1", "classes", {"alpha": 1}, "has no parameter 'alpha'; the step itself regularises"),
        ("pa1", "classes", {"C": -1}, "C=-1; wanted a number above 0"),
        ("pa1.max_loss", "classes", {}, "needs a cost"),
        ("pa1", "nonsense", {}, "task='nonsense'; wanted one of classes"),
    ],
)
def test_wrong_names_are_answered_in_one_line(algorithm, task, parameters, said):
    with pytest.raises(OnmarginError) as caught:
        named(algorithm, task, parameters)
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("targets", "task"),
    [
        (np.array([1.0, -1.0, 1.0]), "classes"),
        (np.arange(100) % 30 + 1.0, "classes"),
        (np.array(["a", "b"], object), "classes"),
        (np.array([1.0, 2.5]), "numbers"),
        (np.arange(100) * 1000.0, "numbers"),
        ([(1.0, 2.0), ()], "sets"),
        (np.eye(3), "sets"),
        (None, "points"),
        (np.array([np.nan, 1.0, -1.0]), "classes"),
        (np.array([np.nan]), "points"),
    ],
)
def test_tasks_are_found_from_targets(targets, task):
    assert task_of(targets) == task
    assert task_of(targets, np.zeros(3)) == "queries"


def test_values_as_they_are_typed():
    values = {
        "1": 1, "-2": -2, "1e-3": 0.001, "inf": float("inf"), "nan": "nan", "True": True, "none": None,
        "": "", "1,2": (1, 2), "a,b": ("a", "b"), "64MB": "64MB", "1_000": "1_000", "[1, 2]": [1, 2],
        '{"1": 2, "spam": 3}': {1: 2, "spam": 3},
    }  # fmt: skip
    for text, value in values.items():
        assert typed(text) == value and type(typed(text)) is type(value), text
    with pytest.raises(BadInput, match="is not JSON"):
        typed("[1,")


def test_who_names_no_algorithm_gets_the_best_that_has_the_parameters():
    def chosen(task, **given):
        made = named(None, task, given)
        return made.name, type(made.model).__name__

    assert chosen("classes") == ("arow", "AROW") and chosen("numbers") == ("ftrl", "FTRLRegressor")
    assert chosen("classes", r=0.1) == ("arow", "AROW") and chosen("classes", average=True)[0] == "arow"
    assert chosen("classes", C=0.1) == ("pa1", "PassiveAggressiveClassifier")
    assert chosen("classes", loss="logistic") == ("ftrl", "FTRLClassifier")
    assert chosen("numbers", C=0.1, epsilon=0) == ("pa1", "PassiveAggressiveRegressor")
    assert chosen("numbers", epsilon=0)[0] == "ftrl" and chosen("sets")[0] == chosen("points")[0] == "pa1"
    with pytest.raises(OnmarginError, match="no parameter 'nonsense'"):
        named(None, "classes", {"nonsense": 1})
