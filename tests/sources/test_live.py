"""Lines that arrive: a growing file that is rotated and cut, a socket that closes, real servers."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time

import pytest

import onmargin as om
from onmargin.errors import BadFile, BadInput, NoFile

IDLE = 1.0  # seconds: an end of the test, not a measure of time


def line(number):
    return f"{number}\ttext of {number}\n"


class Reader(threading.Thread):
    """Takes all blocks of a source in the background."""

    def __init__(self, source):
        super().__init__(daemon=True)
        self.source, self.targets, self.texts, self.error = source, [], [], None
        self.start()

    def run(self):
        try:
            for block in self.source:
                self.targets += block.targets.tolist()
                self.texts += list(block.rows)
        except Exception as error:
            self.error = error

    def wait_for(self, count):
        """Until so many targets are there."""
        last = time.monotonic() + 30
        while len(self.targets) < count and time.monotonic() < last and self.is_alive():
            time.sleep(0.01)
        assert len(self.targets) == count, (self.targets, self.error)

    def ended(self):
        self.join(30)
        assert not self.is_alive() and self.error is None, self.error
        return self.targets


def append(path, text):
    with open(path, "a") as file:
        file.write(text)


def test_a_growing_file_is_followed_through_rotation_and_truncation(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(line(1) + line(2))
    source = om.sources.open_source(path, follow=True, features=None, poll=0.01)
    assert source.live and not source.again and source.bytes_total is None
    reader = Reader(source)
    reader.wait_for(2)
    append(path, "3\ttext")  # a line in two pieces is one line
    append(path, " of 3\n" + line(4))
    reader.wait_for(4)
    append(path, "5\ttext of 5")  # its newline never comes: the file is rotated
    os.rename(path, tmp_path / "log.1")
    append(tmp_path / "log.1", "")
    path.write_text(line(6))
    reader.wait_for(6)
    with open(path, "w") as file:  # truncated (a shorter file)
        file.write("7\t.\n")
    reader.wait_for(7)
    append(path, "8\thalf a li")
    source.format.chunks.stop.set()
    assert reader.ended() == [1, 2, 3, 4, 5, 6, 7] and reader.texts[2] == "text of 3"


def test_a_file_that_is_not_there_yet_is_waited_for_and_idleness_ends(tmp_path):
    path = tmp_path / "later.txt"
    reader = Reader(om.sources.live.follow(path, "text", features=None, poll=0.01, idle=IDLE))
    path.write_text(line(1) + "2\tno newline")
    assert reader.ended() == [1, 2]
    source = om.sources.live.follow(path, "text", features=None, poll=0.01, idle=IDLE, new=True)
    append(path, "\n" + line(3))  # new from the call on, whenever the first look is
    assert Reader(source).ended() == [3]
    with pytest.raises(NoFile, match="there is no folder"):
        om.sources.live.follow(tmp_path / "none" / "x", "text")


def test_time_that_the_reader_takes_is_no_idleness(tmp_path):
    """All of it waits already: a slow reader, or one that compiles first, loses nothing."""
    server = socket.create_server(("127.0.0.1", 0))
    lines = "".join(map(line, range(2000))).encode()

    def send():
        there, _ = server.accept()
        with there:
            for at in range(0, len(lines), 1000):
                there.sendall(lines[at : at + 1000])
                time.sleep(0.001)
            over.wait(30)

    over = threading.Event()
    sender = threading.Thread(target=send)
    sender.start()
    address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    chunks = om.sources.open_source(address, "text", features=None, idle=0.2).format.chunks
    met = 0
    for chunk in chunks:
        met += chunk.text.tobytes().count(b"\n")
        if met < 2000:
            time.sleep(0.3)
    over.set()
    sender.join()
    server.close()
    assert met == 2000


def test_bad_lines_of_a_growing_file_have_their_place(tmp_path):
    path = tmp_path / "log.vw"
    path.write_text("1 |a x\n1 |a x:\n")
    with pytest.raises(BadFile, match=r"log.vw, line 2, column 8: .*wanted a finite number"):
        list(om.sources.open_source(path, follow=True, idle=0.1))
    source = om.sources.open_source(path, follow=True, idle=0.1, on_error="skip")
    assert [len(block.targets) for block in source] == [1] and source.skipped == 1


@pytest.mark.parametrize("format", ["text", "svmlight", "vw", "jsonl"])
def test_lines_of_a_socket_until_it_closes(format):
    lines = {
        "text": "1\tx\n2\ty\n3\tz", "svmlight": "1 1:2\n2 3:4\n3 1:1", "vw": "1 |a\n2 |a x\n3 |b y",
        "jsonl": '{"y": 1, "t": "x"}\n{"y": 2, "t": "y"}\n{"y": 3, "t": "z"}',
    }[format].encode()  # fmt: skip
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = server.accept()
        with connection:
            for at in range(0, len(lines), 5):
                connection.sendall(lines[at : at + 5])
                time.sleep(0.001)

    thread = threading.Thread(target=serve)
    thread.start()
    options = {"text": "t"} if format == "jsonl" else {}
    address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    source = om.sources.open_source(
        address, format, **options, **({} if format == "svmlight" else {"features": None})
    )
    assert [target for block in source for target in block.targets.tolist()] == [1.0, 2.0, 3.0]
    assert source.bytes_read == len(lines)
    thread.join()
    server.close()
    with pytest.raises(BadInput, match="only once"):
        list(source)
    with pytest.raises(BadInput, match="cannot connect"):
        om.sources.live.connect(address[6:], format)


def test_addresses_say_what_they_lack():
    for address, format, said in (
        ("tcp://127.0.0.1:1", None, "give format="), ("tcp://localhost", "vw", "wanted host:port"),
        ("redis://127.0.0.1:1/0", "vw", "names no stream"), ("nats://127.0.0.1:1", "vw", "names no subject"),
        ("redis://127.0.0.1:1/0?stream=s", "parquet", "what arrives is lines"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=said):
            list(om.sources.open_source(address, format))


# ---- real servers


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def started(command, port):
    """A server, once it answers."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    last = time.monotonic() + 30
    while time.monotonic() < last:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.05)
    process.kill()
    raise AssertionError(f"{command[0]} did not start")


