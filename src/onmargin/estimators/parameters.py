"""Parameters: ours checked, other libraries' names answered with ours, each in one line."""

from __future__ import annotations

import inspect
import math
from functools import wraps
from typing import Any

import numpy as np

from ..errors import BadInput, BadType

LEAVE = "leave it out"
RENAMED = {
    "mode": "use step='pa' (mode=0), step='pa1' (mode=1) or step='pa2' (mode=2)",
    "eps": "use epsilon=",
    "learn_intercept": "use fit_intercept=",
    "eta0": "use C= (Passive-Aggressive) or rate= (Perceptron)",
    "n_jobs": f"several classes are learned natively in one loop; {LEAVE}",
    "multi_class": f"several classes are learned natively; {LEAVE}",
    "early_stopping": f"passes stop by tol= and n_iter_no_change=; {LEAVE}",
    "validation_fraction": f"passes stop by tol= and n_iter_no_change=; {LEAVE}",
    "seed": "use random_state=",
    "n_iter": "use max_iter=",
    "beta": "use a= (second-order Perceptron) or r= (AROW)",
    "eta": "use confidence= (CW, SCW) or rate= (Perceptron)",
    "nu": "use epsilon= (the radius) or max_radius= (it is learned)",
    "kernel": f"this class is linear; use Perceptron, PassiveAggressiveClassifier or Pegasos, or {LEAVE}",
    "class_weight": f"its rounds or groups are balanced by themselves; use sample_weight=, or {LEAVE}",
    "budget": f"all vectors are kept; {LEAVE}",
    "average": f"an average would need the vectors that were dropped; {LEAVE}",
} | {
    name: f"the step itself regularises; {LEAVE}"
    for name in (
        "penalty",
        "alpha",
        "l1_ratio",
        "l1",
        "l2",
        "power_t",
        "clip_gradient",
        "initializer",
        "optimizer",
    )
}


def ours_for(name: str, value: Any, known: set[str]) -> str:
    """What another library's parameter is called here."""
    if name == "learning_rate" and {"step", "rate"} <= known:
        return "use step= and rate="
    if name in ("loss", "learning_rate"):
        if "step" not in known:
            return f"the loss belongs to the algorithm; {LEAVE}"
        return "use step='pa2'" if "squared" in str(value) or value == "pa2" else "use step='pa1'"
    return RENAMED.get(name, f"known are {', '.join(sorted(known))}")


def answering(init: Any) -> Any:
    """An __init__ that answers another library's parameter names with ours."""
    known = set(inspect.signature(init).parameters) - {"self"}

    @wraps(init)
    def answered(self: Any, *args: Any, **given: Any) -> None:
        refuse_unknown(self, given, known)
        init(self, *args, **given)

    return answered


def refuse_unknown(owner: Any, given: dict[str, Any], known: set[str]) -> None:
    """Raise for the first name that is not a parameter, with ours where we know what was meant."""
    for name, value in given.items():
        if name not in known:
            hint = ours_for(name, value, known)
            raise BadType(f"{type(owner).__name__} has no parameter {name!r}; {hint}")


def require_positive(name: str, value: Any, zero: bool, infinite: bool) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise BadInput(f"{name}={value!r}; wanted a number")
    number = float(value)
    fine = number > 0 or (zero and number == 0)
    if not fine or (math.isinf(number) and not infinite):
        wanted = "at least 0" if zero else "above 0"
        raise BadInput(f"{name}={value!r}; wanted a number {wanted}{' (inf allowed)' if infinite else ''}")
