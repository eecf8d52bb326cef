"""The sizes of a graph that are open: their names, and the form of every value's sizes.

    func.func @main(%x: tensor<?x?x8xf32> {gawee.input = "x",
                                           gawee.sizes = ["batch", "length + 1", "-"]}) ...
        attributes {gawee.ranges = {batch = "1 to 32", length = "8 to 512 step 8"}}

`gawee.sizes` names the sizes of an argument that its type leaves open, `-` those that it says.
`gawee.ranges` says which values a name may have: at least 1 where it says nothing. Types in the
text have `?`; the types of a module that was read have the forms, computed by the ops' own shape
rules from those of the arguments (`dialect/open_size.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, verify_module
from gawee_dialect.dialect.entry import SIZES, EntryArgument, entry_arguments
from gawee_dialect.dialect.graph.scan import ScanOp, element_of_sequence
from gawee_dialect.dialect.open_size import (
    OpenSize,
    SizeName,
    UnknownSize,
    digits_of,
    is_open,
    name_of_range,
    parse_size,
    sizes_at,
    without_names,
)
from gawee_dialect.dialect.operation import InferredOp
from gawee_dialect.dialect.size_list import SizesAttr, size_list
from gawee_dialect.dialect.types import (
    AnyTensor,
    is_shaped,
    is_tensor,
    require_input_shape,
    shape_text,
    tensor_type,
)
from gawee_dialect.hints import isa
from gawee_dialect.identifiers import c_name

RANGES = "gawee.ranges"
"""The attribute of a function that says which values names may have."""

KNOWN = "-"
"""What stands for a size that the type says."""


def sizes_attribute(shape: Sequence[int]) -> ArrayAttr[StringAttr]:
    """Return the attribute that names the sizes of a shape."""
    return ArrayAttr(
        StringAttr(str(size) if isinstance(size, OpenSize) else KNOWN) for size in shape
    )


def ranges_attribute(names: Sequence[SizeName]) -> DictionaryAttr:
    """Return the attribute that says which values names may have; the usual ones are left out."""
    return DictionaryAttr(
        {
            each.name: StringAttr(each.range_text())
            for each in sorted(names)
            if each != SizeName(each.name)
        }
    )


def size_name(name: str, low: int, high: int, step: int = 1) -> SizeName:
    """Return a name that may have some values; raises GaweeError where these are none."""
    try:
        return name_of_range(c_name(name), f"{low} to {high} step {step}")
    except VerifyException as error:
        raise GaweeError(str(error)) from error


def open_functions(module: ModuleOp) -> Iterator[FuncOp]:
    """Yield the functions with a body and with arguments whose sizes have names."""
    return filter(_is_open, _functions(module))


def _functions(module: ModuleOp) -> Iterator[FuncOp]:
    for region in module.regions:  # what is read is not verified yet
        for op in (each for block in region.blocks for each in block.ops):
            if isinstance(op, FuncOp) and not op.is_declaration:
                yield op


def _is_open(function: FuncOp) -> bool:
    attributes = function.arg_attrs
    if attributes is None or len(attributes) != len(function.args):
        return False
    return any(SIZES in each.data for each in attributes)


def open_names(module: ModuleOp) -> Sequence[SizeName]:
    """Return the names of the sizes that a module is open in, sorted; none of a static one."""
    return sorted({name for each in open_functions(module) for name in open_names_of(each)})


def open_names_of(function: FuncOp) -> Sequence[SizeName]:
    """Return the names that the arguments of a function have, sorted."""
    shapes = argument_shapes(function)
    return sorted({n for shape in shapes for size in shape for n in names_of(size)})


def names_of(size: int) -> frozenset[SizeName]:
    """Return the names that a size depends on."""
    return size.names if isinstance(size, OpenSize) else frozenset()


def has_forms(function: FuncOp) -> bool:
    """Whether types have the forms of sizes: those of graphs; below, types have `?` alone."""
    return any(is_tensor(each.type) and is_open(each.type.get_shape()) for each in function.args)


def argument_shapes(function: FuncOp) -> Sequence[Sequence[int]]:
    """Return the shapes of a function's arguments, with forms whatever the types have."""
    shapes = [each.type.get_shape() if is_shaped(each.type) else () for each in function.args]
    if has_forms(function) or not any(SIZES in each.data for each in function.arg_attrs or ()):
        return shapes
    named = _Reading(function).named()
    return [named.get(index, shape) for index, shape in enumerate(shapes)]


