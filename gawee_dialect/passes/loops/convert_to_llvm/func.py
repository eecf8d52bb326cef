"""Functions: bare pointers in argument order, what is known of them as attributes.

Every argument attribute stays, so that the llvm level alone still says what the inputs, parameters
and outputs are; `gawee.type` keeps the memref type that the pointer no longer shows.
"""

from collections.abc import Mapping
from functools import lru_cache

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    i64,
)
from xdsl.dialects.llvm import LinkageAttr, LLVMFunctionType, LLVMPointerType, LLVMVoidType
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from gawee_dialect.analysis.open_sizes import RANGES
from gawee_dialect.analysis.signature import Signature
from gawee_dialect.dialect.entry import SIZES, ArgumentKind, is_public
from gawee_dialect.hints import isa
from gawee_dialect.passes.loops.convert_to_llvm.conversion import (
    Declined,
    FunctionConversion,
    converted_type,
    lane_type,
    rule,
)
from gawee_dialect.passes.loops.convert_to_llvm.instructions import address_at, load
from gawee_dialect.passes.loops.convert_to_llvm.memref import ALIGNMENT, buffer_bytes, stored_bytes
from gawee_dialect.upstream.llvm import NOT_INLINED

ALIGNED = (ArgumentKind.PREPARED, ArgumentKind.WORKSPACE)
"""The arguments whose memory is ours: aligned to ALIGNMENT; a user's array only to its elements."""


NO_KEYWORDS: dict[str, Attribute] = {"unnamed_addr": IntegerAttr(0, i64)}
"""What xDSL's parser makes of a function without keywords: so that text reads back as it was."""


def function_type(function: func.FuncOp) -> LLVMFunctionType:
    """Return the llvm type of a function; raises Declined where a type has no counterpart."""
    inputs = [converted_type(type) for type in function.function_type.inputs]
    outputs = [converted_type(type) for type in function.function_type.outputs]
    if len(outputs) > 1 or any(isinstance(type, LLVMPointerType) for type in outputs):
        raise Declined(
            "expected at most one scalar result, got "
            + ", ".join(f"'{type}'" for type in function.function_type.outputs)
        )
    return LLVMFunctionType(inputs, outputs[0] if outputs else LLVMVoidType())


@lru_cache(maxsize=4096)
def pointer_attributes(
    type: MemRefType[Attribute],
    kind: ArgumentKind | None,
    read_only: bool,
    *,
    is_sized: bool = False,
) -> Mapping[str, Attribute]:
    """Return what LLVM may assume of a pointer argument.

    Raises Declined for a type that leaves a size open, unless the buffer `is_sized` otherwise.
    """
    entries: dict[str, Attribute] = {"llvm.noalias": UnitAttr()}
    # How large a buffer of open sizes is, the type does not say.
    is_open = is_sized and DYNAMIC_INDEX in type.get_shape()
    size = 0 if is_open else buffer_bytes(type)
    alignment = ALIGNMENT if kind in ALIGNED else stored_bytes(lane_type(type.element_type))
    entries["llvm.align"] = IntegerAttr(alignment, i64)
    if size > 0:
        entries["llvm.nonnull"] = UnitAttr()
        entries["llvm.dereferenceable"] = IntegerAttr(size, i64)
    if read_only:
        entries["llvm.readonly"] = UnitAttr()
    return entries


def argument_attributes(function: func.FuncOp, to: FunctionConversion) -> ArrayAttr[DictionaryAttr]:
    """Return the attributes of every argument of the llvm function.

    A public function's say what each argument is, also where no pass has marked it before.
    """
    result: list[DictionaryAttr] = []
    signature = Signature.of(function)
    values, given = function.body.blocks[0].args, function.arg_attrs
    for described, value in zip(signature.arguments, values, strict=True):
        entries = {} if given is None else dict(given.data[described.index].data)
        if is_public(function):
            entries |= {**described.attributes().data, "gawee.type": value.type}
        if isa(value.type, MemRefType[Attribute]):
            kind = described.kind if described.is_marked else None
            sized = SIZES in entries or kind is ArgumentKind.WORKSPACE or not is_public(function)
            read_only = to.is_read_only(value)
            entries |= pointer_attributes(value.type, kind, read_only, is_sized=sized)
        result.append(DictionaryAttr(entries))
    return ArrayAttr(result)


