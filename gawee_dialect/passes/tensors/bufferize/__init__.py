"""Turn tensors into buffers, in destination-passing form."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from gawee_dialect.analysis.signature import entries
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.tensors.bufferize import calls, forall, loops, structured, tensors
from gawee_dialect.passes.tensors.bufferize.function import FunctionBufferizer, Rules
from gawee_dialect.passes.tensors.bufferize.globals import Globals

RULES: Rules = {
    **structured.RULES,
    **tensors.RULES,
    **loops.RULES,
    **forall.RULES,
    **calls.RULES,
}
"""What every op becomes that is neither structured nor scalar; a file each for a dialect."""


@dataclass(frozen=True)
class Bufferize(ModulePass):
    """Turn tensors into buffers, in destination-passing form.

    1. Every tensor argument becomes a memref argument; every result becomes a trailing memref
       argument that the function writes, marked with the result's `gawee.output`. A scalar result
       stays one where the function is called in the module, or private.
    2. In order: an op in destination-passing style writes its destination's buffer in place where
       that buffer has no later reader; otherwise it gets a fresh `memref.alloc`, with a copy of
       the destination if the op reads its contents.
    3. A kernel always writes a fresh buffer.
    4. Reshapes are views; slices and padding copy; dense constants become read-only globals.
    5. A loop that carries a tensor carries one buffer, which each iteration leaves the next version
       in. In loops, slices are views too, so that a tile that is computed of a slice and inserted
       where it came from is written where it belongs. Nothing is allocated in a loop: what is not
       as large in every iteration gets a buffer for the largest, and is a part of it.
    6. The iterations of scf.forall are parallel ones where none needs memory of its own, and write
       their parts of what they share in place.
    7. A call is given dense buffers, and fresh ones for what it returns.
    8. A returned buffer that was allocated here is replaced by the output argument; any other is
       copied into it. Inputs, parameters and constants are never written.

    Requires: functions of one block on statically shaped tensors, loops of scf.for and scf.forall.
    In these, slices may have any size that arithmetic on loop counters shows to be bounded.

    rewrite:
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %e = tensor.empty() : tensor<4xf32>
          %y = linalg.exp ins(%x) outs(%e) -> tensor<4xf32>
          return %y
        ->
        func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) {
          linalg.exp ins(%x) outs(%out)
          return
    """

    name = "bufferize"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = Globals(op)
        functions = [inner for inner in op.ops if isinstance(inner, FuncOp)]
        run = entries(op)
        default = structured.structured_or_scalar
        for function in functions:
            if function.body.blocks:
                twin = FunctionBufferizer(
                    function, constants, RULES, default, is_run=function in run
                )
                new = twin.run()
            else:
                new = calls.declaration(function)
            op.body.block.insert_op_before(new, function)
            function.detach()
            function.erase()
