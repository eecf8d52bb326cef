"""How each op_type becomes an op: the table `READERS`, one function a line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor

from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, BinaryOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.movement import CatOp, FlattenOp, IdentityOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp, PythonValueType
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.graph.window import window_extent
from gawee_dialect.dialect.types import (
    AnyTensor,
    is_tensor,
    require_rank,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.frontends.gawee_json.graph import Node, elements
from gawee_dialect.frontends.gawee_json.schema import own_ops
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.hints import isa
from gawee_dialect.located_json import JsonObject

# One node as an op builder sees it: operands, attributes and weights of the right kind.


WeightSource = Callable[[Node, str, JsonObject], SSAValue]
"""Makes the entry argument of a node's weight object under a key."""


def _float(key: str, value: float) -> float:
    """Convert a JSON number, which may be an integer of any length; raises Refusal."""
    try:
        return float(value)
    except OverflowError as error:
        raise Refusal(f"expected {key} to fit a float, got an integer beyond it") from error


@dataclass(frozen=True)
class NodeReader:
    """Typed access to a node whose attributes follow the schema.

    `declared` is the type that `values` gives to the output, None where it says nothing.
    """

    node: Node
    operands: Sequence[SSAValue]
    declared: AnyTensor | None
    weight_source: WeightSource

    def tensor(self, index: int) -> SSAValue:
        """Return an operand; raises Refusal where it is a Python value."""
        value = self.operands[index]
        if isinstance(value.type, PythonValueType):
            raise Refusal(
                f"expected input '{self.node.inputs[index]}' to be a tensor, got a Python value",
                "getattr and getitem may feed each other and the size of an interpolate",
            )
        return value

    def has(self, key: str) -> bool:
        """Whether the node has an attribute."""
        return key in self.node.attributes

    def axes(self, key: str, default: Sequence[int]) -> tuple[int, ...]:
        """Return an attribute given as one integer or a list of two, always as two."""
        value = self.node.attributes.get(key)
        if value is None:
            return tuple(default)
        if isinstance(value, int):
            return (value, value)
        assert isa(value, list[int])
        return tuple(value)

    def optional_axes(self, key: str) -> list[int | None]:
        """Return an attribute given as one integer or a list of two whose entries may be null."""
        value = self.node.attributes[key]
        if isinstance(value, int):
            return [value, value]
        assert isa(value, list[int | None])
        return value

    def numbers(self, key: str) -> tuple[float, float]:
        """Return an attribute given as one number or a list of two, always as two."""
        value = self.node.attributes[key]
        if isinstance(value, int | float):
            return (_float(key, value), _float(key, value))
        assert isa(value, list[int | float])
        first, second = value
        return (_float(key, first), _float(key, second))

    def integer(self, key: str, default: int) -> int:
        """Return an integer attribute."""
        value = self.node.attributes.get(key, default)
        assert isinstance(value, int)
        return value

    def number(self, key: str, default: float) -> float:
        """Return a number attribute."""
        value = self.node.attributes.get(key, default)
        assert isinstance(value, int | float)
        return _float(key, value)

    def flag(self, key: str, default: bool) -> bool:
        """Return a boolean attribute."""
        value = self.node.attributes.get(key, default)
        assert isinstance(value, bool)
        return value

    def text(self, key: str, default: str) -> str:
        """Return a string attribute."""
        value = self.node.attributes.get(key, default)
        assert isinstance(value, str)
        return value

    def weight(self, key: str) -> SSAValue:
        """Return the argument of a weight that the node must have; raises Refusal otherwise."""
        value = self.optional_weight(key)
        if value is None:
            raise Refusal(f"expected weight '{key}', got none")
        return value

    def optional_weight(self, key: str) -> SSAValue | None:
        """Return the argument of a weight, None where the node has none."""
        value = self.node.attributes.get(key)
        if value is None:
            return None
        assert isinstance(value, JsonObject)
        return self.weight_source(self.node, key, value)

    def expect(self, key: str, actual: int, meaning: str) -> None:
        """Check an attribute that repeats what a shape says; raises Refusal where it differs."""
        stated = self.integer(key, actual)
        if stated != actual:
            raise Refusal(f"expected {key} ({stated}) to equal {meaning} ({actual})")


