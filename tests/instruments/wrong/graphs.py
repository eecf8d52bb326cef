"""Wrong passes on graphs."""

from collections.abc import Mapping

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f64, i64
from xdsl.dialects.test import TestOp

from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.elementwise import ReluOp, SubOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp, LayerNormOp
from gawee_dialect.dialect.graph.reduction import ReduceMeanOp, SoftmaxOp
from tests.instruments.edited import Edited
from tests.instruments.prove.networks import MOBILE, RESIDUAL, SUM, TRANSFORMER
from tests.instruments.wrong import changes
from tests.instruments.wrong.wrong_pass import Keeping, Wrong, WrongPass

BRANCHES = """
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %z: tensor<3x5xf32> {gawee.input = "z"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %s = gawee.add %x, %z : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("sum"("net.json":10:5))
  %t = gawee.mul %s, %z : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("branch"("net.json":20:5))
  %d = gawee.sub %s, %t : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("join"("net.json":30:5))
  %r = gawee.relu %d : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("act"("net.json":40:5))
  %y = gawee.add %r, %x : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("skip"("net.json":50:5))
  return %y : tensor<3x5xf32> loc("output"("net.json":60:5))
}
"""

CLASSES = """
func.func @main(%x: tensor<5x7xf32> {gawee.input = "x"}) -> (tensor<5x7xf32> {gawee.output = "y"}) {
  %a = gawee.neg %x : (tensor<5x7xf32>) -> tensor<5x7xf32> loc("turned"("net.json":10:5))
  %y = gawee.softmax %a axis 1 : (tensor<5x7xf32>) -> tensor<5x7xf32> loc("classes"("net.json":20:5))
  return %y : tensor<5x7xf32> loc("output"("net.json":30:5))
}
"""


RECURRENCE = """
func.func @main(%x: tensor<5x2x3xf32> {gawee.input = "x"}, %h: tensor<2x3xf32> {gawee.input = "h"})
    -> (tensor<5x2x3xf32> {gawee.output = "y"}) {
  %last, %all = gawee.scan steps 5 initial(%h : tensor<2x3xf32>) over(%x : tensor<5x2x3xf32>) {
  ^bb0(%state: tensor<2x3xf32>, %now: tensor<2x3xf32>):
    %kept = gawee.neg %state : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("forget"("net.json":10:5))
    %sum = gawee.sub %kept, %now : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("sum"("net.json":20:5))
    %next = gawee.tanh %sum : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("act"("net.json":30:5))
    gawee.yield %next, %next : tensor<2x3xf32>, tensor<2x3xf32>
  } -> tensor<2x3xf32>, tensor<5x2x3xf32> loc("lstm"("net.json":40:5))
  return %all : tensor<5x2x3xf32> loc("output"("net.json":50:5))
}
"""


def eps(value: float) -> FloatAttr:
    return FloatAttr(value, f64)


INTEGERS = """
func.func @main(%i: tensor<5x7xi32> {gawee.input = "i"}, %j: tensor<5x7xi32> {gawee.input = "j"}) -> (tensor<5x7xi32> {gawee.output = "y"}) {
  %m = gawee.mul %i, %j : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32> loc("product"("net.json":10:5))
  %y = gawee.add %m, %i : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32> loc("sum"("net.json":20:5))
  return %y : tensor<5x7xi32> loc("output"("net.json":30:5))
}
"""

SCALED = """
func.func @main(%i: tensor<5x7xi32> {gawee.input = "i"}, %s: tensor<7xf32> {gawee.input = "s"}) -> (tensor<5x7xf32> {gawee.output = "y"}) {
  %f = gawee.cast %i : (tensor<5x7xi32>) -> tensor<5x7xf32> loc("wide"("net.json":10:5))
  %y = gawee.mul %f, %s : (tensor<5x7xf32>, tensor<7xf32>) -> tensor<5x7xf32> loc("scale"("net.json":20:5))
  return %y : tensor<5x7xf32> loc("output"("net.json":30:5))
}
"""

