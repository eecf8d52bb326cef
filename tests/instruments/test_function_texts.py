"""A function is printed anew where something in it changed, whatever that is."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.instruments.function_texts import FunctionTexts
from gawee_dialect.locations import file_location
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.printing import TextOptions

TEXT = """
func.func @main(%x: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("net.json":3:1)
  %b = gawee.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = gawee.add %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}
func.func @other(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = gawee.relu %x : (tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
"""


def read() -> ModuleOp:
    return parse_mlir(make_context(), TEXT, "net.mlir")


def ops(module: ModuleOp) -> list[Operation]:
    return [op for op in module.walk() if op.dialect_name() == "gawee"]


def set_operand(module: ModuleOp) -> None:
    relu = ops(module)[0]
    block = relu.parent
    assert isinstance(block, Block)
    relu.operands[0] = block.args[1]


def swap_operands(module: ModuleOp) -> None:
    add = ops(module)[2]
    add.operands = tuple(reversed(add.operands))


def set_property(module: ModuleOp) -> None:
    function = module.body.block.first_op
    assert function is not None
    function.properties["sym_visibility"] = StringAttr("private")


def set_attribute(module: ModuleOp) -> None:
    ops(module)[0].attributes["note"] = StringAttr("here")


def name_a_value(module: ModuleOp) -> None:
    ops(module)[0].results[0].name_hint = "better"


def move_an_op(module: ModuleOp) -> None:
    relu, sigmoid, _, _ = ops(module)
    block = relu.parent
    assert isinstance(block, Block)
    relu.detach()
    block.insert_op_after(relu, sigmoid)


def erase_an_op(module: ModuleOp) -> None:
    relu, _, add, _ = ops(module)
    add.operands[0] = relu.operands[0]
    relu.detach()
    relu.erase()


def locate_elsewhere(module: ModuleOp) -> None:
    ops(module)[0].location = file_location("other.json", 7, 2)


@pytest.mark.parametrize(
    "change",
    [
        set_operand,
        swap_operands,
        set_property,
        set_attribute,
        name_a_value,
        move_an_op,
        erase_an_op,
        locate_elsewhere,
    ],
)
def test_a_change_of_any_kind_is_printed(change: Callable[[ModuleOp], None]) -> None:
    module, texts = read(), FunctionTexts(TextOptions(locations=True))
    before = texts.of(module)
    texts.note()
    change(module)
    after = texts.of(module)
    assert after["@main"].text != before["@main"].text
    assert after["@other"] is before["@other"]
    # Printed by a printer without earlier modules.
    assert (
        after["@main"].text == FunctionTexts(TextOptions(locations=True)).of(module)["@main"].text
    )


def test_what_did_not_change_is_the_same_text() -> None:
    module, texts = read(), FunctionTexts(TextOptions())
    before = texts.of(module)
    texts.note()
    after = texts.of(module)
    assert after["@main"] is before["@main"]


def test_what_was_not_noted_is_printed_again() -> None:
    module, texts = read(), FunctionTexts(TextOptions())
    before = texts.of(module)
    name_a_value(module)
    after = texts.of(module)
    assert after["@main"] is not before["@main"]
    assert "%better" in after["@main"].text
    assert after["@other"] == before["@other"]
