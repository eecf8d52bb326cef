"""A PyTorch model compiled by one call, which takes and returns tensors without copying them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from sys import modules
from typing import TYPE_CHECKING, Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.cache import CompileCache, key_of
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.npu_ir.extract import graph_of
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, ConversionError
from gawee_dialect.frontends.npu_ir.pytorch import (
    Exported,
    Module,
    Program,
    Tensor,
    is_module,
    is_program,
    is_tensor,
    kind_of,
    torch,
)
from gawee_dialect.frontends.npu_ir.symbols import Names, names_of_data, names_of_symbols
from gawee_dialect.frontends.npu_ir.trace import (
    StateChange,
    check_mutations,
    decomposed,
    export,
    one_trace,
)
from gawee_dialect.garbage_collection import no_garbage_collection
from gawee_dialect.model import Model
from gawee_dialect.pytorch.call_record import described, record_of_call
from gawee_dialect.pytorch.compiled_parts import CompiledParts, CutProgram, SizesOfData, checks_size
from gawee_dialect.pytorch.compiled_torch import CompiledTorch
from gawee_dialect.pytorch.image_places import ImagePlaces
from gawee_dialect.pytorch.open_graph import copied
from gawee_dialect.pytorch.tensors import leaves

if TYPE_CHECKING:
    from gawee_dialect.passes.insertion import Insertion


# Models that keep state: tensors that a call reads and changes become inputs and outputs.


def extract_with_state(
    model: Module,
    example_inputs: Sequence[object],
    *,
    decompose: bool = True,
    dynamic_shapes: object = None,
) -> tuple[NPU_IR, Sequence[str]]:
    """Trace a model; return its graph, and the names of the tensors that calls change.

    Those are the last inputs of the graph; its first outputs are, in the same order, what they are
    changed to. Raises as `extract_ir` does; a graph that is not decomposed changes nothing.
    """
    plain: list[str] = []
    while True:
        try:
            with _as_buffers(model, plain):
                return _extract(model, example_inputs, decompose, dynamic_shapes)
        except StateChange as change:
            found = [name for name in change.names if name not in plain and _has(model, name)]
            if not found or not decompose:
                raise
            plain += found


def _extract(
    model: Module, example_inputs: Sequence[object], decompose: bool, dims: object
) -> tuple[NPU_IR, Sequence[str]]:
    traced = export(model, example_inputs, {}, dims)
    return _graph_with_state(traced, model, decompose, (example_inputs, {}), dims)


def _graph_with_state(
    traced: Program,
    model: Module,
    decompose: bool,
    call: tuple[Sequence[object], Mapping[str, object]],
    dims: object,
) -> tuple[NPU_IR, Sequence[str]]:
    """Return what `extract_with_state` does, of the program that a call was traced to.

    Raises SizesOfData for one to be compiled in parts.
    """
    # What a graph changes in place is known when it is functional.
    functional = decomposed(traced, ())
    check_mutations(functional, of_buffers=decompose)
    program = functional if decompose else traced
    outputs = program.graph_signature.output_specs
    changed = [str(spec.target) for spec in outputs if kind_of(spec) == "BUFFER_MUTATION"]
    names = names_of_symbols(program, model, *call, dims)
    of_data: Names = names_of_data(program, names) if decompose else {}
    names = {**names, **of_data}
    graph = copied(program.graph_module, checks_size) if of_data else None
    ir = graph_of(program, model, type(model).__name__, changed, names, graph)
    # Inputs are in the order of the model's buffers, outputs in that of the changes.
    targets = {spec.arg.name: spec.target for spec in program.graph_signature.input_specs}
    state = ir.graph_inputs[len(ir.graph_inputs) - len(changed) :]
    held = [str(targets[each.name]) for each in state]
    ir.graph_outputs[: len(changed)] = [ir.graph_outputs[changed.index(name)] for name in held]
    if of_data:
        raise SizesOfData(CutProgram(program, model, ir, names, changed, held))
    return ir, held


def _owner(model: Module, name: str) -> tuple[Module | None, str]:
    path, _, attribute = name.rpartition(".")
    named = dict(model.named_modules())
    return named.get(path), attribute


def _has(model: Module, name: str) -> bool:
    """Whether a name is that of a tensor which a module holds as an attribute."""
    owner, attribute = _owner(model, name)
    return owner is not None and is_tensor(vars(owner).get(attribute))


@contextmanager
def _as_buffers(model: Module, names: Collection[str]) -> Generator[None]:
    """Make attributes buffers that no state_dict has: torch.export takes changes of buffers."""
    made: list[tuple[Module, str, object]] = []
    try:
        for name in names:
            owner, attribute = _owner(model, name)
            assert owner is not None
            tensor = vars(owner).pop(attribute)
            made.append((owner, attribute, tensor))
            owner.register_buffer(attribute, None, persistent=False)
            setattr(owner, attribute, tensor)
        yield
    finally:
        for owner, attribute, tensor in made:
            delattr(owner, attribute)
            setattr(owner, attribute, tensor)


# Models traced for any number of images: twice, so that what depends on the number is seen.


Axes: TypeAlias = Literal[True] | Mapping[str, int]
"""The axis along which each input has images, by its name; axis 0 of all but scalars."""

Traced: TypeAlias = tuple[NPU_IR, Sequence[str]]
"""A graph, and the names of tensors of the model that calls change: its last inputs."""

Trace: TypeAlias = Callable[[Sequence[object]], Traced]
"""Makes the graph for example inputs."""


def traced_for_images(
    trace: Trace, inputs: Sequence[object], axes: Axes
) -> tuple[Traced, Mapping[str, int]]:
    """Return a graph for several images, and along which axis each of its inputs has them.

    Raises GaweeError with all ops that mix images, or that depend on how many there are.
    """
    traced, trace_more = _first_trace(trace, inputs, axes)
    ir, changed = traced
    count = len(ir.graph_inputs) - len(changed)
    named = (
        {each.name: 0 for each in ir.graph_inputs[:count] if each.shape} if axes is True else axes
    )

    def other() -> ModuleOp:
        assert trace_more is not None  # otherwise the first graph is refused
        different, _ = trace_more()
        _check_constants(ir, different)
        return import_ir(different)

    Model(import_ir(ir)).for_one_image(named, other)
    return traced, named


def _first_trace(
    trace: Trace, inputs: Sequence[object], axes: Axes
) -> tuple[Traced, Callable[[], Traced] | None]:
    """Trace for at least two images, since of one several axes may be theirs.

    Returns what traces for one more, or nothing where the inputs do not have images as they should,
    which is reported elsewhere.
    """
    tree = import_module("torch.utils._pytree")
    flat: list[object]
    flat, spec = tree.tree_flatten(tuple(inputs))
    tensors = {index: leaf for index, leaf in enumerate(flat) if is_tensor(leaf)}
    traced: Traced | None = None
    if axes is True:
        places = ImagePlaces({index: 0 for index, each in tensors.items() if len(each.shape)})
    else:
        traced = trace(inputs)
        names = dict(zip((each.name for each in traced[0].graph_inputs), tensors, strict=False))
        places = ImagePlaces({names[name]: axis for name, axis in axes.items() if name in names})
    images = places.images(flat)
    if (
        not isinstance(images, int)
        or images < 1
        or (axes is not True and len(places.axes) < len(axes))
    ):
        return traced or trace(inputs), None

    def traced_for(images: int) -> Traced:
        return trace(tree.tree_unflatten(places.resized(flat, images), spec))

    several = max(images, 2)
    if traced is None or images != several:
        traced = traced_for(several)
    return traced, lambda: traced_for(several + 1)


def _check_constants(ir: NPU_IR, other: NPU_IR) -> None:
    """Raise GaweeError for data that `forward` makes of the number of images."""
    names = sorted({*ir.constants, *other.constants})
    found = [name for name in names if ir.constants.get(name) != other.constants.get(name)]
    if found:
        raise GaweeError(
            Diagnostic(
                "expected constants that are the same for every number of images, got a different "
                f"'{found[0]}'",
                hint="compile it for one batch size, without a dynamic batch",
            )
        )


# Graphs of models that are kept between processes: tracing a model takes longer than its code.
#
# A graph is found by what a call of the model does (`call_record.py`). That is asked for only where
# a graph of such a model is kept, and after it was traced: a model that keeps what it computed for
# the first call is then seen to do so, and has no record.


def kept_graph(model: Module, inputs: Sequence[object], options: str, trace: Trace) -> Traced:
    """Return the graph of a model; it is traced only where none is kept.

    `options` tell how it is traced. Raises as `trace` does.
    """
    cache = CompileCache()
    known = key_of("torch model", _without_call(model, inputs), options)
    if cache.read(known) is not None:
        key = _key(model, inputs, known)
        kept = None if key is None else cache.read(key)
        if kept is not None:
            found: Traced = pickle.loads(
                kept
            )  # the folder is the user's own, and seals what is in it
            return found
    traced = trace(inputs)
    key = _key(model, inputs, known)
    if key is not None:
        cache.write_all({key: pickle.dumps(traced), known: b"traced"})
    return traced


def _key(model: Module, inputs: Sequence[object], known: str) -> str | None:
    """Return the key of a model's graph; None for a model that has no record."""
    try:
        return key_of("torch call", known, record_of_call(model, inputs))
    except Exception:  # whatever the model raises: it is traced, and that tells
        return None


