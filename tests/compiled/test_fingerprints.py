"""Two user's functions have one fingerprint only where all they can see is the same, to the last bit."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

from onmargin.compiled.parts import digits
from onmargin.errors import BadInput


def module(name="helper", **attributes):
    made = ModuleType(name)
    made.__dict__.update(attributes)
    return made


def over(value):
    """A function with the value in its closure, which is also read as a module is."""
    return lambda x: x * value.factor.size if x else value


def using(value):
    """A function with the value among its globals."""
    exec("def use(x):\n    return x * thing.factor + thing.inner.factor", scope := {"thing": value})
    return scope["use"]


def with_default(value):
    def use(x=value):
        return x

    return use


def with_keyword(value):
    def use(*, x=value):
        return x

    return use


def function(constant):
    return lambda x: x + constant


LONG = np.zeros(2001)
MIDDLE = LONG.copy()
MIDDLE[1000] = 1.0
PAIRS = {
    "the middle of an array": (LONG, MIDDLE),
    "the last digit": (np.array([0.1]), np.array([np.nextafter(0.1, 1)])),
    "the type of an array": (np.zeros(4, np.float32), np.zeros(4, np.int32)),
    "the shape of an array": (np.zeros((2, 3)), np.zeros((3, 2))),
    "the order of an array": (np.ones((3, 3)), np.ones((3, 3), order="F")),
    "a number of NumPy": (np.float64(1), np.float32(1)),
    "a tuple of arrays": ((1, LONG), (1, MIDDLE)),
    "a dict of arrays": ({"a": LONG}, {"a": MIDDLE}),
    "a set": ({1, 2}, {1, 3}),
    "a list in a tuple": (([1, 2],), ([1, 3],)),
    "1 and 1.0 and True": (1, 1.0),
    "a function": (function(1), function(2)),
    "a compiled function": (njit(function(1)), njit(function(2))),
    "how it is compiled": (njit(fastmath=True)(ours := function(1)), njit(ours)),
    "a function in a tuple": ((function(1),), (function(2),)),
}
PLACES = {"closure": over, "global": using, "default": with_default, "keyword": with_keyword}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("pair", PAIRS)
def test_a_fingerprint_sees(pair, place):
    first, second = PAIRS[pair]
    assert digits(PLACES[place](first)) != digits(PLACES[place](second))
    assert digits(PLACES[place](first)) == digits(PLACES[place](first))


@pytest.mark.parametrize("pair", PAIRS)
def test_a_fingerprint_sees_through_modules(pair):
    first, second = PAIRS[pair]
    assert digits(using(module(factor=first))) != digits(using(module(factor=second)))
    nested = [using(module(inner=module("inner", factor=value))) for value in (first, second, first)]
    assert digits(nested[0]) != digits(nested[1])
    assert digits(nested[0]) == digits(nested[2])
    assert digits(over(module(factor=first))) != digits(over(module(factor=second)))
    assert digits(using(module(other=first))) == digits(using(module(other=second)))  # nobody reads it


class Colour(IntEnum):
    RED = 1


class Point(NamedTuple):
    x: float = 1.0


@pytest.mark.parametrize(
    "value", [Colour, Colour.RED, Point, Point(2.0), np.float64, np.exp, len, np.dtype("f4"), {}]
)
def test_what_is_told_by_its_name_or_its_parts_is_taken(value):
    assert digits(over(value)) == digits(over(value))


def test_a_function_may_call_itself_and_a_list_hold_itself():
    exec("def again(x):\n    return again(x - 1) if x else 0", scope := {})
    assert digits(scope["again"])
    round_about: list[Any] = [1]
    round_about.append(round_about)
    assert digits(over(round_about))


@pytest.mark.parametrize(
    "value",
    [object(), iter([1]), np.array([None]), type("Own", (), {}), (object(),)],
    ids=["an object", "an iterator", "objects", "a class", "an object in a tuple"],
)
def test_what_cannot_be_told_is_refused_by_name(value):
    with pytest.raises(BadInput, match="uses 'value', a .*; use numbers") as caught:
        digits(over(value))
    assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match=r"uses 'thing.factor'"):
        digits(using(module(factor=value)))


SCRIPT = """
import helper, onmargin as om
from onmargin.compiled.parts import specialise
from onmargin.learn.user_functions import try_loss
def loss(margin, required):
    gap = max(required - margin, 0.0)
    return helper.FACTOR * gap, helper.FACTOR if gap > 0.0 else 0.0
print(specialise(try_loss, loss=om.Recipe(loss=loss).loss_part)(0.0, 1.0))
"""


def test_an_edited_module_never_runs_old_machine_code(tmp_path: Path):
    found = []
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    for factor in (1.0, 3.0, 1.0):
        (tmp_path / "helper.py").write_text(f"FACTOR = {factor}\n")
        command = [sys.executable, str(tmp_path / "script.py")]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        found.append(done.stdout.strip())
    assert found == ["(1.0, 1.0)", "(3.0, 3.0)", "(1.0, 1.0)"]
