"""Texts cut into words or characters, their n-grams hashed and counted: one loop over bytes.

Texts are UTF-8 that was found valid. A text becomes *units* (words with one space between, or characters) in
a scratch buffer; an n-gram is then a slice from the first byte of one unit to the last of another.
"""

from __future__ import annotations

import numpy as np

from ...compiled.parts import part, routine
from .kept import kept
from .murmur import column_of, is_new, murmur_within

WORD, SPACE = 1, 2  # kinds of characters
BLANK = 32
WORDS, CHARACTERS, WITHIN_WORDS = 0, 1, 2  # what the units are
FEW = 24  # columns that are sorted by insertion
DIGIT = 11  # bits of a column sorted at a time


@kept
def find_beyond_ascii(buffer: np.ndarray, starts: np.ndarray, stops: np.ndarray, out: np.ndarray) -> int:
    """out[i] = has text i a byte above 127? How many have."""
    count = 0
    for i in range(starts.size):  # (the bytes of all of it in one: no branch)
        seen = np.int64(0)
        for byte in buffer[starts[i] : stops[i]]:
            seen |= np.int64(byte)
        out[i] = seen > 127
        if seen > 127:
            count += 1
    return count


@part
def width_of(byte: int) -> int:
    """How many bytes a character has, by its first."""
    return 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)


@part
def code_of(buffer: np.ndarray, at: int, width: int) -> np.int64:
    """The character that begins there."""
    code = np.int64(buffer[at])
    if width == 1:
        return code
    code &= 0x7F >> width
    for j in range(1, width):
        code = (code << 6) | (np.int64(buffer[at + j]) & 0x3F)
    return code


