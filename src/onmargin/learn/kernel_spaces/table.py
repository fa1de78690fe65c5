"""The Spaces of the kernel learners: a way to use a sum over vectors times a way to keep it."""

from __future__ import annotations

from typing import Any

from ...compiled.parts import compose
from ..spaces.arrays import Space, as_they_lie, less_drift
from ..spaces.ball import size as unit_size
from ..spaces.linear import size as size_of
from . import dropping, expansion
from . import many as multikernel
from . import projection as budgeted
from . import uses as manners
from .expansion import Expansion
from .projection import Budgeted

UNBOUNDED = {
    "read": expansion.read, "read_dated": expansion.read_dated, "add": expansion.add, "fold": expansion.fold
}  # fmt: skip
PROJECTED = {
    "read": budgeted.read, "read_dated": budgeted.read_dated, "add": budgeted.add, "fold": budgeted.fold
}  # fmt: skip


def space_of(manner: str, name: str, arrays: Any, roles: dict[str, Any]) -> Space:
    """A manner ("plain", "shrunk" or "center") over a keeping's roles."""
    score, size, move, mean, weights, average = {
        "plain": (
            manners.score, size_of, manners.move, manners.mean, as_they_lie, less_drift
        ),
        "shrunk": (
            manners.score_shrunk, size_of, manners.move_shrunk, manners.mean_shrunk, manners.shrunk,
            manners.shrunk_mean,
        ),
        "center": (
            manners.score_center, unit_size, manners.move_center, None, manners.centered,
            manners.centered_mean,
        ),
    }[manner]  # fmt: skip
    bound = {part: compose(part, f"{part.__name__}_{name}", **roles) for part in (score, move)}
    meant = None if mean is None else compose(mean, f"{mean.__name__}_{name}", **roles)
    parts = bound[score], size, bound[move]
    return Space(name, arrays, {}, *parts, meant, weights, average, flat=False)


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
PLUS = PROJECTION._replace(name="projection_plus", move=budgeted.move_plus)
STOP = _budget("stop", dropping.add_stop)
DROP = _budget("drop", dropping.add_drop)
FADE = _budget("fade", dropping.add_fade)
MULTIKERNEL = Space(
    "multikernel", multikernel.MultiKernel, {}, multikernel.score, multikernel.size, multikernel.move,
    mean=None, weights=as_they_lie, flat=False,
)  # fmt: skip
