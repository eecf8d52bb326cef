"""Verification of a module that passes change bit by bit: what did not change is known to be right.

A module is verified after every pass, and most of its ops are as the pass before left them. An op
is asked again where it, the ops around it, the ops that it uses, or anything inside it changed.
xDSL verifies a whole module each time, and does not check dominance.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.traits import SymbolUserOpInterface

from gawee_dialect.diagnostics import verify_dominance, verify_module

State = tuple[object, ...]
"""All that an op's verifier looks at, but for the inside of its regions and what symbols name."""


class Verification:
    """What is known of the ops of one module."""

    def __init__(self) -> None:
        """Know nothing: the first time, every op is verified."""
        self._known: dict[Operation, State] = {}
        # The ops live on in here: no new op has the identity of one that is gone.

    def verify(self, module: ModuleOp) -> None:
        """Verify what changed since the last time; raises GaweeError as `verify_module` does."""
        visit = _Visit(self._known)
        try:
            visit.op(module, around=False)
        except Exception:  # an op is wrong: verifying the whole module finds the first one
            self._known = {}
            verify_module(module)
        else:
            self._known = visit.found
            verify_dominance(module)


class _Visit:
    """One walk over a module, children first, as xDSL verifies."""

    def __init__(self, known: dict[Operation, State]):
        self.known, self.found = known, dict[Operation, State]()
        self.changed = set[Operation]()

    def op(self, op: Operation, *, around: bool) -> bool:
        """Verify an op where it changed, or an op around it; return whether anything did."""
        state = self.found[op] = _state(op)
        own = around or self.known.get(op) != state
        inside = [self.block(block, around=own) for region in op.regions for block in region.blocks]
        changed = (
            own
            or any(inside)
            or any(operand.owner in self.changed for operand in op.operands)
            or op.has_trait(SymbolUserOpInterface)
        )
        if changed:
            op.verify(verify_nested_ops=False)
            self.changed.add(op)
        return changed

    def block(self, block: Block, *, around: bool) -> bool:
        """Verify what changed in a block; return whether anything did."""
        if block.is_empty or any(op.parent is not block for op in block.ops):
            block.verify()  # says that it is wrong
        return any([self.op(op, around=around) for op in block.ops])


def _state(op: Operation) -> State:
    # The type of an operand is in the state of what defines it.
    block = op.parent
    return (
        block,
        None if block is None else block.parent_op(),
        op.next_op is None,
        tuple(op.operands),
        op.attributes.copy(),
        op.properties.copy(),
        op.result_types,
        op.successors,
        [[_arguments(block) for block in region.blocks] for region in op.regions],
    )


def _arguments(block: Block) -> tuple[Block, Region | None, list[object]]:
    return block, block.parent, [argument.type for argument in block.args]
