"""Where weights live: `ParameterStore` over raw files, .npz, safetensors, PyTorch, UWEF, memory."""

from gawee_dialect.parameters.binding import bind_parameters, open_archive, open_parameters
from gawee_dialect.parameters.store import MemoryStore, ParameterStore

__all__ = ["MemoryStore", "ParameterStore", "bind_parameters", "open_archive", "open_parameters"]
