"""Whether a value has a type that is written as a hint; for attributes, many times a pass.

xDSL's `isa` builds the constraint of a generic attribute anew for every value it looks at, which
takes a hundred times as long as looking. Here a hint is understood once.
"""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import TYPE_CHECKING, TypeGuard, TypeVar, Union, get_args, get_origin

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import GenericData, VerificationContext, irdl_to_attr_constraint
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa as general_isa

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")

Classes = tuple[type, ...]
Test = Callable[[object], bool]

_tests: dict[object, Classes | Test] = {}


def isa(value: object, hint: TypeForm[T]) -> TypeGuard[T]:
    """Return whether a value has a type; the hints are those that xDSL's `isa` takes."""
    test = _tests.get(hint)
    if test is None:
        test = _tests[hint] = _test_of(hint)
    return isinstance(value, test) if isinstance(test, tuple) else test(value)


def _test_of(hint: TypeForm[object]) -> Classes | Test:
    """Return the classes that a hint names, a function where they don't say it all."""
    classes = _classes(hint)
    if classes:
        return classes
    if _is_union(hint):
        arguments: tuple[TypeForm[object], ...] = get_args(hint)
        return lambda value: any(isa(value, argument) for argument in arguments)
    if _is_attribute(hint):
        return _attribute_test(hint)
    if _class_of(hint) is list:
        (element,) = get_args(hint)
        return lambda value: _is_list(value) and all([isa(each, element) for each in value])
    return lambda value: general_isa(value, hint)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _is_union(hint: object) -> bool:
    return get_origin(hint) in (Union, UnionType)


def _class_of(hint: object) -> type | None:
    """Return the class that a generic one is of: `list` of `list[int]`."""
    origin = get_origin(hint)
    return origin if isinstance(origin, type) else None


def _is_attribute(hint: object) -> TypeGuard[TypeForm[Attribute]]:
    origin = _class_of(hint)
    return origin is not None and issubclass(origin, GenericData | ParametrizedAttribute)


def _classes(hint: object) -> Classes:
    arguments: tuple[object, ...] = get_args(hint)
    if _is_union(hint):
        parts = [_classes(argument) for argument in arguments]
        return tuple(each for part in parts for each in part) if all(parts) else ()
    if get_origin(hint) is None:
        return (hint,) if isinstance(hint, type) else ()
    origin = _class_of(hint)
    free = all(argument is Attribute for argument in arguments)
    return (origin,) if origin is not None and free and _has_parameters(origin) else ()


def _has_parameters(origin: type) -> bool:
    return issubclass(origin, ParametrizedAttribute)


def _attribute_test(hint: TypeForm[Attribute]) -> Test:
    origin, constraint = _class_of(hint), irdl_to_attr_constraint(hint)

    def test(value: object) -> bool:
        if origin is None or not isinstance(value, origin) or not isinstance(value, Attribute):
            return False
        try:
            constraint.verify(value, VerificationContext())
        except VerifyException:
            return False
        return True

    return test
