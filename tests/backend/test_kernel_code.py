"""Kernels of a network are lowered and compiled one by one, and known again in another network."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.analysis.fingerprint import Fingerprints
from gawee_dialect.backend import kernel_code, prebuilt_kernels, unit_code
from gawee_dialect.backend.cache import CompileCache
from gawee_dialect.backend.jit import ObjectCode, Target
from gawee_dialect.backend.kernel_code import Kernel, separate_kernels
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import lower_to_functions
from gawee_dialect.model import Model
from gawee_dialect.target.host import host
from gawee_dialect.tools import gawee
from gawee_dialect.universe import make_context
from tests.closeness import assert_allclose

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def parsed(text: str) -> ModuleOp:
    return parse_mlir(make_context(), text, "net.mlir")


def chain(*widths: int, name: str = "w") -> str:
    """Return a network of dense layers with relu; the widths are those of its values."""
    lines = list[str]()
    arguments = [f'%x: tensor<3x{widths[0]}xf32> {{gawee.input = "x"}}']
    value = "%x"
    for layer, (inputs, outputs) in enumerate(pairwise(widths)):
        shape, weight = f"tensor<3x{outputs}xf32>", f"%{name}{layer}"
        arguments.append(
            f'{weight}: tensor<{outputs}x{inputs}xf32> {{gawee.parameter = "w{layer}"}}'
        )
        operands = f"(tensor<3x{inputs}xf32>, tensor<{outputs}x{inputs}xf32>) -> {shape}"
        lines += [
            f"%{name}p{layer} = gawee.matmul {value}, {weight} : {operands}",
            f"%{name}r{layer} = gawee.relu %{name}p{layer} : ({shape}) -> {shape}",
        ]
        value = f"%{name}r{layer}"
    body = "\n  ".join(lines)
    return (
        f"func.func @main({', '.join(arguments)}) -> tensor<3x{widths[-1]}xf32> {{\n"
        f"  {body}\n  return {value} : tensor<3x{widths[-1]}xf32>\n}}"
    )


def weights(*widths: int) -> dict[str, Array]:
    """Return seeded weights of a chain."""
    rng = np.random.default_rng(3)
    return {
        f"w{layer}": rng.standard_normal((outputs, inputs)).astype(np.float32)
        for layer, (inputs, outputs) in enumerate(pairwise(widths))
    }


def expected(x: Array, *widths: int) -> Array:
    """Return what a chain computes, in f64."""
    value = x.astype(np.float64)
    for weight in weights(*widths).values():
        value = np.maximum(value @ weight.T.astype(np.float64), 0)
    return value.astype(np.float32)


def assert_right(model: Model, *widths: int, cache: bool = True) -> None:
    x = np.random.default_rng(4).standard_normal((3, widths[0])).astype(np.float32)

    result = model.compile(CodeOptions(num_threads=1), cache=cache)(x)

    # Sums of up to 40 products in f32, one after another layer.
    assert_allclose(result, expected(x, *widths), rtol=1e-4, atol=1e-4)


def model(*widths: int, name: str = "w") -> Model:
    return Model(parsed(chain(*widths, name=name)), weights(*widths))


@pytest.fixture
def lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list that the kernels are put in which are lowered from now on."""
    monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path / "cache"))
    found: list[str] = []
    original = kernel_code.run_shared

    def noted(
        function: Callable[[Kernel], object], tasks: Sequence[Kernel], processes: int
    ) -> object:
        found.extend(kernel.name for kernel in tasks)
        return original(function, tasks, processes)

    monkeypatch.setattr(kernel_code, "run_shared", noted)
    return found


def test_another_network_lowers_only_kernels_that_are_new(lowered: list[str]) -> None:
    assert_right(model(7, 19, 33, 5), 7, 19, 33, 5)
    first = list(lowered)
    lowered.clear()

    assert_right(model(19, 33, 5, 11, name="other"), 19, 33, 5, 11)

    assert len(first) >= 3
    assert 0 < len(lowered) < len(first)


def test_the_same_network_under_other_names_lowers_none(lowered: list[str]) -> None:
    assert_right(model(7, 19, 33), 7, 19, 33)
    lowered.clear()

    assert_right(model(7, 19, 33, name="other"), 7, 19, 33)

    assert lowered == []


