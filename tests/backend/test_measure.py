"""The measuring loops compute what they are meant to, so that nothing was optimised away.

How fast they are depends on the machine and on its load: no test asserts a time.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.backend import measure
from gawee_dialect.backend.measure import READS_A_STEP, Loops, array_sizes, best_rate, chains
from gawee_dialect.target import host
from gawee_dialect.target.description import PROCESSORS
from gawee_dialect.target.host import detect, read_measured


@pytest.fixture(scope="module")
def loops() -> Loops:
    return Loops(detect())


def aligned(array: np.ndarray) -> np.ndarray:
    memory = np.zeros(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    result = memory[start : start + array.nbytes].view(array.dtype)
    result[:] = array
    return result


@pytest.mark.parametrize("name", ["multiply_add", "one_chain"])
def test_multiply_adds_run_as_often_as_asked(loops: Loops, name: str) -> None:
    lanes, registers = loops.processor.lanes, loops.processor.vector_registers
    start = np.random.default_rng(0).uniform(0.1, 0.9, lanes * registers).astype(np.float32)
    memory = aligned(start)

    loops._function(name, 2)(memory.ctypes.data, 3)

    # The first two registers are the factor and the addend; the chains go back to where they were.
    factor, addend = np.float64(start[:lanes]), np.float64(start[lanes : 2 * lanes])
    values = np.float64(start).reshape(registers, lanes)
    values = values[: chains(loops.processor) if name == "multiply_add" else 1]
    for _ in range(3):
        values = values * factor + addend
    # Three roundings to float32, 6e-8 of values below 3.
    np.testing.assert_allclose(memory.reshape(registers, lanes)[: len(values)], values, rtol=1e-6)


@pytest.mark.parametrize("rounds", [1, 2])
def test_reading_loop_reads_every_element(loops: Loops, rounds: int) -> None:
    width, steps = loops.processor.lanes, 5
    bits = np.random.default_rng(1).integers(0, 2**31, width * READS_A_STEP * steps, np.int32)
    bits &= np.random.default_rng(2).integers(0, 2**31, bits.size, np.int32)
    memory, result = aligned(bits), aligned(np.zeros(width * READS_A_STEP, np.int32))

    loops._function("read", 4)(memory.ctypes.data, result.ctypes.data, steps, steps * rounds)

    expected = np.bitwise_or.reduce(bits.reshape(steps, -1), axis=0)
    assert np.array_equal(result, expected)


@pytest.mark.parametrize("name", PROCESSORS)
def test_arrays_fit_in_the_memory_measured_and_in_nothing_nearer(name: str) -> None:
    memories = PROCESSORS[name].memories
    nearest = 0

    for memory, (measured, size) in zip(memories, array_sizes(memories), strict=True):
        assert measured == memory.name
        assert size > nearest
        assert memory.size is None or size <= memory.size
        nearest = memory.size or 0


def test_processor_without_fused_multiply_adds_multiplies_and_adds() -> None:
    bare = replace(detect(), features="", vector_bits=128, vector_registers=16)

    assert "llvm.intr.fma" not in measure._multiply_add_text(bare, False, "multiply_add", 4)
    assert Loops(bare).processor is bare


def test_the_best_of_all_runs_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first run sets the count, as it takes long enough; then come runs disturbed and not.
    seconds = iter([measure.SECONDS_A_RUN, *[0.010] * (measure.RUNS - 1), 0.004])
    monkeypatch.setattr(measure, "_seconds", lambda run, count: next(seconds))

    assert best_rate(lambda count: None, 32) == pytest.approx(16 * 32 / 0.004)


def test_a_disturbed_start_does_not_leave_most_of_an_array_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # One run of a few steps takes as long as all of them should: another program had the processor.
    counts: list[int] = []

    def seconds(run: Callable[[int], None], count: int) -> float:
        counts.append(count)
        return measure.SECONDS_A_RUN

    monkeypatch.setattr(measure, "_seconds", seconds)

    best_rate(lambda count: None, 32, least=5000)

    assert min(counts) == 5000


def test_measurement_is_kept_for_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(host, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(measure, "RUNS", 1)
    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(measure, "LARGEST", 1 << 20)

    processor = measure.measured_host()

    kept = read_measured(detect())
    assert kept is not None
    assert kept.flops == processor.measured_flops
    assert set(kept.bandwidths) == {memory.name for memory in processor.memories}
    assert min(kept.flops, *kept.bandwidths.values()) > 0


def test_of_rounds_and_of_earlier_measurements_the_best_rate_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = [memory.name for memory in detect().memories]
    disturbed = iter([100.0, 40.0, 123.0, 80.0, 120.0])  # the rounds of one memory
    monkeypatch.setattr(host, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(Loops, "flops", lambda _: 200.0)
    monkeypatch.setattr(Loops, "chain_flops", lambda _: 25.0)
    slow = dict(measure.array_sizes(detect().memories))[names[-1]]
    monkeypatch.setattr(
        Loops, "bandwidth", lambda _, size: next(disturbed) if size == slow else 50.0
    )

    first = measure.measure()
    assert first.bandwidths == {**dict.fromkeys(names, 50.0), names[-1]: 123.0}
    assert first.spread == pytest.approx(123 / 40 - 1)

    host.write_measured(detect(), first)
    monkeypatch.setattr(Loops, "flops", lambda _: 190.0)
    monkeypatch.setattr(Loops, "bandwidth", lambda _, size: 60.0)

    again = measure.measured_host()

    assert again.measured_flops == 200
    assert [memory.bandwidth for memory in again.memories] == [*[60.0] * (len(names) - 1), 123.0]
    assert "rounds within 0%" in again.summary()
