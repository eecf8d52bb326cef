"""Wrong passes on open sizes, each of which goes wrong for one tail of a size alone."""

from collections.abc import Callable, Mapping

from xdsl.dialects import arith, llvm, memref, scf, tensor, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tests.instruments.wrong.wrong_pass import Wrong, WrongPass
from tests.open_sizes.rows import ROWS as BATCHED_ROWS

LOOPS = "gawee-to-kernels,gawee-kernels-to-loops"

ROWS = """
func.func @main(%x: tensor<?x6xf32> {gawee.input = "x", gawee.sizes = ["rows", "-"]},
                %w: tensor<5x6xf32> {gawee.parameter = "w"})
    -> (tensor<?x5xf32> {gawee.output = "y"}) attributes {gawee.ranges = {rows = "1 to 512"}} {
  %0 = gawee.matmul %x, %w : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
  func.return %0 : tensor<?x5xf32>
}
"""

SOFTMAX = """
func.func @main(%x: tensor<3x?xf32> {gawee.input = "x", gawee.sizes = ["-", "length"]})
    -> (tensor<3x?xf32> {gawee.output = "y"}) attributes {gawee.ranges = {length = "1 to 512"}} {
  %0 = gawee.softmax %x axis 1 : (tensor<3x?xf32>) -> tensor<3x?xf32>
  func.return %0 : tensor<3x?xf32>
}
"""

MEAN = """
func.func @main(%x: tensor<?x4xf32> {gawee.input = "x", gawee.sizes = ["length", "-"]})
    -> (tensor<4xf32> {gawee.output = "y"}) attributes {gawee.ranges = {length = "1 to 512"}} {
  %0 = gawee.reduce_mean %x axes [0] : (tensor<?x4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""

IMAGES = """
func.func @main(%x: tensor<?x3x5x4xf32> {gawee.input = "x", gawee.sizes = ["batch", "-", "-", "-"]},
                %w: tensor<2x3x3x3xf32> {gawee.parameter = "w"})
    -> tensor<?x2x5x4xf32> attributes {gawee.ranges = {batch = "1 to 32"}} {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<?x3x5x4xf32>, tensor<2x3x3x3xf32>) -> tensor<?x2x5x4xf32>
  func.return %0 : tensor<?x2x5x4xf32>
}
"""


def less_at(
    residue: int,
    kind: type[Operation],
    operand: int,
    *,
    modulus: int = 16,
    which: int = 0,
    by: int = 1,
) -> Wrong:
    """Make an operand less where the last size that its function takes leaves a residue.

    It is the one of the which-th op of a kind whose operand is no constant.
    """

    def change(module: ModuleOp) -> None:
        ops = [
            op
            for op in module.walk()
            if isinstance(op, kind) and not isinstance(op.operands[operand].owner, arith.ConstantOp)
        ]
        op = ops[which]
        size = _size_of(op)
        value = op.operands[operand]
        constants = [
            arith.ConstantOp(IntegerAttr(each, IndexType())) for each in (modulus, residue, by)
        ]
        rest = arith.RemUIOp(size, constants[0])
        is_it = arith.CmpiOp(rest, constants[1], "eq")
        less = arith.SubiOp(value, constants[2])
        chosen = arith.SelectOp(is_it, less, value)
        assert op.parent is not None
        op.parent.insert_ops_before([*constants, rest, is_it, less, chosen], op)
        op.operands[operand] = chosen.result

    return Wrong(change)


def _size_of(op: Operation) -> SSAValue:
    function = op.parent_op()
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    assert function is not None
    sizes = [each for each in function.args if isinstance(each.type, IndexType)]
    read = [each.result for each in function.walk() if isinstance(each, tensor.DimOp)]
    return (sizes or read)[-1]


def exit_early_at(residue: int) -> Callable[[ModuleOp], None]:
    """Leave a loop of machine code over a size one earlier where that is a residue of 16."""

    def change(module: ModuleOp) -> None:
        op = next(
            op
            for op in module.walk()
            if isinstance(op, llvm.ICmpOp) and not isinstance(op.rhs.owner, llvm.ConstantOp)
        )
        constants = [llvm.ConstantOp(IntegerAttr(each, i64), i64) for each in (16, residue, 1)]
        rest = llvm.URemOp(op.rhs, constants[0].result)
        is_it = llvm.ICmpOp(rest.res, constants[1].result, IntegerAttr(0, i64))
        less = llvm.SubOp(op.rhs, constants[2].result)
        chosen = llvm.SelectOp(is_it.res, less.res, op.rhs)
        assert op.parent is not None
        op.parent.insert_ops_before([*constants, rest, is_it, less, chosen], op)
        op.operands[1] = chosen.res

    return change


CASES: Mapping[str, WrongPass] = {
    "a mean's divisor one less of 16 n + 9": WrongPass(
        MEAN, less_at(9, arith.IndexCastOp, 0), "length = 9", "length = 9", "gawee-to-linalg"
    ),
    "one image less of 16 n + 11, on tensors": WrongPass(
        IMAGES, less_at(11, scf.ForOp, 1), "batch = 11", "batch = 11", "gawee-to-kernels"
    ),
    "one image less of 16 n + 7, on buffers": WrongPass(
        IMAGES, less_at(7, scf.ForOp, 1), "batch = 7", "batch = 7", LOOPS
    ),
    "a place in the workspace that begins too early at 16 n + 5": WrongPass(
        BATCHED_ROWS,
        less_at(5, memref.ViewOp, 1, by=64),
        "length = 5",
        "length = 5",
        LOOPS,
    ),
    "one tile of rows less at 16 n + 12": WrongPass(
        ROWS, less_at(12, scf.ForOp, 1), "rows = 12", "rows = 12", LOOPS
    ),
    "a tile for 7 rows alone": WrongPass(
        ROWS, less_at(7, scf.ForOp, 1, modulus=512), "rows = 7", "rows = 7", LOOPS
    ),
    "the first of two tiles at 16 rows": WrongPass(
        ROWS, less_at(0, scf.ForOp, 1), "rows = 16", "rows = 16", LOOPS
    ),
    "a mask of one lane less at 16 n + 3": WrongPass(
        SOFTMAX, less_at(3, vector.CreateMaskOp, 0, which=3), "length = 3", "length = 3", LOOPS
    ),
    "the last full vector left out at 16 n": WrongPass(
        *(SOFTMAX, less_at(0, scf.ForOp, 1), "length = 16", "length = 16"),
        LOOPS.replace("gawee-to-kernels", "gawee-to-kernels{target=znver5}"),
    ),
    "a sum of one term less at 16 n + 13": WrongPass(
        MEAN, less_at(13, scf.ForOp, 1), "length = 13", "length = 13", LOOPS
    ),
    "a sum of one term less beyond four vectors": WrongPass(
        MEAN, less_at(65, scf.ForOp, 1, modulus=512), "length = 65", "length = 65", LOOPS
    ),
    "a loop of machine code that ends early at 16 n + 10": WrongPass(
        MEAN, Wrong(exit_early_at(10)), "length = 10", "length = 10", "gawee-to-llvm"
    ),
}
