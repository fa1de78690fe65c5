"""The lines as bars, with what is to be held, what is reached for, and the limit; and the shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from .contest import BESIDE, OVER, PEERS, RATE, TAKES, Result
from .markdown import short
from .shapes import PRECISIONS, Place
from .targets import HELD, MISSED, REACHED

COLOURS = {REACHED: "#1b7f5c", HELD: "#5aae8b", MISSED: "#d1694f", "": "#b8c1cb"}
INK, LIMIT = "#2b2f36", "#3b6fb6"
TITLES = {
    OVER: "Times faster (more is better)",
    BESIDE: "Our time / the other's (less is better)",
    TAKES: "Time and memory, as a part of the target (less is better)",
    RATE: "A server, requests or examples a second, as a part of the target (more is better)",
}
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def draw(path: Path, results: list[Result], axes: list[list[Place]]) -> None:
    """A panel for each sense of a number, and a row of small ones for the shapes."""
    drawn = [r for r in results if r.line.sense != RATE or r.line.target]  # a rate alone has no scale
    senses = [s for s in (OVER, BESIDE, TAKES, RATE) if any(r.line.sense == s for r in drawn)]
    groups = [[r for r in drawn if r.line.sense == sense] for sense in senses]
    heights = [0.27 * len(group) + 0.75 for group in groups] + [2.3] * (-(-len(axes) // 3))
    if not heights:
        return
    plt.rcParams["svg.hashsalt"] = "benchmarks"  # the same numbers, the same file
    figure = plt.figure(figsize=(9.5, sum(heights) + 0.3), layout="constrained")
    rows = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for row, sense, group in zip(rows, senses, groups, strict=False):
        _bars(row.subplots(), sense, group)
    for number, row in enumerate(rows[len(senses) :]):
        panels = row.subplots(1, 3)
        for panel, axis in zip(panels, axes[3 * number : 3 * number + 3], strict=False):
            _shapes(panel, axis, legend=number == 0 and panel is panels[0])
        for panel in panels[len(axes[3 * number : 3 * number + 3]) :]:
            panel.set_visible(False)
    figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def _unit(result: Result) -> float:
    """What 1 on the axis is: a ratio of 1, or the number to hold."""
    return result.line.target.hold if result.line.sense in (TAKES, RATE) and result.line.target else 1.0


def _bounds(result: Result) -> tuple[float, float]:
    """To hold and to reach; 0 where there is none."""
    target = result.line.target
    return (target.hold, target.reach or 0.0) if target else (0.0, 0.0)


def _bars(panel: Any, sense: str, results: list[Result]) -> None:
    panel.set_xscale("log")
    edges = []
    furthest = 2.0 * max(max(result.high, *_bounds(result)) / _unit(result) for result in results)
    for y, result in enumerate(results):
        unit = _unit(result)
        value, low, high = (number / unit for number in (result.value, result.low, result.high))
        panel.barh(y, value - 1.0, left=1.0, height=0.6, color=COLOURS[result.verdict], zorder=2)
        panel.plot([low, high], [y, y], color=INK, lw=1, alpha=0.5, zorder=3)
        marks = [low, high, 1.0]
        for bound, style in zip(_bounds(result), ("-", ":"), strict=True):
            if bound:
                panel.plot([bound / unit] * 2, [y - 0.4, y + 0.4], color=INK, lw=1.6, ls=style, zorder=4)
                marks.append(bound / unit)
        if result.limit and result.limit / unit <= furthest:  # else it is in the table alone
            panel.plot(result.limit / unit, y, marker="D", ms=4, color=LIMIT, zorder=5)
            marks.append(result.limit / unit)
        said = f"{short(result.value)}{'x' if result.unit == 'x' else ' ' + result.unit.replace('us', 'µs')}"
        panel.text(max(marks) * 1.07, y, said, va="center", color=INK, fontsize=8)
        edges += marks
    panel.set_xlim(min(0.6, 0.85 * min(edges)), 1.6 * max(edges))
    low, high = panel.get_xlim()
    ticks = [tick for tick in TICKS if low <= tick <= high]
    panel.set_xticks(ticks, [f"{tick:g}x" for tick in ticks])
    panel.minorticks_off()
    panel.axvline(1.0, color=INK, lw=0.8, zorder=1)
    _name(panel, [_title(result) for result in results])
    panel.set_title(TITLES[sense], loc="left", fontsize=11, color=INK)
    if sense == OVER:
        _legend(panel)


def _legend(panel: Any) -> None:
    for label, style in (("hold", "-"), ("reach for", ":")):
        panel.plot([], [], color=INK, lw=1.6, ls=style, label=label)
    panel.plot([], [], color=INK, lw=1, alpha=0.5, label="repetitions")
    panel.plot([], [], ls="", marker="D", ms=4, color=LIMIT, label="limit")
    panel.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, frameon=False, fontsize=8, borderpad=0.1
    )


def _title(result: Result) -> str:
    """The line's name; the peer's too where it is a line of its own, not a variant."""
    title, peer = result.line.title, PEERS.get(result.line.group, "")
    if title.startswith(" "):
        return f"– {title.strip()}"
    return f"{title} ({peer})" if peer in ("scikit-learn", "River", "SVC") else title


def _name(panel: Any, names: list[str]) -> None:
    panel.set_yticks(range(len(names)), names, fontsize=8)
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.tick_params(length=0, colors=INK, labelsize=8)
    _bare(panel)
    panel.grid(axis="x", color="#e5e8ec", zorder=0)


def _bare(panel: Any) -> None:
    for side in ("top", "right", "left", "bottom"):
        panel.spines[side].set_visible(False)


def _shapes(panel: Any, axis: list[Place], legend: bool) -> None:
    """Nanoseconds for a weight touched, by shape; rings where there is a cliff."""
    for precision, colour in zip(PRECISIONS, (INK, LIMIT), strict=True):
        own = [place for place in axis if place.measured.precision == precision]
        each = [place.measured.each for place in own]
        panel.plot(range(len(own)), each, marker="o", ms=4, lw=1.2, color=colour, label=precision)
        cliffs = [(x, place.measured.each) for x, place in enumerate(own) if place.cliff]
        for x, y in cliffs:
            panel.plot(x, y, marker="o", ms=11, mfc="none", mec=COLOURS[MISSED], mew=1.5, clip_on=False)
    labels = [place.measured.shape.label for place in axis if place.measured.precision == PRECISIONS[0]]
    panel.set_xticks(range(len(labels)), labels)
    panel.set_yscale("log")
    low, high = panel.get_ylim()
    panel.set_ylim(min(low, 0.2), max(1.3 * high, 5.0))
    low, high = panel.get_ylim()
    ticks = [tick for tick in TICKS if low <= tick <= high]
    panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.minorticks_off()
    panel.tick_params(length=0, colors=INK, labelsize=8)
    panel.set_title(axis[0].measured.shape.axis, loc="left", fontsize=9, color=INK)
    panel.grid(axis="y", color="#e5e8ec", zorder=0)
    _bare(panel)
    if legend:
        panel.set_ylabel("ns for a weight touched", fontsize=8, color=INK)
        panel.legend(frameon=False, fontsize=8, loc="upper right")
