"""Compiled code is found again, and never used where it might be wrong or another user's."""

import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import gawee_dialect
from gawee_dialect import whole_file
from gawee_dialect.backend import cache as cache_module
from gawee_dialect.backend import jit
from gawee_dialect.backend.cache import CompileCache, key_of, versions_of
from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.jit import Target
from gawee_dialect.backend.program import Program, cached_program, compile_program
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from tests.loops_level import llvm_module

GRAPH = """
func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"}) -> (tensor<2x3xf32> {gawee.output = "y"}) {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""
X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)

LOOPS = """
func.func @main(%x: memref<3xf32> {gawee.input = "x"}, %y: memref<3xf32> {gawee.output = "y"}) {
  "memref.copy"(%x, %y) : (memref<3xf32>, memref<3xf32>) -> ()
  return
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "compiled"


def graph() -> Model:
    return Model(parse_mlir(make_context(), GRAPH, "graph.mlir"))


def refuse(*_: object, **__: object) -> ModuleOp:
    raise AssertionError("expected the code to come from the cache")


def test_a_graph_that_was_compiled_before_is_not_lowered_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = graph().compile()(X)
    monkeypatch.setattr("gawee_dialect.compilation.lower_to", refuse)
    monkeypatch.setattr("gawee_dialect.compilation.lower_to_functions", refuse)

    again = graph().compile()

    np.testing.assert_array_equal(again(X), np.maximum(X, 0))
    np.testing.assert_array_equal(first, np.maximum(X, 0))
    # By graph, by kernel, by LLVM IR of the kernel and of its caller; and what passes' files say.
    assert len(list(folder.glob("*.gawee"))) == 5


def test_the_module_is_made_again_where_it_is_needed(folder: Path, tmp_path: Path) -> None:
    graph().compile()

    paths = graph().compile().save(tmp_path, ["ll"])

    assert "define" in paths[0].read_text()


def test_another_graph_with_the_same_code_is_not_compiled_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph().compile()
    monkeypatch.setattr("gawee_dialect.backend.unit_code.compile_object", refuse)
    model = graph()
    model.module.attributes["note"] = model.function.sym_name

    np.testing.assert_array_equal(model.compile()(X), np.maximum(X, 0))


def counted_objects(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list that what LLVM compiles from now on is put in."""
    compiled: list[str] = []
    original = jit.compile_object

    def counted(text: str, target: Target) -> jit.ObjectCode:
        compiled.append(text)
        return original(text, target)

    monkeypatch.setattr("gawee_dialect.backend.unit_code.compile_object", counted)
    return compiled


@pytest.mark.parametrize("change", ["graph", "flags", "switched off"])
def test_what_differs_is_compiled(
    folder: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    graph().compile()
    compiled = counted_objects(monkeypatch)
    if change == "graph":
        text = GRAPH.replace("2x3", "3x2")
        Model(parse_mlir(make_context(), text, "graph.mlir")).compile()
    elif change == "flags":
        Model(parse_mlir(make_context(), GRAPH.replace("relu", "identity"), "g")).compile(
            CodeOptions(fast_math="contract")
        )
    else:
        graph().compile(cache=False)

    assert len(compiled) == 2


def test_a_pass_that_was_edited_compiles_only_the_kernels_that_it_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph().compile()
    monkeypatch.setattr(cache_module, "versions", lambda: "another state")
    compiled = counted_objects(monkeypatch)

    np.testing.assert_array_equal(graph().compile()(X), np.maximum(X, 0))
    assert compiled == []


def test_an_edited_back_end_compiles_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph().compile()
    monkeypatch.setattr("gawee_dialect.backend.kernel_code.versions_of", lambda files: "another")
    monkeypatch.setattr("gawee_dialect.backend.unit_code.versions", lambda part: "another")
    monkeypatch.setattr(cache_module, "versions", lambda: "another state")
    compiled = counted_objects(monkeypatch)

    graph().compile()

    assert len(compiled) == 2


def test_a_changed_source_file_changes_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of("a")
    monkeypatch.setattr(cache_module, "versions", lambda: "another state")

    assert key_of("a") != before
    assert key_of("a", "bc") != key_of("ab", "c")


def program(cache: CompileCache, made: list[int], lower: Callable[[], ModuleOp]) -> Program:
    def counted() -> Program:
        made.append(1)
        return compile_program(lower(), "main", cache=cache)

    return cached_program(cache, "copy", "main", counted, lower)


def damage(path: Path, kind: str) -> None:
    data = path.read_bytes()
    damaged = {
        "cut short": data[:-7],
        "empty": b"",
        "a flipped bit": data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
        "another format": b"gawee compiled 1\n" + data[17:],
    }
    path.write_bytes(damaged[kind])


@pytest.mark.parametrize("kind", ["cut short", "empty", "a flipped bit", "another format"])
def test_damaged_entries_are_made_again(tmp_path: Path, kind: str) -> None:
    cache, made = CompileCache(tmp_path / "c"), list[int]()
    program(cache, made, lambda: llvm_module(LOOPS))
    for path in cache.folder.glob("*.gawee"):
        damage(path, kind)

    again = program(cache, made, lambda: llvm_module(LOOPS))

    x = np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(CompiledModel(again)(x), x)
    assert len(made) == 2
    program(cache, made, lambda: llvm_module(LOOPS))
    assert len(made) == 2


def test_an_entry_under_another_name_is_not_used(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c")
    cache.write("a", b"content")
    (path,) = cache.folder.glob("*.gawee")
    path.rename(path.with_name(path.name.replace("a.", "b.")))

    assert cache.read("b") is None
    assert cache.read("a") is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mode bits")
def test_the_folder_and_its_files_are_the_users_alone(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir(mode=0o755)
    cache = CompileCache(folder)

    cache.write("a", b"content")

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600] * 2
    assert cache.read("a") == b"content"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root to give away")
def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c")
    cache.write("a", b"content")
    os.chown(cache.folder, 12345, 12345)

    assert cache.read("a") is None
    with pytest.warns(RuntimeWarning, match=r"compiled code was not kept: .* another user"):
        cache.write("b", b"content")


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root to give away")
def test_an_entry_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c")
    cache.write("a", b"content")
    os.chown(cache.folder / "a.gawee", 12345, 12345)

    assert cache.read("a") is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mode bits")
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_can_write_is_not_used(tmp_path: Path, mode: int) -> None:
    cache = CompileCache(tmp_path / "c")
    cache.write("a", b"content")
    cache.folder.chmod(mode)

    assert cache.read("a") is None
    with pytest.warns(RuntimeWarning, match=r"compiled code was not kept: .* others can write"):
        cache.write("b", b"content")


def test_an_entry_that_was_sealed_with_another_secret_is_not_used(tmp_path: Path) -> None:
    theirs, ours = CompileCache(tmp_path / "theirs"), CompileCache(tmp_path / "ours")
    for cache in (theirs, ours):
        cache.write("a", b"content")
    shutil.copy(theirs.folder / "a.gawee", ours.folder / "a.gawee")

    assert theirs.read("a") == b"content"
    assert ours.read("a") is None


def test_an_entry_that_is_a_pipe_is_not_used(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c")
    cache.write("a", b"content")
    (cache.folder / "a.gawee").unlink()
    (cache.folder / "a.gawee").symlink_to("/dev/zero")

    assert cache.read("a") is None


def test_a_place_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = CompileCache(tmp_path / "file" / "c")

    assert cache.read("a") is None
    with pytest.warns(RuntimeWarning, match="compiled code was not kept: .*: Not a directory"):
        cache.write("a", b"content")


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c", limit=3500)
    now = time.time()
    for age, key in ((40, "a"), (30, "b"), (20, "c")):
        cache.write(key, bytes(1000))
        os.utime(cache.folder / f"{key}.gawee", (now - age, now - age))
    assert cache.read("a") is not None  # now the youngest

    cache.write("d", bytes(1000))

    assert [key for key in "abcd" if cache.read(key) is not None] == ["a", "c", "d"]


def test_one_entry_may_be_larger_than_the_limit(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c", limit=10)

    cache.write("a", bytes(1000))

    assert cache.read("a") == bytes(1000)
    cache.clear()
    assert cache.read("a") is None


def test_files_that_nobody_finished_are_swept_up(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c")
    cache.write("a", b"")
    old, new = cache.folder / ".old.gawee-part", cache.folder / ".new.gawee-part"
    for path in (old, new):
        path.mkdir()
    long_ago = time.time() - 7200
    os.utime(old, (long_ago, long_ago))

    whole_file._remove_abandoned.cache_clear()  # once in a process is often enough
    cache.write("b", b"")

    assert not old.exists()
    assert new.exists()


def test_many_threads_write_and_read_whole_entries(tmp_path: Path) -> None:
    contents = [bytes([number]) * 50_000 for number in range(4)]
    wrong: list[int] = []

    def work(seed: int) -> None:
        cache = CompileCache(tmp_path / "c", limit=120_000)
        for step in range(25):
            cache.write("same", contents[(seed + step) % 4])
            cache.write(f"own {seed}", contents[seed])
            found = cache.read("same")
            if found is not None and found not in contents:
                wrong.append(step)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_another_process_finds_it_and_no_cache_compiles(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "graph.mlir").write_text(GRAPH)
    command = [sys.executable, "-m", "gawee_dialect.tools.gawee_run", str(tmp_path / "graph.mlir")]

    def run(*flags: str) -> str:
        done = subprocess.run([*command, *flags], capture_output=True, text=True, check=True)
        return done.stdout

    run("--no-cache")
    assert not folder.exists()
    run()
    times = {path: path.stat().st_mtime_ns for path in folder.glob("*.gawee")}
    run()
    assert set(folder.glob("*.gawee")) == set(times)
    assert max(path.stat().st_mtime_ns for path in times) > max(times.values())


def test_kernels_are_found_after_the_package_was_installed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "ROOT", tmp_path)
    source = tmp_path / "a_pass.py"
    source.write_text("x = 1")
    before = versions_of([source])
    os.utime(source, (0, 0))
    assert versions_of([source]) == before
    source.write_text("x = 2")
    assert versions_of([source]) != before


def test_versions_of_packages_are_those_that_python_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    before = versions_of([])
    monkeypatch.setattr(cache_module.os, "listdir", lambda folder: [])

    assert versions_of([]) == before


def test_the_package_is_what_keys_are_made_from() -> None:
    assert Path(gawee_dialect.__file__).parent.name == "gawee_dialect"
    assert len(cache_module.versions()) == 64
