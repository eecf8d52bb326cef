"""Networks compiled for AArch64 and run by an emulator, against what PyTorch computed.

Debian's packages `gcc-aarch64-linux-gnu` and `qemu-user` have what it takes.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

import gawee_dialect
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.entry import find_function
from tests.closeness import assert_allclose
from tests.effort import full_run

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
TRIPLE = "aarch64-unknown-linux-gnu"

pytestmark = pytest.mark.skipif(
    shutil.which(COMPILER) is None or shutil.which(EMULATOR) is None,
    reason=f"needs {COMPILER} and {EMULATOR}",
)


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def computed(
    model: gawee_dialect.Model, x: np.ndarray, target: str, threads: int, folder: Path
) -> np.ndarray:
    """Return a network's one output, computed by a program for AArch64."""
    (found,) = all_computed(model, [x], [np.dtype("float32")], target, threads, folder)
    return found


def all_computed(
    model: gawee_dialect.Model,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.dtype[np.generic]],
    target: str,
    threads: int,
    folder: Path,
) -> Sequence[np.ndarray]:
    """Return outputs of these types, without their shapes, by a program for AArch64."""
    options = CodeOptions(target=target, num_threads=threads)
    model.save(folder, ("example", "asm"), options, triple=TRIPLE, name="net")
    for number, value in enumerate(inputs):
        (folder / f"x{number}.bin").write_bytes(np.ascontiguousarray(value).tobytes())
    built = ("net_example/main.c", "net.o", "-I.", "-fopenmp", "-static", "-o", "net", "-lm")
    run(folder, COMPILER, *built)
    given = [f"x{number}.bin" for number in range(len(inputs))]
    made = [f"y{number}.bin" for number in range(len(outputs))]
    weights = ["net.weights.bin"] if (folder / "net.weights.bin").exists() else []
    run(folder, EMULATOR, "net", *weights, *given, *made)
    return [np.fromfile(folder / name, type) for name, type in zip(made, outputs, strict=True)]


def side_by_side(modules: Sequence[ModuleOp]) -> ModuleOp:
    """Return a module whose `@main` computes what all of theirs do, on the inputs of all."""
    functions = [found for module in modules if (found := find_function(module)) is not None]
    main = FuncOp(
        "main", ([each for found in functions for each in found.function_type.inputs], ())
    )
    left, results = list(main.args), list[SSAValue]()
    for found in functions:
        values: dict[SSAValue, SSAValue] = {each: left.pop(0) for each in found.args}
        for op in found.body.block.ops:
            if isinstance(op, ReturnOp):
                results += [values[each] for each in op.operands]
            else:
                main.body.block.add_op(op.clone(values))
    main.body.block.add_op(ReturnOp(*results))
    main.update_function_type()
    return ModuleOp([main])


@pytest.mark.parametrize(
    ("target", "threads"),
    [
        ("neoverse-n1", 1),
        pytest.param("graviton3", 2, id="graviton3"),
        pytest.param("apple-m1", 1, marks=full_run),
        pytest.param("cortex-a53", 1, marks=full_run),  # neither f16 nor dot products
    ],
)
def test_digits_are_what_pytorch_says_on_aarch64(target: str, threads: int, tmp_path: Path) -> None:
    data = np.load(DIGITS / "digits_test.npz")
    model = gawee_dialect.load(DIGITS / "graph.json")

    scores = computed(model, data["images"][:1], target, threads, tmp_path)

    # float32 sums in another order: five layers, each exact to about 1e-6 of its range.
    expected = data["scores"][0]
    assert_allclose(scores, expected, rtol=0, atol=1e-5 * np.ptp(expected))
    assert "fmla" in (tmp_path / "net.s").read_text()


@full_run
@pytest.mark.parametrize("threads", [1, 2])
def test_a_resnet_is_what_pytorch_says_on_aarch64(threads: int, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from examples.resnet18.write_graph import write_resnet18
    from tests.torch_networks import ResNet18, run_torch

    model = gawee_dialect.load(write_resnet18(tmp_path, size=64, width=16))
    x = np.random.default_rng(1).standard_normal((1, 3, 64, 64), np.float32)

    found = computed(model, x, "neoverse-n1", threads, tmp_path)

    expected = run_torch(ResNet18(16), model.bound, x)
    # 1e-4 of the range of PyTorch's output is what the project promises.
    assert_allclose(found, expected.ravel(), rtol=0, atol=1e-4 * float(np.ptp(expected)))


@pytest.mark.parametrize(
    ("target", "threads"),
    [("graviton3", 2), pytest.param("cortex-a53", 1, marks=full_run)],  # f16, dot products; neither
)
def test_every_op_is_what_pytorch_says_on_aarch64(
    target: str, threads: int, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    from tests.test_completeness import LOWERED_OPS, example_arguments, example_module
    from tests.torch_reference import evaluate

    modules = [example_module(op) for op in LOWERED_OPS]
    arguments = [example_arguments(module) for module in modules]
    pairs = zip(modules, arguments, strict=True)
    expected = [value for module, given in pairs for value in evaluate(module, given).values()]
    inputs = [value for given in arguments for value in given.values()]
    model = gawee_dialect.Model(side_by_side(modules))

    found = all_computed(
        model, inputs, [each.dtype for each in expected], target, threads, tmp_path
    )

    for result, wanted in zip(found, expected, strict=True):
        # A few roundings of f32 in sums of up to some hundred products.
        assert_allclose(result, wanted.ravel(), rtol=1e-5, atol=1e-5)
