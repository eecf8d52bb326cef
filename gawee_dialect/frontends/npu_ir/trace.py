"""Models traced by torch.export; what it refuses is said with the line of the model."""

import inspect
import io
import logging
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from threading import RLock

from gawee_dialect.diagnostics import Diagnostic, first_line
from gawee_dialect.frontends.npu_ir.ir import ConversionError, ExportError
from gawee_dialect.frontends.npu_ir.pytorch import (
    Module,
    Program,
    Tensor,
    has_data,
    is_graph_module,
    is_sequence,
    is_tensor,
    kind_of,
    library_folder,
    torch,
)
from gawee_dialect.frontends.npu_ir.size_guards import (
    DependsOnSize,
    Ranges,
    asks_for_proof,
    check_sizes_of_one,
    max_pool1d_of_open_sizes,
    no_special_sizes,
    traced_in_general,
)
from gawee_dialect.frontends.npu_ir.symbols import names_of_symbols
from gawee_dialect.hints import isa

# Weights without data take the place of a model's own while it is traced.
#
# They are fake tensors that claim to be in main memory. On the meta device itself a constant that
# `forward` makes would have no data, or be on another device than the weights.

Table = dict[str, object]


class StandIns:
    """Makes stand-ins, the same one for the same tensor: tied weights stay tied."""

    def __init__(self) -> None:
        fake = import_module("torch._subclasses.fake_tensor")
        symbolic = import_module("torch.fx.experimental.symbolic_shapes")
        # A shape that depends on data becomes a symbol, which conversion then names.
        self._mode = fake.FakeTensorMode(
            allow_non_fake_inputs=True, shape_env=symbolic.ShapeEnv(tracked_fakes=[])
        )
        self._made: dict[int, tuple[Tensor, Tensor]] = {}

    def of(self, original: Tensor) -> Tensor:
        """Return the stand-in of a tensor: shape, strides and dtype, no data."""
        # The original is kept too: its id must not become another tensor's.
        if id(original) not in self._made:
            self._made[id(original)] = (original, self._make(original))
        return self._made[id(original)][1]

    def _make(self, original: Tensor) -> Tensor:
        library = torch()
        with self._mode:
            made: Tensor = library.empty_strided(
                tuple(original.shape), tuple(original.stride()), dtype=original.dtype, device="cpu"
            )
        if not isinstance(original, library.nn.Parameter):
            return made
        return library.nn.Parameter(made, requires_grad=original.requires_grad)

    def of_inputs(self, inputs: object) -> object:
        """Return example inputs with every tensor inside them replaced."""
        tree = import_module("torch.utils._pytree")

        def replaced(leaf: object) -> object:
            return self.of(leaf) if is_tensor(leaf) else leaf

        return tree.tree_map(replaced, inputs)

    @contextmanager
    def inside(self, model: Module) -> Generator[None]:
        """Put stand-ins in the place of all weights, and of other tensors without data.

        Those with data are copied: `forward` may write to them before it is refused.
        """
        replaced: list[tuple[Table, str, object]] = []
        copies: dict[int, Tensor] = {}
        try:
            for table, name, value in list(_tensors(model)):
                replaced.append((table, name, value))
                table[name] = self.of(value)
            for own, name, value in list(_data(model)):
                replaced.append((own, name, value))
                if id(value) not in copies:
                    copies[id(value)] = getattr(value.detach(), "clone")()
                own[name] = copies[id(value)]
            yield
        finally:
            for table, name, value in replaced:
                table[name] = value


def _tensors(model: Module) -> Iterator[tuple[Table, str, Tensor]]:
    for module in model.modules():
        own = vars(module)
        for table in (own["_parameters"], own["_buffers"]):
            assert isa(table, Table)
            yield from ((table, name, value) for name, value in table.items() if is_tensor(value))
        for name, value in own.items():
            if is_tensor(value) and not has_data(value):
                yield own, name, value


def _data(model: Module) -> Iterator[tuple[Table, str, Tensor]]:
    for module in model.modules():
        own = vars(module)
        for name, value in own.items():
            if is_tensor(value) and has_data(value):
                yield own, name, value


# How ops are taken apart into core ATen ops: as PyTorch does it, but for what it gets wrong.

Attention = Callable[..., tuple[Tensor, Tensor]]

RECURRENT = ("aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input")
"""Ops that stay whole: PyTorch would write each of their steps out."""