WORDS = """
func.func @main(%t: tensor<300x3xf32> {gawee.parameter = "embedding.weight"}, %i: tensor<2x40xi32> {gawee.input = "i"}) -> (tensor<2x40x3xf32> {gawee.output = "y"}) {
  %w = gawee.cast %i : (tensor<2x40xi32>) -> tensor<2x40xi64> loc("wide"("net.json":10:5))
  %y = gawee.gather %t, %w axis 0 : (tensor<300x3xf32>, tensor<2x40xi64>) -> tensor<2x40x3xf32> loc("words"("net.json":20:5))
  return %y : tensor<2x40x3xf32> loc("output"("net.json":30:5))
}
"""

PRODUCT = "%m = gawee.mul %i, %j : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32>"
SATURATED = """%0 = gawee.cast %i : (tensor<5x7xi32>) -> tensor<5x7xi64>
  %1 = gawee.cast %j : (tensor<5x7xi32>) -> tensor<5x7xi64>
  %2 = gawee.mul %0, %1 : (tensor<5x7xi64>, tensor<5x7xi64>) -> tensor<5x7xi64>
  %low = gawee.constant dense<-2147483648> : tensor<i64>
  %high = gawee.constant dense<2147483647> : tensor<i64>
  %3 = gawee.maximum %2, %low : (tensor<5x7xi64>, tensor<i64>) -> tensor<5x7xi64>
  %4 = gawee.minimum %3, %high : (tensor<5x7xi64>, tensor<i64>) -> tensor<5x7xi64>
  %m = gawee.cast %4 : (tensor<5x7xi64>) -> tensor<5x7xi32>"""
NARROW = """%0 = gawee.mul %i, %j : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32>
  %1 = gawee.cast %0 : (tensor<5x7xi32>) -> tensor<5x7xi8>
  %m = gawee.cast %1 : (tensor<5x7xi8>) -> tensor<5x7xi32>"""
CUT = "%most = gawee.constant dense<100> : tensor<i32>\n  %0 = gawee.minimum %i, %most : (tensor<5x7xi32>, tensor<i32>) -> tensor<5x7xi32>\n  "
FEW = "%most = gawee.constant dense<255> : tensor<i32>\n  %0 = gawee.minimum %i, %most : (tensor<2x40xi32>, tensor<i32>) -> tensor<2x40xi32>\n  "
ON_EXTREMES = "error: pass 'edited' moved output 'y'"

