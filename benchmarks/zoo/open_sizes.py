"""Networks of the zoo as one code for all batches and extents: images of 64 to 160, or lengths.

`python -m benchmarks.zoo.open_sizes [NAME...]` prints a table. Each network is traced by
torch.export with both sizes open, with the batch alone where this is refused, compiled once, and
compared with PyTorch at five sizes that are drawn by a seed.
"""

import random
import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import Module

from benchmarks.zoo.__main__ import LIBRARIES, choose, run_zoo
from benchmarks.zoo.check import (
    TOLERANCE,
    first_line,
    own_error,
    relative_difference,
    rounding_error,
    tensors,
)
from benchmarks.zoo.language import VOCABULARY, OutputTensors
from benchmarks.zoo.libraries import import_library
from benchmarks.zoo.networks import Network, zoo
from benchmarks.zoo.weights import settle
from gawee_dialect import compile_torch

POINTS = 5
BATCHES = (1, 8)
LONGEST = 200
"""Characters of a reason."""


@dataclass
class OneCode:
    """What became of a network; `reason` says why a size is not open, or what is wrong."""

    name: str
    library: str
    stage: str = ""
    """Where it ended without any result."""
    reason: str = ""
    sizes: Sequence[str] = ()
    """Which are open."""
    points: list[Mapping[str, int]] = field(default_factory=list[Mapping[str, int]])
    difference: float = 0.0
    errors: tuple[float, float] = (0.0, 0.0)
    """From double precision where outputs are apart: ours, and PyTorch's of several roundings."""
    failure: str = ""

    @property
    def agrees(self) -> bool:
        """Whether one code computes what PyTorch does at all points, as far as that is known."""
        ours, theirs = self.errors
        is_near = self.difference <= TOLERANCE or ours <= 2 * theirs
        return not self.failure and bool(self.points) and is_near


@dataclass(frozen=True)
class Extent:
    """A second size: axes of inputs are factor * size + rest."""

    name: str
    low: int
    high: int
    example: int
    """What a network is traced with."""
    factor: int = 1
    rest: int = 0

    def of(self, number: int) -> int:
        """Return how long an axis is."""
        return self.factor * number + self.rest

    def dim(self) -> object:
        """Return the same for torch.export, which takes neither 1 * dim nor dim + 0."""
        dim = Dim(self.name, min=self.low, max=self.high)
        many = dim if self.factor == 1 else self.factor * dim
        return many + self.rest if self.rest else many


TEXT = Extent("length", 4, 40, 12)
IMAGE = Extent("side", 2, 5, 3, 32)
"""Networks halve images five times."""
LARGE = {"inception_v3": Extent("side", 4, 9, 5, 32)}
"""Of 64 pixels its windows leave nothing, of 96 one: an axis that PyTorch holds to be 1 always."""
WAVE = Extent("frames", 5, 40, 12, 320, 80)
"""wav2vec2 takes a step of 5 and six of 2, by windows that overlap."""


@dataclass(frozen=True)
class Inputs:
    """Inputs of a network at a point: a batch, and what images, texts or waves are as large as."""

    given: tuple[Tensor, ...]
    extent: Extent | None
    """The second size; None where inputs have one of them by design."""

    def at(self, point: Mapping[str, int]) -> tuple[Tensor, ...]:
        """Draw them."""
        return tuple(self._drawn(each, point) for each in self.given)

    def _drawn(self, x: Tensor, point: Mapping[str, int]) -> Tensor:
        shape, extent = [point["batch"], *x.shape[1:]], self.extent
        if extent is not None and extent.name in point:
            for axis in self._axes(x):
                shape[axis] = extent.of(point[extent.name])
        if x.is_floating_point():
            return torch.randn(shape)
        is_mask = int(x.max()) == 1
        return torch.ones(shape, dtype=x.dtype) if is_mask else torch.randint(3, VOCABULARY, shape)

    def _axes(self, x: Tensor) -> Sequence[int]:
        return (x.ndim - 2, x.ndim - 1) if x.ndim > 3 else (1,)

    def dims(self, x: Tensor, sizes: Sequence[str]) -> Mapping[int, object]:
        """Return the axes of an input that are open, as torch.export takes them."""
        low, high = BATCHES
        open_axes: dict[int, object] = {0: Dim("batch", min=low, max=high)}
        if self.extent is not None and self.extent.name in sizes:
            open_axes |= dict.fromkeys(self._axes(x), self.extent.dim())
        return open_axes


