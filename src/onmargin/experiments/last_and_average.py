"""Facts of the Perceptron (S2; E4): separable examples in any order, the last line and the average.

Separable: M <= R^2 U^2 whatever the order, also in one chosen to hurt. Not separable: the test error of
the last hypothesis swings from round to round, the average's does not; and there are streams at whose end
the last one is nearly always wrong while the average is nearly as good as can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..estimators.perceptron import Perceptron
from ..protocols.progressive import progressive
from ..sources.datasets import circle, ellipses, separable
from .drawing import lines, panels, percent
from .outcome import Claim, Curve, Outcome, spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = (
    'S2: the Perceptron\'s mistake bound, "regardless of the ordering of the samples"; the last solution '
    "can be arbitrarily bad, the averaged one is not (the talk's two videos)"
)
PROTOCOL = (
    "1,000 separable examples (margin 0.1, radius 1) in 20 orders drawn at random, sorted by label, and "
    "in an order that of all examples it errs on shows the one that teaches least. Then 2,000 examples of "
    "ellipses, one label in ten flipped: after each of the last 100 rounds the last and the averaged "
    "weights are tested on 4,000 others. Then a constructed stream: 4,000 points of the unit circle, "
    "one label in ten flipped, and at its end one point of length 2 sqrt(T) with a wrong label, longer "
    "than any weights can be by then. No bias."
)
DATA: tuple[str, ...] = ()
SEEDS, QUICK, SECONDS = 5, 2, 4
ORDERS, COUNT, MARGIN = 20, 1000, 0.1
ROUNDS, LAST, TEST, FLIPPED = 2000, 100, 4000, 0.1
LONG = 4000  # rounds of the constructed stream


def least_gain_next(X: np.ndarray, y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """An order chosen to hurt: of all that it errs on, the Perceptron is shown what teaches least.

    A mistake brings w nearer to u by y <u, x>; when there are none left, the others come.
    """
    left, order, weights = np.ones(len(y), bool), [], np.zeros(X.shape[1])
    signed = X * y[:, None]
    gains = signed @ u
    while (wrong := left & (signed @ weights <= 0)).any():
        least = int(np.where(wrong, gains, np.inf).argmin())
        weights += signed[least]
        left[least] = False
        order.append(least)
    return np.asarray(np.r_[np.array(order, int), np.flatnonzero(left)])


def in_orders(seed: int) -> tuple[dict[str, list[float]], float]:
    """Mistakes in every order, and what they are bounded by."""
    X, y, u = separable(COUNT, 10, margin=MARGIN, seed=[4, seed])
    draw = np.random.default_rng([4, seed, 1])
    orders = {
        "drawn": [draw.permutation(COUNT) for _ in range(ORDERS)],
        "sorted by label": [np.argsort(y, kind="stable")],
        "the least gain next": [least_gain_next(X, y, u)],
    }
    found = {
        name: [
            float(
                progressive(Perceptron(fit_intercept=False), X[order], y[order], trace="sums").errors_theory
            )
            for order in some
        ]
        for name, some in orders.items()
    }
    bound = np.linalg.norm(X, axis=1).max() ** 2 / (y * (X @ u)).min() ** 2  # U = 1 / the least margin of u
    return found, float(bound)


def at_the_end(seed: int) -> dict[str, np.ndarray]:
    """Test errors after each of the last rounds, of the last and of the averaged weights."""
    X, y, _ = ellipses(ROUNDS, label_noise=FLIPPED, seed=[4, seed, 2])
    test = ellipses(TEST, label_noise=FLIPPED, seed=[4, seed, 3])
    found = {}
    for name, average in (("last", False), ("average", True)):
        model = Perceptron(fit_intercept=False, average=average)
        model.partial_fit(X[:-LAST], y[:-LAST], classes=[-1, 1])
        errors = []
        for t in range(ROUNDS - LAST, ROUNDS):
            model.partial_fit(X[t : t + 1], y[t : t + 1])
            errors.append(1 - model.score(test.X, test.y))
        found[name] = np.array(errors)
    return found


def constructed(seed: int) -> dict[str, float]:
    """Test errors where the last round undoes all others: |w_T| <= R sqrt(M) <= sqrt(T) < |x_T|."""
    draw = np.random.default_rng([4, seed, 4])
    X, _, u = circle(LONG + 10_000, seed=[4, seed, 5])
    y = np.where(X @ u >= 0, 1, -1)
    y = np.where(draw.random(len(y)) < FLIPPED, -y, y)
    X_test, y_test = X[LONG:], y[LONG:]
    X, y = np.r_[X[:LONG], 2 * np.sqrt(LONG) * u[None]], np.r_[y[:LONG], -1]
    found = {}
    for name, average in (("last", False), ("average", True)):
        model = Perceptron(fit_intercept=False, average=average).partial_fit(X, y, classes=[-1, 1])
        found[name] = float(1 - model.score(X_test, y_test))
    return found


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All three parts over the seeds."""
    seeds = list(seeds)
    orders = [in_orders(seed) for seed in seeds]
    ends = [at_the_end(seed) for seed in seeds]
    built = [constructed(seed) for seed in seeds]
    bound = min(bound for _, bound in orders)
    rows: list[dict[str, object]] = [
        {"part": "orders", "what": name, "mistakes": spread(m for found, _ in orders for m in found[name]),
         "most": max(m for found, _ in orders for m in found[name]), "bound": bound}
        for name in orders[0][0]
    ]  # fmt: skip
    for name in ("last", "average"):
        swing = [float(found[name].std()) for found in ends]
        rows.append({"part": "the last rounds", "what": name, "deviation": spread(swing),
                     "test error": spread(float(found[name].mean()) for found in ends)})  # fmt: skip
    for name in ("last", "average"):
        rows.append({"part": "constructed", "what": name, "test error": spread(each[name] for each in built)})
    at = np.arange(ROUNDS - LAST + 1, ROUNDS + 1, dtype=float).tolist()
    curves: dict[str, Curve] = {f"rounds: {name}": (at, errors.tolist()) for name, errors in ends[0].items()}
    drawn = [m for found, _ in orders for m in found["drawn"]]
    curves["orders: mistakes"] = (list(map(float, range(len(drawn)))), sorted(drawn))
    held = max(m / limit for found, limit in orders for some in found.values() for m in some)
    calm = max(float(found["average"].std() / found["last"].std()) for found in ends)
    bad, good = min(each["last"] for each in built), max(each["average"] for each in built)
    claims = [
        Claim(f"{len(drawn)} orders drawn, two chosen: mistakes are {held:.3f} of R²U² at most", held <= 1.0),
        Claim(f"last {LAST} rounds: the average deviates by {calm:.3f} of what the last does", calm < 0.1),
        Claim(f"constructed: the last hypothesis errs on {bad:.1%} or more, wanted over 40 %", bad > 0.4),
        Claim(f"constructed: the average errs on {good:.1%} at most, wanted less than 11 %", good < 0.11),
    ]  # fmt: skip
    return Outcome(
        "E4: the Perceptron in any order; the last hypothesis and the average", rows, claims, curves
    )


