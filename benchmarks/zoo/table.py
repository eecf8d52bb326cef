"""The results of the zoo as a page of the documentation."""

import math
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.metadata import version

from benchmarks.targets import processor_and_target
from benchmarks.zoo.check import Result

HEAD = """# The zoo: published networks, from PyTorch to native code

{passed} of {total} networks pass: what native code computes is within 1e-3 of PyTorch's output, relative to the range of that
output. {wrong} computes something else; {failed} are refused or fail before they run, with a reason that is listed.

Each network has random weights, and normalisations that saw random inputs, so that all branches matter; a network whose output does
not move with its input is not counted as passed. Inputs are small: images of 32 to 256 pixels, sequences of 16 tokens. Each is
extracted from PyTorch, saved as JSON, loaded, imported, compiled with the default (fast) algorithms, and run in a process of its
own.

*compile s* are seconds of one processor. *ms* and *eager ms* are the shortest calls, by native code and by PyTorch's eager mode, on one
thread each; *speed* is the one over the other: 2.0 is twice as fast. They are indicative: other work ran on the machine.{peers}

{date}, {processor}. Versions: {versions}.

`python -m benchmarks.zoo` writes this page, with `--peers onnxruntime inductor` with those; `pytest -m zoo` runs the same checks.
"""

PEERS = """
So are the shortest calls of ONNX Runtime (on what `torch.onnx.export` makes of the network) and of `torch.compile` with freezing; a dash
is where the exporter or the engine refuses. *speed* compares with the fastest of them: native code is ahead in {ahead} of {measured} networks."""


def _row(result: Result, peers: Sequence[str]) -> str:
    cells = [result.name, result.nodes, result.ops, f"{result.difference:.1e}"]
    cells += [f"{result.compile_seconds:.0f}", f"{result.ms:.3g}", f"{result.eager_ms:.3g}"]
    for name in peers:
        ms = result.peers_ms.get(name, math.nan)
        cells.append(f"{ms:.3g}" if math.isfinite(ms) else "-")
    return f"| {' | '.join(map(str, cells))} | {speed(result):.2f} |"


def speed(result: Result) -> float:
    """Return how many times as fast as the fastest other engine native code is."""
    others = (result.eager_ms, *result.peers_ms.values())
    return min(each for each in others if math.isfinite(each)) / result.ms


def _passed(results: Iterable[Result], peers: Sequence[str]) -> list[str]:
    engines = [f"{name} ms" for name in ("eager", *peers)]
    heads = ["model", "nodes", "distinct ops", "max difference", "compile s", "ms", *engines]
    lines = [f"| {' | '.join(heads)} | speed |", "|---" * (len(heads) + 1) + "|"]
    return lines + [_row(each, peers) for each in results]


def _failed(results: Iterable[Result]) -> list[str]:
    lines = ["| model | library | stage | reason |", "|---|---|---|---|"]
    for each in results:
        reason = each.reason.replace("|", "\\|")
        lines.append(f"| {each.name} | {each.library} | {each.stage} | {reason} |")
    return lines


def page(results: Sequence[Result]) -> str:
    """Return the page: networks that pass by library, then those that do not and why."""
    passed = [each for each in results if each.verdict == "passed"]
    others = [each for each in results if each.verdict != "passed"]
    wrong = sum(each.verdict == "wrong" for each in others)
    peers = list(dict.fromkeys(name for each in passed for name in each.peers_ms))
    packages = ["torch", "torchvision", "timm", "transformers"]
    packages += [name for name in peers if name == "onnxruntime"]
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    ahead = sum(speed(each) >= 1 for each in passed)
    head = HEAD.format(
        passed=len(passed),
        total=len(results),
        wrong=wrong or "None",
        failed=len(others) - wrong,
        date=date.today(),
        processor=processor_and_target(peers),
        versions=versions,
        peers=PEERS.format(ahead=ahead, measured=len(passed)) if peers else "",
    )
    lines = [head]
    for library in dict.fromkeys(each.library for each in passed):
        lines += [f"## {library}", ""]
        lines += [*_passed((each for each in passed if each.library == library), peers), ""]
    if others:
        lines += ["## What does not pass", "", *_failed(others), ""]
    return "\n".join(lines).rstrip() + "\n"
