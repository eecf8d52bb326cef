"""What a user installs: our package alone, with its data files, without a compiler."""

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
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
