"""Verification of a module that passes change bit by bit: what did not change is known to be right.

A module is verified after every pass, and most of its ops are as the pass before left them. An op
is asked again where it, the ops around it, the ops that it uses, or anything inside it changed;
functions where they themselves did, and what looks at symbols where one changed.
Ops of low levels are many, and of few kinds: one that is as another was is not asked.
Values are looked for where an op changed, moved or is gone, and in all of the module where one may
be missing.
xDSL verifies a whole module each time, and does not check dominance.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, ErasedSSAValue, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import (
    HasCanonicalizationPatternsTrait,
    HasFolder,
    OpTrait,
    SameOperandsAndResultType,
    SymbolTable,
    SymbolUserOpInterface,
)

from gawee_dialect.diagnostics import Diagnostic, GaweeError, verify_dominance, verify_module
from gawee_dialect.upstream.constraints import verify_constraints
from gawee_dialect.upstream.dominance import is_isolated

OF_TYPES = ("arith", "llvm", "math", "memref", "vector")
"""Dialects whose verifiers of ops without regions look at types, properties and attributes."""

OF_TYPES_TRAITS = (HasCanonicalizationPatternsTrait, HasFolder, SameOperandsAndResultType)

TERMINATORS = ("gawee.yield", "linalg.yield", "llvm.br", "llvm.cond_br", "llvm.return", "scf.yield")
"""Ops whose verifiers look at their place too, which `_place` says."""

OF_ITSELF = (FuncOp, ModuleOp)
"""Ops whose verifiers look at no op inside, but for symbols and for values from outside."""

Facts = tuple[object, ...]

_right: set[Facts] = set()
"""The facts of ops that were right, of all modules of this process."""

RIGHT = 20_000
"""How many are kept: what is more is forgotten with all of them."""


class Verification:
    """What is known of the ops of one module."""

    def __init__(self) -> None:
        """Know nothing: the first time, every op is verified."""
        self._known: dict[int, _Seen] = {}

    def verify(self, module: ModuleOp) -> None:
        """Verify what changed since the last time; raises GaweeError as `verify_module` does."""
        visit = _Visit(self._known)
        try:
            visit.module(module)
        except Exception:
            self._known = {}
            _verify_attributes(module)
            verify_module(module)  # says what is wrong, and where
            raise
        self._known = visit.found


def _are_attributes(held: Iterable[object]) -> bool:
    return all([isinstance(each, Attribute) for each in held])


def _verify_attributes(module: ModuleOp) -> None:
    """Verify that attributes, properties and types are xDSL's; raises GaweeError with the ops."""
    problems: list[Diagnostic] = []
    for op in module.walk():
        held: dict[str, object] = {
            f"attribute '{key}'": op.attributes[key] for key in op.attributes
        }
        held |= {f"property '{key}'": op.properties[key] for key in op.properties}
        held |= {f"type of result #{number}": each.type for number, each in enumerate(op.results)}
        problems.extend(
            Diagnostic.at(op, f"expected {what} to be an attribute of xDSL, got Python's {each!r}")
            for what, each in held.items()
            if not isinstance(each, Attribute)
        )
    if problems:
        raise GaweeError(problems)


@dataclass(slots=True)
class _Seen:
    """An op as it was verified, but for the inside of its regions and what symbols name.

    The types of its operands are with the ops that define them.
    """

    op: Operation
    """Alive as long as this is: no other op gets its identity."""
    block: Block | None
    is_last: bool
    operands: tuple[SSAValue, ...]
    attributes: dict[str, Attribute]
    properties: dict[str, Attribute]
    results: tuple[SSAValue, ...]
    types: list[Attribute]
    successors: tuple[Block, ...]
    inside: "Inside | None"
    place: int = 0
    """Its number in the order of the text."""

    @staticmethod
    def of(op: Operation, block: Block | None) -> "_Seen":
        """Note how an op is."""
        return _Seen(
            op,
            block,
            op.next_op is None,
            _operands(op),
            op.attributes.copy(),
            op.properties.copy(),
            op.results,
            [each.type for each in op.results],
            _successors(op),
            _inside(op) if op.regions else None,
        )

    def is_still(self, op: Operation, block: Block | None) -> bool:
        """Whether the op is as it was; most are, so that nothing is made for them."""
        return (
            self.block is block
            and self.is_last is (op.next_op is None)
            and self.operands == _operands(op)
            and self.attributes == op.attributes
            and self.properties == op.properties
            and self.results == op.results
            and self.types == [each.type for each in op.results]
            and self.successors == _successors(op)
            and self.inside == (_inside(op) if op.regions else None)
        )

    def has_symbol(self) -> bool:
        """Whether the op was what a symbol names."""
        return "sym_name" in self.properties or "sym_name" in self.attributes


Inside = list[list[tuple[Block, Region | None, tuple[SSAValue, ...], list[Attribute]]]]


def _inside(op: Operation) -> Inside:
    """Return the blocks of an op, with their arguments and the types of these."""
    return [
        [
            (block, block.parent, block.args, [each.type for each in block.args])
            for block in region.blocks
        ]
        for region in op.regions
    ]


