"""fold-batch-norm keeps what a network computes; PyTorch is the judge."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.passes.modules import assert_same_results, evaluate, op_names, parse, transform

# Folding rounds the weights once more: a few units in the last place of the largest output.
TOLERANCE = {"f32": 1e-5, "f64": 1e-13}


def conv_norm(
    element: str = "f32", *, bias: bool, scale: bool, shift: bool, groups: int = 1
) -> ModuleOp:
    def parameter(name: str, shape: str) -> str:
        return f'%{name}: tensor<{shape}x{element}> {{gawee.parameter = "{name}"}}'

    arguments = ", ".join(
        [f"%x: tensor<2x4x9x7x{element}>", parameter("w", f"6x{4 // groups}x3x2")]
        + [parameter(name, "6") for name in ("b", "m", "v", "g", "t")]
    )
    channels = f"tensor<6x{element}>"
    result = f"tensor<2x6x4x6x{element}>"
    return parse(f"""
      func.func @main({arguments}) -> ({result} {{gawee.output = "z"}}) {{
        %y = gawee.conv %x, %w {"bias %b" if bias else ""} strides [2, 1] padding [0, 0, 0, 0]
          dilations [1, 1] groups {groups} : (tensor<2x4x9x7x{element}>,
          tensor<6x{4 // groups}x3x2x{element}>{", " + channels if bias else ""}) -> {result}
        %z = gawee.batch_norm %y mean %m variance %v {"scale %g" if scale else ""}
          {"bias %t" if shift else ""} eps 1.0e-3 : {result}, {channels}
        func.return %z : {result}
      }}""")


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("hoist", ["", ",hoist-parameter-computation"])
def test_any_choice_of_optional_parameters_keeps_the_result(
    bias: bool, scale: bool, shift: bool, hoist: str
) -> None:
    before = conv_norm(bias=bias, scale=scale, shift=shift)

    after = transform(before, "fold-batch-norm" + hoist)

    assert op_names(after)[-1] == "conv"
    assert "batch_norm" not in op_names(after)
    assert_same_results(before, after, rtol=TOLERANCE["f32"])


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_groups_keep_the_result(element: str) -> None:
    before = conv_norm(element, bias=True, scale=True, shift=True, groups=2)

    after = transform(before, "fold-batch-norm,hoist-parameter-computation")

    assert op_names(after) == ["conv"]
    assert_same_results(before, after, rtol=TOLERANCE[element])


@pytest.mark.parametrize(("eps", "gain"), [(1e-7, 1.0), (1e-7, 30.0), (1e-12, 0.01)])
def test_channels_of_f16_that_never_vary_keep_the_result(eps: float, gain: float) -> None:
    """1e-7 is 1.2e-7 in f16, 1e-12 is 0, and 30 / sqrt(1e-7) is infinite."""

    def network(element: str) -> ModuleOp:
        names = "".join(
            f', %{name}: tensor<3x{element}> {{gawee.parameter = "{name}"}}' for name in "mvgt"
        )
        return parse(f"""
          func.func @main(%x: tensor<2x5x{element}> {{gawee.input = "x"}},
              %w: tensor<3x5x{element}> {{gawee.parameter = "w"}}{names})
              -> (tensor<2x3x{element}> {{gawee.output = "z"}}) {{
            %y = gawee.matmul %x, %w
              : (tensor<2x5x{element}>, tensor<3x5x{element}>) -> tensor<2x3x{element}>
            %z = gawee.batch_norm %y mean %m variance %v scale %g bias %t eps {eps:e}
              : tensor<2x3x{element}>, tensor<3x{element}>
            func.return %z : tensor<2x3x{element}>
          }}""")

    random = np.random.default_rng(0)
    small = random.uniform(1e-3, 1e-2, (3, 5)), np.full(3, 1e-3), np.zeros(3)
    sizes = dict(zip("wmv", small, strict=True))
    drawn = {"x": random.uniform(0.5, 1, (2, 5)), "g": np.full(3, gain), "t": np.ones(3), **sizes}
    arrays = {name: array.astype(np.float16) for name, array in drawn.items()}
    wide = {name: array.astype(np.float32) for name, array in arrays.items()}
    after = transform(network("f16"), "fold-batch-norm")

    assert "batch_norm" not in op_names(after)
    # The weight, the bias and the output are each rounded once, to 11 bits.
    expected = evaluate(network("f32"), wide)["z"]
    np.testing.assert_allclose(evaluate(after, arrays)["z"], expected, rtol=2**-9)


SHARED = """
func.func @main(%x: tensor<2x3x5x4xf32>, %w: tensor<3x3x1x1xf32> {gawee.parameter = "w"},
                %m: tensor<3xf32> {gawee.parameter = "m"},
                %v: tensor<3xf32> {gawee.parameter = "v"})
    -> (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<2x3x5x4xf32>, tensor<3x3x1x1xf32>) -> tensor<2x3x5x4xf32>
  %z = gawee.batch_norm %y mean %m variance %v eps 1.0e-5 : tensor<2x3x5x4xf32>, tensor<3xf32>
  %q = gawee.conv %z, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<2x3x5x4xf32>, tensor<3x3x1x1xf32>) -> tensor<2x3x5x4xf32>
  %r = gawee.batch_norm %q mean %m variance %v eps 1.0e-5 : tensor<2x3x5x4xf32>, tensor<3xf32>
  %s = gawee.conv %r, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<2x3x5x4xf32>, tensor<3x3x1x1xf32>) -> tensor<2x3x5x4xf32>
  func.return %r, %s : tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>
}"""


def test_modules_called_twice_share_parameters_and_keep_the_result() -> None:
    before = parse(SHARED)

    after = transform(before, "fold-batch-norm,hoist-parameter-computation")

    assert op_names(after) == ["conv", "conv", "conv"]
    assert_same_results(before, after, rtol=TOLERANCE["f32"])


def test_matmul_keeps_the_result() -> None:
    before = parse("""
      func.func @main(%x: tensor<3x7xf32>, %w: tensor<5x7xf32> {gawee.parameter = "w"},
                      %b: tensor<5xf32> {gawee.parameter = "b"},
                      %m: tensor<5xf32> {gawee.parameter = "m"},
                      %v: tensor<5xf32> {gawee.parameter = "v"}) -> tensor<3x5xf32> {
        %y = gawee.matmul %x, %w bias %b
          : (tensor<3x7xf32>, tensor<5x7xf32>, tensor<5xf32>) -> tensor<3x5xf32>
        %z = gawee.batch_norm %y mean %m variance %v scale %b eps 1.0e-3
          : tensor<3x5xf32>, tensor<5xf32>
        func.return %z : tensor<3x5xf32>
      }""")

    after = transform(before, "fold-batch-norm,hoist-parameter-computation")

    assert op_names(after) == ["matmul"]
    assert_same_results(before, after, rtol=TOLERANCE["f32"])


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("shape", ["6x1x1x", "1x6x1x1x"])
def test_scales_and_shifts_behind_a_norm_become_part_of_the_convolution(
    shape: str, scale: bool, shift: bool
) -> None:
    result, constant = "tensor<2x6x4x6xf32>", f"tensor<{shape}f32>"
    before = parse(f"""
      func.func @main(%x: tensor<2x4x4x6xf32>, %w: tensor<6x4x1x1xf32> {{gawee.parameter = "w"}},
          %m: tensor<6xf32> {{gawee.parameter = "m"}}, %v: tensor<6xf32> {{gawee.parameter = "v"}},
          %g: tensor<6xf32> {{gawee.parameter = "g"}}, %t: tensor<6xf32> {{gawee.parameter = "t"}},
          %c: {constant} {{gawee.parameter = "c"}}, %d: {constant} {{gawee.parameter = "d"}})
          -> ({result} {{gawee.output = "z"}}) {{
        %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
          : (tensor<2x4x4x6xf32>, tensor<6x4x1x1xf32>) -> {result}
        %n = gawee.batch_norm %y mean %m variance %v {"scale %g" if scale else ""}
          {"bias %t" if shift else ""} eps 1.0e-3 : {result}, tensor<6xf32>
        %s = gawee.mul %n, %c : ({result}, {constant}) -> {result}
        %z = gawee.add %s, %d : ({result}, {constant}) -> {result}
        func.return %z : {result}
      }}""")

    after = transform(before, "fold-batch-norm,hoist-parameter-computation")

    assert op_names(after) == ["conv"]
    assert_same_results(before, after, rtol=TOLERANCE["f32"])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", ["6x1x1x", "1x6x1x1x"])
def test_a_scale_behind_a_convolution_becomes_part_of_it(shape: str, bias: bool) -> None:
    result, constant = "tensor<2x6x4x6xf32>", f"tensor<{shape}f32>"
    before = parse(f"""
      func.func @main(%x: tensor<2x4x4x6xf32>, %w: tensor<6x2x1x1xf32> {{gawee.parameter = "w"}},
          %b: tensor<6xf32> {{gawee.parameter = "b"}}, %c: {constant} {{gawee.parameter = "c"}})
          -> ({result} {{gawee.output = "z"}}) {{
        %y = gawee.conv %x, %w {"bias %b" if bias else ""} strides [1, 1] padding [0, 0, 0, 0]
          dilations [1, 1] groups 2 : (tensor<2x4x4x6xf32>, tensor<6x2x1x1xf32>
          {", tensor<6xf32>" if bias else ""}) -> {result}
        %z = gawee.mul %y, %c : ({result}, {constant}) -> {result}
        func.return %z : {result}
      }}""")

    after = transform(before, "fold-batch-norm,hoist-parameter-computation")

    assert op_names(after) == ["conv"]
    assert_same_results(before, after, rtol=TOLERANCE["f32"])


def test_a_scale_and_a_shift_behind_a_group_norm_become_its_own() -> None:
    before = parse("""
      func.func @main(%x: tensor<2x6x4x3xf32>, %g: tensor<6xf32> {gawee.parameter = "g"},
          %c: tensor<6x1x1xf32> {gawee.parameter = "c"},
          %d: tensor<6x1x1xf32> {gawee.parameter = "d"})
          -> (tensor<2x6x4x3xf32> {gawee.output = "z"}) {
        %n = gawee.group_norm %x scale %g : tensor<6xf32> groups 2 eps 1.0e-3
          : tensor<2x6x4x3xf32>
        %s = gawee.mul %c, %n : (tensor<6x1x1xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
        %z = gawee.add %s, %d : (tensor<2x6x4x3xf32>, tensor<6x1x1xf32>) -> tensor<2x6x4x3xf32>
        func.return %z : tensor<2x6x4x3xf32>
      }""")

    after = transform(before, "fold-batch-norm,hoist-parameter-computation")

    assert [name for name in op_names(after) if name != "reshape"] == ["group_norm"]
    assert_same_results(before, after, rtol=TOLERANCE["f32"])


@pytest.mark.parametrize("stored", [False, True])
def test_a_product_whose_rows_are_joined_folds(stored: bool) -> None:
    """As torch.onnx.export writes a linear layer in front of a normalization of rows."""
    weight = "tensor<7x3xf32>" if stored else "tensor<3x7xf32>"
    product = (
        f"gawee.matmul %x, %w bias %b : (tensor<2x5x3xf32>, {weight}, tensor<7xf32>)"
        if stored
        else f"gawee.batch_matmul %x, %w : (tensor<2x5x3xf32>, {weight})"
    )
    before = parse(f"""
      func.func @main(%x: tensor<2x5x3xf32>, %w: {weight} {{gawee.parameter = "w"}},
                      %b: tensor<7xf32> {{gawee.parameter = "b"}},
                      %m: tensor<7xf32> {{gawee.parameter = "m"}},
                      %v: tensor<7xf32> {{gawee.parameter = "v"}}) -> tensor<10x7xf32> {{
        %p = {product} -> tensor<2x5x7xf32>
        %y = gawee.reshape %p shape [10, 7] : (tensor<2x5x7xf32>) -> tensor<10x7xf32>
        %z = gawee.batch_norm %y mean %m variance %v scale %b eps 1.0e-3
          : tensor<10x7xf32>, tensor<7xf32>
        func.return %z : tensor<10x7xf32>
      }}""")

    after = transform(before, "fold-batch-norm,hoist-parameter-computation")

    assert op_names(after) == ["reshape", "matmul"]
    assert_same_results(before, after, rtol=TOLERANCE["f32"])
