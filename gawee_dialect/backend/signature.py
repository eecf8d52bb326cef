"""What the arguments of a compiled function are, read from the attributes of its llvm.func."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp

from gawee_dialect.analysis.open_sizes import names_of, shape_said
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import EntryArgument, entry_arguments
from gawee_dialect.dialect.index_check import IndexCheck
from gawee_dialect.dialect.open_size import SizeName, sizes_at
from gawee_dialect.dialect.types import dtype_name, is_shaped

if TYPE_CHECKING:
    from xdsl.dialects import llvm


@dataclass(frozen=True)
class Buffer:
    """One argument: its position, role (an `ArgumentKind`), name, shape and element type.

    A scalar is an array without axes. A shape has the forms of sizes that are open.
    """

    index: int
    role: str
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    check: IndexCheck | None = None
    """What the worst indices are about, where the buffer gets these."""

    @property
    def size(self) -> int:
        """The bytes of the array."""
        return prod(self.shape) * self.dtype.itemsize

    def at(self, values: Mapping[str, int], workspace: int) -> Buffer:
        """Return the buffer for numbers of named sizes, and bytes of workspace."""
        is_workspace = self.role == "workspace" and DYNAMIC_INDEX in self.shape
        shape = (workspace,) if is_workspace else sizes_at(self.shape, values)
        return replace(self, shape=tuple(shape))


@dataclass(frozen=True)
class Signature:
    """The buffers of a function, in argument order."""

    function: str
    buffers: tuple[Buffer, ...]

    def of_role(self, *roles: str) -> tuple[Buffer, ...]:
        """Return the buffers of some roles, in argument order."""
        return tuple(buffer for buffer in self.buffers if buffer.role in roles)

    @property
    def sizes(self) -> tuple[str, ...]:
        """The named sizes whose numbers a call gives, in argument order; none of a static one."""
        return tuple(buffer.name for buffer in self.of_role("size"))

    @cached_property
    def size_names(self) -> Sequence[SizeName]:
        """The same with the values that each may have."""
        opened = (size for each in self.buffers for size in each.shape)
        named = {name.name: name for size in opened for name in names_of(size)}
        return [named[name] for name in self.sizes]

    def at(self, values: Mapping[str, int], workspace: int) -> Signature:
        """Return the signature for numbers of its named sizes, and bytes of workspace."""
        buffers = list(self.buffers)
        for index in self._opened:
            buffers[index] = buffers[index].at(values, workspace)
        return replace(self, buffers=tuple(buffers))

    @cached_property
    def _opened(self) -> Sequence[int]:
        """The buffers that depend on sizes: most are weights, which do not."""
        opened = (DYNAMIC_INDEX in each.shape for each in self.buffers)
        return [index for index, is_so in enumerate(opened) if is_so]

    @property
    def workspace_size(self) -> int:
        """The bytes of scratch memory that a call needs."""
        return sum(buffer.size for buffer in self.of_role("workspace"))


def llvm_function(module: ModuleOp, name: str) -> llvm.FuncOp | None:
    """Return the llvm function of a name, None where the module has none."""
    from xdsl.dialects import llvm

    functions = (op for op in module.ops if isinstance(op, llvm.FuncOp))
    return next((function for function in functions if function.sym_name.data == name), None)


def signature_of(module: ModuleOp, name: str) -> Signature:
    """Describe the arguments of a function at the llvm level.

    Raises GaweeError where the function is missing or an argument is not a described buffer.
    """
    from xdsl.dialects.llvm import LLVMVoidType

    function = llvm_function(module, name)
    if function is None:
        raise GaweeError(f"expected a function '@{name}' in the module, got none")
    if not function.body.blocks:
        raise GaweeError(Diagnostic.at(function, f"expected '@{name}' to have a body"))
    returned = function.function_type.output
    if not isinstance(returned, LLVMVoidType):
        message = f"expected '@{name}' to write its outputs to buffers, got a result '{returned}'"
        raise GaweeError(Diagnostic.at(function, message))
    return Signature(name, tuple(_buffer(function, each) for each in entry_arguments(function)))


def _buffer(function: llvm.FuncOp, argument: EntryArgument) -> Buffer:
    type = argument.type
    if not argument.is_marked or type.name == "llvm.ptr":
        raise GaweeError(
            Diagnostic.at(
                function,
                f"expected a buffer as argument {argument.index} of "
                f"'@{function.sym_name.data}', got '{type}' without a 'gawee.type'",
            )
        )
    element, shape = (
        (type.element_type if is_shaped(type) else type),
        shape_said(function, argument),
    )
    dtype = np.dtype(dtype_name(element))
    return Buffer(
        argument.index, argument.kind.value, argument.name, tuple(shape), dtype, argument.check
    )
