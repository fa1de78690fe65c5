"""`python -m benchmarks.defaults compare EXPRESSION ...`: candidate settings side by side."""

from __future__ import annotations

import argparse

from ..datasets import ROOT
from . import sets
from .compare import compare
from .jobs import JOBS, MEASURES
from .store import Store

OUT = ROOT / "out" / "defaults"


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    side = verbs.add_parser("compare", help="candidate settings side by side")
    side.add_argument(
        "expression", nargs="+", help="such as 'AROW(r=0.1)'; length, first, n, d are the set's"
    )
    side.add_argument("--job", nargs="+", choices=JOBS, default=list(JOBS))
    side.add_argument("--sets", nargs="+", metavar="SET", help=f"sets or groups: {', '.join(sets.GROUPS)}")
    side.add_argument("--measure", choices=MEASURES, default="error")
    side.add_argument("--runs", type=int, help=f"splits or orders, at most {sets.SPLITS}")
    side.add_argument("--workers", type=int, default=2)
    side.add_argument("--resume", action="store_true", help="take what an earlier run has measured")
    options = parser.parse_args()
    sets.where()
    store = Store(OUT / "compare.jsonl", options.resume)
    compare(
        options.expression, options.job, options.sets, options.runs, options.measure, options.workers, store
    )


if __name__ == "__main__":
    main()
