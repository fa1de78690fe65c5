"""A run goes on, or stops in one line, whatever partitions, workers and functions of its user do."""

from __future__ import annotations

import logging
import os
import site
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import dask
import distributed
import numpy as np
import pytest
from distributed import Client
from sklearn.multiclass import OneVsRestClassifier

import onmargin as om
from onmargin.cluster import engine, mixing, training, workers
from onmargin.cluster.mixing import Job, Stretch, learn
from onmargin.cluster.parcel import packed
from onmargin.cluster.partitions import Partition
from onmargin.cluster.tasks import Ended, tried
from onmargin.cluster.training import ClusterTraining
from onmargin.errors import ClusterError
from onmargin.interface.apart import Known, begun
from onmargin.protocols.requested.requests import Request
from onmargin.sources.blocks import Block
from tests.cluster.processes import WAITS, Processes

DRAW = np.random.default_rng(17)
X = np.round(DRAW.normal(size=(240, 3)), 3)
Y = np.where(X @ [1.0, -1.0, 0.5] + 0.5 * DRAW.normal(size=240) > 0, 1, -1)
LEARNER = om.PassiveAggressiveClassifier(random_state=4)


@pytest.fixture(autouse=True)
def quiet(caplog):
    """Dask says a lot when it is killed."""
    caplog.set_level(logging.CRITICAL)


def data(parts: int = 4) -> list[Any]:
    return [dask.delayed((X[i::parts], Y[i::parts])) for i in range(parts)]


def equal(one: Any, other: Any) -> bool:
    return np.array_equal(one.coef_, other.coef_) and np.array_equal(one.intercept_, other.intercept_)


def until(there: Any) -> None:
    end = time.monotonic() + WAITS
    while not there():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_longest_partition_may_be_bad_at_its_end(client):
    """It is left out when all others are through with the epoch, which was not in vain."""
    rows = DRAW.normal(size=(4200, 2))
    y = np.where(rows[:, 0] > 0, 1, -1)
    rows[4100, 1] = np.nan
    parts = [dask.delayed((rows[:200], y[:200])), dask.delayed((rows[200:], y[200:]))]
    learner = om.PassiveAggressiveClassifier(random_state=0, intercept_scaling=1.0)
    more: dict[str, Any] = {"client": client, "rows": 500, "mix_every": 1, "classes": [-1, 1], "sample": 0}
    found = om.cluster.run(learner, parts, epochs=2, on_error="skip", **more)
    assert "after 3,500 rows: row 400 has a NaN" in found.report.skipped["partition 1"]
    assert [epoch.sums.rounds for epoch in found.report.epochs] == [3700, 200]
    with pytest.raises(ClusterError, match="no partition is left that can be read"):
        om.cluster.run(learner, parts[1:], on_error="skip", **more)


# ---- what ends workers


def deadly() -> Any:
    """A partition that ends whoever reads it."""
    os._exit(1)


def ends_the_next(folder: Path) -> Any:
    """A partition that ends whoever reads it first, for what is known of all, and in the epoch after that."""
    times = len(list(folder.glob("read *")))
    (folder / f"read {times}").touch()
    if times in (0, 2):
        os._exit(1)
    return X[3::4], Y[3::4]


def ends_the_first(part: Any, task: str) -> tuple[int, int]:
    """Instead of counting: the first worker that is asked ends."""
    try:
        Path(part.file + ".asked").touch(exist_ok=False)
    except FileExistsError:
        return 2, 0
    os._exit(1)


