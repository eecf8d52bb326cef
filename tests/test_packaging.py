"""What a user installs: our package alone, with its data files, without a compiler."""

import os
import shutil
import subprocess
import sys
import tomllib
from email import message_from_string
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import mkdtemp
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", str(folder))
    subprocess.run([sys.executable, "-m", "pip", "wheel", str(ROOT), *options], check=True)
    (path,) = folder.glob("*.whl")
    return ZipFile(path)


def test_wheel_has_one_package_and_its_metadata(wheel: ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"gawee_dialect"}


def test_wheel_has_every_file_of_the_package(wheel: ZipFile) -> None:
    files = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "gawee_dialect").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert files - set(wheel.namelist()) == set()
    assert "gawee_dialect/py.typed" in files
    assert any(name.endswith(".schema.json") for name in files)


def test_wheel_is_for_every_platform_and_carries_the_licence(wheel: ZipFile) -> None:
    names = wheel.namelist()

    assert str(wheel.filename).endswith("-py3-none-any.whl")
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    metadata = next(name for name in names if name.endswith("/METADATA"))
    text = wheel.read(metadata).decode()
    assert "License-Expression: Apache-2.0 WITH LLVM-exception" in text
    assert "Requires-Dist: xdsl==0.74.*" in text


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What metadata are made of, outside of any checkout."""
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    folder = tmp_path / "tree"
    folder.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


def project_urls(tree: Path, **variables: str) -> dict[str, str]:
    """`Project-URL` of METADATA by label, built in `tree` with no variables of a workflow but these."""
    build = (
        "import sys, hatchling.build; hatchling.build.prepare_metadata_for_build_wheel(sys.argv[1])"
    )
    environment = {key: value for key, value in os.environ.items() if "GIT" not in key}
    output = Path(mkdtemp(dir=tree.parent))
    command = [sys.executable, "-c", build, str(output)]
    subprocess.run(command, cwd=tree, env=environment | variables, check=True)
    (path,) = output.glob("*.dist-info/METADATA")
    header = message_from_string(path.read_text())
    return dict(line.split(", ", 1) for line in header.get_all("Project-URL", []))


def of_github(page: str) -> dict[str, str]:
    return {
        "Repository": page,
        "Issues": f"{page}/issues",
        "Changelog": f"{page}/blob/HEAD/CHANGELOG.md",
        "Documentation": f"{page}/blob/HEAD/docs/index.md",
    }


def test_a_workflow_states_its_repository(tree: Path) -> None:
    server, name = "https://github.example", "acme/networks"
    workflow = {"GITHUB_SERVER_URL": server, "GITHUB_REPOSITORY": name}

    assert project_urls(tree, GITHUB_WORKSPACE=str(tree), **workflow) == of_github(
        f"{server}/{name}"
    )


def test_a_workflow_of_another_project_states_nothing(tree: Path) -> None:
    workflow = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "other/project"}

    assert project_urls(tree, GITHUB_WORKSPACE=str(tree.parent), **workflow) == {}


def test_a_tree_outside_of_a_checkout_has_no_addresses(tree: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tree.parent], check=True)  # another project's
    remote = ["remote", "add", "origin", "https://github.com/other/project"]
    subprocess.run(["git", "-C", tree.parent, *remote], check=True)

    assert project_urls(tree) == {}
    assert project_urls(tree, PATH="") == {}


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("https://github.com/acme/networks.git", "https://github.com/acme/networks"),
        ("https://name:secret@github.com/acme/networks", "https://github.com/acme/networks"),
        ("git@github.com:acme/networks.git", "https://github.com/acme/networks"),
        ("ssh://git@github.com:22/acme/networks.git/", "https://github.com/acme/networks"),
        ("https://code.example:8443/networks.git", "https://code.example:8443/networks"),
        ("../networks.git", None),
        ("/srv/git/networks.git", None),
        ("C:/git/networks", None),
        ("file:///srv/git/networks.git", None),
        ("https://github.com/", None),
    ],
)
def test_a_checkout_states_its_origin(remote: str, page: str | None, tree: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tree], check=True)
    subprocess.run(["git", "-C", tree, "remote", "add", "origin", remote], check=True)
    github = page is not None and "//github.com/" in page

    expected = of_github(page) if page and github else {"Repository": page} if page else {}
    assert project_urls(tree) == expected


def test_a_source_distribution_keeps_its_addresses(tree: Path) -> None:
    page = "https://github.com/acme/networks"
    subprocess.run(["git", "init", "--quiet", tree], check=True)
    subprocess.run(["git", "-C", tree, "remote", "add", "origin", page], check=True)
    build = "import hatchling.build; print(hatchling.build.build_sdist('..'))"
    subprocess.run([sys.executable, "-c", build], cwd=tree, check=True)

    (archive,) = tree.parent.glob("*.tar.gz")
    unpacked = tree.parent / "unpacked"
    unpacked.mkdir()
    subprocess.run(["tar", "-xzf", archive, "-C", unpacked], check=True)
    (source,) = unpacked.iterdir()
    assert project_urls(source) == of_github(page)


def test_wheel_is_small(wheel: ZipFile) -> None:
    assert sum(entry.compress_size for entry in wheel.infolist()) < 2 << 20


def test_each_console_script_has_a_main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    for script, target in project["scripts"].items():
        module, _, function = target.partition(":")
        path = ROOT / Path(*module.split(".")).with_suffix(".py")
        assert path.exists(), f"{script}: no {path.name}"
        assert f"def {function}(" in path.read_text()


def test_the_universe_is_an_entry_point() -> None:
    ours = [point for point in entry_points(group="xdsl.universe") if point.name == "gawee"]

    assert [point.value for point in ours] == ["gawee_dialect.universe:UNIVERSE"]


@pytest.mark.parametrize("name", ["gawee.relu", "canonicalize"])
def test_plain_xdsl_opt_reads_our_dialect(name: str, tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(
        "func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        "  %y = gawee.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "  %z = gawee.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "  func.return %z : tensor<2x3xf32>\n}\n"
    )
    passes = ["-p", "canonicalize"] if name == "canonicalize" else []

    result = subprocess.run(
        [Path(sys.executable).parent / "xdsl-opt", source, *passes],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "gawee.relu" in result.stdout
    assert ("gawee.identity" in result.stdout) is (not passes)
