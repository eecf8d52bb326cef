"""Processors by name: their limits against figures done by hand, and what LLVM thinks of them."""

import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest

from gawee_dialect.backend.jit import Target, initialize
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.target import description
from gawee_dialect.target.costs import Costs
from gawee_dialect.target.description import PROCESSORS
from gawee_dialect.target.machine import Machine, find_processor

GFLOPS = {
    # lanes * units * 2 * GHz
    "skylake-avx512": 16 * 2 * 2 * 2.2,
    "haswell": 8 * 2 * 2 * 3.4,
    "generic-avx2": 8 * 2 * 2 * 2.5,
    "apple-m1": 4 * 4 * 2 * 3.2,
    "neoverse-n1": 4 * 2 * 2 * 2.5,
    "neoverse-v1": 4 * 4 * 2 * 2.6,
    "znver3": 103,
    "alderlake": 8 * 2 * 2 * 4.5,
    "icelake-client": 16 * 1 * 2 * 3.5,
}


def test_a_processor_has_as_many_cores_as_threads_that_run_on_it() -> None:
    assert Machine("haswell", 3).processor.cores == 3
    assert Machine("haswell").processor == find_processor("haswell") == PROCESSORS["haswell"]


@pytest.mark.parametrize("name", PROCESSORS)
def test_limits_of_a_named_processor(name: str) -> None:
    processor = find_processor(name)

    assert processor.flops() / 1e9 == pytest.approx(GFLOPS[name])
    assert processor.flops(64) == pytest.approx(processor.flops() / 2)
    assert processor.flops(16) == processor.flops()  # half precision is computed in single


@pytest.mark.parametrize("name", PROCESSORS)
def test_memories_get_larger_and_slower(name: str) -> None:
    *caches, main = PROCESSORS[name].memories

    assert main.size is None
    sizes = [cache.size or 0 for cache in caches]
    rates = [memory.bandwidth for memory in (*caches, main)]
    assert sizes == sorted(sizes)
    assert 0 not in sizes
    assert rates == sorted(rates, reverse=True)


def test_a_description_may_say_what_something_costs() -> None:
    figures = tomllib.loads(description._FILE.read_text())["haswell"]

    described = description._described("haswell", **figures, multiply_add_latency=5)

    assert described == replace(PROCESSORS["haswell"], multiply_add_latency=5)


def test_the_page_on_kernels_has_all_costs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]

    for each in fields(Costs):
        (row,) = (line for line in rows if f"`{each.name}`" in line)
        assert f"{each.default}" in row


def test_data_are_in_the_nearest_memory_that_holds_them() -> None:
    processor = PROCESSORS["haswell"]

    sizes = (0, 32 << 10, (32 << 10) + 1, 8 << 20, 1 << 30)
    assert [processor.memory_for(size).name for size in sizes] == ["L1", "L1", "L2", "L3", "DRAM"]


def test_unknown_target_names_those_that_exist() -> None:
    with pytest.raises(GaweeError, match="unknown target 'haswel'\nhint: did you mean 'haswell'"):
        find_processor("haswel")


def test_llvm_gets_its_names_from_the_description() -> None:
    assert Target.of(PROCESSORS["generic-avx2"]) == Target("x86-64-v3", "")


def test_this_machine_is_what_llvm_compiles_for() -> None:
    initialize()
    processor = find_processor("host")

    resolved = Target().resolved()
    assert (processor.cpu, processor.features) == (resolved.cpu, resolved.features)
    assert processor.flops() > 0
