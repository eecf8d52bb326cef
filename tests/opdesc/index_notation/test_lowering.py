"""What equations become: the kernels of the built-in ops, loops of steps, and code of any length."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.graph import ReadOptions
from gawee_dialect.instruments.prove.plan import word_array
from gawee_dialect.instruments.prove.run import run_exactly
from gawee_dialect.levels import Level
from gawee_dialect.model import model_of as read_model
from gawee_dialect.opdesc.described_op import BodyOp
from gawee_dialect.opdesc.description import ParamValue
from gawee_dialect.opdesc.emit.markdown_page import reference_text
from gawee_dialect.opdesc.load import load_operator_descriptions
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg
from gawee_dialect.source import Source
from gawee_dialect.tools.plugin_file import loaded_files
from gawee_dialect.universe import make_context
from tests.effort import crossed
from tests.opdesc.index_notation.modules import model_of

pytestmark = pytest.mark.usefixtures("unoptimized")

pytest.importorskip("pycparser")

Arrays = Mapping[str, np.ndarray]


def operator(folder: Path, body: str) -> type[BodyOp]:
    path = folder / "one.op"
    path.write_text(f'dialect "mine"\none {{ body: `{body}` }}')
    (found,) = load_operator_descriptions(path).operations
    assert issubclass(found, BodyOp)
    return found


def results(
    folder: Path, body: str, inputs: Arrays, parameters: Mapping[str, ParamValue] | None = None
) -> dict[Level, np.ndarray]:
    """Return the first result at every level."""
    model = model_of(operator(folder, body), inputs, parameters or {})
    levels = (Level.GAWEE, Level.LINALG, Level.KERNELS, Level.LLVM)
    return {
        level: next(iter(model.runner(level, cache=False)(inputs).values())) for level in levels
    }


OPERATORS = """
dialect "mine"
conv2d { body: `
    int s = 1, p = 0
    y[n,o,h,w] = sum(c,i,j) x[n,c,h*s+i-p,w*s+j-p] * k[o,c,i,j] + b[o]
` }
linear { body: "y[m,o] = sum(c) x[m,c] * k[o,c] + b[o]" }
matmul { body: "y[m,n] = sum(k) x[m,k] * w[k,n]" }
max_pool { body: `
    int k = 2, s = 2, p = 0
    y[n,c,h,w] = max(i < k, j < k) x[n,c,h*s+i-p,w*s+j-p]
` }
relu { body: "y[...] = max(x[...], 0)" }
"""

SAME = {
    "a convolution with stride and padding": (
        "conv2d %0, %1, %2 s 2 p 3",
        "conv %0, %1 bias %2 strides [2, 2] padding [3, 3, 3, 3] dilations [1, 1] groups 1",
        ["1x3x58x57", "8x3x7x7", "8"],
        "1x8x29x29",
    ),
    "a convolution that Winograd's algorithm takes": (
        "conv2d %0, %1, %2 p 1",
        "conv %0, %1 bias %2 strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1",
        ["1x64x28x28", "64x64x3x3", "64"],
        "1x64x28x28",
    ),
    "a layer of features": (
        "linear %0, %1, %2",
        "matmul %0, %1 bias %2",
        ["32x64", "48x64", "48"],
        "32x48",
    ),
    "a product of matrices": (
        "matmul %0, %1",
        "batch_matmul %0, %1",
        ["32x64", "64x48"],
        "32x48",
    ),
    "a pool": (
        "max_pool %0 k 3 s 2 p 1",
        "max_pool %0 kernel [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] "
        "ceil_mode false",
        ["1x8x28x28"],
        "1x8x14x14",
    ),
    "an activation": ("relu %0", "relu %0", ["1x8x28x28"], "1x8x28x28"),
}


def kernels(op: str, shapes: list[str], result: str) -> str:
    """Return a graph of one op as scheduled kernels; all but the first operand are parameters."""
    types = [f"tensor<{shape}xf32>" for shape in shapes]
    kinds = ["input", *["parameter"] * (len(shapes) - 1)]
    arguments = ", ".join(
        f'%{index}: {type} {{gawee.{kind} = "{index}"}}'
        for index, (type, kind) in enumerate(zip(types, kinds, strict=True))
    )
    out = f"tensor<{result}xf32>"
    text = f"""func.func @main({arguments}) -> ({out} {{gawee.output = "y"}}) {{
      %y = {op} : ({", ".join(types)}) -> {out}
      func.return %y : {out}
    }}"""
    source = Source.of_text(text, "graph.mlir")
    return str(read_model(open_graph(source, ReadOptions()), {}, source).lowered(Level.KERNELS))


@pytest.mark.parametrize("name", SAME)
def test_a_described_op_forms_the_kernels_of_the_built_in_one(name: str, tmp_path: Path) -> None:
    described, built_in, shapes, result = SAME[name]
    (tmp_path / "mine.op").write_text(OPERATORS)
    expected = kernels(f"gawee.{built_in}", shapes, result)

    with loaded_files([str(tmp_path / "mine.op")]):
        assert kernels(f"mine.{described}", shapes, result) == expected


STEPS = {
    "a state": "y[t,n] = tanh(x[t,n] + sum(j) y[t-1,j else h[j]] * w[j,n])",
    "a state that starts with zeros": "y[t,n] = x[t,n] + 0.5 * y[t-1,n] + 0 * h[n] * w[n,n]",
    "two steps back": "y[t,n] = x[t,n] + 0.5*y[t-1,n] + 0.25*y[t-2,n else h[n]] + 0 * w[n,n]",
    "from the last step": "y[t,n] = x[t,n] * w[n,n] + 0.5 * y[t+1,n else h[n]]",
    "along the last axis": "y[n,t] = x[t,n] * w[n,n] + 0.5 * y[n,t-1 else h[n]]",
    "two states": "a[t,n] = y[t-1,n else h[n]] + x[t,n]; y[t,n] = a[t,n] * w[n,n]; return y",
    "a state and the number of its step": "y[t,n] = x[t,n] + y[t-1,n] * h[n] / (t + 1) + w[n,n]",
}


@pytest.mark.parametrize(("name", "count"), crossed(STEPS, [5, 19]))
def test_steps_are_the_same_at_every_level(name: str, count: int, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    inputs = {
        "x": random.standard_normal((count, 3)).astype(np.float32),
        "h": random.standard_normal(3).astype(np.float32),
        "w": random.standard_normal((3, 3)).astype(np.float32),
    }
    found = results(tmp_path, f"inputs x, h, w\n{STEPS[name]}", inputs)

    for level, array in found.items():
        # The levels add in the same order; tanh rounds otherwise in machine code.
        np.testing.assert_allclose(array, found[Level.GAWEE], rtol=1e-5, atol=1e-5, err_msg=level)


def test_the_steps_of_a_state_are_those_of_a_loop_in_python(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    x, w = random.standard_normal((19, 3)), random.standard_normal((3, 3))
    inputs = {"x": x.astype(np.float32), "w": w.astype(np.float32)}
    found = results(tmp_path, "y[t,n] = tanh(x[t,n] + sum(j) y[t-1,j] * w[j,n])", inputs)

    state = np.zeros(3)
    for t in range(19):
        state = np.tanh(x[t] + state @ w)
    np.testing.assert_allclose(found[Level.LLVM][-1], state, rtol=1e-4, atol=1e-4)


def test_long_sequences_of_steps_that_depend_on_their_number_are_refused(tmp_path: Path) -> None:
    op = operator(tmp_path, "y[t] = x[t] + y[t-1] * t")
    model = model_of(op, {"x": np.zeros(300, np.float32)}, {})

    with pytest.raises(GaweeError, match="expected at most 256 steps along 't' that depend on"):
        model.lowered(Level.LINALG)


def test_f16_is_computed_in_f32_and_rounded_once(tmp_path: Path) -> None:
    x = np.array([1, 2**-11, 2**-11], np.float16)
    found = results(tmp_path, "y[] = sum(i) x[i]", {"x": x})

    # In f16, 1 + 2^-11 is 1; and so is its sum with another.
    assert {float(array) for array in found.values()} == {1 + 2**-10}


def test_wrong_indices_read_zero_and_nothing_else(tmp_path: Path) -> None:
    inputs = {"x": np.arange(1, 4, dtype=np.float32), "i": np.array([0, 5, -1, 2])}
    for array in results(tmp_path, "y[n] = x[i[n]]", inputs).values():
        assert array.tolist() == [1, 0, 0, 3]
    for array in results(tmp_path, "y[n] = x[i[n] else 9]", inputs).values():
        assert array.tolist() == [1, 9, 9, 3]


def test_points_that_read_outside_do_not_count(tmp_path: Path) -> None:
    inputs = {"x": np.array([-3, -1, -2], np.float32)}
    expected = {
        "max(j < 3) x[i + j - 1]": [-1, -1, -1],
        "sum(j < 3) exp(0 * x[i + j - 1])": [2, 3, 2],
        "prod(j < 3) x[i + j - 1]": [3, -6, 2],
        "min(j < 3) (x[i + j - 1 else -9])": [-9, -3, -9],
        "sum(j < 3) (j == 1 ? x[i] : x[i + j - 1])": [-4, -6, -3],
    }
    for value, numbers in expected.items():
        for array in results(tmp_path, f"y[i < 3] = {value}", inputs).values():
            assert array.tolist() == numbers, value


def test_what_is_too_large_for_numpy_is_refused_with_a_hint(tmp_path: Path) -> None:
    op = operator(tmp_path, "y[i < 20000, j < 20000] = x[0] * i * j")
    model = model_of(op, {"x": np.zeros(1, np.float32)}, {})

    with pytest.raises(GaweeError, match="expected at most 268435456 points at a time in NumPy"):
        model.run({"x": np.zeros(1, np.float32)})


def test_editing_one_line_changes_shape_page_meaning_code_and_cost(tmp_path: Path) -> None:
    inputs = {"x": np.arange(6, dtype=np.float32), "k": np.ones(2, np.float32)}
    before = "y[h] = sum(i) x[h + i] * k[i]"
    after = "y[h] = max(i) x[2*h + i] * k[i]"
    values = {before: [1, 3, 5, 7, 9], after: [1, 3, 5]}
    costs = {before: 5 * 2 * 2, after: 3 * 2 * 2}

    for body, expected in values.items():
        op = operator(tmp_path, body)
        model = model_of(op, inputs, {})
        cost = model.cost()
        assert f"tensor<{len(expected)}xf32>" in str(model.module)
        assert cost is not None
        assert cost.flops == costs[body]
        assert body.replace(" * ", "*") in reference_text(op.description())
        for array in results(tmp_path, body, inputs).values():
            assert array.tolist() == expected


def test_sums_of_products_and_windows_have_an_exact_meaning(tmp_path: Path) -> None:
    pooled = operator(
        tmp_path,
        "c[n,o,h] = sum(c,i) x[n,c,h+i-1] * k[o,c,i] * 0.5; y[n,o,h] = max(i < 2) c[n,o,h*2+i]",
    )
    random = np.random.default_rng(0)
    x, k = random.normal(size=(2, 3, 8)), random.normal(size=(5, 3, 3))
    inputs = {"x": x.astype(np.float32), "k": k.astype(np.float32)}
    module = model_of(pooled, inputs, {}).module
    lowered = module.clone()
    LowerToLinalg().apply(make_context(), lowered)

    by_equation, by_loops = (
        run_exactly(each, inputs, "main", 1)["0"] for each in (module, lowered)
    )

    np.testing.assert_array_equal(word_array(by_equation), word_array(by_loops))
