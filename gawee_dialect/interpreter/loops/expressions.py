"""Scalar ops as Python expressions on rounded Python numbers.

An op that has no entry here is called in its NumPy definition: slower, but the same function that
every other level uses.
"""

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from gawee_dialect.interpreter.arrays import dtype_of, is_half
from gawee_dialect.interpreter.body import SCALARS
from gawee_dialect.interpreter.loops.writer import (
    Name,
    NotCompilable,
    Range,
    Writer,
    fits,
    integer_width,
)
from gawee_dialect.interpreter.scalars import evaluate_scalar

FLOATS: dict[type[Operation], str] = {
    arith.AddfOp: "{0} + {1}",
    arith.SubfOp: "{0} - {1}",
    arith.MulfOp: "{0} * {1}",
    arith.DivfOp: "{0} / {1} if {1} else divided_by_zero({0}, {1})",
    arith.TruncFOp: "{0}",
    math.SqrtOp: "sqrt({0}) if {0} >= 0.0 else nan",
}
"""Float ops whose exact result is rounded once, from double precision, to the op's type."""

EXACT: dict[type[Operation], str] = {
    arith.NegfOp: "-{0}",
    math.AbsFOp: "abs({0})",
    arith.ExtFOp: "{0}",
    arith.MaximumfOp: "{0} if {0} > {1} or {0} != {0} else {1} if {0} or {1} else {0} + {1}",
    arith.MinimumfOp: "{0} if {0} < {1} or {0} != {0} else {1} if {0} or {1} else -(-{0} - {1})",
    arith.MaxnumfOp: "{0} if {0} >= {1} or {1} != {1} else {1}",
    arith.MinnumfOp: "{0} if {0} <= {1} or {1} != {1} else {1}",
    arith.SelectOp: "{1} if {0} else {2}",
}
"""Ops whose result needs no rounding; of the two zeros, -0 is the less."""

CMPF: tuple[str, ...] = (
    "False",
    "{0} == {1}",
    "{0} > {1}",
    "{0} >= {1}",
    "{0} < {1}",
    "{0} <= {1}",
    "({0} < {1} or {0} > {1})",
    "({0} == {0} and {1} == {1})",
    "not ({0} < {1} or {0} > {1})",
    "not {0} <= {1}",
    "not {0} < {1}",
    "not {0} >= {1}",
    "not {0} > {1}",
    "{0} != {1}",
    "({0} != {0} or {1} != {1})",
    "True",
)
"""The float predicates in the order of the attribute."""

CMPI: tuple[str, ...] = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
"""The integer predicates in the order of the attribute; from the seventh on unsigned."""


def rounding(writer: Writer, op: Operation, expression: str) -> str | None:
    """Return a value's expression rounded to its type; None where the rounding was written."""
    dtype = dtype_of(op.results[0].type)
    if dtype == np.float64:
        return expression
    if is_half(dtype):
        return f"float({writer.bind(dtype.type)}({expression}))"
    # A cell of a float32 buffer rounds twice as fast as any call.
    name = writer.fresh()
    writer.line(f"cell[0] = {expression}; {name} = cell[0]")
    writer.names[op.results[0]] = Name(name, writer.depth)
    return None


def is_stored_alone(value: SSAValue) -> bool:
    """Whether a store in the same block is all that reads a value: the store then rounds it."""
    uses = list(value.uses)
    if len(uses) != 1 or uses[0].operation.name != "memref.store" or uses[0].index != 0:
        return False
    owner = value.owner
    return isinstance(owner, Operation) and uses[0].operation.parent is owner.parent


def write_scalar(writer: Writer, op: Operation) -> None:
    """Write a scalar op; raises NotCompilable for one that has no definition."""
    if type(op) not in SCALARS:
        raise NotCompilable(f"'{op.name}'")
    result = op.results[0]
    if isinstance(op, arith.ConstantOp):
        return  # its literal stands where it is used
    names = [writer.name(operand) for operand in op.operands]
    texts = [name.text for name in names]
    if type(op) in FLOATS:
        expression = FLOATS[type(op)].format(*texts)
        stored = is_stored_alone(result) and not is_half(dtype_of(result.type))
        rounded = expression if stored else rounding(writer, op, expression)
        if rounded is not None:
            writer.define(result, rounded)
    elif type(op) in EXACT:
        bounds = either(*(name.range for name in names[1:])) if len(names) == 3 else None
        writer.define(result, EXACT[type(op)].format(*texts), bounds)
    elif isinstance(op, arith.CmpfOp):
        writer.define(result, CMPF[op.predicate.value.data].format(*texts))
    elif not write_integer(writer, op, names):
        write_call(writer, op, names)


