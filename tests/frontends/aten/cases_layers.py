"""Calls of products, windows, normalizations, attention, recurrent layers and resampling."""

from importlib import import_module

import torch

from tests.closeness import Tolerances
from tests.frontends.aten.calls import Call, Draw, case

import_module("transformers.integrations.moe")  # defines an op

INDEX_TYPES = (torch.int32, torch.int64)

SUMS = Tolerances(rtol=1e-4, atol=1e-5)
"""Sums of many products, in another order."""


@case("aten.linear.default")
def linear(d: Draw) -> Call:
    bias = d.choice(None, d.floats(4))
    return Call([d.floats(*d.shape(0, 3), 5), d.floats(4, 5), bias], **SUMS)


@case("aten.addmm.default")
def addmm(d: Draw) -> Call:
    scales = {} if d.bool() else {"beta": 0.5, "alpha": 2}
    bias = d.floats(*d.choice((4,), (3, 4), (1, 4), (3, 1)))
    return Call([bias, d.floats(3, 5), d.floats(5, 4)], scales, **SUMS)


@case("aten.baddbmm.default")
def baddbmm(d: Draw) -> Call:
    scales = d.choice({}, {"beta": 0, "alpha": 2}, {"beta": 0.5})
    return Call([d.floats(2, 3, 4), d.floats(2, 3, 5), d.floats(2, 5, 4)], scales, **SUMS)


@case("aten.addbmm.default")
def addbmm(d: Draw) -> Call:
    scales = d.choice({}, {"beta": 0, "alpha": 2}, {"beta": 0.5})
    bias = d.floats(*d.choice((3, 4), (4,)))
    return Call([bias, d.floats(2, 3, 5), d.floats(2, 5, 4)], scales, **SUMS)


@case("aten.addmv.default")
def addmv(d: Draw) -> Call:
    scales = d.choice({}, {"beta": 0, "alpha": 2}, {"beta": 0.5})
    return Call([d.floats(*d.choice((3,), (1,), ())), d.floats(3, 5), d.floats(5)], scales, **SUMS)


@case("aten._trilinear.default")
def trilinear(d: Draw) -> Call:
    a, b, c = (2, 5), (4, 5, 6), (2, 6)  # as nn.Bilinear does it
    given = d.choice(([1, 3], [0], [1, 2], [2, 3]), ([3, 1], [0], [2, 1], [3, 2]))
    if d.bool():
        a, b, c, given = (4, 2, 3), (4, 2, 3), (3,), ([], [], [0, 1], [d.int(0, 2)])
    return Call([d.floats(*a), d.floats(*b), d.floats(*c), *given], **SUMS)


@case("aten.mm.default")
def mm(d: Draw) -> Call:
    return Call([d.floats(3, 5), d.floats(5, 4)], **SUMS)


@case("aten.bmm.default")
def bmm(d: Draw) -> Call:
    return Call([d.floats(2, 3, 5), d.floats(2, 5, 4)], **SUMS)


@case("aten.matmul.default", "aten.linalg_matmul.default")
def matmul(d: Draw) -> Call:
    left, right = d.choice(
        ((5,), (5,)),
        ((3, 5), (5,)),
        ((5,), (5, 4)),
        ((2, 3, 5), (5, 4)),
        ((2, 3, 5), (5,)),
        ((2, 1, 3, 5), (6, 5, 4)),
        ((5,), (2, 5, 4)),
        ((3, 5), (2, 5, 4)),
    )
    return Call([d.floats(*left), d.floats(*right)], **SUMS)


@case("aten._grouped_mm.default")
def grouped_mm(d: Draw) -> Call:
    ends = torch.tensor(d.choice([2, 5, 8], [0, 8, 8], [3, 3, 8]), dtype=torch.int32)
    # PyTorch wants rows of 16 bytes.
    left, right = d.choice(((8, 4), (3, 4, 12)), ((3, 8, 4), (3, 4, 12)))
    if d.bool():
        left, right = d.choice(((3, 4, 12), (12, 8)), ((4, 8), (8, 12)))
    return Call(
        [d.floats(*left), d.floats(*right), None if len(right) + len(left) == 6 else ends], **SUMS
    )


