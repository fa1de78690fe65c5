"""Lines of svmlight text as rows: `label [qid:number] index:value ... # comment`, all checked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .decimals import BAD, BEYOND, COLON, COMMA, HASH, MINUS, NEWLINE, SLOW, SPACE, decimal
from .kept import kept, part
from .words import SIGNED, ZEROS, U, byte_at, digits_in, number_in, word_at

# Places in `state`, which the parser reads when it begins and writes when it stops.
AT = 0  # the byte to go on with
ROWS = 1  # written so far, and so are the next four
ENTRIES = 2
LABELS = 3
LATER = 4  # numbers that Python is to read
TANGLED = 5  # rows whose indices do not rise
WIDTH = 6  # one beyond the greatest index met
LOWEST = 7  # the least index met
GROUPED = 8  # do lines have a qid? one of the next line
LENGTH = 9  # of what is wrong in a line
UNKNOWN, WITH, WITHOUT = 0, 1, 2  # GROUPED: do lines have a qid?

# Why it stopped: at the end, or at what is wrong in a line (its place is in AT, its length in LENGTH).
(
    DONE,
    NO_LABEL,
    MANY_LABELS,
    NO_PAIR,
    NO_VALUE,
    TOO_LARGE,
    TOO_FAR,
    TOO_WIDE,
    TOO_LOW,
    NO_GROUP,
    NO_QID,
    SOME_QID,
) = range(12)
WANTED = {
    NO_LABEL: "a number as label",
    MANY_LABELS: "one number as label (for several: multilabel=True)",
    NO_PAIR: "index:value, with a whole number as index",
    NO_VALUE: "index:value, with a finite number as value",
    TOO_LARGE: "a number within float64",
    TOO_FAR: "an index below 2147483647",
    TOO_WIDE: "no index beyond the columns given",
    TOO_LOW: "indices from 1 on (from 0 on: zero_based=True)",
    NO_GROUP: "qid: and a whole number",
    NO_QID: "qid: after the label, as on the lines before",
    SOME_QID: "no qid:, as on the lines before",
}
LAST_INDEX = (1 << 31) - 2
QID = U(int.from_bytes(b"qid:", "little"))
NULL = U(int.from_bytes(b"NULL", "little"))


class Room(NamedTuple):
    """Where rows go. Of each: its label, group, line; of all labels and entries: where those of a row end.

    later : numbers that Python reads: entry (label: -1 - its number), first byte, stop.
    tangled : rows whose indices do not rise.
    """

    starts: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    targets: np.ndarray
    target_starts: np.ndarray
    groups: np.ndarray
    lines: np.ndarray
    later: np.ndarray
    tangled: np.ndarray


class Rules(NamedTuple):
    """What a line may hold: the lowest index, how many columns, several labels?, NULL and its value?"""

    lowest: int
    columns: int
    multilabel: bool
    nulls: bool
    null: float


@part
def is_blank(byte: int) -> bool:
    """White space, newlines too."""
    return byte == SPACE or 9 <= byte <= 13


@part
def ends(byte: int) -> bool:
    """Does a word end before this byte?"""
    return byte == SPACE or 9 <= byte <= 13 or byte == HASH


@part
def past_blanks(text: np.ndarray, at: int) -> int:
    """The next byte that is no white space, or the newline."""
    while byte_at(text, at) == SPACE or (9 <= byte_at(text, at) <= 13 and byte_at(text, at) != NEWLINE):
        at += 1
    return at


@part
def past_word(text: np.ndarray, at: int) -> int:
    """Where the word ends."""
    while not ends(byte_at(text, at)):
        at += 1
    return at


@part
def past_line(text: np.ndarray, at: int) -> int:
    """The newline."""
    while byte_at(text, at) != NEWLINE:
        at += 1
    return at


@part
def whole_number(text: np.ndarray, at: int, size: int) -> tuple[int, int]:
    """Digits as a number, and where they end; beyond LAST_INDEX it stays there."""
    if at + 8 <= size:
        word = word_at(text, at) ^ ZEROS
        count = digits_in(word)
        if count < 8:
            return SIGNED(number_in(word, count)), at + count
    value = 0
    while U(byte_at(text, at) - 48) < U(10):
        value = min(value * 10 + (byte_at(text, at) - 48), LAST_INDEX + 1)
        at += 1
    return value, at


@part
def has_pair(text: np.ndarray, at: int) -> bool:
    """Is there a colon in this word?"""
    while not ends(byte_at(text, at)):
        if byte_at(text, at) == COLON:
            return True
        at += 1
    return False


@part
def is_word(text: np.ndarray, at: int, wanted: int) -> bool:
    """Do these four bytes stand here?"""
    for place in range(4):
        if byte_at(text, at + place) != (wanted >> U(8 * place)) & U(255):
            return False
    return True


def parse(text: np.ndarray, state: np.ndarray, room: Room, rules: Rules) -> int:
    """Rows of lines from state[AT] on, until the text ends or a line is wrong; which of these.

    Of a wrong line nothing is kept: the caller may go on behind it. The text ends with a newline.
    """
    size = len(text)
    at, row, entry, label, later, tangled, width, lowest, grouped, _ = state
    error = DONE
    first_label, first_entry, first_later, first = label, entry, later, (grouped, lowest)
    while at < size:
        line = at
        first_label, first_entry, first_later, first = label, entry, later, (grouped, lowest)
        at = past_blanks(text, at)
        if byte_at(text, at) == NEWLINE or byte_at(text, at) == HASH:
            at = past_line(text, at) + 1
            continue

        # ---- labels
        if not (rules.multilabel and has_pair(text, at)):
            while True:
                value, stop, how = decimal(text, at, size)
                follows = byte_at(text, stop)
                if how == BAD or not (ends(follows) or follows == COMMA):
                    error = NO_LABEL
                    break
                if how == BEYOND:
                    error = TOO_LARGE
                    break
                if how == SLOW:
                    room.later[later, 0], room.later[later, 1], room.later[later, 2] = -1 - label, at, stop
                    later += 1
                room.targets[label] = value
                label += 1
                at = stop
                if follows != COMMA:
                    break
                if not rules.multilabel:
                    error = MANY_LABELS
                    break
                at += 1
            if error != DONE:
                break

        # ---- its group
        at = past_blanks(text, at)
        if is_word(text, at, QID):
            begin = at + 4
            negative = byte_at(text, begin) == MINUS
            begin += negative
            group, stop = SIGNED(0), begin
            while U(byte_at(text, stop) - 48) < U(10):
                group = group * 10 + (byte_at(text, stop) - 48)
                stop += 1
            if stop == begin or stop - begin > 18 or not ends(byte_at(text, stop)):
                error = NO_GROUP
                break
            if grouped == WITHOUT:
                error = SOME_QID
                break
            room.groups[row] = -group if negative else group
            grouped = WITH
            at = stop
        elif grouped == WITH:
            error = NO_QID
            break
        else:
            grouped = WITHOUT

        # ---- its entries
        before, in_order = -1, True
        while True:
            at = past_blanks(text, at)
            index, stop = whole_number(text, at, size)
            if byte_at(text, stop) != COLON or stop == at:
                if byte_at(text, at) != NEWLINE and byte_at(text, at) != HASH:
                    error = NO_PAIR
                break
            if index > LAST_INDEX:
                error = TOO_FAR
                break
            lowest = min(lowest, index)
            index -= rules.lowest
            if index < 0:
                error = TOO_LOW
                break
            if index >= rules.columns:
                error = TOO_WIDE
                break
            value, after, how = decimal(text, stop + 1, size)
            if how != 0:
                if how == BAD and rules.nulls and is_word(text, stop + 1, NULL):
                    value, after = rules.null, stop + 5
                elif how == BAD:
                    error = NO_VALUE
                    break
                elif how == BEYOND:
                    error = TOO_LARGE
                    break
                else:
                    room.later[later, 0], room.later[later, 1], room.later[later, 2] = entry, stop + 1, after
                    later += 1
            if not ends(byte_at(text, after)):
                error = NO_VALUE
                break
            room.indices[entry], room.values[entry] = index, value
            entry += 1
            in_order = in_order and index > before
            before = max(before, index)
            at = after
        if error != DONE:
            break
        at = past_line(text, at) + 1
        if not in_order:
            room.tangled[tangled] = row
            tangled += 1
        room.lines[row] = line
        width = max(width, before + 1)
        row += 1
        room.starts[row] = entry
        room.target_starts[row] = label
    if error != DONE:
        state[LENGTH] = past_word(text, at) - at
        label, entry, later, (grouped, lowest) = first_label, first_entry, first_later, first
    state[AT], state[ROWS], state[ENTRIES], state[LABELS], state[LATER] = at, row, entry, label, later
    state[TANGLED], state[WIDTH], state[LOWEST], state[GROUPED] = tangled, width, lowest, grouped
    return error


parse_lines = kept(parse)
