"""Ridge regression on labels, with weights: estimates, and how sure they are (BBQ)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...compiled.rows import Rows, Sparse
from ..weights import Model

Estimates = tuple[np.ndarray, np.ndarray, np.ndarray, int]
"""Of rows: the estimate, v = x'Px, |Px|^2; and how many were finite from the first on."""


class RidgeModel(Model):
    """w = P b, P = (I + sum of x x')^-1"""

    def estimates(self, rows: Rows, count: int) -> Estimates:
        """Of rows 0 .. count - 1."""
        scores, done = self.scores(rows, count, False)
        table: Any = rows.values
        sigma = self.space.sigma[0]
        if isinstance(rows, Sparse):
            used, shape = slice(0, rows.starts[-1]), (len(rows.starts) - 1, len(sigma) - 1)
            table = sp.csr_matrix(
                (rows.values[used], rows.indices[used].astype(np.int64), rows.starts), shape
            )
        width = table.shape[1]
        reach = np.asarray(table @ sigma[:width]) + rows.bias * sigma[-1]
        product = table.multiply(reach[:, :width]) if sp.issparse(table) else table * reach[:, :width]
        variances = np.asarray(product.sum(axis=1), float).ravel() + rows.bias * reach[:, -1]
        return scores[:, 0], variances, np.square(reach).sum(axis=1), done
