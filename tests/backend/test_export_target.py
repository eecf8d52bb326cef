"""Code for other processors: told by the bytes of the object file and by its registers."""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gawee_dialect
from gawee_dialect.backend.jit import target_elsewhere
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.target.host import llvm_host
from gawee_dialect.target.machine import find_processor
from gawee_dialect.tools.gawee_run import main

LINEAR = """
func.func @main(%x: tensor<13x37xf32> {gawee.input = "x"}, %w: tensor<70x37xf32> {gawee.parameter = "w"})
    -> (tensor<13x70xf32> {gawee.output = "y"}) {
  %y = gawee.matmul %x, %w : (tensor<13x37xf32>, tensor<70x37xf32>) -> tensor<13x70xf32>
  return %y : tensor<13x70xf32>
}
"""
W = np.random.default_rng(3).standard_normal((70, 37), np.float32)
AARCH64 = 183
"""`e_machine` of the ELF header, by the System V ABI's list."""
CROSS_COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("graph") / "net.mlir"
    path.write_text(LINEAR)
    np.savez(path.with_name("w.npz"), w=W)
    return str(path)


def emit(graph: str, folder: Path, *flags: str) -> None:
    weights = str(Path(graph).with_name("w.npz"))
    run = [graph, "--weights", weights, "--num-threads", "1", "--emit-dir", str(folder), *flags]
    assert main(run) == 0


def elf_machine(path: Path) -> int:
    data = path.read_bytes()
    assert data[:4] == b"\x7fELF"
    return int.from_bytes(data[18:20], "little")


def test_an_object_for_aarch64_is_one(graph: str, tmp_path: Path) -> None:
    emit(graph, tmp_path, "--emit", "obj", "--emit", "asm", "--target", "neoverse-n1")

    assert elf_machine(tmp_path / "net.o") == AARCH64
    assert re.search(r"\bfmla\s+v\d+\.4s", (tmp_path / "net.s").read_text())  # NEON


def test_code_for_haswell_has_no_registers_of_avx512(graph: str, tmp_path: Path) -> None:
    paths = gawee_dialect.load(graph, {"w": W}).save(
        tmp_path, ("asm", "header"), CodeOptions(target="haswell"), name="net"
    )

    assembly = (tmp_path / "net.s").read_text()
    assert not re.search(r"%(zmm\d|[xy]mm(1[6-9]|2\d|3[01])|k[0-7]\b)", assembly)
    assert "%ymm" in assembly
    assert '"cpu": "haswell"' in (tmp_path / "net.json").read_text()
    assert tmp_path / "net.weights.bin" in paths


@pytest.mark.parametrize(
    ("triple", "magic"),
    [
        ("aarch64-unknown-linux-gnu", b"\x7fELF"),
        ("arm64-apple-macosx11.0", bytes.fromhex("cffaedfe")),  # Mach-O, 64 bits
    ],
)
def test_the_triple_says_which_system(
    graph: str, triple: str, magic: bytes, tmp_path: Path
) -> None:
    emit(graph, tmp_path, "--emit", "obj", "--target", "apple-m1", "--triple", triple)

    assert (tmp_path / "net.o").read_bytes()[:4] == magic


def test_a_processor_that_is_not_here_brings_its_system() -> None:
    assert target_elsewhere(find_processor("host")).triple == ""
    foreign = [target_elsewhere(find_processor(name)) for name in ("apple-m1", "haswell")]
    assert {"", "arm64-apple-macosx11.0", "x86_64-unknown-linux-gnu"} > {
        each.triple for each in foreign
    }


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (
            ("--target", "haswel"),
            "error: unknown target 'haswel'\nhint: did you mean 'haswell'?\n",
        ),
        (
            ("--triple", "one-two-three"),
            "error: unknown triple 'one-two-three'\n"
            "hint: LLVM's names are ARCHITECTURE-VENDOR-SYSTEM, as aarch64-unknown-linux-gnu\n",
        ),
        (
            ("--target", "haswell", "--triple", "aarch64-unknown-linux-gnu"),
            "error: expected a triple for target 'haswell' (x86-64), got "
            "'aarch64-unknown-linux-gnu' (aarch64)\nhint: targets: host, skylake-avx512, ",
        ),
    ],
)
def test_targets_and_triples_that_do_not_fit_are_refused(
    flags: tuple[str, ...],
    expected: str,
    graph: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "out"

    assert main([graph, "--emit", "obj", "--emit-dir", str(folder), *flags]) == 1

    assert capsys.readouterr().err.startswith(expected)
    assert not folder.exists()


def test_a_target_is_for_code_that_is_written(
    graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([graph, "--target", "haswell"]) == 1
    assert capsys.readouterr().err == "error: expected --target to go with --emit\n"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="aarch64 is this machine's own")
def test_the_compiler_of_this_machine_does_not_link_for_another(
    graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    options = CodeOptions(target="neoverse-n1")

    with pytest.raises(GaweeError, match="cannot link a shared library for aarch64") as raised:
        gawee_dialect.load(graph, {"w": W}).save(tmp_path, ("shared",), options)

    assert "hint: name a cross compiler in CC, or emit 'obj'" in str(raised.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(
    shutil.which(CROSS_COMPILER) is None or shutil.which(EMULATOR) is None,
    reason=f"needs {CROSS_COMPILER} and {EMULATOR}",
)
def test_code_for_aarch64_computes_what_it_does_here(graph: str, tmp_path: Path) -> None:
    emit(graph, tmp_path, "--emit", "example", "--target", "neoverse-n1")
    x = np.random.default_rng(4).standard_normal((13, 37), np.float32)
    (tmp_path / "x.bin").write_bytes(x.tobytes())
    program = ["net_example/main.c", "net.o", "-I.", "-lm", "-static", "-o", "net"]
    subprocess.run([CROSS_COMPILER, *program], cwd=tmp_path, check=True)
    run = [EMULATOR, "net", "net.weights.bin", "x.bin", "y.bin"]
    subprocess.run(run, cwd=tmp_path, check=True)

    found = np.fromfile(tmp_path / "y.bin", np.float32).reshape(13, 70)
    # 37 f32 products in another order than NumPy's
    np.testing.assert_allclose(found, x @ W.T, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="runs code for x86-64")
def test_code_for_another_processor_computes_the_same(graph: str, tmp_path: Path) -> None:
    if "+avx2" not in llvm_host()[1] or "+fma" not in llvm_host()[1]:
        pytest.skip("needs AVX2")
    emit(graph, tmp_path, "--emit", "example", "--target", "haswell")
    x = np.random.default_rng(4).standard_normal((13, 37), np.float32)
    (tmp_path / "x.bin").write_bytes(x.tobytes())
    program = ["cc", "net_example/main.c", "net.o", "-I.", "-lm", "-o", "net"]
    subprocess.run(program, cwd=tmp_path, check=True)
    run = ["./net", "net.weights.bin", "x.bin", "y.bin"]
    subprocess.run(run, cwd=tmp_path, check=True)

    found = np.fromfile(tmp_path / "y.bin", np.float32).reshape(13, 70)
    # 37 f32 products in another order than NumPy's
    np.testing.assert_allclose(found, x @ W.T, rtol=1e-5, atol=1e-5)
