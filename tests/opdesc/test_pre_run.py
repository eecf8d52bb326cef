"""What an invocation is checked for: every check of the format, violated alone, fails first."""

from collections.abc import Mapping

import pytest
from xdsl.dialects.builtin import f32, i32

from gawee_dialect.opdesc.description import (
    Argument,
    CheckFailure,
    Invocation,
    ParamValue,
    Tensor,
)
from gawee_dialect.opdesc.pre_run import Checked, pre_run
from gawee_dialect.opdesc.read import parse_descriptions
from tests.opdesc.descriptions import Json, array, number, operator, output, string, tensor, text

pytest.importorskip("pycparser")

# An operator with every check; the arguments of `invoked` pass all of them.
PROBE = operator(
    tensors_in=[
        tensor("a", mtype="LN_MEM_CPU", dtype="TL_FLOAT", ndim=2, len="6", static=True,
               check="a->dims[0] == 2", checks=[{"check": 'a->dims[1] < 4, "%d columns", a->dims[1]'}],
               custom='ln_opck_satisfy_msg(a->len != 5, "five");'),
        tensor("b", sametype="a", sameshape="a", static=False),
    ],
    tensors_out=[output(ndim="a->ndim", dims="a->dims", dtype="a->dtype")],
    params=[
        number("axis", ge=0, lt="a->ndim", check="axis != 7"),
        array("size", len=2, gt=0, le=9, checks=[{"check": "size[0] <= size[1]"}],
              custom="if (size[0] == 5) ln_opck_satisfy(0);"),
        string("mode", realtype="int", from_func="tl_resize_type_from_str",
               check='mode != -1, "no mode"'),
        number("slope", "float", ne=3, eq="slope"),
        number("range", "double", lt="range + 1"),
    ],
    checks=[{"check": "axis + size[0] < 9"}],
    custom='ln_opck_satisfy_msg(size[1] != 8, "eight is %s", "wrong");',
)  # fmt: skip

TABLE = {
    "t": Tensor("t", f32, (2, 3), "LN_MEM_CPU", True),
    "u": Tensor("u", f32, (2, 3), "LN_MEM_CPU", False),
    "ints": Tensor("ints", i32, (2, 3), "LN_MEM_CPU", True),
    "small ints": Tensor("small ints", i32, (2, 3), "LN_MEM_CPU", False),
    "gpu": Tensor("gpu", f32, (2, 3), "LN_MEM_CUDA", True),
    "cube": Tensor("cube", f32, (2, 3, 1), "LN_MEM_CPU", True),
    "long": Tensor("long", f32, (2, 4), "LN_MEM_CPU", True),
    "tall": Tensor("tall", f32, (3, 2), "LN_MEM_CPU", True),
    "row": Tensor("row", f32, (3,), "LN_MEM_CPU", False),
}
PARAMS: Mapping[str, ParamValue] = {
    "range": 0.5,
    "axis": 1,
    "slope": -0.1,
    "size": (1, 2.9),
    "mode": "TL_LINEAR",
}
INPUTS = {"b": "u", "a": "t"}
OUTPUTS = {"dst": "new"}


def checked(
    description: dict[str, Json],
    inputs: Mapping[str, str],
    params: Mapping[str, ParamValue],
    outputs: Mapping[str, str] = OUTPUTS,
    table: Mapping[str, Tensor] = TABLE,
) -> Checked:
    compiled = parse_descriptions(text(description), "ops.json").operators[0]
    invocation = Invocation(
        "node",
        compiled.operator.optype,
        [Argument(*each) for each in inputs.items()],
        [Argument(*each) for each in outputs.items()],
        params,
    )
    return pre_run(compiled, invocation, table)


def failure(
    description: dict[str, Json],
    inputs: Mapping[str, str] = INPUTS,
    params: Mapping[str, ParamValue] = PARAMS,
    outputs: Mapping[str, str] = OUTPUTS,
) -> CheckFailure:
    with pytest.raises(CheckFailure) as caught:
        checked(description, inputs, params, outputs)
    return caught.value


