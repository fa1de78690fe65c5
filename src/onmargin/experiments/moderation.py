"""Are steps of paired rounds more moderate? Their lengths beside those of PA-I.

The draft says that the other class controls the step. The stream is that of `imbalance`. What comes out:
beside their mean the steps of paired rounds are more even where one class is rare (PA-I alternates between
tiny steps and long ones); their variance itself is not smaller, for they are longer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..estimators.paired import PairedClassifier
from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..protocols.progressive import progressive
from .drawing import bars, panels
from .imbalance import SHARE, drawn
from .outcome import Claim, Outcome, summed_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S1, section 3: the other class moderates the step"
PROTOCOL = (
    "5,000 rounds of the stream of `imbalance`. The lengths of all steps that were taken, by PA-I on "
    "the stream and by paired rounds: with a cap C that is rarely met and with one that is met nearly "
    "always, with one positive in fifty and with as many of both classes."
)
DATA: tuple[str, ...] = ()
SEEDS, QUICK, SECONDS = 10, 4, 3
ROUNDS = 5000
RULES = ("stream", "sequential", "dca", "correct_mistakes", "auc")


def one_run(seed: int, rule: str, C: float, share: float) -> dict[str, float]:
    """The steps of one stream."""
    draw = np.random.default_rng([10, seed])
    y = np.where(draw.random(ROUNDS) < share, 1, -1)
    X = drawn(draw, y, 0.5)
    model: Any = PassiveAggressiveClassifier(C=C, intercept_scaling=1.0)
    if rule != "stream":
        model = PairedClassifier(rule=rule, C=C, random_state=seed)
    trace = progressive(model, X, y, classes=[-1, 1])
    lengths = np.asarray(trace.steps)
    if rule == "stream":  # there a step is in units of x
        lengths = lengths * np.sqrt((X * X).sum(axis=1) + 1.0)
    moved = lengths[lengths > 0]
    return {
        "moves": float((lengths > 0).mean()), "mean step": float(moved.mean()),
        "variance of steps": float(moved.var()), "relative": float(moved.std() / moved.mean()),
        "variance, all rounds": float(lengths.var()),
    }  # fmt: skip


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """Steps with a cap that is rarely met and with one that is met nearly always."""
    seeds = list(seeds)
    rows = [
        summed_up({"C": C, "positives": share, "rule": rule}, [one_run(s, rule, C, share) for s in seeds])
        for C, share in ((1.0, SHARE), (1.0, 0.5), (0.01, SHARE))
        for rule in RULES
    ]
    outcome = Outcome("Lengths of steps: paired rounds beside PA-I", rows, [])
    return outcome._replace(claims=list(_claims(outcome)))


def _claims(table: Outcome) -> Iterable[Claim]:
    for C in (1.0, 0.01):
        where = {"C": C, "positives": SHARE}
        plain = table.value("relative", rule="stream", **where)
        for rule in RULES[1:]:
            got = table.value("relative", rule=rule, **where)
            yield Claim(f"C={C}, {rule}: deviation over mean {got:.2f}, PA-I's {plain:.2f}", got < plain)
    plain = table.value("variance of steps", rule="stream", C=1.0, positives=SHARE)
    least = min(table.value("variance of steps", rule=r, C=1.0, positives=SHARE) for r in RULES[1:])
    yield Claim(f"C=1: the variance itself is larger, {least:.3f} and more beside {plain:.3f}", least > plain)


def figure(outcome: Outcome) -> Figure:
    """How uneven steps are beside their mean."""
    cases = {(C, SHARE): f"C = {C:g}, one positive in fifty" for C in (1.0, 0.01)}
    drawn, axes = panels(*cases.values(), height=3.0)
    for ax, (C, share) in zip(axes, cases, strict=True):
        bars(ax, outcome, "relative", RULES, "rule", C=C, positives=share)
        ax.set_xlabel("deviation of the steps over their mean")
    return drawn
