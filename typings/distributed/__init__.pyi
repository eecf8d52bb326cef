# The part of dask.distributed that the workers use; its own types leave too much open.

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

class Future(Generic[_T]):
    status: str
    def result(self) -> _T: ...
    def exception(self) -> BaseException | None: ...
    def cancel(self) -> None: ...

class LocalCluster:
    def __init__(
        self,
        *,
        n_workers: int,
        threads_per_worker: int,
        resources: Mapping[str, float],
        dashboard_address: str | None,
    ) -> None: ...
    @property
    def scheduler_address(self) -> str: ...
    def close(self) -> None: ...

class Client:
    def __init__(self, address: str, *, timeout: float) -> None: ...
    def scheduler_info(self, n_workers: int = 5) -> Mapping[str, object]: ...
    def nthreads(self) -> Mapping[str, int]: ...
    def submit(
        self,
        func: Callable[[_T], _R],
        arg: _T,
        *,
        pure: bool,
        resources: Mapping[str, float] | None,
    ) -> Future[_R]: ...
    def run(
        self, function: Callable[[], _R], *, workers: Sequence[str], on_error: str
    ) -> Mapping[str, _R | Exception]: ...
    def close(self) -> None: ...

class DoneAndNotDone(Generic[_T]):
    done: set[Future[_T]]

def wait(fs: Sequence[Future[_T]], timeout: float, return_when: str) -> DoneAndNotDone[_T]: ...
