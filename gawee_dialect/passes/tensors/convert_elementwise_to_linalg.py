"""Write arithmetic on whole tensors as loops over their elements."""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, ModuleOp, TensorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import ConstantLike

from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.graph.lower_to_linalg.tensors import empty
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.upstream import linalg
from gawee_dialect.upstream.arith import SCALAR_OPS
from gawee_dialect.upstream.walk import all_ops

DIALECTS = ("arith.", "math.")


@cache
def _is_arithmetic(kind: type[Operation]) -> bool:
    return kind.name.startswith(DIALECTS) and not kind.has_trait(ConstantLike)


def _is_elementwise(op: Operation) -> bool:
    """Whether an op computes with tensors element by element, as upstream's trait says."""
    return len(op.results) > 0 and all([_is_tensor(result) for result in op.results])


def _is_tensor(value: SSAValue) -> bool:
    return isa(value.type, TensorType[Attribute])


def _convert(op: Operation) -> None:
    """Replace an op on tensors by one on elements, in a linalg.generic."""
    builder = Builder(InsertPoint.before(op))
    tensors = [operand for operand in op.operands if _is_tensor(operand)]
    inits = [empty(builder, tensor_type(each), like=tensors[0]) for each in op.results]
    block = Block(arg_types=[element_type(value) for value in (*tensors, *inits)])
    elements = dict(zip(tensors, block.args, strict=False))
    scalar = SCALAR_OPS.get(op.name, type(op)).create(
        operands=[elements.get(value, value) for value in op.operands],
        result_types=[element_type(result) for result in op.results],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    block.add_ops((scalar, linalg.YieldOp(*scalar.results)))
    rank = len(tensor_shape(op.results[0]))
    same = AffineMapAttr(AffineMap.identity(rank))
    generic = linalg.GenericOp(
        tensors,
        inits,
        Region(block),
        ArrayAttr([same] * len(block.args)),
        ArrayAttr([IteratorTypeAttr.parallel()] * rank),
        [result.type for result in op.results],
    )
    for new in (scalar, generic):
        hand_on_location(op, new)
    Rewriter.replace_op(op, generic)


@dataclass(frozen=True)
class ConvertElementwiseToLinalg(ModulePass):
    """Write arithmetic on whole tensors as `linalg.generic`, as upstream's pass of this name does.

    A pass of one's own may compute with tensors by ops of `arith` and `math`. Operands that are no
    tensors are the same for all elements.

    rewrite:
        arith.addf %x, %y : tensor<3x5xf32>
        ->
        linalg.generic {indexing_maps = [(i, j) -> (i, j), ...]} ins(%x, %y) outs(tensor.empty) {
          arith.addf %a, %b : f32
        }
    """

    name = "convert-elementwise-to-linalg"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [each for each in all_ops(op) if _is_arithmetic(type(each))]
        for each in filter(_is_elementwise, found):
            _convert(each)
