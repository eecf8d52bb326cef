"""Models that torch.export refuses for the ranges of their sizes, though they are one graph.

    x: f32[n], n from 1 to 20, x[::2]     torch.export: not all n have (n + 1) // 2 != 1

torch.export asks of each condition that it met to be proved, and takes a size of 1 to be special.
Here the model is traced for sizes in general. What it then depends on is computed for all numbers:
where a condition is another, and where a size is 1, the model is traced for numbers, and has to do
the same. https://docs.pytorch.org/docs/stable/export.html (0/1 specialization)
"""

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from importlib import import_module
from itertools import zip_longest
from math import prod
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.diagnostics import first_line
from gawee_dialect.frontends.npu_ir.convert import place_of
from gawee_dialect.frontends.npu_ir.ir import place_text
from gawee_dialect.frontends.npu_ir.pytorch import (
    Node,
    Program,
    Tensor,
    array_of,
    has_data,
    is_node,
    is_sequence,
    is_tensor,
    torch,
)
from gawee_dialect.frontends.npu_ir.symbols import expression, whole, with_names
from gawee_dialect.hints import isa

MOST_NUMBERS = 1 << 20
"""Of how many combinations of sizes a condition is computed."""

MOST_TRACES = 8
"""How often a model is traced again, for numbers."""

Values: TypeAlias = NDArray[np.generic]
Ranges: TypeAlias = Mapping[object, tuple[str, int, int]]
"""What symbols are called, and from which to which number they are."""
Point: TypeAlias = Mapping[str, int]
Points: TypeAlias = Mapping[str, Values]
"""Numbers of each size, which broadcast."""


class Undecided(Exception):
    """What a model depends on cannot be computed for all sizes; the text says why."""


class DependsOnSize(Exception):
    """A model does something else for some numbers than for the others.

    sizes: such numbers; condition: what it depends on; place: the line that asks for it.
    """

    def __init__(self, sizes: str, condition: str, place: str | None) -> None:
        super().__init__(sizes, condition, place)
        self.sizes, self.condition, self.place = sizes, condition, place


def asks_for_proof(error: Exception) -> bool:
    """Whether torch.export refuses a model because of what it cannot prove of ranges of sizes."""
    return any(text in str(error) for text in _UNPROVED)


_UNPROVED = "onstraints violated", "Cannot create Dim with inconsistent"


def general_dims(dims: object) -> object:
    """Return `dynamic_shapes` with each `Dim` as one whose range torch.export need not prove.

    Raises Undecided for dims that are computed of others.
    """
    kind: type = torch().export.Dim
    if isa(dims, dict[object, object]):
        return {key: general_dims(each) for key, each in dims.items()}
    if is_sequence(dims):
        made = [general_dims(each) for each in dims]
        return tuple(made) if isinstance(dims, tuple) else made
    if not isinstance(dims, kind):
        return dims
    if type(dims) is not kind:
        raise Undecided("sizes that are computed of others")
    dynamic: Callable[..., object] = getattr(kind, "DYNAMIC")
    return dynamic(min=getattr(dims, "min"), max=getattr(dims, "max"))


@contextmanager
def no_special_sizes(program: Program | None = None) -> Generator[None]:
    """Trace as if no size were 0 or 1, inside a with block; a program only if it was traced so."""
    if program is None or MARK in _meta(program):
        with import_module("torch.fx.experimental._config").patch(backed_size_oblivious=True):
            yield
    else:
        yield


MARK = "gawee.no_special_sizes"


def _meta(program: Program) -> dict[str, object]:
    return getattr(program.graph_module, "meta")


Trace: TypeAlias = Callable[..., Program]
"""Traces a model: of inputs, None for those at hand, and `dynamic_shapes`."""


def traced_in_general(
    trace: Trace, dims: object, ranges_of: Callable[[Program], Ranges]
) -> Program:
    """Trace a model for sizes of which none is special, and see that it always does the same.

    Raises DependsOnSize where it does not, Undecided where that is not known.
    """
    with no_special_sizes():
        program = trace(None, general_dims(dims))
    _meta(program)[MARK] = True
    _Check(program, ranges_of(program), trace).run()
    return program


