"""The Perceptron."""

from __future__ import annotations

from typing import Any

from ..errors import BadInput
from ..models.weights import Model
from .classifier import LinearClassifier
from .support import Support


class Perceptron(Support, LinearClassifier):
    """Learn from mistakes only: w += e y x where y <w, x> <= 0.

    For every u with U = |u|, R = max |x| and L the hinge losses of u over the mistakes, the number
    of mistakes is at most (UR + sqrt(U^2 R^2 + 4L))^2 / 4, whatever the order of the examples
    (with `init="zero"`). Several classes: the true class against its best rival (`update="top"`) or
    against all that score at least as high (`"uniform"`); label sets: the lowest relevant label
    against the highest irrelevant one.

    Parameters
    ----------
    rate : length e of a step (2 rho of the papers); with a zero start it changes no prediction.
    update : "top" or "uniform", for several classes.
    init : "zero", or "random" for standard normal weights.
    horizon : None, or how many rounds are remembered: w is multiplied by 1 - 1 / horizon every round.
    kernel, gamma, degree, coef0, budget : the kernel form, w = sum_i alpha_i k(x_i, .); see `om.kernels`.

    References: Rosenblatt 1958; Novikoff 1962; Crammer & Singer 2003.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Perceptron(random_state=0, average=True, tol=None).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self, *, rate: float = 1.0, update: str = "top", init: str = "zero", fit_intercept: bool = True,
        intercept_scaling: float = 1.0, average: bool = False, max_iter: int = 20,
        tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str | None = None, growing: bool = False,
        horizon: float | None = None, kernel: Any = None, gamma: Any = "scale", degree: int = 3,
        coef0: float = 0.0, budget: Any = None,
    ) -> None:  # fmt: skip
        self.rate, self.update, self.init = rate, update, init
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing, self.horizon = verbose, dtype, growing, horizon
        self.kernel, self.gamma, self.degree, self.coef0, self.budget = kernel, gamma, degree, coef0, budget

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.update not in ("top", "uniform"):
            raise BadInput(f"update={self.update!r}; wanted 'top' or 'uniform'")
        if self.init not in ("zero", "random"):
            raise BadInput(f"init={self.init!r}; wanted 'zero' or 'random'")
        if self.init == "random" and self._in_kernel:
            raise BadInput("init='random' draws weights, which a kernel learner has not; set init='zero'")

    def _recipe_name(self) -> str:
        problem = self._problem()
        return f"perceptron.{self.update if problem == 'top' else problem}"

    def _choices(self) -> dict[str, Any]:
        return {"rate": self.rate, "margin": 0.0}

    def _begin(self, model: Model, known: int) -> None:
        """A random start is drawn slot by slot, so that it is the same however the slots came."""
        if self.init == "zero":
            return
        weights, outputs = model.space.weights, model.start.outputs
        wide = weights.reshape(len(weights), -1)
        last = len(weights) - 1
        draws = self._generator(1).standard_normal((last, outputs))
        wide[known:last, :outputs] = draws[known:]
        if known == 0 and self._bias:
            wide[last, :outputs] = self._generator(2).standard_normal(outputs)

    @property
    def _has_blank(self) -> bool:  # type: ignore[override]
        return self.init == "zero"  # a random start has no slot that stands for all
