"""Tensors of PyTorch as NumPy arrays and back: no element is copied."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import bf16
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.types import dtype_name
from gawee_dialect.frontends.npu_ir.pytorch import Tensor, is_tensor, resolved, torch, torch_name
from gawee_dialect.python_numbers import is_array

Array = NDArray[np.generic]

_from_dlpack: Callable[[object], Array] = getattr(np, "from_dlpack")


def array_of_tensor(tensor: Tensor, what: str = "tensor") -> Array:
    """Return a tensor's memory as an array; what is elsewhere, or negated there, is copied.

    Raises GaweeError for a tensor without data, one that has no strides, as a sparse one, and for
    bfloat16 where ml_dtypes is not installed.
    """
    if type(tensor) is torch().Tensor and not tensor.requires_grad:
        try:
            return tensor.numpy()  # a tenth of what DLPack takes
        except (RuntimeError, TypeError):
            pass  # elsewhere, of a type that NumPy lacks, or PyTorch was built for another NumPy
    plain = tensor.detach()
    if str(plain.device) == "meta":
        raise GaweeError(f"expected {what} to have data, got a tensor on the meta device")
    plain = plain if str(plain.device) == "cpu" else plain.cpu()
    plain = resolved(plain)  # DLPack has no sign beside the memory
    if torch_name(plain.dtype) != "bfloat16":
        try:
            return _from_dlpack(plain)
        except BufferError as error:
            hint = "x.to_dense(), or x.dequantize(), is one that has"
            message = f"expected {what} to have strides and plain numbers: {error}"
            raise GaweeError(Diagnostic(message, hint=hint)) from error
    bits: Tensor = getattr(plain, "view")(torch().int16)
    return _from_dlpack(bits).view(_bfloat16(what))


def _bfloat16(what: str) -> np.dtype[np.generic]:
    try:
        return np.dtype(dtype_name(bf16))
    except VerifyException as error:
        raise GaweeError(
            Diagnostic(
                f"unsupported dtype bfloat16 of {what}: NumPy has it from ml_dtypes, which is "
                "not installed",
                hint="pip install 'gawee-dialect[bf16]', or model.float() makes all weights "
                "float32",
            )
        ) from error


def tensor_of_array(array: Array) -> Tensor:
    """Return an array's memory as a tensor; an array that cannot be written to is copied."""
    writeable = array if array.flags.writeable else array.copy()
    if array.dtype.name == "bfloat16":
        return getattr(tensor_of_array(writeable.view(np.int16)), "view")(torch().bfloat16)
    try:
        tensor: Tensor = torch().from_numpy(writeable)
    except (RuntimeError, TypeError):  # as above
        tensor = torch().from_dlpack(writeable)
    return tensor


def leaves(inputs: object) -> list[object]:
    """Return the tensors, numbers and other values in lists, tuples and dicts, in order."""
    found: list[object] = torch().utils._pytree.tree_leaves(inputs)
    return found


def as_array(value: object, what: str = "value") -> Array:
    """Return a tensor or an array as an array; raises GaweeError for anything else."""
    if is_array(value):
        return value
    if is_tensor_if_loaded(value):
        return array_of_tensor(value, what)
    raise GaweeError(f"expected {what} to be an array or a tensor, got {type(value).__name__}")


def as_tensor(value: object) -> Tensor:
    """Return an array or a tensor as a tensor."""
    if is_array(value):
        return tensor_of_array(value)
    assert is_tensor(value)
    return value


def is_tensor_if_loaded(value: object) -> TypeGuard[Tensor]:
    """Whether a value is a tensor; PyTorch is not imported to find out."""
    return type(value).__module__.partition(".")[0] == "torch" and is_tensor(value)


def tensors_as_arrays(values: Mapping[str, object]) -> Mapping[str, Array]:
    """Return a mapping whose tensors are seen as arrays on demand."""
    return _ArrayView(values)


class _ArrayView(Mapping[str, Array]):
    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Array:
        return as_array(self._values[name], f"'{name}'")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
