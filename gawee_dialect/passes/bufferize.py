"""Turn tensors into buffers, in destination-passing form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    StringAttr,
    TensorType,
    UnitAttr,
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
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.bufferize_loop import buffer_loop, check_loop, reads_itself
from gawee_dialect.passes.numerics import EXACT, Numerics

AnyMemRef = MemRefType[Attribute]

GLOBAL_ALIGNMENT = 64
"""Bytes; as wide as the widest vector register that LLVM may load a constant into."""


def memref_type(value: SSAValue) -> AnyMemRef:
    """Return the type of a value that is known to be a memref."""
    assert isa(value.type, AnyMemRef)
    return value.type


def buffer_type(type: Attribute) -> Attribute:
    """Return the dense, row-major memref type of a tensor type; other types stay."""
    if isa(type, TensorType[Attribute]):
        return MemRefType(type.element_type, type.get_shape())
    return type


def is_empty(value: SSAValue) -> bool:
    """Whether a tensor has a shape only: whoever writes it must allocate."""
    return isinstance(value.owner, tensor.EmptyOp)


@dataclass(eq=False)
class Root:
    """One piece of memory, and every tensor value that lives in it, views included."""

    writable: bool
    tensors: list[SSAValue] = field(default_factory=list[SSAValue])


@dataclass
class Globals:
    """The read-only globals of a module, one for each distinct constant."""

    module: ModuleOp
    names: dict[DenseIntOrFPElementsAttr, str] = field(
        default_factory=dict[DenseIntOrFPElementsAttr, str]
    )

    def name_of(self, value: DenseIntOrFPElementsAttr, source: Operation) -> str:
        """Return the name of the global that holds `value`, made at its first use."""
        if value not in self.names:
            self.names[value] = f"constant_{len(self.names)}"
            global_op = memref.GlobalOp.get(
                StringAttr(self.names[value]),
                buffer_type(value.get_type()),
                value,
                constant=UnitAttr(),
                alignment=GLOBAL_ALIGNMENT,
            )
            hand_on_location(source, global_op)
            first = self.module.body.block.first_op
            assert first is not None
            self.module.body.block.insert_op_before(global_op, first)
        return self.names[value]


class FunctionBufferizer:
    """Builds the bufferized twin of one function."""

    def __init__(self, function: FuncOp, constants: Globals):
        self.function = function
        self.constants = constants
        self.positions = {op: index for index, op in enumerate(function.body.block.ops)}
        self.new: dict[SSAValue, SSAValue] = {}
        self.roots: dict[SSAValue, Root] = {}
        self.block = Block()
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.outputs: list[SSAValue] = []
        self.rules: dict[type[Operation], Callable[[Operation], None]] = {
            tensor.EmptyOp: self._empty,
            tensor.PadOp: self._pad,
            linalg.BroadcastOp: self._broadcast,
            tensor.CollapseShapeOp: self._reshape,
            tensor.ExpandShapeOp: self._reshape,
            tensor.ExtractSliceOp: self._extract_slice,
            tensor.InsertSliceOp: self._insert_slice,
            scf.ForOp: self._loop,
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
            rule = self.rules.get(type(op), self._structured_or_scalar)
            last = self.block.last_op
            rule(op)
            self._hand_on_location(op, last)
        return self._new_function()

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

    def _hand_on_location(self, op: Operation, last: Operation | None) -> None:
        new_op = self.block.first_op if last is None else last.next_op
        while new_op is not None:
            hand_on_location(op, new_op)
            new_op = new_op.next_op

    def _assign(self, old: SSAValue, new: SSAValue, root: Root) -> None:
        self.new[old] = new
        self.roots[old] = root
        root.tensors.append(old)
        if new.name_hint is None:
            new.name_hint = old.name_hint

    # Whether a buffer may be overwritten.

    def _position(self, op: Operation) -> int:
        while op not in self.positions:
            parent = op.parent_op()
            assert parent is not None
            op = parent
        return self.positions[op]

    def _is_read_after(self, root: Root, op: Operation) -> bool:
        position = self.positions[op]
        uses = (use.operation for value in root.tensors for use in value.uses)
        return any(self._position(user) > position for user in uses)

    def _is_read_by(self, root: Root, op: Operation, destination: SSAValue) -> bool:
        captured = (value for inner in op.walk() for value in inner.operands)
        others = [value for value in captured if value is not destination]
        return any(self.roots.get(value) is root for value in others)

    def _destination(
        self, op: Operation, old: SSAValue, *, reads: bool, own: bool = False
    ) -> tuple[SSAValue, Root]:
        """Return the buffer that `op` writes where its destination operand is `old`.

        Step 2 of the algorithm: in place where that is seen by nobody, else a fresh buffer; always
        a fresh one where the op must have its `own`.
        """
        if not is_empty(old) and not own:
            root = self.roots[old]
            if (
                root.writable
                and not self._is_read_after(root, op)
                and not self._is_read_by(root, op, old)
            ):
                return self.new[old], root
        fresh = self._alloc(buffer_type(old.type))
        if reads and not is_empty(old):
            self.builder.insert(memref.CopyOp(self.new[old], fresh))
        return fresh, Root(writable=True)

    def _source(self, old: SSAValue) -> SSAValue:
        # The window operand of a pooling has a shape but no contents: an empty tensor is read.
        return self._alloc(buffer_type(old.type)) if is_empty(old) else self.new[old]

    def _alloc(self, type: Attribute) -> SSAValue:
        return self.builder.insert(memref.AllocOp((), (), type)).memref

    # One rule an op.

    def _structured_or_scalar(self, op: Operation) -> None:
        if isinstance(op, LinalgStructuredOperation):
            self._structured(op)
        elif isinstance(op, StructuredKernel):
            self._kernel(op)
        elif any(isinstance(value.type, TensorType) for value in (*op.operands, *op.results)):
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

    def _subview(
        self, source: SSAValue, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
    ) -> SSAValue:
        type = memref.SubviewOp.infer_result_type(memref_type(source), offsets, sizes, strides)
        return self.builder.insert(
            memref.SubviewOp.get(source, offsets, sizes, strides, type)
        ).result

    def _slice(
        self, source: SSAValue, op: tensor.ExtractSliceOp | tensor.InsertSliceOp
    ) -> SSAValue:
        return self._subview(
            source,
            op.static_offsets.get_values(),
            op.static_sizes.get_values(),
            op.static_strides.get_values(),
        )

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
        """tensor.extract_slice %t -> a dense copy of the subview, which any reshape can take"""
        assert isinstance(op, tensor.ExtractSliceOp)
        view = self._slice(self.new[op.source], op)
        fresh = self._alloc(buffer_type(op.result.type))
        self.builder.insert(memref.CopyOp(view, fresh))
        self._assign(op.result, fresh, Root(writable=True))

    def _insert_slice(self, op: Operation) -> None:
        """tensor.insert_slice %s into %t -> memref.copy %s to a subview of %t's buffer"""
        assert isinstance(op, tensor.InsertSliceOp)
        buffer, root = self._destination(op, op.dest, reads=True)
        self.builder.insert(memref.CopyOp(self.new[op.source], self._slice(buffer, op)))
        self._assign(op.result, buffer, root)

    def _loop(self, op: Operation) -> None:
        """scf.for iter_args(%t = %x) -> scf.for that writes %x's buffer, or a fresh one"""
        assert isinstance(op, scf.ForOp)
        check_loop(op)
        carried: dict[SSAValue, SSAValue] = {}
        roots: dict[SSAValue, Root] = {}
        for init, argument in zip(op.iter_args, op.body.block.args[1:], strict=True):
            if isinstance(init.type, TensorType):
                carried[argument], roots[argument] = self._destination(
                    op, init, reads=True, own=reads_itself(op, init)
                )
        new = buffer_loop(self.builder, op, carried, self.new)
        for argument, result, value in zip(op.body.block.args[1:], op.results, new, strict=True):
            if argument in roots:
                self._assign(result, value, roots[argument])
            else:
                self.new[result] = value

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
        middle = self._subview(fresh, op.static_low.get_values(), shape, (1,) * len(shape))
        self.builder.insert(memref.CopyOp(source, middle))
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
    4. Reshapes are views; slices and padding copy; dense constants become read-only globals. A loop
       that carries a tensor writes all its versions to one buffer: an insertion is a store.
    5. A returned buffer that was allocated here is replaced by the output argument; any other is
       copied into it. Inputs, parameters and constants are never written.

    Requires: functions of one block on statically shaped tensors, as `lower-to-linalg` leaves.

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