@case("transformers.grouped_mm_fallback.default")
def grouped_mm_fallback(d: Draw) -> Call:
    # A group of nothing, and rows behind the last group, which are zeros.
    ends = torch.tensor(d.choice([2, 5, 7], [0, 7, 7], [3, 3, 5]), dtype=d.choice(*INDEX_TYPES))
    dtype = d.choice(torch.float32, torch.float64)
    return Call([d.floats(7, 5, dtype=dtype), d.floats(3, 5, 4, dtype=dtype), ends], **SUMS)


@case("aten._int_mm.default")
def int_mm(d: Draw) -> Call:
    # PyTorch wants sizes that eight divides.
    left, right = (d.ints(*shape, low=-128, high=127) for shape in ((17, 8), (8, 16)))
    return Call([left.to(torch.int8), right.to(torch.int8)])


@case(*(f"aten.{name}.default" for name in ("linalg_inv", "linalg_inv_ex", "inverse")))
def inverse(d: Draw) -> Call:
    size, lead = d.choice(1, 2, 5, 19), d.choice((), (3,), (2, 3))
    dtype = d.choice(torch.float32, torch.float64)
    value = d.floats(*lead, size, size, dtype=dtype) + 3 * torch.eye(size, dtype=dtype)
    # The first pivot of each matrix is not the first element.
    return Call([value.flip(-2).contiguous()], rtol=1e-3, atol=1e-4)


def systems(d: Draw, lead: tuple[int, ...]) -> torch.Tensor:
    """Matrices far from singular; the first pivot of each is not the first element."""
    size, dtype = d.choice(1, 2, 5, 19), d.choice(torch.float32, torch.float64)
    value = d.floats(*lead, size, size, dtype=dtype) + 4 * torch.eye(size, dtype=dtype)
    return value.flip(-2).contiguous()


@case("aten._linalg_solve_ex.default")
def solve(d: Draw) -> Call:
    left, lead = d.bool(), d.choice((), (3,), (2, 3))
    matrices = systems(d, d.choice(lead, lead[1:]) if left else lead)
    size, dtype = matrices.shape[-1], matrices.dtype
    right = d.floats(*lead, *((size, 4) if left else (4, size)), dtype=dtype)
    if left and matrices.shape[:-2] == lead and d.bool():
        right = right[..., 0].contiguous()
    return Call([matrices, right], {"left": left}, outputs=[0, 3], rtol=1e-3, atol=1e-4)


def root(d: Draw, upper: bool) -> torch.Tensor:
    size = d.choice(2, 5, 19)
    value = d.floats(size, size, low=-1, high=1) / size + torch.eye(size)
    return (value.triu() if upper else value.tril()).contiguous()


@case("aten.cholesky_solve.default")
def cholesky_solve(d: Draw) -> Call:
    upper = d.bool()
    given = root(d, upper)
    return Call([d.floats(given.shape[0], 4), given, upper], rtol=1e-4, atol=1e-4)


@case("aten.cholesky_inverse.default")
def cholesky_inverse(d: Draw) -> Call:
    upper = d.bool()
    return Call([root(d, upper), upper], rtol=1e-4, atol=1e-4)


@case("aten.linalg_qr.default")
def qr(d: Draw) -> Call:
    rows, columns = d.choice((5, 3), (3, 5), (4, 4), (1, 1), (21, 7))
    value = d.floats(*d.choice((), (2,)), rows, columns, dtype=torch.float64)
    return Call([value, d.choice("reduced", "complete", "r")], rtol=1e-9, atol=1e-10)


@case("aten.linalg_householder_product.default")
def householder_product(d: Draw) -> Call:
    rows, columns = d.choice((5, 3), (4, 4), (21, 7))
    count = d.choice(columns, columns - 1)
    lead = d.choice((), (2,))
    shapes = (*lead, rows, columns), (*lead, count)
    value, factors = (d.floats(*shape, low=-1, high=1, dtype=torch.float64) for shape in shapes)
    return Call([value, factors], rtol=1e-9, atol=1e-9)


