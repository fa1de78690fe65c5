"""Pegasos against scikit-learn's hinge, a sweep against one model, a user's loss against ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

import onmargin as om

from .contest import Contestant, Versus, Work
from .datasets import Table, sparse_stream
from .passes import _learner

LAM = 1e-4
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


def pegasos(quick: bool) -> Work:
    """One pass; averaged and not, as the peer can be too."""
    table = sparse_stream(20_000 if quick else 200_000)

    def theirs(**options: Any) -> Any:
        return SGDClassifier(loss="hinge", alpha=LAM, random_state=0, **options)

    contestants = {
        "last": _learner(om.Pegasos, table.X, table.y, lam=LAM, average=False),
        "averaged": _learner(om.Pegasos, table.X, table.y, lam=LAM),
        "scikit-learn": _learner(theirs, table.X, table.y),
        "scikit-learn, averaged": _learner(theirs, table.X, table.y, average=True),
        "scikit-learn, shuffle=False": _learner(theirs, table.X, table.y, shuffle=False),
    }
    lines = [
        Versus("Pegasos", "last", "scikit-learn", 1.4, 1.8),
        Versus("  averaged, both", "averaged", "scikit-learn, averaged"),
        Versus("  averaged (our default), peer not", "averaged", "scikit-learn"),
        Versus("  peer in row order", "last", "scikit-learn, shuffle=False"),
    ]
    return Work("pegasos", table.origin, contestants, lines, repetitions=15)


def _run(table: Table, C: float) -> Any:
    return om.progressive(om.PassiveAggressiveClassifier(C=C), table.X, table.y, trace="sums")


def sweep(quick: bool) -> Work:
    """32 values of C in one pass; a ratio of 1/7 to one model is the target."""
    table = sparse_stream(20_000 if quick else 200_000)
    contestants = {
        "sweep": Contestant(
            lambda model: om.sweep(model, {"C": GRID}, table.X, table.y),
            lambda result: 1.0 - result.rows[result.best_index]["error_rate"],
            om.PassiveAggressiveClassifier,
        ),
        "sweep, one thread": Contestant(
            lambda model: om.sweep(model, {"C": GRID}, table.X, table.y, threads=1),
            lambda result: 1.0 - result.rows[result.best_index]["error_rate"],
            om.PassiveAggressiveClassifier,
        ),
        "one model": Contestant(lambda _: _run(table, 1.0), lambda run: 1.0 - run.error_rate),
        "32 runs": Contestant(
            lambda _: [_run(table, C) for C in GRID], lambda runs: 1.0 - min(run.error_rate for run in runs)
        ),
    }
    lines = [
        Versus("sweep of 32 values of C, one model alone", "sweep", "one model", 1 / 7, 1 / 5),
        Versus("  one thread", "sweep, one thread", "one model", 1 / 7, 1 / 5),
        Versus("  32 separate runs, one thread", "sweep, one thread", "32 runs"),
    ]
    return Work("sweep", table.origin, contestants, lines, repetitions=7)


def recipe(quick: bool) -> Work:
    """The same learner with the built-in hinge, and with the user's."""
    table = sparse_stream(20_000 if quick else 200_000)
    own = om.Recipe("classification", loss=soft_margin, step="constant", space="l2")
    built_in = om.Recipe("classification", loss="hinge", step="constant", space="l2")
    documented = om.Recipe("classification", loss=smooth_margin, step="sqrt", space="pnorm")
    same = om.Recipe("classification", loss="squared_hinge", step="sqrt", space="pnorm")
    some = {"X": table.X[:20_000], "y": table.y[:20_000], "rate": 0.01, "p": 1.5}
    contestants = {
        "documented": _learner(om.OnlineClassifier, recipe=documented, **some),
        "the same, built in": _learner(om.OnlineClassifier, recipe=same, **some),
        "own loss": _learner(om.OnlineClassifier, table.X, table.y, recipe=own, rate=0.01),
        "built-in": _learner(om.OnlineClassifier, table.X, table.y, recipe=built_in, rate=0.01),
    }
    lines = [
        Versus("a user's loss, the built-in", "own loss", "built-in", 0.7, 1.0),
        Versus("  the documented ten lines", "documented", "the same, built in", 0.7, 1.0),
    ]
    return Work("recipe", table.origin, contestants, lines, repetitions=15)