def same_padding(kernel: Sequence[int], dilations: Sequence[int]) -> tuple[int, int, int, int]:
    """Return (top, left, bottom, right) that keep a stride-1 window's size; smaller half first."""
    height, width = (window_extent(k, d) - 1 for k, d in zip(kernel, dilations, strict=True))
    return height // 2, width // 2, height - height // 2, width - width // 2


def _images(node: NodeReader) -> SSAValue:
    """Return the first input; raises VerifyException unless it is (batch, channels, y, x)."""
    input = node.tensor(0)
    require_rank("input", tensor_type(input), 4)
    return input


def _symmetric(padding: Sequence[int]) -> tuple[int, ...]:
    return (*padding, *padding)


def _conv_padding(node: NodeReader, kernel: Sequence[int]) -> tuple[int, ...]:
    padding = node.node.attributes.get("padding", 0)
    if padding == "valid":
        return (0, 0, 0, 0)
    if padding != "same":
        return _symmetric(node.axes("padding", (0, 0)))
    strides = node.axes("stride", (1, 1))
    if strides != (1, 1):
        raise Refusal(f"expected stride 1 with padding 'same', got {list(strides)}")
    return same_padding(kernel, node.axes("dilation", (1, 1)))


def _read_conv(node: NodeReader) -> Operation:
    input, weight, bias = _images(node), node.weight("weight"), node.optional_weight("bias")
    require_rank("weight", tensor_type(weight), 4)
    features, channels, *kernel = tensor_shape(weight)
    groups = node.integer("groups", 1)
    node.expect("out_channels", features, "weight output channels")
    node.expect("in_channels", channels * groups, "groups times weight channels")
    stated = node.axes("kernel_size", kernel)
    if stated != tuple(kernel):
        raise Refusal(f"expected kernel_size {list(stated)} to match weight kernel {kernel}")
    return ConvOp(
        input,
        weight,
        bias,
        strides=node.axes("stride", (1, 1)),
        padding=_conv_padding(node, kernel),
        dilations=node.axes("dilation", (1, 1)),
        groups=groups,
    )


def _read_matmul(node: NodeReader) -> Operation:
    input, weight, bias = node.tensor(0), node.weight("weight"), node.optional_weight("bias")
    require_rank("weight", tensor_type(weight), 2)
    out_features, in_features = tensor_shape(weight)
    node.expect("out_features", out_features, "weight output features")
    node.expect("in_features", in_features, "weight input features")
    return MatMulOp(input, weight, bias)


def _read_batch_norm(node: NodeReader) -> Operation:
    tracked = node.flag("track_running_stats", True)
    if not tracked or not node.has("running_mean") or not node.has("running_var"):
        raise Refusal(
            "cannot read batch normalization without running_mean and running_var: "
            "its statistics would depend on the batch",
            "trace a model in evaluation mode that tracks running statistics",
        )
    affine = node.flag("affine", node.has("weight"))
    if affine and not (node.has("weight") and node.has("bias")):
        raise Refusal("expected weight and bias with affine true")
    if not affine and (node.has("weight") or node.has("bias")):
        raise Refusal("expected no weight and no bias with affine false")
    mean = node.weight("running_mean")
    require_rank("running_mean", tensor_type(mean), 1)
    node.expect("num_features", tensor_shape(mean)[0], "the length of running_mean")
    return BatchNormOp(
        node.tensor(0),
        mean,
        node.weight("running_var"),
        node.optional_weight("weight"),
        node.optional_weight("bias"),
        eps=node.number("eps", 1e-5),
    )


def _read_max_pool(node: NodeReader) -> Operation:
    kernel = node.axes("kernel_size", ())
    return MaxPoolOp(
        _images(node),
        kernel=kernel,
        strides=node.axes("stride", kernel),
        padding=_symmetric(node.axes("padding", (0, 0))),
        dilations=node.axes("dilation", (1, 1)),
        ceil_mode=node.flag("ceil_mode", False),
    )


