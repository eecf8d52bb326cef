"""Rules of calls and returns: a function is given the buffers that its tensors go to."""

from collections.abc import Mapping

from xdsl.dialects import memref
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, Region, SSAValue

from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.tensors.bufferize.function import FunctionBufferizer, Rules, memref_type
from gawee_dialect.passes.tensors.bufferize.globals import buffer_type
from gawee_dialect.passes.tensors.bufferize.in_place import Root


def declaration(function: FuncOp) -> FuncOp:
    """Return the declaration of a function without a body: results on tensors are arguments."""
    type = function.function_type
    tensors = [result for result in type.outputs if is_tensor(result)]
    inputs = [buffer_type(each) for each in (*type.inputs, *tensors)]
    scalars = [result for result in type.outputs if not is_tensor(result)]
    name, visibility = function.sym_name.data, function.sym_visibility
    declared = FuncOp(name, (inputs, scalars), Region(), visibility)
    declared.attributes |= function.attributes  # such as the code that defines it
    declared.location = function.location
    return declared


def call(to: FunctionBufferizer, op: Operation) -> None:
    """%y = func.call @f(%x) on tensors -> func.call @f(%x, %y), which writes a fresh %y

    Of buffers that have no gaps: what has is copied.
    """
    assert isinstance(op, CallOp)
    operands = [to.dense(each) if is_tensor(each.type) else to.value(each) for each in op.arguments]
    written: list[tuple[SSAValue, SSAValue]] = [
        (result, to.allocate(result.type)) for result in op.results if is_tensor(result.type)
    ]
    scalars = [result for result in op.results if not is_tensor(result.type)]
    buffers = [buffer for _, buffer in written]
    twin = CallOp(op.callee, [*operands, *buffers], [result.type for result in scalars])
    to.builder.insert(twin)
    for result, buffer in written:
        to.assign(result, buffer, Root(writable=True))
    for old, new in zip(scalars, twin.results, strict=True):
        to.new[old] = new


def return_(to: FunctionBufferizer, op: Operation) -> None:
    """func.return %t -> the output argument is %t's buffer, or gets a copy of it, or the scalar"""
    written = [value for value in op.operands if to.is_written(value.type)]
    for old, output in zip(written, to.outputs, strict=True):
        if not is_tensor(old.type):
            to.builder.insert(memref.StoreOp.get(to.value(old), output, ()))
            continue
        buffer = to.source(old)
        if _is_of_other_shape(buffer):
            renamed = _write_to(output, buffer)
            for value in to.roots[old].tensors:
                to.new[value] = renamed.get(to.new[value], to.new[value])
            continue
        alloc = buffer.owner
        if not isinstance(alloc, memref.AllocOp):
            to.builder.insert(memref.CopyOp(buffer, output))
            continue
        buffer.replace_all_uses_with(output)
        for value in to.roots[old].tensors if old in to.roots else ():
            if to.new[value] is buffer:
                to.new[value] = output
        alloc.detach()
        alloc.erase()
    scalars = [to.value(value) for value in op.operands if not to.is_written(value.type)]
    to.builder.insert(ReturnOp(*scalars))


def _is_of_other_shape(buffer: SSAValue) -> bool:
    """Whether a buffer is all of an allocated one that has more axes, as parts of a batch have."""
    view = buffer.owner
    return isinstance(view, memref.CollapseShapeOp) and isinstance(view.src.owner, memref.AllocOp)


def _write_to(output: SSAValue, buffer: SSAValue) -> Mapping[SSAValue, SSAValue]:
    """Let an output be viewed as what was allocated, in its place; return what is what then."""
    view = buffer.owner
    assert isinstance(view, memref.CollapseShapeOp)
    alloc = view.src.owner
    assert isinstance(alloc, memref.AllocOp)
    shape = memref_type(alloc.memref).get_shape()
    parts = memref.ExpandShapeOp.create(
        operands=[output],
        result_types=[alloc.memref.type],
        properties={
            "reassociation": view.reassociation,
            "static_output_shape": DenseArrayBase.from_list(i64, shape),
        },
    )
    hand_on_location(alloc, parts)
    parts.result.name_hint = alloc.memref.name_hint
    block = alloc.parent
    assert block is not None
    block.insert_op_before(parts, alloc)
    alloc.memref.replace_all_uses_with(parts.result)
    alloc.detach()
    alloc.erase()
    buffer.replace_all_uses_with(output)
    view.detach()
    view.erase()
    return {buffer: output, alloc.memref: parts.result}


RULES: Rules = {CallOp: call, ReturnOp: return_}
