"""Workers and schedulers that are killed, come late, or are others; partitions that cannot be read."""

from __future__ import annotations

import logging
import os
import site
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from distributed import Client

import onmargin as om
from onmargin.errors import BadFile, BadInput, ClusterError, NoFile
from onmargin.protocols.saving.files import notes_of
from onmargin.sources.blocks import Block
from tests.cluster.processes import WAITS, Processes
from tests.soaking import SOAKING, either, soaked

DRAW = np.random.default_rng(3)
X = DRAW.normal(size=(240, 3))
Y = np.where(X @ [1.0, -1.0, 0.5] + 0.5 * DRAW.normal(size=240) > 0, "yes", "no")
PARTS = 6
EPOCHS = either(2, 6)
LEARNER = om.PassiveAggressiveClassifier(random_state=4)


def slowly(rows: Any, y: Any) -> Any:
    """A partition that takes its time, so that a kill comes in the middle."""
    time.sleep(0.03)
    return rows, y


def data() -> list[Any]:
    return [dask.delayed(slowly)(X[i::PARTS], Y[i::PARTS]) for i in range(PARTS)]


@pytest.fixture(scope="module")
def plain(client) -> Any:
    """What nobody disturbed."""
    return om.cluster.fit(LEARNER, data(), client=client, epochs=EPOCHS)


@pytest.fixture(autouse=True)
def quiet(caplog):
    """Dask says a lot when it is killed."""
    caplog.set_level(logging.CRITICAL)


def equal(one: Any, other: Any) -> bool:
    return np.array_equal(one.coef_, other.coef_) and np.array_equal(one.intercept_, other.intercept_)


@soaked
def test_killed_workers_late_workers_and_a_lost_scheduler(tmp_path, client, plain):
    """kill -9 in an epoch (soak: in all of them): the same model. Who joins is used. Then the scheduler."""
    killed: list[int] = []
    with Processes(tmp_path, 2) as found:

        def kill(moment: Any) -> None:
            due = moment.epoch not in killed if SOAKING else not killed and moment.epoch == EPOCHS
            if due and moment.done == 1 and moment.line is None:
                killed.append(moment.epoch)
                found.kill(sorted(found.workers)[0])
                found.worker(f"late {moment.epoch}")

        done = om.cluster.run(LEARNER, data(), client=found.client, epochs=EPOCHS, tell=kill, sample=0)
        assert len(killed) == (EPOCHS if SOAKING else 1) and equal(done.model, plain)
        found.client.wait_for_workers(2, timeout=WAITS)
        again = om.cluster.run(LEARNER, data(), client=found.client, epochs=EPOCHS, sample=0)
        late = [name for name in again.report.by_worker() if name.startswith("late")]
        assert late and equal(again.model, plain)

        file = tmp_path / "run.onm"

        def end(moment: Any) -> None:
            if moment.epoch == 2 and moment.line is None:
                found.scheduler.kill()

        with pytest.raises(
            ClusterError, match=r"connection to the scheduler was lost; .*run\.onm.*resume=True"
        ):
            om.cluster.fit(LEARNER, data(), client=found.client, epochs=EPOCHS, tell=end, checkpoint=file)
    going = om.cluster.run(
        LEARNER, data(), client=client, epochs=EPOCHS, checkpoint=file, resume=True, sample=0
    )
    assert equal(going.model, plain) and [epoch.number for epoch in going.report.epochs][0] == 1
    assert len(going.report.epochs) == EPOCHS
    once_more = om.cluster.fit(LEARNER, data(), client=client, epochs=EPOCHS, checkpoint=file, resume=True)
    assert equal(once_more, plain)


def deadly() -> Any:
    """A partition that ends whoever reads it."""
    os._exit(1)


