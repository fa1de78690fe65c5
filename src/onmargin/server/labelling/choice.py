"""Which item to ask for next: a pool of all items, that grows with them and knows what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...interface.classifier import Classifier
from ...protocols.pools.pool import Pool
from ...results.label_plan import Advice
from .acts import ANSWER, SKIP, TAKE_BACK, Act
from .items import Item, table_of

EARLY = Advice(False, 0.0, "go on: labels of two classes are wanted to learn at all")
GROWS = 1.5  # the pool is made anew when there are so many times as many items


class Choice:
    """An `om.Pool` over items that keep coming. Labels are told apart by how they are written.

    The pool's learner is fitted anew on all labels whenever a tenth more have come. It only chooses (and
    says when to stop): the model of the server learns each answer as it comes.
    """

    def __init__(self, learner: Classifier | str = "auto", classes: Sequence[object] | None = None) -> None:
        self._learner, self._classes = learner, None if classes is None else list(map(str, classes))
        self._pool: Pool | None = None
        self._count = 0  # items in the pool's table

    def next(self, items: Sequence[Item], said: Iterable[Act], held: Iterable[int]) -> int | None:
        """The number of the item most worth a label, of those nobody has answered, skipped or holds."""
        pool = self._of(items, list(said), list(held))
        rows = [] if pool is None else pool.next(1).tolist()
        return int(rows[0]) if rows else None

    def note(self, act: Act) -> None:
        """Someone answered, skipped or took that back."""
        if self._pool is None or act.item >= self._count:
            return
        if act.what == TAKE_BACK:
            self._pool.forget([act.item])
            return
        self._hand_out([act.item])
        if act.what == SKIP:
            self._pool.skip([act.item])
        else:
            self._pool.answer([act.item], [str(act.label)])

    def hold(self, item: int) -> None:
        """Somebody looks at it."""
        if self._pool is not None and item < self._count:
            self._hand_out([item])

    def release(self, item: int) -> None:
        """Nobody looks at it any more."""
        if self._pool is not None and item in self._pool.pending:
            self._pool.release([item])

    @property
    def advice(self) -> Advice:
        """Go on, or stop?"""
        return EARLY if self._pool is None else self._pool.advice

    def _of(self, items: Sequence[Item], said: list[Act], held: list[int]) -> Pool | None:
        """The pool of all items; of the first ones, while there are enough of them."""
        if not items:
            return None
        touched = sum(act.item < self._count for act in said) + sum(item < self._count for item in held)
        if self._pool is None:
            self._pool = Pool(self._learner, table_of(items), classes=self._classes, random_state=0)
            self._count = 0
        elif len(items) >= GROWS * self._count or len(items) > self._count and 2 * touched >= self._count:
            self._pool = self._pool.grown(table_of(items))
        else:
            return self._pool
        first, self._count = self._count, len(items)
        self._hand_out([item for item in held if first <= item])
        late = [act for act in said if first <= act.item]
        self._hand_out([act.item for act in late])
        answers = [act for act in late if act.what == ANSWER]
        self._pool.answer([act.item for act in answers], [str(act.label) for act in answers])
        self._pool.skip([act.item for act in late if act.what == SKIP])
        return self._pool

    def _hand_out(self, items: list[int]) -> None:
        assert self._pool is not None
        waiting = set(self._pool.pending.tolist())
        self._pool.ask([item for item in items if item not in waiting])
