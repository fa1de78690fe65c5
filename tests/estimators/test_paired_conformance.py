"""The checks of scikit-learn and of River for learners of several rows at a time, with pandas installed.

scikit-learn's bring tables of six types, each of which would be compiled for seconds: all but the kernel
form are asked as plain Python, in another process (see `tests.uncompiled`).
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import pandas  # noqa: F401  (its absence would skip checks)
import pytest
from river import base
from sklearn.utils.estimator_checks import check_estimator

import onmargin as om
from tests.once import as_plain_python

from ..soaking import mostly_uncompiled
from .test_kernel_conformance import NOT_FOR_US, failures, frozen, short_sets  # noqa: F401

PLAIN = [
    om.PairedClassifier(),
    om.PairedClassifier(rule="auc", sampler="pairs", max_iter=3),
    om.PairedRanker(),
    om.CandidateClassifier(),
]
IN_STREAMS = [om.PairedClassifier(random_state=0), om.PairedClassifier(rule="auc", random_state=0)]


def answers(model: Any) -> dict[str, Any]:
    """Per check: what became of it, and what was said."""
    expected = om.conformance.sklearn(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's checks warn on purpose
        results = check_estimator(model, expected_failed_checks=expected, on_fail=None, on_skip=None)
    return {r["check_name"]: [r["status"], repr(r["exception"])] for r in results}


def judge(model: Any, found: dict[str, Any]) -> None:
    """What is listed as failing does fail, but for the two checks whose shuffling may do no harm."""
    expected = om.conformance.sklearn(model)
    assert not {name: said for name, (status, said) in found.items() if status == "failed"}
    for status, said in found.values():
        assert status != "skipped" or any(reason in said for reason in NOT_FOR_US), said
    fails = {name for name, (status, _) in found.items() if status == "xfail"}
    listed = {name for name in expected if "sample_weight_equivalence" not in name}
    assert listed <= fails, f"listed, but passed or not asked: {sorted(listed - fails)}"
    assert len(found) > 35


def test_scikit_learn(tmp_path: Any) -> None:
    """One process for all."""
    said = as_plain_python("tests.estimators.test_paired_conformance", tmp_path / "answers", "default")
    written = json.loads(said.read_text())
    for model in PLAIN:
        judge(model, written[repr(model)])


def test_scikit_learn_on_the_kernel_form() -> None:
    model = om.PairedClassifier(kernel="rbf")
    judge(model, answers(model))


@pytest.mark.parametrize("model", mostly_uncompiled(IN_STREAMS, IN_STREAMS[0]), ids=repr)
def test_river(model: Any, short_sets: None) -> None:  # noqa: F811
    assert isinstance(model, base.Classifier) and om.conformance.river(model) == {}
    assert not failures(model)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps({repr(model): answers(model) for model in PLAIN}))
