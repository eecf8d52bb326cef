"""The pieces of a program as machine code, each compiled only where the cache lacks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from llvmlite import binding

from gawee_dialect.backend.cache import BACK_END, CompileCache, key_of, versions
from gawee_dialect.backend.jit import ObjectCode, Target, compile_object
from gawee_dialect.backend.packed_program import packed, unpacked

if TYPE_CHECKING:
    from gawee_dialect.backend.code_units import CodeUnit


def target_parts(target: Target) -> tuple[str, ...]:
    """Return what a key says of a target, and of the LLVM that compiles for it."""
    version = ".".join(map(str, binding.llvm_version_info))
    return target.cpu, target.features, str(target.opt_level), version


def compile_units(
    units: Sequence[CodeUnit],
    target: Target,
    cache: CompileCache | None,
    *,
    assembly: bool = False,
) -> tuple[Sequence[ObjectCode], Mapping[str, bytes]]:
    """Return the code of each piece, and what the cache lacked, by its keys there.

    Raises GaweeError where LLVM rejects a piece.
    """
    codes: list[ObjectCode] = []
    new: dict[str, bytes] = {}
    for unit in units:
        # For functions of a thousand arguments LLVM takes long, and there is nothing to gain.
        own = replace(target, opt_level=0) if unit.only_calls and not assembly else target
        # The text says all: which passes wrote it does not matter.
        kind = "llvm and assembly" if assembly else "llvm"
        key = key_of(kind, unit.text, *target_parts(own), state=versions(BACK_END))
        kept = None if cache is None else cache.read(key)
        if kept is None:
            made = compile_object(unit.text, own, assembly=assembly)
            code = replace(made, symbol=unit.symbol)
            new[key] = packed(code, {})
        else:
            code = unpacked(kept)[0]
        codes.append(code)
    return codes, new


def linked(codes: Sequence[ObjectCode]) -> ObjectCode:
    """Return several pieces as one: the last, with all others that it is linked with."""
    objects = {code: None for each in codes for code in each.objects}
    external = dict.fromkeys(name for each in codes for name in each.external)
    *kernels, last = objects
    return replace(codes[-1], code=last, external=tuple(external), kernels=tuple(kernels))
