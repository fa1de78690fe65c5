"""Classifiers that play actions and learn from their rewards: one at a time, or a table of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
import scipy.sparse as sp

from ...errors import BadInput, Diverged, shown
from ...learn.vocabulary import REWARD_COUNT, REWARD_ESTIMATE, REWARD_SUM
from ...models.bandit import BanditModel, BoundActions, Pending, kept_row
from ...models.layout import Misfit, count, real
from ..classifier import Classifier
from ..dicts.streams import Example, learning_stream, ready_round
from ..guard import alone, changes, in_place
from ..learner import Learner
from ..parameters.draws import uniforms
from ..parameters.fixed import fixed_by
from ..tables import Table
from ..targets.labels import listed, shortened
from .actions import Action, Actions, ActionStream, ActionTargets, Waiting, Waits, allowed_mask

TOO_FAR = "the reward would move the weights too far for numbers to stay finite; nothing was learned; scale x"


class PlaysActions(Classifier):
    """Actions and rewards; what waits for a reward is in `_actions`, what was earned in the model."""

    max_pending: int
    _actions: Waiting | None = None
    _stream_kind = ActionStream
    _linear_model = BanditModel
    _has_lanes = False
    _draws = True

    @property
    def _rows_apart(self) -> bool:
        return True

    def _targets(self) -> ActionTargets:
        return ActionTargets(self)

    def _waiting(self) -> Waiting:
        if self._actions is None:
            self._actions = Waiting()
        return self._actions

    def _forget(self) -> None:
        super()._forget()
        self._actions = None

    def _check_lasting(self) -> None:
        """`classes` are the actions that it began with; more may have been added since."""
        Learner._check_lasting(self)
        if self.classes is not None and self._labels is not None:
            if not all(label in self._labels.index for label in listed(self.classes)):
                begun = f"learning began with {shortened(self._labels.known)}"
                raise BadInput(f"classes={shown(self.classes)}, but {begun}; set it back, or fit anew")

    # ---- one at a time

    def act_one(self, x: Example, allowed: object = None) -> Action:
        """Play an action for one example; its reward may come later.

        `allowed`: the actions that may be played this time (None: all); the probability is among them.
        """
        stream = cast(ActionStream | None, self._stream)
        action = None if stream is None else stream.act(x, allowed)
        return self._act_one(x, allowed) if action is None else action

    @in_place
    def _act_one(self, x: Example, allowed: object) -> Action:
        first = self._first_actions() if self._labels is None else self._labels.known
        found, _ = ready_round(self, x, first[0], 1.0)
        stream, mask = cast(ActionStream, found), None
        stream.bind()
        if allowed is not None:
            mask = allowed_mask(stream.labels, allowed)
        chosen = stream.choose(mask)
        if chosen is None:
            stream.packer.refuse(x)
        assert chosen is not None
        self._actions = self._waiting().copy()  # the one before is gone back to if this call fails
        stream.commit(*chosen)
        self._model = stream.model
        stream.keep()
        return chosen[0]

    def _first_actions(self) -> list[object]:
        """Those announced before anything was learned."""
        if self.classes is None:
            raise BadInput("act_one needs all actions: give classes=, or fit on labelled data first")
        actions = listed(self.classes)
        if isinstance(self.classes, str) or len(set(actions)) < 2:
            raise BadInput(f"classes={shown(self.classes)}; wanted a list of at least two actions")
        return actions

    def reward_one(self, id: int, reward: float) -> None:
        """The reward of an action, from 0 to 1 (True and False will do), once."""
        stream = cast(ActionStream | None, self._stream)
        if stream is None or not stream.reward(id, reward):
            self._reward_one(id, reward)

    @in_place
    def _reward_one(self, id: int, reward: float) -> None:
        number, earned = self._read_reward(id, reward)
        stream = cast(ActionStream, learning_stream(self))
        if not stream.reward(number, earned):
            raise Diverged(TOO_FAR)

    def _read_reward(self, id: object, reward: object) -> tuple[int, float]:
        whole = isinstance(id, int | np.integer) and not isinstance(id, bool)
        if not whole or id not in self._waiting().pending:
            raise BadInput(
                f"no action {shown(id)} waits for a reward: unknown, rewarded already, or given up"
            )
        real = isinstance(reward, bool | int | float | np.integer | np.floating | np.bool_)
        if not real or not 0.0 <= float(cast(float, reward)) <= 1.0:
            raise BadInput(f"the reward is {shown(reward)}; wanted a number from 0 to 1")
        return int(id), float(cast(float, reward))

    @changes
    def add_action(self, label: object) -> None:
        """One more action from now on, with weights of 0; actions that wait keep waiting."""
        if self._model is None:
            self._targets().begin(None)
            self._first_actions()
            learning_stream(self)
        model = self._fitted().copy()
        self._targets().add(model, label)
        self._model, self._stream = model, None

    # ---- a table of them

    @changes
    def act_many(self, X: object, allowed: object = None) -> Actions:
        """Play an action for each row, all by the weights as they are now: ids, labels, probabilities.

        `allowed`: a list of actions for all rows, or an array of bools, a row for each row of X and a column
        for each of `classes_`.
        """
        fresh = self._model is None
        if fresh and self._labels is None:
            self._first_actions()
        table = self._table(X, reset=fresh, learning=True)
        if fresh:
            self._targets().begin(None)
            self._model = self._new_model(table.shape[1])
            self._form().check_start(self._model)
        model, rows = cast(BanditModel, self._fitted()), table.shape[0]
        if not fresh:
            self._refresh(model)
        self._fit_in(model, table)
        if rows > self.max_pending:
            raise BadInput(f"X has {rows} rows, and max_pending={self.max_pending} may wait; raise it")
        labels, spent = self._targets().labels, max(model.actions, model.clock)
        mask = np.ones((1, len(labels.known)), bool)
        if allowed is not None:
            mask = allowed_mask(labels, allowed, rows)
        data = fixed_by(self, model, table, self._training_set(table, None, None))
        played, best, chances, done = model.act(data.rows, mask, uniforms(self, spent, rows))
        if done < rows:
            raise self._bad_row(table, done, "nothing was played")
        waiting, ids = self._waiting().copy(), np.arange(spent + 1, spent + rows + 1)
        for number, one in enumerate(ids.tolist()):
            row = kept_row(*_entries(table, number), self._bias if number >= data.begins else 0.0)
            found = Pending(row, int(best[number]), int(played[number]), float(chances[number]))
            waiting.add(one, found, int(self.max_pending))
        model.actions, self._actions = spent + rows, waiting
        return Actions(ids, labels.array[played], chances)

    @changes
    def reward_many(self, ids: Sequence[int] | np.ndarray, rewards: Sequence[float] | np.ndarray) -> None:
        """The rewards of several actions, in this order: all of them, or none."""
        if np.ndim(ids) != 1 or np.shape(ids) != np.shape(rewards):
            raise BadInput(f"got ids of {np.shape(ids)} and rewards of {np.shape(rewards)}; wanted one each")
        given = [self._read_reward(*pair) for pair in zip(ids, rewards, strict=True)]
        if len({number for number, _ in given}) < len(given):
            raise BadInput("an action is there twice among the ids; wanted one reward for each")
        if not given:
            return
        model, waiting = cast(BanditModel, self._fitted().copy()), self._waiting().copy()
        entries = BoundActions(model, waiting.pending[given[0][0]].row)
        for number, earned in given:
            if not entries.reward(waiting.pending.pop(number), earned):
                raise Diverged(TOO_FAR)
        self._model, self._actions = model, waiting

    # ---- what was earned

    def _sums(self) -> np.ndarray:
        return np.zeros(3) if self._model is None else cast(BanditModel, self._model).sums

    @property
    @alone
    def pending_(self) -> dict[int, Waits]:
        """Actions that wait for their reward, by their id, the oldest first."""
        return {
            number: Waits(tuple(row.indices.tolist()), tuple(row.values.tolist()), best, played, chance)
            for number, (row, best, played, chance) in self._waiting().pending.items()
        }

    @property
    def n_given_up_(self) -> int:
        """Actions that were given up for others."""
        return self._waiting().given_up

    @property
    def n_rewards_(self) -> int:
        """Rounds whose reward is known: of actions, and of labelled rows."""
        return int(self._sums()[REWARD_COUNT])

    @property
    def mean_reward_(self) -> float:
        """What the actions played earned, a round."""
        sums = self._sums()
        return float(sums[REWARD_SUM] / sums[REWARD_COUNT]) if sums[REWARD_COUNT] else float("nan")

    @property
    def reward_estimate_(self) -> float:
        """What the best class alone would have earned, a round: rewards over P where it was played."""
        sums = self._sums()
        return float(sums[REWARD_ESTIMATE] / sums[REWARD_COUNT]) if sums[REWARD_COUNT] else float("nan")

    # ---- files

    def _extras(self) -> dict[str, object]:
        waiting, sums = self._waiting(), self._sums()
        pending = [(number, *waits) for number, waits in self.pending_.items()]
        earned = (waiting.given_up, int(sums[REWARD_COUNT]), *sums[REWARD_SUM:].tolist())
        return {"pending": pending, "sums": earned}

    def _take_extras(self, kept: dict[str, object]) -> None:
        waiting = Waiting()
        given_up, rounds, earned, estimated = cast(Sequence[object], kept["sums"])
        waiting.given_up = count("number of actions given up", given_up)
        sums = [float(count("number of rewards", rounds)), *(_finite(one) for one in (earned, estimated))]
        if self._model is not None:
            cast(BanditModel, self._model).sums[...] = sums
        elif any(sums) or kept["pending"]:
            raise Misfit("it has rewards without a model")
        for number, slots, values, best, played, probability in cast(
            Iterable[tuple[int, tuple[int, ...], tuple[float, ...], int, int, float]], kept["pending"]
        ):
            known = 0 if self._labels is None else len(self._labels.known)
            room = 0 if self._model is None else self._model.start.slots - 1
            if not (0 <= best < known and 0 <= played < known and 0 < probability <= 1):
                raise ValueError("its pending actions are no such")
            whole = all(type(part) is int for part in (number, best, played, *slots))
            finite = all(type(value) is float and np.isfinite(value) for value in (*values, probability))
            if not whole or not finite or len(slots) != len(values) or any(not 0 <= s < room for s in slots):
                raise ValueError("its pending actions have other features")
            row = kept_row(np.array(slots, np.uint32), np.array(values, float), self._bias)
            waiting.pending[number] = Pending(row, best, played, probability)
        self._actions = waiting


def _finite(value: object) -> float:
    """A sum of rewards, as a file says."""
    if real("sum of rewards", value) == float("inf"):
        raise Misfit("its sum of rewards is no finite number")
    return real("sum of rewards", value)


def _entries(table: Table, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Slots and values of one row of a table."""
    if sp.issparse(table):
        first, last = table.indptr[row : row + 2]
        return table.indices[first:last], table.data[first:last]
    slots = np.flatnonzero(table[row])
    return slots, table[row][slots]
