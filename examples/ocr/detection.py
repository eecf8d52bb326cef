"""Where on a page text is: the input of the detection network, and boxes from its output.

Boxes come from probabilities as in Liao et al., "Real-time Scene Text Detection with
Differentiable Binarization" (2020): what is likely is cut into connected parts, each part gets the
smallest rectangle around it, and the rectangle grows, for the network is trained on shrunken ones.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation
from scipy.spatial import ConvexHull, QhullError
from skimage.measure import label, regionprops
from skimage.transform import AffineTransform, resize, warp

Image = NDArray[np.float32]
"""(height, width, 3) in 0..1, blue first."""
Box = NDArray[np.float64]
"""(4, 2): the corners as (x, y), clockwise from the first letter's top."""

LIKELY = 0.3
"""The probability from which a pixel belongs to text."""
CERTAIN = 0.5
"""The mean probability from which a part is text."""
GROWTH = 1.6
"""By how much a box grows: its area times this, over its circumference."""
SMALLEST = 3
"""The shortest side of a box, in pixels of the network's input."""


def normalized(image: Image) -> Image:
    """Return pixels as all three networks want them, (1, 3, height, width) in -1..1."""
    return np.ascontiguousarray(image.transpose(2, 0, 1)[None] * 2 - 1, np.float32)


def detection_input(image: Image, shorter: int) -> Image:
    """Return the page with its shorter side scaled, both sides multiples of 32."""
    scale = shorter / min(image.shape[:2])
    height, width = (max(32, round(side * scale / 32) * 32) for side in image.shape[:2])
    return normalized(resize(image, (height, width), order=1, anti_aliasing=scale < 1))


def text_boxes(probabilities: Image, height: int, width: int) -> list[Box]:
    """Return the boxes of text on a page of a size, in the order in which one reads.

    `probabilities` are (1, 1, h, w), for every pixel of the network's input.
    """
    likely = probabilities[0, 0]
    scale = np.array((width / likely.shape[1], height / likely.shape[0]))
    parts = label(binary_dilation(likely > LIKELY, np.ones((2, 2))), connectivity=2)
    boxes: list[Box] = []
    for part in regionprops(parts):
        rows, columns = part.coords.T
        box = smallest_rectangle(np.stack((columns, rows), axis=1))
        if likely[rows, columns].mean() >= CERTAIN and min(sides(box)) >= SMALLEST:
            boxes.append(grown(box) * scale)
    return reading_order(boxes)


def smallest_rectangle(points: NDArray[np.int64]) -> Box:
    """Return the rectangle of the smallest area around points (n, 2), one side on their hull."""
    try:
        hull = points[ConvexHull(points).vertices].astype(np.float64)
    except QhullError:  # all on one line
        hull = points.astype(np.float64)
    edges = np.roll(hull, -1, axis=0) - hull
    best, area = np.empty((4, 2)), np.inf
    for angle in np.unique(np.arctan2(edges[:, 1], edges[:, 0]) % (np.pi / 2)):
        turn = np.array(((np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))))
        (left, top), (right, bottom) = (hull @ turn).min(0), (hull @ turn).max(0)
        if (right - left) * (bottom - top) < area:
            corners = np.array(((left, top), (right, top), (right, bottom), (left, bottom)))
            best, area = corners @ turn.T, (right - left) * (bottom - top)
    return upright(best)


def upright(box: Box) -> Box:
    """Return the corners of a rectangle from the one that is leftmost and topmost."""
    return np.roll(box, -int(np.argmin(box.sum(axis=1))), axis=0)


def sides(box: Box) -> tuple[float, float]:
    """Return the width and the height of a rectangle."""
    return float(np.hypot(*(box[1] - box[0]))), float(np.hypot(*(box[3] - box[0])))


def grown(box: Box) -> Box:
    """Return the rectangle with every side moved outwards by the same distance."""
    width, height = sides(box)
    distance = width * height * GROWTH / (2 * (width + height))
    along, down = (box[1] - box[0]) / width, (box[3] - box[0]) / height
    outwards = np.array((-along - down, along - down, along + down, -along + down))
    return box + distance * outwards


def reading_order(boxes: list[Box]) -> list[Box]:
    """Return boxes line by line; those whose middles are as high are one line, left to right."""
    lines: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: box[:, 1].mean()):
        middle, height = box[:, 1].mean(), sides(box)[1]
        if lines and abs(lines[-1][-1][:, 1].mean() - middle) < height / 2:
            lines[-1].append(box)
        else:
            lines.append([box])
    return [box for line in lines for box in sorted(line, key=lambda box: box[:, 0].min())]


def cut_out(image: Image, box: Box) -> Image:
    """Return what is in a box, straightened; a box that stands is turned to lie."""
    width, height = (max(1, round(side)) for side in sides(box))
    matrix = np.eye(3)
    matrix[:2] = np.stack(((box[1] - box[0]) / width, (box[3] - box[0]) / height, box[0]), axis=1)
    line = warp(image, AffineTransform(matrix), output_shape=(height, width), order=1, mode="edge")
    return np.rot90(line) if height >= 1.5 * width else line
