"""One page that says what a run came to, and needs nothing beside it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import Pipeline

import onmargin as om
from onmargin.results import report
from onmargin.results.confusion import Confusion, Mix

COMMAND = "onmargin learn digits.svm --algorithm pa1 -C 0.1 --report <out>.html"


class Tags(HTMLParser):
    """Opened and closed in order; what lies outside the page is named by an address."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        named = {"src", "href", "xlink:href", "action", "data"}
        self.outside += [v for name, v in attrs if name in named and v and not v.startswith(("#", "data:"))]
        assert tag not in ("script", "link", "iframe")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in ("meta", "br"):
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(text: str) -> str:
    """A well-formed page without an outside address."""
    tags = Tags()
    tags.feed(text)
    assert (
        not tags.open
        and not tags.outside
        and "http" not in text
        and "url(" not in re.sub(r"url\(#", "", text)
    )
    return text


@pytest.fixture(scope="module")
def digits() -> tuple[object, object]:
    X, y = load_digits(return_X_y=True)
    model = om.PassiveAggressiveClassifier(C=0.1, random_state=0)
    return model, om.progressive(model, X, y, classes=range(10))


def test_a_page_has_the_numbers_of_the_run(tmp_path: Path, digits) -> None:
    model, run = digits
    path = tmp_path / "deep" / "out.html"
    report.write(path, run, model, COMMAND, {"data": "digits & more", "test": {"rows": 1797, "error": 0.25}})
    text = checked(path.read_text())
    assert (
        "--report &lt;out&gt;.html" in text
        and "digits &amp; more" in text
        and "rows 1,797, error 0.25" in text
    )
    assert f"{run.mistakes:,} wrong, {run.error_rate:.2%}." in text and "<svg" in text
    assert f"<td>onmargin</td><td>{om.__version__}</td>" in text and "<td>C</td><td>0.1</td>" in text
    counts = [int(n.replace(",", "")) for n in re.findall(r'answered \d">([\d,]+)</td>', text)]
    table = np.reshape(counts, (10, 10))
    assert table.sum() == 1797 and 1797 - np.trace(table) == run.mistakes
    heaviest = model.top_features(1).to_dict("records")[0]
    assert f"<td>{heaviest['feature']}</td>" in text and f"{heaviest['weight']:+.4g}" in text
    assert [p.name for p in path.parent.iterdir()] == ["out.html"]


def test_the_same_run_gives_the_same_bytes(digits) -> None:
    model, run = digits
    assert report.page(run, model, COMMAND, {}) == report.page(run, model, COMMAND, {})


def test_words_are_shown_through_a_pipeline_and_labels_are_escaped() -> None:
    texts, labels = ["cheap pills", "lunch at noon", "cheap offer", "noon"] * 5, ["<spam>", "ham"] * 10
    words = om.features.Text(names=True).partial_fit(texts)
    model = om.PassiveAggressiveClassifier()
    run = om.progressive(model, words.transform(texts), np.array(labels), classes=["ham", "<spam>"])
    text = checked(report.page(run, Pipeline([("features", words), ("model", model)]), "x", {}))
    assert "<td>cheap</td>" in text and "<td>noon</td>" in text and "&lt;spam&gt;" in text
    assert "<spam>" not in text


def test_sums_only_show_what_was_counted_along() -> None:
    X, y, _ = om.datasets.ellipses(400, seed=0)
    run = om.progressive(model := om.AROW(), X, y, trace="sums", every=50)
    text = checked(report.page(run, model, "x", {}))
    assert "Confusion" not in text and "<svg" in text
    counted = Confusion()
    counted.add([-1, 1, 1], [-1, -1, 1])
    assert "true 1, answered -1" in report.page(run, model, "x", {}, counted)
    counted.add([1], [None])  # before any label
    text = checked(report.page(run, model, "x", {}, counted))
    assert "<th>no answer</th>" in text and "<th>None</th>" not in text


def test_numbers_kernels_and_many_labels() -> None:
    X, y, _ = om.datasets.ellipses(300, seed=0)
    run = om.progressive(model := om.PassiveAggressiveRegressor(), X, y.astype(float))
    text = checked(report.page(run, model, "x", {}))
    assert "Confusion" not in text and "mean loss" in text and "mistakes" not in text
    run = om.progressive(model := om.Perceptron(kernel="rbf"), X, y)
    assert "Top features" not in checked(report.page(run, model, "x", {}))
    many = np.arange(300) % 25
    run = om.progressive(model := om.Perceptron(), X, many, classes=range(25))
    text = checked(report.page(run, model, "x", {}))
    assert "25 labels; the pairs that were mixed up most often" in text


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, digits) -> None:
    class Unspeakable:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    path = tmp_path / "out.html"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        report.write(path, digits[1], digits[0], "x", {"a": Unspeakable()})
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["out.html"]


def test_confusions_are_counted_block_by_block() -> None:
    rng = np.random.default_rng(0)
    truths, answers = rng.integers(0, 3, 500), rng.integers(0, 3, 500)
    seen = Confusion()
    for at in range(0, 500, 70):
        seen.add(truths[at : at + 70], answers[at : at + 70])
    expected = np.zeros((3, 3), int)
    np.add.at(expected, (truths, answers), 1)
    assert seen.labels == [0, 1, 2] and np.array_equal(seen.table(), expected)
    off = expected - np.diag(np.diag(expected))
    top = seen.mixed(1)[0]
    assert top == Mix(top.truth, top.answer, off.max()) and off[top.truth, top.answer] == off.max()
    with pytest.raises(om.errors.BadInput, match="one label each"):
        seen.add([1, 2], [1])
