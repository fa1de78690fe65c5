"""Dense, sparse, dict, one row at a time or in blocks: the same model.

CSR rows with three classes are compiled for a few learners; as plain Python all of them are compared:
`NUMBA_DISABLE_JIT=1 python -m tests.estimators.test_exactness FILE`.
"""

import pickle
import sys
import threading
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import onmargin as om

from ..students import as_fixed
from ..uncompiled import Comparisons

CLASSIFIERS = {
    "perceptron": om.Perceptron,
    "uniform": lambda **o: om.Perceptron(update="uniform", **o),
    "pa": lambda **o: om.PassiveAggressiveClassifier(step="pa", **o),
    "pa1": om.PassiveAggressiveClassifier,
    "pa2": lambda **o: om.PassiveAggressiveClassifier(step="pa2", C=0.1, **o),
    "mira": om.MIRA,
    "arow": om.AROW,
    "arow, full": lambda **o: om.AROW(covariance="full", **o),
    "scw1": om.SoftConfidenceWeighted,
    "second order": om.SecondOrderPerceptron,
    "second order, full": lambda **o: om.SecondOrderPerceptron(covariance="full", **o),
    "coin": lambda **o: om.FTRLClassifier(loss="logistic", regularizer="coin", **o),
    "p-norm": lambda **o: om.FTRLClassifier(regularizer="pnorm", p=1.2, **o),
    "adagrad": lambda **o: om.FTRLClassifier(regularizer="adagrad", rate=0.3, **o),
    "pegasos": lambda shuffle=True, **o: om.Pegasos(lam=0.05, order=ORDER[shuffle], **o),
    "pegasos, batches": lambda shuffle=True, **o: om.Pegasos(
        lam=0.05, batch_size=7, order=ORDER[shuffle], **o
    ),
}
ORDER = {True: "shuffle", False: "cyclic"}
EVERY = [(name, classes) for classes in (2, 3) for name in sorted(CLASSIFIERS)]
THREE_FROM_CSR = ("pa1", "mira", "arow", "arow, full", "second order")
COMPILED = [(name, classes) for name, classes in EVERY if classes == 2 or name in THREE_FROM_CSR]
LONG = (("mira", 3), ("second order", 3))  # `make soak` compiles what no other test uses of them
COMPARISONS = Comparisons("tests.estimators.test_exactness")


def stream(seed, rows, classes, columns=7):
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, columns)) * (draw.random((rows, columns)) < 0.6)
    return X, draw.integers(0, classes, rows)


def same(first, second, exact=True):
    check = (
        np.testing.assert_array_equal if exact else (lambda a, b: np.testing.assert_allclose(a, b, atol=1e-9))
    )
    check(first.coef_, second.coef_)
    check(first.intercept_, second.intercept_)
    assert first.t_ == second.t_


@settings(deadline=None, max_examples=20, derandomize=True)  # (every run compiles the same loops)
@given(
    name=st.sampled_from(sorted(CLASSIFIERS)), seed=st.integers(0, 10**6), classes=st.sampled_from([2, 3]),
    sparse=st.booleans(), average=st.booleans(), cuts=st.lists(st.integers(0, 60), max_size=6),
)  # fmt: skip
def test_any_split_into_blocks_is_one_pass_bit_for_bit(name, seed, classes, sparse, average, cuts):
    X, y = stream(seed, 60, classes)
    X = sp.csr_matrix(X) if sparse and (name, classes) in COMPILED else X
    weights = np.random.default_rng(seed + 1).random(60) * (np.arange(60) % 5 > 0)
    make = CLASSIFIERS[name]
    whole = make(average=average, classes=range(classes)).partial_fit(X, y, sample_weight=weights)
    told = {"average": average, "classes": range(classes)}
    once = make(**told, max_iter=1, shuffle=False, **as_fixed(whole)).fit(X, y, sample_weight=weights)
    split = make(average=average, classes=range(classes))
    edges = [0, *sorted(cuts), 60]
    for start, stop in zip(edges, edges[1:], strict=False):
        if stop > start:
            split.partial_fit(X[start:stop], y[start:stop], sample_weight=weights[start:stop])
    same(whole, once)
    same(whole, split)
    np.testing.assert_array_equal(whole.predict(X), split.predict(X))


def test_blocks_are_longer_than_one(monkeypatch):
    """The driver's own blocks split a pass as well, with a shuffled order too."""
    from onmargin.interface.runs import passes

    X, y = stream(3, 500, 3)

    def make():
        return om.PassiveAggressiveClassifier(random_state=1, tol=None, max_iter=2, class_weight="balanced")

    one = make().fit(X, y)
    monkeypatch.setattr(passes, "BLOCK", 7)
    same(one, make().fit(X, y))


@COMPARISONS.each(*EVERY)
def dense_csr_and_dicts(name, classes):
    """Weights and rounds of a CSR matrix and of dicts, with those of an array; and ten predictions."""
    X, y = stream(5, 80, classes)
    make = CLASSIFIERS[name]
    dense = make(classes=range(classes)).partial_fit(X, y)
    sparse = make(classes=range(classes)).partial_fit(sp.csr_matrix(X), y)
    one = make(classes=range(classes))
    for x, label in zip(X, y.tolist(), strict=True):
        one.learn_one({j: value for j, value in enumerate(x.tolist()) if value}, label)
    order = [list(one._columns.slots).index(j) for j in range(X.shape[1])]
    yield sparse.coef_, dense.coef_
    yield sparse.intercept_, dense.intercept_
    yield sparse.t_, dense.t_
    yield one.coef_[:, order], dense.coef_
    yield one.intercept_, dense.intercept_
    yield [one.predict_one(dict(enumerate(x))) for x in X[:10].tolist()], dense.predict(X[:10])


