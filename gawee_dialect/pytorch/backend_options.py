"""What `torch.compile(model, backend="gawee", options={...})` may say."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from traceback import walk_stack

import gawee_dialect
from gawee_dialect.diagnostics import Diagnostic, GaweeError, nearest
from gawee_dialect.frontends.npu_ir.pytorch import library_folder


@dataclass(frozen=True)
class BackendOptions:
    """How graphs are compiled that TorchDynamo found."""

    background: bool = False
    """Whether PyTorch runs a graph, as it is, until the code for its shapes is ready."""
    fallback: bool = True
    """Whether PyTorch runs what is not supported; otherwise that is an error."""

    @staticmethod
    def of(given: Mapping[str, object] | None) -> "BackendOptions":
        """Return what a user gave; raises GaweeError that lists all that is not right."""
        given = given or {}
        known = [field.name for field in fields(BackendOptions)]
        problems = [
            Diagnostic(
                f"unknown option '{name}' of backend 'gawee'; expected: {', '.join(known)}",
                _place_of_call(),
                hint=nearest(name, known),
            )
            for name in given
            if name not in known
        ]
        for name in known:
            value = given.get(name, False)
            if not isinstance(value, bool):
                message = f"expected option '{name}' to be True or False, got {value!r}"
                problems.append(Diagnostic(message, _place_of_call()))
        if problems:
            raise GaweeError(problems)
        return BackendOptions(**{name: value is True for name, value in given.items()})


def _place_of_call() -> str | None:
    """Return the line of the user's that calls what PyTorch is compiling."""
    ours = (library_folder(), str(Path(gawee_dialect.__file__).parent), "<")
    for frame, line in walk_stack(None):
        if not frame.f_code.co_filename.startswith(ours):
            return f"{frame.f_code.co_filename}:{line}"
    return None
