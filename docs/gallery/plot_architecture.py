"""The figure of `architecture`: every room in the order of its layer, and who imports how much of whom.

Rooms go down the stairs in the order that import-linter keeps (`pyproject.toml`); imports are counted by
grimp, as import-linter does. An import that pointed upward would stand below the stairs.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import grimp
import matplotlib
import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from onmargin.compiled.parts import FOLDERS

ROOT = Path(__file__).parent.parent.parent
TARGET = ROOT / "docs" / "architecture.svg"
PACKAGE = "onmargin"
MACHINE, PYTHON, LINE = "#f6c98b", "#cfe0f3", "#9aa5b1"
WIDE, HIGH = 1.3, 0.72  # of a room, its step of the stairs being 1 x 1
LEFT = -WIDE / 2


def rooms() -> list[str]:
    """The rooms, topmost first, as the contract of the layers has them."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    found = [name.strip() for layer in contract["layers"] for name in layer.split("|")]
    return [name.removeprefix(f"{PACKAGE}.") for name in found]


def imports(known: list[str]) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """How many modules each room has, and how many imports go from room to room."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    room = {name: name.split(".")[1] for name in graph.modules if name.count(".")}
    arrows = Counter(
        (room[source], room[target])
        for source in room
        for target in graph.find_modules_directly_imported_by(source)
        if target in room and room[source] != room[target]
    )
    assert set(room.values()) == set(known), "every room has a layer in pyproject.toml, and no other has"
    return Counter(room.values()), arrows


def round_box(ax: Any, left: float, middle: float, wide: float, high: float, colour: str) -> None:
    """A box with round corners."""
    shape = "round,pad=0,rounding_size=0.08"
    corner = (left, middle - high / 2)
    ax.add_patch(FancyBboxPatch(corner, wide, high, shape, fc=colour, ec="#52606d", lw=0.8, zorder=3))


def draw_room(ax: Any, name: str, at: int, files: int) -> None:
    """A box with its name, and how many files it holds."""
    round_box(ax, at - WIDE / 2, at, WIDE, HIGH, MACHINE if name in FOLDERS else PYTHON)
    middle = {"ha": "center", "va": "center", "zorder": 4}
    ax.text(at, at - 0.12, name, fontsize=9.5, **middle)
    ax.text(at, at + 0.19, f"{files} files" if files > 1 else "1 file", fontsize=8, **middle)


def draw_arrows(ax: Any, known: list[str], arrows: Counter[tuple[str, str]]) -> None:
    """Right out of the room that imports, down into the one that is imported; where they meet, how often."""
    place = {name: at for at, name in enumerate(known)}
    for name, at in place.items():
        right = max((place[target] for source, target in arrows if source == name), default=at)
        top = min((place[source] for source, target in arrows if target == name), default=at)
        ax.plot([at, right], [at, at], color=LINE, lw=0.7, zorder=1)
        if top < at:
            ax.annotate(
                "", (at, at - HIGH / 2), (at, top), zorder=1,
                arrowprops={"arrowstyle": "-|>", "color": LINE, "lw": 0.7, "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
    for (source, target), count in sorted(arrows.items()):
        weight = (count / max(arrows.values())) ** 0.5
        ax.text(
            place[target], place[source], str(count), ha="center", va="center", fontsize=9 + 2.5 * weight,
            fontweight="bold" if weight > 0.5 else "normal", zorder=2,
            bbox={"boxstyle": "round,pad=0.22", "fc": "white", "ec": LINE, "lw": 0.4 + 1.2 * weight},
        )  # fmt: skip


def draw_words(ax: Any, last: int) -> None:
    """How to read it, in the empty half."""
    lines = (
        "A line to the right: what a room imports, and how often.",
        "A line down: by whom a room is imported.",
        "All numbers are above the stairs: imports only point downward.",
    )
    for number, line in enumerate(lines):
        ax.text(LEFT, last - 2.6 + 0.5 * number, line, fontsize=10.5, va="center")
    colours = {
        PYTHON: "Python: an edit compiles nothing anew",
        MACHINE: "formulas and loops: an edit compiles them anew",
    }
    for number, (colour, words) in enumerate(colours.items()):
        y = last - 0.85 + 0.55 * number
        round_box(ax, LEFT, y, 0.42, 0.32, colour)
        ax.text(LEFT + 0.57, y, words, fontsize=10.5, va="center")


def main(target: Path = TARGET) -> None:
    """The stairs; text stays text, and no date goes in."""
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "onmargin"})
    known = rooms()
    files, arrows = imports(known)
    figure, ax = plt.subplots(figsize=(11, 8.6), layout="constrained")
    for at, name in enumerate(known):
        draw_room(ax, name, at, files[name])
    draw_arrows(ax, known, arrows)
    draw_words(ax, len(known) - 1)
    ax.set(xlim=(LEFT - 0.05, len(known) - 0.95 - LEFT), ylim=(len(known) - 0.6, -0.4))
    ax.axis("off")
    figure.savefig(target, metadata={"Date": None} if target.suffix == ".svg" else None)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
