"""How long gawee-lsp takes to answer, on a module of 3,000 nodes.

    python -m benchmarks.language_server [NODES]

The client is pygls's own. A request is timed from before it is sent until its answer is read: at
rest, where the text was read before, and while the server reads the version that was typed last.
"""

import asyncio
import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from pathlib import Path
from statistics import median
from time import perf_counter

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from gawee_dialect.target.host import model_name

TIMES = 20
"""How often each request is made."""

Ask = Callable[[], Awaitable[object]]


def module_text(nodes: int) -> str:
    """Return a chain of residual blocks, three nodes each, that share their weights."""
    image, kernel = "tensor<1x8x9x9xf32>", "tensor<8x8x3x3xf32>"
    lines = [
        f'func.func @main(%x: {image} {{gawee.input = "x"}}, %w: {kernel} '
        f'{{gawee.parameter = "w"}}) -> ({image} {{gawee.output = "y"}}) {{'
    ]
    last = "%x"
    for number in range(nodes // 3):
        lines += [
            f"  %c{number} = gawee.conv {last}, %w strides [1, 1] padding [1, 1, 1, 1] "
            f"dilations [1, 1] groups 1 : ({image}, {kernel}) -> {image}",
            f"  %r{number} = gawee.relu %c{number} : ({image}) -> {image}",
            f"  %a{number} = gawee.add %r{number}, {last} : ({image}, {image}) -> {image}",
        ]
        last = f"%a{number}"
    return "\n".join((*lines, f"  func.return {last} : {image}", "}", ""))


class Session:
    """One text that is edited in its middle."""

    def __init__(self, client: LanguageClient, path: Path, text: str):
        self.client, self.text, self.uri, self.version = client, text, path.as_uri(), 1
        self.id = types.TextDocumentIdentifier(self.uri)
        self.line = len(text.splitlines()) // 2 // 3 * 3 + 1  # a convolution
        self.published = asyncio.Event()
        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda _: self.published.set())

    def open(self) -> None:
        """Open the text."""
        item = types.TextDocumentItem(self.uri, "mlir", 1, self.text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(self, text: str) -> None:
        """Type at the end of the line in the middle."""
        here = types.Position(self.line, len(self.text.splitlines()[self.line]))
        change = types.TextDocumentContentChangePartial(types.Range(here, here), text)
        self.version += 1
        versioned = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        parameters = types.DidChangeTextDocumentParams(versioned, [change])
        self.client.text_document_did_change(parameters)

    def requests(self) -> Mapping[str, Ask]:
        """Return what an editor asks, by name."""
        client, line = self.client, self.text.splitlines()[self.line]

        def at(word: str) -> types.Position:
            return types.Position(self.line, line.index(word) + 1)

        every = types.ReferenceContext(include_declaration=True)
        return {
            "hover, of an op": lambda: client.text_document_hover_async(
                types.HoverParams(self.id, at("gawee.conv"))
            ),
            "hover, of a value": lambda: client.text_document_hover_async(
                types.HoverParams(self.id, at("%c"))
            ),
            "completion, of ops": lambda: client.text_document_completion_async(
                types.CompletionParams(self.id, types.Position(self.line, line.index("conv")))
            ),
            "completion, of values": lambda: client.text_document_completion_async(
                types.CompletionParams(self.id, at("%a"))
            ),
            "definition": lambda: client.text_document_definition_async(
                types.DefinitionParams(self.id, at("%a"))
            ),
            "references, of a value used by a third of all nodes": lambda: (
                client.text_document_references_async(
                    types.ReferenceParams(every, self.id, at("%w"))
                )
            ),
            "rename, of such a value": lambda: client.text_document_rename_async(
                types.RenameParams(position=at("%w"), new_name="weight", text_document=self.id)
            ),
            "folding": lambda: client.text_document_folding_range_async(
                types.FoldingRangeParams(self.id)
            ),
        }


async def timed(ask: Ask) -> float:
    """Return how long an answer took, in ms; it has to say something."""
    start = perf_counter()
    answer = await ask()
    assert answer, "the server had no answer"
    return 1e3 * (perf_counter() - start)


async def measure(nodes: int) -> None:
    """Print a table of times."""
    client = LanguageClient("benchmark", "1")
    await client.start_io(sys.executable, "-m", "gawee_dialect.tools.gawee_lsp")
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    with tempfile.TemporaryDirectory() as folder:
        session = Session(client, Path(folder) / "module.mlir", module_text(nodes))
        start = perf_counter()
        session.open()
        await session.published.wait()
        load = f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors"
        print(f"{model_name()}, {date.today()}, {load}; {nodes} nodes\n")
        print(f"opened and checked in {perf_counter() - start:.2f} s\n")
        rest = {
            name: [await timed(ask) for _ in range(TIMES)]
            for name, ask in session.requests().items()
        }
        reading: dict[str, list[float]] = {}
        for name, ask in session.requests().items():
            session.type(" ")
            await asyncio.sleep(0.3)
            reading[name] = [await timed(ask) for _ in range(TIMES // 2)]
        session.published.clear()
        start = perf_counter()
        session.type(" ")
        await session.published.wait()
        print(
            "| request | at rest: median, longest (ms) | while a version is read |\n|---|---|---|"
        )
        for name, times in rest.items():
            busy = f"{median(reading[name]):.0f}, {max(reading[name]):.0f}"
            print(f"| {name} | {median(times):.0f}, {max(times):.0f} | {busy} |")
        print(f"\nfrom a key to the errors of the new version: {perf_counter() - start:.2f} s")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m benchmarks.language_server", description=__doc__)
    parser.add_argument("nodes", nargs="?", type=int, default=3000, help="of the module")
    asyncio.run(measure(parser.parse_args().nodes))
