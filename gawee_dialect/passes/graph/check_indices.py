"""Keep indices that come at run time inside their tensors, and return what was wrong with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar, NamedTuple

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, linalg, scf, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseIntElementsAttr,
    DictionaryAttr,
    IndexType,
    IntegerType,
    ModuleOp,
    TensorType,
    i1,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.index_bounds import Range, column_ranges
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import output_attributes, output_names
from gawee_dialect.dialect.graph.arithmetic import MaximumOp, MinimumOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp, IotaOp
from gawee_dialect.dialect.graph.elementwise import AddOp, SubOp
from gawee_dialect.dialect.graph.indexing import IndexedOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, CompareOp, WhereOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.reduction import ReduceMaxOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.index_check import LEAST, IndexCheck
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.open_size import OpenSize, UnknownSize, is_open
from gawee_dialect.dialect.types import element_type, integer_range, tensor_shape
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant, filled
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import located_builder
from gawee_dialect.passes.tensors.form_kernels.from_linalg import trip_counts

# Elements that bodies of structured ops take of whole tensors: `tensor.extract` as it was read.


@dataclass(frozen=True)
class Extract:
    """One index of a `tensor.extract` in a body, that may be out of range."""

    op: tensor.ExtractOp
    axis: int
    size: int

    @property
    def index(self) -> SSAValue:
        """The position along the axis."""
        return self.op.indices[self.axis]

    def clamp(self) -> None:
        """Keep the index inside the tensor."""
        scalars = Scalars(located_builder(self.op))
        above = scalars.maximum(self.index, scalars.index(0))
        inside = scalars.minimum(above, scalars.index(self.size - 1))
        self.op.operands[1 + self.axis] = inside


def unchecked(op: LinalgStructuredOperation) -> Iterator[Extract]:
    """Yield the indices in a body that are neither constants nor counters that stay inside."""
    for inner in op.body.block.ops:
        if not isinstance(inner, tensor.ExtractOp):
            continue
        for axis, (index, size) in enumerate(
            zip(inner.indices, tensor_shape(inner.tensor), strict=True)
        ):
            if not _stays_inside(op, index, size):
                yield Extract(inner, axis, size)


def _stays_inside(op: LinalgStructuredOperation, index: SSAValue, size: int) -> bool:
    owner = index.owner
    if isinstance(owner, linalg.ops.IndexOp):
        count = trip_counts(op)[owner.dim.value.data]
        return count is not None and count <= size
    return isinstance(owner, arith.ConstantOp)  # the reader of text has looked at these


def worst_of(op: LinalgStructuredOperation, extract: Extract) -> tuple[IndexCheck, SSAValue] | None:
    """Insert before an op another that finds the worst of an index at all points of its loops.

    None where the index depends on what the op has accumulated.
    """
    needed = _needed(op.body.block, extract.index)
    outputs = op.body.block.args[len(op.inputs) :]
    if any(value in outputs for inner in needed for value in inner.operands):
        return None
    operands, maps = op.operands, [each.data for each in op.get_indexing_maps()]
    builder = located_builder(op)
    init = filled(builder, constant(builder, LEAST, i64), TensorType(i64, ()))
    block = Block(arg_types=[*(argument.type for argument in op.body.block.args), i64])
    scalars = Scalars(Builder(InsertPoint.at_end(block)))
    values: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, block.args, strict=False))
    for inner in needed:
        scalars.builder.insert(inner.clone(values))
    index = values.get(extract.index, extract.index)
    if isinstance(index.type, IndexType):
        index = scalars.emit(arith.IndexCastOp(index, i64))
    shifted = scalars.add(index, scalars.constant(LEAST, i64))
    worst = scalars.maximum(block.args[-1], shifted)
    scalars.builder.insert(linalg.ops.YieldOp(worst))
    loops = len(op.get_iterator_types())
    new = linalg.ops.GenericOp(
        operands,
        [init],
        Region(block),
        [AffineMapAttr(each) for each in (*maps, AffineMap(loops, 0, ()))],
        [IteratorTypeAttr.reduction()] * loops,
        [TensorType(i64, ())],
    )
    builder.insert(new)
    check = IndexCheck.at(extract.op, [extract.axis], [extract.size], from_end=False)
    return check, new.res[0]


def _needed(block: Block, value: SSAValue) -> Sequence[Operation]:
    """Return the ops of a body that a value is computed by, in order."""
    found, waiting = set[Operation](), [value]
    while waiting:
        owner = waiting.pop().owner
        if isinstance(owner, Operation) and owner.parent is block and owner not in found:
            found.add(owner)
            waiting.extend(owner.operands)
    return [op for op in block.ops if op in found]


class Checked(NamedTuple):
    """Indices that are in range, and the worst of the given ones along each axis."""

    indices: SSAValue
    worst: SSAValue


def _is_within(known: Range | None, size: int) -> bool:
    try:
        return known is not None and -size <= known[0] and known[1] < size
    except UnknownSize:
        return False


@dataclass
class _Checker:
    """Checks the indices of one function."""

    function: FuncOp
    checked: dict[tuple[SSAValue, tuple[int, ...]], Checked] = field(
        default_factory=dict[tuple[SSAValue, tuple[int, ...]], Checked]
    )
    found: list[tuple[IndexCheck, SSAValue]] = field(
        default_factory=list[tuple[IndexCheck, SSAValue]]
    )

    def check(self, op: IndexedOp) -> None:
        """Clamp an op's indices, unless they are known to be in range."""
        axes, sizes = op.named_axes, op.named_sizes
        ranges = column_ranges(op.positions, len(sizes) if op.BY_ROWS else 1)
        in_range = all(map(_is_within, ranges, sizes))
        if in_range or 0 in tensor_shape(op.positions):
            return
        for axis, size in zip(axes, sizes, strict=True):
            if isinstance(size, OpenSize) and size.range()[0] < 1:
                message = f"cannot check indices of axis {axis}, whose size '{size}' may be 0"
                raise GaweeError(Diagnostic.at(op, message, "trust_indices leaves checks out"))
        if 0 in sizes:
            axis = axes[sizes.index(0)]
            raise GaweeError(
                Diagnostic.at(op, f"expected axis {axis} to have elements that indices name, got 0")
            )
        key = op.positions, sizes
        if key not in self.checked:
            found, check = clamped(op)
            if op.parent_op() is not self.function:  # a step's or a branch's: others have others
                op.operands[1] = found.indices
                self._report(op, check, found.worst)
                return
            self.checked[key] = found
            self.found.append((check, found.worst))
        op.operands[1] = self.checked[key].indices

    def check_body(self, op: LinalgStructuredOperation) -> None:
        """Clamp the indices of what a body extracts; one that goes into another comes first."""
        for extract in list(unchecked(op)):
            if not op.res or extract.size <= 0:
                continue
            found = worst_of(op, extract)
            if found is not None:
                self._report(op, *found)
            extract.clamp()

    def _report(self, op: Operation, check: IndexCheck, worst: SSAValue) -> None:
        """Have the worst of an op's indices returned from the branches and the steps it is in."""
        around = op.parent_op()
        while isinstance(around, scf.IfOp):
            before = around.results
            worst = worst_of_branch(around, worst)
            around = self._replaced(before, worst).parent_op()
        if isinstance(around, ScanOp) and around.parent is self.function.body.first_block:
            before = around.results
            worst = worst_of_steps(around, worst)
            self._replaced(before, worst)
            around = self.function
        if around is self.function:
            self.found.append((check, worst))

    def _replaced(self, before: Sequence[SSAValue], last: SSAValue) -> Operation:
        """Take the results of an op, of which `last` is one more, for those that it had."""
        new = last.owner
        assert isinstance(new, Operation)
        now: dict[SSAValue, SSAValue] = dict(zip(before, new.results, strict=False))
        self.found = [(check, now.get(worst, worst)) for check, worst in self.found]
        return new

    def finish(self, *, returned: bool) -> None:
        """Return the worst indices behind the outputs."""
        if not returned or not self.found:
            return
        if (count := len(self.function.body.blocks)) != 1:
            message = f"expected one block where indices are checked, got {count}"
            raise GaweeError(Diagnostic.at(self.function, message))
        last = self.function.body.block.last_op
        if not isinstance(last, ReturnOp):
            return
        checks = [check.mark() for check, _ in self.found]
        marks = (*output_attributes(output_names(self.function)), *checks)
        new = ReturnOp(*last.operands, *(worst for _, worst in self.found))
        hand_on_location(last, new)
        self.function.body.block.insert_op_before(new, last)
        last.detach()
        last.erase()
        self.function.update_function_type()
        self.function.res_attrs = ArrayAttr[DictionaryAttr](marks)


