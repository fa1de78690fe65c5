"""One paired round by itself: several examples, one joint step."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ..compiled.parts import plain, specialise
from ..errors import BadInput, require_whole, shown
from ..features.matrices import canonical
from ..learn.paired.joint import ENOUGH, ROUNDED, SWEEPS, gap_left, joint
from ..learn.paired.rules import RULES as ALL_RULES

RULES = ("dca", "sequential", "auc", "max_violators", "correct_mistakes")


def paired_round(
    w: Any, X: Any, y: Any, rule: Any = "correct_mistakes", C: float = 1.0, weights: Any = None,
    margin: float | None = None, sweeps: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The weights after one paired Passive-Aggressive round on the rows of X, and the dual alpha.

    min 1/2 |w' - w|^2 + C sum_j c_j slack_j  s.t.  y_j <w', x_j> >= margin - slack_j, slack_j >= 0, solved by
    `rule`: "dca" (exactly), "sequential" (one sample after the other), "correct_mistakes" (one joint step on
    all whose loss is above 0), "max_violators" (on the worst of each class), "auc" (on one pair, whose scores
    are to lie `margin` apart), or a list of index sets: one joint step on each, in turn.
    w' = w + sum_j c_j alpha_j y_j x_j with 0 <= alpha_j <= C.

    y : labels of two kinds; the larger is positive.
    weights : c_j, above 0; 1 where not given.
    margin : None is 1, and 2 for "auc" (1 is Keshet et al.'s form).
    sweeps : how often the rule (or the list) is gone over; None: once. "dca" goes on until its duality gap is
        closed, or 1000 times; then it says how large the gap is.

    Reference: Keshet et al. (draft); Crammer et al. 2006.

    >>> import numpy as np
    >>> X, y = np.array([[2.0, 0.0], [1.0, 1.0]]), [1, -1]
    >>> for rule in ("sequential", "auc", "dca"):
    ...     print(rule, *(part.tolist() for part in paired_round(np.zeros(2), X, y, rule, C=10.0)))
    sequential [-0.25, -0.75] [0.25, 0.75]
    auc [1.0, -1.0] [1.0, 1.0]
    dca [0.5, -1.5] [1.0, 1.5]
    """
    table = canonical(X).toarray() if sp.issparse(X) else np.atleast_2d(np.asarray(X, float))
    start = np.asarray(w, float).ravel()
    signs = _signs(y, len(table))
    if start.shape != (table.shape[1],):
        raise BadInput(f"w has {len(start)} numbers and X {table.shape[1]} columns; wanted as many")
    if not np.isfinite(table).all() or not np.isfinite(start).all():
        raise BadInput("w or X holds NaN or infinity; wanted finite numbers")
    each = _weights(weights, len(table))
    if not C > 0:
        raise BadInput(f"C={shown(C)}; wanted a number above 0 (inf allowed)")
    asked = (2.0 if rule == "auc" else 1.0) if margin is None else float(margin)
    if sweeps is not None:
        require_whole("sweeps", sweeps)
    z = signs[:, None] * table
    gram, margins, alphas = z @ z.T, z @ start, np.zeros(len(table))
    for _ in range(sweeps or 1):
        _go_over(rule, gram, margins, signs > 0, each, alphas, float(C), asked)
    if rule == "dca":
        left = float(plain(gap_left)(margins, each, alphas, float(C), asked))
        if left > 2 * ENOUGH * (max(1.0, C) if C < math.inf else 1.0):
            warnings.warn(
                f"dca stopped after {SWEEPS} sweeps with a gap of {left:.3g}; give sweeps= to go on, "
                "or a smaller C", ConvergenceWarning, stacklevel=2,
            )  # fmt: skip
    return start + (each * alphas) @ z, alphas


def _go_over(
    rule: Any, gram: np.ndarray, margins: np.ndarray, positive: np.ndarray, weights: np.ndarray,
    alphas: np.ndarray, C: float, margin: float,
) -> None:  # fmt: skip
    """The rule, or each index set of a list, once."""
    chosen = np.zeros(len(margins), bool)
    if isinstance(rule, str) and rule in RULES:
        solve = specialise(ALL_RULES[rule]["solve_one"])
        solve(gram, margins, positive, weights, alphas, chosen, C, margin, ROUNDED)
        return
    if isinstance(rule, str) or not isinstance(rule, list | tuple):
        raise BadInput(f"rule={shown(rule)}; wanted one of {', '.join(RULES)}, or a list of index sets")
    for indices in rule:
        chosen[:] = False
        try:
            chosen[np.asarray(list(indices), int)] = True
        except (IndexError, TypeError, ValueError):
            raise BadInput(
                f"rule has {shown(indices)}; wanted sets of row numbers below {len(margins)}"
            ) from None
        asked = margin * float(weights[chosen].sum())
        specialise(joint)(gram, margins, weights, alphas, chosen, C, asked)


def _signs(y: object, count: int) -> np.ndarray:
    labels = np.asarray(y).ravel()
    if labels.shape != (count,):
        raise BadInput(f"got {count} rows and {len(labels)} labels; wanted one each")
    kinds = np.unique(labels)
    if len(kinds) > 2:
        raise BadInput(f"y has {len(kinds)} kinds of labels; wanted two")
    if len(kinds) == 1:
        return np.where(labels == kinds[0], 1.0 if _is_positive(kinds[0]) else -1.0, 0.0)
    return np.where(labels == kinds[-1], 1.0, -1.0)


def _is_positive(label: object) -> bool:
    """A round of one class: which side is it?"""
    return not (isinstance(label, int | float | np.number) and label <= 0)


def _weights(weights: object, count: int) -> np.ndarray:
    each = np.ones(count) if weights is None else np.asarray(weights, float).ravel()
    if each.shape != (count,) or not ((each > 0) & (each < math.inf)).all():
        raise BadInput(f"weights wants {count} finite numbers above 0, one per row")
    return each
