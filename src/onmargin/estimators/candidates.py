"""General feature maps Phi(x, y): a row per candidate, one of them chosen."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..errors import BadInput
from ..interface.fields import Averaged, Intercept, Passes, Shuffled, above_zero, flag, learner, one_of
from ..interface.groups import Grouped, Rounds, no_rounds, read_groups, weights_of_groups
from ..interface.guard import answers
from ..models.weights import Model, Numbers

NOT_OF_GROUPS = dict.fromkeys(
    (
        "check_fit_score_takes_y", "check_estimators_overwrite_params", "check_dont_overwrite_parameters",
        "check_estimators_fit_returns_self", "check_readonly_memmap_input",
        "check_n_features_in_after_fitting", "check_positive_only_tag_during_fit", "check_estimators_dtypes",
        "check_dtype_object", "check_pipeline_consistency", "check_estimators_nan_inf",
        "check_estimator_sparse_tag", "check_estimator_sparse_array", "check_estimator_sparse_matrix",
        "check_estimators_pickle", "check_f_contiguous_array_estimator",
        "check_methods_sample_order_invariance", "check_methods_subset_invariance", "check_fit2d_1feature",
        "check_dict_unchanged", "check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in",
        "check_fit2d_predict1d",
    ),
    "rows are candidates of groups, one chosen in each; the check calls fit(X, y) without groups and with "
    "other values of y",
)  # fmt: skip


@learner
class CandidateClassifier(Grouped, Passes, Shuffled, Intercept, Averaged):
    """Choose among candidates, each described by its own features.

    A round is a group of rows Phi(x, y), y being the candidates of x, and the row r that was right; s is the
    best-scored other: w += tau (Phi_r - Phi_s), tau = min(C, [1 - <w, Phi_r - Phi_s>]_+ / |Phi_r - Phi_s|^2)
    (PA-I). Structured outputs are learned from candidate lists in the same way; decoding is the caller's.

    Parameters
    ----------
    step : "pa" (no cap), "pa1", "pa2" (C is the price of squared slack) or "perceptron" (tau = 1 where the
        right one does not score highest).
    C : aggressiveness.
    average : predict with the mean of the weights that predicted.

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

    not_in_sklearn = NOT_OF_GROUPS

    @property
    def kind(self) -> str:
        """What it learns: "choices"."""
        return "choices"

    def numbers(self) -> Numbers:
        """C, and the step against the best rival."""
        chosen = {"C": self.C, "margin": 1.0, "rule": "rival", "step": self.step}
        return chosen | {"sampler": "", "reservoir": 1, "sets": False}

    def fit(self, X: object, chosen: object, qid: object = None) -> Self:
        """Learn from scratch (`warm_start`: go on): a row per candidate, true where right, its group."""
        fresh = not (self.warm_start and self._model is not None)
        return self._learn_groups(X, chosen, qid, fresh, True)

    def partial_fit(self, X: object, chosen: object, qid: object = None) -> Self:
        """Learn from these groups, in order, each once. A group's rows come in one call."""
        return self._learn_groups(X, chosen, qid, False, False)

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
    def predict(self, X: object, qid: object = None) -> np.ndarray:
        """True on the highest-scored row of every group (of equal ones, the first)."""
        scores = self.decision_function(X)
        groups, count = read_groups(qid, len(scores))
        best = np.lexsort((np.arange(len(scores)), -scores, groups))
        firsts = np.searchsorted(groups[best], np.arange(count))
        answer = np.zeros(len(scores), bool)
        answer[best[firsts]] = True
        return answer

    @answers
    def score(self, X: object, chosen: object, qid: object = None, sample_weight: object = None) -> float:
        """The share of groups whose right row was found; a group weighs as the mean of its rows' weights."""
        answer = self.predict(X, qid)
        groups, count = read_groups(qid, len(answer))
        right = answer & (read_chosen(chosen, groups, count) > 0)
        found = np.bincount(groups, right, minlength=count)
        if sample_weight is None:
            return float(found.mean())
        return float(np.average(found, weights=weights_of_groups(sample_weight, groups)))


def read_chosen(chosen: object, groups: np.ndarray, count: int) -> np.ndarray:
    """0 and 1, one 1 in every group."""
    if chosen is None:
        raise BadInput("CandidateClassifier requires y to be passed, but the target y is None")
    given = np.asarray(chosen)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.dtype == object and all(isinstance(value, bool | np.bool_) for value in given.ravel()):
        given = given.astype(bool)
    if given.shape != groups.shape:
        raise BadInput(f"chosen has shape {given.shape}; wanted ({len(groups)},), true on one row a group")
    if given.dtype.kind not in "biuf" or not np.isin(given, (0, 1)).all():
        raise BadInput("chosen has other entries than true and false; wanted true on one row of every group")
    truth = np.asarray(given, np.float64)
    found = np.bincount(groups, truth, minlength=count)
    if (found != 1).any():
        bad = int(np.argmax(found != 1))
        rows = np.flatnonzero(groups == bad)[:3].tolist()
        raise BadInput(
            f"the group of rows {rows} ... has {int(found[bad])} chosen rows; wanted one in every group; "
            "drop the group, or split it"
        )
    return truth