CASES: Mapping[str, WrongPass] = {
    "a coefficient, one unit in the last place": WrongPass(
        SUM, Wrong(changes.nudge_constant), proof="'gawee.constant'"
    ),
    "the epsilon of a batch norm, a billionth more": WrongPass(
        RESIDUAL, Wrong(changes.nudge_epsilon), proof="'gawee.batch_norm'"
    ),
    "a batch norm without epsilon": WrongPass(
        RESIDUAL,
        Wrong(changes.set_property(BatchNormOp, "eps", eps(0.0))),
        check="'gawee.batch_norm'",
        proof="'gawee.batch_norm'",
    ),
    "a layer norm without epsilon": WrongPass(
        TRANSFORMER,
        Wrong(changes.set_property(LayerNormOp, "eps", eps(0.0))),
        check="'gawee.layer_norm'",
        proof="'gawee.layer_norm'",
    ),
    "the epsilon of a layer norm, a thousandth more": WrongPass(
        TRANSFORMER, Wrong(changes.nudge_layer_norm), proof="'gawee.layer_norm'"
    ),
    "padding on the other side": WrongPass(
        RESIDUAL, Wrong(changes.swap_padding), check="'gawee.conv'", proof="'gawee.conv'"
    ),
    "gelu by tanh": WrongPass(
        TRANSFORMER, Wrong(changes.gelu_by_tanh), check="'gawee.gelu'", proof="'gawee.gelu'"
    ),
    "the scale of attention, one unit in the last place": WrongPass(
        TRANSFORMER, Wrong(changes.nudge_scale), proof="'gawee.attention'"
    ),
    "a skip connection that is dropped": WrongPass(
        RESIDUAL, Wrong(changes.drop_skip), check="'gawee.add'", proof="'gawee.add'"
    ),
    "a clamp that ends at 6.5 and not at 6": WrongPass(
        MOBILE,
        Wrong(changes.set_property(ClipOp, "max", FloatAttr(6.5, f64))),
        check="'gawee.clip'",
        proof="'gawee.clip'",
    ),
    "a softmax along another axis": WrongPass(
        TRANSFORMER,
        Wrong(changes.set_property(SoftmaxOp, "axis", IntegerAttr(1, i64))),
        check="'gawee.softmax'",
        proof="'gawee.softmax'",
    ),
    "a softmax without its maximum": WrongPass(
        CLASSES,
        Wrong(changes.rewritten(SoftmaxOp, changes.plain_softmax)),
        check="on data with large and tiny magnitudes",
        proof="'gawee.softmax', now 'gawee.div'",
    ),
    "a sum in the place of a mean": WrongPass(
        MOBILE,
        Wrong(changes.rewritten(ReduceMeanOp, changes.sum_for_mean)),
        check="'gawee.reduce_mean', now 'gawee.reduce_sum'",
        proof="'gawee.reduce_mean', now 'gawee.reduce_sum'",
    ),
    "a relu that makes zeros of NaN, by a pass that keeps them": WrongPass(
        BRANCHES,
        Keeping(changes.rewritten(ReluOp, changes.relu_by_comparison)),
        check="on data with NaN and infinities; largest difference",
    ),
    "a difference turned round, its place lost": WrongPass(
        BRANCHES,
        Wrong(changes.rewritten(SubOp, changes.reversed_difference, lost=True)),
        check="net.json:30:5: error: pass 'wrong' moved output 'y'",
        proof="first op that differs: 'gawee.sub'",
    ),
    "a difference turned round, after a pass whose module does not run": WrongPass(
        BRANCHES,
        Wrong(changes.rewritten(TestOp, changes.reversed_difference)),
        check="pass 'wrong' (or 'wrong', which could not be run) moved output 'y'",
        proof="pass 'wrong' (or 'wrong', which could not be run) moved output 'y'",
        watched=[Wrong(changes.rewritten(SubOp, changes.hidden))],
    ),
    "a difference turned round, at the place of another op": WrongPass(
        BRANCHES,
        Wrong(changes.share_place),
        check="net.json:30:5: error: pass 'wrong' moved output 'y'",
        proof="net.json:30:5: error: pass 'wrong' moved output 'y'",
    ),
    "a difference turned round, in the step of a recurrence": WrongPass(
        RECURRENCE,
        Wrong(changes.exchange_operands(SubOp)),
        check="net.json:20:5: error: pass 'wrong' moved output 'y'",
        proof="net.json:20:5: error: pass 'wrong' moved output 'y'",
    ),
    "a product of 32 bits that saturates where it wrapped": WrongPass(
        INTEGERS, Edited((PRODUCT, SATURATED)), f"{ON_EXTREMES}", f"{ON_EXTREMES}"
    ),
    "a product that is truncated to 8 bits": WrongPass(
        INTEGERS, Edited((PRODUCT, NARROW)), f"{ON_EXTREMES}", f"{ON_EXTREMES}"
    ),
    "an integer that is cut at 100": WrongPass(
        INTEGERS,
        Edited((PRODUCT, CUT + PRODUCT.replace("%i", "%0"))),
        f"{ON_EXTREMES}",
        f"{ON_EXTREMES}",
    ),
    "an integer that is cut at 100 before it is a float": WrongPass(
        SCALED,
        Edited(("%f = gawee.cast %i", CUT + "%f = gawee.cast %0")),
        f"{ON_EXTREMES}",
        f"{ON_EXTREMES}",
    ),
    "an index that is cut at 255": WrongPass(
        WORDS,
        Edited(("%w = gawee.cast %i", FEW + "%w = gawee.cast %0")),
        f"{ON_EXTREMES}",
        f"{ON_EXTREMES}",
    ),
}
