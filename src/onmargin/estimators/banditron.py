"""Learning from rewards: only whether the answer given was right is ever known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import BadInput, shown
from ..interface.feedback.actions import Action as Action
from ..interface.feedback.actions import Actions as Actions
from ..interface.feedback.plays import PlaysActions
from ..interface.guard import answers, changes
from ..interface.parameters.fields import Averaged, Classes, Linear, above_zero, learner, whole
from ..interface.runs.watch import Wanted
from ..models.weights import Numbers
from ..results.progress import Progress

NOT_WITHOUT_CLASSES = dict.fromkeys(
    (
        "check_bounded_memory_growth", "check_classifier_tracks_seen_labels", "check_clone_is_independent",
        "check_disappearing_features", "check_emerging_features", "check_learn_one",
        "check_no_state_aliasing_with_input", "check_pickling", "check_predict_one_pure",
        "check_predict_proba_one", "check_radically_disappearing_features",
        "check_shuffle_features_no_impact",
    ),
    "it plays actions, all of which must be announced before the first; the check announces none",
)  # fmt: skip


@learner
class Banditron(PlaysActions, Linear, Averaged, Classes):
    """A Perceptron for several classes that learns from rewards: right or wrong, never the right label.

    It plays the best class with probability 1 - gamma + gamma / K and any other with gamma / K; then
    w_best -= x, and where the played class was right, w_played += x / P(played): in the mean the update of
    the multiclass Perceptron.

    One at a time: `act_one(x)` gives an `Action(id, label, probability)`, `reward_one(id, reward)` takes its
    reward (from 0 to 1), late and in any order, once. `act_one(x, allowed=[...])` plays one of these n only:
    the best of them with 1 - gamma + gamma / n. `add_action(label)` makes room for a new one. A table at a
    time: `act_many(X)` and `reward_many(ids, rewards)`. On labelled data `fit`, `partial_fit` and
    `om.progressive` simulate it: `Progress.predictions` are the actions played. `predict` gives the best
    class, without a coin.

    Parameters
    ----------
    gamma : the share of rounds that explore.
    classes : all actions there are; `act_one` needs them.
    max_pending : actions that may wait for their reward; the oldest is given up (`n_given_up_`) for one more.

    `mean_reward_` is what the actions earned a round, `reward_estimate_` what the best class alone would have
    earned, by importance weights: over all `n_rewards_` rounds, simulated ones (of all passes) among them.

    Reference: Kakade, Shalev-Shwartz & Tewari 2008.

    >>> model = Banditron(gamma=0.2, classes=["sports", "news"], random_state=0)
    >>> for _ in range(200):
    ...     for x, wanted in (({"ball": 1.0}, "sports"), ({"vote": 1.0}, "news")):
    ...         action = model.act_one(x)
    ...         model.reward_one(action.id, action.label == wanted)
    >>> model.predict_one({"ball": 1.0}), model.predict_one({"vote": 1.0})
    ('sports', 'news')
    """

    gamma: float = above_zero(
        default=0.05,
        lasting=True,
        also=lambda value: value < 1,
        wanted="a share above 0 and below 1",
    )
    max_pending: int = whole(default=10_000)

    river_base = "Classifier"  # no mini-batches: an action is played after the rewards of those before it
    class_weight = None

    @property
    def _set_rule(self) -> str:
        return "zero"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        tags.non_deterministic = self.random_state is None
        return tags

    def not_in_river(self) -> Mapping[str, str]:
        """Without classes announced it cannot play."""
        return NOT_WITHOUT_CLASSES if self.classes is None else {}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._labels is not None and self._labels.closed and len(self._labels.known) < 2:
            raise BadInput(f"classes={shown(self._labels.known)}; wanted a list of at least two actions")
        if self._labels is not None and self._labels.sets:
            raise BadInput("Banditron plays one label a round; sets of labels are not for it")

    def _refuse_new_class(self) -> None:
        raise BadInput(
            "the Banditron must know all actions before it plays; announce them in classes=, or by add_action"
        )

    def row(self, problem: str) -> str:
        """The one there is."""
        return "banditron.top"

    def numbers(self) -> Numbers:
        """The share of rounds that explore."""
        return {"epsilon": self.gamma, "margin": 1.0}

    @changes
    def watch(self, X: object, y: object, wanted: Wanted) -> Progress:
        """Actions played on labelled data; see `om.progressive`."""
        if wanted.delay or wanted.judged:
            self._targets().guess_of(np.zeros(0))
        return super().watch(X, y, wanted)

    @answers
    def decision_function(self, X: object) -> np.ndarray:
        """(n, K) scores of the actions; of two actions the difference, positive for `classes_[1]`."""
        scores = super().decision_function(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores
