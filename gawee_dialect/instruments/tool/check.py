"""Check the pipeline of another tool: which of its passes changes what a program computes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

import numpy as np
from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import FunctionType, ModuleOp, VectorType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import find_function, is_public
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.blame import Culprit
from gawee_dialect.instruments.check.compare import Tolerance, changed_signature, compare
from gawee_dialect.instruments.check.each import CheckEach, State
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.check.execute import CannotRun, Engine, Plan
from gawee_dialect.instruments.check.failure import CheckFailure, CheckStep, Differing, failure
from gawee_dialect.instruments.check.functions import WHOLE, ArraySpec
from gawee_dialect.instruments.check.inputs import (
    EXTREMES,
    TIES,
    DataSet,
    array_of_extremes,
    array_with_ties,
    seeded_array,
)
from gawee_dialect.instruments.tool.native import (
    Code,
    Convention,
    Outputs,
    Shaped,
    check_type,
    llvm_of,
    lower_many,
)
from gawee_dialect.instruments.tool.pipeline import (
    NO_PASS,
    UNREAD,
    Run,
    Tool,
    ToolPass,
    joined,
    read,
    split_pipeline,
)
from gawee_dialect.interpreter.arrays import (
    Array,
    Unwritten,
    dtype_of,
    poison_as_unwritten,
    unwritten_memory,
)
from gawee_dialect.interpreter.machine import check_implemented, make_machine
from gawee_dialect.interpreter.scf import SeesLoops, parallel_loops_backwards
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.numerics import REASSOCIATES
from gawee_dialect.passes.pass_manager import run_pipeline
from gawee_dialect.upstream.scf import ForallOp
from gawee_dialect.upstream.walk import all_ops

OPEN_SIZE = 7
"""What every open size is: so all that have to be equal are."""

MOST_STEPS = 20_000
"""Ops that are interpreted, loops' bodies as often as they run; beyond, machine code is faster."""

SMALL = (1, 4)
"""Between which numbers an `index` is that a function takes: it may be a size, or an index."""

NAME = "in.mlir"

PARTIAL = (
    arith.DivSIOp,
    arith.DivUIOp,
    arith.RemSIOp,
    arith.RemUIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.FloorDivSIOp,
    arith.ShLIOp,
    arith.ShRSIOp,
    arith.ShRUIOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
)
"""What is undefined for some operands: a pass may do then what it likes."""


PARALLEL = (scf.ParallelOp, affine.ParallelOp, ForallOp)
"""Loops whose iterations may run in any order."""


def functions_of(module: ModuleOp) -> list[FuncOp]:
    """Return what is run: the public functions, or where there are none the last one."""
    defined = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
    return [op for op in defined if is_public(op)] or defined[-1:]


def is_partial(module: ModuleOp) -> bool:
    """Whether a module has ops that are undefined for some integers."""
    return any(isinstance(op, PARTIAL) or _has_flags(op) for op in all_ops(module))


def _has_flags(op: Operation) -> bool:
    flags = op.properties.get("overflowFlags")
    return flags is not None and "none" not in str(flags)


def specs_of(function: FuncOp) -> list[ArraySpec]:
    """Describe the arrays that a function takes; raises CannotRun."""
    specs: list[ArraySpec] = []
    for index, type in enumerate(function.function_type.inputs):
        check_type(type, f"argument {index}")
        shape = Convention((), (), OPEN_SIZE).shape(type)
        dtype = dtype_of(type)
        use = WHOLE if dtype.kind in "iu" else "number"
        specs.append(ArraySpec(f"argument{index}", shape, dtype, use))
    return specs


def memory_of(types: FunctionType) -> Sequence[int]:
    """Return which arguments of a function are memory: their contents are results."""
    return [index for index, type in enumerate(types.inputs) if "memref" in str(type)[:6]]


def data_of(module: ModuleOp, function: FuncOp, seed: int) -> Sequence[DataSet]:
    """Draw the data that a function runs on; raises GaweeError where no array is an argument."""
    try:
        specs = specs_of(function)
    except CannotRun as error:
        raise GaweeError(error.diagnostic) from error
    types = list(function.function_type.inputs)
    partial = is_partial(module)

    def drawn(made: Array, type: Attribute) -> Array:
        if _is_index(type):
            generator = np.random.default_rng((seed, made.size))
            return np.asarray(generator.integers(*SMALL, made.shape), np.int64)
        if partial and made.dtype.kind in "iu":
            return np.asarray(1 + np.abs(made) % 9).astype(made.dtype)
        return made

    sets = [DataSet({s.name: drawn(seeded_array(s, seed), t) for s, t in zip(specs, types)})]
    if specs:
        ties = {s.name: drawn(array_with_ties(s, seed), t) for s, t in zip(specs, types)}
        sets.append(DataSet(ties, name=TIES))
    if any(spec.dtype.kind in "iu" for spec in specs) and not partial:
        most = {s.name: drawn(array_of_extremes(s, seed), t) for s, t in zip(specs, types)}
        sets.append(DataSet(most, name=EXTREMES))
    return sets


