"""Models traced for any number of images: twice, so that what depends on the number is seen."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR
from gawee_dialect.frontends.npu_ir.pytorch import is_tensor
from gawee_dialect.model import Model
from gawee_dialect.pytorch.image_places import ImagePlaces

Axes: TypeAlias = Literal[True] | Mapping[str, int]
"""The axis along which each input has images, by its name; axis 0 of all but scalars."""

Traced: TypeAlias = tuple[NPU_IR, Sequence[str]]
"""A graph, and the names of tensors of the model that calls change: its last inputs."""

Trace: TypeAlias = Callable[[Sequence[object]], Traced]
"""Makes the graph for example inputs."""


def traced_for_images(
    trace: Trace, inputs: Sequence[object], axes: Axes
) -> tuple[Traced, Mapping[str, int]]:
    """Return a graph for several images, and along which axis each of its inputs has them.

    Raises GaweeError with all ops that mix images, or that depend on how many there are.
    """
    traced, trace_more = _first_trace(trace, inputs, axes)
    ir, changed = traced
    count = len(ir.graph_inputs) - len(changed)
    named = (
        {each.name: 0 for each in ir.graph_inputs[:count] if each.shape} if axes is True else axes
    )

    def other() -> ModuleOp:
        assert trace_more is not None  # otherwise the first graph is refused
        different, _ = trace_more()
        _check_constants(ir, different)
        return import_ir(different)

    Model(import_ir(ir)).for_one_image(named, other)
    return traced, named


def _first_trace(
    trace: Trace, inputs: Sequence[object], axes: Axes
) -> tuple[Traced, Callable[[], Traced] | None]:
    """Trace for at least two images, since of one several axes may be theirs.

    Returns what traces for one more, or nothing where the inputs do not have images as they should,
    which is reported elsewhere.
    """
    tree = import_module("torch.utils._pytree")
    flat: list[object]
    flat, spec = tree.tree_flatten(tuple(inputs))
    tensors = {index: leaf for index, leaf in enumerate(flat) if is_tensor(leaf)}
    traced: Traced | None = None
    if axes is True:
        places = ImagePlaces({index: 0 for index, each in tensors.items() if len(each.shape)})
    else:
        traced = trace(inputs)
        names = dict(zip((each.name for each in traced[0].graph_inputs), tensors, strict=False))
        places = ImagePlaces({names[name]: axis for name, axis in axes.items() if name in names})
    images = places.images(flat)
    if (
        not isinstance(images, int)
        or images < 1
        or (axes is not True and len(places.axes) < len(axes))
    ):
        return traced or trace(inputs), None

    def traced_for(images: int) -> Traced:
        return trace(tree.tree_unflatten(places.resized(flat, images), spec))

    several = max(images, 2)
    if traced is None or images != several:
        traced = traced_for(several)
    return traced, lambda: traced_for(several + 1)


def _check_constants(ir: NPU_IR, other: NPU_IR) -> None:
    """Raise GaweeError for data that `forward` makes of the number of images."""
    names = sorted({*ir.constants, *other.constants})
    found = [name for name in names if ir.constants.get(name) != other.constants.get(name)]
    if found:
        raise GaweeError(
            Diagnostic(
                "expected constants that are the same for every number of images, got a different "
                f"'{found[0]}'",
                hint="compile it for one batch size, without a dynamic batch",
            )
        )
