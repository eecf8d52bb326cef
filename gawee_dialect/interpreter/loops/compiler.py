"""Make a Python function of a loop nest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nan, prod, sqrt
from typing import NamedTuple

import numpy as np
from xdsl.dialects import affine, arith, cf, math, memref, omp, scf, tensor, vector
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import Array, ShapedType, dtype_of, is_half
from gawee_dialect.interpreter.cf import require
from gawee_dialect.interpreter.loops.affine import (
    corners,
    greatest,
    grouped,
    least,
    map_indices,
    map_results,
    set_condition,
    write_index,
)
from gawee_dialect.interpreter.loops.memory import (
    write_alloca,
    write_copy,
    write_load,
    write_own,
    write_reshape,
    write_size,
    write_store,
    write_subview,
)
from gawee_dialect.interpreter.loops.vectors import (
    is_vector,
    on_vectors,
    write_masked_load,
    write_masked_store,
    write_vector_load,
    write_vector_op,
    write_vector_store,
)
from gawee_dialect.interpreter.loops.writer import (
    Buffer,
    Name,
    NotCompilable,
    Range,
    Scope,
    Writer,
    element_lanes,
    fits,
    flat_vectors,
    flat_view,
    integer_width,
    is_taken,
    located,
    number,
    open_numbers,
)
from gawee_dialect.interpreter.scalars import evaluate_to
from gawee_dialect.interpreter.structured import SCALARS
from gawee_dialect.upstream.affine import MaxOp
from gawee_dialect.upstream.memref import PrefetchOp

# Loops that carry tensors: whether each version is done with before the next one is made.
#
# Then all versions may live in one piece of memory, and an insertion is a store.


def stale_use(loop: scf.ForOp) -> Operation | None:
    """Return the first op that uses a version of a carried tensor when there is a newer one.

    Versions are a loop's block argument, what `tensor.insert` and inner loops make of it, and what
    the loop yields. None where there is no such op.
    """
    return _Versions().visit(loop)


class _Versions:
    """Which memory each version of a carried tensor is in, and the newest version of each."""

    def __init__(self) -> None:
        self.memory: dict[SSAValue, SSAValue] = {}
        self.newest: dict[SSAValue, SSAValue] = {}

    def visit(self, loop: scf.ForOp) -> Operation | None:
        """Follow the versions through a loop; returns the first op that uses an old one."""
        body = loop.body.block
        for init, argument in zip(loop.iter_args, body.args[1:], strict=True):
            if self._is_old(init):
                return loop
            self._follow(init, argument)
        stale = self._visit_body(body)
        for argument, result in zip(body.args[1:], loop.results, strict=True):
            self._follow(argument, result)
        return stale

    def _visit_body(self, body: Block) -> Operation | None:
        for op in body.ops:
            if isinstance(op, scf.ForOp):
                stale = self.visit(op)
                if stale is not None:
                    return stale
            elif any(map(self._is_old, op.operands)) or _inserts_inside(op):
                return op
            elif isinstance(op, tensor.InsertOp):
                self._follow(op.dest, op.result)
            elif isinstance(op, scf.YieldOp) and not self._keeps_places(body, op):
                return op
        return None

    def _keeps_places(self, body: Block, op: scf.YieldOp) -> bool:
        pairs = zip(op.operands, body.args[1:], strict=True)
        return all(self.memory.get(value) is self.memory.get(own) for value, own in pairs)

    def _follow(self, old: SSAValue, new: SSAValue) -> None:
        if isinstance(new.type, TensorType):
            self.memory[new] = self.memory.get(old, new)
            self.newest[self.memory[new]] = new

    def _is_old(self, value: SSAValue) -> bool:
        memory = self.memory.get(value)
        return memory is not None and self.newest[memory] is not value


def _inserts_inside(op: Operation) -> bool:
    """Whether versions of a tensor are made in the regions of an op that is no loop over them."""
    return bool(op.regions) and any(isinstance(each, tensor.InsertOp) for each in op.walk())


# Scalar ops as Python expressions on rounded Python numbers.
#
# An op that has no entry here is called in its NumPy definition: slower, but the same function
# that every other level uses.

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


def _quotient(lhs: Range, rhs: Range) -> Range:
    if lhs is None or rhs is None or lhs[0] < 0 or rhs[0] <= 0:
        return None
    return lhs[0] // rhs[1], lhs[1] // rhs[0]


def _remainder(lhs: Range, rhs: Range) -> Range:
    if lhs is None or rhs is None or lhs[0] < 0 or rhs[0] <= 0:
        return None
    return 0, min(lhs[1], rhs[1] - 1)


INTEGERS: dict[type[Operation], tuple[str, Callable[[Range, Range], Range]]] = {
    arith.AddiOp: ("{0} + {1}", corners(lambda a, b: a + b)),
    arith.SubiOp: ("{0} - {1}", corners(lambda a, b: a - b)),
    arith.MuliOp: ("{0} * {1}", corners(lambda a, b: a * b)),
    arith.MaxSIOp: ("{0} if {0} >= {1} else {1}", corners(max)),
    arith.MinSIOp: ("{0} if {0} <= {1} else {1}", corners(min)),
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
    dtype = dtype_of(op.results[0].type)

    def call(*operands: float) -> object:
        typed = [
            np.asarray(value).astype(each)[()] for each, value in zip(dtypes, operands, strict=True)
        ]
        return evaluate_to(dtype, evaluate, op, typed).item()

    function = writer.bind(located(op, call))
    writer.define(op.results[0], f"{function}({', '.join(name.text for name in names)})")


def divided_by_zero(lhs: float, rhs: float) -> float:
    """Divide by a zero as IEEE 754 does; Python raises an exception."""
    return float(np.divide(lhs, rhs))


@dataclass(frozen=True)
class CompiledNest:
    """A nest's function, its text, and the values from outside that it takes in order."""

    text: str
    function: Callable[..., Sequence[object]]
    captured: tuple[SSAValue, ...]
    stored: frozenset[SSAValue]
    results: tuple[Attribute, ...]

    def accepts(self, values: Sequence[Array]) -> bool:
        """Whether the nest is right for these values of its captured ones."""
        return all(
            is_taken(array, value.type) for array, value in zip(values, self.captured, strict=True)
        )

    def run(self, values: Sequence[Array]) -> tuple[Array, ...]:
        """Run the nest on the captured values; returns its results rounded to their types."""
        arguments: list[object] = []
        for array, value in zip(values, self.captured, strict=True):
            if is_vector(value):
                arguments.append(array)
                continue
            if not isa(value.type, ShapedType):
                arguments.append(array.item())
                continue
            if value in self.stored and not array.flags.writeable:
                raise InterpretationError(f"cannot store to a read-only '{value.type}'")
            tensor_value = isinstance(value.type, TensorType)
            dense = np.ascontiguousarray(array) if tensor_value else array
            flat = flat_vectors if element_lanes(value.type) else flat_view
            arguments += [flat(dense), *open_numbers(dense, value.type)]
        results = self.function(*arguments)
        return tuple(
            result_array(result, type) for type, result in zip(self.results, results, strict=True)
        )


