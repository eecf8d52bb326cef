"""What upstream's verifiers check of elements and loops that a text says; xDSL's do not.

Places that are written in the IR are inside; there is a number for each axis; a step that is known
goes forward; a number that stands for a name has one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.kernels.kernel import shape_of
from gawee_dialect.dialect.types import require
from gawee_dialect.upstream.constraints import verify_dynamic_sizes

LLVM_ENUMERATIONS: Mapping[str, Sequence[int]] = {
    "overflowFlags": range(4),
    "visibility_": range(3),
    "unnamed_addr": range(3),
    "ordering": (0, 1, 2, 4, 5, 6, 7),
}
"""Properties of llvm's ops that are numbers of names; xDSL prints no others."""


def verify_static_bounds(module: ModuleOp) -> None:
    """Raise GaweeError that lists every op that upstream would not have, as far as this goes."""
    problems = list(_problems(module))
    if problems:
        raise GaweeError(problems)


def _problems(module: ModuleOp) -> Iterator[Diagnostic]:
    for op in module.walk():
        verify = _VERIFIERS.get(op.dialect_name())
        if verify is None:
            continue
        try:
            verify(op)
        except VerifyException as error:
            yield Diagnostic.at(op, str(error))


def _verify(op: Operation) -> None:
    # They take long to load, and most modules that are read have none of their ops.
    from xdsl.dialects import memref, tensor

    for value in (*op.operands, *op.results):
        _verify_layout(value.type)
    match op:
        case tensor.EmptyOp() | memref.AllocOp() | memref.AllocaOp():
            verify_dynamic_sizes(op.dynamic_sizes, shape_of(op.results[0]))
        case tensor.ExtractOp():
            _verify_indices(op.indices, shape_of(op.tensor))
        case tensor.InsertOp():
            _verify_indices(op.indices, shape_of(op.dest))
        case memref.LoadOp() | memref.StoreOp():
            _verify_indices(op.indices, shape_of(op.memref))
        case _:
            _verify_steps(op)


def _verify_layout(type: Attribute) -> None:
    if isinstance(type, MemRefType) and isinstance(type.layout, StridedLayoutAttr):
        rank, count = len(type.get_shape()), len(type.layout.strides)
        require(count == rank, f"expected {rank} strides in '{type}', got {count}")


def _verify_steps(op: Operation) -> None:
    from xdsl.dialects import omp, scf

    if isinstance(op, scf.ForOp):
        steps: Sequence[SSAValue] = (op.step,)
    else:
        steps = op.step if isinstance(op, scf.ParallelOp | omp.LoopNestOp) else ()
    for step in steps:
        number = _constant(step)
        require(number is None or number > 0, f"expected a positive step, got {number}")


def _constant(value: SSAValue) -> int | None:
    from xdsl.dialects import arith

    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def _verify_indices(indices: Sequence[SSAValue], shape: Sequence[int]) -> None:
    require(len(indices) == len(shape), f"expected {len(shape)} indices, got {len(indices)}")
    for axis, (index, size) in enumerate(zip(indices, shape, strict=False)):
        value = _constant(index)
        if value is None:
            continue
        inside = size == DYNAMIC_INDEX or 0 <= value < size
        require(inside, f"expected index {value} to stay in axis {axis} of size {size}")


def _verify_llvm(op: Operation) -> None:
    from xdsl.dialects.llvm import GEP_USE_SSA_VAL, GEPOp

    if isinstance(op, GEPOp):
        count = list(op.rawConstantIndices.iter_values()).count(GEP_USE_SSA_VAL)
        found = len(op.ssa_indices)
        require(found == count, f"expected {count} dynamic indices, got {found}")
    for name, known in LLVM_ENUMERATIONS.items():
        number = op.properties.get(name)
        if isinstance(number, IntegerAttr):
            value, last = number.value.data, known[-1]
            missing = "".join(f" without {each}" for each in range(last) if each not in known)
            require(value in known, f"expected {name} from 0 to {last}{missing}, got {value}")


_VERIFIERS: Mapping[str, Callable[[Operation], None]] = {
    **dict.fromkeys(("memref", "tensor", "linalg", "scf", "omp"), _verify),
    "llvm": _verify_llvm,
}
