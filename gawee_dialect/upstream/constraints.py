"""What upstream asks of its ops and xDSL 0.74 does not: types that are yielded, shapes of slices.

A pass that gets one of these wrong would otherwise be found by its numbers, or not at all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    ContainerType,
    IndexType,
    ShapedType,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.upstream.walk import inner_ops

if TYPE_CHECKING:  # dialects that a module has are imported by then
    from xdsl.dialects import cf, memref, scf, tensor
    from xdsl.dialects.func import FuncOp
    from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
    from xdsl.dialects.linalg.ops import IndexOp

Shape = Sequence[int]


def verify_constraints(op: Operation) -> None:
    """Verify what xDSL leaves out of an op, not of those inside; raises VerifyException."""
    constraint = _constraint_of(type(op))
    if constraint is not None:
        constraint(op)


@cache
def _constraint_of(kind: type[Operation]) -> Callable[[Any], None] | None:
    if kind.name.startswith("linalg.") and hasattr(kind, "get_indexing_maps"):
        return _verify_structured
    return CONSTRAINTS.get(kind.name)


def wrong_ops(module: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield the ops inside of another that are wrong, and what is."""
    for region in module.regions:
        for op in inner_ops(region):
            try:
                verify_constraints(op)
            except VerifyException as error:
                yield op, str(error)


def _expect_types(what: str, got: Sequence[Attribute], wanted: Sequence[Attribute]) -> None:
    if list(got) != list(wanted):
        raise VerifyException(f"expected {what} of {_list(wanted)}, got {_list(got)}")


