"""`kernel=` and what goes with it: the kernel form of a learner, its support, its width, its budget."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, Diverged
from ..kernels import named
from ..kernels.base import positive
from ..kernels.simple import Linear
from ..learn.spaces.arrays import Start
from ..models.kernel import KernelModel
from ..models.kernel_forms import Bounded, Unbounded
from ..models.support import Form
from ..models.table import Row, row_named
from ..models.weights import Model
from .budgets import bytes_of
from .dicts import DictFace
from .fitting import Fitted
from .kernel_stream import LARGE, KernelStream
from .lessons import Lesson
from .linear import LinearWeights

# Share of k(x, x) below which a squared distance from a span may be rounding: the root of the precision.
# (With 1e-10 a plane of RBF vectors gives coefficients of 1e8 and scores of 300 in place of 4.) A budget
# has better use for its room than vectors that are nearly there already.
GRAIN, COARSE = 1e-8, 1e-4


class KernelForm(LinearWeights, DictFace, Fitted):
    """Learners with `kernel=None` are linear; with a kernel they are spelled in support vectors.

    What the parameters mean is said in `om.kernels`, where a user finds it.
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    budget: Any
    _projects = False  # few vectors whose Gram matrix is solved: values are wanted in float64

    @property
    def _in_kernel(self) -> bool:
        return self.kernel is not None

    # ---- the model

    def _kernel_row(self) -> str:
        """The row of the table of algorithms."""
        keeping = "kernel" if self.budget is None else "budget"
        return f"{keeping}_{self._recipe_name()}"

    def _recipe(self) -> Row:
        if not self._in_kernel:
            return super()._recipe()
        return row_named(self._kernel_row())

    def _model_kind(self) -> type[KernelModel]:
        return Unbounded if self.budget is None and not self._projects else Bounded

    def _made_model(self, start: Start) -> Model:
        if not self._in_kernel:
            return super()._made_model(start)
        start = start._replace(dtype="float64", wants=())
        return self._model_kind()(self._recipe(), start, self._all_choices(), self._form(self._given_gamma()))

    def _form(self, gamma: float | None) -> Form:
        kernel = named(self.kernel, gamma, self.degree, self.coef0)
        if gamma is not None:
            kernel = kernel.with_gamma(gamma)
        bias: float = self._bias
        return Form((kernel,), bias * bias, self._precision())

    def _precision(self) -> str:
        """float32 for kernel values, float64 on request; always where a Gram matrix is solved."""
        if self._projects or self.budget is not None:
            return "float64"
        given = getattr(self, "dtype", None)
        return "float32" if given is None else str(np.dtype(given).name)

    def _all_choices(self) -> dict[str, Any]:
        choices = dict(super()._all_choices())
        if not self._in_kernel:
            return choices
        begun = {} if self._model is None else self._model.numbers
        room = begun.get("room", math.inf) if isinstance(self.budget, str) else self.budget
        choices["room"] = math.inf if room is None else room
        choices["grain"] = GRAIN if self._projects else COARSE
        return choices

    def _given_gamma(self) -> float | None:
        return None if isinstance(self.gamma, str) else float(self.gamma)

    def _kernel_model(self) -> KernelModel:
        if not self._in_kernel:
            raise AttributeError("this learner is linear (kernel=None); it has coef_ and intercept_")
        model = self._fitted()
        if not isinstance(model, KernelModel):
            self._check_lasting()  # kernel= was set on a learner that has begun without one
        assert isinstance(model, KernelModel)
        return model

    # ---- checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self._in_kernel:
            if self.budget is not None:
                raise BadInput(f"budget={self.budget!r} is for kernel forms; set kernel=, or leave it out")
            return
        if self._is_precomputed() and getattr(self, "growing", False):
            raise BadInput("a precomputed table has a column for every row: set growing=False")
        if isinstance(self.gamma, str):
            if self.gamma not in ("scale", "auto"):
                raise BadInput(f"gamma={self.gamma!r}; wanted 'scale', 'auto' or a number above 0")
        elif positive("gamma", self.gamma) is None:
            raise BadInput("gamma=None; wanted 'scale', 'auto' or a number above 0")
        self._form(self._given_gamma())
        if isinstance(self.budget, str):
            bytes_of(self.budget)
        elif self.budget is not None and (
            isinstance(self.budget, bool) or not isinstance(self.budget, int | np.integer) or self.budget < 1
        ):
            raise BadInput(
                f"budget={self.budget!r}; wanted a number of vectors of at least 1, or text such as '64MB'"
            )

    def _table(self, X: Any, *, reset: bool, learning: bool = False) -> Any:
        table = super()._table(X, reset=reset, learning=learning)
        if not self._is_precomputed():
            return table
        if learning and table.shape[0] != table.shape[1]:
            raise BadInput(
                f"kernel='precomputed' got a table of {table.shape[0]} x {table.shape[1]}; wanted a square "
                "one, k(x_i, x_j) of all training rows"
            )
        return table.toarray() if sp.issparse(table) else table

    def _by_columns(self, X: Any) -> Any:
        """A frame by names; columns never met come after all others, for distances count them."""
        if not self._in_kernel or not hasattr(X, "columns") or self._slots is None:
            return super()._by_columns(X)
        slots, names = self._slots, list(X.columns)
        new = {name: len(slots) + number for number, name in enumerate(n for n in names if n not in slots)}
        into = np.array([slots[name] if name in slots else new[name] for name in names], np.int32)
        table = sp.csr_matrix(np.asarray(X, dtype=np.float64))
        shape = (table.shape[0], max(len(slots) + len(new), 1))
        return sp.csr_matrix((table.data, into[table.indices], table.indptr), shape=shape)

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _refuse_streams(self) -> None:
        if self._is_precomputed():
            raise BadInput("kernel='precomputed' needs the whole table; use fit(K, y), not a stream")

    def _partial_fit(self, *arguments: Any) -> Any:
        self._refuse_streams()
        return super()._partial_fit(*arguments)

    def _open(self, y: Any = None) -> Any:
        self._refuse_streams()
        return super()._open(y)

    def _new_stream(self, model: Model, slots: Any) -> Any:
        if isinstance(model, KernelModel):
            return KernelStream(self, model, slots)
        return super()._new_stream(model, slots)

    def _check_example(self, x: Any) -> None:
        """Refuse a dict that the kernel cannot take, before anything grows."""
        if self._in_kernel and self._stream is not None:
            self._stream.check_kernel(x)

    def _not_finite(
        self, X: Any, row: int, done: str = "nothing was learned", names: list[Any] | None = None
    ) -> BadInput:
        """The line for a row that cannot be used; of a kernel, also one that its values overflow on."""
        error: BadInput = super()._not_finite(X, row, done, names)
        if self._in_kernel and isinstance(error, Diverged):
            return BadInput(
                f"row {row} has kernel values that are not finite; {done}; scale the values, or set "
                "dtype='float64'"
            )
        return error

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.positive_only = isinstance(self.kernel, str) and self.kernel == "chi2"
        return tags

    def _learning_copy(self, X: Any, lesson: Lesson) -> Model:
        if not self._in_kernel:
            return super()._learning_copy(X, lesson)
        mine = self._kernel_model()
        safe = all(kernel.safe for kernel in mine.form.kernels)
        if safe and mine.entries > X.shape[0] * X.shape[1] and _largest(X) < LARGE:
            return mine  # rows are checked in `_fit_in`; nothing can fail on the way
        return mine.copy()

    def _set_weights(self, model: Model, coef: Any, intercept: Any) -> None:
        if not self._in_kernel:
            super()._set_weights(model, coef, intercept)
        elif coef is not None or intercept is not None:
            raise BadInput(
                "a kernel learner has no weights to start from; leave coef_init and intercept_init out"
            )

    def _check_start(self, model: Model) -> None:
        if not self._in_kernel:
            super()._check_start(model)
        elif isinstance(model, KernelModel) and getattr(self, "margin", 1.0) == 0 and not len(model.kept):
            raise BadInput("margin=0 from an empty support never moves; give a margin above 0")

    def _drops_new_columns(self) -> bool:
        return not self._in_kernel  # a distance counts them


def _largest(X: Any) -> float:
    values = X.data if sp.issparse(X) else X
    return float(np.abs(values).max(initial=0.0))


def is_linear(model: KernelModel) -> bool:
    """Can the coefficients be spelled as weights?"""
    return len(model.form.kernels) == 1 and isinstance(model.form.kernels[0], Linear)
