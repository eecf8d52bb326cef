"""Arithmetic and elementary functions, elementwise: beyond the four basic operations, which `elementwise.py` has."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from gawee_dialect.dialect.graph.elementwise import BinaryOp, UnaryOp
from gawee_dialect.dialect.types import FLOATS, NUMBERS


@irdl_op_definition
class ExpOp(UnaryOp):
    """e to the power of every element.

    ```mlir
    %y = gawee.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.exp"

    EQUATION: ClassVar = "y[...] = exp(x[...])"
    ONNX: ClassVar = "Exp"
    ATEN: ClassVar = "aten.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    """Natural logarithm of every element; NaN below zero, -inf at zero.

    ```mlir
    %y = gawee.log %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.log"

    EQUATION: ClassVar = "y[...] = log(x[...])"
    ONNX: ClassVar = "Log"
    ATEN: ClassVar = "aten.log"


@irdl_op_definition
class Log1pOp(UnaryOp):
    """Natural logarithm of one plus every element, exact near zero.

    ```mlir
    %y = gawee.log1p %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.log1p"

    EQUATION: ClassVar = "y[...] = log1p(x[...])"
    ATEN: ClassVar = "aten.log1p"


@irdl_op_definition
class TanhOp(UnaryOp):
    """Hyperbolic tangent of every element.

    ```mlir
    %y = gawee.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.tanh"

    EQUATION: ClassVar = "y[...] = tanh(x[...])"
    ONNX: ClassVar = "Tanh"
    ATEN: ClassVar = "aten.tanh"


@irdl_op_definition
class ErfOp(UnaryOp):
    """Error function of every element: 2/sqrt(pi) times the integral of exp(-t*t) from 0 to it.

    ```mlir
    %y = gawee.erf %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.erf"

    EQUATION: ClassVar = "y[...] = erf(x[...])"
    ONNX: ClassVar = "Erf"
    ATEN: ClassVar = "aten.erf"


@irdl_op_definition
class SinOp(UnaryOp):
    """Sine of every element, in radians.

    ```mlir
    %y = gawee.sin %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.sin"

    EQUATION: ClassVar = "y[...] = sin(x[...])"
    ONNX: ClassVar = "Sin"
    ATEN: ClassVar = "aten.sin"


@irdl_op_definition
class CosOp(UnaryOp):
    """Cosine of every element, in radians.

    ```mlir
    %y = gawee.cos %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.cos"

    EQUATION: ClassVar = "y[...] = cos(x[...])"
    ONNX: ClassVar = "Cos"
    ATEN: ClassVar = "aten.cos"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """One over the square root of every element; NaN below zero, inf at zero.

    ```mlir
    %y = gawee.rsqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.rsqrt"

    EQUATION: ClassVar = "y[...] = rsqrt(x[...])"
    ATEN: ClassVar = "aten.rsqrt"


@irdl_op_definition
class NegOp(UnaryOp):
    """Every element with the other sign; integers wrap around.

    ```mlir
    %y = gawee.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
    """

    name = "gawee.neg"

    EQUATION: ClassVar = "y[...] = -x[...]"
    ONNX: ClassVar = "Neg"
    ELEMENTS: ClassVar = NUMBERS
    INVOLUTION: ClassVar = True


@irdl_op_definition
class AbsOp(UnaryOp):
    """Absolute value of every element; the lowest integer stays as it is.

    ```mlir
    %y = gawee.abs %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
    """

    name = "gawee.abs"

    EQUATION: ClassVar = "y[...] = abs(x[...])"
    ONNX: ClassVar = "Abs"
    ELEMENTS: ClassVar = NUMBERS
    IDEMPOTENT: ClassVar = True


