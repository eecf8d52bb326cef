"""The comparison with other engines: the networks, which engine counts as best, what makes a turn void."""

import json
from argparse import Namespace
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Never

import pytest

torch = pytest.importorskip("torch")


from benchmarks import compare  # noqa: E402  needs PyTorch
from benchmarks.compare import Contender  # noqa: E402
from benchmarks.engines import ENGINES, Absent, Engine, Task, start_engine  # noqa: E402
from benchmarks.models import LAYERS, MODELS, build, count_flops  # noqa: E402
from gawee_dialect.evaluation import turns as turns_module  # noqa: E402
from gawee_dialect.evaluation.machine import LineLatency, allowed_cpus  # noqa: E402
from gawee_dialect.evaluation.turns import Referee, Turn  # noqa: E402
from gawee_dialect.target.host import detect  # noqa: E402

# Two for each multiply-add, and parameters, counted by hand from the papers' tables.
GFLOP = {"resnet18": 3.628, "resnet50": 8.178, "mobilenetv2": 0.602, "unet": 13.605}
SHAPES = {"unet": (1, 2, 256, 256), "bert-small": (1, 128, 256)}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "vgg"], "argument --model: unknown 'vgg'; known: resnet18, "),
        (["--engines", "gawee,tvm"], "argument --engines: unknown 'tvm'; known: gawee, "),
        (["--threads", "two"], "expected a whole number of at least 1, got 'two'"),
    ],
)
def test_what_is_not_known_is_refused_with_what_is(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        compare.parser().parse_args(arguments)

    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", MODELS)
def test_networks_have_the_shapes_and_the_work_that_they_should(name: str) -> None:
    model, x = build(name)
    with torch.no_grad():
        y = model(x)

    assert y.shape == SHAPES.get(name, (1, 1000))
    assert torch.isfinite(y).all()
    assert 0.1 < y.std() < 100
    if name in GFLOP:
        assert count_flops(model, x) / 1e9 == pytest.approx(GFLOP[name], abs=1e-3)


def test_a_name_and_a_seed_always_give_the_same_network() -> None:
    name = next(iter(LAYERS))
    (first, x), (second, z), (other, _) = build(name), build(name), build(name, seed=1)

    assert torch.equal(first.weight, second.weight)
    assert torch.equal(x, z)
    assert not torch.equal(first.weight, other.weight)


def test_a_batch_changes_the_input_and_not_the_weights() -> None:
    name = next(iter(LAYERS))
    (one, x), (several, batch) = build(name), build(f"{name}@3")

    assert torch.equal(one.weight, several.weight)
    assert (x.shape[0], batch.shape[0]) == (1, 3)
    assert x.shape[1:] == batch.shape[1:]
    arguments = compare.parser().parse_args(["--model", "resnet18,unet", "--batch", "1,8"])
    named = compare.batched(arguments.model, arguments.batch)
    assert named == ["resnet18", "resnet18@8", "unet", "unet@8"]


def contender(engine: str, *times: float) -> Contender:
    return Contender(
        engine, "net", 2, 1_000_000_000, info={"difference": 0.0}, rounds=[list(times)]
    )


def test_the_ratio_is_to_the_best_engine_that_is_not_ours() -> None:
    field = [contender("gawee", 2, 4, 100), contender("torch", 9), contender("openvino", 6, 7, 6)]
    peer = compare.best_peer(field)
    limits = replace(detect(), measured_flops=125e9)

    ours = compare.row(field[0], field, limits)

    assert peer is field[2]
    assert ours["min_ms"] == 2
    assert ours["median_ms"] == 4
    assert ours["ratio_to_best_peer"] == 1.5
    assert ours["gflops_per_second"] == pytest.approx(250)
    assert ours["percent_of_limit"] == pytest.approx(100)  # of two threads
    assert json.loads(json.dumps(ours)) == ours


def test_another_version_of_ours_is_no_peer_and_is_told_beside_this_one(tmp_path: Path) -> None:
    before = replace(contender("gawee@before", 5), checkout=tmp_path)
    field = [contender("gawee", 4), contender("torch", 8), before]
    limits = replace(detect(), measured_flops=125e9)

    rows = [compare.row(each, field, limits) for each in field]

    assert compare.best_peer([field[0], before]) is None
    assert [row["ratio_to_best_peer"] for row in rows] == [2.0, 1.0, 1.6]
    assert [row["ratio_to_gawee"] for row in rows] == [1.0, 2.0, 1.25]


class Scripted(Contender):
    """Answers turns from a list instead of running anything."""

    def ask(self, runs: int, seconds: float) -> Turn | None:
        return turns.pop(0)


turns: list[Turn] = []


@pytest.mark.parametrize(
    ("delays", "expected", "repeated"),
    [([0.0], 1.0, 0), ([0.5, 0.0], 2.0, 1), ([0.5, 0.5, 0.5], 3.0, 2)],
)
def test_disturbed_turns_are_repeated_and_the_last_one_counts(
    monkeypatch: pytest.MonkeyPatch, delays: list[float], expected: float, repeated: int
) -> None:
    arguments = Namespace(runs=1, seconds=1)
    busy = iter(range(0, 100, 3))  # other processes are busy at every reading
    monkeypatch.setattr(turns_module, "busy_seconds", lambda: next(busy))
    monkeypatch.setattr(turns_module, "allowed_cpus", lambda: list(range(64)))
    turns[:] = [Turn([number / 1e3], 1.0, 1.0, delay) for number, delay in enumerate(delays, 1)]
    taking_part = Scripted("torch", "net", 1, 1)

    compare.take_turn(taking_part, Referee(1, patience=0, retries=2), arguments)

    assert taking_part.times == [expected]
    assert taking_part.repeated == repeated


@pytest.mark.skipif(len(allowed_cpus()) < 2, reason="needs two processors")
def test_a_line_takes_some_nanoseconds_between_processors() -> None:
    latency = LineLatency().measure()

    assert latency is not None
    assert latency > 1
    assert len(allowed_cpus()) >= 2  # the measuring threads were bound, not this one


def test_an_engine_that_is_absent_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def start(task: Task) -> Never:
        raise ImportError("nothing there", name="engine")

    monkeypatch.setitem(ENGINES, "engine", Engine(start, "some-package"))

    with pytest.raises(Absent, match=r"not installed \(engine\): pip install some-package"):
        start_engine("engine", Task("net", 1, tmp_path))


def test_engines_take_turns_in_processes_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    peers = [each for each in ("torch", "onnxruntime") if find_spec(each) is not None]
    monkeypatch.setattr(compare, "machine", detect)
    results = tmp_path / "results.json"
    layer = "conv1x1s2-256-512-14"
    flags = [
        "--rounds",
        "2",
        "--runs",
        "3",
        "--seconds",
        "0.05",
        "--patience",
        "0",
        "--retries",
        "0",
    ]
    engines = ["--engines", ",".join(("gawee", *peers))]
    arguments = ["--model", layer, *engines, *flags, "--json", str(results)]
    monkeypatch.setattr("sys.argv", ["compare", *arguments])

    compare.main()

    rows = {row["engine"]: row for row in map(json.loads, results.read_text().splitlines())}
    assert set(rows) == {"gawee", *peers}
    for peer in peers:
        assert rows[peer]["difference"] < 1e-5
        assert rows[peer]["runs"] >= 6
    assert rows["gawee"]["difference"] < 1e-4
    assert "without" not in capsys.readouterr().out
