"""A disk that is full, a folder that may not be written: health turns bad, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onmargin.server.journals.predictions import Predictions
from onmargin.server.settings import Settings

from .processes import LATE, Forked, Served
from .test_service import LABELLED

is_root = hasattr(os, "getuid") and os.getuid() == 0


@pytest.fixture
def small(tmp_path):
    """A file system of a few megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place)], capture_output=True)
    if done.returncode:
        pytest.skip("needs to mount a small file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(not is_root, reason="needs to mount a small file system")
def test_a_full_disk_turns_health_bad_and_loses_nothing(small, tmp_path):
    with Served(small / "served") as server:
        client = server.client()
        client.post("m", {"algorithm": "pa1"})
        assert client.post("m/learn", LABELLED)["rounds"] == 60
        filler = small / "filler"
        file = os.open(filler, os.O_WRONLY | os.O_CREAT)
        with pytest.raises(OSError, match="No space left"):  # all that is free
            while True:
                os.write(file, bytes(4096))
        os.close(file)
        statuses = [client.ask("POST", "/v1/models/m/learn", LABELLED * 20)[0] for _ in range(3)]
        assert 503 in statuses and set(statuses) <= {200, 503}
        assert client.ask("GET", "/healthz")[0] == 503
        assert client.post("m/predict", {"x": {"f1": 1.0}})["label"] in ("ham", "spam")
        rounds = client.get("/v1/models/m")["rounds"]
        assert rounds == 60 + 1200 * statuses.count(200)
        filler.unlink()
        deadline = time.monotonic() + LATE
        while client.ask("GET", "/healthz")[0] == 503 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert client.post("m/learn", LABELLED)["rounds"] == rounds + 60
        server.kill()
        server.start()
        assert server.client().get("/v1/models/m")["rounds"] == rounds + 60
        assert server.stop() == 0


def test_a_folder_that_may_not_be_written_is_one_line(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    if is_root:  # whom nobody locks out
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)], check=True)
    else:
        folder.chmod(0o500)
    command = [
        sys.executable,
        "-m",
        "onmargin.cli.app",
        "serve",
        "--dir",
        str(folder / "served"),
        "--port",
        "0",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LATE)
    finally:
        if is_root:
            subprocess.run(["umount", str(folder)], check=True)
    assert done.returncode == 2 and "cannot be written" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_predictions_that_cannot_be_written_are_lost_and_the_next_ones_kept(tmp_path):
    predictions = Predictions(tmp_path, Settings())

    def asked():
        number = predictions.next()
        predictions.note(number, "m", lambda: b'{"x": {"a": 1}}')
        predictions.flush()
        return predictions.find(f"{predictions.start}-{number:x}-0") is not None

    assert asked()
    predictions.file.close()
    predictions.file = open("/dev/full", "wb")  # noqa: SIM115
    assert [asked() for _ in range(3)] == [False, True, True]
    predictions.close()


def test_a_snapshot_that_cannot_be_written_costs_no_label(tmp_path):
    with Forked(tmp_path / "served", "--snapshot-every", "10") as server:
        client = server.client()
        client.post("m", {"algorithm": "pa1"})
        Path(tmp_path / "served" / "snapshots").write_text("in the way")
        assert client.post("m/learn", LABELLED)["rounds"] == 60
        server.kill()
        server.start()
        assert server.client().get("/v1/models/m")["rounds"] == 60
    shutil.rmtree(tmp_path / "served")
