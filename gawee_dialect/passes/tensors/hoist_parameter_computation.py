"""Move what depends on parameters alone out of the run, into a function that runs once."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass

from gawee_dialect.analysis.effects import values_read
from gawee_dialect.analysis.kernel_kind import copied_input
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import (
    MAIN,
    PREPARE,
    ArgumentKind,
    EntryArgument,
    append_argument,
    entry_arguments,
    find_function,
    output_attributes,
)
from gawee_dialect.dialect.graph.movement import FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.native_code import is_computed_once
from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.hints import isa
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.upstream.linalg import BroadcastOp
from gawee_dialect.upstream.walk import all_ops

RENAMES_OR_REPEATS: tuple[type[Operation], ...] = (
    ReshapeOp,
    FlattenOp,
    IdentityOp,
    BroadcastOp,
    tensor.CollapseShapeOp,
    tensor.ExpandShapeOp,
    tensor.ExtractSliceOp,
    tensor.CastOp,
)
"""Ops whose result costs nothing to have, or costs more to keep than to make again."""


def computes(op: Operation) -> bool:
    """Whether an op does more than rename or repeat elements of what it reads."""
    return not isinstance(op, RENAMES_OR_REPEATS) and not repeats_elements(op)


def repeats_elements(op: Operation) -> bool:
    """Whether a structured op copies each element of an input to several places."""
    if isinstance(op, KernelOp):
        # Points, not elements of the result: packing may leave lanes over.
        source = copied_input(op)
        return source is not None and elements(op.inputs[source]) < prod(op.sizes)
    if not isinstance(op, LinalgStructuredOperation) or not op.regions:
        return False
    only = op.body.block.first_op
    if not isinstance(only, YieldOp) or not isinstance(read := only.operands[0], BlockArgument):
        return False
    return elements(op.operands[read.index]) < elements(op.results[0])


def elements(value: SSAValue) -> int:
    """Return the number of elements of a tensor; any other value is one."""
    return prod(value.type.get_shape()) if isa(value.type, AnyTensor) else 1


@dataclass(frozen=True)
class Split:
    """What of a function's body moves: the values it keeps reading, and ops in their order.

    Of what is needed elsewhere and is not `leaving`, both have one.
    """

    prepared: Sequence[OpResult]
    needed: Sequence[Operation]
    leaving: Sequence[Operation]


def split(function: FuncOp) -> Split:
    """Decide which ops of a function leave it, and which of their values it still reads.

    Of several blocks none does: their order is computed.
    """
    if len(function.body.blocks) != 1:
        return Split((), (), ())
    block = function.body.block
    early = _early_ops(block)
    moved = {op for op, reads_parameter in early.items() if reads_parameter and _may_move(op)}
    staying = _staying_ops(block, early, moved)
    prepared = [
        result
        for op in early
        if op in moved
        for result in op.results
        if any(top_level_op(use.operation, block) in staying for use in result.uses)
    ]
    needed = _closure(result.op for result in prepared)
    return Split(
        prepared,
        [op for op in early if op in needed],
        [op for op in early if op not in staying],
    )


def _may_move(op: Operation) -> bool:
    """Whether an op computes what can be prepared: machine code returns no scalars."""
    made = is_computed_once(op) or all(isa(each.type, AnyTensor) for each in op.results)
    return made and computes(op)


def _early_ops(block: Block) -> dict[Operation, bool]:
    """Map the ops that read no input to whether they read a parameter, be it through others.

    A call that is made once counts as one that does: nothing else may decide when it is made.
    """
    analysis = ParameterAnalysis()
    early: dict[Operation, bool] = {}
    for op in block.ops:
        if op.results and all(analysis.is_known_early(result) for result in op.results):
            early[op] = is_computed_once(op) or any(
                isinstance(value, BlockArgument) or early.get(_maker(value), False)
                for value in values_read(op)
            )
    return early


def _maker(value: SSAValue) -> Operation:
    assert isinstance(value, OpResult)
    return value.op


def _staying_ops(
    block: Block, early: dict[Operation, bool], moved: set[Operation]
) -> set[Operation]:
    staying: set[Operation] = set()
    for op in reversed(block.ops):
        users = (use.operation for result in op.results for use in result.uses)
        needed = op not in early or any(top_level_op(user, block) in staying for user in users)
        if needed and op not in moved:
            staying.add(op)
    return staying


def _closure(roots: Iterable[Operation]) -> set[Operation]:
    """Return ops and all ops whose results they read, at any distance."""
    found: set[Operation] = set()
    pending = list(roots)
    while pending:
        op = pending.pop()
        if op not in found:
            found.add(op)
            pending += [value.op for value in values_read(op) if isinstance(value, OpResult)]
    return found


def top_level_op(op: Operation, block: Block) -> Operation:
    """Return the op of a block that an op is, or is inside of."""
    while op.parent is not block:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


class PrepareFunction:
    """`@prepare` while it grows: the one that is there, or a new one."""

    def __init__(self, module: ModuleOp, main: FuncOp):
        existing = find_function(module, PREPARE)
        if existing is None:
            existing = FuncOp(PREPARE, ((), ()), Region(Block([ReturnOp()])))
            existing.location = main.location
            module.body.block.insert_op_before(existing, main)
        self.function = existing
        self.block = existing.body.block
        self.arguments = entry_arguments(existing)
        self._known: dict[tuple[ArgumentKind, str], SSAValue] = {
            (entry.kind, entry.name): self.block.args[entry.index] for entry in self.arguments
        }
        self.results = list(self._return().operands)

    def _return(self) -> ReturnOp:
        terminator = self.block.last_op
        assert isinstance(terminator, ReturnOp)
        return terminator

    def value_of(self, argument: EntryArgument, value: SSAValue) -> SSAValue:
        """Return what an argument of `@main` is in `@prepare`: an argument, or a result."""
        if argument.kind is ArgumentKind.PREPARED:
            if not argument.name.isdecimal() or int(argument.name) >= len(self.results):
                returned = f"'@{PREPARE}' to return value '{argument.name}'"
                message = f"expected {returned}, got {len(self.results)} values"
                raise GaweeError(Diagnostic.at(self.function, message))
            return self.results[int(argument.name)]
        key = argument.kind, argument.name
        if key in self._known:
            return self._known[key]
        index = len(self.arguments)
        self.arguments.append(replace(argument, index=index))
        own = append_argument(self.block, argument.type)
        own.name_hint = value.name_hint
        self._known[key] = own
        return own

    def add(
        self,
        ops: Iterable[Operation],
        mapper: dict[SSAValue, SSAValue],
        leaving: Container[Operation],
    ) -> None:
        """Put ops at the end of the function: those that are `leaving` theirs, of others clones.

        The mapper says what they read, and learns.
        """
        last = self._return()
        for op in ops:
            if op not in leaving:
                self.block.insert_op_before(op.clone(mapper), last)
                continue
            op.detach()
            for inner in all_ops(op):
                for index, value in enumerate(inner.operands):
                    if value in mapper:
                        inner.operands[index] = mapper[value]
            self.block.insert_op_before(op, last)

    def finish(self, results: Sequence[SSAValue]) -> None:
        """Return these results and write the function's signature."""
        old = self._return()
        new = ReturnOp(*results)
        new.location = old.location
        self.block.insert_op_before(new, old)
        old.detach()
        old.erase()
        names = [str(index) for index in range(len(results))]
        self.function.res_attrs = output_attributes(names)
        set_arguments(self.function, self.arguments)


