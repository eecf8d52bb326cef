"""Calls of ops that work element by element."""

import torch

from tests.frontends.aten.calls import CASES, Call, Draw, case

FLOATS = (torch.float32, torch.float64)
NUMBERS = (*FLOATS, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
ALL = (*NUMBERS, torch.bool)
INF = float("inf")


def unary(names: str, *, low: float = -3.0, high: float = 3.0, dtypes=FLOATS) -> None:
    def draw_call(d: Draw) -> Call:
        shape = d.shape(0, 3)
        dtype = d.choice(*dtypes)
        if dtype.is_floating_point:
            return Call([d.floats(*shape, low=low, high=high, dtype=dtype)])
        return Call([d.tensor(*shape, dtypes=(dtype,))])

    for name in names.split():
        case(f"aten.{name}.default")(draw_call)


unary("exp tanh sigmoid erf sin cos expm1 exp2", dtypes=(*FLOATS, torch.int64, torch.bool))
unary("log log1p sqrt rsqrt reciprocal log2 log10", low=0.1, high=9)
unary("tan", low=-1.2, high=1.2)
unary("floor ceil trunc fix round", dtypes=(*FLOATS, torch.int32))
unary("neg negative _neg_view square absolute", dtypes=NUMBERS)
unary("abs", dtypes=NUMBERS)
unary("sign sgn", dtypes=ALL)
unary("frac relu6 hardsigmoid hardswish silu selu log_sigmoid mish")
unary("relu", dtypes=(*FLOATS, torch.int64))
unary("logical_not", dtypes=ALL)
unary("bitwise_not", dtypes=(torch.int64, torch.int32, torch.uint8, torch.bool))


@case("aten.isnan.default", "aten.isinf.default", "aten.isfinite.default")
def special_values(d: Draw) -> Call:
    if d.bool():
        return Call([d.ints(*d.shape())])
    odd = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0])
    return Call([torch.cat([d.floats(3), odd])])


def binary(*names: str, dtypes=NUMBERS, low: float = -3.0) -> None:
    def draw_call(d: Draw) -> Call:
        shape = d.shape(0, 3)

        def operand(shape: tuple[int, ...]) -> torch.Tensor:
            dtype = d.choice(*dtypes)
            if dtype.is_floating_point:
                return d.floats(*shape, low=low, dtype=dtype)
            smallest = 1 if low > 0 else 0 if dtype == torch.uint8 else -5
            return d.ints(*shape, low=smallest, dtype=dtype)

        lhs, rhs = operand(shape), operand(d.broadcastable(shape))
        return Call([lhs, rhs])

    for name in names:
        case(f"aten.{name}")(draw_call)


MIXED = (torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.uint8)
binary("mul.Tensor", "multiply.Tensor", "maximum.default", "minimum.default", dtypes=ALL)
binary("max.other", "min.other", dtypes=NUMBERS)
binary("div.Tensor", "true_divide.Tensor", dtypes=(*MIXED, torch.bool), low=0.5)
binary("pow.Tensor_Tensor", dtypes=FLOATS, low=0.3)


@case("aten.round.decimals")
def round_decimals(d: Draw) -> Call:
    return Call([100 * d.floats(3, 5)], {"decimals": d.choice(2, -1, 0)})


@case("aten.copysign.Scalar")
def copysign_of_number(d: Draw) -> Call:
    return Call([d.floats(3, 5), d.choice(-0.0, 2.0)])


@case("aten.hypot.default", "aten.copysign.Tensor")
def specials(d: Draw) -> Call:
    """Squares that overflow, zeros, infinities and NaN, with either sign."""
    values = torch.tensor([3e30, 0.0, -0.0, torch.inf, -torch.inf, torch.nan, -2.0])
    values = values.to(d.choice(*FLOATS))
    return Call([values.reshape(7, 1), values])


binary("ldexp.Tensor", dtypes=(*FLOATS, torch.float16, torch.bfloat16), low=-3.0)


@case("aten.nextafter.default")
def neighbours(d: Draw) -> Call:
    """Zeros, infinities, the least and the greatest numbers, and NaN."""
    dtype = d.choice(*FLOATS, torch.bfloat16)
    info = torch.finfo(dtype)
    edges = [0.0, -0.0, torch.inf, -torch.inf, torch.nan, info.max, info.tiny, -info.tiny, 1.0]
    values = torch.cat([torch.tensor(edges, dtype=torch.float64), d.floats(4)]).to(dtype)
    return Call([values.reshape(13, 1), values], rtol=0, atol=0)


