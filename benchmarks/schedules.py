"""Schedules by hand against what the compiler chooses: `python -m benchmarks.schedules`.

Both take turns in the same run, on one thread. The ratio is the built-in choice's time by that of
the schedule: 1.0 is as fast, 0.9 takes 11 % longer. The limit is that of the graph's ops on one
core, measured in a second where it is not known yet: arithmetic, or what each op reads and writes.
The schedules are those of `examples/schedules.py` and `examples/attention_by_keys.py`.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from time import process_time

from rich.console import Console
from rich.table import Table

from benchmarks.timing import processor
from examples import schedules
from examples.attention_by_keys import AttentionByKeys
from gawee_dialect.analysis.op_cost import limit_of, op_work
from gawee_dialect.backend.measure import measured_host
from gawee_dialect.code_options import EXACT, CodeOptions
from gawee_dialect.evaluation.evaluator import Build
from gawee_dialect.evaluation.figures import Time
from gawee_dialect.model import Model
from gawee_dialect.parameters.given_inputs import random_inputs, random_parameters
from gawee_dialect.passes.insertion import Insertion
from gawee_dialect.scheduling import schedule
from gawee_dialect.scheduling.kernels import NetworkSchedule
from gawee_dialect.target.description import HOST
from gawee_dialect.target.machine import find_processor
from gawee_dialect.tools.run_session import input_specs
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.located_parser import LocatedParser

LANES = find_processor(HOST).lanes


@dataclass(frozen=True)
class Case:
    """A network of one op, and the schedule of its kernels."""

    text: str
    steps: Callable[[NetworkSchedule], object]
    passes: Sequence[Insertion] = ()


def function(result: str, body: str, **arguments: str) -> str:
    """Return a module whose `@main` computes `%y`; x, k and v are inputs."""
    given = ", ".join(
        f"%{name}: tensor<{shape}xf32> {{gawee.{'input' if name in 'xkv' else 'parameter'} = "
        f'"{name}"}}'
        for name, shape in arguments.items()
    )
    return (
        f'func.func @main({given}) -> (tensor<{result}xf32> {{gawee.output = "y"}}) {{\n'
        f"  {body}\n  func.return %y : tensor<{result}xf32>\n}}"
    )


def matmul(size: int) -> Case:
    """A product of square matrices, the second one a weight."""
    type = f"tensor<{size}x{size}xf32>"
    body = f"%y = gawee.matmul %x, %w : ({type}, {type}) -> {type}"
    text = function(f"{size}x{size}", body, x=f"{size}x{size}", w=f"{size}x{size}")
    return Case(text, lambda sch: schedules.goto_matmul(sch["matmul *"], LANES))


def conv(channels: int, features: int, size: int, groups: int, stride: int) -> Case:
    """A 3x3 convolution of one image."""
    out = size // stride
    x, w = f"1x{channels}x{size}x{size}", f"{features}x{channels // groups}x3x3"
    y = f"1x{features}x{out}x{out}"
    body = (
        f"%y = gawee.conv %x, %w strides [{stride}, {stride}] padding [1, 1, 1, 1] "
        f"dilations [1, 1] groups {groups} : (tensor<{x}xf32>, tensor<{w}xf32>) -> tensor<{y}xf32>"
    )
    steps = schedules.direct_conv if groups == 1 else schedules.depthwise_conv
    return Case(function(y, body, x=x, w=w), lambda sch: steps(sch["conv *"], LANES))


def rows(op: str, shape: str, steps: Callable[[NetworkSchedule, int], object]) -> Case:
    """An op that normalises the rows of a matrix."""
    body = f"%y = gawee.{op} : "
    body += (
        f"tensor<{shape}xf32>" if "rank" in op else f"(tensor<{shape}xf32>) -> tensor<{shape}xf32>"
    )
    return Case(function(shape, body, x=shape), lambda sch: steps(sch, LANES))


def attention(heads: int, queries: int, keys: int, width: int) -> Case:
    """Attention, by hand in one pass over blocks of up to 256 keys, a head after the other."""
    q, k = f"{heads}x{queries}x{width}", f"{heads}x{keys}x{width}"
    body = (
        f"%y = gawee.attention %x, %k, %v scale {1 / sqrt(width):e} : "
        f"(tensor<{q}xf32>, tensor<{k}xf32>, tensor<{k}xf32>) -> tensor<{q}xf32>"
    )
    passes = (Insertion.at("after=fuse-attention", (AttentionByKeys(),)),)
    return Case(function(q, body, x=q, k=k, v=k), list, passes)


def inverted_residual(channels: int, hidden: int, size: int) -> Case:
    """Two 1x1 convolutions, a depthwise one between them, and the sum with what goes in."""
    x, h = (f"tensor<1x{count}x{size}x{size}xf32>" for count in (channels, hidden))
    shapes = {"x": f"1x{channels}x{size}x{size}", "u": f"{hidden}x{channels}x1x1"}
    shapes |= {"w": f"{hidden}x1x3x3", "t": f"{channels}x{hidden}x1x1"}
    lines: list[str] = []
    for result, of, weight, type, to, groups, pad in (
        ("a", "x", "u", x, h, 1, 0),
        ("b", "a", "w", h, h, hidden, 1),
        ("c", "b", "t", h, x, 1, 0),
    ):
        lines.append(
            f"%{result} = gawee.conv %{of}, %{weight} strides [1, 1] "
            f"padding [{pad}, {pad}, {pad}, {pad}] dilations [1, 1] groups {groups} : "
            f"({type}, tensor<{shapes[weight]}xf32>) -> {to}"
        )
    lines.append(f"%y = gawee.add %c, %x : ({x}, {x}) -> {x}")
    text = function(shapes["x"], "\n  ".join(lines), **shapes)
    return Case(text, lambda sch: schedules.inverted_residual(sch, LANES))


CASES: Mapping[str, Case] = {
    "matmul 512": matmul(512),
    "matmul 1024": matmul(1024),
    "matmul 2048": matmul(2048),
    "conv": conv(64, 128, 56, 1, 2),
    "depthwise": conv(64, 64, 56, 64, 1),
    "softmax": rows("softmax %x axis 1", "512x512", schedules.softmax),
    "layer norm": rows(
        "layer_norm %x normalized_rank 1 eps 1.000000e-05", "512x768", schedules.layer_norm
    ),
    "attention": attention(8, 512, 2048, 64),
    "attention 384": attention(12, 384, 384, 64),
    "inverted residual": inverted_residual(24, 144, 56),
}


def builds(case: Case) -> Sequence[Build]:
    """Return the code that the compiler chooses, and that of the schedule."""
    model = Model(LocatedParser(make_context(), case.text, "case.mlir").parse_module())
    model.parameters = random_parameters(input_specs(model.entry.weights), 0)
    options = CodeOptions(num_threads=1, parallel=False, algorithms=EXACT)
    own = replace(options, passes=tuple(case.passes))
    sch = schedule(model, own)
    case.steps(sch)
    return [Build(model, options), Build(model, replace(own, schedules=sch.database()))]


def limit(model: Model) -> float:
    """Return the least seconds of the graph's ops, one after the other, on one core."""
    works = (op_work(op) for op in model.function.body.block.ops)
    host = measured_host()
    return sum(limit_of(work, host).seconds for work in works if work is not None)


