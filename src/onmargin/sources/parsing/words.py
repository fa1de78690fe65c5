"""Eight bytes at a time: unaligned words, how many digits they begin with, and what number these are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Protocol, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from .kept import part

U = cast("Callable[[int], int]", np.uint64)  # numbers like any other, to a reader and to mypy
SIGNED = cast("Callable[[int], int]", np.int64)
ZEROS = U(0x3030303030303030)
TO_EIGHTY = U(0x7676767676767676)  # lifts what is above 9 to 0x80 and more
HIGH = U(0x8080808080808080)
PAIRS = U(0x000000FF000000FF)
UPPER = U(0x000F424000000064)  # 10^6 and 10^2
LOWER = U(0x0000271000000001)  # 10^4 and 1

I64 = ir.IntType(64)
Values = Sequence[ir.Value]
Made = tuple[Signature, Callable[[BaseContext, ir.IRBuilder, Signature, Values], ir.Value]]


class _Array(Protocol):
    """An array as Numba holds it."""

    data: ir.Value


def _first_byte(context: BaseContext, builder: ir.IRBuilder, kind: types.Type, array: ir.Value) -> ir.Value:
    make: Callable[[types.Type], Callable[[object, ir.IRBuilder, ir.Value], _Array]] = context.make_array
    return make(kind)(context, builder, array).data


def _word_at(typing: object, text: types.Type, at: types.Type) -> Made:
    """Bytes at to at + 7 as one number, the first byte the lowest. The caller knows that they are there."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        first = _first_byte(context, builder, signature.args[0], args[0])
        place = builder.bitcast(builder.gep(first, [args[1]]), I64.as_pointer())
        word = builder.load(place, align=1)
        return builder.bswap(word) if sys.byteorder == "big" else word

    return types.uint64(text, types.int64), generate


def _byte_at(typing: object, text: types.Type, at: types.Type) -> Made:
    """One byte as a number; the place is never counted from the end, as NumPy does."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        first = _first_byte(context, builder, signature.args[0], args[0])
        return builder.zext(builder.load(builder.gep(first, [args[1]])), I64)

    return types.int64(text, types.int64), generate


def _zeros_below(typing: object, word: types.Type) -> Made:
    """How many bits below the lowest that is set (64 where none is)."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


def _zeros_above(typing: object, word: types.Type) -> Made:
    """How many bits above the highest that is set (64 where none is)."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


def _upper_half(typing: object, one: types.Type, other: types.Type) -> Made:
    """The upper 64 bits of a product."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), I64)

    return types.uint64(types.uint64, types.uint64), generate


def _float_of(typing: object, bits: types.Type) -> Made:
    """The float64 of these bits."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), generate


word_at = cast("Callable[[np.ndarray, int], int]", intrinsic(_word_at))
byte_at = cast("Callable[[np.ndarray, int], int]", intrinsic(_byte_at))
zeros_below = cast("Callable[[int], int]", intrinsic(_zeros_below))
zeros_above = cast("Callable[[int], int]", intrinsic(_zeros_above))
upper_half = cast("Callable[[int, int], int]", intrinsic(_upper_half))
float_of = cast("Callable[[int], float]", intrinsic(_float_of))


@part
def gaps_in(word: int) -> int:
    """A bit for every byte that is no digit; `word` has ZEROS taken off by exclusive or.

    A byte of 0x8A and more carries into those above it, and only these: up to the first the bits are right.
    """
    return ((word + TO_EIGHTY) | word) & HIGH


@part
def digits_in(word: int) -> int:
    """How many bytes of such a word, from the lowest on, are digits."""
    return zeros_below(gaps_in(word)) >> 3


@part
def number_in(word: int, count: int) -> int:
    """The number that the first `count` digits (0 to 8) of such a word are.

    They move to the top, zeros come in before them; then pairs, fours and eights are put together.
    """
    if count < 8:
        word = word << U(56 - 8 * count) << U(8)
    word = word * U(10) + (word >> U(8))
    return ((word & PAIRS) * UPPER + ((word >> U(16)) & PAIRS) * LOWER) >> U(32)
