"""Between which numbers an integer lies that a kernel computes."""

from collections.abc import Callable, Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, UnrealizedConversionCastOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.hints import isa

Range = tuple[int, int]
"""The least and the greatest number, with signs."""

OF_TWO: Mapping[type[Operation], Callable[[Range, Range], Range]] = {
    arith.AddiOp: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    arith.SubiOp: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    arith.MaxSIOp: lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    arith.MinSIOp: lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
}


DEEPEST = 8
"""How many ops, one behind the other, are looked at: sums may share their terms."""


def integer_range(value: SSAValue, depth: int = DEEPEST) -> Range:
    """Return between which numbers a scalar of a kernel, or each element of a tensor, lies.

    Followed are extensions, sums and differences, through kernels that compute elements.
    """
    type = value.type
    if not isa(type, IntegerType):
        return _of_elements(value, depth)
    full = -(1 << (type.width.data - 1)), (1 << (type.width.data - 1)) - 1
    owner = value.owner
    if not depth:
        return full
    match owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return number.value.data, number.value.data
        case arith.ExtUIOp():
            assert isa(owner.input.type, IntegerType)
            return 0, (1 << owner.input.type.width.data) - 1
        case arith.ExtSIOp():
            return integer_range(owner.input, depth - 1)
        case UnrealizedConversionCastOp():
            return full
        case Operation() if combine := OF_TWO.get(owner.__class__):
            low, high = combine(*(integer_range(each, depth - 1) for each in owner.operands))
            return (low, high) if full[0] <= low and high <= full[1] else full
        case Block() if isinstance(value, BlockArgument):
            kernel = owner.parent_op()
            if isinstance(kernel, KernelOp) and value.index < len(kernel.inputs):
                low, high = _of_elements(kernel.inputs[value.index], depth - 1)
                return max(low, full[0]), min(high, full[1])
        case _:
            pass
    return full


def _of_elements(tensor: SSAValue, depth: int) -> Range:
    kernel = tensor.owner
    unknown = -(1 << 63), 1 << 63
    if not isinstance(kernel, KernelOp) or kernel.initial is not None:
        return unknown
    low, high = integer_range(kernel.yielded(kernel.finish), depth)
    if kernel.covers_output():
        return low, high
    outside = 0 if kernel.outside is None else kernel.outside.value.data
    return (min(low, int(outside)), max(high, int(outside)))
