"""Tasks whose target is a class: +1 or -1 for one output, a class number for several."""

from __future__ import annotations

import numpy as np

from ...compiled.parts import part


@part
def sign(scores, now, hyper):
    """The emitted label; a score of exactly 0 is the positive class."""
    return 1.0 if scores[0] >= 0.0 else -1.0


@part
def highest(scores, now, hyper):
    """argmax of the scores; ties go to the lowest class."""
    best, most = 0, scores[0]  # (two registers: what is compared next does not wait for memory)
    for k in range(1, hyper.outputs):
        higher = scores[k] > most
        best = k if higher else best
        most = scores[k] if higher else most
    return float(best)


@part
def differs(scores, target, guess, hyper):
    """The emitted label is not the true one."""
    return guess != target


@part
def clear(pull):
    """No output is pulled."""
    for k in range(pull.shape[0]):
        pull[k] = 0.0


@part
def rival(scores, true, hyper):
    """The best-scoring class but `true`; ties go to the lowest.

    Sought in two halves at once: whether to move waits for it, and each comparison for the one before.
    """
    best = 0 if true != 0 else 1
    most = scores[best]
    late, more = best, most
    half = (hyper.outputs + 1) >> 1
    rest = hyper.outputs - half  # (of an odd number the middle one is in both)
    for k in range(half):
        higher = (k != true) & (scores[k] > most)
        best = k if higher else best
        most = scores[k] if higher else most
        higher = (rest + k != true) & (scores[rest + k] > more)
        late = rest + k if higher else late
        more = scores[rest + k] if higher else more
    return late if more > most else best


@part
def against(scores, true, other, pull):
    """Raise `true`, lower `other`; the margin between them."""
    for k in range(pull.shape[0]):  # (eights at a time, and read again as such)
        pull[k] = 1.0 if k == true else (-1.0 if k == other else 0.0)
    return scores[true] - scores[other]


@part
def binary(scores, target, guess, hyper, pull):
    """One row for two classes: margin y s."""
    pull[0] = target
    return target * scores[0], hyper.margin


@part
def top(scores, target, guess, hyper, pull):
    """The true class against its best rival: margin s_y - max_{q != y} s_q."""
    true = int(target)
    return against(scores, true, rival(scores, true, hyper), pull), hyper.margin


@part
def uniform(scores, target, guess, hyper, pull):
    """The true class against all that score at least as high, in equal shares (Perceptron)."""
    true = int(target)
    best = rival(scores, true, hyper)
    clear(pull)
    above = 0
    for k in range(hyper.outputs):
        above += k != true and scores[k] >= scores[true]
    for k in range(hyper.outputs):
        if k != true and scores[k] >= scores[true]:
            pull[k] = -1.0 / above
    pull[true] = 1.0
    return scores[true] - scores[best], hyper.margin


@part
def every(scores, target, guess, hyper, pull):
    """All rivals at once (MIRA): pull[q] = minus its violation, pull[y] = their sum.

    The violation of q is margin - (s_y - s_q) where positive; a `share` step turns these into
    coefficients.
    """
    true = int(target)
    best = rival(scores, true, hyper)
    clear(pull)
    total = 0.0
    for k in range(hyper.outputs):
        violation = hyper.margin - scores[true] + scores[k]
        if k != true and violation > 0.0:
            pull[k] = -violation
            total += violation
    pull[true] = total
    return scores[true] - scores[best], hyper.margin


@part
def apart(scores, target, guess, hyper, pull):
    """One against all: every output that is on the wrong side (or on 0) is pulled by its own sign.

    The margin is the smallest of y_k s_k.
    """
    clear(pull)
    true = int(target)
    least = np.inf
    for k in range(hyper.outputs):
        side = 1.0 if k == true else -1.0
        least = min(least, side * scores[k])
        if side * scores[k] <= 0.0:
            pull[k] = side
    return least, hyper.margin


@part
def one_vs_all(scores, target, guess, hyper, pull):
    """One against all with a margin: every output short of it is pulled by its own sign.

    The margin is the smallest of y_k s_k.
    """
    clear(pull)
    true = int(target)
    least = np.inf
    for k in range(hyper.outputs):
        side = 1.0 if k == true else -1.0
        least = min(least, side * scores[k])
        if side * scores[k] < hyper.margin:
            pull[k] = side
    return least, hyper.margin
