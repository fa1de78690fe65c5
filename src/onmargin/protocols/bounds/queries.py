"""Bounds of learners that ask for labels: L1 - L4 (selective sampling), Q1, Q2 (BBQ).

Cesa-Bianchi, Gentile & Zaniboni 2006 (Perceptron); Lu, Zhao & Hoi 2016 (Passive-Aggressive); Orabona &
Cesa-Bianchi 2011 (BBQ). L1 - L3 hold for any outcome of the coins, L4 in expectation, Q2 with probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from ...learn.queries import POLYNOMIAL, RULES
from .evidence import Bound, Evidence, first, refused, running
from .margins import AGGRESSIVE, FLAT


def query_bounds(run: Evidence, rule: Mapping[str, float], given: bool) -> Iterator[Bound]:
    """Those of the rule; `given`: u is the user's, and may be the true one."""
    if rule["ask_rule"] < 0:
        yield _queries(run, rule)
        yield _estimates(run, rule, given)
        return
    loss, step = run.words["loss"], run.words["step"]
    delta = float(rule["ask_delta"])
    if run.words["space"] not in FLAT or run.begun.outputs > 1:
        return
    if loss == "mistake":
        yield _perceptron(run, delta)
        yield _expected(run, rule, "perceptron")
    elif loss == "hinge" and step in AGGRESSIVE:
        yield _aggressive(run, step, delta)
        yield _expected(run, rule, step)


def _margins(run: Evidence) -> np.ndarray:
    return np.asarray(run.signs * run.scores[:, 0])


def _perceptron(run: Evidence, delta: float) -> Bound:
    """L1: sum over updates of (delta + |p|) <= a^2 U^2 / 2 + a sum loss(u), a = delta + R^2 / 2."""
    moved = run.asked & (_margins(run) <= 0)
    a = delta + run.radius / 2
    left = running(np.where(moved, delta + np.abs(run.scores[:, 0]), 0.0))
    right = a * a / 2 * run.square + a * running(run.theirs * moved)
    wants = "whatever the coins; rate = 1"
    rate = run.number("rate", 1.0)
    unmet = first(run.plain(scores=True), run.start(), f"rate={rate:g}" if rate != 1.0 else "")
    return Bound("L1", left, right, wants, unmet)


def _aggressive(run: Evidence, step: str, delta: float) -> Bound:
    """L2: sum step (delta - m) <= a^2 U^2 + 2a sum step loss(u), a = (delta + 1) / 2.

    L3, of PA-II: a^2 (U^2 + 2C sum loss(u)^2).
    """
    a, C = (delta + 1) / 2, run.number("C")
    moved = run.steps > 0
    left = running(np.where(moved, run.steps * (delta - _margins(run)), 0.0))
    unmet = _of_the_family(run, delta)
    if step == "pa2" and C < math.inf:
        right = a * a * (run.square + 2 * C * running(np.where(moved, run.theirs, 0.0) ** 2))
        return Bound("L3", left, right, "whatever the coins; delta >= 1", unmet)
    right = a * a * run.square + 2 * a * running(run.steps * run.theirs)
    return Bound("L2", left, right, "whatever the coins; delta >= 1", unmet)


def _of_the_family(run: Evidence, delta: float) -> str:
    asked = run.required
    return first(
        run.plain(scores=True), run.start(), f"margin={asked:g}, not 1" if asked != 1.0 else "",
        f"delta={delta:g} is below 1" if delta < 1 else "",
    )  # fmt: skip


