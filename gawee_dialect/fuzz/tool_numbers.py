"""Random programs of numbers for other tools: blocks and branches, wide integers, affine maps."""

from collections.abc import Sequence
from typing import ClassVar

from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.tool_programs import OF_INTEGERS, PREDICATES, Program

OF_BLOCKS = ("i32", "i64", "i8", "index", "i1", "i6")


class BlockProgram(Program):
    """Blocks that take numbers, and branches to later ones, of which some are never taken."""

    what: ClassVar[str] = "of blocks"

    def text(self) -> str:
        arguments = self.takes(OF_BLOCKS[:5])
        self._numbers(4)
        blocks = [self._types() for _ in range(self.draw.integer(2, 7))]
        results = [self.draw.one_of(("i32", "i64")) for _ in range(self.draw.integer(1, 2))]
        everywhere = {type: [*names] for type, names in self.scope.items()}
        self._branch(blocks, 0)
        for number, types in enumerate(blocks):
            self.scope = {type: [*names] for type, names in everywhere.items()}
            given = [(self.name(), type) for type in types]
            for name, type in given:
                self.scope.setdefault(type, []).append(name)
            taken = ", ".join(f"{name}: {type}" for name, type in given)
            self.lines.append(f"^b{number}({taken}):" if given else f"^b{number}:")
            self._numbers(3)
            if number + 1 < len(blocks):
                self._branch(blocks, number + 1)
        names = ", ".join([self.any(type) for type in results])
        types = ", ".join(results)
        head = f"func.func @main({', '.join(arguments)}) -> ({types}) {{"
        return "\n".join((head, *self.lines, f"  return {names} : {types}", "}", ""))

    def _types(self) -> list[str]:
        return [self.draw.one_of(OF_BLOCKS) for _ in range(self.draw.integer(0, 3))]

    def _numbers(self, most: int) -> None:
        for _ in range(self.draw.integer(0, most)):
            self.number(self.draw.one_of(OF_BLOCKS))

    def _branch(self, blocks: Sequence[Sequence[str]], first: int) -> None:
        """Leave a block for one of those from `first` on."""

        def there() -> str:
            number = min(len(blocks) - 1, first + self.draw.integer(0, 2))
            types = blocks[number]
            given = f"({', '.join(map(self.any, types))} : {', '.join(types)})" if types else ""
            return f"^b{number}{given}"

        if self.draw.chance(0.4):
            return self.write(f"cf.br {there()}")
        known = self.draw.chance(0.4)
        flag = self.constant("i1") if known else self.flag()
        one, other = there(), there()
        return self.write(f"cf.cond_br {flag}, {one}, {other}")


class WideProgram(Program):
    """Arithmetic of 64 bits in a function that takes and returns 32, for passes that split it."""

    what: ClassVar[str] = "of integers"

    def text(self) -> str:
        arguments = self.takes(("i32", "i32", "i8", "i1"))

        def body() -> Sequence[tuple[str, str]]:
            for _ in range(2):
                self._extended()
            for _ in range(self.draw.integer(3, 10)):
                self._wide()
            return [(self._cut(name), "i32") for name in self.scope["i64"][-3:]]

        return self.function(arguments, body)

    def _extended(self) -> str:
        type = self.draw.one_of(("i32", "i32", "i8", "i1"))
        op = self.draw.one_of(("extsi", "extui"))
        return self.value(f"arith.{op} {self.any(type)} : {type} to i64", "i64")

    def _cut(self, name: str) -> str:
        """Return one half of a number of 64 bits."""
        if self.draw.chance():
            by = self.value("arith.constant 32 : i64", "i64")
            name = self.value(f"arith.shrui {name}, {by} : i64", "i64")
        return self.value(f"arith.trunci {name} : i64 to i32", "i32")

    def _wide(self) -> None:
        draw, choice = self.draw, self.draw.integer(0, 9)
        pair = f"{self.any('i64')}, {self.any('i64')} : i64"
        if choice == 0:
            self._extended()
        elif choice == 1:
            self.scope["i32"].append(self._cut(self.any("i64")))
        elif choice == 2:
            self.value(f"arith.cmpi {draw.one_of(PREDICATES)}, {pair}", "i1")
        elif choice == 3:
            flag = self.any("i1")
            self.value(f"arith.select {flag}, {pair}", "i64")
        elif choice in (4, 5):
            by = self.value(f"arith.constant {draw.integer(0, 63)} : i64", "i64")
            if draw.chance():
                mask = self.value("arith.constant 63 : i64", "i64")
                by = self.value(f"arith.andi {self.any('i64')}, {mask} : i64", "i64")
            op = draw.one_of(("shli", "shrsi", "shrui"))
            self.value(f"arith.{op} {self.any('i64')}, {by} : i64", "i64")
        else:
            self.value(f"arith.{draw.one_of(OF_INTEGERS)} {pair}", "i64")


