"""Changes files of the package, one operator at a time, and lists the changes that no test sees.

`python -m tests.mutants [FILE...] [--tests PATH...]`; without files, those that changed since `main`. Their tests are those that
import them, and the IR tests of their name. Everything happens in a copy: the checkout is never changed.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "gawee_dialect"
OPERATORS = (
    *("Comparison.*_(Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Eq_NotEq|NotEq_Eq|Is_IsNot|IsNot_Is)",),
    *("Binary.*_(Add_Sub|Sub_Add|Mul_FloorDiv|FloorDiv_Mul|Mod_FloorDiv)", "Unary.*_Delete_.*"),
    *("TrueWithFalse", "FalseWithTrue", "AndWithOr", "OrWithAnd", "BreakWithContinue"),
)
OTHER_OPERATORS = (
    rf"^(?!core/(Replace({'|'.join(OPERATORS)})|AddNot|NumberReplacer|ZeroIterationForLoop)$)"
)
"""What is left alone: changes that cannot be read, or that are the same mistake once more."""

SECONDS = 120.0
"""After so long, a change that makes tests endless counts as seen."""


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split("\0")[:-1]


def changed_files() -> list[str]:
    """Return the files of the package that differ from where this branch left `main`."""
    base = subprocess.run(
        ["git", "merge-base", "HEAD", "main"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    since = base.stdout.strip() or "HEAD"
    return git("diff", "--name-only", "-z", "--diff-filter=d", since, "--", f"{PACKAGE}/**.py")


def tests_of(file: str) -> Iterator[str]:
    """Yield the Python tests that import a file, and the IR tests that are called as it is."""
    path = Path(file).with_suffix("")
    path = path.parent if path.name == "__init__" else path
    module = re.compile(rf"\b{re.escape('.'.join(path.parts))}\b(?!\.)")
    of_package = re.compile(
        rf"^from {re.escape('.'.join(path.parts[:-1]))} import .*\b{path.name}\b", re.MULTILINE
    )
    for test in sorted((ROOT / "tests").glob("**/test_*.py")):
        text = test.read_text()
        if module.search(text) or of_package.search(text):
            yield str(test.relative_to(ROOT))
    for part in path.parts[1:]:
        for test in sorted((ROOT / "tests" / "filecheck").glob(f"**/{part}*.mlir")):
            if re.fullmatch(rf"{part}(_.*)?", test.stem):
                yield str(test.relative_to(ROOT))


def test_command(tests: Sequence[str]) -> str:
    """Return the command that runs tests of both kinds, and stops at the first that fails."""
    ir = [test for test in tests if test.endswith(".mlir") or "filecheck" in test]
    python = [test for test in tests if test not in ir]
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0"]
    lit = [str(Path(sys.executable).with_name("lit")), "-q", "--max-failures=1"]
    commands = [
        shlex.join([*start, *paths]) for start, paths in ((pytest, python), (lit, ir)) if paths
    ]
    return shlex.join(["sh", "-c", " && ".join(commands)])


def copy_tree(to: Path) -> None:
    """Copy what is in the repository, as it is now."""
    for name in git("ls-files", "-z", "--cached", "--others", "--exclude-standard"):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)


def survivors(file: str, tests: Sequence[str], folder: Path) -> tuple[int, list[str]]:
    """Return how many changes of a file were made, and the diffs of those that no test saw."""
    command = test_command(tests)
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words: str) -> str:
        return subprocess.run(
            words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    passed = subprocess.run(shlex.split(command), cwd=folder, env=environment, check=False)
    if passed.returncode != 0:
        sys.exit(f"error: expected the tests of '{file}' to pass before anything is changed")
    lines = (
        "[cosmic-ray]",
        f"module-path = {json.dumps(file)}",
        f"timeout = {SECONDS}",
        "excluded-modules = []",
        f"test-command = {json.dumps(command)}",
        "[cosmic-ray.distributor]",
        'name = "local"',
        "[cosmic-ray.filters.operators-filter]",
        f"exclude-operators = [{json.dumps(OTHER_OPERATORS)}]",
    )
    (folder / "mutants.toml").write_text("\n".join(lines) + "\n")
    tool = str(Path(sys.executable).with_name("cosmic-ray"))
    (folder / "mutants.sqlite").unlink(missing_ok=True)
    run(tool, "init", "mutants.toml", "mutants.sqlite")
    run(
        str(Path(sys.executable).with_name("cr-filter-operators")), "mutants.sqlite", "mutants.toml"
    )
    run(tool, "exec", "mutants.toml", "mutants.sqlite")
    results = [json.loads(line)[1] for line in run(tool, "dump", "mutants.sqlite").splitlines()]
    made = [each for each in results if each and each["worker_outcome"] == "normal"]
    return len(made), [each["diff"] for each in made if each["test_outcome"] == "survived"]


def main() -> int:
    """Return 1 where a change survives, so that it shows in a script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="default: what changed since main")
    parser.add_argument("--tests", nargs="*", help="default: those that import a file")
    arguments = parser.parse_args()
    if shutil.which("cosmic-ray", path=Path(sys.executable).parent) is None:
        parser.error("cosmic-ray is not installed; pip install -e '.[mutants]'")
    found = False
    with tempfile.TemporaryDirectory(prefix="gawee-mutants-") as name:
        copy_tree(Path(name))
        for file in arguments.files or changed_files():
            tests = arguments.tests or list(dict.fromkeys(tests_of(file)))
            if not tests:
                print(f"{file}: no test imports it; name some with TESTS=", flush=True)
                continue
            count, diffs = survivors(file, tests, Path(name))
            print(f"{file}: {len(diffs)} of {count} changes were seen by no test", flush=True)
            for diff in diffs:
                print(diff, flush=True)
            found = found or bool(diffs)
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
