"""What every learner shares: its parameters, its state, and how a table reaches it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _get_feature_names, validate_data

from ..compiled.checks import first_not_finite
from ..compiled.rows import Rows
from ..errors import BadInput, BadType
from ..features.slots import Slots, add_names
from ..features.tables import entries, to_rows
from ..learn.model import Model
from ..learn.recipe import ALGORITHMS, Recipe
from ..learn.spaces.storage import Start
from .lessons import NONE, Lesson
from .renamed import RENAMED

DTYPES = [np.float64, np.float32]


class OnlineEstimator(BaseEstimator):  # type: ignore[misc]
    """State: `_model` (None before the first example), `_slots` (names), `_by_name`."""

    _model: Model | None = None
    _slots: Slots | None = None
    _by_name = False  # learned from dicts: columns are found by name
    _stream: Any = None  # the dict face, made on first use
    _entropy: int | None = None
    _width = 0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:
            cls.__init__ = _answering(cls.__init__)  # type: ignore[method-assign]

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):  # a parameter: the compiled dict face must be bound anew
            self.__dict__.pop("_stream", None)
        super().__setattr__(name, value)

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_stream", None)
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ---- what a subclass says of itself

    def _recipe_name(self) -> str:
        """The row of the table of algorithms."""
        raise NotImplementedError

    def _choices(self) -> dict[str, Any]:
        """The numbers of `Hyper` that the parameters set."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, each in one line."""
        for name in ("C", "intercept_scaling", "r", "a", "margin", "epsilon", "rate", "max_radius"):
            value = getattr(self, name, None)
            if value is not None:
                least_is_fine = name in ("margin", "epsilon")
                _require_positive(name, value, least_is_fine, name == "C")
        if getattr(self, "max_iter", 1) < 1:
            raise BadInput(f"max_iter={self.max_iter!r}; wanted a whole number of at least 1")
        if getattr(self, "dtype", "float64") not in ("float32", "float64"):
            raise BadInput(f"dtype={self.dtype!r}; wanted 'float32' or 'float64'")

    def _recipe(self) -> Recipe:
        return ALGORITHMS[self._recipe_name()]

    def _outputs(self) -> tuple[int, bool]:
        """How many outputs, and whether they lie side by side."""
        return 1, False

    @property
    def _bias(self) -> float:
        return float(self.intercept_scaling) if getattr(self, "fit_intercept", False) else 0.0

    # ---- state

    @property
    def n_features_in_(self) -> int:
        """Features known."""
        if self._model is None and not self._width:
            raise AttributeError("n_features_in_ is known after the first example")
        return len(self._slots) if self._by_name and self._slots is not None else self._width

    @n_features_in_.setter
    def n_features_in_(self, width: int) -> None:
        self._width = width

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, where they have names."""
        if not self._slots or not all(isinstance(name, str) for name in self._slots):
            raise AttributeError("feature_names_in_ is there where all features have text names")
        return np.array(list(self._slots), object)

    @feature_names_in_.setter
    def feature_names_in_(self, names: np.ndarray) -> None:
        slots: Slots = {}
        add_names(slots, names.tolist())
        self._slots = slots

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        self._slots = None

    @property
    def t_(self) -> int:
        """Rounds seen."""
        return self._fitted().clock

    def _fitted(self) -> Model:
        if self._model is None:
            raise NotFittedError(
                f"this {type(self).__name__} has seen no example yet; call fit, partial_fit or learn_one"
            )
        return self._model

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A call that fails leaves the estimator as it was."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _new_model(self, slots: int) -> Model:
        self._check_parameters()
        outputs, many = self._outputs()
        start = Start(
            slots + 1, outputs, many, bool(getattr(self, "average", False)),
            getattr(self, "dtype", "float64"), float(getattr(self, "a", 1.0)),
        )  # fmt: skip
        model = Model(self._recipe(), start, self._choices())
        self._begin(model, 0)
        return model

    def _begin(self, model: Model, known: int) -> None:
        """Set the weights of slots from `known` on to where they start (0 for most)."""

    def _widen(self, model: Model, slots: int) -> None:
        """Room for at least so many features; doubles, so that growth is cheap."""
        have = model.start.slots - 1
        if slots > have:
            model.widen(max(slots, 2 * have) + 1)
            self._begin(model, have)

    def _generator(self, purpose: int) -> np.random.Generator:
        """A generator of our own for each purpose, so that none disturbs another."""
        state = self.random_state
        if isinstance(state, np.random.RandomState):
            state = int(state.randint(2**31 - 1))
        if isinstance(state, np.random.Generator):
            state = int(state.integers(2**31 - 1))
        if state is None:
            if self._entropy is None:
                self._entropy = int(np.random.SeedSequence().generate_state(1)[0])
            state = self._entropy
        return np.random.default_rng([int(state), purpose])

    # ---- tables

    def _table(self, X: Any, *, reset: bool) -> Any:
        """A checked float array or CSR matrix whose columns are slots."""
        if self._by_name and not reset:
            return self._by_columns(X)
        options: dict[str, Any] = {
            "accept_sparse": "csr", "dtype": DTYPES, "ensure_all_finite": False,
        }  # fmt: skip
        if getattr(self, "growing", False) and not reset and self._model is not None:
            X = (
                validate_data(self, X, reset=False, skip_check_array=False, **options)
                if (_width_of(X) == self._width)
                else _checked_alone(self, X, options)
            )
            return X
        return validate_data(self, X, reset=reset, **options)

    def _by_columns(self, X: Any) -> Any:
        """A frame for a model that knows its features by name; columns it does not know are 0."""
        names = _get_feature_names(X)
        slots = self._slots or {}
        if names is None and hasattr(X, "columns"):
            names = np.array(list(X.columns), object)
        if names is None:
            raise BadInput(
                f"got {type(X).__name__} without column names; this model learned from dicts; give "
                "dicts or a frame with names"
            )
        values = np.asarray(X, dtype=np.float64)
        known = [j for j, name in enumerate(names.tolist()) if name in slots]
        into = np.array([slots[names[j]] for j in known], np.int32)
        table = sp.csr_matrix(values[:, known])
        return sp.csr_matrix(
            (table.data, into[table.indices], table.indptr), shape=(len(values), max(len(slots), 1))
        )

    def _rows(self, X: Any) -> Rows:
        return to_rows(X, self._bias)

    def _lesson(self, X: Any, y: Any, sample_weight: Any) -> Lesson:
        weights = _checked_weights(sample_weight, X.shape[0])
        return Lesson(self._rows(X), X.shape[0], y, weights)

    def _not_finite(self, X: Any, row: int, done: str = "nothing was learned") -> BadInput:
        """The line for a row that cannot be used."""
        values = X[[row]].toarray()[0] if sp.issparse(X) else np.asarray(X[row])
        bad = np.flatnonzero(~np.isfinite(values))
        if not bad.size:
            return BadInput(f"row {row} is too large: its squared length overflows; {done}; scale the values")
        names = list(self._slots or ())
        column = repr(names[bad[0]]) if bad[0] < len(names) else int(bad[0])
        kind = "NaN" if math.isnan(values[bad[0]]) else "infinity"
        return BadInput(f"row {row} has a {kind} in column {column}; {done}; impute or drop it")

    def _learning_copy(self, X: Any, lesson: Lesson) -> Model:
        """The model to learn on: itself after a sweep, or a copy, whichever costs less.

        Where the data is smaller than the model, all rows are checked first; otherwise the loop
        finds a bad row on its way and the copy is thrown away.
        """
        model = self._fitted()
        if entries(lesson.rows) > model.entries:
            return model.copy()
        bad = first_not_finite(lesson.rows, lesson.count)
        if bad < lesson.count:
            raise self._not_finite(X, bad)
        return model

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of every row, by the average where one is kept."""
        model = self._fitted()
        X = self._table(X, reset=False)
        scores, done = model.scores(self._rows(X), X.shape[0], bool(getattr(self, "average", False)))
        if done < X.shape[0]:
            raise self._not_finite(X, done, "nothing was predicted")
        return scores


