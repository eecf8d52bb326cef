"""An index moves along with edits: what is left of it stands where its name does."""

from hypothesis import example, given
from hypothesis import strategies as st

from gawee_dialect.language_server.document import NameIndex, edited, read
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
@example(MODULE.index("%m"), 0, "0%")
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


def spans(index: NameIndex) -> list[tuple[int, int, str, bool]]:
    return [
        (each.start, each.end, each.name.text, each.is_definition) for each in index.occurrences
    ]


@given(st.integers(0, len(MODULE)), st.integers(0, 9), st.text("%vi 0\n/{}x", max_size=6))
@example(len(MODULE), 0, " ")
@example(len(MODULE) - 1, 1, "")
@example(0, len("func"), "")
def test_an_index_that_is_complete_after_an_edit_is_that_of_the_new_text(
    start: int, size: int, typed: str
) -> None:
    after = MODULE[:start] + typed + MODULE[start + size :]
    moved, parsed = INDEX.moved(MODULE, after), read(make_context, after, "f.mlir").index

    if moved.is_complete and parsed.is_complete:
        assert spans(moved) == spans(parsed)
        assert moved.scopes == parsed.scopes


def test_an_edit_beside_names_leaves_the_index_complete() -> None:
    wider = MODULE.replace("load %m[%i]", "load   %m [ %i ]")
    other = MODULE.replace("load %m[%i]", "load %m[%low]")

    assert INDEX.moved(MODULE, wider).is_complete
    assert spans(INDEX.moved(MODULE, wider)) == spans(read(make_context, wider, "f.mlir").index)
    assert not INDEX.moved(MODULE, other).is_complete


def test_an_edit_is_told_by_what_is_alike_around_it() -> None:
    assert edited("abcdef", "abXYef") == (2, 4, 0)
    assert edited("aaaa", "aaa") == (3, 4, -1)
    assert edited("", "new") == (0, 0, 3)
    assert edited("same", "same") == (4, 4, 0)