def test_what_ends_workers_is_told_and_what_ends_one_is_tried_again(tmp_path, client, monkeypatch):
    """Two tries, in each of which one worker may end: of a sweep, of data that are kept, of counting."""
    with Processes(tmp_path, 6, failures=0) as found:
        parts = [*data(2), dask.delayed(deadly)()]
        with pytest.raises(ClusterError, match="^partition 2: it has ended 2 workers, one after the other"):
            om.cluster.sweep(LEARNER, {"C": [0.1]}, parts, client=found.client)
        until(lambda: len(found.client.nthreads()) == 4)
        parts, more = [*data()[:3], dask.delayed(ends_the_next)(tmp_path)], {"rows": 20, "mix_every": 1}
        done = om.cluster.fit(LEARNER, parts, client=found.client, epochs=1, **more)
        assert equal(done, om.cluster.fit(LEARNER, data(), client=client, epochs=1, **more))
        assert len(list(tmp_path.glob("read *"))) == 4
        until(lambda: len(found.client.nthreads()) == 2)
        file = tmp_path / "a.svm"
        file.write_text("".join(f"{y} 1:{a} 2:{b} 3:{c}\n" for (a, b, c), y in zip(X, Y, strict=True)))
        monkeypatch.setattr(training, "left_out", ends_the_first)
        asked = Request([str(file)], on_error="skip")
        record = ClusterTraining(asked, found.client, sample=0).run()
        assert record.rows == 240 and record.skipped == 2 and (tmp_path / "a.svm.asked").exists()


def test_workers_that_ended_are_counted():
    """Those of both tries; what was tried once is told as it is."""
    calls: list[int] = []

    def call() -> Any:
        calls.append(1)
        raise Ended(None, "the sweep failed", 4)

    with pytest.raises(ClusterError, match="^the sweep failed: it has ended 8 workers"):
        tried(call)
    assert len(calls) == 2
    with pytest.raises(ClusterError, match="it has ended 4 workers"):  # (an error like any other)
        call()


# ---- what is read, and how often


def loaded(file: Any, number: int) -> Any:
    with open(file, "a") as lines:
        lines.write(f"{number}\n")
    draw = np.random.default_rng(number)
    rows = draw.normal(size=(2000, 3))
    return rows, np.where(rows[:, 0] > 0, 1, -1)


def test_data_are_computed_once_an_epoch_however_often_is_mixed(tmp_path, client):
    """And once for what is known of all; then they are let go of."""
    parts = [dask.delayed(loaded)(tmp_path / "loads", number) for number in range(2)]
    found = om.cluster.run(LEARNER, parts, client=client, epochs=2, rows=200, mix_every=1, sample=0)
    assert len((tmp_path / "loads").read_text().split()) == 6
    whole = [dask.delayed(dask.compute(part, scheduler="sync")[0]) for part in parts]
    assert equal(om.cluster.fit(LEARNER, whole, client=client, epochs=2, rows=200, mix_every=1), found.model)
    held = client.scatter([(X, Y), (X, Y)], hash=False)  # (what the user holds stays)
    for _ in range(2):
        assert om.cluster.fit(LEARNER, held, client=client, epochs=1, rows=50, mix_every=1).n_iter_ == 1
        om.cluster.sweep(LEARNER, {"C": [1.0]}, held, client=client)
    until(lambda: not any("loaded" in str(key) for keys in client.has_what().values() for key in keys))


class Counted:
    """Six blocks, each noted when it is read."""

    def __init__(self, number: int, read: list[int]) -> None:
        self.number, self.read = number, read

    def blocks(self, rows: int) -> Any:
        for place in range(6):
            self.read.append(self.number)
            yield Block(X[place * 4 : place * 4 + 4], Y[place * 4 : place * 4 + 4], None)


def test_a_worker_reads_many_partitions_on_without_beginning_anew(monkeypatch):
    monkeypatch.setattr(mixing, "_OPEN", {})
    base = packed(begun(LEARNER, Known(240, 3.0, 3, labels=(-1, 1), counts=(1, 1))))
    read: list[int] = []
    parts = [Partition(number, "", Counted(number, read)) for number in range(70)]
    for first in range(6):
        for part in parts:
            learn(part, [], base, Job("many", "uniform", 4, None, False, 1), Stretch(1, first, 1))
    assert len(read) == 70 * 6


