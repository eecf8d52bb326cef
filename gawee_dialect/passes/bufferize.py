"""Turn tensors into buffers, in destination-passing form."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect import linalg
from gawee_dialect.dialect.entry import entry_arguments, output_names, result_attributes
from gawee_dialect.dialect.structured_kernel import StructuredKernel
from gawee_dialect.dialect.types import AnyTensor, is_tensor
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.bufferize_globals import Globals, buffer_type
from gawee_dialect.passes.bufferize_in_place import InPlace, Root, mixed
from gawee_dialect.passes.numerics import EXACT, Numerics

AnyMemRef = MemRefType[Attribute]

TAKE_VIEWS = (
    LinalgStructuredOperation,
    tensor.ExtractSliceOp,
    tensor.InsertSliceOp,
    tensor.ExtractOp,
    tensor.InsertOp,
    scf.ForOp,
    scf.YieldOp,
)
"""What becomes ops that take buffers of any layout; a reshape takes dense ones."""


def memref_type(value: SSAValue) -> AnyMemRef:
    """Return the type of a value that is known to be a memref."""
    assert isa(value.type, AnyMemRef)
    return value.type


def without_axes(type: AnyMemRef, part: AnyTensor) -> AnyMemRef:
    """Return the type of a subview without the axes of one element that a slice leaves out."""
    shape, kept = list(part.get_shape()), list[int]()
    for axis, size in enumerate(type.get_shape()):
        if len(kept) < len(shape) and size == shape[len(kept)]:
            kept.append(axis)
    if len(kept) == type.get_num_dims():
        return type
    strides = type.get_strides()
    assert strides is not None
    layout = StridedLayoutAttr([strides[axis] for axis in kept], type.get_offset())
    return MemRefType(type.element_type, shape, layout)


def is_empty(value: SSAValue) -> bool:
    """Whether a tensor has a shape only: whoever writes it must allocate."""
    return isinstance(value.owner, tensor.EmptyOp)


class FunctionBufferizer:
    """Builds the bufferized twin of one function."""

    def __init__(self, function: FuncOp, constants: Globals):
        self.function = function
        self.constants = constants
        self.new: dict[SSAValue, SSAValue] = {}
        self.in_place = InPlace(function, self.new)
        self.roots: dict[SSAValue, Root] = {}
        self.block = Block()
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.current: Operation = function
        self.outputs: list[SSAValue] = []
        self.rules: dict[type[Operation], Callable[[Operation], None]] = {
            tensor.EmptyOp: self._empty,
            tensor.PadOp: self._pad,
            linalg.BroadcastOp: self._broadcast,
            tensor.CollapseShapeOp: self._reshape,
            tensor.ExpandShapeOp: self._reshape,
            tensor.ExtractSliceOp: self._extract_slice,
            tensor.InsertSliceOp: self._insert_slice,
            tensor.ExtractOp: self._extract,
            tensor.InsertOp: self._insert,
            scf.ForOp: self._loop,
            scf.YieldOp: self._yield,
            arith.ConstantOp: self._constant,
            ReturnOp: self._return,
        }

    def run(self) -> FuncOp:
        """Return the new function; raises GaweeError at an op there is no rule for."""
        function_type = self.function.function_type
        for old in self.function.body.block.args:
            new = self.block.insert_arg(buffer_type(old.type), len(self.block.args), old.location)
            new.name_hint = old.name_hint
            self._assign(old, new, Root(writable=False))
        for name, result in zip(output_names(self.function), function_type.outputs, strict=True):
            output = self.block.insert_arg(buffer_type(result), len(self.block.args))
            output.name_hint = name if name.isidentifier() else None
            self.outputs.append(output)
        for op in self.function.body.block.ops:
            self._bufferize(op)
        return self._new_function()

    def _bufferize(self, op: Operation) -> None:
        """Add what an op becomes to the block that is being built."""
        self.current = op
        block = self.builder.insertion_point.block
        last = block.last_op
        self.rules.get(type(op), self._structured_or_scalar)(op)
        new_op = block.first_op if last is None else last.next_op
        while new_op is not None:
            hand_on_location(op, new_op)
            new_op = new_op.next_op

    def _new_function(self) -> FuncOp:
        inputs = [argument.type for argument in self.block.args]
        # Each argument says what it is from here on, where outputs are arguments too.
        marks = (argument.attributes() for argument in entry_arguments(self.function))
        function = FuncOp(
            self.function.sym_name.data,
            (inputs, ()),
            Region(self.block),
            self.function.sym_visibility,
            arg_attrs=ArrayAttr((*marks, *result_attributes(self.function))),
        )
        function.location = self.function.location
        return function

    def _assign(self, old: SSAValue, new: SSAValue, root: Root) -> None:
        self.new[old] = new
        self.roots[old] = root
        root.tensors.append(old)
        if new.name_hint is None:
            new.name_hint = old.name_hint

    # Where an op writes.

    def _destination(self, op: Operation, old: SSAValue, *, reads: bool) -> tuple[SSAValue, Root]:
        """Return the buffer that `op` writes where its destination operand is `old`.

        Step 2 of the algorithm: in place where that is seen by nobody, else a fresh buffer.
        """
        if not is_empty(old):
            root = self.roots[old]
            if self.in_place.may_write(root, op, old, reads=reads):
                return self.new[old], root
        fresh = self._alloc(buffer_type(old.type))
        if reads and not is_empty(old):
            self.builder.insert(memref.CopyOp(self.new[old], fresh))
        return fresh, Root(writable=True)

    def _source(self, old: SSAValue) -> SSAValue:
        # The window operand of a pooling has a shape but no contents: an empty tensor is read.
        return self._alloc(buffer_type(old.type)) if is_empty(old) else self.new[old]

    def _alloc(self, type: Attribute) -> SSAValue:
        """Allocate before the op of the function that is being worked on: in no loop."""
        assert isa(type, AnyMemRef)
        if not type.has_static_shape():
            raise GaweeError(
                Diagnostic.at(
                    self.current, f"cannot be bufferized: expected a static shape, got '{type}'"
                )
            )
        alloc = memref.AllocOp((), (), type)
        hand_on_location(self.current, alloc)
        return Builder(InsertPoint.at_end(self.block)).insert(alloc).memref

    # One rule an op.

    def _structured_or_scalar(self, op: Operation) -> None:
        if isinstance(op, LinalgStructuredOperation):
            self._structured(op)
        elif isinstance(op, StructuredKernel):
            self._kernel(op)
        elif any(
            is_tensor(value.type)
            for inner in op.walk()
            for value in (*inner.operands, *inner.results)
        ):
            raise GaweeError(Diagnostic.at(op, "cannot be bufferized: no rule is for it"))
        else:
            self.builder.insert(op.clone(self.new))

    def _structured(self, op: LinalgStructuredOperation) -> None:
        """linalg.op ins(%a) outs(%c) -> the same on memrefs, writing %c's buffer or a fresh one"""
        count = len(op.inputs)
        destinations = [
            self._destination(op, out, reads=bool(argument.uses))
            for out, argument in zip(op.outputs, op.body.block.args[count:], strict=True)
        ]
        operands = [self._source(value) for value in op.inputs]
        operands += [buffer for buffer, _ in destinations]
        body = Region()
        op.body.clone_into(body, value_mapper=self.new)
        for inner in tuple(body.walk()):
            if isinstance(inner, tensor.ExtractOp):
                self._load(inner)
        op_type: type[Operation] = type(op)
        self.builder.insert(
            op_type.create(
                operands=operands,
                properties=dict(op.properties),
                attributes=dict(op.attributes),
                regions=[body],
            )
        )
        for result, (buffer, root) in zip(op.res, destinations, strict=True):
            self._assign(result, buffer, root)

    def _kernel(self, op: StructuredKernel) -> None:
        """gawee.kernel ins(%a) -> the same on memrefs, writing a fresh buffer, with its scratch

        Never in place: a kernel may read other elements of its inputs than the one it computes.
        """
        fresh = self._alloc(buffer_type(op.target.type))
        scratch = [self._alloc(type) for type in op.scratch_types]
        inputs = [self._source(value) for value in op.inputs]
        packed = [self._source(value) for value in op.packed]
        kernel = op.with_operands(inputs, fresh, packed=packed, scratch=scratch, values=self.new)
        self.builder.insert(kernel)
        self._assign(op.target, fresh, Root(writable=True))

    @staticmethod
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

    def _empty(self, op: Operation) -> None:
        """tensor.empty -> nothing: whoever writes it allocates"""

    def _constant(self, op: Operation) -> None:
        """arith.constant dense<...> -> memref.get_global of a read-only global"""
        assert isinstance(op, arith.ConstantOp)
        if not isa(op.value, DenseIntOrFPElementsAttr):
            self.builder.insert(op.clone(self.new))
            return
        name = self.constants.name_of(op.value, op)
        get_global = self.builder.insert(memref.GetGlobalOp(name, buffer_type(op.result.type)))
        self._assign(op.result, get_global.memref, Root(writable=False))

    def _reshape(self, op: Operation) -> None:
        """tensor.collapse_shape / expand_shape %t -> the memref op: a view of the same buffer"""
        assert isinstance(op, tensor.CollapseShapeOp | tensor.ExpandShapeOp)
        source, type = self.new[op.src], buffer_type(op.result.type)
        properties: dict[str, Attribute] = {"reassociation": op.reassociation}
        if isinstance(op, tensor.CollapseShapeOp):
            view = memref.CollapseShapeOp.create(
                operands=[source], result_types=[type], properties=properties
            )
        else:
            properties["static_output_shape"] = op.static_output_shape
            view = memref.ExpandShapeOp.create(
                operands=[source], result_types=[type], properties=properties
            )
        self.builder.insert(view)
        self._assign(op.result, view.results[0], self.roots[op.src])

    def _slice(
        self, source: SSAValue, op: tensor.ExtractSliceOp | tensor.InsertSliceOp, part: Attribute
    ) -> SSAValue:
        """View the box that an op on slices names, in the shape of the slice."""
        offsets, sizes, strides = (
            mixed(static.get_values(), [self.new.get(value, value) for value in dynamic])
            for static, dynamic in (
                (op.static_offsets, op.offsets),
                (op.static_sizes, op.sizes),
                (op.static_strides, op.strides),
            )
        )
        type = memref.SubviewOp.infer_result_type(memref_type(source), offsets, sizes, strides)
        assert is_tensor(part)
        return self.builder.insert(
            memref.SubviewOp.get(source, offsets, sizes, strides, without_axes(type, part))
        ).result

    def _broadcast(self, op: Operation) -> None:
        """linalg.broadcast ins(%a) outs(%c) -> linalg.generic, the structured op it stands for"""
        assert isinstance(op, linalg.BroadcastOp)
        buffer, root = self._destination(op, op.init, reads=False)
        rank = memref_type(buffer).get_num_dims()
        added = op.dimensions.get_values()
        kept = tuple(AffineDimExpr(dim) for dim in range(rank) if dim not in added)
        self.builder.insert(
            linalg.GenericOp(
                (self.new[op.input],),
                (buffer,),
                op.hidden_region.clone(),
                [AffineMapAttr(AffineMap(rank, 0, kept)), AffineMapAttr(AffineMap.identity(rank))],
                [IteratorTypeAttr.parallel()] * rank,
            )
        )
        self._assign(op.result[0], buffer, root)

    def _extract_slice(self, op: Operation) -> None:
        """tensor.extract_slice %t -> memref.subview in loops, where its readers take any layout

        Else a dense copy of that, which any reshape can take.
        """
        assert isinstance(op, tensor.ExtractSliceOp)
        view = self._slice(self.new[op.source], op, op.result.type)
        in_loop = op.parent is not self.function.body.block
        if in_loop and all(isinstance(use.operation, TAKE_VIEWS) for use in op.result.uses):
            self._assign(op.result, view, self.roots[op.source])
            return
        fresh = self._alloc(buffer_type(op.result.type))
        self.builder.insert(memref.CopyOp(view, fresh))
        self._assign(op.result, fresh, Root(writable=True))

    def _insert_slice(self, op: Operation) -> None:
        """tensor.insert_slice %s into %t -> memref.copy %s to a subview of %t's buffer

        Nothing where %s is in that subview already.
        """
        assert isinstance(op, tensor.InsertSliceOp)
        buffer, root = self._destination(op, op.dest, reads=True)
        in_place = buffer is self.new.get(op.dest) and self.in_place.is_own_slice(op, op.source)
        if not in_place:
            source = self._source(op.source)
            self.builder.insert(memref.CopyOp(source, self._slice(buffer, op, op.source.type)))
        self._assign(op.result, buffer, root)

    def _loop(self, op: Operation) -> None:
        """scf.for iter_args(%t = %x) -> scf.for that writes %x's buffer, or a fresh one"""
        assert isinstance(op, scf.ForOp)
        old = op.body.block
        block = Block(arg_types=[old.args[0].type])
        self.new[old.args[0]] = block.args[0]
        starts: list[SSAValue] = []
        for init, argument in zip(op.iter_args, old.args[1:], strict=True):
            if is_tensor(init.type):
                self._assign(argument, *self._destination(op, init, reads=True))
            else:
                starts.append(self.new.get(init, init))
                self.new[argument] = block.insert_arg(init.type, len(block.args))
        for value in old.args:
            self.new[value].name_hint = self.new[value].name_hint or value.name_hint
        around, self.builder = self.builder, Builder(InsertPoint.at_end(block))
        for inner in old.ops:
            self._bufferize(inner)
        self.builder = around
        lower, upper, step = (self.new.get(value, value) for value in (op.lb, op.ub, op.step))
        twin = self.builder.insert(scf.ForOp(lower, upper, step, starts, Region(block)))
        scalars = iter(twin.results)
        for argument, result in zip(old.args[1:], op.results, strict=True):
            if is_tensor(result.type):
                self._assign(result, self.new[argument], self.roots[argument])
            else:
                self.new[result] = next(scalars)

    def _yield(self, op: Operation) -> None:
        """scf.yield %t -> nothing where %t is in the buffer that the loop carries, else a copy"""
        loop = op.parent_op()
        if not isinstance(loop, scf.ForOp):
            raise GaweeError(Diagnostic.at(op, "cannot be bufferized: no rule is for it"))
        arguments = loop.body.block.args[1:]
        moved: list[tuple[SSAValue, SSAValue]] = []
        for value, argument in zip(op.operands, arguments, strict=True):
            if is_tensor(value.type) and not is_empty(value):
                if self.new[value] is not self.new[argument]:
                    moved.append((value, self.new[argument]))
        sources = [self.new[value] for value, _ in moved]
        if {self.roots[value] for value, _ in moved} & {
            self.roots[arg] for arg in arguments if arg in self.roots
        }:
            # One is where another goes to: all are read before any is written.
            sources = [self._copy_of(value) for value, _ in moved]
        for source, (_, target) in zip(sources, moved, strict=True):
            self.builder.insert(memref.CopyOp(source, target))
        kept = [value for value in op.operands if not is_tensor(value.type)]
        self.builder.insert(scf.YieldOp(*(self.new.get(value, value) for value in kept)))

    def _copy_of(self, value: SSAValue) -> SSAValue:
        fresh = self._alloc(buffer_type(value.type))
        self.builder.insert(memref.CopyOp(self.new[value], fresh))
        return fresh

    def _extract(self, op: Operation) -> None:
        """tensor.extract %t[%i] -> memref.load %m[%i]"""
        assert isinstance(op, tensor.ExtractOp)
        indices = [self.new.get(index, index) for index in op.indices]
        self.new[op.result] = self.builder.insert(
            memref.LoadOp.get(self.new[op.tensor], indices)
        ).res

    def _insert(self, op: Operation) -> None:
        """tensor.insert %v into %t[%i] -> memref.store %v, %m[%i]"""
        assert isinstance(op, tensor.InsertOp)
        buffer, root = self._destination(op, op.dest, reads=True)
        indices = [self.new.get(index, index) for index in op.indices]
        scalar = self.new.get(op.scalar, op.scalar)
        self.builder.insert(memref.StoreOp.get(scalar, buffer, indices))
        self._assign(op.result, buffer, root)

    def _pad(self, op: Operation) -> None:
        """tensor.pad %t -> fill a fresh buffer, copy %t into its middle"""
        assert isinstance(op, tensor.PadOp)
        value = op.region.block.last_op
        assert isinstance(value, tensor.YieldOp)
        padding = value.operands[0]
        if isinstance(padding.owner, Operation) and padding.owner.parent is op.region.block:
            self.new[padding] = self.builder.insert(padding.owner.clone(self.new)).results[0]
        fresh = self._alloc(buffer_type(op.result.type))
        self.builder.insert(linalg.FillOp((self.new[padding],), (fresh,), ()))
        source = self.new[op.source]
        shape = memref_type(source).get_shape()
        low, ones = op.static_low.get_values(), (1,) * len(shape)
        type = memref.SubviewOp.infer_result_type(memref_type(fresh), low, shape, ones)
        middle = self.builder.insert(memref.SubviewOp.get(fresh, low, shape, ones, type))
        self.builder.insert(memref.CopyOp(source, middle.result))
        self._assign(op.result, fresh, Root(writable=True))

    def _return(self, op: Operation) -> None:
        """func.return %t -> the output argument is %t's buffer, or gets a copy of it"""
        for old, output in zip(op.operands, self.outputs, strict=True):
            buffer = self.new[old]
            alloc = buffer.owner
            if not isinstance(alloc, memref.AllocOp):
                self.builder.insert(memref.CopyOp(buffer, output))
                continue
            buffer.replace_all_uses_with(output)
            for value in self.roots[old].tensors:
                if self.new[value] is buffer:
                    self.new[value] = output
            alloc.detach()
            alloc.erase()
        self.builder.insert(ReturnOp())


