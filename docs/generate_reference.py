"""Write the reference pages, docs/reference/*.md, from what the sources say.

python docs/generate_reference.py            write the pages
python docs/generate_reference.py --check    exit with 1 where a page is not what would be written
"""

import inspect
import re
import sys
from argparse import SUPPRESS, Action
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from xdsl.irdl import IRDLOperation, OptionalDef, VariadicDef
from xdsl.passes import ModulePass

from gawee_dialect.dialect import GAWEE
from gawee_dialect.frontends.coverage import lowering_text, ops_of
from gawee_dialect.frontends.formats import FRONTENDS, Frontend
from gawee_dialect.inspection.op_page import docstring, op_section, prose
from gawee_dialect.opdesc.described_op import DescribedOp
from gawee_dialect.opdesc.emit.markdown_page import page
from gawee_dialect.opdesc.load import lightnet_dialect
from gawee_dialect.passes.graph.lowerings import lowerings
from gawee_dialect.tools.build_kernels import kernels_parser
from gawee_dialect.tools.code_flags import field_docstrings
from gawee_dialect.tools.command_line import CommandParser
from gawee_dialect.tools.compare_oracle import compare_parser
from gawee_dialect.tools.completion import completion_parser
from gawee_dialect.tools.doctor import doctor_parser
from gawee_dialect.tools.gawee_experiment import PARSERS as EXPERIMENT_PARSERS
from gawee_dialect.tools.gawee_opt import options
from gawee_dialect.tools.inspect_graph import SUB_COMMANDS
from gawee_dialect.tools.server.command import server_parser
from gawee_dialect.universe import OVERRIDES, PASSES, PIPELINES, all_passes, make_context

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "reference"
TOOLS = (
    "gawee",
    "gawee_opt",
    "gawee_translate",
    "gawee_run",
    "gawee_tune",
    "gawee_quantize",
    "gawee_reduce",
    "gawee_check",
    "gawee_fuzz",
    "gawee_experiment",
    "gawee_lsp",
)
GENERATED = "<!-- Written by docs/generate_reference.py; edit the docstrings instead. -->"


def dialect_page() -> str:
    """Return the page of the dialect: every op, by family."""
    sections: list[str] = []
    for module, ops in groupby(GAWEE.operations, key=lambda op: op.__module__):
        title = docstring(import_module(module)).partition("\n")[0].partition(":")[0]
        sections += [f"## {title.rstrip('.')}", *(op_section(op) for op in ops)]
    types = [f"### `!{attr.name}`\n\n{prose(docstring(attr))}" for attr in GAWEE.attributes]
    head = (
        "# The gawee dialect\n\n"
        "Ops have value semantics and work on tensors of static shape. One rule says what the "
        "shape of an op's result is; constructors, the verifier and the readers of graphs share it."
    )
    return "\n\n".join([GENERATED, head, *sections, "## Types", *types]) + "\n"


def indented_blocks(text: str) -> str:
    """Return a pass's docstring as Markdown: its indented blocks are code."""
    paragraphs = re.split(r"\n\s*\n", text)
    return "\n\n".join(_paragraph(paragraph) for paragraph in paragraphs)


def _paragraph(text: str) -> str:
    head, _, block = text.partition("\n")
    if head.endswith(":") and block.startswith("  "):
        title = "Rewrite:" if head == "rewrite:" else prose(head)
        return f"{title}\n\n```text\n{inspect.cleandoc(block)}\n```"
    if text.startswith("  "):
        return f"```text\n{inspect.cleandoc(text)}\n```"
    return prose(text)


def pass_section(name: str, pass_type: type[ModulePass]) -> str:
    """Return what the page of passes says of one."""
    anchor = f'<a id="{name}"></a>'
    parts = [anchor, f"### `--{name}`", indented_blocks(docstring(pass_type))]
    documented = field_docstrings(pass_type) if fields(pass_type) else {}
    rows = [
        f"| `{option}` | `{kind}` | `{default}` | "
        f"{prose(documented.get(option.replace('-', '_'), ''))} |"
        for option, kind, default in options(pass_type)
    ]
    if rows:
        heading = "| option | type | default | |\n|---|---|---|---|"
        parts.append("\n".join([heading, *(row.replace("|None", "\\|None") for row in rows)]))
    return "\n\n".join(parts)


