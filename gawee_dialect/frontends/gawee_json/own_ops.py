"""Op types of a user's own in Gawee graphs, which a file that `--load` names may bring.

SHRINK = JsonOp(
    "SoftShrink",
    SoftShrinkOp,
    read=lambda node: SoftShrinkOp(node.tensor(0), lambd=node.number("lambd", 0.5)),
    write=lambda op: NodeText("SoftShrink", [op.input], {"lambd": op.lambd.value.data}),
    attributes={"lambd": {"type": "number", "description": "a number"}},
)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from gawee_dialect.frontends.gawee_json.export_ops import NodeText
    from gawee_dialect.frontends.gawee_json.ops import NodeReader


@dataclass(frozen=True)
class JsonOp:
    """How nodes of an op type are checked, read and written.

    `attributes` are JSON Schemas by key, whose `description` messages say; `{"$ref":
    "#/$defs/data"}` is a weight. `arity` are the numbers of inputs a node may have, None for any.
    """

    op_type: str
    op: type[Operation]
    read: Callable[[NodeReader], Operation]
    write: Callable[..., NodeText]
    """Takes an op of the class."""
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    required: Sequence[str] = ()
    arity: Sequence[int] | None = (1,)
    limits: tuple[str, ...] = ()

    def schema(self) -> dict[str, object]:
        """Return the JSON Schema of a node's attributes."""
        return {
            "type": "object",
            "properties": dict(self.attributes),
            "required": list(self.required),
            "additionalProperties": False,
        }


_own: ContextVar[Sequence[JsonOp]] = ContextVar("own", default=())


def own_ops() -> Mapping[str, JsonOp]:
    """Return the op types that were added to ours, by name."""
    return {each.op_type: each for each in _own.get()}


@contextmanager
def with_own_ops(ops: Sequence[JsonOp]) -> Generator[None]:
    """Have graphs read and written with more op types, for the time of a with block."""
    token = _own.set((*_own.get(), *ops))
    try:
        yield
    finally:
        _own.reset(token)
