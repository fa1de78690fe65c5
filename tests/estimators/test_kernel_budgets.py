"""Budgets: never more vectors than allowed, and memory that is counted as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.errors import BadInput
from onmargin.models.kernel.vectors import Grown

from .kernel_refusals import refuses

draw = np.random.default_rng(2)
X = draw.standard_normal((900, 10))
Y = draw.integers(0, 2, 900)  # noise: every learner wants all rows
LEARNERS = {
    "PA": lambda budget, **o: om.PassiveAggressiveClassifier(
        kernel="rbf", budget=budget, classes=(0, 1), **o
    ),
    "Projectron": lambda budget, **o: om.Projectron(tolerance=0.0, budget=budget, classes=(0, 1), **o),
    "RBP": lambda budget, **o: om.RandomBudgetPerceptron(budget=budget, random_state=1, classes=(0, 1), **o),
    "Forgetron": lambda budget, **o: om.Forgetron(budget=budget, classes=(0, 1), **o),
}
every_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


def memory(model: Any) -> int:
    """Bytes of all arrays that the model holds."""
    inner, total = model._model, 0
    for value in (*vars(inner.kept).values(), *(getattr(inner, name) for name in inner.parts)):
        arrays = value if isinstance(value, tuple) else [value]
        arrays = [array.buffer if isinstance(array, Grown) else array for array in arrays]
        total += sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    return total


@every_learner
@pytest.mark.parametrize("budget", [1, 2, 17, np.int64(5)], ids=repr)
def test_never_more_vectors_than_the_budget(make: Any, budget: Any) -> None:
    model = make(budget)
    for first in range(0, 300, 60):
        model.partial_fit(X[first : first + 60], Y[first : first + 60])
        assert model.n_support_ <= budget == model.budget_
    assert np.isfinite(model.decision_function(X)).all() and np.isfinite(model.dual_coef_).all()
    for row, label in zip(X[300:330].tolist(), Y[300:330].tolist(), strict=True):
        model.learn_one(dict(enumerate(row)), label)
        assert model.n_support_ <= budget


@every_learner
@pytest.mark.parametrize(("text", "size"), [("64KB", 64_000), ("16KiB", 16_384)])
def test_a_budget_in_bytes_holds_all_arrays(make: Any, text: str, size: int) -> None:
    model = make(text).partial_fit(X, Y)
    assert memory(model) <= size


@every_learner
def test_a_budget_in_bytes_is_used(make: Any) -> None:
    """What fits is kept: more than half of the bytes, more vectors in twice the memory."""
    small, large = make("16KB").partial_fit(X, Y), make("32KB").partial_fit(X, Y)
    assert small.n_support_ == small.budget_ < large.budget_ and memory(small) > 8_000
    assert isinstance(small.budget_, float) and small.budget_ == int(small.budget_)


def test_a_short_first_dict_does_not_break_the_budget() -> None:
    model = om.RandomBudgetPerceptron(budget="64KB", random_state=0)
    model.learn_one({"a": 1.0}, 0)
    for row, label in zip(np.tile(X, (1, 5))[:600].tolist(), Y[:600].tolist(), strict=True):
        model.learn_one(dict(enumerate(row)), label)
    assert memory(model) <= 2 * 64_000


def test_a_sparse_first_block_does_not_break_the_budget() -> None:
    wide = np.tile(X, (1, 5))
    model = om.RandomBudgetPerceptron(budget="64KB", random_state=0, classes=(0, 1))
    model.partial_fit(sp.csr_matrix(np.eye(50)), Y[:50]).partial_fit(sp.csr_matrix(wide), Y)
    assert memory(model) <= 2 * 64_000


def test_a_budget_too_small_for_one_vector_is_refused_in_a_stream_too() -> None:
    for model in (om.Perceptron(kernel="rbf", budget="10B"), om.Forgetron(budget="10B")):
        refuses(model, lambda m: m.learn_one({"a": 1.0}, 1), "'10B' is too small for one vector", "raise it")
        refuses(model, lambda m: m.partial_fit(X, Y, classes=[0, 1]), "too small for one vector", "raise it")
        model.set_params(budget="1KB").learn_one({"a": 1.0}, 1)
        assert model.t_ == 1 and list(model._columns.slots) == ["a"]
    wide = om.Forgetron(budget="1KB", classes=(0, 1))
    refuses(wide, lambda m: m.partial_fit(np.tile(X, (1, 20)), Y), "too small for one vector")


def test_units_of_memory() -> None:
    found = {
        text: om.Stoptron(budget=text, classes=(0, 1)).partial_fit(X[:200], Y[:200]).budget_
        for text in ("8000", "8000B", "8KB", "8 kb", "0.008MB", "8KiB", "0.000008GB")
    }
    assert len({found[text] for text in found if text != "8KiB"}) == 1 and found["8KiB"] >= found["8KB"]
    for text in ("64QB", "KB", "1e3KB", "-1KB", "8KB8", "3 4KB"):
        with pytest.raises(BadInput) as caught:
            om.Stoptron(budget=text, classes=(0, 1)).partial_fit(X[:200], Y[:200])
        assert "\n" not in str(caught.value)


def test_a_budget_that_is_never_used_up_changes_nothing() -> None:
    plain = om.PassiveAggressiveClassifier(kernel="rbf", dtype="float64", classes=(0, 1)).partial_fit(
        X[:80], Y[:80]
    )
    bounded = om.PassiveAggressiveClassifier(kernel="rbf", budget=500, dtype="float64", classes=(0, 1))
    bounded.partial_fit(X[:80], Y[:80])
    np.testing.assert_allclose(bounded.decision_function(X), plain.decision_function(X), atol=1e-6)
