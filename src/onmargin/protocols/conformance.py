"""Checks of scikit-learn and River that a learner does not pass, each with its reason."""

from __future__ import annotations

from ..interface.river import River

_ORDER = (
    "an online learner depends on the order of its examples, and the check shuffles them; "
    "scikit-learn's own online classes list it too"
)


def sklearn(model: River) -> dict[str, str]:
    """For `check_estimator(model, expected_failed_checks=om.conformance.sklearn(model))`."""
    if model.not_in_sklearn:
        return dict(model.not_in_sklearn)
    return {
        "check_sample_weight_equivalence_on_dense_data": _ORDER,
        "check_sample_weight_equivalence_on_sparse_data": _ORDER,
    }


def river(model: River) -> dict[str, str]:
    """River's checks that do not apply."""
    return dict(model.not_in_river())
