"""What every op and every pass must have: these tests name what is missing.

A constraint's failing test is a chunk of `tests/filecheck/dialect/*_invalid.mlir` with a comment
`// ConvOp C1: ...`, the label being the one in the op's docstring.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator
from xdsl.transforms import get_all_passes
from xdsl.universe import Universe
from xdsl.utils.hints import isa

import gawee_dialect.passes
from gawee_dialect.analysis.work import flops_rule
from gawee_dialect.dialect import GAWEE, GRAPH_LEVEL, KERNEL_LEVEL
from gawee_dialect.dialect.entry import entry_arguments, find_function
from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import BinaryOp, ElementwiseOp, UnaryOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp
from gawee_dialect.dialect.kernels.kernel import KernelOp, YieldOp
from gawee_dialect.dialect.types import AnyTensor, dtype_name
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.fuzz.random_graph import OPS as RANDOM
from gawee_dialect.interpreter import run_module
from gawee_dialect.interpreter.gawee import GAWEE_FUNCTIONS
from gawee_dialect.interpreter.gawee.graph import EvaluatedFunctions
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.tools.gawee_opt import summary
from gawee_dialect.universe import (
    OVERRIDES,
    PASSES,
    PIPELINES,
    UNIVERSE,
    all_passes,
    make_context,
)
from tests.closeness import assert_allclose

FILECHECK = Path(__file__).parent / "filecheck"
OPS = list(GAWEE.operations)
OUR_PASSES = {**UNIVERSE.all_passes, **{name: all_passes()[name] for name in OVERRIDES}}

TO_LOOPS = "bufferize,lower-winograd-to-loops,lower-kernels-to-loops"

# A terminator has no example of its own.
EXAMPLES: dict[type[Operation], type[Operation]] = {YieldOp: KernelOp}

# Python values are folded away by `canonicalize`, or rejected: no level computes them.
NOT_COMPUTED = (GetAttrOp, GetItemOp)
COMPUTED_OPS = [op for op in OPS if op not in NOT_COMPUTED]
LOWERED_OPS = [op for op in GRAPH_LEVEL if op not in NOT_COMPUTED]


def name_of(op: type[Operation]) -> str:
    return op.__name__


def docstring(thing: type) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def example_text(op: type[Operation]) -> str:
    found = re.search(r"^```mlir\n(.*?)^```", docstring(op), re.DOTALL | re.MULTILINE)
    assert found is not None, f"{op.__name__} has no ```mlir example in its docstring"
    return found[1]


def example_module(op: type[Operation]) -> ModuleOp:
    """Return a module of one function @main around an op's example; what it reads are arguments."""
    text = example_text(EXAMPLES.get(op, op))
    parser = Parser(make_context(), text)
    last = None
    while (parsed := parser.parse_optional_operation()) is not None:
        last = parsed
    assert last is not None
    arguments = ", ".join(
        f"%{name}: {value.type}"
        for name, parts in parser.forward_ssa_references.items()
        for value in parts.values()
    )
    results = ", ".join(str(result.type) for result in last.results)
    # Not those inside of regions, which are indented.
    names = re.findall(r"^(%.*?) = ", text, re.MULTILINE)[-1]
    body = f"{text}\nfunc.return {names} : {results}"
    function = f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"
    return Parser(make_context(), function).parse_module()


@pytest.mark.parametrize("op", OPS, ids=name_of)
def test_op_example_shows_the_op_verifies_and_round_trips(op: type[Operation]) -> None:
    module = example_module(op)

    module.verify()

    assert any(isinstance(inner, op) for inner in module.walk())
    for generic in (False, True):
        again = parse_mlir(make_context(), print_mlir(module, generic=generic), "example")
        assert again.is_structurally_equivalent(module)


def example_arguments(module: ModuleOp) -> dict[str, np.ndarray]:
    """Return numbers around one for what an example reads; as indices they are 0 and 1."""
    function = find_function(module)
    assert function is not None
    random = np.random.default_rng(0)
    return {
        argument.name: random.uniform(0.5, 2, argument.type.get_shape()).astype(
            dtype_name(argument.type.element_type)
        )
        for argument in entry_arguments(function)
        if isa(argument.type, AnyTensor)
    }


