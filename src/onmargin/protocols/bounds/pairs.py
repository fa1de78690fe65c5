"""Bounds of paired rounds: D1, D2, D5 along the run, D3, D4 of the model, and Theorem 7.

The trace keeps who was in a round, not the dual steps: the rounds are played again, and where the scores of
the run are not those of its rule, its bounds fail. Keshet et al. (draft), with its corrections: kappa R^2 in
place of R^2, rates along the run in place of a fixed w.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...results.metrics import auc
from ..paired_round import paired_round
from .evidence import Bound, Evidence, first, refused, running

GRAIN = 1e-10  # a margin that is rounding
SAME = 1e-6  # how far a score may be from that of the round played again
COUNTED = ("dca", "sequential", "correct_mistakes")  # rules whose members all count as mistakes
FROM_ZERO = "from w = 0"


def pair_bounds(run: Evidence) -> Iterator[Bound]:
    """Those of the rule, of all outputs together; the rates of every class too."""
    unmet = first(
        run.plain(scores=True), run.start(), _unplayed(run),
        "rounds are narrowed down to rivals" if run.begun.numbers.get("rivals") else "",
    )  # fmt: skip
    if unmet:
        yield from (refused(id, FROM_ZERO, unmet) for id in ("D1", "D2", "D5"))
    else:
        yield from _along(run, Played(run))
    yield from _fixed(run)


def _unplayed(run: Evidence) -> str:
    return first(
        "a kernel's space" if run.u.weights is None else "",
        "its rounds were not kept" if run.begun.members is None else "",
        "rows have weights of 0" if not run.counted.all() else "",
        "sets of labels" if np.ndim(run.y) == 2 else "",
    )


class Sums(NamedTuple):
    """Of every round, (rounds, outputs)."""

    progress: np.ndarray  # D_t(alpha_t)
    paid: np.ndarray  # sum c alpha loss(u)
    wrong: np.ndarray  # sum c [mistake]
    theirs: np.ndarray  # sum c loss(u) of those who count
    out_of_order: np.ndarray  # share of pairs that a round has in the wrong order
    ranks: np.ndarray  # [2 - <u, x+ - x->]_+ and the like: the loss of u on the difference
    compared: np.ndarray  # was there a pair?


class Played:
    """The rounds once more, by the rule that the run had."""

    def __init__(self, run: Evidence) -> None:
        numbers, begun = run.begun.numbers, run.begun
        assert begun.members is not None and begun.starts is not None and run.u.weights is not None
        self.rule, self.C, self.margin = str(numbers["rule"]), run.number("C"), run.number("margin")
        self.members, self.starts, self.codes = begun.members, begun.starts, run.codes
        self.u, self.outputs, self.bias, self.X = run.u.weights, begun.outputs, begun.bias, run.X
        self.kappa = 0.0
        self.worst = 0.0  # how far a score of the run is from that of its rule
        self.wide = 0.0  # the largest |x|^2 of a member
        shape = (len(self.starts) - 1, self.outputs)
        self.sums = Sums(*(np.zeros(shape) for _ in Sums._fields))
        weights = np.zeros_like(self.u)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where dca is slow the theorems hold as well
            for t in range(shape[0]):
                mine = self.members[self.starts[t] : self.starts[t + 1]]
                rows = self.rows(mine)
                self.wide = max(self.wide, float(np.square(rows).sum(axis=1).max(initial=0.0)))
                if self.rule != "auc":
                    row = rows[np.flatnonzero(mine == t)[0]]
                    off = np.abs(weights @ row - run.scores[t])
                    self.worst = max(self.worst, float((off / np.maximum(1.0, np.abs(weights @ row))).max()))
                for k in range(self.outputs):
                    weights[k] = self.round(t, k, weights[k], rows, self.signs(mine, k))

    def rows(self, members: np.ndarray) -> np.ndarray:
        """Members as rows with their constant coordinate."""
        some = self.X[members]
        table = some.toarray() if sp.issparse(some) else np.asarray(some, float)
        return np.asarray(np.c_[table, np.full(len(members), self.bias)])

    def signs(self, members: np.ndarray, k: int) -> np.ndarray:
        """+1 for those of output k."""
        own = self.codes[members] == (1 if self.outputs == 1 else k)
        return np.where(own, 1.0, -1.0)

    def shares(self, signs: np.ndarray) -> np.ndarray:
        """c: 1 for two classes; for several 1 / (members on its side)."""
        if self.outputs == 1:
            return np.ones(len(signs))
        own, others = max(int((signs > 0).sum()), 1), max(int((signs < 0).sum()), 1)
        return np.where(signs > 0, 1.0 / own, 1.0 / others)

    def round(self, t: int, k: int, w: np.ndarray, rows: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """One output's round: sums, and the weights after it."""
        z, c, both = signs[:, None] * rows, self.shares(signs), bool((signs > 0).any() and (signs < 0).any())
        margins, theirs, sums = z @ w, z @ self.u[k], self.sums
        if self.rule == "auc" and not both:
            return w
        after, alpha = paired_round(w, rows, signs, self.rule, self.C, weights=c, margin=self.margin)
        asked = self.margin / 2 if self.rule == "auc" else self.margin
        a = c * alpha
        step = a @ z
        sums.progress[t, k] = float(a @ (asked - margins)) - 0.5 * float(step @ step)
        sums.paid[t, k] = float(a @ np.maximum(asked - theirs, 0.0))
        if self.rule == "sequential":  # each is predicted just before its own step
            margins = margins + np.tril(z @ z.T, -1) @ a
        counts = self.counts(margins, signs)
        wrong = counts & (margins <= GRAIN)
        sums.wrong[t, k] = c[wrong].sum()
        sums.theirs[t, k] = float((c * counts) @ np.maximum(asked - theirs, 0.0))
        if counts.any():
            self.kappa = max(self.kappa, self.kappa_of(c[counts]))
        if both:
            pairs = margins[signs > 0][:, None] + margins[signs < 0][None, :] <= 0.0
            each = c[signs > 0][:, None] * c[signs < 0][None, :]
            sums.out_of_order[t, k], sums.compared[t, k] = float((each * pairs).sum()), 1.0
            sums.ranks[t, k] = max(self.margin - float(c @ theirs), 0.0)
        return after

    def counts(self, margins: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """Members whose mistakes the bound counts: all, or the worst of each side."""
        if self.rule != "max_violators":
            return np.ones(len(margins), bool)
        chosen = np.zeros(len(margins), bool)
        for side in (1.0, -1.0):
            if (signs == side).any():
                chosen[np.where(signs == side, margins, np.inf).argmin()] = True
        return np.asarray(chosen & (margins < self.margin - GRAIN))

    def kappa_of(self, c: np.ndarray) -> float:
        """1, k, k^2 for weights of 1: "sequential", "dca", and one joint step."""
        if self.rule == "sequential":
            return float(c.max())
        return float(c.sum() if self.rule == "dca" else c.sum() ** 2 / c.min())


def _along(run: Evidence, played: Played) -> Iterator[Bound]:
    sums, C, U2, m = played.sums, played.C, run.square, played.margin
    broken = played.worst > SAME
    lost = math.inf if broken else 0.0  # a run that is not its rule's breaks all that is said of it
    said = f"; the run's scores are {played.worst:.2g} off its rule's" if broken else ""
    each = running(sums.progress.sum(axis=1)) + lost
    right = U2 / 2 + running(sums.paid.sum(axis=1))
    yield Bound("D1", each, right, f"{FROM_ZERO}; rule={played.rule!r}{said}")
    if played.rule == "auc":
        yield from _ranks(run, played)
        return
    scale = max(1 / (C * m), played.kappa * played.wide / m**2) if m else math.nan
    none = "margin=0: a mistake may cost nothing" if m == 0 else ""
    wants = f"{FROM_ZERO}; rule={played.rule!r}, kappa = {played.kappa:.3g}{said}"
    wrong = running(sums.wrong.sum(axis=1)) + lost
    bound = scale * (U2 + 2 * C * running(sums.theirs.sum(axis=1)))
    yield Bound("D2", wrong, bound, wants, none, "mistakes")
    if played.rule not in COUNTED:
        yield refused("D5", FROM_ZERO, f"rule={played.rule!r} counts those it chooses")
        return
    K = played.outputs
    rounds = np.arange(1, len(sums.wrong) + 1) * K
    rates = "rates along the run, of a round" + ("" if K == 1 else ", mean of the classes") + said
    yield Bound("D5", wrong / rounds, bound / rounds, rates, none)
    joined = running(sums.out_of_order.sum(axis=1)) / rounds + lost
    yield Bound("D3-D5", joined, bound / rounds, f"Theorem 7: 1 - AUC over the rounds' own pairs{said}", none)
    for k, label in enumerate(run.progress.model.known_labels() if K > 1 else ()):
        T = np.arange(1, len(sums.wrong) + 1)
        own = float(np.square(played.u[k]).sum())
        right = scale * (own + 2 * C * running(sums.theirs[:, k])) / T
        yield Bound(
            f"D5 {label}", running(sums.wrong[:, k]) / T + lost, right, f"rates of the class{said}", none
        )


def _ranks(run: Evidence, played: Played) -> Iterator[Bound]:
    """D2 of "auc": pairs out of order <= max(1 / (mC), 4 R^2 / m^2) (U^2 + 2C sum [m - <u, x+ - x->]_+)."""
    if played.outputs > 1:
        yield refused("D2", FROM_ZERO, "rule='auc' with several classes")
        return
    m, C = played.margin, played.C
    if m == 0:
        yield refused("D2", FROM_ZERO, "margin=0: a pair out of order may cost nothing")
        return
    errors = running(played.sums.out_of_order[:, 0])
    scale = max(1 / (m * C), 4 * played.wide / m**2)
    right = scale * (run.square + 2 * C * running(played.sums.ranks[:, 0]))
    yield Bound(
        "D2", errors, right, f"{FROM_ZERO}; rule='auc': pairs out of order", counts="pairs out of order"
    )
    pairs = np.maximum(running(played.sums.compared[:, 0]), 1.0)
    yield Bound("D3-D5", errors / pairs, right / pairs, "Theorem 7: 1 - AUC over the rounds' own pairs")


# ---- the model as it is now


def _fixed(run: Evidence) -> Iterator[Bound]:
    """D3: 1 - AUC <= #{s+ <= 0} / n+ + #{s- >= 0} / n-; D4: its mean over ordered pairs of classes."""
    wants = "the model as it is now, on these rows"
    if np.ndim(run.y) == 2:
        yield refused("D3", wants, "sets of labels")
        return
    scores, codes = np.asarray(run.progress.model.decision_function(run.X), float), run.codes
    present = np.unique(codes)
    if len(present) < 2:
        yield refused("D3", wants, "one class only")
        return
    if scores.ndim == 1:
        sides = np.mean(scores[codes == 1] <= 0) + np.mean(scores[codes == 0] >= 0)
        yield Bound("D3", 1 - auc(codes, scores, strict=True), float(sides), wants)
        return
    areas, errors = [], []
    for k in present:
        for other in present[present != k]:
            both = np.isin(codes, (k, other))
            areas.append(1 - auc((codes[both] == k).astype(int), scores[both, k], strict=True))
            errors.append(np.mean(scores[codes == k, k] <= 0) + np.mean(scores[codes == other, k] >= 0))
    yield Bound("D4", float(np.mean(areas)), float(np.mean(errors)), wants)
