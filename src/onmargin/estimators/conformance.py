"""Checks of scikit-learn and River that a learner does not pass, each with its reason."""

from __future__ import annotations

from typing import Any

_ORDER = (
    "an online learner depends on the order of its examples, and the check shuffles them; "
    "scikit-learn's own online classes list it too"
)

_GROUPS = (
    "rows are candidates of groups, one chosen in each; the check calls fit(X, y) without groups and with "
    "other values of y"
)
_WANT_OTHER_Y = (
    "check_fit_score_takes_y", "check_estimators_overwrite_params", "check_dont_overwrite_parameters",
    "check_estimators_fit_returns_self", "check_readonly_memmap_input", "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit", "check_estimators_dtypes", "check_dtype_object",
    "check_pipeline_consistency", "check_estimators_nan_inf", "check_estimator_sparse_tag",
    "check_estimator_sparse_array", "check_estimator_sparse_matrix", "check_estimators_pickle",
    "check_f_contiguous_array_estimator", "check_methods_sample_order_invariance",
    "check_methods_subset_invariance", "check_fit2d_1feature", "check_dict_unchanged",
    "check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in", "check_fit2d_predict1d",
)  # fmt: skip


def sklearn(model: Any) -> dict[str, str]:
    """For `check_estimator(model, expected_failed_checks=om.conformance.sklearn(model))`."""
    if type(model).__name__ == "CandidateClassifier":
        return dict.fromkeys(_WANT_OTHER_Y, _GROUPS)
    return {
        "check_sample_weight_equivalence_on_dense_data": _ORDER,
        "check_sample_weight_equivalence_on_sparse_data": _ORDER,
    }


_CLOSED = "it plays actions, all of which must be announced before the first; the check announces none"
_WANT_NO_CLASSES = (
    "check_bounded_memory_growth", "check_classifier_tracks_seen_labels", "check_clone_is_independent",
    "check_disappearing_features", "check_emerging_features", "check_learn_one",
    "check_no_state_aliasing_with_input", "check_pickling",
    "check_predict_many_matches_predict_one", "check_predict_one_pure",
    "check_predict_proba_many_matches_predict_proba_one", "check_predict_proba_one",
    "check_radically_disappearing_features", "check_shuffle_features_no_impact",
)  # fmt: skip


def river(model: Any) -> dict[str, str]:
    """River's checks that do not apply."""
    if type(model).__name__ == "Banditron" and model.classes is None:
        return dict.fromkeys(_WANT_NO_CLASSES, _CLOSED)
    return {}
