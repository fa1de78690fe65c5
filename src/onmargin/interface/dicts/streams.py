"""One example at a time, as a dict: new features and new labels at any time.

Two streams. `BoundStream` packs a dict into one reserved sparse row and plays it through the bound entry of
the very same compiled loop (a few microseconds). `ModelStream` hands the row to a copy of the model, where a
round needs more than the row at hand: kernels, reservoirs, coins, rows that are scaled (but see `in_place`).

A stream is used with its lock held: one reserved row serves all threads, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiled.rows import Rows
from ...errors import BadInput, extra
from ...features.slots import NO_NUMBER, Packer, Slots
from ...features.slots import Example as Example
from ...learn.spaces.arrays import Start
from ...learn.vocabulary import NO_ORDER, NO_TRACE, NONE, Examples
from ...models.asking import Asking
from ...models.bound import BoundEntries
from ...models.weights import Model
from ..guard import NOBODY
from ..parameters.draws import seed_of
from ..parameters.fixed import any_row, fix, fixed_by, is_unfixed
from ..runs.passes import naming_rows
from ..tables import Columns, named_table
from ..targets.labels import label_array
from ..twins import own, retire
from .quick import Answer, Learn, quick_answerer, quick_learner

if TYPE_CHECKING:
    from ..learner import Learner

DRAWN = 64  # uniforms drawn at a time
FEW = 5_000  # features up to which room is made in fours
Shapes = tuple[Columns, tuple[Start, Any]]
"""Columns, and the layout of a model."""


class Stream:
    """A model bound to its dicts. Made anew whenever the model takes on another shape."""

    binding: object = None  # another whenever it is bound anew; None: retired, the learner has another stream
    learn_fast: Learn  # the short way of a plain round; False, and nothing changed, where it cannot be gone
    answer: Answer  # for one dict
    settled = False  # a learner around this one has looked at its own parameters, and nothing changed since
    learns = False  # a question's stream may stand on a copy of the model: nothing is learned through it
    answers: dict[float, Any] | None = None  # guesses of the loop as labels, where the loop may guess

    def __init__(self, owner: Learner, model: Model, slots: Slots, learns: bool) -> None:
        self.owner, self.model, self.slots, self.learns = owner, model, slots, learns
        self.guard = owner._guard or NOBODY
        self.lock = self.guard.lock
        self.known = len(slots)  # names that are the model's; those after them are of the round at hand
        self.packer = Packer(slots, owner._bias)
        self.bind()

    def bind(self) -> None:
        """Room for a target, and what labels mean, as things are now."""
        targets, self.binding = self.owner._targets(), object()
        self.target = targets.room()
        self.rows: Rows = self.packer.rows
        self.room = self.model.start.slots - 2  # the last two: the blank slot, the constant coordinate
        blank = self.owner._has_blank and self.room >= len(self.slots)
        self.packer.blank = self.room if blank else -1
        stands = (
            blank and self.owner._columns.by_name and self.model.is_flat
        )  # for names never met; else `ask`
        self.packer.leave_unmet(self.room if stands else -1)
        self.coded = targets.coded()
        self.shape: Start | None = self.model.start
        self.learn_fast, self.answer = never, self.answer_slowly

    def begin(self) -> None:
        """A round begins: what it changes before it is played is not the learner's."""

    def take(self, x: Example) -> None:
        """Pack an example that was checked, to learn from it; make room for its new names."""
        self.packer.take(x, list(x))
        self.make_room()

    def make_room(self) -> None:
        """Slots for the names just taken in."""
        owner = self.owner
        if len(self.slots) > self.known and not owner._columns.by_name:
            owner._columns.refuse_names(self.slots.after(self.known))
            owner._columns, self.shape = owner._columns._replace(by_name=True), None
        self.model.features = len(self.slots)
        if len(self.slots) > self.room:
            wanted, have = len(self.slots) + 1, self.room + 1  # the blank slot stays free
            if have < FEW and not self.model.is_square:  # names come fast at first
                wanted = max(wanted, 4 * have, 64)
            owner._widen(self.model, wanted)
        if self.model.start is not self.shape or self.packer.rows is not self.rows:
            self.bind()

    def fix(self) -> None:
        """The first example with a length, packed, fixes what is left to the data."""
        owner, rows = self.owner, self.packer.rows._replace(bias=0.0)
        square = float(self.model.lengths(rows, 1)[0])
        if square or any_row(owner):
            fix(owner, self.model, square)
            self.packer.use_constant(owner._bias)
            self.bind()

    def keep(self) -> None:
        """The round was played: its names are the model's."""
        self.known = len(self.slots)

    def ask(self, x: Example) -> None:
        """Pack an example to answer it; names that are new count as 0."""
        packer = self.packer
        if not isinstance(x, Mapping):
            packer.refuse(x)
        names = list(x)
        try:
            known = packer.ask(x, names)
        except NO_NUMBER:
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

    def play(self, x: Example, weight: float) -> None:
        """`learn`, where nobody asks what the round came to."""
        self.learn(x, weight)

    def retire(self) -> None:
        """Nothing is learned or answered by it any more; it keeps no model. Who holds it asks the learner."""
        self.binding, self.learn_fast, self.answer = None, never, self.answer_slowly
        for name in ("model", "entries", "support", "looked", "pairs"):
            self.__dict__.pop(name, None)

    def answer_slowly(self, x: Example) -> Any:
        """The answer for one dict."""
        with self.lock:
            return self.answer_any(x)

    def answer_any(self, x: Example) -> Any:
        """The answer for one dict, with the lock held."""
        if self.binding is None:
            return self.owner.predict_one(x)
        return self.owner._targets().named_one(self.scores(x))

    def decided(self, x: Example) -> tuple[Any, list[float]]:
        """The answer for one dict and its scores as decisions are, with the lock held."""
        scores, targets = self.scores(x), self.owner._targets()
        decisions = targets.decisions(scores) if targets.sets else scores
        return targets.named_one(scores), np.asarray(decisions)[0].tolist()

    def check(self, x: Example) -> None:
        """Refuse an example that cannot be learned from."""
        self.packer.check(x)


