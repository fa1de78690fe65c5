"""The Spaces of the kernel learners: a way to use a sum over vectors times a way to keep it."""

from __future__ import annotations

from typing import Any

from ...compiled.parts import compose
from ..spaces.arrays import Space, as_they_lie, less_drift
from ..spaces.ball import size as unit_size
from ..spaces.fading import faded
from ..spaces.linear import size as size_of
from . import dropping, expansion, many, projection, uses
from .expansion import Expansion
from .projection import Budgeted

UNBOUNDED = {
    "read": expansion.read, "read_dated": expansion.read_dated, "add": expansion.add, "fold": expansion.fold
}  # fmt: skip
PROJECTED = {
    "read": projection.read, "read_dated": projection.read_dated, "add": projection.add,
    "fold": projection.fold,
}  # fmt: skip


def space_of(use: str, name: str, arrays: Any, roles: dict[str, Any]) -> Space:
    """A way to use a sum ("plain", "shrunk", ...) over the roles of a way to keep it."""
    score, size, move, mean, weights, average = {
        "plain": (
            uses.score, size_of, uses.move, uses.mean, as_they_lie, less_drift
        ),
        "forgetful": (
            uses.score_forgetful, size_of, uses.move_forgetful, None, faded, less_drift
        ),
        "shifting": (
            uses.score_shifting, size_of, uses.move_shifting, None, uses.centered, less_drift
        ),
        "shrunk": (
            uses.score_shrunk, size_of, uses.move_shrunk, uses.mean_shrunk, uses.shrunk,
            uses.shrunk_mean,
        ),
        "center": (
            uses.score_center, unit_size, uses.move_center, None, uses.centered,
            uses.centered_mean,
        ),
    }[use]  # fmt: skip
    bound = {part: compose(part, f"{part.__name__}_{name}", **roles) for part in (score, move)}
    meant = None if mean is None else compose(mean, f"{mean.__name__}_{name}", **roles)
    parts = bound[score], size, bound[move]
    anywhere = use == "plain"
    return Space(name, arrays, {}, *parts, meant, weights, average, flat=False, starts_anywhere=anywhere)


def _budget(name: str, add: Any) -> Space:
    return space_of("plain", name, Budgeted, PROJECTED | {"add": add})


EXPANSION = space_of("plain", "expansion", Expansion, UNBOUNDED)
EXPANSIONS = {
    "plain": EXPANSION,
    "shrunk": space_of("shrunk", "expansion", Expansion, UNBOUNDED),
    "center": space_of("center", "expansion", Expansion, UNBOUNDED),
}
PROJECTIONS = {
    "plain": space_of("plain", "projection", Budgeted, PROJECTED),
    "shrunk": space_of("shrunk", "projection", Budgeted, PROJECTED),
    "center": space_of("center", "projection", Budgeted, PROJECTED),
}
PROJECTION = PROJECTIONS["plain"]
PLUS = PROJECTION._replace(name="projection_plus", move=projection.move_plus)
STOP = _budget("stop", dropping.add_stop)
DROP = _budget("drop", dropping.add_drop)
FADE = _budget("fade", dropping.add_fade)
SHIFTING = space_of("shifting", "shifting", Budgeted, PROJECTED | {"add": dropping.add_fading})
FORGETFUL = space_of("forgetful", "forgetful", Budgeted, PROJECTED | {"add": dropping.add_fading})
MULTIKERNEL = Space(
    "multikernel", many.MultiKernel, {}, many.score, many.size, many.move,
    mean=None, weights=as_they_lie, flat=False,
)  # fmt: skip