def extent_of(name: str, first: Tensor) -> Extent | None:
    """Return what of the inputs of a network is open beside the batch, by the first of them."""
    if first.ndim == 2:
        return WAVE if first.is_floating_point() else TEXT
    return LARGE.get(name, IMAGE) if first.ndim > 3 else None


def check(network: Network) -> OneCode:
    """Compile a network once, and call it at several sizes; never raises for what is refused."""
    found = OneCode(network.name, network.library)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    try:
        net, given = network.build()
        net = net.float().eval()
        settle(net, given)
        inputs = Inputs(given, extent_of(network.name, given[0]))
        found.reason = "" if inputs.extent else "inputs are of one size"
        second = [] if inputs.extent is None else [("batch", inputs.extent.name)]
        for sizes in (*second, ("batch",)):
            try:
                _compare(net, inputs, sizes, found)
            except Exception as error:
                found.failure = first_line(error)[:LONGEST]
                found.reason = found.reason or found.failure
            else:
                found.sizes, found.failure = sizes, ""
                break
    except Exception as error:  # whatever a library raises is its row
        found.failure = first_line(error)[:LONGEST]
    return found


def _compare(net: Module, inputs: Inputs, sizes: Sequence[str], found: OneCode) -> None:
    draw, extent = random.Random(found.name), inputs.extent
    ranges: dict[str, tuple[int, int]] = {"batch": BATCHES}
    middle = {"batch": 3}
    if extent is not None:
        ranges[extent.name] = extent.low, extent.high
        middle[extent.name] = extent.example
    drawn = [{name: draw.randint(*each) for name, each in ranges.items()} for _ in range(POINTS)]
    points = [{each: point[each] for each in sizes} for point in drawn]
    example = inputs.at({each: middle[each] for each in sizes})
    dims: tuple[object, ...] = tuple(inputs.dims(each, sizes) for each in inputs.given)
    if isinstance(net, OutputTensors):  # forward(*inputs)
        dims = (dims,)
    compiled = compile_torch(net, example, dynamic_shapes=dims, cache=False)
    found.difference, found.points, found.errors = 0.0, [], (0.0, 0.0)
    for point in points:
        given = inputs.at(point)
        with torch.inference_mode():
            expected = tensors(net(*given))
        made = tensors(compiled(*given))
        apart = max(relative_difference(*each) for each in zip(expected, made, strict=True))
        if apart > TOLERANCE:
            ours, theirs = own_error(deepcopy(net), given, made), rounding_error(net, given)
            if ours * found.errors[1] >= found.errors[0] * theirs:
                found.errors = ours, theirs
        found.difference = max(found.difference, apart)
        found.points.append(point)


def rows(results: Sequence[OneCode]) -> Iterator[str]:
    """Yield the lines of the table: of networks that are not one code for both sizes."""
    right = [each for each in results if each.agrees]
    both = sum(len(each.sizes) == 2 for each in right)
    yield (
        f"{len(results)} networks at {POINTS} sizes each: {both} compute what PyTorch does by one "
        f"code for both sizes, {len(right) - both} by one for all batches."
    )
    yield ""
    yield "| network | open | from PyTorch | why not both |"
    yield "|---|---|---|---|"
    for each in results:
        if not each.agrees or len(each.sizes) < 2:
            why = (each.failure or each.reason).replace("|", "\\|")
            yield f"| {each.name} | {', '.join(each.sizes)} | {each.difference:.0e} | {why} |"


def main() -> int:
    """Check networks, and print the table; return 1 where one computes something else."""
    warnings.simplefilter("ignore")
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; all networks without them")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for each")
    arguments = parser.parse_args()
    for library in LIBRARIES:
        import_library(library)
    results: list[OneCode] = []
    for each in run_zoo(choose(zoo(), arguments.names), 1, arguments.timeout, check, OneCode):
        results.append(each)
        what = each.failure or f"{', '.join(each.sizes)}: {each.difference:.0e} {each.reason}"
        print(f"{each.name}: {what}", flush=True)
    print("\n".join(("", *rows(results))))
    return int(any(each.points and not each.agrees for each in results))


if __name__ == "__main__":
    sys.exit(main())
