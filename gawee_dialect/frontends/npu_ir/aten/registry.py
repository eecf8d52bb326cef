"""The registry of ATen ops: which function turns a node into ops of the dialect.

    @register_op("aten.mul.Tensor", "aten.mul.Scalar")
    def mul(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
        return emit(MulOp(*promoted(emit, self, other)))

The function's parameters after the first are the op's schema: names, order, kinds and defaults.
`schema.py` fills them from a node. What it returns are the node's outputs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TypeAlias, TypeVar

from xdsl.ir import SSAValue

from gawee_dialect.frontends.npu_ir.aten.schema import Parameter, parameters_of

Result: TypeAlias = SSAValue | Sequence[SSAValue | None] | None
"""The outputs of a node: one, several (None for one that nothing reads), or none at all."""

Function = TypeVar("Function", bound=Callable[..., Result])

FAMILIES = (
    "activation",
    "arithmetic",
    "attention",
    "casting",
    "comparison",
    "contraction",
    "convolution",
    "creation",
    "einsum",
    "indexing",
    "joining",
    "normalization",
    "padding",
    "pointwise",
    "pooling",
    "recurrent",
    "reduction",
    "resizing",
    "scattering",
    "shape",
    "slicing",
    "statistics",
)
"""The files beside this one that register the ops of ATen."""

_MAPPINGS: dict[str, "OpMapping"] = {}


@dataclass(frozen=True)
class OpMapping:
    """How the nodes of one op become ops of the dialect."""

    name: str
    function: Callable[..., Result]
    limits: Sequence[str] = ()

    @cached_property
    def parameters(self) -> Sequence[Parameter]:
        """The op's schema, as the function declares it."""
        return parameters_of(self.function)


def register_op(*names: str, limits: Sequence[str] = ()) -> Callable[[Function], Function]:
    """Register a function for ops by name: `aten.add.Tensor`, `aten.add` (any overload), `my::op`.

    A later registration takes the place of an earlier one. `limits` say what of an op is not
    supported, for the report of coverage.
    """

    def register(function: Function) -> Function:
        for name in names:
            plain = canonical_name(name)
            _MAPPINGS[plain] = OpMapping(plain, function, limits)
        return function

    return register


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
    load_families()
    name = canonical_name(op_type)
    candidates = [name, base_name(name)]
    if is_in_place(name):
        functional = base_name(name)[:-1]
        candidates += [functional + name[len(functional) + 1 :], functional]
    return next((_MAPPINGS[each] for each in candidates if each in _MAPPINGS), None)


def mappings() -> Iterator[OpMapping]:
    """Yield every mapping, in the order of names."""
    load_families()
    yield from (_MAPPINGS[name] for name in sorted(_MAPPINGS))


def load_families() -> None:
    """Import the files that register ATen's ops; those that are loaded cost nothing."""
    for family in FAMILIES:
        import_module(f"gawee_dialect.frontends.npu_ir.aten.{family}")
