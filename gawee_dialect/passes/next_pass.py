"""Which pass is for an op that another one has no rule for: the hint of such an error."""

from xdsl.dialects import memref
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Operation

from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel

OWN_OPS = "docs/tutorial/new_op.md shows how an op of one's own is lowered"


def has_tensors(op: Operation) -> bool:
    """Whether an op, or a block in it, has a tensor among its values."""
    arguments = (value for region in op.regions for block in region.blocks for value in block.args)
    return any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results, *arguments))


def hint_for(op: Operation) -> str:
    """Return which pass lowers an op that `convert-to-llvm` has no rule for."""
    if isinstance(op, memref.AllocOp):
        return "plan-memory puts buffers into one workspace; --gawee-to-loops runs it"
    if op.dialect_name() == "affine":
        return "lower-affine makes arithmetic of it"
    is_structured = isinstance(op, StructuredKernel | LinalgStructuredOperation)
    if is_structured and not has_tensors(op):
        return _loops_hint(op)
    if has_tensors(op) and (is_structured or op.dialect_name() != "gawee"):
        return "it is on tensors: bufferize puts these into buffers; --gawee-to-loops goes on"
    return hint_on_tensors(op)


def hint_on_tensors(op: Operation) -> str:
    """Return which pass lowers an op that `bufferize` has no rule for."""
    from gawee_dialect.passes.graph.lowerings import lowering_of

    if op.dialect_name() != "gawee" or lowering_of(type(op)) is None:
        return OWN_OPS
    return "lower-to-linalg lowers it; --gawee-to-linalg runs all passes up to it"


def _loops_hint(op: Operation) -> str:
    kind = "linalg" if isinstance(op, LinalgStructuredOperation) else "kernels"
    if isinstance(op, StructuredKernel) and not isinstance(op, KernelOp):
        kind = op.name.partition(".")[2]  # another algorithm, whose lowering has its name
    return f"lower-{kind}-to-loops makes loops of it; --gawee-to-loops runs all passes up to it"
