"""Programs of steps as values: what each step does to loops, what it refuses, their text."""

from pathlib import Path

import pytest
from xdsl.dialects import arith

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.schedule import Loop, Prefetch, Schedule, ScheduleAttr
from gawee_dialect.schedules.database import Entry
from gawee_dialect.schedules.file import append, program_text, read_schedules
from gawee_dialect.schedules.script import Script, behind, parse_script, script_of
from gawee_dialect.schedules.steps import STEPS, IllegalStep, Nest, Step
from tests.tuning.test_candidates import product

M, N, K = 35, 50, 60


@pytest.fixture
def op() -> KernelOp:
    return product(M, N, K)


def loops(script: Script, op: KernelOp) -> str:
    """Return the loops behind a program as `#gawee.schedule` says them."""
    text = str(ScheduleAttr(behind(script, op).schedule))
    return text.removeprefix("#gawee.schedule<").removesuffix(">")


start = Script()


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (start, "loops = [d0, d1, d2]"),
        (start.tile(d0=6, d1=32), "loops = [d0 by 6, d1 by 32, d0, d1, d2]"),
        (start.tile(d2=4), "loops = [d0, d1, d2 by 4, d2]"),
        (
            start.tile(d0=12).tile(d0=6, d1=32),
            "loops = [d0 by 12, d0 by 6, d1 by 32, d0, d1, d2]",
        ),
        (start.split(d1=7), "loops = [d0, d1 by 7, d1, d2]"),
        (start.interchange("d1", "d0"), "loops = [d1, d0, d2]"),
        (start.tile(d0=6).interchange("d1", "d0"), "loops = [d0 by 6, d1, d0, d2]"),
        (start.vectorize(d1=16), "loops = [d0, d1 by 16, d2], vector = d1 by 16"),
        (start.vectorize(d1=64), "loops = [d0, d2], vector = d1 by 64"),
        (start.vectorize(d2=8), "loops = [d0, d1, d2 by 8], vector = d2 by 8"),
        (start.tile(d0=6).unroll("d0"), "loops = [d0 by 6, d1, d2]"),
        (start.parallelize("d0", "d1"), "loops = [d0, d1, d2], parallel = 2"),
        (start.prefetch(1, along="d1"), "loops = [d0, d1, d2], prefetch = input 1 along d1"),
        (
            start.name("m", "n", "k").nest("n by 16", "m", "k", vector="n by 16", parallel=1),
            "loops = [d1 by 16, d0, d2], vector = d1 by 16, parallel = 1",
        ),
        (
            start.nest("d1", "d2", prefetch="input 1 along d1"),
            "loops = [d1, d2], prefetch = input 1 along d1",
        ),
        (start.split_reduction(d2=5), "loops = [d0, d1, d2, d3]"),
        (start.pad(d0=6).tile(d0=36), "loops = [d0 by 36, d0, d1, d2]"),
    ],
    ids=str,
)
def test_a_step_changes_the_loops_as_it_says(script: Script, expected: str, op: KernelOp) -> None:
    assert loops(script, op) == expected


def test_parts_of_a_reduction_are_a_parallel_dimension(op: KernelOp) -> None:
    nest = behind(start.name("m", "n", "k").split_reduction(k=5), op)

    assert (nest.names, nest.sizes) == (("m", "n", "k_parts", "k"), (M, N, 5, 12))
    assert nest.as_written((1, 1, 2, 12)) == (1, 1, 24)


def test_padded_dimensions_have_a_multiple_of_points(op: KernelOp) -> None:
    nest = behind(start.name("m", "n", "k").pad(m=6, n=10), op)

    assert (nest.sizes, nest.padded) == ((36, N, K), (0,))


def test_where_integers_are_divided_zeros_are_no_padding(op: KernelOp) -> None:
    number = arith.ConstantOp.from_int_and_width(1, 32)
    first = op.finish.block.first_op
    assert first is not None
    op.finish.block.insert_ops_before([number, arith.DivSIOp(number, number)], first)

    with pytest.raises(GaweeError, match="expected an axis of the output, none, got d0"):
        behind(start.pad(d0=6), op)