def result_shapes(function: FuncOp) -> Sequence[Sequence[int]]:
    """Return the shapes of what a function returns, with the forms that its attributes say.

    Raises GaweeError where they do not say some, below graphs.
    """
    types, marks = function.function_type.outputs.data, function.res_attrs
    shapes = [each.get_shape() if is_shaped(each) else () for each in types]
    reading = _Reading(function)
    return [
        shape
        if marks is None or SIZES not in marks.data[index].data
        else reading.shape_of(f"result #{index}", types[index], marks.data[index])
        for index, shape in enumerate(shapes)
    ]


def named_sizes(function: FuncOp) -> Mapping[str, Sequence[int]]:
    """Return the shape of every argument that has sizes with names, by its name."""
    shapes = argument_shapes(function)
    return {
        each.name: shapes[each.index]
        for each in entry_arguments(function)
        if is_open(shapes[each.index])
    }


# Reading: from `?` to forms.


def read_open_sizes(module: ModuleOp) -> None:
    """Give every value the form of its sizes, in place; types that are static stay as they are.

    Raises GaweeError for sizes that do not fit their types or that no argument says, and with the
    first op whose shape rule does not know what it makes of open ones.
    """
    for function in _functions(module):
        if _is_open(function):
            _Reading(function).run()
        elif RANGES in function.attributes:
            _Reading(function).rename()
        else:
            for op in function.walk():
                if isinstance(op, InferredOp):
                    _check_names(op, {})


BELOW_GRAPHS = frozenset(("linalg", "tensor", "scf", "memref", "bufferization"))
"""Dialects of functions whose types have no forms: their ops compute sizes as values."""

BRANCHING = frozenset(("scf.if", "scf.while", "scf.yield", "scf.condition", "tensor.extract"))
"""Ops of these dialects that graphs have too: a run decides what is computed."""


def is_below_graphs(op: Operation) -> bool:
    """Whether an op is of a level whose types have no forms."""
    if op.name == "gawee.kernel":
        return True
    return op.dialect_name() in BELOW_GRAPHS and op.name not in BRANCHING


