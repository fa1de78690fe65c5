"""Which label was answered where which was true: counted as answers come, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from ..errors import BadInput

Label: TypeAlias = Hashable


class Mix(NamedTuple):
    """So often was `answer` said where `truth` was right."""

    truth: Label
    answer: Label
    times: int


class Confusion:
    """Counts of (truth, answer); `add` takes blocks of a stream.

    >>> seen = Confusion()
    >>> seen.add(["ham", "spam", "ham"], ["ham", "ham", "ham"])
    >>> seen.labels, seen.table().tolist()
    (['ham', 'spam'], [[2, 0], [1, 0]])
    >>> seen.mixed()
    [Mix(truth='spam', answer='ham', times=1)]
    """

    def __init__(self) -> None:
        self.counts: Counter[tuple[Label, Label]] = Counter()

    def __repr__(self) -> str:
        return f"Confusion({len(self.labels)} labels, {sum(self.counts.values()):,} answers)"

    def add(self, truths: Iterable[Label], answers: Iterable[Label]) -> None:
        """More answers, and what was right. An answer of None was none: it is a label of its own."""
        known, said = np.asarray(truths), np.asarray(answers)
        if known.ndim != 1 or known.shape != said.shape:
            raise BadInput(f"got {known.shape} truths and {said.shape} answers; wanted one label each")
        self.counts.update(zip(known.tolist(), said.tolist(), strict=True))

    @property
    def labels(self) -> list[Label]:
        """All that were true or answered, in their order where they have one; None last."""
        found = {label for pair in self.counts for label in pair}
        return sorted(found, key=lambda label: (label is None, _rank(label), str(label)))

    def table(self) -> np.ndarray:
        """Counts: a row for each truth, a column for each answer, both as in `labels`."""
        place = {label: number for number, label in enumerate(self.labels)}
        counts = np.zeros((len(place), len(place)), np.int64)
        for (truth, answer), count in self.counts.items():
            counts[place[truth], place[answer]] += count
        return counts

    def mixed(self, k: int = 10) -> list[Mix]:
        """The k pairs that were mixed up most often."""
        wrong = [Mix(*pair, count) for pair, count in self.counts.items() if pair[0] != pair[1]]
        return sorted(wrong, key=lambda mix: (-mix.times, str(mix.truth), str(mix.answer)))[:k]


def _rank(label: Label) -> float:
    """Numbers by size, all else after them."""
    return float(label) if isinstance(label, int | float) else float("inf")
