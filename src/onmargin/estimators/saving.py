"""om.save and om.load: a learner in mid-stream as one file, and back, bit for bit."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import __version__
from ..errors import BadFile, BadInput
from ..features.slots import Slots
from ..learn.spaces.arrays import Start
from ..models.weights import Model
from ..results import saved
from .asks import AsksForLabels
from .banditron import Banditron
from .bbq import BBQ
from .built import OnlineClassifier, OnlineRegressor
from .candidates import CandidateClassifier
from .ftrl import FTRLClassifier, FTRLRegressor
from .kernel_perceptrons import Forgetron, Projectron, RandomBudgetPerceptron, Stoptron
from .labels import Labels
from .om2 import OM2
from .online import OnlineEstimator
from .paired import PairedClassifier
from .passive_aggressive import MIRA, PassiveAggressiveClassifier
from .pegasos import Pegasos
from .perceptron import Perceptron
from .portable import packed, unpacked
from .ranker import PairedRanker
from .regressor import PassiveAggressiveRegressor
from .ridge_classifier import RidgeClassifier
from .sampler import SelectiveSampler
from .second_order import AROW, SecondOrderPerceptron, SoftConfidenceWeighted
from .tracking import ProjectedPerceptron, ShiftingPerceptron
from .uniclass import PassiveAggressiveUniclass

FOUND = ("objective_", "dual_gap_", "n_kernels_", "n_skipped_")  # what a fit found beside the model

CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        Perceptron,
        PassiveAggressiveClassifier,
        MIRA,
        PassiveAggressiveRegressor,
        PassiveAggressiveUniclass,
        AROW,
        SoftConfidenceWeighted,
        SecondOrderPerceptron,
        FTRLClassifier,
        FTRLRegressor,
        OnlineClassifier,
        OnlineRegressor,
        Pegasos,
        Projectron,
        RandomBudgetPerceptron,
        Forgetron,
        Stoptron,
        OM2,
        PairedClassifier,
        PairedRanker,
        CandidateClassifier,
        Banditron,
        ShiftingPerceptron,
        ProjectedPerceptron,
        RidgeClassifier,
    )
}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a learner to one `.onm` file, at any moment of its stream.

    >>> import onmargin as om, os, tempfile
    >>> model = om.Perceptron()
    >>> model.learn_one({"a": 1.0}, "yes")
    >>> path = os.path.join(tempfile.mkdtemp(), "model.onm")
    >>> om.save(model, path)
    >>> om.load(path).predict_one({"a": 1.0})
    'yes'
    """
    if isinstance(model, AsksForLabels):
        facts, arrays = _written(model._inner())
        parameters = {name: packed(value) for name, value in model.get_params(deep=False).items()}
        parameters.pop("estimator", None)
        before = model.estimator_._asked_before
        asks = {"class": type(model).__name__, "parameters": parameters, "entropy": model._entropy}
        asks |= {
            "before": before,
            "room": model.estimator_._asked_room,
            "passes": model.__dict__.get("n_iter_"),
        }
        saved.write(path, facts | {"asks": asks}, arrays)
        return
    if not isinstance(model, OnlineEstimator) or type(model).__name__ not in CLASSES:
        raise BadInput(f"got {type(model).__name__}; om.save takes the learners of this library")
    saved.write(path, *_written(model))


