"""Every tool on every format where no extra is installed: it works, or says which to install."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.effort import mostly_full, part_of
from tests.frontends.npu_ir.files import tiny
from tests.frontends.xoc.documents import EXAMPLE
from tests.fuzz.graphs import INVOCATIONS, INVOCATIONS_JSON
from tests.fuzz.weights import uwef

ROOT = Path(__file__).parents[2]
RELU = """func.func @main(%x: tensor<1x3x2x5xTYPE> {gawee.input = "x"})
    -> (tensor<1x3x2x5xTYPE> {gawee.output = "y"}) {
  %y = OP %x : (tensor<1x3x2x5xTYPE>) -> tensor<1x3x2x5xTYPE>
  return %y : tensor<1x3x2x5xTYPE>
}
"""
ONNX = (
    b'\x08\x08:3\n\x0c\n\x01x\x12\x01y"\x04Relu\x12\x01gZ\x0f\n\x01x\x12\n\n\x08\x08\x01'
    b"\x12\x04\n\x02\x08\x03b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x03B\x04\n\x00\x10\r"
)
"""A model of one node, y = Relu(x), as the package `onnx` writes it."""

FILES: Mapping[str, str | bytes] = {
    "relu.mlir": RELU.replace("OP", "gawee.relu").replace("TYPE", "f32"),
    "bf16.mlir": RELU.replace("OP", "gawee.identity").replace("TYPE", "bf16"),
    "lightnet.mlir": RELU.replace("OP", "lightnet.relu").replace("TYPE", "f32"),
    "tiny.json": json.dumps(tiny()),
    "xoc.json": json.dumps(EXAMPLE),
    "model.onnx": ONNX,
    "calls.txt": INVOCATIONS,
    "calls.json": INVOCATIONS_JSON,
    "x.png": b"\x89PNG\r\n\x1a\n",
    "twice.op": "twice { body: ` y[i] = x[i] * 2 ` }\n",
    "checked.op": 'twice { checks: [{check: "x->ndim > 1"}], body: ` y[i] = x[i] * 2 ` }\n',
    "w.pt": b"PK\x03\x04",
    "uwef.json": uwef(),
    "net.py": "def model():\n    import torch\n    return torch.nn.ReLU()\n",
}
CONV = str(ROOT / "tests/filecheck/frontends/inputs/conv_relu.json")
WORKS = ""
CASES: Mapping[str, str] = {
    f"gawee-translate {CONV}": WORKS,
    f"gawee-translate {CONV} --to xoc -o made.xoc.json": "uwef",
    "gawee-translate relu.mlir --to xoc -o made.xoc.json": WORKS,
    f"gawee-translate {CONV} --to gawee-json -o made.json": WORKS,
    f"gawee-translate {CONV} --to onnx -o made.onnx": "onnx",
    f"gawee-translate info {CONV}": WORKS,
    f"gawee-translate visualize {CONV} -o made.dot": WORKS,
    f"gawee-run {CONV}": WORKS,
    f"gawee-run {CONV} --compare linalg": WORKS,
    "gawee-translate xoc.json": WORKS,
    "gawee-translate tiny.json --no-weights": WORKS,
    "gawee-translate tiny.json --no-weights --coverage": WORKS,
    "gawee-translate model.onnx": "onnx",
    "gawee-run model.onnx": "onnx",
    "gawee-translate calls.txt": "opdesc",
    "gawee-translate calls.json": "opdesc",
    "gawee-run calls.txt": "opdesc",
    "gawee-translate lightnet.mlir": "opdesc",
    "gawee-opt lightnet.mlir": "opdesc",
    "gawee-opt lightnet.mlir --lower-opdesc": "opdesc",
    "gawee-run lightnet.mlir": "opdesc",
    "gawee-reduce lightnet.mlir --lower-opdesc": "opdesc",
    "gawee-tune lightnet.mlir": "opdesc",
    "gawee-translate relu.mlir --load-ops twice.op": "opdesc",
    "gawee-opt relu.mlir --load-ops twice.op": "opdesc",
    "gawee-run relu.mlir --load-ops twice.op": "opdesc",
    **{
        f"gawee-translate opdesc {name} --emit {what}": extra
        for name, extra in (("twice.op", WORKS), ("checked.op", "opdesc"))
        for what in ("python", "irdl", "docs", "onnx")
    },
    "gawee-translate opdesc twice.op --emit c": "opdesc",
    "gawee-translate opdesc checked.op --emit c": "opdesc",
    "gawee-translate relu.mlir": WORKS,
    "gawee-translate relu.mlir --to onnx -o made.onnx": "onnx",
    "gawee-opt relu.mlir --gawee-to-linalg": WORKS,
    "gawee-opt relu.mlir --gawee-to-llvm --prove-each --check-each": WORKS,
    "gawee-run relu.mlir": WORKS,
    "gawee-run relu.mlir --html made.html": WORKS,
    "gawee-run relu.mlir --input x=x.png": "image",
    "gawee-opt bf16.mlir --gawee-to-linalg": WORKS,
    "gawee-run bf16.mlir": "bf16",
    "gawee-run bf16.mlir --level linalg": "bf16",
    "gawee-opt bf16.mlir --gawee-to-linalg --check-each": "bf16",
    "gawee-run tiny.json --weights w.npz": WORKS,
    "gawee-run tiny.json --weights w.safetensors": WORKS,
    "gawee-run tiny.json --weights w.pt": "torch",
    "gawee-translate weights w.npz made.safetensors": WORKS,
    "gawee-translate weights w.npz made.pt": "torch",
    "gawee-translate weights w.npz made.json": "uwef",
    "gawee-translate weights uwef.json made.npz": "uwef",
    "gawee-translate weights w.pt made.npz": "torch",
    "gawee-translate torch net.py:model --shape 1,3 -o made.json": "torch",
    "gawee-tune relu.mlir --scheduler 127.0.0.1:1": "distributed",
    "gawee-fuzz --graphs 1 --seed 1 --output found": WORKS,
    "gawee-fuzz --graphs 1 --seed 1 --output found --scheduler 127.0.0.1:1": "distributed",
}
TRIED = part_of([*CASES])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("core")
    for name, content in FILES.items():
        (made / name).write_bytes(content.encode() if isinstance(content, str) else content)
    arrays = {"fc.weight": np.ones((3, 4), np.float32), "fc.bias": np.zeros(3, np.float32)}
    np.savez(made / "w.npz", **arrays)
    from safetensors.numpy import save_file

    save_file(arrays, made / "w.safetensors")
    return made


@pytest.fixture(scope="module")
def said(folder: Path) -> Mapping[str, tuple[int, str]]:
    command = [sys.executable, str(ROOT / "tests/tools/core_dependencies.py")]
    asked = "".join(f"{json.dumps(case.split())}\n" for case in TRIED)
    done = subprocess.run(
        command, cwd=folder, input=asked, stdout=subprocess.PIPE, text=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {case: (code, text) for case, (code, text) in zip(TRIED, answers, strict=True)}


@pytest.mark.parametrize("case", mostly_full([*CASES]))
def test_a_tool_works_or_names_the_extra_to_install(
    case: str, said: Mapping[str, tuple[int, str]]
) -> None:
    code, text = said[case]
    extra = CASES[case]
    if not extra:
        assert code == 0, text
        return
    assert code == 1, text
    assert re.search(rf"^hint: pip install 'gawee-dialect\[{extra}\]'", text, re.MULTILINE), text
    assert len(re.findall(r"\berror: ", text)) == 1, text
