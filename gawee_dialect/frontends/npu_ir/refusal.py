"""Why a node cannot become ops of the dialect."""


class Refusal(Exception):
    """What is wrong with one node; raised by whoever finds out, reported with the node's name."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
