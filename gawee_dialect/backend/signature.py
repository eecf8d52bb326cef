"""What the arguments of a compiled function are, read from the attributes of its llvm.func."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Attribute

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.index_check import IndexCheck
from gawee_dialect.dialect.types import dtype_name
from gawee_dialect.hints import isa

if TYPE_CHECKING:
    from xdsl.dialects import llvm

ROLES = ("input", "parameter", "constant", "prepared", "output", "indices", "workspace")


@dataclass(frozen=True)
class Buffer:
    """One pointer argument: its position, role, name, shape and element type."""

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


@dataclass(frozen=True)
class Signature:
    """The buffers of a function, in argument order."""

    function: str
    buffers: tuple[Buffer, ...]

    def of_role(self, *roles: str) -> tuple[Buffer, ...]:
        """Return the buffers of some roles, in argument order."""
        return tuple(buffer for buffer in self.buffers if buffer.role in roles)

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
    function = llvm_function(module, name)
    if function is None:
        raise GaweeError(f"expected a function '@{name}' in the module, got none")
    attributes = [] if function.arg_attrs is None else [each.data for each in function.arg_attrs]
    if len(attributes) != len(function.function_type.inputs):
        raise GaweeError(Diagnostic.at(function, "expected argument attributes 'gawee.type'"))
    buffers = tuple(_buffer(function, index, each) for index, each in enumerate(attributes))
    return Signature(name, buffers)


def _buffer(function: llvm.FuncOp, index: int, attributes: Mapping[str, Attribute]) -> Buffer:
    type = attributes.get("gawee.type")
    role = next((role for role in ROLES if f"gawee.{role}" in attributes), None)
    if role is None or not isa(type, MemRefType[Attribute]):
        raise GaweeError(
            Diagnostic.at(
                function,
                f"expected a buffer as argument {index} of '@{function.sym_name.data}', got "
                f"'{function.function_type.inputs.data[index]}' without a 'gawee.type'",
            )
        )
    marker = attributes[f"gawee.{role}"]
    name = marker.data if isinstance(marker, StringAttr) else role
    dtype = np.dtype(dtype_name(type.element_type))
    check = IndexCheck.of(DictionaryAttr(attributes))
    return Buffer(index, role, name, type.get_shape(), dtype, check)
