"""Models traced by torch.export; what it refuses is said with the line of the model.

Sizes that it leaves open are PyTorch's symbols: here they are names, their expressions forms.

    ids: i64[s23, s27] with dynamic_shapes = {"ids": {0: Dim("batch"), 1: Dim("length")}}
    s23 * s27 -> batch * length

https://docs.pytorch.org/docs/stable/export.html (dynamic shapes)
"""

import inspect
import io
import logging
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import cache
from importlib import import_module
from math import prod
from pathlib import Path
from threading import RLock

from gawee_dialect.diagnostics import Diagnostic, first_line
from gawee_dialect.dialect.open_size import UNBOUNDED, OpenSize, SizeName, UnknownSize
from gawee_dialect.frontends.npu_ir.ir import ConversionError, ExportError
from gawee_dialect.frontends.npu_ir.pytorch import (
    Module,
    Node,
    Program,
    Spec,
    Tensor,
    has_data,
    is_graph_module,
    is_sequence,
    is_tensor,
    library_folder,
    torch,
)
from gawee_dialect.hints import isa
from gawee_dialect.identifiers import c_name

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
"""Ops that stay whole where sizes are open: PyTorch would divide one by the other when it runs."""

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
    kept = frozenset((*RECURRENT, *keep, *(RESAMPLING if program.range_constraints else ())))
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
            program: Program = library.export.export(
                model, arguments, keywords, dynamic_shapes=dims
            )
    except Exception as error:
        raise _export_error(error) from error
    read = {spec.target for spec in program.graph_signature.input_specs}
    state = [name for name in assigned if name in read]
    if state:
        raise StateChange(state)
    return program


