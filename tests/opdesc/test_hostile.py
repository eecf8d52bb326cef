"""Descriptions and graphs that were written to hurt: an error each, in seconds and 200 MB."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import full_run

pytest.importorskip("pycparser")

RUN = r"""
import contextlib, io, json, os, resource, time
from pathlib import Path
from gawee_dialect.tools import gawee_opt, gawee_translate

def operator(**fields):
    shell = {"optype": "probe", "author": "", "arch": "none", "params": []}
    tensor = {"arg_name": "src", "mtype": "LN_MEM_NONE"}
    made = {**tensor, "arg_name": "dst", "ndim": 1, "dims": "src->dims", "dtype": "TL_FLOAT"}
    return json.dumps({**shell, "tensors_in": [tensor], "tensors_out": [made], **fields})

def custom(text):
    return operator(custom=text)

def made(**fields):
    shape = {"ndim": 1, "dims": ["1"], "dtype": "TL_FLOAT"}
    return operator(tensors_out=[{"arg_name": "dst", "mtype": "LN_MEM_NONE", **shape, **fields}])

def body(text):
    return json.dumps({"optype": "probe", "body": text})

def many(count, **fields):
    return json.dumps({"ops": [json.loads(operator(**fields)) | {"optype": f"p{k}"} for k in range(count)]})

LONG = "x" * 1_900_000
NUMBER = {"arg_name": "p", "ptype": "LN_PARAM_NUMBER", "realtype": "half"}

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
    "longer text than is read": operator(run="x" * 3_000_000),
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
    "long optype": operator(optype=LONG),
    "long arch": operator(arch=LONG),
    "long author": operator(author=LONG),
    "long doc": operator(doc=LONG),
    "long field": operator(**{LONG: 1}),
    "long realtype": operator(params=[NUMBER | {"realtype": LONG}]),
    "long arg_name": operator(params=[NUMBER | {"arg_name": LONG}]),
    "long dtype": operator(tensors_in=[{"arg_name": "src", "mtype": "LN_MEM_NONE", "dtype": LONG}]),
    "long owner": made(owner=LONG),
    "long check": operator(checks=[{"check": LONG}]),
    "long dialect": json.dumps({"dialect": LONG, "ops": []}),
    "long key": "a { " + LONG + ": 1 }",
    "long name of a block": LONG + " {}",
    "long body": body("y[i] = x[i] + " + LONG),
    "long MLIR": operator(mlir=LONG),
    "huge ndim": made(ndim=1_000_000_000),
    "huge ndim and dims": made(ndim=1_000_000_000, dims="ln_alloc(4000000000ull)"),
    "huge list of dims": made(dims=[1] * 90_000),
    "huge power": body("y[i < 9**9**9**9] = x[i]"),
    "huge size": body("y[i < 100000, j < 100000] = x[0] * i * j"),
    "huge step": body("y[i] = x[i*1000000000000000]"),
    "many fields": operator(**{f"tensors_in{k}": 1 for k in range(49_000)}),
    "many problems": many(600, params=[NUMBER | {"arg_name": f"p{k}"} for k in range(15)]),
    "many problems in C": many(300, checks=[{"check": "zzz + ("}] * 10),
    "many bodies": json.dumps({"ops": [{"optype": f"p{k}", "body": "y[i] = " + " + ".join(["x[i]"] * 90)} for k in range(999)]}),
    "many wrong bodies": json.dumps({"ops": [{"optype": f"p{k}", "body": "y[i] = " + "+".join(["q[j]"] * 20)} for k in range(600)]}),
    "many holes in MLIR": operator(mlir="${q}" * 4900),
    "many messages": custom('for (int i = 0; i < 40000; i++) ln_msg_warn("' + "%d" * 500 + '"' + ", 123456789" * 500 + ");"),
    "wide message": custom('ln_opck_satisfy_msg(0, "%1000000000d", 1);'),
    "comments before no JSON": "/**/" * 40 + "{",
    "circle of bases": "".join(f"a{k} : a{(k + 1) % 900} {{}}" for k in range(900)),
    "deep operator text": "a { b: " + "{c: " * 100_000,
    "deep casts": operator(checks=[{"check": "(int)" * 3900 + "1"}]),
    "deep choices": operator(checks=[{"check": "1?1:" * 4900 + "1"}]),
    "deep loops": custom("for(;;)" * 2800 + ";"),
    "deep array type": custom("int a" + "[1]" * 3000 + ";"),
    "deep MLIR": operator(mlir="func.func @f(%x: ${src}) -> ${dst} " + "{" * 15_000),
    "deep types in MLIR": operator(mlir="func.func @f(%x: " + "tuple<" * 3000),
}

