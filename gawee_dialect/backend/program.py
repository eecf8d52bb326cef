"""A compiled module: its machine code, and what its functions take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import count, takewhile

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.cache import CompileCache, key_of
from gawee_dialect.backend.jit import NativeModule, ObjectCode, Target, compile_object
from gawee_dialect.backend.packed_program import packed, unpacked
from gawee_dialect.backend.signature import Signature, llvm_function, signature_of
from gawee_dialect.backend.unit_code import (
    compile_listed,
    compile_units,
    linked,
    target_parts,
)
from gawee_dialect.dialect.entry import PREPARE, name_of_part
from gawee_dialect.dialect.native_code import sources_of


@dataclass(frozen=True)
class Program:
    """Machine code of a module at the llvm level, and the signatures of its entry functions."""

    code: ObjectCode
    signatures: Mapping[str, Signature]
    target: Target
    make_module: Callable[[], ModuleOp]
    """Makes the module again, for what needs more than the code."""

    llvm: str = ""
    """The LLVM IR that it was compiled of, where assembly is written too."""

    @cached_property
    def module(self) -> ModuleOp:
        """The module at the llvm level; where the code came from a cache, it is made now."""
        return self.make_module()

    def load(self) -> NativeModule:
        """Load the code into this process; raises GaweeError."""
        return NativeModule(self.code, self.target)


class Pieces(Enum):
    """What LLVM compiles in one go."""

    KERNELS = "each kernel, which is lowered by itself too"
    UNITS = "each kernel, and what calls them, where the cache lacks it"
    WHOLE = "all of the module, whose text the program has too, and its assembly"


def compile_program(
    module: ModuleOp,
    function: str,
    target: Target | None = None,
    cache: CompileCache | None = None,
    *,
    pieces: Pieces = Pieces.UNITS,
    kernels: Mapping[str, ObjectCode] | None = None,
    make_module: Callable[[], ModuleOp] | None = None,
) -> Program:
    """Compile a module at the llvm level; with a cache, only where its LLVM IR is new.

    `kernels` are functions that it only declares, compiled already; `make_module` then makes the
    module again, all of it. Raises GaweeError where the module has no such function, or LLVM
    rejects it.
    """
    from gawee_dialect.backend.code_units import code_units, named_units
    from gawee_dialect.backend.llvm_text import llvm_text

    target, known = (target or Target()).resolved(), kernels or {}
    signatures, attributes = signatures_of(module, function), target.function_attributes()
    text = llvm_text(module, attributes) if pieces is Pieces.WHOLE else ""
    if text:
        code, new = compile_listed(named_units(module, attributes), target, cache)
    else:
        symbols = {name: each.symbol for name, each in known.items()}
        codes, new = compile_units(code_units(module, attributes, symbols), target, cache)
        code = linked((*known.values(), *codes))
    if cache is not None:
        cache.write_all(new)
    code = replace(code, sources=sources_of(module))
    return Program(code, signatures, target, make_module or (lambda: module), text)


def compile_joined(module: ModuleOp, target: Target) -> NativeModule:
    """Compile and load a module at the llvm level that runs once, in as little time as may be.

    Raises GaweeError where LLVM rejects it.
    """
    from gawee_dialect.backend.code_units import code_units

    target = target.resolved()
    # To LLVM, code of many small modules is more work than that of one.
    *called, last = code_units(module, target.function_attributes())
    code = compile_object(last.text, target, called=called)
    return NativeModule(replace(code, sources=sources_of(module)), target)


def signatures_of(module: ModuleOp, function: str) -> Mapping[str, Signature]:
    """Return what a function at the llvm level takes, and what prepares its weights, by name.

    Raises GaweeError where there is no such function.
    """
    signatures = {function: signature_of(module, function)}
    if signatures[function].of_role("prepared") and llvm_function(module, PREPARE) is not None:
        signatures[PREPARE] = signature_of(module, PREPARE)
        names = map(name_of_part, count())
        parts = takewhile(lambda name: llvm_function(module, name) is not None, names)
        signatures |= {name: signature_of(module, name) for name in parts}
    return signatures


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
