"""All that is said of exact numbers: by NumPy's functions, and by ops that make arrays."""

from gawee_dialect.instruments.prove import arithmetic, functions, movements
from gawee_dialect.instruments.prove.buffers import ExactBuffers
from gawee_dialect.instruments.prove.from_integers import ExactFromIntegers
from gawee_dialect.instruments.prove.graph_ops import ExactGraphOps
from gawee_dialect.instruments.prove.winograd import ExactWinograd
from gawee_dialect.interpreter.functions import OpFunctions

NUMPY = (arithmetic, functions, movements)
"""Where `Numbers` are told what NumPy's functions compute of them."""

EXACT_FUNCTIONS: tuple[type[OpFunctions], ...] = (
    ExactGraphOps,
    ExactBuffers,
    ExactFromIntegers,
    ExactWinograd,
)
"""Ops that mean something else on exact numbers than on arrays of NumPy."""
