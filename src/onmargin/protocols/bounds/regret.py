"""Bounds on regret: F1 - F3 (FTRL), O1 (the aggressive p-norm), G1, G2 (Pegasos).

Shalev-Shwartz 2007; Orabona, Crammer & Cesa-Bianchi 2015 (F1); Duchi et al. 2011 (F2); Orabona & Pal 2016
(F3); Shalev-Shwartz et al. 2011 (G1). A step of the trace is eta slope, so |eta g|_* = step |z|_*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from .evidence import NAN, Bound, Evidence, first, last, perceptron_like, refused, running

SCHEDULED = ("unit", "sqrt")
CONSTANT = {"linear": "l2", "pnorm": "pnorm", "group": "group", "entropic": "entropic", "simplex": "entropic"}


def regret_bounds(run: Evidence) -> Iterator[Bound]:
    """Those of the learner that was run, by its parts."""
    step, space = run.words["step"], run.words["space"]
    by_kernel = run.begun.form == "kernel" and "lam" in run.begun.numbers
    if (space == "shrunk" or by_kernel) and run.words["loss"] == "hinge" and step == "unit":
        yield _pegasos(run)
        yield _gap(run)
    elif step == "aggressive" and space == "pnorm":
        yield _aggressive_norm(run)
    elif run.words["loss"] not in ("mistake", "always") and step in SCHEDULED:
        if space in CONSTANT:
            yield _constant(run)
        elif space == "adagrad":
            yield _adagrad(run)
        elif space == "coin":
            yield _coin(run)
        elif space == "soft":
            yield refused("F1", "a constant regulariser", "l1= cuts weights anew every round")


# ---- F1: a constant regulariser


def _constant(run: Evidence) -> Bound:
    """F1: sum eta (loss - loss(u)) <= g(u) - min g + sum eta^2 |g|_*^2 / (2 sigma)."""
    norm = Norm.of(run)
    unmet = first(run.plain(), run.start(), norm.unmet)
    if unmet:
        return refused("F1", norm.wants, unmet)
    left = run.running("weighted regret", rates(run) * np.where(run.asked, run.losses - run.theirs, 0.0))
    right = norm.price + norm.flat * run.running("steps squared", run.steps**2 * norm.squares) / 2
    return Bound("F1", left, right, norm.wants, counts="weighted regret")


def rates(run: Evidence) -> np.ndarray:
    """eta of every round."""
    rounds = np.maximum(run.running("rounds", run.counted) + run.begun.clock, 1.0)
    return np.asarray(run.number("rate", 1.0) / rounds ** run.number("decay", 0.0))


class Norm:
    """g(u) - min g, 1 / sigma, and |z|_*^2 of every row, in the norm of a regulariser."""

    def __init__(
        self, price: float = NAN, flat: float = 1.0, squares: np.ndarray | None = None, wants: str = "",
        unmet: str = "",
    ) -> None:  # fmt: skip
        self.price, self.flat, self.wants, self.unmet = price, flat, wants, unmet
        self.squares = np.zeros(0) if squares is None else squares

    @classmethod
    def of(cls, run: Evidence) -> Norm:
        """The run's, by its Space."""
        made: Norm = getattr(cls, CONSTANT[run.words["space"]])(run)
        return made

    @classmethod
    def l2(cls, run: Evidence) -> Norm:
        """|w|^2 / 2"""
        return cls(run.square / 2, 1.0, run.sizes, "g = |w|^2 / 2")

    @classmethod
    def pnorm(cls, run: Evidence) -> Norm:
        """|w|_p^2 / (2a), (p - 1) / a strongly convex in |.|_p; over all outputs' weights."""
        q, scale = run.number("q"), run.number("scale")
        p = q / (q - 1)
        assert run.u.weights is not None
        price = float(length(run.u.weights.ravel(), p)) ** 2 / (2 * scale)
        squares = run.factor ** (2 / q) * row_norms(run, q) ** 2
        return cls(price, scale / (p - 1), squares, f"g = |w|_p^2 / (2a), p = {p:.3g}")

    @classmethod
    def group(cls, run: Evidence) -> Norm:
        """The same over the lengths of groups: columns of all outputs; the constant coordinate is its own."""
        q, scale = run.number("q"), run.number("scale")
        p, u = q / (q - 1), run.u.weights
        assert u is not None
        given = getattr(run.progress.model, "groups", None)
        columns = u.shape[1] - 1
        marks = np.arange(columns) if given is None else np.unique(np.asarray(given), return_inverse=True)[1]
        member = sp.csr_matrix((np.ones(columns), (np.arange(columns), marks)))
        own = np.sqrt(np.r_[np.square(u[:, :-1]).sum(axis=0) @ member, np.square(u[:, -1]).sum()])
        X = run.X
        squared = X.multiply(X) if sp.issparse(X) else np.square(np.asarray(X, float))
        lengths = np.sqrt(
            np.asarray((squared @ member).todense() if sp.issparse(squared) else squared @ member)
        )
        lengths = np.c_[lengths, np.full(len(lengths), run.begun.bias)]
        squares = run.factor * length(lengths, q) ** 2
        price = float(length(own, p)) ** 2 / (2 * scale)
        return cls(price, scale / (p - 1), squares, f"g = |w|_(2,p)^2 / (2a), p = {p:.3g}")

    @classmethod
    def entropic(cls, run: Evidence) -> Norm:
        """B sum v/B ln(v/B) + B ln d on the simplex of size B, 1/B strongly convex in |.|_1.

        With signs the coordinates are doubled, u = v+ - v-, and what is left of B is spread evenly.
        """
        B, u = run.number("scale"), run.u.weights
        assert u is not None
        signed = run.words["space"] == "entropic"
        wants = f"|u|_1 <= radius = {B:.3g}" if signed else f"u >= 0, sum u = radius = {B:.3g}"
        if len(u) > 1:
            return cls(wants=wants, unmet="several outputs: one simplex for all of them")
        alive = u[0] if run.begun.bias else u[0, :-1]
        total = float(np.abs(alive).sum())
        if signed:
            unmet = f"|u|_1 is {total:.3g}" if total > B * (1 + 1e-9) else ""
            rest = max(B - total, 0.0) / (2 * len(alive))
            v = np.r_[np.maximum(alive, 0.0), np.maximum(-alive, 0.0)] + rest
        else:
            v, unmet = alive, ""
            if alive.min(initial=0.0) < 0 or abs(total - B) > 1e-9 * B:
                unmet = f"u has weights from {alive.min(initial=0.0):.3g}, and a sum of {alive.sum():.3g}"
        share = v[v > 0] / B
        price = B * float(share @ np.log(share)) + B * math.log(len(v))
        return cls(price, B, row_norms(run, math.inf) ** 2, wants, unmet)


