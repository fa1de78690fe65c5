"""Ridge regression on the labels that were asked for: the learner inside BBQ."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
import scipy.sparse as sp

from ..compiled.rows import Rows, Sparse
from ..errors import BadInput, warn
from ..features.matrices import read_only
from ..interface.classifier import Classifier
from ..interface.dicts.streams import ModelStream
from ..interface.guard import answers
from ..interface.parameters.fields import (
    Classes,
    Growing,
    KernelParameters,
    Shuffled,
    flag,
    from_zero,
    group,
    learner,
    plain,
)
from ..interface.regressor import Regressor
from ..interface.support import KernelForm
from ..interface.tables import Table
from ..interface.targets.target import Coder, NumberTargets
from ..kernels import named
from ..models.kernel.forms import KernelRidge
from ..models.kernel.model import KernelModel
from ..models.kernel.ridge import RidgeModel
from ..models.kernel.support import Form
from ..models.weights import Model, Numbers

LONG = 1.0 + 1e-9
WIDE = 2048  # columns of a table beyond which the dual form is lighter: its square would take 32 MiB
WIDEST = 2**15  # names of dicts that may be learned with weights: 8 GiB
BOUND = "divide the targets by their bound"
WITHIN = f"wanted a number from -1 to 1; {BOUND}"


@group
class RidgeParameters:
    """What BBQ hands on beside the kernel's."""

    epsilon: float = from_zero(default=0.5)
    fit_intercept: bool = flag(default=False, lasting=True)
    scale: bool = flag(default=True)
    random_state: object = plain(default=None)


