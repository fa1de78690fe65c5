"""JSON lines: an object a line, with a text in it or a table's row of fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from ..errors import BadInput, shown
from ..features.texts import Texts
from .blocks import ROWS, Block, Features, Rows, Source
from .default_features import default_features, read_whole
from .reading.columns import USUAL, Roles, texts_of
from .reading.line_format import LineFormat, Refusals
from .reading.opening import Chunk, Chunks, Paths
from .reading.target_words import EXACT, TargetWords
from .text import is_utf8

NEWLINE = 10
SAMPLE = 1000  # lines that tell which fields are numbers
HALF = re.compile(rb"\\u[dD][89a-fA-F]")  # the escape of half a character: two of them make one
MOST_LEVELS = 20  # objects within objects


class JSONLines:
    """Reads lines of objects; fields of objects within them are called "outer.inner".

    With `text` the rows are texts, read by pyarrow where it is installed and every line is as the first; else
    rows are dicts of numbers and texts, without the fields in `drop`.
    """

    def __init__(self, roles: Roles, drop: Sequence[str] = ()) -> None:
        self.drop, self.kinds = tuple(drop), FieldKinds()
        for name in (roles.target, roles.weight, roles.group, roles.id, roles.text):
            if name is not None and not isinstance(name, str):
                raise BadInput(f"the field {shown(name)}; wanted fields of JSON by name")
        self.roles, self.target = roles, roles.target
        self.key = f"jsonl {roles!r} {self.drop}"
        self.words = TargetWords(roles.labels)
        self._quick = _Quick(roles, self.words) if roles.text is not None and _has_arrow() else None

    @property
    def settled(self) -> bool:
        """Is it known what the fields and the targets are?"""
        targets = self.target is None or self.target != "auto" and self.words.settled
        return targets and (self.roles.text is not None or bool(self.kinds.known))

    def blocks(self, chunks: Iterable[Chunk], refuse: Refusals) -> Iterator[Block]:
        """A block a chunk."""
        for chunk in chunks:
            block = self._quick.block(chunk, self.target) if self._quick is not None else None
            yield self._block(chunk, refuse) if block is None else block

    def _block(self, chunk: Chunk, refuse: Refusals) -> Block:
        found: dict[str, list[object]] = {name: [] for name in ("rows", "target", "weight", "group", "id")}
        starts, start = [], 0
        lines = chunk.text.tobytes().split(b"\n")[:-1]
        if self.roles.text is None and not self.kinds.known:
            self.kinds.learn(lines)
        for line in lines:
            if line.strip():
                try:
                    record = _object(line)
                    self._find_target(record)
                    for name, value in self._parts(record).items():
                        found[name].append(value)
                    starts.append((start, len(line)))
                except _Flaw as flaw:
                    refuse(chunk, start + flaw.at, max(1, len(line) - flaw.at), flaw.wanted)
            start += len(line) + 1
        return self._made(chunk, refuse, found, starts)

    def _find_target(self, record: Mapping[str, object]) -> None:
        """The field of targets, by the first line."""
        if self.target == "auto":
            self.target = next((name for name in USUAL if name in record), None)
            if self.target is None:
                self.target = "auto"
                raise _Flaw(
                    0, f"a field called {', '.join(USUAL)}; else name the target (None: there is none)"
                )

    def _parts(self, record: dict[str, object]) -> dict[str, object]:
        """What a record gives, by role; its features are what no other role takes."""
        parts: dict[str, object] = {}
        if self.target is not None:
            value = record.pop(str(self.target), None)
            if value is None or isinstance(value, list):
                raise _Flaw(0, f"a label or number in {shown(self.target)}")
            if not isinstance(value, str):
                number = _number(value, str(self.target))
                value = str(value) if isinstance(value, int) and not isinstance(value, bool) else repr(number)
            parts["target"] = value
        for role, name in (("weight", self.roles.weight), ("group", self.roles.group), ("id", self.roles.id)):
            if name is not None:
                value = record.pop(str(name), None)
                if value is None or isinstance(value, list):
                    raise _Flaw(0, f"a value in {shown(name)}")
                parts[role] = value
        if self.roles.weight is not None:
            weight = _number(parts["weight"], str(self.roles.weight))
            parts["weight"] = weight
            if weight < 0:
                raise _Flaw(0, f"a weight of at least 0 in {shown(self.roles.weight)}")
        if self.roles.text is None:
            for name in self.drop:
                record.pop(name, None)
            self.kinds.check(record)
            parts["rows"] = record
        else:
            text = record.get(str(self.roles.text))
            if not isinstance(text, str):
                raise _Flaw(0, f"a text in {shown(self.roles.text)}")
            parts["rows"] = text
        return parts

    def _made(
        self, chunk: Chunk, refuse: Refusals, found: dict[str, list[object]], starts: list[tuple[int, int]]
    ) -> Block:
        good = np.ones(len(starts), bool)
        targets = None
        if self.target is not None:
            targets, wrong = self.words.made([str(word) for word in found["target"]])
            for row in np.flatnonzero(wrong).tolist():
                refuse(chunk, *starts[row], f"{self.words.wanted} in {shown(self.target)}")
            good, targets = ~wrong, targets[~wrong]
        kept = [row for row, keep in zip(found["rows"], good.tolist(), strict=True) if keep]
        rows: Rows = Texts.of([str(text) for text in kept]) if self.roles.text is not None else kept
        weights = np.array(found["weight"], np.float64)[good] if self.roles.weight is not None else None
        groups, ids = (
            _plain(found[name])[good] if given is not None else None
            for name, given in (("group", self.roles.group), ("id", self.roles.id))
        )
        return Block(rows, targets, weights, groups, ids)


class FieldKinds:
    """Which fields are numbers: nine of ten values of the first lines are; then the others are mistakes."""

    def __init__(self) -> None:
        self.known: dict[str, bool] = {}

    def learn(self, lines: list[bytes]) -> None:
        """Of the first lines that can be read."""
        counts: dict[str, list[int]] = {}
        for line in islice(filter(bytes.strip, lines), SAMPLE):
            try:
                record = _object(line)
            except _Flaw:
                continue
            for name, value in record.items():
                if value is not None:
                    seen = counts.setdefault(name, [0, 0])
                    seen[_is_number(value)] += 1
        self.known = {name: numbers >= 9 * others for name, (others, numbers) in counts.items()}

    def check(self, record: Mapping[str, object]) -> None:
        """Refuse what is no number in a field of numbers, and what is neither number nor text."""
        for name, value in record.items():
            if self.known.get(name) and value is not None:
                if not _is_number(value):
                    raise _Flaw(
                        0, f"a number in {shown(name)}, as on the lines before (drop=[{name!r}]: left out)"
                    )
            elif not isinstance(value, str | int | float | None):
                raise _Flaw(0, f"a number or a text in {shown(name)} (drop=[{name!r}]: left out)")
            if isinstance(value, int | float):
                _number(value, name)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class _Flaw(Exception):
    """What is wrong with a line: where (a byte of it), and what was wanted."""

    def __init__(self, at: int, wanted: str) -> None:
        self.at, self.wanted = at, wanted


def _object(line: bytes) -> dict[str, object]:
    """The fields of a line; those of objects within it as "outer.inner"."""
    text = ""
    try:
        text = line.decode()
        found = json.loads(text, parse_constant=float)  # (NaN is refused where it matters)
        halved = HALF.search(line)
        halves = halved is not None and _has_halves(found)
    except UnicodeDecodeError as error:
        raise _Flaw(error.start, "UTF-8") from None
    except json.JSONDecodeError as error:
        at = len(text[: error.pos].encode())
        raise _Flaw(
            min(at, max(0, len(line.rstrip()) - 1)), f"JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        ) from None
    except (RecursionError, ValueError):  # (too deep; a whole number of thousands of digits)
        raise _Flaw(0, "JSON that is not too deep, with finite numbers") from None
    if not isinstance(found, dict):
        raise _Flaw(0, "an object: {...}")
    if halved is not None and halves:
        raise _Flaw(halved.start(), "whole characters, not halves of them")
    if not any(isinstance(value, dict) for value in found.values()):
        return found
    flat: dict[str, object] = {}
    _flatten(found, "", flat, 0)
    return flat


def _has_halves(value: object) -> bool:
    """Half of a character anywhere? (Only an escape can write one.)"""
    if isinstance(value, str):
        return not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, dict):
        return any(_has_halves(name) or _has_halves(inner) for name, inner in value.items())
    return isinstance(value, list) and any(map(_has_halves, value))


def _flatten(found: Mapping[str, object], before: str, into: dict[str, object], level: int) -> None:
    if level > MOST_LEVELS:
        raise _Flaw(0, f"at most {MOST_LEVELS} objects within each other")
    for name, value in found.items():
        if isinstance(value, dict):
            _flatten(value, f"{before}{name}.", into, level + 1)
        else:
            into[before + name] = value


def _number(value: object, name: str) -> float:
    """A finite number, or true and false as 1 and 0."""
    try:
        number = float(value) if isinstance(value, int | float) else float("nan")
    except OverflowError:
        number = float("inf")
    if not abs(number) < float("inf"):
        raise _Flaw(0, f"a finite number in {shown(name)}")
    return number


def _plain(values: list[object]) -> np.ndarray:
    """Numbers as numbers, else as they are."""
    if values and all(isinstance(value, int) and abs(value) < 2**62 for value in values):
        return np.array(values, np.int64)
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _has_arrow() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


class _Quick:
    """Texts and targets of a chunk by pyarrow; None where a line is not as wanted: then Python reads all."""

    def __init__(self, roles: Roles, words: TargetWords) -> None:
        self.roles, self.words = roles, words
        self.fits = roles.weight is None and roles.group is None and roles.id is None

    def block(self, chunk: Chunk, target: object) -> Block | None:
        """The texts lie in pyarrow's buffer."""
        text = self.roles.text
        if not self.fits or target == "auto" or not isinstance(target, str | None) or not is_utf8(chunk.text):
            return None
        import pyarrow as pa
        import pyarrow.json as pajson

        fields = [(str(text), pa.string())]
        if target is not None:
            if self.words.kind == "auto":
                return None  # the first chunk says what targets are
            fields.append((target, pa.string() if self.words.kind == "text" else pa.float64()))
        lines = chunk.text
        options = pajson.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore")
        try:
            table = pajson.read_json(
                pa.BufferReader(pa.py_buffer(lines)), pajson.ReadOptions(False, len(lines) + 1), options
            )
        except pa.ArrowInvalid:
            return None
        if table.num_rows != _filled_lines(lines) or table[str(text)].null_count:
            return None
        rows = texts_of(table[str(text)], str(text))
        if target is None:
            return Block(rows, None)
        if table[target].null_count:
            return None
        if self.words.kind == "number":
            numbers = table[target].to_numpy()
            return Block(rows, numbers) if (np.abs(numbers) < EXACT).all() else None
        targets, wrong = self.words.made(table[target].to_pylist())
        return None if wrong.any() else Block(rows, targets)


