"""Optimise LLVM IR for a processor, and load it into this process.

llvmlite is all that is needed; it brings its own LLVM. The llvm dialect is imported only where
something is compiled: code from the cache is ready before that import is.
"""

import ctypes
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from llvmlite import binding
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend import openmp
from gawee_dialect.backend.code_generation import assemble, emit_assembly, emit_object
from gawee_dialect.backend.memory import LLVM, forget_code_of
from gawee_dialect.backend.vector_pipeline import (
    is_in_vectors,
    vector_passes,
    with_unrolling_as_marked,
)
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.target.description import HOST, PROCESSORS, Processor, multiplies_tiles
from gawee_dialect.target.host import llvm_host
from gawee_dialect.target.tile_permission import may_use_tiles

if TYPE_CHECKING:
    from gawee_dialect.backend.code_units import CodeUnit

_lock = threading.Lock()


LIBRARIES = {"m": "libm.so.6", "gcc_s": "libgcc_s.so.1"}
"""What code calls, and how Linux spells it: libm for elementary functions, the compiler's own
library for f16 where there is no F16C."""


def _load_library(name: str, usual: str) -> None:
    try:
        binding.load_library_permanently(usual)
    except RuntimeError:
        from ctypes.util import find_library

        library = find_library(name)  # last: on Linux it starts a process
        if library is not None:
            binding.load_library_permanently(library)


@cache
def _initialize() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()
    for name, usual in LIBRARIES.items():
        _load_library(name, usual)
    forget_code_of(LLVM)  # its constructors alone touch 30 MB


def initialize() -> None:
    """Prepare LLVM for the host; may be called from any thread, any number of times."""
    with _lock:
        _initialize()


@dataclass(frozen=True)
class Target:
    """The processor that code is made for: LLVM's names; `host` is this machine's.

    `opt_level` is clang's -O, `triple` LLVM's name of the system, this one's where it is empty.
    """

    cpu: str = HOST
    features: str = ""
    opt_level: int = 3
    triple: str = ""

    @staticmethod
    def of(processor: Processor) -> "Target":
        """Return LLVM's name and features of a described processor."""
        return Target(processor.cpu, processor.features)

    def resolved(self) -> "Target":
        """Return the target with this machine's name and features in the place of `host`."""
        if self.cpu != HOST:
            return self
        cpu, features = llvm_host()
        return replace(self, cpu=cpu, features=self.features or features)

    def function_attributes(self) -> Mapping[str, str]:
        """Return the string attributes every function needs for this processor."""
        # Without it LLVM keeps to 256 bits where the processor has 512.
        wide = "+avx512f" in self.features.split(",")
        return {"prefer-vector-width": "512"} if wide else {}


@cache
def _initialize_all() -> None:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()


def _system(triple: str) -> binding.Target:
    """Return LLVM's back end for a triple; raises GaweeError where it has none."""
    initialize()
    if not triple:
        return binding.Target.from_default_triple()
    with _lock:
        _initialize_all()
    try:
        return binding.Target.from_triple(triple)
    except RuntimeError as error:
        raise GaweeError(
            Diagnostic(
                f"unknown triple '{triple}'",
                hint="LLVM's names are ARCHITECTURE-VENDOR-SYSTEM, as aarch64-unknown-linux-gnu",
            )
        ) from error


def system_of(triple: str) -> tuple[str, str]:
    """Return what a triple says of code: LLVM's name of the architecture, and the system."""
    architecture = _system(triple).name
    system = re.search("linux|darwin|macos|windows", triple)
    return architecture, system[0].replace("macos", "darwin") if system else triple


def target_elsewhere(processor: Processor, triple: str = "") -> Target:
    """Return the target of code that is for a processor, on a system by LLVM's name.

    Without a triple: this system, where the processor is of this machine's architecture, otherwise
    one that has such a processor. Raises GaweeError where the two do not go together.
    """
    own, theirs = _system("").name, _system("" if processor.name == HOST else processor.triple).name
    chosen = triple or ("" if own == theirs else processor.triple)
    found = _system(chosen).name
    if found != theirs:
        raise GaweeError(
            Diagnostic(
                f"expected a triple for target '{processor.name}' ({theirs}), got '{triple}' "
                f"({found})",
                hint=f"targets: {', '.join((HOST, *PROCESSORS))}",
            )
        )
    return Target(processor.cpu, processor.features, triple=chosen)


def make_machine(target: Target, *, jit: bool) -> binding.TargetMachine:
    """Make LLVM's description of a target; LLVM warns of an unknown processor."""
    target = target.resolved()
    return _system(target.triple).create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=target.opt_level,
        reloc="default" if jit else "pic",
        codemodel="jitdefault" if jit else "default",
        jit=jit,
    )


def parse_llvm(text: str) -> binding.ModuleRef:
    """Parse and verify LLVM IR; raises GaweeError."""
    initialize()
    try:
        parsed = binding.parse_assembly(text)
        parsed.verify()
    except RuntimeError as error:
        reason = str(error).strip().splitlines()
        raise GaweeError(
            Diagnostic(
                f"LLVM rejects the module: {reason[min(1, len(reason) - 1)]}",  # 0 says the step
                hint="this is an error in the passes that made it, not in the network",
            )
        ) from error
    return parsed


