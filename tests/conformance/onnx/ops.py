"""python -m tests.conformance.onnx.ops: where each op of ONNX runs, as a page of the docs."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
from onnx.defs import OpSchema, get_all_schemas_with_history

from gawee_dialect.frontends.onnx.importer import OF_GRAPHS
from gawee_dialect.frontends.onnx.registry import find_mapping
from gawee_dialect.onnx_backend.graph_runner import CONTROL_FLOW
from gawee_dialect.onnx_backend.host_ops import host_ops

PAGE = Path(__file__).resolve().parents[3] / "docs" / "onnx_ops.md"

HEAD = """# Ops of ONNX

Made by `python -m tests.conformance.onnx.ops`: every op of all domains of ONNX {version}, each of its
{versions} versions, and where it runs.

| place | versions | what that is |
|---|---|---|
{counts}
"""

PLACES = {
    "compiled": "becomes ops of the dialect, which every level runs",
    "read": "computed when the graph is read, or written out then",
    "function": "the nodes that ONNX defines it by take its place",
    "host": "by the backend alone, in NumPy: text, sequences, maps, random numbers, sizes that are data",
    "nowhere": "refused",
}

KNOWN = ("Constant", "Shape", "Size")
"""Ops whose results are known when the graph is read."""


def full_name(schema: OpSchema) -> str:
    """Return the name of an op with its domain, where that is not the default one."""
    return f"{schema.domain}.{schema.name}" if schema.domain else schema.name


def place_of(schema: OpSchema) -> str:
    """Return where a version of an op runs: a key of `PLACES`."""
    name = full_name(schema)
    if find_mapping(name, schema.since_version) is not None:
        return "compiled"
    if name in KNOWN or name in OF_GRAPHS:
        return "read"
    if name in host_ops() or name in CONTROL_FLOW:
        return "host"
    if any(getattr(schema, f"has_{kind}") for kind in ("function", "context_dependent_function")):
        return "function"
    return "nowhere"


def places() -> Mapping[str, Mapping[int, str]]:
    """Return where each version of each op runs, by name and by the opset that it came with."""
    found: dict[str, dict[int, str]] = {}
    for schema in sorted(get_all_schemas_with_history(), key=lambda each: each.since_version):
        found.setdefault(full_name(schema), {})[schema.since_version] = place_of(schema)
    return dict(sorted(found.items(), key=lambda pair: ("." in pair[0], pair[0])))


def _rows(ops: Mapping[str, Mapping[int, str]]) -> Iterator[str]:
    yield "| op | since opset | where |"
    yield "|---|---|---|"
    for name, versions in ops.items():
        where = list(dict.fromkeys(versions.values()))
        yield f"| {name} | {', '.join(map(str, versions))} | {', '.join(where)} |"


def page() -> str:
    """Return the page."""
    ops = places()
    every = [place for versions in ops.values() for place in versions.values()]
    counts = "\n".join(
        f"| {place} | {every.count(place)} | {what} |" for place, what in PLACES.items()
    )
    head = HEAD.format(version=onnx.__version__, versions=len(every), counts=counts)
    return head + "\n" + "\n".join(_rows(ops)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    sys.exit(0)
