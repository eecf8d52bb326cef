"""Constants that MLIR text holds as resources, as parameters of the function that uses them."""

from collections.abc import Mapping

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.entry import ArgumentKind, EntryArgument
from gawee_dialect.dialect.types import dtype_name
from gawee_dialect.hints import isa
from gawee_dialect.identifiers import free_name
from gawee_dialect.parameters.store import Array
from gawee_dialect.upstream.resources import resource_name


def take_resources(function: FuncOp) -> Mapping[str, Array]:
    """Make every resource that a function uses a parameter of it; return their arrays by name.

    Changes the function in place. Constants of other functions stay as they are.

        %w = arith.constant dense_resource<weight> : tensor<2xf32>
        ->
        func.func @main(..., %w: tensor<2xf32> {gawee.parameter = "weight"})
    """
    marks = list(function.arg_attrs or [DictionaryAttr({})] * len(function.body.block.args))
    arguments: dict[DenseIntOrFPElementsAttr, SSAValue] = {}
    arrays: dict[str, Array] = {}
    for op in [op for op in function.walk() if isinstance(op, arith.ConstantOp)]:
        value = op.value
        resource = resource_name(value) if isa(value, DenseIntOrFPElementsAttr) else None
        if resource is None or not isa(value, DenseIntOrFPElementsAttr):
            continue
        if value not in arguments:
            name = free_name(resource, arrays)
            arrays[name] = _array(value)
            arguments[value] = _argument(function, op)
            index = len(marks)
            marks.append(
                EntryArgument(index, ArgumentKind.PARAMETER, name, value.type).attributes()
            )
        op.result.replace_all_uses_with(arguments[value])
        op.detach()
        op.erase()
    if arrays:
        function.arg_attrs = ArrayAttr(marks)
        function.update_function_type()
    return arrays


def _argument(function: FuncOp, op: arith.ConstantOp) -> SSAValue:
    block = function.body.block
    argument = block.insert_arg(op.result.type, len(block.args), op.location)
    argument.name_hint = op.result.name_hint
    return argument


def _array(value: DenseIntOrFPElementsAttr) -> Array:
    element: Attribute = value.get_element_type()
    array = np.frombuffer(value.data.data, dtype_name(element))
    return array.reshape(value.get_shape())
