"""How a user's function enters the loop: handed the arguments that it names."""

from __future__ import annotations

from typing import Any

from ..compiled.parts import Part, compose
from .losses import hinge as loss
from .queries import always as ask
from .spaces.user_map import link
from .steps import pa1 as step
from .vocabulary import USER_NUMBERS, Numbers

SEEN_HYPER = (  # what `hyper` is to a user's function
    "Numbers(hyper.C, hyper.margin, hyper.epsilon, hyper.rate, hyper.outputs, hyper.numbers[USER_NUMBERS:])"
)


def adapted(function: Part, wanted: tuple[str, ...], given: list[str], name: str) -> Part:
    """A part with the arguments `wanted` by its role, which calls a function of some of them."""
    passed = ", ".join(SEEN_HYPER if argument == "hyper" else argument for argument in given)
    text = f"def adapter({', '.join(wanted)}):\n    return own({passed})\n"
    scope: dict[str, Any] = {"__name__": __name__, "Numbers": Numbers, "USER_NUMBERS": USER_NUMBERS}
    exec(compile(text, __file__, "exec"), scope)  # the names were checked against ours
    return compose(scope["adapter"], name, own=function)


def try_loss(margin, required):
    """One call of a loss."""
    return loss(margin, required)


def try_step(margin, suffered, slope, size, pull, now, hyper):
    """One call of a step."""
    return step(margin, suffered, slope, size, pull, now, hyper)


def try_link(theta, weights, hyper):
    """One call of a map from theta to the weights."""
    link(theta, weights, hyper)


def try_query(space, scores, now, hyper):
    """One call of a query."""
    return ask(space, scores, now, hyper)
