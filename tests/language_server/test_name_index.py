"""An index moves along with edits: what is left of it stands where its name does."""

from hypothesis import given
from hypothesis import strategies as st

from gawee_dialect.language_server.name_index import edited
from gawee_dialect.language_server.reading import read
from gawee_dialect.universe import make_context

MODULE = """\
func.func @f(%m: memref<5xf32>, %low: index, %high: index, %step: index) {
  scf.for %i = %low to %high step %step {
    %v = memref.load %m[%i] : memref<5xf32>
    memref.store %v, %m[%i] : memref<5xf32>
  }
  func.return
}
"""
INDEX = read(make_context, MODULE, "f.mlir").index


def test_every_name_is_found_where_it_stands() -> None:
    found = [MODULE[each.start : each.end] for each in INDEX.occurrences]

    assert found == [each.name.text for each in INDEX.occurrences]
    assert len(found) == MODULE.count("%") + MODULE.count("@")
    assert [MODULE[start] for start, _ in INDEX.scopes] == ["f", "{", "{"]
    assert [MODULE[end - 1] for _, end in INDEX.scopes] == ["\n", "}", "}"]


@given(st.integers(0, len(MODULE)), st.integers(0, 30), st.text("%vi 0\n}", max_size=12))
def test_what_is_left_after_an_edit_stands_where_its_name_does(
    start: int, size: int, typed: str
) -> None:
    after = MODULE[:start] + typed + MODULE[start + size :]

    moved = INDEX.moved(MODULE, after)

    assert [after[each.start : each.end] for each in moved.occurrences] == [
        each.name.text for each in moved.occurrences
    ]
    assert all(0 <= first <= last <= len(after) for first, last in moved.scopes)
    untouched = [
        each for each in INDEX.occurrences if each.end < start or each.start > start + size
    ]
    assert {each.name for each in untouched} <= {each.name for each in moved.occurrences}


def test_an_edit_is_told_by_what_is_alike_around_it() -> None:
    assert edited("abcdef", "abXYef") == (2, 4, 0)
    assert edited("aaaa", "aaa") == (3, 4, -1)
    assert edited("", "new") == (0, 0, 3)
    assert edited("same", "same") == (4, 4, 0)
