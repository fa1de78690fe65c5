"""A signal at a random moment of every kind of learning call: the model is the one before it or after it.

As a program, `python -m tests.machines.interrupts`: Ctrl-C belongs to a process of its own.
"""

from __future__ import annotations

import argparse
import copy
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

import onmargin as om

from .contents import content, differences

DRAW = np.random.default_rng(0)
ROWS, WIDE = 120, 2000
NARROW = sp.random(ROWS, 30, 0.3, format="csr", random_state=0)
BROAD = sp.csr_matrix((NARROW.data, NARROW.indices, NARROW.indptr), shape=(ROWS, WIDE))
LABELS = DRAW.integers(0, 2, ROWS)
NAMES = [f"f{number}" for number in range(60)]
DICTS = [
    dict(zip(DRAW.choice(NAMES, 6, replace=False).tolist(), DRAW.normal(size=6).tolist(), strict=True))
    for _ in range(99)
]
FRAME = pd.DataFrame(DRAW.normal(size=(9, 8)), columns=NAMES[:8])

Call = Callable[[Any], Any]


class Kind(NamedTuple):
    """How to make a learner, and whether its arrays are wide (small calls are then learned in place)."""

    make: Callable[[], Any]
    wide: bool = False
    grows: bool = False


KINDS = {
    "pa": Kind(lambda: om.PassiveAggressiveClassifier(random_state=0), wide=True),
    "kernel": Kind(lambda: om.Perceptron(kernel="rbf", gamma=0.5, random_state=0)),
    "sampler": Kind(lambda: om.SelectiveSampler(om.PassiveAggressiveClassifier(), random_state=0), wide=True),
    "banditron": Kind(lambda: om.Banditron(classes=[0, 1], random_state=0)),
    "growing": Kind(
        lambda: om.PassiveAggressiveClassifier(growing=True, average=True, random_state=0), grows=True
    ),
    "balanced": Kind(
        lambda: om.PassiveAggressiveClassifier(class_weight="balanced", random_state=0), wide=True
    ),
    "regressor": Kind(lambda: om.PassiveAggressiveRegressor(random_state=0), wide=True),
    "arow": Kind(lambda: om.AROW(random_state=0), wide=True),
    "full": Kind(lambda: om.AROW(covariance="full", random_state=0)),
    "pegasos": Kind(lambda: om.Pegasos(batch_size=3, random_state=0), wide=True),
    "entropic": Kind(lambda: om.FTRLClassifier(regularizer="entropic", rate=0.1, random_state=0), wide=True),
    "projectron": Kind(lambda: om.Projectron(gamma=0.5, random_state=0)),
    "forgetron": Kind(lambda: om.Forgetron(budget=20, gamma=0.5, random_state=0)),
    "om2": Kind(lambda: om.OM2(random_state=0)),
    "paired": Kind(lambda: om.PairedClassifier(reservoir=10, random_state=0)),
    "bbq": Kind(lambda: om.BBQ(random_state=0)),
    "ranker": Kind(lambda: om.PairedRanker(random_state=0)),
    "candidates": Kind(lambda: om.CandidateClassifier(random_state=0)),
}


