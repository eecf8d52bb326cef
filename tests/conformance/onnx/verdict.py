"""What becomes of one case at one level."""

import signal
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from gawee_dialect import onnx_backend
from gawee_dialect.diagnostics import GaweeError
from tests.conformance.onnx.cases import NOISE, RANDOM, Case

SECONDS = {"real": 900}
"""Of this process's time on a processor; what takes longer counts as failed: a minute, but for
whole networks."""

LEVELS = ("gawee", "loops", "llvm")
"""The interpreter, plain loops in NumPy, and compiled code."""


@dataclass(frozen=True)
class Verdict:
    """One case at one level.

    It passed, failed (other numbers), was refused, crashed (a bug), or is undecidable (skipped).
    """

    case: str
    op_type: str
    opset: int
    level: str
    status: str
    reason: str = ""
    compiled: Sequence[str] = ()
    """Types of nodes that ran at the level."""
    host: Sequence[str] = ()
    """Types of nodes that ran on the host: text, sequences, sizes that are data."""
    specialised: Sequence[str] = ()
    """Values whose elements code was made for."""
    is_expansion: bool = False
    seconds: float = 0.0


@contextmanager
def time_limit(seconds: int) -> Generator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"expected at most {seconds} s")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


class BackendAtLevel:
    """The backend at a level; keeps what it prepared."""

    def __init__(self, level: str) -> None:
        self.level = level
        self.prepared: onnx_backend.PreparedModel | None = None

    def prepare(self, model: onnx_backend.ModelProto, device: str = "CPU"):
        self.prepared = onnx_backend.prepare(model, device, level=self.level)
        return self.prepared

    def supports_device(self, device: str) -> bool:
        return onnx_backend.supports_device(device)


def judge(case: Case, levels: Sequence[str]) -> Iterator[Verdict]:
    """Run a case at some levels."""
    for level in levels:
        backend, started = BackendAtLevel(level), perf_counter()
        status, reason = "passed", ""
        try:
            with time_limit(SECONDS.get(case.kind, 60)):
                case.run(backend)
        except AssertionError as error:
            status, reason = "failed", text(error)
        except (Exception, TimeoutError) as error:
            status, reason = unfinished(error)
        if case.skip_reason and status != "refused":
            alike = status == "passed" or "Mismatched elements" in reason
            status = "skipped" if alike or case.skip_reason not in (RANDOM, NOISE) else status
            reason = case.skip_reason
        session = backend.prepared.session if backend.prepared else None
        yield Verdict(
            case.name,
            case.op_type,
            case.opset,
            level,
            status,
            reason,
            sorted(session.compiled) if session else (),
            sorted(session.host) if session else (),
            sorted(session.specialised) if session else (),
            case.is_expansion,
            round(perf_counter() - started, 3),
        )


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
