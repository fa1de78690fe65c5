"""Test, then train: every example is answered before its label is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import BadInput
from ..learn.vocabulary import TRACED
from ..results.progress import Progress, Totals
from ..results.trace import Watcher
from .drift import play_with_drift


def progressive(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None, chance: Any = None,
    classes: Any = None, every: int | None = None, delay: int = 0, drift: Any = None,
    scored_by: str = "running", trace: str = "full",
) -> Progress:  # fmt: skip
    """Progressive validation: predict, score, update; the model has learned afterwards.

    X and y are arrays (or a CSR matrix, a frame): one compiled loop. Or X is any iterable of (x, y)
    or (x, y, weight) with dicts x: the same loop, an example at a time (a weight of 0 leaves no line).

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
    if scored_by not in ("running", "model"):
        raise BadInput(f"scored_by={scored_by!r}; wanted 'running' or 'model'")
    if trace not in ("full", "sums"):
        raise BadInput(f"trace={trace!r}; wanted 'full' or 'sums'")
    if not isinstance(model, type) and hasattr(model, "_learn_groups"):
        raise BadInput(
            f"{type(model).__name__} learns from groups of rows, not one by one; use fit(X, y, qid)"
        )
    if isinstance(model, type) or not hasattr(model, "_progress"):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise BadInput(
            f"got {name}; wanted a learner of this library, made (transform the data first, or use River's "
            "progressive_val_score for pipelines)"
        )
    if every is not None and (not isinstance(every, int) or every < 1):
        raise BadInput(f"every={every!r}; wanted a whole number of rounds")
    if isinstance(X, list) and X and isinstance(X[0], dict):
        raise BadInput("got a list of dicts and y; give pairs instead: zip(dicts, y)")
    learner = getattr(model, "estimator", model)  # the one inside a sampler
    judged = scored_by == "model" and bool(getattr(learner, "average", False))
    if hasattr(X, "shape") or (y is not None and not isinstance(X, dict)):
        options = {"sample_weight": sample_weight, "chance": chance, "classes": classes}
        watched = {"judged": judged, "full": trace == "full", "every": every, "delay": delay}
        if drift is not None:
            return play_with_drift(model, X, y, drift, options, watched)
        run: Progress = model._progress(X, y, **options, **watched)
        return run
    if drift is not None:
        raise BadInput("drift= is for arrays; give X and y, or call the detector in your own loop")
    if delay or sample_weight is not None or chance is not None:
        raise BadInput(
            "an iterable carries its own weights and order; delay=, sample_weight= and chance= are for arrays"
        )
    if hasattr(model, "_play_dicts"):
        asked: Progress = model._play_dicts(X, judged, trace == "full", every)
        return asked
    return _one_by_one(model, X, classes, judged, trace == "full", every)


def _one_by_one(
    model: Any, examples: Iterable[Any], classes: Any, judged: bool, full: bool, every: int | None
) -> Progress:
    """An iterable of (x, y) or (x, y, weight)."""
    if classes is not None and model._model is None:
        model.set_params(classes=tuple(classes))
    elif classes is not None and sorted(map(repr, classes)) != sorted(map(repr, model._known_labels())):
        raise BadInput(f"classes={classes!r}, but the model already knows {model._known_labels()!r}")
    truths: list[Any] = []
    watcher: Watcher | None = None
    rounds = mistakes = errors = updates = position = 0
    loss = 0.0
    for example in examples:
        x, y, weight = example if len(example) == 3 else (*example, 1.0)
        if model._is_unseen(x, y, weight):
            continue
        before = model._known_labels()
        stream, weight = model._ready_round(x, y, weight)
        known = model._known_labels()
        watcher = watcher or Watcher(1024, full, model._has_sets())
        if len(known) > len(before):
            watcher.meet(position, before)
        trace = watcher.table(position, 1, stream.model.start.outputs, known)
        scores = stream.scores(x).copy() if judged else None
        guess = None if scores is None else model._guess_of(scores[0])
        if scores is not None:
            stream.take(x)
        tally = stream.learn(x, weight, trace)
        wrong = tally[3]
        if scores is not None:
            wrong = weight > 0 and model._is_wrong(scores[0], guess, stream.target[0])
            if full:
                trace[0, 0], trace[0, TRACED:] = guess, scores[0]
        seen = weight > 0
        rounds, mistakes = rounds + seen, mistakes + (wrong or (seen and len(known) > len(before)))
        loss, errors, updates = loss + tally[2], errors + tally[4], updates + tally[5]
        position += 1
        if full:
            truths.append(y)
        if rounds % (every or 1000) == 0:
            watcher.curve.append((rounds, mistakes, loss))
    totals = Totals(rounds, mistakes, errors, updates, loss)
    if watcher is None:
        raise BadInput("the iterable is empty; wanted pairs (x, y)")
    if not watcher.curve or watcher.curve[-1][0] != rounds:
        watcher.curve.append((rounds, mistakes, loss))
    summary: Progress = model._summary(watcher, position, totals, truths if full else None, None, every=every)
    return summary
