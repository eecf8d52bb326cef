"""A network on its way to kernels, stopped where choices are made, with keys on its kernels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.graph.scan import kernel_blocks, scheduled_blocks
from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.levels import native_stages
from gawee_dialect.passes.insertion import Insertion
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.passes.pattern_walk import PatternWalk
from gawee_dialect.passes.rewrite_pass import Driver
from gawee_dialect.passes.tensors.assign_layouts import AssignLayouts
from gawee_dialect.passes.tensors.assign_schedules import AssignSchedules, accesses_of
from gawee_dialect.passes.tensors.convert_to_algorithm import ConvertKernel, ConvertToAlgorithm
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.schedules.database import NO_CHOICES, Database
from gawee_dialect.schedules.keys import Decision, algorithm_key, mark, mark_of, schedule_key
from gawee_dialect.target.machine import Machine
from gawee_dialect.tuning.candidates import algorithms
from gawee_dialect.universe import make_context


@dataclass(frozen=True)
class _Stages:
    """The passes to scheduled kernels: before algorithms are chosen, and before and after that."""

    to_formed: Sequence[ModulePass]
    conversions: Sequence[type[ConvertKernel]]
    to_layouts: Sequence[ModulePass]
    to_scheduled: Sequence[ModulePass]

    @staticmethod
    def of(options: CodeOptions) -> "_Stages":
        passes = native_stages(options).to_tensors
        found = [each for each in passes if isinstance(each, ConvertToAlgorithm)]
        kinds = [type(each) for each in passes]
        # Exact code has no other algorithms.
        first = passes.index(found[0]) if found else kinds.index(AssignLayouts)
        scheduled = kinds.index(AssignSchedules)
        return _Stages(
            passes[:first],
            [each.conversion for each in found],
            passes[first + len(found) : scheduled],
            passes[scheduled:],
        )


class Lowering:
    """Lowers one network, with several sets of choices."""

    def __init__(
        self,
        module: ModuleOp,
        machine: Machine,
        passes: Sequence[Insertion] = (),
        options: CodeOptions | None = None,
    ):
        """Take a network; `options` say all of the code, where more than machine and passes do."""
        self.processor = machine.processor
        self.options = options or CodeOptions(
            target=machine.target, num_threads=machine.num_threads or None, passes=tuple(passes)
        )
        self.formed = module.clone()
        """The network when its convolutions are kernels, and no algorithm is chosen."""
        stages = _Stages.of(self.options)
        self._conversions, self._to_layouts = stages.conversions, stages.to_layouts
        run_passes(make_context(), self.formed, stages.to_formed)
        for op in self.formed.walk():
            if isinstance(op, KernelOp) and self._has_choice(op):
                mark(op, Decision.ALGORITHM, algorithm_key(op))

    def conversions(self, database: Database = NO_CHOICES) -> Sequence[ConvertKernel]:
        """Return what converts kernels to other algorithms, as a database says."""
        return [kind(self.processor, database) for kind in self._conversions]

    def _has_choice(self, op: KernelOp) -> bool:
        return any(each.mismatch(op) is None for each in self.conversions())

    def with_choice(self) -> dict[str, KernelOp]:
        """Return the kernels that have a choice of algorithms, by key."""
        found: dict[str, KernelOp] = {}
        for op in self.formed.walk():
            key = _mark_of(op, Decision.ALGORITHM)
            if isinstance(op, KernelOp) and key is not None:
                found.setdefault(key, op)
        return found

    def algorithms(self, op: KernelOp, most: int | None) -> list[Algorithm]:
        """Return the ways to compute a kernel; see `candidates.algorithms`."""
        return algorithms(op, self.conversions(), most)

    def with_layouts(self, database: Database) -> ModuleOp:
        """Return the network with these algorithms, before kernels have schedules."""
        module = self.formed.clone()
        context = make_context()
        for pattern in self.conversions(database):
            PatternWalk(Driver([pattern], context)).rewrite_module(module)
        run_passes(context, module, self._to_layouts)
        main = find_function(module)
        assert main is not None
        analysis = ParameterAnalysis()
        for op in (op for block in scheduled_blocks(main) for op in block.ops):
            if isinstance(op, KernelOp) and op.schedule is None:
                known = [operand.is_parameter for operand in accesses_of(op, analysis).inputs]
                mark(op, Decision.SCHEDULE, schedule_key(op, known))
        return module

    def scheduled(self, with_layouts: ModuleOp, database: Database) -> ModuleOp:
        """Return a network with layouts after its kernels have schedules."""
        module = with_layouts.clone()
        options = replace(self.options, schedules=database)
        run_passes(make_context(), module, _Stages.of(options).to_scheduled)
        return module


def ops_by_key(
    module: ModuleOp,
    decision: Decision,
    blocks_of: Callable[[FuncOp], Iterator[Block]] = kernel_blocks,
) -> dict[str, list[StructuredKernel]]:
    """Return the kernels of some blocks of `@main` that a key is written on, by key."""
    main = find_function(module)
    assert main is not None
    found: dict[str, list[StructuredKernel]] = {}
    for op in (op for block in blocks_of(main) for op in block.ops):
        key = _mark_of(op, decision)
        if key is not None and isinstance(op, StructuredKernel):
            found.setdefault(key, []).append(op)
    return found


def _mark_of(op: Operation, decision: Decision) -> str | None:
    return mark_of(op.attributes, decision)
