"""A real Label Studio, in its own virtual environment, uses a learner of ours; in `make soak` only."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from ..soaking import SOAKING
from .browsing import Server, messages

pytestmark = [pytest.mark.soak, pytest.mark.skipif(not SOAKING, reason="takes minutes: `make soak` has it")]
VERSION = "label-studio==1.23.2"
TOKEN = "0123456789abcdef0123456789abcdef01234567"
CONFIG = """<View><Text name="message" value="$body"/><Choices name="kind" toName="message">
<Choice value="ham"/><Choice value="spam"/></Choices></View>"""
OPTIONS = {
    "SENTRY_DSN": "", "FRONTEND_SENTRY_DSN": "", "COLLECT_ANALYTICS": "false", "collect_analytics": "false",
    "LATEST_VERSION_CHECK": "false", "DJANGO_DB": "sqlite", "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
    "SSRF_PROTECTION_ENABLED": "false", "ML_BLOCK_LOCAL_IP": "false", "LOG_LEVEL": "WARNING",
    # (a backend that does not say within a second that it is well is asked for nothing, and nobody is told)
    "ML_CONNECTION_TIMEOUT": "60", "ML_TIMEOUT_HEALTH": "60", "ML_TIMEOUT_SETUP": "60",
}  # fmt: skip
STARTS = 240.0  # seconds


def installed() -> Path:
    """Where it lies: made once, below out/."""
    home = Path(__file__).parents[2] / "out" / "label-studio"
    program = home / "bin" / "label-studio"
    if not program.exists():
        uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
        if uv is None:
            pytest.skip("needs uv to install Label Studio")
        subprocess.run([uv, "venv", "-q", "--clear", str(home)], check=True)
        made = subprocess.run(
            [uv, "pip", "install", "-q", "--python", str(home / "bin" / "python"), VERSION],
            capture_output=True, text=True,
        )  # fmt: skip
        if made.returncode:
            pytest.skip(f"Label Studio cannot be installed: {made.stderr[-300:]}")
    return program


class Studio:
    """Label Studio at work, and its API."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address, self.log = f"http://127.0.0.1:{port}", folder / "log"
        environment = {**os.environ, **OPTIONS, "LABEL_STUDIO_BASE_DATA_DIR": str(folder / "data")}
        command = [
            str(installed()), "start", "--no-browser", "--port", str(port), "--internal-host", "127.0.0.1",
            "--username", "a@example.org", "--password", "long enough 1", "--user-token", TOKEN,
        ]  # fmt: skip
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
        until = time.monotonic() + STARTS
        while True:
            try:
                self.call("GET", "/api/projects/")
                return
            except (urllib.error.URLError, ConnectionError):
                if self.process.poll() is not None or time.monotonic() > until:
                    self.process.kill()
                    pytest.skip(f"Label Studio does not start here: {self.log.read_text()[-300:]}")
                time.sleep(1)

    def call(self, method: str, path: str, body: object = None) -> object:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def test_label_studio_gets_predictions_and_its_annotations_are_learned(tmp_path):
    truths = messages(60)
    (tmp_path / "few.txt").write_text("ok\n")
    (tmp_path / "studio").mkdir()
    server = Server(tmp_path / "few.txt", tmp_path / "state", "--algorithm", "pa1")
    studio = Studio(tmp_path / "studio")
    try:
        project = studio.call("POST", "/api/projects/", {"title": "sms", "label_config": CONFIG})["id"]
        tasks = [{"data": {"body": text}} for text in truths]
        studio.call("POST", f"/api/projects/{project}/import", tasks)
        backend = {"url": f"{server.address}/label-studio/few", "project": project, "title": "onmargin"}
        studio.call("POST", "/api/ml/", backend)
        listed = studio.call("GET", f"/api/tasks/?project={project}&page_size=100&fields=all")["tasks"]
        assert len(listed) == len(truths)
        made = []
        for task in listed[:20]:  # people annotate there, and the model here learns of it
            truth = truths[" ".join(task["data"]["body"].split())]
            value = {
                "from_name": "kind",
                "to_name": "message",
                "type": "choices",
                "value": {"choices": [truth]},
            }
            made.append(studio.call("POST", f"/api/tasks/{task['id']}/annotations/", {"result": [value]}))
        wait_for(server, 20)
        other = {"from_name": "kind", "to_name": "message", "type": "choices", "value": {"choices": ["spam"]}}
        studio.call("PATCH", f"/api/annotations/{made[0]['id']}/", {"result": [other]})
        studio.call("DELETE", f"/api/annotations/{made[1]['id']}/")
        wait_for(server, 19)
        labels = [line["label"] for line in exported(server)]
        assert len(labels) == 19 and labels[0] == "spam"
        ids = [task["id"] for task in listed[30:40]]
        action = {"selectedItems": {"all": False, "included": ids}, "project": project}
        done = studio.call("POST", f"/api/dm/actions?id=retrieve_tasks_predictions&project={project}", action)
        for number in ids:
            predictions = studio.call("GET", f"/api/tasks/{number}/")["predictions"]
            assert "few@19" in [one["model_version"] for one in predictions], (done, predictions)
            prediction = next(one for one in predictions if one["model_version"] == "few@19")
            assert prediction["result"][0]["value"]["choices"][0] in ("ham", "spam")
            assert prediction["model_version"] == "few@19" and 0.5 <= prediction["score"] <= 1.0
    finally:
        studio.stop()
        server.stop()


def exported(server: Server) -> list[dict[str, object]]:
    with urllib.request.urlopen(f"{server.address}/v1/models/few/items") as answer:
        return [json.loads(line) for line in answer.read().decode().splitlines()]


def wait_for(server: Server, count: int) -> None:
    until = time.monotonic() + 60
    while len(exported(server)) != count:
        assert time.monotonic() < until, exported(server)
        time.sleep(0.2)
