"""What no run can see: a program that computes the right thing by luck."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from types import MappingProxyType

from xdsl.dialects import linalg, llvm, memref, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.utils import FastMathAttrBase, FastMathFlag
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.effects import WrittenBuffers, buffer_of, memory_of
from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.analysis.signature import Signature
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.failure import Violation, failure
from gawee_dialect.instruments.check.memory_order import Arguments, order_violations
from gawee_dialect.instruments.check.parallel_writes import (
    IndexValues,
    reached_box,
    wrong_parallel_loops,
)
from gawee_dialect.interpreter.arrays import array_shape, dtype_of
from gawee_dialect.interpreter.run import PROTECTED
from gawee_dialect.upstream.walk import all_ops

# Ops that write bytes which they still have to read, at the level of buffers.
#
# An interpreter reads all that an op needs before it writes; loops do not.


@dataclass(frozen=True)
class _Bytes:
    """The bytes of a whole buffer: whose they are, where they begin and end."""

    root: SSAValue
    start: int
    end: int

    def overlaps(self, other: "_Bytes") -> bool:
        return self.root is other.root and self.start < other.end and other.start < self.end


def overlapping_buffers(module: ModuleOp, ops: Sequence[Operation]) -> Iterator[Violation]:
    """Yield ops that write what they read as well, but element by element in one place."""
    buffers = WrittenBuffers(module)
    for op in ops:
        if isinstance(op, LinalgStructuredOperation | StructuredKernel | CallOp):
            yield from _of_op(buffers, op)
        if isinstance(op, LinalgStructuredOperation) and not op.results:
            yield from _loads_of_outputs(op)


def _loads_of_outputs(op: LinalgStructuredOperation) -> Iterator[Violation]:
    """Yield an op whose body loads elements of an output, but the one that it computes."""
    outputs = {memory_of(each): len(op.inputs) + i for i, each in enumerate(op.outputs)}
    maps = [each.data for each in op.get_indexing_maps()]
    for load in op.body.block.ops:
        index = outputs.get(memory_of(load.memref)) if isinstance(load, memref.LoadOp) else None
        if index is None:
            continue
        dims = [
            each.position if isinstance(each, AffineDimExpr) else None
            for each in maps[index].results
        ]
        loaded, *places = load.operands
        own = loaded is op.operands[index] and [*map(_dimension, places)] == dims
        if not own or None in dims:
            yield Violation(
                op, f"loads in its body of the buffer that it writes as operand {index}"
            )
            return


def _dimension(index: SSAValue) -> int | None:
    """Return which loop an index is the counter of."""
    owner = index.owner
    return owner.dim.value.data if isinstance(owner, linalg.ops.IndexOp) else None


def _of_op(buffers: WrittenBuffers, op: Operation) -> Iterator[Violation]:
    written = set(buffers.of(op))
    places = {
        index: bytes
        for index, value in enumerate(op.operands)
        if (bytes := _bytes_of(value)) is not None
    }
    outputs = [each for each in places if buffer_of(op.operands[each]) in written]
    outputs = [each for each in _own_outputs(op, outputs) if each in places]
    for output, other in product(outputs, places):
        if output == other or not places[output].overlaps(places[other]):
            continue
        if places[output] == places[other] and _in_place(op, output, other):
            continue
        what = "writes" if other in outputs else "reads"
        message = f"operand {output} is written over operand {other}, which it {what} as well"
        yield Violation(op, message)
        return


def _own_outputs(op: Operation, outputs: Sequence[int]) -> Sequence[int]:
    """Return what an op itself says that it writes, where operands are one buffer."""
    if isinstance(op, LinalgStructuredOperation):
        return range(len(op.inputs), len(op.operands))
    if isinstance(op, StructuredKernel):
        return [each for each in outputs if op.operands[each] is op.output] or outputs
    return outputs


def _in_place(op: Operation, output: int, other: int) -> bool:
    """Whether each element is read where it is written, at the same time."""
    if not isinstance(op, LinalgStructuredOperation):
        return False
    maps = [each.data for each in op.get_indexing_maps()]
    same_type = op.operands[output].type == op.operands[other].type
    return same_type and maps[output] == maps[other]


def _bytes_of(value: SSAValue) -> _Bytes | None:
    buffer = buffer_of(value)
    type = buffer.type
    if not isa(type, MemRefType[Attribute]) or not type.has_static_shape():
        return None
    try:
        size = prod(array_shape(type)) * dtype_of(type).itemsize
    except InterpretationError:
        return None
    if not isinstance(buffer.owner, memref.ViewOp):
        return _Bytes(buffer, 0, size)
    start = constant_index(buffer.owner.byte_shift)
    return None if start is None else _Bytes(buffer.owner.source, start, start + size)


# Arithmetic that claims what data decide.

WHOLE_NUMBERS = frozenset(
    "add sub mul shl sdiv udiv srem urem and or lshr ashr sext zext trunc select icmp "
    "intr.smin intr.smax intr.umin intr.umax".split()
)
"""Ops that compute a whole number of whole numbers."""


CLAIMS = {
    "overflowFlags": "claims not to overflow",
    "isExact": "claims that nothing remains",
    "isDisjoint": "claims that no bit is set in both operands",
    "nonNeg": "claims not to be negative",
}
"""Properties of arithmetic on whole numbers whose results are poison where they are not so."""


def wrong_integer_claims(ops: Iterable[Operation]) -> Iterator[Violation]:
    """Yield ops of CLAIMS whose operands come from memory or from floats.

    What is computed of constants, counters of loops and numbers of threads fits. So does what only
    finds an address, or decides on a branch: it is a place in a buffer.
    """
    for op in ops:
        claimed = [text for name, text in CLAIMS.items() if _is_claimed(op.properties.get(name))]
        if claimed and any(map(_data_decide, op.operands)) and _is_kept(op.results[0]):
            yield Violation(op, f"{claimed[0]}, which data decide")


def _is_claimed(value: Attribute | None) -> bool:
    """Whether a property says something: `isExact` is a unit, `overflowFlags` may be none."""
    if isinstance(value, llvm.OverflowAttr):
        return bool(value.data)
    return value is not None and (not isa(value, IntegerAttr) or value.value.data != 0)


FAST = frozenset((FastMathFlag.NO_NANS, FastMathFlag.NO_INFS))
"""Flags of floats whose results are poison where data are not so."""

FLOATS = {"denormal-fp-math": "ieee", "no-nans-fp-math": "false", "no-infs-fp-math": "false"}
"""Attributes of functions about floats, and how the value begins that claims nothing."""


def wrong_float_claims(ops: Iterable[Operation]) -> Iterator[Violation]:
    """Yield ops that claim there is no NaN or infinity, and functions that flush subnormals.

    Not of a pass with such flags as its option (`check_rules`).
    """
    for op in ops:
        flags = op.properties.get("fastmath", op.properties.get("fastmathFlags"))
        if isinstance(flags, FastMathAttrBase) and FAST.intersection(flags.data):
            names = ", ".join(sorted(each.value for each in FAST.intersection(flags.data)))
            yield Violation(op, f"claims {names}, which data decide")
        if isinstance(op, llvm.FuncOp) and op.passthrough is not None:
            for name, value in _pairs(op.passthrough):
                if not value.startswith(FLOATS.get(name, value)):
                    yield Violation(op, f"claims {name} of {value}, which data decide")


def _pairs(attributes: ArrayAttr[Attribute]) -> Iterator[tuple[str, str]]:
    for each in attributes:
        if isa(each, ArrayAttr[StringAttr]) and len(each) == 2:
            name, value = each
            yield name.data, value.data


def _data_decide(value: SSAValue) -> bool:
    """Whether a number depends on more than constants and the counters of loops."""
    seen, waiting = set[SSAValue](), [value]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        sources = _sources(each)
        if sources is None:
            return True
        waiting.extend(sources)
    return False


def _is_kept(value: SSAValue) -> bool:
    """Whether a number ends up in memory, or becomes a float."""
    seen, waiting = set[SSAValue](), [value]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        for use in each.uses:
            user = use.operation
            if user.name.removeprefix("llvm.") in WHOLE_NUMBERS:
                waiting.extend(user.results)
            elif isinstance(user, llvm.BrOp | llvm.CondBrOp):
                waiting.extend(_handed_on(user, use.index))
            elif not isinstance(user, llvm.GEPOp | llvm.CallOp):
                return True
    return False


def _handed_on(branch: llvm.BrOp | llvm.CondBrOp, index: int) -> Iterable[SSAValue]:
    """Return the arguments that blocks may take an operand of a branch as."""
    value = branch.operands[index]
    for target in branch.successors:
        for argument in target.args:
            if value in _incoming(argument):
                yield argument


def _sources(value: SSAValue) -> Sequence[SSAValue] | None:
    """Return what a number is computed of; None where it comes from memory or from floats."""
    if isinstance(value, BlockArgument):
        return list(_incoming(value))
    owner = value.owner
    assert isinstance(owner, Operation)
    if isinstance(owner, llvm.ConstantOp):
        return ()
    return owner.operands if owner.name.removeprefix("llvm.") in WHOLE_NUMBERS else None


def _incoming(argument: BlockArgument) -> Iterable[SSAValue]:
    """Yield what branches hand to a block for an argument; nothing for a function's own."""
    block = argument.block
    for last in dict.fromkeys(use.operation for use in block.uses):
        if isinstance(last, llvm.BrOp):
            yield last.operands[argument.index]
        elif isinstance(last, llvm.CondBrOp):
            pairs = ((last.then_block, last.then_arguments), (last.else_block, last.else_arguments))
            yield from (given[argument.index] for target, given in pairs if target is block)