def passes_page() -> str:
    """Return the page of passes: ours, in the order they are registered."""
    table = all_passes()
    kinds = (
        ("Passes", PASSES),
        ("Pipelines", PIPELINES),
        ("In the place of xDSL's", OVERRIDES),
    )
    head = (
        "# Passes\n\n"
        "A pass is a flag of `gawee-opt`: `gawee-opt --fold-batch-norm in.mlir`. Options follow "
        "it: `--convert-to-llvm=fast-math=contract`. The passes of xDSL work the same way; "
        "`gawee-opt --list-passes` names them all."
    )
    sections = [
        section
        for title, names in kinds
        for section in (f"## {title}", *(pass_section(name, table[name]()) for name in names))
    ]
    return "\n\n".join([GENERATED, head, *sections]) + "\n"


def flag_row(action: Action) -> str:
    """Return a row of a tool's table of flags."""
    names = [f"`{name}`" for name in action.option_strings] or [f"`{action.dest}`"]
    value = action.metavar or (", ".join(map(str, action.choices)) if action.choices else None)
    if value is None and action.nargs != 0 and action.option_strings:
        value = action.dest.upper()
    placeholder = f" `{value}`" if value and action.option_strings else ""
    text = (action.help or "").replace("%%", "%")
    return f"| {', '.join(names)}{placeholder} | {prose(text)} |"


SUB_COMMAND_PARSERS: Mapping[str, Sequence[Callable[[], CommandParser]]] = {
    "gawee_run": [compare_parser],
    "gawee_translate": [make_parser for make_parser, _ in SUB_COMMANDS.values()],
    "gawee_experiment": [*EXPERIMENT_PARSERS.values()],
    "gawee": [doctor_parser, kernels_parser, server_parser, completion_parser],
}


def tool_section(module_name: str) -> str:
    """Return the description and the flags of a command-line tool, and of its sub-commands."""
    module = import_module(f"gawee_dialect.tools.{module_name}")
    make_parser: Callable[[], CommandParser] = module.argument_parser
    parts = [parser_section(make_parser(), docstring(module).partition("\n\n")[0], "##")]
    for make_parser in SUB_COMMAND_PARSERS.get(module_name, ()):
        parser = make_parser()
        parts.append(parser_section(parser, parser.description or "", "###"))
    return "\n\n".join(parts)


def parser_section(parser: CommandParser, description: str, heading: str) -> str:
    """Return the description and the flags of one command line."""
    rows = [flag_row(action) for action in parser.actions() if action.help is not SUPPRESS]
    parts = [
        f"{heading} `{parser.prog}`",
        prose(description),
        "\n".join(["| flag | |", "|---|---|", *rows]),
    ]
    if parser.epilog:
        parts.append(f"```text\n{parser.epilog.strip()}\n```")
    return "\n\n".join(parts)


def tools_page() -> str:
    """Return the page of command-line tools."""
    head = "# Command-line tools\n\nEvery tool exits with 0 when it did what was asked for, with 1 "
    head += "when the input or the command line is wrong, and with 2 when it has a bug."
    return "\n\n".join([GENERATED, head, *map(tool_section, TOOLS)]) + "\n"


def code_list(names: Sequence[str]) -> str:
    """Return names as code, with commas between them."""
    return ", ".join(f"`{name}`" for name in names)


def support_table(frontend: Frontend) -> str:
    """Return a format's registry of ops as a table."""
    lowered = lowerings()
    rows = [
        f"| `{entry.op_type}` | {code_list(ops_of(entry.op))} | "
        f"{code_list(ops_of(lowering_text(entry.op, lowered)))} | "
        f"{prose('; '.join(entry.limits))} |"
        for entry in frontend.op_support()
    ]
    heading = "| op type | becomes | lowered by | limits |\n|---|---|---|---|"
    return "\n".join([heading, *rows])


def frontends_page() -> str:
    """Return the page of formats: which ops each reads, and what they may not be."""
    head = (
        "# Formats of graphs\n\n"
        "The tables come from the registries that the readers themselves use. "
        "`gawee-translate --coverage model.json` holds a model against them, before anything is "
        "lowered and without its weights."
    )
    sections = [
        f"## `{name}`\n\n{support_table(frontend)}"
        for name, frontend in FRONTENDS.items()
        if frontend.op_support()
    ]
    return "\n\n".join([GENERATED, head, *sections]) + "\n"


def operators_page() -> str:
    """Return the page of the operators that come described."""
    compiled = [
        op.description() for op in lightnet_dialect().operations if issubclass(op, DescribedOp)
    ]
    generated = GENERATED.replace("the docstrings", "gawee_dialect/opdesc/lightnet/*.op")
    return f"{generated}\n\n{page('lightnet', compiled)}"


