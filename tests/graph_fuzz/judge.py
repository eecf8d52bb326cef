"""Whether a pipeline keeps what a graph computes.

1. The graph and what became of it run on the same data. Where PyTorch is installed, it runs the
   graph too.
2. What differs by more than rounding is proved pass by pass: a proof knows no rounding, so what it
   calls another number is wrong, and what it proves is a rounding that the ops after it made large.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.compare import Tolerance
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.execute import CannotRun, plan_run
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.check.inputs import DataSet, arguments_for
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.numerics import REASSOCIATES
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.reduce.failure import signature
from gawee_dialect.universe import make_context

HAS_TORCH = find_spec("torch") is not None
TOLERANCE = Tolerance((REASSOCIATES,), finite=True)


@dataclass(frozen=True)
class Finding:
    """What is wrong: its kind, what is the same for all of one cause, and what is said of it."""

    kind: str
    cause: str
    message: str


class Skipped(Exception):
    """A graph of which nothing can be said: it does not run at all, as an index is out of range."""


def whole_numbers(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return arrays with the whole numbers that are nearest to floats: sums of them are exact."""
    return {
        name: np.rint(array) if array.dtype.kind == "f" else array for name, array in arrays.items()
    }


def data_for(module: ModuleOp, seed: int, *, whole: bool) -> Mapping[str, Array]:
    """Return what a graph is run on."""
    arrays = arguments_for(module, ["main"], seed, {})["main"]
    return whole_numbers(arrays) if whole else arrays


def run(module: ModuleOp, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Run `@main` at the level that a module has reached; raises GaweeError, CannotRun."""
    (outputs,) = plan_run(module, "main").run((DataSet(arrays),))
    return outputs


def differing(actual: Mapping[str, Array], expected: Mapping[str, Array]) -> str | None:
    """Return the first output that differs by more than rounding, or has another type."""
    for name, array in expected.items():
        other = actual[name]
        if (other.shape, other.dtype) != (array.shape, array.dtype):
            return f"{name}: {other.dtype}{other.shape}, not {array.dtype}{array.shape}"
        if TOLERANCE.wrong(other, array).any():
            return name
    return None


def judge(
    module: ModuleOp, passes: Sequence[ModulePass], arrays: Mapping[str, Array], *, prove: bool
) -> Finding | None:
    """Return what is wrong with a pipeline on a graph; raises Skipped."""
    try:
        verify_module(module)
        expected = run(module.clone(), arrays)
    except (GaweeError, CannotRun) as error:
        raise Skipped(str(error)) from error
    lowered = module.clone()
    try:
        run_passes(make_context(), lowered, passes)
        differs = differing(run(lowered, arrays), expected)
    except CannotRun as error:
        return Finding("does not run", str(error.diagnostic.message), str(error))
    except Exception as error:
        kind = "refused" if isinstance(error, GaweeError) else "crash"
        return Finding(kind, signature(error), f"{type(error).__name__}: {error}"[:2000])
    return proved_wrong(module, passes) if differs is not None or prove else None


def proved_wrong(module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
    """Return which pass is wrong by a proof, or by the data where something is not provable."""
    proof = ProveEach()
    try:
        with instrumented(proof):
            run_passes(make_context(), module.clone(), passes)
    except CheckFailure as error:
        op = error.diagnostics[0].message.rpartition("first op that differs: ")[2]
        return Finding("wrong", f"{error.pass_name}: {op[:80]}", str(error))
    except Exception as error:
        return Finding("crash of a proof", signature(error), f"{type(error).__name__}: {error}")
    return None


def checked_wrong(module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
    """Return which pass is wrong by data alone, as `--check-each` finds it."""
    try:
        with instrumented(CheckEach()):
            run_passes(make_context(), module.clone(), passes)
    except CheckFailure as error:
        op = error.diagnostics[0].message.rpartition("first op that differs: ")[2]
        return Finding("wrong by data", f"{error.pass_name}: {op[:80]}", str(error))
    except Exception as error:
        return Finding("crash of a check", signature(error), f"{type(error).__name__}: {error}")
    return None


JUMPS = frozenset(
    "atan2 floor ceil round sign compare floor_div remainder fmod arg_max arg_min sort top_k "
    "bitcast non_max_suppression grid_sample div reciprocal".split()
)
"""Ops at whose jumps a last bit, or the sign of a zero, decides."""


def _jumps(op: Operation) -> bool:
    to_integer = op.name == "gawee.cast" and not isinstance(_element(op), AnyFloat)
    return op.name.removeprefix("gawee.") in JUMPS or to_integer


def _element(op: Operation) -> Attribute | None:
    type = op.results[0].type
    return type.element_type if isa(type, TensorType[Attribute]) else None


def torch_differs(module: ModuleOp, arrays: Mapping[str, Array]) -> Finding | None:
    """Compare a graph with what PyTorch computes; None where one of the two does not run."""
    from tests.torch_reference import evaluate

    if any(map(_jumps, module.walk())):
        return None
    try:
        with np.errstate(all="ignore"):
            expected = evaluate(module, arrays)
        actual = run(module.clone(), arrays)
    except Exception:  # PyTorch has fewer types; a graph that does not run is judged elsewhere
        return None
    same_types = {
        name: array for name, array in expected.items() if array.dtype == actual[name].dtype
    }
    wrong = differing(actual, same_types)
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    names = sorted({op.name for op in function.body.block.ops})
    return None if wrong is None else Finding("not PyTorch's", " ".join(names), wrong)
