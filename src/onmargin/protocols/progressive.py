"""Test, then train: every example is answered before its label is used."""

from __future__ import annotations

from typing import Any

from ..errors import BadInput, shown
from ..interface.feedback.asks import AsksForLabels
from ..interface.groups import Grouped
from ..interface.learner import Learner
from ..interface.runs.watch import Wanted
from ..interface.tables import refuse_dask
from ..results.progress import Progress
from ..sources.blocks import Source
from .drift import play_with_drift


def progressive(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None, chance: Any = None,
    classes: Any = None, every: int | None = None, delay: int = 0, drift: Any = None,
    scored_by: str = "running", trace: str = "full",
) -> Progress:  # fmt: skip
    """Progressive validation: predict, score, update; the model has learned afterwards.

    X and y are arrays (or a CSR matrix, a frame): one compiled loop. Or X is any iterable of (x, y)
    or (x, y, weight) with dicts x: the same loop, an example at a time (a weight of 0 leaves no line).
    Or X is a source (`om.sources`), learned block by block to the same numbers. A learner that does not grow
    must know all labels and columns before: where `classes` and the source's `columns` do not tell, it is
    read once for that. With trace="sums" memory stays as it is, however long the source. Samplers,
    `delay=` and `drift=` want all rows: for them a source is read whole.

    sample_weight : one weight per row.
    chance : one uniform in [0, 1) per round, for randomised rules.
    classes : all labels, where the first blocks may not show them.
    every : how many rounds between two points of the curve (`trace="sums"`: about 8192).
    delay : labels arrive so many rounds late.
    drift : `om.PageHinkley(...)` or a detector of River's, shown the 0-1 loss (numbers: the loss) of every
        round; its alarms are in `Progress.drifts`, and with action="reset" (River's: (detector, "reset")) the
        learner starts anew after each.
    scored_by : "running" (the weights of the round) or "model" (the average, where one is kept).
    trace : "full", or "sums" to keep no line per round.

    >>> from sklearn.datasets import load_digits
    >>> import onmargin as om
    >>> X, y = load_digits(return_X_y=True)
    >>> run = om.progressive(om.PassiveAggressiveClassifier(C=0.01), X / 16, y)
    >>> run.rounds, bool(run.error_rate < 0.15)
    (1797, True)
    """
    require_scored_by(scored_by)
    if trace not in ("full", "sums"):
        raise BadInput(f"trace={shown(trace)}; wanted 'full' or 'sums'")
    if isinstance(model, Grouped):
        raise BadInput(f"{type(model).__name__} learns from whole groups, not row by row; use its fit")
    if not isinstance(model, Learner | AsksForLabels):
        name = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise BadInput(
            f"got {name}; wanted a learner of this library, such as om.Perceptron() (of a pipeline: "
            "transform the data first, or use River's progressive_val_score)"
        )
    if every is not None and (not isinstance(every, int) or every < 1):
        raise BadInput(f"every={shown(every)}; wanted a whole number of rounds")
    refuse_dask(X)
    if isinstance(X, list) and X and isinstance(X[0], dict):
        raise BadInput("got a list of dicts and y; give pairs instead: zip(dicts, y)")
    judged = judged_by_average(model, scored_by)
    wanted = Wanted(sample_weight, chance, classes, judged, trace == "full", every, delay)
    if isinstance(X, Source):
        if y is not None or sample_weight is not None or chance is not None:
            raise BadInput(
                "a source has its own targets and weights; leave y, sample_weight= and chance= out"
            )
        if not (isinstance(model, AsksForLabels) or delay or drift is not None):
            return model.watch(X, None, wanted)
        whole = X.whole()  # what is asked for, late, or looked at twice is played on a table
        X, y, wanted = whole.rows, whole.targets, wanted._replace(sample_weight=whole.weights)
    if hasattr(X, "shape") or (y is not None and not isinstance(X, dict)):
        return model.watch(X, y, wanted) if drift is None else play_with_drift(model, X, y, drift, wanted)
    if drift is not None:
        raise BadInput("drift= is for arrays; give X and y, or call the detector in your own loop")
    if delay or sample_weight is not None or chance is not None:
        raise BadInput(
            "an iterable carries its own weights and order; delay=, sample_weight= and chance= are for arrays"
        )
    return model.watch_each(X, wanted)


def require_scored_by(scored_by: str) -> None:
    """Refuse all but the two there are."""
    if scored_by not in ("running", "model"):
        raise BadInput(f"scored_by={shown(scored_by)}; wanted 'running' or 'model'")


def judged_by_average(model: object, scored_by: str) -> bool:
    """Are the answers of a run those of averaged weights?"""
    learner = getattr(model, "estimator", model)  # the one inside a sampler
    return scored_by == "model" and bool(getattr(learner, "_averages", False))


def average_of(model: object) -> object:
    """The parameter `average` of a learner, or of the one inside a sampler."""
    return getattr(getattr(model, "estimator", model), "average", False)