def test_kernels_stay_known_where_the_processor_was_measured_again(
    lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_right(model(7, 19, 33), 7, 19, 33)
    lowered.clear()
    machine = replace(host(), measured_flops=1e11, source="measured")
    monkeypatch.setattr("gawee_dialect.compilation.find_processor", lambda name: machine)

    assert_right(model(7, 19, 33), 7, 19, 33)
    assert lowered == []
    wider = replace(machine, vector_bits=64)
    monkeypatch.setattr("gawee_dialect.compilation.find_processor", lambda name: wider)

    assert_right(model(7, 19, 33), 7, 19, 33)
    assert lowered


def test_of_known_kernels_llvm_compiles_only_what_calls_them(
    lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_right(model(7, 19, 33), 7, 19, 33)
    lowered.clear()
    symbols = list[str]()
    original = unit_code.compile_object

    def noted(text: str, target: Target) -> ObjectCode:
        symbols.extend(re.findall(r"^define .*@([\w.]+)\(", text, re.MULTILINE))
        return original(text, target)

    monkeypatch.setattr(unit_code, "compile_object", noted)

    assert_right(model(7, 19), 7, 19)

    assert lowered == []
    assert sorted(symbols) == ["main", "main_packed", "prepare", "prepare_packed"]


def test_without_cache_all_are_lowered_and_nothing_is_kept(
    lowered: list[str], tmp_path: Path
) -> None:
    for _ in range(2):
        lowered.clear()
        assert_right(model(7, 19, 33), 7, 19, 33, cache=False)

    assert len(lowered) >= 2
    assert not (tmp_path / "cache").exists()


def test_several_processes_make_the_same_code(
    lowered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths = (7, 19, 33, 5, 21, 9, 13)
    kept: list[dict[str, bytes]] = []
    for cores in (1, 3):
        monkeypatch.setattr(kernel_code, "cores", lambda cores=cores: cores)
        monkeypatch.setenv("GAWEE_CACHE_DIR", str(tmp_path / str(cores)))
        assert_right(model(*widths), *widths)
        cache = CompileCache()
        names = [path.stem for path in cache.folder.glob("*.gawee")]
        kept.append({name: cache.read(name) or b"" for name in names})

    assert kept[0] == kept[1]
    assert len(kept[0]) > 2 * 6


def test_damaged_kernels_are_made_again(lowered: list[str], tmp_path: Path) -> None:
    assert_right(model(7, 19, 33), 7, 19, 33)
    for path in CompileCache().folder.glob("*.gawee"):
        path.write_bytes(path.read_bytes()[:-5] + b"12345")
    lowered.clear()

    assert_right(model(7, 19, 33), 7, 19, 33)

    assert len(lowered) >= 2


def fingerprints(text: str) -> list[str]:
    module = lower_to_functions(parsed(text), CodeOptions(num_threads=1))
    kernels = separate_kernels(module)
    assert kernels is not None
    return [kernel.text for kernel in kernels]


@pytest.mark.parametrize("change", [(7, 20), (8, 19)])
def test_kernels_of_other_sizes_are_others(change: tuple[int, int]) -> None:
    assert fingerprints(chain(7, 19)) != fingerprints(chain(*change))
    assert fingerprints(chain(7, 19)) == fingerprints(chain(7, 19, name="other"))


OPS = """
func.func private @f(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<4xf32>
  %w = memref.load %y[%c0] : memref<4xf32>
  %s = arith.subf %v, %w : f32
  %z = arith.constant 0.0 : f32
  %m = arith.maximumf %s, %z : f32
  memref.store %m, %y[%c0] : memref<4xf32>
  return
}
"""


def fingerprint(text: str) -> str:
    (function,) = parsed(text).ops
    return Fingerprints().of(function, name="kernel")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("arith.subf %v, %w", "arith.subf %w, %v"),
        ("arith.subf", "arith.addf"),
        ("constant 0.0", "constant -0.0"),
        ("%y[%c0] : memref<4xf32>\n  return", "%x[%c0] : memref<4xf32>\n  return"),
        ("memref<4xf32>", "memref<5xf32>"),
        ("arith.subf %v, %w", "arith.subf %v, %w fastmath<contract>"),
    ],
)
def test_what_computes_something_else_has_another_fingerprint(old: str, new: str) -> None:
    changed = OPS.replace(old, new)

    assert changed != OPS
    assert fingerprint(changed) != fingerprint(OPS)


@pytest.mark.parametrize(
    ("old", "new"), [("%s", "%other"), ("@f", "@g"), ("f32\n", 'f32 loc("x":1:1)\n')]
)
def test_names_and_places_are_not_in_a_fingerprint(old: str, new: str) -> None:
    assert fingerprint(OPS.replace(old, new)) == fingerprint(OPS)


def test_blocks_that_follow_each_other_otherwise_have_another_fingerprint() -> None:
    text = """
func.func private @f(%b: i1, %x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<4xf32>
  cf.cond_br %b, ^one, ^two
^one:
  cf.br ^two
^two:
  return
}
"""
    assert fingerprint(text) != fingerprint(text.replace("^one, ^two", "^two, ^one"))


def test_functions_that_call_each_other_are_left_together() -> None:
    text = (
        OPS
        + """
func.func private @g(%x: memref<4xf32>, %y: memref<4xf32>) {
  call @f(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
"""
    )
    module = parsed(text)

    assert separate_kernels(module) is None
    assert str(module) == str(parsed(text))


def test_all_ops_that_cannot_be_lowered_are_told_of() -> None:
    text = """
func.func private @a(%x: memref<4xf32>) {
  %n = memref.alloc() : memref<4xf32>
  return
}
func.func private @b(%x: memref<4xf32>) {
  %n = arith.constant 7 : i32
  %m = math.ctpop %n : i32
  %f = arith.sitofp %m : i32 to f32
  %i = arith.constant 0 : index
  memref.store %f, %x[%i] : memref<4xf32>
  return
}
func.func @main(%x: memref<4xf32> {gawee.input = "x"}) {
  call @a(%x) : (memref<4xf32>) -> ()
  call @b(%x) : (memref<4xf32>) -> ()
  return
}
"""
    with pytest.raises(GaweeError) as error:
        Model(parsed(text)).compile(cache=False)

    told = " ".join(str(each) for each in error.value.diagnostics)
    assert "memref.alloc" in told
    assert "math.ctpop" in told


def built(folder: Path, *widths: int) -> dict[str, bytes]:
    """Compile the kernels of a chain into a folder, and return its files by name."""
    network = folder / "net.mlir"
    network.write_text(chain(*widths))
    kernels = folder / "kernels"
    assert gawee.main(["kernels", str(network), "--threads", "1", "-o", str(kernels)]) == 0
    return {path.name: path.read_bytes() for path in kernels.iterdir()}


def test_prebuilt_kernels_are_read_and_their_folder_is_never_written(
    lowered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = built(tmp_path, 7, 19, 33)
    lowered.clear()
    monkeypatch.setenv("GAWEE_KERNELS_DIR", str(tmp_path / "kernels"))

    assert_right(model(7, 19), 7, 19)
    assert lowered == []
    assert_right(model(7, 19, 5), 7, 19, 5)

    assert lowered
    assert {path.name: path.read_bytes() for path in (tmp_path / "kernels").iterdir()} == files


def test_prebuilt_kernels_are_found_in_a_package(
    lowered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = built(tmp_path, 7, 19)
    lowered.clear()
    package = tmp_path / "site" / "gawee_kernels"
    package.mkdir(parents=True, mode=0o755)
    for name, data in (("__init__.py", b""), *files.items()):
        (package / name).write_bytes(data)
        (package / name).chmod(0o644)
    monkeypatch.syspath_prepend(package.parent)
    prebuilt_kernels.package_folder.cache_clear()

    try:
        assert_right(model(7, 19), 7, 19)
    finally:
        prebuilt_kernels.package_folder.cache_clear()

    assert lowered == []


@pytest.mark.parametrize("damage", ["cut", "changed", "others"])
def test_a_prebuilt_kernel_that_cannot_be_trusted_is_compiled(
    lowered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    files = built(tmp_path, 7, 19)
    lowered.clear()
    monkeypatch.setenv("GAWEE_KERNELS_DIR", str(tmp_path / "kernels"))
    name, data = max(files.items(), key=lambda file: len(file[1]))
    path = tmp_path / "kernels" / name
    if damage == "others":
        path.chmod(0o666)
    else:
        path.write_bytes(data[:-7] if damage == "cut" else data[:40] + b"?" + data[41:])
    after = path.read_bytes()

    assert_right(model(7, 19), 7, 19)

    assert len(lowered) == 1
    assert path.read_bytes() == after


def test_counts_of_threads_are_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert gawee.main(["kernels", "net.mlir", "-o", "kernels", "--threads", "two"]) == 1
    assert "error: expected --threads as 1,2,4, got 'two'" in capsys.readouterr().err
