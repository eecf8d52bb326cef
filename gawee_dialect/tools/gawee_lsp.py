"""gawee-lsp: serve an editor, which starts it and speaks the language server protocol with it."""

import sys
from collections.abc import Sequence

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.tools.command_line import DONE, CommandParser, run_tool
from gawee_dialect.tools.plugin_file import LOAD_HELP, LOAD_OPS_HELP, loaded_files, split_load_flags

PROG = "gawee-lsp"


def argument_parser() -> CommandParser:
    """Describe the command line."""
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        allow_abbrev=False,
        epilog="docs/editor.md shows it in VS Code, Neovim and Helix; exit code: 0 the editor "
        f"ended it; 1 the command line is wrong; 2 a bug in {PROG}",
    )
    add = parser.add_argument
    add("--load", metavar="FILE", help=LOAD_HELP)
    add("--load-ops", metavar="FILE", help=LOAD_OPS_HELP)
    add("--allow-unregistered-dialect", action="store_true", help="parse unknown ops")
    add("--stdio", action="store_true", help="speak on standard input and output, as it does")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def run(argv: Sequence[str]) -> int:
    """Serve until the editor ends it; raises GaweeError where pygls is not installed."""
    paths, rest = split_load_flags(PROG, argv)
    arguments = argument_parser().parse_all(rest)
    try:
        import pygls
    except ImportError as error:
        hint = "pip install 'gawee-dialect[lsp]'"
        raise GaweeError(
            Diagnostic("an editor is served by pygls, which is not installed", hint=hint)
        ) from error
    del pygls
    from gawee_dialect.language_server.server import make_server

    with loaded_files(paths):
        server = make_server(paths, allow_unregistered=arguments.allow_unregistered_dialect)
        server.start_io()
    return DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-lsp; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
