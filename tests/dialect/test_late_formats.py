"""Formats that are read late are right, and other dialects' mistakes are found at the definition."""

import subprocess
import sys

import pytest
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.irdl.declarative_assembly_format_parser import FormatParser
from xdsl.utils.exceptions import PyRDLOpDefinitionError

from gawee_dialect.universe import all_dialects
from gawee_dialect.upstream.late_formats import DIALECTS


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_all_formats_can_be_read(name: str) -> None:
    for kind in all_dialects()[name]().operations:
        if not issubclass(kind, IRDLOperation):
            continue
        definition = kind.get_irdl_definition()
        if definition.assembly_format is not None:
            FormatParser(definition.assembly_format, definition).parse_format()


def test_a_wrong_format_of_another_dialect_is_an_error_where_it_is_defined() -> None:
    class Wrong(IRDLOperation):
        name = "mine.wrong"
        assembly_format = "$nothing attr-dict"

    with pytest.raises(PyRDLOpDefinitionError):
        irdl_op_definition(Wrong)


def test_a_network_is_read_without_reading_a_format() -> None:
    code = (
        "import sys, gawee_dialect.model\n"
        "print('xdsl.irdl.declarative_assembly_format_parser' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
