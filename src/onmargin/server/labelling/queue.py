"""A queue of items for people: what to label next, leases, undo; answers reach the model once each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from threading import Lock, RLock
from typing import NamedTuple, Protocol

from ...errors import BadInput, OnmarginError
from ...interface.classifier import Classifier
from ...results.label_plan import Advice
from .acts import ANSWER, SKIP, TAKE_BACK, Act, Acts, Lease
from .choice import EARLY, Choice
from .items import Content, Item, New, checked
from .label_set import LabelSet
from .standing import Standing

LEASE = 300.0  # seconds an item is kept for somebody who does nothing


class Live(Protocol):
    """The model that learns: of a service, by its name."""

    def guess(self, x: Content) -> tuple[object, float] | None:
        """What it would say, and by what margin; None: it knows too little."""
        ...

    def check(self, x: Content) -> None:
        """Refuse what it could never learn from."""
        ...

    def classes(self) -> Sequence[object]:
        """Labels it has met, here or elsewhere."""
        ...

    def learn(self, examples: Sequence[tuple[Content, object, str]]) -> list[int]:
        """(x, y, key) each, durably: its events. A key that was there before changes nothing."""
        ...

    def unlearn(self, event: int) -> None:
        """As if that example had never come; a second time changes nothing."""
        ...


class Question(NamedTuple):
    """An item, what the model thinks of it, and what was said of it before (if one goes back)."""

    item: Item
    guess: tuple[object, float] | None = None
    said: Act | None = None


class Queue:
    """Items that wait for labels, on a `Pool` that says which are worth most; any number of people at once.

    acts : the durable side. What is answered is put down there first and then learned by `live` under the
        act's key; after a crash in between, the next start tells it again, and it counts once.
    learner : the pool's own (fitted anew on all labels; it chooses); "auto" is AROW().
    lease : seconds for which an item is kept for whoever looks at it.
    """

    def __init__(
        self, acts: Acts, live: Live, learner: Classifier | str = "auto", *, lease: float = LEASE,
        now: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        self.acts, self._live, self._learner, self._now, self.lease = acts, live, learner, now, lease
        self._lock, self._advising = RLock(), Lock()
        self._items = acts.items()
        self._numbers = {item.key: item.number for item in self._items if item.key is not None}
        self._said: dict[int, Act] = {}  # the last act of every item that is answered or skipped
        self._labels, self.trouble = LabelSet(acts), ""
        self._choice = Choice(learner, self._labels.announced)
        self._advice, self._advised = EARLY, -1
        for act in acts.all():
            self._note(act)
        self._labels.met(act.label for act in self._said.values() if act.what == ANSWER)
        self._leases = {lease.item: lease for lease in acts.leases() if lease.item not in self._said}
        self.catch_up()

    # ---- items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, number: int) -> Item:
        if not 0 <= number < len(self._items):
            raise BadInput(f"item {number} is not there; wanted 0 to {len(self._items) - 1}")
        return self._items[number]

    def add(self, news: Iterable[New]) -> list[int]:
        """Items to be labelled; their numbers (of a key that was there: the one it had). All or none."""
        wanted = [new._replace(x=self.checked(new.x)) for new in news]
        with self._lock:
            fresh: dict[object, New] = {}  # by key; of items without one by themselves
            for place, new in enumerate(wanted):
                if new.key is None or new.key not in self._numbers:
                    fresh.setdefault(place if new.key is None else new.key, new)
            made = self.acts.add(fresh.values())
            self._items += made
            self._numbers |= {item.key: item.number for item in made if item.key is not None}
            places = dict(zip(fresh, (item.number for item in made), strict=True))
            return [
                places[at] if new.key is None else self._numbers[new.key] for at, new in enumerate(wanted)
            ]

    def checked(self, x: object) -> Content:
        """An example that the model could learn from; others are refused before they are items."""
        content = checked(x)
        self._live.check(content)
        return content

    def number(self, key: str) -> int | None:
        """Of the item with this key; None: there is none."""
        return self._numbers.get(key)

    def take(self, labels: Mapping[int, object], who: str = "import") -> int:
        """Labels that are at hand, of items that have none yet; how many that were."""
        with self._lock:
            known = self.known()
            news = {
                number: self._labels.checked(label, known)
                for number, label in labels.items()
                if number not in self._said
            }
            if news:
                self._do([self._act(number, ANSWER, who, label) for number, label in news.items()])
            return len(news)

    # ---- labels

    @property
    def is_closed(self) -> bool:
        """Are there no labels but those announced?"""
        return self._labels.announced is not None

    def announce(self, classes: Sequence[object]) -> None:
        """All labels there are."""
        with self._lock:
            self._labels.announce(classes)
            self._choice = Choice(self._learner, classes)

    def labels(self) -> list[object]:
        """Those announced, or those the model has met and those given so far."""
        with self._lock:
            given = [act.label for act in self._said.values() if act.what == ANSWER]
            met = [*self._live.classes(), *given]
            self._labels.met(met)
            return self._labels.offered(met)

    def keys(self) -> dict[str, object]:
        """One key a label."""
        return self._labels.keys(self.labels())

    def known(self) -> dict[str, object]:
        """Labels by how they are written; `check` adds new ones."""
        return {str(one): one for one in self.labels()}

    def check(self, x: object, label: object, known: dict[str, object]) -> None:
        """Refuse what could not be taken: an example, and its label where it has one (beside the known)."""
        self.checked(x)
        if label is not None:
            self._labels.checked(label, known)

    def plan(self, budget: int | None) -> None:
        """So many labels are to be given in all; None: as many as it takes."""
        if budget is not None and budget < 1:
            raise BadInput(f"budget={budget}; wanted at least one label")
        self.acts.set("budget", budget)

    # ---- a person

    def ask(self, who: str) -> Question | None:
        """The item that this person is to label now, kept for them; None: none is left (for them)."""
        with self._lock:
            self._expire()
            mine = [lease.item for lease in self._leases.values() if lease.who == who]
            number = mine[-1] if mine else self._choice.next(self._items, self._said.values(), self._leases)
            if number is None:
                return None
            self._hold(number, who)
        return self.look(number)

    def guess(self, x: Content) -> tuple[object, float] | None:
        """What the model would say of anything, and by what margin."""
        return self._live.guess(x)

    def look(self, number: int) -> Question:
        """One item, what the model thinks of it, and what was said of it."""
        item = self[number]
        return Question(item, self.guess(item.x), self._said.get(number))

    def answer(self, who: str, number: int, label: object) -> Act:
        """A label of an item that is theirs: durable, and learned. They may change an answer of their own."""
        label = self._labels.checked(label, self.known())
        with self._lock:
            before = self._theirs(who, number)
            guess = self.guess(self[number].x) if before is None else None
            acts = [self._act(number, ANSWER, who, label, None if guess is None else guess[0])]
            if before is not None:
                if before.what == ANSWER and before.label == label:
                    return before
                acts = [self._act(number, TAKE_BACK, who), acts[0]._replace(guess=before.guess)]
            return self._do(acts)[-1]

    def skip(self, who: str, number: int) -> Act:
        """It cannot be labelled."""
        with self._lock:
            before = self._theirs(who, number)
            if before is not None and before.what == SKIP:
                return before
            forgets = [] if before is None else [self._act(number, TAKE_BACK, who)]
            return self._do([*forgets, self._act(number, SKIP, who)])[-1]

    def undo(self, who: str) -> int:
        """Take this person's last answer or skip back; its item, which is theirs again."""
        with self._lock:
            past = self.history(who)
            if not past:
                raise BadInput("you have not answered or skipped anything yet; there is nothing to undo")
            number = past[-1]
            self._do([self._act(number, TAKE_BACK, who)])
            for lease in [one for one in self._leases.values() if one.who == who]:
                self._release(lease.item)
            self._hold(number, who)
            return number

    def forget(self, who: str, number: int) -> bool:
        """Take back what was said of this item; was there anything?"""
        with self._lock:
            if self._theirs(who, number) is None:
                return False
            self._do([self._act(number, TAKE_BACK, who)])
            self._choice.release(number)
            return True

    def history(self, who: str) -> list[int]:
        """Items this person answered or skipped, in the order they did."""
        with self._lock:
            mine = sorted((act for act in self._said.values() if act.who == who), key=lambda act: act.number)
        return [act.item for act in mine]

    # ---- all of it

    def standing(self) -> Standing:
        """Counts, the curve, and the last advice."""
        with self._lock:
            answers = [act for act in self._said.values() if act.what == ANSWER]
            answers.sort(key=lambda act: act.number)
            budget = self.acts.setting("budget")
            counts: dict[object, int] = dict.fromkeys([*self.keys().values(), *self.labels()], 0)
            for act in answers:
                counts[act.label] = counts.get(act.label, 0) + 1
            rights = [act.guess == act.label for act in answers if act.guess is not None]
            return Standing(
                len(self._items), len(answers), len(self._said) - len(answers), len(self._leases),
                budget if isinstance(budget, int) else None, counts, rights, self._advice, self.trouble,
            )  # fmt: skip

    def advise(self) -> Advice:
        """Go on, or stop? Anew where answers have come; it takes some fits of the pool's learner."""
        with self._advising:
            known = len(self._said)
            if known != self._advised:
                self._advice, self._advised = self._choice.advice, known
            return self._advice

    def said(self) -> list[tuple[Item, Act]]:
        """Every item that was answered or skipped, with the act that did it, by item."""
        with self._lock:
            return [(self._items[number], act) for number, act in sorted(self._said.items())]

    # ---- within

    def _act(self, number: int, what: str, who: str, label: object = None, guess: object = None) -> Act:
        return Act(-1, self[number].number, what, label, who, self._now(), guess)

    def _theirs(self, who: str, number: int) -> Act | None:
        """What they said of the item before; refused where it is somebody else's."""
        self._expire()
        said, lease = self._said.get(self[number].number), self._leases.get(number)
        if said is not None and said.who != who:
            done = "answered" if said.what == ANSWER else "skipped"
            raise BadInput(f"somebody else has {done} this item meanwhile; here is another")
        if lease is not None and lease.who != who:
            raise BadInput("your time for this item was up, and somebody else has it now; here is another")
        return said

    def _do(self, acts: Sequence[Act]) -> list[Act]:
        """Durable, then noted, then learned. What the model cannot take now it is told again later.

        What it refuses for good (a label it does not know) is taken back, and the refusal is passed on.
        """
        self.catch_up()
        made = self.acts.write(acts, [act.item for act in acts])
        for act in made:
            self._leases.pop(act.item, None)
            self._choice.note(act)
            self._note(act)
        try:
            self._settle(made)
        except BadInput:
            self._take_back(made)
            raise
        except OnmarginError:  # the journal is full, or busy: the act is kept, and `catch_up` tells it again
            pass
        return made

    def _take_back(self, refused: Sequence[Act]) -> None:
        """Acts that the model refused: their items are as they were, and nothing is told again."""
        befores = {act.item: self.acts.before(act) for act in reversed(refused)}
        backs = []
        for item, before in befores.items():
            if self._said.get(item) is not None:
                backs.append(self._act(item, TAKE_BACK, "the model")._replace(settled=True))
            if before is not None and before.what != TAKE_BACK:
                backs.append(before._replace(settled=True))
        for act in self.acts.write(backs):
            self._choice.note(act)
            self._note(act)
            if act.what == TAKE_BACK:
                self._choice.release(act.item)
        self.acts.settle({act.number: act.event for act in refused if not act.settled})

    def catch_up(self) -> int:
        """Tell the model what it may have missed; how many acts it still does not know of."""
        with self._lock:
            waiting = self.acts.unsettled()
            try:
                self._settle(waiting)
            except BadInput:  # one that is refused for good must not keep the others from being learned
                return self._settle_each(waiting)
            except OnmarginError:
                return len(waiting)
            return 0

    def _settle_each(self, waiting: Sequence[Act]) -> int:
        """One by one, until the model can take no more now; what it refuses is taken back."""
        for done, act in enumerate(waiting):
            try:
                self._settle([act])
            except BadInput:
                self._take_back([act])
            except OnmarginError:
                return len(waiting) - done
        return 0

    def _note(self, act: Act) -> None:
        if act.what == TAKE_BACK:
            self._said.pop(act.item, None)
        else:
            self._said[act.item] = act

    def _settle(self, acts: Sequence[Act]) -> None:
        """Tell the model, in their order; labels in a row at once."""
        for kind, group in groupby(acts, key=lambda act: act.what):
            some = list(group)
            events: list[int | None] = [None] * len(some)
            if kind == ANSWER:
                events[:] = self._live.learn([(self[act.item].x, act.label, act.key) for act in some])
            elif kind == TAKE_BACK:
                for before in filter(None, map(self.acts.before, some)):
                    if before.event is not None:
                        self._live.unlearn(before.event)
            self.acts.settle(dict(zip((act.number for act in some), events, strict=True)))

    # ---- leases

    def _hold(self, number: int, who: str) -> None:
        self._choice.hold(number)
        self._leases[number] = Lease(number, who, self._now() + self.lease)
        self.acts.lease(self._leases[number])

    def _release(self, number: int) -> None:
        del self._leases[number]
        self.acts.release([number])
        self._choice.release(number)

    def _expire(self) -> None:
        now = self._now()
        for lease in list(self._leases.values()):
            if lease.until < now or lease.until > now + 2 * self.lease:  # (a clock that went backwards)
                self._release(lease.item)
