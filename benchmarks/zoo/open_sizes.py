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
from benchmarks.zoo.check import TOLERANCE, first_line, own_error, relative_difference, tensors
from benchmarks.zoo.language import VOCABULARY, OutputTensors
from benchmarks.zoo.libraries import import_library
from benchmarks.zoo.networks import Network, zoo
from benchmarks.zoo.weights import settle
from gawee_dialect import compile_torch

POINTS = 5
BATCHES, LENGTHS, SIDES = (1, 8), (4, 40), (2, 5)
STEP = 32
"""What images have a multiple of on each side: networks halve them five times."""
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
    own_error: float = 0.0
    """How far PyTorch's outputs are from double precision, where ours are beyond the tolerance."""
    failure: str = ""

    @property
    def agrees(self) -> bool:
        """Whether one code computes what PyTorch does at all points, as far as that is known."""
        known = max(TOLERANCE, 2 * self.own_error)
        return not self.failure and bool(self.points) and self.difference <= known


@dataclass(frozen=True)
class Inputs:
    """Inputs of a network at a point: a batch, and the extent of images or the length of texts."""

    given: tuple[Tensor, ...]

    @property
    def extent(self) -> tuple[str, tuple[int, int]]:
        """The name of the second size, and its range."""
        return ("length", LENGTHS) if self.given[0].ndim == 2 else ("side", SIDES)

    def at(self, point: Mapping[str, int]) -> tuple[Tensor, ...]:
        """Draw them."""
        return tuple(self._drawn(each, point) for each in self.given)

    def _drawn(self, x: Tensor, point: Mapping[str, int]) -> Tensor:
        if x.ndim == 2:
            shape = (point["batch"], point.get("length", x.shape[1]))
            is_mask = int(x.max()) == 1
            return (
                torch.ones(shape, dtype=x.dtype) if is_mask else torch.randint(3, VOCABULARY, shape)
            )
        side = STEP * point["side"] if "side" in point else x.shape[-1]
        return torch.randn(point["batch"], *x.shape[1:-2], side, side)

    def dims(self, sizes: Sequence[str]) -> Mapping[int, object]:
        """Return the axes of an input that are open, as torch.export takes them."""
        low, high = BATCHES
        open_axes: dict[int, object] = {0: Dim("batch", min=low, max=high)}
        if len(sizes) == 1:
            return open_axes
        name, (low, high) = self.extent
        extent = Dim(name, min=low, max=high)
        axes = (1,) if name == "length" else (self.given[0].ndim - 2, self.given[0].ndim - 1)
        return open_axes | {axis: extent if name == "length" else STEP * extent for axis in axes}


def check(network: Network) -> OneCode:
    """Compile a network once, and call it at several sizes; never raises for what is refused."""
    found = OneCode(network.name, network.library)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    try:
        net, given = network.build()
        net = net.float().eval()
        settle(net, given)
        inputs = Inputs(given)
        for sizes in (("batch", inputs.extent[0]), ("batch",)):
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
    name, (low, high) = inputs.extent
    draw = random.Random(found.name)
    drawn = [
        {"batch": draw.randint(*BATCHES), name: draw.randint(low, high)} for _ in range(POINTS)
    ]
    points = [{each: point[each] for each in sizes} for point in drawn]
    middle = {"batch": 3, name: 3 if name == "side" else 12}
    example = inputs.at({each: middle[each] for each in sizes})
    dims: tuple[object, ...] = (inputs.dims(sizes),) * len(inputs.given)
    if isinstance(net, OutputTensors):  # forward(*inputs)
        dims = (dims,)
    compiled = compile_torch(net, example, dynamic_shapes=dims, cache=False)
    found.difference, found.points = 0.0, []
    for point in points:
        given = inputs.at(point)
        with torch.inference_mode():
            expected = tensors(net(*given))
        made = tensors(compiled(*given))
        apart = max(relative_difference(*each) for each in zip(expected, made, strict=True))
        if apart > TOLERANCE:
            found.own_error = max(found.own_error, own_error(deepcopy(net), given, expected))
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
