"""Attention."""

from math import sqrt

from xdsl.dialects.builtin import Float64Type, FloatAttr, TensorType, UnitAttr, f64, i1
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from gawee_dialect.dialect.graph.elementwise import broadcast_shape
from gawee_dialect.dialect.operation import GaweeOp, optional_tensor_type
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_float,
    require_rank,
    require_same_element,
    require_shape,
    shape_text,
    tensor_shape,
    tensor_type,
)


@irdl_op_definition
class AttentionOp(GaweeOp):
    """Scaled dot-product attention.

    out = softmax(scale * q k^T + mask) v, softmax along the keys

    Operands: q (..., queries, width); k (..., keys, width); v (..., keys, value width); an optional
    mask that broadcasts to (..., queries, keys): of floats, which are added, or of i1, where false
    leaves a key out. With `causal` query i sees keys 0 to i only. A query that sees no key gets
    zeros. The axis before the last two are the heads: k and v may have fewer than q, each of them
    then serves as many adjacent heads of q (grouped heads).

    `scale` is 1 / sqrt(width) where the constructor is given none.

    ```mlir
    %y = gawee.attention %q, %k, %v mask %m scale 5.000000e-01 causal : (tensor<2x6x5x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x8xf32>, tensor<5x7xf32>) -> tensor<2x6x5x8xf32>
    ```

    Constraints:
      C1: q, k and v have one rank, which is 2 or more.
      C2: q, k and v have one float element type.
      C3: q and k have one width, k and v as many keys.
      C4: leading axes are equal, but for the heads: those of k and v are equal and divide q's.
      C5: the mask broadcasts to (..., queries, keys).
      C6: the mask's element type is q's, or i1.
    """

    name = "gawee.attention"

    q = operand_def(TensorType)
    k = operand_def(TensorType)
    v = operand_def(TensorType)
    mask = opt_operand_def(TensorType)
    scale = prop_def(FloatAttr.constr(Float64Type()))
    causal = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$q `,` $k `,` $v (`mask` $mask^)? `scale` $scale (`causal` $causal^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        q: SSAValue,
        k: SSAValue,
        v: SSAValue,
        mask: SSAValue | None = None,
        *,
        scale: float | None = None,
        causal: bool = False,
    ):
        result_type = self.result_type(
            tensor_type(q), tensor_type(k), tensor_type(v), optional_tensor_type(mask)
        )
        if scale is None:
            scale = 1 / sqrt(max(1, tensor_shape(q)[-1]))
        super().__init__(
            operands=[q, k, v, mask],
            properties={
                "scale": FloatAttr(scale, f64),
                "causal": UnitAttr() if causal else None,
            },
            result_types=[result_type],
        )

    @staticmethod
    def result_type(q: AnyTensor, k: AnyTensor, v: AnyTensor, mask: AnyTensor | None) -> AnyTensor:
        """Return the attended type; raises VerifyException where C1 to C6 fail."""
        rank = q.get_num_dims()
        require(rank >= 2, f"expected q of rank 2 or more, got rank {rank} ('{q}')")
        require_rank("k", k, rank)
        require_rank("v", v, rank)
        require_float("q", q)
        require_same_element("k", k, q, "q")
        require_same_element("v", v, q, "q")
        *leading, queries, width = q.get_shape()
        *shared, keys, key_width = k.get_shape()
        require(
            width == key_width, f"expected width of q ({width}) to equal that of k ({key_width})"
        )
        require_shape("v", v, (*shared, keys, v.get_shape()[-1]))
        check_heads(leading, shared)
        if mask is not None:
            check_mask(mask, (*leading, queries, keys), q)
        return TensorType(q.element_type, (*leading, queries, v.get_shape()[-1]))

    def inferred_type(self) -> AnyTensor:
        return self.result_type(
            tensor_type(self.q),
            tensor_type(self.k),
            tensor_type(self.v),
            optional_tensor_type(self.mask),
        )


def check_heads(leading: list[int], shared: list[int]) -> None:
    """Raise VerifyException unless the leading axes of k serve those of q."""
    require(
        leading[:-1] == shared[:-1],
        f"expected leading axes of k ({shape_text(shared[:-1])}) to equal those of q "
        f"({shape_text(leading[:-1])})",
    )
    if leading:
        heads, served = shared[-1], leading[-1]
        divides = heads == served or (heads >= 1 and served % heads == 0)
        require(divides, f"expected heads of k ({heads}) to divide heads of q ({served})")


def check_mask(mask: AnyTensor, scores: tuple[int, ...], q: AnyTensor) -> None:
    """Raise VerifyException unless a mask broadcasts to the scores, and is of i1 or like q."""
    shape = mask.get_shape()
    require(
        broadcast_shape(shape, scores) == scores,
        f"expected mask ({shape_text(shape)}) to broadcast to {shape_text(scores)}",
    )
    if mask.element_type != i1:
        require_same_element("mask", mask, q, "q")