def _read_avg_pool(node: NodeReader) -> Operation:
    kernel = node.axes("kernel_size", ())
    return AvgPoolOp(
        _images(node),
        kernel=kernel,
        strides=node.axes("stride", kernel),
        padding=_symmetric(node.axes("padding", (0, 0))),
        ceil_mode=node.flag("ceil_mode", False),
        count_include_pad=node.flag("count_include_pad", True),
    )


def _read_ad_avg_pool(node: NodeReader) -> Operation:
    input = _images(node)
    spatial = tensor_shape(input)[2:]
    sizes = node.optional_axes("output_size")
    kept = (own if size is None else size for size, own in zip(sizes, spatial, strict=True))
    return AdAvgPoolOp(input, output_size=tuple(kept))


def _read_flatten(node: NodeReader) -> Operation:
    start_dim, end_dim = node.integer("start_dim", 1), node.integer("end_dim", -1)
    return FlattenOp(node.tensor(0), start_dim=start_dim, end_dim=end_dim)


def _read_cat(node: NodeReader) -> Operation:
    dim = node.integer("dim", node.integer("axis", 0))
    if node.integer("axis", dim) != dim:
        raise Refusal(f"expected dim ({dim}) to equal axis ({node.integer('axis', dim)})")
    return CatOp([node.tensor(index) for index in range(len(node.operands))], dim=dim)


def _constant_size(size_from: Sequence[SSAValue]) -> list[int] | None:
    """Return the integers that constants give, None where one of the values is not constant."""
    sizes: list[int] = []
    for value in size_from:
        if not isinstance(value.owner, ConstantOp):
            return None
        sizes.extend(int(size) for size in elements(value.owner.value).ravel())
    return sizes or None


def _interpolate_size(node: NodeReader, input: AnyTensor) -> list[int]:
    """Return the target size: stated, scaled, from constants, or else the declared one."""
    if node.has("size") and node.has("scale_factor"):
        raise Refusal("expected size or scale_factor, got both")
    spatial = input.get_shape()[2:]
    constant = _constant_size(node.operands[1:])
    if node.has("size"):
        stated = list(node.axes("size", ()))
        if constant not in (None, stated):
            raise Refusal(f"expected size {stated} to equal its inputs {constant}")
        return stated
    if node.has("scale_factor"):
        scales = node.numbers("scale_factor")
        return [floor(size * scale) for size, scale in zip(spatial, scales, strict=True)]
    if constant is not None:
        return constant
    if len(node.operands) > 1 and node.declared is not None:
        return list(node.declared.get_shape()[2:])
    raise Refusal(
        "cannot interpolate because no size is known",
        "give size, scale_factor, or two inputs with the size and a declared output shape",
    )


def _check_size_from(node: NodeReader) -> None:
    for name, value in zip(node.node.inputs[1:], node.operands[1:], strict=True):
        scalar = is_tensor(value.type) and len(value.type.get_shape()) <= 1
        if not scalar and not isinstance(value.type, PythonValueType):
            raise Refusal(f"expected size input '{name}' to be a scalar, got '{value.type}'")


def _read_interpolate(node: NodeReader) -> Operation:
    input = _images(node)
    _check_size_from(node)
    rescaled = node.has("scale_factor") and not node.flag("recompute_scale_factor", False)
    return InterpolateOp(
        input,
        size=_interpolate_size(node, tensor_type(input)),
        mode=node.text("mode", "nearest").replace("-", "_"),  # "nearest-exact"
        align_corners=node.flag("align_corners", False),
        scales=node.numbers("scale_factor") if rescaled else None,
        size_from=node.operands[1:],
    )


def _python_key(node: NodeReader, keys: Sequence[str], unknown: str) -> str:
    for key in keys:
        if node.has(key):
            value = node.node.attributes[key]
            return value if isinstance(value, str) else repr(value)
    return unknown


