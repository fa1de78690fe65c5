"""For every row of the table of algorithms: the public estimator, and a small stream to teach it."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import onmargin as om

from .oracles_tracking import HORIZON

SCALING = 0.7  # the constant coordinate
COST = np.array([[0.0, 1.0, 4.0], [0.25, 0.0, 2.0], [1.0, 0.5, 0.0]])
NUMBERS = {"C": 0.3, "margin": 0.8}  # small enough to be reached, large enough not always to be
CLASSES, LABELS = 3, 4
PLAIN = {
    "average": False,
    "intercept_scaling": 1.0,
}  # as the formulas are: no mean, and 1 beside the features
REGULARIZER = {  # what the regularisers read, beside the rate
    "l2": {}, "pnorm": {"p": 1.6}, "group": {"p": 1.4}, "entropic": {"radius": 3.0},
    "simplex": {"radius": 2.0}, "adagrad": {"adagrad_delta": 0.5}, "coin": {"coin_epsilon": 2.0},
    "soft": {"l1": 0.05},
}  # fmt: skip


class Stream(NamedTuple):
    """Rows, their targets as `fit` takes them, and their weights."""

    X: np.ndarray
    y: Any
    h: np.ndarray


def problem_of(name: str) -> str:
    """binary, classes, labels, numbers or points: what the targets of a row of the table are."""
    problem = name.removesuffix("~").split(".")[1]
    known = {"regression": "numbers", "uniclass": "points"}
    known |= dict.fromkeys(("labels", "calibrated", "apart_labels"), "labels")
    return known.get(problem, "binary" if problem.startswith("binary") else "classes")


def plainly(cls: Any) -> dict[str, Any]:
    """Parameters for a learner as its formulas are: as far as it has them."""
    given = PLAIN | {"r": 1.0, "regularizer": "l2", "multilabel": "ranking"}
    return {field.name: given[field.name] for field in dataclasses.fields(cls) if field.name in given}


def as_fixed(model: Any) -> dict[str, Any]:
    """The numbers that a model's first rows have fixed, to be told to another."""
    return {name: getattr(model, name + "_", value) for name, value in model._fixed.items()}


def plain(cls: Any, **parameters: Any) -> Any:
    """A learner as its formulas are: nothing is averaged, no data fixes the constant coordinate."""
    return cls(**plainly(cls) | parameters)


def can_average(name: str) -> bool:
    """An average of sparse weights is refused, and of those that forget."""
    return not name.startswith(("ftrl_soft", "shifting", "projected")) and not name.endswith("~")


def luck(rows: int) -> np.ndarray:
    """A uniform per round, for those that play by a coin."""
    return np.random.default_rng(77).random(rows)


def parameters(name: str) -> dict[str, Any]:
    """What the student and the oracle are both told."""
    family, problem = name.removesuffix("~").split(".")
    if family in ("shifting", "projected", "banditron"):
        tracking = {"shifting": {"lam": 1.5}, "projected": {"radius": 1.2, "rate": 0.6}}
        return (tracking | {"banditron": {"gamma": 0.3}})[family]
    if family == "perceptron":
        return {"rate": 0.6}
    if family.startswith("ftrl"):
        chosen: dict[str, Any] = {"rate": 0.4} | REGULARIZER[family.split("_")[1]]
        return chosen | ({"epsilon": 0.2} if problem == "regression" else {})
    if family in ("pegasos", "pnorm_aggressive", "ridge"):
        return {"pegasos": {"lam": 0.1}, "pnorm_aggressive": {"p": 1.6}, "ridge": {}}[family]
    if problem == "regression":
        return {"C": 0.3, "epsilon": 0.2}
    if problem == "uniclass":
        return {"C": 0.3, "epsilon": 0.9}
    if family.startswith("pa"):
        chosen = dict(NUMBERS)
        if "max_loss" in problem or "prediction" in problem:
            chosen = {"C": 0.3, "cost": COST[:2, :2] if problem.startswith("binary") else COST}
        return chosen
    first = family.split("_")[0]
    if first == "arow":
        return {"r": 1.7}
    return {"a": 1.3} if first == "sop" else {"C": 0.3, "confidence": 0.8}


