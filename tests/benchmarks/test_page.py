"""The benchmarks' page and figure say what was measured; no time is asserted here."""

from __future__ import annotations

import pytest
from benchmarks.__main__ import NAMES, WORKS
from benchmarks.contest import (
    LIMIT,
    RIVER,
    ROUND,
    SKLEARN,
    START,
    Contestant,
    Result,
    Work,
    check,
    interleaved,
    line,
    results,
)  # fmt: skip
from benchmarks.machine import machine
from benchmarks.markdown import WIDTH, short, table
from benchmarks.shapes import PRECISIONS, SHAPES, Measured, places
from benchmarks.targets import HELD, MISSED, REACHED, Target

from benchmarks import figure, page

SECONDS = {"ours": [2.0, 1.0, 3.0], "peer": [4.0, 5.0, 3.0], "by hand": [1.0, 1.0, 1.0]}


@pytest.mark.parametrize(
    ("most", "value", "verdict"),
    [
        (False, 1.4, MISSED), (False, 1.5, HELD), (False, 1.79, HELD), (False, 1.8, REACHED),
        (True, 1.81, MISSED), (True, 1.8, HELD), (True, 1.51, HELD), (True, 1.5, REACHED),
    ],
)  # fmt: skip
def test_a_target_is_met_from_either_side(most, value, verdict):
    assert Target(*((1.8, 1.5) if most else (1.5, 1.8)), most=most).verdict(value) == verdict


def test_a_target_to_hold_alone_is_never_reached():
    assert Target(5.0, most=True).verdict(0.1) == HELD
    assert (Target(5.0).words(), Target(1.25, 1.1).words()) == ("5", "1.25/1.1")


def measured(*lines, rounds=1):
    work = Work("work", "some rows", {}, list(lines), rounds=rounds)
    return results(work, SECONDS)


def test_numbers_are_those_of_medians_in_the_sense_of_their_group():
    over, beside, takes = measured(
        line(SKLEARN, "a pass", "ours", "peer", 1.5, 3.0, "by hand"),
        line(LIMIT, "a pass", "ours", "by hand", 1.3),
        line(ROUND, "a round", "ours", hold=40.0, limit="by hand"),
        rounds=100_000,
    )
    assert (over.value, over.low, over.high, over.limit, over.unit) == (2.0, 1.0, 5.0, 4.0, "x")
    assert (beside.value, beside.low, beside.high, beside.limit) == (2.0, 1.0, 3.0, None)
    assert (takes.value, takes.limit, takes.unit) == (20.0, 10.0, "us")
    assert [each.verdict for each in (over, beside, takes)] == [HELD, MISSED, HELD]


def test_runs_are_interleaved_and_no_contestant_may_learn_nothing():
    order = []

    def contestant(name, accuracy=1.0):
        return Contestant(lambda prepared: order.append(name), lambda _: accuracy)

    work = Work("work", "", {name: contestant(name) for name in "abc"}, [])
    *_, seconds = interleaved(work, 3)
    assert "".join(order) == "abcbcacab" and all(len(each) == 3 for each in seconds.values())
    with pytest.raises(SystemExit, match="work: idle reaches an accuracy of 0.500; wanted at least 0.75"):
        check(work._replace(contestants={"idle": contestant("idle", 0.5)}))


def some_results():
    own = measured(
        line(SKLEARN, "sparse pass, in row order", "ours", "peer", 1.5, 3.0, "by hand"),
        line(SKLEARN, "  slower than the peer", "ours", "by hand", 1.5),
        line(RIVER, "about level", "ours", "peer"),
        line(LIMIT, "beside the loop", "ours", "by hand", 1.3, 1.15),
    )
    own[2] = own[2]._replace(value=1.1)
    start = Result(line(START, "first use", "", hold=0.15), "starts", "a note", 0.1, 0.05, 0.2, 0.07, "s")
    return [*own, start]


