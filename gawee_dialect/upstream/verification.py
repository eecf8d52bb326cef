"""Verification of a module that passes change bit by bit: what did not change is known to be right.

A module is verified after every pass, and most of its ops are as the pass before left them. An op
is asked again where it, the ops around it, the ops that it uses, or anything inside it changed.
Ops of low levels are many, and of few kinds: one that is as another was is not asked.
xDSL verifies a whole module each time, and does not check dominance.
"""

from functools import cache

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Block, ErasedSSAValue, Operation, Region
from xdsl.irdl import IRDLOperation
from xdsl.traits import (
    HasCanonicalizationPatternsTrait,
    HasFolder,
    OpTrait,
    SameOperandsAndResultType,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import (
    Diagnostic,
    GaweeError,
    located,
    verify_dominance,
    verify_module,
)
from gawee_dialect.upstream.constraints import verify_constraints

State = tuple[object, ...]
"""All that an op's verifier looks at, but for the inside of its regions and what symbols name."""

OF_TYPES = ("arith", "llvm", "math", "memref", "vector")
"""Dialects whose verifiers of ops without regions look at types, properties and attributes."""

OF_TYPES_TRAITS = (HasCanonicalizationPatternsTrait, HasFolder, SameOperandsAndResultType)


class Verification:
    """What is known of the ops of one module."""

    def __init__(self) -> None:
        """Know nothing: the first time, every op is verified."""
        self._known: dict[Operation, State] = {}
        # The ops live on in here: no new op has the identity of one that is gone.
        self._right: set[State] = set()

    def verify(self, module: ModuleOp) -> None:
        """Verify what changed since the last time; raises GaweeError as `verify_module` does."""
        visit = _Visit(self._known, self._right)
        try:
            changed = visit.op(module, around=False)
        except VerifyException as error:
            self._known = {}
            raise GaweeError(located(error)) from error
        except GaweeError:
            self._known = {}
            raise
        except Exception:  # what an op is inside of is wrong: verifying the whole module finds it
            self._known = {}
            verify_module(module)
        else:
            self._known = visit.found
            if changed:
                verify_dominance(module)


class _Visit:
    """One walk over a module, children first, as xDSL verifies."""

    def __init__(self, known: dict[Operation, State], right: set[State]):
        self.known, self.found = known, dict[Operation, State]()
        self.asked = set[Operation]()
        self.right = right

    def op(self, op: Operation, *, around: bool) -> bool:
        """Verify an op where it, an op around it or one that it uses changed; return whether it did."""
        state = self.found[op] = _state(op)
        own = around or self.known.get(op) != state
        inside = [self.block(block, around=own) for region in op.regions for block in region.blocks]
        changed = own or True in inside
        if (
            changed
            or _uses_symbols(type(op))
            or any(operand.owner in self.asked for operand in op.operands)
        ):
            self.verify(op)
            self.asked.add(op)
        return changed

    def verify(self, op: Operation) -> None:
        """Verify an op, but one that is as another was, which was right."""
        if op.next_op is None or not _is_of_types(type(op)):
            _verify(op)
            return
        facts = _facts(op)
        if facts is None or facts not in self.right:
            _verify(op)
            if facts is not None:
                self.right.add(facts)

    def block(self, block: Block, *, around: bool) -> bool:
        """Verify what changed in a block; return whether anything did."""
        if block.is_empty or any(op.parent is not block for op in block.ops):
            block.verify()  # says that it is wrong
        return True in [self.op(op, around=around) for op in block.ops]


def _verify(op: Operation) -> None:
    op.verify(verify_nested_ops=False)
    try:
        verify_constraints(op)
    except VerifyException as error:
        raise GaweeError(Diagnostic.at(op, str(error))) from error


@cache
def _uses_symbols(kind: type[Operation]) -> bool:
    return kind.has_trait(SymbolUserOpInterface)


@cache
def _is_of_types(kind: type[Operation]) -> bool:
    """Whether types, properties and attributes say whether an op inside a block is right."""
    if not kind.__module__.startswith(("xdsl.dialects.", "gawee_dialect.upstream.")):
        return False
    if not issubclass(kind, IRDLOperation) or kind.dialect_name() not in OF_TYPES:
        return False
    definition = kind.get_irdl_definition()
    return not (definition.regions or definition.successors) and all(
        isinstance(each, OF_TYPES_TRAITS) or type(each).verify is OpTrait.verify
        for each in definition.traits
    )


def _facts(op: Operation) -> State | None:
    """Return what says whether an op of types is right; None where that is large, or gone."""
    properties = op.properties
    if isinstance(properties.get("value"), DenseIntOrFPElementsAttr):
        return None
    operands = op.operands
    if any(isinstance(each, ErasedSSAValue) for each in operands):
        return None
    return (
        type(op),
        tuple([each.type for each in operands]),
        op.result_types,
        tuple(properties.items()),
        tuple(op.attributes.items()),
    )


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
