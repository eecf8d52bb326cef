"""Extraction: the graph computes what the model does, the format says all of it, errors say where."""

import json
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from torch._higher_order_ops.map import map
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir import (
    NPU_IR,
    ConversionError,
    ExportError,
    bind_weights,
    extract_ir,
    pytorch,
    validate_ir,
)
from gawee_dialect.frontends.npu_ir.convert import Unsayable, encode
from gawee_dialect.frontends.npu_ir.extract import NoDataWarning
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.ir import WeightLoadError
from gawee_dialect.frontends.npu_ir.json_text import ir_text, parse_ir
from gawee_dialect.locations import node_name
from gawee_dialect.pytorch.aten_engine import infer_with_pytorch
from tests.frontends.npu_ir import models
from tests.frontends.npu_ir.running import run_with_pytorch

MODELS = {
    "mlp": (models.SimpleMLP, lambda: torch.randn(3, 784)),
    "attention": (models.SelfAttention, lambda: torch.randn(2, 16, 64)),
    "norms": (models.Norms, lambda: torch.randn(2, 3, 4, 5)),
    "pieces": (models.Pieces, lambda: torch.randn(2, 7, 3)),
    "lifted": (models.Lifted, lambda: torch.randn(3, 4)),
    "modes": (models.Modes, lambda: torch.randn(3, 4)),
    "viewed_attention": (models.ViewedAttention, lambda: torch.randn(30, 4)),
    "tied": (models.Tied, lambda: torch.tensor([[1, 5, 9], [0, 10, 2]])),
}


def extracted(name: str, *, decompose: bool) -> NPU_IR:
    """Extract a model on the meta device."""
    make, inputs = MODELS[name]
    with torch.device("meta"):
        model = make().eval()
    return extract_ir(model, (inputs().to("meta"),), decompose=decompose)


@pytest.mark.parametrize("decompose", [False, True], ids=["raw", "decomposed"])
@pytest.mark.parametrize("name", MODELS)
def test_a_graph_computes_what_its_model_does(name: str, decompose: bool):
    ir = parse_ir(ir_text(extracted(name, decompose=decompose)))
    torch.manual_seed(7)
    make, inputs = MODELS[name]
    model, x = make().eval(), inputs()

    with torch.no_grad():
        expected = model(x)
    got = run_with_pytorch(ir, model.state_dict(), [x])

    expected = expected if isinstance(expected, tuple) else (expected,)
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        # The same ops in another grouping: rounding differs in the last bits.
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("decompose", [False, True], ids=["raw", "decomposed"])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_written_is_read_again_and_agrees_with_its_ops(name: str, decompose: bool):
    ir = extracted(name, decompose=decompose)
    text = ir_text(ir)

    again = parse_ir(text)

    assert again == ir
    assert ir_text(again) == text
    json.loads(text, parse_constant=pytest.fail)
    validate_ir(again, infer_with_pytorch)


def test_optional_tensors_that_are_none_are_nulls():
    ir = extracted("norms", decompose=False)
    batch, layer = (node for node in ir.nodes if "norm" in node.op_type)

    assert {key: batch.attrs[key] for key in ("weight", "bias")} == {"weight": None, "bias": None}
    assert layer.attrs["weight"] is None
    assert "bias" not in layer.attrs
    assert [len(batch.inputs), len(layer.inputs)] == [3, 2]


def test_modes_are_inlined_and_their_names_stay_apart():
    ir = extracted("modes", decompose=False)

    assert [node.op_type.split(".")[1] for node in ir.nodes if node.op_type.startswith("aten")] == [
        "mul", "transpose", "matmul", "sort", "add",
    ]  # fmt: skip
    assert len({node.name for node in ir.nodes}) == len(ir.nodes)


def test_constants_come_with_their_data_and_weights_without():
    ir = extracted("lifted", decompose=False)

    assert {each.data.tolist().__str__() for each in ir.constants.values()} == {
        "[0.5, -0.5, 1.5, 2.5]",
        "[2, 0]",
    }
    assert {"fc.weight", "mask", "unused.num_batches_tracked"} <= {each.name for each in ir.weights}
    assert ir.weight_name_mapping["p_fc_weight"] == "fc.weight"


def test_nodes_know_the_line_of_the_model():
    place = extracted("pieces", decompose=True).nodes[0].place

    assert place is not None
    assert Path(place[0]).name == "models.py"
    assert "x.split(" in Path(place[0]).read_text().splitlines()[place[1] - 1]


