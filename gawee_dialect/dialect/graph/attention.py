"""Attention."""

from collections.abc import Sequence
from math import sqrt

from xdsl.dialects.builtin import Float64Type, FloatAttr, TensorType, UnitAttr, i1
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

from gawee_dialect.dialect.equation import DefinedOp, index_names
from gawee_dialect.dialect.graph.elementwise import broadcast_shape
from gawee_dialect.dialect.types import (
    AnyTensor,
    element_type,
    require,
    require_float,
    require_rank,
    require_same_element,
    require_shape,
    shape_text,
    tensor_shape,
)


@irdl_op_definition
class AttentionOp(DefinedOp):
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
        if scale is None:
            scale = 1 / sqrt(max(1, tensor_shape(q)[-1]))
        self.define([q, k, v, mask], scale=scale, causal=causal)

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

    @property
    def shared_heads(self) -> int:
        """How many heads of q each head of k and v serves."""
        q, k = tensor_shape(self.q), tensor_shape(self.k)
        return 1 if len(q) == 2 or q[-3] == k[-3] else q[-3] // k[-3]

    def split_axes(self) -> tuple[int, Sequence[int | None]]:
        """Return the axis of q's heads where several share a head of k, and the mask's."""
        if self.shared_heads == 1:
            return super().split_axes()
        heads, axes = tensor_shape(self.k)[-3], list[int | None]([len(tensor_shape(self.q)) - 3])
        axes += [None, None]
        if self.mask is not None:
            axis = len(tensor_shape(self.mask)) - 3
            axes.append(axis if axis >= 0 and tensor_shape(self.mask)[axis] != 1 else None)
        return heads, axes

    def equation(self) -> str:
        outer = index_names(len(tensor_shape(self.q)) - 2)
        shared = "".join(f"{each}, " for each in outer)
        own = shared if self.shared_heads == 1 else f"{shared}h, "
        score = f"scale * sum(c) q[{own}i, c] * k[{shared}j, c]"
        if self.mask is not None:
            mask = f"m[{self.masked([*outer, 'i', 'j'])}]"
            is_choice = element_type(self.mask) == i1
            score = f"{mask} ? {score} : -inf" if is_choice else f"{score} + {mask}"
        if self.causal is not None:
            score = f"j <= i ? {score} : -inf"
        return (
            f"float scale; inputs q, k, v{'' if self.mask is None else ', m'};"
            f"s[{own}i, j] = {score}; g[{own}i] = max(j) s[{own}i, j];"
            f"e[{own}i, j] = exp(s[{own}i, j] - (g[{own}i] == -inf ? 0 : g[{own}i]));"
            f"t[{own}i] = sum(j) e[{own}i, j];"
            f"p[{own}i, j] = e[{own}i, j] / (t[{own}i] == 0 ? 1 : t[{own}i]);"
            f"y[{own}i, d] = sum(j) p[{own}i, j] * v[{shared}j, d]"
        )

    def masked(self, names: Sequence[str]) -> str:
        """Return the subscripts of the mask, which broadcasts to the scores of some indices."""
        assert self.mask is not None
        shape, (_, axes) = tensor_shape(self.mask), self.split_axes()
        whole = (*tensor_shape(self.q)[:-1], tensor_shape(self.k)[-2])
        first = len(whole) - len(shape)
        places: list[str] = []
        for axis, size in enumerate(shape, first):
            places.append(names[axis] if size == whole[axis] else "0")
            if axis - first == axes[3]:
                places.append("h")
        return ", ".join(places)


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
