"""Parameters of kernel learners that mean nothing, change in mid-stream, or do not go together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import onmargin as om
from onmargin.errors import BadInput, BadType, OnmarginError

from .kernel_refusals import X, Y, perceptron, refuses, taught

PARAMETERS = [
    ({"gamma": 0}, "gamma=0; wanted"),
    ({"gamma": -1.0}, "gamma=-1.0; wanted"),
    ({"gamma": np.nan}, "gamma=nan; wanted"),
    ({"gamma": np.inf}, "gamma=inf; wanted"),
    ({"gamma": "wide"}, "gamma='wide'; wanted 'scale', 'auto' or a number above 0"),
    ({"gamma": None}, "gamma=None; wanted"),
    ({"gamma": True}, "gamma=True; wanted"),
    ({"degree": 0}, "degree=0; wanted a whole number"),
    ({"degree": 2.5}, "degree=2.5; wanted a whole number"),
    ({"degree": "3"}, "degree='3'; wanted a whole number"),
    ({"coef0": "x"}, "coef0='x'; wanted a finite number"),
    ({"coef0": np.nan}, "coef0=nan; wanted a finite number"),
    ({"coef0": None}, "coef0=None; wanted a finite number"),
    ({"budget": 0}, "budget=0; wanted a number of vectors"),
    ({"budget": -3}, "budget=-3; wanted a number of vectors"),
    ({"budget": 2.5}, "budget=2.5; wanted a number of vectors"),
    ({"budget": True}, "budget=True; wanted a number of vectors"),
    ({"budget": "64QB"}, "budget='64QB'; wanted a number of vectors, or text such as '64MB'"),
    ({"budget": ""}, "budget=''; wanted a number of vectors"),
    ({"budget": "-5MB"}, "budget='-5MB'; wanted a number of vectors"),
    ({"budget": "10B"}, "budget='10B' is too small for one vector"),
    ({"kernel": "gauss"}, "kernel='gauss'; wanted one of linear, rbf, poly"),
    ({"kernel": 5}, "kernel=5; wanted one of linear, rbf, poly"),
    ({"kernel": ("rbf",)}, "kernel=('rbf',); wanted one of linear, rbf, poly"),
    ({"dtype": "float16"}, "dtype='float16'; wanted"),
]


@pytest.mark.parametrize(("given", "said"), PARAMETERS, ids=lambda value: repr(value)[:30])
def test_a_parameter_without_meaning_is_refused_everywhere(given: Any, said: str) -> None:
    calls = (
        lambda model: model.fit(X, Y),
        lambda model: model.partial_fit(X, Y),
        lambda model: model.learn_one({"a": 1.0, "b": 2.0}, 1),
        lambda model: model.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), [0, 1]),
        lambda model: om.progressive(model, X, Y),
    )
    for call in calls:
        refuses(perceptron(**{"kernel": "poly"} | given), call, said, kind=OnmarginError)
    mended = perceptron(**{"kernel": "poly"} | given)
    refuses(mended, calls[2], said)
    mended.set_params(**{name: getattr(perceptron("poly"), name) for name in given}).partial_fit(X, Y)
    np.testing.assert_array_equal(
        mended.decision_function(X), perceptron("poly").partial_fit(X, Y).decision_function(X)
    )


@pytest.mark.parametrize("given", [{"degree": True}, {"coef0": True}], ids=repr)
def test_a_truth_is_no_number(given: Any) -> None:
    refuses(perceptron("poly", **given), lambda model: model.fit(X, Y))


@pytest.mark.parametrize(
    "made",
    [lambda: om.kernels.poly(coef0=np.nan), lambda: om.kernels.sigmoid(coef0="x"),
     lambda: om.OM2(kernels=[("poly", {"coef0": np.nan})])],
    ids=["poly(coef0=nan)", "sigmoid(coef0='x')", "OM2 poly coef0=nan"],
)  # fmt: skip
def test_the_numbers_of_a_kernel_object_are_checked_too(made: Any) -> None:
    with pytest.raises(BadInput, match="coef0"):
        kernel = made()
        (kernel if isinstance(kernel, om.OM2) else perceptron(kernel)).fit(X, Y)


@pytest.mark.parametrize(
    "change",
    [{"kernel": "rbf"}, {"kernel": om.kernels.linear()}, {"gamma": 0.5}, {"degree": 2}, {"coef0": 1.0},
     {"budget": 7}, {"budget": None}, {"kernel": None}, {"dtype": "float32"}, {"fit_intercept": False},
     {"average": True}],
    ids=repr,
)  # fmt: skip
def test_parameters_that_shape_the_support_stay_as_they_were(change: Any) -> None:
    model = taught(kernel="poly", budget=12)
    name = next(iter(change))
    before = getattr(model, name)
    twin = taught(kernel="poly", budget=12)
    model.set_params(**change)
    for call in (
        lambda: model.partial_fit(X, Y),
        lambda: model.predict(X),
        lambda: model.learn_one({0: 1.0}, 1),
        lambda: model.predict_one({0: 1.0}),
    ):
        with pytest.raises(BadInput, match=f"^{name}= was .* when learning began and is .* now; set it back"):
            call()
    model.set_params(**{name: before}).partial_fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), twin.partial_fit(X, Y).decision_function(X))


def test_the_tolerance_of_a_projectron_stays_as_it_was() -> None:
    model = om.Projectron(classes=(0, 1)).partial_fit(X, Y).set_params(tolerance=0.5)
    with pytest.raises(BadInput, match=r"tolerance= was 0.1 .* is 0.5 now"):
        model.partial_fit(X, Y)
    for bad in (-1.0, np.nan, "near", None):
        refuses(om.Projectron(tolerance=bad), lambda model: model.fit(X, Y), f"tolerance={bad!r}; wanted")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (om.Projectron(kernel=None), "kernel=None; Projectron wants a kernel"),
        (om.Stoptron(budget=None), "budget=None; wanted a number of vectors"),
        (om.Perceptron(budget=5), "budget=5 is for kernel forms; set kernel="),
        (om.Perceptron(kernel="rbf", init="random"), "init='random' draws weights"),
        (om.PassiveAggressiveClassifier(kernel="rbf", margin=0), "margin=0 from an empty support"),
        (om.Pegasos(kernel="rbf", project=True), "project=True is for the linear form; leave it out"),
        (om.Pegasos(kernel="rbf", prior=([[1.0, 2.0, 3.0]], 0.0)), "prior= is for the linear form"),
        (om.Pegasos(kernel="rbf", fit_intercept="free"), "fit_intercept='free' is for the linear form"),
        (om.Pegasos(kernel="rbf", budget=5, batch_size=2), "set batch_size=1, or budget=None"),
    ],
    ids=repr,
)
def test_options_that_do_not_go_together_are_refused(model: Any, said: str) -> None:
    refuses(model, lambda m: m.fit(X, Y), said, kind=OnmarginError)
    refuses(model, lambda m: m.learn_one({"a": 1.0}, 1), said, kind=OnmarginError)


@pytest.mark.parametrize("cls", [om.RandomBudgetPerceptron, om.Forgetron])
def test_an_average_of_dropped_vectors_is_answered(cls: Any) -> None:
    with pytest.raises(BadType, match="has no parameter 'average'; an average would need the vectors"):
        cls(average=True)
    with pytest.raises(BadInput, match="an average would need the vectors"):
        cls().set_params(average=True)