def _written(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a file must hold of a learner: facts, and arrays."""
    arrays: dict[str, np.ndarray] = {}
    facts: dict[str, Any] = {
        "version": __version__,
        "class": type(model).__name__,
        "parameters": {name: packed(value) for name, value in _parameters(model).items()},
        "entropy": model._entropy,
        "begun": {
            name: str(np.dtype(v)) if name == "dtype" and v is not None else packed(v)
            for name, v in model._begun.items()
        },
        "width": model._width,
        "by_name": model._by_name,
        "names": None if model._slots is None else list(model._slots),
        "passes": getattr(model, "n_iter_", None),
        "found": {name: getattr(model, name) for name in FOUND if hasattr(model, name)},
        "labels": None,
        "model": None,
        "kept": model._kept(),
    }
    labels = getattr(model, "_labels", None)
    if labels is not None:
        facts["labels"] = {
            "known": labels.known,
            "counts": labels.counts,
            "closed": labels.closed,
            "sets": labels.sets,
        }
    if model._model is not None:
        inner = model._model
        more, arrays = inner.state()
        facts["model"] = {"start": tuple(inner.start), "clock": inner.clock, "choices": inner.numbers, **more}
        arrays["bar"], arrays["recent"] = inner.memory, inner.recent
    return facts, arrays


def _parameters(model: Any) -> dict[str, Any]:
    """As they were given; a dtype by its name."""
    given: dict[str, Any] = model.get_params(deep=False)
    if given.get("dtype") is not None:
        given["dtype"] = np.dtype(given["dtype"]).name
    return given


def load(path: str | os.PathLike[str], parts: dict[str, Any] | None = None) -> Any:
    """Read a learner; it goes on exactly where it was. Runs no code from the file.

    `parts` brings back a user's own functions, {name: function}; they must be those it was saved with.
    """
    facts, arrays = saved.read(path)
    cls = CLASSES.get(facts.get("class", ""))
    if cls is None:
        raise BadFile(f"{path} holds a {facts.get('class')!r}, which this version does not know")
    try:
        parameters = {name: unpacked(value, parts) for name, value in facts.get("parameters", {}).items()}
        model = _rebuilt(cls, parameters, facts, arrays)
        model._begun = {name: unpacked(value, parts) for name, value in model._begun.items()}
        return model if "asks" not in facts else _wrapped(model, facts["asks"], parts)
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFile(
            f"{path} does not fit this version ({error}); written by {facts.get('version')}"
        ) from None


def _rebuilt(
    cls: type[Any], parameters: dict[str, Any], facts: dict[str, Any], arrays: dict[str, np.ndarray]
) -> Any:
    model = cls(**parameters)
    for name in facts["found"]:
        setattr(model, name, facts["found"][name])
    model._entropy, model._width, model._by_name = facts["entropy"], facts["width"], facts["by_name"]
    if facts["names"] is not None:
        model._slots = Slots(facts["names"])
    if facts["passes"] is not None:
        model.n_iter_ = facts["passes"]
    if facts["labels"] is not None:
        kept = facts["labels"]
        labels = Labels((), closed=kept["closed"], sets=kept["sets"], apart=model._rows_apart)
        labels._set(kept["known"])
        labels.counts = kept["counts"]
        model._labels = labels
    if facts["model"] is not None:
        model._model = _inner(model, facts["model"], arrays)
        model._begun = facts["begun"]
    model._keep_again(facts["kept"])
    return model


def _wrapped(inner: Any, facts: dict[str, Any], parts: dict[str, Any] | None) -> Any:
    """The learner that asks, around the learner inside."""
    cls = {asks.__name__: asks for asks in (SelectiveSampler, BBQ)}[facts["class"]]
    parameters = {name: unpacked(value, parts) for name, value in facts["parameters"].items()}
    if cls is SelectiveSampler:
        parameters["estimator"] = clone(inner)
    model: Any = cls(**parameters)
    model._entropy, model.estimator_ = facts["entropy"], inner
    inner._asking, inner._asked_before, inner._asked_room = (
        model._rule_numbers(),
        facts["before"],
        facts["room"],
    )
    if facts["passes"] is not None:
        model.n_iter_ = facts["passes"]
    return model


def _inner(model: Any, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> Model:
    inner: Model = model._made_model(Start(*facts["start"]))
    inner.choose(inner.row, facts["choices"])
    if "gamma" in facts:
        form = model._form(facts["gamma"])._replace(dtype=facts["dtype"], direct=facts["direct"])
        inner.fix(facts["gamma"], form)  # type: ignore[attr-defined]
    inner.restore(facts, arrays)
    inner.memory[...], inner.recent[...] = arrays["bar"], arrays["recent"]
    inner.clock = facts["clock"]
    return inner
