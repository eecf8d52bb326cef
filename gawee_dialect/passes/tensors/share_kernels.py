"""Make kernels that differ in numbers alone the same kernel, which reads these numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Region
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gawee_dialect.analysis.fingerprint import Fingerprints
from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.upstream.walk import all_ops

READERS = (
    arith.AddfOp,
    arith.SubfOp,
    arith.MulfOp,
    arith.DivfOp,
    arith.AddiOp,
    arith.SubiOp,
)
"""Ops that take as long with a number that is read; bounds and masks have code of their own."""


@dataclass(frozen=True)
class ShareKernels(ModulePass):
    """Make kernels that differ in numbers alone the same kernel, which reads these numbers.

    1. The numbers are floats, and integers of words, that sums and products in `finish` take:
       scales and zero points of quantized networks, say, which each layer has its own of.
    2. Those that are the same in all kernels that are equal otherwise stay as they are.

    Behind schedules, which do not depend on such numbers; before `outline-kernels`, which has one
    function for the kernels that are then equal. So a quantized network has half of the code.

    rewrite:
        gawee.kernel ins(%x) finish { arith.mulf %a, 0.5 }
        gawee.kernel ins(%y) finish { arith.mulf %a, 0.3 }
        ->
        gawee.kernel ins(%x, dense<0.5>) finish { arith.mulf %a, %number }
        gawee.kernel ins(%y, dense<0.3>) finish { arith.mulf %a, %number }
    """

    name = "share-kernels"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        texts, kinds = Fingerprints(), dict[object, list[KernelOp]]()
        for each in all_ops(op):
            if isinstance(each, KernelOp) and each.result is not None and _numbers(each):
                kinds.setdefault(_kind(each, texts), []).append(each)
        for kernels in kinds.values():
            _share(kernels)


def _numbers(op: KernelOp) -> Sequence[arith.ConstantOp]:
    """Return the numbers that a kernel could read instead."""
    if is_open(op.sizes):
        return ()
    constants = (each for each in op.finish.block.ops if isinstance(each, arith.ConstantOp))
    return [each for each in constants if _may_be_read(each)]


def _may_be_read(op: arith.ConstantOp) -> bool:
    if not isinstance(op.value, FloatAttr) and op.result.type != i32:
        return False
    return all(isinstance(use.operation, READERS) for use in op.result.uses)


def _kind(op: KernelOp, texts: Fingerprints) -> object:
    """Return what kernels have in common that are equal but for their numbers."""
    numbers = _numbers(op)
    values = [each.properties["value"] for each in numbers]
    for number in numbers:
        number.properties["value"] = UnitAttr()
    text = texts.of(op)
    for number, value in zip(numbers, values, strict=True):
        number.properties["value"] = value
    return tuple(value.type for value in (*op.operands, *op.results)), text


def _share(kernels: Sequence[KernelOp]) -> None:
    """Let kernels read the numbers in which they differ."""
    numbers = [[each.value for each in _numbers(op)] for op in kernels]
    differing = [at for at, values in enumerate(zip(*numbers, strict=True)) if len({*values}) > 1]
    if not differing:
        return
    for op in kernels:
        _read(op, [number for at, number in enumerate(_numbers(op)) if at in differing])


def _read(op: KernelOp, numbers: Sequence[arith.ConstantOp]) -> None:
    """Replace a kernel by one that reads some of its numbers."""
    builder = Builder(InsertPoint.before(op))
    inputs, types = list(op.inputs), [number.result.type for number in numbers]
    for number in numbers:
        constant = builder.insert(arith.ConstantOp(_dense(number)))
        hand_on_location(op, constant)
        inputs.append(constant.result)
    for region in (op.accumulate, op.finish):
        _add_arguments(region, len(op.inputs), types)
    block = op.finish.block
    for at, number in enumerate(numbers, len(op.inputs)):
        Rewriter.replace_op(number, [], [block.args[at]])
    scalar = AffineMap(len(op.sizes), 0, ())
    maps = [*op.maps[:-1], *[scalar] * len(numbers), op.maps[-1]]
    assert op.result is not None
    type = op.result.type
    assert isa(type, TensorType[Attribute])
    new = op.with_operands(inputs, type, maps=maps, moves_regions=True)
    hand_on_location(op, new)
    Rewriter.replace_op(op, new)


def _dense(number: arith.ConstantOp) -> DenseIntOrFPElementsAttr:
    """Return a number as a tensor without axes."""
    value, type = number.value, TensorType(number.result.type, [])
    assert isinstance(value, FloatAttr | IntegerAttr)
    return dense_of(np.array(value.value.data), type)


def _add_arguments(region: Region, at: int, types: Sequence[Attribute]) -> None:
    for block in region.blocks:
        for number, type in enumerate(types, at):
            block.insert_arg(type, number)