def _filled_lines(text: np.ndarray) -> int:
    """Lines that are not blank."""
    ends = np.flatnonzero(text == NEWLINE)
    begins = np.r_[0, ends[:-1] + 1]
    short = np.flatnonzero(ends - begins < 80)
    blank = sum(not text[begins[at] : ends[at]].tobytes().strip() for at in short.tolist())
    return len(ends) - blank


def stream(
    paths: Paths | Chunks,
    *,
    rows: int = ROWS,
    target: str | None = "auto",
    weight: str | None = None,
    group: str | None = None,
    id: str | None = None,
    text: str | None = None,
    labels: str = "auto",
    drop: Sequence[str] = (),
    features: Features | str | None = "auto",
    on_error: str = "stop",
) -> Source:
    """Blocks of JSON lines; a folder stands for all files in it.

    target, weight, group, id, text : fields by name; with `text` that field alone is the features.
    target : "auto" is the field called label, target, y or class in the first line; None: there is none.
    labels : "text", "number", or "auto": by the first block.
    drop : fields to be left out.
    features : "auto" (`Table`; `Text` with `text`), None (dicts, texts), or anything with `transform`.
    """
    parser = JSONLines(Roles(target, weight, group, id, text, labels), drop)
    made = default_features(features, text is not None)
    return Source(LineFormat(paths, parser, on_error), rows=rows, features=made)


def read(
    paths: Paths | Chunks,
    *,
    target: str | None = "auto",
    text: str | None = None,
    labels: str = "auto",
    drop: Sequence[str] = (),
    features: Features | str | None = "auto",
    on_error: str = "stop",
) -> tuple[Rows, np.ndarray]:
    """All of it: (X, y)."""
    source = stream(
        paths, target=target, text=text, labels=labels, drop=drop, features=features, on_error=on_error
    )
    return read_whole(source)
