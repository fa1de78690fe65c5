"""Labels of a task of a user's own: it decides, and it says what was wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ...errors import BadInput
from ...models import user_tasks
from ...models.user_tasks import Nonsense
from ..runs.passes import fault_of
from .label_targets import LabelTargets

if TYPE_CHECKING:
    from ..learner import Learner

ANNOUNCE = "a task of your own has an output for each class, from the first round on: give classes="


@contextmanager
def naming_functions(owner: Learner) -> Iterator[None]:
    """What a user's functions did wrong is said in one line, with their names."""
    try:
        yield
    except (IndexError, Nonsense) as error:
        raise fault_of(owner, error) from None


class OwnTaskTargets(LabelTargets):
    """All classes are announced; answers and mistakes are as the task has them."""

    def begin(self, y: object) -> None:
        """All classes must be announced."""
        if self.owner.classes is None:
            raise BadInput(ANNOUNCE)
        super().begin(y)

    def adopt_stream(self, y: object, classes: object) -> None:
        """Also where they might grow."""
        if self.owner._labels is None and classes is None and self.owner.classes is None:
            raise BadInput(ANNOUNCE)
        super().adopt_stream(y, classes)

    def named(self, decisions: np.ndarray) -> np.ndarray:
        """The label that the task decides for, of each row."""
        with naming_functions(self.owner):
            codes = user_tasks.guesses(self.owner._fitted(), decisions)
        return np.asarray(self.labels.array[codes.astype(int)])

    def named_one(self, scores: np.ndarray) -> object:
        """The label of one example."""
        return self.labels.known[int(self.guess_of(scores[0]))]

    def guess_of(self, scores: np.ndarray) -> float:
        """What `decide` makes of one line of scores."""
        with naming_functions(self.owner):
            return float(user_tasks.guesses(self.owner._fitted(), scores[None, :])[0])

    def is_wrong(self, scores: np.ndarray, guess: float, target: float) -> bool:
        """What `wrong` makes of it."""
        with naming_functions(self.owner):
            return user_tasks.is_wrong(self.owner._fitted(), scores, guess, target)

    def losses(self, scores: np.ndarray, y: object) -> np.ndarray:
        """What other scores would have suffered."""
        targets = self.labels.targets(self.labels.codes(np.asarray(y)))
        with naming_functions(self.owner):
            return user_tasks.losses(self.owner._fitted(), scores, targets)
