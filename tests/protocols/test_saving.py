"""om.save replaces a file in one step, keeps what is the file's, writes the same bytes, cleans up."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.golden import expected
from tests.golden.families import FAMILIES
from tests.soaking import either, soaked

import onmargin as om
from onmargin.errors import BadFile, BadInput, OnmarginError
from onmargin.protocols.saving import drafts

X, Y = np.random.default_rng(0).standard_normal((30, 4)), np.arange(30) % 3


@pytest.fixture
def model() -> Any:
    return om.PassiveAggressiveClassifier().partial_fit(X, Y, classes=[0, 1, 2])


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def alone(path: Path) -> bool:
    """Nothing else is in its folder."""
    return [entry.name for entry in path.parent.iterdir()] == [path.name]


# ---- what is the file's


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o444])
def test_permissions_are_kept(model: Any, bits: int, tmp_path: Path) -> None:
    path = tmp_path / "m.onm"
    om.save(model, path)
    path.chmod(bits)
    om.save(model, path)
    assert mode(path) == bits and alone(path)


def test_a_new_file_has_the_usual_permissions(model: Any, tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    om.save(model, tmp_path / "m.onm")
    assert mode(tmp_path / "m.onm") == mode(tmp_path / "usual")


def test_a_link_stays_and_what_it_points_at_is_written(model: Any, tmp_path: Path) -> None:
    real, link = tmp_path / "real.onm", tmp_path / "link.onm"
    om.save(om.Perceptron(), real)
    link.symlink_to(real.name)
    om.save(model, link)
    assert link.is_symlink() and type(om.load(real)) is type(model)
    real.unlink()
    om.save(model, link)  # it pointed nowhere
    assert link.is_symlink() and om.load(real).t_ == 30


def test_a_draft_is_not_written_through_a_link(model: Any, tmp_path: Path) -> None:
    """(The old name of a draft, and drafts named as ours are.)"""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / f".m.onm.{os.getpid()}.part").symlink_to(victim)
    om.save(model, folder / "m.onm")
    assert victim.read_text() == "mine" and not (folder / "m.onm").is_symlink()
    assert om.load(folder / "m.onm").t_ == 30


def test_folders_and_devices_are_not_replaced(model: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(BadInput, match="wanted the path of a file"):
            om.save(model, path)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_long_names(model: Any, tmp_path: Path) -> None:
    path = tmp_path / f"{'ü' * 120}.onm"
    om.save(model, path)
    assert om.load(path).t_ == 30 and alone(path)


# ---- what is not there


def test_a_missing_file_is_both_errors(tmp_path: Path) -> None:
    for kind in (BadFile, FileNotFoundError, ValueError, OnmarginError):
        with pytest.raises(kind, match=r"^[^\n]*nowhere.onm does not exist[^\n]*$"):
            om.load(tmp_path / "nowhere.onm")


def test_a_missing_folder_is_named(model: Any, tmp_path: Path) -> None:
    for kind in (FileNotFoundError, OnmarginError):
        with pytest.raises(kind, match=r"^the folder [^\n]*nowhere does not exist[^\n]*$"):
            om.save(model, tmp_path / "nowhere" / "m.onm")


class Deep:
    """A tuple in tuples in tuples."""

    value: Any = "a"
    for _ in range(3000):
        value = (value,)


@pytest.mark.parametrize(
    "name",
    [np.longdouble(3), np.complex64(1), frozenset({1}), Deep.value],
    ids=["long", "complex", "set", "deep"],
)
def test_names_that_cannot_be_saved(name: Any, tmp_path: Path) -> None:
    om.save(om.Perceptron(), tmp_path / "m.onm")
    model = om.Perceptron()
    model.learn_one({name: 1.0}, "yes")
    with pytest.raises(BadInput, match=r"^[^\n]{0,250}$"):
        om.save(model, tmp_path / "m.onm")
    assert alone(tmp_path / "m.onm") and om.load(tmp_path / "m.onm")._model is None


def test_labels_that_cannot_be_saved(tmp_path: Path) -> None:
    model = om.Perceptron(classes=[np.longdouble(0), np.longdouble(1)])
    with pytest.raises(BadInput, match="cannot be saved"):
        om.save(model, tmp_path / "m.onm")
    with pytest.raises(BadInput, match="cannot be saved"):
        om.save(om.Perceptron(classes=np.arange(2, dtype=np.longdouble)), tmp_path / "m.onm")


# ---- the same bytes


def saved(model: Any, folder: Path) -> bytes:
    om.save(model, folder / "m.onm")
    return (folder / "m.onm").read_bytes()


@pytest.mark.parametrize("name", FAMILIES)
def test_two_saves_are_equal(name: str, tmp_path: Path) -> None:
    """Of one model, and of the model that was read."""
    model = om.load(expected.file_of(name))
    first = saved(model, tmp_path)
    assert saved(model, tmp_path) == first == saved(om.load(tmp_path / "m.onm"), tmp_path)


SAVE = """
import sys, onmargin as om
om.save(om.load(sys.argv[1]), sys.argv[2])
"""


def test_two_processes_write_the_same(tmp_path: Path) -> None:
    given = expected.file_of("arow_full")
    run(SAVE, str(given), str(tmp_path / "other.onm"))
    assert (tmp_path / "other.onm").read_bytes() == saved(om.load(given), tmp_path)


@pytest.mark.parametrize(
    "made",
    [
        om.AROW(covariance="full"), om.PassiveAggressiveUniclass(), om.FTRLClassifier(regularizer="group"),
        om.Projectron(tolerance=0.4), om.BBQ(random_state=0), om.PairedClassifier(random_state=0),
        om.PassiveAggressiveClassifier(kernel="rbf", budget=5),
    ],
    ids=lambda made: type(made).__name__,
)  # fmt: skip
def test_answers_and_refusals_leave_no_trace(made: Any, tmp_path: Path) -> None:
    """Also not in the scratch of the loop, where a refused row was."""
    model, announced = made.clone(), {} if hasattr(made, "max_radius") else {"classes": [0, 1]}
    model.partial_fit(0.2 * X, Y % 2, **announced)
    before = saved(model, tmp_path)
    model.predict(0.1 * X)
    assert saved(model, tmp_path) == before
    bad = 0.2 * X
    bad[3, 1] = np.nan
    for call in (model.predict, lambda rows: model.partial_fit(rows, Y % 2)):
        with pytest.raises(ValueError, match="NaN"):
            call(bad)
        assert saved(model, tmp_path) == before


def test_dicts_leave_no_trace(tmp_path: Path) -> None:
    model = om.AROW(covariance="full")
    for number, row in enumerate(X):
        model.learn_one(dict(zip("abcd", row.tolist(), strict=True)), int(number % 2))
    before = saved(model, tmp_path)
    model.predict_one({"a": 3.0, "b": 1.0})
    for bad in ({"a": float("nan")}, {"a": 1e200, "b": 1e200}, {"a": "x"}):
        with pytest.raises(ValueError):
            model.learn_one(bad, 1)
    assert saved(model, tmp_path) == before
    arrays = expected.arrays_in(tmp_path / "m.onm")
    assert not arrays["notes"].any() and not arrays["reach"].any()


# ---- several at once, and ends in mid-save


def test_threads_may_save_to_one_path(model: Any, tmp_path: Path) -> None:
    path, failures = tmp_path / "m.onm", []
    om.save(model, path)

    def work() -> None:
        try:
            for _ in range(either(15, 200)):
                om.save(model, path)
                assert om.load(path).t_ == 30
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and alone(path)


def run(code: str, *words: str, ends: int = 0) -> str:
    """A program as plain Python, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == ends, done.stderr
    return done.stdout


