"""Figures straight from an outcome's curves "panel: line": panels of lines, and of bars side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..results.plots import COLOURS, STYLES
from . import drawing
from .outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEW = 25  # points that are marked one by one
MARKS = "os^Dv<>"


class Panel(NamedTuple):
    """Axes of one panel; `ticks`: names of the places 0, 1, 2 ... of bars."""

    x: str = ""
    y: str = "error"
    x_log: bool = False
    y_log: bool = False
    percent: bool = False
    ticks: Sequence[str] = ()
    title: str = ""
    bottom: float | None = None  # of the y axis
    top: float | None = None


def lines(outcome: Outcome, panels: Mapping[str, Panel], columns: int = 2) -> Figure:
    """A panel of lines for each name, drawn from the curves "name: line".

    A curve of two points is a level (dashed), one of a single point a mark.
    """
    figure, axes = _begun(panels, columns)
    for ax, (name, panel) in zip(axes, panels.items(), strict=True):
        for number, (line, (x, y)) in enumerate(outcome.panel(name).items()):
            style, mark = STYLES[number // len(COLOURS) % len(STYLES)], "o" if len(x) <= FEW else ""
            if len(x) == 1:
                style, mark = "", MARKS[number // len(COLOURS) % len(MARKS)]
            elif len(x) == 2:
                style, mark = "--", ""
            ax.plot(
                x, y, style or "none", color=drawing.colour(number), lw=1.7, marker=mark, ms=5, label=line
            )
        _dress(ax, panel)
    _name(figure, axes)
    return figure


def bars(outcome: Outcome, panels: Mapping[str, Panel], columns: int = 2) -> Figure:
    """A panel of bars for each name: the curves "name: line" side by side at every tick."""
    figure, axes = _begun(panels, columns)
    for ax, (name, panel) in zip(axes, panels.items(), strict=True):
        found = outcome.panel(name)
        wide = 0.8 / max(len(found), 1)
        for number, (line, (x, y)) in enumerate(found.items()):
            places = np.array(x) + (number - (len(found) - 1) / 2) * wide
            ax.bar(places, y, 0.92 * wide, color=drawing.colour(number), label=line)
        _dress(ax, panel)
    _name(figure, axes)
    return figure


def _begun(panels: Mapping[str, Panel], columns: int) -> tuple[Figure, list[Axes]]:
    titles = [panel.title or name for name, panel in panels.items()]
    return drawing.panels(*titles, columns=columns, width=5.2, height=4.0)


def _dress(ax: Axes, panel: Panel) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set(xlabel=panel.x, ylabel=panel.y)
    if panel.x_log:
        ax.set_xscale("log")
        low, high = ax.get_xlim()
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high > 200 * low else (1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
    if panel.y_log:
        ax.set_yscale("log")
    if panel.ticks:
        turned = max(map(len, panel.ticks)) * len(panel.ticks) > 60
        places = range(len(panel.ticks))
        ax.set_xticks(places, panel.ticks, rotation=30 if turned else 0, ha="right" if turned else "center")
    if panel.bottom is not None or panel.top is not None:
        ax.set_ylim(panel.bottom, panel.top)
    if panel.percent:
        drawing.percent(ax)
    ax.set_axisbelow(True)


def _name(figure: Figure, axes: Sequence[Axes]) -> None:
    """A legend in each panel, beside it where lines are many; one for all where they are the same lines."""
    names = [ax.get_legend_handles_labels()[1] for ax in axes]
    if len(names[0]) > 5 and all(each == names[0] for each in names):
        figure.legend(
            *axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8, frameon=False
        )
    else:
        for ax, own in zip(axes, names, strict=True):
            if len(own) > 6:
                ax.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
            else:
                ax.legend(fontsize=8, frameon=False)