def never(*given: object) -> Any:
    """Nothing is plain."""


class BoundStream(Stream):
    """Weights: the compiled entries are bound to the model's arrays."""

    entries: BoundEntries | None = None
    shapes: Shapes | None = None  # what the model was before it grew for the round at hand

    def bind(self) -> None:
        """Bind the compiled entries to the arrays as they are now."""
        super().bind()
        entries = self.entries = self.entries or BoundEntries()
        entries.bind(self.model, self.packer.rows, self.target)
        targets = self.owner._targets()
        code = targets.coder(self.coded)
        self.code = code or never
        plain = code is not None and getattr(self.owner, "class_weight", None) is None
        self.answers = None if entries.spelled else targets.answers()
        if plain and self.learns and not is_unfixed(self.owner):
            self.learn_fast = quick_learner(self, entries)
        if self.answers:
            self.answer = quick_answerer(self, entries, self.answers)

    def _entries(self) -> BoundEntries:
        assert self.entries is not None
        return self.entries

    def learn(self, x: Example, weight: float, trace: np.ndarray = NO_TRACE) -> tuple[Any, ...]:
        """Play one round; example and target are in place, and checked."""
        tally = self._entries().learn(weight, trace)
        if not tally[1]:
            self.packer.refuse(x)
        self.keep()
        return tally

    def play(self, x: Example, weight: float) -> None:
        """`learn`, where nobody asks what the round came to."""
        if weight != 1.0 or self.target.ndim > 1:
            self.learn(x, weight)
            return
        if not self._entries().play(float(self.target[0])):
            self.packer.refuse(x)
        self.keep()

    def learn_grown(self, target: float) -> bool:
        """A plain round, packed, whose names are new, or too many for the row there was."""
        if len(self.slots) > self.known:
            self.shapes = self.owner._columns, self.model.layout
        self.make_room()
        played = self._entries().play(target)
        if played:
            self.shapes = None
            self.keep()
        else:
            self.give_back()
        return played

    def settle(self, clock: int) -> None:
        """After Ctrl-C, or without memory: the names stay where the round was played, at this clock."""
        if clock >= 0:
            self._entries().settle()
            if self.model.clock == clock:
                self.give_back()
            self.shapes = None
            self.keep()

    def give_back(self) -> None:
        """The names of a refused example, and the room that was made for them."""
        if len(self.slots) > self.known:
            self.model.features = self.known  # first: stopped here, it is done again
            self.slots.give_back(self.known)
        self.packer.forget()
        if self.shapes is not None:
            self.owner._columns, self.model.layout = self.shapes
            self.shapes = None
            self.bind()

    def answer_any(self, x: Example) -> Any:
        """The answer for one dict, with the lock held."""
        if self.answers is None or self.binding is None:
            return super().answer_any(x)
        self.ask(x)
        entries = self._entries()
        guess = entries.guess_entry(*entries.single, self.model.clock)
        if guess != guess:
            self.packer.refuse(x)
        return self.answers[guess]

    def decided(self, x: Example) -> tuple[Any, list[float]]:
        """The answer and its scores; where the loop guesses, those it has just guessed by."""
        if not self.answers:
            return super().decided(x)
        answer = self.answer(x)  # (which may bind other entries)
        return answer, self._entries().guessed()

    def scores(self, x: Example) -> np.ndarray:
        """Scores of one dict, by the average where one is kept."""
        self.ask(x)
        if not self._entries().answer():
            self.packer.refuse(x)
        return self._entries().out