class _Visit:
    """One walk over a module, children first, as xDSL verifies."""

    def __init__(self, known: dict[int, _Seen]):
        self.known = known
        self.found: dict[int, _Seen] = {}
        """The ops that were met, by their identity."""
        self.branches = False
        """Whether a region has several blocks."""
        self.is_doubtful = False
        """Whether a value may be used where it is not defined: it takes a look at all of them."""
        self._readers = set[int]()
        """What uses results of ops that changed."""
        self._place = -1
        """The greatest number of an op that is as it was: those behind it had a greater one."""
        self._new_symbols = False
        """Whether an op with a symbol changed."""
        self._of_symbols: list[Operation] = []
        """What was not asked, and looks at symbols."""

    def module(self, module: ModuleOp) -> None:
        """Verify what changed in a module; raises an exception where that is wrong."""
        changed = self.op(module, None, around=False)
        gone = [self.known[key] for key in self.known.keys() - self.found.keys()]
        for seen in gone:
            self._new_symbols |= seen.has_symbol()
            self.is_doubtful |= any(each.first_use for each in seen.op.results)
        if self._new_symbols:
            for op in self._of_symbols:
                self._verify(op)
        if self.is_doubtful or (changed and self.branches):
            verify_dominance(module)

    def op(self, op: Operation, block: Block | None, *, around: bool) -> bool:
        """Verify an op where it, an op around it or one that it uses changed, or what is inside.

        Returns whether anything changed.
        """
        key = id(op)
        seen = self.known.get(key)
        if seen is not None and seen.place > self._place and seen.is_still(op, block):
            self._place = seen.place
        else:
            if seen is not None:
                self._note_readers(op)
                self._new_symbols |= seen.has_symbol()
            seen, around = _Seen.of(op, block), True
            self._new_symbols |= seen.has_symbol()
        self.found[key] = seen
        seen.place = len(self.found)
        inside = False
        for region in op.regions:
            self.branches |= region.first_block is not region.last_block
            for inner in region.blocks:
                inside |= self._block(inner, around=around)
        asked = around or key in self._readers
        if asked or (inside and not isinstance(op, OF_ITSELF)):
            self._verify(op)
        elif _looks_at_symbols(type(op)):
            self._of_symbols.append(op)
        if asked:
            self._look_at_operands(op)
        return asked or inside

    def _block(self, block: Block, *, around: bool) -> bool:
        """Verify what changed in a block; return whether anything did."""
        op, changed = block.first_op, False
        if op is None:
            block.verify()  # says that it is wrong
        while op is not None:
            if op.parent is not block:
                block.verify()
            changed |= self.op(op, block, around=around)
            op = op.next_op
        return changed

    def _verify(self, op: Operation) -> None:
        """Verify an op, but one that is as another was, which was right."""
        facts = _facts(op) if _is_of_types(type(op)) else None
        if facts is not None and facts in _right:
            return
        if op.attributes and not _are_attributes(op.attributes.values()):
            raise TypeError  # `_verify_attributes` says which
        op.verify(verify_nested_ops=False)
        verify_constraints(op)
        if facts is not None:
            if len(_right) >= RIGHT:
                _right.clear()
            _right.add(facts)

    def _note_readers(self, op: Operation) -> None:
        """Have what uses the results of an op asked, which comes after it."""
        for result in op.results:
            for use in result.uses:
                self._readers.add(id(use.operation))
                self.is_doubtful |= id(use.operation) in self.found

    def _look_at_operands(self, op: Operation) -> None:
        self.is_doubtful |= not all(self._is_before(value, op) for value in op.operands)

    def _is_before(self, value: SSAValue, op: Operation) -> bool:
        """Whether a value is defined before an op, where that sees it: what was met, but for what
        is inside of something else."""
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        while op.parent is not block:
            around = op.parent_op()
            if around is None or is_isolated(type(around)):
                return False
            op = around
        if isinstance(owner, Block):
            return value in owner.args
        return id(owner) in self.found and owner is not op and value in owner.results


@cache
def _looks_at_symbols(kind: type[Operation]) -> bool:
    if kind.name == "memref.get_global":
        return True
    return kind.has_trait(SymbolUserOpInterface) or kind.has_trait(SymbolTable)


@cache
def _is_of_types(kind: type[Operation]) -> bool:
    """Whether an op inside a block is right as another is that has the same facts."""
    if not kind.__module__.startswith(("xdsl.dialects.", "gawee_dialect.")):
        return False
    if kind.name in TERMINATORS:
        return True
    if not issubclass(kind, IRDLOperation) or kind.dialect_name() not in OF_TYPES:
        return False
    definition = kind.get_irdl_definition()
    return not (definition.regions or definition.successors or _looks_at_symbols(kind)) and all(
        isinstance(each, OF_TYPES_TRAITS) or type(each).verify is OpTrait.verify
        for each in definition.traits
    )


def _facts(op: Operation) -> Facts | None:
    """Return what says whether an op of types is right; None where that is large, or gone."""
    properties = op.properties
    if isinstance(properties.get("value"), DenseIntOrFPElementsAttr):
        return None
    operands = _operands(op)
    if any([isinstance(each, ErasedSSAValue) for each in operands]):
        return None
    is_terminator = op.name in TERMINATORS
    if not is_terminator and op.next_op is None:
        return None
    return (
        type(op),
        _place(op) if is_terminator else None,
        tuple([each.type for each in operands]),
        op.result_types,
        tuple(properties.items()),
        tuple(op.attributes.items()),
    )


def _place(op: Operation) -> tuple[object, ...] | None:
    """Return what a terminator's verifier looks at of its place; None where that is none."""
    region = op.parent_region()
    if region is None:
        return None
    alone = region.first_block is region.last_block
    reached = all(each.parent is region for each in _successors(op))
    return op.next_op is None, type(region.parent), alone, reached


def _operands(op: Operation) -> tuple[SSAValue, ...]:
    # `operands` makes a view each time, which compares by a method of Python's.
    return op._operands  # pyright: ignore[reportPrivateUsage]


def _successors(op: Operation) -> tuple[Block, ...]:
    return op._successors  # pyright: ignore[reportPrivateUsage]
