"""The main job on data that comes with it: digits, and a noisy stream."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .estimators.passive_aggressive import MIRA, PassiveAggressiveClassifier
from .estimators.perceptron import Perceptron
from .protocols.progressive import progressive
from .results.plots import learning_curves
from .results.progress import Progress
from .sources.datasets import ellipses


class Row(NamedTuple):
    """One learner on one stream."""

    data: str
    learner: str
    online_error: float
    test_error: float
    updates: int
    microseconds: float


def learners(C: float) -> dict[str, Any]:
    """The learners the table compares."""
    return {
        "Perceptron": Perceptron(),
        "Perceptron, averaged": Perceptron(average=True),
        "PA": PassiveAggressiveClassifier(step="pa"),
        "PA-I": PassiveAggressiveClassifier(C=C),
        "PA-I, averaged": PassiveAggressiveClassifier(C=C, average=True),
        "PA-II": PassiveAggressiveClassifier(C=C, step="pa2"),
        "MIRA": MIRA(C=C),
    }


def streams() -> dict[str, tuple[float, Any, Any, Any, Any]]:
    """Name: C, examples and labels to learn from, and to test on."""
    from sklearn.datasets import load_digits

    digits, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    digits, labels = digits[order] / 16.0, labels[order]
    noisy = ellipses(24_000, label_noise=0.1, seed=0)
    return {
        "digits": (0.05, digits[:1300], labels[:1300], digits[1300:], labels[1300:]),
        "noisy stream": (0.001, noisy.X[:20_000], noisy.y[:20_000], noisy.X[20_000:], noisy.y[20_000:]),
    }


def run(tell: Callable[[str, int, int], None]) -> tuple[list[Row], dict[str, dict[str, Progress]]]:
    """Learn everything once; `tell(what, done, total)` is told before each learner."""
    table: list[Row] = []
    runs: dict[str, dict[str, Progress]] = {}
    data = streams()
    total = sum(len(learners(one[0])) for one in data.values())
    for stream, (C, X, y, X_test, y_test) in data.items():
        runs[stream] = {}
        for name, model in learners(C).items():
            tell(f"{name} on the {stream}", len(table), total)
            progressive(model.clone(), X[:50], y[:50], classes=np.unique(y))  # compile before the clock
            began = time.perf_counter()
            seen = progressive(model, X, y)
            spent = time.perf_counter() - began
            wrong = float(np.mean(seen.model.predict(X_test) != y_test))
            runs[stream][name] = seen
            table.append(Row(stream, name, seen.error_rate, wrong, seen.updates, 1e6 * spent / len(y)))
    tell("done", total, total)
    return table, runs


def draw(runs: dict[str, dict[str, Progress]], path: Path) -> None:
    """Learning curves, one panel a stream."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(runs), figsize=(13, 4.4), layout="constrained")
    titles = {"digits": "8x8 digits, 10 classes", "noisy stream": "two ellipses, 10 % of labels flipped"}
    for ax, (stream, one) in zip(panels, runs.items(), strict=True):
        shown = {name: seen for name, seen in one.items() if "averaged" not in name}
        learning_curves(shown, ax=ax, title=titles.get(stream, stream))
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else {}  # the same figure is the same file
    figure.savefig(path, dpi=140, metadata=metadata)
    plt.close(figure)
