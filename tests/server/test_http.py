"""Routes over real HTTP: what api.md promises, limits, tokens, a stop that loses nothing, and bad bodies."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error

import onmargin as om
from onmargin.errors import BadInput
from onmargin.server.access import Access
from onmargin.server.serving import bound_to

from ..soaking import either
from .processes import LATE, Client, Served

GOOD = [{"x": {"a": 1.0, "b": -0.5}, "y": "spam"}, {"x": {"a": -1.0}, "y": "ham"}]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Served(tmp_path_factory.mktemp("http") / "served") as made:
        client = made.client()
        client.post("m", {"algorithm": "pa1", "C": 0.1})
        client.post("t", {"algorithm": "pa1", "text": True})
        client.post("m/learn", GOOD)
        client.post("t/learn", [{"text": "cheap pills", "y": "spam"}, {"text": "lunch", "y": "ham"}])
        yield made


@pytest.fixture
def client(server):
    made = Client(server.port)
    yield made
    made.connection.close()


def test_every_route_answers_as_promised(client, tmp_path):
    status, state = client.ask("POST", "/v1/models/fresh", {"algorithm": "arow"})
    assert status == 201 and state["rounds"] == 0 and state["algorithm"] == "arow"
    assert client.ask("POST", "/v1/models/fresh", {"algorithm": "arow"})[0] == 409
    told = client.post("fresh/learn", GOOD)
    assert told["rounds"] == 2 and len(told["events"]) == 2
    assert client.post("fresh/learn", GOOD[0] | {"key": "k"})["rounds"] == 3
    assert client.post("fresh/learn", GOOD[0] | {"key": "k"})["counted"] == 0
    one = client.post("fresh/predict", {"x": {"a": 2.0}})
    assert one["label"] == "spam" and set(one["scores"]) == {"ham", "spam"} and one["wanted"] in (True, False)
    assert [two["label"] for two in client.post("fresh/predict", [{"x": {"a": 2.0}}] * 2)] == ["spam"] * 2
    assert client.post("fresh/feedback", {"id": one["id"], "y": "spam"})["rounds"] == 4
    state = client.get("/v1/models/fresh")
    assert state["rounds"] == 4 and state["classes"] == ["ham", "spam"] and state["features"] == 2
    assert "fresh" in [model["name"] for model in client.get("/v1/models")["models"]]
    assert client.get("/v1/models/fresh/history?since=3")["points"][-1]["rounds"] == 4
    (tmp_path / "two.onm").write_bytes(client.raw("GET", "/v1/models/fresh/snapshot?round=2")[1])
    assert om.load(tmp_path / "two.onm").t_ == 2
    assert client.post("fresh/undo", {"event": told["events"][0]})["rounds"] == 3
    lines = client.raw("GET", "/v1/models/fresh/journal")[1].splitlines()
    assert [json.loads(line)["undone"] is None for line in lines] == [False, True, True, True]
    parquet = client.raw("GET", "/v1/models/fresh/journal?format=parquet")[1]
    assert parquet[:4] == parquet[-4:] == b"PAR1"
    assert client.get("/healthz")["ok"] is True
    text = client.raw("GET", "/metrics")[1].decode()
    assert 'onmargin_rounds_total{model="fresh"} 3.0' in text and "onmargin_journal_lag_seconds" in text


def test_what_is_not_there_is_said_in_one_line(client):
    for method, path, body in (
        ("POST", "/v1/models/none/predict", {"x": {}}),
        ("GET", "/v1/models/none", None),
        ("POST", "/v1/models/m/feedback", {"id": "0-1-0", "y": "a"}),
        ("POST", "/v1/models/m/undo", {"event": 10**9}),
        ("GET", "/v1/models/m/snapshot?round=99999", None),
    ):
        status, told = client.ask(method, path, body)
        assert status == 404 and "\n" not in told["detail"] and len(told["detail"]) > 20


def test_the_document_is_complete_and_loads_nothing(client):
    document = client.get("/openapi.json")
    wanted = {"": "post get", "/predict": "post", "/learn": "post", "/feedback": "post", "/undo": "post",
              "/snapshot": "get", "/journal": "get", "/history": "get"}  # fmt: skip
    for path, methods in wanted.items():
        assert set(methods.split()) <= document["paths"]["/v1/models/{name}" + path].keys()
    told = document["paths"]["/v1/models/{name}/learn"]["post"]["responses"]
    assert {"200", "400", "408", "413", "422", "429", "500", "503"} <= told.keys()
    page = client.raw("GET", "/docs")[1].decode()
    assert (
        "/v1/models/{name}/predict" in page
        and "http" not in page.replace("https?", "").lower().split("<main>")[0]
    )
    assert " src=" not in page and "@import" not in page


def bodies():
    """Wrong in every way that we could think of."""
    deep = b'{"x":' * 50_000
    return [
        b"",
        b"null",
        b"7",
        b'"x"',
        b"[]]",
        b"{",
        b"[1, 2]",
        b"[[]]",
        deep,
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b"\x00",
        b'{"x": {"a": NaN}, "y": 1}',
        b'{"x": {"a": Infinity}, "y": 1}',
        b'{"x": {"a": 1e999}, "y": 1}',
        b'{"x": {"a": ' + b"9" * 5000 + b'}, "y": 1}',
        b'{"x": {"a": "1"}, "y": 1}',
        b'{"x": {"a": null}, "y": 1}',
        b'{"x": {"a": [1]}, "y": 1}',
        b'{"x": [1, "2"], "y": 1}',
        b'{"x": {"a": 1}, "y": {"b": 1}}',
        b'{"x": {"a": 1}, "y": NaN}',
        b'{"x": {"a": 1}, "y": [1]}',
        b'{"x": {"a": 1}, "y": null}',
        b'{"x": {"a": 1}}',
        b'{"x": {"a": 1}, "y": "b", "w": -1}',
        b'{"x": {"a": 1}, "y": "b", "key": 3}',
        b'{"x": "text", "y": 1}',
        b'{"x": {"a": 1}, "text": "b", "y": 1}',
        b'{"y": 1}',
        b'{"x": {"\xed\xa0\x80": 1}, "y": "a"}',
        b'{"x": {"a": 1}, "y": "\\ud800"}',
        b'{"x": {"a": 1}, "y": "' + b"y" * 5000 + b'"}',
        b'[{"x": {"a": 1}, "y": "good"}, {"x": {"a": 1e999}, "y": "bad"}]',
        b'{"text": "' + b"z" * 10_000_000 + b'"}',
        b'{"id": 3, "y": "a"}',
        b'{"id": "' + b"-" * 1000 + b'", "y": "a"}',
        b'{"event": "1"}',
        b'{"event": 1e99}',
        b'{"x": {' + b", ".join(b'"f%d": 1' % n for n in range(20_000)) + b'}, "y": "a"}',
    ]


def test_bad_bodies_are_refused_in_one_line_and_change_nothing(client):
    before = client.get("/v1/models/m"), client.raw("GET", "/v1/models/m/snapshot")[1]
    for body in bodies():
        for route in ("m", "m/learn", "m/feedback", "m/undo", "fine", "none/learn"):
            status, told, _ = client.raw("POST", f"/v1/models/{route}", body)
            assert 400 <= status < 500, (route, body[:60], status, told)
            assert "\n" not in json.loads(told)["detail"]
        assert client.raw("POST", "/v1/models/m/predict", body)[0] < 500
    draw = random.Random(0)
    good = json.dumps(GOOD[0]).encode()
    for _ in range(either(300, 20_000)):  # good ones with bytes changed
        body = bytearray(good)
        for _ in range(draw.randint(1, 4)):
            body[draw.randrange(len(body))] = draw.randrange(256)
        assert client.raw("POST", "/v1/models/m/predict", bytes(body))[0] < 500
    assert (client.get("/v1/models/m"), client.raw("GET", "/v1/models/m/snapshot")[1]) == before


def test_recipes_that_make_no_sense_are_refused(client):
    for spec in (
        {},
        {"algorithm": 1},
        {"algorithm": "pa9"},
        {"algorithm": "pa1", "C": "x"},
        {"algorithm": "pa1", "C": -1},
        {"algorithm": "pa1", "nothing": 1},
        {"algorithm": "pa1", "task": "queries"},
        {"algorithm": "ranking"},
        {"algorithm": "pa1", "text": 3},
        {"algorithm": "pa1", "text": {"bits": 99}},
        {"algorithm": "pa1", "ask": 1},
        {"algorithm": "pa1", "kernel": "precomputed"},
        {"algorithm": "pa1", "kernel": "os.system"},
        {"algorithm": "rbp", "budget": 1e12},
        {"algorithm": "pa1", "classes": []},
        {"algorithm": "banditron"},
        {"algorithm": "pa1", "ask": {"rule": "never"}},
    ):
        status, told = client.ask("POST", "/v1/models/wrong", spec)
        assert status == 422, (spec, told)
    for name in ("a%20b", "a" * 65, ".a", "%00", "a%0Ab"):
        assert client.ask("POST", f"/v1/models/{name}", {"algorithm": "pa1"})[0] in (404, 422)


def test_schemathesis_finds_no_flaw(server):
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) >= 11
    for operation in operations:

        @settings(
            max_examples=either(8, 300), deadline=None, database=None, derandomize=True,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy())
        def check(case):
            case.call_and_validate(checks=[not_a_server_error])

        check()


def test_a_web_page_of_another_site_is_refused(client):
    body = json.dumps(GOOD[0]).encode()
    assert client.raw("POST", "/v1/models/m/learn", body, Origin="http://evil.example")[0] == 403
    assert client.raw("GET", "/v1/models", Host="evil.example")[0] == 403
    status, _, headers = client.raw("GET", "/v1/models")
    assert status == 200 and "access-control-allow-origin" not in headers


def test_tokens_beyond_loopback_and_a_stop_that_loses_nothing(tmp_path):
    command = [
        sys.executable,
        "-m",
        "onmargin.cli.app",
        "serve",
        "--dir",
        str(tmp_path / "s"),
        "--host",
        "0.0.0.0",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LATE)
    assert done.returncode == 2 and "ONMARGIN_TOKEN" in done.stderr and len(done.stderr.splitlines()) == 1
    tokens = {"ONMARGIN_TOKEN": "all", "ONMARGIN_READ_TOKEN": "read"}
    with Served(tmp_path / "s", "--host", "0.0.0.0", **tokens) as server:
        client = server.client()
        everything, reading = {"Authorization": "Bearer all"}, {"Authorization": "Bearer read"}
        assert client.ask("GET", "/healthz")[0] == 200
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic all"}):
            assert client.ask("GET", "/v1/models", **headers)[0] == 401
            assert client.ask("POST", "/v1/models/m/learn", GOOD, **headers)[0] == 401
        assert client.ask("POST", "/v1/models/m", {"algorithm": "pa1"}, **reading)[0] == 403
        assert client.ask("POST", "/v1/models/m", {"algorithm": "pa1"}, **everything)[0] == 201
        assert client.ask("POST", "/v1/models/m/learn", GOOD, **reading)[0] == 403
        assert client.ask("POST", "/v1/models/m/learn", GOOD, **everything)[0] == 200
        assert client.ask("POST", "/v1/models/m/predict", {"x": {"a": 1}}, **reading)[0] == 200
        status, _, headers = client.raw("GET", "/v1/models?token=all")
        assert status == 200 and "HttpOnly" in headers["set-cookie"]
        assert client.raw("GET", "/v1/models", Cookie="onmargin_token=all")[0] == 200
        assert server.stop() == 0
        assert len(list((tmp_path / "s" / "snapshots" / "m").iterdir())) == 1
    command = command[:-2] + ["--verify"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LATE)
    assert done.returncode == 0 and "m: 2 rounds replayed; 2 comparisons, all bit for bit" in done.stdout
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=LATE)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"model": "m", "rounds": 2, "compared": 2, "wrong": []}
    ]


def test_a_token_is_one_that_headers_and_cookies_can_carry():
    for token in ("a b", "a;b", "pässword", 'a"b', "a\nb"):
        with pytest.raises(BadInput, match="ONMARGIN_READ_TOKEN has other signs"):
            Access.of("0.0.0.0", {"ONMARGIN_TOKEN": "all", "ONMARGIN_READ_TOKEN": token})
    assert Access.of("testserver", {"ONMARGIN_TOKEN": "abc-._~+/="}).guarded


def test_an_address_that_is_taken_is_one_line(server):
    with pytest.raises(BadInput, match=f"127.0.0.1:{server.port}: address already in use; use another"):
        bound_to("127.0.0.1", server.port)
    with bound_to("127.0.0.1", 0) as place:
        assert place.getsockname()[1] > 0
