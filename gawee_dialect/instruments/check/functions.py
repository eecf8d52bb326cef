"""Which functions of a module a check runs, and what they are called with."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import llvm
from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.open_sizes import argument_shapes, open_names_of
from gawee_dialect.analysis.signature import Signature
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import (
    MAIN,
    PREPARE,
    WEIGHTS,
    ArgumentKind,
    EntryArgument,
    find_function,
    is_public,
)
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import DivOp, SqrtOp
from gawee_dialect.dialect.graph.gather import IndexedOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp
from gawee_dialect.dialect.open_size import is_open, sizes_at
from gawee_dialect.dialect.types import install_hint
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.integer_uses import use_of_integers
from gawee_dialect.interpreter.arrays import ShapedType, dtype_of

PACKED = "_packed"
"""How the name of the form ends that takes one array of pointers, at the llvm level."""


def public_functions(module: ModuleOp) -> list[str]:
    """Return what a check runs: `@main`, or where there is none every public function.

    Packed forms at the llvm level and `@prepare` are left out: they run with their functions. So
    are functions of several blocks, which only native code can run.
    """
    names: list[str] = []
    for op in module.ops:
        if isinstance(op, FuncOp):
            runs = is_public(op) and len(op.body.blocks) == 1
        elif isinstance(op, llvm.FuncOp):
            runs = op.linkage.linkage.data == "external" and bool(op.body.blocks)
        else:
            continue
        name = op.sym_name.data
        if runs and name != PREPARE and not name.endswith(PACKED):
            names.append(name)
    return [MAIN] if MAIN in names else names


def overwritten_arguments(module: ModuleOp, name: str) -> tuple[str, ...]:
    """Return the buffers that a function takes and updates: their contents are its result."""
    function = find_function(module, name)
    if function is None:
        return ()
    return tuple(each.name for each in Signature.of(function).of_kind(ArgumentKind.UPDATED))


GIVEN = (ArgumentKind.INPUT, ArgumentKind.UPDATED, *WEIGHTS)
"""The arguments that a caller passes."""


@dataclass(frozen=True)
class ArraySpec:
    """What an argument must be, and what it is for.

    That is a `number`, an `index`, a `weight`, `positive`, a `divisor`, or what integers are for
    (`integer_uses.py`).
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    use: str = "number"
    size: int = 0
    """Of the axis that indices are of, where that is known."""

    @property
    def is_of_bytes(self) -> bool:
        """Whether it is integers of 8 bits that are no indices: few enough to draw any of them."""
        return self.dtype.kind in "iu" and self.dtype.itemsize == 1 and self.use == "number"


def argument_specs(module: ModuleOp, function: str) -> list[ArraySpec]:
    """Describe the arrays that a caller of a function passes, `@prepare`'s included."""
    found: dict[str, ArraySpec] = {}
    for name in (function, PREPARE) if function == MAIN else (function,):
        for spec in _specs_of(module, name):
            found.setdefault(spec.name, spec)
    return list(found.values())


def _specs_of(module: ModuleOp, name: str) -> Iterable[ArraySpec]:
    function = find_function(module, name)
    if function is None:
        return _llvm_specs(module, name)
    return _tensor_specs(function)


def _tensor_specs(function: FuncOp) -> Iterable[ArraySpec]:
    signature = Signature.of(function)
    shapes = argument_shapes(function)
    # Of open sizes, the second ones: the least may be 1, of which some ops do something else.
    names = open_names_of(function) if any(map(is_open, shapes)) else ()
    sizes = {each.name: min(each.low + each.step, each.last) for each in names}
    for argument in signature.of_kind(*GIVEN):
        value = function.body.block.args[argument.index]
        shape = sizes_at(shapes[argument.index], sizes)
        dtype = _dtype_of(argument)
        use, size = _use(argument.name, value), 0
        if dtype.kind in "iu" and use == "number":
            use, size = use_of_integers(value)
        elif use == "index":
            _, size = use_of_integers(value)
        yield ArraySpec(argument.name, shape, dtype, use, size)


def _dtype_of(argument: EntryArgument) -> np.dtype[np.generic]:
    type = argument.type
    dense = not isa(type, MemRefType[Attribute]) or isinstance(type.layout, NoneAttr)
    try:
        if dense:
            return dtype_of(type)
    except InterpretationError:
        pass
    message = f"cannot make data for argument '{argument.name}' of type '{type}'"
    hint = install_hint(type.get_element_type()) if isa(type, ShapedType) and dense else None
    raise GaweeError(Diagnostic(message, hint=hint))


def _llvm_specs(module: ModuleOp, name: str) -> Iterable[ArraySpec]:
    # The back end needs LLVM: only modules at its level pay for the import.
    from gawee_dialect.backend.signature import llvm_function, signature_of

    function = llvm_function(module, name)
    if function is None:
        return
    for buffer in signature_of(module, name).of_role(*GIVEN):
        yield ArraySpec(buffer.name, buffer.shape, buffer.dtype, _use(buffer.name, None))


def _use(name: str, value: SSAValue | None) -> str:
    """Say what an argument is for: by the ops that read it, else by its name."""
    for use in value.uses if value is not None else ():
        match use.operation:
            case SqrtOp():
                return "positive"
            case IndexedOp() as op if value is op.positions:
                return "index"
            case BatchNormOp() as op if value in (op.variance, op.scale):
                return "positive"
            case DivOp() as op if value is op.rhs:
                return "divisor"
            case ConvOp() | ConvTransposeOp() | MatMulOp() as op if value is op.weight:
                return "weight"
            case _:
                pass
    if name.endswith(("running_var", "variance")):
        return "positive"
    return "weight" if name.endswith("weight") else "number"
