"""Random programs in upstream's dialects, for passes of another tool: all that they do is defined.

Indices are in range, divisors are not 0, shifts are less than the width, no loop is without end.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from math import prod
from typing import ClassVar

from gawee_dialect.fuzz.draw import Draw

INTEGERS = ("i32", "i32", "i64", "i8", "index")
ELEMENTS = ("i32", "i32", "i64", "f32")

OF_INTEGERS = (
    *("addi", "subi", "muli", "andi", "ori", "xori"),
    *("maxsi", "minsi", "maxui", "minui"),
)
OF_FLOATS = ("addf", "subf", "mulf", "maximumf", "minimumf")
PARTIAL = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")
SHIFTS = ("shli", "shrsi", "shrui")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "uge", "ult")
WIDTHS = {"i1": 1, "i6": 6, "i8": 8, "i32": 32, "i64": 64, "index": 64}
MOST_DEPTH = 3


def shaped(kind: str, shape: Sequence[int], element: str) -> str:
    """Return a type: `memref<2x3xi32>`."""
    return f"{kind}<{'x'.join([*map(str, shape), element])}>"


class Program:
    """A function that is written line by line; what it may read is in scope by its type."""

    what: ClassVar[str]
    """As it is said in counts: `of loops`; the last word is the name that `--generators` takes."""

    def text(self) -> str:
        """Draw the text of a module."""
        raise NotImplementedError

    def __init__(self, draw: Draw) -> None:
        self.draw, self.lines = draw, list[str]()
        self.scope: dict[str, list[str]] = {}
        self.counters: dict[str, int] = {}
        """Loops' counters, and below what number they are."""
        self.buffers: dict[str, tuple[list[int], str]] = {}
        """Memory and tensors: shape and element."""
        self.layouts: dict[str, str] = {}
        """Of memory that is a part of other memory: what its type says of it."""
        self.element = draw.one_of(ELEMENTS)
        self._names = 0
        self._depth = 1

    def name(self) -> str:
        """Return a name of its own."""
        self._names += 1
        return f"%{self._names}"

    def write(self, line: str) -> None:
        """Write a line."""
        self.lines.append("  " * self._depth + line)

    def value(self, text: str, type: str) -> str:
        """Write an op with one result, which is in scope from now on; returns its name."""
        name = self.name()
        self.write(f"{name} = {text}")
        self.scope.setdefault(type, []).append(name)
        return name

    def indices(self, *numbers: int) -> list[str]:
        """Write constants of type index; returns their names."""
        return [self.value(f"arith.constant {each} : index", "index") for each in numbers]

    @contextmanager
    def block(self, head: str, end: str = "}") -> Generator[None]:
        """Write a region: what is in it goes out of scope behind it."""
        self.write(head)
        kept = {type: [*names] for type, names in self.scope.items()}
        counters, buffers = {**self.counters}, {**self.buffers}
        self._depth += 1
        yield
        self._depth -= 1
        self.scope, self.counters, self.buffers = kept, counters, buffers
        self.write(end)

    # Numbers.

    def constant(self, type: str) -> str:
        """Write a constant: a small one, or the end of its type."""
        draw = self.draw
        if type.startswith("f"):
            return self.value(f"arith.constant {draw.integer(-8, 8) / 4} : {type}", type)
        if type == "i1":
            return self.value(f"arith.constant {draw.one_of(('true', 'false'))}", type)
        high = (1 << WIDTHS[type] - 1) - 1
        ends = (high, -high - 1, -1, 1 << WIDTHS[type] // 2) if type != "index" else (0, 1, -1)
        number = draw.integer(-4, 9) if draw.chance(0.8) else draw.one_of(ends)
        return self.value(f"arith.constant {number} : {type}", type)

    def any(self, type: str) -> str:
        """Return a number in scope, now and then a constant; one of another type is cast."""
        known = self.scope.get(type, [])
        if known and self.draw.chance(0.85):
            return self.draw.one_of(known[-6:] if self.draw.chance(0.6) else known)
        return self.constant(type)

    def number(self, type: str) -> str:
        """Write an op, or a few, that make a number."""
        return self._float(type) if type.startswith("f") else self._integer(type)

    def _float(self, type: str) -> str:
        if self.draw.chance(0.15):
            compared = f"{self.any(type)}, {self.any(type)} : {type}"
            flag = self.value(
                f"arith.cmpf {self.draw.one_of(('olt', 'uge', 'une'))}, {compared}", "i1"
            )
            return self._select(flag, type)
        if self.draw.chance(0.1):
            return self.value(f"arith.negf {self.any(type)} : {type}", type)
        op = self.draw.one_of(OF_FLOATS)
        return self.value(f"arith.{op} {self.any(type)}, {self.any(type)} : {type}", type)

    def _integer(self, type: str) -> str:
        draw, choice = self.draw, self.draw.integer(0, 11)
        if type == "i1":
            return self.flag()
        if choice == 0:
            return self._select(self.flag(), type)
        if choice == 1:
            return self._cast(type)
        if choice == 2:  # not by 0, nor by -1
            by = self.value(f"arith.constant {draw.integer(2, 7)} : {type}", type)
            if draw.chance(0.4):
                masked = self.value(f"arith.andi {self.any(type)}, {by} : {type}", type)
                one = self.value(f"arith.constant 1 : {type}", type)
                by = self.value(f"arith.addi {masked}, {one} : {type}", type)
            return self.value(f"arith.{draw.one_of(PARTIAL)} {self.any(type)}, {by} : {type}", type)
        if choice == 3:
            mask = self.value(f"arith.constant {min(31, WIDTHS[type] - 1)} : {type}", type)
            by = self.value(f"arith.andi {self.any(type)}, {mask} : {type}", type)
            if draw.chance():
                by = self.value(
                    f"arith.constant {draw.integer(0, WIDTHS[type] - 1)} : {type}", type
                )
            return self.value(f"arith.{draw.one_of(SHIFTS)} {self.any(type)}, {by} : {type}", type)
        if choice == 4 and type != "index":
            op = draw.one_of(("mulsi_extended", "mului_extended"))
            name = self.name()
            self.write(f"{name}:2 = arith.{op} {self.any(type)}, {self.any(type)} : {type}")
            self.scope.setdefault(type, []).extend((f"{name}#0", f"{name}#1"))
            return f"{name}#1"
        op = draw.one_of(OF_INTEGERS)
        return self.value(f"arith.{op} {self.any(type)}, {self.any(type)} : {type}", type)

    def flag(self) -> str:
        """Write a comparison."""
        known = [type for type in self.scope if type in WIDTHS and type != "i1"] or ["i32"]
        type = self.draw.one_of(known)
        compared = f"{self.draw.one_of(PREDICATES)}, {self.any(type)}, {self.any(type)}"
        return self.value(f"arith.cmpi {compared} : {type}", "i1")

    def _select(self, flag: str, type: str) -> str:
        return self.value(f"arith.select {flag}, {self.any(type)}, {self.any(type)} : {type}", type)

    def _cast(self, type: str) -> str:
        others = [other for other in self.scope if other in WIDTHS and other != type]
        if not others:
            return self.constant(type)
        other = self.draw.one_of(others)
        if "index" in (type, other):
            op = self.draw.one_of(("index_cast", "index_castui"))
            if "i1" in (type, other):
                return self.constant(type)
        elif WIDTHS[type] > WIDTHS[other]:
            op = self.draw.one_of(("extsi", "extui"))
        else:
            op = "trunci"
        return self.value(f"arith.{op} {self.any(other)} : {other} to {type}", type)

    def numbers(self, most: int) -> None:
        """Write some ops on numbers."""
        for _ in range(self.draw.integer(1, most)):
            known = [type for type in self.scope if type in WIDTHS or type.startswith("f")]
            self.number(self.draw.one_of([*known, self.element]))

    # Memory.

    def index(self, size: int) -> str:
        """Return an index below a size: of counters, or any number brought into range."""
        draw = self.draw
        fitting = [name for name, end in self.counters.items() if end <= size]
        if fitting and draw.chance(0.6):
            return draw.one_of(fitting)
        if self.scope.get("index") and draw.chance(0.4):
            by = self.value(f"arith.constant {size} : index", "index")
            return self.value(f"arith.remui {self.any('index')}, {by} : index", "index")
        return self.value(f"arith.constant {draw.integer(0, size - 1)} : index", "index")

    def place(self) -> tuple[str, str]:
        """Return a place of some memory, `%x[%i, %j] : memref<...>`, and its element."""
        name = self.draw.one_of([*self.buffers])
        shape, element = self.buffers[name]
        indices = ", ".join([self.index(size) for size in shape])
        return f"{name}[{indices}] : {self.memory(name)}", element

    def memory(self, name: str) -> str:
        """Return the type of some memory."""
        shape, element = self.buffers[name]
        return shaped("memref", shape, element + self.layouts.get(name, ""))

    def load(self) -> None:
        """Load an element."""
        place, element = self.place()
        self.value(f"memref.load {place}", element)

    def store(self) -> None:
        """Store a number."""
        place, element = self.place()
        self.write(f"memref.store {self.any(element)}, {place}")

    def allocate(self) -> None:
        """Allocate memory, all of one number."""
        shape = [self.draw.integer(1, 6) for _ in range(self.draw.integer(1, 2))]
        self.buffers[self._filled(shape)] = shape, self.element

    def _filled(self, shape: Sequence[int]) -> str:
        type = shaped("memref", shape, self.element)
        name, fill = self.name(), self.any(self.element)
        self.write(f"{name} = memref.alloc() : {type}")
        self.write(f"linalg.fill ins({fill} : {self.element}) outs({name} : {type})")
        return name

    # Statements.

    def statements(self, kinds: Sequence[Callable[[], None]], most: int) -> None:
        """Write some statements; below MOST_DEPTH only such without a region."""
        for _ in range(self.draw.integer(1, most)):
            if self._depth > MOST_DEPTH:
                self.numbers(2)
                self.draw.one_of((self.load, self.store))()
            else:
                self.draw.one_of(kinds)()

    def function(
        self, arguments: Sequence[str], body: Callable[[], Sequence[tuple[str, str]]]
    ) -> str:
        """Return the function's text; `body` writes it, and says what it returns."""
        results = body()
        types = ", ".join(type for _, type in results)
        names = ", ".join(name for name, _ in results)
        head = f"func.func @main({', '.join(arguments)}) -> ({types}) {{"
        return "\n".join((head, *self.lines, f"  return {names} : {types}", "}", ""))

    def takes(self, types: Sequence[str]) -> list[str]:
        """Return what a function takes that takes numbers alone; these are in scope."""
        for number, type in enumerate(types):
            self.scope.setdefault(type, []).append(f"%a{number}")
        return [f"%a{number}: {type}" for number, type in enumerate(types)]

    def arguments(self, kind: str = "memref", shapes: int = 2) -> list[str]:
        """Draw what the function takes: memory or tensors, numbers, and an index."""
        draw, found = self.draw, list[str]()
        for number in range(draw.integer(1, shapes)):
            shape = [draw.integer(2, 8) for _ in range(draw.integer(1, 2))]
            self.buffers[f"%m{number}"] = shape, self.element
            found.append(f"%m{number}: {shaped(kind, shape, self.element)}")
        for number in range(draw.integer(1, 3)):
            type = self.element if number == 0 else draw.one_of(INTEGERS)
            self.scope.setdefault(type, []).append(f"%s{number}")
            found.append(f"%s{number}: {type}")
        self.scope.setdefault("index", []).append("%n")
        return [*found, "%n: index"]

    def results(self) -> Sequence[tuple[str, str]]:
        """Return some numbers in scope, the last of their types."""
        types = [type for type in self.scope if type in WIDTHS or type.startswith("f")]
        return [(self.scope[type][-1], type) for type in types if self.scope[type]]


# Programs of a level.


class ScalarProgram(Program):
    """Straight-line arithmetic of all widths, and choices."""

    what: ClassVar[str] = "of numbers"

    def text(self) -> str:
        arguments = self.takes(("i32", "i64", "i8", "index", "i1"))

        def body() -> Sequence[tuple[str, str]]:
            for _ in range(self.draw.integer(3, 12)):
                self.number(self.draw.one_of(("i32", "i64", "i8", "index", "i1")))
            return self.results()

        return self.function(arguments, body)


class LoopProgram(Program):
    """Loops, choices and whiles of `scf` over memory."""

    what: ClassVar[str] = "of loops"

    def text(self) -> str:
        def body() -> Sequence[tuple[str, str]]:
            self.statements(self._kinds, 5)
            return self.results()

        return self.function(self.arguments(), body)

    @property
    def _kinds(self) -> Sequence[Callable[[], None]]:
        loops = (self.loop, self.loop, self.choice, self.repeat, self.parallel, self.two_parallel)
        return (self.load, self.store, self.allocate, self.slot, lambda: self.numbers(3), *loops)

    def slot(self) -> None:
        """Memory of one element on the stack, which may become a value."""
        shape = self.draw.one_of(([], [1], [2]))
        type, name = shaped("memref", shape, self.element), self.name()
        self.write(f"{name} = memref.alloca() : {type}")
        for index in self.indices(*range(shape[0])) if shape else [""]:
            self.write(f"memref.store {self.any(self.element)}, {name}[{index}] : {type}")
        self.buffers[name] = shape, self.element

    def _carried(self) -> tuple[list[str], list[str]]:
        types = [self.element, *(["i32"] if self.draw.chance(0.3) else [])]
        return types, [self.any(type) for type in types]

    def _yielded(self, types: Sequence[str]) -> None:
        values = ", ".join([self.any(type) for type in types])
        self.write(f"scf.yield {values} : {', '.join(types)}")

    def _results(self, types: Sequence[str]) -> tuple[str, Callable[[], None]]:
        """Return the names of an op's results, and what takes them into scope behind it."""
        name = self.name()

        def take() -> None:
            for index, type in enumerate(types):
                own = f"{name}#{index}" if len(types) > 1 else name
                self.scope.setdefault(type, []).append(own)

        return name + (f":{len(types)}" if len(types) > 1 else ""), take

    def _bounds(self) -> tuple[str, int]:
        """Return a loop's bounds and step, and below what its counter is."""
        draw = self.draw
        start, step = draw.integer(0, 2), draw.integer(1, 3)
        end = start + draw.integer(0, 7)
        names = self.indices(start, end, step)
        if draw.chance(0.2):
            names[1], end = "%n", 4
        return f"{names[0]} to {names[1]} step {names[2]}", max(1, end)

    def loop(self) -> None:
        """A loop that carries numbers, or none."""
        bounds, end = self._bounds()
        types, starts = self._carried() if self.draw.chance(0.6) else ([], [])
        counter, result = self.name(), self._results(types)
        own = [self.name() for _ in types]
        carried = ", ".join(f"{a} = {b}" for a, b in zip(own, starts, strict=True))
        head = f"scf.for {counter} = {bounds}"
        if types:
            head = f"{result[0]} = {head} iter_args({carried}) -> ({', '.join(types)})"
        with self.block(f"{head} {{"):
            for name, type in zip(own, types, strict=True):
                self.scope.setdefault(type, []).append(name)
            if self.draw.chance(0.25):  # a counter that is read once, by a sum or a product
                op = self.draw.one_of(("addi", "muli"))
                self.value(f"arith.{op} {counter}, {self.any('index')} : index", "index")
            else:
                self.counters[counter] = end
                self.scope.setdefault("index", []).append(counter)
            self.statements(self._kinds, 3)
            if types:
                self._yielded(types)
        result[1]()

    def choice(self) -> None:
        """A choice between two numbers."""
        flag = self.flag()
        types, _ = self._carried()
        result = self._results(types)
        with self.block(f"{result[0]} = scf.if {flag} -> ({', '.join(types)}) {{", "} else {"):
            self.statements(self._kinds, 2)
            self._yielded(types)
        self.lines.pop()
        with self.block("} else {"):
            self.statements(self._kinds, 2)
            self._yielded(types)
        result[1]()

    def repeat(self) -> None:
        """A while of a few turns, which carries numbers both ways."""
        types, starts = self._carried()
        result = self.name()
        self.constant("i8")
        zero = self.value("arith.constant 0 : i8", "i8")
        end = self.value(f"arith.constant {self.draw.integer(1, 4)} : i8", "i8")
        one = self.value("arith.constant 1 : i8", "i8")
        turn, own = self.name(), [self.name() for _ in types]
        carried = ", ".join(
            f"{a} = {b}" for a, b in zip((turn, *own), (zero, *starts), strict=True)
        )
        all_types, arrow = ", ".join(("i8", *types)), ", ".join(types)
        head = (
            f"{result}:{len(types) + 1} = scf.while ({carried}) : ({all_types}) -> ({arrow}, i8) {{"
        )
        with self.block(head, "} do {"):
            for name, type in zip((turn, *own), ("i8", *types), strict=True):
                self.scope.setdefault(type, []).append(name)
            self.statements(self._kinds, 1)
            goes_on = self.value(f"arith.cmpi ult, {turn}, {end} : i8", "i1")
            values = ", ".join([self.any(type) for type in types])
            next_turn = self.value(f"arith.addi {turn}, {one} : i8", "i8")
            self.write(f"scf.condition({goes_on}) {values}, {next_turn} : {arrow}, i8")
        self.lines.pop()
        with self.block("} do {"):
            names = [self.name() for _ in types]
            after = ", ".join(f"{name}: {type}" for name, type in zip(names, types, strict=True))
            next_turn = self.name()
            self.lines.append("  " * (self._depth - 1) + f"^bb0({after}, {next_turn}: i8):")
            for name, type in zip(names, types, strict=True):
                self.scope.setdefault(type, []).append(name)
            self.statements(self._kinds, 1)
            values = ", ".join([self.any(type) for type in types])
            self.write(f"scf.yield {next_turn}, {values} : {all_types}")
        for index, type in enumerate(types):
            self.scope.setdefault(type, []).append(f"{result}#{index}")

    def parallel(self) -> None:
        """A parallel loop whose iterations write a place each, of memory that they do not read."""
        shape = self.draw.integers(self.draw.integer(1, 3), 1, 5)
        name = self._filled(shape)
        self._in_parallel(shape, self._some_bounds(shape), name, self.load)
        self.buffers[name] = shape, self.element

    def two_parallel(self) -> None:
        """Two parallel loops side by side; the second one reads what the first one wrote."""
        shape = self.draw.integers(self.draw.integer(1, 2), 2, 5)
        first, second = self._filled(shape), self._filled(shape)
        bounds = self._some_bounds(shape)
        other = self._some_bounds(shape) if self.draw.chance(0.2) else bounds
        view = self._view(first, shape) if self.draw.chance(0.4) else first
        known = {**self.buffers}
        self._in_parallel(shape, bounds, first, self.load)
        self.buffers[view] = shape, self.element

        def read() -> None:
            indices = ", ".join([self.index(size) for size in shape])
            self.value(f"memref.load {view}[{indices}] : {self.memory(view)}", self.element)

        self._in_parallel(shape, other, second, read)
        self.buffers = known | {name: (shape, self.element) for name in (first, second)}

    def _view(self, name: str, shape: Sequence[int]) -> str:
        """View all of some memory by another name."""
        view, type = self.name(), shaped("memref", shape, self.element)
        offsets, ones = [0] * len(shape), [1] * len(shape)
        steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        self.layouts[view] = f", strided<{steps}>"
        to = shaped("memref", shape, f"{self.element}{self.layouts[view]}")
        self.write(f"{view} = memref.subview {name}{offsets} {list(shape)} {ones} : {type} to {to}")
        return view

    def _some_bounds(self, shape: Sequence[int]) -> Sequence[Sequence[str]]:
        """Return where counters begin and end, and their steps."""
        starts = [self.draw.integer(0, 1) if self.draw.chance(0.3) else 0 for _ in shape]
        steps = [self.draw.one_of((1, 1, 1, 2, 3)) for _ in shape]
        return [self.indices(*each) for each in (starts, shape, steps)]

    def _in_parallel(
        self,
        shape: Sequence[int],
        bounds: Sequence[Sequence[str]],
        target: str,
        read: Callable[[], None],
    ) -> None:
        counters = [self.name() for _ in shape]
        named, (lower, upper, step) = ", ".join(counters), map(", ".join, bounds)
        with self.block(f"scf.parallel ({named}) = ({lower}) to ({upper}) step ({step}) {{"):
            self.counters |= dict(zip(counters, shape, strict=True))
            self.scope["index"] += counters
            read()
            self.numbers(2)
            type = shaped("memref", shape, self.element)
            self.write(f"memref.store {self.any(self.element)}, {target}[{named}] : {type}")
            self.write("scf.reduce")
