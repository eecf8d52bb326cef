"""A network whose kernels are compiled apart: those alone that the cache lacks, on all cores.

Once kernels are functions and memory is planned, no pass looks from one into another. So each is
lowered and compiled as if there were no other, and known by what it says before that.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

import gawee_dialect
from gawee_dialect.analysis.fingerprint import Fingerprints
from gawee_dialect.backend.cache import (
    BACK_END,
    CompileCache,
    key_of,
    versions_of,
)
from gawee_dialect.backend.code_units import kernel_units
from gawee_dialect.backend.jit import ObjectCode, Target
from gawee_dialect.backend.openmp import cores
from gawee_dialect.backend.packed_program import packed, unpacked
from gawee_dialect.backend.prebuilt_kernels import read_prebuilt
from gawee_dialect.backend.unit_code import compile_units, linked, target_parts
from gawee_dialect.dialect.entry import entry_arguments, is_public
from gawee_dialect.locations import hand_on_location
from gawee_dialect.workers.shared_tasks import run_shared

# Which source files decide what some modules of this package do: theirs, and those they import.
#
# What is imported inside functions counts too, but for one thing: an op's canonicalization
# patterns, which are imported by that pass and nothing else.

NAME = gawee_dialect.__name__
ROOT = Path(gawee_dialect.__file__).parent

PATTERNS = f"{NAME}.passes.graph.canonicalization"

IMPORT = re.compile(
    rf"^[ \t]*(?:from ({NAME}[\w.]*) import (?:\(([^)]*)\)|([^\n(]*))|import ({NAME}[\w.]*))",
    re.MULTILINE,
)


def sources_behind(modules: Iterable[str]) -> Sequence[Path]:
    """Return the files of some modules and of all that these import, in the order of their names.

    Raises OSError for a file that cannot be read.
    """
    found: set[Path] = set()
    pending = list(modules)
    while pending:
        for path in _files(pending.pop()):
            if path not in found:
                found.add(path)
                pending += _imported(path)
    return sorted(found)


def _files(module: str) -> Iterator[Path]:
    """Yield the file of a module or a package of ours; none for a name inside a module."""
    if module.partition(".")[0] != NAME:
        return
    path = ROOT.joinpath(*module.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            yield file


def _imported(path: Path) -> Iterator[str]:
    """Yield the names of ours that a file imports, modules among them."""
    in_dialect = path.parent.is_relative_to(ROOT / "dialect")
    for module, listed, line, whole in IMPORT.findall(path.read_text(encoding="utf-8")):
        if in_dialect and module.startswith(PATTERNS):
            continue
        yield module or whole
        yield from (f"{module}.{name}" for name in re.findall(r"\w+", listed or line))


LEAST_SHARE = 3
"""Kernels that another process has to take so that starting it pays."""


@dataclass(frozen=True)
class Lowering:
    """The passes from kernels that are functions to the llvm level."""

    apply: Callable[[ModuleOp], None]
    """Lowers a module in place."""

    text: str
    """Which passes with which options, and for which instructions."""

    modules: tuple[str, ...]
    """Where the passes are defined."""

    def state(self, cache: CompileCache) -> str:
        """Return a hash of what the passes' files say, and those that follow them.

        The cache has it for files of these sizes and times.
        """
        key = key_of("sources", *self.modules)
        kept = cache.read(key)
        if kept is not None:
            return kept.decode()
        state = versions_of({*sources_behind(self.modules), *(ROOT / BACK_END).rglob("*.py")})
        cache.write(key, state.encode())
        return state


@dataclass(frozen=True)
class Kernel:
    """A kernel's function, in a module with all that it refers to."""

    name: str
    module: ModuleOp
    text: str
    """All that decides what is made of it."""


def separate_kernels(module: ModuleOp) -> Sequence[Kernel] | None:
    """Take the kernels out of a module, which declares them from then on.

    None, and nothing is changed, where they refer to each other or to something that is written to,
    or where only the uses of a buffer distinguish an input from what is updated.
    """
    if any(isinstance(op, FuncOp) and _has_unmarked_buffers(op) for op in module.ops):
        return None
    symbols = {
        op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp | memref.GlobalOp)
    }
    kernels = [op for op in symbols.values() if isinstance(op, FuncOp) and _is_kernel(op)]
    needed = {kernel: [symbols.get(name) for name in _references(kernel)] for kernel in kernels}
    if any(not _is_shared(op) for ops in needed.values() for op in ops):
        return None
    texts = Fingerprints()
    return [_separated(kernel, needed[kernel], texts) for kernel in kernels]


