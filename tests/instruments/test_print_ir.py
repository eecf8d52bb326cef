"""Dumps, the folder and diffs of the IR: what is printed, where it goes, what is left out."""

from io import StringIO
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, TensorType, i32
from xdsl.passes import ModulePass

from gawee_dialect.instruments.ir_diff import painted, print_diff
from gawee_dialect.tools import gawee_opt
from gawee_dialect.universe import all_passes
from gawee_dialect.upstream.printing import TextOptions, is_larger, op_text
from tests.passes.modules import parse

GRAPH = """
func.func @changes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @stays(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = gawee.constant dense<[[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]> : tensor<2x3xf32>
  %y = gawee.add %x, %c : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""
LARGE = GRAPH.replace("2x3", "2x9").replace(
    "[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]",
    ", ".join(f"[{', '.join(str(9.0 * row + i) for i in range(9))}]" for row in range(2)),
)


class Breaking(ModulePass):
    """A pass that changes the IR, and then fails."""

    name = "break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            inner.attributes["touched"] = i32
        raise IndexError("list index out of range")


class Halve(ModulePass):
    """A pass that changes nothing but the elements of a constant."""

    name = "halve"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            value = inner.properties.get("value")
            if isinstance(value, DenseIntOrFPElementsAttr):
                halves = [number / 2 for number in value.get_values()]
                inner.properties["value"] = DenseIntOrFPElementsAttr.from_list(value.type, halves)


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "in.mlir"
    path.write_text(GRAPH)
    return str(path)


@pytest.fixture
def large(tmp_path: Path) -> str:
    path = tmp_path / "large.mlir"
    path.write_text(LARGE)
    return str(path)


@pytest.fixture
def more_passes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # reproducers of crashes go into the working directory
    table = all_passes() | {"break": lambda: Breaking, "halve": lambda: Halve}
    monkeypatch.setattr(gawee_opt, "all_passes", lambda: table)


def banners(text: str) -> list[str]:
    marks = ("// -----// IR Dump ", " //----- //")
    return [
        line.removeprefix(marks[0]).removesuffix(marks[1])
        for line in text.splitlines()
        if line.startswith(marks[0])
    ]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (
            ["--mlir-print-ir-after-all"],
            ["After CanonicalizePass (canonicalize)", "After CommonSubexpressionElimination (cse)"],
        ),
        (
            ["--mlir-print-ir-after"],
            ["After CanonicalizePass (canonicalize)", "After CommonSubexpressionElimination (cse)"],
        ),
        (["--mlir-print-ir-before=cse"], ["Before CommonSubexpressionElimination (cse)"]),
        (
            ["--mlir-print-ir-before=cse,canonicalize"],
            [
                "Before CanonicalizePass (canonicalize)",
                "Before CommonSubexpressionElimination (cse)",
            ],
        ),
        (["--mlir-print-ir-after-change"], ["After CanonicalizePass (canonicalize)"]),
        (["--mlir-print-ir-after=cse", "--mlir-print-ir-after-change"], []),
        (
            ["--mlir-print-ir-before=canonicalize", "--mlir-print-ir-after=cse"],
            [
                "Before CanonicalizePass (canonicalize)",
                "After CommonSubexpressionElimination (cse)",
            ],
        ),
        (["--mlir-print-ir-after-failure"], []),
    ],
)
def test_dumps_are_those_that_are_asked_for(
    flags: list[str], expected: list[str], graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main([*flags, graph, "--canonicalize", "--cse"]) == 0

    assert banners(capsys.readouterr().err) == expected


def test_a_pipeline_is_seen_pass_by_pass_and_under_its_own_name(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--mlir-print-ir-before-all", "--mlir-print-ir-after=gawee-optimize"]

    assert gawee_opt.main([*flags, graph, "--gawee-optimize"]) == 0

    assert banners(capsys.readouterr().err) == [
        "Before LowerQuantOps (lower-quant-ops)",
        "Before CanonicalizePass (canonicalize)",
        "Before SinkDequantize (sink-dequantize)",
        "Before FoldBatchNorm (fold-batch-norm)",
        "Before FoldConvAdd (fold-conv-add)",
        "Before TrimConvKernels (trim-conv-kernels)",
        "Before FuseAttention (fuse-attention)",
        "Before CanonicalizePass (canonicalize)",
        "After GaweeOptimize (gawee-optimize)",
    ]


def test_options_of_a_pass_are_in_its_banner(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--gawee-to-llvm=fast-math=contract", "--mlir-print-ir-after=convert-to-llvm"]

    assert gawee_opt.main([graph, *words]) == 0

    assert banners(capsys.readouterr().err) == [
        'After ConvertToLLVM (convert-to-llvm{fast_math="contract"})'
    ]


def test_a_name_of_no_pass_is_an_error_with_a_hint(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main([graph, "--canonicalize", "--mlir-print-ir-after=canonicalise"]) == 1
    assert capsys.readouterr().err == (
        "error: --mlir-print-ir-after names no pass that runs: 'canonicalise'\n"
        "hint: did you mean 'canonicalize'?\n"
    )
    assert gawee_opt.main([graph, "--canonicalize", "--mlir-print-ir-before=cse"]) == 1
    assert "hint: the pipeline has canonicalize\n" in capsys.readouterr().err


@pytest.mark.usefixtures("more_passes")
def test_what_a_failed_pass_left_is_dumped_in_the_generic_form(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main([graph, "--break", "--mlir-print-ir-after-failure"]) == 2

    err = capsys.readouterr().err
    assert banners(err) == ["After Breaking Failed (break)"]
    assert '"gawee.relu"(%y) {touched = i32}' in err


def test_dumps_look_as_the_output_is_asked_to(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--mlir-print-ir-after-all", "--mlir-print-op-generic", "--mlir-print-debuginfo"]

    assert gawee_opt.main([*flags, graph, "--cse"]) == 0

    out, err = capsys.readouterr()
    assert (
        err == f"// -----// IR Dump After CommonSubexpressionElimination (cse) //----- //\n{out}\n"
    )


def test_large_constants_are_elided_in_dumps_and_not_in_the_output(
    large: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main([large, "--cse", "--mlir-print-ir-after-all"]) == 0

    out, err = capsys.readouterr()
    assert "%c = gawee.constant dense_resource<__elided__> : tensor<2x9xf32>" in err
    assert "elided" not in out


@pytest.mark.parametrize(("limit", "elided"), [("17", True), ("18", False)])
def test_the_limit_counts_for_dumps_and_the_output(
    limit: str, elided: bool, large: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = f"--mlir-elide-elementsattrs-if-larger={limit}"

    assert gawee_opt.main([large, "--cse", "--mlir-print-ir-after-all", flag]) == 0

    out, err = capsys.readouterr()
    assert ("__elided__" in out, "__elided__" in err) == (elided, elided)


def test_a_limit_is_a_number(large: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gawee_opt.main([large, "--mlir-elide-elementsattrs-if-larger=few"]) == 1
    assert "expected a number of elements, got 'few'" in capsys.readouterr().err


def test_a_uniform_constant_is_short_and_so_is_not_elided() -> None:
    large = TensorType(i32, [5, 7])

    assert not is_larger(DenseIntOrFPElementsAttr.from_list(large, [3]), 16)
    assert not is_larger(DenseIntOrFPElementsAttr.from_list(large, [3] * 35), 16)
    assert is_larger(DenseIntOrFPElementsAttr.from_list(large, range(35)), 16)
    assert not is_larger(DenseIntOrFPElementsAttr.from_list(large, range(35)), 35)
    assert not is_larger(DenseIntOrFPElementsAttr.from_list(TensorType(i32, [0]), []), 0)


def test_two_texts_whose_elided_constants_differ_have_different_digests() -> None:
    options = TextOptions(elide_larger_than=4)

    one, other = (op_text(parse(text), options) for text in (GRAPH, GRAPH.replace("6.5", "6.25")))

    assert one[0] == other[0]
    assert one[1] != other[1]


@pytest.mark.usefixtures("more_passes")
def test_a_change_of_elided_elements_is_a_change(
    large: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--halve", "--cse", "--mlir-print-ir-after-change", "--print-ir-diff"]

    assert gawee_opt.main([large, *words]) == 0

    err = capsys.readouterr().err
    assert banners(err) == ["After Halve (halve)"]
    assert "IR Diff of halve //----- //\n@stays: only elements of elided constants differ\n" in err
    assert "IR Diff of cse: (unchanged) //----- //" in err


def test_the_folder_has_a_numbered_file_for_each_pass_and_an_index(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "ir"

    assert gawee_opt.main([graph, f"--print-ir-to={folder}", "--gawee-to-linalg"]) == 0

    out, err = capsys.readouterr()
    assert err == ""
    assert [path.name for path in sorted(folder.iterdir())] == [
        "00_input.mlir",
        "01_lower-quant-ops.mlir",
        "02_canonicalize.mlir",
        "03_sink-dequantize.mlir",
        "04_fold-batch-norm.mlir",
        "05_fold-conv-add.mlir",
        "06_trim-conv-kernels.mlir",
        "07_fuse-attention.mlir",
        "08_canonicalize.mlir",
        "09_inline.mlir",
        "10_lower-to-linalg.mlir",
        "11_convert-elementwise-to-linalg.mlir",
        "12_decompose-aggregated-ops.mlir",
        "13_lower-affine.mlir",
        "14_canonicalize.mlir",
        "15_hoist-loop-invariants.mlir",
        "16_hoist-parameter-computation.mlir",
        "index.txt",
    ]
    assert "gawee.identity" in (folder / "00_input.mlir").read_text()
    assert "gawee.identity" not in (folder / "02_canonicalize.mlir").read_text()
    assert (folder / "05_fold-conv-add.mlir").read_text() == (
        "// (unchanged) as in 02_canonicalize.mlir\n"
    )
    assert (folder / "10_lower-to-linalg.mlir").read_text() == out
    index = (folder / "index.txt").read_text().splitlines()
    assert index[1].split() == ["00", "input", "8", "ops", "00_input.mlir"]
    assert index[3].split() == ["02", "canonicalize", "7", "ops", "02_canonicalize.mlir"]
    assert index[5].split() == ["04", "fold-batch-norm", "(unchanged)", "04_fold-batch-norm.mlir"]


def test_each_chunk_of_a_split_input_has_its_folder(tmp_path: Path) -> None:
    path, folder = tmp_path / "two.mlir", tmp_path / "ir"
    path.write_text(f"{GRAPH}\n// -----\n{GRAPH}")

    words = ["--split-input-file", "--print-ir-to", str(folder), "--cse"]
    assert gawee_opt.main([str(path), *words]) == 0

    assert sorted(str(file.relative_to(folder)) for file in folder.rglob("*.mlir")) == [
        "1/00_input.mlir",
        "1/01_cse.mlir",
        "2/00_input.mlir",
        "2/01_cse.mlir",
    ]


def test_a_second_run_leaves_nothing_of_the_first_and_spares_what_is_not_its_own(
    graph: str, tmp_path: Path
) -> None:
    folder = tmp_path / "ir"
    assert gawee_opt.main([graph, f"--print-ir-to={folder}", "--canonicalize", "--cse"]) == 0
    (folder / "notes.mlir").write_text("mine")

    assert gawee_opt.main([graph, f"--print-ir-to={folder}", "--cse"]) == 0

    assert sorted(path.name for path in folder.iterdir()) == [
        "00_input.mlir",
        "01_cse.mlir",
        "index.txt",
        "notes.mlir",
    ]


def test_a_folder_with_numbered_files_of_somebody_else_is_refused(
    graph: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "00_mine.mlir").write_text("mine")

    assert gawee_opt.main([graph, f"--print-ir-to={tmp_path}", "--cse"]) == 1

    err = capsys.readouterr().err
    assert err == f"error: cannot write IR to '{tmp_path}': it has files of another origin\n"
    assert (tmp_path / "00_mine.mlir").read_text() == "mine"


@pytest.mark.usefixtures("more_passes")
def test_the_folder_has_what_a_failed_pass_left(graph: str, tmp_path: Path) -> None:
    folder = tmp_path / "ir"

    assert gawee_opt.main([graph, f"--print-ir-to={folder}", "--break"]) == 2

    assert '"gawee.relu"(%y) {touched = i32}' in (folder / "01_break.mlir").read_text()
    assert "FAILED" in (folder / "index.txt").read_text().splitlines()[-1]


def test_a_diff_leaves_out_functions_that_stay(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gawee_opt.main([graph, "--print-ir-diff", "--canonicalize", "--cse"]) == 0

    assert capsys.readouterr().err.splitlines() == [
        "// -----// IR Diff of canonicalize //----- //",
        "--- @changes before canonicalize",
        "+++ @changes after canonicalize",
        "@@ -1,5 +1,4 @@",
        " func.func @changes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {",
        "-  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "-  %0 = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "+  %0 = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "   func.return %0 : tensor<2x3xf32>",
        " }",
        "// -----// IR Diff of cse: (unchanged) //----- //",
    ]


def test_a_value_keeps_its_number_in_diffs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.mlir"
    path.write_text("""
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gawee.sqrt %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gawee.sqrt %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gawee.sqrt %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}""")

    assert gawee_opt.main([str(path), "--print-ir-diff", "--canonicalize"]) == 0

    # Numbered anew, all four lines would differ.
    changed = [line for line in capsys.readouterr().err.splitlines() if line[:2] in ("- ", "+ ")]
    assert changed == [
        "-  %0 = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "-  %1 = gawee.sqrt %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "+  %1 = gawee.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>",
    ]


def test_new_and_removed_functions_are_whole_in_a_diff(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--gawee-to-loops", "--print-ir-diff"]

    assert gawee_opt.main([graph.replace("in.mlir", "main.mlir"), *words]) == 1  # no such file
    path = Path(graph)
    path.write_text(GRAPH.replace("@changes", "@main"))
    capsys.readouterr()
    assert gawee_opt.main([graph, *words]) == 0

    outlined = capsys.readouterr().err.partition("IR Diff of outline-kernels")[2]
    assert "+++ @" in outlined
    assert "\n+func.func private @" in outlined


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_diff_has_colors_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain, terminal = StringIO(), Terminal()

    assert print_diff("a\nb", "a\nc", ("x", "y"), plain)
    assert print_diff("a\nb", "a\nc", ("x", "y"), terminal)

    assert "\033" not in plain.getvalue()
    assert "\033[31m-b\033[0m\n\033[32m+c\033[0m\n" in terminal.getvalue()
    assert painted(" same") == " same"
    assert not print_diff("a", "a", ("x", "y"), plain)


def test_no_color_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()

    print_diff("a", "b", ("x", "y"), terminal)

    assert "\033" not in terminal.getvalue()