@case("aten._linalg_det.default", "aten._linalg_slogdet.default")
def determinant(d: Draw) -> Call:
    value = systems(d, d.choice((), (3,), (2, 3)))
    if value.ndim == 3 and value.shape[-1] > 1:
        value[1] = 1.0  # singular
    return Call([value], outputs=[0], rtol=1e-4, atol=1e-4)


@case("aten.linalg_solve_triangular.default")
def solve_triangular(d: Draw) -> Call:
    left, lead = d.bool(), d.choice((), (3,), (2, 3))
    matrices = systems(d, lead).flip(-2).contiguous()
    size, dtype = matrices.shape[-1], matrices.dtype
    right = d.floats(*lead, *((size, 4) if left else (4, size)), dtype=dtype)
    options = {"upper": d.bool(), "left": left, "unitriangular": d.bool()}
    return Call([matrices, right], options, rtol=1e-3, atol=1e-3)


@case("aten.linalg_cholesky_ex.default")
def cholesky(d: Draw) -> Call:
    value = systems(d, d.choice((), (3,), (2, 3)))
    square = value @ value.mT + torch.eye(value.shape[-1], dtype=value.dtype)
    return Call([square], {"upper": d.bool()}, rtol=1e-3, atol=1e-4)


@case("aten.mv.default")
def mv(d: Draw) -> Call:
    return Call([d.floats(3, 5), d.floats(5)], **SUMS)


@case("aten.dot.default", "aten.vdot.default")
def dot(d: Draw) -> Call:
    return Call([d.floats(5), d.floats(5)], **SUMS)


@case("aten.outer.default", "aten.ger.default")
def outer(d: Draw) -> Call:
    return Call([d.floats(3), d.floats(4)])


@case("aten.einsum.default")
def einsum(d: Draw) -> Call:
    equation, *shapes = d.choice(
        ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
        ("ij,jk", (2, 3), (3, 4)),
        ("ij->ji", (2, 3)),
        ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
        ("i,j->ij", (3,), (4,)),
        ("bnd,d->bn", (2, 3, 4), (4,)),
        ("abc,abc->ab", (2, 3, 4), (2, 3, 4)),
        ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
        ("bij->b", (2, 3, 4)),
        ("nchw,ncp->nphw", (2, 3, 4, 5), (2, 3, 6)),
    )
    return Call([equation, [d.floats(*shape) for shape in shapes]], **SUMS)


def conv(axes: int) -> None:
    @case(f"aten.conv{axes}d.default")
    def convolution(d: Draw) -> Call:
        groups = d.choice(1, 2)
        batch = () if d.bool() else (2,)
        value = d.floats(*batch, 2 * groups, *[7, 6, 5][:axes])
        weight = d.floats(4, 2, *[3, 2, 1][:axes])
        bias = d.choice(None, d.floats(4))
        padding = d.choice([0], [1] * axes)
        return Call(
            [value, weight, bias, [d.int(1, 2)], padding, [d.int(1, 2)], groups],
            rtol=1e-4,
            atol=1e-4,
        )

    @case(f"aten.conv{axes}d.padding")
    def named(d: Draw) -> Call:
        weight = d.floats(4, 2, *[3, 2, 1][:axes])
        padding = d.choice("same", "valid")
        value = d.floats(2, 2, *[7, 6, 5][:axes])
        return Call([value, weight, None, [1], padding, [d.int(1, 2)]], rtol=1e-4, atol=1e-4)

    overload = "default" if axes == 1 else "input"

    @case(f"aten.conv_transpose{axes}d.{overload}")
    def transposed(d: Draw) -> Call:
        groups = d.choice(1, 2)
        value = d.floats(2, 2 * groups, *[4, 3, 2][:axes])
        weight = d.floats(2 * groups, 3, *[3, 2, 2][:axes])
        return Call(
            [value, weight, d.choice(None, d.floats(3 * groups)), [2], [1], [d.int(0, 1)], groups],
            rtol=1e-4,
            atol=1e-4,
        )


for _axes in (1, 2, 3):
    conv(_axes)


@case("aten.convolution.default")
def convolution(d: Draw) -> Call:
    transposed = d.bool()
    weight = d.floats(2, 3, 3, 2) if transposed else d.floats(3, 2, 3, 2)
    window = [[2, 1], [1, 0], [1, 1], transposed, [d.int(0, 1) if transposed else 0, 0], 1]
    return Call(
        [d.floats(2, 2, 5, 6), weight, d.choice(None, d.floats(3)), *window], rtol=1e-4, atol=1e-4
    )


