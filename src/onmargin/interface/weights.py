"""The linear form of a learner: weights made, started from, shown and explained.

A learner holds a form, `WeightsForm` or (with a kernel) `SupportForm`: what its hypothesis is made of, how
its first data and its examples are treated, and what its users see of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, extra, plain_number, require_whole, shown
from ..features.matrices import canonical
from ..features.slots import Slots
from ..features.tables import to_rows
from ..learn.spaces.arrays import Start
from ..models.layout import Arrays, Facts, Layout
from ..models.table import FORGETS, Row, row_named
from ..models.weights import Model, Numbers
from .dicts.streams import BoundStream, Example, Stream
from .parameters.fields import AFTER_EACH
from .runs.comparing import Compared, Judge
from .runs.passes import TrainingSet
from .tables import Table, with_length

if TYPE_CHECKING:
    from .learner import Learner


class WeightsForm:
    """One weight per feature and output."""

    kind = "weights"

    def __init__(self, owner: Learner) -> None:
        self.owner = owner

    # ---- the model

    def row(self) -> Row:
        """The row of the table."""
        name = self.owner.row(self.owner._problem())
        return row_named(self.forgetting(name))

    def forgetting(self, name: str) -> str:
        """The name of the row that does, where a horizon is given."""
        return name if getattr(self.owner, "horizon", None) is None else name + FORGETS

    def model(self, start: Start, numbers: Numbers) -> Model:
        """A fresh model."""
        return self.owner._linear_model(self.owner._table_row(), start, numbers)

    def start(self, slots: int) -> Start:
        """What parameters and targets make of a fresh model."""
        owner, (outputs, many) = self.owner, self.owner._targets().outputs()
        single = np.dtype(getattr(owner, "dtype", "float64")) == np.float32
        dtype = "float32" if single else "float64"  # (its own name a dtype is slow to say)
        return Start(slots, outputs, many, owner._averages, dtype, owner._ridge, owner._wants())

    def numbers(self, chosen: Numbers) -> Numbers:
        """The numbers of the parameters, and what the form adds."""
        return chosen | {"mean_after": 1.0} if self.averages_after else chosen

    @property
    def averages_after(self) -> bool:
        """Is the mean that of the hypotheses after each round?"""
        average = getattr(self.owner, "average", False)
        return isinstance(average, str) and average == AFTER_EACH

    def check_average(self) -> None:
        """A mean after each round is known of weights (or coefficients) to which rounds add."""
        if self.averages_after:
            row = self.owner._table_row()
            if not row.adds or self.owner._linear_model is not Model:
                raise BadInput(
                    f"average='after' is for weights that single rows add to; {type(self.owner).__name__} "
                    f"keeps others here ({row.words()['space']}); use average=True"
                )

    def check_parameters(self) -> None:
        """Refuse parameters that do not go with the form."""
        self.check_average()
        budget = getattr(self.owner, "budget", None)
        if budget is not None:
            raise BadInput(f"budget={shown(budget)} is for kernel forms; set kernel=, or leave it out")

    def refresh(self, model: Model) -> None:
        """Go on with the parameters as they are now."""
        model.choose(self.owner._table_row(), self.owner._all_numbers())

    def start_from(self, model: Model, coef: object, intercept: object) -> None:
        """Start from the weights a user gave."""
        if coef is None and intercept is None:
            return
        owner, bias, width = self.owner, self.owner._bias, self.owner.n_features_in_
        labels = len(owner._targets().spoken(np.zeros((model.start.outputs, 1))))  # a dummy has none
        table = constant = None
        if coef is not None:
            table = np.atleast_2d(np.asarray(coef, float))
            if table.shape != (labels, width):
                raise BadInput(f"coef_init has shape {table.shape}; wanted ({labels}, {width})")
        if intercept is not None:
            values = np.atleast_1d(np.asarray(intercept, float))
            if values.shape != (labels,):
                raise BadInput(f"intercept_init has shape {values.shape}; wanted ({labels},)")
            if not bias and values.any():
                raise BadInput("intercept_init was given, but fit_intercept=False; set it to True")
            constant = values / bias if bias else None
        model.start_from(table, constant)

    def check_start(self, model: Model) -> None:
        """A margin of 0 from zero weights would never move."""
        if getattr(self.owner, "margin", 1.0) == 0 and model.is_at_zero():
            raise BadInput(
                "margin=0 from zero weights never moves; give coef_init, warm_start, or a margin above 0"
            )

    def layout(self, start: Start, numbers: Numbers, facts: Facts, arrays: Arrays) -> Layout:
        """The arrays that a file must hold of a model of such a start."""
        return self.owner._linear_model.file_layout(self.owner._table_row(), start, numbers, facts, arrays)

    def restore(self, model: Model, facts: Facts) -> None:
        """What the first data decided, from a file."""

    # ---- its data

    def fix(self, model: Model, X: Table) -> None:
        """What the first table decides for good."""

    def squares(self, model: Model, X: Table, which: np.ndarray) -> np.ndarray:
        """|x|^2 of rows of a table, without the constant coordinate."""
        some = X[which]
        if model.kind != "weights":
            return model.lengths(to_rows(some, 0.0), len(which))
        ends = some.indptr if sp.issparse(X) else np.zeros(0, int)
        rows = np.split(some.data, ends[1:-1]) if sp.issparse(X) else some
        with np.errstate(
            over="ignore"
        ):  # each by itself, without zeros: the same dense, sparse, and in blocks
            return np.array([own @ own for own in (row[row != 0].astype(float) for row in rows)])

    def fix_numbers(self, model: Model) -> None:
        """Go on with what the first rows have fixed."""
        model.choose(model.row, self.owner._all_numbers())
        self.owner._fix_constant(model)

    def fix_first(self, model: Model, values: np.ndarray) -> None:
        """What the first dict, with these values, decides for good."""
        self.owner._fix_first(model)

    def check_table(self, X: Table) -> None:
        """Refuse a table whose rows cannot all be learned from, where the loop would find out too late."""

    def learning_copy(self, model: Model, X: Table, data: TrainingSet) -> Model:
        """The model to learn on: a copy; or itself, sharing its arrays, where rows reach few of them."""
        return model if model.shares and model.reached_by(data.rows) else model.copy()

    def frame(self, X: Table) -> Table:
        """A frame by the names of its columns; to a linear score those never met add nothing."""
        table, missed, values = self.owner._columns.found_in(X)
        self.owner._miss_columns(missed)
        return with_length(table, values) if missed and not self.owner._fitted().linear else table

    def narrowed(self, X: Table) -> Table:
        """A table to be answered, without columns that a growing model has not met (or with their length)."""
        known = self.owner.n_features_in_
        if X.shape[1] <= known:
            return X
        return X[:, :known] if self.owner._fitted().linear else with_length(X[:, :known], X[:, known:])

    def with_room(self, model: Model, X: Table) -> Model:
        """The model, or a wider copy, to answer a table: columns never met have one beyond all others."""
        if X is None or X.shape[1] < model.start.slots:
            return model
        wide = model.copy()
        wide.widen(X.shape[1] + 1)
        return wide

    def learned(self, X: Table, learning: bool) -> Table:
        """The table as the model takes it."""
        return X

    def refuse_streams(self) -> None:
        """Weights may be learned from any stream."""

    def stream(self, model: Model, slots: Slots, learns: bool) -> Stream:
        """The model bound to its dicts."""
        return self.owner._stream_kind(self.owner, model, slots, learns)

    def check_example(self, stream: Stream, x: Example) -> None:
        """Refuse a dict that the form cannot take, before anything grows."""

    def refusal(self, error: BadInput, row: int, done: str) -> BadInput:
        """The line for a row that cannot be used, as the form has it."""
        return error

    # ---- what its users see

    def _table(self) -> np.ndarray:
        return self.owner._targets().spoken(self.owner._fitted().table())

    def coef(self) -> np.ndarray:
        """(rows, features)"""
        return np.array(self._table()[:, : self.owner.n_features_in_], order="C")  # (learning goes on)

    def intercept(self) -> np.ndarray:
        """The constant coordinate's share of every score; less the thresholds."""
        model = self.owner._fitted()
        less = self.owner._targets().bar(model)
        return np.asarray(self._table()[:, -1] * self.owner._bias - less)

    def comparator_scores(self, X: Table, comparator: object) -> np.ndarray:
        """Scores of u = coefficients, or (coefficients, intercept)."""
        table, intercept = self._read_comparator(comparator)
        return np.asarray(np.asarray(X @ table.T) + intercept)

    def _read_comparator(self, comparator: object) -> tuple[np.ndarray, np.ndarray]:
        coef, intercept = comparator if isinstance(comparator, tuple) else (comparator, 0.0)
        try:
            table, constant = np.atleast_2d(np.asarray(coef, float)), np.asarray(intercept, float)
        except (TypeError, ValueError):
            raise BadInput(f"the comparator is {shown(comparator)}; wanted coefficients, or (coefficients, "
                           "intercept)") from None  # fmt: skip
        wanted = self.coef().shape
        if table.shape != wanted:
            raise BadInput(f"the comparator has shape {table.shape}; wanted {wanted}")
        if constant.shape not in ((), (1,), (wanted[0],)):
            raise BadInput(
                f"the comparator's intercept has shape {constant.shape}; wanted a number, or ({wanted[0]},)"
            )
        if not np.isfinite(table).all() or not np.isfinite(constant).all():
            raise BadInput("the comparator holds NaN or infinity; wanted finite numbers")
        return table, constant

    def compared(self, X: Table, comparator: object, judge: Judge) -> Compared:
        """u = coefficients, or (coefficients, intercept), beside the rows of a run."""
        table, constant = self._read_comparator(comparator)
        bias = self.owner._bias
        if constant.any() and not bias:
            raise BadInput("the comparator has an intercept, and the run had none (fit_intercept=False)")
        last = np.broadcast_to(constant / bias if bias else 0.0, (len(table),))
        weights = np.c_[table, last]
        scores = self.comparator_scores(X, comparator)
        squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.square(X, dtype=float).sum(axis=1)
        squares = np.asarray(squares, float).ravel() + bias**2
        return Compared(
            scores, judge(scores), squares[None], np.array([np.square(weights).sum()]), weights, None, judge
        )

    def explain(self, x: object, k: int | None, intercept: np.ndarray, feature_names: object = None) -> Any:
        """What each feature of one example adds to each score: weight times value."""
        owner = self.owner
        called = names_of(owner, feature_names)
        names, values = _one_example(x, called)
        coefficients, known = self.coef(), {name: j for j, name in enumerate(called)}
        rows = []
        for label, weights, constant in zip(
            owner._targets().output_names(), coefficients, intercept, strict=True
        ):
            spoken = [
                (label, name, value, float(weights[known[name]]), float(weights[known[name]]) * value)
                for name, value in zip(names, values, strict=True)
                if name in known and value
            ]
            spoken.append((label, "(intercept)", 1.0, float(constant), float(constant)))
            spoken.sort(key=lambda row: -abs(row[4]))
            rows += spoken[:k]
        return frame_of(rows, ["class", "feature", "value", "weight", "contribution"])


