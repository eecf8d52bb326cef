"""What the llvm level claims of pointers, derived again: `readonly`, `noalias`, `align`.

LLVM believes a claim, and may or may not make something of it that shows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import gcd
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects import llvm
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.types import dtype_name
from gawee_dialect.instruments.check.failure import Violation
from gawee_dialect.instruments.check.native_run import ALIGNED, READ
from gawee_dialect.upstream.llvm_vector import MaskedStoreOp

if TYPE_CHECKING:
    from gawee_dialect.backend.signature import Buffer

ALIGNMENT = 64
"""Of our memory, in bytes."""


@dataclass(frozen=True)
class Pointer:
    """A pointer as the one that it was made from, and its distance from that in bytes.

    The distance is None where it is not a constant.
    """

    root: SSAValue
    offset: int | None = 0


def pointer_of(value: SSAValue) -> Pointer:
    """Follow a pointer back to an argument of its function, or to what made it."""
    offset: int | None = 0
    while isinstance(value.owner, llvm.GEPOp):
        step = _distance(value.owner)
        offset = None if offset is None or step is None else offset + step
        value = value.owner.ptr
    return Pointer(value, offset)


def _distance(op: llvm.GEPOp) -> int | None:
    indices = op.rawConstantIndices.get_values()
    if op.ssa_indices or len(indices) != 1:
        return None
    try:
        return indices[0] * _size(op.elem_type)
    except VerifyException:
        return None


def _size(type: Attribute) -> int:
    return 8 if isinstance(type, LLVMPointerType) else np.dtype(dtype_name(type)).itemsize


@dataclass
class _Claims:
    """The functions of a module, what they claim, and which of their arguments they write."""

    functions: Mapping[str, llvm.FuncOp]
    _written: dict[str, set[int]] = field(default_factory=dict[str, set[int]])

    def of(self, function: llvm.FuncOp, index: int) -> Mapping[str, Attribute]:
        attributes = function.arg_attrs
        entries = None if attributes is None else attributes.data[index]
        return entries.data if isinstance(entries, DictionaryAttr) else {}

    def number(self, function: llvm.FuncOp, index: int, name: str) -> int:
        value = self.of(function, index).get(name)
        return value.value.data if isinstance(value, IntegerAttr) else 0

    def callee(self, op: Operation) -> llvm.FuncOp | None:
        if not isinstance(op, llvm.CallOp) or op.callee is None:
            return None
        found = self.functions.get(op.callee.string_value())
        return found if found is not None and found.body.blocks else None

    def written(self, function: llvm.FuncOp) -> set[int]:
        """Return the arguments that a function stores to, or that its callees do."""
        name = function.sym_name.data
        if name not in self._written:
            self._written[name] = set()  # while a function that calls itself is looked at
            self._written[name] = set(_indices(self.writes(function)))
        return self._written[name]

    def writes(self, function: llvm.FuncOp) -> Iterator[tuple[Operation, SSAValue]]:
        """Yield the ops of a function that write memory, and the pointer that they were given."""
        for op in function.walk():
            callee = self.callee(op)
            if isinstance(op, llvm.StoreOp):
                yield op, pointer_of(op.ptr).root
            elif isinstance(op, MaskedStoreOp) or op.name in (
                "llvm.intr.memcpy",
                "llvm.intr.memset",
            ):
                pointers = [each for each in op.operands if isinstance(each.type, LLVMPointerType)]
                yield op, pointer_of(pointers[0]).root
            elif callee is not None and isinstance(op, llvm.CallOp):
                for index in sorted(self.written(callee)):
                    yield op, pointer_of(op.args[index]).root


def _indices(writes: Iterator[tuple[Operation, SSAValue]]) -> Iterator[int]:
    for _, root in writes:
        if isinstance(root, BlockArgument) and root.block.prev_block is None:
            yield root.index


def wrong_pointer_claims(module: ModuleOp) -> Iterator[Violation]:
    """Yield the ops of the llvm level that make a claim of a pointer false."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, llvm.FuncOp)}
    claims = _Claims(functions)
    for function in functions.values():
        if not function.body.blocks:
            continue
        yield from _entry_claims(module, claims, function)
        owned = {
            each.index: f"{each.role} '{each.name}'"
            for each in _buffers(module, function)
            if each.role in READ
        }
        for op, root in claims.writes(function):
            if not isinstance(root, BlockArgument) or root.block.prev_block is not None:
                continue
            if root.index in owned:
                yield Violation(op, f"writes its {owned[root.index]}")
            if "llvm.readonly" in claims.of(function, root.index):
                message = (
                    f"writes an argument that '@{function.sym_name.data}' claims to be readonly"
                )
                yield Violation(op, message)
        for op in function.walk():
            callee = claims.callee(op)
            if callee is not None and isinstance(op, llvm.CallOp):
                yield from _call_claims(claims, function, op, callee)
            if isinstance(op, llvm.LoadOp | llvm.StoreOp):
                yield from _access_claims(claims, function, op)


