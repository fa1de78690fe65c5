"""A sweep beside one model, a user's loss beside ours."""

from __future__ import annotations

from typing import Any

import numpy as np

import onmargin as om

from .contest import OTHER, Contestant, Work, line
from .datasets import Table, sparse_stream
from .limits import classes, sparse
from .passes import EXACT, learner, signs

GRID = np.logspace(-5, 1, 32)


def soft_margin(margin, required):
    """The hinge, as a user would write it."""
    if margin < required:
        return required - margin, 1.0
    return 0.0, 0.0


def smooth_margin(margin, required):
    """The squared hinge of `docs/build_your_own.md`."""
    gap = max(required - margin, 0.0)
    return gap * gap, 2.0 * gap


def _swept(table: Table, threads: int) -> Contestant:
    return Contestant(
        lambda model: om.sweep(model, {"C": GRID}, table.X, table.y, threads=threads),
        lambda result: 1.0 - result.rows[result.best_index]["error_rate"],
        lambda: om.PassiveAggressiveClassifier(**EXACT),
    )


def _swept_by_hand(table: Table) -> Contestant:
    arrays, targets = sparse.arrays(table.X), signs(table.y)

    def run(_: None) -> float:
        flat, mistakes = classes.aligned(table.X.shape[1] + 1, 32), np.zeros(32)
        classes.sweep(*arrays, targets, flat, np.zeros(32), np.zeros(32), GRID, mistakes)
        return 1.0 - float(mistakes.min()) / len(targets)

    return Contestant(run, lambda accuracy: accuracy)


def sweep(quick: bool) -> Work:
    """32 values of C in one pass."""
    table = sparse_stream(20_000 if quick else 200_000)

    def alone(_: None) -> Any:
        model = om.PassiveAggressiveClassifier(C=1.0, **EXACT)
        return om.progressive(model, table.X, table.y, trace="sums")

    contestants = {
        "one thread": _swept(table, 1),
        "two threads": _swept(table, 2),
        "by hand": _swept_by_hand(table),
        "one model": Contestant(alone, lambda run: 1.0 - run.error_rate),
    }
    lines = [
        line(OTHER, "sweep of 32 / one model", "one thread", "one model", 6.0, 5.0, "by hand"),
        line(OTHER, "  in two threads", "two threads", "one model"),
    ]
    return Work("sweep", table.origin, contestants, lines)


def recipe(quick: bool) -> Work:
    """The same learner with the built-in hinge, and with the user's."""
    table = sparse_stream(20_000 if quick else 200_000)
    own = om.Recipe("classification", loss=soft_margin, step="constant", space="l2")
    built_in = om.Recipe("classification", loss="hinge", step="constant", space="l2")
    documented = om.Recipe("classification", loss=smooth_margin, step="sqrt", space="pnorm")
    same = om.Recipe("classification", loss="squared_hinge", step="sqrt", space="pnorm")
    some = {"X": table.X[:20_000], "y": table.y[:20_000], "rate": 0.01, "p": 1.5, **EXACT}
    whole = {"X": table.X, "y": table.y, "rate": 0.01, **EXACT}
    contestants = {
        "documented": learner(om.OnlineClassifier, recipe=documented, **some),
        "the same, built in": learner(om.OnlineClassifier, recipe=same, **some),
        "own loss": learner(om.OnlineClassifier, recipe=own, **whole),
        "built-in": learner(om.OnlineClassifier, recipe=built_in, **whole),
    }
    lines = [
        line(OTHER, "a user's loss / the built-in", "own loss", "built-in", 1.4, 1.0),
        line(OTHER, "  the documented ten lines", "documented", "the same, built in", 1.4, 1.0),
    ]
    return Work("recipe", table.origin, contestants, lines, repetitions=9)
