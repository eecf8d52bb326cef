"""Rules of structured ops, kernels and scalars."""

from collections.abc import Sequence

from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import AffineMapAttr, DenseIntOrFPElementsAttr
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Operation, Region
from xdsl.ir.affine import AffineDimExpr, AffineMap

from gawee_dialect.analysis.index_bounds import Index
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.graph.lower_to_linalg.open_sizes import form_value
from gawee_dialect.passes.next_pass import hint_on_tensors
from gawee_dialect.passes.tensors.bufferize.function import FunctionBufferizer, Rules, memref_type
from gawee_dialect.passes.tensors.bufferize.globals import buffer_type
from gawee_dialect.passes.tensors.bufferize.in_place import Root
from gawee_dialect.passes.tensors.bufferize.tensors import place_between, place_in_batch
from gawee_dialect.upstream import linalg


def structured_or_scalar(to: FunctionBufferizer, op: Operation) -> None:
    """Bufferize an op of a kind that has no rule of its own; what has no tensors stays."""
    if not any(
        is_tensor(value.type) for inner in op.walk() for value in (*inner.operands, *inner.results)
    ):
        to.builder.insert(op.clone(to.new))
    elif isinstance(op, LinalgStructuredOperation):
        structured(to, op)
    elif isinstance(op, StructuredKernel):
        kernel(to, op)
    else:
        to.reject("no rule is for it", hint_on_tensors(op))


def structured(to: FunctionBufferizer, op: LinalgStructuredOperation) -> None:
    """linalg.op ins(%a) outs(%c) -> the same on memrefs, writing %c's buffer or a fresh one"""
    for inner in op.body.walk():
        values = (*inner.operands, *inner.results)
        if not isinstance(inner, tensor.ExtractOp) and any(is_tensor(v.type) for v in values):
            to.reject(f"expected scalars in its body, got '{inner.name}'")
    arguments = zip(op.outputs, op.body.block.args[len(op.inputs) :], strict=True)
    destinations = [
        to.destination(op, out, reads=bool(argument.uses))
        for out, argument in arguments
        if is_tensor(out.type)
    ]
    operands = [
        to.source(value) if is_tensor(value.type) else to.value(value) for value in op.inputs
    ]
    operands += [buffer for buffer, _ in destinations] or map(to.value, op.outputs)
    body = Region()
    op.body.clone_into(body, value_mapper=to.new)
    for inner in tuple(body.walk()):
        if isinstance(inner, tensor.ExtractOp):
            _load(inner)
    op_type: type[Operation] = type(op)
    to.builder.insert(
        op_type.create(
            operands=operands,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=[body],
        )
    )
    for result, (buffer, root) in zip(op.res, destinations, strict=True):
        to.assign(result, buffer, root)


def _load(op: tensor.ExtractOp) -> None:
    """tensor.extract %t[%i] -> memref.load %m[%i]"""
    block = op.parent
    assert block is not None
    load = memref.LoadOp.get(op.tensor, op.indices)
    hand_on_location(op, load)
    block.insert_op_before(load, op)
    op.result.replace_all_uses_with(load.res)
    op.detach()
    op.erase()


def kernel(to: FunctionBufferizer, op: StructuredKernel) -> None:
    """gawee.kernel ins(%a) -> the same on memrefs, writing a fresh buffer, with its scratch

    Never in place: a kernel may read other elements of its inputs than the one it computes. One
    whose result is put between others writes there, if no reader sees that.
    """
    sizes: Sequence[Index] = ()
    if isinstance(op, KernelOp) and op.shape is not None:
        sizes = _sizes(to, op)
    elif isinstance(op, KernelOp):
        place = place_between(to, op)
        if place is None and op.result is not None:
            place = place_in_batch(to, op.result)
        if place is not None:
            view, root = place
            inputs = [to.source(value) for value in op.inputs]
            new = op.with_operands(inputs, view, values=to.new, moves_regions=True)
            to.builder.insert(new)
            to.assign(op.target, view, root)
            return
    fresh = to.allocate(op.target.type, sizes)
    scratch = [to.allocate(type) for type in op.scratch_types]
    inputs = [to.source(value) for value in op.inputs]
    packed = [to.source(value) for value in op.packed]
    if isinstance(op, KernelOp):
        new = op.with_operands(inputs, fresh, values=to.new, moves_regions=True)
    else:
        new = op.with_operands(inputs, fresh, packed=packed, scratch=scratch, values=to.new)
    to.builder.insert(new)
    to.assign(op.target, fresh, Root(writable=True))


def _sizes(to: FunctionBufferizer, op: KernelOp) -> Sequence[Index]:
    """Return the sizes of what a kernel computes, of the names that it is given."""
    values = {name: to.value(count) for name, count in zip(op.names, op.counts, strict=True)}
    return [
        form_value(to.builder, size, values.__getitem__) if isinstance(size, OpenSize) else size
        for size in op.target_shape
    ]


def constant(to: FunctionBufferizer, op: Operation) -> None:
    """arith.constant dense<...> -> memref.get_global of a read-only global"""
    assert isinstance(op, arith.ConstantOp)
    if not isa(op.value, DenseIntOrFPElementsAttr) or not is_tensor(op.result.type):
        to.builder.insert(op.clone(to.new))
        return
    name = to.constants.name_of(op.value, op)
    get_global = to.builder.insert(memref.GetGlobalOp(name, buffer_type(op.result.type)))
    to.assign(op.result, get_global.memref, Root(writable=False))


def broadcast(to: FunctionBufferizer, op: Operation) -> None:
    """linalg.broadcast ins(%a) outs(%c) -> linalg.generic, the structured op it stands for"""
    assert isinstance(op, linalg.BroadcastOp)
    buffer, root = to.destination(op, op.init, reads=False)
    rank = memref_type(buffer).get_num_dims()
    added = op.dimensions.get_values()
    kept = tuple(AffineDimExpr(dim) for dim in range(rank) if dim not in added)
    to.builder.insert(
        linalg.GenericOp(
            (to.source(op.input),),
            (buffer,),
            op.hidden_region.clone(),
            [AffineMapAttr(AffineMap(rank, 0, kept)), AffineMapAttr(AffineMap.identity(rank))],
            [IteratorTypeAttr.parallel()] * rank,
        )
    )
    to.assign(op.result[0], buffer, root)


RULES: Rules = {arith.ConstantOp: constant, linalg.BroadcastOp: broadcast}
