"""Ops of the user's own: functions that run them, by op type."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

Executor = Callable[..., Sequence[object]]
"""Takes the inputs' tensors and the node's attributes, returns the outputs' tensors."""

AnyExecutor = TypeVar("AnyExecutor", bound=Executor)

_executors: dict[str, Executor] = {}


def register_executor(op_type: str) -> Callable[[AnyExecutor], AnyExecutor]:
    """Let the decorated function run nodes of an op type.

    It is called with the list of input tensors and the dict of attributes, and returns the list of
    output tensors. It comes before what the op would otherwise run. A name without an overload
    (`my::op`, `aten.foo`) stands for all overloads; the latest registration counts.
    """

    def register(function: AnyExecutor) -> AnyExecutor:
        _executors[_dotted(op_type)] = function
        return function

    return register


def find_executor(op_type: str) -> Executor | None:
    """Return the function registered for an op type: its full name first, then without overload."""
    name = _dotted(op_type)
    return _executors.get(name) or _executors.get(name.rpartition(".")[0])


def registered_executors() -> Mapping[str, Executor]:
    """Return every registered function by its op type."""
    return dict(_executors)


def _dotted(op_type: str) -> str:
    # `my::op` is how PyTorch's libraries spell what its graphs call `my.op`.
    return op_type.replace("::", ".")
