"""Learners by the names of the papers: a family and a task, or a row of `om.algorithms()`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import NamedTuple, cast

import numpy as np

from ...errors import BadInput, shown
from ...estimators import every
from ...interface.feedback.asks import AsksForLabels
from ...interface.learner import Learner
from ...interface.parameters.fields import check_limits
from ...models.recipe import Recipe
from ...models.table import ROWS

CLASSES, NUMBERS, SETS, QUERIES, POINTS = "classes", "numbers", "sets", "queries", "points"
TASKS = {
    CLASSES: "one label a row", NUMBERS: "a number a row", SETS: "several labels a row",
    QUERIES: "rows of queries, to be ranked", POINTS: "rows without labels",
}  # fmt: skip
USUAL = {
    CLASSES: ("arow", "pa1", "ftrl"), NUMBERS: ("ftrl", "pa1"), SETS: ("pa1", "ftrl"),
    QUERIES: ("ranking_auc",), POINTS: ("pa1",),
}  # fmt: skip
"""Families for those who name none, the best first: as streams came out in docs/defaults.md."""
AGGRESSIVE = ("C", "step")  # by themselves they mean Passive-Aggressive's
MOST_DISTINCT = 20  # whole numbers are classes up to so many; more where they number something, 1, 2, 3, ...
NOBODY = "OnlineClassifier"

Parameters = dict[str, object]
Family = dict[str, tuple[str, Parameters]]


class Named(NamedTuple):
    """A fresh learner, and what it is called; `two`: the row's name says that there are two classes."""

    model: Learner | AsksForLabels
    name: str
    task: str
    two: bool = False


# ---- the names


def _labelled(kind: str, **given: object) -> Family:
    return {CLASSES: (kind, given), SETS: (kind, given)}


def _plain() -> dict[str, Family]:
    """Families whose learners are linear, or have a name of their own."""
    found = {
        "perceptron": _labelled("Perceptron"),
        "mira": {CLASSES: cast("tuple[str, Parameters]", ("MIRA", {}))},
        "pegasos": _labelled("Pegasos"), "shifting": _labelled("ShiftingPerceptron"),
        "projected": _labelled("ProjectedPerceptron"), "projectron": _labelled("Projectron"),
        "projectron_plus": _labelled("Projectron", plus=True), "rbp": _labelled("RandomBudgetPerceptron"),
        "forgetron": _labelled("Forgetron"), "stoptron": _labelled("Stoptron"), "om2": _labelled("OM2"),
    }  # fmt: skip
    for step in ("pa", "pa1", "pa2"):
        found[step] = _labelled("PassiveAggressiveClassifier", step=step) | {
            NUMBERS: ("PassiveAggressiveRegressor", {"step": step}),
            POINTS: ("PassiveAggressiveUniclass", {"step": step}),
        }
    for name, kind, given in (
        ("arow", "AROW", {}), ("sop", "SecondOrderPerceptron", {}), ("scw", "SoftConfidenceWeighted", {}),
        *((form, "SoftConfidenceWeighted", {"form": form}) for form in ("scw1", "scw2", "cw")),
    ):  # fmt: skip
        found[name] = _labelled(kind, **given)
        for shape in ("diag", "full"):
            found[f"{name}_{shape}"] = _labelled(kind, **given, covariance=shape)
    norms: dict[str, Parameters] = {
        "ftrl": {}, "ftrl_soft": {"l1": 1e-3}, "ftrl_simplex": {"regularizer": "entropic", "signed": False},
        **{f"ftrl_{norm}": {"regularizer": norm} for norm in ("l2", "adagrad", "coin", "pnorm", "group")},
        "ftrl_entropic": {"regularizer": "entropic"},
    }  # fmt: skip
    for name, numbers in norms.items():
        found[name] = _labelled("FTRLClassifier", **numbers) | {NUMBERS: ("FTRLRegressor", numbers)}
    return found


