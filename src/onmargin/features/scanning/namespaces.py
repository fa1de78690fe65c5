"""Vowpal Wabbit's features in bytes, `|a:2 x:1.5 y |b z`, to hashes and values; compiled.

Hashes are Vowpal Wabbit's own: a word is MurmurHash3 of its bytes with the hash of its namespace for a seed,
a word of digits that number added to it, a nameless one its place; the space without a name is 0. Products
of features are (((p h1) ^ h2) p) ^ h3 ... with p = 16777619.
"""

from __future__ import annotations

import numpy as np

from ...compiled.parts import part
from .kept import kept
from .murmur import LOW, murmur
from .numbers import BAD, GOOD, decimal

FINE, NO_BAR, NO_NUMBER, TWO_NUMBERS = 0, 1, 2, 3
ROUNDED = -1  # right in form, but Python's float must round it
FNV = 16777619
ENDS = np.isin(np.arange(256), [*b" \t\r:|"])  # of a name or a number


@part
def _hashed(buffer: np.ndarray, start: int, stop: int, seed: int) -> int:
    """A word's hash: digits alone are a number."""
    number = np.int64(0)
    for at in range(start, stop):
        if not 48 <= buffer[at] <= 57:
            hashed: int = murmur(buffer, start, stop, seed)
            return hashed
        number = (10 * number + (np.int64(buffer[at]) - 48)) & LOW
    return int((number + seed) & LOW)


@part
def _word_end(buffer: np.ndarray, at: int, stop: int) -> int:
    """Where a name or a number ends."""
    while at < stop and not ENDS[buffer[at]]:
        at += 1
    return at


@part
def _spaces_end(buffer: np.ndarray, at: int, stop: int) -> int:
    while at < stop and (buffer[at] == 32 or buffer[at] == 9 or buffer[at] == 13):
        at += 1
    return at


@part
def _value(buffer: np.ndarray, at: int, stop: int) -> tuple[float, int, int]:
    """What follows a name: 1, or the number after a colon; its end; FINE, ROUNDED or the trouble."""
    if at >= stop or buffer[at] != 58:
        return 1.0, at, FINE
    end = _word_end(buffer, at + 1, stop)
    value, how = decimal(buffer, at + 1, end)
    if how == BAD:
        return 0.0, at + 1, NO_NUMBER
    if end < stop and buffer[end] == 58:
        return 0.0, end, TWO_NUMBERS
    return value, end, FINE if how == GOOD else ROUNDED


@kept
def check_words(buffer: np.ndarray, starts: np.ndarray, stops: np.ndarray, troubles: np.ndarray) -> int:
    """troubles[i] = (what, where) of row i, FINE where it can be read; how many cannot."""
    bad = 0
    for row in range(len(starts)):
        at, stop = _spaces_end(buffer, starts[row], stops[row]), stops[row]
        what = NO_BAR if at < stop and buffer[at] != 124 else FINE
        while at < stop and (what == FINE or what == ROUNDED):
            if buffer[at] == 124:
                at += 1
            at = _word_end(buffer, at, stop)
            _, at, what = _value(buffer, at, stop)
            if what == FINE or what == ROUNDED:
                at = _spaces_end(buffer, at, stop)
        troubles[row, 0], troubles[row, 1] = max(what, FINE), at
        bad += what > FINE
    return bad


@kept
def words(
    buffer: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    hashes: np.ndarray,
    values: np.ndarray,
    spaces: np.ndarray,
    letters: np.ndarray,
    places: np.ndarray,
    ends: np.ndarray,
    longs: np.ndarray,
    troubles: np.ndarray,
) -> tuple[int, int]:
    """Read every row; how many features, and how many numbers Python must round.

    Feature k: hashes[k], values[k], the hash spaces[k] and the first letter letters[k] of its namespace, the
    bytes of its name places[k] = (start, stop, the namespace's start, stop). Row i has features ends[i - 1]
    to ends[i]; a bad one has none, and troubles[i] = (what, where). longs[j] = (feature, start, stop, other):
    values from this feature up to the other are yet to be multiplied by the number in these bytes.
    """
    count, long = 0, 0
    for row in range(len(starts)):
        first, first_long = count, long
        at, stop = _spaces_end(buffer, starts[row], stops[row]), stops[row]
        what = FINE
        if at < stop and buffer[at] != 124:
            what = NO_BAR
        while at < stop and what == FINE:  # a namespace; at is its bar
            at += 1
            name = at
            at = _word_end(buffer, at, stop)
            name_end = at
            space = _hashed(buffer, name, name_end, 0) if name_end > name else 0
            letter = buffer[name] if name_end > name else 32
            colon = at
            scale, at, what = _value(buffer, at, stop)
            scale_long = what == ROUNDED
            scale_end, group = at, count
            if scale_long:
                scale, what = 1.0, FINE
            nameless = 0
            while what == FINE:
                at = _spaces_end(buffer, at, stop)
                if at >= stop or buffer[at] == 124:
                    break
                word = at
                at = _word_end(buffer, at, stop)
                word_end = at
                value, at, what = _value(buffer, at, stop)
                if what == ROUNDED:
                    longs[long, 0], longs[long, 1] = count, word_end + 1
                    longs[long, 2], longs[long, 3] = at, count + 1
                    long += 1
                    value, what = 1.0, FINE
                if what != FINE:
                    break
                if word_end > word:
                    hashes[count] = _hashed(buffer, word, word_end, space)
                else:
                    hashes[count] = (space + nameless) & LOW
                    nameless += 1
                values[count] = value * scale
                spaces[count], letters[count] = space, letter
                places[count, 0], places[count, 1] = word, word_end
                places[count, 2], places[count, 3] = name, name_end
                count += 1
            if scale_long and what == FINE and count > group:
                longs[long, 0], longs[long, 1], longs[long, 2] = group, colon + 1, scale_end
                longs[long, 3] = count
                long += 1
        troubles[row, 0], troubles[row, 1] = what, at
        if what != FINE:
            count, long = first, first_long
        ends[row] = count
    return count, long


