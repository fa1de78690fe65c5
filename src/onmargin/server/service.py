"""Models by name, behind one journal: everything that routes and pages ask for."""

from __future__ import annotations

import os
import shutil
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import msgspec

from ..errors import BadFile, BadInput, OnmarginError, shown
from ..protocols.requested.speaking import top_features
from .examples import Example, Examples, Label, Labelled, checked_label, checked_weight, read, rows_of, told
from .hosted import Event, Hosted, Prediction
from .journals.groups import Job
from .journals.journal import CREATE, UNDO, Key, Row, Undo, open_journal
from .journals.keeping import Keeping
from .journals.lock import Lock
from .journals.past import Past, Verdict, decode
from .journals.predictions import Predictions
from .journals.writer import Writer, refusal
from .plain import Json, Plain
from .refusals import AlreadyThere, CannotWrite, NotFound, TooLarge
from .settings import Settings
from .specs import checked_name, spec_of

Done = Future[Json]

FREE = 2**20  # bytes of disk below which health is bad
PROBE = 5.0  # seconds after which a journal that nobody wrote to is tried
SORRY = 1.0  # the same, after trouble
FLUSH = 0.2  # seconds that predictions wait for their file
NEVER = 2**62  # the number of an event that is yet to come
decode_examples = msgspec.json.Decoder(Examples).decode