def check_sizes_of_one(program: Program, ranges: Ranges, trace: Trace) -> None:
    """Raise DependsOnSize for a program that is not what the model does where a size is 1.

    torch.export takes it that no size is: `x.squeeze(1)` is x to it.
    """
    if any(low == 1 for _, low, _ in ranges.values()):
        examples = _examples(program)
        point = {
            name: 1 if low == 1 else examples.get(symbol, low)
            for symbol, (name, low, _) in ranges.items()
        }
        _Check(program, ranges, trace).compare(point, "a size of 1 is special", None)


def _examples(program: Program) -> Mapping[object, int]:
    """Return what symbols are in the example inputs, as far as PyTorch keeps it."""
    environment = _environment(program)
    kept = "backed_var_to_val" if hasattr(environment, "backed_var_to_val") else "var_to_val"
    found: Mapping[object, object] = getattr(environment, kept)
    return {symbol: int(str(value)) for symbol, value in found.items()}


@contextmanager
def max_pool1d_of_open_sizes() -> Generator[None]:
    """Pool one axis as two, inside a with block: PyTorch takes numbers for the one."""
    library = torch()
    own: Callable[..., object] = library.max_pool1d
    setattr(library, "max_pool1d", _pooled_as_2d)
    try:
        yield
    finally:
        setattr(library, "max_pool1d", own)


def _pooled_as_2d(
    input: Tensor,
    kernel_size: object,
    stride: object = None,
    padding: object = 0,
    dilation: object = 1,
    ceil_mode: bool = False,
) -> object:
    def both(value: object, other: int) -> tuple[int, object]:
        return other, value[0] if is_sequence(value) else value

    step = kernel_size if stride in (None, []) else stride
    sides = both(kernel_size, 1), both(step, 1), both(padding, 0), both(dilation, 1)
    pooled = torch().max_pool2d(torch().unsqueeze(input, -2), *sides, ceil_mode)
    return torch().squeeze(pooled, -2)


class _Check:
    """Compares what a program is with what the model does for numbers."""

    def __init__(self, program: Program, ranges: Ranges, trace: Trace) -> None:
        self.program, self.ranges, self.trace = program, ranges, trace
        self.compared: list[Point] = []

    def run(self) -> None:
        """Raise DependsOnSize or Undecided unless the program is right for all numbers."""
        guards: Sequence[object] = getattr(_environment(self.program), "guards")
        for guard in guards:
            condition = whole(getattr(guard, "expr"))
            holds, points = _computed(condition, self.ranges)
            for point in _ends(np.logical_not(holds), points):
                self.compare(point, _named(condition, self.ranges), _place(guard))
        for size in dict.fromkeys(_sizes(self.program)):
            values, points = _computed(size, self.ranges)
            if not any(self._value(size, each) == 1 for each in self.compared):
                text = _named(size, self.ranges)
                for point in [*_ends(values == 1, points)][:1]:
                    self.compare(point, f"a size of 1 is special: {text}", None)

    def _value(self, size: object, point: Point) -> Values:
        return _value(size, {each: np.asarray(at) for each, at in self._numbers(point).items()})

    def _numbers(self, point: Point) -> Mapping[object, int]:
        return {symbol: point[name] for symbol, (name, _, _) in self.ranges.items()}

    def compare(self, point: Point, why: str, place: str | None) -> None:
        """Raise DependsOnSize where the model does not do the same for a point."""
        if point in self.compared:
            return
        if len(self.compared) == MOST_TRACES:
            raise Undecided(f"more than {MOST_TRACES} sizes to look at")
        self.compared.append(point)
        sizes = ", ".join(f"{name} = {point[name]}" for name in sorted(point))
        try:
            node = _first_other(self.program, self._numbers(point), self.trace)
        except Exception as error:  # whatever the model raises
            reason = f"{type(error).__name__}: {first_line(error)}"
            raise DependsOnSize(sizes, reason, place) from error
        if node is not True:
            place = place_text(place_of(node)) if place is None and node is not None else place
            raise DependsOnSize(sizes, why, place)