REFUSED = [
    (start.tile(d0=36), "expected a step of 1 to 35 in 'd0 by 36', got 36"),
    (start.tile(q=3), "expected one of d0, d1, d2, got 'q'"),
    (start.name("m", "n", "k").tile(m=36), "in 'm by 36', got 36"),
    (start.name("m", "n"), "expected 3 names, got 2"),
    (start.name("m", "m", "k"), "expected different names that are identifiers, got 'm'"),
    (start.vectorize(d1=12), "expected 2^n lanes, got 12"),
    (start.unroll("d0", "d0"), "expected a loop over d0 to unroll, got none"),
    (start.unroll("d0").split(d0=4), "expected a loop over d0, got none"),
    (start.unroll("d2"), "expected a loop by 1 over reduction d2"),
    (start.interchange("d2", "d0"), "expected loop 'd1' outside the reductions"),
    (start.interchange("d0", "d0"), "expected each loop once"),
    (start.interchange("d0 by 4"), "expected one of the loops d0, d1, d2, got 'd0 by 4'"),
    (start.interchange("d0 by x"), "expected a loop such as 'd0 by 4', got 'd0 by x'"),
    (start.vectorize(d0=1), "expected at least 2 lanes, got 1"),
    (start.vectorize(d0=4, d1=4), "expected one dimension to vectorize, got 2"),
    (start.parallelize("d1"), "expected the outermost loops, d0, got d1"),
    (start.parallelize("d0", "d1", "d2"), "expected at most 2 parallel loops, got 3"),
    (start.prefetch(2, along="d0"), "expected one of 2 inputs, got 2"),
    (start.pack(2), "expected one of 2 inputs, got 2"),
    (start.nest("d0", prefetch="1"), "expected such as 'input 1 along d0', got '1'"),
    (start.split_reduction(d2=7), "expected parts that divide 60, got 7"),
    (start.split_reduction(d0=5), "expected a reduction whose order is free, got d0"),
    (start.split_reduction(d2=5, d0=5), "expected one dimension to split, got 2"),
    (start.tile(d0=4).split_reduction(d2=5), "expected it before the steps that change loops"),
    (start.pad(d2=7), "expected an axis of the output, d0, d1, got d2"),
    (start.pad(d0=0), "expected a multiple of 1 or more, got 0"),
    (start.pack(0).pad(d0=6), "expected it before the steps that change loops"),
    (start.pad(d0=6).split_reduction(d2=5), "expected it before the steps that change loops"),
    (start.split_reduction(d2=5).pad(d0=6), "expected it before the steps that change loops"),
    (start.algorithm("fft"), "expected one of direct, winograd, got 'fft'"),
]


@pytest.mark.parametrize(("script", "reason"), REFUSED, ids=lambda each: str(each))
def test_an_illegal_step_is_refused_at_the_kernel(
    script: Script, reason: str, op: KernelOp
) -> None:
    with pytest.raises(GaweeError) as caught:
        behind(script, op, "the schedule is that of mine.py:3")

    text = str(caught.value)
    last = script.steps[-1]
    assert f"test.mlir:3:3: error: 'gawee.kernel' op cannot take the step {last}: " in text
    assert reason in text
    assert "hint: the schedule is that of mine.py:3" in text


def test_a_reduction_in_a_fixed_order_keeps_it(op: KernelOp) -> None:
    combine = next(each for each in op.accumulate.block.ops if each.name == "arith.addf")
    combine.operands[0] = combine.operands[1] = op.accumulate.block.args[-1]

    with pytest.raises(GaweeError, match="expected a reduction whose order is free, got d2"):
        behind(start.vectorize(d2=8), op)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tile(d0=)", "expected a chain of steps, got 'sch.tile"),
        ("slice(d0=4)", "expected one of the steps name, tile"),
        ("tile(4)", "step 'tile': too many positional arguments"),
        ('tile(d0="4")', "step 'tile': unexpected argument '4'"),
        ("tile(d0=2 * 3)", "expected a number or a text, got '2 * 3'"),
        ("tile", "expected a chain of steps, got 'sch.tile'"),
        ("tile(d0=4)[0]", "expected a chain of steps"),
    ],
)
def test_what_is_no_program_is_refused(text: str, reason: str) -> None:
    with pytest.raises(IllegalStep) as caught:
        parse_script(text)

    assert reason in str(caught.value)


def test_arguments_that_a_step_does_not_take_are_the_users_mistake() -> None:
    with pytest.raises(GaweeError, match=r"step 'unroll': unexpected argument 3"):
        start.unroll(3)  # pyright: ignore[reportArgumentType]


def test_programs_are_values() -> None:
    one = start.name("m", "n", "k").tile(m=6, n=32)
    other = start.vectorize(n=16).unroll("m", "n")

    assert one + other == parse_script(f"{one}.{other}")
    assert str(one + other) == (
        'name("m", "n", "k").tile(m=6, n=32).vectorize(n=16).unroll("m", "n")'
    )
    assert one != other
    assert len({one, parse_script(str(one))}) == 1
    assert parse_script("") == start


