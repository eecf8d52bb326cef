"""Models traced by torch.export with `dynamic_shapes`: one graph and one code for all sizes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from gawee_dialect import compile_torch
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.frontends.npu_ir import NPU_IR, SerializationError, extract_ir
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.json_text import ir_text, parse_ir
from gawee_dialect.frontends.onnx.export.model_file import export_onnx
from gawee_dialect.model import Model, load
from gawee_dialect.pytorch.execute import ENGINES, execute_ir
from tests.open_sizes.test_networks import attention, conv_net, mlp

pytest.importorskip("torch")

import torch
from torch.export import Dim
from torch.nn import functional as F

pytestmark = pytest.mark.usefixtures("unoptimized")

Inputs: TypeAlias = "tuple[torch.Tensor, ...]"


class Positions(torch.nn.Module):
    """Counts rows, cuts and joins them: what forms of sizes are made of."""

    def __init__(self) -> None:
        super().__init__()
        self.word = torch.nn.Embedding(11, 6)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.word(ids)
        batch, length, _ = x.shape
        places = torch.arange(length) + torch.arange(3, length + 3)
        x = x + places[None, :, None] + mask[:, :, None]
        pairs = x.reshape(batch * length, 3, 2).transpose(1, 2).reshape(batch, length * 6)
        later = torch.cat([x[:, 1:], x[:, -1:], x[:, :1]], 1)
        return pairs.cumsum(1), later[:, : length - 1]


class Resized(torch.nn.Module):
    """Halves an image, and brings what it computes back to the image's size in every way."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 5, 3, stride=2, padding=1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        small, size = self.conv(x), x.shape[2:]
        return (
            F.interpolate(small, size, mode="bilinear"),
            F.interpolate(small, size, mode="bilinear", align_corners=True),
            F.interpolate(small, (size[0], 9), mode="bicubic"),
            F.interpolate(x, (7, small.shape[3]), mode="nearest"),
            F.interpolate(small, size, mode="nearest-exact"),
            F.interpolate(small, scale_factor=2, mode="nearest"),
            F.interpolate(small, scale_factor=(3.0, 2.0), mode="bilinear"),
        )


class Joined(torch.nn.Module):
    """Joins channels that a padded convolution reads, and takes means of windows."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = torch.nn.Conv2d(3, 16, 1), torch.nn.Conv2d(3, 32, 3, padding=1)
        self.both = torch.nn.Conv2d(48, 16, 3, padding=1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        both = torch.cat([self.left(x), self.right(x)], 1)
        return (
            F.avg_pool2d(self.both(both).relu(), 2),
            F.avg_pool2d(both, 3, 2, padding=1),
            F.avg_pool2d(both, 3, 1, padding=1, count_include_pad=False),
        )


class Bins(torch.nn.Module):
    """Pools to so many bins, whatever the size."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        pooled = [F.adaptive_avg_pool2d(x, (3, 7)), F.adaptive_max_pool2d(x, 5)]
        return *pooled, F.adaptive_max_pool2d(x, (2, 1))