@dataclass
class _Reading:
    function: FuncOp

    def run(self) -> None:
        named = self.named()
        if any(is_below_graphs(op) for op in self.function.walk()):
            self.rename()
            return
        for index, shape in named.items():
            value = self.function.args[index]
            _retype(value, TensorType(tensor_type(value).element_type, shape))
        names = {
            name.name: name for shape in named.values() for size in shape for name in names_of(size)
        }
        for block in self.function.body.blocks:
            self._infer(block, names)
        self.function.update_function_type()

    def rename(self) -> None:
        """Give the names in the properties of ops the values that the function's ranges say."""
        try:
            names = self._names()
        except VerifyException as error:
            raise GaweeError(Diagnostic.at(self.function, str(error))) from error
        for op in self.function.walk():
            _rename_properties(op, names)

    def named(self) -> Mapping[int, Sequence[int]]:
        """Return the shapes of the arguments that have sizes with names; raises GaweeError."""
        try:
            names = self._names()
            return {
                index: _named(f"argument #{index}", value.type, attributes, names)
                for index, (value, attributes) in enumerate(
                    zip(self.function.args, self.function.arg_attrs or (), strict=True)
                )
                if SIZES in attributes.data
            }
        except VerifyException as error:
            raise GaweeError(Diagnostic.at(self.function, str(error))) from error

    def shape_of(self, what: str, type: Attribute, attributes: DictionaryAttr) -> Sequence[int]:
        """Return the shape of an argument or a result whose sizes have names; raises GaweeError."""
        try:
            return _named(what, type, attributes, self._names())
        except VerifyException as error:
            raise GaweeError(Diagnostic.at(self.function, str(error))) from error

    def _names(self) -> Mapping[str, SizeName]:
        return _ranges_of(self.function)

    def _infer(self, block: Block, names: Mapping[str, SizeName]) -> None:
        for op in block.ops:
            _check_names(op, names)
            _rename_properties(op, names)
            if any(len(region.blocks) != 1 for region in op.regions):
                continue  # the verifier says what is wrong
            if isinstance(op, ScanOp):
                types = [tensor_type(each) for each in op.initial]
                rows = [element_of_sequence(tensor_type(each)) for each in op.sequences]
                for argument, type in zip(op.body.block.args, [*types, *rows], strict=False):
                    _retype(argument, type)
            elif isinstance(op, scf.WhileOp):
                _hand_on(op.arguments, op.before_region.block.args)
            for inner in (each for region in op.regions for each in region.blocks):
                self._infer(inner, names)
            if isinstance(op, InferredOp) and has_open_sizes(op):
                _infer_results(op)
            elif isinstance(op, scf.ConditionOp | scf.YieldOp):
                _infer_around(op)


def _named(
    what: str, type: Attribute, attributes: DictionaryAttr, names: Mapping[str, SizeName]
) -> Sequence[int]:
    sizes = attributes.data[SIZES]
    if not is_shaped(type) or not isa(sizes, ArrayAttr[StringAttr]):
        raise VerifyException(f"expected {SIZES} of {what} to be names of a tensor's sizes")
    shape = type.get_shape()
    if len(sizes) != len(shape):
        raise VerifyException(
            f"expected {SIZES} of {what} to have {len(shape)} entries, one an axis, "
            f"got {len(sizes)}"
        )
    found = list(shape)
    for axis, (text, size) in enumerate(zip(sizes, shape, strict=True)):
        if (text.data == KNOWN) != (size != DYNAMIC_INDEX):
            raise VerifyException(
                f"expected {SIZES} of {what} to name the axes whose size is '?', "
                f"and '{KNOWN}' for others, got '{text.data}' for axis {axis} of {type}"
            )
        if text.data != KNOWN:
            found[axis] = parse_size(text.data, lambda name: _known(name, names))
    return found


def _ranges_of(function: Operation) -> Mapping[str, SizeName]:
    """Return the names that a function says ranges of; raises VerifyException."""
    ranges = function.attributes.get(RANGES, DictionaryAttr({}))
    if not isinstance(ranges, DictionaryAttr):
        raise VerifyException(f"expected {RANGES} to be a dictionary, got {ranges}")
    names: dict[str, SizeName] = {}
    for name, text in ranges.data.items():
        if not isinstance(text, StringAttr):
            raise VerifyException(f"expected the range of size '{name}' in quotes, got {text}")
        names[name] = name_of_range(name, text.data)
    return names


def shape_said(function: Operation, argument: EntryArgument) -> Sequence[int]:
    """Return the shape of a function's argument, at any level; `DYNAMIC_INDEX` where nothing says a
    size. Raises GaweeError for sizes that do not fit.
    """
    if not is_shaped(argument.type):
        return ()
    if argument.sizes is None:
        return argument.type.get_shape()
    marks = DictionaryAttr({SIZES: argument.sizes})
    try:
        what = f"argument #{argument.index}"
        return _named(what, argument.type, marks, _ranges_of(function))
    except VerifyException as error:
        raise GaweeError(Diagnostic.at(function, str(error))) from error