def axes():
    """One axis with a cliff at 100 nonzeros in float32."""
    times = {
        "float64": (50.0, 68.0, 250.0, 2_050.0, 20_050.0),
        "float32": (50.0, 68.0, 999.0, 2_050.0, 20_050.0),
    }
    return [places([Measured(s, p, own[k]) for p, own in times.items() for k, s in enumerate(SHAPES[0])])]


def test_the_page_says_what_was_measured(tmp_path):
    said = page.write(
        tmp_path, some_results(), axes(), ["labels: no Reuters"], "Three repetitions."
    ).read_text()
    row = next(each for each in said.splitlines() if each.startswith("| sparse pass"))
    assert [cell.strip() for cell in row.split("|")[1:-1]] == [
        "sparse pass, in row order", "2.00x", "1.00-5.00", "1.5/3", "hold", "4.00",
    ]  # fmt: skip
    filled = said.replace("\n", " ")
    assert "scikit-learn is faster at: work: slower than the peer (0.50x)." in filled
    assert "River is about level at: about level (1.10x)." in filled
    assert "- beside the loop: 2.00x; at most 1.3 wanted" in said
    assert "sparse pass" not in said[said.index("not held") : said.index("## Times")]
    assert "Skipped: labels: no Reuters" in said and "Three repetitions." in said
    assert said.count("- work: some rows") == 1 and "- starts: a note" in said
    assert "- CSR: nonzeros, 100: no reason is known" in said
    assert max(len(each) for each in said.splitlines() if each.startswith("|")) <= WIDTH
    assert said.index("scikit-learn, both in row order") < said.index("faster than River")


def test_a_page_without_faster_peers_says_so():
    ahead = [result for result in some_results() if result.value >= 1.2]
    assert page.faster_peers(ahead) == "In this run nowhere, and nowhere nearer than 1.2x."
    assert page.missed(ahead[:1]) == []


def test_a_reason_is_printed_below_the_shapes(monkeypatch):
    monkeypatch.setitem(page.REASONS, ("CSR: nonzeros", "100"), "cache lines.")
    text = page.shape_tables(axes())
    assert text[-2] == "- CSR: nonzeros, 100: cache lines."
    assert sum(each.rstrip(" |").endswith("*") for each in text) == 1
    calm = [[place for place in axes()[0] if place.measured.precision == p] * 2 for p in ("float64",)]
    assert not any(place.cliff for place in calm[0])


def test_the_figure_is_drawn_and_is_the_same_twice(tmp_path):
    for name in ("a.svg", "b.svg"):
        figure.draw(tmp_path / name, some_results(), axes())
    drawn = (tmp_path / "a.svg").read_text()
    assert drawn.startswith("<?xml") and drawn == (tmp_path / "b.svg").read_text()
    figure.draw(tmp_path / "none.svg", [], [])
    assert not (tmp_path / "none.svg").exists()


def test_tables_fit_into_a_log():
    assert table(["a", "b"], [["wide", "1"], ["x", "23"]], {1}) == [
        "| a    |  b |", "| ---- | -: |", "| wide |  1 |", "| x    | 23 |",
    ]  # fmt: skip
    assert [short(v) for v in (0.951, 1.844, 12.34, 123.4, 1399.5)] == [
        "0.95",
        "1.84",
        "12.3",
        "123",
        "1,400",
    ]


def test_every_shape_fits_into_the_table_and_long_titles_are_refused_at_once():
    every = [places([Measured(s, p, 99_999.9) for p in PRECISIONS for s in axis]) for axis in SHAPES]
    text = page.shape_tables(every)
    assert max(len(each) for each in text if each.startswith("|")) <= WIDTH
    known = {(shape.axis, shape.label) for axis in SHAPES for shape in axis}
    assert set(page.REASONS) <= known
    with pytest.raises(ValueError, match="a title of 29 characters; the page has room for 28"):
        line(SKLEARN, "a" * 29, "ours", "peer")


def test_no_host_is_named():
    import platform

    assert platform.node() not in machine() and "scikit-learn" in machine()


def test_every_work_has_a_name():
    assert len(NAMES) == len(set(NAMES)) == len(WORKS) + 3
