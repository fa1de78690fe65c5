"""Decimal numbers as float64, exact: every text gives what Python's float() gives, or is handed to it."""

from __future__ import annotations

import numpy as np

from .kept import part
from .words import (
    SIGNED,
    ZEROS,
    U,
    byte_at,
    digits_in,
    float_of,
    gaps_in,
    number_in,
    upper_half,
    word_at,
    zeros_above,
    zeros_below,
)

READ, SLOW, BAD, BEYOND = 0, 1, 2, 3  # read; only Python knows; no number; beyond float64
NEWLINE, SPACE, HASH, PLUS, COMMA, MINUS, DOT, COLON = 10, 32, 35, 43, 44, 45, 46, 58
LETTER_E = 101
DOT_IN_WORD = U(DOT ^ 48)
MOST_DIGITS = 19  # that a word of 64 bits holds
EXACT = U(1 << 53)  # whole numbers up to it are floats
LAST, FIRST = 308, -342  # powers of ten that the table has

WHOLE_TENS = np.array([10**power for power in range(9)], np.uint64)
TENS = np.array([float(f"1e{power}") for power in range(23)])  # those that floats hold exactly


def _five(power: int) -> int:
    """5^power, or its inverse rounded up, as 128 bits of which the highest is set."""
    if power >= 0:
        five: int = 5**power
        return (
            five << (128 - five.bit_length())
            if five.bit_length() <= 128
            else five >> (five.bit_length() - 128)
        )
    five = 5**-power
    bits = (five - 1).bit_length()
    inverse: int = (1 << (bits + 127 if power >= -27 else 2 * bits + 128)) // five + 1
    return inverse >> max(inverse.bit_length() - 128, 0)


FIVES = np.array([_five(power) >> 64 for power in range(FIRST, LAST + 1)], np.uint64)
FIVES_BELOW = np.array([_five(power) & (2**64 - 1) for power in range(FIRST, LAST + 1)], np.uint64)


@part
def scaled(whole: int, power: int) -> tuple[float, int]:
    """whole * 10^power, rounded to the nearest float64 (ties to even), and how that went.

    Clinger's way where both are floats; else a product with 128 bits of 5^power: Lemire, Number parsing at a
    gigabyte per second, 2021. The one case that its table cannot decide is left to Python.
    """
    if whole <= EXACT and -22 <= power <= 22:
        exact = float(SIGNED(whole))
        return (exact / TENS[-power] if power < 0 else exact * TENS[power]), READ
    if whole == U(0) or power < FIRST:
        return 0.0, READ
    if power > LAST:
        return 0.0, BEYOND
    zeros = zeros_above(whole)
    whole = whole << U(zeros)
    five = FIVES[power - FIRST]
    high, low = upper_half(whole, five), whole * five
    if (high & U(0x1FF)) == U(0x1FF):
        more = upper_half(whole, FIVES_BELOW[power - FIRST])
        low = low + more
        if more > low:
            high = high + U(1)
    if low == U(0xFFFFFFFFFFFFFFFF) and (power < -27 or power > 55):
        return 0.0, SLOW
    upper = SIGNED(high >> U(63))
    mantissa = high >> U(upper + 9)
    exponent = ((217706 * power) >> 16) + 63 + upper - zeros + 1023
    if exponent <= 0:  # below the smallest normal number
        if exponent < -62:
            return 0.0, READ
        mantissa = mantissa >> U(1 - exponent)
        mantissa = (mantissa + (mantissa & U(1))) >> U(1)
        return float_of(mantissa), READ
    if low <= U(1) and -4 <= power <= 23 and (mantissa & U(3)) == U(1) and (mantissa << U(upper + 9)) == high:
        mantissa = mantissa & ~U(1)  # right between two floats: to the even one
    mantissa = (mantissa + (mantissa & U(1))) >> U(1)
    if mantissa >= U(1 << 53):
        mantissa = U(1 << 52)
        exponent += 1
    if exponent >= 2047:
        return 0.0, BEYOND
    return float_of((mantissa & U((1 << 52) - 1)) | (U(exponent) << U(52))), READ


@part
def digits_from(text: np.ndarray, at: int, size: int, before: int) -> tuple[int, int]:
    """The digits at this place put behind those before them, and where they end (a newline ends all)."""
    if at + 8 <= size:
        word = word_at(text, at) ^ ZEROS
        count = digits_in(word)
        before = before * WHOLE_TENS[count] + number_in(word, count)
        at += count
        if count < 8:
            return before, at
    while U(byte_at(text, at) - 48) < U(10):
        before = before * U(10) + U(byte_at(text, at) - 48)
        at += 1
    return before, at


@part
def digits_and_dot(text: np.ndarray, at: int, size: int) -> tuple[int, int, int, int]:
    """digits [. digits] as a whole number, where they end, how many, and how many of them behind the dot."""
    start = at
    if at + 8 <= size:
        word = word_at(text, at) ^ ZEROS
        gaps = gaps_in(word)
        before = zeros_below(gaps) >> 3
        if before < 8:
            if (word >> U(8 * before)) & U(255) != DOT_IN_WORD:
                return number_in(word, before), at + before, before, 0
            stop = zeros_below(gaps & (gaps - U(1))) >> 3  # (a dot carries into nothing)
            low = (U(1) << U(8 * before)) - U(1)
            whole = number_in((word & low) | ((word >> U(8)) & ~low), stop - 1)
            at += stop
            if stop == 8 and U(byte_at(text, at) - 48) < U(10):
                whole, at = digits_from(text, at, size, whole)
            digits = at - start - 1
            return whole, at, digits, digits - before
    whole, at = digits_from(text, at, size, U(0))
    digits = at - start
    if byte_at(text, at) != DOT:
        return whole, at, digits, 0
    start = at + 1
    whole, at = digits_from(text, start, size, whole)
    return whole, at, digits + at - start, at - start


@part
def told_power(text: np.ndarray, at: int) -> tuple[int, int]:
    """What comes after an e, and where it ends (-1: it is no number)."""
    below = byte_at(text, at) == MINUS
    if below or byte_at(text, at) == PLUS:
        at += 1
    start, told = at, 0
    while U(byte_at(text, at) - 48) < U(10):
        told = min(told * 10 + (byte_at(text, at) - 48), 99999)
        at += 1
    return (-told if below else told), (at if at > start else -1)


@part
def decimal(text: np.ndarray, at: int, size: int) -> tuple[float, int, int]:
    """The number at this place, where it ends, and how that went: [+-] digits [. digits] [e [+-] digits].

    What comes after it is the caller's to judge. `text` ends with a newline: no loop goes beyond it.
    """
    digit = byte_at(text, at) - 48
    if U(digit) < U(10) and byte_at(text, at + 1) == SPACE:  # so short are counts and flags
        return float(digit), at + 1, READ
    negative = digit == MINUS - 48
    if negative or byte_at(text, at) == PLUS:
        at += 1
    whole, at, digits, behind = digits_and_dot(text, at, size)
    power = -behind
    if digits == 0:
        return 0.0, at, BAD
    if (byte_at(text, at) | 32) == LETTER_E:
        told, after = told_power(text, at + 1)
        if after < 0:
            return 0.0, at, BAD
        power, at = power + told, after
    if digits > MOST_DIGITS:
        return 0.0, at, SLOW
    value, how = scaled(whole, power)
    return (-value if negative else value), at, how
