"""What every learner shares: its parameters, its state, and how a table reaches it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ..compiled.checks import first_not_finite
from ..errors import BadInput, BadType, require_whole
from ..features.slots import Slots
from ..features.tables import entries
from ..learn.spaces.arrays import Start
from ..learn.vocabulary import FADED, REMEMBERED, SHOWN, hyper_of
from ..models.table import FORGETS, Row, row_named
from ..models.weights import Model
from .lessons import NONE, Lesson
from .parameters import answering, refuse_unknown, require_positive
from .tables import TakesTables

LASTING = (
    "average", "fit_intercept", "intercept_scaling", "covariance", "a", "max_radius", "multilabel",
    "dtype", "init", "recipe", "delta", "groups", "regularizer", "p", "l1", "radius", "signed",
    "adagrad_delta", "coin_epsilon", "lam", "batch_size", "project", "multiclass", "kernel", "gamma",
    "degree", "coef0", "budget", "tolerance", "plus", "kernels", "views", "q", "reservoir", "sampler",
    "horizon",
)  # fmt: skip


class OnlineEstimator(TakesTables, BaseEstimator):  # type: ignore[misc]
    """State: `_model` (None before the first example), `_slots` (names), `_by_name`."""

    _model: Model | None = None
    _slots: Slots | None = None
    _by_name = False  # learned from dicts: columns are found by name
    _stream: Any = None  # the dict face, made on first use
    _entropy: int | None = None
    _asks = False  # rounds to come ask for their label
    _asked_before: np.ndarray | None = None  # what a sampler counted before there was a model
    _asked_room = 0  # rows of the last labels, at its end
    _asking: dict[str, Any] | None = None  # a sampler's choices, where one asks for this learner's labels
    _begun: dict[str, Any] = {}  # noqa: RUF012 (replaced, never changed)
    _width = 0
    _may_overflow = False  # on finite rows: the loss grows faster than its margin, or a centre does
    _takes_share = False  # average= may be a share of the last hypotheses
    _may_be_none: tuple[str, ...] = ("max_radius",)  # numbers that may be left out
    _has_lanes = True  # its row of the table says all of its rounds: a sweep may lay them side by side
    _has_blank = True  # a slot at its start stands for all names not met

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:
            cls.__init__ = answering(cls.__init__)  # type: ignore[method-assign]

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):  # a parameter: the compiled dict face must be bound anew
            self.__dict__.pop("_stream", None)
        super().__setattr__(name, value)

    def set_params(self, **params: Any) -> Any:
        """Change parameters, all or none; another library's names are answered with ours."""
        try:
            refuse_unknown(self, params, set(self.get_params(deep=False)))
        except BadType as error:
            raise BadInput(f"Invalid parameter: {error}") from None
        return super().set_params(**params)

    def __copy__(self) -> Any:
        return copy.deepcopy(self)  # a shallow copy would learn into the same weights

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
            if hasattr(self, name) and (value is not None or name not in self._may_be_none):
                least_is_fine = name in ("margin", "epsilon")
                require_positive(name, value, least_is_fine, name == "C")
        for name in ("max_iter", "n_iter_no_change"):
            require_whole(name, getattr(self, name, 1))
        if getattr(self, "tol", None) is not None:
            require_positive("tol", self.tol, True, False)
        self._check_horizon()
        average = getattr(self, "average", False)
        if not self._takes_share and not isinstance(average, bool | np.bool_):
            raise BadInput(f"average={average!r}; wanted True or False")
        if getattr(self, "dtype", None) not in (None, "float32", "float64", np.float32, np.float64):
            raise BadInput(f"dtype={self.dtype!r}; wanted 'float32' or 'float64'")

    def _check_horizon(self) -> None:
        """Forgetting: how long a round is remembered."""
        horizon = getattr(self, "horizon", None)
        if horizon is None:
            return
        require_positive("horizon", horizon, False, False)
        if horizon <= 1:
            raise BadInput(f"horizon={horizon!r}; wanted a number of rounds above 1, or None")
        if getattr(self, "average", False):
            raise BadInput("average=True remembers all that horizon= is to forget; choose one of them")
        if getattr(self, "kernel", None) is not None:
            raise BadInput("horizon= is for weights; kernel learners forget by Forgetron, or budget=")

    def _wants(self) -> tuple[str, ...]:
        """Optional arrays of the Space that the parameters call for."""
        return ()

    def _recipe(self) -> Row:
        name = self._recipe_name()
        return row_named(name if getattr(self, "horizon", None) is None else name + FORGETS)

    def _outputs(self) -> tuple[int, bool]:
        """How many outputs, and whether they lie side by side."""
        return 1, False

    @property
    def _bias(self) -> float:  # type: ignore[override]
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
        self._slots = Slots(names.tolist())

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
                f"this {type(self).__name__} has seen no example yet; call fit or partial_fit"
                f"{', or learn_one' if hasattr(self, 'learn_one') else ''}"
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
            np.dtype(getattr(self, "dtype", "float64")).name, float(getattr(self, "a", 1.0)),
            self._wants(),
        )  # fmt: skip
        model = self._made_model(start)
        model.live[1] = self._bias != 0.0
        model.asks = self._asks
        if self._asked_before is not None:
            self._carry_questions()
            model.memory[SHOWN:FADED] = self._asked_before[SHOWN:FADED]
            model.recent[...] = self._asked_before[len(self._asked_before) - len(model.recent) :]
            self._asked_before = None
        self._begin(model, 0)
        self._begun = self._lasting()
        return model

    def _carry_questions(self) -> None:
        """Numbers of the rule as it is now, with what was counted before there was a model."""
        choices, before = self._asking or {}, self._asked_before
        room = int(choices["ask_most"]) if choices.get("ask_within", np.inf) < np.inf else 0
        counts, recent = np.zeros(REMEMBERED), np.zeros(room)
        if before is not None:
            counts = before[:REMEMBERED]
            held = int(self._asked_room)
            recent[: min(room, held)] = before[len(before) - held :][: min(room, held)]
        self._asked_room = room
        self._asked_before = hyper_of(choices, 1, counts, recent).numbers

    def _made_model(self, start: Start) -> Model:
        return Model(self._recipe(), start, self._all_choices())

    def _all_choices(self) -> dict[str, Any]:
        """`_choices`, and what a form of the learner (or a sampler around it) adds."""
        horizon = getattr(self, "horizon", None)
        forget = {} if horizon is None else {"forget": 1.0 - 1.0 / float(horizon)}
        return self._choices() | forget | (self._asking or {})

    def _kept(self) -> dict[str, Any]:
        """What a file must hold beside parameters, labels and the model."""
        return {}

    def _keep_again(self, kept: dict[str, Any]) -> None:
        """Take it on again."""

    def _drops_new_columns(self) -> bool:
        """May columns never met be left out of an answer? To a linear score they add nothing."""
        return True

    def _luck(self, model: Model, count: int, weights: np.ndarray) -> np.ndarray:
        """One uniform for each of the rounds to come, where the learner is a gambler."""
        return NONE

    def _lasting(self) -> dict[str, Any]:
        """Parameters that shape the state: they stay as they were when learning began."""
        return {name: getattr(self, name) for name in LASTING if hasattr(self, name)}

    def _check_lasting(self) -> None:
        """Refuse to go on where one of them was changed."""
        for name, value in self._lasting().items():
            if not _same(self._begun.get(name, value), value):
                raise BadInput(
                    f"{name}= was {self._begun[name]!r} when learning began and is {value!r} now; set it "
                    "back, or fit anew"
                )

    def _begin(self, model: Model, known: int) -> None:
        """Set the weights of slots from `known` on to where they start (0 for most)."""

    def _widen(self, model: Model, slots: int) -> None:
        """Room for at least so many features; doubles, so that growth is cheap."""
        have = model.start.slots - 1
        if slots > have:
            model.widen(max(slots, 2 * have) + 1)
            self._begin(model, have)

    def _fit_in(self, model: Model, X: Any) -> None:
        """Room for a table's columns; more columns of an array are more numbers for names."""
        self._widen(model, X.shape[1])
        if not self._by_name:
            self._width = max(self._width, X.shape[1])
            if self._slots is not None and len(self._slots) < self._width:
                self._slots = Slots([*self._slots, *range(len(self._slots), self._width)])
        model.live[0] = max(model.live[0], self.n_features_in_)

    def _generator(self, purpose: int) -> np.random.Generator:
        """A generator of our own for each purpose, so that none disturbs another."""
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            if self._entropy is None:  # drawn once a model, so that growth goes on where it was
                self._entropy = drawn_seed(seed)
            seed = self._entropy
        if seed < 0:
            raise BadInput(f"random_state={seed!r}; wanted a whole number of at least 0")
        return np.random.default_rng([int(seed), purpose])

    # ---- learning and answering

    def _learning_copy(self, X: Any, lesson: Lesson) -> Model:
        """The model to learn on: itself after a sweep, or a copy, whichever costs less.

        Where the data is smaller than the model, all rows are checked first; otherwise the loop
        finds a bad row on its way and the copy is thrown away, as it is where finite rows may overflow.
        """
        model = self._fitted()
        if self._may_overflow or entries(lesson.rows) > model.entries:
            return model.copy()
        bad = first_not_finite(lesson.rows, lesson.count)
        if bad < lesson.count:
            raise self._not_finite(X, bad)
        return model

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of every row, by the average where one is kept."""
        model = self._fitted()
        self._check_lasting()
        X = self._table(X, reset=False)
        if (
            self._drops_new_columns() and X.shape[1] > self.n_features_in_
        ):  # columns that a growing model has not met
            X = X[:, : self.n_features_in_]
        scores, done = model.scores(self._rows(X), X.shape[0], model.start.average)
        if done < X.shape[0]:
            raise self._not_finite(X, done, "nothing was predicted")
        return scores


def _same(first: Any, second: Any) -> bool:
    """Equal, also where they are arrays, or lists of them."""
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if any(isinstance(value, np.ndarray | list | tuple) for value in (first, second)):
        return bool(np.array_equal(first, second))
    return bool(first == second)


def drawn_seed(state: Any) -> int:
    """A seed from a generator of the user's, or from the machine's entropy."""
    if isinstance(state, np.random.RandomState):
        return int(state.randint(2**31 - 1))
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**31 - 1))
    if state is not None:
        raise BadInput(f"random_state={state!r}; wanted None, a whole number or a NumPy generator")
    return int(np.random.SeedSequence().generate_state(1)[0])
