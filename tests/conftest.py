"""Settings of all tests."""

import gc
import os
import tempfile
from collections.abc import Generator
from functools import cache, partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import gawee_dialect.passes.pipelines as _compiled_here
from gawee_dialect.backend.jit import Target
from gawee_dialect.backend.kernel_code import sources_behind
from gawee_dialect.instruments.check.native_run import expendable_process
from tests.effort import PROFILE, examples

# What is imported and collected lives to the end: to look for garbage in it takes as long again.
gc.disable()

# A process that has the passes compiles its first network itself, where tests can watch.
assert _compiled_here

# What tests compile is kept for this run alone, apart from what the user's own programs keep; its
# processes share it.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _kept = tempfile.TemporaryDirectory(prefix="gawee-tests-")
    os.environ["GAWEE_CACHE_DIR"] = _kept.name

# PyTorch, the oracle: its idle threads would spin beside other tests.
os.environ.setdefault("MKL_NUM_THREADS", "1")

# A slow machine is no failure: speed lives in benchmarks/. Where `CI` is set the examples are the
# same every time, so that a failure there can be seen again.
for name in ("quick", "full"):
    settings.register_profile(
        name,
        parent=examples(100),
        deadline=None,
        derandomize="CI" in os.environ,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(PROFILE)

ROOT = Path(__file__).parent.parent
_reproducers = set(ROOT.glob("gawee-reproducer-*"))


@pytest.fixture(scope="session", autouse=True)
def no_copies() -> Generator[None]:
    """Compile kernels in the process of the test: the other cores have tests of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gawee_dialect.backend.kernel_code.cores", lambda: 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def known_sources() -> Generator[None]:
    """Find the compiler's files once: they do not change while tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gawee_dialect.backend.kernel_code.sources_behind", cache(sources_behind))
        yield


@pytest.fixture
def unoptimized(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have LLVM optimise nothing, which takes a fifth of the time: code that computes the same, slowly.

    For tests of what is compiled, and when, and of passes that are checked and proved; tests of
    kernels and networks have it optimised.
    """
    for where in ("compilation", "backend.program"):
        monkeypatch.setattr(f"gawee_dialect.{where}.Target", partial(Target, opt_level=0))
    # Not so a proof's code: LLVM 22 cannot pass a vector of i1 to a function at -O0 with AVX-512.
    monkeypatch.setattr("gawee_dialect.instruments.check.native_run.OPT_LEVEL", 0)


@pytest.fixture
def runs_here() -> Generator[None]:
    """Run machine code of checks and proofs in this process, for tests in which none crashes.

    To copy a process that has imported PyTorch takes 30 ms, longer than most of that code.
    """
    with expendable_process():
        yield


@pytest.fixture(scope="session", autouse=True)
def no_waiting() -> Generator[None]:
    """Measure at once: other tests run beside, and the machine never gets quiet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gawee_dialect.evaluation.turns.wait_until_quiet", lambda *_: 0.0)
        yield


def pytest_collection_finish() -> None:
    """Look for garbage from here on, seldom, and only in what tests make: a 14th of their time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where tests leave reproducers in the checkout: they belong into folders of their own."""
    left = set(ROOT.glob("gawee-reproducer-*")) - _reproducers
    if left:
        print(f"\nerror: tests left {', '.join(sorted(each.name for each in left))} behind")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
