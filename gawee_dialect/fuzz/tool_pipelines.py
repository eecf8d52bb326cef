"""Passes of MLIR for random programs: which may follow each other, and what ends a pipeline."""

from collections.abc import Mapping, Sequence

from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.tool_numbers import BlockProgram, MapProgram, WideProgram
from gawee_dialect.fuzz.tool_programs import LoopProgram, Program, ScalarProgram
from gawee_dialect.fuzz.tool_structures import (
    AffineProgram,
    TensorProgram,
    VectorProgram,
    ViewProgram,
)

ANYWHERE = (
    *("canonicalize", "cse", "sccp", "loop-invariant-code-motion", "control-flow-sink"),
    *("int-range-optimizations", "arith-unsigned-when-equivalent", "remove-dead-values", "mem2reg"),
    "sroa,mem2reg",
    "arith-int-range-narrowing{int-bitwidths-supported=8,16,32}",
)
_BUFFERIZE = (
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map%s}"
)
BUFFERS = (
    *(_BUFFERIZE % "", _BUFFERIZE % "", _BUFFERIZE % " analysis-heuristic=top-down"),
    _BUFFERIZE % " analysis-heuristic=bottom-up-from-terminators",
    *(_BUFFERIZE % f" analysis-heuristic=fuzzer analysis-fuzzer-seed={n}" for n in (1, 2)),
)
BLOCKS = (
    *("sccp", "canonicalize", "int-range-optimizations", "remove-dead-values", "cse"),
    *("lift-cf-to-scf", "lift-cf-to-scf,convert-scf-to-cf", "arith-unsigned-when-equivalent"),
    *("convert-arith-to-llvm", "convert-index-to-llvm", "convert-cf-to-llvm"),
    "canonicalize{region-simplify=aggressive}",
)
WIDE = (
    "arith-emulate-wide-int{widest-int-supported=32}",
    "arith-int-range-narrowing{int-bitwidths-supported=8,16,32}",
    *("int-range-optimizations", "arith-expand", "canonicalize", "arith-unsigned-when-equivalent"),
)
MAPS = (
    *(
        "canonicalize",
        "func.func(affine-simplify-structures)",
        "func.func(affine-simplify-min-max)",
    ),
    *("affine-expand-index-ops", "affine-expand-index-ops-as-affine", "lower-affine", "cse"),
    *("int-range-optimizations", "arith-unsigned-when-equivalent", "sccp"),
    "arith-int-range-narrowing{int-bitwidths-supported=8,16,32}",
)
ON_MEMORY = (
    *("func.func(buffer-hoisting)", "func.func(buffer-loop-hoisting)"),
    *("func.func(promote-buffers-to-stack)", "fold-memref-alias-ops", "normalize-memrefs"),
    *("expand-strided-metadata", "flatten-memref", "resolve-shaped-type-result-dims"),
    *("memref-expand", "reify-result-shapes", "buffer-deallocation-pipeline"),
)
LOOPS = (
    *("func.func(scf-for-loop-peeling)", "func.func(scf-for-loop-peeling{peel-front=1})"),
    *("scf-for-loop-canonicalization", "scf-for-loop-range-folding", "scf-for-to-while"),
    *("func.func(scf-for-loop-specialization)", "loop-invariant-subset-hoisting"),
    *("scf-parallel-loop-fusion", "func.func(scf-parallel-loop-specialization)"),
    "func.func(scf-parallel-loop-tiling{parallel-loop-tile-sizes=2})",
    "func.func(scf-parallel-loop-tiling{parallel-loop-tile-sizes=3 no-min-max-bounds})",
    *("scf-forall-to-for", "scf-parallel-for-to-nested-fors"),
    *("func.func(affine-raise-from-memref)", "convert-scf-to-cf"),
    "convert-scf-to-cf,lift-cf-to-scf",
    "func.func(test-scf-parallel-loop-collapsing{collapsed-indices-0=0})",
)
AFFINE = (
    *(f"func.func(affine-loop-unroll{{unroll-factor={n}}})" for n in (2, 3)),
    *(
        "func.func(affine-loop-unroll{unroll-factor=4 unroll-up-to-factor})",
        "func.func(affine-loop-unroll{cleanup-unroll})",
    ),
    *(f"func.func(affine-loop-unroll-jam{{unroll-jam-factor={n}}})" for n in (2, 3)),
    *(
        "func.func(affine-loop-tile{tile-size=2})",
        "func.func(affine-loop-tile{tile-size=3 separate})",
    ),
    *("func.func(affine-loop-fusion)", "func.func(affine-loop-fusion{maximal})"),
    *(
        "func.func(affine-loop-fusion{mode=producer})",
        "func.func(affine-loop-fusion{mode=sibling})",
    ),
    *("func.func(affine-scalrep)", "func.func(affine-loop-normalize)"),
    "func.func(affine-loop-normalize{promote-single-iter})",
    *("func.func(affine-simplify-structures)", "func.func(affine-loop-coalescing)"),
    *("func.func(affine-loop-invariant-code-motion)", "func.func(affine-simplify-min-max)"),
    *("func.func(affine-parallelize)", "func.func(affine-parallelize{parallel-reductions})"),
    "func.func(affine-data-copy-generate{generate-dma=false fast-mem-space=0})",
    "func.func(affine-super-vectorize{virtual-vector-size=4})",
    "func.func(affine-super-vectorize{virtual-vector-size=2 vectorize-reductions})",
    "func.func(affine-parallelize),lower-affine",
    *(
        "affine-expand-index-ops",
        "affine-expand-index-ops-as-affine",
        "affine-fold-memref-alias-ops",
    ),
    *("lower-affine", "lower-affine,func.func(affine-raise-from-memref)"),
)
TENSORS = (
    *("linalg-generalize-named-ops", "linalg-fuse-elementwise-ops", "linalg-fold-unit-extent-dims"),
    *("linalg-specialize-generic-ops", "linalg-inline-scalar-operands", "linalg-morph-ops"),
    *("linalg-fold-into-elementwise", "eliminate-empty-tensors", "fold-tensor-subset-ops"),
    *(
        "func.func(linalg-detensorize{aggressive-mode})",
        "convert-tensor-to-linalg",
        "loop-invariant-subset-hoisting",
    ),
    *("linalg-morph-ops{named-to-category}", "linalg-morph-ops{generic-to-named}"),
    *("linalg-morph-ops{named-to-generic}", "convert-elementwise-to-linalg"),
)
VECTORS = (
    *(
        "convert-vector-to-scf",
        "convert-vector-to-scf{full-unroll=true}",
        "func.func(lower-vector-mask)",
    ),
    *(
        "func.func(lower-vector-multi-reduction)",
        "fold-memref-alias-ops",
        "expand-strided-metadata",
    ),
    "func.func(lower-vector-multi-reduction{lowering-strategy=inner-reduction})",
    *(
        "flatten-memref",
        "convert-vector-to-llvm",
        "func.func(lower-vector-to-from-elements-to-shuffle-tree)",
    ),
)
FROM_TENSORS = (
    "convert-linalg-to-loops",
    "convert-linalg-to-affine-loops",
    "convert-linalg-to-parallel-loops",
)

