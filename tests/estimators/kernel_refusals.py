"""What a refusal of a kernel learner must be: one line, nothing changed, and the model can go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import onmargin as om

draw = np.random.default_rng(11)
X = draw.normal(size=(40, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
TABLE = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))  # a precomputed kernel
POSITIVE = np.abs(X)


def fault(reason: str) -> Any:
    """A fault that is known and not mended yet: the test passes when it is, and then fails as strict."""
    return pytest.mark.xfail(strict=True, reason=reason)


def perceptron(kernel: Any = "rbf", **parameters: Any) -> Any:
    """One pass in row order, two classes announced."""
    return om.Perceptron(
        kernel=kernel, **({"classes": (0, 1), "max_iter": 1, "tol": None, "shuffle": False} | parameters)
    )


def state(model: Any, asked: Any = X) -> dict[str, Any]:
    """What a user can see; None where there is nothing yet."""
    seen: dict[str, Any] = {}
    for name in ("support_", "dual_coef_", "t_", "classes_", "n_features_in_", "n_support_", "gamma_"):
        try:
            seen[name] = np.array(getattr(model, name))
        except (AttributeError, ValueError):
            seen[name] = None
    try:
        vectors = model.support_vectors_
        seen["support_vectors_"] = vectors.toarray() if sp.issparse(vectors) else vectors
        seen["decisions"] = model.decision_function(asked)
    except (AttributeError, ValueError):
        seen["decisions"] = None
    seen["names"] = None if model._columns.slots is None else list(model._columns.slots)
    return seen


def agree(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Bit for bit."""
    for name, value in before.items():
        other = after[name]
        assert (value is None) == (other is None), f"{name} was {value}, is {other}"
        assert value is None or np.array_equal(value, other), f"{name} was {value}, is {other}"


def refuses(
    model: Any, call: Callable[[Any], Any], *said: str, kind: Any = (ValueError, TypeError), asked: Any = X
) -> str:
    """`call` raises one line with these words, and nothing has changed; the line."""
    before = state(model, asked)
    with pytest.raises(kind) as caught:
        call(model)
    line = str(caught.value)
    assert "\n" not in line and len(line) > 10
    for words in said:
        assert words in line, f"{words!r} is not in {line!r}"
    agree(before, state(model, asked))
    return line


def goes_on(
    make: Callable[[], Any],
    bad: Callable[[Any], Any],
    good: Callable[[Any], Any],
    *said: str,
    asked: Any = X,
) -> None:
    """A model that refused something is, after good rounds, the model that never met it."""
    model, twin = make(), make()
    refuses(model, bad, *said, asked=asked)
    good(model)
    good(twin)
    agree(state(twin, asked), state(model, asked))


def taught(make: Callable[..., Any] = perceptron, **parameters: Any) -> Any:
    """A learner after one block of good rows."""
    return make(**parameters).partial_fit(X, Y)


def spoiled(value: float, row: int = 7) -> np.ndarray:
    table = X.copy()
    table[row, 1] = value
    return table
