"""fuse-attention takes attention's parts together as PyTorch wrote them; PyTorch is the judge."""

import numpy as np
import pytest

from gawee_dialect.model import Model
from tests.closeness import assert_allclose
from tests.passes.modules import assert_same_results, op_names, parse, transform

Q, K, V = "tensor<2x3x5x4xf32>", "tensor<2x3x7x4xf32>", "tensor<2x3x7x6xf32>"
SCORES, RESULT = "tensor<2x3x5x7xf32>", "tensor<2x3x5x6xf32>"


def attention(scores: str, mask: str, last: str = "%w") -> str:
    """Return a network of attention; `scores` makes %t of the products %s."""
    return f"""
      func.func @main(%q: {Q} {{gawee.input = "q"}}, %k: {K} {{gawee.input = "k"}},
                      %v: {V} {{gawee.input = "v"}}, %m: {mask} {{gawee.parameter = "m"}})
          -> ({RESULT} {{gawee.output = "y"}}) {{
        %s = gawee.batch_matmul %q, %k transpose_b : ({Q}, {K}) -> {SCORES}
        {scores}
        %w = gawee.softmax %t axis -1 : ({SCORES}) -> {SCORES}
        %n = gawee.isnan %w : ({SCORES}) -> tensor<2x3x5x7xi1>
        %z = gawee.constant dense<0.0> : tensor<f32>
        %g = gawee.where %n, %z, %w : (tensor<2x3x5x7xi1>, tensor<f32>, {SCORES}) -> {SCORES}
        %y = gawee.batch_matmul {last}, %v : ({SCORES}, {V}) -> {RESULT}
        func.return %y : {RESULT}
      }}"""


@pytest.mark.parametrize("mask", ["7x", "5x1x", "3x1x1x", "1x3x5x7x", "2x3x5x7x"])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("divided", [False, True])
def test_scores_that_are_scaled_and_masked_are_attention(
    mask: str, left: bool, divided: bool
) -> None:
    type = f"tensor<{mask}f32>"
    operands = f"%m, %u : ({type}, {SCORES})" if left else f"%u, %m : ({SCORES}, {type})"
    before = parse(
        attention(
            f"""%c = gawee.constant dense<1.75> : tensor<1x1xf32>
            %u = gawee.{"div" if divided else "mul"} %s, %c
              : ({SCORES}, tensor<1x1xf32>) -> {SCORES}
            %t = gawee.add {operands} -> {SCORES}""",
            type,
        )
    )

    after = transform(before, "fuse-attention,canonicalize")

    assert op_names(after) == ["attention"]
    # The division by the sum comes after the second product: roundings of float32.
    assert_same_results(before, after, rtol=1e-5)


@pytest.mark.parametrize("guarded", [False, True])
def test_a_query_that_sees_no_key_keeps_what_it_has(guarded: bool) -> None:
    """Zeros where they were written; where they were not, NaN, and the parts stay."""
    hidden = np.zeros((5, 7), np.float32)
    hidden[2], hidden[3, 1:] = -np.inf, -np.inf
    random = np.random.default_rng(0)
    inputs = {
        name: random.standard_normal(shape).astype(np.float32)
        for name, shape in {"q": (2, 3, 5, 4), "k": (2, 3, 7, 4), "v": (2, 3, 7, 6)}.items()
    }
    text = attention(
        f"%t = gawee.add %s, %m : ({SCORES}, tensor<5x7xf32>) -> {SCORES}",
        "tensor<5x7xf32>",
        "%g" if guarded else "%w",
    )
    module = parse(text.replace("gawee.parameter", "gawee.input"))
    after = transform(module, "fuse-attention,canonicalize")

    before, fused = (Model(each, {}).run({**inputs, "m": hidden})["y"] for each in (module, after))

    assert ("attention" in op_names(after)) == guarded
    assert_allclose(fused, before, rtol=1e-5, atol=1e-6)
    seen_none = fused[:, :, 2]
    assert (seen_none == 0).all() if guarded else np.isnan(seen_none).all()


@pytest.mark.parametrize("heads", [1, 3])
def test_attention_that_pytorch_took_apart_is_whole_again(heads: int) -> None:
    torch = pytest.importorskip("torch")
    from gawee_dialect.frontends.npu_ir import extract_ir
    from gawee_dialect.pytorch import ir_model

    class Attention(torch.nn.Module):
        def forward(self, q, k, v, mask):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)

    torch.manual_seed(0)
    shapes = ((2, heads, 5, 4), (2, heads, 7, 4), (2, heads, 7, 6), (2, 1, 5, 7))
    q, k, v, mask = (torch.randn(*shape) for shape in shapes)
    mask[0, 0, 3] = -torch.inf
    module = Attention().eval()
    model = ir_model(extract_ir(module, (q, k, v, mask), strict=False), {})

    fused = transform(model.module, "gawee-optimize")

    assert [name for name in op_names(fused) if "softmax" in name] == []
    assert op_names(fused).count("attention") == 1
    names = [each.name for each in Model(fused, model.bound).arguments]
    given = {name: x.numpy() for name, x in zip(names, (q, k, v, mask), strict=True)}
    (got,) = Model(fused, model.bound).run(given).values()
    # Sums of at most 7 products in another order.
    assert_allclose(got, module(q, k, v, mask).numpy(), rtol=1e-5, atol=1e-6)
