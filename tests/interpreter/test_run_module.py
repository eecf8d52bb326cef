"""`run_module`: arguments by name, prepared values, destinations, listeners, errors."""

import numpy as np
import pytest
from xdsl.interpreter import OpCounter

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect import GAWEE
from gawee_dialect.interpreter import RunError, run_module
from gawee_dialect.interpreter.machine import FUNCTIONS
from gawee_dialect.model import Model
from tests.closeness import assert_allclose
from tests.interpreter.modules import parse, random

LINEAR = """
func.func @main(%0: tensor<2x3xf32> {gawee.input = "x"},
                %1: tensor<4x3xf32> {gawee.parameter = "fc.weight"})
    -> (tensor<2x4xf32> {gawee.output = "fc"}) {
  %y = gawee.matmul %0, %1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}"""


def test_arguments_and_outputs_go_by_name():
    x, w = random((2, 3)), random((4, 3), seed=1)

    outputs = run_module(parse(LINEAR), {"fc.weight": w, "x": x, "not.used": x})

    assert list(outputs) == ["fc"]
    assert_allclose(outputs["fc"], x @ w.T, rtol=1e-6)  # three products a sum


def test_every_wrong_argument_is_reported_at_once():
    with pytest.raises(GaweeError) as error:
        run_module(parse(LINEAR), {"x": random((2, 5), "float64"), "fc.weigth": random((4, 3))})

    assert [str(problem).splitlines() for problem in error.value.diagnostics] == [
        [f"test.mlir:2:1: error: {message}", "hint: unused arguments: fc.weigth"]
        for message in (
            "expected input 'x' of dtype float32, got float64",
            "expected input 'x' of shape 2x3, got 2x5",
            "expected parameter 'fc.weight', got none",
        )
    ]


SCALED = """
func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"}, %s: tensor<TYPE> {gawee.input = "s"})
    -> (tensor<TYPE> {gawee.output = "t"}) {
  %t = gawee.add %s, %s : (tensor<TYPE>, tensor<TYPE>) -> tensor<TYPE>
  return %t : tensor<TYPE>
}"""
LEVELS = ("gawee", "linalg", "llvm")


def run_scaled(kind: str, value: object, level: str) -> np.ndarray:
    model = Model(parse(SCALED.replace("TYPE", kind)))
    return model.run({"x": random((2, 3)), "s": value}, level)["t"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("f32", 2.5),
        ("f32", 3),
        ("f32", float("-inf")),
        ("f32", np.float32(2.5)),
        ("f64", 1e300),
        ("i32", -7),
        ("i64", 2**40),
        ("i32", np.int64(3)),
    ],
)
def test_a_number_is_an_argument_of_rank_0(kind: str, value: float, level: str):
    found = run_scaled(kind, value, level)

    assert (found.shape, found.tolist()) == ((), value + value)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("kind", "value", "got"),
    [
        ("f32", 1e300, "float"),
        ("f64", 10**400, "int|object"),
        ("f32", True, "bool"),
        ("f32", [1.0], "list"),
        ("f32", "1", "str"),
        ("i32", 2.5, "float"),
        ("i32", 2**31, "int"),
    ],
)
def test_a_number_that_does_not_fit_is_refused(kind: str, value: object, got: str, level: str):
    with pytest.raises(GaweeError, match=rf"input 's'.*, got ({got})") as raised:
        run_scaled(kind, value, level)

    assert (level == "llvm") == (raised.value.diagnostics[0].place is None)


@pytest.mark.parametrize("level", LEVELS)
def test_a_number_is_no_array_of_a_shape(level: str):
    model = Model(parse(SCALED.replace("TYPE", "f32")))

    with pytest.raises(GaweeError, match=r"input 'x'.*, got float"):
        model.run({"x": 1.0, "s": 1.0}, level)


def test_prepared_values_that_are_written_and_returned_go_by_their_names():
    module = parse("""
    func.func @prepare(%w: memref<3xf32> {gawee.parameter = "w"}, %b: memref<3xf32> {gawee.output = "1"})
        -> (f32 {gawee.output = "0"}) {
      %i = arith.constant 1 : index
      %s = memref.load %w[%i] : memref<3xf32>
      "memref.copy"(%w, %b) : (memref<3xf32>, memref<3xf32>) -> ()
      return %s : f32
    }
    func.func @main(%s: f32 {gawee.prepared = "0"}, %b: memref<3xf32> {gawee.prepared = "1"},
                    %y: memref<3xf32> {gawee.output = "y"}) {
      %i = arith.constant 2 : index
      "memref.copy"(%b, %y) : (memref<3xf32>, memref<3xf32>) -> ()
      memref.store %s, %y[%i] : memref<3xf32>
      return
    }""")

    outputs = run_module(module, {"w": np.array([5, 6, 7], np.float32)})

    assert outputs["y"].tolist() == [5, 6, 6]


