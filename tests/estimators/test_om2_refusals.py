"""OM2 and precomputed kernels: shapes, views, exponents and kernels that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.errors import BadInput, OnmarginError

from .kernel_refusals import TABLE, X, Y, agree, perceptron, refuses, state

THREE = np.arange(40) % 3
CUBE = np.stack([TABLE, TABLE**4])


def om2(**parameters: Any) -> Any:
    return om.OM2(**({"max_iter": 2, "tol": None, "random_state": 0} | parameters))


PARAMETERS = [
    ({"kernels": []}, "kernels=[]; wanted a list"),
    ({"kernels": "rbf"}, "kernels='rbf'; wanted a list"),
    ({"kernels": 5}, "kernels=5; wanted a list"),
    ({"kernels": {"rbf": 1}}, "wanted a list"),
    ({"kernels": ["rbf", "gauss"]}, "kernel='gauss'; wanted one of"),
    ({"kernels": [("rbf", {"width": 1.0})]}, "has an unknown parameter 'width'"),
    ({"kernels": [("rbf", {"gamma": -1.0})]}, "gamma=-1.0; wanted a number above 0"),
    ({"kernels": [("poly", {"degree": 2.5})]}, "degree=2.5; wanted a whole number"),
    ({"kernels": [("rbf", 3)]}, "wanted one of"),
    ({"kernels": ["precomputed", "rbf"]}, "give kernels='precomputed' for all"),
    ({"kernels": ["rbf", "linear"], "views": [[0]]}, "views has 1 groups; wanted 2, one per kernel"),
    ({"views": [[0], [1]]}, "views has 2 groups; wanted 4, one per kernel"),
    ({"kernels": ["rbf", "linear"], "views": [[0], [7]]}, "views names column 7, but X has 3 columns"),
    ({"kernels": ["rbf", "linear"], "views": [[0], [-1]]}, "wanted groups of column numbers"),
    ({"kernels": ["rbf", "linear"], "views": [[0], []]}, "wanted groups of column numbers"),
    ({"kernels": ["rbf", "linear"], "views": [["a"], ["b"]]}, "or names of columns"),
    ({"kernels": ["rbf", "linear"], "views": "ab"}, "wanted groups of column numbers"),
    ({"q": 1.5}, "q=1.5; wanted a number of at least 2"),
    ({"q": np.nan}, "q=nan; wanted"),
    ({"q": "large"}, "q='large'; wanted a number"),
    ({"p": 1.0}, "p=1.0; wanted a number above 1 and up to 2"),
    ({"p": 3.0}, "p=3.0; wanted a number above 1 and up to 2"),
    ({"q": 2.0, "p": 2.0}, "q and p say the same thing; give one of them"),
]


@pytest.mark.parametrize(("given", "said"), PARAMETERS, ids=lambda value: repr(value)[:50])
def test_parameters_that_mean_nothing_are_refused(given: Any, said: str) -> None:
    refuses(om2(**given), lambda model: model.fit(X, THREE), said, kind=OnmarginError)
    before = om2().fit(X, THREE)
    refuses(before, lambda model: om2(**given).fit(X, THREE), said)


@pytest.mark.parametrize(
    "given",
    [{"views": 5}, {"views": [0, 1]}, {"views": [[[0]], [[1]]]}, {"kernels": [("rbf", {"times": "x"})]}],
    ids=repr,
)
def test_views_that_are_no_groups_are_answered(given: Any) -> None:
    refuses(
        om2(**{"kernels": ["rbf", "linear"]} | given), lambda model: model.fit(X, THREE), kind=OnmarginError
    )


@pytest.mark.parametrize("change", [{"q": 3.0}, {"kernels": ["rbf"]}, {"views": [[0], [1]]}], ids=repr)
def test_parameters_stay_as_they_were_when_learning_began(change: Any) -> None:
    given = {"kernels": ["rbf", "linear"], "classes": (0, 1, 2)}
    model = om2(**given).partial_fit(X, THREE)
    twin = om2(**given).partial_fit(X, THREE)
    for call in (lambda: model.partial_fit(X, THREE), lambda: model.predict(X)):
        model.set_params(**change)
        with pytest.raises(BadInput, match="when learning began"):
            call()
        model.set_params(**{name: given.get(name) for name in change})
    agree(state(twin.partial_fit(X, THREE)), state(model.partial_fit(X, THREE)))


BAD_CUBES = {
    "one matrix": (TABLE, "(F, n, n) to fit"),
    "not square": (CUBE[:, :, :30], "(F, n, n) to fit"),
    "four dimensions": (CUBE[None], "(F, n, n) to fit"),
    "sparse": (sp.csr_matrix(TABLE), "(F, n, n) to fit"),
    "nothing": (None, "(F, n, n) to fit"),
    "no matrices": (CUBE[:0], "0 feature"),
    "a NaN": (np.where(np.arange(3200).reshape(2, 40, 40) == 1807, np.nan, CUBE), "row 5 has a NaN"),
    "not positive": (-CUBE, "not positive"),
    "text": ("text", ""),
    "ragged": ([[[1.0, 2.0], [3.0]]], ""),
}


@pytest.mark.parametrize(("cube", "said"), BAD_CUBES.values(), ids=BAD_CUBES.keys())
def test_a_cube_that_does_not_fit_is_refused(cube: Any, said: str) -> None:
    model = om2(kernels="precomputed").fit(CUBE, THREE)
    refuses(model, lambda model: model.fit(cube, THREE), said, asked=CUBE)
    refuses(om2(kernels="precomputed"), lambda model: model.fit(cube, THREE), said)


def test_a_cube_to_ask_must_have_the_training_columns() -> None:
    model = om2(kernels="precomputed").fit(CUBE, THREE)
    refuses(model, lambda m: m.predict(CUBE[:1]), "got 1 matrices; wanted 2, one per kernel", asked=CUBE)
    refuses(model, lambda m: m.predict(TABLE), "(F, m, n) to ask", asked=CUBE)
    refuses(model, lambda m: m.predict(CUBE[:, :5, :39]), asked=CUBE)
    refuses(model, lambda m: m.partial_fit(CUBE, THREE), "precomputed", "use fit(K, y)", asked=CUBE)
    refuses(model, lambda m: m.learn_one({0: 1.0}, 1), "precomputed", "use fit(K, y)", asked=CUBE)
    assert model.predict(CUBE[:, :5]).shape == (5,)


@pytest.mark.parametrize("cube", [CUBE[:, :0], CUBE.astype(complex)], ids=["no rows", "complex"])
def test_a_cube_without_rows_or_of_complex_numbers_is_answered(cube: Any) -> None:
    model = om2(kernels="precomputed").fit(CUBE, THREE)
    line = refuses(model, lambda m: m.predict(cube), asked=CUBE)
    assert "reshape" not in line


def test_many_kernels_are_not_explained_by_vectors() -> None:
    with pytest.raises(BadInput, match="look at kernel_weights_"):
        om2().fit(X, THREE).explain(X[0])


def test_many_kernels_have_no_weights() -> None:
    model = om2().fit(X, THREE)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("call", ["learn_one", "learn_many"])
def test_views_by_name_hold_for_dicts_too(call: str) -> None:
    frame = pd.DataFrame(X, columns=list("abc"))
    model = om2(kernels=["rbf", "linear"], views=[["a"], ["b", "c"]])
    if call == "learn_many":
        model.learn_many(frame, THREE)
    else:
        for row, label in zip(frame.to_dict("records"), THREE.tolist(), strict=True):
            model.learn_one(row, label)
    assert model.t_ == 40


# ---- precomputed kernels of the other learners


@pytest.mark.parametrize("learner", [perceptron, om.Projectron, om.Pegasos], ids=lambda f: f.__name__)
def test_a_precomputed_table_must_have_the_right_shape(learner: Any) -> None:
    def make() -> Any:
        return learner(kernel="precomputed", max_iter=2, tol=None)

    model = make().fit(TABLE, Y)
    said = "got a table of 40 x 30; wanted a square one"
    refuses(model, lambda m: m.fit(TABLE[:, :30], Y), said, asked=TABLE)
    refuses(make(), lambda m: m.fit(TABLE[:, :30], Y), said)
    refuses(model, lambda m: m.predict(TABLE[:, :39]), "39", "40", asked=TABLE)
    refuses(model, lambda m: m.predict(TABLE[0]), asked=TABLE)
    bad = TABLE.copy()
    bad[3, 5] = np.nan
    refuses(model, lambda m: m.predict(bad), "row 3 has a NaN in column 5", asked=TABLE)
    for stream in (
        lambda m: m.partial_fit(TABLE, Y, classes=[0, 1]),
        lambda m: m.learn_one({0: 1.0}, 1),
        lambda m: m.predict_one({0: 1.0}),
        lambda m: m.learn_many(pd.DataFrame(TABLE), Y),
    ):
        refuses(model, stream, "kernel='precomputed' needs the whole table; use fit(K, y)", asked=TABLE)
    for stream in (lambda m: m.partial_fit(TABLE, Y), lambda m: m.learn_one({0: 1.0}, 1)):
        refuses(make(), stream, "use fit(K, y)")
    again = make().fit(sp.csr_matrix(TABLE), Y)
    assert again.decision_function(TABLE[:7]).shape == (7,)


def test_a_warm_start_on_a_precomputed_table() -> None:
    """The same table again: as two passes over it."""
    model = perceptron("precomputed", warm_start=True, average=False).fit(TABLE, Y).fit(TABLE, Y)
    twice = perceptron("precomputed", max_iter=2, average=False).fit(TABLE, Y)
    np.testing.assert_allclose(model.decision_function(TABLE), twice.decision_function(TABLE), atol=1e-5)


def test_a_precomputed_table_does_not_grow() -> None:
    refuses(perceptron("precomputed", growing=True), lambda m: m.fit(TABLE, Y), "set growing=False")
