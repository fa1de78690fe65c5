"""Progressive validation from a learner's side: answer, then learn, with a line per round."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...errors import BadInput, shown
from ...learn.vocabulary import TRACE_ASKED, TRACED
from ...models.asking import Asking
from ...results.progress import Progress, Totals
from ...results.trace import Watcher
from ...sources.blocks import Source, regrouped
from ..dicts.streams import check_unseen, ready_round
from ..tables import Table, checked_chance
from ..twins import learn_on, own
from .beginning import Beginning
from .passes import BLOCK, Block, Game, NotFinite, Sums, naming_rows

if TYPE_CHECKING:
    from ..learner import Learner


class Wanted(NamedTuple):
    """How a run is to be played, and what is to be kept of it."""

    sample_weight: Any = None
    chance: Any = None
    classes: Any = None
    judged: bool = False  # answers are the averages'
    full: bool = True  # a line per round, or sums only
    every: int | None = None
    delay: Any = 0
    asking: Asking | None = None  # a rule that says which rounds ask for their label


def watch_table(learner: Learner, X: object, y: object, wanted: Wanted) -> Progress:
    """Answer and learn a table in one compiled loop; or a source, a block at a time."""
    if isinstance(X, Source):
        return watch_source(learner, X, wanted)
    X, model, data = learner._continue(X, y, wanted.classes, wanted.sample_weight, wanted.asking, whole=True)
    chance, targets = checked_chance(wanted.chance, data.size), learner._targets()
    start, before = (
        targets.trace_start(model),
        Beginning.of(model, wanted.full, bool(wanted.delay), wanted.judged),
    )
    watcher = Watcher(data.size, wanted.full, targets.sets, targets.kind == "labels")
    if wanted.judged and not model.judges and not wanted.delay:
        raise BadInput("scored_by='model' is for linear scores; a ball has none")
    game = learner._game(model, data, watcher=watcher)._replace(
        chance=chance, judged=wanted.judged, watcher=watcher, known=targets.known
    )

    def play() -> Sums:
        if model.asking is not None:
            model.asking.active = wanted.asking is not None
        sums = _late(learner, X, game, wanted) if wanted.delay else game.play(size=wanted.every or BLOCK)
        if model.asking is not None:
            model.asking.active = False
        return sums

    with naming_rows(learner, X):
        sums = learn_on(learner, model, data, play)
    run = _summary(learner, watcher, data.size, sums, data.y, X, start, wanted.every)
    run.begun = before.begun(learner, model, data.weights)
    return run


def _late(learner: Learner, X: Table, game: Game, wanted: Wanted) -> Sums:
    """Labels `delay` rounds late: row t is answered when the rows up to t - delay - 1 are learned.

    Losses and steps of labels are those of the moment of learning; of numbers, the answers'.
    """
    delay, targets = wanted.delay, learner._targets()
    if not isinstance(delay, int | np.integer) or delay < 0:
        raise BadInput(f"delay={shown(delay)}; wanted a whole number of rounds")
    if learner.growing and not targets.closed:
        raise BadInput("delay= wants the classes announced; give classes=, or set growing=False")
    model, data, watcher = game.model, game.data, game.watcher
    assert watcher is not None
    learner._model = model
    answers = np.zeros((data.size, model.start.outputs))
    guesses, sums, lines, wants = np.zeros(data.size), Sums(), [], []
    for position in range(data.size + delay):
        if position < data.size:
            row = learner._rows(X[[position]])
            scores, done = model.scores(row, 1, wanted.judged)
            if not done:
                raise NotFinite(position)
            answers[position] = scores[0]
            guesses[position] = targets.guess_of(answers[position])
        late = position - delay
        if late >= 0:
            (part,) = game.cut(Block(late, 1, np.array([late])))
            wants.append(part[1][0])
            line = np.zeros((1, TRACED + model.start.outputs))
            sums.add(*game.learn(part, line))
            lines.append(line[0])
    if targets.kind == "numbers" and data.y is not None:
        for line, loss in zip(lines, learner._losses_of(answers, data.y), strict=True):
            line[1] = loss if line[TRACE_ASKED] > 0 else 0.0
        sums.loss = float(sum(line[1] for line in lines))
    for number, line in enumerate(lines):
        line[0], line[TRACED:] = guesses[number], answers[number]
        place = watcher.table(number, 1, model.start.outputs, targets.known())
        if place.size:
            place[...] = line
    sums.mistakes = sum(
        targets.is_wrong(answers[t], guesses[t], wants[t]) for t in range(data.size) if lines[t][TRACE_ASKED]
    )
    watcher.curve.append((sums.rounds, sums.mistakes, sums.loss))
    return sums


def watch_source(learner: Learner, source: Source, wanted: Wanted) -> Progress:
    """The blocks of a source, to the same numbers as all its rows in one table."""
    own(learner)
    look_ahead(learner, source, wanted.classes)
    sums, position, truths, start = Sums(), 0, list[np.ndarray](), None
    before: Beginning | None = None
    heavy = False
    watcher = Watcher(BLOCK, wanted.full, learner._targets().sets, learner._targets().kind == "labels")
    for block in regrouped(source.blocks(), wanted.every or BLOCK, at_once=source.live):
        X, model, data = learner._continue(
            block.rows, block.targets, wanted.classes, block.weights, wanted.asking, own=True
        )
        targets = learner._targets()
        if before is None:
            start, watcher.sets = targets.trace_start(model), targets.sets
            before = Beginning.of(model, wanted.full, bool(wanted.delay), wanted.judged)
        if wanted.judged and not model.judges:
            raise BadInput("scored_by='model' is for linear scores; a ball has none")
        watcher.base = position
        game = learner._game(model, data, watcher=watcher)._replace(
            judged=wanted.judged, watcher=watcher, known=targets.known
        )
        try:
            with naming_rows(learner, X):
                learn_on(learner, model, data, partial(game.play, size=wanted.every or BLOCK, sums=sums))
        except BadInput as error:
            raise type(error)(f"in the {data.size} examples after {position}: {error}") from None
        position += data.size
        heavy = heavy or not np.isin(data.weights, (0.0, 1.0)).all()
        if wanted.full:
            truths.append(data.y)
    if not position:
        raise BadInput("the source holds no example")
    truth = stacked(truths) if wanted.full else None
    run = _summary(learner, watcher, position, sums, truth, None, start, wanted.every)
    assert before is not None
    begun = before.begun(learner, model, data.weights)  # (rows of pairs have other numbers in each block)
    run.begun = begun._replace(members=None, starts=None, weighted=begun.weighted or heavy)
    return run


def look_ahead(learner: Learner, source: Source, classes: object) -> None:
    """A learner that does not grow must know all labels and columns: they are looked for before it begins."""
    if learner._model is not None and not learner.growing:
        source.columns = max(source.columns, learner.n_features_in_)
    if learner._model is not None or learner.growing:
        return
    targets = learner._targets()
    announced = classes is not None or getattr(learner, "classes", None) is not None
    unknown = targets.kind == "labels" and not announced
    if not unknown and (source.columns or source.features is not None):
        return
    if not source.again:
        missing = "its labels (classes=)" if unknown else "how many columns it has (columns=)"
        raise BadInput(
            f"this source can be read only once, and nothing tells {missing}; tell it, or set growing=True"
        )
    labels, columns = source.glance()
    source.columns = max(source.columns, columns)
    if unknown and labels is not None:
        targets.adopt(targets.read(labels, len(labels)), False)


def stacked(parts: list[np.ndarray]) -> np.ndarray | None:
    """Targets of blocks as one."""
    if any(sp.issparse(part) for part in parts):
        sparse: np.ndarray = sp.vstack(parts, "csr")
        return sparse
    return None if parts[0] is None else np.concatenate(parts)


def watch_each(learner: Learner, examples: Iterable[Any], wanted: Wanted) -> Progress:
    """An iterable of (x, y) or (x, y, weight), an example at a time."""
    classes, targets = wanted.classes, learner._targets()
    if classes is not None and learner._model is None:
        learner.set_params(classes=tuple(classes))
    elif classes is not None and sorted(map(repr, classes)) != sorted(map(repr, targets.known())):
        raise BadInput(f"classes={shown(classes)}, but the model already knows {shown(targets.known())}")
    own(learner)
    truths: list[Any] = []
    watcher: Watcher | None = None
    sums, position = Sums(), 0
    for example in examples:
        x, y, weight = example if len(example) == 3 else (*example, 1.0)
        if weight != 1.0 and learner._weigh(weight) == 0.0:
            check_unseen(learner, x, y)
            continue
        before = targets.known()
        stream, weight = ready_round(learner, x, y, weight)
        known = targets.known()
        watcher = watcher or Watcher(1024, wanted.full, targets.sets, targets.kind == "labels")
        if len(known) > len(before):
            watcher.meet(position, before)
        trace = watcher.table(position, 1, stream.model.start.outputs, known)
        scores = stream.scores(x).copy() if wanted.judged else None
        guess = 0.0 if scores is None else targets.guess_of(scores[0])
        if scores is not None:
            stream.take(x)
        _, _, loss, wrong, errors, updates = stream.learn(x, weight, trace)
        seen = weight > 0
        if scores is not None:
            wrong = seen and targets.is_wrong(scores[0], guess, stream.target[0])
            if wanted.full:
                trace[0, 0], trace[0, TRACED:] = guess, scores[0]
        sums.rounds += seen
        sums.mistakes += wrong or (seen and len(known) > len(before))
        sums.loss, sums.errors, sums.updates = sums.loss + loss, sums.errors + errors, sums.updates + updates
        position += 1
        if wanted.full:
            truths.append(y)
        if sums.rounds % (wanted.every or 1000) == 0:
            watcher.curve.append((sums.rounds, sums.mistakes, sums.loss))
    if watcher is None:
        raise BadInput("the iterable is empty; wanted pairs (x, y)")
    if not watcher.curve or watcher.curve[-1][0] != sums.rounds:
        watcher.curve.append((sums.rounds, sums.mistakes, sums.loss))
    y = truths if wanted.full else None
    return _summary(learner, watcher, position, sums, y, None, None, wanted.every)


def _summary(
    learner: Learner, watcher: Watcher, count: int, sums: Sums, y: object, X: Table, start: Any,
    every: int | None,
) -> Progress:  # fmt: skip
    targets, learner = learner._targets(), learner._original()
    rounds, mistakes, errors, updates = map(int, (sums.rounds, sums.mistakes, sums.errors, sums.updates))
    totals = Totals(rounds, mistakes, errors, updates, float(sums.loss))
    watcher.settle(count)
    if not watcher.full:
        return Progress(learner, totals, y, X, curve=watcher.curve, kind=targets.kind)
    whole = watcher.whole[:count]
    scores, predictions = targets.traced(whole, start)
    lines = {
        "scores": scores, "predictions": predictions, "losses": whole[:, 1].copy(),
        "steps": whole[:, 2].copy(), "queried": whole[:, TRACE_ASKED] > 0,
        "counted": whole[:, TRACE_ASKED] != 0,
    }  # fmt: skip
    return Progress(learner, totals, targets.truths(y), X, lines, watcher.curve, targets.kind, every)
