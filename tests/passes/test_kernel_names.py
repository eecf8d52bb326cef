"""Each kernel of a network has the name of the node that does its work.

Oracle: the FLOPs that the graph's own cost counts for each node.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

import gawee_dialect
from examples.resnet18.write_graph import write_resnet18
from examples.unet.write_graph import write_unet
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.model import Model
from tests.effort import mostly_full

ROOT = Path(__file__).parents[2]
NETWORKS: dict[str, Callable[[Path], Path]] = {
    "digits": lambda folder: ROOT / "examples" / "digits" / "graph.json",
    "resnet18": lambda folder: write_resnet18(folder, seed=1, size=32, width=4),
    "unet": lambda folder: write_unet(folder, seed=2, size=32, width=4),
    "transformer block": lambda folder: ROOT / "tests" / "networks" / "transformer_block.json",
    "lstm": lambda folder: ROOT / "tests" / "networks" / "lstm.json",
}


def names(module: ModuleOp, kinds: tuple[type[Operation], ...]) -> set[str | None]:
    return {op.results[0].name_hint for op in module.walk() if isinstance(op, kinds)}


@pytest.mark.parametrize("network", mostly_full([*NETWORKS]))
def test_convolutions_and_products_are_kernels_of_their_names(network: str, tmp_path: Path) -> None:
    model = gawee_dialect.load(NETWORKS[network](tmp_path), {})
    products = names(model.module, (ConvOp, MatMulOp, BatchMatMulOp))
    assert products

    kernels = names(model.lowered("kernels"), (StructuredKernel,))

    assert products - {None} <= kernels
    assert None not in kernels


def test_kernels_of_a_graph_of_pytorch_have_the_modules_in_their_names() -> None:
    pytest.importorskip("torch")
    import torch

    class Scores(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key = torch.nn.Linear(3, 5), torch.nn.Linear(3, 5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(self.query(x) + self.key(x), dim=-1)

    with torch.device("meta"):
        ir = gawee_dialect.extract_ir(Scores().eval(), (torch.zeros(2, 3),))
    model = Model(gawee_dialect.import_ir(ir))

    kernels = names(model.lowered("kernels"), (StructuredKernel,))

    assert {"query_addmm", "key_addmm"} <= kernels
