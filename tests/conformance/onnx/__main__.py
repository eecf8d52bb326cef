"""python -m tests.conformance.onnx: ONNX's node cases at three levels, op by op.

Prints what passed, failed and was refused, with reasons, and why cases are not asked for. Every
verdict is kept in build/onnx_cases.jsonl when it is made, so that `--missing` goes on where a run
was stopped. `--write` makes the verdicts the baseline; without it a case that the baseline has as
passed, and that did not, makes the exit code 1.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from gawee_dialect.workers.dask_workers import workers_of
from gawee_dialect.workers.forked import run_forked
from gawee_dialect.workers.workers import Workers
from tests.conformance.onnx.cases import SETS, Case, all_cases
from tests.conformance.onnx.verdict import LEVELS, Verdict, judge

BASELINE = Path(__file__).with_name("baseline.json")
VERDICTS = Path(__file__).resolve().parents[3] / "build" / "onnx_cases.jsonl"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the cases that the command line chooses."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.onnx", description=__doc__)
    parser.add_argument("words", nargs="*", help="only cases with one of these in their names")
    parser.add_argument("--levels", default=",".join(LEVELS), help="of gawee, loops, llvm")
    parser.add_argument("--sets", default=",".join(SETS), help="of target, expanded, quantized")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of Dask: its workers judge")
    parser.add_argument("--missing", action="store_true", help="only what has no verdict yet")
    parser.add_argument("--write", action="store_true", help="make the result the baseline")
    parser.add_argument("--table", metavar="FILE", help="write the table as Markdown")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no reasons")
    arguments = parser.parse_args(argv)
    levels = arguments.levels.split(",")
    chosen = {name: _chosen(name, arguments.words) for name in arguments.sets.split(",")}
    known = read_verdicts() if arguments.missing else {}
    cases = {case.name: case for each in chosen.values() for case in each}
    left = to_do(list(cases.values()), levels, set(known))
    with workers_of(arguments.scheduler) as workers:
        by_workers = arguments.scheduler is not None
        for made in run_by(workers, left) if by_workers else run(left, arguments.jobs):
            known[made.case, made.level] = made
            keep(made)
    if not arguments.quiet:
        _print_reasons([known[name, level] for name in cases for level in levels])
    for name, its in chosen.items():
        print_counts(name, [[known[case.name, level] for case in its] for level in levels])
    verdicts = [known[name, level] for name in cases for level in levels]
    if arguments.table:
        made = [known[case.name, level] for case in chosen.get("target", []) for level in levels]
        Path(arguments.table).write_text(table(made, levels) + "\n" + skips())
    if arguments.write:
        write_baseline(verdicts)
        return 0
    worse = regressions(verdicts)
    for each in worse:
        print(f"regression: {each.case} at {each.level}: {each.status}, {each.reason}")
    return 1 if worse else 0


def _chosen(name: str, words: Sequence[str]) -> list[Case]:
    return [case for case in SETS[name]() if not words or any(word in case.name for word in words)]


def _print_reasons(verdicts: Iterable[Verdict]) -> None:
    for each in verdicts:
        if each.status != "passed":
            print(f"{each.level:6} {each.status:8} {each.case}: {each.reason}")


def print_counts(name: str, by_level: Sequence[Sequence[Verdict]]) -> None:
    """Print how many cases of a set passed at each level, and how many of float32 alone."""
    for verdicts in by_level:
        if not verdicts:
            continue
        counts = Counter(each.status for each in verdicts)
        known = sum(1 for each in verdicts if each.looked_up)
        floats = [each for each in verdicts if each.only_float32]
        passed = sum(1 for each in floats if each.status == "passed")
        text = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        print(
            f"{name} {verdicts[0].level}: {len(verdicts)} cases, {text}; "
            f"{passed} of the {len(floats)} of float32 alone; {known} with inputs known when read"
        )


def to_do(
    cases: Sequence[Case], levels: Sequence[str], done: set[tuple[str, str]]
) -> list[tuple[Case, Sequence[str]]]:
    """Return cases with the levels at which they were not judged yet."""
    left = [(case, [level for level in levels if (case.name, level) not in done]) for case in cases]
    return [each for each in left if each[1]]


def run_by(workers: Workers, todo: Sequence[tuple[Case, Sequence[str]]]) -> Iterator[Verdict]:
    """Have workers judge every case at its levels; a case that ends a worker has failed."""
    tasks = [(case.folder, levels) for case, levels in todo]
    for done in workers.run(_judged_alone, tasks, quiet=False):
        case, levels = todo[done.number]
        reason = done.error or ""
        failed = (Verdict(case.name, case.op_type, each, "failed", reason) for each in levels)
        yield from failed if done.result is None else done.result


def run(todo: Sequence[tuple[Case, Sequence[str]]], jobs: int = 1) -> Iterator[Verdict]:
    """Judge every case at its levels."""
    if jobs == 1:
        for case, levels in todo:
            yield from judge(case, levels)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for verdicts in pool.map(_judged, [(case.folder, levels) for case, levels in todo]):
            yield from verdicts


def _judged(job: tuple[Path, Sequence[str]]) -> list[Verdict]:
    return list(judge(Case(job[0]), job[1]))


def _judged_alone(job: tuple[Path, Sequence[str]]) -> list[Verdict]:
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


def table(verdicts: Sequence[Verdict], levels: Sequence[str]) -> str:
    """Return a Markdown table: a row for each op, and why cases were refused."""
    lines = [f"| op | cases | {' | '.join(levels)} | refused or different |"]
    lines.append("|---" * (len(levels) + 3) + "|")
    for op_type in sorted({each.op_type for each in verdicts}):
        own = [each for each in verdicts if each.op_type == op_type]
        cases = len({each.case for each in own})
        passed = [
            str(sum(1 for each in own if each.level == level and each.status == "passed"))
            for level in levels
        ]
        reasons = dict.fromkeys(each.reason for each in own if each.status != "passed")
        text = "; ".join(reason.replace("|", "\\|") for reason in reasons)
        lines.append(f"| {op_type} | {cases} | {' | '.join(passed)} | {text} |")
    return "\n".join(lines) + "\n"


def skips() -> str:
    """Return a Markdown table: why cases are not among those that are asked for."""
    reasons = Counter(case.skip_reason for case in all_cases() if case.skip_reason)
    rows = [f"| {reason} | {count} |" for reason, count in reasons.most_common()]
    return "\n".join(["| not asked for | cases |", "|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
