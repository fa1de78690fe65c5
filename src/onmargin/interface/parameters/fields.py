"""Parameters as dataclass fields: default, limits, may it change in mid-stream; and the registry.

A parameter is declared once, in the class (or in a group of parameters that several classes have):
`C: float = above_zero(default=1.0, inf=True)`. The limit is checked before learning, `lasting` ones stay as
they were when learning began. `@learner` makes the constructor out of the fields, answers other libraries'
names with ours, and enters the class in `LEARNERS`, which saving, warming, River and the tests read.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

import numpy as np

from ...errors import BadInput, as_float, require_whole, shown
from ..river import register
from .other_names import refuse_unknown

LEARNERS: dict[str, type] = {}
"""Every learner by its name, as far as its module is loaded; `estimators.every` loads all."""

GROUPS: set[type] = set()
"""Groups of parameters that several learners have."""

LAST = {False: "False", True: "'auto'"}  # words of a refusal
AFTER_EACH = "after"  # the average of the hypotheses after each round

Class = TypeVar("Class")
Limit = Callable[[str, object], None]
"""Raises for a value that makes no sense, in one line."""


class Declared(NamedTuple):
    """What is known of a parameter beside its default."""

    limit: Limit | None
    lasting: bool


def _field(limit: Limit | None, lasting: bool, **given: object) -> Any:
    made: Any = dataclasses.field
    return made(metadata={"declared": Declared(limit, lasting)}, **{"kw_only": True, **given})


def required(*, kw_only: bool, lasting: bool = False) -> Any:
    """A parameter without a default, which may be given by position."""
    return _field(None, lasting, kw_only=kw_only)


def optional(*, default: object, kw_only: bool) -> Any:
    """The same with a default."""
    return _field(None, False, default=default, kw_only=kw_only)


def plain(*, default: object, lasting: bool = False) -> Any:
    """A parameter whose limits, if any, depend on others: they are checked where it is used."""
    return _field(None, lasting, default=default)


def above_zero(
    *, default: float | str | None, inf: bool = False, none: bool = False, lasting: bool = False,
    also: Callable[[float], bool] | None = None, wanted: str = "", auto: bool = False,
) -> Any:  # fmt: skip
    """A number above 0 (`inf`: infinity, `none`: None, `auto`: "auto" too); `also`: a narrower range."""

    def limit(name: str, value: object) -> None:
        if (none and value is None) or (auto and is_auto(value)):
            return
        if auto and isinstance(value, str):
            raise BadInput(f"{name}={shown(value)}; wanted a number above 0, or 'auto'")
        number = require_positive(name, value, False, inf)
        if also is not None and not also(number):
            raise BadInput(f"{name}={shown(value)}; wanted {wanted}")

    return _field(limit, lasting, default=default)


def from_zero(*, default: float | None, inf: bool = False, none: bool = False, lasting: bool = False) -> Any:
    """A number of at least 0 (`inf`: infinity too; `none`: or None)."""

    def limit(name: str, value: object) -> None:
        if value is not None or not none:
            require_positive(name, value, True, inf)

    return _field(limit, lasting, default=default)


def whole(*, default: int | str | None, lasting: bool = False, none: bool = False, auto: bool = False) -> Any:
    """A whole number of at least 1 (`none`: None, `auto`: "auto" too)."""

    def limit(name: str, value: object) -> None:
        if (none and value is None) or (auto and is_auto(value)):
            return
        if auto and isinstance(value, str):
            raise BadInput(f"{name}={shown(value)}; wanted a whole number of at least 1, or 'auto'")
        require_whole(name, value)

    return _field(limit, lasting, default=default)


def one_of(*options: str, default: str, lasting: bool = False, listed: bool = False) -> Any:
    """One of some texts; `listed`: they are many, and said as a list."""

    def limit(name: str, value: object) -> None:
        if value not in options:
            words = list(map(repr, options))
            said = f"one of {', '.join(words)}" if listed else f"{', '.join(words[:-1])} or {words[-1]}"
            raise BadInput(f"{name}={shown(value)}; wanted {said}")

    return _field(limit, lasting, default=default)


def flag(*, default: bool | str, lasting: bool = False, auto: bool = False, also: str = "") -> Any:
    """True or False; `auto`: or "auto"; `also`: or this text."""

    def limit(name: str, value: object) -> None:
        if isinstance(value, bool | np.bool_) or (auto and is_auto(value)):
            return
        if not also or not isinstance(value, str) or value != also:
            more = f", False, {also!r}" if also else ", False" if auto else ""
            raise BadInput(f"{name}={shown(value)}; wanted True{more} or {LAST[auto]}")

    return _field(limit, lasting, default=default)


def precision(*, default: str | None) -> Any:
    """float32 or float64 (None: as the form of the learner has it)."""

    def limit(name: str, value: object) -> None:
        if value not in (None, "float32", "float64", np.float32, np.float64):
            raise BadInput(f"{name}={shown(value)}; wanted 'float32' or 'float64'")

    return _field(limit, True, default=default)


def require_positive(name: str, value: object, zero: bool, infinite: bool) -> float:
    """A number above 0 (`zero`: or 0), or a refusal in one line."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise BadInput(f"{name}={shown(value)}; wanted a number")
    number = as_float(value)
    fine = number > 0 or (zero and number == 0)
    if number == math.inf and isinstance(value, int):
        raise BadInput(f"{name}={shown(value)} is beyond all floats; wanted a number of at most 1.8e308")
    if not fine or (math.isinf(number) and not infinite):
        wanted = "at least 0" if zero else "above 0"
        raise BadInput(
            f"{name}={shown(value)}; wanted a number {wanted}{' (inf allowed)' if infinite else ''}"
        )
    return number


