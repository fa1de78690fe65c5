"""The seeds' drawings (S0, S2) made of what is learned: margin, tube, ball, losses, two videos."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..estimators.passive_aggressive import PassiveAggressiveClassifier, PassiveAggressiveRegressor
from ..estimators.perceptron import Perceptron
from ..estimators.uniclass import PassiveAggressiveUniclass
from ..learn import losses
from ..sources.datasets import ellipses
from .drawing import colour, panels
from .experiment import Animation
from .outcome import Claim, Curve, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ANSWERS = (
    "S0: the hyperplane with its margin, the epsilon-insensitive tube, the ball of uniclass prediction; "
    "S2: a loss for everyone, and the two videos (the Perceptron learning; the averaged solution)"
)
PROTOCOL = (
    "Nothing is drawn by hand: the line is PA's after many passes over separable points, tube and "
    "centre are those of PA regression and PA uniclass prediction, the losses are the library's own "
    "functions. The animations show one Perceptron on noisy points, round by round: its line, and that "
    "of the averaged weights."
)
DATA: tuple[str, ...] = ()
SEEDS, QUICK, SECONDS = 1, 1, 10
WIDTH, REACH = 0.5, 1.6  # of the tube (half of it) and of the ball
ROUNDS, FEW, LATE = 150, 10, 50  # of the animations; frames of the quick ones; rounds that are judged
LOSSES: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "mistake": losses.mistake, "hinge": losses.hinge, "squared hinge": losses.squared_hinge,
    "logistic": losses.logistic, "exponential": losses.exponential,
}  # fmt: skip


def line_with_margin(draw: np.random.Generator) -> tuple[dict[str, Curve], float]:
    """Separable points, and w of the line (a bias last) that PA has after many passes; its least margin."""
    y = np.where(np.arange(40) % 2, 1, -1)
    X = draw.normal(0, 0.7, (40, 2)) + y[:, None] * np.array([1.6, 1.0]) + 0.5
    keep = np.abs((X - 0.5) @ np.array([1.6, 1.0])) > 1.0
    X, y = X[keep], np.where((X[keep] - 0.5) @ np.array([1.6, 1.0]) > 0, 1, -1)
    model = PassiveAggressiveClassifier(
        step="pa", intercept_scaling=1.0, max_iter=5000, tol=None, random_state=0
    )
    model.fit(X, y)
    weights = [*model.coef_.ravel().tolist(), float(model.intercept_[0])]
    least = float((y * model.decision_function(X)).min())
    return {
        "margin: +": _points(X[y > 0]),
        "margin: -": _points(X[y < 0]),
        "margin: w": (weights, weights),
    }, least


def tube(draw: np.random.Generator) -> tuple[dict[str, Curve], float]:
    """A noisy line and what PA regression makes of it; the share of points within epsilon."""
    x = draw.uniform(-3, 3, 120)
    y = 0.7 * x + 0.5 + draw.uniform(-0.5, 0.5, 120)
    model = PassiveAggressiveRegressor(
        C=0.05, epsilon=WIDTH, intercept_scaling=1.0, average=True, max_iter=20, tol=None, random_state=0
    ).fit(x[:, None], y)
    ends = np.array([-3.2, 3.2])
    within = float(np.mean(np.abs(model.predict(x[:, None]) - y) <= WIDTH + 0.05))
    middle = model.predict(ends[:, None])
    return {"tube: points": (x.tolist(), y.tolist()), "tube: line": (ends.tolist(), middle.tolist())}, within


def ball(draw: np.random.Generator) -> tuple[dict[str, Curve], float]:
    """Points and the centre of a ball that has nearly all of them within its radius; their share."""
    X = draw.normal((2.0, 1.0), 0.6, (120, 2))
    model = PassiveAggressiveUniclass(
        C=0.05, epsilon=REACH, average=True, max_iter=20, tol=None, random_state=0
    ).fit(X)
    inside = float(np.mean(np.linalg.norm(X - model.center_, axis=1) <= REACH))
    return {"ball: points": _points(X), "ball: centre": _points(model.center_[None])}, inside


def shapes() -> tuple[dict[str, Curve], float]:
    """The losses over the margin; by how much the convex ones lie above a mistake's, at the least.

    The logistic loss in bits: log2(1 + e^-m) is 1 at a margin of 0.
    """
    at = np.linspace(-2, 3, 251)
    found: dict[str, Curve] = {}
    for name, loss in LOSSES.items():
        plain = getattr(loss, "py_func", loss)
        value = np.array([plain(float(margin), 1.0)[0] for margin in at])
        found[f"losses: {name}"] = at.tolist(), (value / (np.log(2) if name == "logistic" else 1.0)).tolist()
    mistake = np.array(found["losses: mistake"][1])
    return found, min(
        float((np.array(y) - mistake).min()) for name, (_, y) in found.items() if "mistake" not in name
    )


def moving(rounds: int) -> dict[str, Curve]:
    """Points in their order, their labels, and both weights before each round."""
    X, y, _ = ellipses(rounds, label_noise=0.1, instance_noise=0.3, seed=[6, 0])
    found: dict[str, Curve] = {"stream: points": _points(X), "stream: labels": (y.tolist(), y.tolist())}
    for name, average in (("last", False), ("average", True)):
        model = Perceptron(fit_intercept=False, average=average)
        weights = np.zeros((rounds, 2))
        for t in range(rounds):
            model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
            weights[t] = model.coef_.ravel()
        found[f"weights: {name}"] = _points(weights)
    return found


def turned(weights: Curve) -> float:
    """By how many degrees the line turned over the last rounds, all turns added up."""
    angles = np.unwrap(np.arctan2(weights[1][-LATE:], weights[0][-LATE:]))
    return float(np.degrees(np.abs(np.diff(angles)).sum()))


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All that is drawn; the first seed alone."""
    draw = np.random.default_rng([6, next(iter(seeds))])
    curves: dict[str, Curve] = {}
    told = {}
    for name, made in (("margin", line_with_margin(draw)), ("tube", tube(draw)), ("ball", ball(draw)),
                       ("losses", shapes())):  # fmt: skip
        curves |= made[0]
        told[name] = made[1]
    curves |= moving(ROUNDS)
    last, average = (turned(curves[f"weights: {name}"]) for name in ("last", "average"))
    rows = [
        {"drawing": "margin", "what": "least margin of a point", "value": told["margin"]},
        {"drawing": "tube", "what": "share of points within epsilon + 0.05", "value": told["tube"]},
        {"drawing": "ball", "what": "share of points in the ball", "value": told["ball"]},
        {"drawing": "losses", "what": "least distance above a mistake", "value": told["losses"]},
        {"drawing": "videos", "what": "degrees the last line turned at the end", "value": last},
        {"drawing": "videos", "what": "degrees the average turned at the end", "value": average},
        {"drawing": "videos", "what": "frames", "value": FEW if quick else ROUNDS},
    ]  # fmt: skip
    claims = [
        Claim(f"every point keeps the margin: {told['margin']:.6f} at the least", told["margin"] > 1 - 1e-3),
        Claim(f"{told['tube']:.0%} of the points lie in the tube", told["tube"] > 0.9),
        Claim(f"{told['ball']:.0%} of the points lie in the ball", told["ball"] > 0.9),
        Claim(f"every loss lies above a mistake's: {told['losses']:.3f} at the least", told["losses"] >= 0),
        Claim(f"averaging calms the line: it turned by {average:.0f} degrees, the last one by {last:.0f}",
              average < last / 3),
    ]  # fmt: skip
    return Outcome("The seeds' drawings", rows, claims, curves)


