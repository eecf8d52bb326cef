"""The scf dialect with `scf.forall`, and a text form for parallel loops that xDSL lacks.

`SCF` takes the place of xDSL's dialect of the same name in our tools. Everything else in it is
xDSL's own, and `ParallelOp` is one of xDSL's class, so its passes work on it. The iterations of
`scf.forall` are independent and put tensors together.
"""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Dialect, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.upstream.tensor import ParallelInsertSliceOp

Index = SSAValue | int
"""A bound: a number, or a value that is computed."""


def _split(bounds: Sequence[Index]) -> tuple[list[SSAValue], DenseArrayBase[IntegerType]]:
    """Return the values among bounds, and the attribute that says where they are."""
    numbers = [bound if isinstance(bound, int) else DYNAMIC_INDEX for bound in bounds]
    values = [bound for bound in bounds if isinstance(bound, SSAValue)]
    return values, DenseArrayBase.from_list(i64, numbers)


def _joined(static: DenseArrayBase[IntegerType], values: Sequence[SSAValue]) -> list[Index]:
    rest = iter(values)
    return [next(rest) if each == DYNAMIC_INDEX else each for each in static.get_values()]


@irdl_op_definition
class InParallelOp(IRDLOperation):
    """What the iterations of `scf.forall` put together: insertions that do not overlap.

    ```mlir
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i, 0] [1, 5] [1, 1]
        : tensor<1x5xf32> into tensor<7x5xf32>
    }
    ```

    Constraints:
      C1: it inserts slices, and nothing else.
    """

    name = "scf.forall.in_parallel"

    body = region_def("single_block")
    traits = lazy_traits_def(lambda: (IsTerminator(), NoTerminator(), HasParent(ForallOp)))

    def __init__(self, body: Region):
        super().__init__(regions=[body])

    @property
    def insertions(self) -> Sequence[ParallelInsertSliceOp]:
        """What is inserted, in order."""
        return [op for op in self.body.block.ops if isinstance(op, ParallelInsertSliceOp)]

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if not isinstance(op, ParallelInsertSliceOp):
                raise VerifyException(
                    f"expected '{ParallelInsertSliceOp.name}' ops alone, got '{op.name}'"
                )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        op = cls(body)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ForallOp(IRDLOperation):
    """A nest of loops whose iterations are independent; each puts slices into shared tensors.

    An iteration sees shared tensors as they were before the loops.

    ```mlir
    %r = scf.forall (%i, %j) = (0, 0) to (7, %n) step (2, 3) shared_outs(%o = %x) -> (tensor<7x5xf32>) {
      ...
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %o[%i, %j] [2, 3] [1, 1]
          : tensor<2x3xf32> into tensor<7x5xf32>
      }
    }
    ```

    Constraints:
      C1: there is a counter, a lower bound, an upper bound and a step for each loop.
      C2: the body takes the counters and a tensor of each shared tensor's type.
      C3: the results have the types of the shared tensors.
      C4: the body ends in `scf.forall.in_parallel`, which inserts into shared tensors.
    """

    name = "scf.forall"

    dynamic_lower = var_operand_def(IndexType())
    dynamic_upper = var_operand_def(IndexType())
    dynamic_step = var_operand_def(IndexType())
    outputs = var_operand_def(TensorType)
    static_lower = prop_def(DenseArrayBase.constr(i64), prop_name="staticLowerBound")
    static_upper = prop_def(DenseArrayBase.constr(i64), prop_name="staticUpperBound")
    static_step = prop_def(DenseArrayBase.constr(i64), prop_name="staticStep")
    mapping = opt_prop_def(ArrayAttr)
    body = region_def("single_block")
    res = var_result_def(TensorType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        lower: Sequence[Index],
        upper: Sequence[Index],
        step: Sequence[Index],
        outputs: Sequence[SSAValue],
        body: Region,
        results: Sequence[Attribute],
    ):
        bounds = [_split(each) for each in (lower, upper, step)]
        names = ("staticLowerBound", "staticUpperBound", "staticStep")
        super().__init__(
            operands=[*(values for values, _ in bounds), outputs],
            result_types=[results],
            properties={name: static for name, (_, static) in zip(names, bounds, strict=True)},
            regions=[body],
        )

    @property
    def lower(self) -> list[Index]:
        """The lower bound of each loop."""
        return _joined(self.static_lower, self.dynamic_lower)

    @property
    def upper(self) -> list[Index]:
        """The upper bound of each loop, which it stays below."""
        return _joined(self.static_upper, self.dynamic_upper)

    @property
    def step(self) -> list[Index]:
        """The step of each loop."""
        return _joined(self.static_step, self.dynamic_step)

    @property
    def rank(self) -> int:
        """The number of loops."""
        return len(self.static_lower)

    @property
    def in_parallel(self) -> InParallelOp:
        """What is put together at the end of an iteration."""
        last = self.body.block.last_op
        assert isinstance(last, InParallelOp)
        return last

    def verify_(self) -> None:
        sizes = [len(each) for each in (self.static_lower, self.static_upper, self.static_step)]
        if sizes != [self.rank] * 3:
            raise VerifyException(f"expected bounds and steps of {self.rank} loops, got {sizes}")
        shared = [value.type for value in self.outputs]
        wanted: list[Attribute] = [*([IndexType()] * self.rank), *shared]
        if list(self.body.block.arg_types) != wanted:
            raise VerifyException(
                f"expected a body of {self.rank} indices and {len(shared)} shared tensors"
            )
        if [result.type for result in self.res] != shared:
            raise VerifyException("expected results of the types of the shared tensors")
        if not isinstance(self.body.block.last_op, InParallelOp):
            raise VerifyException(f"expected the body to end in '{InParallelOp.name}'")
        arguments = self.body.block.args[self.rank :]
        if any(each.dest not in arguments for each in self.in_parallel.insertions):
            raise VerifyException("expected insertions into shared tensors")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `(%i, ..) in (..)` or `= (..) to (..) step (..)`, `shared_outs(..) -> ..`, `{..}`."""
        names = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        if parser.parse_optional_keyword("in") is not None:
            upper = _parse_bounds(parser)
            lower: list[Index] = [0] * len(upper)
            step: list[Index] = [1] * len(upper)
        else:
            parser.parse_punctuation("=")
            lower = _parse_bounds(parser)
            parser.parse_keyword("to")
            upper = _parse_bounds(parser)
            parser.parse_keyword("step")
            step = _parse_bounds(parser)
        outputs: Sequence[SSAValue] = ()
        arguments = [name.resolve(IndexType()) for name in names]
        if parser.parse_optional_keyword("shared_outs") is not None:
            position = parser.pos
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: _parse_shared(parser)
            )
            parser.parse_punctuation("->")
            types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            outputs = parser.resolve_operands([value for _, value in pairs], types, position)
            arguments += [name.resolve(type) for (name, _), type in zip(pairs, types, strict=True)]
        body = parser.parse_region(arguments)
        if not isinstance(body.block.last_op, InParallelOp):
            body.block.add_op(InParallelOp(Region(Block())))
        op = cls(lower, upper, step, outputs, body, [value.type for value in outputs])
        attributes = parser.parse_optional_attr_dict()
        if "mapping" in attributes:
            op.properties["mapping"] = attributes.pop("mapping")
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads; loops from 0 by 1 in the short form, as upstream does."""
        arguments = self.body.block.args
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(arguments[: self.rank], printer.print_ssa_value)
        if self.lower == [0] * self.rank and self.step == [1] * self.rank:
            _print_bounds(printer, "in", self.upper)
        else:
            _print_bounds(printer, "=", self.lower)
            _print_bounds(printer, "to", self.upper)
            _print_bounds(printer, "step", self.step)
        if self.outputs:
            printer.print_string(" shared_outs")
            with printer.in_parens():
                pairs = zip(arguments[self.rank :], self.outputs, strict=True)
                printer.print_list(pairs, lambda pair: _print_shared(printer, *pair))
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list([each.type for each in self.res], printer.print_attribute)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        mapping = {} if self.mapping is None else {"mapping": self.mapping}
        printer.print_op_attributes({**mapping, **self.attributes})


