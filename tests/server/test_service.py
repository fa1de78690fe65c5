"""The service by itself: journal and snapshots, undo and travels, keys, late labels, and what goes wrong."""

from __future__ import annotations

import random
import shutil
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import closing

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadFile, BadInput
from onmargin.protocols.requested.naming import named
from onmargin.server.examples import Labelled
from onmargin.server.exporting import exported
from onmargin.server.journals.past import Past
from onmargin.server.refusals import (
    AlreadyThere,
    CannotRead,
    CannotWrite,
    Compacted,
    NotFound,
    TooBusy,
    TooLarge,
    status_of,
)
from onmargin.server.service import Service
from onmargin.server.settings import DAY, Settings

DRAW = random.Random(3)
EXAMPLES = [
    {"x": {f"f{DRAW.randrange(9)}": round(DRAW.uniform(-1, 1), 3) for _ in range(4)}} for _ in range(60)
]
LABELLED = [one | {"y": "spam" if sum(one["x"].values()) > 0 else "ham"} for one in EXAMPLES]


@pytest.fixture
def service(tmp_path):
    made = Service(tmp_path / "served")
    made.create("m", {"algorithm": "pa1", "C": 0.5})
    yield made
    made.close()


def opened(service, **settings):
    """The same folder, after a stop."""
    service.close()
    return Service(service.folder, Settings(**settings))


def weights(file, tmp_path):
    (tmp_path / "some.onm").write_bytes(file)
    return om.load(tmp_path / "some.onm").coef_


def learned(examples, C=0.5):
    """An independent run."""
    model = om.PassiveAggressiveClassifier(C=C, growing=True)
    for one in examples:
        model.learn_one(one["x"], one["y"])
    return model


def test_what_was_learned_is_there_after_a_stop(service, tmp_path):
    told = service.learn("m", LABELLED).result()
    assert told == {"events": list(range(2, 62)), "rounds": 60, "counted": 60, "refused": {}}
    state, before = service.state("m"), service.snapshot("m")
    again = opened(service)
    assert again.state("m") == state and again.snapshot("m") == before
    assert np.array_equal(weights(before, tmp_path), learned(LABELLED).coef_)
    assert [one.wrong for one in again.verify()] == [[]]
    again.close()


def test_a_key_counts_once_also_after_a_stop_and_within_one_request(service):
    keyed = [one | {"key": f"k{n % 20}"} for n, one in enumerate(LABELLED[:30])]
    told = service.learn("m", keyed).result()
    assert told["counted"] == told["rounds"] == 20 and told["events"][20:] == told["events"][:10]
    again = opened(service)
    repeated = again.learn("m", keyed).result()
    assert repeated == told | {"counted": 0}
    again.close()


def test_a_late_label_is_learned_once_and_outlives_a_stop(service):
    service.learn("m", LABELLED[:10]).result()
    found = service.predict("m", EXAMPLES[10:12])
    assert service.feedback("m", found[0]["id"], "ham").result()["rounds"] == 11
    assert service.feedback("m", found[0]["id"], "ham").result()["counted"] == 0
    again = opened(service)
    assert again.feedback("m", found[1]["id"], "spam").result()["rounds"] == 12
    start, number, place = found[0]["id"].split("-")
    for unknown in (
        "", "a-b-c", "00000000-1-0", found[1]["id"][:-1] + "9", "\x00-" * 9, f"{start}-0{number}-{place}",
        f"{start}-{number}-0{place}",
    ):  # fmt: skip
        with pytest.raises(NotFound, match="not known"):
            again.feedback("m", unknown, "ham")
    again.close()


def test_a_wrong_late_label_that_is_taken_back_can_be_put_right(service):
    service.learn("m", LABELLED[:10]).result()
    (found,) = service.predict("m", EXAMPLES[10:11])
    (wrong,) = service.feedback("m", found["id"], "eggs").result()["events"]
    service.undo("m", wrong).result()
    right = service.feedback("m", found["id"], "ham").result()
    assert right["counted"] == 1 and right["rounds"] == 11
    assert service.feedback("m", found["id"], "ham").result() == right | {"counted": 0}
    again = opened(service)
    assert again.feedback("m", found["id"], "ham").result()["counted"] == 0
    assert again.state("m")["classes"] == learned(LABELLED[:10]).classes_.tolist()
    assert again.verify()[0].wrong == []
    again.close()


