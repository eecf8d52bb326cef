"""Write a graph for another number of images."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gawee_dialect.analysis.batch_axes import (
    BatchArguments,
    BatchAxes,
    Repeated,
    Size,
    batch_axes,
)
from gawee_dialect.analysis.fingerprint import first_difference
from gawee_dialect.diagnostics import Diagnostic, GaweeError, verify_module
from gawee_dialect.dialect.entry import (
    MAIN,
    ArgumentKind,
    EntryArgument,
    entry_arguments,
    find_function,
    output_names,
)
from gawee_dialect.dialect.graph.movement import BroadcastToOp, ReshapeOp, TileOp, integers
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import is_tensor, shape_text, tensor_shape, tensor_type
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.universe import make_context

HINT = (
    "name the inputs that have images: dynamic_batch={'x': 0} says that those of x are along axis 0"
)


def graph_of_one_image(
    module: ModuleOp, inputs: Mapping[str, int] | None, other: Callable[[], ModuleOp] | None = None
) -> tuple[ModuleOp, BatchArguments]:
    """Return a copy of a graph for one image, and what has images; `inputs` as below.

    `other` makes the same network for another number of images: what the two compute differently
    with one image depends on that number. Raises GaweeError.
    """

    def specialized(module: ModuleOp) -> tuple[ModuleOp, BatchArguments]:
        verify_module(module)
        module = module.clone()
        return module, specialize_batch(module, 1, inputs)

    module, images = specialized(module)
    if other is not None:
        different = first_difference(*map(_simplified, (module, specialized(other())[0])))
        if different is not None:
            message = (
                "expected to compute the same with every number of images, got a number that "
                "depends on it"
            )
            hint = "compile it for one batch size, without a dynamic batch"
            raise GaweeError(Diagnostic.at(different, message, hint))
    return module, images


def _simplified(module: ModuleOp) -> ModuleOp:
    """Return a copy of a graph without what nothing reads, and what can be computed now."""
    simplified = module.clone()
    CanonicalizePass().apply(make_context(), simplified)
    return simplified


def specialize_batch(
    module: ModuleOp, images: int = 1, inputs: Mapping[str, int] | None = None
) -> BatchArguments:
    """Write a graph for a number of images, in place; all inputs have them unless some are named.

    inputs: the axis of each input that has images. Unless given, axis 0 of all but scalars.

    Raises GaweeError for inputs that are not there or differ in how many images they have, and with
    all ops that compute something from several images.
    """
    function = find_function(module)
    if function is None or len(function.body.blocks) != 1:
        raise GaweeError(f"expected a function '@{MAIN}' of one block in the module, got none")
    given = inputs_with_images(function, inputs)
    arguments = function.body.block.args
    values: dict[SSAValue, int] = {arguments[each.index]: axis for each, axis in given.values()}
    found = batch_axes(function, values)
    if images != found.batch:
        resize(found, images)
        function.update_function_type()
    outputs = zip(output_names(function), found.outputs, strict=True)
    return BatchArguments(
        {name: axis for name, (_, axis) in given.items()},
        {name: place for name, place in outputs if place is not None},
    )


def inputs_with_images(
    function: FuncOp, axes: Mapping[str, int] | None
) -> Mapping[str, tuple[EntryArgument, int]]:
    """Return the inputs that have images, and along which axis; raises GaweeError."""
    inputs = {
        each.name: each for each in entry_arguments(function) if each.kind is ArgumentKind.INPUT
    }
    values = function.body.block.args
    shapes = {
        name: tensor_shape(values[each.index]) if is_tensor(each.type) else ()
        for name, each in inputs.items()
    }
    wanted = {name: 0 for name, shape in shapes.items() if shape} if axes is None else axes
    problems = [
        f"unknown input '{name}'; expected: {', '.join(inputs) or 'none'}"
        if name not in inputs
        else f"expected input '{name}' of shape {shape_text(shapes[name])} to have axis {axis}"
        for name, axis in wanted.items()
        if name not in inputs or not 0 <= axis < len(shapes[name])
    ]
    if problems:
        raise GaweeError(Diagnostic(each, hint=HINT) for each in problems)
    counts = {name: shapes[name][axis] for name, axis in wanted.items()}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        got = ", ".join(f"'{name}' ({count})" for name, count in counts.items())
        message = f"expected inputs with one number of images, at least 1, got {got or 'none'}"
        raise GaweeError(Diagnostic(message, hint=HINT))
    return {name: (inputs[name], axis) for name, axis in wanted.items()}


def resize(found: BatchAxes, images: int) -> None:
    """Give all that has images the size that another number of them has."""
    for repeated in found.repeated:
        _repeat_for(repeated, found.batch, images)
    for size in found.sizes:
        _resize_property(size, found.batch, images)
    for value, (axis, _) in found.axes.items():
        shape = list(tensor_shape(value))
        shape[axis] = shape[axis] // found.batch * images
        type = TensorType(tensor_type(value).element_type, shape)
        Rewriter.replace_value_with_new_type(value, type)


def _resize_property(size: Size, batch: int, images: int) -> None:
    attribute = size.op.properties[size.name]
    assert isinstance(attribute, DenseArrayBase)
    values = [int(each) for each in attribute.get_values()]
    values[size.entry] = values[size.entry] // batch * images
    size.op.properties[size.name] = integers(values)


def _repeat_for(repeated: Repeated, batch: int, images: int) -> None:
    """Insert the rows of one image, as often as there are images, in place of an operand."""
    op, (axis, outer) = repeated.op, repeated.place
    value: SSAValue = op.operands[repeated.operand]
    shape = list(tensor_shape(value))
    *before, size = shape[: axis + 1]
    rows, after = size // (outer * batch), shape[axis + 1 :]
    apart = (*before, outer, batch, rows, *after)
    one = (*before, outer, 1, rows, *after)
    repeats = [images if place == axis + 1 else 1 for place in range(len(one))]

    def insert(new: GaweeOp) -> SSAValue:
        hand_on_location(op, new)
        return Builder(InsertPoint.before(op)).insert(new).output

    made = value.owner
    if isinstance(made, BroadcastToOp) and _is_broadcast_along(made, axis):
        whole = (*before, outer * images * rows, *after)
        op.operands[repeated.operand] = insert(BroadcastToOp(made.input, shape=whole))
        return
    value = insert(ReshapeOp(value, shape=apart))
    value = insert(SliceOp(value, offsets=[0] * len(one), sizes=one))
    value = insert(TileOp(value, repeats=repeats))
    value = insert(ReshapeOp(value, shape=(*before, outer * images * rows, *after)))
    op.operands[repeated.operand] = value


def _is_broadcast_along(op: BroadcastToOp, axis: int) -> bool:
    sizes = tensor_shape(op.input)
    own = axis - (len(tensor_shape(op.output)) - len(sizes))
    return own < 0 or sizes[own] == 1


@dataclass(frozen=True)
class SpecializeBatch(ModulePass):
    """Write a graph for another number of images, with everything that is computed of them.

    Images are along axis 0 of the inputs, and the graph computes of each by itself: convolutions,
    products and all that is element by element, over other axes, or moves them along. Values that
    were written out for every image, such as the first state of a recurrence, are for as many.

    Requires: an op that computes something from several images, such as a mean over axis 0, is an
    error, and all of them are reported.

    rewrite:
        %y = gawee.relu %x : (tensor<8x3xf32>) -> tensor<8x3xf32>
        ->
        %y = gawee.relu %x : (tensor<1x3xf32>) -> tensor<1x3xf32>
    """

    name = "specialize-batch"
    numerics: ClassVar[Numerics] = EXACT

    images: int = 1
    """How many images the graph is for afterwards, at least 1."""

    inputs: tuple[str, ...] = ()
    """The inputs that have images; all but scalars by default."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.images < 1:
            raise GaweeError(f"expected at least 1 image, got {self.images}")
        specialize_batch(op, self.images, dict.fromkeys(self.inputs, 0) if self.inputs else None)
