"""What `fit` does of rows without a say, odd tables and learners without labels, a cluster does too."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.multiclass import OneVsRestClassifier

import onmargin as om
from onmargin.cluster.report import Report
from onmargin.errors import BadInput

DRAW = np.random.default_rng(11)
X = np.round(DRAW.normal(size=(120, 4)), 3)
Y = np.where(X @ [1.0, -1.0, 0.5, 0.2] > 0, 1, -1)


def cut(*columns: Any) -> list[Any]:
    """Three partitions."""
    return [dask.delayed(tuple(column[at : at + 40] for column in columns)) for at in range(0, 120, 40)]


@pytest.mark.parametrize("kind", ["array", "frame", "blocks"])
def test_a_ball_around_points_needs_no_labels(client, kind):
    """One partition is the learner itself; of several the mean loss is reported, and goes into a file."""
    learner = om.PassiveAggressiveUniclass(random_state=0, average=False)
    data = {
        "array": da.from_array(X, chunks=(120, -1)),
        "frame": dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=1),
        "blocks": [dask.delayed(X)],
    }[kind]
    found = om.cluster.run(learner, data, client=client, epochs=1, shuffle=False, sample=0)
    alone = om.progressive(learner.clone(), X)
    assert found.report.errors == [pytest.approx(alone.totals.loss / 120, rel=1e-12)]
    assert "loss" in str(found.report) and Report.restored(found.report.state()).errors == found.report.errors
    np.testing.assert_allclose(found.model.center_, learner.clone().partial_fit(X).center_, rtol=1e-12)
    several = om.cluster.run(learner, [dask.delayed(X[i::3]) for i in range(3)], client=client, epochs=2)
    assert several.report.sample is not None and several.report.error < 2 * alone.totals.loss / 120
    assert np.linalg.norm(several.model.center_ - X.mean(0)) < 1 < np.linalg.norm(X, axis=1).mean()


def test_rows_of_weight_0_are_no_rounds_but_their_labels_are_known(client):
    weights = np.where(Y == 1, 0.0, 1.0)
    weights[:10] = 1.0
    labels = np.where(np.arange(120) >= 118, 5, Y)  # (one that only rows without weight have)
    weights[118:] = 0.0
    learner = om.Perceptron(random_state=0, class_weight="balanced")
    found = om.cluster.run(learner, cut(X, labels, weights), client=client, epochs=1)
    assert found.model.classes_.tolist() == [-1, 1, 5]
    assert found.report.epochs[0].sums.rounds == int((weights > 0).sum())
    with pytest.raises(BadInput, match="no partition holds an example"):
        om.cluster.fit(learner, cut(X, labels, 0 * weights), client=client)
    pairs = [({"a": 1.0}, 1, 0.0), ({"a": 2.0}, 1, 1.0), ({"a": -1.0}, 0, 2.0)]
    bag = db.from_sequence(pairs * 5, npartitions=2)
    done = om.cluster.run(om.Perceptron(random_state=0), bag, client=client, epochs=1, sample=0)
    assert done.report.epochs[0].sums.rounds == 10


@pytest.mark.parametrize("classes", [None, [-1, 1]])
def test_the_constant_coordinate_is_of_all_rows_whatever_is_announced(client, classes):
    """Lengths differ by a hundred between the beginning and the end of a partition; entries may be split."""
    rows = np.r_[X, 100 * X, 100 * X] * 30
    halves = sp.coo_matrix(rows)
    twice = sp.csr_matrix(
        (
            np.repeat(halves.data / 2, 2),
            np.repeat(halves.col, 2),
            np.r_[0, np.cumsum(2 * np.diff(sp.csr_matrix(rows).indptr))],
        ),
        shape=rows.shape,
    )
    y = np.tile(Y, 3)
    expected = om.Perceptron(random_state=0).fit(rows, y).intercept_scaling_
    for table in (rows, twice):
        found = om.cluster.fit(
            om.Perceptron(random_state=0), [dask.delayed((table, y))], client=client, epochs=1, rows=20,
            classes=classes,
        )  # fmt: skip
        assert found.intercept_scaling_ == pytest.approx(expected, rel=1e-12)


def test_costs_have_a_row_for_each_label_of_all_partitions(client):
    learner = om.PassiveAggressiveClassifier(random_state=0, cost=np.array([[0.0, 1.0], [5.0, 0.0]]))
    order = np.argsort(Y, kind="stable")  # each partition but one has one label alone
    found = om.cluster.fit(learner, cut(X[order], Y[order]), client=client, epochs=4)
    assert found.classes_.tolist() == [-1, 1] and (found.predict(X) == 1).mean() > (Y == 1).mean()


def test_of_two_classes_one_has_a_learner_as_scikit_learn_has_it(client):
    data = cut(X, np.where(Y == 1, "yes", "no"))
    found = om.cluster.fit(OneVsRestClassifier(om.Perceptron(random_state=0)), data, client=client)
    assert len(found.estimators_) == 1 and found.classes_.tolist() == ["no", "yes"]
    assert found.score(X, np.where(Y == 1, "yes", "no")) > 0.9


@pytest.mark.parametrize("labels", [(1, "no"), (b"yes", "no"), (1, 2.5)])
def test_labels_of_several_kinds_have_no_learner_each_as_scikit_learn_has_it(client, labels):
    """In one line, before anything is learned; they became texts."""
    y = np.array([labels[int(one > 0)] for one in Y], object)
    learner, moments = OneVsRestClassifier(om.Perceptron(random_state=0)), []
    with pytest.raises(BadInput, match="^the labels are .*; one learner for each class wants .* one kind"):
        om.cluster.fit(learner, cut(X, y), client=client, tell=moments.append)
    assert not moments
    with pytest.raises((TypeError, ValueError)):
        learner.fit(X, y)


def test_learners_of_classes_know_the_names_of_columns(client):
    data = cut(pd.DataFrame(X, columns=list("abcd")), Y)
    found = om.cluster.fit(OneVsRestClassifier(om.Perceptron(random_state=0)), data, client=client)
    assert found.feature_names_in_.tolist() == list("abcd")


def test_announced_fractions_are_classes(client):
    """By the call as by the parameter, from any iterable; the learner's own parameter stays."""
    found = om.cluster.fit(
        om.Perceptron(random_state=0), cut(X, Y / 2), client=client, classes=(half / 2 for half in (-1, 1))
    )
    assert found.classes_.tolist() == [-0.5, 0.5] and found.classes is None


