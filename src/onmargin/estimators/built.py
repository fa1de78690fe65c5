"""Learners made of a `Recipe`: classes and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.parts import plain
from ..errors import BadInput
from ..models.recipe import Recipe
from ..models.table import Row
from ..models.weights import Model
from .classifier import LinearClassifier
from .parameters import require_positive
from .regressor import LinearRegressor
from .regularized import NOT_SPARSE, check_p


class Built:
    """What a recipe makes of the parameters."""

    _numbers = False
    _may_overflow = True  # for all we know

    def _check_parameters(self) -> None:
        me: Any = self
        if not isinstance(me.recipe, Recipe):
            raise BadInput(f"recipe={me.recipe!r}; wanted an om.Recipe(...)")
        if me.recipe.regression != self._numbers:
            fits = "OnlineRegressor" if me.recipe.regression else "OnlineClassifier"
            raise BadInput(f"{me.recipe!r} is for an {fits}")
        super()._check_parameters()  # type: ignore[misc]
        for name in ("lam", "radius", "delta"):
            require_positive(name, getattr(me, name), False, False)
        require_positive("l1", me.l1, True, False)
        check_p(me.p)
        if me.average and me.recipe.given["space"] == "soft":
            raise BadInput(NOT_SPARSE)

    def _recipe(self) -> Row:
        me: Any = self
        row: Row = me.recipe.row(me._problem())
        return row

    def _wants(self) -> tuple[str, ...]:
        return ("norms",)

    def _choices(self) -> dict[str, Any]:
        me: Any = self
        given = me.recipe.given
        q = 2.0 if me.p is None else me.p / (me.p - 1.0)
        simplex = given["space"] in ("entropic", "simplex")
        return {
            "C": me.C, "margin": me.margin, "rate": 1.0 if given["step"] == "unit" else me.rate,
            "epsilon": 0.0 if given["loss"] in ("squared", "squared_error") else me.epsilon,
            "decay": 0.5 if given["step"] == "sqrt" else 0.0, "lam": me.lam, "l1": me.l1, "q": q,
            "scale": me.radius if simplex else 1.0 / (q if given["step"] == "aggressive" else q - 1.0),
            "delta": me.delta, "own": me.recipe.own,
        }  # fmt: skip

    def _set_weights(self, model: Model, coef: Any, intercept: Any) -> None:
        me: Any = self
        if (coef is not None or intercept is not None) and me.recipe.given["space"] != "l2":
            raise BadInput("coef_init is for space='l2'; other spaces start where they must")
        super()._set_weights(model, coef, intercept)  # type: ignore[misc]

    def _loss_values(self, margins: np.ndarray, required: float) -> np.ndarray:
        me: Any = self
        loss: Any = me.recipe._loss
        value = plain(loss) if isinstance(me.recipe.given["loss"], str) else loss
        return np.array([value(float(margin), required)[0] for margin in margins])

    @property
    def _has_blank(self) -> bool:
        return self.recipe.given["space"] != "simplex"  # type: ignore[attr-defined,no-any-return]


class OnlineClassifier(Built, LinearClassifier):  # type: ignore[override]
    """Any `om.Recipe` for classes, with every interface of the library.

    Parameters
    ----------
    recipe : the parts.
    C, margin, rate, lam, p, l1, radius, delta : numbers that its parts read: `hyper.C` and so on
        (`p` of p-norms: None is 2; `lam` of "shrunk"; `delta` of "adagrad" and "coin").

    See `Recipe` for an example.
    """

    epsilon = 0.0

    def __init__(
        self, recipe: Any, *, C: float = 1.0, margin: float = 1.0, rate: float = 1.0, lam: float = 1e-4,
        p: float | None = None, l1: float = 0.0, radius: float = 1.0, delta: float = 1.0,
        fit_intercept: bool = True, intercept_scaling: float = 1.0, average: bool = False,
        max_iter: int = 20, tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str = "float64", growing: bool = False,
    ) -> None:  # fmt: skip
        self.recipe, self.C, self.margin, self.rate, self.lam = recipe, C, margin, rate, lam
        self.p, self.l1, self.radius, self.delta = p, l1, radius, delta
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing = verbose, dtype, growing

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"recipe": Recipe()}

    @property
    def _apart(self) -> bool:  # type: ignore[override]
        return bool(self.recipe.given["task"] == "one_vs_all")

    @property
    def _bars(self) -> str:  # type: ignore[override]
        return "zero" if self._apart else "running"


class OnlineRegressor(Built, LinearRegressor):  # type: ignore[override]
    """Any `om.Recipe("regression", ...)`, with every interface of the library.

    Parameters
    ----------
    recipe : the parts.
    C, epsilon, rate, lam, p, l1, radius, delta : numbers that its parts read: `hyper.C` and so on.

    >>> import onmargin as om
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_diabetes(return_X_y=True)
    >>> recipe = om.Recipe("regression", loss="squared", step="sqrt")
    >>> model = om.OnlineRegressor(recipe, rate=0.1, random_state=0).fit(scale(X), scale(y))
    >>> model.score(scale(X), scale(y)) > 0.4
    True
    """

    _numbers, margin = True, 1.0

    def __init__(
        self, recipe: Any, *, C: float = 1.0, epsilon: float = 0.1, rate: float = 1.0, lam: float = 1e-4,
        p: float | None = None, l1: float = 0.0, radius: float = 1.0, delta: float = 1.0,
        fit_intercept: bool = True, intercept_scaling: float = 1.0, average: bool = False,
        max_iter: int = 20, tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, warm_start: bool = False, verbose: int = 0, dtype: str = "float64",
        growing: bool = False,
    ) -> None:  # fmt: skip
        self.recipe, self.C, self.epsilon, self.rate, self.lam = recipe, C, epsilon, rate, lam
        self.p, self.l1, self.radius, self.delta = p, l1, radius, delta
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.warm_start, self.verbose, self.dtype, self.growing = warm_start, verbose, dtype, growing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # as good as its recipe
        return tags

    def _problem(self) -> str:
        return "regression"

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"recipe": Recipe("regression", loss="epsilon_insensitive")}

    def _losses_of(self, scores: np.ndarray, y: Any) -> np.ndarray:
        return self._loss_values(-np.abs(scores[:, 0] - y), -float(self._choices()["epsilon"]))