def _list(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"


def _types(values: Sequence[SSAValue]) -> list[Attribute]:
    return [each.type for each in values]


# Regions: what they yield is what the op gives.


def _yielded(region: Region) -> Iterator[list[Attribute]]:
    for block in region.blocks:
        if (last := block.last_op) is not None and last.name == "scf.yield":
            yield _types(last.operands)


def _verify_yields(op: "scf.IfOp | scf.IndexSwitchOp | scf.ExecuteRegionOp") -> None:
    for region in op.regions:
        for types in _yielded(region):
            _expect_types("yields", types, op.result_types)


def _verify_for(op: "scf.ForOp") -> None:
    _expect_types("results", op.result_types, _types(op.iter_args))


def _verify_while(op: "scf.WhileOp") -> None:
    before, after = op.before_region.block, op.after_region.block
    _expect_types("arguments of the first region", before.arg_types, _types(op.arguments))
    _expect_types("arguments of the second region", after.arg_types, op.result_types)
    if (last := before.last_op) is not None and last.name == "scf.condition":
        _expect_types("values of 'scf.condition'", _types(last.operands[1:]), op.result_types)
    for types in _yielded(op.after_region):
        _expect_types("yields", types, _types(op.arguments))


# Branches: what they pass is what the block takes.


def _verify_passed(passed: Sequence[SSAValue], block: Block) -> None:
    _expect_types("values of a branch", _types(passed), block.arg_types)


def _verify_branch(op: "cf.BranchOp") -> None:
    _verify_passed(op.arguments, op.successor)


def _verify_conditional_branch(op: "cf.ConditionalBranchOp") -> None:
    _verify_passed(op.then_arguments, op.then_block)
    _verify_passed(op.else_arguments, op.else_block)


# Functions.


def _verify_function(op: "FuncOp") -> None:
    type = op.function_type
    for what, attributes, types in (
        ("arguments", op.arg_attrs, type.inputs),
        ("results", op.res_attrs, type.outputs),
    ):
        if isinstance(attributes, ArrayAttr) and len(attributes) != len(types):
            raise VerifyException(
                f"expected attributes of {len(types)} {what}, got {len(attributes)}"
            )


# Slices of tensors and buffers.


def _verify_slice(
    op: "tensor.ExtractSliceOp | tensor.InsertSliceOp | memref.SubviewOp", whole: Shape, part: Shape
) -> None:
    numbers = {
        "offsets": (op.static_offsets.get_values(), op.offsets),
        "sizes": (op.static_sizes.get_values(), op.sizes),
        "strides": (op.static_strides.get_values(), op.strides),
    }
    for name, (static, operands) in numbers.items():
        if len(static) != len(whole):
            raise VerifyException(f"expected {len(whole)} {name}, got {len(static)}")
        verify_dynamic_sizes(operands, static)
    boxes = zip(whole, *(static for static, _ in numbers.values()), strict=True)
    for axis, (extent, *box) in enumerate(boxes):
        if DYNAMIC_INDEX not in (*box, extent):
            verify_inside(axis, extent, *box)
    sizes, _ = numbers["sizes"]
    if not _is_reduced(part, sizes):
        raise VerifyException(f"expected a slice of sizes {_sizes(sizes)}, got {_sizes(part)}")


def verify_inside(axis: int, extent: int, offset: int, size: int, stride: int) -> None:
    """Raise VerifyException unless what a box takes of one axis is in it."""
    last = offset + (size - 1) * stride
    if size != 0 and not (0 <= offset < extent and 0 <= last < extent):
        raise VerifyException(
            f"expected offset {offset}, size {size} and stride {stride} to stay in axis {axis} "
            f"of size {extent}"
        )


def verify_dynamic_sizes(values: Sequence[SSAValue], static: Shape) -> None:
    """Raise VerifyException where there is not an operand for each size that is not static."""
    count = list(static).count(DYNAMIC_INDEX)
    if len(values) != count:
        raise VerifyException(f"expected {count} dynamic sizes, got {len(values)}")


def _is_reduced(part: Shape, whole: Shape) -> bool:
    """Whether a shape is another one without some axes of one element."""
    found = 0
    for size in whole:
        if found < len(part) and part[found] == size:
            found += 1
        elif size != 1:
            return False
    return found == len(part)


def _sizes(shape: Shape) -> str:
    return "x".join("?" if each == DYNAMIC_INDEX else str(each) for each in shape) or "none"


def _shape(value: SSAValue) -> Shape:
    assert isinstance(value.type, ShapedType)
    return value.type.get_shape()


def _verify_part(op: "tensor.ExtractSliceOp | memref.SubviewOp") -> None:
    _verify_slice(op, _shape(op.source), _shape(op.result))


def _verify_inserted(op: "tensor.InsertSliceOp") -> None:
    _verify_slice(op, _shape(op.dest), _shape(op.source))


def _verify_strides(op: "memref.ReinterpretCastOp") -> None:
    sizes, strides = len(op.static_sizes), len(op.static_strides)
    if sizes != strides:
        raise VerifyException(f"expected {sizes} strides, got {strides}")


def _verify_sizes(sizes: Shape, shape: Shape) -> None:
    if tuple(sizes) != tuple(shape):
        raise VerifyException(f"expected a result of sizes {_sizes(sizes)}, got {_sizes(shape)}")


# Axes that are joined and split.


def _verify_collapse(op: "tensor.CollapseShapeOp | memref.CollapseShapeOp") -> None:
    _verify_groups(op.reassociation, _shape(op.src), _shape(op.result))


def _verify_expand(op: "tensor.ExpandShapeOp | memref.ExpandShapeOp") -> None:
    _verify_groups(op.reassociation, _shape(op.result), _shape(op.src))
    _verify_sizes(op.static_output_shape.get_values(), _shape(op.result))


def _verify_groups(groups: ArrayAttr[Any], apart: Shape, joined: Shape) -> None:
    axes: list[list[int]] = [[axis.value.data for axis in group] for group in groups]
    if not joined and not axes:  # each axis has one element
        axes, joined = [[*range(len(apart))]], [1]
    every = [axis for group in axes for axis in group]
    if every != [*range(len(apart))] or len(axes) != len(joined):
        raise VerifyException(
            f"expected {len(joined)} groups of the axes 0 to {len(apart) - 1} in order, got {axes}"
        )
    for axis, group in enumerate(axes):
        sizes = [apart[each] for each in group]
        if DYNAMIC_INDEX not in (*sizes, joined[axis]) and prod(sizes) != joined[axis]:
            raise VerifyException(
                f"expected size {prod(sizes)} of axis {axis}, the product of {sizes}, "
                f"got {joined[axis]}"
            )


# Padding, globals, casts.


def _verify_pad(op: "tensor.PadOp") -> None:
    block = op.region.block
    if any(not isinstance(each, IndexType) for each in block.arg_types):
        raise VerifyException(f"expected a body of indices, got {_list(block.arg_types)}")
    assert isinstance(op.result.type, TensorType)
    if (last := block.last_op) is not None and last.name == "tensor.yield":
        _expect_types("yields", _types(last.operands), [op.result.type.element_type])


def _verify_global(op: "memref.GetGlobalOp") -> None:
    found = SymbolTable.lookup_symbol(op, op.name_)
    if found is None or found.name != "memref.global":
        raise VerifyException(f"expected a global '@{op.name_.string_value()}'")
    _expect_types("results", [op.memref.type], [found.properties["type"]])


def _verify_same_shape(op: Operation) -> None:
    (source,), (result,) = _types(op.operands), op.result_types
    if _shape_of(source) != _shape_of(result):
        raise VerifyException(f"expected one shape, got '{source}' and '{result}'")


def _shape_of(type: Attribute) -> tuple[object, ...] | None:
    if not isinstance(type, ShapedType):
        return None
    return type.__class__, *type.get_shape()


# Structured ops of linalg.


def _verify_structured(op: "LinalgStructuredOperation") -> None:
    outputs = _types(op.outputs)
    if not outputs:
        raise VerifyException("expected at least one output")
    written: list[Attribute] = [type for type in outputs if isinstance(type, TensorType)]
    _expect_types("results", op.result_types, written)
    last = op.body.block.last_op
    yielded = 0 if last is None else len(last.operands)
    if yielded != len(outputs):
        raise VerifyException(f"expected a body that yields {len(outputs)} values, got {yielded}")
    if op.name == "linalg.generic" and last is not None:
        _expect_types("yields", _types(last.operands), _elements(op.outputs))


def _elements(values: Sequence[SSAValue]) -> list[Attribute]:
    return [
        each.type.get_element_type() if isinstance(each.type, ContainerType) else each.type
        for each in values
    ]


def _verify_index(op: "IndexOp") -> None:
    around: Any = op.parent_op()
    dim = op.dim.value.data
    loops = around.get_num_loops() if hasattr(around, "get_num_loops") else dim + 1
    if not 0 <= dim < loops:
        raise VerifyException(f"expected an index of one of {loops} loops, got {dim}")


CASTS = (
    *("bitcast", "extf", "truncf", "extsi", "extui", "trunci", "index_cast", "index_castui"),
    *("sitofp", "uitofp", "fptosi", "fptoui"),
)
"""Ops of arith whose operand and result have one shape."""

CONSTRAINTS: Mapping[str, Callable[[Any], None]] = {
    **dict.fromkeys(("scf.if", "scf.index_switch", "scf.execute_region"), _verify_yields),
    "scf.for": _verify_for,
    "scf.while": _verify_while,
    "cf.br": _verify_branch,
    "cf.cond_br": _verify_conditional_branch,
    "func.func": _verify_function,
    **dict.fromkeys(("tensor.extract_slice", "memref.subview"), _verify_part),
    "tensor.insert_slice": _verify_inserted,
    "memref.reinterpret_cast": _verify_strides,
    **dict.fromkeys(("tensor.collapse_shape", "memref.collapse_shape"), _verify_collapse),
    **dict.fromkeys(("tensor.expand_shape", "memref.expand_shape"), _verify_expand),
    "tensor.pad": _verify_pad,
    "memref.get_global": _verify_global,
    **{f"arith.{name}": _verify_same_shape for name in CASTS},
    "linalg.index": _verify_index,
}
"""What is verified beside, by the names of ops: no dialect is imported for it."""
