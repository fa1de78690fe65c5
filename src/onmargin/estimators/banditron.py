"""Learning from rewards: only whether the answer given was right is ever known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadInput, shown
from ..interface.classifier import Classifier
from ..interface.dicts import Example, ModelStream, ready_round
from ..interface.draws import uniforms
from ..interface.fields import Averaged, Classes, Linear, above_zero, learner, whole
from ..interface.guard import answers, changes, in_place
from ..interface.label_targets import LabelTargets
from ..interface.labels import listed
from ..interface.targets import Answers
from ..interface.watch import Wanted
from ..learn.tasks.bandit import chance_of
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


class Action(NamedTuple):
    """What was played: give its reward with this id."""

    id: int
    label: object
    probability: float


class Pending(NamedTuple):
    """An action whose reward has not come."""

    slots: tuple[int, ...]
    values: tuple[float, ...]
    best: int
    played: int
    probability: float


class ActionTargets(LabelTargets):
    """Labels that are never shown, only whether the one played was right."""

    def answers(self) -> Answers:
        """None: the compiled guess is a coin's."""
        return None

    def begin(self, y: object) -> None:
        """All actions must be announced."""
        if self.owner.classes is None:
            raise BadInput("dicts need all actions announced: give classes=, or fit on labelled data first")
        super().begin(y)

    def guess_of(self, scores: np.ndarray) -> float:
        """An answer without a coin is none of its own."""
        raise BadInput("the Banditron plays actions; delay= and scored_by='model' have none to show")


