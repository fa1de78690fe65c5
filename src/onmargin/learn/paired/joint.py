"""The solvers of a paired round: joint Passive-Aggressive steps, from inner products.

min 1/2 |w - w_t|^2 + C sum_j c_j slack_j  s.t.  <w, z_j> >= margin - slack_j, slack_j >= 0; z_j = y_j x_j.
Its dual is D(a) = sum_j a_j (margin - <w_t, z_j>) - 1/2 |sum_j a_j z_j|^2 over 0 <= a_j <= c_j C, and
w = w_t + sum_j a_j z_j; a_j = c_j alpha_j. (The draft has + for the quadratic term, and no slack_j >= 0.)

Everything is inner products: `gram[i, j]` = <z_i, z_j>, `margins[j]` = <w, z_j> of the w reached so far, so
weights and kernels share these rules. A rule moves `margins` and `alphas` on. A loss of at most `grain` is
rounding: a step without a cap leaves margins of exactly 1, and who is in J must not hang on the last digit.
"""

from __future__ import annotations

import math

from ...compiled.parts import part, routine
from ..steps import solve_pair

ENOUGH, SWEEPS = 1e-8, 1000  # duality gap at which the exact rule stops; sweeps it makes at most
NOTHING = 1e-13  # |d|^2 beside (sum of lengths)^2
ROUNDED, ROUNDED_COARSELY = 1e-10, 1e-5  # losses that are rounding, in float64 and in float32


@routine
def joint(gram, margins, weights, alphas, chosen, C, asked):
    """One step on J = {j: chosen[j]}: with d = sum_J c_j z_j,

    tau = clip((asked - <w, d>) / |d|^2, -min_J alpha, C - max_J alpha), alpha_J += tau; returns tau. What is
    asked is sum_J c_j margin, or the gap between the scores of a pair.
    """
    low, high, inner, length, reach = math.inf, -math.inf, 0.0, 0.0, 0.0
    for i in range(chosen.shape[0]):
        if chosen[i]:
            low, high = min(low, alphas[i]), max(high, alphas[i])
            inner += weights[i] * margins[i]
            reach += weights[i] * math.sqrt(max(gram[i, i], 0.0))
            for j in range(chosen.shape[0]):
                if chosen[j]:
                    length += weights[i] * weights[j] * gram[i, j]
    if length <= NOTHING * reach * reach:  # d = 0 but for rounding
        return 0.0
    tau = max(-low, min(C - high, (asked - inner) / length))
    for j in range(chosen.shape[0]):
        if chosen[j]:
            alphas[j] += tau
            for i in range(chosen.shape[0]):
                margins[i] += tau * weights[j] * gram[i, j]
    return tau


@part
def only(chosen, j):
    """J = {j}"""
    for i in range(chosen.shape[0]):
        chosen[i] = i == j


@part
def violators(margins, chosen, margin, grain):
    """J = the samples whose loss is above 0; how many."""
    count = 0
    for j in range(chosen.shape[0]):
        chosen[j] = margins[j] < margin - grain
        count += chosen[j]
    return count


@part
def demanded(weights, chosen, margin):
    """sum_J c_j margin"""
    total = 0.0
    for j in range(chosen.shape[0]):
        if chosen[j]:
            total += weights[j] * margin
    return total


@routine
def sequential(gram, margins, positive, weights, alphas, chosen, C, margin, grain):
    """One step per sample, in the order given: PA-I on each."""
    for j in range(chosen.shape[0]):
        only(chosen, j)
        joint(gram, margins, weights, alphas, chosen, C, weights[j] * margin)


@routine
def correct_mistakes(gram, margins, positive, weights, alphas, chosen, C, margin, grain):
    """One joint step on all samples whose loss is above 0."""
    if violators(margins, chosen, margin, grain):
        joint(gram, margins, weights, alphas, chosen, C, demanded(weights, chosen, margin))


@routine
def max_violators(gram, margins, positive, weights, alphas, chosen, C, margin, grain):
    """One joint step on the worst positive and the worst negative, each only if its loss is above 0."""
    best = worst = -1
    for j in range(chosen.shape[0]):
        chosen[j] = False
        if margins[j] < margin - grain and positive[j] and (best < 0 or margins[j] < margins[best]):
            best = j
        if margins[j] < margin - grain and not positive[j] and (worst < 0 or margins[j] < margins[worst]):
            worst = j
    if best >= 0:
        chosen[best] = True
    if worst >= 0:
        chosen[worst] = True
    if best >= 0 or worst >= 0:
        joint(gram, margins, weights, alphas, chosen, C, demanded(weights, chosen, margin))


@routine
def auc(gram, margins, positive, weights, alphas, chosen, C, margin, grain):
    """One joint step on all samples, the classes' mean scores being wanted `margin` apart.

    With a margin of 2 it is the step J = {+, -}; with 1, Keshet et al.'s. A round of one class is skipped.
    """
    total, sides = 0.0, 0
    for j in range(chosen.shape[0]):
        chosen[j] = True
        total += weights[j]
        sides |= 1 if positive[j] else 2
    if sides == 3:
        joint(gram, margins, weights, alphas, chosen, C, 0.5 * total * margin)


@part
def gap_left(margins, weights, alphas, C, margin):
    """P - D = sum_j (c_j C - a_j) [margin - mu_j]_+ + a_j [mu_j - margin]_+; hard margin: the worst part."""
    total = worst = 0.0
    for j in range(margins.shape[0]):
        short, beyond = max(margin - margins[j], 0.0), max(margins[j] - margin, 0.0)
        a = weights[j] * alphas[j]
        worst = max(worst, short, a * beyond)
        if C < math.inf:
            total += (weights[j] * C - a) * short + a * beyond
    return total if C < math.inf else worst


@routine
def dca(gram, margins, positive, weights, alphas, chosen, C, margin, grain):
    """The exact solution: two samples in closed form, more by single steps until the gap is closed."""
    if chosen.shape[0] == 2 and alphas[0] == 0.0 and alphas[1] == 0.0:
        first, second = solve_pair(
            margin - margins[0], margin - margins[1], gram[0, 0], gram[1, 1], gram[0, 1], weights[0] * C,
            weights[1] * C,
        )  # fmt: skip
        alphas[0] = first / weights[0] if weights[0] > 0.0 else 0.0
        alphas[1] = second / weights[1] if weights[1] > 0.0 else 0.0
        for i in range(2):
            margins[i] += first * gram[i, 0] + second * gram[i, 1]
        return
    for _ in range(SWEEPS):
        for j in range(chosen.shape[0]):
            if gram[j, j] > 0.0 and weights[j] > 0.0:
                a = weights[j] * alphas[j]
                new = min(max(a + (margin - margins[j]) / gram[j, j], 0.0), weights[j] * C)
                alphas[j] = new / weights[j]
                for i in range(chosen.shape[0]):
                    margins[i] += (new - a) * gram[i, j]
        scale = max(1.0, C) if C < math.inf else 1.0
        if gap_left(margins, weights, alphas, C, margin) <= ENOUGH * scale:
            return
