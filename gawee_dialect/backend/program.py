"""A compiled module: its machine code, and what its functions take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.cache import CompileCache, key_of
from gawee_dialect.backend.jit import NativeModule, ObjectCode, Target
from gawee_dialect.backend.packed_program import packed, unpacked
from gawee_dialect.backend.signature import Signature, llvm_function, signature_of
from gawee_dialect.backend.unit_code import (
    compile_in_one_piece,
    compile_together,
    compile_units,
    linked,
    target_parts,
)
from gawee_dialect.dialect.entry import PREPARE
from gawee_dialect.dialect.native_code import sources_of

if TYPE_CHECKING:
    from gawee_dialect.backend.kernel_code import Lowering


@dataclass(frozen=True)
class Program:
    """Machine code of a module at the llvm level, and the signatures of its entry functions."""

    code: ObjectCode
    signatures: Mapping[str, Signature]
    target: Target
    make_module: Callable[[], ModuleOp]
    """Makes the module again, for what needs more than the code."""

    llvm: str = ""
    """The LLVM IR that it was compiled of, where assembly was asked for too."""

    @cached_property
    def module(self) -> ModuleOp:
        """The module at the llvm level; where the code came from a cache, it is made now."""
        return self.make_module()

    def load(self) -> NativeModule:
        """Load the code into this process; raises GaweeError."""
        return NativeModule(self.code, self.target)


def compile_program(
    module: ModuleOp,
    function: str,
    target: Target | None = None,
    cache: CompileCache | None = None,
    *,
    assembly: bool = False,
    runs_once: bool = False,
) -> Program:
    """Compile a module at the llvm level; with a cache, only where its LLVM IR is new.

    With `assembly`, the program has it and the LLVM IR too. What `runs_once` is compiled in as
    little time as may be. Raises GaweeError where the module has
    no such function, or LLVM rejects it.
    """
    target = (target or Target()).resolved()
    signatures = _signatures(module, function)
    text = ""
    if assembly:
        from gawee_dialect.backend.llvm_text import llvm_text

        text = llvm_text(module, target.function_attributes())
        compiled = compile_in_one_piece(text, target, cache)
    elif runs_once:
        from gawee_dialect.backend.code_units import code_units

        compiled = compile_together(code_units(module, target.function_attributes()), target)
    else:
        compiled = _compiled(module, target, cache, {})
    code = replace(compiled, sources=sources_of(module))
    return Program(code, signatures, target, lambda: module, text)


def compile_by_kernels(
    module: ModuleOp,
    function: str,
    lowering: Lowering,
    make_module: Callable[[], ModuleOp],
    cache: CompileCache | None = None,
) -> Program:
    """Compile a module in which kernels are functions for this processor, and change it.

    With a cache, only those kernels are lowered that it lacks. `make_module` makes the module at
    the llvm level, all of it. Raises GaweeError as `lowering` and `compile_program` do.
    """
    from gawee_dialect.backend.kernel_code import compile_kernels, separate_kernels

    target = Target().resolved()
    kernels = separate_kernels(module) or ()
    codes = compile_kernels(kernels, lowering, target, cache)
    lowering.apply(module)
    symbols = {name: code.symbol for name, code in codes.items()}
    entries = _compiled(module, target, cache, symbols)
    code = replace(linked((*codes.values(), entries)), sources=sources_of(module))
    return Program(code, _signatures(module, function), target, make_module)


def _signatures(module: ModuleOp, function: str) -> Mapping[str, Signature]:
    signatures = {function: signature_of(module, function)}
    if signatures[function].of_role("prepared") and llvm_function(module, PREPARE) is not None:
        signatures[PREPARE] = signature_of(module, PREPARE)
    return signatures


def _compiled(
    module: ModuleOp, target: Target, cache: CompileCache | None, symbols: Mapping[str, str]
) -> ObjectCode:
    """Compile a module in pieces; `symbols` are what kernels elsewhere are called, by name."""
    from gawee_dialect.backend.code_units import code_units

    codes, new = compile_units(
        code_units(module, target.function_attributes(), symbols), target, cache
    )
    if cache is not None:
        cache.write_all(new)
    return linked(codes)


def cached_program(
    cache: CompileCache,
    source: str,
    function: str,
    compile: Callable[[], Program],
    lower: Callable[[], ModuleOp],
) -> Program:
    """Return the program of a graph for this processor; it is compiled only where it is new.

    `source` is all that decides what is made: the graph's text, and the options. `lower` makes its
    module at the llvm level. Raises GaweeError as `compile` does.
    """
    target = Target().resolved()
    key = key_of("graph", source, function, *target_parts(target))
    kept = cache.read(key)
    if kept is not None:
        code, signatures = unpacked(kept)
        return Program(code, signatures, target, lower)
    program = compile()
    cache.write(key, packed(program.code, program.signatures))
    return program
