"""The life of an operator: which step follows which, and what is in the tensor table."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import f32

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.opdesc.description import Argument, Invocation, Tensor
from gawee_dialect.opdesc.graph_import import Life, State, offset_in_arena
from gawee_dialect.opdesc.pre_run import Checked
from gawee_dialect.opdesc.read import parse_descriptions
from gawee_dialect.tools.gawee_opt import main as gawee_opt
from gawee_dialect.tools.gawee_run import main
from gawee_dialect.tools.gawee_translate import main as translate
from tests.opdesc.descriptions import Json, operator, output, text

pytest.importorskip("pycparser")
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def life(table: dict[str, Tensor], name: str = "node", **fields: Json) -> Life:
    compiled = parse_descriptions(text(operator("probe", **fields)), "ops.json").operators[0]
    arguments = [Argument("src", "x")], [Argument("dst", "y")]
    return Life(compiled, Invocation(name, "probe", *arguments), table)


def table() -> dict[str, Tensor]:
    return {"x": Tensor("x", f32, (2, 3))}


def test_steps_in_their_order() -> None:
    seen: list[str] = []
    one = life(tensors := table(), static_run="", run="")
    one.on_static_run = lambda checked: seen.append(f"static {checked.outputs[0].shape}")
    one.on_run = lambda checked: seen.append("run")

    assert one.state is State.INIT
    assert isinstance(one.pre_run(), Checked)
    assert (one.state, tensors["y"].shape) == (State.CHECKED, (2, 3))
    one.static_run()
    one.run()
    one.run()
    assert one.state is State.READY
    one.post_run()

    assert one.state is State.END
    assert seen == ["static (2, 3)", "run", "run"]


def test_without_static_run_checked_is_ready() -> None:
    one = life(table())
    one.pre_run()

    assert one.state is State.READY


def test_post_run_frees_names_for_another_operator() -> None:
    tensors = table()
    first, second = life(tensors), life(tensors, "second")
    first.pre_run()
    with pytest.raises(GaweeError, match="expected tensor 'y' of output 'dst' not to be defined yet\n  node \"second\""):  # fmt: skip
        second.pre_run()
    first.post_run()
    assert list(tensors) == ["x"]

    second.pre_run()

    assert tensors["y"].creator == "second"


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (["run"], "cannot run: expected state 'ready', got 'init'"),
        (["pre_run", "run"], "cannot run: expected state 'ready', got 'checked'"),
        (["static_run"], "cannot static_run: expected state 'checked', got 'init'"),
        (["pre_run", "pre_run"], "cannot pre_run: expected state 'init', got 'checked'"),
        (["post_run"], "cannot post_run: expected state 'checked' or 'ready', got 'init'"),
        (["pre_run", "post_run", "run"], "cannot run: expected state 'ready', got 'end'"),
        (["pre_run", "post_run", "post_run"], "got 'end'"),
    ],
)
def test_step_out_of_order_is_refused(steps: list[str], message: str) -> None:
    one = life(table(), static_run="")
    for step in steps[:-1]:
        getattr(one, step)()

    with pytest.raises(GaweeError, match=message):
        getattr(one, steps[-1])()


def test_a_tensor_with_an_owner_is_a_view_in_the_arena() -> None:
    tensors = table()
    life(tensors, tensors_out=[output(owner="src")]).pre_run()

    assert offset_in_arena("x", tensors, {"x": 64}) == 64
    assert offset_in_arena("y", tensors, {"x": 64}) == 64
    assert offset_in_arena("y", tensors, {"x": 64}, lambda tensor: 4 * tensor.shape[1]) == 76
    with pytest.raises(GaweeError, match="expected a place of tensor 'x' in the arena"):
        offset_in_arena("y", tensors, {})
    with pytest.raises(GaweeError, match="expected tensor 'z' to be in the tensor table"):
        offset_in_arena("z", tensors, {})


# Each step writes to a file, so that the order of calls can be seen.
LOGGING = """{"dialect": "mine", "ops": [{
  "optype": "twice", "author": "a test", "arch": "none",
  "tensors_in": [{"arg_name": "src", "mtype": "LN_MEM_NONE"}],
  "tensors_out": [{"arg_name": "dst", "mtype": "LN_MEM_NONE", "ndim": "src->ndim", "dims": "src->dims", "dtype": "src->dtype", "static": true}],
  "params": [],
  "static_run": '''
    FILE *log = fopen("CALLS", "a"); fputs("static_run\\n", log); fclose(log);
    for (int i = 0; i < src->len; i++) ((float *)dst->data)[i] = 2 * ((float *)src->data)[i];
  '''
}, {
  "optype": "plus", "author": "a test", "arch": "none",
  "tensors_in": [{"arg_name": "a", "mtype": "LN_MEM_NONE"}, {"arg_name": "b", "mtype": "LN_MEM_NONE", "sameshape": "a"}],
  "tensors_out": [{"arg_name": "dst", "mtype": "LN_MEM_NONE", "ndim": "a->ndim", "dims": "a->dims", "dtype": "a->dtype"}],
  "params": [],
  "run": '''
    FILE *log = fopen("CALLS", "a"); fputs("run\\n", log); fclose(log);
    for (int i = 0; i < a->len; i++) ((float *)dst->data)[i] = ((float *)a->data)[i] + ((float *)b->data)[i];
  ''',
  "post_run": '''
    FILE *log = fopen("CALLS", "a"); fputs("post_run\\n", log); fclose(log);
  '''
}]}"""
INVOKED = """
create(| dst=x | dtype="TL_FLOAT", dims=[2, 3], ran=[0, 0], data=[0], from_file=false);
create(| dst=w | dtype="TL_FLOAT", dims=[2, 3], ran=[0, 0], data=[0], from_file=true);
twice(src=w | dst=t |);
plus(a=x, b=t | dst=y |);
"""


def invoked(folder: Path, graph: str, *flags: str) -> int:
    """Run gawee-run on a graph of the logging operators, with x of ones and w of threes."""
    (folder / "ops.json").write_text(LOGGING.replace("CALLS", str(folder / "calls")))
    (folder / "graph.il").write_text(graph)
    ones = np.ones((2, 3), np.float32)
    np.savez(folder / "weights.npz", w=3 * ones)
    np.savez(folder / "inputs.npz", x=ones)
    files = ["--weights", str(folder / "weights.npz"), "--inputs", str(folder / "inputs.npz")]
    load = ["--load-ops", str(folder / "ops.json"), "--allow-native-code"]
    return main([*load, *files, *flags, str(folder / "graph.il")])


@needs_compiler
def test_static_run_is_called_once_and_run_in_every_run(tmp_path: Path) -> None:
    output = str(tmp_path / "out.npz")
    assert invoked(tmp_path, INVOKED, "--repeat", "3", "--output", output) == 0

    calls = (tmp_path / "calls").read_text().split()
    assert calls == ["static_run", *["run", "post_run"] * 3]
    assert np.load(output)["y"].tolist() == [[7, 7, 7]] * 2


@needs_compiler
def test_static_run_without_an_input_is_called_once(tmp_path: Path) -> None:
    table = """create(| dst=w | dtype="TL_FLOAT", dims=[2, 3], ran=[0, 0], data=[4], from_file=false);"""
    graph = "\n".join((INVOKED.splitlines()[1], table.replace("[4]", "[4, 4, 4, 4, 4, 4]"), *INVOKED.splitlines()[3:]))  # fmt: skip
    (tmp_path / "out.npz").touch()

    assert invoked(tmp_path, graph, "--repeat", "2", "--output", str(tmp_path / "out.npz")) == 0

    assert (tmp_path / "calls").read_text().split().count("static_run") == 1
    assert np.load(tmp_path / "out.npz")["y"].tolist() == [[9, 9, 9]] * 2


@needs_compiler
def test_static_run_of_what_an_input_decides_is_refused_at_its_op(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoked(tmp_path, INVOKED.replace("src=w", "src=x")) == 1

    error = capsys.readouterr().err
    assert f"{tmp_path / 'graph.il'}:4:1: error: 'mine.twice' op cannot be removed by" in error
    assert (
        "expected input 'src' to be static: 'static_run' reads it once, before the first" in error
    )
    assert not (tmp_path / "calls").exists()


def test_an_op_that_comes_before_what_it_reads_is_refused_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = INVOKED.splitlines()

    assert invoked(tmp_path, "\n".join((*lines[:3], lines[4], lines[3]))) == 1

    assert f"{tmp_path / 'graph.il'}:4:1: error: op 'plus1': expected tensor 't' to be made by" in (
        capsys.readouterr().err
    )


def test_outputs_in_their_inputs_memory_are_views_in_the_compiled_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "graph.il").write_text(
        """
        create(| dst=x | dtype="TL_FLOAT", dims=[2, 3], ran=[0, 0], data=[0], from_file=false);
        relu(src=x | dst=a |);
        reshape(src=a | dst=b | dims=[3, 2]);
        forward(src=b | dst=c |);
        softmax(src=c | dst=y | axis=1);
        """
    )
    assert (
        translate(["--no-weights", str(tmp_path / "graph.il"), "-o", str(tmp_path / "g.mlir")]) == 0
    )
    flags = ["--lower-opdesc", "--gawee-to-kernels", "--gawee-kernels-to-loops"]
    assert gawee_opt([str(tmp_path / "g.mlir"), *flags]) == 0

    loops = capsys.readouterr().out
    assert "memref.alloc()" not in loops
    assert "memref.copy" not in loops