def length(values: np.ndarray, p: float) -> np.ndarray:
    """|values|_p of the last axis, scaled against overflow."""
    values = np.abs(values)
    top = values.max(axis=-1, keepdims=True, initial=1e-300)
    if p == math.inf:
        return np.asarray(top[..., 0])
    return np.asarray(top[..., 0] * ((values / top) ** p).sum(axis=-1) ** (1 / p))


def row_norms(run: Evidence, p: float) -> np.ndarray:
    """|(x, s)|_p of every row."""
    X, bias = run.X, abs(run.begun.bias)
    if not sp.issparse(X):
        return length(np.c_[np.asarray(X, float), np.full(X.shape[0], bias)], p)
    top = np.maximum(np.asarray(abs(X).max(axis=1).todense(), float).ravel(), max(bias, 1e-300))
    if p == math.inf:
        return np.asarray(top)
    scaled = abs(sp.diags(1 / top) @ X).power(p)
    return np.asarray(top * (np.asarray(scaled.sum(axis=1)).ravel() + (bias / top) ** p) ** (1 / p))


# ---- F2, F3: regularisers that follow the data


def _adagrad(run: Evidence) -> Bound:
    """F2: R(u) <= sum_i (delta + s_i) u_i^2 / (2 eta) + eta sum_i s_i, s_i^2 the sum of squared slopes."""
    rate, delta, u = run.number("rate"), run.number("delta"), run.u.weights
    assert u is not None
    slopes = run.steps / rate
    largest = float((np.abs(slopes) * row_norms(run, math.inf)).max(initial=0.0))
    unmet = first(
        run.plain(), run.start(), run.whole, "the rate falls" if run.number("decay", 0.0) else "",
        "several outputs: coordinates have slopes of their own" if run.begun.outputs > 1 else "",
        f"a slope of {largest:.3g} is above delta = {delta:.3g}" if largest > delta * (1 + 1e-12) else "",
    )  # fmt: skip
    wants = f"delta = {delta:.3g} >= every slope of a coordinate"
    if unmet:
        return refused("F2", wants, unmet)
    X, weight = run.X, np.square(slopes)
    squared = X.multiply(X) if sp.issparse(X) else np.square(np.asarray(X, float))
    s = np.sqrt(np.r_[np.asarray(squared.T @ weight).ravel(), run.begun.bias**2 * weight.sum()])
    right = float(((delta + s) * np.square(u[0])).sum() / (2 * rate) + rate * s.sum())
    return Bound("F2", running(np.where(run.asked, run.losses - run.theirs, 0.0)), right, wants)


