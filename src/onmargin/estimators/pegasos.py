"""Pegasos: the SVM objective, one example at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Self, cast

import numpy as np
from sklearn.base import clone as sklearn_clone
from sklearn.utils.validation import _num_samples

from ..errors import BadInput, as_float, shown
from ..features.slots import Slots
from ..interface.classifier import Classifier
from ..interface.guard import answers, changes
from ..interface.objective import SvmObjective
from ..interface.parameters.fields import (
    Budget,
    Growing,
    Intercept,
    KernelParameters,
    Labelled,
    Passes,
    above_zero,
    flag,
    from_zero,
    learner,
    one_of,
    plain,
    precision,
    require_positive,
    whole,
)
from ..interface.parameters.fixed import CLASSES, FREE, Rule
from ..interface.parameters.priors import Prior
from ..interface.runs.orders import Orders
from ..interface.runs.passes import Sums, TrainingSet
from ..interface.support import KernelForm
from ..interface.tables import Table
from ..learn.vocabulary import NO_ORDER
from ..models.kernel.last_passes import LastPasses
from ..models.kernel.model import KernelModel
from ..models.weights import Model, Numbers

LEAST = 1e-6  # of the share that is averaged: a smaller one is the last weights alone


@learner
class Pegasos(KernelForm, Classifier, Passes, Growing, Intercept, Labelled, KernelParameters, Budget):
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
    average : a share such as 0.5 (the mean of that share of the weights that predicted, the last of
        them; in kernel form: of the passes of `fit`, and in streams of all rounds), True (of all), False.
    prior : (coefficients, intercept) or a fitted linear model: regularise towards it (transfer). It is
        kept through `clone`.
    multiclass : "crammer_singer" (the true class against its best rival; label sets are cut at a threshold
        that is the mean over all rounds), "one_vs_all", or "auto": that for label sets, else the first.
    fit_intercept : True (inside the norm), False, or "free" (not regularised; no guarantee then).
    kernel, gamma, degree, coef0, budget : the kernel form, one coefficient per row however often it comes;
        see `om.kernels`. Without project, prior, or a free intercept.
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

    lam: float | None = above_zero(default=None, none=True, lasting=True)
    order: str = one_of("shuffle", "cyclic", "random", default="shuffle")
    batch_size: int = whole(default=1, lasting=True)
    project: bool = flag(default=False, lasting=True)
    average: bool | float = plain(default=0.5, lasting=True)
    max_iter: int = whole(default=100)
    tol: float | None = from_zero(default=1e-2, none=True)
    prior: Any = plain(default=None)
    multiclass: str = one_of(
        "auto", "crammer_singer", "one_vs_all", default="auto", listed=True, lasting=True
    )
    fit_intercept: bool | str = plain(default=True, lasting=True)
    dtype: str | None = precision(default=None)

    variants = ({}, {"kernel": "rbf"}, {"kernel": "rbf", "budget": 10})
    _lam = 1e-4  # where it is not given: streams
    _rounds = 1.0  # of a fit, where they are known beforehand
    _last_passes = None  # of a fit in kernel form, where a share of them is averaged

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # weights of 1000 against 0.0001 need more than 1000 passes
        return tags

    def __sklearn_clone__(self) -> Self:
        """A fresh learner; the prior stays fitted."""
        params = self.get_params(deep=False)
        kept = params.pop("prior")
        return type(self)(prior=kept, **{name: sklearn_clone(v, safe=False) for name, v in params.items()})

    # ---- parameters

    @property
    def _by_length(self) -> Mapping[str, Rule]:
        return {"intercept_scaling": FREE if self.fit_intercept == "free" else CLASSES}

    @property
    def _set_rule(self) -> str:
        return "zero" if self._one_against_all else "running"

    @property
    def _one_against_all(self) -> bool:
        if self.multiclass == "auto":
            return self._labels is not None and self._labels.sets and not self.project
        return self.multiclass == "one_vs_all"

    @property
    def _suffix(self) -> float:
        """The share of the last hypotheses that is averaged."""
        return 1.0 if isinstance(self.average, bool | np.bool_) else float(self.average)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.fit_intercept, bool | np.bool_) and self.fit_intercept != "free":
            raise BadInput(f"fit_intercept={shown(self.fit_intercept)}; wanted True, False or 'free'")
        if not isinstance(self.average, bool | np.bool_):
            require_positive("average", self.average, False, False)
            if not LEAST <= self.average < 1:
                share = f"a share below 1 (from {LEAST:g} on)"
                raise BadInput(f"average={shown(self.average)}; wanted True, False or {share}")
        if self.project and self.fit_intercept == "free":
            raise BadInput(
                "project=True keeps all of w in a ball; fit_intercept='free' leaves it; choose one"
            )
        if self._in_kernel:
            self._check_kernel_form()
        if self.project and self._one_against_all and self._targets().outputs()[0] > 1:
            raise BadInput("project=True has one ball for all classes; use multiclass='crammer_singer'")

    def _check_kernel_form(self) -> None:
        """What only weights can do."""
        for name, used in (
            ("project=True", self.project), ("prior=", self.prior is not None),
            ("fit_intercept='free'", self.fit_intercept == "free"),
        ):  # fmt: skip
            if used:
                raise BadInput(f"{name} is for the linear form; leave it out, or set kernel=None")
        if self.budget is not None and self.batch_size > 1:
            raise BadInput("budget= projects step by step; set batch_size=1, or budget=None")

    def row(self, problem: str) -> str:
        """pegasos.binary, pegasos.top, pegasos.apart, ..."""
        if self._one_against_all and problem != "binary":
            problem = "apart" if problem == "top" else "apart_labels"
        return f"pegasos.{problem}"

    @property
    def lam_(self) -> float:
        """lam as it is used."""
        return float(self._fitted().numbers["lam"])

    def numbers(self) -> Numbers:
        """lam, the mini-batch, the ball, the share that is averaged."""
        begun = {} if self._model is None else self._model.numbers
        lam = float(self.lam) if self.lam is not None else begun.get("lam", self._lam)
        radius = begun.get("radius", 1.0 / math.sqrt(lam)) if self.project else math.inf
        return {
            "lam": lam, "batch": int(self.batch_size), "rate": 1.0 / int(self.batch_size), "radius": radius,
            "free": self.fit_intercept == "free", "suffix": self._suffix,
            "anchor": begun.get("anchor", self._rounds),
        }  # fmt: skip

    def _judge(self, model: Model) -> tuple[Callable[[Sums], float], str]:
        """The objective of what would be returned after a pass (kernels: the online loss)."""
        if model.kind == "kernel":
            return super()._judge(model)
        return lambda sums: self._svm().reached(model, self._problem_at_hand), "objective"

    def _wants(self) -> tuple[str, ...]:
        wanted = {"prior": self.prior is not None, "batch": self.batch_size > 1, "suffix": self._suffix < 1}
        return tuple(name for name, is_wanted in wanted.items() if is_wanted)

    # ---- the prior

    def _begin(self, model: Model, known: int) -> None:
        if self.prior is None or known:
            return
        if self.project and "_lam" not in self.__dict__:
            raise BadInput("project=True with prior= needs the whole set to know its ball; use fit")
        labels, prior, columns = self._labels, Prior(self.prior), self._columns
        if labels is None or not (labels.closed or len(labels.known) > 1 or labels.sets):
            raise BadInput("prior= has a sign for each class; announce the classes (classes=) first")
        coef, intercept = prior.rows(labels)
        coef = prior.columns(coef, None if columns.slots is None else list(columns.slots))
        width = len(columns.slots) if columns.by_name and columns.slots else columns.width
        if coef.shape[1] != width:
            raise BadInput(f"prior= has {coef.shape[1]} coefficients a row; wanted {width}, one per feature")
        if intercept.any() and not self.fit_intercept:
            raise BadInput("prior= has an intercept, but fit_intercept=False; set it to True")
        model.set_prior(coef, intercept / self._bias if self._bias else None)

    def _fix_constant(self, model: Model) -> None:
        if self.prior is not None and self._labels is not None and self._bias:
            # its intercept is a weight times the value
            coef, intercept = Prior(self.prior).rows(self._labels)
            model.set_prior(coef[:, :0], intercept / self._bias)

    def _first_names(self) -> tuple[Slots, bool]:
        if self.prior is None:
            return super()._first_names()
        prior = Prior(self.prior)
        named = prior.names is not None
        return Slots(prior.names if prior.names is not None else range(prior.coef.shape[1])), named

    def _refuse_new_class(self) -> None:
        if self.prior is not None:
            raise BadInput("a new class came, but prior= has no row for it; announce all classes=")

    def _start_from(self, model: Model, coef: object, intercept: object) -> None:
        if coef is not None or intercept is not None:
            raise BadInput("Pegasos multiplies its first weights by 0: use prior= in place of coef_init")

    # ---- fit

    @changes
    def _fit(self, X: object, y: object, coef: object, intercept: object, sample_weight: object) -> Self:
        rows = _num_samples(X)
        self._lam = 1.0 / max(rows, 1)
        begun = self._model.clock if self.warm_start and self._model is not None else 0
        batch = int(self.batch_size) if isinstance(self.batch_size, int | np.integer) else 1
        most = int(self.max_iter) if isinstance(self.max_iter, int | np.integer) else 1
        self._rounds = as_float(max(-(-(begun + rows * most) // max(batch, 1)), 1))
        super()._fit(X, y, coef, intercept, sample_weight)
        del self._lam, self._rounds
        return self

    def _expect(self, rows: int) -> None:
        if rows:
            self._lam = 1.0 / rows
        else:
            self.__dict__.pop("_lam", None)

    def _svm(self) -> SvmObjective:
        ranked, free = not self._one_against_all, self.fit_intercept == "free"
        return SvmObjective(self, ranked, free, int(self.batch_size))

    def _row_order(self, generator: np.random.Generator, count: int, model: Model) -> np.ndarray:
        if self._last_passes is not None:
            self._last_passes.begin()
        return self._orders.next(generator) if self.order != "cyclic" else NO_ORDER

    def _run_passes(self, X: Table, model: Model, data: TrainingSet) -> None:
        svm = self._svm()
        problem = self._problem_at_hand = svm.problem(data)
        if model.kind == "kernel" and self._suffix < 1:
            self._last_passes = LastPasses(cast(KernelModel, model))
        seen = np.flatnonzero(problem.caps > 0)
        if self.batch_size > len(seen):
            raise BadInput(f"batch_size={self.batch_size} is more than the {len(seen)} rows that count")
        self._orders = Orders(self.order, seen, int(self.batch_size), model.clock)
        svm.before_passes(model, problem, self.project)
        super()._run_passes(X, model, data)
        if self._last_passes is not None:
            self._last_passes.settle(self._suffix)
        self.objective_, self.dual_gap_ = svm.after_passes(model, problem)
        for name in ("_orders", "_problem_at_hand", "_last_passes"):
            self.__dict__.pop(name, None)

    @answers
    def objective(self, X: object, y: object, sample_weight: object = None) -> float:
        """f at the weights that predict, on any data."""
        return self._svm().value(X, y, sample_weight)
