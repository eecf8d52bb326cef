"""What every op of the dialect shares: one shape rule that its constructor and verifier both use."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, OpResult, ParsePropInAttrDict
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.types import AnyTensor, require_static, tensor_type


class InferredOp(IRDLOperation, ABC):
    """An op whose results are tensors with types that follow from operands and properties.

    All shapes are static. A subclass states the rule once, in a static method `shape_rule` on types
    and attributes that raises VerifyException where a constraint is broken. Its constructor calls the rule to make the results; `inferred_types` calls it on an
    existing op, for the verifier and for shape inference.
    """

    irdl_options = (ParsePropInAttrDict(),)

    @abstractmethod
    def inferred_types(self) -> Sequence[AnyTensor]:
        """Apply the op's shape rule to its own operands and properties; one type a result."""

    def verify_(self) -> None:
        for index, operand in enumerate(self.operands):
            require_static(f"operand #{index}", operand.type)
        for inferred, result in zip(self.inferred_types(), self.results, strict=True):
            declared = tensor_type(result)
            if inferred != declared:  # written out: the message prints two types
                raise VerifyException(f"expected result type '{inferred}', got '{declared}'")


class GaweeOp(InferredOp, ABC):
    """An op with one result; its shape rule is a static method `result_type`."""

    @abstractmethod
    def inferred_type(self) -> AnyTensor:
        """Apply the op's shape rule to its own operands and properties."""

    def inferred_types(self) -> Sequence[AnyTensor]:
        return (self.inferred_type(),)

    @property
    def output(self) -> OpResult:
        """The one result."""
        return self.results[0]


class CountedOp(IRDLOperation, ABC):
    """An op of a user's own that says itself how much arithmetic it is."""

    @abstractmethod
    def flops(self) -> int:
        """Count two for a multiply-add, one for any other arithmetic on an element."""


def optional_tensor_type(value: SSAValue | None) -> AnyTensor | None:
    """Return the type of an optional tensor operand, None where it is absent."""
    return None if value is None else tensor_type(value)
