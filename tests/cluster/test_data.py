"""Every kind of data is learned alike; answers, sweeps and classes are spread; who is refused, and how."""

from __future__ import annotations

import runpy
import tracemalloc
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier

import onmargin as om
from onmargin.cluster.knowing import LengthsOfAll, Whole
from onmargin.cluster.parcel import Change, packed, unpacked
from onmargin.cluster.partitions import Partition
from onmargin.cluster.report import Report
from onmargin.cluster.summary import Lengths, asked, summarise
from onmargin.errors import BadInput, BadType, ClusterError
from tests.soaking import either, soaked

DRAW = np.random.default_rng(7)
X = np.round(DRAW.normal(size=(120, 4)), 3)
Y = np.where(X @ [1.0, -1.0, 0.5, 0.2] + 0.2 * DRAW.normal(size=120) > 0, 1, -1)
NAMES = [f"f{number}" for number in range(4)]
FRAME = pd.DataFrame(X, columns=NAMES)
LEARNER = om.PassiveAggressiveClassifier(random_state=2)
SIZE = 40


def chunks() -> list[tuple[Any, Any]]:
    return [(X[at : at + SIZE], Y[at : at + SIZE]) for at in range(0, 120, SIZE)]


def svmlight(path: Any) -> Any:
    lines = [
        f"{y} " + " ".join(f"{k + 1}:{v}" for k, v in enumerate(row)) for row, y in zip(X, Y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def by_blocks(client) -> Any:
    return om.cluster.fit(LEARNER, [dask.delayed(part) for part in chunks()], client=client, epochs=2)


@pytest.mark.parametrize(
    "kind", ["arrays", "sparse", "weights", "frames", "target", "bag", "records", "futures"]
)
def test_every_kind_of_data_gives_the_same_model(client, by_blocks, kind):
    arrays = (da.from_array(X, chunks=(SIZE, -1)), da.from_array(Y, chunks=SIZE))
    frame = dd.from_pandas(FRAME, npartitions=3)
    pairs = [(dict(zip(NAMES, row.tolist(), strict=True)), int(y)) for row, y in zip(X, Y, strict=True)]
    more: dict[str, Any] = {}
    if kind == "arrays":
        data: Any = arrays
    elif kind == "sparse":
        data = [dask.delayed((sp.csr_matrix(rows), y)) for rows, y in chunks()]
    elif kind == "weights":
        data = (*arrays, da.ones(120, chunks=SIZE))
    elif kind == "frames":
        data = (frame, dd.from_pandas(pd.Series(Y), npartitions=3))
    elif kind == "target":
        data, more = dd.from_pandas(FRAME.assign(label=Y), npartitions=3), {"target": "label"}
    elif kind == "bag":
        data = db.from_sequence(pairs, npartitions=3)
    elif kind == "records":
        data = db.from_sequence([x | {"label": y} for x, y in pairs], npartitions=3)
        more = {"target": "label"}
    else:
        data = client.scatter(chunks())
    found = om.cluster.fit(LEARNER, data, client=client, epochs=2, **more)
    np.testing.assert_allclose(found.coef_, by_blocks.coef_, rtol=1e-10)
    if kind in ("frames", "target"):
        assert list(found.feature_names_in_) == NAMES
    if kind in ("bag", "records"):
        assert found.predict_one(pairs[0][0]) == by_blocks.predict(X[:1])[0]


def test_sets_of_labels_from_bags_are_those_of_indicator_matrices(client):
    """A label that a partition has not, and one that nobody's example has, have their rows all the same."""
    marks = np.c_[Y > 0, X[:, 0] > 0.5, np.zeros(len(X), bool), X[:, 1] > 0].astype(int)
    marks[:SIZE, 1] = 0
    learner = om.PassiveAggressiveClassifier(C=0.1, random_state=0, max_iter=3)
    tables = [dask.delayed((X[at : at + SIZE], marks[at : at + SIZE])) for at in range(0, len(X), SIZE)]
    expected = om.cluster.fit(learner, tables, client=client, epochs=3)
    pairs = [
        (
            dict(zip(NAMES, row.tolist(), strict=True)),
            {name: bool(mark) for name, mark in zip("wxyz", marked, strict=True)},
        )
        for row, marked in zip(X, marks, strict=True)
    ]
    for _, y in pairs[:SIZE]:  # (what is left out is not in the set)
        del y["x"]
    found = om.cluster.run(
        learner, db.from_sequence(pairs, npartitions=3), client=client, epochs=3, sample=50
    )
    assert list(found.model.classes_) == list("wxyz") and found.report.errors[-1] < 0.5
    np.testing.assert_allclose(found.model.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
    answers = [found.model.predict_one(example[0]) for example in pairs]
    assert [[answer[name] for name in "wxyz"] for answer in answers] == (expected.predict(X) > 0).tolist()
    mixed = [*pairs[:5], (pairs[0][0], "w")]
    for wrong, told in (
        (mixed, "it has sets of labels and single labels"),
        ([(pairs[0][0], ["w"])], r"the label is \['w'\]; wanted a text"),
        ([(pairs[0][0], {"w": True, None: True})], "got the label None"),
    ):
        with pytest.raises((BadInput, ClusterError), match=told):
            om.cluster.fit(learner, db.from_sequence(wrong, npartitions=1), client=client)


def test_a_partition_of_empty_sets_is_one_of_sets(client):
    pairs = [({"a": 1.0}, {})] * 4 + [({"a": 1.0}, {"x": True, "y": False})] * 4
    learner = om.PassiveAggressiveClassifier(random_state=0)
    bag = db.from_sequence(pairs, npartitions=2)
    found = om.cluster.run(learner, bag, client=client, epochs=1, sample=0)
    assert list(found.model.classes_) == ["x", "y"] and found.report.epochs[0].sums.rounds == 8
    with pytest.raises(BadInput, match="no set of labels has a label"):
        om.cluster.fit(learner, db.from_sequence(pairs[:4], npartitions=1), client=client)


@pytest.mark.parametrize("label", ["c", {"c": True}])
def test_a_label_that_was_not_announced_is_refused(client, label):
    known = "a" if label == "c" else {"a": True, "b": False}
    bag = db.from_sequence([({"f": 1.0}, known)] * 3 + [({"f": 1.0}, label)], npartitions=1)
    with pytest.raises(ClusterError, match=r"partition 0: it has the label 'c', .*\('a', 'b'\); announce"):
        om.cluster.fit(om.PassiveAggressiveClassifier(), bag, client=client, classes=["a", "b"])


def test_numbers_are_judged_by_their_absolute_error(client):
    """As everywhere else; the mean loss would be that of what is learned by."""
    y = 3 * X[:, 0] - X[:, 1]
    parts = [dask.delayed((X[at : at + SIZE], y[at : at + SIZE])) for at in range(0, len(X), SIZE)]
    learner = om.PassiveAggressiveRegressor(random_state=0, average=False, intercept_scaling=1.0)
    found = om.cluster.run(learner, parts, client=client, epochs=1, shuffle=False, sample=0)
    gaps, idle = [], []
    for at in range(0, len(X), SIZE):
        one = om.progressive(learner.clone(), X[at : at + SIZE], y[at : at + SIZE])
        gaps.append(np.abs(one.predictions - one.y).sum())
        means = np.r_[0.0, np.cumsum(one.y)[:-1] / np.arange(1, len(one.y))]
        idle.append(np.abs(one.y - means).sum())
    assert found.report.error == pytest.approx(sum(gaps) / len(X), rel=1e-12)
    assert found.report.epochs[0].sums.idle == pytest.approx(sum(idle), rel=1e-12)
    assert "mae" in str(found.report) and Report.restored(found.report.state()).error == found.report.error


def test_files_are_read_by_the_workers(client, tmp_path):
    path = svmlight(tmp_path / "rows.svm")
    parts = om.sources.split(path, parts=3, columns=4)
    found = om.cluster.fit(LEARNER, str(path), client=client, epochs=2, parts=3)
    again = om.cluster.fit(LEARNER, parts, client=client, epochs=2)
    blocks = [[(block.rows, block.targets) for block in part.blocks()] for part in parts]
    hand = om.cluster.fit(LEARNER, [dask.delayed(some[0]) for some in blocks], client=client, epochs=2)
    assert np.array_equal(found.coef_, again.coef_) and np.array_equal(found.coef_, hand.coef_)
    answers = om.cluster.predict(found, str(path), parts=3)
    assert np.array_equal(np.concatenate(client.compute(answers, sync=True)), found.predict(X))


def test_tables_in_files_have_their_target_and_come_back_behind_their_features(client, tmp_path):
    """The target is the one asked for, not one guessed; answers of raw rows are those of rows in memory."""
    frame = pd.DataFrame(
        {"price": np.where(Y > 0, "high", "low"), **dict(zip(NAMES, 9 * X.T + 3, strict=True))}
    )
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=SIZE)
    file, csv = tmp_path / "run.onm", str(tmp_path / "rows.csv")
    more: dict[str, Any] = {"client": client, "target": "price", "parts": 3}
    found = om.cluster.fit(LEARNER, tmp_path / "rows.parquet", epochs=2, checkpoint=file, **more)
    assert list(found.classes_) == ["high", "low"] and found.score(frame[NAMES], frame["price"]) > 0.85
    for model in (found, om.load(file)):
        answers = om.cluster.predict(model, csv, target="price", parts=2)
        got = np.concatenate(client.compute(answers, sync=True))
        assert np.array_equal(got, found.predict(frame[NAMES]))
    with pytest.raises(BadInput, match="there is no column 'cost'"):
        om.cluster.fit(LEARNER, csv, client=client, target="cost")
    with pytest.raises(BadInput, match="begun with other target"):
        om.cluster.fit(
            LEARNER, tmp_path / "rows.parquet", checkpoint=file, resume=True, **more | {"target": "f0"}
        )
    best = om.cluster.sweep(LEARNER, {"C": [0.1, 1.0]}, csv, **more).best_model
    assert best.score(frame[NAMES], frame["price"]) > 0.85
    bare = om.cluster.fit(LEARNER, csv, epochs=2, features=None, **more)
    assert type(bare) is type(LEARNER) and list(bare.feature_names_in_) == NAMES
    assert bare.coef_.shape == (1, len(NAMES)) and bare.score(frame[NAMES], frame["price"]) > 0.8
    with pytest.raises(BadInput, match="columns are scaled before a learner sees them.*om.cluster.fit"):
        om.cluster.predict(om.Perceptron().fit(X, Y), csv, target="price")
    table = om.features.Table().fit(frame[NAMES])
    rows = table.transform(frame[NAMES])
    alone = om.Perceptron(random_state=0).fit(rows, frame["price"])
    answers = om.cluster.predict(alone, csv, target="price", features=table, parts=2)
    assert np.array_equal(np.concatenate(client.compute(answers, sync=True)), alone.predict(rows))
    assert np.array_equal(table.transform(frame[NAMES]), rows)  # it has learned nothing from those rows


def test_labels_are_told_once(client):
    """A target that stays among the columns would be learned from, and its error would be 0."""
    frame = dd.from_pandas(FRAME.assign(label=Y), npartitions=3)
    y = dd.from_pandas(pd.Series(Y), npartitions=3)
    for data, target, told in (
        ((frame, y), "label", "target='label' is for data that hold their labels"),
        (frame, "lable", "there is no column 'lable'; the columns are"),
        (frame, None, "a dataframe alone does not tell its labels"),
        (da.from_array(X, chunks=(SIZE, -1)), None, "an array alone has no labels"),
    ):
        with pytest.raises(BadInput, match=told):
            om.cluster.fit(LEARNER, data, client=client, target=target)


def test_answers_are_lazy_and_those_of_the_model(client, by_blocks):
    array = da.from_array(X, chunks=(50, 2))
    lazy = om.cluster.predict(by_blocks, array)
    assert dask.is_dask_collection(lazy) and lazy.shape == (120,)
    assert np.array_equal(client.compute(lazy, sync=True), by_blocks.predict(X))
    three = om.Perceptron(kernel="rbf", random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    scores = om.cluster.predict(three, array, method="decision_function")
    assert np.array_equal(client.compute(scores, sync=True), three.decision_function(X))
    named = om.Perceptron(random_state=0).fit(FRAME, Y)
    series = om.cluster.predict(named, dd.from_pandas(FRAME.assign(label=Y), npartitions=4), target="label")
    assert np.array_equal(client.compute(series, sync=True).to_numpy(), named.predict(FRAME))
    with pytest.raises(BadInput, match="has learned nothing yet"):
        om.cluster.predict(om.Perceptron(), array)


def test_a_sweep_on_workers_is_the_sweep_here(client):
    grid = {"C": [0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]}
    data = (da.from_array(X, chunks=(SIZE, -1)), da.from_array(Y, chunks=SIZE))
    found, here = om.cluster.sweep(LEARNER, grid, data, client=client), om.sweep(LEARNER, grid, X, Y)
    assert found.best_params == here.best_params and found.configs == here.configs
    for one, other in zip(found.rows, here.rows, strict=True):
        assert one.keys() == other.keys() and one["mistakes"] == other["mistakes"]
        assert one["mean_loss"] == pytest.approx(other["mean_loss"], rel=1e-12)
    np.testing.assert_allclose(found.model(8).coef_, here.model(8).coef_, rtol=1e-12)
    with pytest.raises(BadInput, match="has no parameter 'D'"):
        om.cluster.sweep(LEARNER, {"D": [1]}, data, client=client)


def test_classes_are_spread_and_each_is_learned_in_sequence(client):
    """Every class is what one learner makes of its rows, in the order of the partitions."""
    labels = np.digitize(X[:, 0], [-0.7, 0.0, 0.7])
    data = [dask.delayed((X[at : at + SIZE], labels[at : at + SIZE])) for at in range(0, 120, SIZE)]
    plain = om.PassiveAggressiveClassifier(average=False, intercept_scaling=1.0, random_state=0)
    found = om.cluster.fit(OneVsRestClassifier(plain), data, client=client, epochs=2, shuffle=False)
    for number, learner in enumerate(found.estimators_):
        alone = plain.clone()
        for _ in range(2):
            alone.partial_fit(X, (labels == number).astype(int), classes=[0, 1])
        assert np.array_equal(learner.coef_, alone.coef_)
        assert np.array_equal(learner.intercept_, alone.intercept_)
    assert found.score(X, labels) > 0.5 and list(found.classes_) == [0, 1, 2, 3]


def test_grid_search_through_dask(client):
    search = GridSearchCV(
        om.PassiveAggressiveClassifier(random_state=0, tol=None, max_iter=3), {"C": [0.01, 1.0]}, cv=3
    )
    with client.as_current(), joblib.parallel_config("dask"):
        search.fit(X, Y)
    here = GridSearchCV(
        om.PassiveAggressiveClassifier(random_state=0, tol=None, max_iter=3), {"C": [0.01, 1.0]}, cv=3
    ).fit(X, Y)
    assert np.array_equal(search.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    "call", ["fit", "partial_fit", "predict", "progressive", "frame", "sampler", "pool", "plan", "sweep"]
)
def test_an_estimator_that_is_given_dask_names_the_calls(call):
    rows, y = da.from_array(X, chunks=(SIZE, -1)), da.from_array(Y, chunks=SIZE)
    calls: dict[str, Any] = {
        "fit": lambda: om.Perceptron().fit(rows, y),
        "partial_fit": lambda: om.Perceptron().partial_fit(rows, y, classes=[-1, 1]),
        "predict": lambda: om.Perceptron(tol=None, max_iter=1).fit(X, Y).predict(rows),
        "progressive": lambda: om.progressive(om.Perceptron(), rows, y),
        "frame": lambda: om.Perceptron().fit(dd.from_pandas(FRAME, npartitions=2), Y),
        "sampler": lambda: om.SelectiveSampler(om.Perceptron()).fit(rows, y),
        "pool": lambda: om.Pool(om.AROW(), rows),
        "plan": lambda: om.label_plan(om.Perceptron(), rows, y, budgets=[10]),
        "sweep": lambda: om.sweep(om.Perceptron(), {"rate": [0.1, 1.0]}, rows, y),
    }
    with pytest.raises(BadType, match=r"Dask \w+; use om\.cluster\.fit\(.*sweep.*om\.cluster\.predict\("):
        calls[call]()


@pytest.mark.parametrize("kind", ["bag", "delayed", "future"])
@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict", "progressive", "sampler", "sweep"])
def test_what_holds_its_labels_is_not_brought_to_the_client(client, kind, call):
    """A bag, delayed blocks, futures of them: whoever learns here names the calls, and computes nothing."""
    data: Any = {
        "bag": lambda: db.from_sequence([1, 0]).map(lambda number: 1 // number),
        "delayed": lambda: [dask.delayed(lambda: 1 // 0)()],
        "future": lambda: [client.submit(tuple, (X, Y))],
    }[kind]()
    calls: dict[str, Any] = {
        "fit": lambda: om.Perceptron().fit(data, None),
        "partial_fit": lambda: om.Perceptron().partial_fit(data, data),
        "predict": lambda: om.Perceptron(tol=None, max_iter=1).fit(X, Y).predict(data),
        "progressive": lambda: om.progressive(om.Perceptron(), data),
        "sampler": lambda: om.progressive(om.SelectiveSampler(om.Perceptron()), data),
        "sweep": lambda: om.sweep(om.Perceptron(), {"rate": [0.1, 1.0]}, data),
    }
    told = r"^got a Dask \w+; use om\.cluster\.fit\(estimator, data\) .*sweep.*om\.cluster\.predict\("
    with pytest.raises(BadType, match=told):
        calls[call]()


def test_who_cannot_be_mixed_says_so_in_one_line(client):
    data = [dask.delayed(part) for part in chunks()]
    with pytest.raises(BadInput, match=r"keeps support vectors.*learns on one machine.*om\.cluster\.predict"):
        om.cluster.fit(om.Perceptron(kernel="rbf"), data, client=client)
    with pytest.raises(BadInput, match="learns on one machine"):
        om.cluster.fit(om.PairedRanker(), data, client=client)
    for given in ((X, Y), X, None, 3, []):
        with pytest.raises(BadInput, match="wanted Dask arrays"):
            om.cluster.fit(LEARNER, given, client=client)
    with pytest.raises(BadInput, match="there is no Dask client"):
        om.cluster.fit(LEARNER, data)
    with pytest.raises(BadInput, match="3, 2 partitions"):
        uneven = (da.from_array(X, chunks=(SIZE, -1)), da.from_array(Y, chunks=60))
        om.cluster.fit(LEARNER, uneven, client=client)


def test_odd_partitions(client):
    """Empty ones, one class each, a class in one alone, more columns in one, more partitions than rows."""
    made = [(X[Y == 1], Y[Y == 1]), (X[:0], Y[:0]), (X[Y == -1], Y[Y == -1]), (X[:2], [7, 7])]
    found = om.cluster.fit(LEARNER, [dask.delayed(part) for part in made], client=client, epochs=1)
    assert list(found.classes_) == [-1, 1, 7]
    narrow = [(sp.csr_matrix(X[:50, :2]), Y[:50]), (sp.csr_matrix(X[50:]), Y[50:])]
    assert (
        om.cluster.fit(LEARNER, [dask.delayed(p) for p in narrow], client=client, epochs=1).n_features_in_
        == 4
    )
    single = [(X[k : k + 1], Y[k : k + 1]) for k in range(6)]
    assert om.cluster.fit(LEARNER, [dask.delayed(p) for p in single], client=client, epochs=1).t_ == 1
    with pytest.raises(BadInput, match="no partition holds an example"):
        om.cluster.fit(LEARNER, [dask.delayed((X[:0], Y[:0]))], client=client)
    with pytest.raises(ClusterError, match=r"partition 1: sample_weight\[0\] is -1"):
        bad = [(X, Y, np.ones(120)), (X, Y, -np.ones(120))]
        om.cluster.fit(LEARNER, [dask.delayed(part) for part in bad], client=client)


@pytest.mark.parametrize(
    ("example", "told"),
    [
        (({"a": "red"}, 1), "feature 'a' is 'red'; wanted a finite number"),
        (({"a": np.nan}, 1), "feature 'a' is nan; wanted a finite number"),
        (({"a": 1.0}, 1, -1), "the weight is -1; wanted a finite number of at least 0"),
        (({"a": 1.0}, [1, 2]), r"the label is \[1, 2\]; wanted a text"),
    ],
)
def test_dicts_that_no_learner_takes_are_told_before_anything_is_fixed(example, told):
    with pytest.raises(ClusterError, match=f"^partition 3: {told}"):
        summarise(Partition(3, ""), [[({"a": True}, 1), example]], asked(LEARNER, None, 8, None))


def test_sorted_labels_are_counted_over_blocks_and_partitions():
    """As on one machine, whose warning is said of a cluster as well: runs go on where a part was cut."""
    wanted = asked(LEARNER, None, 8, None)
    for y, runs in (
        (np.repeat([0, 1, 2], 40), 3),
        (np.tile([0, 1], 60), 120),
        (np.repeat(["a", "b"], 60), 2),
    ):
        parts = [Partition(number, "") for number in range(3)]
        some = [[(X[at : at + SIZE], y[at : at + SIZE])] for at in range(0, 120, SIZE)]
        found = [(part, summarise(part, one, wanted)) for part, one in zip(parts, some, strict=True)]
        whole = Whole()
        for one in found:
            whole.add(*one)
        assert whole.known(LEARNER, None).runs == runs
    narrow = summarise(parts[1], [(X[:, :3], Y)], wanted)
    with pytest.raises(BadInput, match="partition 1 has 3 columns, partition 0 4; wanted as many"):
        whole.add(parts[1], narrow)


def test_the_lengths_of_many_rows_are_thinned_and_their_median_kept(monkeypatch):
    """Partitions of 300 and of 9,000 rows have as much say as they have rows."""
    draw = np.random.default_rng(6)
    each = [draw.gamma(2.0, 10.0 * (1 + number % 3), 300 if number % 2 else 9_000) for number in range(12)]
    summaries = []
    for squares in each:
        lengths = Lengths()
        for at in range(0, len(squares), 1000):
            lengths.add(squares[at : at + 1000])
        summaries.append((np.array(lengths.kept), lengths.stride))
        assert len(lengths.kept) <= 2000 and lengths.rows == len(squares)
    for most, near in ((1 << 20, 0.03), (3000, 0.06)):
        monkeypatch.setattr("onmargin.cluster.knowing.MANY", most)
        whole = LengthsOfAll()
        for some in summaries:
            whole.add(*some)
        assert whole.count == sum(len(kept) for kept, _ in whole.kept) <= most
        assert whole.median() == pytest.approx(np.median(np.concatenate(each)), rel=near)


def test_a_parcel_of_few_changes_is_small_and_exact():
    """Of a million weights some are moved: some are sent, and all come back, bit for bit."""
    wide = sp.csr_matrix((np.ones(4), ([0, 0, 1, 1], [3, 70_000, 5, 99_999])), shape=(2, 100_000))
    model = om.Perceptron(average=False).partial_fit(wide, [0, 1], classes=[0, 1])
    base = packed(model)
    model.partial_fit(wide[1:], [0])
    sent = packed(model, base)
    assert any(isinstance(part, Change) for part in sent.arrays) and sent.size < 20_000 < base.size
    assert np.array_equal(unpacked(sent, base).coef_, model.coef_)
    assert unpacked(sent, base).t_ == model.t_ == 3


@soaked
def test_the_client_holds_a_model_and_nothing_else(tmp_path, client):
    """Its memory over a run is the same for a file and for one four times as long, and far below either."""
    file, peaks = svmlight(tmp_path / "a.svm"), []
    lines = file.read_text() * either(2_000, 10_000)
    for times in (1, 4):
        file.write_text(lines * times)
        parts = om.sources.split(file, parts=4)
        tracemalloc.start()
        try:
            om.cluster.fit(LEARNER, parts, client=client, epochs=2)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert len(lines) > 8_000_000 and max(peaks) < len(lines) // 2
    assert peaks[1] < peaks[0] + 1_000_000


@soaked
def test_the_client_keeps_no_more_of_many_partitions_than_of_few(client):
    """Each tells 4,000 names, its lengths and labels: what is kept of all of them is one table of names."""

    def dicts(number: int) -> list[tuple[dict[str, float], int]]:
        names = [f"word {j}" for j in range(4_000)]
        return [(dict.fromkeys(names[i::40], 1.0 + number), i % 2) for i in range(40)]

    peaks = []
    for count in (10, 80):
        parts = [dask.delayed(dicts)(number) for number in range(count)]
        tracemalloc.start()
        try:
            om.cluster.fit(LEARNER, parts, client=client, epochs=1)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + 5_000_000  # (ten partitions' names take as much)


def test_few_rows_of_a_wide_table_move_few_bytes(client):
    """Models that become one are what differs from the one they began with: here 60 weights of 100,000."""
    wide = sp.random(20, 100_000, density=3e-5, format="csr", random_state=3) + sp.csr_matrix(
        (np.ones(20), (range(20), range(20))), (20, 100_000)
    )
    data = [dask.delayed((wide[i::2], np.where(np.arange(20)[i::2] % 4 < 2, 1, -1))) for i in range(2)]
    found = om.cluster.run(LEARNER, data, client=client, epochs=1, sample=0)
    model = packed(found.model).size
    assert model > 800_000 and 0 < found.report.epochs[0].bytes_mixed < model // 20


def test_targets_of_dask_beside_rows_in_memory_are_computed():
    model = LEARNER.clone().fit(X, da.from_array(Y, chunks=SIZE))
    assert np.array_equal(model.coef_, LEARNER.clone().fit(X, Y).coef_)


def test_the_script_of_the_figure_has_an_error_for_every_epoch(client):
    """It is no file that keeps checkpoints there: whatever a run asks of one, it must have."""
    script = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "gallery" / "plot_cluster.py"))
    measured = script["measured"]
    measured.__globals__.update(
        EPOCHS=3, PARTITIONS=(1, 2), rows_of=lambda name: (X, np.asarray(Y), X, np.asarray(Y))
    )
    found = measured("mnist", client)
    assert list(found) == ["in sequence", 1, 2] and all(len(errors) == 3 for errors in found.values())
    assert max(map(max, found.values())) < 0.4