def _points(X: np.ndarray) -> Curve:
    return X[:, 0].tolist(), X[:, 1].tolist()


# ---- figures


def figure(outcome: Outcome) -> Figure:
    """The four drawings."""
    drawn, axes = panels(
        "the hyperplane and its margin", "the epsilon-insensitive tube", "the ball", "a loss for everyone",
        columns=2, height=4.0,
    )  # fmt: skip
    for ax, draw in zip(axes, (_draw_margin, _draw_tube, _draw_ball, _draw_losses), strict=True):
        draw(ax, outcome)
    return drawn


def _draw_margin(ax: Axes, outcome: Outcome) -> None:
    for number, sign in enumerate("+-"):
        x, y = outcome.curves[f"margin: {sign}"]
        ax.plot(x, y, "o" if sign == "+" else "s", ms=5, color=colour(number), label=f"y = {sign}1")
    (first, second, bias), _ = outcome.curves["margin: w"]
    across = np.array([-3.0, 4.5])
    for level, style in ((-1, "--"), (0, "-"), (1, "--")):
        ax.plot(across, (level - bias - first * across) / second, style, color="black", lw=1.2)
    length = np.hypot(first, second)
    foot = np.array([-bias * first, -bias * second]) / length**2 - 2.2 * np.array([-second, first]) / length
    head = foot + np.array([first, second]) / length**2
    ax.annotate("", head, foot, arrowprops={"arrowstyle": "<->", "color": "black"})
    ax.annotate(
        "1 / |w|", (foot + head) / 2, (0, 7), textcoords="offset points", fontsize=9, ha="center", rotation=15
    )
    x, y = foot + 4.6 * np.array([-second, first]) / length
    ax.text(x, y, "w·x + b = 0", fontsize=9, ha="center", bbox={"fc": "white", "ec": "none", "pad": 1})
    ax.set(xlim=(-3, 4.5), ylim=(-3, 4), xlabel="x1", ylabel="x2")
    ax.legend(frameon=False, fontsize=8, loc="lower right")


