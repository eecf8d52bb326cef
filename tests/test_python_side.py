"""What the package shows of itself in Python: names, lines, notebooks, pickles, times."""

import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import gawee_dialect
from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.inspection.drawing import draw
from gawee_dialect.inspection.notebook import svg
from gawee_dialect.model import Model
from gawee_dialect.passes.insertion import after
from tests.closeness import assert_allclose
from tests.loops_level import llvm_module

ROOT = Path(__file__).parents[1]
GRAPH = ROOT / "examples" / "digits" / "graph.json"
IN_AND_OUT = "x: 1x1x8x8 float32 -> fc: 1x10 float32"
COPY = """
func.func @main(%x: memref<3xf32> {gawee.input = "x"}, %y: memref<3xf32> {gawee.output = "y"}) {
  "memref.copy"(%x, %y) : (memref<3xf32>, memref<3xf32>) -> ()
  return
}
"""


@pytest.fixture(scope="module")
def digits() -> Model:
    return gawee_dialect.load(GRAPH)


@pytest.fixture(scope="module")
def image() -> np.ndarray:
    with np.load(GRAPH.parent / "digits_test.npz") as archive:
        return archive["images"][:1]


def test_dir_lists_what_the_package_offers() -> None:
    assert {"load", "Model", "compile_torch", "__version__"} <= set(dir(gawee_dialect))
    assert all(getattr(gawee_dialect, name) is not None for name in dir(gawee_dialect))
    assert gawee_dialect.__version__[0].isdigit()


def test_a_model_is_one_line_and_a_page(digits: Model) -> None:
    nodes = sum(1 for _ in digits.function.body.block.ops) - 1
    numbers = sum(array.size for array in digits.bound.values())
    assert repr(digits) == (
        f"<Model 'digits' at level gawee: {IN_AND_OUT}; {nodes} ops, 14 parameters of {numbers:,} numbers>"
    )
    assert "level linalg" in repr(Model(digits.lowered("linalg"), name="digits"))
    page = digits._repr_html_()
    for part in ("<svg", "gawee.conv", "1 inputs", "14 parameters", "conv1.weight", "gawee.relu"):
        assert part in page
    assert "<script" not in page
    ElementTree.fromstring(page.replace("<details open>", "<details>"))


def test_names_of_a_graph_are_no_markup() -> None:
    text = (
        'func.func @main(%x: tensor<2xf32> {gawee.input = "<b>&x"}) -> tensor<2xf32> {\n'
        "  %y = gawee.relu %x : (tensor<2xf32>) -> tensor<2xf32>\n  return %y : tensor<2xf32>\n}\n"
    )

    page = Model(module_of_text(text))._repr_html_()

    assert "<b>&amp;x" not in page
    assert "&lt;b&gt;&amp;x" in page


def test_a_model_without_an_entry_function_is_shown_too() -> None:
    assert repr(Model(module_of_text(""))) == (
        "<Model 'model' at level gawee: expected a function '@main' or a single function, got no "
        "function>"
    )


def test_a_picture_has_each_box_below_what_it_reads(digits: Model) -> None:
    drawing = draw(digits.view(), weights=False)
    picture = ElementTree.fromstring(svg(drawing))

    boxes = picture.findall("{*}rect")
    lines = picture.findall("{*}line")
    assert (len(boxes), len(lines)) == (len(drawing.boxes), len(drawing.arrows))
    for line in lines:
        assert float(line.attrib["y1"]) < float(line.attrib["y2"])


def test_a_compiled_model_is_one_line_and_a_page(digits: Model) -> None:
    compiled = digits.compile(CodeOptions(num_threads=1))

    assert repr(compiled).startswith(f"<CompiledModel: {IN_AND_OUT}; 1 thread of ")
    assert "14 parameters" in compiled._repr_html_()


def test_a_compiled_model_pickles_as_its_graph_weights_and_options(
    digits: Model, image: np.ndarray
) -> None:
    compiled = digits.compile(CodeOptions(num_threads=1, algorithms="exact"))

    again = pickle.loads(pickle.dumps(compiled))

    np.testing.assert_array_equal(again(image), compiled(image))
    assert again.num_threads == 1
    assert compiled.recipe is not None
    assert str(again.recipe.options) == str(compiled.recipe.options)


