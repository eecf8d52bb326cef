"""Calls of ops that move elements, and of those that make tensors of nothing."""

from math import prod

import torch

from tests.frontends.aten.calls import Call, Draw, case


def names(text: str, overload: str = "default") -> list[str]:
    return [f"aten.{name}.{overload}" for name in text.split()]


@case(*names("view _unsafe_view reshape _reshape_copy view_copy"))
def view(d: Draw) -> Call:
    shape = d.shape(1, 4)
    size = [prod(shape[:2]), *shape[2:]]
    if d.bool():
        size[d.int(0, len(size) - 1)] = -1
    return Call([d.tensor(*shape), size])


@case(*names("reshape_as view_as"))
def reshape_as(d: Draw) -> Call:
    return Call([d.floats(4, 6), d.floats(3, 2, 4)])


STORED = (
    *(torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.int16),
    *(torch.int8, torch.uint8),
)


@case("aten.view.dtype")
def view_dtype(d: Draw) -> Call:
    given = d.choice(*STORED, torch.bool)
    value = d.bools(3, 8) if given == torch.bool else d.floats(3, 8, low=0, high=120).to(given)
    return Call([value, d.choice(*STORED)], rtol=0, atol=0)


@case("aten.tril_indices.default", "aten.triu_indices.default")
def tri_indices(d: Draw) -> Call:
    dtype = d.choice(torch.int64, torch.int32)
    return Call([d.int(0, 4), d.int(1, 5), d.int(-3, 3)], {"dtype": dtype})


@case("aten.flatten.using_ints")
def flatten(d: Draw) -> Call:
    shape = d.shape(1, 4)
    start = d.int(0, len(shape) - 1)
    return Call([d.floats(*shape), start, d.choice(-1, d.int(start, len(shape) - 1))])


@case("aten.unflatten.int")
def unflatten(d: Draw) -> Call:
    return Call([d.floats(2, 12, 3), d.choice(1, -2), d.choice([3, 4], [2, -1, 3], [-1])])


@case(*names("permute permute_copy"))
def permute(d: Draw) -> Call:
    shape = d.shape(1, 4)
    order = sorted(range(len(shape)), key=lambda axis: d.int(0, 9) * 10 + axis)
    return Call([d.tensor(*shape), [axis - len(shape) * d.int(0, 1) for axis in order]])


@case(*names("transpose transpose_copy", "int"), *names("swapaxes swapdims"))
def transpose(d: Draw) -> Call:
    shape = d.shape(1, 4)
    return Call([d.tensor(*shape), d.dim(shape), d.dim(shape)])


@case(*names("t t_copy"))
def t(d: Draw) -> Call:
    return Call([d.floats(*d.shape(0, 2))])


@case(*names("numpy_T mT adjoint"))
def matrix_transpose(d: Draw) -> Call:
    return Call([d.floats(*d.shape(2, 2))])


@case("aten.movedim.int")
def movedim(d: Draw) -> Call:
    shape = d.shape(1, 4)
    return Call([d.floats(*shape), d.dim(shape), d.dim(shape)])


@case("aten.movedim.intlist", "aten.moveaxis.intlist")
def movedims(d: Draw) -> Call:
    return Call([d.floats(2, 3, 4), *d.choice(([0, 1], [2, 0]), ([-1], [0]), ([2, 0], [0, 1]))])


@case(*names("squeeze squeeze_copy"))
def squeeze(d: Draw) -> Call:
    return Call([d.floats(*d.shape(0, 4))])


@case(*names("squeeze squeeze_copy", "dim"))
def squeeze_dim(d: Draw) -> Call:
    shape = d.shape(1, 4)
    return Call([d.floats(*shape), d.dim(shape)])


@case(*names("squeeze squeeze_copy", "dims"))
def squeeze_dims(d: Draw) -> Call:
    return Call([d.floats(1, 3, 1, 2), d.choice([0], [0, 2], [1, 2], [-2, 0])])


@case(*names("unsqueeze unsqueeze_copy"))
def unsqueeze(d: Draw) -> Call:
    shape = d.shape(0, 3)
    return Call([d.floats(*shape), d.int(-len(shape) - 1, len(shape))])


@case(*names("expand broadcast_to expand_copy"))
def expand(d: Draw) -> Call:
    return Call([d.floats(2, 1, 3), d.choice([2, 4, 3], [5, 2, 1, 3], [-1, 2, -1], [4, -1, 3, 3])])


@case(*names("expand_as"))
def expand_as(d: Draw) -> Call:
    return Call([d.floats(2, 1), d.floats(3, 2, 4)])


@case(*names("broadcast_tensors"))
def broadcast_tensors(d: Draw) -> Call:
    return Call([[d.floats(2, 1), d.floats(3), d.floats(1, 1, 3)]])


