"""Microseconds an update (S0; E3b): PA-I beside MIRA and the Perceptrons, over the number of classes.

The slides say that MIRA has to solve a complex problem in every round where PA has a formula. Labels are
drawn at random, so that nearly every round updates. Twice: whole rounds of this library, where MIRA's
problem is solved by sorting; and the step alone in plain NumPy, where the same problem is solved by
Hildreth's iterations too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..estimators.passive_aggressive import MIRA, PassiveAggressiveClassifier
from ..estimators.perceptron import Perceptron
from ..interface.classifier import Classifier
from ..protocols.progressive import progressive
from .outcome import Claim, Curve, Outcome, summed_up
from .panels import Panel, lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = (
    "S0, the slides' point on multiclass updates: MIRA solves an optimisation problem, PA has a closed form"
)
PROTOCOL = (
    "Unit rows of 50 numbers with labels drawn at random, K classes. Whole rounds: one compiled pass over "
    "4,000 rows, its time over its updates, the best of three. Step alone: the coefficients of one update "
    "from given violations, in NumPy, the median of 200. Times depend on the machine; the claims are about "
    "ratios."
)
DATA: tuple[str, ...] = ()
STAND_IN = ""
SEEDS, QUICK, SECONDS = 5, 1, 12
CLASSES = (4, 10, 30, 100, 300)
ROWS, COLUMNS, C = 4000, 50, 0.1
LEARNERS: dict[str, Callable[[], Classifier]] = {
    "Perceptron, max-score": lambda: Perceptron(fit_intercept=False),
    "Perceptron, uniform": lambda: Perceptron(fit_intercept=False, update="uniform"),
    "PA-I": lambda: PassiveAggressiveClassifier(fit_intercept=False, C=C),
    "MIRA, by sorting": lambda: MIRA(fit_intercept=False, C=C),
}
WHOLE, STEP = "whole rounds, compiled", "step alone, NumPy"


def by_formula(violations: np.ndarray, limit: float) -> np.ndarray:
    """PA-I on a unit row: all of min(C, loss / 2) on the worst rival."""
    shares = np.zeros_like(violations)
    worst = int(violations.argmax())
    shares[worst] = min(limit, max(violations[worst], 0.0) / 2.0)
    return shares


def by_sorting(violations: np.ndarray, limit: float) -> np.ndarray:
    """MIRA on a unit row: max a'b - 1/2 (|a|^2 + (1'a)^2), a >= 0, 1'a <= C; a = [b - level]_+ by a sort.

    Without the cap level = 1'a, so of the k largest violations level = (their sum) / (k + 1); with it,
    the one at which the shares sum to C.
    """
    falling = np.sort(violations)[::-1]
    sums, counts = np.cumsum(falling), np.arange(1, len(falling) + 1)
    for level in (sums / (counts + 1), (sums - limit) / counts):
        used = np.flatnonzero(falling > level)
        if not used.size:
            return np.zeros_like(violations)
        shares = np.maximum(violations - level[used[-1]], 0.0)
        if shares.sum() <= limit * (1 + 1e-12):
            return np.asarray(shares)
    return np.asarray(shares)


def by_iterations(violations: np.ndarray, limit: float, near: float = 1e-9) -> np.ndarray:
    """The same problem, one constraint after the other (Hildreth); the cap has a price of its own."""
    shares, total, price = np.zeros_like(violations), 0.0, 0.0
    for _ in range(10_000):
        moved = 0.0
        for at in range(len(violations)):
            wanted = max(0.0, shares[at] + (violations[at] - price - shares[at] - total) / 2.0)
            moved = max(moved, abs(wanted - shares[at]))
            total += wanted - shares[at]
            shares[at] = wanted
        dearer = max(0.0, price + (total - limit) * 0.5)
        moved = max(moved, abs(dearer - price))
        price = dearer
        if moved < near:
            break
    return shares


STEPS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "PA-I, the formula": by_formula, "MIRA, by sorting": by_sorting, "MIRA, by iterations": by_iterations,
}  # fmt: skip


def whole_round(seed: int, name: str, classes: int) -> float:
    """Microseconds for each update of a pass."""
    draw = np.random.default_rng([30, seed])
    X = draw.standard_normal((ROWS, COLUMNS))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.r_[np.arange(classes), draw.integers(classes, size=ROWS - classes)]
    spent = []
    for _ in range(4):  # the first one compiles
        start = time.perf_counter()
        updates = progressive(LEARNERS[name](), X, y, trace="sums").updates
        spent.append(1e6 * (time.perf_counter() - start) / updates)
    return min(spent[1:])


def step_alone(seed: int, name: str, classes: int, times: int = 200) -> float:
    """Microseconds for the coefficients of an update, the median."""
    draw = np.random.default_rng([31, seed])
    spent = []
    for _ in range(times if name != "MIRA, by iterations" else max(3, times // 40)):
        violations = 1.0 + 0.3 * draw.standard_normal(classes - 1)
        start = time.perf_counter()
        STEPS[name](violations, C)
        spent.append(1e6 * (time.perf_counter() - start))
    return float(np.median(spent))


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All learners over all numbers of classes; `quick`: two of these, and no claim about times (one seed,
    perhaps on a busy machine)."""
    seeds, rows = list(seeds), []
    for part, names, measure in ((WHOLE, LEARNERS, whole_round), (STEP, STEPS, step_alone)):
        for name in names:
            for classes in (CLASSES[1], CLASSES[3]) if quick else CLASSES:
                runs = [{"microseconds": measure(seed, name, classes)} for seed in seeds]
                rows.append(summed_up({"part": part, "learner": name, "classes": classes}, runs))
    outcome = Outcome("E3b: microseconds an update over the number of classes", rows, [])
    made = [same_problem(seeds)] + ([] if quick else claims(outcome))
    return outcome._replace(claims=made, curves=curves(outcome))


