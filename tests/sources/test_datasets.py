"""Real sets by name, and generators whose comparators are what they say."""

from __future__ import annotations

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadInput, NoFile
from onmargin.sources import real
from tests.soaking import either

LISTED = om.datasets.names()
LARGE = ("mnist", "news20", "enron_spam", "mq2007_agg", "usps")  # seconds each
NAMES = [name for name in LISTED if either(0, 1) or name not in LARGE]


def found(name):
    if not LISTED[name].is_here:
        pytest.skip(f"{name} is not in the folder that ONMARGIN_DATA names")
    return om.datasets.load(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_set_is_what_the_list_says(name):
    entry, data = LISTED[name], found(name)
    count = data.X.shape[0] if hasattr(data.X, "shape") else len(data.X)
    assert count == entry.rows == len(data.y) and entry.bytes > 0
    if entry.columns:
        assert data.X.shape[1] == entry.columns
    if entry.task == "multilabel":
        assert data.y.shape[1] == entry.classes and set(np.unique(data.y)) == {0, 1}
    elif entry.classes:
        assert len(np.unique(data.y.astype(str))) == entry.classes
    if entry.test_rows and entry.task != "ranking":
        assert data.X_test.shape == (entry.test_rows, entry.columns) and len(data.y_test) == entry.test_rows
    if entry.task == "ranking":
        assert len(data.groups) == entry.rows and (np.diff(data.groups) != 0).sum() > 40


@pytest.mark.parametrize(
    "name", ["a1a", "yeast", "sms_spam", "elec2", "california", "abalone", "lightgbm_rank", "mq2008", "mfeat"]
)
def test_a_set_as_a_source_has_the_same_targets(name):
    data = found(name)
    source = om.datasets.load(name, as_source=True, rows=1000)
    blocks = list(source)
    assert [len(block.targets) for block in blocks[:-1]] == [1000] * (len(blocks) - 1) and source.again
    targets = np.concatenate([block.targets for block in blocks])
    assert np.array_equal(targets.astype(data.y.dtype), data.y)
    if LISTED[name].task == "ranking":
        assert np.array_equal(np.concatenate([block.groups for block in blocks]), data.groups)


def test_the_old_loaders_agree():
    data, before = found("a9a"), real.adult()
    assert (data.X != before.X).nnz == 0 and np.array_equal(data.y_test, before.y_test)
    sonar, labels = real.small("sonar")
    assert np.array_equal(found("sonar").X, sonar) and np.array_equal(found("sonar").y, labels)


def test_what_is_not_there_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("ONMARGIN_DATA", str(tmp_path))
    with pytest.raises(NoFile, match=r"a9a/a9a.gz of a9a is not in .*; set ONMARGIN_DATA"):
        om.datasets.load("a9a")
    assert not om.datasets.names()["a9a"].is_here and "CC BY 4.0" in repr(om.datasets.names())
    with pytest.raises(BadInput, match="there is no set 'a9b'; did you mean 'a9a'"):
        om.datasets.load("a9b")
    with pytest.raises(BadInput, match="part='test'; a1a has train only"):
        om.datasets.load("a1a", part="test")


# ---- generators


def test_separable_points_have_their_margin_within_the_ball():
    stream = om.datasets.separable(2000, 7, margin=0.05, seed=3)
    assert (stream.y * (stream.X @ stream.comparator)).min() >= 0.05
    assert np.linalg.norm(stream.X, axis=1).max() <= 1 + 1e-9 and np.linalg.norm(
        stream.comparator
    ) == pytest.approx(1)
    noisy = om.datasets.separable(2000, 7, margin=0.05, label_noise=0.2, seed=3)
    assert 0.15 < (noisy.y != stream.y).mean() < 0.25


def test_the_circle_labels_by_its_margin():
    stream = om.datasets.circle(20_000, seed=1)
    along = stream.X @ stream.comparator
    for low in (-0.8, -0.2, 0.4):
        near = np.abs(along - low) < 0.1
        assert (stream.y[near] == 1).mean() == pytest.approx((1 + low) / 2, abs=0.05)


def test_the_comparator_of_imbalanced_classes_halves_the_errors():
    stream = om.datasets.imbalanced(20_000, share=0.1, seed=2)
    scores = stream.X @ stream.comparator[:-1] + stream.comparator[-1]
    errors = [(scores[stream.y == sign] * sign <= 0).mean() for sign in (1, -1)]
    assert (stream.y == 1).mean() == pytest.approx(0.1, abs=0.01)
    assert errors[0] == pytest.approx(errors[1], abs=0.03) and sum(errors) == pytest.approx(0.27, abs=0.04)


def test_harder_streams_are_labelled_by_their_comparators():
    texts = om.datasets.keyword_patterns(3000, label_noise=0.0, seed=1)
    assert np.array_equal((texts.X @ texts.comparator.T).argmax(axis=1), texts.y)
    moving = om.datasets.switching(3, 500, 10, seed=1)
    rule = np.repeat(moving.comparator, 500, axis=0)
    assert np.array_equal(np.where((moving.X * rule).sum(axis=1) > 0, 1, -1), moving.y)
    drift = om.datasets.drifting_classes(4000, 4, 30, turn=3e-4, noise=0.1, seed=1)
    late = (drift.X[-500:] @ drift.comparator.T).argmax(axis=1)
    assert (late == drift.y[-500:]).mean() > 0.95
    assert ((drift.X[:500] @ drift.comparator.T).argmax(axis=1) == drift.y[:500]).mean() < 0.9
    source, target = om.datasets.related_tasks(500, 100, 8, apart=0.3, label_noise=0.0, seed=1)
    assert np.array_equal(np.where(target.X @ target.comparator >= 0, 1, -1), target.y)
    moved = np.linalg.norm(target.comparator - source.comparator) / np.linalg.norm(source.comparator)
    assert moved == pytest.approx(0.3)
    seen = om.datasets.views(600, 8, 3, informative=2, noise=0.5, seed=1)
    means = [np.array([X[seen.y == k].mean(axis=0) for k in range(3)]) for X in seen.X]
    spread = np.array([mean.std(axis=0).max() for mean in means])
    assert (
        spread[seen.informative].min() > 2 * spread[~seen.informative].max()
    ) and seen.informative.sum() == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: om.datasets.separable(margin=0), lambda: om.datasets.circle(0),
        lambda: om.datasets.imbalanced(share=0),
        lambda: om.datasets.keyword_patterns(own=100), lambda: om.datasets.switching(0),
        lambda: om.datasets.views(informative=30), lambda: om.datasets.drifting_classes(classes=1),
        lambda: om.datasets.related_tasks(few=0), lambda: om.datasets.sparse_words(5, 10, 20),
    ],
)  # fmt: skip
def test_bad_numbers_are_refused(make):
    with pytest.raises(BadInput, match=r"wanted"):
        make()
