"""The bound of Perceptrons on shards whose weights are mixed after every epoch: I1.

McDonald, Hall & Mann 2010: sum over epochs of sum_s mu_s k_s <= R^2 / gamma^2, gamma the margin of a unit u.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .evidence import Bound, Evidence, first, refused


def mixing_bounds(shards: Sequence[int], runs: Sequence[Evidence]) -> Iterator[Bound]:
    """I1, for shards mixed evenly: so many in every epoch, their runs one after the other."""
    wants = "separable by u; shards begin alike, and are mixed evenly"
    each = np.concatenate([run.u.losses * 0 + _margins(run) for run in runs])
    least = float(each.min(initial=np.inf))
    ends = np.cumsum(shards)
    epochs = [list(runs[end - size : end]) for end, size in zip(ends, shards, strict=True)]
    unmet = first(
        *(run.plain() for run in runs),
        *("it is no Perceptron with weights" for run in runs if run.words["loss"] != "mistake"),
        *("several classes" for run in runs if run.begun.outputs > 1),
        "" if runs[0].begun.empty else "it did not begin from zero",
        *("the shards of an epoch begin with other weights" for epoch in epochs if not _alike(epoch)),
        "" if least > 0 else f"u has a margin of {least:.3g}",
    )
    if unmet:
        yield refused("I1", wants, unmet)
        return
    radius = max(run.radius for run in runs)
    done = np.cumsum([np.mean([run.progress.updates for run in epoch]) for epoch in epochs])
    right = radius * runs[0].square / least**2
    yield Bound("I1", done, np.full(len(done), right), wants, counts="mixed updates")


def _margins(run: Evidence) -> np.ndarray:
    return run.signs * run.u.scores[:, 0] if run.u.scores.shape[1] == 1 else np.zeros(len(run.losses))


def _alike(epoch: Sequence[Evidence]) -> bool:
    first_one = epoch[0].begun.weights
    for other in (run.begun.weights for run in epoch):
        if other is None or first_one is None:
            if other is not first_one:
                return False
        elif not np.array_equal(other, first_one):
            return False
    return True
