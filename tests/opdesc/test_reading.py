"""Descriptions as text: what is read, and what is refused, with the place of every problem."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.opdesc.read import parse_descriptions, read_descriptions
from tests.opdesc.descriptions import Json, array, number, operator, output, string, tensor, text

pytest.importorskip("pycparser")

SLICE_EASY = """{
  // one operator
  "ops": [{
    "optype": "slice", "author": "a test", "arch": "none",
    "tensors_in": [{"arg_name": "src", "mtype": "LN_MEM_NONE"}],
    "tensors_out": [{
      "arg_name": "dst", "mtype": "LN_MEM_NONE", "ndim": "src->ndim", "dtype": "src->dtype",
      "custom": '''
dst_dims = ln_clone(src->dims, sizeof(int) * src->ndim);
if (ln_streq("a\\"", "b'")) { dst_dims[0] = '"'; }
''', // the comma is not in the text
    },],
    "params": [], /* none
    at all */
  }],
}"""


def read_error(source: str) -> str:
    with pytest.raises(GaweeError) as caught:
        parse_descriptions(source, "ops.json")
    return str(caught.value)


def test_easy_json_equals_its_plain_form() -> None:
    easy = parse_descriptions(SLICE_EASY, "easy.json").operators[0].operator
    custom = (
        "dst_dims = ln_clone(src->dims, sizeof(int) * src->ndim);\n"
        """if (ln_streq("a\\"", "b'")) { dst_dims[0] = '"'; }"""
    )
    fields = output(custom=custom)
    del fields["dims"]
    plain = operator("slice", tensors_out=[fields])

    assert easy == parse_descriptions(text(plain), "plain.json").operators[0].operator


def test_one_operator_needs_no_list() -> None:
    alone = parse_descriptions(json.dumps(operator()), "ops.json")

    assert (
        alone.operators[0].operator
        == parse_descriptions(text(operator()), "").operators[0].operator
    )


def test_a_file_may_name_its_dialect() -> None:
    described = parse_descriptions('{"dialect": "mine", "ops": []}', "ops.json")

    assert described.dialect == "mine"
    assert parse_descriptions(text(), "ops.json").dialect == "lightnet"


def test_operator_text_inherits_by_index_and_deletes() -> None:
    described = parse_descriptions(
        """
        base { optype: "base", author: 'a "test"', arch: "none",  // raw
          tensors_in: [{arg_name: "a", mtype: "LN_MEM_NONE", ndim: 2},
                       {arg_name: "b", mtype: "LN_MEM_NONE", ndim: 3}],
          tensors_out: [{arg_name: "dst", mtype: "LN_MEM_NONE", custom: `
dst_ndim = 1;`}], params: [] }
        base_cpu : base { optype: "base_cpu", arch: "cpu", tensors_in: [-, {ndim: -, static: true}] },
        third : base_cpu { optype: "third_cpu", run: "" }
        """,
        "ops.op",
    )
    base, derived, third = (each.operator for each in described.operators)

    assert [each.arg_name for each in base.tensors_in] == ["a", "b"]
    assert base.author == 'a "test"'
    assert [(each.arg_name, each.ndim, each.static) for each in derived.tensors_in] == [
        ("b", None, True)
    ]
    assert derived.tensors_out == base.tensors_out
    assert third == replace(derived, optype="third_cpu", run=third.run)
    assert third.run is not None


def test_a_base_may_follow_what_is_derived_from_it() -> None:
    described = parse_descriptions(
        'b : a { optype: "b" } a { optype: "a", author: "", arch: "none", '
        "tensors_in: [], tensors_out: [], params: [] }",
        "ops.op",
    )

    assert [each.operator.optype for each in described.operators] == ["b", "a"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a : b {}", "ops.json:1:5: error: unknown base 'b' of operator 'a'"),
        ("a : b {} b : a {}", "expected operator 'a' not to be derived from itself"),
        ("a {} a {}", "ops.json:1:6: error: cannot read operator text: expected operators to differ, got 'a' twice"),
        ("a { x }", "ops.json:1:7: error: cannot read operator text: expected ':', got '}'"),
        ("a { x: `b }", "expected a ` that closes this text, got none"),
        ("a { ?: 1 }", "expected a name, got '?'"),
        ('{"a": \'\'\'\nx }', "ops.json:1:7: error: cannot read JSON: expected a line of ''' that closes this text, got none"),
        ('{"a": 1 "b"}', "expected ',' or '}', got '\"'"),
        ('{"a": [1 2]}', "expected ',' or ']', got '2'"),
        ('{"a": 1, "a": 2}', "ops.json:1:10: error: cannot read JSON: expected keys to differ, got 'a' twice"),
        ('{"a": 1e999}', "expected a finite number, got 1e999"),
        ('{"a": "b\n"}', "expected a string to be closed on its line"),
        ('{"a": "\\q"}', "expected an escape such as \\n, got \\q"),
        ('{"a": "\\ud800"}', "expected text, got half of a surrogate pair"),
        ('{"a": nil}', "expected a value, got 'nil'"),
        ('{"a": }', "expected a value, got '}'"),
        ("{} {}", "expected the end of the text, got '{'"),
        ("{a: 1}", "expected a key in double quotes, got 'a'"),
        ("[1]", "expected an operator description, an object, got an array"),
        ('{"ops": 3}', "expected 'ops' to be an array, got the number 3"),
        ('{"ops": [3]}', "expected 'ops' to hold objects, got the number 3"),
        ('{"ops": [], "dialect": "a b"}', "expected 'dialect' to be an identifier"),
        ('{"ops": [], "op": []}', "description file: unknown field 'op'"),
    ],
)  # fmt: skip
def test_text_that_is_none_is_refused(source: str, message: str) -> None:
    assert message in read_error(source)


