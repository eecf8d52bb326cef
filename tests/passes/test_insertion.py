"""Passes of a user's own at a named place of the pipeline: what runs, what is compiled, what is
refused."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.backend.cache import CompileCache
from gawee_dialect.code_options import ALGORITHMS, CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.graph.elementwise import AddOp, ReluOp
from gawee_dialect.dialect.operation import KEEP
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.passes.insertion import (
    Insertion,
    after,
    before,
    declared,
    parse_insertion,
    with_insertions,
)
from gawee_dialect.passes.pass_manager import Pipeline, parse_passes
from gawee_dialect.passes.pipelines import GaweeOptimize, optimize
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.universe import all_passes, make_context
from tests.closeness import assert_allclose
from tests.passes.modules import parse

GRAPH = """
func.func @main(%x: tensor<2x3x5x7xf32> {gawee.input = "x"},
    %w: tensor<4x3x1x1xf32> {gawee.parameter = "w"}) -> (tensor<2x4x5x7xf32> {gawee.output = "y"}) {
  %c = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 :
    (tensor<2x3x5x7xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x5x7xf32>
  %y = gawee.relu %c : (tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  func.return %y : tensor<2x4x5x7xf32>
}
"""
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((2, 3, 5, 7), np.float32)
W = RANDOM.standard_normal((4, 3, 1, 1), np.float32)
CONV = np.einsum("nchw,fc->nfhw", X.astype(np.float64), W[:, :, 0, 0])


class ReluToDouble(Pattern):
    """gawee.relu %x -> gawee.add %x, %x"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, AddOp(op.input, op.input))


@dataclass(frozen=True)
class Double(RewritePass):
    """Changes what is computed, so that it shows whether it ran."""

    name = "double"
    patterns = (ReluToDouble,)


@dataclass(frozen=True)
class Mark(ModulePass):
    """Keeps ops of a kind out of kernels."""

    name = "mark"
    kind: str = "linalg.generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if inner.name == self.kind:
                inner.attributes[KEEP] = UnitAttr()


@dataclass(frozen=True)
class Nothing(ModulePass):
    """Has a name, and does nothing."""

    name = "nothing"
    place: ClassVar[str] = "after=fold-conv-add"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path))


def model() -> Model:
    return Model(parse(GRAPH), {"w": W})


def names(*insertions: Insertion) -> list[str]:
    return [each.name for each in with_insertions(optimize(), insertions)]


def test_passes_go_in_beside_the_one_that_is_named_in_the_order_given() -> None:
    assert names(
        after("fold-batch-norm", Nothing(), Mark()),
        before("canonicalize#2", Double()),
        after("fold-batch-norm", Double()),
        before("canonicalize#1", Mark()),
    ) == [
        *("lower-quant-ops", "mark", "canonicalize", "sink-dequantize", "fold-batch-norm"),
        *("nothing", "mark", "double"),
        *("fold-conv-add", "trim-conv-kernels", "fuse-attention", "double", "canonicalize"),
    ]


def test_places_are_found_inside_of_a_pipeline_that_is_a_pass() -> None:
    passes = with_insertions([Nothing(), GaweeOptimize()], [after("fold-conv-add", Double())])

    assert [each.name for each in passes][-4:-2] == ["double", "trim-conv-kernels"]
    assert not any(isinstance(each, Pipeline) for each in passes)


def test_a_declared_pass_goes_in_unless_the_pipeline_names_it() -> None:
    declaration = Insertion.at(Nothing.place, [Nothing()], required=False)

    with declared([declaration]):
        alone = names()
        elsewhere = names(after("fold-batch-norm", Nothing()))
        by_hand = with_insertions([*optimize(), Nothing()])
        no_such_place = with_insertions(parse_passes("cse", all_passes()))

    assert alone.index("nothing") == alone.index("fold-conv-add") + 1
    assert elsewhere.index("nothing") == elsewhere.index("fold-batch-norm") + 1
    assert elsewhere.count("nothing") == [each.name for each in by_hand].count("nothing") == 1
    assert [each.name for each in no_such_place] == ["cse"]