def pools(axes: int) -> None:
    def value(d: Draw) -> torch.Tensor:
        return d.floats(*d.choice((), (2,)), 3, *[7, 6, 5][:axes])

    @case(f"aten.max_pool{axes}d.default")
    def max_pool(d: Draw) -> Call:
        window = [[3, 2, 2][:axes], d.choice([], [2]), [d.int(0, 1)], [1], d.bool()]
        return Call([value(d), *window])

    if axes > 1:

        @case(f"aten.max_pool{axes}d_with_indices.default")
        def max_pool_with_indices(d: Draw) -> Call:
            image, *window = max_pool(d).args
            assert isinstance(image, torch.Tensor)
            image[..., :2] = -float("inf")
            window[3] = [d.int(1, 2)]
            return Call([image, *window])
    else:

        @case("aten.max_pool1d_with_indices.default")
        def max_pool1d_with_indices(d: Draw) -> Call:
            return Call(max_pool(d).args)

    @case(f"aten.avg_pool{axes}d.default")
    def avg_pool(d: Draw) -> Call:
        return Call(
            [value(d), [3, 2, 2][:axes], d.choice([], [2]), [d.int(0, 1)], d.bool(), d.bool()]
        )

    @case(f"aten.adaptive_avg_pool{axes}d.default")
    def adaptive(d: Draw) -> Call:
        return Call([value(d), [3, 4, 2][:axes]])

    @case(f"aten.adaptive_max_pool{axes}d.default")
    def adaptive_max(d: Draw) -> Call:
        return Call([value(d), [3, 4, 2][:axes]])


for _axes in (1, 2, 3):
    pools(_axes)


@case("aten._adaptive_avg_pool2d.default")
def adaptive_avg_pool2d(d: Draw) -> Call:
    return Call([d.floats(2, 3, 5, 7), [d.int(1, 4), 3]])


@case("aten._adaptive_avg_pool3d.default")
def adaptive_avg_pool3d(d: Draw) -> Call:
    return Call([d.floats(2, 3, 4, 5, 7), [2, 3, 3]])


def affine(d: Draw, size: int) -> list[torch.Tensor | None]:
    return d.choice([None, None], [d.floats(size), d.floats(size)], [d.floats(size), None])


@case("aten.batch_norm.default")
def batch_norm(d: Draw) -> Call:
    value = d.floats(2, 3, *d.shape(0, 2))
    stats = [d.floats(3), d.floats(3, low=0.5)]
    return Call([value, *affine(d, 3), *stats, False, 0.1, 1e-3, False], rtol=1e-4, atol=1e-5)


@case("aten._native_batch_norm_legit_no_training.default")
def batch_norm_no_training(d: Draw) -> Call:
    stats = [d.floats(3), d.floats(3, low=0.5)]
    return Call(
        [d.floats(2, 3, 4), *affine(d, 3), *stats, 0.1, 1e-3], outputs=[0], rtol=1e-4, atol=1e-5
    )


@case("aten._native_batch_norm_legit_functional.default")
def batch_norm_functional(d: Draw) -> Call:
    training = d.bool()
    outputs = d.choice([0], [0, 3, 4], [0, 1, 2, 3, 4]) if training else [0, 3, 4]
    return Call([*batch_and_statistics(d), training, 0.3, 1e-3], outputs=outputs, **SUMS)


@case("aten._batch_norm_with_update_functional.default")
def batch_norm_with_update(d: Draw) -> Call:
    outputs = d.choice([0], [0, 4, 5], [0, 1, 2, 4, 5])
    return Call([*batch_and_statistics(d), 0.3, 1e-3], outputs=outputs, **SUMS)