@irdl_op_definition
class ReciprocalOp(UnaryOp):
    """One over every element; inf at zero, with the zero's sign.

    ```mlir
    %y = gawee.reciprocal %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.reciprocal"

    EQUATION: ClassVar = "y[...] = 1 / x[...]"
    ONNX: ClassVar = "Reciprocal"
    ATEN: ClassVar = "aten.reciprocal"


@irdl_op_definition
class FloorOp(UnaryOp):
    """The greatest whole number not above every element.

    ```mlir
    %y = gawee.floor %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.floor"

    EQUATION: ClassVar = "y[...] = floor(x[...])"
    ONNX: ClassVar = "Floor"
    IDEMPOTENT: ClassVar = True


@irdl_op_definition
class CeilOp(UnaryOp):
    """The least whole number not below every element.

    ```mlir
    %y = gawee.ceil %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.ceil"

    EQUATION: ClassVar = "y[...] = ceil(x[...])"
    ONNX: ClassVar = "Ceil"
    IDEMPOTENT: ClassVar = True


@irdl_op_definition
class RoundOp(UnaryOp):
    """The whole number nearest to every element, halves to the even one.

    ```mlir
    %y = gawee.round %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.round"

    EQUATION: ClassVar = "y[...] = round(x[...])"
    ONNX: ClassVar = "Round"
    IDEMPOTENT: ClassVar = True


@irdl_op_definition
class SignOp(UnaryOp):
    """-1, 0 or 1 as every element is below, at or above zero; NaN gives 0.

    ```mlir
    %y = gawee.sign %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
    """

    name = "gawee.sign"

    EQUATION: ClassVar = "y[...] = sign(x[...])"
    ONNX: ClassVar = "Sign"
    ELEMENTS: ClassVar = NUMBERS
    IDEMPOTENT: ClassVar = True


@irdl_op_definition
class PowOp(BinaryOp):
    """lhs to the power of rhs, with NumPy's broadcasting.

    Integers wrap around. To a negative power, 1 and -1 give 1 or -1 and all others 0.

    ```mlir
    %z = gawee.pow %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.pow"

    EQUATION: ClassVar = "z[...] = x[...] ** y[...]"
    ONNX: ClassVar = "Pow"
    NEUTRAL: ClassVar = 1


@irdl_op_definition
class MaximumOp(BinaryOp):
    """The greater of two elements, with NumPy's broadcasting; NaN wins.

    ```mlir
    %z = gawee.maximum %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.maximum"

    EQUATION: ClassVar = "z[...] = max(x[...], y[...])"
    ONNX: ClassVar = "Max"


@irdl_op_definition
class MinimumOp(BinaryOp):
    """The lesser of two elements, with NumPy's broadcasting; NaN wins.

    ```mlir
    %z = gawee.minimum %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.minimum"

    EQUATION: ClassVar = "z[...] = min(x[...], y[...])"
    ONNX: ClassVar = "Min"


@irdl_op_definition
class RemainderOp(BinaryOp):
    """Remainder of a division rounded down: it has the divisor's sign, as Python's `%`.

    A float zero has the dividend's sign, as PyTorch's. With NumPy's broadcasting. An integer modulo 0 is 0, a float NaN.

    ```mlir
    %z = gawee.remainder %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.remainder"

    EQUATION: ClassVar = "z[...] = x[...] % y[...]"


@irdl_op_definition
class FmodOp(BinaryOp):
    """Remainder of a division rounded towards zero: it has the dividend's sign.

    With NumPy's broadcasting. An integer modulo 0 is 0, a float NaN.

    ```mlir
    %z = gawee.fmod %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.fmod"

    EQUATION: ClassVar = "z[...] = fmod(x[...], y[...])"


@irdl_op_definition
class FloorDivOp(BinaryOp):
    """Quotient rounded down, as Python's `//`, with NumPy's broadcasting.

    Integers wrap around; an integer over 0 is 0. A float over 0 is as in `gawee.div`.

    ```mlir
    %z = gawee.floor_div %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.floor_div"

    EQUATION: ClassVar = "z[...] = x[...] // y[...]"


@irdl_op_definition
class Atan2Op(BinaryOp):
    """Angle of the point (rhs, lhs), from -pi to pi, with NumPy's broadcasting.

    ```mlir
    %z = gawee.atan2 %x, %y : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
    ```

    Constraints:
      C1: the element type is a float.
      C2: both operands have one element type.
      C3: the shapes broadcast.
    """

    name = "gawee.atan2"

    EQUATION: ClassVar = "z[...] = atan2(x[...], y[...])"
    ELEMENTS: ClassVar = FLOATS
