"""What is printed by forms is what xDSL's printer writes op by op, of every module in the tests."""

from io import StringIO
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.printer import Printer

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.printing import ModulePrinter, TextOptions, op_text
from tests.effort import part_of

FILECHECK = Path(__file__).parent / "filecheck"
FILES = sorted(FILECHECK.rglob("*.mlir"))
OPTIONS = [TextOptions(), TextOptions(generic=True), TextOptions(elide_larger_than=4)]


class OpByOp(ModulePrinter):
    """Prints every op as xDSL does."""

    def print_op(self, op: Operation) -> None:
        Printer.print_op(self, op)


def op_by_op(module: ModuleOp, options: TextOptions) -> tuple[str, bytes, dict[str, bytes]]:
    stream = StringIO()
    printer = OpByOp(
        stream,
        print_generic_format=options.generic,
        elide_larger_than=options.elide_larger_than,
    )
    printer.print_op(module)
    return stream.getvalue(), printer.elided, printer.resources.blobs


def by_forms(module: ModuleOp, options: TextOptions) -> tuple[str, bytes, dict[str, bytes]]:
    stream = StringIO()
    printer = options.printer(stream)
    printer.print_op(module)
    return stream.getvalue(), printer.elided, printer.resources.blobs


def modules(path: Path) -> list[ModuleOp]:
    """Return what can be read of a test."""
    found: list[ModuleOp] = []
    for number, part in enumerate(path.read_text().split("// -----")):
        try:
            found.append(parse_mlir(make_context(), part, f"{path}#{number}"))
        except GaweeError:
            continue
    return found


def test_texts_are_the_same_as_op_by_op() -> None:
    read = [module for path in part_of(FILES) for module in modules(path)]
    assert len(read) > 100
    for module in read:
        for options in OPTIONS:
            assert by_forms(module, options) == op_by_op(module, options)


NETWORK = """func.func @main(%x: tensor<2x3x9x7xf32> {gawee.input = "x"}, %w: tensor<5x3x3x2xf32> {gawee.parameter = "w"}) -> tensor<2x5x7x6xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x9x7xf32>, tensor<5x3x3x2xf32>) -> tensor<2x5x7x6xf32>
  %r = gawee.gelu %y approximate "none" : (tensor<2x5x7x6xf32>) -> tensor<2x5x7x6xf32>
  return %r : tensor<2x5x7x6xf32>
}
"""


@pytest.mark.parametrize("level", ["kernels", "buffers", "loops", "llvm"])
def test_lowered_networks_are_written_as_op_by_op(level: str) -> None:
    module = Model(parse_mlir(make_context(), NETWORK, "net.mlir")).lowered(level)
    for options in OPTIONS:
        assert by_forms(module, options) == op_by_op(module, options)


@pytest.mark.parametrize(
    "line",
    [
        "%a = arith.constant -0.0 : f32\n  %b = arith.constant 0.0 : f32",
        '%a = "test.op"() {note = "100%s %d"} : () -> f32\n  %b = "test.op"() {note = "%"} : () -> f32',
        "%a = arith.addf %x, %y : f32\n  %b = arith.addf %x, %x : f32\n  %c = arith.addf %y, %y : f32",
        "%a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>\n  %b = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>",
        "%a = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi8>\n  %b = arith.constant dense<[1, 2, 3, 4, 6]> : tensor<5xi8>",
    ],
    ids=["signs of zero", "percent", "one value twice", "constants", "elided"],
)
def test_ops_that_look_alike_are_told_apart(line: str) -> None:
    text = f"func.func @main(%x: f32, %y: f32) {{\n  {line}\n  return\n}}\n"
    module = parse_mlir(make_context(allow_unregistered=True), text, "in.mlir")
    for options in OPTIONS:
        assert by_forms(module, options) == op_by_op(module, options)


def test_names_of_values_are_those_of_each_text() -> None:
    text = "func.func @main(%x: f32) {\n  %a = arith.negf %x : f32\n  %b = arith.negf %a : f32\n  return\n}\n"
    module = parse_mlir(make_context(), text, "in.mlir")
    first, _ = op_text(module, TextOptions())
    for op in module.walk():
        for value in op.results:
            value.name_hint = "same"
    second, _ = op_text(module, TextOptions())
    assert "%a = arith.negf %x" in first
    assert "%same = arith.negf %x : f32\n    %same_1 = arith.negf %same : f32" in second
