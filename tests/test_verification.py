"""Verification bit by bit says what verification of everything says, whatever changed."""

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, f64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.rewriter import Rewriter

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


def inner_reader(module: ModuleOp) -> tuple[Operation, Operation]:
    """Return the last op that reads a result of its own block, and the op that computes it."""
    reader = next(
        op
        for op in reversed(ops(module))
        if any(isinstance(v.owner, Operation) and v.owner.parent is op.parent for v in op.operands)
    )
    owners = (value.owner for value in reader.operands)
    return reader, next(
        each for each in owners if isinstance(each, Operation) and each.parent is reader.parent
    )


def computes_too_late(module: ModuleOp) -> None:
    reader, computed = inner_reader(module)
    assert reader.parent is not None
    computed.detach()
    reader.parent.insert_op_before(computed, reader.parent.last_op or reader)


def reads_what_is_computed_later(module: ModuleOp) -> None:
    _, computed = inner_reader(module)
    computed.operands[0] = computed.results[0]


def reads_what_a_loop_computes(module: ModuleOp) -> None:
    loop = next(op for op in ops(module) if op.name == "scf.for" and not inside_loop(op))
    assert loop.next_op is not None
    loop.next_op.operands = [next(v for op in loop.walk() for v in op.results)]


def inside_loop(op: Operation) -> bool:
    return op.parent_op() is not None and not isinstance(op.parent_op(), FuncOp)


def reads_another_function(module: ModuleOp) -> None:
    reader, computed = inner_reader(module)
    first = next(op for op in ops(module) if type(op) is type(computed))
    reader.operands[list(reader.operands).index(computed.results[0])] = first.results[0]


def loses_what_is_read(module: ModuleOp) -> None:
    inner_reader(module)[1].detach()


def loses_what_is_called(module: ModuleOp) -> None:
    *_, last = module.ops
    last.detach()


def has_a_symbol_twice(module: ModuleOp) -> None:
    first, *_, last = (op for op in module.ops if isinstance(op, FuncOp))
    last.properties["sym_name"] = first.sym_name


def has_another_argument(module: ModuleOp) -> None:
    *_, last = (op for op in module.ops if isinstance(op, FuncOp))
    Rewriter.replace_value_with_new_type(last.args[0], f64)


WRONG = (
    computes_too_late,
    reads_what_is_computed_later,
    reads_what_a_loop_computes,
    reads_another_function,
    loses_what_is_read,
    loses_what_is_called,
    has_a_symbol_twice,
    has_another_argument,
)


@pytest.mark.parametrize("change", WRONG, ids=lambda each: each.__name__)
def test_a_wrong_change_of_one_op_is_found(change: Callable[[ModuleOp], None]) -> None:
    module = lowered(Level.LOOPS).clone()
    verification = Verification()
    verification.verify(module)
    change(module)

    found = said(verification.verify, module)

    assert found.startswith("GaweeError")
    assert found == said(verify_module, module)


def test_only_what_changed_and_what_reads_it_is_asked(monkeypatch) -> None:
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
    assert asked == ["gawee.sigmoid", "gawee.tanh"]


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
