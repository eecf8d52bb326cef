"""The file of choices: what is read, what is written, what is refused."""

import json
from pathlib import Path

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.kernels.algorithm import Direct
from gawee_dialect.dialect.kernels.schedule import Loop, Prefetch, Schedule
from gawee_dialect.dialect.kernels.winograd import Winograd
from gawee_dialect.passes.pass_manager import parse_passes
from gawee_dialect.passes.tensors.assign_schedules import AssignSchedules
from gawee_dialect.schedules.database import NO_CHOICES, Choice, Database, Entry
from gawee_dialect.schedules.file import append, read_schedules
from gawee_dialect.universe import all_passes

CHOICES: list[Choice] = [
    Direct(),
    Winograd(tile=4, by_channel=True, block=5, rows=3, panel=48, lanes=16),
    Winograd(4, by_channel=True, block=5, rows=3, panel=48, lanes=16, prefetch=True, filters=True),
    Winograd(4, by_channel=False, block=5, rows=3, panel=48, lanes=16, prefetch_inputs=True),
    Schedule((Loop(1), Loop(0), Loop(2)), Loop(0, 16), 1, Prefetch(1, 1)),
    Schedule((Loop(1, 32), Loop(2), Loop(4)), Loop(1, 16), 2),
    Schedule(()),
]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda each: type(each).__name__)
def test_what_is_written_is_read_again(choice: Choice, tmp_path: Path) -> None:
    path = tmp_path / "choices.jsonl"
    append(path, Entry("k", "cpu", choice, threads=2, facts={"kernel": "größer", "seconds": 0.5}))

    found = read_schedules(path).find("k", "cpu")

    assert found is not None
    assert found.choice == choice
    assert found.threads == 2
    assert found.facts == {"kernel": "größer", "seconds": 0.5}
    assert found.place == f"{path}:1"


def test_the_last_line_for_a_kernel_holds_and_other_targets_have_their_own(tmp_path: Path) -> None:
    path = tmp_path / "choices.jsonl"
    for target, loop in (("a", 1), ("b", 2), ("a", 3)):
        append(path, Entry("k", target, Schedule((Loop(loop),))))

    database = read_schedules(path)

    found = [database.find("k", target) for target in ("a", "b", "c")]
    assert [None if each is None else each.choice for each in found] == [
        Schedule((Loop(3),)),
        Schedule((Loop(2),)),
        None,
    ]


def test_what_was_measured_is_known_by_threads() -> None:
    database = Database([Entry("k", "a", Direct(), threads=2), Entry("hand", "a", Direct())])

    assert database.has_measured("k", "a", 2)
    assert not database.has_measured("k", "a", 1)
    assert not database.has_measured("hand", "a", 1)


def test_choices_tell_databases_apart_and_not_the_files_they_are_from(tmp_path: Path) -> None:
    path = tmp_path / "choices.jsonl"
    append(path, Entry("k", "a", Direct()))

    read = read_schedules(path)
    same = NO_CHOICES.plus(Entry("k", "a", Direct()))

    assert (str(read), str(same)) == (str(path), "none")
    assert repr(read) == repr(same) != repr(same.plus(Entry("k", "a", Schedule((Loop(1),)))))
    assert not NO_CHOICES


def test_a_pass_with_a_database_is_the_same_pass_in_text(tmp_path: Path) -> None:
    path = tmp_path / "choices.jsonl"
    append(path, Entry("k", "a", Direct()))
    text = f'assign-schedules{{schedules="{path}" target="haswell"}}'

    (made,) = parse_passes(text, all_passes())
    (again,) = parse_passes(str(made.spec()), all_passes())

    assert isinstance(made, AssignSchedules)
    assert isinstance(again, AssignSchedules)
    assert repr(made) == repr(again) != repr(AssignSchedules(target="haswell"))
    assert str(AssignSchedules(target="haswell").spec()) == 'assign-schedules{target="haswell"}'


def test_what_was_not_chosen_when_a_line_was_written_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "choices.jsonl"
    path.write_text(json.dumps({**FINE, "choice": WINOGRAD}))

    found = read_schedules(path).find("k", "t")

    assert found is not None
    assert found.choice == Winograd(2, by_channel=False, block=4, rows=4, panel=16, lanes=16)


def test_a_database_is_named_by_one_path() -> None:
    with pytest.raises(GaweeError, match=r"expected the path of a file as 'schedules', got \[7\]"):
        parse_passes("assign-schedules{schedules=7}", all_passes())


FINE = {"key": "k", "target": "t", "choice": {"algorithm": "direct"}}
WINOGRAD = {
    "algorithm": "winograd",
    **{"tile": 2, "by_channel": False, "block": 4, "rows": 4, "panel": 16, "lanes": 16},
}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "expected a JSON object, got an error at column 2"),
        ("7", "expected a JSON object, got int"),
        ("[" * 100_000, "expected less nesting"),
        (json.dumps({**FINE, "key": 3}), "expected a text as 'key', got 3"),
        (json.dumps({"key": "k"}), "expected a text as 'target', got none"),
        (json.dumps({**FINE, "choice": "direct"}), "expected an object as 'choice'"),
        (json.dumps({**FINE, "threads": "2"}), "expected a number as 'threads', got \"2\""),
        (json.dumps({**FINE, "choice": {}}), "as 'algorithm', got none"),
        (
            json.dumps({**FINE, "choice": {**WINOGRAD, "rows": 0}}),
            "expected a positive number as 'rows', got 0",
        ),
        (
            json.dumps({**FINE, "choice": {**WINOGRAD, "by_channel": 1}}),
            "expected true or false as 'by_channel', got 1",
        ),
        (
            json.dumps({**FINE, "choice": {"schedule": "#gawee.schedule<loops = [d1 by]>"}}),
            "cannot read schedule",
        ),
        (
            json.dumps({**FINE, "choice": {"schedule": "i32"}}),
            "expected #gawee.schedule<...> as 'schedule', got 'i32'",
        ),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "choices.jsonl"
    path.write_text(f"{json.dumps(FINE)}\n\n{line}\n")

    with pytest.raises(GaweeError) as caught:
        read_schedules(path)

    (problem,) = caught.value.diagnostics
    assert problem.place == f"{path}:3"
    assert message in problem.message
