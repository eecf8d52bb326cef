"""Every op with sizes that are open: as a graph, on linalg and as plain loops by the interpreter, and as native code."""

import pytest
from xdsl.ir import Operation

from tests.effort import mostly_full
from tests.open_sizes.op_table import row_of, written_table
from tests.test_completeness import LOWERED_OPS, name_of

pytestmark = pytest.mark.usefixtures("unoptimized")


# From the second on: attention, which takes as long as many others, is left to the full run.
@pytest.mark.parametrize("op", mostly_full([*LOWERED_OPS[1:], LOWERED_OPS[0]]), ids=name_of)
def test_an_op_takes_open_sizes_or_says_why_not(op: type[Operation]) -> None:
    row = row_of(op)

    assert row.text() in written_table().splitlines(), (
        "`python tests/open_sizes/op_table.py` writes the table anew"
    )
    assert row.graphs == row.llvm == row.kernels == row.sizes or row.reason