class MadeTensor(NamedTuple):
    """What a nest leaves of a tensor."""

    view: memoryview
    shape: tuple[int, ...]


def result_array(result: object, type: Attribute) -> Array:
    """Return what a nest leaves as a value of a type: a scalar, or a tensor."""
    if isinstance(result, MadeTensor):
        flat = np.asarray(result.view)[: prod(result.shape)]
        return flat.astype(dtype_of(type), copy=False).reshape(result.shape)
    return np.asarray(result).astype(dtype_of(type), copy=False)[()]


def _tensor_text(writer: Writer, buffer: Buffer) -> str:
    sizes = "".join(f"{size.text}, " for size in buffer.shape)
    return f"{writer.bind(MadeTensor)}({buffer.view}, ({sizes}))"


def _loops_inside(op: Operation) -> list[scf.ForOp]:
    return [inner for inner in op.walk() if isinstance(inner, scf.ForOp)]


def compile_nest(op: Operation) -> CompiledNest:
    """Compile a loop and everything in it; raises NotCompilable where it cannot."""
    # Only these carry tensors; an inner one is looked at with the loop around it.
    loops = [op] if isinstance(op, scf.ForOp) else _loops_inside(op)
    if any(stale_use(loop) is not None for loop in loops):
        raise NotCompilable("a version of a tensor that a newer one took the place of")
    writer = Writer()
    write_op(writer, op)
    made = (
        _tensor_text(writer, writer.buffer(result))
        if isinstance(result.type, TensorType)
        else writer.name(result).text
        for result in op.results
    )
    writer.line(f"return ({''.join(f'{each}, ' for each in made)})")
    objects = {
        **writer.objects,
        "asarray": np.asarray,
        "cell": np.zeros(1, np.float32).data,
        "divided_by_zero": divided_by_zero,
        "sqrt": sqrt,
        "inf": inf,
        "nan": nan,
    }
    # What the text uses is a default argument: a local name is found faster than a global one.
    parameters = [*writer.parameter_names(), *(f"{name}={name}" for name in objects)]
    text = "\n".join([f"def nest({', '.join(parameters)}):", *writer.scopes[0].lines])
    namespace: dict[str, Callable[..., Sequence[object]]] = {}
    try:
        exec(compile(text, "<loop nest>", "exec"), dict(objects), namespace)
    except SyntaxError as error:  # Python nests no more than 20 loops
        raise NotCompilable(str(error)) from error
    return CompiledNest(
        text,
        namespace["nest"],
        tuple(writer.captured),
        frozenset(writer.stored),
        tuple(result.type for result in op.results),
    )


