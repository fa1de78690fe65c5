"""A model's loss beside what its theorem allows: first rounds of the journal, replayed, certified."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from threading import Lock
from typing import NamedTuple

import msgspec
import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer

from ..errors import OnmarginError
from ..features.matrices import canonical
from ..interface.tables import Table
from ..protocols.certificate import PREFERRED, certificate
from ..protocols.progressive import progressive
from .hosted import Event, Hosted
from .service import Service

MOST = 2000  # rounds that are replayed
GROWN = 1.3  # a bound is drawn anew when there are so many times as many rounds
decode = msgspec.msgpack.Decoder(list[Event]).decode


class LossAndBound(NamedTuple):
    """Both sides after every round; or, without them, why there is no bound."""

    theorem: str
    counts: str  # what the left side is
    left: list[float]
    right: list[float]
    words: str

    @classmethod
    def none(cls, why: str) -> LossAndBound:
        """No bound is known, or none can be drawn."""
        return cls("", "", [], [], why)


class Bounds:
    """Of the models of a service, kept until they have learned much more. One is worked out at a time."""

    def __init__(self, service: Service) -> None:
        self._service, self._lock = service, Lock()
        self._kept: dict[str, tuple[int, LossAndBound]] = {}

    def of(self, name: str) -> LossAndBound:
        """As of now, or of a while ago."""
        with self._lock:
            rounds = int(self._service.state(name)["rounds"])
            seen, found = self._kept.get(name, (0, LossAndBound.none("no label yet")))
            if rounds and (not seen or seen < MOST and rounds >= GROWN * seen or rounds < seen):
                found = loss_and_bound(self._service, name)
                self._kept[name] = rounds, found
            return found


def loss_and_bound(service: Service, name: str) -> LossAndBound:
    """Beside the best fixed model in hindsight, over the first 2,000 rounds that are still in the journal."""
    hosted = service.hosted(name)
    if service.journal.floor(name):
        return LossAndBound.none("its first rounds are compacted: a bound counts from the start")
    undone = {undo.target for undo in service.journal.undos(name)}
    events = list(islice(_events(service, name, undone), MOST))
    if len({str(event.y) for event in events}) < 2 and hosted.spec.task == "classes":
        return LossAndBound.none("labels of two classes are wanted")
    try:
        X, weights = _table(hosted, events), np.array([event.w for event in events])
        y = [event.y for event in events]
        given = None if (weights == 1.0).all() else weights
        run = progressive(hosted.spec.learner(), X, y, sample_weight=given)
        found = certificate(run, "best")
    except (OnmarginError, ValueError, TypeError, ArithmeticError) as error:
        return LossAndBound.none(" ".join(str(error).split())[:200])
    known = [id for id in (*PREFERRED, *found.courses) if id in found.courses]
    if known:
        id, course = known[0], found.courses[known[0]]
        words = f"theorem {id}, beside the best fixed model in hindsight; the first {len(events):,} rounds"
        return LossAndBound(id, course.counts, course.left.tolist(), course.right.tolist(), words)
    for row in found.applying:
        held = "holds" if row.holds else "does not hold"
        return LossAndBound.none(f"bound {row.id} {held}: {row.left:,.4g} <= {row.right:,.4g}")
    unmet = next((row.conditions for row in found), "no theorem is known for this learner")
    return LossAndBound.none(f"no bound applies: {unmet}")


def _events(service: Service, name: str, undone: set[int]) -> Iterator[Event]:
    for row in service.journal.rows(name):
        for number, event in enumerate(decode(row.payload), row.first):
            if number not in undone:
                yield event


def _table(hosted: Hosted, events: list[Event]) -> Table:
    rows = [event.row for event in events]
    if hosted.features is not None:
        return canonical(hosted.features.transform(rows))
    if all(isinstance(row, list) for row in rows) and len({len(row) for row in rows}) == 1:
        return np.array(rows, float)
    named = [row if isinstance(row, dict) else dict(enumerate(row)) for row in rows]
    return canonical(sp.csr_matrix(DictVectorizer().fit_transform(named)))