def shapes_of_branches(function: FuncOp, op: Operation) -> Sequence[Sequence[int]]:
    """Return the shapes of an op's results, those of scf.if and scf.while as attributes say them.

    `DYNAMIC_INDEX` where none does. Raises GaweeError for sizes that do not fit.
    """
    shapes = [each.type.get_shape() if is_shaped(each.type) else () for each in op.results]
    marks = op.attributes.get(SIZES)
    if not isa(marks, ArrayAttr[ArrayAttr[StringAttr]]) or len(marks) != len(shapes):
        return shapes
    reading = _Reading(function)
    return [
        reading.shape_of(f"result #{index}", each.type, DictionaryAttr({SIZES: sizes}))
        if is_shaped(each.type)
        else ()
        for index, (each, sizes) in enumerate(zip(op.results, marks, strict=True))
    ]


def _known(name: str, names: Mapping[str, SizeName]) -> SizeName:
    return names.get(name, SizeName(name))


def _check_names(op: Operation, names: Mapping[str, SizeName]) -> None:
    """Raise GaweeError for a size in a property of an op whose name no argument says."""
    for attribute in op.properties.values():
        for size in attribute.get_values() if isinstance(attribute, SizesAttr) else ():
            for each in names_of(size):
                if each.name not in names:
                    text = f"expected sizes that arguments name, got '{each.name}'"
                    known = ", ".join(sorted(names)) or "none"
                    hint = did_you_mean(each.name, names, f"{SIZES} of arguments names {known}")
                    raise GaweeError(Diagnostic.at(op, text, hint))


def _rename_properties(op: Operation, names: Mapping[str, SizeName]) -> None:
    for key, attribute in op.properties.items():
        if isinstance(attribute, SizesAttr):
            op.properties[key] = _renamed(op, attribute, names)


def _renamed(op: Operation, attribute: SizesAttr, names: Mapping[str, SizeName]) -> Attribute:
    """Return a list of sizes with what is known of their names; raises GaweeError."""
    sizes = list(attribute.get_values())
    for place, size in enumerate(sizes):
        if isinstance(size, OpenSize):
            try:
                sizes[place] = size.renamed(lambda each: _known(each.name, names))
            except UnknownSize as error:
                text = f"expected size '{size}' to be whole for all its values"
                raise GaweeError(Diagnostic.at(op, text)) from error
    return size_list(sizes)  # of numbers alone where no form has a name


def has_open_sizes(op: Operation) -> bool:
    """Whether an operand or a result of an op is a tensor with a size that is open."""
    types = (value.type for value in (*op.operands, *op.results))
    return any(is_tensor(type) and not type.has_static_shape() for type in types)


def _infer_results(op: InferredOp) -> None:
    if not all(is_tensor(each.type) for each in op.results):
        return  # the verifier says what is wrong
    try:
        for operand in op.operands:
            if is_tensor(operand.type) and _is_nameless(operand.type):
                return
        inferred = op.inferred_types()
    except VerifyException as error:
        raise GaweeError(Diagnostic.at(op, str(error))) from error
    for result, type in zip(op.results, inferred, strict=False):
        declared = tensor_type(result)
        if declared == type:
            _retype(result, type)


def _infer_around(end: scf.ConditionOp | scf.YieldOp) -> None:
    """Give the forms of what a region ends with to the values that it becomes.

    Raises GaweeError where these have others.
    """
    around = end.parent_op()
    if isinstance(end, scf.ConditionOp):
        if isinstance(around, scf.WhileOp):
            _hand_on(end.args, around.after_region.block.args)
            _hand_on(end.args, around.results)
    elif isinstance(around, scf.IfOp):
        _hand_on(end.operands, around.results)
    elif isinstance(around, scf.WhileOp):
        _hand_on(end.operands, around.before_region.block.args)