def clamped(op: IndexedOp) -> tuple[Checked, IndexCheck]:
    """Insert before an op what clamps its indices, and what finds the worst of them."""
    indices, by_rows = op.positions, op.BY_ROWS
    check = IndexCheck.at(op, op.named_axes, op.named_sizes)
    inserted: list[Operation] = []
    builder = Builder(InsertPoint.before(op))
    builder.operation_insertion_handler = [inserted.append]
    element = element_type(indices)

    def constants(values: Sequence[int], type: Attribute) -> SSAValue:
        assert isa(type, IntegerType)
        shape, (low, high) = [len(values)] if by_rows else [], integer_range(type)
        fitting = [min(max(value, low), high) for value in values]
        dense = DenseIntElementsAttr.from_list(TensorType(type, shape), fitting)
        return builder.insert(ConstantOp(dense)).result

    def last(size: int) -> SSAValue:
        """Return the last index of an axis of any size: of a list, where there are several."""
        if not isinstance(size, OpenSize):
            return constants([size - 1], element)
        counted = builder.insert(IotaOp(TensorType(element, [size]))).result
        return builder.insert(ReduceMaxOp(counted, axes=[0], keep_dims=by_rows)).result

    if is_open(op.named_sizes):
        ends = [last(size) for size in op.named_sizes]
        greatest = builder.insert(CatOp(ends)).result if len(ends) > 1 else ends[0]
        ones = constants([-1] * len(ends), element)
        least = builder.insert(SubOp(ones, greatest)).result
    else:
        least = constants([-size for size in op.named_sizes], element)
        greatest = constants([size - 1 for size in op.named_sizes], element)
    above = builder.insert(MaximumOp(indices, least)).result
    inside = builder.insert(MinimumOp(above, greatest)).result
    told = indices
    if is_open(op.named_sizes):
        held = [isinstance(size, OpenSize) for size in op.named_sizes]
        told = _outside(builder, indices, inside, held if by_rows else None)
    wide = told if element == i64 else builder.insert(CastOp(told, i64)).result
    shifted = builder.insert(AddOp(wide, constants(check.shifts(), i64))).result
    rank = len(tensor_shape(indices))
    worst = builder.insert(ReduceMaxOp(shifted, axes=range(rank - by_rows))).result
    name = next((result.name_hint for result in op.results if result.name_hint), None)
    if name is not None:
        inside.name_hint, worst.name_hint = f"{name}_indices", f"{name}_largest_index"
    for new in inserted:
        hand_on_location(op, new)
    return Checked(inside, worst), check


