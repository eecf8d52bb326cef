"""What counts as slower than an earlier version, on figures that are made up."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.regression import (
    ROOT,
    Comparison,
    compared,
    mlir_of_op,
    shapes_of_op,
    slower,
    turn,
    unpack,
)
from gawee_dialect.diagnostics import GaweeError


def one(base: list[float], now: list[float]) -> Comparison:
    (found,) = compared({"relu, run": base}, {"relu, run": now})
    return found


def rounds(seconds: float, spread: float, seed: int) -> list[float]:
    random = np.random.default_rng(seed)
    return [seconds * float(np.exp(spread * each)) for each in random.standard_normal(8)]


def test_a_tenth_more_is_slower_and_a_tenth_less_is_not() -> None:
    before = rounds(1.0, 0.005, 0)

    assert one(before, rounds(1.1, 0.005, 1)).is_slower
    assert not one(before, rounds(0.9, 0.005, 1)).is_slower


def test_what_is_within_the_noise_or_the_margin_is_not_slower() -> None:
    assert not one(rounds(1.0, 0.3, 0), rounds(1.1, 0.3, 1)).is_slower
    assert not one([1.0] * 8, [1.02] * 8).is_slower


def test_a_machine_that_slows_down_slows_both_versions_down() -> None:
    drift = [1.0, 1.1, 1.3, 1.6, 2.0, 1.7, 1.2, 1.0]

    assert not one(drift, drift[:]).is_slower
    assert one(drift, [1.1 * each for each in drift]).is_slower


def test_one_disturbed_round_is_not_slower() -> None:
    assert not one(rounds(1.0, 0.01, 0), [*rounds(1.0, 0.01, 1)[:7], 9.0]).is_slower


def test_slower_is_what_is_slower_in_both_measurements() -> None:
    slow, same = ({"a": [1.0] * 8, "b": [now] * 8} for now in (1.2, 1.0))
    base = {"a": [1.0] * 8, "b": [1.0] * 8}

    assert slower(compared(base, slow), compared(base, slow)) == ["b"]
    assert slower(compared(base, slow), compared(base, same)) == []


def test_what_only_one_version_has_is_not_compared() -> None:
    assert compared({"old": [1.0] * 3}, {"new": [1.0] * 3}) == []


def test_a_version_tells_its_seconds(tmp_path: Path) -> None:
    graph = tmp_path / "tiny" / "graph.mlir"
    graph.parent.mkdir()
    graph.write_text(mlir_of_op("%x: tensor<3x5xf32>", "gawee.relu %x", "tensor<3x5xf32>"))
    (shape,) = shapes_of_op("%x: tensor<3x5xf32>").values()
    np.savez(graph.parent / "inputs.npz", x=np.ones(shape, np.float32))

    found = turn(ROOT, [graph])

    assert list(found) == ["import", "tiny, compile", "tiny, run"]
    assert all(seconds > 0 for seconds in found.values())


def test_a_version_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(GaweeError, match="cannot read version 'no-such-tag'"):
        unpack("no-such-tag", tmp_path)
