"""A folder of raw data: one file a parameter, little-endian, C order, no header."""

from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.entry import EntryArgument
from gawee_dialect.dialect.types import AnyShaped, dtype_name, is_shaped, shaped_bytes
from gawee_dialect.parameters.contained_file import FileProblem, MissingFile, find_file
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    MissingParameter,
    ParameterProblem,
    ParameterStore,
)


class RawFolder(ParameterStore):
    """The files that `gawee.path` attributes name, memory-mapped.

    The files say neither shape nor dtype: those are the arguments', and a file has just the bytes
    they need.
    """

    def __init__(self, folder: Path, weights: Sequence[EntryArgument]) -> None:
        """Offer the weights of these arguments; what has no path is not in the folder."""
        self._folder = folder
        self._arguments = {each.name: each for each in weights}
        self.names = self._arguments

    def _file(self, argument: EntryArgument) -> tuple[Path, AnyShaped]:
        if argument.path is None:
            raise ParameterProblem(
                "expected a 'gawee.path', got none: only a .npz or .safetensors file can have it"
            )
        if not is_shaped(argument.type):
            raise ParameterProblem(f"expected a tensor or a buffer, got '{argument.type}'")
        try:
            return find_file(
                self._folder, argument.path, shaped_bytes(argument.type)
            ), argument.type
        except MissingFile as problem:
            raise MissingParameter(str(problem)) from problem
        except FileProblem as problem:
            raise ParameterProblem(str(problem)) from problem

    def describe(self, name: str) -> ArrayDescription:
        _, type = self._file(self._arguments[name])
        return self._described(type)

    def _described(self, type: AnyShaped) -> ArrayDescription:
        try:
            return ArrayDescription(type.get_shape(), dtype_name(type.element_type))
        except VerifyException as error:
            raise ParameterProblem(str(error)) from error

    def __getitem__(self, name: str) -> Array:
        file, type = self._file(self._arguments[name])
        description = self._described(type)
        # "=" is what buffers of native arrays say; "<f4" is another dtype to memoryview.
        little = np.dtype(description.dtype).newbyteorder("<")
        dtype = little.newbyteorder("=") if little.isnative else little
        if prod(description.shape) == 0:  # an empty file cannot be mapped
            return np.empty(description.shape, dtype)
        return np.memmap(file, dtype=dtype, mode="r", shape=description.shape)
