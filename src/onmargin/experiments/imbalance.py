"""One positive in fifty (E10a): what a single stream learns, and what rounds of one of each class do.

x = N(0.5 + 0.35 y, I) in ten dimensions, 5,000 rounds, C = 0.01, averaged weights, a balanced test set of
4,000. The common 0.5 is there to show that `auc` learns the order and not the threshold (the bias cancels
in x+ - x-), which its running threshold mends; the second half is without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..estimators.paired import PairedClassifier
from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..results.metrics import auc
from .outcome import Claim, Outcome, summed_up

SEEDS = 10
ROUNDS, TEST, SHARE, SHIFT, C = 5000, 4000, 0.02, 0.35, 0.01
RULES = ("stream", "sequential", "dca", "correct_mistakes", "max_violators", "auc")

# Sum of class errors with a threshold of 0, and AUC; each with a standard error of at most 0.004.
STATED: dict[float, dict[str, tuple[float, float | None]]] = {
    0.5: {"stream": (1.00, 0.936), "sequential": (0.284, 0.937), "dca": (0.284, 0.937),
          "correct_mistakes": (0.284, 0.937), "auc": (0.68, 0.938)},
    0.0: {"stream": (0.998, None), "sequential": (0.285, None), "dca": (0.285, None),
          "correct_mistakes": (0.285, None), "auc": (0.280, None)},
}  # fmt: skip
SLACK = 3 * math.sqrt(2) * 0.004


def drawn(draw: np.random.Generator, y: np.ndarray, offset: float) -> np.ndarray:
    """Examples of these labels."""
    return draw.normal(offset + SHIFT * y[:, None], 1.0, (len(y), 10))


def one_run(seed: int, rule: str, offset: float) -> dict[str, float]:
    """Learn one stream; sums of class errors, and the AUC."""
    draw = np.random.default_rng([10, seed])
    y = np.where(draw.random(ROUNDS) < SHARE, 1, -1)
    truth = np.where(np.arange(TEST) < TEST // 2, 1, -1)
    X, test = drawn(draw, y, offset), drawn(draw, truth, offset)
    model: Any = PassiveAggressiveClassifier(C=C, average=True, intercept_scaling=1.0)
    if rule != "stream":
        model = PairedClassifier(rule=rule, C=C, average=True, random_state=seed)
    model.partial_fit(X, y, classes=[-1, 1])
    scores = model.decision_function(test)
    moved = float(model.threshold_) if rule == "auc" else 0.0
    return {
        "errors": class_errors(truth, scores + moved),
        "errors, own threshold": class_errors(truth, scores),
        "AUC": auc(truth, scores),
    }


def class_errors(truth: np.ndarray, scores: np.ndarray) -> float:
    """E[M+] + E[M-]"""
    wrong = np.where(scores >= 0, 1, -1) != truth
    return float(wrong[truth > 0].mean() + wrong[truth < 0].mean())


def run(seeds: Iterable[int] = range(SEEDS)) -> Outcome:
    """The table of both halves."""
    seeds = list(seeds)
    rows = [
        summed_up({"offset": offset, "rule": rule}, [one_run(seed, rule, offset) for seed in seeds])
        for offset in STATED
        for rule in RULES
    ]
    outcome = Outcome("E10a: one positive in fifty", rows, [])
    return outcome._replace(claims=list(_claims(outcome)))


def _claims(table: Outcome) -> Iterable[Claim]:
    for offset, rules in STATED.items():
        for rule, (errors, area) in rules.items():
            where = {"offset": offset, "rule": rule}
            got = table.value("errors", **where)
            near = abs(got - errors) <= SLACK
            yield Claim(f"{rule}, offset {offset}: errors {got:.3f}, stated {errors}", near)
            if area is not None:
                got = table.value("AUC", **where)
                yield Claim(f"{rule}: AUC {got:.4f}, stated {area}", abs(got - area) <= SLACK)
        areas = [table.value("AUC", offset=offset, rule=rule) for rule in RULES if rule != "stream"]
        yield Claim(
            f"offset {offset}: the AUC of the rules differs by {np.ptp(areas):.4f}; 0.002 within the error",
            bool(np.ptp(areas) < 0.002 + SLACK / 10),
        )
    own = table.value("errors, own threshold", offset=0.5, rule="auc")
    yield Claim(f"auc with its running threshold: errors {own:.3f}, as the others", abs(own - 0.284) <= SLACK)
