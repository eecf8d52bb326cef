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


def test_the_changelog_and_the_editors_extension_have_the_version() -> None:
    version = PROJECT["version"]
    newest = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    extension = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text())

    assert newest is not None
    assert re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", newest[1])
    assert extension["version"] == version


def test_hosted_runs_are_on_all_systems_and_pythons() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    found = {
        name: re.findall(r"[\w.-]+", values)
        for name, values in re.findall(r"^ +(os|python): \[(.*)\]$", text, re.MULTILINE)
    }
    jobs = dict(re.findall(r"^  (\S+):\n((?:    .*\n| *\n|  #.*\n)+)", text, re.MULTILINE))
    may_fail = [name for name, job in jobs.items() if "continue-on-error: true" in job]

    assert {each.partition("-")[0] for each in found["os"]} == {"ubuntu", "macos"}
    assert {each.rpartition("-")[2] for each in found["os"]} >= {"arm", "intel"}
    assert [f">={found['python'][0]}"] == [PROJECT["requires-python"]]
    assert found["python"] == [f"3.{minor}" for minor in range(11, 15)]
    assert may_fail == ["xdsl-main"]
    assert "xdslproject/xdsl" in jobs["xdsl-main"]


def test_hosted_runs_make_what_the_makefile_has() -> None:
    rules = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", rules, re.MULTILINE))
    workflows = [*(ROOT / ".github" / "workflows").glob("*.yml")]
    made = {
        target
        for path in workflows
        for target in re.findall(r"run: make ([a-z-]+)$", path.read_text(), re.MULTILINE)
    }

    assert {"check", "docs", "test", "coverage"} <= made <= targets
