"""What the builders of vector ops make, run by the interpreter and by native code."""

import numpy as np
import pytest
from xdsl.builder import Builder
from xdsl.dialects import arith, func, memref, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp, f32
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.rewriter import InsertPoint

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.interpreter import run_module
from gawee_dialect.passes.loops.convert_to_llvm import ConvertToLLVM
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.vector import reduction, strided_load


def program() -> ModuleOp:
    """Build a function that reads a part of a column, and the sum of it."""
    source, column, total = (MemRefType(f32, shape) for shape in ([9, 5], [4], []))
    main = func.FuncOp("main", ([source, column, total], []))
    x, y, s = main.args
    for argument, name in zip(main.args, "xys", strict=True):
        argument.name_hint = name
    builder = Builder(InsertPoint.at_end(main.body.block))
    zero = builder.insert(arith.ConstantOp(IntegerAttr(0, IndexType()))).result
    three = builder.insert(arith.ConstantOp(IntegerAttr(3, IndexType()))).result
    lanes = builder.insert(strided_load(x, [zero, three], 4, axis=0, step=2))[-1].results[0]
    builder.insert(vector.StoreOp(lanes, y, [zero]))
    summed = builder.insert(reduction(lanes, CombiningKindFlag.ADD))
    builder.insert(memref.StoreOp.get(summed.dest, s, []))
    builder.insert(func.ReturnOp())
    return ModuleOp([main])


@pytest.mark.parametrize("native", [False, True], ids=["interpreter", "native"])
def test_lanes_that_do_not_lie_side_by_side_are_loaded_one_by_one(native: bool) -> None:
    x = np.arange(45, dtype=np.float32).reshape(9, 5)
    module = program()
    module.verify()

    if native:
        ConvertToLLVM().apply(make_context(), module)
        found = CompiledModel(module).run({"x": x})
    else:
        found = run_module(module, {"x": x})

    np.testing.assert_array_equal(found["y"], x[0:8:2, 3])
    assert found["s"] == x[0:8:2, 3].sum()
