"""python -m tests.conformance.onnx: ONNX's node cases at three levels, op by op.

Prints what passed, failed and was refused, with reasons; `--write` makes it the baseline, and
without it a case that the baseline has as passed, and that did not, makes the exit code 1.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.conformance.onnx.cases import Case, target_cases
from tests.conformance.onnx.verdict import LEVELS, Verdict, judge

BASELINE = Path(__file__).with_name("baseline.json")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the cases that the command line chooses."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.onnx", description=__doc__)
    parser.add_argument("words", nargs="*", help="only cases with one of these in their names")
    parser.add_argument("--levels", default=",".join(LEVELS), help="of gawee, loops, llvm")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="make the result the baseline")
    parser.add_argument("--table", metavar="FILE", help="write the table as Markdown")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no reasons")
    arguments = parser.parse_args(argv)
    levels = arguments.levels.split(",")
    cases = [
        case
        for case in target_cases()
        if not arguments.words or any(word in case.name for word in arguments.words)
    ]
    verdicts = run(cases, levels, arguments.jobs)
    if not arguments.quiet:
        for each in verdicts:
            if each.status != "passed":
                print(f"{each.level:6} {each.status:8} {each.case}: {each.reason}")
    for level in levels:
        counts = Counter(each.status for each in verdicts if each.level == level)
        known = sum(1 for each in verdicts if each.level == level and each.looked_up)
        text = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        print(f"{level}: {len(cases)} cases, {text}; {known} with inputs known when read")
    if arguments.table:
        Path(arguments.table).write_text(table(verdicts, levels))
    if arguments.write:
        write_baseline(verdicts)
        return 0
    worse = regressions(verdicts)
    for each in worse:
        print(f"regression: {each.case} at {each.level}: {each.status}, {each.reason}")
    return 1 if worse else 0


def run(cases: Sequence[Case], levels: Sequence[str], jobs: int) -> list[Verdict]:
    """Judge every case at every level."""
    if jobs == 1:
        return [verdict for case in cases for verdict in judge(case, levels)]
    with ProcessPoolExecutor(jobs) as pool:
        made = pool.map(_judged, [(case.folder, levels) for case in cases], chunksize=8)
        return [verdict for verdicts in made for verdict in verdicts]


def _judged(job: tuple[Path, Sequence[str]]) -> list[Verdict]:
    return list(judge(Case(job[0]), job[1]))


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


if __name__ == "__main__":
    sys.exit(main())
