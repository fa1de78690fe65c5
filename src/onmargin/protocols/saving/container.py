"""The `.onm` file: safetensors with JSON metadata, and a digest over both.

Values keep their type: text, whole numbers, fractions, bools, None, NumPy scalars and arrays,
tuples, lists, dicts. Nothing else is taken, and reading runs no code.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import BadFile, BadInput, NoFile, extra, shown
from .drafts import replace_file

FORMAT = 1
MOST_TEXT = 2**24  # bytes that a table of text may take ...
MOST_TIMES = 256  # ... beyond so many times the characters it has


def write(path: str | os.PathLike[str], facts: dict[str, object], arrays: dict[str, np.ndarray]) -> None:
    """Write facts and arrays; the file is there whole, or as it was before."""
    save = _safetensors().save
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    try:
        text = json.dumps(encode(facts), sort_keys=True)
    except RecursionError:
        raise BadInput("a label, a name or a parameter is nested too deeply to be saved") from None
    metadata = {"onmargin": text, "format": str(FORMAT), "digest": _digest(text, arrays)}
    replace_file(path, _settled(save(arrays, metadata=metadata)))


def _settled(data: bytes) -> bytes:
    """The same file with its words of metadata in order: safetensors shuffles them."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[end:]


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Facts and arrays of a file; refused in one line where it is not whole and ours."""
    safetensors = _safetensors()
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise NoFile(f"{path} does not exist; wanted a model written by om.save") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read ({error.strerror}); wanted a model file") from None
    try:
        length = int.from_bytes(data[:8], "little")
        metadata = json.loads(data[8 : 8 + length]).get("__metadata__") or {}
        arrays = safetensors.load(data)
    except Exception:
        raise BadFile(f"{path} is not a whole safetensors file; it is damaged, cut off, or foreign") from None
    if "onmargin" not in metadata:
        raise BadFile(f"{path} is a safetensors file, but not a model written by om.save")
    if metadata.get("format") != str(FORMAT):
        raise BadFile(
            f"{path} has format {metadata.get('format')}; this version reads {FORMAT}; update onmargin"
        )
    text = metadata["onmargin"]
    if metadata.get("digest") != _digest(text, arrays):
        raise BadFile(f"{path} is damaged: its content does not match its digest; use another copy")
    try:
        facts = decode(json.loads(text))
    except Exception as error:  # BadFile, or whatever a text that is not ours makes of it
        reason = " ".join(str(error).split())[:200]
        raise BadFile(f"{path} holds a value that cannot be read ({reason}); use another copy") from None
    if not isinstance(facts, dict):
        raise BadFile(f"{path} holds no facts of a model; use another copy")
    return facts, arrays


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise extra("safetensors", "save") from None
    return safetensors.numpy


def _digest(text: str, arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def encode(value: Any) -> Any:
    """A value as JSON that remembers its type."""
    if value is None or isinstance(value, bool | str) and type(value) in (bool, str):
        return value
    if type(value) is int:
        return {"int": str(value)}
    if type(value) is float:
        return {"float": value.hex()}
    if isinstance(value, np.generic) and _is_plain(value.dtype):
        return {"numpy": value.dtype.str, "value": encode(value.item())}
    if isinstance(value, np.str_):
        return {"numpy": "U", "value": "".join(value)}  # str() drops NULs at the end
    if isinstance(value, np.datetime64 | np.timedelta64 | np.ndarray) and value.dtype.kind in "mM":
        counts = [str(number) for number in value.astype(np.int64).ravel().tolist()]
        return {"dates": value.dtype.str, "shape": list(value.shape), "counts": counts}
    if isinstance(value, np.ndarray) and (_is_plain(value.dtype) or value.dtype.kind in "UO"):
        return {"array": value.dtype.str, "shape": list(value.shape), "items": encode(value.ravel().tolist())}
    if isinstance(value, range):
        value = tuple(value)
    if type(value) in (tuple, list):
        return {type(value).__name__: [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return {"generator": type(value).__name__, "state": encode(_generator_state(value))}
    raise BadInput(
        f"{shown(value)} ({type(value).__name__}) cannot be saved; wanted text, numbers, bools, None, or "
        "tuples, lists, dicts and arrays of them"
    )


def decode(value: Any) -> Any:
    """The value that `encode` was given."""
    if not isinstance(value, dict):
        return value
    match value:
        case {"int": text}:
            return int(text)
        case {"float": text}:
            return float.fromhex(text)
        case {"numpy": "U", "value": text}:
            return np.str_(text)
        case {"numpy": kind, "value": item}:
            return _dtype(kind).type(decode(item))
        case {"dates": kind, "shape": shape, "counts": counts}:
            return _dates(kind, shape, counts)
        case {"array": kind, "shape": shape, "items": items}:
            return _array(kind, shape, decode(items))
        case {"tuple": items}:
            return tuple(decode(item) for item in items)
        case {"list": items}:
            return [decode(item) for item in items]
        case {"dict": pairs}:
            return {decode(key): decode(item) for key, item in pairs}
        case {"generator": kind, "state": state}:
            return _generator_from(kind, decode(state))
    raise BadFile("the file holds a value of an unknown kind; it is from a later version")


def _is_plain(dtype: np.dtype) -> bool:
    """Is it a type of bools or numbers whose items are Python's? (A long double's is itself.)"""
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def _dtype(kind: str) -> np.dtype:
    """A type of bools and numbers, by its name in a file."""
    dtype = np.dtype(kind) if isinstance(kind, str) else np.dtype("V")
    if not _is_plain(dtype):
        raise BadFile("the file holds a number of an unknown type")
    return dtype


def _dates(kind: str, shape: list[int], counts: list[str]) -> Any:
    """A date or a span of time, or an array of such, by what is counted since 1970."""
    if not isinstance(kind, str) or np.dtype(kind).kind not in "mM":
        raise BadFile("the file holds a date of an unknown type")
    return np.array([int(number) for number in counts], np.int64).view(kind).reshape(shape)[()]


def _array(kind: str, shape: list[int], items: list[Any]) -> np.ndarray:
    """An array as it was; one of text takes no more memory than what it says, many times over."""
    if kind == "|O":
        array = np.empty(len(items), object)
        array[:] = items
        return array.reshape(shape)
    if not kind.startswith(("<U", ">U")):
        return np.array(items, _dtype(kind)).reshape(shape)
    size, said = len(items) * np.dtype(kind).itemsize, sum(map(len, items))
    if size > MOST_TEXT and size > MOST_TIMES * said:
        raise BadFile("the file holds a table of text that is nearly empty")
    return np.array(items, kind).reshape(shape)


def _generator_state(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state(legacy=False)


def _generator_from(kind: str, state: dict[str, Any]) -> Any:
    for name, most in (("pos", 624), ("buffer_pos", 4)):  # places that NumPy does not check
        for inner in (state, state.get("state", {})):
            if name in inner and not (type(inner[name]) is int and 0 <= inner[name] <= most):
                raise BadFile("the file holds a random generator out of its range")
    if kind == "RandomState":
        legacy = np.random.RandomState()
        legacy.set_state(state)
        return legacy
    if state.get("bit_generator") not in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"):
        raise BadFile("the file names an unknown random generator")
    bits = getattr(np.random, state["bit_generator"])()
    bits.state = state
    return np.random.Generator(bits)
