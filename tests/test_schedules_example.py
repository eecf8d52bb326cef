"""The schedules of examples/schedules.py: short, what they say, and right on odd sizes.

Numbers are compared with PyTorch's in f32, within 1e-5 of the range: roundings of sums of up to 147
terms, and of exponentials.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from examples import attention_by_keys, schedules
from examples.attention_by_keys import AttentionByKeys
from gawee_dialect.code_options import EXACT, CodeOptions
from gawee_dialect.model import Model
from gawee_dialect.passes.insertion import Insertion
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.scheduling import schedule
from gawee_dialect.scheduling.kernels import NetworkSchedule
from gawee_dialect.universe import make_context
from tests.passes.modules import parse

pytest.importorskip("torch")

import torch
from torch.nn import functional

Arrays = dict[str, np.ndarray]


def network(result: str, body: str, **shapes: str) -> tuple[Model, Arrays]:
    """A function of one op, or a few, on random arrays; `x` is its input."""
    generator = np.random.default_rng(4)
    arrays = {
        name: generator.standard_normal([int(size) for size in shape.split("x")]).astype(np.float32)
        for name, shape in shapes.items()
    }
    given = ", ".join(
        f"%{name}: tensor<{shape}xf32> {{gawee.{'input' if name == 'x' else 'parameter'} = "
        f'"{name}"}}'
        for name, shape in shapes.items()
    )
    text = f'func.func @main({given}) -> (tensor<{result}xf32> {{gawee.output = "y"}}) {{\n'
    text += f"  {body}\n  func.return %y : tensor<{result}xf32>\n}}"
    parameters = {name: array for name, array in arrays.items() if name != "x"}
    return Model(parse(text), parameters), arrays


def conv(x: str, w: str, y: str, groups: int, stride: int, padding: int) -> str:
    """A convolution of `%x` with `%w`."""
    return (
        f"%y = gawee.conv %x, %w strides [{stride}, {stride}] "
        f"padding [{padding}, {padding}, {padding}, {padding}] dilations [1, 1] groups {groups} : "
        f"(tensor<{x}xf32>, tensor<{w}xf32>) -> tensor<{y}xf32>"
    )


def tensors(arrays: Arrays) -> dict[str, "torch.Tensor"]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def check(
    made: tuple[Model, Arrays],
    steps: Callable[[NetworkSchedule], object],
    expected: Callable[..., "torch.Tensor"],
) -> NetworkSchedule:
    """Compile a network by a schedule, and compare it with PyTorch."""
    model, arrays = made
    options = CodeOptions(num_threads=2, algorithms=EXACT)
    sch = schedule(model, options)
    steps(sch)
    run = model.compile(replace(options, schedules=sch.database()), cache=False)
    wanted = expected(**tensors(arrays)).numpy()
    assert np.abs(run(arrays["x"]) - wanted).max() <= 1e-5 * np.ptp(wanted)
    return sch


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize(("m", "n", "k"), [(37, 101, 59), (4, 7, 33)])
def test_goto_matmul(m: int, n: int, k: int, lanes: int) -> None:
    body = (
        f"%y = gawee.matmul %x, %w : (tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>) "
        f"-> tensor<{m}x{n}xf32>"
    )

    sch = check(
        network(f"{m}x{n}", body, x=f"{m}x{k}", w=f"{n}x{k}"),
        lambda sch: schedules.goto_matmul(sch["matmul *"], lanes),
        lambda x, w: x @ w.T,
    )

    assert "pack x" in str(sch["matmul *"])


@pytest.mark.parametrize("lanes", [8, 16])
def test_direct_conv(lanes: int) -> None:
    x, w, y = "2x3x17x13", "21x3x7x7", "2x21x9x7"

    check(
        network(y, conv(x, w, y, 1, 2, 3), x=x, w=w),
        lambda sch: schedules.direct_conv(sch["conv *"], lanes),
        lambda x, w: functional.conv2d(x, w, stride=2, padding=3),
    )


@pytest.mark.parametrize("lanes", [8, 16])
def test_depthwise_conv(lanes: int) -> None:
    x, w = "2x5x11x19", "5x1x3x3"

    check(
        network(x, conv(x, w, x, 5, 1, 1), x=x, w=w),
        lambda sch: schedules.depthwise_conv(sch["conv *"], lanes),
        lambda x, w: functional.conv2d(x, w, padding=1, groups=5),
    )


@pytest.mark.parametrize("shape", ["5x301", "7x9", "1x40"])
def test_softmax(shape: str) -> None:
    body = f"%y = gawee.softmax %x axis 1 : (tensor<{shape}xf32>) -> tensor<{shape}xf32>"

    check(network(shape, body, x=shape), schedules.softmax, lambda x: torch.softmax(x, 1))


@pytest.mark.parametrize("shape", ["5x301", "3x4x9"])
def test_layer_norm(shape: str) -> None:
    last = int(shape.rpartition("x")[2])
    body = f"%y = gawee.layer_norm %x normalized_rank 1 eps 1.000000e-05 : tensor<{shape}xf32>"

    check(
        network(shape, body, x=shape),
        schedules.layer_norm,
        lambda x: functional.layer_norm(x, [last]),
    )


def test_inverted_residual() -> None:
    x, hidden, y = "2x6x9x11", "2x20x9x11", "2x6x9x11"
    expand, apart, project = "20x6x1x1", "20x1x3x3", "6x20x1x1"

    def one(name: str, of: str, weights: str, types: tuple[str, str, str], groups: int) -> str:
        padding = 1 if groups > 1 else 0
        first, second, third = types
        return (
            f"%{name} = gawee.conv %{of}, %{weights} strides [1, 1] "
            f"padding [{padding}, {padding}, {padding}, {padding}] dilations [1, 1] "
            f"groups {groups} : (tensor<{first}xf32>, tensor<{second}xf32>) -> tensor<{third}xf32>"
        )

    body = "\n  ".join(
        (
            one("a", "x", "v", (x, expand, hidden), 1),
            one("b", "a", "w", (hidden, apart, hidden), 20),
            one("c", "b", "u", (hidden, project, y), 1),
            f"%y = gawee.add %c, %x : (tensor<{y}xf32>, tensor<{x}xf32>) -> tensor<{y}xf32>",
        )
    )

    sch = check(
        network(y, body, x=x, v=expand, w=apart, u=project),
        schedules.inverted_residual,
        lambda x, v, w, u: (
            functional.conv2d(
                functional.conv2d(functional.conv2d(x, v), w, padding=1, groups=20), u
            )
            + x
        ),
    )

    assert all(kernel.script.steps for kernel in sch), str(sch)
    assert len(sch) >= 3


@pytest.mark.parametrize("leading", [(), (3,), (2, 3)], ids=str)
def test_attention_in_one_pass_over_keys(leading: tuple[int, ...]) -> None:
    q, k = ("x".join(map(str, (*leading, count, 7))) for count in (5, 24))
    body = (
        f"%y = gawee.attention %x, %k, %k scale 3.5e-01 : "
        f"(tensor<{q}xf32>, tensor<{k}xf32>, tensor<{k}xf32>) -> tensor<{q}xf32>"
    )
    model, arrays = network(q, body, x=q, k=k)
    arrays["k"][..., :3, :] *= 9  # the greatest scores come first, and are never scaled
    arrays["k"][..., 20:, :] *= 20  # or last, and scale all others
    passes = (Insertion.at("after=fuse-attention", (AttentionByKeys(9),)),)  # 8 divide
    options = CodeOptions(num_threads=2, passes=passes)

    assert "scf.for" in str(model.lowered("kernels", options))
    assert "scf.for" not in str(model.lowered("kernels", replace(options, passes=())))
    got = model.compile(options, cache=False)(arrays["x"])
    x, keys = torch.from_numpy(arrays["x"]), torch.from_numpy(arrays["k"])
    wanted = functional.scaled_dot_product_attention(x, keys, keys, scale=0.35).numpy()
    assert np.abs(got - wanted).max() <= 1e-5 * np.ptp(wanted)


@pytest.mark.parametrize(
    ("keys", "more", "mask"), [(23, "", ""), (8, "causal ", ""), (16, "", "mask %m ")]
)
def test_other_attention_stays(keys: int, more: str, mask: str) -> None:
    types = ["tensor<5x7xf32>", *[f"tensor<{keys}x7xf32>"] * 2, *["tensor<5x16xf32>"] * bool(mask)]
    body = (
        f"%y = gawee.attention %x, %k, %k {mask}scale 3.5e-01 {more}: "
        f"({', '.join(types)}) -> tensor<5x7xf32>"
    )
    shapes = {"x": "5x7", "k": f"{keys}x7"} | ({"m": "5x16"} if mask else {})
    model = network("5x7", body, **shapes)[0]
    was = str(model.module)

    run_passes(make_context(), model.module, (AttentionByKeys(16 if keys == 23 else 8),))

    assert str(model.module) == was


def test_each_schedule_is_short() -> None:
    functions = [
        each
        for module in (schedules, attention_by_keys)
        for _, each in inspect.getmembers(module, inspect.isfunction)
        if each.__module__ == module.__name__
    ]

    assert len(functions) == 13
    assert all(len(inspect.getsource(each).splitlines()) <= 40 for each in functions)
