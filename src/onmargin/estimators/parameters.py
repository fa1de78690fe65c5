"""Parameters: ours checked, other libraries' names answered with ours, each in one line."""

from __future__ import annotations

import inspect
import math
from functools import wraps
from typing import Any

import numpy as np

from ..errors import BadInput, BadType

RENAMED = {
    "loss": "use step='pa1' (loss='hinge', 'epsilon_insensitive') or step='pa2' (loss='squared_hinge', "
    "'squared_epsilon_insensitive')",
    "mode": "use step='pa' (mode=0), step='pa1' (mode=1) or step='pa2' (mode=2)",
    "eps": "use epsilon=",
    "learn_intercept": "use fit_intercept=",
    "learning_rate": "use step='pa1' or step='pa2'",
    "eta0": "use C= (Passive-Aggressive) or rate= (Perceptron)",
    "n_jobs": "several classes are learned natively in one loop; leave it out",
    "early_stopping": "passes stop by tol= and n_iter_no_change=; leave it out",
    "validation_fraction": "passes stop by tol= and n_iter_no_change=; leave it out",
    "penalty": "margin learners regularise by their step; leave it out",
    "alpha": "margin learners regularise by their step; leave it out",
    "seed": "use random_state=",
    "n_iter": "use max_iter=",
    "beta": "use a= (second-order Perceptron) or r= (AROW)",
    "eta": "use confidence= (CW, SCW) or rate= (Perceptron)",
    "multi_class": "several classes are learned natively; leave it out",
    "kernel": "kernel forms are not part of this class yet; leave it out",
}


def answering(init: Any) -> Any:
    """An __init__ that answers another library's parameter names with ours."""
    known = set(inspect.signature(init).parameters) - {"self"}

    @wraps(init)
    def answered(self: Any, *args: Any, **given: Any) -> None:
        refuse_unknown(self, given, known)
        init(self, *args, **given)

    return answered


def refuse_unknown(owner: Any, given: Any, known: Any) -> None:
    """Raise for the first name that is not a parameter, with ours where we know what was meant."""
    for name in given:
        if name not in known:
            hint = RENAMED.get(name, f"known are {', '.join(sorted(known))}")
            raise BadType(f"{type(owner).__name__} has no parameter {name!r}; {hint}")


def require_whole(name: str, value: Any) -> None:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise BadInput(f"{name}={value!r}; wanted a whole number of at least 1")


def require_positive(name: str, value: Any, zero: bool, infinite: bool) -> None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise BadInput(f"{name}={value!r}; wanted a number") from None
    fine = number > 0 or (zero and number == 0)
    if not fine or (math.isinf(number) and not infinite):
        wanted = "at least 0" if zero else "above 0"
        raise BadInput(f"{name}={value!r}; wanted a number {wanted}{' (inf allowed)' if infinite else ''}")
