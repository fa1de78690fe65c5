"""Bounds of learners that step where a margin is missed: P1, P2, A0 - A7, T1, B1.

Crammer et al. 2006 (A0 - A7; a margin m in place of 1 makes of a mistake a loss of at least m); Novikoff 1962
and Freund & Schapire 1999 (P1, P2); Herbster & Warmuth 2001 (T1); Kakade et al. 2008 (B1, derived anew).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .evidence import Bound, Evidence, first, last, perceptron_like, refused

AGGRESSIVE = ("pa", "pa1", "pa2")
FLAT = ("linear", "expansion")  # Spaces in which a step is a step along z
STEPPED = (*FLAT, "forgetful", "projection")  # and those that lose some of it
TWICE = "two constraints a round; the trace keeps one step"
UNIT = 1e-9


def margin_bounds(run: Evidence) -> Iterator[Bound]:
    """Those of the learner that was run, by its parts."""
    loss, step, space, task = (run.words[name] for name in ("loss", "step", "space", "task"))
    if task == "reward":
        yield _banditron(run)
    elif task == "enclose":
        yield _ball(run)
    elif loss == "mistake" and space in FLAT:
        yield from _perceptron(run)
    elif loss == "mistake" and space == "ball":
        yield _tracking(run)
    elif loss == "hinge" and _aggressiveness(step) and space in STEPPED:
        yield from _aggressive(run)


def _aggressiveness(step: str) -> str:
    """pa, pa1 or pa2, in whichever form."""
    bare = step.removeprefix("share_").removeprefix("both_")
    return bare if bare in AGGRESSIVE else ""


# ---- Perceptrons


def _perceptron(run: Evidence) -> Iterator[Bound]:
    erred, paid = run.running("erred", run.erred), run.running("paid on mistakes", run.theirs * run.erred)
    unmet = run.plain()
    reach = run.square * run.radius
    rank = last(perceptron_like(reach, run.running("paid", run.theirs)))
    right = perceptron_like(reach, paid)
    yield Bound("P1", erred, right, "from w = 0", first(unmet, run.start()), "mistakes", rank)
    yield _from_anywhere(run, erred, paid, unmet)


def _from_anywhere(run: Evidence, erred: np.ndarray, paid: np.ndarray, unmet: str) -> Bound:
    """P2: e (M - L) + <u, w_1> <= U sqrt(|w_1|^2 + e^2 R^2 M)."""
    step, began, u = run.number("rate", 1.0), run.begun.weights, run.u.weights
    length = inner = 0.0
    if not run.begun.empty:
        if began is None or u is None:
            unmet = unmet or "it began from support vectors, not from zero"
        else:
            length, inner = float(np.square(began).sum()), float((began * u).sum())
    right = math.sqrt(run.square) * np.sqrt(length + step**2 * run.radius * erred)
    return Bound("P2", step * (erred - paid) + inner, right, "any start", unmet)


def _tracking(run: Evidence) -> Bound:
    """T1, u not moving: M (1 - rate R^2 / 2) <= sum of losses over mistakes + U^2 / (2 rate)."""
    rate, ball = run.number("rate"), run.number("radius")
    far = math.sqrt(run.square) > ball * (1 + UNIT)
    unmet = first(
        run.plain(), run.start(), f"|u| = {math.sqrt(run.square):.3g} is beyond the ball" if far else "",
        "rate is not below 2 / R^2" if not rate * run.radius < 2 else "",
    )  # fmt: skip
    left = run.running("erred", run.erred) * (1 - rate * run.radius / 2)
    right = run.running("paid on mistakes", run.theirs * run.erred) + run.square / (2 * rate)
    wants = f"|u| <= radius = {ball:.3g}, rate below 2 / R^2, a u that stays"
    rank = last(run.running("paid", run.theirs)) + run.square / (2 * rate)
    return Bound("T1", left, right, wants, unmet, rank=rank)


# ---- Passive-Aggressive


def _aggressive(run: Evidence) -> Iterator[Bound]:
    step, space, task = _aggressiveness(run.words["step"]), run.words["space"], run.words["task"]
    losses, C, U2, R2 = run.losses, run.number("C"), run.square, run.radius
    if step != "pa" and C == math.inf:
        step = "pa"
    classes = run.progress.kind == "labels"
    costly = task.startswith("costly")
    if classes and not costly and task != "calibrated":
        yield _squares(run, "labels came late" if run.begun.late else "")
    theirs, unmet = own_losses(run)
    wants = "from w = 0; |z|^2 of the step's direction"  # of steps of any length: weights do it no harm
    if task in ("every", "calibrated"):
        yield _all_rivals(run, step) if task == "every" else refused("A1", wants, TWICE)
        return
    projects = "" if space in FLAT else "it forgets, or projects its steps"
    unmet = first(run.order(), projects, unmet, run.start())
    lemma = run.running("lemma", run.steps * (2 * losses - run.steps * run.sizes - 2 * theirs))
    yield Bound("A1", lemma, np.full(len(lemma), U2), wants, unmet)
    unmet = first(run.plain(), unmet)
    paid, squared = run.running("paid", theirs), run.running("paid squared", theirs**2)
    if step == "pa":
        yield from _hard(run, theirs, unmet)
    elif step == "pa1":
        if classes and not costly:
            asked = run.required
            none = "margin=0: a mistake may cost nothing" if asked == 0 else ""
            scale = max(R2 / asked**2, 1 / (C * asked)) if asked else math.nan
            yield Bound(
                "A4", run.running("erred", run.erred), scale * (U2 + 2 * C * paid), "classes; from w = 0",
                first(unmet, none), "mistakes",
            )  # fmt: skip
        least = np.minimum(losses**2 / R2, C * losses) if R2 else 0 * losses
        left = run.running("least", least)
        yield Bound("A5", left, U2 + 2 * C * paid, "from w = 0", unmet, "sum min(loss^2/R^2, C loss)")
    else:
        right = (R2 + 1 / (2 * C)) * (U2 + 2 * C * squared)
        yield Bound("A6", run.running("squares", losses**2), right, "from w = 0", unmet, "squared losses")


def _all_rivals(run: Evidence, step: str) -> Bound:
    """A1 where every violated class moves: z = sum_q a_q (x of y less x of q), and for the lemma

    sum_t 2 sum_q a_q (m - (s_y - s_q) - loss(u)) - |z|^2 <= U^2; the a_q follow from the scores.
    """
    wants = "from w = 0; every violated class moves"
    unmet = first(run.plain(scores=True), "" if run.words["space"] in FLAT else "it forgets", run.start())
    if unmet:
        return refused("A1", wants, unmet)
    codes, each = run.codes, np.arange(len(run.losses))
    short = run.required - run.scores[each, codes][:, None] + run.scores
    short[each, codes] = 0.0
    lengths = np.maximum(run.u.lengths, 1e-300)
    shares = shared_out(short / lengths[:, None], step, run.number("C"), lengths)
    shares[~run.asked] = 0.0
    total = shares.sum(axis=1)
    size = lengths * (total**2 + np.square(shares).sum(axis=1))
    left = run.running("lemma", 2 * (shares * short).sum(axis=1) - size - 2 * total * run.theirs)
    return Bound("A1", left, np.full(len(left), run.square), wants)


def shared_out(b: np.ndarray, step: str, C: float, lengths: np.ndarray) -> np.ndarray:
    """a_q = [b_q - level]_+ of every row: level = (1 + k) sum a_q, k = 1 / (2C |x|^2) for PA-II and else 0.

    PA-I: where they add up to more than C, the level at which they add up to C. (Crammer & Singer 2003.)
    """
    more = 1.0 + (0.5 / (C * lengths)[:, None] if step == "pa2" else 0.0)
    ranked = -np.sort(-np.maximum(b, 0.0), axis=1)
    sums, count = np.cumsum(ranked, axis=1), np.arange(1, b.shape[1] + 1)
    levels = more * sums / (1.0 + count * more)
    last_one = np.maximum((ranked > levels).sum(axis=1) - 1, 0)
    found = np.maximum(b - np.take_along_axis(levels, last_one[:, None], 1), 0.0)
    if step == "pa1":
        capped = found.sum(axis=1) > C
        levels = (sums - C) / count
        last_one = np.maximum((ranked > levels).sum(axis=1) - 1, 0)
        short = np.maximum(b - np.take_along_axis(levels, last_one[:, None], 1), 0.0)
        found[capped] = short[capped]
    return np.asarray(np.where(b > 0, found, 0.0))


def _squares(run: Evidence, unmet: str) -> Bound:
    """A0: a mistake costs at least the margin m: M <= sum loss^2 / m^2."""
    asked = run.required
    if asked == 0:
        return refused("A0", "classes", "margin=0: a mistake may cost nothing")
    left, right = run.running("erred", run.erred), run.running("squares", run.losses**2) / asked**2
    return Bound("A0", left, right, "classes", unmet, "mistakes")


def _hard(run: Evidence, theirs: np.ndarray, unmet: str) -> Iterator[Bound]:
    """PA without a cap: A2 where u has no loss at all, A3 where every |z| is 1."""
    left, worst = run.running("squares", run.losses**2), float(theirs.max(initial=0.0))
    seen = run.sizes[run.asked]
    unmet = first(unmet, run.whole)
    lossy = f"u has a loss of {worst:.3g} on {np.count_nonzero(theirs):,} rounds" if worst > 0 else ""
    right = np.full(len(left), run.square * run.radius)
    yield Bound("A2", left, right, "u makes no loss", first(unmet, lossy), "squared losses")
    far = np.abs(seen - 1.0).max(initial=0.0) > UNIT
    long = f"|z|^2 is {seen.min():.3g} to {seen.max():.3g}, not 1" if far else ""
    right = (math.sqrt(run.square) + 2 * np.sqrt(run.running("paid squared", theirs**2))) ** 2
    yield Bound("A3", left, right, "every |z| = 1", first(unmet, long), "squared losses")


def own_losses(run: Evidence) -> tuple[np.ndarray, str]:
    """u's losses; with costs, against the learner's own rival: [sqrt(cost) - <u_y - u_q, x>]_+."""
    task = run.words["task"]
    if not task.startswith("costly"):
        return run.theirs, ""
    if run.begun.judged:
        return run.theirs, "its scores are the average's"
    cost, codes, each = np.asarray(run.begun.numbers["cost"]), run.codes, np.arange(len(run.losses))
    if task.endswith("binary"):
        return np.maximum(0.0, cost[codes, 1 - codes] - run.signs * run.u.scores[:, 0]), ""
    if task == "costly":
        worth = run.scores + cost[codes]
        worth[each, codes] = np.nextafter(worth[each, codes], math.inf)  # (a tie is no rival)
        rivals = worth.argmax(axis=1)
    else:
        rivals = run.scores.argmax(axis=1)
    gaps = run.u.scores[each, codes] - run.u.scores[each, rivals]
    return np.where(run.asked, np.maximum(0.0, cost[codes, rivals] - gaps), 0.0), ""


# ---- balls, actions


def _ball(run: Evidence) -> Bound:
    """A7: sum step (2 loss - step - 2 loss(u)) <= |u - w_1|^2."""
    u, began = run.u.weights, run.begun.weights
    unmet = first("it grew" if run.begun.grew else "", "labels came late" if run.begun.late else "")
    if u is not None:
        right = float(np.square(u - (0.0 if began is None else began)).sum())
    else:
        learned = getattr(run.progress.model, "max_radius", None) is not None
        unmet = first(unmet, run.start(), "a radius that is learned, in a kernel's space" if learned else "")
        right = run.square
    left = run.running("lemma", run.steps * (2 * run.losses - run.steps - 2 * run.theirs))
    return Bound("A7", left, np.full(len(left), right), "a ball", unmet)


def _banditron(run: Evidence) -> Bound:
    """B1: E M <= gamma T + L + B/2 + sqrt(B^2/4 + B L + 2 gamma T D), D = |u|^2, B = D (K / gamma + 1)."""
    gamma, K, D = run.number("epsilon"), run.begun.outputs, run.square
    longest = math.sqrt(float(run.u.lengths.max(initial=0.0)))
    unmet = first(
        run.plain(), run.start(),
        f"the longest row is {longest:.3g}, not within 1" if longest > 1 + UNIT else "",
        f"gamma={gamma:g} is above 1/2" if gamma > 0.5 else "",
    )  # fmt: skip
    T, L = run.running("rounds", run.counted), run.running("paid", run.theirs)
    wrong = np.asarray(run.progress.predictions) != np.asarray(run.y)
    B = D * (K / gamma + 1)
    right = gamma * T + L + B / 2 + np.sqrt(B * B / 4 + B * L + 2 * gamma * T * D)
    wants = "in expectation over its draws; |x| <= 1, gamma <= 1/2"
    return Bound("B1", run.running("wrong", wrong & run.counted), right, wants, unmet, "mistakes")
