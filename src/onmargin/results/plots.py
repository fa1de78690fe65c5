"""Figures worth showing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import extra

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise extra("matplotlib", "plots") from None
    return plt


def learning_curves(runs: dict[str, Any], ax: Any = None, title: str = "") -> Any:
    """Error so far against rounds, one line a run, each named at its end. Returns the figure.

    Runs that agree at every point share one line and one name.
    """
    if ax is None:
        _, ax = _pyplot().subplots(figsize=(7, 4.2), layout="constrained")
    lines: list[tuple[str, np.ndarray, np.ndarray]] = []
    for name, run in runs.items():
        at, error = run.curve()
        for number, (other, _, drawn) in enumerate(lines):
            if np.array_equal(drawn, error):
                lines[number] = (f"{other} = {name}", at, error)
                break
        else:
            lines.append((name, at, error))
    rounds = max(run.rounds for run in runs.values())
    first = max(1.0, rounds / 400)
    top = max(float(np.max(error[at >= first], initial=0.0)) for _, at, error in lines) * 1.05 or 1.0
    ends = []
    for number, (name, at, error) in enumerate(lines):
        colour, style = COLOURS[number % len(COLOURS)], STYLES[number // len(COLOURS) % len(STYLES)]
        ax.plot(at, error, style, color=colour, lw=1.8)
        ends.append((float(error[-1]), name, colour))
    percent = all(run.kind == "labels" for run in runs.values())
    ax.set(xscale="log", xlim=(first, rounds), ylim=(0, top), xlabel="examples seen")
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_ylabel("online error so far" if percent else "mean online loss so far")
    if percent:
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, lw=0.6)
    _name_ends(ax, ends, top, percent)
    return ax.figure


def _name_ends(ax: Any, ends: list[tuple[float, str, str]], top: float, percent: bool) -> None:
    """Names beside the ends of the lines, pushed apart where they would overlap."""
    placed = -np.inf
    for value, name, colour in sorted(ends):
        placed = max(value / top, placed + 0.06)
        number = f"{100 * value:.1f} %" if percent else f"{value:.3g}"
        ax.text(
            1.01, placed, f"{name}  {number}", color=colour, transform=ax.transAxes, va="center", fontsize=9
        )
