"""What is known of this machine: from its name, from the system, and from an earlier measurement."""

from pathlib import Path

import pytest

from gawee_dialect.target import host
from gawee_dialect.target.host import Measured, detect, read_measured, write_measured

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


def test_caches_and_frequency_are_read_from_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"/proc/cpuinfo": "model name\t: A CPU\ncpu MHz\t\t: 2400.5\ncpu MHz\t\t: 3100.0\n"}
    monkeypatch.setattr(host, "_read", lambda path: files.get(path, ""))

    assert host.frequency() == 3.1e9
    assert host.model_name() == "A CPU"
    files["/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"] = "3700000\n"
    assert host.frequency() == 3.7e9


def test_what_the_system_does_not_tell_is_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
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
