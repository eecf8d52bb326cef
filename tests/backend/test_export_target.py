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
from gawee_dialect.target.description import find_processor
from gawee_dialect.tools.gawee_run import main

ROOT = Path(__file__).parents[2]
GRAPH = ROOT / "examples" / "digits" / "graph.json"
AARCH64 = 183
"""`e_machine` of the ELF header, by the System V ABI's list."""
CROSS_COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"


def emit(folder: Path, *flags: str) -> None:
    run = [str(GRAPH), "--num-threads", "1", "--emit-dir", str(folder), *flags]
    assert main(run) == 0


def elf_machine(path: Path) -> int:
    data = path.read_bytes()
    assert data[:4] == b"\x7fELF"
    return int.from_bytes(data[18:20], "little")


def test_an_object_for_aarch64_is_one(tmp_path: Path) -> None:
    emit(tmp_path, "--emit", "obj", "--emit", "asm", "--target", "neoverse-n1")

    assert elf_machine(tmp_path / "digits.o") == AARCH64
    assert re.search(r"\bfmla\s+v\d+\.4s", (tmp_path / "digits.s").read_text())  # NEON


def test_code_for_haswell_has_no_registers_of_avx512(tmp_path: Path) -> None:
    paths = gawee_dialect.load(GRAPH).save(
        tmp_path, ("asm", "header"), CodeOptions(target="haswell"), name="digits"
    )

    assembly = (tmp_path / "digits.s").read_text()
    assert not re.search(r"%(zmm\d|[xy]mm(1[6-9]|2\d|3[01])|k[0-7]\b)", assembly)
    assert "%ymm" in assembly
    assert '"cpu": "haswell"' in (tmp_path / "digits.json").read_text()
    assert tmp_path / "digits.weights.bin" in paths


@pytest.mark.parametrize(
    ("triple", "magic"),
    [
        ("aarch64-unknown-linux-gnu", b"\x7fELF"),
        ("arm64-apple-macosx11.0", bytes.fromhex("cffaedfe")),  # Mach-O, 64 bits
    ],
)
def test_the_triple_says_which_system(triple: str, magic: bytes, tmp_path: Path) -> None:
    emit(tmp_path, "--emit", "obj", "--target", "apple-m1", "--triple", triple)

    assert (tmp_path / "digits.o").read_bytes()[:4] == magic


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
            ("--triple", "arm-and-leg"),
            "error: unknown triple 'arm-and-leg'\n"
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
    flags: tuple[str, ...], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"

    assert main([str(GRAPH), "--emit", "obj", "--emit-dir", str(folder), *flags]) == 1

    assert capsys.readouterr().err.startswith(expected)
    assert not folder.exists()


def test_a_target_is_for_code_that_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(GRAPH), "--target", "haswell"]) == 1
    assert capsys.readouterr().err == "error: expected --target to go with --emit\n"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="aarch64 is this machine's own")
def test_the_compiler_of_this_machine_does_not_link_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    options = CodeOptions(target="neoverse-n1")

    with pytest.raises(GaweeError, match="cannot link a shared library for aarch64") as raised:
        gawee_dialect.load(GRAPH).save(tmp_path, ("shared",), options)

    assert "hint: name a cross compiler in CC, or emit 'obj'" in str(raised.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(
    shutil.which(CROSS_COMPILER) is None or shutil.which(EMULATOR) is None,
    reason=f"needs {CROSS_COMPILER} and {EMULATOR}",
)
def test_code_for_aarch64_computes_what_it_does_here(tmp_path: Path) -> None:
    emit(tmp_path, "--emit", "example", "--target", "neoverse-n1")
    image = np.load(GRAPH.parent / "digits_test.npz")["images"][:1]
    (tmp_path / "x.bin").write_bytes(image.tobytes())
    program = ["digits_example/main.c", "digits.o", "-I.", "-lm", "-static", "-o", "digits"]
    subprocess.run([CROSS_COMPILER, *program], cwd=tmp_path, check=True)
    run = [EMULATOR, "digits", "digits.weights.bin", "x.bin", "y.bin"]
    subprocess.run(run, cwd=tmp_path, check=True)

    expected = gawee_dialect.load(GRAPH).run({"x": image})["fc"]
    # Winograd's f32 sums in another order: within 1e-4 of the range
    found = np.fromfile(tmp_path / "y.bin", np.float32).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.ptp(expected))
