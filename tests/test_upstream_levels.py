"""Every level of five networks as text for stock `mlir-opt` and `xdsl-opt`, with the flags that docs/linalg.md says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.xdsl_opt_main import xDSLOptMain

from examples.unet.write_graph import write_unet
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect import GAWEE
from gawee_dialect.dialect.irdl_text import irdl_text
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.levels import Level, lower_to
from gawee_dialect.model import load
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.passes.pipelines import buffers_to_loops, loops_to_llvm, to_kernels, to_loops
from gawee_dialect.passes.tensors.bufferize import Bufferize
from gawee_dialect.universe import make_context
from tests.closeness import assert_allclose
from tests.effort import full_run
from tests.upstream_loops import UpstreamLoops
from tests.upstream_mlir import requires_upstream, run_mlir_opt, run_mlir_translate

DIGITS = Path(__file__).parent.parent / "examples" / "digits" / "graph.json"

TRANSFORMER = """
func.func @main(%x: tensor<1x6x16xf32>, %w: tensor<16x16xf32> {gawee.parameter = "w"},
    %g: tensor<16xf32> {gawee.parameter = "g"}, %b: tensor<16xf32> {gawee.parameter = "b"},
    %q: tensor<1x2x6x8xf32>) -> tensor<1x6x16xf32> {
  %n = gawee.layer_norm %x scale %g : tensor<16xf32> bias %b : tensor<16xf32> normalized_rank 1
    eps 1.000000e-05 : tensor<1x6x16xf32>
  %a = gawee.attention %q, %q, %q scale 5.000000e-01 causal
    : (tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32>
  %f = gawee.flatten %a start_dim 1 end_dim -1 : (tensor<1x2x6x8xf32>) -> tensor<1x96xf32>
  %m = gawee.matmul %n, %w bias %b
    : (tensor<1x6x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<1x6x16xf32>
  %u = gawee.gelu %m approximate "none" : (tensor<1x6x16xf32>) -> tensor<1x6x16xf32>
  %s = gawee.softmax %u axis 2 : (tensor<1x6x16xf32>) -> tensor<1x6x16xf32>
  %y = gawee.add %x, %s : (tensor<1x6x16xf32>, tensor<1x6x16xf32>) -> tensor<1x6x16xf32>
  return %y : tensor<1x6x16xf32>
}
"""

SEPARABLE = """
func.func @main(%x: tensor<1x6x9x7xf32>, %d: tensor<6x1x3x3xf32> {gawee.parameter = "d"},
    %p: tensor<5x6x1x1xf32> {gawee.parameter = "p"}) -> tensor<1x11x18x14xf32> {
  %0 = gawee.conv %x, %d strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 6
    : (tensor<1x6x9x7xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x9x7xf32>
  %1 = gawee.silu %0 : (tensor<1x6x9x7xf32>) -> tensor<1x6x9x7xf32>
  %2 = gawee.conv %1, %p strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<1x6x9x7xf32>, tensor<5x6x1x1xf32>) -> tensor<1x5x9x7xf32>
  %3 = gawee.cat %2, %x dim 1
    : (tensor<1x5x9x7xf32>, tensor<1x6x9x7xf32>) -> tensor<1x11x9x7xf32>
  %4 = gawee.interpolate %3 size [18, 14] mode "nearest"
    : (tensor<1x11x9x7xf32>) -> tensor<1x11x18x14xf32>
  return %4 : tensor<1x11x18x14xf32>
}
"""

RECURRENT = """
func.func @main(%x: tensor<3x5xf32>, %h: tensor<3x7xf32>, %w: tensor<7x5xf32>
    {gawee.parameter = "w"}, %u: tensor<7x7xf32> {gawee.parameter = "u"}) -> tensor<3x7xf32> {
  %0 = gawee.matmul %x, %w : (tensor<3x5xf32>, tensor<7x5xf32>) -> tensor<3x7xf32>
  %1 = gawee.matmul %h, %u : (tensor<3x7xf32>, tensor<7x7xf32>) -> tensor<3x7xf32>
  %2 = gawee.add %0, %1 : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  %3 = gawee.sigmoid %2 : (tensor<3x7xf32>) -> tensor<3x7xf32>
  %4 = gawee.tanh %2 : (tensor<3x7xf32>) -> tensor<3x7xf32>
  %5 = gawee.mul %3, %4 : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return %5 : tensor<3x7xf32>
}
"""


def _text(text: str) -> Callable[[Path], ModuleOp]:
    return lambda _: parse_mlir(make_context(), text, "in.mlir")


def unet(folder: Path) -> Path:
    # Its encoder is a ResNet; the end of one, a mean and a product, is that of the digits' network.
    return write_unet(folder, seed=1, size=32, width=4, blocks=(1, 1, 1, 1))


NETWORKS: dict[str, Callable[[Path], ModuleOp]] = {
    "digits": lambda _: load(DIGITS).module,
    "unet": lambda folder: load(unet(folder)).module,
    "transformer": _text(TRANSFORMER),
    "separable": _text(SEPARABLE),
    "recurrent": _text(RECURRENT),
}


TRIED = [pytest.param(name, marks=full_run if name == "unet" else ()) for name in NETWORKS]
"""Networks of tests, the one that takes long in the full run alone."""


@dataclass(frozen=True)
class Text:
    """A module's text in two forms, as `gawee-opt` prints it without and with
    `--mlir-print-op-generic`."""

    custom: str
    generic: str


@cache
def levels_of(network: str) -> Mapping[str, Text]:
    """Print a network at every level: by way of kernels, and by `--gawee-to-loops` and `-to-llvm`."""
    with TemporaryDirectory() as folder:
        graph = NETWORKS[network](Path(folder))
    kernels, scalars = graph.clone(), graph.clone()
    texts = {"graph": printed(graph), "linalg": printed(lower_to(graph, Level.LINALG))}
    options = CodeOptions()
    for level, passes in (
        ("kernels", to_kernels(options)),
        ("buffers", (Bufferize(),)),
        ("loops", buffers_to_loops(kernels=True)),
        ("llvm", loops_to_llvm()),
    ):
        run_passes(make_context(), kernels, passes)
        texts[level] = printed(kernels)
    for level, passes in (("plain loops", to_loops()), ("plain llvm", loops_to_llvm())):
        run_passes(make_context(), scalars, passes)
        texts[level] = printed(scalars)
    return texts


def printed(module: ModuleOp) -> Text:
    return Text(print_mlir(module), print_mlir(module, generic=True))


@requires_upstream
@pytest.mark.parametrize("network", TRIED)
@pytest.mark.parametrize("level", ["linalg", "loops", "llvm", "plain loops", "plain llvm"])
def test_stock_mlir_opt_reads_what_is_printed(network: str, level: str) -> None:
    text = levels_of(network)[level]

    run_mlir_opt(text.custom)
    run_mlir_opt(text.generic)
    if "llvm" in level:
        run_mlir_translate(text.custom)


@requires_upstream
@pytest.mark.parametrize("network", TRIED)
@pytest.mark.parametrize("level", ["graph", "kernels", "buffers"])
def test_stock_mlir_opt_reads_the_generic_form(network: str, level: str, irdl: Path) -> None:
    text = levels_of(network)[level].generic

    run_mlir_opt(text, "--allow-unregistered-dialect")
    if level == "graph" and network not in OF_MANY_TYPES:
        run_mlir_opt(text, f"--irdl-file={irdl}")


OF_MANY_TYPES = ("unet", "separable")
"""Networks with a `gawee.cat` of several types, which IRDL cannot say."""


@pytest.fixture
def irdl(tmp_path: Path) -> Path:
    path = tmp_path / "gawee.irdl"
    path.write_text(irdl_text(GAWEE))
    return path


XDSL_READS = {
    "graph": (False, []),
    "kernels": (False, []),
    "buffers": (False, []),
    "linalg": (True, ["--allow-unregistered-dialect"]),
    "plain loops": (False, []),
    "plain llvm": (True, ["--allow-unregistered-dialect"]),
}
"""Of each level whether the generic form is needed, and which flags."""


@pytest.mark.parametrize("network", TRIED)
def test_plain_xdsl_opt_reads_what_is_printed(network: str, tmp_path: Path) -> None:
    for level, (generic, flags) in XDSL_READS.items():
        text, path = levels_of(network)[level], tmp_path / "in.mlir"
        path.write_text(text.generic if generic else text.custom)
        xDSLOptMain(args=[str(path), *flags, "-o", str(tmp_path / "out.mlir")]).run()

        assert (tmp_path / "out.mlir").read_text().strip(), level


@pytest.mark.parametrize("network", TRIED)
def test_no_stack_buffer_is_allocated_in_a_loop(network: str) -> None:
    """Check by indentation: no `memref.alloca` directly in a sequential loop."""
    open_lines: list[str] = []
    for line in levels_of(network)["loops"].custom.splitlines():
        indent = len(line) - len(line.lstrip())
        open_lines = [each for each in open_lines if len(each) - len(each.lstrip()) < indent]
        if "memref.alloca" in line:
            assert "scf.for" not in open_lines[-1], line
        open_lines.append(line)


@requires_upstream
def test_unet_by_upstream_from_our_loops_agrees_with_the_graph(tmp_path: Path) -> None:
    model = load(write_unet(tmp_path, seed=7, size=96, width=8))
    x = np.random.default_rng(1).standard_normal((1, 3, 96, 96)).astype(np.float32)
    (expected,) = model.run({"x": x}, "gawee").values()

    native = UpstreamLoops(model.lowered("loops"))
    prepared = native.call("prepare", model.bound)
    (got,) = native.call("main", {**model.bound, **prepared, "x": x}).values()

    # Sums of float32 in another order, 40 convolutions deep: about 2e-6 of the range.
    assert_allclose(got, expected, rtol=0, atol=1e-5 * np.ptp(expected).item())


@requires_upstream
def test_upstream_verifies_a_graph_by_its_definition(irdl: Path) -> None:
    text = levels_of("digits")["graph"].generic
    without_strides = text.replace("strides = array<i64: 1, 1>, ", "", 1)
    assert without_strides != text

    with pytest.raises(AssertionError, match="strides"):
        run_mlir_opt(without_strides, f"--irdl-file={irdl}")


@pytest.mark.parametrize("network", TRIED)
def test_the_generic_form_is_read_again(network: str) -> None:
    kernels = levels_of(network)["kernels"]
    again = parse_mlir(make_context(), kernels.generic, "generic.mlir")
    assert print_mlir(again) == kernels.custom
