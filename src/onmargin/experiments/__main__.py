"""Run one experiment and print its table and claims."""

from __future__ import annotations

import argparse
from importlib import import_module

from . import NAMES


def main() -> None:
    """Parse, run, print; a claim that does not hold is an error."""
    parser = argparse.ArgumentParser(prog="python -m onmargin.experiments", description=__doc__)
    listed = "; ".join(f"{name}: {text}" for name, text in NAMES.items())
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], metavar="NAME", help=listed)
    parser.add_argument("--seeds", type=int, default=None, help="how many seeds (each has its own number)")
    options = parser.parse_args()
    for name in options.names or NAMES:
        module = import_module(f"onmargin.experiments.{name}")
        outcome = module.run(range(options.seeds or module.SEEDS))
        print(outcome.text())
        outcome.check()


if __name__ == "__main__":
    main()
