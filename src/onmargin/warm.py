"""Compile ahead of time, and clear away machine code of other versions of the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from .compiled.parts import cache_folders, own_sources
from .estimators.saving import CLASSES
from .protocols.progressive import progressive

STEPS = ("pa", "pa1", "pa2")


def common() -> Iterator[tuple[str, Any]]:
    """The learners most people start with."""
    yield "Perceptron", CLASSES["Perceptron"]()
    for step in STEPS:
        yield f"PassiveAggressiveClassifier, {step}", CLASSES["PassiveAggressiveClassifier"](step=step)
    yield "MIRA", CLASSES["MIRA"]()


def every() -> Iterator[tuple[str, Any]]:
    """All learners, with their main options."""
    yield from common()
    for form in ("scw1", "scw2", "cw"):
        yield f"SoftConfidenceWeighted, {form}", CLASSES["SoftConfidenceWeighted"](form=form)
    for name in ("AROW", "SecondOrderPerceptron", "PassiveAggressiveUniclass", "Pegasos", "FTRLRegressor"):
        yield name, CLASSES[name]()
    for regularizer in ("l2", "pnorm", "group", "entropic", "adagrad", "coin"):
        yield f"FTRLClassifier, {regularizer}", CLASSES["FTRLClassifier"](regularizer=regularizer)
    for name in ("Perceptron", "PassiveAggressiveClassifier", "Pegasos"):
        yield f"{name}, kernel", CLASSES[name](kernel="rbf")
        yield f"{name}, kernel and budget", CLASSES[name](kernel="rbf", budget=10)
    for name in ("Projectron", "RandomBudgetPerceptron", "Forgetron", "OM2"):
        yield name, CLASSES[name]()
    yield "PairedClassifier", CLASSES["PairedClassifier"]()
    yield "PairedClassifier, kernel", CLASSES["PairedClassifier"](kernel="rbf")
    for step in STEPS:
        yield f"PassiveAggressiveRegressor, {step}", CLASSES["PassiveAggressiveRegressor"](step=step)


def warm(full: bool, tell: Callable[[str, int, int], None]) -> int:
    """Compile the loops for arrays (`full`: of all learners, also for CSR and dicts); how many learners."""
    learners = list(every() if full else common())
    draw = np.random.default_rng(0)
    X = draw.standard_normal((30, 4))
    for number, (name, model) in enumerate(learners):
        tell(name, number, len(learners))
        targets = [np.arange(30) % 2, np.arange(30) % 3] if hasattr(model, "classes") else [X[:, 0].copy()]
        for y in targets:
            progressive(model.clone(), X, y).model.predict(X)
            if full:
                progressive(model.clone(), sp.csr_matrix(X), y).model.predict(sp.csr_matrix(X))
                one = model.clone()
                examples = [
                    (dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist(), strict=True)
                ]
                progressive(one, examples)
    tell("done", len(learners), len(learners))
    return len(learners)


def clear_stale() -> int:
    """Remove cached machine code of other fingerprints, wherever it lies; how many files."""
    removed = 0
    for path in (path for folder in cache_folders() for path in folder.glob("*.nb[ic]")):
        found = re.search(r"_([0-9a-f]{8})_[0-9a-f]{8}-", path.name)
        if found and found[1] != own_sources():
            path.unlink(missing_ok=True)
            removed += 1
    return removed
