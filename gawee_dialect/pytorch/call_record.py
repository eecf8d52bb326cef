"""What a model computes: the ops that a call of it calls, in order, with all arguments.

Whatever Python reads on the way (attributes, globals, files, the time) shows in what is called, or
makes no difference. So models with the same record compute the same function, and the graph of one
is that of the other. The data of weights and inputs is in no record: only what is read of it would
show, and a call that reads any has none. The model really runs, on copies of the tensors that it
may change, since PyTorch takes longer to get ready for a run without data than for one with data.
"""

import hashlib
import inspect
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from types import new_class

from gawee_dialect.frontends.npu_ir.pytorch import (
    Module,
    Tensor,
    has_data,
    is_sequence,
    is_tensor,
    torch,
)
from gawee_dialect.hints import isa

NAMESPACES = ("aten", "prim", "prims")
"""Ops that mean the same wherever PyTorch has the same version."""

OF_DATA = ("aten._local_scalar_dense", "aten.equal", "aten.nonzero", "aten.is_nonzero")
"""Ops by which Python, or the shapes that it sees, depend on the data of a tensor."""


DROPOUT = "dropout_p"
"""The argument of attention that says which part of it is dropped, by drawing numbers."""

CONVOLUTION = "aten.convolution.default"
"""The op that PyTorch takes longest to get ready for; its numbers decide nothing."""


class NotRecorded(Exception):
    """A call does something that its record cannot hold."""


def record_of_call(model: Module, inputs: Sequence[object]) -> str:
    """Call a model; return all that decides what it computes.

    Raises NotRecorded for a model that assigns to its attributes, writes to its parameters, draws
    random numbers, looks at data, or calls ops that are not PyTorch's own; and whatever the model
    raises.
    """
    record = _Record()
    tree = import_module("torch.utils._pytree")
    flatten: Callable[[object], tuple[list[object], object]] = tree.tree_flatten
    flat, structure = flatten(tuple(inputs))
    record.lines += [
        str(list(inspect.signature(getattr(model, "forward")).parameters)),
        str(structure),
    ]
    for path, value in _data_of_graph(model):
        record.lines.append(f"{path} has {record.data(value)}")
    with ExitStack() as stack:
        stack.enter_context(torch().no_grad())
        copies = _Copies(record)
        stack.enter_context(copies.inside(model))
        stack.enter_context(_unchanged(model))
        for path, value in _held(model):
            record.define(path, value)
        given = [copies.of(leaf) if is_tensor(leaf) else leaf for leaf in flat]
        for index, value in enumerate(given):
            if is_tensor(value):
                record.define(f"input {index}", value)
            else:
                record.lines.append(f"input {index} = {record.said(value)}")
        stack.enter_context(_exporting())
        stack.enter_context(_listening(record))
        returned, structure = flatten(_call(model, tree.tree_unflatten(given, structure)))
    record.lines.append(f"return {record.said(returned)} {structure}")
    return "\n".join(record.lines)


class _Copies:
    """Copies of tensors that a call may change, the same one for the same tensor."""

    def __init__(self, record: "_Record") -> None:
        self._record = record
        self._made: dict[int, tuple[Tensor, Tensor]] = {}

    def of(self, original: Tensor) -> Tensor:
        """Return the copy of a tensor; a parameter is its own."""
        if isinstance(original, torch().nn.Parameter):
            return original
        if id(original) not in self._made:
            copy: Tensor = getattr(original.detach(), "clone")()
            self._record.own(copy)
            self._made[id(original)] = (original, copy)
        return self._made[id(original)][1]

    @contextmanager
    def inside(self, model: Module) -> Generator[None]:
        """Put copies in the place of all tensors that are no parameters."""
        replaced: list[tuple[dict[str, object], str, Tensor]] = []
        try:
            for module in model.modules():
                own = vars(module)
                for table in (own["_buffers"], own):
                    tensors = [(name, each) for name, each in table.items() if is_tensor(each)]
                    for name, each in tensors:
                        replaced.append((table, name, each))
                        table[name] = self.of(each)
            yield
        finally:
            for table, name, each in replaced:
                table[name] = each


def _call(model: object, arguments: object) -> object:
    assert callable(model)
    assert isinstance(arguments, tuple)
    return model(*arguments)


def _held(model: Module) -> Generator[tuple[str, Tensor]]:
    """Yield all tensors that modules hold by themselves, under each of their names."""
    for named in (model.named_parameters, model.named_buffers):
        yield from named(remove_duplicate=False)
    yield from _attributes(model)


