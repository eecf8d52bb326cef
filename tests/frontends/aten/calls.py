"""One call of an ATen op: as a graph of one node, by this project; and by PyTorch itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias, TypeVar

import numpy as np
import torch
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, Attributes, AttributeValue, OpNode, TensorMeta
from gawee_dialect.interpreter import run_module
from gawee_dialect.model import Model
from gawee_dialect.pytorch.tensors import array_of_tensor
from tests.closeness import assert_allclose

Value: TypeAlias = object

T = TypeVar("T")


@dataclass
class Call:
    """Arguments of an op; `outputs` are the results to compare, all by default."""

    args: Sequence[Value]
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    outputs: Sequence[int] | None = None
    rtol: float = 1e-5  # float32 functions of other libraries differ in their last bits
    atol: float = 1e-6


@dataclass
class Draw:
    """What a call is drawn from."""

    random: Random

    def choice(self, *values: T) -> T:
        return self.random.choice(values)

    def shape(self, low: int = 1, high: int = 4, *, smallest: int = 1) -> tuple[int, ...]:
        return tuple(self.int(smallest, 4) for _ in range(self.int(low, high)))

    def dim(self, shape: Sequence[int]) -> int:
        return self.int(-len(shape), len(shape) - 1)

    def floats(self, *shape: int, low: float = -3, high: float = 3, dtype=torch.float32):
        generator = torch.Generator().manual_seed(self.int(0, 10**6))
        values = torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low
        return values.to(dtype)

    def ints(self, *shape: int, low: int = -5, high: int = 5, dtype=torch.int64):
        generator = torch.Generator().manual_seed(self.int(0, 10**6))
        return torch.randint(low, high + 1, shape, generator=generator).to(dtype)

    def bools(self, *shape: int):
        return self.ints(*shape, low=0, high=1).bool()

    def tensor(self, *shape: int, dtypes=(torch.float32, torch.float64, torch.int64, torch.int32)):
        dtype = self.choice(*dtypes)
        if dtype == torch.bool:
            return self.bools(*shape)
        if dtype.is_floating_point:
            return self.floats(*shape, dtype=dtype)
        return self.ints(*shape, low=0 if dtype == torch.uint8 else -5, dtype=dtype)

    def broadcastable(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts with another."""
        kept = [self.choice(size, 1) for size in shape]
        return tuple(kept[self.int(0, len(kept)) :])

    # Last: from here on `int` and `bool` are these in the class, for annotations too.
    def bool(self) -> bool:
        return self.choice(False, True)

    def int(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


Case: TypeAlias = Callable[[Draw], Call]

CASES: dict[str, Case] = {}
"""By the full name of the op: how its calls are drawn."""


def case(*names: str) -> Callable[[Case], Case]:
    def register(function: Case) -> Case:
        for name in names:
            assert name not in CASES, name
            CASES[name] = function
        return function

    return register


def find_overload(name: str) -> torch._ops.OpOverload:
    namespace, op, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), op), overload)


def encoded(value: Value) -> AttributeValue:
    if isinstance(value, torch.dtype | torch.memory_format | torch.layout):
        return str(value)
    if isinstance(value, list | tuple):
        return [encoded(each) for each in value]
    assert value is None or isinstance(value, bool | int | float | str), value
    return value


def meta(name: str, tensor: torch.Tensor) -> TensorMeta:
    return TensorMeta(name, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))


class OneNode:
    """A graph of one call, written as `ir.py` says; and the arrays that go into it."""

    def __init__(self, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        self.inputs: dict[str, torch.Tensor] = {}
        self.attrs: Attributes = {}
        self.sizes: list[AttributeValue] = []
        self.masks: list[AttributeValue] = []
        schema = find_overload(name)._schema.arguments
        names = [argument.name for argument in schema]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        for argument in schema:
            kind = str(argument.type)
            if argument.name in given:
                self.add(argument.name, given[argument.name], kind)
            elif "Tensor" in kind:
                self.attrs[argument.name] = None
        self.attrs |= {"_tensor_list_sizes": self.sizes} if self.sizes else {}
        self.attrs |= {"_tensor_list_none_masks": self.masks} if self.masks else {}

    def add(self, name: str, value: Value, kind: str) -> None:
        if isinstance(value, torch.Tensor):
            self.inputs[f"in{len(self.inputs)}"] = value
        elif "Tensor" in kind and "List" in kind:
            assert isinstance(value, list | tuple)
            tensors = [each for each in value if each is not None]
            self.sizes.append(len(tensors))
            if len(tensors) < len(value):
                self.masks.append([each is None for each in value])
            for each in tensors:
                self.inputs[f"in{len(self.inputs)}"] = each
        else:
            self.attrs[name] = encoded(value)

    def graph(self, op: str, results: Sequence[torch.Tensor], single: bool, keep: Sequence[int]):
        inputs = [meta(name, value) for name, value in self.inputs.items()]
        names = ["node"] if single else [f"node_{index}" for index in range(len(results))]
        outputs = [meta(name, value) for name, value in zip(names, results, strict=True)]
        node = OpNode("node", op, inputs, outputs, self.attrs)
        return NPU_IR([node], inputs, [outputs[index] for index in keep], [])


def run_at(module: ModuleOp, arrays: Mapping[str, np.ndarray], level: str) -> dict[str, np.ndarray]:
    # Straight to the interpreter: most of what a Model does is for graphs that are lowered.
    return run_module(module, arrays) if level == "gawee" else Model(module).run(arrays, level)


def check(op: str, call: Call, level: str = "gawee") -> None:
    """Hold a call at a level against PyTorch."""
    expected = find_overload(op)(
        *[each.clone() if isinstance(each, torch.Tensor) else each for each in call.args],
        **call.kwargs,
    )
    single = isinstance(expected, torch.Tensor)
    results = [expected] if single else list(expected)
    keep = range(len(results)) if call.outputs is None else call.outputs
    one = OneNode(op, call.args, call.kwargs)
    module = import_ir(one.graph(op, results, single, keep))
    arrays = {name: array_of_tensor(value.contiguous()) for name, value in one.inputs.items()}
    outputs = run_at(module, arrays, level).values()
    for index, output in zip(keep, outputs, strict=True):
        want = array_of_tensor(results[index])
        assert output.dtype == want.dtype
        assert output.shape == want.shape
        slack = 400 if want.dtype == np.float16 else 1
        if want.dtype.name == "bfloat16":
            output, want, slack = output.astype(np.float32), want.astype(np.float32), 2000
        assert_allclose(output, want, rtol=call.rtol * slack, atol=call.atol * slack)