def same_outputs(one: Outputs, other: Outputs) -> bool:
    """Whether two runs on some data sets returned the same."""
    return all(
        [*a] == [*b]
        and all(np.array_equal(a[k], b[k], equal_nan=a[k].dtype.kind == "f") for k in a)
        for a, b in zip(one, other, strict=True)
    )


def _is_index(type: Attribute) -> bool:
    element = type.get_element_type() if isa(type, Shaped) else type
    return str(element) == "index"


def _elements(type: Attribute) -> tuple[Sequence[int], Attribute]:
    """Return the shape and the element type of what a function takes or returns."""
    shape = Convention((), (), OPEN_SIZE).shape(type)
    if isa(type, Shaped) or isa(type, VectorType[Attribute]):
        return shape, type.element_type
    return shape, type


class _Steps(Interpreter.Listener):
    """Raises CannotRun after as many ops as take a second or two."""

    def __init__(self) -> None:
        self._steps = 0

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise CannotRun(Diagnostic.at(op, f"more than {MOST_STEPS} steps"))


def _is_number(value: object) -> TypeGuard[Array]:
    return isinstance(value, np.generic)


@dataclass(frozen=True)
class ToolPlan(Plan):
    """How a function runs: interpreted, or as machine code that the tool itself lowered it to."""

    code: Code | None = None
    given: int = 0
    keeps: Sequence[int] = ()
    text: str = field(default="", repr=False)
    """What the tool wrote."""

    def run(self, data_sets: Sequence[DataSet]) -> Sequence[dict[str, Array]]:
        if self.code is not None:
            return self.code.run(data_sets)
        return [self._interpreted(each) for each in data_sets]

    def observe(self, data_sets: Sequence[DataSet], listener: Interpreter.Listener) -> None:
        for each in data_sets:
            self._interpreted(each, (listener,))

    def run_backwards(self, data: DataSet) -> dict[str, Array]:
        """Run with the iterations of parallel loops in reverse."""
        with parallel_loops_backwards():
            return self._interpreted(data, (SeesLoops(),))

    @property
    def has_parallel_loops(self) -> bool:
        """Whether there are parallel loops, as far as the module is read."""
        return any(isinstance(op, PARALLEL) for op in all_ops(self.module))

    def recorded(self, value: object) -> Array | None:
        """Return a value of the run as an array: scalars are compared too."""
        return np.asarray(value) if _is_number(value) else super().recorded(value)

    def _interpreted(
        self, data: DataSet, listeners: Sequence[Interpreter.Listener] = ()
    ) -> dict[str, Array]:
        function = find_function(self.module, self.function)
        assert function is not None
        types = list(function.function_type.inputs)
        convention = Convention(types, (), OPEN_SIZE)
        arrays = [_operand(array) for array in data.arrays.values()]
        arrays += [np.zeros(convention.shape(t), dtype_of(t)) for t in types[self.given :]]
        listeners = (*listeners, _Steps())
        unwritten = unwritten_memory(data.unwritten)
        with unwritten, poison_as_unwritten(), np.errstate(all="ignore"):
            results = make_machine(self.module, listeners).call_op(function, tuple(arrays))
        found = [*results, *arrays[self.given :]]
        named = {f"result{index}": np.array(each) for index, each in enumerate(found)}
        return named | {f"argument{index}": np.array(arrays[index]) for index in self.keeps}


def _operand(array: Array) -> Array:
    return np.array(array) if np.ndim(array) else np.asarray(array)[()]