@part
def _takes(kind: int, which: int, letter: int, space: int) -> bool:
    """Does a factor take this feature? 0: any namespace; 1: by first letter; 2: by the hash of its name."""
    return kind == 0 or (kind == 1 and which == letter) or (kind == 2 and which == space)


@part
def _same(kinds: np.ndarray, which: np.ndarray, term: int, factor: int) -> bool:
    """Is this factor the one before once more? Then pairs are taken once: i <= j."""
    return (
        factor > 0
        and kinds[term, factor] == kinds[term, factor - 1]
        and which[term, factor] == which[term, factor - 1]
    )


@kept
def count_products(
    ends: np.ndarray,
    letters: np.ndarray,
    spaces: np.ndarray,
    kinds: np.ndarray,
    which: np.ndarray,
    sizes: np.ndarray,
    counts: np.ndarray,
) -> None:
    """counts[i]: how many products row i makes (with k like factors of n features: n + k - 1 over k)."""
    first = 0
    for row in range(len(ends)):
        total = 0.0
        for term in range(len(sizes)):
            made, like = 1.0, 1
            for factor in range(sizes[term]):
                own = 0
                for k in range(first, ends[row]):
                    own += _takes(kinds[term, factor], which[term, factor], letters[k], spaces[k])
                like = like + 1 if _same(kinds, which, term, factor) else 1
                made = made * (own + like - 1) / like
            total += made
        counts[row] = int(min(total + 0.5, 1e15))
        first = ends[row]


@kept
def products(
    ends: np.ndarray,
    hashes: np.ndarray,
    values: np.ndarray,
    letters: np.ndarray,
    spaces: np.ndarray,
    kinds: np.ndarray,
    which: np.ndarray,
    sizes: np.ndarray,
    joints: np.ndarray,
    data: np.ndarray,
    factors: np.ndarray,
    taken: np.ndarray,
    now: np.ndarray,
    many: np.ndarray,
) -> None:
    """Each row's products into joints (their hashes) and data, one row after the other.

    factors[p] gets the features of product p (length 0: nobody asks); taken, now and many are scratch.
    """
    first, at = 0, 0
    for row in range(len(ends)):
        for term in range(len(sizes)):
            size, empty = sizes[term], False
            for factor in range(size):
                many[factor] = _listed(
                    first, ends[row], kinds[term, factor], which[term, factor], letters, spaces, taken[factor]
                )
                now[factor] = 0
                empty |= many[factor] == 0
            while not empty:
                joint, value = hashes[taken[0, now[0]]], values[taken[0, now[0]]]
                for factor in range(1, size):
                    k = taken[factor, now[factor]]
                    joint = ((joint * FNV) & LOW) ^ hashes[k]
                    value *= values[k]
                joints[at], data[at] = joint, value
                if len(factors):
                    for factor in range(size):
                        factors[at, factor] = taken[factor, now[factor]]
                at += 1
                factor = size - 1
                while factor >= 0 and now[factor] + 1 == many[factor]:
                    factor -= 1
                if factor < 0:
                    break
                now[factor] += 1
                for later in range(factor + 1, size):
                    now[later] = now[later - 1] if _same(kinds, which, term, later) else 0
        first = ends[row]


@part
def _listed(
    first: int, stop: int, kind: int, which: int, letters: np.ndarray, spaces: np.ndarray, into: np.ndarray
) -> int:
    """The features one factor takes, those of any namespace in the order of first letters; how many."""
    many = 0
    if kind != 0:
        for k in range(first, stop):
            if _takes(kind, which, letters[k], spaces[k]):
                into[many] = k
                many += 1
        return many
    for letter in range(256):
        for k in range(first, stop):
            if letters[k] == letter:
                into[many] = k
                many += 1
    return many
