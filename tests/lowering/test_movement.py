"""Ops that move elements, at every level, against PyTorch: every result is the same bit for bit."""

from collections.abc import Sequence

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import Phase, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402
from xdsl.ir import Operation  # noqa: E402

from gawee_dialect.diagnostics import GaweeError  # noqa: E402
from gawee_dialect.dialect.entry import entry_arguments, find_function  # noqa: E402
from gawee_dialect.dialect.graph.indexing import (  # noqa: E402  # noqa: E402
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from gawee_dialect.dialect.graph.movement import MovementOp  # noqa: E402
from gawee_dialect.dialect.graph.order import (  # noqa: E402
    NonMaxSuppressionOp,
    SortOp,
    TopKOp,
)
from gawee_dialect.dialect.types import (  # noqa: E402
    dtype_name,
    element_type,
    tensor_shape,
)
from gawee_dialect.frontends.mlir_text import parse_mlir  # noqa: E402
from gawee_dialect.universe import make_context  # noqa: E402
from tests.dialect.random_ops import OPS, module_of  # noqa: E402
from tests.lowering.movement_levels import LEVELS, run_at  # noqa: E402
from tests.test_completeness import example_module  # noqa: E402
from tests.torch_movement import MOVEMENT  # noqa: E402
from tests.torch_reference import evaluate  # noqa: E402
from tests.upstream_mlir import requires_upstream  # noqa: E402

OURS = [level for level in LEVELS if level != "upstream"]


def named_axes(op: Operation) -> list[int]:
    """The sizes of the axes that an op's indices name: one, or one an entry of the last axis."""
    if isinstance(op, GatherNdOp | ScatterNdOp):
        first = op.batch_dims.value.data if isinstance(op, GatherNdOp) else 0
        return list(tensor_shape(op.input)[first:][: tensor_shape(op.indices)[-1]])
    assert isinstance(op, GatherOp | GatherElementsOp | ScatterElementsOp)
    return [tensor_shape(op.input)[op.axis.value.data]]


def numbers(type, generator):
    """Small whole numbers: sums of them are exact in every type and any order, and many are equal."""
    dtype = np.dtype(dtype_name(type.get_element_type()))
    low, high = (0, 2) if dtype == np.bool_ else (0 if dtype == np.uint8 else -5, 6)
    array = generator.integers(low, high, type.get_shape()).astype(dtype)
    return array


def arguments(module: ModuleOp, seed: int):
    """Random values for all arguments: indices from either end where an op reads them as such."""
    function = find_function(module)
    assert function is not None
    generator = np.random.default_rng(seed)
    (op,) = (op for op in function.walk() if type(op) in MOVEMENT)
    result = {}
    for entry, value in zip(entry_arguments(function), function.body.block.args, strict=True):
        array = numbers(value.type, generator)
        if getattr(op, "indices", None) is value:
            sizes = named_axes(op)
            array = generator.integers([-size for size in sizes], sizes, array.shape, np.int64)
            array = array.astype(dtype_name(element_type(value)))
        elif isinstance(op, SortOp | TopKOp) and np.issubdtype(array.dtype, np.floating):
            # Each of these needs a rule of its own: NaN, infinities, and zeros of both signs.
            special = generator.choice([np.nan, -np.inf, np.inf, -0.0, 0.0], array.shape)
            array = np.where(generator.random(array.shape) < 0.4, special, array).astype(
                array.dtype
            )
        result[entry.name] = array
    return result


def check(module: ModuleOp, levels: Sequence[str], seed: int) -> None:
    named = arguments(module, seed)
    expected = evaluate(module, named).values()

    for level in levels:
        for actual, wanted in zip(run_at(level, module, named), expected, strict=True):
            assert actual.dtype == wanted.dtype
            assert actual.tobytes() == wanted.tobytes(), f"{level}: {module}\n{actual}\n{wanted}"


@pytest.mark.parametrize("op_class", MOVEMENT, ids=lambda op_class: op_class.name)
@given(data=st.data(), seed=st.integers(0, 999))
@settings(max_examples=4, phases=(Phase.explicit, Phase.generate))
def test_random_op_means_what_pytorch_means(
    op_class: type[Operation], data: st.DataObject, seed: int
) -> None:
    module = module_of(data.draw(OPS[op_class]))

    check(module, OURS, seed)


# The mlir-opt of LLVM 22 stops at loads of less than a byte: memref<5xi1>.
OF_BYTES = [op for op in MOVEMENT if op is not NonMaxSuppressionOp]


@requires_upstream
@pytest.mark.parametrize("op_class", OF_BYTES, ids=lambda op_class: op_class.name)
def test_upstream_compiles_the_lowering_to_the_same(op_class: type[Operation]) -> None:
    check(example_module(op_class), ["upstream"], 0)


WRONG_INDEX = {
    "gather": "gawee.gather %x, %i axis 0 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>",
    "gather_elements": "gawee.gather_elements %x, %j axis 0 : "
    "(tensor<3x4xf32>, tensor<2x1xi64>) -> tensor<2x1xf32>",
    "gather_nd": "gawee.gather_nd %x, %j batch_dims 0 : "
    "(tensor<3x4xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>",
    "scatter_elements": 'gawee.scatter_elements %x, %j, %v axis 0 reduction "none" : '
    "(tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x1xf32>) -> tensor<3x4xf32>",
    "scatter_nd": 'gawee.scatter_nd %x, %j, %u reduction "add" : '
    "(tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>",
}


@pytest.mark.parametrize("index", [3, -4])
@pytest.mark.parametrize("level", ["gawee", "linalg", "loops"])
@pytest.mark.parametrize("op", WRONG_INDEX)
def test_index_that_is_none_of_its_axis_is_refused(op: str, level: str, index: int) -> None:
    text = WRONG_INDEX[op]
    result = text.rpartition("-> ")[2]
    module = parse_mlir(
        make_context(),
        "func.func @main(%x: tensor<3x4xf32>, %i: tensor<2xi64>, %j: tensor<2x1xi64>, "
        "%u: tensor<2x4xf32>, %v: tensor<2x1xf32>) "
        f"-> {result} {{ %r = {text}\n func.return %r : {result} }}",
        "test.mlir",
    )
    named = {
        "x": np.zeros((3, 4), np.float32),
        "i": np.array([1, index]),
        "j": np.array([[1], [index]]),
        "u": np.zeros((2, 4), np.float32),
        "v": np.zeros((2, 1), np.float32),
    }

    with pytest.raises(GaweeError, match="out of bounds"):
        run_at(level, module, named)


def test_every_op_that_moves_elements_is_compared() -> None:
    assert {op for op in OPS if issubclass(op, MovementOp)} | {SortOp, TopKOp} == set(MOVEMENT)
