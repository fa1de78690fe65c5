"""What kernel learners have in common with others: the linear ones, pencil and paper, each other."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import onmargin as om

from .. import students
from ..kernel_students import FEATURES, KERNEL_NAMES, gram, grams, stream, student
from ..students import problem_of
from ..uncompiled import Comparisons

COMPARISONS = Comparisons("tests.learn.test_kernel_identities")
each = COMPARISONS.each
LINEAR = sorted(name.removeprefix("kernel_") for name in KERNEL_NAMES if name.startswith("kernel_"))
NEW = np.random.default_rng(5).normal(size=(11, FEATURES))
PENCIL = {"kernel": "linear", "dtype": "float64"}
OPEN = PENCIL | {"fit_intercept": False}


def answer(model, X):
    """Decisions, or numbers."""
    return getattr(model, "decision_function", model.predict)(X)


# ---- the linear learners


@each(*LINEAR)
def a_linear_kernel_is_the_linear_learner(name):
    """Weights, intercept, decisions and all rounds; in two calls, the last weights and the averaged ones."""
    given = stream(name)
    for average in (False, True):
        models, runs = [], []
        for more in ({}, PENCIL):
            model = students.student(name, average=average, **more)
            for some in (slice(0, 41), slice(41, None)):
                y = None if given.y is None else given.y[some]
                scored_by = "model" if average and problem_of(name) != "points" else "running"
                runs.append(om.progressive(
                    model, given.X[some], y, sample_weight=given.h[some], scored_by=scored_by
                ))  # fmt: skip
            models.append(model)
        linear, kernel = models
        yield kernel.coef_, linear.coef_
        if problem_of(name) != "points":
            yield kernel.intercept_, linear.intercept_
        yield answer(kernel, NEW), answer(linear, NEW)
        for first, second in ((runs[2], runs[0]), (runs[3], runs[1])):
            yield first.scores, second.scores
            yield first.steps, second.steps
            yield first.losses, second.losses
            yield first.mistakes, second.mistakes


@each(*(name for name in LINEAR if not name.startswith(("pa.", "pa2"))))
def passes_with_a_linear_kernel_are_the_linear_passes(name):
    """A fit in shuffled passes: weights, passes made; Pegasos' objective and dual gap."""
    given = stream(name)
    found = []
    for more in ({}, PENCIL):
        model = students.student(name, max_iter=4, random_state=3, tol=None, **more)
        targets = () if given.y is None else (given.y,)
        found.append(model.fit(given.X, *targets, sample_weight=given.h))
    linear, kernel = found
    yield kernel.coef_, linear.coef_
    yield answer(kernel, NEW), answer(linear, NEW)
    yield len(set(kernel.support_.tolist())), kernel.n_support_
    if name.startswith("pegasos"):
        yield kernel.objective_, linear.objective_
        yield kernel.dual_gap_, linear.dual_gap_
        yield kernel.objective(given.X, given.y), linear.objective(given.X, given.y)


@each(("binary", "shuffle", 4), ("top", "random", 3), ("top", "cyclic", 1), ("labels", "random", 1))
def objective_and_gap_in_all_orders(problem, order, batch):
    """Orders with replacement meet a row twice within a block; mini-batches may stay unfinished."""
    given = stream(f"pegasos.{problem}")
    linear, kernel = (
        om.Pegasos(
            lam=0.05,
            order=order,
            batch_size=batch,
            max_iter=4,
            tol=None,
            random_state=1,
            average=True,
            intercept_scaling=students.SCALING,
            **more,
        ).fit(given.X, given.y, sample_weight=given.h)
        for more in ({}, PENCIL)
    )
    yield kernel.coef_, linear.coef_
    yield kernel.objective_, linear.objective_
    yield kernel.dual_gap_, linear.dual_gap_


@each("pa", "pa1", "pa2")
def a_learned_radius_is_the_linear_one(step):
    given = stream(f"{step}.uniclass")
    for average in (False, True):
        linear, kernel = (
            students.student(f"{step}.uniclass", max_radius=2.0, average=average, **more).partial_fit(
                given.X, sample_weight=given.h
            )
            for more in ({}, PENCIL)
        )
        yield kernel.center_, linear.center_
        yield kernel.radius_, linear.radius_
        yield kernel.decision_function(NEW), linear.decision_function(NEW)


# ---- pencil and paper (Appendix B of the mathematics)


@each()
def passive_aggressive_by_pencil():
    one, two = np.array([[3.0, 4.0]]), np.array([[3.0, 4.0], [1.0, 0.0]])
    fitted = om.PassiveAggressiveClassifier(step="pa", **OPEN).partial_fit(two, [1, 0], classes=[0, 1])
    yield fitted.dual_coef_, [[0.04, -1.12]]
    yield fitted.coef_, [[-1.0, 0.16]]
    for step, C, tau in (("pa1", 0.01, 0.01), ("pa2", 1.0, 1 / 25.5)):
        model = om.PassiveAggressiveClassifier(step=step, C=C, **OPEN)
        yield model.partial_fit(one, [1], classes=[0, 1]).dual_coef_, [[tau]]
    regressor = om.PassiveAggressiveRegressor(step="pa", epsilon=0.1, **OPEN)
    yield regressor.partial_fit([[1.0, 2.0]], [1.0]).dual_coef_, [[0.18]]
    several = om.PassiveAggressiveClassifier(step="pa", **OPEN)
    several.partial_fit([[1.0, 1.0]], [0], classes=[0, 1, 2])
    yield several.dual_coef_, [[0.25], [-0.25], [0.0]]
    for C, own, rest in ((np.inf, 0.75, -0.25), (0.3, 0.3, -0.1)):
        model = om.MIRA(C=C, **OPEN).partial_fit([[0.6, 0.8]], [0], classes=[0, 1, 2, 3])
        yield model.dual_coef_, [[own], [rest], [rest], [rest]]


