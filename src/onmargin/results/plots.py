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
    """Error so far against rounds, one line a run, each named at its end. Returns the figure."""
    if ax is None:
        _, ax = _pyplot().subplots(figsize=(7, 4.2), layout="constrained")
    ends = []
    for number, (name, run) in enumerate(runs.items()):
        at, error = run.curve()
        colour = COLOURS[number % len(COLOURS)]
        style = STYLES[number // len(COLOURS) % len(STYLES)]
        ax.plot(at, error, style, color=colour, lw=1.8)
        ends.append((float(error[-1]), name, colour))
    labels = all(run.kind == "labels" for run in runs.values())
    rounds = max(run.rounds for run in runs.values())
    ax.set(xscale="log", xlim=(max(1, rounds / 2000), rounds), xlabel="rounds", title=title)
    ax.set_ylabel("online error so far" if labels else "mean online loss so far")
    tails = np.concatenate([run.curve()[1][run.curve()[0] >= rounds / 200] for run in runs.values()])
    top = float(tails.max()) * 1.1 if tails.size and tails.max() > 0 else 1.0
    ax.set_ylim(0, top)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, lw=0.6)
    _name_ends(ax, ends, top, labels)
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
