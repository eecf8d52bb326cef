"""Move the work of every graph node into a function, and share equal functions."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    ModuleOp,
    SymbolRefAttr,
    UnknownLoc,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator, MemoryEffectKind, get_effects

from gawee_dialect.analysis.effects import values_read
from gawee_dialect.analysis.index_bounds import Index, size_of
from gawee_dialect.analysis.kernel_kind import kernel_kind
from gawee_dialect.analysis.open_sizes import RANGES, ranges_attribute
from gawee_dialect.analysis.signature import entries
from gawee_dialect.dialect.graph.scan import (
    blocks_of_kernels,
    is_batch_loop,
    is_step_loop,
    kernel_blocks,
)
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.dialect.open_size import SizeName
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.tensors.bufferize.open_sizes import sized_view
from gawee_dialect.upstream.equivalence import (
    are_equivalent,
    are_equivalent_regions,
    same_values,
)

CLONED_INTO_KERNELS = (
    memref.SubviewOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.CastOp,
    memref.ReinterpretCastOp,
    arith.ConstantOp,
)
"""Ops that cost nothing to repeat, so that a kernel's arguments are whole buffers."""


def is_work(op: Operation) -> bool:
    """Whether an op reads or writes elements of buffers."""
    loop = scf.ForOp | scf.ParallelOp
    work = LinalgStructuredOperation | memref.CopyOp | loop | StructuredKernel
    return isinstance(op, work) and not is_batch_loop(op)


def touches_elements(op: Operation) -> bool:
    """Whether an op between those that work may read what they write, or write what they read."""
    effects = get_effects(op)
    touching = (MemoryEffectKind.READ, MemoryEffectKind.WRITE, MemoryEffectKind.FREE)
    return effects is None or any(effect.kind in touching for effect in effects)


def node_groups(block: Block) -> Iterable[list[Operation]]:
    """Yield runs of working ops that come from one graph node, that is, have one location.

    A `gawee.kernel` is a group of its own: fusion and layouts have made it what it should be. A
    group ends where elements are loaded or stored: its function is called behind all of it. What
    reads the scalars that an op returns is in its group.
    """
    group: list[Operation] = []
    grouped: set[Operation] = set()
    for op in block.ops:
        if op in grouped:
            continue
        run = with_readers(op) if is_work(op) else []
        if not run:
            if group and (is_work(op) or touches_elements(op)):
                yield group
                group = []
            continue
        alone = isinstance(op.location, UnknownLoc) or isinstance(op, StructuredKernel)
        joins = bool(group) and not alone and not isinstance(group[-1], StructuredKernel)
        if group and not (joins and op.location == group[-1].location):
            yield group
            group = []
        group += run
        grouped.update(run)
    if group:
        yield group


def with_readers(op: Operation) -> list[Operation]:
    """Return an op, what reads the values that it returns or that are made of them, and the ops
    between that touch elements; none where one of them has to stay with the caller.
    """
    run, awaited = [op], readers_in_block(op)
    current: Operation = op
    while awaited:
        if current.next_op is None:  # a reader is in another block
            return []
        current = current.next_op
        if current in awaited or is_work(current) or touches_elements(current):
            if stays_with_caller(current):
                return []
            run.append(current)
            awaited = awaited - {current} | readers_in_block(current)
    return run


def stays_with_caller(op: Operation) -> bool:
    """Whether an op is in no kernel: the entry function allocates, calls and returns."""
    callers = CallOp | memref.AllocOp | memref.DeallocOp
    return isinstance(op, callers) or bool(blocks_of_kernels(op)) or op.has_trait(IsTerminator)


def readers_in_block(op: Operation) -> set[Operation | None]:
    """Return the ops of its block that read what an op returns, inside too; None for others."""
    block = op.parent
    assert block is not None
    users = (use.operation for result in op.results for use in result.uses)
    return {block.find_ancestor_op_in_block(user) for user in users}


@dataclass
class Kernel:
    """A function under construction, and the buffers of the caller that it is called with."""

    block: Block = field(default_factory=Block)
    arguments: list[SSAValue] = field(default_factory=list[SSAValue])
    new: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    names: Sequence[SizeName] = ()
    """Of the sizes that are open."""

    def add(self, op: Operation) -> None:
        """Copy an op, and the free ops that its operands come from, to the end of the kernel."""
        for value in values_read(op):
            self._capture(value)
        new = op.clone(self.new)
        self.block.add_op(new)
        if isinstance(new, KernelOp) and new.counts:
            self.names = new.number_names()

    def _capture(self, value: SSAValue) -> None:
        if value in self.new:
            return
        owner = value.owner
        if isinstance(owner, CLONED_INTO_KERNELS):
            for operand in owner.operands:
                self._capture(operand)
            self.block.add_op(owner.clone(self.new))
            return
        own = self.block.insert_arg(value.type, len(self.arguments))
        own.name_hint = value.name_hint
        self.arguments.append(value)
        self.new[value] = own
        sizes = _sizes_of_open(value)
        for size in sizes:
            if isinstance(size, SSAValue):
                self._capture(size)
        if sizes:
            known = [self.new[size] if isinstance(size, SSAValue) else size for size in sizes]
            builder = Builder(InsertPoint.at_end(self.block))
            self.new[value] = sized_view(builder, own, known)

    def function(self, name: str, source: Operation) -> FuncOp:
        """Finish the kernel as a private function."""
        self.block.add_op(ReturnOp())
        inputs = [argument.type for argument in self.block.args]
        function = FuncOp(name, (inputs, ()), Region(self.block), "private")
        if self.names:
            function.attributes[RANGES] = ranges_attribute(self.names)
        hand_on_location(source, function)
        return function


