"""Loops run as machine code: a copy is lowered by the passes that we have, and rewritten."""

from collections.abc import Sequence
from contextvars import Context

from xdsl.dialects import llvm, memref, omp, scf, vector
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.instruments.prove.residues import NotProvable
from gawee_dialect.interpreter.arrays import dtype_of
from gawee_dialect.upstream.dominance import all_ops

LOOPS = scf.ForOp | scf.ParallelOp | scf.WhileOp
ELEMENTS = memref.LoadOp | memref.StoreOp
ON_VECTORS = vector.LoadOp | vector.StoreOp | vector.MaskedLoadOp | vector.MaskedStoreOp


def is_of_loops(module: ModuleOp) -> bool:
    """Whether a module computes element by element in memory that is there, or is of llvm.

    Where memory is not planned yet, loops are those of few ops, which can be interpreted.
    """
    ops = all_ops(module)
    return any(map(_is_of_loops, ops)) and not any(isinstance(op, memref.AllocOp) for op in ops)


def _is_of_loops(op: Operation) -> bool:
    if isinstance(op, llvm.FuncOp | omp.ParallelOp | ON_VECTORS):
        return True
    return isinstance(op, ELEMENTS) and isinstance(op.parent_op(), LOOPS)


def _check_places(module: ModuleOp) -> None:
    """Raise GaweeError for elements that would lie across their natural places."""
    for op in all_ops(module):
        if not isinstance(op, memref.ViewOp):
            continue
        shift, size = constant_index(op.byte_shift), dtype_of(op.result.type).itemsize
        if shift is not None and shift % size:
            message = f"byte {shift} is no place for elements of {size} bytes"
            raise GaweeError(Diagnostic.at(op, message))


def lowered(module: ModuleOp) -> ModuleOp:
    """Return a copy of a module at the llvm level; raises NotProvable.

    Raises GaweeError for elements at places that none may have.
    """
    _check_places(module)
    copy = module.clone()
    if not any(isinstance(op, FuncOp) for op in copy.ops):
        return copy
    try:
        # A context of its own: the instruments of this one watch the user's passes, not these.
        Context().run(_lower, copy)
    except GaweeError as error:
        raise NotProvable(error.diagnostics[0]) from error
    return copy


def _lower(module: ModuleOp) -> None:
    from gawee_dialect.universe import make_context

    ctx = make_context()
    for module_pass in _rest_of_the_pipeline(module):
        module_pass.apply(ctx, module)


def _rest_of_the_pipeline(module: ModuleOp) -> Sequence[ModulePass]:
    from gawee_dialect.passes.buffers.lower_kernels_to_loops import LowerKernelsToLoops
    from gawee_dialect.passes.buffers.lower_linalg_to_loops import LowerLinalgToLoops
    from gawee_dialect.passes.loops.convert_to_llvm import ConvertToLLVM
    from gawee_dialect.universe import lowerings_of_algorithms

    ops = all_ops(module)
    passes: list[ModulePass] = []
    if any(isinstance(op, StructuredKernel) for op in ops):
        passes += [*(each() for each in lowerings_of_algorithms()), LowerKernelsToLoops()]
    if any(isinstance(op, LinalgStructuredOperation) for op in ops):
        passes.append(LowerLinalgToLoops())
    return (*passes, ConvertToLLVM())
