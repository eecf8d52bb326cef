"""Matrix products."""

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure

from gawee_dialect.dialect.equation import DefinedOp
from gawee_dialect.dialect.graph.elementwise import broadcast_indices, broadcast_shape
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_float,
    require_rank,
    require_same_element,
    require_shape,
    require_signed_number,
    tensor_shape,
)


@irdl_op_definition
class MatMulOp(DefinedOp):
    """Linear layer: multiply the last axis by a weight stored (out, in), add a bias.

    out[..., n] = bias[n] + sum over k of input[..., k] * weight[n, k]

    Operands: input (..., in) of any rank from 1; weight (out, in), as PyTorch stores it; optional
    bias (out).

    ```mlir
    %y = gawee.matmul %x, %w bias %b : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<2x5x3xf32>
    ```

    Constraints:
      C1: input has rank 1 or more, weight has rank 2.
      C2: element types are one float type.
      C3: the last axis of the input equals the weight's second.
      C4: bias has one entry per output feature.
    """

    name = "gawee.matmul"

    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $weight (`bias` $bias^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, weight: SSAValue, bias: SSAValue | None = None):
        self.define([input, weight, bias])

    @staticmethod
    def result_type(input: AnyTensor, weight: AnyTensor, bias: AnyTensor | None) -> AnyTensor:
        """Return the product's result type; raises VerifyException where C1 to C4 fail."""
        require(input.get_num_dims() >= 1, "expected input of rank 1 or more, got a scalar")
        require_rank("weight", weight, 2)
        require_float("input", input)
        require_same_element("weight", weight, input)
        *leading, features = input.get_shape()
        out_features, in_features = weight.get_shape()
        require(
            features == in_features,
            f"expected last input dimension ({features}) to equal weight input features "
            f"({in_features})",
        )
        if bias is not None:
            require_shape("bias", bias, (out_features,))
            require_same_element("bias", bias, input)
        return TensorType(input.element_type, (*leading, out_features))

    def equation(self) -> str:
        bias = "" if self.bias is None else " + b[f]"
        return f"y[..., f] = sum(k) x[..., k] * w[f, k]{bias}"


@irdl_op_definition
class BatchMatMulOp(DefinedOp, HasCanonicalizationPatternsInterface):
    """Product of the matrices in the last two axes, leading axes broadcast: NumPy's matmul.

    out[..., m, n] = sum over k of a[..., m, k] * b[..., k, n]

    With `transpose_a` the matrices of a are stored (k, m), with `transpose_b` those of b (n, k).
    Integers wrap around. Operands have no axis less than a matrix has; a vector is reshaped first.

    ```mlir
    %c = gawee.batch_matmul %a, %b transpose_b : (tensor<2x1x5x8xf32>, tensor<3x7x8xf32>) -> tensor<2x3x5x7xf32>
    ```

    Constraints:
      C1: both operands have rank 2 or more.
      C2: element types are one float type, or one signless integer type of more than one bit.
      C3: the columns of a's matrices equal the rows of b's.
      C4: the leading axes broadcast.
    """

    name = "gawee.batch_matmul"

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    transpose_a = opt_prop_def(UnitAttr)
    transpose_b = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$a `,` $b (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self, a: SSAValue, b: SSAValue, *, transpose_a: bool = False, transpose_b: bool = False
    ):
        self.define([a, b], transpose_a=transpose_a, transpose_b=transpose_b)

    @staticmethod
    def result_type(
        a: AnyTensor, b: AnyTensor, *, transpose_a: bool, transpose_b: bool
    ) -> AnyTensor:
        """Return the product's result type; raises VerifyException where C1 to C4 fail."""
        for what, type in (("a", a), ("b", b)):
            rank = type.get_num_dims()
            require(rank >= 2, f"expected {what} of rank 2 or more, got rank {rank} ('{type}')")
        require_signed_number("a", a)
        require_same_element("b", b, a, "a")
        *leading_a, rows, columns = a.get_shape()
        *leading_b, inner, features = b.get_shape()
        if transpose_a:
            rows, columns = columns, rows
        if transpose_b:
            inner, features = features, inner
        require(columns == inner, f"expected columns of a ({columns}) to equal rows of b ({inner})")
        leading = broadcast_shape(leading_a, leading_b)
        return TensorType(a.element_type, (*leading, rows, features))

    def equation(self) -> str:
        leading = tensor_shape(self.result)[:-2]
        left, right = (broadcast_indices(tensor_shape(e)[:-2], leading) for e in self.operands)
        left, right = (f"{each}, " if each else "" for each in (left, right))
        a = "k, m" if self.transpose_a is not None else "m, k"
        b = "n, k" if self.transpose_b is not None else "k, n"
        sizes = [self._size_text(axis, size) for axis, size in enumerate(leading)]
        outer = "".join(f"i{axis} < {size}, " for axis, size in enumerate(sizes))
        return f"y[{outer}m, n] = sum(k) a[{left}{a}] * b[{right}{b}]"

    def _size_text(self, axis: int, size: int) -> str:
        """Return a size in index notation: of an open one, which axis has it."""
        if not isinstance(size, OpenSize):
            return str(size)
        for name, value in (("a", self.a), ("b", self.b)):
            own = axis - (len(tensor_shape(self.result)) - len(tensor_shape(value)))
            if own >= 0 and tensor_shape(value)[own] == size:
                return f"size({name}, {own})"
        raise AssertionError("a size of the result is one of an operand")

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gawee_dialect.passes.graph.canonicalization.shape import DropBatchOfOne

        return (DropBatchOfOne(),)
