"""From a graph to its program: what the cache has is not made again, kernels are made apart."""

import sys
from collections.abc import Callable
from functools import cache

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.cache import CompileCache
from gawee_dialect.backend.jit import Target, initialize
from gawee_dialect.backend.native_call import builtin_call
from gawee_dialect.backend.openmp import start_threads
from gawee_dialect.backend.packed_program import packed, unpacked
from gawee_dialect.backend.program import (
    Program,
    cached_program,
    compile_by_kernels,
    compile_program,
)
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import MAIN
from gawee_dialect.levels import Level, kernel_stages, level_of, lower_to, lower_to_functions
from gawee_dialect.passes.insertion import declared_insertions
from gawee_dialect.passes.instrument import instruments, tell
from gawee_dialect.passes.pass_manager import leaf_passes, run_passes
from gawee_dialect.target.description import find_processor
from gawee_dialect.universe import is_extended, make_context
from gawee_dialect.workers.shared_tasks import run_apart

MadeElsewhere = Callable[[ModuleOp, CodeOptions], bytes | None]
"""Returns a packed program; None where it is to be made in this process."""


def program_of(
    module: ModuleOp,
    options: CodeOptions,
    *,
    cache: bool,
    elsewhere: MadeElsewhere | None = None,
) -> Program:
    """Return the program of a module for this processor; raises GaweeError.

    With `cache`, code is used again that an earlier process compiled; what it lacks may be made
    `elsewhere`.
    """
    kept = CompileCache() if cache else None
    if options.passes or options.without or declared_insertions() or is_extended():
        return _program_by_all_passes(module, options, kept, verify_each=True)
    if instruments():
        verify = any(each.needs_verified() for each in instruments())
        return _program_by_all_passes(module, options, kept, verify_each=verify)
    if kept is None:
        return _program_made_apart(module, options, None)
    # The generic form leaves nothing out, whatever an op's own form says.
    source = f"{options}\n{find_processor(options.target)}\n{generic_text(module)}"
    return cached_program(
        kept,
        source,
        MAIN,
        lambda: _program_made_apart(module, options, kept, elsewhere),
        lambda: _lowered(module, options),
    )


def generic_text(module: ModuleOp) -> str:
    """Return the text of a module that says all that there is to say."""
    from gawee_dialect.frontends.mlir_text import print_mlir

    return print_mlir(module, generic=True)


def _lowered(module: ModuleOp, options: CodeOptions) -> ModuleOp:
    # Our own passes are verified in tests; here that takes about as long as the passes.
    return lower_to(module, Level.LLVM, options, verify_each=False)


def _program_by_all_passes(
    module: ModuleOp, options: CodeOptions, cache: CompileCache | None, *, verify_each: bool
) -> Program:
    """Compile a module by passes that must run to be seen, or may be a user's own."""
    told = any(each.wants_assembly() for each in instruments())
    lowered = lower_to(module, Level.LLVM, options, verify_each=verify_each)
    program = compile_program(lowered, MAIN, cache=cache, assembly=told)
    if told:
        _tell_assembly(program)
    return program


@cache
def _compiles_first() -> set[str]:
    """Return what becomes empty with the first compilation of this process."""
    return {"the first"}


def _program_made_apart(
    module: ModuleOp,
    options: CodeOptions,
    cache: CompileCache | None,
    elsewhere: MadeElsewhere | None = None,
) -> Program:
    """Compile each kernel by itself; the first time in a process, in a copy of the process."""
    if elsewhere is None:
        found = _made_in_a_copy(module, options, cache)
    else:
        found = elsewhere(module, options)
    if found is None:
        return _program_by_kernels(module, options, cache)
    code, signatures = unpacked(found)
    return Program(code, signatures, Target().resolved(), lambda: _lowered(module, options))


def _made_in_a_copy(
    module: ModuleOp, options: CodeOptions, cache: CompileCache | None
) -> bytes | None:
    """Return a packed program the first time, made in a copy of this process; None later.

    What passes and LLVM leave behind is as much memory as many a network, and most processes
    compile one. Who compiles a second has the passes to stay.
    """
    first = _compiles_first()
    if not first or "gawee_dialect.passes.pipelines" in sys.modules:
        return None
    first.clear()

    def code_and_signatures(module: ModuleOp) -> bytes:
        made = _program_by_kernels(module, options, cache)
        return packed(made.code, made.signatures)

    return run_apart(code_and_signatures, module, lambda: _get_ready(options))


def _get_ready(options: CodeOptions) -> None:
    """Do what the first code of a process waits for, so that it need not."""
    initialize()
    builtin_call()
    if options.parallel and options.num_threads != 1:
        start_threads()


def _program_by_kernels(
    module: ModuleOp, options: CodeOptions, cache: CompileCache | None
) -> Program:
    """Compile each kernel by itself, on all cores."""
    from gawee_dialect.backend.kernel_code import Lowering

    _, passes = kernel_stages(options, level_of(module))
    context = make_context()

    def apply(part: ModuleOp) -> None:
        run_passes(context, part, passes, verify_each=False)

    modules = tuple(type(each).__module__ for each in leaf_passes(passes))
    lowering = Lowering(apply, f"{find_processor(options.target)}\n{passes}", modules)
    functions = lower_to_functions(module, options)
    try:
        return compile_by_kernels(
            functions, MAIN, lowering, lambda: _lowered(module, options), cache
        )
    except GaweeError:
        # A kernel tells only what is wrong with it: all of them together tell all.
        return _program_by_all_passes(module, options, cache, verify_each=False)


def _tell_assembly(program: Program) -> None:
    from gawee_dialect.backend.listings import assembly_functions, llvm_functions

    llvm = llvm_functions(program.llvm)
    assembly = assembly_functions(program.code.assembly, llvm)
    tell(lambda instrument: instrument.code_compiled(program.module, llvm, assembly))
