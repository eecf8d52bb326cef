"""Why a node cannot become ops of the dialect."""


class Refusal(Exception):
    """What is wrong with one node; raised where it is found, reported with the node's name.

    `offset` is where it is in the text, where that is nearer than the node.
    """

    def __init__(self, message: str, hint: str | None = None, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.offset = offset


class UnknownElements(Refusal):
    """A node needs the elements of a tensor when the graph is read, and they are not known then."""
