"""Learners made of a user's `Recipe`: classes and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.parts import plain as plain_python
from ..errors import BadInput, shown
from ..features.slots import Slots
from ..interface.classifier import Classifier
from ..interface.dicts.streams import Example, ModelStream, Stream
from ..interface.guard import changes
from ..interface.learner import Learner
from ..interface.parameters.draws import uniforms
from ..interface.parameters.fields import (
    Averaged,
    Labelled,
    Linear,
    above_zero,
    from_zero,
    group,
    learner,
    required,
)
from ..interface.regressor import Regressor
from ..interface.runs.watch import Wanted
from ..interface.targets.label_targets import LabelTargets
from ..interface.targets.own_task import ANNOUNCE, OwnTaskTargets, naming_functions
from ..interface.weights import WeightsForm
from ..learn.vocabulary import NONE
from ..models.recipe import Recipe
from ..models.table import Row
from ..models.user_tasks import losses
from ..models.weights import Model, Numbers
from ..results.progress import Progress
from .ftrl import NOT_SPARSE, between_1_and_2


@group
class PartNumbers:
    """Numbers that the parts of a recipe read."""

    C: float = above_zero(default=1.0, inf=True)
    rate: float = above_zero(default=1.0)
    lam: float = above_zero(default=1e-4, lasting=True)
    p: float | None = above_zero(
        default=None,
        none=True,
        lasting=True,
        also=between_1_and_2,
        wanted="a number above 1, and at most 2",
    )
    l1: float = from_zero(default=0.0, lasting=True)
    radius: float = above_zero(default=1.0, lasting=True)
    delta: float = above_zero(default=1.0, lasting=True)


CHEAP_MEANS = ("l2", "confidence", "covariance", "adagrad", "coin")  # Spaces whose mean costs little


class TossingForm(WeightsForm):
    """Weights whose rounds need a uniform: dicts go through the model."""

    def stream(self, model: Model, slots: Slots, learns: bool) -> Stream:
        """The model bound to its dicts."""
        return ModelStream(self.owner, model, slots, learns)


class OfRecipe(Learner):
    """What a recipe makes of the parameters."""

    recipe: Any
    C: float
    margin: float = 1.0
    epsilon: float = 0.0
    rate: float
    lam: float
    p: float | None
    l1: float
    radius: float
    delta: float
    ask_delta: float | None = None
    ask_epsilon: float = 0.5
    _learns_numbers = False

    def _check_parameters(self) -> None:
        if not isinstance(self.recipe, Recipe):
            raise BadInput(f"recipe={shown(self.recipe)}; wanted an om.Recipe(...)")
        if self.recipe.regression != self._learns_numbers:
            fits = "OnlineRegressor" if self.recipe.regression else "OnlineClassifier"
            raise BadInput(f"{shown(self.recipe)} is for an {fits}")
        super()._check_parameters()
        if self._averages and self.recipe.given["space"] == "soft":
            raise BadInput(NOT_SPARSE)

    @property
    def _averages_fits(self) -> bool:
        return super()._averages_fits and self.recipe.given["space"] in CHEAP_MEANS

    def _table_row(self) -> Row:
        row: Row = self.recipe.row(self._problem())
        return row

    def _wants(self) -> tuple[str, ...]:
        return ("norms",)

    def numbers(self) -> Numbers:
        """All that a part may read."""
        given = self.recipe.given
        q = 2.0 if self.p is None else self.p / (self.p - 1.0)
        simplex = given["space"] in ("entropic", "simplex")
        asking: Numbers = self.recipe.asking_numbers(self.ask_delta, self.ask_epsilon)
        found: Numbers = {
            "C": self.C, "margin": self.margin, "rate": 1.0 if given["step"] == "unit" else self.rate,
            "epsilon": 0.0 if given["loss"] in ("squared", "squared_error") else self.epsilon,
            "decay": 0.5 if given["step"] == "sqrt" else 0.0, "lam": self.lam, "l1": self.l1, "q": q,
            "scale": self.radius if simplex else 1.0 / (q if given["step"] == "aggressive" else q - 1.0),
            "delta": self.delta, "own": self.recipe.own,
        }  # fmt: skip
        return found | asking

    def _luck(self, model: Model, count: int, weights: np.ndarray) -> np.ndarray:
        return uniforms(self, model.clock, count, weights) if self.recipe.draws else NONE

    def _form(self) -> WeightsForm:
        draws = isinstance(self.recipe, Recipe) and self.recipe.draws
        return TossingForm(self) if draws else super()._form()

    def _start_from(self, model: Model, coef: object, intercept: object) -> None:
        if (coef is not None or intercept is not None) and self.recipe.given["space"] != "l2":
            raise BadInput("coef_init is for space='l2'; other spaces start where they must")
        super()._start_from(model, coef, intercept)

    @changes
    def watch_each(self, examples: object, wanted: Wanted) -> Progress:
        """Answer and learn an iterable of (x, y) or (x, y, weight); see `om.progressive`."""
        with naming_functions(self):
            return super().watch_each(examples, wanted)

    def _own_task(self) -> bool:
        """Is the task the user's?"""
        return isinstance(self.recipe, Recipe) and self.recipe.own_task is not None

    def _loss_values(self, margins: np.ndarray, required: float) -> np.ndarray:
        loss = self.recipe.loss_part
        value = plain_python(loss) if isinstance(self.recipe.given["loss"], str) else loss
        return np.array([value(float(margin), required)[0] for margin in margins])

    @property
    def _has_blank(self) -> bool:
        return bool(self.recipe.given["space"] != "simplex")


