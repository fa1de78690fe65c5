"""A sweep is separate runs of every configuration, only faster."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.soaking import SOAKING, either, soaked

import onmargin as om
from onmargin.errors import BadInput
from onmargin.models.lanes import group_size

DRAW = np.random.default_rng(4)
X = DRAW.normal(size=(150, 6)) * (DRAW.random((150, 6)) < 0.7)
SCORES = X @ DRAW.normal(size=6) + 0.3 + 0.7 * DRAW.normal(size=150)
Y = (SCORES > 0).astype(int)
THREE = np.digitize(SCORES, [-1.0, 1.0])
MORE, MORE_Y, MORE_SCORES = X[::-1][:40], Y[::-1][:40], SCORES[::-1][:40]  # to go on with

FAMILIES = {
    "passive-aggressive": (om.PassiveAggressiveClassifier(), "C", {"step": ["pa1", "pa2"]}),
    "Perceptron": (om.Perceptron(), "rate", {}),
    "Pegasos": (om.Pegasos(), "lam", {}),
    "FTRL": (om.FTRLClassifier(regularizer="l2"), "rate", {"loss": ["hinge", "logistic"]}),
    "regression": (om.PassiveAggressiveRegressor(), "C", {"epsilon": [0.0, 0.1, 0.5]}),
}


def separate(model, configs, X, y, **options):
    return [om.progressive(model.clone().set_params(**c), X, y, **options) for c in configs]


def agrees(result, runs, X, y, close=1e-12):
    """Rows and models are those of the separate runs, and so is what the models learn from then on."""
    assert len(result.rows) == len(runs)
    for number, (row, run) in enumerate(zip(result.rows, runs, strict=True)):
        assert (row["rounds"], row["mistakes"], row["updates"]) == (run.rounds, run.mistakes, run.updates)
        assert row["mean_loss"] == pytest.approx(run.totals.loss / run.rounds, rel=max(close, 1e-9), abs=1e-9)
        if run.kind == "labels":
            assert row["error_rate"] == run.error_rate and "mae" not in row
        else:
            assert row["mae"] == pytest.approx(run.metrics("mae")["mae"], rel=1e-9)
            assert "error_rate" not in row
        model = result.model(number)
        assert model.get_params() == run.model.get_params()
        for _ in range(2):
            mine, theirs = (np.c_[m.coef_, m.intercept_] for m in (model, run.model))
            np.testing.assert_allclose(mine, theirs, rtol=close, atol=close * max(1, abs(theirs).max()))
            assert model.t_ == run.model.t_
            model.partial_fit(X, y)
            run.model.partial_fit(X, y)


@settings(deadline=None, max_examples=60, derandomize=True, database=None)
@given(
    name=st.sampled_from(sorted(FAMILIES)), average=st.booleans(), weighted=st.booleans(),
    sparse=st.booleans(), by_class=st.sampled_from([None, "balanced", {0: 0.3, 1: 2.0}]),
    powers=st.lists(st.floats(-3, 2), min_size=1, max_size=9, unique=True),
)  # fmt: skip
def test_a_sweep_is_separate_runs(name, average, weighted, sparse, by_class, powers):
    model, first, others = FAMILIES[name]
    model = model.clone().set_params(average=average)
    labels = name != "regression"
    if labels:
        model.set_params(class_weight=by_class)
    sparse = sparse and name in ("passive-aggressive", "Pegasos")  # (each combination is compiled)
    table, y = sp.csr_matrix(X) if sparse else X, Y if labels else SCORES
    own = np.random.default_rng(len(powers)).uniform(0, 2, 150) * (np.arange(150) % 7 > 0)
    own = own if weighted else None
    grid = {first: [10**power for power in powers], **others}
    result = om.sweep(model, grid, table, y, sample_weight=own)
    assert len(result.rows) == len(powers) * int(np.prod([len(values) for values in others.values()]))
    shared = len(powers) > 1 or name == "regression"  # steps and losses have lanes of their own
    assert result.in_lanes == (len(result.rows) if shared else 0)
    more = (sp.csr_matrix(MORE) if sparse else MORE, MORE_Y if labels else MORE_SCORES)
    near = 1e-9 if name == "FTRL" else 1e-12  # (steps of 60 make the roundings of the loss grow)
    agrees(result, separate(model, result.configs, table, y, sample_weight=own), *more, close=near)


def test_class_weights_in_the_grid():
    model = om.PassiveAggressiveClassifier()
    grid = {"C": [0.01, 0.1, 1.0], "class_weight": [None, "balanced", {0: 3.0}]}
    result = om.sweep(model, grid, X, Y)
    assert result.in_lanes == 9
    agrees(result, separate(model, result.configs, X, Y), MORE, MORE_Y)


@pytest.mark.parametrize("count", [1, 2, 16, 17, 37])
def test_any_number_of_lanes(count):
    model, grid = om.PassiveAggressiveClassifier(average=True), {"C": np.logspace(-3, 1, count)}
    result = om.sweep(model, grid, X, Y)
    assert result.in_lanes == (count if count > 1 else 0)
    agrees(result, separate(model, result.configs, X, Y), MORE, MORE_Y)


def test_threads_share_the_lanes_and_nothing_else_changes():
    """32 lanes in one group, or in as many as there are threads: the same bits."""
    model, grid = om.PassiveAggressiveClassifier(), {"C": np.logspace(-3, 1, 32)}
    one, three = (om.sweep(model, grid, sp.csr_matrix(X), Y, threads=threads) for threads in (1, 3))
    assert [group_size(32, threads) for threads in (1, 2, 3, 64)] == [32, 16, 16, 8]
    assert one.rows == three.rows
    np.testing.assert_array_equal(one.best_model.coef_, three.best_model.coef_)


PLAIN = """
import numpy as np, onmargin as om
X = np.random.default_rng(0).normal(size=(40, 3)) * (np.arange(40) != 3)[:, None]  # an empty row
for step in ("pa", "pa1", "pa2"):
    model = om.PassiveAggressiveClassifier(step=step, fit_intercept=False)
    print(*(row["mean_loss"] for row in om.sweep(model, {"C": [0.1, 1.0]}, X, X[:, 0] > 0).rows))
