"""What a line of text says: inputs of the networks for orientation and recognition, and text."""

import numpy as np
from detection import Image, normalized
from numpy.typing import NDArray
from skimage.transform import resize

HEIGHT = 48
"""Of a line, in pixels, for both networks."""
ORIENTATION_WIDTH = 192
TURNED = 0.9
"""The probability from which a line is taken to be upside down."""


def width_of(line: Image) -> int:
    """Return how wide a line is when it is as high as the networks want it."""
    return max(1, round(HEIGHT * line.shape[1] / line.shape[0]))


def line_input(line: Image, width: int) -> Image:
    """Return a line as (1, 3, 48, width): squeezed where it is longer, zeros behind it else."""
    used = min(width, width_of(line))
    pixels = np.zeros((1, 3, HEIGHT, width), np.float32)
    shrinks = used < line.shape[1]
    pixels[..., :used] = normalized(resize(line, (HEIGHT, used), order=1, anti_aliasing=shrinks))
    return pixels


def is_upside_down(probabilities: NDArray[np.float32]) -> bool:
    """Say of a line whether it is, by the probabilities (1, 2) of both orientations."""
    return bool(probabilities[0, 1] > TURNED)


def decoded(probabilities: NDArray[np.float32], characters: str) -> tuple[str, float]:
    """Return the text of a line, and how likely it is: the mean over its characters.

    `probabilities` are (1, steps, classes). Each step says its likeliest class: 0 is none, others
    are `characters`, and a class that goes on over steps is one character (greedy decoding of
    Graves et al., "Connectionist Temporal Classification", 2006).
    """
    steps = probabilities[0]
    classes = steps.argmax(axis=1)
    begins = (classes != 0) & (classes != np.roll(classes, 1))
    begins[0] = classes[0] != 0
    if not begins.any():
        return "", 0.0
    text = "".join(characters[index - 1] for index in classes[begins])
    return text, float(steps.max(axis=1)[begins].mean())