def _first_other(
    program: Program, numbers: Mapping[object, int], trace: Trace
) -> Node | Literal[True] | None:
    """Return the first node that is not what a model does for numbers; True where there is none."""
    now = trace(_resized(program, numbers), None)
    pairs = zip_longest(_calls(program, numbers), _calls(now, {}), fillvalue=(None, None))
    for (own, node), (other, other_node) in pairs:
        if own != other:
            return node or other_node
    return True


def _resized(program: Program, numbers: Mapping[object, int]) -> Sequence[object]:
    """Return what sizes the inputs of a program have for numbers; None for what is no tensor."""
    specs = program.graph_signature.input_specs
    inputs = [each.arg.name for each in specs if getattr(each.kind, "name") == "USER_INPUT"]
    nodes = {node.name: node for node in program.graph_module.graph.nodes}
    values = [nodes[name].meta.get("val") if name in nodes else None for name in inputs]
    return [
        [_number(size, numbers) for size in value.shape] if is_tensor(value) else None
        for value in values
    ]


def _named(expression: object, ranges: Ranges) -> str:
    return with_names(expression, {each: name for each, (name, _, _) in ranges.items()})


_USER = re.compile(r"(?P<file>[^\s(]+\.py):(?P<line>\d+)")


def _place(guard: object) -> str | None:
    found = _USER.search(str(getattr(getattr(guard, "sloc"), "maybe_user_loc", "")))
    return f"{found['file']}:{found['line']}:1" if found else None


def _environment(program: Program) -> object:
    for node in program.graph_module.graph.nodes:
        value = node.meta.get("val")
        for size in value.shape if is_tensor(value) else ():
            if isinstance(size, torch().SymInt):
                return getattr(getattr(size, "node"), "shape_env")
    raise Undecided("no size is open")


# Conditions, computed for all numbers.


def _ends(found: Values, points: Points) -> Iterator[Point]:
    """Yield the first and the last point of some."""
    shape = np.broadcast_shapes(found.shape, *(each.shape for each in points.values()))
    places = np.argwhere(np.broadcast_to(found, shape))
    for at in sorted({0, len(places) - 1}) if len(places) else ():
        place = tuple(places[at])
        yield {name: int(np.broadcast_to(each, shape)[place]) for name, each in points.items()}


def _computed(expression: object, ranges: Ranges) -> tuple[Values, Points]:
    """Return what an expression is for all numbers of its names, and these; the least of others."""
    symbols: Sequence[object] = sorted(getattr(expression, "free_symbols"), key=str)
    if any(symbol not in ranges for symbol in symbols):
        raise Undecided(f"{expression} has sizes that no argument says")
    ends = {name: (low, high) for name, low, high in ranges.values()}
    used = sorted({ranges[symbol][0] for symbol in symbols})
    counts = [ends[name][1] - ends[name][0] + 1 for name in used]
    if prod(counts) > MOST_NUMBERS:
        raise Undecided(f"more than {MOST_NUMBERS} numbers for {expression}")
    rank = len(used)
    points = {name: np.full((1,) * rank, low) for name, (low, _) in ends.items()}
    for axis, name in enumerate(used):
        low, high = ends[name]
        shape = [-1 if at == axis else 1 for at in range(rank)]
        points[name] = np.arange(low, high + 1).reshape(shape)
    return _value(expression, {symbol: points[ranges[symbol][0]] for symbol in symbols}), points


def _value(found: object, values: Mapping[object, Values]) -> Values:
    if found in values:
        return values[found]
    kind = type(found).__name__
    if getattr(found, "is_number", False) and kind not in _FUNCTIONS:
        return np.asarray(int(str(found)))
    if kind in ("BooleanTrue", "BooleanFalse"):
        return np.asarray(kind == "BooleanTrue")
    if kind not in _FUNCTIONS:
        raise Undecided(f"{kind} of sizes")
    args: Sequence[object] = getattr(found, "args")
    first, *others = (_value(each, values) for each in args)
    return reduce(_FUNCTIONS[kind], others, first) if others else _FUNCTIONS[kind](first)