@contextmanager
def _quiet(assigned: list[str] | None = None) -> Generator[None]:
    """Keep from the user what PyTorch says about itself, and about what we say ourselves.

    It warns of its own use of what it deprecates, and prints a graph before it refuses it. Names of
    tensors that it warns were assigned are added to `assigned`.
    """
    logger = logging.getLogger("torch.fx.experimental.symbolic_shapes")
    level, said = logger.level, io.StringIO()
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(record=True) as caught, redirect_stderr(said):
            yield
        sys.stderr.write(said.getvalue())
    finally:
        logger.setLevel(level)
    for each in caught:
        found = _ASSIGNED.match(str(each.message))
        if found is not None and assigned is not None:
            assigned.extend(found["names"].replace("self.", "").split(", "))
        elif not issubclass(each.category, FutureWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


_ASSIGNED = re.compile(r"The tensor attributes? (?P<names>.*) (was|were) assigned during export")
_MUTATED = re.compile(r"[Cc]onstant (?P<name>\S+) is mutated in the forward")
_VIOLATED = re.compile(r"^\s*- (?P<what>Not all values of .*)$", re.MULTILINE)
"""What torch.export says of a range of sizes for which a model does something else."""
_DATA_DEPENDENT = ("DataDependent", "GuardOnDataDependent", "UnsupportedFakeTensorException")


def _export_error(error: Exception) -> ExportError:
    """Say what torch.export refused, and which line of the model it was at."""
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
        with library.no_grad(), _quiet():
            return _run_decompositions(program, keep)
    except Exception as error:
        raise _export_error(error) from error


def kind_of(spec: Spec) -> str:
    """Return what an input or output of a program is: `PARAMETER`, `BUFFER_MUTATION`."""
    return str(getattr(spec.kind, "name"))


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


Names = Mapping[object, SizeName]
"""What symbols are called, and which values they may have."""


def expression(size: object) -> object:
    """Return what a size of a traced graph is, or what is asked of one, as an expression."""
    return getattr(size, "node").expr


def is_symbol(size: object) -> bool:
    """Whether a size is a symbol itself, and not computed of some."""
    return isinstance(size, torch().SymInt) and getattr(expression(size), "is_symbol")


Sizes = Mapping[object, int]
"""What symbols are: numbers, or sizes that are forms of names."""


def sizes_of(names: Names) -> Sizes:
    """Return what symbols are by their names: numbers where they may be one alone."""
    return {
        symbol: name.low if name.low == name.high else OpenSize.named(name)
        for symbol, name in names.items()
    }


def size_of(size: object, sizes: Sizes) -> int | None:
    """Return a size as a number or a form; None where it is neither, or of unknown symbols."""
    if isinstance(size, int):
        return size
    if not isinstance(size, torch().SymInt):
        return None
    try:
        return _form(expression(size), sizes)
    except (KeyError, UnknownSize):
        return None


def _form(found: object, sizes: Sizes) -> int:
    if getattr(found, "is_Integer"):
        return int(getattr(found, "p"))
    if getattr(found, "is_symbol"):
        return sizes[found]
    args: Sequence[object] = getattr(found, "args")
    kind = type(found).__name__
    if kind == "Pow":
        power = int(getattr(args[1], "p", -1))
        return _ARITHMETIC[kind](_form(args[0], sizes), power)
    return _ARITHMETIC[kind](*(_form(each, sizes) for each in args))


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise UnknownSize("expected a power of a size to be whole")
    return prod([base] * exponent)


def _quotient(size: int, divisor: int) -> int:
    return size // divisor


def _rest(size: int, divisor: int) -> int:
    return size % divisor


_ARITHMETIC: Mapping[str, Callable[..., int]] = {
    "Add": lambda *terms: sum(terms),
    "Mul": lambda *factors: prod(factors),
    "Pow": _power,
    "FloorDiv": _quotient,
    "CleanDiv": _quotient,
    "Mod": _rest,
    "PythonMod": _rest,
    "Max": max,
    "Min": min,
}
"""What expressions of sympy and of PyTorch compute, by the names of their classes."""


def names_of_symbols(
    program: Program,
    model: Module,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    dims: object,
) -> Names:
    """Return what the symbols of a traced program are called: as `dynamic_shapes` names them.

    A symbol that has no name there, as that of `Dim.AUTO`, is called by the first argument and the
    axis that it is the size of: `x_0`.
    """
    if dims is None:
        return {}
    names: dict[object, SizeName] = {}
    inputs = [each for each in program.graph_signature.input_specs if kind_of(each) == "USER_INPUT"]
    leaves = list(_leaves(_bound(model, args, kwargs), _by_name(model, args, dims)))
    nodes = {node.name: node for node in program.graph_module.graph.nodes}
    for spec, given in zip(inputs, leaves, strict=True):
        for axis, size in enumerate(_sizes(nodes.get(spec.arg.name))):
            for symbol in _symbols_of(size):
                if symbol not in names:
                    name = _name_of(_axis(given, axis)) or f"{spec.arg.name}_{axis}"
                    names[symbol] = _named(c_name(name), program, symbol)
    return names


ASSERT = "aten._assert_scalar.default"
"""What a program calls to check a size when it runs."""


def symbols_of_data(node: Node) -> Collection[object]:
    """Return the symbols in what a node makes that data decide: PyTorch calls them unbacked."""
    shapes = import_module("torch.fx.experimental.symbolic_shapes")
    found: Collection[object] = getattr(shapes, "free_unbacked_symbols")(node.meta.get("val"))
    return found


def decides_sizes(node: Node) -> bool:
    """Whether a symbol is in what a node makes, and in nothing that it reads: `x.nonzero()`."""
    read = {each for given in node.all_input_nodes for each in symbols_of_data(given)}
    return not read.issuperset(symbols_of_data(node))


def names_of_data(program: Program, names: Names) -> Names:
    """Return what symbols are called that data decide, beside `names`: `u0`, as PyTorch does.

    Those that the program checks to be equal have one name.
    """
    symbols = import_module("torch.utils._sympy.symbol")
    kind: object = symbols.SymT.UNBACKED_INT
    taken = {each.name for each in names.values()}
    found: dict[object, SizeName] = {}
    for symbol in program.range_constraints:  # of `2 * Dim("half")` too, which is no symbol
        if getattr(symbol, "is_symbol") and symbols.symbol_is_type(symbol, kind):
            name = c_name(str(symbol))
            name = f"{name}_of_data" if name in taken else name
            found[symbol] = _named(name, program, symbol)
    if found and not any(map(decides_sizes, program.graph_module.graph.nodes)):
        return {}  # what had such a size was taken out
    for pair in _checked_equal(program):
        first, second = ({**found, **names}.get(each) for each in pair)
        if first is not None and second is not None:
            kept, other = (second, first) if pair[1] in names else (first, second)
            found = {each: kept if name == other else name for each, name in found.items()}
    return found


def _checked_equal(program: Program) -> Iterator[Sequence[object]]:
    """Yield pairs of symbols: those of `torch._check(a.shape[0] == b.shape[0])`."""
    for node in program.graph_module.graph.nodes:
        for each in node.all_input_nodes if str(node.target) == ASSERT else ():
            condition = expression(each.meta.get("val"))
            if type(condition).__name__ == "Equality":
                yield getattr(condition, "args")


def _symbols_of(size: object) -> Collection[object]:
    return () if isinstance(size, int) else getattr(expression(size), "free_symbols")


def _name_of(dim: object) -> str | None:
    """Return the name of a `Dim`, or of the one that it is a multiple of."""
    return getattr(getattr(dim, "root", dim), "__name__", None)


def _named(name: str, program: Program, symbol: object) -> SizeName:
    values = program.range_constraints.get(symbol)
    low, high = (int(min(getattr(values, end, 1), UNBOUNDED)) for end in ("lower", "upper"))
    return SizeName(name, max(low, 1), high)


def _sizes(node: Node | None) -> Sequence[object]:
    value = None if node is None else node.meta.get("val")
    return value.shape if is_tensor(value) else ()


def _axis(dims: object, axis: int) -> object:
    if isa(dims, dict[int, object]):
        return dims.get(axis)
    return dims[axis] if is_sequence(dims) and axis < len(dims) else None


def _bound(
    model: Module, args: Sequence[object], kwargs: Mapping[str, object]
) -> Mapping[str, object]:
    """Return the arguments of a call by their names, as torch.export takes them."""
    signature = inspect.signature(getattr(model, "forward"))
    return signature.bind(*args, **kwargs).arguments


def _by_name(model: Module, args: Sequence[object], dims: object) -> Mapping[str, object]:
    """Return what is said of the sizes of each argument, by its name."""
    if isa(dims, dict[str, object]):
        return dims
    assert is_sequence(dims)
    return dict(zip(inspect.signature(getattr(model, "forward")).parameters, dims, strict=False))


def _leaves(value: object, dims: object) -> Iterator[object]:
    """Yield what is said of each leaf of an argument, in the order of the graph's inputs."""
    if isa(value, dict[object, object]):
        for key, each in value.items():
            yield from _leaves(each, dims.get(key) if isa(dims, dict[object, object]) else None)
    elif is_sequence(value):
        for at, each in enumerate(value):
            yield from _leaves(each, dims[at] if is_sequence(dims) else None)
    elif value is not None:
        yield dims
