"""What a regulariser and a step make of the parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.parts import plain
from ..errors import BadInput
from ..models.table import LOSSES, STEPS
from ..models.weights import Model
from .parameters import require_positive

ALIASES = {"log_loss": "logistic", "squared_error": "squared"}
NAMES = ("l2", "pnorm", "group", "entropic", "adagrad", "coin")
OF_LABELS = ("perceptron", "hinge", "squared_hinge", "logistic", "exponential", "squared")
OF_NUMBERS = ("epsilon_insensitive", "squared")


NOT_SPARSE = "the average of sparse weights is not sparse: set l1=0 or average=False"


def check_p(p: Any) -> None:
    """Above 1 and at most 2, or None."""
    if p is not None:
        require_positive("p", p, False, False)
        if not 1 < p <= 2:
            raise BadInput(f"p={p!r}; wanted a number above 1, and at most 2")


class Regularized:
    """What a regulariser and a step make of the parameters, for classes and for numbers."""

    _allowed: tuple[str, ...]
    _kinds: str

    @property
    def _loss_name(self) -> str:
        loss: str = self.loss  # type: ignore[attr-defined]
        return ALIASES.get(loss, loss)

    @property
    def _may_overflow(self) -> bool:
        return self._loss_name in ("squared_hinge", "exponential", "squared")  # of unbounded slope

    @property
    def _space_name(self) -> str:
        me: Any = self
        if me.l1 > 0:
            return "soft"
        return "simplex" if me.regularizer == "entropic" and not me.signed else me.regularizer

    def _check_parameters(self) -> None:
        super()._check_parameters()  # type: ignore[misc]
        me: Any = self
        for name in ("radius", "adagrad_delta", "coin_epsilon"):
            require_positive(name, getattr(self, name), False, False)
        require_positive("l1", me.l1, True, False)
        check_p(me.p)
        if self._loss_name not in self._allowed:
            wanted = ", ".join(map(repr, self._allowed))
            raise BadInput(f"loss={me.loss!r}; wanted one of {wanted} for {self._kinds}")
        if me.regularizer not in NAMES:
            raise BadInput(f"regularizer={me.regularizer!r}; wanted one of {', '.join(map(repr, NAMES))}")
        if me.horizon is not None and (me.regularizer != "l2" or me.l1):
            raise BadInput("horizon= multiplies weights; it is for regularizer='l2' without l1")
        if me.step not in STEPS:
            raise BadInput(f"step={me.step!r}; wanted one of {', '.join(map(repr, STEPS))}")
        self._check_together()

    def _check_together(self) -> None:
        """Refuse parts that do not fit."""
        me: Any = self
        if me.step.startswith("pa") and (me.regularizer != "l2" or me.l1 > 0):
            raise BadInput(
                f"step={me.step!r} measures in Euclidean length and leaves no room for a threshold; use "
                "regularizer='l2' with l1=0, or step='constant'"
            )
        if me.step.startswith("pa") and self._loss_name == "perceptron":
            raise BadInput(
                f"loss='perceptron' with step={me.step!r} never leaves 0, where its loss is 0; use 'hinge'"
            )
        if me.l1 > 0 and me.regularizer not in ("l2", "adagrad"):
            raise BadInput(
                f"l1= cuts coordinates one by one; regularizer={me.regularizer!r} binds them together; use "
                "'l2' or 'adagrad'"
            )
        if me.l1 > 0 and me.average:
            raise BadInput(NOT_SPARSE)
        labels = getattr(self, "_labels", None)
        if self._space_name == "simplex" and labels is not None and len(labels.known) < 2 and not labels.sets:
            raise BadInput("signed=False has weights of one sign; announce the classes (classes=) first")
        if me.groups is not None and me.regularizer != "group":
            raise BadInput(f"groups= is for regularizer='group'; got {me.regularizer!r}; leave it out")

    def _recipe_name(self) -> str:
        me: Any = self
        step = "unit" if me.regularizer == "coin" else me.step
        step = "constant" if step == "unit" else step
        return f"ftrl_{self._space_name}.{me._problem()}:{self._loss_name}:{step}"

    def _wants(self) -> tuple[str, ...]:
        me: Any = self
        if me.regularizer == "group":
            return ("norms",) if me.groups is None else ("norms", "groups")
        return ("adagrad",) if me.l1 > 0 and me.regularizer == "adagrad" else ()

    @property
    def p_(self) -> float:
        """p of the p-norm and group norm: given, or from the number of coordinates at the start."""
        me: Any = self
        q = float(me._fitted().numbers["q"])
        return q / (q - 1)

    def _dual_exponent(self) -> float:
        """q: given by p, kept from the start, or max(2, 2 ln d) for d coordinates."""
        me: Any = self
        if me.p is not None:
            return float(me.p) / (float(me.p) - 1) if me.p < 2 else 2.0
        if me._model is not None and me._model.clock:
            return float(me._model.numbers["q"])
        outputs, _ = me._outputs()
        known = len(me._slots) if me._by_name and me._slots is not None else me._width
        many = known if me.groups is None else len(set(np.asarray(me.groups).tolist()))
        across = 1 if me.regularizer == "group" else outputs
        return max(2.0, 2 * math.log(max((many + (me._bias != 0)) * across, 1)))

    def _choices(self) -> dict[str, Any]:
        me: Any = self
        free = me.regularizer == "coin" or me.step == "unit"
        choices = {
            "C": me.C, "rate": 1.0 if free else me.rate, "l1": me.l1,
            "decay": 0.5 if me.step == "sqrt" and not me.regularizer == "coin" else 0.0,
            "epsilon": me.epsilon if self._loss_name == "epsilon_insensitive" else 0.0,
        }  # fmt: skip
        if me.regularizer in ("pnorm", "group"):
            q = self._dual_exponent()
            choices |= {"q": q, "scale": 1.0 / (q - 1.0)}
        elif me.regularizer == "entropic":
            choices["scale"] = me.radius
        elif me.regularizer in ("adagrad", "coin"):
            choices["delta"] = me.adagrad_delta if me.regularizer == "adagrad" else me.coin_epsilon
        return choices

    def _begin(self, model: Model, known: int) -> None:
        me: Any = self
        if me.regularizer == "group" and me.groups is not None:
            groups = np.asarray(me.groups)
            if groups.shape != (me._width,) or me._by_name:
                raise BadInput(
                    f"groups has shape {groups.shape}; wanted ({me._width},), a number per column of an array"
                )
            _, numbers = np.unique(groups, return_inverse=True)
            model.space.group[: len(numbers)] = numbers
            model.space.group[-1] = len(model.space.group) - 1

    def _widen(self, model: Model, slots: int) -> None:
        me: Any = self
        if me.regularizer == "group" and me.groups is not None and slots > len(me.groups):
            raise BadInput(f"groups= has {len(me.groups)} columns and a new feature came; set groups=None")
        super()._widen(model, slots)  # type: ignore[misc]

    def _fix(self, model: Model, values: np.ndarray) -> None:
        """Dicts: the first example says how many features there are."""
        model.choose(model.row, self._choices())

    @property
    def _has_blank(self) -> bool:
        return self._space_name != "simplex"  # there a weight at its start is not 0

    def _set_weights(self, model: Model, coef: Any, intercept: Any) -> None:
        me: Any = self
        if (coef is not None or intercept is not None) and self._space_name != "l2":
            raise BadInput(f"regularizer={me.regularizer!r} starts where it must; leave coef_init out")
        super()._set_weights(model, coef, intercept)  # type: ignore[misc]

    def _loss_values(self, margins: np.ndarray, required: float) -> np.ndarray:
        loss = plain(LOSSES[self._loss_name])
        return np.array([loss(float(margin), required)[0] for margin in margins])
