"""C entry points as functions of the llvm dialect, so that an object file is self-contained.

size_t NAME_workspace_size(void);
size_t NAME_weights_size(void);
uint64_t NAME_weights_id(void);
int NAME_run(const float *x, float *y, const void *weights, void *workspace);

The status that a run returns is 0, or 1 more than the first of `CInterface.checks` that failed.
Where sizes are open, an array of them is the first argument of the first and of the last function;
a size out of range is a check too, behind those of indices, and no bytes of workspace.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import prod

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    f16,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.llvm import LinkageAttr, LLVMFunctionType, LLVMPointerType
from xdsl.ir import Attribute, Block, Region, SSAValue

from gawee_dialect.backend.llvm_text import llvm_text
from gawee_dialect.backend.memory import CACHE_LINE
from gawee_dialect.backend.signature import Buffer, Signature, llvm_function, signature_of
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import workspace_size_name
from gawee_dialect.dialect.index_check import IndexCheck
from gawee_dialect.dialect.open_size import SizeName
from gawee_dialect.identifiers import c_name

WEIGHT_ROLES = ("parameter", "constant", "prepared")
"""The arguments of the network's function that the one weights blob holds."""

C_KEYWORDS = frozenset(
    (
        "auto break case char const continue default do double else enum extern float for goto if "
        "inline int long register restrict return short signed sizeof static struct switch typedef "
        "union unsigned void volatile while bool class new delete this template weights workspace"
    ).split()
)
"""Names that an argument in C or C++ may not have, ours included."""


@dataclass(frozen=True)
class CInterface:
    """The C view of a compiled function: argument names, and where in the blob each weight is."""

    name: str
    signature: Signature
    inputs: Sequence[tuple[str, Buffer]]
    outputs: Sequence[tuple[str, Buffer]]
    weights: Sequence[tuple[int, Buffer]]
    """Byte offset in the blob, aligned to a cache line."""

    weights_size: int
    weights_id: int
    """Which code the weights are for, 64 bits: a hash of it. What is packed depends on that."""

    checks: Sequence[Buffer]
    """What gets the worst of an op's run-time indices."""

    scalars: Mapping[int, Attribute]
    """The llvm types of the arguments that are given by value, by their index."""

    @property
    def index_checks(self) -> Sequence[IndexCheck]:
        """What each status but 0 is about, in order."""
        return [buffer.check for buffer in self.checks if buffer.check is not None]

    @property
    def sizes(self) -> Sequence[SizeName]:
        """The named sizes that are open, in the order of C's array."""
        return self.signature.size_names

    @property
    def workspace_size(self) -> int | None:
        """The bytes of scratch memory that a run needs; None where that depends on sizes."""
        is_open = any(DYNAMIC_INDEX in each.shape for each in self.signature.of_role("workspace"))
        return None if is_open else self.signature.workspace_size


def c_identifier(name: str, taken: set[str]) -> str:
    """Return a C identifier made from a name, that is not yet taken, and take it."""
    base = c_name(name)
    candidate, number = base, 1
    while candidate in taken or candidate in C_KEYWORDS:
        candidate, number = f"{base}_{number}", number + 1
    taken.add(candidate)
    return candidate