def still_open() -> int:
    return len(mixing._OPEN)


def test_a_run_that_fails_leaves_nothing_open(tmp_path, client):
    def stop(moment: Any) -> None:
        if moment.done == 2:
            raise ValueError("enough")

    more: dict[str, Any] = {"rows": 10, "mix_every": 1, "sample": 0}
    with pytest.raises(ValueError, match="enough"):
        om.cluster.run(LEARNER, data(), client=client, tell=stop, **more)
    assert not sum(client.run(still_open).values())
    with Processes(tmp_path, 1) as found:

        def kill(moment: Any) -> None:
            found.scheduler.kill()

        began = time.monotonic()
        with pytest.raises(ClusterError, match="the connection to the scheduler was lost"):
            om.cluster.run(LEARNER, data(), client=found.client, tell=kill, **more)
        assert time.monotonic() - began < 60


def test_what_a_run_has_forgotten_is_not_opened_again(monkeypatch):
    """By a task that was at work meanwhile."""
    monkeypatch.setattr(mixing, "_OPEN", {})
    base = packed(begun(LEARNER, Known(240, 3.0, 3, labels=(-1, 1), counts=(1, 1))))
    mixing.forget("over")
    learn(
        Partition(0, "", Counted(0, [])),
        [],
        base,
        Job("over", "uniform", 4, None, False, 1),
        Stretch(1, 0, 1),
    )
    assert not mixing._OPEN


# ---- who is there


def other_version(folder: Path) -> str:
    """A file that a process of Dask's loads first, which makes it one of another version."""
    file = folder / "other.py"
    file.write_text("import onmargin\nonmargin.__version__ = '9.9'\n")
    return str(file)


@pytest.mark.parametrize("kind", ["bare", "other"])
def test_a_scheduler_that_lacks_onmargin_or_has_another_version(tmp_path, kind):
    """Tasks go through it: it is a real process, told before it blames a partition."""
    bare = {"PYTHONPATH": site.getsitepackages()[0]}
    other = {
        "PYTHONPATH": f"{Path(om.__file__).parents[1]}{os.pathsep}{site.getsitepackages()[0]}",
        "DASK_DISTRIBUTED__SCHEDULER__PRELOAD": other_version(tmp_path),
    }
    told = {"bare": r"has no onmargin \(.*\); install onmargin 0", "other": r"has onmargin 9\.9; wanted 0"}
    with Processes(tmp_path, 1, scheduler=bare if kind == "bare" else other) as found:
        for call in (
            lambda: om.cluster.fit(LEARNER, data(), client=found.client),
            lambda: om.cluster.sweep(LEARNER, {"C": [1.0]}, data(), client=found.client),
        ):
            with pytest.raises(ClusterError, match=rf"^the scheduler tcp://\S+ {told[kind]}"):
                call()


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_worker_of_another_version_that_joins_in_the_last_epoch(tmp_path, on_error):
    """Nothing is mixed after it joined; it says so itself, and no partition is left out for it."""
    with Processes(tmp_path, 1) as found:

        def join(moment: Any) -> None:
            if moment.done == 1 and moment.line is None:
                found.kill("0")
                found.worker("other", DASK_DISTRIBUTED__WORKER__PRELOAD=other_version(tmp_path))

        with pytest.raises(ClusterError, match=r"^the worker tcp://\S+ has onmargin 9\.9; wanted 0"):
            om.cluster.run(
                LEARNER, data(), client=found.client, epochs=1, tell=join, sample=0, on_error=on_error
            )


