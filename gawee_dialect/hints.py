"""Whether a value has a type that is written as a hint; for attributes, many times a pass.

xDSL's `isa` builds the constraint of a generic attribute anew for every value it looks at, which
takes a hundred times as long as looking. Here a hint is understood once.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.utils.hints import isa as isa
else:
    from types import UnionType
    from typing import Union, get_args, get_origin

    from xdsl.ir import Attribute, ParametrizedAttribute
    from xdsl.irdl import GenericData, VerificationContext, irdl_to_attr_constraint
    from xdsl.utils.exceptions import VerifyException
    from xdsl.utils.hints import isa as general_isa

    _tests: dict[object, Any] = {}

    def isa(value: object, hint: object) -> bool:
        """Return whether a value has a type; the hints are those that xDSL's `isa` knows."""
        test = _tests.get(hint)
        if test is None:
            test = _tests[hint] = _test_of(hint)
        return isinstance(value, test) if type(test) is tuple else test(value)

    def _test_of(hint):
        """Return the classes that a hint names, a function where they don't say it all."""
        classes = _classes(hint)
        if classes:
            return classes
        origin = get_origin(hint)
        if origin in (Union, UnionType):
            arguments = get_args(hint)
            return lambda value: any(isa(value, argument) for argument in arguments)
        if isinstance(origin, type) and issubclass(origin, GenericData | ParametrizedAttribute):
            return _attribute_test(origin, irdl_to_attr_constraint(hint))
        return lambda value: general_isa(value, hint)

    def _classes(hint):
        origin = get_origin(hint)
        if origin is None:
            return (hint,) if isinstance(hint, type) else ()
        arguments = get_args(hint)
        if origin in (Union, UnionType):
            parts = [_classes(argument) for argument in arguments]
            return tuple(each for part in parts for each in part) if all(parts) else ()
        free = all(argument is Attribute for argument in arguments)
        is_attribute = isinstance(origin, type) and issubclass(origin, ParametrizedAttribute)
        return (origin,) if is_attribute and free else ()

    def _attribute_test(origin, constraint):
        def test(value):
            if not isinstance(value, origin):
                return False
            try:
                constraint.verify(value, VerificationContext())
            except VerifyException:
                return False
            return True

        return test
