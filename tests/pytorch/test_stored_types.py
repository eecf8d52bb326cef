"""bfloat16 and int16 as what inputs, weights and results are stored in, against PyTorch."""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("ml_dtypes")

import torch
from torch import nn
from torch.nn import functional

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir import NPU_IR
from gawee_dialect.pytorch import compile_torch, execute_ir
from gawee_dialect.pytorch.execute import ENGINES, ir_model
from gawee_dialect.pytorch.tensors import array_of_tensor, tensor_of_array
from tests.closeness import Tolerances, assert_allclose

# Both round the float32 result of every op to the nearest bfloat16; sums in another order may fall
# on the other side of a tie, which is one unit in the last place (2^-8), and later ops carry it on.
CLOSE = Tolerances(rtol=3 * 2**-8, atol=2**-8)
EXACT = Tolerances(rtol=0, atol=0)

LEVELS = ("gawee", "linalg", "loops", "llvm")


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 9, 3, 2, 1, bias=False)
        self.norm = nn.BatchNorm2d(9)
        self.branch = nn.Conv2d(9, 9, 3, padding=1, groups=3)
        self.head = nn.Linear(9, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.max_pool2d(self.norm(self.stem(x)).relu(), 3, 2, 1)
        y = (self.branch(y) + y).relu()
        return self.head(y.mean((2, 3))).softmax(-1)


class Mlp(nn.Module):
    """Its second result only moves elements, its third is a constant that is no weight."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(33)
        self.wide, self.narrow = nn.Linear(33, 65), nn.Linear(65, 33)
        self.table = torch.randn(7, 1).bfloat16()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        y = x + self.narrow(functional.gelu(self.wide(self.norm(x))))
        moved = torch.cat([x, self.table], 1).reshape(7, 2, 17).transpose(0, 1)[..., ::3]
        return y, moved, y.float() * self.table + torch.sum(y, 1, True, dtype=torch.bfloat16)


class Integers(nn.Module):
    weight: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.arange(-15000, 15000, 6001, dtype=torch.int16))

    def forward(
        self, x: torch.Tensor, y: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        wrapped = x * self.weight + y * 3
        shifted = (wrapped >> 3) ^ (y << 2)
        chosen = torch.where(wrapped > y, shifted, -x)
        return wrapped, chosen, chosen <= 5, chosen.sum(1)


def halves(*shape: int) -> torch.Tensor:
    return torch.randn(*shape).bfloat16()


def shorts(*shape: int) -> torch.Tensor:
    return torch.randint(-3000, 3000, shape, dtype=torch.int16)


CASES = {
    "residual": (lambda: Residual().bfloat16(), lambda: (halves(2, 3, 17, 19),)),
    "mlp": (lambda: Mlp().bfloat16(), lambda: (halves(7, 33),)),
    "integers": (Integers, lambda: (shorts(3, 5), shorts(3, 5))),
}


def made(name: str) -> tuple[nn.Module, tuple[torch.Tensor, ...], list[torch.Tensor]]:
    torch.manual_seed(3)
    make, inputs = CASES[name]
    model, given = make().eval(), inputs()
    with torch.no_grad():
        results = model(*given)
    return model, given, list(results) if isinstance(results, tuple) else [results]


def assert_same(found: Sequence[object], expected: list[torch.Tensor]) -> None:
    for got, want in zip(found, expected, strict=True):
        close = CLOSE if want.is_floating_point() else EXACT
        torch.testing.assert_close(got, want, **close)


@pytest.mark.parametrize("name", CASES)
def test_a_model_computes_what_it_does_in_pytorch_at_every_level(name: str) -> None:
    model, inputs, expected = made(name)
    compiled = compile_torch(model, inputs)
    names = [each.name for each in compiled.ir.graph_inputs]
    arrays = dict(zip(names, map(array_of_tensor, inputs), strict=True))
    graph = ir_model(compiled.ir, model.state_dict())

    found = compiled(*inputs)

    assert_same(found if isinstance(found, tuple) else [found], expected)
    for level in LEVELS:
        results = graph.run(arrays, level).values()
        assert_same([tensor_of_array(each) for each in results], expected)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_a_graph_and_its_weights_come_from_files(name: str, engine: str, tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    model, inputs, expected = made(name)
    compile_torch(model, inputs).ir.save(tmp_path / "graph.json")
    safetensors.save_file(dict(model.state_dict()), tmp_path / "weights.safetensors")

    ir = NPU_IR.load(tmp_path / "graph.json")
    found = execute_ir(ir, inputs, tmp_path / "weights.safetensors", engine=engine)

    assert_same(found, expected)


def test_products_of_groups_of_rows() -> None:
    class Experts(nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
            return functional.grouped_mm(x, w, offs=ends)

    torch.manual_seed(3)
    inputs = halves(11, 16), halves(3, 16, 24), torch.tensor([3, 3, 11], dtype=torch.int32)

    assert_same([compile_torch(Experts(), inputs)(*inputs)], [Experts()(*inputs)])


def test_torch_compile_takes_bfloat16() -> None:
    torch._dynamo.reset()
    model, inputs, expected = made("mlp")
    with torch.no_grad():
        found = torch.compile(model, backend="gawee")(*inputs)

    assert_same(found, expected)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = halves(3)
    assert array_of_tensor(tensor).dtype.name == "bfloat16"
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)

    message = "unsupported dtype bfloat16 of input 'x': NumPy has it from ml_dtypes, which is not"
    with pytest.raises(GaweeError, match=message):
        array_of_tensor(tensor, "input 'x'")


def test_memory_of_bfloat16_is_shared() -> None:
    tensor = halves(2, 3)
    array = array_of_tensor(tensor)
    array[1, 2] = np.float32(7)

    assert tensor[1, 2] == 7
    assert tensor_of_array(array).data_ptr() == tensor.data_ptr()


def test_sums_at_positions_are_of_bfloat16_too() -> None:
    x, index = torch.randn(3, 5).bfloat16(), torch.tensor([[0, 0, 2, 2, 1]])

    class Sums(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x.scatter_add(1, index, x), x.index_add(0, index[0, :3], x)

    made, expected = compile_torch(Sums(), (x,))(x), Sums()(x)
    assert isinstance(made, tuple)
    for got, want in zip(made, expected, strict=True):
        assert_allclose(array_of_tensor(got.float()), array_of_tensor(want.float()), **CLOSE)


@pytest.mark.parametrize("dtype", [torch.int16, torch.float16, torch.float32, torch.uint8])
def test_bits_of_bfloat16(dtype: torch.dtype) -> None:
    x = torch.randn(3, 4).bfloat16()

    class Bits(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.view(dtype)

    class Back(nn.Module):
        def forward(self, bits: torch.Tensor) -> torch.Tensor:
            return bits.view(torch.bfloat16)

    bits = x.view(dtype)
    made, back = compile_torch(Bits(), (x,))(x), compile_torch(Back(), (bits,))(bits)
    assert isinstance(made, torch.Tensor)
    assert isinstance(back, torch.Tensor)
    assert made.view(torch.bfloat16).equal(x)
    assert back.equal(x)
