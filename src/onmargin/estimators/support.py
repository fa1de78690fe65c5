"""The support of a kernel learner as its users see it, and which of its vectors spoke."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compiled.checks import first_not_finite
from ..errors import BadInput
from .explain import frame_of
from .kernel_form import is_linear
from .kernel_width import KernelWidth


class Support(KernelWidth):
    """`support_`, `support_vectors_`, `dual_coef_`, `n_support_`, `explain`."""

    @property
    def support_(self) -> np.ndarray:
        """Which rows are kept: row numbers of X in `fit`, numbers of the rows so far in streams."""
        return self._kernel_model().kept.ids.view.copy()

    @property
    def support_vectors_(self) -> Any:
        """The vectors kept, in the form they came in (precomputed kernels: none)."""
        table, width = self._kernel_model().kept.table(), self.n_features_in_
        if sp.issparse(table):
            table = table.copy()
            table.resize(table.shape[0], width)
            return table
        missing = max(width - table.shape[1], 0) if table.shape[1] else 0
        return np.pad(table, ((0, 0), (0, missing)))

    @property
    def n_support_(self) -> int:
        """How many vectors are kept."""
        return len(self._kernel_model().kept)

    @property
    def dual_coef_(self) -> np.ndarray:
        """(outputs, vectors) coefficients that predict; those of the average where one is kept."""
        model = self._kernel_model()
        table = model.mean_weights()[:, : model.start.outputs].T
        if self._bars == "dummy" and self._sets():
            table = table[:-1] - table[-1:]
        return np.array(table, order="C")

    def _spelled_out(self) -> np.ndarray:
        """(outputs, features) weights of a linear kernel."""
        model = self._kernel_model()
        if not is_linear(model):
            raise AttributeError(
                f"kernel={self.kernel!r} has no weights; it has dual_coef_ and support_vectors_"
            )
        return np.asarray(self.dual_coef_ @ self.support_vectors_)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, where there are such."""
        if not self._in_kernel:
            return super().coef_
        return self._spelled_out()

    @property
    def intercept_(self) -> np.ndarray:
        """What every score has added: the constant coordinate's share; for label sets less the threshold."""
        if not self._in_kernel:
            return super().intercept_
        model = self._kernel_model()
        running = self._bars == "running" and self._sets()
        bar = float(model.memory[0]) if running else 0.0
        return np.asarray(model.form.constant * self.dual_coef_.sum(axis=1) - bar)

    def _comparator_scores(self, X: Any, comparator: Any) -> np.ndarray:
        """Scores of u = sum_i c_i k(x_i, .), over the rows of X."""
        if not self._in_kernel:
            return super()._comparator_scores(X, comparator)
        model, table = self._kernel_model(), np.atleast_2d(np.asarray(comparator, float))
        wanted = (model.start.outputs, X.shape[0])
        if table.shape != wanted:
            raise BadInput(f"the comparator has shape {table.shape}; wanted {wanted}, one number per row")
        return model.scores_of(self._rows(X), table.T)

    def top_features(self, k: int = 10) -> Any:
        """The k heaviest features of every output."""
        if self._in_kernel:
            self._spelled_out()
        return super().top_features(k)

    def explain(self, x: Any, k: int | None = None) -> Any:
        """What each support vector adds to each score of one example.

        Columns class, support (its number in `support_`), coefficient, kernel, contribution. (Linear
        learners: what each feature adds.)
        """
        me: Any = self
        if not hasattr(self, "_output_names"):
            raise BadInput("a ball has a distance, not a sum to explain; see score_samples and radius_")
        if not self._in_kernel:
            return super().explain(x, k)
        model = self._kernel_model()
        if isinstance(x, Mapping):
            stream = me._stream or me._open()
            stream.packer.check(x)
            rows, count = stream.row_of(x), 1
            table = None
        else:
            table = me._table(
                x if hasattr(x, "columns") or np.ndim(x) == 2 else np.atleast_2d(x), reset=False
            )
            rows, count = me._rows(table), table.shape[0]
        if count != 1:
            raise BadInput(f"got {count} rows; wanted one example")
        if table is not None and first_not_finite(rows, 1) < 1:
            raise me._not_finite(table, 0, "nothing was explained")
        values, numbers = model.values_of(rows), self.support_
        lines = []
        for label, weights in zip(me._output_names(), self.dual_coef_, strict=True):
            spoken = np.argsort(-np.abs(weights * values), kind="stable")[:k]
            lines += [
                (label, int(numbers[i]), float(weights[i]), float(values[i]), float(weights[i] * values[i]))
                for i in spoken
            ]
        return frame_of(lines, ["class", "support", "coefficient", "kernel", "contribution"])
