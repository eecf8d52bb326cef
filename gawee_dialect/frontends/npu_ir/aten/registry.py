"""The registry of ATen ops: which function turns a node into ops of the dialect.

@register_op("aten.mul.Tensor", "aten.mul.Scalar")
def mul(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    return emit(MulOp(*promoted(emit, self, other)))
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from gawee_dialect.frontends.npu_ir.ir import LIST_NONE_MASKS, LIST_SIZES
from gawee_dialect.frontends.op_mapping.registry import Function, OpMapping, Refusal, Registry, bind

FAMILIES = (
    "activation",
    "arithmetic",
    "attention",
    "casting",
    "comparison",
    "contraction",
    "creation",
    "indexing",
    "linear_systems",
    "normalization",
    "recurrent",
    "reduction",
    "resampling",
    "shape",
    "special_functions",
    "windows",
)
"""The files beside this one that register the ops of ATen."""

ATEN = Registry("gawee_dialect.frontends.npu_ir.aten", FAMILIES)
"""What is registered for ops of PyTorch, the user's own among them."""


def register_op(*names: str, limits: Sequence[str] = ()) -> Callable[[Function], Function]:
    """Register a function for ops by name: `aten.add.Tensor`, `aten.add` (any overload), `my::op`.

    A later registration takes the place of an earlier one. `limits` say what of an op is not
    supported, for the report of coverage.
    """
    return ATEN.register(*map(canonical_name, names), limits=limits)


def canonical_name(op_type: str) -> str:
    """Return an op's name as the registry spells it: `my::op` is `my.op`."""
    return op_type.replace("::", ".")


def base_name(name: str) -> str:
    """Return a name without its overload: `aten.add.Tensor` becomes `aten.add`."""
    return ".".join(name.split(".")[:2])


def is_in_place(op_type: str) -> bool:
    """Whether an op writes its first argument: `aten.relu_.default`, but not `aten.__and__`."""
    base = base_name(canonical_name(op_type))
    return base.startswith("aten.") and base.endswith("_") and not base.endswith("__")


def find_mapping(op_type: str) -> OpMapping | None:
    """Return what is registered for an op: by its exact name, else by its name without overload.

    An op that works in place has the meaning of its functional twin.
    """
    name = canonical_name(op_type)
    candidates = [name, base_name(name)]
    if is_in_place(name):
        functional = base_name(name)[:-1]
        candidates += [functional + name[len(functional) + 1 :], functional]
    return ATEN.find(*candidates)


STORAGE = frozenset(
    "layout device pin_memory non_blocking copy memory_format physical_layout cudnn_enable "
    "cudnn_enabled".split()
)
"""Arguments that say where a tensor is, how it is stored, and which library computes it: no mapping
takes them, as what the tensor holds is the same."""


def bind_arguments(
    mapping: OpMapping, inputs: Sequence[SSAValue], attributes: Mapping[str, object]
) -> dict[str, object]:
    """Return the arguments; raises Refusal where they do not fit the schema.

    What the attributes say about lists of tensors is taken out of them, as `ir.py` describes it,
    and of what is `STORAGE` what the function does not ask for.
    """
    aside = {LIST_SIZES, LIST_NONE_MASKS, *STORAGE} - {each.name for each in mapping.parameters}
    return bind(
        mapping.parameters,
        inputs,
        {key: value for key, value in attributes.items() if key not in aside},
        list_sizes=_sizes(attributes),
        none_masks=_masks(attributes),
    )


def _sizes(attributes: Mapping[str, object]) -> Sequence[int]:
    sizes = attributes.get(LIST_SIZES, [])
    if not isa(sizes, list[int]):
        raise Refusal(f"expected '{LIST_SIZES}' to be a list of integers")
    return sizes


def _masks(attributes: Mapping[str, object]) -> Sequence[list[bool]]:
    masks = attributes.get(LIST_NONE_MASKS, [])
    if not isa(masks, list[list[bool]]):
        raise Refusal(f"expected '{LIST_NONE_MASKS}' to be lists of booleans")
    return masks
