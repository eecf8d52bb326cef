"""Every named op of linalg, at every level, against upstream's own lowering of the same text."""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.linalg import LINALG
from gawee_dialect.upstream.linalg.named_ops import NAMED_OPS
from tests.dialect.linalg_texts import (
    AnyArray,
    Call,
    arrays_for,
    module_text,
    named_call,
    shapes_of,
    tensor,
)
from tests.upstream_mlir import requires_upstream, run_mlir_opt, run_upstream

Run = Callable[[Model, dict[str, AnyArray]], dict[str, AnyArray]]


def _named(names: Sequence[str], input: str, output: str) -> list[Call]:
    return [named_call(name, [input] * (len(shapes_of(name)[0]) - 1) + [output]) for name in names]


QUANTIZED = [name for name in NAMED_OPS if name.endswith("_q") or "quantized" in name]
WINDOWED = [name for name, row in NAMED_OPS.items() if row.slides and name not in QUANTIZED]
POOLINGS = [name for name in WINDOWED if "pooling" in name]
PRODUCTS = [
    *(name for name in WINDOWED if "conv" in name),
    *("dot", "matvec", "vecmat", "batch_matvec", "batch_vecmat", "mmt4d", "batch_mmt4d"),
    *("conv_1d", "conv_2d", "conv_3d"),
]
MIXED = ("dot", "matvec", "mmt4d", "conv_1d_nwc_wcf", "conv_2d_nchw_fchw", "conv_2d_nhwc_hwcf")
"""Products on every shape of loops that kernels tell apart; the rest differ by their maps."""

UNSIGNED = [name for name in NAMED_OPS if "unsigned" in name]
OTHERS = [  # on floats; `select` takes bits, which upstream cannot lower on buffers
    *(name for name in NAMED_OPS if name not in {*WINDOWED, *PRODUCTS, *UNSIGNED, *QUANTIZED}),
]
OTHERS.remove("select")
INTEGERS = ("add", "sub", "mul", "div", "div_unsigned", "max", "min", "copy", "fill")

MAPS = "indexing_maps = [affine_map<({0}) -> ({1})>, affine_map<({0}) -> ({2})>, affine_map<({0}) -> ({3})>]"


def _product(name: str, maps: str, shapes: Sequence[Sequence[int]], element: str) -> Call:
    total = {"i8": "i32", "f16": "f32", "bf16": "f32"}.get(element, element)
    types = [tensor(shapes[0], element), tensor(shapes[1], element), tensor(shapes[2], total)]
    text = (
        f"linalg.{name} {maps} ins(%0, %1 : {types[0]}, {types[1]}) "
        f"outs(%2 : {types[2]}) -> {types[2]}"
    )
    return Call(text, types, types[2])


def _contractions(element: str) -> list[Call]:
    batch = MAPS.format("b, m, n, k", "b, k, m", "b, n, k", "b, m, n")
    shared = MAPS.format("b, m, n, k", "m, k", "b, k, n", "b, m, n")
    crossed = MAPS.format("m, n, k, l", "k, m, l", "l, n, k", "n, m")
    return [
        _product("matmul", "", [(5, 8), (8, 7), (5, 7)], element),
        _product("batch_matmul", "", [(3, 5, 8), (3, 8, 7), (3, 5, 7)], element),
        _product("batch_matmul", batch, [(3, 8, 5), (3, 7, 8), (3, 5, 7)], element),
        _product("batch_matmul", shared, [(5, 8), (3, 8, 7), (3, 5, 7)], element),
        _product("batch_reduce_matmul", "", [(3, 5, 8), (3, 8, 7), (5, 7)], element),
        _product("contract", crossed, [(8, 5, 2), (2, 7, 8), (7, 5)], element),
    ]


def _unsigned_products() -> list[Call]:
    cast = "{cast = #linalg.type_fn<cast_unsigned>}"
    return [
        _product("matmul", cast, [(5, 8), (8, 7), (5, 7)], "i8"),
        _product("batch_matmul", cast, [(3, 5, 8), (3, 8, 7), (3, 5, 7)], "i8"),
    ]


def _elementwise(kind: str, inputs: Sequence[Sequence[int]], maps: str = "") -> Call:
    types = [tensor(shape, "f32") for shape in (*inputs, (3, 5))]
    names = ", ".join(f"%{index}" for index in range(len(inputs)))
    text = (
        f"linalg.elementwise kind=#linalg.elementwise_kind<{kind}> {maps} ins({names} : "
        f"{', '.join(types[:-1])}) outs(%{len(inputs)} : {types[-1]}) -> {types[-1]}"
    )
    return Call(text, types, types[-1])


ELEMENTWISE_MAPS = MAPS.format("i, j", "j, i", "j", "i, j")

