"""Which op of machine code a pass has changed: the first where two functions of a name part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from gawee_dialect.instruments.check.blame import Culprit, op_text
from gawee_dialect.instruments.check.execute import Plan
from gawee_dialect.instruments.check.failure import blamed_op


@dataclass(frozen=True)
class ChangedOp:
    """Two ops of the llvm dialect in the same place; None where one function ends before it."""

    function: str
    before: Operation | None
    after: Operation | None

    @property
    def text(self) -> str:
        """Say what was changed: `'llvm.fmul' in '@conv_0', now 'llvm.fadd'`."""
        before = "the end" if self.before is None else op_text(self.before)
        after = "the end" if self.after is None else op_text(self.after)
        now = "with other operands or attributes" if before == after else after
        return f"{before} in '@{self.function}', now {now}"


def blamed_code(culprit: Culprit | None, changed: ChangedOp | None) -> str:
    """Say which op differs first, and which of the machine code is another; empty of neither."""
    if culprit is None:
        return "" if changed is None else f"first op that the pass changed: {changed.text}"
    inside = "" if changed is None else f"; the pass changed {changed.text}"
    return f"{blamed_op(culprit)}{inside}"


def blamed_name(culprit: Culprit | None, changed: ChangedOp | None) -> str | None:
    """Return the name of the op that `blamed_code` says first."""
    if culprit is not None and culprit.difference is not None:
        return culprit.before.name
    return None if changed is None or changed.before is None else changed.before.name


def changed_op(before: Plan, after: Plan, culprit: Culprit | None = None) -> ChangedOp | None:
    """Return the first op of the llvm dialect that is another one; None where all are the same.

    Where a culprit calls a kernel, that kernel's ops are looked at alone. None where values inside
    the function can be seen.
    """
    if after.is_observable:
        return None
    old, new = _functions(before.machine_code), _functions(after.machine_code)
    called = None if culprit is None else _callee(culprit.before)
    names = [name for name in old if name in new and called in (None, name)]
    found = (_first_change(name, old[name], new[name]) for name in names)
    return next((each for each in found if each is not None), None)


def _functions(module: ModuleOp) -> dict[str, llvm.FuncOp]:
    functions = (op for op in module.ops if isinstance(op, llvm.FuncOp) and op.body.blocks)
    return {function.sym_name.data: function for function in functions}


def _callee(op: Operation) -> str | None:
    callee = op.properties.get("callee")
    return None if callee is None else str(callee).removeprefix("@").strip('"')


def _first_change(name: str, before: llvm.FuncOp, after: llvm.FuncOp) -> ChangedOp | None:
    same: dict[SSAValue | Block, SSAValue | Block] = {}
    for old, new in zip(before.body.blocks, after.body.blocks, strict=False):
        same[old] = new
        same |= zip(old.args, new.args, strict=False)
    for old, new in zip_longest(_ops(before), _ops(after)):
        if old is None or new is None or not _is_same(old, new, same):
            return ChangedOp(name, old, new)
        same |= zip(old.results, new.results, strict=True)
    return None


def _ops(function: llvm.FuncOp) -> Iterator[Operation]:
    return (op for block in function.body.blocks for op in block.ops)


def _is_same(
    old: Operation, new: Operation, same: dict[SSAValue | Block, SSAValue | Block]
) -> bool:
    """Whether two ops are equal, with values and blocks that stand for each other."""

    def match(left: Sequence[SSAValue | Block], right: Sequence[SSAValue | Block]) -> bool:
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(same.get(a, b) is b for a, b in pairs)

    types = [each.type for each in old.results] == [each.type for each in new.results]
    attributes = (old.properties, old.attributes) == (new.properties, new.attributes)
    named = old.name == new.name and types and attributes
    return named and match(old.operands, new.operands) and match(old.successors, new.successors)
