"""The life of an operator: which step follows which, and what is in the tensor table."""

import pytest
from xdsl.dialects.builtin import f32

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.opdesc.invocation import Argument, Invocation, Tensor
from gawee_dialect.opdesc.life_cycle import Life, State, offset_in_arena
from gawee_dialect.opdesc.pre_run import Checked
from gawee_dialect.opdesc.read import parse_descriptions
from tests.opdesc.descriptions import Json, operator, output, text

pytest.importorskip("pycparser")


def life(table: dict[str, Tensor], name: str = "node", **fields: Json) -> Life:
    compiled = parse_descriptions(text(operator(**fields)), "ops.json").operators[0]
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