@pytest.mark.parametrize("op", COMPUTED_OPS, ids=name_of)
def test_op_example_runs_with_the_shape_it_declares(op: type[Operation]) -> None:
    module = example_module(op)
    function = find_function(module)
    assert function is not None

    results = run_module(module, example_arguments(module)).values()

    for result, declared in zip(results, function.function_type.outputs, strict=True):
        assert isa(declared, AnyTensor)
        assert result.shape == declared.get_shape()
        assert str(result.dtype) == dtype_name(declared.element_type)


@pytest.mark.parametrize("op", LOWERED_OPS, ids=name_of)
def test_op_example_computes_what_pytorch_does(op: type[Operation]) -> None:
    pytest.importorskip("torch")
    from tests.torch_reference import MEANING, evaluate

    assert op in MEANING, f"tests/torch_computed.py or its like has no {op.__name__}"
    module = example_module(op)
    arguments = example_arguments(module)

    results = run_module(module, arguments)

    for name, expected in evaluate(module, arguments).items():
        assert results[name].dtype == expected.dtype
        # A few roundings of f32 in sums of up to some hundred products.
        assert_allclose(results[name], expected, rtol=1e-5, atol=1e-5)


def names(ops: Iterable[type[Operation]]) -> list[str]:
    return [op.__name__ for op in ops]


def test_what_an_op_means_is_said_in_one_place() -> None:
    sets = {op: [each for each in GAWEE_FUNCTIONS if op in each.op_types()] for op in OPS}
    del sets[YieldOp]

    assert names(op for op, found in sets.items() if len(found) != 1) == []
    assert names(op for op, found in sets.items() if found == [EvaluatedFunctions]) == names(
        op for op in sets if issubclass(op, EvaluatedOp | EquationOp)
    )


def test_the_work_of_every_op_is_known() -> None:
    missing = names(op for op in LOWERED_OPS if flops_rule(op) is None and op is not ConstantOp)

    assert missing == [], "analysis/work.py has none of these"


def test_random_ops_of_each_kind_can_be_made() -> None:
    missing = names(op for op in GRAPH_LEVEL if op not in RANDOM)

    assert missing == [], "fuzz/random_graph.py has none of these"


@pytest.mark.parametrize("op", LOWERED_OPS, ids=name_of)
def test_op_example_lowers_to_linalg(op: type[Operation]) -> None:
    module = example_module(op)
    ctx = make_context()

    run_passes(ctx, module, parse_passes("lower-to-linalg", all_passes()))

    left = {inner.name for inner in module.walk() if inner.name.startswith("gawee.")}
    assert left == set()


@pytest.mark.parametrize("op", KERNEL_LEVEL, ids=name_of)
def test_kernel_level_op_example_lowers_to_loops(op: type[Operation]) -> None:
    module = example_module(op)
    ctx = make_context()

    run_passes(ctx, module, parse_passes(TO_LOOPS, all_passes()))

    left = {inner.name for inner in module.walk() if inner.name.startswith("gawee.")}
    assert left == set()


def test_ops_without_a_meaning_of_their_own_are_refused_by_the_lowering() -> None:
    assert set(NOT_COMPUTED) <= set(LowerToLinalg.removes)


def test_every_op_has_a_round_trip_test() -> None:
    texts = [path.read_text() for path in (FILECHECK / "dialect").glob("*.mlir")]
    tested = "\n".join(text for text in texts if "ROUNDTRIP" in text)

    def is_written(op: type[Operation]) -> bool:
        # An op without a form of its own is written in quotes.
        written = rf"""{"" if op.has_trait(IsTerminator) else "= "}"?{op.name}\b"""
        return re.search(written, tested) is not None

    # The examples of elementwise ops, which have all that there is of their syntax, are enough.
    others = (op for op in OPS if not issubclass(op, ElementwiseOp))
    missing = names(op for op in others if not is_written(op))
    assert missing == [], "no file of tests/filecheck/dialect with RUN: ROUNDTRIP has these"


def labels(op: type[Operation]) -> list[str]:
    return re.findall(r"^\s+(C\d+):", docstring(op), re.MULTILINE)


def test_constraints_are_labelled_in_order() -> None:
    wrong = names(op for op in OPS if labels(op) != [f"C{n + 1}" for n in range(len(labels(op)))])

    assert wrong == []