KILLED = """
import os, signal, sys, onmargin as om
os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
om.save(om.Perceptron(), sys.argv[1])
"""


def test_the_draft_of_a_killed_process_is_removed_by_the_next_save(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.onm"
    om.save(model, path)
    run(KILLED, str(path), ends=-signal.SIGKILL)
    assert len(list(tmp_path.iterdir())) == 2 and om.load(path).t_ == 30
    om.save(om.Perceptron(), tmp_path / "other.onm")  # (another file's drafts are not its business)
    assert len(list(tmp_path.iterdir())) == 3
    om.save(model, path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["m.onm", "other.onm"]


def test_drafts_that_may_be_alive_stay_until_they_are_old(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.onm"
    mine = tmp_path / f".m.onm.{drafts._host()}.{os.getpid()}.0123456789abcdef.part"
    elsewhere = tmp_path / ".m.onm.00000000.999999.0123456789abcdef.part"
    strange = tmp_path / ".m.onm.part"
    for draft in (mine, elsewhere, strange):
        draft.touch()
    om.save(model, path)
    assert mine.exists() and elsewhere.exists() and strange.exists()
    for draft in (mine, elsewhere):
        os.utime(draft, (time.time() - 2 * drafts.OLD,) * 2)
    om.save(model, path)
    assert sorted(tmp_path.iterdir()) == sorted([path, strange])


LOOP = """
import sys, numpy as np, onmargin as om
X = np.eye(20, 4000)
models = [om.Perceptron().partial_fit(X[:n], np.arange(n) % 3, classes=[0, 1, 2]) for n in (5, 20)]
print("begun", flush=True)
while True:
    for model in models:
        om.save(model, sys.argv[1])
"""


@soaked
def test_a_killed_saver_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "m.onm"
    om.save(om.Perceptron(), path)
    draw = np.random.default_rng(1)
    for _ in range(either(1, 20)):
        process = subprocess.Popen(
            [sys.executable, "-c", LOOP, str(path)], env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        time.sleep(draw.uniform(0.0, 0.1))
        process.kill()
        process.wait()
        process.stdout.close()
        assert om.load(path) is not None
    om.save(om.Perceptron(), path)
    assert alone(path)


FULL = """
import resource, signal, sys, numpy as np, onmargin as om
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
model = om.Perceptron().partial_fit(np.eye(3, 4000), [0, 1, 2], classes=[0, 1, 2])
try:
    om.save(model, sys.argv[1])
except OSError as error:
    assert "\\n" not in str(error)
    print("refused")
"""


def test_a_save_that_runs_out_of_room_leaves_the_old_file(model: Any, tmp_path: Path) -> None:
    """A limit of the system on the size of files, which fails as a full disk does: in mid-write."""
    path = tmp_path / "m.onm"
    om.save(model, path)
    before = path.read_bytes()
    assert run(FULL, str(path)) == "refused\n"
    assert path.read_bytes() == before and alone(path)


def test_a_full_disk_leaves_the_old_file(model: Any, tmp_path: Path) -> None:
    """On a small disk in memory, where one may be mounted; otherwise the limit above stands for it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        test_a_save_that_runs_out_of_room_leaves_the_old_file(model, disk)
        return
    try:
        path = disk / "m.onm"
        om.save(model, path)
        before = path.read_bytes()
        wide = om.Perceptron().partial_fit(np.eye(3, 4000), [0, 1, 2], classes=[0, 1, 2])
        with pytest.raises(OSError, match="No space"):
            om.save(wide, path)
        assert path.read_bytes() == before and alone(path)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