def _draw_tube(ax: Axes, outcome: Outcome) -> None:
    ax.plot(*outcome.curves["tube: points"], "o", ms=4, color=colour(0), alpha=0.7)
    ends, middle = map(np.array, outcome.curves["tube: line"])
    ax.plot(ends, middle, color="black", lw=1.2)
    ax.fill_between(ends, middle - WIDTH, middle + WIDTH, color=colour(4), alpha=0.25, lw=0)
    for sign in (-1, 1):
        ax.plot(ends, middle + sign * WIDTH, "--", color="black", lw=0.9)
    ax.annotate("", (3.2, middle[1] + WIDTH), (3.2, middle[1]),
                arrowprops={"arrowstyle": "<->", "color": "black", "shrinkA": 0, "shrinkB": 0})  # fmt: skip
    ax.text(3.3, middle[1] + WIDTH / 2 - 0.08, "epsilon", fontsize=9)
    ax.set(xlabel="x", ylabel="y", xlim=(-3.4, 4.3))


def _draw_ball(ax: Axes, outcome: Outcome) -> None:
    from matplotlib.patches import Circle

    ax.plot(*outcome.curves["ball: points"], "o", ms=4, color=colour(0), alpha=0.7)
    (x,), (y,) = outcome.curves["ball: centre"]
    ax.add_patch(Circle((x, y), REACH, fill=False, color="black", lw=1.2))
    ax.plot(x, y, "+", ms=11, mew=2, color=colour(1))
    ax.annotate("", (x + REACH * 0.8, y + REACH * 0.6), (x, y),
                arrowprops={"arrowstyle": "->", "color": "black", "shrinkA": 0, "shrinkB": 0})  # fmt: skip
    ax.text(x + 1.15, y + 1.05, "epsilon", fontsize=9, rotation=36, ha="center", va="center")
    ax.set(aspect="equal", xlabel="y1", ylabel="y2", xlim=(x - 2.4, x + 2.4), ylim=(y - 1.8, y + 1.8))


def _draw_losses(ax: Axes, outcome: Outcome) -> None:
    for number, (name, (at, value)) in enumerate(outcome.panel("losses").items()):
        shown = "logistic, in bits" if name == "logistic" else name
        ax.plot(at, value, color="black" if name == "mistake" else colour(number), lw=1.8, label=shown)
    ax.set(xlabel="margin y w·x", ylabel="loss", ylim=(-0.1, 4), xlim=(-2, 3))
    ax.legend(frameon=False, fontsize=8)


def animations(outcome: Outcome) -> dict[str, Animation]:
    """The Perceptron's line moving; averaging calming it."""
    return {
        "perceptron_learning": _animated(outcome, "the Perceptron's line moves", ("last",)),
        "averaging": _animated(outcome, "averaging calms it", ("last", "average")),
    }


def _animated(outcome: Outcome, title: str, names: tuple[str, ...]) -> Animation:
    drawn, (ax,) = panels(title, width=4.6, height=4.4)
    X = np.array(outcome.curves["stream: points"]).T
    y = np.array(outcome.curves["stream: labels"][0])
    weights = {name: np.array(outcome.curves[f"weights: {name}"]).T for name in names}
    marks = [ax.plot([], [], mark, ms=4, color=colour(k), alpha=0.6)[0] for k, mark in enumerate(("o", "s"))]
    (now,) = ax.plot([], [], "o", ms=12, mfc="none", mec="black", mew=1.2)
    lines = {
        name: ax.plot([], [], color="black" if name == "average" else colour(2), label=f"{name} w",
                      lw=2.2 if name == "average" else 1.4)[0]
        for name in names
    }  # fmt: skip
    frames = int(outcome.value("value", what="frames"))
    said = ax.text(0.02, 0.02, "", transform=ax.transAxes, fontsize=9)
    ax.set(xlim=(-4, 4), ylim=(-5.2, 5.2), xlabel="x1", ylabel="x2")
    ax.legend(frameon=False, fontsize=8, loc="upper right")

    def draw(frame: int) -> None:
        at = (frame + 1) * len(y) // frames - 1
        seen, labels = X[: at + 1], y[: at + 1]
        for mark, sign in zip(marks, (1, -1), strict=True):
            mark.set_data(*seen[labels == sign].T)
        now.set_data(*X[at : at + 1].T)
        for name, line in lines.items():
            first, second = weights[name][at]
            length = np.hypot(first, second) or 1.0
            line.set_data(
                [-9 * second / length, 9 * second / length], [9 * first / length, -9 * first / length]
            )
        said.set_text(f"round {at + 1}")

    return Animation(drawn, draw, frames)