def test_what_passes_makes_its_outputs() -> None:
    result = checked(PROBE, INPUTS, PARAMS)

    assert result.outputs == (Tensor("new", f32, (2, 3), "LN_MEM_NONE", False, None, "node"),)
    assert result.params == {
        "axis": 1,
        "size": (1, 2),
        "mode": "TL_LINEAR",
        "slope": pytest.approx(-0.1, rel=1e-7),  # the nearest float32
        "range": 0.5,
    }


# The arguments to change, the kind of the check that fails, and its message. Those of a row pass
# all checks that come before it.
ROWS: list[tuple[str, dict[str, dict[str, ParamValue]], str]] = [
    ("tensors_in_len_eq", {"inputs": {"c": "t"}}, "expected 2 input tensors, got 3"),
    ("tensor_in_exist", {"inputs": {"a": None, "x": "t"}}, "expected an input tensor 'a', got 'b', 'x'"),
    ("tensor_defined", {"inputs": {"a": "v"}}, "expected tensor 'v' of input 'a' to be defined before"),
    ("tensor_mtype_eq", {"inputs": {"a": "gpu"}}, "expected input 'a' in LN_MEM_CPU, got LN_MEM_CUDA"),
    ("tensor_dtype_eq", {"inputs": {"a": "ints"}}, "expected input 'a' of dtype TL_FLOAT, got TL_INT32"),
    ("tensor_ndim", {"inputs": {"a": "cube"}}, "expected input 'a' of 2 dimensions, got 3 ([2, 3, 1])"),
    ("tensor_len", {"inputs": {"a": "long"}}, "expected input 'a' of 6 elements, got 8 ([2, 4])"),
    ("tensor_isstatic", {"inputs": {"a": "u"}}, "expected input 'a' to be static, got tensor 'u'"),
    ("satisfy", {"inputs": {"a": "tall"}}, "expected 'check' of input 'a' to hold: a->dims[0] == 2"),
    ("tensor_issametype", {"inputs": {"b": "small ints"}}, "expected input 'b' of the dtype of 'a' (TL_FLOAT), got TL_INT32"),
    ("tensor_issameshape", {"inputs": {"b": "row"}}, "expected input 'b' of the shape of 'a' ([2, 3]), got [3]"),
    ("tensor_isnotstatic", {"inputs": {"b": "t"}}, "expected input 'b' not to be static, got tensor 't'"),
    ("tensors_out_len_eq", {"outputs": {"dst": None}}, "expected 1 output tensors, got 0"),
    ("tensor_out_exist", {"outputs": {"dst": None, "out": "new"}}, "expected an output tensor 'dst', got 'out'"),
    ("tensor_not_defined", {"outputs": {"dst": "t"}}, "expected tensor 't' of output 'dst' not to be defined yet"),
    ("params_len_eq", {"params": {"extra": 1}}, "expected 5 params, got 6"),
    ("param_type", {"params": {"axis": "1"}}, "expected param 'axis' to be LN_PARAM_NUMBER, got LN_PARAM_STRING"),
    ("param_type", {"params": {"size": 1}}, "expected param 'size' to be LN_PARAM_ARRAY_NUMBER, got LN_PARAM_NUMBER"),
    ("param_type", {"params": {"size": (1, True)}}, "got a mixed array"),
    ("param_type", {"params": {"size": ()}}, "got an empty array"),
    ("param_type", {"params": {"mode": True}}, "got LN_PARAM_BOOL"),
    ("param_type", {"params": {"slope": None}}, "got LN_PARAM_NULL"),
    ("param_int_ge", {"params": {"axis": -1}}, "expected param 'axis' >= 0, got -1"),
    ("param_int_lt", {"params": {"axis": 2}}, "expected param 'axis' < 2, got 2"),
    ("param_array_len_eq", {"params": {"size": (1, 2, 3)}}, "expected param 'size' of 2 elements, got 3"),
    ("param_array_int_gt", {"params": {"size": (2, 0.5)}}, "expected param 'size[1]' > 0, got 0"),
    ("param_array_int_le", {"params": {"size": (2, 10)}}, "expected param 'size[1]' <= 9, got 10"),
    ("satisfy", {"params": {"size": (3, 2)}}, "expected 'checks' of param 'size' to hold: size[0] <= size[1]"),
    ("satisfy", {"params": {"size": (5, 6)}}, "'custom' of param 'size': expected its check to hold"),
    ("satisfy_msg", {"params": {"mode": "TL_CUBIC"}}, "expected 'check' of param 'mode' to hold: no mode"),
    ("param_float_ne", {"params": {"slope": 3}}, "expected param 'slope' != 3, got 3.0"),
    ("satisfy", {"params": {"size": (8, 9)}}, "expected 'checks' to hold: axis + size[0] < 9"),
    ("satisfy_msg", {"params": {"size": (1, 8)}}, "'custom': eight is wrong"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "change", "message"), ROWS, ids=[row[2] for row in ROWS])
