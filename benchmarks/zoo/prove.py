"""Prove every pass on networks of the zoo at reduced sizes: `python -m benchmarks.zoo.prove bert`.

Of each network one JSON object is printed, or appended to a file: the seconds, the passes that are
proved, why others are not, and what of the compiler the network reached. `--table` prints the table
in the docs of such a file.
"""

import gc
import json
import os
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind
from xdsl.passes import ModulePass

from benchmarks.zoo.further import further
from benchmarks.zoo.networks import Network, zoo
from benchmarks.zoo.proof_table import table
from benchmarks.zoo.reduced import numbers_of, reduced
from gawee_dialect.backend.jit import Target, compile_object
from gawee_dialect.backend.llvm_text import llvm_text
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.winograd import WinogradOp
from gawee_dialect.frontends.npu_ir import extract_ir
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.passes.instrument import Instrument, instrumented
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.passes.pipelines import loops_to_llvm, to_loops_by_kernels
from gawee_dialect.pytorch import ir_model
from gawee_dialect.reduce.failure import OutOfTime, time_limit
from gawee_dialect.universe import make_context

SECONDS = 1200
"""After so long a proof is given up, on a machine that others may use too."""


@dataclass
class Proof:
    """What is known of the passes that lower a network; `failure` says which is wrong."""

    name: str
    ops: int = 0
    numbers: int = 0
    """How many inputs and weights the graph has."""
    seconds: float = 0.0
    """Of processors, children included."""
    check_seconds: float = 0.0
    """What `--check-each` takes, where it was asked for."""
    compile_seconds: float = 0.0
    """What the same passes and LLVM take without a proof."""
    verdicts: dict[str, int] = field(default_factory=dict[str, int])
    unproved: dict[str, str] = field(default_factory=dict[str, str])
    reached: list[str] = field(default_factory=list[str])
    failure: str = ""


def module_of(network: Network) -> ModuleOp:
    """Return the graph of a network."""
    torch.manual_seed(0)
    model, inputs = network.build()
    ir = extract_ir(model.float().eval(), inputs, strict=False, model_name=network.name)
    return ir_model(ir, dict(model.state_dict())).module


def passes() -> Sequence[ModulePass]:
    """Return the passes to the llvm dialect for two threads, without expand-math."""
    options = CodeOptions(num_threads=2)
    return (*to_loops_by_kernels(options), *loops_to_llvm(expand_math=False))


def processor_seconds() -> float:
    """Return the processor time of this process, and of those that it has waited for."""
    return sum(os.times()[:4])


class Reached(Instrument):
    """Notes which parts of the compiler a network comes to."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if module_pass.name != "assign-schedules":
            return
        for op in module.walk():
            if isinstance(op, WinogradOp):
                self.found.add("Winograd")
            elif isinstance(op, KernelOp):
                self.found |= set(_parts_of(op))


def _parts_of(op: KernelOp) -> Sequence[str]:
    found: list[str] = []
    exprs = [each for affine_map in op.maps for expr in affine_map.results for each in expr.dfs()]
    binary = [each for each in exprs if isinstance(each, AffineBinaryOpExpr)]
    if any(each.kind is AffineBinaryOpKind.FloorDiv for each in binary):
        found.append("layouts")
    if op.schedule is None:
        return found
    schedule = op.schedule.data
    if sum(size > 1 for size in schedule.tile(op.sizes)) > 1:
        found.append("tiles")
    found += ["vectors"] if schedule.vector is not None else []
    found += ["threads"] if schedule.parallel else []
    return found


def prove(network: Network, *, with_check: bool = False, is_reduced: bool = True) -> Proof:
    """Lower a network to the llvm dialect under a proof, and under a check where it is asked for.

    A network whose reduced graph does not run, as where tables hold indices, keeps its sizes.
    """
    whole = module_of(network)
    result = prove_module(network.name, reduced(whole) if is_reduced else whole.clone(), with_check)
    if is_reduced and "not provable" in result.unproved.get("(as it was read)", ""):
        return prove_module(network.name, whole, with_check)
    return result


def prove_module(name: str, module: ModuleOp, with_check: bool = False) -> Proof:
    """Lower a graph under a proof."""
    result = Proof(name, sum(1 for _ in module.walk()), numbers_of(module))
    copy = module.clone()
    # The first run loads what both need.
    result.compile_seconds = min(compile_seconds(module.clone()) for _ in range(2))
    proof, reached = ProveEach(), Reached()
    start = processor_seconds()
    try:
        with time_limit(SECONDS), instrumented(proof, reached):
            run_passes(make_context(), module, passes())
            proof.count_degrees()
    except OutOfTime:
        result.failure = f"TimeoutError: took more than {SECONDS} s"
    except Exception as error:
        result.failure = f"{type(error).__name__}: {error}"
    result.seconds = processor_seconds() - start
    result.verdicts = dict(Counter(step.verdict.value or "run" for step in proof.steps))
    result.unproved = {step.name: step.note for step in proof.steps if step.note}
    result.reached = sorted(reached.found)
    if with_check:
        start = processor_seconds()
        with time_limit(SECONDS), instrumented(CheckEach()):
            run_passes(make_context(), copy, passes())
        result.check_seconds = processor_seconds() - start
    return result


def compile_seconds(module: ModuleOp) -> float:
    """Return the processor seconds from a graph to machine code; 0 where that fails."""
    start = processor_seconds()
    try:
        run_passes(make_context(), module, passes())
        target = Target().resolved()
        compile_object(llvm_text(module, target.function_attributes()), target)
    except Exception:  # the proof says why
        return 0.0
    return processor_seconds() - start


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove networks by name, or print the table; return 1 where a pass is wrong."""
    parser = ArgumentParser(prog="python -m benchmarks.zoo.prove", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        help="networks of the zoo, or further ones; all of the zoo where none is named",
    )
    parser.add_argument(
        "--output", type=Path, help="where proofs are appended; known ones are not made again"
    )
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the table of a file")
    parser.add_argument("--check", action="store_true", help="time --check-each too")
    parser.add_argument("--whole", action="store_true", help="sizes as they are in the zoo")
    options = parser.parse_args(arguments)
    if options.table is not None:
        print("\n".join(table(options.table.read_text(encoding="utf-8").splitlines())))
        return 0
    networks = {**zoo(), **further()}
    failed = False
    for name in options.names or zoo():
        if name in _names_in(options.output):  # which others may append to meanwhile
            continue
        try:
            proof = prove(networks[name], with_check=options.check, is_reduced=not options.whole)
        except Exception as error:  # a library that does not build its network is no reason to stop
            proof = Proof(name, failure=f"{type(error).__name__}: {error}"[:300])
        failed = failed or bool(proof.failure)
        line = json.dumps(asdict(proof))
        print(line, flush=True)
        if options.output is not None:
            with options.output.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        gc.collect()
    return int(failed)


def _names_in(path: Path | None) -> set[str]:
    if path is None or not path.exists():
        return set()
    return {json.loads(line)["name"] for line in path.read_text(encoding="utf-8").splitlines()}


if __name__ == "__main__":
    sys.exit(main())
