"""A user's plain function as a part: it names the arguments it wants, we pass those."""

from __future__ import annotations

import inspect
import re
from types import FunctionType
from typing import Any

from ..compiled.parts import Part, compose, fingerprint, part, plain
from ..errors import BadInput
from ..learn.vocabulary import USER_NUMBERS, Hyper, Numbers

# What the loop hands to each role, by name.
ARGUMENTS = {
    "loss": ("margin", "required"),
    "step": ("margin", "loss", "slope", "size", "pull", "now", "hyper"),
    "space": ("theta", "weights", "hyper"),
    "query": ("space", "scores", "now", "hyper"),
}


def own_part(role: str, function: Any) -> Part:
    """The function as a part of that role, under a name that changes with what it computes."""
    source = plain(function)
    if not isinstance(source, FunctionType):
        raise BadInput(f"{role}={function!r}; wanted a name or a Python function")
    wanted = ARGUMENTS[role]
    given = list(inspect.signature(source).parameters)
    strange = [name for name in given if name not in wanted]
    if strange:
        raise BadInput(
            f"the {role} {source.__name__!r} takes {', '.join(given)}; wanted some of {', '.join(wanted)}"
        )
    name = f"{called(function)}_{fingerprint(source)[-8:]}"
    seen = "Numbers(hyper.C, hyper.margin, hyper.epsilon, hyper.rate, hyper.outputs, hyper.numbers[USER_NUMBERS:])"
    passed = ", ".join(seen if argument == "hyper" else argument for argument in given)
    text = f"def adapter({', '.join(wanted)}):\n    return own({passed})\n"
    scope: dict[str, Any] = {"__name__": __name__, "Numbers": Numbers, "USER_NUMBERS": USER_NUMBERS}
    exec(compile(text, __file__, "exec"), scope)  # the names were checked against ours
    return compose(scope["adapter"], name, own=function if source is not function else part(source))


def bare(role: str, function: Any) -> Part:
    """The same in plain Python, where reading beyond an array's end is an error."""
    source = plain(function)
    given = inspect.signature(source).parameters
    places = [ARGUMENTS[role].index(name) for name in given]

    def played(*arguments: Any) -> Any:
        return source(*(_seen(arguments[place]) for place in places))

    return played


def _seen(value: Any) -> Any:
    if not isinstance(value, Hyper):
        return value
    return Numbers(
        value.C, value.margin, value.epsilon, value.rate, value.outputs, value.numbers[USER_NUMBERS:]
    )


def called(function: Any) -> str:
    """A function's name, fit for ours."""
    return re.sub(r"\W", "", plain(function).__name__) or "own"
