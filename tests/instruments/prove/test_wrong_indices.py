"""What becomes of indices out of range is proved: they are clamped, and told.

Oracle: wrong changes by hand, which only such indices show.
"""

from collections.abc import Callable
from functools import cache

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, ModuleOp

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.instruments.check.failure import CheckFailure
from tests.effort import full_run, two_of_each
from tests.instruments.checking import parse
from tests.instruments.prove import networks
from tests.instruments.prove.proving import lowered, prove, unproved
from tests.instruments.wrong.wrong_pass import Wrong

pytestmark = pytest.mark.usefixtures("unoptimized")

LOOPS = "gawee-to-kernels,gawee-kernels-to-loops"


@cache
def halves_after(passes: str) -> ModuleOp:
    """Return what several wrong passes begin with."""
    return lowered(parse(networks.HALVES), passes)


def other_constant(old: int, new: int) -> Callable[[ModuleOp], None]:
    """Make another integer of each constant that is all one integer."""

    def change(module: ModuleOp) -> None:
        for op in module.walk():
            value = op.properties.get("value")
            if isinstance(op, arith.ConstantOp) and isinstance(value, IntegerAttr):
                if value.value.data == old:
                    op.properties["value"] = IntegerAttr(new, value.type)
            elif isinstance(op, ConstantOp) and isinstance(value, DenseIntOrFPElementsAttr):
                if set(value.get_values()) == {old}:
                    numbers = [new] * len(value)
                    op.properties["value"] = DenseIntOrFPElementsAttr.from_list(value.type, numbers)

    return change


LIMITS = ((-37, -36), (-37, -38), (36, 35), (36, 37), (37 - (1 << 63), 38 - (1 << 63)))


@pytest.mark.parametrize(
    ("limit", "before"),
    [
        pytest.param(*each, marks=full_run if number % 2 else ())
        for number, each in enumerate(
            two_of_each(LIMITS, ["check-indices", "gawee-to-kernels", LOOPS])
        )
    ],
)
def test_other_limits_of_indices_are_caught(limit: tuple[int, int], before: str) -> None:
    module = halves_after(before).clone()

    with pytest.raises(
        CheckFailure, match=r"pass 'wrong' (moved output|left a module that cannot be run)"
    ):
        prove(module, "", Wrong(other_constant(*limit)))


def test_our_passes_do_with_wrong_indices_what_they_did() -> None:
    pipeline = f"{LOOPS},convert-scf-to-openmp,convert-to-llvm"

    assert unproved(prove(parse(networks.HALVES), pipeline)) == {}


def test_indices_that_are_trusted_are_in_range() -> None:
    assert unproved(prove(parse(networks.HALVES), "gawee-to-linalg")) == {}
