"""What xDSL does not look at: places outside of their tensors, and numbers that name nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.kernel import shape_of
from gawee_dialect.dialect.slicing import require_inside
from gawee_dialect.dialect.types import require

if TYPE_CHECKING:
    from xdsl.dialects import tensor


LLVM_ENUMERATIONS: Mapping[str, int] = {"overflowFlags": 3, "visibility_": 2, "unnamed_addr": 2}
"""Properties of llvm's ops that are numbers of names, and the last; xDSL prints no other."""


def verify_static_bounds(module: ModuleOp) -> None:
    """Raise GaweeError that lists every such number, slice and constant index of a module."""
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

    match op:
        case tensor.ExtractSliceOp():
            _verify_box(op, shape_of(op.source))
        case tensor.InsertSliceOp():
            _verify_box(op, shape_of(op.dest))
        case tensor.ExtractOp():
            _verify_indices(op.indices, shape_of(op.tensor))
        case tensor.InsertOp():
            _verify_indices(op.indices, shape_of(op.dest))
        case memref.LoadOp() | memref.StoreOp():
            _verify_indices(op.indices, shape_of(op.memref))
        case _:
            pass


def _verify_box(op: "tensor.ExtractSliceOp | tensor.InsertSliceOp", shape: Sequence[int]) -> None:
    boxes = zip(
        op.static_offsets.get_values(),
        op.static_sizes.get_values(),
        op.static_strides.get_values(),
        strict=True,
    )
    for axis, (extent, box) in enumerate(zip(shape, boxes, strict=False)):
        if DYNAMIC_INDEX not in (*box, extent):
            require_inside(axis, extent, *box)


def _verify_indices(indices: Sequence[SSAValue], shape: Sequence[int]) -> None:
    from xdsl.dialects import arith

    for axis, (index, size) in enumerate(zip(indices, shape, strict=False)):
        owner = index.owner
        if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, IntegerAttr):
            continue
        value = owner.value.value.data
        inside = size == DYNAMIC_INDEX or 0 <= value < size
        require(inside, f"expected index {value} to stay in axis {axis} of size {size}")


def _verify_enumerations(op: Operation) -> None:
    for name, last in LLVM_ENUMERATIONS.items():
        number = op.properties.get(name)
        if isinstance(number, IntegerAttr):
            value = number.value.data
            require(0 <= value <= last, f"expected {name} from 0 to {last}, got {value}")


_VERIFIERS: Mapping[str, Callable[[Operation], None]] = {
    "memref": _verify,
    "tensor": _verify,
    "llvm": _verify_enumerations,
}