def test_tied_weights_need_one_of_their_names():
    ir = extracted("tied", decompose=False)
    model = models.Tied()
    weights = {name: each.detach().numpy() for name, each in model.state_dict().items()}

    assert [each.name for each in ir.weights] == ["embed.weight"]
    assert set(ir.weight_name_mapping.values()) == {"embed.weight"}
    assert list(bind_weights(ir, weights)) == ["embed.weight"]


def test_kept_ops_are_not_taken_apart():
    with torch.device("meta"):
        model, x = torch.nn.Linear(4, 3), torch.randn(2, 4)

    kept = extract_ir(model, (x,), keep=["aten.linear"])

    assert [node.op_type for node in kept.nodes] == ["aten.linear.default"]
    assert len(extract_ir(model, (x,)).nodes) > 1


def test_the_models_own_tensors_are_back_afterwards():
    with torch.device("meta"):
        model = models.SelfAttention()
    before = dict(model.named_parameters())

    extract_ir(model, (torch.randn(2, 16, 64, device="meta"),))

    assert all(each is before[name] for name, each in model.named_parameters())


def test_strict_wants_everything_on_meta_and_says_how():
    model = models.Lifted().eval()

    with pytest.raises(ExportError) as raised:
        extract_ir(model, (torch.randn(3, 4),))

    assert (
        "expected weights and inputs on the meta device, got parameter 'fc.weight' on 'cpu'"
        in str(raised.value)
    )
    assert ", and 4 more" in str(raised.value)
    assert 'with torch.device("meta")' in str(raised.value)
    assert "input 0" not in str(raised.value)
    assert extract_ir(model, (torch.randn(3, 4),), strict=False).model_name == "Lifted"


def refused(error: type[Exception], model: torch.nn.Module, *, decompose: bool = True) -> str:
    with torch.device("meta"):
        x = torch.randn(3, 4)
    with pytest.raises(error) as raised:
        extract_ir(model.to("meta").eval(), (x,), decompose=decompose)
    return str(raised.value)


def line_of(text: str) -> str:
    """Return `models.py:<line>` of a text in the models."""
    lines = Path(models.__file__).read_text().splitlines()
    return f"models.py:{next(i for i, line in enumerate(lines, 1) if text in line)}:1: error: "


def test_control_flow_on_data_is_refused_with_its_line(capfd: pytest.CaptureFixture[str]):
    message = refused(ExportError, models.Branches())

    assert (
        line_of("# the line that the error names") + "expected control flow that does not"
        in message
    )
    assert capfd.readouterr().err == ""


def test_a_shape_that_depends_on_data_is_refused_with_its_node():
    message = refused(ConversionError, models.Dynamic())

    assert line_of("x.nonzero()") in message
    assert re.search(r"dynamic shape u0x2 in node 'nonzero'", message)


def test_all_calls_that_cannot_be_said_are_refused_at_once():
    class Several(torch.nn.Module):
        def forward(self, x: torch.Tensor):
            rows = x.nonzero().float().sum(0)  # depends on a shape that is not known
            return rows, x[x > 0] * 2, torch.unique(x)

    message = refused(ConversionError, Several())

    assert message.count("error: ") == 3
    assert "dynamic shape u0x2 in node 'nonzero'" in message
    assert "dynamic shape u1 in node 'index'" in message
    assert "dynamic shape u2 in node '_unique2'" in message


def test_a_number_that_depends_on_data_is_refused():
    message = refused(ConversionError, models.Reads())

    assert (
        line_of(".item()")
        + "expected 'aten._local_scalar_dense.default' to return tensors, got a number"
        in message
    )


def test_changed_buffers_are_refused():
    message = refused(ConversionError, models.Counts())

    assert (
        "expected a model that changes no buffer, constant or input, got changes of 'count'"
        in message
    )


def test_errors_of_the_model_itself_are_located():
    class Wrong(torch.nn.Module):
        missing: torch.nn.Module

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.missing(x)

    message = refused(ExportError, Wrong())

    assert "test_extraction.py" in message
    assert "cannot export the model: AttributeError: 'Wrong' object has no attribute" in message