def c_interface(module: ModuleOp, name: str, function: str) -> CInterface:
    """Describe how C calls a function of a module at the llvm level.

    Raises GaweeError where `name` is no C identifier or the function is missing.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII) or name in C_KEYWORDS:
        hint = f"try '{c_identifier(name, set())}'"
        raise GaweeError(Diagnostic(f"expected a C identifier as name, got '{name}'", hint=hint))
    signature = signature_of(module, function)
    taken = {"sizes"} if signature.sizes else set[str]()
    weights: list[tuple[int, Buffer]] = []
    offset = 0
    for buffer in signature.of_role(*WEIGHT_ROLES):
        offset = -(-offset // CACHE_LINE) * CACHE_LINE
        weights.append((offset, buffer))
        offset += buffer.size
    return CInterface(
        name,
        signature,
        [(c_identifier(each.name, taken), each) for each in signature.of_role("input")],
        [(c_identifier(each.name, taken), each) for each in signature.of_role("output", "updated")],
        weights,
        offset,
        _hash(module) if weights else 0,
        signature.of_role("indices"),
        _scalars(module, function),
    )


def _scalars(module: ModuleOp, name: str) -> Mapping[int, Attribute]:
    function = llvm_function(module, name)
    types = () if function is None else function.function_type.inputs.data
    return {at: type for at, type in enumerate(types) if not isinstance(type, LLVMPointerType)}


def _hash(module: ModuleOp) -> int:
    return int.from_bytes(sha256(llvm_text(module).encode()).digest()[:8])


def add_c_entry(module: ModuleOp, interface: CInterface) -> ModuleOp:
    """Return a copy of a module whose only public functions are the C entry points."""
    module = module.clone()
    inner = f"{interface.name}_network"  # the name `main` belongs to the C program
    for op in module.walk():
        match op:
            case llvm.FuncOp() if op.body.blocks:
                op.linkage = LinkageAttr("internal")
                if op.sym_name.data == interface.signature.function:
                    op.sym_name = type(op.sym_name)(inner)
                elif op.sym_name.data == workspace_size_name(interface.signature.function):
                    op.sym_name = type(op.sym_name)(workspace_size_name(inner))
            case llvm.GlobalOp() if op.value is not None:
                op.linkage = LinkageAttr("private")
            case llvm.CallOp() if op.callee is not None:
                if op.callee.root_reference.data == interface.signature.function:
                    op.callee = type(op.callee)(inner)
            case _:
                pass
    module.body.block.add_ops(
        (
            _workspace_function(interface, inner),
            _number_function(f"{interface.name}_weights_size", interface.weights_size),
            _number_function(f"{interface.name}_weights_id", interface.weights_id),
            _run_function(interface, inner),
        )
    )
    return module


def _number_function(name: str, number: int) -> llvm.FuncOp:
    value = llvm.ConstantOp(IntegerAttr(number, i64, truncate_bits=True), i64)
    body = Region(Block([value, llvm.ReturnOp(value.result)]))
    return llvm.FuncOp(name, LLVMFunctionType([], i64), LinkageAttr("external"), body=body)


def _workspace_function(interface: CInterface, inner: str) -> llvm.FuncOp:
    """Make what returns the bytes of workspace: of open sizes, for numbers of them; 0 for wrong
    ones."""
    name, known = f"{interface.name}_workspace_size", interface.workspace_size
    if not interface.sizes:
        return _number_function(name, known or 0)
    pointer = LLVMPointerType()
    block, wrong, fine = Block(arg_types=[pointer]), Block(), Block()
    block.args[0].name_hint = "sizes"
    numbers = _numbers(block, block.args[0], len(interface.sizes))
    status = _status_of_sizes(block, interface, numbers)
    _branch(block, status, fine, wrong)
    zero = llvm.ConstantOp(IntegerAttr(0, i64), i64)
    wrong.add_ops((zero, llvm.ReturnOp(zero.result)))
    if known is None:
        call = llvm.CallOp(workspace_size_name(inner), *numbers, return_type=i64)
        assert call.returned is not None
        fine.add_ops((call, llvm.ReturnOp(call.returned)))
    else:
        number = llvm.ConstantOp(IntegerAttr(known, i64), i64)
        fine.add_ops((number, llvm.ReturnOp(number.result)))
    body = Region([block, wrong, fine])
    return llvm.FuncOp(name, LLVMFunctionType([pointer], i64), LinkageAttr("external"), body=body)


def _numbers(block: Block, sizes: SSAValue, count: int) -> list[SSAValue]:
    """Insert what loads the numbers of open sizes."""
    numbers: list[SSAValue] = []
    for place in range(count):
        element = llvm.GEPOp(sizes, [place], i64, inbounds=True)
        number = llvm.LoadOp(element.result, i64)
        block.add_ops((element, number))
        numbers.append(number.dereferenced_value)
    return numbers


def _branch(block: Block, status: SSAValue, fine: Block, wrong: Block) -> None:
    zero = llvm.ConstantOp(IntegerAttr(0, i32), i32)
    is_fine = llvm.ICmpOp(status, zero.result, EQUAL)
    block.add_ops((zero, is_fine, llvm.CondBrOp(is_fine.res, fine, [], wrong, [])))


def _status_of_sizes(block: Block, interface: CInterface, numbers: Sequence[SSAValue]) -> SSAValue:
    """Insert what finds the first size that is out of range: 0 where none is."""
    status = llvm.ConstantOp(IntegerAttr(0, i32), i32)
    block.add_op(status)
    result: SSAValue = status.result
    first = len(interface.checks) + 1
    sizes = list(enumerate(zip(interface.sizes, numbers, strict=True), first))
    for failed, (size, number) in reversed(sizes):
        code = llvm.ConstantOp(IntegerAttr(failed, i32), i32)
        block.add_op(code)
        for predicate, limit in ((SIGNED_LESS, size.low), (SIGNED_GREATER, size.last)):
            bound = llvm.ConstantOp(IntegerAttr(limit, i64), i64)
            outside = llvm.ICmpOp(number, bound.result, predicate)
            chosen = llvm.SelectOp(outside.res, code.result, result)
            block.add_ops((bound, outside, chosen))
            result = chosen.res
        if size.step > 1:
            step, none = (llvm.ConstantOp(IntegerAttr(each, i64), i64) for each in (size.step, 0))
            rest = llvm.URemOp(number, step.result)
            whole = llvm.ICmpOp(rest.res, none.result, EQUAL)
            chosen = llvm.SelectOp(whole.res, result, code.result)
            block.add_ops((step, none, rest, whole, chosen))
            result = chosen.res
    return result


def _run_function(interface: CInterface, inner: str) -> llvm.FuncOp:
    pointer = LLVMPointerType()
    public = [*interface.inputs, *interface.outputs]
    given = [interface.scalars.get(buffer.index, pointer) for _, buffer in public]
    before = [pointer] if interface.sizes else []
    types = [*before, *map(_c_abi_type, given), pointer, pointer]
    block = first = Block(arg_types=types)
    names = [*(name for name, _ in public), "weights", "workspace"]
    for argument, name in zip(block.args, ["sizes", *names] if before else names, strict=True):
        argument.name_hint = name
    *arrays, weights, workspace = block.args[len(before) :]
    blocks, numbers = [block], list[SSAValue]()
    if interface.sizes:
        numbers = _numbers(block, block.args[0], len(interface.sizes))
        status = _status_of_sizes(block, interface, numbers)
        wrong = Block()
        wrong.add_op(llvm.ReturnOp(status))
        block = Block()
        blocks += [wrong, block]
        _branch(first, status, block, wrong)
    values: dict[int, SSAValue] = {
        buffer.index: _as(type, argument, block)
        for (_, buffer), type, argument in zip(public, given, arrays, strict=True)
    }
    for buffer, number in zip(interface.signature.of_role("size"), numbers, strict=True):
        values[buffer.index] = number
    for buffer in interface.signature.of_role("workspace"):
        values[buffer.index] = workspace
    taken: set[str] = set()
    for offset, buffer in interface.weights:
        place = llvm.GEPOp(weights, [offset], i8, inbounds=True)
        place.result.name_hint = c_identifier(f"{buffer.role}_{buffer.name}", taken)
        block.add_op(place)
        values[buffer.index] = place.result
    for buffer in interface.checks:
        values[buffer.index] = _array(block, prod(buffer.shape))
    block.add_op(llvm.CallOp(inner, *(values[index] for index in range(len(values)))))
    block.add_op(llvm.ReturnOp(_status(block, interface.checks, values)))
    alone: dict[str, Attribute] = {"llvm.noalias": UnitAttr()}
    marks = [DictionaryAttr(alone if type == pointer else {}) for type in types]
    return llvm.FuncOp(
        f"{interface.name}_run",
        LLVMFunctionType(types, i32),
        LinkageAttr("external"),
        body=Region(blocks),
        other_props={"arg_attrs": ArrayAttr(marks)},
    )


def _c_abi_type(type: Attribute) -> Attribute:
    """Return how C hands over a value: a truth is a byte, a half the 16 bits of an integer."""
    others: Mapping[Attribute, Attribute] = {i1: i8, f16: i16}
    return others.get(type, type)


def _as(type: Attribute, value: SSAValue, block: Block) -> SSAValue:
    """Insert what makes an argument of C a value of this type."""
    if value.type == type:
        return value
    change = llvm.BitcastOp if type == f16 else llvm.TruncOp
    made = change(value, type)
    block.add_op(made)
    return made.results[0]


def _array(block: Block, size: int) -> SSAValue:
    """Insert an array of i64 on the stack."""
    count = llvm.ConstantOp(IntegerAttr(size, i64), i64)
    array = llvm.AllocaOp(count.result, i64)
    block.add_ops((count, array))
    return array.res


EQUAL, SIGNED_LESS, SIGNED_GREATER = (IntegerAttr(each, i64) for each in (0, 2, 4))


def _status(block: Block, checks: Sequence[Buffer], values: Mapping[int, SSAValue]) -> SSAValue:
    """Insert what finds the first check that failed: 0 where none did."""
    status = llvm.ConstantOp(IntegerAttr(0, i32), i32)
    block.add_op(status)
    result: SSAValue = status.result
    for number, buffer in reversed(list(enumerate(checks, 1))):
        assert buffer.check is not None
        failed = llvm.ConstantOp(IntegerAttr(number, i32), i32)
        block.add_op(failed)
        for place, limit in enumerate(buffer.check.limits()):
            element = llvm.GEPOp(values[buffer.index], [place], i64, inbounds=True)
            worst = llvm.LoadOp(element.result, i64)
            bound = llvm.ConstantOp(IntegerAttr(limit, i64), i64)
            fits = llvm.ICmpOp(worst.dereferenced_value, bound.result, SIGNED_LESS)
            chosen = llvm.SelectOp(fits.res, result, failed.result)
            block.add_ops((element, worst, bound, fits, chosen))
            result = chosen.res
    return result