def _coin(run: Evidence) -> Bound:
    """F3: R(u) <= U sqrt(T ln(1 + 24 T^2 U^2 / epsilon^2)) + epsilon."""
    wealth, U2 = run.number("delta", 1.0), run.square
    largest = float((np.abs(run.steps) * np.sqrt(run.sizes)).max(initial=0.0))
    long = f"a gradient is {largest:.3g} long, above 1" if largest > 1 + 1e-9 else ""
    T = run.running("rounds", run.counted)
    right = np.sqrt(U2 * T * np.log1p(24 * T**2 * U2 / wealth**2)) + wealth
    left = run.running("regret", np.where(run.asked, run.losses - run.theirs, 0.0))
    return Bound(
        "F3", left, right, "every gradient within 1", first(run.plain(), run.start(), long), "regret"
    )


def _aggressive_norm(run: Evidence) -> Bound:
    """O1: M <= sum eta <= (UX sqrt(q) + sqrt(q U^2 X^2 + 4L))^2 / 4, X the longest z that moved, in |.|_q."""
    q, u = run.number("q"), run.u.weights
    assert u is not None
    p, moved = q / (q - 1), run.steps > 0
    farthest = float((run.factor ** (1 / q) * row_norms(run, q)[moved]).max(initial=0.0))
    reach = q * float(length(u.ravel(), p)) ** 2 * farthest**2
    right = perceptron_like(reach, run.running("paid by steps", run.steps * run.theirs))
    unmet = first(run.plain(), run.start(), run.whole)
    rank = last(perceptron_like(reach, run.theirs.sum()))
    return Bound("O1", running(run.steps), right, f"p = {p:.3g}", unmet, "sum of steps", rank)


# ---- Pegasos


def _pegasos(run: Evidence) -> Bound:
    """G1: sum f_t(w_t) - f_t(u) <= sum |gradient_t|^2 / (2 lam t), f_t the objective on batch t.

    With v = w - prior all follows from scores: v_{t+1} = (1 - 1/t) v_t + d_t / (lam t), d_t what batch t
    adds; |d_t|^2 of the rows, <v_t, d_t> of their scores.
    """
    lam, batch, ball = run.number("lam"), int(run.number("batch", 1)), run.number("radius", math.inf)
    prior = _prior(run)
    unmet = first(
        run.whole, run.plain(scores=True), "" if run.begun.clock == 0 else "it did not begin with round 1",
        "the intercept is free" if run.begun.numbers.get("free") else "",
        "one against all: the trace keeps the worst margin" if run.words["task"].startswith("one_vs") else "",
        "batches of several outputs" if batch > 1 and run.begun.outputs > 1 else "",
        "batches in a kernel's space" if batch > 1 and run.u.weights is None else "",
        "a budget of vectors" if run.words["space"] == "projection" else "",
        "several outputs with a prior" if prior is not None and run.begun.outputs > 1 else "",
    )  # fmt: skip
    wants = "any order" + ("" if ball == math.inf else "; u within the ball")
    if unmet:
        return refused("G1", wants, unmet)
    gap2 = run.square if prior is None else float(np.square(_weights(run) - prior).sum())
    if math.sqrt(gap2) > ball * (1 + 1e-9):
        return refused("G1", wants, f"|u - prior| = {math.sqrt(gap2):.3g} is beyond the ball of {ball:.3g}")
    T = int(run.counted.sum()) // batch
    seen = np.asarray(np.flatnonzero(run.counted)[: T * batch]).reshape(T, batch)
    if "path" not in run.kept:
        run.kept["path"] = _path(lam, ball, *_moves(run, seen, prior, batch))
    lengths, slopes = run.kept["path"]
    regret = lam / 2 * (lengths - gap2) + (run.losses - run.theirs)[seen].mean(axis=1)
    right = running(slopes / (2 * lam * np.arange(1, T + 1)))
    return Bound("G1", running(regret), right, wants, counts="regret of the objective")


