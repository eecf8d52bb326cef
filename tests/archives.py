"""Archives of arrays, whose keys may be any names."""

from collections.abc import Callable

import numpy as np

# The types of NumPy's own take each of the arrays for its option `allow_pickle` too.
savez: Callable[..., None] = np.savez
savez_compressed: Callable[..., None] = np.savez_compressed