class ChannelsLast(torch.nn.Module):
    """The mean of an image, whose memory PyTorch describes by `as_strided`."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.adaptive_avg_pool2d(x.permute(0, 3, 1, 2), 1).flatten(1)


def tokens(batch: int, length: int) -> Inputs:
    return torch.randint(0, 11, (batch, length)), torch.randn(batch, length)


BATCH, LENGTH = Dim("batch", min=1, max=9), Dim("length", min=3, max=24)
BOTH = {0: BATCH, 1: LENGTH}
IMAGES = {0: BATCH, 2: 2 * Dim("height", min=2, max=9), 3: 2 * Dim("width", min=2, max=11)}
Network: TypeAlias = (
    "tuple[Callable[[], torch.nn.Module], Callable[..., Inputs], object, list[tuple[int, ...]]]"
)
NETWORKS: dict[str, Network] = {
    "mlp": (mlp, lambda b: (torch.randn(b, 20),), ({0: BATCH},), [(1,), (9,), (4,), (7,), (2,)]),
    "conv_net": (
        *(conv_net, lambda b: (torch.randn(b, 3, 13, 11),), ({0: BATCH},)),
        [(1,), (9,), (4,), (7,), (2,)],
    ),
    **{
        net.__name__.lower(): (
            *(net, lambda b, h, w: (torch.randn(b, 3, 2 * h, 2 * w),), (IMAGES,)),
            [(1, 2, 2), (9, 9, 11), (2, 3, 7), (4, 8, 5), (7, 5, 4)],
        )
        for net in (Resized, Joined, Bins)
    },
    "channels_last": (
        *(ChannelsLast, lambda b: (torch.randn(b, 5, 7, 3),), ({0: BATCH},)),
        [(1,), (9,), (4,), (7,), (2,)],
    ),
    "attention": (
        *(attention, lambda b, t: (torch.randn(b, t, 24),), {"x": BOTH}),
        [(1, 3), (3, 24), (2, 7), (9, 19), (3, 4)],
    ),
    "positions": (
        *(Positions, tokens, {"ids": BOTH, "mask": BOTH}),
        [(1, 3), (3, 24), (2, 7), (9, 19), (3, 4)],
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_one_code_computes_what_pytorch_does(name: str) -> None:
    make, inputs, shapes, points = NETWORKS[name]
    torch.manual_seed(0)
    net = make().eval()
    given = inputs(*(3 + at for at in range(len(points[0]))))

    compiled = compile_torch(net, given, dynamic_shapes=shapes)

    for sizes in points:
        x = inputs(*sizes)
        with torch.no_grad():
            expected = net(*x)
        # Sums of some hundred products in float32, in another order.
        torch.testing.assert_close(compiled(*x), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(GaweeError, match="expected size 'batch' of 1 to 9, got 10"):
        compiled(*inputs(10, *points[0][1:]))


@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "bins"])  # not in ONNX
def test_as_onnx_it_has_the_names_and_runs_at_all_sizes(tmp_path: Path, name: str) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    make, inputs, shapes, points = NETWORKS[name]
    torch.manual_seed(0)
    net = make().eval()
    given = inputs(*(3 + at for at in range(len(points[0]))))
    module = import_ir(extract_ir(net, given, strict=False, dynamic_shapes=shapes))
    weights = {name: each.numpy() for name, each in net.state_dict().items()}
    path = tmp_path / "net.onnx"
    path.write_bytes(export_onnx(module, weights))

    assert load(path).sizes == Model(module).sizes
    session = runtime.InferenceSession(path)
    names = [each.name for each in session.get_inputs()]
    for sizes in points:
        x = inputs(*sizes)
        with torch.no_grad():
            expected = net(*x)
        found = session.run(None, {n: each.numpy() for n, each in zip(names, x, strict=True)})
        wanted = expected if isinstance(expected, tuple) else (expected,)
        for ours, theirs in zip(found, wanted, strict=True):
            # Sums of some hundred products in float32, in another order.
            torch.testing.assert_close(torch.from_numpy(ours), theirs, rtol=1e-4, atol=1e-5)


def extracted() -> NPU_IR:
    with torch.device("meta"):
        net, inputs = Positions().eval(), tokens(3, 5)
    return extract_ir(net, inputs, dynamic_shapes={"ids": BOTH, "mask": BOTH})


def test_a_file_says_the_sizes_and_is_read_as_the_same_graph() -> None:
    ir = extracted()
    text = ir_text(ir)
    root = json.loads(text)

    assert root["sizes"] == {"batch": "1 to 9", "length": "3 to 24"}
    assert root["graph_inputs"][0]["shape"] == ["batch", "length"]
    sizes = [node["attrs"]["size"] for node in root["nodes"] if "size" in node["attrs"]]
    assert [{"size": "batch * length"}, 3, 2] in sizes
    again = parse_ir(text, "net.json")
    assert again == ir
    assert ir_text(again) == text
    assert str(import_ir(again)) == str(import_ir(ir))
    assert Model(import_ir(again)).sizes == {"batch": "1 to 9", "length": "3 to 24"}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_takes_the_sizes_of_its_inputs(engine: str) -> None:
    torch.manual_seed(0)
    net, inputs = Positions().eval(), tokens(2, 7)
    with torch.no_grad():
        expected = net(*inputs)

    made = execute_ir(extracted(), inputs, net.state_dict(), engine=engine)

    torch.testing.assert_close(made, expected, rtol=1e-4, atol=1e-5)  # sums of up to 42 terms


def test_a_size_without_a_name_is_called_by_its_input_and_axis() -> None:
    net = torch.nn.Linear(4, 3)
    ir = extract_ir(
        net, (torch.randn(3, 5, 4),), strict=False, dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},)
    )

    assert list(map(str, ir.graph_inputs[0].shape)) == ["input_0", "input_1", "4"]


def test_a_multiple_of_a_size_is_its_form() -> None:
    half = Dim("half", min=1, max=8)
    net = torch.nn.Linear(4, 3)

    ir = extract_ir(net, (torch.randn(6, 4),), strict=False, dynamic_shapes=({0: 2 * half},))

    (shape,) = {each.shape for each in ir.graph_inputs}
    assert isinstance(shape[0], OpenSize)
    assert str(shape[0]) == "2 * half"


class Thirds(torch.nn.Module):
    """Leaves a third of the rows out: of sizes from 1 on, how many that are is no form."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[x.shape[0] // 3 :]


