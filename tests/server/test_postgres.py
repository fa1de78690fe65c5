"""PostgreSQL behind the same interface: a real server of its own user, on a socket of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from onmargin.errors import BadFile
from onmargin.server.refusals import CannotWrite
from onmargin.server.service import Service
from onmargin.server.settings import Settings

from .processes import Served
from .test_service import LABELLED

FOUND = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
INITDB = FOUND[-1] if FOUND else shutil.which("initdb")
needs_postgres = pytest.mark.skipif(INITDB is None, reason="needs PostgreSQL: apt-get install postgresql")
pytestmark = needs_postgres


def as_its_user(*command: str) -> list[str]:
    """PostgreSQL refuses to be root."""
    return ["runuser", "-u", "postgres", "--", *command] if os.getuid() == 0 else list(command)


class Postgres:
    """Listens on a socket in its own folder only."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="onm"))  # (a path of a socket must be short)
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.data, self.bin = self.folder / "data", Path(str(INITDB)).parent
        self.run("initdb", "-D", str(self.data), "-A", "trust", "-U", "onmargin", "--no-sync")
        self.start()

    def database(self, name: str) -> str:
        """A new one's URL."""
        self.run("createdb", "-h", str(self.folder), "-U", "onmargin", name)
        return f"postgresql://onmargin@/{name}?host={self.folder}"

    def run(self, program: str, *more: str) -> None:
        command = as_its_user(str(self.bin / program), *more)
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/", timeout=60)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        options = f"-c listen_addresses='' -k {self.folder} -c shared_buffers=16MB"
        log = str(self.folder / "log")
        self.run("pg_ctl", "start", "-w", "-D", str(self.data), "-o", options, "-l", log)

    def stop(self, how: str = "fast") -> None:
        self.run("pg_ctl", "stop", "-w", "-m", how, "-D", str(self.data))


@pytest.fixture(scope="module")
def postgres():
    made = Postgres()
    yield made
    made.stop("immediate")
    shutil.rmtree(made.folder, ignore_errors=True)


def test_the_same_on_postgresql_and_after_its_crash(postgres, tmp_path):
    settings = Settings(journal=postgres.database("one"))
    service, plain = Service(tmp_path / "served", settings), Service(tmp_path / "sqlite")
    for one in (service, plain):
        one.create("m", {"algorithm": "pa1", "C": 0.5, "random_state": 1})
    keyed = [one | {"key": f"k{n % 20}"} for n, one in enumerate(LABELLED[:30])]
    assert service.learn("m", keyed).result() == plain.learn("m", keyed).result()
    with pytest.raises(BadFile, match="another server writes"):
        Service(tmp_path / "other", settings)
    postgres.stop("immediate")  # as a crash would
    with pytest.raises(CannotWrite, match="it may have been written; send it again with its key"):
        service.learn("m", LABELLED[30:31]).result()
    assert not service.health()["ok"]
    postgres.start()
    deadline = time.monotonic() + 30
    while not service.health()["ok"] and time.monotonic() < deadline:
        time.sleep(0.1)
    told = [one.learn("m", LABELLED[30:]).result() for one in (service, plain)]
    assert told[0] == told[1] and told[0]["rounds"] == 50
    for one in (service, plain):
        one.undo("m", told[0]["events"][3]).result()
    state = service.state("m")
    service.close()
    shutil.rmtree(tmp_path / "served")  # without snapshots: from the journal alone
    again = Service(tmp_path / "served", settings)
    assert again.state("m") == state == plain.state("m")
    assert again.verify()[0].wrong == []
    assert plain.past.at_round("m", 49).learner.coef_.tobytes() == again.hosted("m").learner.coef_.tobytes()
    again.writer.call(lambda: again.keeping.save(again.hosted("m"))).result()
    again.writer.call(lambda: again.journal.compact("m", again.hosted("m").event)).result()
    assert again.journal.floor("m") == again.hosted("m").event and again.journal.size() < 500
    again.close()
    plain.close()


def test_a_server_process_on_postgresql(postgres, tmp_path):
    with Served(tmp_path / "served", "--journal", postgres.database("two")) as server:
        client = server.client()
        client.post("over-http", {"algorithm": "pa1"})
        assert client.post("over-http/learn", LABELLED)["rounds"] == 60
        server.kill()
        server.start()
        assert server.client().get("/v1/models/over-http")["rounds"] == 60
        assert server.stop() == 0


def test_a_database_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(BadFile, match="cannot be reached") as told:
        Service(tmp_path / "served", Settings(journal=f"postgresql://x@/x?host={tmp_path}"))
    assert "\n" not in str(told.value)


def test_a_url_that_is_none_is_one_line_without_its_password(tmp_path):
    with pytest.raises(BadFile, match="the journal's URL cannot be read.*check it") as told:
        Service(tmp_path, Settings(journal="postgresql://me:secret@/x?no_such_option=1"))
    assert "secret" not in str(told.value) and "\n" not in str(told.value)