def program(name):
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    return found or pytest.skip(f"{name} is not installed (Debian package {name})")


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    port, folder = free_port(), tmp_path_factory.mktemp("redis")
    command = [
        program("redis-server"),
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        str(folder),
        "--save",
        "",
    ]
    server = started(command, port)
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait(10)


def test_a_redis_stream(redis_url):
    import redis

    client = redis.Redis.from_url(redis_url)
    for number in range(2500):
        client.xadd("events", {"line": line(number)})
    source = om.sources.open_source(f"{redis_url}?stream=events", "text", features=None, idle=0.3, rows=1000)
    assert source.live and source.again
    for _ in range(2):
        assert [target for block in source for target in block.targets.tolist()] == list(range(2500))
    last = source.format.chunks.last
    client.xadd("events", {"line": "2500\tmore"})
    later = om.sources.redis_stream.stream(redis_url, "events", "text", features=None, idle=0.3, start=last)
    assert [block.targets.tolist() for block in later] == [[2500.0]]
    reader = Reader(
        om.sources.redis_stream.stream(redis_url, "events", "text", features=None, idle=IDLE, start="$")
    )
    client.xadd("events", {"line": line(9)})
    assert reader.ended() == [9]
    client.xadd("events", {"other": "x"})
    with pytest.raises(BadFile, match=r"its fields are \['other'\]; wanted 'line'"):
        list(om.sources.redis_stream.stream(redis_url, "events", "text", features=None, idle=0.3))
    with pytest.raises(BadInput, match="cannot"):
        list(om.sources.redis_stream.stream("redis://127.0.0.1:1/0", "events", "text", idle=0.3))


@pytest.fixture(scope="module")
def nats_url():
    port = free_port()
    server = started([program("nats-server"), "-a", "127.0.0.1", "-p", str(port)], port)
    yield f"nats://127.0.0.1:{port}"
    server.terminate()
    server.wait(10)


def publish(url, subject, messages):
    import asyncio

    import nats

    async def send():
        client = await nats.connect(url)
        for message in messages:
            await client.publish(subject, message)
        await client.drain()

    asyncio.run(send())


def test_a_nats_subject(nats_url):
    source = om.sources.open_source(f"{nats_url}?subject=spam.>", "text", features=None, idle=IDLE)
    assert source.live and not source.again
    reader = Reader(source)
    publish(nats_url, "spam.mail", [line(number).encode().rstrip(b"\n") for number in range(3000)])
    assert reader.ended() == list(range(3000))
    with pytest.raises(BadInput, match="only once"):
        list(source)
    with pytest.raises(BadInput, match="cannot ask NATS"):
        om.sources.nats_subject.stream("nats://127.0.0.1:1", "x", "text")


def test_a_nats_server_that_goes_away_is_told():
    port = free_port()
    server = started([program("nats-server"), "-a", "127.0.0.1", "-p", str(port)], port)
    reader = Reader(om.sources.nats_subject.stream(f"nats://127.0.0.1:{port}", "x", "text", features=None))
    publish(f"nats://127.0.0.1:{port}", "x", [b"1\ta"])
    reader.wait_for(1)
    server.kill()
    server.wait(10)
    reader.join(30)
    assert isinstance(reader.error, BadInput) and "messages may be lost" in str(reader.error)