def _optimized(text: str, machine: binding.TargetMachine, level: int) -> binding.ModuleRef:
    """Parse LLVM IR, and run LLVM's passes of an -O level up to 2; raises GaweeError.

    From -O2 on, those for vectors where the text is in vectors, otherwise the standard pipeline
    with loop vectorisation. Loops are unrolled where they are marked: what else LLVM does to
    kernels (-O3, its own unrolling, SLP vectorisation) takes longer and makes none of them faster.
    """
    in_vectors = level >= 2 and is_in_vectors(text)
    parsed = parse_llvm(with_unrolling_as_marked(text) if in_vectors else text)
    parsed.triple = machine.triple
    parsed.data_layout = str(machine.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=min(level, 2))
    options.loop_vectorization = level >= 2
    options.loop_interleaving = level >= 2
    options.slp_vectorization = False
    options.loop_unrolling = False
    builder = binding.create_pass_builder(machine, options)
    manager = vector_passes() if in_vectors else builder.getModulePassManager()
    try:
        manager.run(parsed, builder)
    finally:
        # Its own close() frees nothing in llvmlite 0.50: the base class that would comes second.
        binding.ffi.lib.LLVMPY_DisposeNewModulePassManger(manager)
        manager.detach()
    return parsed


def optimized_module(
    module: ModuleOp, target: Target, *, jit: bool
) -> tuple[binding.ModuleRef, binding.TargetMachine]:
    """Take a module at the llvm level to optimised LLVM IR; raises GaweeError."""
    from gawee_dialect.backend.code_units import named_units

    target = target.resolved()
    *called, last = named_units(module, target.function_attributes())
    return optimized_text(last.text, target, jit=jit, called=called)


def optimized_text(
    text: str, target: Target, *, jit: bool, called: Sequence["CodeUnit"] = ()
) -> tuple[binding.ModuleRef, binding.TargetMachine]:
    """Optimise LLVM IR text for a processor, and link it with others that it calls.

    Each is optimised by itself, as where it is compiled by itself; raises GaweeError.
    """
    machine = make_machine(target, jit=jit)
    texts = (*(unit.text for unit in called), text)
    linked, *others = (_optimized(each, machine, target.opt_level) for each in texts)
    for other in others:
        linked.link_in(other)
    for symbol in (unit.symbol for unit in called if unit.symbol):
        linked.get_function(symbol).linkage = binding.Linkage.internal
    return linked, machine


@dataclass(frozen=True)
class ObjectCode:
    """Machine code that is not loaded yet, and the functions that it calls from elsewhere."""

    code: bytes
    external: tuple[str, ...]
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    """C files that define some of those functions, by name."""

    assembly: str = ""
    """The code as text, where the caller needs it."""

    kernels: tuple[bytes, ...] = ()
    """Machine code of functions that it calls."""

    symbol: str = ""
    """What its function is called, where it is a kernel."""

    @property
    def objects(self) -> tuple[bytes, ...]:
        """All object files of it."""
        return (*self.kernels, self.code)


def compile_object(
    text: str, target: Target, *, assembly: bool = False, called: Sequence["CodeUnit"] = ()
) -> ObjectCode:
    """Optimise LLVM IR text, and compile it for this process; raises GaweeError.

    With `assembly`, the same code is kept as text too. What is `called` is compiled with it.
    """
    from gawee_dialect.backend.code_units import LINKED_PREFIX

    parsed, machine = optimized_text(text, target, jit=True, called=called)
    external = tuple(
        function.name
        for function in parsed.functions
        if function.is_declaration and not function.name.startswith(("llvm.", LINKED_PREFIX))
    )
    if not assembly:
        return ObjectCode(emit_object(machine, parsed), external)
    written = emit_assembly(machine, parsed)
    return ObjectCode(assemble(machine, written), external, assembly=written)


def _check_symbols(names: Sequence[str]) -> None:
    # LLVM ends the whole process at a symbol that it cannot find.
    for name in names:
        if binding.address_of_symbol(name) is None:
            raise GaweeError(
                f"expected a definition of '@{name}' in the module or in the C library, got none"
            )


class NativeModule:
    """Machine code in this process; it lives as long as this object."""

    def __init__(self, code: ModuleOp | ObjectCode, target: Target | None = None):
        """Compile a module at the llvm level, or load what was compiled; raises GaweeError."""
        target = (target or Target()).resolved()
        if isinstance(code, ModuleOp):
            from gawee_dialect.backend.code_units import named_units

            *called, last = named_units(code, target.function_attributes())
            made = compile_object(last.text, target, called=called)
            code = replace(made, sources=sources_of(code))
        machine = make_machine(target, jit=True)
        if multiplies_tiles(target.cpu, target.features):
            may_use_tiles()
        if code.sources:
            from gawee_dialect.backend.native_code import load_native_code

            load_native_code(code.sources)
        with openmp.linked(code.external) as runtime:
            self.runtime = runtime
            """What starts the threads of parallel regions, None where there are none."""
            _check_symbols(code.external)
            self._engine = binding.create_mcjit_compiler(parse_llvm(""), machine)
            for each in code.objects:
                self._engine.add_object_file(binding.ObjectFileRef.from_data(each))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a public function; raises GaweeError where there is none."""
        address = self._engine.get_function_address(name)
        if address == 0:
            raise GaweeError(f"expected a function '{name}' in the module, got none")
        return address

    def address_of_global(self, name: str) -> int:
        """Return the address of a public constant that the module has."""
        return self._engine.get_global_value_address(name)

    def function(self, name: str) -> Callable[[object], None]:
        """Return a packed function as a callable on an array of pointers; it drops the GIL."""
        engine = self._engine  # the code must live as long as the callable
        native = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.address(name))

        def call(pointers: object, _engine: object = engine) -> None:
            native(pointers)

        return call
