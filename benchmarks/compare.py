"""Compare gawee with other engines on whole networks, or on single convolutions.

    python -m benchmarks.compare --model resnet18 --threads 1,2

Every engine has a process of its own, and all of them take turns: what disturbs the machine for a
while disturbs all. A turn that other load or far-apart processors disturbed is repeated. A network
takes about two minutes for each number of threads; where other programs are busy each turn waits
for them, unless `--patience 0 --retries 0` says not to.
"""

import json
import os
import subprocess
import sys
import tempfile
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TypedDict

from rich.console import Console
from rich.table import Table

from benchmarks.engines import ENGINES
from benchmarks.int8_page import ACTIVATIONS, NETWORKS, PEERS, PRODUCT, tables
from benchmarks.list_values import names, numbers
from benchmarks.targets import add_target, held_target, hold, is_held, processor_and_target
from benchmarks.timing import console
from gawee_dialect.backend.measure import measured_host
from gawee_dialect.evaluation.machine import LineLatency, allowed_cpus
from gawee_dialect.evaluation.statistics import noise_of
from gawee_dialect.evaluation.turns import Referee, Turn, orders
from gawee_dialect.target.description import HOST, Processor
from gawee_dialect.target.machine import find_processor

OURS = next(iter(ENGINES))

INT8_ENGINES = (OURS, *PEERS)

WIDTH = 110
"""Columns of the tables without a terminal."""

PREPARE = """
import sys
from pathlib import Path
from benchmarks.prepare import prepare
prepare(sys.argv[1], Path(sys.argv[2]))
"""


class TurnForm(TypedDict):
    """A turn as a worker tells it: milliseconds of each run, and seconds."""

    ms: list[float]
    wall: float
    cpu: float
    delay: float


@dataclass
class Contender:
    """One engine on one network, and all that was measured of it."""

    engine: str
    model: str
    threads: int
    flops: int
    checkout: Path | None = None
    """Another version of this repository, whose own worker runs."""

    info: dict[str, object] = field(default_factory=dict[str, object])
    process: "subprocess.Popen[str] | None" = None
    rounds: list[list[float]] = field(default_factory=list[list[float]])
    other_load: list[float] = field(default_factory=list[float])
    line_ns: list[float | None] = field(default_factory=list[float | None])
    delay: list[float] = field(default_factory=list[float])
    repeated: int = 0

    @property
    def name(self) -> str:
        """Which engine it is, whatever the version."""
        return self.engine.partition("@")[0]

    @property
    def is_held(self) -> bool:
        """Whether it has no better instructions for this network than we have."""
        return is_held(self.name, of_integers=":" in self.model)

    @property
    def absent(self) -> str | None:
        """Why it takes no part, None where it does."""
        return str(self.info["absent"]) if "absent" in self.info else None

    @property
    def times(self) -> list[float]:
        """Milliseconds of every run that counts."""
        return [ms for each in self.rounds for ms in each]

    @property
    def round_medians(self) -> list[float]:
        """The median milliseconds of each turn."""
        return [median(each) for each in self.rounds]

    @property
    def median_ms(self) -> float:
        """The middle of all runs: what to quote."""
        return median(self.times)

    def start(self, folder: Path, *, pin: bool) -> None:
        """Start the process, and wait until the engine is ready."""
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.worker"]
        command += ["--engine", self.name, "--model", self.model, "--folder", str(folder)]
        command += ["--threads", str(self.threads), *(() if pin else ("--no-pin",))]
        threads = {name: str(self.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        version = {} if self.checkout is None else {"PYTHONPATH": str(self.checkout)}
        with open(folder / f"{self.engine}-{self.threads}.log", "w") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self.checkout,
                env={**os.environ, **threads, **version},
            )
        self.info = self.answer() or {"absent": "its process ended"}

    def answer(self) -> dict[str, object] | None:
        """Read what the process says next, None where it has ended."""
        line = self._line()
        return json.loads(line) if line else None

    def _line(self) -> str:
        assert self.process is not None
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def ask(self, runs: int, seconds: float) -> Turn | None:
        """Have the engine take a turn."""
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([runs, seconds]) + "\n")
        self.process.stdin.flush()
        line = self._line()
        if not line:
            return None
        form: TurnForm = json.loads(line)
        seconds_of_runs = [ms / 1e3 for ms in form["ms"]]  # which older checkouts tell too
        return Turn(seconds_of_runs, form["wall"], form["cpu"], form["delay"])

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()


def take_turn(contender: Contender, referee: Referee, arguments: Namespace) -> None:
    """Let an engine run; repeat what was disturbed, keep the last try in any case."""
    judged = referee.judge(lambda: contender.ask(arguments.runs, arguments.seconds))
    if judged is None:
        contender.info["absent"] = "its process ended during a turn"
        return
    contender.rounds.append([each * 1e3 for each in judged.turn.seconds])
    contender.other_load.append(round(judged.other_load, 2))
    contender.delay.append(round(judged.turn.delay, 3))
    contender.line_ns.append(None if judged.line_ns is None else round(judged.line_ns, 1))
    contender.repeated += judged.repeated


