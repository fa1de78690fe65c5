"""The figure of `few_labels`: test error against labels, for three rules."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

import onmargin as om

TARGET = Path(__file__).parent.parent / "label_plan.svg"


def main(target: Path = TARGET) -> None:
    """Text stays text, and no date goes in."""
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "onmargin"})
    X, y, _ = om.datasets.ellipses(6000, label_noise=0.05, instance_noise=0.3, seed=3)
    learner = om.PassiveAggressiveClassifier(C=0.05, average=True)
    plan = om.label_plan(learner, X, y, budgets=(10, 20, 40, 80, 160, 320, 640), seeds=10)
    figure = plan.plot()
    figure.axes[0].set_title("two noisy clouds, ten seeds", loc="left", fontsize=11)
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
