"""python -m tests.conformance.onnx: all cases of ONNX's backend test, through our backend.

Prints what passed, failed and was refused, with reasons. Every verdict is kept in
build/onnx_cases.jsonl when it is made, so that `--missing` goes on where a run was stopped. `--all`
does that for every case, in the interpreter and as compiled code, and writes the page of the docs:
a case takes about half a second of processor time for both, 1,914 a quarter of an hour.
`--write` makes the verdicts the baseline; without it a case that the baseline has as passed, and
that did not, makes the exit code 1.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from gawee_dialect.flag_values import positive
from gawee_dialect.workers import ForkedWorkers, Workers, run_forked
from gawee_dialect.workers.dask_workers import workers_of
from tests.conformance.onnx.cases import Case, all_cases
from tests.conformance.onnx.page import counts_of, page
from tests.conformance.onnx.verdict import LEVELS, Verdict, judge

BASELINE = Path(__file__).with_name("baseline.json")
ROOT = Path(__file__).resolve().parents[3]
VERDICTS = ROOT / "build" / "onnx_cases.jsonl"
BOTH = "gawee,llvm"
"""The levels that the page tells of."""
TOGETHER = 16
"""Cases of a task."""
PAGE = ROOT / "docs" / "onnx_conformance.md"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the cases that the command line chooses."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.onnx",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("words", nargs="*", help="only cases with one of these in their names")
    parser.add_argument("--all", action="store_true", help="every case; writes the page")
    of = f"of {', '.join(LEVELS)} (default: {BOTH})"
    parser.add_argument("--levels", default=BOTH, help=of)
    parser.add_argument("--jobs", type=positive, default=1, help="processes (default: 1)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of Dask: its workers judge")
    parser.add_argument("--missing", action="store_true", help="only what has no verdict yet")
    parser.add_argument("--write", action="store_true", help="make the result the baseline")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no reasons")
    arguments = parser.parse_args(argv)
    levels = arguments.levels.split(",")
    unknown = [level for level in levels if level not in LEVELS]
    if unknown:
        parser.error(f"unknown level '{unknown[0]}'; known: {', '.join(LEVELS)}")
    if arguments.all and (arguments.words or arguments.levels != BOTH):
        parser.error("--all writes the page of every case: without words and --levels")
    cases = [case for case in all_cases() if _is_chosen(case, arguments.words)]
    known = read_verdicts() if arguments.missing else {}
    left = to_do(cases, levels, set(known))
    with workers_of(arguments.scheduler) as workers:
        by_workers = arguments.scheduler is not None
        for made in run_by(workers, left) if by_workers else run(left, arguments.jobs):
            known[made.case, made.level] = made
            keep(made)
    verdicts = [known[case.name, level] for case in cases for level in levels]
    if not arguments.quiet:
        _print_reasons(verdicts)
    for level in levels:
        print(f"{level}: {counts_of([each for each in verdicts if each.level == level])}")
    if arguments.all:
        PAGE.write_text(page(verdicts, levels), encoding="utf-8")
    if arguments.write:
        write_baseline(verdicts)
        return 0
    worse = regressions(verdicts)
    for each in worse:
        print(f"regression: {each.case} at {each.level}: {each.status}, {each.reason}")
    return 1 if worse else 0


def _is_chosen(case: Case, words: Sequence[str]) -> bool:
    return not words or any(word in case.name for word in words)


def _print_reasons(verdicts: Iterable[Verdict]) -> None:
    for each in verdicts:
        if each.status != "passed":
            print(f"{each.level:6} {each.status:8} {each.case}: {each.reason}")


def to_do(
    cases: Sequence[Case], levels: Sequence[str], done: set[tuple[str, str]]
) -> list[tuple[Case, Sequence[str]]]:
    """Return cases with the levels at which they were not judged yet."""
    left = [(case, [level for level in levels if (case.name, level) not in done]) for case in cases]
    return [each for each in left if each[1]]


def run_by(workers: Workers, todo: Sequence[tuple[Case, Sequence[str]]]) -> Iterator[Verdict]:
    """Have workers judge cases at their levels, some in a task: what is loaded serves them all.

    A task whose process ends is done again case by case; one that ends its own process has failed.
    """
    several = [todo[at : at + TOGETHER] for at in range(0, len(todo), TOGETHER)]
    lost: list[tuple[Case, Sequence[str]]] = []
    for number, verdicts, _ in _judged_by(workers, several):
        if verdicts is None:
            lost += several[number]
        else:
            yield from verdicts
    for number, verdicts, error in _judged_by(workers, [[each] for each in lost]):
        case, levels = lost[number]
        failed = (
            Verdict(case.name, case.op_type, case.opset, each, "failed", error) for each in levels
        )
        yield from failed if verdicts is None else verdicts


def _judged_by(
    workers: Workers, tasks: Sequence[Sequence[tuple[Case, Sequence[str]]]]
) -> Iterator[tuple[int, Sequence[Verdict] | None, str]]:
    judged = _judged if isinstance(workers, ForkedWorkers) else _judged_apart
    jobs = [
        [((case.name, case.kind, case.path), levels) for case, levels in task] for task in tasks
    ]
    for done in workers.run(judged, jobs, quiet=False):
        yield done.number, done.result, done.error or ""


def run(todo: Sequence[tuple[Case, Sequence[str]]], jobs: int = 1) -> Iterator[Verdict]:
    """Judge every case at its levels, in this process or in several others."""
    if jobs > 1:
        yield from run_by(ForkedWorkers(jobs), todo)
        return
    for case, levels in todo:
        yield from judge(case, levels)


Job = Sequence[tuple[tuple[str, str, Path], Sequence[str]]]


def _judged(job: Job) -> list[Verdict]:
    return [verdict for case, levels in job for verdict in judge(Case(*case), levels)]


def _judged_apart(job: Job) -> list[Verdict]:
    return run_forked(_judged, job)  # a limit of time needs a main thread, which workers' are not


def keep(verdict: Verdict) -> None:
    """Append a verdict to the file of all of them."""
    VERDICTS.parent.mkdir(exist_ok=True)
    with VERDICTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(verdict)) + "\n")


def read_verdicts() -> dict[tuple[str, str], Verdict]:
    """Return the latest verdict on every case at every level."""
    lines = VERDICTS.read_text(encoding="utf-8").splitlines() if VERDICTS.exists() else []
    verdicts = (Verdict(**json.loads(line)) for line in lines)
    return {(each.case, each.level): each for each in verdicts}


def read_baseline() -> dict[str, list[str]]:
    """Return the names of the cases that are to pass, by level."""
    return json.loads(BASELINE.read_text()) if BASELINE.exists() else {}


def write_baseline(verdicts: Sequence[Verdict]) -> None:
    """Keep which cases pass; levels that were not run stay as they are."""
    kept = read_baseline()
    for level in {each.level for each in verdicts}:
        ran = {each.case for each in verdicts if each.level == level}
        passed = {each.case for each in verdicts if each.level == level and each.status == "passed"}
        kept[level] = sorted({*passed, *(set(kept.get(level, ())) - ran)})
    BASELINE.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")


def regressions(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return what the baseline has as passed, and did not pass."""
    kept = {level: set(names) for level, names in read_baseline().items()}
    return [
        each
        for each in verdicts
        if each.status != "passed" and each.case in kept.get(each.level, ())
    ]


if __name__ == "__main__":
    sys.exit(main())
