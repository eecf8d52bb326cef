"""The arrays that a run starts from: .npy and .npz files, pictures, or seeded random numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import ArgumentKind, EntryArgument
from gawee_dialect.dialect.types import dtype_name, install_hint, is_shaped, shape_text
from gawee_dialect.parameters.archives import read_npy, read_npz
from gawee_dialect.parameters.data_files import MAX_TENSOR_BYTES
from gawee_dialect.parameters.given_inputs import fitted, random_array

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")

AnyArray = NDArray[np.generic]


@dataclass(frozen=True)
class PictureScale:
    """How pixels become numbers: (pixel / 255 - mean) / std, channel by channel."""

    mean: Sequence[float] = (0.0,)
    std: Sequence[float] = (1.0,)


@dataclass(frozen=True)
class InputSpec:
    """What an input must be: its name, shape and NumPy dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    is_updated: bool = False
    """Whether it is a buffer that the run also writes: it starts as zeros without an array."""

    @staticmethod
    def of(argument: EntryArgument) -> "InputSpec":
        """Describe an entry argument: a tensor, a buffer or a number; raises GaweeError."""
        type = argument.type
        element, shape = (type.element_type, type.get_shape()) if is_shaped(type) else (type, ())
        try:
            dtype = np.dtype(dtype_name(element))
        except VerifyException as error:
            message = f"{argument.kind} '{argument.name}': {error}"
            raise GaweeError(Diagnostic(message, hint=install_hint(element))) from error
        if prod(shape) * dtype.itemsize > MAX_TENSOR_BYTES:
            raise GaweeError(
                f"expected {argument.kind} '{argument.name}' of at most {MAX_TENSOR_BYTES} bytes, "
                f"got shape {shape_text(shape)}"
            )
        return InputSpec(argument.name, shape, dtype, argument.kind is ArgumentKind.UPDATED)

    def check(self, array: AnyArray, source: str) -> AnyArray:
        """Return the array in this dtype; raises GaweeError for another shape or kind."""
        return fitted(f"input '{self.name}'", array, self.shape, self.dtype, f" from '{source}'")


def read_inputs(
    specs: Sequence[InputSpec],
    given: Sequence[str],
    archive: str | None,
    seed: int,
    scale: PictureScale,
) -> dict[str, AnyArray]:
    """Return every input's array, in the order of the function's arguments.

    `given` are texts `name=source`, or a source alone where there is one input; `archive` is an
    .npz. An input that neither names is random, zeros where the run updates it. Raises GaweeError
    for a name that is no input, for a file that cannot be read, and for a wrong shape or dtype.
    """
    names = [spec.name for spec in specs]
    sources = dict(_split(text, names) for text in given)
    stored: Mapping[str, AnyArray] = {} if archive is None else read_npz(archive)
    twice = [name for name in sources if name in stored]
    if twice:
        raise GaweeError(f"expected input '{twice[0]}' once, got it by --input and in '{archive}'")
    unknown = [name for name in (*sources, *stored) if name not in names]
    if unknown:
        raise GaweeError(
            Diagnostic(
                f"unknown input '{unknown[0]}'", hint=f"inputs of the graph: {', '.join(names)}"
            )
        )
    generator = np.random.default_rng(seed)
    arrays: dict[str, AnyArray] = {}
    for spec in specs:
        if spec.name in stored:
            arrays[spec.name] = spec.check(stored[spec.name], str(archive))
        elif spec.is_updated and spec.name not in sources:
            arrays[spec.name] = np.zeros(spec.shape, spec.dtype)
        else:
            arrays[spec.name] = _read(spec, sources.get(spec.name, "random"), generator, scale)
    return arrays


def given_shapes(
    arguments: Sequence[EntryArgument], given: Sequence[str], archive: str | None
) -> Mapping[str, Sequence[int]]:
    """Return the shapes of inputs that are in files of arrays, by name; as for `read_inputs`."""
    names = [each.name for each in arguments]
    sources = dict(_split(text, names) for text in given)
    stored: Mapping[str, AnyArray] = {} if archive is None else read_npz(archive)
    arrays = {name: read_npy(source) for name, source in sources.items() if _is_npy(source)}
    return {name: array.shape for name, array in (arrays | dict(stored)).items()}


def _is_npy(source: str) -> bool:
    return Path(source).suffix.lower() == ".npy"


def _split(text: str, names: Sequence[str]) -> tuple[str, str]:
    name, equals, source = text.partition("=")
    if equals:
        return name, source
    if len(names) == 1:
        return names[0], text
    raise GaweeError(f"expected --input name=source where there are {len(names)} inputs")


def _read(
    spec: InputSpec, source: str, generator: np.random.Generator, scale: PictureScale
) -> AnyArray:
    if source == "random":
        return random_array(spec.shape, spec.dtype, generator)
    suffix = Path(source).suffix.lower()
    if suffix == ".npy":
        return spec.check(read_npy(source), source)
    if suffix in PICTURES:
        return read_picture(spec, source, scale)
    raise GaweeError(
        f"unsupported input '{source}' for '{spec.name}'; "
        f"supported: random, .npy, {', '.join(PICTURES)}"
    )


def read_picture(spec: InputSpec, path: str, scale: PictureScale) -> AnyArray:
    """Return a picture, resized, as an array of shape (1, 1 or 3, height, width).

    Raises GaweeError where the input has another shape, or Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise GaweeError(
            Diagnostic(
                f"cannot read '{path}': pictures need Pillow",
                hint="pip install 'gawee-dialect[image]'",
            )
        ) from error
    if len(spec.shape) != 4 or spec.shape[0] != 1 or spec.shape[1] not in (1, 3):
        raise GaweeError(
            f"expected input '{spec.name}' of shape 1x1xHxW or 1x3xHxW for a picture, "
            f"got {shape_text(spec.shape)}"
        )
    _, channels, height, width = spec.shape
    try:
        with Image.open(path) as picture:
            converted = picture.convert("L" if channels == 1 else "RGB")
    except Exception as error:  # damage takes all forms: SyntaxError, ValueError, ...
        raise GaweeError(f"cannot read '{path}': {error}") from error
    pixels = np.asarray(converted.resize((width, height), Image.Resampling.BILINEAR))
    planes = pixels.reshape(height, width, channels).transpose(2, 0, 1) / 255.0
    mean, std = (np.reshape(values, (-1, 1, 1)) for values in (scale.mean, scale.std))
    return np.ascontiguousarray(((planes - mean) / std)[None], spec.dtype)


def input_specs(arguments: Sequence[EntryArgument]) -> list[InputSpec]:
    """Describe what arguments must be given."""
    return [InputSpec.of(argument) for argument in arguments]
