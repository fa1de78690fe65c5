"""Snapshots of models: one file each, named by event and moment; written whole, found by age, thinned."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...errors import OnmarginError
from ..hosted import Hosted
from ..settings import DAY
from .journal import Undo


class Snapshot(NamedTuple):
    """The model after `event`, saved at a moment."""

    event: int
    at: float
    path: Path


class Snapshots:
    """Of one model, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def listed(self) -> list[Snapshot]:
        """The oldest first."""
        found = []
        for path in self.folder.glob("*.onm"):
            event, _, at = path.stem.partition("-")
            if event.isdigit() and at.isdigit():
                found.append(Snapshot(int(event), int(at) / 1e3, path))
        return sorted(found)

    def write(self, hosted: Hosted, at: float) -> Snapshot:
        """Whole and flushed before it has its name."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{hosted.event:020d}-{int(at * 1e3):015d}.onm"
        hosted.save(path)
        return Snapshot(hosted.event, at, path)

    def newest(
        self, undos: Sequence[Undo], *, until: int | None = None, rounds: int | None = None, floor: int = 0
    ) -> tuple[Hosted | None, list[str]]:
        """The newest good one that is true; and what is wrong with those that are not whole.

        until : of events up to this one. rounds : of at most so many rounds.
        """
        bad: list[str] = []
        for snapshot in reversed(self.listed()):
            if until is not None and snapshot.event > until or snapshot.event < floor:
                continue
            if not is_true(snapshot.event, undos):
                continue
            try:
                hosted = Hosted.from_file(snapshot.path)
            except (OnmarginError, OSError) as error:
                bad.append(str(error))
                continue
            if hosted.event == snapshot.event and (rounds is None or hosted.tallies.rounds <= rounds):
                return hosted, bad
        return None, bad

    def thin(self, kept: int, floor: int, undos: Sequence[Undo]) -> None:
        """Keep the newest few, one of every day, and the one at the floor of the journal."""
        days: set[int] = set()
        true = [one for one in reversed(self.listed()) if is_true(one.event, undos) and one.event >= floor]
        for place, one in enumerate(true):
            day = int(one.at // DAY)
            if place >= kept and day in days and one.event != floor:
                one.path.unlink(missing_ok=True)
            days.add(day)
        for one in self.listed():
            if one.event < floor or not is_true(one.event, undos):
                one.path.unlink(missing_ok=True)

    def clear(self) -> None:
        """All of them."""
        shutil.rmtree(self.folder, ignore_errors=True)


def is_true(event: int, undos: Sequence[Undo]) -> bool:
    """Has a snapshot after this event not learned what was taken back later?"""
    return not any(undo.target <= event < undo.event for undo in undos)
