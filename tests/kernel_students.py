"""For every row of the table of kernel algorithms: the public estimator, a small stream, and its oracle.

Names are those of the table: `kernel_pa1.top` keeps every vector, `budget_pa1.top` few of them,
`rbp.binary`, `om2.labels` and the like have a name of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import onmargin as om

from . import students
from .oracles_kernels import KERNEL_ORACLES, KernelRun, play_kernel
from .students import SCALING, Stream, problem_of

ROWS, FEATURES = 72, 4
BUDGET = 9  # below the rank of all kernels here, reached by all learners
TOLERANCE = 0.45
KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf", "gamma": 0.4},
    "poly": {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 1.0},
    "linear": {"kernel": "linear"},
}
MANY = [("rbf", {"gamma": 0.4}), "linear", ("poly", {"gamma": 0.3, "degree": 3, "coef0": 1.0})]
BOUNDED = {"rbp": om.RandomBudgetPerceptron, "forgetron": om.Forgetron, "stoptron": om.Stoptron}
FAMILIES = ("perceptron", "pa", "pa1", "pa2", "pegasos")  # those with kernel= and budget=
KERNEL_NAMES = [
    *(f"{kept}_{base}" for base in KERNEL_ORACLES for kept in ("kernel", "budget")
      if base.split(".")[0] in FAMILIES),
    *(f"{family}.{problem}" for family in ("projectron", "projectron_plus", *BOUNDED, "om2")
      for problem in ("binary", "top", "labels")),
]  # fmt: skip
ELSEWHERE = [  # rows whose oracles have a test of their own, beside BBQ's and those of kernels that forget
    "evidence.binary", "evidence.regression", "ridge.regression",
    *(f"kernel_shifting.{problem}" for problem in ("binary", "top", "labels")),
]  # fmt: skip


def base_of(name: str) -> str:
    """The linear row that a kernel row is made of, or its own name."""
    return name.removeprefix("kernel_").removeprefix("budget_")


def oracle_of(name: str) -> tuple[str, dict[str, Any]]:
    """The oracle of a row and what it is told besides; KeyError where there is none."""
    base, more = base_of(name), {}
    family, problem = base.split(".")
    if base not in KERNEL_ORACLES and family in (*BOUNDED, "om2") and problem in ("binary", "labels"):
        # the same functions under another demand; OM-2's two classes are two outputs
        more = {} if base == "om2.binary" else {"problem": problem}
        base = f"{family}.top"
    KERNEL_ORACLES[base]
    if name.startswith("budget_") or family in BOUNDED:
        more["budget"] = BUDGET
    return base, more


def parameters(name: str, kind: str = "rbf") -> dict[str, Any]:
    """What the student and the oracle are both told."""
    base = base_of(name)
    family, problem = base.split(".")
    if family in BOUNDED or family == "om2":
        return {}
    if family.startswith("projectron"):
        return {"tolerance": TOLERANCE}
    if problem == "uniclass":  # such that some points are inside and some are not
        return {"C": 0.3, "epsilon": 0.5 if kind == "rbf" else 2.5}
    return students.parameters(base)


def can_average(name: str) -> bool:
    """Learners that drop vectors keep no average, neither does OM-2."""
    return name.split(".")[0] not in (*BOUNDED, "om2")


def student(name: str, kind: str = "rbf", intercept: bool = True, **more: Any) -> Any:
    """The public estimator of a row of the table, in float64 unless told otherwise."""
    base = base_of(name)
    family = base.split(".")[0]
    chosen = {"dtype": "float64", **parameters(name, kind), **more}
    if family == "om2":
        return om.OM2(**{"kernels": MANY} | chosen)
    chosen = KERNELS[kind] | chosen
    if name.startswith(("kernel_", "budget_")):
        if name.startswith("budget_"):
            chosen.setdefault("budget", BUDGET)
        return students.student(base, intercept, **chosen)
    chosen |= {"fit_intercept": intercept, "intercept_scaling": SCALING}
    if family in BOUNDED:
        return BOUNDED[family](**{"budget": BUDGET} | chosen)
    return om.Projectron(plus=family == "projectron_plus", **chosen)


def stream(name: str, seed: int = 0, rows: int = ROWS) -> Stream:
    """Noisy rows, one of them empty, some of weight 0."""
    return students.stream(base_of(name), rows, FEATURES, seed)


def luck(rows: int = ROWS) -> np.ndarray:
    """A uniform per round."""
    return np.random.default_rng(77).random(rows)


def gram(kind: str, A: np.ndarray, B: np.ndarray | None = None, bias: float = 0.0) -> np.ndarray:
    """k(a, b) by its formula, with the constant coordinate's square."""
    B = A if B is None else B
    if kind == "rbf":
        return np.exp(-0.4 * cdist(A, B, "sqeuclidean")) + bias**2
    return (A @ B.T if kind == "linear" else (0.3 * A @ B.T + 1.0) ** 3) + bias**2


def grams(A: np.ndarray, B: np.ndarray | None = None) -> np.ndarray:
    """(F, a, b): the kernels of OM-2 here."""
    return np.array([gram(kind, A, B) for kind in ("rbf", "linear", "poly")])


def expected(
    name: str, given: Stream, kind: str = "rbf", intercept: bool = True, weighted: bool = True, **more: Any
) -> KernelRun:
    """What the oracle makes of the stream."""
    oracle, told = oracle_of(name)
    _, y, outputs = students.for_oracle(base_of(name), given)
    if name == "om2.binary":
        y, outputs = (y > 0).astype(int), 2
    bias = SCALING if intercept and problem_of(name) != "points" else 0.0
    K = grams(given.X) if oracle.startswith("om2") else gram(kind, given.X, bias=bias)
    h = given.h if weighted else np.ones(len(given.h))
    return play_kernel(oracle, K, y, h, outputs, luck(len(h)), **parameters(name, kind) | told | more)