class MapProgram(Program):
    """Affine maps of numbers, and of what others give: quotients, remainders, minima, maxima."""

    what: ClassVar[str] = "of maps"

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self._most = {"%n": 4, "%m": 4}
        """Numbers, and a bound of their magnitudes."""

    def text(self) -> str:
        def body() -> Sequence[tuple[str, str]]:
            for _ in range(self.draw.integer(2, 7)):
                self.draw.one_of((self._map, self._map, self._scaled, self._places))()
            return [(name, "index") for name in [*self._most][-4:]]

        return self.function(["%n: index", "%m: index"], body)

    def _any(self) -> str:
        return self.draw.one_of([*self._most][-5:])

    def _made(self, text: str, most: int) -> None:
        self._most[self.value(text, "index")] = most

    def _scaled(self) -> None:
        """A number that may be negative, by arithmetic."""
        name, other = self._any(), self._any()
        factor = self.draw.integer(-7, 7)
        by = self.value(f"arith.constant {factor} : index", "index")
        product = self.value(f"arith.muli {name}, {by} : index", "index")
        most = self._most[name] * 7 + self._most[other]
        if most < 1 << 20:
            self._made(f"arith.addi {product}, {other} : index", most)

    def _expression(self, depth: int) -> str:
        draw = self.draw
        if depth == 0 or draw.chance(0.2):
            return draw.one_of(("a", "b", "s", str(draw.integer(-9, 9))))
        inner, choice = self._expression(depth - 1), draw.integer(0, 5)
        if choice == 0:
            return f"({inner} * {draw.integer(-4, 8)})"
        if choice < 3:
            return f"({inner} {draw.one_of(('+', '-'))} {self._expression(depth - 1)})"
        division = draw.one_of(("floordiv", "ceildiv", "mod"))
        return f"({inner} {division} {draw.integer(1, 8)})"

    def _map(self) -> None:
        kind = self.draw.one_of(("apply", "apply", "min", "max"))
        count = 1 if kind == "apply" else self.draw.integer(1, 3)
        results = ", ".join(self._expression(self.draw.integer(1, 3)) for _ in range(count))
        a, b, s = self._any(), self._any(), self._any()
        most = 8**3 * (self._most[a] + self._most[b] + self._most[s] + 9)
        if most < 1 << 40:
            map = f"affine_map<(a, b)[s] -> ({results})>({a}, {b})[{s}]"
            self._made(f"affine.{kind} {map}", most)

    def _places(self) -> None:
        """An index of a flat array as indices of its axes, or back."""
        sizes = self.draw.integers(2, 2, 5)
        basis = f"({sizes[0]}, {sizes[1]})"
        if self.draw.chance():
            name = self.name()
            self.write(
                f"{name}:2 = affine.delinearize_index {self._any()} into {basis} : index, index"
            )
            for index in range(2):
                self._most[f"{name}#{index}"] = 1 << 20
            return
        a, b = self._any(), self._any()
        if max(self._most[a], self._most[b]) < 1 << 30:
            most = self._most[a] * 5 + self._most[b]
            self._made(f"affine.linearize_index [{a}, {b}] by {basis} : index", most)