def _attributes(model: Module) -> Generator[tuple[str, Tensor]]:
    for path, module in model.named_modules():
        tensors = ((name, value) for name, value in vars(module).items() if is_tensor(value))
        yield from ((f"{path}.{name}", value) for name, value in tensors)


def _data_of_graph(model: Module) -> Generator[tuple[str, Tensor]]:
    """Yield the tensors that no state_dict has: a graph holds their data itself."""
    yield from _attributes(model)
    for path, module in model.named_modules():
        own = vars(module)
        yield from (
            (f"{path}.{name}", own["_buffers"][name])
            for name in sorted(own["_non_persistent_buffers_set"])
            if is_tensor(own["_buffers"][name])
        )


@contextmanager
def _exporting() -> Generator[None]:
    """Have `torch.compiler.is_exporting` and the like return True."""
    compiler = import_module("torch.compiler")
    flags = ("_is_compiling_flag", "_is_exporting_flag")
    before = {name: getattr(compiler, name) for name in flags}
    try:
        for name in flags:
            setattr(compiler, name, True)
        yield
    finally:
        for name, value in before.items():
            setattr(compiler, name, value)


@contextmanager
def _unchanged(model: Module) -> Generator[None]:
    """Put back what a call assigns to attributes; raises NotRecorded where it assigned any."""
    tables = list(_tables(model))
    before = [dict(table) for table in tables]
    try:
        yield
    finally:
        changed = False
        for table, old in zip(tables, before, strict=True):
            same = table.keys() == old.keys() and all(table[name] is old[name] for name in old)
            if not same:
                changed = True
                table.clear()
                table.update(old)
    if changed:
        raise NotRecorded("forward assigns to attributes")


def _tables(model: Module) -> Generator[dict[str, object]]:
    for module in list(model.modules()):
        own = vars(module)
        yield own
        yield from (own[name] for name in ("_parameters", "_buffers", "_modules"))