# Loads and stores outside of their memref, which may still lie in the memory behind it.
#
# A row that is one too long is written over by the next one, or ends where nothing lives: outputs
# are what they should be, by luck.

ENDS: Sequence[Callable[[range], int]] = (lambda counts: counts[0], lambda counts: counts[-1])
"""Iterations that are looked at: all loops stand at their first one, or at their last one."""


def accesses_outside(functions: Iterable[Operation]) -> Iterator[Violation]:
    """Yield the loads and stores that surely leave their memref; what data decide is left out."""
    for function in functions:
        for block in function.body.blocks if isinstance(function, FuncOp) else ():
            for end in ENDS:
                walk = _Walk({}, end)
                walk.block(block)
                yield from walk.found


@dataclass
class _Walk(IndexValues):
    """Visits each loop once, at one of its ends."""

    numbers: dict[SSAValue, int]
    end: Callable[[range], int]
    found: list[Violation] = field(default_factory=list[Violation])

    def number(self, value: SSAValue) -> int | None:
        found = super().number(value)
        if found is not None:
            self.numbers[value] = found  # no loop is visited twice
        return found

    def block(self, block: Block) -> None:
        """Look at all ops of a block, and at what they hold."""
        for op in block.ops:
            match op:
                case scf.ForOp():
                    self._loop(op.body.block, [(op.lb, op.ub, op.step)])
                case scf.ParallelOp():
                    bounds = zip(op.lowerBound, op.upperBound, op.step, strict=True)
                    self._loop(op.body.block, [*bounds])
                case scf.IfOp():
                    self._branch(op)
                case _:
                    self._access(op)

    def _loop(self, body: Block, bounds: Sequence[tuple[SSAValue, SSAValue, SSAValue]]) -> None:
        for counter, each in zip(body.args, bounds, strict=False):
            lower, upper, step = map(self.number, each)
            if lower is None or upper is None or not step:
                return
            counts = range(lower, upper, step)
            if not counts:
                return
            self.numbers[counter] = self.end(counts)
        self.block(body)

    def _branch(self, op: scf.IfOp) -> None:
        taken = self.number(op.cond)
        region = op.true_region if taken else op.false_region
        if taken is not None and region.blocks:
            self.block(region.block)

    def _access(self, op: Operation) -> None:
        touched = reached_box(op)
        if touched is None or not isa(type := touched[0].type, MemRefType[Attribute]):
            return
        _, offsets, sizes, is_write = touched
        for index, (offset, size, extent) in enumerate(
            zip(offsets, sizes, type.get_shape(), strict=True)
        ):
            start = offset if isinstance(offset, int) else self.number(offset)
            if start is None or extent < 0 or 0 <= start <= extent - size:
                continue
            place = start if size == 1 else f"{start} to {start + size - 1}"
            what = "writes" if is_write else "reads"
            message = f"{what} index {place} of axis {index}, which has {extent} elements"
            self.found.append(Violation(op, message))