def prepared(model: str, folder: Path) -> int:
    """Write a network's input, output and ONNX file; return its FLOPs."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", PREPARE, model, folder], check=True)
    return int((folder / "flops.txt").read_text())


def compete(
    model: str, threads: int, flops: int, arguments: Namespace, folder: Path, line: LineLatency
) -> list[Contender]:
    """Let all engines run one network in turns."""
    contenders = [Contender(engine, model, threads, flops) for engine in arguments.engines]
    for name, path in arguments.checkout:
        contenders.append(Contender(f"{OURS}@{name}", model, threads, flops, path))
    patience, retries, near = arguments.patience, arguments.retries, arguments.near
    referee = Referee(threads, patience, retries, near, line)
    for contender in contenders:
        with console.status(f"{model}, {threads} threads: {contender.engine} gets ready"):
            contender.start(folder, pin=not arguments.no_pin)
    for number, order in enumerate(orders(len(contenders), arguments.rounds), 1):
        for contender in (contenders[index] for index in order):
            if contender.absent is None:
                with console.status(f"round {number}: {contender.engine}"):
                    take_turn(contender, referee, arguments)
    for contender in contenders:
        contender.stop()
    return contenders


def best_peer(contenders: Sequence[Contender]) -> Contender | None:
    """Return the fastest engine that is no version of ours, and held to what we are held to."""
    others = (each for each in contenders if each.name != OURS and each.times)
    peers = [each for each in others if each.is_held]
    return min(peers, key=lambda each: each.median_ms, default=None)


def _integer_products(limits: Processor) -> int:
    """Return how many products of bytes an instruction adds up in the time of one of f32."""
    if limits.byte_tiles:
        return 32
    return 4 if limits.byte_products else 2


def row(
    contender: Contender, contenders: Sequence[Contender], limits: Processor
) -> dict[str, object]:
    """Return what is known of an engine beside the others as one flat object."""
    peer = best_peer(contenders)
    ours = next((each for each in contenders if each.engine == OURS and each.times), None)
    form: dict[str, object] = {
        "model": contender.model,
        "threads": contender.threads,
        "engine": contender.engine,
        "target": held_target() or limits.cpu,
        "is_held": contender.is_held,
        "products_a_multiply_add": _integer_products(limits),
        **contender.info,
    }
    if not contender.times:
        return form
    rate = contender.flops / contender.median_ms / 1e6
    limit = limits.flops() * contender.threads / 1e9
    return form | {
        "min_ms": min(contender.times),
        "median_ms": contender.median_ms,
        "runs": len(contender.times),
        "noise": noise_of(contender.round_medians) if len(contender.rounds) > 1 else None,
        "round_medians_ms": contender.round_medians,
        "ratio_to_best_peer": None if peer is None else peer.median_ms / contender.median_ms,
        "best_peer": None if peer is None else peer.engine,
        "ratio_to_gawee": None if ours is None else contender.median_ms / ours.median_ms,
        "gflops_per_second": rate,
        "percent_of_limit": 100 * rate / limit,
        "other_load": contender.other_load,
        "delay": contender.delay,
        "line_ns": contender.line_ns,
        "repeated_turns": contender.repeated,
    }


def _cell(value: object, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, int | float) else ""


def print_rows(rows: Sequence[dict[str, object]]) -> None:
    """Print a table of the engines that ran, and name those that did not."""
    title = f"{rows[0]['model']}, threads: {rows[0]['threads']}"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    columns = (
        ("engine", "engine", 0),
        ("min ms", "min_ms", 2),
        ("median ms", "median_ms", 2),
        ("best peer /\nthis", "ratio_to_best_peer", 2),
        ("this /\ngawee", "ratio_to_gawee", 2),
        ("GFLOP/s", "gflops_per_second", 1),
        ("% of\nlimit", "percent_of_limit", 0),
        ("ready\ns", "compile_s", 2),
        ("memory\nMB", "memory_mb", 0),
        ("line\nns", "line_ns", 0),
    )
    for heading, key, _ in columns:
        side = "left" if key == "engine" else "right"
        table.add_column(heading, justify=side, no_wrap=True)
    table.add_column("difference", justify="right", no_wrap=True)
    for each in rows:
        if "median_ms" not in each:
            continue
        shown = {**each, "line_ns": _middle(each["line_ns"])}
        cells = [_cell(shown.get(key), digits) for _, key, digits in columns[1:]]
        table.add_row(str(each["engine"]), *cells, f"{each['difference']:.1e}")
    # A file or a pipe has no width of its own.
    wide = console if console.is_terminal else Console(width=WIDTH, highlight=False)
    wide.print(table)
    for each in rows:
        if "absent" in each:
            wide.print(f"without {each['engine']}: {each['absent']}", soft_wrap=True)
        elif not each["is_held"]:
            wide.print(f"{each['engine']} is not held to {each['target']}", soft_wrap=True)


def _middle(lines: object) -> float | None:
    known = [line for line in lines if line is not None] if isinstance(lines, list) else []
    return median(known) if known else None


def batched(models: Sequence[str], batches: Sequence[int]) -> list[str]:
    """Return names as `benchmarks.models.build` takes them."""
    return [name if batch == 1 else f"{name}@{batch}" for name in models for batch in batches]


def versions(arguments: Namespace) -> list[str]:
    """Return names of all versions of networks that are asked for."""
    if arguments.precision == "f32":
        return batched(arguments.model or ["resnet18"], arguments.batch)
    chosen = batched(arguments.model or NETWORKS, arguments.batch)
    chosen += [] if arguments.model else [PRODUCT]
    return [f"{name}:{ACTIVATIONS[kind]}" for name in chosen for kind in arguments.activations]


def _checkout(text: str) -> tuple[str, Path]:
    name, _, path = text.partition("=")
    folder = Path(path).resolve()
    if not (folder / "benchmarks" / "worker.py").is_file():
        raise ArgumentTypeError(f"no checkout of this repository at {path!r}")
    return name, folder


def parser() -> ArgumentParser:
    """Describe the command line."""
    from benchmarks.models import LAYERS, MODELS

    result = ArgumentParser(
        prog="python -m benchmarks.compare",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    networks = names([*MODELS, *LAYERS], all=list(MODELS), layers=list(LAYERS))
    models = f"{', '.join(MODELS)}, all, layers (default: resnet18; in int8 a table of four)"
    add("--model", type=networks, help=models)
    add("--precision", choices=("f32", "int8"), default="f32", help="of the networks")
    kinds = names(list(ACTIVATIONS))
    add(
        "--activations", type=kinds, default=",".join(ACTIVATIONS), help="in int8: unsigned, signed"
    )
    add("--threads", type=numbers, default="1", help="such as 1,2 (default: 1)")
    add("--batch", type=numbers, default="1", help="pictures or texts a run, such as 1,8,32")
    add("--engines", type=names(list(ENGINES)), help=f"(default: {', '.join(ENGINES)})")
    add(
        "--checkout",
        type=_checkout,
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="let another version of this repository take turns too (may be repeated)",
    )
    add("--rounds", type=int, default=3, help="turns of each engine (default: 3)")
    add("--runs", type=int, default=20, help="runs a turn, at least (default: 20)")
    add("--seconds", type=float, default=6, help="after which fewer runs will do (default: 6)")
    add(
        "--patience",
        type=float,
        default=60,
        help="seconds to wait for a quiet machine (default: 60)",
    )
    add("--retries", type=int, default=3, help="of a disturbed turn (default: 3)")
    add("--near", type=float, default=0, help="repeat turns in which a cache line took more ns")
    add("--no-pin", action="store_true", help="leave it to the system where threads run")
    add("--json", help="append one object a line to this file")
    add("--plot", help="draw the medians, as .svg or .png")
    add_target(result)
    add("--keep", type=Path, help="folder for files of the networks (default: a temporary one)")
    return result


def machine() -> Processor:
    """Return this machine's limits, measured once and then kept."""
    found = find_processor(HOST)
    return found if found.measured_flops is not None else measured_host()


