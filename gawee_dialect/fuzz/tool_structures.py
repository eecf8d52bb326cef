"""Random programs of affine nests, views of memory, tensors and vectors, for other tools."""

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.tool_programs import Program, shaped


class AffineProgram(Program):
    """Nests of `affine` over memory, with steps, minima as bounds, and carried numbers."""

    what: ClassVar[str] = "of nests"

    def text(self) -> str:
        def body() -> Sequence[tuple[str, str]]:
            for _ in range(self.draw.integer(0, 2)):
                self.allocate()
            if self.draw.chance(0.4):
                self._part()
            if self.draw.chance():
                for _ in range(self.draw.integer(1, 3)):
                    self._plain()
            else:
                self.statements((self.nest, self.nest, self.nest, self.load, self.store), 4)
            return self.results()

        return self.function(self.arguments(), body)

    def _expression(self, size: int) -> str:
        """Return an expression of counters that is below a size."""
        draw = self.draw
        fitting = [(name, end) for name, end in self.counters.items() if end <= size]
        kind = draw.integer(0, 6)
        if fitting and kind < 4:
            name, end = draw.one_of(fitting)
            return (
                name,
                f"{name} + {size - end}",
                f"-{name} + {size - 1}",
                f"{name} floordiv 2",
            )[kind if draw.chance() else 0]
        if self.counters and kind < 6:
            terms = [f"{n} * {draw.integer(1, 3)}" for n in self.counters if draw.chance(0.7)]
            if terms:
                return f"({' + '.join(terms)} + {draw.integer(0, 3)}) mod {size}"
        return str(draw.integer(0, size - 1))

    def place(self) -> tuple[str, str]:
        name = self.draw.one_of([*self.buffers])
        shape, element = self.buffers[name]
        indices = ", ".join([self._expression(size) for size in shape])
        return f"{name}[{indices}] : {self.memory(name)}", element

    def _part(self) -> None:
        """View a part of some memory, which is written and read by two names then."""
        name = self.draw.one_of([each for each in self.buffers if each not in self.layouts])
        shape, element = self.buffers[name]
        starts = [self.draw.integer(0, min(2, size - 1)) for size in shape]
        sizes = [self.draw.integer(1, size - at) for size, at in zip(shape, starts, strict=True)]
        steps, new = _strides(shape), self.name()
        offset = sum(map(int.__mul__, starts, steps))
        at = f", offset: {offset}" if offset else ""
        self.buffers[new], self.layouts[new] = (sizes, element), f", strided<{steps}{at}>"
        slices = f"{starts} {sizes} {[1] * len(shape)}"
        types = f"{self.memory(name)} to {self.memory(new)}"
        self.write(f"{new} = memref.subview {name}{slices} : {types}")

    def load(self) -> None:
        place, element = self.place()
        self.value(f"affine.load {place}", element)

    def store(self) -> None:
        place, element = self.place()
        self.write(f"affine.store {self.any(element)}, {place}")

    def _plain(self) -> None:
        """One to three loops of known bounds, and in the innermost a few loads and stores."""
        draw, counter = self.draw, self.name()
        start, step = draw.one_of((0, 0, 0, 1)), draw.one_of((1, 1, 1, 1, 2))
        end = start + draw.integer(2, 6)
        with self.block(f"affine.for {counter} = {start} to {end} step {step} {{"):
            self.counters[counter] = end
            if len(self.counters) < draw.integer(1, 3):
                return self._plain()
            for _ in range(draw.integer(1, 2)):
                draw.one_of((self._moved, self._moved, self._both, self._vectors))()
        return None

    def _moved(self) -> None:
        """Load an element, and store it, or one more than it, elsewhere."""
        place, element = self.place()
        loaded = self.value(f"affine.load {place}", element)
        op = "addf" if element == "f32" else "addi"
        if self.draw.chance():
            loaded = self.value(f"arith.{op} {loaded}, {self.any(element)} : {element}", element)
        self.write(f"affine.store {loaded}, {self.place()[0]}")

    def nest(self) -> None:
        """A loop, with what is in it."""
        draw, counter = self.draw, self.name()
        start, step = draw.integer(0, 2), draw.one_of((1, 1, 1, 2, 3))
        end = start + draw.integer(0, 7)
        upper, outer = str(end), [*self.counters]
        if draw.chance(0.2):
            upper = f"min affine_map<(d) -> (d, {end})>(%n)"
        elif outer and draw.chance(0.2):
            upper = f"min affine_map<(d) -> (d + {draw.integer(1, 3)}, {end})>({outer[-1]})"
        lower = str(start)
        if outer and draw.chance(0.15):
            lower = f"max affine_map<(d) -> (d, {start})>({outer[-1]})"
        carries = draw.chance(0.3)
        head, result, own = f"affine.for {counter} = {lower} to {upper} step {step}", "", ""
        if carries:
            result, own, given = self.name(), self.name(), self.any(self.element)
            head = f"{result} = {head} iter_args({own} = {given}) -> ({self.element})"
        with self.block(f"{head} {{"):
            self.counters[counter] = max(1, end)
            self.scope.setdefault("index", []).append(counter)
            if carries:
                self.scope.setdefault(self.element, []).append(own)
            kinds = (self.nest, self._guarded, self.load, self.store, self._both, self._vectors)
            self.statements(kinds, 3)
            if carries:
                self.write(f"affine.yield {self.any(self.element)} : {self.element}")
        if carries:
            self.scope.setdefault(self.element, []).append(result)

    def _vectors(self) -> None:
        """Load some elements side by side, and store them elsewhere."""
        lanes = self.draw.one_of((2, 4))
        type = shaped("vector", [lanes], self.element)
        fitting = [name for name in self.buffers if self.buffers[name][0][-1] >= lanes]
        if not fitting:
            return self._both()
        value = self.name()
        self.write(f"{value} = affine.vector_load {self._row(fitting, lanes)}, {type}")
        if self.draw.chance():
            spread, made = self.name(), self.name()
            op = "addf" if self.element == "f32" else "addi"
            number = self.any(self.element)
            self.write(f"{spread} = vector.broadcast {number} : {self.element} to {type}")
            self.write(f"{made} = arith.{op} {value}, {spread} : {type}")
            value = made
        self.write(f"affine.vector_store {value}, {self._row(fitting, lanes)}, {type}")
        return None

    def _row(self, names: Sequence[str], lanes: int) -> str:
        name = self.draw.one_of(names)
        shape = self.buffers[name][0]
        sizes = [*shape[:-1], shape[-1] - lanes + 1]
        indices = ", ".join([self._expression(size) for size in sizes])
        return f"{name}[{indices}] : {self.memory(name)}"

    def _both(self) -> None:
        self.load()
        self.number(self.element)
        self.store()

    def _guarded(self) -> None:
        """What happens where a counter is far enough."""
        if not self.counters:
            return self._both()
        counter, draw = self.draw.one_of([*self.counters]), self.draw
        test = draw.one_of((f"d - {draw.integer(0, 3)} >= 0", f"-d + {draw.integer(1, 5)} >= 0"))
        if draw.chance(0.3):
            test = f"d mod {draw.integer(2, 3)} == 0"
        with self.block(f"affine.if affine_set<(d) : ({test})>({counter}) {{"):
            self._both()
        return None


