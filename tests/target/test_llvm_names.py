"""LLVM's names of processors: LLVM knows each, and its code has the vectors that are told."""

import re

import pytest

from gawee_dialect.backend.jit import Target, initialize, make_machine, parse_llvm
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.target.description import AVX2, NEON, PROCESSORS, VECTORS
from gawee_dialect.target.machine import Machine, find_processor

MULTIPLY_ADD = """
define void @f(ptr %p) {{
  %x = load <{lanes} x float>, ptr %p
  %y = call <{lanes} x float> @llvm.fma.v{lanes}f32(
    <{lanes} x float> %x, <{lanes} x float> %x, <{lanes} x float> %x)
  store <{lanes} x float> %y, ptr %p
  ret void
}}
declare <{lanes} x float> @llvm.fma.v{lanes}f32(<{lanes} x float>, <{lanes} x float>, <{lanes} x float>)
"""
FUSED = {
    128: r"\bfmla(\s+v\d+)?\.4s",
    256: r"\bvfmadd\w+\s.*%ymm|\bvfmaddps\s.*%ymm",
    512: r"\bvfmadd\w+\s.*%zmm",
}


def assembly(name: str) -> str:
    processor = find_processor(name)
    initialize()
    parsed = parse_llvm(MULTIPLY_ADD.format(lanes=processor.lanes))
    target = Target(processor.cpu, processor.features, triple=processor.triple)
    return make_machine(target, jit=False).emit_assembly(parsed)


@pytest.mark.parametrize("name", VECTORS)
def test_llvm_knows_each_name_and_its_code_has_such_vectors(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    text = assembly(name)

    assert "not a recognized" not in capfd.readouterr().err  # how LLVM says that it guesses
    vectors = VECTORS[name]
    if vectors is NEON or "+fma" in vectors.features:
        assert re.search(FUSED[vectors.bits], text)
    else:
        assert not re.search(r"vfmadd\d|fmla", text)
    widest = max((w for w, letter in ((512, "z"), (256, "y")) if f"%{letter}mm" in text), default=0)
    assert widest in (vectors.bits, 0)


@pytest.mark.parametrize("name", PROCESSORS)
def test_a_described_processor_has_the_vectors_of_its_name(name: str) -> None:
    processor = PROCESSORS[name]
    vectors = VECTORS[processor.cpu]

    assert (processor.vector_bits, processor.vector_registers) == (vectors.bits, vectors.registers)


def test_a_name_without_figures_of_its_own_says_whose_they_are() -> None:
    processor = Machine("znver2", 3).processor

    assert (processor.cpu, processor.cores, processor.lanes) == ("znver2", 3, 8)
    assert processor.source == "assumed for znver2: assumed for x86-64-v3"
    assert VECTORS["znver2"] is AVX2


def test_a_processor_is_found_by_what_it_is_sold_as() -> None:
    assert find_processor("graviton3") == find_processor("neoverse-v1")
    assert find_processor("apple-m2").triple == find_processor("apple-m1").triple


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("znver33", "did you mean 'znver3'?"),
        ("graviton", "did you mean 'graviton4'?"),
        ("icelake_client", "did you mean 'icelake-client'?"),
        ("pdp11", "targets: host, skylake-avx512, "),
    ],
)
def test_another_name_is_refused_with_one_that_is_near(name: str, hint: str) -> None:
    with pytest.raises(GaweeError, match=f"unknown target '{name}'") as raised:
        find_processor(name)

    assert f"\nhint: {hint}" in str(raised.value)
