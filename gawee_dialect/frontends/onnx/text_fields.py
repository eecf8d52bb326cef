"""The fields of a protobuf message that have to be text."""

from collections.abc import Iterable
from typing import Protocol, TypeGuard

STRING = 9
"""FieldDescriptor.TYPE_STRING: text, which the C++ parser of proto2 gives as bytes if it is not."""


class _Field(Protocol):
    name: str
    type: int


class Message(Protocol):
    """A protobuf message as far as its fields are walked over."""

    def ListFields(self) -> Iterable[tuple[_Field, object]]:
        """Return the fields that are set, and what they hold."""
        ...


def not_text(message: Message) -> str | None:
    """Return the name of a field that is no text though it has to be, None where there is none."""
    for field, value in message.ListFields():
        items = value if _is_list(value) else (value,)
        for each in items:
            found = not_text(each) if _is_message(each) else None
            if found is not None:
                return found
            if field.type == STRING and not isinstance(each, str):
                return field.name
    return None


def _is_message(value: object) -> TypeGuard[Message]:
    return hasattr(value, "ListFields")


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return hasattr(value, "append")