def is_auto(value: object) -> bool:
    """Is it left to the learner?"""
    return isinstance(value, str) and value == "auto"


def declared(owner: Any) -> Iterator[tuple[str, Declared, object]]:
    """Name, declaration and value of every parameter of a learner."""
    fields: dict[str, dataclasses.Field[Any]] = owner.__dataclass_fields__
    for name, field in fields.items():  # (dataclasses.fields looks for more, and every call asks)
        known = field.metadata.get("declared")
        if known is not None:
            yield name, known, getattr(owner, name)


def check_limits(owner: object) -> None:
    """Refuse parameters that make no sense by themselves."""
    for name, known, value in declared(owner):
        if known.limit is not None:
            known.limit(name, value)


def lasting(owner: object) -> dict[str, object]:
    """Parameters that shape the state: they stay as they were when learning began."""
    return {name: value for name, known, value in declared(owner) if known.lasting}


def check_lasting(owner: object, begun: dict[str, object]) -> None:
    """Refuse to go on where one of them was changed."""
    for name, value in lasting(owner).items():
        if not same(begun.get(name, value), value):
            raise BadInput(
                f"{name}= was {shown(begun[name])} when learning began and is {shown(value)} now; set it "
                "back, or fit anew"
            )


def same(first: object, second: object) -> bool:
    """Equal, also where they are arrays, or lists of them."""
    if first is second:
        return True
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, np.ndarray | list | tuple) or isinstance(second, np.ndarray | list | tuple):
        equal: Callable[..., bool] = np.array_equal
        return equal(first, second)
    return bool(first == second)


@dataclass_transform(
    kw_only_default=True, eq_default=False,
    field_specifiers=(required, plain, above_zero, from_zero, whole, one_of, flag, precision),
)  # fmt: skip
def group(cls: type[Class]) -> type[Class]:
    """A class decorator: parameters that several learners have. It has no methods."""
    GROUPS.add(cls)
    return dataclasses.dataclass(eq=False, repr=False, match_args=False)(cls)


