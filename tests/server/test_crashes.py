"""Killed at random moments under load: no acknowledged label lost, none twice, the model as it would be."""

from __future__ import annotations

import json
import random
import threading
import time
from contextlib import closing

import numpy as np

import onmargin as om

from ..soaking import either, soaked
from .processes import Client, Forked

KILLS, CLIENTS = either(10, 200), 3


def example(draw: random.Random) -> dict[str, object]:
    x = {f"f{draw.randrange(12)}": round(draw.uniform(-1, 1), 3) for _ in range(4)}
    return {"x": x, "y": "spam" if sum(x.values()) + draw.gauss(0, 0.3) > 0 else "ham"}


class Person(threading.Thread):
    """Sends labels with keys, singly and in lists, and again until they are acknowledged."""

    def __init__(self, number: int) -> None:
        super().__init__(daemon=True)
        self.number, self.draw = number, random.Random(number)
        self.acknowledged: dict[str, int] = {}
        self.port, self.over, self.sent, self.wrong = 0, False, 0, ""
        self.waiting: list[dict[str, object]] = []
        self.undoing, self.undone = 0, set[int]()

    def run(self) -> None:
        while not self.over:
            try:
                client = Client(self.port)
                with closing(client.connection):
                    while not self.over:
                        self.send(client)
            except OSError:
                time.sleep(0.02)
            except Exception as error:
                if "RemoteDisconnected" not in repr(error) and "IncompleteRead" not in repr(error):
                    self.wrong = repr(error)
                    return

    def undo(self, client: Client) -> None:
        """What was acknowledged last was wrong; asked for until it is answered."""
        status, told = client.ask("POST", "/v1/models/m/undo", {"event": self.undoing})
        assert status == 200 or status == 404 and "taken back already" in told["detail"], told
        self.undone.add(self.undoing)
        self.undoing = 0

    def send(self, client: Client) -> None:
        if self.undoing:
            self.undo(client)
        if not self.waiting:
            for _ in range(self.draw.choice((1, 1, 7))):
                self.sent += 1
                self.waiting.append(example(self.draw) | {"key": f"{self.number}.{self.sent}"})
        body = self.waiting[0] if len(self.waiting) == 1 else self.waiting
        status, told = client.ask("POST", "/v1/models/m/learn", body)
        if status == 429:
            return
        assert status == 200, told
        for one, event in zip(self.waiting, told["events"], strict=True):
            self.acknowledged[str(one["key"])] = event
        self.waiting = []
        if self.number == 0 and self.draw.random() < 0.05:
            self.undoing = told["events"][-1]


@soaked
def test_kill_9_loses_nothing_and_counts_nothing_twice(tmp_path):
    draw = random.Random(7)
    with Forked(tmp_path / "served", "--snapshot-every", "300") as server:
        server.client().post("m", {"algorithm": "pa1", "C": 0.5})
        people = [Person(number) for number in range(CLIENTS)]
        for person in people:
            person.port = server.port
            person.start()
        for _ in range(KILLS):
            time.sleep(draw.uniform(0.05, 0.5))
            server.kill()
            server.start()
            for person in people:
                person.port = server.port
        time.sleep(0.2)
        for person in people:
            person.over = True
        for person in people:
            person.join()
            assert not person.wrong
        client = server.client()
        state = client.get("/v1/models/m")
        lines = [json.loads(line) for line in client.raw("GET", "/v1/models/m/journal")[1].splitlines()]
        file = client.raw("GET", "/v1/models/m/snapshot")[1]
        assert server.stop() == 0
    acknowledged = {key: event for person in people for key, event in person.acknowledged.items()}
    events = {line["key"]: line["event"] for line in lines}
    assert len(acknowledged) > 20 * KILLS
    undone = {line["event"] for line in lines if line["undone"]}
    assert people[0].undone <= undone <= people[0].undone | {people[0].undoing}
    assert len(events) == len(lines) == state["rounds"] + len(undone)  # none twice
    assert acknowledged.items() <= events.items()  # none lost, each the event it was told to be
    model = om.PassiveAggressiveClassifier(C=0.5, growing=True)
    mistakes = 0
    for line in lines:  # an uninterrupted run over the same labels, without those that were taken back
        if line["undone"]:
            continue
        mistakes += model.predict_one(line["x"]) != line["y"]
        model.learn_one(line["x"], line["y"])
    (tmp_path / "m.onm").write_bytes(file)
    found = om.load(tmp_path / "m.onm")
    assert mistakes == state["mistakes"] and found.t_ == model.t_
    assert found.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert np.array_equal(found.coef_, model.coef_) and np.array_equal(found.intercept_, model.intercept_)
