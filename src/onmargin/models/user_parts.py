"""A user's plain function as a part of the loop, and trials whether it is what it claims to be.

It names the arguments it wants, we pass those.

A loss: its slope against the numeric derivative. A step: one finite number. A map: against the
numeric Fenchel conjugate of its regulariser, or, where none is given, whether it can be the gradient
of a convex function at all. Every trial is compiled as the loop will compile it, and cached alike.
"""

from __future__ import annotations

import inspect
import math
import re
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from ..compiled.parts import Part, digits, guarded, plain, specialise
from ..errors import BadInput, shown
from ..learn.spaces.linear import Linear
from ..learn.user_functions import adapted, try_link, try_loss, try_query, try_step
from ..learn.vocabulary import KNOWN, REMEMBERED, USER_NUMBERS, Hyper, Numbers, Round, hyper_of

NEAR = 1e-5  # width of a numeric derivative
DIMENSIONS = 6

# What the loop hands to each role, by name.
ARGUMENTS = {
    "loss": ("margin", "required"),
    "step": ("margin", "loss", "slope", "size", "pull", "now", "hyper"),
    "space": ("theta", "weights", "hyper"),
    "query": ("space", "scores", "now", "hyper"),
    "decide": ("scores", "now", "hyper"),
    "demand": ("scores", "target", "guess", "hyper", "pull"),
    "wrong": ("scores", "target", "guess", "hyper"),
}


def own_part(role: str, function: Part) -> Part:
    """The function as a part of that role, under a name that changes with what it computes."""
    source = plain(function)
    if not isinstance(source, FunctionType):
        raise BadInput(f"{role}={shown(function)}; wanted a name or a Python function")
    wanted = ARGUMENTS[role]
    given = list(inspect.signature(source).parameters)
    strange = [name for name in given if name not in wanted]
    if strange:
        raise BadInput(
            f"the {role} {source.__name__!r} takes {', '.join(given)}; wanted some of {', '.join(wanted)}"
        )
    name = f"{called(function)}_{digits(function)[:16]}"
    return adapted(guarded(function), wanted, given, name)


def bare(role: str, function: Part) -> Part:
    """The same in plain Python, where reading beyond an array's end is an error."""
    source = plain(function)
    given = inspect.signature(source).parameters
    places = [ARGUMENTS[role].index(name) for name in given]

    def played(*arguments: object) -> object:
        try:
            return source(*(_seen(arguments[place]) for place in places))
        except IndexError as error:
            if "own" not in source.__code__.co_names:
                raise
            raise IndexError(f"{error}; hyper.own has the numbers of Recipe(own=...)") from None

    return played


def _seen(value: object) -> object:
    if not isinstance(value, Hyper):
        return value
    return Numbers(
        value.C, value.margin, value.epsilon, value.rate, value.outputs, value.numbers[USER_NUMBERS:]
    )


def called(function: Part) -> str:
    """A function's name, fit for ours."""
    return re.sub(r"\W", "", plain(function).__name__) or "own"


# ---- is it what it claims to be?


def some_hyper(own: np.ndarray, outputs: int = 1) -> Hyper:
    """Parameters as they are by default."""
    remembered = np.zeros(REMEMBERED)
    remembered[KNOWN] = DIMENSIONS
    return hyper_of({"own": own}, outputs, remembered)


def refusal(role: str, name: str, error: Exception) -> BadInput:
    """A failure inside the user's function, in one line."""
    lines = [" ".join(line.split()) for line in str(error).splitlines()]
    dull = ("Failed in", "During:", "File", ">>>", "There are", "- Of which", "Overload")
    lines = [line for line in lines if line and not line.startswith(dull)]
    reason = lines[0][:160] if lines else type(error).__name__
    return BadInput(
        f"the {role} {name!r} cannot be compiled ({type(error).__name__}: {reason}); wanted numbers, math "
        "and plain loops, without new arrays"
    )


def run(role: str, name: str, trial: Part, *arguments: object) -> Any:
    """Call a trial; what goes wrong in it is the user's to know."""
    try:
        return trial(*arguments)
    except IndexError as error:
        raise _leaves(role, name, error) from None
    except (
        NumbaError,
        ArithmeticError,
        TypeError,
        ValueError,
        KeyError,
        AttributeError,
    ) as error:
        raise refusal(role, name, error) from None


def stays_inside(role: str, name: str, bare: Part, *arguments: object) -> None:
    """Plain Python says best where an array was left; in the loop a user's function is checked as well."""
    try:
        bare(*arguments)
    except IndexError as error:
        raise _leaves(role, name, error) from None
    except Exception:
        return  # the compiled trial will tell


def _leaves(role: str, name: str, error: IndexError) -> BadInput:
    return BadInput(f"the {role} {name!r} reads or writes beyond an array's end ({error})")


def check_loss(name: str, function: Part, bare: Part) -> None:
    """(loss, slope), finite, and the slope minus the derivative by the margin."""
    stays_inside("loss", name, bare, 0.3, 1.0)
    trial = specialise(try_loss, loss=function)
    for required in (1.0, 0.0, -0.3):
        for margin in np.linspace(-2.93, 2.71, 29).tolist():
            said = run("loss", name, trial, margin, required)
            if not (isinstance(said, tuple) and len(said) == 2 and all(map(is_number, said))):
                raise BadInput(
                    f"the loss {name!r} gave {line(said)}; wanted two finite numbers, (loss, slope)"
                )
            before, after = trial(margin - NEAR, required)[0], trial(margin + NEAR, required)[0]
            falls = sorted([(before - said[0]) / NEAR, (said[0] - after) / NEAR])
            slack = 1e-3 * (1.0 + abs(said[1]))
            if not falls[0] - slack <= said[1] <= falls[1] + slack:
                raise BadInput(
                    f"the loss {name!r} says slope {said[1]:.4g} at margin {margin:.4g}, but falls by "
                    f"{0.5 * sum(falls):.4g} there; wanted minus the derivative by the margin"
                )


