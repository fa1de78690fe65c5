"""A learner as it was before the round of one dict, or before a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..twins import retire

if TYPE_CHECKING:
    from ..feedback.asks import AsksForLabels
    from ..learner import Learner


class Before:
    """Names, labels and numbers are changed in place by a round; arrays only by the loop, at one stroke.

    So a round that failed was either not played, and all else is put back; or it was played to its end, and
    the model is the one after it (Ctrl-C may come between that and the call's return).
    """

    def __init__(self, owner: Learner) -> None:
        self.owner, self.state = owner, dict(owner.__dict__)
        self.state.pop("_stream", None)  # bound to what the round made; another is made when it is wanted
        self.model, self.labels, self.slots = (
            owner._model,
            getattr(owner, "_labels", None),
            owner._columns.slots,
        )
        self.clock, self.known = 0, len(self.slots or ())
        if self.model is not None:
            self.clock, self.mark = self.model.clock, self.model.mark()
        if self.labels is not None:
            self.labelled = dict(self.labels.__dict__)

    @property
    def is_over(self) -> bool:
        """Was the round played to its end?"""
        model = self.owner._model
        return model is not None and model.clock != self.clock

    def restore(self) -> None:
        """As it was, unless the round was played: then its names stay (Ctrl-C may come before `keep`)."""
        if self.is_over:
            if self.owner._stream is not None:
                self.owner._stream.keep()
            return
        retire(self.owner)
        self.owner.__dict__ = self.state
        if self.slots is not None:
            self.slots.give_back(self.known)
        if self.labels is not None:
            self.labels.__dict__ = self.labelled
        if self.model is not None:
            self.model.back_to(self.mark)


class BeforeAsking:
    """A learner that asks: the learner inside, and what the rule has counted."""

    def __init__(self, owner: AsksForLabels) -> None:
        self.owner, self.state = owner, dict(owner.__dict__)
        inner, rule = self.state.get("estimator_"), owner._asking
        self.inner = None if inner is None else Before(inner)
        bound = inner is not None and inner._model is not None and inner._model.asking is rule
        self.rule = None if rule is None or bound else rule.copy()  # (the model's goes back with the model)

    def restore(self) -> None:
        """As it was, unless the round was played."""
        if self.inner is not None and self.inner.is_over:
            self.inner.restore()
            return
        self.owner.__dict__ = self.state
        if self.inner is not None:
            self.inner.restore()
        if self.rule is not None and self.owner._asking is not None:
            self.owner._asking.__dict__ = self.rule.__dict__
