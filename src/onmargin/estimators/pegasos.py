"""Pegasos: the SVM objective, one example at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import clone as sklearn_clone
from sklearn.utils.validation import _num_samples

from ..errors import BadInput, require_whole
from ..features.slots import Slots
from ..models.weights import Model
from .lessons import NO_ORDER, Lesson
from .objective import SvmObjective
from .orders import Orders
from .parameters import require_positive
from .priors import Prior
from .support import Support

ORDERS = ("shuffle", "cyclic", "random")


class Pegasos(Support, SvmObjective):
    """The support vector machine by stochastic subgradient steps of length 1 / (lam t).

    f(w) = lam/2 |w - prior|^2 + 1/N sum c_i [1 - y_i <w, x_i>]_+; in round t
    w <- prior + (1 - 1/t) (w - prior) + c y x / (lam t) where the margin is below 1. Every step costs
    O(nonzeros), averaged or not. For any order and any u the regret in f is at most
    sum |gradient|^2 / (2 lam t).

    Parameters
    ----------
    lam : weight of the regulariser; None: 1 / N in `fit`, 1e-4 in streams (`lam_`). C of an SVM with
        a sum of losses is 1 / (lam N).
    order : of `fit`: "shuffle" (a permutation each pass), "cyclic", "random" (with replacement; the
        theorem's setting). Streams go in row order.
    batch_size : examples that share one step; an unfinished batch is carried into the next call.
    project : keep w in the ball of radius sqrt(f(prior) / lam), which contains the optimum.
    average : True (mean of the weights that predicted), a share such as 0.5 (of the last of them), False.
    prior : (coefficients, intercept) or a fitted linear model: regularise towards it (transfer). It is
        kept through `clone`.
    multiclass : "crammer_singer" (the true class against its best rival) or "one_vs_all".
    fit_intercept : True (inside the norm), False, or "free" (not regularised; no guarantee then).
    kernel, gamma, degree, coef0, budget : the kernel form, one coefficient per row however often it comes;
        see `om.kernels`. Without project, prior, a share as average, or a free intercept.
    class_weight : c_i by class; "balanced": n / (K n_y), in streams by running counts.

    After `fit`: `objective_`, and `dual_gap_`, which is at least objective_ - min f. With a share as
    `average`, exactly that share of the last hypotheses is averaged when `fit` makes all of `max_iter`
    passes (`tol=None`); streams, and fits that stop early, take between that share and 1 - (1 - share)^2.

    Reference: Shalev-Shwartz, Singer, Srebro & Cotter 2011.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = Pegasos(lam=0.01, random_state=0, tol=None).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.95, 0 <= model.dual_gap_ < 0.1
    (True, True)
    """

    _takes_share, _frames = True, 5
    _lam = 1e-4  # where it is not given: streams
    _rounds = 1.0  # of a fit, where they are known beforehand

    def __init__(
        self, *, lam: float | None = None, order: str = "shuffle", batch_size: int = 1,
        project: bool = False, average: bool | float = True, prior: Any = None,
        multiclass: str = "crammer_singer", fit_intercept: bool | str = True,
        intercept_scaling: float = 1.0, max_iter: int = 20, tol: float | None = 1e-3,
        n_iter_no_change: int = 2, random_state: Any = None, classes: Any = None,
        class_weight: Any = None, warm_start: bool = False, verbose: int = 0, dtype: str | None = None,
        growing: bool = False,
        kernel: Any = None, gamma: Any = "scale", degree: int = 3, coef0: float = 0.0, budget: Any = None,
    ) -> None:  # fmt: skip
        self.lam, self.order, self.batch_size, self.project = lam, order, batch_size, project
        self.average, self.prior, self.multiclass = average, prior, multiclass
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.max_iter, self.tol, self.n_iter_no_change = max_iter, tol, n_iter_no_change
        self.random_state, self.classes, self.class_weight = random_state, classes, class_weight
        self.warm_start, self.verbose, self.dtype, self.growing = warm_start, verbose, dtype, growing
        self.kernel, self.gamma, self.degree, self.coef0, self.budget = kernel, gamma, degree, coef0, budget

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # weights of 1000 against 0.0001 need more than 1000 passes
        return tags

    def __sklearn_clone__(self) -> Any:
        """A fresh learner; the prior stays fitted."""
        params = self.get_params(deep=False)
        kept = params.pop("prior")
        return type(self)(prior=kept, **{name: sklearn_clone(v, safe=False) for name, v in params.items()})

    # ---- parameters

    @property
    def _bars(self) -> str:  # type: ignore[override]
        return "running" if self.multiclass == "crammer_singer" else "zero"

    @property
    def _apart(self) -> bool:  # type: ignore[override]
        return self.multiclass == "one_vs_all"

    @property
    def _suffix(self) -> float:
        return 1.0 if isinstance(self.average, bool | np.bool_) else float(self.average)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.lam is not None:
            require_positive("lam", self.lam, False, False)
        require_whole("batch_size", self.batch_size)
        if self.order not in ORDERS:
            raise BadInput(f"order={self.order!r}; wanted 'shuffle', 'cyclic' or 'random'")
        if self.multiclass not in ("crammer_singer", "one_vs_all"):
            raise BadInput(f"multiclass={self.multiclass!r}; wanted 'crammer_singer' or 'one_vs_all'")
        if isinstance(self.fit_intercept, str) and self.fit_intercept != "free":
            raise BadInput(f"fit_intercept={self.fit_intercept!r}; wanted True, False or 'free'")
        if not isinstance(self.average, bool | np.bool_):
            require_positive("average", self.average, False, False)
            if self.average >= 1:
                raise BadInput(f"average={self.average!r}; wanted True, False or a share below 1")
        if self._suffix < 1 and self.fit_intercept == "free":
            raise BadInput("fit_intercept='free' is averaged over all rounds; set average=True or False")
        if self.project and self.fit_intercept == "free":
            raise BadInput(
                "project=True keeps all of w in a ball; fit_intercept='free' leaves it; choose one"
            )
        if self._in_kernel:
            self._check_kernel_form()
        if self.project and self.multiclass == "one_vs_all" and self._outputs()[0] > 1:
            raise BadInput("project=True has one ball for all classes; use multiclass='crammer_singer'")

    def _check_kernel_form(self) -> None:
        """What only weights can do."""
        for name, used in (
            ("project=True", self.project), ("prior=", self.prior is not None),
            (f"average={self.average!r}", self._suffix < 1),
            ("fit_intercept='free'", self.fit_intercept == "free"),
        ):  # fmt: skip
            if used:
                raise BadInput(f"{name} is for the linear form; leave it out, or set kernel=None")
        if self.budget is not None and self.batch_size > 1:
            raise BadInput("budget= projects step by step; set batch_size=1, or budget=None")

    def _recipe_name(self) -> str:
        problem = self._problem()
        if self.multiclass == "one_vs_all" and problem != "binary":
            problem = "apart" if problem == "top" else "apart_labels"
        return f"pegasos.{problem}"

    @property
    def lam_(self) -> float:
        """lam as it is used."""
        return float(self._fitted().numbers["lam"])

    def _choices(self) -> dict[str, Any]:
        begun = {} if self._model is None else self._model.numbers
        lam = float(self.lam) if self.lam is not None else begun.get("lam", self._lam)
        radius = begun.get("radius", 1.0 / math.sqrt(lam)) if self.project else math.inf
        return {
            "lam": lam, "batch": self.batch_size, "rate": 1.0 / self.batch_size, "radius": radius,
            "free": self.fit_intercept == "free", "suffix": self._suffix,
            "anchor": begun.get("anchor", self._rounds),
        }  # fmt: skip

    def _wants(self) -> tuple[str, ...]:
        wanted = {"prior": self.prior is not None, "batch": self.batch_size > 1, "suffix": self._suffix < 1}
        return tuple(name for name, is_wanted in wanted.items() if is_wanted)

    # ---- the prior

    def _begin(self, model: Model, known: int) -> None:
        if self.prior is None or known:
            return
        if self.project and "_lam" not in self.__dict__:
            raise BadInput("project=True with prior= needs the whole set to know its ball; use fit")
        labels, prior = self._labels, Prior(self.prior)
        if labels is None or not (labels.closed or len(labels.known) > 1 or labels.sets):
            raise BadInput("prior= has a sign for each class; announce the classes (classes=) first")
        coef, intercept = prior.rows(labels)
        coef = prior.columns(coef, None if self._slots is None else list(self._slots))
        width = len(self._slots) if self._by_name and self._slots else self._width
        if coef.shape[1] != width:
            raise BadInput(f"prior= has {coef.shape[1]} coefficients a row; wanted {width}, one per feature")
        if intercept.any() and not self._bias:
            raise BadInput("prior= has an intercept, but fit_intercept=False; set it to True")
        table = model.space.prior.reshape(model.start.slots, -1)
        table[:width, : len(coef)] = coef.T
        if self._bias:
            table[-1, : len(coef)] = intercept / self._bias

    def _first_names(self) -> tuple[Slots, bool]:
        if self.prior is None:
            return super()._first_names()
        prior = Prior(self.prior)
        named = prior.names is not None
        return Slots(prior.names if prior.names is not None else range(prior.coef.shape[1])), named

    def _check_open(self) -> None:
        if self.prior is not None:
            raise BadInput("a new class came, but prior= has no row for it; announce all classes=")

    def _set_weights(self, model: Model, coef: Any, intercept: Any) -> None:
        if coef is not None or intercept is not None:
            raise BadInput("Pegasos multiplies its first weights by 0: use prior= in place of coef_init")

    # ---- fit

    def fit(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Any:
        """Learn from scratch in at most `max_iter` passes (`warm_start`: go on from here)."""
        with self._all_or_nothing():
            rows = _num_samples(X)
            self._lam = 1.0 / max(rows, 1)
            begun = self._model.clock if self.warm_start and self._model is not None else 0
            batch = self.batch_size if isinstance(self.batch_size, int | np.integer) else 1
            most = self.max_iter if isinstance(self.max_iter, int | np.integer) else 1
            self._rounds = float(max(-(-(begun + rows * most) // max(batch, 1)), 1))
            self._fit(X, y, coef_init, intercept_init, sample_weight)
            del self._lam, self._rounds
        return self

    def _row_order(self, generator: np.random.Generator, count: int, model: Model) -> np.ndarray:
        return self._orders.next(generator) if self.order != "cyclic" else NO_ORDER

    def _run_passes(self, X: Any, model: Model, lesson: Lesson) -> None:
        problem = self._objective_on(lesson)
        seen = np.flatnonzero(problem.caps > 0)
        if self.batch_size > len(seen):
            raise BadInput(f"batch_size={self.batch_size} is more than the {len(seen)} rows that count")
        self._orders = Orders(self.order, seen, self.batch_size, model.clock)
        self._before_passes(model, problem)
        super()._run_passes(X, model, lesson)
        self._after_passes(model, problem)
        del self._orders