def _one_example(x: Any, known: list[Hashable]) -> tuple[list[Hashable], list[float]]:
    """One example's names and values."""
    if isinstance(x, Mapping):
        return list(x), [float(value) for value in x.values()]
    if hasattr(x, "columns"):
        if len(x) != 1:
            raise BadInput(f"got {len(x)} rows; wanted one example")
        columns = list(x.columns)
        named = any(name in known for name in columns) or len(columns) != len(known)
        return (columns if named else known), np.asarray(x, float).ravel().tolist()
    row = canonical(x).toarray().ravel() if sp.issparse(x) else np.asarray(x, float).ravel()
    if len(row) != len(known):
        raise BadInput(f"got {len(row)} numbers; wanted one example with {len(known)} features")
    return known, row.tolist()


def names_of(owner: Learner, given: object) -> list[Hashable]:
    """What the features are called: as the model knows them, or as they are given, one name each."""
    known = owner._columns.names
    if given is None:
        return known
    wanted = f"wanted one name for each of the {len(known)} features"
    given = given.get_feature_names_out() if hasattr(given, "get_feature_names_out") else given
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise BadInput(f"feature_names={shown(given)}; {wanted}")
    names = [plain_number(name) for name in given]
    if len(names) != len(known):
        raise BadInput(f"feature_names has {len(names)} names; {wanted}")
    counts = Counter(map(repr, names))
    if len(counts) < len(names):
        raise BadInput(
            f"feature_names has {counts.most_common(1)[0][0]} more than once; {wanted}, all different"
        )
    return names


def top_features(owner: Learner, table: np.ndarray, k: int | None, feature_names: object = None) -> Any:
    """The k heaviest features of every output: columns class, feature, weight."""
    if k is not None:
        require_whole("k", k)
    names, rows = names_of(owner, feature_names), []
    for label, weights in zip(owner._targets().output_names(), table, strict=True):
        heaviest = np.argsort(-np.abs(weights), kind="stable")[:k]
        rows += [(label, names[j], float(weights[j])) for j in heaviest]
    return frame_of(rows, ["class", "feature", "weight"])


def frame_of(
    rows: list[tuple[Any, ...]] | np.ndarray, columns: Sequence[object], index: object = None
) -> Any:
    """Lines as a pandas frame."""
    try:
        import pandas as pd
    except ImportError:
        raise extra("pandas", "frames") from None
    return pd.DataFrame(rows, columns=columns, index=index)


__all__ = ["BoundStream", "WeightsForm", "frame_of", "top_features"]
