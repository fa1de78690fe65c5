"""om.Pool: a person, a pool of rows without labels, and a learner that says which to label next."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import RLock
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import clone

from ... import __version__
from ...errors import BadFile, BadInput, require_whole, shown
from ...estimators.sampler import SelectiveSampler, chosen_estimator
from ...interface.classifier import Classifier
from ...interface.parameters.draws import drawn_seed
from ...interface.targets.labels import as_they_are, check_label, items, listed, shortened, unwrapped
from ...interface.targets.missing import numbered, one_kind, rows_of
from ...models.asking import sureness
from ...models.layout import count as count_in
from ...results.label_plan import Advice
from ..saving import container
from ..saving.files import Parts, built, described
from ..saving.portable import MissingParts
from .choosing import Likeness, doubtful, typical
from .fingerprint import checked_table, fingerprint
from .ledger import Label, Ledger, Row
from .stopping import stability

RULES = ("margin", "random")
PER_CLASS = 10  # labels a class after which a class that was announced is no longer waited for
COVERING = 500  # of the last rows asked for: others are to be unlike them
WATCHED = 2000  # rows on which models are compared


class Learned(NamedTuple):
    """A model, the labels it has learned from, and how sure it is of every row of the pool."""

    model: Classifier
    labels: Mapping[Row, Label]
    sure: np.ndarray


class Pool:
    """Rows without labels, a person who has them, and a learner that says which are most worth asking for.

    `next(k)` gives k row numbers, most worthwhile first; `answer(rows, labels)` takes their labels; `skip`
    those that cannot be labelled; `undo` takes the last of these calls back, `forget` any. A row is handed
    out once: until it is answered, skipped or `release`d it is `pending`. Every label is kept, and the
    learner is fitted anew on all of them (its own `fit`: several passes) when a tenth more have come, or
    `batch`. `advice` says whether to go on. `save` and `load` carry a pool over to another day, `grown` to
    more rows. One may ask while others answer.

    Before two classes have been seen (of announced ones: all, or ten labels for each) rows are chosen that
    stand for the pool: greedily for sum_i max_{j asked} cos(x_i, x_j). Then by the rule: of the 10 k rows
    with the smallest |p| (of several classes, gap between the two best scores), one after the other the least
    of place / (10 k) + max |cos| with those taken or pending (Brinker 2003), so that no two are alike.

    Parameters
    ----------
    model : a classifier of this library (of a SelectiveSampler, its learner); "auto" is AROW(). Not changed.
    X : the rows: an array, a CSR matrix or a frame. They must stay as they are.
    rule : "margin" (as above), or "random" for comparison.
    batch : how many rows `next()` gives; after so many answers, at the latest, the model is fitted anew.
    classes : a closed set of labels; others are refused. None: the model's `classes`, or any.
    random_state : a seed, for the sample that stands for the pool, and for the model where it has none.

    References: Lewis & Gale 1994 (doubtful rows); Brinker 2003 (unlike rows); Bloodgood & Vijay-Shanker 2009
    (when to stop).

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(2000, seed=0)
    >>> pool = om.Pool(om.AROW(), X, batch=10, random_state=0)
    >>> for _ in range(5):
    ...     rows = pool.next()
    ...     pool.answer(rows, y[rows])  # a person's answers
    >>> pool
    Pool(2,000 rows: 50 answered, 0 skipped, 0 pending)
    >>> pool.refit().score(X, y) > 0.97, pool.advice.stop
    (True, False)
    """

    def __init__(
        self, model: Classifier | SelectiveSampler | str, X: object, *, rule: str = "margin",
        batch: int = 20, classes: object = None, random_state: object = None,
    ) -> None:  # fmt: skip
        if rule not in RULES:
            raise BadInput(f"rule={shown(rule)}; wanted 'margin' or 'random'")
        require_whole("batch", batch)
        self.rule, self.batch = rule, int(batch)
        self._learner = _checked_learner(model)
        announced = self._learner.classes if classes is None else classes
        self.classes = None if announced is None else listed(announced)
        if self.classes is not None and len(set(self.classes)) < 2:
            raise BadInput(f"classes={shown(announced)}; wanted at least two classes")
        self._seed = _seed(random_state)
        self._X = checked_table(X)
        self._likeness = Likeness(self._X, np.random.default_rng([self._seed, 31]))
        self._lock = RLock()
        self._ledger = Ledger({}, frozenset(), ())
        self._learned: Learned | None = None
        self._before: Mapping[
            Row, Label
        ] = {}  # what the model of a file had learned: it is fitted when needed
        self._mark = ""  # of X, once it was asked for

    def __repr__(self) -> str:
        ledger = self._ledger
        counts = f"{len(ledger.skipped):,} skipped, {len(ledger.pending):,} pending"
        return f"Pool({self._X.shape[0]:,} rows: {len(ledger.labels):,} answered, {counts})"

    # ---- what is known

    @property
    def rows(self) -> np.ndarray:
        """Rows that have a label, in the order of their answers."""
        return self._ledger.rows

    @property
    def labels(self) -> np.ndarray:
        """Their labels."""
        return _array(self._ledger.labels)

    @property
    def pending(self) -> np.ndarray:
        """Rows that were handed out and wait for their answer."""
        return np.array(self._ledger.pending, np.int64)

    @property
    def skipped(self) -> np.ndarray:
        """Rows that were skipped."""
        return np.array(sorted(self._ledger.skipped), np.int64)

    @property
    def model(self) -> Classifier | None:
        """The learner as it was last fitted; None before there were labels of two classes."""
        return None if self._learned is None else self._learned.model

    # ---- a person's calls

    def next(self, k: int | None = None) -> np.ndarray:
        """The k rows most worth asking for, best first (fewer where no more are left); now pending."""
        if k is not None:
            require_whole("k", k)
        with self._lock:
            self._keep_up()
            rows = self._chosen(self.batch if k is None else int(k))
            self._ledger = self._ledger.asked(rows.tolist())
            return rows

    def ask(self, rows: object) -> None:
        """Hand out these rows, whatever the rule says: their labels are at hand. Now pending."""
        with self._lock:
            numbers, touched = self._numbers(rows)[0], set(self._ledger.touched.tolist())
            for row in numbers:
                if row in touched:
                    raise BadInput(f"row {row} was asked for already; release() or forget() comes before")
            self._ledger = self._ledger.asked(numbers)

    def answer(self, rows: object, labels: object) -> None:
        """The labels of pending rows: a list of each, or one of each."""
        with self._lock:
            numbers, single = self._numbers(rows)
            self._ledger = self._ledger.answered(numbers, self._checked(labels, len(numbers), single))

    def skip(self, rows: object) -> None:
        """Never ask for these rows (again): they cannot be labelled."""
        with self._lock:
            self._ledger = self._ledger.left_out(self._numbers(rows)[0])

    def release(self, rows: object = None) -> None:
        """Pending rows (None: all of them) that nobody answers after all: they may be asked for again."""
        with self._lock:
            self._ledger = self._ledger.released(None if rows is None else self._numbers(rows)[0])

    def undo(self) -> np.ndarray:
        """Take the last `answer` or `skip` back; its rows, which are pending again (as far as they were)."""
        with self._lock:
            self._ledger, step = self._ledger.undone()
            return np.array(step.rows, np.int64)

    def forget(self, rows: object) -> None:
        """Take back what was answered or skipped of these rows, whenever that was; they are pending again."""
        with self._lock:
            self._ledger = self._ledger.forgotten(self._numbers(rows)[0])

    def grown(self, X: object) -> Self:
        """A pool of more rows: X begins with the rows of this one (which stays as it is); all is kept."""
        table = checked_table(X)
        if table.shape[0] < self._X.shape[0]:
            raise BadInput(f"X has {table.shape[0]} rows; wanted the {self._X.shape[0]} there are, and more")
        with self._lock:
            before = self._before if self._learned is None else self._learned.labels
            empty = type(self)(
                self._learner, table, rule=self.rule, batch=self.batch, classes=self.classes,
                random_state=self._seed,
            )  # fmt: skip
            return empty.resumed(self._ledger, before)

    def resumed(self, ledger: Ledger, before: Mapping[Row, Label]) -> Self:
        """Itself, from where another was; the model of the labels `before` is fitted when it is needed."""
        self._ledger, self._before = ledger, before
        return self

    def refit(self) -> Classifier:
        """The learner, fitted on all labels there are now."""
        with self._lock:
            labels = self._ledger.labels
            if len(set(labels.values())) < 2:
                raise BadInput(
                    f"{len(labels)} labels of one class, or none; wanted labels of at least two classes"
                )
            learned = self._learned
            if learned is None or not _same(learned.labels, labels):
                learned = self._learn(labels)
            return learned.model

    @property
    def advice(self) -> Advice:
        """Go on, or stop? By how much the last labels have changed the answers (a heuristic).

        Models of all labels and of all but the last are compared on 2,000 rows: see `stopping`.
        """
        ledger, count = self._ledger, self._X.shape[0]  # (a ledger is never changed)
        known, skipped = len(ledger.labels), len(ledger.skipped)
        if known + skipped == count:
            return Advice(True, 1.0, f"stop: every row is answered ({known:,}) or skipped ({skipped:,})")
        watched = np.linspace(0, count - 1, min(count, WATCHED)).astype(np.int64)
        some = rows_of(self._X, watched)
        return stability(ledger.labels, lambda labels: items(self._fitted(labels).predict(some)))

    # ---- learning

    def _keep_up(self) -> None:
        """Fit anew where it is due; where a file said that a model was there, that one first."""
        labels, before = self._ledger.labels, self._before
        if before and self._learned is None and not self._is_due(before, labels):
            self._learn(before)
        if len(set(labels.values())) < 2:
            self._learned, self._before = None, {}
        elif self._learned is None or self._is_due(self._learned.labels, labels):
            self._learn(labels)

    def _is_due(self, learned: Mapping[Row, Label], labels: Mapping[Row, Label]) -> bool:
        """A tenth more labels, or `batch`; or one that was learned has been taken back."""
        taken_back = any(row not in labels or labels[row] != label for row, label in learned.items())
        return taken_back or len(labels) - len(learned) >= min(self.batch, 1 + len(learned) // 10)

    def _learn(self, labels: Mapping[Row, Label]) -> Learned:
        model = self._fitted(labels)
        scores = np.asarray(model.decision_function(self._X))
        sure = sureness(scores[:, None] if scores.ndim == 1 else scores)
        self._learned, self._before = Learned(model, labels, sure), {}
        return self._learned

    def _fitted(self, labels: Mapping[Row, Label]) -> Classifier:
        """The learner's own `fit`, all its passes, on these labels."""
        model: Classifier = clone(self._learner)
        given = model.get_params(deep=False)
        chosen: dict[str, object] = {"classes": self.classes, "tol": None}
        if given.get("random_state") is None:
            chosen["random_state"] = self._seed
        model.set_params(**{name: value for name, value in chosen.items() if name in given})
        rows = np.fromiter(labels, np.int64, len(labels))
        with numbered(rows):
            model.fit(rows_of(self._X, rows), _array(labels))
        return model.set_params(**{name: given[name] for name in ("tol",) if name in given})

    def _chosen(self, k: int) -> np.ndarray:
        is_open = np.ones(self._X.shape[0], bool)
        touched = self._ledger.touched
        is_open[touched] = False
        rows = np.flatnonzero(is_open)
        if not len(rows):
            return rows
        if self.rule == "random":
            draw = np.random.default_rng([self._seed, 32, len(touched), len(self._ledger.labels)])
            return draw.permutation(rows)[:k]
        if self._learned is None or self._waits_for_classes():
            return typical(self._likeness, rows, touched[-COVERING:], k)
        waiting = np.array(self._ledger.pending[-COVERING:], np.int64)
        return doubtful(self._likeness, rows, self._learned.sure, waiting, k)

    def _waits_for_classes(self) -> bool:
        """Is there an announced class without a label, and is it early?"""
        labels = self._ledger.labels
        if self.classes is None or len(labels) >= PER_CLASS * len(self.classes):
            return False
        return bool(set(self.classes) - set(labels.values()))

    # ---- what was given

    def _numbers(self, rows: object) -> tuple[tuple[Row, ...], bool]:
        """Row numbers, each once and within the pool; was it a single one?"""
        array = np.asarray(rows)
        if array.dtype.kind not in "iu" and not (array.size == 0 and array.ndim == 1) or array.ndim > 1:
            raise BadInput(f"rows={shown(rows)}; wanted a row number, or a list of them")
        numbers = tuple(int(row) for row in np.atleast_1d(array).tolist())
        for row in numbers:
            if not 0 <= row < self._X.shape[0]:
                raise BadInput(f"row {row} is not in the pool; wanted 0 to {self._X.shape[0] - 1}")
        if len(set(numbers)) < len(numbers):
            raise BadInput(f"rows={shown(rows)} has a row twice; wanted each once")
        return numbers, array.ndim == 0

    def _checked(self, labels: object, wanted: int, single: bool) -> list[Label]:
        """So many labels, each one that can be learned."""
        if not single and (isinstance(labels, str | bytes) or not hasattr(labels, "__len__")):
            raise BadInput(f"labels={shown(labels)}; wanted a list of {wanted} labels, one a row")
        if getattr(labels, "ndim", 1) > 1:
            raise BadInput(
                "labels has several columns; a pool asks for one label a row, not for sets of labels"
            )
        found = [unwrapped(label) for label in ([labels] if single else items(labels))]
        if len(found) != wanted:
            raise BadInput(f"got {wanted} rows and {len(found)} labels; wanted one label a row")
        for label in found:
            try:
                hash(label)
            except TypeError:
                raise BadInput(
                    f"label {shown(label)} is no single label; wanted one a row, no sets"
                ) from None
            if self.classes is None or label not in self.classes:
                check_label(label)
            if self.classes is not None and label not in self.classes:
                known = shortened(self.classes)
                raise BadInput(f"label {shown(label)} is not among the classes {known}; nothing was learned")
        return found

    # ---- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but X to one file: all of it, or the old file stays. No pickle.

        Labels, skips, pending rows, steps to undo, the parameters of pool and model, and a fingerprint of X.
        """
        with self._lock:
            ledger = self._ledger
            learned = self._before if self._learned is None else self._learned.labels
            first = _same(dict(list(ledger.labels.items())[: len(learned)]), learned)
            self._mark = self._mark or fingerprint(self._X)
            facts = {
                "model": described(self._learner), "rule": self.rule, "batch": self.batch,
                "classes": self.classes, "seed": self._seed, "ledger": ledger.state(),
                "shape": tuple(self._X.shape), "fingerprint": self._mark,
                "learned": len(learned) if first else 0,
            }  # fmt: skip
        container.write(path, {"pool": facts, "version": __version__}, {})

    @classmethod
    def load(cls, path: str | os.PathLike[str], X: object, parts: Parts = None) -> Self:
        """A pool from its file, with the rows it was saved with; it goes on exactly where it was.

        `parts` brings back a user's own functions (kernels, recipes), as in `om.load`.
        """
        facts, _ = container.read(path)
        if not isinstance(facts.get("pool"), dict):
            raise BadFile(f"{path} holds a model, not a pool; read it with om.load")
        facts, table = facts["pool"], checked_table(X)
        try:
            if tuple(facts["shape"]) != tuple(table.shape):
                raise BadInput(
                    f"X has shape {tuple(table.shape)}; the pool was saved with {tuple(facts['shape'])}"
                )
            mark = fingerprint(table)
            if facts["fingerprint"] != mark:
                raise BadInput("X has other values, or another order, than the rows the pool was saved with")
            told = {name: facts[name] for name in ("rule", "batch", "classes")}
            self = cls(built(facts["model"], parts), table, random_state=facts["seed"], **told)
            self._ledger, self._mark = Ledger.restored(facts["ledger"], table.shape[0]), mark
            labels = self._ledger.labels
            self._checked(list(labels.values()), len(labels), False)
            self._before = dict(list(labels.items())[: count_in("learned", facts["learned"], 0, len(labels))])
        except (MissingParts, BadInput, BadFile, MemoryError):
            raise
        except Exception as error:  # whatever a damaged file makes of it
            reason = " ".join(str(error).split())[:200]
            raise BadFile(f"{path} does not fit this version ({reason})") from None
        return self


def _checked_learner(model: object) -> Classifier:
    learner = chosen_estimator(model.estimator if isinstance(model, SelectiveSampler) else model)
    if not isinstance(learner, Classifier):
        raise BadInput(f"model={shown(model)}; wanted a classifier of this library, such as om.AROW()")
    if getattr(learner, "kernel", None) == "precomputed":
        raise BadInput(
            "kernel='precomputed' has a column for every row it was fitted on; a pool needs the rows"
        )
    made: Classifier = clone(learner)
    return made


def _seed(random_state: object) -> int:
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    seed = random_state if whole else drawn_seed(random_state)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise BadInput(f"random_state={shown(random_state)}; wanted a whole number of at least 0")
    return int(seed)


def _array(labels: Mapping[Row, Label]) -> np.ndarray:
    """Labels as an array, of their own kind where they have one."""
    return one_kind(as_they_are(list(labels.values())))


def _same(one: Mapping[Row, Label], other: Mapping[Row, Label]) -> bool:
    return len(one) == len(other) and list(one.items()) == list(other.items())