def _path(lam: float, ball: float, added: np.ndarray, inner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|v_t|^2 and |gradient_t|^2 of every batch."""
    lengths, slopes, square = np.zeros(len(added)), np.zeros(len(added)), 0.0
    for t, (more, along) in enumerate(zip(added.tolist(), inner.tolist(), strict=True), 1):
        lengths[t - 1], slopes[t - 1] = square, lam * lam * square - 2 * lam * along + more
        keep = 1.0 - 1.0 / t
        square = keep * keep * square + 2 * keep * along / (lam * t) + more / (lam * t) ** 2
        square = min(max(square, 0.0), ball * ball)
    return lengths, slopes


def _weights(run: Evidence) -> np.ndarray:
    assert run.u.weights is not None
    return run.u.weights


def _prior(run: Evidence) -> np.ndarray | None:
    """Where it is regularised to: the weights before the first round."""
    return run.begun.weights


def _moves(
    run: Evidence, seen: np.ndarray, prior: np.ndarray | None, batch: int
) -> tuple[np.ndarray, np.ndarray]:
    """|d_t|^2 and <v_t, d_t> of every batch; d_t = sum of step times z."""
    steps = run.steps[seen]
    if run.begun.outputs > 1:
        margins = run.required - run.losses  # of rounds that moved; others have a step of 0
    else:
        margins = run.signs * run.scores[:, 0]
        if prior is not None:
            margins = margins - run.signs * (
                np.asarray(run.X @ prior[0, :-1]) + prior[0, -1] * run.begun.bias
            )
    inner = (steps * margins[seen]).sum(axis=1)
    if batch == 1:
        return np.square(steps[:, 0]) * run.sizes[seen[:, 0]], inner
    added = np.zeros(len(seen))
    for t, rows in enumerate(seen):
        pulls = run.steps[rows] * run.signs[rows]
        moved = np.asarray(run.X[rows].T @ pulls).ravel()
        added[t] = moved @ moved + (run.begun.bias * pulls.sum()) ** 2
    return added, inner


def _gap(run: Evidence) -> Bound:
    """G2: f(w) - f(u) <= f(w) - D(clip(a)) for every u, a_i = N / T times how often row i moved."""
    lam, N = run.number("lam"), int(run.counted.sum())
    batch = int(run.number("batch", 1))
    unmet = first(
        run.whole, run.plain(), run.start(), "several outputs" if run.begun.outputs > 1 else "",
        "the intercept is free" if run.begun.numbers.get("free") else "",
        "a kernel's space" if run.u.weights is None else "",
        "it is regularised towards a prior" if run.begun.weights is not None else "",
        "rows were projected" if run.number("radius", math.inf) < math.inf else "",
        "no row was seen" if not N else "",
    )  # fmt: skip
    wants = "two classes; f of all rows, D the dual of its own steps, clipped"
    if unmet:
        return refused("G2", wants, unmet)
    T = max(N // batch, 1)
    a = np.clip(run.steps * (N / T), 0.0, 1.0)
    pulls = a * run.signs
    v = np.r_[np.asarray(run.X.T @ pulls).ravel(), run.begun.bias * pulls.sum()] / (lam * N)
    dual = a.sum() / N - lam / 2 * float(v @ v)
    model = run.progress.model
    w = np.r_[model.coef_[0], model.intercept_[0] / run.begun.bias if run.begun.bias else 0.0]
    own = run.signs * (np.asarray(run.X @ w[:-1]) + w[-1] * run.begun.bias)
    reached = lam / 2 * float(w @ w) + np.maximum(0.0, run.required - own)[run.counted].mean()
    other = lam / 2 * run.square + run.theirs[run.counted].mean()
    return Bound("G2", float(reached - other), float(reached - dual), wants)