def test_a_run_without_workers_says_so_once_and_goes_on(tmp_path, client, monkeypatch):
    plain = om.cluster.fit(LEARNER, data(), client=client, epochs=2)
    monkeypatch.setattr(workers, "WAITS", 1.0)
    said: list[str] = []
    with Processes(tmp_path, 1) as found, warnings.catch_warnings():

        def heard(message: Any, *_: Any, **__: Any) -> None:
            said.append(str(message))
            threading.Timer(2.5, found.worker, ["late"]).start()

        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", heard)

        def kill(moment: Any) -> None:
            if moment.done == 2 and "0" in found.workers:
                found.kill("0")

        done = om.cluster.fit(LEARNER, data(), client=found.client, epochs=2, tell=kill)
        address = found.address
    assert equal(done, plain)
    assert said == [
        f"the cluster has had no worker for 1 s; the run goes on when one is there: dask worker {address}"
    ]


# ---- errors that are no lost scheduler


def test_a_sweep_on_cancelled_data_and_one_whose_client_is_closed(client):
    gone = client.submit(tuple, (X, Y), pure=False)
    gone.cancel()
    with pytest.raises(ClusterError, match="the tasks of this run were cancelled: .*; sweep anew"):
        om.cluster.sweep(LEARNER, {"C": [1.0]}, [gone], client=client)
    with Client(client.scheduler_info()["address"], set_as_default=False) as closed:
        found = om.cluster.sweep(LEARNER, {"C": [0.1, 1.0]}, data(), client=closed)
        assert found.best_model.predict(X[:1]) in (-1, 1)
    with pytest.raises(ClusterError, match="the client that holds this sweep's learners is closed; sweep an"):
        _ = found.best_model


@pytest.mark.parametrize(
    "error", [TimeoutError("my phone"), ConnectionError("my mail"), BrokenPipeError(), OSError("my disk")]
)
def test_what_the_users_own_functions_raise_is_theirs(client, error):
    """Though a scheduler that is gone raises the same."""

    class Keeper:
        hint = skip_by = "keep calm"

        def save(self, point: Any) -> None:
            raise error

    def tell(moment: Any) -> None:
        raise error

    for more in ({"tell": tell}, {"checkpoint": Keeper()}):
        with pytest.raises(type(error)) as caught:
            om.cluster.fit(LEARNER, data(), client=client, epochs=1, **more)
        assert caught.value is error


def passing(part: Any) -> Any:
    return part


