"""How a user's function enters the loop: handed the arguments that it names."""

from __future__ import annotations

import math
from typing import Any

from ..compiled.parts import Part, compose, part
from .losses import hinge as loss
from .queries import always as ask
from .spaces.user_map import link
from .steps import pa1 as step
from .tasks.classes import clear
from .tasks.classes import differs as wrong
from .tasks.classes import highest as decide
from .tasks.classes import top as demand
from .vocabulary import USER_NUMBERS, Numbers, Round

AS_SEEN = {  # what these are to a user's function
    "hyper": "Numbers(hyper.C, hyper.margin, hyper.epsilon, hyper.rate, hyper.outputs, "
    "hyper.numbers[USER_NUMBERS:])",
    "pull": "pull[: hyper.outputs]",  # (beyond, no weights need lie)
}


def adapted(function: Part, wanted: tuple[str, ...], given: list[str], name: str) -> Part:
    """A part with the arguments `wanted` by its role, which calls a function of some of them."""
    passed = ", ".join(AS_SEEN.get(argument, argument) for argument in given)
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


# ---- a user's task: what comes back from it is looked at in every round


class Nonsense(Exception):
    """A user's task gave what it must not; a loop that meets it has moved nothing in that round."""


def decides_class(scores, now, hyper):
    """A user's `decide`: one of the classes."""
    guess = float(decide(scores[: hyper.outputs], now, hyper))
    if not 0.0 <= guess < hyper.outputs or guess != math.floor(guess):
        raise Nonsense("decided for a class that is none")
    return guess


def demands_of_class(scores, target, guess, hyper, pull):
    """A user's `demand` of a class: margin and required margin, and a finite pull."""
    clear(pull)
    seen, pulled = scores[: hyper.outputs], pull[: hyper.outputs]
    margin, required = demand(seen, int(target), int(guess), hyper, pulled)
    return is_demand(margin, required, pulled)


def demands_of_number(scores, target, guess, hyper, pull):
    """A user's `demand` of a number."""
    clear(pull)
    seen, pulled = scores[: hyper.outputs], pull[: hyper.outputs]
    margin, required = demand(seen, target, guess, hyper, pulled)
    return is_demand(margin, required, pulled)


@part
def is_demand(margin, required, pull):
    """The two numbers, if they are such; nothing is demanded where the margin is infinite."""
    if not margin > -math.inf or not math.isfinite(required):
        raise Nonsense("demanded a margin that is no number")
    for k in range(pull.shape[0]):
        if not math.isfinite(pull[k]):
            raise Nonsense("pulled by what is no number")
    return float(margin), float(required)


def wrong_class(scores, target, guess, hyper):
    """A user's `wrong` about classes."""
    return bool(wrong(scores[: hyper.outputs], int(target), int(guess), hyper))


def decide_rows(scores, clock, hyper, guesses):
    """What `decide` makes of every line of scores."""
    for t in range(guesses.shape[0]):
        guesses[t] = decide(scores[t], Round(t, clock + 1, 1.0, 0.0, t), hyper)


def suffer_rows(scores, targets, clock, hyper, pull, losses):
    """What every line of scores would have suffered."""
    for t in range(losses.shape[0]):
        guess = decide(scores[t], Round(t, clock + 1, 1.0, 0.0, t), hyper)
        margin, required = demand(scores[t], targets[t], guess, hyper, pull)
        losses[t] = 0.0
        if margin != math.inf:
            losses[t] = loss(margin, required)[0]


def try_decide(scores, now, hyper):
    """One call of a decision."""
    return decide(scores, now, hyper)


def try_demand(scores, target, guess, hyper, pull):
    """One call of a demand."""
    return demand(scores, target, guess, hyper, pull)


def try_wrong(scores, target, guess, hyper):
    """One call of a judgement."""
    return wrong(scores, target, guess, hyper)
