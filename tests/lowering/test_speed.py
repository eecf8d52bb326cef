"""How long lowering takes: it must stay linear in the number of ops."""

import time

from xdsl.builder import ImplicitBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp

from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, ReluOp
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg
from tests.effort import full_run


def chain(blocks):
    """Build a chain of blocks of three ops: conv, add, relu."""
    image, weight = TensorType(f32, (1, 4, 6, 6)), TensorType(f32, (4, 4, 3, 3))
    bias = TensorType(f32, (4,))
    function = FuncOp("main", ((image, weight, bias), (image,)))
    with ImplicitBuilder(function.body) as (value, w, b):
        for _ in range(blocks):
            conv = ConvOp(value, w, b, padding=(1, 1, 1, 1)).result
            value = ReluOp(AddOp(conv, value).result).result
        ReturnOp(value)
    return ModuleOp([function])


@full_run
def test_three_thousand_ops_lower_in_seconds():
    module = chain(1000)

    start = time.process_time()
    LowerToLinalg().apply(Context(), module)
    seconds = time.process_time() - start

    # About 2 s; a slow, shared machine gets five times that. A quadratic walk takes minutes.
    assert seconds < 10
