"""Readers of graphs; a module that one of them accepts is lowered, and run where it is small."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from math import prod
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp, ShapedType

from gawee_dialect.analysis.open_sizes import open_names, specialized
from gawee_dialect.analysis.tensor_shapes import unnamed_inputs
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.open_size import greatest
from gawee_dialect.frontends.formats import open_graph, sniff
from gawee_dialect.frontends.graph import ReadOptions
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.levels import Level, level_of
from gawee_dialect.model import Model
from gawee_dialect.parameters.given_inputs import random_array
from gawee_dialect.passes.graph.lower_opdesc import LowerOpdesc
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.passes.pipelines import to_linalg
from gawee_dialect.source import Source
from gawee_dialect.tools.run_session import InputSpec
from gawee_dialect.universe import make_context
from tests.frontends.npu_ir.files import documentation_layout, tiny
from tests.frontends.xoc.documents import EXAMPLE, chain
from tests.fuzz.mutate import mutated
from tests.fuzz.mutate_json import mutated_json
from tests.fuzz.mutate_proto import mutated_model
from tests.fuzz.reader import ROOT, Reader, files

SMALL, FEW = 20_000, 60
"""Elements of any value, and ops, of a module that is lowered and run."""

INVOCATIONS = b"""
create(| dst=x | dtype="TL_FLOAT", dims=[2, 3, 9, 7], ran=[0, 0], data=[0], from_file=false);
create(| dst="w 1" | data=[0], dims=[4, 3, 3, 3], ran=[0, 0], dtype="TL_FLOAT", from_file=true);
create(| dst=b | dtype="TL_FLOAT", dims=[4], ran=[0, 0], data=[1, 2.5, 3, -4], from_file=false,);
conv2d(bias=b, src=x, weight="w 1" | dst=y |
       group=1, size=[3, 3], stride=[2, 2], dilation=[1, 1], padding=[0, 0, 0, 0], autopad="VALID");
maxreduce_arg(src=y | arg=where, dst=most | axis=1); /* two outputs */
print(src=most | | msg="the most");
"""
INVOCATIONS_JSON = b"""{ "mem_sizes_h": [0], "mem_sizes_l": [4096], "ops": [
  {"name": "c", "optype": "zeros", "tensors_in": [], "params": [
    {"arg_name": "dims", "value": [2, 3]}, {"arg_name": "dtype", "value": "TL_INT8"}],
   "tensors_out": [{"arg_name": "dst", "name": "t", "offset_h": 0, "offset_l": 64}]},
  {"name": "s", "optype": "slice", "tensors_in": [{"arg_name": "src", "name": "t"}],
   "tensors_out": [{"arg_name": "dst", "name": "u"}], "params": [
    {"arg_name": "axis", "value": 1}, {"arg_name": "start", "value": 1},
    {"arg_name": "len", "value": 2}]}]}
