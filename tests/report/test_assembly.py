"""How much assembly a report keeps."""

from gawee_dialect.report.recording import LONGEST, MOST, assembly_json


def test_long_functions_are_cut_and_say_so() -> None:
    lines = [f"line {each}" for each in range(LONGEST + 7)]
    first, second = assembly_json({"long": lines, "short": ["ret"]})
    assert (first["lines"], first["cut"]) == (lines[:LONGEST], 7)
    assert second == {"function": "short", "lines": ["ret"], "cut": 0}


def test_no_more_is_kept_than_a_page_can_carry() -> None:
    count = MOST // LONGEST + 3
    found = assembly_json({f"f{each}": ["nop"] * LONGEST for each in range(count)})
    assert sum(len(each["lines"]) for each in found) == MOST
    assert (found[-1]["lines"], found[-1]["cut"]) == ([], LONGEST)
