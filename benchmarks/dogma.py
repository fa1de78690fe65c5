"""The demonstration of DOGMA (Orabona's MATLAB library) again: `python -m benchmarks.dogma`.

20,000 points of a standard normal in the plane, labelled by a random line through 0, one label in ten
flipped; the first half is learned in one pass, the second is the test. RBF with gamma = 1, no bias.
DOGMA's tolerance is squared: its 0.01 is our 0.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import onmargin as om

COUNT, FLIPPED = 10_000, 0.1
SEEDS = range(5)
FORM: dict[str, Any] = {"kernel": "rbf", "gamma": 1.0, "fit_intercept": False, "classes": (-1, 1)}
NUMBERS = ("vectors", "online", "averaged", "last")  # of a row; all but the first in per cent


class Entry(NamedTuple):
    """A learner, and what DOGMA's run of it gave; None: there is no average."""

    make: Callable[..., Any]  # takes average= where there is one
    vectors: int
    online: float
    averaged: float | None
    last: float


LEARNERS = {
    "PA-I": Entry(
        lambda **average: om.PassiveAggressiveClassifier(C=1.0, **FORM, **average), 4324, 15.35, 10.00, 15.18
    ),
    "Perceptron": Entry(lambda **average: om.Perceptron(**FORM, **average), 2156, 21.56, 10.11, 27.44),
    "Projectron": Entry(
        lambda **average: om.Projectron(tolerance=0.1, **FORM, **average), 106, 21.38, 9.96, 37.16
    ),
    "Projectron++": Entry(
        lambda **average: om.Projectron(tolerance=0.1, plus=True, **FORM, **average), 108, 15.90, 10.03, 15.78
    ),
    "RBP": Entry(
        lambda: om.RandomBudgetPerceptron(budget=106, random_state=0, **FORM), 106, 24.09, None, 29.39
    ),
    "Forgetron": Entry(lambda: om.Forgetron(budget=106, **FORM), 106, 23.63, None, 25.34),
}


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and labels, the ones to learn from first."""
    draw = np.random.default_rng(seed)
    X, line = draw.normal(size=(2 * COUNT, 2)), draw.normal(size=2)
    y = np.where(X @ line >= 0, 1, -1)
    return X, np.where(draw.random(2 * COUNT) < FLIPPED, -y, y)


def row(name: str, seed: int) -> dict[str, Any]:
    """One learner on one draw: vectors kept, and errors in per cent."""
    X, y = data(seed)
    entry = LEARNERS[name]
    model = entry.make()
    run = om.progressive(model, X[:COUNT], y[:COUNT], trace="sums")
    test = X[COUNT:], y[COUNT:]
    averaged = None
    if entry.averaged is not None:
        mean = entry.make(average=True).partial_fit(X[:COUNT], y[:COUNT])
        averaged = 100 * (1 - mean.score(*test))
    return {
        "learner": name, "seed": seed, "vectors": model.n_support_, "online": 100 * run.error_rate,
        "averaged": averaged, "last": 100 * (1 - model.score(*test)),
    }  # fmt: skip


def run(seeds: Iterable[int] = SEEDS) -> list[dict[str, Any]]:
    """Every learner on every draw."""
    return [row(name, seed) for seed in seeds for name in LEARNERS]


def means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row a learner: its numbers averaged over the draws."""
    found = []
    for name, entry in LEARNERS.items():
        mine = [row for row in rows if row["learner"] == name]
        wanted = [number for number in NUMBERS if getattr(entry, number) is not None]
        means = {number: float(np.mean([row[number] for row in mine])) for number in wanted}
        found.append({"learner": name} | dict.fromkeys(NUMBERS) | means)
    return found


def table(rows: list[dict[str, Any]]) -> str:
    """Means over the draws beside DOGMA's numbers, in text."""
    lines = [f"{'':13}" + "".join(f"{number:>20}" for number in NUMBERS)]
    for mean in means(rows):
        entry = LEARNERS[mean["learner"]]
        line = f"{mean['learner']:13}"
        for number in NUMBERS:
            ours, theirs = mean[number], getattr(entry, number)
            form = ".0f" if number == "vectors" else ".2f"
            said = "-" if ours is None else f"{ours:{form}} ({theirs:{form}})"
            line += f"{said:>20}"
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    print("means over five draws, DOGMA's own run in brackets; errors in per cent\n")
    print(table(run()))
