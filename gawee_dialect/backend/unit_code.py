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
    units: Sequence[CodeUnit], target: Target, cache: CompileCache | None
) -> tuple[Sequence[ObjectCode], Mapping[str, bytes]]:
    """Return the code of each piece, and what the cache lacked, by its keys there.

    Raises GaweeError where LLVM rejects a piece.
    """
    codes: list[ObjectCode] = []
    new: dict[str, bytes] = {}
    for unit in units:
        # For functions of a thousand arguments LLVM takes long, and there is nothing to gain.
        own = replace(target, opt_level=0) if unit.only_calls else target
        # The text says all: which passes wrote it does not matter.
        key = _key("llvm", [unit], own)
        kept = None if cache is None else cache.read(key)
        if kept is None:
            code = replace(compile_object(unit.text, own), symbol=unit.symbol)
            new[key] = packed(code, {})
        else:
            code = unpacked(kept)[0]
        codes.append(code)
    return codes, new


def compile_listed(
    units: Sequence[CodeUnit], target: Target, cache: CompileCache | None
) -> tuple[ObjectCode, Mapping[str, bytes]]:
    """Return the code of all pieces as one, with its assembly, and what the cache lacked.

    Raises GaweeError where LLVM rejects a piece.
    """
    key = _key("llvm and assembly", units, target)
    kept = None if cache is None else cache.read(key)
    if kept is not None:
        return unpacked(kept)[0], {}
    *called, last = units
    code = compile_object(last.text, target, assembly=True, called=called)
    return code, {key: packed(code, {})}


def _key(kind: str, units: Sequence[CodeUnit], target: Target) -> str:
    texts = (unit.text for unit in units)
    return key_of(kind, *texts, *target_parts(target), state=versions(BACK_END))


def linked(codes: Sequence[ObjectCode]) -> ObjectCode:
    """Return several pieces as one: the last, with all others that it is linked with."""
    objects = {code: None for each in codes for code in each.objects}
    external = dict.fromkeys(name for each in codes for name in each.external)
    *kernels, last = objects
    return replace(codes[-1], code=last, external=tuple(external), kernels=tuple(kernels))