def set_arguments(function: FuncOp, arguments: Sequence[EntryArgument]) -> None:
    """Write a function's type and argument attributes after its block has changed."""
    function.update_function_type()
    function.arg_attrs = ArrayAttr(argument.attributes() for argument in arguments)


@dataclass(frozen=True)
class HoistParameterComputation(ModulePass):
    """Move what `@main` computes from parameters alone into `@prepare`, which runs once per load.

    1. Find the ops of `@main` that read no input, neither themselves nor through others.
    2. Those of them move that read a parameter and compute. Ops that rename (views) or repeat
       (broadcasts) stay: their result is free to have, or larger than what it is made of.
    3. The prepared values are the results of moved ops that staying ops read.
    4. What the moved ops need goes with them; what both sides need, such as constants, is cloned.
    5. Each prepared value becomes a result of `@prepare` and an argument of `@main`, marked with
       the result's index.
    6. Parameters that `@main` no longer reads leave its signature, and so do prepared values.

    Requires: nothing calls `@main`, whose signature changes. A module without such ops stays as it
    is. Run again, the pass extends the `@prepare` that is there.

    rewrite:
        @main(%x, %w {gawee.parameter = "w"}) { %v = mul %w, %w; conv %x, %v }
        ->  @prepare(%w {gawee.parameter = "w"}) { %v = mul %w, %w; return %v }
            @main(%x, %v {gawee.prepared = "0"}) { conv %x, %v }
    """

    name = "hoist-parameter-computation"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        main = find_function(op, MAIN)
        if main is None or main.body.first_block is None:
            return
        parts = split(main)
        if not parts.prepared:
            return
        prepare = PrepareFunction(op, main)
        mapper = _map_arguments(main, parts.needed, prepare)
        prepare.add(parts.needed, mapper, set(parts.leaving))
        _erase_others(parts)
        arguments = [*entry_arguments(main), *_take_prepared(main, parts, len(prepare.results))]
        results = [*prepare.results, *parts.prepared]
        arguments = _drop_unread(main, arguments, mapper)
        used = [entry for entry in arguments if entry.kind is ArgumentKind.PREPARED]
        prepare.finish([results[int(entry.name)] for entry in used])
        numbers = {entry.name: str(number) for number, entry in enumerate(used)}
        set_arguments(
            main,
            [
                replace(entry, name=numbers[entry.name])
                if entry.kind is ArgumentKind.PREPARED
                else entry
                for entry in arguments
            ],
        )


