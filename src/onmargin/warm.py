"""Compile ahead of time, and clear away machine code of other versions of the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import BytesIO

import numpy as np
import scipy.sparse as sp

from .compiled.parts import cache_folders, own_sources
from .estimators import every
from .features.scanning.kept import clear_stale as clear_stale_loops
from .features.text import Text
from .interface.river import River
from .protocols.progressive import progressive
from .sources import svmlight, text, vw

COMMON = ("Perceptron", "PassiveAggressiveClassifier", "MIRA")  # what most people start with


def learners(full: bool) -> Iterator[tuple[str, River]]:
    """Learners with the parameters they are compiled ahead with; `full`: all of them, in kernel form too."""
    for name, cls in every().items():
        kind: type[River] = cls
        for params in kind.variants if full or name in COMMON else ():
            if full or "kernel" not in params:
                said = "".join(f", {value}" for value in params.values())
                yield f"{name}{said}", kind(**params)


def warm(full: bool, tell: Callable[[str, int, int], None]) -> int:
    """Compile the loops for arrays (`full`: all learners, CSR and dicts too) and texts; how many learners."""
    chosen = list(learners(full))
    draw = np.random.default_rng(0)
    X = draw.standard_normal((30, 4))
    for number, (name, model) in enumerate(chosen):
        tell(name, number, len(chosen))
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
    Text(idf=True, names=True).fit_transform(["warm"])
    svmlight.read(BytesIO(b"1 1:1\n"))
    vw.read(BytesIO(b"1 |a x:2 |b y\n"), interactions=["ab"])
    text.read(BytesIO(b"1\tx\n"))
    tell("done", len(chosen), len(chosen))
    return len(chosen)


def clear_stale() -> int:
    """Remove cached machine code of other fingerprints, wherever it lies; how many files."""
    removed = 0
    for path in [path for folder in cache_folders() for path in folder.glob("*.nb[ic]")]:
        found = re.search(r"_([0-9a-f]{8})_[0-9a-f]{8}-", path.name)
        if found and found[1] != own_sources():
            path.unlink(missing_ok=True)
            removed += 1
    return removed + clear_stale_loops()
