"""Tokens that are guessed ahead, from the text so far: all of them are verified in one step."""

from collections.abc import Sequence

LONGEST = 3
"""Tokens that are looked up, at most: then fewer of them."""


class PromptLookup:
    """Guesses that the last tokens go on as they did where they were before.

    https://github.com/apoorvumang/prompt-lookup-decoding
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens = list[int]()
        self._behind = dict[Sequence[int], int]()
        """Where the token is that came behind some others, the last time."""
        self.add(tokens)

    def add(self, tokens: Sequence[int]) -> None:
        """Take the tokens that come next."""
        for token in tokens:
            for count in range(1, min(LONGEST, len(self.tokens)) + 1):
                self._behind[tuple(self.tokens[-count:])] = len(self.tokens)
            self.tokens.append(token)

    def guess(self, most: int) -> Sequence[int]:
        """Return up to `most` tokens that may come next."""
        for count in range(min(LONGEST, len(self.tokens)), 0, -1):
            place = self._behind.get(tuple(self.tokens[-count:]))
            if place is not None:
                return self.tokens[place : place + most]
        return []
