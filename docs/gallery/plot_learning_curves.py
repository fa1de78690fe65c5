"""The figure of the README: how five learners learn, on digits and on a noisy stream."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

from onmargin import demo

TARGET = Path(__file__).parent.parent / "learning_curves.svg"


def main(target: Path = TARGET) -> None:
    """Run the demo's learners and draw their curves; text stays text, and no date goes in."""
    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "onmargin",
            "path.simplify_threshold": 0.5,
        }
    )
    _, runs = demo.run(lambda what, done, total: None)
    demo.draw(runs, target)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
