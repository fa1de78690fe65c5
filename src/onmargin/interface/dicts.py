"""One example at a time, as a dict: new features and new labels at any time.

Two streams. `BoundStream` packs a dict into one reserved sparse row and plays it through the bound entry of
the very same compiled loop (a few microseconds). `ModelStream` hands the row to the model, where a round
needs more than the row at hand: kernels, reservoirs, coins, rows that are scaled.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.rows import Rows, Sparse
from ..errors import BadInput, extra
from ..features.slots import Packer, Slots
from ..learn.vocabulary import NO_ORDER, NO_TRACE, NONE, Examples
from ..models.asking import Asking
from ..models.bound import BoundEntries
from ..models.weights import Model
from .labels import label_array

if TYPE_CHECKING:
    from .learner import Learner

Example = Mapping[Hashable, Any]


class Stream:
    """A model bound to its dicts. Made anew whenever the model takes on another shape."""

    quick = False  # a round of a known label may go the short way
    answers: dict[float, Any] | None = None  # guesses of the loop as labels, where the loop may guess

    def __init__(self, owner: Learner, model: Model, slots: Slots) -> None:
        self.owner, self.model, self.slots = owner, model, slots
        self.packer = Packer(slots, owner._bias)
        self.bind()

    def bind(self) -> None:
        """Room for a target, and what labels mean, as things are now."""
        targets = self.owner._targets()
        self.target = targets.room()
        self.rows: Rows = self.packer.rows
        self.room = self.model.start.slots - 2  # the last two: the blank slot, the constant coordinate
        self.packer.blank = self.room if self.owner._has_blank else -1
        self.coded = targets.coded()
        self.shape = self.model.start

    def take(self, x: Example) -> None:
        """Pack an example that was checked, to learn from it; make room for its new names."""
        self.packer.take(x, tuple(x))
        self.make_room()
        self.slots.fresh.clear()

    def make_room(self) -> None:
        """Slots for the names just taken in; they are the model's once `fresh` is cleared."""
        owner, fresh = self.owner, self.slots.fresh
        if fresh and not owner._columns.by_name:
            try:
                owner._columns.refuse_names(fresh)
            except BadInput:
                self.give_back()
                raise
            owner._columns = owner._columns._replace(by_name=True)
        self.model.features = len(self.slots)
        if len(self.slots) > self.room:
            owner._widen(self.model, len(self.slots) + 1)  # the blank slot stays free
        if self.model.start is not self.shape or self.packer.rows is not self.rows:
            self.bind()

    def give_back(self) -> None:
        """The names of a refused example."""
        self.slots.give_back()
        self.packer.names = None

    def ask(self, x: Example) -> None:
        """Pack an example to answer it; names that are new count as 0."""
        packer = self.packer
        if not isinstance(x, Mapping):
            packer.refuse(x)
        names = tuple(x)
        try:
            known = packer.ask(x, names)
        except (TypeError, struct.error):
            packer.refuse(x)
            raise
        columns = self.owner._columns
        if not known and not columns.by_name:
            columns.refuse_names([name for name in names if name not in self.slots])
        if packer.rows is not self.rows:
            self.bind()

    def row_for(self, x: Example) -> Rows:
        """One dict as a row to be answered."""
        self.ask(x)
        return self.packer.rows

    def learn(self, x: Example, weight: float, trace: np.ndarray = NO_TRACE) -> tuple[Any, ...]:
        """Play one round; example and target are in place, and checked. A `Tally`, as a tuple."""
        raise NotImplementedError

    def scores(self, x: Example) -> np.ndarray:
        """Scores of one dict, by the average where one is kept."""
        raise NotImplementedError

    def learn_fast(self, x: Example, y: object) -> bool:
        """A round of weight 1 whose label is known; False, and nothing changed, where it is not so."""
        return False

    def guess(self, x: Example) -> float:
        """What `decide` says of one dict, where `answers` are there."""
        raise NotImplementedError

    def check(self, x: Example) -> None:
        """Refuse an example that cannot be learned from."""
        self.packer.check(x)


