"""Graphs of PyTorch run, verified against PyTorch, and compiled from inside it.

    outputs = execute_ir(ir, inputs, weights)           # compiled, interpreted, or by PyTorch
    ok, report = verify_ir(ir, weights, model, inputs)  # against the original model
    fast = compile_torch(model, example_inputs)         # or torch.compile(model, backend="gawee")

Only what needs PyTorch imports it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gawee_dialect.frontends.npu_ir.ops import register_executor as register_executor
    from gawee_dialect.pytorch.background import wait_until_compiled as wait_until_compiled
    from gawee_dialect.pytorch.compiled import compile_torch as compile_torch
    from gawee_dialect.pytorch.compiled_torch import CompiledTorch as CompiledTorch
    from gawee_dialect.pytorch.dynamo import explain as explain
    from gawee_dialect.pytorch.dynamo import gawee_backend as gawee_backend
    from gawee_dialect.pytorch.execute import execute_ir as execute_ir
    from gawee_dialect.pytorch.execute import ir_model as ir_model
    from gawee_dialect.pytorch.explanation import Explanation as Explanation
    from gawee_dialect.pytorch.static_graph import rebind_weights as rebind_weights
    from gawee_dialect.pytorch.verify import VerificationReport as VerificationReport
    from gawee_dialect.pytorch.verify import verify_ir as verify_ir

_HOMES = {
    "CompiledTorch": "pytorch.compiled_torch",
    "Explanation": "pytorch.explanation",
    "VerificationReport": "pytorch.verify",
    "compile_torch": "pytorch.compiled",
    "execute_ir": "pytorch.execute",
    "explain": "pytorch.dynamo",
    "gawee_backend": "pytorch.dynamo",
    "ir_model": "pytorch.execute",
    "rebind_weights": "pytorch.static_graph",
    "register_executor": "frontends.npu_ir.ops",
    "verify_ir": "pytorch.verify",
    "wait_until_compiled": "pytorch.background",
}

__all__ = [
    "CompiledTorch",
    "Explanation",
    "VerificationReport",
    "compile_torch",
    "execute_ir",
    "explain",
    "gawee_backend",
    "ir_model",
    "rebind_weights",
    "register_executor",
    "verify_ir",
    "wait_until_compiled",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"gawee_dialect.{_HOMES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
