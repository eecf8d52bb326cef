"""A clock that generated code reads: how long it was since the last time, added up by place.

POSIX's `clock_gettime` takes 20 to 30 ns; where a system has none, nothing in loops is timed.
"""

import ctypes
import time
from functools import cache

from llvmlite import binding

from gawee_dialect.backend.jit import initialize
from gawee_dialect.backend.thread_pool import loaded

NAME = "gawee_step_clock"
PLACES = 1024
"""Places that a clock distinguishes."""

NANO = 1e-9
TEXT = """
@seconds = global [PLACES x i64] zeroinitializer
@last = global i64 0
declare i32 @clock_gettime(i32, ptr)

define void @NAME(i64 %place) {
  %now = alloca [2 x i64]
  %failed = call i32 @clock_gettime(i32 CLOCK, ptr %now)
  %whole = load i64, ptr %now
  %part.at = getelementptr i64, ptr %now, i64 1
  %part = load i64, ptr %part.at
  %whole.nano = mul i64 %whole, 1000000000
  %nano = add i64 %whole.nano, %part
  %then = load i64, ptr @last
  store i64 %nano, ptr @last
  %new = sub i64 %nano, %then
  %at = getelementptr [PLACES x i64], ptr @seconds, i64 0, i64 %place
  %known = load i64, ptr %at
  %sum = add i64 %known, %new
  store i64 %sum, ptr %at
  ret void
}
"""


def has_clock() -> bool:
    """Whether this system has the clock."""
    return hasattr(time, "CLOCK_MONOTONIC") and ctypes.sizeof(ctypes.c_long) == 8


class StepClock:
    """The clock of this process: code that is loaded later may call `@gawee_step_clock`."""

    def __init__(self) -> None:
        """Compile the function."""
        initialize()
        words = {"PLACES": PLACES, "NAME": NAME, "CLOCK": time.CLOCK_MONOTONIC}
        text = TEXT
        for word, value in words.items():
            text = text.replace(word, str(value))
        self._engine = loaded(text)
        self.address = self._engine.get_function_address(NAME)
        """Where the function is, which takes the number of a place."""
        binding.add_symbol(NAME, self.address)
        address = self._engine.get_global_value_address("seconds")
        self._nanoseconds = (ctypes.c_int64 * PLACES).from_address(address)

    def reset(self) -> None:
        """Forget all times."""
        ctypes.memset(self._nanoseconds, 0, ctypes.sizeof(self._nanoseconds))

    def seconds(self, place: int) -> float:
        """Return the seconds until readings at a place, each since the reading before it."""
        return self._nanoseconds[place] * NANO


@cache
def step_clock() -> StepClock:
    """Return the clock of this process, made when first wanted."""
    return StepClock()
