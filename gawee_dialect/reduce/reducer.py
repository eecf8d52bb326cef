"""Try smaller modules, keep those that still fail, until none is left to try.

1. Sizes, all at once and the smallest first: the tests after it are then cheap.
2. Functions, ops, those in bodies of recurrences too, outputs and optional operands that the
   failure does not need. Of other dialects than ours, branches, blocks, loops and choices too,
   many cuts at once: those that each leave a failing module are then made together.
3. Sizes of what is left, one class of equal sizes after another.
4. Properties towards their defaults.

2 to 4 are repeated until nothing changes. A module is only ever replaced by one that verifies and
fails, so whatever interrupts the work, `Reducer.module` is a result.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from time import monotonic
from typing import TypeGuard, TypeVar

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, OptOperandDef, OptPropertyDef
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.dialect.entry import PREPARE
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import is_tensor, tensor_shape
from gawee_dialect.frontends.mlir_text import print_mlir
from gawee_dialect.reduce.cuts import (
    Levels,
    argument_cuts,
    branch_cuts,
    merge_cuts,
    op_cuts,
    region_cuts,
    result_cuts,
    with_cuts,
)
from gawee_dialect.reduce.draft import (
    body_ops,
    copy_of,
    keep_ops,
    reducible_function,
    returned_values,
)
from gawee_dialect.reduce.failure import Failure, OutOfTime, time_limit
from gawee_dialect.reduce.sizes import Sizes, Slot, axis

# Plainer ops: properties at their defaults, optional operands left out.


PLAIN_ENTRIES = {
    **{"kernel": 1, "strides": 1, "dilations": 1, "padding": 0, "output_padding": 0},
    **{"offsets": 0, "low": 0, "high": 0, "repeats": 1},
}
"""The default of every entry of a property that is a list of integers."""

PLAIN_FLAGS = {"ceil_mode": False}
"""The default of a property that is a flag."""

PLAIN_INTEGERS = {"k": 1}
"""The least of a property that is one integer, for what is above it."""

Change = dict[str, Attribute | None]


def plainer_properties(op: Operation) -> Iterator[Change]:
    """Yield changes of an op's properties towards their defaults.

    All lists at once first, since padding may only go together with the kernel; then each list,
    each entry of it, and the rest.
    """
    plain = {
        name: DenseArrayBase.from_list(i64, [default] * len(value))
        for name, default in PLAIN_ENTRIES.items()
        if isa(value := op.properties.get(name), DenseArrayBase[IntegerType])
    }
    if any(op.properties[name] != value for name, value in plain.items()):
        yield {**plain}
    yield from _plainer_entries(op)
    yield from _plainer_flags(op)
    for name, least in PLAIN_INTEGERS.items():
        value = op.properties.get(name)
        if isa(value, IntegerAttr[I64]) and value.value.data > least:
            yield {name: IntegerAttr(least, i64)}


def _plainer_entries(op: Operation) -> Iterator[Change]:
    for name, default in PLAIN_ENTRIES.items():
        value = op.properties.get(name)
        if not isa(value, DenseArrayBase[IntegerType]):
            continue
        entries = list(value.get_values())
        wrong = [index for index, entry in enumerate(entries) if entry != default]
        for changed in (wrong, *([index] for index in wrong)):
            new = [default if index in changed else entry for index, entry in enumerate(entries)]
            if new != entries:
                yield {name: DenseArrayBase.from_list(i64, new)}


def _plainer_flags(op: Operation) -> Iterator[Change]:
    for name, default in PLAIN_FLAGS.items():
        if name in op.properties and op.properties[name] != BoolAttr.from_bool(default):
            yield {name: BoolAttr.from_bool(default)}
    if isinstance(op, IRDLOperation):
        for name, definition in op.get_irdl_definition().properties.items():
            if isinstance(definition, OptPropertyDef) and name in op.properties:
                yield {name: None}


def one_group(op: Operation) -> dict[Slot, int] | None:
    """Return the sizes that leave one group of a grouped convolution; None for other ops."""
    if not isinstance(op, ConvOp) or op.groups.value.data == 1:
        return None
    features, channels, *_ = tensor_shape(op.weight)
    groups = op.groups.value.data
    if features == tensor_shape(op.input)[1] and features // groups != channels:
        return None  # one class of both: it cannot take two sizes
    return {axis(op.input, 1): channels, axis(op.weight, 0): features // groups}


def without_operand(module: ModuleOp, source: FuncOp) -> Iterator[ModuleOp]:
    """Yield copies of a module in which one op of a function lacks an optional operand."""
    for index, op in enumerate(body_ops(source)):
        for name in _optional_operands(op):
            candidate = _without(module, source, index, name)
            if candidate is not None:
                yield candidate


def _optional_operands(op: Operation) -> Sequence[str]:
    """Return the names of the optional operands that an op of the dialect has."""
    if not isinstance(op, GaweeOp):
        return ()
    operands = op.get_irdl_definition().operands
    optional = [name for name, operand in operands if isinstance(operand, OptOperandDef)]
    return [name for name in optional if _operands(op, name)]


def _operands(op: IRDLOperation, name: str) -> Sequence[SSAValue]:
    value: object = getattr(op, name)
    if isa(value, SSAValue):
        return (value,)
    return value if isa(value, Sequence[SSAValue]) else ()


def _without(module: ModuleOp, source: FuncOp, index: int, left_out: str) -> ModuleOp | None:
    copy, function = copy_of(module, source)
    op = body_ops(function)[index]
    assert isinstance(op, GaweeOp)
    names = [name for name, _ in op.get_irdl_definition().operands]
    segments = AttrSizedOperandSegments.attribute_name
    new = type(op).build(
        operands=[() if name == left_out else _operands(op, name) for name in names],
        result_types=op.result_types,
        properties={name: value for name, value in op.properties.items() if name != segments},
        attributes=op.attributes,
    )
    new.location, new.output.name_hint = op.location, op.output.name_hint
    Rewriter.replace_op(op, new)
    return keep_ops(copy, function, lambda _: True)


# Bodies of recurrences, with an op less: what it makes is there already.


def inner_ops(function: FuncOp) -> Sequence[Operation]:
    """Return the ops of all bodies of scans, in order, without those that end them."""
    bodies = [op.body.block for op in function.walk() if isinstance(op, ScanOp)]
    return [op for block in bodies for op in block.ops if op is not block.last_op]


def without_inner_op(module: ModuleOp, function: FuncOp) -> Iterator[ModuleOp]:
    """Yield copies of a module without one op of a body, the last one first.

    A value of its type takes the place of its result: an operand, or what a step is given.
    """
    for index in reversed(range(len(inner_ops(function)))):
        places = len(_replacements(inner_ops(function)[index]))
        for place in range(places):
            copy, found = copy_of(module, function)
            op = inner_ops(found)[index]
            op.results[0].replace_all_uses_with(_replacements(op)[place])
            _erase_dead(op)
            yield copy


def _replacements(op: Operation) -> Sequence[SSAValue]:
    """Return what may stand for the one result of an op."""
    block = op.parent
    if len(op.results) != 1 or block is None:
        return ()
    known = dict.fromkeys((*op.operands, *block.args))
    return [value for value in known if value.type == op.results[0].type]


def _erase_dead(op: Operation) -> None:
    """Erase a dead op, and those of its block that only it used."""
    owners = [operand.owner for operand in op.operands]
    block = op.parent
    op.detach()
    op.erase()
    for owner in owners:
        if isinstance(owner, Block) or owner.parent is not block:
            continue
        if not any(each.first_use for each in owner.results):
            _erase_dead(owner)


T = TypeVar("T")

CAPS = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)
"""The sizes that step 1 tries for all tensors at once."""


CHANGES_AT_ONCE = 24
"""The candidates that a failure is asked to prepare: fewer share less, more are made in vain."""


def count_ops(module: ModuleOp) -> int:
    """Return the number of ops in the body of the function that is reduced."""
    function = reducible_function(module)
    return 0 if function is None else len(body_ops(function))


def largest_tensor(module: ModuleOp) -> int:
    """Return the elements of the largest tensor in a module."""
    values = [
        *(result for op in module.walk() for result in op.results),
        *(argument for op in module.ops if isinstance(op, FuncOp) for argument in op.args),
    ]
    return max((prod(each.type.get_shape()) for each in values if is_tensor(each.type)), default=0)


@dataclass
class Reducer:
    """Reduces `module`, which fails; `progress` hears of each step that made it smaller."""

    module: ModuleOp
    failure: Failure
    progress: Callable[[str, "Reducer"], None] = lambda step, reducer: None
    seconds_a_test: float = 60.0
    deadline: float = float("inf")
    tests: int = 0
    _tried: set[int] = field(default_factory=set[int])

    def reduce(self) -> ModuleOp:
        """Return the smallest module found until the deadline."""
        self._is_new(self.module)
        try:
            self._step("sizes", self._cap_sizes)
            while self._round():
                pass
        except OutOfTime:
            self.progress("out of time", self)
        return self.module

    def _round(self) -> bool:
        changed = [self._step("functions", self._drop_functions)]
        changed += [self._step(name, step) for name, step in self._cutting_steps()]
        if reducible_function(self.module) is not None:
            changed += [self._step(name, step) for name, step in self._steps_of_one_block()]
        return any(changed)

    def _steps_of_one_block(self) -> Sequence[tuple[str, Callable[[], None]]]:
        return (
            ("ops", self._drop_ops if self._of_graph() else self._drop_single_ops),
            ("ops in between", self._bypass_ops),
            ("bodies", self._shrink_bodies),
            ("outputs", self._drop_outputs),
            ("operands", self._drop_operands),
            ("sizes", self._shrink_sizes),
            ("attributes", self._plain_attributes),
        )

    def _cutting_steps(self) -> Sequence[tuple[str, Callable[[], None]]]:
        if self._of_graph():
            return ()
        kinds: Sequence[tuple[str, Callable[[ModuleOp], Levels]]] = (
            ("branches", branch_cuts),
            ("results", result_cuts),
            ("ops anywhere", op_cuts),
            ("blocks", merge_cuts),
            ("arguments of blocks", argument_cuts),
            ("regions", region_cuts),
        )
        return [(name, partial(self._cut, found)) for name, found in kinds]

    def _step(self, name: str, step: Callable[[], None]) -> bool:
        before = self.module
        step()
        if self.module is before:
            return False
        self.progress(name, self)
        return True

    def attempt(self, candidate: ModuleOp | None) -> bool:
        """Take a candidate where it verifies and fails; raises OutOfTime at the deadline."""
        if not self._is_new(candidate) or not self._fails(candidate):
            return False
        self.module = candidate
        return True

    def _is_new(self, candidate: ModuleOp | None) -> TypeGuard[ModuleOp]:
        """Whether a candidate was not tried; it counts as tried from now on."""
        if candidate is None:
            return False
        text = hash(print_mlir(candidate))
        if text in self._tried:
            return False
        self._tried.add(text)
        return True

    def _fails(self, candidate: ModuleOp) -> bool:
        if monotonic() > self.deadline:
            raise OutOfTime
        self.tests += 1
        try:
            if not self.failure.verifies:
                verify_module(candidate)
            with time_limit(self.seconds_a_test):
                return self.failure.holds(candidate)
        except (GaweeError, OutOfTime):
            return False

    def _cut(self, found: Callable[[ModuleOp], Levels]) -> None:
        """Make cuts, one level after another, each as long as one of it is possible."""
        level = 0
        while level < len(levels := found(self.module)):
            if not self._take(levels[level], with_cuts):
                level += 1

    def _drop_single_ops(self) -> None:
        """Make inputs of what an op makes, as `_drop_ops` does, of many ops at once."""

        def make(base: ModuleOp, gone: Sequence[int]) -> ModuleOp | None:
            function = reducible_function(base)
            assert function is not None
            return keep_ops(base, function, lambda index: index not in gone)

        while self._take([[each] for each in range(len(body_ops(self._function())))], make):
            pass

    def _take(
        self,
        changes: Sequence[Sequence[T]],
        make: Callable[[ModuleOp, Sequence[T]], ModuleOp | None],
    ) -> bool:
        """Make the changes that each leave a failing module: together where that fails too."""
        base, good = self.module, list[Sequence[T]]()
        for start in range(0, len(changes), CHANGES_AT_ONCE):
            made = [(each, make(base, each)) for each in changes[start : start + CHANGES_AT_ONCE]]
            tried = [(each, module) for each, module in made if self._is_new(module)]
            self.failure.prepare([module for _, module in tried])
            for change, module in tried:
                if self._fails(module):
                    self.module = self.module if good else module
                    good.append(change)
        together = [part for change in good for part in change]
        if len(good) > 1 and not self.attempt(make(base, together)):
            taken = [*good[0]]
            for change in good[1:]:
                if self.attempt(make(base, [*taken, *change])):
                    taken += change
        return bool(good)

    def _of_graph(self) -> bool:
        """Whether what is reduced is of one block, of ops of the dialect."""
        function = reducible_function(self.module)
        return function is not None and Sizes.known(function)

    def _function(self) -> FuncOp:
        function = reducible_function(self.module)
        assert function is not None
        return function

    def _first(self, candidates: Iterable[ModuleOp | None]) -> bool:
        """Take the first candidate that fails."""
        return any(self.attempt(candidate) for candidate in candidates)

    def _drop_functions(self) -> None:
        index = 0
        while index < len(self.module.body.block.ops):
            op = list(self.module.ops)[index]
            if op is reducible_function(self.module) or not self.attempt(
                _without_top_level(self.module, op)
            ):
                index += 1

    def _drop_ops(self) -> None:
        chunk = max(1, len(body_ops(self._function())) // 2)
        while True:
            self._drop_chunks(chunk)
            if chunk == 1:
                return
            chunk = (chunk + 1) // 2

    def _drop_chunks(self, chunk: int) -> None:
        """Try to do without each run of ops of a length, the last one first."""
        start = len(body_ops(self._function())) - chunk
        while start > -chunk:
            gone = range(max(0, start), start + chunk)
            self.attempt(keep_ops(self.module, self._function(), lambda i: i not in gone))
            start -= chunk

    def _bypass_ops(self) -> None:
        for index in reversed(range(len(body_ops(self._function())))):
            self.attempt(keep_ops(self.module, self._function(), lambda _: True, bypassed=index))

    def _shrink_bodies(self) -> None:
        while self._first(without_inner_op(self.module, self._function())):
            pass

    def _drop_outputs(self) -> None:
        index = 0
        while index < len(outputs := returned_values(self._function()) or ()):
            gone = outputs[index]
            candidate = keep_ops(
                self.module, self._function(), lambda _: True, lambda value: value is not gone
            )
            if not self.attempt(candidate):
                index += 1

    def _drop_operands(self) -> None:
        while self._first(without_operand(self.module, self._function())):
            pass

    def _sizes(self) -> Sizes | None:
        return Sizes(self.module, self._function()) if self._of_graph() else None

    def _cap_sizes(self) -> None:
        sizes = self._sizes()
        if sizes is None:
            return
        choices = [choice for choice in sizes.choices() if not choice.kernel]
        self._first(
            sizes.resized({choice.slot: min(cap, choice.size) for choice in choices})
            for cap in CAPS
        )

    def _shrink_sizes(self) -> None:
        """Shrink one class after another: to 1, to half, by one, as long as one of these fails."""
        index = 0
        while (sizes := self._sizes()) is not None and index < len(choices := sizes.choices()):
            choice = choices[index]
            smaller = dict.fromkeys((1, choice.size // 2, choice.size - 1))
            if not self._first(sizes.resized({choice.slot: size}) for size in smaller):
                index += 1

    def _plain_attributes(self) -> None:
        while (sizes := self._sizes()) is not None:
            if not self._first(_plainer(sizes)):
                return


def _plainer(sizes: Sizes) -> Iterable[ModuleOp | None]:
    for op in sizes.ops:
        groups = one_group(op)
        if groups is not None:
            yield sizes.resized(groups)
        for change in plainer_properties(op):
            yield sizes.resized({}, {op: change})


def _without_top_level(module: ModuleOp, op: Operation) -> ModuleOp:
    """Return a copy without a function; what `@prepare` computed then counts as parameters."""
    index = list(module.ops).index(op)
    copy = module.clone()
    gone = list(copy.ops)[index]
    gone.detach()
    gone.erase(safe_erase=False)
    function = reducible_function(copy)
    prepare = isinstance(op, FuncOp) and op.sym_name.data == PREPARE
    if prepare and function is not None and function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr(map(_given, function.arg_attrs))
    return copy


def _given(attributes: DictionaryAttr) -> DictionaryAttr:
    entries = dict(attributes.data)
    prepared = entries.pop("gawee.prepared", None)
    if prepared is not None:
        index = prepared.data if isinstance(prepared, StringAttr) else prepared
        entries["gawee.parameter"] = StringAttr(f"prepared.{index}")
    return DictionaryAttr(entries)
