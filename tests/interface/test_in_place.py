"""Kernel and paired rounds of single dicts: in place they are those through a copy, bit for bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import onmargin as om
from tests.machines.contents import content, differences
from tests.machines.moments import each_moment
from tests.soaking import mostly_uncompiled

DRAW = np.random.default_rng(0)
NAMES = [f"f{number}" for number in range(40)]
DICTS = [
    dict(zip(DRAW.choice(NAMES, 6, replace=False).tolist(), DRAW.normal(size=6).tolist(), strict=True))
    for _ in range(90)
]
RBF = {"kernel": "rbf", "gamma": 0.3}
KERNELS = {
    "float32": lambda: om.PassiveAggressiveClassifier(**RBF, average=False),
    "float64": lambda: om.PassiveAggressiveClassifier(**RBF, dtype="float64", fit_intercept=False),
    "averaged": lambda: om.PassiveAggressiveClassifier(**RBF, average=True),
    "pegasos": lambda: om.Pegasos(**RBF),
    "regressor": lambda: om.PassiveAggressiveRegressor(**RBF),
}
PAIRED = {
    "plain": lambda: om.PairedClassifier(random_state=0),
    "auc": lambda: om.PairedClassifier(rule="auc", average=True, random_state=0),
    "few": lambda: om.PairedClassifier(rule="max_violators", reservoir=3, random_state=0),
}
MAKERS = KERNELS | PAIRED
INTERRUPTED = {name: MAKERS[name] for name in ("float32", "averaged", "plain", "auc")} | {
    "growing": lambda: om.PassiveAggressiveClassifier(growing=True, average=True)
}


def labels(name, several):
    """Numbers for a regressor; the third class comes late."""
    if name == "regressor":
        return DRAW.normal(size=len(DICTS)).tolist()
    found = [int(sum(x.values()) > 0) for x in DICTS]
    return [2 if several and number > 20 and number % 5 == 0 else y for number, y in enumerate(found)]


@pytest.mark.parametrize("several", [False, True], ids=["two", "three"])
@pytest.mark.parametrize("name", mostly_uncompiled(MAKERS, *KERNELS, "plain", "auc"))
def test_a_round_in_place_is_the_round_through_a_copy(name, several):
    """Its state and its answers, to the last bit; and nearly every round is one."""
    quick, long = MAKERS[name](), MAKERS[name]()
    in_place = 0
    for number, (x, y) in enumerate(zip(DICTS, labels(name, several), strict=True)):
        if number:
            asked = {**x, "never met": 0.5}
            stream = long._stream or long.predict_one(x) or long._stream
            assert quick.predict_one(asked) == long._targets().named_one(stream.scores(asked))
        stream = quick._stream
        if stream is not None and stream.learn_fast(x, y):
            in_place += 1
        else:
            quick._learn_one(x, y, 1.0)
        long._learn_one(x, y, 1.0)
    assert not differences(content(quick), content(long))
    assert in_place > len(DICTS) - 10


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_rows_far_away_and_values_of_any_size_go_the_long_way(name):
    """Where products lose the digits of a distance; then the short way again."""
    quick, long = KERNELS[name](), KERNELS[name]()
    rows = [*DICTS[:20], {"f1": 3e3, "f2": 1.0}, {"f1": 3e3, "f2": 1.01}, {"f1": 1e16}, {}, *DICTS[20:30]]
    for number, x in enumerate(rows):
        if number:
            assert quick.predict_one(x) == long.predict_one(x)
        quick.learn_one(x, number % 2)
        long._learn_one(x, number % 2, 1.0)
    assert_array_equal(quick.dual_coef_, long.dual_coef_)


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_refused_leaves_nothing(name):
    """Names given back, the row forgotten."""
    model = MAKERS[name]()
    for x, y in zip(DICTS[:20], labels(name, False), strict=False):
        model.learn_one(x, y)
    before = content(model)
    for bad in (float("nan"), float("inf"), "text", None, 1e200):
        with pytest.raises(ValueError, match=r"'new'|too large"):
            model.learn_one({**DICTS[0], "other": 1.0, "new": bad}, 1)
        with pytest.raises(ValueError, match=r"'new'|too large"):
            model.predict_one({**DICTS[0], "other": 1.0, "new": bad})
        assert not differences(before, content(model))


def _refused(model, x, y, w):
    try:
        model.learn_one(x, y, w)
    except ValueError:
        pass


@pytest.mark.parametrize("w", [1.0, 2.0])
@pytest.mark.parametrize("value", [1.0, "text"])
@pytest.mark.parametrize("name", INTERRUPTED)
def test_ctrl_c_at_every_moment_of_a_round(name, value, w):
    """The model before it or after it; names of a finished round outlive the next one that is refused."""
    begun = INTERRUPTED[name]()
    for number, x in enumerate(DICTS[:20]):
        begun.learn_one(x, number % 2)
    x = {**DICTS[30], "new": 1.0, "newer": value}

    def prepared():
        model = copy.deepcopy(begun)
        for number, other in enumerate(DICTS[21:24]):
            model.predict_one(other)
            model.learn_one(other, number % 2)
        return model

    def gone_on(model):
        _refused(model, {"more": 1.0, "bad": "text"}, 1, 1.0)
        model.learn_one({**DICTS[31], "last": 1.0}, 0)
        return content(model)

    untouched, whole = prepared(), prepared()
    before = content(untouched), gone_on(untouched)
    _refused(whole, x, 1, w)
    after = content(whole), gone_on(whole)
    stopped = 0
    for model in each_moment(prepared, lambda model: _refused(model, x, 1, w), step=2):
        stopped += 1
        now = content(model)
        assert now in (before[0], after[0])
        assert gone_on(model) == (before[1] if now == before[0] else after[1])
    assert stopped > 3
