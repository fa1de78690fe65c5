"""Bounds of learners with few vectors, or many kernels: K1 - K3 and OM-2's O1.

Orabona, Keshet & Caputo 2009 (K1, K2: Projectron); Dekel, Shalev-Shwartz & Singer 2008 (K3: Forgetron); Jie,
Orabona et al. 2010 (O1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...interface.support import FINE
from .evidence import Bound, Evidence, first, last, perceptron_like, refused, running

NEAR = math.sqrt(FINE)  # share of |phi(x)| below which a distance from the span counts as none
LEAST = 83  # vectors of a Forgetron with a bound


def kernel_bounds(run: Evidence) -> Iterator[Bound]:
    """Those of the learner that was run, by its Space."""
    space = run.words["space"]
    if space == "projection" and run.words["loss"] == "mistake":
        yield _projectron(run)
    elif space == "projection_plus":
        yield _projectron_plus(run)
    elif space == "fade":
        yield _forgetron(run)
    elif space == "multikernel":
        yield _many_kernels(run)


def _projectron(run: Evidence) -> Bound:
    """K1: M <= ((UR + sqrt(U^2 R^2 + 4qL)) / 2q)^2, q = 1 - tolerance U > 0."""
    radius, U = math.sqrt(run.radius), math.sqrt(run.square)
    tolerance = max(run.number("tolerance", 0.0), NEAR * radius)
    q = 1 - tolerance * U
    unmet = first(
        run.plain(), run.start(), _limited(run), "several outputs" if run.begun.outputs > 1 else "",
        f"tolerance |u| = {1 - q:.3g} is not below 1" if q <= 0 else "",
    )  # fmt: skip
    wants = f"tolerance |u| < 1, tolerance = {tolerance:.3g}"
    if unmet:
        return refused("K1", wants, unmet)
    right, rank = (
        perceptron_like(run.square * run.radius / q**2, paid / q)
        for paid in (running(run.theirs * run.erred), run.theirs.sum())
    )  # the same as ((UR + sqrt(U^2 R^2 + 4qL)) / 2q)^2
    return Bound("K1", running(run.erred), right, wants, counts="mistakes", rank=last(rank))


def _limited(run: Evidence) -> str:
    """A budget projects what is far from the span too."""
    room = run.number("room", math.inf)
    return f"a budget of {room:g} vectors" if room < math.inf else ""


def _projectron_plus(run: Evidence) -> Bound:
    """K2: M + sum beta <= U^2 / q^2 + 2/q sum step loss(u).

    beta = step (2 loss - step n^2 - 2 delta / tolerance) of projected margin errors, n^2 the squared length
    of the projection on the vectors kept before, delta what is left of it.
    """
    tolerance, U = run.number("tolerance"), math.sqrt(run.square)
    longest = float(run.u.lengths.max(initial=0.0))
    q = 1 - tolerance * U
    unmet = first(
        run.plain(), run.start(), _limited(run), "several outputs" if run.begun.outputs > 1 else "",
        "tolerance is 0" if not tolerance > 0 else "",
        f"k(x, x) is up to {longest:.3g}, above 1" if longest > 1 + 1e-6 else "",
        f"tolerance |u| = {tolerance * U:.3g} is above 1/2" if tolerance * U > 0.5 * (1 + 1e-9) else "",
    )  # fmt: skip
    wants = f"k(x, x) <= 1, tolerance |u| <= 1/2, tolerance = {tolerance:.3g}"
    if unmet:
        return refused("K2", wants, unmet)
    erred = run.erred
    projected = ~erred & (run.steps > 0)
    if "distances" not in run.kept:
        run.kept["distances"] = _distances(run, projected)
    lengths, gaps = run.kept["distances"]
    tau, loss = run.steps[projected], run.losses[projected]
    betas = np.zeros(len(erred))
    betas[projected] = tau * (2 * loss - tau * lengths - 2 * gaps / tolerance)
    paid = running(np.where(erred, 1.0, run.steps) * run.theirs)
    return Bound("K2", running(erred + betas), run.square / q**2 + 2 / q * paid, wants)


def _distances(run: Evidence, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of rounds: |P(x)|^2 and |x - P(x)|, P on the vectors kept before the round."""
    assert run.u.grams is not None
    gram, support = run.u.grams[0], np.sort(run.progress.model.support_)
    lengths, gaps = [], []
    for t in np.flatnonzero(which).tolist():
        kept = support[support < t]
        near = gram[kept, t]
        found = near @ np.linalg.lstsq(gram[np.ix_(kept, kept)], near, rcond=None)[0] if len(kept) else 0.0
        lengths.append(float(found))
        gaps.append(math.sqrt(max(gram[t, t] - float(found), 0.0)))
    return np.array(lengths), np.array(gaps)


def _forgetron(run: Evidence) -> Bound:
    """K3: M <= 2 U^2 + 4 sum loss(u)."""
    budget = run.number("room")
    reach = math.sqrt((budget + 1) / math.log(budget + 1)) / 4
    U, longest = math.sqrt(run.square), float(run.u.lengths.max(initial=0.0))
    unmet = first(
        run.plain(), run.start(), "several outputs" if run.begun.outputs > 1 else "",
        f"k(x, x) is up to {longest:.3g}, above 1" if longest > 1 + 1e-6 else "",
        f"budget={budget:g} is below {LEAST}" if budget < LEAST else "",
        f"|u| = {U:.3g} is above {reach:.3g}" if U > reach * (1 + 1e-9) else "",
    )  # fmt: skip
    wants = f"k(x, x) <= 1, budget >= {LEAST}, |u| <= {reach:.3g}"
    right = 2 * run.square + 4 * running(run.theirs)
    return Bound("K3", running(run.erred), right, wants, unmet, "mistakes")


def _many_kernels(run: Evidence) -> Bound:
    """O1: M <= sum eta <= (UX sqrt(q) + sqrt(q U^2 X^2 + 4L))^2 / 4, U the (2, p) norm of u over the kernels.

    L = sum eta [1 - <u, z>]_+ against the learner's own rival. One row for two classes stands for two of
    opposite signs and half its length each.
    """
    q = run.number("q")
    unmet = first(run.plain(scores=True), run.start(), "sets of labels" if np.ndim(run.y) == 2 else "")
    wants = f"q = {q:.3g}; the learner's own rivals"
    if unmet:
        return refused("O1", wants, unmet)
    sizes = 2 * length_of(run.u.squares, q)
    parts, each = run.u.parts, np.arange(len(run.losses))
    if run.begun.outputs == 1:
        theirs, parts = run.signs * run.u.scores[:, 0], parts / 2
    else:
        codes, scores = run.codes, run.scores.copy()
        scores[each, codes] = -math.inf
        rivals = scores.argmax(axis=1)
        theirs = run.u.scores[each, codes] - run.u.scores[each, rivals]
    farthest = float(sizes[run.steps > 0].max(initial=0.0))
    p = q / (q - 1)
    reach = q * farthest * float((parts ** (p / 2)).sum()) ** (2 / p)
    losses = np.maximum(0.0, run.required - theirs)
    right, rank = (perceptron_like(reach, paid) for paid in (running(run.steps * losses), losses.sum()))
    return Bound("O1", running(run.steps), right, wants, counts="sum of steps", rank=last(rank))


def length_of(squares: np.ndarray, q: float) -> np.ndarray:
    """(sum_j k_j(x, x)^{q/2})^{2/q} of every row."""
    top = np.maximum(squares.max(axis=0), 1e-300)
    return np.asarray(top * ((squares / top) ** (q / 2)).sum(axis=0) ** (2 / q))
