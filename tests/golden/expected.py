"""What is stored beside the files: written by the generator, read by the test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import load

from .families import Stream

HERE = Path(__file__).parent
FILES, STORED = HERE / "files", HERE / "expected.npz"


class Expected(NamedTuple):
    """The stream; of every family its arrays, facts, and answers after all of the stream."""

    stream: Stream
    arrays: dict[str, dict[str, np.ndarray]]
    facts: dict[str, dict[str, str]]
    answers: dict[str, dict[str, np.ndarray]]


def file_of(name: str) -> Path:
    """The learner of a family."""
    return FILES / f"{name}.onm"


def arrays_in(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file, past om.load: by safetensors alone."""
    found: dict[str, np.ndarray] = load(path.read_bytes())
    return found


def write(given: Expected) -> None:
    """All in one file; numbers lie end to end, as entries of an archive are dear."""
    shelf, layout = _Shelf(), {}
    for title, value in (
        ("stream", given.stream._asdict()),
        ("arrays", given.arrays),
        ("answers", given.answers),
    ):
        layout[title] = shelf.put(value)
    text = json.dumps({"layout": layout, "facts": given.facts}, sort_keys=True, ensure_ascii=False)
    np.savez_compressed(STORED, bytes=shelf.all(), text=np.frombuffer(text.encode(), np.uint8))


def read() -> Expected:
    """What the generator wrote."""
    with np.load(STORED, allow_pickle=False) as file:
        whole, text = file["bytes"], json.loads(file["text"].tobytes().decode())
    found = {title: _taken(value, whole) for title, value in text["layout"].items()}
    return Expected(Stream(**found["stream"]), found["arrays"], text["facts"], found["answers"])


class _Shelf:
    """Arrays end to end, and where each lies."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 0

    def put(self, value: Any) -> Any:
        """(dtype, shape, first byte, past the last) of an array; of a dict, of all it holds."""
        if isinstance(value, dict):
            return {name: self.put(value[name]) for name in sorted(value)}
        array = np.ascontiguousarray(value)
        self.parts.append(array.tobytes())
        self.length += array.nbytes
        return [array.dtype.str, list(np.shape(value)), self.length - array.nbytes, self.length]

    def all(self) -> np.ndarray:
        """Everything that was put there."""
        return np.frombuffer(b"".join(self.parts), np.uint8)


def _taken(place: Any, whole: np.ndarray) -> Any:
    if isinstance(place, dict):
        return {name: _taken(inner, whole) for name, inner in place.items()}
    kind, shape, first, last = place
    return np.frombuffer(whole[first:last].tobytes(), kind).reshape(shape)