def write_op(writer: Writer, op: Operation) -> None:
    """Write one op; raises NotCompilable for one that is not known."""
    match op:
        case scf.ForOp() | scf.ParallelOp() | omp.LoopNestOp():
            write_loop(writer, op)
        case scf.IfOp():
            write_if(writer, op, writer.name(op.cond).text, (op.true_region, op.false_region))
        case _ if op.name.startswith("affine."):
            write_affine(writer, op)
        case _ if op.name.startswith(("memref.", "tensor.")):
            write_memory_op(writer, op)
        case _:
            write_computation(writer, op)


def write_memory_op(writer: Writer, op: Operation) -> None:
    """Write an op on memrefs or tensors; raises NotCompilable for one that is not known."""
    match op:
        case memref.LoadOp() | tensor.ExtractOp():
            write_load(writer, op, op.operands[0], [*map(writer.name, op.indices)])
        case memref.StoreOp() | tensor.InsertOp():
            write_store(writer, op, [*map(writer.name, op.indices)])
        case memref.AllocaOp() | memref.AllocOp():
            write_alloca(writer, op)
        case memref.DeallocOp() | PrefetchOp():
            pass
        case memref.SubviewOp():
            write_subview(writer, op)
        case memref.CollapseShapeOp() | memref.ExpandShapeOp():
            write_reshape(writer, op)
        case memref.CastOp():
            writer.buffers[op.dest] = writer.buffer(op.source)
        case memref.DimOp() | tensor.DimOp():
            write_size(writer, op)
        case memref.CopyOp():
            write_copy(writer, op)
        case _:
            raise NotCompilable(f"'{op.name}'")


def write_affine(writer: Writer, op: Operation) -> None:
    """Write an op of the affine dialect; raises NotCompilable for one that is not known."""
    match op:
        case affine.ForOp():
            write_affine_for(writer, op)
        case affine.ParallelOp():
            write_affine_parallel(writer, op)
        case affine.IfOp():
            text = set_condition(writer, op.condition.data, op.args)
            write_if(writer, op, text, (op.then_region, op.else_region))
        case affine.LoadOp():
            write_load(writer, op, op.memref, map_indices(writer, op.map.data, op.indices))
        case affine.StoreOp():
            write_store(writer, op, map_indices(writer, op.map.data, op.indices))
        case affine.ApplyOp() | affine.MinOp() | MaxOp():
            write_index(writer, op)
        case _:
            raise NotCompilable(f"'{op.name}'")


def write_computation(writer: Writer, op: Operation) -> None:
    """Write an op that is neither control flow nor about buffers; raises NotCompilable."""
    match op:
        case vector.LoadOp():
            write_vector_load(writer, op)
        case vector.StoreOp():
            write_vector_store(writer, op)
        case vector.MaskedLoadOp():
            write_masked_load(writer, op)
        case vector.MaskedStoreOp():
            write_masked_store(writer, op)
        case cf.AssertOp():
            writer.objects["require"] = require
            writer.line(f"require({writer.name(op.arg).text}, {op.msg.data!r})")
        case _ if on_vectors(op):
            write_vector_op(writer, op)
        case _:
            write_scalar(writer, op)


def write_block(writer: Writer, block: Block, results: Sequence[str]) -> list[str]:
    """Write a block one level deeper, which assigns what it yields; returns its lines."""
    for op in block.ops:
        if not isinstance(op, scf.YieldOp | scf.ReduceOp | omp.YieldOp | affine.YieldOp):
            write_op(writer, op)
            continue
        scalars = [value for value in op.operands if not isinstance(value.type, TensorType)]
        yielded = ", ".join(writer.name(value).text for value in scalars)
        if results:
            writer.line(f"{', '.join(results)} = {yielded}")
    if not writer.scopes[-1].lines:
        writer.line("pass")
    return writer.scopes.pop().lines


def write_affine_for(writer: Writer, op: affine.ForOp) -> None:
    """for i in range(max(lower), min(upper), step): ...; raises NotCompilable of tensors"""
    if any(isinstance(each.type, TensorType) for each in op.inits):
        raise NotCompilable(f"'{op.name}' of tensors")
    lower = greatest(map_results(writer, op.lowerBoundMap.data, op.lowerBoundOperands))
    upper = least(map_results(writer, op.upperBoundMap.data, op.upperBoundOperands))
    write_for(writer, op, (lower, upper, number(op.step.value.data)), op.inits)


