"""What was measured as a page: the tables, where a peer is faster, which targets are missed, the shapes."""

from __future__ import annotations

import textwrap
from pathlib import Path

from .contest import BESIDE, GROUPS, OVER, PEERS, RATE, Result
from .machine import processor, versions
from .markdown import Cells, short, table
from .shapes import CLIFF, PRECISIONS, REASONS, Place
from .targets import MISSED

PAGE, FIGURE = "benchmarks.md", "benchmarks.svg"
LEVEL = 1.2  # a peer that is nearer than this is named too
HEADS = {OVER: "faster", BESIDE: "times", RATE: "a second"}


def _filled(text: str, first: str = "") -> list[str]:
    return textwrap.wrap(text, 96, initial_indent=first, subsequent_indent=" " * len(first))


def _title(result: Result) -> str:
    """A variant of the line before it is marked by a dash."""
    title = result.line.title
    return f"- {title.strip()}" if title.startswith(" ") else title


def cells(results: list[Result]) -> Cells:
    """Title, value, least and greatest of a repetition, target, verdict, what the bare work would have."""
    lines = []
    for result in results:
        unit = {"x": "x", "/s": "", "us": " µs"}.get(result.unit, f" {result.unit}")
        spread = "" if result.low == result.high else f"{short(result.low)}-{short(result.high)}"
        target = result.line.target.words() if result.line.target else ""
        limit = "" if result.limit is None else short(result.limit)
        value = f"{short(result.value)}{unit}"
        lines.append([_title(result), value, spread, target, result.verdict, limit])
    return lines


def tables(results: list[Result]) -> list[str]:
    """A heading and a table for everything that lines are compared with."""
    text: list[str] = []
    for group, sense in GROUPS.items():
        own = [result for result in results if result.line.group == group]
        if own:
            heads = ["work", HEADS.get(sense, "takes"), "from-to", "target", "", "limit"]
            text += [f"## {group}", "", *table(heads, cells(own), {1, 2, 5}), ""]
    return text


def faster_peers(results: list[Result]) -> str:
    """In plain words: where a peer is faster than we are, and where it is level."""
    said = []
    for group, peer in PEERS.items():
        own = sorted((r for r in results if r.line.group == group), key=lambda result: result.value)
        behind = [r for r in own if r.value < 1.0]
        level = [r for r in own if 1.0 <= r.value < LEVEL]
        if behind:
            said.append(f"{peer} is faster at: {_named(behind)}.")
        if level:
            said.append(f"{peer} is about level at: {_named(level)}.")
    return " ".join(said) or f"In this run nowhere, and nowhere nearer than {LEVEL:g}x."


def _named(results: list[Result]) -> str:
    return "; ".join(f"{full_title(r)} ({short(r.value)}x)" for r in results)


def full_title(result: Result) -> str:
    """The title; that of its work in front where it is a variant."""
    title = result.line.title
    return f"{result.work}: {title.strip()}" if title.startswith(" ") else title


def missed(results: list[Result]) -> list[str]:
    """A line for every target that was not held."""
    found = []
    for result in results:
        if result.verdict == MISSED and result.line.target:
            bound = "at most" if result.line.target.most else "at least"
            value = f"{short(result.value)}{'' if result.unit == 'x' else ' '}{result.unit}"
            found.append(f"- {full_title(result)}: {value}; {bound} {result.line.target.hold:g} wanted")
    return found


def shape_tables(axes: list[list[Place]]) -> list[str]:
    """A table of all shapes; a star where there is a cliff, and its reason below."""
    lines, notes = [], []
    for axis in axes:
        shapes = list(dict.fromkeys(place.measured.shape for place in axis))
        for shape in shapes:
            own = {p.measured.precision: p for p in axis if p.measured.shape == shape}
            placed = [own[precision] for precision in PRECISIONS]
            cliff = any(place.cliff for place in placed)
            numbers = [text for p in placed for text in (short(p.measured.each), f"{p.ratio:.2f}")]
            lines.append(
                [shape.axis if shape is shapes[0] else "", shape.label, *numbers, "*" if cliff else ""]
            )
            if cliff:
                reason = REASONS.get((shape.axis, shape.label), "no reason is known: a cliff.")
                notes += _filled(f"{shape.axis}, {shape.label}: {reason}", "- ")
    heads = ["varied", "", "float64", "/trend", "float32", "/trend", ""]
    return [*table(heads, lines, {1, 2, 3, 4, 5}), "", *(notes or ["No shape is marked in this run."]), ""]


def _data(results: list[Result]) -> list[str]:
    """Every table or note once, after the names of the works that used it."""
    works: dict[str, list[str]] = {}
    for result in results:
        names = works.setdefault(result.data, [])
        names += [result.work] if result.work not in names else []
    return [row for data, names in works.items() for row in _filled(f"{', '.join(names)}: {data}", "- ")]


def text(results: list[Result], axes: list[list[Place]], skipped: list[str], said: str) -> str:
    """The whole page."""
    lines = [
        "# Benchmarks",
        "",
        "`make bench` measures and writes this page; nothing in it is written by hand.",
        "",
        f"![Every ratio as a bar, its target and the limit]({FIGURE})",
        "",
        *_filled(f"{said} Ratios are those of medians of interleaved runs, everybody in one thread unless "
                 "said otherwise; `from-to` is the least and the greatest of a single repetition.", "- "),
        *_filled("Like for like: peers in row order (`shuffle=False`), the same rows in the same precision, "
                 "our public calls with all their checks, `intercept_scaling=1.0`, `average=False`.", "- "),
        *_filled("limit: what the bare work would have had in the same run. A loop of exactly that algorithm "
                 "written by hand in Numba (`benchmarks/limits`), a matrix product and exponentials, or "
                 "reading the weights of every nonzero once; no checks, no names.", "- "),
        *_filled("target: to hold/to reach; at most, where less is better.", "- "),
        *_filled(f"{processor()}.", "- "),
        *_filled(f"{versions()}.", "- "),
        "",
    ]  # fmt: skip
    if results:
        lines += ["## Where a peer is faster", "", *_filled(faster_peers(results)), ""]
        lines += ["Targets that are not held:", "", *(missed(results) or ["- none"]), ""]
        lines += tables(results)
    if axes:
        lines += [
            "## Shapes", "",
            *_filled("Nanoseconds for every weight touched (of a row's nonzeros: all outputs are scored, "
                     "and those that move are touched again) in `partial_fit` of PA-I, all checks included, "
                     "the least of the repetitions. Two classes (x 10: ten), updates in 70 % of the rounds "
                     "unless varied. /trend: beside the straight line through its neighbours (a round costs "
                     f"something, a weight costs something). A star: more than {CLIFF:g}x that, or "
                     f"{CLIFF:g}x the other precision."), "",
            *shape_tables(axes),
        ]  # fmt: skip
    if results:
        lines += ["## Data", "", *_data(results), ""]
    lines += [f"Skipped: {line}" for line in skipped]
    return "\n".join(lines).rstrip() + "\n"


def write(
    folder: Path, results: list[Result], axes: list[list[Place]], skipped: list[str], said: str
) -> Path:
    """`benchmarks.md`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PAGE
    path.write_text(text(results, axes, skipped, said), encoding="utf-8")
    return path