@learner
class OnlineClassifier(OfRecipe, Classifier, Linear, Averaged, Labelled, PartNumbers):
    """Any `om.Recipe` for classes, with every interface of the library.

    Parameters
    ----------
    recipe : the parts.
    C, margin, rate, lam, p, l1, radius, delta : numbers that its parts read: `hyper.C` and so on
        (`p` of p-norms: None is 2; `lam` of "shrunk"; `delta` of "adagrad" and "coin").
    ask_delta, ask_epsilon : what the recipe's query reads: delta (None: 1 of "margin" and "bernoulli", 0.1 of
        "bbq") and, of "bbq", epsilon.

    See `Recipe` for an example.
    """

    recipe: object = required(kw_only=False, lasting=True)
    margin: float = from_zero(default=1.0)
    ask_delta: float | None = above_zero(default=None, none=True)
    ask_epsilon: float = above_zero(default=0.5)

    variants = ()

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"recipe": Recipe()}

    def learn_one(self, x: Example, y: object, w: float = 1.0) -> None:
        """One example: a dict of numbers, its label (or {label: bool}), and its weight."""
        with naming_functions(self):
            super().learn_one(x, y, w)

    def predict_one(self, x: Example) -> object:
        """The label (or {label: bool}); None before any label."""
        with naming_functions(self):
            return super().predict_one(x)

    @property
    def _rows_apart(self) -> bool:
        return self._own_task()

    def _targets(self) -> LabelTargets:
        return OwnTaskTargets(self) if self._own_task() else LabelTargets(self)

    def _refuse_new_class(self) -> None:
        if self._own_task():
            raise BadInput(ANNOUNCE)

    def _losses_of(self, scores: np.ndarray, y: object) -> np.ndarray:
        targets = self._targets()
        return (
            targets.losses(scores, y)
            if isinstance(targets, OwnTaskTargets)
            else super()._losses_of(scores, y)
        )

    @property
    def _one_against_all(self) -> bool:
        return isinstance(self.recipe, Recipe) and self.recipe.given["task"] == "one_vs_all"

    @property
    def _set_rule(self) -> str:
        return "zero" if self._one_against_all else "running"


@learner
class OnlineRegressor(OfRecipe, Regressor, Linear, Averaged, PartNumbers):
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

    recipe: object = required(kw_only=False, lasting=True)
    epsilon: float = from_zero(default=0.1)

    variants = ()
    _learns_numbers = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # as good as its recipe
        return tags

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"recipe": Recipe("regression", loss="epsilon_insensitive")}

    def learn_one(self, x: Example, y: float, w: float = 1.0) -> None:
        """One example: a dict of numbers, its target, and its weight."""
        with naming_functions(self):
            super().learn_one(x, y, w)

    def _losses_of(self, scores: np.ndarray, y: object) -> np.ndarray:
        if self._own_task():
            return losses(self._fitted(), scores, np.asarray(y, float))
        return self._loss_values(-np.abs(scores[:, 0] - y), -float(self.numbers()["epsilon"]))
