"""A compiled module: its machine code, and what its functions take."""

import json
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import cached_property

import numpy as np
from llvmlite import binding
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.cache import CompileCache, key_of
from gawee_dialect.backend.jit import NativeModule, ObjectCode, Target, compile_object
from gawee_dialect.backend.signature import Buffer, Signature, llvm_function, signature_of
from gawee_dialect.dialect.entry import PREPARE
from gawee_dialect.dialect.index_check import IndexCheck
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.hints import isa


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
) -> Program:
    """Compile a module at the llvm level; with a cache, only where its LLVM IR is new.

    With `assembly`, the program has it and the LLVM IR too. Raises GaweeError where the module has
    no such function, or LLVM rejects it.
    """
    target = (target or Target()).resolved()
    signatures = {function: signature_of(module, function)}
    if signatures[function].of_role("prepared") and llvm_function(module, PREPARE) is not None:
        signatures[PREPARE] = signature_of(module, PREPARE)
    from gawee_dialect.backend.llvm_text import llvm_text

    text = llvm_text(module, target.function_attributes())
    compiled = _compiled(text, target, cache, assembly=assembly)
    code = replace(compiled, sources=sources_of(module))
    return Program(code, signatures, target, lambda: module, text if assembly else "")


def cached_program(
    cache: CompileCache,
    source: str,
    function: str,
    lower: Callable[[], ModuleOp],
    target: Target | None = None,
) -> Program:
    """Return the program of a graph; it is lowered only where neither it nor its code is known.

    `source` is all that decides what `lower` makes: the graph's text, and the options. Raises
    GaweeError as `lower` and `compile_program` do.
    """
    target = (target or Target()).resolved()
    key = key_of("graph", source, function, *target_parts(target))
    kept = cache.read(key)
    if kept is not None:
        code, signatures = _unpacked(kept)
        return Program(code, signatures, target, lower)
    program = compile_program(lower(), function, target, cache)
    cache.write(key, _packed(program.code, program.signatures))
    return program


def target_parts(target: Target) -> tuple[str, ...]:
    """Return what a key says of a target, and of the LLVM that compiles for it."""
    version = ".".join(map(str, binding.llvm_version_info))
    return target.cpu, target.features, str(target.opt_level), version


def _compiled(
    text: str, target: Target, cache: CompileCache | None, *, assembly: bool
) -> ObjectCode:
    if cache is None:
        return compile_object(text, target, assembly=assembly)
    kind = "llvm and assembly" if assembly else "llvm"
    key = key_of(kind, text, *target_parts(target))
    kept = cache.read(key)
    if kept is not None:
        return _unpacked(kept)[0]
    code = compile_object(text, target, assembly=assembly)
    cache.write(key, _packed(code, {}))
    return code


def _packed(code: ObjectCode, signatures: Mapping[str, Signature]) -> bytes:
    described = {
        "external": code.external,
        "sources": dict(code.sources),
        "assembly": code.assembly,
        "signatures": {
            name: [
                [
                    *(each.role, each.name, list(each.shape), each.dtype.name),
                    None if each.check is None else astuple(each.check),
                ]
                for each in signature.buffers
            ]
            for name, signature in signatures.items()
        },
    }
    return json.dumps(described).encode() + b"\n" + code.code


def _unpacked(data: bytes) -> tuple[ObjectCode, dict[str, Signature]]:
    head, _, code = data.partition(b"\n")
    described: object = json.loads(head)
    assert isa(described, dict[str, object])
    external, signatures = described["external"], described["signatures"]
    sources, assembly = described["sources"], described["assembly"]
    assert isa(external, list[str])
    assert isa(signatures, dict[str, list[object]])
    assert isa(sources, dict[str, str])
    assert isinstance(assembly, str)
    return ObjectCode(code, tuple(external), sources, assembly), {
        name: Signature(name, tuple(map(_buffer, range(len(buffers)), buffers)))
        for name, buffers in signatures.items()
    }


def _buffer(index: int, described: object) -> Buffer:
    assert isa(described, list[object])
    role, name, shape, dtype, check = described
    assert isinstance(role, str)
    assert isinstance(name, str)
    assert isa(shape, list[int])
    assert isinstance(dtype, str)
    known = None if check is None else _check(check)
    return Buffer(index, role, name, tuple(shape), np.dtype(dtype), known)


def _check(described: object) -> IndexCheck:
    assert isa(described, list[object])
    op, axes, sizes, place, node, from_end = described
    assert isinstance(op, str)
    assert isa(axes, list[int])
    assert isa(sizes, list[int])
    assert isa(place, str | None)
    assert isa(node, str | None)
    assert isinstance(from_end, bool)
    return IndexCheck(op, tuple(axes), tuple(sizes), place, node, from_end)
