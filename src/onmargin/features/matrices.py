"""SciPy's matrices, checked before anybody reads them: what is malformed leads beyond its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compiled.checks import is_canonical
from ..compiled.threads import in_threads
from ..errors import BadInput

READS = 4  # indices looked at in the time of a multiplication
UNSIGNED = {4: np.uint32, 8: np.uint64}
NATIVE = (np.dtype(np.int32), np.dtype(np.int64))
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def read_only(array: np.ndarray) -> np.ndarray:
    """A view that compiled code cannot write to; one type for writable and mapped input."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def canonical(X: Any) -> Any:
    """A matrix of any format as CSR whose rows are in order, each index there once, nothing stored in vain.

    Itself where it is so already (one sweep over its indices tells), or is no matrix of SciPy's. Neither
    SciPy nor a loop may read one that has not been here: it could make them read and write anywhere.
    The caller's is never changed.
    """
    if not sp.issparse(X):
        return X
    if X.ndim != 2:
        raise BadInput(f"got a sparse array of {X.ndim} dimensions; wanted 2, rows and columns")
    if X.format != "csr":
        X = _to_csr(X)
    data, indices, starts = _parts(X, X.shape[0])
    if X.data.ndim != 1:
        raise _malformed(X, f"its data has {X.data.ndim} dimensions")
    if not _in_order(indices, starts, X.shape[1]):
        _refuse_flaws(X, indices, starts, X.shape[1])
        data = data if data.dtype in FLOATS or data.dtype.kind == "c" else data.astype(np.float64)
        copy = _made(X, data, indices, starts, copy=True)
        copy.sum_duplicates()
        return copy
    used = int(starts[-1])
    if used == len(data) and data is X.data and indices is X.indices and starts is X.indptr:
        return X
    return _made(X, data[:used], indices[:used], starts)


def _made(X: Any, data: np.ndarray, indices: np.ndarray, starts: np.ndarray, copy: bool = False) -> Any:
    kind = sp.csr_array if isinstance(X, sp.sparray) else sp.csr_matrix
    return kind((data, indices, starts), shape=X.shape, copy=copy)


def _in_order(indices: np.ndarray, starts: np.ndarray, columns: int) -> bool:
    """Bounds in order, indices within them and rising: nothing is wrong, and nothing is to be done."""
    columns = min(columns, np.iinfo(indices.dtype).max)
    unsigned = read_only(indices.view(UNSIGNED[indices.itemsize]))  # (what is below 0 is beyond all columns)
    bounds, most, rows = read_only(starts), unsigned.dtype.type(columns), len(starts) - 1
    if starts[0] != 0:
        return False

    def share(first: int, stop: int) -> int:
        return (stop - first) * bool(is_canonical(unsigned, bounds, most, first, stop))

    return in_threads(share, rows, len(indices) // READS) == rows


def _parts(X: Any, lines: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data, indices and bounds of so many compressed lines, contiguous, the integers of one type."""
    data, indices, starts = X.data, X.indices, X.indptr
    for name, array in (("indices", indices), ("indptr", starts)):
        _require_integers(X, name, array)
    if len(starts) != lines + 1 or len(data) != len(indices):
        raise _malformed(
            X, f"{len(starts)} bounds for {lines} lines, {len(indices)} indices for {len(data)} values"
        )
    if indices.dtype != starts.dtype or indices.dtype not in NATIVE:
        indices, starts = indices.astype(np.int64), starts.astype(np.int64)
    data, indices, starts = (_packed(array) for array in (data, indices, starts))
    return data, indices, starts


def _packed(array: np.ndarray) -> np.ndarray:
    """The same, contiguous and aligned."""
    plain = array.flags.c_contiguous and array.flags.aligned
    return array if plain else np.require(array, requirements=["C", "A"])


def _require_integers(X: Any, name: str, array: Any) -> None:
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
        shown = f"{getattr(array, 'ndim', 0)}-dimensional {getattr(array, 'dtype', type(array).__name__)}"
        raise _malformed(X, f"its {name} is {shown}, wanted integers in a line")


def _refuse_flaws(X: Any, indices: np.ndarray, starts: np.ndarray, width: int) -> None:
    """Bounds that fall or lead beyond the entries, indices that lead beyond `width`."""
    falls = starts[1:] < starts[:-1]
    if starts[0] != 0:
        raise _malformed(X, f"indptr begins with {starts[0]}, not 0")
    if falls.any():
        raise _malformed(X, f"indptr falls at {int(np.argmax(falls)) + 1}")
    if starts[-1] > len(indices):
        raise _malformed(X, f"indptr ends with {starts[-1]} for {len(indices)} entries")
    _refuse_outside(X, "an index", indices[: starts[-1]], width)


def _refuse_outside(X: Any, what: str, numbers: np.ndarray, width: int) -> None:
    if numbers.size and (numbers.min() < 0 or numbers.max() >= width):
        worst = numbers.min() if numbers.min() < 0 else numbers.max()
        raise _malformed(X, f"{what} is {worst}, wanted 0 to {width - 1}")


def _malformed(X: Any, flaw: str) -> BadInput:
    return BadInput(f"the {X.format.upper()} matrix is malformed ({flaw}); build it anew")


# ---- other formats


def _to_csr(X: Any) -> object:
    """Another format as CSR, once it is known to lie within its arrays."""
    if X.format in ("csc", "bsr"):
        _check_compressed(X)
    elif X.format == "lil":
        lengths = [list(map(len, lists)) for lists in (X.rows, X.data)]
        if lengths[0] != lengths[1] or len(X.rows) != X.shape[0]:
            raise _malformed(X, "its lists have other lengths than its rows")
    else:
        if X.format == "dia" and (X.data.ndim != 2 or X.offsets.shape != X.data.shape[:1]):
            raise _malformed(X, f"{X.offsets.size} offsets for data of shape {X.data.shape}")
        X = X.tocoo()
        for name, width in (("row", X.shape[0]), ("col", X.shape[1])):
            numbers = getattr(X, name)
            _require_integers(X, name, numbers)
            if X.data.shape != numbers.shape:
                raise _malformed(X, f"{numbers.size} of {name} for data of shape {X.data.shape}")
            _refuse_outside(X, f"a {name}", numbers, width)
    return X.tocsr()


def _check_compressed(X: Any) -> None:
    """Compressed columns, or blocks."""
    tall, wide = X.data.shape[1:] if X.format == "bsr" and X.data.ndim == 3 else (1, 1)
    if X.data.ndim != (3 if X.format == "bsr" else 1) or not tall or not wide:
        raise _malformed(X, f"its data has shape {X.data.shape}")
    lines, width = X.shape[0] // tall, X.shape[1] // wide
    if (lines * tall, width * wide) != X.shape:
        raise _malformed(X, f"blocks of {tall} x {wide} do not fill {X.shape[0]} x {X.shape[1]}")
    lines, width = (lines, width) if X.format == "bsr" else (width, lines)
    _, indices, starts = _parts(X, lines)
    _refuse_flaws(X, indices, starts, width)