RESAMPLING = (
    *(f"aten.upsample_{each}" for each in ("linear1d", "bilinear2d", "trilinear3d", "bicubic2d")),
    *(
        f"aten.{each}{axes}d"
        for each in ("upsample_nearest", "_upsample_nearest_exact")
        for axes in (1, 2, 3)
    ),
)
"""Ops that make tensors of other sizes, or of a scale."""

DIVIDING = (*RESAMPLING, "aten.roll.default")
"""Ops that stay whole where sizes are open: PyTorch would divide sizes when it runs."""

_TAKEN_APART_WRONG = ("aten.multilabel_margin_loss_forward.default",)
"""Ops of which PyTorch's functions compute something else: it counts labels behind the first -1."""

_ATTENTION = "aten._scaled_dot_product_flash_attention_for_cpu.default"


def core_decompositions() -> Mapping[object, object]:
    """Return PyTorch's functions that take ops apart into core ATen ops."""
    return _core_decompositions(_implicit_ops())


def _implicit_ops() -> int:
    """Return how many ops are registered as composites of others: more, after the next library."""
    registered: Callable[[str], Sequence[str]] = getattr(
        torch()._C, "_dispatch_get_registrations_for_dispatch_key"
    )
    return len(registered("CompositeImplicitAutograd"))


@cache
def _core_decompositions(_implicit: int) -> Mapping[object, object]:
    """Return the functions, for which PyTorch looks for a seventh of a small trace."""
    functions = torch().export.default_decompositions().items()
    return {op: function for op, function in functions if str(op) not in _TAKEN_APART_WRONG}


def _decompositions(kept: Collection[str]) -> Mapping[object, object]:
    """Return a function for each op to take apart."""
    return {
        op: _in_layout_of_query if str(op) == _ATTENTION else function
        for op, function in core_decompositions().items()
        if not _is_kept(str(op), kept)
    }


Functions = Mapping[object, object]


@cache
def _split_decompositions(kept: frozenset[str], _implicit: int) -> tuple[Functions, Functions]:
    """Return functions of composites, with PyTorch's mark for those that stay, and of other ops."""
    split: Callable[..., tuple[Functions, Functions]] = getattr(
        _exported_program(), "_split_decomp_table_to_cia_and_python_decomp"
    )
    return split(dict(_decompositions(kept)))


def _exported_program() -> object:
    return import_module("torch.export.exported_program")


DECOMPOSE_PARAMETERS = (
    *("ep", "cia_to_decomp", "python_decomp_table"),
    *("joint_loss_index", "decompose_custom_triton_ops"),
)
"""Of the function that `run_decompositions` calls, where it can be called instead."""


def _run_decompositions(program: Program, keep: Sequence[str]) -> Program:
    """Take ops apart, neither recurrent layers nor those to keep, as `run_decompositions` does.

    That replaces the functions of 500 composites each time: most of its time for a small model.
    Here are replaced those of ops of the program, and those that are no function of C++.
    """
    kept = frozenset((*RECURRENT, *keep, *(DIVIDING if program.range_constraints else ())))
    decompose: Callable[..., Program] | None = getattr(
        _exported_program(), "_decompose_exported_program", None
    )
    if decompose is None or (*inspect.signature(decompose).parameters,) != DECOMPOSE_PARAMETERS:
        return program.run_decompositions(_decompositions(kept))
    composites, others = _split_decompositions(kept, _implicit_ops())
    parts: Iterable[object] = getattr(program.graph_module, "modules")()
    used = {node.target for part in parts if is_graph_module(part) for node in part.graph.nodes}
    replaced = {
        op: function
        for op, function in composites.items()
        if op in used or getattr(op, "py_kernels")
    }
    with import_module("torch._subclasses.fake_tensor").unset_fake_temporarily():
        return decompose(
            program,
            cia_to_decomp=replaced,
            python_decomp_table=dict(others),
            joint_loss_index=None,
            decompose_custom_triton_ops=False,
        )


def _is_kept(op: str, keep: Collection[str]) -> bool:
    return op in keep or op.rpartition(".")[0] in keep


