"""A copy made in mid-stream, by a file or in memory, answers and learns as the one that went on.

To the last bit, for every row of the tables: from dicts (which its stream plays) and from arrays, averaged
and not. As plain Python, in another process (see `tests.uncompiled`); compiled for one.
"""

from __future__ import annotations

import copy
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import kernel_students, students
from tests.kernel_students import KERNEL_NAMES
from tests.oracles import ORACLES
from tests.students import Stream, problem_of
from tests.uncompiled import Comparisons, Pairs

import onmargin as om
from onmargin.errors import OnmarginError

COMPARISONS = Comparisons("tests.protocols.test_going_on")
BEFORE, AFTER = 14, 6  # rounds before the copies are made, and after
FORGETTING = ("pa1.binary~", "perceptron.top~", "pa2.labels~", "ftrl_l2.regression~")
PAIRED = tuple(
    f"paired_{rule}.{problem}" for rule in ("auc", "dca") for problem in ("binary", "top", "labels")
)
BY_SHARES = ("pegasos.binary", "pegasos.labels", "pegasos.apart_labels")  # average=0.5 as well
LABELS = "abcd"


def written(model: Any) -> Any:
    """Written and read."""
    with tempfile.TemporaryDirectory() as folder:
        om.save(model, Path(folder) / "m.onm")
        return om.load(Path(folder) / "m.onm")


COPIES: dict[str, Callable[[Any], Any]] = {
    "file": written,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
    "clone": lambda model: model.clone(include_attributes=True),
}


def cases() -> Iterator[tuple[str, Any]]:
    """Rows of the tables, and what is averaged of them."""
    for name in (*sorted(ORACLES), *FORGETTING):
        means = [False, True] if students.can_average(name) else [False]
        for average in [*means, *([0.5] if name in BY_SHARES else [])]:
            yield name, average
    for name in KERNEL_NAMES:
        yield name, kernel_students.can_average(name)
    for name in PAIRED:
        yield name, True


def made(name: str, average: Any) -> tuple[Any, Stream]:
    """A learner, and a stream for it; where dicts want classes to be announced, they are."""
    model, given = unannounced(name, average)
    wants = "simplex" in name or getattr(model, "cost", None) is not None
    if wants and problem_of(name) in ("binary", "classes"):
        model.set_params(classes=np.unique(given.y).tolist())
    return model, given


def unannounced(name: str, average: Any) -> tuple[Any, Stream]:
    """As they are in the tables."""
    if name in PAIRED:
        rule = name.split(".")[0].removeprefix("paired_")
        model = om.PairedClassifier(C=0.3, rule=rule, reservoir=3, average=average, random_state=4)
        return model, students.stream(name, BEFORE + AFTER)
    if name in KERNEL_NAMES:
        more = {"average": average} if kernel_students.can_average(name) else {}
        return kernel_students.student(name, **more), kernel_students.stream(name)
    return students.student(name, average=average), students.stream(name, BEFORE + AFTER)


def by_dicts(name: str, given: Stream) -> list[tuple[dict[str, float], tuple[Any, ...]]]:
    """Dicts without zeros, some names later than others, and what is learned of them."""
    X, y, _ = given
    rounds = []
    for t in range(BEFORE + AFTER):
        x = {f"f{i}": float(v) for i, v in enumerate(X[t]) if v and (i < 3 or t > 4)}
        if problem_of(name) == "labels":
            rounds.append((x, (dict(zip(LABELS, (y[t] > 0).tolist(), strict=False)),)))
        else:
            rounds.append((x, () if y is None else (y[t].item(),)))
    return rounds


def said(model: Any, x: dict[str, float]) -> list[Any]:
    """The answer for a dict, and its scores where it tells them."""
    return [model.predict_one(x), *(model.decide_one(x) if hasattr(model, "decide_one") else ())]


def spelled(what: object) -> np.ndarray:
    """Anything as the bytes of its text, in which every float has all its digits."""
    return np.frombuffer(repr(what).encode(), np.uint8)