def figure(outcome: Outcome) -> Figure:
    """Mistakes of every order below the bound; test errors over the last rounds; the constructed stream."""
    drawn, axes = panels(
        "separable: mistakes in any order", "not separable: test error", "constructed stream", width=4.2
    )
    at, mistakes = outcome.curves["orders: mistakes"]
    axes[0].plot(at, mistakes, "o", ms=3, label="orders drawn")
    for number, name in enumerate(("sorted by label", "the least gain next"), 1):
        axes[0].axhline(outcome.value("most", what=name), color=f"C{number}", lw=1.5, label=name)
    axes[0].axhline(outcome.value("bound", what="drawn"), color="black", ls="--", lw=1.2, label="R²U²")
    axes[0].set(ylim=(0, None), xlabel="order (by its mistakes)", ylabel="mistakes")
    axes[0].legend(frameon=False, fontsize=8)
    lines(axes[1], outcome.panel("rounds"), marker="")
    axes[1].set(xlabel="round", ylabel="test error", ylim=(0, None))
    for place, name in enumerate(("last", "average")):
        error = outcome.value("test error", part="constructed", what=name)
        axes[2].bar(place, error, color=f"C{place}", width=0.6)
        axes[2].text(place, error, f"{error:.1%}", ha="center", va="bottom", fontsize=9)
    axes[2].axhline(FLIPPED, color="black", ls=":", lw=1, label="labels flipped")
    axes[2].set_xticks((0, 1), ("last", "average"))
    axes[2].legend(frameon=False, fontsize=8, loc="upper right")
    for ax in axes[1:]:
        percent(ax)
    return drawn
