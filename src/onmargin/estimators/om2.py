"""OM-2: many kernels at once, weighed while learning."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, shown
from ..features.slots import Slots
from ..interface.classifier import Classifier
from ..interface.guard import answers
from ..interface.parameters.fields import (
    Growing,
    Labelled,
    Passes,
    Shuffled,
    above_zero,
    learner,
    plain,
    precision,
)
from ..interface.support import KernelForm
from ..interface.tables import Table
from ..kernels import named
from ..kernels.base import Kernel, positive
from ..kernels.composed import Columns
from ..kernels.simple import Precomputed
from ..models.kernel.forms import MultiKernel
from ..models.kernel.model import KernelModel
from ..models.kernel.support import Form
from ..models.weights import Model, Numbers
from .ftrl import between_1_and_2

WIDTHS = (0.1, 1.0, 10.0)  # of the default kernels, times 1 / (features x variance)


@learner
class OM2(KernelForm, Classifier, Passes, Shuffled, Growing, Labelled):
    """Learn from several kernels with one set of coefficients; kernels that help get more weight.

    g(w) = q/2 |w|_{2,p}^2 over the kernels' spaces: scores are sum_j omega_j sum_i beta_i k_j(x_i, x) with
    omega_j = 1/q (|theta^j| / |theta|_{2,q})^{q-2}. Of updates (and mistakes) there are at most
    (UX sqrt(q) + sqrt(q U^2 X^2 + 4L))^2 / 4. q near 2 is the sum of all kernels, a large q picks few.

    Parameters
    ----------
    kernels : None (linear, and RBF at three widths), "precomputed" (`fit(K, y)` with K of shape (F, n, n),
        `predict(K)` (F, m, n)), or a list of names, (name, parameters) pairs, functions, `om.kernels`.
    views : None, or one group of columns per kernel (numbers, or names of a frame's columns).
    q, p : the dual norm's exponent of at least 2, or p = q / (q - 1); None: max(2, 2 ln F).
    max_iter : passes of `fit`; a row that comes again adds to its own coefficient.

    `kernel_weights_` is omega; `plot_kernels()` draws it. No bias, no average.

    Reference: Jie, Orabona, Fornoni, Caputo & Cesa-Bianchi 2010.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OM2(random_state=1, max_iter=10, tol=None).fit(X, y)
    >>> model.score(X, y) > 0.9, model.kernel_weights_.shape
    (True, (4,))
    """

    kernels: Any = plain(default=None, lasting=True)
    views: Any = plain(default=None, lasting=True)
    q: float | None = above_zero(
        default=None,
        none=True,
        lasting=True,
        also=lambda value: value >= 2,
        wanted="a number of at least 2",
    )
    p: float | None = above_zero(
        default=None,
        none=True,
        lasting=True,
        also=between_1_and_2,
        wanted="a number above 1 and up to 2",
    )
    dtype: str | None = precision(default=None)

    kernel, gamma, degree, coef0, budget, fit_intercept = "many", "scale", 3, 0.0, None, False
    n_kernels_ = 0  # precomputed: how many matrices

    # ---- kernels

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def _listed(self) -> list[Any]:
        """The kernels, one by one."""
        if self.kernels is None:
            return ["linear", *(("rbf", {"times": width}) for width in WIDTHS)]
        if isinstance(self.kernels, str) or not isinstance(self.kernels, list | tuple) or not self.kernels:
            raise BadInput(
                f"kernels={shown(self.kernels)}; wanted a list of names, (name, parameters) pairs, functions "
                "or om.kernels, or 'precomputed'"
            )
        return list(self.kernels)

    def _kernels(self, gamma: float | None) -> Form:
        if self._is_precomputed():
            rows = self._columns.width // max(self.n_kernels_, 1)
            blocks = [Precomputed(number * rows) for number in range(self.n_kernels_)]
            return Form(tuple(blocks), 0.0, self._precision())
        made = [_made(kernel, gamma) for kernel in self._listed()]
        if self.views is not None:
            made = [Columns(kernel, self._view(view)) for kernel, view in zip(made, self.views, strict=True)]
        return Form(tuple(made), 0.0, self._precision())

    def _first_names(self) -> tuple[Slots, bool]:
        """Streams of dicts: columns that the views name are known before the first example."""
        views = [] if self.views is None or isinstance(self.views, int) else list(self.views)
        return Slots(name for view in views if not isinstance(view, slice) for name in _single(view)), True

    def _view(self, view: Any) -> np.ndarray:
        """A view's columns as numbers."""
        width = self._columns.width
        if isinstance(view, slice):
            view = range(*view.indices(max(width, 1)))
        names: dict[Any, int] = self._columns.slots or {}
        found: list[Any] = [
            names.get(column, column) if isinstance(column, Hashable) else column for column in _single(view)
        ]
        if not found or not all(isinstance(column, int | np.integer) and column >= 0 for column in found):
            raise BadInput(f"views has {shown(view)}; wanted groups of column numbers, or names of columns")
        if width and max(found) >= width and not self._columns.by_name:
            raise BadInput(f"views names column {max(found)}, but X has {width} columns")
        return np.array(found, np.int64)

    def _model_kind(self) -> type[KernelModel]:
        return MultiKernel

    def row(self, problem: str) -> str:
        """om2.binary, ..."""
        return f"om2.{problem}"

    def _kernel_row(self) -> str:
        return self.row(self._problem())

    def numbers(self) -> Numbers:
        """The dual norm's exponent."""
        count = len(self._kernels(1.0).kernels)
        if self.q is not None:
            return {"q": float(self.q)}
        if self.p is not None:
            return {"q": float(self.p / (self.p - 1.0))}
        return {"q": max(2.0, 2.0 * math.log(count))}

    def _check_parameters(self) -> None:
        if not self._is_precomputed():
            listed = self._listed()
            if self.views is not None and not isinstance(self.views, list | tuple):
                raise BadInput(f"views={shown(self.views)}; wanted groups of column numbers, one per kernel")
            if self.views is not None and len(self.views) != len(listed):
                raise BadInput(f"views has {len(self.views)} groups; wanted {len(listed)}, one per kernel")
        super()._check_parameters()
        if self.q is not None and self.p is not None:
            raise BadInput("q and p say the same thing; give one of them")

    # ---- tables

    def _table(self, X: Any, *, reset: bool, learning: bool = False) -> Table:
        if not self._is_precomputed():
            return super()._table(X, reset=reset, learning=learning)
        if np.iscomplexobj(X):
            raise BadInput("Complex data not supported; wanted real kernel values")
        cube = np.asarray(X, float) if not sp.issparse(X) else np.zeros(0)
        if cube.ndim != 3 or (learning and cube.shape[1] != cube.shape[2]):
            raise BadInput(
                f"kernels='precomputed' got shape {np.shape(X)}; wanted (F, n, n) to fit, (F, m, n) to ask"
            )
        if reset:
            self.n_kernels_ = cube.shape[0]
        elif cube.shape[0] != self.n_kernels_:
            raise BadInput(f"got {cube.shape[0]} matrices; wanted {self.n_kernels_}, one per kernel")
        flat = np.ascontiguousarray(
            cube.transpose(1, 0, 2).reshape(cube.shape[1], cube.shape[0] * cube.shape[2])
        )
        return super()._table(flat, reset=reset)  # (not square any more)

    def _start_from(self, model: Model, coef: object, intercept: object) -> None:
        if coef is not None or intercept is not None:
            raise BadInput("OM2 has no weights to start from; leave coef_init= out")

    # ---- what was learned

    @property
    @answers
    def kernel_weights_(self) -> np.ndarray:
        """omega: what each kernel's scores are multiplied by."""
        return cast(MultiKernel, self._support()).kernel_weights()

    def plot_kernels(self, names: list[str] | None = None, ax: object = None) -> Any:
        """The kernels' weights as bars; returns the figure."""
        from ..results.plots import kernel_bars

        if names is None:
            names = [f"kernel {number}" for number in range(len(self.kernel_weights_))]
            if not self._is_precomputed():
                names = [_said(kernel) for kernel in self._listed()]
        return kernel_bars(names, self.kernel_weights_, ax=ax)

    @answers
    def explain(self, x: object, k: int | None = None, feature_names: object = None) -> Any:
        """Not for many kernels."""
        raise BadInput("OM2 has many kernels to explain with; look at kernel_weights_, or plot_kernels()")


def _made(kernel: Any, gamma: float | None) -> Kernel:
    """One entry of `kernels`; its own gamma, or the data's."""
    if isinstance(kernel, tuple) and len(kernel) == 2 and isinstance(kernel[1], dict):
        given = dict(kernel[1])
        times = given.pop("times", None)
        if times is not None:
            positive(f"times of {kernel[0]!r}", times)
            given["gamma"] = None if gamma is None else times * gamma
        unknown = set(given) - {"gamma", "degree", "coef0"}
        if unknown:
            raise BadInput(f"kernel {shown(kernel)} has an unknown parameter {shown(unknown.pop())}")
        made = named(kernel[0], **given)
    else:
        made = named(kernel)
    if isinstance(made, Precomputed):
        raise BadInput("kernels holds 'precomputed' beside others; give kernels='precomputed' for all")
    return made if gamma is None else made.with_gamma(gamma)


def _single(view: Any) -> list[Any]:
    """The columns of a view, one by one."""
    try:
        return [view] if isinstance(view, str) else list(view)
    except TypeError:
        raise BadInput(f"views has {shown(view)}; wanted groups of columns, numbers or names") from None


def _said(kernel: Any) -> str:
    if isinstance(kernel, tuple):
        return f"{kernel[0]} {', '.join(f'{name}={value:g}' for name, value in kernel[1].items())}"
    return kernel if isinstance(kernel, str) else getattr(kernel, "__name__", repr(kernel))