def _hand_on(values: Sequence[SSAValue], targets: Sequence[SSAValue]) -> None:
    for number, (value, target) in enumerate(zip(values, targets, strict=False)):
        if not is_tensor(value.type) or not is_tensor(target.type):
            continue
        if value.type == target.type:
            _retype(target, value.type)
        elif is_open(value.type.get_shape()) or is_open(target.type.get_shape()):
            shapes = (shape_text(each.get_shape()) for each in (target.type, value.type))
            got = " and ".join(shapes)
            text = f"expected value #{number} to have one shape whatever runs, got {got}"
            op = target.owner if isinstance(target, OpResult) else target.owner.parent_op()
            assert isinstance(op, Operation)
            raise GaweeError(Diagnostic.at(op, text, SIZES_HINT))


def _is_nameless(type: AnyTensor) -> bool:
    return any(size == DYNAMIC_INDEX for size in type.get_shape() if not isinstance(size, OpenSize))


def _retype(value: SSAValue, type: AnyTensor) -> None:
    if value.type is not type:
        Rewriter.replace_value_with_new_type(value, type)


# From sizes with names to numbers.

SIZES_HINT = (
    "numbers for open sizes: --shape batch=4, compile(sizes={'batch': 4}), or the pass "
    "specialize-sizes{batch=4}; one code for a range: compile(sizes={'batch': (1, 32)})"
)
"""What to do where a size has to be a number."""

RANGES_HINT = "--range length=1:512 says which values a size may have, --shape length=128 one"
"""What to do where more has to be known of a size."""


def sizes_of_shapes(
    function: FuncOp, shapes: Mapping[str, Sequence[int]], *, some: bool = False
) -> Mapping[str, int]:
    """Return the number of every named size, from the shapes of arguments by their names.

    Raises GaweeError for a shape that does not fit, for one name of two numbers, for a number that
    is not in the range of its name, and for a name without a number, unless `some` may be.
    """
    return solved_sizes(named_sizes(function), shapes, open_names_of(function), some=some)


def solved_sizes(
    named: Mapping[str, Sequence[int]],
    shapes: Mapping[str, Sequence[int]],
    names: Sequence[SizeName],
    *,
    some: bool = False,
) -> Mapping[str, int]:
    """Return the number of every name, from shapes, and the forms that these have by `named`.

    Raises GaweeError as `sizes_of_shapes` does.
    """
    values: dict[str, int] = {}
    wanted = {name: shape for name, shape in named.items() if name in shapes and is_open(shape)}
    for name, shape in wanted.items():
        require_input_shape(name, shape, shapes[name])
    sizes = [
        (size, number, f"axis {axis} of input '{name}'")
        for name, shape in wanted.items()
        for axis, (size, number) in enumerate(zip(shape, shapes[name], strict=True))
        if isinstance(size, OpenSize)
    ]
    # Each once. Names first: of a sum, what is left when all others are known.
    known = {(size, number): where for size, number, where in reversed(sizes)}
    for size, number in sorted(known, key=lambda entry: simplicity(entry[0])):
        where = known[size, number]
        _solve(size, number, where, values)
    check_sizes(names, values, some=some)
    return values


def simplicity(size: OpenSize) -> tuple[int, int]:
    """Return what sizes are sorted by, those first that say what names are in the others."""
    return len(size.names), len(size.text())


def _solve(size: OpenSize, number: int, where: str, values: dict[str, int]) -> None:
    left = size.at(values)
    if not isinstance(left, OpenSize):
        if left != number:
            known = ", ".join(f"{name.name} = {values[name.name]}" for name in sorted(size.names))
            raise GaweeError(f"expected {where} to be '{size}' = {left} ({known}), got {number}")
        return
    terms = list(left.form.terms.items())
    if len(terms) > 1 or len(terms[0][0]) > 1:
        values.update({each.name.name: each.of(number) for each in digits_of(left)})
        return  # more names than numbers: other arguments say them, or `check_sizes` misses one
    ((name,), factor), rest = terms[0], number - left.form.constant
    if rest % factor:
        raise GaweeError(f"expected {where} to be '{size}' of a whole {name.name}, got {number}")
    values[name.name] = rest // factor * name.step


