"""What users do wrong, and what they read: a message with a place, a hint that works, exit code 1.

Exit code 2 says that gawee has a bug, so nothing that a user gives may end in it.
"""

import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.backend import cache, measure
from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.model import Model
from gawee_dialect.tools import gawee_opt, gawee_reduce, gawee_run, gawee_translate, gawee_tune
from gawee_dialect.universe import make_context
from tests.archives import savez

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits" / "graph.json"
TOOLS = {
    "gawee-opt": gawee_opt.main,
    "gawee-run": gawee_run.main,
    "gawee-reduce": gawee_reduce.main,
    "gawee-translate": gawee_translate.main,
    "gawee-tune": gawee_tune.main,
}
RELU = """func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"}) -> tensor<2x3xf32> {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("relu.mlir").write_text(RELU)


@pytest.fixture
def says(capfd: pytest.CaptureFixture[str]):
    """Return what runs a tool, which must end with exit code 1, and gives its message."""

    def run(command: str) -> str:
        tool, *arguments = command.split()
        assert TOOLS[tool](arguments) == 1
        message = capfd.readouterr().err
        assert "Traceback" not in message
        assert "internal error" not in message
        assert "None" not in message
        return message

    return run


def npz(**arrays: object) -> bytes:
    stream = io.BytesIO()
    savez(stream, **arrays)
    return stream.getvalue()


def zip_of(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/"), data)
    return stream.getvalue()


BINARIES = {
    "net.pt": (
        zip_of(net__data_pkl=b"", net__version=b"3"),
        r"a file of PyTorch \(a zip archive\)",
    ),
    "old.pt": (b"\x80\x02\x8a\nl\xfc\x9c", "a pickle, as older versions of PyTorch write"),
    "net.zip": (zip_of(graph=b"{}"), "a zip archive"),
    "net.npz": (npz(w=np.zeros(3)), r"NumPy's \.npz \(a zip archive\)"),
    "net.safetensors": ((14).to_bytes(8, "little") + b'{"w":{"a":[1]}}', r"a \.safetensors file"),
    "net.h5": (b"\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras writes"),
    "net.tflite": (b"\x1c\0\0\0TFL3\x14", "a TensorFlow Lite model"),
    "net.gguf": (b"GGUF\x03\0\0\0", "a GGUF file"),
    "net.mlirbc": (b"ML\xefR\x0d", "MLIR bytecode"),
    "net.bc": (b"BC\xc0\xde\x35", "LLVM bitcode"),
    "net.so": (b"\x7fELF\x02\x01", "a program or a library"),
    "x.npy": (b"\x93NUMPY\x01\0", "a NumPy array"),
    "cat.png": (b"\x89PNG\r\n", "a picture"),
    "cat.jpg": (b"\xff\xd8\xff\xe0", "a picture"),
    "net.json.gz": (b"\x1f\x8b\x08", "a gzip archive"),
    "utf16.json": ("{}".encode("utf-16"), "a text in UTF-16"),
    "net.onnx": (b"version https\xff", "no ONNX model, whatever its name says"),
}


@pytest.mark.parametrize("name", BINARIES)
def test_a_binary_file_is_called_what_it_looks_like(name: str, says) -> None:
    data, what = BINARIES[name]
    Path(name).write_bytes(data)

    message = says(f"gawee-run {name}")

    assert re.fullmatch(rf"error: expected a graph, got {what}: '{name}'\nhint: .*\n", message)


def test_the_hint_of_an_unknown_format_names_a_flag_of_every_tool(says) -> None:
    Path("x").write_bytes(b"\0\1\2")
    for tool in ("gawee-run", "gawee-reduce --canonicalize", "gawee-translate", "gawee-tune"):
        assert "hint: --from names the format" in says(f"{tool} x")
        assert says(f"{tool} x --from gawee-json").startswith("x:1:1: error: ")


def test_gawee_run_reads_the_format_that_is_named(says) -> None:
    assert gawee_run.main(["relu.mlir", "--from", "mlir", "--level", "gawee"]) == 0
    assert "relu.mlir:1:1: error: cannot read JSON" in says("gawee-run relu.mlir --from npu-ir")


def test_an_op_that_is_misspelt_is_named_with_the_one_that_was_meant(says) -> None:
    for wrong, right in (("gawee.rellu", "gawee.relu"), ("gawe.relu", "gawee.relu")):
        Path("a.mlir").write_text(RELU.replace("gawee.relu", wrong))

        assert says("gawee-opt a.mlir") == (
            f"a.mlir:2:8: error: '{wrong}' op is not registered\nhint: did you mean '{right}'?\n"
        )


def test_a_graph_given_to_gawee_opt_gets_the_command_that_works(says) -> None:
    message = says(f"gawee-opt {DIGITS}")

    assert message.startswith(
        f"{DIGITS}:1:1: error: expected MLIR, got a graph in the format 'gawee-json'\nhint: "
    )
    command = re.search(r"hint: (gawee-translate \S+) \| gawee-opt reads it", message)
    assert command is not None
    assert TOOLS["gawee-translate"](command[1].split()[1:]) == 0


def test_a_graph_on_standard_input_of_gawee_opt_is_no_mlir(
    says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DIGITS.read_bytes())))

    assert "hint: gawee-translate turns it into MLIR, which gawee-opt reads" in says("gawee-opt")


def test_a_file_that_is_cut_off_is_named_with_the_place(says) -> None:
    text = DIGITS.read_text()
    for keep in (1, 60, 500, len(text) // 2, len(text.rstrip()) - 1):
        Path("cut.json").write_text(text[:keep])

        for tool in ("gawee-run", "gawee-translate"):
            message = says(f"{tool} cut.json")
            assert re.match(r"cut\.json:\d+:\d+: error: cannot read JSON: ", message)
            assert message.endswith("\nhint: the file is cut off\n")


@pytest.mark.parametrize("tool", ["gawee-run", "gawee-translate", "gawee-tune"])
def test_a_graph_of_json_is_an_object(tool: str, says) -> None:
    Path("root.json").write_text(" [1, 2]")

    assert says(f"{tool} root.json") == (
        "root.json:1:2: error: expected a graph to be an object, got [1, 2]\n"
    )
    for name in ("npu-ir", "xoc", "gawee-json"):
        assert re.match(
            r"root\.json:1:\d: error: expected (a )?graph to be an object",
            says(f"{tool} root.json --from {name}"),
        )


@pytest.mark.parametrize("tool", ["gawee-run", "gawee-translate", "gawee-opt", "gawee-tune"])
def test_files_that_are_empty_or_no_text_are_named(tool: str, says) -> None:
    Path("latin.mlir").write_bytes(RELU.encode() + b"// \xe4\n")
    assert (
        says(f"{tool} latin.mlir") == "latin.mlir:5:4: error: expected UTF-8 text, got byte 0xe4\n"
    )
    if tool != "gawee-opt":  # for which no text is a module without ops
        Path("empty.json").write_bytes(b"\n")
        assert says(f"{tool} empty.json") == (
            "empty.json:1:1: error: expected a graph, got an empty file\n"
        )


def test_a_byte_order_mark_is_no_mistake(capfd: pytest.CaptureFixture[str]) -> None:
    Path("bom.mlir").write_text(RELU, encoding="utf-8-sig")
    Path("bom.json").write_text(DIGITS.read_text(), encoding="utf-8-sig")

    assert gawee_opt.main(["bom.mlir"]) == 0
    assert gawee_run.main(["bom.mlir", "--level", "gawee"]) == 0
    assert gawee_translate.main(["--no-weights", "bom.json"]) == 0
    assert capfd.readouterr().err == ""


def test_gawee_run_reads_a_graph_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    np.save("x.npy", np.array([[-1, 2, 3], [-4, 5, 6.5]], np.float32))
    for name, data, flags in (
        ("output0", RELU.encode(), ["--input", "x.npy"]),
        ("fc", DIGITS.read_bytes(), ["--weights", str(DIGITS.parent)]),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

        assert gawee_run.main(["-", "--level", "gawee", *flags]) == 0
        assert name in capfd.readouterr().out


def test_a_mistake_on_standard_input_has_a_place(says, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = RELU.replace("gawee.relu", "gawee.rellu").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(wrong)))

    assert says("gawee-run -").startswith("<stdin>:2:8: error: 'gawee.rellu' op is not registered")


def test_undefined_values_are_found_where_they_are_used(says) -> None:
    text = RELU.replace("gawee.relu %x", "gawee.relu %input").replace("return %y", "return %result")
    Path("a.mlir").write_text(text.replace("%y =", "%results ="))

    assert says("gawee-opt a.mlir") == (
        "a.mlir:2:25: error: use of undefined value '%input'\n"
        "a.mlir:3:10: error: use of undefined value '%result'\n"
        "hint: did you mean '%results'?\n"
    )


BACKWARDS = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = gawee.relu %z : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""


def test_a_value_that_is_defined_behind_its_use_is_an_error_of_the_verifier(says) -> None:
    Path("a.mlir").write_text(BACKWARDS)

    for command in ("gawee-opt a.mlir", "gawee-run a.mlir --level gawee", "gawee-run a.mlir"):
        assert says(command) == (
            "a.mlir:2:3: error: 'gawee.relu' op expected operand #0 '%z' to be defined before it "
            "is used\nhint: it is defined at a.mlir:3:3\n"
        )


def test_a_value_of_an_inner_region_is_gone_behind_it() -> None:
    text = (
        "func.func @f(%c: i1, %a: i32) -> i32 {\n"
        "  scf.if %c {\n    %v = arith.constant 1 : i32\n  }\n"
        "  return %a : i32\n}\n"
    )
    module = parse_mlir(make_context(), text, "a.mlir")
    inner, last = (
        next(op for op in module.walk() if op.name == name)
        for name in ("arith.constant", "func.return")
    )
    last.operands[0] = inner.results[0]

    with pytest.raises(GaweeError) as raised:
        verify_module(module)

    assert str(raised.value) == (
        "a.mlir:5:3: error: 'func.return' op expected operand #0 '%v' to be defined before it is "
        "used\nhint: it is defined at a.mlir:3:5"
    )


CONTROL_FLOW = """func.func @f(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^left, ^right
^join:
  %r = arith.addi %a, VALUE : i32
  return %r : i32
^right:
  %on_the_right = arith.addi %a, %a : i32
  cf.br ^join
^left:
  cf.br ^join
}
"""


def test_a_value_of_a_block_that_control_may_not_pass_is_refused(says) -> None:
    Path("good.mlir").write_text(CONTROL_FLOW.replace("VALUE", "%a"))
    Path("bad.mlir").write_text(CONTROL_FLOW.replace("VALUE", "%on_the_right"))

    assert gawee_opt.main(["good.mlir", "-o", os.devnull]) == 0
    assert "bad.mlir:4:3: error: 'arith.addi' op expected operand #1 '%on_the_right'" in says(
        "gawee-opt bad.mlir"
    )


def test_weights_that_are_not_there_are_one_message(says) -> None:
    Path("graph.json").write_bytes(DIGITS.read_bytes())
    savez("some.npz", **{"conv1.weight": np.zeros((16, 1, 3, 3), np.float32)})

    without = says("gawee-run graph.json")
    others = says(f"gawee-run {DIGITS} --weights some.npz")

    assert without.count("error: ") == others.count("error: ") == 1
    assert re.match(
        r"graph\.json:\d+:\d+: error: expected 14 weights, got none: there is no "
        r"'weights/conv1_weight_0\.bin', .* and 11 others\n",
        without,
    )
    assert "error: expected 14 weights, got 1 of them: there is no 'bn1.running_mean', " in others
    translated = says("gawee-translate graph.json --to onnx -o net.onnx")
    for message in (without, others, translated):
        # Not every tool that says so makes weights up.
        assert "hint: --weights PATH says where they are; to run without them, gawee-run" in message
    assert gawee_run.main(["graph.json", "--weights", "random", "--level", "gawee"]) == 0


@pytest.mark.parametrize("flag", ["--output", "--json", "--roofline"])
def test_files_that_cannot_be_written_are_known_before_anything_runs(
    flag: str, says, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object) -> None:
        raise AssertionError("expected nothing to run")

    monkeypatch.setattr(gawee_run, "make_session", run)

    assert says(f"gawee-run relu.mlir {flag} none/a.svg").startswith(
        "error: cannot write 'none/a.svg': No such file or directory"
    )


def test_a_cache_that_cannot_be_written_is_one_note(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("file").touch()
    monkeypatch.setenv("GAWEE_CACHE_DIR", "file/cache")
    for name, least in (("RUNS", 1), ("ROUNDS", 1), ("LARGEST", 1 << 20)):
        monkeypatch.setattr(measure, name, least)
    cache._warn_once.cache_clear()  # other tests of this process may have had the note

    assert gawee_run.main(["relu.mlir", "--measure"]) == 0

    assert capfd.readouterr().err == (
        "note: compiled code was not kept: 'file/cache/compiled': Not a directory\n"
        "note: what was measured was not kept: 'file/cache': Not a directory\n"
    )


def damaged_archives() -> dict[str, bytes]:
    whole = npz(x=np.ones((2, 3), np.float32))
    packed = io.BytesIO()
    np.savez_compressed(packed, x=np.ones((2, 300), np.float32))
    compressed = bytearray(packed.getvalue())
    compressed[60] ^= 0x55
    header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
    huge = b"{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 999), }"
    return {
        "empty": b"",
        "cut": whole[:100],
        "no zip": b"hello, this is not a zip",
        "flipped": whole[:130] + b"\xff\xff\xff" + whole[133:],
        "compressed": bytes(compressed),
        "method": whole[:8] + b"\x63\0" + whole[10:-70].replace(b"\0\0\0\0!\0", b"\x63\0\0\0!\0"),
        "no npy": zip_of(x=b"hello"),
        "empty member": zip_of(x=b""),
        "header": zip_of(x=header + b"{'descr': (((".ljust(118)),
        "shape": zip_of(x=header + huge.ljust(117) + b"\n"),
        "objects": npz(x=np.array([[1, None, 2], [3, 4, 5]], dtype=object)),
        "strings": npz(x=np.array([["a"] * 3] * 2)),
        "records": npz(x=np.zeros((2, 3), [("a", "f4"), ("b", "i4")])),
        "complex": npz(x=np.zeros((2, 3), np.complex64)),
        "no array": npz(),
        "other name": npz(z=np.zeros((2, 3), np.float32)),
        "other shape": npz(x=np.zeros((3, 2), np.float32)),
        "0-d": npz(x=np.float32(1)),
    }


@pytest.mark.parametrize("kind", damaged_archives())
@pytest.mark.parametrize("flag", ["--inputs", "--weights", "--constants"])
def test_damaged_archives_are_refused_or_ignored_never_a_crash(
    kind: str, flag: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("a.npz").write_bytes(damaged_archives()[kind])
    text = RELU.replace('gawee.input = "x"', 'gawee.parameter = "x"')
    Path("a.mlir").write_text(RELU if flag == "--inputs" else text)

    code = gawee_run.main(["a.mlir", "--level", "gawee", flag, "a.npz"])

    message = capfd.readouterr().err
    # An archive without arrays is no mistake where inputs may be random.
    assert (code, message) == (0, "") or (code == 1 and "error: " in message)
    assert (code == 0) == (kind == "no array" and flag == "--inputs")
    assert "Traceback" not in message


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 3), np.int64), "expected input 'x' of dtype float32, got int64 from 'x.npy'"),
        (np.zeros((2, 3), bool), "expected input 'x' of dtype float32, got bool from 'x.npy'"),
        (np.full((2, 3), 1e300), r"expected input 'x' of dtype float32, got 1e\+300 in it from"),
        (np.full((2, 3), "a"), "expected input 'x' of dtype float32, got <U1 from 'x.npy'"),
        (np.full((2, 3), None), "cannot read 'x.npy' as .npy: it holds Python objects, which"),
    ],
)
def test_an_input_of_another_kind_of_number_is_refused(
    array: np.ndarray, message: str, says
) -> None:
    np.save("x.npy", array, allow_pickle=True)

    assert re.match(f"error: {message}", says("gawee-run relu.mlir --input x.npy"))


def test_integers_that_do_not_fit_are_refused_and_others_converted(says) -> None:
    Path("a.mlir").write_text(RELU.replace("f32", "i32").replace("gawee.relu", "gawee.neg"))
    np.save("large.npy", np.array([[0, 1, 2], [3, 4, 2**40]]))
    np.save("small.npy", np.array([[0, 1, 2], [3, 4, -5]]))

    assert says("gawee-run a.mlir --level gawee --input large.npy").startswith(
        f"error: expected input 'x' of dtype int32, got {2**40} in it from 'large.npy'"
    )
    assert gawee_run.main("a.mlir --level gawee --input small.npy --output o.npz".split()) == 0
    with np.load("o.npz") as outputs:
        assert outputs["output0"].tolist() == [[0, -1, -2], [-3, -4, 5]]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("1000000x1000000", "error: expected input 'x' of at most 1099511627776 bytes, got shape"),
        ("9999999999x9999999999", "error: expected input 'x' of at most 1099511627776 bytes, got"),
        ("200000x200000", "error: out of memory: "),
    ],
)
def test_a_tensor_that_no_machine_holds_is_no_bug(shape: str, message: str, says) -> None:
    Path("a.mlir").write_text(RELU.replace("2x3", shape))
    command = f"{sys.executable} -m gawee_dialect.tools.gawee_run a.mlir --level gawee"

    done = subprocess.run(  # with so much memory that what fits elsewhere fails here too
        ["bash", "-c", f"ulimit -v 4000000; {command}"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr.startswith(message)
    assert done.returncode == 1


def test_a_constant_that_no_machine_counts_has_a_place(says) -> None:
    Path("a.mlir").write_text(
        "func.func @f() {\n"
        f"  %a = gawee.constant dense<1.0> : tensor<{10**30 - 1}xf32>\n  return\n}}\n"
    )

    for tool in ("gawee-opt", "gawee-run"):
        message = says(f"{tool} a.mlir")
        assert re.match(
            r"a\.mlir:\d:\d+: error: expected a size that memory has room for\n", message
        )


def test_letters_that_a_terminal_has_not_are_escaped() -> None:
    Path("größe.mlir").write_text(RELU.replace('"x"', '"größe"').replace("->", "->", 1))
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "ascii",
        "LC_ALL": "C",
    }
    for tool in ("gawee_run", "gawee_opt"):
        command = [sys.executable, "-m", f"gawee_dialect.tools.{tool}", "größe.mlir"]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)

        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.isascii()


def test_a_value_that_is_misspelt_is_named_with_the_one_that_was_meant(says) -> None:
    message = says("gawee-run relu.mlir --level llvmm")

    assert message.startswith("error: argument --level: invalid choice: 'llvmm' (choose from ")
    assert message.endswith("\nhint: did you mean 'llvm'?\n")
    assert "hint: gawee-run --help lists the flags" in says("gawee-run relu.mlir --level high")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--repeat 0", "argument --repeat: expected a whole number of at least 1, got '0'"),
        ("--repeat -3", "argument --repeat: expected a whole number of at least 1, got '-3'"),
        ("--num-threads 0", "argument --num-threads: expected a whole number of at least 1, got"),
        ("--num-threads 5000", "expected at most 1024 threads, got 5000"),
        ("--seed -1", "argument --seed: expected a whole number of at least 0, got '-1'"),
        ("--compare gawee --tolerance nan", "argument --tolerance: expected a number of at least"),
        ("--input cat.png --mean a,b", "argument --mean: expected a number, got 'a'"),
        ("--emit ll --emit-dir relu.mlir", "cannot make folder 'relu.mlir': File exists"),
        ("--shape x=2,4", "expected input 'x' of shape 2x3, got 2x4"),
        ("--shape y=2,3", "unknown input or size 'y'\nhint: names: x"),
        ("--range length=1:9", "unknown input or size 'length'\nhint: names: x"),
        ("--name a", "expected --name to go with --emit"),
        ("--emit-dir a", "expected --emit-dir to go with --emit"),
        ("--tolerance 1", "expected --tolerance to go with --compare or --verify"),
        ("--mean 1", "expected --mean to go with --input"),
        ("--emit ll --compare gawee", "expected --emit without --compare, got both"),
        ("--emit ll --json a.json", "expected --emit without --json, got both"),
        ("--level gawee --num-threads 2", "expected --num-threads to go with --level llvm"),
        ("--level loops --algorithms plain", "expected --algorithms to go with --level llvm"),
        ("--input x=random --inputs x.npz", "expected input 'x' once, got it by --input and in"),
    ],
)
def test_options_that_mean_nothing_are_refused(flags: str, message: str, says) -> None:
    np.savez("x.npz", x=np.zeros((2, 3), np.float32))

    assert says(f"gawee-run relu.mlir {flags}").startswith(f"error: {message}")


def test_an_option_of_native_code_goes_with_a_comparison_with_it() -> None:
    assert gawee_run.main("relu.mlir --level gawee --compare llvm --num-threads 1".split()) == 0


def test_a_file_that_never_ends_is_refused(says) -> None:
    for name in ("zero.json", "zero.mlir", "zero.npz", "zero.npy"):
        Path(name).symlink_to("/dev/zero")

    assert says("gawee-run zero.json") == "error: expected a file, got device 'zero.json'\n"
    assert says("gawee-opt zero.mlir") == "error: expected a file, got device 'zero.mlir'\n"
    for flag, name in (
        ("--weights", "zero.npz"),
        ("--constants", "zero.npz"),
        ("--inputs", "zero.npz"),
        ("--input", "zero.npy"),
    ):
        message = f"error: expected '{name}' to be a regular file\n"
        assert says(f"gawee-run relu.mlir {flag} {name}") == message
    assert "error: expected a file, got device" in says("gawee-run relu.mlir --schedules zero.json")


@pytest.mark.parametrize("length", [10, 60, 5000])
def test_a_string_that_does_not_end_takes_no_time(length: int, says) -> None:
    for text in ('"' + "a" * length, 'func.func @f() {\n  "' + "a" * length + "\n}"):
        Path("a.mlir").write_text(text)

        assert "error: end of file reached before closing string literal" in says(
            "gawee-opt a.mlir"
        )


def test_strings_are_read_as_before() -> None:
    strings = ["", "a", "a\\\\b", 'a\\"b', "a\\nb", "\\E2\\82\\AC", "größe", "x" * 10_000]
    for string in strings:
        text = f'module attributes {{a = "{string}"}} {{\n}}\n'
        module = parse_mlir(make_context(), text, "a.mlir")
        again = parse_mlir(make_context(), str(module), "a.mlir")
        assert str(again) == str(module)


def test_ir_that_is_nested_too_deeply_is_refused_where_it_is(says) -> None:
    Path("a.mlir").write_text('"t.op"() ({' * 400 + '"t.end"() : () -> ()' + "}) : () -> ()" * 400)

    assert re.match(
        r"a\.mlir:1:\d+: error: expected less nesting\n",
        says("gawee-opt --allow-unregistered-dialect a.mlir"),
    )


def test_what_stands_in_the_place_of_an_op_is_shown(says) -> None:
    Path("a.mlir").write_text("func.func @f() { return }\n) garbage")

    assert says("gawee-opt a.mlir") == "a.mlir:2:1: error: expected an op, got ')'\n"


def test_cost_goes_into_the_json() -> None:
    import json

    assert gawee_run.main("relu.mlir --level gawee --cost --json a.json".split()) == 0

    cost = json.loads(Path("a.json").read_text())["cost"]
    assert cost["total"]["nodes"] == 1
    assert [node["op"] for node in cost["nodes"]] == ["gawee.relu"]
    found = Model(parse_mlir(make_context(), RELU, "a.mlir")).cost()
    assert found is not None
    assert found.to_json() == cost


def test_a_narrow_terminal_shows_every_number(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    np.save("x.npy", np.array([[-1, 2, 3], [-4, 5, 6.5]], np.float32))

    assert gawee_run.main("relu.mlir --level gawee --input x.npy".split()) == 0

    words = " ".join(capfd.readouterr().out.split())
    assert "output0: 2x3 float32, min 0, max 6.5, mean 2.75, argmax 5" in words


def test_a_size_that_is_open_is_a_question_mark(says) -> None:
    Path("a.mlir").write_text(
        'func.func @main(%x: tensor<?x3xf32> {gawee.parameter = "w"}) -> tensor<?x3xf32> {\n'
        "  return %x : tensor<?x3xf32>\n}\n"
    )
    np.savez("w.npz", w=np.zeros((2, 3), np.float32))

    message = says("gawee-run a.mlir --level gawee --weights w.npz")

    assert "expected parameter 'w' of shape ?x3, got 2x3" in message


def test_names_that_ascii_lacks_make_identifiers_that_differ(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("図.mlir").write_text(
        RELU.replace('"x"', '"図"').replace(
            "-> tensor<2x3xf32> {", '-> (tensor<2x3xf32> {gawee.output = "表"}) {'
        )
    )

    assert gawee_run.main(["図.mlir", "--emit", "header"]) == 0

    header = Path("u56f3.h").read_text()
    assert "#ifndef U56F3_H" in header
    assert "int u56f3_run(const float *u56f3, float *u8868," in header
