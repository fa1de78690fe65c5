"""Rewards in place of labels, and targets that move (E11).

Nine classes of word patterns (after Kakade et al.): 400 words, 20 of them a class's own; a text has five of
its class's and fifteen of the others; one label in twenty is wrong. The Banditron beside the Perceptron that
sees all labels. Then a linear target in 20 dimensions that is drawn anew every 1,000 rounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..estimators.banditron import Banditron
from ..estimators.perceptron import Perceptron
from ..estimators.tracking import ProjectedPerceptron, ShiftingPerceptron
from ..protocols.progressive import progressive
from ..sources.datasets import keyword_patterns, switching
from .drawing import lines, panels, percent
from .outcome import Claim, Curve, Outcome, Row, summed_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S2: learning with limited feedback (publicity banners), and shifting distributions (tracking)"
PROTOCOL = (
    "Rewards: nine classes of word patterns (400 words, 20 a class's own), one label in twenty wrong, "
    "100,000 rounds; the Banditron over gamma beside the Perceptron that sees all labels. Moving: a "
    "linear target in 20 dimensions, drawn anew every 1,000 rounds; error over all rounds, and "
    "('early') 500 rounds and more after a switch."
)
DATA: tuple[str, ...] = ()
STAND_IN = "word patterns after Kakade et al. stand in for the talk's banners, of which there are no data"
SEEDS, QUICK, SECONDS = 3, 1, 5
ROUNDS, CLASSES, OWN, WORDS, NOISE = 100_000, 9, 20, 400, 0.05
GAMMAS = (0.002, 0.02, 0.1, 0.3, 0.7)
SWITCH, TIMES = 1000, 8


def texts(seed: int) -> tuple[Any, np.ndarray]:
    """Word patterns, rows of length 1."""
    X, y, _ = keyword_patterns(ROUNDS, CLASSES, WORDS, own=OWN, label_noise=NOISE, seed=[13, seed])
    return X, y


def late_error(run: Any, first: int, stop: int) -> float:
    """Share of wrong answers among rounds first .. stop - 1."""
    return float(np.mean(np.asarray(run.predictions)[first:stop] != np.asarray(run.y)[first:stop]))


def with_rewards(seed: int) -> tuple[list[Row], dict[str, Curve]]:
    """One stream, all learners: online error after a tenth and after all rounds, and as they come."""
    X, y = texts(seed)
    models: dict[str, Any] = {"Perceptron, all labels": Perceptron(intercept_scaling=1.0)}
    models |= {
        f"Banditron, gamma {gamma}": Banditron(gamma=gamma, intercept_scaling=1.0, random_state=seed)
        for gamma in GAMMAS
    }
    found, curves = [], dict[str, Curve]()
    for name, model in models.items():
        run = progressive(model, X, y)
        at = np.geomspace(100, ROUNDS, 40).astype(int)
        so_far = np.cumsum(run.wrong())[at - 1] / at
        curves[f"rewards: {name}"] = at.astype(float).tolist(), so_far.tolist()
        early, whole = late_error(run, 0, ROUNDS // 10), late_error(run, 0, ROUNDS)
        found.append({"learner": name, "early": early, "whole": whole})
    return found, curves


def moving(seed: int) -> tuple[list[Row], dict[str, Curve]]:
    """One stream of targets: error over all rounds, over the second half of each target, and by hundreds."""
    X, y, _ = switching(TIMES, SWITCH, 20, seed=[14, seed])
    models: dict[str, Any] = {
        "averaged Perceptron": Perceptron(average=True, intercept_scaling=1.0),
        "forgetting Perceptron": Perceptron(horizon=300, intercept_scaling=1.0),
        "shifting Perceptron": ShiftingPerceptron(lam=3.0, intercept_scaling=1.0),
        "projected Perceptron": ProjectedPerceptron(radius=5.0, intercept_scaling=1.0),
    }  # fmt: skip
    found, curves = [], dict[str, Curve]()
    for name, model in models.items():
        run = progressive(model, X, y, scored_by="model")
        hundreds = run.wrong().reshape(-1, 100).mean(axis=1)
        curves[f"moving: {name}"] = (100.0 * np.arange(1, len(hundreds) + 1)).tolist(), hundreds.tolist()
        halves = [late_error(run, k * SWITCH + SWITCH // 2, (k + 1) * SWITCH) for k in range(1, TIMES)]
        found.append({"learner": name, "early": float(np.mean(halves)), "whole": run.error_rate})
    return found, curves


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """Both halves over all seeds."""
    seeds = list(seeds)
    rows, curves = [], dict[str, Curve]()
    for part, play in (("rewards", with_rewards), ("moving", moving)):
        played = [play(seed) for seed in seeds]
        runs = [found for found, _ in played]
        curves |= played[0][1]
        for line in range(len(runs[0])):
            names = {"part": part, "learner": runs[0][line]["learner"]}
            measured = [{key: found[line][key] for key in ("early", "whole")} for found in runs]
            rows.append(summed_up(names, measured))
    outcome = Outcome("E11: rewards, and moving targets", rows, [], curves)
    errors = {gamma: outcome.value("whole", learner=f"Banditron, gamma {gamma}") for gamma in GAMMAS}
    best = min(errors, key=errors.__getitem__)
    name = f"Banditron, gamma {best}"
    slope = np.log10(outcome.value("whole", learner=name) / outcome.value("early", learner=name))
    claims = [
        Claim(f"the best gamma is {best}, neither the least nor the greatest",
              best not in (GAMMAS[0], GAMMAS[-1])),
        Claim(f"its error falls as T^{slope:.2f}", slope < -0.15),
        Claim("it stays behind the Perceptron that sees all labels",
              errors[best] > outcome.value("whole", learner="Perceptron, all labels")),
    ]  # fmt: skip
    still = outcome.value("early", learner="averaged Perceptron")
    for tracker in ("forgetting", "shifting", "projected"):
        got = outcome.value("early", learner=f"{tracker} Perceptron")
        text = (
            f"{tracker} Perceptron recovers: error {got:.3f} 500 rounds after a switch, averaged {still:.3f}"
        )
        claims.append(Claim(text, got < 0.6 * still))
    return outcome._replace(claims=claims)


def figure(outcome: Outcome) -> Figure:
    """Error as rounds come, of one stream; the error over gamma; targets that move."""
    drawn, axes = panels(
        "rewards: error so far", "rewards: error over gamma", "a target every 1,000 rounds", width=4.6
    )
    lines(axes[0], outcome.panel("rewards"), marker="")
    axes[0].set(xscale="log", yscale="log", xlabel="rounds", ylabel="online error")
    errors = [
        next(row["whole"] for row in outcome.rows if row["learner"].endswith(f" {gamma}")) for gamma in GAMMAS
    ]
    name = "Banditron"
    lines(axes[1], {name: (list(GAMMAS), [mean for mean, _ in errors])}, {name: [band for _, band in errors]})
    full = outcome.value("whole", learner="Perceptron, all labels")
    axes[1].axhline(full, color="black", ls="--", lw=1, label="Perceptron, all labels")
    axes[1].set(xscale="log", xlabel="gamma", ylabel="online error", ylim=(0, None))
    axes[1].legend(frameon=False, fontsize=8)
    lines(axes[2], outcome.panel("moving"), marker="")
    axes[2].set(xlabel="rounds", ylabel="error of the last hundred", ylim=(0, 0.9))
    for ax in axes[1:]:
        percent(ax)
    return drawn