ZEROS = 'zeros(|dst=a|dims=[1],dtype="TL_FLOAT");'
RELU = {"name": "n", "optype": "relu", "tensors_out": [], "params": []}
GRAPHS = {
    "deep values": "zeros(| dst=a | dims=" + "[" * 200_000,
    "long tensor": ZEROS.replace("a", LONG, 1),
    "long quoted tensor": ZEROS.replace("a", '"' + LONG + '"', 1),
    "long operator": LONG + ZEROS,
    "long name of an op": json.dumps({"ops": [RELU | {"name": LONG, "tensors_in": []}]}),
    "huge dims": ZEROS.replace("1", ",".join(["2147483647"] * 32)),
    "huge rank": ZEROS.replace("1", ",".join("1" * 50_000)),
    "huge number": ZEROS.replace("1", "9" * 1_000_000),
    "huge range": 'arange(|dst=a|dtype="TL_FLOAT",start=0,stop=1e300,step=1e-300);',
    "many unknown operators": "".join(f"zero{k}(|dst=a{k}|);" for k in range(9_000)),
    "many makers of one tensor": ZEROS * 9_000,
    "many tensors without a producer": "".join(f"relu(src=b{k}|dst=a{k}|);" for k in range(9_000)),
    "many ops": "".join(f"relu(src=b{k}|dst=a{k}|);" for k in range(40_000)),
    "many ops in JSON": json.dumps({"ops": [{}] * 20_000 + [RELU]}),
    "many arguments": "relu(" + ",".join(f"s{k}=t{k}" for k in range(90_000)) + "|dst=a|);",
    "many params": "relu(src=a|dst=a|" + ",".join(f"s{k}=1" for k in range(90_000)) + ");",
    "many arguments in JSON": json.dumps({"ops": [RELU | {"tensors_in": [{"arg_name": f"a{k}", "name": "b"} for k in range(20_000)]}]}),
    "many ops of one name": json.dumps({"ops": [RELU | {"tensors_in": []}] * 9_000}),
}

USE = '''
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = lightnet.probe %x : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}'''

def megabytes():
    with open("/proc/self/statm") as file:
        size, resident = file.read().split()[:2]
    return int(size) * resource.getpagesize() // 2**20, int(resident) * resource.getpagesize() / 2**20

def case(name, file, text, run):
    # A process of its own, a copy of this one: what one case takes is not counted for the next.
    Path(file).write_text(text)
    if os.fork():
        os.wait()
        return
    size, resident = megabytes()
    resource.setrlimit(resource.RLIMIT_AS, ((size + 400) * 2**20, (size + 400) * 2**20))
    errors = io.StringIO()
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        code = run()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = errors.getvalue().replace("\n", " ")
    print(f"{name}|{seconds:.3f}|{peak - resident:.0f}|{peak:.0f}|{code}|{line[:200]}", flush=True)
    os._exit(0)

def load(*flags):
    return gawee_opt.main(["--load-ops", "ops.op", "use.mlir", *flags])

def read(file):
    return gawee_translate.main(["--no-weights", file, "-o", "graph.mlir"])

Path("use.mlir").write_text(USE)
Path("ops.op").write_text(body("y[i] = x[i] + 1"))
Path("first.il").write_text(ZEROS)
with contextlib.redirect_stdout(io.StringIO()):  # what is imported where it is used
    assert load("--lower-opdesc") == 0
    assert read("first.il") == 0
for name, text in CASES.items():
    flags = ["--lower-opdesc"] if "MLIR" in name else []
    case(name, "ops.op", text, lambda: load(*flags))
for name, text in GRAPHS.items():
    file = "graph.json" if text.startswith("{") else "graph.il"
    case(name, file, text, lambda: read(file))
"""

HARMLESS = {"long comment"}


@full_run
def test_hostile_texts_end_in_a_located_error_within_seconds_and_200_megabytes(
    tmp_path: Path,
) -> None:
    (tmp_path / "run.py").write_text(RUN)

    done = subprocess.run(
        [sys.executable, tmp_path / "run.py"],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stderr
    rows = [line.split("|", 5) for line in done.stdout.splitlines()]
    assert len(rows) > 80
    for name, seconds, growth, peak, code, message in rows:
        assert code == ("0" if name in HARMLESS else "1"), (name, code, message)
        located = re.match(r"(ops\.op|use\.mlir|graph\.(il|json)): ?|\S+:\d+:\d+: ", message)
        assert name in HARMLESS or located is not None, (name, message)
        # At most 0.5 on a quiet machine; more than this is a loop that grows with the text.
        assert float(seconds) < 5, (name, seconds)
        assert float(growth) < 200, (name, growth)
        assert float(peak) < 250, (name, peak)  # what is imported included
    limits = done.stdout
    assert "expected to end within 50000 steps" in limits
    assert "expected at most 8000000 bytes, got 10000" in limits
    assert "expected C text that is nested less deeply" in limits
    assert "expected at most 40000 characters of C, got" in limits
    assert "expected at most 32 brackets inside brackets, got more" in limits
    assert "expected at most 1000 operators, got 50000" in limits
    assert "expected at most 100000 values, got more" in limits
    assert "expected to inherit at most 200000 values" in limits
    assert "expected a number of fewer digits" in limits
    assert "expected 'arch' of at most 1000 characters, got 1900000" in limits
    assert "expected a field's name of at most 1000 characters, got 1900000" in limits
    assert "expected a name of at most 1000 characters, got 1900000" in limits
    assert "expected at most 64 fields, got 49006" in limits
    assert "expected at most 60000 characters of index notation, got" in limits
    assert "expected MLIR of at most 20000 characters, got 1900000" in limits
    assert "expected operator 'a0' not to be derived from itself" in limits
    assert "expected at most 64 arguments of a kind, got more" in limits
    assert "expected 'tensors_in' to have at most 64 elements, got 20000" in limits
    assert "expected at most 10000 ops, got more" in limits
    assert "expected at most 10000 ops, got 20001" in limits
    assert "op: expected 'name' of at most 1000 characters, got 1900000" in limits
