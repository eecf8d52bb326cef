"""Completion of command lines in shells, by argcomplete, from the parsers that the tools have."""

import os
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.tools.command_line import DONE, WRONG_INPUT, CommandParser
from gawee_dialect.tools.gawee import COMMANDS, TOOLS
from gawee_dialect.tools.pass_flags import PIPELINE_FLAGS

REQUEST = "_ARGCOMPLETE"
"""The variable by which a shell asks for completions: which word the program is, from 1."""

SHELLS = ("bash", "zsh", "fish")

TAKE_PASSES = ("opt", "reduce", "fuzz")
"""Tools of which every pass is a flag."""


def completion_parser() -> CommandParser:
    """Describe `gawee completion`."""
    parser = CommandParser(
        prog="gawee completion",
        allow_abbrev=False,
        description="Print what completes the command lines of all tools in a shell. In its "
        'start-up file: eval "$(gawee completion bash)"; for fish: gawee completion fish | source',
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell to print it for")
    return parser


def run_completion(argv: Sequence[str]) -> int:
    """Print the code for a shell; raises GaweeError where argcomplete is not installed."""
    arguments = completion_parser().parse_all(argv)
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError as error:
        hint = "pip install 'gawee-dialect[completion]'"
        message = "completion needs argcomplete, which is not installed"
        raise GaweeError(Diagnostic(message, hint=hint)) from error
    print(shellcode(["gawee", *(f"gawee-{name}" for name in TOOLS)], shell=arguments.shell))
    return DONE


def complete(prog: str) -> int:
    """Write the completions that the environment asks for; ends the process where it can."""
    try:
        from argcomplete.completers import FilesCompleter
        from argcomplete.finders import CompletionFinder
    except ImportError:
        return WRONG_INPUT
    parser, words = parser_of(prog.removeprefix("gawee-"), _words())
    # What follows the last word of the command's name is for its parser.
    os.environ[REQUEST] = str(int(os.environ.get(REQUEST, "1")) + words)
    CompletionFinder(default_completer=FilesCompleter())(parser)
    return DONE


def _words() -> list[str]:
    """Return the words before the one that is being typed, without the program's own."""
    line = os.environ.get("COMP_LINE", "")
    line = line[: int(os.environ.get("COMP_POINT", len(line)))]
    words = line.split()[int(os.environ.get(REQUEST, "1")) :]
    return words if not line or line[-1].isspace() else words[:-1]


def parser_of(name: str, words: Sequence[str]) -> tuple[ArgumentParser, int]:
    """Return the parser of a command line, and how many of its words name a command."""
    if name == "gawee":
        if not words or words[0] not in TOOLS:
            return _parser_of_gawee(words)
        inner, count = parser_of(words[0], words[1:])
        return inner, count + 1
    commands = _sub_commands(name)
    if words and words[0] in commands:
        return commands[words[0]](), 1
    parser: CommandParser = import_module(f"gawee_dialect.tools.gawee_{name}").argument_parser()
    if name in TAKE_PASSES:
        _add_passes(parser)
    if not words and commands:
        _complete_first_word(parser, list(commands))
    return parser, 0


def _parser_of_gawee(words: Sequence[str]) -> tuple[ArgumentParser, int]:
    from gawee_dialect.tools.build_kernels import kernels_parser
    from gawee_dialect.tools.doctor import doctor_parser
    from gawee_dialect.tools.gawee import argument_parser
    from gawee_dialect.tools.server.command import server_parser

    parsers = {
        "doctor": doctor_parser,
        "kernels": kernels_parser,
        "server": server_parser,
        "completion": completion_parser,
    }
    assert parsers.keys() == COMMANDS.keys()
    found = parsers.get(words[0]) if words else None
    return (argument_parser(), 0) if found is None else (found(), 1)


def _sub_commands(name: str) -> Mapping[str, Callable[[], CommandParser]]:
    """Return the parsers of a tool's commands by name."""
    if name == "translate":
        from gawee_dialect.tools.inspect_graph import SUB_COMMANDS

        return {name: make_parser for name, (make_parser, _) in SUB_COMMANDS.items()}
    if name == "run":
        from gawee_dialect.tools.compare_oracle import NAME, compare_parser

        return {NAME: compare_parser}
    if name == "experiment":
        from gawee_dialect.tools.gawee_experiment import PARSERS

        return PARSERS
    return {}


def _complete_first_word(parser: CommandParser, commands: Sequence[str]) -> None:
    """Have the first word, a file for argparse, complete to a command too."""
    from argcomplete.completers import FilesCompleter

    def command_or_file(prefix: str, **_: object) -> list[str]:
        return [*commands, *FilesCompleter()(prefix)]

    for action in parser.actions():
        if not action.option_strings:
            setattr(action, "completer", command_or_file)


def _add_passes(parser: CommandParser) -> None:
    """Add a flag for each pass, and have the flags that take a pipeline complete its last pass."""
    from gawee_dialect.universe import all_passes

    names = list(all_passes())
    for name in names:
        parser.add_argument(f"--{name}", nargs="?", help="a pass")

    def in_pipeline(prefix: str, **_: object) -> list[str]:
        before, comma, _last = prefix.rpartition(",")
        return [f"{before}{comma}{name}" for name in names]

    for action in parser.actions():
        if set(PIPELINE_FLAGS) & set(action.option_strings):
            setattr(action, "completer", in_pipeline)
