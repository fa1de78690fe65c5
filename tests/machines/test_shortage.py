"""A learning call that runs out of memory, wherever that is, changes nothing."""

from __future__ import annotations

import copy
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import onmargin as om

from ..once import ROOT
from ..soaking import SOAKING, soaked
from .contents import content, differences
from .shortage import shortage

X = np.random.default_rng(1).normal(size=(12, 4))
Y = (X[:, 0] > 0).astype(int)
NEW = {f"new {number}": 1.0 for number in range(70)}
FRAME = pd.DataFrame(X, columns=[f"c{number}" for number in range(4)])
LEARNERS = {
    "weights": lambda: om.PassiveAggressiveClassifier(growing=True, random_state=0),
    "averaged": lambda: om.PassiveAggressiveClassifier(growing=True, average=True, random_state=0),
    "full": lambda: om.AROW(covariance="full", growing=True, random_state=0),
    "kernel": lambda: om.Perceptron(kernel="rbf", gamma=0.5, growing=True, random_state=0),
    "paired": lambda: om.PairedClassifier(growing=True, reservoir=3, random_state=0),
    "sampler": lambda: om.SelectiveSampler(om.PassiveAggressiveClassifier(), random_state=0),
    "bbq": lambda: om.BBQ(random_state=0),
}
CALLS = {
    "one": lambda m: m.learn_one({"c0": 1.0, **NEW}, 1),
    "one of a new class": lambda m: m.learn_one({"c1": -1.0, **NEW}, 2),
    "table": lambda m: m.partial_fit(
        FRAME, Y, **({} if getattr(m, "growing", False) else {"classes": [0, 1]})
    ),
    "fit": lambda m: m.fit(FRAME, Y),
    "progressive": lambda m: om.progressive(m, FRAME, Y),
    "each": lambda m: om.progressive(m, [({"c0": 1.0}, 1), (NEW, 0)]),
}
SHORT = ("weights", "kernel", "sampler")


@pytest.mark.parametrize(
    ("name", "call"),
    [
        (name, call)
        for name in (LEARNERS if SOAKING else SHORT)
        for call in CALLS
        if call != "one of a new class" or name not in ("sampler", "bbq")
    ],
)
@soaked
@pytest.mark.filterwarnings("ignore")
def test_without_memory_nothing_has_happened(name, call):
    start = LEARNERS[name]()
    grows = getattr(start, "growing", False)
    start.partial_fit(FRAME, Y, **({} if grows else {"classes": [0, 1]}))
    start.learn_one({"c0": 1.0}, 1)
    before = content(start)
    with shortage(0) as limit:
        CALLS[call](copy.deepcopy(start))
    model, failed = copy.deepcopy(start), 0
    for at in range(1, limit.made + 1):
        try:
            with shortage(at):
                CALLS[call](model)
        except MemoryError:
            failed += 1
        else:  # it can do without that one, or made fewer
            model = copy.deepcopy(start)
            continue
        assert differences(before, content(model)) == [], f"array number {at}"
    assert failed
    other = copy.deepcopy(start)
    CALLS[call](model)
    CALLS[call](other)
    assert differences(content(other), content(model)) == []


WIDE = """
import resource, onmargin as om
from tests.machines.contents import content, differences
m = om.AROW(covariance="full")
m.learn_one({"a": 1.0}, "x"), m.learn_one({"b": 1.0}, "y")
before = content(m)
wide = dict.fromkeys(map(str, range(300_000)), 1.0)
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
for call in (m.learn_one, lambda x, y: om.progressive(m, [(x, y)])):
    try:
        call(wide, "x")
    except MemoryError:
        assert differences(before, content(m)) == []
    else:
        raise AssertionError("there was memory")
m.learn_one({"c": 1.0}, "x")
assert m.n_features_in_ == 3 and m.predict_one({"299999": 1.0}) in ("x", "y")
"""


def test_a_dict_too_wide_for_the_machine_leaves_no_name():
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}  # (not a loop is worth compiling for it)
    subprocess.run([sys.executable, "-c", WIDE], check=True, cwd=ROOT, env=plain, timeout=120)
