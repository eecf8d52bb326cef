"""Verification of a module that passes change bit by bit: what did not change is known to be right.

A module is verified after every pass, and most of its ops are as the pass before left them. An op
is asked again where it, the ops around it, the ops that it uses, or anything inside it changed.
Ops of low levels are many, and of few kinds: one that is as another was is not asked.
xDSL verifies a whole module each time, and does not check dominance.
"""

from functools import cache

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Attribute, Block, ErasedSSAValue, Operation, Region, SSAValue
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
        self._known: dict[int, State] = {}
        self._right: set[State] = set()

    def verify(self, module: ModuleOp) -> None:
        """Verify what changed since the last time; raises GaweeError as `verify_module` does."""
        visit = _Visit(self._known, self._right)
        try:
            changed = visit.op(module, None, None, around=False)
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

    def __init__(self, known: dict[int, State], right: set[State]):
        self.known, self.found = known, dict[int, State]()
        """By the identity of an op, which its state keeps alive: no new op gets it."""
        self.readers = set[int]()
        """What uses results of ops that were verified."""
        self.right = right

    def op(
        self, op: Operation, block: Block | None, outer: Operation | None, *, around: bool
    ) -> bool:
        """Verify an op where it, an op around it or one that it uses changed; return whether it did."""
        key = id(op)
        state = self.known.get(key)
        if state is None or not _is_as(op, block, outer, state):
            state, around = _state(op, block, outer), True
        self.found[key] = state
        changed = around
        for region in op.regions:
            for inner in region.blocks:
                changed |= self.block(inner, around=around)
        if changed or key in self.readers or _uses_symbols(type(op)):
            self.verify(op)
            self.readers.update(id(use.operation) for each in op.results for use in each.uses)
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
        outer, op, changed = block.parent_op(), block.first_op, False
        if op is None:
            block.verify()  # says that it is wrong
        while op is not None:
            if op.parent is not block:
                block.verify()
            changed |= self.op(op, block, outer, around=around)
            op = op.next_op
        return changed


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


def _state(op: Operation, block: Block | None, outer: Operation | None) -> State:
    # The type of an operand is in the state of what defines it.
    return (
        op,
        block,
        outer,
        op.next_op is None,
        _operands(op),
        op.attributes.copy(),
        op.properties.copy(),
        [each.type for each in op.results],
        op.successors,
        _inside(op),
    )


def _is_as(op: Operation, block: Block | None, outer: Operation | None, state: State) -> bool:
    """Whether an op is as its state says; most are, so that none is made for them."""
    _, was_in, was_inside, was_last, operands, attributes, properties, types, successors, inside = (
        state
    )
    return (
        was_in is block
        and was_inside is outer
        and was_last is (op.next_op is None)
        and operands == _operands(op)
        and attributes == op.attributes
        and properties == op.properties
        and types == [each.type for each in op.results]
        and successors == op.successors
        and inside == _inside(op)
    )


def _operands(op: Operation) -> tuple[SSAValue, ...]:
    # A new tuple wherever one of them changes.
    return op._operands  # pyright: ignore[reportPrivateUsage]


def _inside(op: Operation) -> list[list[tuple[Block, Region | None, list[Attribute]]]]:
    """Return the blocks of an op, and the types of their arguments."""
    return [
        [(block, block.parent, [each.type for each in block.args]) for block in region.blocks]
        for region in op.regions
    ]
