"""Model files with a right digest and wrong content, and a process that loads, asks and teaches them.

`python -m tests.forging FIRST LAST FAMILY ...` plays so many forgeries of each golden file, a line for each
before it is tried, so that a crash has a name. Every forgery must be refused in one line of ours, or give a
learner that answers and learns (or refuses to, in a line of ours). Memory and time are limited.
"""

from __future__ import annotations

import copy
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

import onmargin as om
from onmargin.errors import OnmarginError
from onmargin.protocols.saving import container

from .golden import expected
from .golden.families import FAMILIES, FIRST, NAMES, ODD, actions, kernel_values, questions, unit_rows

MEMORY = 1 << 30  # bytes beyond those of the libraries
SECONDS = 20
NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 7, 9, 100, 10**6, 10**9, 2**31, 2**40, 2**62, 10**30, 0.0, -0.5, 0.5, 1.5, 1e9, 1e308,
    float("nan"), float("inf"), -float("inf"),
]  # fmt: skip
OTHERS: list[Any] = [
    None, True, False, "", "x", "float32", "dense", "sparse", [], (), {}, [1], ("a",), np.zeros(3),
    "rbf", "precomputed", "full", "group", "adagrad", "free", "calibrated", "one_vs_all", "random", "chi2",
]  # fmt: skip

Facts = dict[str, Any]
Arrays = dict[str, np.ndarray]


