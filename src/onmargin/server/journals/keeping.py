"""When snapshots are made, and what of the journal is kept: the writer's housekeeping."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from ...errors import OnmarginError
from ..hosted import Hosted
from ..settings import DAY, MEGABYTE, Settings
from .past import Past

log = logging.getLogger("onmargin.server")
SHARE = 200  # a snapshot that took a second is followed by so many without one
EVERY = 600.0  # seconds between two looks at what is too old


class Keeping:
    """Called in the writer's thread."""

    def __init__(self, past: Past, settings: Settings, moment: Callable[[], float]) -> None:
        self.past, self.settings, self.moment = past, settings, moment
        self.since: dict[str, int] = {}  # examples learned since the last snapshot
        self.rest = 0.0  # no snapshot before this moment
        self.looked = -EVERY
        self.trouble: str | None = None
        self.saved = 0
        self.models: dict[str, Hosted] = {}

    def learned(self, hosted: Hosted, count: int) -> None:
        """So many more."""
        since = self.since[hosted.name] = self.since.get(hosted.name, 0) + count
        self.models[hosted.name] = hosted
        if since >= self.settings.snapshot_every and time.monotonic() >= self.rest:
            self.save(hosted)

    def taken_back(self, hosted: Hosted) -> None:
        """Snapshots that have learned what was taken back are untrue now."""
        self.since[hosted.name] = self.since.get(hosted.name, 0) + 1
        self.models[hosted.name] = hosted
        try:
            self._thin(hosted.name)
        except Exception as error:  # they are left out at a start all the same
            log.warning("untrue snapshots of %s are still there: %s", hosted.name, error)

    def save(self, hosted: Hosted) -> None:
        """A snapshot now; the journal has everything, so that one that fails is only told."""
        began = time.monotonic()
        try:
            self.past.snapshots(hosted.name).write(hosted, self.moment())
            self.since[hosted.name], self.trouble = 0, None
            self.saved += 1
            self._thin(hosted.name)
        except Exception as error:  # labels are durable and applied: they are acknowledged all the same
            self.trouble = f"{type(error).__name__}: {' '.join(str(error).split())}"
            log.warning("a snapshot of %s was not made: %s", hosted.name, self.trouble)
        self.rest = time.monotonic() + SHARE * (time.monotonic() - began)

    def save_all(self, models: Mapping[str, Hosted]) -> None:
        """Those that have learned since."""
        for name, hosted in models.items():
            if self.since.get(name):
                self.save(hosted)

    def _thin(self, name: str) -> None:
        journal = self.past.journal
        self.past.snapshots(name).thin(self.settings.snapshots_kept, journal.floor(name), journal.undos(name))

    def look(self) -> None:
        """Now and then: is something too old, or too much?"""
        days, megabytes = self.settings.keep_days, self.settings.keep_megabytes
        if days is None and megabytes is None or time.monotonic() - self.looked < EVERY:
            return
        self.looked = time.monotonic()
        try:
            self.compact()
        except (OSError, OnmarginError) as error:
            self.trouble = " ".join(str(error).split())

    def compact(self) -> None:
        """Up to the newest whole snapshot that leaves enough."""
        journal, names = self.past.journal, {row.model for row in self.past.journal.creations()}
        if self.settings.keep_days is not None:
            for name in names:
                self._forget(name, journal.before(name, self.moment() - self.settings.keep_days * DAY))
        most = self.settings.keep_megabytes
        if most is not None and journal.size() > most * MEGABYTE:
            for name in names:  # all but what came after the newest snapshot
                self._forget(name, journal.last())

    def _forget(self, name: str, until: int) -> None:
        """What was learned up to the newest whole snapshot that is no newer than this event."""
        journal = self.past.journal
        if until <= journal.floor(name):
            return
        hosted, _ = self.past.snapshots(name).newest(journal.undos(name), until=until)
        if hosted is not None and hosted.event > journal.floor(name):
            journal.compact(name, hosted.event)
            self._thin(name)