def _read_getattr(node: NodeReader) -> Operation:
    attribute = _python_key(node, ("attribute", "attr", "name"), "shape")
    return GetAttrOp(node.tensor(0), attribute)


def _read_getitem(node: NodeReader) -> Operation:
    value = node.operands[0]
    if not isinstance(value.type, PythonValueType):
        raise Refusal(f"expected getitem of a Python value, got a tensor '{value.type}'")
    return GetItemOp(value, _python_key(node, ("index", "item", "key"), "?"))


def _binary(op: type[BinaryOp]) -> Callable[[NodeReader], Operation]:
    return lambda node: op(node.tensor(0), node.tensor(1))


@dataclass(frozen=True)
class OpReader:
    """How an op_type is read: the numbers of inputs it may have, and what makes which op.

    `limits` says what such a node may be in the framework it comes from, but not here, beyond the
    attributes whose value the schema fixes.
    """

    arity: Sequence[int] | None
    read: Callable[[NodeReader], Operation]
    op: type[Operation]
    limits: tuple[str, ...] = ()

    def check_arity(self, count: int) -> None:
        """Raise Refusal for a number of inputs that the op does not have."""
        if self.arity is None:
            if count < 1:
                raise Refusal("expected at least one input, got none")
        elif count not in self.arity:
            wanted = " or ".join(map(str, self.arity))
            raise Refusal(f"expected {wanted} input{'s' if wanted != '1' else ''}, got {count}")


_IMAGES = "input of rank 4"
_FLOATS = "f16, f32 or f64"
_SIGNED = "f16, f32, f64, i8, i16, i32 or i64"
_NUMBERS = "f16, f32, f64, i8, ui8, i16, ui16, i32 or i64"
_PYTHON = "feeds only getattr, getitem or the size of an interpolate"

READERS: dict[str, OpReader] = {
    "Conv": OpReader(
        (1,), _read_conv, ConvOp, (_IMAGES, _SIGNED, "padding 'same' goes with stride 1")
    ),
    "MatMul": OpReader((1,), _read_matmul, MatMulOp, ("weight of rank 2", _FLOATS)),
    "BatchNormalization": OpReader(
        (1,), _read_batch_norm, BatchNormOp, ("running_mean and running_var are given", _FLOATS)
    ),
    "Relu": OpReader((1,), lambda node: ReluOp(node.tensor(0)), ReluOp, (_NUMBERS,)),
    "MaxPool": OpReader((1,), _read_max_pool, MaxPoolOp, (_IMAGES, _SIGNED)),
    "AvgPool": OpReader((1,), _read_avg_pool, AvgPoolOp, (_IMAGES, _FLOATS)),
    "AdAvgPool": OpReader((1,), _read_ad_avg_pool, AdAvgPoolOp, (_IMAGES, _FLOATS)),
    "Identity": OpReader((1,), lambda node: IdentityOp(node.tensor(0)), IdentityOp),
    "Add": OpReader((2,), _binary(AddOp), AddOp, (_NUMBERS,)),
    "Sub": OpReader((2,), _binary(SubOp), SubOp, (_NUMBERS,)),
    "Mul": OpReader((2,), _binary(MulOp), MulOp, (_NUMBERS,)),
    "flatten": OpReader((1,), _read_flatten, FlattenOp),
    "cat": OpReader(None, _read_cat, CatOp),
    "interpolate": OpReader(
        (1, 2, 3),
        _read_interpolate,
        InterpolateOp,
        (_IMAGES, "mode nearest, nearest-exact, bilinear or bicubic"),
    ),
    "getattr": OpReader((1,), _read_getattr, GetAttrOp, (_PYTHON,)),
    "getitem": OpReader((1,), _read_getitem, GetItemOp, (_PYTHON,)),
}


def readers() -> Mapping[str, OpReader]:
    """Return how every op_type is read, those of a user's own last."""
    own = {
        name: OpReader(each.arity, each.read, each.op, each.limits)
        for name, each in own_ops().items()
    }
    return {**READERS, **own}