# Functions that write what belongs to their callers, if only bytes that were there.


def writes_of_callers(module: ModuleOp) -> Iterator[Violation]:
    """Yield the ops that write an input, a weight or a prepared value of their function."""
    buffers = WrittenBuffers(module)
    for function in module.ops:
        if not isinstance(function, FuncOp) or len(function.body.blocks) != 1:
            continue
        owned: dict[SSAValue, str] = {
            function.body.block.args[each.index]: f"{each.kind} '{each.name}'"
            for each in Signature.of(function).of_kind(*PROTECTED)
            if isinstance(each.type, MemRefType)
        }
        for op in function.body.walk() if owned else ():
            if op.regions and not isinstance(op, LinalgStructuredOperation | StructuredKernel):
                continue  # what is in it is walked through
            if isinstance(op, CallOp) and buffers.callee(op) is None:
                continue  # nothing says what that writes
            written = map(memory_of, buffers.of(op))
            what = next((owned[each] for each in written if each in owned), None)
            if what is not None:
                yield Violation(op, f"writes its {what}")


def violations(module: ModuleOp, same: Collection[str] = ()) -> Iterator[Violation]:
    """Yield the ops of a module that say of themselves what is not so, but those of `same`."""
    functions = looked_at(module, same)
    ops = [op for each in functions for op in all_ops(each)]
    yield from writes_of_callers(module)
    yield from wrong_parallel_loops(module, ops)
    yield from overlapping_buffers(module, ops)
    yield from accesses_outside(functions)
    if any(isinstance(op, llvm.FuncOp) for op in module.ops):
        # The back end describes arguments: only modules at its level pay for the import.
        from gawee_dialect.instruments.check.pointer_claims import wrong_pointer_claims

        yield from wrong_pointer_claims(module)
        yield from wrong_integer_claims(ops)


