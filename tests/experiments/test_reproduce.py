"""onmargin reproduce: files, report, exit codes; what is known is not run again; data that are not there."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import warnings
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import pytest
from PIL import Image

from onmargin.experiments import NAMES
from onmargin.experiments.experiment import Experiment
from onmargin.experiments.outcome import Outcome

from ..cli.processes import run, within

VOID = {"meta", "img", "br", "hr"}


class Page(HTMLParser):
    """Tags that are closed in their order, pictures, texts and what leads elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.pictures: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = dict(attributes)
        self.pictures += [told["src"]] if tag == "img" else []
        self.links += [told["href"]] if "href" in told else []
        self.ids |= {told["id"]} if "id" in told else set()
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def images(page: Page) -> list[Image.Image]:
    """Decoded to the last pixel."""
    found = []
    for source in page.pictures:
        head, _, data = source.partition(";base64,")
        assert head in ("data:image/png", "data:image/gif")
        picture = Image.open(io.BytesIO(base64.b64decode(data, validate=True)))
        picture.load()
        found.append(picture)
    return found


def test_one_experiment_its_files_and_the_report(tmp_path, capsys, monkeypatch):
    out = tmp_path / "deep" / "out"
    done = within(capsys, "reproduce", "circle", "--quick", "--out", out, "--json")
    told, last = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, told["name"], told["verdict"], told["kept"]) == (0, "circle", "holds", False)
    assert last == {"report": str(out / "report.html")} and all(claim["holds"] for claim in told["claims"])
    table = list(csv.DictReader(io.StringIO((out / "circle.csv").read_text())))
    assert len(table) == len(told["rows"]) and float(table[0]["asked"]) == told["rows"][0]["asked"][0]
    assert "| epsilon | stated |" in (out / "circle.md").read_text()
    assert (out / "circle.png").read_bytes().startswith(b"\x89PNG") and "<svg" in (
        out / "circle.svg"
    ).read_text()

    page = Page((out / "report.html").read_text())
    (picture,) = images(page)
    assert picture.width > 800 and "#circle" in page.links and "circle" in page.ids
    assert not any("://" in link for link in page.links)
    said = " ".join(page.texts)
    module = import_module("onmargin.experiments.circle")
    for text in (
        module.ANSWERS,
        module.PROTOCOL,
        "generated",
        "1 (quick)",
        told["claims"][0]["text"],
        "Verdict",
    ):
        assert text in said

    def never(*_: object, **__: object) -> Outcome:
        raise AssertionError("it was run again")

    monkeypatch.setattr(module, "run", never)
    (out / "report.html").unlink()
    again = within(capsys, "reproduce", "circle", "--quick", "--out", out, "--json")
    same = json.loads(again.stdout.splitlines()[0])
    assert again.returncode == 0 and same.pop("kept") is True and told.pop("kept") is False and same == told
    assert images(Page((out / "report.html").read_text()))


def test_a_table_for_people(tmp_path, capsys):
    done = within(capsys, "reproduce", "drawings", "--quick", "--out", tmp_path)
    assert done.returncode == 0 and "drawings" in done.stdout and "5 of 5" in done.stdout, done
    assert done.stdout.splitlines()[-1] == f"report: {tmp_path / 'report.html'}"
    still, *moving = images(Page((tmp_path / "report.html").read_text()))
    frames = import_module("onmargin.experiments.drawings").FEW
    assert still.format == "PNG" and [picture.format for picture in moving] == ["GIF", "GIF"]
    assert all(picture.n_frames == frames for picture in moving)


def test_a_claim_that_fails_is_said_and_is_exit_code_1(tmp_path, capsys, monkeypatch):
    module = import_module("onmargin.experiments.noise")
    monkeypatch.setattr(module, "STEPS", dict.fromkeys(module.STEPS, "pa"))
    done = within(capsys, "reproduce", "noise", "--quick", "--out", tmp_path)
    assert done.returncode == 1 and "noise: does not hold: " in done.stderr and "fails" in done.stdout
    page = Page((tmp_path / "report.html").read_text())
    assert "✗ fails" in page.texts and "✓ holds" in page.texts


def test_a_flaw_of_ours_is_exit_code_1_and_its_traceback_is_kept(tmp_path, capsys, monkeypatch):
    module = import_module("onmargin.experiments.noise")
    monkeypatch.setattr(module, "best_line", lambda X, y: 1 / 0)
    done = within(capsys, "reproduce", "noise", "--quick", "--out", tmp_path)
    assert done.returncode == 1 and done.stderr == "noise: ZeroDivisionError: division by zero\n"
    assert "best_line" in (tmp_path / "noise.traceback.txt").read_text()
    assert "✗ broke" in Page((tmp_path / "report.html").read_text()).texts


