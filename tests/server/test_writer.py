"""The thread that writes: what is durable is applied and told truly, whatever fails on the way."""

from __future__ import annotations

import errno
import threading
import time

import pytest

from onmargin.errors import BadInput
from onmargin.server.hosted import Hosted
from onmargin.server.journals.past import Past
from onmargin.server.refusals import CannotWrite, NotApplied
from onmargin.server.service import Service
from onmargin.server.settings import Settings

from .test_service import LABELLED, learned, weights


@pytest.fixture
def service(tmp_path):
    made = Service(tmp_path / "served")
    made.create("m", {"algorithm": "pa1", "C": 0.5})
    made.create("other", {"algorithm": "pa1", "C": 0.5})
    yield made
    made.close()


def held(service, do):
    """Whatever `do` submits meets in one group."""
    go = threading.Event()
    waiting = service.writer.call(lambda: go.wait(10))
    futures = do()
    go.set()
    assert waiting.result()
    return futures


def failing(monkeypatch, owner, name, error, places):
    """Of the calls of a method those at `places` raise."""
    whole, calls = getattr(owner, name), iter(range(10**6))

    def planted(self, *arguments, **named):
        if next(calls) in places:
            raise error
        return whole(self, *arguments, **named)

    monkeypatch.setattr(owner, name, planted)


def until(true):
    for _ in range(400):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it never was")


@pytest.mark.parametrize("error", [MemoryError("no room"), RuntimeError("a flaw"), OSError("no cache")])
def test_a_failure_between_durable_and_applied_is_made_good(service, tmp_path, monkeypatch, error):
    service.learn("m", LABELLED[:20]).result()
    failing(monkeypatch, Hosted, "apply", error, {0})
    one, other = held(
        service, lambda: (service.learn("m", LABELLED[20:40]), service.learn("other", LABELLED[:5]))
    )
    assert one.result() == {"events": list(range(23, 43)), "rounds": 40, "counted": 20, "refused": {}}
    assert other.result()["rounds"] == 5
    assert (weights(service.snapshot("m"), tmp_path) == learned(LABELLED[:40]).coef_).all()
    assert service.health()["ok"] and [found.wrong for found in service.verify()] == [[], []]


def test_a_learner_without_memory_refuses_no_example(service, tmp_path, monkeypatch):
    """It would take it in at the next start: both must say the same."""
    learner = service.hosted("m").learner
    service.learn("m", LABELLED[:10]).result()
    failing(monkeypatch, type(learner), "learn_one", MemoryError("no room"), {7})
    assert service.learn("m", LABELLED[10:30]).result()["refused"] == {}
    monkeypatch.undo()
    assert (weights(service.snapshot("m"), tmp_path) == learned(LABELLED[:30]).coef_).all()
    assert service.verify()[0].wrong == []


def test_what_there_is_never_memory_for_is_refused_by_every_replay(service, monkeypatch):
    learner, whole = type(service.hosted("m").learner), type(service.hosted("m").learner).learn_one

    def small(self, x, y, w=1.0):
        if "huge" in x:
            raise MemoryError("no room")
        return whole(self, x, y, w)

    monkeypatch.setattr(learner, "learn_one", small)
    examples = [*LABELLED[:5], {"x": {"huge": 1.0}, "y": "ham"}, *LABELLED[5:9]]
    told = service.learn("m", examples).result()
    assert told["refused"] == {"5": "no room"} and told["rounds"] == 9 and service.health()["ok"]
    assert service.verify()[0].wrong == []


def test_what_cannot_be_applied_is_said_to_be_durable_and_applied_later(service, tmp_path, monkeypatch):
    service.learn("m", LABELLED[:20]).result()
    failing(monkeypatch, Hosted, "apply", MemoryError("no room"), {0, 1, 2})
    broken = service.learn("m", [one | {"key": str(k)} for k, one in enumerate(LABELLED[20:30])])
    with pytest.raises(NotApplied, match=r"durable, not applied yet \(MemoryError: no room\)"):
        broken.result()
    assert not service.health()["ok"] and "not learned what is durable" in service.health()["trouble"]
    with pytest.raises(CannotWrite, match="nothing was learned"):
        service.learn("m", LABELLED[30:31])
    with pytest.raises(CannotWrite, match="not learned what is durable"):
        service.snapshot("m")
    assert service.learn("other", LABELLED[:3]).result()["counted"] == 3
    until(lambda: service.health()["ok"])
    again = service.learn("m", [one | {"key": str(k)} for k, one in enumerate(LABELLED[20:30])]).result()
    assert again["counted"] == 0 and again["rounds"] == 30
    assert (weights(service.snapshot("m"), tmp_path) == learned(LABELLED[:30]).coef_).all()


