"""Along which axis each value of a graph has the images of its batch.

A *batch* is any number of inputs that a network computes the same function of, one after the other
or all at once; *images* are what it consists of, be they sentences or sounds. A value has images
along one axis, in their order, each as a block of rows of that axis, or is *shared* by all of them,
as weights are.

`rules.py` says what a rule of an op is, `carry.py` has them, and those of ops that join axes.
`walk.py` goes through a function and its recurrences, and looks for shared values that were written
out for every image, such as the first state of a recurrence.
"""

from gawee_dialect.analysis.batch_axes.carry import Along
from gawee_dialect.analysis.batch_axes.walk import (
    BatchArguments,
    BatchAxes,
    Repeated,
    Size,
    batch_axes,
)

__all__ = [
    "Along",
    "BatchArguments",
    "BatchAxes",
    "Repeated",
    "Size",
    "batch_axes",
]