def test_every_wrong_place_is_reported_at_once() -> None:
    texts = ("after=fold-conv-ad:cse", "before=canonicalize:cse", "before=canonicalize#3:cse")
    wrong = [parse_insertion(text, all_passes()) for text in texts]

    with pytest.raises(GaweeError) as caught:
        with_insertions(optimize(), wrong)

    listing = (
        "places: lower-quant-ops, canonicalize#1, sink-dequantize, fold-batch-norm, fold-conv-add, "
        "trim-conv-kernels, fuse-attention, canonicalize#2"
    )
    assert str(caught.value).splitlines() == [
        "--insert='after=fold-conv-ad:cse': error: unknown place 'fold-conv-ad' in the pipeline",
        f"hint: did you mean 'fold-conv-add'? {listing}",
        "--insert='before=canonicalize:cse': error: expected one place 'canonicalize' in the "
        "pipeline, got 2",
        "hint: which: canonicalize#1 after lower-quant-ops, canonicalize#2 after fuse-attention",
        "--insert='before=canonicalize#3:cse': error: expected a place up to 'canonicalize#2', "
        "got 'canonicalize#3'",
        f"hint: {listing}",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("behind=cse:cse", "expected a place, such as after=fold-conv-add, got 'behind=cse'"),
        (
            f"after=cse#{'9' * 5000}:cse",
            "expected a place, such as after=fold-conv-add, got 'after",
        ),
        ("after=cse#0:cse", "expected a place, such as after=fold-conv-add, got 'after=cse#0'"),
        ("after=cse", "expected PLACE:PIPELINE, such as after=fold-conv-add:my-pass, got 'after="),
        ("after=cse:css", "unknown pass 'css'"),
    ],
)
def test_an_insertion_that_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(GaweeError) as caught:
        parse_insertion(text, all_passes())

    assert message in str(caught.value)


@pytest.mark.parametrize("algorithms", ALGORITHMS)
def test_native_code_is_that_of_the_pipeline_with_the_pass(algorithms: str) -> None:
    options = CodeOptions(algorithms=algorithms, num_threads=1)

    (plain,) = model().compile(options).run({"x": X}).values()
    own = model().compile(options, passes=[after("fold-conv-add", Double())])
    (doubled,) = own.run({"x": X}).values()
    (again,) = model().compile(options).run({"x": X}).values()

    # Three products and sums in f32.
    assert_allclose(plain, np.maximum(CONV, 0), rtol=1e-6, atol=1e-6)
    assert_allclose(doubled, 2 * CONV, rtol=1e-6, atol=2e-6)
    np.testing.assert_array_equal(plain, again)  # the cache knows one from the other


def test_machine_code_of_a_pipeline_with_a_pass_is_kept_too() -> None:
    passes = [after("fold-conv-add", Double())]

    def kept() -> int:
        model().compile(passes=passes)
        return len(list(CompileCache().folder.iterdir()))

    assert kept() == kept() > 0


@pytest.mark.parametrize(
    "insertion",
    [before("form-kernels", Mark()), after("fold-conv-add", Mark("gawee.relu"))],
    ids=["linalg", "gawee"],
)
def test_a_marked_op_is_no_kernel_and_computes_the_same_natively(insertion: Insertion) -> None:
    options = CodeOptions(passes=(insertion,), num_threads=1)

    kernels = str(model().lowered(Level.KERNELS, options))
    (result,) = model().compile(options).run({"x": X}).values()

    assert kernels.count("linalg.generic") == 1
    assert "linalg.generic" not in str(model().lowered(Level.KERNELS))
    assert_allclose(result, np.maximum(CONV, 0), rtol=1e-6, atol=1e-6)


def test_a_profile_is_that_of_the_pipeline_with_the_pass() -> None:
    options = CodeOptions(passes=(before("form-kernels", Mark()),), num_threads=1)

    plain = model().profile({"x": X}, runs=1)
    marked = model().profile({"x": X}, options=options, runs=1)

    assert len(marked) == len(plain) + 1


def test_a_kernel_that_is_marked_takes_part_in_no_fusion() -> None:
    text = """
    #map = affine_map<(d0) -> (d0)>
    func.func @main(%x: tensor<7xf32>) -> tensor<7xf32> {
      %a = gawee.kernel parallel [7] ins(%x : tensor<7xf32>) maps [#map, #map] finish {
      ^bb0(%e: f32):
        %n = arith.negf %e : f32
        gawee.yield %n : f32
      } attributes {gawee.keep} : tensor<7xf32>
      %b = gawee.kernel parallel [7] ins(%a : tensor<7xf32>) maps [#map, #map] finish {
      ^bb0(%e: f32):
        %n = arith.negf %e : f32
        gawee.yield %n : f32
      } : tensor<7xf32>
      func.return %b : tensor<7xf32>
    }
    """
    context = make_context()
    marked, plain = parse(text), parse(text.replace("attributes {gawee.keep}", ""))
    (form,) = parse_passes("form-kernels", all_passes())

    form.apply(context, marked)
    form.apply(context, plain)

    assert (str(marked).count("gawee.kernel"), str(plain).count("gawee.kernel")) == (2, 1)


def test_compile_torch_takes_passes() -> None:
    torch = pytest.importorskip("torch")
    from gawee_dialect.pytorch import compile_torch

    x = torch.from_numpy(X)
    compiled = compile_torch(
        torch.nn.ReLU().eval(), (x,), passes=[after("fold-conv-add", Double())]
    )

    torch.testing.assert_close(compiled(x), 2 * x, rtol=0, atol=0)
