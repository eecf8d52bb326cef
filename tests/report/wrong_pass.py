"""A pass that is wrong, as a file for --load."""

WRONG_PASS = '''
from xdsl.passes import ModulePass
from gawee_dialect.dialect.graph.elementwise import ReluOp

class DropRelu(ModulePass):
    """Forget activations."""
    name = "drop-relu"
    def apply(self, ctx, op):
        for inner in list(op.walk()):
            if isinstance(inner, ReluOp):
                inner.result.replace_all_uses_with(inner.input)
                inner.detach()
                inner.erase()
'''