def _in_layout_of_query(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention by its parts, in memory as the whole op leaves it: in the order of the query.

    PyTorch's own function always returns sequence, batch, head. A view that the model takes of
    attention in another order is then refused.
    """
    whole: Attention = torch().ops.aten._scaled_dot_product_attention_math.default
    mixed, weights = whole(
        query,
        key,
        value,
        attn_mask=attn_mask,
        dropout_p=dropout_p,
        is_causal=is_causal,
        dropout_mask=None,
        scale=scale,
        enable_gqa=query.shape[1] != key.shape[1],
    )
    strides = query.stride()
    order = sorted(range(len(strides)), key=lambda axis: -strides[axis])
    back = sorted(range(len(order)), key=order.__getitem__)
    return mixed.permute(*order).contiguous().permute(*back), weights


one_trace = RLock()
"""Held while a model is traced: its weights are stand-ins meanwhile, and torch.export changes what
PyTorch does in all threads."""


class StateChange(ExportError):
    """A call of the model changes tensors that the model holds, by their names."""

    def __init__(self, names: Sequence[str], place: str | None = None) -> None:
        super().__init__(_changes(names, place))
        self.names = names


def export(
    model: Module, inputs: Sequence[object], kwargs: Mapping[str, object], dims: object = None
) -> Program:
    """Trace a model with stand-ins for its weights and inputs, which have no data.

    dims: the sizes of inputs that stay open, as torch.export's `dynamic_shapes`.

    Raises StateChange for a model that reads and changes tensors that are no buffers, ExportError
    for one that cannot be traced.
    """
    library = torch()
    if is_tensor(inputs):
        hint = "a tuple has the arguments of forward: (x,)"
        raise ExportError(Diagnostic("expected a tuple of example inputs, got a tensor", hint=hint))
    stand_ins = StandIns()
    assigned: list[str] = []
    try:
        arguments = stand_ins.of_inputs(tuple(inputs))
        keywords = stand_ins.of_inputs(dict(kwargs))
        with stand_ins.inside(model), library.no_grad(), _quiet(assigned):
            program = _traced(model, (arguments, keywords), dims, stand_ins)
    except Exception as error:
        raise _export_error(error) from error
    read = {spec.target for spec in program.graph_signature.input_specs}
    state = [name for name in assigned if name in read]
    if state:
        raise StateChange(state)
    return program


def _traced(
    model: Module, call: tuple[object, object], dims: object, stand_ins: StandIns
) -> Program:
    """Trace a model; where torch.export cannot prove that ranges of sizes fit, that is computed."""
    tree = import_module("torch.utils._pytree")
    leaves: list[object]
    leaves, spec = tree.tree_flatten(call)

    def trace(sizes: Sequence[object] | None, shapes: object, *, strict: bool = False) -> Program:
        args, kwargs = call if sizes is None else tree.tree_unflatten(resized(sizes), spec)
        traced: Program = torch().export.export(
            model, args, kwargs, dynamic_shapes=shapes, strict=strict
        )
        return traced

    def resized(sizes: Sequence[object]) -> Sequence[object]:
        return [
            stand_ins.of(torch().empty(size, dtype=leaf.dtype, device="meta"))
            if is_tensor(leaf)
            else leaf
            for leaf, size in zip(leaves, sizes, strict=True)
        ]

    def ranges(program: Program) -> Ranges:
        args, kwargs = call
        assert is_sequence(args)
        assert isa(kwargs, dict[str, object])
        names = names_of_symbols(program, model, args, kwargs, dims)
        return {symbol: (each.name, each.low, each.high) for symbol, each in names.items()}

    try:
        program = trace(None, dims)
    except Exception as error:
        if dims is None or not asks_for_proof(error):
            raise
        # The bytecode of the model tells what its calls do not: math.sqrt takes a number.
        for each in (trace, partial(trace, strict=True)):
            try:
                with max_pool1d_of_open_sizes():
                    return traced_in_general(each, dims, ranges)
            except DependsOnSize:
                raise
            except Exception:
                continue
        raise
    if dims is not None:
        check_sizes_of_one(program, ranges(program), trace)
    return program


@contextmanager
def _quiet(assigned: list[str] | None = None) -> Generator[None]:
    """Keep from the user what PyTorch says about itself, and about what we say ourselves.

    It warns of its own use of what it deprecates, and prints a graph before it refuses it. Names of
    tensors that it warns were assigned are added to `assigned`.
    """
    loggers = [logging.getLogger(each) for each in _LOGGERS]
    levels, said = [each.level for each in loggers], io.StringIO()
    for logger, level in zip(loggers, _LOGGERS.values(), strict=True):
        logger.setLevel(level)
    try:
        with warnings.catch_warnings(record=True) as caught, redirect_stderr(said):
            yield
        sys.stderr.write(said.getvalue())
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
    for each in caught:
        found = _ASSIGNED.match(str(each.message))
        if found is not None and assigned is not None:
            assigned.extend(found["names"].replace("self.", "").split(", "))
        elif not issubclass(each.category, FutureWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


_LOGGERS = {
    "torch.fx.experimental.symbolic_shapes": logging.ERROR,
    "torch._guards": logging.CRITICAL,
}

_ASSIGNED = re.compile(r"The tensor attributes? (?P<names>.*) (was|were) assigned during export")
_MUTATED = re.compile(r"[Cc]onstant (?P<name>\S+) is mutated in the forward")
_VIOLATED = re.compile(
    r"^\s*- (?P<what>Not all values of .*|You marked .* specialized it to be a constant \(\d+\))",
    re.MULTILINE,
)
"""What torch.export says of a range of sizes for which a model does something else."""
_DATA_DEPENDENT = ("DataDependent", "GuardOnDataDependent", "UnsupportedFakeTensorException")


def _export_error(error: Exception) -> ExportError:
    """Say what torch.export refused, and which line of the model it was at."""
    if isinstance(error, DependsOnSize):
        return ExportError(
            Diagnostic(
                "expected a model that does the same for all sizes in range, got something else "
                f"for {error.sizes}",
                error.place,
                hint=f"{error.condition}; a Dim of another range may have one answer",
            )
        )
    chain = list(_causes(error))
    place = next((found for each in chain if (found := _model_line(each)) is not None), None)
    names = " ".join(type(each).__name__ + " " + str(each)[:2000] for each in chain)
    if any(name in names for name in _DATA_DEPENDENT):
        return ExportError(
            Diagnostic(
                "expected control flow that does not depend on data",
                place,
                hint="torch.where takes one of two values for each element; "
                "what is the same for all inputs may be decided outside of forward",
            )
        )
    mutated = next((found for each in chain if (found := _MUTATED.search(str(each)))), None)
    if mutated is not None:
        return StateChange([mutated["name"]], place)
    hint = "data made in forward has no data on the meta device; use self.register_buffer()"
    about_meta = "meta" in str(error) and "device" in str(error)
    message = f"cannot export the model: {type(error).__name__}: {first_line(error)}"
    violated = _VIOLATED.search(str(error))
    if violated is not None:
        return ExportError(Diagnostic(message, place, hint=violated["what"]))
    return ExportError(Diagnostic(message, place, hint=hint if about_meta else None))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _model_line(error: BaseException) -> str | None:
    """Return the innermost line of a traceback that is neither PyTorch's nor ours."""
    foreign = (
        library_folder(),
        str(Path(__file__).parent),
        str(Path(traceback.__file__).parent),
    )
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(foreign)
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}:1" if frames else None


