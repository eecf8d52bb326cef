"""The harness itself: what it must find is found, and a number always makes the same input."""

import json
import os
import time
from pathlib import Path
from signal import SIGKILL

import pytest

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from tests.fuzz import show
from tests.fuzz.__main__ import main, tried
from tests.fuzz.mutate import mutated
from tests.fuzz.mutate_json import mutated_json
from tests.fuzz.reader import Reader
from tests.fuzz.readers import READERS

SEED = b'{"a": [1, 2.5, "text"], "b": null}'


def test_a_number_always_makes_the_same_input() -> None:
    for mutate in (mutated, mutated_json):
        damaged = [mutate(SEED, number) for number in range(50)]

        assert damaged == [mutate(SEED, number) for number in range(50)]
        assert len(set(damaged)) > 40
    assert mutated(b"", 7) == b""


def test_damaged_json_is_json_every_second_time() -> None:
    good = 0
    for number in range(0, 200, 2):
        try:
            json.loads(mutated_json(SEED, number))
        except (ValueError, RecursionError):  # a number of 5000 digits, and nesting
            continue
        good += 1

    assert good > 80


def test_damaged_models_are_models() -> None:
    onnx = pytest.importorskip("onnx")
    from tests.fuzz.mutate_proto import mutated_model

    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    value = [onnx.helper.make_tensor_value_info(name, 1, [2, 3]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", value[:1], value[1:])
    seed = onnx.helper.make_model(graph).SerializeToString()
    damaged = [mutated_model(seed, number) for number in range(1, 300, 3)]

    assert len(set(damaged)) > 60
    for each in damaged:
        onnx.ModelProto().ParseFromString(each)


def finding(read, number: int = 3) -> str | None:
    """Return what is found where one number of eight does what it must not."""

    def read_one(data: bytes, folder: Path) -> None:
        if data == b"3":
            read(folder)

    reader = Reader("r", read_one, lambda: [b"seed"], lambda _, number: str(number).encode())
    found = tried(reader, range(8))
    assert set(found) <= {number}
    return found.get(number)


def test_what_must_not_happen_is_found() -> None:
    def raise_error(error: Exception) -> None:
        raise error

    text = finding(lambda _: raise_error(KeyError("x")))
    assert text is not None
    assert text.startswith("crash: KeyError: 'x', test_harness.py:")
    assert finding(lambda _: raise_error(GaweeError("odd"))) == "no place: error: odd"
    assert finding(lambda _: raise_error(GaweeError(Diagnostic("odd", "seed:1:1")))) is None
    assert finding(lambda _: os.kill(os.getpid(), SIGKILL)) == (
        "end: the process ended with status 9"
    )
    assert finding(lambda _: Path("/etc/passwd").read_bytes()) == "file: opened /etc/passwd"
    assert finding(lambda folder: (folder / "a").write_bytes(b"")) is None
    assert finding(lambda _: Path("/proc/cpuinfo").read_bytes()) is None


def test_a_crash_is_told_before_the_files_that_were_opened() -> None:
    def read_and_raise(_: Path) -> None:
        Path("/etc/passwd").read_bytes()
        raise KeyError("x")

    text = finding(read_and_raise)
    assert text is not None
    assert text.startswith("crash: KeyError: 'x'")


def test_too_much_memory_and_time_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.watched.SECONDS", 1)
    monkeypatch.setattr("tests.fuzz.watched.WAITING", 2)
    monkeypatch.setattr("tests.fuzz.watched.MEGABYTES", 100)

    def count(_: Path) -> None:
        while True:
            pass

    text = finding(lambda _: bytearray(200 << 20))
    assert text is not None
    # The peak of a process may lie above what it has when the input begins: a little is not told.
    assert 150 < int(text.removeprefix("memory: ").removesuffix(" MB")) < 250
    for blocked in (count, lambda _: time.sleep(60)):
        text = finding(blocked)
        assert text is not None
        assert text.startswith("hang: longer than 1 s, test_harness.py:")


def test_a_reader_is_tried_for_some_minutes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.fuzz.__main__.BATCH", 7)

    assert main(["pg-flow", "--minutes", "0.001", "--first", "9"]) == 0
    count = int(capsys.readouterr().out.split()[1])
    assert count > 0
    assert count % 7 == 0


def test_hostile_models_are_among_the_damaged_ones() -> None:
    onnx = pytest.importorskip("onnx")
    from tests.fuzz.mutate_proto import mutated_model

    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    value = [onnx.helper.make_tensor_value_info(name, 1, [2, 3]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", value[:1], value[1:])
    opsets = [onnx.helper.make_opsetid("", 21)]
    seed = onnx.helper.make_model(graph, opset_imports=opsets).SerializeToString()
    models = [onnx.ModelProto.FromString(mutated_model(seed, n)) for n in range(1, 600, 3)]

    assert any(model.functions for model in models)
    assert any(node.op_type == "If" for model in models for node in model.graph.node)


def test_an_input_is_shown_by_its_number(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    show.main(["xoc", "137"])

    assert capfdbinary.readouterr().out == READERS["xoc"].damaged(137)
    with pytest.raises(SystemExit) as left:
        show.main(["no-such-reader", "137"])
    assert left.value.code == 2