@case(*names("repeat"))
def repeat(d: Draw) -> Call:
    return Call([d.floats(2, 3), d.choice([2, 1], [1, 1], [3, 1, 2], [2, 2])])


@case(*names("tile"))
def tile(d: Draw) -> Call:
    return Call([d.floats(2, 3), d.choice([2], [1, 2], [3, 1, 2])])


@case("aten.repeat_interleave.self_int")
def repeat_interleave(d: Draw) -> Call:
    return Call([d.floats(2, 3), d.int(1, 3), d.choice(None, 0, -1)])


@case(*names("pixel_shuffle"))
def pixel_shuffle(d: Draw) -> Call:
    return Call([d.floats(*d.shape(0, 2), 8, 2, 3), 2])


@case(*names("pixel_unshuffle"))
def pixel_unshuffle(d: Draw) -> Call:
    return Call([d.floats(*d.shape(0, 2), 2, 4, 6), 2])


@case(*names("channel_shuffle"))
def channel_shuffle(d: Draw) -> Call:
    return Call([d.floats(2, 6, 2, 3), d.choice(2, 3)])


@case(*names("slice slice_copy", "Tensor"))
def slice_tensor(d: Draw) -> Call:
    shape = d.shape(1, 3)
    end = d.choice(None, 9223372036854775807, 2, -1, 100, 0)
    return Call([d.tensor(*shape), d.dim(shape), d.choice(None, 0, 1, -2), end, d.int(1, 3)])


@case(*names("narrow narrow_copy"))
def narrow(d: Draw) -> Call:
    return Call([d.floats(3, 4), 1, d.choice(0, 1, -3), 2])


@case(*names("select select_copy", "int"))
def select(d: Draw) -> Call:
    shape = d.shape(1, 3)
    dim = d.dim(shape)
    return Call([d.tensor(*shape), dim, d.int(-shape[dim], shape[dim] - 1)])


@case(*names("split_with_sizes split_with_sizes_copy"), "aten.split.sizes")
def split_with_sizes(d: Draw) -> Call:
    return Call([d.floats(2, 7), d.choice([3, 4], [1, 0, 6], [2, 3, 2]), d.choice(1, -1)])


@case(*names("split split_copy", "Tensor"))
def split(d: Draw) -> Call:
    return Call([d.floats(2, 7, 3), d.int(1, 4), d.choice(0, 1, -1)])


@case(*names("chunk unsafe_chunk"))
def chunk(d: Draw) -> Call:
    return Call([d.floats(2, 7, 3), d.int(1, 4), d.choice(0, 1, -1)])


@case("aten.tensor_split.sections")
def tensor_split(d: Draw) -> Call:
    return Call([d.floats(2, 7, 3), d.int(1, 4), d.choice(1, -1)])


@case(*names("unbind unbind_copy", "int"))
def unbind(d: Draw) -> Call:
    shape = d.shape(1, 3)
    return Call([d.floats(*shape), d.dim(shape)])


@case(*names("flip"))
def flip(d: Draw) -> Call:
    return Call([d.tensor(2, 3, 4), d.choice([0], [1, 2], [-1], [])])


@case(*names("roll"))
def roll(d: Draw) -> Call:
    shifts, dims = d.choice(([1], [0]), ([-2, 5], [1, 2]), ([3], []), ([0], [1]), ([4], [-1]))
    return Call([d.floats(2, 3, 4), shifts, dims])


@case(*names("diff"))
def diff(d: Draw) -> Call:
    value = d.choice(d.floats(2, 4), d.ints(2, 4), d.bools(2, 4))
    around = {"prepend": value[:, :1]} if d.bool() else {}
    return Call([value], {"n": 1 if value.dtype == torch.bool else d.int(1, 2), **around})


@case(*names("unfold"))
def unfold(d: Draw) -> Call:
    return Call([d.floats(2, 7, 3), d.choice(1, -2), d.int(1, 4), d.int(1, 3)])


@case(*names("cat concat concatenate"))
def cat(d: Draw) -> Call:
    dim = d.choice(0, 1, -1)
    shapes = [[2, 3], [2, 3], [2, 3]]
    for shape in shapes:
        shape[dim] = d.int(1, 4)
    tensors = [d.tensor(*shape) for shape in shapes[: d.int(1, 3)]]
    return Call([[*tensors, *([torch.empty(0)] if d.bool() else [])], dim])


@case(*names("stack"))
def stack(d: Draw) -> Call:
    shape = d.shape(0, 3)
    tensors = [d.floats(*shape) for _ in range(d.int(1, 3))]
    return Call([tensors, d.int(-len(shape) - 1, len(shape))])


@case(*names("hstack"))
def hstack(d: Draw) -> Call:
    return Call([d.choice([d.floats(2), d.floats(3)], [d.floats(2, 1), d.floats(2, 3)])])


