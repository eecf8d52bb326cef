"""Sizes that are open as values of type index: what a run finds in the shapes of the arguments.

Types have forms while patterns run, as in the graph; `erase_forms` leaves `?` in their place.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from gawee_dialect.analysis.open_sizes import argument_shapes, open_functions, sizes_attribute
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import SIZE, SIZES
from gawee_dialect.dialect.graph.scan import is_branching
from gawee_dialect.dialect.open_size import (
    Digit,
    OpenSize,
    SizeName,
    digits_of,
    is_open,
    without_names,
)
from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.upstream.arith import index_constant

INDEX = IndexType()


@dataclass
class _Names:
    """The named sizes of a function, each read where one is first asked for."""

    function: FuncOp
    values: dict[SizeName, SSAValue] = field(default_factory=dict[SizeName, SSAValue])

    def value(self, name: SizeName) -> SSAValue:
        """Return a size; it is read again where what asked for it first is gone."""
        value = self.values.get(name)
        owner = None if value is None else value.owner
        if value is None or (isinstance(owner, Operation) and owner.parent is None):
            value = self.values[name] = read_name(self.function, name)
        return value


_names: ContextVar[_Names] = ContextVar("names")


@contextmanager
def named_values(module: ModuleOp) -> Generator[None]:
    """Read the named sizes at the beginning of the function that has some, for a with block.

    What the block leaves has `?` for sizes that are open. Raises GaweeError for several functions.
    """
    functions = list(open_functions(module))
    if not functions:
        yield
        return
    if len(functions) > 1:
        message = "expected one function of open sizes in a module, got a second one"
        raise GaweeError(Diagnostic.at(functions[1], message))
    (function,) = functions
    token = _names.set(_Names(function))
    try:
        yield
    finally:
        _names.reset(token)
    erase_forms(function)


def read_name(function: FuncOp, name: SizeName) -> SSAValue:
    """Read a name at the beginning of a function; raises GaweeError where no argument says it."""
    builder = Builder(InsertPoint.at_start(function.body.block))
    argument, axis, digit = _said(function, name)
    at = builder.insert(index_constant(axis)).result
    dim = tensor.DimOp.build(operands=[argument, at], result_types=[INDEX])
    value: SSAValue = builder.insert(dim).result
    if digit.rest:
        value = _arithmetic(builder, arith.SubiOp, value, digit.rest)
    if digit.modulus is not None:
        value = _arithmetic(builder, arith.RemUIOp, value, digit.modulus)
    if digit.factor != 1:
        value = _arithmetic(builder, arith.DivUIOp, value, digit.factor)
    assert isinstance(value.owner, Operation)
    value.owner.attributes[SIZE] = StringAttr(name.name)
    value.name_hint = name.name
    return value


def _said(function: FuncOp, name: SizeName) -> tuple[SSAValue, int, Digit]:
    """Return the argument and axis that say a name, and as which digit; the simplest one."""
    places = [
        (argument, axis, digit)
        for argument, shape in zip(function.args, argument_shapes(function), strict=True)
        for axis, size in enumerate(shape)
        for digit in (digits_of(size) if isinstance(size, OpenSize) else ())
        if digit.name == name
    ]
    if not places:
        raise GaweeError(Diagnostic.at(function, _unsaid(name)))
    return min(places, key=lambda place: _simplicity(place[2]))


def _simplicity(digit: Digit) -> tuple[int, int, int]:
    return digit.modulus or 0, digit.factor, abs(digit.rest)


def _unsaid(name: SizeName) -> str:
    return f"expected an argument with an axis that says size '{name.name}', got none"


def _arithmetic(
    builder: Builder,
    op: type[arith.SubiOp | arith.RemUIOp | arith.DivUIOp],
    value: SSAValue,
    number: int,
) -> SSAValue:
    other = builder.insert(index_constant(number)).result
    return builder.insert(op(value, other)).result


def size_value(builder: Builder, size: OpenSize) -> SSAValue:
    """Insert what computes a size; raises GaweeError where no argument says one of its names."""
    names = _names.get(None)
    if names is None:
        raise GaweeError(_unsaid(min(size.names)))
    return form_value(builder, size, names.value)


def form_value(
    builder: Builder, size: OpenSize, value_of: Callable[[SizeName], SSAValue]
) -> SSAValue:
    """Insert what computes a size from the values of its names; returns it as an index."""

    def number(value: int) -> SSAValue:
        return builder.insert(index_constant(value)).result

    total: SSAValue | None = None
    for product, factor in size.form.terms.items():
        term: SSAValue | None = None
        steps = 1
        for name in product:
            value, steps = value_of(name), steps * name.step
            term = value if term is None else builder.insert(arith.MuliOp(term, value)).result
        assert term is not None
        if factor % steps == 0:
            factor, steps = factor // steps, 1
        if factor != 1:
            term = builder.insert(arith.MuliOp(term, number(factor))).result
        if steps != 1:
            term = builder.insert(arith.DivSIOp(term, number(steps))).result
        total = term if total is None else builder.insert(arith.AddiOp(total, term)).result
    assert total is not None
    if size.form.constant:
        total = builder.insert(arith.AddiOp(total, number(size.form.constant))).result
    return total


def mixed_sizes(builder: Builder, sizes: Sequence[int]) -> tuple[list[int], list[SSAValue]]:
    """Return sizes as ops of the tensor dialect take them: numbers, and values of those open."""
    values = [size_value(builder, size) for size in sizes if isinstance(size, OpenSize)]
    return without_names(sizes), values


def erase_forms(function: FuncOp) -> None:
    """Leave `?` in the types of a function's values; attributes say the sizes of its results, and
    of those of its branches."""
    _mark_results(function)
    for op in function.walk():
        shapes = [each.type.get_shape() if is_tensor(each.type) else () for each in op.results]
        if is_branching(op) and any(map(is_open, shapes)):
            op.attributes[SIZES] = ArrayAttr(map(sizes_attribute, shapes))
        blocks = (block for region in op.regions for block in region.blocks)
        inner = (argument for block in blocks for argument in block.args)
        for value in (*op.results, *inner):
            if is_tensor(value.type) and is_open(value.type.get_shape()):
                plain = TensorType(value.type.element_type, without_names(value.type.get_shape()))
                Rewriter.replace_value_with_new_type(value, plain)
    function.update_function_type()


def _mark_results(function: FuncOp) -> None:
    """Say the forms of the sizes of what a function returns, where some are open."""
    outputs = function.function_type.outputs.data
    shapes = [each.get_shape() if is_tensor(each) else () for each in outputs]
    if not any(map(is_open, shapes)):
        return
    marks = function.res_attrs or [DictionaryAttr({})] * len(outputs)
    function.res_attrs = ArrayAttr(
        DictionaryAttr({**own.data, SIZES: sizes_attribute(shape)}) if is_open(shape) else own
        for own, shape in zip(marks, shapes, strict=True)
    )
