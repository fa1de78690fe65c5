"""The labels people may give: those announced, or any word; each keeps its key."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ...errors import BadInput, shown
from ...interface.targets.labels import check_label
from ...protocols.pools.labelling import keys_of
from ..examples import checked_label
from .acts import Acts

MOST_CLASSES = 30  # as many as there are keys
MOST_SIGNS = 100  # characters of a label that is to stand on a button


class LabelSet:
    """Labels in the order they came up, durably; told apart by how they are written.

    announced : all there are; None: any word may become one. A label that nobody uses any more is not
        offered, but its key is not given to another: hands remember keys.
    """

    def __init__(self, acts: Acts) -> None:
        self._acts = acts
        announced, order = acts.setting("classes"), acts.setting("labels")
        self.announced: list[object] | None = announced if isinstance(announced, list) else None
        self._order: list[object] = order if isinstance(order, list) else []

    def announce(self, classes: Sequence[object]) -> None:
        """All labels there are."""
        if len(set(map(str, classes))) < max(2, len(classes)) or len(classes) > MOST_CLASSES:
            given = shown(list(classes))
            raise BadInput(f"classes={given}; wanted 2 to {MOST_CLASSES} labels, each once")
        self._acts.set("classes", list(classes))
        self.announced = list(classes)

    def met(self, labels: Iterable[object]) -> None:
        """These are in use."""
        had = set(map(str, self._order))
        fresh = [label for label in dict.fromkeys(labels) if str(label) not in had]
        if fresh:
            self._order = [*self._order, *fresh]
            self._acts.set("labels", self._order)

    def offered(self, used: Collection[object]) -> list[object]:
        """Those announced, or those in use, in the order they came up."""
        if self.announced is not None:
            return list(self.announced)
        words = set(map(str, used))
        return [label for label in self._order if str(label) in words]

    def keys(self, offered: Sequence[object]) -> dict[str, object]:
        """One key a label; the same one for ever, while there are keys for all that ever came up."""
        keys = keys_of(self._order if self.announced is None else self.announced)
        if len(keys) < len(self._order) and self.announced is None:
            return keys_of(offered)
        words = set(map(str, offered))
        return {key: label for key, label in keys.items() if str(label) in words}

    def checked(self, label: object, known: dict[str, object]) -> object:
        """A label there is, or a new one, which is then among the known ones (by how they are written)."""
        word = str(label).strip()
        if word in known:
            return known[word]
        if self.announced is not None:
            raise BadInput(f"label {shown(label)} is not among {', '.join(known)}")
        if not isinstance(label, str | int | float) or isinstance(label, bool) or not word:
            raise BadInput(f"label {shown(label)}; wanted a word or a number")
        check_label(checked_label(label, "classes"))
        if len(word) > MOST_SIGNS:
            raise BadInput(f"label {shown(word)} has {len(word)} characters; wanted at most {MOST_SIGNS}")
        if len(known) >= MOST_CLASSES:
            raise BadInput(f"there are {MOST_CLASSES} labels already, one a key; {shown(label)} is one more")
        known[word] = word if isinstance(label, str) else label
        return known[word]
