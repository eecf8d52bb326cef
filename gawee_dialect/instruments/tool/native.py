"""Run what another tool left as machine code: it is lowered by that tool, and translated.

Arrays go in and come out by MLIR's calling convention: a memref is its two pointers, an offset,
sizes and strides. What the program prints is an output too.
"""

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import MemRefType, TensorType, UnrankedTensorType, VectorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.execute import CannotRun
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.check.native_run import GUARD, GuardedMemory, run_isolated
from gawee_dialect.instruments.tool.pipeline import run_many, run_program
from gawee_dialect.interpreter.arrays import Array, Unwritten, dtype_of

LOWERING = (
    "func.func(tosa-make-broadcastable,tosa-to-linalg-named,tosa-to-linalg)",
    "tosa-to-tensor,tosa-to-scf,tosa-to-arith,canonicalize",
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map}",
    "convert-linalg-to-loops,lower-affine,convert-vector-to-scf,lower-affine,convert-scf-to-cf",
    "expand-strided-metadata,lower-affine,convert-vector-to-llvm,convert-math-to-llvm",
    "convert-math-to-libm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-index-to-llvm",
    "convert-cf-to-llvm,convert-ub-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts",
)
"""What makes the llvm dialect of any level, by the tool itself."""

SLOT = 1 << 12
"""Bytes that an argument or a result takes between the caller and the code."""

MOST_SECONDS = 20
"""Of processors, for the runs on all data; most take no second."""

PRINTED = "printed"
"""The output that is what the program printed: its numbers, one after another."""


ONLY_WHERE_NEEDED = "func.func(lower-vector-multi-reduction)"
"""A pass that what can go without it goes without: it is wrong for some masks."""


@lru_cache(maxsize=256)
def llvm_of(tool: str, text: str) -> str:
    """Return LLVM IR of MLIR text of any level; raises CannotRun where its tool refuses it."""
    try:
        return _translated(tool, text, LOWERING)
    except GaweeError as first:
        try:
            return _translated(tool, text, (ONLY_WHERE_NEEDED, *LOWERING))
        except GaweeError:
            message = f"not lowered: {first.diagnostics[0].message}"
            raise CannotRun(Diagnostic(message)) from first


def _translated(tool: str, text: str, passes: Sequence[str]) -> str:
    lowered = run_program(tool, _lowering(passes), text)
    return run_program("mlir-translate", TRANSLATION, lowered)


def _lowering(passes: Sequence[str]) -> Sequence[str]:
    return [f"--pass-pipeline=builtin.module({','.join(passes)})"]


TRANSLATION = ("--mlir-to-llvmir",)


def lower_many(tool: str, texts: Sequence[str], *, reasons: bool = False) -> None:
    """Lower texts as parts of one file: `llvm_of` then knows what becomes of each.

    Where there have to be `reasons` why one is refused, it finds that out.
    """
    lowered = run_many(tool, _lowering(LOWERING), texts, reasons=reasons)
    others = [text for text, made in zip(texts, lowered, strict=True) if made is None]
    more = _lowering((ONLY_WHERE_NEEDED, *LOWERING))
    lowered = [*lowered, *run_many(tool, more, others, reasons=reasons)]
    found = [made for made in lowered if made is not None]
    run_many("mlir-translate", TRANSLATION, found, reasons=reasons)


# What a function takes and returns.

Shaped: TypeAlias = TensorType[Attribute] | MemRefType[Attribute]


@dataclass(frozen=True)
class Convention:
    """The types of a function, as MLIR has them, and what an open size is."""

    arguments: Sequence[Attribute]
    results: Sequence[Attribute]
    size: int

    def shape(self, type: Attribute) -> tuple[int, ...]:
        """Return the shape of the array of an argument."""
        given = type.get_shape() if isa(type, Shaped) else _lanes(type)
        return tuple(self.size if each < 0 else each for each in given)


