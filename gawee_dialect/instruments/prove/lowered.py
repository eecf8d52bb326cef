"""Loops run as machine code: each function is lowered by the passes that we have.

What an op computes has a digest, equal for functions that compute the same in the same order. Ops
without effects are what their results are expressions of: where they stand, and how often, says
nothing. So a function is what it was where a pass has moved or joined some. All other ops count in
their order, divisions of integers among them whose divisor may be 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextvars import Context
from hashlib import blake2b
from typing import NamedTuple

from xdsl.dialects import arith, llvm, memref, omp, scf, vector
from xdsl.dialects.builtin import Float16Type, IntegerAttr, ModuleOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator, is_side_effect_free

from gawee_dialect.analysis.fingerprint import Fingerprints
from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.hints import isa
from gawee_dialect.instruments.prove.native.writer import lane_of
from gawee_dialect.instruments.prove.residues import NotProvable
from gawee_dialect.interpreter.arrays import dtype_of
from gawee_dialect.upstream.walk import all_ops

DIVISIONS = (
    *(arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp),
    *(arith.CeilDivSIOp, arith.CeilDivUIOp, arith.FloorDivSIOp),
    *(llvm.SDivOp, llvm.UDivOp, llvm.SRemOp, llvm.URemOp),
)
"""Ops that say to have no effect, and must not be reached where the divisor is 0, or -1."""


class Digests(Fingerprints):
    """Digests of ops; what attributes look like is found out once."""

    def digest(self, op: Operation) -> bytes:
        """Return the digest of an op, which has no operands."""
        return _Writer(self).digest(op)

    def said(self, op: Operation) -> str:
        """Return what an op says beside its operands and regions."""
        types = " ".join([self.text(each.type) for each in op.results])
        properties, attributes = map(self.attributes, (op.properties, op.attributes))
        return f"{op.name}<{properties}>{{{attributes}}}: {types}"


class _Writer:
    """Writes the ops with effects of one op, and knows the expressions of the others."""

    def __init__(self, texts: Digests):
        self.texts = texts
        self.values: dict[SSAValue, str] = {}
        self.blocks: dict[Block, int] = {}
        self.lines: list[str] = []
        self.named = 0

    def digest(self, op: Operation) -> bytes:
        self._op(op)
        return blake2b("\n".join(self.lines).encode()).digest()

    def _op(self, op: Operation) -> None:
        said = f"{self.texts.said(op)} ({self._used(op.operands)})"
        if _is_expression(op) and not any(each in self.values for each in op.results):
            digest = blake2b(said.encode(), digest_size=16).hexdigest()
            self.values |= {each: f"{digest}.{at}" for at, each in enumerate(op.results)}
            return
        labels = [self._label(each) for each in op.successors]
        self.lines.append(f"{self._defined(op.results)} = {said} [{', '.join(labels)}]")
        for region in op.regions:
            self._region(region)

    def _region(self, region: Region) -> None:
        self.lines.append("(")
        for block in region.blocks:
            types = " ".join([self.texts.text(each.type) for each in block.args])
            self.lines.append(f"{self._label(block)} {self._defined(block.args)}: {types}")
            for inner in block.ops:
                self._op(inner)
        self.lines.append(")")

    def _label(self, block: Block) -> str:
        return f"^{self.blocks.setdefault(block, len(self.blocks))}"

    def _used(self, values: Iterable[SSAValue]) -> str:
        # What is used before it is defined, in a later block, has a name, and is no expression.
        return ", ".join([self.values.get(each) or self._defined([each]) for each in values])

    def _defined(self, values: Iterable[SSAValue]) -> str:
        names: list[str] = []
        for each in values:
            if each not in self.values:
                self.values[each] = f"%{self.named}"
                self.named += 1
            names.append(self.values[each])
        return ", ".join(names)


_expressions: dict[type[Operation], bool] = {}
"""Of ops without regions by class: that is said by traits."""


def _is_expression(op: Operation) -> bool:
    if op.regions or op.successors:
        return False
    kind = type(op)
    if kind not in _expressions:
        free = is_side_effect_free(op) and not op.has_trait(IsTerminator)
        _expressions[kind] = free and not isinstance(op, llvm.StackSaveOp | llvm.StackRestoreOp)
    return _expressions[kind] and (not isinstance(op, DIVISIONS) or _divides(op.operands[1]))


def _divides(divisor: SSAValue) -> bool:
    """Whether a divisor is a constant, and neither 0 nor -1."""
    owner = divisor.owner
    value = owner.value if isinstance(owner, arith.ConstantOp | llvm.ConstantOp) else None
    return isa(value, IntegerAttr) and value.value.data not in (0, -1)


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


class Piece(NamedTuple):
    """What one function or global of a module is at the llvm level."""

    ops: Mapping[bytes, Operation]
    """By their digests."""

    has_halves: bool
    """Whether some value is an f16."""


KEPT_PIECES = 1024
"""How many are kept: a pass changes few functions, and each is lowered by what it says alone."""

_pieces: dict[bytes, Piece] = {}


def pieces_of(module: ModuleOp) -> Mapping[bytes, Piece]:
    """Return the functions and globals at the llvm level, by digests of the module's ops.

    The module stays as it is from now on. Raises NotProvable, and GaweeError for elements at
    places that none may have.
    """
    _check_places(module)
    if len(_pieces) > KEPT_PIECES:
        _pieces.clear()
    digests = Digests()
    keyed = {digests.digest(op): op for op in module.ops}
    for key, op in keyed.items():
        if key not in _pieces:
            ops = (
                {key: op}
                if _is_lowered(op)
                else {digests.digest(each): each for each in _lowered(op)}
            )
            _pieces[key] = Piece(ops, any(map(_has_halves, ops.values())))
    return {key: _pieces[key] for key in keyed}


def lowered(module: ModuleOp) -> ModuleOp:
    """Return a copy of a module at the llvm level; raises NotProvable."""
    ops = (each for op in module.ops for each in ([op] if _is_lowered(op) else _lowered(op)))
    return ModuleOp([op.clone() for op in ops])


def _is_lowered(op: Operation) -> bool:
    return op.name.startswith("llvm.")


def _lowered(op: Operation) -> Sequence[Operation]:
    module = ModuleOp([op.clone()])
    try:
        # A context of its own: the instruments of this one watch the user's passes, not these.
        Context().run(_lower, module)
    except GaweeError as error:
        raise NotProvable(error.diagnostics[0]) from error
    return list(module.ops)


def _has_halves(op: Operation) -> bool:
    types = {value.type for each in all_ops(op) for value in (*each.results, *each.operands)}
    return any(isinstance(lane_of(each), Float16Type) for each in types)


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
