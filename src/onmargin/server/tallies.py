"""What rounds came to: mistakes, loss, the error of late, curves, drift, confusion."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence

from ..protocols.drift import PageHinkley
from .plain import Json, Plain

MOST_POINTS = 1024  # of a curve: then every other one is dropped
BLOCK = 32  # rounds whose mean error the detector of drift is shown
MOST_PAIRS = 10_000  # cells of the confusion table

Pair = tuple[Plain, Plain]
"""The truth, and the guess."""


Round = tuple[Pair, float, float, float]
"""Of an answer before it was learned: the pair, was it wrong (of numbers: by how much), loss, moment."""


class Tallies:
    """Sums that are the same however rounds come in groups: a replay counts what was counted."""

    def __init__(self, recent: int = 1000, pairs: bool = True) -> None:
        self.rounds, self.mistakes, self.loss, self.pairs = 0, 0, 0.0, pairs
        self.recent: deque[float] = deque(maxlen=recent)
        self.confusion: Counter[Pair] = Counter()
        self.points: list[dict[str, float]] = []
        self.stride = 1
        self.block = 0.0  # of the errors since the last whole block
        self.drifts: list[int] = []
        self.detector = PageHinkley(threshold=1.5, patience=5)

    def add(self, rounds: Sequence[Round]) -> None:
        """Some more, in order."""
        done = 0
        while done < len(rounds):
            left = min(self.stride - self.rounds % self.stride, BLOCK - self.rounds % BLOCK)
            self._chunk(rounds[done : done + left] if done or left < len(rounds) else rounds)
            done += left

    def _chunk(self, rounds: Sequence[Round]) -> None:
        pairs, wrongs, losses, _ = zip(*rounds, strict=True)
        loss, block = self.loss, self.block
        for more in losses:  # (one by one: a sum may not hang on how rounds were grouped)
            loss += more
        for more in wrongs:
            block += more
        self.loss, self.block = loss, block
        self.recent.extend(wrongs)
        self.rounds += len(rounds)
        if self.pairs:
            self.mistakes += sum(map(bool, wrongs))
            self.confusion.update(pairs)
            if len(self.confusion) > MOST_PAIRS:
                self.confusion = Counter(dict(self.confusion.most_common(MOST_PAIRS // 2)))
        if not self.rounds % BLOCK:
            if self.detector.update(self.block / BLOCK).drift_detected:
                self.drifts.append(self.rounds)
            self.block = 0.0
        if not self.rounds % self.stride:
            self.points.append(self.point(rounds[-1][3]))
            if len(self.points) >= MOST_POINTS:
                self.points, self.stride = self.points[1::2], self.stride * 2

    def point(self, at: float) -> dict[str, float]:
        """Where the curves are now."""
        return {
            "rounds": self.rounds, "mistakes": self.mistakes, "loss": self.loss,
            "recent": self.recent_error(), "at": at,
        }  # fmt: skip

    def recent_error(self) -> float:
        """Of the last rounds: how many were wrong; of numbers, by how much."""
        return sum(self.recent) / len(self.recent) if self.recent else 0.0

    # ---- snapshots

    def facts(self) -> Json:
        """For a file."""
        watched = {k: v for k, v in vars(self.detector).items() if isinstance(v, bool | int | float)}
        return {
            "rounds": self.rounds, "mistakes": self.mistakes, "loss": self.loss, "pairs": self.pairs,
            "recent": list(self.recent), "most": self.recent.maxlen, "stride": self.stride,
            "confusion": [[*pair, count] for pair, count in self.confusion.items()],
            "points": [list(point.values()) for point in self.points],
            "block": self.block, "drifts": self.drifts, "detector": watched,
        }  # fmt: skip

    @classmethod
    def from_facts(cls, facts: Mapping[str, Plain]) -> Tallies:
        """The same again."""
        made = cls(facts["most"], facts["pairs"])
        for name in ("rounds", "mistakes", "loss", "stride", "block"):
            setattr(made, name, facts[name])
        made.recent.extend(facts["recent"])
        made.confusion = Counter({(truth, guess): count for truth, guess, count in facts["confusion"]})
        names = ("rounds", "mistakes", "loss", "recent", "at")
        made.points = [dict(zip(names, point, strict=True)) for point in facts["points"]]
        made.drifts = list(facts["drifts"])
        vars(made.detector).update(facts["detector"])
        return made

    def since(self, rounds: int) -> list[dict[str, float]]:
        """Points after that round."""
        return [one for one in list(self.points) if one["rounds"] > rounds]