class Case:
    """A learner of arrays and one of dicts, and calls drawn for them."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.kind, self.draw = name, KINDS[name], Random(f"{name} {seed}")
        self.X = BROAD if self.kind.wide else NARROW
        self.y: Any = LABELS.astype(float) if name == "regressor" else LABELS
        self.groups = name in ("ranker", "candidates")
        self.arrays, self.dicts = self.kind.make(), self.kind.make()
        self.table(0, ROWS)(self.arrays)
        if not self.groups:
            for x in DICTS[:30]:
                self.one(x, self.label())(self.dicts)

    def label(self) -> Any:
        return self.draw.choice([0, 1, 2, 3] if self.kind.grows else [0, 1])

    def table(self, first: int, count: int) -> Call:
        """A `partial_fit` of some rows."""
        X, y = self.X[first : first + count], self.y[first : first + count]
        if self.groups:
            return lambda m: m.partial_fit(X, np.arange(count) % 2 == 0, np.arange(count) // 2)
        more = {} if self.name == "regressor" or self.kind.grows else {"classes": [0, 1]}
        return lambda m: m.partial_fit(X, y, **more)

    @staticmethod
    def one(x: dict[str, float], y: Any, w: float = 1.0) -> Call:
        return lambda m: m.learn_one(x, y, w)

    def call(self) -> tuple[str, Any, Call]:
        """What it is called, the model, the call."""
        draw = self.draw
        fresh = draw.random() < 0.1
        if self.groups or draw.random() < 0.4:
            model = self.kind.make() if fresh else self.arrays
            count = draw.choice([2, 2, 60])
            first = draw.randrange(0, ROWS - count)
            if draw.random() < 0.15:
                X, y = self.X[:60], self.y[:60]
                if self.groups:
                    return "fit", model, lambda m: m.fit(X, np.arange(60) % 2 == 0, np.arange(60) // 2)
                return "fit", model, lambda m: m.fit(X, y)
            if draw.random() < 0.2 and not self.groups:
                X, y = self.X[first : first + count], self.y[first : first + count]
                classes = None if self.name == "regressor" or self.kind.grows else [0, 1]
                return "progressive", model, lambda m: om.progressive(m, X, y, classes=classes)
            return f"partial_fit of {count}", model, self.table(first, count)
        model = self.kind.make() if fresh else self.dicts
        x, y = dict(draw.choice(DICTS)), self.label()
        if draw.random() < 0.3:
            x[f"new {draw.randrange(10**9)}"] = 1.0
        what = draw.choice(["learn_one"] * 5 + ["each", "many", "own"])
        if what == "each":
            pairs = [(each, self.label()) for each in draw.sample(DICTS, 4)] + [(x, y)]
            return "progressive of dicts", model, lambda m: om.progressive(m, pairs)
        if what == "many" and hasattr(model, "learn_many"):
            many = [self.label() for _ in range(len(FRAME))]
            return "learn_many", model, lambda m: m.learn_many(FRAME, many)
        if what == "own" and self.name == "banditron":
            if draw.random() < 0.5:
                allowed = draw.choice([None, [0], [0, 1]])
                return "act_one", model, lambda m: m.act_one(x, allowed)
            self.dicts.act_one(x)
            number = next(reversed(self.dicts.pending_))
            return "reward_one", self.dicts, lambda m: m.reward_one(number, 1.0)
        if what == "own" and hasattr(model, "query_one"):
            return "query_one", model, lambda m: m.query_one(x)
        return "learn_one", model, self.one(x, y, draw.choice([1.0, 1.0, 1.0, 2.0]))


armed = False


def strike(*_: object) -> None:
    """What Python does at Ctrl-C."""
    if armed:
        raise KeyboardInterrupt


def interrupted(call: Callable[[], Any], after: float) -> bool:
    """Make the call; did the signal stop it?"""
    global armed
    try:
        try:
            armed = True
            signal.setitimer(signal.ITIMER_REAL, max(after, 1e-6))
            call()
        finally:
            armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        armed = False
        return True
    return False


def is_free(model: Any) -> bool:
    """Can others go on?"""
    free: list[bool] = []

    def ask() -> None:
        locks = (model._guard.learning, model._guard.lock)
        taken = [lock for lock in locks if lock.acquire(timeout=5)]
        for lock in taken:
            lock.release()
        free.append(len(taken) == len(locks) and not model._guard.readers)

    other = threading.Thread(target=ask)
    other.start()
    other.join()
    return free[0]


def strikes(name: str, seed: int, seconds: float) -> tuple[int, int, list[str]]:
    """Calls that were stopped with nothing learned, or with all of it; and what went wrong."""
    case, wrong = Case(name, seed), []
    before_all = after_all = calls = 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and len(wrong) < 5:
        what, model, call = case.call()
        before, twin = content(model), copy.deepcopy(model)
        start = time.perf_counter()
        call(twin)
        spent = time.perf_counter() - start
        after, now = content(twin), before
        wait = case.draw.random() * 1.2 * spent
        if not interrupted(lambda call=call, model=model: call(model), wait):
            now = content(model)
            if found := differences(after, now):
                wrong.append(f"{name}: {what} of a copy is another: {found}")
            continue
        now, calls = content(model), calls + 1
        before_all, after_all = before_all + (now == before), after_all + (now == after)
        if now not in (before, after):
            torn = f"{differences(before, now)}; beside all of it: {differences(after, now)}"
            wrong.append(f"{name}: {what} stopped after {wait:.6f} s: {torn}")
        elif calls % 16 == 0 and (what, now) != ("reward_one", after):  # (a reward is given once)
            again = copy.deepcopy(model)
            call(model), call(again)
            if found := differences(content(again), content(model)):
                wrong.append(f"{name}: {what}, stopped, goes on otherwise: {found}")
        if calls % 64 == 0 and not is_free(model):
            wrong.append(f"{name}: {what} stopped after {wait:.6f} s left its locks taken")
            break
    return before_all, after_all, wrong


def main(arguments: list[str]) -> int:
    """The number of failures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ONMARGIN_SEED", "0")))
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGALRM, strike)
    warnings.simplefilter("ignore")
    failures = 0
    for name in given.kinds:
        before, after, wrong = strikes(name, given.seed, given.seconds)
        print(
            f"{name}: {before} calls undone, {after} done, seed {given.seed}", *wrong, sep="\n  ", flush=True
        )
        failures += len(wrong)
    return failures


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 100))