def test_check_that_is_violated_alone_fails_first(
    kind: str, change: dict[str, dict[str, ParamValue]], message: str
) -> None:
    def changed(given: Mapping[str, ParamValue], key: str) -> dict[str, str]:
        merged = {**given, **change.get(key, {})}
        return {name: str(value) for name, value in merged.items() if value is not None}

    params = {**PARAMS, **change.get("params", {})}
    found = failure(PROBE, changed(INPUTS, "inputs"), params, changed(OUTPUTS, "outputs"))

    assert found.message.endswith(message), found.message
    assert found.kind == kind


def test_param_of_another_name_is_missed() -> None:
    params = {name: value for name, value in PARAMS.items() if name != "axis"} | {"axes": 1}

    found = failure(PROBE, params=params)

    assert found.kind == "param_exist"
    assert found.message.startswith("expected a param 'axis', got 'range', 'slope'")
    assert found.hint == "did you mean 'axes'?"


@pytest.mark.parametrize(
    ("relation", "value", "ok"),
    [("eq", 2, 2), ("ne", 2, 3), ("gt", 2, 3), ("ge", 2, 2), ("lt", 2, 1), ("le", 2, 2)],
)
def test_every_relation(relation: str, value: int, ok: int) -> None:
    described = operator(params=[number("p", "double", **{relation: value})])
    wrong = {"eq": 3, "ne": 2, "gt": 2, "ge": 1, "lt": 2, "le": 3}[relation]

    assert checked(described, {"src": "t"}, {"p": ok}).params == {"p": float(ok)}
    assert failure(described, {"src": "t"}, {"p": wrong}).kind == f"param_double_{relation}"


def test_float_below_zero_keeps_its_value_and_fails_a_bound_at_zero() -> None:
    free, bound = number("p", "float"), number("p", "float", gt=0)

    assert checked(operator(params=[free]), {"src": "t"}, {"p": -0.1}).params["p"] == pytest.approx(
        -0.1
    )
    found = failure(operator(params=[bound]), {"src": "t"}, {"p": -0.1})
    assert found.message.startswith("expected param 'p' > 0, got -0.1")


@pytest.mark.parametrize(
    ("realtype", "given", "held"),
    [("int", -1.9, -1), ("int", 1e12, 2147483647), ("int", -1e12, -2147483648),
     ("float", 1e300, 3.4028234663852886e38), ("float", -1e300, -3.4028234663852886e38),
     ("double", 1e300, 1e300)],
)  # fmt: skip
def test_number_is_truncated_and_saturates(realtype: str, given: float, held: float) -> None:
    assert checked(operator(params=[number("p", realtype)]), {"src": "t"}, {"p": given}).params == {
        "p": held
    }


