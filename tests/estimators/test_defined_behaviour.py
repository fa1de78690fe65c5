"""Input that looks bad and has a defined answer, and names that other libraries use."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.errors import OnmarginError

from ..students import plainly
from .refusals import (
    CLASSIFIERS,
    SCALE,
    X,
    Y,
    every_classifier,
    every_learner,
    fresh,
    refuses,
    state,
    taught,
)


@every_learner
def test_a_zero_row_moves_nothing_but_the_bias(cls: Any) -> None:
    zero = np.zeros((1, 3))
    if cls is om.PassiveAggressiveUniclass:  # a zero row is a point; here it is the centre itself
        model = cls().partial_fit(zero)
        assert model.t_ == 1 and not model.center_.any()
        return
    if cls is om.Pegasos:  # it shrinks in every round
        return
    for fit_intercept in (False, True):
        model = taught(cls, fit_intercept=fit_intercept)
        before = state(model)
        wrong = 1 - model.predict(zero) if cls in CLASSIFIERS else model.predict(zero) + 5.0
        run = om.progressive(model, zero, wrong)
        np.testing.assert_allclose(model.coef_, before["coef_"], rtol=1e-14 if fit_intercept else 0)
        assert model.t_ == 13
        assert (model.intercept_ != before["intercept_"]) == fit_intercept
        assert run.losses[0] > 0 or SCALE.get(cls) in ("rate", "a") or cls is om.SoftConfidenceWeighted
        assert run.rounds == 1 and run.updates == fit_intercept and run.queried[0]


def test_a_zero_row_has_the_full_loss_and_no_step() -> None:
    model = om.PassiveAggressiveClassifier(fit_intercept=False, classes=(0, 1))
    run = om.progressive(model, np.zeros((2, 3)), [0, 1])
    assert run.losses.tolist() == [1.0, 1.0] and run.steps.tolist() == [0.0, 0.0] and run.errors_theory == 2


@every_classifier
def test_one_class_alone_is_refused_by_fit_and_learned_by_streams(cls: Any) -> None:
    refuses(cls(), lambda model: model.fit(X, np.ones(12)), ValueError)
    assert set(fresh(cls).partial_fit(X, np.ones(12)).predict(X)) <= {0, 1}
    stream = cls()
    for row in X.tolist():
        stream.learn_one(dict(enumerate(row)), "only")
    assert stream.classes_.tolist() == ["only"] and stream.predict_one({0: -9.0}) == "only"


@every_learner
@pytest.mark.parametrize("number", [np.int32, np.int64])
def test_duplicate_and_unsorted_entries_are_summed_in_a_copy(cls: Any, number: Any) -> None:
    indices = np.tile([2, 0, 1, 0], 12).astype(number)  # column 0 in two halves, the rest unsorted
    data = np.c_[X[:, 2], X[:, 0] / 2, X[:, 1], X[:, 0] / 2].ravel()
    table = sp.csr_matrix((data, indices, np.arange(0, 49, 4).astype(number)), shape=(12, 3))
    kept = [np.array(part) for part in (table.data, table.indices, table.indptr)]
    model = fresh(cls, **plainly(cls)).partial_fit(table, Y)
    np.testing.assert_allclose(model.coef_, taught(cls, **plainly(cls)).coef_, rtol=0, atol=1e-9)
    in_order = {"order": "cyclic", "lam": 1e-4} if cls is om.Pegasos else {"shuffle": False}
    once = {"max_iter": 1, **in_order, **plainly(cls)}
    np.testing.assert_allclose(fresh(cls, **once).fit(table, Y).coef_, model.coef_, rtol=0, atol=1e-9)
    assert np.array_equal(model.predict(table), model.predict(X))
    for before, after in zip(kept, (table.data, table.indices, table.indptr), strict=True):
        assert np.array_equal(before, after)


BROKEN = {
    "a column too large": ("indices", lambda a: np.r_[a[:4], 99, a[5:]]),
    "a column below 0": ("indices", lambda a: np.r_[a[:4], -1, a[5:]]),
    "falling bounds": ("indptr", lambda a: np.r_[a[:3], 30, a[4:]]),
    "bounds beyond the end": ("indptr", lambda a: np.r_[a[:-1], 40]),
    "bounds that begin late": ("indptr", lambda a: np.r_[1, a[1:]]),
}


@pytest.mark.parametrize("part, spoil", BROKEN.values(), ids=BROKEN.keys())
def test_a_malformed_csr_matrix_is_refused(part: str, spoil: Any) -> None:
    table = sp.csr_matrix(X)
    setattr(table, part, spoil(getattr(table, part)).astype(getattr(table, part).dtype))
    model = taught(om.PassiveAggressiveClassifier)
    refuses(model, lambda model: model.fit(table, Y), ValueError)
    refuses(model, lambda model: model.partial_fit(table, Y), ValueError)
    refuses(model, lambda model: model.predict(table), ValueError)


@pytest.mark.parametrize("part, kept", [("indptr", 9), ("data", 20)], ids=["bounds", "values"])
def test_a_csr_matrix_with_too_few_entries_is_refused_not_read_beyond_its_end(part: str, kept: int) -> None:
    script = f"""if True:
        import numpy as np, onmargin as om, scipy.sparse as sp
        table = sp.csr_matrix(np.ones((12, 3)))
        table.{part} = table.{part}[:{kept}].copy()
        try:
            om.PassiveAggressiveClassifier().fit(table, [0, 1] * 6)
        except ValueError as error:  # (what lies beyond the end may be NaN: "row 9 has a NaN")
            print("read" if str(error).startswith("row ") else "refused")
    """  # in a process of its own: reading beyond the end may take the process down
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout.strip()) == (0, "refused")


THEIRS = {"loss": "step=", "mode": "step=", "learn_intercept": "fit_intercept=", "seed": "random_state=",
          "eta0": "C=", "n_iter": "max_iter=", "eps": "epsilon=", "n_jobs": "leave it out"}  # fmt: skip


@every_learner
@pytest.mark.parametrize("name", THEIRS)
def test_names_of_other_libraries_are_answered_with_ours(cls: Any, name: str) -> None:
    if name in cls().get_params():
        return
    with pytest.raises(TypeError) as caught:
        cls(**{name: 1})
    ours, said = set(cls().get_params()), str(caught.value)
    wanted = THEIRS[name] if name != "loss" or "step" in ours else "leave it out"
    assert isinstance(caught.value, OnmarginError) and "\n" not in said
    assert set(re.findall(r"(?:use|or|and) (\w+)=", said)) <= ours  # nothing that it has not
    if name != "eta0" and (wanted[:-1] in ours or not wanted.endswith("=")):
        assert wanted in said
    if name == "eta0" and {"C", "rate", "prior"} & ours:
        assert "use C=" in said or "use rate=" in said or "use lam=" in said


@pytest.mark.parametrize(("loss", "step"), [("squared_hinge", "pa2"), ("hinge", "pa1")])
def test_the_answer_depends_on_the_value(loss: str, step: str) -> None:
    with pytest.raises(TypeError, match=f"use step='{step}'$"):
        om.PassiveAggressiveClassifier(loss=loss)


@pytest.mark.parametrize("name", THEIRS)
def test_set_params_answers_them_too(name: str) -> None:
    cls = om.PassiveAggressiveRegressor if name == "eps" else om.PassiveAggressiveClassifier
    error = refuses(taught(cls), lambda model: model.set_params(**{name: 1}))
    assert THEIRS[name] in str(error)


@every_learner
def test_an_unknown_parameter_is_refused(cls: Any) -> None:
    model = taught(cls)
    parameters = model.get_params()
    assert "nonsense" in str(refuses(model, lambda model: model.set_params(nonsense=1)))
    assert model.get_params() == parameters
    with pytest.raises(TypeError, match="nonsense"):
        cls(nonsense=1)
