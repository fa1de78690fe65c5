"""General feature maps Phi(x, y): a row per candidate, one of them chosen, or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from ..errors import BadInput, require_whole
from ..features.matrices import read_only
from ..interface.groups import Grouped, Rounds, no_rounds, read_groups, weights_of_groups
from ..interface.guard import answers, changes
from ..interface.parameters.draws import generator_of
from ..interface.parameters.fields import (
    Averaged,
    Intercept,
    Passes,
    Shuffled,
    above_zero,
    flag,
    learner,
    one_of,
    plain,
)
from ..interface.runs.passes import Sums, run_passes
from ..interface.structures import RIGHT, Decoder, StructuredForm, listed, play, same_structure
from ..interface.tables import checked_weights
from ..interface.targets.labels import is_marks
from ..interface.weights import WeightsForm
from ..models.means import take_mean
from ..models.weights import Model, Numbers

NOT_OF_GROUPS = dict.fromkeys(
    (
        "check_fit_score_takes_y", "check_estimators_overwrite_params", "check_dont_overwrite_parameters",
        "check_estimators_fit_returns_self", "check_readonly_memmap_input",
        "check_n_features_in_after_fitting", "check_positive_only_tag_during_fit", "check_estimators_dtypes",
        "check_dtype_object",
        "check_estimator_sparse_tag", "check_estimator_sparse_array", "check_estimator_sparse_matrix",
        "check_f_contiguous_array_estimator",
        "check_methods_sample_order_invariance", "check_methods_subset_invariance", "check_fit2d_1feature",
        "check_dict_unchanged",
        "check_fit2d_predict1d",
    ),
    "rows are candidates of groups, some chosen in each; the check calls fit(X, y) without groups and with "
    "other values of y",
)  # fmt: skip


@learner
class CandidateClassifier(Grouped, Passes, Shuffled, Intercept, Averaged):
    """Choose among candidates, each described by its own features.

    A round is a group of rows Phi(x, y), y being the candidates of x, and the row r that was right; s is the
    best-scored other: w += tau (Phi_r - Phi_s), tau = min(C, [1 - <w, Phi_r - Phi_s>]_+ / |Phi_r - Phi_s|^2)
    (PA-I). Structured outputs are learned from candidate lists in the same way.

    Several rows of a group may be right: they are to rank above all others, and r is the lowest-scored of
    them. A group whose rows are all right asks for nothing. `decision_function` ranks, `predict(X, qid,
    top=n)` marks the n best of every group.

    Where the structures are too many to be listed, give `decode` and `features`: then X is a list of inputs
    and `chosen` the list of their right structures, whatever these are to your functions; `predict(X)` gives
    a list of structures.

    Parameters
    ----------
    step : "pa" (no cap), "pa1", "pa2" (C is the price of squared slack) or "perceptron" (tau = 1 where the
        right one does not score highest).
    C : aggressiveness.
    average : "auto" (`fit` ends with the mean of the weights that predicted, streams go on with the last),
        True (that mean in both) or False.
    features : `features(x, y)` is Phi(x, y): numbers (always as many), or a sparse row.
    decode : `decode(weights, x)` is the y of the highest score <weights, Phi(x, y)>: the rival s is what
        would be answered. With a third argument, y, it is asked for the highest score plus cost while it
        learns, y being the right structure, and for the highest score (y is None) when it answers.
    cost : `cost(y, other)` is the margin asked for, in place of 1: tau = min(C, [cost - <w, z>]_+ / |z|^2).

    Reference: Crammer et al. 2006, section 8; Collins 2002 (Perceptron).

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(400, 3)), np.repeat(np.arange(100), 4)
    >>> chosen = (X @ [1, -2, 0.5]).reshape(100, 4)
    >>> chosen = (chosen == chosen.max(axis=1, keepdims=True)).ravel()
    >>> model = CandidateClassifier(random_state=0).fit(X, chosen, qid)
    >>> model.score(X, chosen, qid) > 0.95
    True
    """

    step: str = one_of("pa", "pa1", "pa2", "perceptron", default="pa1", listed=True)
    C: float = above_zero(default=1.0, inf=True)
    fit_intercept: bool = flag(default=False, lasting=True)
    decode: object = plain(default=None)
    features: object = plain(default=None, lasting=True)
    cost: object = plain(default=None)

    not_in_sklearn = NOT_OF_GROUPS

    @property
    def kind(self) -> str:
        """What it learns: "choices"."""
        return "choices"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.decode is not None:
            Decoder(self.decode, self.features, self.cost)
            if self.fit_intercept:
                raise BadInput("an intercept cancels in Phi(x, y) - Phi(x, s); set fit_intercept=False")
        elif self._given():
            raise BadInput("features= and cost= go with decode=; listed candidates have their own rows")

    def _given(self) -> bool:
        """Is there any function of the user's?"""
        return any(function is not None for function in (self.decode, self.features, self.cost))

    def _form(self) -> WeightsForm:
        return WeightsForm(self) if self.decode is None else StructuredForm(self)

    def row(self, problem: str) -> str:
        """For its Space and its answers; of structures, the whole round."""
        return super().row(problem) if self.decode is None else f"{self.step}.binary"

    def numbers(self) -> Numbers:
        """C, and the step against the best rival."""
        if self.decode is not None:
            perceptron = self.step == "perceptron"
            return {"rate": 1.0, "margin": 0.0} if perceptron else {"C": self.C, "margin": 1.0}
        chosen = {"C": self.C, "margin": 1.0, "rule": "rival", "step": self.step}
        return chosen | {"sampler": "", "reservoir": 1, "sets": False}

    def fit(self, X: object, chosen: object, qid: object = None) -> Self:
        """Learn from scratch (`warm_start`: go on): a row per candidate, true where right, its group.

        One row of every group is right, or several are (of groups of any size).
        """
        fresh = not (self.warm_start and self._model is not None)
        if self._given():
            return self._learn_structures(X, chosen, qid, fresh, True)
        return self._learn_groups(X, chosen, qid, fresh, True)

    def partial_fit(self, X: object, chosen: object, qid: object = None) -> Self:
        """Learn from these groups, in order, each once. A group's rows come in one call."""
        if self._given():
            return self._learn_structures(X, chosen, qid, False, False)
        return self._learn_groups(X, chosen, qid, False, False)

    @changes
    def _learn_structures(self, X: object, right: object, qid: object, fresh: bool, passes: bool) -> Self:
        if fresh:
            self._forget()
        self._check_parameters()
        refuse_groups(qid)
        xs, ys = listed("X", X), listed("y", right)
        if len(xs) != len(ys) or not len(xs):
            raise BadInput(f"got {len(xs)} inputs and {len(ys)} structures; wanted one each, and some")
        decoder, count = Decoder(self.decode, self.features, self.cost), len(xs)
        if self._model is None:
            self.n_features_in_ = decoder.row(xs[0], ys[0], 0, RIGHT)[0]
            model = self._new_model(self.n_features_in_, fitting=passes)
            model.features = self.n_features_in_
        else:
            model = self._model.copy()
            self._refresh(model, fitting=passes)
        self._model, width, step = model, self.n_features_in_, self.step
        generator = generator_of(self, 3)

        def order() -> np.ndarray:
            return generator.permutation(count) if self.shuffle else np.arange(count)

        def one_pass(order: np.ndarray, show: Callable[[int, Sums], None]) -> Sums:
            sums = play(decoder, model, width, step, xs, ys, order)
            show(count, sums)
            return sums

        if passes:
            self.n_iter_ = run_passes(count, self._stopping(), order, one_pass)
            if self._averages_fits:
                take_mean(model)
        else:
            play(decoder, model, width, step, xs, ys, np.arange(count))
        return self

    def _decoded(self, X: object) -> list[object]:
        """The best structure of each input, by the average where one is kept."""
        model, decoder = self._fitted(), Decoder(self.decode, self.features, self.cost)
        self._check_lasting()
        weights = read_only(model.mean_weights()[: self.n_features_in_])
        none = (None,) if decoder.adds_cost else ()
        return [decoder.best(weights, x, place, *none) for place, x in enumerate(listed("X", X))]

    def _read_truth(self, y: object, groups: np.ndarray, count: int) -> np.ndarray:
        return read_chosen(y, groups, count)

    def _rounds(
        self, groups: np.ndarray, truth: np.ndarray, order: np.ndarray, model: Model
    ) -> tuple[Rounds, np.ndarray]:
        if not len(order):
            return no_rounds()
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        members = np.argsort(place[groups], kind="stable")
        starts = np.r_[0, np.cumsum(np.bincount(place[groups], minlength=len(order)))]
        return (members, starts), truth[members] > 0

    @answers
    def predict(self, X: object, qid: object = None, top: int = 1) -> np.ndarray | list[object]:
        """True on the `top` highest-scored rows of every group (of equal ones, the first); or the structures.

        Of a group that has fewer rows all are marked.
        """
        require_whole("top", top)
        if self.decode is not None:
            refuse_groups(qid)
            if top != 1:
                raise BadInput(
                    f"top={top} goes with listed candidates; decode= gives the best structure only"
                )
            return self._decoded(X)
        return self._best_rows(X, qid, top)

    def _best_rows(self, X: object, qid: object, top: int = 1) -> np.ndarray:
        scores = self.decision_function(X)
        groups, count = read_groups(qid, len(scores))
        best = np.lexsort((np.arange(len(scores)), -scores, groups))
        firsts = np.searchsorted(groups[best], np.arange(count))
        answer = np.zeros(len(scores), bool)
        answer[best] = np.arange(len(best)) - firsts[groups[best]] < top
        return answer

    @answers
    def score(self, X: object, chosen: object, qid: object = None, sample_weight: object = None) -> float:
        """The share of groups whose best row is right; a group weighs as the mean of its rows' weights.

        Where several rows are right that is 1 less the one-error (`om.metrics`, with `decision_function`, has
        the others).
        """
        if self.decode is not None:
            refuse_groups(qid)
            return share_found(self._decoded(X), listed("y", chosen), sample_weight)
        answer = self._best_rows(X, qid)
        groups, count = read_groups(qid, len(answer))
        right = answer & (read_chosen(chosen, groups, count) > 0)
        found = np.bincount(groups, right, minlength=count)
        if sample_weight is None:
            return float(found.mean())
        return float(np.average(found, weights=weights_of_groups(sample_weight, groups)))


