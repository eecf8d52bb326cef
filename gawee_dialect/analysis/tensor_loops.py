"""Loops that carry tensors: whether each version is done with before the next one is made.

Then all versions may live in one piece of memory, and an insertion is a store.
"""

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue


def stale_use(loop: scf.ForOp) -> Operation | None:
    """Return the first op that uses a version of a carried tensor when there is a newer one.

    Versions are a loop's block argument, what `tensor.insert` and inner loops make of it, and what
    the loop yields. None where there is no such op.
    """
    return _Versions().visit(loop)


class _Versions:
    """Which memory each version of a carried tensor is in, and the newest version of each."""

    def __init__(self) -> None:
        self.memory: dict[SSAValue, SSAValue] = {}
        self.newest: dict[SSAValue, SSAValue] = {}

    def visit(self, loop: scf.ForOp) -> Operation | None:
        """Follow the versions through a loop; returns the first op that uses an old one."""
        body = loop.body.block
        for init, argument in zip(loop.iter_args, body.args[1:], strict=True):
            if self._is_old(init):
                return loop
            self._follow(init, argument)
        stale = self._visit_body(body)
        for argument, result in zip(body.args[1:], loop.results, strict=True):
            self._follow(argument, result)
        return stale

    def _visit_body(self, body: Block) -> Operation | None:
        for op in body.ops:
            if isinstance(op, scf.ForOp):
                stale = self.visit(op)
                if stale is not None:
                    return stale
            elif any(map(self._is_old, op.operands)):
                return op
            elif isinstance(op, tensor.InsertOp):
                self._follow(op.dest, op.result)
            elif isinstance(op, scf.YieldOp) and not self._keeps_places(body, op):
                return op
        return None

    def _keeps_places(self, body: Block, op: scf.YieldOp) -> bool:
        pairs = zip(op.operands, body.args[1:], strict=True)
        return all(self.memory.get(value) is self.memory.get(own) for value, own in pairs)

    def _follow(self, old: SSAValue, new: SSAValue) -> None:
        if isinstance(new.type, TensorType):
            self.memory[new] = self.memory.get(old, new)
            self.newest[self.memory[new]] = new

    def _is_old(self, value: SSAValue) -> bool:
        memory = self.memory.get(value)
        return memory is not None and self.newest[memory] is not value
