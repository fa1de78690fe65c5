"""A stream that drifts (S2): electricity prices in time order (Elec2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import LogisticRegression

from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..estimators.perceptron import Perceptron
from ..estimators.second_order import AROW
from ..estimators.tracking import ProjectedPerceptron, ShiftingPerceptron
from ..interface.classifier import Classifier
from ..protocols.drift import PageHinkley
from ..protocols.progressive import progressive
from .outcome import Claim, Outcome
from .panels import Panel, lines
from .sets import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = (
    "S2, shifting distributions: learn and track (no figure in the seed; Elec2 is the usual real stream)"
)
PROTOCOL = (
    "45,312 half hours of the New South Wales market in time order: does the price go up? Six columns, less "
    "1/2, and a constant. Answered before the label is seen. An averaged Perceptron answers by its average; "
    "the fixed rule is a logistic regression on the first tenth; 'as before' answers the last label seen, "
    "which is known to be hard to beat on this stream."
)
DATA = ("elec2",)
STAND_IN = ""
SEEDS, QUICK, SECONDS = 1, 1, 5
LEARNERS: dict[str, Callable[[], Classifier]] = {
    "Perceptron": lambda: Perceptron(intercept_scaling=1.0),
    "averaged Perceptron": lambda: Perceptron(average=True, intercept_scaling=1.0),
    "forgetting Perceptron": lambda: Perceptron(horizon=200, intercept_scaling=1.0),
    "shifting Perceptron": lambda: ShiftingPerceptron(lam=1.0, intercept_scaling=1.0),
    "projected Perceptron": lambda: ProjectedPerceptron(radius=3.0, intercept_scaling=1.0),
    "PA-I": lambda: PassiveAggressiveClassifier(C=1.0, intercept_scaling=1.0),
    "PA-I, reset on alarms": lambda: PassiveAggressiveClassifier(C=1.0, intercept_scaling=1.0),
    "AROW": lambda: AROW(r=1.0, intercept_scaling=1.0),
}
TRACKING = ("Perceptron", "forgetting Perceptron", "shifting Perceptron", "projected Perceptron", "PA-I")
BASES = ("fixed rule", "as before")
EVERY = 48 * 28  # four weeks


def answers(name: str, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What was said in every round."""
    if name == "as before":
        return np.asarray(np.r_[y[:1], y[:-1]])
    if name == "fixed rule":
        first = len(y) // 10
        model = LogisticRegression().fit(X[:first], y[:first])
        return np.asarray(model.predict(X))
    drift = PageHinkley(threshold=20.0, action="reset") if "alarms" in name else None
    run = progressive(LEARNERS[name](), X, y, drift=drift, classes=[0, 1], scored_by="model")
    return np.asarray(run.predictions)


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """One stream: nothing is drawn, and nothing takes long."""
    X, y = whole("elec2")
    X = X - 0.5
    rows, curves = [], {}
    for name in (*LEARNERS, *BASES):
        wrong = answers(name, X, y) != y
        first = len(y) // 10
        rows.append({
            "learner": name, "error": float(wrong.mean()), "after a tenth": float(wrong[first:].mean()),
            "last quarter": float(wrong[-len(y) // 4 :].mean()),
        })  # fmt: skip
        months = len(y) // EVERY
        errors = wrong[: months * EVERY].reshape(months, EVERY).mean(axis=1)
        curves[f"error of four weeks: {name}"] = ([4.0 * (k + 1) for k in range(months)], errors.tolist())
    outcome = Outcome("Elec2: prices in time order", rows, [], curves)
    return outcome._replace(claims=claims(outcome))


def claims(table: Outcome) -> list[Claim]:
    """Those that track beside those that do not, and beside what is hard to beat."""
    late = {str(row["learner"]): float(row["after a tenth"]) for row in table.rows}
    found, fixed = [], late["fixed rule"]
    for name in TRACKING:
        text = f"after the first tenth: {name} errs {late[name]:.3f}, the rule fixed there {fixed:.3f}"
        found.append(Claim(text, late[name] < 0.6 * fixed))
    for name, other in (("averaged Perceptron", "Perceptron"), ("AROW", "PA-I")):
        text = f"{name} does not track: {late[name]:.3f}, {other} {late[other]:.3f}"
        found.append(Claim(text, late[name] > 2 * late[other]))
    ours, before = late["PA-I"], late["as before"]
    found.append(Claim(f"PA-I errs {ours:.3f}, less than 'as before' {before:.3f}", ours < before))
    return found


def figure(outcome: Outcome) -> Figure:
    """Error of every four weeks."""
    name = "error of four weeks"
    return lines(
        outcome, {name: Panel(x="weeks", y="error", percent=True, title="Elec2, error of four weeks")}
    )