def looked_at(module: ModuleOp, same: Collection[str]) -> Sequence[Operation]:
    """Return the functions of a module but those of `same` that call no other."""
    return [op for op in module.ops if _name(op) not in same or any(map(_calls, all_ops(op)))]


def _name(op: Operation) -> str:
    return op.sym_name.data if isinstance(op, FuncOp | llvm.FuncOp) else ""


def _calls(op: Operation) -> bool:
    return isinstance(op, CallOp | llvm.CallOp)


def new_violation(
    before: ModuleOp,
    after: ModuleOp,
    arguments: Arguments = MappingProxyType({}),
    same: Collection[str] = (),
) -> Violation | None:
    """Return the first op of a module that breaks a rule, where none did before.

    What only a run shows is looked for on the arguments of each function.
    """
    return _new(lambda module: violations(module, same), before, after) or _new(
        lambda module: order_violations(module, arguments), before, after
    )


def _new(
    rules: Callable[[ModuleOp], Iterable[Violation]], before: ModuleOp, after: ModuleOp
) -> Violation | None:
    found = [*rules(after)]
    known = {each.message for each in rules(before)} if found else set[str]()
    return next((each for each in found if each.message not in known), None)


def check_rules(
    module_pass: ModulePass,
    before: ModuleOp,
    after: ModuleOp,
    arguments: Arguments,
    same: Collection[str] = (),
) -> None:
    """Raise CheckFailure where a pass made an op break a rule.

    The functions of `same` compute what they did, by what they say.
    """
    found = new_violation(before, after, arguments, same)
    if found is None and not getattr(module_pass, "fast_math", None):
        found = _new(lambda module: wrong_float_claims(all_ops(module)), before, after)
    if found is not None:
        message = f"is wrong where no run shows it: '{found.op.name}' op {found.message}"
        raise failure([module_pass], message, found.op)