@case(*names("meshgrid"))
def meshgrid(d: Draw) -> Call:
    return Call([[d.floats(2), d.floats(3), d.floats(4)]])


@case("aten.meshgrid.indexing")
def meshgrid_indexing(d: Draw) -> Call:
    return Call([[d.floats(2), d.floats(3), d.floats(4)]], {"indexing": d.choice("ij", "xy")})


@case("aten.pad.default")
def pad(d: Draw) -> Call:
    pads = d.choice([1, 2], [1, 0, 2, 1], [0, 0], [2, 2, 1, 1])
    mode = d.choice("constant", "reflect", "replicate", "circular")
    value = d.choice(None, 1.5, -float("inf")) if mode == "constant" else None
    return Call(
        [
            d.floats(2, 3, 4, 5)[..., : 4 + len(pads) % 3] if len(pads) == 4 else d.floats(2, 3, 4),
            pads,
            mode,
            value,
        ]
    )


@case("aten.constant_pad_nd.default")
def constant_pad(d: Draw) -> Call:
    pads = d.choice([1, 2], [-1, 0, 2, -1], [1, 1, 0, 0, 2, 0])
    return Call([d.tensor(2, 3, 4), pads, d.choice(0, 2)])


def padding(axes: int, mode: str) -> None:
    @case(f"aten.{mode}_pad{axes}d.default")
    def pads(d: Draw) -> Call:
        return Call([d.floats(2, 1, *[3, 4, 5][:axes]), [d.int(0, 2) for _ in range(2 * axes)]])


for _axes in (1, 2, 3):
    padding(_axes, "reflection")
    padding(_axes, "replication")


@case("aten._pad_circular.default")
def circular(d: Draw) -> Call:
    return Call([d.floats(1, 2, 3, 4), [d.int(0, 2) for _ in range(4)]])


@case(*names("tril triu"))
def tri(d: Draw) -> Call:
    return Call([d.tensor(*d.shape(0, 1), 4, 5), d.int(-3, 3)])


@case(*names("embedding"))
def embedding(d: Draw) -> Call:
    return Call([d.floats(7, 3), d.ints(*d.shape(0, 2), low=0, high=6)])


@case(*names("index_select"))
def index_select(d: Draw) -> Call:
    return Call([d.tensor(5, 5), d.choice(0, 1, -1), d.ints(3, low=0, high=4)])


@case(*names("gather"))
def gather(d: Draw) -> Call:
    return Call([d.tensor(4, 5), d.choice(0, -1), d.ints(3, 4, low=0, high=3)])


@case(*names("take_along_dim"))
def take_along_dim(d: Draw) -> Call:
    if d.bool():
        return Call([d.floats(3, 4), d.ints(5, low=0, high=11)])
    return Call([d.floats(3, 1, 4), d.ints(1, 2, 2, low=0, high=3), 2])


@case(*names("take"))
def take(d: Draw) -> Call:
    return Call([d.floats(3, 4), d.ints(2, 5, low=-12, high=11)])


@case("aten.index.Tensor")
def index(d: Draw) -> Call:
    one, two = d.ints(4, low=-3, high=2), d.ints(*d.choice((1,), (2, 4), (2, 1)), low=0, high=1)
    wide = d.ints(*d.shape(0, 2), low=0, high=2)
    indices = d.choice([one], [None, wide], [one, two], [None, one, two], [two, None, one])
    return Call([d.tensor(3, 3, 3, 2), indices])


@case(*names("one_hot"))
def one_hot(d: Draw) -> Call:
    return Call([d.ints(*d.shape(0, 2), low=0, high=4), 5])


@case(*names("as_strided"))
def as_strided(d: Draw) -> Call:
    size, stride, offset = d.choice(
        ([3, 2], [4, 1], 0), ([2, 3], [1, 2], 1), ([12], [1], 0), ([2, 2, 3], [6, 3, 1], None)
    )
    return Call([d.floats(3, 4), size, stride, offset])


@case("aten.as_strided_scatter.default")
def as_strided_scatter(d: Draw) -> Call:
    size, stride, offset = d.choice(([3, 2], [4, 1], 0), ([2, 3], [1, 2], 1), ([3], [5], None))
    return Call([d.floats(3, 4), d.floats(*size), size, stride, offset])


@case("aten.put.default")
def put(d: Draw) -> Call:
    places = torch.tensor([[0, -1, 7], [5, 3, 2]])
    return Call([d.tensor(3, 4, dtypes=(torch.float32,)), places, d.floats(2, 3), d.bool()])


@case("aten.fft_fftfreq.default", "aten.fft_rfftfreq.default")
def frequencies(d: Draw) -> Call:
    return Call([d.int(1, 9), d.choice(1.0, 0.25, 3.0)])


