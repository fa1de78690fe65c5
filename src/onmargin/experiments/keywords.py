"""Spotting rare words (E10e): is the word in this text, of which only the other words are shown?

Keshet et al.'s recordings are not public; 20 Newsgroups stands in. A keyword is a word that one training
text in five hundred has (22 to 24 of 11,314), drawn by the seed; its column is taken out, rows are tf-idf
vectors of length 1. One pass, C = 1, averaged weights; the AUC on the test texts, mean over the keywords.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from ..estimators.paired import PairedClassifier
from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..results.metrics import auc
from ..sources.real import Split, news20
from .drawing import dots, panels
from .outcome import Claim, Outcome, summed_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S1, experiments: discriminative keyword spotting with algorithms 1 and 2"
PROTOCOL = (
    "A keyword is a word that one training text in five hundred has, drawn by the seed; its column is "
    "taken out, and whether a text has it is to be told from the other words. tf-idf rows of length 1, "
    "one pass, C = 1, averaged weights; the AUC on the test texts, mean over 20 keywords a seed (quick: "
    "6)."
)
DATA = ("news20",)
STAND_IN = "rare words of 20 Newsgroups stand in for Keshet et al.'s recordings, which are not public"
SEEDS, QUICK, SECONDS = 5, 1, 60
WORDS, FEW, RANGE = 20, 6, (22, 24)
LEARNERS = ("PA-I", "auc", "auc, margin 1", "correct_mistakes", "dca")


def keywords(seed: int, data: Split) -> np.ndarray:
    """Columns of words that one text in five hundred has, and some test texts too."""
    often, tested = (np.bincount(X.indices, minlength=X.shape[1]) for X in (data.X, data.X_test))
    rare = np.flatnonzero((often >= RANGE[0]) & (often <= RANGE[1]) & (tested >= 5))
    return np.random.default_rng([12, seed]).choice(rare, WORDS, replace=False)


def tables(word: int, data: Split) -> Split:
    """Is the word in the text? tf-idf of all others."""
    labels = [np.asarray((X[:, [word]] > 0).todense()).ravel() for X in (data.X, data.X_test)]
    found = []
    for X in (data.X, data.X_test):
        X = X.copy()
        X.data[X.indices == word] = 0.0
        X.eliminate_zeros()
        found.append(X)
    transform = TfidfTransformer(sublinear_tf=True).fit(found[0])
    return Split(transform.transform(found[0]), labels[0], transform.transform(found[1]), labels[1])


def one_word(seed: int, name: str, data: Split) -> float:
    """Learn one keyword; its AUC."""
    once: dict[str, Any] = {
        "average": True, "intercept_scaling": 1.0, "max_iter": 1, "tol": None, "random_state": seed,
    }  # fmt: skip
    model: Any = PassiveAggressiveClassifier(**once)
    if name != "PA-I":
        rule, _, margin = name.partition(", margin ")
        model = PairedClassifier(rule=rule, margin=float(margin) if margin else None, **once)
    return auc(data.y_test, model.fit(data.X, data.y).decision_function(data.X_test))


def one_run(seed: int, names: Sequence[str], words: int, data: Split) -> dict[str, float]:
    """The mean AUC of every learner over the seed's keywords."""
    areas: dict[str, list[float]] = {name: [] for name in names}
    for word in keywords(seed, data)[:words]:
        made = tables(int(word), data)
        for name in names:
            areas[name].append(one_word(seed, name, made))
    return {name: float(np.mean(own)) for name, own in areas.items()}


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All learners over all seeds; `quick`: those that the claims are about."""
    data, names = news20(), LEARNERS[: 3 if quick else None]
    runs = [one_run(seed, names, FEW if quick else WORDS, data) for seed in seeds]
    rows = [summed_up({"learner": name}, [{"AUC": each[name]} for each in runs]) for name in names]
    outcome = Outcome("E10e: rare words of 20 Newsgroups, one text in five hundred", rows, [])
    plain = outcome.value("AUC", learner="PA-I")
    claims = [
        Claim(f"{name}: AUC {outcome.value('AUC', learner=name):.3f}, PA-I's {plain:.3f}",
              outcome.value("AUC", learner=name) > plain)
        for name in LEARNERS[1:3]
    ]  # fmt: skip
    return outcome._replace(claims=claims)


def figure(outcome: Outcome) -> Figure:
    """The AUC of every learner."""
    drawn, (ax,) = panels("AUC, mean over the keywords", width=6.5, height=3.2)
    dots(ax, outcome, "AUC", [row["learner"] for row in outcome.rows], "learner")
    return drawn