def preorder(entry: Block) -> list[Block]:
    """Return the blocks that are reached, each after the blocks that dominate it."""
    found: dict[Block, None] = {}
    pending = [entry]
    while pending:
        block = pending.pop()
        if block in found:
            continue
        found[block] = None
        if block.last_op is not None:
            pending.extend(reversed(block.last_op.successors))
    return list(found)


def _include_offset(argument: BlockArgument, to: FunctionConversion) -> None:
    """Advance a pointer argument by the offset of its layout, which the caller does not add."""
    if not isa(argument.type, MemRefType[Attribute]):
        return
    offset = argument.type.get_offset()
    if offset is None:
        raise Declined(f"expected a static offset, got '{argument.type}'")
    if offset:
        element = converted_type(argument.type.element_type)
        made = llvm.GEPOp(to.value(argument), [offset], element, inbounds=True)
        to.define_view(argument, argument, to.compute(made))


def convert_function(function: func.FuncOp, to: FunctionConversion) -> llvm.FuncOp:
    """func.func @f(%m: memref<..>)  ->  llvm.func @f(%m: !llvm.ptr)

    Raises Declined where the signature has no counterpart.
    """
    type = function_type(function)
    linkage = LinkageAttr("external" if is_public(function) else "internal")
    if not function.body.blocks:
        declared = llvm.FuncOp(function.sym_name, type, LinkageAttr("external"))
        declared.attributes |= function.attributes  # such as the code that defines it
        return declared
    blocks = preorder(function.body.blocks[0])
    to.blocks = {block: to.block_like(block.args) for block in blocks}
    for index, block in enumerate(blocks):
        to.start(to.blocks[block])
        to.forget()
        if index == 0:
            for argument in block.args:
                _include_offset(argument, to)
        to.convert_ops(list(block.ops))
    to.finish()
    attributes: dict[str, Attribute | None] = {**NO_KEYWORDS}
    if not is_public(function):
        attributes["passthrough"] = NOT_INLINED
    if not to.diagnostics:
        attributes["arg_attrs"] = argument_attributes(function, to)
    new = llvm.FuncOp(function.sym_name, type, linkage, body=to.region, other_props=attributes)
    if RANGES in function.attributes:
        new.attributes[RANGES] = function.attributes[RANGES]
    return new


def packed_entry(function: llvm.FuncOp) -> llvm.FuncOp:
    """Make `@f_packed`, which takes one array of pointers and calls `@f` with them.

    A scalar argument is read from where its pointer points.
    """
    pointer = LLVMPointerType()
    known: dict[str, Attribute] = {
        "llvm.noalias": UnitAttr(),
        "llvm.readonly": UnitAttr(),
    }
    block = Block(arg_types=[pointer])
    block.args[0].name_hint = "args"
    loaded: list[SSAValue] = []
    values = function.body.blocks[0].args
    for index, type in enumerate(function.function_type.inputs):
        place = address_at(block.args[0], [index], pointer)
        argument = load(place.results[0], pointer, None)
        argument.results[0].name_hint = values[index].name_hint
        block.add_ops((place, argument))
        if type != pointer:
            argument = load(argument.results[0], type, None)
            block.add_op(argument)
        loaded.append(argument.results[0])
    block.add_ops((llvm.CallOp(function.sym_name.data, *loaded), llvm.ReturnOp()))
    return llvm.FuncOp(
        f"{function.sym_name.data}_packed",
        LLVMFunctionType([pointer]),
        LinkageAttr("external"),
        body=Region(block),
        other_props={**NO_KEYWORDS, "arg_attrs": ArrayAttr([DictionaryAttr(known)])},
    )


def convert_return(op: func.ReturnOp, to: FunctionConversion) -> None:
    """func.return  ->  llvm.return"""
    values = to.all_values(op.arguments)
    if len(values) > 1:
        raise Declined(f"expected at most one value, got {len(values)}")
    to.append(llvm.ReturnOp(values[0] if values else None))


def convert_call(op: func.CallOp, to: FunctionConversion) -> None:
    """func.call  ->  llvm.call; the callee may write every memref it is given"""
    arguments = to.all_values(op.arguments)
    if len(op.res) > 1:
        raise Declined(f"expected at most one result, got {len(op.res)}")
    type = converted_type(op.res[0].type) if op.res else None
    call = llvm.CallOp(op.callee, *arguments, return_type=type)
    to.append(call)
    if call.returned is not None:
        to.define(op.res[0], call.returned)


RULES = (
    rule(func.ReturnOp, convert_return),
    rule(func.CallOp, convert_call),
)