def test_prepared_values_are_computed_first():
    module = parse("""
    func.func @prepare(%w: tensor<3xf32> {gawee.parameter = "w"})
        -> (tensor<3xf32>, tensor<3xf32>) {
      %d = gawee.add %w, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %q = gawee.mul %d, %d : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      return %d, %q : tensor<3xf32>, tensor<3xf32>
    }
    func.func @main(%x: tensor<3xf32>, %q: tensor<3xf32> {gawee.prepared = "1"})
        -> tensor<3xf32> {
      %y = gawee.sub %x, %q : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      return %y : tensor<3xf32>
    }""")
    x, w = random((3,)), np.array([1, 2, 3], np.float32)

    outputs = run_module(module, {"x": x, "w": w})

    np.testing.assert_array_equal(outputs["output0"], x - np.array([4, 16, 36], np.float32))


def test_listeners_see_every_op():
    counter = OpCounter()

    run_module(
        parse(LINEAR), {"x": random((2, 3)), "fc.weight": random((4, 3))}, listeners=[counter]
    )

    assert counter.ops == {"gawee.matmul": 1, "func.return": 1}


def test_missing_function_is_an_error():
    with pytest.raises(GaweeError, match="expected a function '@forward', got '@main'"):
        run_module(parse(LINEAR), {}, function="forward")


def test_function_without_a_body_is_an_error():
    with pytest.raises(GaweeError, match=r"'func.func' op expected '@main' to have a body"):
        run_module(parse("func.func private @main() -> ()"), {})


def test_every_op_without_an_implementation_is_reported_at_once():
    module = parse("""
func.func @main(%x: f32) {
  "test.op"() : () -> ()
  func.call @other() : () -> ()
  return
}
func.func @other() {
  "test.op"() : () -> ()
  return
}""")

    with pytest.raises(GaweeError) as error:
        run_module(module, {"x": np.float32(1)})

    assert [str(problem) for problem in error.value.diagnostics] == [
        "test.mlir:3:3: error: 'test.op' op unsupported by the interpreter",
        "test.mlir:8:3: error: 'test.op' op unsupported by the interpreter",
    ]


def test_every_gawee_op_has_an_implementation():
    implemented = frozenset().union(*(functions.op_types() for functions in FUNCTIONS))

    assert set(GAWEE.operations) <= implemented


@pytest.mark.parametrize(
    ("attribute", "index", "size"), [("shape", "slice(2, None, None)", (5, 7)), ("shape", "-3", 3)]
)
def test_python_values_are_what_a_tracer_saw(attribute, index, size):
    module = parse(f"""
    func.func @main(%x: tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> {{
      %s = gawee.getattr %x "{attribute}" : tensor<2x3x5x7xf32>
      %i = gawee.getitem %s "{index}"
      return %x : tensor<2x3x5x7xf32>
    }}""")
    seen = Values()

    run_module(module, {"x": random((2, 3, 5, 7))}, listeners=[seen])

    assert seen.values["gawee.getitem"] == size


class Values(OpCounter):
    def __init__(self):
        super().__init__()
        self.values = {}

    def did_interpret_op(self, op, results):
        self.values[op.name] = results[0] if results else None


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("7", "cannot run: cannot take item 7 of (2, 3)"),
        ("open('file')", "cannot run: expected an integer or a slice, got 'open('file')'"),
        ("None", "cannot run: expected an integer or a slice, got 'None'"),
    ],
)
def test_wrong_items_are_located_errors(index, message):
    module = parse(f"""
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{
  %s = gawee.getattr %x "shape" : tensor<2x3xf32>
  %i = gawee.getitem %s "{index}"
  return %x : tensor<2x3xf32>
}}""")

    with pytest.raises(RunError) as error:
        run_module(module, {"x": random((2, 3))})

    assert str(error.value) == f"test.mlir:4:3: error: 'gawee.getitem' op {message}"


def test_unknown_attribute_of_a_tensor_is_an_error():
    module = parse("""
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %s = gawee.getattr %x "device" : tensor<2xf32>
      return %x : tensor<2xf32>
    }""")

    with pytest.raises(RunError, match="unsupported attribute 'device'; supported: shape, ndim"):
        run_module(module, {"x": random((2,))})
