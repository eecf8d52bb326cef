"""Which functions of a module a check runs, and what they are called with."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects import arith, linalg, llvm, memref
from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType, MemRefType, ModuleOp, NoneAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.effects import VIEWS
from gawee_dialect.analysis.open_sizes import (
    argument_shapes,
    named_sizes,
    open_names_of,
    solved_sizes,
)
from gawee_dialect.analysis.signature import Signature
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import (
    MAIN,
    PREPARE,
    WEIGHTS,
    ArgumentKind,
    EntryArgument,
    entry_arguments,
    find_function,
    is_public,
)
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import DivOp, SqrtOp
from gawee_dialect.dialect.graph.indexing import IndexedOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.movement import MovementOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp, FoldBatchNormOp
from gawee_dialect.dialect.open_size import SizeName, is_open, sizes_at
from gawee_dialect.dialect.types import install_hint, is_shaped
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import ShapedType, dtype_of

if TYPE_CHECKING:
    from gawee_dialect.backend import signature as backend


WHOLE = "whole number"
"""What only whole numbers are computed of: any of its type."""

COUNT = "count"
"""What also floats are computed of: a magnitude that functions of floats can bear."""

INDEX = "index"
NUMBER = "number"
"""What may be an index of something, a shift or a divisor: small."""

ARITHMETIC = frozenset(
    f"{dialect}.{name}"
    for dialect, names in {
        "gawee": "add sub mul neg relu cast compare where clip reduce_sum reduce_max reduce_min "
        "maximum minimum abs sign logical_and logical_or logical_xor logical_not bitwise_and "
        "bitwise_or bitwise_xor bitwise_not",
        "arith": "addi subi muli andi ori xori cmpi select extsi extui trunci sitofp uitofp maxsi "
        "maxui minsi minui",
    }.items()
    for name in names.split()
)
"""Ops of integers that are defined for all of them."""

BY_CONSTANT = frozenset(
    f"arith.{name}"
    for name in "shli shrsi shrui divsi divui remsi remui floordivsi ceildivsi ceildivui".split()
)
"""Ops that are defined for all integers where the second operand is a constant that allows it."""


def use_of_integers(value: SSAValue, sizes: Mapping[str, int]) -> tuple[str, int]:
    """Say what integers are for, and of an index the size of its axis, else 0.

    `sizes` has numbers of those that are open. What is not followed makes them a number.
    """
    seen, waiting, use = set[SSAValue](), [value], WHOLE
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        if isinstance(_element(each), AnyFloat):
            use = COUNT
            continue
        for one in each.uses:
            op = one.operation
            if isinstance(op, IndexedOp) and each is op.positions:
                return INDEX, min(sizes_at(op.named_sizes, sizes), default=0)
            reached = _reached(op, one.index)
            if reached is None:
                return NUMBER, 0
            waiting.extend(reached)
    return (NUMBER, 0) if len(seen) == 1 else (use, 0)


def _element(value: SSAValue) -> Attribute:
    type = value.type
    return type.element_type if is_shaped(type) else type


def _reached(op: Operation, index: int) -> Iterable[SSAValue] | None:
    """Return the values that an operand goes into; None where that may be no arithmetic."""
    if _is_arithmetic(op, index):
        of_floats = any(isinstance(_element(each), AnyFloat) for each in op.operands)
        becomes_whole = all(isinstance(_element(each), IntegerType) for each in op.results)
        return None if of_floats and becomes_whole and op.name == "gawee.cast" else op.results
    match op:
        case ReturnOp() | memref.DeallocOp():
            return ()
        case memref.LoadOp() if index == 0:
            return op.results
        case memref.StoreOp() if index < 2:
            return (op.memref,) if index == 0 else ()
        case memref.CopyOp():
            return (op.destination,)
        case LinalgStructuredOperation() if index < len(op.operands):
            return (op.body.block.args[index],)
        case linalg.ops.YieldOp():
            return tuple(_written(op))
        case CallOp():
            return _argument(op, index)
        case _ if isinstance(op, VIEWS) and index == 0:
            return op.results
        case _:
            return None


def _is_arithmetic(op: Operation, index: int) -> bool:
    """Whether an op is defined for all integers that an operand may be."""
    if isinstance(op, MovementOp):
        return not isinstance(op, IndexedOp)
    return op.name in ARITHMETIC or (op.name in BY_CONSTANT and index == 0 and _allows_all(op))


def _allows_all(op: Operation) -> bool:
    """Whether the second operand is a constant that an op is defined with for all first ones."""
    made, type = op.operands[1].owner, op.operands[1].type
    if not isinstance(made, arith.ConstantOp) or not isinstance(made.value, IntegerAttr):
        return False
    number = made.value.value.data
    width = type.bitwidth if isinstance(type, IntegerType) else 64
    return 0 <= number < width if ".sh" in op.name else number not in (0, -1)


def _written(op: Operation) -> Iterator[SSAValue]:
    parent = op.parent_op()
    if isinstance(parent, LinalgStructuredOperation):
        yield from parent.results
        yield from (each for each in parent.outputs if isinstance(each.type, MemRefType))


def _argument(op: CallOp, index: int) -> Iterable[SSAValue] | None:
    callee = SymbolTable.lookup_symbol(op, op.callee)
    if not isinstance(callee, FuncOp) or not callee.body.blocks:
        return None
    return (callee.body.blocks[0].args[index],)


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
    (`use_of_integers`).
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


Sizes = Mapping[str, int]
"""A number for each size that is open, by its name."""

TILE = 16
"""What the widest vector has, and what tiles of registers have at most: so many numbers in a row
leave each tail of any of them."""

LONG = (65, 131)
"""One more than four of the widest vectors; twice as much and a tail."""


def numbers_of_sizes(module: ModuleOp, function: str) -> Iterator[Sizes]:
    """Yield numbers for the sizes that a function is open in, by which each tail of a tile comes.

    First of each name the least, of which no tile is full, where the others are least. Then all
    from a full tile on, whose tails differ. Then each name is long.
    """
    names = _names_of(module, function)
    least = {each.name: each.low for each in names}
    for name in names:
        for number in islice(_row(name, 0), TILE - 1):
            if number != name.low or name is names[0]:
                yield least | {name.name: number}
    rows = [_row(each, TILE) for each in names]
    for at in range(max(map(len, rows), default=0)):
        # Odd strides, so that no two sizes go together.
        numbers = (row[(2 * n + 1) * at % len(row)] for n, row in enumerate(rows))
        yield {each.name: number for each, number in zip(names, numbers, strict=True)}
    for name in names:
        for number in (each - each % name.step for each in LONG):
            if name.low <= number <= name.high:
                yield least | {name.name: number}


def _row(name: SizeName, first: int) -> range:
    """Return numbers of a name in a row from one on: as many as a tile has, or its last ones."""
    low, step = max(name.low, first), name.step
    low += -low % step
    low = max(name.low, min(low, name.last - (TILE - 1) * step))
    return range(low, min(name.last, low + (TILE - 1) * step) + 1, step)


def _second(name: SizeName) -> int:
    """Return the second number of a name: the least may be 1, of which some ops do others."""
    return min(name.low + name.step, name.last)


def _names_of(module: ModuleOp, function: str) -> Sequence[SizeName]:
    op = find_function(module, function)
    if op is None:
        signature = _llvm_signature(module, function)
        return () if signature is None else signature.size_names
    return open_names_of(op) if any(map(is_open, argument_shapes(op))) else ()


def written_sizes(before: ModuleOp, after: ModuleOp, functions: Iterable[str]) -> Sizes:
    """Return the numbers that functions have, by name, where their arguments' sizes were open.

    Raises GaweeError where a name has two of them, or one that it may not have.
    """
    found: dict[str, int] = {}
    for name in functions:
        was, now = find_function(before, name), find_function(after, name)
        if was is None or now is None or not now.body.blocks:
            continue  # the run says what is missing
        shapes = argument_shapes(now)
        given = {each.name: shapes[each.index] for each in entry_arguments(now)}
        pairs = [
            pair
            for argument, shape in named_sizes(was).items()
            for pair in zip(shape, given.get(argument, ()), strict=False)
        ]
        written = [
            (old, new) for old, new in pairs if is_open((old,)) and not is_open((new,)) and new >= 0
        ]
        named, numbers = ({name: [pair[at] for pair in written]} for at in range(2))
        found |= solved_sizes(named, numbers, open_names_of(was), some=True)
    return found


def argument_specs(module: ModuleOp, function: str, sizes: Sizes | None = None) -> list[ArraySpec]:
    """Describe the arrays that a caller of a function passes, `@prepare`'s included.

    Sizes that are open have the given numbers, else the second of each name.
    """
    if sizes is None:
        sizes = {each.name: _second(each) for each in _names_of(module, function)}
    found: dict[str, ArraySpec] = {}
    for name in (function, PREPARE) if function == MAIN else (function,):
        for spec in _specs_of(module, name, sizes):
            found.setdefault(spec.name, spec)
    return list(found.values())


def _specs_of(module: ModuleOp, name: str, sizes: Sizes) -> Iterable[ArraySpec]:
    function = find_function(module, name)
    if function is None:
        return _llvm_specs(module, name, sizes)
    return _tensor_specs(function, sizes)


def _tensor_specs(function: FuncOp, sizes: Sizes) -> Iterable[ArraySpec]:
    signature = Signature.of(function)
    shapes = argument_shapes(function)
    for argument in signature.of_kind(*GIVEN):
        value = function.body.block.args[argument.index]
        shape = sizes_at(shapes[argument.index], sizes)
        if any(size < 0 for size in shape):
            raise GaweeError(_no_data(argument))
        dtype = _dtype_of(argument)
        use, size = _use(argument.name, value), 0
        if dtype.kind in "iu" and use == "number":
            use, size = use_of_integers(value, sizes)
        elif use == "index":
            _, size = use_of_integers(value, sizes)
        yield ArraySpec(argument.name, shape, dtype, use, size)


def _dtype_of(argument: EntryArgument) -> np.dtype[np.generic]:
    type = argument.type
    dense = not isa(type, MemRefType[Attribute]) or isinstance(type.layout, NoneAttr)
    try:
        if dense:
            return dtype_of(type)
    except InterpretationError:
        pass
    hint = install_hint(type.get_element_type()) if isa(type, ShapedType) and dense else None
    raise GaweeError(_no_data(argument, hint))


def _no_data(argument: EntryArgument, hint: str | None = None) -> Diagnostic:
    message = f"cannot make data for argument '{argument.name}' of type '{argument.type}'"
    return Diagnostic(message, hint=hint)


def _llvm_signature(module: ModuleOp, name: str) -> "backend.Signature | None":
    # The back end needs LLVM: only modules at its level pay for the import.
    from gawee_dialect.backend.signature import llvm_function, signature_of

    return None if llvm_function(module, name) is None else signature_of(module, name)


def _llvm_specs(module: ModuleOp, name: str, sizes: Sizes) -> Iterable[ArraySpec]:
    signature = _llvm_signature(module, name)
    for buffer in () if signature is None else signature.of_role(*GIVEN):
        shape = sizes_at(buffer.shape, sizes)
        yield ArraySpec(buffer.name, shape, buffer.dtype, _use(buffer.name, None))


def _use(name: str, value: SSAValue | None) -> str:
    """Say what an argument is for: by the ops that read it, else by its name."""
    for use in value.uses if value is not None else ():
        match use.operation:
            case SqrtOp():
                return "positive"
            case IndexedOp() as op if value is op.positions:
                return "index"
            case BatchNormOp() | FoldBatchNormOp() as op if value in (op.variance, op.scale):
                return "positive"
            case DivOp() as op if value is op.rhs:
                return "divisor"
            case ConvOp() | ConvTransposeOp() | MatMulOp() | FoldBatchNormOp() as op if (
                value is op.weight
            ):
                return "weight"
            case _:
                pass
    if name.endswith(("running_var", "variance")):
        return "positive"
    return "weight" if name.endswith("weight") else "number"