UPSTREAM = ("linalg", "scf", "memref", "tensor")
"""Dialects of xDSL, with ops of ours among them, that passes read and make most."""
SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")
"""Properties that xDSL fills itself."""


def names_of(definitions: Sequence[tuple[str, object]]) -> str:
    """Return names of operands, results or regions as code; variadic ones end in `*` or `?`."""
    suffixes = [(OptionalDef, "?"), (VariadicDef, "*")]
    return ", ".join(
        f"`{name}`" + next((suffix for kind, suffix in suffixes if isinstance(each, kind)), "")
        for name, each in definitions
    )


def operands_row(op: type[IRDLOperation]) -> str:
    """Return a row of the table of an upstream dialect's ops."""
    definition = op.get_irdl_definition()
    properties = [name for name in definition.properties if name not in SEGMENTS]
    is_importable = getattr(import_module(op.__module__), op.__name__, None) is op
    cells = [
        f"`{op.name}`",
        f"`{op.__module__}.{op.__name__}`" if is_importable else "",
        *map(names_of, (definition.operands, definition.results, definition.regions)),
        code_list(properties),
    ]
    return f"| {' | '.join(cells)} |"


def operands_page() -> str:
    """Return the page of the names by which Python reads ops of upstream dialects."""
    head = (
        "# Operand names of upstream ops\n\n"
        "The names by which a pattern reads and makes ops of linalg, scf, memref and tensor: "
        "`op.inputs`, `op.iter_args`. The classes are xDSL's, or ours in their place "
        "(`gawee_dialect/upstream/`). `*` stands for any number of values, `?` for at most one. A "
        "class without a name to import is found by its op: `context.get_op('linalg.exp')`."
    )
    context, heading = make_context(), "| op | class | operands | results | regions | properties |"
    sections: list[str] = []
    for name in UPSTREAM:
        dialect = context.get_dialect(name)
        rows = [operands_row(op) for op in dialect.operations if issubclass(op, IRDLOperation)]
        sections += [f"## {name}", "\n".join([heading, "|---" * 6 + "|", *rows])]
    return "\n\n".join([GENERATED, head, *sections]) + "\n"


def gallery_page() -> str:
    """Return the gallery of small passes: each with its test."""
    head = (
        "# Ten small passes\n\n"
        "Each is a file of `examples/passes/`, loaded by `gawee-opt --load`, with a lit test in "
        "`tests/filecheck/examples/` that runs it, and checks it with `--check-each`. A pattern "
        "says `before -> after` and why it declines; `numerics` says what the pass does to numbers "
        "([tolerances](reference/tolerances.md#what-a-pass-promises)). Copy one and change it:\n\n"
        "```sh\ngawee-opt in.mlir --load examples/passes/merge_slices.py --merge-slices\n```"
    )
    sections: list[str] = []
    for path in sorted((ROOT / "examples" / "passes").glob("*.py")):
        test = ROOT / "tests" / "filecheck" / "examples" / f"{path.stem}.mlir"
        docstring, _, code = path.read_text().removeprefix('"""').partition('"""\n\n')
        sections += [
            f"## `{path.stem.replace('_', '-')}`",
            docstring,
            f"```python\n{code.strip()}\n```",
            f"Its test, `{test.relative_to(ROOT)}`:",
            f"```mlir\n{test.read_text().strip()}\n```",
        ]
    generated = GENERATED.replace("the docstrings", "examples/passes/*.py")
    return "\n\n".join([generated, head, *sections]) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "../passes_gallery.md": gallery_page,
    "dialect.md": dialect_page,
    "frontends.md": frontends_page,
    "operands.md": operands_page,
    "operators.md": operators_page,
    "passes.md": passes_page,
    "tools.md": tools_page,
}


def stale_pages() -> Iterator[str]:
    """Yield the names of pages that are not what the sources say."""
    for name, make_page in PAGES.items():
        path = FOLDER / name
        if not path.exists() or path.read_text() != make_page():
            yield name


def main(argv: Sequence[str]) -> int:
    """Write the pages, or check them; return the exit code."""
    if list(argv) == ["--check"]:
        stale = list(stale_pages())
        for name in stale:
            print(f"docs/reference/{name} is stale: run 'make reference'", file=sys.stderr)
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for name, make_page in PAGES.items():
        (FOLDER / name).write_text(make_page())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