def decomposed(program: Program, keep: Sequence[str]) -> Program:
    """Take ops apart into core ATen ops, but for those to keep; raises ExportError."""
    library = torch()
    try:
        with library.no_grad(), _quiet(), no_special_sizes(program):
            return _run_decompositions(program, keep)
    except Exception as error:
        raise _export_error(error) from error


def check_mutations(program: Program, *, of_buffers: bool = False) -> None:
    """Refuse a model that changes its buffers or its inputs, which a graph cannot say.

    With `of_buffers` changes of buffers are left to the caller. Raises ConversionError.
    """
    left = {"BUFFER_MUTATION"} if of_buffers else set[str]()
    changed = {
        str(spec.target): kind_of(spec)
        for spec in program.graph_signature.output_specs
        if "MUTATION" in kind_of(spec) and kind_of(spec) not in left
    }
    if not changed:
        return
    of_inputs = set(changed.values()) == {"USER_INPUT_MUTATION"}
    raise ConversionError(_changes([*changed], hint=_OF_INPUTS if of_inputs else None))


_OF_INPUTS = "forward may change a copy: x = x.clone()"


def _changes(names: Sequence[str], place: str | None = None, hint: str | None = None) -> Diagnostic:
    quoted = ", ".join(f"'{name}'" for name in names)
    hint = hint or (
        "model.eval() keeps statistics as they are; return what is new instead; "
        "compile_torch and torch.compile(model, backend='gawee') write it back"
    )
    if any("lifted_tensor" in name for name in names):
        hint = (
            "a tensor that is held by an object, and by no module, is a constant to torch.export; "
            "where it is a buffer too, torch.export.export(model, inputs, strict=True) finds that, "
            "and compile_torch takes such a program"
        )
    return Diagnostic(
        f"expected a model that changes no buffer, constant or input, got changes of {quoted}",
        place,
        hint=hint,
    )