def test_tables_of_pyarrow_hold_their_labels(client):
    frame = pd.DataFrame(X, columns=list("abcd"))
    table = pa.Table.from_pandas(frame.assign(y=Y))
    learner, more = om.Perceptron(random_state=0), {"client": client, "epochs": 1}
    one = om.cluster.fit(learner, [dask.delayed(table)], target="y", **more)
    pair = om.cluster.fit(learner, [dask.delayed((table.drop_columns("y"), table["y"]))], **more)
    other = om.cluster.fit(learner, [dask.delayed((frame, Y))], **more)
    for found in (one, pair):
        assert found.coef_.tolist() == other.coef_.tolist()
        assert found.feature_names_in_.tolist() == list("abcd")
    (answers,) = dask.compute(*om.cluster.predict(one, [dask.delayed(table)], target="y"), scheduler="sync")
    assert answers.tolist() == one.predict(frame).tolist()


def test_weights_of_some_partitions_are_1_in_others(client):
    data = [dask.delayed((X[:60], Y[:60], np.full(60, 2.0))), dask.delayed((X[60:], Y[60:]))]
    swept = om.cluster.sweep(om.Perceptron(random_state=0), {"rate": [1.0]}, data, client=client)
    weights = np.repeat([2.0, 1.0], 60)
    here = om.sweep(om.Perceptron(random_state=0), {"rate": [1.0]}, X, Y, sample_weight=weights)
    assert swept.best_model.coef_.tolist() == here.best_model.coef_.tolist()


def test_dense_and_sparse_partitions_are_learned_and_swept_together(client):
    data = [dask.delayed((X[:60], Y[:60])), dask.delayed((sp.csr_matrix(X[60:]), Y[60:]))]
    dense = [dask.delayed((X[:60], Y[:60])), dask.delayed((X[60:], Y[60:]))]
    learner, grid = om.PassiveAggressiveClassifier(random_state=0), {"C": [0.01, 1.0]}
    one, other = (om.cluster.fit(learner, given, client=client, epochs=2) for given in (data, dense))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-12)
    swept, same = (om.cluster.sweep(learner, grid, given, client=client) for given in (data, dense))
    assert [row["mistakes"] for row in swept.rows] == [row["mistakes"] for row in same.rows]


def test_answers_of_an_empty_partition_are_of_the_models_kind(client):
    model = om.Perceptron(random_state=0).fit(X, np.where(Y == 1, "yes", "no"))
    empty, whole = client.compute(
        om.cluster.predict(model, [dask.delayed(X[:0]), dask.delayed(X)]), sync=True
    )
    assert empty.shape == (0,) and empty.dtype == whole.dtype