def batch_and_statistics(d: Draw) -> list[torch.Tensor | None]:
    dtype, stored = d.choice(
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
        (torch.bfloat16, torch.float32),
        (torch.bfloat16, torch.bfloat16),
    )
    value = d.floats(*d.choice((5, 3), (2, 3, 7), (1, 3, 2, 5), (1, 3)), dtype=dtype)
    affine = d.choice((None, None), (d.floats(3, dtype=stored), d.floats(3, dtype=stored)))
    return [value, *affine, d.floats(3, dtype=stored), d.floats(3, low=0.5, dtype=stored)]


@case("aten._native_batch_norm_legit.no_stats")
def batch_norm_no_stats(d: Draw) -> Call:
    both = d.choice([None, None], [d.floats(3), d.floats(3)])
    return Call(
        [d.floats(d.int(1, 3), 3, 4, 5), *both, True, 0.1, 1e-3],
        outputs=d.choice([0], [0, 1, 2]),
        rtol=1e-4,
        atol=1e-4,
    )


@case("aten.instance_norm.default")
def instance_norm(d: Draw) -> Call:
    both = d.choice([None, None], [d.floats(3), d.floats(3)])
    stats = [d.floats(3), d.floats(3, low=0.5)]
    use_input = d.bool()
    return Call(
        [
            d.floats(2, 3, 4, 5),
            *both,
            *([None, None] if use_input else stats),
            use_input,
            0.1,
            1e-3,
            False,
        ],
        rtol=1e-4,
        atol=1e-4,
    )


def some_affine(d: Draw, shape: list[int]) -> list[torch.Tensor | None]:
    return [d.choice(None, d.floats(*shape)), d.choice(None, d.floats(*shape))]


@case("aten.layer_norm.default")
def layer_norm(d: Draw) -> Call:
    shape = d.choice([5], [4, 5])
    return Call([d.floats(2, 4, 5), shape, *some_affine(d, shape), 1e-4], rtol=1e-4, atol=1e-4)


@case("aten.native_layer_norm.default")
def native_layer_norm(d: Draw) -> Call:
    shape = d.choice([5], [4, 5])
    return Call(
        [d.floats(2, 4, 5), shape, *some_affine(d, shape), 1e-4],
        outputs=d.choice([0], [0, 1, 2]),
        rtol=1e-4,
        atol=1e-4,
    )


@case("aten.group_norm.default")
def group_norm(d: Draw) -> Call:
    return Call(
        [d.floats(2, 6, 3, 2), d.choice(1, 2, 3, 6), *some_affine(d, [6]), 1e-4, False],
        rtol=1e-4,
        atol=1e-4,
    )


@case("aten.native_group_norm.default")
def native_group_norm(d: Draw) -> Call:
    return Call(
        [d.floats(2, 6, 3, 2), *some_affine(d, [6]), 2, 6, 6, d.choice(1, 2, 3), 1e-4],
        outputs=d.choice([0], [0, 1, 2]),
        rtol=1e-4,
        atol=1e-4,
    )


@case("aten.rms_norm.default")
def rms_norm(d: Draw) -> Call:
    shape = d.choice([5], [4, 5])
    return Call(
        [d.floats(2, 4, 5), shape, d.choice(None, d.floats(*shape)), d.choice(None, 1e-4)],
        rtol=1e-4,
        atol=1e-5,
    )


@case("aten._fused_rms_norm.default")
def fused_rms_norm(d: Draw) -> Call:
    return Call(
        [d.floats(2, 4, 5), [5], d.choice(None, d.floats(5)), 1e-4],
        outputs=d.choice([0], [0, 1]),
        rtol=1e-4,
        atol=1e-5,
    )


@case("aten._weight_norm.default", "aten._weight_norm_interface.default")
def weight_norm(d: Draw) -> Call:
    return Call([d.floats(4, 3, 2), d.floats(4, 1, 1), 0], outputs=[0], rtol=1e-4)


@case("aten.scaled_dot_product_attention.default")
def attention(d: Draw) -> Call:
    query, grouped = d.floats(2, 4, 5, 6), d.bool()
    heads = 2 if grouped else 4
    key, value = d.floats(2, heads, 7, 6), d.floats(2, heads, 7, 3)
    mask, causal = d.choice(
        (None, False),
        (None, True),
        (d.floats(5, 7), False),
        (d.floats(2, 1, 5, 7), False),
        (torch.ones(5, 7, dtype=torch.bool).tril(2), False),
    )
    options = {"scale": d.choice(None, 0.3), "enable_gqa": grouped}
    return Call([query, key, value, mask, 0.0, causal], options, rtol=1e-4, atol=1e-5)


