"""A function made of some ops of another one: the base of every smaller candidate."""

from collections.abc import Callable, Iterable, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from gawee_dialect.dialect.entry import (
    MAIN,
    entry_arguments,
    find_function,
    output_names,
)
from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.identifiers import free_name, take_name


def reducible_function(module: ModuleOp) -> FuncOp | None:
    """Return `@main`, else the first function, with a body of one block; None where none has."""
    functions = [op for op in module.ops if isinstance(op, FuncOp) and len(op.body.blocks) == 1]
    functions.sort(key=lambda function: function.sym_name.data != MAIN)
    return next((each for each in functions if returned_values(each) is not None), None)


def body_ops(function: FuncOp) -> Sequence[Operation]:
    """Return the ops of a function's body without the one that returns."""
    return [op for op in function.body.block.ops if not isinstance(op, ReturnOp)]


def returned_values(function: FuncOp) -> Sequence[SSAValue] | None:
    """Return what a function returns, None where it does not end with `func.return`."""
    last = function.body.block.last_op
    return tuple(last.operands) if isinstance(last, ReturnOp) else None


def values_read(op: Operation) -> Iterable[SSAValue]:
    """Yield what an op, or an op inside it, reads of the values outside."""
    inside = set(op.walk())
    for inner in inside:
        for operand in inner.operands:
            owner = operand.owner
            holder = owner.parent_op() if isinstance(owner, Block) else owner
            if holder not in inside:
                yield operand


class Draft:
    """A function in the making, of ops of `source`; `values` maps its values to the new ones."""

    def __init__(self, source: FuncOp):
        self.source = source
        self.block = Block()
        self.values: dict[SSAValue, SSAValue] = {}
        self._attributes: list[DictionaryAttr] = []
        self._marked = source.arg_attrs is not None
        self._names = {argument.name for argument in entry_arguments(source)}

    def add_argument(self, value: SSAValue, type: Attribute | None = None) -> SSAValue:
        """Make an argument of one of the source, or an input of what an op computed there."""
        argument = self.block.insert_arg(value.type if type is None else type, len(self.block.args))
        argument.name_hint = value.name_hint
        attributes = DictionaryAttr({})
        if value.owner is self.source.body.block:
            if self.source.arg_attrs is not None:
                index = self.source.body.block.args.index(value)
                attributes = self.source.arg_attrs.data[index]
                if argument.type != value.type:  # its file has another size now
                    entries = {**attributes.data}
                    entries.pop("gawee.path", None)
                    attributes = DictionaryAttr(entries)
        else:
            name = take_name(value.name_hint or "input", self._names, 2)
            argument.name_hint = None if value.name_hint is None else _hint(name)
            attributes = DictionaryAttr({"gawee.input": StringAttr(name)})
            self._marked = True
        self._attributes.append(attributes)
        self.values[value] = argument
        return argument

    def copy(self, op: Operation) -> Operation:
        """Add a copy of an op, all of whose operands have new values."""
        copy = op.clone(self.values)
        self.block.add_op(copy)
        return copy

    def finish(self, returned: Sequence[SSAValue]) -> FuncOp | None:
        """Return the function that returns the new values of some of the source's.

        None where that leaves an output out: one that is an argument, or another output.
        """
        values = [self.values[value] for value in returned]
        if any(value.owner is self.block for value in values) or len(set(values)) < len(values):
            return None
        old = self.source
        names = dict(zip(returned_values(old) or (), output_names(old), strict=False))
        taken = {names[value] for value in returned if value in names}
        results: list[DictionaryAttr] = []
        for value in returned:
            name = names.get(value) or free_name(value.name_hint or "output", taken, 2)
            taken.add(name)
            results.append(DictionaryAttr({"gawee.output": StringAttr(name)}))
        end = ReturnOp(*values)
        function = FuncOp(
            old.sym_name.data,
            FunctionType.from_lists(
                [argument.type for argument in self.block.args], [value.type for value in values]
            ),
            Region(self.block),
            old.sym_visibility,
            arg_attrs=ArrayAttr(self._attributes) if self._marked else None,
            res_attrs=ArrayAttr(results) if old.res_attrs is not None and results else None,
        )
        function.attributes |= old.attributes
        function.location = end.location = old.location
        self.block.add_op(end)
        return function


def _hint(name: str) -> str:
    return "".join(char if char.isalnum() or char == "_" else "_" for char in name)


def copy_of(module: ModuleOp, function: FuncOp) -> tuple[ModuleOp, FuncOp]:
    """Return a copy of a module, and in it the function of the given one's name."""
    copy = module.clone()
    found = find_function(copy, function.sym_name.data)
    assert found is not None
    return copy, found


def with_function(module: ModuleOp, function: FuncOp) -> ModuleOp:
    """Return a copy of a module with a function in the place of the one of its name."""
    copy, old = copy_of(module, function)
    copy.body.block.insert_op_before(function, old)
    old.detach()
    old.erase()
    return copy


def keep_ops(
    module: ModuleOp,
    source: FuncOp,
    keeps: Callable[[int], bool],
    returns: Callable[[SSAValue], bool] = lambda _: True,
    bypassed: int | None = None,
) -> ModuleOp | None:
    """Return a copy of a module with some ops of a function alone, chosen by their index.

    What a kept op reads of the others becomes an input. The function returns, of the values that
    `returns` chooses, those that it returned before, and the tensors that no kept op reads. The
    result of the bypassed op is replaced by its first operand of that type. None where no such
    module is smaller.
    """
    ops = body_ops(source)
    kept = [op for index, op in enumerate(ops) if keeps(index) and index != bypassed]
    aliases = {} if bypassed is None else _bypass(ops[bypassed])
    if aliases is None:
        return None
    read = {aliases.get(value, value) for op in kept for value in values_read(op)}
    draft = Draft(source)
    made = {result for op in kept for result in op.results}
    for argument in source.body.block.args:
        if argument in read:
            draft.add_argument(argument)
    for value in (result for op in ops for result in op.results):
        if value in read and value not in made:
            draft.add_argument(value)
    outputs = returned_values(source) or ()
    for op in kept:
        for alias, value in aliases.items():
            if value in draft.values:
                draft.values[alias] = draft.values[value]
        draft.copy(op)
    returned = [
        result
        for op in kept
        for result in op.results
        if (result in outputs or (outputs and is_tensor(result.type) and result not in read))
        and returns(result)
    ]
    if outputs and not returned:
        return None
    function = draft.finish(returned)
    return None if function is None else with_function(module, function)


def _bypass(op: Operation) -> dict[SSAValue, SSAValue] | None:
    if len(op.results) != 1:
        return None
    same = (operand for operand in op.operands if operand.type == op.results[0].type)
    operand = next(same, None)
    return None if operand is None else {op.results[0]: operand}
