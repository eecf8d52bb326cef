"""A package whose library asks which registers the system saves: what its copy is told."""

import ctypes
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.without_avx512 import import_without_avx512

COMPILER = shutil.which("cc") or ""
AVX512 = 0xE0
"""The bits of the three kinds of registers that AVX-512 adds."""
SOURCE = r"""
unsigned saved;
__attribute__((constructor)) static void ask(void) {
  unsigned low, high, selected = 1;
  __asm__ volatile("xor %%ecx, %%ecx\n xgetbv" : "=a"(low), "=d"(high), "=c"(selected));
  saved = selected ? 0 : low;
}
unsigned answer(void) { return saved; }
"""
WITHOUT = "unsigned answer(void) { return 1; }"

pytestmark = pytest.mark.skipif(
    not COMPILER or platform.machine() != "x86_64" or sys.platform != "linux",
    reason="needs a C compiler for Linux on x86-64",
)


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder from which packages are imported; what was imported is forgotten afterwards."""
    before, path = set(sys.modules), list(sys.path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if name.startswith("asking"):
            del sys.modules[name]


def write_package(folder: Path, source: str) -> Path:
    """Write a package with a library; returns the library's file."""
    package = folder / f"asking_{folder.name}"
    (package / "libs").mkdir(parents=True)
    (package / "__init__.py").touch()
    (folder / "library.c").write_text(source)
    library = package / "libs" / "libasking.so.1"
    command = [COMPILER, "-O2", "-shared", "-fPIC", str(folder / "library.c"), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


def answer(module: ModuleType) -> int:
    assert module.__file__ is not None
    library = ctypes.CDLL(str(Path(module.__file__).parent / "libs" / "libasking.so.1"))
    return library.answer()


def test_a_library_sees_the_registers_of_avx_and_no_more_while_it_is_loaded(packages: Path) -> None:
    library = write_package(packages, SOURCE)
    before = library.read_bytes()
    there = ctypes.CDLL(str(library)).answer()

    module = import_without_avx512(library.parent.parent.name, "libasking*")

    assert answer(module) == 7 == there & ~AVX512 & 0xFF
    assert library.read_bytes() == before
    assert import_without_avx512(module.__name__, "libasking*") is module


def test_a_library_that_does_not_ask_is_not_taken_for_held(packages: Path) -> None:
    name = write_package(packages, WITHOUT).parent.parent.name

    with pytest.raises(RuntimeError, match=rf"nothing in 'libasking\*' of {name} asks"):
        import_without_avx512(name, "libasking*")


def test_what_was_imported_before_is_not_taken_for_held() -> None:
    with pytest.raises(RuntimeError, match="json was imported before"):
        import_without_avx512("json", "*")


def test_a_package_that_is_not_there_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match="'asking_nothing'"):
        import_without_avx512("asking_nothing", "*")
