"""The texts of ops but for the names of their values, each made once.

Ops of one kind whose types and attributes are the same are written alike: a loop nest has thousands
of ops and some dozens of such forms. To fill in names takes a tenth of the time of printing an op.
"""

from collections.abc import Callable, Hashable, Sequence

from xdsl.ir import Attribute, Operation, SSAValue

Form = tuple[str, Sequence[int]]
"""A text with `%s` for each name, and whose name that is: of results, then operands, by number."""


class OpForms:
    """The forms that a printer met, or several printers that write in the same way."""

    def __init__(self) -> None:
        """Know none."""
        self._forms: dict[Hashable, Form] = {}
        self._texts: dict[int, str | None] = {}
        self._numbers: dict[int, int | None] = {}
        self._attributes: list[Attribute] = []  # while they live, no other has the identity of one
        self._number_of: dict[str, int] = {}

    def text(self, attribute: Attribute, write: Callable[[Attribute], str | None]) -> str | None:
        """Return the text of an attribute, written when it is first met.

        `write` returns None for one whose text is not to be kept.
        """
        identity = id(attribute)
        if identity in self._texts:
            return self._texts[identity]
        self._attributes.append(attribute)
        text = self._texts[identity] = write(attribute)
        return text

    def key(self, op: Operation, write: Callable[[Attribute], str | None]) -> Hashable | None:
        """Return what the form of an op without regions and successors depends on.

        None where the text of an attribute is not to be kept.
        """
        numbers = self._numbers
        found: list[Hashable] = [type(op)]
        attributes = [value.type for value in op.results]
        attributes += [value.type for value in op.operands]
        for named in (op.properties, op.attributes):
            found += (len(attributes), *named)
            attributes += named.values()
        for attribute in attributes:
            identity = id(attribute)
            number = numbers[identity] if identity in numbers else self._number(attribute, write)
            if number is None:
                return None
            found.append(number)
        return tuple(found)

    def _number(self, attribute: Attribute, write: Callable[[Attribute], str | None]) -> int | None:
        # Attributes that are equal may be written differently: zeros of both signs.
        text = self.text(attribute, write)
        known = self._number_of
        number = None if text is None else known.setdefault(text, len(known))
        self._numbers[id(attribute)] = number
        return number

    def get(self, key: Hashable) -> Form | None:
        """Return the form of ops with a key, None where there is none yet."""
        return self._forms.get(key)

    def learn(
        self, key: Hashable, op: Operation, text: str, names: Sequence[tuple[int, int, SSAValue]]
    ) -> None:
        """Keep the form of an op from its text: where each name begins and ends, and whose it is.

        A text of several lines depends on where it stands, and of a value that is used twice it is
        not known which use a name is of: these are not kept.
        """
        values = (*op.results, *op.operands)
        numbers = {value: number for number, value in enumerate(values)}
        if "\n" in text or len(numbers) < len(values):
            return
        parts: list[str] = []
        end = 0
        for start, next_end, _ in names:
            parts.append(text[end:start].replace("%", "%%"))
            end = next_end
        parts.append(text[end:].replace("%", "%%"))
        self._forms[key] = "%s".join(parts), tuple(numbers[value] for _, _, value in names)