def write_integer(writer: Writer, op: Operation, names: Sequence[Name]) -> bool:
    """Write an integer op if its Python spelling is the same function; False otherwise."""
    width = integer_width(op.operands[0].type)
    if width is None or width == 1:
        return False
    result = op.results[0]
    if isinstance(op, arith.CmpiOp):
        predicate = op.predicate.value.data
        if predicate > 5 and not all(is_natural(name.range) for name in names):
            return False
        writer.define(result, f"{names[0].text} {CMPI[predicate]} {names[1].text}")
        return True
    if isinstance(op, arith.IndexCastOp | arith.ExtSIOp | arith.TruncIOp):
        target = integer_width(result.type)
        if target is None or (target < width and not fits(names[0].range, target)):
            return False
        writer.names[result] = names[0]
        return True
    rule = INTEGERS.get(type(op))
    if rule is None:
        return False
    text, bounds = rule
    known = bounds(names[0].range, names[1].range)
    if known is None and type(op) in DIVISIONS:
        return False
    expression = text.format(*(name.text for name in names))
    if type(op) in WRAPPING and not fits(known, width):
        half = 1 << width - 1
        expression, known = f"(({expression}) + {half} & {2 * half - 1}) - {half}", None
    writer.define(result, expression, known)
    return True


def either(lhs: Range, rhs: Range) -> Range:
    """Return the range of a value that is one of two."""
    return None if lhs is None or rhs is None else (min(lhs[0], rhs[0]), max(lhs[1], rhs[1]))


def is_natural(bounds: Range) -> bool:
    """Whether no value of a range is negative."""
    return bounds is not None and bounds[0] >= 0


def _corners(function: Callable[[int, int], int]) -> Callable[[Range, Range], Range]:
    def bounds(lhs: Range, rhs: Range) -> Range:
        if lhs is None or rhs is None:
            return None
        corners = [function(a, b) for a in lhs for b in rhs]
        return min(corners), max(corners)

    return bounds


def _quotient(lhs: Range, rhs: Range) -> Range:
    if lhs is None or rhs is None or lhs[0] < 0 or rhs[0] <= 0:
        return None
    return lhs[0] // rhs[1], lhs[1] // rhs[0]


def _remainder(lhs: Range, rhs: Range) -> Range:
    if lhs is None or rhs is None or lhs[0] < 0 or rhs[0] <= 0:
        return None
    return 0, min(lhs[1], rhs[1] - 1)


INTEGERS: dict[type[Operation], tuple[str, Callable[[Range, Range], Range]]] = {
    arith.AddiOp: ("{0} + {1}", _corners(lambda a, b: a + b)),
    arith.SubiOp: ("{0} - {1}", _corners(lambda a, b: a - b)),
    arith.MuliOp: ("{0} * {1}", _corners(lambda a, b: a * b)),
    arith.MaxSIOp: ("{0} if {0} >= {1} else {1}", _corners(max)),
    arith.MinSIOp: ("{0} if {0} <= {1} else {1}", _corners(min)),
    arith.DivSIOp: ("{0} // {1}", _quotient),
    arith.DivUIOp: ("{0} // {1}", _quotient),
    arith.FloorDivSIOp: ("{0} // {1}", _quotient),
    arith.RemSIOp: ("{0} % {1}", _remainder),
    arith.RemUIOp: ("{0} % {1}", _remainder),
}
"""Integer ops: Python's spelling, and the range of the result."""

WRAPPING = (arith.AddiOp, arith.SubiOp, arith.MuliOp)

DIVISIONS = (
    arith.DivSIOp,
    arith.DivUIOp,
    arith.FloorDivSIOp,
    arith.RemSIOp,
    arith.RemUIOp,
)
"""Python's quotients are these ops' only of a natural number by a positive one."""


def write_call(writer: Writer, op: Operation, names: Sequence[Name]) -> None:
    """Write a call of an op's NumPy definition."""
    evaluate = SCALARS[type(op)]
    dtypes = [dtype_of(operand.type) for operand in op.operands]

    def call(*operands: float) -> object:
        typed = [
            np.asarray(value).astype(dtype)[()]
            for dtype, value in zip(dtypes, operands, strict=True)
        ]
        return evaluate_scalar(evaluate, op, typed).item()

    function = writer.bind(call)
    writer.define(op.results[0], f"{function}({', '.join(name.text for name in names)})")