def check_sizes(
    names: Sequence[SizeName], values: Mapping[str, int], *, some: bool = False
) -> None:
    """Raise GaweeError unless every name has a number, in its range, and there is no other.

    With `some`, names may be left without one.
    """
    known = {each.name: each for each in names}
    problems: list[Diagnostic] = []
    for name in values:
        if name not in known:
            hint = f"sizes that are open: {', '.join(known) or 'none'}"
            problems.append(Diagnostic(f"unknown size '{name}'", hint=hint))
    for name, each in known.items():
        if name not in values:
            if not some:
                text = f"expected a number for size '{name}' ({each.range_text()}), got none"
                problems.append(Diagnostic(text, hint=SIZES_HINT))
        elif not each.holds(values[name]):
            problems.append(
                Diagnostic(f"expected size '{name}' of {each.range_text()}, got {values[name]}")
            )
    if problems:
        raise GaweeError(problems)


def require_numbers(module: ModuleOp, format: str) -> None:
    """Raise GaweeError for a module of open sizes, of which a format has none."""
    if names := open_names(module):
        text = f"cannot be written as {format} with open sizes: {', '.join(e.name for e in names)}"
        raise GaweeError(Diagnostic(text, hint=SIZES_HINT))


def specialized(module: ModuleOp, sizes: Mapping[str, int], *, some: bool = False) -> ModuleOp:
    """Return a copy of a module in which numbers stand for its named sizes.

    Raises GaweeError for a size that is missing (unless `some` may be), unknown or out of its
    range, and for an op whose shape rule makes something else of the numbers than of the names.
    """
    check_sizes(open_names(module), sizes, some=some)
    copy = module.clone()
    write_sizes(copy, sizes)
    verify_module(copy)
    return copy


def with_given_sizes(module: ModuleOp, shapes: Mapping[str, Sequence[int]]) -> ModuleOp:
    """Return a module with numbers for the sizes that are given: by their names, or of inputs.

    The module itself where it is open in none of them. Raises GaweeError as `specialized` does.
    """
    names = {each.name for each in open_names(module)}
    given = {name: sizes[0] for name, sizes in shapes.items() if name in names and len(sizes) == 1}
    for function in open_functions(module):
        given |= sizes_of_shapes(function, shapes, some=True)
    return specialized(module, given, some=True) if given else module


def with_ranges(module: ModuleOp, ranges: Mapping[str, tuple[int, int]]) -> ModuleOp:
    """Return a copy of a graph whose names may have fewer values: from a least to a greatest one.

    A graph whose names have these already is returned itself. Raises GaweeError for a name that is
    unknown, and for values that it may not have.
    """
    known = {each.name: each for each in open_names(module)}
    check_sizes(list(known.values()), {name: ends[0] for name, ends in ranges.items()}, some=True)
    check_sizes(list(known.values()), {name: ends[1] for name, ends in ranges.items()}, some=True)
    if all((known[name].low, known[name].last) == ends for name, ends in ranges.items()):
        return module
    copy = module.clone()
    for function in open_functions(copy):
        names = [
            size_name(name, *ranges[name], each.step) if name in ranges else each
            for name, each in known.items()
        ]
        function.attributes[RANGES] = ranges_attribute(names)
        for op in function.walk():
            blocks = (block for region in op.regions for block in region.blocks)
            for value in (*op.results, *(each for block in blocks for each in block.args)):
                if is_tensor(value.type) and is_open(value.type.get_shape()):
                    shape = without_names(value.type.get_shape())
                    _retype(value, TensorType(value.type.element_type, shape))
    read_open_sizes(copy)
    verify_module(copy)
    return copy


PROBES = ((0, 1), (1, 2), (2, 3))
"""What is added to the least number of the first name, in steps, and how much more to each next."""


