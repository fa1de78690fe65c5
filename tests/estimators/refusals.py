"""What a refusal must be: one line of the fitting type, and nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onmargin as om

CLASSIFIERS = [
    om.Perceptron, om.PassiveAggressiveClassifier, om.MIRA, om.AROW, om.SoftConfidenceWeighted,
    om.SecondOrderPerceptron, om.FTRLClassifier, om.Pegasos,
]  # fmt: skip
LEARNERS = [*CLASSIFIERS, om.PassiveAggressiveRegressor, om.FTRLRegressor, om.PassiveAggressiveUniclass]
SCALE = {
    om.Perceptron: "rate",
    om.AROW: "r",
    om.SecondOrderPerceptron: "a",
    om.Pegasos: "lam",
}  # the others have C
X = np.random.default_rng(5).normal(size=(12, 3))
Y = (X[:, 0] > 0).astype(int)

every_learner = pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.__name__)
every_classifier = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)


def fresh(cls: Any, **parameters: Any) -> Any:
    """A learner that has seen nothing; classifiers know that 0 and 1 are all the labels."""
    return cls(**({"classes": (0, 1)} if cls in CLASSIFIERS else {}), **parameters)


def taught(cls: Any, **parameters: Any) -> Any:
    """The same after one pass over good rows."""
    return fresh(cls, **parameters).partial_fit(X, Y)


def learn_one(model: Any, x: Any, y: Any = 1, **weight: Any) -> None:
    """A round from a dict; balls take no label."""
    model.learn_one(x, *([] if isinstance(model, om.PassiveAggressiveUniclass) else [y]), **weight)


def state(model: Any) -> dict[str, Any]:
    """What a user can see; None where the model is not fitted."""
    seen: dict[str, Any] = {}
    for name in ("coef_", "intercept_", "t_", "classes_", "n_features_in_", "feature_names_in_"):
        try:
            seen[name] = np.array(getattr(model, name))
        except (AttributeError, ValueError):
            seen[name] = None
    return seen


def refuses(model: Any, call: Callable[[Any], Any], kind: Any = (ValueError, TypeError)) -> BaseException:
    """`call` raises one line of the fitting type, and nothing has changed."""
    before = state(model)
    with pytest.raises(kind) as caught:
        call(model)
    after = state(model)
    assert "\n" not in str(caught.value) and len(str(caught.value)) > 5
    for name, value in before.items():
        assert (value is None) == (after[name] is None), f"{name} was {value}, is {after[name]}"
        assert value is None or np.array_equal(value, after[name]), f"{name} was {value}, is {after[name]}"
    return caught.value


def spoiled(value: float) -> np.ndarray:
    table = X.copy()
    table[7, 1] = value
    return table
