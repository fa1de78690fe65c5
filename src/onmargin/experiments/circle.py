"""BBQ on the unit circle (E7): how many labels it asks for, and how near its estimates are.

10,000 uniform points, P[y = 1] = (1 + <u, x>) / 2, delta = 0.1. What it asks for depends on x only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..estimators.bbq import BBQ
from ..protocols.progressive import progressive
from ..sources.datasets import circle
from .drawing import lines, panels, percent
from .outcome import Claim, Outcome, summed_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S2, synthetic experiment: Parametric BBQ, labels asked for and the largest error against epsilon"
PROTOCOL = (
    "10,000 uniform points of the unit circle, P[y = 1] = (1 + <u, x>) / 2 for a line u drawn by the "
    "seed, delta = 0.1. The share of rounds whose label is asked for, and the largest error of the "
    "estimated margin on all others."
)
DATA: tuple[str, ...] = ()
SEEDS, QUICK, SECONDS = 5, 1, 2
ROUNDS = 10_000
STATED = {0.1: 0.864, 0.15: 0.385, 0.2: 0.218, 0.3: 0.097, 0.4: 0.055, 0.5: 0.035}


def one_run(seed: int, epsilon: float) -> dict[str, float]:
    """One stream."""
    X, y, toward = circle(ROUNDS, seed=[7, seed])
    truth = X @ toward
    run = progressive(BBQ(epsilon=epsilon, delta=0.1), X, y, classes=[-1, 1])
    asked = np.asarray(run.queried, bool)
    return {
        "asked": float(asked.mean()),
        "largest error": float(np.abs(np.asarray(run.scores) - truth)[~asked].max()),
    }


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All widths over all seeds."""
    seeds = list(seeds)
    rows, claims = [], []
    for epsilon, stated in STATED.items():
        runs = [one_run(seed, epsilon) for seed in seeds]
        rows.append(summed_up({"epsilon": epsilon, "stated": stated}, runs))
        asked, worst = rows[-1]["asked"][0], max(each["largest error"] for each in runs)
        claims.append(
            Claim(f"epsilon {epsilon}: asked {asked:.3f}, stated {stated}", abs(asked - stated) <= 0.01)
        )
        claims.append(Claim(f"epsilon {epsilon}: largest error {worst:.3f}, below it", worst < epsilon))
    return Outcome("E7: BBQ on the unit circle", rows, claims)


def figure(outcome: Outcome) -> Figure:
    """Both against epsilon, as the talk has them."""
    drawn, (left, right) = panels("labels asked for", "largest error where it did not ask")
    widths = list(STATED)
    asked = {"BBQ": (widths, [row["asked"][0] for row in outcome.rows])}
    lines(left, asked | {"stated": (widths, list(STATED.values()))})
    left.get_lines()[1].set(linestyle="none", markersize=9, markerfacecolor="none")
    left.legend(frameon=False, fontsize=8)
    left.set(xlabel="epsilon", ylabel="share of labels", ylim=(0, 1))
    percent(left)
    errors = [row["largest error"] for row in outcome.rows]
    lines(right, {"BBQ": (widths, [mean for mean, _ in errors])}, {"BBQ": [band for _, band in errors]})
    right.plot([0, 0.5], [0, 0.5], "--", color="black", lw=1, label="epsilon")
    right.legend(frameon=False, fontsize=8)
    right.set(xlabel="epsilon", ylabel="largest error", xlim=(0, 0.52), ylim=(0, 0.52))
    return drawn
