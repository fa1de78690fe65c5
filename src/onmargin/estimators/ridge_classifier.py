"""The learner inside BBQ: ridge regression on the labels that were asked for, rows being at most 1 long."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compiled.rows import Sparse
from ..errors import BadInput
from ..features.tables import read_only
from ..learn.vocabulary import NO_TRACE, Examples
from ..models.kernel_forms import KernelRidge as Evidence
from ..models.table import Row, row_named
from ..models.weights import Model
from .classifier import LinearClassifier
from .kernel_stream import KernelStream
from .lessons import NO_ORDER, NONE
from .stream import Stream
from .support import Support

LONG = 1.0 + 1e-9


class RidgeClassifier(Support, LinearClassifier):
    """The learner inside: w = P b over the examples whose label is known, rows being at most 1 long."""

    class_weight = None
    budget = None
    average = False
    dtype = "float64"
    intercept_scaling = 1.0
    _projects = True
    _has_lanes = False

    def __init__(
        self, *, epsilon: float = 0.5, fit_intercept: bool = False, scale: bool = True, kernel: Any = None,
        gamma: Any = "scale", degree: int = 3, coef0: float = 0.0, classes: Any = None,
        shuffle: bool = True, random_state: Any = None, growing: bool = False,
    ) -> None:  # fmt: skip
        self.epsilon, self.fit_intercept, self.scale = epsilon, fit_intercept, scale
        self.kernel, self.gamma, self.degree, self.coef0 = kernel, gamma, degree, coef0
        self.classes, self.shuffle, self.random_state, self.growing = classes, shuffle, random_state, growing

    # ---- rows of at most 1

    @property
    def _shrink(self) -> float:
        """With a constant coordinate s all rows are divided by sqrt(1 + s^2), so that they stay within 1."""
        return 1.0 / math.sqrt(2.0) if self.fit_intercept and not self._in_kernel else 1.0

    @property
    def _bias(self) -> float:  # type: ignore[override]
        return self._shrink if self.fit_intercept and not self._in_kernel else 0.0

    def _table(self, X: Any, *, reset: bool, learning: bool = False) -> Any:
        table = super()._table(X, reset=reset, learning=learning)
        if self._in_kernel:
            return table
        squares = table.multiply(table).sum(axis=1) if sp.issparse(table) else np.square(table).sum(axis=1)
        lengths = np.sqrt(np.asarray(squares, float).ravel())
        factors = self._factors(lengths, 4)
        if sp.issparse(table):
            return sp.csr_matrix(table.multiply(factors[:, None]))
        return np.ascontiguousarray(table * factors[:, None])

    def _factors(self, lengths: np.ndarray, depth: int) -> np.ndarray:
        """What rows of these lengths are multiplied by."""
        long = np.isfinite(lengths) & (lengths > LONG)
        if long.any() and not self.scale:
            row = int(np.argmax(long))
            raise BadInput(
                f"row {row} has the norm {lengths[row]:.4g}, above 1; scale the rows, or set scale=True"
            )
        if long.any():
            warnings.warn(
                f"{int(long.sum())} rows have a norm above 1 and were scaled to 1", UserWarning,
                stacklevel=depth + 2,
            )  # fmt: skip
        return np.asarray(np.where(long, 1.0 / np.maximum(lengths, 1.0), 1.0) * self._shrink)

    # ---- the model

    def _recipe_name(self) -> str:
        return "ridge.binary"

    def _recipe(self) -> Row:
        return row_named("evidence.binary" if self._in_kernel else "ridge.binary")

    def _kernel_row(self) -> str:
        return "evidence.binary"

    def _model_kind(self) -> Any:
        return Evidence

    def _form(self, gamma: float | None) -> Any:
        form = super()._form(gamma)
        (kernel,) = form.kernels
        unit = isinstance(self.kernel, str) and self.kernel in ("rbf", "laplacian")
        return form if unit else form._replace(kernels=(kernel.normalized(),))

    def _choices(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "margin": 1.0}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.fit_intercept and self._in_kernel:
            raise BadInput("fit_intercept=True with a kernel would make rows longer than 1; leave it out")
        if self._labels is not None and (self._labels.sets or len(self._labels.known) > 2):
            kind = "multilabel-indicator" if self._labels.sets else "multiclass"
            raise BadInput(
                f"Only binary classification is supported. The type of the target is {kind}; one BBQ a class"
            )

    def _check_open(self) -> None:
        raise BadInput("BBQ is for two classes, and a third label came; nothing was learned")

    def _lesson(self, X: Any, y: Any, sample_weight: Any) -> Any:
        lesson = super()._lesson(X, y, sample_weight)
        self._refuse_weight(lesson.weights)
        return lesson

    def _weigh(self, w: Any) -> float:
        weight = super()._weigh(w)
        self._refuse_weight(np.array([weight]))
        return weight

    def _refuse_weight(self, weights: np.ndarray) -> None:
        if self._in_kernel and not np.isin(weights, (0.0, 1.0)).all():
            raise BadInput(
                "BBQ with a kernel counts an example once or not at all; wanted weights of 0 and 1"
            )

    def _new_stream(self, model: Model, slots: Any) -> Any:
        stream = super()._new_stream(model, slots)
        return stream if isinstance(stream, KernelStream) else RidgeStream(self, model, slots)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features (estimates are <w, x> / (1 + v))."""
        return np.asarray(super().coef_ * self._shrink)

    # ---- answers

    def estimates(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The estimate, v and |Px|^2 of every row."""
        self._fitted()
        self._check_lasting()
        table = self._table(X, reset=False)
        return self.estimates_of(self._rows(table), table.shape[0], table)

    def estimates_of(self, rows: Any, count: int, table: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same of rows in the loop's form; `table` is what they came from (None: a dict)."""
        model = self._fitted()
        if isinstance(model, Evidence):
            estimates, variances, lengths, done = model.estimates(rows, count)
        else:
            scores, done = model.scores(rows, count, False)
            whole: Any = rows.values
            if isinstance(rows, Sparse):
                used = slice(0, rows.starts[-1])
                places = rows.indices[used].astype(np.int64)
                whole = sp.csr_matrix((rows.values[used], places, rows.starts))
            width, sigma = whole.shape[1], model.space.sigma[0]
            reach = np.asarray(whole @ sigma[:width]) + rows.bias * sigma[-1]
            product = whole.multiply(reach[:, :width]) if sp.issparse(whole) else whole * reach[:, :width]
            variances = np.asarray(product.sum(axis=1), float).ravel() + rows.bias * reach[:, -1]
            estimates, lengths = scores[:, 0], np.square(reach).sum(axis=1)
        if done < count:
            raise self._not_finite(table, done, "nothing was predicted")
        return estimates, variances, lengths


class RidgeStream(Stream):
    """Dicts as rows of at most 1."""

    def bind(self) -> None:
        """Room for a target, and what labels mean."""
        owner = self.owner
        self.target, self.weight = owner._new_target(), np.ones(1)
        self.rows, self.space = self.packer.rows, self.model.space
        self.room = self.model.start.slots - 2
        self.packer.blank = self.room
        self.coded: dict[Any, float] | None = owner._coded()
        self.quick, self.answers = False, None

    def scaled(self) -> Sparse:
        """The row just packed, scaled."""
        rows = self.packer.rows
        values = rows.values[: rows.starts[1]]
        length = math.sqrt(float(np.square(values).sum()))
        factor = self.owner._factors(np.array([length]), 5)[0]
        return rows._replace(values=read_only(values * factor))

    def learn(self, x: Mapping[Hashable, Any], weight: float, trace: Any = NO_TRACE) -> tuple[Any, ...]:
        """Play one round; example and target are in place, and checked."""
        weights = NONE if weight == 1.0 else np.full(1, weight)
        tally = self.model.learn(Examples(self.scaled(), self.target, weights, NONE, NO_ORDER), 0, 1, trace)
        if not tally.stopped:
            self.packer.refuse(x)
        return tuple(tally)

    def row_for(self, x: Mapping[Hashable, Any]) -> Any:
        """One dict as a row to be answered."""
        self._ask(x)
        return self.scaled()

    def scores(self, x: Mapping[Hashable, Any]) -> np.ndarray:
        """The estimate of one dict."""
        scores, done = self.model.scores(self.row_for(x), 1, False)
        if not done:
            self.packer.refuse(x)
        return scores
