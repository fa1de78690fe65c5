"""What a cluster cannot use is told in one line that names what its user gave; a run that is over stays."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

import onmargin as om
from onmargin.cluster import engine
from onmargin.cluster.workers import scheduler_lost
from onmargin.errors import BadFile, BadInput, ClusterError
from onmargin.protocols.saving.files import notes_of
from onmargin.sources.datasets.apart import SetPart

DRAW = np.random.default_rng(12)
X = np.round(DRAW.normal(size=(60, 2)), 3)
Y = np.where(X[:, 0] > 0, 1, -1)
LEARNER = om.PassiveAggressiveClassifier(random_state=1)


def data() -> list[Any]:
    return [dask.delayed((X[i::2], Y[i::2])) for i in range(2)]


def test_a_run_is_gone_on_with_as_it_was_begun(tmp_path, client):
    """What is other is named as whoever gave it knows it."""
    rows, file = tmp_path / "rows.svm", tmp_path / "run.onm"
    lines = [f"{y} 1:{a} 2:{b}\n" for (a, b), y in zip(X, Y, strict=True)]
    rows.write_text("".join(lines))
    more: dict[str, Any] = {"client": client, "checkpoint": file, "parts": 2}
    om.cluster.fit(LEARNER, rows, epochs=1, **more)
    for learner, other, told in (
        (LEARNER.clone().set_params(C=0.5), {}, r"other C \(1\.0\) than now \(0\.5\)"),
        (LEARNER, {"classes": [-1, 1]}, r"other classes \(None\) than now \('\[-1, 1\]'\)"),
        (LEARNER, {"columns": 4}, r"other columns \(None\) than now \('4'\)"),
        (LEARNER, {"shuffle": False}, r"other shuffle \(True\) than now \(False\)"),
    ):
        with pytest.raises(BadInput, match=f"begun with {told}; resume with the same, or begin anew"):
            om.cluster.fit(learner, rows, resume=True, **more | other)
    assert om.cluster.fit(LEARNER, rows, epochs=2, resume=True, **more).n_iter_ == 2
    rows.write_text("".join(lines) + "1 1:2 2:3\n")
    with pytest.raises(BadInput, match=r"other data \('\d+ bytes of .*\) than now \('\d+ bytes of"):
        om.cluster.fit(LEARNER, rows, resume=True, **more)


def test_parameters_are_the_same_by_what_they_hold(tmp_path, client):
    """Arrays and random generators of a learner are those of its file, which makes them anew."""
    more: dict[str, Any] = {"client": client, "checkpoint": tmp_path / "run.onm"}
    cost = np.array([[0.0, 1.0], [2.0, 0.0]])
    for learner, given in (
        (LEARNER.clone().set_params(cost=cost, random_state=np.random.default_rng(3)), data()),
        (om.PassiveAggressiveUniclass(random_state=0), [dask.delayed(X[i::2]) for i in range(2)]),
    ):
        om.cluster.fit(learner, given, epochs=1, **more)
        assert om.cluster.fit(learner, given, epochs=2, resume=True, **more).n_iter_ == 2
    with pytest.raises(BadInput, match=r"other partitions \(2\) than now \(1\)"):
        om.cluster.fit(learner, given[:1], resume=True, **more)


def test_a_checkpoint_whose_facts_are_none_is_damaged(tmp_path, client):
    file = tmp_path / "run.onm"
    model = om.cluster.fit(LEARNER, data(), client=client, epochs=1, checkpoint=file)
    note = notes_of(file)["cluster"]
    for place, wrong in ((0, "many"), (2, None), (5, 7)):
        known = list(note["known"])
        known[place] = wrong
        om.save(model, file, notes={"cluster": note | {"known": known}})
        with pytest.raises(BadFile, match="is a damaged checkpoint .* in what was known of the data"):
            om.cluster.fit(LEARNER, data(), client=client, checkpoint=file, resume=True)


def test_a_learner_that_has_learned_is_not_begun_anew_in_silence(client):
    with pytest.raises(BadInput, match=r"has warm_start=True and has learned already.*clone\(\)"):
        om.cluster.fit(om.Perceptron(warm_start=True).fit(X, Y), data(), client=client)
    fresh = om.cluster.fit(om.Perceptron(warm_start=True), data(), client=client, epochs=1)
    assert fresh.warm_start and fresh.t_ == 30


def test_the_entry_that_is_no_number_is_named(client):
    frame = pd.DataFrame(X.astype(object), columns=["size", "colour"])
    frame.loc[3, "colour"] = "red"
    for table, column in ((frame, "'colour'"), (frame.to_numpy(), "1")):
        with pytest.raises(
            ClusterError, match=f"^partition 0: row 3, column {column}, is 'red'; wanted a number"
        ):
            om.cluster.fit(LEARNER, [dask.delayed((table, Y))], client=client)


def test_a_bad_row_has_its_own_number(client):
    """Whatever block it is in, and in whatever order that is learned; of nullable numbers, too."""
    rows, y = np.tile(X, (2, 1)), np.tile(Y, 2)
    nullable = pd.DataFrame(rows, columns=["size", "weight"]).astype("Float64")
    nullable.iloc[73, 1] = pd.NA
    large, bad = rows.copy(), np.where(np.arange(120) == 73, np.nan, rows[:, 0])
    large[73, 0] = 1e200
    regressor = om.PassiveAggressiveRegressor(random_state=0)
    for learner, table, targets, told in (
        (LEARNER, nullable, y, "row 23 has a NaN in column 'weight'"),
        (LEARNER, large, y, "row 23 is too large"),
        (regressor, rows, bad, "y of row 23 is NaN"),
    ):
        with pytest.raises(ClusterError, match=f"^partition 0: after 50 rows: {told}"):
            om.cluster.fit(learner, [dask.delayed((table, targets))], client=client, rows=50)


def test_labels_and_weights_that_are_none_are_named(client):
    """And their partition can be left out."""
    missing = pd.Series(np.where(Y == 1, "yes", "no"), dtype="string")
    missing[7] = pd.NA
    for bad, told in (
        ((X, missing), "the label is <NA>; wanted a text"),
        ((X, np.array([None, "yes"] * 30, object)), "the label is None; wanted a text"),
        ((X, Y, ["heavy"] * 60), "sample_weight cannot be read as numbers; wanted one weight per row"),
    ):
        with pytest.raises(ClusterError, match=f"^partition 2: {told}"):
            om.cluster.fit(LEARNER, [*data(), dask.delayed(bad)], client=client)
    found = om.cluster.run(
        LEARNER, [*data(), dask.delayed(bad)], client=client, epochs=1, on_error="skip", sample=0
    )
    assert list(found.report.skipped) == ["partition 2"] and found.model.classes_.tolist() == [-1, 1]


def test_what_is_no_label_no_choice_and_no_table_is_told_at_once(client):
    said = LEARNER.clone().set_params(classes=[-1, 1])
    regressor = om.PassiveAggressiveRegressor()
    flat = (da.from_array(X[:, 0], chunks=30), da.from_array(Y, chunks=30))
    calls: list[tuple[Any, Any, dict[str, Any], str]] = [
        (LEARNER, data(), {"classes": 1}, "classes=1; wanted a list of labels"),
        (regressor, data(), {"classes": [1]}, "classes= is for labels, and PassiveAggressiveRegressor"),
        (said, data(), {"classes": [-1, 1, 3]}, r"classes=\[-1, 1, 3\], but the parameter says"),
        (LEARNER, data(), {"shuffle": "no"}, "shuffle='no'; wanted True or False"),
        (LEARNER, flat, {}, "an array of 1 dimensions; wanted rows of numbers"),
    ]
    for learner, given, more, told in calls:
        with pytest.raises(BadInput, match=told):
            om.cluster.fit(learner, given, client=client, **more)
    with pytest.raises(ClusterError, match="target='y' is for data that hold their labels, and y is given"):
        om.cluster.fit(LEARNER, data(), client=client, target="y")
    balanced = LEARNER.clone().set_params(class_weight="balanced")
    sets = [dask.delayed((X, np.c_[Y > 0, X[:, 1] > 0].astype(int)))]
    with pytest.raises(BadInput, match="^class_weight does not apply to sets of labels"):
        om.cluster.fit(balanced, sets, client=client)


def test_data_that_were_cancelled_are_no_lost_scheduler(client):
    """The cluster is there; what is gone is a future of the user's."""
    gone = client.submit(tuple, (X, Y), pure=False)
    gone.cancel()
    with pytest.raises(ClusterError, match="the tasks of this run were cancelled: .* data are of another cl"):
        om.cluster.fit(LEARNER, [gone], client=client)