@dataclass(frozen=True)
class Bufferize(ModulePass):
    """Turn tensors into buffers, in destination-passing form.

    1. Every tensor argument becomes a memref argument; every result becomes a trailing memref
       argument that the function writes, marked with the result's `gawee.output`.
    2. In order: an op in destination-passing style writes its destination's buffer in place where
       nobody reads that buffer later; otherwise it gets a fresh `memref.alloc`, with a copy of
       the destination if the op reads its contents.
    3. A kernel always writes a fresh buffer.
    4. Reshapes are views; slices and padding copy; dense constants become read-only globals.
    5. A loop that carries a tensor carries one buffer, which each iteration leaves the next version
       in. In loops, slices are views too, so that a tile that is computed of a slice and inserted
       where it came from is written where it belongs. Nothing is allocated in a loop.
    6. A returned buffer that was allocated here is replaced by the output argument; any other is
       copied into it. Inputs, parameters and constants are never written.

    Requires: functions of one block on statically shaped tensors, loops of scf.for.

    rewrite:
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %e = tensor.empty() : tensor<4xf32>
          %y = linalg.exp ins(%x) outs(%e) -> tensor<4xf32>
          return %y
        ->
        func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) {
          linalg.exp ins(%x) outs(%out)
          return
    """

    name = "bufferize"
    numerics: ClassVar[Numerics] = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = Globals(op)
        functions = [inner for inner in op.ops if isinstance(inner, FuncOp)]
        for function in functions:
            new = FunctionBufferizer(function, constants).run()
            op.body.block.insert_op_before(new, function)
            function.detach()
            function.erase()
