"""Products of bf16 that are added up by pairs, compiled, against NumPy in 64 bits."""

from typing import ClassVar

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16, f32
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.equation import DefinedOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.elementwise import ReluOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.levels import Level, lower_to
from gawee_dialect.target.machine import find_processor
from tests.closeness import assert_allclose
from tests.kernels.compiled import Array, Way, module_of
from tests.kernels.test_packed_products import runs_here

INSTRUCTION, TILES = "llvm.x86.avx512bf16.dpbf16ps", "llvm.x86.tdpbf16ps"
HAS_PAIRS = find_processor("host").bf16_products > 0
ROUNDING = 2.0**-24
"""Of an f32, a part of it."""


@irdl_op_definition
class ProductOp(DefinedOp):
    """Multiply (rows, terms) by (columns, terms), both of bf16, to f32."""

    name = "test.bf16_product"

    EQUATION: ClassVar = "inputs x, w; y[r,n] = sum(k) float(x[r,k]) * float(w[n,k])"

    x = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, weight: SSAValue):
        self.define([x, weight])

    @classmethod
    def result_type(cls, x: AnyTensor, weight: AnyTensor) -> AnyTensor:
        return TensorType(f32, [x.get_shape()[0], weight.get_shape()[0]])


def product(x: SSAValue, weight: SSAValue) -> SSAValue:
    return ProductOp(x, weight).result


def rounded(x: SSAValue, weight: SSAValue) -> SSAValue:
    """Multiply f32 that are rounded to bf16 by bf16, as f32."""
    narrow = CastOp(x, bf16).output
    return MatMulOp(CastOp(narrow, f32).output, CastOp(weight, f32).output).result


def as_pytorch_does(x: SSAValue, *weights: SSAValue) -> SSAValue:
    """Multiply bf16 by several weights of bf16, and round what is computed in f32 each time."""
    for weight in weights:
        made = MatMulOp(CastOp(x, f32).output, CastOp(weight, f32).output).result
        x = CastOp(ReluOp(made).output, bf16).output
    return x


def numbers(seed: int, *shape: int) -> Array:
    values = np.random.default_rng(seed).standard_normal(shape)
    return values.astype(ml_dtypes.bfloat16)


def multiplies_pairs(module: ModuleOp) -> bool:
    """Whether products of bf16 are those of one instruction, for vectors or for tiles."""
    text = str(module)
    return INSTRUCTION in text or TILES in text


def close(actual: Array, a: Array, b: Array) -> None:
    """Require sums in f32 of exact products, in any order: as many roundings as terms, and more."""
    first, second = a.astype(np.float64), b.astype(np.float64)
    bound = 2 * ROUNDING * a.shape[-1] * (np.abs(first) @ np.abs(second))
    assert np.all(np.abs(actual.astype(np.float64) - first @ second) <= bound)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("rows", "terms", "columns"), [(1, 64, 48), (7, 66, 40), (64, 512, 130), (5, 20000, 16)]
)
def test_sums_of_products_of_bf16_are_rounded_as_f32(
    rows: int, terms: int, columns: int, threads: int
) -> None:
    a, weight, way = numbers(0, rows, terms), numbers(1, columns, terms), Way(threads=threads)
    module = module_of(product, [a, weight], 1)

    (result,) = way.run(module, [a, weight], 1)

    assert result.dtype == np.float32
    close(result, a, weight.T)
    assert multiplies_pairs(way.lowered(module)) == HAS_PAIRS


def test_an_odd_number_of_terms_is_added_up_too() -> None:
    a, weight = numbers(0, 13, 65), numbers(1, 32, 65)

    (result,) = Way().run(module_of(product, [a, weight], 1), [a, weight], 1)

    close(result, a, weight.T)


def test_inputs_in_f32_are_rounded_to_bf16_where_the_graph_says_so() -> None:
    x = np.random.default_rng(0).standard_normal((9, 96)).astype(np.float32)
    weight = numbers(1, 33, 96)
    module = module_of(rounded, [x, weight], 1)

    (result,) = Way().run(module, [x, weight], 1)

    close(result, x.astype(ml_dtypes.bfloat16), weight.T)
    assert multiplies_pairs(Way().lowered(module)) == HAS_PAIRS


def test_layers_of_bf16_round_as_pytorch_does() -> None:
    torch = pytest.importorskip("torch")
    arrays = [numbers(0, 12, 64), numbers(1, 48, 64), numbers(2, 32, 48), numbers(3, 16, 32)]
    module = module_of(as_pytorch_does, arrays, 3)

    (result,) = Way().run(module, arrays, 3)

    x, *weights = (torch.from_numpy(each.view(np.int16)).view(torch.bfloat16) for each in arrays)
    for weight in weights:
        x = torch.relu(x @ weight.T)
    # Sums in another order are rounded to the other of two bf16 now and then: one step of 2^-8.
    wanted = x.float().numpy()
    assert_allclose(result.astype(float), wanted, rtol=0, atol=2**-7 * np.abs(wanted).max())
    assert multiplies_pairs(Way().lowered(module)) == HAS_PAIRS


def test_a_network_of_bf16_uses_the_instruction_for_each_layer() -> None:
    arrays = [numbers(0, 8, 64), numbers(1, 64, 64), numbers(2, 48, 64)]
    kernels = lower_to(module_of(as_pytorch_does, arrays, 2), Level.KERNELS, CodeOptions())
    text = str(kernels)
    assert text.count("d2 by 2]") + text.count("tiles = ") == (2 if HAS_PAIRS else 0)


@pytest.mark.parametrize("target", ["haswell", "skylake-avx512"])
def test_processors_without_the_instruction_widen_each_number(target: str) -> None:
    a, weight, way = numbers(0, 5, 64), numbers(1, 32, 64), Way(target)
    module = module_of(product, [a, weight], 1)

    assert not multiplies_pairs(way.lowered(module))

    if runs_here(target):
        (result,) = way.run(module, [a, weight], 1)
        close(result, a, weight.T)