def _families() -> dict[str, Family]:
    found = _plain()
    for name in ("perceptron", "pa", "pa1", "pa2", "pegasos"):
        for keeping, more in (("kernel", {"kernel": "rbf"}), ("budget", {"kernel": "rbf", "budget": 100})):
            found[f"{keeping}_{name}"] = {
                task: (kind, given | more) for task, (kind, given) in found[name].items()
            }
    found["kernel_shifting"] = _labelled("ShiftingPerceptron", kernel="rbf")
    found["paired"] = _labelled("PairedClassifier")
    for rule in ("dca", "sequential", "auc", "max_violators", "correct_mistakes"):
        found[f"paired_{rule}"] = _labelled("PairedClassifier", rule=rule)
        found[f"kernel_paired_{rule}"] = _labelled("PairedClassifier", rule=rule, kernel="rbf")
    found["ranking"] = {QUERIES: ("PairedRanker", {})}
    for rule in ("auc", "max_violators"):
        found[f"ranking_{rule}"] = {QUERIES: ("PairedRanker", {"rule": rule})}
    found["candidates"] = {QUERIES: ("CandidateClassifier", {})}
    for step in ("pa", "pa1", "pa2", "perceptron"):
        found[f"candidates_{step}"] = {QUERIES: ("CandidateClassifier", {"step": step})}
    found["banditron"] = {CLASSES: ("Banditron", {})}
    known: dict[str, Parameters] = {"bbq": {}, "evidence": {"kernel": "rbf"}}
    for name, more in known.items():
        found[name] = {CLASSES: ("BBQ", more), NUMBERS: ("BBQRegressor", more)}
    found["pnorm_aggressive"] = {CLASSES: (NOBODY, {"recipe": ("hinge", "aggressive", "pnorm")})}
    found["ridge"] = {
        CLASSES: (NOBODY, {"recipe": ("always", "unit", "ridge_full")}), NUMBERS: ("BBQRegressor", {}),
    }  # fmt: skip
    return found


FAMILIES = _families()
PROBLEMS: dict[str, tuple[str, Parameters]] = {
    "binary": (CLASSES, {}), "top": (CLASSES, {}), "labels": (SETS, {}), "regression": (NUMBERS, {}),
    "uniform": (CLASSES, {"update": "uniform"}), "all": (CLASSES, {"update": "all"}),
    "calibrated": (SETS, {"multilabel": "calibrated"}), "uniclass": (POINTS, {}),
    "max_loss": (CLASSES, {"cost_update": "max_loss"}),
    "prediction": (CLASSES, {"cost_update": "prediction"}),
    "binary_max_loss": (CLASSES, {"cost_update": "max_loss"}),
    "binary_prediction": (CLASSES, {"cost_update": "prediction"}),
    "apart": (CLASSES, {"multiclass": "one_vs_all"}), "apart_labels": (SETS, {"multiclass": "one_vs_all"}),
    "queries": (QUERIES, {}), "groups": (QUERIES, {}),
}  # fmt: skip
"""What stands after the dot of a row's name: the task, and the parameters it means."""


def families() -> list[str]:
    """The names of `--algorithm` that leave the task to the labels."""
    return list(FAMILIES)


def parameters_of(family: str, task: str | None = None) -> set[str]:
    """What the learners of a family take, for one task or for any."""
    kinds = {kind for one, (kind, _) in FAMILIES[family].items() if task in (None, one)}
    return {field.name for kind in kinds for field in dataclasses.fields(every()[kind])}


def usual(task: str, parameters: Mapping[str, object]) -> str:
    """The family for those who name none: the best for the task that has the parameters given.

    >>> from onmargin.protocols.requested.naming import usual
    >>> usual("classes", {}), usual("classes", {"C": 0.1}), usual("classes", {"loss": "logistic"})
    ('arow', 'pa1', 'ftrl')
    >>> usual("numbers", {}), usual("numbers", {"C": 0.1})
    ('ftrl', 'pa1')
    """
    known = USUAL[task]
    if "pa1" in known and any(name in parameters for name in AGGRESSIVE):
        known = ("pa1", *known)
    able = [family for family in known if parameters.keys() <= parameters_of(family, task)]
    return (able or known)[0]


def named(algorithm: str | None, task: str, parameters: Mapping[str, object] | None = None) -> Named:
    """A fresh learner by a name of the papers, for a task; parameters by their names, checked by its class.

    algorithm : a family (`pa1`, `arow`, `ftrl_coin`, ...) or a row of `om.algorithms()` (`pa1.top`); None:
        the usual one for the task and the parameters.
    task : "classes", "numbers", "sets" (several labels a row), "queries" or "points" (no labels).

    Columns and classes may appear later (`growing=True`), and what is drawn is drawn alike every time
    (`random_state=0`), where the class can and nothing else is said.

    >>> from onmargin.protocols.requested.naming import named
    >>> named("pa2", "numbers", {"C": 0.1}).model
    PassiveAggressiveRegressor(C=0.1, growing=True, random_state=0, step='pa2')
    >>> named("cw_full.top", "classes").model
    SoftConfidenceWeighted(covariance='full', form='cw', growing=True, random_state=0)
    """
    require_task(task)
    algorithm = usual(task, parameters or {}) if algorithm is None else algorithm
    family, dot, problem = algorithm.partition(".")
    if family not in FAMILIES or (dot and algorithm not in ROWS):
        raise BadInput(
            f"algorithm {shown(algorithm)} is not known; {_near(algorithm)}see 'onmargin algorithms'"
        )
    given: Parameters = {}
    if dot:
        wanted, given = PROBLEMS[problem]
        if wanted != task:
            raise BadInput(f"{algorithm} learns {wanted} ({TASKS[wanted]}), and the data have {task}")
        if problem == "labels" and FAMILIES[family][SETS][0] == "PassiveAggressiveClassifier":
            given = {"multilabel": "ranking"}
    if task not in FAMILIES[family]:
        able = [name for name, tasks in FAMILIES.items() if task in tasks]
        raise BadInput(
            f"{algorithm} learns {' or '.join(FAMILIES[family])}, and the data have {task}; for these: "
            f"{', '.join(able[:8])}{', ...' if len(able) > 8 else ''}"
        )
    kind, known = FAMILIES[family][task]
    if "cost" in (parameters or {}) and parameters is not None:
        parameters = {**parameters, "cost": np.asarray(parameters["cost"], float)}
    elif "cost_update" in given:
        raise BadInput(f"{algorithm} needs a cost for every mistake; give --cost '[[0, 1], [5, 0]]'")
    model = _made(kind, known | given, dict(parameters or {}))
    return Named(model, algorithm, task, is_of_two(algorithm))


