"""What compiled code has to say to the compiler itself: to write bits as bytes, and to fetch memory early.

Needs the extra `fast`.
"""

from collections.abc import Callable
from typing import Any

from duels.core.extras import extra

with extra("fast"):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic


def _known_to_compiler(function: Callable[..., Any]) -> Any:
    """Like `intrinsic`, but typed as Any: compiled code calls it with one argument less than it has here."""
    return intrinsic(function)


@_known_to_compiler
def write_bits(typing: Any, array: Any, at: Any, bits: Any) -> Any:
    """Write 64 numbers to a contiguous array of bytes, from place `at` on: each bit as 0 or 1."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _place(context, builder, signature, given)
        flags = builder.bitcast(given[2], ir.VectorType(ir.IntType(1), 64))
        numbers = builder.zext(flags, ir.VectorType(ir.IntType(8), 64))
        builder.store(numbers, builder.bitcast(place, ir.PointerType(numbers.type)), align=1)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64), generate


@_known_to_compiler
def fetch_to_read(typing: Any, array: Any, at: Any) -> Any:
    """Say that place `at` of a contiguous array will soon be read, so that nobody has to wait for it then."""
    return types.void(array, types.uint64), _fetch(writes=0)


@_known_to_compiler
def fetch_to_write(typing: Any, array: Any, at: Any) -> Any:
    """The same of a place that will soon be written to."""
    return types.void(array, types.uint64), _fetch(writes=1)


def _fetch(writes: int) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        number = ir.IntType(32)
        place = builder.bitcast(_place(context, builder, signature, given), ir.PointerType(ir.IntType(8)))
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(prefetch, [place, number(writes), number(3), number(1)])  # data, to the first cache
        return context.get_dummy_value()

    return generate


def _place(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    """The address of the place that the second argument says, in the array that is the first."""
    array = context.make_array(signature.args[0])(context, builder, given[0])
    return builder.gep(array.data, [given[1]])