class BoundStream(Stream):
    """Weights: the compiled entries are bound to the model's arrays."""

    entries: BoundEntries | None = None

    def bind(self) -> None:
        """Bind the compiled entries to the arrays as they are now."""
        super().bind()
        entries = self.entries = self.entries or BoundEntries()
        entries.bind(self.model, self.packer.rows, self.target)
        self.learn_entry, self.guess_entry, self.single = (
            entries.learn_entry, entries.guess_entry, entries.single
        )  # fmt: skip
        self.plain, self.arrays, self.chosen, self.scratch = entries.learned
        self.quick = self.coded is not None and getattr(self.owner, "class_weight", None) is None
        self.answers = None if entries.averaged else self.owner._targets().answers()

    def _entries(self) -> BoundEntries:
        assert self.entries is not None
        return self.entries

    def learn(self, x: Example, weight: float, trace: np.ndarray = NO_TRACE) -> tuple[Any, ...]:
        """Play one round; example and target are in place, and checked."""
        tally = self._entries().learn(weight, trace)
        if not tally[1]:
            self.packer.refuse(x)
        return tally

    def learn_fast(self, x: Example, y: Any) -> bool:
        """A round of weight 1 whose label is known; False, and nothing changed, where it is not so."""
        packer, fresh, coded = self.packer, self.slots.fresh, self.coded
        try:
            target = None if coded is None else coded.get(y)
            if target is None or type(x) is not dict:
                return False
            names = tuple(x)
            if names == packer.names:
                packer.rewrite(tuple(x.values()))
            else:
                packer.take(x, names)
                if fresh or packer.rows is not self.rows:
                    self.make_room()
        except BadInput:
            raise
        except (TypeError, ValueError, struct.error):
            self.give_back()
            return False
        self.target[0] = target
        model = self.model
        tally = self.learn_entry(
            self.plain, self.arrays, self.chosen, model.clock, self.scratch, NO_TRACE, 0, 0, 1
        )
        if not tally[1]:
            self.give_back()
            return False
        if fresh:
            fresh.clear()
        model.clock = tally[0]
        return True

    def guess(self, x: Example) -> float:
        """What `decide` says of one dict, by the running weights."""
        packer = self.packer
        names = tuple(x) if type(x) is dict else None
        try:
            if names is not None and names == packer.names:
                packer.names = names  # the same objects in a moment: learn_one compares by identity
                packer.rewrite(tuple(x.values()))
            else:
                self.ask(x)
            guess: float = self.guess_entry(*self.single, self.model.clock)
        except BadInput:
            raise
        except (ValueError, struct.error):  # (an array among the values has no truth)
            packer.refuse(x)
            raise
        if guess != guess:
            packer.refuse(x)
        return guess

    def scores(self, x: Example) -> np.ndarray:
        """Scores of one dict, by the average where one is kept."""
        self.ask(x)
        if not self._entries().answer():
            self.packer.refuse(x)
        return self._entries().out


class ModelStream(Stream):
    """Through the model: a row of the owner's making, a uniform where it draws."""

    def learn(self, x: Example, weight: float, trace: np.ndarray = NO_TRACE) -> tuple[Any, ...]:
        """Play one round; example and target are in place, and checked."""
        model = self.model
        weights = NONE if weight == 1.0 else np.full(1, weight)
        rows, luck = self.owner._row_of_dict(self.packer.rows), self.owner._luck(model, 1, weights)
        model.open(1)
        tally = model.learn(Examples(rows, self.target, weights, luck, NO_ORDER), 0, 1, trace)
        if not tally.stopped:
            self.packer.refuse(x)
        return tuple(tally)

    def row_for(self, x: Example) -> Rows:
        """One dict as a row to be answered."""
        return self.owner._row_of_dict(super().row_for(x))

    def scores(self, x: Example) -> np.ndarray:
        """Scores of one dict, by the average where one is kept."""
        scores, done = self.model.scores(self.row_for(x), 1, self.model.start.average)
        if not done:
            self.packer.refuse(x)
        return scores


class DistanceStream(ModelStream):
    """Kernels: names never met get columns beyond all others, for distances count them."""

    taken: list[Hashable]

    def take(self, x: Example) -> None:
        """Pack an example that was checked, to learn from it; its new names get columns."""
        self.packer.take(x, tuple(x))
        self.make_room()
        self.taken = list(self.slots.fresh)
        self.slots.fresh.clear()

    def learn(self, x: Example, weight: float, trace: np.ndarray = NO_TRACE) -> tuple[Any, ...]:
        """Play one round; example and target are in place, and checked."""
        try:
            return super().learn(x, weight, trace)
        except BadInput:  # a kernel of the user's: nothing was learned, its names go
            for name in self.taken:
                self.slots.pop(name, None)
            self.model.features, self.packer.names = len(self.slots), None
            raise

    def row_of(self, x: Example) -> Sparse:
        """One dict as a row; names never met get columns beyond all others."""
        slots, beyond, columns = self.slots, len(self.slots), self.owner._columns
        if not isinstance(x, Mapping):
            self.packer.refuse(x)
        new = [name for name in x if name not in slots]
        if new and not columns.by_name and len(new) == len(x):
            columns.refuse_names(new)
        further = {name: beyond + number for number, name in enumerate(new)}
        places = [slots[name] if name in slots else further[name] for name in x]
        values = np.array(list(x.values()), np.float64)
        return Sparse(values, np.array(places, np.uint32), np.array([0, len(places)], np.int32), 0.0)

    def row_for(self, x: Example) -> Rows:
        """One dict as a row to be answered."""
        if not isinstance(x, Mapping) or not self.packer.is_fine(x):
            self.packer.refuse(x)
        return self.row_of(x)

    def scores(self, x: Example) -> np.ndarray:
        """Scores of one dict, by the average where one is kept."""
        return self.model.scores(self.row_for(x), 1, self.model.start.average)[0]