def verify_at_numbers(module: ModuleOp) -> None:
    """Verify a module of open sizes for some numbers of them too, the least ones first.

    Forms are compared as they are written, and a form is never equal to 1: what a rule does
    otherwise with the number 1, say, is found here. Raises GaweeError.
    """
    names = open_names(module)
    for first, more in PROBES if names else ():
        sizes = {
            each.name: min(each.low + (first + place * more) * each.step, each.last)
            for place, each in enumerate(names)
        }
        try:
            specialized(module, sizes)
        except GaweeError as error:
            at = ", ".join(f"{name} = {number}" for name, number in sizes.items())
            raise GaweeError(
                replace(each, hint=f"so it is for {at}: other numbers are another graph")
                for each in error.diagnostics
            ) from error


def write_sizes(module: ModuleOp, values: Mapping[str, int]) -> None:
    """Write numbers for names everywhere in a module, in place; names without one stay."""
    for function in open_functions(module):
        if not has_forms(function):
            _narrow(function, values)
            continue
        for block in function.body.blocks:
            write_block_sizes(block, values)
        mark_sizes(function)
        function.update_function_type()


def _narrow(function: FuncOp, values: Mapping[str, int]) -> None:
    """Write numbers for names in a function below graphs; raises GaweeError for one of kernels."""
    # Imported late: it knows all ops of linalg, which graphs have none of.
    from gawee_dialect.analysis.tensor_shapes import narrow_arguments

    if "gawee" in {op.dialect_name() for op in function.walk()}:
        text = "has kernels of open sizes, in which no numbers are written"
        hint = "specialize-sizes comes before form-kernels"
        raise GaweeError(Diagnostic.at(function, text, hint))
    shapes = [sizes_at(shape, values) for shape in argument_shapes(function)]
    results = [sizes_at(shape, values) for shape in result_shapes(function)]
    if function.res_attrs is not None:
        function.res_attrs = ArrayAttr(map(_at, function.res_attrs, results))
    _mark(function, shapes)
    narrow_arguments(function, dict(enumerate(map(without_names, shapes))))


def mark_sizes(function: FuncOp) -> None:
    """Let the attributes of a function say the sizes that the types of its arguments have."""
    _mark(function, [_shape(argument) for argument in function.args])


def _shape(value: SSAValue) -> Sequence[int]:
    return value.type.get_shape() if is_tensor(value.type) else ()


def _mark(function: FuncOp, shapes: Sequence[Sequence[int]]) -> None:
    empty = [DictionaryAttr({})] * len(function.args)
    function.arg_attrs = ArrayAttr(map(_at, function.arg_attrs or empty, shapes))
    names = {name for shape in shapes for size in shape for name in names_of(size)}
    ranges = ranges_attribute([*names])
    function.attributes.pop(RANGES, None)
    if ranges.data:
        function.attributes[RANGES] = ranges


def _at(attributes: DictionaryAttr, shape: Sequence[int]) -> DictionaryAttr:
    entries = {key: each for key, each in attributes.data.items() if key != SIZES}
    if is_open(shape):
        entries[SIZES] = sizes_attribute(shape)
    return DictionaryAttr(entries)


def write_block_sizes(block: Block, values: Mapping[str, int]) -> None:
    """Write numbers for names in the types and the ops of a block, in place."""
    for argument in block.args:
        _write_type(argument, values)
    for op in block.ops:
        for key, attribute in op.properties.items():
            if isinstance(attribute, SizesAttr):
                op.properties[key] = size_list(sizes_at(attribute.get_values(), values))
        for inner in (block for region in op.regions for block in region.blocks):
            write_block_sizes(inner, values)
        for result in op.results:
            _write_type(result, values)


def _write_type(value: SSAValue, values: Mapping[str, int]) -> None:
    type = value.type
    if is_tensor(type) and is_open(type.get_shape()):
        _retype(value, TensorType(type.element_type, sizes_at(type.get_shape(), values)))
