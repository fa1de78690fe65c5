"""How a table reaches a learner: arrays, CSR, frames; columns by number or by name."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names, validate_data

from ..errors import BadInput, BadType, Diverged, as_float, shown
from ..features.matrices import canonical
from ..features.slots import Slots
from ..learn.vocabulary import NONE

if TYPE_CHECKING:
    from .learner import Learner

DTYPES = [np.float64, np.float32]
OPTIONS: dict[str, Any] = {"accept_sparse": "csr", "dtype": DTYPES, "ensure_all_finite": False}

LONG = 300  # characters of a refusal that is not ours
TEXT = "could not convert string to float"
VECTORISE = "turn texts into columns by TfidfVectorizer, categories by OneHotEncoder"

HEAVIEST = 1e100  # a weight beyond this would move further than numbers reach

Table = Any
"""A checked table: a C- or F-contiguous float array, or a CSR matrix as `canonical` makes them."""


class Columns(NamedTuple):
    """The columns a learner knows. `by_name`: it learned from dicts, so they are found by name."""

    slots: Slots | None = None  # the names, where there are any
    by_name: bool = False
    width: int = 0

    @property
    def known(self) -> int:
        """How many features are known."""
        return len(self.slots) if self.by_name and self.slots is not None else self.width

    @property
    def names(self) -> list[Hashable]:
        """What each is called: its name, or its number."""
        return list(range(self.known)) if self.slots is None else list(self.slots)

    @property
    def named(self) -> Slots:
        """The names themselves, where there are any; a stream takes new ones in there."""
        return Slots() if self.slots is None else self.slots

    def with_names(self) -> Columns:
        """The same, numbers being the names where there are none."""
        return self if self.slots is not None else self._replace(slots=Slots(range(self.width)))

    def widened(self, width: int) -> Columns:
        """Room for an array of so many columns; further ones are called by their number."""
        if self.by_name:
            return self
        width, slots = max(self.width, width), self.slots
        if slots is not None and len(slots) < width:
            slots = Slots([*slots, *range(len(slots), width)])
        return Columns(slots, False, width)

    @property
    def numbered(self) -> bool:
        """Are the names the numbers of an array's columns, and nothing else?"""
        return self.slots is None or (
            len(self.slots) == self.width and list(self.slots) == list(range(self.width))
        )

    def refuse_names(self, names: Sequence[Hashable]) -> None:
        """A model fitted on arrays knows its features by number; one fitted on a frame may grow."""
        by_number = all(isinstance(name, int) for name in self.slots or () if name not in names)
        if by_number and any(not isinstance(name, int) for name in names):
            raise BadInput(
                f"feature {shown(names[0])} is a name, but this model was fitted on arrays; use column "
                "numbers 0, 1, ... as names"
            )

    def learned_from(self, X: Table) -> tuple[Table, Columns]:
        """A frame as CSR whose columns are slots, and the columns with its new names taken in."""
        if not hasattr(X, "columns"):
            raise BadType(f"got {type(X).__name__}; wanted a frame with column names")
        slots, names = self.named, list(X.columns)
        values = np.asarray(X, dtype=np.float64)
        lengths = np.einsum("ij,ij->i", values, values)
        if not np.isfinite(lengths).all():
            raise bad_row(values, int(np.argmax(~np.isfinite(lengths))), names)
        new = [name for name in names if name not in slots]
        if new and not self.by_name:
            self.refuse_names(new)
        after = self._replace(slots=Slots([*slots, *new]), by_name=True) if new else self
        slots = after.named
        return _spread(values, np.array([slots[name] for name in names], np.int32), len(slots)), after

    def found_in(self, X: Table) -> tuple[Table, list[Hashable], np.ndarray]:
        """A frame for a model that knows its features by name; the columns never met, and their values."""
        found = _get_feature_names(X)
        slots = self.named
        if found is None and hasattr(X, "columns"):
            found = np.array(list(X.columns), object)
        if found is None and self.width:  # fitted on arrays: its names are column numbers
            with in_one_line():
                X = check_array(canonical(X), input_name="X", **OPTIONS)
            found = np.arange(X.shape[1]).astype(object)
            X = X.toarray() if sp.issparse(X) else X
        if found is None:
            raise BadInput(
                f"got {type(X).__name__} without column names; this model learned from dicts; give "
                "dicts or a frame with names"
            )
        names: list[Hashable] = found.tolist()
        values = np.asarray(X, dtype=np.float64)
        known = [j for j, name in enumerate(names) if name in slots]
        into = np.array([slots[names[j]] for j in known], np.int32)
        table = _spread(values[:, known], into, len(slots))
        unmet = [j for j, name in enumerate(names) if name not in slots]
        return table, [names[j] for j in unmet], values[:, unmet]

    def placed_in(self, X: Table) -> Table:
        """A frame by names; columns never met come after all others, for distances count them."""
        slots, names = self.named, list(X.columns)
        new = {name: len(slots) + number for number, name in enumerate(n for n in names if n not in slots)}
        into = np.array([slots[name] if name in slots else new[name] for name in names], np.int32)
        return _spread(np.asarray(X, dtype=np.float64), into, len(slots) + len(new))


