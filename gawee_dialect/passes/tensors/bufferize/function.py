"""One function on its way to buffers: where each tensor is, and which ops may write there."""

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from xdsl.builder import Builder
from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, MemRefType, NoneAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.index_bounds import Index, mixed, size_of, upper_bound
from gawee_dialect.analysis.open_sizes import RANGES
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import (
    append_argument,
    entry_arguments,
    output_names,
    result_attributes,
)
from gawee_dialect.dialect.graph.scan import is_batch_loop, is_branching
from gawee_dialect.dialect.kernels.kernel import SEGMENTS
from gawee_dialect.dialect.operation import integers
from gawee_dialect.dialect.types import AnyTensor, is_tensor, tensor_shape
from gawee_dialect.hints import isa
from gawee_dialect.identifiers import ascii_letters
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.tensors.bufferize.globals import Globals, buffer_type, dense_type
from gawee_dialect.passes.tensors.bufferize.in_place import InPlace, Root
from gawee_dialect.passes.tensors.bufferize.open_sizes import SizeValues

AnyMemRef = MemRefType[Attribute]


def memref_type(value: SSAValue) -> AnyMemRef:
    """Return the type of a value that is known to be a memref."""
    assert isa(value.type, AnyMemRef)
    return value.type


def is_empty(value: SSAValue) -> bool:
    """Whether a tensor has a shape only: the op that writes it must allocate."""
    return isinstance(value.owner, tensor.EmptyOp)


