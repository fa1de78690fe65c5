"""The past of models: the present from a snapshot and the rest of the journal, any round, any undo."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from ...errors import BadFile
from ..hosted import Event, Hosted
from ..refusals import Compacted, NotFound
from ..settings import Settings
from ..specs import Spec
from .journal import Journal, Row, Undo
from .snapshots import Snapshots, is_true

CHUNK = 4096  # events that are applied at once
decode = msgspec.msgpack.Decoder(list[Event]).decode
decode_spec = msgspec.msgpack.Decoder(Spec).decode


class Verdict(NamedTuple):
    """What a replay of a model came to."""

    model: str
    rounds: int
    compared: int
    wrong: list[str]


@contextmanager
def uncollected() -> Iterator[None]:
    """Millions of events and no garbage among them: nobody need look for it."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class Past:
    """Reads the journal and the snapshots; changes neither."""

    def __init__(self, journal: Journal, folder: Path, settings: Settings) -> None:
        self.journal, self.folder, self.settings = journal, folder, settings

    def snapshots(self, name: str) -> Snapshots:
        """Those of a model."""
        return Snapshots(self.folder / "snapshots" / name)

    def check(self, names: Collection[str]) -> None:
        """A model with snapshots is one that the journal has made, or the journal is not whole."""
        for folder in sorted((self.folder / "snapshots").glob("*")):
            if folder.name not in names and self.snapshots(folder.name).listed():
                raise BadFile(
                    f"the journal has no model {folder.name!r}, and there are snapshots of it: "
                    "the journal was removed or cut off; restore it, "
                    f"or remove snapshots/{folder.name} to go on"
                )

    def fresh(self, name: str) -> Hosted:
        """As it was made."""
        for row in self.journal.creations():
            if row.model == name:
                return Hosted(name, decode_spec(row.payload), self.settings.recent)
        raise NotFound(f"there is no model {name!r}")

    def present(self, name: str) -> tuple[Hosted, list[str]]:
        """The newest good snapshot and the rest of the journal; and what is wrong with other snapshots."""
        undos, floor = self.journal.undos(name), self.journal.floor(name)
        hosted, bad = self.snapshots(name).newest(undos, floor=floor)
        if hosted is None:
            if floor:
                raise BadFile(
                    f"model {name!r} has no whole snapshot, and its first {floor} events are compacted"
                )
            hosted = self.fresh(name)
        if hosted.event > self.journal.last():
            raise BadFile(
                f"the journal ends at event {self.journal.last()}, and a snapshot of {name!r} has event "
                f"{hosted.event}: the journal was cut off; restore it, or remove snapshots/{name} to go on"
            )
        self.replay(hosted, undos)
        return hosted, bad

    def before(self, name: str, event: int) -> Hosted:
        """As it was when that event came."""
        undos, floor = self.journal.undos(name), self.journal.floor(name)
        hosted, _ = self.snapshots(name).newest(undos, until=event - 1, floor=floor)
        if hosted is None:
            if floor:
                raise BadFile(
                    f"model {name!r} has no whole snapshot, and its first {floor} events are compacted"
                )
            hosted = self.fresh(name)
        with uncollected():
            self._replay_to(hosted, undos, event - 1)
        return hosted

    def at_round(self, name: str, rounds: int) -> Hosted:
        """As of a round of the history as it now stands."""
        undos, floor = self.journal.undos(name), self.journal.floor(name)
        hosted, _ = self.snapshots(name).newest(undos, rounds=rounds, floor=floor)
        if hosted is None:
            if floor:
                raise Compacted(f"round {rounds} of {name!r} is compacted: nobody can travel there any more")
            hosted = self.fresh(name)
        self.replay(hosted, undos, rounds)
        if hosted.tallies.rounds < rounds:
            raise NotFound(f"model {name!r} has {hosted.tallies.rounds} rounds; there is no round {rounds}")
        return hosted

    def without(self, name: str, undos: list[Undo]) -> Hosted:
        """What has been learned up to now, if these were taken back; `replay` adds what comes meanwhile."""
        first, floor = min(undo.target for undo in undos), self.journal.floor(name)
        hosted, _ = self.snapshots(name).newest(undos, floor=floor)
        if hosted is None:
            if floor:
                raise Compacted(f"event {first} of {name!r} is compacted: it cannot be taken back any more")
            hosted = self.fresh(name)
        with uncollected():
            self._learn(hosted, {undo.target for undo in undos}, None)
        return hosted

    def row_of(self, name: str, event: int) -> Row:
        """The row that has an event of a model."""
        if not 0 < event < 2**63:
            raise NotFound(f"model {name!r} has learned nothing from an event {str(event)[:40]}")
        if event <= self.journal.floor(name):
            raise Compacted(f"event {event} of {name!r} is compacted: it cannot be taken back any more")
        found = next(self.journal.rows(name, event - 1), None)
        if found is None or not found.first <= event <= found.last:
            raise NotFound(f"model {name!r} has learned nothing from an event {event}")
        return found

    def replay(self, hosted: Hosted, undos: list[Undo], rounds: int | None = None) -> None:
        """Learn what came after, without what was taken back, up to a round."""
        undone = {undo.target for undo in undos}
        with uncollected():
            self._learn(hosted, undone, rounds)
        if rounds is None:
            hosted.event = max([hosted.event, *(undo.event for undo in undos)])

    def _learn(self, hosted: Hosted, undone: set[int], rounds: int | None) -> None:
        for numbers, events, ats in self._chunks(hosted, undone):
            done = 0
            while done < len(events):
                left = len(events) - done
                if rounds is not None:
                    left = min(left, rounds - hosted.tallies.rounds)
                    if left <= 0:
                        return
                refused = hosted.apply(events[done : done + left], ats[done : done + left])
                for place in refused:
                    key = events[done + place].key
                    if key is not None:
                        hosted.turned_away.append((key, numbers[done + place]))
                done += left
                hosted.event = numbers[done - 1]

    def _chunks(
        self, hosted: Hosted, undone: set[int]
    ) -> Iterator[tuple[list[int], list[Event], list[float]]]:
        """Events one after the other, many at a time; texts, which are learned as they came, row by row."""
        numbers: list[int] = []
        events: list[Event] = []
        ats: list[float] = []
        most = CHUNK if hosted.features is None else 1
        for row in self.journal.rows(hosted.name, hosted.event):
            some = decode(row.payload)
            places = range(row.first, row.last + 1)
            if row.first <= hosted.event and not events or undone and not undone.isdisjoint(places):
                kept = [
                    k for k, number in enumerate(places) if number > hosted.event and number not in undone
                ]
                numbers += [places[k] for k in kept]
                events += [some[k] for k in kept]
                ats += [row.at] * len(kept)
            else:
                numbers += places
                events += some
                ats += [row.at] * len(some)
            if len(events) >= most:
                yield numbers, events, ats
                numbers, events, ats = [], [], []
        if events:
            yield numbers, events, ats

    def verdict(self, name: str) -> Verdict:
        """Replay all there is; compare bit for bit with the snapshots, and with what a start would give."""
        undos, floor = self.journal.undos(name), self.journal.floor(name)
        listed = [one for one in self.snapshots(name).listed() if is_true(one.event, undos)]
        wrong: list[str] = []
        hosted = self.fresh(name) if not floor else self.snapshots(name).newest(undos, until=floor)[0]
        if hosted is None:
            return Verdict(name, 0, 0, [f"no whole snapshot at event {floor}, before which all is compacted"])
        compared = 0
        for one in listed:
            if one.event < hosted.event:
                continue
            try:
                kept = Hosted.from_file(one.path)
            except BadFile as error:
                wrong.append(str(error))
                continue
            self._replay_to(hosted, undos, one.event)
            compared += 1
            if kept.as_bytes() != hosted.as_bytes():
                wrong.append(f"{one.path.name} is not what the journal says")
        self.replay(hosted, undos)
        present = self.present(name)[0]
        if present.as_bytes() != hosted.as_bytes():
            wrong.append("a start from the newest snapshot is not what the journal says")
        return Verdict(name, hosted.tallies.rounds, compared + 1, wrong)

    def _replay_to(self, hosted: Hosted, undos: list[Undo], event: int) -> None:
        undone = {undo.target for undo in undos}
        for numbers, events, ats in self._chunks(hosted, undone):
            some = [k for k, number in enumerate(numbers) if number <= event]
            if some:
                hosted.apply([events[k] for k in some], [ats[k] for k in some])
                hosted.event = numbers[some[-1]]
            if len(some) < len(numbers):
                break
        hosted.event = event