def _map_arguments(
    main: FuncOp, ops: Iterable[Operation], prepare: PrepareFunction
) -> dict[SSAValue, SSAValue]:
    read = {value for op in ops for value in values_read(op)}
    arguments = zip(entry_arguments(main), main.body.block.args, strict=True)
    return {value: prepare.value_of(entry, value) for entry, value in arguments if value in read}


def _take_prepared(main: FuncOp, parts: Split, first: int) -> list[EntryArgument]:
    """Let what stays in `@main` read prepared values from new arguments."""
    block = main.body.block
    added: list[EntryArgument] = []
    for number, value in enumerate(parts.prepared, first):
        argument = append_argument(block, value.type)
        argument.name_hint = value.name_hint
        value.replace_uses_with_if(argument, lambda use: main.is_ancestor(use.operation))
        added.append(EntryArgument(argument.index, ArgumentKind.PREPARED, str(number), value.type))
    return added


def _erase_others(parts: Split) -> None:
    """Erase the ops that left and that nothing needs."""
    needed = set(parts.needed)
    for op in reversed(parts.leaving):
        if op not in needed:
            op.detach()
            op.erase()


def _drop_unread(
    main: FuncOp, arguments: Sequence[EntryArgument], moved: Container[SSAValue]
) -> list[EntryArgument]:
    """Erase the arguments that only moved ops read, and return the entries of the others."""
    block = main.body.block
    both = zip(arguments, block.args, strict=True)
    kept = [(e, v) for e, v in both if v not in moved or v.first_use is not None]
    # All at once: `erase_arg` counts those behind it anew each time.
    block._args = tuple([value for _, value in kept])  # pyright: ignore[reportPrivateUsage]
    for index, value in enumerate(block.args):
        value.index = index
    return [entry for entry, _ in kept]
