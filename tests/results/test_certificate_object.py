"""The object that `om.certificate` returns, what it refuses, and `onmargin learn --certify`."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import Ridge
from tests.cli.processes import run as command
from tests.cli.processes import within
from tests.naive_runs import constant, rows_of, spoken, stream

import onmargin as om
from onmargin.errors import BadInput
from onmargin.protocols.requested.certifying import certified
from onmargin.protocols.requested.requests import Request
from onmargin.results.certificate import Certificate, Row


def perceptron_run(**options):
    X, y, u = stream()
    return om.progressive(om.Perceptron(classes=(-1, 1), **constant(X)), X[:, :-1], y, **options), X, y, u


def test_rows_are_five_values_each_and_found_by_number_and_id():
    run, X, _, u = perceptron_run()
    found = om.certificate(run, spoken(u, X))
    for row in found:
        id, left, right, holds, conditions = row
        assert left <= right and holds is True and conditions and found[id] == row
    assert len(found) == 2 and found[0].id == "P1" and found.holds and found.applying == list(found.rows)
    assert found.frame["id"].tolist() == ["P1", "P2"] == [one["id"] for one in found.records]
    assert found.size == pytest.approx(np.linalg.norm(u))
    for bad, words in (("Z9", "there are P1, P2"), (1.5, "wanted the number")):
        with pytest.raises(BadInput, match=words):
            found[bad]


def test_the_table_fits_into_80_columns_and_marks_what_fails():
    rows = [
        Row("A1", 12.0, 3.5, False, "from w = 0"),
        Row(
            "A2",
            math.nan,
            math.nan,
            None,
            "u has a loss of 3 on 44 rounds (wants: u makes no loss) " + "x " * 60,
        ),
        Row("A4", 3.0, 1e12, True, "classes & <more>"),
    ]
    found = Certificate("PA <b>", rows, {}, None, 2.0)
    assert max(map(len, found.table.splitlines())) <= 80
    assert (
        re.search(r"A1 +12 +> +3.5 .*FAILS", found.table)
        and "ATTENTION: beyond what its theorem allows: A1" in found.table
    )
    assert "does not apply" in found.table and not found.holds and [row.id for row in found.failed] == ["A1"]
    page = found._repr_html_()
    assert "ATTENTION" in page and "PA &lt;b&gt;" in page and "&lt;more&gt;" in page and "#fbd5d0" in page
    assert found.records[1]["left"] is None and json.dumps(found.records)
    with pytest.raises(BadInput, match="nothing to draw"):
        found.plot()


def test_a_figure_has_both_sides_over_the_rounds():
    run, X, _, u = perceptron_run()
    found = om.certificate(run, spoken(u, X))
    assert found.main == "P1"
    figure = found.plot()
    assert isinstance(figure, Figure)
    left, right = (line.get_ydata() for line in figure.axes[0].get_lines())
    assert left[-1] == found["P1"].left and right[-1] == found["P1"].right and len(left) == 60
    assert (np.asarray(left) <= np.asarray(right) + 1e-9).all()
    assert found.plot("P2").axes[0].get_title(loc="left").startswith("P2")


def test_every_form_of_a_comparator():
    """Coefficients, with an intercept, a fitted model of ours or of scikit-learn: the same rows."""
    run, X, y, _ = perceptron_run()
    model = om.PassiveAggressiveClassifier(random_state=0, intercept_scaling=0.5).fit(X[:, :-1], y)
    given = (model.coef_, model.intercept_)
    assert om.certificate(run, model).rows == om.certificate(run, given).rows
    other = Ridge().fit(X[:, :-1], y)
    assert om.certificate(run, other).rows == om.certificate(run, (other.coef_, other.intercept_)).rows
    assert om.certificate(run, [0.0, 0.0, 0.0])["P1"].right == run.errors_theory  # u = 0
    best = om.certificate(run, "best")
    assert best.found == "best" and best["P1"].holds
    assert om.certificate(run, best.comparator)["P1"].right == pytest.approx(best["P1"].right)


@pytest.mark.parametrize("outputs", [0, 1, 4])
def test_the_best_comparator_is_better_than_what_made_the_labels(outputs):
    """Its bound is at most that of the teacher at any scale of a grid."""
    X, y, u = stream(outputs=outputs, count=120)
    if outputs:
        model = om.PassiveAggressiveClassifier(C=0.1, classes=np.unique(y).tolist(), **constant(X))
    else:
        model = om.PassiveAggressiveRegressor(C=0.1, **constant(X))
    run = om.progressive(model, X[:, :-1], y)
    id = "A4" if outputs else "A5"
    teachers = [rows_of(run, scale * u, X)[id].right for scale in (0.1, 0.3, 1.0, 3.0, 10.0)]
    assert om.certificate(run, "best")[id].right <= 1.05 * min(teachers)


def test_bad_input_is_one_line():
    run, X, y, u = perceptron_run()
    rows, bare = X[:, :-1], om.Perceptron(classes=(-1, 1), fit_intercept=False)
    dicts = [(dict(enumerate(x)), label) for x, label in zip(rows.tolist(), y.tolist(), strict=True)]
    cases = (
        (lambda: om.certificate(3, u), "wanted a Progress"),
        (lambda: om.certificate(run, "worst"), "wanted 'best', or coefficients"),
        (lambda: om.certificate(run, np.zeros(7)), "comparator has shape"),
        (lambda: om.certificate(run, [math.nan, 0, 0]), "NaN or infinity"),
        (lambda: om.certificate(run, [0, 0, "x"]), "wanted coefficients"),
        (lambda: om.certificate(run, (np.zeros(3), np.zeros(2))), "intercept has shape"),
        (lambda: om.certificate(run, om.BBQ()), "no coefficients"),
        (lambda: om.certificate(run, u[:, :-1], X=rows[:5]), "rows of the run"),
        (lambda: om.certificate(run, u[:, :-1], y=y[:5]), "one entry for each"),
        (lambda: om.certificate(om.progressive(bare, rows, y), (u[:, :-1], 1.0)), "the run had none"),
        (lambda: om.certificate(perceptron_run(trace="sums")[0], u[:, :-1]), "only sums were kept"),
        (lambda: om.certificate(om.progressive(om.Perceptron(), dicts), u[:, :-1]), "how it began"),
        (lambda: om.certificate([[1, 2]], u[:, :-1]), "wanted a Progress"),
        (lambda: om.certificate([[run]], "best"), "mixed runs want"),
    )
    for call, words in cases:
        with pytest.raises(BadInput, match=words) as error:
            call()
        assert "\n" not in str(error.value)


def test_conditions_that_are_not_met_are_said():
    X, y, u = stream()
    rows, given = X[:, :-1], spoken(u, X)

    def said(id, **options):
        model = om.PassiveAggressiveClassifier(classes=(-1, 1), **constant(X), **options.pop("model", {}))
        row = om.certificate(om.progressive(model, rows, y, **options), given)[id]
        assert row.holds is None and math.isnan(row.left)
        return row.conditions

    assert "labels came late" in said("A4", delay=2)
    assert "rows have weights" in said("A4", sample_weight=np.linspace(0.5, 1, 60))
    assert "forgets" in said("A1", model={"horizon": 50})
    assert "margin=0" in om.certificate(
        om.progressive(om.PassiveAggressiveClassifier(classes=(-1, 1), margin=0.0, **constant(X)).fit(
            rows, y, coef_init=np.ones((1, 3))), rows, y), given)["A0"].conditions  # fmt: skip
    warm = om.PassiveAggressiveClassifier(classes=(-1, 1), **constant(X)).partial_fit(rows, y)
    assert "did not begin from zero" in om.certificate(om.progressive(warm, rows, y), given)["A1"].conditions
    three = np.where(np.arange(60) % 3, y, 0)
    grew = om.progressive(om.PassiveAggressiveClassifier(growing=True, **constant(X)), rows, three)
    assert "joined in mid-run" in om.certificate(grew, "best")["A1"].conditions
    mira = om.certificate(om.progressive(om.MIRA(), rows, three), "best")
    assert mira["A0"].holds and mira["A1"].holds
    sets = om.progressive(om.PassiveAggressiveClassifier(**constant(X)), rows, rows > 0)
    assert "two constraints a round" in om.certificate(sets, "best")["A1"].conditions


def test_rows_of_weight_0_and_averages_do_not_matter():
    """A round that is not seen has no part in any sum; scored_by="model" shows other scores, not losses."""
    X, y, u = stream()
    weights, rows = (np.arange(60) % 4 > 0).astype(float), X[:, :-1]
    learner = om.PassiveAggressiveClassifier(C=0.2, average=True, classes=(-1, 1), **constant(X))
    seen = weights > 0
    some = om.progressive(learner.clone(), rows[seen], y[seen])
    every = om.progressive(learner.clone(), rows, y, sample_weight=weights, scored_by="model")
    for left, right in zip(
        om.certificate(some, spoken(u, X)), om.certificate(every, spoken(u, X)), strict=True
    ):
        assert left.id == right.id and left.left == pytest.approx(right.left)
        assert left.holds == right.holds and left.right == pytest.approx(right.right)


def test_a_source_is_certified_with_its_rows_given(tmp_path):
    X, y, u = stream(bias=0.0)
    dump_svmlight_file(X[:, :-1], y, str(tmp_path / "a.svm"), zero_based=False)
    model = om.Perceptron(classes=(-1, 1), fit_intercept=False)
    run = om.progressive(model, om.sources.svmlight.stream(tmp_path / "a.svm", rows=7, columns=3))
    with pytest.raises(BadInput, match="give X= and y="):
        om.certificate(run, u[:, :-1])
    found = om.certificate(run, u[:, :-1], X=X[:, :-1], y=y)
    whole = om.progressive(om.Perceptron(classes=(-1, 1), fit_intercept=False), X[:, :-1], y)
    for one, other in zip(found, om.certificate(whole, u[:, :-1]), strict=True):
        assert one.left == pytest.approx(other.left) and one.right == pytest.approx(other.right)


# ---- the command


@pytest.fixture
def file(tmp_path):
    X, y, _ = stream(count=300, bias=0.0)
    path = tmp_path / "rows.svm"
    dump_svmlight_file(X[:, :-1], y, str(path), zero_based=False)
    return path, X[:, :-1], y


def test_learn_certify_in_a_process(file, tmp_path):
    path, _, _ = file
    page = tmp_path / "page.html"
    done = command("learn", path, "-C", "0.1", "--certify", "--report", page)
    assert done.returncode == 0, done.stderr
    assert (
        re.search(r"^A4 +\d+ <= ", done.stdout, re.MULTILINE) and "u: what was learned, scaled" in done.stdout
    )
    assert max(map(len, done.stdout.splitlines()[2:])) <= 80
    text = page.read_text()
    assert "Certificates" in text and "A4" in text and 'aria-label="bound"' in text
    pipe = command("learn", "-", "--format", "svmlight", "--certify", input=path.read_text())
    assert (
        pipe.returncode == 2
        and len(pipe.stderr.strip().splitlines()) == 1
        and "read only once" in pipe.stderr
    )


def test_learn_certify_is_the_certificate_of_the_arrays(file, capsys):
    """The same sides as those of one run over all rows, beside the comparator that the command has chosen."""
    path, X, y = file
    for algorithm, step in (("perceptron", None), ("pa1", "pa1"), ("pa2", "pa2")):
        done = within(capsys, "learn", path, "--algorithm", algorithm, "--certify", "--json")
        facts = json.loads(done.stdout.splitlines()[-1])
        assert facts["event"] == "certified" and facts["holds"]
        options = {} if step is None else {"step": step}
        made = om.Perceptron if step is None else om.PassiveAggressiveClassifier
        model = made(classes=(-1, 1), **options)
        run = om.progressive(model, X, y)
        size = np.sqrt((model.coef_**2).sum() + (model.intercept_[0] / model.intercept_scaling_) ** 2)
        scale = facts["size"] / size
        rows = {row.id: row for row in om.certificate(run, (scale * model.coef_, scale * model.intercept_))}
        for one in facts["rows"]:
            other = rows[one["id"]]
            assert one["holds"] == other.holds, one
            if other.holds is not None:
                assert [one["left"], one["right"]] == pytest.approx([other.left, other.right], rel=1e-6)


@pytest.mark.parametrize("algorithm", ["perceptron", "pa1", "pa2"])
def test_blocks_have_the_sums_of_all_rows(file, algorithm):
    """A block of 64 rows at a time or all at once: the same sides, and a course over all rounds."""
    path, _, _ = file

    def certificate_of(rows):
        training = Request([str(path)], algorithm=algorithm).training()
        training.run()
        training.reading.source.rows = rows
        return certified(training)

    whole, blocks = certificate_of(1000), certificate_of(64)
    assert [row.id for row in whole] == [row.id for row in blocks]
    for one, other in zip(whole, blocks, strict=True):
        assert one.holds == other.holds
        assert [one.left, one.right] == pytest.approx([other.left, other.right], nan_ok=True)
    course = blocks.courses[blocks.main]
    assert course.rounds[-1] == 300 and len(course.rounds) == 4 * 16 + 16
    assert course.left[-1] == blocks[blocks.main].left and (np.diff(course.left) >= 0).all()
    assert blocks.plot().axes[0].get_lines()[0].get_xdata()[-1] == 300


def test_learn_certify_says_what_it_is_not_for(file, capsys):
    path, _, _ = file
    done = within(capsys, "learn", path, "--algorithm", "perceptron", "--kernel", "rbf", "--certify")
    assert done.returncode == 2 and "om.certificate" in done.stderr and len(done.stderr.splitlines()) == 1
