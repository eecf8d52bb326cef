"""Ops that are defined by equations between the elements of tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from math import copysign
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import AnyFloat, FloatAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.dialect.open_size import (
    OpenSize,
    SizeName,
    as_parameters,
    parameter_name,
)
from gawee_dialect.dialect.operation import InferredOp
from gawee_dialect.dialect.types import computed_type, dtype_name, element_type, tensor_shape
from gawee_dialect.hints import isa

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array
    from gawee_dialect.equations.instance import Instance


IN_F64 = "gawee.in_f64"
"""On an op whose conversions to f32 are to f64: a check computes so what roundings explain."""


class EquationOp(IRDLOperation, ABC):
    """An op whose meaning is its equations, in index notation.

    Operands have in them any names, in their order. What the op computes, how it lowers, what it
    costs and what is proved of it follow.
    """

    @abstractmethod
    def meaning(self) -> Instance:
        """Return the equations for this op; raises CheckFailure where they do not fit."""

    def views(self) -> Sequence[Sequence[int]]:
        """Return the shapes that the equations read operands in: their own, but for split axes.

        Results are reshaped from the equations' to the op's.
        """
        (groups, axes), views = self.split_axes(), list[Sequence[int]]()
        for value, axis in zip(self.operands, axes, strict=True):
            shape = tensor_shape(value)
            if axis is not None:
                shape = (*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :])
            views.append(shape)
        return views

    def split_axes(self) -> tuple[int, Sequence[int | None]]:
        """Return how many groups equations split axes into, and the axis of each operand, if any.

        The results' axis is that of the first operand.
        """
        return 1, [None] * len(self.operands)

    def evaluate_all(
        self, operands: Sequence[Array], functions: Mapping[str, Callable[..., Array]]
    ) -> Sequence[Array]:
        """Compute the results from an array an operand.

        `functions` are those that other numbers have in the place of `special_functions`.
        Raises InterpretationError where NumPy would need too much memory for it.
        """
        from gawee_dialect.equations.evaluate import evaluate
        from gawee_dialect.equations.instance import Misfit

        meaning, shapes = self.meaning(), self.views()
        arrays = [array.reshape(shape) for array, shape in zip(operands, shapes, strict=True)]
        inputs = dict(zip(meaning.program.inputs, arrays, strict=True))
        try:
            made = evaluate(meaning, inputs, functions)
        except Misfit as misfit:
            raise InterpretationError(misfit.message) from misfit
        return [
            array.reshape(tensor_shape(result)).astype(dtype_name(element_type(result)), copy=False)
            for array, result in zip(made, self.results, strict=True)
        ]


_MEANINGS: WeakKeyDictionary[EquationOp, tuple[object, Instance]] = WeakKeyDictionary()
"""The last meaning of ops, and the types and properties that they had it with."""


class StatedOp(EquationOp, InferredOp, ABC):
    """An op of the dialect whose class says its equations.

    Elements are computed in the type that the operands' are computed in, and rounded once, at the
    end of the op, as PyTorch does on a CPU.
    """

    EQUATION: ClassVar[str | Mapping[str, str]]
    """The equations of every op of the class; without them a class says those of each op."""

    def equation(self) -> str:
        """Return the equations of this op."""
        assert isinstance(self.EQUATION, str)
        return self.EQUATION

    def parameters(self) -> Mapping[str, float]:
        """Return the numbers of the equations: the properties that are floats."""
        return {
            name: each.value.data
            for name, each in self.properties.items()
            if isa(each, FloatAttr[AnyFloat])
        }

    def numbers(self) -> tuple[tuple[str, float, float], ...]:
        """Return the parameters as a key: names, values and signs, since 0.0 equals -0.0."""
        return tuple((name, each, copysign(1, each)) for name, each in self.parameters().items())

    def meaning(self) -> Instance:
        """Return the equations for the operands' shapes and the types that these are computed in.

        It is looked up again only where the op has other types or properties than the last time.
        """
        types = [value.type for value in (*self.operands, *self.results)]
        key = (types, dict(self.properties))
        known = _MEANINGS.get(self)
        if known is None or known[0] != key:
            known = _MEANINGS[self] = key, self.found_meaning()
        return known[1]

    def found_meaning(self) -> Instance:
        """Find what `meaning` returns."""
        from gawee_dialect.equations.instance import Type, of_tensors

        types = tuple(
            Type(tuple(shape), self.computed(element_type(value)))
            for shape, value in zip(self.views(), self.operands, strict=True)
        )
        names = self._size_names()
        if not names:
            return of_tensors(self.equation(), types, self.numbers())
        with as_parameters():
            text = self.equation()
        used = [name for name in names if parameter_name(name) in text]
        declared = "".join(f"int {parameter_name(name)}; " for name in used)
        sizes = ((parameter_name(name), OpenSize.named(name), 1.0) for name in used)
        return of_tensors(declared + text, types, (*self.numbers(), *sizes))

    def _size_names(self) -> Sequence[SizeName]:
        """Return the names that open sizes of the results depend on, sorted."""
        shapes = [tensor_shape(value) for value in (*self.operands, *self.results)]
        sizes = (size for shape in shapes for size in shape if isinstance(size, OpenSize))
        return sorted({name for size in sizes for name in size.names})

    def computed(self, element: Attribute) -> Attribute:
        """Return the type that elements of a type are computed in."""
        return computed_type(element)


class DefinedOp(StatedOp, EvaluatedOp, ABC):
    """An op with one result whose class says its equations."""

    def evaluate(self, *operands: Array) -> Array:
        (result,) = self.evaluate_all(operands, {})
        return result


def index_names(count: int) -> list[str]:
    """Return names of indices, one an axis."""
    return [f"i{axis}" for axis in range(count)]
