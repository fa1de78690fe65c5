"""Ten digits, some of them rare (E10b): the AUC of paired rounds beside one-against-all PA-I.

USPS; of class k, in an order drawn by the seed, a share 50^(-k/9) is kept, so that the rarest has one row
where the commonest has fifty. One pass over the shuffled stream, C = 0.01, averaged weights; the test set
is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier

from ..estimators.paired import PairedClassifier
from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..results.metrics import auc_all_pairs, auc_one_vs_all
from ..sources.real import Split, usps
from .drawing import dots, panels
from .outcome import Claim, Outcome, summed_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S1, experiments: multiclass classification evaluated using AUC all pairs and AUC one vs all"
PROTOCOL = (
    "USPS; of class k, in an order drawn by the seed, a share 50^(-k/9) of the training rows is kept: "
    "the rarest has one where the commonest has fifty. One pass over the shuffled stream, C = 0.01, "
    "averaged weights; the test set is left as it is."
)
DATA = ("usps",)
STAND_IN = "the draft names no set; USPS with induced imbalance is our choice"
SEEDS, QUICK, SECONDS = 10, 2, 30
RAREST, C = 50.0, 0.01
LEARNERS = ("one-against-all PA-I", "correct_mistakes", "dca", "sequential", "max_violators", "auc")


def thinned(seed: int, data: Split) -> tuple[np.ndarray, np.ndarray]:
    """An imbalanced stream."""
    draw = np.random.default_rng([11, seed])
    shares = RAREST ** (-draw.permutation(10) / 9)
    kept = np.flatnonzero(draw.random(len(data.y)) < shares[data.y])
    order = draw.permutation(kept)
    return data.X[order], data.y[order]


def one_run(seed: int, name: str, data: Split) -> dict[str, float]:
    """Learn one stream; both areas, and the mean of the classes' errors."""
    X, y = thinned(seed, data)
    once: dict[str, Any] = {
        "C": C, "average": True, "intercept_scaling": 1.0, "max_iter": 1, "tol": None, "shuffle": False,
    }  # fmt: skip
    model: Any = OneVsRestClassifier(PassiveAggressiveClassifier(**once))
    if name in LEARNERS[1:]:
        model = PairedClassifier(rule=name, random_state=seed, **once)
    scores = model.fit(X, y).decision_function(data.X_test)
    wrong = scores.argmax(axis=1) != data.y_test
    return {
        "AUC all pairs": auc_all_pairs(data.y_test, scores),
        "AUC one against all": auc_one_vs_all(data.y_test, scores),
        "class error": float(np.mean([wrong[data.y_test == k].mean() for k in range(10)])),
    }


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All learners over all seeds; `quick`: those that the claims are about."""
    data, seeds = usps(), list(seeds)
    names = LEARNERS[: 3 if quick else None]
    runs = {name: [one_run(seed, name, data) for seed in seeds] for name in names}
    rows = [summed_up({"learner": name}, runs[name]) for name in names]
    claims = []
    for column in ("AUC all pairs", "AUC one against all"):
        gains = [
            paired[column] - plain[column]
            for paired, plain in zip(runs["correct_mistakes"], runs[LEARNERS[0]], strict=True)
        ]
        claims.append(Claim(
            f"{column}: correct_mistakes gains {np.mean(gains):+.4f} over one-against-all PA-I, on "
            f"{sum(gain > 0 for gain in gains)} of {len(gains)} seeds", bool(np.mean(gains) > 0),
        ))  # fmt: skip
    return Outcome("E10b: USPS with classes of 1 to 1/50", rows, claims)


def figure(outcome: Outcome) -> Figure:
    """Both areas of every learner."""
    measures = ("AUC all pairs", "AUC one against all", "class error")
    drawn, axes = panels(*measures, width=4.4, height=3.2)
    names = [row["learner"] for row in outcome.rows]
    for place, (ax, measure) in enumerate(zip(axes, measures, strict=True)):
        dots(ax, outcome, measure, names, "learner")
        if place:
            ax.set_yticklabels([])
    return drawn