def same_problem(seeds: Iterable[int], times: int = 20) -> Claim:
    """What is timed is one problem: its two solutions agree."""
    apart = 0.0
    for seed in seeds:
        draw = np.random.default_rng([32, seed])
        for classes in (CLASSES[1], CLASSES[3]):
            for violations in 1.0 + 0.3 * draw.standard_normal((times, classes - 1)):
                gap = by_sorting(violations, C) - by_iterations(violations, C)
                apart = max(apart, float(np.abs(gap).max()))
    return Claim(f"MIRA's shares by sorting and by iterations: {apart:.0e} apart, below 1e-6", apart < 1e-6)


def curves(table: Outcome) -> dict[str, Curve]:
    """Microseconds over classes, a line for each learner."""
    found: dict[str, Curve] = {}
    for row in table.rows:
        at = {key: row[key] for key in ("part", "learner", "classes")}
        x, y = found.setdefault(f"{at['part']}: {at['learner']}", ([], []))
        x.append(float(row["classes"]))
        y.append(table.value("microseconds", **at))
    return found


def claims(table: Outcome) -> list[Claim]:
    """Ratios to PA-I."""
    found = []
    for classes in sorted({int(row["classes"]) for row in table.rows}):
        near = _ratio(table, WHOLE, "MIRA, by sorting", "PA-I", classes)
        found.append(
            Claim(f"K={classes}: a whole round of MIRA takes {near:.1f} of PA-I's, below 6", near < 6)
        )
    for name, least in (("MIRA, by sorting", 1.0), ("MIRA, by iterations", 10.0)):
        ratio = _ratio(table, STEP, name, "PA-I, the formula", 100)
        found.append(Claim(
            f"K=100: the step alone, {name}: {ratio:.0f} of PA-I's formula, above {least:.0f}", ratio > least
        ))  # fmt: skip
    return found


def _ratio(table: Outcome, part: str, name: str, other: str, classes: int) -> float:
    one, two = (table.value("microseconds", part=part, learner=n, classes=classes) for n in (name, other))
    return one / two


def figure(outcome: Outcome) -> Figure:
    """Microseconds over classes, both in logarithms."""
    axes = Panel(x="classes", y="microseconds an update", x_log=True, y_log=True)
    return lines(outcome, {WHOLE: axes, STEP: axes})
