"""Readers of command lines and small files: pipelines, choices for kernels, descriptions."""

import json
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from gawee_dialect.opdesc.load import described_ops
from gawee_dialect.opdesc.read import read_descriptions
from gawee_dialect.passes.insertion import parse_insertion
from gawee_dialect.passes.pass_manager import parse_passes
from gawee_dialect.schedules.file import read_schedules
from gawee_dialect.tools.gawee_opt import parse_arguments
from gawee_dialect.tools.graph_arguments import read_shapes
from gawee_dialect.universe import all_passes
from tests.fuzz.mutate import mutated
from tests.fuzz.mutate_json import mutated_json
from tests.fuzz.reader import Reader, files
from tests.schedules.test_database import WINOGRAD

SCHEDULES = (
    b'{"key": "k", "target": "t", "choice": {"algorithm": "direct"}}\n',
    b'{"key": "k", "target": "t", "threads": 2, "seconds": 0.0003, "choice": {"schedule": '
    b'"#gawee.schedule<loops = [d1 by 16, d2, d4, d5], vector = d1 by 16>"}}\n',
    json.dumps({"key": "k", "target": "t", "choice": WINOGRAD}).encode(),
)
PIPELINES = (
    b"canonicalize,fold-conv-add,lower-to-linalg",
    b"assign-schedules{target=skylake-avx512 num-threads=2}",
    b"builtin.module(canonicalize,gawee-to-llvm{expand-math=true fast-math=reassoc})",
    b"convert-to-winograd{target=haswell num-threads=2},plan-memory",
)
INSERTIONS = (
    b"after=fold-conv-add:canonicalize",
    b"before=canonicalize#2:assign-schedules{target=x}",
)
COMMAND_LINES = (
    b"--canonicalize --lower-to-linalg -o out --verify-each=false --debug-counter=FoldIntoBias=1-3",
    b"--assign-schedules=target=haswell -p canonicalize --insert=after=canonicalize:plan-memory x",
    b"--opt-bisect-limit=3 --mlir-print-ir-after=canonicalize --check-each",
)
DESCRIPTION = (
    b'{"ops": [{"optype": "probe", "author": "a test", "arch": "none", "tensors_in": '
    b'[{"arg_name": "src", "mtype": "LN_MEM_NONE"}], "tensors_out": [{"arg_name": "dst", '
    b'"mtype": "LN_MEM_NONE", "ndim": "src->ndim", "dims": "src->dims", "dtype": "src->dtype"}], '
    b'"params": [{"arg_name": "size", "ptype": "LN_PARAM_NUMBER", "realtype": "int", "gt": 0}]}]}'
)


def _op_texts() -> Sequence[bytes]:
    """Return every operator of the .op files as a text of its own."""
    folders = ("gawee_dialect/opdesc/lightnet", "tests/opdesc/index_notation")
    texts = (text for folder in folders for text in files(folder, "*.op", 40_000))
    blocks = (block for text in texts for block in text.split(b"\n\n"))
    own = [block.strip() for block in blocks if block.rstrip().endswith(b"}")]
    return [each for each in own if b" : " not in each.partition(b"{")[0]]


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


def _schedules(data: bytes, folder: Path) -> object:
    path = folder / "seed.jsonl"
    path.write_bytes(data)
    return read_schedules(path)


def _descriptions(data: bytes, folder: Path) -> object:
    path = folder / "seed.op"
    path.write_bytes(data)
    return described_ops(read_descriptions(path))


def _pipeline(data: bytes, _: Path) -> object:
    return parse_passes(_text(data), all_passes())


def _insertion(data: bytes, _: Path) -> object:
    return parse_insertion(_text(data), all_passes())


def _command_line(data: bytes, _: Path) -> object:
    try:
        with redirect_stdout(StringIO()):
            return parse_arguments(_text(data).split(), all_passes())
    except SystemExit as ended:  # as --help does
        if ended.code:
            raise RuntimeError(f"the command line ends with {ended.code}") from ended
        return None


def _mutated_descriptions(seed: bytes, number: int) -> bytes:
    return mutated_json(seed, number) if seed is DESCRIPTION else mutated(seed, number)


SMALL_LANGUAGES: Sequence[Reader] = (
    Reader("schedules", _schedules, lambda: SCHEDULES, mutated_json),
    Reader("pipelines", _pipeline, lambda: PIPELINES, is_file=False),
    Reader("insertions", _insertion, lambda: INSERTIONS, is_file=False),
    Reader("command-lines", _command_line, lambda: COMMAND_LINES, is_file=False),
    Reader(
        "shapes", lambda data, _: read_shapes([_text(data)]), lambda: [b"x=1,3,224"], is_file=False
    ),
    Reader(
        "descriptions",
        _descriptions,
        lambda: [DESCRIPTION, *files("tests/filecheck/opdesc/inputs", "*.json")],
        _mutated_descriptions,
        needs=("pycparser",),
    ),
    Reader("op-files", _descriptions, _op_texts, needs=("pycparser",)),
)