class ModelStream(Stream):
    """Through a copy of the model: a row of the owner's making, a uniform where it draws."""

    drawn: tuple[int, int, np.ndarray] = (-1, 0, NONE)  # seed, the round of the first, uniforms

    def begin(self) -> None:
        """A copy: the learner has it once the round is played."""
        self.model = self.owner._fitted().for_round()

    def learn(self, x: Example, weight: float, trace: np.ndarray = NO_TRACE) -> tuple[Any, ...]:
        """Play one round; example and target are in place, and checked."""
        model = self.model
        weights = NONE if weight == 1.0 else np.full(1, weight)
        rows, luck = self.owner._row_of_dict(self.packer.rows), self._coin(model, weights)
        model.open(1)
        tally = model.learn(Examples(rows, self.target, weights, luck, NO_ORDER), 0, 1, trace)
        if not tally.stopped:
            self.packer.refuse(x)
        self.owner._model = model
        self.keep()
        return tuple(tally)

    def _coin(self, model: Model, weights: np.ndarray) -> np.ndarray:
        """The uniform of this round; those of rounds to come are kept ready."""
        if weights.size or not self.owner._draws:
            return self.owner._luck(model, 1, weights)
        seed, (known, first, coins) = seed_of(self.owner), self.drawn
        place = model.clock - first
        if known != seed or not 0 <= place < len(coins):
            coins, place = self.owner._luck(model, DRAWN, weights), 0
            self.drawn = seed, model.clock, coins
        return coins[place : place + 1]

    def row_for(self, x: Example) -> Rows:
        """One dict as a row to be answered."""
        return self.owner._row_of_dict(super().row_for(x))

    def scores(self, x: Example) -> np.ndarray:
        """Scores of one dict, by the average where one is kept."""
        scores, done = self.model.scores(self.row_for(x), 1, self.model.start.average)
        if not done:
            self.packer.refuse(x)
        return scores


def open_stream(owner: Learner) -> Stream:
    """A stream to ask: the learner stays as it is, also where names never met need room."""
    owner._form().refuse_streams()
    owner._check_lasting()
    owner._check_parameters()
    owner._columns = owner._columns.with_names()
    model, slots = owner._fitted(), owner._columns.named
    if not model.is_flat and model.start.slots - 1 <= len(slots):
        model = model.copy()
        owner._widen(model, len(slots) + 1)
    owner._stream = owner._form().stream(model, slots, False)
    return owner._stream


