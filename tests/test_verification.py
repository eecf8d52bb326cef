"""Verification bit by bit says what verification of everything says, whatever changed."""

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.levels import Level
from gawee_dialect.model import load
from gawee_dialect.upstream.verification import Verification
from tests.effort import crossed
from tests.passes.modules import parse

NETWORK = Path(__file__).parent.parent / "examples" / "digits" / "graph.json"


def ops(module: ModuleOp) -> list[Operation]:
    return [op for op in module.walk() if op is not module]


def drop_property(module: ModuleOp, chance: random.Random) -> None:
    op = chance.choice([op for op in ops(module) if op.properties])
    del op.properties[chance.choice(list(op.properties))]


def foreign_property(module: ModuleOp, chance: random.Random) -> None:
    op = chance.choice([op for op in ops(module) if op.properties])
    other = chance.choice([op for op in ops(module) if op.properties])
    value = chance.choice(list(other.properties.values()))
    op.properties[chance.choice(list(op.properties))] = value


def foreign_operand(module: ModuleOp, chance: random.Random) -> None:
    op = chance.choice([op for op in ops(module) if op.operands])
    values = [value for each in ops(module) for value in each.results]
    op.operands[chance.randrange(len(op.operands))] = chance.choice(values)


def move(module: ModuleOp, chance: random.Random) -> None:
    op = chance.choice([op for op in ops(module) if op.next_op is not None])
    block = op.parent
    assert block is not None
    op.detach()
    block.add_op(op)


def nothing(module: ModuleOp, chance: random.Random) -> None:
    return


def rename(module: ModuleOp, chance: random.Random) -> None:
    function = chance.choice([op for op in module.ops if isinstance(op, FuncOp)])
    function.properties["sym_name"] = StringAttr("renamed")


def fewer_results(module: ModuleOp, chance: random.Random) -> None:
    function = chance.choice([op for op in module.ops if isinstance(op, FuncOp)])
    function.function_type = FunctionType.from_lists([*function.function_type.inputs], [])


CHANGES = (drop_property, foreign_property, foreign_operand, move, nothing, rename, fewer_results)

UNSEEN = {
    *(
        (rename, level) for level in (Level.GAWEE, Level.KERNELS, Level.BUFFERS)
    ),  # it has no callers
    *((fewer_results, level) for level in (Level.BUFFERS, Level.LOOPS)),  # there are none
}


def said(verify: Callable[[ModuleOp], None], module: ModuleOp) -> str:
    try:
        verify(module)
    except Exception as error:  # whatever one raises, the other must
        return f"{type(error).__name__}: {error}"
    return ""


@cache
def lowered(level: Level) -> ModuleOp:
    return load(NETWORK).lowered(level)


@pytest.mark.parametrize(
    ("level", "change"),
    crossed([Level.GAWEE, Level.KERNELS, Level.BUFFERS, Level.LOOPS], CHANGES),
    ids=lambda each: getattr(each, "__name__", None),
)
def test_what_changed_is_verified(level: Level, change) -> None:
    wrong = 0
    for number in range(8):
        module = lowered(level).clone()
        verification = Verification()
        verification.verify(module)
        change(module, random.Random(number))

        found = said(verification.verify, module)
        assert found == said(verify_module, module)
        wrong += bool(found)
    harmless = change is nothing or (change, level) in UNSEEN
    assert bool(wrong) != harmless


def test_only_what_changed_and_what_is_around_it_is_asked(monkeypatch) -> None:
    module = parse(
        """
        func.func @first(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
          %0 = gawee.relu %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
          %1 = gawee.sigmoid %0 : (tensor<3x5xf32>) -> tensor<3x5xf32>
          %2 = gawee.tanh %1 : (tensor<3x5xf32>) -> tensor<3x5xf32>
          func.return %0 : tensor<3x5xf32>
        }
        func.func @second(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
          %0 = gawee.exp %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
          func.return %0 : tensor<3x5xf32>
        }"""
    )
    asked: list[str] = []
    verify = IRDLOperation.verify
    monkeypatch.setattr(
        IRDLOperation,
        "verify",
        lambda op, **flags: (asked.append(op.name), verify(op, **flags))[1],
    )
    verification = Verification()
    verification.verify(module)
    assert len(asked) == len(list(module.walk()))

    asked.clear()
    relu = next(op for op in module.walk() if op.name == "gawee.sigmoid")
    relu.attributes["seen"] = StringAttr("yes")
    verification.verify(module)
    assert asked == ["gawee.sigmoid", "gawee.tanh", "func.func", "builtin.module"]


def test_after_an_error_everything_is_asked_again() -> None:
    module = load(NETWORK).lowered(Level.GAWEE)
    verification = Verification()
    verification.verify(module)
    op = next(op for op in ops(module) if op.name == "gawee.conv")
    strides = op.properties.pop("strides")

    for _ in range(2):
        with pytest.raises(GaweeError, match="strides"):
            verification.verify(module)
    op.properties["strides"] = strides
    verification.verify(module)