def _spread(values: np.ndarray, into: np.ndarray, width: int) -> Table:
    """Columns of an array at other places, of so many, as CSR."""
    table = sp.csr_matrix(values)
    shape = (len(values), max(width, 1))
    return canonical(sp.csr_matrix((table.data, into[table.indices], table.indptr), shape=shape))


def read_array(owner: object, X: object, reset: bool, other_width: bool = False) -> Table:
    """An array, CSR matrix or frame by the numbers of its columns (`other_width`: it may have more)."""
    X = canonical(X)
    with in_one_line():
        if other_width:
            return check_array(X, estimator=owner, input_name="X", **OPTIONS)
        return validate_data(owner, X, reset=reset, **OPTIONS)


def is_plain(X: object, columns: Columns | None) -> bool:
    """Is it, as it stands, a table of these columns (None: of any), which have no names?

    Most are, and asking costs less than scikit-learn's reading.
    """
    table: Any = X
    if type(X) is not np.ndarray and type(X) not in (sp.csr_matrix, sp.csr_array):
        return False
    if table.ndim != 2 or not table.shape[0] or not table.shape[1]:
        return False
    if columns is not None and (columns.slots is not None or table.shape[1] != columns.width):
        return False
    return getattr(table, "dtype", None) in DTYPES  # (a matrix whose data is no array has none)


def is_line(y: object, count: int) -> bool:
    """Is it an array of so many numbers or labels in a line?"""
    return type(y) is np.ndarray and y.shape == (count,)


def read_table(owner: Learner, X: object, reset: bool, learning: bool) -> Table:
    """An array by the numbers of its columns, a frame by their names where the learner goes by these."""
    columns, form = owner._columns, owner._form()
    if is_plain(X, None if reset else columns):
        table = canonical(X)
        if reset:
            owner.n_features_in_ = table.shape[1]  # (names are forgotten already)
        return form.learned(table, learning)
    refuse_dask(X)
    growing = bool(owner.growing) and not reset and owner._model is not None
    if not reset and (columns.by_name or (growing and columns.slots and hasattr(X, "columns"))):
        return form.learned(
            named_table(owner, X) if learning and hasattr(X, "columns") else form.frame(X), learning
        )
    other_width = growing and width_of(X) != columns.width
    table = read_array(owner, X, reset, other_width)
    if owner.growing and _get_feature_names(X) is not None:
        table = sp.csr_matrix(table)  # as later frames, whose names lie elsewhere: sums have one order
    return form.learned(table, learning)


def refuse_dask(X: object) -> None:
    """Dask's collections are learned and answered elsewhere; computed here they might not fit into memory.

    (Targets and weights beside rows that are in memory do fit: these are computed.)
    """
    one = X[0] if isinstance(X, list | tuple) and X else X  # (delayed blocks come as a list)
    if type(one).__module__.partition(".")[0] in ("dask", "dask_expr", "distributed"):
        data = "(X, y)" if hasattr(type(one), "ndim") else "data"  # (others hold their labels)
        raise BadType(
            f"got a Dask {type(one).__name__}; use om.cluster.fit(estimator, {data}) to learn from it (a "
            "grid: om.cluster.sweep), om.cluster.predict(model, X) to answer it, or compute() it first"
        )


def named_table(owner: Learner, X: object) -> Table:
    """A frame as CSR whose columns are slots; new names get one."""
    table, columns = owner._columns.learned_from(X)
    if columns is not owner._columns:
        owner._columns, model = columns, owner._fitted()
        owner._widen(model, columns.known)
        model.features = columns.known
    return table