def test_missing_data_is_one_line_and_the_others_go_on(tmp_path):
    """In processes: there are two to run."""
    empty, out = tmp_path / "empty", tmp_path / "out"
    empty.mkdir()
    words = ("reproduce", "digits", "noise", "--quick", "--out", out, "--json")
    done = run(*words, env={**os.environ, "ONMARGIN_DATA": str(empty)})
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("digits: usps/zip.train.gz is not in ") and "ONMARGIN_DATA" in done.stderr
    noise, digits, _ = map(json.loads, done.stdout.splitlines())
    assert (noise["name"], noise["verdict"]) == ("noise", "holds")
    assert (digits["name"], digits["verdict"]) == ("digits", "not run") and digits["error"] in done.stderr
    page = Page((out / "report.html").read_text())
    assert {"digits", "noise"} <= page.ids and "not run" in page.texts and len(images(page)) == 1


def test_an_unknown_name_is_answered_with_a_near_one(tmp_path, capsys):
    done = within(capsys, "reproduce", "nois", "--out", tmp_path / "out")
    assert done.returncode == 2 and not done.stdout and not list(tmp_path.iterdir())
    assert done.stderr == "onmargin: there is no experiment 'nois'; did you mean 'noise'?\n"
    listed = within(capsys, "reproduce", "--list")
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(NAMES)


def test_a_result_is_known_by_all_that_it_rests_on(tmp_path, monkeypatch):
    """Seeds, form, data by their bytes, and sources: also those of an experiment that another one uses."""
    from onmargin.experiments import experiment

    (tmp_path / "usps").mkdir()
    monkeypatch.setenv("ONMARGIN_DATA", str(tmp_path))
    keys = [Experiment("digits").key(), Experiment("digits", quick=True).key()]
    for text in (b"1", b"2"):
        (tmp_path / "usps" / "zip.train.gz").write_bytes(text)
        keys.append(Experiment("digits").key())
    assert len(set(keys)) == 4 and keys[-1] == Experiment("digits").key()
    reached = {path.stem for path in experiment._reached(experiment.HERE / "moderation.py")}
    assert {"moderation", "imbalance", "outcome"} <= reached and "digits" not in reached
    monkeypatch.setattr(experiment, "_library", lambda: "another library")
    assert Experiment("digits").key() != keys[-1]


def test_what_is_kept_and_damaged_is_run_again(tmp_path, capsys):
    words = ("reproduce", "noise", "--quick", "--out", tmp_path, "--json")
    assert within(capsys, *words).returncode == 0
    (place,) = (tmp_path / "kept").iterdir()
    (place / "outcome.json").write_text("{")
    assert json.loads(within(capsys, *words).stdout.splitlines()[0])["kept"] is False


def test_what_learners_warn_of_is_in_the_report_and_nowhere_else(tmp_path, capsys, monkeypatch):
    module = import_module("onmargin.experiments.noise")
    best_line = module.best_line

    def warning(X: object, y: object) -> float:
        warnings.warn("this is <steep>", UserWarning, stacklevel=1)
        return best_line(X, y)

    monkeypatch.setattr(module, "best_line", warning)
    for _ in range(2):  # the second time it is kept
        done = within(capsys, "reproduce", "noise", "--quick", "--out", tmp_path)
        assert done.returncode == 0 and not done.stderr
        assert "While it ran: this is <steep>." in Page((tmp_path / "report.html").read_text()).texts


@pytest.mark.soak
def test_all_of_it_quickly(tmp_path):
    """Every claim of every experiment in its quick form; without real sets, of those that need none."""
    done = run("reproduce", "all", "--quick", "--out", tmp_path, "--json", timeout=1200)
    told = {line["name"]: line for line in map(json.loads, done.stdout.splitlines()) if "name" in line}
    assert list(told) == list(NAMES)
    missing = {name for name, line in told.items() if line["verdict"] == "not run"}
    assert {name: line for name, line in told.items() if line["verdict"] not in ("holds", "not run")} == {}
    if missing:
        pytest.skip(f"no data for {', '.join(sorted(missing))}; the others hold")
    assert done.returncode == 0 and not done.stderr
    page = Page(Path(tmp_path / "report.html").read_text())
    assert len(images(page)) >= len(NAMES) and set(NAMES) <= page.ids
