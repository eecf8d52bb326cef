"""What an op computes, as a digest: equal for functions that compute the same in the same order.

Ops without effects are what their results are expressions of: where they stand, and how often, says
nothing. So a function is what it was where a pass has moved or joined some. All other ops count in
their order, divisions of integers among them whose divisor may be 0.
"""

from collections.abc import Iterable
from hashlib import blake2b

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator, is_side_effect_free

from gawee_dialect.analysis.fingerprint import Fingerprints
from gawee_dialect.hints import isa

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
