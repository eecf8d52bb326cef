"""Modules of one described op, to run it at every level."""

from collections.abc import Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from gawee_dialect.dialect.types import ELEMENT_TYPES
from gawee_dialect.equations.evaluate import Array
from gawee_dialect.model import Model
from gawee_dialect.opdesc.described_op import DescribedOp
from gawee_dialect.opdesc.description import ParamValue


def model_of(
    op_type: type[DescribedOp], inputs: Mapping[str, Array], parameters: Mapping[str, ParamValue]
) -> Model:
    types = [TensorType(ELEMENT_TYPES[each.dtype.name], each.shape) for each in inputs.values()]
    block = Block(arg_types=types)
    op = op_type.make(list(block.args), parameters)
    block.add_ops([op, ReturnOp(*op.results)])
    results = [result.type for result in op.results]
    function = FuncOp("main", (types, results), Region(block))
    function.arg_attrs = _named("gawee.input", list(inputs))
    function.res_attrs = _named("gawee.output", [str(index) for index in range(len(results))])
    return Model(ModuleOp([function]))


def _named(key: str, names: list[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({key: StringAttr(name)}) for name in names])