def student(name: str, intercept: bool = True, **more: Any) -> Any:
    """The public estimator of a row of the table; with "~" at its end, one that forgets."""
    if name.endswith("~"):
        return student(name.removesuffix("~"), intercept, horizon=HORIZON, **more)
    family, problem = name.split(".")
    chosen = {"average": family == "pegasos", **parameters(name), **more}
    if problem != "uniclass":
        chosen |= {"fit_intercept": intercept, "intercept_scaling": SCALING}
    if family.startswith("ftrl"):
        return ftrl_student(family.split("_")[1], problem, chosen)
    if family in ("shifting", "projected"):
        chosen.pop("average", None)  # they keep none, and have no such parameter
        return {"shifting": om.ShiftingPerceptron, "projected": om.ProjectedPerceptron}[family](**chosen)
    if family == "banditron":
        return om.Banditron(**{"classes": range(CLASSES), "random_state": 0} | chosen)
    if family == "pegasos":
        return om.Pegasos(multiclass="one_vs_all" if "apart" in problem else "crammer_singer", **chosen)
    if family == "pnorm_aggressive":
        return om.OnlineClassifier(om.Recipe(loss="hinge", step="aggressive", space="pnorm"), **chosen)
    if family == "ridge":
        return om.OnlineClassifier(om.Recipe(loss="always", step="unit", space="ridge_full"), **chosen)
    if family == "perceptron":
        return om.Perceptron(update="uniform" if problem == "uniform" else "top", **chosen)
    if problem == "regression":
        return om.PassiveAggressiveRegressor(step=family, **chosen)
    if problem == "uniclass":
        return om.PassiveAggressiveUniclass(step=family, **chosen)
    if family == "pa1" and problem == "all":
        return om.MIRA(**chosen)
    if family.startswith("pa"):
        return om.PassiveAggressiveClassifier(
            step=family,
            update="all" if problem == "all" else "top",
            multilabel="calibrated" if problem == "calibrated" else "ranking",
            cost_update="prediction" if problem.endswith("prediction") else "max_loss",
            **chosen,
        )
    rule, shape = family.split("_")
    if rule == "arow":
        return om.AROW(covariance=shape, **chosen)
    if rule == "sop":
        return om.SecondOrderPerceptron(covariance=shape, **chosen)
    return om.SoftConfidenceWeighted(form=rule, covariance=shape, **chosen)


def ftrl_student(space: str, problem: str, chosen: dict[str, Any]) -> Any:
    """The simplex is the entropic regulariser without signs, the soft threshold l2 with l1 > 0."""
    cls = om.FTRLRegressor if problem == "regression" else om.FTRLClassifier
    regularizer = {"simplex": "entropic", "soft": "l2"}.get(space, space)
    return cls(regularizer=regularizer, signed=space != "simplex", **chosen)


# Rows of the table whose loop is compiled for CSR as well: one for every Space, and one of many outputs.
BOTH_TABLES = (
    "pa1.binary", "pa1.top", "pa1.regression", "pa1.uniclass", "pegasos.binary", "pnorm_aggressive.binary",
    "shifting.binary", "projected.binary",
    *(f"{rule}_{shape}.binary" for rule in ("arow", "scw1", "sop") for shape in ("diag", "full")),
    *(f"ftrl_{space}.binary" for space in REGULARIZER),
)  # fmt: skip


def tables(name: str, X: np.ndarray) -> list[Any]:
    """Dense, and CSR for a few: each costs seconds to compile. As plain Python both are played for all."""
    return [X, sp.csr_matrix(X)] if name in BOTH_TABLES else [X]


def stream(name: str, rows: int = 60, features: int = 5, seed: int = 0) -> Stream:
    """Noisy rows with holes, one of them empty; weights between 0 and 2, some of them 0."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(rows, features)) * (draw.random((rows, features)) < 0.8)
    X[rows // 2] = 0.0
    h = np.where(draw.random(rows) < 0.15, 0.0, draw.uniform(0.1, 2.0, rows))
    scores = X @ draw.normal(size=(features, LABELS)) + 0.5 * draw.normal(size=(rows, LABELS))
    problem = problem_of(name)
    if problem == "labels":
        y = (scores > 0.3).astype(int)  # empty and full sets among them
    elif problem == "numbers":
        y = scores[:, 0]
    elif problem == "points":
        y = None
    elif problem == "binary":
        y = np.array(["no", "yes"])[(scores[:, 0] > 0).astype(int)]
    else:
        y = scores[:, :CLASSES].argmax(axis=1)
    return Stream(X, y, h)


def for_oracle(name: str, given: Stream, intercept: bool = True) -> tuple[np.ndarray, Any, int]:
    """The stream as the oracles take it: bias coordinate, coded targets, number of outputs."""
    X, y, h = given
    problem = problem_of(name)
    last = SCALING if intercept and problem != "points" else 0.0
    X = np.c_[X, np.full(len(X), last)]
    if problem == "binary":
        return X, np.where(y == "yes", 1, -1), 1
    if problem == "labels":
        return X, y, LABELS + name.endswith("calibrated")
    if problem == "classes":
        return X, y, CLASSES
    return X, np.zeros(len(X)) if y is None else y, 1