@case("aten.frexp.Tensor")
def fractions(d: Draw) -> Call:
    dtype = d.choice(*FLOATS, torch.bfloat16, torch.float16)
    info = torch.finfo(dtype)
    edges = [0.0, -0.0, torch.inf, torch.nan, info.max, info.tiny, info.tiny / 4, -1.0, 0.5]
    values = torch.cat([torch.tensor(edges, dtype=torch.float64), d.floats(4)]).to(dtype)
    return Call([values], rtol=0, atol=0)


@case("aten.gcd.default", "aten.lcm.default")
def divisors(d: Draw) -> Call:
    dtype = d.choice(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
    least = 0 if dtype == torch.uint8 else -120
    lhs, rhs = (d.ints(*shape, low=least, high=120, dtype=dtype) for shape in ((3, 1), (5,)))
    return Call([lhs, rhs])


binary("atan2.default", "arctan2.default", dtypes=(*FLOATS, torch.int32))
binary(*(f"{name}.Tensor" for name in "eq ne lt le gt ge".split()), dtypes=ALL)
binary(
    *(f"{name}.Tensor" for name in "not_equal less less_equal greater greater_equal".split()),
    dtypes=NUMBERS,
)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool)
binary(*(f"bitwise_{name}.Tensor" for name in ("and", "or", "xor")), dtypes=INTEGERS)
binary(*(f"__{name}__.Tensor" for name in ("and", "or", "xor")), dtypes=INTEGERS)
binary(*(f"logical_{name}.default" for name in ("and", "or", "xor")), dtypes=ALL)


def divided(*names: str, **kwargs: object) -> None:
    def draw_call(d: Draw) -> Call:
        dtype = d.choice(torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8)
        shape = d.shape(1, 3)
        if dtype.is_floating_point:
            lhs, rhs = d.floats(*shape, dtype=dtype), d.floats(*shape, low=0.2, dtype=dtype)
            rhs = rhs * d.choice(1, -1)
        else:
            lhs = d.ints(*shape, low=0, high=50, dtype=dtype)
            rhs = d.ints(*shape, low=1, high=9, dtype=dtype)
            if dtype != torch.uint8:
                lhs, rhs = lhs - 25, rhs * d.choice(1, -1)
        return Call([lhs, rhs], kwargs)

    for name in names:
        case(f"aten.{name}")(draw_call)


divided("remainder.Tensor", "fmod.Tensor", "floor_divide.default")


@case("aten.div.Tensor_mode")
def div_mode(d: Draw) -> Call:
    lhs, rhs = CASES["aten.remainder.Tensor"](d).args
    return Call([lhs, rhs], {"rounding_mode": d.choice("floor", "trunc", None)})


@case("aten.add.Tensor", "aten.sub.Tensor", "aten.subtract.Tensor", "aten.rsub.Tensor")
def add(d: Draw) -> Call:
    shape = d.shape(0, 3)
    lhs, rhs = d.tensor(*shape, dtypes=MIXED), d.tensor(*d.broadcastable(shape), dtypes=MIXED)
    whole = not (lhs.is_floating_point() or rhs.is_floating_point())
    alpha = d.int(-3, 3) if whole else d.choice(1, 0.5, -2)
    return Call([lhs, rhs], {} if d.bool() else {"alpha": alpha})


def with_number(*names: str, dtypes=ALL, numbers=(2, -3, 0.5, True)) -> None:
    def draw_call(d: Draw) -> Call:
        return Call([d.tensor(*d.shape(0, 3), dtypes=dtypes), d.choice(*numbers)])

    for name in names:
        case(f"aten.{name}")(draw_call)


with_number("add.Scalar", "mul.Scalar", "multiply.Scalar")
with_number("sub.Scalar", "rsub.Scalar", dtypes=NUMBERS, numbers=(2, -3, 0.5))
with_number("subtract.Scalar", dtypes=NUMBERS, numbers=(2, -3, 0.5))
with_number("div.Scalar", "true_divide.Scalar", numbers=(2, -3, 0.5))
with_number(*(f"{name}.Scalar" for name in "eq ne lt le gt ge".split()))
with_number(
    *(f"{name}.Scalar" for name in "not_equal less less_equal greater greater_equal".split())
)
with_number("bitwise_and.Scalar", dtypes=INTEGERS, numbers=(1, 6))
with_number("remainder.Scalar", dtypes=(*FLOATS, torch.int64), numbers=(2, -3))
with_number("fmod.Scalar", dtypes=(*FLOATS, torch.int64), numbers=(2, -3, 0.75))
with_number("isin.Tensor_Scalar", dtypes=(torch.int64,), numbers=(0, 1, 2))