def _parse_bounds(parser: Parser) -> list[Index]:
    def bound() -> Index:
        number = parser.parse_optional_integer()
        return parser.parse_operand(IndexType()) if number is None else number

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, bound)


def _print_bounds(printer: Printer, keyword: str, bounds: Sequence[Index]) -> None:
    def bound(each: Index) -> None:
        if isinstance(each, int):
            printer.print_string(str(each))
        else:
            printer.print_ssa_value(each)

    printer.print_string(f" {keyword} ")
    with printer.in_parens():
        printer.print_list(bounds, bound)


def _print_shared(printer: Printer, argument: SSAValue, value: SSAValue) -> None:
    printer.print_ssa_value(argument)
    printer.print_string(" = ")
    printer.print_ssa_value(value)


def _parse_shared(parser: Parser) -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.parse_unresolved_operand()


def _list(parser: Parser) -> Sequence[SSAValue]:
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    return parser.resolve_operands(operands, [IndexType()] * len(operands), parser.pos)


def _initial_values(parser: Parser) -> Sequence[SSAValue]:
    position = parser.pos
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    parser.parse_punctuation("->")
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return parser.resolve_operands(operands, types or [parser.parse_type()], position)


class ParallelOp(scf.ParallelOp):
    """A nest of loops whose iterations are independent.

    ```mlir
    scf.parallel (%i, %j) = (%c0, %c0) to (%c7, %c13) step (%c1, %c1) {
      %v = memref.load %x[%i, %j] : memref<7x13xf32>
      memref.store %v, %y[%i, %j] : memref<7x13xf32>
      scf.reduce
    }
    ```
    """

    name = "scf.parallel"

    @classmethod
    def parse(cls, parser: Parser) -> "ParallelOp":
        """Read `(%i, ..) = (lower, ..) to (upper, ..) step (step, ..) init (..) -> .. {..}`."""
        names = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower = _list(parser)
        parser.parse_keyword("to")
        upper = _list(parser)
        parser.parse_keyword("step")
        step = _list(parser)
        initial = _initial_values(parser) if parser.parse_optional_keyword("init") else ()
        body = parser.parse_region([name.resolve(IndexType()) for name in names])
        if not isinstance(body.block.last_op, scf.ReduceOp):
            body.block.add_op(scf.ReduceOp())
        op = cls(lower, upper, step, body, initial)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads; the terminator is always spelt out, as upstream does."""

        def values(keyword: str, operands: Sequence[SSAValue]) -> None:
            printer.print_string(f" {keyword} ")
            with printer.in_parens():
                printer.print_list(operands, printer.print_ssa_value)

        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_ssa_value)
        values("=", self.lowerBound)
        values("to", self.upperBound)
        values("step", self.step)
        if self.initVals:
            values("init", self.initVals)
            printer.print_string(" -> ")
            self._print_types(printer, [result.type for result in self.res])
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)

    def _print_types(self, printer: Printer, types: Sequence[Attribute]) -> None:
        if len(types) == 1:
            printer.print_attribute(types[0])
            return
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)


SCF = Dialect(
    "scf",
    [
        *(ParallelOp if op is scf.ParallelOp else op for op in scf.Scf.operations),
        ForallOp,
        InParallelOp,
    ],
    list(scf.Scf.attributes),
)
"""xDSL's dialect and `scf.forall`, with our parallel loop in the place of its own."""
