"""Prove every pass on a network of the zoo: `python -m benchmarks.zoo.prove resnet18`.

It prints one JSON object for each network: the seconds, the passes that are proved, and why others
are not. `--table FILE` prints the table in the docs of a file with such lines.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import process_time

import torch
from xdsl.dialects.builtin import ModuleOp

from benchmarks.zoo.networks import Network, zoo
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.npu_ir import extract_ir
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.instruments.prove.summary import Verdict
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.passes.pipelines import loops_to_llvm, to_loops_by_kernels
from gawee_dialect.pytorch import ir_model
from gawee_dialect.universe import make_context


@dataclass
class Proof:
    """What is known of the passes that lower a network; `failure` says which is wrong."""

    name: str
    seconds: float = 0.0
    verdicts: dict[str, int] = field(default_factory=dict[str, int])
    unproved: dict[str, str] = field(default_factory=dict[str, str])
    failure: str = ""


def module_of(network: Network) -> ModuleOp:
    """Return the graph of a network."""
    torch.manual_seed(0)
    model, inputs = network.build()
    ir = extract_ir(model.float().eval(), inputs, strict=False, model_name=network.name)
    return ir_model(ir, dict(model.state_dict())).module


def prove(network: Network) -> Proof:
    """Lower a network to the llvm dialect under a proof, without expand-math."""
    result = Proof(network.name)
    options = CodeOptions(num_threads=2)
    passes = (*to_loops_by_kernels(options), *loops_to_llvm(expand_math=False))
    proof = ProveEach()
    module = module_of(network)
    start = process_time()
    try:
        with instrumented(proof):
            run_passes(make_context(), module, passes)
    except Exception as error:
        result.failure = f"{type(error).__name__}: {error}"
    result.seconds = process_time() - start
    result.verdicts = dict(Counter(step.verdict.value or "run" for step in proof.steps))
    result.unproved = {step.name: step.note for step in proof.steps if step.note}
    return result


def table(lines: Sequence[str]) -> Iterator[str]:
    """Yield a table of networks, and the reasons why a pass of one is not proved."""
    proofs = [Proof(**json.loads(line)) for line in lines]
    yield "| network | passes that changed it | proved | assumed | checked by data | seconds |"
    yield "|---|---|---|---|---|---|"
    for each in proofs:
        counts = [each.verdicts.get(verdict, 0) for verdict in PROVED]
        cells = (str(sum(counts)), *map(str, counts), f"{each.seconds:.0f}")
        yield f"| {each.name} | {' | '.join(cells)} |"
    yield ""
    for each in proofs:
        reasons = [f"{name}: {note}" for name, note in each.unproved.items()]
        reasons += [each.failure] if each.failure else []
        for reason in reasons:
            yield f"- {each.name}: {reason}"


PROVED = (Verdict.PROVED.value, Verdict.ASSUMED.value, Verdict.CHECKED.value)


def main(names: Sequence[str]) -> None:
    """Prove networks by name, or print the table."""
    if names[:1] == ["--table"]:
        print("\n".join(table(Path(names[1]).read_text().splitlines())))
        return
    networks = zoo()
    for name in names:
        print(json.dumps(asdict(prove(networks[name]))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