BODIES = [
    _elementwise("exp", [(3, 5)]),
    _elementwise("sub", [(5, 3), (5,)], ELEMENTWISE_MAPS),
    _elementwise("max_signed", [(3, 5), (3, 5)]),
    Call(
        "linalg.map { arith.subf } ins(%0, %1 : tensor<3x5xf32>, tensor<3x5xf32>) "
        "outs(%2 : tensor<3x5xf32>)",
        ["tensor<3x5xf32>"] * 3,
        "tensor<3x5xf32>",
    ),
    Call(
        "linalg.map ins(%0 : tensor<7xf32>) outs(%1 : tensor<7xf32>) (%e: f32, %o: f32) "
        "{ %2 = arith.mulf %e, %e : f32 linalg.yield %2 : f32 }",
        ["tensor<7xf32>"] * 2,
        "tensor<7xf32>",
    ),
    Call(
        "linalg.reduce { arith.subf } ins(%0 : tensor<3x5x7xf32>) outs(%1 : tensor<3x7xf32>) "
        "dimensions = [1]",
        ["tensor<3x5x7xf32>", "tensor<3x7xf32>"],
        "tensor<3x7xf32>",
    ),
    Call(
        "linalg.reduce ins(%0 : tensor<3x5x7xf32>) outs(%1 : tensor<5xf32>) dimensions = [0, 2] "
        "(%e: f32, %t: f32) { %2 = arith.maximumf %e, %t : f32 linalg.yield %2 : f32 }",
        ["tensor<3x5x7xf32>", "tensor<5xf32>"],
        "tensor<5xf32>",
    ),
]

GROUPS: dict[str, list[Call]] = {
    "elementwise": _named(OTHERS, "f32", "f32"),
    "convolutions": _named(PRODUCTS, "f32", "f32"),
    "poolings": _named([name for name in POOLINGS if "unsigned" not in name], "f32", "f32"),
    "integers": _named(INTEGERS, "i32", "i32"),
    "i8 poolings": _named(POOLINGS[-6:] + UNSIGNED[-4:], "i8", "i32"),
    "i8 products": _named(MIXED, "i8", "i32"),
    "f16 products": _named(MIXED, "f16", "f32"),
    "casts": [*_named(["copy"], "f16", "f32"), *_named(["copy"], "i8", "f32")],
    "zero points": [named_call(name, ["i8", "i8", "i32", "i32", "i32"]) for name in QUANTIZED],
    "contractions": _contractions("f32"),
    "i8 contractions": [*_contractions("i8"), *_unsigned_products()],
    "f16 contractions": _contractions("f16"),
    "bodies": BODIES,
}

BFLOAT = {
    "bf16 products": _named(MIXED, "bf16", "f32"),
    "bf16 contractions": _contractions("bf16"),
}
if find_spec("ml_dtypes") is not None:
    import_module("ml_dtypes")  # which tells NumPy of bfloat16
    GROUPS |= BFLOAT

LEVELS: dict[str, Run] = {
    "interpreter": lambda model, inputs: model.run(inputs),
    "plain loops": lambda model, inputs: model.compile(
        CodeOptions(algorithms=PLAIN), cache=False
    ).run(inputs),
    "kernels": lambda model, inputs: model.compile(cache=False).run(inputs),
}


def read(text: str) -> Model:
    """Return the model of a text."""
    return Model(parse_mlir(make_context(), text, "in.mlir"))


def test_the_table_and_the_groups_have_the_same_ops() -> None:
    names = " ".join(call.text.split(" ")[0] for calls in GROUPS.values() for call in calls)
    missing = [op.name for op in LINALG.operations if op.name not in names.split()]
    others = {"generic", "yield", "index", "broadcast", "transpose", "select"}
    others |= {"softmax", "pack", "unpack"}  # no loop nests: tests/passes/test_decompose...
    assert {name.removeprefix("linalg.") for name in missing} == others


@requires_upstream
@pytest.mark.parametrize("group", GROUPS)
def test_named_ops_compute_what_upstream_computes(group: str) -> None:
    calls = GROUPS[group]
    text, arrays = module_text(calls), arrays_for(calls)
    expected = run_upstream(text, arrays)
    model = read(text)
    inputs = {each.name: array for each, array in zip(model.arguments, arrays, strict=True)}
    for level, run in LEVELS.items():
        outputs = run(model, inputs)
        for call, output, wanted in zip(calls, outputs.values(), expected, strict=True):
            # f32 sums of up to 100 products, in another order; libm's last bit.
            np.testing.assert_allclose(
                output.astype(np.float64),
                wanted.astype(np.float64),
                rtol=1e-5,
                atol=1e-6,
                err_msg=f"{level}: {call.text}",
            )


@requires_upstream
@pytest.mark.parametrize("group", GROUPS)
def test_upstream_reads_what_is_printed(group: str) -> None:
    model = read(module_text(GROUPS[group]))
    printed = print_mlir(model.module)
    run_mlir_opt(printed)
    assert print_mlir(read(printed).module) == printed


@requires_upstream
@pytest.mark.parametrize("group", GROUPS)
def test_generalized_ops_are_those_of_upstream(group: str) -> None:
    text = module_text(GROUPS[group])
    generic = run_mlir_opt(text, "--linalg-generalize-named-ops")
    model = read(generic)
    arrays = arrays_for(GROUPS[group])
    inputs = {each.name: array for each, array in zip(model.arguments, arrays, strict=True)}
    renamed = dict(zip((each.name for each in read(text).arguments), arrays, strict=True))
    for ours, theirs in zip(
        read(text).run(renamed).values(), model.run(inputs).values(), strict=True
    ):
        np.testing.assert_allclose(
            ours.astype(np.float64), theirs.astype(np.float64), rtol=1e-5, atol=1e-6
        )


def test_select_chooses_by_bits() -> None:
    call = named_call("select", ["i1", "f32", "f32", "f32"])
    model, arrays = read(module_text([call])), arrays_for([call])
    inputs = {each.name: array for each, array in zip(model.arguments, arrays, strict=True)}
    for run in LEVELS.values():
        (output,) = run(model, inputs).values()
        np.testing.assert_array_equal(output, np.where(arrays[0], arrays[1], arrays[2]))