@case("aten.div.Scalar_mode")
def div_scalar_mode(d: Draw) -> Call:
    value = d.tensor(*d.shape(), dtypes=(torch.float32, torch.int64))
    return Call([value, d.choice(2, -3)], {"rounding_mode": d.choice("floor", "trunc")})


@case("aten.pow.Tensor_Scalar")
def pow_tensor_scalar(d: Draw) -> Call:
    if d.bool():
        return Call([d.ints(*d.shape()), d.choice(0, 1, 2, 3, 4)])
    exponent = d.choice(2, 3, 0.5, -0.5, -1, 1, 2.0, 3.0, 1.7, 0, -2, 5)
    dtype = d.choice(*FLOATS)
    return Call([d.floats(*d.shape(), low=0.2, dtype=dtype), exponent])


@case("aten.pow.Scalar")
def pow_scalar(d: Draw) -> Call:
    return Call([d.choice(10000.0, 2, 0.5), d.floats(*d.shape(), low=-1, high=1)], rtol=1e-4)


@case("aten.where.self")
def where(d: Draw) -> Call:
    shape = d.shape(0, 3)
    values = [d.tensor(*d.broadcastable(shape), dtypes=MIXED) for _ in range(2)]
    return Call([d.bools(*shape), *values])


@case("aten.where.ScalarOther")
def where_other(d: Draw) -> Call:
    shape = d.shape(0, 3)
    return Call([d.bools(*shape), d.tensor(*shape, dtypes=MIXED), d.choice(0, 1.5, -2)])


@case("aten.where.ScalarSelf")
def where_self(d: Draw) -> Call:
    shape = d.shape(0, 3)
    return Call([d.bools(*shape), d.choice(0, 1.5, -2), d.tensor(*shape, dtypes=MIXED)])


@case("aten.where.Scalar")
def where_scalars(d: Draw) -> Call:
    return Call([d.bools(*d.shape()), d.choice(0, 1.5, -2), d.choice(3, 0.5)])


@case("aten.masked_fill.Scalar")
def masked_fill(d: Draw) -> Call:
    shape = d.shape()
    value = d.choice(-float("inf"), 0, 2.5)
    return Call([d.floats(*shape), d.bools(*d.broadcastable(shape)), value])


@case("aten.masked_fill.Tensor")
def masked_fill_tensor(d: Draw) -> Call:
    shape = d.shape()
    return Call([d.floats(*shape), d.bools(*shape), torch.tensor(d.choice(1.5, -2.0))])


@case("aten.clamp.default", "aten.clip.default")
def clamp(d: Draw) -> Call:
    low, high = d.choice(
        *((-1, 1), (None, 0.5), (-0.5, None), (0, 6), (2, 1)),
        *((-INF, INF), (-INF, 0.5), (0.5, INF), (INF, None), (float("nan"), 1.0)),
    )
    dtypes = (*FLOATS, torch.int64)
    return Call([d.tensor(*d.shape(0, 3), dtypes=dtypes), low, high])


@case("aten.clamp.Tensor")
def clamp_tensor(d: Draw) -> Call:
    shape = d.shape()
    low = d.choice(None, d.floats(*shape, high=0))
    return Call([d.floats(*shape), low, d.floats(*d.broadcastable(shape))])


@case("aten.clamp_min.default", "aten.clamp_max.default")
def clamp_one(d: Draw) -> Call:
    return Call([d.tensor(*d.shape(), dtypes=(*FLOATS, torch.int32)), d.choice(-1, 0.5, 2)])


@case("aten.hardtanh.default")
def hardtanh(d: Draw) -> Call:
    return Call([d.floats(*d.shape()), *d.choice((), (0.0, 6.0), (-2, 0.5), (0.0, INF))])


@case("aten.gelu.default")
def gelu(d: Draw) -> Call:
    return Call([d.floats(*d.shape())], d.choice({}, {"approximate": "tanh"}))


@case("aten.leaky_relu.default")
def leaky_relu(d: Draw) -> Call:
    return Call([d.floats(*d.shape()), *d.choice((), (0.2,))])


@case("aten.rrelu_with_noise_functional.default")
def rrelu(d: Draw) -> Call:
    value = d.floats(*d.shape())
    return Call([value, torch.zeros_like(value), *d.choice((), (0.1, 0.3))], outputs=[0])


@case("aten.prelu.default", "aten._prelu_kernel.default")
def prelu(d: Draw) -> Call:
    channels = d.int(1, 4)
    return Call([d.floats(2, channels, 3), d.floats(channels).reshape(1, channels, 1)])


