"""onmargin data: real sets by name, from a folder or from their publishers."""

from __future__ import annotations

import gzip
import io
import os
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import onmargin as om
from onmargin.cli.app import main
from onmargin.errors import BadFile
from onmargin.sources.datasets import fetching
from onmargin.sources.datasets.catalogue import names
from onmargin.sources.real import folder

from .sessions import lines, refused, run


class Publisher:
    """A server on this machine, and what it has."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                publisher.asked.append(self.path)
                body = publisher.files.get(self.path)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    made = Publisher()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def here(tmp_path: Path, mirror: str = "") -> dict[str, str]:
    return {**os.environ, "ONMARGIN_DATA": str(tmp_path), "ONMARGIN_MIRROR": mirror}


def test_the_list_says_task_size_and_licence() -> None:
    entries = names()
    found = lines("data", "list")
    assert [one["name"] for one in found] == list(entries)
    a9a = next(one for one in found if one["name"] == "a9a")
    assert (a9a["task"], a9a["rows"], a9a["licence"]) == ("binary", 32561, "CC BY 4.0 (UCI)")
    assert a9a["from"].endswith("/libsvmtools/datasets/binary/a9a") and a9a["here"] is entries["a9a"].is_here
    assert all(one["from"] for one in found)


def test_the_table_has_every_name_in_80_columns(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["data", "list"]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80 and all(f"{name} " in said for name in names())


def test_get_brings_a_set_checks_it_and_says_where_it_is(
    tmp_path: Path, publisher: Publisher, monkeypatch, capsys
) -> None:
    file = "abalone/abalone.data.gz"
    text = gzip.decompress((folder() / file).read_bytes())
    publisher.files[f"/{file}"] = gzip.compress(text.replace(b"\n", b" \r\n"))  # as some copies have it
    environment = here(tmp_path, publisher.address)
    [first] = lines("data", "get", "abalone", env=environment)
    assert (
        first["fetched"]
        and first["licence"] == "CC BY 4.0 (UCI)"
        and first["paths"] == [str(tmp_path / file)]
    )
    monkeypatch.setenv("ONMARGIN_DATA", str(tmp_path))
    for words in (["get", "abalone"], ["path", "abalone"], ["path"]):
        assert main(["data", *words]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("abalone: was here, ") and publisher.asked == [f"/{file}"]
    assert said[2] == "licence: CC BY 4.0 (UCI)" and said[4:] == [str(tmp_path / file), str(tmp_path)]
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["abalone.data.gz"]


def test_what_came_wrong_is_not_kept(tmp_path: Path, publisher: Publisher, monkeypatch) -> None:
    monkeypatch.setenv("ONMARGIN_DATA", str(tmp_path))
    monkeypatch.setenv("ONMARGIN_MIRROR", publisher.address)
    path = "/abalone/abalone.data.gz"
    for body, told in (
        (b"M,0.455\n", "another file than the one that is known"),
        (b"\x1f\x8b nonsense", "a damaged file"),
        (b"0" * 300_000, "more than the 200,000 bytes"),
    ):
        publisher.files[path] = body
        with pytest.raises(BadFile, match=told):
            fetching.fetch("abalone")
    del publisher.files[path]
    with pytest.raises(om.errors.NoFile, match="cannot be reached"):
        fetching.fetch("abalone")
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_archives_are_opened(tmp_path: Path, publisher: Publisher, monkeypatch) -> None:
    file = "sms_spam/SMSSpamCollection.gz"
    text = gzip.decompress((folder() / file).read_bytes())
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("readme", "about")
        packed.writestr("SMSSpamCollection", text)
    publisher.files["/s.zip"] = archive.getvalue()
    known = fetching.ORIGINS[file]
    monkeypatch.setitem(fetching.ORIGINS, file, known._replace(address=f"{publisher.address}/s.zip"))
    monkeypatch.setenv("ONMARGIN_DATA", str(tmp_path))
    said: list[tuple[str, int, int]] = []
    [path] = fetching.fetch("sms_spam", lambda *words: said.append(words))
    assert gzip.decompress(path.read_bytes()) == text and said[-1] == (
        file,
        len(archive.getvalue()),
        known.most,
    )
    X, _ = om.datasets.load("sms_spam")
    assert len(X) == 5574


def test_checksums_are_those_of_the_files_here() -> None:
    for file, origin in fetching.ORIGINS.items():
        data = gzip.decompress((folder() / file).read_bytes())
        assert fetching.checksum(data, origin.lines) == origin.sha256, file


def test_offline_is_one_clear_line(tmp_path: Path, monkeypatch, capsys) -> None:
    said = refused(run("data", "get", "a9a", env=here(tmp_path, "http://127.0.0.1:9")))
    assert (
        "http://127.0.0.1:9/a9a/a9a.gz cannot be reached" in said and str(tmp_path / "a9a" / "a9a.gz") in said
    )
    monkeypatch.setenv("ONMARGIN_DATA", str(tmp_path))
    for words, told in (
        (["get", "news20"], ("news20 is not in", "K. Lang", "put it there as news20/")),
        (["path", "a9b"], ("did you mean 'a9a'",)),
        (["path", "mnist"], ("onmargin data get mnist",)),
    ):
        assert main(["data", *words]) == 2
        out, said = capsys.readouterr()
        assert not out and said.count("\n") == 1 and all(one in said for one in told), said
