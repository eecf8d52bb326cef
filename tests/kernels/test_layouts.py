"""Networks of several kernels, whose tensors change layouts between them, against PyTorch."""

import pytest

torch = pytest.importorskip("torch")

from gawee_dialect.dialect.graph.conv import ConvOp  # noqa: E402
from gawee_dialect.dialect.graph.elementwise import AddOp, ReluOp  # noqa: E402
from gawee_dialect.dialect.graph.indexing import GatherOp  # noqa: E402
from gawee_dialect.dialect.graph.movement import (  # noqa: E402
    CatOp,
    FlattenOp,
    ReshapeOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.pool import MaxPoolOp  # noqa: E402
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, PadOp, SliceOp  # noqa: E402
from tests.kernels.compiled import WAYS, check, small  # noqa: E402

F = torch.nn.functional
SAME = [1] * 4
HALF = [2, 8, 7, 5]
WEIGHTS = {
    "same": (16, 16, 3, 3),
    "wider": (24, 16, 1, 1),
    "odd": (3, 16, 1, 1),
    "joined": (16, 43, 3, 3),
    "twice": (16, 32, 3, 3),
}


def conv(x, w, **options):
    return ConvOp(x, w, **options).output


def pad(x, low, high, value=0.0):
    return PadOp(x, low=[0, 0, *low], high=[0, 0, *high], mode="constant", value=value).output


def part(x, first):
    return SliceOp(x, offsets=[0, first, 0, 0], sizes=HALF, strides=[1] * 4).output


def overwritten(x, y, first):
    x = x.clone()
    x[:, first : first + 8] = y
    return x


# Each is what follows a convolution that stores channels in blocks: built, and by PyTorch.
CASES = {
    "residual": (
        lambda y, w: ReluOp(AddOp(conv(y, w["same"], padding=SAME), y).output).output,
        lambda y, w: (F.conv2d(y, w["same"], padding=1) + y).relu(),
    ),
    "padding that is returned": (
        lambda y, w: pad(y, (1, 2), (2, 1)),
        lambda y, w: F.pad(y, (2, 1, 1, 2)),
    ),
    "padding read by a convolution and returned": (
        lambda y, w: [p := pad(y, (1, 2), (2, 1)), conv(p, w["same"])],
        lambda y, w: [p := F.pad(y, (2, 1, 1, 2)), F.conv2d(p, w["same"])],
    ),
    "two paddings, and one of another number": (
        lambda y, w: [
            conv(y, w["same"], padding=SAME),
            conv(y, w["same"], padding=[2] * 4, dilations=[2, 2]),
            pad(y, (0, 1), (1, 1), -3.0),
        ],
        lambda y, w: [
            F.conv2d(y, w["same"], padding=1),
            F.conv2d(y, w["same"], padding=2, dilation=2),
            F.pad(y, (1, 1, 0, 1), value=-3.0),
        ],
    ),
    "padding with zeros around padding with others": (
        lambda y, w: conv(pad(y, (1, 1), (1, 1), -3.0), w["same"], padding=SAME),
        lambda y, w: F.conv2d(F.pad(y, SAME, value=-3.0), w["same"], padding=1),
    ),
    "maxima of what is not negative": (
        lambda y, w: (
            MaxPoolOp(ReluOp(y).output, kernel=[3, 3], strides=[2, 2], padding=SAME).output
        ),
        lambda y, w: F.max_pool2d(y.relu(), 3, 2, 1),
    ),
    "maxima of what may be negative": (
        lambda y, w: MaxPoolOp(y, kernel=[3, 3], strides=[2, 2], padding=SAME).output,
        lambda y, w: F.max_pool2d(y, 3, 2, 1),
    ),
    "concatenation of blocks of different sizes": (
        lambda y, w: conv(
            CatOp([conv(y, w["wider"]), y, conv(y, w["odd"])], dim=1).output,
            w["joined"],
            padding=SAME,
        ),
        lambda y, w: F.conv2d(
            torch.cat([F.conv2d(y, w["wider"]), y, F.conv2d(y, w["odd"])], 1),
            w["joined"],
            padding=1,
        ),
    ),
    "concatenation of a tensor with itself": (
        lambda y, w: conv(CatOp([y, y], dim=1).output, w["twice"], padding=SAME),
        lambda y, w: F.conv2d(torch.cat([y, y], 1), w["twice"], padding=1),
    ),
    "concatenation along rows": (
        lambda y, w: conv(CatOp([y, y], dim=2).output, w["same"], padding=SAME),
        lambda y, w: F.conv2d(torch.cat([y, y], 2), w["same"], padding=1),
    ),
    "part of a block at the start of another": (
        lambda y, w: conv(
            InsertSliceOp(y, ReluOp(part(y, 4)).output, offsets=[0] * 4, strides=[1] * 4).output,
            w["same"],
            padding=SAME,
        ),
        lambda y, w: F.conv2d(overwritten(y, y[:, 4:12].relu(), 0), w["same"], padding=1),
    ),
    "part of a block in the middle of another": (
        lambda y, w: (
            InsertSliceOp(
                y, ReluOp(part(y, 0)).output, offsets=[0, 4, 0, 0], strides=[1] * 4
            ).output
        ),
        lambda y, w: overwritten(y, y[:, :8].relu(), 4),
    ),
    "channels shuffled, flattened and gathered": (
        lambda y, w: [
            conv(shuffled(y), w["same"], padding=SAME),
            FlattenOp(y).output,
            GatherOp(y, w["which"], axis=1).output,
        ],
        lambda y, w: [
            F.conv2d(
                y.reshape(2, 2, 8, 7, 5).transpose(1, 2).reshape(y.shape), w["same"], padding=1
            ),
            y.flatten(1),
            y[:, w["which"]],
        ],
    ),
}


def shuffled(y):
    split = ReshapeOp(y, shape=[2, 2, 8, 7, 5]).output
    return ReshapeOp(
        TransposeOp(split, permutation=[0, 2, 1, 3, 4]).output, shape=[2, 16, 7, 5]
    ).output


@pytest.mark.parametrize("way", [WAYS[0], WAYS[3]], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_readers_of_blocked_channels_match_pytorch(name, way):
    build, torch_build = CASES[name]
    x, first = small(0, 2, 16, 7, 5), small(1, 16, 16, 3, 3) / 12
    weights = [small(2, *shape) / 12 for shape in WEIGHTS.values()]
    which = small(3, 3, dtype="int64") % 16

    def network(x, which, first, *rest):
        named = dict(zip(WEIGHTS, rest, strict=True)) | {"which": which}
        return build(conv(x, first, padding=SAME), named)

    tensors = dict(zip(WEIGHTS, map(torch.from_numpy, weights), strict=True))
    y = F.conv2d(torch.from_numpy(x), torch.from_numpy(first), padding=1)
    expected = torch_build(y, tensors | {"which": torch.from_numpy(which)})
    arrays = [x, which, first, *weights]
    check(network, arrays, expected, way, parameters=1 + len(weights), tolerance=1e-4)
