"""Rows that a kernel learner cannot take: one line, nothing changed, and it goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.errors import OnmarginError

from .kernel_refusals import POSITIVE, TABLE, X, Y, goes_on, perceptron, refuses, spoiled, taught

BAD_TABLES = {
    "a NaN": (spoiled(np.nan), "row 7 has a NaN in column 1"),
    "an infinity": (spoiled(-np.inf), "row 7 has a"),
    "a NaN in CSR": (sp.csr_matrix(spoiled(np.nan)), "row 7 has a NaN in column 1"),
    "an infinity in CSR": (sp.csr_matrix(spoiled(np.inf)), "row 7 has a"),
    "a square that overflows": (spoiled(1e200), "row 7 is too large"),
    "complex numbers": (X.astype(complex), "omplex"),
    "text": (np.full((40, 3), "a"), ""),
    "three dimensions": (X[:, :, None], ""),
    "no rows": (X[:0], "0 sample"),
    "no columns": (X[:, :0], "0 feature"),
}
LEARNERS = {
    "Perceptron": lambda: perceptron(gamma=0.5),
    "PA on a budget": lambda: om.PassiveAggressiveClassifier(
        kernel="poly", gamma=0.5, budget=9, classes=(0, 1)
    ),
    "RBP": lambda: om.RandomBudgetPerceptron(budget=9, gamma=0.5, random_state=3, classes=(0, 1)),
    "OM2": lambda: om.OM2(classes=(0, 1), kernels=[("rbf", {"gamma": 0.5}), "linear"]),
}
every_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


@every_learner
@pytest.mark.parametrize(("table", "said"), BAD_TABLES.values(), ids=BAD_TABLES.keys())
def test_a_bad_table_is_refused_in_every_call(make: Any, table: Any, said: str) -> None:
    """Also by RBF kernels, for which k(x, x) is 1 whatever x is."""
    labels = Y[: table.shape[0]]
    for learner in (make, lambda: make().partial_fit(X, Y)):
        goes_on(learner, lambda m: m.partial_fit(table, labels), lambda m: m.partial_fit(X, Y), said)
    refuses(make().partial_fit(X, Y), lambda model: model.predict(table), said)
    refuses(make(), lambda model: om.progressive(model, table, labels), said)


def test_fit_names_the_bad_row() -> None:
    refuses(taught(), lambda model: model.fit(sp.csr_matrix(spoiled(np.nan)), Y), "row 7 has a NaN")
    refuses(taught(gamma=0.5), lambda model: model.fit(spoiled(np.inf), Y), "row 7 has a")


@pytest.mark.parametrize(
    ("table", "gamma"),
    [(spoiled(np.nan), "scale"), (spoiled(np.nan), 0.5), (spoiled(np.inf), "scale"),
     (spoiled(1e200), "scale"), (spoiled(1e200), 0.5), (sp.csr_matrix(spoiled(np.inf)), "scale")],
    ids=["NaN", "NaN, 0.5", "infinity", "1e200", "1e200, 0.5", "infinity in CSR"],
)  # fmt: skip
def test_fit_names_the_bad_row_without_a_warning(table: Any, gamma: Any) -> None:
    """Before the variance of all entries is taken, and before a block is shifted."""
    refuses(taught(gamma=gamma), lambda model: model.fit(table, Y), "row 7")


@every_learner
@pytest.mark.parametrize(
    "x",
    [{0: np.nan}, {0: np.inf, 9: 1.0}, {9: np.nan}, {0: 1e200}, {0: "x"}, {0: None}, [1.0], None],
    ids=repr,
)
def test_a_bad_dict_is_refused(make: Any, x: Any) -> None:
    def learn(model: Any) -> None:
        model.learn_one({0: 1.0, 1: -1.0}, 1)

    goes_on(
        lambda: make().partial_fit(X, Y), lambda model: model.learn_one(x, 1), lambda m: m.partial_fit(X, Y)
    )
    for call in (lambda model: model.learn_one(x, 1), lambda model: model.predict_one(x)):
        with pytest.raises((ValueError, TypeError)) as caught:
            call(make().partial_fit(X, Y))
        assert "\n" not in str(caught.value)
    refuses(make(), lambda model: model.learn_one(x, 1))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "CSR"])
def test_chi2_refuses_values_below_0_and_says_which_row(form: Any) -> None:
    many, labels = np.tile(POSITIVE, (60, 1)), np.tile(Y, 60)
    bad = many.copy()
    bad[1777, 2] = -0.5

    def make() -> Any:
        return perceptron("chi2", dtype="float64").partial_fit(form(many), labels)

    said = "row 1777 has a value below 0; the chi2 kernel wants values of at least 0"
    goes_on(
        make,
        lambda m: m.partial_fit(form(bad), labels),
        lambda m: m.partial_fit(form(many[:50]), labels[:50]),
        said, "nothing was learned", asked=POSITIVE,
    )  # fmt: skip
    model = make()
    refuses(model, lambda m: m.fit(form(bad), labels), said, asked=POSITIVE)
    refuses(model, lambda m: m.predict(form(bad)), said, asked=POSITIVE)
    refuses(perceptron("chi2", dtype="float64"), lambda m: om.progressive(m, form(bad), labels), said)


def test_chi2_refuses_a_dict_with_a_value_below_0() -> None:
    def good(model: Any) -> None:
        for row, label in zip(POSITIVE[:9].tolist(), Y[:9].tolist(), strict=True):
            model.learn_one(dict(zip("abc", row, strict=True)), label)

    def make() -> Any:
        model = om.Perceptron(kernel="chi2", dtype="float64")
        good(model)
        return model

    frame, said = pd.DataFrame(POSITIVE, columns=list("abc")), "wants values of at least 0"
    new = pd.DataFrame({"z": [0.5, -0.5]})
    goes_on(make, lambda m: m.learn_one({"a": 1.0, "new": -0.5}, "another"), good, said, asked=frame)
    goes_on(make, lambda m: m.learn_many(new, [0, 1]), good, said, asked=frame)
    refuses(make(), lambda m: m.predict_one({"a": -1.0}), "wants values of at least 0", asked=frame)


def test_learn_many_that_is_refused_brings_no_label() -> None:
    frame = pd.DataFrame(POSITIVE, columns=list("abc"))
    model = om.Perceptron(kernel="chi2", dtype="float64")
    model.learn_many(frame, Y)
    refuses(model, lambda m: m.learn_many(-frame, np.where(Y, 2, 0)), "wants values", asked=frame)


@pytest.mark.parametrize(("kernel", "value"), [("rbf", np.nan), ("chi2", -1.0)])
def test_explain_refuses_what_predict_refuses(kernel: str, value: float) -> None:
    model = perceptron(kernel).fit(POSITIVE, Y)
    refuses(model, lambda m: m.predict([[value, 1.0, 1.0]]), asked=POSITIVE)
    refuses(model, lambda m: m.explain([value, 1.0, 1.0]), asked=POSITIVE)


@pytest.mark.parametrize("average", [False, True])
def test_values_that_overflow_are_no_answers(average: bool) -> None:
    given = om.Perceptron(kernel="poly", degree=9, gamma=1.0, average=average)
    model, by_dicts = given.clone().partial_fit(X, Y, classes=[0, 1]), given.clone()
    for row, label in zip(X, Y, strict=True):
        by_dicts.learn_one(dict(enumerate(row)), label)
    for call in (model.predict, model.decision_function):
        with pytest.raises(OnmarginError, match="row 7 has kernel values that are not finite; nothing was"):
            call(spoiled(1e60))
    for ask in (by_dicts.predict_one, by_dicts.predict_proba_one):
        with pytest.raises(OnmarginError, match="the kernel values are not finite; nothing was predicted"):
            ask({0: 1e60, 1: -1e60})
    with pytest.raises(OnmarginError, match="row 7"):
        om.progressive(given.clone(), spoiled(1e60), Y, classes=[0, 1], delay=3)
    assert np.isfinite(model.decision_function(X)).all() and by_dicts.predict_one({0: 1.0}) in (0, 1)


@pytest.mark.parametrize(
    "model",
    [perceptron("sigmoid", coef0=-5.0, fit_intercept=False), om.Projectron(kernel="sigmoid", coef0=-5.0),
     perceptron("poly", coef0=-90.0, fit_intercept=False), perceptron("precomputed", fit_intercept=False)],
    ids=repr,
)  # fmt: skip
def test_a_kernel_that_is_not_positive_on_the_data_is_refused(model: Any) -> None:
    table = -TABLE if model.kernel == "precomputed" else X
    refuses(model, lambda model: model.fit(table, Y), "k(x, x) = -", "not positive", "choose another kernel")
    if model.kernel != "precomputed":
        refuses(model, lambda m: m.learn_one({"a": 1.0}, 1), "not positive")


def test_a_bias_does_not_hide_a_kernel_that_is_not_positive() -> None:
    refuses(perceptron("sigmoid", coef0=-5.0), lambda model: model.fit(X, Y), "not positive")


def test_weights_cannot_be_given_to_or_taken_from_a_support() -> None:
    for given in ({"coef_init": [[1.0, 2.0, 3.0]]}, {"intercept_init": [1.0]}):
        refuses(taught(), lambda m, given=given: m.fit(X, Y, **given), "no weights to start from")
    refuses(taught(), lambda m: om.merge([m, taught()]), "cannot be averaged")
    model = taught()
    for name in ("coef_", "center_"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="it has dual_coef_ and support_vectors_"):
        model.top_features()
    with pytest.raises(AttributeError, match="this learner is linear"):
        _ = om.Perceptron().fit(X, Y).n_support_


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_merging_a_linear_model_with_a_kernel_model_is_refused(kernel: str) -> None:
    linear = om.Perceptron(classes=(0, 1)).partial_fit(X, Y)
    refuses(taught(kernel=kernel), lambda m: om.merge([linear, m]), kind=OnmarginError)
