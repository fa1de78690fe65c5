"""The loss beside its bound: replayed from the journal, it is what om.certificate says of the same rows."""

from __future__ import annotations

import numpy as np
import pytest

import onmargin as om
from onmargin.server.bound import Bounds, loss_and_bound
from onmargin.server.service import Service

draw = np.random.default_rng(5)
X = draw.normal(size=(150, 4))
Y = np.where(X[:, 0] + 0.5 * draw.normal(size=150) > 0, "yes", "no")


@pytest.fixture
def service(tmp_path):
    made = Service(tmp_path)
    yield made
    made.close()


def test_both_sides_are_those_of_the_certificate_of_the_same_rows(service):
    service.create("pa", {"algorithm": "pa1", "C": 0.1})
    given = [
        {"x": dict(zip("abcd", row, strict=True)), "y": y}
        for row, y in zip(X.tolist(), Y.tolist(), strict=True)
    ]
    service.learn("pa", given).result()
    found = loss_and_bound(service, "pa")
    run = om.progressive(om.PassiveAggressiveClassifier(C=0.1), X, Y)
    course = om.certificate(run, "best").courses[found.theorem]
    assert found.theorem == "A4" and found.counts == "mistakes" and len(found.left) == 150
    assert found.left[-1] == run.errors_theory <= found.right[-1]
    np.testing.assert_allclose(found.right, course.right, rtol=1e-9)
    assert "best fixed model in hindsight; the first 150 rounds" in found.words


def test_where_there_is_no_bound_it_says_why(service):
    bounds = Bounds(service)
    service.create("arow", {"algorithm": "arow"})
    assert bounds.of("arow").words == "no label yet"
    service.learn("arow", [{"x": X[0].tolist(), "y": "yes"}]).result()
    assert bounds.of("arow").words == "labels of two classes are wanted"
    service.learn(
        "arow", [{"x": row, "y": y} for row, y in zip(X.tolist(), Y.tolist(), strict=True)]
    ).result()
    found = bounds.of("arow")
    assert not found.left and "no theorem is known" in found.words
    assert bounds.of("arow") is found  # kept until much more is learned
