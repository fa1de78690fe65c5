"""Eight bytes at a time: unaligned words, how many digits they begin with, and what number these are."""

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing import Signature
from numba.core.typing.context import BaseContext as TypingContext
from numba.extending import intrinsic

from .kept import part

U = np.uint64
ZEROS = U(0x3030303030303030)
TO_EIGHTY = U(0x7676767676767676)  # lifts what is above 9 to 0x80 and more
HIGH = U(0x8080808080808080)
PAIRS = U(0x000000FF000000FF)
UPPER = U(0x000F424000000064)  # 10^6 and 10^2
LOWER = U(0x0000271000000001)  # 10^4 and 1

Made = tuple[Signature, object]
I64 = ir.IntType(64)


@intrinsic
def word_at(typing: TypingContext, text: types.Array, at: types.Integer) -> Made:
    """Bytes at to at + 7 as one number, the first byte the lowest. The caller knows that they are there."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]) -> ir.Value:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.bitcast(builder.gep(array.data, [args[1]]), I64.as_pointer())
        word = builder.load(place, align=1)
        return builder.bswap(word) if sys.byteorder == "big" else word

    return types.uint64(text, types.int64), generate


@intrinsic
def byte_at(typing: TypingContext, text: types.Array, at: types.Integer) -> Made:
    """One byte as a number; the place is never counted from the end, as NumPy does."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]) -> ir.Value:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.zext(builder.load(builder.gep(array.data, [args[1]])), I64)

    return types.int64(text, types.int64), generate


@intrinsic
def zeros_below(typing: TypingContext, word: types.Integer) -> Made:
    """How many bits below the lowest that is set (64 where none is)."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]) -> ir.Value:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def zeros_above(typing: TypingContext, word: types.Integer) -> Made:
    """How many bits above the highest that is set (64 where none is)."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]) -> ir.Value:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def upper_half(typing: TypingContext, one: types.Integer, other: types.Integer) -> Made:
    """The upper 64 bits of a product."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]) -> ir.Value:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), I64)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def float_of(typing: TypingContext, bits: types.Integer) -> Made:
    """The float64 of these bits."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]) -> ir.Value:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@part
def gaps_in(word: np.uint64) -> np.uint64:
    """A bit for every byte that is no digit; `word` has ZEROS taken off by exclusive or.

    A byte of 0x8A and more carries into those above it, and only these: up to the first the bits are right.
    """
    return ((word + TO_EIGHTY) | word) & HIGH


@part
def digits_in(word: np.uint64) -> int:
    """How many bytes of such a word, from the lowest on, are digits."""
    return zeros_below(gaps_in(word)) >> 3


@part
def number_in(word: np.uint64, count: int) -> np.uint64:
    """The number that the first `count` digits (0 to 8) of such a word are.

    They move to the top, zeros come in before them; then pairs, fours and eights are put together.
    """
    if count < 8:
        word = word << U(56 - 8 * count) << U(8)
    word = word * U(10) + (word >> U(8))
    return ((word & PAIRS) * UPPER + ((word >> U(16)) & PAIRS) * LOWER) >> U(32)