def _without_call(model: Module, inputs: Sequence[object]) -> str:
    """Return what tells a model from most others, without a call of it."""
    kinds = {type(module): None for module in model.modules()}
    tensors = [*model.named_parameters(), *model.named_buffers()]
    return "\n".join(
        (
            str(torch().__version__),
            f"{type(model).__module__}.{type(model).__qualname__}",
            *sorted({*map(_state_of_file, kinds)}),
            *(f"{name} {described(tensor)}" for name, tensor in tensors),
            *(described(each) if is_tensor(each) else repr(each) for each in leaves(tuple(inputs))),
        )
    )


def _state_of_file(kind: type) -> str:
    """Return which file a class is from, and when that was changed; its lines are in the graph.

    The module alone where there is no such file: code of a notebook, a shell, `python -c`.
    """
    path = getattr(modules.get(kind.__module__), "__file__", None)
    if path is None:
        return kind.__module__
    try:
        status = Path(path).stat()
    except OSError:  # a script on standard input is from '<stdin>', a package may be in an archive
        return kind.__module__
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def compile_torch(
    model: Module | Exported,
    example_inputs: Sequence[object] = (),
    options: CodeOptions | None = None,
    *,
    passes: Sequence[Insertion] = (),
    cache: bool = True,
    decompose: bool = True,
    dynamic_batch: bool | Mapping[str, int] = False,
    dynamic_shapes: object = None,
) -> CompiledTorch:
    """Extract a model, import it and compile it with its own weights, for this processor.

    model: a torch.nn.Module in `eval()` mode, with its weights, or a program that torch.export made
        of one, whose arguments are then given by position. Tensors that it keeps and `forward`
        changes are changed by every call.
    example_inputs: the positional arguments of `forward`; their shapes are those of every call,
        and so is what is no tensor, such as a number. A program has its own.
    options, passes, cache, dynamic_batch: as for `Model.compile`. For any number of images the
        model is traced with two of them, and what depends on the number is refused.
    dynamic_shapes: the sizes of inputs that are open, as torch.export takes them:
        `{"x": {0: Dim("batch", max=32)}}`. One code is made for all of them.

    Raises ExportError and ConversionError for a model that cannot be extracted or imported.
    """
    # With PyTorch loaded, one look for garbage takes as long as reading a kept network.
    with _hint_of_torch_compile(), no_garbage_collection():
        if is_program(model):
            has_inputs = is_tensor(example_inputs) or len(example_inputs) > 0
            if has_inputs or dynamic_batch is not False or dynamic_shapes is not None:
                raise GaweeError(_OWN_INPUTS)
            return _compiled_program(model, options, passes, cache, decompose)
        if not is_module(model):
            got = type(model).__name__
            raise GaweeError(f"expected a module or a program of torch.export, got {got}")
        module = model

        def extract(inputs: Sequence[object]) -> Traced:
            dims = dynamic_shapes
            return extract_with_state(module, inputs, decompose=decompose, dynamic_shapes=dims)

        def trace(inputs: Sequence[object]) -> Traced:
            if not cache or dynamic_shapes is not None:
                return extract(inputs)
            return kept_graph(module, inputs, f"decompose={decompose}", extract)

        return _compiled(module, example_inputs, options, trace, passes, cache, dynamic_batch)