@contextmanager
def _listening(record: "_Record") -> Generator[None]:
    """Tell a record of every op that is called."""
    base: type[object] = import_module("torch.utils._python_dispatch").TorchDispatchMode

    def dispatch(
        _mode: object,
        op: object,
        _types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        return record.call(op, args, kwargs or {})

    def fill(namespace: dict[str, object]) -> None:
        namespace["__torch_dispatch__"] = dispatch
        # Otherwise the first call loads TorchDynamo, to disable it.
        namespace["_should_skip_dynamo"] = classmethod(lambda _: False)

    mode: type[AbstractContextManager[object]] = new_class("Listening", (base,), exec_body=fill)
    with mode():
        yield


class _Record:
    """Lines that define values and call ops; values are numbered."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        # What is no longer used is freed, as without a record.
        self._numbers: MutableMapping[object, int]
        self._numbers = import_module("torch.utils.weak").WeakIdKeyDictionary()
        self._count = 0
        self._owned: set[int] = set()
        """Memory that the call may write: no protected tensor is there as long as it runs."""
        self._leaves: Callable[[object], Sequence[object]]
        self._leaves = import_module("torch.utils._pytree").tree_leaves
        self._overload: type[object] = torch()._ops.OpOverload
        self._random: object = torch().Tag.nondeterministic_seeded

    def define(self, name: str, tensor: Tensor) -> None:
        """Number a tensor that the call is given, by all that is known of it but its data."""
        self.lines.append(f"{self._number(tensor)} = {name} {described(tensor)}")

    def own(self, tensor: Tensor) -> None:
        """Say that the call may write to a tensor."""
        self._owned.add(_memory(tensor))

    def _number(self, tensor: Tensor) -> int:
        if tensor not in self._numbers:
            self._numbers[tensor] = self._count
            self._count += 1
        return self._numbers[tensor]

    def call(self, op: object, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Add a call of an op, and do it."""
        name = str(op)
        if not isinstance(op, self._overload) or name.partition(".")[0] not in NAMESPACES:
            raise NotRecorded(f"a call of '{name}'")
        assert callable(op)
        random = self._random in getattr(op, "tags") and not _drops_nothing(op, args, kwargs)
        if name.startswith(OF_DATA) or random:
            raise NotRecorded(f"a call of '{name}', which depends on data")
        given = [each for each in self._leaves((args, kwargs)) if is_tensor(each)]
        line = f"{name} {self.said(args)} {self.said(kwargs)}"
        if not all(_memory(each) in self._owned for each in _written(op, args, kwargs)):
            raise NotRecorded(f"a call of '{name}', which writes to what is not the call's own")
        made = op(*args, **kwargs) if name != CONVOLUTION else _convolved(op, args)
        results = [each for each in self._leaves(made) if is_tensor(each)]
        self._owned |= {*map(_memory, results)}.difference(map(_memory, given))
        self.lines.append(f"{[*map(self._number, results)]} = {line}")
        return made

    def said(self, value: object) -> str:
        """Return a value as text; raises NotRecorded for one that no text identifies."""
        library = torch()
        if is_tensor(value):
            if value not in self._numbers:
                # The model has it somewhere, or has just made it of numbers.
                text = f"{described(value)} {self.data(value)}"
                self.lines.append(f"{self._number(value)} = {text}")
            return f"%{self._number(value)}"
        if is_sequence(value):
            return f"[{', '.join(map(self.said, value))}]"
        if isa(value, dict[str, object]):
            return f"{{{', '.join(f'{key!r}: {self.said(each)}' for key, each in value.items())}}}"
        kinds = (library.dtype, library.device, library.layout, library.memory_format)
        if value is None or isinstance(value, (bool, int, float, complex, str, *kinds)):
            return repr(value)
        raise NotRecorded(f"a value of type {type(value).__name__}")

    def data(self, tensor: Tensor) -> str:
        """Return a hash of the data of a tensor; raises NotRecorded where there is none."""
        if not has_data(tensor):
            raise NotRecorded("a tensor without data")
        without_modes = import_module("torch.utils._python_dispatch")._disable_current_modes
        with without_modes():
            plain = getattr(tensor.detach().cpu().contiguous(), "reshape")(-1)
            array: Tensor = plain.view(torch().uint8)
            return hashlib.sha256(array.numpy().tobytes()).hexdigest()


def _convolved(op: Callable[..., object], args: Sequence[object]) -> object:
    """Return zeros in the place of a convolution, where these lie in memory as its result does."""
    image, weight, _, stride, padding, dilation, transposed, _, _ = args
    assert is_tensor(image)
    assert is_tensor(weight)
    assert isa(stride, list[int])
    assert isa(padding, list[int])
    assert isa(dilation, list[int])
    in_order = all(getattr(each, "is_contiguous")() for each in (image, weight))
    axes = len(weight.shape) - 2
    if transposed or not in_order or len(image.shape) != axes + 2 or len(stride) != axes:
        return op(*args)
    sizes: list[object] = [image.shape[0], weight.shape[0]]
    for axis in range(axes):
        size, window = image.shape[2 + axis], weight.shape[2 + axis]
        assert isinstance(size, int)
        assert isinstance(window, int)
        span = dilation[axis] * (window - 1) + 1
        sizes.append((size + 2 * padding[axis] - span) // stride[axis] + 1)
    zeros: Tensor = getattr(image, "new_zeros")(sizes)
    return zeros


def _drops_nothing(op: object, args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
    """Whether an op that draws numbers for its dropout alone, such as attention, has none."""
    arguments: Sequence[object] = getattr(getattr(op, "_schema"), "arguments")
    names: list[str] = [getattr(each, "name") for each in arguments]
    if DROPOUT not in names:
        return False
    index = names.index(DROPOUT)
    default: object = getattr(arguments[index], "default_value")
    return (args[index] if index < len(args) else kwargs.get(DROPOUT, default)) == 0


def _written(op: object, args: Sequence[object], kwargs: Mapping[str, object]) -> Generator[Tensor]:
    """Yield the tensors among the arguments of an op that it writes to."""
    schema: object = getattr(op, "_schema")
    if not getattr(schema, "is_mutable"):
        return
    leaves: Callable[[object], Sequence[object]]
    leaves = import_module("torch.utils._pytree").tree_leaves
    for index, argument in enumerate(getattr(schema, "arguments")):
        given = args[index] if index < len(args) else kwargs.get(argument.name)
        if argument.alias_info is not None and argument.alias_info.is_write:
            yield from (each for each in leaves(given) if is_tensor(each))


def _memory(tensor: Tensor) -> int:
    """Return where the memory begins that a tensor is a part of."""
    address: int = getattr(tensor, "untyped_storage")().data_ptr()
    return address


def described(tensor: Tensor) -> str:
    """Return all that is known of a tensor but its data."""
    return f"{tuple(tensor.shape)} {tuple(tensor.stride())} {tensor.dtype} {tensor.device}"