@case("aten._scaled_dot_product_flash_attention_for_cpu.default")
def flash_attention(d: Draw) -> Call:
    heads = d.choice(4, 2)
    tensors = [d.floats(2, each, 5, 6) for each in (4, heads, heads)]
    return Call([*tensors, 0.0, d.bool()], outputs=[0], rtol=1e-4, atol=1e-5)


@case("aten._scaled_dot_product_attention_math.default")
def attention_math(d: Draw) -> Call:
    tensors = [d.floats(2, 4, 5, 6) for _ in range(3)]
    return Call([*tensors, None, 0.0, d.bool()], outputs=[0], rtol=1e-4, atol=1e-5)


def masks(d: Draw, batch: int, heads: int, length: int):
    """A mask and its type; now and then it hides all keys from a query."""
    kind = d.choice(None, 0, 1, 2)
    if kind is None:
        return None, None
    shapes = {0: (length, length), 1: (batch, length), 2: (batch, heads, length, length)}
    mask = d.bools(*shapes[d.choice(kind, 2)])
    return d.choice(mask, torch.zeros(mask.shape).masked_fill(mask, -torch.inf)), kind


def projections(d: Draw, width: int, dtype: torch.dtype) -> list[torch.Tensor]:
    shapes = (3 * width, width), (3 * width,), (width, width), (width,)
    return [d.floats(*shape, low=-0.5, high=0.5, dtype=dtype) for shape in shapes]


FLOATS = (torch.float32, torch.float64, torch.bfloat16)


@case("aten._native_multi_head_attention.default")
def multi_head_attention(d: Draw) -> Call:
    heads, dtype = d.choice(2, 3), d.choice(*FLOATS)
    query, other, third = (d.floats(2, 5, 6, dtype=dtype) for _ in range(3))
    inputs = d.choice((query, query, query), (query, other, other), (query, other, third))
    mask, kind = masks(d, 2, heads, 5)
    args = [*inputs, 6, heads, *projections(d, 6, dtype), mask, True, d.bool(), kind]
    return Call(args, outputs=d.choice([0], [0, 1]), **SUMS)


@case("aten._transformer_encoder_layer_fwd.default")
def transformer_encoder_layer(d: Draw) -> Call:
    heads, dtype = d.choice(2, 3), d.choice(*FLOATS)
    shapes = ((6,), (6,), (6,), (6,), (10, 6), (10,), (6, 10), (6,))
    weights = [d.floats(*shape, low=-0.5, high=0.5, dtype=dtype) for shape in shapes]
    mask, kind = masks(d, 2, heads, 5)
    flags = [d.bool(), d.bool(), 1e-4]
    args = [d.floats(2, 5, 6, dtype=dtype), 6, heads, *projections(d, 6, dtype), *flags]
    return Call([*args, *weights, mask, kind], **SUMS)


@case("aten.mkldnn_rnn_layer.default")
def mkldnn_rnn_layer(d: Draw) -> Call:
    hidden, features, steps, biases = 3, 4, d.choice(1, 3, 7), d.bool()
    params = [d.floats(4 * hidden, size, low=-1, high=1) for size in (features, hidden)]
    # Without biases they are zeros.
    params += [d.floats(4 * hidden) * biases for _ in range(2)]
    state = [d.floats(1, 2, hidden) for _ in range(2)]
    flags = [[], 2, hidden, d.int(1, 2), biases, d.bool(), d.bool(), False]
    value = d.floats(steps, 2, features)
    return Call([value, *params, *state, d.bool(), *flags], outputs=[0, 1, 2], **SUMS)


