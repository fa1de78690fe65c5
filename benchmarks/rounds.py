"""One round on a dict, predict_one then learn_one: beside River's PA-I, and in microseconds."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import onmargin as om

from .contest import RIVER, ROUND, Contestant, Line, Work, line
from .datasets import Round, number_dicts, word_bags
from .limits import kernel
from .limits.dicts import ByHand
from .passes import EXACT, ours

MISSING = "" if find_spec("river") else "River is not installed; pip install 'onmargin[bench]'"
GAMMA = 0.1


def _rivers() -> Any:
    from river.linear_model import PAClassifier

    return PAClassifier(C=1.0, mode=1)


def play(model: Any, examples: list[Round]) -> int:
    """The rounds that were answered right."""
    predict, learn = model.predict_one, model.learn_one
    right = 0
    for x, y in examples:
        right += predict(x) == y
        learn(x, y)
    return right


def _player(make: Callable[[], Any], examples: list[Round], known: list[Round]) -> Contestant:
    """A fresh learner, which has seen the `known` rounds before the clock starts."""

    def prepare() -> Any:
        model = make()
        play(model, known)
        return model

    return Contestant(lambda model: play(model, examples), lambda right: right / len(examples), prepare)


def _by_hand(examples: list[Round], known: list[Round]) -> Contestant:
    names = len({name for x, _ in examples for name in x})

    def prepare() -> ByHand:
        hand = ByHand(names)
        hand.play(known)
        return hand

    return Contestant(lambda hand: hand.play(examples), lambda right: right / len(examples), prepare)


def _against_river(name: str, data: str, lines: list[Line], streams: dict[str, Any], rounds: int) -> Work:
    """Each stream, a pair (examples, known before), played by ours, by River's and by hand."""
    players = {"ours": ours} if MISSING else {"ours": ours, "River": _rivers}
    contestants = {}
    for which, stream in streams.items():
        contestants |= {f"{who}{which}": _player(make, *stream) for who, make in players.items()}
        contestants[f"by hand{which}"] = _by_hand(*stream)
    return Work(name, data, contestants, [] if MISSING else lines, rounds, 11, 0.6, MISSING)


def numbers(quick: bool) -> Work:
    """A dict of ten numbers."""
    rounds = 5_000 if quick else 10_000  # enough that a fresh learner's first rounds do not count
    lines = [line(RIVER, "a dict of 10 numbers", "ours", "River", 3.0, 4.5, "by hand")]
    streams = {"": (number_dicts(rounds), [])}
    return _against_river("numbers", f"{rounds:,} dicts of 10 numbers", lines, streams, rounds)


def words(quick: bool) -> Work:
    """A bag of about twenty words, with the words known and from an empty vocabulary."""
    rounds = 1_000 if quick else 5_000
    bags = word_bags(rounds)
    mean = sum(len(x) for x, _ in bags) / rounds
    vocabulary = len({word for x, _ in bags for word in x})
    lines = [
        line(
            RIVER, f"{mean:.0f} words, all known", "ours, known", "River, known", 2.5, 3.0, "by hand, known"
        ),
        line(RIVER, f"{mean:.0f} words, empty vocabulary", "ours", "River", 2.0, 3.0, "by hand"),
    ]
    streams = {"": (bags, []), ", known": (bags, bags)}
    data = f"{rounds:,} bags of {mean:.0f} words on average, {vocabulary:,} words met"
    return _against_river("words", data, lines, streams, rounds)


def _kernel_by_hand(examples: list[Round], known: list[Round]) -> Contestant:
    """The same rounds on rows of a table: no names, no packing."""
    X = np.array([list(x.values()) for x, _ in known + examples])
    y = np.where([target for _, target in known + examples], 1.0, -1.0)
    kept, alpha = np.empty_like(X), np.empty(len(X))
    before = kernel.pa1(X, y, kept, alpha, 0, 0, len(known), GAMMA, 1.0)[0]
    return Contestant(
        lambda _: kernel.pa1(X, y, kept, alpha, before, len(known), len(X), GAMMA, 1.0)[1],
        lambda right: right / len(examples),
    )


def _resumed(model: Any, examples: list[Round], known: list[Round]) -> Contestant:
    """A copy of a model that has seen the `known` rounds."""
    play(model, known)
    return Contestant(
        lambda twin: play(twin, examples),
        lambda right: right / len(examples),
        lambda: model.clone(include_attributes=True),
    )


def _acting(examples: list[Round]) -> Contestant:
    """An action and its reward."""

    def play_all(model: om.Banditron) -> int:
        earned = 0
        for x, target in examples:
            action = model.act_one(x)
            earned += action.label == target
            model.reward_one(action.id, action.label == target)
        return earned

    return Contestant(
        play_all,
        lambda earned: earned / len(examples),
        lambda: om.Banditron(classes=[False, True], random_state=0, **EXACT),
    )


def others(quick: bool) -> Work:
    """Learners whose round needs more than its row: a kernel, a reservoir, an action; 10 numbers."""
    before, rounds = (200, 100) if quick else (700, 300)
    stream = number_dicts(before + rounds)
    known, examples = stream[:before], stream[before:]
    kernelled = om.PassiveAggressiveClassifier(C=1.0, kernel="rbf", gamma=GAMMA, **EXACT)
    paired = om.PairedClassifier(C=0.1, random_state=0, **EXACT)
    contestants = {
        "kernel": _resumed(kernelled, examples, known),
        "by hand": _kernel_by_hand(examples, known),
        "paired": _resumed(paired, examples, known),
        "acting": _acting(examples),
    }
    lines = [
        line(ROUND, "kernel round by dicts", "kernel", hold=40.0, limit="by hand"),
        line(ROUND, "paired round by dicts", "paired", hold=40.0),
        line(ROUND, "an action and its reward", "acting", hold=40.0),
    ]
    data = (
        f"rounds {before:,} to {before + rounds:,} on 10 numbers; {kernelled.n_support_:,} vectors at first"
    )
    return Work("others", data, contestants, lines, rounds, 7, 0.6)
