"""The kernel level: one structured op, with what it computes and how it is run kept apart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from math import prod

from xdsl.builder import Builder
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    TensorType,
    i32,
    i64,
)
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineMap,
)
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.affine_range import used_dims, value_range
from gawee_dialect.dialect.kernels.algorithm import Algorithm, Direct
from gawee_dialect.dialect.kernels.schedule import Schedule, ScheduleAttr
from gawee_dialect.dialect.kernels.structured_kernel import (
    StructuredKernel,
    element_of,
    require_scalar_ops,
    shape_of,
)
from gawee_dialect.dialect.open_size import OpenSize, SizeName, is_open, without_names
from gawee_dialect.dialect.operation import integers, quick_operands, set_groups
from gawee_dialect.dialect.size_list import SizeList, SizesAttr, parse_sizes, print_sizes, size_list
from gawee_dialect.dialect.types import is_shaped, require, tensor_of
from gawee_dialect.hints import isa
from gawee_dialect.upstream.walk import inner_ops

# How much arithmetic the scalar ops in the bodies of kernels are.

# What is of other dialects is imported where it is used: most modules that are read have no
# kernels, and no ops of them.


@cache
def _no_arithmetic() -> tuple[type[Operation], ...]:
    """Return the scalar ops that count nothing: they choose, convert, compare or shift."""
    from xdsl.dialects import arith

    from gawee_dialect.upstream.arith import ON_VECTORS

    others = (op for pair in ON_VECTORS.items() for op in pair)
    shifts = (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp)
    return (arith.ConstantOp, arith.BitcastOp, arith.ExtFOp, arith.TruncFOp, *shifts, *others)


def scalar_flops(op: Operation) -> int:
    """Return the FLOPs of a scalar op: one for each arithmetic op on elements.

    A fused multiply-add is two, and an elementary function one. Arithmetic on indices computes
    where, not what: it counts nothing.
    """
    flops = _flops_of_kind(type(op))
    return 0 if flops == 0 or isinstance(op.results[0].type, IndexType) else flops


@cache
def _flops_of_kind(kind: type[Operation]) -> int:
    if kind.dialect_name() not in ("arith", "math") or issubclass(kind, _no_arithmetic()):
        return 0
    return 2 if kind.name == "math.fma" else 1


Number = FloatAttr | IntegerAttr

SEGMENTS = AttrSizedOperandSegments.attribute_name


@lru_cache(maxsize=256)
def _integer(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """End a region of a kernel with the value that it computes.

    ```mlir
    gawee.yield %sum : f32
    ```
    """

    name = "gawee.yield"

    values = var_operand_def()

    assembly_format = "$values attr-dict `:` type($values)"
    traits = traits_def(IsTerminator())

    def __init__(self, *values: SSAValue):
        Operation.__init__(self, operands=values)


@quick_operands
@irdl_op_definition
class KernelOp(StructuredKernel, HasCanonicalizationPatternsInterface):
    """Compute every element of one tensor or buffer by a nest of loops.

    The iteration space has one dimension a bound; the last `reductions` of them are reduced.
    `indexing_maps` say which element of each input, and last of the output, a point is about.

    1. Every point of the parallel dimensions starts with an accumulator of value `initial`.
    2. `accumulate` is run for every point of the reduction dimensions, in any order. Its arguments
       are the inputs' elements and the accumulator, and it yields the next accumulator.
    3. `finish` is run once: its arguments are the inputs' elements and, where there are
       reductions, the accumulator; it yields the element of the output.
    4. Elements of the output that no point is about (a halo, the rest of a last block) are
       `outside`.

    Sums may be taken in any order, those of blocks in a wider type than the accumulator's, and a
    product that is added to a sum may be rounded once, with it. `schedule` says how the loops are run; without one they run in their order, on scalars.

    On buffers the op has an output operand in the place of a result, which no input overlaps.

    A bound may be a form of names, `"batch * length"`. Each name has an operand of type index in
    `counts`, in the order of their letters. The output's `shape` is said where that is open too.

    ```mlir
    %y = gawee.kernel parallel [4, 5] reduce [7] ins(%a, %b : tensor<4x7xf32>, tensor<5x7xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      initial 0.0 : f32
      accumulate {
      ^bb0(%x: f32, %w: f32, %sum: f32):
        %0 = arith.mulf %x, %w : f32
        %1 = arith.addf %sum, %0 : f32
        gawee.yield %1 : f32
      } finish {
      ^bb0(%x: f32, %w: f32, %sum: f32):
        gawee.yield %sum : f32
      } schedule #gawee.schedule<loops = [d0, d2]> : tensor<4x5xf32>
    ```

    Constraints:
      C1: there is one map for each input and for the output, over all dimensions, with one result
          for each axis of its operand.
      C2: no map leaves its operand.
      C3: the map of the output depends on every parallel dimension of more than one point, and on
          no reduction.
      C4: `accumulate` and `initial` are there exactly where there are reductions, and the regions'
          arguments are the inputs' elements and, where there are reductions, the accumulator.
      C5: what a region yields has the type of the accumulator, or of the output's elements.
      C6: `finish` uses only inputs whose maps depend on no reduction.
      C7: `schedule`, where it is given, fits the bounds.
      C8: every op of a region computes one scalar, without a region.
      C9: `counts` are one operand for each name in the bounds and in `shape`, which has the sizes
          of the output that are open, and those of its type.
      C10: bounds that are numbers are 0 or more.
    """

    name = "gawee.kernel"

    inputs = var_operand_def(TensorType | MemRefType)
    output = opt_operand_def(MemRefType)
    counts = var_operand_def(IndexType)

    reductions = prop_def(IntegerAttr)
    initial = opt_prop_def(FloatAttr | IntegerAttr)
    outside = opt_prop_def(FloatAttr | IntegerAttr)
    schedule = opt_prop_def(ScheduleAttr)
    shape = opt_prop_def(SizesAttr)

    accumulate = region_def()
    finish = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        output: SSAValue | TensorType[Attribute],
        *,
        bounds: Sequence[int],
        maps: Sequence[AffineMap],
        finish: Region,
        reductions: int = 0,
        initial: Number | None = None,
        accumulate: Region | None = None,
        outside: Number | None = None,
        schedule: Schedule | None = None,
        counts: Sequence[SSAValue] = (),
        shape: SizeList | None = None,
    ):
        on_buffers = isinstance(output, SSAValue)
        if shape is None and isinstance(output, TensorType) and is_open(output.get_shape()):
            shape = size_list(output.get_shape())
        properties: dict[str, Attribute | None] = {
            "bounds": size_list(bounds) if is_open(bounds) else integers(i64, tuple(bounds)),
            "reductions": _integer(reductions),
            "indexing_maps": ArrayAttr([AffineMapAttr(map) for map in maps]),
            "initial": initial,
            "outside": outside,
            "schedule": None if schedule is None else ScheduleAttr(schedule),
            "shape": shape,
            SEGMENTS: integers(i32, (len(inputs), int(on_buffers), len(counts))),
        }
        # A compilation makes kernels by the thousand: xDSL's builder takes thrice as long.
        Operation.__init__(
            self,
            operands=[*inputs, output, *counts] if on_buffers else [*inputs, *counts],
            result_types=[] if on_buffers else [output],
            properties={name: value for name, value in properties.items() if value is not None},
            regions=[accumulate or Region(), finish],
        )

    # What the op says, as plain values.

    @property
    def num_parallel(self) -> int:
        """How many dimensions are parallel; they come first."""
        return len(self.sizes) - self.reductions.value.data

    @property
    def accumulator_type(self) -> Attribute | None:
        """The type of the accumulator; None where nothing is reduced."""
        return None if self.initial is None else self.initial.get_type()

    @property
    def has_zeros_outside(self) -> bool:
        return self.outside is None or self.outside.value.data == 0

    @property
    def flops(self) -> int:
        return sum(points * sum(map(scalar_flops, block.ops)) for block, points in self.bodies())

    def bodies(self) -> Iterator[tuple[Block, int]]:
        """Yield the blocks that a kernel runs, each with the number of points it runs at."""
        yield self.finish.block, prod(self.sizes[: self.num_parallel])
        if self.initial is not None:
            yield self.accumulate.block, prod(self.sizes)

    @property
    def algorithm(self) -> Algorithm:
        return Direct()

    def with_operands(
        self,
        inputs: Sequence[SSAValue],
        output: SSAValue | TensorType[Attribute],
        *,
        maps: Sequence[AffineMap] | None = None,
        packed: Sequence[SSAValue] | None = None,
        scratch: Sequence[SSAValue] = (),
        values: Mapping[SSAValue, SSAValue] | None = None,
        algorithm: Algorithm | None = None,
        moves_regions: bool = False,
    ) -> "KernelOp":
        """Make the same kernel on other operands; with `moves_regions` of the regions of this one,
        which is left without, to be erased."""
        values = values or {}
        counts = [values.get(each, each) for each in self.counts]
        on_buffers = isinstance(output, SSAValue)
        sizes = (len(inputs), int(on_buffers), len(counts))
        properties = {**self.properties, SEGMENTS: integers(i32, sizes)}
        if maps is not None:
            properties["indexing_maps"] = ArrayAttr([AffineMapAttr(map) for map in maps])
        if not on_buffers:
            properties.pop("shape", None)
            if is_open(output.get_shape()):
                properties["shape"] = size_list(output.get_shape())
        return KernelOp.create(
            operands=[*inputs, output, *counts] if on_buffers else [*inputs, *counts],
            result_types=() if on_buffers else (output,),
            properties=properties,
            attributes=dict(self.attributes),
            regions=[
                _region_of(each, values, is_moved=moves_regions)
                for each in (self.accumulate, self.finish)
            ],
        )

    @property
    def names(self) -> Sequence[SizeName]:
        """The names of the sizes that are open, in the order of `counts`."""
        if not isinstance(self.bounds, SizesAttr) and self.shape is None:
            return ()
        sizes = (*self.sizes, *(() if self.shape is None else self.shape.get_values()))
        opened = (size for size in sizes if isinstance(size, OpenSize))
        return sorted({name for size in opened for name in size.names})

    @property
    def target_shape(self) -> Sequence[int]:
        """The shape of the output, with the forms of sizes that are open."""
        return shape_of(self.target) if self.shape is None else self.shape.get_values()

    def set_counts(self, counts: Sequence[SSAValue]) -> None:
        """Give the op other values for its names, in their order."""
        set_groups(self, (self.inputs, () if self.output is None else (self.output,), counts))

    def number_names(self) -> Sequence[SizeName]:
        """Call the names by their places, `n0`, `n1`, and return these.

        Kernels that differ in what their sizes are called are then equal. Of more than ten the
        first are `n00`, `n01`: names are sorted as text.
        """
        width = len(str(len(self.names) - 1))
        new = {each: replace(each, name=f"n{at:0{width}}") for at, each in enumerate(self.names)}
        for key, sizes in tuple(self.properties.items()):
            if isinstance(sizes, SizesAttr):
                renamed = (
                    size.renamed(new.__getitem__) if isinstance(size, OpenSize) else size
                    for size in sizes.get_values()
                )
                self.properties[key] = size_list(list(renamed))
        return list(new.values())

    def yielded(self, region: Region) -> SSAValue:
        """Return what a region yields."""
        terminator = region.block.last_op
        assert type(terminator) is YieldOp
        return terminator.operands[0]

    def covers_output(self) -> bool:
        """Whether every element of the output belongs to a point."""
        return prod(self.sizes[: self.num_parallel]) == prod(self.target_shape)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gawee_dialect.passes.graph.canonicalization.kernel import DropReduction

        return (DropReduction(),)

    # Verification.

    def verify_(self) -> None:
        require(
            (self.output is None) != (self.result is None),
            "expected either a result or an output operand",
        )
        for size in self.sizes:
            is_size = isinstance(size, OpenSize) or size >= 0
            require(is_size, f"expected bounds of 0 or more, got {size}")
        self._verify_counts()
        self._verify_maps()
        self._verify_regions()
        if self.schedule is not None:
            problem = self.schedule.data.problem(self.sizes, self.reductions.value.data)
            require(problem is None, f"schedule: {problem}")
            self._verify_prefetch(self.schedule.data)

    def _verify_prefetch(self, schedule: Schedule) -> None:
        if schedule.prefetch is not None:
            number, count = schedule.prefetch.input, len(self.inputs)
            message = f"schedule: expected to prefetch one of {count} inputs, got input {number}"
            require(number < count, message)

    def _verify_counts(self) -> None:
        shape = shape_of(self.target)
        if self.shape is not None:
            require(
                without_names(self.target_shape) == without_names(shape),
                f"expected 'shape' to be of {self.target.type}, got {list(self.target_shape)}",
            )
        else:
            require(DYNAMIC_INDEX not in shape, "expected the 'shape' of an output of open sizes")
        names = ", ".join(f"'{each.name}'" for each in self.names)
        require(
            len(self.names) == len(self.counts),
            f"expected one count for each of the names {names or '(none)'}, got {len(self.counts)}",
        )

    def _verify_maps(self) -> None:
        operands = (*self.inputs, self.target)
        rank = len(self.sizes)
        require(
            len(self.maps) == len(operands),
            f"expected {len(operands)} maps, one for each operand, got {len(self.maps)}",
        )
        sizes, target = self.sizes, self.target
        for index, (map, operand) in enumerate(zip(self.maps, operands, strict=True)):
            what = f"map of input #{index}" if index < len(self.inputs) else "map of the output"
            shape = self.target_shape if operand is target else shape_of(operand)
            if (map.num_dims, map.num_symbols, len(map.results)) != (rank, 0, len(shape)):
                raise VerifyException(
                    f"expected {what} to take {rank} dimensions to {len(shape)} axes, got '{map}'"
                )
            for axis, (expr, size) in enumerate(zip(map.results, shape, strict=True)):
                low, high = value_range(expr, sizes)
                is_unnamed = not isinstance(size, OpenSize) and size == DYNAMIC_INDEX
                require(
                    0 <= low and (is_unnamed or high < size),
                    f"expected {what} to stay in axis {axis} of size {size}, got {low} to {high}",
                )
        self._verify_output_map()

    def _verify_output_map(self) -> None:
        used, parallel = used_dims(self.maps[-1]), self.num_parallel
        for dim, size in enumerate(self.sizes):
            if dim >= parallel:
                require(dim not in used, f"expected no reduction in the output's map, got d{dim}")
            elif (isinstance(size, OpenSize) or size > 1) and dim not in used:
                raise VerifyException(f"expected d{dim} in the output's map '{self.maps[-1]}'")

    def _verify_regions(self) -> None:
        reduces = self.reductions.value.data > 0
        require(
            reduces == (self.initial is not None) == bool(self.accumulate.blocks),
            "expected 'initial' and 'accumulate' exactly where there are reductions",
        )
        elements = [element_of(value) for value in self.inputs]
        if self.initial is not None:
            elements.append(self.initial.get_type())
            self._verify_region("accumulate", self.accumulate, elements, elements[-1])
        self._verify_region("finish", self.finish, elements, element_of(self.target))
        for index, (map, argument) in enumerate(zip(self.maps, self.finish.block.args)):
            reduced = [dim for dim in used_dims(map) if dim >= self.num_parallel]
            require(
                not reduced or not argument.uses,
                f"expected 'finish' to use no input that a reduction walks, got input #{index}",
            )

    def _verify_region(
        self, name: str, region: Region, elements: Sequence[Attribute], yields: Attribute
    ) -> None:
        count = len(region.blocks)
        require(count == 1, f"expected '{name}' to have one block, got {count}")
        types = [argument.type for argument in region.block.args]
        if types != list(elements):
            raise VerifyException(
                f"expected '{name}' to take ({_types(elements)}), got ({_types(types)})"
            )
        terminator = region.block.last_op
        require(isinstance(terminator, YieldOp), f"expected '{name}' to end in gawee.yield")
        got = [value.type for value in terminator.operands] if terminator is not None else []
        if got != [yields]:
            raise VerifyException(
                f"expected '{name}' to yield ({_types([yields])}), got ({_types(got)})"
            )
        require_scalar_ops(name, region)

    # Syntax: what is computed first, how last.

    def print(self, printer: Printer) -> None:
        parallel, reduced = self.sizes[: self.num_parallel], self.sizes[self.num_parallel :]
        printer.print_string(" parallel ")
        print_sizes(printer, parallel)
        if reduced:
            printer.print_string(" reduce ")
            print_sizes(printer, reduced)
        if self.counts:
            printer.print_string(" counts(")
            printer.print_list(
                list(zip(self.names, self.counts, strict=True)),
                lambda pair: _print_count(printer, *pair),
            )
            printer.print_string(")")
        printer.print_string(" ins(")
        printer.print_list(self.inputs, printer.print_operand)
        if self.inputs:
            printer.print_string(" : ")
        printer.print_list(self.inputs, lambda value: printer.print_attribute(value.type))
        printer.print_string(")")
        if self.output is not None:
            printer.print_string(" outs(")
            printer.print_operand(self.output)
            printer.print_string(")")
        printer.print_string(" maps ")
        printer.print_attribute(self.indexing_maps)
        for keyword, number in (("initial", self.initial), ("outside", self.outside)):
            if number is not None:
                printer.print_string(f" {keyword} ")
                printer.print_attribute(number)
        if self.accumulate.blocks:
            printer.print_string(" accumulate ")
            printer.print_region(self.accumulate)
        printer.print_string(" finish ")
        printer.print_region(self.finish)
        if self.schedule is not None:
            printer.print_string(" schedule ")
            printer.print_attribute(self.schedule)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_attribute(self.target.type)
        if self.shape is not None:
            printer.print_string(" shape ")
            print_sizes(printer, self.target_shape)

    @classmethod
    def parse(cls, parser: Parser) -> "KernelOp":
        parser.parse_keyword("parallel")
        parallel = parse_sizes(parser)
        reduced = parse_sizes(parser) if parser.parse_optional_keyword("reduce") else ()
        names_position = parser.pos
        counts = _parse_counts(parser)
        inputs = _parse_inputs(parser)
        output = None
        if parser.parse_optional_keyword("outs") is not None:
            with parser.in_parens():
                output = parser.parse_unresolved_operand()
        parser.parse_keyword("maps")
        position = parser.pos
        maps = parser.parse_attribute()
        if not isa(maps, ArrayAttr[AffineMapAttr]):
            parser.raise_error("expected a list of affine maps", position)
        initial = _parse_number(parser, "initial")
        outside = _parse_number(parser, "outside")
        accumulate = None
        if parser.parse_optional_keyword("accumulate") is not None:
            accumulate = parser.parse_region()
        parser.parse_keyword("finish")
        finish = parser.parse_region()
        schedule = _parse_schedule(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not is_shaped(type):
            parser.raise_error("expected a tensor or memref type", position)
        if output is not None:
            target: SSAValue | TensorType[Attribute] = parser.resolve_operand(output, type)
        else:
            if not isa(type, TensorType[Attribute]):
                parser.raise_error("expected a tensor type of the result", position)
            target = type
        shape = size_list(parse_sizes(parser)) if parser.parse_optional_keyword("shape") else None
        op = cls(
            inputs,
            target,
            bounds=[*parallel, *reduced],
            reductions=len(reduced),
            maps=[map.data for map in maps],
            initial=initial,
            outside=outside,
            accumulate=accumulate,
            finish=finish,
            schedule=schedule,
            counts=[value for _, value in sorted(counts.items())],
            shape=shape,
        )
        got, names = ", ".join(sorted(counts)), ", ".join(each.name for each in op.names)
        if got != names:
            message = f"expected counts of '{names}', got those of '{got}'"
            parser.raise_error(message, names_position)
        if attributes is not None:
            op.attributes |= attributes.data
        return op


def _region_of(region: Region, values: Mapping[SSAValue, SSAValue], *, is_moved: bool) -> Region:
    """Return a copy of a region, or what it held, with other values from outside."""
    new = Region()
    if not is_moved:
        region.clone_into(new, value_mapper=dict(values))
        return new
    region.move_blocks(new)
    for op in inner_ops(new):
        for index, operand in enumerate(op.operands):
            if operand in values:
                op.operands[index] = values[operand]
    return new


def _print_count(printer: Printer, name: SizeName, value: SSAValue) -> None:
    printer.print_string(f"{name.name} = ")
    printer.print_operand(value)


def _parse_counts(parser: Parser) -> Mapping[str, SSAValue]:
    """Parse `counts(batch = %b, length = %l)`, where there are some."""
    if parser.parse_optional_keyword("counts") is None:
        return {}

    def parse_count() -> tuple[str, SSAValue]:
        name = parser.parse_identifier("the name of a size")
        parser.parse_punctuation("=")
        return name, parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())

    return dict(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_count))


def _parse_inputs(parser: Parser) -> list[SSAValue]:
    parser.parse_keyword("ins")
    with parser.in_parens():
        unresolved = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        if not unresolved:
            return []
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    return list(parser.resolve_operands(unresolved, types, parser.pos))


def _parse_number(parser: Parser, keyword: str) -> Number | None:
    if parser.parse_optional_keyword(keyword) is None:
        return None
    position = parser.pos
    number = parser.parse_attribute()
    if not isa(number, Number):
        parser.raise_error("expected a number", position)
    return number


def _parse_schedule(parser: Parser) -> Schedule | None:
    if parser.parse_optional_keyword("schedule") is None:
        return None
    position = parser.pos
    schedule = parser.parse_attribute()
    if not isinstance(schedule, ScheduleAttr):
        parser.raise_error("expected a #gawee.schedule", position)
    return schedule.data


def _types(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))


# Kernels that move elements about unchanged: copies, transpositions, padding, packing.


def copy_kernel(
    source: SSAValue,
    shape: Sequence[int],
    *,
    bounds: Sequence[int],
    reads: AffineMap,
    writes: AffineMap,
    outside: Number | None = None,
) -> KernelOp:
    """Make a kernel that copies elements of a tensor to other places of a new one.

    Both maps are over `bounds`; what no point is about is `outside`, zero for None.
    """
    element = element_of(source)
    block = Block(arg_types=[element])
    Builder(InsertPoint.at_end(block)).insert(YieldOp(block.args[0]))
    return KernelOp(
        [source],
        tensor_of(element, shape),
        bounds=bounds,
        maps=[reads, writes],
        finish=Region(block),
        outside=outside,
    )


def insert_copy(builder: Builder, kernel: KernelOp) -> SSAValue:
    """Insert a kernel on tensors; its result is named after the first input."""
    result = builder.insert(kernel).result
    assert result is not None
    result.name_hint = kernel.inputs[0].name_hint
    return result
