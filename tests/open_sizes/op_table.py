"""Which ops take sizes that are open: every example of an op, with each of its sizes as a name.

`python tests/open_sizes/op_table.py` writes the table of docs/sizes.md anew.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, ModuleOp, TensorType, i64
from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.analysis.open_sizes import mark_sizes, specialized, verify_at_numbers
from gawee_dialect.analysis.signature import Entry
from gawee_dialect.backend.compiled import Array
from gawee_dialect.backend.open_model import OpenModel
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.compilation import program_of
from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.graph.scan import ScanOp, element_of_sequence
from gawee_dialect.dialect.open_size import OpenSize, SizeName
from gawee_dialect.dialect.operation import InferredOp
from gawee_dialect.dialect.size_list import size_list
from gawee_dialect.dialect.types import AnyTensor, tensor_type
from gawee_dialect.hints import isa
from gawee_dialect.interpreter import run_module
from gawee_dialect.levels import lower_to
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.closeness import assert_allclose
from tests.test_completeness import LOWERED_OPS, example_arguments, example_module

PAGE = Path(__file__).parents[2] / "docs" / "sizes.md"
BEGIN, END = "<!-- table of ops -->\n", "<!-- end of table -->"
LISTS = ("shape", "sizes", "repeats", "size")
"""Properties that list sizes: what an example says there may be the size that is opened."""


def opened(module: ModuleOp, size: int, lists: bool) -> ModuleOp:
    """Return a module in which a name stands for a size of its arguments, and in lists of sizes.

    Raises GaweeError and VerifyException where the op does not know its results then.
    """
    module = module.clone()
    name = OpenSize.named(SizeName("n", size, size + 61))

    def renamed(shape: Sequence[int]) -> list[int]:
        return [name if each == size else each for each in shape]

    function = find_function(module)
    assert function is not None
    for argument in function.args:
        if isa(argument.type, AnyTensor):
            type = TensorType(argument.type.element_type, renamed(argument.type.get_shape()))
            Rewriter.replace_value_with_new_type(argument, type)
    mark_sizes(function)
    _infer(function.body.block, lists, renamed)
    function.update_function_type()
    verify_module(module)
    verify_at_numbers(module)
    return module


def _infer(block: Block, lists: bool, renamed: Callable[[Sequence[int]], list[int]]) -> None:
    for op in block.ops:
        for key, attribute in op.properties.items():
            if (
                lists
                and key in LISTS
                and isa(attribute, DenseArrayBase[IntegerType])
                and attribute.elt_type == i64
            ):
                op.properties[key] = size_list(renamed(attribute.get_values()))
        if isinstance(op, ScanOp):
            rows = [element_of_sequence(tensor_type(each)) for each in op.sequences]
            taken = [*(tensor_type(each) for each in op.initial), *rows]
            for argument, type in zip(op.body.block.args, taken, strict=True):
                Rewriter.replace_value_with_new_type(argument, type)
            _infer(op.body.block, lists, renamed)
        if isinstance(op, InferredOp):
            for result, type in zip(op.results, op.inferred_types(), strict=True):
                Rewriter.replace_value_with_new_type(result, type)


def sizes_of(module: ModuleOp) -> Sequence[int]:
    """Return the sizes that arguments have, each once."""
    function = find_function(module)
    assert function is not None
    shapes = (a.type.get_shape() for a in function.args if isa(a.type, AnyTensor))
    return sorted({size for shape in shapes for size in shape if size > 1})


@dataclass(frozen=True)
class Row:
    """What is known of an op: how many sizes may be open, of `sizes`, at each level."""

    op: str
    sizes: int
    graphs: int
    linalg: int
    loops: int
    llvm: int
    kernels: int
    reason: str

    def text(self) -> str:
        """Return the row of the table."""

        def part(count: int) -> str:
            return "all" if count == self.sizes else f"{count} of {self.sizes}"

        levels = (self.graphs, self.linalg, self.loops, self.llvm, self.kernels)
        return f"| `{self.op}` | {' | '.join(map(part, levels))} | {self.reason} |"


def lowered(module: ModuleOp, passes: str = "lower-to-linalg") -> ModuleOp:
    """Return a copy on another level; raises GaweeError."""
    copy = module.clone()
    run_passes(make_context(), copy, parse_passes(passes, all_passes()))
    return copy


Run = Callable[[Mapping[str, Array]], Mapping[str, Array]]


def interpreted(module: ModuleOp) -> Run:
    """Return what interprets a module."""
    return lambda arrays: run_module(module, arrays)


def native(module: ModuleOp) -> Run:
    """Return what runs a graph as native code; raises GaweeError where it cannot be."""
    arguments = Entry.of(module).weights

    def run(arrays: Mapping[str, Array]) -> Mapping[str, Array]:
        inputs = {name: array for name, array in arrays.items() if name not in weights}
        return compiled.with_parameters({name: arrays[name] for name in weights}).run(inputs)

    weights = {each.name for each in arguments}
    program = program_of(module, PLAIN, cache=False)
    compiled = OpenModel(program)
    return run


def check_numbers(graph: ModuleOp, runs: Sequence[Run], size: int) -> None:
    """Compare what runs a graph with the static one, for the size of the example and one more."""
    for number in (size, size + 1):
        static = specialized(graph, {"n": number})
        arrays = example_arguments(static)
        wanted = run_module(static, arrays)
        # Loops of any sizes are made into Python for each run: the first number has to do.
        for run in runs if number == size else (*runs[:2], *runs[3:4]):
            got = run(arrays)
            for name, array in wanted.items():
                # Sums in another order, and functions of float32 in linalg's own way.
                assert_allclose(got[name], array, rtol=2e-5, atol=2e-6)


def row_of(op: type[Operation]) -> Row:
    """Open each size of an op's example by itself, run what there is, and return what is known."""
    module = example_module(op)
    sizes, reasons, counts = sizes_of(module), list[str](), Counter[str]()
    for size in sizes:
        graph, reason = _opened_somehow(module, size)
        if graph is None:
            reasons.append(reason)
            continue
        runs = [interpreted(graph)]
        for level, make in LEVELS.items():
            try:
                runs.append(make(graph))
            except GaweeError as error:
                reasons.append(f"{level}: {_line(error)}")
                break
            counts[level] += 1
        counts["graphs"] += 1
        check_numbers(graph, runs, size)
    reason = next(iter(dict.fromkeys(reasons)), "")
    found = [counts[level] for level in ("graphs", *LEVELS)]
    return Row(op.name, len(sizes), *found, reason=reason.replace("|", "\\|"))