def test_other_control_flow_ops_are_refused_by_name():
    class Rows(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return map(lambda row, *_: row + 1, x)

    assert "unsupported higher-order op 'map_impl'; supported: cond, while_loop, wrap_with" in (
        refused(ConversionError, Rows())
    )


def test_raw_autocast_is_refused_and_decomposed_autocast_is_casts():
    class Cast(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return x @ x.T

    assert "unsupported autocast in a graph that is not decomposed" in refused(
        ConversionError, Cast(), decompose=False
    )
    ir = extract_ir(Cast(), (torch.randn(3, 4, device="meta"),))
    assert ir.graph_outputs[0].dtype == "bfloat16"
    assert {"dtype": "torch.bfloat16"} in [node.attrs for node in ir.nodes]


def test_constants_without_data_are_warned_of_and_asked_for_later():
    with torch.device("meta"):
        model, x = models.Attribute(), torch.randn(3, 4)

    with pytest.warns(NoDataWarning) as warned:
        ir = extract_ir(model, (x,))

    texts = [str(each.message) for each in warned]
    assert any(text.startswith("constant 'table' has no data on the meta device") for text in texts)
    assert any(
        text.startswith("buffer 'frequencies' is not persistent and has no data") for text in texts
    )
    with pytest.raises(
        WeightLoadError,
        match=r"expected weights to have 'table' \('c_table' in the graph\), got none\nhint: it was made on the meta",
    ):
        bind_weights(ir, {})
    real = models.Attribute()
    given = {"table": real.table * 3, "frequencies": real.frequencies}
    y = torch.randn(3, 4)
    torch.testing.assert_close(run_with_pytorch(ir, given, [y])[0], y * 3 + 1, rtol=0, atol=0)


def test_buffers_that_no_state_dict_has_travel_with_the_graph():
    model, x = models.Attribute().eval(), torch.randn(3, 4)

    ir = extract_ir(model, (x,), strict=False)

    assert set(ir.constants) == {"table", "frequencies"}
    torch.testing.assert_close(
        run_with_pytorch(ir, model.state_dict(), [x])[0], model(x), rtol=0, atol=0
    )


def test_arguments_that_the_format_cannot_say_are_refused():
    shapes = ShapeEnv()

    with pytest.raises(Unsayable, match="expected argument 'size' to be static, got 'u0'"):
        encode([2, shapes.create_unbacked_symint()], "size")
    with pytest.raises(Unsayable, match="unsupported argument 'value' of type Generator"):
        encode(torch.Generator(), "value")
    assert encode(1 - 2j, "value") == {"real": 1.0, "imag": -2.0}


def test_without_pytorch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    pytorch.torch.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    try:
        with pytest.raises(
            GaweeError, match="expected PyTorch to be installed, got no module 'torch'\nhint: pip"
        ):
            pytorch.torch()
    finally:
        pytorch.torch.cache_clear()


class Residual(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 3, 3, padding=1)
        self.relu = torch.nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.relu(self.relu(self.conv(x)) + x)


@pytest.mark.parametrize("decompose", [False, True])
def test_nodes_tell_the_module_that_calls_them_and_differ(decompose: bool, tmp_path: Path) -> None:
    with torch.device("meta"):
        model = torch.nn.Sequential(Residual(), Residual()).eval()
        ir = extract_ir(model, (torch.randn(2, 3, 5, 4),), decompose=decompose)
    ir.save(tmp_path / "model.json")

    for graph in (ir, NPU_IR.load(tmp_path / "model.json")):
        ops = [op for op in import_ir(graph).walk() if op.name.startswith("gawee.")]
        names = [node_name(op.location) or "" for op in ops]
        assert len({*names}) == len(names)
        assert [name.rsplit(".", 1)[0] for name in names] == [
            *("0.conv", "0.relu", "0", "0.relu"),
            *("1.conv", "1.relu", "1", "1.relu"),
        ]
        assert not any("built-in" in name for name in names)


@pytest.mark.parametrize("decompose", [True, False])
def test_nodes_are_named_by_module_and_op_and_differ(decompose: bool) -> None:
    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.act = torch.nn.ReLU()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.act(x) + self.act(-x)

    ir = extract_ir(Twice().eval(), (torch.zeros(2, 3, device="meta"),), decompose=decompose)

    names = [node.qualified_name for node in ir.nodes]
    assert len(set(names)) == len(names) == 4
    assert [name for name in names if name.startswith("act.relu")] == ["act.relu", "act.relu_1"]
    assert not any("<" in name for name in names)
