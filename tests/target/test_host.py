"""What is known of this machine: from its name, from the system, and from an earlier measurement."""

import platform
import re
from dataclasses import replace
from functools import cache as cached
from pathlib import Path

import numpy as np
import pytest

import gawee_dialect
from gawee_dialect.backend.jit import Target
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.target import host
from gawee_dialect.target.host import Measured, detect, read_measured, write_measured
from gawee_dialect.target.machine import find_processor
from tests.closeness import assert_allclose

MEASURED = Measured(118.5e9, {"L1": 220e9, "DRAM": 21.5e9}, "2026-01-31")


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(host, "cache_folder", lambda: tmp_path / "gawee")
    return tmp_path


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ("+sse2,+avx,+avx2,+avx512f,-neon", (512, 32)),
        ("+sse2,+avx,+avx2,-avx512f", (256, 16)),
        ("+sse2,-avx", (128, 16)),
        ("+neon,+fp-armv8", (128, 32)),
    ],
)
def test_vectors_come_from_the_features(features: str, expected: tuple[int, int]) -> None:
    assert host.vectors_of(features) == expected


def asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what this machine said of itself, for the time of a test."""
    monkeypatch.setattr(host, "described", cached(host.described.__wrapped__))


def test_a_machine_that_speeds_up_is_the_same_to_all_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked_anew(monkeypatch)
    monkeypatch.setattr(host, "frequency", iter((2e9, 3e9)).__next__)

    assert find_processor("host") == find_processor("host")


def test_caches_and_frequency_are_read_from_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"/proc/cpuinfo": "model name\t: A CPU\ncpu MHz\t\t: 2400.5\ncpu MHz\t\t: 3100.0\n"}
    monkeypatch.setattr(host, "_read", lambda path: files.get(path, ""))

    assert host.frequency() == 3.1e9
    assert host.model_name() == "A CPU"
    files["/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"] = "3700000\n"
    assert host.frequency() == 3.7e9


def test_what_the_system_does_not_tell_is_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked_anew(monkeypatch)
    monkeypatch.setattr(host, "_read", lambda path: "")
    monkeypatch.setattr(host, "_sysctl", lambda name: "")

    processor = detect()

    assert processor.frequency == 3e9
    assert [memory.name for memory in processor.memories] == ["L1", "L2", "L3", "DRAM"]
    assert processor.source.startswith("assumed for ")
    assert processor.measured_flops is None


@pytest.mark.parametrize(
    ("text", "size"), [("48K\n", 48 << 10), ("2M", 2 << 20), ("131072", 131072), ("", 0)]
)
def test_sizes_are_read_as_linux_and_macos_write_them(text: str, size: int) -> None:
    assert host._byte_count(text) == size


def test_measured_rates_take_the_place_of_assumed_ones() -> None:
    assert host.host().measured_flops is None

    write_measured(detect(), MEASURED)

    processor = host.host()
    rates = {memory.name: memory.bandwidth for memory in processor.memories}
    assert processor.flops() == 118.5e9
    assert processor.flops(64) == 118.5e9 / 2
    # The system may tell a nominal frequency: a cycle is as long as its multiply-adds take.
    assert 2 * processor.lanes * processor.multiply_adds * processor.frequency == 118.5e9
    assert (rates["L1"], rates["DRAM"]) == (220e9, 21.5e9)
    assert "measured 2026-01-31" in processor.summary()


@pytest.mark.parametrize(
    ("cpu", "latency"),
    [
        ("goldmont", 7),  # four in flight of a product, three of a sum
        ("haswell", find_processor("haswell").multiply_add_latency),  # as it is described
    ],
)
def test_a_chain_of_multiply_adds_says_the_latency_where_no_description_does(
    cpu: str, latency: int
) -> None:
    processor = replace(detect(), cpu=cpu, multiply_adds=2)
    measured = replace(MEASURED, chain_flops=MEASURED.flops / (2 * 6.9))

    assert measured.of(processor).multiply_add_latency == latency
    assert MEASURED.of(processor).multiply_add_latency == processor.multiply_add_latency
    write_measured(detect(), measured)
    assert read_measured(detect()) == measured
    assert MEASURED.best_with(replace(measured, spread=0.1)).chain_flops == measured.chain_flops


@pytest.mark.parametrize(
    ("cpu", "features", "architecture"),
    [("neoverse-v1", "+neon,+sve", "aarch64"), ("znver3", "+avx2,-neon", "x86_64")],
)
def test_this_machine_is_of_the_architecture_that_llvm_says(
    cpu: str, features: str, architecture: str
) -> None:
    assert host.described(cpu, features).triple.startswith(architecture)


def test_another_processor_has_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    write_measured(detect(), MEASURED)

    monkeypatch.setattr(host, "model_name", lambda: "another CPU")

    assert read_measured(detect()) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"flops": 1e9}',
        '{"flops": "1", "bandwidths": {}, "date": "x"}',
        '{"flops": 1.0, "bandwidths": {"L1": "fast"}, "date": "x"}',
        '{"flops": -1.0, "bandwidths": {"L1": 1.0}, "date": "x"}',
        '{"flops": 1.0, "bandwidths": {"L1": 1.0}, "date": 5}',
    ],
)
def test_a_file_that_makes_no_sense_is_as_none(text: str) -> None:
    path = write_measured(detect(), MEASURED)
    path.write_text(text)

    assert read_measured(detect()) is None


@pytest.mark.parametrize(
    ("platform", "variable", "tail"),
    [
        ("linux", "XDG_CACHE_HOME", ("gawee",)),
        ("win32", "LOCALAPPDATA", ("gawee",)),
        ("darwin", "HOME", ("Library", "Caches", "gawee")),
    ],
)
def test_measurements_are_kept_in_the_users_cache(
    platform: str, variable: str, tail: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the real folder, which this test only names
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv(variable, "/somewhere")
    monkeypatch.setenv(host.CACHE_VARIABLE, "/elsewhere")
    assert host.cache_folder() == Path("/elsewhere")
    monkeypatch.delenv(host.CACHE_VARIABLE)

    assert host.cache_folder() == Path("/somewhere", *tail)


needs_avx2 = pytest.mark.skipif(
    platform.machine() != "x86_64" or "+avx2" not in host.this_processor()[1].split(","),
    reason="needs AVX2",
)


@needs_avx2
def test_a_process_is_held_to_an_older_processor_with_the_caches_that_are_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free = detect()
    monkeypatch.setenv(host.TARGET_VARIABLE, "znver3")

    held = find_processor("host")

    assert (held.cpu, held.vector_bits, held.vector_registers) == ("znver3", 256, 16)
    assert [each.size for each in held.memories] == [each.size for each in free.memories]
    assert Target().resolved() == Target.of(held)
    assert not [each for each in held.features.split(",") if each.startswith("+avx512")]
    write_measured(held, MEASURED)  # in a file of its own
    monkeypatch.delenv(host.TARGET_VARIABLE)
    assert read_measured(detect()) is None


@needs_avx2
def test_what_is_missing_here_is_left_out_of_a_processor_that_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host, "this_processor", lambda: ("haswell", "+avx,+avx2,+fma,-avxvnni"))
    monkeypatch.setenv(host.TARGET_VARIABLE, "alderlake")

    assert host.llvm_host() == ("alderlake", "+avx,+avx2,+fma,-avxvnni")


@pytest.mark.parametrize(
    ("here", "name", "problem"),
    [
        ("+avx,+avx2,+fma", "skylake-avx512", "haswell lacks avx512f, avx512cd, avx512bw, "),
        ("+avx,+avx2,+fma", "graviton3", "haswell is of another architecture"),
        ("+neon", "znver3", "haswell is of another architecture"),
    ],
)
def test_a_processor_whose_code_cannot_run_here_is_refused(
    here: str, name: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "this_processor", lambda: ("haswell", here))
    monkeypatch.setenv(host.TARGET_VARIABLE, name)

    with pytest.raises(GaweeError, match=f"cannot run code for '{name}': {problem}"):
        find_processor("host")


LINEAR = """
func.func @main(%x: tensor<13x37xf32> {gawee.input = "x"}, %w: tensor<70x37xf32> {gawee.parameter = "w"})
    -> (tensor<13x70xf32> {gawee.output = "y"}) {
  %y = gawee.matmul %x, %w : (tensor<13x37xf32>, tensor<70x37xf32>) -> tensor<13x70xf32>
  return %y : tensor<13x70xf32>
}
"""


@needs_avx2
@pytest.mark.parametrize("name", ["znver3", "alderlake", "nehalem"])
def test_code_of_a_held_process_runs_and_has_no_wider_registers(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(host.TARGET_VARIABLE, name)
    path = tmp_path / "net.mlir"
    path.write_text(LINEAR)
    random = np.random.default_rng(3)
    x, w = (random.standard_normal((rows, 37), np.float32) for rows in (13, 70))
    model = gawee_dialect.load(path, {"w": w})

    compiled = model.compile(CodeOptions(num_threads=1), cache=False)

    # 37 f32 products in another order than NumPy's
    assert_allclose(compiled(x), x @ w.T, rtol=1e-5, atol=1e-5)
    assert compiled.summary.endswith(f"of {name}")
    model.save(tmp_path, ("asm",), CodeOptions(num_threads=1), name="net")
    text = (tmp_path / "net.s").read_text()
    assert not re.search(r"%(zmm\d|[xy]mm(1[6-9]|2\d|3[01])|k[0-7]\b)", text)
    assert ("%ymm" in text) == (name != "nehalem")


def test_a_rate_of_before_counts_if_its_rounds_are_known() -> None:
    now = Measured(100e9, {"L1": 200e9, "DRAM": 40e9}, "2026-02-01", 0.1)
    before = Measured(90e9, {"L1": 220e9, "DRAM": 123e9}, "2026-01-31", 0.2)

    assert now.best_with(before) == Measured(100e9, before.bandwidths, "2026-02-01", 0.1)
    assert now.best_with(replace(before, spread=None)) is now
    assert now.best_with(None) is now


def test_the_spread_of_rounds_is_kept_and_said() -> None:
    write_measured(detect(), replace(MEASURED, spread=0.125))

    assert read_measured(detect()) == replace(MEASURED, spread=0.125)
    assert host.host().source.endswith(", rounds within 12%")
    write_measured(detect(), MEASURED)
    assert "rounds" not in host.host().source