PASSES: Mapping[type[Program], Sequence[str]] = {
    ScalarProgram: (*ANYWHERE, "arith-expand", "math-expand-ops"),
    LoopProgram: (*ANYWHERE, *LOOPS, *LOOPS, *ON_MEMORY),
    AffineProgram: (*AFFINE, *AFFINE, *AFFINE, *ANYWHERE, *ON_MEMORY),
    ViewProgram: (*ON_MEMORY, *ON_MEMORY, *ANYWHERE, "convert-scf-to-cf"),
    TensorProgram: (*TENSORS, *TENSORS, *ANYWHERE),
    VectorProgram: (*VECTORS, *ANYWHERE, "canonicalize"),
    BlockProgram: BLOCKS,
    WideProgram: (WIDE[0], *WIDE),
    MapProgram: MAPS,
}
"""What a program's pipeline is drawn from."""


KINDS: Mapping[str, type[Program]] = {kind.what.split()[-1]: kind for kind in PASSES}
"""Programs by the names that `--generators` takes."""


def random_pipeline(draw: Draw, kind: type[Program]) -> str:
    """Draw some passes in any order; tensors mostly end as loops over memory."""
    passes = [draw.one_of(PASSES[kind]) for _ in range(draw.integer(1, 4))]
    if kind is TensorProgram and draw.chance(0.7):
        passes += [draw.one_of(BUFFERS), *([draw.one_of(ON_MEMORY)] if draw.chance() else [])]
        if draw.chance(0.6):
            made = draw.one_of(FROM_TENSORS)
            more = AFFINE if "affine" in made else (*LOOPS, *ANYWHERE)
            passes += [made, *(draw.one_of(more) for _ in range(draw.integer(0, 2)))]
    return ",".join(passes)