class CheckTool(CheckEach):
    """Checks the passes of another tool, as CheckEach does those of ours.

    What the interpreter runs is interpreted. All else is lowered by the tool itself and runs as
    machine code; where the program was interpreted before, that lowering has to agree with it.
    """

    def __init__(self, run: Run, settings: CheckSettings | None = None) -> None:
        super().__init__(settings)
        self._tool = run
        self._types: dict[str, FunctionType] = {}
        self._given: dict[str, int] = {}
        self._keeps: dict[str, Sequence[int]] = {}

    def _start(self, module: ModuleOp) -> None:
        if UNREAD in module.attributes:
            raise GaweeError(f"cannot read the module: {module.attributes['reason']}")
        functions = functions_of(module)
        if not functions:
            raise GaweeError("expected a function to run, got none in the module")
        self._module, self._before = module, None
        self._unchecked, self._state, self._reference, self._seen = [], None, None, {}
        self._graph = None
        for function in functions:
            name, types = function.sym_name.data, function.function_type
            self._given[name], self._keeps[name] = len(types.inputs), memory_of(types)
            self._data[name] = data_of(module, function, self.settings.seed)
            self.arguments[name] = dict(self._data[name][0].arrays)
            self._overwritten[name] = ()
        step = self.first_step()
        self.steps.append(step)
        self._take(self._run_at_first(module, step), step)
        if self._state is None:
            message = f"cannot run the module: {step.note.removeprefix('not run: ')}"
            raise GaweeError(Diagnostic(message, step.place))
        self._check_written(self._state)

    def _check_written(self, state: State) -> None:
        """Raise GaweeError where outputs are of memory that the program has not written.

        They may be anything, before a pass as after it. So may they where the program does what is
        undefined, which optimised code shows.
        """
        for name, plan in state.plans.items():
            others = [replace(each, unwritten=Unwritten.LARGEST) for each in self._data[name]]
            if isinstance(plan, ToolPlan) and plan.code is not None:
                plan = replace(plan, code=replace(plan.code, optimized=True))
            if not same_outputs(state.outputs[name], plan.run(others)):
                message = f"'@{name}' returns what it reads of memory that it never wrote"
                raise GaweeError(f"cannot check the module: {message}, or what is undefined")

    def _reference_of(self, state: State) -> None:
        return None

    def _run(self, module: ModuleOp, step: CheckStep) -> State | None:
        copy = module.clone()
        plans: dict[str, Plan] = {}
        outputs: dict[str, Sequence[dict[str, Array]]] = {}
        try:
            for name in self.arguments:
                plans[name], outputs[name] = self._run_function(copy, name)
        except CannotRun as error:
            step.note = f"not run: {error.diagnostic.message}"
            step.place = error.diagnostic.place
            return None
        return State(copy, plans, outputs)

    def _run_function(
        self, module: ModuleOp, name: str
    ) -> tuple[ToolPlan, Sequence[dict[str, Array]]]:
        """Run a function; raises CannotRun, and GaweeError where it goes wrong.

        What the interpreter refuses, such as a vector beyond its row, may have run as machine code
        before: then it is run so again.
        """
        plan, state, place = self._plan(module, name), self._state, None
        try:
            return plan, plan.run(self._data[name])
        except GaweeError:
            if plan.code is not None:
                raise
            if state is not None and state.plans[name].engine is Engine.INTERPRETER:
                raise
        except CannotRun as error:
            if plan.code is not None:
                raise
            place = error.diagnostic.place
            self._check_lowering(name)
        native = self._native_plan(module, name)
        try:
            return native, native.run(self._data[name])
        except GaweeError as error:
            first = error.diagnostics[0]
            raise GaweeError(replace(first, place=first.place or place)) from error

    def _plan(self, module: ModuleOp, name: str) -> ToolPlan:
        function = find_function(module, name)
        if function is not None and function.body.blocks:
            self._check_types(function)
            self._types[name] = function.function_type
        given, keeps = self._given[name], self._keeps[name]
        if _is_interpretable(module, name):
            engine, text = Engine.INTERPRETER, self._tool.text
            return ToolPlan(engine, module, name, (), given=given, keeps=keeps, text=text)
        self._check_lowering(name)
        return self._native_plan(module, name)

    def _check_types(self, function: FuncOp) -> None:
        """Raise CannotRun where a function takes or returns elements of other types than it did."""
        name = function.sym_name.data
        was, now = self._types.get(name, function.function_type), function.function_type
        pairs = [*zip([*was.inputs][: self._given[name]], now.inputs)]
        if len(was.outputs) == len(now.outputs):
            pairs += zip(was.outputs, now.outputs)
        other = next((pair for pair in pairs if _elements(pair[0]) != _elements(pair[1])), None)
        if other is not None:
            message = f"cannot be compared: '{other[0]}' of '@{name}' has become '{other[1]}'"
            raise CannotRun(Diagnostic.at(function, message))

    def _native_plan(self, module: ModuleOp, name: str) -> ToolPlan:
        code = self._code(self._tool.text, name)
        return ToolPlan(Engine.NATIVE, module, name, (), code=code)

    def _code(self, text: str, name: str) -> Code:
        types = self._types[name]
        for each in types.outputs:
            check_type(each, "a result")
        for each in types.inputs:
            check_type(each, "an argument")
        convention = Convention(list(types.inputs), list(types.outputs), OPEN_SIZE)
        self._lower_ahead(text)
        llvm = llvm_of(self._tool.tool.name, text)
        return Code(llvm, name, convention, self._given[name], self._keeps[name])

    def _lower_ahead(self, text: str) -> None:
        """Lower a text with all that passes make of it: what follows machine code is some, too."""
        known = [*dict.fromkeys(self._tool.known)]
        if text in known:
            self._tool.known = ()
            lower_many(self._tool.tool.name, known[known.index(text) :], reasons=True)

    def _check_lowering(self, name: str) -> None:
        """Raise CannotRun where the tool lowers wrongly what the interpreter ran before."""
        state = self._state
        if state is None or state.plans[name].engine is not Engine.INTERPRETER:
            return
        before, types = state.plans[name], self._types[name]
        assert isinstance(before, ToolPlan)
        function = find_function(before.module, name)
        assert function is not None
        self._types[name] = function.function_type
        try:
            found = self._code(before.text, name).run(self._data[name])
        except (CannotRun, GaweeError):
            return  # not lowered then: nothing is known of it
        finally:
            self._types[name] = types
        tolerance = Tolerance((REASSOCIATES,), self.settings.rtol, self.settings.atol)
        for expected, actual in zip(state.outputs[name], found, strict=True):
            same = changed_signature(actual, expected) is None
            if not same or any(tolerance.wrong(actual[k], expected[k]).any() for k in expected):
                what = "the tool lowers what ran before in another way than it is interpreted"
                raise CannotRun(Diagnostic(what))

    def _compare(self, before: State, after: State, step: CheckStep) -> None:
        super()._compare(before, after, step)
        for name in before.plans:
            for index, data in enumerate(self._data[name]):
                found = _backwards(after.plans[name], data)
                if found is not None and not self._depends_on_order(before, name, index):
                    self._compare_backwards((before, after), (name, index), found)

    def _depends_on_order(self, state: State, name: str, index: int) -> bool:
        """Whether the iterations of a parallel loop may not have been independent before."""
        plan = state.plans[name]
        if isinstance(plan, ToolPlan) and plan.code is not None and plan.has_parallel_loops:
            return True  # as machine code, they ran forwards alone
        found = _backwards(plan, self._data[name][index])
        expected, tolerance = state.outputs[name][index], self._tolerance(state, state)
        return found is not None and any(
            tolerance.wrong(found[key], expected[key]).any() for key in expected
        )

    def _compare_backwards(
        self, states: tuple[State, State], run: tuple[str, int], found: Mapping[str, Array]
    ) -> None:
        (name, index), tolerance = run, self._tolerance(*states)
        for output, array in states[0].outputs[name][index].items():
            each = compare(found[output], array, tolerance)
            if each is not None and each.is_wrong:
                message = (
                    f"moved output '{output}'{each.at} where parallel loops run backwards: "
                    f"expected {each.expected!s}, got {each.actual!s}; "
                )
                plans = states[0].plans[name], states[1].plans[name], self._data[name]
                raise self._blaming(message, None, plans, (each.expected, each.actual))

    def _culprit(
        self, run: tuple[Plan, Plan, Sequence[DataSet]], tolerance: Tolerance
    ) -> Culprit | None:
        before, after, _ = run
        if not before.is_observable or not after.is_observable:
            return None
        return super()._culprit(run, tolerance)

    def _blaming(
        self,
        message: str,
        culprit: Culprit | None,
        run: tuple[Plan, Plan, Sequence[DataSet]],
        element: tuple[object, object],
    ) -> CheckFailure:
        """Say which op differs, or where that is not seen, which one the pass changed first."""
        if culprit is not None and culprit.difference is not None:
            return super()._blaming(message, culprit, run, element)
        op, now = first_change(run[0].module, run[1].module, run[0].function)
        if op is not None:
            message += f"first op that the pass replaced: '{op.name}'"
        else:
            message += f"first op that the pass added: '{now.name}'" if now else "no op is another"
        differing = Differing(None if op is None else op.name, *element)
        return failure(self._unchecked, message, op, None, differing)

    def check_pass(
        self, module_pass: ModulePass, before: ModuleOp, module: ModuleOp, step: CheckStep
    ) -> None:
        step.note = ""
        self._check_run(module_pass, module, step)


