"""However a stream is cut and whatever it comes in, a kernel learner learns the same.

Same rounds update; coefficients to 1e-9 in float64 and to 1e-5 in float32.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp

import onmargin as om

from ..kernel_students import FEATURES, can_average, stream, student
from ..students import problem_of
from ..uncompiled import Comparisons

COMPARISONS = Comparisons("tests.learn.test_kernel_splits")
each = COMPARISONS.each
NEW = np.random.default_rng(5).normal(size=(7, FEATURES))
NAMES = (
    "kernel_perceptron.binary", "kernel_pa1.top", "kernel_pa1.labels", "kernel_pa2.calibrated",
    "kernel_pa1.regression", "kernel_pa1.uniclass", "kernel_pegasos.top", "budget_pa1.binary",
    "budget_pegasos.binary", "budget_pa1.uniclass", "projectron.labels", "projectron_plus.binary",
    "rbp.top", "forgetron.binary", "stoptron.binary", "om2.binary", "om2.top",
)  # fmt: skip
BATCHES = "kernel_pegasos.binary"  # with mini-batches of 4
CLASSES = {"binary": ["no", "yes"], "classes": [0, 1, 2], "labels": [0, 1, 2, 3]}


def fresh(name, dtype="float64"):
    """A learner that knows its classes, averaged where it can be."""
    more = {"average": True} if can_average(name) else {}
    if problem_of(name) in CLASSES:
        more["classes"] = CLASSES[problem_of(name)]
    if name == BATCHES:
        more["batch_size"] = 4
    return student(name, dtype=dtype, **more, **({"random_state": 4} if name.startswith("rbp") else {}))


def shown(model, X, y, h):
    """One call; its targets where it has any."""
    return model.partial_fit(X, sample_weight=h) if y is None else model.partial_fit(X, y, sample_weight=h)


def cut_at(model, given, places, kind=np.asarray):
    """One call for each piece."""
    for some in map(slice, (0, *places), (*places, len(given.X))):
        y = None if given.y is None else given.y[some]
        shown(model, kind(given.X[some]), y, given.h[some])
    return model


def one_by_one(model, given, name):
    """The loop of learn_one: column numbers are the names."""
    for number, (row, weight) in enumerate(zip(given.X, given.h, strict=True)):
        x = dict(enumerate(row.tolist()))
        if given.y is None:
            model.learn_one(x, w=weight)
        elif problem_of(name) == "labels":
            model.learn_one(x, dict(enumerate(map(bool, given.y[number]))), weight)
        else:
            model.learn_one(x, given.y[number].item(), weight)
    return model


def agreement(first, second):
    """Support, coefficients, answers, rounds."""
    yield first.support_, second.support_
    yield first.dual_coef_, second.dual_coef_
    yield first.t_, second.t_
    ask = "decision_function" if hasattr(first, "decision_function") else "predict"
    yield getattr(first, ask)(NEW), getattr(second, ask)(NEW)


@each(*NAMES, BATCHES)
def pieces_blocks_and_tables_do_not_matter(name, dtype="float64"):
    """Any pieces, rows to a block (1, 17), CSR; the mini-batches' pieces end within a batch."""
    given = stream(name)
    whole = shown(fresh(name, dtype), *given)
    yield from agreement(cut_at(fresh(name, dtype), given, (1, 7, 8, 41, 42, 43)), whole)
    for most in (1, 17):
        model = cut_at(fresh(name, dtype), given._replace(X=given.X[:3], h=given.h[:3]), ())
        model._model.most = most
        rest = None if given.y is None else given.y[3:]
        yield from agreement(shown(model, given.X[3:], rest, given.h[3:]), whole)
    yield from agreement(cut_at(fresh(name, dtype), given, (30,), sp.csr_matrix), whole)
    yield whole.n_support_ > 3, True


@each(*NAMES, BATCHES)
def dicts_are_rows(name, dtype="float64"):
    """The loop of learn_one; rows of weight 0 left out, for it does not number them."""
    given = stream(name)
    seen = given.h > 0
    given = given._replace(X=given.X[seen], y=None if given.y is None else given.y[seen], h=given.h[seen])
    if name.startswith("budget_pegasos"):
        given = given._replace(X=given.X[:40], y=given.y[:40], h=given.h[:40])
    whole, loop = shown(fresh(name, dtype), *given), one_by_one(fresh(name, dtype), given, name)
    yield loop.support_, whole.support_
    yield loop.dual_coef_, whole.dual_coef_
    yield loop.t_, whole.t_


