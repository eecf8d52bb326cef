"""Wrong passes by level: what each gets wrong, and what a check and a proof say of it."""

from collections.abc import Mapping

from tests.instruments.wrong import buffers, graphs, kernels, linalg, llvm, loops, parallel, tails
from tests.instruments.wrong.wrong_pass import WrongPass

LEVELS: Mapping[str, Mapping[str, WrongPass]] = {
    "gawee": graphs.CASES,
    "linalg": linalg.CASES,
    "kernels": kernels.CASES,
    "buffers": buffers.CASES,
    "loops": loops.CASES,
    "parallel loops": parallel.CASES,
    "llvm": llvm.CASES,
    "open sizes": tails.CASES,
}
