"""The same network entered by ATen and by ONNX: whether both become the same kernels.

    python -m benchmarks.onnx_against_aten                  # all networks of the zoo
    python -m benchmarks.onnx_against_aten resnet18 bert    # some, by parts of their names
    python -m benchmarks.onnx_against_aten --time resnet18  # natively too: ms of a call, in turns

What differs is listed with its count: kernels of a network that were exported to ONNX and are not
those of its ATen graph name the pattern that one of the two does not recognise. A kernel is its
arithmetic, its loops, and the distances in memory at which these read and write; what the axes of
its operands are does not count. Networks of the same kernels are the same code, and need not be
timed.

A network takes about half a minute, all of them about an hour. `--keep FOLDER` keeps what PyTorch
exported, which takes most of the time, for the next run. What was found is kept in
build/onnx_against_aten.jsonl; `--missing` goes on where a run was stopped. `--table` writes
docs/onnx_against_aten.md, once all networks were compared.
"""

import re
import sys
import tempfile
import warnings
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import prod
from pathlib import Path
from shutil import rmtree

import numpy as np
import torch
from numpy.typing import NDArray
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from benchmarks.onnx_against_aten_page import Comparison, keep, read_results, write_page
from benchmarks.onnx_zoo.models import onnx_zoo
from benchmarks.zoo.__main__ import LIBRARIES, choose
from benchmarks.zoo.check import THREADS, best_ms
from benchmarks.zoo.libraries import import_library
from benchmarks.zoo.networks import Network, zoo
from benchmarks.zoo.weights import settle
from gawee_dialect.analysis.kernel_kind import kernel_kind
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.affine_range import sum_of, value_range
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel, shape_of
from gawee_dialect.frontends.npu_ir import NPU_IR, extract_ir
from gawee_dialect.model import Model, load
from gawee_dialect.pytorch import ir_model

Array = NDArray[np.generic]

FREE = (
    *(arith.ConstantOp, tensor.EmptyOp, tensor.CollapseShapeOp, tensor.ExpandShapeOp),
    *(tensor.ExtractSliceOp, tensor.CastOp, func.FuncOp, func.ReturnOp, UnrealizedConversionCastOp),
)
"""Ops that no code is made of."""