def learn_dicts(model: Any, rounds: list[Any]) -> None:
    """Rounds one after the other."""
    for x, y in rounds:
        model.learn_one(x, *y)


def taught_by_dicts(model: Any, rounds: list[Any]) -> np.ndarray:
    """What it says before each round, and at the end."""
    heard = []
    for x, y in rounds:
        heard += said(model, x)
        model.learn_one(x, *y)
    return spelled(heard + said(model, rounds[0][0]))


def taught_by_arrays(model: Any, name: str, given: Stream, some: slice) -> np.ndarray:
    """What it says of all rows after each block of five."""
    X, y, _ = given
    classes = {"classes": np.unique(y)} if problem_of(name) in ("binary", "classes") else {}
    heard = []
    for first in range(some.start, some.stop, 5):
        block = slice(first, min(first + 5, some.stop))
        model.partial_fit(X[block], None if y is None else y[block], **classes)
        scores = getattr(model, "decision_function", model.predict)
        heard += [scores(X).ravel(), np.unique(model.predict(X), return_inverse=True)[1].ravel()]
    return np.concatenate(heard)


def state_of(model: Any) -> np.ndarray:
    """All that a file would hold of what was learned."""
    facts, arrays = model._model.state()
    held = {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}
    return spelled((model._model.clock, model._model.memory.tolist(), facts, held))


@COMPARISONS.each(*cases(), near=0.0)
def copies_go_on_from_dicts(name: str, average: Any) -> Pairs:
    model, given = made(name, average)
    rounds = by_dicts(name, given)
    learn_dicts(model, rounds[:BEFORE])
    copies = [copied(model) for copied in COPIES.values()]
    wanted = taught_by_dicts(model, rounds[BEFORE:])
    for each in copies:
        yield taught_by_dicts(each, rounds[BEFORE:]), wanted
        yield state_of(each), state_of(model)


@COMPARISONS.each(*cases(), near=0.0)
def copies_go_on_from_arrays(name: str, average: Any) -> Pairs:
    model, given = made(name, average)
    taught_by_arrays(model, name, given, slice(0, BEFORE))
    copies = [COPIES[way](model) for way in ("file", "clone")]
    rest = slice(BEFORE, BEFORE + AFTER)
    wanted = taught_by_arrays(model, name, given, rest)
    for each in copies:
        yield taught_by_arrays(each, name, given, rest), wanted
        yield state_of(each), state_of(model)


@COMPARISONS.each(*cases(), near=0.0)
def copies_merge_alike(name: str, average: Any) -> Pairs:
    """And the merged learners go on alike; who cannot be merged says so of copies too."""
    _, given = made(name, average)
    rounds = by_dicts(name, given)
    models = [made(name, average)[0] for _ in range(2)]
    for number, model in enumerate(models):
        learn_dicts(model, rounds[: BEFORE - 2 * number])
    wanted, found = merged(models), merged([written(model) for model in models])
    if isinstance(wanted, str):
        yield spelled(found), spelled(wanted)
        return
    yield taught_by_dicts(found, rounds[BEFORE:]), taught_by_dicts(wanted, rounds[BEFORE:])
    yield state_of(found), state_of(wanted)


def merged(models: list[Any]) -> Any:
    """One of them all, or why there is none."""
    try:
        return om.merge(models)
    except OnmarginError as error:
        return str(error)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """All pairs, from plain Python."""
    return COMPARISONS.run(tmp_path_factory.mktemp("going_on") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_they_go_on_alike(name: str, found: dict[str, np.ndarray]) -> None:
    COMPARISONS.compare(name, found)


def test_label_sets_are_answered_by_their_average_from_the_first_dict_on() -> None:
    """The labels of the first dict make the outputs: bound before there were any, it answered by the last."""
    model, given = made("pa1.labels", True)
    rounds = by_dicts("pa1.labels", given)
    learn_dicts(model, rounds[:BEFORE])
    fresh = pickle.loads(pickle.dumps(model))
    found, wanted = (taught_by_dicts(each, rounds[BEFORE:]) for each in (model, fresh))
    assert found.tobytes() == wanted.tobytes()


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
