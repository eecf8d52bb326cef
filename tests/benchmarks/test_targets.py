"""Holding engines to an older processor: which switches are set, and which engines have none."""

import os

import pytest

torch = pytest.importorskip("torch")

import torch._inductor.config as inductor  # noqa: E402  needs PyTorch

from benchmarks import targets  # noqa: E402
from benchmarks.compare import Contender, best_peer  # noqa: E402
from benchmarks.engines import hold_inductor  # noqa: E402
from gawee_dialect.target import host  # noqa: E402

AVX512 = ("znver5", "+avx,+avx2,+fma,+avx512f,+avx512cd,+avx512bw,+avx512dq,+avx512vl")
AVX2 = ("haswell", "+avx,+avx2,+fma")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (host.TARGET_VARIABLE, *targets.ONEDNN, *targets.ATEN):
        monkeypatch.setenv(name, "")  # and taken back after the test
        monkeypatch.delenv(name)


def machine(monkeypatch: pytest.MonkeyPatch, cpu: tuple[str, str]) -> None:
    for module in (host, targets):
        monkeypatch.setattr(module, "this_processor", lambda: cpu)


@pytest.mark.parametrize(
    ("cpu", "target", "switched", "held"),
    [
        (AVX512, "znver3", True, True),
        (AVX512, "host", False, True),
        (AVX512, "icelake-client", False, True),  # as wide as the machine
        (AVX2, "znver3", False, True),
        (AVX2, "nehalem", False, False),
    ],
)
def test_engines_are_held_to_avx2_and_to_nothing_else(
    cpu: tuple[str, str],
    target: str,
    switched: bool,
    held: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(monkeypatch, cpu)

    targets.hold(target)

    set_here = {name: os.environ.get(name) for name in (*targets.ONEDNN, *targets.ATEN)}
    assert set_here == ({**targets.ONEDNN, **targets.ATEN} if switched else dict.fromkeys(set_here))
    for engine in ("onnxruntime", "openvino", "torch"):
        assert targets.is_held(engine) == held
    assert targets.is_held("gawee")
    assert targets.is_held("iree")


def test_an_engine_that_is_not_held_is_no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, AVX512)
    field = [
        Contender(name, "net", 1, 1, rounds=[[ms]]) for name, ms in (("another", 1), ("torch", 2))
    ]
    assert best_peer(field) is field[0]

    targets.hold("znver3")

    assert best_peer(field) is field[1]
    text = targets.processor_and_target(["another", "torch"])
    assert text.endswith("held to znver3; not held: another")


def test_products_of_bytes_that_an_engine_finds_by_itself_are_no_peers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(monkeypatch, (AVX512[0], f"{AVX512[1]},+avxvnni"))
    field = [
        Contender(name, "net:u8", 1, 1, rounds=[[ms]])
        for name, ms in (("onnxruntime", 1), ("openvino", 2))
    ]

    targets.hold("znver3")

    assert best_peer(field) is field[1]
    assert targets.is_held("onnxruntime")


def test_engines_of_integers_are_held_to_code_without_tiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(monkeypatch, ("emeraldrapids", f"{AVX512[1]},+avx512vnni,+amx-tile,+amx-int8"))

    targets.hold("icelake-server")

    assert {name: os.environ.get(name) for name in targets.ONEDNN} == targets.WITHOUT_TILES
    assert not any(name in os.environ for name in targets.ATEN)
    held = {name: targets.is_held(name, of_integers=True) for name in targets.SWITCHES}
    assert [name for name in held if not held[name]] == ["onnxruntime"]
    assert targets.is_held("onnxruntime")  # f32 is in vectors


def test_a_processor_whose_code_cannot_run_here_ends_the_benchmark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(monkeypatch, AVX2)

    with pytest.raises(SystemExit, match="cannot run code for 'znver5': haswell lacks avx512f"):
        targets.hold("znver5")


def test_code_of_inductor_has_the_vectors_of_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, AVX512)
    targets.hold("znver3")

    with inductor.patch({"cpp.simdlen": None, "cpp.march": None}):
        hold_inductor()
        assert (inductor.cpp.simdlen, inductor.cpp.march) == (256, "znver3")