class ViewProgram(Program):
    """Loads and stores through views of views of memory, in loops."""

    what: ClassVar[str] = "of views"

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self._flat = dict[str, tuple[list[int], list[int], int | None]]()
        """Memory and views of it: sizes, strides, and the offset where it is known."""

    def text(self) -> str:
        def body() -> Sequence[tuple[str, str]]:
            for name, (shape, _) in self.buffers.items():
                self._flat[name] = shape, _strides(shape), 0
            for _ in range(self.draw.integer(1, 4)):
                self._view()
            for _ in range(self.draw.integer(2, 5)):
                self._use()
            return self.results()

        return self.function(self.arguments(), body)

    def _type(self, name: str) -> str:
        shape, strides, offset = self._flat[name]
        if (strides, offset) == (_strides(shape), 0):
            return shaped("memref", shape, self.element)
        at = "" if offset == 0 else f", offset: {'?' if offset is None else offset}"
        return shaped("memref", shape, f"{self.element}, strided<{strides}{at}>")

    def _view(self) -> None:
        draw, name = self.draw, self.draw.one_of([*self._flat])
        shape, strides, offset = self._flat[name]
        type, new = self._type(name), self.name()
        if draw.chance(0.25) and len(shape) == 2 and strides[0] == shape[1] * strides[1]:
            self._flat[new] = [prod(shape)], [strides[1]], offset
            self.write(
                f"{new} = memref.collapse_shape {name} [[0, 1]] : {type} into {self._type(new)}"
            )
            return
        factor = next((each for each in (2, 3, 5) if shape[-1] % each == 0), 0)
        if draw.chance(0.25) and factor and len(shape) < 3:
            sizes = [*shape[:-1], factor, shape[-1] // factor]
            steps = [*strides[:-1], strides[-1] * sizes[-1], strides[-1]]
            self._flat[new] = sizes, steps, offset
            groups = [[axis] for axis in range(len(shape) - 1)]
            groups = [*groups, [len(shape) - 1, len(shape)]]
            self.write(
                f"{new} = memref.expand_shape {name} {groups} output_shape {sizes} : "
                f"{type} into {self._type(new)}"
            )
            return
        starts, sizes, steps = list[int](), list[int](), list[int]()
        for size in shape:
            starts.append(draw.integer(0, size - 1))
            steps.append(draw.integer(1, 2))
            sizes.append(draw.integer(1, 1 + (size - 1 - starts[-1]) // steps[-1]))
        written = [str(start) for start in starts]
        moved = None if offset is None else offset + sum(map(int.__mul__, starts, strides))
        if draw.chance(0.3):  # a start that is known when it runs
            written[0], moved = self.value(f"arith.constant {starts[0]} : index", "index"), None
            if shape[0] > 3 and draw.chance():
                written[0], steps[0] = "%n", 1
                sizes[0] = min(sizes[0], shape[0] - 3)
        new_strides = [a * b for a, b in zip(strides, steps, strict=True)]
        self._flat[new] = sizes, new_strides, moved
        slices = f"[{', '.join(written)}] {sizes} {steps}"
        self.write(f"{new} = memref.subview {name}{slices} : {type} to {self._type(new)}")

    def _use(self) -> None:
        draw, name = self.draw, self.draw.one_of([*self._flat])
        sizes = self._flat[name][0]
        counter = self.name()
        end = draw.integer(1, 4)
        names = self.indices(0, end, 1)
        with self.block(f"scf.for {counter} = {names[0]} to {names[1]} step {names[2]} {{"):
            self.counters[counter] = end
            self.scope["index"].append(counter)
            indices = ", ".join([self.index(size) for size in sizes])
            loaded = self.value(f"memref.load {name}[{indices}] : {self._type(name)}", self.element)
            self.number(self.element)
            other = draw.one_of([*self._flat])
            indices = ", ".join([self.index(size) for size in self._flat[other][0]])
            stored = draw.one_of((loaded, self.any(self.element)))
            self.write(f"memref.store {stored}, {other}[{indices}] : {self._type(other)}")


def _strides(shape: Sequence[int]) -> list[int]:
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


class TensorProgram(Program):
    """Tensors: elementwise and by maps, sums, slices, padding, reshapes, loops that carry them."""

    what: ClassVar[str] = "of tensors"

    def text(self) -> str:
        def body() -> Sequence[tuple[str, str]]:
            kinds = (self._generic, self._generic, self._sum, self._slice, self._insert)
            more = (self._pad, self._reshape, self._transpose, self._in_loop, self._choice)
            for _ in range(self.draw.integer(2, 6)):
                self.draw.one_of((*kinds, *more))()
            tensors = [(n, shaped("tensor", *each)) for n, each in self.buffers.items()][-3:]
            return [*tensors, *self.results()]

        return self.function(self.arguments("tensor"), body)

    def _any_tensor(self) -> tuple[str, list[int], str]:
        known = [*self.buffers]
        name = self.draw.one_of(known[-4:])
        shape, _ = self.buffers[name]
        return name, shape, shaped("tensor", shape, self.element)

    def _made(self, text: str, shape: list[int]) -> str:
        name = self.name()
        self.write(f"{name} = {text}")
        self.buffers[name] = shape, self.element
        return name

    def _empty(self, shape: Sequence[int], filled: bool = True) -> str:
        type, name = shaped("tensor", shape, self.element), self.name()
        self.write(f"{name} = tensor.empty() : {type}")
        if not filled:
            return name
        fill, full = self.any(self.element), self.name()
        self.write(
            f"{full} = linalg.fill ins({fill} : {self.element}) outs({name} : {type}) -> {type}"
        )
        return full

    def _generic(self) -> None:
        """One or two operands, of which one may be turned round or spread, and an index."""
        draw, (name, shape, type) = self.draw, self._any_tensor()
        dims = [f"d{axis}" for axis in range(len(shape))]
        others = [
            (other, self.buffers[other][0])
            for other in self.buffers
            if self.buffers[other][0] in (shape, shape[-1:], shape[::-1])
        ]
        other, own = draw.one_of(others)
        map = dims if own == shape else dims[-1:] if own == shape[-1:] else dims[::-1]
        reads_out = draw.chance(0.3)
        out = self._empty(shape, filled=reads_out)
        all_dims, e = ", ".join(dims), self.element
        maps = ", ".join(
            f"affine_map<({all_dims}) -> ({', '.join(each)})>" for each in (dims, map, dims)
        )
        kinds = ", ".join(['"parallel"'] * len(dims))
        types = f"{type}, {shaped('tensor', own, e)}"
        head = (
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
            f"ins({name}, {other} : {types}) outs({out} : {type}) {{"
        )
        result = self.name()
        with self.block(f"{result} = {head}", f"}} -> {type}"):
            a, b, c = self.name(), self.name(), self.name()
            self.write(f"^bb0({a}: {e}, {b}: {e}, {c}: {e}):")
            self.scope.setdefault(e, []).extend((a, b, c) if reads_out else (a, b))
            if draw.chance(0.3):
                self.value(f"linalg.index {draw.integer(0, len(dims) - 1)} : index", "index")
            made = self.number(e)
            for _ in range(draw.integer(0, 2)):
                made = self.number(e)
            self.write(f"linalg.yield {made} : {e}")
        self.buffers[result] = shape, e

    def _sum(self) -> None:
        name, shape, type = self._any_tensor()
        axis = self.draw.integer(0, len(shape) - 1)
        left = [size for index, size in enumerate(shape) if index != axis]
        op = self.draw.one_of(("addf", "maximumf") if self.element == "f32" else ("addi", "maxsi"))
        start = self._empty(left)
        self._made(
            f"linalg.reduce {{ arith.{op} }} ins({name} : {type}) "
            f"outs({start} : {shaped('tensor', left, self.element)}) dimensions = [{axis}]",
            left,
        ) if left else self._generic()

    def _transpose(self) -> None:
        name, shape, type = self._any_tensor()
        order = self.draw.permuted(range(len(shape)))
        turned = [shape[axis] for axis in order]
        out = self._empty(turned, filled=False)
        self._made(
            f"linalg.transpose ins({name} : {type}) "
            f"outs({out} : {shaped('tensor', turned, self.element)}) permutation = {order}",
            turned,
        )

    def _slices(self, shape: Sequence[int]) -> tuple[list[int], str]:
        draw, sizes = self.draw, list[int]()
        parts = list[str](), list[str](), list[str]()
        for size in shape:
            start, step = draw.integer(0, size - 1), draw.integer(1, 2)
            sizes.append(draw.integer(1, 1 + (size - 1 - start) // step))
            for part, each in zip(parts, (start, sizes[-1], step), strict=True):
                part.append(str(each))
        if shape[0] > 3 and draw.chance(0.3):
            sizes[0] = min(sizes[0], shape[0] - 3)
            parts[0][0], parts[1][0], parts[2][0] = "%n", str(sizes[0]), "1"
        return sizes, " ".join(f"[{', '.join(each)}]" for each in parts)

    def _slice(self) -> None:
        name, shape, type = self._any_tensor()
        sizes, text = self._slices(shape)
        to = shaped("tensor", sizes, self.element)
        self._made(f"tensor.extract_slice {name}{text} : {type} to {to}", sizes)

    def _insert(self) -> None:
        name, shape, type = self._any_tensor()
        sizes, text = self._slices(shape)
        fitting = [other for other in self.buffers if self.buffers[other][0] == sizes]
        source = self.draw.one_of(fitting) if fitting else self._empty(sizes)
        of = shaped("tensor", sizes, self.element)
        self._made(f"tensor.insert_slice {source} into {name}{text} : {of} into {type}", shape)

    def _pad(self) -> None:
        name, shape, type = self._any_tensor()
        low, high = self.draw.integers(len(shape), 0, 2), self.draw.integers(len(shape), 0, 1)
        sizes = [a + b + c for a, b, c in zip(low, shape, high, strict=True)]
        result, fill = self.name(), self.any(self.element)
        to = shaped("tensor", sizes, self.element)
        with self.block(
            f"{result} = tensor.pad {name} low{low} high{high} {{", f"}} : {type} to {to}"
        ):
            names = ", ".join(f"{self.name()}: index" for _ in shape)
            self.write(f"^bb0({names}):")
            self.write(f"tensor.yield {fill} : {self.element}")
        self.buffers[result] = sizes, self.element

    def _reshape(self) -> None:
        name, shape, type = self._any_tensor()
        if len(shape) > 1:
            sizes = [prod(shape[:2]), *shape[2:]]
            groups = [[0, 1], *([axis] for axis in range(2, len(shape)))]
            to = shaped("tensor", sizes, self.element)
            self._made(f"tensor.collapse_shape {name} {groups} : {type} into {to}", sizes)
            return
        factor = next((each for each in (2, 3, 5, 7) if shape[0] % each == 0), 1)
        sizes = [factor, shape[0] // factor]
        to = shaped("tensor", sizes, self.element)
        self._made(
            f"tensor.expand_shape {name} [[0, 1]] output_shape {sizes} : {type} into {to}", sizes
        )

    def _in_loop(self) -> None:
        """A loop that carries a tensor, and changes an element or a slice of it."""
        name, shape, type = self._any_tensor()
        names = self.indices(0, self.draw.integer(0, 3), 1)
        result, counter, own = self.name(), self.name(), self.name()
        head = f"{result} = scf.for {counter} = {names[0]} to {names[1]} step {names[2]} "
        with self.block(f"{head}iter_args({own} = {name}) -> ({type}) {{"):
            self.scope["index"].append(counter)
            self.buffers[own] = shape, self.element
            last = self._changed(own, shape, type)
            self.write(f"scf.yield {last} : {type}")
        self.buffers[result] = shape, self.element

    def _changed(self, name: str, shape: Sequence[int], type: str) -> str:
        source = self.draw.one_of(
            [name, name, *(n for n in self.buffers if self.buffers[n][0] == shape)]
        )
        indices = ", ".join([self.index(size) for size in shape])
        self.value(f"tensor.extract {source}[{indices}] : {type}", self.element)
        value = self.number(self.element)
        if self.draw.chance(0.3):
            self._generic()
        indices, new = ", ".join([self.index(size) for size in shape]), self.name()
        self.write(f"{new} = tensor.insert {value} into {name}[{indices}] : {type}")
        return new

    def _choice(self) -> None:
        name, shape, type = self._any_tensor()
        flag, result = self.flag(), self.name()
        with self.block(f"{result} = scf.if {flag} -> ({type}) {{", "} else {"):
            self.write(f"scf.yield {self._changed(name, shape, type)} : {type}")
        self.lines.pop()
        with self.block("} else {"):
            self.write(f"scf.yield {name} : {type}")
        self.buffers[result] = shape, self.element


class VectorProgram(Program):
    """Vectors of one to three axes: moved, cut, put together, reduced, read and written."""

    what: ClassVar[str] = "of vectors"

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self._vectors = dict[str, list[int]]()
        """Their shapes."""

    def text(self) -> str:
        def body() -> Sequence[tuple[str, str]]:
            for _ in range(2):
                self._read()
            kinds = (self._read, self._write, self._elementwise, self._cut, self._put, self._turn)
            more = (self._shape_cast, self._spread, self._reduce, self._lane, self._shuffle)
            for _ in range(self.draw.integer(3, 9)):
                self.draw.one_of((*kinds, *more))()
            self._write()
            for _ in range(2):
                self._lane()
            return self.results()

        return self.function(self.arguments(), body)

    def _type(self, shape: Sequence[int]) -> str:
        return shaped("vector", shape, self.element)

    def _any_vector(self, least: int = 1) -> tuple[str, list[int]]:
        fitting = [each for each in self._vectors if len(self._vectors[each]) >= least]
        name = self.draw.one_of(fitting[-5:]) if fitting else self._spread()
        return name, self._vectors[name]

    def _made(self, text: str, shape: list[int]) -> str:
        name = self.name()
        self.write(f"{name} = {text}")
        self._vectors[name] = shape
        return name

    def _transfer(self) -> tuple[str, str, list[int], str]:
        name = self.draw.one_of([*self.buffers])
        sizes, element = self.buffers[name]
        indices = ", ".join([self.index(size) for size in sizes])
        rank = self.draw.integer(1, len(sizes))
        shape = [self.draw.one_of((2, 3, 4)) for _ in range(rank)]
        return f"{name}[{indices}]", shaped("memref", sizes, element), shape, name

    def _read(self) -> None:
        place, type, shape, _ = self._transfer()
        fill = self.any(self.element)
        map = ""
        if len(shape) == 2 and self.draw.chance(0.3):
            map = " {permutation_map = affine_map<(a, b) -> (b, a)>}"
        self._made(
            f"vector.transfer_read {place}, {fill}{map} : {type}, {self._type(shape)}", shape
        )

    def _write(self) -> None:
        place, type, shape, _ = self._transfer()
        fitting = [each for each in self._vectors if len(self._vectors[each]) == len(shape)]
        if fitting:
            vector = self.draw.one_of(fitting[-3:])
            of = self._type(self._vectors[vector])
            self.write(f"vector.transfer_write {vector}, {place} : {of}, {type}")

    def _elementwise(self) -> None:
        name, shape = self._any_vector()
        fitting = [each for each in self._vectors if self._vectors[each] == shape]
        of_floats = self.element == "f32"
        op = self.draw.one_of(
            ("addf", "mulf", "maximumf") if of_floats else ("addi", "muli", "xori", "minsi")
        )
        self._made(f"arith.{op} {name}, {self.draw.one_of(fitting)} : {self._type(shape)}", shape)

    def _cut(self) -> None:
        name, shape = self._any_vector()
        starts = [self.draw.integer(0, size - 1) for size in shape]
        sizes = [self.draw.integer(1, size - at) for size, at in zip(shape, starts, strict=True)]
        ones = [1] * len(shape)
        self._made(
            f"vector.extract_strided_slice {name} {{offsets = {starts}, sizes = {sizes}, "
            f"strides = {ones}}} : {self._type(shape)} to {self._type(sizes)}",
            sizes,
        )

    def _put(self) -> None:
        name, shape = self._any_vector()
        fitting = [
            (other, sizes)
            for other, sizes in self._vectors.items()
            if len(sizes) <= len(shape)
            and all(a <= b for a, b in zip(sizes[::-1], shape[::-1], strict=False))
        ]
        other, sizes = self.draw.one_of(fitting)
        lead = len(shape) - len(sizes)
        room = [*shape[:lead], *(b - a + 1 for a, b in zip(sizes, shape[lead:], strict=True))]
        starts = [self.draw.integer(0, each - 1) for each in room]
        self._made(
            f"vector.insert_strided_slice {other}, {name} {{offsets = {starts}, "
            f"strides = {[1] * len(sizes)}}} : {self._type(sizes)} into {self._type(shape)}",
            shape,
        )

    def _turn(self) -> None:
        name, shape = self._any_vector(2)
        order = self.draw.permuted(range(len(shape)))
        turned = [shape[axis] for axis in order]
        self._made(
            f"vector.transpose {name}, {order} : {self._type(shape)} to {self._type(turned)}",
            turned,
        )

    def _shape_cast(self) -> None:
        name, shape = self._any_vector()
        size = prod(shape)
        factors = [each for each in (1, 2, 3, 4) if size % each == 0]
        first = self.draw.one_of(factors)
        new = self.draw.one_of(([size], [first, size // first], [1, size], [*shape, 1]))[:3]
        if prod(new) == size:
            self._made(
                f"vector.shape_cast {name} : {self._type(shape)} to {self._type(new)}", list(new)
            )

    def _spread(self) -> str:
        if self._vectors and self.draw.chance(0.6):
            name = self.draw.one_of([*self._vectors])
            shape = self._vectors[name]
            if len(shape) < 3:
                new = [self.draw.integer(1, 3), *shape]
                return self._made(
                    f"vector.broadcast {name} : {self._type(shape)} to {self._type(new)}", new
                )
        new = [self.draw.integer(1, 3), self.draw.integer(2, 4)]
        return self._made(
            f"vector.broadcast {self.any(self.element)} : {self.element} to {self._type(new)}", new
        )

    def _reduce(self) -> None:
        name, shape = self._any_vector()
        of_floats = self.element == "f32"
        kind = self.draw.one_of(
            ("add", "maximumf") if of_floats else ("add", "mul", "maxsi", "minui", "xor")
        )
        if len(shape) == 1:
            start = f", {self.any(self.element)}" if self.draw.chance() and kind != "mul" else ""
            of = f"{self._type(shape)} into {self.element}"
            self.value(f"vector.reduction <{kind}>, {name}{start} : {of}", self.element)
            return
        axis = self.draw.integer(0, len(shape) - 1)
        left = [size for index, size in enumerate(shape) if index != axis]
        start = self._made(
            f"vector.broadcast {self.any(self.element)} : {self.element} to {self._type(left)}",
            left,
        )
        self._made(
            f"vector.multi_reduction <{kind}>, {name}, {start} [{axis}] : "
            f"{self._type(shape)} to {self._type(left)}",
            left,
        )

    def _lane(self) -> None:
        name, shape = self._any_vector()
        at = [self.draw.integer(0, size - 1) for size in shape]
        if self.draw.chance(0.7):
            self.value(
                f"vector.extract {name}{at} : {self.element} from {self._type(shape)}", self.element
            )
        else:
            self._made(
                f"vector.insert {self.any(self.element)}, {name} {at} : "
                f"{self.element} into {self._type(shape)}",
                shape,
            )

    def _shuffle(self) -> None:
        name, shape = self._any_vector()
        same = [o for o, sizes in self._vectors.items() if sizes[1:] == shape[1:]]
        other = self.draw.one_of(same)
        most = shape[0] + self._vectors[other][0] - 1
        lanes = self.draw.integers(self.draw.integer(1, 5), 0, most)
        types = f"{self._type(shape)}, {self._type(self._vectors[other])}"
        if len(shape) == 1:
            self._made(f"vector.shuffle {name}, {other} {lanes} : {types}", [len(lanes)])
