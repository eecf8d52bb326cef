"""From a graph to its program: what the cache has is not made again, kernels are made apart."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.cache import CompileCache
from gawee_dialect.backend.compiled import Array, CompiledModel, Recipe
from gawee_dialect.backend.jit import Target, initialize
from gawee_dialect.backend.native_call import builtin_call
from gawee_dialect.backend.openmp import start_threads
from gawee_dialect.backend.packed_program import packed, unpacked
from gawee_dialect.backend.program import Pieces, Program, cached_program, compile_program
from gawee_dialect.backend.thread_pool import keep_code
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import MAIN
from gawee_dialect.frontends.mlir_text import module_of_text, print_mlir
from gawee_dialect.garbage_collection import no_garbage_collection
from gawee_dialect.levels import Level, kernel_stages, level_of, lower_to, lower_to_functions
from gawee_dialect.passes.insertion import declared_insertions
from gawee_dialect.passes.instrument import instruments, tell
from gawee_dialect.passes.pass_manager import leaf_passes, run_passes
from gawee_dialect.target.machine import find_processor
from gawee_dialect.universe import is_extended, make_context
from gawee_dialect.workers.shared_tasks import run_apart

if TYPE_CHECKING:
    from gawee_dialect.analysis.batch_axes import BatchArguments
    from gawee_dialect.backend.kernel_code import Lowering

MadeElsewhere = Callable[[ModuleOp, CodeOptions], bytes | None]
"""Returns a packed program; None where it is to be made in this process."""


@dataclass(frozen=True)
class Plan:
    """How the program of a graph is made: in which pieces, and in which process."""

    pieces: Pieces
    cache: CompileCache | None
    elsewhere: MadeElsewhere | None = None
    """What makes it, where that is another process than this one."""
    verify_each: bool = False
    """Whether the module is verified after each pass: our own are in tests, and here that takes
    about as long as the passes."""

    def in_a_copy(self) -> Plan:
        """Return the plan to do this in a copy of this process, the first time.

        What passes and LLVM leave behind is as much memory as many a network, and most processes
        compile one. From the second on, the passes stay.
        """

        def made_in_a_copy(module: ModuleOp, options: CodeOptions) -> bytes | None:
            first = _compiles_first()
            if not first or "gawee_dialect.passes.pipelines" in sys.modules:
                return None
            first.clear()

            def code_and_signatures(module: ModuleOp) -> bytes:
                made = carry_out(self, module, options)
                return packed(made.code, made.signatures)

            return run_apart(code_and_signatures, module, lambda: _get_ready(self.cache, options))

        return replace(self, elsewhere=made_in_a_copy)


def program_of(
    module: ModuleOp,
    options: CodeOptions,
    *,
    cache: bool,
    elsewhere: MadeElsewhere | None = None,
) -> Program:
    """Return the program of a module for this processor; raises GaweeError.

    With `cache`, code is used again that an earlier process compiled; what it lacks may be made
    `elsewhere`: the first time in a process, by default, in a copy of it.
    """
    kept = CompileCache() if cache else None
    watching = instruments()
    own = options.passes or options.without or declared_insertions() or is_extended()
    if own or watching:  # passes that may be a user's own, or must run to be seen
        told = any(each.wants_assembly() for each in watching)
        verify = bool(own) or any(each.needs_verified() for each in watching)
        plan = Plan(Pieces.WHOLE if told else Pieces.UNITS, kept, verify_each=verify)
        return carry_out(plan, module, options)
    here = Plan(Pieces.KERNELS, kept)
    if kept is None:
        return carry_out(here.in_a_copy(), module, options)
    plan = here.in_a_copy() if elsewhere is None else replace(here, elsewhere=elsewhere)
    # The generic form leaves nothing out, whatever an op's own form says.
    source = f"{options}\n{find_processor(options.target)}\n{generic_text(module)}"
    return cached_program(
        kept,
        source,
        MAIN,
        lambda: carry_out(plan, module, options),
        lambda: _lowered(plan, module, options),
    )


def carry_out(plan: Plan, module: ModuleOp, options: CodeOptions) -> Program:
    """Compile a module as planned; raises GaweeError."""
    found = None if plan.elsewhere is None else plan.elsewhere(module, options)
    if found is not None:
        code, signatures = unpacked(found)
        target = Target().resolved()
        return Program(code, signatures, target, lambda: _lowered(plan, module, options))
    if plan.pieces is Pieces.KERNELS:
        try:
            return _program_by_kernels(plan, module, options)
        except GaweeError:
            # A kernel has only its own errors: all kernels together report all.
            return carry_out(Plan(Pieces.UNITS, plan.cache), module, options)
    lowered = _lowered(plan, module, options)
    program = compile_program(lowered, MAIN, cache=plan.cache, pieces=plan.pieces)
    if plan.pieces is Pieces.WHOLE:
        _tell_assembly(program)
    return program


def compile_module(
    module: ModuleOp,
    options: CodeOptions,
    weights: Callable[[], Mapping[str, Array]],
    images: BatchArguments | None = None,
    *,
    cache: bool = True,
    allow_native_code: bool = False,
) -> CompiledModel:
    """Compile a module for this processor, and bind its weights; raises GaweeError.

    With `images`, it is the graph of one of them, and the model takes any number. Where sizes are
    open, the model takes all that their names may have.
    """
    with no_garbage_collection():
        program = program_of(module, options, cache=cache)
    with _code_allowed(allow_native_code) if program.code.sources else nullcontext():
        if program.signatures[MAIN].sizes:
            from gawee_dialect.backend.open_model import OpenModel

            compiled = OpenModel(program, weights(), num_threads=options.num_threads)
        elif images is None:
            compiled = CompiledModel(program, weights(), num_threads=options.num_threads)
        else:
            from gawee_dialect.backend.batched import BatchedModel

            compiled = BatchedModel(program, weights(), images, num_threads=options.num_threads)
    compiled.recipe = Recipe(lambda: generic_text(module), options, compiled_again)
    return compiled


def _code_allowed(allowed: bool) -> AbstractContextManager[None]:
    from gawee_dialect.backend.native_code import native_code_allowed

    return native_code_allowed(allowed)


def compiled_again(
    text: str,
    options: CodeOptions,
    parameters: Mapping[str, Array],
    images: BatchArguments | None = None,
) -> CompiledModel:
    """Compile a graph that was pickled, for this processor; raises GaweeError."""
    return compile_module(module_of_text(text), options, lambda: parameters, images)


def generic_text(module: ModuleOp) -> str:
    """Return the text of a module that says all that there is to say."""
    return print_mlir(module, generic=True)


def _lowered(plan: Plan, module: ModuleOp, options: CodeOptions) -> ModuleOp:
    return lower_to(module, Level.LLVM, options, verify_each=plan.verify_each)


@cache
def _compiles_first() -> set[str]:
    """Return what becomes empty with the first compilation of this process."""
    return {"the first"}


def _get_ready(cache: CompileCache | None, options: CodeOptions) -> None:
    """Do what the first code of a process waits for, so that it need not."""
    initialize()
    builtin_call()
    if options.parallel and options.num_threads != 1:
        start_threads()
        if cache is not None:
            keep_code(cache)


def _program_by_kernels(plan: Plan, module: ModuleOp, options: CodeOptions) -> Program:
    """Compile each kernel by itself, on all cores; only those are lowered that the cache lacks."""
    from gawee_dialect.backend.kernel_code import compile_kernels, separate_kernels

    lowering = _lowering_of_kernels(module, options)
    functions = lower_to_functions(module, options)
    separate = separate_kernels(functions) or ()
    kernels = compile_kernels(separate, lowering, Target().resolved(), plan.cache)
    lowering.apply(functions)
    return compile_program(
        functions,
        MAIN,
        cache=plan.cache,
        kernels=kernels,
        make_module=lambda: _lowered(plan, module, options),
    )


def _lowering_of_kernels(module: ModuleOp, options: CodeOptions) -> Lowering:
    from gawee_dialect.backend.kernel_code import Lowering

    _, passes = kernel_stages(options, level_of(module))
    context = make_context()

    def apply(part: ModuleOp) -> None:
        run_passes(context, part, passes, verify_each=False)

    modules = tuple(type(each).__module__ for each in leaf_passes(passes))
    # What was measured decided on schedules, which the text of a kernel has.
    instructions = find_processor(options.target).instructions
    return Lowering(apply, f"{instructions}\n{passes}", modules)


def kernels_of(module: ModuleOp, options: CodeOptions, cache: CompileCache) -> Mapping[str, bytes]:
    """Return the code of a graph's kernels for this processor, packed, by what each is known by.

    Raises GaweeError.
    """
    from gawee_dialect.backend.kernel_code import compile_kernels, kernel_keys, separate_kernels

    with no_garbage_collection():
        lowering, target = _lowering_of_kernels(module, options), Target().resolved()
        separate = separate_kernels(lower_to_functions(module, options)) or ()
        keys = kernel_keys(separate, lowering, target, cache)
        codes = compile_kernels(separate, lowering, target, cache)
    return {keys[name]: packed(code, {}) for name, code in codes.items()}


def _tell_assembly(program: Program) -> None:
    from gawee_dialect.backend.code_generation import assembly_functions, llvm_functions

    llvm = llvm_functions(program.llvm)
    assembly = assembly_functions(program.code.assembly, llvm)
    tell(lambda instrument: instrument.code_compiled(program.module, llvm, assembly))