def test_each_constraint_has_a_failing_test() -> None:
    text = "".join(path.read_text() for path in (FILECHECK / "dialect").glob("*_invalid.mlir"))
    tested = {
        f"{name} {label}"
        for name, found in re.findall(r"^// (\w+) (C[^:]*):", text, re.MULTILINE)
        for label in re.findall(r"C\d+", found)
    }
    stated = {f"{op.__name__} {label}" for op in OPS for label in labels(op)}
    # Of types and shapes, which follow from equations: tests/dialect/test_equations.py.
    unary = [f"{op.__name__} C1" for op in OPS if issubclass(op, UnaryOp)]
    binary = [f"{op.__name__} C{n}" for op in OPS if issubclass(op, BinaryOp) for n in (1, 2, 3)]

    missing = sorted(stated - tested - {*unary, *binary})
    assert missing == [], "no chunk '// ConvOp C1: ...' in a _invalid.mlir has these"


def test_passes_load_under_their_names() -> None:
    types = {name: load() for name, load in OUR_PASSES.items()}

    assert [name for name, each in types.items() if not issubclass(each, ModulePass)] == []
    assert {name: each.name for name, each in types.items()} == {name: name for name in types}
    assert [name for name, each in types.items() if not is_dataclass(each)] == []


def test_passes_live_in_the_modules_of_their_names() -> None:
    modules = {name: OUR_PASSES[name]().__module__ for name in (*PASSES, *OVERRIDES)}

    def is_home(name: str, module: str) -> bool:
        home = rf"gawee_dialect\.passes\.(graph|tensors|buffers|loops)\.{name.replace('-', '_')}"
        return re.fullmatch(rf"{home}(\..*)?", module) is not None

    assert [each for each in modules.items() if not is_home(*each)] == []


def test_docstrings_of_passes_begin_with_a_sentence() -> None:
    summaries = {name: summary(load()) for name, load in OUR_PASSES.items()}

    assert [each for each in summaries.items() if not each[1].endswith(".")] == []


def test_docstrings_of_passes_show_the_rewrite() -> None:
    texts = {name: docstring(OUR_PASSES[name]()) for name in (*PASSES, *OVERRIDES)}

    missing = [name for name, text in texts.items() if "->" not in text.partition("rewrite:\n")[2]]
    assert missing == []


def test_every_pass_has_a_test_file_of_its_name() -> None:
    def has_file(stem: str) -> bool:
        folders = (FILECHECK / "passes", FILECHECK / "pipelines")
        return any((folder / f"{stem}.mlir").exists() for folder in folders) or any(
            (FILECHECK / "passes" / stem).glob("*.mlir")
        )

    missing = [name for name in OUR_PASSES if not has_file(name.replace("-", "_"))]
    assert missing == [], "expected tests/filecheck/passes/<name>.mlir"


def test_pass_names_are_free_in_xdsl() -> None:
    assert sorted(set(UNIVERSE.all_passes) & set(get_all_passes())) == []
    assert sorted(set(OVERRIDES) - set(get_all_passes())) == []


def classes_of_passes(base: type) -> dict[str, type]:
    """Return the classes that modules of `passes` define, by name."""
    found: dict[str, type] = {}
    for info in walk_packages(gawee_dialect.passes.__path__, "gawee_dialect.passes."):
        for name, value in vars(import_module(info.name)).items():
            if inspect.isclass(value) and value.__module__ == info.name and issubclass(value, base):
                found[name] = value
    return found


def test_every_pass_is_registered() -> None:
    classes = classes_of_passes(ModulePass)
    concrete = {name for name, value in classes.items() if not inspect.isabstract(value)}
    bases = {"RewritePass", "ConvertToAlgorithm"}
    homes = (*PASSES.values(), *PIPELINES.values(), *OVERRIDES.values())
    registered = {*(home.rpartition(".")[2] for home in homes), *bases}

    assert sorted(concrete - registered) == []


def test_every_pattern_shows_before_and_after() -> None:
    patterns = classes_of_passes(Pattern)
    concrete = {name: value for name, value in patterns.items() if not inspect.isabstract(value)}

    assert [name for name, value in concrete.items() if "->" not in docstring(value)] == []


@pytest.mark.parametrize("kind", ["all_dialects", "all_passes", "all_targets"])
def test_plain_xdsl_opt_finds_us_and_every_factory_loads(kind: str) -> None:
    merged = getattr(Universe.get_multiverse(), kind)
    ours: dict[str, Callable[[], type]] = getattr(UNIVERSE, kind)

    assert set(ours) <= set(merged)
    for factory in ours.values():
        assert factory() is not None
