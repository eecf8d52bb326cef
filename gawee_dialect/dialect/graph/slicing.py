"""Boxes of tensors: cut out, written into, surrounded."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack
from types import EllipsisType
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    f16,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from gawee_dialect.dialect.graph.movement import (
    MovedOp,
    MovementOp,
    integer,
    integers,
    limited,
    moved,
    number,
)
from gawee_dialect.dialect.size_list import SIZE_LIST, Sizes
from gawee_dialect.dialect.types import (
    AnyTensor,
    element_type,
    is_float,
    is_unsigned,
    require,
    require_length,
    require_non_negative,
    require_positive,
    require_same_element,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.hints import isa
from gawee_dialect.upstream.constraints import verify_inside

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array


def require_box(
    offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int], shape: Sequence[int]
) -> None:
    """Raise VerifyException unless the first and the last position of a box are in a shape."""
    for axis, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
        verify_inside(axis, shape[axis], offset, size, stride)


def box(
    offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> tuple[slice | EllipsisType, ...]:
    """Return what NumPy takes a box by; it never makes a scalar of an element."""
    parts: list[slice] = []
    for offset, size, stride in zip(offsets, sizes, strides, strict=True):
        end = offset + size * stride
        parts.append(slice(offset, end if end >= 0 else None, stride) if size else slice(0, 0))
    return (*parts, ...)


@irdl_op_definition
class SliceOp(MovedOp):
    """A box of the input: along axis i the elements offsets[i] + j * strides[i] for j < sizes[i].

    A negative stride walks backwards.

    ```mlir
    %y = gawee.slice %x offsets [1, 4] sizes [2, 3] strides [1, -2] : (tensor<3x5xf32>) -> tensor<2x3xf32>
    ```

    Constraints:
      C1: there are one offset, size and stride for each axis of the input.
      C2: sizes are not negative, strides are not zero.
      C3: the box stays in the input.
    """

    name = "gawee.slice"

    SIZES: ClassVar = "sizes"

    input = operand_def(TensorType)
    offsets = prop_def(SIZE_LIST)
    sizes = prop_def(SIZE_LIST)
    strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    custom_directives = (Sizes,)
    assembly_format = (
        "$input `offsets` custom<Sizes>($offsets) `sizes` custom<Sizes>($sizes) `strides` $strides attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        *,
        offsets: Sequence[int],
        sizes: Sequence[int],
        strides: Sequence[int] | None = None,
    ):
        strides = [1] * len(offsets) if strides is None else strides
        self.define([input], offsets=offsets, sizes=sizes, strides=strides)

    @staticmethod
    def result_type(
        input: AnyTensor, *, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
    ) -> AnyTensor:
        """Return the box's type; raises VerifyException where C1 to C3 fail."""
        shape = input.get_shape()
        for what, values in (("offsets", offsets), ("sizes", sizes), ("strides", strides)):
            require_length(what, values, len(shape))
        require_non_negative("sizes", sizes)
        require(0 not in strides, f"expected strides other than 0, got {list(strides)}")
        require_box(offsets, sizes, strides, shape)
        return TensorType(input.element_type, sizes)

    def box(self) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """Return offsets, sizes and strides."""
        return self.offsets.get_values(), self.sizes.get_values(), self.strides.get_values()

    def equation(self) -> str:
        offsets, sizes, strides = self.box()
        places = map(moved, range(len(sizes)), offsets, strides)
        return f"y[{limited(sizes)}] = x[{', '.join(places)}]"

    def same(self) -> SSAValue | None:
        """gawee.slice %x (all of it) -> %x"""
        whole = self.input.type == self.result.type and not any(self.offsets.get_values())
        return self.input if whole else None