def test_a_sweep_brings_no_data_to_the_client(client, monkeypatch):
    """Not to find out who is to blame either."""

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("data went through the client")

    seen: list[str] = []
    whole = distributed.Future.result

    def result(future: Any, *rest: Any, **more: Any) -> Any:
        seen.append(str(future.key))
        return whole(future, *rest, **more)

    monkeypatch.setattr(distributed.Future, "result", result)
    monkeypatch.setattr(distributed.Client, "gather", refused)
    good = [dask.delayed(passing)((X[i::2], Y[i::2])) for i in range(2)]
    bad = dask.delayed(lambda: 1 // 0)()
    with pytest.raises(ClusterError, match="^partition 2: ZeroDivisionError: "):
        om.cluster.sweep(LEARNER, {"C": [0.1]}, [*good, bad], client=client)
    with pytest.raises(ClusterError, match="^partition 2: it has no labels"):
        om.cluster.sweep(LEARNER, {"C": [0.1]}, [*good, dask.delayed(X)], client=client)
    assert not any("passing" in key for key in seen)


# ---- a learner for each class


def test_classes_are_told_by_epoch_and_counted(client):
    """Every class answers every row; a partition that cannot be read is left out of all of them."""
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    plain = om.PassiveAggressiveClassifier(average=False, intercept_scaling=1.0, random_state=0)
    good = [dask.delayed((X[at : at + 60], labels[at : at + 60])) for at in range(0, 240, 60)]
    rows = np.tile(X, (12, 1))
    rows[2500, 0] = np.nan  # (beyond what is looked at before)
    bad = dask.delayed((rows, np.tile(labels, 12)))
    moments: list[Any] = []
    more: dict[str, Any] = {"client": client, "epochs": 2, "shuffle": False, "classes": [0, 1, 2]}
    whole = om.cluster.run(OneVsRestClassifier(plain), good, tell=moments.append, **more)
    assert [(one.epoch, one.done) for one in moments if one.line is not None] == [(1, 4), (2, 4)]
    assert [one.done for one in moments if one.line is None] == [1, 2, 3, 4] * 2
    for number, epoch in enumerate(whole.report.epochs):
        mistakes = 0
        for label in range(3):
            one, y = plain.clone(), (labels == label).astype(int)
            for _ in range(number):
                one.partial_fit(X, y, classes=[0, 1])
            mistakes += om.progressive(one, X, y, classes=[0, 1]).totals.mistakes
        assert (epoch.sums.rounds, epoch.sums.mistakes) == (720, mistakes)
    assert whole.report.sample is None and "nan" not in str(whole.report)
    parts = [*good[:2], bad, *good[2:]]
    with pytest.raises(ClusterError, match=r"^partition 2: after 0 rows.*|^partition 2: row 2500 has a NaN"):
        om.cluster.fit(OneVsRestClassifier(plain), parts, **more)
    skipped = om.cluster.run(OneVsRestClassifier(plain), parts, on_error="skip", **more)
    assert list(skipped.report.skipped) == ["partition 2"]
    for one, other in zip(skipped.model.estimators_, whole.model.estimators_, strict=True):
        assert equal(one, other)


# ---- whoever is first


def late(rows: Any, y: Any, seconds: float) -> Any:
    time.sleep(seconds)
    return rows, y


@pytest.mark.parametrize("every", [None, 1])
def test_whoever_is_done_first_changes_nothing(client, monkeypatch, every):
    """Of two workers one has what takes long; the order is told, and is not that of the partitions."""
    found, ends, whole = [], [], engine.refuse
    for waits in ((0.3, 0.0, 0.1, 0.0, 0.2), (0.0, 0.2, 0.0, 0.3, 0.0)):
        order: list[int] = []

        def refuse(future: Any, part: Any, order: list[int] = order) -> None:
            order.append(part.number)
            whole(future, part)

        monkeypatch.setattr(engine, "refuse", refuse)
        parts = [
            dask.delayed(late)(X[i::5], np.where(Y[i::5] > 0, i % 3, 2), seconds)
            for i, seconds in enumerate(waits)
        ]
        more: dict[str, Any] = {"mix_every": every, "rows": 20, "mixing": "updates", "sample": 0}
        found.append(om.cluster.run(LEARNER, parts, client=client, epochs=2, **more))
        ends.append(order)
    assert ends[0] != ends[1]
    assert equal(found[0].model, found[1].model)
    for epoch in (0, 1):  # (which workers had a partition is another matter)
        one, other = (run.report.by_partition(epoch) for run in found)
        assert [sums[:3] for sums in one.values()] == [sums[:3] for sums in other.values()]


def test_the_learner_in_sequence_is_a_plain_loop_over_the_first_rows(client):
    """Of all partitions in their order, epoch by epoch, shuffled as they are."""
    plain = LEARNER.clone().set_params(average=False)
    done = om.cluster.run(plain, data(), client=client, epochs=3, sample=100)
    square = float(np.median(np.square(X).sum(axis=1)))
    learner = begun(plain, Known(240, square, 3, labels=(-1, 1), counts=tuple(np.bincount(Y > 0))))
    errors = []
    for epoch in (1, 2, 3):
        wrong = 0
        for number in range(4):
            rows, y = X[number::4][:25], Y[number::4][:25]
            order = np.random.default_rng([4, epoch, number, 0]).permutation(25)
            for row in order:
                wrong += int(learner.predict(rows[row : row + 1])[0] != y[row])
                learner.partial_fit(rows[row : row + 1], y[row : row + 1])
        errors.append(wrong / 100)
    assert done.report.sample is not None and done.report.sample.rows == 100
    assert list(done.report.sample.errors) == errors
