"""The glossary: a term is there once, and a class that it names is the only one of that name."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ROWS = re.compile(r"^\| ([^|]+) \| [^|]+ \| (?:`(\w+)` )?\|$", re.MULTILINE)
CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)


def test_terms_have_one_class_each() -> None:
    rows = ROWS.findall((ROOT / "docs" / "glossary.md").read_text())
    terms = Counter(term for term, _ in rows if term not in ("term", "---"))
    classes = Counter(
        name
        for path in (ROOT / "gawee_dialect").rglob("*.py")
        for name in CLASS.findall(path.read_text())
    )

    assert len(terms) > 40
    assert [term for term, count in terms.items() if count > 1] == []
    assert {name: classes[name] for _, name in rows if name and classes[name] != 1} == {}
