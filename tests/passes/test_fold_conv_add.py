"""fold-conv-add folds exactly what broadcasts along channels; PyTorch is the judge."""

import pytest

from tests.passes.modules import assert_same_results, op_names, parse, transform


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize(
    ("shape", "folds"),
    [
        ("", True),
        ("1x", True),
        ("4x1x1x", True),
        ("1x1x1x", True),
        ("1x4x1x1x", True),
        ("4x", False),
        ("4x1x", False),
        ("1x4x1x", False),
        ("2x1x1x1x", False),
        ("2x4x4x4x", False),
    ],
)
def test_shapes_along_channels_fold_and_others_stay(
    shape: str, folds: bool, left: bool, bias: bool
) -> None:
    constant = f"tensor<{shape}f32>"
    result = "tensor<2x4x4x4xf32>"
    types = f"({constant}, {result})" if left else f"({result}, {constant})"
    before = parse(f"""
      func.func @main(%x: tensor<2x3x4x4xf32>, %w: tensor<4x3x1x1xf32> {{gawee.parameter = "w"}},
                      %b: tensor<4xf32> {{gawee.parameter = "b"}},
                      %c: {constant} {{gawee.constant = "c"}}) -> {result} {{
        %y = gawee.conv %x, %w {"bias %b" if bias else ""} strides [1, 1] padding [0, 0, 0, 0]
          dilations [1, 1] groups 1 : (tensor<2x3x4x4xf32>, tensor<4x3x1x1xf32>
          {", tensor<4xf32>" if bias else ""}) -> {result}
        %z = gawee.add {"%c, %y" if left else "%y, %c"} : {types} -> {result}
        func.return %z : {result}
      }}""")

    after = transform(before, "fold-conv-add,hoist-parameter-computation")

    assert ("add" not in op_names(after)) == folds
    assert_same_results(before, after, rtol=1e-6)  # one addition is done in another order


def test_a_sum_of_a_weight_convolution_and_an_input_convolution_folds() -> None:
    before = parse("""
      func.func @main(%x: tensor<1x2x1x1xf32>, %w: tensor<3x2x1x1xf32> {gawee.parameter = "w"},
                      %p: tensor<1x2x1x1xf32> {gawee.parameter = "p"}) -> tensor<1x3x1x1xf32> {
        %c = gawee.conv %p, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
          : (tensor<1x2x1x1xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x1x1xf32>
        %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
          : (tensor<1x2x1x1xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x1x1xf32>
        %z = gawee.add %c, %y : (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32>
        func.return %z : tensor<1x3x1x1xf32>
      }""")

    after = transform(before, "fold-conv-add,hoist-parameter-computation")

    assert op_names(after) == ["reshape", "conv"]  # a view of the prepared bias
    assert_same_results(before, after, rtol=1e-6)


@pytest.mark.parametrize("bias", [False, True])
def test_a_hard_sigmoid_behind_a_convolution_begins_in_its_bias(bias: bool) -> None:
    result = "tensor<2x4x5x7xf32>"
    before = parse(f"""
      func.func @main(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x1x1xf32> {{gawee.parameter = "w"}},
                      %b: tensor<4xf32> {{gawee.parameter = "b"}}) -> {result} {{
        %y = gawee.conv %x, %w {"bias %b" if bias else ""} strides [1, 1] padding [0, 0, 0, 0]
          dilations [1, 1] groups 1 : (tensor<2x3x5x7xf32>, tensor<4x3x1x1xf32>
          {", tensor<4xf32>" if bias else ""}) -> {result}
        %z = gawee.hard_sigmoid %y : ({result}) -> {result}
        func.return %z : {result}
      }}""")

    after = transform(before, "fold-conv-add,canonicalize,hoist-parameter-computation")

    moved = ("constant", "reshape")
    assert [name for name in op_names(after) if name not in moved] == ["conv", "clip", "div"]
    assert_same_results(before, after, rtol=1e-6)  # one addition is done in another order
