"""The assembly of single functions, as the assemblers of several systems are given it."""

from gawee_dialect.backend.assembly import function_lines

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
    assert function_lines(LINUX, {"conv_0", "absent"}) == {
        "conv_0": [
            "        movabsq $.LCPI0_0, %rax",
            ".LBB0_1:",
            "        vaddps  (%rax), %zmm0, %zmm0",
            "        jne     .LBB0_1",
            "        retq",
        ]
    }
    assert list(function_lines(LINUX, {"main", "conv_0"})) == ["conv_0", "main"]


def test_an_underscore_before_a_name_is_the_systems() -> None:
    assert function_lines(DARWIN, {"conv_0"}) == {
        "conv_0": ["        add     x0, x0, #1", "        ret"]
    }
