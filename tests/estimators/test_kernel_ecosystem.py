"""Kernel learners in scikit-learn's searches and pipelines, in om.progressive and om.sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onmargin as om

from ..students import PLAIN
from .kernel_refusals import TABLE, X, Y, agree, perceptron, state

THREE = np.digitize(X[:, 0], [-0.5, 0.5])


def pa(**parameters: Any) -> Any:
    return om.PassiveAggressiveClassifier(
        **({"kernel": "rbf", "max_iter": 1, "tol": None, "shuffle": False} | PLAIN | parameters)
    )


def test_a_search_over_kernels_and_their_numbers() -> None:
    grid = {
        "kernel": ["rbf", "poly", om.kernels.rbf() + om.kernels.linear()],
        "gamma": [0.1, 1.0],
        "C": [0.1, 1],
    }
    found = GridSearchCV(pa(), grid, cv=2, error_score="raise").fit(X, Y)
    assert len(found.cv_results_["params"]) == 12 and np.isfinite(found.cv_results_["mean_test_score"]).all()
    best = pa(**found.best_params_).fit(X, Y)
    agree(state(best), state(found.best_estimator_))


def test_a_precomputed_kernel_is_cut_in_both_directions() -> None:
    """Cross-validation knows by the tag that columns are rows too."""
    gamma = 0.5
    by_table = cross_val_score(pa(kernel="precomputed"), TABLE, Y, cv=4, error_score="raise")
    by_rows = cross_val_score(pa(gamma=gamma), X, Y, cv=4, error_score="raise")
    np.testing.assert_array_equal(by_table, by_rows)
    assert pa(kernel="precomputed").__sklearn_tags__().input_tags.pairwise
    assert not pa().__sklearn_tags__().input_tags.pairwise
    assert pa(kernel="chi2").__sklearn_tags__().input_tags.positive_only


def test_a_precomputed_table_is_the_kernel_it_was_made_with() -> None:
    for make in (
        lambda kernel: pa(kernel=kernel, gamma=0.5, dtype="float64", max_iter=3),
        lambda kernel: om.Projectron(kernel=kernel, gamma=0.5, random_state=1, max_iter=2, tol=None),
        lambda kernel: om.Forgetron(
            kernel=kernel, gamma=0.5, budget=7, random_state=1, dtype="float64", max_iter=2, tol=None
        ),
    ):
        table, rows = make("precomputed").fit(TABLE, Y), make("rbf").fit(X, Y)
        assert table.support_.tolist() == rows.support_.tolist()
        np.testing.assert_allclose(
            table.decision_function(TABLE[:9]), rows.decision_function(X[:9]), atol=1e-9
        )


def test_views_of_csr_tables_whose_last_columns_are_empty() -> None:
    table = np.c_[X[:, :2], np.zeros(40)]
    given = {
        "kernels": ["linear", "rbf"],
        "views": [[0], [1, 2]],
        "max_iter": 2,
        "tol": None,
        "random_state": 0,
    }
    dense, sparse = (om.OM2(**given).fit(form(table), THREE) for form in (np.asarray, sp.csr_matrix))
    np.testing.assert_allclose(sparse.decision_function(table), dense.decision_function(table), atol=1e-5)
    assert sum([om.kernels.rbf(1.0), om.kernels.linear()]) == om.kernels.rbf(1.0) + om.kernels.linear()


def test_a_pipeline() -> None:
    model = make_pipeline(StandardScaler(), om.RandomBudgetPerceptron(budget=15, random_state=0, gamma=0.5))
    model.fit(X * [1, 100, 0.01], Y)
    alone = om.RandomBudgetPerceptron(budget=15, random_state=0, gamma=0.5)
    alone.fit(StandardScaler().fit_transform(X * [1, 100, 0.01]), Y)
    np.testing.assert_array_equal(
        model.predict(X * [1, 100, 0.01]), alone.predict(StandardScaler().fit_transform(X))
    )
    assert model[-1].n_support_ <= 15


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "CSR"])
@pytest.mark.parametrize("target", [Y, THREE], ids=["two classes", "three"])
def test_progressive_is_the_loop(form: Any, target: Any) -> None:
    """Every score is what decision_function would have said before the update."""
    labels = np.unique(target)
    model, loop = pa(dtype="float64", gamma=0.5), pa(dtype="float64", gamma=0.5, classes=labels)
    run = om.progressive(model, form(X), target)
    mistakes = 0
    for t in range(40):
        row = form(X[[t]])
        if t:
            np.testing.assert_allclose(run.scores[t], loop.decision_function(row)[0], atol=1e-9)
            assert run.predictions[t] == loop.predict(row)[0]
        mistakes += run.predictions[t] != target[t]
        loop.partial_fit(row, target[[t]])
    assert run.mistakes == mistakes and run.model.t_ == 40
    assert run.model.support_.tolist() == loop.support_.tolist()
    np.testing.assert_allclose(run.model.dual_coef_, loop.dual_coef_, atol=1e-9)


def test_late_labels() -> None:
    """Row t is answered when the rows up to t - delay - 1 are learned."""
    run = om.progressive(pa(gamma=0.5), X, Y, delay=3)
    for t in (4, 17, 39):
        before = pa(gamma=0.5, classes=(0, 1)).partial_fit(X[: t - 3], Y[: t - 3])
        np.testing.assert_allclose(run.scores[t], before.decision_function(X[[t]])[0], atol=1e-5)
    whole = pa(gamma=0.5).fit(X, Y)
    np.testing.assert_allclose(run.model.decision_function(X), whole.decision_function(X), atol=1e-5)


def test_scores_of_the_averaged_model() -> None:
    run = om.progressive(pa(gamma=0.5, average=True), X, Y, scored_by="model")
    plain = om.progressive(pa(gamma=0.5, average=True), X, Y)
    for t in (5, 20, 39):
        before = pa(gamma=0.5, average=True, classes=(0, 1)).partial_fit(X[:t], Y[:t])
        np.testing.assert_allclose(run.scores[t], before.decision_function(X[[t]])[0], atol=1e-5)
    assert not np.allclose(run.scores, plain.scores)
    np.testing.assert_allclose(run.model.dual_coef_, plain.model.dual_coef_, atol=1e-9)


def test_chance_decides_which_vector_goes() -> None:
    """Slots of the random budget are floor(u B), whatever random_state is."""
    chance = np.random.default_rng(0).random(40)
    runs = [
        om.progressive(om.RandomBudgetPerceptron(budget=5, random_state=seed), X, Y, chance=chance).model
        for seed in (0, 1)
    ]
    np.testing.assert_array_equal(runs[0].support_, runs[1].support_)
    slots: list[int] = []
    model = om.RandomBudgetPerceptron(budget=5, gamma=runs[0].gamma_, classes=(0, 1))
    for t in range(40):
        before = model.n_support_ if t else 0
        played = om.progressive(model, X[[t]], Y[[t]], chance=chance[[t]])
        if played.steps[0]:
            if before < 5:
                slots.append(t)
            else:
                slots[int(chance[t] * 5)] = t
    assert slots == runs[0].support_.tolist() and len(slots) == 5


def test_a_sweep_is_separate_runs() -> None:
    grid = {"gamma": [0.1, 1.0], "C": [0.1, 1.0]}
    swept = om.sweep(pa(), grid, X, Y)
    assert len(swept.table) == 4
    for line in swept.table.to_dict("records"):
        run = om.progressive(pa(gamma=line["gamma"], C=line["C"]), X, Y)
        assert (line["mistakes"], line["updates"]) == (run.mistakes, int((run.steps > 0).sum()))
    alone = pa(**swept.best_params, classes=(0, 1)).partial_fit(X, Y)
    np.testing.assert_allclose(swept.best_model.decision_function(X), alone.decision_function(X), atol=1e-5)


def test_parameters_of_a_sweep_may_be_the_kernel_itself() -> None:
    swept = om.sweep(perceptron(), {"kernel": ["poly", "rbf", "linear"]}, X, Y)
    for kernel, mistakes in zip(("poly", "rbf", "linear"), swept.table["mistakes"], strict=True):
        assert mistakes == om.progressive(perceptron(kernel), X, Y).mistakes