_FUNCTIONS: Mapping[str, Callable[..., Values]] = {
    "Add": np.add,
    "Mul": np.multiply,
    "Pow": np.power,
    "FloorDiv": np.floor_divide,
    "CleanDiv": np.floor_divide,
    "Mod": np.mod,
    "PythonMod": np.mod,
    "Max": np.maximum,
    "Min": np.minimum,
    "Equality": np.equal,
    "Unequality": np.not_equal,
    "StrictLessThan": np.less,
    "LessThan": np.less_equal,
    "StrictGreaterThan": np.greater,
    "GreaterThan": np.greater_equal,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Not": np.logical_not,
}
"""What expressions of sympy and of PyTorch compute, by the names of their classes."""


# What a program does, as a list of its calls.


def _sizes(program: Program) -> Iterator[object]:
    """Yield what sizes of tensors are, where they are computed of symbols."""
    for node in program.graph_module.graph.nodes:
        for value in _tensors(node.meta.get("val")):
            for size in value.shape:
                if isinstance(size, torch().SymInt):
                    yield expression(size)


def _tensors(value: object) -> Iterator[Tensor]:
    if is_tensor(value):
        yield value
    elif is_sequence(value):
        for each in value:
            yield from _tensors(each)


def _calls(program: Program, numbers: Mapping[object, int]) -> Iterator[tuple[object, Node | None]]:
    """Yield what a program calls on tensors: ops, arguments, and sizes of what they make.

    Each with its node; None with a constant.
    """
    calls = _Calls(numbers)
    for node in program.graph_module.graph.nodes:
        yield from ((each, node) for each in calls.of(node))
    for name, constant in program.constants.items():
        if is_tensor(constant) and has_data(constant):
            yield (name, array_of(constant).tobytes()), None
        else:
            yield (name, str(constant)), None


class _Calls:
    """Calls of a program for numbers of its symbols; tensors are counted in the order they come."""

    def __init__(self, numbers: Mapping[object, int]) -> None:
        self.numbers = numbers
        self.places: dict[Node, int] = {}

    def of(self, node: Node) -> Iterator[object]:
        """Yield the call that a node is, unless it makes no tensor, or the one that it reads."""
        made = [*_tensors(node.meta.get("val"))]
        if not made:
            return
        shapes = [self._said([*each.shape]) for each in made]
        if str(node.target) in SAME and shapes[0] == self._shape_of_read(node):
            self.places[node] = self.places[node.all_input_nodes[0]]
            return
        self.places[node] = len({*self.places.values()})
        given = (*node.args, *node.kwargs.values()) if node.op == "call_function" else ()
        if str(node.target) == "aten.slice.Tensor":  # the shape says where it ends
            source, dim, start, _, step = (*given, *_SLICE[len(given) :])
            given = source, dim, start or 0, step
        yield str(node.target), self._said(given), shapes

    def _shape_of_read(self, node: Node) -> object:
        read = node.all_input_nodes[0].meta.get("val")
        return self._said([*read.shape]) if is_tensor(read) else None

    def _said(self, value: object) -> object:
        library = torch()
        if is_node(value):
            known = value in self.places
            return ("node", self.places[value]) if known else self._said(value.meta.get("val"))
        if is_sequence(value):
            return tuple(self._said(each) for each in value)
        if isinstance(value, library.SymInt | library.SymFloat):
            return self._said(_number(value, self.numbers))
        # The last digits of a root depend on the library that computes it.
        return f"{value:.12g}" if isinstance(value, float) else (type(value).__name__, str(value))


_SLICE = None, 0, 0, None, 1
"""What arguments of a slice are where they are left out."""

SAME = tuple(
    f"aten.{each}"
    for each in (
        "slice.Tensor",
        *(f"{name}.default" for name in ("alias", "expand", "view", "reshape", "contiguous")),
        *("flatten.using_ints", "detach.default", "clone.default", "view_as.default"),
    )
)
"""Ops that return what they read where it has the same shape; of numbers, none is traced."""


def _number(size: object, numbers: Mapping[object, int]) -> object:
    if isinstance(size, int):
        return size
    integer: Callable[[int], object] = import_module("sympy").Integer
    found = expression(size)
    known = getattr(found, "xreplace")({symbol: integer(n) for symbol, n in numbers.items()})
    if getattr(known, "free_symbols"):
        return known
    return int(str(known)) if isinstance(size, torch().SymInt) else float(str(known))