@learner
class Banditron(Classifier, Linear, Averaged, Classes):
    """A Perceptron for several classes that learns from rewards: right or wrong, never the right label.

    It plays the best class with probability 1 - gamma + gamma / K and any other with gamma / K; then
    w_best -= x, and where the played class was right, w_played += x / P(played): in the mean the update of
    the multiclass Perceptron.

    One at a time: `act_one(x)` gives an `Action(id, label, probability)`, `reward_one(id, reward)` takes its
    reward (from 0 to 1), late and in any order, once. On labelled data `fit`, `partial_fit` and
    `om.progressive` simulate it: `Progress.predictions` are the actions played. `predict` gives the best
    class, without a coin.

    Parameters
    ----------
    gamma : the share of rounds that explore.
    classes : all actions there are; `act_one` needs them.
    max_pending : actions that may wait for their reward; the oldest is given up (`n_given_up_`) for one more.

    `reward_estimate_` is what the best class alone would have earned a round, by importance weights.

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
    _rows_apart = True
    _has_lanes = False
    _draws = True
    _stream_kind = ModelStream

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
        if self._labels is not None and self._labels.sets:
            raise BadInput("Banditron plays one label a round; sets of labels are not for it")

    def _refuse_new_class(self) -> None:
        raise BadInput("the Banditron must know all actions before it plays; announce them in classes=")

    def _targets(self) -> LabelTargets:
        return ActionTargets(self)

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

    def _forget(self) -> None:
        super()._forget()
        for name in ("pending_", "n_given_up_", "n_rewards_", "_earned", "_estimated"):
            self.__dict__.pop(name, None)

    @answers
    def decision_function(self, X: object) -> np.ndarray:
        """(n, K) scores of the actions; of two actions the difference, positive for `classes_[1]`."""
        scores = super().decision_function(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def _losses_of(self, scores: np.ndarray, y: object) -> np.ndarray:
        raise BadInput("the Banditron's loss is of the actions it played; a comparator has played none")

    # ---- one at a time

    def _waiting(self) -> dict[int, Pending]:
        if "pending_" not in self.__dict__:
            waiting: dict[int, Pending] = {}
            self.pending_ = waiting
            self.n_given_up_ = self.n_rewards_ = 0
            self._earned = self._estimated = 0.0
        return self.pending_

    @in_place
    def act_one(self, x: Example) -> Action:
        """Play an action for one example; its reward may come later."""
        if self._model is None and self.classes is None:
            raise BadInput("act_one needs all actions: give classes=, or fit on labelled data first")
        known = self._first_actions() if self._labels is None else self._labels.known
        stream, _ = ready_round(self, x, known[0], 1.0)
        known, model, rows = self._targets().labels.known, stream.model, stream.packer.rows
        scores, done = model.scores(rows, 1, False)
        if not done:
            stream.packer.refuse(x)
        best = int(scores[0].argmax())
        spent = max(model.actions, model.clock)  # coins of rounds that were simulated are spent
        luck = float(uniforms(self, spent, 1)[0])
        chances = [chance_of(k, best, self.gamma, len(known)) for k in range(len(known))]
        played = min(int(np.searchsorted(np.cumsum(chances), luck, side="right")), len(chances) - 1)
        number = model.actions = spent + 1
        waiting = dict(self._waiting())
        while len(waiting) >= self.max_pending:
            waiting.pop(next(iter(waiting)))
            self.n_given_up_ += 1
        count = int(rows.starts[1])
        slots, values = rows.indices[:count].tolist(), rows.values[:count].tolist()
        waiting[number] = Pending(tuple(slots), tuple(values), best, played, float(chances[played]))
        self.pending_, self._model = waiting, model
        stream.keep()
        return Action(number, known[played], float(chances[played]))

    def _first_actions(self) -> list[Any]:
        actions = listed(self.classes)
        if isinstance(self.classes, str) or len(set(actions)) < 2:
            raise BadInput(f"classes={shown(self.classes)}; wanted a list of at least two actions")
        return actions

    @in_place
    def reward_one(self, id: int, reward: float) -> None:
        """The reward of an action, from 0 to 1 (True and False will do), once."""
        waiting = self._waiting()
        if isinstance(id, bool) or not isinstance(id, int | np.integer) or id not in waiting:
            raise BadInput(
                f"no action {shown(id)} waits for a reward: unknown, rewarded already, or given up"
            )
        real = isinstance(reward, bool | int | float | np.integer | np.floating | np.bool_)
        if not real or not 0.0 <= float(reward) <= 1.0:
            raise BadInput(f"the reward is {shown(reward)}; wanted a number from 0 to 1")
        model, waiting = self._fitted(), dict(waiting)
        done, earned = waiting.pop(id), float(reward)
        pulls = {done.best: -1.0}
        pulls[done.played] = pulls.get(done.played, 0.0) + earned / done.probability
        self.pending_ = waiting
        self.n_rewards_ += 1
        self._earned += earned
        self._estimated += earned / done.probability if done.played == done.best else 0.0
        model.move_by(done.slots, done.values, self._bias, pulls)

    @property
    def mean_reward_(self) -> float:
        """What the actions played earned, a round."""
        self._waiting()
        return self._earned / self.n_rewards_ if self.n_rewards_ else float("nan")

    @property
    def reward_estimate_(self) -> float:
        """What the best class alone would have earned, a round: rewards over P where it was played."""
        self._waiting()
        return self._estimated / self.n_rewards_ if self.n_rewards_ else float("nan")

    # ---- files

    def _extras(self) -> dict[str, Any]:
        waiting = [(number, *pending) for number, pending in self._waiting().items()]
        sums = (self.n_given_up_, self.n_rewards_, self._earned, self._estimated)
        return {"pending": waiting, "sums": sums}

    def _take_extras(self, kept: dict[str, Any]) -> None:
        waiting = self._waiting()
        sums = kept["sums"]
        if not all(type(value) in (int, float) and np.isfinite(value) for value in sums):
            raise ValueError("its sums of rewards are no numbers")
        self.n_given_up_, self.n_rewards_, self._earned, self._estimated = sums
        for number, slots, values, best, played, probability in kept["pending"]:
            known = 0 if self._labels is None else len(self._labels.known)
            room = 0 if self._model is None else self._model.start.slots - 1
            if not (0 <= best < known and 0 <= played < known and 0 < probability <= 1):
                raise ValueError("its pending actions are no such")
            whole = all(type(part) is int for part in (number, best, played, *slots))
            finite = all(type(value) is float and np.isfinite(value) for value in (*values, probability))
            if not whole or not finite or len(slots) != len(values) or any(not 0 <= s < room for s in slots):
                raise ValueError("its pending actions have other features")
            waiting[number] = Pending(tuple(slots), tuple(values), best, played, probability)
