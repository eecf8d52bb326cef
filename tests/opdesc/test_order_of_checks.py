"""An invocation with everything wrong is mended one mistake at a time: checks fail in their order."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from xdsl.dialects.builtin import f32, i8, i32

from gawee_dialect.opdesc.description import (
    Argument,
    CheckFailure,
    Invocation,
    ParamValue,
    Tensor,
)
from gawee_dialect.opdesc.pre_run import Checked, pre_run
from gawee_dialect.opdesc.read import parse_descriptions
from tests.opdesc.descriptions import array, number, operator, output, string, tensor, text

pytest.importorskip("pycparser")

# Every check of the format; what may be wrong in `p` is said by `q`, which has no checks.
EVERY_CHECK = operator(
    tensors_in=[
        tensor("a", mtype="LN_MEM_CPU", dtype="TL_FLOAT", ndim=2, len=24, static=True,
               check='a->dims[0] != 24, "not %d", 24', checks=[{"check": "a->dims[0] != 12"}],
               custom='ln_opck_satisfy_msg(a->dims[0] != 8, "eight");'),
        tensor("b", sametype="a", sameshape="a", static=False),
    ],
    tensors_out=[
        output("one", ndim=1, dims=["a->ndim"], dtype="TL_INT8", mtype="LN_MEM_CUDA",
               owner="b", static=True, cleanup="ln_free(one_dims);"),
        output(ndim=2, dims=["q[10]", 2], dtype="a->dtype", static=False),
    ],
    params=[
        array("q"),
        number("p", eq="q[0]", gt="q[1]", ge="q[2]", lt="q[3]", le="q[4]", ne="q[5]",
               check='q[6], "six"', checks=[{"check": "q[7]"}], custom="ln_opck_satisfy(q[8]);"),
        array("s", "double", len="a->ndim", eq="s[0]", gt=0, ge=1, lt=9, le=8, ne=5),
        string("mode", realtype="int", from_func="tl_resize_type_from_str", check="mode != -1"),
    ],
    checks=[{"check": 'q[9] != 1, "nine"'}],
    custom='ln_opck_satisfy_msg(q[9] != 2, "%s", "two");',
)  # fmt: skip


@dataclass
class Given:
    """An invocation that may be changed, and the tensors that exist."""

    inputs: dict[str, str] = field(default_factory=dict[str, str])
    outputs: dict[str, str] = field(default_factory=dict[str, str])
    params: dict[str, ParamValue] = field(default_factory=dict[str, ParamValue])
    table: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    q: list[int] = field(default_factory=list[int])

    def check(self) -> Checked:
        compiled = parse_descriptions(text(EVERY_CHECK), "ops.json").operators[0]
        params = {name: tuple(self.q) if name == "q" else v for name, v in self.params.items()}
        ins = [Argument(*each) for each in self.inputs.items()]
        outs = [Argument(*each) for each in self.outputs.items()]
        return pre_run(compiled, Invocation("node", "probe", ins, outs, params), self.table)


def everything_wrong() -> Given:
    return Given(
        inputs={"x": "gone", "y": "lost", "z": "t"},
        outputs={"other": "t", "dst": "u", "more": "v"},
        params={"q": (), "r": 0, "w": (0.5, 2, 3), "mode": "cubic", "extra": None},
        table={"t": Tensor("t", i32, (24,), "LN_MEM_CUDA", False), "u": Tensor("u", i32, (3,))},
        q=[1, 0, 1, 0, -1, 0, 0, 0, 0, 1, 0],
    )


def t(**fields: object) -> Callable[[Given], None]:
    return lambda given: given.table.update(t=replace(given.table["t"], **fields))


def u(**fields: object) -> Callable[[Given], None]:
    return lambda given: given.table.update(u=replace(given.table["u"], **fields))


def q(index: int, value: int) -> Callable[[Given], None]:
    return lambda given: given.q.__setitem__(index, value)


def rename(kind: str, old: str, new: str) -> Callable[[Given], None]:
    return lambda given: getattr(given, kind).update({new: getattr(given, kind).pop(old)})


def remove(kind: str, name: str) -> Callable[[Given], None]:
    return lambda given: getattr(given, kind).pop(name)


def refer(kind: str, name: str, value: ParamValue) -> Callable[[Given], None]:
    return lambda given: getattr(given, kind).update({name: value})


# What fails next, and what mends it and nothing else; in the order of the format.
ORDER: list[tuple[str, Callable[[Given], None]]] = [
    ("tensors_in_len_eq", remove("inputs", "z")),
    ("tensor_in_exist", rename("inputs", "x", "a")),
    ("tensor_defined", refer("inputs", "a", "t")),
    ("tensor_mtype_eq", t(mtype="LN_MEM_CPU")),
    ("tensor_dtype_eq", t(element=f32)),
    ("tensor_ndim", t(shape=(24, 2))),
    ("tensor_len", t(shape=(24, 1))),
    ("tensor_isstatic", t(static=True)),
    ("satisfy_msg", t(shape=(12, 2))),
    ("satisfy", t(shape=(8, 3))),
    ("satisfy_msg", t(shape=(6, 4))),
    ("tensor_in_exist", rename("inputs", "y", "b")),
    ("tensor_defined", refer("inputs", "b", "u")),
    ("tensor_issametype", u(element=f32, static=True)),
    ("tensor_issameshape", u(shape=(6, 4))),
    ("tensor_isnotstatic", u(static=False)),
    ("tensors_out_len_eq", remove("outputs", "more")),
    ("tensor_out_exist", rename("outputs", "other", "one")),
    ("tensor_not_defined", refer("outputs", "one", "made")),
    ("tensor_not_defined", refer("outputs", "dst", "new")),
    ("params_len_eq", remove("params", "extra")),
    ("param_exist", rename("params", "r", "p")),
    ("param_int_eq", q(0, 0)),
    ("param_int_gt", q(1, -1)),
    ("param_int_ge", q(2, 0)),
    ("param_int_lt", q(3, 1)),
    ("param_int_le", q(4, 0)),
    ("param_int_ne", q(5, 1)),
    ("satisfy_msg", q(6, 1)),
    ("satisfy", q(7, 1)),
    ("satisfy", q(8, 1)),
    ("param_exist", rename("params", "w", "s")),
    ("param_array_len_eq", refer("params", "s", (-1, 2))),
    ("param_array_double_eq", refer("params", "s", (0, 0))),
    ("param_array_double_gt", refer("params", "s", (0.5, 0.5))),
    ("param_array_double_ge", refer("params", "s", (9.5, 9.5))),
    ("param_array_double_lt", refer("params", "s", (8.5, 8.5))),
    ("param_array_double_le", refer("params", "s", (5, 5))),
    ("param_array_double_ne", refer("params", "s", (2, 2))),
    ("satisfy", refer("params", "mode", "TL_LINEAR")),
    ("satisfy_msg", q(9, 2)),
    ("satisfy_msg", q(9, 0)),
    ("evaluation", q(10, 5)),
]


def test_checks_fail_in_the_order_of_the_format() -> None:
    given = everything_wrong()
    found: list[str] = []
    for _, mend in ORDER:
        with pytest.raises(CheckFailure) as caught:
            given.check()
        found.append(caught.value.kind)
        mend(given)

    assert found == [kind for kind, _ in ORDER]
    assert given.check().outputs == (
        Tensor("made", i8, (2,), "LN_MEM_CUDA", True, "u", "node"),
        Tensor("new", f32, (5, 2), "LN_MEM_NONE", False, None, "node"),
    )


def test_a_value_of_another_kind_is_found_before_its_bounds() -> None:
    given = everything_wrong()
    for _, mend in ORDER:
        mend(given)

    for value in ("0", None, True, (0,)):
        given.params["p"] = value
        with pytest.raises(CheckFailure) as caught:
            given.check()
        assert caught.value.kind == "param_type"