def is_of_two(algorithm: str) -> bool:
    """Is it a row for two classes?"""
    return algorithm.partition(".")[2].startswith("binary")


def _made(kind: str, known: Parameters, given: Parameters) -> Learner | AsksForLabels:
    cls = every()[kind]
    fields = {field.name for field in dataclasses.fields(cls)}
    if "recipe" in known:
        loss, step, space = cast("tuple[str, str, str]", known.pop("recipe"))
        known["recipe"] = Recipe("classification", loss, step, space)
    usually = {"growing": True, "random_state": 0}
    known = {name: value for name, value in usually.items() if name in fields} | known
    model: Learner | AsksForLabels = cls(**(known | given))
    check_limits(model)
    return model


def _near(algorithm: str) -> str:
    near = get_close_matches(algorithm, [*FAMILIES, *ROWS], 1, 0.6)
    return f"did you mean {near[0]}? Or " if near else ""


def require_task(task: str) -> None:
    """Refuse all but those there are."""
    if task not in TASKS:
        raise BadInput(f"task={shown(task)}; wanted one of {', '.join(TASKS)}")


# ---- what labels say


def task_of(targets: object, groups: object = None) -> str:
    """The task that some targets and groups (of a first block) mean.

    Groups: queries. Tuples or a table: sets. Texts: classes. Whole numbers, few of them different or without
    great gaps: classes; other numbers: numbers.

    >>> from onmargin.protocols.requested.naming import task_of
    >>> import numpy as np
    >>> task_of(np.array([1.0, -1.0])), task_of(np.array([0.5, 2.0])), task_of([(1.0, 3.0), ()])
    ('classes', 'numbers', 'sets')
    """
    if groups is not None:
        return QUERIES
    if targets is None:
        return POINTS
    if isinstance(targets, list) or np.ndim(np.asarray(targets)) == 2:
        return SETS
    values = np.asarray(targets)
    if values.dtype.kind not in "fiu":
        return CLASSES
    values = values[np.isfinite(values)]
    if not len(values):
        return POINTS
    distinct = np.unique(values)
    spread = distinct[-1] - distinct[0] + 1
    numbered = spread <= 2 * len(distinct) <= len(values)
    few = len(distinct) <= MOST_DISTINCT or numbered
    return CLASSES if few and (distinct == np.round(distinct)).all() else NUMBERS


# ---- parameters as they are typed


def typed(text: str) -> object:
    """A value as it was typed: true, false, none, a number, numbers or words with commas, else a text.

    What begins with [ or { is JSON (keys that are numbers become numbers: labels).

    >>> from onmargin.protocols.requested.naming import typed
    >>> typed("0.1"), typed("10"), typed("true"), typed("64MB"), typed("ham,spam"), typed('{"1": 2}')
    (0.1, 10, True, '64MB', ('ham', 'spam'), {1: 2})
    """
    if text[:1] in "[{" and text:
        import json

        try:
            return _keyed(json.loads(text))
        except (ValueError, RecursionError):
            raise BadInput(f"{shown(text)} is not JSON, as what begins with {text[0]} should be") from None
    if "," in text:
        return tuple(typed(part) for part in text.split(",") if part)
    return _one(text)


def _one(text: str) -> object:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    if text.isascii() and "_" not in text:
        for kind in (int, float):
            try:
                number = kind(text)
            except ValueError:
                continue
            return text if isinstance(number, float) and math.isnan(number) else number
    return text


def _keyed(value: object) -> object:
    if isinstance(value, dict):
        return {_one(key): _keyed(item) for key, item in value.items()}
    return value
