"""The AUC of a run while it learns: exact on demand, in windows; and of several classes, and of sets."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import label_ranking_loss, roc_auc_score

import onmargin as om
from onmargin.errors import BadInput


@pytest.fixture(scope="module")
def run():
    """One positive in ten."""
    draw = np.random.default_rng(0)
    y = np.where(draw.random(3000) < 0.1, "yes", "no")
    X = draw.normal(0.5 * (y == "yes")[:, None], 1.0, (3000, 6))
    return om.progressive(om.PairedClassifier(C=0.05, random_state=0), X, y, classes=["no", "yes"])


def test_exact_on_demand_is_scikit_learns(run):
    assert_allclose(run.metrics("auc")["auc"], roc_auc_score(run.y, run.scores), rtol=1e-12)


def test_windows_are_the_last_rounds_and_none_is_all_so_far(run):
    at, areas = run.auc_curve(window=700, every=500)
    assert at.tolist() == [500, 1000, 1500, 2000, 2500, 3000]
    for stop, area in zip(at, areas, strict=True):
        some = slice(max(stop - 700, 0), stop)
        assert_allclose(area, roc_auc_score(run.y[some], run.scores[some]), rtol=1e-12)
    at, areas = run.auc_curve(every=1500)
    assert_allclose(areas[-1], run.metrics("auc")["auc"], rtol=1e-12)
    assert_allclose(areas[0], roc_auc_score(run.y[:1500], run.scores[:1500]), rtol=1e-12)


def test_a_window_of_one_class_is_nan_and_rounds_not_seen_do_not_count():
    draw = np.random.default_rng(1)
    X, y = draw.normal(size=(60, 3)), np.repeat([0, 1, 0], 20)
    weights = np.where(np.arange(60) % 4 == 0, 0.0, 1.0)
    run = om.progressive(om.PairedClassifier(random_state=0), X, y, sample_weight=weights)
    at, areas = run.auc_curve(window=10, every=10)
    assert at[-1] == run.rounds == 45
    assert np.isnan(areas[0])
    seen = weights > 0
    assert_allclose(run.metrics("auc")["auc"], roc_auc_score(y[seen], run.scores[seen]), rtol=1e-12)


def test_several_classes_and_sets_have_their_measures():
    draw = np.random.default_rng(2)
    X = draw.normal(size=(400, 5))
    y = draw.integers(3, size=400)
    several = om.progressive(om.PairedClassifier(random_state=0), X, y)
    found = several.metrics("auc_all_pairs", "auc_one_vs_all")
    assert_allclose(found["auc_all_pairs"], om.metrics.auc_all_pairs(y, several.scores), rtol=1e-12)
    assert_allclose(found["auc_one_vs_all"], om.metrics.auc_one_vs_all(y, several.scores), rtol=1e-12)
    sets = (draw.random((400, 4)) < 0.4).astype(int)
    run = om.progressive(om.PairedClassifier(random_state=0), X, sets)
    found = run.metrics("ranking_loss", "one_error", "coverage", "lrap")
    assert_allclose(found["ranking_loss"], label_ranking_loss(sets, run.scores), atol=1e-3)  # ties
    assert 0 < found["lrap"] < 1 <= found["coverage"]


def test_refusals_are_one_line(run):
    draw = np.random.default_rng(3)
    X, y = draw.normal(size=(30, 2)), draw.integers(3, size=30)
    several = om.progressive(om.PairedClassifier(random_state=0), X, y)
    sums = om.progressive(om.PairedClassifier(random_state=0), X, y > 0, trace="sums")
    for call, word in (
        (several.auc_curve, "two classes"), (sums.auc_curve, "trace='full'"),
        (lambda: run.auc_curve(window=0), "window=0"), (lambda: run.auc_curve(every=1.5), "every=1.5"),
        (lambda: several.metrics("auc"), "no metric 'auc'"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=word) as caught:
            call()
        assert "\n" not in str(caught.value)
