"""LLVM's passes for kernels that are in vectors: what such code needs, and no more.

LLVM's standard pipeline looks for loops to vectorise, rotate, split and hoist from, again and
again. A kernel of ours is in vectors and register tiles, with addresses in front of the loops that
they do not depend on. What is left is to unroll its tiles, and to turn them into registers.

The standard pipeline remains for what has a loop without vectors, which LLVM may vectorise, and for
divisions in an unrolled loop: each copy would divide in every iteration of the loops around.
"""

import re
from collections.abc import Iterator

from llvmlite import binding

LINE = re.compile(
    r"^(?:define |(?P<label>[^\s;:]+):|  br (?P<branch>[^\n]*label [^\n]*)$)", re.MULTILINE
)
"""What loops are known by: where a function begins, labels, branches."""

TARGET = re.compile(r"label %([^\s,]+)")
LOOP = re.compile(r"!llvm\.loop (!\d+)")
FULL = re.compile(r'^(!\d+) = !\{!"llvm\.loop\.unroll\.full"\}$', re.MULTILINE)
MARK = re.compile(r"^(!\d+) = distinct !\{!\d+, (!\d+)\}$", re.MULTILINE)
METADATA = re.compile(r"^!\d+ = ", re.MULTILINE)
VECTOR = re.compile(r"<\d+ x ")
DIVISION = re.compile(r" = [us](?:div|rem) ")

Loop = tuple[int, int, str]
"""Where a loop begins and ends in a text, and its mark, empty where it has none."""


def _loops(text: str) -> Iterator[Loop]:
    """Yield the loops of LLVM IR by their ends: branches to a block that was written before."""
    starts: dict[str, int] = {}
    for found in LINE.finditer(text):
        if found["label"]:
            starts[found["label"]] = found.start()
        elif found["branch"] is None:
            starts = {}
        else:
            mark = LOOP.search(found["branch"])
            for target in TARGET.findall(found["branch"]):
                if target in starts:
                    yield starts[target], found.end(), mark[1] if mark else ""


def is_in_vectors(text: str) -> bool:
    """Whether each innermost loop of LLVM IR has vectors, and no unrolled loop a division."""
    unrolled = set(FULL.findall(text))
    unrolled = {loop for loop, mark in MARK.findall(text) if mark in unrolled}
    inner = -1
    for start, end, loop in _loops(text):
        if start > inner and not VECTOR.search(text, start, end):
            return False
        if loop in unrolled and DIVISION.search(text, start, end):
            return False
        inner = start
    return True


def with_unrolling_as_marked(text: str) -> str:
    """Return LLVM IR that says of each unmarked loop that it is not to be unrolled.

    The pass unrolls what it thinks worth it, and llvmlite has no option for that.
    """
    parts: list[str] = []
    written = 0
    number = len(METADATA.findall(text))
    for _, end, loop in _loops(text):
        if not loop:
            parts += [text[written:end], f", !llvm.loop !{number + 1}"]
            written = end
    if not parts:
        return text
    marks = f'!{number} = !{{!"llvm.loop.unroll.disable"}}\n'
    marks += f"!{number + 1} = distinct !{{!{number + 1}, !{number}}}\n"
    return "".join((*parts, text[written:], marks))


def vector_passes() -> binding.ModulePassManager:
    """Return LLVM's passes for code that is in vectors; the caller disposes of them.

    The blocks of unrolled iterations become one before `instcombine`, which would sink what only a
    later block uses to where that begins, and so turn the order of memory accesses around: the
    transforms of Winograd's convolution then took up to a quarter longer on Zen 3.
    """
    manager = binding.create_new_module_pass_manager()
    manager.add_post_order_function_attributes_pass()
    manager.add_loop_rotate_pass()
    manager.add_loop_unroll_pass()
    manager.add_simplify_cfg_pass()
    manager.add_sroa_pass()
    manager.add_instruction_combine_pass()
    manager.add_simplify_cfg_pass()
    return manager