@each(near=1e-7)
def a_ball_by_pencil():
    point = np.array([[3.0, 4.0]])
    for step, center in (("pa", [2.4, 3.2]), ("pa2", [1.6, 32 / 15])):
        yield om.PassiveAggressiveUniclass(step=step, **PENCIL).partial_fit(point).center_, center
    model = om.PassiveAggressiveUniclass(step="pa", max_radius=2.0, **PENCIL).partial_fit(point)
    yield model.center_, [1.8858280, 2.5144373]
    yield model.radius_, 1.8569534


@each()
def projections_by_pencil():
    X, away = np.array([[1.0, 0.0], [0.8, 0.6]]), [1, 0]
    for tolerance, dual in ((0.61, [[0.2]]), (0.59, [[1.0, -1.0]])):
        model = om.Projectron(kernel="linear", tolerance=tolerance).partial_fit(X, away, classes=[0, 1])
        yield model.dual_coef_, dual
    # a tolerance of 2 keeps no vector shorter than that: the span of (1, 0) by (4, 0), of weight 1/8
    model = om.Projectron(kernel="linear", tolerance=2.0, plus=True)
    run = om.progressive(model, X * [[4.0], [1.0]], [1, 1], sample_weight=[0.125, 1.0], classes=[0, 1])
    yield run.scores, [0.0, 0.4]
    yield run.steps, [0.125, 0.9375]
    yield model.coef_, [[1.25, 0.0]]


@each(near=1e-7)
def other_first_rounds_by_pencil():
    for q, omega in ((2, 0.5), (4, 0.1767767)):
        model = om.OM2(kernels=["rbf", "laplacian"], q=q, dtype="float64")
        run = om.progressive(model, [[1.0, 2.0]], [0], classes=[0, 1, 2])
        yield model.kernel_weights_, [omega, omega]
        yield run.steps, [1.0]
    for average, last in ((False, 2.5), (True, 55 / 12)):
        model = om.Pegasos(lam=0.1, average=average, **OPEN)
        run = om.progressive(model, np.ones((4, 1)), [1] * 4, classes=[0, 1])
        yield run.scores, [0.0, 10.0, 5.0, 10 / 3]
        yield model.coef_, [[last]]


# ---- each other


@each(*((problem, kind) for problem in ("binary", "top", "labels") for kind in ("rbf", "linear")), near=1e-7)
def a_projectron_without_tolerance_is_the_kernel_perceptron(problem, kind):
    """Also where the rank of the kernel is soon reached: a linear kernel's support is a basis."""
    given = stream(f"projectron.{problem}")
    small = student(f"projectron.{problem}", kind, tolerance=0.0)
    large = student(f"kernel_perceptron.{problem}", kind, rate=1.0)
    first, second = (om.progressive(m, given.X, given.y, sample_weight=given.h) for m in (small, large))
    yield first.scores, second.scores
    yield first.predictions == second.predictions, np.ones_like(first.predictions == second.predictions)
    yield answer(small, NEW), answer(large, NEW)
    if kind == "linear":
        yield small.n_support_, FEATURES + 1


@each("kernel_pa1.top", "kernel_perceptron.binary", "kernel_pegasos.top", "kernel_pa2.regression", "om2.top")
def a_row_that_comes_again_adds_to_its_own_coefficient(name):
    """Three passes in row order are the stream three times over, summed by row."""
    given = stream(name)
    orders = {"order": "cyclic"} if "pegasos" in name else {"shuffle": False}
    passes = student(name, max_iter=3, tol=None, **orders).fit(given.X, given.y)
    long = student(name)
    om.progressive(long, np.tile(given.X, (3, 1)), np.tile(given.y, 3))
    rows = len(given.X)
    yield len(set(passes.support_.tolist())), passes.n_support_
    tables = []
    for model in (passes, long):
        table = np.zeros((len(model.dual_coef_), rows))
        np.add.at(table, (slice(None), model.support_ % rows), model.dual_coef_)
        tables.append(table)
    yield tuple(tables)
    yield answer(passes, NEW), answer(long, NEW)


@each(
    "kernel_pa1.top", "kernel_perceptron.labels", "kernel_pegasos.binary", "kernel_pa1.regression",
    "budget_pa1.binary", "projectron_plus.top", "rbp.binary", "forgetron.top", "om2.top", "om2.binary",
)  # fmt: skip
def a_table_of_values_is_its_kernel(name):
    """kernel="precomputed": fit in shuffled passes, decisions on new rows, both averaged where possible."""
    given = stream(name)
    many = name.startswith("om2")
    more = {"kernels": "precomputed"} if many else {"kernel": "precomputed"}
    if name.startswith(("kernel", "budget", "projectron")):
        more["average"] = True
    values = grams if many else lambda *sides: gram("rbf", *sides)
    shared = {"random_state": 2, "max_iter": 3, "tol": None}
    plain = student(name, **shared, **{k: v for k, v in more.items() if k == "average"})
    table = student(name, **shared, **more)
    plain.fit(given.X, given.y, sample_weight=given.h)
    table.fit(values(given.X), given.y, sample_weight=given.h)
    yield table.support_, plain.support_
    yield table.dual_coef_, plain.dual_coef_
    asked = values(given.X, NEW).swapaxes(-1, -2)
    yield answer(table, asked), answer(plain, NEW)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """All pairs, from plain Python."""
    return COMPARISONS.run(tmp_path_factory.mktemp("identities") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_both_agree(name, written):
    COMPARISONS.compare(name, written)


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