def open_stream(owner: Learner, y: object = None, asking: Asking | None = None) -> Stream:
    """The stream of a learner's model; a model is begun if there is none."""
    owner._form().refuse_streams()
    if owner._model is None:
        with owner._all_or_nothing():
            owner._targets().begin(y)
            slots, by_name = owner._first_names()
            owner._columns = owner._columns._replace(
                slots=slots, by_name=by_name, width=0 if by_name else len(slots)
            )
            model = owner._model = owner._new_model(max(8, len(slots) + 1), asking)
            model.features = len(slots)
            owner._form().check_start(model)
    else:
        owner._columns = owner._columns.with_names()
    model, slots = owner._fitted(), owner._columns.named
    owner._refresh(model)
    owner._widen(model, len(slots) + 1)  # one slot stays blank, for names not met yet
    owner._stream = owner._form().stream(model, slots)
    return owner._stream


def ready_round(
    owner: Learner, x: Example, y: object, w: float, asking: Asking | None = None
) -> tuple[Stream, float]:
    """The stream with example and target in place, and what the example weighs; all is checked first."""
    targets = owner._targets()
    weight, weighting = 1.0 if w == 1.0 else owner._weigh(w), targets.weighting()
    targets.check_alone(y)
    with owner._all_or_nothing():
        stream: Stream = owner._stream or open_stream(owner, y, asking)
        stream.check(x)
        owner._form().check_example(stream, x)
        targets.check(y)
        new = [name for name in x if name not in stream.slots]
        if new and not owner._columns.by_name:
            owner._columns.refuse_names(new)
        stream.take(x)
        if not stream.model.clock:
            row = stream.packer.rows
            owner._form().fix_first(stream.model, row.values[: row.starts[1]])
            stream.bind()
    return stream, targets.put(stream, x, y, weight, weighting)


def is_unseen(owner: Learner, x: Example, y: object, w: object) -> bool:
    """A weight of 0: the example is checked and not seen; nothing grows."""
    if w == 1.0 or owner._weigh(w) > 0.0:
        return False
    check_example(x)
    before = dict(owner.__dict__)
    try:
        if owner._model is None:
            owner._targets().begin(y)
        owner._targets().check(y)
    finally:
        owner.__dict__ = before
    return True


def check_example(x: Example) -> None:
    """Refuse what is no dict of finite numbers."""
    Packer(Slots(), 1.0).check(x)


def learn_many(owner: Learner, X: Any, y: Any, w: Any) -> None:
    """Learn a frame's rows in order: equal to the loop of `learn_one`."""
    with owner._all_or_nothing():
        answers = None if y is None else label_array(y)
        if answers is None and owner._supervised:
            raise BadInput(f"{type(owner).__name__} requires y to be passed, but the target y is None")
        if answers is not None and len(answers) != len(X):
            raise BadInput(f"got {len(X)} rows and {len(answers)} targets; wanted one each")
        open_stream(owner, None if answers is None or not len(answers) else answers[0])
        owner._columns = owner._columns._replace(slots=Slots(owner._columns.slots or ()))
        model = owner._model = owner._fitted().copy()
        owner._targets().own()
        table = owner._named_table(X)
        if not model.clock:
            first = table.data[: table.indptr[1]] if table.shape[0] else np.zeros(0)
            owner._form().fix_first(model, first)
        targets = owner._targets().read_many(answers, table.shape[0])
        model.open(table.shape[0])
        with owner._naming_rows(table):
            owner._game(model, owner._training_set(table, targets, w)).play()
        owner._stream = None


def predict_many(
    owner: Learner, X: Any, one: Callable[[Example], Any], many: Callable[[Any], np.ndarray]
) -> Any:
    """A frame's answers as a series; of label sets, as a frame."""
    try:
        import pandas as pd
    except ImportError:
        raise extra("pandas", "frames") from None
    if owner._model is None:
        return pd.Series([one({})] * len(X), index=X.index)
    answers = many(X)
    if answers.ndim == 2:
        return pd.DataFrame(answers, index=X.index, columns=owner.known_labels())
    return pd.Series(answers, index=X.index)