@soaked
def test_what_dask_gives_up_is_tried_once_more(tmp_path, plain):
    """Not one worker may end with a task: a kill is Dask's last word, and the model is still the same."""
    killed: list[int] = []
    with Processes(tmp_path, 2, failures=0) as found:

        def kill(moment: Any) -> None:
            due = moment.epoch not in killed if SOAKING else not killed
            if due and moment.done == 1 and moment.line is None:
                killed.append(moment.epoch)
                found.kill(sorted(found.workers)[0])
                found.worker(f"late {moment.epoch}")

        done = om.cluster.run(LEARNER, data(), client=found.client, epochs=EPOCHS, tell=kill, sample=0)
        assert len(killed) == (EPOCHS if SOAKING else 1) and equal(done.model, plain)
        found.client.wait_for_workers(2, timeout=WAITS)
        parts = [*data()[:3], dask.delayed(deadly)()]
        with pytest.raises(ClusterError, match=r"^partition 3: it has ended 2 workers, one after the other"):
            om.cluster.fit(LEARNER, parts, client=found.client)


class Gated:
    """A partition as files have them (`blocks`), some of whose readings wait until they are let go."""

    def __init__(self, folder: Path, number: int, waits: tuple[int, ...] = ()) -> None:
        self.folder, self.number, self.waits = folder, number, waits

    def __str__(self) -> str:
        return f"file {self.number}"

    def blocks(self, rows: int) -> Any:
        reading = len(list(self.folder.glob(f"read-{self.number}-*")))
        (self.folder / f"read-{self.number}-{reading}").touch()
        end = time.monotonic() + WAITS
        while reading in self.waits and not (self.folder / "go").exists() and time.monotonic() < end:
            time.sleep(0.02)
        yield Block(X[self.number :: PARTS], Y[self.number :: PARTS])

    def begun(self, reading: int) -> None:
        """Wait until it is being read for the `reading`th time, from 0."""
        until(lambda: (self.folder / f"read-{self.number}-{reading}").exists())


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + WAITS
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def at(found: Processes, tasks: dict[str, Any], ending: str) -> str:
    """The name of the worker that has a task of the first pass, or is at it."""
    workers = found.client.scheduler_info(n_workers=-1)["workers"]
    names = {address: str(one["name"]) for address, one in workers.items()}
    has = [names[where] for where, keys in tasks.items() if where in names and named_in(keys, ending)]
    return has[0] if has else ""


def named_in(keys: Any, ending: str) -> bool:
    return any("summarise" in str(key) and str(key).endswith(ending) for key in keys)


