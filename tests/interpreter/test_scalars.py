"""Scalar ops of arith and math: rounding to the IR's type, wrap-around, predicates."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gawee_dialect.interpreter import RunError
from gawee_dialect.interpreter.math import erf, fma
from tests.closeness import assert_allclose
from tests.interpreter.modules import run

DTYPES = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool", "index": "int64"}


def dtype_of(element):
    return np.dtype(DTYPES.get(element, f"int{element[1:]}"))


def scalar(op, *operands, type, result=None):
    """Run one op on scalars of a type; `op` names them %0, %1, ..."""
    arguments = ", ".join(f"%a{i}: {type}" for i in range(len(operands)))
    for i in range(len(operands)):
        op = op.replace(f"%{i}", f"%a{i}")
    result = result or type
    text = f"func.func @main({arguments}) -> {result} {{\n %r = {op}\n return %r : {result}\n}}"
    named = {f"a{i}": dtype_of(type).type(value) for i, value in enumerate(operands)}
    (value,) = run(text, **named)
    assert value.dtype == dtype_of(result)
    return value.item()


def test_float32_addition_rounds_to_float32():
    assert scalar("arith.addf %0, %1 : f32", 1.0, 1e-9, type="f32") == 1.0
    assert scalar("arith.addf %0, %1 : f64", 1.0, 1e-9, type="f64") == 1.0 + 1e-9


def test_float_constants_round_to_their_type():
    assert scalar("arith.constant 0.1 : f32", type="f32") == np.float32(0.1).item()


def test_truncf_rounds_to_even():
    assert scalar("arith.truncf %0 : f32 to f16", 2049.0, type="f32", result="f16") == 2048


@pytest.mark.parametrize(
    ("op", "lhs", "rhs", "expected"),
    [
        ("addi", 127, 1, -128),
        ("subi", -128, 1, 127),
        ("muli", 64, 5, 64),
        ("divsi", -7, 2, -3),
        ("divsi", 7, -2, -3),
        ("floordivsi", -7, 2, -4),
        ("ceildivsi", 7, 2, 4),
        ("ceildivsi", -7, 2, -3),
        ("divui", -1, 2, 127),
        ("remsi", -7, 2, -1),
        ("remui", -1, 2, 1),
        ("andi", 12, 10, 8),
        ("ori", 12, 10, 14),
        ("xori", 12, 10, 6),
        ("shli", 65, 1, -126),
        ("shrsi", -5, 1, -3),
        ("shrui", -2, 1, 127),
        ("maxsi", -5, 3, 3),
        ("minsi", -5, 3, -5),
        ("maxui", -5, 3, -5),
        ("minui", -5, 3, 3),
    ],
)
def test_integer_ops_on_i8(op, lhs, rhs, expected):
    assert scalar(f"arith.{op} %0, %1 : i8", lhs, rhs, type="i8") == expected


def test_division_by_zero_is_an_error():
    with pytest.raises(RunError, match=r"'arith.divsi' op cannot run: expected a divisor other"):
        scalar("arith.divsi %0, %1 : i64", 1, 0, type="i64")


def test_shift_by_the_width_is_an_error():
    with pytest.raises(RunError, match=r"'arith.shli' op cannot run: expected a shift by less th"):
        scalar("arith.shli %0, %1 : i32", 1, 32, type="i32")


NAN = math.nan
PREDICATES = {
    # on (1, 2), (2, 2), (3, 2), (NaN, 2)
    "oeq": (False, True, False, False),
    "ogt": (False, False, True, False),
    "oge": (False, True, True, False),
    "olt": (True, False, False, False),
    "ole": (True, True, False, False),
    "one": (True, False, True, False),
    "ord": (True, True, True, False),
    "ueq": (False, True, False, True),
    "ugt": (False, False, True, True),
    "uge": (False, True, True, True),
    "ult": (True, False, False, True),
    "ule": (True, True, False, True),
    "une": (True, False, True, True),
    "uno": (False, False, False, True),
    "true": (True, True, True, True),
    "false": (False, False, False, False),
}


@pytest.mark.parametrize("looped", [False, True])
@pytest.mark.parametrize("predicate", PREDICATES)
def test_float_predicates(predicate, looped):
    compare = f"%r = arith.cmpf {predicate}, %a, %b : f32"
    if looped:
        body = f"""
        scf.for %i = %c0 to %c4 step %c1 {{
          %a = memref.load %x[%i] : memref<4xf32>
          %b = memref.load %y[%i] : memref<4xf32>
          {compare}
          memref.store %r, %z[%i] : memref<4xi1>
        }}"""
    else:
        body = f"""
        linalg.generic {{indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}}
            ins(%x, %y : memref<4xf32>, memref<4xf32>) outs(%z : memref<4xi1>) {{
        ^bb0(%a: f32, %b: f32, %o: i1):
          {compare}
          linalg.yield %r : i1
        }}"""

    (result,) = run(
        f"""
        #map = affine_map<(i) -> (i)>
        func.func @main(%x: memref<4xf32>, %y: memref<4xf32>,
                        %z: memref<4xi1> {{gawee.output = "z"}}) {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c4 = arith.constant 4 : index
          {body}
          return
        }}""",
        x=np.array([1, 2, 3, NAN], np.float32),
        y=np.array([2, 2, 2, 2], np.float32),
    )

    assert tuple(result) == PREDICATES[predicate]


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [("slt", True), ("ult", False), ("sge", False), ("uge", True), ("eq", False), ("ne", True)],
)
def test_integer_predicates_read_signs_or_not(predicate, expected):
    op = f"arith.cmpi {predicate}, %0, %1 : i32"
    assert scalar(op, -1, 1, type="i32", result="i1") == expected


@pytest.mark.parametrize(
    ("op", "value", "type", "result", "expected"),
    [
        ("extsi", True, "i1", "i8", -1),
        ("extui", True, "i1", "i8", 1),
        ("sitofp", True, "i1", "f32", -1.0),
        ("uitofp", -1, "i8", "f32", 255.0),
        ("sitofp", 16777217, "i32", "f32", 16777216.0),
        ("fptosi", -2.75, "f32", "i32", -2),
        ("trunci", 257, "i32", "i8", 1),
        ("trunci", 2, "i32", "i1", False),
        ("extsi", -3, "i8", "i64", -3),
        ("extui", -3, "i8", "i64", 253),
        ("index_cast", -3, "i32", "index", -3),
        ("bitcast", 1.0, "f32", "i32", 0x3F800000),
    ],
)
def test_conversions(op, value, type, result, expected):
    text = f"arith.{op} %0 : {type} to {result}"
    assert scalar(text, value, type=type, result=result) == expected


@pytest.mark.parametrize(
    ("op", "expected"), [("maximumf", NAN), ("minimumf", NAN), ("maxnumf", 2), ("minnumf", 2)]
)
def test_maximum_hands_on_nan_and_maxnum_does_not(op, expected):
    for operands in ((NAN, 2.0), (2.0, NAN)):
        result = scalar(f"arith.{op} %0, %1 : f32", *operands, type="f32")
        np.testing.assert_equal(result, expected)


@settings(max_examples=200)
@given(st.floats(-7, 7))
def test_erf_equals_the_c_library(x):
    # Both are within a few units in the last place of double precision.
    assert_allclose(erf(np.array(x)), math.erf(x), rtol=2e-15, atol=5e-324)


small = st.floats(-1e6, 1e6, width=32)


@settings(max_examples=200)
@given(small, small, small)
def test_fma_rounds_once(a, b, c):
    result = fma(*(np.array(value, np.float32) for value in (a, b, c)))

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    error = abs(Fraction(result.item()) - exact)
    for other in np.nextafter(result, np.array([-np.inf, np.inf], np.float32)):
        assert error <= abs(Fraction(other.item()) - exact)


@pytest.mark.parametrize(("value", "expected"), [(2.5, 3), (-2.5, -3), (0.49999997, 0)])
def test_round_takes_halves_away_from_zero(value, expected):
    assert scalar("math.round %0 : f32", value, type="f32") == expected


def test_roundeven_takes_halves_to_even():
    assert scalar("math.roundeven %0 : f32", 2.5, type="f32") == 2


def test_remainder_of_floats_has_the_sign_of_the_dividend():
    assert scalar("arith.remf %0, %1 : f32", -7.5, 2.0, type="f32") == -1.5
    assert math.isnan(scalar("arith.remf %0, %1 : f64", 1.0, 0.0, type="f64"))


def test_cast_that_changes_more_than_the_sign_is_an_error():
    with pytest.raises(RunError, match=r"cannot run: unsupported cast from 'f32' to 'f32'"):
        scalar("builtin.unrealized_conversion_cast %0 : f32 to f32", 1.0, type="f32")
