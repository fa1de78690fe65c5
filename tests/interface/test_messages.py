"""A user's value in a message: one line, cut, whatever it is; and names that another library has."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import onmargin as om
from onmargin.errors import BadInput, BadType, shown
from onmargin.estimators import every
from onmargin.interface.parameters.other_names import HINTS

from ..soaking import uncompiled

DRAW = np.random.default_rng(4)
X = DRAW.normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)
LONG = "x" * 2_000_000


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    "value",
    [
        LONG, LONG.encode(), [LONG] * 50, {LONG: LONG}, list(range(10**6)), dict.fromkeys(range(10**6)),
        set(range(10**6)), 10**400, 10**5000, np.zeros((1000, 1000)), np.array([LONG, None], object),
        Unshowable(), [Unshowable()], "two\nlines", np.zeros(2, [("a", float)]),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_whatever_it_is_it_fits_on_a_line(value):
    assert len(shown(value)) <= 60 and "\n" not in shown(value)
    assert len(shown(value, 20)) <= 20 or "<" in shown(value, 20)


class Counted:
    """How often it was shown."""

    times = 0

    def __repr__(self) -> str:
        Counted.times += 1
        return "counted"


@pytest.mark.parametrize("several", [list, tuple, lambda one: dict(enumerate(one)), lambda one: [one, one]])
def test_of_many_only_the_first_are_looked_at(several):
    Counted.times = 0
    assert len(shown(several([Counted()] * 100_000))) <= 60
    assert 0 < Counted.times <= 60


@pytest.mark.parametrize("value", [1, -2.5, "a  b", None, True, (1,), (), {}, set(), [1, "b"], {"a": (1, 2)}])
def test_short_values_are_shown_as_they_are(value):
    assert shown(value) == repr(value)


def test_numpys_numbers_are_shown_as_plain_ones():
    assert shown([np.float64(0.5), np.int8(1), np.str_("a"), np.bool_(True)]) == "[0.5, 1, 'a', True]"


def test_a_list_in_itself_is_shown():
    inside = []
    inside.append(inside)
    assert len(shown(inside)) < 60


@pytest.mark.parametrize(
    "call",
    [
        lambda: om.PassiveAggressiveClassifier(step=LONG).fit(X, Y),
        lambda: om.PassiveAggressiveClassifier(class_weight=LONG).fit(X, Y),
        lambda: om.PassiveAggressiveClassifier(kernel=LONG).fit(X, Y),
        lambda: om.PassiveAggressiveClassifier(**{LONG: 1}),
        lambda: om.PassiveAggressiveClassifier().partial_fit(X, [LONG] * len(X), classes=["a", "b"]),
        lambda: om.PassiveAggressiveClassifier(classes=["a", "b"]).learn_one({"f": 1.0}, LONG),
        lambda: om.PassiveAggressiveClassifier().fit(X, [LONG] * len(X)),
        lambda: om.PassiveAggressiveClassifier().fit([[LONG]], [1]),
        lambda: om.PassiveAggressiveRegressor().learn_one({"f": 1.0}, LONG),
        lambda: om.PassiveAggressiveRegressor().fit(X, [LONG] * len(X)),
        lambda: om.progressive(om.Perceptron(), X, Y, trace=LONG),
        lambda: om.sweep(om.Perceptron(), LONG, X, Y),
        lambda: om.SelectiveSampler(LONG).fit(X, Y),
        lambda: om.Recipe(loss=LONG),
        lambda: om.kernels.rbf(LONG),
    ],
)
def test_a_message_does_not_repeat_a_megabyte(call):
    with pytest.raises((ValueError, TypeError)) as refused:
        call()
    assert len(str(refused.value)) < 700 and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "made",
    [
        om.PassiveAggressiveClassifier(C=10**400), om.AROW(r=10**400), om.Perceptron(rate=10**400),
        om.PassiveAggressiveClassifier(tol=10**400), om.PassiveAggressiveClassifier(max_iter=10**400),
        om.PassiveAggressiveClassifier(intercept_scaling=10**400), om.Pegasos(lam=10**400),
        om.Pegasos(batch_size=10**400), om.Pegasos(average=10**400), om.Pegasos(average=1e-17),
        om.Forgetron(budget=10**400), om.Projectron(tolerance=10**400),
        om.PassiveAggressiveClassifier(kernel="poly", degree=10**400),
        om.PassiveAggressiveClassifier(kernel="poly", coef0=10**400),
        om.PassiveAggressiveClassifier(kernel="rbf", gamma=10**400), om.OM2(q=10**400), om.OM2(p=10**400),
        om.FTRLClassifier(p=10**400), om.FTRLClassifier(horizon=10**400), om.BBQ(epsilon=10**400),
        om.PairedClassifier(reservoir=10**400), om.PassiveAggressiveClassifier(class_weight={0: 10**400}),
        om.SelectiveSampler(om.Perceptron(), delta=10**400),
        om.SelectiveSampler(om.Perceptron(), budget=10**400),
        om.SelectiveSampler(om.Perceptron(), budget=5, window=10**400),
        om.SelectiveSampler(om.Perceptron(), target_rate=10**400),
    ],
    ids=lambda made: type(made).__name__,
)  # fmt: skip
def test_numbers_beyond_all_floats_are_refused_in_one_line(made):
    with pytest.raises(BadInput) as refused:
        made.fit(X, Y)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200


def test_weights_and_targets_beyond_all_floats_are_refused_in_one_line():
    model, numbers = om.Perceptron(), om.PassiveAggressiveRegressor()
    for call in (
        lambda: model.learn_one({"a": 1.0}, 1, w=10**400),
        lambda: model.partial_fit(X, Y, classes=[0, 1], sample_weight=[10**400] * len(X)),
        lambda: numbers.learn_one({"a": 1.0}, 10**400),
        lambda: numbers.fit(X, [10**400] * len(X)),
    ):
        with pytest.raises(BadInput):
            call()


@pytest.mark.parametrize(
    "made",
    [
        om.Pegasos(batch_size=np.int8(1), max_iter=np.int8(9), random_state=0),
        om.Pegasos(batch_size=np.int8(7), max_iter=np.int8(9), random_state=0, tol=None),
    ],
)  # fmt: skip
def test_small_integers_of_numpy_count_as_far_as_pythons(made):
    many = np.repeat(X, 5, axis=0), np.repeat(Y, 5)
    plain = {name: int(getattr(made, name)) for name in ("batch_size", "max_iter")}
    same = om.Pegasos(**(made.get_params() | plain)).fit(*many)
    np.testing.assert_array_equal(made.fit(*many).coef_, same.coef_)


@pytest.mark.parametrize("cls", [c for n, c in sorted(every().items()) if n != "RidgeClassifier"])
@pytest.mark.parametrize("name", sorted(HINTS))
def test_a_hint_names_only_what_the_class_has(cls, name):
    positional = [om.Recipe()] if "recipe" in cls._get_param_names() else []
    positional = [om.Perceptron()] if cls is om.SelectiveSampler else positional
    ours = set(cls._get_param_names())
    if name in ours:
        return
    with pytest.raises(BadType, match=f"{cls.__name__} has no parameter '{name}'; ") as refused:
        cls(*positional, **{name: 1})
    said = str(refused.value)
    others = ours | ({"sample_weight"} if hasattr(cls, "partial_fit") else set())
    assert set(re.findall(r"(?:use|or|and) (\w+)=", said)) <= others and "\n" not in said


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: om.Pegasos(alpha=0.1), "use lam="),
        (lambda: om.Pegasos(shuffle=False), "use order="),
        (lambda: om.FTRLClassifier(penalty="l1"), "use l1="),
        (lambda: om.PassiveAggressiveRegressor(class_weight={}), "numbers have no classes"),
        (lambda: om.SelectiveSampler(om.Perceptron(), C=1.0), "give it to the learner inside"),
        (lambda: om.SelectiveSampler(om.Perceptron(), seed=1), "use random_state="),
        (lambda: om.BBQ(eps=1.0), "use epsilon="),
        (lambda: om.BBQ(nonsense=1.0), "known are classes, coef0"),
    ],
)
def test_hints_that_misled(make, said):
    with pytest.raises(BadType, match=re.escape(said)):
        make()


def test_a_sampler_sets_nested_parameters_and_refuses_others():
    sampler = om.SelectiveSampler(om.Pegasos()).set_params(estimator__lam=0.5, delta=2.0)
    assert sampler.estimator.lam == 0.5 and sampler.delta == 2.0
    with pytest.raises(BadInput, match="Invalid parameter: SelectiveSampler has no parameter 'C'"):
        sampler.set_params(C=1.0)


@pytest.mark.parametrize("value", ["yes", 1, None, "no"])
@pytest.mark.parametrize("name", ["shuffle", "warm_start", "growing", "fit_intercept"])
def test_flags_want_a_bool(name, value):
    with pytest.raises(BadInput, match=f"{name}=.*; wanted True or False"):
        om.PassiveAggressiveClassifier(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    "made",
    [
        om.BBQ(scale="no"), om.BBQ(fit_intercept="no"), om.Pegasos(project="no"), om.Pegasos(fit_intercept=2),
        om.FTRLClassifier(signed="no"), om.Projectron(plus="no"), om.Forgetron(fit_intercept="no"),
    ],
)  # fmt: skip
def test_other_flags_want_a_bool(made):
    with pytest.raises(BadInput, match="; wanted True"):
        made.fit(X / 9, Y)


def test_words_of_refusals():
    with pytest.raises(BadInput, match="has an infinity in column 1"):
        om.Perceptron().fit([[1.0, np.inf, 0.0]] * 2, [0, 1])
    with pytest.raises(BadInput, match="got the class Perceptron; wanted a learner of this library, such"):
        om.progressive(om.Perceptron, X, Y)


# ---- reprs


def test_numpys_numbers_are_plain_in_reprs():
    made = om.PassiveAggressiveClassifier(C=np.float64(0.5), max_iter=np.int64(3))
    assert repr(made) == "PassiveAggressiveClassifier(C=0.5, max_iter=3)"
    assert repr(om.SelectiveSampler(made, delta=np.float32(2))).split() == [
        "SelectiveSampler(delta=2.0,", "estimator=PassiveAggressiveClassifier(C=0.5,", "max_iter=3))"
    ]  # fmt: skip
    assert made.C.__class__ is np.float64  # scikit-learn's clone asks for the very same value


@uncompiled
def test_results_show_plain_numbers():
    result = om.sweep(om.Perceptron(), {"rate": np.array([0.5, 1.0])}, X, Y)
    assert "np." not in repr(result) and "np." not in repr(result.rows)
    assert "np." not in repr(om.progressive(om.Perceptron(), X, Y).totals)


def test_an_optimum_is_shown_on_a_line():
    found = om.svm_optimum(np.c_[[X] * 20][0], Y, lam=0.1)
    assert repr(found).startswith("Optimum(3 coefficients, intercept=") and len(repr(found)) < 120


@uncompiled
def test_p_is_there_where_there_is_a_p():
    assert not hasattr(om.FTRLClassifier().fit(X, Y), "p_")
    with pytest.raises(AttributeError, match="p_ is of regularizer='pnorm'"):
        om.FTRLClassifier().fit(X, Y).p_  # noqa: B018
    assert 1 < om.FTRLClassifier(regularizer="pnorm").fit(X, Y).p_ <= 2


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: om.PassiveAggressiveClassifier(gama=1.0), "'gama'; did you mean gamma=?"),
        (lambda: om.Perceptron(averge=True), "did you mean average=?"),
        (lambda: om.AROW(C=1.0), "use r= (as 1 / (2 C))"),
        (lambda: om.Pegasos(C=1.0), "use lam= (as 1 / (C times the rows))"),
        (lambda: om.Perceptron(nonsense=1), "known are"),
    ],
)
def test_a_misspelt_parameter_is_answered_with_its_name(make, said):
    with pytest.raises(BadType, match=re.escape(said)):
        make()


def test_a_misspelt_name_is_answered_with_ours():
    with pytest.raises(AttributeError, match="did you mean PassiveAggressiveClassifier"):
        _ = om.PassiveAgressiveClassifier
    with pytest.raises(AttributeError, match="known are"):
        _ = om.SGDClassifier


@pytest.mark.parametrize("texts", [["buy pills", "see you"], [["red", 1.0], ["blue", 2.0]]])
def test_text_in_place_of_numbers_is_told_what_to_do(texts):
    model = om.PassiveAggressiveClassifier()
    for call in (model.fit, lambda X, y: model.partial_fit(X, y, classes=[0, 1])):
        with pytest.raises(BadInput, match=r"X holds text .*; wanted numbers; .*TfidfVectorizer") as refused:
            call(np.array(texts, object), [0, 1])
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


def test_a_regressor_whose_targets_are_far_away_says_what_helps():
    with pytest.warns(ConvergenceWarning, match="standardise X and y .*raise max_iter"):
        om.PassiveAggressiveRegressor(max_iter=3, random_state=0).fit(X, 1000.0 + 100.0 * X[:, 0])
    with pytest.warns(ConvergenceWarning, match="still falling") as caught:
        om.Perceptron(max_iter=2, tol=1e-9, random_state=0).fit(X, Y)
    assert "standardise" not in str(caught[0].message)
