"""What compiled code has to say to the compiler itself: how to write or copy much at once, or fetch it early.

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
        place = _address(context, builder, signature.args[0], *given[:2])
        flags = builder.bitcast(given[2], ir.VectorType(ir.IntType(1), 64))
        numbers = builder.zext(flags, ir.VectorType(ir.IntType(8), 64))
        builder.store(numbers, builder.bitcast(place, ir.PointerType(numbers.type)), align=1)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64), generate


@_known_to_compiler
def fetch(typing: Any, array: Any, at: Any) -> Any:
    """Say that place `at` of a contiguous array will soon be read, so that nobody has to wait for it then."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        number = ir.IntType(32)
        place = builder.bitcast(
            _address(context, builder, signature.args[0], *given[:2]), ir.PointerType(ir.IntType(8))
        )
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(prefetch, [place, number(0), number(3), number(1)])  # data to read, to the first cache
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


@_known_to_compiler
def copy_four(typing: Any, array: Any, at: Any, source: Any, begin: Any) -> Any:
    """Copy four words to a contiguous array, from place `at` on, from another one at `begin`."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.PointerType(ir.VectorType(ir.IntType(64), 4))
        there = _address(context, builder, signature.args[2], *given[2:])
        here = _address(context, builder, signature.args[0], *given[:2])
        words = builder.load(builder.bitcast(there, kind), align=8)
        builder.store(words, builder.bitcast(here, kind), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, source, types.uint64), generate


def _address(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """The address of a place in an array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [at])