def test_every_kind_of_param() -> None:
    kinds: dict[str, ParamValue] = {
        "NULL": None,
        "STRING": "s",
        "BOOL": True,
        "ARRAY_STRING": ("a", "b"),
        "ARRAY_BOOL": (True, False),
    }
    params: list[Json] = [{"arg_name": name.lower(), "ptype": f"LN_PARAM_{name}"} for name in kinds]
    modes: Json = {
        "arg_name": "modes",
        "ptype": "LN_PARAM_ARRAY_STRING",
        "realtype": "int",
        "from_func": "tl_sort_dir_from_str",
        "check": "modes[0] == 1 && modes[1] == -1 && array_bool[0] && !array_bool[1] && bool_",
    }
    params[2] = {"arg_name": "bool_", "ptype": "LN_PARAM_BOOL"}
    given = {name.lower(): value for name, value in kinds.items() if name != "BOOL"}
    values: dict[str, ParamValue] = {
        **given,
        "bool_": True,
        "modes": ("TL_SORT_DIR_DESCENDING", "up"),
    }

    described = operator(params=[*params, modes])

    assert checked(described, {"src": "t"}, values).params == values


def custom_output(custom: str, **fields: Json) -> dict[str, Json]:
    shape: dict[str, Json] = {
        "ndim": "src->ndim",
        "dtype": "src->dtype",
        "custom": custom,
        **fields,
    }
    return operator(
        tensors_out=[{"arg_name": "dst", "mtype": "LN_MEM_NONE", **shape}], params=[number("n")]
    )


def shape_of(description: dict[str, Json], n: int = 2, name: str = "t") -> tuple[int, ...]:
    return checked(description, {"src": name}, {"n": n}).outputs[0].shape


def test_shape_from_a_loop_over_dims() -> None:
    loop = (
        "dst_dims = ln_alloc(sizeof(int) * dst_ndim);"
        "for (int i = 0; i < dst_ndim; i++) dst_dims[i] = src->dims[i] * n;"
    )

    assert shape_of(custom_output(loop, cleanup="ln_free(dst_dims);"), 5) == (10, 15)


def test_shape_from_a_list_and_from_a_literal() -> None:
    listed = output(ndim=3, dims=["src->dims[1]", 4, "n"])
    literal = output(ndim=1, dims="(int[]){src->len - n}", dtype="TL_INT8")

    assert shape_of(operator(tensors_out=[listed], params=[number("n")])) == (3, 4, 2)
    described = operator(tensors_out=[literal], params=[number("n")])
    assert checked(described, {"src": "t"}, {"n": 1}).outputs[0].dtype == "TL_INT8"
    assert shape_of(described) == (4,)


@pytest.mark.parametrize("owner", ["src", "src_name"])
def test_owner_is_the_name_of_an_input_or_its_expression(owner: str) -> None:
    described = operator(tensors_out=[output(owner=owner, static=True, mtype="LN_MEM_CPU")])

    made = checked(described, {"src": "t"}, {}).outputs[0]

    assert (made.owner, made.static, made.mtype) == ("t", True, "LN_MEM_CPU")