def main() -> None:
    """Compare, print, and write what is asked for."""
    if find_spec("torch") is None:
        sys.exit("benchmarks.compare needs PyTorch, which defines the networks: pip install torch")
    arguments = parser().parse_args()
    if arguments.engines is None:
        arguments.engines = list(ENGINES if arguments.precision == "f32" else INT8_ENGINES)
    hold(arguments.target)
    limits, line = machine(), LineLatency()
    described = f"{processor_and_target()}, {len(allowed_cpus())} processors; {limits.summary()}"
    console.print(described, soft_wrap=True)
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as temporary:
        for model in versions(arguments):
            folder = (arguments.keep or Path(temporary)).resolve() / model
            folder.mkdir(parents=True, exist_ok=True)
            with console.status(f"{model}: network, reference output, ONNX file"):
                flops = prepared(model, folder)
            for threads in arguments.threads:
                contenders = compete(model, threads, flops, arguments, folder, line)
                found = [row(each, contenders, limits) for each in contenders]
                print_rows(found)
                if arguments.json:  # at once: what was measured stays, whatever comes later
                    with open(arguments.json, "a") as file:
                        file.writelines(json.dumps(each) + "\n" for each in found)
                rows += found
    if arguments.precision == "int8":
        sys.stdout.write("\n" + tables(rows))
    if arguments.plot:
        from benchmarks.plot import draw

        draw(arguments.plot, rows, limits)


if __name__ == "__main__":
    main()
