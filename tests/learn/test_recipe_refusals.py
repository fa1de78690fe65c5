"""A recipe that cannot work is refused in one line that says why, before the first round."""

from __future__ import annotations

import math

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadInput

from ..students import stream

# ---- losses


def wrong_slope(margin, required):
    gap = max(required - margin, 0.0)
    return gap * gap, gap


def rising(margin, required):
    """Its derivative instead of minus its derivative."""
    return (0.0, 0.0) if margin >= required else (required - margin, -1.0)


def no_slope(margin, required):
    return max(required - margin, 0.0)


def three_values(margin, required):
    return 1.0, 0.0, 0.0


def not_a_number(margin, required):
    return math.nan, 0.0


def infinite(margin, required):
    return 1.0 / (margin - margin), 0.0


def two_kinds(margin, required):
    if margin < 0.0:
        return 1.0
    return 0.0, 0.0


def makes_an_array(margin, required):
    values = np.zeros(2)
    values[0] = max(required - margin, 0.0)
    return values[0], 1.0


def raising(margin, required):
    raise ValueError("not today")


def names_nothing(margin, required):
    return nothing_at_all * margin, 0.0  # noqa: F821


def other_names(m, r):
    return max(r - m, 0.0), 1.0


# ---- steps


def two_steps(loss):
    return loss, 1.0


def no_step(loss):
    pass


def endless_step(loss):
    return loss / 0.0


def allocating_step(loss):
    return np.array([loss]).sum()


def step_of_words(gap):
    return gap


# ---- spaces


def rotated(theta, weights):
    for i in range(theta.shape[0]):
        weights[i] = theta[(i + 1) % theta.shape[0]]


def turned(theta, weights):
    for i in range(theta.shape[0]):
        weights[i] = -theta[i]


def shifted(theta, weights):
    for i in range(theta.shape[0]):
        weights[i] = theta[i] + 1.0


def forgetful(theta, weights):
    weights[0] = theta[0]


def halved(theta, weights):
    for i in range(theta.shape[0]):
        weights[i] = 0.5 * theta[i]


def half_square(w):
    return 0.5 * float(w @ w)


REFUSED = [
    ({"loss": wrong_slope}, "says slope .* wanted minus the derivative"),
    ({"loss": rising}, "says slope -1 .* wanted minus the derivative"),
    ({"loss": no_slope}, "wanted two finite numbers"),
    ({"loss": three_values}, "wanted two finite numbers"),
    ({"loss": not_a_number}, "gave .nan.* wanted two finite numbers"),
    ({"loss": infinite}, "gave .inf.* wanted two finite numbers"),
    ({"loss": two_kinds}, "cannot be compiled .*unify"),
    ({"loss": makes_an_array}, "cannot be compiled .*zeros.* without new arrays"),
    ({"loss": raising}, "not today"),
    ({"loss": names_nothing}, "cannot be compiled .*nothing_at_all"),
    ({"loss": other_names}, "takes m, r; wanted some of margin, required"),
    ({"loss": 3}, "loss=3; wanted a name or a Python function"),
    ({"loss": max}, "wanted a name or a Python function"),
    ({"step": two_steps}, "wanted one finite number"),
    ({"step": no_step}, "gave None; wanted one finite number"),
    ({"step": endless_step}, "gave inf; wanted one finite number"),
    ({"step": allocating_step}, "cannot be compiled .*without new arrays"),
    ({"step": step_of_words}, "takes gap; wanted some of margin, loss, slope, size, pull, now, hyper"),
    ({"step": None}, "step=None; wanted a name or a Python function"),
    ({"space": rotated}, "no gradient .*not symmetric"),
    ({"space": turned}, "no gradient of a convex function"),
    ({"space": shifted}, "does not map 0 to 0"),
    ({"space": forgetful}, "wanted it to write a finite number for every theta"),
    ({"space": (halved, half_square)}, "does not fit its regulariser"),
    ({"space": (halved, half_square, half_square)}, "wanted a name or a Python function"),
    ({"space": other_names}, "takes m, r; wanted some of theta, weights, hyper"),
    ({"query": step_of_words}, "takes gap; wanted some of space, scores, now, hyper"),
    ({"step": "pa1", "space": "pnorm"}, "step='pa1' solves its problem .*space='pnorm' has another"),
    ({"step": "pa", "space": "soft"}, "space='soft' has another"),
    ({"step": "pa2", "loss": "perceptron"}, "never leaves 0"),
    ({"step": "aggressive"}, "made for the dual norm of 'pnorm' or 'group', not 'l2'"),
    ({"step": "aggressive", "space": halved}, "made for the dual norm"),
    ({"space": "confidence"}, r"follows PA-II's step .*use step='pa2', loss='hinge'"),
    ({"space": "covariance", "step": "pa2", "loss": "squared_hinge"}, "use step='pa2', loss='hinge'"),
    ({"space": "shrunk", "step": "sqrt"}, "a schedule of its own"),
    ({"space": "coin", "step": "sqrt"}, "a schedule of its own"),
    ({"space": "ridge_full", "step": "unit"}, "adds whole examples"),
    ({"loss": "epsilon_insensitive"}, "says nothing about classes"),
    ({"task": "regression", "loss": "logistic"}, "says nothing about numbers.*'epsilon_insensitive'"),
]


def one_line(error):
    text = str(error.value)
    assert "\n" not in text and 10 < len(text) < 400
    return text


@pytest.mark.parametrize(("parts", "reason"), REFUSED, ids=[str(n) for n in range(len(REFUSED))])
def test_refused_with_the_reason(parts, reason):
    with pytest.raises(BadInput, match=reason) as error:
        om.Recipe(**parts)
    one_line(error)


@pytest.mark.parametrize(
    ("role", "some"),
    [
        ("task", ("classification", "one_vs_all", "regression")),
        ("loss", ("hinge", "logistic", "squared_hinge", "epsilon_insensitive", "mistake")),
        ("step", ("constant", "sqrt", "pa1", "aggressive")),
        ("space", ("l2", "pnorm", "group", "entropic", "simplex", "adagrad", "coin", "soft", "shrunk")),
        ("query", ("always",)),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(role, some):
    with pytest.raises(BadInput, match=f"{role}='nonsense'; wanted one of") as error:
        om.Recipe(**{role: "nonsense"})
    text = one_line(error)
    assert all(repr(name) in text for name in some)


def test_a_recipe_goes_to_the_learner_of_its_task():
    X, y, _ = stream("pa1.binary")
    numbers = om.Recipe("regression", loss="squared")
    for model in (
        om.OnlineClassifier(numbers),
        om.OnlineRegressor(om.Recipe()),
        om.OnlineClassifier("hinge"),
    ):
        with pytest.raises(BadInput, match="OnlineRegressor|OnlineClassifier|wanted an om.Recipe") as error:
            model.fit(X, y == "yes")
        one_line(error)


def test_steps_that_feed_on_themselves_are_stopped():
    """A rate that is too large for a loss that bends: one line, and nothing learned."""
    X, y, _ = stream("pa1.regression")
    model = om.OnlineRegressor(om.Recipe("regression", loss="squared"), rate=1e200)
    with pytest.raises(BadInput, match="feed on themselves") as error:
        model.partial_fit(X, y)
    one_line(error)
    assert not hasattr(model, "coef_")