def test_another_process_reads_the_pickle(digits: Model, image: np.ndarray, tmp_path: Path) -> None:
    compiled = digits.compile()
    (tmp_path / "digits.pkl").write_bytes(pickle.dumps((compiled, image, compiled(image))))
    script = (
        "import pickle, sys\n"
        "run, image, expected = pickle.load(open(sys.argv[1], 'rb'))\n"
        "assert (run(image) == expected).all()\n"
    )

    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "digits.pkl")], cwd=ROOT, check=True
    )


@dataclass(frozen=True)
class Nothing(ModulePass):
    """A pass of a user's own, which may have been defined anywhere."""

    name = "nothing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


def test_passes_of_ones_own_go_into_the_pickle(digits: Model, image: np.ndarray) -> None:
    compiled = digits.compile(passes=[after("fold-conv-add", Nothing())])

    again = pickle.loads(pickle.dumps(compiled))

    np.testing.assert_array_equal(again(image), compiled(image))


def test_code_without_a_graph_says_why_it_does_not_pickle() -> None:
    with pytest.raises(pickle.PicklingError, match="made of code alone; pickle one that"):
        pickle.dumps(CompiledModel(llvm_module(COPY)))


def test_a_benchmark_has_the_median_and_the_spread(digits: Model, image: np.ndarray) -> None:
    times = digits.benchmark(runs=5, least_seconds=0)
    assert len(times.seconds) == 5
    assert times.best <= times.median <= max(times.seconds)
    assert 0 <= times.spread <= max(times.seconds) - times.best
    assert repr(times).startswith("median ")

    given = digits.benchmark({"x": image}, CodeOptions(num_threads=1), runs=1, least_seconds=0)
    assert (len(given.seconds), given.spread) == (1, 0.0)