"""


def opened(format: str, data: bytes, folder: Path | None) -> ModuleOp:
    """Read a graph of one format, whose data files may be in the folder."""
    return open_graph(Source("seed", data), ReadOptions(folder), format).module()


def lowered_and_run(module: object) -> None:
    """Take an accepted module to linalg, and run it there where it has an entry function.

    One of open sizes is taken there as it is too, and runs at the least ones.

    Raises GaweeError where it is refused, which is no mistake.
    """
    assert isinstance(module, ModuleOp)
    if level_of(module) is not Level.GAWEE:
        return
    if names := open_names(module):
        with suppress(GaweeError):
            run_passes(make_context(), module.clone(), (LowerToLinalg(),))
        module = specialized(module, {name.name: name.low for name in names})
    if not _is_small(module):
        return
    lowered = module.clone()
    run_passes(make_context(), lowered, (LowerOpdesc(), *to_linalg()))
    if find_function(lowered) is None:
        return
    model = Model(lowered)
    if unnamed_inputs(lowered):
        return
    specs = [InputSpec.of(each) for each in model.arguments]
    if any(max(prod(spec.shape), *spec.shape, 0) >= SMALL for spec in specs):
        return
    numbers = np.random.default_rng(0)
    arrays = {spec.name: random_array(spec.shape, spec.dtype, numbers) for spec in specs}
    with np.errstate(all="ignore"):
        Model(lowered, arrays).runner(Level.LINALG)(arrays)


def _is_small(module: ModuleOp) -> bool:
    values = [value for op in module.walk() for value in op.results]
    shapes = [value.type.get_shape() for value in values if isinstance(value.type, ShapedType)]
    return len(values) < FEW and all(greatest(prod(shape)) < SMALL for shape in shapes)


def printed_and_read(module: object) -> None:
    """Print an accepted module in both forms and read each again; and lower it as a graph."""
    assert isinstance(module, ModuleOp)
    for generic in (False, True):
        parse_mlir(make_context(), print_mlir(module, generic=generic), "printed")
    lowered_and_run(module)


def _json(*graphs: object) -> list[bytes]:
    return [json.dumps(graph, indent=1).encode() for graph in graphs]


def _mutated_any(seed: bytes, number: int) -> bytes:
    return mutated_json(seed, number) if seed.startswith(b"{") else mutated(seed, number)


def _models() -> Sequence[bytes]:
    """Return models that come with the package `onnx`, one in nine, and one with weights."""
    found = find_spec("onnx")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent / "backend" / "test" / "data"
    paths = sorted(folder.glob("node/*/model.onnx"))[::9]
    return [path.read_bytes() for path in paths if path.stat().st_size < 20_000]


def _chunks(folder: str, pattern: str) -> list[bytes]:
    """Return the modules of a folder's files, but for those that are wrong or want files loaded."""
    wrong = re.compile(rb"RUN: .*(not gawee|--load|-unregistered|%S/|--verify-diagnostics)")
    texts = [text for text in files(folder, pattern, 12_000) if not wrong.search(text)]
    return [chunk for text in texts for chunk in text.split(b"// -----")]


def _mlir(name: str, folder: str, pattern: str = "*.mlir") -> Reader:
    read = partial(opened, "mlir")
    return Reader(name, read, partial(_chunks, folder, pattern), then=printed_and_read)


GRAPHS = (
    _mlir("mlir-of-the-dialect", "tests/filecheck/dialect"),
    _mlir("mlir-of-passes", "tests/filecheck/passes"),
    _mlir("mlir-of-levels", "tests/fuzz/seeds"),
    Reader(
        "gawee-json",
        lambda data, _: opened("gawee-json", data, None),
        lambda: [
            *files("examples/digits", "graph.json", 30000),
            *files("tests/filecheck/frontends/inputs", "conv_relu.json"),
        ],
        mutated_json,
        lowered_and_run,
    ),
    Reader(
        "gawee-json-with-files",
        lambda data, _: opened("gawee-json", data, ROOT / "tests/filecheck/frontends/inputs"),
        lambda: files("tests/filecheck/frontends/inputs", "conv_relu.json"),
        mutated_json,
        lowered_and_run,
    ),
    Reader(
        "npu-ir",
        partial(opened, "npu-ir"),
        lambda: _json(tiny(), documentation_layout()),
        mutated_json,
        lowered_and_run,
    ),
    Reader(
        "xoc",
        partial(opened, "xoc"),
        lambda: _json(EXAMPLE, chain()),
        mutated_json,
        lowered_and_run,
    ),
    Reader(
        "onnx", partial(opened, "onnx"), _models, mutated_model, lowered_and_run, needs=("onnx",)
    ),
    Reader(
        "invocations",
        partial(opened, "invocations"),
        lambda: [INVOCATIONS],
        then=lowered_and_run,
        needs=("pycparser",),
    ),
    Reader(
        "invocations-as-json",
        partial(opened, "invocations"),
        lambda: [INVOCATIONS_JSON],
        mutated_json,
        lowered_and_run,
        needs=("pycparser",),
    ),
    Reader(
        "any-graph",
        lambda data, folder: sniff(Source("seed", data)),
        lambda: [*_json(tiny(), chain()), INVOCATIONS, *files("tests/fuzz/seeds", "*.mlir")],
        _mutated_any,
    ),
)