@contextmanager
def meanwhile(act: Callable[[], None]) -> Iterator[None]:
    """Beside what is tested; its error is the test's."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(act)
        yield
        done.result(WAITS)


def test_where_nobody_is_left_in_the_first_pass_whoever_joins_goes_on(tmp_path, plain):
    """A task that waits for nobody but a worker that is gone is one that Dask forgets."""
    parts = [Gated(tmp_path, number, (0,)) for number in range(PARTS)]
    with Processes(tmp_path, 1) as found:

        def kill() -> None:
            until(lambda: any(tmp_path.glob("read-*")))
            found.kill("0")
            (tmp_path / "go").touch()
            found.worker("late")

        with meanwhile(kill):
            done = om.cluster.fit(LEARNER, parts, client=found.client, epochs=EPOCHS)
    assert equal(done, plain)


@soaked
def test_an_answer_that_is_lost_and_given_up_is_had_once_more(tmp_path, client):
    """Its worker was killed when it was there, and so was the one that made it again: Dask allows none."""
    (tmp_path / "plain").mkdir()
    undisturbed = [Gated(tmp_path / "plain", number) for number in range(3)]
    plain = om.cluster.fit(LEARNER, undisturbed, client=client, epochs=2)
    parts = [Gated(tmp_path, 0, (0,)), Gated(tmp_path, 1), Gated(tmp_path, 2, (1,))]
    with Processes(tmp_path, 3, failures=0) as found:

        def kill() -> None:
            until(lambda: bool(holder(found, "-2")))
            found.kill(holder(found, "-2"))
            parts[2].begun(1)
            found.kill(at(found, found.client.processing(), "-2"))
            (tmp_path / "go").touch()
            found.worker("late")

        with meanwhile(kill):
            done = om.cluster.fit(LEARNER, parts, client=found.client, epochs=2)
    assert equal(done, plain)
    assert (tmp_path / "read-2-2").exists()


def holder(found: Processes, ending: str) -> str:
    """The name of the worker that has the answer of such a task."""
    has: dict[str, list[str]] = {}
    for key, places in found.client.who_has().items():
        for place in places:
            has.setdefault(place, []).append(key)
    return at(found, has, ending)


def test_a_checkpoint_is_of_the_same_run(tmp_path, client):
    file = tmp_path / "run.onm"
    with pytest.raises(NoFile, match="does not exist"):
        om.cluster.fit(LEARNER, data(), client=client, checkpoint=file, resume=True)
    om.cluster.fit(LEARNER, data(), client=client, epochs=1, checkpoint=file)
    for other, word in (({"mixing": "examples"}, "mixing"), ({"rows": 7}, "rows")):
        with pytest.raises(BadInput, match=f"begun with other {word}"):
            om.cluster.fit(LEARNER, data(), client=client, checkpoint=file, resume=True, **other)
    with pytest.raises(BadInput, match="begun with other estimator"):
        om.cluster.fit(om.Perceptron(), data(), client=client, checkpoint=file, resume=True)
    with pytest.raises(BadInput, match="begun with other partitions"):
        om.cluster.fit(LEARNER, data()[1:], client=client, checkpoint=file, resume=True)
    assert om.load(file).predict(X[:1]) in ("yes", "no")  # a model like any other, too
    model, note = om.load(file), notes_of(file)["cluster"]
    for forged, beside, word in (
        (om.Perceptron().fit(X, Y), note, "another model"),
        (LEARNER.clone().fit(X[:, :2], Y), note, "another model"),
        (model, note | {"facts": None}, "damaged checkpoint"),
        (
            model,
            note | {"report": note["report"] | {"epochs": [(1, [tuple("abcdefghij")], 0.0, 0)]}},
            "damaged",
        ),
    ):
        om.save(forged, file, notes={"cluster": beside})
        with pytest.raises(BadFile, match=word):
            om.cluster.fit(LEARNER, data(), client=client, checkpoint=file, resume=True)
    with pytest.raises(BadInput, match="checkpoint=3; wanted the path of a file"):
        om.cluster.fit(LEARNER, data(), client=client, checkpoint=3)
    with Client(client.scheduler_info()["address"], set_as_default=False) as closed:
        pass
    with pytest.raises(BadInput, match="this Dask client is closed"):
        om.cluster.fit(LEARNER, data(), client=closed)


def test_workers_that_lack_onmargin_or_have_another_version(tmp_path):
    """Both are real processes: one without ours on its path, one with a package of that name before ours."""
    with Processes(tmp_path, 0) as found:
        found.worker("bare", bare=True, PYTHONPATH=site.getsitepackages()[0])
        found.client.wait_for_workers(1, timeout=WAITS)
        with pytest.raises(ClusterError, match=r"the worker tcp://\S+ has no onmargin .*install onmargin 0"):
            om.cluster.fit(LEARNER, data(), client=found.client)
        found.kill("bare")
        (tmp_path / "onmargin").mkdir()
        (tmp_path / "onmargin" / "__init__.py").write_text('__version__ = "9.9"')
        found.worker("other", PYTHONPATH=str(tmp_path))
        end = time.monotonic() + WAITS
        while len(found.client.nthreads()) != 1 or "other" not in str(found.client.scheduler_info()):
            assert time.monotonic() < end
            time.sleep(0.1)
        with pytest.raises(ClusterError, match=r"the worker tcp://\S+ has onmargin 9\.9; wanted 0"):
            om.cluster.fit(LEARNER, data(), client=found.client)


def broken() -> Any:
    raise OSError("the disk is gone")


@pytest.mark.parametrize("bad", ["computed", "NaN", "file"])
def test_a_partition_that_cannot_be_read_is_named_and_skipped(tmp_path, client, bad):
    """`skip`: as if it were not there."""
    parts = data()
    rows = X[4::PARTS].copy()
    rows[3, 1] = np.nan
    parts[4] = dask.delayed(broken)() if bad == "computed" else dask.delayed((rows, Y[4::PARTS]))
    said = {"computed": "the disk is gone", "NaN": "row 3 has a NaN in column 1", "file": "bytes"}[bad]
    if bad == "file":
        for number in range(PARTS):
            lines = [
                f"{label} " + " ".join(f"{k + 1}:{v}" for k, v in enumerate(row))
                for row, label in zip(
                    X[number::PARTS], np.where(Y[number::PARTS] == "yes", 1, -1), strict=True
                )
            ]
            (tmp_path / f"{number}.svm").write_text("\n".join(lines) + "\n")
        parts = om.sources.split([tmp_path / f"{number}.svm" for number in range(PARTS)])
        with Path(parts[4].file).open("a") as file:
            file.write("1 1:2\n")  # after it was split
    more: dict[str, Any] = {"client": client, "epochs": 2, "shuffle": False, "sample": 0}
    with pytest.raises(ClusterError, match=r"partition 4.*" + said + ".*on_error='skip'") as caught:
        om.cluster.run(LEARNER, parts, **more)
    assert "\n" not in str(caught.value)
    skipped = om.cluster.run(LEARNER, parts, on_error="skip", **more)
    (name, why) = next(iter(skipped.report.skipped.items()))
    assert name.startswith("partition 4") and said in why and len(skipped.report.skipped) == 1
    without = om.cluster.run(LEARNER, [part for k, part in enumerate(parts) if k != 4], **more)
    assert equal(skipped.model, without.model)
    assert "skipped partition 4" in str(skipped.report)


@pytest.mark.parametrize("ending", ["svm", "parquet"])
def test_what_cannot_be_read_at_the_beginning_is_a_partition_like_any_other(tmp_path, client, ending):
    """Though the client looks there first: at a bad line, or at a file without its end."""
    if ending == "svm":
        lines = [f"{i % 2} 1:{i % 2 + 0.1} 2:{i}\n" for i in range(60)]
        (tmp_path / "0.svm").write_text("".join(lines[:5] + ["what is this?\n"] + lines[5:]))
        data, said, more = tmp_path / "0.svm", "line 6, column 1: 'what'", {"parts": 3}
    else:
        frame = pd.DataFrame(X, columns=list("abc")).assign(answer=Y)
        for number in range(3):
            frame.to_parquet(tmp_path / f"{number}.parquet")
        for number in (0, 2):
            whole = (tmp_path / f"{number}.parquet").read_bytes()
            (tmp_path / f"{number}.parquet").write_bytes(whole[:-20])
        data, said, more = str(tmp_path / "*.parquet"), "0.parquet' as Parquet", {"target": "answer"}
    with pytest.raises(BadFile, match=said):
        om.cluster.run(LEARNER, data, client=client, sample=0, **more)
    found = om.cluster.run(LEARNER, data, client=client, sample=0, epochs=1, on_error="skip", **more)
    assert [said in why for why in found.report.skipped.values()] == [True, False][
        : len(found.report.skipped)
    ]
    assert len(found.report.skipped) == (1 if ending == "svm" else 2)
    assert str(found.report).count("partition 0 ") == 1  # named once


def test_ctrl_c_leaves_everything_as_it_was(client, plain):
    learner = LEARNER.clone()

    def stop(moment: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        om.cluster.fit(learner, data(), client=client, tell=stop)
    assert not hasattr(learner, "n_iter_")
    assert equal(om.cluster.fit(learner, data(), client=client, epochs=EPOCHS), plain)


def test_a_run_that_mixes_within_epochs_is_gone_on_with(tmp_path, client):
    """To the same bits; and the learner in sequence then has as many epochs as the run."""
    more: dict[str, Any] = {"client": client, "rows": 10, "mix_every": 2}
    whole = om.cluster.fit(LEARNER, data(), epochs=4, **more)
    file = tmp_path / "run.onm"
    om.cluster.run(LEARNER, data(), epochs=2, checkpoint=file, **more)
    again = om.cluster.run(LEARNER, data(), epochs=4, checkpoint=file, resume=True, **more)
    assert equal(again.model, whole)
    assert again.report.sample is not None and len(again.report.sample.errors) == 4
    assert "worker 0: " in str(again.report)
