"""Eight float64 in one register, and hints to memory: the only file that writes LLVM.

Numba leaves LLVM's SLP vectoriser off, so a plain loop over outputs stays scalar. Each function
here has a Python body (eight numbers in a NumPy array) and an LLVM body of the same meaning.
Arrays hold float64 or float32; sums are always float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.extending import intrinsic, overload

WIDTH = 8
_CONFIG: Any = config  # (its names are made at run time)


class Lanes(types.Type):
    """Numba's name for eight float64 side by side."""

    def __init__(self) -> None:
        super().__init__(name="Lanes8")


lanes_type = Lanes()
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)


@register_default(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _VECTOR)


def nothing():
    """Eight zeros."""
    return np.zeros(WIDTH)


def load(array, first):
    """Elements first .. first + 7 of a flat contiguous array."""
    return array[first : first + WIDTH].astype(np.float64)


def store(array, first, lanes):
    """Write elements first .. first + 7 of a flat contiguous array."""
    array[first : first + WIDTH] = lanes


def plus_times(lanes, other, factor):
    """lanes + factor * other, lane by lane."""
    return lanes + factor * other


def plus_product(lanes, left, right):
    """lanes + left * right, lane by lane."""
    return lanes + left * right


def gathered(array, places, first):
    """The elements of an array at eight places, those from `first` on."""
    return array[places[first : first + WIDTH]].astype(np.float64)


def total(lanes):
    """The eight added up, in pairs."""
    pairs = lanes[:4] + lanes[4:]
    return (pairs[0] + pairs[1]) + (pairs[2] + pairs[3])


def all_zero(table, row, first):
    """Are elements first .. first + 7 of a row of a C-ordered table all 0?"""
    return not table[row, first : first + WIDTH].any()


def some(lanes):
    """1 where any of the eight is not 0, or is NaN; else 0."""
    return np.uint64(lanes.any())


def lowest(bits):
    """The number of the lowest bit that is set, of 64; one is."""
    return (int(bits) & -int(bits)).bit_length() - 1


def fetch(array, place):
    """Element `place` of a C-ordered array will be read soon: a hint, even if it points beyond the end."""


def _address(context, builder, array_type, array, first):
    struct = context.make_array(array_type)(context, builder, array)
    pointer = cgutils.gep(builder, struct.data, first)
    element = context.get_data_type(array_type.dtype)
    vector = ir.VectorType(element, WIDTH)
    return builder.bitcast(pointer, vector.as_pointer()), array_type.dtype.bitwidth // 8


def _splat(builder, value):
    zero = ir.Constant(ir.IntType(32), 0)
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, zero)
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), mask)


@intrinsic
def _nothing(typingctx):
    def codegen(context, builder, signature, args):
        return ir.Constant(_VECTOR, [0.0] * WIDTH)

    return lanes_type(), codegen


@intrinsic
def _load(typingctx, array, first):
    def codegen(context, builder, signature, args):
        pointer, align = _address(context, builder, signature.args[0], args[0], args[1])
        loaded = builder.load(pointer, align=align)
        if array.dtype == types.float32:
            loaded = builder.fpext(loaded, _VECTOR)
        return loaded

    return lanes_type(array, types.intp), codegen


@intrinsic
def _store(typingctx, array, first, lanes):
    def codegen(context, builder, signature, args):
        pointer, align = _address(context, builder, signature.args[0], args[0], args[1])
        value = args[2]
        if array.dtype == types.float32:
            value = builder.fptrunc(value, ir.VectorType(ir.FloatType(), WIDTH))
        builder.store(value, pointer, align=align)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes_type), codegen


@intrinsic
def _plus_times(typingctx, lanes, other, factor):
    def codegen(context, builder, signature, args):
        scaled = builder.fmul(args[1], _splat(builder, args[2]), flags=("contract",))
        return builder.fadd(args[0], scaled, flags=("contract",))

    return lanes_type(lanes_type, lanes_type, types.float64), codegen


@intrinsic
def _plus_product(typingctx, lanes, left, right):
    def codegen(context, builder, signature, args):
        product = builder.fmul(args[1], args[2], flags=("contract",))
        return builder.fadd(args[0], product, flags=("contract",))

    return lanes_type(lanes_type, lanes_type, lanes_type), codegen


@intrinsic
def _gathered(typingctx, array, places, first):
    def codegen(context, builder, signature, args):
        flat = context.make_array(signature.args[0])(context, builder, args[0])
        chosen = context.make_array(signature.args[1])(context, builder, args[1])
        word, lane = ir.IntType(64), ir.IntType(32)
        found = ir.Constant(ir.VectorType(context.get_data_type(array.dtype), WIDTH), ir.Undefined)
        for k in range(WIDTH):
            place = builder.load(builder.gep(chosen.data, [builder.add(args[2], word(k))]))
            if places.dtype.bitwidth < 64:
                place = builder.zext(place, word)
            found = builder.insert_element(found, builder.load(builder.gep(flat.data, [place])), lane(k))
        return builder.fpext(found, _VECTOR) if array.dtype == types.float32 else found

    return lanes_type(array, places, types.intp), codegen


@intrinsic
def _total(typingctx, lanes):
    def codegen(context, builder, signature, args):
        one = [builder.extract_element(args[0], ir.IntType(32)(k)) for k in range(WIDTH)]
        a, b, c, d = (builder.fadd(one[k], one[k + 4]) for k in range(4))
        return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))

    return types.float64(lanes_type), codegen


