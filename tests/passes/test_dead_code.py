"""Dead code is what xDSL says it is, and patterns see what they see in xDSL's walk."""

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriterListener, PatternRewriteWalker
from xdsl.transforms.dead_code_elimination import region_dce

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.passes.dead_code import erase_dead
from gawee_dialect.passes.graph.canonicalize import CanonicalizationDriver
from gawee_dialect.passes.pattern_walk import PatternWalk
from gawee_dialect.universe import make_context

CHAIN = """
func.func @f(%x: f32) -> f32 {
  %a = arith.mulf %x, %x : f32
  %b = arith.addf %a, %x : f32
  %c = arith.subf %b, %a : f32
  %d = arith.addf %x, %x : f32
  func.return %d : f32
}
"""

DEAD_REGION = """
func.func @f(%x: tensor<3x5xf32>, %n: f32) -> tensor<3x5xf32> {
  %two = arith.constant 2.0 : f32
  %dead = gawee.kernel parallel [3, 5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] finish {
    ^bb0(%e: f32):
      %unread = arith.mulf %e, %e : f32
      %f = arith.addf %e, %two : f32
      gawee.yield %f : f32
    } : tensor<3x5xf32>
  %y = gawee.kernel parallel [3, 5] ins(%x : tensor<3x5xf32>)
    maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] finish {
    ^bb0(%e: f32):
      %unread = arith.mulf %e, %e : f32
      gawee.yield %e : f32
    } : tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}
"""

EFFECTS = """
func.func private @g(f32) -> f32
func.func @f(%m: memref<7xf32>, %i: index, %v: f32) {
  %read = memref.load %m[%i] : memref<7xf32>
  %called = func.call @g(%v) : (f32) -> f32
  %unused = memref.alloc() : memref<5xf32>
  memref.store %v, %m[%i] : memref<7xf32>
  scf.for %k = %i to %i step %i {
    %dead = arith.addf %v, %v : f32
  }
  func.return
}
"""

BRANCHES = """
func.func @f(%c: i1, %x: f32) -> f32 {
  %a = arith.mulf %x, %x : f32
  cf.cond_br %c, ^left(%x : f32), ^right(%a : f32)
^left(%l: f32):
  %dead = arith.addf %l, %l : f32
  cf.br ^right(%l : f32)
^right(%r: f32):
  func.return %r : f32
^unreached(%n: f32):
  cf.br ^right(%n : f32)
}
"""

MODULES = {
    "a chain without uses": CHAIN,
    "a kernel without uses": DEAD_REGION,
    "effects on memory": EFFECTS,
    "blocks that follow each other": BRANCHES,
}


def module_of(text: str) -> ModuleOp:
    return parse_mlir(make_context(), text, "<text>")


@pytest.mark.parametrize("text", MODULES.values(), ids=MODULES)
def test_what_is_dead_is_what_xdsl_erases(text: str) -> None:
    ours, theirs = module_of(text), module_of(text)
    while region_dce(theirs.body):
        pass

    found = erase_dead(ours.body)
    while erase_dead(ours.body):
        pass
    ours.verify()
    assert str(ours) == str(theirs)
    assert found == (str(ours) != str(module_of(text)))


def test_a_listener_hears_of_each_op_that_goes() -> None:
    module, gone = module_of(CHAIN), list[str]()
    listener = PatternRewriterListener(operation_removal_handler=[lambda op: gone.append(op.name)])

    assert erase_dead(module.body, listener)
    assert gone == ["arith.subf", "arith.addf", "arith.mulf"]


@pytest.mark.parametrize("text", MODULES.values(), ids=MODULES)
def test_the_walk_ends_as_that_of_xdsl(text: str) -> None:
    context = make_context()
    ours, theirs = module_of(text), module_of(text)
    PatternWalk(CanonicalizationDriver(context)).rewrite_module(ours)
    PatternRewriteWalker(CanonicalizationDriver(context)).rewrite_module(theirs)

    assert str(ours) == str(theirs)
