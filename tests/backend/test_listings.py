"""What was compiled, function by function, and that assembly is the code that runs."""

import pytest
from llvmlite import binding

from gawee_dialect.backend.code_generation import (
    assemble,
    assembly_functions,
    emit_assembly,
    emit_object,
    llvm_functions,
)
from gawee_dialect.backend.jit import Target, compile_object, optimized_text
from gawee_dialect.backend.llvm_text import llvm_text
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import lower_to
from gawee_dialect.universe import make_context

LINUX = """\t.file\t"<string>"
\t.section\t.rodata,"a",@progbits
.LCPI0_0:
\t.long\t0x3fc00000
\t.section\t.ltext,"axl",@progbits
\t.type\tconv_0,@function
conv_0:
\t.cfi_startproc
\tmovabsq\t$.LCPI0_0, %rax
.LBB0_1:
\tvaddps\t(%rax), %zmm0, %zmm0  # a comment
\tjne\t.LBB0_1
\tretq
.Lfunc_end0:
\t.size\tconv_0, .Lfunc_end0-conv_0
\t.cfi_endproc

\t.globl\tmain
main:
\tretq
.Lfunc_end1:
"""

DARWIN = """\t.section\t__TEXT,__text,regular,pure_instructions
_conv_0:
\tadd\tx0, x0, #1
\tret
Lfunc_end0:
"""


def test_a_function_is_its_instructions_and_labels() -> None:
    assert assembly_functions(LINUX, {"conv_0", "absent"}) == {
        "conv_0": [
            "        movabsq $.LCPI0_0, %rax",
            ".LBB0_1:",
            "        vaddps  (%rax), %zmm0, %zmm0",
            "        jne     .LBB0_1",
            "        retq",
        ]
    }
    assert list(assembly_functions(LINUX, {"main", "conv_0"})) == ["conv_0", "main"]


def test_an_underscore_before_a_name_is_the_systems() -> None:
    assert assembly_functions(DARWIN, {"conv_0"}) == {
        "conv_0": ["        add     x0, x0, #1", "        ret"]
    }


CONVOLUTION = """func.func @main(%x: tensor<2x3x9x7xf32>, %w: tensor<5x3x3x2xf32>, %b: tensor<2x5x7x6xf32>) -> tensor<2x5x7x6xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x9x7xf32>, tensor<5x3x3x2xf32>) -> tensor<2x5x7x6xf32>
  %e = gawee.exp %y : (tensor<2x5x7x6xf32>) -> tensor<2x5x7x6xf32>
  %z = gawee.add %e, %b : (tensor<2x5x7x6xf32>, tensor<2x5x7x6xf32>) -> tensor<2x5x7x6xf32>
  return %z : tensor<2x5x7x6xf32>
}
"""


def convolution() -> str:
    module = lower_to(parse_mlir(make_context(), CONVOLUTION, "net.mlir"), "llvm")
    return llvm_text(module, Target().resolved().function_attributes())


def sections(code: bytes) -> dict[str, bytes]:
    """Return what an object file loads: instructions and constants, by section."""
    object_file = binding.ObjectFileRef.from_data(code)
    # A section is valid until the next one: it is read at once.
    found = [(each.name() or b"", each.data()) for each in object_file.sections()]
    loaded = (b".text", b".ltext", b".rodata", b".lrodata")
    return {name.decode(): data for name, data in found if name.startswith(loaded)}


def test_what_is_assembled_is_the_code_that_llvm_emits_itself() -> None:
    module, machine = optimized_text(convolution(), Target().resolved(), jit=True)
    assembled = assemble(machine, emit_assembly(machine, module))
    again, machine = optimized_text(convolution(), Target().resolved(), jit=True)
    emitted = sections(emit_object(machine, again))
    assert sum(map(len, emitted.values())) > 500
    assert sections(assembled) == emitted


@pytest.mark.parametrize("assembly", [False, True])
def test_assembly_is_kept_where_it_is_asked_for(assembly: bool) -> None:
    code = compile_object(convolution(), Target().resolved(), assembly=assembly)
    assert bool(code.assembly) == assembly
    assert ("main" in assembly_functions(code.assembly, {"main"})) == assembly


def test_functions_of_llvm_ir_are_those_that_it_defines() -> None:
    text = convolution()
    functions = llvm_functions(text)
    assert "main" in functions
    assert sum(map(len, functions.values())) > 0.5 * len(text)
    assert len(functions) == text.count("\ndefine ") + text.startswith("define ")
    for name, function in functions.items():
        assert function.startswith("define ")
        assert f"@{name}(" in function.partition("\n")[0]
        assert function.endswith("\n}")
        assert function.count("\ndefine ") == 0
    quoted = 'define void @"a b"(ptr %x) {\n  ret void\n}\n\ndeclare float @expf(float)\n'
    assert llvm_functions(quoted) == {"a b": quoted.partition("\n\n")[0]}
