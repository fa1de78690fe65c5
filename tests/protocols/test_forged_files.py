"""Files with a right digest and wrong content are refused in one line, before anything is built of them.

Forged by hand here, what an attack found; by a generator in `tests.forging`, families and all.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save
from tests.forging import outcomes
from tests.golden import expected
from tests.golden.families import FAMILIES
from tests.soaking import either, soaked

import onmargin as om
from onmargin.errors import BadFile
from onmargin.protocols.saving import container

Change = Callable[[dict[str, Any], dict[str, np.ndarray]], None]
LITTLE = 20_000_000  # bytes that reading a small file may take
COMPILED = [
    "pa_binary", "pa_classes", "arow_full", "ftrl_group", "pegasos_suffix_batch_prior", "pa_kernel",
    "projectron", "forgetron", "paired_classes", "paired_kernel", "sampler_adaptive_window", "bbq_kernel",
]  # fmt: skip


def refused(path: Path) -> str:
    """In one line."""
    with pytest.raises(BadFile) as caught:
        om.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def start(place: int, value: Any) -> Change:
    def change(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        given = list(facts["model"]["start"])
        given[place] = value
        facts["model"]["start"] = tuple(given)

    return change


def fact(*place: str, to: Any) -> Change:
    def change(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        inner: Any = facts
        for name in place[:-1]:
            inner = inner[name]
        assert place[-1] in inner
        inner[place[-1]] = to

    return change


def entry(name: str, where: Any, to: float) -> Change:
    def change(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][where] = to

    return change


def also(*changes: Change) -> Change:
    def change(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        for one in changes:
            one(facts, arrays)

    return change


def many_labels(count: int) -> Change:
    return also(
        fact("targets", "known", to=list(range(count))), fact("targets", "counts", to=[0] * count)
    )  # fmt: skip


FORGERIES: dict[str, tuple[str, Change]] = {
    "wider than its slots": ("pa_classes", fact("columns", "width", to=50_000)),
    "more names than slots": ("pa_dicts_text", fact("columns", "names", to=list(range(10)))),
    "a name twice": ("pa_dicts_text", fact("columns", "names", to=["a", "a", "b", "c"])),
    "many labels": ("pa_classes", many_labels(20_000)),
    "a hundred labels": ("pa_classes", many_labels(100)),
    "a label twice": ("pa_classes", fact("targets", "known", to=[0, 0, 1])),
    "more outputs": ("pa_classes", start(1, 4)),
    "no outputs": ("pa_classes", start(1, 0)),
    "a group that is none": ("ftrl_group", entry("group", 0, 1e9)),
    "a group below 0": ("ftrl_group", entry("group", 0, -1.0)),
    "half a group": ("ftrl_group", entry("group", 0, 0.5)),
    "starts that fall": ("pa_kernel_float32", entry("kept.starts", 1, 10**6)),
    "starts below 0": ("projectron_plus", entry("kept.starts", 1, -5)),
    "columns that are none": ("projectron_plus", entry("kept.indices", 0, 2**30)),
    "columns below 0": ("projectron_plus", entry("kept.indices", 0, -1)),
    "NaN weights": ("pa_binary", entry("weights", 0, np.nan)),
    "infinite variances": ("arow_full", entry("sigma", 0, np.inf)),
    "NaN vectors": ("pa_kernel", entry("kept.raw", 0, np.nan)),
    "many slots": ("arow_full", start(0, 10**8)),
    "slots beyond count": ("pa_binary", start(0, 2**40)),
    "a negative number of slots": ("pa_binary", start(0, -5)),
    "a horizon of 0": ("pa_horizon", fact("begun", "horizon", to=0.0)),
    "a horizon of 0 among the parameters": ("pa_horizon", fact("parameters", "horizon", to=0.0)),
    "batches of 0": (
        "pegasos_suffix_batch_prior",
        also(
            fact("model", "numbers", "batch", to=0), fact("begun", "batch_size", to=0),
            fact("parameters", "batch_size", to=0),
        ),
    ),
    "a batch that is not its own": ("pegasos_suffix_batch_prior", fact("model", "numbers", "batch", to=3)),
    "a suffix without end": ("pegasos_suffix_batch_prior", entry("ledger", 7, -1.0)),
    "a negative clock": ("pa_binary", fact("model", "clock", to=-1)),
    "a clock beyond count": ("pa_binary", fact("model", "clock", to=10**30)),
    "other costs": ("pa_costs", fact("parameters", "cost", to=[[0, 1], [1, 0]])),
    "half a vector of room": ("forgetron", fact("model", "numbers", "room", to=6.5)),
    "more vectors than slots": ("forgetron", entry("space.ledger", 0, 7.0)),
    "an oldest that is none": ("forgetron", entry("space.ledger", 9, 40.0)),
    "a slot in other hands": ("forgetron", entry("space.owner", 0, 3)),
    "a factor without an inverse": ("bbq_kernel", entry("space.square", (0, 0), 0.0)),
    "rows never met": ("pa_kernel", entry("kept.ids", 0, 10**6)),
    "kernels that are none": ("om2", fact("found", to={"n_kernels_": 10**9})),
    "a reservoir of any size": (
        "paired_classes",
        also(
            fact("model", "numbers", "reservoir", to=10**10), fact("begun", "reservoir", to=10**10),
            fact("parameters", "reservoir", to=10**10),
        ),
    ),
    "a reservoir's row that is none": ("paired_classes", entry("pairing.slots", (0, 0), 10**6)),
    "a reservoir that saw less than none": ("paired_classes", entry("pairing.seen", 0, -1)),
    "a pool wider than the table": ("paired_kernel", fact("model", "pool_width", to=10**9)),
    "an action that is none": (
        "banditron_pending", fact("extras", "pending", to=[(25, (0,), (1.0,), 5, 1, 0.5)])
    ),
    "an action on a slot that is none": (
        "banditron_pending", fact("extras", "pending", to=[(25, (10**6,), (1.0,), 1, 1, 0.5)])
    ),
    "a rule that counted less than none": (
        "sampler_adaptive_window", fact("asks", "counts", to=np.array([-1.0, -7.0, 0.0, 0.0, 0.0]))
    ),
    "a window of any size": (
        "sampler_adaptive_window",
        also(
            fact("asks", "parameters", "budget", to=10**11), fact("asks", "parameters", "window", to=10**12)
        ),
    ),
    "an attribute of any name": ("pa_binary", fact("found", to={"_model": 1})),
    "a prior of any name": (
        "pegasos_suffix_batch_prior", fact("parameters", "prior", to={"prior": {"coef": [[1.0]], "x": 1}})
    ),
    "a learner that asks inside": ("bbq", fact("class", to="BBQ")),
    "another learner inside": ("bbq", fact("asks", "class", to="SelectiveSampler")),
    "a step that is none": ("candidates", fact("model", "numbers", "step", to="x")),
    "groups that are none": (
        "ftrl_group", also(fact("begun", "groups", to=7), fact("parameters", "groups", to=7))
    ),
    "a parameter that fit refuses": ("pa_binary", fact("parameters", "C", to=-1.0)),
    "another array": ("pa_binary", lambda facts, arrays: arrays.update(x=np.zeros(3))),
    "an array less": ("pa_binary", lambda facts, arrays: arrays.__delitem__("drift")),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGERIES)
def test_what_does_not_fit_is_refused_and_takes_little_memory(what: str, tmp_path: Path) -> None:
    name, change = FORGERIES[what]
    facts, arrays = container.read(expected.file_of(name))
    change(facts, arrays)
    container.write(tmp_path / "m.onm", facts, arrays)
    size = (tmp_path / "m.onm").stat().st_size
    tracemalloc.start()
    try:
        assert str(tmp_path / "m.onm") in refused(tmp_path / "m.onm")
        assert tracemalloc.get_traced_memory()[1] < LITTLE + 60 * size
    finally:
        tracemalloc.stop()


def with_text(path: Path, text: str) -> Path:
    """A file whose facts are this text."""
    arrays = {"weights": np.zeros(2)}
    metadata = {"onmargin": text, "format": "1", "digest": container._digest(text, arrays)}
    path.write_bytes(save(arrays, metadata=metadata))
    return path


MERSENNE = {
    "bit_generator": "MT19937", "state": {"key": [1] * 624, "pos": 10**6}, "has_gauss": 0, "gauss": 0.0
}  # fmt: skip
TEXTS = {
    "deep": "[" * 100_000 + "]" * 100_000,
    "deep values": '{"list": [' * 10_000 + "]}" * 10_000,
    "cut off": '{"dict": [',
    "nothing": "",
    "a number": "7",
    "a list": "[1, 2]",
    "no facts": '{"dict": []}',
    "other facts": '{"dict": [["class", {"int": "3"}], ["parameters", null]]}',
    "a class that is a dict": '{"dict": [["class", {"dict": []}], ["parameters", {"dict": []}]]}',
    "many digits": f'{{"int": "{"9" * 100_000}"}}',
    "no digits": '{"int": [1]}',
    "a key that is a list": '{"dict": [[{"list": []}, 1]]}',
    "another kind": '{"pickle": "x"}',
    "a void": '{"numpy": "V1", "value": {"int": "1000000000"}}',
    "wide text": '{"array": "<U1000000000", "shape": [1], "items": {"list": ["a"]}}',
    "a wide void": '{"array": "|V1000000000", "shape": [1], "items": {"list": ["a"]}}',
    "a generator out of its range": json.dumps(container.encode({"generator": "x"})).replace(
        '["generator", "x"]',
        json.dumps(["g", {"generator": "RandomState", "state": container.encode(MERSENNE)}]),
    ),
}


@pytest.mark.parametrize("what", TEXTS)
def test_metadata_that_is_not_ours_is_refused(what: str, tmp_path: Path) -> None:
    path = with_text(tmp_path / "m.onm", TEXTS[what])
    tracemalloc.start()
    try:
        refused(path)
        assert tracemalloc.get_traced_memory()[1] < LITTLE
    finally:
        tracemalloc.stop()


def test_parameters_changed_since_are_no_forgery(tmp_path: Path) -> None:
    """`C` holds from the next round on; a lasting one is refused by the next call, as it was before."""
    X, y = np.eye(4), [0, 1, 0, 1]
    model = (
        om.PassiveAggressiveClassifier(average=False, intercept_scaling=1.0)
        .partial_fit(X, y, classes=[0, 1])
        .set_params(C=0.5, average=True)
    )
    om.save(model, tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm")
    assert twin.C == 0.5 and twin.average is True
    with pytest.raises(om.errors.BadInput, match="average= was False"):
        twin.partial_fit(X, y)
    twin.set_params(average=False).partial_fit(X, y)
    model.set_params(average=False).partial_fit(X, y)
    np.testing.assert_array_equal(twin.coef_, model.coef_)


def test_costs_changed_since_hold_from_the_next_round_on(tmp_path: Path) -> None:
    for cost in (None, np.ones((3, 3)) - np.eye(3)):
        model = om.load(expected.file_of("pa_costs")).set_params(cost=cost)
        om.save(model, tmp_path / "m.onm")
        twin = om.load(tmp_path / "m.onm")
        for one in (model, twin):
            one.partial_fit(np.eye(4), [0, 1, 2, 0])
        np.testing.assert_array_equal(twin.coef_, model.coef_)


def test_a_prior_may_be_let_go_of(tmp_path: Path) -> None:
    model = om.load(expected.file_of("pegasos_suffix_batch_prior")).set_params(prior=None)
    om.save(model, tmp_path / "m.onm")
    assert om.load(tmp_path / "m.onm").prior is None


@soaked
def test_forged_files_of_every_family_are_refused_or_work() -> None:
    """As plain Python, where an index that is out of bounds raises."""
    found = outcomes(0, either(4, 100), list(FAMILIES))
    assert found["BadFile"] > found["works"] > 0


@pytest.mark.soak
def test_forged_files_crash_no_compiled_code() -> None:
    found = outcomes(1000, 1100, COMPILED, compiled=True)
    assert found["BadFile"] > found["works"] > 0


# ---- damage


def damaged(data: bytes, path: Path, step: int) -> None:
    """Bytes flipped and the end cut off, here and there: refused, or nothing but the padding was touched."""
    whole = (container.read(path)[0], path.read_bytes())
    for at in range(0, len(data), step):
        for changed in (data[:at], data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :]):
            path.write_bytes(changed)
            try:
                model = om.load(path)
            except BadFile as error:
                assert "\n" not in str(error)
            else:
                om.save(model, path)
                assert path.read_bytes() == whole[1]


@soaked
@pytest.mark.parametrize("name", ["pa_binary", "paired_kernel", "sampler_adaptive_window"])
def test_every_byte_counts(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onm"
    om.save(om.load(expected.file_of(name)), path)
    damaged(path.read_bytes(), path, either(13, 1))
