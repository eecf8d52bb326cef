"""Outputs that a graph gives the same name: each has one of its own, in linear time."""

import pytest

from gawee_dialect.frontends.op_mapping.emitter import unique_names


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["y", "y", "y"], ["y", "y_2", "y_3"]),
        (["y", "y", "y_2"], ["y", "y_3", "y_2"]),
        (["y_2", "y_2", "y", "y"], ["y_2", "y_2_2", "y", "y_3"]),
    ],
)
def test_a_name_that_is_taken_gets_the_next_free_number(
    names: list[str], expected: list[str]
) -> None:
    assert unique_names(names) == expected


def test_fifty_thousand_outputs_of_one_name_are_named_at_once() -> None:
    # Trying every number from 2 for each would take minutes.
    names = unique_names(["y"] * 50_000)

    assert names[-1] == "y_50000"