def check_type(type: Attribute, what: str) -> None:
    """Raise CannotRun for a type that no array stands for."""
    try:
        if not isinstance(type, UnrankedTensorType):
            dtype_of(type)
            return
    except InterpretationError:
        pass
    raise CannotRun(Diagnostic(f"no data for {what} of type '{type}'"))


def _words(array: Array) -> list[int]:
    """Return the descriptor of an array as words."""
    pointer = array.ctypes.data
    strides = [each // array.dtype.itemsize for each in array.strides]
    return [pointer, pointer, 0, *array.shape, *strides]


def described(address: int, rank: int, dtype: np.dtype[np.generic]) -> Array:
    """Return a copy of the array that a descriptor at an address describes."""
    words = np.ctypeslib.as_array((ctypes.c_int64 * (3 + 2 * rank)).from_address(address))
    sizes, strides = [int(n) for n in words[3 : 3 + rank]], [int(n) for n in words[3 + rank :]]
    if 0 in sizes:
        return np.zeros(sizes, dtype)
    start = int(words[1]) + int(words[2]) * dtype.itemsize
    reach = 1 + sum((size - 1) * step for size, step in zip(sizes, strides, strict=True))
    if min(strides, default=0) < 0:
        raise GaweeError("a result has a negative stride")
    flat = np.frombuffer(ctypes.string_at(start, reach * dtype.itemsize), dtype)
    view = np.lib.stride_tricks.as_strided(flat, sizes, [n * dtype.itemsize for n in strides])
    return np.array(view)


# The functions that MLIR's runners have.

Printed: TypeAlias = list[float]


@dataclass
class Heap:
    """What a program allocates: all of one byte, as what lies around it, until it writes there."""

    fill: int = 0
    _all: list[Array] = field(default_factory=list[Array])

    def start(self, unwritten: Unwritten) -> None:
        """Forget what was allocated, and choose what memory holds that nothing was written to."""
        self.fill = 0x5A if unwritten is Unwritten.LARGEST else 0xA5
        self._all.clear()

    def allocate(self, size: int) -> int:
        """Return the address of new memory, aligned to 64 bytes."""
        memory = np.full(2 * GUARD + size, self.fill, np.uint8)
        self._all.append(memory)
        return int(memory.ctypes.data) + _room(memory)

    def aligned(self, alignment: int, size: int) -> int:
        """Return the address of new memory, aligned to as much as lowered code asks for."""
        return self.allocate(size)

    @property
    def is_intact(self) -> bool:
        """Whether nothing was written around what was allocated."""
        return all(
            (memory[: _room(memory)] == self.fill).all()
            and (memory[memory.size - 2 * GUARD + _room(memory) :] == self.fill).all()
            for memory in self._all
        )


def _room(memory: Array) -> int:
    """Return after how many bytes allocated memory begins."""
    return GUARD - int(memory.ctypes.data) % 64


ALLOCATING = ("malloc", "aligned_alloc", "free")
"""Functions of C that lowered code calls; it gets ours, by these names behind OURS."""

OURS = "gawee_"


class Callbacks:
    """Functions of Python that machine code calls by name, for as long as this object lives."""

    def __init__(self) -> None:
        self.addresses: dict[str, int] = {}
        self._kept: list[object] = []

    def add(
        self, name: str, function: Callable[..., object], *types: type, returns: type | None = None
    ) -> None:
        """Add a function that takes arguments of some types of C."""
        made = ctypes.CFUNCTYPE(returns, *types)(function)
        self._kept.append(made)
        self.addresses[name] = ctypes.cast(made, ctypes.c_void_p).value or 0


def runner_functions(printed: Printed, heap: Heap) -> Callbacks:
    """Return the functions of MLIR's runners; numbers that they print go to a list."""
    found = Callbacks()

    def number(value: float) -> None:
        printed.append(float(value))

    def nothing(*_: object) -> None:
        return None

    found.add("printI64", number, ctypes.c_int64)
    found.add("printU64", number, ctypes.c_uint64)
    found.add("printF32", number, ctypes.c_float)
    found.add("printF64", number, ctypes.c_double)
    found.add("printString", nothing, ctypes.c_void_p)
    for name in ("printOpen", "printClose", "printComma", "printNewline"):
        found.add(name, nothing)
    for name, kind in (("F32", "f4"), ("F64", "f8"), ("I32", "i4"), ("I64", "i8")):

        def memref(rank: int, address: int, kind: str = kind) -> None:
            try:
                array = described(address, rank, np.dtype(kind))
            except (GaweeError, MemoryError, SystemError, ValueError):
                printed.append(np.nan)  # it is no descriptor
            else:
                printed.extend(array.reshape(-1).astype(np.float64).tolist())

        found.add(f"printMemref{name}", memref, ctypes.c_int64, ctypes.c_void_p)
    size = ctypes.c_int64
    found.add(f"{OURS}malloc", heap.allocate, size, returns=ctypes.c_void_p)
    found.add(f"{OURS}aligned_alloc", heap.aligned, size, size, returns=ctypes.c_void_p)
    found.add(f"{OURS}free", nothing, ctypes.c_void_p)
    found.add("memrefCopy", _copy, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
    return found


def _copy(size: int, source: int, target: int) -> None:
    """What MLIR calls `memrefCopy`: copy between unranked memrefs of one shape."""
    ranks = [ctypes.c_int64.from_address(each).value for each in (source, target)]
    places = [ctypes.c_int64.from_address(each + 8).value for each in (source, target)]
    given = described(places[0], ranks[0], np.dtype(f"V{size}"))
    words = np.ctypeslib.as_array((ctypes.c_int64 * (3 + 2 * ranks[1])).from_address(places[1]))
    start = int(words[1]) + int(words[2]) * size
    for index in np.ndindex(*given.shape):
        steps = zip(index, words[3 + ranks[1] :], strict=True)
        offset = sum(each * int(step) for each, step in steps)
        ctypes.memmove(start + offset * size, given[index].tobytes(), size)


# A run.


@dataclass(frozen=True)
class Code:
    """LLVM IR, one function of it, and what that takes."""

    llvm: str = field(repr=False)
    function: str
    convention: Convention
    given: int
    """How many arguments the caller has data for; what the code wrote to the others is a result."""

    keeps: Sequence[int]
    """The arguments whose contents are results."""

    optimized: bool = False
    """Whether LLVM's passes run on it, which do with undefined behaviour what they like."""

    def run(self, data_sets: Sequence[DataSet]) -> Sequence[dict[str, Array]]:
        """Run on each data set; returns outputs by name, raises GaweeError and CannotRun."""
        (found,) = outputs_of([(self, data_sets)])
        return found


Outputs: TypeAlias = Sequence[dict[str, Array]]
"""By name, for each data set."""


def outputs_of(runs: Sequence[tuple[Code, Sequence[DataSet]]]) -> Sequence[Outputs]:
    """Run pieces of code in one process, as `Code.run` runs each; raises what that does."""
    for code, _ in runs:
        for type in code.convention.results:
            _check_result(type)
        for type in code.convention.arguments:
            _check_argument(type)
    texts = [_linkable(code) for code, _ in runs]

    def run() -> dict[str, Array]:
        found: dict[str, Array] = {}
        for place, ((code, data_sets), text) in enumerate(zip(runs, texts, strict=True)):
            loaded = _Loaded(code, text)
            for index, data in enumerate(data_sets):
                outputs = loaded.call(data)
                found |= {f"{place} {index} {name}": each for name, each in outputs.items()}
        return found

    load_compiler()
    made: list[list[dict[str, Array]]] = [[{} for _ in data_sets] for _, data_sets in runs]
    for key, output in run_isolated(run, MOST_SECONDS).items():
        place, index, name = key.split(" ", 2)
        made[int(place)][int(index)][name] = output
    return made


def _linkable(code: Code) -> str:
    text = f"{code.llvm}\n{_caller(code)}"
    for name in ALLOCATING:
        text = text.replace(f"@{name}(", f"@{OURS}{name}(")
    return text


@cache
def load_compiler() -> None:
    """Compile a function here, so that copies of this process find all of LLVM in memory."""
    from llvmlite import binding

    from gawee_dialect.backend.jit import Target, initialize, make_machine, parse_llvm

    initialize()
    module = parse_llvm("define void @gawee_nothing() {\nret void\n}")
    machine = make_machine(Target(opt_level=0), jit=True)
    binding.create_mcjit_compiler(module, machine).finalize_object()


class _Loaded:
    """Code in memory, called through a function that takes all from slots of memory."""

    def __init__(self, code: Code, text: str) -> None:
        from llvmlite import binding

        from gawee_dialect.backend.jit import Target, make_machine, parse_llvm

        self._code = code
        self._printed: Printed = []
        self._heap = Heap()
        self._functions = runner_functions(self._printed, self._heap)
        for name, address in self._functions.addresses.items():
            binding.add_symbol(name, address)
        machine = make_machine(Target(opt_level=2 if code.optimized else 0), jit=True)
        module = parse_llvm(text)
        if code.optimized:
            options = binding.create_pipeline_tuning_options(speed_level=2)
            options.loop_vectorization = options.slp_vectorization = False
            builder = binding.create_pass_builder(machine, options)
            builder.getModulePassManager().run(module, builder)
        self._engine = binding.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        self._call = kind(self._engine.get_function_address("gawee_call"))

    def call(self, data: DataSet) -> dict[str, Array]:
        code = self._code
        memory = [self._memory(each, type) for each, type in self._arguments(data.arrays)]
        words: list[bytes] = []
        for place, array in memory:
            if place is None:
                words.append(array.tobytes())
            else:
                words += [np.int64(word).tobytes() for word in _words(array)]
        slots = np.zeros(max(1, len(words)) * SLOT, np.uint8)
        for index, word in enumerate(words):
            slots[index * SLOT : index * SLOT + len(word)] = np.frombuffer(word, np.uint8)
        results = np.zeros(max(1, len(code.convention.results)) * SLOT, np.uint8)
        self._printed.clear()
        self._heap.start(data.unwritten)
        self._call(slots.ctypes.data, results.ctypes.data)
        if not self._heap.is_intact:
            raise GaweeError(f"'@{code.function}' writes outside of what it allocates")
        for index, (place, _) in enumerate(memory):
            if place is not None and not place.is_intact:
                raise GaweeError(f"'@{code.function}' writes outside of its argument {index}")
        written = [*code.keeps, *range(code.given, len(memory))]
        outputs = [np.array(memory[index][1]) for index in written if index < code.given]
        found = [
            _result(type, results.ctypes.data + index * SLOT)
            for index, type in enumerate(code.convention.results)
        ]
        found += [np.array(memory[index][1]) for index in written if index >= code.given]
        named = {f"result{index}": each for index, each in enumerate(found)}
        named |= {f"argument{n}": each for n, each in zip(code.keeps, outputs, strict=False)}
        return {**named, PRINTED: np.array(self._printed)} if self._printed else named

    def _arguments(self, arrays: Mapping[str, Array]) -> Iterator[tuple[Array, Attribute]]:
        given, convention = list(arrays.values()), self._code.convention
        for index, type in enumerate(convention.arguments):
            if index < self._code.given:
                yield given[index], type
            else:
                yield np.zeros(convention.shape(type), dtype_of(type)), type

    def _memory(self, array: Array, type: Attribute) -> tuple[GuardedMemory | None, Array]:
        if not isa(type, Shaped):
            return None, np.asarray(array)
        memory = GuardedMemory(array.nbytes, GUARD)
        view: Array = memory.bytes.view(array.dtype).reshape(array.shape)
        view[...] = array
        return memory, view


def _lanes(type: Attribute) -> tuple[int, ...]:
    return type.get_shape() if isa(type, VectorType[Attribute]) else ()


def _check_argument(type: Attribute) -> None:
    """Raise CannotRun for rows of vectors that lie in memory with room between them."""
    lanes = _lanes(type)
    size = lanes[-1] * dtype_of(type).itemsize if len(lanes) > 1 else 1
    if size & (size - 1):
        raise CannotRun(Diagnostic(f"no array for an argument of type '{type}'"))


def _check_result(type: Attribute) -> None:
    """Raise CannotRun for what lies in memory in another way than an array."""
    lanes, dtype = _lanes(type), dtype_of(type)
    if len(lanes) > 1 or (lanes and dtype.kind == "b") or sum(lanes) * dtype.itemsize > SLOT:
        raise CannotRun(Diagnostic(f"no array for a result of type '{type}'"))


def _result(type: Attribute, address: int) -> Array:
    dtype, lanes = dtype_of(type), _lanes(type)
    if isa(type, Shaped):
        return described(address, len(type.get_shape()), dtype)
    size = dtype.itemsize * (lanes[0] if lanes else 1)
    return np.array(np.frombuffer(ctypes.string_at(address, size), dtype)).reshape(lanes)


def _caller(code: Code) -> str:
    """Write a function that takes arguments from slots, and leaves results in slots."""
    function, results = code.function, len(code.convention.results)
    returned, arguments = _types_of(code.llvm, function)
    parts = _fields(returned) if results > 1 else [returned] * results
    if len(arguments) != sum(map(_words_of, code.convention.arguments)) or len(parts) != results:
        raise GaweeError(f"'@{function}' takes or returns something else than it did")
    lines = ["define void @gawee_call(ptr %a, ptr %r) {"]
    for index, type in enumerate(arguments):
        place = f"%p{index} = getelementptr i8, ptr %a, i64 {index * SLOT}"
        lines += [place, f"%v{index} = load {type}, ptr %p{index}, align 1"]
    given = ", ".join(f"{type} %v{index}" for index, type in enumerate(arguments))
    if returned == "void":
        lines.append(f"call void @{function}({given})")
    else:
        lines.append(f"%all = call {returned} @{function}({given})")
        for index, type in enumerate(parts):
            value = "%all" if len(parts) == 1 else f"%r{index}"
            if len(parts) > 1:
                lines.append(f"{value} = extractvalue {returned} %all, {index}")
            lines.append(f"%q{index} = getelementptr i8, ptr %r, i64 {index * SLOT}")
            lines.append(f"store {type} {value}, ptr %q{index}, align 1")
    return "\n".join((*lines, "ret void", "}"))


def _types_of(llvm: str, function: str) -> tuple[str, list[str]]:
    """Return what a function of LLVM IR returns, and takes."""
    end = f" @{function}("
    heads = (line for line in llvm.splitlines() if line.startswith("define") and end in line)
    head = next(heads, None)
    if head is None:
        raise GaweeError(f"the tool left no function '@{function}'")
    returned, _, rest = head.removeprefix("define ").partition(end)
    inside = rest[: rest.rindex(")")]
    types = [_without_name(each) for each in _at_commas(inside) if each.strip()]
    return _without_linkage(returned), types


def _without_linkage(type: str) -> str:
    words = ("internal ", "private ", "dso_local ", "noundef ", "linkonce_odr ", "weak ")
    while any(type.startswith(each) for each in words):
        type = type.partition(" ")[2]
    return type.strip()


def _without_name(argument: str) -> str:
    type = argument.strip().rpartition(" ")[0]
    for attribute in (" noalias", " noundef", " nonnull", " readonly"):
        type = type.replace(attribute, "")
    return type.strip()


def _at_commas(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += (character in "{[<(") - (character in "}]>)")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _words_of(type: Attribute) -> int:
    """Return how many arguments of machine code an argument is."""
    return 3 + 2 * len(type.get_shape()) if isa(type, Shaped) else 1


def _fields(type: str) -> Sequence[str]:
    """Return the types of the fields of a struct."""
    return [each.strip() for each in _at_commas(type.strip()[1:-1])]
