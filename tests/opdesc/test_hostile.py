"""Descriptions that were written to hurt: an error each, within a second and 200 MB."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pycparser")

RUN = r"""
import json, resource, sys, time
from xdsl.dialects.builtin import f32
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.opdesc.invocation import Argument, CheckFailure, Invocation, Tensor
from gawee_dialect.opdesc.pre_run import pre_run
from gawee_dialect.opdesc.read import parse_descriptions
import pycparser.c_parser, xdsl.dialects.builtin

def operator(**fields):
    shell = {"optype": "probe", "author": "", "arch": "none", "params": []}
    tensor = {"arg_name": "src", "mtype": "LN_MEM_NONE"}
    made = {**tensor, "arg_name": "dst", "ndim": 1, "dims": "src->dims", "dtype": "TL_FLOAT"}
    return json.dumps({**shell, "tensors_in": [tensor], "tensors_out": [made], **fields})

def custom(text):
    return operator(custom=text)

CASES = {
    "endless loop": custom("for (;;) ;"),
    "endless loop that allocates": custom("for (;;) ln_alloc(80000);"),
    "endless loop of lines": custom("for (;;) { char line[LN_MAXLINE]; }"),
    "loops in loops": custom("".join(f"for (int i{k} = 0; i{k} < 9999; i{k}++) " for k in range(9)) + ";"),
    "huge array": custom("int all[2147483647];"),
    "huge allocation": custom("ln_alloc(1000000000000ull);"),
    "huge clone": custom("ln_clone(src->dims, 4000000000000ull);"),
    "huge count": custom("ln_compute_length(2147483647, src->dims);"),
    "huge message": custom('ln_opck_satisfy_msg(0, "%999d %9999d", 1, 1);'),
    "huge shape": operator(params=[], custom="").replace('"src->dims"', '"(int[]){2147483647, 2}"'),
    "growing number": custom("double d = 10; for (;;) d = d * d;"),
    "deep brackets": operator(checks=[{"check": "(" * 9000 + "1" + ")" * 9000}]),
    "deep sums": operator(checks=[{"check": "+".join("1" * 9000)}]),
    "deep negation": operator(checks=[{"check": "-" * 9999 + "1"}]),
    "deep blocks": custom("{" * 9000 + "}" * 9000),
    "deep ifs": custom("if (1) " * 2500 + ";"),
    "long text": custom("x" * 10_000_000),
    "long comment": custom("/*" + "x" * 19000 + "*/" + "//" * 100),
    "long run text": operator(run="x" * 10_000_000),
    "long integer": custom("int a = " + "9" * 19000 + ";"),
    "much code": json.dumps({"ops": [json.loads(operator(optype=f"p{k}", custom=f"int a = {k};" * 600)) for k in range(20)]}),
    "deep JSON": "[" * 1_000_000,
    "deep objects": '{"a":' * 500_000,
    "long number": '{"optype": ' + "9" * 1_000_000 + "}",
    "open text": "{\"a\": '''\n" + "x\n" * 500_000,
    "open raw text": "a { b: `" + "x" * 1_900_000,
    "many values": "[" + "1," * 150_000 + "]",
    "many operators": "{\"ops\": [" + "{}," * 50_000 + "]}",
    "many blocks": "".join(f"a{k} : a{k + 1} {{}}" for k in range(90_000)),
    "wide base": "a { b: [" + "1," * 50_000 + "] }" + "".join(f"c{k} : a {{b: [2]}}" for k in range(900)),
}

start_size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name, text in CASES.items():
    start = time.process_time()
    try:
        compiled = parse_descriptions(text, "ops").operators[0]
        invocation = Invocation("n", "probe", [Argument("src", "x")], [Argument("dst", "y")])
        pre_run(compiled, invocation, {"x": Tensor("x", f32, (3,))})
        outcome = "passed"
    except (GaweeError, CheckFailure) as error:
        outcome = str(error)[:150].replace("\n", " ")
    seconds = time.process_time() - start
    size = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start_size) / 1024
    print(f"{name}|{seconds:.3f}|{size:.0f}|{outcome}")
"""

HARMLESS = {"long comment"}


def test_hostile_descriptions_end_in_an_error_within_a_second_and_200_megabytes(
    tmp_path: Path,
) -> None:
    (tmp_path / "run.py").write_text(RUN)

    done = subprocess.run(
        [sys.executable, tmp_path / "run.py"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    rows = [line.split("|", 3) for line in done.stdout.splitlines()]
    assert len(rows) == 30
    for name, seconds, megabytes, outcome in rows:
        assert (outcome == "passed") == (name in HARMLESS), (name, outcome)
        assert float(seconds) < 1, (name, seconds)
        assert float(megabytes) < 200, (name, megabytes)
    limits = done.stdout
    assert "expected to end within 50000 steps" in limits
    assert "expected C text of at most 20000 characters, got 10000000" not in limits
    assert "expected at most 2000000 characters, got 10000" in limits
    assert "expected C text that is nested less deeply" in limits
    assert "expected at most 40000 characters of C, got" in limits
    assert "expected at most 32 brackets inside brackets, got more" in limits
    assert "expected at most 1000 operators, got 50000" in limits
    assert "expected at most 100000 values, got more" in limits
    assert "expected to inherit at most 200000 values" in limits
    assert "expected a number of fewer digits" in limits