# ---- what is forged


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to everything in a tree of facts."""
    yield above
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*above, key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from places(item, (*above, number))


def put(value: Any, place: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    """The same tree with another value at a place."""
    if not place:
        return change(value)
    if isinstance(value, dict):
        return value | {place[0]: put(value[place[0]], place[1:], change)}
    changed = list(value)
    changed[place[0]] = put(value[place[0]], place[1:], change)
    return type(value)(changed)


def another(draw: random.Random, part: str) -> Callable[[Any], Any]:
    """A change of one fact.

    No parameter becomes an array: `fit` with such a one fails in many places by itself (fit_intercept=...).
    """

    def change(value: Any) -> Any:
        kind = draw.randrange(10)
        if isinstance(value, list | tuple) and kind < 5:
            return type(value)([value[:-1], [*value, *value], [*value] * 40, value[::-1], ()][kind])
        if isinstance(value, dict) and kind < 4 and value:
            lost = draw.choice(sorted(value, key=repr))
            return {key: item for key, item in value.items() if key != lost}
        if isinstance(value, dict) and kind < 6:
            return value | {draw.choice(["_model", "ask_rule", "cost", "own", "x"]): draw.choice(NUMBERS)}
        if isinstance(value, bool) and kind < 6:
            return not value
        chosen = draw.choice(NUMBERS) if kind < 8 else draw.choice(OTHERS)
        of_parameters = part in ("begun", "parameters", "asks")
        return None if of_parameters and isinstance(chosen, np.ndarray) else chosen

    return change


def bent(array: np.ndarray, draw: random.Random) -> np.ndarray:
    """A change of one array."""
    kind, changed = draw.randrange(9), array.copy()
    if kind < 5 and array.size:
        entry = draw.randrange(array.size)
        values = [value for value in NUMBERS if array.dtype.kind == "f" or isinstance(value, int)]
        with np.errstate(all="ignore"):
            changed.reshape(-1)[entry] = (
                np.array(draw.choice(values), object).astype(float).astype(array.dtype)
            )
        return changed
    if kind == 5 and array.ndim:
        return array[: len(array) // 2].copy()
    if kind == 6 and array.ndim:
        return np.concatenate([array, array])
    if kind == 7:
        return array.astype(draw.choice(["float32", "float64", "int64", "int32"]), copy=True)
    return array.reshape(draw.choice([(-1,), (1, *array.shape), (*array.shape, 1)]))


def forged(facts: Facts, arrays: Arrays, draw: random.Random) -> tuple[Facts, Arrays]:
    """One to three changes."""
    facts, arrays = copy.deepcopy(facts), dict(arrays)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        kind = draw.randrange(12)
        both = all(isinstance(facts[part], dict) and facts[part] for part in ("begun", "parameters"))
        if kind >= 10 and both:  # a parameter that shapes the state, from the beginning on
            name, change = draw.choice(sorted(facts["begun"])), another(draw, "begun")
            value = change(facts["begun"][name])
            for part in ("begun", "parameters"):
                facts = put(facts, (part,), lambda held, name=name, value=value: held | {name: value})
        elif kind < 6 or not arrays:
            part = draw.choice([name for name in facts if name not in ("version", "class")])
            inside = [(part, *place) for place in places(facts[part])]
            facts = put(facts, draw.choice(inside), another(draw, part))
        else:
            _bend(arrays, kind, draw)
    return facts, arrays


def _bend(arrays: Arrays, kind: int, draw: random.Random) -> None:
    name = draw.choice(sorted(arrays))
    if kind < 9:
        arrays[name] = bent(arrays[name], draw)
    elif draw.random() < 0.5:
        del arrays[name]
    else:
        arrays[draw.choice(["x", "kept.shift", "norms", "pairing.slots"])] = arrays[name]


# ---- what is done with it


def ask(name: str, model: Any, stream: Any) -> None:
    """All kinds of answers that the family has."""
    teach = FAMILIES[name].teach
    if teach in (questions, actions) or "dicts" in name:
        for _, x in stream.dicts(slice(FIRST), ODD if "mixed" in name else NAMES):
            model.predict_one(x)
        return
    X = stream.gram() if teach is kernel_values else stream.units() if teach is unit_rows else stream.X
    model.predict(X)
    for what in ("decision_function", "regress", "certainty"):
        if hasattr(model, what):
            getattr(model, what)(X)
    for what in ("coef_", "intercept_", "dual_coef_", "support_vectors_", "kernel_weights_"):
        getattr(model, what, None)


def use(name: str, path: Path, stream: Any) -> str:
    """Load, ask, teach, ask; the one word of what came of it."""
    try:
        model = om.load(path)
        if hasattr(model, "max_iter"):
            model.set_params(max_iter=1)  # (a million passes are no fault of a file's)
        if name != "before_the_first":
            ask(name, model, stream)
        FAMILIES[name].teach(model, stream, slice(FIRST, FIRST + 4))
        ask(name, model, stream)
    except (OnmarginError, NotFittedError) as error:
        assert "\n" not in str(error), str(error)
        return type(error).__name__
    return "works"


def limit_memory() -> None:
    """No more than what is there now and a GiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def play(name: str, first: int, last: int, path: Path, stream: Any) -> None:
    """Forgeries first .. last - 1 of one file."""
    facts, arrays = container.read(expected.file_of(name))
    for number in range(first, last):
        print(f"{name} {number}:", end=" ", flush=True)
        try:
            container.write(path, *forged(facts, arrays, random.Random(f"{name} {number}")))
        except OnmarginError:
            print("unwritten", flush=True)
            continue
        signal.alarm(SECONDS)
        print(use(name, path, stream), flush=True)
        signal.alarm(0)


def main(first: int, last: int, names: list[str]) -> None:
    """All of it, where each family was used once before memory is limited."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    stream = expected.read().stream
    for name in names:
        assert use(name, expected.file_of(name), stream) == "works", name
    limit_memory()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            play(name, first, last, Path(folder) / "m.onm", stream)


def outcomes(first: int, last: int, names: list[str], compiled: bool = False) -> Counter[str]:
    """What came of forgeries, in a process of their own; fails where one crashed, hung or broke otherwise."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.forging", str(first), str(last), *names],
        env=os.environ | {"NUMBA_DISABLE_JIT": "0" if compiled else "1"},
        cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1:]} ended by {done.returncode}: {done.stderr[-1500:]}"
    return Counter(line.rpartition(" ")[2] for line in lines)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
