"""What no run can see: a program that computes the right thing by luck."""

from collections.abc import Iterator

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.check.accesses_outside import accesses_outside
from gawee_dialect.instruments.check.failure import failure
from gawee_dialect.instruments.check.overflow_claims import wrong_overflow_claims
from gawee_dialect.instruments.check.overlapping_buffers import overlapping_buffers
from gawee_dialect.instruments.check.parallel_writes import wrong_parallel_loops
from gawee_dialect.instruments.check.violation import Violation


def violations(module: ModuleOp) -> Iterator[Violation]:
    """Yield the ops of a module that say of themselves what is not so."""
    yield from wrong_parallel_loops(module)
    yield from overlapping_buffers(module)
    yield from accesses_outside(module)
    if any(isinstance(op, llvm.FuncOp) for op in module.ops):
        # The back end describes arguments: only modules at its level pay for the import.
        from gawee_dialect.instruments.check.pointer_claims import wrong_pointer_claims

        yield from wrong_pointer_claims(module)
        yield from wrong_overflow_claims(module)


def new_violation(before: ModuleOp, after: ModuleOp) -> Violation | None:
    """Return the first op of a module that breaks a rule, where none did before."""
    found = next(violations(after), None)
    if found is None:
        return None
    known = {each.message for each in violations(before)}
    return next((each for each in violations(after) if each.message not in known), None)


def check_rules(module_pass: ModulePass, before: ModuleOp, after: ModuleOp) -> None:
    """Raise CheckFailure where a pass made an op break a rule."""
    found = new_violation(before, after)
    if found is not None:
        message = f"is wrong where no run shows it: '{found.op.name}' op {found.message}"
        raise failure([module_pass], message, found.op)
