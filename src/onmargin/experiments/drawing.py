"""Panels, lines and bars of the experiments' figures, all in one style."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..results.plots import COLOURS, STYLES
from .outcome import Curve, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def panels(
    *titles: str, columns: int | None = None, width: float = 5.0, height: float = 3.8
) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each title, in one row unless told."""
    from matplotlib.figure import Figure

    across = min(columns or len(titles), len(titles))
    down = -(-len(titles) // across)
    figure = Figure(figsize=(width * across, height * down), layout="constrained")
    axes = [figure.add_subplot(down, across, place + 1) for place in range(len(titles))]
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, loc="left", fontsize=11)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25, lw=0.6)
        ax.set_axisbelow(True)
    return figure, axes


def colour(number: int) -> str:
    """Of the line with this number."""
    return COLOURS[number % len(COLOURS)]


def lines(
    ax: Axes,
    curves: Mapping[str, Curve],
    spreads: Mapping[str, Sequence[float]] | None = None,
    marker: str = "o",
    first: int = 0,
) -> None:
    """A line each, its spread as a band, names in a legend; colours from the `first` on."""
    for number, (name, (x, y)) in enumerate(curves.items(), first):
        style = STYLES[number // len(COLOURS) % len(STYLES)]
        ax.plot(x, y, style, color=colour(number), lw=1.8, marker=marker, ms=4, label=name)
        band = np.asarray((spreads or {}).get(name, ()), float)
        if band.size and band.any():
            middle = np.asarray(y, float)
            ax.fill_between(x, middle - band, middle + band, color=colour(number), alpha=0.15, lw=0)
    ax.legend(frameon=False, fontsize=8)


def bars(ax: Axes, outcome: Outcome, column: str, names: Sequence[str], of: str, **where: object) -> None:
    """A bar for each of the names in the column `of`, with its spread, where the other columns say so."""
    for place, (mean, deviation) in enumerate(_measured(outcome, column, names, of, where)):
        ax.barh(place, mean, xerr=deviation or None, color=colour(0), height=0.65, error_kw={"lw": 1})
        ax.text(0.0, place, f"  {mean:.3f}", va="center", fontsize=8, color="white")
    ax.set_yticks(range(len(names)), list(names), fontsize=9)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)


def dots(ax: Axes, outcome: Outcome, column: str, names: Sequence[str], of: str, **where: object) -> None:
    """As `bars`, for numbers that lie far from 0 and close together: a point with its spread."""
    for place, (mean, deviation) in enumerate(_measured(outcome, column, names, of, where)):
        ax.errorbar(mean, place, xerr=deviation or None, fmt="o", color=colour(0), ms=5, lw=1.4, capsize=2)
        ax.annotate(f"{mean:.4g}", (mean, place), (0, 6), textcoords="offset points", ha="center", fontsize=8)
    ax.set_yticks(range(len(names)), list(names), fontsize=9)
    ax.set_ylim(len(names) - 0.4, -0.7)
    ax.margins(x=0.14)


def _measured(
    outcome: Outcome, column: str, names: Sequence[str], of: str, where: Mapping[str, object]
) -> Iterator[tuple[float, float]]:
    """Mean and spread of each name, from the one row where the columns say so."""
    for name in names:
        (found,) = (
            row[column]
            for row in outcome.rows
            if row.get(of) == name and all(row.get(key) == value for key, value in where.items())
        )
        yield found if isinstance(found, tuple) else (found, 0.0)


def percent(ax: Axes, axis: str = "y") -> None:
    """Shares as per cent."""
    (ax.yaxis if axis == "y" else ax.xaxis).set_major_formatter(lambda value, _: f"{100 * value:g} %")