def test_a_model_that_is_behind_at_the_end_leaves_no_untrue_snapshot(service, tmp_path, monkeypatch):
    service.learn("m", LABELLED[:20]).result()
    failing(monkeypatch, Hosted, "apply", MemoryError("no room"), range(10**6))
    with pytest.raises(NotApplied):
        service.learn("m", LABELLED[20:30]).result()
    service.close()
    monkeypatch.undo()
    again = Service(service.folder)
    assert again.state("m")["rounds"] == 30 and again.verify()[0].wrong == []
    assert (weights(again.snapshot("m"), tmp_path) == learned(LABELLED[:30]).coef_).all()
    again.close()


@pytest.mark.parametrize("written", [False, True])
def test_an_append_that_fails_is_told_by_what_the_journal_has(service, monkeypatch, written):
    """A connection may break after all was written, and before that was said."""
    whole = service.journal.append

    def lost(rows, keys, freed=()):
        if written:
            whole(rows, keys, freed)
        raise OSError(errno.EIO, "the connection is gone")

    monkeypatch.setattr(service.journal, "append", lost)
    done = service.learn("m", LABELLED[:10])
    if written:
        assert done.result()["rounds"] == 10
    else:
        with pytest.raises(CannotWrite, match="the connection is gone; nothing was learned"):
            done.result()
    monkeypatch.undo()
    assert service.learn("m", LABELLED[10:20]).result()["rounds"] == 10 + 10 * written
    assert service.verify()[0].wrong == []


def test_where_nobody_knows_it_says_so_and_finds_out(service, monkeypatch):
    whole = service.journal.append

    def lost(rows, keys, freed=()):
        whole(rows, keys, freed)
        raise OSError(errno.EIO, "the connection is gone")

    def unknown():
        raise OSError(errno.EIO, "nobody answers")

    monkeypatch.setattr(service.journal, "append", lost)
    monkeypatch.setattr(service.journal, "settled", unknown)
    keyed = [one | {"key": str(k)} for k, one in enumerate(LABELLED[:10])]
    with pytest.raises(CannotWrite, match="may have been written; send it again with its key"):
        service.learn("m", keyed).result()
    monkeypatch.undo()
    until(lambda: service.health()["ok"])
    assert service.learn("m", keyed).result() == {
        "events": list(range(3, 13)), "rounds": 10, "counted": 0, "refused": {}
    }  # fmt: skip
    assert service.verify()[0].wrong == []


@pytest.mark.parametrize("which", ["journal.sqlite", "journal.sqlite-wal"])
def test_a_journal_that_is_removed_acknowledges_nothing_more(service, which):
    service.learn("m", LABELLED[:10]).result()
    (service.folder / which).rename(service.folder / "elsewhere")
    with pytest.raises(CannotWrite, match=f"{which} was removed or replaced under the server"):
        service.learn("m", LABELLED[10:20]).result()
    assert not service.health()["ok"]
    assert service.predict("m", [{"x": {"f1": 1.0}}])[0]["label"] in ("ham", "spam")


def test_housekeeping_that_fails_and_people_who_leave_do_not_stop_it(service, monkeypatch):
    failing(monkeypatch, Past, "snapshots", RuntimeError("a flaw"), range(10**6))
    monkeypatch.setattr(service.keeping, "look", lambda: 1 / 0)
    left = held(service, lambda: [service.learn("m", LABELLED[:5]), service.writer.call(lambda: 1)])
    gone = held(service, lambda: [done for done in (service.learn("m", LABELLED[5:9]),) if done.cancel()])
    call = held(service, lambda: [done for done in (service.writer.call(lambda: 1 / 0),) if done.cancel()])
    assert left[0].result()["rounds"] == 5 and len(gone) == len(call) == 1
    assert service.learn("m", LABELLED[9:12]).result()["rounds"] == 12


def test_a_text_that_features_refuse_is_refused_alone(tmp_path, monkeypatch):
    service = Service(tmp_path / "texts", Settings(snapshot_every=2))
    service.create("t", {"algorithm": "pa1", "text": True})
    whole = Hosted._taken

    def picky(self, events):
        if any("poison" in event.row for event in events):
            raise BadInput("no poison")
        return whole(self, events)

    monkeypatch.setattr(Hosted, "_taken", picky)
    texts = [("cheap pills", "spam"), ("poison", "spam"), ("see you at noon", "ham")]
    done = service.learn("t", [{"text": text, "y": y} for text, y in texts]).result()
    assert done["refused"] == {"1": "no poison"} and done["rounds"] == 2
    assert service.verify()[0].wrong == []
    service.close()
