"""How far do we move? step(margin, loss, slope, size, pull, now, hyper) -> step

`size` is |z|^2, z being the direction the round demands, as the Space measures it. A step may
rewrite `pull`.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.outputs import squared
from ..compiled.parts import part


@part
def unit(margin, loss, slope, size, pull, now, hyper):
    """A gradient step of fixed rate (times the example's weight): eta slope.

    With the mistake loss it is the Perceptron's, e = 2 rho. Rosenblatt 1958.
    """
    return now.weight * hyper.rate * slope


@part
def whole(margin, loss, slope, size, pull, now, hyper):
    """The loss itself: the Space makes a step of it (Projectron++)."""
    return loss


@part
def sqrt(margin, loss, slope, size, pull, now, hyper):
    """A gradient step whose rate falls as 1 / sqrt(t)."""
    return now.weight * hyper.rate * slope / math.sqrt(now.clock)


@part
def pa(margin, loss, slope, size, pull, now, hyper):
    """PA: move just far enough to meet the demand.

    step = loss / |z|^2   solves   min_w 1/2 |w - w_t|^2   s.t.  loss(w) = 0.
    Crammer et al. 2006, Figure 1. Losses that bend are met where their tangent is 0: with the
    gradient slope z, eta = loss / |slope z|^2, and what is returned is eta slope.
    """
    return loss / (slope * size)


@part
def pa1(margin, loss, slope, size, pull, now, hyper):
    """PA-I: as PA, but never further than C (times the example's weight).

    step = min(C, loss / |z|^2)   solves   min_w 1/2 |w - w_t|^2 + C slack   s.t.  loss(w) <= slack.
    Crammer et al. 2006, Figure 1.
    """
    return slope * min(now.weight * hyper.C, loss / (slope * slope * size))


@part
def pa2(margin, loss, slope, size, pull, now, hyper):
    """PA-II: the slack is paid squared.

    step = loss / (|z|^2 + 1/(2C))   solves   min_w 1/2 |w - w_t|^2 + C slack^2   s.t. the same.
    Crammer et al. 2006, Figure 1. In a confidence Space with C = 1/(2r) this is AROW.
    """
    return slope * loss / (slope * slope * size + 0.5 / (now.weight * hyper.C))


@part
def aggressive(margin, loss, slope, size, pull, now, hyper):
    """The aggressive p-norm step: [min(1 - 2 m / |z|^2, 1)]_+, times the example's weight.

    With the Space's a = 1/q the number of mistakes is bounded (certificate O1). Also OM-2's step.
    (A public program omits the 2, and with it the proof.)
    """
    return now.weight * max(min(1.0 - 2.0 * margin / size, 1.0), 0.0)


@part
def level(pull, kappa):
    """The level a with a = (1 + kappa) sum_q [b_q - a]_+, found by dropping those below it."""
    low = 0.0
    while True:
        total = 0.0
        count = 0
        for k in range(pull.shape[0]):
            if -pull[k] > low:
                total -= pull[k]
                count += 1
        above = (1.0 + kappa) * total / (1.0 + count * (1.0 + kappa))
        if not above > low:
            return low
        low = above


@part
def simplex_level(pull, budget):
    """The level nu with sum_q [b_q - nu]_+ = budget, found by dropping those below it."""
    low = 0.0
    while True:
        total = 0.0
        count = 0
        for k in range(pull.shape[0]):
            if -pull[k] > low:
                total -= pull[k]
                count += 1
        above = (total - budget) / count
        if not above > low:
            return low
        low = above


@part
def share_out(size, pull, kappa_times_length, cap):
    """Coefficients of the all-constraint step; pull holds minus each violation (Task `every`).

    With b_q = violation_q / |x|^2: alpha_q = [b_q - a]_+ where a = (1 + kappa) sum_q alpha_q;
    if their sum exceeds the cap, [b_q - nu]_+ with sum equal to the cap. Then w_y += sum alpha x,
    w_q -= alpha_q x: the step is the sum, pull the shares.
    """
    length = size / squared(pull)
    low = level(pull, kappa_times_length / length)
    total = 0.0
    for k in range(pull.shape[0]):
        total += max(-pull[k] - low, 0.0)
    if total > cap * length:
        low = simplex_level(pull, cap * length)
    total = 0.0
    true = 0
    for k in range(pull.shape[0]):
        true = k if pull[k] > 0.0 else true
        pull[k] = -max(-pull[k] - low, 0.0) / length
        total -= pull[k]
    if total > 0.0:
        for k in range(pull.shape[0]):
            pull[k] /= total
        pull[true] = 1.0
    return total


@part
def share_pa(margin, loss, slope, size, pull, now, hyper):
    """All constraints, hard: min 1/2 |W - W_t|^2 s.t. s_y - s_q >= margin for all q."""
    return share_out(size, pull, 0.0, np.inf)


@part
def share_pa1(margin, loss, slope, size, pull, now, hyper):
    """All constraints with one slack paid C: the MIRA form. Crammer & Singer 2003."""
    return share_out(size, pull, 0.0, now.weight * hyper.C)


@part
def share_pa2(margin, loss, slope, size, pull, now, hyper):
    """All constraints with one slack paid C slack^2: kappa = 1 / (2 C |x|^2)."""
    return share_out(size, pull, 0.5 / (now.weight * hyper.C), np.inf)


@part
def solve_pair(first, second, size_one, size_two, cross, top, right):
    """max a.v - 1/2 a'Ga over 0 <= a <= (top, right), v = (first, second).

    G has `size_one` and `size_two` on its diagonal, `cross` beside it. The free solution, or the best of
    the points on the four edges.
    """
    determinant = size_one * size_two - cross * cross
    if determinant > 1e-12 * size_one * size_two:
        one = (size_two * first - cross * second) / determinant
        two = (size_one * second - cross * first) / determinant
        if 0.0 <= one <= top and 0.0 <= two <= right:
            return one, two
    best = best_one = best_two = 0.0
    for edge in range(4):  # one coefficient at an end of its range, the other free
        one = two = 0.0
        if edge % 2 == 0:
            one = 0.0 if edge == 0 else top
            if size_two > 0.0 and one < np.inf:
                two = min(max((second - cross * one) / size_two, 0.0), right)
        else:
            two = 0.0 if edge == 1 else right
            if size_one > 0.0 and two < np.inf:
                one = min(max((first - cross * two) / size_one, 0.0), top)
        if one < np.inf and two < np.inf:
            reached = one * first + two * second
            reached -= 0.5 * (size_one * one * one + size_two * two * two + 2.0 * cross * one * two)
            if reached > best:
                best, best_one, best_two = reached, one, two
    return best_one, best_two


@part
def pull_both(size, pull, ridge, cap):
    """The two coefficients of Task `calibrated`; z = Phi_r - Phi_0 and Phi_0 - Phi_q."""
    norm = 0.0
    code = 0.0
    dummy = 0
    for k in range(pull.shape[0]):
        norm += pull[k] * pull[k]
        if pull[k] != 0.0:
            dummy, code = k, pull[k]
    length = size / norm
    pair = int(code - 1.0)
    low, high = pair // dummy, pair % dummy
    each = 2.0 * length + ridge
    one, two = solve_pair(pull[low], pull[high], each, each, -length, cap, cap)
    total = one + two
    if total > 0.0:
        pull[low], pull[high], pull[dummy] = one / total, -two / total, (two - one) / total
    return total


@part
def both_pa(margin, loss, slope, size, pull, now, hyper):
    """Calibrated label sets, hard constraints."""
    return pull_both(size, pull, 0.0, np.inf)


@part
def both_pa1(margin, loss, slope, size, pull, now, hyper):
    """Calibrated label sets, each slack paid C."""
    return pull_both(size, pull, 0.0, now.weight * hyper.C)


@part
def both_pa2(margin, loss, slope, size, pull, now, hyper):
    """Calibrated label sets, each slack paid C slack^2."""
    return pull_both(size, pull, 0.5 / (now.weight * hyper.C), np.inf)


@part
def cw(margin, loss, slope, size, pull, now, hyper):
    """Confidence-weighted: the smallest change in distribution with Pr[margin >= 0] >= confidence.

    alpha = max(0, (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta)),
    psi = 1 + phi^2 / 2, zeta = 1 + phi^2; only if phi sqrt(v) > m. Crammer et al. 2009.
    """
    phi2 = hyper.phi * hyper.phi
    if hyper.phi * math.sqrt(size) <= margin:
        return 0.0
    psi, zeta = 1.0 + 0.5 * phi2, 1.0 + phi2
    root = math.sqrt(0.25 * margin * margin * phi2 * phi2 + size * phi2 * zeta)
    return max(0.0, (root - margin * psi) / (size * zeta))


@part
def scw1(margin, loss, slope, size, pull, now, hyper):
    """SCW-I: as CW, but never further than C (times the weight). Wang, Zhao & Hoi 2012."""
    return min(now.weight * hyper.C, cw(margin, loss, slope, size, pull, now, hyper))


@part
def scw2(margin, loss, slope, size, pull, now, hyper):
    """SCW-II: the slack is paid squared. Wang, Zhao & Hoi 2012.

    n = v + 1/(2C); alpha = max(0, (-(2mn + phi^2 m v) + phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2)))
    / (2 (n^2 + n v phi^2))). (A widely copied program has 2v and 2 phi for v^2 and phi^2.)
    """
    phi2 = hyper.phi * hyper.phi
    if hyper.phi * math.sqrt(size) <= margin:
        return 0.0
    n = size + 0.5 / (now.weight * hyper.C)
    inner = phi2 * margin * margin * size * size + 4.0 * n * size * (n + size * phi2)
    above = hyper.phi * math.sqrt(inner) - (2.0 * margin * n + phi2 * margin * size)
    return max(0.0, above / (2.0 * (n * n + n * size * phi2)))