def with_length(X: Table, unmet: Table) -> Table:
    """A table with one more column for all that were never met: their length, for they are at their start."""
    squares = unmet.multiply(unmet) if sp.issparse(unmet) else np.square(unmet)
    length = np.sqrt(np.asarray(squares.sum(axis=1), float)).reshape(-1, 1)
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_matrix(length.astype(X.dtype))], format="csr")
    return np.hstack([X, length.astype(X.dtype)])


def width_of(X: object) -> int:
    """Columns, as far as they can be told; -1: it is no table yet."""
    shape = getattr(X, "shape", None)
    return int(shape[1]) if shape is not None and len(shape) == 2 else -1


def bad_row(
    X: Table, row: int, names: Sequence[Hashable], done: str = "nothing was learned", may_diverge: bool = True
) -> BadInput:
    """The line for a row that cannot be used."""
    values = X[[row]].toarray()[0] if sp.issparse(X) else np.asarray(X[row])
    bad = np.flatnonzero(~np.isfinite(values))
    with np.errstate(over="ignore"):
        length = float(np.sum(np.square(values, dtype=np.float64)))
    if not bad.size and math.isfinite(length) and may_diverge:
        return Diverged(
            f"the loss at row {row} is not finite: the steps feed on themselves; {done}; lower rate=, or "
            "scale the values"
        )
    if not bad.size:
        return BadInput(f"row {row} is too large: its squared length overflows; {done}; scale the values")
    column = shown(names[bad[0]]) if bad[0] < len(names) else int(bad[0])
    kind = "a NaN" if math.isnan(values[bad[0]]) else "an infinity"
    return BadInput(f"row {row} has {kind} in column {column}; {done}; impute or drop it")


@contextmanager
def in_one_line() -> Iterator[None]:
    """scikit-learn's refusals, without their line breaks, and cut where they repeat a long value."""
    try:
        yield
    except (TypeError, ValueError) as error:
        said = str(error)
        if said.startswith(TEXT):
            raise BadInput(f"X holds text ({said[:60]}...); wanted numbers; {VECTORISE}") from None
        if "\n" not in said and len(said) < LONG:
            raise
        kind = BadType if isinstance(error, TypeError) else BadInput
        line = " ".join(said[: 4 * LONG].split())
        raise kind(line if len(line) < LONG else f"{line[:LONG]} ...") from None


def checked_weight(w: object) -> float:
    """The weight of one example."""
    weight = float(w) if isinstance(w, bool) else as_float(w)
    if not 0.0 <= weight < math.inf:
        raise BadInput(f"the weight is {shown(w)}; wanted a finite number of at least 0")
    if weight > HEAVIEST:
        raise BadInput(f"the weight is {weight}; wanted at most {HEAVIEST:g}; scale the weights")
    return weight


def checked_weights(weights: object, count: int) -> np.ndarray:
    """Sample weights as float64; empty where there are none."""
    if weights is None:
        return NONE
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadInput("sample_weight cannot be read as numbers; wanted one weight per row") from None
    if array.ndim == 0:
        array = np.full(count, float(array))
    if array.shape != (count,):
        raise BadInput(f"sample_weight has shape {array.shape}; wanted ({count},), one per row")
    if not np.isfinite(array).all() or (array < 0).any():
        where = int(np.argmax(~(np.isfinite(array) & (array >= 0))))
        raise BadInput(f"sample_weight[{where}] is {array[where]}; wanted finite numbers of at least 0")
    if (array > HEAVIEST).any():
        where = int(np.argmax(array > HEAVIEST))
        raise BadInput(
            f"sample_weight[{where}] is {array[where]}; wanted at most {HEAVIEST:g}; scale the weights"
        )
    return array


def checked_chance(chance: object, count: int) -> np.ndarray:
    """One uniform per round; empty where none are given."""
    if chance is None:
        return NONE
    try:
        array = np.ascontiguousarray(chance, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(0)
    if array.shape != (count,) or not ((array >= 0) & (array < 1)).all():
        raise BadInput(f"chance wants {count} uniforms in [0, 1), one per round")
    return array


def dense(y: Any) -> np.ndarray:
    """An indicator matrix as float64."""
    table = y.toarray() if sp.issparse(y) else y
    return np.ascontiguousarray(table, dtype=np.float64)


def weights_product(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Weights times weights, either of which may be empty: all 1."""
    if not first.size or not second.size:
        return np.ascontiguousarray(first if first.size else second)
    return np.asarray(first * second)