def recurrent(name: str, gates: int, states: int) -> None:
    @case(f"aten.{name}.input")
    def layers(d: Draw) -> Call:
        biases, count, two_ways, batch_first = d.bool(), d.int(1, 2), d.bool(), d.bool()
        ways, hidden, features = 2 if two_ways else 1, 3, 4
        projects = name == "lstm" and d.bool()
        out = 2 if projects else hidden
        params: list[torch.Tensor] = []
        for layer in range(count):
            size = features if layer == 0 else out * ways
            for _ in range(ways):
                params += [d.floats(gates * hidden, size, low=-1, high=1)]
                params += [d.floats(gates * hidden, out, low=-1, high=1)]
                params += [d.floats(gates * hidden) for _ in range(2 if biases else 0)]
                params += [d.floats(out, hidden, low=-1, high=1)] if projects else []
        # Some steps are written out, more of them are a loop.
        steps = d.choice(1, 3, 7)
        value = d.floats(*((2, steps) if batch_first else (steps, 2)), features)
        state = [d.floats(count * ways, 2, size) for size in (out, hidden)[:states]]
        flags = [biases, count, 0.0, False, two_ways, batch_first]
        return Call([value, state if states > 1 else state[0], params, *flags], **SUMS)


recurrent("lstm", 4, 2)
recurrent("gru", 3, 1)
recurrent("rnn_tanh", 1, 1)
recurrent("rnn_relu", 1, 1)


def resampling(name: str, axes: int, *, blends: bool, default: bool = True) -> None:
    def value(d: Draw) -> torch.Tensor:
        return d.floats(2, 3, *[5, 4, 3][:axes])

    @case(f"aten.{name}.vec")
    def vec(d: Draw) -> Call:
        size, scales = d.choice(
            ([7, 6, 5][:axes], None),
            (None, [2.0, 1.5, 3.0][:axes]),
            (None, [1.7] * axes),
            ([3, 2, 2][:axes], None),
        )
        return Call([value(d), size, *([d.bool()] if blends else []), scales], rtol=1e-4, atol=1e-5)

    if not default:
        return

    @case(f"aten.{name}.default")
    def plain(d: Draw) -> Call:
        return Call(
            [value(d), [7, 6, 5][:axes], *([d.bool()] if blends else [])], rtol=1e-4, atol=1e-5
        )


for _axes in (1, 2, 3):
    resampling(f"upsample_nearest{_axes}d", _axes, blends=False)
    resampling(f"_upsample_nearest_exact{_axes}d", _axes, blends=False, default=False)
resampling("upsample_linear1d", 1, blends=True)
resampling("upsample_bilinear2d", 2, blends=True)
resampling("upsample_bicubic2d", 2, blends=True)
resampling("upsample_trilinear3d", 3, blends=True)


@case("aten.grid_sampler.default", "aten.grid_sampler_2d.default")
def grid_sampler(d: Draw) -> Call:
    grid, mode, padding = d.floats(2, 3, 4, 2, low=-1.3, high=1.3), d.int(0, 2), d.int(0, 2)
    if padding > 0:  # with zeros, what PyTorch gives for no number differs by processor
        grid[0, 1, 2, 0], grid[1, 0, 0, 1], grid[1, 2, 1, 1] = torch.nan, torch.inf, -1e20
    return Call([d.floats(2, 3, 5, 6), grid, mode, padding, d.bool()], rtol=1e-4, atol=1e-4)


@case("aten.grid_sampler_3d.default")
def grid_sampler_3d(d: Draw) -> Call:
    grid = d.floats(2, 3, 1, 4, 3, low=-2.3, high=2.3)
    return Call(
        [d.floats(2, 3, 5, 6, 4), grid, d.int(0, 1), d.int(0, 2), d.bool()], rtol=1e-4, atol=1e-4
    )


@case("aten._upsample_bilinear2d_aa.default", "aten._upsample_bicubic2d_aa.default")
def antialiased(d: Draw) -> Call:
    value, size = d.floats(2, 3, 7, 5), d.choice([3, 4], [9, 2], [7, 5], [1, 11])
    return Call([value, size, d.bool()], rtol=1e-4, atol=1e-5)


@case("aten._upsample_bilinear2d_aa.vec", "aten._upsample_bicubic2d_aa.vec")
def antialiased_by_scales(d: Draw) -> Call:
    given = d.choice(([3, 4], False, None), (None, d.bool(), [0.6, 1.7]))
    return Call([d.floats(2, 3, 7, 5), *given], rtol=1e-4, atol=1e-5)
