# The part of matplotlib that pictures use; its own types leave too much open for strict checking.

from collections.abc import Mapping
from contextlib import AbstractContextManager

def rc_context(rc: Mapping[str, object]) -> AbstractContextManager[None]: ...