def _access_claims(
    claims: _Claims, function: llvm.FuncOp, op: llvm.LoadOp | llvm.StoreOp
) -> Iterator[Violation]:
    """Compare the alignment of a load or store with that of its pointer.

    An index that is not known may be 0: the place is aligned as its buffer is.
    """
    pointer = pointer_of(op.ptr)
    known = _alignment(claims, function, replace(pointer, offset=pointer.offset or 0))
    claimed = 0 if op.alignment is None else op.alignment.value.data
    if known is not None and claimed > known:
        yield Violation(op, f"claims an alignment of {claimed}, where its pointer has {known}")


def _entry_claims(module: ModuleOp, claims: _Claims, function: llvm.FuncOp) -> Iterator[Violation]:
    """Compare what an entry function claims with what its callers promise."""
    for buffer in _buffers(module, function):
        promised = ALIGNMENT if buffer.role in ALIGNED else buffer.dtype.itemsize
        what = f"of {buffer.role} '{buffer.name}'"
        claimed = claims.number(function, buffer.index, "llvm.align")
        if claimed > promised:
            message = f"claims an alignment {what} of {claimed}, where callers promise {promised}"
            yield Violation(function, message)
        readable = claims.number(function, buffer.index, "llvm.dereferenceable")
        size = max(buffer.size, 0)  # of a workspace of open size nothing is known
        if readable > size:
            message = f"claims {readable} bytes {what}, which has {size}"
            yield Violation(function, message)


def _buffers(module: ModuleOp, function: llvm.FuncOp) -> Sequence["Buffer"]:
    from gawee_dialect.backend.signature import signature_of

    try:
        return signature_of(module, function.sym_name.data).buffers
    except (GaweeError, VerifyException):
        return ()  # it has no callers outside


def _call_claims(
    claims: _Claims, caller: llvm.FuncOp, op: llvm.CallOp, callee: llvm.FuncOp
) -> Iterator[Violation]:
    """Compare what a function claims of its arguments with what it is called with."""
    name, written = callee.sym_name.data, claims.written(callee)
    pointers = {
        index: pointer_of(value)
        for index, value in enumerate(op.args)
        if isinstance(value.type, LLVMPointerType)
    }
    for left, right in combinations(pointers, 2):
        alone = any("llvm.noalias" in claims.of(callee, each) for each in (left, right))
        if not alone or not {left, right} & written:
            continue
        sizes = [claims.number(callee, each, "llvm.dereferenceable") for each in (left, right)]
        if _overlap(pointers[left], pointers[right], sizes):
            message = f"arguments {left} and {right} of '@{name}' overlap, which it claims noalias"
            yield Violation(op, message)
    for index, pointer in pointers.items():
        claimed = claims.number(callee, index, "llvm.align")
        known = _alignment(claims, caller, pointer)
        if claimed > 1 and known is not None and known % claimed:
            message = f"argument {index} of '@{name}' is aligned to {known}, which claims {claimed}"
            yield Violation(op, message)


def _overlap(left: Pointer, right: Pointer, sizes: Sequence[int]) -> bool:
    if left.root is not right.root or left.offset is None or right.offset is None:
        return False
    return left.offset < right.offset + sizes[1] and right.offset < left.offset + sizes[0]


def _alignment(claims: _Claims, caller: llvm.FuncOp, pointer: Pointer) -> int | None:
    """Return the alignment of a pointer; None where it is not known."""
    root = pointer.root
    if pointer.offset is None or not isinstance(root, BlockArgument) or root.block.prev_block:
        return None
    known = claims.number(caller, root.index, "llvm.align")
    return gcd(known, pointer.offset) if known else None
