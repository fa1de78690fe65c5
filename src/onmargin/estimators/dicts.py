"""The dict face: one example at a time, new features and new labels at any time.

A dict is packed into one reserved sparse row and played by the very same compiled loop, through
its bound entry.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compiled.parts import Part, bound
from ..errors import BadInput, BadType, extra
from ..features.slots import Packer, Slots, add_names
from ..learn.model import NO_TRACE, Model
from ..learn.vocabulary import Examples
from .lessons import NO_ORDER, NONE
from .river_face import RiverFace


class Stream:
    """A model bound to its dict face. Made anew whenever the model takes on another shape."""

    def __init__(self, owner: Any, model: Model, slots: Slots) -> None:
        self.owner, self.model, self.slots = owner, model, slots
        self.packer = Packer(slots, owner._bias)
        self.bind()

    def bind(self) -> None:
        """Compile (or fetch) the entries for the arrays as they are now."""
        model, rows = self.model, self.packer.rows
        width = self.owner._target_width(model)
        self.target = np.zeros((1, width)) if width else np.zeros(1)
        self.weight = np.ones(1)
        self.out = np.zeros((1, model.start.outputs))
        self.plain = Examples(rows, self.target, NONE, NONE, NO_ORDER)
        self.weighted = Examples(rows, self.target, self.weight, NONE, NO_ORDER)
        self.space, self.hyper, self.desk = model.space, model.hyper, model.desk
        learn = (self.plain, self.space, self.hyper, 0, self.desk, NO_TRACE, 0, 0, 1)
        answer = (rows, self.space, self.hyper, self.desk.scores, self.out, 0, 1)
        single = answer[:4]
        self.learn_entry: Part = bound(model.recipe.learner(), learn)
        self.answer_entry: Part = bound(model.recipe.answerer(), answer)
        self.single_entry: Part = bound(model.recipe.single(), single)
        self.single = single
        self.arguments = learn
        linear = hasattr(self.space, "drift") and not hasattr(self.space, "point")
        averaged = bool(self.space.drift.size)
        self.shadow = self.space._replace(weights=self.space.drift) if averaged and linear else None
        self.mean = averaged and not linear
        self.averaged = averaged
        self.rows = rows
        self.coded: dict[Any, float] | None = self.owner._coded()

    def learn(
        self, x: Mapping[Hashable, Any], weight: float, trace: np.ndarray = NO_TRACE
    ) -> tuple[Any, ...]:
        """Play one round; the target is already in place."""
        if weight == 1.0:
            examples = self.plain
        else:
            examples, self.weight[0] = self.weighted, weight
        model = self.model
        tally: tuple[Any, ...] = self.learn_entry(
            examples, self.space, self.hyper, model.clock, self.desk, trace, 0, 0, 1
        )
        if not tally[1]:
            self.packer.refuse(x)
        model.clock = tally[0]
        return tally

    def learn_fast(self, x: Mapping[Hashable, Any], y: Any) -> bool:
        """A round of weight 1 whose names and label are known; False where it is anything else."""
        packer = self.packer
        try:
            names = tuple(x)
            if names == packer.names:
                packer.write(packer.values, 0, *x.values())
            elif packer.rename(x, names):
                return False
            target = self.coded.get(y)  # type: ignore[union-attr]
        except (AttributeError, TypeError, struct.error):
            return False
        if target is None or packer.rows is not self.rows:
            return False
        self.target[0] = target
        model, arguments = self.model, self.arguments
        tally = self.learn_entry(
            arguments[0], self.space, self.hyper, model.clock, self.desk, NO_TRACE, 0, 0, 1
        )
        if not tally[1]:
            packer.refuse(x)
        model.clock = tally[0]
        return True

    def guess(self, x: Mapping[Hashable, Any]) -> float:
        """What `decide` says of one dict, by the running weights."""
        packer = self.packer
        names = tuple(x)
        try:
            if names == packer.names:
                packer.write(packer.values, 0, *x.values())
            else:
                new = packer.rename(x, names)
                if packer.rows is not self.rows:
                    self.bind()
                if new and not self.owner._by_name:
                    self.owner._refuse_names(new)
        except (AttributeError, TypeError, struct.error):
            packer.refuse(x)
            raise
        guess: float = self.single_entry(*self.single)
        if guess != guess:
            packer.refuse(x)
        return guess

    def pack(self, x: Mapping[Hashable, Any]) -> list[Hashable] | None:
        """Fill the reserved row; the names that have no slot."""
        try:
            new = self.packer.pack(x)
        except (TypeError, AttributeError):
            self.packer.refuse(x)
            raise
        if self.packer.rows is not self.rows:
            self.bind()
        return new

    def scores(self, x: Mapping[Hashable, Any]) -> np.ndarray:
        """Scores of one dict, by the average where one is kept; unknown names count as 0."""
        new = self.pack(x)
        if new and not self.owner._by_name:
            self.owner._refuse_names(new)
        space, out = self.space, self.out
        if self.mean:
            space = space._replace(weights=self.model.mean_weights())
        if not self.answer_entry(self.rows, space, self.hyper, self.desk.scores, out, 0, 1):
            self.packer.refuse(x)
        if self.shadow is not None:
            running = out[0].copy()
            self.answer_entry(self.rows, self.shadow, self.hyper, self.desk.scores, out, 0, 1)
            out[0] = running - out[0] / max(self.model.clock, 1)
        return out

    def grow(self, x: Mapping[Hashable, Any], names: list[Hashable]) -> None:
        """New features: check the example first, then make room and pack it again."""
        self.packer.refuse(x)
        owner = self.owner
        if not owner._by_name:
            owner._refuse_names(names)
        add_names(self.slots, names)
        owner._by_name = True
        owner._widen(self.model, len(self.slots))
        self.bind()
        self.pack(x)


class DictFace(RiverFace):
    """River's way to call a learner."""

    def _target_width(self, model: Model) -> int:
        """Columns of the target, 0 where it is one number."""
        labels = getattr(self, "_labels", None)
        return len(labels.known) if labels is not None and labels.sets else 0

    def _coded(self) -> dict[Any, float] | None:
        """What each label means to the loop; None where the target is no single label."""
        return None

    def _open(self, y: Any = None) -> Stream:
        """The stream of this model; a model is begun if there is none."""
        me: Any = self
        if me._model is None:
            me._begin_stream(y)
            me._slots, me._by_name = {}, True
            me._model = me._new_model(8)
            me._check_start(me._model)
        elif me._slots is None:
            me._slots = {}
            add_names(me._slots, range(me._width))
        me._refresh(me._model)
        me._stream = Stream(me, me._model, me._slots)
        stream: Stream = me._stream
        return stream

    def _begin_stream(self, y: Any) -> None:
        """What a subclass must know before the first example."""

    def _refuse_names(self, names: list[Hashable]) -> None:
        """A model fitted on arrays knows its features by number; one fitted on a frame may grow."""
        me: Any = self
        by_number = all(isinstance(name, int) for name in me._slots)
        if by_number and any(not isinstance(name, int) for name in names):
            raise BadInput(
                f"feature {names[0]!r} is a name, but this model was fitted on arrays; use column numbers "
                "0, 1, ... as names"
            )

    def _ready(self, x: Mapping[Hashable, Any], y: Any) -> Stream:
        """The stream with x packed and its new features taken in."""
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is None:
            fresh = self._model is None  # type: ignore[attr-defined]
            stream = self._open(y)
            if fresh:
                try:
                    stream.packer.refuse(x)
                    self._check_answer(y)
                except Exception:
                    self._forget()
                    raise
        new = stream.pack(x)
        if new:
            self._check_answer(y)
            stream.grow(x, new)
        return stream

    def _check_answer(self, y: Any) -> None:
        """Raise if y cannot be learned from; called before anything grows."""

    def _forget(self) -> None:
        me: Any = self
        me._model = me._slots = me._stream = None
        me._by_name = False
        if hasattr(me, "_labels"):
            me._labels = None

    def _weigh(self, w: Any) -> float:
        """An example's weight, checked."""
        weight = float(w)
        if not 0.0 <= weight < float("inf"):
            raise BadInput(f"the weight is {w!r}; wanted a finite number of at least 0")
        return weight

    # ---- many at once, by name

    def _named_table(self, X: Any) -> Any:
        """A frame (or list of dicts) as CSR whose columns are slots; new names get one."""
        me: Any = self
        if not hasattr(X, "columns"):
            raise BadType(f"got {type(X).__name__}; wanted a frame with column names")
        names = list(X.columns)
        values = np.asarray(X, dtype=np.float64)
        lengths = np.einsum("ij,ij->i", values, values)
        if not np.isfinite(lengths).all():
            raise me._not_finite(values, int(np.argmax(~np.isfinite(lengths))))
        new = [name for name in names if name not in me._slots]
        if new and not me._by_name:
            self._refuse_names(new)
        if new:
            add_names(me._slots, new)
            me._by_name = True
            me._widen(me._model, len(me._slots))
        into = np.array([me._slots[name] for name in names], np.int32)
        table = sp.csr_matrix(values)
        shape = (len(values), max(len(me._slots), 1))
        return sp.csr_matrix((table.data, into[table.indices], table.indptr), shape=shape)

    def learn_many(self, X: Any, y: Any = None, w: Any = None) -> None:
        """Learn a frame's rows in order: equal to the loop of `learn_one`."""
        me: Any = self
        with me._all_or_nothing():
            answers = None if y is None else np.asarray(y)
            self._open(None if answers is None or not len(answers) else answers[0])
            me._slots = dict(me._slots)
            me._model = me._model.copy()
            table = self._named_table(X)
            me._learn_rows(table, answers, w)
            me._stream = None

    def predict_many(self, X: Any) -> Any:
        """A frame's answers as a series."""
        try:
            import pandas as pd
        except ImportError:
            raise extra("pandas", "frames") from None
        me: Any = self
        if me._model is None:
            return pd.Series([self.predict_one({})] * len(X), index=X.index)  # type: ignore[attr-defined]
        return pd.Series(me.predict(X), index=X.index)
