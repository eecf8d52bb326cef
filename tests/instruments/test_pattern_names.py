"""The place of a pattern's class is the one that Python tells."""

import importlib
import inspect
from functools import partial

import pytest
from xdsl.pattern_rewriter import RewritePattern

from gawee_dialect.instruments.report import source_place

MODULES = (
    "gawee_dialect.passes.graph.fold_conv_add",
    "gawee_dialect.passes.graph.lower_to_linalg.conv",
    "xdsl.transforms.canonicalization_patterns.arith",
)


class Outer:
    @partial(lambda made: made)
    class Inner(RewritePattern):
        def match_and_rewrite(self, op, rewriter) -> None: ...


def patterns(module: str) -> list[type[RewritePattern]]:
    members = vars(importlib.import_module(module)).values()
    return [
        each
        for each in members
        if isinstance(each, type) and issubclass(each, RewritePattern) and each.__module__ == module
    ]


@pytest.mark.parametrize("module", MODULES)
def test_the_line_is_that_of_the_class_or_its_decorator(module: str) -> None:
    found = patterns(module)
    assert found
    for pattern in found:
        _, line = inspect.getsourcelines(pattern)
        assert str(source_place(pattern)).endswith(f".py:{line}")


def test_a_class_inside_another_is_found() -> None:
    _, line = inspect.getsourcelines(Outer.Inner)
    assert str(source_place(Outer.Inner)).endswith(f"test_pattern_names.py:{line}")


def test_a_class_without_source_has_no_place() -> None:
    made = type("Made", (RewritePattern,), {"match_and_rewrite": lambda *_: None})
    assert source_place(made) is None
