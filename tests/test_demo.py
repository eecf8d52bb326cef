"""The tour of `make demo`: what it prints of long lines."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

DEMO = Path(__file__).parent.parent / "examples" / "demo.py"


@pytest.mark.parametrize(
    ("line", "width", "expected"),
    [
        ("%0 = gawee.relu %x", 18, "%0 = gawee.relu %x"),
        ("%0 = gawee.relu %x", 17, "%0 = ..."),  # not `gawee.re ...`
        ("%0 = gawee.relu %x", 9, "%0 = ..."),
    ],
)
def test_a_line_is_cut_between_two_words(line: str, width: int, expected: str) -> None:
    pytest.importorskip("skimage")
    spec = spec_from_file_location("demo", DEMO)
    assert spec is not None
    assert spec.loader is not None
    demo = module_from_spec(spec)
    spec.loader.exec_module(demo)

    assert demo.shortened(line, width) == expected
    assert len(expected) <= width
