"""Files of every family that were written once (see `tests.golden`) load bit for bit and go on as they did.

As plain Python, in another process (see `tests.uncompiled`); compiled for two.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from safetensors.numpy import save
from tests.golden import expected
from tests.golden.families import FAMILIES, answers, begun, facts, go_on
from tests.uncompiled import Comparisons, Pairs

import onmargin as om
from onmargin.errors import BadFile
from onmargin.estimators import every
from onmargin.learn.vocabulary import PEGASOS_LAST
from onmargin.protocols.saving import container

COMPARISONS = Comparisons("tests.protocols.test_golden")
STORED = expected.read()
MOST = 400_000  # bytes of all files
COMPILED = ("pa_binary", "pa_kernel")
# Nothing of these outlives a round: they are written as zeros, whatever a file had in them.
SCRATCH = ("notes", "reach", "spans", "point", "space.work", "space.notes")


def again(model: Any) -> Any:
    """Written and read."""
    with tempfile.TemporaryDirectory() as folder:
        om.save(model, Path(folder) / "m.onm")
        return om.load(Path(folder) / "m.onm")


def pairs(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> Pairs:
    """The answers of two learners; what is known only since then (NaN, or not there) has no answer of old."""
    assert wanted.keys() <= found.keys()
    unknown = {what for what, value in wanted.items() if np.size(value) and np.isnan(value).all()}
    return [(found[what], wanted[what]) for what in wanted if what not in unknown]


@COMPARISONS.each(*FAMILIES, near=1e-12)
def a_golden_file_goes_on_as_it_did(name: str) -> Pairs:
    model = go_on(name, om.load(expected.file_of(name)), STORED.stream)
    return pairs(answers(name, model, STORED.stream), STORED.answers[name])


@COMPARISONS.each(*FAMILIES, near=0.0)
def a_file_in_the_middle_changes_nothing(name: str) -> Pairs:
    model = begun(name, STORED.stream)
    first, second = go_on(name, again(model), STORED.stream), go_on(name, model, STORED.stream)
    return pairs(answers(name, first, STORED.stream), answers(name, second, STORED.stream))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """All pairs, from plain Python."""
    return COMPARISONS.run(tmp_path_factory.mktemp("golden") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_they_go_on_as_they_should(name: str, written: dict[str, np.ndarray]) -> None:
    COMPARISONS.compare(name, written)


@COMPARISONS.each("pegasos_suffix_batch_prior", "pegasos_one_vs_all", near=1e-12)
def a_file_with_pending_sums_goes_on_as_well(name: str) -> Pairs:
    """Earlier versions kept what the batch at hand had added (`pending`), where `before` is now."""
    content, arrays = container.read(expected.file_of(name))
    before = arrays.pop("before")
    aside = arrays["stamp"] >= arrays["ledger"][PEGASOS_LAST] if before.size else np.zeros(0, bool)
    assert aside.any() == (name == "pegasos_suffix_batch_prior")  # (in the middle of a batch)
    arrays["pending"] = np.zeros_like(before)
    arrays["pending"][aside] = arrays["weights"][aside] - before[aside] if before.size else 0.0
    with tempfile.TemporaryDirectory() as folder:
        container.write(Path(folder) / "m.onm", content, arrays)
        model = go_on(name, om.load(Path(folder) / "m.onm"), STORED.stream)
    return pairs(answers(name, model, STORED.stream), STORED.answers[name])


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_they_go_on_as_well(name: str) -> None:
    for found, wanted in a_golden_file_goes_on_as_it_did(name):
        assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    for found, wanted in a_file_in_the_middle_changes_nothing(name):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", FAMILIES)
def test_arrays_load_bit_for_bit(name: str, tmp_path: Path) -> None:
    """As they were written, as they are in the file, and as they are when it is written again."""
    model = om.load(expected.file_of(name))
    om.save(model, tmp_path / "m.onm")
    wanted = STORED.arrays[name]
    for path in (expected.file_of(name), tmp_path / "m.onm"):
        found = expected.arrays_in(path)
        assert found.keys() == wanted.keys()
        for what, array in wanted.items():
            assert (found[what].dtype, found[what].shape) == (array.dtype, array.shape), what
            if what in SCRATCH and path != expected.file_of(name):
                array = np.zeros_like(array)
            assert found[what].tobytes() == array.tobytes(), what


@pytest.mark.parametrize("name", FAMILIES)
def test_labels_names_parameters_and_clock_are_as_they_were(name: str) -> None:
    """(Parameters that came later have their defaults.)"""
    found, wanted = facts(om.load(expected.file_of(name))), STORED.facts[name]
    assert {what: found[what] for what in wanted} == wanted


def test_every_learner_has_a_golden_file() -> None:
    """Those inside BBQ go into BBQ's."""
    known = {STORED.facts[name]["class"] for name in FAMILIES}
    assert known | {"RidgeClassifier", "RidgeRegressor"} == set(every())
    assert {path.stem for path in expected.FILES.glob("*.onm")} == set(FAMILIES) == set(STORED.answers)


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for path in [expected.STORED, *expected.FILES.iterdir()]) < MOST


# ---- what a later version may have written


def refused(path: Path) -> str:
    """In one line, which names the file."""
    with pytest.raises(BadFile) as caught:
        om.load(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("version", ["2", "99", "0", "", "one"])
def test_an_unknown_format_is_refused(version: str, tmp_path: Path) -> None:
    path = expected.file_of("pa_binary")
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    path = tmp_path / "m.onm"
    path.write_bytes(save(expected.arrays_in(expected.file_of("pa_binary")), header | {"format": version}))
    assert refused(path) == f"{path} has format {version}; this version reads 1; update onmargin"
    path.write_bytes(save(expected.arrays_in(expected.file_of("pa_binary")), header))
    assert om.load(path).t_ == 24  # that was the only thing wrong


@pytest.mark.parametrize("name", ["pa_binary", "sampler_adaptive_window"])
@pytest.mark.parametrize("around", [False, True])
def test_an_unknown_class_is_refused(name: str, around: bool, tmp_path: Path) -> None:
    """Also around, and inside, a learner that asks."""
    content, arrays = container.read(expected.file_of(name))
    named = content["asks"] if around and content["asks"] else content
    named["class"] = "QuantumPerceptron"
    path = tmp_path / "m.onm"
    container.write(path, content, arrays)
    assert refused(path) == f"{path} holds a 'QuantumPerceptron', which this version does not know"


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
