"""A module on tensors with f64 in the place of f32: what it computes but for rounding."""

from collections.abc import Mapping

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float32Type,
    FloatAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    f64,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue
from xdsl.rewriter import Rewriter

from gawee_dialect.dialect.cast import BitcastOp
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import Array

BY_BITS = (BitcastOp, arith.BitcastOp)
"""Ops that read a float as something else of its size."""


def in_f64(module: ModuleOp) -> ModuleOp | None:
    """Return a copy of a module that computes in f64; None where it has no f32, or needs its bits.

    In a buffer an element's size decides where the next one lies; C takes elements as they are.
    """
    if any(isinstance(op, BY_BITS) for op in module.walk()) or sources_of(module):
        return None
    copy = module.clone()
    blocks = [block for op in copy.walk() for region in op.regions for block in region.blocks]
    values: list[SSAValue] = [argument for block in blocks for argument in block.args]
    values += [result for op in copy.walk() for result in op.results]
    if any(isinstance(value.type, MemRefType) for value in values):
        return None
    changed = False
    for value in values:
        type = _wide(value.type)
        if type is not value.type:
            changed = True
            Rewriter.replace_value_with_new_type(value, type)
    for op in copy.walk():
        for attributes in (op.properties, op.attributes):
            attributes.update({name: _wide(each) for name, each in attributes.items()})
    return copy if changed else None


def _wide(attribute: Attribute) -> Attribute:
    """Return an attribute with f64 for f32, numbers as they are; itself where nothing changes."""
    if isinstance(attribute, Float32Type):
        return f64
    if isa(attribute, DenseIntOrFPElementsAttr):
        return _wide_constant(attribute)
    if isa(attribute, FloatAttr[Float32Type]):
        return FloatAttr(attribute.value.data, f64)
    if isa(attribute, ArrayAttr[Attribute]):
        parts = [_wide(each) for each in attribute.data]
        same = all(new is old for new, old in zip(parts, attribute.data, strict=True))
        return attribute if same else ArrayAttr(parts)
    if isinstance(attribute, DictionaryAttr):
        return DictionaryAttr({name: _wide(each) for name, each in attribute.data.items()})
    if isinstance(attribute, ParametrizedAttribute):
        parameters = [_wide(each) for each in attribute.parameters]
        pairs = zip(parameters, attribute.parameters, strict=True)
        return attribute if all(a is b for a, b in pairs) else attribute.new(parameters)
    return attribute


def _wide_constant(attribute: DenseIntOrFPElementsAttr) -> Attribute:
    if not isinstance(attribute.get_element_type(), Float32Type):
        return attribute
    type = TensorType(f64, attribute.get_shape())
    values = [float(value) for value in attribute.get_values() if not isinstance(value, tuple)]
    return DenseIntOrFPElementsAttr.from_list(type, values)


def arrays_in_f64(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return arrays with those of f32 as f64."""
    return {
        name: array.astype(np.float64) if array.dtype == np.float32 else array
        for name, array in arrays.items()
    }
