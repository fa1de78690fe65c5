"""Rows of every kind give the same sums: dense, Fortran, mapped, CSR with short and long indices."""

import numpy as np
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.compiled import lanes
from onmargin.compiled.checks import find_codes, first_not_finite, is_canonical
from onmargin.compiled.rows import measure_row
from onmargin.features.tables import to_rows
from onmargin.interface.parameters.draws import generator_of


@pytest.fixture
def data():
    draw = np.random.default_rng(1)
    X = draw.standard_normal((80, 21)) * (draw.random((80, 21)) < 0.4)
    return X, draw.integers(0, 3, 80)


def learn(X, y, **options):
    return om.PassiveAggressiveClassifier(**options).partial_fit(X, y, classes=[0, 1, 2])


def shapes_of(X, folder):
    """The same numbers in every shape we take."""
    mapped = np.lib.format.open_memmap(folder / "x.npy", "w+", X.dtype, X.shape)
    mapped[:] = X
    mapped.flush()
    wide = np.zeros((len(X), 2 * X.shape[1]), X.dtype)
    wide[:, ::2] = X
    long = sp.csr_matrix(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    return {
        "fortran": np.asfortranarray(X),
        "mapped, read-only": np.load(folder / "x.npy", mmap_mode="r"),
        "strided": wide[:, ::2],
        "csr": sp.csr_matrix(X),
        "csr array": sp.csr_array(X),
        "csr, long indices": long,
        "csc": sp.csc_matrix(X),
    }


# Every shape, but not each in both precisions: a layout or a type of index costs seconds to compile.
LEFT_OUT = {np.float64: ("strided",), np.float32: ("fortran", "csr, long indices")}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_shape_gives_one_model(data, dtype, tmp_path):
    X, y = data[0].astype(dtype), data[1]
    dense = learn(X, y)
    for name, other in shapes_of(X, tmp_path).items():
        if name in LEFT_OUT[dtype]:
            continue
        model = learn(other, y)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-9, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(model.decision_function(other), dense.decision_function(X), atol=1e-9)


def test_float32_rows_are_summed_in_float64(data):
    X, y = data[0].astype(np.float32), data[1]
    np.testing.assert_allclose(learn(X, y).coef_, learn(X.astype(np.float64), y).coef_, atol=1e-12)


def test_float32_weights_stay_close(data):
    X, y = data
    small = learn(X, y, dtype="float32")
    assert small.coef_.dtype == np.float32
    np.testing.assert_allclose(small.coef_, learn(X, y).coef_, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("nonzeros", [0, 1, 15, 16, 17, 24, 33])
def test_sparse_sums_of_every_length(dtype, nonzeros):
    """In order, in fours, in eights and what is left over: <w, x> each time, in both precisions."""
    draw = np.random.default_rng(nonzeros)
    X = np.zeros((6, 40))
    for x in X:
        x[draw.permutation(40)[:nonzeros]] = draw.standard_normal(nonzeros)
    X, y = X.astype(dtype), draw.integers(0, 2, 6)
    model = om.PassiveAggressiveClassifier(average=False, fit_intercept=False, dtype=np.dtype(dtype).name)
    model.partial_fit(sp.csr_matrix(X), y, classes=[0, 1])
    exact = X.astype(float) @ model.coef_[0].astype(float)
    np.testing.assert_allclose(model.decision_function(sp.csr_matrix(X)), exact, rtol=1e-12, atol=1e-12)


def test_an_order_of_rows_is_the_rows_in_that_order(data):
    """What memory is asked for early has no part in the numbers, to the last row of the last block."""
    X, y = data
    for table in (X, sp.csr_matrix(X)):
        model = om.PassiveAggressiveClassifier(max_iter=1, tol=None, random_state=3, average=False)
        model.fit(table, y)
        order = generator_of(model, 3).permutation(len(y))
        plain = learn(table[order], y[order], average=False, intercept_scaling=model.intercept_scaling_)
        np.testing.assert_array_equal(plain.coef_, model.coef_)


@pytest.mark.parametrize("classes", [2, 3, 8, 9, 16, 17, 40])
def test_any_number_of_outputs(classes):
    """Eight lanes, sixteen, and columns one at a time: the plain formula each time."""
    draw = np.random.default_rng(classes)
    X, y = draw.standard_normal((120, 6)), draw.integers(0, classes, 120)
    model = om.PassiveAggressiveClassifier(
        C=0.3, classes=range(classes), average=False, intercept_scaling=1.0
    ).partial_fit(X, y)
    rows = 1 if classes == 2 else classes
    W = np.zeros((rows, 7))
    for x, label in zip(np.c_[X, np.ones(120)], y, strict=True):
        s = W @ x
        if classes == 2:
            sign = 2 * label - 1
            W[0] += min(0.3, max(0, 1 - sign * s[0]) / (x @ x)) * sign * x
            continue
        rival = max((k for k in range(classes) if k != label), key=lambda k: (s[k], -k))
        tau = min(0.3, max(0, 1 - s[label] + s[rival]) / (2 * x @ x))
        W[label] += tau * x
        W[rival] -= tau * x
    np.testing.assert_allclose(model.coef_, W[:, :-1], atol=1e-10)
    np.testing.assert_allclose(model.intercept_, W[:, -1], atol=1e-10)


def test_first_not_finite_finds_nan_infinity_and_overflow():
    X = np.ones((5, 3))
    assert first_not_finite(to_rows(X, 1.0), 5) == 5
    for bad in (np.nan, np.inf, 1e200):
        X[3, 1] = bad
        assert first_not_finite(to_rows(X, 1.0), 5) == 3


def test_length_counts_the_bias():
    assert measure_row(to_rows(np.array([[3.0, 4.0]]), 2.0), 0) == 29.0


@pytest.mark.parametrize(
    ("indices", "starts", "fine"),
    [
        ([0, 2, 1], [0, 2, 3], True),
        ([0, 0, 1], [0, 2, 3], False),  # twice in a row
        ([2, 0, 1], [0, 2, 3], False),  # falling in a row
        ([0, 2, 5], [0, 2, 3], False),  # beyond the columns
        ([0, 2, 1], [0, 3, 2], False),  # bounds out of order
        ([0, 2, 1], [0, 2, 9], False),  # bounds beyond the entries
        ([1, 2, 0], [0, 0, 2, 2, 3], True),  # empty rows
        ([], [0, 0], True),
    ],
)
def test_is_canonical(indices, starts, fine):
    found = is_canonical(
        np.array(indices, np.uint32), np.array(starts, np.int32), np.uint32(5), 0, len(starts) - 1
    )
    assert bool(found) is fine


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_is_canonical_in_tables_of_many_rows(kind):
    """A flaw is found wherever it is among the rows that are looked at together."""
    rows, columns = 600, kind(7)
    indices = np.tile(np.array([1, 4, 6], kind), rows)
    starts = np.arange(0, 3 * rows + 1, 3)
    assert is_canonical(indices, starts, columns, 0, rows)
    for row in (0, 84, 85, 86, 127, 128, 255, 256, 511, 512, 599):  # (256 entries, 128 rows at a time)
        for place, wrong in ((1, 1), (2, 7), (0, 4)):
            bad = indices.copy()
            bad[3 * row + place] = wrong
            assert not is_canonical(bad, starts, columns, 0, rows)
            assert is_canonical(bad, starts, columns, row + 1, rows)
        late = starts.copy()
        late[row + 1] += 1  # one index of the next row is taken for this one's
        assert not is_canonical(indices, late, columns, 0, rows)


def test_find_codes():
    codes = np.empty(5, np.int64)
    unknown = find_codes(np.array([3.0, -1.0, 2.0, np.nan, 9.0]), np.array([-1.0, 3.0, 9.0]), codes)
    assert codes.tolist() == [1, 0, -1, -1, 2] and unknown == 2


@pytest.mark.parametrize("classes", [[0.0, 1.0, 2.0], [-1.0, 0.0, 1.0], [7.0], [0.5, 1.5], [0.0, 2.0, 3.0]])
def test_find_codes_is_a_search(classes):
    """Stairs of classes are looked up without one: also what is beside, between and beyond them."""
    labels = np.array([*classes, -0.0, 0.5, -1e300, 1e300, np.inf, -np.inf, np.nan, classes[-1] + 1])
    codes = np.empty(len(labels), np.int64)
    unknown = find_codes(labels, np.array(classes), codes)
    assert codes.tolist() == [classes.index(one) if one in classes else -1 for one in labels.tolist()]
    assert unknown == (codes < 0).sum()


def test_lanes_as_plain_python():
    array = np.arange(16.0)
    lane = lanes.plus_times(lanes.nothing(), lanes.load(array, 4), 2.0)
    lanes.store(array, 8, lane)
    assert array[8:].tolist() == [8, 10, 12, 14, 16, 18, 20, 22]
    assert lanes.gathered(array, np.arange(15, -1, -1), 8).tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
    assert lanes.total(lanes.load(array, 8)) == 120 and lanes.fetch(array, 99) is None
    assert lanes.all_zero(np.zeros((1, 8)), 0, 0) and not lanes.all_zero(np.ones((1, 8)), 0, 0)
