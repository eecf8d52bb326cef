"""TOML with places: of what cannot be read, and of values that are wrong."""

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.experiments.study import decode_toml, place_of
from gawee_dialect.source import Source

TEXT = """\
# a study
rounds = 3

[[network]]
name = "first"
shape = {x = [1,
  2]}

[[network]]
text = \"\"\"
name = "not this one"
\"\"\"
name = "second"
[options.deep]
threads = [
  1,
  2,
]
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("rounds",), 2),
        (("network", 0), 4),
        (("network", 0, "name"), 5),
        (("network", 0, "shape", "x"), 6),
        (("network", 1), 9),
        (("network", 1, "name"), 13),
        (("options", "deep", "threads"), 15),
    ],
)
def test_a_value_is_on_the_line_where_it_begins(path: tuple[str | int, ...], line: int) -> None:
    source = Source.of_text(TEXT, "a.toml")
    decode_toml(source)

    assert place_of(source, path) == f"a.toml:{line}:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rounds = \n", "a.toml:1:10: error: cannot read TOML: invalid value"),
        ("a = 1\nb = [1,\n", "a.toml:3:1: error: cannot read TOML: "),
        ("a = 1\r\na = 2\r\n", "a.toml:2:6: error: cannot read TOML: cannot overwrite a value"),
        ("a = " + "[" * 4000, "a.toml:1:1: error: cannot read TOML: values are nested too deeply"),
        ("a = 2020-99-99", "a.toml:1:"),
    ],
)
def test_what_is_not_toml_is_an_error_with_a_place(text: str, message: str) -> None:
    with pytest.raises(GaweeError) as error:
        decode_toml(Source.of_text(text, "a.toml"))

    assert str(error.value).startswith(message)


def test_numbers_of_more_digits_than_python_reads_are_refused() -> None:
    with pytest.raises(GaweeError, match=r"a.toml:1:1: error: cannot read TOML: exceeds the limit"):
        decode_toml(Source.of_text("a = " + "1" * 5000, "a.toml"))
