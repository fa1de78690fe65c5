"""The beginning of lines: Vowpal Wabbit's label, importance and tag; the label before a tab."""

from __future__ import annotations

import numpy as np

from ...compiled.parts import part
from ...features.scanning.kept import kept_for
from ...features.scanning.numbers import BAD, LONG, decimal

kept = kept_for("sources/parsing")

# what is wrong with a line
FINE, NO_BAR, NO_LABEL, NO_WEIGHT, THIRD_NUMBER, NO_TAB = 0, 1, 2, 3, 4, 5

# columns of marks: where a line begins; its tag or label; its features or text; what is wrong, and where
LINE, TAG, TAG_END, BODY, BODY_END, WRONG, WHERE = 0, 1, 2, 3, 4, 5, 6
MARKS = 7


@part
def _is_space(letter: int) -> bool:
    return letter == 32 or letter == 9


@part
def _line_end(text: np.ndarray, at: int) -> int:
    """The newline of the line."""
    while text[at] != 10:
        at += 1
    return at


@part
def _without_return(text: np.ndarray, start: int, stop: int) -> int:
    return stop - 1 if stop > start and text[stop - 1] == 13 else stop


@kept
def tab_heads(text: np.ndarray, marks: np.ndarray) -> int:
    """`label<TAB>text` lines, blank ones left out; how many."""
    count, at = 0, 0
    while at < len(text):
        stop = _line_end(text, at)
        end = _without_return(text, at, stop)
        if end > at:
            tab = at
            while tab < end and text[tab] != 9:
                tab += 1
            marks[count, LINE], marks[count, TAG], marks[count, TAG_END] = at, at, tab
            marks[count, BODY], marks[count, BODY_END] = min(tab + 1, end), end
            marks[count, WRONG], marks[count, WHERE] = (FINE if tab < end else NO_TAB), at
            count += 1
        at = stop + 1
    return count


@kept
def vw_heads(text: np.ndarray, marks: np.ndarray, numbers: np.ndarray, longs: np.ndarray) -> tuple[int, int]:
    """`label importance 'tag|features` lines, blank ones left out; how many, and how many long numbers.

    numbers[i] = label (NaN: none), importance. longs[j] = (line, 0 or 1, start, stop): that number is
    what Python's float makes of these bytes. A last word that touches the bar, or begins with ', is the tag.
    """
    count, long, at = 0, 0, 0
    while at < len(text):
        stop = _line_end(text, at)
        end = _without_return(text, at, stop)
        bar, blank = at, True
        while bar < end and text[bar] != 124:
            blank &= _is_space(text[bar])
            bar += 1
        if bar < end or not blank:
            marks[count, LINE], marks[count, BODY], marks[count, BODY_END] = at, bar, end
            marks[count, TAG], marks[count, TAG_END] = bar, bar
            marks[count, WRONG], marks[count, WHERE] = FINE, at
            numbers[count, 0], numbers[count, 1] = np.nan, 1.0
            if bar == end:
                marks[count, WRONG] = NO_BAR
            else:
                word, place = at, 0
                while marks[count, WRONG] == FINE:
                    while word < bar and _is_space(text[word]):
                        word += 1
                    if word == bar:
                        break
                    after = word
                    while after < bar and not _is_space(text[after]):
                        after += 1
                    rest = after
                    while rest < bar and _is_space(text[rest]):
                        rest += 1
                    if rest == bar and (after == bar or text[word] == 39):  # the tag
                        marks[count, TAG], marks[count, TAG_END] = word + (text[word] == 39), after
                        break
                    value, how = 0.0, BAD
                    if place < 2:
                        value, how = decimal(text, word, after)
                    if how == BAD or (place == 1 and value < 0.0):
                        marks[count, WRONG], marks[count, WHERE] = NO_LABEL + place, word
                        break
                    numbers[count, place] = value
                    if how == LONG:
                        longs[long, 0], longs[long, 1], longs[long, 2], longs[long, 3] = (
                            count,
                            place,
                            word,
                            after,
                        )
                        long += 1
                    place, word = place + 1, after
            count += 1
        at = stop + 1
    return count, long
