"""Makes mutants of what our passes write, proves each, and counts those that survive."""

import json
import os
import random
import signal
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from unittest import mock

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.prove import each as prove_each
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.levels import level_of
from gawee_dialect.passes.pass_manager import leaf_passes, parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.instruments.checking import parse
from tests.instruments.prove import networks
from tests.instruments.wrong.wrong_pass import Wrong
from tests.lowering_mutants.mutations import Mutation, mutations
from tests.lowering_mutants.survivors import table

SECONDS = 40
"""After so long, a mutant that runs without end counts as killed."""

BY_KERNELS = "gawee-to-kernels,gawee-kernels-to-loops,convert-scf-to-openmp,convert-to-llvm"
PLAIN = "gawee-to-loops,convert-to-llvm"
SOURCES = (
    *((name, BY_KERNELS) for name in ("SUM", "MOBILE", "TRANSFORMER", "WINOGRAD", "HALVES")),
    *((name, PLAIN) for name in ("MOBILE", "TRANSFORMER", "HALVES")),
)


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    network: str
    after: str
    level: str
    kind: str
    op: str
    change: str
    users: str
    """What reads the result, and what reads that: `vector.broadcast > vector.maskedload 4`."""
    verdict: str
    """`caught`, `stops`, `survives`, `unproved`, or `invalid` where the verifier refuses it."""

    reason: str = ""

    @property
    def drawn(self) -> tuple[str, ...]:
        """What was drawn: the place and the change."""
        return (self.network, self.after, self.level, self.kind, self.op, self.change)


def stages(sources: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, ModuleOp]]:
    """Yield a network, a pass that changed it, and what it is then."""
    ctx = make_context()
    for name, pipeline in sources:
        module = parse(getattr(networks, name))
        for module_pass in leaf_passes(parse_passes(pipeline, all_passes())):
            before = module.clone()
            run_passes(ctx, module, [module_pass])
            if not module.is_structurally_equivalent(before):
                yield name, module_pass.name, module.clone()


def prove_mutant(proof: ProveEach, module: ModuleOp, mutation: Mutation) -> tuple[str, str]:
    """Change a module that a proof has run, and return what the proof says; changes the module."""
    wrong = Wrong(lambda module: None)
    mutation.apply()
    try:
        module.verify()
    except Exception as error:
        return "invalid", str(error).splitlines()[0][:200]
    try:
        proof.after_pass(wrong, module)
    except CheckFailure as error:
        message = error.diagnostics[0].message
        return ("stops" if "cannot be run" in message else "caught"), message[:200]
    except GaweeError as error:
        return "stops", str(error)[:200]
    step = proof.steps[-1]
    return ("survives" if step.verdict == "proved" else "unproved"), f"{step.verdict} {step.note}"


def users(op: Operation, depth: int = 3) -> str:
    """Return which ops read the results of an op, as which operand, and what reads theirs."""
    if depth == 0:
        return ""
    found: list[str] = []
    for use in (use for result in op.results for use in result.uses):
        further = users(use.operation, depth - 1)
        found.append(f"{use.operation.name} {use.index}" + (f" > {further}" if further else ""))
    return "; ".join(sorted(dict.fromkeys(found)))[:600]


def in_copy(proof: ProveEach, module: ModuleOp, mutation: Mutation) -> tuple[str, str]:
    """Prove a mutant in a copy of this process, which the mutant may damage."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGKILL))
        signal.alarm(SECONDS)
        try:
            with os.fdopen(writing, "w") as stream:
                json.dump(prove_mutant(proof, module, mutation), stream)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(3)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if text:
        verdict, reason = json.loads(text)
        return verdict, reason
    return "stops", f"exit {os.waitstatus_to_exitcode(status)}"


OPEN = ("survives", "unproved")
"""Verdicts of mutants that are proved again."""


def outcomes(
    count: int,
    seed: int,
    sources: Sequence[tuple[str, str]] = SOURCES,
    known: Sequence[Outcome] = (),
) -> Iterator[Outcome]:
    """Yield what became of so many valid mutants, as many for each stage.

    Of known outcomes, in their order, those that were killed are not proved again.
    """
    places, earlier = list(stages(sources)), iter(known)
    # Shared evenly, the first stages take one more.
    for index, (network, after, module) in enumerate(places):
        share = count // len(places) + (index < count % len(places))
        level = level_of(module).value
        draw = random.Random(f"{seed} {network} {after} {index}")
        proof = ProveEach()
        proof.before_pass(Wrong(lambda module: None), module)
        made = 0
        while made < share:
            found = list(mutations(module, draw))
            if not found:
                break
            kind = draw.choice(sorted({each.kind for each in found}))
            mutation = draw.choice([each for each in found if each.kind == kind])
            op, read_by, was = str(mutation.op)[:300], users(mutation.op), next(earlier, None)
            drawn = (network, after, level, kind, op, mutation.text)
            if was is None or was.verdict in OPEN or was.drawn != drawn:
                verdict, reason = in_copy(proof, module, mutation)
            else:
                verdict, reason = was.verdict, was.reason
            made += verdict != "invalid"
            yield Outcome(*drawn, read_by, verdict, reason)


def main() -> int:
    """Return 1 where a mutant survives."""
    parser = ArgumentParser(prog="python -m tests.lowering_mutants", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="a file for one JSON object a mutant")
    parser.add_argument(
        "--again", type=Path, help="such a file: what survived there is proved again"
    )
    parser.add_argument("--table", action="store_true", help="print what the file holds")
    options = parser.parse_args()
    if options.table:
        print("\n".join(table(options.output.read_text().splitlines())))
        return 0
    total: Counter[tuple[str, str]] = Counter()
    # Which op is to blame is another question, and takes a run of its own.
    with mock.patch.object(prove_each, "find_culprit", return_value=None):
        for outcome in outcomes(options.count, options.seed, known=_read(options.again)):
            total[outcome.level, outcome.verdict] += 1
            line = json.dumps(asdict(outcome))
            if options.output is not None:
                with options.output.open("a") as file:
                    file.write(line + "\n")
            if outcome.verdict in OPEN:
                print(line, flush=True)
    for (level, verdict), count in sorted(total.items()):
        print(f"{level}: {verdict} {count}")
    return int(any(verdict in OPEN for _, verdict in total))


def _read(path: Path | None) -> Sequence[Outcome]:
    if path is None:
        return ()
    return [Outcome(**json.loads(line)) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    sys.exit(main())
