"""One round on a dict, predict_one then learn_one, against River's PA-I."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import onmargin as om

from .contest import Contestant, Versus, Work
from .datasets import Round, number_dicts, word_bags

MISSING = "" if find_spec("river") else "River is not installed; pip install 'onmargin[bench]'"


def _ours() -> Any:
    return om.PassiveAggressiveClassifier(C=1.0)


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


def _against_river(name: str, data: str, lines: list[Versus], streams: dict[str, Any], rounds: int) -> Work:
    """Each stream, a pair (examples, known before), played by ours and by River's."""
    players = {"ours": _ours} if MISSING else {"ours": _ours, "River": _rivers}
    contestants = {
        f"{who}{which}": _player(make, *stream)
        for which, stream in streams.items()
        for who, make in players.items()
    }
    kept = [] if MISSING else lines
    return Work(name, data, contestants, kept, "us", rounds, 11, 0.6, MISSING)


def numbers(quick: bool) -> Work:
    """A dict of ten numbers."""
    rounds = 5_000 if quick else 10_000  # enough that a fresh learner's first rounds do not count
    lines = [Versus("a round on 10 numbers", "ours", "River", 3.0, 4.5)]
    streams = {"": (number_dicts(rounds), [])}
    return _against_river("numbers", f"{rounds:,} dicts of 10 numbers", lines, streams, rounds)


def words(quick: bool) -> Work:
    """A bag of about twenty words, from an empty vocabulary and with the words known."""
    rounds = 1_000 if quick else 5_000
    bags = word_bags(rounds)
    mean = sum(len(x) for x, _ in bags) / rounds
    vocabulary = len({word for x, _ in bags for word in x})
    lines = [
        Versus("a round on 20 words, known", "ours, known", "River, known", 2.0, 2.5),
        Versus("  from an empty vocabulary", "ours", "River", 2.0, 2.5),
    ]
    streams = {"": (bags, []), ", known": (bags, bags)}
    data = f"{rounds:,} bags of {mean:.0f} words on average, {vocabulary:,} words met"
    return _against_river("words", data, lines, streams, rounds)
