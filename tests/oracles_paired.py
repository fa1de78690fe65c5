"""Paired rounds as slow NumPy, over a matrix of inner products: reservoirs, rules, thresholds, averages.

Written from the mathematics: a hypothesis is a line of coefficients per row of the data, so one oracle
serves weights (`linear`) and kernels.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

GRAIN = 1e-10  # losses up to here count as 0 when it is chosen who takes part


def further(uniform):
    """splitmix64 of the 53 bits of a uniform."""
    mask = 2**64 - 1
    bits = (int(uniform * 2**53) + 0x9E3779B97F4A7C15) & mask
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & mask
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & mask
    return ((bits ^ (bits >> 31)) >> 11) / 2**53


class Draws:
    """The uniforms of one round; one is used up only when it is asked for."""

    def __init__(self, first):
        self.ahead = first

    def below(self, count):
        """A whole number below count."""
        number = int(self.ahead * count)
        self.ahead = further(self.ahead)
        return number


class Reservoirs:
    """Row numbers of every class: algorithm R, or the last ones."""

    def __init__(self, groups, size, recent=False):
        self.kept, self.seen = [[] for _ in range(groups)], [0] * groups
        self.size, self.recent = size, recent

    def round(self, row, mine, order, first, nearest=None):
        """Members of the round of this row, which then enters the reservoirs of its classes `mine`.

        `nearest(groups)`: the rivals, whose members follow the row; None: all, in order.
        """
        draws, members, drawn = Draws(first), [], {}
        for group in order:
            if group in mine:
                members += [] if row in members else [row]
            elif self.kept[group]:
                other = drawn[group] = self.kept[group][draws.below(len(self.kept[group]))]
                members += [] if other in members else [other]
        members += [] if row in members else [row]
        if nearest is not None:
            members = list(dict.fromkeys([row, *(drawn[group] for group in nearest(list(drawn)))]))
        for group in sorted(mine):
            self._enter(group, row, draws)
        return members

    def _enter(self, group, row, draws):
        kept, before = self.kept[group], self.seen[group]
        self.seen[group] += 1
        if before < self.size:
            kept.append(row)
        elif self.recent:
            kept[before % self.size] = row
        else:
            slot = draws.below(before + 1)
            if slot < self.size:
                kept[slot] = row


def joint(gram, margins, c, chosen, C, asked):
    """a = c tau on J, from alpha = 0."""
    d = np.where(chosen, c, 0.0)
    length = d @ gram @ d
    return d * (np.clip((asked - d @ margins) / length, 0.0, C) if length > 0 else 0.0)


def two_exactly(gram, margins, caps, margin):
    """The best of nine cases: each coefficient at 0, at its cap, or free."""
    short, best, value = margin - margins, np.zeros(2), 0.0
    for kinds in itertools.product("0cf", repeat=2):
        a = np.array([cap if kind == "c" else 0.0 for kind, cap in zip(kinds, caps, strict=True)])
        free = np.array([kind == "f" for kind in kinds])
        if free.all():
            if np.linalg.det(gram) <= 1e-12 * gram[0, 0] * gram[1, 1]:
                continue
            a = np.linalg.solve(gram, short)
        elif free.any():
            i = int(np.argmax(free))
            if gram[i, i] <= 0:
                continue
            a[i] = (short[i] - gram[i, 1 - i] * a[1 - i]) / gram[i, i]
        if not np.isfinite(a).all() or (a < 0).any() or (a > caps).any():
            continue
        dual = a @ short - 0.5 * a @ gram @ a
        if dual > value:
            best, value = a, dual
    return best


def dca(gram, margins, caps, C, margin):
    """Cyclic steps on one coefficient each until the duality gap is closed; two samples at once."""
    if len(margins) == 2:
        return two_exactly(gram, margins, caps, margin)
    a, mu = np.zeros(len(margins)), margins.copy()
    for _ in range(1000):
        for j in range(len(a)):
            if gram[j, j] > 0:
                new = np.clip(a[j] + (margin - mu[j]) / gram[j, j], 0.0, caps[j])
                mu += (new - a[j]) * gram[:, j]
                a[j] = new
        gap = (caps - a) @ np.maximum(margin - mu, 0) + a @ np.maximum(mu - margin, 0)
        if gap <= 1e-8 * max(1.0, C):
            break
    return a


def solved(rule, gram, scores, sign, c, weight, own, C, margin):
    """a_j of one output of a round: gram of the rows, their scores and signs, c_j, sample weights."""
    signed, margins, positive = gram * np.outer(sign, sign), sign * scores, sign > 0
    losses = margin - margins
    if rule == "auc":
        if positive.all() or not positive.any():
            return np.zeros(len(sign))
        C = C * weight[own] * np.delete(weight, own).mean()
        return joint(signed, margins, c, np.ones(len(sign), bool), C, margin)
    c = c * weight
    wrong = losses > GRAIN
    if not wrong.any():
        return np.zeros(len(sign))
    if rule == "dca":
        return dca(signed, margins, c * C, C, margin)
    if rule == "sequential":
        a, now = np.zeros(len(sign)), margins.copy()
        for j in range(len(sign)):
            a += joint(signed, now, c, np.arange(len(sign)) == j, C, c[j] * margin)
            now = margins + signed @ a
        return a
    if rule == "max_violators":
        worst = [max(np.flatnonzero(side), key=losses.__getitem__)
                 for side in (wrong & positive, wrong & ~positive) if side.any()]  # fmt: skip
        wrong = np.isin(np.arange(len(sign)), worst)
    return joint(signed, margins, c, wrong, C, margin * c[wrong].sum())


class PairedOracle:
    """One pass over `gram` (the inner products of all rows) with marks (rows, outputs) of 0 and 1.

    Two classes have one column of marks; `sets`: the columns are labels. Afterwards: `coefficients` (rows,
    outputs), `mean` of those that predicted, `threshold`, `scores` before each round, `steps`. `rivals`: a
    round is the row and one of each of so many classes.
    """

    def __init__(self, gram, marks, luck, *, rule="correct_mistakes", C=1.0, margin=None, reservoir=100,
                 recent=False, sets=False, weight=None, rounds=None, averaged=False,
                 rivals=None):  # fmt: skip
        self.gram, self.marks, self.rule, self.C, self.sets = gram, np.asarray(marks), rule, C, sets
        self.margin = (2.0 if rule == "auc" else 1.0) if margin is None else margin
        count, self.outputs = self.marks.shape
        self.rivals = rivals
        self.weight = np.ones(count) if weight is None else np.asarray(weight, float)
        self.two = self.outputs == 1 and not sets
        self.reservoirs = Reservoirs(2 if self.two else self.outputs, reservoir, recent)
        self.coefficients, self.total = np.zeros((2, count, self.outputs))
        self.threshold, self.seen, self.t = np.zeros(self.outputs), np.zeros(self.outputs), 0
        self.scores, self.losses, self.steps = [], [], []
        lines = range(count) if rounds is None else rounds
        for number, line in enumerate(lines):
            self._play(line, None if luck is None else luck[number], averaged)
        self.scores, self.losses, self.steps = map(np.array, (self.scores, self.losses, self.steps))
        self.mean = self.total / max(self.t, 1)

    def _groups(self, row):
        if self.two:
            return {int(self.marks[row, 0])}
        return set(np.flatnonzero(self.marks[row]).tolist())

    def _play(self, line, luck, averaged):
        row = line if luck is not None else line[0]
        seen = self.weight[row] > 0
        used = self.total / max(self.t, 1) if averaged else self.coefficients
        self.scores.append(self.gram[row] @ used - (self.threshold if self.rule == "auc" else 0.0))
        self.losses.append(0.0)
        self.steps.append(0.0)
        if not seen:
            return
        if luck is None:
            members = list(line)
        else:
            order = (1, 0) if self.two else range(self.outputs)
            nearest = None if self.rivals is None else partial(self._nearest, row)
            members = self.reservoirs.round(row, self._groups(row), order, luck, nearest)
        self._learn(members, members.index(row))

    def _nearest(self, row, groups):
        """The classes of the highest scores, as far as the row is within their margin."""
        scores = self.gram[row] @ self.coefficients - (self.threshold if self.rule == "auc" else 0.0)
        close = [k for k in groups if self.rule == "auc" or self.margin + scores[k] > GRAIN]
        return sorted(close, key=lambda k: -scores[k])[: self.rivals]

    def _learn(self, members, own):
        gram = self.gram[np.ix_(members, members)]
        scores, pulls = self.gram[members] @ self.coefficients, np.zeros((len(members), self.outputs))
        margins = []
        for k in range(self.outputs):
            sign = np.where(self.marks[members, k] == 1, 1.0, -1.0)
            sides = np.where(sign > 0, (sign > 0).sum(), (sign < 0).sum())
            c = np.ones(len(members)) if self.two and self.rule != "auc" else 1.0 / sides
            if self.rivals is not None and not (sign > 0).any():  # not in the round
                margins += [] if self.rule == "auc" else [sign[own] * scores[own, k]]
                continue
            a = solved(self.rule, gram, scores[:, k], sign, c, self.weight[members], own, self.C, self.margin)
            pulls[:, k] = sign * a
            if self.rule != "auc":
                margins.append(sign[own] * scores[own, k])
            elif abs(sign.sum()) < len(sign):
                self.seen[k] += 1
                above, below = scores[sign > 0, k].mean(), scores[sign < 0, k].mean()
                self.threshold[k] += ((above + below) / 2 - self.threshold[k]) / self.seen[k]
                margins.append(above - below)
        self.total += self.coefficients
        self.coefficients[members] += pulls
        self.t += 1
        self.losses[-1] = max(0.0, self.margin - min(margins, default=np.inf))
        self.steps[-1] = np.sqrt(max(np.sum(pulls * (gram @ pulls)), 0.0))


def linear(X, scaling=1.0):
    """Inner products of rows with a constant coordinate of this value."""
    return X @ X.T + scaling**2


def weights_of(oracle, X, averaged=False, scaling=1.0):
    """(coef_, intercept_) of a linear learner that went through the oracle's rounds."""
    A = oracle.mean if averaged else oracle.coefficients
    return A.T @ X, scaling**2 * A.sum(axis=0) - (oracle.threshold if oracle.rule == "auc" else 0.0)