"""


def test_passive_lanes_and_empty_rows_without_numba():
    """Their steps are computed and dropped: none may divide by 0."""
    environments = (os.environ, os.environ | {"NUMBA_DISABLE_JIT": "1"})
    compiled, plain = (
        subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, env=env, check=True)
        for env in environments
    )
    np.testing.assert_allclose(*(list(map(float, run.stdout.split())) for run in (compiled, plain)))


def test_frames_and_names_of_classes():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    names = np.array(["no", "yes"])[Y]
    model = om.PassiveAggressiveClassifier()
    result = om.sweep(model, {"C": [0.1, 1.0]}, frame, names)
    agrees(result, separate(model, result.configs, frame, names), frame, names)
    best = result.best_model
    assert list(best.feature_names_in_) == list("abcdef") and list(best.classes_) == ["no", "yes"]
    assert best.predict_one({"a": 1.0, "f": -2.0}) in ("no", "yes")


def test_blocks_do_not_show(monkeypatch):
    from onmargin.interface.runs import passes

    model = om.PassiveAggressiveClassifier(class_weight="balanced")
    result = om.sweep(model, {"C": [0.1, 1.0]}, X, Y)
    monkeypatch.setattr(passes, "BLOCK", 7)
    again = om.sweep(model, {"C": [0.1, 1.0]}, X, Y)
    assert again.rows == result.rows
    np.testing.assert_array_equal(again.best_model.coef_, result.best_model.coef_)


@pytest.mark.parametrize("average", [False, True])
def test_lanes_of_float32(average):
    model = om.PassiveAggressiveClassifier(dtype="float32", average=average)
    result = om.sweep(model, {"C": np.logspace(-3, 1, 20)}, X, Y)
    assert result.in_lanes == 20
    agrees(result, separate(model, result.configs, X, Y), MORE, MORE_Y, close=1e-5)


@pytest.mark.parametrize(
    "model, grid, y",
    [(om.AROW(), {"r": [0.1, 1.0, 10.0]}, Y),
     (om.PassiveAggressiveClassifier(), {"C": [0.1, 1.0, 10.0]}, THREE),
     (om.FTRLClassifier(regularizer="coin"), {"coin_epsilon": [0.1, 1.0]}, Y),
     (om.Pegasos(batch_size=4, average=0.3), {"lam": [0.01, 0.1]}, Y),
     (om.Pegasos(project=True), {"lam": [0.01, 0.1]}, Y),
     (om.Pegasos(fit_intercept="free"), {"lam": [0.01, 0.1]}, Y),
     (om.PassiveAggressiveClassifier(), {"step": ["pa1", "pa2"]}, Y)],
    ids=["AROW", "three classes", "coin", "batches", "ball", "free", "one of each kind"],
)  # fmt: skip
@pytest.mark.parametrize("threads", [None, 1])
def test_what_has_no_lanes_gives_the_same_result(model, grid, y, threads):
    result = om.sweep(model, grid, X, y, threads=threads)
    assert result.in_lanes == 0 and isinstance(result, om.SweepResult)
    runs = separate(model, result.configs, X, y)
    agrees(result, runs, MORE, y[::-1][:40], close=1e-15)


def test_lanes_and_others_in_one_grid():
    model = om.PassiveAggressiveClassifier()
    grid = [{"C": [0.01, 0.1]}, {"step": ["pa2"]}, {"average": [True], "C": [1.0, 2.0]}]
    result = om.sweep(model, grid, X, Y)
    assert [config.get("C") for config in result.configs] == [0.01, 0.1, None, 1.0, 2.0]
    assert result.in_lanes == 2  # two with an average are scored by it, one of pa2 is alone
    agrees(result, separate(model, result.configs, X, Y, scored_by="model"), MORE, MORE_Y)


@pytest.mark.parametrize(
    "grid", [{"fit_intercept": [True, False]}, {"intercept_scaling": [1.0, 5.0]}], ids=str
)
def test_intercepts_in_the_grid(grid):
    model = om.PassiveAggressiveClassifier()
    result = om.sweep(model, {"C": [0.1, 1.0], **grid}, X, Y)
    agrees(result, separate(model, result.configs, X, Y), MORE, MORE_Y)


# ---- refusals


@pytest.mark.parametrize("model", [om.PassiveAggressiveClassifier(), om.AROW()], ids=["lanes", "no lanes"])
def test_a_bad_row_is_refused_with_its_number(model):
    name = "C" if hasattr(model, "C") else "r"
    for number in (0, 77, 149):
        broken = X.copy()
        broken[number, 2] = np.nan
        with pytest.raises(BadInput, match=f"row {number} has a NaN in column 2"):
            om.sweep(model, {name: [0.1, 1.0]}, broken, Y)


REFUSED = {
    "an unknown parameter": ({"D": [1.0]}, "no parameter 'D'; the grid may have C, average"),
    "an empty list": ({"C": []}, "at least one value"),
    "a number": ({"C": 1.0}, "wanted a list"),
    "a text": ({"step": "pa1"}, "wanted a list"),
    "no dict": (3, "wanted a dict"),
    "a list of numbers": ([1.0, 2.0], "wanted a dict"),
    "an empty grid": ([], "wanted a dict"),
    "an empty dict": ({}, "is empty; wanted at least one parameter"),
    "empty dicts": ([{}, {}], "is empty; wanted at least one parameter"),
    "a nested name": ({"estimator__C": [1.0]}, "no parameter 'estimator__C'; the grid may have C"),
    "None": (None, "wanted a dict"),
    "a value that cannot be": ({"C": [1.0, -1.0]}, "C=-1.0"),
    "a step that cannot be": ({"step": ["pa1", "pa9"]}, "step='pa9'"),
}


@pytest.mark.parametrize("grid, said", REFUSED.values(), ids=REFUSED)
def test_a_grid_that_makes_no_sense_is_refused_in_one_line(grid, said):
    with pytest.raises(BadInput, match=said) as caught:
        om.sweep(om.PassiveAggressiveClassifier(), grid, X, Y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrong", [3, None, om.PassiveAggressiveClassifier], ids=str)
def test_what_is_no_learner_is_refused(wrong):
    with pytest.raises(BadInput, match="wanted a learner"):
        om.sweep(wrong, {"C": [1.0]}, X, Y)


def test_weights_that_do_not_fit_are_refused():
    with pytest.raises(BadInput, match="sample_weight has shape"):
        om.sweep(om.Perceptron(), {"rate": [1.0, 2.0]}, X, Y, sample_weight=np.ones(3))


@pytest.mark.parametrize("margins", [(0.0, 1.0), (1.0, 0.0)])
def test_a_margin_of_nothing_is_refused_wherever_it_stands(margins):
    with pytest.raises(BadInput, match="never moves"):
        om.sweep(om.PassiveAggressiveClassifier(), {"margin": margins}, X, Y)


# ---- machine code on disk

SCRIPT = """
import numpy as np
import onmargin as om
from onmargin.compiled import parts
X = np.random.default_rng(0).standard_normal((30, 3))
y = (X[:, 0] > 0).astype(int)
result = om.sweep(om.PassiveAggressiveClassifier(), {"C": [0.1, 1.0]}, X, y)
"""
AVERAGED = """
om.sweep(om.Pegasos(average=True), {"lam": [0.1, 1.0]}, X, y)
"""
PRINT = """
done = parts._specialised.values()
swept = [name for name in parts._specialised if "sweep" in name]
misses = sum(sum(f.stats.cache_misses.values()) for f in done)
hits = sum(sum(f.stats.cache_hits.values()) for f in done)
print(len(swept), hits, misses, result.best_model.coef_[0, 0].hex())
"""


@soaked
def test_a_second_process_compiles_nothing(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    script = SCRIPT + (AVERAGED if SOAKING else "") + PRINT  # (each takes seconds)
    lines = [
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert [line[0] for line in lines] == [str(either(1, 2))] * 2 and lines[0][3] == lines[1][3]
    assert lines[0][1] == "0" != lines[0][2]
    assert lines[1][1:3] == [lines[0][2], "0"]