OPTIONS = CodeOptions(num_threads=THREADS)

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""What PyTorch has in the text of its errors."""


@dataclass(frozen=True)
class Kernel:
    """What a kernel is the code of: arithmetic, but not the order in which it names its scalars,
    loops, and where in memory they read and write; the summary has shapes for the reader."""

    code: str
    summary: str = field(compare=False)


@dataclass
class Entered:
    """A network by both ways, and inputs for either."""

    aten: Model
    onnx: Model
    inputs: Sequence[Array]


def kernels(model: Model) -> Counter[Kernel]:
    """Return the kernels that every call of a network runs, with how often each is there."""
    module = model.lowered("kernels", OPTIONS)
    (main,) = (each for each in module.ops if _is_main(each))
    (block,) = main.regions[0].blocks
    return Counter(_kernel(op) for op in block.ops if not isinstance(op, FREE))


def _is_main(op: Operation) -> bool:
    return isinstance(op, func.FuncOp) and op.sym_name.data == "main"


def _kernel(op: Operation) -> Kernel:
    if not isinstance(op, StructuredKernel):
        text = f"{op.name} {', '.join(str(each.type) for each in op.results)}"
        return Kernel(text, text)
    kind = kernel_kind(op) if isinstance(op, KernelOp) else op.name
    operands = zip((*op.inputs, op.target), op.maps, strict=True)
    *reads, written = (_access(shape_of(operand), map, op.sizes) for operand, map in operands)
    body = Counter(inner.name.rpartition(".")[2] for inner in op.walk() if inner is not op)
    for free in ("constant", "yield"):
        body.pop(free, None)
    work = " ".join(f"{name}*{count}" for name, count in sorted(body.items()))
    shapes = ", ".join(sorted(shape for shape, _ in reads))
    places = [sorted(place for _, place in reads), written[1]]
    sizes = [size for size in op.sizes if size > 1]
    code = f"{kind} {work} {sizes} {places} {op.algorithm}"
    return Kernel(code, f"{kind} ({shapes}) -> {written[0]} {{{work}}}")


def _access(shape: Sequence[int], map: AffineMap, sizes: Sequence[int]) -> tuple[str, str]:
    """Return the shape of what is read or written of an operand, and where in memory it lies.

    That is a sum of multiples of the loops of more than one point, from where the part begins.
    """
    numbers = count()
    dims = [
        AffineExpr.constant(0) if size == 1 else AffineExpr.dimension(next(numbers))
        for size in sizes
    ]
    extents: list[int] = []
    place: AffineExpr = AffineExpr.constant(0)
    for axis, expr in enumerate(map.results):
        low, high = value_range(expr, sizes)
        extents.append(high - low + 1)
        place = place + expr * prod(shape[axis + 1 :])
    linear = replace(sum_of(place, sizes), constant=0).expression()
    text = "x".join(str(extent) for extent in extents if extent > 1) or "1"
    return text, str(linear.replace_dims_and_symbols(dims, []))


def export(network: Network, folder: Path) -> None:
    """Write a network by both ways, with the same weights, and inputs for either."""
    torch.manual_seed(0)
    torch.set_num_threads(THREADS)
    module, inputs = network.build()
    module = module.float().eval()
    settle(module, inputs)
    onnx_zoo()[network.name].write(folder / "model.onnx")
    weights = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    np.savez(folder / "weights.npz", allow_pickle=False, **weights)
    given = {str(index): tensor.numpy() for index, tensor in enumerate(inputs)}
    np.savez(folder / "inputs.npz", allow_pickle=False, **given)
    ir = extract_ir(module, inputs, strict=False, model_name=network.name)
    ir.save(folder / "graph.json")


def enter(network: Network, folder: Path) -> Entered:
    """Return a network by both ways; what is in the folder already is not exported again."""
    if not (folder / "graph.json").exists():
        folder.mkdir(exist_ok=True)
        export(network, folder)
    aten = ir_model(NPU_IR.load(folder / "graph.json"), str(folder / "weights.npz"))
    inputs = list(np.load(folder / "inputs.npz").values())
    return Entered(aten, load(folder / "model.onnx"), inputs)


def difference(aten: Counter[Kernel], onnx: Counter[Kernel]) -> list[str]:
    """Return a line for each kernel that one way has more of: which, what, and how often."""
    return [
        f"  {way} {count:3} {kernel.summary}"
        for way, more in (("aten", aten - onnx), ("onnx", onnx - aten))
        for kernel, count in sorted(more.items(), key=lambda item: item[0].summary)
    ]


def times(entered: Entered) -> tuple[float, float]:
    """Return the shortest milliseconds of a call by either way, in turns."""
    compiled = [each.compile(OPTIONS, cache=False) for each in (entered.aten, entered.onnx)]
    aten, onnx = (
        {buffer.name: array for buffer, array in zip(each.inputs, entered.inputs, strict=True)}
        for each in compiled
    )
    by_aten, by_onnx = best_ms(
        (lambda: compiled[0].run(aten), lambda: compiled[1].run(onnx)), seconds=4.0
    )
    return by_aten, by_onnx


def compare(network: Network, folder: Path, *, time: bool) -> list[str]:
    """Return what is to be said of a network: a line, and lines of what differs."""
    entered = enter(network, folder)
    aten, onnx = kernels(entered.aten), kernels(entered.onnx)
    lines = difference(aten, onnx)
    same = (aten & onnx).total()
    keep(Comparison(network.name, network.library, aten.total(), onnx.total(), same))
    verdict = "differs" if lines else "the same"
    head = f"{network.name}: {verdict}: {aten.total()} kernels by ATen, {onnx.total()} by ONNX"
    if time:
        by_aten, by_onnx = times(entered)
        head += f"; {by_aten:.3g} and {by_onnx:.3g} ms: {by_onnx / by_aten - 1:+.1%}"
    return [head, *lines]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what differs; return 1 where anything does."""
    parser = ArgumentParser(
        prog="python -m benchmarks.onnx_against_aten",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help="parts of names of the zoo; all without them")
    parser.add_argument("--missing", action="store_true", help="only what was not compared yet")
    parser.add_argument("--table", action="store_true", help="write the page of all results")
    parser.add_argument("--time", action="store_true", help="compile and time both, in turns")
    parser.add_argument("--keep", metavar="FOLDER", help="keep what is exported there")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for library in LIBRARIES:
        import_library(library)
    differ = False
    known = read_results() if options.missing else {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(options.keep or folder)
        home.mkdir(exist_ok=True)
        for network in choose(zoo(), options.names):
            if network.name in known:
                continue
            try:
                lines = compare(network, home / network.name, time=options.time)
            except Exception as error:  # one network that is refused does not end the others
                line = str(error).splitlines()[0].replace(f"{home}/", "")
                reason = COLOUR.sub("", line)[:200]
                lines = [f"{network.name}: failed: {reason}"]
                keep(Comparison(network.name, network.library, failure=reason))
            differ |= len(lines) > 1
            print("\n".join(lines), flush=True)
            if not options.keep:
                rmtree(home / network.name, ignore_errors=True)
    if options.table:
        write_page(zoo())
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