def _answering(init: Any) -> Any:
    """An __init__ that answers another library's parameter names with ours."""
    known = set(inspect.signature(init).parameters)

    @wraps(init)
    def answered(self: Any, *args: Any, **given: Any) -> None:
        for name in given:
            if name not in known:
                hint = RENAMED.get(name, f"known are {', '.join(sorted(known - {'self'}))}")
                raise BadType(f"{type(self).__name__} has no parameter {name!r}; {hint}")
        init(self, *args, **given)

    return answered


def _require_positive(name: str, value: Any, zero: bool, infinite: bool) -> None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise BadInput(f"{name}={value!r}; wanted a number") from None
    fine = number > 0 or (zero and number == 0)
    if not fine or (math.isinf(number) and not infinite):
        wanted = "at least 0" if zero else "above 0"
        raise BadInput(f"{name}={value!r}; wanted a number {wanted}{' (inf allowed)' if infinite else ''}")


def _width_of(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[1]) if shape is not None and len(shape) == 2 else -1


def _checked_alone(estimator: Any, X: Any, options: dict[str, Any]) -> Any:
    from sklearn.utils import check_array

    return check_array(X, estimator=estimator, input_name="X", **options)


def _checked_weights(weights: Any, count: int) -> np.ndarray:
    """Sample weights as float64; empty where there are none."""
    if weights is None:
        return NONE
    array = np.asarray(weights, dtype=np.float64)
    if array.ndim == 0:
        array = np.full(count, float(array))
    if array.shape != (count,):
        raise BadInput(f"sample_weight has shape {array.shape}; wanted ({count},), one per row")
    if not np.isfinite(array).all() or (array < 0).any():
        where = int(np.argmax(~(np.isfinite(array) & (array >= 0))))
        raise BadInput(f"sample_weight[{where}] is {array[where]}; wanted finite numbers of at least 0")
    return array
