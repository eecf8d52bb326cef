"""What can go wrong with a graph of PyTorch, by the step that finds it; all are GaweeError."""

from gawee_dialect.diagnostics import GaweeError


class ExportError(GaweeError):
    """The model cannot be traced: weights not on the meta device, control flow on data."""


class ConversionError(GaweeError):
    """The traced graph has something that the format cannot say, such as a dynamic shape."""


class SerializationError(GaweeError):
    """A file is no graph, or a graph contradicts itself; lists every problem."""


class ExecutionError(GaweeError):
    """A graph cannot be run on what it was given."""


class WeightLoadError(GaweeError):
    """A file of weights cannot be read, or does not fit the graph."""
