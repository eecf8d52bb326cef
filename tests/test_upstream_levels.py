"""Every level of six networks as text for stock `mlir-opt`, with the flags that the README says."""

from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from examples.resnet18.write_graph import write_resnet18
from examples.unet.write_graph import write_unet
from gawee_dialect.dialect import GAWEE
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.irdl_text import irdl_text
from gawee_dialect.levels import Level, lower_to
from gawee_dialect.model import load
from gawee_dialect.passes.bufferize import Bufferize
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.universe import make_context
from tests.upstream_mlir import requires_upstream, run_mlir_opt

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


NETWORKS: dict[str, Callable[[Path], ModuleOp]] = {
    "digits": lambda _: load(DIGITS).module,
    "resnet18": lambda folder: load(write_resnet18(folder, seed=1, size=32, width=4)).module,
    "unet": lambda folder: load(write_unet(folder, seed=1, size=32, width=4)).module,
    "transformer": _text(TRANSFORMER),
    "separable": _text(SEPARABLE),
    "recurrent": _text(RECURRENT),
}


@requires_upstream
@pytest.mark.parametrize("network", NETWORKS)
def test_stock_mlir_opt_reads_every_level(network: str, tmp_path: Path) -> None:
    module = NETWORKS[network](tmp_path)
    definitions = tmp_path / "gawee.irdl"
    definitions.write_text(irdl_text(GAWEE))

    graph = print_mlir(module, generic=True)
    if "gawee.cat" not in graph:  # IRDL wants one type of all operands in a list
        run_mlir_opt(graph, f"--irdl-file={definitions}")
    run_mlir_opt(graph, "--allow-unregistered-dialect")
    run_mlir_opt(print_mlir(lower_to(module, Level.LINALG)))
    kernels = lower_to(module, Level.KERNELS)
    run_mlir_opt(print_mlir(kernels, generic=True), "--allow-unregistered-dialect")
    run_passes(make_context(), kernels, (Bufferize(),))
    run_mlir_opt(print_mlir(kernels, generic=True), "--allow-unregistered-dialect")
    loops = print_mlir(lower_to(module, Level.LOOPS))
    run_mlir_opt(loops)
    run_mlir_opt(print_mlir(lower_to(module, Level.LLVM)))

    assert_stack_buffers_are_outside_loops(loops)


def assert_stack_buffers_are_outside_loops(text: str) -> None:
    """Check by indentation: no `memref.alloca` directly in a sequential loop."""
    open_lines: list[str] = []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        open_lines = [each for each in open_lines if len(each) - len(each.lstrip()) < indent]
        if "memref.alloca" in line:
            assert "scf.for" not in open_lines[-1], line
        open_lines.append(line)


@requires_upstream
def test_upstream_verifies_a_graph_by_its_definition(tmp_path: Path) -> None:
    definitions = tmp_path / "gawee.irdl"
    definitions.write_text(irdl_text(GAWEE))
    text = print_mlir(load(DIGITS).module, generic=True)
    without_strides = text.replace("strides = array<i64: 1, 1>, ", "", 1)
    assert without_strides != text

    with pytest.raises(AssertionError, match="strides"):
        run_mlir_opt(without_strides, f"--irdl-file={definitions}")


def test_the_generic_form_is_read_again(tmp_path: Path) -> None:
    for network in NETWORKS.values():
        kernels = lower_to(network(tmp_path), Level.KERNELS)
        again = parse_mlir(make_context(), print_mlir(kernels, generic=True), "generic.mlir")
        assert print_mlir(again) == print_mlir(kernels)
