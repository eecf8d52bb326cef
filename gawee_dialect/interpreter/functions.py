"""The base of our sets of op implementations."""

from xdsl.interpreter import InterpreterFunctions
from xdsl.ir import Operation


class OpFunctions(InterpreterFunctions):
    """Implementations of a family of ops, which also says which ops they are."""

    @classmethod
    def op_types(cls) -> frozenset[type[Operation]]:
        """Return the op classes that this set implements."""
        return frozenset(op_type for op_type, _ in cls._impls())
