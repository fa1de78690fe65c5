"""A source is learned to the very numbers of its rows in one table."""

from __future__ import annotations

import io

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadFile, BadInput


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two classes, five classes, numbers: wider and wider rows."""
    draw = np.random.default_rng(5)
    folder = tmp_path_factory.mktemp("sources")
    made = {}
    for name, classes in (("two", 2), ("five", 5), ("numbers", 0)):
        lines = []
        for number in range(9_000):
            some = np.sort(draw.choice(5 + number // 90, 4, replace=False)) + 1
            values = draw.standard_normal(4)
            score = float(values @ np.sin(some))
            y = score if not classes else min(int(abs(score) * 2), classes - 1)
            lines.append(f"{y} " + " ".join(f"{i}:{v:.6g}" for i, v in zip(some, values, strict=True)))
        made[name] = folder / f"{name}.svm"
        made[name].write_text("\n".join(lines))
    return made


CASES = {
    "two": [
        om.PassiveAggressiveClassifier(),
        om.AROW(),
        om.Pegasos(average=True),
        om.Perceptron(growing=True),
    ],
    "five": [om.PassiveAggressiveClassifier(C=0.1), om.PassiveAggressiveClassifier(growing=True)],
    "numbers": [om.PassiveAggressiveRegressor()],
}


def same_runs(found, wanted):
    assert found.totals == wanted.totals
    names = ("scores", "predictions", "losses", "steps", "y")
    for name in names if found.scores is not None else names[:-1]:  # (of sums no target is kept)
        one, other = getattr(found, name), getattr(wanted, name)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other)
    for one, other in zip(found.curve(), wanted.curve(), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found.model.coef_, wanted.model.coef_)
    np.testing.assert_array_equal(found.model.intercept_, wanted.model.intercept_)


@pytest.mark.parametrize(("rows", "trace"), [(8192, "full"), (777, "full"), (777, "sums")])
@pytest.mark.parametrize(("name", "at"), [(name, at) for name in CASES for at in range(len(CASES[name]))])
def test_a_source_is_learned_as_its_table(files, name, at, rows, trace):
    X, y = om.sources.svmlight.read(files[name])
    model = CASES[name][at]
    wanted = om.progressive(model.clone(), X, y, trace=trace)
    found = om.progressive(model.clone(), om.sources.svmlight.stream(files[name], rows=rows), trace=trace)
    same_runs(found, wanted)


def test_going_on_with_a_source(files):
    X, y = om.sources.svmlight.read(files["two"])
    one, other = om.PassiveAggressiveClassifier(), om.PassiveAggressiveClassifier()
    one.partial_fit(X[:100], y[:100], classes=[0.0, 1.0])
    other.partial_fit(X[:100], y[:100], classes=[0.0, 1.0])
    found = om.progressive(one, om.sources.svmlight.stream(files["two"]), every=100)
    same_runs(found, om.progressive(other, X, y, every=100))


def test_blocks_go_to_partial_fit(files):
    X, y = om.sources.svmlight.read(files["two"])
    model = om.PassiveAggressiveClassifier(growing=True)
    for block in om.sources.svmlight.stream(files["two"], rows=1000):
        model.partial_fit(block.rows, block.targets)
    wanted = om.PassiveAggressiveClassifier(growing=True).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, wanted.coef_)


def test_a_sweep_takes_a_source(files):
    X, y = om.sources.svmlight.read(files["two"])
    grid = {"C": [0.01, 0.1, 1.0]}
    found = om.sweep(om.PassiveAggressiveClassifier(), grid, om.sources.svmlight.stream(files["two"]))
    assert found.rows == om.sweep(om.PassiveAggressiveClassifier(), grid, X, y).rows


def test_samplers_late_labels_and_detectors_read_a_source_whole(files):
    source = om.sources.svmlight.stream(files["two"])
    X, y = om.sources.svmlight.read(files["two"])
    ask = om.SelectiveSampler(om.Perceptron(), rule="margin", random_state=0)
    one, other = om.progressive(ask.clone(), source), om.progressive(ask.clone(), X, y)
    np.testing.assert_array_equal(one.queried, other.queried)
    same_runs(one, other)
    for told in ({"delay": 5}, {"drift": om.PageHinkley()}):
        some = om.sources.svmlight.stream(files["two"])
        same_runs(
            om.progressive(om.Perceptron(), some, **told), om.progressive(om.Perceptron(), X, y, **told)
        )


def test_a_bad_line_leaves_the_model_as_it_was(files, tmp_path):
    path = tmp_path / "bad.svm"
    path.write_text(files["two"].read_text() + "\n1 3:x\n")
    model = om.PassiveAggressiveClassifier(growing=True)
    with pytest.raises(BadFile, match="line 9001, column 3: '3:x'"):
        om.progressive(model, om.sources.svmlight.stream(path))
    assert not hasattr(model, "coef_")
    source = om.sources.svmlight.stream(path, on_error="skip")
    assert om.progressive(model, source).rounds == 9_000 and source.skipped == 1


def test_what_a_source_cannot_tell(files):
    once = om.sources.svmlight.stream(io.BytesIO(b"1 1:1\n0 2:1\n"))
    with pytest.raises(BadInput, match=r"its labels .classes=.; tell it, or set growing=True"):
        om.progressive(om.PassiveAggressiveClassifier(), once)
    with pytest.raises(BadInput, match=r"how many columns it has .columns=."):
        om.progressive(om.PassiveAggressiveClassifier(), once, classes=[0, 1])
    known = om.sources.svmlight.stream(io.BytesIO(b"1 1:1\n0 2:1\n"), columns=2)
    assert om.progressive(om.PassiveAggressiveClassifier(), known, classes=[0, 1]).rounds == 2
    source = om.sources.svmlight.stream(files["two"])
    for options in (
        {"y": [1]},
        {"sample_weight": [1]},
        {"chance": [0]},
    ):
        with pytest.raises(BadInput, match="leave y"):
            om.progressive(om.PassiveAggressiveClassifier(), source, **options)
    with pytest.raises(BadInput, match="leave the others out"):
        om.sweep(om.PassiveAggressiveClassifier(), {"C": [1.0]}, source, [1])
    with pytest.raises(BadInput, match="no example"):
        om.progressive(
            om.PassiveAggressiveClassifier(growing=True), om.sources.svmlight.stream(io.BytesIO(b"#\n"))
        )