def _sizes_of_open(value: SSAValue) -> Sequence[Index]:
    """Return the sizes of a buffer that its type leaves open, where they are known; else none."""
    if not isa(value.type, MemRefType[Attribute]) or DYNAMIC_INDEX not in value.type.get_shape():
        return ()
    sizes = [size_of(value, axis) for axis in range(value.type.get_num_dims())]
    known = [size for size in sizes if size is not None]
    return known if len(known) == len(sizes) else ()


def base_name(op: Operation) -> str:
    """Return what the function of an op is called, but for its number."""
    if isinstance(op, scf.ForOp | scf.ParallelOp):
        return "steps" if is_step_loop(op) else "loop"
    return kernel_kind(op) if isinstance(op, KernelOp) else op.name.rpartition(".")[2]


def erase_unused(block: Block) -> None:
    """Erase the free ops that only kernels used."""
    for op in reversed(tuple(block.ops)):
        if type(op) in CLONED_INTO_KERNELS and not any(result.uses for result in op.results):
            op.detach()
            op.erase()


@dataclass
class Outliner:
    """Outlines the functions of one module; equal kernels are emitted once."""

    module: ModuleOp
    kernels: dict[tuple[Attribute, ...], list[FuncOp]] = field(
        default_factory=dict[tuple[Attribute, ...], list[FuncOp]]
    )
    """The functions by the types of their arguments."""
    names: Counter[str] = field(default_factory=Counter[str])

    def outline(self, function: FuncOp) -> None:
        """Replace each group of working ops by a call."""
        for block in kernel_blocks(function):
            self._outline_block(block)

    def _outline_block(self, block: Block) -> None:
        for group in list(node_groups(block)):
            call = self._call_of_known(group) or self._call_of_new(group)
            hand_on_location(group[0], call)
            block.insert_op_after(call, group[-1])
            for op in reversed(group):
                op.detach()
                op.erase()
        erase_unused(block)

    def _call_of_known(self, group: list[Operation]) -> CallOp | None:
        """Return a call for an op that a function has been made for; None where that takes a look.

        Most ops of a deep network are as one before, and a copy only to compare takes long.
        """
        op, *others = group
        arguments = list(dict.fromkeys(values_read(op)))
        if others or any([type(value.owner) in CLONED_INTO_KERNELS for value in arguments]):
            return None
        if any(map(_sizes_of_open, arguments)):
            return None
        for known in self.kernels.get(tuple([value.type for value in arguments]), ()):
            if _is_alone_in(known.body.block, op, arguments):
                return _call(known, arguments)
        return None

    def _call_of_new(self, group: list[Operation]) -> CallOp:
        kernel = Kernel()
        for op in group:
            kernel.add(op)
        callee = self._emit_once(kernel, group)
        return _call(callee, kernel.arguments)

    def _emit_once(self, kernel: Kernel, group: list[Operation]) -> FuncOp:
        # The last op with the most operands is what the node is about; others prepare for it.
        main = max(reversed(group), key=lambda op: len(op.operands))
        base = base_name(main)
        new = kernel.function(f"{base}_{self.names[base]}", group[0])
        same_type = self.kernels.setdefault(new.function_type.inputs.data, [])
        for other in same_type:
            if are_equivalent_regions(new.body, other.body, {}):
                return other
        self.names[base] += 1
        same_type.append(new)
        self.module.body.block.add_op(new)
        return new


def _call(callee: FuncOp, arguments: Sequence[SSAValue]) -> CallOp:
    # Calls are as many as nodes: xDSL's builder takes five times as many calls.
    name = SymbolRefAttr(callee.sym_name)
    return CallOp.create(operands=arguments, properties={"callee": name})


def _is_alone_in(block: Block, op: Operation, arguments: Sequence[SSAValue]) -> bool:
    """Whether a function does nothing but what an op does to these values."""
    only = block.first_op
    if only is None or only.next_op is not block.last_op:
        return False
    return are_equivalent(op, only, same_values(dict(zip(arguments, block.args, strict=True))))


@dataclass(frozen=True)
class OutlineKernels(ModulePass):
    """Move the work of every graph node into a private function, and share equal functions.

    1. A group is a run of ops on buffers, or loops over them, that have one location: a graph
       node's padding, initial value and computation. Ops without a location, and each
       `gawee.kernel`, are groups of their own; a load or a store between them ends a group.
    2. Where an op returns values, all that reads them is in its group, and so are the ops up to
       there that touch elements; where one of these is a call or returns, the op stays.
    3. A group becomes a function of the whole buffers it touches, globals too. Views and
       constants are repeated inside it; sizes that are open are arguments too.
    4. What decides when it is run (`scf.if`, `scf.while`, loops over a batch) stays: functions are
       called inside of it.
    5. Groups that are equal but for names, those of sizes too, and locations share one function.

    A kernel's arguments never alias, since whatever one call touches is alive at the same time.
    So LLVM need not prove that, and compiles each distinct kernel once. Comes after `bufferize`
    and before `plan-memory`.

    rewrite:
        func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
          linalg.exp ins(%x) outs(%y)
        ->
        func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
          func.call @exp_0(%x, %y)
        func.func private @exp_0(%x: memref<4xf32>, %y: memref<4xf32>) {
          linalg.exp ins(%x) outs(%y)
    """

    name = "outline-kernels"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        outliner = Outliner(op)
        for function in entries(op):
            outliner.outline(function)
        report_statistic(self, "distinct kernels", sum(outliner.names.values()))