@dataclass_transform(
    kw_only_default=True, eq_default=False,
    field_specifiers=(required, plain, above_zero, from_zero, whole, one_of, flag, precision),
)  # fmt: skip
def learner(cls: type[Class]) -> type[Class]:
    """A class decorator: the constructor out of the fields, unknown names answered, the class registered.

    A class may fix parameters of the one it extends: `fixed = {"step": "pa1"}`; they are none then.
    """
    for name, value in cls.__dict__.get("fixed", {}).items():
        cls.__annotations__[name] = ClassVar
        setattr(cls, name, value)
    made = dataclasses.dataclass(eq=False, repr=False, match_args=False)(cls)
    for field in dataclasses.fields(made):  # type: ignore[arg-type]
        if "declared" not in field.metadata:
            raise TypeError(f"{cls.__name__}.{field.name} is no declared parameter; write it without a type")
    if hasattr(made, "answers_names"):
        known = {field.name for field in dataclasses.fields(made)}  # type: ignore[arg-type]
        setattr(made, "__init__", _answering(made.__init__, known))  # noqa: B010
    LEARNERS[made.__name__] = made
    register(made)
    return made


def _answering(init: Callable[..., None], known: set[str]) -> Callable[..., None]:
    """A constructor that answers another library's parameter names with ours."""

    @wraps(init)
    def answered(self: object, *args: object, **given: object) -> None:
        refuse_unknown(self, given, known)
        init(self, *args, **given)

    return answered


# ---- groups of parameters


@group
class Passes:
    """How `fit` goes over the rows; the precision; what is shown."""

    max_iter: int = whole(default=50)
    tol: float | None = from_zero(default=1e-3, none=True)
    n_iter_no_change: int = whole(default=2)
    random_state: object = plain(default=None)
    warm_start: bool = flag(default=False)
    verbose: int = plain(default=0)
    dtype: str | None = precision(default="float64")


@group
class Shuffled:
    """A permutation each pass."""

    shuffle: bool = flag(default=True)


@group
class Growing:
    """Columns and classes may appear later in array input."""

    growing: bool = flag(default=False)


@group
class Intercept:
    """The constant coordinate, inside the norm."""

    fit_intercept: bool | str = flag(default=True, lasting=True)
    intercept_scaling: float | str = above_zero(default="auto", lasting=True, auto=True)


@group
class Averaged:
    """Answers by the mean of the hypotheses that predicted; "auto": `fit` does, and ends with it.

    "after": by the mean of the hypotheses after each round, w_2 .. w_T+1.
    """

    average: bool | str = flag(default="auto", lasting=True, auto=True, also=AFTER_EACH)


@group
class Classes:
    """A closed set of labels known before the first example."""

    classes: object = plain(default=None)


@group
class ClassWeights:
    """What an example weighs by its label."""

    class_weight: object = plain(default=None)


@group
class Horizon:
    """How many rounds are remembered; kernels drop vectors whose coefficients have faded."""

    horizon: float | None = above_zero(
        default=None, none=True, lasting=True, also=lambda rounds: rounds > 1,
        wanted="a number of rounds above 1, or None",
    )  # fmt: skip


def check_horizon(owner: object, averages: bool) -> None:
    """Refuse to forget what is to be remembered."""
    if getattr(owner, "horizon", None) is not None and averages:
        raise BadInput("average=True remembers all that horizon= is to forget; choose one of them")


@group
class KernelParameters:
    """The kernel form; see `om.kernels`."""

    kernel: object = plain(default=None, lasting=True)
    gamma: object = plain(default="scale", lasting=True)
    degree: int = plain(default=3, lasting=True)
    coef0: float = plain(default=0.0, lasting=True)


@group
class Budget:
    """How many vectors may be kept: a number, or text such as "64MB"."""

    budget: object = plain(default=None, lasting=True)


@group
class Linear(Passes, Shuffled, Growing, Intercept):
    """What all but a few learners have."""


@group
class Labelled(Classes, ClassWeights):
    """What most classifiers have."""