def test_a_live_model_becomes_a_model() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.GELU()).eval()
    x = torch.randn(3, 5)

    model = Model.from_torch(net, (x,), name="tiny")

    assert model.name == "tiny"
    (name,) = (each.name for each in model.entry.main.inputs)
    (found,) = model.run({name: x.numpy()}).values()
    # sums of 5 products in another order, and GELU's erf to a few roundings
    assert_allclose(found, net(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_graphs_of_pytorch_and_their_code_are_lines_and_pages() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Linear(5, 7).eval()
    compiled = gawee_dialect.compile_torch(net, (torch.randn(3, 5),))

    assert repr(compiled.ir) == (
        "<NPU_IR 'Linear': input: 3x5 float32 -> addmm: 3x7 float32; 2 ops, 2 parameters of 42 "
        "numbers>"
    )
    assert repr(compiled).startswith("<CompiledTorch 'Linear': input: 3x5 float32 -> ")
    assert "<svg" in compiled._repr_html_() == compiled.ir._repr_html_()
    with pytest.raises(pickle.PicklingError, match="cannot pickle a CompiledTorch: its weights"):
        pickle.dumps(compiled)


@pytest.mark.parametrize("level", ["gawee", "kernels", "llvm"])
def test_inputs_are_an_array_a_tensor_a_list_or_a_mapping(
    digits: Model, image: np.ndarray, level: str
) -> None:
    torch = pytest.importorskip("torch")
    expected = digits.run({"x": image}, level)["fc"]
    tensor = torch.from_numpy(image).requires_grad_()
    for given in (image, [image], {"x": tensor}, tensor, (tensor,), image.astype(np.float64)):
        np.testing.assert_array_equal(digits.run(given, level)["fc"], expected)


@pytest.mark.parametrize("engine", ["native", "interpreter", "aten"])
def test_inputs_of_a_graph_of_pytorch_are_given_alike(engine: str) -> None:
    torch = pytest.importorskip("torch")
    net, x = torch.nn.Linear(3, 5).eval(), torch.randn(2, 3)
    ir = gawee_dialect.extract_ir(net, (x,), strict=False)
    (name,) = (each.name for each in ir.graph_inputs)
    wide = [x.numpy().astype(np.float64)] if engine != "aten" else []  # PyTorch has its own rule
    for given in (x, x.numpy(), [x], {name: x.numpy()}, *wide):
        (found,) = gawee_dialect.execute_ir(ir, given, net.state_dict(), engine=engine)
        # sums of 3 products, in another order
        assert_allclose(np.asarray(found), net(x).detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("level", ["linalg", "llvm"])
def test_a_profile_takes_the_inputs_that_a_run_takes(
    digits: Model, image: np.ndarray, level: str
) -> None:
    wide = [image.astype(np.float64)]
    for given in (image, wide, {"x": image}) if level == "linalg" else (wide,):
        assert "conv1" in {each.node for each in digits.profile(given, level)}
    with pytest.raises(GaweeError, match=r"input 'x'.* shape 1x1x8x8, got 1x1x4x4"):
        digits.profile(image[:, :, :4, :4], level)


def test_a_benchmark_takes_the_inputs_that_a_run_takes(digits: Model, image: np.ndarray) -> None:
    times = digits.benchmark(image, CodeOptions(num_threads=1), runs=1, least_seconds=0)
    assert len(times.seconds) == 1


@pytest.mark.parametrize("level", ["gawee", "llvm"])
def test_inputs_that_do_not_fit_are_told(digits: Model, image: np.ndarray, level: str) -> None:
    with pytest.raises(
        GaweeError, match="expected at most 1 inputs, got 2\nhint: inputs: x; a list"
    ):
        digits.run([image, image], level)
    with pytest.raises(GaweeError, match=r"float32, got str|array or a tensor, got str"):
        digits.run({"x": "x.npy"}, level)
    with pytest.raises(GaweeError, match="float32, got int64"):
        digits.run(image.astype(np.int64), level)


def test_another_batch_than_the_compiled_one_is_told_so(digits: Model, image: np.ndarray) -> None:
    with pytest.raises(GaweeError, match=r"batch of 1; model.compile\(dynamic_batch=True\) makes"):
        digits.compile()(np.repeat(image, 5, axis=0))
    scores = digits.compile(dynamic_batch=True)(np.repeat(image, 5, axis=0))
    assert np.shape(scores) == (5, 10)


def test_a_level_that_there_is_not_is_told_so(digits: Model, image: np.ndarray) -> None:
    message = "unknown level 'llvmm'; supported: gawee, linalg, .*, llvm\nhint: did you mean 'llvm'"
    with pytest.raises(GaweeError, match=message):
        digits.run({"x": image}, level="llvmm")


def test_options_that_are_no_arguments_of_compile_are_told_so(digits: Model) -> None:
    compile = getattr(digits, "compile")
    message = "unexpected argument 'num_threads' of compile\nhint: write "
    with pytest.raises(GaweeError, match=message + r"compile\(CodeOptions\(num_threads=2\)\)"):
        compile(num_threads=2)
    with pytest.raises(
        GaweeError, match="'num_thread' of compile\nhint: did you mean 'num_threads'"
    ):
        compile(num_thread=2)
    with pytest.raises(GaweeError, match="'device' of compile\nhint: options of code: fast_math, "):
        compile(device="cpu")
    with pytest.raises(GaweeError, match=r"expected CodeOptions or None, got str\nhint: compile"):
        compile("fast")


def test_example_inputs_are_a_tuple() -> None:
    torch = pytest.importorskip("torch")
    net, x = torch.nn.Linear(5, 7).eval(), torch.randn(2, 5)
    for take in (Model.from_torch, gawee_dialect.compile_torch):
        with pytest.raises(
            GaweeError,
            match=r"expected a tuple of example inputs, got a tensor\nhint: .* of forward: \(x,\)",
        ):
            take(net, x)


class StateDict:
    """What has the weights of a module of PyTorch."""

    def state_dict(self) -> dict[str, object]:
        return {}


class Proto:
    """What is written as ONNX is."""

    def SerializeToString(self) -> bytes:
        return b""


class NPU_IR:
    """What is called as the graphs of PyTorch are."""


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (StateDict(), r"Model.from_torch\(net, example_inputs\) takes a module of PyTorch"),
        (ModuleOp([]), r"Model\(module, parameters\) takes a module"),
        (NPU_IR(), r"gawee_dialect.pytorch.ir_model\(ir, weights\) takes an NPU_IR"),
        (Proto(), r"onnx.save\(model, 'net.onnx'\), then load\('net.onnx'\)"),
    ],
    ids=["torch", "module", "npu_ir", "onnx"],
)
def test_what_is_no_path_is_told_what_takes_it(given: object, hint: str) -> None:
    message = f"expected the path of a graph, got {type(given).__name__}\nhint: {hint}"
    with pytest.raises(GaweeError, match=message):
        getattr(gawee_dialect, "load")(given)