def cpu_seconds(both: Sequence[Build], seconds: float) -> Sequence[float]:
    """Return the least CPU time of each build, by turns: others that wait for it do not count."""
    runs = [build.model.compile(build.options) for build in both]
    entry = both[0].model.entry
    arrays = list(random_inputs(input_specs(entry.main.inputs)).values())
    best, begin = [inf] * len(runs), process_time()
    while process_time() < begin + seconds:
        for at, run in enumerate(runs):
            start = process_time()
            run(*arrays)
            best[at] = min(best[at], process_time() - start)
    return best


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the named cases, all unless told, and print a table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--cpu-seconds",
        type=float,
        default=0.0,
        help="compare the least CPU time in so many seconds, where others use the machine",
    )
    arguments = parser.parse_args(argv)
    table = Table(title=f"Schedules by hand, {processor()}", title_justify="left")
    for column in (
        "kernel",
        "built-in us",
        "by hand us",
        "built-in / by hand",
        "noise",
        "limit us",
        "%",
    ):
        table.add_column(column)
    for name in arguments.cases or CASES:
        both = builds(CASES[name])
        if arguments.cpu_seconds:
            first, second = cpu_seconds(both, arguments.cpu_seconds)
            least = limit(both[0].model)
            figures = (first * 1e6, second * 1e6, least * 1e6, 100 * least / second)
            built_in, by_hand, most, percent = (f"{each:.0f}" for each in figures)
            table.add_row(name, built_in, by_hand, f"{first / second:.3f}", "", most, percent)
            continue
        chosen, by_hand = Time(rounds=arguments.rounds).times(both)
        ratio, least = chosen.ratio_to(by_hand), limit(both[0].model)
        seconds = (f"{each.typical * 1e6:.1f}" for each in (chosen, by_hand))
        figures = (f"{1e6 * least:.1f}", f"{100 * least / by_hand.typical:.0f}")
        table.add_row(name, *seconds, f"{ratio.value:.3f}", f"{100 * ratio.noise:.1f} %", *figures)
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
