"""The table from which defaults are chosen: on two tiny sets it says what was measured."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.defaults import compare, contestants, dots, page, river_streams, sets, verdicts, wabbit
from benchmarks.defaults.estimators import Made, facts
from benchmarks.defaults.jobs import Answers, Outcome, measure
from benchmarks.defaults.running import Task, run
from benchmarks.defaults.store import Store
from rich.console import Console

from onmargin.sources import real


def tiny() -> sets.Set:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)) * [1.0, 1.0, 10.0, 1.0] + [0.0, 0.0, 5.0, 0.0]
    return sets.Set(sets.CLASSES, X, np.where(X[:, 0] + X[:, 1] > 0, 7, 3), scaled=True)


def line() -> sets.Set:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2))
    return sets.Set(sets.NUMBERS, X, 3.0 * X[:, 0] + 1.0)


@pytest.fixture(autouse=True)
def two_sets(monkeypatch):
    groups = {"small": {"tiny": tiny}, "raw": {}, "text": {}, "dense": {}, "labels": {}, "queries": {}}
    groups["numbers"] = {"line": line}
    monkeypatch.setattr(sets, "GROUPS", groups)
    monkeypatch.setattr(sets, "SETS", {"tiny": tiny, "line": line})
    sets.load.cache_clear()
    yield
    sets.load.cache_clear()


WHO = ("Perceptron", "sk.Perceptron", "River.Perceptron", "PassiveAggressiveRegressor", "sk.PA1Reg")


def played(store):
    todo = [
        Task(name, job, who, contestants.EVERYBODY[who])
        for name in ("tiny", "line")
        for job in ("fit", "last", "online")
        for who in WHO
    ]
    return run(todo, store, 1, Console(quiet=True))


def test_the_page_says_what_was_measured(tmp_path, capsys):
    store = Store(tmp_path / "kept.jsonl", resume=False)
    found = played(store)
    assert {who for _, _, who in found} == set(WHO)
    assert ("tiny", "fit", "River.Perceptron") not in found  # it has no fit
    assert ("line", "fit", "Perceptron") not in found
    assert all(not outcome.failed and len(outcome.values) == 3 for outcome in found.values())
    assert found["tiny", "fit", "Perceptron"].mean < 25.0 > found["tiny", "online", "River.Perceptron"].mean
    assert found["line", "fit", "PassiveAggressiveRegressor"].mean < 20.0  # of the median's

    path = page.write(tmp_path, found, ["VW: not installed"], "two sets")
    dots.draw(tmp_path / page.FIGURE, found)
    said = path.read_text()
    ours, peer = (found["tiny", "fit", who].mean for who in ("Perceptron", "sk.Perceptron"))
    tally = verdicts.tally([verdicts.verdict("fit", ours, peer)])
    row = next(
        each for each in said.splitlines() if each.startswith("| Perceptron") and "sk.Perceptron" in each
    )
    assert [cell.strip() for cell in row.split("|")[3:6]] == [f"{ours:.1f}", f"{peer:.1f}", tally]
    assert "Absent: VW: not installed" in said and "two sets" in said
    assert (tmp_path / page.FIGURE).read_text().startswith("<?xml")
    tables = [each for each in said.splitlines() if each.startswith(("|", "tiny", "line"))]
    assert tables and max(map(len, tables)) <= page.WIDTH

    # What is kept is not measured again; one that changed is.
    kept = Store(tmp_path / "kept.jsonl", resume=True)
    assert played(kept) == found and len((tmp_path / "kept.jsonl").read_text().splitlines()) == len(found)
    kept.forget("Perceptron")
    again = played(kept)
    assert again["tiny", "fit", "Perceptron"].values == found["tiny", "fit", "Perceptron"].values
    more = len((tmp_path / "kept.jsonl").read_text().splitlines()) - len(found)
    assert more == 3  # fit, last, online of one learner; not of sk.Perceptron


def test_another_default_is_measured_anew():
    def key(expression: str) -> str:
        return Task("tiny", "fit", "AROW", Made(expression)).key

    assert key("AROW()") == key("om.AROW()") != key("AROW(r=0.25)")
    assert key("AROW()").startswith("AROW | fit | tiny | error | all | ")


def test_what_is_level():
    assert [verdicts.verdict("fit", 10.0 + by, 10.0) for by in (-0.31, -0.3, 0.3, 0.31)] == [
        "win", "tie", "tie", "loss",
    ]  # fmt: skip
    assert [verdicts.verdict("online", 2.0 * by, 2.0) for by in (0.94, 0.95, 1.05, 1.06)] == [
        "win", "tie", "tie", "loss",
    ]  # fmt: skip
    nan = float("nan")
    assert [verdicts.verdict("fit", *pair) for pair in ((nan, 1.0), (1.0, nan), (nan, nan))] == [
        "loss", "win", "tie",
    ]  # fmt: skip
    assert verdicts.capped(np.array([nan, 1e30, 5.0])).tolist() == [200.0, 200.0, 5.0]


def test_splits_are_disjoint_repeatable_and_scaled_by_what_is_learned():
    data = tiny()
    part = sets.split(data, 1)
    assert part.X.shape == (84, 4) and part.X_test.shape == (36, 4)
    assert np.allclose(part.X.mean(axis=0), 0) and not np.allclose(part.X_test.mean(axis=0), 0)
    assert np.array_equal(sets.split(data, 1).y, part.y) and not np.array_equal(sets.split(data, 2).y, part.y)
    assert np.array_equal(sets.stream(data._replace(ordered=True), 1).y, data.y)
    assert sets.runs(data._replace(ordered=True), "online", 3) == 1
    queries = np.repeat(np.arange(10), 12)
    ranked = sets.split(data._replace(kind=sets.QUERIES, qid=queries, scaled=False), 0)
    assert not set(ranked.qid) & set(ranked.qid_test) and set(ranked.qid) | set(ranked.qid_test) == set(
        range(10)
    )


def test_a_failure_is_kept_and_loses():
    class Fails:
        def answers(self, job, data, part, seed):
            raise ValueError("too far\nand more")

    class Silent:
        def answers(self, job, data, part, seed):
            return Answers(np.full(len(part.y_test), np.nan))

    failed = measure(Fails(), "tiny", "fit")
    assert failed == Outcome([], 0.0, 0, "ValueError: too far") and np.isnan(failed.mean)
    assert measure(Silent(), "line", "fit").failed == "not finite"
    found = {("tiny", "fit", "AROW"): failed}
    assert "- AROW, fit on tiny: ValueError: too far" in page.text(found, [], "")


def test_candidates_side_by_side(tmp_path, capsys):
    store = Store(tmp_path / "compare.jsonl", resume=False)
    first, second = "Perceptron()", "Perceptron(intercept_scaling=0.1 * length)"
    compare.compare([first, second], ["fit"], ["tiny"], 2, "error", 1, store)
    printed = capsys.readouterr().out
    kept = [store.get(Task("tiny", "fit", one, Made(one), 2).key) for one in (first, second)]
    assert all(len(one.values) == 2 for one in kept)
    lines = {each.split()[0]: each.split()[1:] for each in printed.splitlines() if each.strip()}
    assert [cell.rstrip("*!") for cell in lines["tiny"]] == [f"{one.mean:.2f}" for one in kept]
    means = printed.split("mean", 1)[1].splitlines()[0].split()
    assert means == [f"{one.mean:.2f}" for one in kept]
    assert lines["win/tie/loss"] == [verdicts.tally([verdicts.verdict("fit", kept[1].mean, kept[0].mean)])]
    with pytest.raises(SystemExit, match="cannot be made"):
        compare.compare(["Perceptron(rte=1)"], ["fit"], None, 1, "error", 1, store)
    with pytest.raises(SystemExit, match="different targets"):
        compare.compare([first, "FTRLRegressor()"], ["fit"], None, 1, "error", 1, store)
    with pytest.raises(SystemExit, match="no set or group 'tyni'"):
        compare.compare([first], ["fit"], ["tyni"], 1, "error", 1, store)
    assert compare.ranks(np.array([[1.0, 2.0, np.nan], [3.0, 3.0, 1.0]])).tolist() == [1.75, 2.25, 2.0]


def test_numbers_of_a_set_are_there_for_expressions():
    known = facts(np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0]]), np.array([0.0, 1.0, 5.0]))
    assert known["length"] == 2.0 and known["longest"] == 5.0 and known["spread"] == pytest.approx(5 / 3)
    assert known["typical"] == 1.0 * 9.0 and known["first_typical"] == 2 * 12.5  # entries 4, 9, 16; 9, 16
    assert Made("AROW(r=0.1 * length**2)").model(np.eye(2), np.array([0, 1]), 0).r == pytest.approx(0.1)


def test_vowpal_wabbit_gets_its_own_format(tmp_path, monkeypatch):
    labels = np.array([3, 7])
    wabbit._write(
        tmp_path / "rows", np.array([[0.0, 1.5], [2.0, 0.0]]), wabbit._targets(np.array([3, 7]), labels)
    )
    assert (tmp_path / "rows").read_text() == "-1 | 2:1.5\n1 | 1:2\n"
    assert wabbit._said(np.array([-0.2, 0.4]), labels).said.tolist() == [3, 7]
    several = np.array([3, 5, 7])
    assert wabbit._targets(np.array([3, 7]), several).tolist() == [1, 3]
    assert wabbit._said(np.array([1.0, 3.0]), several).said.tolist() == [3, 7]
    monkeypatch.setattr(wabbit.importlib.util, "find_spec", lambda name: None)
    assert "not installed" in wabbit.absent() and not wabbit.Wabbit().takes("online", tiny())
    assert [one.split(":")[0] for one in contestants.absent()] == ["River", "VW"]


def test_river_answers_before_it_learns():
    data = tiny()
    part = sets.stream(data, 0)
    answers = river_streams.RiverModel("PAClassifier").answers("online", data, part, 0)
    assert set(answers.said) == {3, 7} and (answers.said != part.y).mean() < 0.2


def test_real_sets_are_read():
    if not real.folder().is_dir():
        pytest.skip(f"{real.folder()} is not there; set ONMARGIN_DATA to the folder of real sets")
    heart = sets._small("heart", 13, True)
    assert heart.X.shape == (270, 13) and (heart.y == 1).sum() == 120
    assert sets._abalone(False).X.shape == (4177, 10)
    assert sets._rcv1().splits[0].X_test.shape == (500, 47_236)
    assert sets._lightgbm_rank().splits[0].qid_test.max() == 49
