"""NumPy meaning of every level of the IR.

`gawee/` says what the ops of the dialect compute, `linalg.py`, `arith.py`, ... what those of the
lower levels do. `run_module` runs a function on arrays, whatever level its body is at.
"""

from gawee_dialect.interpreter.functions import RunError
from gawee_dialect.interpreter.run import run_module

__all__ = ["RunError", "run_module"]
