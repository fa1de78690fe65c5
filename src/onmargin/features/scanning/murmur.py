"""MurmurHash3 (x86, 32 bits) of bytes within a buffer, and the loops that hash many."""

from __future__ import annotations

import numpy as np

from ...compiled.parts import part
from .kept import kept

LOW = 0xFFFFFFFF
SIGN = 0x80000000


@part
def rotated(word: int, by: int) -> int:
    """32 bits turned left."""
    return ((word << by) | (word >> (32 - by))) & LOW


@part
def mixed(word: int) -> int:
    """Four bytes before they enter the hash."""
    turned: int = rotated((word * 0xCC9E2D51) & LOW, 15)
    return (turned * 0x1B873593) & LOW


@part
def four_bytes(buffer: np.ndarray, at: int) -> np.int64:
    """As one number."""
    low = np.int64(buffer[at]) | (np.int64(buffer[at + 1]) << 8)
    return low | (np.int64(buffer[at + 2]) << 16) | (np.int64(buffer[at + 3]) << 24)


@part
def finished(hashed: int) -> int:
    """Every bit changes every other."""
    hashed = ((hashed ^ (hashed >> 16)) * 0x85EBCA6B) & LOW
    hashed = ((hashed ^ (hashed >> 13)) * 0xC2B2AE35) & LOW
    return hashed ^ (hashed >> 16)


@part
def murmur(buffer: np.ndarray, start: int, stop: int, seed: int) -> int:
    """The hash of buffer[start:stop], 0 <= hash < 2^32; 0 <= seed < 2^32."""
    hashed, at = seed, start
    while at + 4 <= stop:
        hashed = (rotated(hashed ^ mixed(four_bytes(buffer, at)), 13) * 5 + 0xE6546B64) & LOW
        at += 4
    left = stop - at
    if left > 0:
        word = np.int64(buffer[at])
        if left > 1:
            word |= np.int64(buffer[at + 1]) << 8
        if left > 2:
            word |= np.int64(buffer[at + 2]) << 16
        hashed ^= mixed(word)
    made: int = finished(hashed ^ ((stop - start) & LOW))
    return made


@part
def murmur_within(buffer: np.ndarray, start: int, stop: int) -> int:
    """The same with seed 0, where three more bytes may be read behind `stop`: nothing depends on the end."""
    hashed, at = 0, start
    while at + 4 <= stop:
        hashed = (rotated(hashed ^ mixed(four_bytes(buffer, at)), 13) * 5 + 0xE6546B64) & LOW
        at += 4
    rest = four_bytes(buffer, at) & ((1 << (8 * (stop - at))) - 1)
    made: int = finished(hashed ^ mixed(rest) ^ ((stop - start) & LOW))
    return made


@part
def column_of(hashed: int, mask: int) -> int:
    """|hash| as a signed number, modulo 2^bits (mask = 2^bits - 1): scikit-learn's column."""
    size = (LOW + 1 - hashed) if hashed >= SIGN else hashed
    return size & mask


@kept
def hash_slices(
    buffer: np.ndarray, starts: np.ndarray, stops: np.ndarray, seed: int, out: np.ndarray
) -> None:
    """out[i] = the hash of buffer[starts[i]:stops[i]]."""
    for i in range(starts.size):
        out[i] = murmur(buffer, starts[i], stops[i], seed)


@kept
def place_hashes(hashes: np.ndarray, mask: int, out: np.ndarray) -> None:
    """out[i] = the column of hashes[i]."""
    for i in range(hashes.size):
        out[i] = column_of(np.int64(hashes[i]), mask)


@part
def is_new(table: np.ndarray, hashed: int) -> bool:
    """Enter a hash into an open table (a power of two of places, -1: free, never full); was it not there?"""
    most = table.size - 1
    at = (hashed * 0x9E3779B1 >> 7) & most
    while table[at] >= 0:
        if table[at] == hashed:
            return False
        at = (at + 1) & most
    table[at] = hashed
    return True


@kept
def enter_new(table: np.ndarray, hashes: np.ndarray, out: np.ndarray) -> int:
    """Enter hashes; out gets the numbers of those that were not there; how many."""
    count = 0
    for i in range(hashes.size):
        if is_new(table, np.int64(hashes[i])):
            out[count] = i
            count += 1
    return count
