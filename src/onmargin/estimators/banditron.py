"""Learning from rewards: only whether the answer given was right is ever known."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadInput, require_whole
from ..learn.tasks.bandit import chance_of
from ..learn.vocabulary import SHOWN
from ..models.weights import Model
from .classifier import LinearClassifier
from .gambling import Gambler
from .labels import listed
from .paired_stream import PairedStream
from .parameters import require_positive


class Action(NamedTuple):
    """What was played: give its reward with this id."""

    id: int
    label: Any
    probability: float


class Pending(NamedTuple):
    """An action whose reward has not come."""

    slots: tuple[int, ...]
    values: tuple[float, ...]
    best: int
    played: int
    probability: float


class Banditron(Gambler, LinearClassifier):
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

    class_weight = None
    _rows_apart = True
    _has_lanes = False
    _bars = "zero"

    def __init__(
        self, *, gamma: float = 0.05, classes: Any = None, max_pending: int = 10_000,
        fit_intercept: bool = True, intercept_scaling: float = 1.0, average: bool = False,
        max_iter: int = 20, tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, warm_start: bool = False, verbose: int = 0, dtype: str = "float64",
        growing: bool = False,
    ) -> None:  # fmt: skip
        self.gamma, self.classes, self.max_pending = gamma, classes, max_pending
        self.fit_intercept, self.intercept_scaling, self.average = fit_intercept, intercept_scaling, average
        self.max_iter, self.tol, self.n_iter_no_change = max_iter, tol, n_iter_no_change
        self.shuffle, self.random_state, self.warm_start = shuffle, random_state, warm_start
        self.verbose, self.dtype, self.growing = verbose, dtype, growing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        tags.non_deterministic = self.random_state is None
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_positive("gamma", self.gamma, False, False)
        if self.gamma >= 1:
            raise BadInput(f"gamma={self.gamma!r}; wanted a share above 0 and below 1")
        require_whole("max_pending", self.max_pending)
        if self._labels is not None and self._labels.sets:
            raise BadInput("Banditron plays one label a round; sets of labels are not for it")

    def _check_open(self) -> None:
        raise BadInput("the Banditron must know all actions before it plays; announce them in classes=")

    def _recipe_name(self) -> str:
        return "banditron.top"

    def _choices(self) -> dict[str, Any]:
        return {"epsilon": self.gamma, "margin": 1.0}

    def _answers(self) -> None:
        return None  # the compiled guess is a coin's

    def _new_stream(self, model: Model, slots: Any) -> Any:
        return PairedStream(self, model, slots)  # one whose rounds have coins

    def _begin_stream(self, y: Any) -> None:
        if self.classes is None:
            raise BadInput("dicts need all actions announced: give classes=, or fit on labelled data first")
        super()._begin_stream(y)

    def _guess_of(self, scores: np.ndarray) -> float:
        raise BadInput("the Banditron plays actions; delay= and scored_by='model' have none to show")

    def _progress(self, X: Any, y: Any, **told: Any) -> Any:
        if told.get("delay") or told.get("judged"):
            self._guess_of(np.zeros(0))
        return super()._progress(X, y, **told)

    def _forget(self) -> None:
        super()._forget()
        for name in ("pending_", "n_given_up_", "n_rewards_", "_earned", "_estimated"):
            self.__dict__.pop(name, None)

    def decision_function(self, X: Any) -> np.ndarray:
        """(n, K) scores of the actions; of two actions the difference, positive for `classes_[1]`."""
        scores = super().decision_function(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def _losses_of(self, scores: np.ndarray, y: Any) -> np.ndarray:
        raise BadInput("the Banditron's loss is of the actions it played; a comparator has played none")

    # ---- one at a time

    def act_one(self, x: Mapping[Hashable, Any]) -> Action:
        """Play an action for one example; its reward may come later."""
        if self._model is None and self.classes is None:
            raise BadInput("act_one needs all actions: give classes=, or fit on labelled data first")
        with self._all_or_nothing():
            labels = self._labels
            stream = self._ready(x, labels.known[0] if labels is not None else self._first_action())
            labels, model = self._labels, stream.model
            assert labels is not None
            rows = stream.packer.rows
            scores, done = model.scores(rows, 1, False)
            if not done:
                stream.packer.refuse(x)
            best = int(scores[0].argmax())
            model.memory[SHOWN] = max(
                model.memory[SHOWN], model.clock
            )  # coins of rounds that were simulated are spent
            luck = float(self._uniforms(int(model.memory[SHOWN]), 1)[0])
            chances = [chance_of(k, best, self.gamma, len(labels.known)) for k in range(len(labels.known))]
            played = min(int(np.searchsorted(np.cumsum(chances), luck, side="right")), len(chances) - 1)
            model.memory[SHOWN] += 1
            number, count = int(model.memory[SHOWN]), int(rows.starts[1])
            waiting = self._waiting()
            while len(waiting) >= self.max_pending:
                waiting.pop(next(iter(waiting)))
                self.n_given_up_ += 1
            slots, values = rows.indices[:count].tolist(), rows.values[:count].tolist()
            waiting[number] = Pending(tuple(slots), tuple(values), best, played, float(chances[played]))
        return Action(number, labels.known[played], float(chances[played]))

    def _first_action(self) -> Any:
        actions = listed(self.classes)
        if isinstance(self.classes, str) or len(set(actions)) < 2:
            raise BadInput(f"classes={self.classes!r}; wanted a list of at least two actions")
        return actions[0]

    def _waiting(self) -> dict[int, Pending]:
        if "pending_" not in self.__dict__:
            self.pending_: dict[int, Pending] = {}
            self.n_given_up_ = self.n_rewards_ = 0
            self._earned = self._estimated = 0.0
        return self.pending_

    def reward_one(self, id: int, reward: float) -> None:
        """The reward of an action, from 0 to 1 (True and False will do), once."""
        waiting = self._waiting()
        if isinstance(id, bool) or not isinstance(id, int | np.integer) or id not in waiting:
            raise BadInput(f"no action {id!r} waits for a reward: unknown, rewarded already, or given up")
        real = isinstance(reward, bool | int | float | np.integer | np.floating | np.bool_)
        if not real or not 0.0 <= float(reward) <= 1.0:
            raise BadInput(f"the reward is {reward!r}; wanted a number from 0 to 1")
        model = self._fitted()
        done, earned = waiting.pop(id), float(reward)
        model.clock += 1
        slots = np.array([*done.slots, len(model.space.weights) - 1])
        values = np.array([*done.values, self._bias])
        pulls = {done.best: -1.0}
        pulls[done.played] = pulls.get(done.played, 0.0) + earned / done.probability
        for output, pull in pulls.items():
            model.space.weights[slots, output] += pull * values
            if model.space.drift.size:
                model.space.drift[slots, output] += model.clock * pull * values
        self.n_rewards_ += 1
        self._earned += earned
        self._estimated += earned / done.probability if done.played == done.best else 0.0

    def _kept(self) -> dict[str, Any]:
        waiting = [(number, *pending) for number, pending in self._waiting().items()]
        sums = (self.n_given_up_, self.n_rewards_, self._earned, self._estimated)
        return {"pending": waiting, "sums": sums}

    def _keep_again(self, kept: dict[str, Any]) -> None:
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
            finite = bool(np.isfinite(np.array(values, float)).all())
            if not whole or not finite or len(slots) != len(values) or any(not 0 <= s < room for s in slots):
                raise ValueError("its pending actions have other features")
            waiting[number] = Pending(tuple(slots), tuple(values), best, played, probability)

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
