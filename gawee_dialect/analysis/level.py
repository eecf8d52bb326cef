"""How far from a graph a module is."""

from collections.abc import Iterable
from enum import StrEnum

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from gawee_dialect.diagnostics import Diagnostic, GaweeError, nearest
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel


class Level(StrEnum):
    """What executes: the module as it is, or what the pipeline makes of it at a later stage."""

    GAWEE = "gawee"
    LINALG = "linalg"
    KERNELS = "kernels"
    BUFFERS = "buffers"
    LOOPS = "loops"
    LLVM = "llvm"

    @classmethod
    def _missing_(cls, value: object) -> "Level":
        known = [each.value for each in cls]
        hint = nearest(str(value), known)
        raise GaweeError(
            Diagnostic(f"unknown level '{value}'; supported: {', '.join(known)}", hint=hint)
        )

    @property
    def order(self) -> int:
        """How far from the graph the level is."""
        return tuple(Level).index(self)


def level_of(module: ModuleOp) -> Level:
    """Return the level that a module is at: the first of those that its functions are at."""
    functions = [op for op in module.ops if op.name in ("func.func", "llvm.func")]
    levels = [_level_of_function(each) for each in functions if each.regions[0].blocks]
    return min(levels, key=lambda level: level.order, default=Level.GAWEE)


def _level_of_function(function: Operation) -> Level:
    if not isinstance(function, FuncOp):
        return Level.LLVM
    ops = _inside(function)
    types = (value.type for op in ops for value in op.results)
    # What no op of it made is an argument, of the function or of a block that an op has.
    if any(isinstance(type, TensorType) for type in (*function.function_type.inputs, *types)):
        return _level_on_tensors(ops)
    structured = any(map(_is_structured, {type(op): op for op in ops}.values()))
    return Level.BUFFERS if structured else Level.LOOPS


def _inside(function: FuncOp) -> list[Operation]:
    """Return the ops of a function, in any order: a walk in theirs takes three times as long."""
    found: list[Operation] = []
    blocks = list(function.body.blocks)
    while blocks:
        for op in blocks.pop().ops:
            found.append(op)
            for region in op.regions:
                blocks += region.blocks
    return found


def _level_on_tensors(ops: Iterable[Operation]) -> Level:
    ops = [op for op in ops if _is_structured(op)]
    kernels = [op for op in ops if isinstance(op, StructuredKernel)]
    if any("schedule" in op.properties or not isinstance(op, KernelOp) for op in kernels):
        return Level.KERNELS
    graph = any(op.dialect_name() == "gawee" and op not in kernels for op in ops)
    return Level.GAWEE if graph or not ops else Level.LINALG


def _is_structured(op: Operation) -> bool:
    """Whether an op computes whole tensors or buffers, which loops do element by element."""
    if op.dialect_name() != "linalg":
        return op.dialect_name() == "gawee"
    from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation

    return isinstance(op, LinalgStructuredOperation)