def _outside(
    builder: Builder, indices: SSAValue, inside: SSAValue, held: Sequence[bool] | None
) -> SSAValue:
    """Return 0 for the indices that clamping left alone; `held` says in which columns of rows."""
    element = element_type(indices)
    assert isa(element, IntegerType)
    zero = DenseIntElementsAttr.from_list(TensorType(element, []), [0])
    none = builder.insert(ConstantOp(zero)).result
    same = builder.insert(CompareOp(indices, inside, predicate="eq")).result
    if held is not None and not all(held):
        dense = DenseIntElementsAttr.from_list(TensorType(i1, [len(held)]), held)
        columns = builder.insert(ConstantOp(dense)).result
        same = builder.insert(BitwiseAndOp(same, columns)).result
    return builder.insert(WhereOp(same, none, indices)).result


def worst_of_steps(scan: ScanOp, worst: SSAValue) -> SSAValue:
    """Make a scan return the worst indices of each step too; returns the worst of all."""
    block, end = scan.body.block, scan.body.block.last_op
    assert end is not None
    wider = YieldOp(*scan.yielded, worst)
    hand_on_location(end, wider)
    block.insert_op_before(wider, end)
    end.detach()
    end.erase()
    builder = located_builder(scan)
    body = scan.detach_region(scan.body)
    new = builder.insert(
        ScanOp(
            scan.initial,
            scan.sequences,
            body,
            steps=scan.num_steps,
            reverse=scan.reverse is not None,
        )
    )
    worst_of_all = builder.insert(ReduceMaxOp(new.results[-1], axes=[0])).result
    take_place(scan, new)
    return worst_of_all


