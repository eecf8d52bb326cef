"""Ops that are defined late are those that xDSL defines at once."""

import sys
from threading import Barrier, Thread
from types import ModuleType

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import Builtin, IntegerAttr, i32
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, OpDef
from xdsl.parser import Parser
from xdsl.traits import Commutative, Pure
from xdsl.utils.exceptions import ParseError, VerifyException

TEXT = """
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.irdl import *
from xdsl.traits import Commutative, Pure
from xdsl.utils.exceptions import VerifyException

class Base(IRDLOperation):
    traits = traits_def(Pure())

@irdl_op_definition
class Sum(Base):
    name = "mine.sum"
    first = operand_def(i32)
    others = var_operand_def(i32)
    scale = opt_attr_def(IntegerAttr)
    result = result_def(i32)
    traits = traits_def(Commutative())
    assembly_format = "$first (`,` $others^)? attr-dict"

    def verify_(self):
        if len(self.others) > 2:
            raise VerifyException("too many")

@irdl_op_definition
class Plain(IRDLOperation):
    name = "mine.plain"

class Undecorated(Sum):
    pass
"""


def defined(package: str) -> dict[str, type[IRDLOperation]]:
    module = ModuleType(f"{package}.sums")
    sys.modules[module.__name__] = module
    try:
        exec(TEXT, module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module.__dict__


def values(count: int) -> test.TestOp:
    return test.TestOp(result_types=[i32] * count)


def described(definition: OpDef) -> tuple[object, ...]:
    return (
        *(definition.name, definition.operands, definition.results, definition.attributes),
        *(definition.traits, definition.accessor_names, definition.assembly_format),
    )


@pytest.mark.parametrize("name", ["Sum", "Plain", "Undecorated"])
def test_definitions_are_those_of_other_packages(name: str) -> None:
    late, at_once = (defined(package)[name] for package in ("gawee_dialect", "elsewhere"))

    assert late.traits == at_once.traits
    assert described(late.get_irdl_definition()) == described(at_once.get_irdl_definition())
    assert late.get_irdl_definition() is late.get_irdl_definition()
    assert late.traits is late.get_irdl_definition().traits
    assert late.has_trait(Pure) is (name != "Plain")


def test_making_an_op_defines_it() -> None:
    kind = defined("gawee_dialect")["Sum"]
    some = values(4)

    op = kind(operands=[some.results[0], some.results[1:3]], result_types=[i32])

    assert getattr(op, "first") is some.results[0]
    assert tuple(getattr(op, "others")) == tuple(some.results[1:3])
    op.verify()
    assert op.get_traits_of_type(Commutative)
    with pytest.raises(VerifyException, match="too many"):
        kind.create(operands=some.results, result_types=[i32]).verify()
    with pytest.raises(VerifyException, match="property 'size' is not defined"):
        kind.create(
            operands=some.results[:1],
            result_types=[i32],
            properties={"size": IntegerAttr(1, i32)},
        ).verify()


def read(kinds: dict[str, type[IRDLOperation]], text: str) -> Operation:
    context = Context()
    for dialect in (Builtin, test.Test, Dialect("mine", [kinds["Sum"], kinds["Plain"]], [])):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def test_reading_an_op_defines_it() -> None:
    text = '%a, %b = "test.op"() : () -> (i32, i32)\n%s = mine.sum %a, %b'

    module = read(defined("gawee_dialect"), text)

    assert "mine.sum %a, %b" in str(module)
    with pytest.raises(ParseError, match=r"Operation mine\.plain does not have a custom format"):
        read(defined("gawee_dialect"), "mine.plain")


def test_threads_that_use_an_op_first_get_one_definition() -> None:
    kind, some, threads = defined("gawee_dialect")["Sum"], values(1), 8
    together, found = Barrier(threads), list[object]()

    def use() -> None:
        together.wait()
        kind.create(operands=some.results, result_types=[i32]).verify()
        found.extend((kind.get_irdl_definition(), kind.traits))

    started = [Thread(target=use) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()

    assert len(found) == 2 * threads
    assert {id(each) for each in found} == {id(kind.get_irdl_definition()), id(kind.traits)}
