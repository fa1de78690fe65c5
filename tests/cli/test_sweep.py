"""onmargin sweep: many values, one pass, the same numbers as om.sweep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import onmargin as om
from onmargin.cli.app import main
from onmargin.errors import BadInput
from onmargin.protocols.requested.ranges import spread

from .sessions import lines, refused, run, write_svmlight


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray, np.ndarray]:
    X, y, _ = om.datasets.ellipses(400, label_noise=0.1, seed=0)
    return write_svmlight(tmp_path_factory.mktemp("sweep") / "e.svm", X, y), X, y


def test_a_sweep_is_om_sweep_and_keeps_the_best_model(data, tmp_path: Path) -> None:
    path, X, y = data
    figure, model = tmp_path / "deep" / "s.png", tmp_path / "best.onm"
    words = ("-C", "0.001..10:5", path, "--step", "pa1,pa2", "--figure", figure, "--save", model)
    *rows, best, drawn, saved = lines("sweep", *words)
    grid = {"C": [0.001, 0.01, 0.1, 1.0, 10.0], "step": ["pa1", "pa2"]}
    own = om.sweep(om.PassiveAggressiveClassifier(), grid, X, y)
    assert rows == own.rows
    assert best["best"] == own.best_params and best["error_rate"] == own.rows[own.best_index]["error_rate"]
    assert (best["algorithm"], best["task"], best["skipped"]) == ("pa1", "classes", 0)
    assert drawn == {"figure": str(figure)} and figure.read_bytes().startswith(b"\x89PNG")
    assert saved == {"saved": str(model)}
    kept = om.load(model)
    assert {name: kept.get_params()[name] for name in grid} == own.best_params
    assert np.array_equal(kept.coef_, own.best_model.coef_)
    seen, *top = lines("show", model)  # as of a model of learn: what it came from, columns as in the file
    assert seen["trained"]["data"] == [str(path)] and seen["trained"]["command"].startswith("onmargin sweep")
    assert {one["feature"] for one in top} == {1, 2}


def test_a_table_of_80_columns_from_a_pipe_with_bad_lines(data) -> None:
    text = data[0].read_text() + "1 nonsense\n"
    words = (
        "sweep",
        "-",
        "--format",
        "svmlight",
        "--algorithm",
        "arow",
        "-r",
        "0.1,1,10",
        "--on-error",
        "skip",
    )
    done = run(*words, input=text)
    assert done.returncode == 0 and not done.stderr, done.stderr
    shown = done.stdout.splitlines()
    assert max(map(len, shown[:-2])) <= 80 and sum("* 0." in line for line in shown) == 1
    assert shown[-2].startswith("best of 3: r=") and "(arow, classes), error_rate 0." in shown[-2]
    assert shown[-2].endswith("online over 400 examples") and shown[-1].startswith("skipped: 1 line")


def test_numbers_are_judged_by_their_absolute_error(data, tmp_path: Path, capsys) -> None:
    _, X, _ = data
    path = write_svmlight(tmp_path / "n.svm", X, X @ np.linspace(1, 2, X.shape[1]) + 0.25)
    assert main(["sweep", str(path), "--epsilon", "0.01,0.1", "-C", "1"]) == 0
    said = capsys.readouterr().out
    assert "mae" in said and "(pa1, numbers), mae" in said and "mistakes" not in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "there is nothing to try"),
        (("-C", "1"), "there is nothing to try"),
        (("-C", "1..x:3"), "is no range; wanted first..last:count"),
        (("-C", "0..1:3"), "above 0"),
        (("-C", "1,2", "--figure", "a.gif"), "--figure a.gif: wanted a name ending in .png, .svg, .pdf"),
        (("-C", "1,2", "--scoring", "beauty"), "beauty"),
        (("--beauty", "1,2"), "no parameter 'beauty'"),
        (("--algorithm", "pa9", "-C", "1,2"), "algorithm 'pa9' is not known; did you mean"),
        (("--algorithm", "arow", "-r", "0.5,-1"), "r=-1"),
    ],
)
def test_what_cannot_be_tried_is_refused_in_one_line(data, words, told, capsys) -> None:
    assert main(["sweep", str(data[0]), *words]) == 2
    out, said = capsys.readouterr()
    assert not out and said.startswith("onmargin: ") and said.count("\n") == 1 and told in said


def test_a_file_that_is_not_there() -> None:
    assert "no file 'nowhere.svm'" in refused(run("sweep", "nowhere.svm", "-C", "1,2"))


def test_ranges_are_even_in_their_logarithms() -> None:
    found = np.array(spread("1e-4..1e2:32"))
    assert len(found) == 32 and found[0] == 1e-4 and found[-1] == 1e2
    assert np.allclose(np.diff(np.log(found)), np.log(1e6) / 31, rtol=1e-4)
    assert spread("10..0.1:3") == [10.0, 1.0, 0.1] and spread(True) == [True]
    for wrong in ("1..2", "1..2:1", "1..2:x", "..2:3", "-1..2:3", "1..inf:3", "1..2:99999"):
        with pytest.raises(BadInput):
            spread(wrong)
