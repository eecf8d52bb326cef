"""The meaning of index notation: what its equations are on arrays, in NumPy.

An expression is an array with an axis for each index that it depends on, no more; a sum of products
is contracted as matrices are. float16 is computed in float32, and long sums of products in float64.
Outside of a tensor an element is what `else` says; without it, points of a reduction that
read there do not count, and elsewhere 0 is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, reduce
from itertools import product
from math import inf, prod
from types import EllipsisType
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import f16, i64
from xdsl.ir import Attribute

from gawee_dialect.dialect import special_functions
from gawee_dialect.dialect.arrays import contract, elements, strided, sum_along, total_dtype
from gawee_dialect.dialect.types import dtype_name
from gawee_dialect.equations.element_types import CONVERTS, ExpressionType, Weak
from gawee_dialect.equations.functions import OPERATORS, PREFIXES, Numbers, ScalarError, function_of
from gawee_dialect.equations.instance import Equation, EquationGroup, Instance, Misfit
from gawee_dialect.equations.syntax import (
    Access,
    Binary,
    Call,
    Conditional,
    Expression,
    Name,
    Number,
    Reduction,
    Unary,
    Wildcard,
    accesses,
    linear,
    named_ranges,
    operands,
    small_power,
    walk,
)

Array: TypeAlias = NDArray[np.generic]
Functions: TypeAlias = Mapping[str, Callable[..., Array]]

MAX_PADDED = 4
"""How many times as large as an array its padded form may be."""

MAX_POINTS = 1 << 28
"""Elements of one intermediate array: 1 GB of float32."""


MAX_KNOWN = 1 << 16
"""Elements of an array that is kept for when an op runs again."""


@dataclass(frozen=True)
class Axes:
    """An array and the indices of its axes."""

    array: Array
    indices: tuple[str, ...] = ()

    def along(self, indices: Sequence[str]) -> Array:
        """Return a view with an axis for each of some indices, of size 1 where there is none."""
        if self.indices == indices:
            return self.array
        order = [self.indices.index(each) for each in indices if each in self.indices]
        moved = self.array.transpose(order)
        return moved[tuple(slice(None) if each in self.indices else None for each in indices)]


@dataclass(frozen=True)
class StridedView:
    """Where elements at sums of multiples of indices are: the first, and how each index moves."""

    origin: Sequence[int]
    steps: Sequence[tuple[str, int, int]]
    """An index, an axis, and by how much that index moves along it."""

    sizes: Mapping[str, int]
    padding: Sequence[tuple[int, int]]
    """What has to be read before and behind each axis; none where it is nothing."""

    @cached_property
    def slices(self) -> tuple[slice | int | EllipsisType, ...] | None:
        """The slice of each axis where one index walks it, and walks no other; else None."""
        axes = [axis for _, axis, _ in self.steps]
        distinct = len({*axes}) == len(axes) == len(self.sizes)
        if not distinct or not all(step for _, _, step in self.steps):
            return None
        parts: list[slice | int] = list(self.origin)
        for name, axis, step in self.steps:
            first = self.origin[axis]
            end = first + step * self.sizes[name]
            parts[axis] = slice(first, end if end >= 0 else None, step)
        return (*parts, ...)

    def view(self, array: Array) -> Axes:
        """View the elements of an array, which is padded."""
        if self.slices is not None:
            return Axes(array[self.slices], tuple(self.sizes))
        moves = dict.fromkeys(self.sizes, 0)
        for name, axis, step in self.steps:
            moves[name] += step * array.strides[axis]
        start = array[tuple(slice(each, None) for each in self.origin)]
        return Axes(strided(start, list(self.sizes.values()), list(moves.values())), tuple(moves))


@dataclass(frozen=True)
class Known:
    """What is known of an instance before its arrays are; of expressions, by identity."""

    dtypes: dict[ExpressionType, np.dtype[np.generic]] = field(
        default_factory=dict[ExpressionType, np.dtype[np.generic]]
    )
    places: dict[int, StridedView | None] = field(default_factory=dict[int, StridedView | None])
    values: dict[int, Axes | None] = field(default_factory=dict[int, Axes | None])
    """Of what depends on indices alone; None of what reads elements, or is large."""


@lru_cache(maxsize=4096)
def known_of(instance: Instance) -> Known:
    """Return what is known of an instance by now."""
    return Known()


def joined(*parts: Axes) -> tuple[str, ...]:
    """Return the indices that some arrays depend on together."""
    return tuple(dict.fromkeys(index for part in parts for index in part.indices))


def applied(function: Callable[..., Array], *parts: Axes) -> Axes:
    """Apply a function of arrays that broadcast."""
    indices = joined(*parts)
    return Axes(function(*(part.along(indices) for part in parts)), indices)


def evaluate(
    instance: Instance, inputs: Mapping[str, Array], functions: Functions | None = None
) -> list[Array]:
    """Compute the outputs of an instance from arrays by the names of its inputs.

    `functions` are those that arrays of other numbers have in the place of `special_functions`.
    Raises Misfit where an intermediate array would be too large for this way to compute it.
    """
    arrays = dict(inputs)
    with np.errstate(all="ignore"):
        for step in instance.steps:
            _run(instance, step, arrays, functions or {})
    return [arrays[name] for name in instance.program.outputs]


def _run(
    instance: Instance, step: EquationGroup, arrays: dict[str, Array], functions: Functions
) -> None:
    if step.along is None:
        (equation,) = step.equations
        evaluator = Evaluator(instance, equation, arrays, functions=functions)
        arrays[equation.definition.tensor] = evaluator.result()
        return
    for equation in step.equations:
        name = equation.definition.tensor
        arrays[name] = np.zeros(equation.shape, _stored(instance.tensors[name].element))
    count = step.equations[0].extents[step.along]
    for position in reversed(range(count)) if step.backward else range(count):
        for equation in step.equations:
            evaluator = Evaluator(instance, equation, arrays, {step.along: position}, functions)
            axis = equation.indices.index(step.along)
            target = np.moveaxis(arrays[equation.definition.tensor], axis, 0)
            target[position] = evaluator.result()


@cache
def _stored(element: Attribute) -> np.dtype[np.generic]:
    return np.dtype(dtype_name(element))


def evaluate_elements(
    instance: Instance,
    operands: Sequence[Array],
    functions: Functions | None = None,
) -> Array:
    """Compute an equation of single elements on all of some arrays, which broadcast.

    The result has the dtype that it is computed in.
    """
    (equation,) = instance.steps[0].equations
    arrays = dict(zip(instance.program.inputs, operands, strict=True))
    evaluator = Evaluator(instance, equation, arrays, functions=functions or {})
    return evaluator.value(equation.definition.value).array


@dataclass
class Evaluator:
    """Evaluates the expressions of one equation; `fixed` indices have one value."""

    instance: Instance
    equation: Equation
    arrays: Mapping[str, Array]
    fixed: Mapping[str, int] = field(default_factory=dict[str, int])
    functions: Functions = field(default_factory=dict[str, Callable[..., Array]])
    """Functions that arrays of other numbers have in the place of those of `special_functions`."""

    @cached_property
    def known(self) -> Known:
        """What is known of the instance."""
        return known_of(self.instance)

    def function(self, name: str) -> Callable[..., Array]:
        """Return what computes a function of arrays."""
        return self.functions[name] if name in self.functions else numpy_function(name)

    def result(self) -> Array:
        """Return what the equation defines, without the axes of fixed indices."""
        definition = self.equation.definition
        indices = [each for each in self.equation.indices if each not in self.fixed]
        shape = [self.equation.extents[each] for each in indices]
        self.require_room(indices)
        value = self.value(definition.value).along(indices)
        stored = _stored(self.instance.tensors[definition.tensor].element)
        if self.moves and list(value.shape) == shape:
            return value.astype(stored, copy=False)
        return np.broadcast_to(value, shape).astype(stored)

    @cached_property
    def moves(self) -> bool:
        """Whether the equation computes nothing: elements are read, and go elsewhere."""
        return isinstance(self.equation.definition.value, Access)

    # Types.

    def dtype(self, type: ExpressionType) -> np.dtype[np.generic]:
        """Return the dtype that a type is computed in."""
        known = self.known.dtypes
        if type not in known:
            element = i64 if type is Weak.INT else self.instance.typing.strong(type)
            known[type] = np.dtype(np.float32) if element == f16 else _stored(element)
        return known[type]

    def cast(self, node: Expression, type: ExpressionType) -> Axes:
        """Evaluate an expression in the dtype that a type is computed in."""
        value = self.value(node)
        return Axes(value.array.astype(self.dtype(type), copy=False), value.indices)

    def type(self, node: Expression) -> ExpressionType:
        return self.instance.typing.of(node)

    # Expressions.

    def value(self, node: Expression) -> Axes:
        """Evaluate an expression at every point; once, if it depends on indices alone."""
        if self.fixed or self.functions:
            return self.found_value(node)
        known = self.known.values
        found = known.get(id(node))
        if found is None:
            found = self.found_value(node)
            if id(node) not in known:
                reads = any(isinstance(each, Access) for each in walk(node))
                known[id(node)] = None if reads or found.array.size > MAX_KNOWN else found
        return found

    def found_value(self, node: Expression) -> Axes:
        """Evaluate what `value` returns."""
        match node:
            case Name() if node.name in self.fixed:
                return Axes(np.asarray(self.fixed[node.name]))
            case Name() if node.name in self.equation.extents:
                return Axes(np.arange(self.equation.extents[node.name]), (node.name,))
            case Access():
                return self.access(node)
            case Unary():
                return applied(
                    self.function(PREFIXES[node.operator].numpy), self.value(node.operand)
                )
            case Binary():
                return self.binary(node)
            case Conditional():
                type = self.type(node)
                parts = self.cast(node.yes, type), self.cast(node.no, type)
                return applied(np.where, self.value(node.condition), *parts)
            case Call():
                return self.call(node)
            case Reduction():
                return self.reduction(node)
            case _:
                number = self.numbers.value(node)
                return Axes(np.asarray(number, self.dtype(self.type(node))))

    def binary(self, node: Binary) -> Axes:
        type = self.instance.typing.computed(node)
        lhs, power = self.cast(node.lhs, type), small_power(node)
        if power is not None:
            return reduce(lambda one, other: applied(np.multiply, one, other), [lhs] * power)
        return applied(
            self.function(OPERATORS[node.operator].numpy), lhs, self.cast(node.rhs, type)
        )

    def call(self, node: Call) -> Axes:
        type = self.type(node)
        if node.function in CONVERTS:
            value = self.value(node.arguments[0])
            name = dtype_name(self.instance.typing.strong(type))
            rounded = self.function("converted")(value.array, name)
            return Axes(rounded.astype(self.dtype(type), copy=False), value.indices)
        type = self.instance.typing.computed(node)
        parts = (self.cast(each, type) for each in node.arguments)
        return applied(self.function(function_of(node.function).numpy), *parts)

    # Elements.

    def access(self, node: Access, outside: float = 0) -> Axes:
        """Read elements; outside of the tensor `else`, or a number."""
        array = self.arrays[node.tensor]
        if array.dtype == np.float16 and not self.moves:
            array = array.astype(np.float32)
        if not node.subscripts:
            return Axes(array)  # one element, or those of an elementwise op, which broadcast
        names = [each.name if isinstance(each, Name) else "" for each in node.subscripts]
        extents = [self.extent(name) for name in names]
        if list(array.shape) == extents and len({*names}) == len(names):
            return Axes(array, tuple(names))
        view = self.view(node, array, outside)
        if view is not None:
            return view
        subscripts = self.subscripts(node)
        indices = joined(*subscripts)
        self.require_room(indices)
        found = Axes(_taken(array, subscripts, indices), indices)
        inside = self.bounds(node, subscripts)
        if inside is None:
            return found
        otherwise = Axes(np.full((), outside, array.dtype))
        if node.otherwise is not None:
            otherwise = self.cast(node.otherwise, self.type(node))
        return applied(np.where, inside, found, otherwise)

    def view(self, node: Access, array: Array, outside: float) -> Axes | None:
        """View elements at sums of multiples of indices, through padding; None of all others."""
        place = self.place(node, array.shape)
        if place is None:
            return None
        if place.padding:
            padded = self.padded(node, array, place.padding, outside)
            if padded is None:
                return None
            array = padded
        return place.view(array)

    def place(self, node: Access, shape: Sequence[int]) -> StridedView | None:
        """Return where an access reads that is sums of multiples of indices; None of all others."""
        if self.fixed:
            return self.found_place(node, shape)
        known = self.known.places
        if id(node) not in known:
            known[id(node)] = self.found_place(node, shape)
        return known[id(node)]

    def found_place(self, node: Access, shape: Sequence[int]) -> StridedView | None:
        """Find what `place` returns."""
        loops = {name: n for name, n in self.equation.extents.items() if name not in self.fixed}
        origin, padding = list[int](), list[tuple[int, int]]()
        steps = list[tuple[str, int, int]]()
        for axis, subscript in enumerate(node.subscripts):
            form = None if isinstance(subscript, Wildcard) else linear(subscript, loops.keys())
            if form is None or not all(loops[name] for name in form.terms):
                return None
            first = self.numbers.integer(form.constant)
            own = [(name, axis, self.numbers.integer(each)) for name, each in form.terms.items()]
            reach = [step * (loops[name] - 1) for name, _, step in own]
            before = max(0, -first - sum(each for each in reach if each < 0))
            last = first + sum(each for each in reach if each > 0)
            padding.append((before, max(0, last - shape[axis] + 1)))
            origin.append(first + before)
            steps += own
        used = {name: loops[name] for name, _, _ in steps}
        return StridedView(origin, steps, used, padding if any(map(any, padding)) else ())

    def padded(
        self, node: Access, array: Array, padding: Sequence[tuple[int, int]], outside: float
    ) -> Array | None:
        """Surround an array by what is read outside; None if that is computed, or too much."""
        sizes = zip(array.shape, padding, strict=True)
        most = inf if self.moves else MAX_PADDED * array.size + 4096
        if prod(size + sum(added) for size, added in sizes) > most:
            return None
        try:
            fill = outside if node.otherwise is None else self.numbers.value(node.otherwise)
        except ScalarError:
            return None
        return np.pad(array, padding, constant_values=np.asarray(fill, array.dtype))

    @cached_property
    def numbers(self) -> Numbers:
        """What numbers expressions stand for; fixed indices have one."""
        numbers = self.instance.numbers(self.equation)
        return Numbers(numbers.code, numbers.parameters, numbers.size, self.fixed)

    def extent(self, name: str) -> int:
        return -1 if name in self.fixed else self.equation.extents.get(name, -1)

    def subscripts(self, node: Access) -> list[Axes]:
        return [self.value(each) for each in node.subscripts if not isinstance(each, Wildcard)]

    def bounds(self, node: Access, subscripts: Sequence[Axes]) -> Axes | None:
        """Return where an access is inside of its tensor; None where it is everywhere."""
        conditions = [
            Axes(_within(each.array, size), each.indices)
            for each, size in zip(subscripts, self.arrays[node.tensor].shape, strict=True)
        ]
        conditions = [each for each in conditions if not np.all(each.array)]
        return _all(conditions)

    def inside(self, node: Expression) -> Axes | None:
        """Return at which points an expression reads inside of tensors; None for all points."""
        match node:
            case Reduction():
                return None  # which does not count such points itself
            case Access() if node.otherwise is not None:
                return None
            case Access():
                nested = [
                    found
                    for each in node.subscripts
                    if not isinstance(each, Wildcard) and (found := self.inside(each)) is not None
                ]
                bounds = self.bounds(node, self.subscripts(node))
                return _all([*nested, *([] if bounds is None else [bounds])])
            case Conditional():
                return self.inside_choice(node)
            case _:
                parts = [self.inside(each) for each in operands(node)]
                return _all([each for each in parts if each is not None])

    def inside_choice(self, node: Conditional) -> Axes | None:
        always = Axes(np.asarray(True))
        branches = [self.inside(each) or always for each in (node.yes, node.no)]
        chosen = applied(np.where, self.value(node.condition), *branches)
        condition = self.inside(node.condition)
        return _all([chosen, *([] if condition is None else [condition])])

    # Reductions.

    def reduction(self, node: Reduction) -> Axes:
        factors = _factors(node.term)
        if node.kind == "sum" and node.condition is None and len(factors) > 1:
            contracted = self.contraction(node, factors)
            if contracted is not None:
                return contracted
        type = self.type(node)
        neutral = _neutral(node.kind, self.dtype(type))
        reduced = [each.index for each in named_ranges(node.ranges)]
        if _reads_alone(node.term) and self.arrays[node.term.tensor].dtype == self.dtype(type):
            term, conditions = self.access(node.term, neutral), list[Axes | None]()
        else:
            term, conditions = self.cast(node.term, type), [self.inside(node.term)]
        if node.condition is not None:
            conditions.append(self.value(node.condition))
        counts = _all([each for each in conditions if each is not None])
        if counts is not None:
            term = applied(np.where, counts, term, Axes(np.asarray(neutral)))
        missing = [each for each in reduced if each not in term.indices]
        indices = (*term.indices, *missing)
        self.require_room(indices)
        array = term.along(indices)
        shape = [self.equation.extents[each] for each in indices]
        axes = tuple(indices.index(each) for each in reduced)
        left = tuple(each for each in indices if each not in reduced)
        whole = array if list(array.shape) == shape else np.broadcast_to(array, shape)
        points = prod(whole.shape[axis] for axis in axes)
        windows = counts is None and _is_window(node.term)
        windows = windows and 0 < points <= min(SMALL_WINDOW, whole.size // points)
        return Axes((_point_by_point if windows else _reduced)(node.kind, whole, axes), left)

    def contraction(self, node: Reduction, factors: Sequence[Expression]) -> Axes | None:
        """Contract a product: a factor that reads outside is 0; None where it is not so simple."""
        type = self.type(node)
        if self.dtype(type) == np.bool_:
            return None
        parts = [self.factor(each, type) for each in factors]
        while len(parts) > 2:  # those of the fewest elements first
            parts.sort(key=lambda part: part.array.size, reverse=True)
            parts.append(applied(np.multiply, parts.pop(), parts.pop()))
        names = joined(*parts)
        reduced = [each.index for each in named_ranges(node.ranges)]
        if any(each not in names for each in reduced):
            return None
        # As in the result: contracted in another order it would be copied into this one.
        order = dict.fromkeys((*self.equation.indices, *self.equation.extents))
        left = [each for each in order if each in names and each not in reduced]
        self.require_room(left)
        lhs, rhs = (part.along((*left, *reduced)) for part in parts)
        found = contract(lhs, rhs, range(len(left), len(left) + len(reduced)), elements)
        return Axes(found.reshape(found.shape[: len(left)]), tuple(left))

    def factor(self, node: Expression, type: ExpressionType) -> Axes:
        """Evaluate a factor of a sum of products in the type of the sum; outside it is 0."""
        if _reads_alone(node):
            value = self.access(node, 0)
            return Axes(value.array.astype(self.dtype(type), copy=False), value.indices)
        inside, value = self.inside(node), self.cast(node, type)
        if inside is None:
            return value
        return applied(np.where, inside, value, Axes(np.zeros((), value.array.dtype)))

    def require_room(self, indices: Sequence[str]) -> None:
        """Refuse to make an array that is too large."""
        count = prod(self.equation.extents[each] for each in indices)
        if count > MAX_POINTS:
            message = f"expected at most {MAX_POINTS} points at a time in NumPy, got {count}"
            place = self.instance.program.code.place(self.equation.definition.offset)
            raise Misfit(message, "compile it, or run it on smaller tensors", str(place))


def _taken(array: Array, subscripts: Sequence[Axes], indices: Sequence[str]) -> Array:
    """Return the elements at some places, those outside of an axis at its ends."""
    kept = [
        Axes(np.clip(each.array, 0, size - 1), each.indices)
        for each, size in zip(subscripts, array.shape, strict=True)
    ]
    if [each.indices for each in kept] != [(each,) for each in indices]:
        places: list[NDArray[np.int64]] = [each.along(indices).astype(np.int64) for each in kept]
        return array[tuple(places)]
    found = array
    for axis, each in enumerate(kept):  # an index an axis: rows are copied, not elements
        found = found.take(each.array.astype(np.int64), axis)
    return found


def _within(place: Array, size: int) -> Array:
    return np.logical_and(np.greater_equal(place, 0), np.less(place, size))


def _factors(node: Expression) -> list[Expression]:
    """Return the factors of a product, in their order; a sign is the factor -1."""
    if isinstance(node, Binary) and node.operator == "*":
        return [*_factors(node.lhs), *_factors(node.rhs)]
    if isinstance(node, Unary) and node.operator == "-":
        return [Number(node.offset, -1), *_factors(node.operand)]
    return [node]


def _all(conditions: Sequence[Axes]) -> Axes | None:
    if not conditions:
        return None
    return reduce(lambda one, other: applied(np.logical_and, one, other), conditions)


def _neutral(kind: str, dtype: np.dtype[np.generic]) -> bool | int | float:
    if kind in ("any", "all"):
        return kind == "all"
    if kind in ("sum", "prod"):
        return int(kind == "prod")
    if np.issubdtype(dtype, np.floating):
        return -np.inf if kind == "max" else np.inf
    limits = np.iinfo(dtype.name)
    return int(limits.min if kind == "max" else limits.max)


def _reads_alone(node: Expression) -> TypeGuard[Access]:
    """Whether an expression is an element at a place that no other element says."""
    if not isinstance(node, Access) or node.otherwise is not None:
        return False
    return len(accesses(node)) == 1


SMALL_WINDOW = 64
"""Windows of up to so many elements, and no more than results, are walked point by point: whole
results at a time."""


def _is_window(node: Expression) -> bool:
    return _reads_alone(node) and not all(isinstance(each, Name) for each in node.subscripts)


def _point_by_point(kind: str, array: Array, axes: tuple[int, ...]) -> Array:
    """Reduce windows, which overlap in memory."""
    combine = np.add if kind == "sum" else _REDUCTIONS[kind]
    others = [axis for axis in range(array.ndim) if axis not in axes]
    moved = array.transpose([*others, *axes])
    points = product(*(range(array.shape[axis]) for axis in axes))
    wide = total_dtype(array.dtype) if kind == "sum" else array.dtype
    parts = (moved[(..., *point)].astype(wide, copy=False) for point in points)
    return reduce(combine, parts).astype(array.dtype, copy=False)


def _reduced(kind: str, array: Array, axes: tuple[int, ...]) -> Array:
    if kind == "sum":
        return sum_along(array, axes, keep_dims=False)
    if 0 in array.shape:  # some maximum of nothing, which NumPy refuses
        shape = [size for axis, size in enumerate(array.shape) if axis not in axes]
        return np.full(shape, _neutral(kind, array.dtype), array.dtype)
    return _REDUCTIONS[kind].reduce(array, axis=axes, dtype=array.dtype)


_REDUCTIONS: Mapping[str, np.ufunc] = {
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "any": np.logical_or,
    "all": np.logical_and,
}


@cache
def numpy_function(name: str) -> Callable[..., Array]:
    """Return a function of `special_functions`, or of NumPy, by its name."""
    function: Callable[..., Array] | None = getattr(special_functions, name, None)
    return getattr(np, name) if function is None else function
