"""A module is compiled in pieces, which are the same for kernels that differ in names alone."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend import unit_code
from gawee_dialect.backend.cache import CompileCache
from gawee_dialect.backend.code_units import code_units
from gawee_dialect.backend.jit import ObjectCode, Target, compile_object
from gawee_dialect.backend.program import Program, compile_program
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.universe import make_context

ENTRY = """
llvm.func @main(%x: !llvm.ptr {gawee.input = "x", gawee.type = memref<3xf32>},
                %y: !llvm.ptr {gawee.output = "y", gawee.type = memref<3xf32>}) {
  BODY
  llvm.return
}
llvm.func @main_packed(%args: !llvm.ptr) {
  %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %place = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %y = llvm.load %place : !llvm.ptr -> !llvm.ptr
  llvm.call @main(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
"""


def kernel(name: str, instruction: str = "fadd", value: str = "v") -> str:
    """Return a kernel that changes the first element of its second argument by one of the first."""
    return f"""
llvm.func internal @{name}(%{value}x: !llvm.ptr, %{value}y: !llvm.ptr)
    attributes {{passthrough = ["noinline"]}} {{
  %{value}0 = llvm.load %{value}x : !llvm.ptr -> f32
  %{value}1 = llvm.load %{value}y : !llvm.ptr -> f32
  %{value}2 = llvm.{instruction} %{value}0, %{value}1 : f32
  llvm.store %{value}2, %{value}y : f32, !llvm.ptr
  llvm.return
}}"""


def calls(*names: str) -> str:
    lines = (f"llvm.call @{name}(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()" for name in names)
    return ENTRY.replace("BODY", "\n  ".join(lines))


def parsed(text: str) -> ModuleOp:
    return parse_mlir(make_context(), text, "test.mlir")


def texts(text: str) -> list[str]:
    return [unit.text for unit in code_units(parsed(text))]


def run(program: Program, *values: float) -> list[float]:
    """Call the program on an array and one of ones; return the latter."""
    x, y = np.array(values, np.float32), np.ones(len(values), np.float32)
    native = program.load()
    native.function("main_packed")((ctypes.c_void_p * 2)(x.ctypes.data, y.ctypes.data))
    return y.tolist()


def test_kernels_that_differ_in_names_alone_are_one_piece() -> None:
    module = kernel("a") + kernel("b", value="w") + calls("a", "b")

    first, last = texts(module)

    assert "fadd" in first
    assert "main_packed" in last
    assert run(compile_program(parsed(module), "main"), 5.0) == [11.0]


def test_a_kernel_has_the_same_piece_in_another_module() -> None:
    (one, _), (other, product, _) = (
        texts(kernel("a") + calls("a")),
        texts(kernel("c", "fmul") + kernel("b", value="w") + calls("b", "c")),
    )

    assert one == other
    assert product != other


def test_locations_do_not_change_a_piece() -> None:
    located = kernel("a").replace("f32\n", 'f32 loc("net.onnx":7:1)\n', 1)

    assert "loc(" in located
    assert texts(located + calls("a")) == texts(kernel("a") + calls("a"))


def test_pieces_are_written_the_same_each_time() -> None:
    module = kernel("c", "fmul") + kernel("b") + kernel("a", "fsub") + calls("a", "b", "c", "a")

    assert texts(module) == texts(module)
    assert len(texts(module)) == 4


def test_what_is_public_and_does_not_call_each_other_is_apart() -> None:
    prepare = ENTRY.replace("@main", "@prepare").replace("BODY", "")

    pieces = texts(kernel("a") + calls("a") + prepare)

    assert [("@main" in piece, "@prepare" in piece) for piece in pieces] == [
        (False, False),
        (True, False),
        (False, True),
    ]


def test_a_kernel_calls_a_kernel() -> None:
    twice = """
llvm.func internal @twice(%x: !llvm.ptr, %y: !llvm.ptr) attributes {passthrough = ["noinline"]} {
  llvm.call @a(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.call @a(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}"""
    module = twice + kernel("a") + calls("twice", "a")

    assert len(texts(module)) == 3
    assert run(compile_program(parsed(module), "main"), 2.0) == [7.0]


COUNTED = """
llvm.func internal @{name}(%x: !llvm.ptr, %y: !llvm.ptr) attributes {{passthrough = ["noinline"]}} {{
  %v = llvm.load %x : !llvm.ptr -> f32
  %w = llvm.load %y : !llvm.ptr -> f32
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %done = llvm.fcmp "ole" %v, %zero : f32
  llvm.cond_br %done, ^end, ^more
^more:
  %less = llvm.fsub %v, %one : f32
  %more = llvm.fadd %w, %one : f32
  llvm.store %less, %x : f32, !llvm.ptr
  llvm.store %more, %y : f32, !llvm.ptr
  llvm.call @{other}(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.br ^end
^end:
  llvm.return
}}"""


@pytest.mark.parametrize("other", ["even", "odd"])
def test_kernels_that_call_themselves_or_each_other_have_copies(other: str) -> None:
    module = COUNTED.format(name="even", other=other) + COUNTED.format(name="odd", other="even")

    assert run(compile_program(parsed(module + calls("even")), "main"), 4.0) == [5.0]


TABLE = """
llvm.mlir.global private constant @table(dense<[{values}]> : tensor<3xf32>) : !llvm.array<3 x f32>
llvm.func internal @add_table(%x: !llvm.ptr, %y: !llvm.ptr)
    attributes {{passthrough = ["noinline"]}} {{
  %table = llvm.mlir.addressof @table : !llvm.ptr
  llvm.call @a(%table, %y) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}}"""


def test_constants_go_with_who_reads_them() -> None:
    module = TABLE.format(values="3.0, 4.0, 5.0") + kernel("a") + calls("add_table", "a")
    other = TABLE.format(values="6.0, 4.0, 5.0") + kernel("a") + calls("add_table", "a")

    assert run(compile_program(parsed(module), "main"), 2.0) == [6.0]
    assert run(compile_program(parsed(other), "main"), 2.0) == [9.0]
    assert len({*texts(module), *texts(other)}) == 5


def test_two_constants_of_two_kernels_are_not_mixed_up() -> None:
    second = TABLE.format(values="10.0, 4.0, 5.0").replace("table", "board")
    module = TABLE.format(values="3.0, 4.0, 5.0") + second + kernel("a")

    assert run(compile_program(parsed(module + calls("add_table", "add_board")), "main"), 2.0) == [
        14.0
    ]


def test_what_is_written_to_has_no_copies() -> None:
    module = TABLE.format(values="3.0, 4.0, 5.0").replace("constant @", "@") + kernel("a")
    module += calls("add_table", "a")

    assert len(texts(module)) == 1
    assert run(compile_program(parsed(module), "main"), 2.0) == [6.0]


def test_another_network_compiles_only_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = CompileCache(tmp_path / "c")
    compile_program(parsed(kernel("a") + calls("a")), "main", cache=cache)
    compiled: list[str] = []

    def counted(text: str, target: Target) -> ObjectCode:
        compiled.append(text)
        return compile_object(text, target)

    monkeypatch.setattr(unit_code, "compile_object", counted)
    module = kernel("b", value="w") + kernel("c", "fmul") + calls("b", "c")
    program = compile_program(parsed(module), "main", cache=cache)

    assert [("fmul" in text, "fadd" in text) for text in compiled] == [
        (True, False),
        (False, False),
    ]
    assert run(program, 5.0) == [30.0]
    again = compile_program(parsed(module), "main", cache=cache)
    assert run(again, 5.0) == [30.0]
    assert len(compiled) == 2


def test_a_piece_that_is_damaged_is_made_again(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "c")
    module = kernel("a") + calls("a")
    compile_program(parsed(module), "main", cache=cache)
    paths = sorted(cache.folder.glob("*.gawee"))
    for path in paths:
        path.write_bytes(path.read_bytes()[:-9])

    assert run(compile_program(parsed(module), "main", cache=cache), 5.0) == [6.0]
    assert sorted(cache.folder.glob("*.gawee")) == paths


def test_what_has_a_loop_is_no_list_of_calls() -> None:
    loop = """
  llvm.br ^next
^next:
  llvm.call @one(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()"""
    straight = code_units(parsed(calls("one") + kernel("one")))
    jumping = code_units(parsed(ENTRY.replace("BODY", loop) + kernel("one")))

    assert [unit.only_calls for unit in straight] == [False, True]
    assert [unit.only_calls for unit in jumping] == [False, False]
