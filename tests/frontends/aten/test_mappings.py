"""Every mapping of an ATen op against PyTorch, on random arguments."""

from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gawee_dialect.frontends.npu_ir.aten.registry import find_mapping, mappings
from tests.frontends.aten.calls import CASES, Draw, check, find_overload

for _file in sorted(Path(__file__).parent.glob("cases_*.py")):
    import_module(f"tests.frontends.aten.{_file.stem}")

SETTINGS = settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.mark.parametrize("op", sorted(CASES))
def test_a_call_computes_what_pytorch_does(op: str) -> None:
    @SETTINGS
    @given(st.data())
    def run(data: st.DataObject) -> None:
        check(op, CASES[op](Draw(data.draw)))

    run()


NOTHING_TO_COMPARE = {
    # Without a result.
    *("aten._assert_async", "aten._assert_scalar", "aten._assert_tensor_metadata"),
    *("aten._functional_assert_async", "aten._functional_assert_scalar"),
    # Whatever is in memory.
    *("aten.empty.memory_format", "aten.empty_like", "aten.new_empty"),
    # PyTorch has it for other devices alone.
    "aten._conv_depthwise2d",
}


def test_every_mapping_has_a_case() -> None:
    tested = {mapping.name for op in CASES if (mapping := find_mapping(op)) is not None}

    assert sorted({mapping.name for mapping in mappings()} - tested - NOTHING_TO_COMPARE) == []


def schema_names(op: str) -> list[str]:
    return [argument.name for argument in find_overload(op)._schema.arguments]


@pytest.mark.parametrize("op", sorted(CASES))
def test_arguments_are_those_of_the_schema(op: str) -> None:
    mapping = find_mapping(op)
    assert mapping is not None
    declared = [parameter.name for parameter in mapping.parameters]
    optional = {parameter.name for parameter in mapping.parameters if not parameter.required}

    names = schema_names(op)

    assert [name for name in declared if name in names] == names
    assert {name for name in declared if name not in names} <= optional
