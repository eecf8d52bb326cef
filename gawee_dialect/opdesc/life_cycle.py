"""An operator's life: `init`, `checked` by pre_run, `ready` by static_run, run, `end` by post_run.

What a step does is the format's: pre_run checks and makes the outputs' entries of the tensor table,
static_run computes once, run computes at each call, post_run frees the names of the outputs.
"""

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from enum import StrEnum

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.invocation import CheckFailure, Invocation, Tensor
from gawee_dialect.opdesc.pre_run import Checked, pre_run


class State(StrEnum):
    """Where in its life an operator is."""

    INIT = "init"
    CHECKED = "checked"
    READY = "ready"
    END = "end"


def _nothing(checked: Checked) -> None:
    """Do what an operator without a body does."""


@dataclass
class Life:
    """One invocation while a graph is set up, run and torn down; its steps come in their order.

    `table` is the tensor table that all operators of a graph share. `on_static_run` and `on_run`
    are what the steps compute; without `static_run` in the description, checked is ready.
    """

    compiled: CompiledOperator
    invocation: Invocation
    table: MutableMapping[str, Tensor]
    on_static_run: Callable[[Checked], None] = _nothing
    on_run: Callable[[Checked], None] = _nothing
    state: State = State.INIT
    _checked: Checked | None = field(default=None, init=False)

    def pre_run(self) -> Checked:
        """Check the invocation and add its outputs to the table; raises GaweeError."""
        self._require("pre_run", State.INIT)
        try:
            checked = pre_run(self.compiled, self.invocation, self.table)
        except CheckFailure as failure:
            text = f"'{self.invocation.optype}' op {failure.message}"
            raise GaweeError(
                Diagnostic(text, node=self.invocation.name, hint=failure.hint)
            ) from failure
        self.table.update({tensor.name: tensor for tensor in checked.outputs})
        self._checked = checked
        has_static_run = self.compiled.operator.static_run is not None
        self.state = State.CHECKED if has_static_run else State.READY
        return checked

    def static_run(self) -> None:
        """Compute what is computed once; raises GaweeError out of order."""
        self.on_static_run(self._require("static_run", State.CHECKED))
        self.state = State.READY

    def run(self) -> None:
        """Compute; raises GaweeError out of order."""
        self.on_run(self._require("run", State.READY))

    def post_run(self) -> None:
        """Take the outputs out of the table, so that their names are free; raises GaweeError."""
        checked = self._require("post_run", State.CHECKED, State.READY)
        for tensor in checked.outputs:
            del self.table[tensor.name]
        self.state = State.END

    def _require(self, step: str, *states: State) -> Checked:
        if self.state not in states:
            expected = " or ".join(f"'{state}'" for state in states)
            message = f"'{self.invocation.optype}' op cannot {step}: expected state {expected}"
            raise GaweeError(
                Diagnostic(f"{message}, got '{self.state}'", node=self.invocation.name)
            )
        return self._checked or Checked((), {})


def offset_in_arena(
    name: str,
    table: Mapping[str, Tensor],
    offsets: Mapping[str, int],
    calc_offset: Callable[[Tensor], int] | None = None,
) -> int:
    """Return where in an arena a tensor starts, in bytes: its own place, or inside its owner.

    `offsets` are the places of tensors that have memory of their own. `calc_offset` says where in
    its owner a tensor begins; it begins with its owner where there is none. Raises GaweeError for
    a tensor without planned memory.
    """
    tensor = table.get(name)
    if tensor is None:
        raise GaweeError(f"expected tensor '{name}' to be in the tensor table")
    if tensor.owner is None:
        if name not in offsets:
            raise GaweeError(f"expected a place of tensor '{name}' in the arena")
        return offsets[name]
    inside = 0 if calc_offset is None else calc_offset(tensor)
    return offset_in_arena(tensor.owner, table, offsets) + inside
