"""What development installs and checks: the lock file and the second configuration of pyright."""

import json
import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements-dev.lock").read_text()


def required() -> list[Requirement]:
    found = re.search(r"^LOCKED := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert found is not None
    names = found[1].split()
    extras = [each for name in names for each in PROJECT["optional-dependencies"][name]]
    return [Requirement(each) for each in [*PROJECT["dependencies"], *extras]]


def test_the_lock_file_has_what_the_project_asks_for() -> None:
    pinned = {
        canonicalize_name(each.name): each.specifier
        for line in LOCK.splitlines()
        if line.strip() and not line.strip().startswith("#")
        for each in [Requirement(line)]
    }
    offenders = [
        str(each)
        for each in required()
        for specifier in [pinned.get(canonicalize_name(each.name))]
        if specifier is None or not all(each.specifier.contains(one.version) for one in specifier)
    ]

    assert offenders == [], "run `make lock`"


def test_the_lock_file_names_versions_alone() -> None:
    lines = [line for line in LOCK.splitlines() if line.strip() and not line.lstrip()[0] == "#"]

    assert [line for line in lines if not re.match(r"[\w.-]+==[\w.+!]+( ; |$)", line)] == []


def test_the_types_of_benchmarks_and_of_listed_tests_are_checked() -> None:
    config = json.loads((ROOT / "tests" / "pyrightconfig.json").read_text())

    assert config["typeCheckingMode"] == "standard"
    assert "../benchmarks" in config["include"]
    assert [each for each in config["include"] if not (ROOT / "tests" / each).exists()] == []
