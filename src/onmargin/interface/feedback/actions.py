"""Actions that wait for their reward, and the stream that plays and rewards one dict in place."""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ...compiled.rows import Sparse
from ...errors import BadInput, shown
from ...features.slots import NO_NUMBER
from ...learn.vocabulary import NO_TRACE
from ...models.bandit import BanditModel, BoundActions, Pending, kept_row
from ...models.weights import Model
from ..dicts.streams import Example, ModelStream
from ..parameters.draws import uniforms
from ..parameters.fixed import is_unfixed
from ..targets.label_targets import LabelTargets
from ..targets.labels import Labels, check_label, in_order, items, shortened, unwrapped
from ..targets.target import Answers

if TYPE_CHECKING:
    from .plays import PlaysActions

COINS = 256  # uniforms drawn at once


class Action(NamedTuple):
    """What was played: give its reward with this id."""

    id: int
    label: object
    probability: float


class Actions(NamedTuple):
    """What was played on the rows of a table, in order: three arrays."""

    ids: np.ndarray
    labels: np.ndarray
    probabilities: np.ndarray


class Waits(NamedTuple):
    """An action whose reward has not come, as it is shown and saved; classes by their number."""

    slots: tuple[int, ...]
    values: tuple[float, ...]
    best: int
    played: int
    probability: float


