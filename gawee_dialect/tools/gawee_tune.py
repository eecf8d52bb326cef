"""gawee-tune: measure several versions of each kernel of a network, and keep the fastest in a file.

The file is a database of choices that `gawee-run --schedules` and `Model.compile(schedules=...)`
take. A run that was stopped goes on where it was: what the file has is not measured again.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.levels import Level
from gawee_dialect.model import Model, load
from gawee_dialect.tools.command_line import DONE, CommandParser, run_tool
from gawee_dialect.tools.gawee_run import random_parameters
from gawee_dialect.tools.run_inputs import PictureScale, input_specs, read_inputs

if False:  # pragma: no cover
    pass

PROG = "gawee-tune"
DATABASE = "schedules.jsonl"
