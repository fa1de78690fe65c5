"""The figure of `reproduce`: the seeds' drawings, made of what is learned."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

from onmargin.experiments.experiment import Experiment

TARGET = Path(__file__).parent.parent / "drawings.svg"


def main(target: Path = TARGET) -> None:
    """Text stays text, and no date goes in."""
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "onmargin"})
    drawings = Experiment("drawings", quick=True)
    drawings.figure(drawings.run()).savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