def refuse_groups(qid: object) -> None:
    """Inputs are no groups of rows."""
    if qid is not None:
        raise BadInput(
            "qid= goes with listed candidates; with decode= each entry of X is an input of its own"
        )


def share_found(answer: Sequence[object], right: Sequence[object], sample_weight: object) -> float:
    """How many structures are the right ones, entirely."""
    if len(answer) != len(right) or not len(right):
        raise BadInput(f"got {len(answer)} inputs and {len(right)} structures; wanted one each, and some")
    found = [same_structure(one, other) for one, other in zip(answer, right, strict=True)]
    weights = None if sample_weight is None else checked_weights(sample_weight, len(found))
    return float(np.average(found, weights=weights))


def read_chosen(chosen: object, groups: np.ndarray, count: int) -> np.ndarray:
    """0 and 1, some 1 in every group."""
    if chosen is None:
        raise BadInput("CandidateClassifier requires y to be passed, but the target y is None")
    given = np.asarray(chosen)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.dtype == object and all(isinstance(value, bool | np.bool_) for value in given.ravel()):
        given = given.astype(bool)
    if given.shape != groups.shape:
        raise BadInput(
            f"chosen has shape {given.shape}; wanted ({len(groups)},), true on the right rows of every group"
        )
    if given.dtype.kind not in "biuf" or not is_marks(given):
        raise BadInput(
            "chosen has other entries than true and false; wanted true on the right rows of every group"
        )
    truth = np.asarray(given, np.float64)
    none = np.bincount(groups, truth, minlength=count) == 0
    if none.any():
        rows = np.flatnonzero(groups == int(np.argmax(none)))[:3].tolist()
        raise BadInput(
            f"the group of rows {rows} ... has 0 chosen rows; wanted one or more in every group; drop it"
        )
    return truth
