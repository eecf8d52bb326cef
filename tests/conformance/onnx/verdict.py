"""What becomes of one case at one level."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import FRONTENDS
from gawee_dialect.frontends.graph import ReadOptions
from gawee_dialect.frontends.onnx.onnx_graph import OnnxModelGraph
from gawee_dialect.model import Model, model_of
from gawee_dialect.source import Source
from tests.conformance.onnx.cases import Case

RTOL, ATOL = 1e-3, 1e-7
"""What ONNX's own runner compares with."""

SECONDS = 60
"""What takes longer counts as failed."""

LEVELS = ("gawee", "loops", "llvm")
"""The interpreter, plain loops in NumPy, and compiled code."""


@dataclass(frozen=True)
class Verdict:
    """One case at one level: passed, refused, failed (other numbers) or crashed (a bug)."""

    case: str
    op_type: str
    level: str
    status: str
    reason: str = ""
    looked_up: Sequence[str] = ()
    """Inputs whose stored elements were known when the graph was read."""
    only_float32: bool = False


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"expected at most {seconds} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def opened(case: Case) -> tuple[Model, OnnxModelGraph]:
    """Read a case's model; its inputs are at hand for ops that must know them."""
    source = Source.read(case.path)
    graph = FRONTENDS["onnx"].open(source, ReadOptions(case.folder, values=case.inputs))
    assert isinstance(graph, OnnxModelGraph)
    return model_of(graph, {}, source), graph


def judge(case: Case, levels: Sequence[str]) -> Iterator[Verdict]:
    """Run a case at some levels."""
    floats = case.dtypes == {"float"}
    try:
        with time_limit(SECONDS):
            model, graph = opened(case)
    except (Exception, TimeoutError) as error:
        status, reason = unfinished(error)
        for level in levels:
            yield Verdict(case.name, case.op_type, level, status, reason, only_float32=floats)
        return
    for level in levels:
        status, reason = "passed", ""
        try:
            with time_limit(SECONDS):
                compare(model.runner(level, cache=False)(case.inputs), case)
        except AssertionError as error:
            status, reason = "failed", text(error)
        except (Exception, TimeoutError) as error:
            status, reason = unfinished(error)
        yield Verdict(case.name, case.op_type, level, status, reason, list(graph.looked_up), floats)


def unfinished(error: Exception) -> tuple[str, str]:
    """Return the status and the reason of a case that did not come to an end."""
    if isinstance(error, TimeoutError):
        return "failed", str(error)
    return "refused" if isinstance(error, GaweeError) else "crashed", text(error)


def text(error: BaseException) -> str:
    """Return an exception in one line."""
    if isinstance(error, GaweeError):
        return error.diagnostics[0].message
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines)}"[:160]


def compare(got: dict[str, np.ndarray], case: Case) -> None:
    """Raise AssertionError where an output has another dtype, shape or number."""
    for made, (name, wanted) in zip(got.values(), case.outputs.items(), strict=True):
        assert made.dtype == wanted.dtype, f"{name}: dtype {made.dtype}, wanted {wanted.dtype}"
        assert made.shape == wanted.shape, f"{name}: shape {made.shape}, wanted {wanted.shape}"
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(made, wanted, rtol=RTOL, atol=ATOL)
        else:
            np.testing.assert_array_equal(made, wanted)
