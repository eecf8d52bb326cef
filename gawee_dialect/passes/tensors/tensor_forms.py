"""The forms of sizes below graphs: what each `?` of a tensor's type is, from how it is computed.

    %n = tensor.dim %x, %c0        (x: tensor<?x5xf32> of ["batch", 5])
    %e = tensor.empty(%n)          -> ["batch", 5]

Types of functions below graphs have `?`. A pass that compares sizes has the forms in their place
while it works (`with_forms`), as a graph has them, so one arithmetic serves both.
"""

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from gawee_dialect.analysis.open_sizes import argument_shapes, has_forms, open_functions
from gawee_dialect.analysis.tensor_shapes import ARITHMETIC, Forms, retype_open
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.open_size import OpenSize, SizeName
from gawee_dialect.passes.graph.lower_to_linalg.open_sizes import erase_forms, read_name


@contextmanager
def with_forms(module: ModuleOp) -> Generator[None]:
    """Have forms in the types of tensors for a with block, behind which types have `?` again.

    Graphs have them all the time, and stay as they are. Kernels that the block leaves have an
    operand for each name in their sizes.
    """
    functions = [each for each in open_functions(module) if not has_forms(each)]
    for function in functions:
        for argument, shape in zip(function.args, argument_shapes(function), strict=True):
            retype_open(argument, shape)
        Forms().read(function.body.block)
    try:
        yield
    finally:
        for function in functions:
            _count_kernels(function)
            erase_forms(function)


def _count_kernels(function: FuncOp) -> None:
    """Give each kernel an operand for each name in its sizes, read where the function begins."""
    values = _names_read(function)
    for op in list(function.walk()):
        if isinstance(op, KernelOp) and len(op.counts) != len(op.names):
            for name in op.names:
                if name not in values:
                    values[name] = read_name(function, name)
            op.set_counts([values[name] for name in op.names])


def _names_read(function: FuncOp) -> dict[SizeName, SSAValue]:
    """Return the names that are read where the function begins."""
    forms, values = Forms(), dict[SizeName, SSAValue]()
    for op in function.body.block.ops:
        if not isinstance(op, (tensor.DimOp, arith.ConstantOp, *ARITHMETIC)):
            break
        form = forms.index(op.results[0])
        for name in form.names if isinstance(form, OpenSize) else ():
            if form == OpenSize.named(name):
                values.setdefault(name, op.results[0])
    return values
