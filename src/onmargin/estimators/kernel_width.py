"""What a kernel learner's first data decides for good: gamma, the precision, room in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compiled.checks import first_not_finite
from ..features.tables import canonical
from ..models.kernel import KernelModel
from ..models.support import FAR
from ..models.weights import Model
from .budgets import bytes_of, vectors_for
from .kernel_form import KernelForm


class KernelWidth(KernelForm):
    """`gamma_` and `budget_`."""

    def _fit_in(self, model: Model, X: Any) -> None:
        if isinstance(model, KernelModel):
            bad = first_not_finite(self._rows(X), X.shape[0])
            if bad < X.shape[0]:
                raise self._not_finite(X, bad)
        super()._fit_in(model, X)
        if isinstance(model, KernelModel) and not model.clock:
            X = canonical(X) if sp.issparse(X) else X
            variance = _variance(X) if self.gamma == "scale" else 1.0
            self._fix_kernel(model, X.shape[1], variance, X)
            filled = X.nnz / max(X.shape[0], 1) if sp.issparse(X) else float(X.shape[1])
            self._fix_budget(model, filled, sp.issparse(X), X.dtype.itemsize)

    def _fix(self, model: Model, values: np.ndarray) -> None:
        super()._fix(model, values)
        if isinstance(model, KernelModel):
            features = int(model.live[0])
            self._fix_kernel(model, features, 1.0, sp.csr_matrix(values[None, :]))
            self._fix_budget(model, float(features), True, 8)

    def _fix_kernel(self, model: KernelModel, features: int, variance: float, X: Any) -> None:
        """gamma, and whether float32 will do: not where rows lie far from the origin, beside the width."""
        gamma = self._given_gamma()
        if gamma is None:
            gamma = 1.0 / (max(features, 1) * variance) if variance > 0 else 1.0
        form = self._form(gamma)
        shifted = form.shifts and not sp.issparse(X)
        if form.sharpness * _spread(X, shifted) > FAR:
            form = form._replace(direct=sp.issparse(X))
            if getattr(self, "dtype", None) is None:
                form = form._replace(dtype="float64")
        model.fix(gamma, form)

    def _fix_budget(self, model: KernelModel, filled: float, sparse: bool, itemsize: int) -> None:
        if isinstance(self.budget, str):
            each = filled * (itemsize + model.kept.dtype.itemsize + 4 * sparse) + 40
            each += 8 * model.width * (2 if model.start.average else 1)
            room = vectors_for(self.budget, each, self._has_square())
            model.choose(model.row, model.numbers | {"room": room, "bytes": bytes_of(self.budget)})

    def _refresh(self, model: Model) -> None:
        """Go on with the parameters as they are now; room that was counted in memory stays."""
        counted = {name: model.numbers[name] for name in ("room", "bytes") if name in model.numbers}
        super()._refresh(model)
        if isinstance(self.budget, str) and "bytes" in counted:
            model.choose(model.row, model.numbers | counted)

    def _has_square(self) -> bool:
        return True

    @property
    def gamma_(self) -> float:
        """The width as it is used."""
        return float(self._kernel_model().gamma)

    @property
    def budget_(self) -> float:
        """Vectors that may be kept (inf: as many as come)."""
        return float(self._kernel_model().numbers["room"])


def _variance(X: Any) -> float:
    """Of all entries of a table."""
    if sp.issparse(X):
        values = X.data.astype(np.float64)
        size = X.shape[0] * X.shape[1]
        return float(np.square(values).sum() / size - (values.sum() / size) ** 2)
    return float(X.var(dtype=np.float64))


def _spread(X: Any, shifted: bool) -> float:
    """The mean squared length of some rows, from their median where that is how they are learned."""
    some = X[:: max(X.shape[0] // 1000, 1)]
    if sp.issparse(some):
        return float(np.square(some.data, dtype=np.float64).sum() / max(some.shape[0], 1))
    some = some - np.median(some, axis=0) if shifted else some
    return float(np.square(some, dtype=np.float64).sum() / max(len(some), 1))