_OWN_INPUTS = Diagnostic(
    "expected a program of torch.export without example inputs, dynamic_batch or dynamic_shapes",
    hint="its inputs, and which of their sizes are open, are those of the export",
)


def _compiled_program(
    program: Program,
    options: CodeOptions | None,
    passes: Sequence[Insertion],
    cache: bool,
    decompose: bool,
) -> CompiledTorch:
    """Compile a program that torch.export made; its own tensors are the weights and the state."""
    model, (args, kwargs) = program.module(), program.example_inputs or ((), {})
    no_names: Mapping[str, object] = {}
    dims = no_names if program.range_constraints else None

    def trace(_: Sequence[object]) -> Traced:
        return _graph_with_state(program, model, decompose, (args, kwargs), dims)

    return _compiled(model, (*args, *kwargs.values()), options, trace, passes, cache, False)


@contextmanager
def _hint_of_torch_compile() -> Generator[None]:
    """Say of ops that are not supported what runs them."""
    try:
        yield
    except ConversionError as error:
        *others, last = error.diagnostics
        hint = f"{last.hint}; or " if last.hint else ""
        hint += "torch.compile(model, backend='gawee') leaves to PyTorch what is not supported"
        raise ConversionError([*others, replace(last, hint=hint)]) from error


def _compiled(
    model: Module,
    example_inputs: Sequence[object],
    options: CodeOptions | None,
    trace: Trace,
    passes: Sequence[Insertion],
    cache: bool,
    dynamic_batch: bool | Mapping[str, int],
) -> CompiledTorch:
    images: Mapping[str, int] | None = None
    state: Callable[[], Mapping[str, object]] = getattr(model, "state_dict")
    given = enumerate(leaves(tuple(example_inputs)))
    known = {index: each for index, each in given if not is_tensor(each)}
    with one_trace:
        try:
            if dynamic_batch is False:
                ir, changed = trace(example_inputs)
            else:
                (ir, changed), images = traced_for_images(trace, example_inputs, dynamic_batch)
        except SizesOfData as error:
            if dynamic_batch is not False:
                raise
            cut = error.cut
            held = [partial(_tensor_of, model, name) for name in cut.held]
            return CompiledParts(
                *(cut, state(), options), passes=passes, cache=cache, known=known, state=held
            )
        weights = state()
    held = [partial(_tensor_of, model, name) for name in changed]
    return CompiledTorch(
        *(ir, weights, options),
        passes=passes,
        cache=cache,
        known=known,
        state=held,
        images=images,
    )


def _tensor_of(model: Module, name: str) -> Tensor:
    """Return the tensor that a model has now under the path of an attribute."""
    found: object = attrgetter(name)(model)
    assert is_tensor(found)
    return found
