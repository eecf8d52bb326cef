"""Weights files in C: whatever is wrong with one has a status of its own, and loads nothing."""

import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.backend.compiled import export
from tests.backend.test_export import LINEAR
from tests.loops_level import llvm_module

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")

W = np.random.default_rng(2).standard_normal((3, 7), np.float32)

LOAD = """
#include <stdlib.h>
#ifdef WITHOUT_MEMORY
static void *none(size_t size) { return size ? NULL : NULL; }
#define malloc none
#endif
#include "net.h"
int main(int argc, char **argv) {
    void *weights = &weights;
    int status = net_load(argv[argc - 1], &weights);
    printf("%d %s", status, net_load_message(status));
    if ((status == NET_LOADED) != (weights != NULL) || (uintptr_t)weights % 64) return 1;
    if (status == NET_LOADED && net_crc32((unsigned char *)weights, 83) != CRC_OF_83) return 2;
    net_free(weights);
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("net")
    export(llvm_module(LINEAR), "net", folder, ["obj"], parameters={"w": W})
    (folder / "main.c").write_text(LOAD)
    for program, flags in (("main", ()), ("without_memory", ("-DWITHOUT_MEMORY",))):
        # 83 bytes: not a multiple of the eight that are summed at a time
        flags = (*flags, f"-DCRC_OF_83={zlib.crc32(W.tobytes()[:83])}u")
        build = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", *flags, "main.c", "net.o"]
        subprocess.run([*build, "-lm", "-o", program], cwd=folder, check=True)
    return folder


def changed(place: int, value: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[:place] + value + data[place + len(value) :]


@needs_compiler
@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        pytest.param(lambda data: data, "0 loaded", id="whole"),
        pytest.param(lambda data: b"PK\x03\x04" + data, "3 is no file of weights", id="an archive"),
        pytest.param(lambda data: data[64:], "3 is no file of weights", id="raw"),
        pytest.param(
            changed(8, struct.pack("<I", 2)), "4 has another version of the format", id="version"
        ),
        pytest.param(changed(16, b"\0"), "5 has weights for other code", id="another size"),
        pytest.param(changed(24, b"12345678"), "5 has weights for other code", id="other code"),
        pytest.param(lambda data: b"", "6 is cut off", id="empty"),
        pytest.param(lambda data: data[:63], "6 is cut off", id="in its head"),
        pytest.param(lambda data: data[:-1], "6 is cut off", id="in its data"),
        pytest.param(lambda data: data + b"\0", "7 is too long", id="a byte more"),
        pytest.param(
            lambda data: data[:-1] + bytes([data[-1] ^ 1]),
            "8 is damaged: its checksum is wrong",
            id="one bit",
        ),
    ],
)
def test_what_is_wrong_with_a_file_has_a_status(
    damage: Callable[[bytes], bytes], expected: str, folder: Path, tmp_path: Path
) -> None:
    given = tmp_path / "weights.bin"
    given.write_bytes(damage((folder / "net.weights.bin").read_bytes()))

    run = subprocess.run([folder / "main", given], capture_output=True, text=True, check=True)

    assert run.stdout == expected


@needs_compiler
@pytest.mark.parametrize(
    ("program", "path", "expected"),
    [
        ("main", "missing.bin", "1 cannot be read"),
        ("main", ".", "1 cannot be read"),
        ("without_memory", "net.weights.bin", "2 does not fit into memory"),
    ],
)
def test_a_file_that_is_not_read_has_a_status(
    program: str, path: str, expected: str, folder: Path
) -> None:
    run = [f"./{program}", path]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True)

    assert done.stdout == expected


@needs_compiler
def test_weights_of_another_network_of_the_same_size_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    other = LINEAR.replace("arith.addf", "arith.subf")
    export(llvm_module(other), "net", tmp_path, ["header"], parameters={"w": W})

    run = [folder / "main", tmp_path / "net.weights.bin"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)

    assert done.stdout == "5 has weights for other code"


def test_other_weights_of_the_same_network_are_taken(tmp_path: Path) -> None:
    heads: list[bytes] = []
    for name, weights in (("a", W), ("b", W + 1)):
        folder = tmp_path / name
        export(llvm_module(LINEAR), "net", folder, ["header"], parameters={"w": weights})
        heads.append((folder / "net.weights.bin").read_bytes()[:64])

    assert heads[0][24:32] == heads[1][24:32]  # which code they are for
    assert heads[0][12:16] != heads[1][12:16]  # the checksum


@needs_compiler
@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_the_header_is_one_of_cpp_too(folder: Path) -> None:
    source = '#include "net.h"\nint main() { void *w; return net_load("net.weights.bin", &w); }\n'
    (folder / "main.cc").write_text(source)

    build = ["c++", "-Wall", "-Wextra", "-Werror", "main.cc", "net.o", "-lm", "-o", "cpp"]
    subprocess.run(build, cwd=folder, check=True)
    subprocess.run(["./cpp"], cwd=folder, check=True)
