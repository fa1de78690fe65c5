"""Names that come for the first time: looked up once for the answer and the round, given back if it fails."""

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import OnmarginError

from ..soaking import uncompiled

pytestmark = uncompiled

LEARNERS = [
    lambda: om.PassiveAggressiveClassifier(),
    lambda: om.Perceptron(init="random", random_state=0),
    lambda: om.AROW(),
    lambda: om.Pegasos(),
    lambda: om.SecondOrderPerceptron(),
]


def bags(rounds=300, vocabulary=400, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        words = rng.choice(vocabulary, size=rng.integers(1, 12), replace=False)
        yield {f"w{word}": float(rng.normal()) for word in words}, bool(words.sum() % 2)


def state(model):
    return list(model.feature_names_in_), model.coef_.tolist(), model.intercept_.tolist(), model.t_


@pytest.mark.parametrize("make", LEARNERS)
def test_an_answer_before_the_round_changes_nothing_about_it(make):
    asked, plain, others = make(), make(), list(bags(seed=1))
    for (x, y), (other, _) in zip(bags(), others, strict=True):
        asked.predict_one(x)
        if y:
            asked.predict_one(other)  # the names asked for last are not those of the round
        asked.learn_one(x, y)
        plain.learn_one(x, y)
    assert state(asked) == state(plain)


@pytest.mark.parametrize("make", LEARNERS)
def test_a_refused_round_gives_its_new_names_back(make):
    model, plain = make(), make()
    for number, (x, y) in enumerate(bags()):
        if number > 2:
            before = state(model)
            bad = {**x, f"new{number}": 1.0, "bad": float("nan") if y else "no number"}
            for learn_from in (bad, {f"new{number}": 1e300, **x}):
                with pytest.raises(OnmarginError):
                    model.predict_one(learn_from)
                with pytest.raises(OnmarginError):
                    model.learn_one(learn_from, y)
            assert state(model) == before
            assert model._model.features == model.n_features_in_ == len(before[0])
            assert model._stream is None or model._stream.known == len(before[0])
        model.predict_one(x)
        for one in (model, plain):
            one.learn_one(x, y)
    assert state(model) == state(plain)


def test_names_never_met_add_nothing_to_an_answer():
    model = om.PassiveAggressiveClassifier()
    for x, y in bags():
        model.learn_one(x, y)
    for x, _ in bags(50, seed=2):
        plain = model.predict_one(x)
        assert model.predict_one({"never": 7.0, **x, "met": -3.0}) == plain
    assert "never" not in model.feature_names_in_


def test_room_for_many_names_is_made_a_few_times():
    model = om.PassiveAggressiveClassifier()
    bindings = []
    for number in range(4_000):
        model.learn_one({f"w{number}": 1.0}, number % 2)
        if not bindings or bindings[-1] is not model._stream.binding:
            bindings.append(model._stream.binding)
    assert model.n_features_in_ == 4_000 and len(bindings) < 9


def test_a_model_with_a_matrix_makes_room_sparingly():
    model = om.AROW(covariance="full")
    for number in range(20):
        model.learn_one({f"w{number}": 1.0}, number % 2)
    assert model._model.start.slots <= 2 * 20 + 2
