"""Bounds of PA and of the Perceptron side by side (S0, "bounds are comparable"; E1b).

Right-hand sides of P1, A2, A4 and A6 over C for one comparator u on one stream, beside what was suffered:

    P1  Perceptron   M         <= (U R + sqrt(U^2 R^2 + 4 L))^2 / 4
    A2  PA           sum l^2   <= U^2 R^2                                   (u suffers no loss)
    A4  PA-I         M         <= max(R^2, 1 / C) (U^2 + 2 C L)
    A6  PA-II        sum l^2   <= (R^2 + 1 / (2 C)) (U^2 + 2 C L2)

U = |u|, R = max |x|, L and L2 the sums of u's hinge losses and of their squares over all rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..estimators.perceptron import Perceptron
from ..protocols.progressive import progressive
from ..sources.datasets import Stream, ellipses, separable
from .drawing import colour, panels
from .outcome import Claim, Outcome, summed_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S0, relative loss bounds and the comparison with the Perceptron: the bounds of both are comparable"
PROTOCOL = (
    "One comparator a stream: on a separable stream the generator's line, scaled so that it suffers no "
    "loss; on ellipses with one label in ten flipped the generator's line at the length for which P1 is "
    "tightest. Right-hand sides over C (sums over all rounds), and the mistakes or squared losses that "
    "were suffered. No bias."
)
DATA: tuple[str, ...] = ()
SEEDS, QUICK, SECONDS = 5, 2, 2
ROUNDS, MARGIN, FLIPPED = 4000, 0.1, 0.1
GRID = tuple(float(C) for C in 10.0 ** np.arange(-4, 2.5, 0.5))
BOUNDS = {"P1": "Perceptron", "A2": "PA", "A4": "PA-I", "A6": "PA-II"}
STREAMS = ("separable", "one label in ten flipped")


class Comparator(NamedTuple):
    """What the bounds want of u and of the stream."""

    length: float
    radius: float
    loss: float
    squares: float

    @classmethod
    def of(cls, u: np.ndarray, X: np.ndarray, y: np.ndarray) -> Comparator:
        losses = np.maximum(0.0, 1.0 - y * (X @ u))
        losses[losses < 1e-9] = 0.0  # (what rounding leaves of a margin of exactly 1)
        radius = float(np.linalg.norm(X, axis=1).max())
        return cls(float(np.linalg.norm(u)), radius, float(losses.sum()), float((losses**2).sum()))

    def perceptron(self) -> float:
        """P1"""
        reach = self.length * self.radius
        return (reach + math.sqrt(reach**2 + 4 * self.loss)) ** 2 / 4

    def pa(self) -> float:
        """A2, which wants a comparator without loss: NaN otherwise."""
        return (self.length * self.radius) ** 2 if self.loss == 0.0 else math.nan

    def pa1(self, C: float) -> float:
        """A4"""
        return max(self.radius**2, 1 / C) * (self.length**2 + 2 * C * self.loss)

    def pa2(self, C: float) -> float:
        """A6"""
        return (self.radius**2 + 1 / (2 * C)) * (self.length**2 + 2 * C * self.squares)

    def least_pa2(self) -> float:
        """A6 at its best C: (U R + sqrt(L2))^2."""
        return (self.length * self.radius + math.sqrt(self.squares)) ** 2


def stream_of(name: str, seed: int) -> tuple[Stream, Comparator]:
    """Examples, and the one comparator they are held against."""
    if name == STREAMS[0]:
        stream = separable(ROUNDS, 10, margin=MARGIN, seed=[2, seed])
        return stream, Comparator.of(stream.comparator / MARGIN, stream.X, stream.y)
    stream = ellipses(ROUNDS, label_noise=FLIPPED, seed=[2, seed])
    unit = stream.comparator / np.linalg.norm(stream.comparator)
    lengths = np.geomspace(0.01, 10.0, 61)
    found = [Comparator.of(length * unit, stream.X, stream.y) for length in lengths]
    return stream, min(found, key=Comparator.perceptron)


def one_run(seed: int, name: str) -> list[dict[str, float]]:
    """For every C: the four right-hand sides, and what was suffered."""
    (X, y, _), u = stream_of(name, seed)
    mistakes = progressive(Perceptron(fit_intercept=False), X, y, trace="sums").errors_theory
    hard = progressive(PassiveAggressiveClassifier(step="pa", fit_intercept=False), X, y)
    found = []
    for C in GRID:
        first, second = (
            progressive(PassiveAggressiveClassifier(C=C, step=step, fit_intercept=False), X, y)
            for step in ("pa1", "pa2")
        )
        found.append({
            "P1": u.perceptron(), "A2": u.pa(), "A4": u.pa1(C), "A6": u.pa2(C),
            "Perceptron: M": float(mistakes), "PA: sum l²": _squares(hard.losses),
            "PA-I: M": float(first.errors_theory), "PA-II: sum l²": _squares(second.losses),
            "R²": u.radius**2, "least A6": u.least_pa2(),
        })  # fmt: skip
    return found


def _squares(losses: np.ndarray | None) -> float:
    return float((np.asarray(losses) ** 2).sum())


LEFT = {"P1": "Perceptron: M", "A2": "PA: sum l²", "A4": "PA-I: M", "A6": "PA-II: sum l²"}


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """Both streams over all C."""
    seeds, rows, claims = list(seeds), [], []
    for name in STREAMS:
        runs = [one_run(seed, name) for seed in seeds]
        for place, C in enumerate(GRID):
            rows.append(summed_up({"stream": name, "C": C}, [found[place] for found in runs]))
        claims += list(_claims(name, runs))
    for row in rows:
        if math.isnan(row["A2"][0]):  # its condition fails: u suffers loss
            row["A2"] = None
    return Outcome("E1b: bounds of PA and Perceptron over C, one comparator", rows, claims)


def _claims(stream: str, runs: list[list[dict[str, float]]]) -> Iterable[Claim]:
    every = [found for one in runs for found in one]
    for bound, left in LEFT.items():
        ratios = [found[left] / found[bound] for found in every if not math.isnan(found[bound])]
        if ratios:
            text = f"{stream}: {bound} holds, {left} is {max(ratios):.3f} of it at most"
            yield Claim(text, max(ratios) <= 1.0)
    if stream == STREAMS[0]:
        large = [found for one in runs for C, found in zip(GRID, one, strict=True) if C * found["R²"] >= 1]
        off = max(abs(found["A4"] / found["P1"] - 1) + abs(found["A2"] / found["P1"] - 1) for found in large)
        yield Claim(f"{stream}: from C = 1/R² on A4, A2 and P1 are one number, {off:.1e} apart", off < 1e-9)
        last = max(one[-1]["A6"] / one[-1]["A2"] for one in runs)
        yield Claim(f"{stream}: at C = {GRID[-1]:g} A6 is {last:.4f} of A2", 1.0 < last < 1.01)
        return
    ratios = [min(found["A4"] for found in one) / one[0]["P1"] for one in runs]
    text = f"{stream}: A4 at its best C is {min(ratios):.2f} to {max(ratios):.2f} of P1: comparable"
    yield Claim(text, 0.5 < min(ratios) and max(ratios) < 2.5)
    worst = min(min(one[0]["A4"], one[-1]["A4"]) / min(found["A4"] for found in one) for one in runs)
    yield Claim(f"{stream}: at both ends of C A4 is {worst:.1f} times its least, or more", worst > 2)
    near = max(min(found["A6"] for found in one) / one[0]["least A6"] for one in runs)
    text = f"{stream}: the least A6 over C is {near:.3f} of (U R + sqrt(L2))², which it cannot be below"
    yield Claim(text, 1.0 - 1e-9 <= near < 1.2)


def figure(outcome: Outcome) -> Figure:
    """Right-hand sides as lines, what was suffered as dots."""
    drawn, axes = panels(*STREAMS)
    for ax, stream in zip(axes, STREAMS, strict=True):
        mine = [row for row in outcome.rows if row["stream"] == stream]
        for number, (bound, learner) in enumerate(BOUNDS.items()):
            if mine[0][bound] is None:
                continue
            right = [row[bound][0] for row in mine]
            style = "--" if bound == "A2" else "-"  # it lies on P1
            ax.plot(GRID, right, style, color=colour(number), lw=1.8, label=f"{bound}, {learner}")
            ax.plot(GRID, [row[LEFT[bound]][0] for row in mine], "o", ms=4, color=colour(number), alpha=0.8)
        ax.plot([], [], "o", ms=4, color="0.4", label="suffered")
        ax.legend(frameon=False, fontsize=8)
        ax.set(xscale="log", yscale="log", xlabel="C", ylabel="mistakes, or sum of squared losses")
    return drawn