class FunctionBufferizer:
    """Builds the bufferized twin of one function; rules say what each op becomes."""

    def __init__(
        self,
        function: FuncOp,
        constants: Globals,
        rules: "Rules",
        default: "Rule",
        *,
        is_run: bool = False,
    ):
        self.function = function
        self._is_run = is_run
        self.constants = constants
        self.new: dict[SSAValue, SSAValue] = {}
        self.in_place = InPlace(function, self.new)
        self.roots: dict[SSAValue, Root] = {}
        self.block = Block()
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.outputs: list[SSAValue] = []
        self.allocations = 0
        self.shared: dict[SSAValue, SSAValue] = {}
        self.interleaved: dict[Operation, tuple[SSAValue, Root]] = {}
        """Where ops insert what may be there before."""
        self._rules = rules
        self._default = default
        self.size_values = SizeValues(self)
        self._current: Operation = function
        self._outermost: Operation | None = None
        self._home = self.block
        """Where buffers are allocated: in the function, or anew for each part of a batch and in a
        branch of a function whose memory is planned."""

    def run(self) -> FuncOp:
        """Return the new function; raises GaweeError at an op there is no rule for."""
        if (count := len(self.function.body.blocks)) != 1:
            self.reject(f"expected one block, got {count}")
        for old in self.function.body.block.args:
            new = append_argument(self.block, buffer_type(old.type), old.location)
            new.name_hint = old.name_hint
            self.assign(old, new, Root(writable=False))
        outputs = self.function.function_type.outputs
        for name, result in zip(output_names(self.function), outputs, strict=True):
            if not self.is_written(result):
                continue
            type = buffer_type(result) if is_tensor(result) else dense_type(result, ())
            output = append_argument(self.block, type)
            spelt = ascii_letters(name)
            output.name_hint = spelt if spelt.isidentifier() else None
            self.outputs.append(output)
        self.size_values.take()
        for op in self.function.body.block.ops:
            self.bufferize(op)
        return self._new_function()

    def is_written(self, result: Attribute) -> bool:
        """Whether a result of this type goes to a buffer: a scalar only of an entry function."""
        return is_tensor(result) or (self._is_run and not isinstance(result, MemRefType))

    def _new_function(self) -> FuncOp:
        inputs = [argument.type for argument in self.block.args]
        # Each argument says what it is from here on, where outputs are arguments too.
        marks = [argument.attributes() for argument in entry_arguments(self.function)]
        outputs, told = self.function.function_type.outputs, result_attributes(self.function)
        pairs = list(zip(outputs, told, strict=True))
        marks += [attributes for result, attributes in pairs if self.is_written(result)]
        marks += self.size_values.marks
        scalars = [pair for pair in pairs if not self.is_written(pair[0])]
        function = FuncOp(
            self.function.sym_name.data,
            (inputs, [result for result, _ in scalars]),
            Region(self.block),
            self.function.sym_visibility,
            arg_attrs=ArrayAttr(marks),
            res_attrs=ArrayAttr(attributes for _, attributes in scalars) if scalars else None,
        )
        if RANGES in self.function.attributes:
            function.attributes[RANGES] = self.function.attributes[RANGES]
        function.location = self.function.location
        return function

    def bufferize(self, op: Operation) -> None:
        """Add what an op becomes to the block that is being built."""
        self._current = op
        if op.attributes and self.size_values.stands_for(op):
            return
        block = self.builder.insertion_point.block
        last = block.last_op
        self._rules.get(type(op), self._default)(self, op)
        new_op = block.first_op if last is None else last.next_op
        while new_op is not None:
            hand_on_location(op, new_op)
            new_op = new_op.next_op

    def fill_loop(self, loop: Operation, old: Block, new: Block) -> None:
        """Build the body of a loop that was inserted, of the body that it had."""
        around, outermost, home = self.builder, self._outermost, self._home
        self.builder = Builder(InsertPoint.at_end(new))
        if is_batch_loop(loop) or (self._is_run and not outermost and is_branching(loop)):
            self._home = new
        else:
            self._outermost = outermost or loop
        for inner in old.ops:
            self.bufferize(inner)
        self.builder, self._outermost, self._home = around, outermost, home

    @property
    def in_loop(self) -> bool:
        """Whether the block that is being built is that of a loop."""
        return self._outermost is not None or self._home is not self.block

    # What values have become.

    def value(self, old: SSAValue) -> SSAValue:
        """Return what a value has become; itself where it is used as it is."""
        return self.new.get(old, old)

    def indices(self, static: Sequence[int], dynamic: Sequence[SSAValue]) -> list[Index]:
        """Return numbers, and what operands have become where they are dynamic."""
        return mixed(static, [self.value(index) for index in dynamic])

    def assign(self, old: SSAValue, new: SSAValue, root: Root) -> None:
        """Say which buffer a tensor is in, and of which memory that is a part."""
        self.new[old] = new
        self.roots[old] = root
        root.tensors.append(old)
        if new.name_hint is None:
            new.name_hint = old.name_hint

    def source(self, old: SSAValue) -> SSAValue:
        """Return the buffer to read a tensor from."""
        # The window operand of a pooling has a shape but no contents: an empty tensor is read.
        return self.allocate(old.type, self.sizes(old)) if is_empty(old) else self.new[old]

    def dense(self, old: SSAValue) -> SSAValue:
        """Return a buffer of a tensor that has no gaps: its own, or a copy."""
        buffer = self.source(old)
        if isinstance(memref_type(buffer).layout, NoneAttr):
            return buffer
        return self.copy_of(old)

    def copy_of(self, old: SSAValue) -> SSAValue:
        """Return a fresh buffer with the contents of a tensor's."""
        fresh = self.allocate(memref_type(self.new[old]), self.sizes(old))
        self.builder.insert(memref.CopyOp(self.new[old], fresh))
        return fresh

    def sizes(self, old: SSAValue) -> list[Index]:
        """Return the size of every axis of a tensor."""
        if is_empty(old) and isinstance(old.owner, tensor.EmptyOp):
            return self.indices(tensor_shape(old), old.owner.dynamic_sizes)
        buffer = self.new[old]
        found = [size_of(buffer, axis) for axis in range(memref_type(buffer).get_num_dims())]
        known = [size for size in found if size is not None]
        if len(known) < len(found):
            self.reject(f"expected a static shape, got '{old.type}'")
        return known

    # Where an op writes.

    def destination(self, op: Operation, old: SSAValue, *, reads: bool) -> tuple[SSAValue, Root]:
        """Return the buffer that `op` writes where its destination operand is `old`.

        Step 2 of the algorithm: in place where no reader sees it, else a fresh buffer.
        """
        if not is_empty(old):
            root = self.roots[old]
            if self.in_place.may_write(root, op, old, reads=reads):
                return self.new[old], root
        fresh = self.allocate(old.type, self.sizes(old))
        if reads and not is_empty(old):
            self.builder.insert(memref.CopyOp(self.new[old], fresh))
        return fresh, Root(writable=True)

    def allocate(self, type: Attribute, sizes: Sequence[Index] = ()) -> SSAValue:
        """Return a fresh buffer of a tensor's or memref's type and of sizes where that is dynamic.

        It is allocated before the op of the function that is being worked on, in no loop but that
        of a batch, as large as it can get; where it is smaller, a part of it is returned.
        """
        assert isa(type, AnyMemRef) or isa(type, AnyTensor)
        if not sizes and DYNAMIC_INDEX in type.get_shape():
            self._reject_unbounded(type)
        shape = [size if size >= 0 else sizes[axis] for axis, size in enumerate(type.get_shape())]
        bounds = [self._bound(size) for size in shape]
        values = [bound for bound in bounds if isinstance(bound, SSAValue)]
        numbers = [bound for bound in bounds if isinstance(bound, int)]
        if len(values) + len(numbers) < len(shape) or min(numbers, default=0) < 0:
            self._reject_unbounded(type)
        self.allocations += 1
        whole_shape = tuple(each if isinstance(each, int) else DYNAMIC_INDEX for each in bounds)
        alloc = memref.AllocOp.create(
            operands=values,
            result_types=(dense_type(type.element_type, whole_shape),),
            properties={SEGMENTS: integers(i32, (len(values), 0))},
        )
        hand_on_location(self._current, alloc)
        outermost = self._outermost
        place = (
            InsertPoint.at_end(self._home) if outermost is None else InsertPoint.before(outermost)
        )
        whole = Builder(place).insert(alloc).memref
        if shape == bounds:
            return whole
        zeros, ones = [0] * len(shape), [1] * len(shape)
        part = memref.SubviewOp.infer_result_type(memref_type(whole), zeros, shape, ones)
        return self.builder.insert(memref.SubviewOp.get(whole, zeros, shape, ones, part)).result

    def _bound(self, size: Index) -> Index | None:
        """Return what a buffer needs for a size: the greatest number, or the value of an open one.

        None where nothing says it that is known where buffers are allocated.
        """
        bound = upper_bound(size)
        if bound is not None or isinstance(size, int):
            return bound
        made = size.owner
        block = made if isinstance(made, Block) else made.parent
        # What the arguments say; in a loop, only what is computed before it.
        outside = block in (self.block, self._home)
        return size if self.size_values.names and outside else None

    def _reject_unbounded(self, type: Attribute) -> NoReturn:
        self.reject(f"expected a shape that is static or bounded, got '{type}'")

    def reject(self, reason: str, hint: str | None = None) -> NoReturn:
        """Raise GaweeError for the op that is being worked on."""
        raise GaweeError(Diagnostic.at(self._current, f"cannot be bufferized: {reason}", hint))


Rule = Callable[[FunctionBufferizer, Operation], None]
"""Adds what an op becomes."""

Rules = Mapping[type[Operation], Rule]
"""The rule of each kind of op."""
