"""The dict face: one example at a time, new features and new labels at any time."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, BadType, extra
from ..features.slots import Packer, Slots
from ..models.weights import Model
from .labels import label_array
from .river_face import RiverFace
from .stream import Stream


class DictFace(RiverFace):
    """River's way to call a learner."""

    def _new_target(self) -> np.ndarray:
        """Room for one target: a number, or a row of 0 and 1 for a set of labels."""
        labels = getattr(self, "_labels", None)
        return np.zeros((1, len(labels.known))) if labels is not None and labels.sets else np.zeros(1)

    def _coded(self) -> dict[Any, float] | None:
        """What each label means to the loop; None where the target is no single label."""
        return None

    def _open(self, y: Any = None) -> Stream:
        """The stream of this model; a model is begun if there is none."""
        me: Any = self
        if me._model is None:
            with me._all_or_nothing():
                me._begin_stream(y)
                me._slots, me._by_name = self._first_names()
                me._width = 0 if me._by_name else len(me._slots)
                me._model = me._new_model(max(8, len(me._slots) + 1))
                me._model.live[0] = len(me._slots)
                me._check_start(me._model)
        elif me._slots is None:
            me._slots = Slots(range(me._width))
        me._refresh(me._model)
        me._widen(me._model, len(me._slots) + 1)  # one slot stays blank, for names not met yet
        me._stream = self._new_stream(me._model, me._slots)
        stream: Stream = me._stream
        return stream

    def _new_stream(self, model: Model, slots: Slots) -> Stream:
        return Stream(self, model, slots)

    def _check_example(self, x: Mapping[Hashable, Any]) -> None:
        """Refuse what the learner cannot take, beside NaN and the like; called before anything grows."""

    def _first_names(self) -> tuple[Slots, bool]:
        """Features known before the first example; are they names, or numbers of columns?"""
        return Slots(), True

    def _begin_stream(self, y: Any) -> None:
        """What a subclass must know before the first example."""

    def _refuse_names(self, names: list[Hashable]) -> None:
        """A model fitted on arrays knows its features by number; one fitted on a frame may grow."""
        me: Any = self
        by_number = all(isinstance(name, int) for name in me._slots if name not in names)
        if by_number and any(not isinstance(name, int) for name in names):
            raise BadInput(
                f"feature {names[0]!r} is a name, but this model was fitted on arrays; use column numbers "
                "0, 1, ... as names"
            )

    def _ready(self, x: Mapping[Hashable, Any], y: Any) -> Stream:
        """The stream with x packed and its new features taken in; all is checked first."""
        me: Any = self
        with me._all_or_nothing():
            stream: Stream = me._stream or self._open(y)
            stream.packer.check(x)
            self._check_example(x)
            self._check_answer(y)
            new = [name for name in x if name not in stream.slots]
            if new and not me._by_name:
                self._refuse_names(new)
            stream.take(x)
            if not stream.model.clock:
                row = stream.packer.rows
                self._fix(stream.model, row.values[: row.starts[1]])
                stream.bind()
        return stream

    def _fix(self, model: Model, values: np.ndarray) -> None:
        """What the first example, with these values, decides for good."""

    def _is_unseen(self, x: Mapping[Hashable, Any], y: Any, w: Any) -> bool:
        """A weight of 0: the example is checked and not seen; nothing grows."""
        if w == 1.0 or self._weigh(w) > 0.0:
            return False
        me: Any = self
        Packer(Slots(), 1.0).check(x)
        before = dict(me.__dict__)
        try:
            if me._model is None:
                self._begin_stream(y)
            self._check_answer(y)
        finally:
            me.__dict__ = before
        return True

    def _answers(self) -> dict[float, Any] | None:
        """Guesses of the loop as labels; None where the answer is no single label."""
        return None

    def _check_answer(self, y: Any) -> None:
        """Raise if y cannot be learned from; called before anything grows."""

    def _forget(self) -> None:
        me: Any = self
        me._model = me._slots = me._stream = None
        me._by_name = False
        if me.random_state is not None:  # a generator of the user's gives each fit its own draws
            me._entropy = None
        if hasattr(me, "_labels"):
            me._labels = None

    def _weigh(self, w: Any) -> float:
        """An example's weight, checked."""
        weight = float(w) if isinstance(w, int | float | np.number) else float("nan")
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
            raise me._not_finite(values, int(np.argmax(~np.isfinite(lengths))), names=names)
        new = [name for name in names if name not in me._slots]
        if new and not me._by_name:
            self._refuse_names(new)
        if new:
            me._slots = Slots([*me._slots, *new])
            me._by_name = True
            me._widen(me._model, len(me._slots))
            me._model.live[0] = len(me._slots)
        into = np.array([me._slots[name] for name in names], np.int32)
        table = sp.csr_matrix(values)
        shape = (len(values), max(len(me._slots), 1))
        return sp.csr_matrix((table.data, into[table.indices], table.indptr), shape=shape)

    def learn_many(self, X: Any, y: Any = None, w: Any = None) -> None:
        """Learn a frame's rows in order: equal to the loop of `learn_one`."""
        me: Any = self
        with me._all_or_nothing():
            answers = None if y is None else label_array(y)
            if answers is None and self._supervised:
                raise BadInput(f"{type(self).__name__} requires y to be passed, but the target y is None")
            if answers is not None and len(answers) != len(X):
                raise BadInput(f"got {len(X)} rows and {len(answers)} targets; wanted one each")
            self._open(None if answers is None or not len(answers) else answers[0])
            me._slots = Slots(me._slots)
            me._model = me._model.copy()
            if getattr(me, "_labels", None) is not None:
                me._labels = copy.deepcopy(me._labels)
            table = self._named_table(X)
            if not me._model.clock:
                self._fix(me._model, table.data[: table.indptr[1]] if table.shape[0] else np.zeros(0))
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
        answers = me.predict(X)
        if answers.ndim == 2:
            return pd.DataFrame(answers, index=X.index, columns=me.classes_)
        return pd.Series(answers, index=X.index)