@overload(gathered)
def _gathered_compiled(array, places, first):
    return lambda array, places, first: _gathered(array, places, first)


@overload(total)
def _total_compiled(lanes):
    return lambda lanes: _total(lanes)


@intrinsic
def _all_zero(typingctx, table, row, first):
    def codegen(context, builder, signature, args):
        struct = context.make_array(signature.args[0])(context, builder, args[0])
        columns = builder.extract_value(struct.shape, 1)
        pointer = cgutils.gep(builder, struct.data, builder.add(builder.mul(args[1], columns), args[2]))
        vector = ir.VectorType(context.get_data_type(table.dtype), WIDTH)
        pointer = builder.bitcast(pointer, vector.as_pointer())
        loaded = builder.load(pointer, align=table.dtype.bitwidth // 8)
        marks = builder.fcmp_unordered("!=", loaded, ir.Constant(vector, [0.0] * WIDTH))
        return builder.icmp_unsigned("==", builder.bitcast(marks, ir.IntType(WIDTH)), ir.IntType(WIDTH)(0))

    return types.boolean(table, types.intp, types.intp), codegen


@overload(all_zero)
def _all_zero_compiled(table, row, first):
    return lambda table, row, first: _all_zero(table, row, first)


@intrinsic
def _some(typingctx, lanes):
    def codegen(context, builder, signature, args):
        marks = builder.fcmp_unordered("!=", args[0], ir.Constant(_VECTOR, [0.0] * WIDTH))
        any_mark = builder.icmp_unsigned(
            "!=", builder.bitcast(marks, ir.IntType(WIDTH)), ir.IntType(WIDTH)(0)
        )
        return builder.zext(any_mark, ir.IntType(64))

    return types.uint64(lanes_type), codegen


@overload(some)
def _some_compiled(lanes):
    return lambda lanes: _some(lanes)


@intrinsic
def _lowest(typingctx, bits):
    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.uint64), codegen


@overload(lowest)
def _lowest_compiled(bits):
    return lambda bits: _lowest(bits)


@intrinsic
def _fetch(typingctx, array, place):
    def codegen(context, builder, signature, args):
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        struct = context.make_array(signature.args[0])(context, builder, args[0])
        pointer = builder.bitcast(builder.gep(struct.data, [args[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(hint, [pointer, number(0), number(3), number(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


@overload(fetch)
def _fetch_compiled(array, place):
    return lambda array, place: _fetch(array, place)


@overload(nothing)
def _nothing_compiled():
    return lambda: _nothing()


@overload(load)
def _load_compiled(array, first):
    return lambda array, first: _load(array, first)


@overload(store)
def _store_compiled(array, first, lanes):
    return lambda array, first, lanes: _store(array, first, lanes)


@overload(plus_times)
def _plus_times_compiled(lanes, other, factor):
    return lambda lanes, other, factor: _plus_times(lanes, other, factor)


@overload(plus_product)
def _plus_product_compiled(lanes, left, right):
    return lambda lanes, left, right: _plus_product(lanes, left, right)


@intrinsic
def _cell(typingctx):
    kind = types.Array(types.float64, 1, "C")

    def codegen(context, builder, signature, args):
        number = ir.DoubleType()
        place = cgutils.alloca_once_value(builder, ir.Constant(number, 0.0))
        array = context.make_array(kind)(context, builder)
        one, eight = context.get_constant(types.intp, 1), context.get_constant(types.intp, 8)
        context.populate_array(array, data=place, shape=[one], strides=[eight], itemsize=eight, meminfo=None)
        return array._getvalue()

    return kind(), codegen


@intrinsic
def _flattened(typingctx, array):
    kind = types.Array(array.dtype, 1, "C", readonly=not array.mutable)

    def codegen(context, builder, signature, args):
        given = context.make_array(signature.args[0])(context, builder, args[0])
        size = context.get_constant(types.intp, 1)
        for axis in range(array.ndim):
            size = builder.mul(size, builder.extract_value(given.shape, axis))
        view = context.make_array(kind)(context, builder)
        context.populate_array(
            view,
            data=given.data,
            shape=[size],
            strides=[given.itemsize],
            itemsize=given.itemsize,
            meminfo=None,
        )
        return view._getvalue()

    return kind(array), codegen


def _in_one_line(array):
    return array.reshape(array.size, order="A")


def _zero():
    return np.zeros(1)


# An array of one float64 on the stack of the loop that calls this: in a register, after all. (No function of
# ours can return an array, an intrinsic can.)
cell = _zero if _CONFIG.DISABLE_JIT else _cell

# A contiguous array in one dimension, as it lies. (NumPy's reshape brings Numba's code for all arrays into
# every loop.)
flattened = _in_one_line if _CONFIG.DISABLE_JIT else _flattened


def power_of_two(whole):
    """2^n as float32, for n a float32 that is whole, from -126 on."""
    return np.exp2(np.float32(whole))


@intrinsic
def _power_of_two(typing, whole):
    def generate(context, builder, signature, arguments):
        integer = ir.IntType(32)
        exponent = builder.add(builder.fptosi(arguments[0], integer), ir.Constant(integer, 127))
        return builder.bitcast(builder.shl(exponent, ir.Constant(integer, 23)), ir.FloatType())

    return types.float32(types.float32), generate


@overload(power_of_two)
def _power_of_two_compiled(whole):
    return lambda whole: _power_of_two(whole)
