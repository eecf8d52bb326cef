"""The only registry: names of dialects and passes, and how to load each.

`UNIVERSE` is the `xdsl.universe` entry point, through which plain `xdsl-opt` finds them too.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

if TYPE_CHECKING:
    from gawee_dialect.dialect.kernels.algorithm import Algorithm
    from gawee_dialect.passes.tensors.convert_to_algorithm import ConvertToAlgorithm

PASSES: dict[str, str] = {
    # pass name: its class, in the module that is named as the pass; by folder of `passes`
    "fold-batch-norm": "graph.FoldBatchNorm",
    "fold-conv-add": "graph.FoldConvAdd",
    "lower-quant-ops": "graph.LowerQuantOps",
    "sink-dequantize": "graph.SinkDequantize",
    "trim-conv-kernels": "graph.TrimConvKernels",
    "fuse-attention": "graph.FuseAttention",
    "inline": "graph.Inline",
    "specialize-batch": "graph.SpecializeBatch",
    "specialize-sizes": "graph.SpecializeSizes",
    "tile-batch": "tensors.TileBatch",
    "tile-scatter": "tensors.TileScatter",
    "check-indices": "graph.CheckIndices",
    "lower-to-linalg": "graph.LowerToLinalg",
    "convert-elementwise-to-linalg": "tensors.ConvertElementwiseToLinalg",
    "decompose-aggregated-ops": "tensors.DecomposeAggregatedOps",
    "widen-sums": "tensors.WidenSums",
    "form-kernels": "tensors.FormKernels",
    "unroll-scan": "graph.UnrollScan",
    "hoist-loop-invariants": "tensors.HoistLoopInvariants",
    "hoist-parameter-computation": "tensors.HoistParameterComputation",
    "share-kernels": "tensors.ShareKernels",
    "bufferize": "tensors.Bufferize",
    "coalesce-copies": "buffers.CoalesceCopies",
    "outline-kernels": "buffers.OutlineKernels",
    "distribute-batch": "buffers.DistributeBatch",
    "plan-memory": "buffers.PlanMemory",
    "narrow-products": "tensors.NarrowProducts",
    "pack-integer-products": "tensors.PackIntegerProducts",
    "convert-to-winograd": "tensors.ConvertToWinograd",
    "convert-to-strassen": "tensors.ConvertToStrassen",
    "assign-layouts": "tensors.AssignLayouts",
    "join-positions": "tensors.JoinPositions",
    "assign-schedules": "tensors.AssignSchedules",
    "lower-winograd-to-loops": "buffers.LowerWinogradToLoops",
    "lower-kernels-to-loops": "buffers.LowerKernelsToLoops",
    "lower-linalg-to-loops": "buffers.LowerLinalgToLoops",
    "hoist-allocas": "loops.HoistAllocas",
    "split-prepare": "loops.SplitPrepare",
    "expand-math": "loops.ExpandMath",
    "convert-to-llvm": "loops.ConvertToLLVM",
    "annotate-cost": "graph.AnnotateCost",
    "lower-opdesc": "graph.LowerOpdesc",
}

PIPELINES: dict[str, str] = {
    # pass name: its class in passes/pipelines.py
    "gawee-optimize": "GaweeOptimize",
    "gawee-to-linalg": "GaweeToLinalg",
    "gawee-to-kernels": "GaweeToKernels",
    "gawee-kernels-to-loops": "GaweeKernelsToLoops",
    "gawee-to-loops": "GaweeToLoops",
    "gawee-to-llvm": "GaweeToLLVM",
}

ALGORITHMS = ("winograd",)
"""Algorithms beside the direct one, in the order in which they may take a kernel; their passes are
`convert-to-NAME` and `lower-NAME-to-loops`."""

OVERRIDES: dict[str, str] = {
    # Ours in gawee-opt, in the place of xDSL's pass of the same name.
    "canonicalize": "graph.CanonicalizePass",
    "cse": "graph.CommonSubexpressionElimination",
    "convert-scf-to-openmp": "loops.ConvertScfToOpenMP",
    "linalg-generalize-named-ops": "tensors.LinalgGeneralizeNamedOps",
    "lower-affine": "loops.LowerAffine",
}


def _pass_factory(module_name: str, class_name: str) -> Callable[[], type[ModulePass]]:
    def load() -> type[ModulePass]:
        return getattr(import_module(f"gawee_dialect.passes.{module_name}"), class_name)

    return load


def _named_as_pass(table: dict[str, str]) -> dict[str, Callable[[], type[ModulePass]]]:
    factories: dict[str, Callable[[], type[ModulePass]]] = {}
    for name, home in table.items():
        folder, class_name = home.split(".")
        factories[name] = _pass_factory(f"{folder}.{name.replace('-', '_')}", class_name)
    return factories


def _dialect_factory(module_name: str, name: str) -> Callable[[], Dialect]:
    def load() -> Dialect:
        return getattr(import_module(module_name), name)

    return load


CORRECTED_DIALECTS: dict[str, Callable[[], Dialect]] = {
    # Ours in the place of xDSL's dialect of the same name, which lacks or misprints ops. An entry
    # point can't replace a dialect, so xdsl-opt doesn't see these.
    "affine": _dialect_factory("gawee_dialect.upstream.affine", "AFFINE"),
    "amx": _dialect_factory("gawee_dialect.upstream.amx", "AMX"),
    "arith": _dialect_factory("gawee_dialect.upstream.arith", "ARITH"),
    "linalg": _dialect_factory("gawee_dialect.upstream.linalg", "LINALG"),
    "llvm": _dialect_factory("gawee_dialect.upstream.llvm", "LLVM"),
    "memref": _dialect_factory("gawee_dialect.upstream.memref", "MEMREF"),
    "scf": _dialect_factory("gawee_dialect.upstream.scf", "SCF"),
    "tensor": _dialect_factory("gawee_dialect.upstream.tensor", "TENSOR"),
    "vector": _dialect_factory("gawee_dialect.upstream.vector", "VECTOR"),
}


def _lightnet() -> Dialect:
    from gawee_dialect.opdesc.load import lightnet_dialect

    return lightnet_dialect()


UNIVERSE = Universe(
    all_dialects={
        "gawee": _dialect_factory("gawee_dialect.dialect", "GAWEE"),
        "lightnet": _lightnet,
    },
    all_passes={
        **_named_as_pass(PASSES),
        **{name: _pass_factory("pipelines", class_name) for name, class_name in PIPELINES.items()},
    },
)


_more: ContextVar[Sequence[Universe]] = ContextVar("more", default=())


@contextmanager
def extended(universe: Universe) -> Generator[None]:
    """Add passes and dialects to what can be named, for the time of a with block.

    A dialect takes the place of one of the same name.
    """
    token = _more.set((*_more.get(), universe))
    try:
        yield
    finally:
        _more.reset(token)


def is_extended() -> bool:
    """Whether passes and dialects were added to what can be named."""
    return bool(_more.get())


@cache
def _installed() -> Universe:
    """Return what is installed: to find it, the metadata of every package is read."""
    return Universe.get_multiverse()


def all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Return every pass that can be named: xDSL's, other plugins', ours, and our overrides."""
    passes = _installed().all_passes
    added = {name: load for more in _more.get() for name, load in more.all_passes.items()}
    return {**passes, **UNIVERSE.all_passes, **_named_as_pass(OVERRIDES), **added}


