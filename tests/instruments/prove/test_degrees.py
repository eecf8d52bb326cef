"""The degree that a proof counts, and the chance that follows from it.

Oracle: degrees of polynomials and the lemma of Schwartz and Zippel, by hand.
"""

from math import log2

import pytest

from gawee_dialect.instruments.prove.degrees import Degrees
from tests.instruments.checking import parse
from tests.instruments.prove.proving import prove

SIZES = "tensor<3x18xf32>"


def counted(body: str, pipeline: str) -> Degrees:
    """Return the degrees of the last pass that is proved of a function of x and z."""
    lines = "\n".join(f"  {line}" for line in body.strip().splitlines())
    arguments = f'%x: {SIZES} {{gawee.input = "x"}}, %z: {SIZES} {{gawee.input = "z"}}'
    text = f"""
func.func @main({arguments}) -> ({SIZES} {{gawee.output = "y"}}) {{
{lines.replace("OF_TWO", f": ({SIZES}, {SIZES}) -> {SIZES}").replace("OF_ONE", f": ({SIZES}) -> {SIZES}")}
  return %y : {SIZES}
}}
"""
    proof = prove(parse(text), pipeline)
    proof.count_degrees()
    steps = proof.steps
    assert {str(step.verdict) for step in steps} <= {"", "unchanged", "proved"}
    return [step.degrees for step in steps if step.degrees is not None][-1]


LEVELS = ("lower-to-linalg", "gawee-to-loops", "gawee-to-kernels", "gawee-to-llvm")


@pytest.mark.parametrize("pipeline", LEVELS)
@pytest.mark.parametrize(
    ("body", "degrees"),
    [
        ("%y = gawee.add %x, %z OF_TWO", Degrees(1)),
        ("%p = gawee.mul %x, %z OF_TWO\n%y = gawee.sub %p, %x OF_TWO", Degrees(2)),
        (
            "%p = gawee.mul %x, %x OF_TWO\n%q = gawee.mul %p, %p OF_TWO\n"
            "%y = gawee.mul %q, %z OF_TWO",
            Degrees(5),
        ),
        ("%p = gawee.mul %x, %x OF_TWO\n%y = gawee.div %p, %z OF_TWO", Degrees(3)),
        ("%p = gawee.mul %x, %z OF_TWO\n%y = gawee.exp %p OF_ONE", Degrees(1, 2, 1)),
        (
            "%p = gawee.exp %x OF_ONE\n%q = gawee.mul %p, %z OF_TWO\n"
            "%r = gawee.mul %q, %q OF_TWO\n%s = gawee.tanh %r OF_ONE\n"
            "%y = gawee.mul %s, %s OF_TWO",
            Degrees(2, 4, 2),
        ),
        ("%p = gawee.relu %x OF_ONE\n%y = gawee.mul %p, %p OF_TWO", Degrees(2)),
    ],
    ids=["sum", "product", "power", "quotient", "function", "functions", "maximum"],
)
def test_the_degree_is_that_of_the_polynomial_at_every_level(
    body: str, degrees: Degrees, pipeline: str
) -> None:
    assert counted(body, pipeline) == degrees


def test_the_chance_is_that_of_three_primes() -> None:
    smallest = 7 * 2**18
    assert Degrees().chance == 0
    assert log2(Degrees(32).chance) == pytest.approx(3 * log2(32 / smallest))
    # Results may agree, or the arguments of one of two functions.
    assert Degrees(1, 7, 2).chance == pytest.approx((1 + 2 * 7**3) / smallest**3)
    assert Degrees(smallest).chance == 1
    assert str(Degrees(32)) == "2^-47"
