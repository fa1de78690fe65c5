"""Who is better by more than nothing: win, tie or loss, and means over sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .contestants import Match
from .running import Found

POINTS = 0.3  # of test error: level
RELATIVE = 0.05  # of online error: level
CAP = 200.0  # percent; a mean of what diverged says nothing


def verdict(job: str, ours: float, peer: float) -> str:
    """Win, tie or loss of `ours`: less is better, a failure loses."""
    if np.isnan(ours) or np.isnan(peer):
        return "tie" if np.isnan(ours) and np.isnan(peer) else "loss" if np.isnan(ours) else "win"
    near = RELATIVE * peer if job == "online" else POINTS
    if abs(ours - peer) <= near + 1e-12:
        return "tie"
    return "win" if ours < peer else "loss"


def tally(verdicts: list[str]) -> str:
    """Wins/ties/losses."""
    return "/".join(str(verdicts.count(word)) for word in ("win", "tie", "loss"))


def capped(values: np.ndarray) -> np.ndarray:
    """For means: a failure, and whatever is worse than twice the simplest answer, counts as `CAP`."""
    return np.where(np.isnan(values), CAP, np.minimum(values, CAP))


class Score(NamedTuple):
    """A match over some sets."""

    match: Match
    sets: list[str]  # where both competed
    ours: np.ndarray
    peer: np.ndarray

    @property
    def verdicts(self) -> list[str]:
        """One per set."""
        pairs = zip(self.ours, self.peer, strict=True)
        return [verdict(self.match.job, float(mine), float(theirs)) for mine, theirs in pairs]


def score(match: Match, names: list[str], found: Found) -> Score | None:
    """None: they never met."""
    both = [
        name
        for name in names
        if (name, match.job, match.ours) in found and (name, match.job, match.peer) in found
    ]
    if not both:
        return None
    ours, peer = (
        np.array([found[name, match.job, who].mean for name in both]) for who in (match.ours, match.peer)
    )
    return Score(match, both, ours, peer)