PLAIN = CodeOptions(algorithms="plain")

KERNELS = (
    "gawee-to-kernels{target=haswell},bufferize,coalesce-copies,outline-kernels,"
    "lower-kernels-to-loops"
)
"""Kernels as loops over register tiles, and what is none on buffers."""

LEVELS: Mapping[str, Callable[[ModuleOp], Run]] = {
    "linalg": lambda graph: interpreted(lowered(graph)),
    "loops": lambda graph: interpreted(lower_to(graph, "loops", PLAIN)),
    "llvm": native,
    "kernels": lambda graph: interpreted(lowered(graph, KERNELS)),
}
"""How an open graph is run below graphs; each raises GaweeError where it cannot be."""


def _opened_somehow(module: ModuleOp, size: int) -> tuple[ModuleOp | None, str]:
    reason = ""
    for lists in (False, True):
        try:
            return opened(module, size, lists), ""
        except (GaweeError, VerifyException) as error:
            reason = reason or _line(error)
    return None, reason


def _line(error: Exception) -> str:
    line = str(error).splitlines()[0]
    return re.sub(r"^(.*?error: )?('[\w.]+' op )?(.* by [\w-]+: )?", "", line)


def table() -> str:
    """Return the table of all ops of graphs."""
    rows = sorted((row_of(op) for op in LOWERED_OPS), key=lambda row: row.op)
    head = (
        "| op | sizes that may be open in a graph | in linalg | in plain loops | in native code | "
        "as kernels | "
    )
    head += "the first that may not |\n"
    return head + "|---|---|---|---|---|---|---|\n" + "\n".join(row.text() for row in rows) + "\n"


def written_table() -> str:
    """Return the table that the page has."""
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}")
