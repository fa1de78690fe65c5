"""Run experiments and print tables and claims, without figures (`onmargin reproduce` has all of it)."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from ..errors import OnmarginError
from . import NAMES


def main() -> int:
    """Parse, run, print; a claim that does not hold is an error, a set that is not there one line."""
    parser = argparse.ArgumentParser(prog="python -m onmargin.experiments", description=__doc__)
    listed = "; ".join(f"{name}: {text}" for name, text in NAMES.items())
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], metavar="NAME", help=listed)
    parser.add_argument("--seeds", type=int, default=None, help="how many seeds (each has its own number)")
    options = parser.parse_args()
    for name in options.names or NAMES:
        module = import_module(f"onmargin.experiments.{name}")
        try:
            outcome = module.run(range(options.seeds or module.SEEDS))
        except OnmarginError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
        print(outcome.text())
        outcome.check()
    return 0


if __name__ == "__main__":
    sys.exit(main())