class Service:
    """Named models that are always on; its contract is told in `onmargin.server`."""

    def __init__(
        self, place: str | os.PathLike[str], settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        self.settings = settings or Settings()
        self.folder = Path(place)
        self._lock = Lock(self.folder)
        opened = ExitStack()  # what is let go of if it fails
        opened.callback(self._lock.release)
        with opened:
            self.journal = open_journal(self.folder, self.settings.journal)
            opened.callback(self.journal.close)
            self.past = Past(self.journal, self.folder, self.settings)
            self.predictions = Predictions(self.folder / "predictions", self.settings)
            self._models: dict[str, Hosted] = {}
            self.warnings: list[str] = []
            made = self.journal.creations()
            self.past.check({row.model for row in made})
            for row in made:
                self._models[row.model], bad = self.past.present(row.model)
                self.warnings += bad
            opened.pop_all()
        self.writer = Writer(self.past, self._models, self.journal.last(), clock)
        self.keeping = Keeping(self.past, self.settings, self.writer.moment)
        self.writer.learned, self.writer.idle = self.keeping.learned, self._idle
        self._queries: dict[str, int] = {}
        self._flushed, self._probed, self._commits = 0.0, time.monotonic(), 0
        self._closed = False
        self._undoing = ThreadPoolExecutor(1, "onmargin-undo")  # one after the other
        self.writer.begin()

    # ---- models

    def create(self, name: str, spec: Json) -> Json:
        """A new one; durable when it returns."""
        checked_name(name)
        try:
            made = spec_of(spec)
            payload = msgspec.msgpack.encode(made)
            hosted = Hosted(name, made, self.settings.recent)
        except (OverflowError, UnicodeError) as error:
            raise BadInput(f"this recipe cannot be written down ({told(error)})") from None
        except MemoryError as error:
            raise TooLarge(f"there is no memory for such a model ({told(error)})") from None

        def do() -> None:
            if name in self._models:
                raise AlreadyThere(f"there is a model {name!r} already; choose another name")
            if len(self._models) >= self.settings.most_models:
                raise TooLarge(f"there are {len(self._models)} models; this server takes no more")
            number = self.writer.last + 1
            row = Row(number, number, name, CREATE, self.writer.moment(), payload)
            self.writer.append([row], [])
            self._models[name] = hosted

        self.writer.call(do).result()
        return self.state(name)

    def names(self) -> list[str]:
        """In alphabetical order."""
        return sorted(self._models)

    def hosted(self, name: str) -> Hosted:
        """The model at work."""
        found = self._models.get(name)
        if found is None:
            raise NotFound(f"there is no model {name[:100]!r}; POST its recipe to /v1/models/NAME")
        return found

    def state(self, name: str) -> Json:
        """Rounds, algorithm, parameters, classes, features, mistakes, loss and more."""
        return self.hosted(name).state() | {"queries": self._queries.get(name, 0)}

    # ---- answers

    def predict(self, name: str, examples: list[Json]) -> list[Json]:
        """Answers in plain values."""
        given = read(examples, list[Example])
        found = self.answer(name, given, lambda: msgspec.json.encode(given))
        return [msgspec.structs.asdict(one) for one in found]

    def answer(self, name: str, examples: Sequence[Example], body: Callable[[], bytes]) -> list[Prediction]:
        """The same for examples that were read; `body` is what a late label is told by."""
        hosted = self.hosted(name)
        rows = rows_of(examples, self.settings, hosted.features is not None)
        number = self.predictions.next()
        found = hosted.decide(rows, f"{self.predictions.start}-{number:x}-", number)
        self.predictions.note(number, name, body)
        self._queries[name] = self._queries.get(name, 0) + sum([one.wanted for one in found])
        return found

    # ---- learning

    def learn(self, name: str, examples: list[Json]) -> Done:
        """Examples with labels; done when they are durable and applied."""
        return self._waiting(name, self.events(name, read(examples, list[Labelled])))

    def events(self, name: str, examples: Sequence[Labelled]) -> list[Event]:
        """Examples as the journal takes them, each of them checked."""
        hosted = self.hosted(name)
        task = hosted.spec.task
        rows = rows_of(examples, self.settings, hosted.features is not None)
        made = []
        for place, (row, one) in enumerate(zip(rows, examples, strict=True)):
            try:
                if one.key is not None and not 0 < len(one.key) <= 200:
                    raise BadInput(f"the key has {len(one.key)} characters; wanted 1 to 200")
                if one.key is not None and "\0" in one.key:  # (PostgreSQL has no text with it)
                    raise BadInput(f"the key {shown(one.key)} has a zero character; leave it out")
                weight = one.w if one.w == 1.0 else checked_weight(one.w)
                made.append(Event(row, checked_label(one.y, task), one.key, weight))
            except BadInput as error:
                raise BadInput(f"example {place}: {error}" if len(examples) > 1 else str(error)) from None
        return made

    def submit(
        self, name: str, events: list[Event], future: Plain, loop: AbstractEventLoop | None, size: int = 0
    ) -> None:  # fmt: skip
        """Let events wait for the next group; `future` is told. `size`: bytes of the request."""
        self.writer.submit(Job(name, events, future, loop, size))

    def _waiting(self, name: str, events: list[Event]) -> Done:
        done: Done = Future()
        self.submit(name, events, done, None)
        return done

    def feedback(self, name: str, id: str, y: Label) -> Done:
        """A late label; an id counts once."""
        return self._waiting(name, [self.late(name, id, y)])

    def late(self, name: str, id: str, y: Label) -> Event:
        """The event of a late label."""
        hosted = self.hosted(name)
        found = self.predictions.find(id)
        unknown = NotFound(f"prediction {id[:60]!r} of {name!r} is not known: too old, lost, or never made")
        if found is None or found[0].model != name:
            raise unknown
        try:
            examples = decode_examples(found[0].body)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise NotFound(f"prediction {id[:60]!r} cannot be read ({told(error)})") from None
        listed = examples if isinstance(examples, list) else [examples]
        if not 0 <= found[1] < len(listed):
            raise unknown
        (row,) = rows_of([listed[found[1]]], self.settings, hosted.features is not None)
        return Event(row, checked_label(y, hosted.spec.task), f"prediction {id}")

    def undo(self, name: str, event: int) -> Done:
        """As if that example had never been: the rest is learned anew without it; its key may come again.

        Learning goes on meanwhile: the writer only adds what has come since.
        """
        self.hosted(name)
        try:
            return self._undoing.submit(self._undo, name, event)
        except RuntimeError:
            raise CannotWrite("the server is stopping; nothing was done") from None

    def _undo(self, name: str, event: int) -> Json:
        if self._closed:
            raise CannotWrite("the server is stopping; nothing was done")
        try:
            undos = self._undos_with(name, event)
            fresh = self.past.without(name, undos)
        except Exception as error:
            raise refusal(error) from None

        def do() -> Json:
            found, now = self.past.row_of(name, event), self._undos_with(name, event)
            number = self.writer.last + 1
            now[-1] = Undo(number, event)
            row = Row(number, number, name, UNDO, self.writer.moment(), msgspec.msgpack.encode(event))
            self.past.replay(fresh, now)
            key = decode(found.payload)[event - found.first].key
            self.writer.append([row], [], [] if key is None else [Key(name, key, event)])
            self.writer.takes(fresh)
            self.keeping.taken_back(fresh)
            return self.state(name)

        done: Json = self.writer.call(do).result()
        return done

    def _undos_with(self, name: str, event: int) -> list[Undo]:
        """What was taken back of a model, and this as the last; one by one, as `_undoing` sees to."""
        self.past.row_of(name, event)
        undos = self.journal.undos(name)
        if any(one.target == event for one in undos):
            raise NotFound(f"event {event} of {name!r} was taken back already")
        return [*undos, Undo(NEVER, event)]

    # ---- what there is to see

    def history(self, name: str, since: int = 0) -> Json:
        """Points of the curves after a round, the present one last."""
        tallies = self.hosted(name).tallies
        points = tallies.since(since)
        if tallies.rounds > since and (not points or points[-1]["rounds"] < tallies.rounds):
            points.append(tallies.point(time.time()))
        return {"points": points, "drifts": list(tallies.drifts), "queries": self._queries.get(name, 0)}

    def confusion(self, name: str) -> Json:
        """How often which label was taken for which, before it was learned."""
        hosted = self.hosted(name)
        pairs = [[truth, guess, count] for (truth, guess), count in dict(hosted.tallies.confusion).items()]
        return {"classes": hosted.classes(), "pairs": pairs}

    def top_features(self, name: str, k: int = 10) -> list[Json]:
        """The heaviest features of every class; none where a model has no weights."""
        hosted = self.hosted(name)
        if not 1 <= k <= 1000:
            raise BadInput(f"k={k}; wanted 1 to 1000")
        try:
            frame = top_features(hosted.whole, k)
        except (OnmarginError, AttributeError, ValueError):
            return []
        rows = frame[["class", "feature", "weight"]].itertuples(index=False)
        return [{"class": one, "feature": str(name), "weight": float(weight)} for one, name, weight in rows]

    def snapshot(self, name: str, round: int | None = None) -> bytes:
        """The file of the model as of a round; None: as it is between two groups."""
        hosted = self.hosted(name)
        if round is None:
            if name in self.writer.behind:
                raise CannotWrite(f"{name!r} has not learned what is durable ({self.writer.behind[name]})")
            file: bytes = self.writer.call(lambda: self.hosted(name).as_bytes()).result()
            return file
        if not 0 <= round <= hosted.tallies.rounds:
            raise NotFound(f"model {name!r} has {hosted.tallies.rounds} rounds; there is no round {round}")
        return self.past.at_round(name, round).as_bytes()

    def health(self) -> Json:
        """Bad where labels cannot be kept."""
        trouble = self.writer.trouble
        for name, why in dict(self.writer.behind).items():
            trouble = f"{name} has not learned what is durable ({why})"
        if trouble is None:
            try:
                free = shutil.disk_usage(self.folder).free
                trouble = f"the disk is full ({free} bytes are free)" if free < FREE else None
            except OSError as error:
                trouble = f"{self.folder}: {error.strerror}"
        found = {"ok": trouble is None, "models": len(self._models), "waiting": self.writer.waiting}
        return found if trouble is None else found | {"trouble": trouble}

    def verify(self) -> list[Verdict]:
        """Replay every model and compare."""
        return [self.past.verdict(name) for name in self.names()]

    # ---- the writer's thread

    def _idle(self) -> None:
        now = time.monotonic()
        if now - self._flushed > FLUSH:
            self._flushed = now
            self.predictions.flush()
        wait = SORRY if self.writer.trouble is not None or self.writer.behind else PROBE
        if self.writer.commits != self._commits:
            self._commits, self._probed = self.writer.commits, now
        elif now - self._probed > wait:
            self._probed = now
            self.writer.probe()
        self.keeping.look()

    def close(self) -> None:
        """What waits is written, every model saved."""
        if self._closed:
            return
        self._closed = True
        self._undoing.shutdown()
        self.writer.stop()
        try:
            self.keeping.save_all({k: v for k, v in self._models.items() if k not in self.writer.behind})
            self.predictions.close()
        except OSError as error:
            raise BadFile(f"{error.filename}: {error.strerror}; the journal has everything") from None
        finally:
            self.journal.close()
            self._lock.release()
