"""Make a Python function of a loop nest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nan, prod, sqrt

import numpy as np
from xdsl.dialects import cf, memref, omp, scf, tensor, vector
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.tensor_loops import stale_use
from gawee_dialect.dialect.memref import PrefetchOp
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import Array, ShapedType, dtype_of
from gawee_dialect.interpreter.cf import require
from gawee_dialect.interpreter.loops.expressions import write_scalar
from gawee_dialect.interpreter.loops.memory import (
    element_lanes,
    flat_vectors,
    flat_view,
    has_strides,
    write_alloca,
    write_copy,
    write_load,
    write_own,
    write_reshape,
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
from gawee_dialect.interpreter.loops.writer import Name, NotCompilable, Range, Scope, Writer


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
        """Whether all buffers lie in memory as their types say; a tensor may lie anywhere."""
        return all(
            not isa(value.type, MemRefType[Attribute]) or has_strides(array, value.type)
            for array, value in zip(values, self.captured, strict=True)
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
            arguments.append(flat(dense))
        results = self.function(*arguments)
        return tuple(
            result_array(result, type) for type, result in zip(self.results, results, strict=True)
        )


def result_array(result: object, type: Attribute) -> Array:
    """Return what a nest leaves as a value of a type: a scalar, or a tensor from its flat view."""
    array = np.asarray(result).astype(dtype_of(type), copy=False)
    if not isa(type, ShapedType):
        return array[()]
    return array[: prod(type.get_shape())].reshape(type.get_shape())


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
    results = ", ".join(
        writer.buffer(result).view
        if isinstance(result.type, TensorType)
        else writer.name(result).text
        for result in op.results
    )
    writer.line(f"return ({results},)" if results else "return ()")
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
            write_if(writer, op)
        case memref.LoadOp() | tensor.ExtractOp():
            write_load(writer, op)
        case memref.StoreOp() | tensor.InsertOp():
            write_store(writer, op)
        case memref.AllocaOp() | memref.AllocOp():
            write_alloca(writer, op)
        case memref.DeallocOp() | PrefetchOp():
            pass
        case memref.SubviewOp():
            write_subview(writer, op)
        case memref.CollapseShapeOp() | memref.ExpandShapeOp() | memref.CastOp():
            write_reshape(writer, op)
        case memref.CopyOp():
            write_copy(writer, op)
        case _:
            write_computation(writer, op)


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
        if not isinstance(op, scf.YieldOp | scf.ReduceOp | omp.YieldOp):
            write_op(writer, op)
            continue
        scalars = [value for value in op.operands if not isinstance(value.type, TensorType)]
        yielded = ", ".join(writer.name(value).text for value in scalars)
        if results:
            writer.line(f"{', '.join(results)} = {yielded}")
    if not writer.scopes[-1].lines:
        writer.line("pass")
    return writer.scopes.pop().lines


def write_for(writer: Writer, op: scf.ForOp) -> None:
    """for i in range(lower, upper, step): ..."""
    lower, upper, step = (writer.name(value) for value in (op.lb, op.ub, op.step))
    block = op.body.block
    starts = list(zip(op.iter_args, block.args[1:], op.results, strict=True))
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
        write_for(writer, op)
        return
    if op.results or "loop_inclusive" in op.properties:
        raise NotCompilable(f"'{op.name}'")
    write_nest(writer, (op.lowerBound, op.upperBound, op.step), op.body.block)


def write_nest(writer: Writer, bounds: Sequence[Sequence[SSAValue]], block: Block) -> None:
    """for i in range(..): for j in range(..): ...; the iterations are independent"""
    heads: list[str] = []
    for argument, *each in zip(block.args, *bounds, strict=True):
        lower, upper, step = (writer.name(value) for value in each)
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


def write_if(writer: Writer, op: scf.IfOp) -> None:
    """if condition: ... else: ..."""
    condition = writer.name(op.cond)
    results = [writer.fresh("r") for _ in op.results]
    branches: list[list[str]] = []
    for region in (op.true_region, op.false_region):
        if region.blocks:
            writer.scopes.append(Scope())
            branches.append(write_block(writer, region.block, results))
    writer.line(f"if {condition.text}:")
    writer.scopes[-1].lines.extend(branches[0])
    if len(branches) == 2:
        writer.line("else:")
        writer.scopes[-1].lines.extend(branches[1])
    for name, result in zip(results, op.results, strict=True):
        writer.names[result] = Name(name, writer.depth)