def _backwards(plan: Plan, data: DataSet) -> dict[str, Array] | None:
    """Return outputs where parallel loops run backwards, None where there are none."""
    if not isinstance(plan, ToolPlan) or plan.code is not None or not plan.has_parallel_loops:
        return None
    try:
        return plan.run_backwards(data)
    except CannotRun:  # of more steps than nests have that are compiled
        return None


def first_change(
    before: ModuleOp, after: ModuleOp, name: str
) -> tuple[Operation | None, Operation | None]:
    """Return the first op of a function that is gone, and the first that is new; None of none."""
    old, new = _ops_of(before, name), _ops_of(after, name)
    return _first_beyond(old, new), _first_beyond(new, old)


def _ops_of(module: ModuleOp, name: str) -> list[Operation]:
    function = SymbolTable.lookup_symbol(module, name)
    return [] if function is None else [op for op in function.walk() if op is not function]


def _first_beyond(ops: Sequence[Operation], others: Sequence[Operation]) -> Operation | None:
    """Return the first of some ops that has no counterpart among others; constants count last."""
    known, beyond = [_facts(op) for op in others], list[Operation]()
    for op in ops:
        facts = _facts(op)
        if facts in known:
            known.remove(facts)
        else:
            beyond.append(op)
    return next((op for op in beyond if op.operands), beyond[0] if beyond else None)


