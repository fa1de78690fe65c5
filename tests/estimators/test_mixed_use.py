"""One model used in several ways: arrays, frames and dicts in turn, growth, changed parameters."""

import copy
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.errors import BadInput

from ..students import PLAIN

PA = om.PassiveAggressiveClassifier
draw = np.random.default_rng(0)
X = draw.standard_normal((40, 3))
Y = (X[:, 0] > 0).astype(int)
Y3 = np.arange(40) % 3


def once(**options):
    return PA(max_iter=1, tol=None, shuffle=False, **options)


def test_a_growing_model_takes_wider_tables_in_fit_and_partial_fit():
    wide = np.c_[X, draw.standard_normal((40, 4))]
    model = once(growing=True, warm_start=True, **PLAIN).fit(X, Y).fit(wide, Y)
    whole = once(**PLAIN).fit(np.r_[np.c_[X, np.zeros((40, 4))], wide], np.r_[Y, Y])
    assert model.n_features_in_ == 7
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_columns_never_met_add_nothing_to_a_score(kind):
    model = once(growing=True).fit(X, Y)
    wide = kind(np.c_[X, 100 * np.ones((40, 4))])
    np.testing.assert_allclose(model.decision_function(wide), model.decision_function(X), atol=1e-12)


def test_growing_frames_go_by_name():
    names = list("abc")
    model = once(growing=True, **PLAIN).fit(pd.DataFrame(X, columns=names), Y)
    more = pd.DataFrame(np.c_[np.ones(40), X], columns=list("zabc"))
    model.partial_fit(more, Y)
    assert model.feature_names_in_.tolist() == list("abcz") and model.n_features_in_ == 4
    by_dicts = PA(classes=[0, 1], **PLAIN)
    for frame in (pd.DataFrame(X, columns=names), more):
        for row, label in zip(frame.to_dict("records"), Y.tolist(), strict=True):
            by_dicts.learn_one(row, label)
    order = [list(by_dicts._columns.slots).index(name) for name in "abcz"]
    np.testing.assert_allclose(model.coef_, by_dicts.coef_[:, order], atol=1e-9)
    assert len(model.top_features(4)) == 4


def test_a_frame_teaches_a_dict_model_new_columns():
    model = PA(classes=[0, 1])
    model.learn_one({"a": 1.0}, 1)
    model.partial_fit(pd.DataFrame(X, columns=["b", "a", "c"]), Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def test_a_model_fitted_on_arrays_knows_numbers_not_names():
    model = once().fit(X, Y)
    before = model.coef_.copy()
    with pytest.raises(BadInput, match="use column numbers"):
        model.learn_one({"a": 1.0}, 1)
    for _ in range(2):  # the first call opens the stream, the second goes the fast way
        with pytest.raises(BadInput, match="use column numbers"):
            model.predict_one({"a": 1.0})
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_features_in_ == 3
    model.learn_one({0: 1.0, 7: 1.0}, 1)
    assert model.n_features_in_ == 4 and model.predict(X).shape == (40,)  # arrays: columns by number


def test_numbers_for_names_follow_the_columns():
    model = once(growing=True).fit(X, Y)
    model.predict_one({0: 1.0})
    model.partial_fit(np.c_[X, X], Y)
    model.learn_one({5: 1.0}, 1)
    assert model.n_features_in_ == 6 and list(model._columns.slots) == list(range(6))


def test_costs_do_not_grow():
    for classes, new in ((3, 7), (2, 5)):
        model = once(cost=1 - np.eye(classes), growing=True).fit(X, np.arange(40) % classes)
        before, rounds = model.coef_.copy(), model.t_
        for call in (
            lambda model=model, new=new: model.partial_fit(sp.csr_matrix(X[:2]), [0, new]),
            lambda model=model, new=new: model.learn_one({0: 1.0}, new),
        ):
            with pytest.raises(BadInput, match="cost= has no row"):
                call()
            np.testing.assert_array_equal(model.coef_, before)
            assert model.t_ == rounds and len(model.classes_) == classes


def test_a_ball_refuses_points_too_far_away():
    ball = om.PassiveAggressiveUniclass(C=1e200).partial_fit(X)
    before = ball.center_.copy()
    far = np.array([[9e153, 0.0, 0.0], [-9e153, 0.0, 0.0]])
    with pytest.raises(BadInput, match="too large"):
        ball.partial_fit(far)
    np.testing.assert_array_equal(ball.center_, before)
    assert ball.t_ == 40
    frame = pd.DataFrame([{"a": 1.0, "q": 5.0}])
    named = om.PassiveAggressiveUniclass()
    named.learn_one({"a": 1.0})
    with pytest.raises(BadInput, match="'q' was never met"):
        named.score_samples(frame)


def test_learn_many_wants_a_target_for_every_row():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    for y in (["x", "y"], ["x"] * 4, None):
        with pytest.raises(BadInput):
            PA().learn_many(frame, y)
    model = PA()
    model.learn_many(frame, ["x", 1, "x"])
    assert set(model.classes_.tolist()) == {"x", 1}
    with pytest.raises(BadInput, match="column 'b'"):
        model.learn_many(pd.DataFrame({"b": [np.nan], "a": [1.0]}), ["x"])


def test_two_threads_may_ask_one_model():
    many = draw.standard_normal((4000, 30))
    model = PA(classes=range(10)).partial_fit(many, np.arange(4000) % 10)
    alone = model.decision_function(many)
    seen: list[bool] = []

    def ask():
        for _ in range(15):
            seen.append(np.array_equal(model.decision_function(many), alone))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 30 and all(seen)


def test_a_weight_of_zero_is_not_seen_in_any_way():
    model = PA()
    model.learn_one({"a": 1.0}, "x", w=0.0)
    assert model.predict_one({"a": 1.0}) is None
    for number in range(6):
        model.learn_one({"a": float(number)}, "xy"[number % 2])
    shape = model.coef_.shape
    model.learn_one({"new": 1.0}, "z", w=0.0)
    assert model.coef_.shape == shape and model.classes_.tolist() == ["x", "y"]
    weights = np.r_[np.ones(20), np.zeros(20)]
    arrays = PA(growing=True).partial_fit(X, np.r_[Y[:20], np.full(20, 9)], sample_weight=weights)
    assert arrays.classes_.tolist() == [0, 1]
    some = once(class_weight="balanced").fit(X, Y, sample_weight=weights)
    few = once(class_weight="balanced").fit(X[:20], Y[:20])
    np.testing.assert_array_equal(some.coef_, few.coef_)


@pytest.mark.parametrize("weighting", [None, {"a": 2.0}, "balanced"])
def test_an_open_stream_may_begin_with_rounds_that_are_not_seen(weighting):
    model = PA(growing=True, class_weight=weighting)
    run = om.progressive(model, X[:4], ["b", "c", "a", "b"], sample_weight=[0.0, 0.0, 1.0, 1.0])
    assert run.predictions.tolist() == [None, None, None, "a"] and model.classes_.tolist() == ["a", "b"]
    seen = PA(growing=True, class_weight=weighting).partial_fit(X[2:4], ["a", "b"])
    np.testing.assert_array_equal(model.coef_, seen.coef_)


def test_numbers_of_several_types_are_one_kind_of_label():
    assert once().fit(X[:3], [0, 1.0, True]).classes_.tolist() == [0.0, 1.0]
    assert set(once().fit(X[:2], ["x", 1]).classes_.tolist()) == {"x", 1}


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (om.AROW(), {"covariance": "full"}),
        (PA(), {"fit_intercept": False}),
        (PA(), {"average": True}),
        (PA(average=True), {"average": False}),
        (om.SecondOrderPerceptron(), {"a": 2.0}),
        (PA(), {"dtype": "float32"}),
    ],
)
def test_parameters_that_shape_the_state_stay_as_they_were(model, change):
    model = copy.deepcopy(model).partial_fit(X, Y, classes=[0, 1])
    model.set_params(**change)
    for call in (
        lambda: model.partial_fit(X, Y),
        lambda: model.predict(X),
        lambda: model.learn_one({0: 1.0}, 1),
    ):
        with pytest.raises(BadInput, match="when learning began"):
            call()
    assert model.set_params(tol=None).fit(X, Y).score(X, Y) > 0.5  # a new start may have them


