"""Threads that ask, learn and save at once: every answer is one of a model that existed.

As a program, `python -m tests.machines.threads`: threads that crash or hang take a process of their own.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import pickle
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import onmargin as om

DRAW = np.random.default_rng(5)
NAMES = [f"f{number}" for number in range(12)]
ROWS = DRAW.normal(size=(40, len(NAMES)))
FRAME = pd.DataFrame(ROWS, columns=NAMES)
DICTS = [dict(zip(NAMES, row, strict=True)) for row in ROWS.tolist()]
BROAD = sp.random(60, 3000, 0.005, format="csr", random_state=1)

Work = Callable[[Random], None]


class Crew:
    """Threads that work until time is up, or one of them has found something."""

    def __init__(self, seconds: float, seed: int) -> None:
        self.end, self.seed = time.perf_counter() + seconds, seed
        self.wrong: list[str] = []
        self.threads: list[threading.Thread] = []
        self.calls = [0] * 32

    def add(self, work: Work, times: int = 1) -> None:
        """So many threads that do this over and over."""
        for _ in range(times):
            number = len(self.threads)
            self.threads.append(threading.Thread(target=self._run, args=(work, number), daemon=True))

    def _run(self, work: Work, number: int) -> None:
        draw = Random(f"{self.seed} {number}")
        try:
            while time.perf_counter() < self.end and not self.wrong:
                work(draw)
                self.calls[number] += 1
        except BaseException as error:
            self.wrong.append(f"{work.__name__}: {type(error).__name__}: {error}")

    def go(self) -> list[str]:
        """What was found."""
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join(max(0.0, self.end - time.perf_counter()) + 30)
            if thread.is_alive():
                faulthandler.dump_traceback()
                return [*self.wrong, "a thread hangs"]
        return self.wrong


def saved(model: Any) -> Any:
    """Through a file."""
    with tempfile.TemporaryDirectory() as folder:
        om.save(model, f"{folder}/m.onm")
        return om.load(f"{folder}/m.onm")


def answers_of(model: Any) -> dict[str, Any]:
    """What is asked of it, by the name of the question."""
    asked = {
        "predict": model.predict(FRAME).tolist(), "decisions": model.decision_function(FRAME).tolist(),
        "classes": model.classes_.tolist(), "rounds": int(model.t_),
        "one": [model.predict_one(x) for x in DICTS],
    }  # fmt: skip
    try:
        asked["coef"] = model.coef_.tolist()
    except AttributeError:
        pass
    return asked


def two_states(make: Callable[[], Any], seconds: float, seed: int) -> list[str]:
    """`fit` of two tables in turn: exactly two models ever exist, with other labels."""
    one = (FRAME, np.array(["a", "b"])[(ROWS[:, 0] > 0).astype(int)])
    thirds = np.array(["x", "y", "z"])[np.digitize(ROWS[:, 1], [-0.5, 0.5])]
    other = (pd.DataFrame(ROWS[::-1], columns=NAMES), thirds)
    known = [answers_of(make().fit(*data)) for data in (one, other)]
    crew, model = Crew(seconds, seed), make()
    model.fit(*one)

    def check(name: str, found: Any) -> None:
        if found not in [each.get(name) for each in known]:
            raise AssertionError(f"{name} is of neither model")

    def learn(draw: Random) -> None:
        model.fit(*draw.choice([one, other]))

    def ask_arrays(draw: Random) -> None:
        check("predict", model.predict(FRAME).tolist())
        check("decisions", model.decision_function(FRAME).tolist())

    def ask_dicts(draw: Random) -> None:
        place = draw.randrange(len(DICTS))
        found = model.predict_one(DICTS[place])
        if found not in [each["one"][place] for each in known]:
            raise AssertionError(f"predict_one says {found!r}")

    def ask_parts(draw: Random) -> None:
        check("classes", model.classes_.tolist())
        if "coef" in known[0]:
            check("coef", model.coef_.tolist())

    def copy(draw: Random) -> None:
        twin = draw.choice([saved, lambda m: pickle.loads(pickle.dumps(m))])(model)
        if answers_of(twin) not in known:
            raise AssertionError("the copy is neither model")

    for work, times in ((learn, 2), (ask_arrays, 2), (ask_dicts, 2), (ask_parts, 1), (copy, 1)):
        crew.add(work, times)
    return crew.go()


def many_states(make: Callable[[], Any], seconds: float, seed: int) -> list[str]:
    """Small calls in place: every `coef_`, decision and file is one of the states gone through, in order."""
    labels = DRAW.integers(0, 2, BROAD.shape[0])
    pieces = [(BROAD[t : t + 3], labels[t : t + 3]) for t in range(0, 57, 3)]
    start, states = make(), {}
    question = sp.vstack([BROAD] * 60, format="csr")  # long enough to be overtaken
    start.partial_fit(BROAD, labels, classes=[0, 1])
    twin = pickle.loads(pickle.dumps(start))
    for number in range(150):
        states[key(twin, question)] = number
        twin.partial_fit(*pieces[number % len(pieces)])
    model, crew, turn = pickle.loads(pickle.dumps(start)), Crew(seconds, seed), iter(range(149))
    gate, rounds = threading.Lock(), int(start.t_)

    def learn(draw: Random) -> None:
        nonlocal model, turn
        with gate:  # (one after the other: the order is known)
            number = next(turn, None)
            if number is not None:
                model.partial_fit(*pieces[number % len(pieces)])

    def place_of(found: Any, part: int) -> int:
        places = [place for each, place in states.items() if each[part] == found]
        if not places:
            raise AssertionError(f"{('decisions', 'coef')[part]} of no state there was")
        return places[0]

    def ask(draw: Random) -> None:
        first = place_of(model.decision_function(question).tobytes(), 0)
        again = place_of(model.coef_.tobytes(), 1)
        if again < first:
            raise AssertionError(f"state {again} after state {first}")

    def write(draw: Random) -> None:
        if key(saved(model), question) not in states:
            raise AssertionError("a file of no state there was")

    for work, times in ((learn, 2), (ask, 3), (write, 1)):
        crew.add(work, times)
    wrong = crew.go()
    done = (int(model.t_) - rounds) // 3
    if not wrong and key(model, question) not in states or done > 149:
        wrong.append("a learning call was lost")
    return wrong


def key(model: Any, question: Any) -> tuple[bytes, bytes]:
    """Decisions and coefficients, to the last bit."""
    return model.decision_function(question).tobytes(), model.coef_.tobytes()


def none_is_lost(make: Callable[[], Any], seconds: float, seed: int) -> list[str]:
    """Dicts and arrays learned by several threads, some refused: all rounds count; answers are labels."""
    model, crew, lock, done = make(), Crew(seconds, seed), threading.Lock(), [0]
    for number, x in enumerate(DICTS):
        model.learn_one(x, number % 2)
    start = int(model.t_)

    def learn_dict(draw: Random) -> None:
        x = dict(draw.choice(DICTS))
        if draw.random() < 0.1:
            x[f"new {draw.randrange(400)}"] = 1.0
        if draw.random() < 0.1:
            try:
                model.learn_one(x | {"bad": float("nan")}, 0)
            except ValueError:
                return
            raise AssertionError("NaN was learned")
        model.learn_one(x, draw.randrange(2))
        with lock:
            done[0] += 1

    def learn_frame(draw: Random) -> None:
        model.partial_fit(FRAME[:2], [0, 1])
        with lock:
            done[0] += 2

    def ask(draw: Random) -> None:
        if model.predict_one(draw.choice(DICTS)) not in (0, 1):
            raise AssertionError("no label")
        if not np.isin(model.predict(FRAME), (0, 1)).all():
            raise AssertionError("no labels")

    def write(draw: Random) -> None:
        twin = saved(model)
        if not start <= twin.t_ or not np.isfinite(twin.decision_function(FRAME)).all():
            raise AssertionError("a file of no model")

    for work, times in ((learn_dict, 2), (learn_frame, 1), (ask, 3), (write, 1)):
        crew.add(work, times)
    wrong = crew.go()
    if not wrong and int(model.t_) != start + done[0]:
        wrong.append(f"{start + done[0]} rounds were learned, {model.t_} are there")
    return wrong


ONCE = {"max_iter": 1, "tol": None, "random_state": 0}
FIXED = {"random_state": 0}


def sampler() -> Any:
    """A learner inside a learner."""
    return om.SelectiveSampler(om.PassiveAggressiveClassifier(), **FIXED)


GAMES: dict[str, tuple[Callable[..., list[str]], Callable[[], Any]]] = {
    "two states": (two_states, partial(om.PassiveAggressiveClassifier, **ONCE)),
    "many states": (many_states, partial(om.PassiveAggressiveClassifier, **FIXED)),
    "none is lost": (none_is_lost, partial(om.PassiveAggressiveClassifier, **FIXED)),
    "two states, kernel": (two_states, partial(om.Perceptron, kernel="rbf", gamma=0.1, **ONCE)),
    "two states, sampler": (two_states, sampler),
    "two states, averaged": (two_states, partial(om.AROW, average=True, **ONCE)),
    "many states, sampler": (many_states, sampler),
    "many states, averaged": (many_states, partial(om.PassiveAggressiveClassifier, average=True, **FIXED)),
    "many states, AROW": (many_states, partial(om.AROW, **FIXED)),
    "many states, adagrad": (many_states, partial(om.FTRLClassifier, regularizer="adagrad", **FIXED)),
    "none is lost, kernel": (none_is_lost, partial(om.Perceptron, kernel="rbf", gamma=0.1, **FIXED)),
    "none is lost, sampler": (none_is_lost, sampler),
}


@contextmanager
def switching(seconds: float) -> Iterator[None]:
    """Python changes threads so often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def main(arguments: list[str]) -> int:
    """The number of failures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("games", nargs="*", default=list(GAMES))
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ONMARGIN_SEED", "0")))
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    faulthandler.enable()
    failures = 0
    for name in given.games:
        game, make = GAMES[name]
        for interval in (1e-6, 5e-3):
            with switching(interval):
                wrong = game(make, given.seconds, given.seed)
            print(f"{name}, switching every {interval} s, seed {given.seed}: {wrong or 'fine'}", flush=True)
            failures += len(wrong)
    return failures


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 100))
