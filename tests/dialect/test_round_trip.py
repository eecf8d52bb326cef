"""Printing and parsing an op, pretty or generic, gives the same op."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.printer import Printer

from gawee_dialect.dialect import GRAPH_LEVEL
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.located_parser import LocatedParser
from tests.dialect.random_ops import OPS, module_of
from tests.effort import examples


def printed(module: ModuleOp, *, generic: bool) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=generic).print_op(module)
    return stream.getvalue()


def test_every_op_of_a_graph_has_a_strategy() -> None:
    assert set(OPS) == set(GRAPH_LEVEL)


@pytest.mark.parametrize("op_class", OPS, ids=lambda op_class: op_class.name)
@given(data=st.data())
@examples(12)
def test_parsing_what_was_printed_gives_the_same_op(
    op_class: type[Operation], data: st.DataObject
) -> None:
    module = module_of(data.draw(OPS[op_class]))
    module.verify()

    for generic in (False, True):
        text = printed(module, generic=generic)
        parsed = LocatedParser(make_context(), text, "test.mlir").parse_module()

        parsed.verify()
        assert parsed.is_structurally_equivalent(module), text
