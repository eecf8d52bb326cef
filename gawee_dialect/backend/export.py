"""Write a compiled network as files for C: LLVM IR, assembly, object, shared library, header.

`.ll`, `.s` and `.o` need llvmlite alone; a shared library needs the system's C compiler to link.
Every file is whole or not there.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.c_entry import CInterface, add_c_entry, c_interface
from gawee_dialect.backend.c_header import (
    example_build,
    example_program,
    header_text,
    manifest_text,
)
from gawee_dialect.backend.code_generation import emit_assembly, emit_object
from gawee_dialect.backend.jit import Target, make_machine, optimized_module, system_of
from gawee_dialect.backend.llvm_text import llvm_text
from gawee_dialect.backend.openmp import START_TEAM
from gawee_dialect.backend.signature import llvm_function
from gawee_dialect.backend.weights_file import weights_file
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import MAIN
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.whole_file import write_file

Array = NDArray[np.generic]

KINDS = ("ll", "asm", "obj", "shared", "header", "example")
"""What can be written: NAME.ll, NAME.s, NAME.o, NAME.so, NAME.h with NAME.json, and in
NAME_example/ a program that calls NAME.o."""

SUFFIXES = {"ll": ".ll", "asm": ".s", "obj": ".o", "shared": ".so"}


def link_flags(module: ModuleOp) -> Sequence[str]:
    """Return what a C compiler links a module with: libm, and OpenMP where threads are started."""
    starts_threads = llvm_function(module, START_TEAM) is not None
    return ("-fopenmp", "-lm") if starts_threads else ("-lm",)


def _check_linker(target: Target) -> None:
    """Raise GaweeError where this machine's C compiler would link code for another one."""
    theirs, own = (make_machine(each, jit=False).triple for each in (target, Target()))
    if "CC" in os.environ or system_of(theirs) == system_of(own):
        return
    raise GaweeError(
        Diagnostic(
            f"cannot link a shared library for {theirs} with this machine's C compiler",
            hint="name a cross compiler in CC, or emit 'obj', which needs none",
        )
    )


def link_shared(object_code: bytes, name: str, flags: Sequence[str] = ("-lm",)) -> bytes:
    """Link an object file to a shared library; raises GaweeError where there is no C compiler."""
    compiler = os.environ.get("CC") or "cc"
    found = shutil.which(compiler)
    if found is None:
        raise GaweeError(
            Diagnostic(
                f"cannot make a shared library because no C compiler '{compiler}' was found",
                hint="install one, name one in CC, or emit 'obj', which needs none",
            )
        )
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, f"{name}.o"), Path(folder, f"{name}.so")
        source.write_bytes(object_code)
        command = [found, "-shared", "-o", str(library), str(source), *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise GaweeError(f"cannot link the shared library: {lines[0]}")
        return library.read_bytes()


def weights_blob(interface: CInterface, values: Mapping[str, Array]) -> bytes:
    """Return the one blob that holds every weight at its offset."""
    blob = bytearray(interface.weights_size)
    for offset, buffer in interface.weights:
        key = key_of_weight(buffer.role, buffer.name)
        blob[offset : offset + buffer.size] = values[key].tobytes()
    return bytes(blob)


def key_of_weight(role: str, name: str) -> str:
    """Return what a weight is called among all: prepared ones are numbered, as a name may be."""
    return f"prepared {name}" if role == "prepared" else name


def write_code(
    module: ModuleOp,
    name: str,
    directory: Path,
    kinds: Collection[str],
    weights: Callable[[], Mapping[str, Array]] | None = None,
    function: str = MAIN,
    target: Target | None = None,
) -> list[Path]:
    """Write the files of some KINDS for a module at the llvm level; return their paths.

    `obj` and `shared` bring the header and the manifest with them, `example` the object. With
    `weights`, as `key_of_weight` calls them, NAME.weights.bin is written too. Raises GaweeError for
    an unknown kind, a name that is no C identifier, a missing C compiler, and as `weights` does.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise GaweeError(f"unsupported output '{unknown[0]}'; supported: {', '.join(KINDS)}")
    kinds = {*kinds, "obj"} if "example" in kinds else set(kinds)
    if sources_of(module):
        message = "cannot write code for C: the network calls C of descriptions"
        raise GaweeError(Diagnostic(message, hint="it runs in Python, and in gawee-run"))
    interface = c_interface(module, name, function)
    target = (target or Target()).resolved()
    blob = None
    if weights is not None and interface.weights:
        blob = weights_blob(interface, weights())
    if "shared" in kinds:
        _check_linker(target)
    files: dict[str, bytes] = _code(add_c_entry(module, interface), kinds, name, target)
    if blob is not None:
        files[f"{name}.weights.bin"] = weights_file(blob, interface.weights_id)
    if {"header", "obj", "shared"} & kinds:
        described = {
            "triple": make_machine(target, jit=False).triple,
            "cpu": target.cpu,
            "features": target.features,
        }
        beside = f"{name}.weights.bin" if blob is not None else None
        files[f"{name}.h"] = header_text(interface).encode()
        files[f"{name}.json"] = manifest_text(
            interface, described, beside, link_flags(module)
        ).encode()
    if "example" in kinds:
        files[f"{name}_example/main.c"] = example_program(interface).encode()
        build = example_build(interface, link_flags(module))
        files[f"{name}_example/CMakeLists.txt"] = build.encode()
        (directory / f"{name}_example").mkdir(parents=True, exist_ok=True)
    directory.mkdir(parents=True, exist_ok=True)
    return [write_file(directory / file, data) for file, data in files.items()]


def _code(module: ModuleOp, kinds: Collection[str], name: str, target: Target) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    if "ll" in kinds:
        files[f"{name}.ll"] = llvm_text(module, target.function_attributes()).encode()
    if not {"asm", "obj", "shared"} & set(kinds):
        return files
    parsed, machine = optimized_module(module, target, jit=False)
    emitters: dict[str, Callable[[], bytes]] = {
        "asm": lambda: emit_assembly(machine, parsed).encode(),
        "obj": lambda: emit_object(machine, parsed),
        "shared": lambda: link_shared(emit_object(machine, parsed), name, link_flags(module)),
    }
    for kind, emit in emitters.items():
        if kind in kinds:
            files[name + SUFFIXES[kind]] = emit()
    return files
