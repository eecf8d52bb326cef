"""Convert loops over buffers to the llvm dialect: bare pointers, blocks, nothing else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.llvm import FastMathAttr
from xdsl.dialects.memref import GlobalOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass

from gawee_dialect.analysis.level import Level, level_of
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import is_public
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.loops.convert_to_llvm import (
    amx,
    arith,
    bf16_products,
    cf,
    func,
    lookups,
    math,
    memref,
    omp,
    packed_products,
    rounding,
    scf,
    vector,
)
from gawee_dialect.passes.loops.convert_to_llvm.conversion import (
    Declined,
    FunctionConversion,
    Rule,
)
from gawee_dialect.passes.next_pass import hint_for
from gawee_dialect.passes.numerics import EXACT, REASSOCIATES, Numerics
from gawee_dialect.target.machine import find_processor

RULES: Mapping[type[Operation], Rule] = {
    each.source: each
    for family in (
        func,
        scf,
        omp,
        cf,
        arith,
        math,
        memref,
        vector,
        packed_products,
        lookups,
        bf16_products,
        rounding,
        amx,
    )
    for each in family.RULES
}
"""How every op of the loops level is converted; the files of this folder hold one dialect each."""


def parse_fast_math(text: str | None) -> FastMathAttr:
    """Read the flags that float ops get: `contract`, `nnan-ninf`, `fast`, none where absent.

    Raises GaweeError for a flag that LLVM does not have.
    """
    if text in (None, "none", "fast"):
        return FastMathAttr(None if text != "fast" else "fast")
    known = [flag.value for flag in FastMathFlag]
    names = text.split("-")
    for name in names:
        if name not in known:
            raise GaweeError(
                Diagnostic(
                    f"unsupported fast-math flag '{name}'; supported: none, fast, "
                    + ", ".join(known),
                    hint="several flags are joined by '-': fast-math=contract-nsz",
                )
            )
    return FastMathAttr(tuple(FastMathFlag(name) for name in names))


def _level_hint(function: FuncOp) -> str | None:
    """Return what comes before this pass for a function on tensors; None for other functions."""
    types = (*function.function_type.inputs, *function.function_type.outputs)
    module = function.get_toplevel_object()
    if not any(isinstance(each, TensorType) for each in types) or not isinstance(module, ModuleOp):
        return None
    level = level_of(module)
    below = next(each for each in Level if each.order > level.order)
    return (
        f"the module is at level {level}, on tensors: next is level {below}, and --gawee-to-llvm "
        "runs all passes from there to here"
    )


@dataclass(frozen=True)
class ConvertToLLVM(ModulePass):
    """Convert functions over static buffers to the llvm dialect.

    Every public function also gets a packed form that takes one array of pointers. A buffer that a
    function writes may overlap no other argument of it (`noalias`).

    Requires: func, scf.for, scf.if, cf, arith, math, vector (rank 1) and memref with static shapes
    and strides.

    An address is reached by a step for each loop that it depends on, in front of the loops inside;
    where a part of an index may be negative, parts are added up first. An index that only addresses
    are of is not computed.

    An array that small loops index stays in registers where LLVM can unroll those loops: a
    `memref.alloca` of vectors, `gawee.unroll = "full"` on every loop that indexes it, constant
    bounds on them. docs/architecture.md says what else a kernel has to be.

    rewrite:
        func.func @f(%m: memref<4x8xf32>) {
          scf.for %i .. { scf.for %j .. { %x = memref.load %m[%i, %j] : memref<4x8xf32>
        ->
        llvm.func @f(%m: !llvm.ptr {llvm.noalias, ..}) {
            %row = llvm.getelementptr inbounds %m[%i] : (..) -> !llvm.ptr, !llvm.array<8 x f32>
              %at = llvm.getelementptr inbounds %row[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
              %x = llvm.load %at : !llvm.ptr -> f32
        llvm.func @f_packed(%args: !llvm.ptr)
    """

    name = "convert-to-llvm"
    takes_open_sizes: ClassVar[bool] = True

    fast_math: str | None = None
    """Flags put on every float op: `contract`, `nnan-ninf`, `fast`; none by default."""

    target: str | None = None
    """The processor whose instructions may be named, where LLVM finds none by itself: `host`,
    `znver4` and the like; none by default."""

    @property
    def numerics(self) -> Numerics:
        """Flags let LLVM round otherwise; without them every op stays what it is."""
        return EXACT if self.fast_math in (None, "none") else REASSOCIATES

    @property
    def special_values(self) -> bool:
        """Without flags NaN and infinities are what they are."""
        return self.numerics == EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        flags = parse_fast_math(self.fast_math)
        diagnostics: list[Diagnostic] = []
        external: dict[str, llvm.LLVMFunctionType] = {}
        processor = None if self.target is None else find_processor(self.target)
        new_ops: list[Operation] = []
        for top in op.ops:
            name = top.sym_name.data if isinstance(top, FuncOp) else ""
            conversion = FunctionConversion(RULES, Region(), flags, name, processor)
            new_ops += self._converted(top, conversion)
            diagnostics += conversion.diagnostics
            external |= conversion.libm | conversion.runtime
        if diagnostics:
            raise GaweeError(diagnostics)
        self._replace_contents(op, new_ops, external)

    def _converted(self, top: Operation, conversion: FunctionConversion) -> Iterable[Operation]:
        """Return the llvm ops of one op of the module; it stays where it is llvm already."""
        made: list[Operation] = []
        try:
            match top:
                case FuncOp():
                    function = func.convert_function(top, conversion)
                    made += [*conversion.outlined, function]
                    if is_public(top) and top.body.blocks and not top.function_type.outputs:
                        made.append(func.packed_entry(function))
                case GlobalOp():
                    made.append(memref.converted_global(top))
                case llvm.FuncOp() | llvm.GlobalOp():
                    return [top]
                case _:
                    raise Declined("no rule is for it")
        except Declined as reason:
            message = f"cannot be removed by {self.name}: {reason}"
            hint = _level_hint(top) if isinstance(top, FuncOp) else hint_for(top)
            conversion.diagnostics.append(Diagnostic.at(top, message, hint))
        for new_op in made:
            hand_on_location(top, new_op)
        return made

    def _replace_contents(
        self,
        module: ModuleOp,
        new_ops: list[Operation],
        external: Mapping[str, llvm.LLVMFunctionType],
    ) -> None:
        defined = {op.sym_name.data for op in new_ops if isinstance(op, llvm.FuncOp)}
        declared = [
            llvm.FuncOp(name, type, llvm.LinkageAttr("external"))
            for name, type in external.items()
            if name not in defined
        ]
        for old in list(module.ops):
            old.detach()
            if old not in new_ops:
                old.erase(safe_erase=False)
        module.body.block.add_ops([*declared, *new_ops])
