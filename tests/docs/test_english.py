"""Code is no person: words for persons are not used for it, in prose, comments and messages."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("gawee_dialect", "tests", "docs", "examples", "benchmarks")
KINDS = {".py", ".md", ".mlir", ".toml", ".js", ".h", ".ll", ".c", ".json"}
PERSONS = re.compile(
    r"\b(who|whom|whoever|(no|some|any|every)(body|one)('s)?)\b(?! of\b)", re.IGNORECASE
)


def test_no_text_speaks_of_code_as_of_a_person() -> None:
    files = [each for folder in FOLDERS for each in (ROOT / folder).rglob("*")]
    texts = [each for each in files if each.suffix in KINDS and each.is_file()]

    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in [*ROOT.glob("*.md"), *texts]
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if PERSONS.search(line)
    ]

    assert found == []
