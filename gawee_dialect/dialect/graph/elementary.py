"""Elementary functions, elementwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from xdsl.irdl import irdl_op_definition

from gawee_dialect.dialect.graph.elementwise import UnaryOp

if TYPE_CHECKING:
    pass


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
