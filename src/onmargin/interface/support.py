"""The kernel form of a learner: `kernel=` and what goes with it, its support vectors."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from ..compiled.checks import first_not_finite
from ..errors import LARGEST, BadInput, Diverged, shown
from ..features.slots import Slots
from ..kernels import named
from ..kernels.base import FAR, positive
from ..learn.spaces.arrays import Start
from ..models.kernel.forms import Bounded, Unbounded
from ..models.kernel.model import KernelModel
from ..models.kernel.support import Form
from ..models.layout import Arrays, Facts, Layout, Misfit, count, one_of, real, truth
from ..models.table import Row, row_named
from ..models.weights import Model, Numbers
from .dicts.distances import DistanceStream
from .dicts.streams import Example, Stream, open_stream
from .guard import answers
from .learner import Learner
from .runs.comparing import Compared, Judge
from .runs.passes import TrainingSet
from .tables import Table
from .weights import WeightsForm, frame_of

# Share of k(x, x) below which a squared distance from a span may be rounding: the root of the precision.
# (With 1e-10 a plane of RBF vectors gives coefficients of 1e8 and scores of 300 in place of 4.) A budget
# has better use for its room than vectors that are nearly there already.
FINE, COARSE = 1e-8, 1e-4
MOST_ROWS = 6000  # of a run whose whole Gram matrix is looked at
LARGE = 1e15  # values whose kernels may overflow in float32
UNITS = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


class KernelForm(Learner):
    """Learners with `kernel=None` are linear; with a kernel they are spelled in support vectors.

    What the parameters mean is said in `om.kernels`, where a user finds it.
    """

    kernel: Any = None
    gamma: Any = "scale"
    degree: Any = 3
    coef0: Any = 0.0
    budget: Any = None
    _projects = False  # few vectors whose Gram matrix is solved: values are wanted in float64
    _keeps_square = True  # with a budget: the Gram matrix of the vectors is kept too

    @property
    def _in_kernel(self) -> bool:
        return self.kernel is not None

    def _form(self) -> WeightsForm:
        return SupportForm(self) if self._in_kernel else WeightsForm(self)

    def _kernel_row(self) -> str:
        """The row of the table in kernel form."""
        keeping = "kernel" if self.budget is None else "budget"
        return f"{keeping}_{self.row(self._problem())}"

    def _model_kind(self) -> type[KernelModel]:
        return Bounded if self._is_bounded else Unbounded

    @property
    def _is_bounded(self) -> bool:
        """Are few vectors kept: projected, within a budget, or until they have faded?"""
        return self._projects or self.budget is not None or getattr(self, "horizon", None) is not None

    def _kernels(self, gamma: float | None) -> Form:
        """What is evaluated."""
        kernel = named(self.kernel, gamma, self.degree, self.coef0)
        if gamma is not None:
            kernel = kernel.with_gamma(gamma)
        return Form((kernel,), self._bias * self._bias, self._precision())

    def _precision(self) -> str:
        """float32 for kernel values, float64 on request; always where a Gram matrix is solved."""
        if self._is_bounded:
            return "float64"
        given = getattr(self, "dtype", None)
        return "float32" if given is None else str(np.dtype(given).name)

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _support(self) -> KernelModel:
        """The model in kernel form."""
        if not self._in_kernel:
            raise AttributeError("this learner is linear (kernel=None); it has coef_ and intercept_")
        model = self._fitted()
        if model.kind != "kernel":
            self._check_lasting()  # kernel= was set on a learner that has begun without one
        return cast(KernelModel, model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.positive_only = isinstance(self.kernel, str) and self.kernel == "chi2"
        return tags

    # ---- what its users see

    @property
    def gamma_(self) -> float:
        """The width as it is used."""
        return float(self._support().gamma)

    @property
    def budget_(self) -> float:
        """Vectors that may be kept (inf: as many as come)."""
        return float(self._support().room)

    @property
    @answers
    def support_(self) -> np.ndarray:
        """Which rows are kept: row numbers of X in `fit`, numbers of the rows so far in streams."""
        return self._support().support_ids()

    @property
    @answers
    def support_vectors_(self) -> Any:
        """The vectors kept, in the form they came in (precomputed kernels: none)."""
        return self._support().support_table(self.n_features_in_)

    @property
    @answers
    def n_support_(self) -> int:
        """How many vectors are kept."""
        return self._support().n_support

    @property
    @answers
    def dual_coef_(self) -> np.ndarray:
        """(outputs, vectors) coefficients that predict; those of the average where one is kept."""
        return np.array(self._targets().spoken(self._support().dual_table()), order="C")


class SupportForm(WeightsForm):
    """w = sum_i coefficient_i k(x_i, .)"""

    kind = "kernel"

    def __init__(self, owner: KernelForm) -> None:
        super().__init__(owner)
        self.learner = owner

    # ---- the model

    def row(self) -> Row:
        """The row of the table."""
        return row_named(self.forgetting(self.learner._kernel_row()))

    def model(self, start: Start, numbers: Numbers) -> Model:
        """A fresh model."""
        kernels = self.learner._kernels(self._given_gamma())
        return self.learner._model_kind()(self.learner._table_row(), start, numbers, kernels)

    def start(self, slots: int) -> Start:
        """Coefficients are float64, and all there is."""
        return super().start(slots)._replace(dtype="float64", wants=())

    def numbers(self, chosen: Numbers) -> Numbers:
        """How many vectors there may be, and what is rounding."""
        owner = self.learner
        begun = {} if owner._model is None else owner._model.numbers
        room = begun.get("room", math.inf) if isinstance(owner.budget, str) else owner.budget
        grain = FINE if owner._projects else COARSE
        return super().numbers(chosen) | {"room": math.inf if room is None else room, "grain": grain}

    def _given_gamma(self) -> float | None:
        return None if isinstance(self.learner.gamma, str) else float(self.learner.gamma)

    def check_parameters(self) -> None:
        """The kernel, its width, the budget."""
        owner = self.learner
        self.check_average()
        if owner._is_precomputed() and owner.growing:
            raise BadInput("a precomputed table has a column for every row: set growing=False")
        if isinstance(owner.gamma, str):
            if owner.gamma not in ("scale", "auto"):
                raise BadInput(f"gamma={shown(owner.gamma)}; wanted 'scale', 'auto' or a number above 0")
        elif positive("gamma", owner.gamma) is None:
            raise BadInput("gamma=None; wanted 'scale', 'auto' or a number above 0")
        owner._kernels(self._given_gamma())
        budget = owner.budget
        if isinstance(budget, str):
            bytes_of(budget)
        elif budget is not None and (
            isinstance(budget, bool) or not isinstance(budget, int | np.integer) or not 1 <= budget <= LARGEST
        ):
            raise BadInput(
                f"budget={shown(budget)}; wanted a number of vectors of at least 1, or text such as '64MB'"
            )

    def refresh(self, model: Model) -> None:
        """Go on with the parameters as they are now; room that was counted in memory stays."""
        counted = {name: model.numbers[name] for name in ("room", "bytes") if name in model.numbers}
        super().refresh(model)
        if isinstance(self.learner.budget, str) and "bytes" in counted:
            model.choose(model.row, model.numbers | counted)

    def layout(self, start: Start, numbers: Numbers, facts: Facts, arrays: Arrays) -> Layout:
        """The arrays that a file must hold: of vectors of the kind and width it says."""
        gamma = real("gamma", facts["gamma"])
        if not 0.0 < gamma < math.inf:
            raise Misfit("its gamma is no number above 0")
        truth("direct", facts["direct"])
        one_of("dtype", facts["dtype"], ("float32", "float64"))
        form = self.learner._kernels(gamma)
        one_of(
            "kind of vectors", facts["kind"], ("", "numbers") if form.precomputed else ("", "dense", "sparse")
        )
        count("width", facts["width"], 0, max(facts["known"], 1))
        kind, facts = self.learner._model_kind(), {**facts, "kernels": len(form.kernels)}
        return kind.file_layout(self.learner._table_row(), start, numbers, facts, arrays)

    def restore(self, model: Model, facts: Facts) -> None:
        """What the first data decided, from a file."""
        form = self.learner._kernels(facts["gamma"])._replace(dtype=facts["dtype"], direct=facts["direct"])
        cast(KernelModel, model).fix(facts["gamma"], form)

    def start_from(self, model: Model, coef: object, intercept: object) -> None:
        """There are no weights to start from."""
        if coef is not None or intercept is not None:
            raise BadInput(
                "a kernel learner has no weights to start from; leave coef_init and intercept_init out"
            )

    def check_start(self, model: Model) -> None:
        """A margin of 0 from nothing would never move."""
        if getattr(self.learner, "margin", 1.0) == 0 and model.is_at_zero():
            raise BadInput("margin=0 from an empty support never moves; give a margin above 0")

    # ---- its data

    def check_table(self, X: Table) -> None:
        """Rows that are not finite are refused before anything grows."""
        bad = first_not_finite(self.learner._rows(X), X.shape[0])
        if bad < X.shape[0]:
            raise self.learner._bad_row(X, bad)

    def fix(self, model: Model, X: Table) -> None:
        """gamma, the precision, room in memory: by the first table."""
        if not model.clock:
            variance = _variance(X) if self.learner.gamma == "scale" else 1.0
            self._fix_kernel(cast(KernelModel, model), X.shape[1], variance, X)
            filled = X.nnz / max(X.shape[0], 1) if sp.issparse(X) else float(X.shape[1])
            self._fix_budget(cast(KernelModel, model), filled, sp.issparse(X), X.dtype.itemsize)

    def squares(self, model: Model, X: Table, which: np.ndarray) -> np.ndarray:
        """k(x, x) of rows of a table."""
        if self.learner._is_precomputed():
            return np.asarray(X[which, which], float)
        return super().squares(model, X, which)

    def fix_numbers(self, model: Model) -> None:
        """Go on with them; kernel values have the constant coordinate's square added; nothing is kept yet."""
        self.refresh(model)
        support = cast(KernelModel, model)
        support.fix(support.gamma, support.form._replace(constant=self.learner._bias**2))

    def fix_first(self, model: Model, values: np.ndarray) -> None:
        """The same by the first dict."""
        self._fix_kernel(cast(KernelModel, model), model.features, 1.0, sp.csr_matrix(values[None, :]))
        self._fix_budget(cast(KernelModel, model), float(model.features), True, 8)

    def _fix_kernel(self, model: KernelModel, features: int, variance: float, X: Table) -> None:
        """gamma, and whether float32 will do: not where rows lie far from the origin, beside the width."""
        gamma = self._given_gamma()
        if gamma is None:
            gamma = 1.0 / (max(features, 1) * variance) if variance > 0 else 1.0
        form = self.learner._kernels(gamma)
        shifted = form.shifts and not sp.issparse(X)
        if form.sharpness * _spread(X, shifted) > FAR:
            form = form._replace(direct=sp.issparse(X))
            if getattr(self.learner, "dtype", None) is None:
                form = form._replace(dtype="float64")
        model.fix(gamma, form)

    def _fix_budget(self, model: KernelModel, filled: float, sparse: bool, itemsize: int) -> None:
        budget = self.learner.budget
        if isinstance(budget, str):
            each = filled * (itemsize + model.kept.dtype.itemsize + 4 * sparse) + 40
            each += 8 * model.width * (2 if model.start.average else 1)
            model.limit(vectors_for(budget, each, self.learner._keeps_square), bytes_of(budget))

    def learning_copy(self, model: Model, X: Table, data: TrainingSet) -> Model:
        """A copy: scoring one row costs more."""
        return model.copy()

    def frame(self, X: Table) -> Table:
        """A frame by names; columns never met come after all others, for distances count them."""
        columns = self.learner._columns
        if not hasattr(X, "columns") or columns.slots is None:
            return super().frame(X)
        return columns.placed_in(X)

    def narrowed(self, X: Table) -> Table:
        """A distance counts columns never met."""
        return X

    def with_room(self, model: Model, X: Table) -> Model:
        """Vectors have their own columns."""
        return model

    def learned(self, X: Table, learning: bool) -> Table:
        """A precomputed table is square, and an array."""
        if not self.learner._is_precomputed():
            return X
        if learning and X.shape[0] != X.shape[1]:
            raise BadInput(
                f"kernel='precomputed' got a table of {X.shape[0]} x {X.shape[1]}; wanted a square "
                "one, k(x_i, x_j) of all training rows"
            )
        return X.toarray() if sp.issparse(X) else X

    def refuse_streams(self) -> None:
        """A precomputed kernel has a column for every row."""
        if self.learner._is_precomputed():
            raise BadInput("kernel='precomputed' needs the whole table; use fit(K, y), not a stream")

    def stream(self, model: Model, slots: Slots, learns: bool) -> Stream:
        """The model bound to its dicts."""
        return DistanceStream(self.learner, model, slots, learns)

    def check_example(self, stream: Stream, x: Example) -> None:
        """Refuse a dict that the kernel cannot take."""
        model = self.learner._support()
        largest = max(map(abs, x.values()), default=0.0)
        if largest > LARGE or not model.safe:
            model.check_rows(cast(DistanceStream, stream).row_of(x))

    def refusal(self, error: BadInput, row: int, done: str) -> BadInput:
        """A row on which the kernel's values overflow."""
        if not isinstance(error, Diverged):
            return error
        return BadInput(
            f"row {row} has kernel values that are not finite; {done}; scale the values, or set "
            "dtype='float64'"
        )

    # ---- what its users see

    def coef(self) -> np.ndarray:
        """(outputs, features) weights of a linear kernel."""
        owner = self.learner
        if not owner._support().is_linear():
            raise AttributeError(
                f"kernel={shown(owner.kernel)} has no weights; it has dual_coef_ and support_vectors_"
            )
        return np.asarray(owner.dual_coef_ @ owner.support_vectors_)

    def intercept(self) -> np.ndarray:
        """What every score has added: the constant's share; for label sets less the threshold."""
        owner, model = self.learner, self.learner._support()
        less = owner._targets().bar(model)
        return np.asarray(model.constant * owner.dual_coef_.sum(axis=1) - less)

    def comparator_scores(self, X: Table, comparator: object) -> np.ndarray:
        """Scores of u = sum_i c_i k(x_i, .), over the rows of X."""
        model, table = self.learner._support(), np.atleast_2d(np.asarray(comparator, float))
        wanted = (model.start.outputs, X.shape[0])
        if table.shape != wanted:
            raise BadInput(f"the comparator has shape {table.shape}; wanted {wanted}, one number per row")
        return model.comparator_scores(self.learner._rows(X), table.T)

    def compared(self, X: Table, comparator: object, judge: Judge) -> Compared:
        """u = sum_i c_i k(x_i, .) beside the rows of a run; of several kernels (kernels, outputs, rows)."""
        model, count = self.learner._support(), X.shape[0]
        if count > MOST_ROWS:
            raise BadInput(
                f"a run with a kernel of {count:,} rows has a table of {count:,}^2 kernel values; wanted at "
                f"most {MOST_ROWS:,} rows"
            )
        grams, squares = model.support.grams(self.learner._rows(X), count)
        try:
            table = np.asarray(comparator, float)
        except (TypeError, ValueError):
            raise BadInput(f"the comparator is {shown(comparator)}; wanted a number per row of X") from None
        wanted = (len(grams), model.start.outputs, count)
        shaped = np.atleast_2d(table)
        if shaped.shape[-2:] != wanted[1:] or shaped.ndim == 3 and len(shaped) != wanted[0]:
            raise BadInput(f"the comparator has shape {table.shape}; wanted {wanted[1:]}, one number per row")
        if not np.isfinite(table).all():
            raise BadInput("the comparator holds NaN or infinity; wanted finite numbers")
        each = np.broadcast_to(shaped, wanted) @ grams  # (kernels, outputs, rows)
        parts = np.maximum((np.broadcast_to(shaped, wanted) * each).sum(axis=(1, 2)), 0.0)
        scores = np.ascontiguousarray(each.sum(axis=0).T)
        return Compared(scores, judge(scores), squares, parts, None, grams, judge)

    def explain(self, x: Any, k: int | None, intercept: np.ndarray, feature_names: object = None) -> Any:
        """What each support vector adds to each score of one example."""
        owner, model = self.learner, self.learner._support()
        if isinstance(x, Mapping):
            stream = owner._stream or open_stream(owner)
            stream.check(x)
            rows: Any = cast(DistanceStream, stream).row_of(x)
        else:
            given = x if hasattr(x, "columns") or np.ndim(x) == 2 else np.atleast_2d(x)
            table = owner._table(given, reset=False)
            rows = owner._rows(table)
            if table.shape[0] != 1:
                raise BadInput(f"got {table.shape[0]} rows; wanted one example")
            if first_not_finite(rows, 1) < 1:
                raise owner._bad_row(table, 0, "nothing was explained")
        values, numbers = model.kernel_values(rows), owner.support_
        lines = []
        for label, weights in zip(owner._targets().output_names(), owner.dual_coef_, strict=True):
            spoken = np.argsort(-np.abs(weights * values), kind="stable")[:k]
            lines += [
                (label, int(numbers[i]), float(weights[i]), float(values[i]), float(weights[i] * values[i]))
                for i in spoken
            ]
        return frame_of(lines, ["class", "support", "coefficient", "kernel", "contribution"])


