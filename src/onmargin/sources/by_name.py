"""A source by what it is called: a path, an address, or a format and its options."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from inspect import signature
from typing import Protocol, cast

from ..errors import BadInput, BadType, shown
from .blocks import Source
from .reading.opening import Chunks, Paths, every_file

ENDINGS = {
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".vw": "vw",
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".pq": "parquet", ".txt": "text",
}  # fmt: skip
PACKED = (".gz", ".xz", ".bz2", ".zst")
LINES = ("csv", "jsonl", "svmlight", "text", "vw")  # formats of lines: files, pipes, and what arrives
FORMATS = (*LINES, "parquet")
ADDRESSES = ("tcp", "redis", "rediss", "unix", "nats", "tls")


class Streams(Protocol):
    """A format's module."""

    def stream(self, paths: Paths | Chunks, **options: object) -> Source:
        """Blocks."""
        ...


def module_of(format: str) -> Streams:
    """The module of a format."""
    if format not in FORMATS:
        raise BadInput(f"format={shown(format)}; wanted one of {', '.join(FORMATS)}")
    return cast("Streams", import_module(f".{format}", __package__))


def streamed(chunks: Paths | Chunks, format: str, options: dict[str, object]) -> Source:
    """What a format makes of paths or chunks; an option that it has not is refused."""
    module = module_of(format)
    known = [name for name in signature(module.stream).parameters if name != "paths"]
    for name in options:
        if name not in known:
            raise BadInput(f"{format} has no option {shown(name)}; it has {', '.join(known)}")
    return module.stream(chunks, **options)


def arriving(chunks: Chunks, format: str, options: dict[str, object]) -> Source:
    """Lines that arrive, in a format of lines."""
    if format not in LINES:
        raise BadInput(f"format={shown(format)}; what arrives is lines: wanted one of {', '.join(LINES)}")
    return streamed(chunks, format, options)


def format_of(path: object) -> str:
    """The format of a path by its ending, what it is packed with left aside; a folder's by its first file."""
    if not isinstance(path, str | os.PathLike):
        raise BadInput(f"the format of {shown(path)} is not known by its name; give format=")
    text = os.fspath(path)
    if os.path.isdir(text):
        inside = sorted(each for each in os.listdir(text) if not each.startswith("."))
        if inside:
            return format_of(os.path.join(text, inside[0]))
    stem = text
    for packed in PACKED:
        stem = stem.removesuffix(packed)
    ending = os.path.splitext(stem)[1].lower()
    if ending not in ENDINGS:
        if "://" not in text:
            every_file(text)  # (a path that was mistyped has no format either)
        raise BadInput(
            f"the format of {shown(text, 100)} is not known by its ending; known are {', '.join(ENDINGS)}; "
            f"give format= (--format) one of {', '.join(FORMATS)}"
        )
    return ENDINGS[ending]


def open_source(data: Paths, format: str | None = None, *, follow: bool = False, **options: object) -> Source:
    """A source of blocks for any of: a path, a glob, a folder, "-", a list of them; an address.

    format : csv, jsonl, parquet, svmlight, text or vw; None: by the ending, .gz, .xz, .bz2 and .zst aside.
    follow : go on reading what is written to the file (`om.sources.live.follow`).
    options : those of the format's `stream`, such as `rows`, `target`, `bits`, `on_error`.
    Addresses: tcp://host:port (lines from a socket), redis://host:port/0?stream=NAME,
        nats://host:port?subject=NAME; they need `format`.

    >>> import onmargin as om, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ham.txt"
    >>> _ = path.write_text("ham\\tsee you at noon\\nspam\\tcheap pills\\n")
    >>> [block.targets.tolist() for block in om.sources.open_source(path)]
    [['ham', 'spam']]
    """
    first = data[0] if isinstance(data, Sequence) and not isinstance(data, str) and len(data) else data
    if isinstance(data, str) and data.partition("://")[0] in ADDRESSES and "://" in data:
        if format is None:
            raise BadInput(
                f"the format of {shown(data, 100)} is not known; give format= (--format) one of "
                f"{', '.join(LINES)}"
            )
        return _addressed(data, format, options)
    format = format_of(first) if format is None else format
    if not follow:
        return streamed(data, format, options)
    if not isinstance(data, str | os.PathLike):
        raise BadType(f"cannot follow {shown(data)}; wanted one path")
    return _called("live", "follow", data, format, **options)


def _addressed(address: str, format: str, options: dict[str, object]) -> Source:
    from urllib.parse import parse_qs, urlsplit, urlunsplit

    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise BadInput(f"the address {shown(address, 100)}: {error}; wanted scheme://host:port") from None
    asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
    plain = urlunsplit(parts._replace(query=""))
    if parts.scheme == "tcp":
        return _called("live", "connect", parts.netloc, format, **options)
    if parts.scheme in ("nats", "tls"):
        return _called("nats_subject", "stream", plain, _asked(asked, "subject", address), format, **options)
    return _called("redis_stream", "stream", plain, _asked(asked, "stream", address), format, **options)


def _called(module: str, function: str, *given: object, **options: object) -> Source:
    """A source of a module that is loaded only now."""
    made: Source = getattr(import_module(f".{module}", __package__), function)(*given, **options)
    return made


def _asked(asked: dict[str, str], name: str, address: str) -> str:
    if name not in asked:
        raise BadInput(f"{shown(address, 100)} names no {name}; wanted ...?{name}=NAME at the end")
    return asked[name]