def check_step(name: str, function: Part, bare: Part, own: np.ndarray) -> None:
    """One finite number for an ordinary round."""
    trial, hyper = specialise(try_step, step=function), some_hyper(own)
    for margin in (-1.3, 0.2, 0.9):
        now = Round(0, 3, 1.0, 0.5, 0)
        arguments = (margin, 1.0 - margin, 1.0, 2.0, np.array([1.0]), now, hyper)
        stays_inside("step", name, bare, *arguments)
        said = run("step", name, trial, *arguments)
        if not is_number(said):
            raise BadInput(f"the step {name!r} gave {line(said)}; wanted one finite number")


def check_query(name: str, function: Part, bare: Part, own: np.ndarray) -> None:
    """True or False for an ordinary round."""
    space = Linear(np.zeros(DIMENSIONS), np.zeros(0), np.zeros(2))
    arguments = (space, np.array([0.3]), Round(0, 3, 1.0, 0.5, 0), some_hyper(own))
    stays_inside("query", name, bare, *arguments)
    said = run("query", name, specialise(try_query, ask=function), *arguments)
    if not isinstance(said, bool | np.bool_):
        raise BadInput(f"the query {name!r} gave {line(said)}; wanted True or False")


@cache
def own_rule(function: Part) -> Part:
    """A user's rule of asking: a query that sees scores, the round and numbers, tried."""
    if "space" in inspect.signature(plain(function)).parameters:
        raise BadInput(
            f"the rule {called(function)!r} takes space; wanted some of scores, now, hyper: rows are asked "
            "about outside of a Space too"
        )
    made = own_part("query", function)
    check_query(called(function), made, bare("query", function), np.zeros(0))
    return made


def check_link(name: str, function: Part, bare: Part, regularizer: Part | None, own: np.ndarray) -> None:
    """w = grad g*(theta)."""
    if regularizer is not None and not callable(regularizer):
        raise BadInput(
            f"the regulariser of the space {name!r} is {shown(regularizer)}; wanted a function of w"
        )
    stays_inside("space", name, bare, np.zeros(DIMENSIONS), np.zeros(DIMENSIONS), some_hyper(own))
    trial, hyper = specialise(try_link, link=function), some_hyper(own)

    def mapped(theta: np.ndarray) -> np.ndarray:
        weights = np.full(DIMENSIONS, np.nan)
        run("space", name, trial, theta, weights, hyper)
        if not np.isfinite(weights).all():
            raise BadInput(
                f"the space {name!r} left {weights.tolist()} for theta={theta.tolist()}; wanted it to write "
                "a finite number for every theta into `weights`"
            )
        return weights

    if mapped(np.zeros(DIMENSIONS)).any():
        raise BadInput(f"the space {name!r} does not map 0 to 0; features never met would have weights")
    draw = np.random.default_rng(0)
    for scale in (0.3, 1.0, 2.0):
        theta = scale * draw.standard_normal(DIMENSIONS)
        weights = mapped(theta)
        if regularizer is None:
            _check_gradient(name, mapped, theta)
        else:
            _check_conjugate(name, regularizer, theta, weights)


def _check_gradient(name: str, mapped: Part, theta: np.ndarray) -> None:
    """A gradient's Jacobian is symmetric; a convex function's has no negative eigenvalue."""
    columns = [(mapped(theta + NEAR * e) - mapped(theta - NEAR * e)) / (2 * NEAR) for e in np.eye(DIMENSIONS)]
    jacobian = np.array(columns)
    size = max(np.abs(jacobian).max(), 1e-12)
    if np.abs(jacobian - jacobian.T).max() > 1e-3 * size:
        raise BadInput(
            f"the space {name!r} is no gradient (its Jacobian is not symmetric): no regulariser has it"
        )
    if np.linalg.eigvalsh(jacobian + jacobian.T).min() < -1e-3 * size:
        raise BadInput(
            f"the space {name!r} is no gradient of a convex function: weights must grow with their theta"
        )


def _check_conjugate(name: str, regularizer: Part, theta: np.ndarray, weights: np.ndarray) -> None:
    """<theta, w> - g(w) is at its largest at the weights: g*(theta)."""
    from scipy.optimize import minimize

    g = plain(regularizer)

    def value(w: np.ndarray) -> float:
        said = g(w)
        if not is_number(said):
            raise BadInput(
                f"the regulariser {g.__name__!r} gave {line(said)}; wanted one number for a vector w"
            )
        return float(said) - float(theta @ w)

    here = value(weights)
    start = weights + 0.1 * np.random.default_rng(1).standard_normal(DIMENSIONS)
    best = min(minimize(value, s, method="BFGS").fun for s in (weights, start, 0.5 * weights))
    if here > best + 1e-4 * max(1.0, abs(best)):
        raise BadInput(
            f"the space {name!r} does not fit its regulariser: <theta, w> - g(w) is {-here:.6g} at its "
            f"weights, but the conjugate g*(theta) is {-best:.6g}"
        )


def line(value: object) -> str:
    """What a function gave, for a message."""
    return " ".join(repr(value).split())[:80]


def is_number(value: object) -> bool:
    """A finite one?"""
    return isinstance(value, int | float | np.number) and math.isfinite(value)