def write_for(
    writer: Writer,
    op: scf.ForOp | affine.ForOp,
    bounds: tuple[Name, Name, Name],
    carried_in: Sequence[SSAValue],
) -> None:
    """for i in range(lower, upper, step): ..."""
    lower, upper, step = bounds
    block = op.body.block
    starts = list(zip(carried_in, block.args[1:], op.results, strict=True))
    scalars = [each for each in starts if not isinstance(each[0].type, TensorType)]
    write_carried_tensors(writer, [each for each in starts if each not in scalars])
    carried = [writer.fresh("c") for _ in scalars]
    for name, (initial, _, _) in zip(carried, scalars, strict=True):
        writer.line(f"{name} = {writer.name(initial).text}")
    index = writer.fresh("i")
    writer.scopes.append(Scope())
    writer.names[block.args[0]] = Name(index, writer.depth, _trips(lower.range, upper.range))
    for name, (_, argument, _) in zip(carried, scalars, strict=True):
        writer.names[argument] = Name(name, writer.depth)
    lines = write_block(writer, block, carried)
    writer.line(f"for {index} in range({lower.text}, {upper.text}, {step.text}):")
    writer.scopes[-1].lines.extend(lines)
    for name, (_, _, result) in zip(carried, scalars, strict=True):
        writer.names[result] = Name(name, writer.depth)


def write_loop(writer: Writer, op: scf.ForOp | scf.ParallelOp | omp.LoopNestOp) -> None:
    """Write a loop or a nest; raises NotCompilable for a reduction."""
    if isinstance(op, scf.ForOp):
        lower, upper, step = map(writer.name, (op.lb, op.ub, op.step))
        write_for(writer, op, (lower, upper, step), op.iter_args)
        return
    if op.results or "loop_inclusive" in op.properties:
        raise NotCompilable(f"'{op.name}'")
    lowers, uppers, steps = (
        [*map(writer.name, values)] for values in (op.lowerBound, op.upperBound, op.step)
    )
    write_nest(writer, [*zip(lowers, uppers, steps, strict=True)], op.body.block)


def write_affine_parallel(writer: Writer, op: affine.ParallelOp) -> None:
    """Write a nest of loops; raises NotCompilable for a reduction."""
    if op.results:
        raise NotCompilable(f"'{op.name}'")
    lower, upper = op.lowerBoundsMap.data, op.upperBoundsMap.data
    split = lower.num_dims + lower.num_symbols
    lowers = grouped(map_results(writer, lower, op.map_operands[:split]), op.lowerBoundsGroups)
    uppers = grouped(map_results(writer, upper, op.map_operands[split:]), op.upperBoundsGroups)
    steps = (number(step.value.data) for step in op.steps)
    bounds = zip(map(greatest, lowers), map(least, uppers), steps, strict=True)
    write_nest(writer, [*bounds], op.body.block)


def write_nest(writer: Writer, bounds: Sequence[tuple[Name, Name, Name]], block: Block) -> None:
    """for i in range(..): for j in range(..): ...; the iterations are independent"""
    heads: list[str] = []
    for argument, (lower, upper, step) in zip(block.args, bounds, strict=True):
        index = writer.fresh("i")
        heads.append(f"for {index} in range({lower.text}, {upper.text}, {step.text}):")
        writer.scopes.append(Scope())
        writer.names[argument] = Name(index, writer.depth, _trips(lower.range, upper.range))
    lines = write_block(writer, block, ())
    for head in reversed(heads):
        writer.line(head)
        writer.scopes[-1].lines.extend(lines)
        if head is not heads[0]:
            lines = writer.scopes.pop().lines


def write_carried_tensors(
    writer: Writer, carried: Sequence[tuple[SSAValue, SSAValue, SSAValue]]
) -> None:
    """Give all versions of each tensor that a loop carries one buffer: a copy of the first."""
    for initial, argument, result in carried:
        inner = initial in writer.buffers and initial not in writer.captured
        buffer = writer.buffers[initial] if inner else write_own(writer, initial)
        writer.buffers[argument] = writer.buffers[result] = buffer


def _trips(lower: Range, upper: Range) -> Range:
    if lower is None or upper is None:
        return None
    return lower[0], max(lower[0], upper[1] - 1)


def write_if(
    writer: Writer, op: scf.IfOp | affine.IfOp, holds: str, regions: Sequence[Region]
) -> None:
    """if holds: ... else: ..."""
    names = [writer.fresh("r") for _ in op.results]
    branches: list[list[str]] = []
    for region in regions:
        if region.blocks:
            writer.scopes.append(Scope())
            branches.append(write_block(writer, region.block, names))
    writer.line(f"if {holds}:")
    writer.scopes[-1].lines.extend(branches[0])
    if len(branches) == 2:
        writer.line("else:")
        writer.scopes[-1].lines.extend(branches[1])
    for name, result in zip(names, op.results, strict=True):
        writer.names[result] = Name(name, writer.depth)
