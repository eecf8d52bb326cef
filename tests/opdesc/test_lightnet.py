"""The shipped operators: invocations of each, lowered and run, against PyTorch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.model import Model, load
from gawee_dialect.opdesc.description import Argument, Invocation, ParamValue
from gawee_dialect.opdesc.invocation_graph import invocations_text
from gawee_dialect.opdesc.load import lightnet_dialect
from tests.closeness import assert_allclose

pytest.importorskip("pycparser")
pytest.importorskip("torch")

import torch
from torch.nn import functional as F

Array = NDArray[np.generic]
DTYPES = {"float32": "TL_FLOAT", "int32": "TL_INT32", "uint8": "TL_UINT8", "float64": "TL_DOUBLE"}


@dataclass
class Case:
    """One invocation: its inputs, its outputs' names, and what PyTorch makes of the inputs."""

    optype: str
    inputs: Mapping[str, Array]
    params: Mapping[str, ParamValue]
    expected: Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]
    outputs: Sequence[str] = ("dst",)
    static: frozenset[str] = field(default_factory=frozenset[str])


def random(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def create(name: str, array: Array, static: bool) -> Invocation:
    params: Mapping[str, ParamValue] = {
        "dtype": DTYPES[str(array.dtype)],
        "dims": array.shape,
        "ran": (0, 0),
        "data": (0,),
        "from_file": static,
    }
    return Invocation(name, "create", (), (Argument("dst", name),), params)


def written(folder: Path, case: Case) -> Path:
    ops = [create(name, array, name in case.static) for name, array in case.inputs.items()]
    inputs = [Argument(name, name) for name in case.inputs]
    outputs = [Argument(name, f"out_{name}") for name in case.outputs]
    ops.append(Invocation("node", case.optype, inputs, outputs, case.params))
    (folder / "graph.il").write_text(invocations_text(ops))
    return folder / "graph.il"


def model_of(folder: Path, case: Case) -> Model:
    return load(written(folder, case), {n: a for n, a in case.inputs.items() if n in case.static})


def window(**more: ParamValue) -> dict[str, ParamValue]:
    return {"stride": (2, 1), "padding": (1, 0, 2, 1), "autopad": "NOTSET", **more}


X = random(2, 6, 9, 7)
PAD = (0, 1, 1, 2)  # PyTorch's order: left, right, top, bottom
CONV = {"src": X, "weight": random(4, 3, 3, 2, seed=1), "bias": random(4, seed=2)}
DECONV = {"src": X, "weight": random(6, 2, 3, 2, seed=1), "bias": random(4, seed=2)}
AB = {"src1": random(3, 5), "src2": np.abs(random(3, 5, seed=1)) + 0.5}
KEYS = np.array([5, 3, 9, 1, 7], np.float32)


def same_conv(mode: str) -> Callable[..., torch.Tensor]:
    def run(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        # Height 9, window 3, stride 2: 5 outputs, 2 of padding. Width 7, window 2: 7, 1.
        left, right = (0, 1) if mode == "SAME_UPPER" else (1, 0)
        return F.conv2d(F.pad(x, (left, right, 1, 1)), w, b, stride=(2, 1), groups=2)

    return run


def average(x: torch.Tensor) -> torch.Tensor:
    ones = F.pad(torch.ones_like(x), PAD)
    total = F.avg_pool2d(F.pad(x, PAD), (3, 2), (2, 1), divisor_override=1)
    return total / F.avg_pool2d(ones, (3, 2), (2, 1), divisor_override=1)


def yolo(feature: torch.Tensor, anchors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    cells = feature.reshape(1, 2, 8, 3, 5)
    y, x = torch.meshgrid(torch.arange(3.0), torch.arange(5.0), indexing="ij")
    scores = torch.sigmoid(cells)
    centers = torch.stack((scores[:, :, 0] + x, scores[:, :, 1] + y), 2)
    centers = centers * torch.tensor([160 / 5, 96 / 3]).reshape(1, 1, 2, 1, 1)
    sizes = torch.exp(cells[:, :, 2:4]).clamp(1e-9, 50) * anchors.reshape(1, 2, 2, 1, 1)
    boxes = torch.cat((centers - sizes / 2, centers + sizes / 2), 2)
    return centers, sizes, boxes, scores[:, :, 4:5], scores[:, :, 5:]


def squeeze_det(delta: torch.Tensor, anchor: torch.Tensor) -> torch.Tensor:
    scale, shift = torch.tensor([50 / 40, 30 / 20]), torch.tensor([3.0, -2.0])
    limit = torch.tensor([49.0, 29.0])
    center = (anchor[..., :2] + delta[..., :2] * anchor[..., 2:]) * scale + shift
    grown = delta[..., 2:]
    size = anchor[..., 2:] * torch.where(grown < 1, grown.exp(), grown * torch.e) * scale
    corners = [(center + sign * size / 2).clamp(min=torch.zeros(2), max=limit) for sign in (-1, 1)]
    return torch.cat(corners, -1)


def elementwise(name: str, function: Callable[..., torch.Tensor]) -> Case:
    inputs = AB if name != "TL_POW" else {"src1": AB["src2"], "src2": AB["src1"]}
    return Case("elew", inputs, {"elew_op": name}, function)


CASES = {
    "conv2d": Case(
        "conv2d", CONV, window(group=2, size=(3, 2), dilation=(2, 1)),
        lambda x, w, b: F.conv2d(F.pad(x, PAD), w, b, stride=(2, 1), dilation=(2, 1), groups=2),
    ),
    **{
        mode: Case(
            "conv2d", CONV, window(group=2, size=(3, 2), dilation=(1, 1)) | {"autopad": mode},
            same_conv(mode),
        )
        for mode in ("SAME_UPPER", "SAME_LOWER")
    },
    "VALID": Case(
        "conv2d", CONV, window(group=2, size=(3, 2), dilation=(1, 1)) | {"autopad": "VALID"},
        lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), groups=2),
    ),
    "deconv2d": Case(
        "deconv2d", DECONV,
        window(group=2, size=(3, 2), dilation=(1, 1), output_dims=(0, 0, 0, 0),
               output_padding=(1, 0)) | {"padding": (1, 0, 1, 0)},
        lambda x, w, b: F.conv_transpose2d(x, w, b, (2, 1), (1, 0), (1, 0), 2),
    ),
    "deconv2d to a size": Case(
        "deconv2d", DECONV,
        window(group=2, size=(3, 2), dilation=(1, 1), output_dims=(2, 4, 17, 8),
               output_padding=(0, 0)) | {"autopad": "SAME_UPPER"},
        lambda x, w, b: F.conv_transpose2d(x, w, b, (2, 1), (1, 0), 0, 2),
    ),
    "maxpool2d": Case(
        "maxpool2d", {"src": X}, window(size=(3, 2)),
        lambda x: F.max_pool2d(F.pad(x, PAD, value=-torch.inf), (3, 2), (2, 1)),
    ),
    "avgpool2d": Case("avgpool2d", {"src": X}, window(size=(3, 2)), average),
    "batchnorm": Case(
        "batchnorm",
        {"src": X, "scale": random(6, seed=3), "offset": random(6, seed=4),
         "mean": random(6, seed=5), "var": np.abs(random(6, seed=6)) + 0.5},
        {"epsilon": 0.001},
        lambda x, s, o, m, v: F.batch_norm(x, m, v, s, o, eps=0.001),
    ),
    "bn2scale": Case(
        "bn2scale_wts_cpu",
        {"src_mean": random(5), "src_var": np.abs(random(5, seed=1)) + 0.5,
         "src_scale": random(5, seed=2), "src_offset": random(5, seed=3)},
        {"epsilon": 0.01},
        lambda m, v, s, o: (
            s / torch.sqrt(v + 0.01), o - m * s / torch.sqrt(v + 0.01), torch.ones(5)
        ),
        ("dst_scale", "dst_shift", "dst_power"),
        frozenset(("src_mean", "src_var", "src_scale", "src_offset")),
    ),
    "relu": Case("relu", {"src": X}, {}, torch.relu),
    "lrelu": Case("lrelu", {"src": X}, {"negslope": -0.1}, lambda x: F.leaky_relu(x, -0.1)),
    "sigmoid": Case("sigmoid", {"src": X}, {}, torch.sigmoid),
    "softmax": Case("softmax", {"src": X}, {"axis": 1}, lambda x: torch.softmax(x, 1)),
    "product": elementwise("TL_MUL", torch.mul),
    "quotient": elementwise("TL_DIV", torch.div),
    "sum": elementwise("TL_SUM", torch.add),
    "difference": elementwise("TL_SUB", torch.sub),
    "greater": elementwise("TL_MAX", torch.maximum),
    "less": elementwise("TL_MIN", torch.minimum),
    "power": elementwise("TL_POW", torch.pow),
    "concat": Case(
        "concat", {"src1": random(2, 3, 4), "src2": random(2, 5, 4, seed=1)}, {"axis": 1},
        lambda a, b: torch.cat((a, b), 1),
    ),
    "slice": Case("slice", {"src": X}, {"axis": 2, "start": 1, "len": 5}, lambda x: x[:, :, 1:6]),
    "reshape": Case("reshape", {"src": X}, {"dims": (4, 27, 7)}, lambda x: x.reshape(4, 27, 7)),
    "transpose": Case(
        "transpose", {"src": X}, {"axes": (2, 0, 3, 1)}, lambda x: x.permute(2, 0, 3, 1)
    ),
    "resize": Case(
        "resize", {"src": X}, {"mode": "TL_LINEAR", "dims": (2, 6, 13, 11)},
        lambda x: F.interpolate(x, (13, 11), mode="bilinear"),
    ),
    "upsample": Case(
        "upsample", {"src": X}, {"mode": "TL_NEAREST", "scales": (1, 1, 2, 1.5)},
        lambda x: F.interpolate(x, (18, 10), mode="nearest"),
    ),
    "maxreduce": Case("maxreduce", {"src": X}, {"axis": 3}, lambda x: x.amax(3, keepdim=True)),
    "maxreduce_arg": Case(
        "maxreduce_arg", {"src": X}, {"axis": 1},
        lambda x: (x.amax(1, keepdim=True), x.argmax(1, keepdim=True).int()), ("dst", "arg"),
    ),
    "dot_product": Case("dot_product", AB, {}, lambda a, b: (a * b).sum().reshape(1)),
    "sort1d": Case(
        "sort1d", {"src_key": KEYS}, {"dir": "TL_SORT_DIR_DESCENDING"},
        lambda k: k.sort(descending=True).values, ("dst_key",),
    ),
    "sort1d_by_key": Case(
        "sort1d_by_key", {"src_key": KEYS, "src_val": np.arange(5, dtype=np.int32)},
        {"dir": "TL_SORT_DIR_ASCENDING"}, lambda k, v: (k.sort().values, v[k.sort().indices]),
        ("dst_key", "dst_val"),
    ),
    "pick1d": Case(
        "pick1d", {"src": random(11), "src_index": np.array([2, 0, 3, 1], np.int32)},
        {"len": 3, "stride": 2}, lambda s, i: s[:10].reshape(5, 2)[i[:3].long()].reshape(6),
    ),
    "zeros": Case("zeros", {}, {"dtype": "TL_DOUBLE", "dims": (2, 3)},
                  lambda: torch.zeros(2, 3, dtype=torch.float64)),
    "create": Case(
        "create", {}, {"dtype": "TL_INT32", "dims": (2, 2), "ran": (0, 0), "data": (1, 2, 3, 4),
                       "from_file": False},
        lambda: torch.tensor([[1, 2], [3, 4]], dtype=torch.int32),
    ),
    "arange": Case(
        "arange", {}, {"dtype": "TL_FLOAT", "start": -1, "stop": 1, "step": 0.3},
        lambda: torch.arange(-1, 1, 0.3),
    ),
    "rearange": Case(
        "rearange", {"src": KEYS}, {"start": 2, "stop": 7, "step": 1},
        lambda s: torch.arange(2.0, 7.0),
    ),
    "submean": Case(
        "submean", {"src": np.arange(60, dtype=np.uint8).reshape(4, 5, 3)},
        {"mean": (1.5, 2, 3), "dtype": "TL_FLOAT"},
        lambda s: s.permute(2, 0, 1).float() - torch.tensor([1.5, 2, 3]).reshape(3, 1, 1),
    ),
    "detect_yolov3": Case(
        "detect_yolov3", {"feature": 3 * random(1, 16, 3, 5), "anchors": 9 * AB["src2"][:2, :2]},
        {"img_width": 160, "img_height": 96}, yolo,
        ("box_centers", "box_sizes", "boxes", "confs", "probs"),
    ),
    "transform_bboxSQD": Case(
        "transform_bboxSQD",
        {"src_delta": random(1, 2, 3, 5, 4),
         "src_anchor": np.abs(12 * random(1, 2, 3, 5, 4, seed=1))},
        {"width": 40, "height": 20, "img_width": 50, "img_height": 30, "x_shift": 3,
         "y_shift": -2},
        squeeze_det,
    ),
    "forward": Case("forward", {"src": X}, {}, lambda x: x),
    "ldmr": Case("ldmr", {"src": random(5, 11)}, {}, lambda x: F.pad(x, (0, 5))),
    "svmr": Case("svmr", {"src": random(5, 16)}, {}, lambda x: x),
    "conv1x1_dpu": Case(
        "conv1x1_dpu",
        {"src": random(9, 6), "weight": random(4, 3, 1, 1, seed=1), "bias": random(4, seed=2)},
        {"stride": 2, "padding": (1, 0), "group": 2},
        lambda x, w, b: F.conv1d(F.pad(x.T[None], (1, 0)), w[:, :, 0], b, 2, groups=2)[0].T,
    ),
    "conv3x3_dpu": Case(
        "conv3x3_dpu",
        {**{f"src{row}": random(9, 6, seed=row) for row in (1, 2, 3)},
         "weight": random(4, 3, 3, 3, seed=4), "bias": random(4, seed=5)},
        {"stride": 2, "padding": (1, 1), "group": 2},
        lambda a, b, c, w, bias: F.conv2d(
            F.pad(torch.stack((a.T, b.T, c.T), 1)[None], (1, 1)), w, bias, (1, 2), groups=2
        )[0, :, 0].T,
    ),
}  # fmt: skip


def agree(got: Mapping[str, Array], case: Case) -> None:
    expected = case.expected(*(torch.from_numpy(each.copy()) for each in case.inputs.values()))
    wanted = expected if isinstance(expected, tuple) else (expected,)
    assert [*got] == [f"out_{name}" for name in case.outputs]
    for array, each in zip(got.values(), wanted, strict=True):
        assert array.dtype == each.numpy().dtype
        # Sums in another order: some units in the last place of f32.
        assert_allclose(array, each.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_operator_computes_what_pytorch_does(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    model = model_of(tmp_path, case)
    inputs = {key: value for key, value in case.inputs.items() if key not in case.static}

    agree(model.run(inputs), case)
    agree(model.run(inputs, "linalg"), case)


def test_every_operator_with_a_meaning_is_tested() -> None:
    tested = {case.optype for case in CASES.values()}
    others = {"print", "fprint", "tensorrt"}
    shipped = {op.name.partition(".")[2] for op in lightnet_dialect().operations}

    assert shipped - tested == others


def test_operator_without_a_meaning_is_named_with_its_place(tmp_path: Path) -> None:
    case = Case("tensorrt", {}, {"batch_size": 1}, lambda: (), ())
    reason = (
        r"op cannot be removed by lower-opdesc: expected an operator with a meaning in gawee ops"
    )

    with pytest.raises(GaweeError, match=rf"graph\.il:1:1: error: 'lightnet\.tensorrt' {reason}"):
        model_of(tmp_path, case)


def test_random_data_is_within_its_range_and_the_same_in_every_run(tmp_path: Path) -> None:
    params: Mapping[str, ParamValue] = {
        "dtype": "TL_FLOAT", "dims": (40, 5), "ran": (-2, 3), "data": (0,), "from_file": False,
    }  # fmt: skip
    case = Case("create", {}, params, lambda: ())

    first, second = (model_of(tmp_path, case).run({})["out_dst"] for _ in range(2))

    np.testing.assert_array_equal(first, second)
    assert first.min() > -2
    assert first.max() < 3
    assert first.std() > 1