def _is_kernel(op: FuncOp) -> bool:
    return bool(op.body.blocks) and not is_public(op)


def _has_unmarked_buffers(op: FuncOp) -> bool:
    if _is_kernel(op) or not op.body.blocks:
        return False
    arguments = entry_arguments(op)
    return any(not each.is_marked and isinstance(each.type, MemRefType) for each in arguments)


def _is_shared(op: Operation | None) -> bool:
    """Whether several modules may have an op: a constant, or what is defined elsewhere."""
    if isinstance(op, memref.GlobalOp):
        return op.constant is not None and op.sym_visibility.data == "private"
    return isinstance(op, FuncOp) and not op.body.blocks


def _references(function: FuncOp) -> Iterator[str]:
    """Yield the names of what a function uses."""
    names = dict[str, None]()
    for op in function.walk():
        if isinstance(op, CallOp):
            names[op.callee.string_value()] = None
        elif isinstance(op, memref.GetGlobalOp):
            names[op.name_.string_value()] = None
    yield from names


def _separated(kernel: FuncOp, needed: Sequence[Operation | None], texts: Fingerprints) -> Kernel:
    inputs, outputs = kernel.function_type.inputs.data, kernel.function_type.outputs.data
    declared = FuncOp.external(kernel.sym_name.data, inputs, outputs)
    hand_on_location(kernel, declared)
    block = kernel.parent_block()
    assert block is not None
    block.insert_op_before(declared, kernel)
    kernel.detach()
    around = [op.clone() for op in needed if op is not None]
    lines = [*map(texts.of, around), texts.of(kernel, name="kernel")]
    return Kernel(kernel.sym_name.data, ModuleOp([*around, kernel]), "\n".join(lines))


def kernel_keys(
    kernels: Sequence[Kernel], lowering: Lowering, target: Target, cache: CompileCache | None
) -> Mapping[str, str]:
    """Return what each kernel is known by, by its name in the network."""
    parts = (lowering.text, *target_parts(target))
    state = "" if cache is None else lowering.state(cache)
    return {kernel.name: key_of("kernel", kernel.text, *parts, state=state) for kernel in kernels}


def compile_kernels(
    kernels: Sequence[Kernel], lowering: Lowering, target: Target, cache: CompileCache | None
) -> Mapping[str, ObjectCode]:
    """Return the code of each kernel by its name in the network; raises GaweeError.

    With a cache, what it has is used again, and what was compiled before this process began.
    """
    keys = kernel_keys(kernels, lowering, target, cache)
    found: dict[str, ObjectCode] = {}
    missing: dict[str, Kernel] = {}
    for kernel in kernels:
        key = keys[kernel.name]
        kept = None if cache is None or key in missing else cache.read(key) or read_prebuilt(key)
        if kept is None:
            missing.setdefault(key, kernel)
        else:
            found[key] = unpacked(kept)[0]

    def compile_kernel(kernel: Kernel) -> tuple[ObjectCode, Mapping[str, bytes]]:
        lowering.apply(kernel.module)
        units = kernel_units(kernel.module, kernel.name, target.function_attributes())
        codes, new = compile_units(units, target, cache)
        return linked(codes), new

    processes = min(cores(), len(missing) // LEAST_SHARE)
    # Copies of weights come first in a module, and take a tenth of the time of what reads them:
    # begun last, they leave no process waiting long for another.
    keys_to_make = tuple(reversed(missing))
    made = run_shared(compile_kernel, [missing[key] for key in keys_to_make], processes)
    new: dict[str, bytes] = {}
    for key, (code, pieces) in zip(keys_to_make, made, strict=True):
        found[key] = code
        new |= {**pieces, key: packed(code, {})}
    if cache is not None:
        cache.write_all(new)
    return {name: found[key] for name, key in keys.items()}
