"""What the tests of graph passes share: parsing, running passes, random arguments, comparing."""

from collections.abc import Mapping

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import verify_module
from gawee_dialect.dialect.entry import (
    MAIN,
    ArgumentKind,
    EntryArgument,
    entry_arguments,
    find_function,
)
from gawee_dialect.dialect.types import dtype_name, is_tensor
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from gawee_dialect.upstream.located_parser import LocatedParser


def evaluate(module: ModuleOp, arguments: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What PyTorch computes of a module; the test is skipped where PyTorch is absent."""
    pytest.importorskip("torch")
    from tests.torch_reference import evaluate

    return evaluate(module, arguments)


def parse(text: str) -> ModuleOp:
    module = LocatedParser(make_context(), text, "test.mlir").parse_module()
    verify_module(module)
    return module


def transform(module: ModuleOp, pipeline: str) -> ModuleOp:
    """Return a copy of a module after passes."""
    result = module.clone()
    run_passes(make_context(), result, parse_passes(pipeline, all_passes()))
    return result


def shape_of(argument: EntryArgument) -> tuple[int, ...]:
    """The shape of an argument that is a tensor."""
    assert is_tensor(argument.type)
    return argument.type.get_shape()


def random_arguments(module: ModuleOp, seed: int = 0) -> dict[str, np.ndarray]:
    """Random arrays for `@main`; parameters are positive, since some are variances."""
    generator = np.random.default_rng(seed)
    main = find_function(module, MAIN)
    assert main is not None
    arrays: dict[str, np.ndarray] = {}
    for argument in entry_arguments(main):
        assert is_tensor(argument.type)
        dtype = dtype_name(argument.type.element_type)
        low = -0.5 if argument.kind is ArgumentKind.INPUT else 0.1
        numbers = generator.uniform(low, low + 1, argument.type.get_shape())
        arrays[argument.name] = np.asarray(numbers, dtype)
    return arrays


def op_names(module: ModuleOp, function: str = MAIN) -> list[str]:
    """The names of the gawee ops in a function, without their prefix."""
    found = find_function(module, function)
    assert found is not None
    return [op.name.removeprefix("gawee.") for op in found.body.block.ops][:-1]


def assert_same_results(
    before: ModuleOp, after: ModuleOp, *, rtol: float, seed: int = 0
) -> Mapping[str, np.ndarray]:
    """Compare two modules by PyTorch on random arguments; the error is relative to the range."""
    arguments = random_arguments(before, seed)
    expected, actual = evaluate(before, arguments), evaluate(after, arguments)
    assert expected.keys() == actual.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(
            actual[name], array, rtol=0, atol=rtol * np.abs(array).max(), err_msg=name
        )
    return actual