CASES["aten.prelu.default"] = lambda d: Call([d.floats(2, 3, *d.shape(0, 2)), d.floats(3)])


@case("aten.elu.default")
def elu(d: Draw) -> Call:
    return Call([d.floats(*d.shape()), *d.choice((), (0.5,), (1.5, 2.0))])


@case("aten.celu.default")
def celu(d: Draw) -> Call:
    return Call([d.floats(*d.shape()), *d.choice((), (0.5,))])


@case("aten.softplus.default")
def softplus(d: Draw) -> Call:
    return Call([d.floats(*d.shape(), low=-9, high=30), *d.choice((), (2,), (0.5, 3))])


@case("aten.glu.default")
def glu(d: Draw) -> Call:
    return Call([d.floats(3, 4, 2), d.choice(1, 2, -1)])


@case("aten.softmax.int", "aten.log_softmax.int", "aten.special_softmax.default")
def softmax(d: Draw) -> Call:
    shape = d.shape(0, 3)
    dtype = d.choice(None, torch.float64)
    return Call([d.floats(*shape), d.dim(shape or (1,)), dtype])


@case("aten._softmax.default", "aten._log_softmax.default")
def decomposed_softmax(d: Draw) -> Call:
    shape = d.shape(0, 3)
    return Call([d.floats(*shape), d.dim(shape or (1,)), False])


@case("aten.addcmul.default", "aten.addcdiv.default")
def addcmul(d: Draw) -> Call:
    shape = d.shape()
    tensors = [d.floats(*shape) for _ in range(2)]
    return Call([*tensors, d.floats(*shape, low=0.5)], d.choice({}, {"value": 0.5}))


@case("aten.lerp.Scalar")
def lerp(d: Draw) -> Call:
    shape = d.shape()
    return Call([d.floats(*shape), d.floats(*shape), d.choice(0.25, 0.75)])


@case("aten.lerp.Tensor")
def lerp_tensor(d: Draw) -> Call:
    shape = d.shape()
    return Call([d.floats(*shape), d.floats(*shape), d.floats(*shape)])


@case("aten.copy.default")
def copy(d: Draw) -> Call:
    shape = d.shape()
    return Call([d.floats(*shape), d.tensor(*d.broadcastable(shape))])


@case("aten.fill.Scalar")
def fill(d: Draw) -> Call:
    return Call([d.tensor(*d.shape()), d.choice(2, -1)])


@case("aten.fill.Tensor")
def fill_tensor(d: Draw) -> Call:
    return Call([d.floats(*d.shape()), torch.tensor(2.5)])


@case("aten.to.dtype", "aten.to.dtype_layout", "aten._to_copy.default", "aten.type_as.default")
def to(d: Draw) -> Call:
    value = d.tensor(*d.shape(0, 3), dtypes=(*ALL, torch.float16))
    return Call([value.abs() if value.dtype != torch.bool else value, d.choice(*ALL)])


CASES["aten.to.dtype_layout"] = CASES["aten._to_copy.default"] = lambda d: Call(
    [d.floats(*d.shape(), low=0)], {"dtype": d.choice(torch.int32, torch.bool, torch.float64)}
)
CASES["aten.type_as.default"] = lambda d: Call([d.floats(3), d.tensor(2)])


@case("aten.to.other")
def to_other(d: Draw) -> Call:
    return Call([d.floats(3), d.tensor(2)])


@case("aten.to.device")
def to_device(d: Draw) -> Call:
    return Call([d.floats(3), "cpu", d.choice(torch.float64, torch.int32)])


@case("prims.convert_element_type.default")
def convert_element_type(d: Draw) -> Call:
    return Call([d.floats(3), d.choice(torch.float64, torch.int32)])


@case(
    *(f"aten.{name}.default" for name in "alias detach clone contiguous alias_copy".split()),
    *(f"aten.{name}.default" for name in "detach_copy positive lift_fresh_copy".split()),
    *(f"aten.{name}.default" for name in "lift lift_fresh resolve_conj resolve_neg".split()),
)
def itself(d: Draw) -> Call:
    return Call([d.tensor(*d.shape(0, 3))])


@case(
    *(f"aten.{name}.default" for name in ("dropout", "feature_dropout", "alpha_dropout")),
    "aten.feature_alpha_dropout.default",
)
def dropout(d: Draw) -> Call:
    return Call([d.floats(*d.shape()), 0.5, False])


@case("aten.native_dropout.default")
def native_dropout(d: Draw) -> Call:
    return Call([d.floats(*d.shape()), 0.5, False], outputs=[0])
