"""Where ops can go: into the current block, or in front of a loop that they do not depend on."""

from collections.abc import Hashable

from xdsl.ir import Block, SSAValue


class Scopes:
    """The bodies of structured ops around the current place, and what was made in each of them.

    A function's own blocks are at depth 0, the body of a structured op one deeper than the op.
    """

    def __init__(self) -> None:
        self._fronts: list[Block | None] = []
        self._made: list[dict[Hashable, SSAValue]] = [{}]
        self._depths: dict[Block, int] = {}

    @property
    def depth(self) -> int:
        """How many bodies are around the current place."""
        return len(self._fronts)

    def depth_of(self, value: SSAValue) -> int:
        """Return the depth of a value of the source."""
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        return 0 if block is None else self._depths.get(block, 0)

    def enter(self, body: Block, front: Block | None) -> None:
        """Go into a body of the source; `front` is the new block whose jump leads into a loop."""
        self._fronts.append(front)
        self._made.append({})
        self._depths[body] = len(self._fronts)

    def leave(self) -> None:
        """Go out of the innermost body."""
        self._fronts.pop()
        self._made.pop()

    def forget(self) -> None:
        """Say that what was made before does not dominate what comes next."""
        self._made[-1] = {}

    def place(self, depth: int) -> tuple[int, Block | None]:
        """Return where what needs values of a depth can go: in front of the outermost loop inside.

        The second is the block that it is the end of, None for the current place. Nothing is put in
        front of a body that may be passed over, but for a loop around that.
        """
        while depth < len(self._fronts):
            front = self._fronts[depth]
            if front is not None:
                return depth, front
            depth += 1
        return depth, None

    def find(self, key: Hashable, depth: int) -> SSAValue | None:
        """Return what was made at a depth or around it."""
        for made in self._made[depth::-1]:
            if (found := made.get(key)) is not None:
                return found
        return None

    def keep(self, key: Hashable, depth: int, value: SSAValue) -> None:
        """Say what was made at a depth."""
        self._made[depth][key] = value
