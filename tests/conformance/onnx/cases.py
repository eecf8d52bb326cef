"""The cases of `onnx.backend.test`, which the wheel of ONNX carries: a model and stored values each.

They are run as ONNX's own runner runs them, which loads the inputs, calls the backend, and compares
shapes, element types and numbers with its tolerance.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Protocol

from gawee_dialect.onnx_backend import ModelProto

os.environ.setdefault("ONNX_HOME", str(Path(__file__).resolve().parents[3] / "build/onnx_home"))

KINDS = ("node", "real", "simple", "pytorch-converted", "pytorch-operator")
"""The folders of cases, as the runner names them."""

RANDOM = "its numbers are random: their shape and element type are compared"
NOISE = "its stored result has 1.9e-7 of rounding in the place of 0, more than the tolerance"
SKIPPED: Mapping[str, str] = {
    **dict.fromkeys(("dft_inverse", "dft_inverse_opset19"), NOISE),
    **{
        f"bernoulli{which}{form}": RANDOM
        for which in ("", "_double", "_seed")
        for form in ("", "_expanded")
    },
    "loop16_seq_none": "ONNX's runner takes the length of an element of rank 0, whatever it is given",
}
"""Cases that no implementation can be told right or wrong by."""

REMARKS: Mapping[str, str] = {
    "squeezenet": "all 1,000 scores are 9.5e9, up to the last digit of float32, of which softmax "
    "makes one where a product of matrices rounds some of them otherwise",
}
"""What is behind a difference."""


class Backend(Protocol):
    """What the runner calls."""

    def prepare(self, model: ModelProto, device: str) -> object: ...

    def supports_device(self, device: str) -> bool: ...


@dataclass(frozen=True)
class Case:
    """One case of a kind; `real` ones are whole networks with weights of one number."""

    name: str
    kind: str
    path: Path

    @cached_property
    def model(self):
        return import_module("onnx").load(self.path, load_external_data=False)

    @property
    def op_type(self) -> str:
        """The op that the case is about, an expansion too; for a network its name."""
        if self.kind == "real":
            return self.name
        twin = self.path.parent.with_name(f"test_{self.name.partition('_expanded')[0]}")
        if self.is_expansion and twin.exists():
            return Case(twin.name, self.kind, twin / "model.onnx").op_type
        node = self.model.graph.node[-1]
        return f"{node.domain}.{node.op_type}".removeprefix(".").removeprefix("ai.onnx.")

    @property
    def opset(self) -> int:
        """The version of ONNX's own op set."""
        versions = {each.domain: each.version for each in self.model.opset_import}
        return versions.get("", versions.get("ai.onnx", 0))

    @property
    def is_expansion(self) -> bool:
        """Whether it is another case, whose op is written in other ops."""
        return "_expanded" in self.name

    @property
    def skip_reason(self) -> str:
        """Why it decides nothing; empty for all others."""
        return SKIPPED.get(self.name, "")

    def run(self, backend: Backend) -> None:
        """Run it by ONNX's runner, with a backend; raises what the backend and the runner raise."""
        _CALLED.backend = backend
        _test_functions()[self.name](None)


class _Called:
    """A backend that calls another one: the runner has one for all its cases."""

    backend: Backend

    def prepare(self, model: ModelProto, device: str) -> object:
        return self.backend.prepare(model, device)

    def supports_device(self, device: str) -> bool:
        return device == "CPU"


_CALLED = _Called()


@cache
def _test_functions() -> Mapping[str, Callable[[None], None]]:
    runner = import_module("onnx.backend.test.runner").Runner(_CALLED, __name__)
    return {
        name.removeprefix("test_").removesuffix("_cpu"): item.func
        for items in runner._test_items.values()
        for name, item in items.items()
        if name.endswith("_cpu")
    }


@cache
def all_cases() -> list[Case]:
    """Return every case of the installed wheel: 1,914 of ONNX 1.22."""
    return sorted(_found(), key=lambda case: case.name)


def _found() -> Iterator[Case]:
    import onnx

    data = Path(onnx.__file__).parent / "backend/test/data"
    load: Callable[..., list] = import_module("onnx.backend.test.loader").load_model_tests
    for kind in KINDS:
        for case in load(kind=kind):
            name = case.name.removeprefix("test_")
            if case.model_dir is not None:
                yield Case(name, kind, Path(case.model_dir) / "model.onnx")
            else:
                yield Case(name, kind, data / "light" / Path(case.url).name)