def test_what_no_worker_can_be_given_is_told(client):
    held = [dask.delayed((X, Y, threading.Lock()))]
    for call in (
        lambda: om.cluster.fit(LEARNER, held, client=client),
        lambda: om.cluster.sweep(LEARNER, {"C": [0.1]}, held, client=client),
    ):
        with pytest.raises(BadInput, match="the data cannot be sent to workers .*lock.*; wanted what can be"):
            call()


def test_a_sweep_names_the_partition_that_cannot_be_computed(client):
    with pytest.raises(ClusterError, match="^partition 2: ZeroDivisionError: "):
        bad = dask.delayed(lambda: 1 // 0)()
        om.cluster.sweep(LEARNER, {"C": [0.1]}, [*data(), bad], client=client)


def test_a_sweep_names_the_partition_as_fit_does(client):
    """Rows by their number there, whatever the grid; what does not go together with the first is told."""
    frame, bad, large = pd.DataFrame(X, columns=["a", "b"]), X.copy(), X.copy()
    bad[3, 1], large[3, 1] = np.nan, 1e200
    text = frame.astype(object)
    text.loc[3, "b"] = "red"
    unknown = Y.astype(object)
    unknown[3] = None
    dicts = [({"a": float(row[0])}, int(y)) for row, y in zip(X, Y, strict=True)]
    another = "^partition 1 holds another kind of examples than partition 0; wanted one kind$"
    names = "^partition 1 has other columns than partition 0; wanted the same names$"
    for first, other, told in (
        ((X, Y), (bad, Y), "^partition 1: row 3 has a NaN in column 1; nothing was learned"),
        ((X, Y), (large, Y), "^partition 1: row 3 is too large: its squared length overflows"),
        ((X, Y), (X[:, :1], Y), "^partition 1 has 1 columns, partition 0 2; wanted as many$"),
        ((X, Y), (X[:, 0], Y), "^partition 1: its rows are no table of numbers"),
        ((X, Y), (X, unknown), "^partition 1: the label is None; wanted a text, a number"),
        ((X, Y), (X, np.eye(60)[:, :3]), another),
        ((X, Y), [({"a": 1.0}, 1)], another),
        (dicts, (X, Y), another),
        (dicts, [({"a": 1.0}, {"k": True})], another),
        (dicts, [*dicts, ({"a": np.inf}, 1)], "^partition 1: feature 'a' is inf; wanted a finite number"),
        ((frame, Y), (frame[["b", "a"]], Y), names),
        ((frame, Y), (frame.rename(columns={"a": "c"}), Y), names),
        ((frame, Y), (X, Y), names),
        ((frame, Y), (text, Y), "^partition 1: row 3, column 'b', is 'red'; wanted a number"),
    ):
        given = [dask.delayed(part, traverse=False) for part in (first, other)]
        for grid in ({"C": [1.0]}, {"C": [0.1, 1.0]}):
            with pytest.raises((BadInput, ClusterError), match=told):
                om.cluster.sweep(LEARNER, grid, given, client=client)
        with pytest.raises((BadInput, ClusterError), match=told.removesuffix("$")):
            om.cluster.fit(LEARNER, given, client=client)
    regressor, y = om.PassiveAggressiveRegressor(random_state=0), bad[:, 1]
    with pytest.raises(ClusterError, match="^partition 1: y of row 3 is NaN"):
        rows = [dask.delayed((X[:20], X[:20, 0])), dask.delayed((X, y))]
        om.cluster.sweep(regressor, {"C": [1.0]}, rows, client=client)


def test_a_sweep_leaves_to_a_pipeline_what_it_takes(client):
    """Its first step may take a NaN or a text; sets of weight 0 are no kind of examples."""
    bad = X.copy()
    bad[3, 1] = np.nan
    mends = Pipeline([("fill", SimpleImputer()), ("learner", LEARNER)])
    given = [dask.delayed((X, Y)), dask.delayed((bad, Y))]
    found = om.cluster.sweep(mends, {"learner__C": [0.1, 1.0]}, given, client=client)
    here = om.sweep(mends, {"learner__C": [0.1, 1.0]}, np.r_[X, bad], np.r_[Y, Y])
    assert [row["mistakes"] for row in found.rows] == [row["mistakes"] for row in here.rows]
    sets = [({"a": float(row[0])}, {"k": bool(row[0] > 0)}, 1.0) for row in X]
    unseen = [(x, y, 0.0) for x, y, _ in sets]
    given = [dask.delayed(part, traverse=False) for part in (unseen, sets, unseen)]
    learner = LEARNER.clone().set_params(classes=["k"])
    assert om.cluster.sweep(learner, {"C": [1.0]}, given, client=client).rows[0]["rounds"] == 60


def test_sweeps_and_answers_say_what_they_want(client):
    grid = {"C": [0.1, 1.0]}
    with pytest.raises(ClusterError, match="^partition 0: it has no labels; wanted one a row"):
        om.cluster.sweep(LEARNER, grid, [dask.delayed(X)], client=client)
    with pytest.raises(BadInput, match="no partition holds an example"):
        om.cluster.sweep(LEARNER, grid, [dask.delayed((X[:0], Y[:0]))], client=client)
    with pytest.raises(BadInput, match="an array of 1 dimensions; wanted rows of numbers"):
        om.cluster.predict(LEARNER.clone().fit(X, Y), da.from_array(X[0], chunks=1))
    for sample, told in ((-1, "sample=-1"), (True, "sample=True"), (2.5, "sample=2.5")):
        with pytest.raises(BadInput, match=f"{told}; wanted a whole number of at least 0"):
            om.cluster.run(LEARNER, data(), client=client, sample=sample)


def test_an_asynchronous_client_is_refused(client):
    """Its calls would wait for themselves."""

    async def ask() -> None:
        address = client.scheduler_info()["address"]
        async with Client(address, asynchronous=True, set_as_default=False) as waiting:
            om.cluster.fit(LEARNER, data(), client=waiting)

    with pytest.raises(BadInput, match="this Dask client is asynchronous"):
        asyncio.run(ask())


def test_a_run_that_is_over_is_not_undone_by_its_price(client, monkeypatch):
    """The learner in sequence is a courtesy: where it fails the report says why, and the model is there."""

    def broken(*_: Any) -> Any:
        raise MemoryError("no room for a sample")

    monkeypatch.setattr(engine, "in_sequence", broken)
    found = om.cluster.run(LEARNER, data(), client=client, epochs=2)
    assert found.model.n_iter_ == 2 and found.report.sample is None
    assert "in sequence: no sample could be learned: the sample failed: MemoryError" in str(found.report)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_is_one_line_that_names_the_checkpoint(tmp_path, client, monkeypatch, call):
    """And not its draft, nor a second name that there is none of."""
    file = tmp_path / "m.onm"

    def full(*names: Any) -> None:
        raise OSError(28, "No space left on device", *(names[:1] if call == "replace" else ()))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError) as caught:
        om.cluster.fit(LEARNER, data(), client=client, epochs=1, checkpoint=file)
    assert str(caught.value) == f"[Errno 28] No space left on device: {str(file)!r}"
    assert caught.value.filename == str(file) and not list(tmp_path.iterdir())


def test_a_worker_without_the_real_sets_is_named(client):
    """And the folder it looks in, as it is called there from any other."""
    given = [SetPart("sonar", False, 0, 100, None), SetPart("sonar", False, 100, 208, None)]
    before = client.run(lambda: os.environ.get("ONMARGIN_DATA"))
    client.run(lambda: os.environ.update(ONMARGIN_DATA="nowhere"))
    told = r"^partition \d \(sonar, rows .*\), on worker [01]: .* of sonar is not in /.*/nowhere; set ON"
    try:
        with pytest.raises(ClusterError, match=told):
            om.cluster.fit(LEARNER, given, client=client)
    finally:
        client.run(lambda: os.environ.pop("ONMARGIN_DATA"))
        for worker, value in before.items():
            if value is not None:
                client.run(lambda value: os.environ.update(ONMARGIN_DATA=value), value, workers=[worker])


def test_errors_of_files_are_not_taken_for_a_lost_scheduler():
    with pytest.raises(ClusterError, match="the connection to the scheduler was lost; begin anew"):
        with scheduler_lost("begin anew"):
            raise OSError("Timed out trying to connect")
    with pytest.raises(OSError, match="No space left"):
        with scheduler_lost("begin anew"):
            raise OSError(28, "No space left on device")
