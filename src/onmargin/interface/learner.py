"""What every learner is: its parameters, its state, and how they become a model that learns.

A learner *holds* what it needs: columns (`tables`), targets (`targets`), a form (`weights`, `support`), a
stream of dicts (`dicts`). A public class says its parameters as fields, its row of the table (`row`) and the
numbers its loop reads (`numbers`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from ..compiled.rows import Rows
from ..errors import BadInput
from ..features.slots import Slots
from ..features.tables import to_rows
from ..learn.vocabulary import NO_ORDER, NONE
from ..models.asking import Asking
from ..models.means import average_anew, drop_mean, take_mean
from ..models.table import Row
from ..models.weights import Model, Numbers
from ..results.progress import Progress
from ..results.trace import Watcher
from . import twins
from .dicts.before import Before
from .dicts.streams import BoundStream, Stream
from .guard import NOBODY, Change, alone, answers, changes
from .parameters.draws import generator_of, seed_of, uniforms
from .parameters.fields import check_horizon, check_lasting, check_limits, is_auto, lasting
from .parameters.fixed import CLASSES, Rule, chosen, fixed_by, is_unfixed
from .parameters.other_names import refuse_params
from .river import River
from .runs.passes import Game, Stopping, Sums, TrainingSet, mean_loss, naming_rows, run_passes
from .runs.watch import Wanted, watch_each, watch_table
from .tables import Columns, Table, bad_row, checked_weight, checked_weights, read_table
from .targets.target import NumberTargets
from .weights import WeightsForm, top_features


class Learner(River):
    """State: `_model` (None before the first example), `_columns`, `_stream`, `_begun`, `_entropy`."""

    answers_names = True  # its constructor answers other libraries' names with ours
    _model: Model | None = None
    _columns = Columns()
    _stream: Stream | None = None  # the model bound to its dicts, made on first use
    _begun: dict[str, object] = {}  # noqa: RUF012 (replaced, never changed)
    _may_diverge = True
    _has_lanes = True  # its row of the table says all of its rounds: a sweep may lay them side by side
    _draws = False  # a round needs a uniform
    _counts_mistakes = True
    _ridge: Any = 1.0  # what a covariance starts from
    _rules: Mapping[str, Rule] = {"intercept_scaling": CLASSES}  # noqa: RUF012 (never changed)
    _fixed: Mapping[str, float] = {}  # noqa: RUF012 (replaced, never changed)
    _stream_kind: type[Stream] = BoundStream
    _linear_model: type[Model] = Model
    fit_intercept: Any = False
    random_state: Any = None
    max_iter: int = 1
    tol: float | None = None
    n_iter_no_change: int = 1
    verbose: Any = 0
    warm_start: Any = False
    growing: Any = False

    # ---- parameters

    def row(self, problem: str) -> str:
        """The name of its row of the table, for "binary", "top", "labels", "regression" or "uniclass"."""
        raise NotImplementedError

    def numbers(self) -> Numbers:
        """The numbers of `Hyper` that its parameters set."""
        raise NotImplementedError

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):  # a parameter: it is checked, and the compiled stream bound anew
            for known in ("_checked", "_stream"):
                self.__dict__.pop(known, None)
        super().__setattr__(name, value)

    def set_params(self, **params: Any) -> Self:
        """Change parameters, all or none; another library's names are answered with ours."""
        refuse_params(self, params, set(self.get_params(deep=False)))
        super().set_params(**params)
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, each in one line."""
        check_limits(self)
        check_horizon(self, self._averages)
        if self._draws and isinstance(self.random_state, int | np.integer):
            seed_of(self)
        self._form().check_parameters()

    def _check_lasting(self) -> None:
        """Refuse to go on where a parameter that shapes the state was changed."""
        check_lasting(self, self._begun)

    @property
    def _bias(self) -> float:
        """The value of the constant coordinate; 0: there is none, or something is yet to be fixed."""
        return chosen(self, "intercept_scaling") if self.fit_intercept and not is_unfixed(self) else 0.0

    @property
    def _averages(self) -> bool:
        """Is a mean kept, in streams too?"""
        average = getattr(self, "average", False)
        return bool(average) and not is_auto(average)

    @property
    def _averages_fits(self) -> bool:
        """Does `fit` average, and end with the mean as its weights?"""
        return is_auto(getattr(self, "average", False)) and getattr(self, "horizon", None) is None

    @property
    def _has_blank(self) -> bool:
        """Does a slot at its start stand for all names not met?"""
        return True

    # ---- what it holds

    def _targets(self) -> NumberTargets:
        """What y is to it."""
        return NumberTargets(self)

    def _form(self) -> WeightsForm:
        """What its hypothesis is made of."""
        return WeightsForm(self)

    def _problem(self) -> str:
        """What the targets make of it."""
        return "regression"

    def _table_row(self) -> Row:
        return self._form().row()

    def _all_numbers(self) -> Numbers:
        """`numbers`, and what the form of the learner adds."""
        horizon = getattr(self, "horizon", None)
        forget = {} if horizon is None else {"forget": 1.0 - 1.0 / float(horizon)}
        return self._form().numbers(self.numbers() | forget)

    @property
    def _by_length(self) -> Mapping[str, Rule]:
        return self._rules

    def _wants(self) -> tuple[str, ...]:
        """Optional arrays of the Space that the parameters call for."""
        return ()

    # ---- state

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def n_features_in_(self) -> int:
        """Features known."""
        if self._model is None and not self._columns.width:
            raise AttributeError("n_features_in_ is known after the first example")
        return self._columns.known

    @n_features_in_.setter
    def n_features_in_(self, width: int) -> None:
        self._columns = self._columns._replace(width=width)

    @property
    @alone
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, where they have names."""
        slots = self._columns.slots
        if not slots or not all(isinstance(name, str) for name in slots):
            raise AttributeError("feature_names_in_ is there where all features have text names")
        return np.array(list(slots), object)

    @feature_names_in_.setter
    def feature_names_in_(self, names: np.ndarray) -> None:
        self._columns = self._columns._replace(slots=Slots(names.tolist()))

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        self._columns = self._columns._replace(slots=None)

    @property
    def t_(self) -> int:
        """Rounds seen."""
        return self._fitted().clock

    @property
    def intercept_scaling_(self) -> float:
        """The constant coordinate's value; 0: there is none, or no row has fixed it yet."""
        self._fitted()
        return self._bias

    def _fitted(self) -> Model:
        if self._model is None:
            which = "fit or partial_fit" + (", or learn_one" if hasattr(self, "learn_one") else "")
            raise NotFittedError(f"this {type(self).__name__} has seen no example yet; call {which}")
        return self._model

    # ---- one learns, any number ask (see `guard`)

    def _twin(self, change: Change | None) -> Self:
        return twins.of_learner(self, change)

    def _become(self, other: Self) -> None:
        twins.retire(self)
        self.__dict__ = {name: value for name, value in other.__dict__.items() if name != "_stream"}

    def _has(self, model: object) -> bool:
        return self._model is model

    def _before(self) -> Before:
        return Before(self)

    def _forget(self) -> None:
        """As if nothing had been seen."""
        self._model = self._stream = None
        self._fixed = {}
        self._columns = self._columns._replace(slots=None, by_name=False)
        if self.random_state is not None:  # a generator of the user's gives each fit its own draws
            self._entropy = None
        self._targets().forget()

    def _new_model(self, slots: int, asking: Asking | None = None, fitting: bool = False) -> Model:
        """A fresh model for so many features."""
        self._check_parameters()
        form = self._form()
        start = form.start(slots + 1)
        if fitting and self._averages_fits:
            start = start._replace(average=True)
        model = form.model(start, self._all_numbers())
        model.use_constant(bool(self.fit_intercept))
        if asking is not None:
            model.attach(asking.copy())  # a call that fails leaves the one that waits as it was
        self._begin(model, 0)
        self._begun = lasting(self)
        return model

    def _begin(self, model: Model, known: int) -> None:
        """Set the weights of slots from `known` on to where they start (0 for most)."""

    def _expect(self, rows: int) -> None:
        """So many rows are to come, though not in one table (0: nobody knows)."""

    def _fix_first(self, model: Model) -> None:
        """What the first dict decides for good."""

    def _fix_constant(self, model: Model) -> None:
        """What hangs on the constant coordinate's value, which is known now."""

    def _refresh(self, model: Model, fitting: bool = False, seen: bool = True) -> None:
        """Go on with the parameters as they are now; a stream goes on from the weights, without a mean."""
        if "_checked" not in self.__dict__:
            self._check_lasting()
            self._check_parameters()
            self._checked = True
        self._form().refresh(model)
        if self._averages_fits and seen:
            average_anew(model) if fitting else drop_mean(model)

    def _widen(self, model: Model, slots: int) -> None:
        """Room for at least so many features; doubles, so that growth is cheap."""
        have = model.start.slots - 1
        if slots > have:
            model.widen(max(slots, 2 * have) + 1)
            self._begin(model, have)

    def _fit_in(self, model: Model, X: Table) -> None:
        """Room for a table's columns; more columns of an array are more numbers for names."""
        form = self._form()
        form.check_table(X)
        self._widen(model, X.shape[1])
        self._columns = self._columns.widened(X.shape[1])
        model.features = max(model.features, self.n_features_in_)
        form.fix(model, X)

    def _luck(self, model: Model, count: int, weights: np.ndarray) -> np.ndarray:
        """The uniform of round t is the t-th of one stream, however rounds are cut; empty: none is drawn."""
        return uniforms(self, model.clock, count, weights) if self._draws else NONE

    # ---- tables

    def _table(self, X: object, *, reset: bool, learning: bool = False) -> Table:
        """A checked float array or CSR matrix whose columns are slots."""
        return read_table(self, X, reset, learning)

    def _miss_columns(self, names: list[Any]) -> None:
        """What to do about columns never met: to a linear score they add nothing."""

    def _rows(self, X: Table) -> Rows:
        return to_rows(X, self._bias)

    def _row_of_dict(self, rows: Rows) -> Rows:
        """The row of a dict as the model takes it."""
        return rows

    def _training_set(self, X: Table, y: object, sample_weight: object) -> TrainingSet:
        weights = checked_weights(sample_weight, X.shape[0])
        return TrainingSet(self._rows(X), X.shape[0], y, weights)

    def _bad_row(self, X: Table, row: int, done: str = "nothing was learned") -> BadInput:
        """The line for a row that cannot be used."""
        error = bad_row(X, row, list(self._columns.slots or ()), done, self._may_diverge)
        return self._form().refusal(error, row, done)

    def _first_names(self) -> tuple[Slots, bool]:
        """Features known before the first dict; are they names, or numbers of columns?"""
        return Slots(), True

    def _weigh(self, w: object) -> float:
        """An example's weight, checked."""
        return checked_weight(w)

    # ---- learning

    @changes
    def _fit(self, X: Any, y: Any, coef: Any, intercept: Any, sample_weight: Any) -> Self:
        """Learn from scratch (`warm_start`: go on) in passes."""
        targets, warm = self._targets(), bool(self.warm_start) and self._model is not None
        if not warm:
            self._forget()
        else:
            self._model = self._fitted().copy()
        X = self._table(X, reset=not warm, learning=True)
        y = targets.read(y, X.shape[0])
        targets.adopt(y, warm)
        model = self._fitted() if warm else self._new_model(X.shape[1], fitting=True)
        self._fit_in(model, X)
        data = fixed_by(self, model, X, self._training_set(X, y, sample_weight), fitting=True)
        self._start_from(model, coef, intercept)
        self._form().check_start(model)
        if warm:
            self._refresh(model, fitting=True)
        self._model = model
        if not data.is_seen:
            raise BadInput("sample_weight is zero everywhere; wanted at least one weight above 0")
        model.open(data.size)
        self._run_passes(X, model, data)
        if self._averages_fits:
            take_mean(model)
        return self

    def _start_from(self, model: Model, coef: object, intercept: object) -> None:
        """Weights that a user gave to start from."""
        self._form().start_from(model, coef, intercept)

    def _continue(
        self, X: Any, y: object, classes: object, sample_weight: object, asking: Asking | None = None,
        whole: bool = False, own: bool = False,
    ) -> tuple[Table, Model, TrainingSet]:  # fmt: skip
        """A checked table, and the model to learn it on. whole : of all labels; own : nobody else has it."""
        targets, fresh = self._targets(), self._model is None
        X = self._table(X, reset=fresh, learning=True)
        y = targets.read(y, X.shape[0])
        if fresh and whole and classes is None and not self.growing:
            targets.adopt(y, False)
        else:
            targets.adopt_stream(y, classes)
        if self._model is None:
            self._model, own = self._new_model(X.shape[1], asking), True
            self._form().check_start(self._model)
        data = self._training_set(X, y, sample_weight)
        model = self._model if own else self._form().learning_copy(self._model, X, data)
        if not fresh:
            self._refresh(model, seen=data.is_seen)
        self._fit_in(model, X)
        data = fixed_by(self, model, X, data)
        model.open(data.size)
        return X, model, data

    @changes
    def _partial_fit(
        self, X: object, y: object, classes: object, sample_weight: object, asking: Asking | None = None
    ) -> Self:
        """Learn from these rows, in order, each once."""
        self._form().refuse_streams()
        X, model, data = self._continue(X, y, classes, sample_weight, asking)
        with naming_rows(self, X):
            twins.learn_on(self, model, data, self._game(model, data).play)
        return self

    def _game(
        self, model: Model, data: TrainingSet, whole: bool = False, watcher: Watcher | None = None
    ) -> Game:
        return Game(model, data, self._targets().cutter(model, data, whole, watcher), self._luck)

    def _row_order(self, generator: np.random.Generator, count: int, model: Model) -> np.ndarray:
        """Row numbers of a pass, or empty: as they come."""
        return generator.permutation(count) if getattr(self, "shuffle", True) else NO_ORDER

    def _stopping(self) -> Stopping:
        passes, patience = int(self.max_iter), int(self.n_iter_no_change)
        return Stopping(passes, self.tol, patience, bool(self.verbose), self._counts_mistakes)

    def _run_passes(self, X: Table, model: Model, data: TrainingSet) -> None:
        """Passes until the mean online loss stops falling."""
        generator, game = generator_of(self, 3), self._game(model, data, whole=True)

        def order() -> np.ndarray:
            return self._row_order(generator, data.size, model)

        def play(order: np.ndarray, show: Any) -> Sums:
            with naming_rows(self, X):
                return game.play(order, show=show)

        self.n_iter_ = run_passes(data.size, self._stopping(), order, play, *self._judge(model))

    def _judge(self, model: Model) -> tuple[Callable[[Sums], float], str]:
        """What says of a pass how good it was, and its name."""
        return mean_loss, "mean online loss"

    # ---- answers

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of every row, by the average where one is kept."""
        model = self._fitted()
        self._check_lasting()
        X = self._form().narrowed(self._table(X, reset=False))
        model = self._form().with_room(model, X)
        scores, done = model.scores(self._rows(X), X.shape[0], model.start.average)
        if done < X.shape[0]:
            raise self._bad_row(X, done, "nothing was predicted")
        return scores

    # ---- what was learned

    @property
    @answers
    def coef_(self) -> np.ndarray:
        """Weights of the features, where there are such: (1, d) for one output, (K, d) for several."""
        return self._form().coef()

    @property
    @answers
    def intercept_(self) -> np.ndarray:
        """Weight of the constant coordinate times its value; for label sets less the threshold."""
        return self._form().intercept()

    @answers
    def top_features(self, k: int = 10, feature_names: object = None) -> Any:
        """The k heaviest features of every output: columns class, feature, weight.

        feature_names : what the columns are called, where X had no names: a list, or what has
            `get_feature_names_out` (a fitted vectorizer, `pipeline[:-1]`). See also `om.top_features`.
        """
        return top_features(self, self.coef_, k, feature_names)

    @answers
    def explain(self, x: object, k: int | None = None, feature_names: object = None) -> Any:
        """What each feature of one example adds to each score: weight times value.

        Columns class, feature, value, weight, contribution; the constant coordinate is the row
        "(intercept)". The contributions of a class add up to its linear score. In kernel form: what each
        support vector adds; columns class, support (its number in `support_`), coefficient, kernel,
        contribution (`feature_names`, as for `top_features`, have no part in it).
        """
        return self._form().explain(x, k, self.intercept_, feature_names)

    # ---- what protocols and files ask of it

    @property
    def kind(self) -> str:
        """What it learns: "labels" or "numbers"."""
        return self._targets().kind

    @alone
    def known_labels(self) -> list[Any]:
        """Labels known at this moment: met, or announced."""
        return self._targets().known()

    @changes
    def watch(self, X: object, y: object, wanted: Wanted) -> Progress:
        """Answer and learn a table, with a trace; see `om.progressive`."""
        return watch_table(self, X, y, wanted)

    @changes
    def watch_each(self, examples: Any, wanted: Wanted) -> Progress:
        """Answer and learn an iterable of (x, y) or (x, y, weight); see `om.progressive`."""
        return watch_each(self, examples, wanted)

    @answers
    def comparator_losses(self, X: Table, y: object, comparator: object) -> np.ndarray:
        """The losses that another hypothesis would have suffered on a run's rows."""
        return self._losses_of(self._form().comparator_scores(X, comparator), y)

    def _losses_of(self, scores: np.ndarray, y: object) -> np.ndarray:
        raise BadInput(f"{type(self).__name__} has no linear comparator")

    def settle_entropy(self) -> None:
        """Draw now what random_state=None stands for, so that a stretch played again has the same draws."""
        seed_of(self)

    @changes
    def start_anew(self) -> None:
        """Forget everything but the parameters and the generator's place."""
        self._model = self._stream = None
        self._fixed = {}
        self._columns = self._columns._replace(slots=None)
        self._targets().forget()

    def take_over(self, other: Self) -> None:
        """Become what another learner of the same kind is."""
        with (self._guard or NOBODY).lock:
            self._become(other)

    def _extras(self) -> dict[str, Any]:
        """What a file must hold beside parameters, labels and the model."""
        return {}

    def _take_extras(self, kept: dict[str, Any]) -> None:
        """Take it on again."""
