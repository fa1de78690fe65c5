"""OM-2 at work: one coefficient matrix, a weight for every kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.sides import Side
from ..learn.kernel_spaces.many import Many, MultiKernel
from .products import Evaluator
from .unbounded import Unbounded


class MultiKernelModel(Unbounded):
    """As the unbounded learners, kernel by kernel."""

    parts = (*Unbounded.parts, "norms", "omegas")
    whole_share = 2.0  # two classes in one row are two rows of opposite signs

    def _begin(self) -> None:
        super()._begin()
        self.norms, self.omegas = np.zeros((2, len(self.form.kernels)))

    def _fits(self) -> bool:
        return super()._fits() and self.norms.shape == self.omegas.shape == (len(self.form.kernels),)

    def _ready_block(
        self, evaluator: Evaluator, side: Side, own: np.ndarray, weights: np.ndarray, judged: bool
    ) -> Any:
        empty = np.zeros((0, self.width))
        self.space = MultiKernel(
            np.zeros((len(side), self.width)), empty, self.norms, self.omegas, np.zeros(2)
        )  # fmt: skip
        frozen = evaluator.sums(self.kept, side, self.coefficients.view)
        return Many(frozen, evaluator.grams(side, own), own)

    def _block_scores(
        self, evaluator: Evaluator, side: Side, coefficients: np.ndarray, centre: float | None
    ) -> np.ndarray:
        sums = evaluator.sums(self.kept, side, coefficients)
        scores = np.tensordot(self.omegas, sums, axes=1)[: self.start.outputs].T
        return np.asarray(scores * (2.0 if self.start.outputs == 1 else 1.0))
