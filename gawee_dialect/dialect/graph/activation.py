"""Activation functions and clamping, elementwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import ClassVar

from xdsl.dialects.builtin import Float64Type, FloatAttr, IntegerType, StringAttr, f64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def

from gawee_dialect.dialect.graph.elementwise import UnaryOp
from gawee_dialect.dialect.types import (
    NUMBERS,
    AnyTensor,
    element_type,
    integer_range,
    is_float,
    require,
    tensor_type,
)
from gawee_dialect.hints import isa


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """1 / (1 + exp(-x)) of every element x.

    ```mlir
    %y = gawee.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.sigmoid"

    EQUATION: ClassVar = "y[...] = 1 / (1 + exp(-x[...]))"
    ONNX: ClassVar = "Sigmoid"
    ATEN: ClassVar = "aten.sigmoid"


@irdl_op_definition
class SiluOp(UnaryOp):
    """x / (1 + exp(-x)) of every element x: x times its sigmoid.

    ```mlir
    %y = gawee.silu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.silu"

    EQUATION: ClassVar = "y[...] = x[...] / (1 + exp(-x[...]))"
    ATEN: ClassVar = "aten.silu"


@irdl_op_definition
class HardSigmoidOp(UnaryOp):
    """x / 6 + 0.5 of every element x, kept from 0 to 1.

    ```mlir
    %y = gawee.hard_sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.hard_sigmoid"

    EQUATION: ClassVar = "y[...] = min(max(x[...] + 3, 0), 6) / 6"
    ATEN: ClassVar = "aten.hardsigmoid"


@irdl_op_definition
class HardSwishOp(UnaryOp):
    """x * (x / 6 + 0.5) of every element x, the factor in brackets kept from 0 to 1.

    ```mlir
    %y = gawee.hard_swish %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.hard_swish"

    EQUATION: ClassVar = "y[...] = x[...] * (min(max(x[...] + 3, 0), 6) / 6)"
    ONNX: ClassVar = "HardSwish"
    ATEN: ClassVar = "aten.hardswish"


@irdl_op_definition
class SoftplusOp(UnaryOp):
    """log(1 + exp(x)) of every element x; large elements do not overflow.

    ```mlir
    %y = gawee.softplus %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.softplus"

    EQUATION: ClassVar = "y[...] = max(x[...], 0) + log1p(exp(-abs(x[...])))"
    ONNX: ClassVar = "Softplus"


@irdl_op_definition
class LeakyReluOp(UnaryOp):
    """Every element, those below zero times `alpha`.

    ```mlir
    %y = gawee.leaky_relu %x alpha 1.000000e-01 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.leaky_relu"

    EQUATION: ClassVar = "float alpha; y[...] = x[...] > 0 ? x[...] : x[...] * alpha"

    alpha = prop_def(FloatAttr.constr(Float64Type()))

    assembly_format = "$input `alpha` $alpha attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue, *, alpha: float = 0.01):
        super().__init__(input, {"alpha": FloatAttr(alpha, f64)})


@irdl_op_definition
class EluOp(UnaryOp):
    """Every element, and for those below zero alpha * (exp(x) - 1).

    ```mlir
    %y = gawee.elu %x alpha 1.000000e-01 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
    """

    name = "gawee.elu"

    EQUATION: ClassVar = "float alpha; y[...] = x[...] > 0 ? x[...] : alpha * expm1(min(x[...], 0))"

    alpha = prop_def(FloatAttr.constr(Float64Type()))

    assembly_format = "$input `alpha` $alpha attr-dict `:` functional-type(operands, results)"

    def __init__(self, input: SSAValue, *, alpha: float = 1.0):
        super().__init__(input, {"alpha": FloatAttr(alpha, f64)})


@irdl_op_definition
class GeluOp(UnaryOp):
    """x * Phi(x) of every element x, Phi being the normal distribution function.

    `approximate` is `none`, Phi(x) = (1 + erf(x / sqrt(2))) / 2, or `tanh`,
    (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2.

    ```mlir
    %y = gawee.gelu %x approximate "none" : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float.
      C2: approximate is none or tanh.
    """

    name = "gawee.gelu"

    VARIANT: ClassVar = "approximate"
    VARIANTS_ARE: ClassVar = "approximation"
    EQUATION: ClassVar[str | Mapping[str, str]] = {
        "none": "y[...] = x[...] * 0.5 * (1 + erf(x[...] * sqrt(0.5)))",
        "tanh": "y[...] = x[...] * 0.5"
        " * (1 + tanh((x[...] + x[...] * x[...] * x[...] * 0.044715) * sqrt(2 / pi)))",
    }

    approximate = prop_def(StringAttr)

    assembly_format = (
        "$input `approximate` $approximate attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, approximate: str = "none"):
        self.require_variant(approximate)
        super().__init__(input, {"approximate": StringAttr(approximate)})


@irdl_op_definition
class ClipOp(UnaryOp):
    """Every element, but not below `min` and not above `max`; NaN stays NaN.

    Either bound may be absent. Where min is above max, every element but NaN is max. For integers,
    a bound outside the range of the element type counts as the end of that range.

    ```mlir
    %y = gawee.clip %x min 0.000000e+00 max 6.000000e+00 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: the element type is a float or an integer of more than one bit.
      C2: bounds are numbers: finite, and whole ones for integers.
    """

    name = "gawee.clip"

    ELEMENTS: ClassVar = NUMBERS
    IDEMPOTENT: ClassVar = True

    min = opt_prop_def(FloatAttr.constr(Float64Type()))
    max = opt_prop_def(FloatAttr.constr(Float64Type()))

    assembly_format = (
        "$input (`min` $min^)? (`max` $max^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, input: SSAValue, *, min: float | None = None, max: float | None = None):
        self.check_bounds(tensor_type(input), min, max)
        properties = {
            "min": None if min is None else FloatAttr(float(min), f64),
            "max": None if max is None else FloatAttr(float(max), f64),
        }
        super().__init__(input, properties)

    @staticmethod
    def check_bounds(input: AnyTensor, *bounds: float | None) -> None:
        """Raise VerifyException where C2 fails."""
        for bound in bounds:
            if bound is None:
                continue
            require(isfinite(bound), f"expected a finite bound, got {bound}")
            require(
                is_float(input.element_type) or float(bound).is_integer(),
                f"expected a whole bound for integers, got {bound}",
            )

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The lower and the upper bound, None where there is none."""
        low, high = (None if bound is None else bound.value.data for bound in (self.min, self.max))
        return low, high

    def inferred_type(self) -> AnyTensor:
        self.check_bounds(tensor_type(self.input), *self.bounds)
        return super().inferred_type()

    def equation(self) -> str:
        low, high = (None if bound is None else bound.value.data for bound in (self.min, self.max))
        value = "x[...]" if low is None else "max(x[...], low)"
        value = value if high is None else f"min({value}, high)"
        kind = "float" if is_float(element_type(self.input)) else "int"
        return f"{kind} low = 0, high = 0; y[...] = {value}"

    def parameters(self) -> Mapping[str, float]:
        bounds = zip(("low", "high"), self.bounds, strict=True)
        return {name: self._within(each) for name, each in bounds if each is not None}

    def _within(self, bound: float) -> float:
        """Return the nearest bound that the element type has."""
        element = element_type(self.input)
        if not isa(element, IntegerType):
            return bound
        lowest, highest = integer_range(element)
        return min(max(int(bound), lowest), highest)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """clip %x (without bounds) -> %x, and what every unary op folds"""
        return (self.input,) if self.bounds == (None, None) else super().fold()
