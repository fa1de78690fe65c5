"""The desk where people label: a queue for every model of a service, opened when somebody comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import RLock

from ...errors import BadInput
from ..examples import Example, read, rows_of
from ..refusals import Compacted, NotFound, TooLarge
from ..service import Service
from ..specs import checked_name
from .acts import Acts
from .feeding import Feeding
from .items import Content, as_numbers, as_text
from .queue import LEASE, Queue

FOLDER = "labelling"  # within the server's folder
AT_ONCE = 2000  # examples that one request to the journal holds
WAITS = 60.0  # seconds for which an answer may wait for the journal


class HostedModel:
    """One model of a service, as a queue sees it."""

    def __init__(self, service: Service, name: str) -> None:
        self._service, self._name = service, name
        self._is_text = service.state(name)["input"] == "text"

    def example(self, x: Content) -> dict[str, object]:
        """As the service takes it."""
        return {"text": as_text(x)} if self._is_text else {"x": as_numbers(x)}

    def guess(self, x: Content) -> tuple[object, float] | None:
        """The label with the best score, and how far it is ahead of the second; None: there is none yet."""
        row = as_text(x) if self._is_text else as_numbers(x)
        (answer,) = self._service.hosted(self._name).decide([row], "", 0)
        scores = sorted(map(float, answer.scores.values()))
        if answer.label is None or not scores:
            return None
        return answer.label, scores[-1] - scores[-2] if len(scores) > 1 else abs(scores[0])

    def check(self, x: Content) -> None:
        """Refused where it is of the wrong kind, or larger than the server takes."""
        try:
            rows_of([read(self.example(x), Example)], self._service.settings, self._is_text)
        except TooLarge as error:
            raise BadInput(str(error)) from None

    def classes(self) -> Sequence[object]:
        """Labels it has met, wherever they came from."""
        return list(self._service.state(self._name)["classes"])

    def learn(self, examples: Sequence[tuple[Content, object, str]]) -> list[int]:
        """Durable and applied when it returns; where the model refuses one, none is kept."""
        events: list[int] = []
        size = min(AT_ONCE, self._service.settings.most_examples)
        for first in range(0, len(examples), size):  # (in turns with others who learn)
            some = examples[first : first + size]
            given = [{**self.example(x), "y": y, "key": key} for x, y, key in some]
            try:
                done = self._service.learn(self._name, given).result(WAITS)
            except TooLarge as error:
                raise BadInput(str(error)) from None
            refused = {int(place): why for place, why in done["refused"].items()}
            events += (int(event) for place, event in enumerate(done["events"]) if place not in refused)
            if refused:
                for event in events:
                    self.unlearn(event)
                raise BadInput(next(iter(refused.values())))
        return events

    def unlearn(self, event: int) -> None:
        """Undo it, unless that was done before; what is compacted stays learned, and that is said."""
        try:
            self._service.undo(self._name, event).result(WAITS)
        except NotFound:
            pass
        except Compacted as error:
            raise BadInput(str(error)) from None


class Desk:
    """`queue(name)` is the queue of a model; all of them live in one folder."""

    def __init__(self, service: Service, lease: float = LEASE) -> None:
        self.service, self._folder, self._lease = service, service.folder / FOLDER, lease
        self._queues: dict[str, Queue] = {}
        self._feedings: list[Feeding] = []
        self._lock = RLock()

    def queue(self, name: str) -> Queue:
        """Opened the first time it is asked for; a model that is not there, or has no classes, is refused."""
        with self._lock:
            if name not in self._queues:
                checked_name(name)
                state = self.service.state(name)
                if state["task"] != "classes":
                    raise BadInput(f"{name} learns {state['task']}; people label for models of classes")
                acts = Acts(self._folder / f"{name}.sqlite")
                queue = Queue(acts, HostedModel(self.service, name), lease=self._lease)
                announced = state["parameters"].get("classes")
                if announced and not queue.is_closed:
                    queue.announce(announced)
                self._queues[name] = queue
            return self._queues[name]

    def feed(self, name: str, rows: Iterator[Content]) -> Feeding:
        """Stream rows into a model's queue, from a thread of its own."""
        feeding = Feeding(self.queue(name), rows, name)
        self._feedings.append(feeding)
        feeding.start()
        return feeding

    def close(self) -> None:
        """Files are closed; what was answered is in them."""
        with self._lock:
            for feeding in self._feedings:
                feeding.stop()
            self._feedings.clear()
            for queue in self._queues.values():
                queue.acts.close()
            self._queues.clear()
