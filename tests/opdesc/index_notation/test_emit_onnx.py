"""ONNX functions of bodies compute what they mean, by ONNX's own reference evaluator."""

import re
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.opdesc.oracle import Use, random_use
from gawee_dialect.opdesc.read import read_descriptions
from gawee_dialect.tools.gawee_translate import main

pytest.importorskip("pycparser")

OPERATORS = {
    "matmul": "y[m,n] = sum(k) a[m,k] * b[k,n]",
    "linear": "y[...,o] = sum(c) x[...,c] * w[o,c] + b[o]",
    "batch_matmul": "y[...,m,n] = sum(k) a[...,m,k] * b[...,k,n]",
    "bilinear": "y[n,o] = sum(i,j) a[n,i] * w[o,i,j] * b[n,j] + c[o]",
    "trace": "y[] = sum(i) x[i,i]",
    "row_sum": "y[n,c] = x[n,c] - (sum(m) x[m,c])",
    "transposed": "y[i,j] = a[i,j] + b[j,i]",
    "addmm": "float alpha = 1.5; int beta = 2; y[m,n] = beta * c[m,n] + alpha * (sum(k) a[m,k] * b[k,n])",
    "gelu": "y[...] = x[...] * 0.5 * (1 + erf(x[...] * 0.70710678))",
    "leaky_relu": "float a = 0.01; y[...] = x[...] > 0 ? x[...] : a * x[...]",
    "hard_swish": "y[...] = x[...] * min(max(x[...] + 3, 0), 6) / 6",
    "sqrt_of_sum": "s[n] = sum(c) x[n,c] * x[n,c]; y[n] = -rsqrt(s[n] + 1); return s, y",
    "inside": "float low; y[...] = x[...] >= low && !(x[...] > 1) ? abs(x[...]) ** 2 : sigmoid(x[...])",
}


def written(folder: Path, **bodies: str) -> Path:
    path = folder / "ops.op"
    texts = (f"{name} {{ body: `{body}` }}" for name, body in bodies.items())
    path.write_text("\n".join(['dialect "mine"', *texts]))
    return path


def call_text(name: str, use: Use) -> str:
    """A graph that calls a function once, in ONNX's text form."""
    outputs = dict(zip(use.instance.program.outputs, use.outputs, strict=True))
    taken, made = (
        ", ".join(f"float{list(array.shape) or ''} {key}" for key, array in tensors.items())
        for tensors in (use.inputs, outputs)
    )
    values = (
        f"{key} = {float(v)!r}" for key, v in use.parameters.items() if isinstance(v, float | int)
    )
    attributes = f"<{', '.join(values)}>" if use.parameters else ""
    call = f"{', '.join(outputs)} = mine.{name} {attributes} ({', '.join(use.inputs)})"
    return f"main ({taken}) => ({made}) {{ {call} }}"


@pytest.mark.parametrize("name", OPERATORS)
def test_function_computes_what_the_body_means(name: str, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    parser = pytest.importorskip("onnx.parser")
    reference = pytest.importorskip("onnx.reference")
    path = written(tmp_path, **{name: OPERATORS[name]})
    assert main(["opdesc", str(path), "--emit", "onnx", "-o", str(tmp_path / "ops.txt")]) == 0
    (compiled,) = read_descriptions(str(path)).operators

    text = (tmp_path / "ops.txt").read_text()
    for seed in range(4):
        use = random_use(compiled, seed)
        model = parser.parse_model(text.replace("no_nodes () => () {}", call_text(name, use)))
        onnx.checker.check_model(model)
        got = reference.ReferenceEvaluator(model).run(None, dict(use.inputs))

        for one, wanted in zip(got, use.outputs, strict=True):
            # Sums of f32 in another order.
            np.testing.assert_allclose(
                np.asarray(one, "f8"), wanted.astype("f8"), rtol=1e-5, atol=1e-5
            )


def test_all_that_has_no_form_in_onnx_is_refused_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = {
        "window": ("y[h] = sum(i) x[h+i] * k[i]", "expected an index, got 'h + i' in 'x[h + i]'"),
        "limit": ("y[h < 3] = x[h else 0]", "expected index 'h' to walk a whole axis, got a limit"),
        "outside": ("y[h] = x[h] + b[h else 0]", "'b[h else 0]' may be outside of its tensor"),
        "needs": ("require size(x, 0) > 1; y[h] = x[h]", "a 'require' has no form in ONNX"),
        "steps": ("y[t] = y[t-1] + x[t]", "steps have no form in ONNX"),
        "taken": ("y[n] = x[w[n]]", "expected elements of f32, got i64 of 'w'"),
        "first": ("y[n,c] = x[n,c] * a[n]", "expected the indices of 'a[n]' to be the last of the result"),
        "rows": ("y[n,c] = x[n,c] * (sum(j) x[n,j])", "expected the indices of 'sum(j) x[n, j]' to be the last of the result"),
        "most": ("y[n] = max(c) x[n,c]", "'max(c) x[n, c]' is no sum of products of elements"),
        "whole": ("y[n] = sum(...) x[n,...]", "a sum over '...' has no form in ONNX"),
        "index": ("y[n] = x[n] * n", "'n' is no element-wise expression"),
        "array": ("float a[2]; y[n] = x[n] * a[0]", "expected 'a' to be a number"),
    }  # fmt: skip
    path = written(tmp_path, **{name: body for name, (body, _) in refused.items()})

    assert main(["opdesc", str(path), "--emit", "onnx", "-o", str(tmp_path / "ops.txt")]) == 1

    lines = [line for line in capsys.readouterr().err.splitlines() if ": error: " in line]
    assert [re.sub(r".*: error: ", "", line) for line in lines] == [
        f"cannot write operator '{name}' as ONNX: {message}"
        for name, (_, message) in refused.items()
    ]
    assert not (tmp_path / "ops.txt").exists()


def test_an_operator_without_a_body_has_no_function(capsys: pytest.CaptureFixture[str]) -> None:
    from gawee_dialect.opdesc import load

    path = Path(load.__file__).with_name("lightnet") / "pointwise.op"

    assert main(["opdesc", str(path), "--emit", "onnx"]) == 1

    expected = "cannot write operator 'relu' as ONNX: expected a body in index notation, got none"
    assert expected in capsys.readouterr().err
