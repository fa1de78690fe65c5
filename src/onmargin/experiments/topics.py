"""Sets of topics (E10d): Reuters-21578, paired rounds beside Passive-Aggressive forms.

Rows are tf-idf vectors of length 1; two passes, averaged weights. Ranking measures are of the scores, F1 of
the sets that are answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier

from ..estimators.paired import PairedClassifier
from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..results.metrics import coverage, mean_average_precision, one_error, ranking_loss
from ..sources.real import Split, reuters
from .drawing import dots, panels
from .outcome import Claim, Outcome, summed_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S1, experiments: multilabel, Reuters"
PROTOCOL = (
    "Reuters-21578, 90 topics (ModApte). Rows are tf-idf vectors of length 1; two passes, C = 1, "
    "averaged weights. Ranking measures are of the scores, F1 of the sets that are answered."
)
DATA = ("reuters21578",)
SEEDS, QUICK, SECONDS = 3, 1, 60
LOWER = ("ranking loss", "one-error", "coverage")  # is better
PASSES: dict[str, Any] = {"average": True, "intercept_scaling": 1.0, "max_iter": 2, "tol": None}
LEARNERS: dict[str, Callable[[int], Any]] = {
    "paired, correct_mistakes": lambda seed: PairedClassifier(
        C=1.0, rivals=None, random_state=seed, **PASSES
    ),
    "paired, auc": lambda seed: PairedClassifier(rule="auc", C=1.0, rivals=None, random_state=seed, **PASSES),
    "PA-I, ranking": lambda seed: PassiveAggressiveClassifier(
        C=1.0, multilabel="ranking", random_state=seed, **PASSES
    ),
    "PA-I, calibrated": lambda seed: PassiveAggressiveClassifier(
        C=1.0, multilabel="calibrated", random_state=seed, **PASSES
    ),
    "PA-I, one against the rest": lambda seed: OneVsRestClassifier(
        PassiveAggressiveClassifier(C=1.0, random_state=seed, **PASSES)
    ),
}


def weighed(data: Split) -> Split:
    """Counts as tf-idf."""
    transform = TfidfTransformer(sublinear_tf=True).fit(data.X)
    return data._replace(X=transform.transform(data.X), X_test=transform.transform(data.X_test))


def one_run(seed: int, name: str, data: Split) -> dict[str, float]:
    """Learn, rank and cut the test set's topics."""
    model = LEARNERS[name](seed).fit(data.X, data.y)
    scores, truth = model.decision_function(data.X_test), data.y_test
    sets = model.predict(data.X_test)
    return {
        "ranking loss": ranking_loss(truth, scores), "one-error": one_error(truth, scores),
        "coverage": coverage(truth, scores), "MAP": mean_average_precision(truth, scores),
        "micro F1": float(f1_score(truth, sets, average="micro", zero_division=0)),
        "macro F1": float(f1_score(truth, sets, average="macro", zero_division=0)),
    }  # fmt: skip


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All learners over all seeds; `quick`: those that the claims are about."""
    data, seeds = weighed(reuters()), list(seeds)
    names = [name for name in LEARNERS if not quick or name != "paired, auc"]
    rows = [summed_up({"learner": name}, [one_run(seed, name, data) for seed in seeds]) for name in names]
    outcome = Outcome("E10d: Reuters-21578, 90 topics", rows, [])
    claims = []
    for column in list(rows[0])[1:]:
        ours, *others = (outcome.value(column, learner=name) for name in LEARNERS if name != "paired, auc")
        lower = column in LOWER
        best = min(others) if lower else max(others)
        text = f"{column}: paired rounds {ours:.4f}, the best of the other three {best:.4f}"
        claims.append(Claim(text, ours < best if lower else ours > best))
    return outcome._replace(claims=claims)


def figure(outcome: Outcome) -> Figure:
    """All six measures of every learner."""
    measures = [name for name in outcome.columns if name != "learner"]
    titles = [f"{name} ({'lower' if name in LOWER else 'higher'} is better)" for name in measures]
    drawn, axes = panels(*titles, columns=3, width=4.2, height=2.8)
    names = [row["learner"] for row in outcome.rows]
    for place, (ax, measure) in enumerate(zip(axes, measures, strict=True)):
        dots(ax, outcome, measure, names, "learner")
        if place % 3:
            ax.set_yticklabels([])
    return drawn