@irdl_op_definition
class InsertSliceOp(MovementOp):
    """The input with a box of it overwritten: position j of the update goes to offset + j * stride.

    ```mlir
    %y = gawee.insert_slice %x, %u offsets [1, 0] strides [1, 2] : (tensor<3x5xf32>, tensor<2x3xf32>) -> tensor<3x5xf32>
    ```

    Constraints:
      C1: the update has the input's element type and rank.
      C2: there are one offset and stride for each axis of the input; strides are at least 1.
      C3: the box that is written stays in the input.
    """

    name = "gawee.insert_slice"

    input = operand_def(TensorType)
    update = operand_def(TensorType)
    offsets = prop_def(SIZE_LIST)
    strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    custom_directives = (Sizes,)
    assembly_format = (
        "$input `,` $update `offsets` custom<Sizes>($offsets) `strides` $strides attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        update: SSAValue,
        *,
        offsets: Sequence[int],
        strides: Sequence[int] | None = None,
    ):
        strides = [1] * len(offsets) if strides is None else strides
        self.define([input, update], offsets=offsets, strides=strides)

    @staticmethod
    def result_type(
        input: AnyTensor, update: AnyTensor, *, offsets: Sequence[int], strides: Sequence[int]
    ) -> AnyTensor:
        """Return the input's type; raises VerifyException where C1 to C3 fail."""
        shape, sizes = input.get_shape(), update.get_shape()
        require_same_element("update", update, input)
        require(
            len(shape) == len(sizes),
            f"expected update of the input's rank ({len(shape)}), got rank {len(sizes)}",
        )
        require_length("offsets", offsets, len(shape))
        require_length("strides", strides, len(shape))
        require_positive("strides", strides)
        require_box(offsets, sizes, strides, shape)
        return input

    def evaluate(self, *operands: Array) -> Array:
        result, update = operands[0].copy(), operands[1]
        where = box(self.offsets.get_values(), update.shape, self.strides.get_values())
        result[where] = update
        return result

    def same(self) -> SSAValue | None:
        """gawee.insert_slice %x, %u (over all of %x, or of no element) -> %u, or %x"""
        if 0 in tensor_shape(self.update):
            return self.input
        return self.update if self.update.type == self.input.type else None


PACKED: dict[Attribute, str] = {f16: "<e", f32: "<f", f64: "<d"}
"""What `struct` calls the float types; it refuses finite numbers that are out of their range.

That is, in a stated byte order: in the native one it makes infinity of them.
"""


def holds(element: Attribute, value: float) -> bool:
    """Whether a number is a value of an element type, for a float type after rounding."""
    if element in PACKED:
        try:
            return bool(pack(PACKED[element], value))
        except OverflowError:
            return False
    assert isa(element, IntegerType)
    bits = element.width.data
    if element == i1 or is_unsigned(element):
        return 0 <= value < 1 << bits
    return -(1 << (bits - 1)) <= value < 1 << (bits - 1)


