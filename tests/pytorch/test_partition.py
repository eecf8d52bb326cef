"""Graphs of which PyTorch runs what is not supported, against eager PyTorch."""

import copy
import logging
from collections.abc import Callable, Sequence

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional
from torch.utils._pytree import tree_leaves
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect import compile_torch, wait_until_compiled
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.compilation import MadeElsewhere
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.pytorch import cut_graph, dynamo, explain, gawee_backend
from tests.closeness import Tolerances
from tests.effort import taking_turns

pytestmark = pytest.mark.usefixtures("unoptimized")

# Sums of some hundred products in float32, in another order.
CLOSE = Tolerances(rtol=1e-4, atol=1e-4)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    torch._dynamo.reset()
    torch.manual_seed(7)
    monkeypatch.setattr(dynamo, "_told", set())


class Between(nn.Module):
    """Linear layers with something between them."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor], width: int = 64) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(width, width), nn.Linear(width, width)
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.function(functional.gelu(self.first(x)))).softmax(-1)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(12, 40), nn.Linear(40, 40)
        self.recurrent = nn.LSTM(40, 40, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.recurrent(self.first(x))[0])


class Training(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(n, 12, 3) for n in (3, 12))
        self.norms = nn.ModuleList(nn.BatchNorm2d(12) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = functional.dropout(norm(conv(x)).relu(), 0.3, self.training)
        return x


def several_results(x: torch.Tensor) -> torch.Tensor:
    left, values, right = torch.svd(x)
    return left * values + right[: len(left)].sum() * 1e-3


def data_dependent(x: torch.Tensor) -> torch.Tensor:
    return x * x[x > 0].sum()


def two_ways(x: torch.Tensor) -> torch.Tensor:
    return torch.special.bessel_j0(x) @ x.t() @ torch.special.bessel_j1(x @ x.t()) @ x


NETS: dict[str, Callable[[], tuple[Callable[..., object], Sequence[torch.Tensor]]]] = {
    "encoder layer": lambda: (
        nn.TransformerEncoderLayer(16, 2, 24, batch_first=True).eval(),
        (torch.randn(3, 5, 16),),
    ),
    "encoder layer, norms first": lambda: (
        nn.TransformerEncoderLayer(
            *(16, 4, 24), batch_first=True, norm_first=True, activation="gelu"
        ).eval(),
        (torch.randn(3, 5, 16),),
    ),
    "encoder layer with a mask": lambda: (
        nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 24, batch_first=True), 2).eval(),
        (torch.randn(3, 5, 16), torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)),
    ),
    "singular values": lambda: (Between(several_results), (torch.randn(70, 64),)),
    "random numbers": lambda: (
        Between(lambda x: torch.randn_like(x) * x + torch.rand(64)),
        (torch.randn(33, 64),),
    ),
    "training": lambda: (Training().train(), (torch.randn(3, 3, 15, 14),)),
    "recurrence": lambda: (Recurrent().eval(), (torch.randn(2, 5, 12),)),
    "complex output": lambda: (
        lambda x: torch.fft.fft(x @ x) * 2,
        (torch.randn(48, 48),),
    ),
    "complex input": lambda: (
        lambda x: (x @ x) * x.real.sum(),
        (torch.randn(48, 48, dtype=torch.complex64),),
    ),
    "complex between": lambda: (
        Between(lambda x: torch.linalg.eigvals(x[:64] + x[:64].T).abs().mean() * x),
        (torch.randn(70, 64),),
    ),
    "dtype": lambda: (Between(lambda x: x.to(torch.float8_e4m3fn).float()), (torch.randn(33, 64),)),
    "shapes that depend on data": lambda: (Between(data_dependent), (torch.randn(33, 64),)),
    "two ways": lambda: (Between(two_ways), (torch.randn(33, 64),)),
    "rows of memory": lambda: (
        Between(lambda x: torch.special.bessel_j0(x).as_strided((31, 64), (65, 1))),
        (torch.randn(33, 64),),
    ),
    "strides": lambda: (
        Between(lambda x: torch.special.bessel_j0(x.t()).as_strided((33, 64), (64, 1))),
        (torch.randn(33, 64),),
    ),
}


def agrees(
    net: Callable[..., object],
    inputs: Sequence[torch.Tensor],
    *,
    dynamic: bool | None = None,
    background: bool = False,
) -> Callable[..., object]:
    """Call a net compiled and as it is, with the same random numbers, and hold them together."""
    eager = copy.deepcopy(net)
    compiled = torch.compile(
        net, backend=gawee_backend, dynamic=dynamic, options={"background": background}
    )
    with torch.no_grad():
        for seed in range(2):
            torch.manual_seed(seed)
            got = compiled(*inputs)
            assert wait_until_compiled()
            torch.manual_seed(seed)
            torch.testing.assert_close(got, eager(*inputs), **CLOSE)
    if isinstance(net, nn.Module) and isinstance(eager, nn.Module):
        torch.testing.assert_close(net.state_dict(), eager.state_dict())
    return compiled


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize(
    "read",
    [
        lambda x: torch.relu(x.t()).as_strided((3, 2), (1, 3)),
        lambda x: x[1:].reshape(-1).as_strided((3, 2), (2, 1)),
        lambda x: (x + 1).as_strided((3, 2), (2, 1), 1),
    ],
    ids=["columns first", "a part of a tensor", "rows first"],
)
def test_memory_is_read_as_eager_lays_it_out(
    read: Callable[[torch.Tensor], torch.Tensor], dynamic: bool | None
) -> None:
    agrees(read, (torch.randn(4, 3),), dynamic=dynamic)


class ReadsCopy(nn.Module):
    """Reads the memory of a copy in row-major order."""

    def __init__(self, copied: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.copied = copied

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.copied(x).as_strided((3, 2), (1, 3), 1)


@pytest.mark.parametrize(
    "copied",
    [
        lambda x: x.t().contiguous(),
        lambda x: torch.relu(x.t().contiguous()),
        lambda x: x[:, 1:].flatten()[::2].contiguous(),
    ],
    ids=["columns first", "behind an elementwise op", "a part of a tensor"],
)
def test_memory_of_a_copy_is_read(copied: Callable[[torch.Tensor], torch.Tensor]) -> None:
    net, x = ReadsCopy(copied), torch.randn(5, 4)

    torch.testing.assert_close(compile_torch(net, (x,))(x), net(x))


def test_memory_in_another_order_is_refused_where_there_is_no_fallback() -> None:
    class Net(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x.t()).as_strided((3, 2), (1, 3))

    message = "unsupported 'as_strided' of a tensor that is not in row-major order"
    with pytest.raises(GaweeError, match=message):
        compile_torch(Net(), (torch.randn(4, 3),))


@pytest.mark.parametrize(("name", "dynamic"), taking_turns(NETS, [None, True]))
def test_what_is_not_supported_runs_by_pytorch(name: str, dynamic: bool | None) -> None:
    net, inputs = NETS[name]()

    agrees(net, inputs, dynamic=dynamic)


@pytest.mark.parametrize("name", ["training", "recurrence", "random numbers", "two ways"])
def test_the_same_holds_in_the_background(name: str) -> None:
    net, inputs = NETS[name]()

    agrees(net, inputs, background=True)


def test_a_graph_that_is_cut_takes_other_shapes(compilations: list[object]) -> None:
    net = Between(torch.special.bessel_j0)
    compiled = torch.compile(net, backend=gawee_backend, dynamic=True)

    with torch.no_grad():
        for rows in (33, 40, 21, 33):
            x = torch.randn(rows, 64)
            torch.testing.assert_close(compiled(x), net(x), **CLOSE)

    assert len(compilations) == 2  # parts before and after, each for any number of rows


def test_weights_of_parts_are_followed() -> None:
    net = Between(torch.special.bessel_j0).requires_grad_(False)
    compiled, x = torch.compile(net, backend=gawee_backend), torch.randn(33, 64)

    for write in (net.first.weight.mul_, net.last.weight.data.mul_):
        torch.testing.assert_close(compiled(x), net(x), **CLOSE)
        write(-0.5)
        torch.testing.assert_close(compiled(x), net(x), **CLOSE)


class Returned(nn.Module):
    """It returns its input, a view of it, and a buffer that it changes."""

    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(64, 64))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        self.total += torch.special.bessel_j0(x @ x)
        x.mul_(0.5)
        return x, x.t(), self.total, (self.total @ x)[2:]


def test_what_is_changed_and_returned_is_shared_as_it_is_in_pytorch() -> None:
    net, eager = Returned(), Returned()
    compiled = torch.compile(net, backend=gawee_backend)
    x = torch.randn(64, 64) * 0.1
    other = x.clone()

    with torch.no_grad():
        for _ in range(3):
            got, expected = compiled(x), eager(other)
            torch.testing.assert_close(got, expected, **CLOSE)
            assert got[0] is x
            assert got[1].data_ptr() == x.data_ptr()
            assert got[2].data_ptr() == net.total.data_ptr()


def test_one_warning_names_ops_lines_and_flops(caplog: pytest.LogCaptureFixture) -> None:
    net = Between(lambda x: torch.special.bessel_j0(torch.special.bessel_j0(x)))
    compiled = torch.compile(net, backend=gawee_backend, dynamic=True)

    with torch.no_grad(), caplog.at_level(logging.WARNING, "gawee_dialect"):
        for rows in (33, 20):
            compiled(torch.randn(rows, 64))

    (record,) = caplog.records
    assert "a graph is compiled in 2 parts, PyTorch runs 2 ops, 0.8% of the FLOPs" in record.message
    assert "aten.special_bessel_j0.default, 2 nodes: unsupported op" in record.message
    assert "test_partition.py:" in record.message


def test_without_fallback_all_that_is_not_supported_is_an_error() -> None:
    net = Between(lambda x: torch.special.bessel_j0(x) + torch.special.bessel_j1(x))
    compiled = torch.compile(net, backend=gawee_backend, options={"fallback": False})

    with torch.no_grad(), pytest.raises(Exception, match="unsupported op") as raised:
        compiled(torch.randn(33, 64))

    for name in ("special_bessel_j0", "special_bessel_j1"):
        assert f"unsupported op 'aten.{name}" in str(raised.value)


@pytest.mark.parametrize("named", [True, False])
def test_what_lowering_refuses_is_left_to_pytorch(
    named: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    program_of = dynamo.program_of

    def refuses(
        module: ModuleOp, options: CodeOptions, *, cache: bool, elsewhere: MadeElsewhere | None
    ) -> object:
        if "gawee.gelu" in str(module):
            raise GaweeError(Diagnostic("too hard", "here:1:1", "gelu" if named else None))
        return program_of(module, options, cache=cache, elsewhere=elsewhere)

    monkeypatch.setattr(dynamo, "program_of", refuses)

    net = Between(torch.special.bessel_j0)

    with caplog.at_level(logging.WARNING, "gawee_dialect"):
        agrees(net, (torch.randn(33, 64),))

    (record,) = caplog.records
    assert "too hard" in record.message
    assert record.exc_info is None


def test_an_internal_error_is_told_as_a_bug_and_stops_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(dynamo, "program_of", fails)

    with caplog.at_level(logging.WARNING, "gawee_dialect"):
        agrees(*NETS["singular values"]())

    (record,) = caplog.records
    assert "internal error: ZeroDivisionError('a bug')" in record.message
    assert record.exc_info is not None


def test_cutting_ends_with_everything_left_to_pytorch(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuses(*_: object, **__: object) -> object:
        raise GaweeError("too hard")

    monkeypatch.setattr(dynamo, "program_of", refuses)
    monkeypatch.setattr(cut_graph, "ATTEMPTS", 0)

    with caplog.at_level(logging.WARNING, "gawee_dialect"):
        agrees(Between(torch.special.bessel_j0), (torch.randn(33, 64),))

    (record,) = caplog.records
    assert "a graph stays with PyTorch" in record.message
    assert "refused with others" in record.message


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (data_dependent, "dynamic shape u0 in node 'index'"),
        (
            lambda x: torch.special.bessel_j0(x.t()).as_strided((9,), (3,)) @ x[:9, :9],
            "unsupported 'aten.as_strided.default' in a graph that is cut: parts change strides",
        ),
        (lambda x: x * torch.randn_like(x), "a graph computes the same in every call"),
    ],
)
def test_why_an_op_is_left_is_told(
    function: Callable[[torch.Tensor], torch.Tensor], reason: str
) -> None:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        (graph,) = explain(function, (torch.randn(33, 64),)).graphs

    assert any(reason in each.reason for each in graph.left)


def test_an_input_of_a_dtype_that_is_not_supported_is_read_by_pytorch() -> None:
    (graph,) = explain(lambda x: x.float() * 2, (torch.ones(5, dtype=torch.float8_e5m2),)).graphs

    assert graph.left[0].reason == "unsupported dtype 'float8_e5m2' of 'arg0_1'"


def test_a_part_too_small_to_pay_stays_with_pytorch(compilations: list[object]) -> None:
    agrees(lambda x: torch.special.bessel_j0(x + 1) * 2, (torch.randn(3, 5),))

    assert not compilations


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, None].transpose(0, 1),
        lambda x: [part.reshape(-1) for part in x.chunk(2)],
        lambda x: x,
        lambda x: x.t_(),
    ],
    ids=["one", "several", "none", "in place"],
)
def test_a_graph_of_views_alone_is_what_dynamo_found(
    view: Callable[[torch.Tensor], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    agrees(view, (torch.randn(4, 5),))
    torch._dynamo.reset()
    entered: list[object] = []
    monkeypatch.setattr(dynamo, "InferenceGraph", entered.append)
    compiled, x = torch.compile(view, backend=gawee_backend), torch.randn(4, 5)

    with torch.no_grad():
        made = tree_leaves(compiled(x))

    assert not entered
    for each in made:
        assert each.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def test_what_writes_to_its_argument_is_no_view() -> None:
    def write(x: torch.Tensor) -> torch.Tensor:
        x[1:].add_(1)
        return x.t()

    compiled, (ours, theirs) = torch.compile(write, backend=gawee_backend), torch.ones(2, 3, 4)
    with torch.no_grad():
        torch.testing.assert_close(compiled(ours), write(theirs))

    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(("size", "algorithms"), [(4, "exact"), (7, "fast")])
def test_statistics_of_few_values_are_taken_of_exact_sums(
    size: int, algorithms: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[str] = []

    def program_of(
        module: ModuleOp, options: CodeOptions, *, cache: bool, elsewhere: MadeElsewhere | None
    ) -> object:
        chosen.append(options.algorithms)
        return make(module, options, cache=cache, elsewhere=elsewhere)

    make = dynamo.program_of
    monkeypatch.setattr(dynamo, "program_of", program_of)

    agrees(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)), (torch.randn(2, 3, size, size),))

    assert chosen == [algorithms]


def test_gradients_are_told_once_with_the_remedy(caplog: pytest.LogCaptureFixture) -> None:
    net, (x,) = Training().train(), (torch.randn(3, 3, 15, 14),)
    eager = copy.deepcopy(net)
    compiled = torch.compile(net, backend=gawee_backend)

    with caplog.at_level(logging.WARNING, "gawee_dialect"):
        for seed in range(2):
            results: list[torch.Tensor] = []
            for each in (compiled, eager):
                torch.manual_seed(seed)
                results.append(each(x))
                results[-1].square().sum().backward()
            torch.testing.assert_close(*results)

    for ours, theirs in zip(net.parameters(), eager.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)
    (record,) = caplog.records
    assert "nothing is compiled: gradients flow through this graph" in record.message
    assert "hint: call the model under torch.no_grad()" in record.message