def without(fields: dict[str, Json], key: str) -> dict[str, Json]:
    return {name: value for name, value in fields.items() if name != key}


BOOL = {"arg_name": "p", "ptype": "LN_PARAM_BOOL"}
CUSTOM = without(without(output(), "dims"), "ndim")

REFUSED: dict[str, tuple[dict[str, Json], str]] = {
    **{
        f"no {key}": (without(operator(), key), f"expected a field '{key}', got none")
        for key in ("optype", "author", "arch", "tensors_in", "tensors_out", "params")
    },
    "arch": (operator(arch="gpu"), "operator 'probe': unknown arch 'gpu'"),
    "suffix": (
        operator(arch="cpu"),
        "operator 'probe': expected 'optype' to end in '_cpu', its arch, got 'probe'",
    ),
    "optype": (operator("a b"), "expected 'optype' to be a C identifier"),
    "field": (operator(tensor_in=[]), "operator 'probe': unknown field 'tensor_in'"),
    "priv": (
        operator(extra_privs=[{"name": "handle"}]),
        "operator 'probe', extra_privs: expected a field 'type', got none",
    ),
    "priv name": (
        operator(extra_privs=[{"type": "int"}]),
        "operator 'probe', extra_privs: expected a field 'name', got none",
    ),
    "output name": (
        operator(tensors_out=[without(output(), "arg_name")]),
        "operator 'probe', output: expected a field 'arg_name', got none",
    ),
    "param name": (
        operator(params=[without(number("p"), "arg_name")]),
        "operator 'probe', param: expected a field 'arg_name', got none",
    ),
    "output mtype": (
        operator(tensors_out=[without(output(), "mtype")]),
        "operator 'probe', output 'dst': expected a field 'mtype', got none",
    ),
    "input name": (
        operator(tensors_in=[without(tensor(), "arg_name")]),
        "operator 'probe', input: expected a field 'arg_name', got none",
    ),
    "mtype": (
        operator(tensors_in=[without(tensor(), "mtype")]),
        "operator 'probe', input 'src': expected a field 'mtype', got none",
    ),
    "mtype name": (
        operator(tensors_in=[tensor(mtype="LN_MEM_GPU")]),
        "operator 'probe', input 'src': unknown mtype 'LN_MEM_GPU'",
    ),
    "dtype": (
        operator(tensors_in=[tensor(dtype="TL_HALF")]),
        "operator 'probe', input 'src': unknown dtype 'TL_HALF'",
    ),
    "ndim kind": (
        operator(tensors_in=[tensor(ndim=True)]),
        "input 'src': expected 'ndim' to be a number or a C expression, got true",
    ),
    "ptype": (
        operator(params=[without(number("p"), "ptype")]),
        "operator 'probe', param 'p': expected a field 'ptype', got none",
    ),
    "ptype name": (
        operator(params=[number("p") | {"ptype": "LN_PARAM_FLOAT"}]),
        "operator 'probe', param 'p': unknown ptype 'LN_PARAM_FLOAT'",
    ),
    "realtype": (
        operator(params=[without(number("p"), "realtype")]),
        "param 'p': expected a field 'realtype' beside LN_PARAM_NUMBER, got none",
    ),
    "realtype name": (operator(params=[number("p", "half")]), "param 'p': unknown realtype 'half'"),
    "from_func": (
        operator(params=[string("p", realtype="int")]),
        "param 'p': expected a field 'from_func' beside 'realtype' of a string, got none",
    ),
    "realtype of an array": (
        operator(params=[without(array("p"), "realtype")]),
        "param 'p': expected a field 'realtype' beside LN_PARAM_ARRAY_NUMBER, got none",
    ),
    "realtype name of an array": (
        operator(params=[array("p", "char")]),
        "param 'p': unknown realtype 'char'",
    ),
    "from_func of an array": (
        operator(
            params=[{"arg_name": "p", "ptype": "LN_PARAM_ARRAY_STRING", "realtype": "int"}]
        ),
        "param 'p': expected a field 'from_func' beside 'realtype' of a string, got none",
    ),
    "from_func name": (
        operator(params=[string("p", realtype="int", from_func="tl_dtype")]),
        "param 'p': unknown from_func 'tl_dtype'",
    ),
    "realtype of a string": (
        operator(params=[string("p", realtype="float", from_func="tl_dtype_from_str")]),
        "expected 'realtype' of a string to be int, which 'from_func' returns",
    ),
    "from_func of a number": (
        operator(params=[number("p", from_func="tl_dtype_from_str")]),
        "expected no 'from_func' beside LN_PARAM_NUMBER, it is for strings",
    ),
    "len": (
        operator(params=[number("p", len=2)]),
        "expected no 'len' beside LN_PARAM_NUMBER, which is no array",
    ),
    "bound": (
        operator(params=[BOOL | {"gt": 0}]),
        "param 'p': expected no 'gt' beside LN_PARAM_BOOL, which has no order",
    ),
    "checks": (
        operator(params=[number("p", checks=[{}])]),
        "param 'p': expected an element of 'checks' to have a field 'check', got none",
    ),
    "input checks": (
        operator(tensors_in=[tensor(checks=[{"check": "1"}, {}])]),
        "input 'src': expected an element of 'checks' to have a field 'check', got none",
    ),
    "op checks": (
        operator(checks=[{}]),
        "operator 'probe': expected an element of 'checks' to have a field 'check', got none",
    ),
    **{
        f"output without {key}": (
            operator(tensors_out=[without(output(), key)]),
            f"output 'dst': expected a field '{key}', or 'custom' that sets it, got none",
        )
        for key in ("ndim", "dims", "dtype")
    },
    "constant": (
        operator(tensors_out=[output(dtype="TL_FLAOT")]),
        "output 'dst', 'dtype': unknown name 'TL_FLAOT'",
    ),
    "output": (
        operator(tensors_out=[CUSTOM]),
        "output 'dst': expected a field 'ndim', or 'custom' that sets it, got none",
    ),
    "duplicate": (
        operator(params=[number("src")]),
        "operator 'probe': expected arguments to differ, got 'src' twice",
    ),
    "sametype": (
        operator(tensors_in=[tensor("a", sametype="src"), tensor()]),
        "input 'a': expected 'sametype' to name an earlier input, got 'src'",
    ),
    "sameshape": (
        operator(tensors_in=[tensor(sameshape="srcs")]),
        "input 'src': expected 'sameshape' to name an earlier input, got 'srcs'",
    ),
    "owner": (
        operator(tensors_out=[output(owner="drc_name")]),
        "output 'dst': expected 'owner' to name an input, got 'drc_name'",
    ),
    "list": (operator(params={}), "expected 'params' to be an array, got an object"),
    "objects": (operator(params=["p"]), "expected 'params' to hold objects, got a string"),
    "many": (
        operator(params=[number(f"p{index}") for index in range(65)]),
        "expected 'params' to have at most 64 elements, got 65",
    ),
    "dims": (
        operator(tensors_out=[output(dims=[None])]),
        "expected 'dims' to hold numbers and C expressions, got null",
    ),
    "name": (
        operator(params=[number("axis", lt="scr->ndim")]),
        "operator 'probe': param 'axis', 'lt': unknown name 'scr'",
    ),
    "later name": (
        operator(params=[number("a", lt="b"), number("b")]),
        "operator 'probe': param 'a', 'lt': unknown name 'b'",
    ),
    "struct field": (
        operator(tensors_in=[tensor(check="src->dim == 1")]),
        "input 'src', 'check': unknown field 'dim'",
    ),
    "function": (
        operator(custom="ln_output_dims_conv(1, 1, 1, 1, 1);"),
        "operator 'probe': 'custom': unknown function 'ln_output_dims_conv'",
    ),
    "arity": (operator(custom="ln_free();"), "expected 1 arguments of 'ln_free', got 0"),
    "no check": (
        operator(tensors_in=[tensor(check="int a = 1")]),
        "input 'src', 'check': cannot parse C text: invalid expression",
    ),
    "message": (
        operator(tensors_in=[tensor(check='src->ndim == 1, "%d and %d", src->ndim')]),
        "expected 2 arguments after the message, got 1",
    ),
    "format": (
        operator(tensors_in=[tensor(check='src->ndim == 1, "%q", 1')]),
        "expected % in a message to be %d, %s, %g or %%",
    ),
    "no message": (
        operator(tensors_in=[tensor(check="src->ndim == 1, 2")]),
        "expected a message in double quotes",
    ),
    "break": (operator(custom="break;"), "expected break and continue to be in a loop"),
    "no struct": (
        operator(params=[number("p", check="p->len == 1")]),
        "expected a tensor or an entry before ->",
    ),
    "reserved": (
        operator(params=[number("src_name")]),
        "argument 'src_name': expected 'src_name' to be free, it has a meaning",
    ),
    "keyword": (
        operator(params=[number("while")]),
        "argument 'while': expected 'while' to be free, it has a meaning",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_description_is_refused_where_it_is_wrong(name: str) -> None:
    description, message = REFUSED[name]

    error = read_error(text(description))

    assert message in error
    assert re.match(r"ops\.json:\d+:\d+: error: operator", error)


def test_an_error_in_c_text_is_at_its_character() -> None:
    source = '{"ops": [{"optype": "a", "author": "", "arch": "none", "tensors_in": [],\n"tensors_out": [], "params": [], "custom": \'\'\'\nint a = 1;\n  a = 2 + bb;\n\'\'\'\n}]}'

    assert read_error(source).startswith(
        "ops.json:4:11: error: operator 'a': 'custom': unknown name 'bb'"
    )
    assert "ops.json:1:60: error" in read_error(
        '{"optype": "a", "author": "", "arch": "none", "custom": "  \\"\\n\\u0041", "tensors_in": [], "tensors_out": [], "params": []}'
    )


def test_two_operators_of_one_type_are_refused() -> None:
    assert "expected operators to differ, got 'probe' twice" in read_error(
        text(operator(), operator())
    )


def test_all_problems_of_a_file_are_reported_at_once() -> None:
    error = read_error(
        text(
            operator("a", arch="gpu", params=[array("p", "half")]),
            operator("b", tensors_in=[tensor(mtype="x", dtype="y")]),
        )
    )

    assert len(re.findall("error: ", error)) == 4
    several = text(
        operator("a", custom="x = 1; "), operator("b", custom="y = 1;", checks=[{"check": "z"}])
    )
    assert len(re.findall("error: ", read_error(several))) == 3


def test_file_of_other_bytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ops.json").write_bytes(b'{"ops": "\xff"}')

    with pytest.raises(
        GaweeError, match=r"ops\.json:1:10: error: expected UTF-8 text, got byte 0xff"
    ):
        read_descriptions(tmp_path / "ops.json")


def test_without_the_parser_of_c_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gawee_dialect.opdesc.c_parse.find_spec", lambda name: None)

    assert re.search(
        r"error: .*cannot read operator descriptions: pycparser is not installed\nhint: pip install",
        read_error(text(operator())),
    )


def test_fields_that_the_format_has_for_nothing_are_ignored() -> None:
    plain = operator(autogen=True)
    fields = operator(
        variable_length={"any": ["thing"]},
        tensors_in=[tensor(dims="(int[]){1, 2}")],
        tensors_out=[output(len="src->len")],
    )

    (ignored,) = parse_descriptions(text(fields), "ops.json").operators

    assert ignored.operator == parse_descriptions(text(plain), "ops.json").operators[0].operator
