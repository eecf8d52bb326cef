"""The benchmark of described operators runs, on small shapes."""

import pytest

from benchmarks.described_ops import Case, conv, matmul, row

pytest.importorskip("pycparser")


@pytest.mark.parametrize("case", [conv(3, 7, 5, 3, 2), matmul(3, 7, 5)], ids=lambda case: case.name)
def test_a_row_has_both_times_and_their_ratio(case: Case) -> None:
    name, *numbers = (cell.strip() for cell in row(case, rounds=2).strip("|").split("|"))
    described, built_in, ratio = map(float, numbers)

    assert name == case.name
    # Both times are shown as whole microseconds.
    assert ratio == pytest.approx(described / built_in, abs=1 / built_in + 0.01, rel=0.2)