SCHEDULES = [
    Schedule((Loop(1, 32), Loop(0, 5), Loop(2)), Loop(1, 16), 1, Prefetch(1, 1)),
    Schedule((Loop(0, 12), Loop(1, 32), Loop(0, 4), Loop(2, 10), Loop(2)), Loop(1, 8), 2),
    Schedule((Loop(0), Loop(1, 5), Loop(2, 32)), Loop(2, 8)),
    Schedule((Loop(1), Loop(0), Loop(2))),
    Schedule((Loop(2),)),
    Schedule((Loop(0, 35), Loop(2)), Loop(1, 16)),
    Schedule((Loop(1), Loop(0), Loop(1), Loop(0), Loop(2))),
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda each: str(ScheduleAttr(each)))
def test_every_schedule_is_a_program(schedule: Schedule, op: KernelOp) -> None:
    script = parse_script(str(script_of(op, schedule)))

    assert behind(script, op).schedule == schedule


def test_what_steps_cannot_say_is_declared(op: KernelOp) -> None:
    script = script_of(op, SCHEDULES[-1])

    assert str(script) == 'nest("d1", "d0", "d1", "d0", "d2")'


def test_every_step_has_a_rule_and_a_rewrite() -> None:
    for step, rule in STEPS.values():
        assert rule
        assert step.__doc__
        assert step is STEPS["name"][0] or "rewrite:" in step.__doc__
    assert Step("unroll", ("d0",)).rule == STEPS["unroll"][1]


# Files.


def test_a_program_is_read_from_a_file(tmp_path: Path) -> None:
    first = start.tile(d0=6, d1=32).vectorize(d1=16).unroll("d0", "d1").parallelize("d0 by 6")
    entries = [
        Entry("a1", "haswell", first + start.prefetch(1, along="d1")),
        Entry("b2", "haswell", start.algorithm("winograd", tile=4), facts={"kernel": "conv"}),
    ]
    path = tmp_path / "mine.py"
    path.write_text(program_text(entries, "haswell"))

    database = read_schedules(path)

    assert [each.choice for each in database.entries] == [each.choice for each in entries]
    found = database.find("b2", "haswell")
    assert found is not None
    assert found.place == f"{path}:13"
    assert path.read_text().startswith('sch = schedule(target="haswell")\n\n(\n    sch["a1"]\n')
    assert "# conv\n" in path.read_text()


def test_lines_of_json_have_programs_too(tmp_path: Path) -> None:
    path = tmp_path / "choices.jsonl"
    append(path, Entry("k", "cpu", start.tile(d0=6)))

    (entry,) = read_schedules(path).entries

    assert entry.choice == start.tile(d0=6)
    assert '"choice": {"steps": "tile(d0=6)"}' in path.read_text()


def test_every_line_of_a_program_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    lines = [
        'sch["early"].tile(d0=4)',
        'sch = schedule(target="haswell")',
        "import os",
        "sch[3].tile(d0=4)",
        'sch["k"].tile(d0=os.getpid())',
        'sch["k"].tile(d0=4)',
    ]
    path.write_text("\n".join(lines))

    with pytest.raises(GaweeError) as caught:
        read_schedules(path)

    assert [str(each) for each in caught.value.diagnostics] == [
        f"{path}:1: error: expected sch = schedule(target=\"...\"), got 'sch['early'].tile(d0=4)'",
        f"{path}:3: error: expected sch[\"key\"].step(...), got 'import os'",
        f"{path}:4: error: expected a text as key, got 3",
        f"{path}:5: error: expected a number or a text, got 'os.getpid()'",
    ]


def test_a_file_that_is_no_python_is_told_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text('sch = schedule(target="haswell")\nsch[')

    with pytest.raises(GaweeError, match=r"mine.py:2: error: expected Python: '\[' was never"):
        read_schedules(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "sch\0",
            "mine.py:1: error: expected Python: source code string cannot contain null bytes",
        ),
        ('sch["a"]' + ".tile(d0=4)" * 50_000, "mine.py:1: error: expected less nesting"),
        ("-" * 100_000 + "1", "mine.py:1: error: expected less nesting"),
    ],
    ids=["zero byte", "many steps", "many signs"],
)
def test_text_that_python_does_not_parse_is_told_at_its_beginning(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)

    with pytest.raises(GaweeError, match=message):
        read_schedules(path)


def test_a_nest_is_that_of_the_kernel_as_it_is_written() -> None:
    nest = Nest.of(product(1, 50, 60))

    assert nest.schedule == Schedule((Loop(1), Loop(2)))
    assert (nest.num_parallel, nest.num_inputs, nest.free_order) == (2, 2, True)