def test_given_weights_after_the_stream_made_room_and_with_an_average():
    model = once(warm_start=True, average=True).fit(X, Y)
    model.predict_one({0: 1.0})
    mean, running = model.coef_.copy(), model._model.space.weights[:3].copy()
    model.fit(X, Y, coef_init=np.array([[100.0, 100.0, 100.0]]))
    assert running.shape == (3,) and model.coef_.shape == mean.shape
    assert np.abs(model.coef_).max() < 100.0  # half the rounds were near 0, half near 100


def test_announced_labels_keep_their_types():
    model = PA(classes=(1, "a"))
    model.learn_one({"f": 1.0}, 1)
    assert model.classes_.tolist() == [1, "a"]
    pairs = PA(classes=[(1, 2), (3, 4)])
    pairs.learn_one({"f": 1.0}, (3, 4))
    assert pairs.predict_one({"f": 1.0}) == (3, 4)
    run = om.progressive(PA(classes=np.array(["a", "b"])), [({"f": 1.0}, "a"), ({"f": -1.0}, "b")])
    assert run.rounds == 2


def test_numbers_near_the_limits():
    tiny = PA(step="pa", fit_intercept=False).partial_fit([[1e-160]], [0], classes=[0, 1])
    assert np.isfinite(tiny.coef_).all()
    with pytest.raises(BadInput, match="finite weights"):
        PA(class_weight={0: np.inf}).fit(X, Y)


def test_a_random_start_has_no_weight_for_names_never_met():
    model = om.Perceptron(init="random", random_state=1)
    for label in ("a", "b", "a"):
        model.learn_one({"f": 1.0, "g": -1.0}, label)
    for value in (-1e6, 1e6):
        assert model.predict_one({"f": 1.0}) == model.predict_one({"f": 1.0, "never": value})


def test_a_shallow_copy_does_not_share_weights():
    model = once().fit(X, Y)
    before = model.coef_.copy()
    copy.copy(model).partial_fit(X, 1 - Y)
    np.testing.assert_array_equal(model.coef_, before)


def test_label_sets_refuse_other_entries_and_answer_as_frames():
    sets = np.eye(3, dtype=int)[Y3]
    with pytest.raises(BadInput, match="other entries"):
        PA().fit(X, sp.csr_matrix(2 * sets))
    model = PA().fit(pd.DataFrame(X, columns=list("abc")), sets)
    assert model.predict_many(pd.DataFrame(X, columns=list("abc"))).shape == (40, 3)
    with pytest.raises(BadInput, match="sets"):
        om.MIRA().fit(X, sets)
