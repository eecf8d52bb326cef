"""gawee doctor: what is installed, where compiled code is kept, and the processor as seen here."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import groupby

from gawee_dialect.target.description import KIB, MIB, Processor
from gawee_dialect.tools.command_line import DONE, WRONG_INPUT, CommandParser

PACKAGE = "gawee-dialect"

SERVES: Mapping[str, str] = {
    "torch": "PyTorch models: torch.compile, torch.export, their weights",
    "onnx": "reading and writing ONNX models",
    "bf16": "weights and arrays of bfloat16",
    "uwef": "weights in UWEF files",
    "llm": "text by language models: examples/llm",
    "opdesc": "operator descriptions with C",
    "numba": "comparing loops with those that Numba compiles",
    "image": "pictures as inputs, --input cat.jpg",
    "plot": "rooflines and plots of studies",
    "threads": "teams of threads by OpenMP, where no pool of gawee's can be used",
    "lsp": "gawee-lsp, for editors",
    "completion": "completion of command lines in shells",
    "search": "searches that learn: Learned and Optuna",
    "lock": "renewing requirements-dev.lock",
    "distributed": "tuning and studies on other machines",
    "mlir": "upstream's mlir-opt and LLVM's tools, as oracles of tests",
    "demo": "the examples with photos",
    "notebook": "the notebook of docs/notebook.md",
    "browser": "pictures of reports in docs/gallery.md",
    "zoo": "the zoo of published networks",
    "bench": "comparing with other engines",
    "docs": "building the site",
    "dev": "tests, linting and type checks",
    "coverage": "how much of the package tests run",
    "mutants": "tests of the tests",
}
"""Each extra of the package, and what it is for."""


def doctor_parser() -> CommandParser:
    """Describe `gawee doctor`."""
    return CommandParser(
        prog="gawee doctor",
        allow_abbrev=False,
        description="Show the versions of all that takes part, which extras are there and what the "
        "others would serve, whether compiled code can be kept, and the processor as gawee sees "
        "it. Ends with 1 where compiled code cannot be kept.",
    )


def installed(distribution: str) -> str | None:
    """Return the version of a distribution, None where it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def version_text(prog: str) -> str:
    """Return the versions that a bug report should name."""
    python = ".".join(map(str, sys.version_info[:3]))
    ours, xdsl = (installed(name) or "(not installed)" for name in (PACKAGE, "xdsl"))
    return f"{prog} {ours}, xdsl {xdsl}, Python {python}"


def run_doctor(argv: Sequence[str]) -> int:
    """Print the findings; returns the exit code."""
    doctor_parser().parse_all(argv)
    from gawee_dialect.target.host import host

    cache, problem = cache_lines()
    sections = {
        "versions": version_lines(),
        "extras": extra_lines(requires(PACKAGE) if installed(PACKAGE) else None),
        "cache": cache,
        "server": server_lines(),
        "processor": processor_lines(host()),
    }
    print("\n\n".join("\n  ".join((title, *lines)) for title, lines in sections.items()))
    return WRONG_INPUT if problem else DONE


def version_lines() -> Iterator[str]:
    """Yield the versions of the interpreter, of the packages that gawee stands on, and of LLVM."""
    from llvmlite import binding

    yield f"python {'.'.join(map(str, sys.version_info[:3]))}, {sys.executable}"
    for name in (PACKAGE, "xdsl", "numpy", "llvmlite"):
        yield f"{name} {installed(name) or '(not installed)'}"
    yield f"LLVM {'.'.join(map(str, binding.llvm_version_info))}, as part of llvmlite"


def extra_lines(requirements: Sequence[str] | None) -> Iterator[str]:
    """Yield a line for each extra; `requirements` are those of the package's metadata."""
    if requirements is None:
        yield f"unknown: {PACKAGE} is not installed as a package"
        return
    found = [
        re.search(r"""^([\w.-]+).*\bextra\s*==\s*['"]([\w-]+)""", each) for each in requirements
    ]
    pairs = sorted((each[2], each[1]) for each in found if each is not None)
    wanted = {extra: [name for _, name in group] for extra, group in groupby(pairs, lambda p: p[0])}
    for extra, serves in SERVES.items():
        names = wanted.get(extra, ())
        missing = [name for name in names if installed(name) is None]
        there = [f"{name} {installed(name)}" for name in names if name not in missing]
        if names and not missing:
            yield f"{extra:<12}{', '.join(there)}: {serves}"
        elif names:
            yield f"{extra:<12}missing {', '.join(missing)}: {serves}"


def cache_lines() -> tuple[Sequence[str], str | None]:
    """Return what there is to say of compiled code that is kept, and why it cannot be, if so."""
    from gawee_dialect.backend.cache import LIMIT, CompileCache
    from gawee_dialect.target.host import CACHE_VARIABLE

    cache = CompileCache()
    problem = cache.problem()
    count, size = cache.contents()
    usable = "usable" if problem is None else f"not usable: {problem}"
    lines = (
        f"{cache.folder}, {usable}; {CACHE_VARIABLE} names another",
        f"{count} entries, {size / MIB:.1f} MiB of at most {LIMIT // MIB} MiB",
    )
    return lines, problem


def server_lines() -> Iterator[str]:
    """Yield whether tools are started by a server, and where it listens."""
    from gawee_dialect.tools.server.command import is_listening, server_address

    address = server_address() if sys.platform == "linux" else None
    if address is not None and is_listening(address):
        yield f"listens at {address}; gawee server --stop ends it"
    else:
        yield "none; gawee server starts one, and tools then start at once"


def processor_lines(processor: Processor) -> Iterator[str]:
    """Yield the name, the vectors and the caches of this machine, and how fast they are."""
    from gawee_dialect.target.host import model_name, physical_cores

    yield f"{model_name()}; LLVM's name: {processor.cpu}"
    yield f"{physical_cores()} cores for this process"
    yield f"{processor.vector_registers} vector registers of {processor.vector_bits} bits"
    kinds = {"bytes": processor.byte_tiles, "bf16": processor.bf16_tiles}
    tiles = [name for name, has_them in kinds.items() if has_them]
    if tiles:
        yield f"products of tiles of {' and '.join(tiles)}"
    caches = (f"{each.name} {size_text(each.size)}" for each in processor.memories if each.size)
    yield f"caches: {', '.join(caches)}"
    yield processor.summary()
    if processor.measured_flops is None:
        yield "not measured on this machine: gawee run GRAPH --measure does that, once"


def size_text(size: int) -> str:
    """Return a number of bytes in KiB or MiB."""
    return f"{size / MIB:.4g} MiB" if size >= MIB else f"{size / KIB:.4g} KiB"