class Waiting:
    """Actions whose reward has not come, by their id, the oldest first; and how many were given up."""

    def __init__(self) -> None:
        self.pending: dict[int, Pending] = {}
        self.given_up = 0
        self.lost: tuple[int, Pending] | None = None  # what the last action took the place of

    def copy(self) -> Waiting:
        """One that may change."""
        twin = Waiting()
        twin.pending, twin.given_up = self.pending.copy(), self.given_up
        return twin

    def add(self, number: int, pending: Pending, most: int) -> None:
        """One more; where there are too many the oldest is given up."""
        self.lost = None
        self.pending[number] = pending
        while len(self.pending) > most:
            oldest = next(iter(self.pending))
            self.lost = oldest, self.pending[oldest]
            del self.pending[oldest]
            self.given_up += 1

    def take_back(self, number: int, given_up: int) -> None:
        """The action that was just added was not played after all."""
        self.pending.pop(number, None)
        if self.lost is not None and self.lost[0] not in self.pending:
            self.pending = {self.lost[0]: self.lost[1], **self.pending}
        self.given_up, self.lost = given_up, None

    def renumbered(self, sources: list[int]) -> Waiting:
        """The same where class k is the one that was `sources[k]`."""
        twin, place = self.copy(), {before: now for now, before in enumerate(sources)}
        for number, pending in twin.pending.items():
            best, played = place[pending.best], place[pending.played]
            twin.pending[number] = pending._replace(best=best, played=played)
        return twin

    def __getstate__(self) -> dict[str, object]:
        return {"pending": self.pending, "given_up": self.given_up, "lost": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        for number, pending in self.pending.items():  # (arrays come out of a pickle writable)
            row = pending.row
            kept = pending._replace(row=kept_row(row.indices, row.values, row.bias))
            self.pending[number] = kept


def allowed_mask(labels: Labels, allowed: object, rows: int = 1) -> np.ndarray:
    """(1, K) or (rows, K) bools: a collection of labels for all rows, or a table of bools, a row each."""
    table = isinstance(allowed, np.ndarray) and allowed.ndim == 2
    if table and isinstance(allowed, np.ndarray):
        if allowed.dtype != bool or allowed.shape != (rows, len(labels.known)):
            raise BadInput(
                f"allowed is an array of {allowed.dtype} {allowed.shape}; wanted labels, or bools of "
                f"{(rows, len(labels.known))}, one for each row and class"
            )
        mask = np.ascontiguousarray(allowed)
    else:
        if isinstance(allowed, str | bytes) or not isinstance(allowed, Collection | np.ndarray):
            raise BadInput(f"allowed={shown(allowed)}; wanted a list of actions")
        mask = np.zeros((1, len(labels.known)), bool)
        for label in items(allowed):
            mask[0, _code(labels, label)] = True
    if not mask.any(axis=1).all():
        raise BadInput(f"allowed={shown(allowed)} leaves no action to play; wanted at least one")
    return mask


def _code(labels: Labels, label: object) -> int:
    try:
        return labels.index[label]
    except (KeyError, TypeError):
        raise BadInput(
            f"the action {shown(label, 30)} is not among {shortened(labels.known)}; add it by add_action"
        ) from None


class Coins:
    """The uniforms of actions: number t is the t-th of one stream, however they are drawn."""

    def __init__(self, owner: PlaysActions) -> None:
        self.owner = owner
        self.kept: tuple[int, list[float]] = 0, []

    def at(self, number: int) -> float:
        """The uniform of the action after so many."""
        first, drawn = self.kept
        if not first <= number < first + len(drawn):
            self.kept = first, drawn = number, uniforms(self.owner, number, COINS).tolist()
        return drawn[number - first]


class ActionStream(ModelStream):
    """Actions and rewards of single dicts, in place; labelled dicts through a copy of the model."""

    owner: PlaysActions

    def bind(self) -> None:
        """Bind the compiled halves to the arrays as they are now."""
        super().bind()
        self.labels = self.owner._targets().labels
        self.coins, self.is_short = Coins(self.owner), self.learns and not is_unfixed(self.owner)
        self.entries = BoundActions(cast(BanditModel, self.model), self.packer.rows)

    def learn(self, x: Example, weight: float, trace: np.ndarray = NO_TRACE) -> tuple[float, ...]:
        """Play one round whose label is known."""
        tally = super().learn(x, weight, trace)
        self.bind()  # to the model that learned it
        return tally

    def follow(self) -> None:
        """Ctrl-C may have come between a round's end and its binding: the learner's model is the one."""
        if self.entries.model is not self.owner._model:
            self.model = self.owner._fitted()
            self.bind()

    def choose(self, allowed: np.ndarray | None) -> tuple[Action, Pending] | None:
        """An action for the row that is packed; nothing changes. None: the row is not finite."""
        model, rows = self.model, self.packer.rows
        spent = max(model.actions, model.clock)  # coins of rounds that were simulated are spent
        found = self.entries.act(self.coins.at(spent), allowed)
        if found is None or not isinstance(rows, Sparse):
            return None
        played, best, chance = found
        end = rows.starts[1]
        row = kept_row(rows.indices[:end], rows.values[:end], rows.bias)
        return Action(spent + 1, self.labels.known[played], chance), Pending(row, best, played, chance)

    def commit(self, action: Action, pending: Pending) -> None:
        """The action waits for its reward."""
        owner = self.owner
        owner._waiting().add(action.id, pending, int(owner.max_pending))
        self.model.actions = action.id

    def act(self, x: Example, allowed: object) -> Action | None:
        """The short way, in place; None, and nothing changed, where it cannot be gone."""
        with self.lock:
            if self.binding is None or not self.is_short or type(x) is not dict or not self.model.clock:
                return None  # (what the first rounds decide for good is found on the long way)
            self.follow()
            mask = None if allowed is None else allowed_mask(self.labels, allowed)
            if self.guard.readers:
                self.guard.wait_for_readers()
            before, number = BeforeAction(self), 0
            try:
                if not self.packer.pack(x, 0):
                    self.take(x)
                chosen = self.choose(mask)
                if chosen is None:
                    before.restore(number)
                    return None
                number = chosen[0].id
                self.commit(*chosen)
                self.keep()
                return chosen[0]
            except NO_NUMBER as error:
                before.restore(number)
                if isinstance(error, BadInput):
                    raise
                return None
            except BaseException:
                before.restore(number)
                raise

    def reward(self, number: object, reward: object) -> bool:
        """The reward of an action, in place; False, and nothing changed, where it is none or not plain."""
        with self.lock:
            waiting = self.owner._waiting()
            plain = type(number) is int and type(reward) in (bool, int, float)
            if self.binding is None or not self.learns or not plain or number not in waiting.pending:
                return False
            earned = float(cast(float, reward))
            if not 0.0 <= earned <= 1.0:
                return False
            self.follow()
            if self.guard.readers:
                self.guard.wait_for_readers()
            model, clock = self.model, self.model.clock
            try:
                done = self.entries.reward(waiting.pending[number], earned)
                if done:
                    del waiting.pending[number]
                return done
            except BaseException:
                if model.clock != clock:  # it was played: it waits no longer
                    waiting.pending.pop(number, None)
                raise


class BeforeAction:
    """What an action goes back to if it was not played to its end."""

    def __init__(self, stream: ActionStream) -> None:
        self.stream, self.known, self.columns = stream, stream.known, stream.owner._columns
        model = self.model = stream.model
        self.layout, self.features, self.actions = model.layout, model.features, model.actions
        self.given_up = stream.owner._waiting().given_up

    def restore(self, number: int) -> None:
        """Names, room and counts as they were; the action of this number does not wait (0: none)."""
        stream, model = self.stream, self.model
        if number:
            stream.owner._waiting().take_back(number, self.given_up)
        stream.slots.give_back(self.known)
        stream.known = self.known
        stream.packer.forget()
        stream.owner._columns, model.features, model.actions = self.columns, self.features, self.actions
        if model.start is not self.layout[0]:
            model.layout = self.layout
        stream.bind()


class ActionTargets(LabelTargets):
    """Labels that are never shown, only whether the one played was right."""

    owner: PlaysActions

    def answers(self) -> Answers:
        """None: the compiled guess is a coin's."""
        return None

    def begin(self, y: object) -> None:
        """All actions must be announced."""
        if self.owner.classes is None:
            raise BadInput("dicts need all actions announced: give classes=, or fit on labelled data first")
        super().begin(y)

    def guess_of(self, scores: np.ndarray) -> float:
        """An answer without a coin is none of its own."""
        raise BadInput("the Banditron plays actions; delay= and scored_by='model' have none to show")

    def own(self) -> None:
        """Also the actions that wait."""
        super().own()
        self.owner._actions = self.owner._waiting().copy()

    def add(self, model: Model, label: object) -> None:
        """One more action, with weights of 0; those that wait are renumbered."""
        labels = copy.deepcopy(self.labels)
        label = unwrapped(label)
        try:
            known = label in labels.index
        except TypeError:
            raise BadInput(f"the action is {shown(label)}; wanted a text, a number or a bool") from None
        if known:
            raise BadInput(f"the action {shown(label)} is there already; wanted a new one")
        check_label(label)
        before, counts = labels.index, dict(zip(labels.known, labels.counts, strict=True))
        ordered = in_order([*labels.known, label])
        labels.take(ordered, [counts.get(one, 0) for one in ordered])
        sources = [before.get(one, -1) for one in ordered]
        model.rearrange(len(sources), sources)
        self.owner._labels, self.owner._actions = labels, self.owner._waiting().renumbered(sources)