@pytest.mark.parametrize(
    "name, classes",
    [pytest.param(*case, marks=[pytest.mark.soak] if case in LONG else []) for case in COMPILED],
)
def test_dense_csr_and_dicts_agree(name, classes):
    for found, wanted in dense_csr_and_dicts(name, classes):
        np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """All pairs, from plain Python."""
    return COMPARISONS.run(tmp_path_factory.mktemp("exactness") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_both_agree_as_plain_python(name, written):
    COMPARISONS.compare(name, written)


@pytest.mark.parametrize(
    "make", [om.PassiveAggressiveRegressor, lambda **o: om.PassiveAggressiveRegressor(step="pa2", **o)]
)
def test_regression_agrees(make):
    X, _ = stream(6, 80, 2)
    y = X @ np.arange(7.0) + 0.1
    whole = make(average=True).partial_fit(X, y)
    parts = make(average=True).partial_fit(X[:31], y[:31]).partial_fit(X[31:], y[31:])
    same(whole, parts)
    same(whole, make(average=True).partial_fit(sp.csr_matrix(X), y), exact=False)
    one = make(average=True)
    for x, target in zip(X, y, strict=True):
        one.learn_one(dict(enumerate(x.tolist())), float(target))
    np.testing.assert_allclose(one.coef_, whole.coef_, atol=1e-9)
    np.testing.assert_allclose(
        [one.predict_one(dict(enumerate(x))) for x in X.tolist()], whole.predict(X), atol=1e-9
    )


@pytest.mark.parametrize("radius", [None, 3.0])
def test_uniclass_agrees(radius):
    X, _ = stream(7, 60, 2)
    whole = om.PassiveAggressiveUniclass(max_radius=radius).partial_fit(X)
    parts = om.PassiveAggressiveUniclass(max_radius=radius).partial_fit(X[:20]).partial_fit(X[20:])
    np.testing.assert_array_equal(whole.center_, parts.center_)
    assert whole.radius_ == parts.radius_
    sparse = om.PassiveAggressiveUniclass(max_radius=radius).partial_fit(sp.csr_matrix(X))
    np.testing.assert_allclose(sparse.center_, whole.center_, atol=1e-9)
    one = om.PassiveAggressiveUniclass(max_radius=radius)
    for x in X.tolist():
        one.learn_one(dict(enumerate(x)))
    np.testing.assert_allclose(one.center_, whole.center_, atol=1e-9)
    np.testing.assert_allclose(
        one.score_one(dict(enumerate(X[0]))), -whole.score_samples(X[:1])[0], atol=1e-9
    )


@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
def test_pickle_in_mid_stream_continues_bit_for_bit(name):
    X, y = stream(8, 60, 3)
    model = CLASSIFIERS[name](average=True).partial_fit(X[:30], y[:30], classes=[0, 1, 2])
    twin = pickle.loads(pickle.dumps(model))
    same(model.partial_fit(X[30:], y[30:]), twin.partial_fit(X[30:], y[30:]))


def test_learn_many_equals_the_loop():
    import pandas as pd

    X, y = stream(9, 90, 4)
    one, many = om.PassiveAggressiveClassifier(), om.PassiveAggressiveClassifier()
    for part, columns in (
        (slice(0, 30), [0, 1, 2]),
        (slice(30, 60), [1, 3, 4, 5, 6]),
        (slice(60, 90), [6, 0]),
    ):
        frame = pd.DataFrame(X[part][:, columns], columns=[f"c{j}" for j in columns])
        many.learn_many(frame, pd.Series(y[part]))
        for row, label in zip(frame.to_dict("records"), y[part].tolist(), strict=True):
            one.learn_one(row, label)
    np.testing.assert_allclose(many.coef_, one.coef_, atol=1e-9)
    assert many.predict_many(frame).tolist() == [one.predict_one(row) for row in frame.to_dict("records")]


def test_two_models_learn_in_two_threads():
    X, y = stream(10, 4000, 3, 30)
    alone = om.PassiveAggressiveClassifier(classes=range(3)).partial_fit(X, y)
    models = [om.PassiveAggressiveClassifier(classes=range(3)) for _ in range(2)]
    threads = [threading.Thread(target=model.partial_fit, args=(X, y)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model in models:
        same(alone, model)


def test_the_loop_releases_the_lock():
    """While one thread learns, another counts: it could not if the loop held the interpreter."""
    X, y = stream(11, 60_000, 3, 60)
    model = om.AROW(classes=range(3), covariance="full").partial_fit(X[:50], y[:50])
    counted, learning = 0, threading.Event()
    before: list[int] = []

    def learn():
        learning.set()
        model.partial_fit(X, y)
        before.append(counted)

    thread = threading.Thread(target=learn)
    thread.start()
    learning.wait()
    while thread.is_alive():
        counted += 1
    thread.join()
    assert before[0] > 1000


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_a_pass_does_not_copy_the_data(kind):
    X, y = stream(12, 20_000, 2, 100)
    X = sp.csr_matrix(X) if kind == "csr" else X
    size = X.data.nbytes
    make = lambda: om.PassiveAggressiveClassifier(classes=[0, 1], max_iter=2, tol=None, random_state=0)  # noqa: E731
    for call in (
        lambda: make().partial_fit(X, y),
        lambda: make().fit(X, y),
        lambda: om.progressive(make(), X, y, trace="sums"),
    ):
        call()
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.12 * size


def test_the_callers_dict_is_neither_kept_nor_changed():
    x = {"a": 1.0, "b": 2.0}
    model = om.PassiveAggressiveClassifier()
    model.learn_one(x, "yes")
    assert x == {"a": 1.0, "b": 2.0}
    before = model.coef_.copy()
    x["a"] = 99.0
    np.testing.assert_array_equal(model.coef_, before)


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