def test_ids_given_by_many_threads_are_all_different_and_found(service):
    found = []

    def ask():
        found.extend(service.predict("m", EXAMPLES[:1])[0]["id"] for _ in range(200))

    crowd = [threading.Thread(target=ask) for _ in range(4)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert len(set(found)) == 800
    again = opened(service)
    assert all(again.predictions.find(id) is not None for id in found)
    again.close()


def test_any_round_can_be_travelled_to(service, tmp_path):
    for start in range(0, 60, 7):
        service.learn("m", LABELLED[start : start + 7]).result()
    for rounds in (1, 6, 7, 20, 59, 60):
        file = service.snapshot("m", rounds)
        assert np.array_equal(weights(file, tmp_path), learned(LABELLED[:rounds]).coef_)
    with pytest.raises(NotFound, match="no round 61"):
        service.snapshot("m", 61)


def test_undo_is_as_if_it_had_never_been_and_an_event_itself(service, tmp_path):
    events = service.learn("m", LABELLED).result()["events"]
    service = opened(service, snapshot_every=10)  # a snapshot that has learned it is there
    state = service.undo("m", events[17]).result()
    rest = LABELLED[:17] + LABELLED[18:]
    assert state["rounds"] == 59 and state["event"] == events[-1] + 1
    assert np.array_equal(weights(service.snapshot("m"), tmp_path), learned(rest).coef_)
    assert np.array_equal(weights(service.snapshot("m", 30), tmp_path), learned(rest[:30]).coef_)
    with pytest.raises(NotFound, match="already"):
        service.undo("m", events[17]).result()
    for other in (1, 10_000):
        with pytest.raises(NotFound):
            service.undo("m", other).result()
    more = [one | {"key": "k"} for one in LABELLED[:1]]
    service.learn("m", more).result()
    file = service.snapshot("m")
    service = opened(service)
    assert service.snapshot("m") == file and service.verify()[0].wrong == []
    service.close()


def test_learning_goes_on_while_an_undo_replays(service, tmp_path, monkeypatch):
    """What came meanwhile is in the model, what was taken back is not; and the journal says the same."""
    first = service.learn("m", LABELLED[:20]).result()["events"][4]
    begun, go_on, without = threading.Event(), threading.Event(), Past.without

    def slowly(self, name, undos):
        made = without(self, name, undos)
        begun.set()
        assert go_on.wait(30)
        return made

    monkeypatch.setattr(Past, "without", slowly)
    undone = service.undo("m", first)
    assert begun.wait(30)
    again = service.undo("m", first)  # waits for the other, and comes too late
    assert service.learn("m", LABELLED[20:40]).result()["rounds"] == 40 and not undone.done()
    go_on.set()
    assert undone.result()["rounds"] == 39
    with pytest.raises(NotFound, match="was taken back already"):
        again.result()
    rest = LABELLED[:4] + LABELLED[5:40]
    assert np.array_equal(weights(service.snapshot("m"), tmp_path), learned(rest).coef_)
    assert service.verify()[0].wrong == []
    service.close()
    with pytest.raises(CannotWrite, match="the server is stopping"):
        service.undo("m", first + 1)


def test_only_what_was_learned_can_be_taken_back(service):
    """Not a creation, not an undo, nothing before or after all time."""
    service.learn("m", LABELLED[:3]).result()
    service.undo("m", 3).result()
    state = service.state("m")
    for event in (-1, 0, 1, 5, 6, 2**63 - 1, 2**63, 2**70, -(2**70)):
        with pytest.raises(NotFound, match="learned nothing from an event"):
            service.undo("m", event).result()
    with pytest.raises(NotFound, match="taken back already"):
        service.undo("m", 3).result()
    assert service.state("m") == state
    assert [service.past.at_round("m", rounds).tallies.rounds for rounds in range(3)] == [0, 1, 2]
    with pytest.raises(NotFound, match="no round 3"):
        service.snapshot("m", 3)


def test_a_torn_snapshot_is_left_out(service, tmp_path):
    service.learn("m", LABELLED[:30]).result()
    service = opened(service)
    service.learn("m", LABELLED[30:]).result()
    file = service.snapshot("m")
    service.close()
    newest = sorted((service.folder / "snapshots" / "m").iterdir())[-1]
    newest.write_bytes(newest.read_bytes()[:-100])
    again = Service(service.folder)
    assert len(again.warnings) == 1 and newest.name in again.warnings[0]
    assert again.snapshot("m") == file
    assert "damaged" in again.verify()[0].wrong[0]
    again.close()


def test_a_journal_that_is_cut_off_is_refused_in_one_line(service):
    service.learn("m", LABELLED).result()
    service.close()
    path = service.folder / "journal.sqlite"
    whole = path.read_bytes()
    for damaged in (
        whole[: len(whole) // 2],
        b"not a journal" * 999,
        whole[:100] + bytes(4000) + whole[4100:],
    ):
        path.write_bytes(damaged)
        with pytest.raises(BadFile, match="restore a copy") as told:
            Service(service.folder).close()
        assert "\n" not in str(told.value)
    path.write_bytes(whole)
    with (
        closing(sqlite3.connect(path)) as connection,
        connection,
    ):  # the last rows are gone, and a snapshot has learned them
        connection.execute("DELETE FROM rows WHERE kind = 'learn'")
    with pytest.raises(BadFile, match="was cut off"):
        Service(service.folder)
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as connection, connection:  # a bit flipped within a payload
        connection.execute("UPDATE rows SET payload = zeroblob(length(payload)) WHERE kind = 'learn'")
    shutil.rmtree(service.folder / "snapshots")
    with pytest.raises(BadFile, match="damaged at event 2"):
        Service(service.folder)


def test_a_journal_that_cannot_be_read_is_told_before_a_file_begins(service):
    service.learn("m", LABELLED).result()
    with closing(sqlite3.connect(service.folder / "journal.sqlite")) as connection, connection:
        connection.execute("UPDATE rows SET payload = zeroblob(length(payload)) WHERE kind = 'learn'")
    for ask in (lambda: exported(service.past, "m", "jsonl"), lambda: service.snapshot("m", 5)):
        with pytest.raises(CannotRead, match="damaged at event 2") as told:
            ask()
        assert status_of(told.value) == 503


def test_a_journal_that_is_gone_is_missed(service):
    service.learn("m", LABELLED).result()
    service.close()
    (service.folder / "journal.sqlite").unlink()
    with pytest.raises(BadFile, match="no model 'm', and there are snapshots of it") as told:
        Service(service.folder)
    assert "\n" not in str(told.value)
    shutil.rmtree(service.folder / "snapshots" / "m")
    Service(service.folder).close()


def test_a_row_that_the_index_has_lost_is_missed(service):
    service.create("marked", {"algorithm": "pa1"})
    for one in LABELLED[:3]:
        service.learn("marked", [one]).result()
    service.close()
    path = service.folder / "journal.sqlite"
    pages = bytearray(path.read_bytes())
    (leaf,) = (
        start for start in range(0, len(pages), 4096)
        if pages[start] == 0x0A and b"marked" in pages[start : start + 4096]
    )  # fmt: skip
    found = pages.index(b"marked", leaf)
    pages[found : found + 6] = b"barked"
    path.write_bytes(pages)
    with pytest.raises(BadFile, match=r"is damaged \(row . missing from index by_model\)"):
        Service(service.folder)


def test_a_clock_that_goes_back_changes_no_order(tmp_path):
    moments = iter([DAY * 9, DAY * 9, *(DAY * day for day in (8, 3, 10, 1, 2, 1, 1, 1, 1, 1, 1))])
    service = Service(tmp_path / "served", clock=lambda: next(moments, DAY))
    service.create("m", {"algorithm": "pa1"})
    for one in LABELLED[:6]:
        service.learn("m", [one]).result()
    ats = [row.at for row in service.journal.rows("m")]
    assert ats == sorted(ats)
    file = service.snapshot("m")
    service = opened(service)
    assert service.snapshot("m") == file
    service.close()


def test_what_is_compacted_can_no_longer_be_travelled_to(tmp_path):
    now = [0.0]
    settings = Settings(keep_days=2, snapshot_every=10)
    service = Service(tmp_path / "served", settings, clock=lambda: now[0])
    service.create("m", {"algorithm": "pa1", "C": 0.5})
    for day in range(6):
        now[0] = day * DAY
        service.keeping.rest = 0.0
        service.learn("m", [one | {"key": f"{day}.{n}"} for n, one in enumerate(LABELLED[:10])]).result()
    file = service.snapshot("m")
    service.writer.call(service.keeping.compact).result()
    assert service.journal.floor("m") == 31  # the snapshot of day 2, the newest that is older than two days
    assert service.snapshot("m") == file and len(service.snapshot("m", 31)) > 1000
    with pytest.raises(Compacted, match="round 29 .* is compacted"):
        service.snapshot("m", 29)
    with pytest.raises(Compacted, match="cannot be taken back"):
        service.undo("m", 5).result()
    assert service.undo("m", 40).result()["rounds"] == 59
    file = service.snapshot("m")
    service = opened(service)
    assert service.snapshot("m") == file and service.verify()[0].wrong == []
    service.close()


def test_a_key_is_one_that_every_journal_can_keep(service):
    for key, said in (("", "0 characters"), ("k" * 201, "201 characters"), ("a\0b", "zero character")):
        with pytest.raises(BadInput, match=said):
            service.learn("m", [LABELLED[0] | {"key": key}])
    assert service.state("m")["rounds"] == 0


def test_a_recipe_that_cannot_be_written_down_makes_no_model(service):
    with pytest.raises(BadInput, match="cannot be written down"):
        service.create("n", {"algorithm": "pa1", "random_state": 2**70})
    with pytest.raises(TooLarge, match="no memory for such a model"):
        service.create(
            "n", {"algorithm": "pa1", "text": {"bits": 30}, "classes": [str(k) for k in range(10**6)]}
        )
    assert service.names() == ["m"] and service.health()["ok"]


def test_one_server_for_a_folder(service):
    with pytest.raises(BadFile, match="another server works in"):
        Service(service.folder)


def test_too_much_waits_or_is_too_large_or_is_no_example(tmp_path):
    small = Settings(
        most_waiting=5, most_waiting_bytes=1000, most_examples=8, most_features=6, most_models=1, most_text=20
    )  # fmt: skip
    service = Service(tmp_path / "served", small)
    service.create("m", {"algorithm": "pa1", "text": True})
    with pytest.raises(TooLarge, match="takes no more"):
        service.create("n", {"algorithm": "pa1"})
    with pytest.raises(AlreadyThere):
        service.create("m", {"algorithm": "pa1"})
    gate = threading.Event()
    service.writer.call(gate.wait)
    texts = [{"text": "a short one", "y": "ham"}] * 5
    waiting = service.learn("m", texts)
    with pytest.raises(TooBusy, match="5 examples wait"):
        service.learn("m", texts[:1])
    gate.set()
    assert waiting.result()["rounds"] == 5
    gate.clear()
    service.writer.call(gate.wait)
    heavy = Future()
    service.submit("m", service.events("m", [Labelled(text="long", y="ham")]), heavy, None, 900)
    with pytest.raises(TooBusy, match="900 bytes wait"):
        service.submit("m", service.events("m", [Labelled(text="long", y="ham")]), Future(), None, 200)
    gate.set()
    assert heavy.result()["rounds"] == 6
    for bad, said in (
        ([{"text": "x" * 21, "y": "ham"}], "21 characters"), ([{"x": {"a": 1.0}, "y": "ham"}], "from texts"),
        ([{"text": "a", "y": None}], "wanted one label"), ([{"text": "a", "y": "b", "key": ""}], "key"),
        ([{"y": "ham"}], "either"), ([{"text": "a", "y": ["b"]}], "wanted one label"), ([7], "Expected"),
        ([{"text": "a", "y": "b", "w": -1.0}], "w=-1"), (texts * 2, "at once"),
        ([{"text": "a", "z": 1}], "z"),
    ):  # fmt: skip
        with pytest.raises((BadInput, TooLarge), match=said):
            service.learn("m", bad)
    assert service.state("m")["rounds"] == 6
    service.close()


def test_what_the_learner_refuses_is_told_and_refused_again_by_a_replay(tmp_path):
    service = Service(tmp_path / "served")
    service.create("m", {"algorithm": "pa1", "classes": ["ham", "spam"]})
    told = service.learn("m", [LABELLED[0], LABELLED[1] | {"y": "eggs"}, LABELLED[2]]).result()
    assert told["counted"] == told["rounds"] == 2 and "eggs" in told["refused"]["1"]
    file = service.snapshot("m")
    service = opened(service)
    assert service.snapshot("m") == file and service.verify()[0].wrong == []
    service.close()


def test_what_was_refused_leaves_its_key_free(tmp_path, monkeypatch):
    service = Service(tmp_path / "served")
    service.create("m", {"algorithm": "pa1", "classes": ["ham", "spam"]})
    wrong = [LABELLED[0] | {"y": "eggs", "key": "k"}]
    right = [LABELLED[0] | {"key": "k"}]
    for _ in range(2):
        assert "eggs" in service.learn("m", wrong).result()["refused"]["0"]
    assert service.learn("m", right).result()["counted"] == 1
    assert service.learn("m", right).result()["counted"] == 0
    monkeypatch.setattr(service.writer, "_free", lambda hosted: None)  # killed before that is written
    service.learn("m", [wrong[0] | {"key": "other"}]).result()
    shutil.copytree(service.folder, tmp_path / "copy")
    service.close()
    with closing(Service(tmp_path / "copy")) as copy:
        assert copy.learn("m", [LABELLED[1] | {"key": "other"}]).result()["counted"] == 1
        assert copy.learn("m", right).result()["counted"] == 0
        assert copy.verify()[0].wrong == []


@pytest.mark.parametrize("task, y", [("numbers", 2.5), ("sets", ["a"]), ("points", None)])
def test_numbers_sets_and_points_are_learned_and_replayed(tmp_path, task, y):
    service = Service(tmp_path / "served")
    service.create("m", {"algorithm": "pa1", "task": task})
    dense = [{"x": [n / 9, 1.0]} | ({} if y is None else {"y": y}) for n in range(9)]
    if task == "sets":  # (a set of all labels demands nothing)
        dense += [{"x": [-5.0, 1.0], "y": ["b"]}] * 3
    assert service.learn("m", dense).result()["counted"] == len(dense)
    label = service.predict("m", [{"x": [0.5, 1.0]}])[0]["label"]
    assert label == 1 if task == "points" else label == y if task == "sets" else abs(label - 2.5) < 0.5
    assert service.verify()[0].wrong == []
    service.close()


def test_texts_have_features_of_their_own_and_a_file_that_answers_texts(tmp_path):
    service = Service(tmp_path / "served")
    service.create("m", {"algorithm": "pa1", "text": {"bits": 12}})
    texts = [{"text": t, "y": y} for t, y in (("cheap pills", "spam"), ("lunch at noon", "ham"))] * 5
    for one in texts:
        service.learn("m", [one]).result()
    assert service.predict("m", [{"text": "cheap lunch pills"}])[0]["label"] == "spam"
    assert service.top_features("m", 2)[0]["feature"] in ("cheap", "pills")
    (tmp_path / "m.onm").write_bytes(service.snapshot("m"))
    assert om.load(tmp_path / "m.onm").predict(["pills", "noon"]).tolist() == ["spam", "ham"]
    assert service.verify()[0].wrong == []
    service.close()


def test_readers_see_only_models_that_existed(service):
    """Two features, pulled in opposite ways by each round: half an update would show a score of no round."""
    probe, steps = {"x": {"a": 1.0, "b": 10.0}}, 400
    draw = random.Random(0)
    rounds = [
        {"x": {"a": draw.uniform(-1, 1), "b": draw.uniform(-1, 1)}, "y": draw.choice(["ham", "spam"])}
        for _ in range(steps)
    ]
    model, possible = named("pa1", "classes", {"C": 0.5}).model, set()
    for one in rounds:
        model.learn_one(one["x"], one["y"])
        scores = model.decide_one(probe["x"])[1]
        possible.add(scores.get("spam"))
    seen: set[float | None] = {None}
    over = threading.Event()

    def look():
        while not over.is_set():
            scores = service.predict("m", [probe, probe])
            assert scores[0]["scores"] == scores[1]["scores"]
            seen.add(scores[0]["scores"].get("spam"))

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    for start in range(0, steps, 20):
        service.learn("m", rounds[start : start + 20]).result()
    over.set()
    for reader in readers:
        reader.join()
    assert seen <= possible | {None} and len(seen) > 2


def test_texts_weighed_by_those_met_before_are_counted_one_by_one_and_seen_so(tmp_path):
    """Requests are grouped by chance: what a text weighs must not depend on it, nor on who asks meanwhile."""
    draw, words = random.Random(1), ["cheap", "pills", "lunch", "noon", "win", "now"]
    texts = [
        {"text": " ".join(draw.choices(words, k=3)), "y": draw.choice(["ham", "spam"])} for _ in range(200)
    ]
    probe = [{"text": "cheap lunch now"}]
    service = Service(tmp_path / "served")
    recipe = {"algorithm": "pa1", "text": {"bits": 10, "idf": True}, "random_state": 1}
    for name in ("single", "grouped"):
        service.create(name, recipe)
    possible = set()
    for one in texts:
        service.learn("single", [one]).result()
        possible.add(service.predict("single", probe)[0]["scores"].get("spam"))
    seen: set[float | None] = set()
    over = threading.Event()

    def look():
        while not over.is_set():
            seen.add(service.predict("grouped", probe)[0]["scores"].get("spam"))

    reader = threading.Thread(target=look)
    reader.start()
    for start in range(0, len(texts), 50):
        service.learn("grouped", texts[start : start + 50]).result()
    over.set()
    reader.join()
    assert seen <= possible | {None}
    assert service.predict("grouped", probe)[0]["scores"] == service.predict("single", probe)[0]["scores"]
    assert [one.wrong for one in service.verify()] == [[], []]
    service.close()


def test_nothing_is_learned_after_the_end(service):
    service.close()
    with pytest.raises(CannotWrite, match="stopping"):
        service.learn("m", LABELLED[:1])
