"""Every loss x regulariser x step that is not refused, against its oracle, without compiling anything.

Each combination is learned twice, through FTRL (dense) and through a Recipe (CSR), in one process of
plain Python: `NUMBA_DISABLE_JIT=1 python -m tests.learn.test_every_combination FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.errors import BadInput
from tests.once import as_plain_python

from ..oracles import play
from ..students import REGULARIZER, SCALING, can_average, for_oracle, stream

ROOT = Path(__file__).parents[2]
SCHEDULED, PA = ("constant", "sqrt", "unit"), ("pa", "pa1", "pa2")
OF_LABELS = ("perceptron", "hinge", "squared_hinge", "logistic", "exponential", "squared")
OF_NUMBERS = ("epsilon_insensitive", "squared")
FTRL_ONLY = {"pnorm_by_d": {}, "group_by_d": {}, "groups": {"groups": [2, 0, 0, 1, 2], "p": 1.4}}
FTRL_ONLY["soft_adagrad"] = {"l1": 0.05, "adagrad_delta": 0.5}
SPACES = REGULARIZER | FTRL_ONLY
NEAR = {"rtol": 1e-9, "atol": 1e-9}


def combinations():
    """space.problem:loss:step"""
    for problem in ("binary", "top", "regression"):
        for loss in OF_NUMBERS if problem == "regression" else OF_LABELS:
            for space in SPACES:
                for step in SCHEDULED if space != "coin" else ("unit",):
                    yield f"{space}.{problem}:{loss}:{step}"
            if loss == "hinge":
                yield from (f"{space}.{problem}:hinge:aggressive" for space in ("pnorm", "group"))
            for step in PA if loss != "perceptron" else ():  # the loss of 0 is 0: refused
                yield f"l2.{problem}:{loss}:{step}"


ALL = tuple(combinations())


def read(combination):
    """The row of the table, its space, loss and step, and the numbers that FTRL is given."""
    place, loss, step = combination.split(":")
    space, problem = place.split(".")
    base = {"pnorm_by_d": "pnorm", "group_by_d": "group", "groups": "group", "soft_adagrad": "soft"}
    numbers = {"rate": 0.2, "C": 0.3} | SPACES[space] | ({"epsilon": 0.2} if problem == "regression" else {})
    return f"ftrl_{base.get(space, space)}.{problem}", space, loss, step, numbers


def examples(combination):
    """Short rows: steps of rate 1 on losses that bend must not feed on themselves."""
    given = stream(read(combination)[0], rows=30, seed=2)
    return given._replace(X=0.25 * given.X)


def students(combination):
    """The same learner of both kinds; some options only FTRL has, one step only a Recipe."""
    name, space, loss, step, numbers = read(combination)
    family = name.split(".")[0].removeprefix("ftrl_")
    shared = {"intercept_scaling": SCALING, "average": can_average(name)}
    regression = name.endswith("regression")
    models = {}
    if step != "aggressive":
        ftrl = om.FTRLRegressor if regression else om.FTRLClassifier
        regularizer = {"simplex": "entropic", "soft": "l2"}.get(family, family)
        regularizer = "adagrad" if space == "soft_adagrad" else regularizer
        parts = {"loss": loss, "step": step, "regularizer": regularizer, "signed": family != "simplex"}
        models["ftrl"] = ftrl(**parts, **numbers, **shared)
    if space not in FTRL_ONLY:
        recipe = om.Recipe("regression" if regression else "classification", loss, step, family)
        built = om.OnlineRegressor if regression else om.OnlineClassifier
        renamed = {"adagrad_delta": "delta", "coin_epsilon": "delta"}
        models["recipe"] = built(
            recipe, **{renamed.get(word, word): n for word, n in numbers.items()}, **shared
        )
    return models


def numbers_of(combination):
    """Coefficients and rounds of both students, weights between 0 and 2 included."""
    X, y, h = examples(combination)
    for kind, model in students(combination).items():
        run = om.progressive(model, X if kind == "ftrl" else sp.csr_matrix(X), y, sample_weight=h)
        rounds = np.c_[run.scores.reshape(len(X), -1), run.losses, run.steps]
        yield f"{combination}/{kind}/coef", np.c_[model.coef_, model.intercept_]
        yield f"{combination}/{kind}/rounds", rounds


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """What plain Python makes of every combination, in one process."""
    path = tmp_path_factory.mktemp("combinations") / "numbers.npz"
    with np.load(as_plain_python("tests.learn.test_every_combination", path, "default")) as file:
        return dict(file)


@pytest.mark.parametrize("combination", ALL)
def test_combination_equals_its_oracle(combination, learned):
    name, space, loss, step, numbers = read(combination)
    given = examples(combination)
    X, y, outputs = for_oracle(name, given)
    told = numbers | {"loss": loss, "step": step, "soft_of": "adagrad" if "adagrad" in space else "l2"}
    run = play(name, X, y, given.h, outputs, **told)
    weights = run.mean if can_average(name) else run.last
    for kind in students(combination):
        found = {what: learned[f"{combination}/{kind}/{what}"] for what in ("coef", "rounds")}
        assert_allclose(found["coef"], np.c_[weights[:, :-1], weights[:, -1] * SCALING], **NEAR)
        assert_allclose(found["rounds"], np.c_[run.scores, run.losses, run.steps], **NEAR)
    assert np.count_nonzero(run.steps) > 3


def test_what_is_refused_is_refused():
    """The rest of the grid."""
    X, y, _ = stream("ftrl_l2.binary")
    for step in PA:
        for space in ("pnorm", "group", "entropic", "adagrad", "coin"):
            with pytest.raises(BadInput, match="Euclidean"):
                om.FTRLClassifier(regularizer=space, step=step).partial_fit(X, y, classes=["no", "yes"])
        with pytest.raises(BadInput, match="never leaves 0"):
            om.FTRLClassifier(loss="perceptron", step=step).partial_fit(X, y, classes=["no", "yes"])


def main(path):
    """Write the numbers of every combination."""
    np.savez(path, **{what: value for combination in ALL for what, value in numbers_of(combination)})


if __name__ == "__main__":
    main(sys.argv[1])
