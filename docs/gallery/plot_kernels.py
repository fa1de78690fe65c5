"""The figure of `kernels`: error against vectors kept, and the weights of OM-2's kernels."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

import onmargin as om
from onmargin.results.plots import COLOURS, kernel_bars

TARGET = Path(__file__).parent.parent / "kernels.svg"
SIZES = (25, 50, 100, 200, 400)


def ring(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Inside or outside a ring around the origin, one label in ten flipped."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, 2))
    inside = np.abs(np.hypot(*X.T) - 1.2) < 0.5
    return X, inside ^ (draw.random(rows) < 0.1)


def curves(ax: Any) -> None:
    """Online error of every budget."""
    X, y = ring(6000, 0)
    learners: dict[str, Callable[[int], Any]] = {
        "Projectron++": lambda size: om.Projectron(gamma=2.0, tolerance=0.05, plus=True, budget=size),
        "Projectron": lambda size: om.Projectron(gamma=2.0, tolerance=0.05, budget=size),
        "Forgetron": lambda size: om.Forgetron(gamma=2.0, budget=size),
        "RBP": lambda size: om.RandomBudgetPerceptron(gamma=2.0, budget=size, random_state=0),
        "Stoptron": lambda size: om.Stoptron(gamma=2.0, budget=size),
    }
    ends = []
    for number, (name, make) in enumerate(learners.items()):
        runs = [om.progressive(make(size), X, y, trace="sums") for size in SIZES]
        kept = [run.model.n_support_ for run in runs]
        errors = [100 * run.error_rate for run in runs]
        ax.plot(kept, errors, marker="o", ms=4, lw=1.8, color=COLOURS[number])
        ends.append((errors[-1], name, COLOURS[number]))
    whole = om.progressive(om.Perceptron(kernel="rbf", gamma=2.0, fit_intercept=False), X, y, trace="sums")
    ax.plot([SIZES[0], SIZES[-1]], [100 * whole.error_rate] * 2, color="black", lw=1, ls=":")
    ends.append((100 * whole.error_rate, f"Perceptron ({whole.model.n_support_:,} kept)", "black"))
    placed = 0.0
    for error, name, colour in sorted(ends):
        placed = max(error, placed + 0.8)
        ax.text(SIZES[-1] * 1.15, placed, name, color=colour, va="center", fontsize=9)
    ax.set(xscale="log", xlabel="vectors kept", xlim=(SIZES[0] * 0.9, SIZES[-1] * 4.5))
    ax.set_xticks(SIZES, map(str, SIZES))
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
    ax.set_title("online error, 6,000 rounds, 10 % flipped", loc="left", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, lw=0.6)


def weights(ax: Any) -> None:
    """OM-2 on two good columns and six of noise."""
    X, y = ring(1500, 1)
    wide = np.c_[X, np.random.default_rng(2).standard_normal((1500, 6))]
    model = om.OM2(
        kernels=[("rbf", {"gamma": 2.0})] * 4, views=[[0, 1], [2, 3], [4, 5], [6, 7]], q=8.0,
        max_iter=2, tol=None, random_state=0,
    ).fit(wide, y)  # fmt: skip
    kernel_bars(["the ring's columns", "noise, 1", "noise, 2", "noise, 3"], model.kernel_weights_, ax=ax)
    ax.set_title("weights that OM-2 gave four views", loc="left", fontsize=11)


def main(target: Path = TARGET) -> None:
    """Both; text stays text, and no date goes in."""
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "onmargin"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    curves(left)
    weights(right)
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