@part
def cut_words(
    buffer: np.ndarray, start: int, stop: int, kinds: np.ndarray, words: np.ndarray, scratch: np.ndarray,
    filled: int, begins: np.ndarray, ends: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    r"""Words of two letters or more (\w\w+), one space between; (units, scratch filled so far).

    words : what is written for each ASCII character within words, 0 for those that end one.
    """
    units, at = 0, start
    while at < stop:
        begin, letters = filled, 0
        while at < stop:
            byte = np.int64(buffer[at])
            if byte < 128:
                at += 1
                letter = words[byte]
                scratch[filled] = letter
                if letter == 0:
                    break
                filled += 1
            else:
                width = width_of(byte)
                inside = kinds[code_of(buffer, at, width)] == WORD
                if inside:
                    for j in range(width):
                        scratch[filled + j] = buffer[at + j]
                    filled += width
                at += width
                if not inside:
                    break
            letters += 1
        if letters > 1:
            begins[units], ends[units] = begin, filled
            units += 1
            scratch[filled] = BLANK
            filled += 1
        else:
            filled = begin
    return units, filled


@part
def cut_characters(
    buffer: np.ndarray, start: int, stop: int, kinds: np.ndarray, lower: np.ndarray, scratch: np.ndarray,
    filled: int, begins: np.ndarray, ends: np.ndarray, within: bool,
) -> tuple[int, int]:  # fmt: skip
    """All characters; white space in a row is one space, and a single one stays as it is.

    `within`: words of what is not white space instead, each with a space before and one behind.
    """
    units, at, spaces = 0, start, 1 if within else 0  # (white space met in a row, before this character)
    while at < stop:
        byte = np.int64(buffer[at])
        width = width_of(byte)
        if kinds[code_of(buffer, at, width)] == SPACE:
            spaces += 1
            if within:
                at += width
                continue
            if spaces > 1:
                if spaces == 2:  # the one before becomes a space
                    filled = begins[units - 1]
                    scratch[filled] = BLANK
                    filled += 1
                    ends[units - 1] = filled
                at += width
                continue
        else:
            if within and spaces:
                for _ in range(1 + (units > 0)):  # one behind the last word, one before this
                    scratch[filled], begins[units], ends[units] = BLANK, filled, filled + 1
                    filled += 1
                    units += 1
            spaces = 0
        begins[units] = filled
        if width == 1:
            scratch[filled] = lower[byte]
        else:
            for j in range(width):
                scratch[filled + j] = buffer[at + j]
        filled += width
        at += width
        ends[units] = filled
        units += 1
    if within and units:
        scratch[filled], begins[units], ends[units] = BLANK, filled, filled + 1
        filled += 1
        units += 1
    return units, filled


@routine
def sort_columns(found: np.ndarray, spare: np.ndarray, count: int, bits: int, places: np.ndarray) -> None:
    """found[:count] in order: digit by digit."""
    if count <= FEW:
        for i in range(1, count):
            column, at = found[i], i
            while at > 0 and found[at - 1] > column:
                found[at] = found[at - 1]
                at -= 1
            found[at] = column
        return
    rounds = (bits + DIGIT - 1) // DIGIT
    digit = (bits + rounds - 1) // rounds
    size, turned = 1 << digit, False
    for number in range(rounds):
        shift = number * digit
        before, after = (spare, found) if turned else (found, spare)
        for j in range(size + 1):
            places[j] = 0
        for i in range(count):
            places[((before[i] >> shift) & (size - 1)) + 1] += 1
        for j in range(size):
            places[j + 1] += places[j]
        for i in range(count):
            place = (before[i] >> shift) & (size - 1)
            after[places[place]] = before[i]
            places[place] += 1
        turned = not turned
    if turned:
        for i in range(count):
            found[i] = spare[i]


@kept
def hash_texts(
    buffer: np.ndarray, starts: np.ndarray, stops: np.ndarray,
    kinds: np.ndarray, lower: np.ndarray, cut: int, low: int, high: int, bits: int,
    scratch: np.ndarray, begins: np.ndarray, ends: np.ndarray,
    found: np.ndarray, spare: np.ndarray, places: np.ndarray,
    columns: np.ndarray, counts: np.ndarray, bounds: np.ndarray,
    table: np.ndarray, new: np.ndarray,
) -> int:  # fmt: skip
    """Columns and counts of the n-grams (low <= n <= high) of every text, row i at bounds[i]:bounds[i + 1].

    table : the open table of hashes met (one place: names are not kept); new[:, k] : begin and end in the
    scratch, and the hash, of the k-th n-gram that was not in it. How many.
    """
    mask = (1 << bits) - 1
    named, fresh, filled, entries = table.size > 1, 0, 0, 0
    bounds[0] = 0
    for row in range(starts.size):
        if not named:
            filled = 0
        if cut == WORDS:
            units, filled = cut_words(
                buffer, starts[row], stops[row], kinds, lower, scratch, filled, begins, ends
            )
        else:
            units, filled = cut_characters(
                buffer, starts[row], stops[row], kinds, lower, scratch, filled, begins, ends,
                cut == WITHIN_WORDS,
            )  # fmt: skip
        count, first = 0, 0
        while first < units:
            last, whole = units, False
            if cut == WITHIN_WORDS:  # one word at a time, with its two spaces
                last, whole = first + 2, True
                while scratch[begins[last - 1]] != BLANK:
                    last += 1
            size = low
            while size <= high:
                wide = min(size, last - first) if whole else size
                for i in range(first, last - wide + 1):
                    begin, end = begins[i], ends[i + wide - 1]
                    hashed = murmur_within(scratch, begin, end)
                    found[count] = column_of(hashed, mask)
                    count += 1
                    if named and is_new(table, hashed):
                        new[0, fresh], new[1, fresh], new[2, fresh] = begin, end, hashed
                        fresh += 1
                if size >= last - first:  # (a word shorter than that counts once)
                    break
                size += 1
            first = last
        sort_columns(found, spare, count, bits, places)
        before = -1
        for i in range(count):
            if found[i] == before:
                counts[entries - 1] += 1.0
            else:
                before = found[i]
                columns[entries], counts[entries] = before, 1.0
                entries += 1
        bounds[row + 1] = entries
    return fresh