SINGLE = (*NAMES[:4], NAMES[5], "budget_pa1.binary", "forgetron.binary", "om2.top", BATCHES)
each(*((name, "float32") for name in SINGLE), near=1e-5)(pieces_blocks_and_tables_do_not_matter)
each(*((name, "float32") for name in SINGLE[:4]), near=1e-5)(dicts_are_rows)


@each("kernel_perceptron.binary", "kernel_pa1.top", "rbp.top", "om2.top")
def one_pass_is_the_stream(name):
    """fit(max_iter=1, shuffle=False) is partial_fit."""
    given = stream(name)
    model = fresh(name).set_params(max_iter=1, shuffle=False, tol=None)
    model.fit(given.X, given.y, sample_weight=given.h)
    yield from agreement(model, shown(fresh(name), *given))


@each("kernel_perceptron.binary", "projectron.labels", "kernel_pa1.top")
def all_kinds_of_tables_in_turn(name):
    """Dense first, then dicts, then CSR; and the other way round."""
    given = stream(name)
    seen = given.h > 0
    given = type(given)(*(part[seen] for part in given))
    parts = [
        type(given)(*(part[some] for part in given)) for some in (slice(20), slice(20, 40), slice(40, 99))
    ]
    whole = shown(fresh(name), *given)
    for first, last in ((np.asarray, sp.csr_matrix), (sp.csr_matrix, np.asarray)):
        model = cut_at(fresh(name), parts[0], (), first)
        one_by_one(model, parts[1], name)
        yield from agreement(cut_at(model, parts[2], (), last), whole)


def own(A, B):
    """A user's kernel, for arrays and CSR."""
    values = A @ B.T
    return values.toarray() if sp.issparse(values) else values


@each()
def a_function_sees_tables_of_one_width():
    """Also where the last columns are empty at first, and where dicts bring new names."""
    given = stream("kernel_perceptron.binary")
    given = given._replace(X=given.X * (np.arange(len(given.X))[:, None] > [-1, 10, 20, 45]), h=given.h + 0.1)
    wanted = shown(fresh("kernel_perceptron.binary").set_params(kernel="linear"), *given)
    for kind in (np.asarray, sp.csr_matrix):
        model = cut_at(fresh("kernel_perceptron.binary").set_params(kernel=own), given, (30,), kind)
        yield from agreement(model, wanted)
    model = fresh("kernel_perceptron.binary").set_params(kernel=own)
    for row, label, weight in zip(given.X, given.y, given.h, strict=True):
        model.learn_one({number: row[number] for number in np.flatnonzero(row)}, label.item(), weight)
    yield model.dual_coef_, wanted.dual_coef_


@each("om2.binary", "om2.top")
def views_see_their_columns(name):
    """Kernels of some columns are the kernels of the tables cut to them."""
    X, y, h = stream(name)
    K = np.array([om.kernels.linear()(X[:, [2, 0]], X[:, [2, 0]]), om.kernels.rbf(0.4)(X[:, 1:], X[:, 1:])])
    told = {"dtype": "float64", "max_iter": 1, "shuffle": False, "tol": None, "q": 3.0}
    wanted = om.OM2(kernels="precomputed", **told).fit(K, y, sample_weight=h)
    kernels = ["linear", ("rbf", {"gamma": 0.4})]
    for table in (X, sp.csr_matrix(X)):
        model = om.OM2(kernels=kernels, views=[[2, 0], slice(1, None)], **told).fit(table, y, sample_weight=h)
        yield model.dual_coef_, wanted.dual_coef_
        yield model.kernel_weights_, wanted.kernel_weights_
        yield model.decision_function(table), wanted.decision_function(K)


@each(near=1e-7)
def the_width_is_fixed_by_the_first_data():
    """gamma="scale": 1 / (features x variance) of all of X in fit, of the first block, or 1 / features."""
    given = stream("kernel_perceptron.binary")
    X, y, _ = given
    for table in (X, sp.csr_matrix(X), X.astype(np.float32)):
        model = om.Perceptron(kernel="rbf", classes=["no", "yes"], max_iter=1)
        yield model.fit(table, y).gamma_, 1 / (FEATURES * X.var())
        model = om.Perceptron(kernel="rbf", classes=["no", "yes"]).partial_fit(table[:20], y[:20])
        model.partial_fit(table[20:], y[20:])
        yield model.gamma_, 1 / (FEATURES * X[:20].var())
    model = om.Perceptron(kernel="rbf", classes=["no", "yes"])
    yield one_by_one(model, given, "kernel_perceptron.binary").gamma_, 1 / FEATURES


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """All pairs, from plain Python."""
    return COMPARISONS.run(tmp_path_factory.mktemp("splits") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_both_agree(name, written):
    COMPARISONS.compare(name, written)


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
