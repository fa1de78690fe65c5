"""The figure of `cluster`: test error against epochs for 1, 2, 4 and 8 partitions, beside one learner.

On real data (ONMARGIN_DATA): 20 Newsgroups, Enron-spam, MNIST; sets that are not there are left out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from dask import delayed
from distributed import Client, LocalCluster

import onmargin as om
from onmargin.cluster import run
from onmargin.errors import OnmarginError
from onmargin.interface.apart import finished

TARGET = Path(__file__).parent.parent / "cluster.svg"
EPOCHS, PARTITIONS = 10, (1, 2, 4, 8)
COLOURS = ("#1b6ca8", "#2a9d8f", "#e9a03b", "#c8553d")
SETS = {"news20": ("20 Newsgroups", 0.01), "enron_spam": ("Enron-spam", 0.1), "mnist": ("MNIST", 0.01)}


class Scores:
    """Keeps no checkpoint, and notes the test error of each."""

    hint, skip_by = "begin anew", "on_error='skip'"

    def __init__(self, model: Any, X: Any, y: np.ndarray) -> None:
        self.model, self.X, self.y = model, X, y
        self.errors: list[float] = []

    def save(self, point: Any) -> None:
        """After every epoch."""
        if point.epoch > len(self.errors):
            learned = finished(point.model, self.model, point.epoch)
            self.errors.append(float((learned.predict(self.X) != self.y).mean()))

    def load(self) -> tuple[Any, Any]:
        """There is none."""
        return None, None


def rows_of(name: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Rows to learn and to be asked, in a random order."""
    X, y = om.datasets.load(name)[:2]
    if name == "enron_spam":
        X = om.features.Text(bits=18).transform(X)
    y = np.asarray(y)
    order = np.random.default_rng(1).permutation(len(y))
    if name == "enron_spam":
        told, asked = order[: 3 * len(y) // 4], order[3 * len(y) // 4 :]
        return X[told], y[told], X[asked], y[asked]
    other, truths = om.datasets.load(name, part="test")[:2]
    return X[order], y[order], other, np.asarray(truths)


def measured(name: str, client: Client) -> dict[object, list[float]]:
    """Test errors by epoch: in sequence, and of so many partitions."""
    X, y, asked, truths = rows_of(name)
    model = om.PassiveAggressiveClassifier(C=SETS[name][1], average=False, random_state=1)
    alone, errors = om.PassiveAggressiveClassifier(**model.get_params()), []
    for _ in range(EPOCHS):
        alone.partial_fit(X, y, classes=np.unique(y))
        errors.append(float((alone.predict(asked) != truths).mean()))
    found: dict[object, list[float]] = {"in sequence": errors}
    for count in PARTITIONS:
        scores = Scores(model, asked, truths)
        cuts = np.linspace(0, len(y), count + 1).astype(int)
        blocks = [delayed((X[a:b], y[a:b]), pure=False) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
        run(
            model, blocks, client=client, epochs=EPOCHS, shuffle=False, sample=0, checkpoint=scores,
            classes=np.unique(y),
        )  # fmt: skip
        found[count] = scores.errors
    return found


def draw(found: dict[str, dict[object, list[float]]], target: Path) -> None:
    """A panel for each set."""
    figure, axes = plt.subplots(
        1, len(found), figsize=(3.6 * len(found), 3.2), layout="constrained", squeeze=False
    )
    for ax, (name, lines) in zip(axes[0], found.items(), strict=True):
        for key, errors in lines.items():
            epochs = np.arange(1, len(errors) + 1)
            if key == "in sequence":
                ax.plot(epochs, errors, color="black", lw=2.2, ls=(0, (4, 2)), label="one learner", zorder=4)
            else:
                word = f"{key} partition{'s' if key != 1 else ''}"
                ax.plot(epochs, errors, color=COLOURS[PARTITIONS.index(key)], lw=1.6, label=word)
        ax.set_title(SETS[name][0])
        ax.set_xlabel("epochs")
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("test error")
    axes[0][-1].legend(frameon=False)
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


def main(target: Path = TARGET) -> None:
    """Learn, and draw; text stays text, and no date goes in."""
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "onmargin"})
    found: dict[str, dict[object, list[float]]] = {}
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for name in SETS:
            try:
                found[name] = measured(name, client)
            except (OnmarginError, OSError) as error:
                print(f"{name} is left out: {error}")
                continue
            for key, errors in found[name].items():
                print(name, key, " ".join(f"{error:.4f}" for error in errors))
    if len(found) == len(SETS):
        draw(found, target)
    else:
        print(f"{target.name} is left as it is")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