def all_conversions() -> Sequence[type["ConvertToAlgorithm"]]:
    """Return the passes to other algorithms: ours, then those of passes that were added."""
    from gawee_dialect.passes.tensors.convert_to_algorithm import ConvertToAlgorithm

    passes = all_passes()
    added = [load() for more in _more.get() for load in more.all_passes.values()]
    kinds = [*(passes[f"convert-to-{name}"]() for name in ALGORITHMS), *added]
    return [kind for kind in kinds if issubclass(kind, ConvertToAlgorithm)]


def lowerings_of_algorithms() -> Sequence[type[ModulePass]]:
    """Return the passes that make loops of what the passes to other algorithms make.

    Raises GaweeError where an algorithm has none.
    """
    from gawee_dialect.diagnostics import GaweeError

    passes = all_passes()
    names = [f"lower-{kind.conversion.algorithm.name}-to-loops" for kind in all_conversions()]
    for name in names:
        if name not in passes:
            raise GaweeError(f"expected a pass '{name}' for what an algorithm makes, got none")
    return [passes[name]() for name in names]


def all_algorithms() -> Sequence[type["Algorithm"]]:
    """Return the ways to compute a kernel, the direct one first."""
    from gawee_dialect.dialect.kernels.algorithm import Direct

    return [Direct, *(kind.conversion.algorithm for kind in all_conversions())]


def all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Return every dialect that can be parsed: xDSL's, other plugins' and ours."""
    dialects = _installed().all_dialects
    added = {name: load for more in _more.get() for name, load in more.all_dialects.items()}
    return {**dialects, **UNIVERSE.all_dialects, **CORRECTED_DIALECTS, **added}


def make_context(*, allow_unregistered: bool = False) -> Context:
    """Make a context in which every dialect can be parsed; dialects load when first used."""
    ctx = Context(allow_unregistered=allow_unregistered)
    for name, factory in all_dialects().items():
        ctx.register_dialect(name, factory)
    return ctx
