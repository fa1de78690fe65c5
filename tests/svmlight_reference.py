"""A slow reader of svmlight text in plain Python: what the compiled one must say, line by line."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
BLANKS = b" \t\x0b\x0c\r"


class Example(NamedTuple):
    labels: tuple[float, ...]
    group: int | None
    entries: dict[int, float]
    right: bool  # or wrong as a whole, though all its words are right


class Wrong(Exception):
    """A line that is none."""


def number(word: bytes) -> float:
    if not NUMBER.fullmatch(word):
        raise Wrong(word)
    value = float(word)
    digits = sum(48 <= byte < 58 for byte in re.split(b"[eE]", word)[0])
    if math.isinf(value) and digits <= 19:  # (longer ones are looked at when the whole line is read)
        raise Wrong(word)
    return value


def example(line: bytes, multilabel: bool = False, lowest: int = 1) -> Example | None:
    """An example, None for an empty line, or Wrong."""
    words = line.split(b"#", 1)[0].split()
    if not words:
        return None
    labels: list[float] = []
    if not (multilabel and b":" in words[0]):
        found = words.pop(0).split(b",")
        if len(found) > 1 and not multilabel:
            raise Wrong(found)
        labels = [number(word) for word in found]
    group = None
    if words and words[0].startswith(b"qid:"):
        digits = words.pop(0)[4:]
        if not re.fullmatch(rb"-?\d{1,18}", digits):
            raise Wrong(digits)
        group = int(digits)
    entries: dict[int, float] = {}
    twice = False
    for word in words:
        index, colon, value = word.partition(b":")
        if not colon or not re.fullmatch(rb"\d+", index) or int(index) > 2**31 - 2 or int(index) < lowest:
            raise Wrong(word)
        twice = twice or int(index) in entries
        entries[int(index)] = number(value)
    right = not twice and not any(map(math.isinf, [*labels, *entries.values()]))
    return Example(tuple(sorted(labels)), group, dict(sorted(entries.items())), right)


def examples(text: bytes, multilabel: bool = False, lowest: int = 1) -> tuple[list[Example], int]:
    """All examples, and how many lines are wrong; lines with and without a group do not mix."""
    found, wrong = [], 0
    grouped: bool | None = None
    for line in text.split(b"\n"):
        try:
            one = example(line, multilabel, lowest)
        except Wrong:
            wrong += 1
            continue
        if one is None:
            continue
        if grouped is not None and grouped != (one.group is not None):
            wrong += 1
            continue
        grouped = one.group is not None
        wrong += not one.right
        if one.right:
            found.append(one)
    return found, wrong