def learning_stream(owner: Learner, y: object = None, asking: Asking | None = None) -> Stream:
    """The stream of a learner's model; a model is begun if there is none."""
    if owner._stream is not None and owner._stream.learns:
        return owner._stream
    retire(owner)
    owner._form().refuse_streams()
    if owner._model is None:
        owner._targets().begin(y)
        slots, by_name = owner._first_names()
        owner._columns = owner._columns._replace(
            slots=slots, by_name=by_name, width=0 if by_name else len(slots)
        )
        model = owner._new_model(max(8, len(slots) + 1), asking)
        model.features = len(slots)
        owner._form().check_start(model)
        owner._model = model
    else:
        owner._columns = owner._columns.with_names()
    model, slots = owner._fitted(), owner._columns.named
    owner._refresh(model)
    if not model.is_flat:  # one slot stays blank, for names not met yet (to <w, x> they add nothing)
        owner._widen(model, len(slots) + 1)
    owner._stream = owner._form().stream(model, slots, True)
    return owner._stream


def ready_round(
    owner: Learner, x: Example, y: object, w: float, asking: Asking | None = None
) -> tuple[Stream, float]:
    """The stream with example and target in place, and what the example weighs; all is checked first."""
    targets = owner._targets()
    weight, weighting = 1.0 if w == 1.0 else owner._weigh(w), targets.weighting()
    targets.check_alone(y)
    stream = learning_stream(owner, y, asking)
    stream.check(x)
    owner._form().check_example(stream, x)
    targets.check(y)
    new = [name for name in x if name not in stream.slots]
    if new and not owner._columns.by_name:
        owner._columns.refuse_names(new)
    stream.begin()
    stream.take(x)
    if not stream.model.clock:
        row = stream.packer.rows
        owner._form().fix_first(stream.model, row.values[: row.starts[1]])
        stream.bind()
    if is_unfixed(owner):
        stream.fix()
    return stream, targets.put(stream, x, y, weight, weighting)


def learn_one(owner: Learner, x: Example, y: object, w: float, asking: Asking | None = None) -> None:
    """A round of one dict, whatever it asks for. A weight of 0: it is checked and not seen; nothing grows."""
    if w == 1.0 or owner._weigh(w) > 0.0:
        stream, weight = ready_round(owner, x, y, w, asking)
        stream.play(x, weight)
    else:
        check_unseen(owner, x, y)


def check_unseen(owner: Learner, x: Example, y: object) -> None:
    """Refuse what could not be learned."""
    check_example(x)
    before = owner.__dict__
    owner.__dict__ = dict(before)
    try:
        if owner._model is None:
            owner._targets().begin(y)
        owner._targets().check(y)
    finally:
        owner.__dict__ = before


def check_example(x: Example) -> None:
    """Refuse what is no dict of finite numbers."""
    Packer(Slots(), 1.0).check(x)


def learn_many(owner: Learner, X: Any, y: Any, w: Any) -> None:
    """Learn a frame's rows in order: equal to the loop of `learn_one`."""
    answers = None if y is None else label_array(y)
    if answers is None and owner._supervised:
        raise BadInput(f"{type(owner).__name__} requires y to be passed, but the target y is None")
    if answers is not None and len(answers) != len(X):
        raise BadInput(f"got {len(X)} rows and {len(answers)} targets; wanted one each")
    own(owner)
    learning_stream(owner, None if answers is None or not len(answers) else answers[0])
    model = owner._fitted()
    table = named_table(owner, X)
    if not model.clock:
        first = table.data[: table.indptr[1]] if table.shape[0] else np.zeros(0)
        owner._form().fix_first(model, first)
    targets = owner._targets().read_many(answers, table.shape[0])
    model.open(table.shape[0])
    with naming_rows(owner, table):
        data = fixed_by(owner, model, table, owner._training_set(table, targets, w))
        owner._game(model, data).play()
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