@pytest.mark.parametrize(
    ("custom", "message"),
    [
        ("", "expected 'custom' of output 'dst' to set 'dst_dims'"),
        ("dst_dims = NULL;", "expected 'custom' of output 'dst' to set 'dst_dims'"),
        ("dst_dims = (int[]){1};", "expected output 'dst' of 2 dimensions (1 to 32), got 1 in 'dst_dims'"),
        ("dst_dims = (int[]){1, n - 2};", "expected dims of output 'dst' of at least 1, got [1, 0]"),
        ("dst_dims = (int[]){65536, 65536};", "expected output 'dst' of at most 2147483647 elements"),
        ("dst_dims = src->dims; dst_dtype = 9;", "expected a dtype of output 'dst', got 9"),
        ("dst_dims = src->dims; dst_dims[0] = 1;", "cannot write the dims of a tensor that exists (ops.json:19:"),
        ("dst_dims = (int[]){src->dims[9], 1};", "index 9 is out of range of 2 elements (ops.json:19:"),
        ("dst_dims = (int[]){n / (n - 2), 1};", "division by zero (ops.json:19:"),
        ("int m; dst_dims = (int[]){m, 1};", "'m' is read before it is set"),
        ("dst_dims = ln_alloc(8); ln_free(dst_dims); dst_dims[0] = 1;", "read or write of freed memory"),
        ("dst_dims = (int[]){2147483647 + n, 1};", "is out of range of int"),
        ("dst_dims = (int[]){-7 % (n - 2), 1};", "division by zero"),
        ("dst_dims = ln_clone(src->dims, 12);", "index 2 is out of range of 2 elements"),
        ("int *p = NULL; p[0] = 1;", "read or write through NULL"),
        ('char c = "abc"[4];', "index 4 is out of range of 4 elements"),
        ("int k = (int)1e10;", "1e+10 is out of range of int"),
        ('ln_opck_satisfy_msg(n == 1, "n is %d, not %s (%g%%)", n, "one", 2.5);', "n is 2, not one (2.5%)"),
    ],
)  # fmt: skip
def test_what_c_leaves_undefined_is_an_error(custom: str, message: str) -> None:
    assert message in failure(custom_output(custom), {"src": "t"}, {"n": 2}).message


def test_expressions() -> None:
    table = [
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("1 + 2 * 3 - 4 / 2", 5),
        ("(1 + 2) * 3", 9),
        ("0 && 1 / 0", 0),
        ("1 || 1 / 0", 1),
        ("src->ndim == 2 ? 10 : 1 / 0", 10),
        ("!0 + !5", 1),
        ("ln_output_dim_conv(7, 3, 2, 2, 1)", 4),
        ("(int)2.9 + (int)-2.9", 0),
        ("sizeof(int) * 2", 8),
        ("ln_next_multiple_power2(9, 8) == 16", 1),
        ("0x10 + 010 + '0'", 72),
        ('ln_streq("a", "a")', 1),
    ]
    for expression, value in table:
        described = operator(params=[number("p", eq=expression)])
        assert checked(described, {"src": "t"}, {"p": value}).params == {"p": value}, expression
        assert failure(described, {"src": "t"}, {"p": value + 1}).kind == "param_int_eq"


def test_comma_in_a_call_is_no_message() -> None:
    described = operator(tensors_in=[tensor(check="ln_next_multiple_power2(src->len, 8) == 8")])

    assert checked(described, {"src": "t"}, {}).warnings == ()


def test_warning_does_not_fail() -> None:
    described = operator(custom='ln_msg_warn("odd %s", "mode");')

    assert checked(described, {"src": "t"}, {}).warnings == ("odd mode",)


def test_slice_of_two_rows() -> None:
    described = operator(
        "slice",
        tensors_out=[
            {"arg_name": "dst", "mtype": "LN_MEM_NONE", "ndim": "src->ndim", "dtype": "src->dtype",
             "custom": "dst_dims = ln_clone(src->dims, sizeof(int) * src->ndim); dst_dims[axis] = len;"}
        ],
        params=[
            number("axis", ge=0, lt="src->ndim"),
            number("start", ge=0, lt="src->dims[axis]"),
            number("len", gt=0, le="src->dims[axis]", check="start + len <= src->dims[axis]"),
        ],
    )  # fmt: skip
    table = {"x": Tensor("x", f32, (2, 4))}

    def run(axis: int, start: int, length: int) -> Checked:
        params = {"len": length, "axis": axis, "start": start}
        return checked(described, {"src": "x"}, params, table=table)

    assert run(1, 1, 3).outputs[0].shape == (2, 3)
    with pytest.raises(CheckFailure, match="to hold: start"):
        run(1, 1, 4)
    with pytest.raises(CheckFailure, match="expected param 'axis' < 2, got 2"):
        run(2, 1, 3)