def take_place(old: Operation, new: Operation) -> None:
    """Put an op with some more results in the place of one, which is erased."""
    new.attributes.update(old.attributes)
    for before, after in zip(old.results, new.results, strict=False):
        after.name_hint = before.name_hint
        before.replace_all_uses_with(after)
    old.detach()
    old.erase()


def worst_of_branch(choice: scf.IfOp, worst: SSAValue) -> SSAValue:
    """Make a branch return the worst indices too, and the other one what no index is less than."""
    type, home = worst.type, worst.owner
    assert isa(type, TensorType[IntegerType])
    assert isinstance(home, Operation)
    yes, no = (choice.detach_region(region) for region in list(choice.regions))
    for block in (yes.block, no.block):
        end = block.last_op
        assert end is not None
        builder, found = located_builder(end), worst
        if block is not home.parent:
            least = DenseIntElementsAttr.from_list(type, [LEAST] * prod(type.get_shape()))
            found = builder.insert(ConstantOp(least)).result
        builder.insert(scf.YieldOp(*end.operands, found))
        end.detach()
        end.erase()
    builder = located_builder(choice)
    types = [*(result.type for result in choice.results), type]
    new = builder.insert(scf.IfOp(choice.cond, types, yes, no))
    take_place(choice, new)
    return new.results[-1]


@dataclass(frozen=True)
class CheckIndices(ModulePass):
    """Keep indices that come at run time inside their tensors, and return the worst of them.

    1. The indices of gathers and scatters are clamped to the axis that they name, unless the graph
       shows that they are in range: constants, positions of a maximum.
    2. The function returns, behind its outputs, the greatest of them, shifted so that the ones in
       range are least. `gawee.indices` says of which op, along which axes and of what sizes.
    3. The caller looks at that result: native code in Python and the interpreter raise an
       error, code for C returns a status.

    What the body of a structured op extracts from a tensor, in a module that is linalg already, is
    checked likewise, by an op of the same loops. An index that depends on what the op accumulates
    is clamped without a report.

    Indices in the body of a scan are clamped at each step, and the worst of all steps is reported;
    those of a scan in a scan are clamped without a report. So are those of `scf.while`; a branch of
    `scf.if` returns the worst of its indices, and the other one none.

    Along an axis whose size is open, what is in range counts as 0, and the last index of the axis
    is the greatest of a `gawee.iota`; the size must be at least 1.

    A function that others call keeps its results: its indices are clamped without a report.

    rewrite:
        %y = gawee.gather %x, %i axis 0 : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
        ->
        %inside = gawee.minimum (gawee.maximum %i, -5), 4
        %y = gawee.gather %x, %inside axis 0
        %worst = gawee.reduce_max (gawee.add %i, 5 - 2^63)
    """

    name = "check-indices"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        called = {call.callee.root_reference.data for call in op.walk() if isinstance(call, CallOp)}
        for function in op.ops:
            if not isinstance(function, FuncOp) or not function.body.blocks:
                continue
            checker = _Checker(function)
            for inner in list(function.walk()):
                if isinstance(inner, IndexedOp):
                    checker.check(inner)
                elif isinstance(inner, LinalgStructuredOperation):
                    checker.check_body(inner)
            checker.finish(returned=function.sym_name.data not in called)
