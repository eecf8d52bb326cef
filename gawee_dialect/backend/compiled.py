"""A network as machine code in this process, called with NumPy arrays."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from pickle import PicklingError
from typing import Self

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.frame import RESULTS, Binding, Frame
from gawee_dialect.backend.jit import Target
from gawee_dialect.backend.memory import (
    LLVM,
    MemoryUse,
    aligned_bytes,
    arena,
    forget_code_of,
    give_back,
)
from gawee_dialect.backend.native_call import FINE, OUT_OF_RANGE, builtin_call
from gawee_dialect.backend.openmp import call_in_team, check_threads, cores
from gawee_dialect.backend.prepared_family import PreparedFamily
from gawee_dialect.backend.program import Program, compile_program
from gawee_dialect.backend.signature import Buffer, Signature, signature_of
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import MAIN, PREPARE, WEIGHTS, name_of_part
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.parameters.data_files import forget_pages
from gawee_dialect.parameters.given_inputs import (
    Inputs,
    given_arrays,
    inputs_by_name,
    is_mapping,
    is_sequence,
    number_as_array,
)
from gawee_dialect.parameters.store import ParameterStore, described_arrays
from gawee_dialect.python_numbers import is_array

Array = NDArray[np.generic]
Buffers = tuple[Buffer, ...]
BOUND_ROLES = tuple(kind.value for kind in WEIGHTS)
"""The arguments that a user binds once, before calls."""


def check_arrays(
    what: str, expected: tuple[Buffer, ...], given: Mapping[str, object]
) -> dict[str, Array]:
    """Return plain arrays in C order, copied only where they are not.

    Raises GaweeError that lists every name, shape and element type that is wrong.
    """
    arrays = {each.name: number_as_array(each, given.get(each.name)) for each in expected}
    _check(what, expected, {**given, **arrays})
    result: dict[str, Array] = {}
    for buffer in expected:
        array = arrays[buffer.name]
        if is_array(array):
            plain = np.require(array, requirements=["C", "A", "E"])
            # Equal types may be several objects: calls find them by their address.
            result[buffer.name] = plain.view(buffer.dtype)
    return result


def _check(what: str, expected: tuple[Buffer, ...], given: Mapping[str, object]) -> None:
    """Raise GaweeError that lists every name, shape and element type that is wrong."""
    names = {buffer.name for buffer in expected}
    problems = [
        Diagnostic(f"unknown {what} '{name}'; expected: {', '.join(sorted(names)) or 'none'}")
        for name in given
        if name not in names
    ]
    for buffer in expected:
        array = given.get(buffer.name)
        problem = _problem(buffer, array)
        if problem is not None:
            message = f"{what} '{buffer.name}': {problem}"
            problems.append(Diagnostic(message, hint=_hint(buffer, array)))
    if problems:
        raise GaweeError(problems)


def _hint(buffer: Buffer, array: object) -> str | None:
    """Return what to write where an array is of another batch, or of another kind of numbers."""
    if not is_array(array):
        return None
    if array.shape == buffer.shape:
        return f"array.astype('{buffer.dtype}') makes it one"
    if array.ndim == len(buffer.shape) > 1 and array.shape[1:] == buffer.shape[1:]:
        return (
            f"the code is for a batch of {buffer.shape[0]}; "
            "model.compile(dynamic_batch=True) makes code for any number of images"
        )
    return None


def _problem(buffer: Buffer, array: object) -> str | None:
    array_of = f"an array of {shape_text(buffer.shape)} {buffer.dtype}"
    wanted = array_of if buffer.shape else f"a scalar of {buffer.dtype}"
    if array is None:
        return f"expected {wanted}, got none"
    if not is_array(array):
        return f"expected {wanted}, got {type(array).__name__}"
    if array.shape != buffer.shape:
        return f"expected shape {shape_text(buffer.shape)}, got {shape_text(array.shape)}"
    if array.dtype != buffer.dtype:
        return f"expected element type {buffer.dtype}, got {array.dtype}"
    return None


def _described(buffer: Buffer) -> str:
    return f"{buffer.name}: {shape_text(buffer.shape)} {buffer.dtype}"


@dataclass(frozen=True)
class Recipe:
    """What a model was compiled from: a graph, printed at its first use, and options."""

    text: Callable[[], str]
    options: CodeOptions
    compile: Callable[..., object]
    """Makes the model from that text, the options and its parameters."""


def _not_yet(arrays: Iterable[object]) -> Array | None:
    return None


class _OfAThread(threading.local):
    """What each thread that calls a model has for itself."""

    frame: Frame | None = None
    one_output: Callable[[Iterable[object]], Array | None] = staticmethod(_not_yet)
    """Computes the one output, where there is memory for it."""


class CompiledModel:
    """A callable on NumPy arrays; any number of threads may call it at once.

    `model(x, y)` and `model(x=x, y=y)` return the one output as an array, several as a tuple;
    `model.run({"x": x, "y": y})` returns all of them by name. Each thread has its own workspace.
    """

    def __init__(
        self,
        module: ModuleOp | Program,
        parameters: Mapping[str, Array] | None = None,
        *,
        function: str = MAIN,
        target: Target | None = None,
        num_threads: int | None = None,
        family: PreparedFamily | None = None,
    ):
        """Compile a module at the llvm level, or load a program, and bind parameters by name.

        Parallel loops run on `num_threads`, by default one a core. Where the module has parameters
        and none are given, `rebind` must come before the first call. What is prepared is shared
        with the others of a `family`: programs for other shapes. Raises GaweeError.
        """
        if isinstance(module, Program):
            program = module
        else:
            program = compile_program(module, function, target)
        self._program = program
        self.recipe: Recipe | None = None
        """What it was compiled from, where that was a graph; it pickles by that."""
        self.num_threads = num_threads
        self.signature = program.signatures[function]
        self._native = program.load()
        self._runtime = self._native.runtime
        self._inputs = self.signature.of_role("input")
        self._updated = self.signature.of_role("updated")
        self._outputs = self.signature.of_role(*RESULTS)
        self._names = [buffer.name for buffer in self._inputs]
        self._output_names = [buffer.name for buffer in self._outputs]
        self._prepare = program.signatures.get(PREPARE)
        self._family = family
        self._threads = _OfAThread()
        self._binding: Binding | None = None
        if parameters is not None or not self.parameters:
            self.rebind(parameters or {})

    @property
    def summary(self) -> str:
        """What goes in and out, and what it runs on, in one line."""
        inputs, outputs = (", ".join(map(_described, each)) for each in (self.inputs, self.outputs))
        threads = f"{self.num_threads} thread" + ("s" if self.num_threads > 1 else "")
        return f"{inputs or '()'} -> {outputs or '()'}; {threads} of {self._program.target.cpu}"

    def __repr__(self) -> str:
        return f"<CompiledModel: {self.summary}>"

    def _repr_html_(self) -> str:
        from gawee_dialect.inspection.notebook import html_page

        tables = {
            name: [(each.name, shape_text(each.shape), str(each.dtype)) for each in buffers]
            for name, buffers in (
                ("inputs", self.inputs),
                ("outputs", self.outputs),
                ("parameters", self.parameters),
            )
        }
        return html_page(f"CompiledModel for {self._program.target.cpu}", tables)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        if self.recipe is None:
            raise PicklingError(
                "cannot pickle a CompiledModel that was made of code alone; pickle one that "
                "Model.compile made"
            )
        return self.recipe.compile, (self.recipe.text(), self.recipe.options, self._copied())

    def _copied(self) -> dict[str, Array]:
        # A mapped file is not there where this is read again.
        return {name: np.array(array) for name, array in self._bound().parameters.items()}

    @property
    def num_threads(self) -> int:
        """How many threads a call uses; may be set between calls.

        None is one a core; calls that run at the same time then share the cores.
        """
        return self._num_threads or cores()

    @num_threads.setter
    def num_threads(self, threads: int | None) -> None:
        check_threads(threads)
        self._num_threads = threads

    @property
    def inputs(self) -> tuple[Buffer, ...]:
        """What a call takes, in order."""
        return self._inputs

    @property
    def outputs(self) -> tuple[Buffer, ...]:
        """What a call returns, in order."""
        return self._outputs

    @property
    def parameters(self) -> tuple[Buffer, ...]:
        """What `rebind` takes: the arguments of `@main` and `@prepare` bound by name."""
        found = {buffer.name: buffer for buffer in self.signature.of_role(*BOUND_ROLES)}
        if self._prepare is not None:
            found |= {buffer.name: buffer for buffer in self._prepare.of_role(*BOUND_ROLES)}
        return tuple(found.values())

    @property
    def packed(self) -> frozenset[str]:
        """The parameters of which calls read what was made ahead, and not the arrays themselves."""
        made_of = () if self._prepare is None else self._prepare.of_role(*BOUND_ROLES)
        return frozenset(buffer.name for buffer in made_of)

    @property
    def memory(self) -> MemoryUse:
        """The bytes that a run needs beside code, inputs and outputs."""

        def bytes_of(*roles: str) -> int:
            return sum(buffer.size for buffer in self.signature.of_role(*roles))

        return MemoryUse(
            self.signature.workspace_size, bytes_of("prepared"), bytes_of(*BOUND_ROLES)
        )

    def rebind(self, parameters: Mapping[str, Array]) -> None:
        """Bind other parameter values, and prepare from them; nothing is compiled again.

        Calls that run meanwhile finish with the old values. Raises GaweeError that lists every
        parameter that is missing, unknown, or of another shape or element type.
        """
        # What was prepared is not read again: a store keeps it for writing.
        in_store = isinstance(parameters, ParameterStore)
        if in_store:
            builtin_call()  # the last that LLVM does before the first call
            forget_code_of(LLVM)
            give_back()
        read = self._reader(parameters)
        bound = read(self.signature.of_role(*BOUND_ROLES))
        prepared = self._run_prepare(read, bound)
        arrays = {
            buffer.index: bound[buffer.name] for buffer in self.signature.of_role(*BOUND_ROLES)
        }
        for buffer in self.signature.of_role("prepared"):
            if buffer.name not in prepared:
                raise GaweeError(
                    f"expected '@{PREPARE}' to make prepared value '{buffer.name}', got "
                    + (", ".join(prepared) or "none")
                )
            arrays[buffer.index] = prepared[buffer.name]
        whole = parameters if in_store else read(self.parameters)
        self._binding = Binding(arrays, whole)
        self._threads = _OfAThread()  # after it: a reader that sees these sees the binding too
        if in_store:
            give_back()

    def _reader(self, parameters: Mapping[str, Array]) -> Callable[[Buffers], dict[str, Array]]:
        """Return what gives the arrays of some parameters, all of which are checked now.

        Those of a store are read when they are asked for. Raises GaweeError as `rebind` does.
        """
        if isinstance(parameters, ParameterStore):
            store = parameters
            _check("parameter", self.parameters, described_arrays(store))
            return lambda some: check_arrays(
                "parameter", some, {each.name: store[each.name] for each in some}
            )
        bound = check_arrays("parameter", self.parameters, parameters)
        return lambda some: {each.name: bound[each.name] for each in some}

    def with_parameters(self, parameters: Mapping[str, Array]) -> Self:
        """Return the same code with parameter values of its own; raises GaweeError as `rebind`."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.rebind(parameters)
        return made

    def prepared_values(self) -> dict[str, Array]:
        """Return what `@prepare` made of the bound parameters, by name; raises GaweeError."""
        binding = self._bound()
        return {
            buffer.name: binding.arrays[buffer.index]
            for buffer in self.signature.of_role("prepared")
        }

    def save(
        self, directory: str | Path, kinds: Collection[str] = ("shared",), name: str = "model"
    ) -> list[Path]:
        """Write code for C with the bound parameters; returns the paths, see `export`.

        Raises GaweeError for an unknown kind, and where no C compiler links a shared library.
        """
        return export(
            self._program.module,
            name,
            Path(directory),
            kinds,
            parameters=self._bound().parameters,
            function=self.signature.function,
            target=self._program.target,
        )

    def _run_prepare(
        self, read: Callable[[Buffers], dict[str, Array]], bound: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Return what `@prepare` makes of parameters, part by part: read before one, and dropped
        after it but for those that are `bound`."""
        if self._prepare is None:
            return {}
        # One piece: huge pages serve small weights too, and @main expects whole cache lines.
        outputs = self._prepare.of_role("output")
        results = arena(outputs)
        workspace = aligned_bytes(self._prepare.workspace_size)
        for part in self._parts_of_prepare():
            own = tuple(each for each in part.of_role(*BOUND_ROLES) if each.name not in bound)
            self._run_part(part, {**bound, **read(own)}, results, workspace)
        return dict(results if self._family is None else self._family.shared(outputs, results))

    def _run_part(
        self,
        part: Signature,
        given: Mapping[str, Array],
        results: Mapping[str, Array],
        workspace: NDArray[np.uint8],
    ) -> None:
        """Run a part of `@prepare`, and forget what it alone reads of mapped files."""
        roles = {**dict.fromkeys(BOUND_ROLES, given), "output": results}
        arrays = {
            buffer.index: roles[buffer.role][buffer.name]
            for buffer in part.buffers
            if buffer.role in roles
        }
        self._start(Frame(part, Binding(arrays, {}), self._native, workspace=workspace), ())
        main = {buffer.name for buffer in self.signature.of_role(*BOUND_ROLES)}
        for buffer in part.of_role(*BOUND_ROLES):
            if buffer.name not in main:
                forget_pages(given[buffer.name])

    def _parts_of_prepare(self) -> Sequence[Signature]:
        assert self._prepare is not None
        signatures = self._program.signatures
        names = takewhile(signatures.__contains__, map(name_of_part, count()))
        return [signatures[name] for name in names] or [self._prepare]

    def _start(self, frame: Frame, arrays: Sequence[object]) -> int:
        if self._runtime is None:
            return frame.call(*arrays)
        return call_in_team(frame.run, arrays, self._num_threads, self._runtime)

    def _bound(self) -> Binding:
        if self._binding is None:
            raise GaweeError(
                Diagnostic(
                    f"expected {len(self.parameters)} parameters to be bound, got none",
                    hint="give parameters when compiling, or call rebind(parameters)",
                )
            )
        return self._binding

    def _frame(self, binding: Binding | None = None) -> Frame:
        """Return this thread's memory for calls with a binding, by default the last one."""
        threads = self._threads
        bound = self._bound()
        frame = threads.frame
        if frame is None or frame.binding is not (binding or bound):
            arrays = (*self._inputs, *self._outputs)
            frame = threads.frame = Frame(self.signature, binding or bound, self._native, arrays)
            if frame.binding is bound:
                threads.one_output = frame.one_output(self._caller(frame))
        return frame

    def _caller(self, frame: Frame) -> Callable[..., int]:
        """Return what runs the code on arrays in as many threads as a call uses."""
        runtime = self._runtime
        if runtime is None:
            return frame.call
        return lambda *arrays: call_in_team(frame.run, arrays, self._num_threads, runtime)

    def _results(self, arrays: Sequence[object]) -> Sequence[Array] | None:
        """Compute the outputs, in order; None where the inputs have to be looked at closer."""
        if self._updated:
            return None
        frame = self._frame()
        results = frame.outputs()
        status = self._start(frame, (*arrays, *results))
        if status == OUT_OF_RANGE:
            raise frame.index_problem()
        return results if status == FINE else None

    def _checked_results(self, inputs: Mapping[str, object]) -> Sequence[Array]:
        """Compute the outputs, in order, from arrays of any layout; raises GaweeError."""
        arrays = self._checked(inputs)
        frame = self._frame()
        results = frame.new_outputs(arrays)
        given = [arrays[name] for name in self._names]
        if self._start(frame, (*given, *results)) == OUT_OF_RANGE:
            raise frame.index_problem()
        return results

    def run(self, inputs: Inputs) -> dict[str, Array]:
        """Compute the outputs, by name, from inputs: one array or tensor, several in a list or by
        name.

        A float or an integer of another width becomes one of the width that the code has. A buffer
        that is updated starts as a copy of what is given for it, or as zeros. Raises GaweeError
        that lists every input that is missing, unknown, or of another shape or kind of numbers, and
        for an index that is out of range.
        """
        results, names = None, self._names
        if is_mapping(inputs) and len(inputs) == len(names):
            result = self._threads.one_output(map(inputs.get, names))
            if result is not None:
                return {self._output_names[0]: result}
            results = self._results([*map(inputs.get, names)])
        if results is None:
            results = self._checked_results(self._given(inputs))
        if len(results) == 1:
            return {self._output_names[0]: results[0]}
        return dict(zip(self._output_names, results, strict=True))

    def checked_inputs(self, inputs: Inputs) -> dict[str, Array]:
        """Return what `run` would compute with, by name: arrays that fit; raises GaweeError."""
        return self._checked(self._given(inputs))

    def _checked(self, inputs: Mapping[str, object]) -> dict[str, Array]:
        starts = tuple(buffer for buffer in self._updated if buffer.name in inputs)
        return check_arrays("input", (*self._inputs, *starts), inputs)

    def _given(self, inputs: Inputs) -> Mapping[str, object]:
        return given_arrays((*self._inputs, *self._updated), inputs)

    def __call__(self, *args: object, **kwargs: object) -> Array | tuple[Array, ...]:
        """Compute the outputs from inputs by position or by name: one array, or a tuple.

        A list or a mapping alone is what `run` takes. Raises GaweeError as `run` does.
        """
        results = None
        if not kwargs:
            result = self._threads.one_output(args)
            if result is not None:
                return result
            results = self._results(args)
        if results is None:
            results = self._checked_results(self._given(self._by_name(args, kwargs)))
        return results[0] if len(results) == 1 else tuple(results)

    def _by_name(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Inputs:
        if not kwargs:
            alone = len(args) == 1 and (is_mapping(args[0]) or is_sequence(args[0]))
            return args[0] if alone else args
        names = self._names
        twice = [name for name in names[: len(args)] if name in kwargs]
        if twice:
            raise GaweeError(f"expected input '{twice[0]}' once, got it by position and by name")
        return {**inputs_by_name(names, args), **kwargs}


def export(
    module: ModuleOp,
    name: str,
    directory: Path,
    kinds: Collection[str],
    *,
    parameters: Mapping[str, Array] | None = None,
    function: str = MAIN,
    target: Target | None = None,
) -> list[Path]:
    """Write the files of some kinds for a module at the llvm level, as `write_code` does.

    What `@prepare` makes of the parameters is computed here, on this machine. Raises GaweeError for
    parameters that do not fit too.
    """
    from gawee_dialect.backend.export import key_of_weight, write_code

    def weights() -> Mapping[str, Array]:
        given, signature = parameters or {}, signature_of(module, function)
        if not signature.of_role("prepared"):
            return check_arrays("parameter", signature.of_role("parameter", "constant"), given)
        made = CompiledModel(module, given, function=function).prepared_values()
        return {**given, **{key_of_weight("prepared", key): made[key] for key in made}}

    known = None if parameters is None else weights
    return write_code(module, name, directory, kinds, known, function, target)
