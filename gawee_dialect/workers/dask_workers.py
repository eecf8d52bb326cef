"""Workers of a Dask scheduler: processes on any machines, which `dask worker` starts.

    dask scheduler
    dask worker SCHEDULER --nthreads 1 --resources quiet=1     # on each machine that measures

Dask waits for ever for a resource that no worker has, and so says nothing: here that is looked at
before tasks are submitted, and while they run.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.hints import isa
from gawee_dialect.workers import Done, Task, ThisProcess, Workers

if TYPE_CHECKING:
    from distributed import Future

Result = TypeVar("Result")

QUIET = "quiet"
"""The resource of a worker that may measure: one such task at a time."""

LOCAL = "local"
"""In the place of an address: a scheduler and a worker on this machine, for the time of a run."""

CONNECT_SECONDS = 5.0
LOOK_SECONDS = 1.0
"""Between looks at whether a worker with the resource is still there."""

START_WORKER = f"dask worker SCHEDULER --nthreads 1 --resources {QUIET}=1"
"""Dask's command that starts one."""


class DaskWorkers(Workers):
    """Runs tasks on the workers of a scheduler.

    Tasks are described by what can be pickled; files that they name must be there under the same
    names. A task whose worker dies runs again on another.
    """

    def __init__(self, address: str, *, patience: float = 30.0):
        """Connect to a scheduler; raises GaweeError where there is none.

        `patience` is how many seconds tasks wait for a quiet worker when all of them are gone.
        """
        if find_spec("distributed") is None:
            hint = "pip install 'gawee-dialect[distributed]'"
            message = "a scheduler needs dask.distributed, which is not installed"
            raise GaweeError(Diagnostic(message, hint=hint))
        from distributed import Client, LocalCluster

        self._patience = patience
        self._cluster: LocalCluster | None = None
        if address == LOCAL:
            resources = {QUIET: 1.0}
            self._cluster = LocalCluster(
                n_workers=1, threads_per_worker=1, resources=resources, dashboard_address=None
            )
            address = self._cluster.scheduler_address
        try:
            self._client: Client = Client(address, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            message = f"cannot reach a scheduler at '{address}'"
            raise GaweeError(Diagnostic(message, hint=first_line(error))) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def quiet_workers(self) -> Sequence[str]:
        """Return the addresses of the workers that may measure."""
        workers = self._client.scheduler_info(n_workers=-1).get("workers")
        if not isa(workers, dict[str, object]):
            return []
        return [address for address, known in workers.items() if _has_quiet(known)]

    @property
    def places(self) -> int:
        """Threads of all workers."""
        return max(1, sum(self._client.nthreads().values()))

    def ask(self, function: Callable[[], Result]) -> Sequence[Result]:
        """Return what a function says on each quiet worker; raises GaweeError."""
        self._require_quiet()
        said = self._client.run(function, workers=self.quiet_workers(), on_error="return")
        results = [each for each in said.values() if not isinstance(each, Exception)]
        errors = [each for each in said.values() if isinstance(each, Exception)]
        # A worker that died meanwhile is one less; what the function raises holds for all.
        raised = [each for each in errors if not isinstance(each, OSError)]
        if raised or not results:
            error = next(iter(raised or errors))
            message = f"cannot use the workers: {type(error).__name__}: {first_line(error)}"
            hint = "they need the same packages as this process"
            raise GaweeError(Diagnostic(message, hint=hint)) from error
        return results

    def run(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], *, quiet: bool
    ) -> Iterator[Done[Result]]:
        from distributed import wait

        if quiet and tasks:
            self._require_quiet()
        resources = {QUIET: 1.0} if quiet else None
        pending: dict[Future[Result], int] = {}
        for number, task in enumerate(tasks):
            future = self._client.submit(function, task, pure=False, resources=resources)
            pending[future] = number
        seen = monotonic()
        try:
            while pending:
                try:
                    ended = wait(list(pending), LOOK_SECONDS, "FIRST_COMPLETED").done
                except TimeoutError:
                    seen = self._still_there(seen) if quiet else seen
                    continue
                for future in ended:
                    yield _done(pending.pop(future), future)
        finally:
            for future in pending:
                future.cancel()

    def _require_quiet(self) -> None:
        if not self.quiet_workers():
            message = f"expected a worker with the resource '{QUIET}', got none"
            raise GaweeError(Diagnostic(message, hint=f"start one: {START_WORKER}"))

    def _still_there(self, seen: float) -> float:
        """Return when a quiet worker was last seen; raises GaweeError after the patience."""
        if self.quiet_workers():
            return monotonic()
        if monotonic() - seen > self._patience:
            message = (
                f"expected a worker with the resource '{QUIET}' to be left, "
                f"got none for {self._patience:.0f} s"
            )
            raise GaweeError(Diagnostic(message, hint=f"start one: {START_WORKER}"))
        return seen


def workers_of(address: str | None) -> AbstractContextManager[Workers]:
    """Return the workers of a scheduler, this process without one; raises GaweeError."""
    return nullcontext(ThisProcess()) if address is None else DaskWorkers(address)


def _has_quiet(worker: object) -> bool:
    resources = worker.get("resources") if isa(worker, dict[str, object]) else None
    if not isa(resources, dict[str, object]):
        return False
    amount = resources.get(QUIET)
    return isinstance(amount, int | float) and amount >= 1


def _done(number: int, future: "Future[Result]") -> Done[Result]:
    if future.status == "finished":
        return Done(number, future.result())
    error = future.exception()
    if isinstance(error, GaweeError):
        return Done(number, None, error.diagnostics[0].message)
    text = future.status if error is None else f"{type(error).__name__}: {first_line(error)}"
    return Done(number, None, text)
