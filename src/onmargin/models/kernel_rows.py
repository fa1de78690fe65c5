"""The kernel learners as rows: the linear rows, in a Space that is spelled in vectors."""

from __future__ import annotations

from typing import Any

from ..learn import steps
from ..learn.kernel_spaces import table as keepings

FAMILIES = ("perceptron", "pa", "pa1", "pa2", "pegasos")  # those with kernel= and budget=


def kernel_rows(rows: dict[str, Any]) -> dict[str, Any]:
    """`kernel_pa1.top` keeps every vector, `budget_pa1.top` few; then those with a name of their own."""
    found = {}
    for name, row in rows.items():
        family, problem = name.split(".")
        if family in FAMILIES:
            manner = "center" if problem == "uniclass" else "shrunk" if family == "pegasos" else "plain"
            found[f"kernel_{name}"] = row._replace(space=keepings.EXPANSIONS[manner])
            found[f"budget_{name}"] = row._replace(space=keepings.PROJECTIONS[manner])
    for problem in ("binary", "top", "labels"):
        perceptron, hinge = rows[f"perceptron.{problem}"], rows[f"pa1.{problem}"]
        found |= {
            f"projectron.{problem}": perceptron._replace(space=keepings.PROJECTION),
            f"projectron_plus.{problem}": hinge._replace(step=steps.whole, space=keepings.PLUS),
            f"rbp.{problem}": perceptron._replace(space=keepings.DROP),
            f"forgetron.{problem}": perceptron._replace(space=keepings.FADE),
            f"stoptron.{problem}": perceptron._replace(space=keepings.STOP),
            f"om2.{problem}": hinge._replace(step=steps.aggressive, space=keepings.MULTIKERNEL),
        }
    return found
