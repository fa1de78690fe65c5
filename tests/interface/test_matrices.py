"""No matrix of SciPy's leads beyond its arrays, through any door; legal oddities change no number.

The doors are tried as plain Python in another process: a matrix that SciPy's C++ follows beyond its arrays
takes the process down, and where our loops follow it Python says IndexError.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.compiled.checks import is_canonical
from onmargin.errors import BadInput
from onmargin.features import matrices
from onmargin.features.matrices import canonical

from ..once import as_plain_python

DRAW = np.random.default_rng(0)
DENSE = np.round(DRAW.normal(size=(14, 5)) * (DRAW.random((14, 5)) < 0.6), 2) / 4
CLEAN = sp.csr_matrix(DENSE)
Y = (DENSE[:, 0] - DENSE[:, 1] > 0).astype(int)
MISSING = np.where(np.arange(14) % 3, Y, np.nan)
GROUPS = np.repeat([0, 1], 7)
CHOSEN = (np.arange(14) % 7 == 0).astype(int)
Door = Callable[[Any], Any]
BOTH = {"classes": [0, 1]}


# ---- matrices


def spoiled(part: str, change: Callable[[np.ndarray], Any]) -> Any:
    table = CLEAN.copy()
    setattr(table, part, change(getattr(table, part)))
    return table


def put(place: int, value: int) -> Callable[[np.ndarray], np.ndarray]:
    def changed(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array[place] = value
        return array

    return changed


MALFORMED = {
    "bounds below 0": spoiled("indptr", put(5, -(10**6))),
    "bounds begin below 0": spoiled("indptr", put(0, -1)),
    "bounds end below 0": spoiled("indptr", put(-1, -3)),
    "bounds beyond the end": spoiled("indptr", put(-1, 10**7)),
    "a column below 0": spoiled("indices", put(5, -1)),
    "a column far below 0": spoiled("indices", put(5, -(2**31))),
    "a column too large": spoiled("indices", put(5, 10**8)),
    "too few bounds": spoiled("indptr", lambda a: a[:9]),
    "too few values": spoiled("data", lambda a: a[:9]),
    "bounds of fractions": spoiled("indptr", lambda a: a.astype(float)),
    "columns of fractions": spoiled("indices", lambda a: a.astype(float)),
    "data in a table": spoiled("data", lambda a: a[:, None]),
}


def strided(array: np.ndarray) -> np.ndarray:
    wide = np.zeros((len(array), 2), array.dtype)
    wide[:, 0] = array
    return wide[:, 0]


def unsorted() -> Any:
    table = CLEAN.copy()
    for row in range(14):
        some = slice(table.indptr[row], table.indptr[row + 1])
        table.indices[some], table.data[some] = (
            table.indices[some][::-1].copy(),
            table.data[some][::-1].copy(),
        )
    return table


def doubled() -> Any:
    parts = np.repeat(CLEAN.data / 2, 2), np.repeat(CLEAN.indices, 2), CLEAN.indptr * 2
    return sp.csr_matrix(parts, shape=CLEAN.shape)


def oddities() -> dict[str, Any]:
    table = CLEAN.copy()
    table.data, table.indices = np.r_[table.data, [9e9] * 7], np.r_[table.indices, [99] * 7].astype(np.int32)
    found = {"unused storage": table, "unsorted": unsorted(), "duplicates": doubled()}
    for part in ("data", "indices", "indptr"):
        found[f"strided {part}"] = spoiled(part, strided)
    for kind in (np.int16, np.int64, np.uint32, ">i4"):
        found[f"indices {np.dtype(kind)}"] = spoiled("indices", lambda a, kind=kind: a.astype(kind))
    found["indptr int64"] = spoiled("indptr", lambda a: a.astype(np.int64))
    found["an array"] = sp.csr_array(CLEAN)
    for name in ("csc", "coo", "bsr", "dok", "lil", "dia"):
        found[name] = CLEAN.asformat(name)
    return found


# ---- doors


def two_classes(model: Any) -> Door:
    return lambda X: model.clone().partial_fit(X, Y, classes=[0, 1]).decision_function(DENSE)


def asked(method: str, **given: Any) -> Door:
    return lambda X: getattr(om.BBQ(random_state=0, **given).partial_fit(CLEAN, Y, classes=[0, 1]), method)(X)


def sampler(**given: Any) -> Any:
    return om.SelectiveSampler(om.Perceptron(**given), random_state=0)


def taught(X: Any = DENSE, **given: Any) -> Any:
    return om.Perceptron(**given).partial_fit(X, Y, classes=[0, 1])


def planned(X: Any) -> Any:
    return om.label_plan(om.Perceptron(), X, Y, budgets=(3,), seeds=1, threads=1)


def after_dicts(X: Any) -> Any:
    """A model that was fitted on arrays and has seen a dict finds columns by name."""
    model = taught()
    model.learn_one({0: 1.0}, 0)
    return model.decision_function(X)


DOORS: dict[str, Door] = {
    **{
        f"{type(model).__name__} {number}": two_classes(model)
        for number, model in enumerate([
            om.PassiveAggressiveClassifier(), om.AROW(covariance="full"), om.FTRLClassifier(), om.Pegasos(),
            om.Perceptron(kernel="rbf"), om.Projectron(gamma="scale"), om.OM2(kernels=("linear", "rbf")),
            om.PairedClassifier(random_state=0), om.PairedClassifier(kernel="rbf", random_state=0),
            om.BBQ(random_state=0), om.BBQ(kernel="rbf", random_state=0),
        ])
    },
    "fit": lambda X: om.PassiveAggressiveRegressor(random_state=0).fit(X, DENSE[:, 0]).coef_,
    "uniclass": lambda X: om.PassiveAggressiveUniclass(random_state=0).partial_fit(X).coef_,
    "predict": lambda X: taught().decision_function(X),
    "growing predict": lambda X: taught(DENSE[:, :3], growing=True).decision_function(X),
    "predict after dicts": after_dicts,
    "kernel predict": lambda X: taught(kernel="rbf").decision_function(X),
    "regress": asked("regress"), "certainty": asked("certainty"), "query": asked("query"),
    "outlook": lambda X: asked("outlook")(X).expected, "kernel regress": asked("regress", kernel="rbf"),
    "sampler": lambda X: sampler().fit(X, Y).coef_,
    "missing labels": lambda X: sampler().partial_fit(X, MISSING, **BOTH).coef_,
    "blind query": lambda X: sampler().query(X),
    "label_plan": lambda X: planned(X).rows[0]["error"],
    "progressive": lambda X: om.progressive(om.AROW(), X, Y).scores,
    "delay": lambda X: om.progressive(om.Perceptron(), X, Y, delay=2).scores,
    "drift": lambda X: om.progressive(om.Perceptron(), X, Y, drift=om.PageHinkley(action="reset")).scores,
    "sweep": lambda X: om.sweep(om.PassiveAggressiveClassifier(), {"C": [0.1, 1.0]}, X, Y).best_model.coef_,
    "ranker": lambda X: om.PairedRanker(random_state=0).fit(X, CHOSEN, GROUPS).coef_,
    "candidates": lambda X: om.CandidateClassifier(random_state=0).fit(X, CHOSEN, GROUPS).coef_,
    "svm_optimum": lambda X: om.svm_optimum(X, Y, lam=0.1).coef,
    "objective": lambda X: om.Pegasos(random_state=0).fit(CLEAN, Y).objective(X, Y),
    "paired_round": lambda X: om.paired_round(np.zeros(5), X, np.where(Y, 1, -1))[0],
    "kernels": lambda X: om.kernels.rbf(0.5)(X, CLEAN),
}  # fmt: skip


def outcome(door: Door, X: Any) -> str | list[float]:
    try:
        return [float(value) for value in np.asarray(door(X), float).ravel()]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main(path: str) -> None:
    warnings.simplefilter("ignore")
    tables = {"clean": CLEAN} | MALFORMED | oddities()
    found = {name: {kind: outcome(door, X) for kind, X in tables.items()} for name, door in DOORS.items()}
    Path(path).write_text(json.dumps(found))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("matrices") / "outcomes.json"
    return json.loads(as_plain_python(__spec__.name, path, "ignore").read_text())


@pytest.mark.parametrize("door", DOORS)
def test_what_is_malformed_is_refused_in_one_line(door, outcomes):
    for kind in MALFORMED:
        said = outcomes[door][kind]
        assert isinstance(said, str) and said.startswith("BadInput: the CSR matrix is malformed"), (
            kind,
            said,
        )
        assert "\n" not in said


@pytest.mark.parametrize("door", DOORS)
def test_legal_oddities_give_the_numbers_of_a_clean_matrix(door, outcomes):
    wanted = outcomes[door]["clean"]
    assert isinstance(wanted, list) and len(wanted), wanted
    for kind in oddities():
        np.testing.assert_allclose(outcomes[door][kind], wanted, rtol=1e-12, atol=1e-15, err_msg=kind)


def malformed_others() -> dict[str, Any]:
    csc, coo, bsr, dia, lil = (CLEAN.asformat(name) for name in ("csc", "coo", "bsr", "dia", "lil"))
    csc.indptr = put(2, -5)(csc.indptr)
    coo.row = put(3, 10**9)(coo.row)
    bsr.indices = put(3, 10**9)(bsr.indices)
    dia.offsets = np.r_[dia.offsets, 1, 2]
    lil.rows[3] = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    return {"csc": csc, "coo": coo, "bsr": bsr, "dia": dia, "lil": lil}


@pytest.mark.parametrize("name", malformed_others())
def test_other_formats_are_checked_before_they_become_csr(name):
    with pytest.raises(BadInput, match=f"^the {name.upper()} matrix is malformed"):
        canonical(malformed_others()[name])


def test_a_sparse_array_has_two_dimensions():
    with pytest.raises(BadInput, match="of 1 dimensions; wanted 2"):
        canonical(sp.coo_array(np.ones(3)))


def test_a_clean_matrix_is_not_copied_and_no_matrix_is_changed():
    assert canonical(CLEAN) is CLEAN
    for name, table in oddities().items():
        before = table.toarray()
        assert canonical(table).has_canonical_format, name
        np.testing.assert_array_equal(table.toarray(), before, name)


def test_small_integers_that_lie_on_one_place_do_not_overflow():
    table = sp.csr_matrix((np.array([100, 100], np.int8), [1, 1], [0, 2]), shape=(1, 2))
    assert canonical(table).toarray().tolist() == [[0.0, 200.0]]


def test_a_matrix_is_swept_once_a_call(monkeypatch):
    sweeps = []

    def counted(*arguments):
        sweeps.append(1)
        return is_canonical(*arguments)

    monkeypatch.setattr(matrices, "is_canonical", counted)
    model = om.PassiveAggressiveClassifier().partial_fit(CLEAN, Y, classes=[0, 1])
    assert len(sweeps) == 1
    model.predict(CLEAN)
    assert len(sweeps) == 2


def test_the_rows_of_a_run_are_checked_again_where_they_are_read_again():
    table = CLEAN.copy()
    run = om.progressive(om.PassiveAggressiveClassifier(), table, Y)
    assert np.isfinite(run.regret(np.ones(5)))
    table.indices[5] = 10**8
    with pytest.raises(BadInput, match="malformed"):
        run.regret(np.ones(5))


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_compiled_loops_take_strided_views(part):
    """(As plain Python any layout would do.) A call that could not be compiled had changed the reservoirs."""
    plain, other = (om.PairedClassifier(random_state=0) for _ in range(2))
    plain.partial_fit(CLEAN, Y, classes=[0, 1])
    other.partial_fit(spoiled(part, strided), Y, classes=[0, 1])
    np.testing.assert_array_equal(other.coef_, plain.coef_)


def test_sets_of_labels_and_an_example_to_explain_are_checked_too():
    model = om.Perceptron()
    sets = sp.csr_matrix(np.eye(14, 5, dtype=int))
    sets.indices = put(2, -(10**6))(sets.indices)
    with pytest.raises(BadInput, match="malformed"):
        model.fit(DENSE, sets)
    model.partial_fit(DENSE, Y, classes=[0, 1])
    one = CLEAN[:1].copy()
    one.indices = put(0, 10**6)(one.indices)
    with pytest.raises(BadInput, match="malformed"):
        model.explain(one)


if __name__ == "__main__":
    main(sys.argv[1])
