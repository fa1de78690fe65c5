"""The figure of `paired`: class errors and AUC as one class gets rare."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

import onmargin as om
from onmargin.experiments.imbalance import class_errors, drawn
from onmargin.results.plots import COLOURS

TARGET = Path(__file__).parent.parent / "imbalance.svg"
SHARES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
SEEDS = range(5)
LEARNERS: dict[str, Callable[[int], Any]] = {
    "PA-I": lambda seed: om.PassiveAggressiveClassifier(C=0.01, average=True),
    'PA-I, class_weight="balanced"': lambda seed: om.PassiveAggressiveClassifier(
        C=0.01, average=True, class_weight="balanced"
    ),
    "paired, correct_mistakes": lambda seed: om.PairedClassifier(C=0.01, average=True, random_state=seed),
    "paired, auc": lambda seed: om.PairedClassifier(rule="auc", C=0.01, average=True, random_state=seed),
}


def learned(make: Callable[[int], Any], share: float, seed: int) -> tuple[float, float]:
    """Half the sum of class errors on a balanced test set, and the AUC."""
    draw = np.random.default_rng([20, seed])
    y = np.where(draw.random(5000) < share, 1, -1)
    truth = np.where(np.arange(4000) < 2000, 1, -1)
    X, test = drawn(draw, y, 0.5), drawn(draw, truth, 0.5)
    scores = make(seed).partial_fit(X, y, classes=[-1, 1]).decision_function(test)
    return 50 * class_errors(truth, scores), om.metrics.auc(truth, scores)


def draw_lines(axes: Any) -> None:
    """Both measures against the share of positives, a line a learner."""
    ends: list[tuple[float, str, str]] = []
    for number, (name, make) in enumerate(LEARNERS.items()):
        colour = COLOURS[number]
        runs = np.array([[learned(make, share, seed) for seed in SEEDS] for share in SHARES])
        for ax, values in zip(axes, np.moveaxis(runs, 2, 0), strict=True):
            ax.plot(SHARES, values.mean(axis=1), marker="o", ms=4, lw=1.8, color=colour)
            ax.fill_between(SHARES, values.min(axis=1), values.max(axis=1), color=colour, alpha=0.15, lw=0)
        ends.append((float(runs[-1, :, 0].mean()), name, colour))
    placed = 0.0
    for value, name, colour in sorted(ends):
        placed = max(value, placed + 2.5)
        axes[0].text(SHARES[-1] * 0.9, placed, name, color=colour, va="center", fontsize=9)


def main(target: Path = TARGET) -> None:
    """Text stays text, and no date goes in."""
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "onmargin"})
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    draw_lines(axes)
    for ax in axes:
        ax.set(xscale="log", xlabel="share of positives in the stream")
        ax.set_xticks(SHARES, [f"{100 * share:g} %" for share in SHARES])
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25, lw=0.6)
    axes[0].set_xlim(0.55, 0.0006)
    axes[1].set_xlim(0.55, 0.0091)
    axes[0].yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
    axes[0].set_title("mean of the two class errors, 5,000 rounds", loc="left", fontsize=11)
    axes[1].set_title("AUC", loc="left", fontsize=11)
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
