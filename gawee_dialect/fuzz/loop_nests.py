"""Random programs at the loops level: nests over memory, scalars and vectors, as lowering emits.

A program fills its output, then updates it by some nests of other kinds. Every access is in range
by how its index is made: of counters whose trips are known, shifted, turned round, or by remainder.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_graph import Settings, TrialGenerator, stages_of, trial_of
from gawee_dialect.fuzz.random_pipeline import Depth, Stage
from gawee_dialect.fuzz.trial import Trial
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.passes.graph.cse import CommonSubexpressionElimination
from gawee_dialect.passes.loops.hoist_allocas import HoistAllocas
from gawee_dialect.passes.pipelines import loops_to_llvm
from gawee_dialect.universe import make_context

ELEMENTS = ("f32", "f32", "f64", "i32", "i64")
LANES = (2, 4, 8)

FLOAT_OPS = ("arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf")
INTEGER_OPS = (
    *("arith.addi", "arith.subi", "arith.muli", "arith.maxsi", "arith.minsi"),
    *("arith.andi", "arith.ori", "arith.xori", "arith.maxui", "arith.minui"),
)
FLOAT_FUNCTIONS = ("arith.negf", "math.absf", "math.tanh", "math.floor", "math.sin")
COMPARED = {"f": ("arith.cmpf", ("olt", "oge", "ueq", "one")), "i": ("arith.cmpi", ("slt", "uge"))}
UNROLLED = ("", "", ' {gawee.unroll = "full"}', " {gawee.unroll = 1 : i64}")

MOST_DEPTH = 3


def random_loops(draw: Draw) -> str:
    """Draw the text of a module with one function `@main` of loops over memory."""
    return _Program(draw).text()


class _Program:
    """A function that is written line by line."""

    def __init__(self, draw: Draw) -> None:
        self._draw, self._lines, self._values = draw, list[str](), 0
        self._element = draw.one_of(ELEMENTS)
        self._counters: dict[str, int] = {}
        shapes = [self._shape() for _ in range(draw.integer(1, 3))]
        self._inputs = {f"%x{index}": shape for index, shape in enumerate(shapes)}
        self._output = self._shape()

    @property
    def _ops(self) -> Sequence[str]:
        return FLOAT_OPS if self._element.startswith("f") else INTEGER_OPS

    def _shape(self) -> list[int]:
        """Draw a shape; rows are often long enough for vectors."""
        shape = [self._draw.integer(1, 4) for _ in range(self._draw.integer(1, 3))]
        shape[-1] = self._draw.integer(1, 9)
        return shape

    def _type(self, shape: Sequence[int]) -> str:
        return f"memref<{'x'.join(map(str, shape))}x{self._element}>"

    def text(self) -> str:
        """Write the module."""
        self._nest(self._set)
        kinds = (self._set, self._update, self._sum, self._through_stack, self._vectors)
        for _ in range(self._draw.integer(0, 3)):
            self._nest(self._draw.one_of(kinds))
        arguments = [
            f'{name}: {self._type(shape)} {{gawee.input = "{name[1:]}"}}'
            for name, shape in self._inputs.items()
        ]
        output = f'%y: {self._type(self._output)} {{gawee.output = "y"}}'
        signature = f"func.func @main({', '.join([*arguments, output])}) {{"
        return "\n".join((signature, *self._lines, "  func.return", "}", ""))

    def _write(self, line: str) -> None:
        self._lines.append("  " * (len(self._counters) + 1) + line)

    def _value(self, text: str) -> str:
        """Write an op with one result; returns its name."""
        self._values += 1
        name = f"%{self._values}"
        self._write(f"{name} = {text}")
        return name

    def _index(self, number: int) -> str:
        return self._value(f"arith.constant {number} : index")

    def _nest(self, body: Callable[[Sequence[str]], None]) -> None:
        """Write loops over the output's places, in any order, that may be parallel."""
        axes = self._draw.permuted(range(len(self._output)))
        if body == self._vectors:  # which goes along rows by itself
            axes = [axis for axis in axes if axis != len(self._output) - 1]
        if axes and self._draw.chance(0.2):
            with self._parallel([self._output[axis] for axis in axes]) as counters:
                self._over(axes, counters, body)
            return
        self._loops(axes, [], axes, body)

    def _loops(
        self,
        left: Sequence[int],
        counters: Sequence[str],
        axes: Sequence[int],
        body: Callable[[Sequence[str]], None],
    ) -> None:
        if not left:
            self._over(axes, counters, body)
            return
        with self._loop(self._output[left[0]]) as counter:
            self._loops(left[1:], [*counters, counter], axes, body)

    def _over(
        self, axes: Sequence[int], counters: Sequence[str], body: Callable[[Sequence[str]], None]
    ) -> None:
        """Write a body for one place of the output."""
        place = dict(zip(axes, counters, strict=True))
        body([place[axis] for axis in sorted(place)])

    @contextmanager
    def _loop(self, trips: int) -> Generator[str]:
        """Write a loop around what is written inside; its counter may have a step."""
        step = self._draw.one_of((1, 1, 1, 2, 3))
        start, end, by = self._index(0), self._index(trips * step), self._index(step)
        self._values += 1
        counter = f"%i{self._values}"
        self._write(f"scf.for {counter} = {start} to {end} step {by} {{")
        self._counters[counter] = trips
        plain = counter
        if step != 1:
            plain = self._value(f"arith.divui {counter}, {by} : index")
            self._counters[plain] = self._counters.pop(counter)
        yield plain
        del self._counters[plain]
        self._write("}" + self._draw.one_of(UNROLLED))

    @contextmanager
    def _parallel(self, trips: Sequence[int]) -> Generator[Sequence[str]]:
        zero, one = self._index(0), self._index(1)
        ends = [self._index(each) for each in trips]
        self._values += 1
        counters = [f"%p{self._values}_{axis}" for axis in range(len(trips))]
        starts, steps = ", ".join([zero] * len(trips)), ", ".join([one] * len(trips))
        bounds = f"({starts}) to ({', '.join(ends)}) step ({steps})"
        self._write(f"scf.parallel ({', '.join(counters)}) = {bounds} {{")
        self._counters.update(zip(counters, trips, strict=True))
        yield counters
        self._write("scf.reduce")
        for counter in counters:
            del self._counters[counter]
        self._write("}")

    def _set(self, place: Sequence[str]) -> None:
        self._store(self._expression(MOST_DEPTH), place)

    def _update(self, place: Sequence[str]) -> None:
        old = self._value(f"memref.load {self._at('%y', place)} : {self._type(self._output)}")
        op = self._draw.one_of(self._ops)
        new = self._expression(MOST_DEPTH - 1)
        self._store(self._value(f"{op} {old}, {new} : {self._element}"), place)

    def _sum(self, place: Sequence[str]) -> None:
        """Write a loop that carries a total."""
        trips, op = self._draw.integer(1, 5), self._draw.one_of(self._ops)
        first = self._expression(1)
        start, end, step = self._index(0), self._index(trips), self._index(1)
        self._values += 1
        total, counter, carried = (f"%{kind}{self._values}" for kind in ("t", "k", "c"))
        bounds = f"{counter} = {start} to {end} step {step}"
        arguments = f"iter_args({carried} = {first}) -> ({self._element})"
        self._write(f"{total} = scf.for {bounds} {arguments} {{")
        self._counters[counter] = trips
        new = self._value(f"{op} {carried}, {self._expression(2)} : {self._element}")
        self._write(f"scf.yield {new} : {self._element}")
        del self._counters[counter]
        self._write("}")
        self._store(total, place)

    def _through_stack(self, place: Sequence[str]) -> None:
        """Write a buffer of the iteration's own, filled and read by loops."""
        size = self._draw.integer(1, 4)
        type = self._type([size])
        buffer = self._value(f"memref.alloca() : {type}")
        with self._loop(size) as counter:
            self._write(f"memref.store {self._expression(2)}, {buffer}[{counter}] : {type}")
        found = self._value(f"memref.load {buffer}[{self._position(size)}] : {type}")
        self._store(found, place)

    def _vectors(self, place: Sequence[str]) -> None:
        """Write a row of the output by vectors, and its tail under a mask."""
        row, lanes = self._output[-1], self._draw.one_of(LANES)
        vector, output = f"vector<{lanes}x{self._element}>", self._type(self._output)
        for start in range(0, row, lanes):
            at = [*place, self._index(start)]
            where = self._at("%y", at)
            spread = self._value(
                f"vector.broadcast {self._expression(1)} : {self._element} to {vector}"
            )
            op = self._draw.one_of(self._ops)
            if row - start >= lanes:
                old = self._value(f"vector.load {where} : {output}, {vector}")
                new = self._value(f"{op} {old}, {spread} : {vector}")
                self._write(f"vector.store {new}, {where} : {output}, {vector}")
                continue
            mask = f"vector<{lanes}xi1>"
            bits = ", ".join("true" if start + lane < row else "false" for lane in range(lanes))
            bit = self._value(f"arith.constant dense<[{bits}]> : {mask}")
            types = f"{output}, {mask}, {vector}"
            old = self._value(f"vector.maskedload {where}, {bit}, {spread} : {types} into {vector}")
            new = self._value(f"{op} {old}, {spread} : {vector}")
            self._write(f"vector.maskedstore {where}, {bit}, {new} : {types}")

    def _store(self, value: str, place: Sequence[str]) -> None:
        self._write(f"memref.store {value}, {self._at('%y', place)} : {self._type(self._output)}")

    def _at(self, memory: str, place: Sequence[str]) -> str:
        return f"{memory}[{', '.join(place)}]"

    def _position(self, size: int) -> str:
        """Write an index below a size."""
        if not self._counters or self._draw.chance(0.1):
            return self._index(self._draw.integer(0, size - 1))
        counter = self._draw.one_of([*self._counters])
        room = size - self._counters[counter]
        if room < 0:
            return self._value(f"arith.remui {counter}, {self._index(size)} : index")
        choice = self._draw.integer(0, 2)
        if choice == 0:
            return counter
        if choice == 1:
            return self._value(f"arith.subi {self._index(size - 1)}, {counter} : index")
        return self._value(f"arith.addi {counter}, {self._index(room)} : index")

    def _expression(self, depth: int) -> str:
        """Write a scalar; returns its name."""
        choice = self._draw.integer(0, 9)
        if depth == 0 or choice < 2:
            return self._leaf()
        if choice == 2 and self._element.startswith("f"):
            function = self._draw.one_of(FLOAT_FUNCTIONS)
            return self._value(f"{function} {self._expression(depth - 1)} : {self._element}")
        first, second = self._expression(depth - 1), self._expression(depth - 1)
        if choice < 8:
            op = self._draw.one_of(self._ops)
            return self._value(f"{op} {first}, {second} : {self._element}")
        compare, predicates = COMPARED[self._element[0]]
        predicate = self._draw.one_of(predicates)
        bit = self._value(f"{compare} {predicate}, {first}, {second} : {self._element}")
        if choice == 8:
            return self._value(f"arith.select {bit}, {second}, {first} : {self._element}")
        return self._branches(bit, depth)

    def _branches(self, bit: str, depth: int) -> str:
        self._values += 1
        found = f"%b{self._values}"
        self._write(f"{found} = scf.if {bit} -> ({self._element}) {{")
        self._write(f"scf.yield {self._expression(depth - 1)} : {self._element}")
        self._write("} else {")
        self._write(f"scf.yield {self._expression(depth - 1)} : {self._element}")
        self._write("}")
        return found

    def _leaf(self) -> str:
        if self._draw.chance(0.7):
            name = self._draw.one_of([*self._inputs])
            shape = self._inputs[name]
            where = self._at(name, [self._position(size) for size in shape])
            return self._value(f"memref.load {where} : {self._type(shape)}")
        number = self._draw.integer(-3, 3)
        text = f"{number}.0" if self._element.startswith("f") else str(number)
        return self._value(f"arith.constant {text} : {self._element}")


class LoopNests(TrialGenerator):
    """Programs at the loops level, and passes on loops in any order, to loops or machine code."""

    name = "loops"
    what = "loop nests"
    weight = 3

    def trial(self, draw: Draw, settings: Settings) -> Trial:
        module = parse_mlir(make_context(), random_loops(draw), "loops.mlir")
        stages = self._stages(draw, settings)
        return trial_of(draw, settings, module, stages)

    def _stages(self, draw: Draw, settings: Settings) -> Sequence[Stage]:
        if settings.passes:
            return stages_of(draw, settings, Depth.LOOPS)
        passes = (HoistAllocas(), CommonSubexpressionElimination(), CanonicalizePass())
        kept = tuple(each for each in draw.permuted(passes) if draw.chance(0.7))
        if not draw.chance(settings.loops + settings.native):
            return (Stage("loops", kept),)
        native = loops_to_llvm(parallel=draw.chance(), expand_math=draw.chance())
        return (Stage("loops", kept), Stage("machine code", tuple(native)))
