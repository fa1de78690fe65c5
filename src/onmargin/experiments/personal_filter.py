"""A spam filter of one's own (S3's Professor Rob and Professor David; E9b): one mailbox helps another.

Much is known of one owner's mail, and 10, 50 or 200 mails of another's are labelled. The note's transfer (a
prior, C says how far the new labels are trusted) beside the target's labels alone, the source's filter as
it is, and the class's two ideas: average both weight vectors, and pool the mails with more weight on the
target's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..estimators.pegasos import Pegasos
from ..interface.classifier import Classifier
from ..protocols.merge import merge
from .mailboxes import Mailbox, mailboxes
from .outcome import Claim, Curve, Outcome, summed_up
from .panels import Panel, lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S3, the personal spam filter: Professor Rob's filter, Professor David's mail"
PROTOCOL = (
    "Enron-spam by mailbox: which words a mail has, hashed to 131,072 places, rows of length 1. The source "
    "is a whole mailbox; of the target 10, 50 or 200 mails of its first half, drawn by the seed, are "
    "labelled, and its second half is the test. Pegasos, lam = 1 / C with the source's filter as prior over "
    "a grid of C; lam = 0.001 on other data. Pooled: the target's mails weigh together as much as the "
    "source's. Averaged: om.merge of the two filters."
)
DATA = ("enron_spam",)
STAND_IN = "mailboxes of two Enron employees stand in for the two professors'."
SEEDS, QUICK, SECONDS = 3, 1, 15
PAIRS = (("farmer", "kaminski"), ("kaminski", "lokay"), ("lokay", "farmer"))
FEW = (10, 50, 200)
GRID = (1.0, 10.0, 100.0, 1000.0)
LAMBDA = 1e-3
CLAIMED = 100.0  # C of the claims: one for all


def learned(X: sp.csr_matrix, y: np.ndarray, seed: int, passes: int = 10, **more: object) -> Pegasos:
    """Pegasos on these mails."""
    model = Pegasos(lam=LAMBDA, tol=None, max_iter=passes, random_state=seed, intercept_scaling=1.0)
    weights = more.pop("sample_weight", None)
    model.set_params(**more).fit(X, y, sample_weight=weights)
    return model


def some(target: Mailbox, few: int, seed: int) -> np.ndarray:
    """Mails of the first half, of both kinds."""
    draw = np.random.default_rng([19, seed])
    order = draw.permutation(len(target.y) // 2)
    first = [order[target.y[order] == side][0] for side in (1, -1)]
    return np.asarray(np.r_[first, order[~np.isin(order, first)][: few - 2]])


def one_run(seed: int, source: Mailbox, target: Mailbox, before: Pegasos) -> dict[tuple[str, int], float]:
    """Test error of every way, by the number of labels."""
    half = len(target.y) // 2
    X_test, y_test = target.X[half:], target.y[half:]
    found = {}
    for few in FEW:
        own = some(target, few, seed)
        X, y = target.X[own], target.y[own]
        weights = np.r_[np.ones(len(source.y)), np.full(few, len(source.y) / few)]
        both = sp.vstack([source.X, X]).tocsr()
        models: dict[str, Classifier] = {
            "source only": before,
            "target only": learned(X, y, seed, 50),
            "pooled": learned(both, np.r_[source.y, y], seed, 5, sample_weight=weights / weights.mean()),
        }  # fmt: skip
        models["averaged weights"] = merge([before, models["target only"]])
        for C in GRID:
            models[f"transfer, C = {C:g}"] = learned(X, y, seed, 50, prior=before, lam=1.0 / C)
        for name, model in models.items():
            found[name, few] = float(np.mean(model.predict(X_test) != y_test))
    return found


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """Three pairs of mailboxes, all seeds."""
    seeds, rows = list(seeds), []
    for pair in PAIRS:
        source, target = mailboxes(pair)
        before = learned(source.X, source.y, 0)
        runs = [one_run(seed, source, target, before) for seed in seeds]
        for name, few in runs[0]:
            told = {"source": pair[0], "target": pair[1], "way": name, "labels": few}
            rows.append(summed_up(told, [{"error": found[name, few]} for found in runs]))
    outcome = Outcome("E9b: a filter for another's mail", rows, [])
    return outcome._replace(claims=claims(outcome), curves=curves(outcome))


def curves(table: Outcome) -> dict[str, Curve]:
    """Test error over labels, a panel for each pair."""
    found = {}
    for source, target in dict.fromkeys((row["source"], row["target"]) for row in table.rows):
        for name in dict.fromkeys(row["way"] for row in table.rows):
            at = {"source": source, "target": target, "way": name}
            errors = [table.value("error", labels=few, **at) for few in FEW]
            found[f"{source} to {target}: {name}"] = ([float(few) for few in FEW], errors)
    return found


def mean_error(table: Outcome, way: str, few: int) -> float:
    """Over all pairs."""
    own = [row["error"] for row in table.rows if row["way"] == way and row["labels"] == few]
    return float(np.mean([error[0] for error in own]))


def claims(table: Outcome) -> list[Claim]:
    """Over all pairs, with one C: what transfer gains beside either alone, and beside the average."""
    found, way = [], f"transfer, C = {CLAIMED:g}"
    for few in FEW:
        ours, alone, before, mean, pooled = (
            mean_error(table, name, few)
            for name in (way, "target only", "source only", "averaged weights", "pooled")
        )
        found.append(
            Claim(f"{few} labels: {way} errs {ours:.3f}, the target's labels alone {alone:.3f}", ours < alone)
        )
        found.append(
            Claim(f"{few} labels: {way} errs {ours:.3f}, the source's filter {before:.3f}", ours < before)
        )
        found.append(
            Claim(
                f"{few} labels: averaged weights err {mean:.3f}, more than transfer's {ours:.3f}", ours < mean
            )
        )
    first, last = (
        mean_error(table, "target only", few) - mean_error(table, way, few) for few in (FEW[0], FEW[-1])
    )
    found.append(
        Claim(f"the gain over the target's labels alone falls from {first:.3f} to {last:.3f}", first > last)
    )
    return found


def figure(outcome: Outcome) -> Figure:
    """Test error over labels."""
    names = list(dict.fromkeys(name.split(": ")[0] for name in outcome.curves))
    axes = {
        name: Panel(x="labelled mails of the target", y="test error", x_log=True, percent=True)
        for name in names
    }
    return lines(outcome, axes, columns=3)