@case("aten.slice_scatter.default")
def slice_scatter(d: Draw) -> Call:
    start, end, step, size = d.choice(
        (1, 3, 1, 2), (0, 9, 2, 2), (None, None, 1, 4), (-3, -1, 1, 2)
    )
    return Call([d.floats(3, 4), d.floats(3, size), 1, start, end, step])


@case("aten.select_scatter.default")
def select_scatter(d: Draw) -> Call:
    return Call([d.floats(3, 4), d.floats(3), 1, d.int(-4, 3)])


def scatter_index(d: Draw) -> torch.Tensor:
    # What several elements are written to depends on their order.
    rows = torch.stack(
        [torch.randperm(5, generator=torch.Generator().manual_seed(d.int(0, 99))) for _ in range(2)]
    )
    return rows[:, : d.int(1, 4)]


@case("aten.scatter.src")
def scatter(d: Draw) -> Call:
    return Call([d.floats(3, 5), d.choice(1, -1), scatter_index(d), d.floats(2, 4)])


@case("aten.scatter.value")
def scatter_value(d: Draw) -> Call:
    return Call([d.floats(3, 5), 1, scatter_index(d), d.choice(2.5, -1)])


@case("aten.scatter_add.default")
def scatter_add(d: Draw) -> Call:
    return Call([d.floats(3, 5), 1, d.ints(2, 4, low=0, high=4), d.floats(2, 4)])


@case("aten.index_put.default")
def index_put(d: Draw) -> Call:
    one = torch.tensor([2, 0]) if d.bool() else torch.tensor([1, -2])
    two = torch.tensor([[1], [3]])
    indices, shape = d.choice(
        ([one], (2, 4, 2)),
        ([None, one], (3, 2, 2)),
        ([one, two], (2, 2, 2)),
        ([None, two, one.clamp(max=1)], (3, 2, 2)),
        ([one, None, torch.tensor([0, 1])], (2, 4)),
    )
    return Call([d.floats(3, 4, 2), indices, d.floats(*shape[d.int(0, 1) :]), d.bool()])


KINDS = (None, torch.float32, torch.float64, torch.int64, torch.int32)


@case("aten.arange.default")
def arange(d: Draw) -> Call:
    return Call([d.choice(0, 5, 3.5)], {"dtype": d.choice(*KINDS, torch.uint8)})


@case("aten.arange.start")
def arange_start(d: Draw) -> Call:
    dtype = d.choice(*KINDS, torch.uint8)
    return Call([d.choice(-2, 1) * (dtype != torch.uint8), d.choice(4, 7)], {"dtype": dtype})


@case("aten.arange.start_step")
def arange_step(d: Draw) -> Call:
    start, end, step = d.choice((0, 7, 2), (5, -3, -2), (0.5, 3, 0.7), (0, 6, 1), (1, 2, 0.1))
    whole = all(isinstance(each, int) for each in (start, end, step))
    return Call([start, end, step], {"dtype": d.choice(*KINDS[: 5 if whole else 3])})


@case(*names("linspace"))
def linspace(d: Draw) -> Call:
    return Call([d.choice(-1, 0), d.choice(2.5, 1), d.int(1, 6)])


@case(*names("full"))
def full(d: Draw) -> Call:
    return Call([d.shape(0, 3), d.choice(2, 1.5, True)], {"dtype": d.choice(*KINDS)})


@case(*names("zeros ones"))
def zeros(d: Draw) -> Call:
    return Call([d.shape(0, 3)], {"dtype": d.choice(*KINDS, torch.bool)})


@case(*names("full_like"))
def full_like(d: Draw) -> Call:
    return Call([d.tensor(*d.shape()), d.choice(2, 3)], {"dtype": d.choice(*KINDS)})


@case(*names("zeros_like ones_like"))
def zeros_like(d: Draw) -> Call:
    return Call([d.tensor(*d.shape())], {"dtype": d.choice(*KINDS)})


@case(*names("new_full"))
def new_full(d: Draw) -> Call:
    return Call([d.tensor(2), d.shape(), 3], {"dtype": d.choice(*KINDS)})


@case(*names("new_zeros new_ones"))
def new_zeros(d: Draw) -> Call:
    return Call([d.tensor(2), d.shape()], {"dtype": d.choice(*KINDS)})


@case(*names("scalar_tensor"))
def scalar_tensor(d: Draw) -> Call:
    return Call([d.choice(2, 1.5)], {"dtype": d.choice(*KINDS)})


@case("aten.eye.default")
def eye(d: Draw) -> Call:
    return Call([d.int(1, 4)])


@case("aten.eye.m")
def eye_m(d: Draw) -> Call:
    return Call([d.int(1, 4), d.int(1, 4)])