def _facts(op: Operation) -> object:
    makers = [getattr(each.owner, "name", "") for each in op.operands]
    types = [each.type for each in op.results]
    return op.name, op.properties, op.attributes, makers, types, len(op.regions)


def _is_interpretable(module: ModuleOp, name: str) -> bool:
    """Whether the interpreter knows all that a function does."""
    function = find_function(module, name)
    if function is None or len(function.body.blocks) != 1:
        return False
    functions = (op for op in module.ops if isinstance(op, FuncOp))
    elsewhere = {op.sym_name.data for op in functions if not op.body.blocks}
    if any(isinstance(op, memref.ReinterpretCastOp) for op in all_ops(module)):
        return False  # interpreted are those alone that leave a dense buffer as it is
    calls = (op for op in all_ops(module) if isinstance(op, CallOp))
    if any(op.callee.string_value() in elsewhere for op in calls):
        return False
    try:
        check_implemented(module, [function])
    except GaweeError:
        return False
    return True


@dataclass
class Checked:
    """What a check of a pipeline found."""

    steps: Sequence[CheckStep]
    failure: CheckFailure | None = None
    text: str = ""
    """The module before the pass that is wrong."""

    pipeline: str = ""
    """That pass alone."""


def check_pipeline(
    text: str,
    pipeline: str,
    tool: Tool | str = "mlir-opt",
    settings: CheckSettings | None = None,
    name: str = NAME,
    *,
    at_once: bool = False,
) -> Checked:
    """Run a pipeline of another tool pass by pass, and compare what the module computes.

    `at_once` compares before the first pass and after the last alone, which is sooner. Raises
    GaweeError where the module cannot be read or run, or the tool refuses it.
    """
    from gawee_dialect.universe import make_context

    run = Run(Tool(tool) if isinstance(tool, str) else tool, text)
    parts = [whole(pipeline)] if at_once else split_pipeline(pipeline)
    passes = [ToolPass(run, each) for each in parts]
    if not parts:
        raise GaweeError("expected a pass pipeline, got none")
    ctx = make_context(allow_unregistered=True)
    run.text = read_by(run.tool, text, name)
    run.known = [run.text, *run.tool.run_through(run.text, parts)]
    module = read(ctx, run.text, name)
    check = CheckTool(run, settings)
    try:
        with instrumented(check):
            run_pipeline(ctx, module, passes, verify_each=False)
    except CheckFailure as error:
        return Checked(check.steps, error, run.before, run.pipeline)
    return Checked(check.steps)


def read_by(tool: Tool, text: str, name: str = NAME) -> str:
    """Return a text as a tool writes it.

    By its custom syntax it may have ops that are not known here.
    """
    return renamed(tool.run(text, NO_PASS), name)


def renamed(text: str, name: str) -> str:
    """Return what a tool wrote of its standard input, with a name of that."""
    return text.replace('"<stdin>"', f'"{name}"')


def whole(pipeline: str) -> str:
    """Return a pipeline as one that a tool runs at once."""
    return joined(split_pipeline(pipeline))


def assert_pipeline_correct(
    text: str,
    pipeline: str,
    tool: Tool | str = "mlir-opt",
    settings: CheckSettings | None = None,
) -> None:
    """Raise AssertionError that names the pass of a pipeline which changes what is computed."""
    found = check_pipeline(text, pipeline, tool, settings)
    if found.failure is not None:
        raise AssertionError(str(found.failure)) from found.failure