@irdl_op_definition
class PadOp(MovedOp):
    """The input with low[i] elements added before and high[i] after it along axis i.

    What is added follows the mode, NumPy's and PyTorch's: `constant` is one value; `reflect`
    mirrors the input without repeating the element at its edge, `replicate` repeats the element
    at the edge, `circular` goes on at the other end. In mode `constant` a negative number takes
    elements away.

    ```mlir
    %y = gawee.pad %x low [1, 0] high [0, -2] mode "constant" value 0.000000e+00 : f64 : (tensor<3x5xf32>) -> tensor<4x3xf32>
    ```

    Constraints:
      C1: there are one low and one high number for each axis of the input.
      C2: the mode is `constant`, `reflect`, `replicate` or `circular`.
      C3: mode `constant` has a value, the others have none.
      C4: the value is f64 where elements are floats, i64 where they are integers, and in the range
          of their type.
      C5: only mode `constant` takes elements away, and no more than there are.
      C6: along an axis of n elements mode `reflect` adds at most n - 1 elements to an end,
          `circular` at most n, and `replicate` none to an axis without elements.
    """

    name = "gawee.pad"

    MODES: ClassVar = ("constant", "reflect", "replicate", "circular")

    input = operand_def(TensorType)
    low = prop_def(DenseArrayBase.constr(i64))
    high = prop_def(DenseArrayBase.constr(i64))
    mode = prop_def(StringAttr)
    value = opt_prop_def(FloatAttr.constr(Float64Type()) | IntegerAttr.constr(I64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$input `low` $low `high` $high `mode` $mode (`value` $value^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        input: SSAValue,
        *,
        low: Sequence[int],
        high: Sequence[int],
        mode: str = "constant",
        value: float = 0,
    ):
        attribute = _value_attribute(element_type(input), value) if mode == "constant" else None
        super().__init__(
            operands=[input],
            properties={
                "low": integers(low),
                "high": integers(high),
                "mode": StringAttr(mode),
                "value": attribute,
            },
            result_types=[
                self.result_type(tensor_type(input), low=low, high=high, mode=mode, value=attribute)
            ],
        )

    @classmethod
    def result_type(
        cls,
        input: AnyTensor,
        *,
        low: Sequence[int],
        high: Sequence[int],
        mode: str,
        value: Attribute | None,
    ) -> AnyTensor:
        """Return the padded type; raises VerifyException where C1 to C6 fail."""
        shape = input.get_shape()
        require_length("low", low, len(shape))
        require_length("high", high, len(shape))
        require(mode in cls.MODES, f"unsupported mode '{mode}'; supported: {', '.join(cls.MODES)}")
        if mode == "constant":
            _require_value(input.element_type, value)
        else:
            require(value is None, f"expected no value in mode '{mode}', got {value}")
            require_non_negative("low", low)
            require_non_negative("high", high)
            _require_reach(mode, shape, low, high)
        sizes = [sum(parts) for parts in zip(shape, low, high, strict=True)]
        require_non_negative("padded sizes", sizes)
        for axis, size in enumerate(shape):
            require(
                min(low[axis], high[axis]) >= -size,
                f"expected at most the {size} elements of axis {axis} to be taken away at an end, "
                f"got low {low[axis]} and high {high[axis]}",
            )
        return TensorType(input.element_type, sizes)

    def inferred_type(self) -> AnyTensor:
        return self.result_type(
            tensor_type(self.input),
            low=self.low.get_values(),
            high=self.high.get_values(),
            mode=self.mode.data,
            value=self.value,
        )

    def amounts(self) -> Sequence[tuple[int, int]]:
        """Return what is added before and after, an axis."""
        return list(zip(self.low.get_values(), self.high.get_values(), strict=True))

    def kept(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return offsets and sizes of the box of the input that the result has."""
        shape = tensor_shape(self.input)
        offsets = [max(0, -before) for before, _ in self.amounts()]
        sizes = [
            max(0, size + min(before, 0) + min(after, 0))
            for size, (before, after) in zip(shape, self.amounts(), strict=True)
        ]
        return offsets, sizes

    def equation(self) -> str:
        places = [moved(axis, -before) for axis, (before, _) in enumerate(self.amounts())]
        if self.value is None:
            along = zip(places, tensor_shape(self.input), self.amounts(), strict=True)
            places = [
                repeated(self.mode.data, place, size) if any(added) else place
                for place, size, added in along
            ]
        parameter = "float value; " if isinstance(self.value, FloatAttr) else ""
        outside = ""
        if places and isinstance(self.value, FloatAttr):
            outside = " else value"
        elif places and isinstance(self.value, IntegerAttr):
            outside = f" else {number(self.value.value.data, element_type(self.input))}"
        shape = limited(tensor_shape(self.result))
        return f"{parameter}y[{shape}] = x[{', '.join(places)}{outside}]"

    def same(self) -> SSAValue | None:
        """gawee.pad %x (by nothing) -> %x"""
        return None if any(map(any, self.amounts())) else self.input


def repeated(mode: str, place: str, size: int) -> str:
    """Return which position of an axis is shown at a place that may be before or behind it."""
    match mode:
        case "reflect":
            return f"{size - 1} - abs({size - 1} - abs({place}))"
        case "replicate":
            return f"max(0, min({place}, {size - 1}))"
        case _:
            return f"({place}) % {max(size, 1)}"


def _value_attribute(element: Attribute, value: float) -> Attribute:
    return FloatAttr(value, f64) if is_float(element) else integer(int(value))


def _require_value(element: Attribute, value: Attribute | None) -> None:
    kind = "f64" if is_float(element) else "i64"
    fits = isa(value, FloatAttr[Float64Type]) if is_float(element) else isa(value, IntegerAttr[I64])
    require(fits, f"expected value of type {kind} for elements of '{element}', got {value}")
    assert isinstance(value, FloatAttr | IntegerAttr)
    number = value.value.data
    require(holds(element, number), f"expected value that '{element}' holds, got {number}")


def _require_reach(
    mode: str, shape: Sequence[int], low: Sequence[int], high: Sequence[int]
) -> None:
    for axis, size in enumerate(shape):
        added = max(low[axis], high[axis])
        most = {"reflect": max(size - 1, 0), "circular": size}.get(mode, added if size else 0)
        require(
            added <= most,
            f"expected mode '{mode}' to add at most {most} elements to an end of axis {axis} of "
            f"size {size}, got {added}",
        )
