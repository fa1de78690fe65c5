"""A digest of bytes, as fast as they come from memory: tells damage, not malice."""

from __future__ import annotations

import numpy as np

from .kept import kept
from .words import U, byte_at, word_at

PRIME = U(0x9E3779B185EBCA87)
TURN, BACK = U(29), U(35)


def digest_of(text: np.ndarray, seed: int) -> int:
    """64 bits of all bytes and of how many there are, in four lanes."""
    size = len(text)
    one, two, three, four = U(seed), U(seed) + PRIME, U(seed) ^ PRIME, U(size)
    at = 0
    while at + 32 <= size:
        one = ((one ^ word_at(text, at)) * PRIME) ^ (one >> BACK)
        two = ((two ^ word_at(text, at + 8)) * PRIME) ^ (two >> BACK)
        three = ((three ^ word_at(text, at + 16)) * PRIME) ^ (three >> BACK)
        four = ((four ^ word_at(text, at + 24)) * PRIME) ^ (four >> BACK)
        at += 32
    while at < size:
        one = ((one ^ U(byte_at(text, at))) * PRIME) ^ (one >> BACK)
        at += 1
    for lane in (two, three, four):
        one = ((one ^ lane) * PRIME) ^ (one >> TURN)
    return one


digest = kept(digest_of)