def test_a_range_for_which_a_model_does_something_else_is_named() -> None:
    longer = Dim("length", min=2, max=24)

    with pytest.raises(GaweeError, match=r"Not all values of length = .* in the specified range"):
        compile_torch(
            Positions(), tokens(3, 5), dynamic_shapes={"ids": {1: longer}, "mask": {1: longer}}
        )


def test_a_size_that_is_no_form_is_refused_at_its_line() -> None:
    sizes = ({0: Dim("rows", min=1, max=9)},)

    with pytest.raises(GaweeError, match=r"test_from_pytorch.py:\d+:1: error: unsupported size"):
        compile_torch(Thirds(), (torch.randn(6, 4),), dynamic_shapes=sizes)


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ('"batch": "1 to 9"', '"batch": "9 to 1"', "expected the range of size 'batch' to begin"),
        ('"batch": "1 to 9"', '"batch": 9', "expected 'sizes' of graph to map names to ranges"),
        (
            '["batch", "length"]',
            '["batch", "2 long"]',
            "'shape' of 'graph_inputs.0.' .* got '2 long'",
        ),
        ('["batch", "length"]', '["batch", null]', "'shape' of 'graph_inputs.0.' .* got none"),
        (
            '["batch", "length"]',
            '["batch", "rows"]',
            "got 'rows'\nhint: unknown size 'rows'; 'sizes' of the graph: batch, length",
        ),
        ('{"size": "batch * length"}', '{"size": "batch *"}', "'attrs' of node 'view.*': expected"),
    ],
)
def test_a_size_that_cannot_be_read_is_located(was: str, now: str, message: str) -> None:
    text = ir_text(extracted())
    assert was in text

    with pytest.raises(SerializationError, match=rf"net.json:\d+:\d+: error: .*{message}"):
        parse_ir(text.replace(was, now, 1), "net.json")


def last_replaced(x: torch.Tensor) -> torch.Tensor:
    return torch.select_scatter(x, torch.arange(x.shape[0]) * 1.0, 1, -1)


FROM_ONE: dict[str, Callable[[torch.Tensor], torch.Tensor | tuple[torch.Tensor, ...]]] = {
    "cumsum": lambda x: (x.cumsum(0), x.cumsum(1)),
    "flip": lambda x: x.flip(0, 1),
    "roll": lambda x: x.roll(1, 1),
    "select": lambda x: (x[:, -1], x[-1], x[0]),
    "select_scatter": last_replaced,
    "var": lambda x: (x.var(1), x.std(0), x.var((0, 1), correction=0)),
}


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("name", FROM_ONE)
def test_sizes_may_begin_at_one(name: str) -> None:
    class Function(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
            return FROM_ONE[name](x)

    torch.manual_seed(1)
    sizes = ({0: Dim("rows", min=1, max=9), 1: Dim("columns", min=1, max=20)},)
    compiled = compile_torch(Function(), (torch.randn(3, 5),), dynamic_shapes=sizes)

    for shape in ((1, 1), (9, 20), (1, 7), (4, 1), (5, 6)):
        x = torch.randn(*shape)
        # Sums of f32 in another order; one row has no variance.
        torch.testing.assert_close(
            compiled(x), FROM_ONE[name](x), rtol=1e-5, atol=1e-6, equal_nan=True
        )


def test_what_needs_a_number_says_which_size_is_open() -> None:
    class Transformed(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.fft.fft(x, dim=0).real

    sizes = ({0: Dim("rows", min=1, max=9)},)
    with pytest.raises(GaweeError, match=r"'aten._fft.*' node expected a number, got .*rows"):
        compile_torch(Transformed(), (torch.randn(3, 5),), dynamic_shapes=sizes)
