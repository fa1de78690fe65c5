"""Files of kernel learners: functions that are brought along, foreign content, damage."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import pairwise

import onmargin as om
from onmargin.errors import BadFile, BadInput, OnmarginError
from onmargin.protocols.saving import container as saved
from onmargin.protocols.saving.portable import source_mark

X = np.random.default_rng(8).standard_normal((40, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
TABLE = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))


def fault(reason: str) -> Any:
    """A fault that is known and not mended yet."""
    return pytest.mark.xfail(strict=True, reason=reason)


def products(A: Any, B: Any) -> Any:
    return 1.0 + A @ B.T


def others(A: Any, B: Any) -> Any:
    return 2.0 + A @ B.T


class Callable:
    """A kernel that is no function."""

    def __call__(self, A: Any, B: Any) -> Any:
        return A @ B.T


def written(kernel: Any, path: Any) -> Any:
    model = om.Perceptron(kernel=kernel, classes=(0, 1)).partial_fit(X, Y)
    om.save(model, path / "m.onm")
    return model


def refused(path: Any, parts: Any = None) -> str:
    """Reading is refused in one line."""
    with pytest.raises(OnmarginError) as caught:
        om.load(path / "m.onm", parts)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("kernel", [products, om.kernels.rbf(0.5) + products], ids=["alone", "in a sum"])
def test_a_function_comes_back_through_parts(kernel: Any, tmp_path: Any) -> None:
    model = written(kernel, tmp_path)
    twin = om.load(tmp_path / "m.onm", parts={"products": products})
    for one in (model, twin):
        one.partial_fit(-X, Y)
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(twin.dual_coef_, model.dual_coef_)
    assert "give it as parts={'products': ...}" in refused(tmp_path)
    assert "give it as parts=" in refused(tmp_path, {"others": others})
    assert "is not the function that the model was saved with" in refused(tmp_path, {"products": others})


def test_a_function_among_many_kernels_comes_back(tmp_path: Any) -> None:
    model = om.OM2(kernels=["rbf", products], classes=(0, 1)).partial_fit(X, Y)
    om.save(model, tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm", parts={"products": products})
    np.testing.assert_array_equal(twin.kernel_weights_, model.kernel_weights_)
    np.testing.assert_array_equal(
        twin.partial_fit(X, Y).decision_function(X), model.partial_fit(X, Y).decision_function(X)
    )
    assert "parts={'products'" in refused(tmp_path)


@pytest.mark.parametrize(
    "kernel",
    [functools.partial(pairwise.rbf_kernel, gamma=0.5), Callable(), np.inner],
    ids=["partial", "object", "NumPy"],
)
def test_a_kernel_without_a_source_is_refused_or_saved(kernel: Any, tmp_path: Any) -> None:
    try:
        model = written(kernel, tmp_path)
    except BadInput as error:
        assert "\n" not in str(error) and not (tmp_path / "m.onm").exists()
        return
    name = getattr(kernel, "__name__", type(kernel).__name__)
    twin = om.load(tmp_path / "m.onm", parts={name: kernel})
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("given", [None, 5, functools.partial(products)], ids=["None", "5", "partial"])
def test_parts_that_are_no_functions_are_refused(given: Any, tmp_path: Any) -> None:
    written(products, tmp_path)
    assert "products" in refused(tmp_path, {"products": given})


def test_a_function_is_recognised_wherever_its_objects_lie() -> None:
    """scikit-learn's rbf_kernel, a likely kernel; the same file imported again stands for another process."""
    spec = importlib.util.spec_from_file_location("sklearn.metrics._once_more", pairwise.__file__)
    assert spec is not None and spec.loader is not None
    once_more = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(once_more)
    assert source_mark(once_more.rbf_kernel) == source_mark(pairwise.rbf_kernel)


def test_many_precomputed_kernels(tmp_path: Any) -> None:
    cube = np.stack([TABLE, TABLE**4])
    model = om.OM2(kernels="precomputed", max_iter=2, tol=None, random_state=1).fit(cube, Y)
    om.save(model, tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm")
    np.testing.assert_array_equal(twin.decision_function(cube), model.decision_function(cube))
    np.testing.assert_array_equal(twin.kernel_weights_, model.kernel_weights_)


def test_views_of_slices_can_be_saved(tmp_path: Any) -> None:
    model = om.OM2(kernels=["rbf", "linear"], views=[slice(0, 1), slice(1, 3)], classes=(0, 1)).partial_fit(
        X, Y
    )
    om.save(model, tmp_path / "m.onm")
    np.testing.assert_array_equal(
        om.load(tmp_path / "m.onm").decision_function(X), model.decision_function(X)
    )


def changed(path: Any, change: Any) -> None:
    """The file with other content, and a digest that fits it."""
    written(om.kernels.rbf(1.0) + om.kernels.linear(), path)
    facts, arrays = saved.read(path / "m.onm")
    change(facts, arrays)
    saved.write(path / "m.onm", facts, arrays)


def set_kernel(**entry: Any) -> Any:
    return lambda facts, arrays: facts["parameters"]["kernel"].update(entry)


@pytest.mark.parametrize(
    "change",
    [set_kernel(kernel="Quantum"), set_kernel(parts=[]), set_kernel(kernel="Scaled", parts=[5])],
    ids=["a foreign name", "parts that are missing", "parts that do not fit"],
)
def test_a_foreign_kernel_is_refused_in_one_line(change: Any, tmp_path: Any) -> None:
    changed(tmp_path, change)
    assert "m.onm" in refused(tmp_path)


def test_a_foreign_kernel_name_is_refused_in_one_line(tmp_path: Any) -> None:
    changed(tmp_path, lambda facts, arrays: facts["parameters"].update(kernel="quantum"))
    assert "kernel='quantum'" in refused(tmp_path)


@pytest.mark.parametrize("name", ["kept.raw", "kept.ids", "coefficients", "ledger"])
def test_a_file_without_one_of_its_arrays_is_refused(name: str, tmp_path: Any) -> None:
    changed(tmp_path, lambda facts, arrays: arrays.pop(name))
    refused(tmp_path)


@pytest.mark.parametrize("name", ["kept.raw", "coefficients", "ledger"])
def test_arrays_that_do_not_fit_each_other_are_refused(name: str, tmp_path: Any) -> None:
    changed(tmp_path, lambda facts, arrays: arrays.update({name: arrays[name][:1]}))
    refused(tmp_path)


def test_every_bit_counts(tmp_path: Any) -> None:
    written("rbf", tmp_path)
    whole = (tmp_path / "m.onm").read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    for at in [*range(start, len(whole), 97), len(whole) - 1]:
        damaged = bytearray(whole)
        damaged[at] ^= 16
        (tmp_path / "m.onm").write_bytes(bytes(damaged))
        with pytest.raises(BadFile) as caught:
            om.load(tmp_path / "m.onm")
        assert "\n" not in str(caught.value)
    for cut in (0, 7, start, len(whole) - 1):
        (tmp_path / "m.onm").write_bytes(whole[:cut])
        assert "damaged, cut off, or foreign" in refused(tmp_path)
