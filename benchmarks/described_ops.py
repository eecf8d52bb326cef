"""Described operators beside the built-in ones: convolutions of ResNets and matrix products.

`python -m benchmarks.described_ops` runs both as machine code in turns, on one thread, and prints
the least microseconds of a call of either, and their ratio.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.timing import processor
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.evaluation.turns import least_seconds
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.model import Model
from gawee_dialect.opdesc.load import loaded_operators
from gawee_dialect.universe import make_context

ROUNDS = 60

OPERATORS = """
dialect "mine"
conv2d { body: `
    int s = 1, p = 0
    y[n,o,h,w] = sum(c,i,j) x[n,c,h*s+i-p,w*s+j-p] * k[o,c,i,j] + b[o]
` }
matmul { body: "y[m,n] = sum(k) x[m,k] * w[k,n]" }
"""


def sizes_of(shape: str) -> Sequence[int]:
    """Return the sizes of `1x3x224x224`."""
    return [int(size) for size in shape.split("x")]


@dataclass(frozen=True)
class Case:
    """One computation, said by both ops: what is behind the operands, and the types."""

    name: str
    described: str
    built_in: str
    shapes: Sequence[str]
    result: str

    def model(self, op: str) -> Model:
        """Return the graph of an op on an input and random parameters."""
        types = [f"tensor<{shape}xf32>" for shape in self.shapes]
        kinds = ["input", *["parameter"] * (len(types) - 1)]
        arguments = ", ".join(
            f'%v{index}: {type} {{gawee.{kind} = "v{index}"}}'
            for index, (type, kind) in enumerate(zip(types, kinds, strict=True))
        )
        result = f"tensor<{self.result}xf32>"
        text = (
            f'func.func @main({arguments}) -> ({result} {{gawee.output = "y"}}) {{\n'
            f"  %y = {op} : ({', '.join(types)}) -> {result}\n"
            f"  func.return %y : {result}\n}}\n"
        )
        random = np.random.default_rng(0)
        arrays = {
            f"v{index}": random.standard_normal(sizes_of(shape), np.float32)
            for index, shape in enumerate(self.shapes)
            if index > 0
        }
        return Model(parse_mlir(make_context(), text, f"{self.name}.mlir"), arrays)


def conv(channels: int, size: int, outputs: int, window: int, stride: int = 1) -> Case:
    """Return a convolution of a ResNet, whose padding keeps the size but for the stride."""
    padding, out = window // 2, -(-size // stride)
    return Case(
        f"conv2d {window}x{window} / {stride}, {channels} to {outputs}, {size}x{size}",
        f"mine.conv2d %v0, %v1, %v2 s {stride} p {padding}",
        f"gawee.conv %v0, %v1 bias %v2 strides [{stride}, {stride}] padding [{padding}, {padding}, "
        f"{padding}, {padding}] dilations [1, 1] groups 1",
        [f"1x{channels}x{size}x{size}", f"{outputs}x{channels}x{window}x{window}", f"{outputs}"],
        f"1x{outputs}x{out}x{out}",
    )


def matmul(rows: int, inner: int, columns: int) -> Case:
    """Return a product of matrices."""
    return Case(
        f"matmul {rows}x{inner} by {inner}x{columns}",
        "mine.matmul %v0, %v1",
        "gawee.batch_matmul %v0, %v1",
        [f"{rows}x{inner}", f"{inner}x{columns}"],
        f"{rows}x{columns}",
    )


CASES = (
    conv(3, 224, 64, 7, 2),
    conv(64, 56, 64, 3),
    conv(128, 28, 128, 3),
    conv(128, 28, 256, 3, 2),
    conv(256, 14, 1024, 1),
    matmul(128, 256, 1024),
    matmul(512, 512, 512),
    matmul(1, 2048, 1000),
)


def row(case: Case, rounds: int = ROUNDS) -> str:
    """Return a line of the table; raises AssertionError where the ops compute other numbers."""
    inputs = {"v0": np.random.default_rng(1).standard_normal(sizes_of(case.shapes[0]), np.float32)}
    with TemporaryDirectory() as folder:
        path = Path(folder, "ops.op")
        path.write_text(OPERATORS)
        with loaded_operators([str(path)]):
            compiled = [
                case.model(op).compile(CodeOptions(num_threads=1))
                for op in (case.described, case.built_in)
            ]
    result, expected = (np.asarray(each.run(inputs)["y"], np.float32) for each in compiled)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-4 * float(np.abs(expected).max()))
    calls = [lambda each=each: each.run(inputs) for each in compiled]
    described, built_in = (seconds * 1e6 for seconds in least_seconds(calls, rounds))
    return f"| {case.name} | {described:.0f} | {built_in:.0f} | {described / built_in:.2f} |"


def main() -> int:
    """Print the table; returns the exit code."""
    ArgumentParser(description=__doc__).parse_args()
    print(f"{processor()}, one thread, least of {ROUNDS} calls\n")
    print("| | described, us | built-in, us | ratio |\n|---|---|---|---|")
    for case in CASES:
        print(row(case), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
