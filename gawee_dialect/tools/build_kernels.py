"""gawee kernels: compile the kernels of networks into a folder that other machines read."""

import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.tools.command_line import DONE, CommandParser


def kernels_parser() -> CommandParser:
    """Describe `gawee kernels`."""
    parser = CommandParser(
        prog="gawee kernels",
        allow_abbrev=False,
        description="Compile the kernels of networks for this processor into a folder. Where "
        "GAWEE_KERNELS_DIR names it, or it is installed as a package 'gawee_kernels', a machine "
        "with the same instructions and versions compiles none of them again.",
    )
    parser.add_argument("networks", nargs="+", metavar="NETWORK", help="graphs, in any format")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where they go")
    parser.add_argument(
        "--threads",
        default="0",
        metavar="COUNTS",
        help="for how many threads, as 1,2,4: these decide on schedules (default: 0, one a core)",
    )
    return parser


def run_kernels(argv: Sequence[str]) -> int:
    """Compile and write; returns the exit code. Raises GaweeError."""
    arguments = kernels_parser().parse_all(argv)
    counts = _counts(arguments.threads)
    # Imported here: only a compilation needs all that.
    from gawee_dialect.backend.cache import CompileCache
    from gawee_dialect.backend.prebuilt_kernels import write_prebuilt
    from gawee_dialect.code_options import CodeOptions
    from gawee_dialect.compilation import kernels_of
    from gawee_dialect.model import load

    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        cache = CompileCache(Path(folder) / "compiled")
        for network, count in product(arguments.networks, counts):
            options = CodeOptions(num_threads=count or None)
            made = kernels_of(load(network).module, options, cache)
            print(f"{network}: {len(made)} kernels, {len(made.keys() - found.keys())} of them new")
            found |= made
    written = write_prebuilt(Path(arguments.output), found)
    print(f"{arguments.output}: {len(found)} kernels, {written} bytes")
    return DONE


def _counts(text: str) -> Sequence[int]:
    """Return the numbers of threads that a flag names; raises GaweeError."""
    try:
        counts = [int(each) for each in text.split(",")]
    except ValueError:
        counts = [-1]
    if min(counts) < 0:
        hint = "numbers separated by commas, 0 for one thread a core"
        raise GaweeError(Diagnostic(f"expected --threads as 1,2,4, got '{text}'", hint=hint))
    return counts