def candidates(X, chosen, qid, step, C):
    """Weights after every group once, in order: the chosen row against the best-scored other."""
    w = np.zeros(X.shape[1])
    for group in dict.fromkeys(qid.tolist()):
        rows = np.flatnonzero(qid == group)
        others = rows[~chosen[rows]]
        d = X[rows[chosen[rows]][0]] - X[others[np.argmax(X[others] @ w)]]
        loss, size = max(0.0, 1 - w @ d), d @ d
        taus = {"pa": loss / size, "pa1": min(C, loss / size), "pa2": loss / (size + 0.5 / C)}
        w = w + (taus | {"perceptron": float(w @ d <= 0)})[step] * d
    return w


def ranking(X, better, rounds, rule, C):
    """Weights after rounds of rows of one query each, some of them better."""
    oracle = PairedOracle(X @ X.T, better[:, None], None, rule=rule, C=C, rounds=rounds)
    return oracle.coefficients[:, 0] @ X


RULES = ("dca", "sequential", "auc", "max_violators", "correct_mistakes")
PAIRED_ORACLES = {
    **{f"{kept}paired_{rule}.{problem}": PairedOracle
       for kept in ("", "kernel_") for rule in RULES for problem in ("binary", "top", "labels")},
    **{f"ranking_{rule}.queries": ranking for rule in ("auc", "max_violators")},
    **{f"candidates_{step}.groups": candidates for step in ("pa", "pa1", "pa2", "perceptron")},
}  # fmt: skip
