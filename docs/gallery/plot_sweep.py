"""The figure of `build_your_own`: the rate of two losses, 34 models in one pass."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np

import onmargin as om

TARGET = Path(__file__).parent.parent / "sweep.svg"


def main(target: Path = TARGET) -> None:
    """The sweep of the page; text stays text, and no date goes in."""
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "onmargin"})
    X = np.random.default_rng(0).standard_normal((2000, 50))
    grid = {"rate": np.logspace(-3, 1, 17), "loss": ["hinge", "logistic"]}
    result = om.sweep(om.FTRLClassifier(), grid, X, X[:, 3] + 0.5 * X[:, 4] > 0)
    result.plot().savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
