"""Vowpal Wabbit with its default settings: rows as its text, one pass, its progressive predictions."""

from __future__ import annotations

import importlib.util
import math
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .jobs import Answers
from .sets import CLASSES, NUMBERS, Part, Set

BITS = 18  # its default; more only where columns times classes do not fit


def absent() -> str:
    """Why it does not compete; empty where it does."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        return "vowpalwabbit is not installed (pip install 'onmargin[bench]')"
    return ""


def version() -> str:
    """Of the package; which is measured, or that none is."""
    return "vowpalwabbit absent" if absent() else f"vowpalwabbit {metadata.version('vowpalwabbit')}"


class Wabbit(NamedTuple):
    """One pass, as is its default. Several classes: --oaa."""

    loss: str = "squared"  # its default; labels of two classes are -1 and +1 and the sign is the answer
    kinds: tuple[str, ...] = (CLASSES, NUMBERS)

    def settings(self) -> str:
        """As it comes, or with another loss."""
        return "as it comes" if self.loss == "squared" else self.loss

    def takes(self, job: str, data: Set) -> bool:
        """Labels and numbers."""
        return data.kind in self.kinds and not absent()

    def answers(self, job: str, data: Set, part: Part, seed: int) -> Answers:
        """`fit` is one pass: that is what it does when nothing is said."""
        labels = np.unique(part.y) if data.kind == CLASSES else np.empty(0)
        options = [*self._options(labels, part.X.shape[1]), "--quiet"]
        with tempfile.TemporaryDirectory() as folder:
            train, said, model = (Path(folder) / name for name in ("train", "said", "model"))
            _write(train, part.X, _targets(part.y, labels))
            if job == "online":
                _run([*options, "-d", str(train), "-p", str(said)])
            else:
                _run([*options, "-d", str(train), "-f", str(model)])
                _write(train, part.X_test, None)
                _run(["-t", "-i", str(model), "-d", str(train), "-p", str(said), "--quiet"])
            raw = np.array([float(line.split()[0]) for line in said.read_text().splitlines()])
        return _said(raw, labels)

    def _options(self, labels: np.ndarray, columns: int) -> list[str]:
        if not len(labels):
            return []
        several = ["--oaa", str(len(labels))] if len(labels) > 2 else []
        bits = max(BITS, math.ceil(math.log2(columns * len(labels)))) if several else BITS
        return [*several, "--loss_function", self.loss, "-b", str(bits)]


def _targets(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    if not len(labels):
        return y
    places = np.searchsorted(labels, y)
    return 2 * places - 1 if len(labels) == 2 else places + 1


def _said(raw: np.ndarray, labels: np.ndarray) -> Answers:
    if not len(labels):
        return Answers(raw)
    if len(labels) == 2:
        return Answers(labels[(raw > 0).astype(int)], raw)
    return Answers(labels[raw.astype(int) - 1])


def _write(path: Path, X: Any, targets: np.ndarray | None) -> None:
    X = sp.csr_matrix(X)
    ends, columns, values = X.indptr.tolist(), (X.indices + 1).tolist(), X.data.tolist()
    with path.open("w", encoding="utf-8") as file:
        for row in range(X.shape[0]):
            place = slice(ends[row], ends[row + 1])
            pairs = " ".join(f"{j}:{v:.9g}" for j, v in zip(columns[place], values[place], strict=True))
            file.write(f"{'' if targets is None else f'{targets[row]:.12g}'} | {pairs}\n")


def _run(options: list[str]) -> None:
    import vowpalwabbit

    vowpalwabbit.Workspace(arg_list=options).finish()