def _expected(run: Evidence, rule: Mapping[str, float], family: str) -> Bound:
    """L4: mistakes of all rounds, asked for or not, over the coins."""
    delta, R2, U2, C = float(rule["ask_delta"]), run.radius, run.square, run.number("C", math.inf)
    name = RULES[int(rule["ask_rule"])]
    limited = rule["ask_most"] < math.inf or rule["ask_share"] > 0
    lone = np.where(run.steps > 0, run.theirs, 0.0)
    paid, squared = running(lone), running(lone**2)
    unmet = first(
        run.plain(scores=True) if family == "perceptron" else _of_the_family(run, delta), run.start(),
        f"rule={name!r}" if name != "bernoulli" else "", "a budget or a target rate" if limited else "",
        "delta is 0" if delta <= 0 else "",
        "labels are missing" if not run.counted.all() else "",
    )  # fmt: skip
    if family == "pa1" and C == math.inf:
        family = "pa"
    lossy = np.count_nonzero(run.theirs[run.steps > 0])
    if family == "pa" and lossy:
        unmet = first(unmet, f"u has a loss on {lossy:,} updates")
    wants = "in expectation over the coins; rule='bernoulli'" + (
        "" if family == "perceptron" else ", delta >= 1"
    )
    if unmet:
        return refused("L4", wants, unmet)
    right = {
        "perceptron": lambda: (2 * delta + R2) ** 2 / (8 * delta) * U2 + (1 + R2 / (2 * delta)) * paid,
        "pa": lambda: R2 * (delta + 1) ** 2 / (4 * delta) * U2 + 0 * paid,
        "pa1": lambda: max(1 / C, R2) / delta * ((delta + 1) ** 2 / 4 * U2 + (delta + 1) * C * paid),
        "pa2": lambda: (R2 + 1 / (2 * C)) / delta * (delta + 1) ** 2 / 4 * (U2 + 2 * C * squared),
    }[family]()
    return Bound("L4", running(run.counted & (_margins(run) <= 0)), right, wants, counts="mistakes")


# ---- BBQ


def _long(run: Evidence) -> str:
    longest = math.sqrt(float(run.u.lengths.max(initial=0.0)))
    return f"the longest row is {longest:.3g}, above 1" if longest > 1 + 1e-6 else ""


def _by_kappa(rule: Mapping[str, float]) -> str:
    return "kappa= asks by another rule" if rule["ask_rule"] == POLYNOMIAL else ""


def _queries(run: Evidence, rule: Mapping[str, float]) -> Bound:
    """Q1: N <= d (2 + sqrt(2 ln(2T (T+1) / delta)))^2 / epsilon^2 ln(1 + N / d)."""
    epsilon, delta = run.number("epsilon"), float(rule["ask_delta"])
    unmet = first(
        _by_kappa(rule), run.start(), "rows have weights" if run.begun.weighted else "", _long(run),
        "a kernel's space has no number of columns" if run.u.weights is None else "",
    )  # fmt: skip
    wants = "|x| <= 1, whatever the labels"
    if unmet or run.u.weights is None:
        return refused("Q1", wants, unmet)
    d = run.u.weights.shape[1] - (run.begun.bias == 0)
    N, T = running(run.asked), np.maximum(running(run.counted | run.asked), 1.0)
    right = d * (2 + np.sqrt(2 * np.log(2 * T * (T + 1) / delta))) ** 2 / epsilon**2 * np.log1p(N / d)
    return Bound("Q1", N, right, wants, counts="labels asked for")


def _estimates(run: Evidence, rule: Mapping[str, float], given: bool) -> Bound:
    """Q2: with probability 1 - delta every estimate that was not asked about is within epsilon of <u, x>."""
    epsilon, delta = run.number("epsilon"), float(rule["ask_delta"])
    wants = f"with probability {1 - delta:.3g}, if u is the true one: E y = <u, x>, |u| <= 1"
    U = math.sqrt(run.square)
    unmet = first(
        "" if given else "u is not the true one; give it", _by_kappa(rule), run.plain(scores=True),
        _long(run),
        f"|u| = {U:.3g} is above 1" if U > 1 + 1e-9 else "",
    )  # fmt: skip
    if unmet:
        return refused("Q2", wants, unmet)
    gaps = np.where(run.asked, 0.0, np.abs(run.scores[:, 0] - run.u.scores[:, 0]))
    left = np.maximum.accumulate(gaps) if len(gaps) else gaps
    return Bound("Q2", left, np.full(len(left), epsilon), wants)