def bytes_of(text: str) -> float:
    """ "64MB" is 64e6; "1GiB" 2^30."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", text)
    if found is None or found[2].upper() not in UNITS:
        raise BadInput(f"budget={shown(text)}; wanted a number of vectors, or text such as '64MB'")
    return float(found[1]) * UNITS[found[2].upper()]


def vectors_for(text: str, each: float, square: bool) -> int:
    """How many vectors of so many bytes fit, with 8 n^2 bytes for their matrix where one is kept."""
    total = bytes_of(text)
    count = (math.sqrt(each * each + 32.0 * total) - each) / 16.0 if square else total / each
    if count < 1:
        raise BadInput(
            f"budget={shown(text)} is too small for one vector ({each + 8 * square:.0f} bytes); raise it"
        )
    return int(count)


def _variance(X: Table) -> float:
    """Of all entries of a table."""
    if sp.issparse(X):
        values = X.data.astype(np.float64)
        size = X.shape[0] * X.shape[1]
        return float(np.square(values).sum() / size - (values.sum() / size) ** 2)
    return float(X.var(dtype=np.float64))


def _spread(X: Table, shifted: bool) -> float:
    """The mean squared length of some rows, from their median where that is how they are learned."""
    some = X[:: max(X.shape[0] // 1000, 1)]
    if sp.issparse(some):
        return float(np.square(some.data, dtype=np.float64).sum() / max(some.shape[0], 1))
    some = some - np.median(some, axis=0) if shifted else some
    return float(np.square(some, dtype=np.float64).sum() / max(len(some), 1))
