"""The linalg dialect as LLVM 22 has it, where xDSL's differs from it.

`LINALG` takes the place of xDSL's dialect of the same name in our tools. All of its ops but
`linalg.yield` are ours; the structured ones derive from xDSL's base classes, so its passes work on
them.
"""

from collections.abc import Generator
from contextlib import contextmanager
from threading import RLock

from xdsl import builder
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Block, BlockArgument, Dialect, Region

from gawee_dialect.upstream.linalg.bodies import ElementwiseKindAttr, TypeFunctionAttr
from gawee_dialect.upstream.linalg.elementwise import ElementwiseOp
from gawee_dialect.upstream.linalg.matmul import (
    MATMUL_MAPS,
    TRANSPOSED_B_MAPS,
    BatchMatmulOp,
    BatchReduceMatmulOp,
    ContractOp,
    MatmulOp,
)
from gawee_dialect.upstream.linalg.named_op import NamedOp
from gawee_dialect.upstream.linalg.named_ops import (
    CLASSES,
    Conv2DNchwFchwOp,
    Conv2DNgchwGfchwOp,
    CopyOp,
    DepthwiseConv2DNchwChwOp,
    FillOp,
    PoolingNchwMaxOp,
    PoolingNchwSumOp,
    WindowOp,
)
from gawee_dialect.upstream.linalg.pack import PackOp, SoftmaxOp, UnpackOp
from gawee_dialect.upstream.linalg.reduce import (
    BroadcastOp,
    GenericOp,
    IndexOp,
    MapOp,
    ReduceOp,
    TransposeOp,
)

_one_thread = RLock()
_implicit_builder = builder.ImplicitBuilder


@contextmanager
def implicit_builder(
    arg: builder.Builder | Block | Region | None,
) -> Generator[tuple[BlockArgument, ...]]:
    """Append the ops that are made to a block: xDSL's function, for one thread at a time.

    While it is in use, it replaces what all ops run when they are made. Two threads at once would
    replace each other's, and leave one behind (docs/xdsl.md).
    """
    with _one_thread, _implicit_builder(arg) as arguments:
        yield arguments


builder.ImplicitBuilder = implicit_builder

LINALG = Dialect(
    "linalg",
    [
        GenericOp,
        YieldOp,
        IndexOp,
        *CLASSES,
        MatmulOp,
        BatchMatmulOp,
        BatchReduceMatmulOp,
        ContractOp,
        ElementwiseOp,
        BroadcastOp,
        TransposeOp,
        ReduceOp,
        MapOp,
        SoftmaxOp,
        PackOp,
        UnpackOp,
    ],
    [IteratorTypeAttr, TypeFunctionAttr, ElementwiseKindAttr],
)
"""Every op of linalg, as upstream writes it."""

__all__ = (
    "LINALG",
    "MATMUL_MAPS",
    "TRANSPOSED_B_MAPS",
    "BroadcastOp",
    "Conv2DNchwFchwOp",
    "Conv2DNgchwGfchwOp",
    "CopyOp",
    "DepthwiseConv2DNchwChwOp",
    "FillOp",
    "GenericOp",
    "IndexOp",
    "MatmulOp",
    "NamedOp",
    "PackOp",
    "PoolingNchwMaxOp",
    "PoolingNchwSumOp",
    "ReduceOp",
    "SoftmaxOp",
    "TransposeOp",
    "UnpackOp",
    "WindowOp",
    "YieldOp",
)
