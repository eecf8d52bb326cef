"""The op mappings of one vocabulary: which function turns a node into ops of the dialect.

    ATEN = Registry("gawee_dialect.frontends.npu_ir.aten", ("pointwise", ...))

    @ATEN.register("aten.mul.Tensor", "aten.mul.Scalar")
    def mul(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
        return emit(MulOp(*promoted(emit, self, other)))

The function's parameters after the first are the op's schema: names, order, kinds and defaults.
`schema.py` fills them from a node. What it returns are the node's outputs.
"""

import inspect
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, is_dataclass
from enum import Enum, auto
from functools import cached_property
from importlib import import_module
from typing import Annotated, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa


class Refusal(Exception):
    """What is wrong with one node; raised where it is found, reported with the node's name.

    `offset` is where it is in the text, where that is nearer than the node.
    """

    def __init__(self, message: str, hint: str | None = None, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.offset = offset


class UnknownElements(Refusal):
    """A node needs the elements of a tensor when the graph is read, and they are not known then."""


# Arguments of a node by the names of its schema, which a mapping function's signature declares.
#
# The annotations say where an argument comes from:
#
# | annotation                    | schema      | from                                          |
# |-------------------------------|-------------|-----------------------------------------------|
# | `SSAValue`                    | `Tensor`    | the next input                                |
# | `SSAValue \| None`            | `Tensor?`   | the next input, None where there is none      |
# | `Operand`                     | both        | the attribute of the name, else the next input |
# | `Sequence[SSAValue]`          | `Tensor[]`  | as many inputs as the node says               |
# | `Sequence[SSAValue \| None]`  | `Tensor?[]` | the same, with None where the node says so    |
# | `Annotated[..., KNOWN]`       | its kind    | the attribute, else the next input's elements |
# | a dataclass                   |             | the attributes that its fields name           |
# | anything else                 | its kind    | the attribute of the name, else the default   |
#
# A parameter without an annotation is a tensor.


Number: TypeAlias = bool | int | float
Operand: TypeAlias = SSAValue | bool | int | float
"""A tensor, or a number where the model has one: `x / 4`."""
Ints: TypeAlias = Sequence[int]
Floats: TypeAlias = Sequence[float]
Tensors: TypeAlias = Sequence[SSAValue]
Indices: TypeAlias = Sequence[SSAValue | None]
Array: TypeAlias = NDArray[np.generic]

KNOWN = "known"
"""Marks an input whose elements must be known when the graph is read: a shape, some axes."""
KnownInts: TypeAlias = Annotated[Sequence[int], KNOWN]
KnownIntsOrNone: TypeAlias = Annotated[Sequence[int] | None, KNOWN]
KnownFloatsOrNone: TypeAlias = Annotated[Sequence[float] | None, KNOWN]
KnownNumberOrNone: TypeAlias = Annotated[bool | int | float | None, KNOWN]
KnownArray: TypeAlias = Annotated[Array, KNOWN]
KnownArrayOrNone: TypeAlias = Annotated[Array | None, KNOWN]


@dataclass(frozen=True)
class Known:
    """An input with known elements; `tensor` makes what ops read."""

    elements: Callable[[], Array]
    tensor: Callable[[], SSAValue]


Input: TypeAlias = SSAValue | Known | None
"""What a node reads; None where it leaves an input out."""


class Kind(Enum):
    """Where an argument comes from."""

    TENSOR = auto()
    OPTIONAL_TENSOR = auto()
    OPERAND = auto()
    TENSORS = auto()
    OPTIONAL_TENSORS = auto()
    KNOWN = auto()
    VALUE = auto()
    GROUP = auto()


_KINDS: Sequence[tuple[object, Kind]] = (
    (SSAValue, Kind.TENSOR),
    (SSAValue | None, Kind.OPTIONAL_TENSOR),
    (Operand, Kind.OPERAND),
    (Operand | None, Kind.OPERAND),
    (Tensors, Kind.TENSORS),
    (Indices, Kind.OPTIONAL_TENSORS),
)


@dataclass(frozen=True)
class Parameter:
    """One argument of a schema."""

    name: str
    kind: Kind
    annotation: object
    default: object
    group: "Sequence[Parameter]" = ()
    """The fields of a dataclass, which several ops take as one parameter."""

    @property
    def required(self) -> bool:
        """Whether the schema has no default for it."""
        return self.default is inspect.Parameter.empty


def parameters_of(function: Callable[..., object]) -> Sequence[Parameter]:
    """Return the schema that a mapping function declares: its parameters after the first."""
    hints = get_type_hints(function, include_extras=True)
    declared = list(inspect.signature(function).parameters.values())[1:]
    found: list[Parameter] = []
    for each in declared:
        annotation: object = hints.get(each.name, SSAValue)
        kind = next((kind for hint, kind in _KINDS if hint == annotation), Kind.VALUE)
        group: Sequence[Parameter] = ()
        if get_origin(annotation) is Annotated:
            annotation, kind = get_args(annotation)[0], Kind.KNOWN
        elif kind is Kind.VALUE and is_dataclass(annotation):
            kind, group = Kind.GROUP, _fields_of(annotation)
        found.append(Parameter(each.name, kind, annotation, each.default, group))
    return found


def _fields_of(group: object) -> Sequence[Parameter]:
    assert isinstance(group, type)
    hints, declared = get_type_hints(group), inspect.signature(group).parameters.values()
    return [Parameter(each.name, Kind.VALUE, hints[each.name], each.default) for each in declared]


def bind(
    parameters: Sequence[Parameter],
    inputs: Sequence[Input],
    attributes: Mapping[str, object],
    *,
    list_sizes: Sequence[int] = (),
    none_masks: Sequence[Sequence[bool]] = (),
) -> dict[str, object]:
    """Return a node's arguments by name; raises Refusal where they do not fit the schema.

    An input that is None is one that the node leaves out. `list_sizes` say how many inputs each
    list of tensors takes, all that are left where they say nothing; `none_masks` say which places
    of each list of optional tensors have none.
    """
    return _Binder(inputs, attributes, list_sizes, none_masks).bind(parameters)


class _Binder:
    def __init__(
        self,
        inputs: Sequence[Input],
        attributes: Mapping[str, object],
        list_sizes: Sequence[int],
        none_masks: Sequence[Sequence[bool]],
    ) -> None:
        self.inputs = list(inputs)
        self.sizes = iter(list_sizes)
        self.masks = iter(none_masks)
        self.attributes = attributes

    def bind(self, parameters: Sequence[Parameter]) -> dict[str, object]:
        count = len(self.inputs)
        arguments = {each.name: self._argument(each) for each in parameters}
        if self.inputs:
            raise Refusal(
                f"expected {count - len(self.inputs)} tensors among its arguments, got {count}"
            )
        names = [each.name for one in parameters for each in one.group or (one,)]
        unknown = [name for name in self.attributes if name not in names]
        if unknown:
            known = ", ".join(names)
            raise Refusal(f"unknown argument '{unknown[0]}'; arguments: {known}")
        return arguments

    def _argument(self, parameter: Parameter) -> object:
        name = parameter.name
        match parameter.kind:
            case Kind.VALUE:
                return self._value(parameter)
            case Kind.GROUP:
                assert isinstance(parameter.annotation, type)
                return parameter.annotation(
                    **{each.name: self._value(each) for each in parameter.group}
                )
            case Kind.TENSORS | Kind.OPTIONAL_TENSORS:
                return self._tensors(parameter)
            case Kind.TENSOR | Kind.OPERAND | Kind.OPTIONAL_TENSOR:
                if self.inputs and name not in self.attributes:
                    return self._tensor(parameter)
                return self._value(parameter)
            case Kind.KNOWN:
                if self.inputs and name not in self.attributes:
                    return self._known(parameter)
                return self._value(parameter)

    def _tensor(self, parameter: Parameter) -> object:
        tensor = _as_tensor(self.inputs.pop(0))
        if tensor is None and parameter.required and parameter.kind is not Kind.OPTIONAL_TENSOR:
            raise Refusal(f"expected argument '{parameter.name}', got none")
        return tensor

    def _known(self, parameter: Parameter) -> object:
        given = self.inputs.pop(0)
        if given is None:
            return self._value(parameter)
        if isinstance(given, SSAValue):
            raise UnknownElements(
                f"expected argument '{parameter.name}' to be known when the graph is read, "
                "got a tensor that is computed"
            )
        if parameter.annotation in (Array, Array | None):
            return given.elements()
        elements = given.elements()
        single = elements.size == 1 and parameter.annotation in _NUMBERS
        return _fit(elements.item() if single else elements.tolist(), parameter)

    def _value(self, parameter: Parameter) -> object:
        name = parameter.name
        if name not in self.attributes:
            if parameter.kind is Kind.OPTIONAL_TENSOR and parameter.required:
                return None  # as files say it that have no nulls
            if parameter.required:
                raise Refusal(f"expected argument '{name}', got none")
            return parameter.default
        value = self.attributes[name]
        if parameter.kind is Kind.TENSOR:
            got = "none" if value is None else value_text(value)
            raise Refusal(f"expected argument '{name}' to be a tensor, got {got}")
        return _fit(value, parameter)

    def _tensors(self, parameter: Parameter) -> object:
        size = next(self.sizes, None)
        if size is None:
            # Without sizes a list has all tensors that are left: there is no other list.
            size = len(self.inputs)
        if size > len(self.inputs):
            raise Refusal(
                f"expected {size} tensors of argument '{parameter.name}', got {len(self.inputs)}"
            )
        taken = [_as_tensor(self.inputs.pop(0)) for _ in range(size)]
        if parameter.kind is Kind.TENSORS:
            if None in taken:
                raise Refusal(f"expected argument '{parameter.name}' to be tensors, got none")
            return taken
        return list(_with_nones(taken, next(self.masks, None), parameter.name))


def _as_tensor(given: Input) -> SSAValue | None:
    return given.tensor() if isinstance(given, Known) else given


def _with_nones(
    tensors: Sequence[SSAValue | None], mask: Sequence[bool] | None, name: str
) -> Iterator[SSAValue | None]:
    if mask is None:
        yield from tensors
        return
    if mask.count(False) != len(tensors):
        raise Refusal(
            f"expected {mask.count(False)} tensors of argument '{name}', got {len(tensors)}"
        )
    rest = iter(tensors)
    yield from (None if absent else next(rest) for absent in mask)


_NUMBERS = (bool, int, float, Number, Number | None, int | None, float | None, bool | None)


def _as_float(value: object) -> object:
    return float(value) if isinstance(value, int | float) else None


def _as_ints(value: object) -> object:
    if isinstance(value, int):
        return [value]
    return list(value) if isa(value, list[int] | tuple[int, ...]) else None


def _as_floats(value: object) -> object:
    if isinstance(value, int | float):
        return [float(value)]
    numbers = isa(value, list[int | float] | tuple[int | float, ...])
    return [float(each) for each in value] if numbers else None


def _as_is(*types: type) -> Callable[[object], object]:
    return lambda value: value if isinstance(value, types) else None


_FITS: Sequence[tuple[object, object, str, Callable[[object], object]]] = (
    (bool, bool | None, "a boolean", _as_is(bool)),
    (int, int | None, "an integer", _as_is(int)),
    (float, float | None, "a number", _as_float),
    (str, str | None, "a string", _as_is(str)),
    (Number, Number | None, "a number", _as_is(bool, int, float)),
    (Operand, Operand | None, "a tensor or a number", _as_is(bool, int, float)),
    (Ints, Ints | None, "integers", _as_ints),
    (Floats, Floats | None, "numbers", _as_floats),
)


def _fit(value: object, parameter: Parameter) -> object:
    """Return a value as a parameter's annotation has it; raises Refusal where it does not fit."""
    for annotation, optional, text, convert in _FITS:
        if parameter.annotation not in (annotation, optional):
            continue
        if value is None and parameter.annotation != annotation:
            return None
        fitting = convert(value)
        if fitting is None:
            got = value_text(value)
            raise Refusal(f"expected argument '{parameter.name}' to be {text}, got {got}")
        return fitting
    return value


def value_text(value: object) -> str:
    """Return a value as messages show it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


Result: TypeAlias = SSAValue | Sequence[SSAValue | None] | None
"""The outputs of a node: one, several (None for one that nothing reads), or none at all."""

Function = TypeVar("Function", bound=Callable[..., Result])


@dataclass(frozen=True)
class OpMapping:
    """How the nodes of one op become ops of the dialect."""

    name: str
    function: Callable[..., Result]
    limits: Sequence[str] = ()

    @cached_property
    def parameters(self) -> Sequence[Parameter]:
        """The op's schema, as the function declares it."""
        return parameters_of(self.function)


_undone: ContextVar[list[Callable[[], None]] | None] = ContextVar("undone", default=None)


@contextmanager
def registrations_undone() -> Generator[None]:
    """Forget what is registered inside a with block, apart from our own families, at its end."""
    undone: list[Callable[[], None]] = []
    token = _undone.set(undone)
    try:
        yield
    finally:
        _undone.reset(token)
        for undo in reversed(undone):
            undo()


class Registry:
    """Mappings by name; `families` are the files of `package` that register them."""

    def __init__(self, package: str, families: Sequence[str]) -> None:
        self.package = package
        self.families = families
        self._mappings: dict[str, OpMapping] = {}
        self._is_loaded = False

    def register(self, *names: str, limits: Sequence[str] = ()) -> Callable[[Function], Function]:
        """Register a function for ops by name; a later registration takes an earlier one's place.

        `limits` say what of an op is not supported, for the report of coverage.
        """

        def register(function: Function) -> Function:
            if function.__module__.startswith(f"{self.package}."):
                self._add(names, function, limits)
                return function
            self.load_families()  # theirs come first, so that a user's takes their place
            before = {name: self._mappings.get(name) for name in names}
            self._add(names, function, limits)
            undone = _undone.get()
            if undone is not None:
                undone.append(lambda: self._restore(before))
            return function

        return register

    def _add(
        self, names: Sequence[str], function: Callable[..., Result], limits: Sequence[str]
    ) -> None:
        for name in names:
            self._mappings[name] = OpMapping(name, function, limits)

    def _restore(self, mappings: Mapping[str, OpMapping | None]) -> None:
        for name, mapping in mappings.items():
            if mapping is None:
                del self._mappings[name]
            else:
                self._mappings[name] = mapping

    def find(self, *names: str) -> OpMapping | None:
        """Return what is registered for the first of some names that anything is registered for."""
        self.load_families()
        return next((self._mappings[name] for name in names if name in self._mappings), None)

    def __iter__(self) -> Iterator[OpMapping]:
        """Yield every mapping, in the order of names."""
        self.load_families()
        yield from (self._mappings[name] for name in sorted(self._mappings))

    def load_families(self) -> None:
        """Import the files that register ops, once."""
        if self._is_loaded:
            return
        for family in self.families:
            import_module(f"{self.package}.{family}")
        self._is_loaded = True  # not before: another thread would find only some