class Ridge(KernelForm):
    """w = P b over the examples whose label is known, rows being at most 1 long."""

    epsilon: float
    scale: bool
    variants = ()
    budget = None
    average = False
    dtype = "float64"
    intercept_scaling = 1.0
    _projects = True
    _has_lanes = False
    _stream_kind = ModelStream
    _linear_model = RidgeModel

    # ---- rows of at most 1

    @property
    def _is_dual(self) -> bool:
        """Without a kernel, spelled in vectors all the same: the first table has columns too many to square.

        The same estimates to rounding; a round costs the square of the labels asked for, not of the columns.
        """
        return self.kernel is None and self._columns.width > WIDE

    @property
    def _in_kernel(self) -> bool:
        return self.kernel is not None or self._is_dual

    @property
    def _shrink(self) -> float:
        """With a constant coordinate s all rows are divided by sqrt(1 + s^2), so that they stay within 1."""
        return 1.0 / math.sqrt(2.0) if self.fit_intercept and self.kernel is None else 1.0

    @property
    def _bias(self) -> float:
        return self._shrink if self.fit_intercept and self.kernel is None else 0.0

    def _widen(self, model: Model, slots: int) -> None:
        if not self._in_kernel and slots > WIDEST:  # (of dicts: what has been seen is no longer at hand)
            raise BadInput(
                f"{slots:,} features: BBQ keeps their square, and a stream that did not begin with a table "
                f"of more than {WIDE:,} columns may have {WIDEST:,}; set kernel='linear'"
            )
        super()._widen(model, slots)

    def _table(self, X: object, *, reset: bool, learning: bool = False) -> Table:
        table = super()._table(X, reset=reset, learning=learning)
        if self.kernel is not None:
            return table
        squares = table.multiply(table).sum(axis=1) if sp.issparse(table) else np.square(table).sum(axis=1)
        factors = self._factors(np.sqrt(np.asarray(squares, float).ravel()))
        if sp.issparse(table):
            return sp.csr_matrix(table.multiply(factors[:, None]))
        return np.ascontiguousarray(table * factors[:, None])

    def _row_of_dict(self, rows: Rows) -> Rows:
        if self.kernel is not None or not isinstance(rows, Sparse):
            return rows
        values = rows.values[: rows.starts[1]]
        factor = self._factors(np.array([math.sqrt(float(np.square(values).sum()))]))[0]
        return rows._replace(values=read_only(values * factor))

    def _factors(self, lengths: np.ndarray) -> np.ndarray:
        """What rows of these lengths are multiplied by."""
        long = np.isfinite(lengths) & (lengths > LONG)
        if long.any() and not self.scale:
            row = int(np.argmax(long))
            raise BadInput(
                f"row {row} has the norm {lengths[row]:.4g}, above 1; scale the rows, or set scale=True"
            )
        if long.any():
            warn(f"{int(long.sum())} rows have a norm above 1 and were scaled to 1", UserWarning)
        return np.asarray(np.where(long, 1.0 / np.maximum(lengths, 1.0), 1.0) * self._shrink)

    # ---- the model

    def row(self, problem: str) -> str:
        """Ridge regression with weights."""
        return f"ridge.{problem}"

    def _kernel_row(self) -> str:
        return f"evidence.{self._problem()}"

    def _model_kind(self) -> type[KernelModel]:
        return KernelRidge

    def _kernels(self, gamma: float | None) -> Form:
        if self._is_dual:  # rows are within 1 as they are; the constant coordinate is a constant
            return Form((named("linear", gamma, self.degree, self.coef0),), self._bias**2, self._precision())
        form = super()._kernels(gamma)
        (kernel,) = form.kernels
        unit = isinstance(self.kernel, str) and self.kernel in ("rbf", "laplacian")
        return form if unit else form._replace(kernels=(kernel.normalized(),))

    def numbers(self) -> Numbers:
        """How near is near."""
        return {"epsilon": self.epsilon, "margin": 1.0}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.fit_intercept and self.kernel is not None:
            raise BadInput("fit_intercept=True with a kernel would make rows longer than 1; leave it out")

    # ---- answers

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features (estimates are <w, x> / (1 + v))."""
        if self._is_dual:
            return np.asarray(self._solved() @ self.support_vectors_).reshape(1, -1) * self._shrink
        return np.asarray(super().coef_ * self._shrink)

    @property
    @answers
    def intercept_(self) -> np.ndarray:
        """Weight of the constant coordinate times its value."""
        if self._is_dual:
            return np.array([self._bias**2 * self._solved().sum()])
        return np.asarray(super().intercept_)

    def _solved(self) -> np.ndarray:
        return cast(KernelRidge, self._support()).solved()

    @answers
    def estimates(self, X: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The estimate, v and |Px|^2 of every row."""
        self._fitted()
        self._check_lasting()
        table = self._table(X, reset=False)
        return self.estimates_of(self._fitted(), self._rows(table), table.shape[0], table)

    def estimates_of(
        self, model: Model, rows: Rows, count: int, table: Table
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same of rows in the loop's form; `table` is what they came from (None: a dict)."""
        wide = cast(RidgeModel, self._form().with_room(model, table))
        *found, done = wide.estimates(rows, count)
        if done < count:
            raise self._bad_row(table, done, "nothing was predicted")
        estimates, variances, lengths = found
        return estimates, variances, lengths


@learner
class RidgeClassifier(Ridge, Classifier, Shuffled, Growing, Classes, KernelParameters, RidgeParameters):
    """Two classes as the numbers -1 and +1."""

    inside = True  # not public: BBQ's
    class_weight = None

    def row(self, problem: str) -> str:
        """Two classes, whatever came."""
        return "ridge.binary"

    def _kernel_row(self) -> str:
        return "evidence.binary"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._labels is not None and (self._labels.sets or len(self._labels.known) > 2):
            kind = "multilabel-indicator" if self._labels.sets else "multiclass"
            raise BadInput(
                f"Only binary classification is supported. The type of the target is {kind}; one BBQ a class"
            )

    def _refuse_new_class(self) -> None:
        raise BadInput("BBQ is for two classes, and a third label came; nothing was learned")


class UnitNumbers(NumberTargets):
    """Numbers in [-1, 1]; those beyond are cut to it, with one warning a call, or (`scale=False`) refused."""

    def __init__(self, owner: Ridge) -> None:
        super().__init__(owner)
        self.cut = bool(owner.scale)

    def read(self, y: object, count: int) -> np.ndarray:
        """y as numbers, none beyond 1."""
        numbers: np.ndarray = super().read(y, count)
        beyond = np.abs(numbers) > LONG
        if beyond.any() and not self.cut:
            row = int(np.argmax(beyond))
            raise BadInput(f"row {row} has the target {numbers[row]:g}; {WITHIN}, or set scale=True")
        if beyond.any():
            warn(f"{int(beyond.sum())} targets lie beyond [-1, 1] and were cut to it; {BOUND}", UserWarning)
        return np.asarray(np.clip(numbers, -1.0, 1.0))

    def number(self, y: object) -> float:
        """One target, checked."""
        number = super().number(y)
        if abs(number) > LONG and not self.cut:
            raise BadInput(f"the target is {number:g}; {WITHIN}, or set scale=True; nothing was learned")
        return min(max(number, -1.0), 1.0)

    def coder(self, coded: object) -> Coder:
        """Every target is looked at."""
        return None


@learner
class RidgeRegressor(Ridge, Regressor, Shuffled, Growing, KernelParameters, RidgeParameters):
    """Numbers in [-1, 1]."""

    inside = True  # not public: BBQRegressor's

    def _targets(self) -> UnitNumbers:
        return UnitNumbers(self)

    def _losses_of(self, scores: np.ndarray, y: object) -> np.ndarray:
        return np.asarray(0.5 * np.square(scores[:, 0] - y))
