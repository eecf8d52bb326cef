"""What workers are given to do in tests."""

import os
import time
from pathlib import Path

from gawee_dialect.diagnostics import GaweeError


def square(number: int) -> int:
    return number * number


def refuse(number: int) -> int:
    if number % 2:
        raise GaweeError(f"expected an even number, got {number}")
    return 100 // number


def wait_on_first_try(path: str) -> str:
    """Write the process id, and wait to be killed; the second time it ends."""
    file = Path(path)
    if file.exists():
        return f"again {file.name}"
    file.write_text(str(os.getpid()))
    time.sleep(120)
    return "not killed"


def process_id() -> int:
    return os.getpid()
