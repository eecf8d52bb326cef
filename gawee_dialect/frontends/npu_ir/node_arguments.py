"""A node's arguments by the names that the function has which its op is mapped by."""

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from gawee_dialect.frontends.npu_ir.ir import LIST_NONE_MASKS, LIST_SIZES
from gawee_dialect.frontends.op_mapping.registry import OpMapping, Refusal, bind

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
