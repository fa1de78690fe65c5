"""Learners that decide which labels they want: the protocol, questions, a person's answers.

A learner inside, `estimator_`, and a rule (`models.asking`) that says which of its rounds ask for their
label. `fit` and `om.progressive` play the whole protocol and read only what was asked for; `partial_fit`
and `learn_one` take labels that are there; `query` says what to ask for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, cast

import numpy as np
from sklearn.utils import check_array

from ...compiled.parts import Part
from ...compiled.rows import Rows
from ...errors import BadInput
from ...models.asking import Asking, Chosen, sureness
from ...models.layout import Facts, Misfit, row_numbers
from ...models.layout import count as count_in
from ...models.weights import Model
from ...results.label_plan import Outlook
from ...results.progress import Progress, Totals
from ..classifier import Classifier
from ..dicts.before import BeforeAsking
from ..dicts.streams import Example, Stream, check_example, open_stream
from ..guard import NOBODY, Change, alone, answers, changes, in_place
from ..inner import Beside, Inner
from ..parameters.draws import seed_of, uniforms
from ..parameters.other_names import refuse_params
from ..regressor import Regressor
from ..river import River
from ..runs.watch import Wanted
from ..state import seed_in
from ..tables import Table, checked_chance, checked_weights, in_one_line
from ..targets.labels import is_missing
from ..targets.missing import indexable, numbered, one_kind, rows_of, told
from ..twins import of_asker, own
from .watching import watch_each

COINS = 6  # the purpose of a generator
PIECE = 1 << 20  # rows at a time, where no line per round is kept
Inside = Classifier | Regressor  # what may be inside


class AsksForLabels(River):
    """A learner inside and a rule; a subclass makes the learner and names the rule's numbers.

    What a label is, a class or a number, is said by `AskingClassifier` and `AskingRegressor`.
    """

    answers_names = True
    kind = ""
    _counts_mistakes = True
    estimator_: Any
    _to_come = 0  # rows that the last `fit` was to go over
    _said: frozenset[str] = frozenset()  # warnings that were given
    random_state: Any = None
    _asking: Asking | None = None  # before there is a model; then the model has it

    queried_ = Beside()  # rows of the last `fit` or `om.progressive` whose label was bought
    coef_, intercept_, threshold_, t_ = Inner(), Inner(), Inner(), Inner()
    n_features_in_, feature_names_in_ = Inner(), Inner()
    support_, support_vectors_, dual_coef_, n_support_ = Inner(), Inner(), Inner(), Inner()
    gamma_, budget_, lam_, p_, kernel_weights_ = Inner(), Inner(), Inner(), Inner(), Inner()
    objective_, dual_gap_, n_kernels_ = Inner(), Inner(), Inner()

    def _made_inner(self) -> Inside:
        """A fresh learner."""
        raise NotImplementedError

    def _hand_on(self, inner: Inside) -> None:
        """Parameters that are the learner's too, as they are now."""

    def _read(self, y: object, X: Table) -> tuple[np.ndarray, np.ndarray]:
        """Labels as an array, and which are there."""
        raise NotImplementedError

    def _ready(
        self, inner: Inside, labels: np.ndarray, there: np.ndarray, wanted: Wanted
    ) -> tuple[np.ndarray, np.ndarray, Wanted]:
        """Of a run: labels, with something in place of those nobody reads; which are there; how to play."""
        raise NotImplementedError

    def _some_label(self, inner: Inside, classes: object) -> list[object]:
        """One that could be learned, for a row that is not; refused where none is known."""
        raise NotImplementedError

    def _can_answer(self, inner: Inside) -> bool:
        """Has it anything to be doubtful of?"""
        return inner._model is not None

    def _rule_numbers(self) -> Chosen:
        """The rule as numbers of the loop, checked."""
        raise NotImplementedError

    def _own_rule(self) -> Part | None:
        """A user's rule, where there is one."""
        return None

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if not name.startswith("_") and not name.endswith("_") and "estimator_" in self.__dict__:
            self.estimator_.__dict__.pop("_stream", None)  # a parameter: all is checked anew

    def set_params(self, **params: Any) -> Self:
        """Change parameters, all or none; another library's names are answered with ours."""
        refuse_params(self, params, set(self.get_params(deep=False)))
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        inner = self.__dict__.get("estimator_")
        return inner is not None and inner._model is not None

    @property
    def _is_stochastic(self) -> bool:
        return True

    # ---- one learns, any number ask (see `guard`)

    def _twin(self, change: Change | None) -> Self:
        return of_asker(self, change)

    def _become(self, other: Self) -> None:
        """The other's state from now on; the learner inside is the same object, unless it was made anew."""
        state = dict(other.__dict__)
        mine, others = self.__dict__.get("estimator_"), state.get("estimator_")
        if mine is not None and others is not None and others._change is not None:
            with (mine._guard or NOBODY).lock:
                mine._become(others)
            state["estimator_"] = mine
        self.__dict__ = state

    def _has(self, model: object) -> bool:
        inner = self.__dict__.get("estimator_")
        return inner is not None and inner._model is model

    def _before(self) -> BeforeAsking:
        return BeforeAsking(self)

    # ---- the learner inside, and the rule

    def inside(self, fresh: bool = False) -> Inside:
        """The learner, with this sampler's numbers; a fresh one where asked for."""
        if not fresh and self._settled() is not None:
            return cast(Inside, self.estimator_)
        chosen = self._rule_numbers()
        if fresh or "estimator_" not in self.__dict__:
            self.estimator_, self._asking = self._made_inner(), None
        inner: Inside = self.estimator_
        self._hand_on(inner)
        rule = self._rule(inner, chosen)
        rule.own = self._own_rule()
        if rule.chosen != chosen:
            inner._stream = None
            if inner._model is None:
                rule.choose(chosen)
            else:
                inner._refresh(inner._model)
                inner._model.ask_by(chosen)
        if inner._stream is not None:
            inner._stream.settled = True
        return inner

    def _settled(self) -> Stream | None:
        """The learner's stream, if no parameter was changed since all were checked."""
        stream: Stream | None = getattr(self.__dict__.get("estimator_"), "_stream", None)
        return stream if stream is not None and stream.settled else None

    def _rule(self, inner: Inside, chosen: Chosen | None = None) -> Asking:
        """The model's, or the one that waits for a model."""
        model = inner._model
        if model is not None and model.asking is not None:
            return model.asking
        if self._asking is None:
            self._asking = Asking(self._rule_numbers() if chosen is None else chosen, self._own_rule())
        if model is not None:
            inner._stream = None  # bound to the numbers that the model had
            model.attach(self._asking)
        return self._asking

    def _coins(self, inner: Inside, count: int, weights: np.ndarray | None = None) -> np.ndarray:
        """The uniforms of the rows that come next."""
        return uniforms(self, self._rule(inner).shown, count, weights, COINS)

    def settle_entropy(self) -> None:
        """Draw now what random_state=None stands for."""
        seed_of(self)

    # ---- the whole protocol

    @changes
    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Go over the rows once (shuffled, where the learner shuffles) and ask by the rule.

        Labels not asked for are not read, and may be missing; `queried_` are the rows bought, in order.
        """
        if self.random_state is not None:
            self._entropy = None
        X = indexable(X)
        labels, there = self._read(y, X)
        self._to_come = len(labels)
        inner = self.inside(fresh=True)
        weights = checked_weights(sample_weight, len(labels)) if sample_weight is not None else None
        if weights is not None and not weights.any():
            raise BadInput("sample_weight is zero everywhere; wanted at least one weight above 0")
        order = np.arange(len(labels))
        precomputed = getattr(inner, "kernel", None) == "precomputed"  # whose rows are columns too
        if getattr(inner, "shuffle", True) and not precomputed:
            order = np.random.default_rng([seed_of(self), 3]).permutation(len(labels))
            X, weights = rows_of(X, order), None if weights is None else weights[order]
        with numbered(order):
            self._run(X, labels[order], there[order], Wanted(weights, full=False))
            bought = self.queried_
            self._learn_again(X, labels[order], weights)
        self.queried_, self.n_iter_ = order[bought], 1
        return self

    def _learn_again(self, X: Table, labels: np.ndarray, weights: np.ndarray | None) -> None:
        """What `fit` makes of the labels it has bought, in rows `queried_`, beside the stream."""

    @changes
    def watch(self, X: object, y: object, wanted: Wanted) -> Progress:
        """Answer, ask by the rule, learn what was asked for; see `om.progressive`."""
        if wanted.delay:
            raise BadInput("delay= is not for learners that ask: a label comes when it is asked for")
        X = indexable(X, in_one_piece=wanted.full)
        labels, there = self._read(y, X)
        weights = wanted.sample_weight
        weights = None if weights is None else checked_weights(weights, len(labels))
        return self._run(X, labels, there, wanted._replace(sample_weight=weights))

    def _run(self, X: Table, labels: np.ndarray, there: np.ndarray, wanted: Wanted) -> Progress:
        inner = self.inside()
        answers, there, wanted = self._ready(inner, labels, there, wanted)
        chance = None if wanted.chance is None else checked_chance(wanted.chance, len(labels))
        own(inner)  # several pieces are one call
        return self._pieces(inner, X, labels, answers, there, wanted._replace(chance=chance))

    def _pieces(
        self, inner: Inside, X: Table, labels: np.ndarray, answers: np.ndarray, there: np.ndarray,
        wanted: Wanted,
    ) -> Progress:  # fmt: skip
        """A long piece of the stream at a time where no trace is kept."""
        count, sums, curve, bought = len(answers), np.zeros(5), [], [np.zeros(0, np.int64)]
        step = count if wanted.full else PIECE
        for first in range(0, max(count, 1), step):
            some = slice(first, min(first + step, count))
            rows = X if step >= count else rows_of(X, np.arange(some.start, some.stop))
            mine = None if wanted.sample_weight is None else wanted.sample_weight[some]
            coins = self._coins(inner, some.stop - some.start, mine) if wanted.chance is None else None
            now = wanted._replace(
                sample_weight=mine, chance=coins if coins is not None else wanted.chance[some],
                classes=wanted.classes if first == 0 else None, full=True, asking=self._rule(inner),
            )  # fmt: skip
            with numbered(range(first, count)):
                run = inner.watch(rows, answers[some], now)
            asked = np.asarray(run.queried, bool)
            unanswered = asked & ~there[some]
            if unanswered.any():
                row = first + int(np.argmax(unanswered))
                raise BadInput(
                    f"row {row} was asked for and has no label; drop such rows, or use partial_fit, which "
                    "takes what is there"
                )
            bought.append(first + np.flatnonzero(asked))
            counted = there[some] & (np.ones(len(asked), bool) if mine is None else mine > 0)
            which = slice(None) if counted.all() else counted
            differs = np.asarray(run.predictions)[which] != labels[some][which]
            rounds, wrong = int(counted.sum()), int(np.sum(differs)) if self._counts_mistakes else 0
            sums += (rounds, wrong, run.totals.errors, run.totals.updates, run.totals.loss)
            curve.append((int(sums[0]), int(sums[1]), float(sums[4])))
        self.queried_ = np.concatenate(bought)
        totals = Totals._make((*map(int, sums[:4]), float(sums[4])))
        if not wanted.full:
            return Progress(self._original(), totals, labels, X, curve=curve, kind=self.kind)
        names = ("scores", "predictions", "losses", "steps", "queried")
        lines = {name: getattr(run, name) for name in names} | {"counted": counted}
        whole = Progress(self._original(), totals, labels, run.X, lines, curve, self.kind, wanted.every)
        if run.begun is not None:
            whole.begun = run.begun._replace(rule=dict(self._rule(inner).chosen))
        return whole

    @changes
    def watch_each(self, examples: Iterable[Any], wanted: Wanted) -> Progress:
        """An iterable of (x, y) or (x, y, weight), one after the other; weight 0 leaves no line."""
        return watch_each(self, examples, wanted)

    @answers
    def comparator_losses(self, X: Table, y: object, comparator: object) -> np.ndarray:
        """The losses that another hypothesis would have suffered on a run's rows; 0 where no label is."""
        inner = self._answering()
        labels, there = told(y, X, inner.known_labels())
        return np.where(there, inner.comparator_losses(X, labels, comparator), 0.0)

    @answers
    def known_labels(self) -> list[Any]:
        """Labels known at this moment: met, or announced."""
        return self.inside().known_labels()

    @changes
    def start_anew(self) -> None:
        """Forget everything but the parameters and the generator's place."""
        for name in ("estimator_", "_asking"):
            self.__dict__.pop(name, None)

    def take_over(self, other: Self) -> None:
        """Become what another is."""
        with (self._guard or NOBODY).lock:
            self.__dict__ = dict(other.__dict__)

    # ---- a person's answers

    def _learn_answers(self, X: object, y: object, classes: object, sample_weight: object) -> None:
        """Learn the rows that have a label, in order; the others are skipped."""
        inner, X = self.inside(), indexable(X)
        labels, there = self._read(y, X)
        rule = self._rule(inner)
        if there.all():
            inner._partial_fit(X, labels, classes, sample_weight, rule)
            return
        weights = None if sample_weight is None else checked_weights(sample_weight, len(labels))
        kept = np.flatnonzero(there)
        if len(kept):
            weights = None if weights is None else weights[kept]
            with numbered(kept):
                inner._partial_fit(rows_of(X, kept), one_kind(labels[kept]), classes, weights, rule)
        elif inner._model is None:
            some = self._some_label(inner, classes)
            inner._partial_fit(rows_of(X, np.arange(1)), some, classes, [0.0], rule)

    def learn_one(self, x: Example, y: object, w: float = 1.0) -> None:
        """One example with its label; None or NaN: nothing is learned."""
        if w != 1.0 or not self._learn_fast(x, y):
            self._learn_one(x, y, w)

    def _learn_fast(self, x: Example, y: object) -> bool:
        """The learner's short way, alone; False, and nothing changed, where it cannot be gone."""
        guard = self._guard or NOBODY
        with guard.lock:  # (a call on arrays takes the stream away before it begins)
            stream = self._settled()
            if stream is None:
                return False
            if guard.readers:
                guard.wait_for_readers()
            return bool(stream.learn_fast(x, y))

    @in_place
    def _learn_one(self, x: Example, y: object, w: float) -> None:
        inner = self.inside()
        if is_missing(y):
            check_example(x)
        else:
            inner._learn_one(x, y, w, self._rule(inner))

    # ---- questions

    @in_place
    def query(self, X: Any) -> np.ndarray:
        """Which rows to ask a label for; counted, as the rule says. Nothing else changes."""
        inner, X = self.inside(), indexable(X)
        if inner._model is None:
            with in_one_line():
                check_array(X, accept_sparse="csr", estimator=self, input_name="X")
            return self._ask_blindly(inner, X.shape[0])
        inner._check_lasting()
        table = inner._table(X, reset=False)
        return self._ask(inner, inner._model, inner._rows(table), table.shape[0], table)

    @in_place
    def query_one(self, x: Example) -> bool:
        """Ask for the label of this example?"""
        inner = self.inside()
        if not self._can_answer(inner):
            check_example(x)
            return bool(self._ask_blindly(inner, 1)[0])
        stream = inner._stream or open_stream(inner)
        return bool(self._ask(inner, stream.model, stream.row_for(x), 1, None)[0])

    def _ask_blindly(self, inner: Inside, count: int) -> np.ndarray:
        """Before there is a model all rows are as doubtful as can be."""
        rule, coins = self._rule(inner), self._coins(inner, count)
        if rule.own is not None:
            return rule.ask_own(np.zeros((count, 1)), coins)
        return rule.ask(np.zeros(count), np.zeros(count), coins)

    def _ask(self, inner: Inside, model: Model, rows: Rows, count: int, table: Table) -> np.ndarray:
        """The rule about rows; `table` is what they came from (None: a dict)."""
        rule = self._rule(inner)
        if rule.own is not None:
            scores = self._scores_of(inner, model, rows, count, table, "nothing was asked")
            return model.ask_own(scores, self._coins(inner, count))
        sure, lengths = self._doubts(inner, model, rows, count, table, "nothing was asked")
        return rule.ask(sure, lengths, self._coins(inner, count))

    def _doubts(
        self, inner: Inside, model: Model, rows: Rows, count: int, table: Table, done: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """|p| and, where the rule asks for it, |x|^2 of rows."""
        scores = self._scores_of(inner, model, rows, count, table, done)
        lengths = np.zeros(count)
        if self._rule(inner).adaptive:
            lengths = inner._form().with_room(model, table).lengths(rows, count)
        return sureness(scores), lengths

    def _scores_of(
        self, inner: Inside, model: Model, rows: Rows, count: int, table: Table, done: str
    ) -> np.ndarray:
        """The scores of rows, by the weights of the moment."""
        scores, reached = inner._form().with_room(model, table).scores(rows, count, False)
        if reached < count:
            if table is None:
                raise BadInput(f"the example has values that are not finite; {done}")
            raise inner._bad_row(table, reached, done)
        return scores

    @property
    @answers
    def n_queries_(self) -> int:
        """Labels asked for so far."""
        return self._rule(self.inside()).asked

    def outlook(self, X: object) -> Outlook:
        """What asking further would bring on rows without labels."""
        raise NotImplementedError

    # ---- answers: the learner's

    def _answering(self) -> Inside:
        inner: Inside = self.__dict__.get("estimator_") or self.inside()
        inner._fitted()
        return inner

    @answers
    def predict(self, X: object) -> np.ndarray:
        """The learner's answer for each row."""
        return self._answering().predict(X)

    @alone
    def predict_one(self, x: Example) -> Any:
        """The learner's answer for one example."""
        return self.inside().predict_one(x)

    # ---- files

    def asking_state(self) -> dict[str, object]:
        """What a file must hold beside the learner inside."""
        rule = self._rule(self.inside())
        known = {"passes": self.__dict__.get("n_iter_"), "queried": getattr(self, "queried_", None)}
        return known | {"entropy": self._entropy, "counts": rule.counts.copy(), "recent": rule.recent.copy()}

    def restore_asking(self, inner: Inside, kept: Facts) -> None:
        """Take it on again, around the learner that was inside."""
        if type(inner) is not type(self._made_inner()):
            raise Misfit(f"it is a {type(self).__name__} around a {type(inner).__name__}")
        rule = Asking.restored(self._rule_numbers(), kept["counts"], kept["recent"], self._own_rule())
        self.estimator_, self._asking, self._entropy = inner, rule, seed_in("entropy", kept["entropy"])
        if kept["passes"] is not None:
            self.n_iter_ = count_in("passes", kept["passes"])
        if kept.get("queried") is not None:  # (none in files of before)
            self.queried_ = row_numbers("queried", kept["queried"])
        self._rule(inner)
