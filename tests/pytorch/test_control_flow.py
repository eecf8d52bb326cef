"""Branches and loops that a run decides, from PyTorch, against PyTorch."""

from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir.json_text import load_ir, save_ir
from gawee_dialect.pytorch.execute import ENGINES, execute_ir
from tests.closeness import assert_allclose

pytest.importorskip("torch")
import torch
from torch._higher_order_ops.while_loop import while_loop

from gawee_dialect.frontends.npu_ir.extract import extract_ir
from gawee_dialect.frontends.npu_ir.ir import ConversionError
from gawee_dialect.pytorch.compiled import compile_torch

pytestmark = pytest.mark.usefixtures("unoptimized")

TOLERANCE = 1e-5
"""Of a product of eight numbers, and what follows it: both ways, in float32."""


@pytest.fixture(autouse=True)
def traced_afresh() -> None:
    # After many graphs of one function, torch.export calls it skipped.
    torch._dynamo.reset()


class Branch(torch.nn.Module):
    """A layer where a condition holds, and a softmax else; both read what is around them."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, taken: torch.Tensor) -> torch.Tensor:
        offset = x.mean(dim=0)

        def layer(x: torch.Tensor) -> tuple[torch.Tensor]:
            return (torch.relu(self.layer(x)) + offset,)

        def softmax(x: torch.Tensor) -> tuple[torch.Tensor]:
            return (torch.softmax(x, -1),)

        return torch.cond(taken, layer, softmax, (x,))[0] * 2


class Steps(torch.nn.Module):
    """A layer, as often as an input says; returns how often, too."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, count: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        def goes_on(step: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
            return step < count

        def body(step: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return step + 1, torch.tanh(self.layer(state))

        step, state = while_loop(goes_on, body, (torch.zeros((), dtype=torch.int64), x))
        return state, step


def compare(tmp_path: Path, net: torch.nn.Module, x: torch.Tensor, *decides: int) -> None:
    """Run a model by each engine, from a file, and by PyTorch, with each of some second inputs."""
    ir = extract_ir(net.eval(), (x, torch.tensor(decides[0])), strict=False)
    save_ir(ir, tmp_path / "net.json")
    read = load_ir(tmp_path / "net.json")
    assert read == ir
    for decided in decides:
        inputs = x, torch.tensor(decided)
        with torch.no_grad():
            made = net(*inputs)
        wanted = made if isinstance(made, tuple) else (made,)
        for engine in ENGINES:
            got = execute_ir(read, inputs, net.state_dict(), engine=engine)
            for one, expected in zip(got, wanted, strict=True):
                assert isinstance(one, torch.Tensor)
                error = f"{decided} by {engine}"
                assert_allclose(
                    one.numpy(), expected.numpy(), rtol=TOLERANCE, atol=TOLERANCE, err_msg=error
                )


def test_a_branch_is_run_where_it_is_chosen(tmp_path: Path) -> None:
    torch.manual_seed(0)

    compare(tmp_path, Branch(), torch.randn(4, 8), True, False)


def test_a_loop_takes_as_many_steps_as_a_run_says(tmp_path: Path) -> None:
    torch.manual_seed(0)

    compare(tmp_path, Steps(), torch.randn(4, 8), 0, 1, 5)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_branch_takes_open_sizes(engine: str) -> None:
    torch.manual_seed(0)
    net, taken = Branch().eval(), torch.tensor(True)
    sizes = ({0: torch.export.Dim("batch", min=2, max=16)}, None)
    ir = extract_ir(net, (torch.randn(4, 8), taken), strict=False, dynamic_shapes=sizes)
    x = torch.randn(7, 8)

    (got,) = execute_ir(ir, (x, taken), net.state_dict(), engine=engine)

    assert isinstance(got, torch.Tensor)
    with torch.no_grad():
        assert_allclose(got.numpy(), net(x, taken).numpy(), rtol=TOLERANCE, atol=TOLERANCE)


class NestedBranches(torch.nn.Module):
    """Branches in branches, one of which makes tensors of sizes that nothing else has."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, taken: torch.Tensor) -> torch.Tensor:
        def attend(x: torch.Tensor) -> torch.Tensor:
            y = self.layer(x.reshape(-1, 8)).reshape(x.shape)
            return torch.softmax(y @ y.transpose(1, 2), -1) @ y

        def choose(x: torch.Tensor) -> torch.Tensor:
            return torch.cond(
                x.sum() > 0,
                lambda x: x * 2,
                lambda x: torch.cat([x, x], 1).mean(1, keepdim=True) + x,
                (x,),
            )

        return torch.cond(taken, attend, choose, (x,)).relu()


class RepeatedLayer(torch.nn.Module):
    """A layer and a mean over the length, as often as an input says."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
        def goes_on(step: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
            return step < count

        def body(step: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return step + 1, torch.tanh(self.layer(state)) + state.mean(1, keepdim=True)

        return while_loop(goes_on, body, (torch.zeros((), dtype=torch.int64), x))[1]


class LookUps(torch.nn.Module):
    """Rows of one table or of another; both are looked up in a branch of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Embedding(50, 8), torch.nn.Embedding(50, 8)

    def forward(self, tokens: torch.Tensor, taken: torch.Tensor) -> torch.Tensor:
        return torch.cond(taken, lambda t: self.first(t), lambda t: self.second(t) * 2, (tokens,))


@pytest.mark.parametrize(
    ("kind", "decides"),
    [(NestedBranches, (True, False)), (RepeatedLayer, (0, 1, 3)), (LookUps, (True, False))],
)
def test_one_code_for_all_sizes_has_branches_and_loops(
    kind: type[torch.nn.Module], decides: tuple[int, ...]
) -> None:
    torch.manual_seed(0)
    net = kind().eval()

    def draw(batch: int, length: int) -> torch.Tensor:
        tokens = torch.randint(50, (batch, length))
        return tokens if kind is LookUps else torch.randn(batch, length, 8)

    dims = {
        0: torch.export.Dim("batch", min=2, max=16),
        1: torch.export.Dim("length", min=2, max=64),
    }
    compiled = compile_torch(
        net, (draw(3, 5), torch.tensor(decides[0])), dynamic_shapes=(dims, None)
    )

    for batch, length in ((2, 2), (5, 33), (16, 64)):
        for decided in map(torch.tensor, decides):
            x = draw(batch, length)
            with torch.no_grad():
                wanted = net(x, decided)
            got = compiled(x, decided)
            assert isinstance(got, torch.Tensor)
            assert_allclose(got.numpy(), wanted.numpy(), rtol=TOLERANCE, atol=TOLERANCE)


def test_an_index_out_of_range_in_a_branch_is_named() -> None:
    net, taken = LookUps().eval(), torch.tensor(False)
    compiled = compile_torch(net, (torch.zeros(3, 5, dtype=torch.int64), taken))

    with pytest.raises(GaweeError, match="index 50 is out of bounds for axis 0 with size 50"):
        compiled(torch.full((3, 5), 50), taken)


def test_a_branch_of_unsupported_nodes_names_them() -> None:
    net = Branch()
    ir = extract_ir(net, (torch.randn(4, 8), torch.tensor(True)), strict=False)
    decides = next(node for node in ir.nodes if node.graphs)
    decides.graphs["true_graph"].nodes[0].op_type = "aten.no_such_op.default"

    with pytest.raises(
        ConversionError, match=r"unsupported op 'aten\.no_such_op\.default' of node"
    ):
        execute_ir(ir, (np.zeros((4, 8), np.float32), np.asarray(True)), net.state_dict())
