"""Quantization: floats as integers with a scale and a zero point, and back."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnitAttr,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
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
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.equation import DefinedOp, index_names
from gawee_dialect.dialect.graph.movement import BroadcastToOp, ReshapeOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.types import (
    AnyTensor,
    ElementClass,
    element_type,
    integer_range,
    require,
    require_same_element,
    require_shape,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.hints import isa


def _has_bits(*widths: int) -> ElementClass:
    text = f"integers of {', '.join(map(str, widths[:-1]))} or {widths[-1]} bits"
    return ElementClass(text, lambda each: isa(each, IntegerType) and each.width.data in widths)


REALS = ElementClass("f32", lambda element: element == f32)
SCALES = ElementClass("f32, f64", lambda element: element in (f32, f64))
QUANTIZED = _has_bits(8, 16)
DEQUANTIZED = _has_bits(8, 16, 32)


def axis_map(rank: int, axis: int | None = None, block: int = 0) -> AffineMap:
    """Return which scale each element of a tensor of some rank has.

    One for all; one for each index of an axis; or, for blocks along it, one for each block and each
    index of the other axes.
    """
    dims = [AffineExpr.dimension(each) for each in range(rank)]
    if axis is None:
        return AffineMap(rank, 0, ())
    if not block:
        return AffineMap(rank, 0, (dims[axis],))
    blocks = (each // block if at == axis else each for at, each in enumerate(dims))
    return AffineMap(rank, 0, tuple(blocks))


def axis_and_block(place: AffineExpr) -> tuple[int, int]:
    """Return the axis that a result of such a map is about, and how long its blocks are.

    Raises VerifyException for another expression.
    """
    block = 1
    dim = place
    if isinstance(place, AffineBinaryOpExpr) and place.kind is AffineBinaryOpKind.FloorDiv:
        dim = place.lhs
        block = place.rhs.value if isinstance(place.rhs, AffineConstantExpr) else 0
    if not isinstance(dim, AffineDimExpr) or block < 1:
        text = "expected map results of a dimension, or of one by a positive number"
        raise VerifyException(f"{text} (d0 floordiv 32), got '{place}'")
    return dim.position, block


def spread(
    add: Callable[[Operation], SSAValue], value: SSAValue, map: AffineMap, shape: Sequence[int]
) -> SSAValue:
    """Add what makes scales, of a map, broadcast with a tensor of some shape; return them so."""
    blocks = dict(axis_and_block(each) for each in map.results)
    if not blocks:
        return value
    apart: list[int] = []
    wide: list[int] = []
    joined: list[int] = []
    own: list[int] = []
    for axis in range(min(blocks), len(shape)):
        block = blocks.get(axis, 1)
        count = -(-shape[axis] // block) if axis in blocks else 1
        apart += [count] if block == 1 else [count, 1]
        wide += [count] if block == 1 else [count, block]
        joined.append(count * block)
        own.append(shape[axis] if axis in blocks else 1)
    if tensor_shape(value) != tuple(apart):
        value = add(ReshapeOp(value, shape=apart))
    if apart == wide:
        return value
    value = add(ReshapeOp(add(BroadcastToOp(value, shape=wide)), shape=joined))
    return value if own == joined else add(SliceOp(value, offsets=[0] * len(own), sizes=own))


class QuantizationOp(DefinedOp, ABC):
    """What quantizing and dequantizing share: scales, zero points, and which an element has."""

    input = operand_def(TensorType)
    scale = operand_def(TensorType)
    zero_point = opt_operand_def(TensorType)
    map = prop_def(AffineMapAttr)
    result = result_def(TensorType)

    @staticmethod
    def check_scales(
        input: AnyTensor,
        scale: AnyTensor,
        zero_point: AnyTensor | None,
        stored: AnyTensor,
        map: AffineMapAttr,
    ) -> None:
        """Raise VerifyException where C2 to C4 fail."""
        SCALES.require("scale", scale.element_type)
        if zero_point is not None:
            require_same_element("zero_point", zero_point, stored, "quantized")
            require_shape("zero_point", zero_point, scale.get_shape())
        shape, own, places = input.get_shape(), scale.get_shape(), map.data.results
        require(
            map.data.num_dims == len(shape) and len(places) == len(own),
            f"expected a map from {len(shape)} axes to {len(own)}, got '{map.data}'",
        )
        found = [axis_and_block(each) for each in places]
        axes = [axis for axis, _ in found]
        require(axes == sorted(set(axes)), f"expected axes in order, each once, got '{map.data}'")
        require_shape("scale", scale, [-(-shape[axis] // block) for axis, block in found])

    def subscripts(self) -> tuple[str, str]:
        """Return the indices of an element in the equation, and those of its scale."""
        names = index_names(len(tensor_shape(self.input)))
        own = (axis_and_block(each) for each in self.map.data.results)
        at = (names[axis] if block == 1 else f"{names[axis]}//{block}" for axis, block in own)
        return ", ".join(names), ", ".join(at)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """Nothing: integers stay what they are, for those that compute on them."""
        return None


@irdl_op_definition
class QuantizeOp(QuantizationOp):
    """The nearest integers, halves to even: round(input / scale) + zero point, within min and max.

    The map says which scale, and which zero point, an element has: `(d0, d1) -> ()` is one for all,
    `(d0, d1) -> (d1)` one for each index of an axis, `(d0, d1) -> (d0, d1 floordiv 32)` one for
    each block of 32. The zero point is 0 where none is given, `min` and `max` are the ends of the
    result's element type; others are those of fewer bits. What is NaN becomes an integer that is
    not specified. With `reciprocal` the input is multiplied by the f32 that is nearest to
    1 / scale, as PyTorch does.

    ```mlir
    %q = gawee.quantize %x scale %s zero_point %z map affine_map<(d0, d1) -> (d1)> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
    ```

    Constraints:
      C1: the input is f32, the result has integers of 8 or 16 bits.
      C2: the scale is f32 or f64; the zero point has its shape, and the result's element type.
      C3: the map has a dimension for each axis of the input and a result for each of the scale;
          each is a dimension, or one by a positive number: `d1 floordiv 32`; these are in order.
      C4: the scale has as many sizes as that are indices of the axis, or blocks.
      C5: min is at most max, and both are in the result's range.
    """

    name = "gawee.quantize"

    min = opt_prop_def(IntegerAttr.constr(I64))
    max = opt_prop_def(IntegerAttr.constr(I64))
    reciprocal = opt_prop_def(UnitAttr)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `scale` $scale (`zero_point` $zero_point^)? `map` $map (`min` $min^)? "
        "(`max` $max^)? (`reciprocal` $reciprocal^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        scale: SSAValue,
        zero_point: SSAValue | None,
        element: IntegerType,
        map: AffineMap,
        *,
        min: int | None = None,
        max: int | None = None,
        reciprocal: bool = False,
    ):
        points = None if zero_point is None else tensor_type(zero_point)
        types = tensor_type(input), tensor_type(scale), points
        made = self.result_type(*types, element, AffineMapAttr(map), min=min, max=max)
        super().__init__(
            operands=[input, scale, zero_point],
            properties={
                "map": AffineMapAttr(map),
                "min": None if min is None else IntegerAttr(min, i64),
                "max": None if max is None else IntegerAttr(max, i64),
                "reciprocal": UnitAttr() if reciprocal else None,
            },
            result_types=[made],
        )

    @classmethod
    def result_type(
        cls,
        input: AnyTensor,
        scale: AnyTensor,
        zero_point: AnyTensor | None,
        element: Attribute,
        map: AffineMapAttr,
        *,
        min: int | None = None,
        max: int | None = None,
    ) -> AnyTensor:
        """Return the input's type with integers; raises VerifyException where C1 to C5 fail."""
        REALS.require("input", input.element_type)
        QUANTIZED.require("result", element)
        assert isa(element, IntegerType)
        result = TensorType(element, input.get_shape())
        cls.check_scales(input, scale, zero_point, result, map)
        least, most = integer_range(element)
        low, high = least if min is None else min, most if max is None else max
        text = f"expected min and max in order from {least} to {most}, got {low} and {high}"
        require(least <= low <= high <= most, text)
        return result

    def inferred_type(self) -> AnyTensor:
        points = None if self.zero_point is None else tensor_type(self.zero_point)
        types = tensor_type(self.input), tensor_type(self.scale), points
        low, high = (None if end is None else end.value.data for end in (self.min, self.max))
        element = element_type(self.result)
        return self.result_type(*types, element, self.map, min=low, max=high)

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest integer of the result."""
        element = element_type(self.result)
        assert isa(element, IntegerType)
        least, most = integer_range(element)
        low, high = self.min, self.max
        return least if low is None else low.value.data, most if high is None else high.value.data

    def parameters(self) -> Mapping[str, float]:
        low, high = self.bounds
        return {"low": low, "high": high}

    def equation(self) -> str:
        at, own = self.subscripts()
        real = element_type(self.input)  # f32, or f64 where a check computes in it
        by = f" / {real}(s[{own}])" if self.reciprocal is None else f" * {real}(1 / f64(s[{own}]))"
        zero = "" if self.zero_point is None else f" + {real}(z[{own}])"
        whole = f"round(x[{at}]{by}){zero}"
        element = element_type(self.result)
        return f"float low, high; y[{at}] = {element}(min(max({whole}, low), high))"


@irdl_op_definition
class DequantizeOp(QuantizationOp):
    """What integers stand for: (input - zero point) * scale.

    The map says which scale, and which zero point, an element has, as `gawee.quantize` has it. The
    difference is of 32 bits, which wrap around. The zero point is 0 where none is given.

    ```mlir
    %x = gawee.dequantize %q scale %s zero_point %z map affine_map<(d0, d1) -> (d0, d1 floordiv 4)> : (tensor<3x8xi8>, tensor<3x2xf32>, tensor<3x2xi8>) -> tensor<3x8xf32>
    ```

    Constraints:
      C1: the input has integers of 8, 16 or 32 bits, the result is f32.
      C2: the scale is f32 or f64; the zero point has its shape, and the input's element type.
      C3: the map has a dimension for each axis of the input and a result for each of the scale;
          each is a dimension, or one by a positive number: `d1 floordiv 32`; these are in order.
      C4: the scale has as many sizes as that are indices of the axis, or blocks.
    """

    name = "gawee.dequantize"

    traits = traits_def(Pure())
    assembly_format = (
        "$input `scale` $scale (`zero_point` $zero_point^)? `map` $map attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self, input: SSAValue, scale: SSAValue, zero_point: SSAValue | None, map: AffineMap
    ):
        self.define([input, scale, zero_point], map=AffineMapAttr(map))

    @classmethod
    def result_type(
        cls,
        input: AnyTensor,
        scale: AnyTensor,
        zero_point: AnyTensor | None,
        map: AffineMapAttr,
    ) -> AnyTensor:
        """Return the input's type with f32; raises VerifyException where C1 to C4 fail."""
        DEQUANTIZED.require("input", input.element_type)
        cls.check_scales(input, scale, zero_point, input, map)
        return TensorType(f32, input.get_shape())

    def equation(self) -> str:
        at, own = self.subscripts()
        whole = f"{i32}(x[{at}])"
        zero = "" if self.zero_point is None else f" - {i32}(z[{own}])"
        order = "" if self.zero_point is None else "inputs x, s, z; "
        real = element_type(self.result)  # f32, or f64 where a check computes in it
        return f"{order}y[{at}] = {real}({whole}{zero}) * {real}(s[{own}])"
