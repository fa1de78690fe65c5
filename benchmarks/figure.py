"""The ratios as bars, with what is to be held and what is reached for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from .contest import Result
from .report import kept, verdict
from .starts import Bound

COLOURS = {"reached": "#1b7f5c", "held": "#5aae8b", "below": "#d1694f", "": "#b8c1cb", "over": "#d1694f"}
INK = "#2b2f36"


def draw(path: Path, results: list[Result], bounds: list[Bound]) -> None:
    """One panel of ratios, one of start and memory as parts of their limits."""
    counts = [len(lines) for lines in (results, bounds) if lines]
    height = 0.36 * sum(counts) + 1.1 * len(counts) + 0.4
    figure, panels = plt.subplots(
        len(counts), 1, figsize=(9.5, height), height_ratios=counts, squeeze=False, layout="constrained"
    )
    rest = list(panels[:, 0])
    if results:
        _ratios(rest.pop(0), results)
    if bounds:
        _limits(rest.pop(0), bounds)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _ratios(panel: Any, results: list[Result]) -> None:
    panel.set_xscale("log")
    colours = [COLOURS[verdict(result)] for result in results]
    lengths = [result.ratio - 1.0 for result in results]  # from 1x: no difference, no bar
    panel.barh(range(len(results)), lengths, left=1.0, height=0.62, color=colours, zorder=2)
    for y, result in enumerate(results):
        panel.plot([result.low, result.high], [y, y], color=INK, lw=1, alpha=0.55, zorder=3)
        for target, style in ((result.versus.hold, "-"), (result.versus.reach, ":")):
            if target:
                panel.plot([target, target], [y - 0.42, y + 0.42], color=INK, lw=1.8, ls=style, zorder=4)
        furthest = max(result.high, result.versus.reach or 0.0, 1.0)
        panel.text(furthest * 1.06, y, f"{result.ratio:.2f}x", va="center", color=INK, fontsize=9)
    furthest = max(max(r.high, r.versus.reach or 0.0) for r in results)
    panel.set_xlim(min(0.5, 0.8 * min(r.low for r in results)), 1.5 * furthest)
    ticks = [
        t
        for t in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
        if panel.get_xlim()[0] <= t <= panel.get_xlim()[1]
    ]
    panel.set_xticks(ticks, [f"{tick:g}x" for tick in ticks])
    panel.minorticks_off()
    panel.axvline(1.0, color=INK, lw=0.8, zorder=1)
    _name(panel, [_title(r) for r in results])
    panel.set_title("Times faster than the peer", loc="left", fontsize=11, color=INK)
    for label, style in (("hold", "-"), ("reach for", ":")):
        panel.plot([], [], color=INK, lw=1.8, ls=style, label=label)
    panel.plot([], [], color=INK, lw=1, alpha=0.55, label="range of repetitions")
    panel.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, fontsize=8)


def _title(result: Result) -> str:
    """The line's name; the peer's too where it is a line of its own, not a variant."""
    title = result.versus.title
    return title.strip() if title.startswith(" ") else f"{title} ({result.versus.peer.split(',')[0]})"


def _limits(panel: Any, bounds: list[Bound]) -> None:
    shares = [bound.value / bound.limit for bound in bounds]
    panel.barh(range(len(bounds)), shares, height=0.62, color=[COLOURS[kept(b)] for b in bounds], zorder=2)
    furthest = max(1.0, *shares) + 0.03
    for y, bound in enumerate(bounds):
        text = f"{bound.value:.2g} {bound.unit}, limit {bound.limit:g}"
        panel.text(furthest, y, text, va="center", color=INK, fontsize=9)
    panel.axvline(1.0, color=INK, lw=1.8, zorder=4)
    panel.set_xlim(0, 1.4 * furthest)
    panel.set_xticks([0, 0.5, 1], ["0", "half", "limit"])
    _name(panel, [bound.title for bound in bounds])
    panel.set_title("Start and memory, as a part of the limit", loc="left", fontsize=11, color=INK)


def _name(panel: Any, names: list[str]) -> None:
    panel.set_yticks(range(len(names)), names, fontsize=9)
    panel.invert_yaxis()
    panel.tick_params(length=0, colors=INK)
    for label, name in zip(panel.get_yticklabels(), names, strict=True):
        label.set_fontweight("bold" if name.endswith(")") else "normal")
    panel.grid(axis="x", color="#e5e8ec", zorder=0)
    for side in ("top", "right", "left", "bottom"):
        panel.spines[side].set_visible(False)
